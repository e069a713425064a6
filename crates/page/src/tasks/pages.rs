//! The way through a list of tasks that is too long for one page.

use convoke_service::task::{TaskPageReport, TaskPlans};
use maud::{Markup, html};

use super::plans::address;
use crate::components::number;

/// Leads through a list that is too long for one page.
pub(super) fn pages(report: &TaskPageReport, plans: &TaskPlans, label: &str) -> Markup {
    let path = address(&report.branch, plans);
    let link = |page: usize, words: &str| {
        html! { a href={ (path) "&page=" (page) } { (words) } " " }
    };
    html! {
        @if report.pages > 1 {
            nav aria-label=(label) {
                p {
                    @match report.page {
                        Some(page) => {
                            "Page " (number(page as u64)) " of " (number(report.pages as u64)) ". "
                            @if page > 1 { (link(1, "First")) (link(page - 1, "Previous")) }
                            @if page < report.pages { (link(page + 1, "Next")) (link(report.pages, "Last")) }
                            a href=(path) { "Around the current task" }
                        },
                        None => {
                            (number(report.left_out as u64)) " more tasks: this page shows those around the current one. "
                            (link(1, "All tasks, page by page"))
                        },
                    }
                }
            }
        }
    }
}
