//! Reviews of a plan: how many findings are in scope and out of it, or why they are asked for again.

use convoke_domain::design::finding::Scope;
use convoke_domain::design::review::{flaw, remarks};

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let answer = case.text();
    if let Some(flaw) = flaw(&answer) {
        return format!("again: {flaw}");
    }
    let found = remarks(&answer).unwrap_or_default();
    let out = found.iter().filter(|remark| remark.scope == Scope::Out).count();
    if found.is_empty() {
        return "nothing".to_owned();
    }
    format!("{} in, {out} out", found.len() - out)
}
