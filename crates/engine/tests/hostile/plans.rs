//! Plans in the chair's answers. `with:` and `without:` name words that the plan keeps or loses.

use convoke_domain::design::plan::{check, read};
use convoke_domain::dispatch::task_list::tasks;

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let plan = read(&case.text()).text;
    let words = |key: &str| case.keys.get(key);
    if let Some(lost) = words("with").filter(|words| !plan.contains(*words)) {
        return format!("lost `{lost}`");
    }
    if let Some(kept) = words("without").filter(|words| plan.contains(*words)) {
        return format!("kept `{kept}`");
    }
    if let Some(defect) = check(&plan).first() {
        return format!("unusable: {defect}");
    }
    let numbers: Vec<_> = tasks(&plan).into_iter().flatten().map(|task| task.number).collect();
    let noun = if numbers.len() == 1 { "task" } else { "tasks" };
    format!("plan with {noun} {}", numbers.join(", "))
}
