//! Choosing the plan whose tasks the page shows.

use convoke_service::task::{TaskPageReport, TaskPlans};
use maud::{Markup, html};

use crate::components::{number, query};

/// Returns the path of the tasks of some plans.
pub(super) fn address(branch: &str, plans: &TaskPlans) -> String {
    let chosen = match plans {
        TaskPlans::All => String::new(),
        TaskPlans::File(plan) => format!("&plan={}", query(plan)),
        TaskPlans::WithoutFile => "&without_plan=1".to_owned(),
    };
    format!("/tasks?branch={}{chosen}", query(branch))
}

/// Returns the fields by which a form leads back to the same plan.
pub(super) fn chosen_fields(plans: &TaskPlans) -> Markup {
    html! {
        @match plans {
            TaskPlans::All => {},
            TaskPlans::File(plan) => { input type="hidden" name="plan" value=(plan); },
            TaskPlans::WithoutFile => { input type="hidden" name="without_plan" value="1"; },
        }
    }
}

/// Leads to each plan of a branch that has several.
pub(super) fn plans(report: &TaskPageReport, chosen: &TaskPlans) -> Markup {
    let total: u64 = report.plans.iter().map(|plan| u64::from(plan.tasks)).sum();
    let entry = |plans: &TaskPlans, name: &str, tasks: u64| {
        html! {
            li { a href=(address(&report.branch, plans))
                aria-current=[(plans == chosen).then_some("page")]
                { (name) " (" (number(tasks)) ")" } }
        }
    };
    html! {
        @if report.plans.len() > 1 || *chosen != TaskPlans::All {
            nav aria-label="Plans" {
                ul.tabs {
                    (entry(&TaskPlans::All, "All plans", total))
                    @for count in &report.plans {
                        @let (plans, name) = match &count.plan {
                            Some(plan) => (TaskPlans::File(plan.clone()), plan.as_str()),
                            None => (TaskPlans::WithoutFile, "Without a plan"),
                        };
                        (entry(&plans, name, u64::from(count.tasks)))
                    }
                }
            }
        }
    }
}
