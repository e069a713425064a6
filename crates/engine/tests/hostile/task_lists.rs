//! Lists of tasks: which tasks can be reached, in order.

use convoke_domain::dispatch::task_list::tasks;

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    match tasks(&case.text()) {
        Ok(found) => found.iter().map(|task| task.number).collect::<Vec<_>>().join(" "),
        Err(_) => "none".to_owned(),
    }
}
