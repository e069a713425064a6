//! Who works on what.

use convoke_service::task::AgentAtWorkReport;
use maud::{Markup, html};

use super::short;
use crate::components::{empty, query};

/// Shows every agent of a branch with the tasks that it holds.
pub(super) fn work(agents: &[AgentAtWorkReport], branch: &str) -> Markup {
    html! {
        h2 #work { "Who works on what" }
        @if agents.is_empty() {
            (empty("This branch has no agent.", "convoke agent add NAME --client claude"))
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Table" { table {
                thead { tr { th scope="col" { "Agent" } th scope="col" { "Client" }
                    th scope="col" { "State" } th scope="col" { "Tasks in progress" } } }
                tbody { @for one in agents { tr data-row {
                    th scope="row" { "@" (one.agent) }
                    td { (one.client.as_deref().unwrap_or("none")) }
                    td { (one.status.unwrap_or("no agent of this branch")) }
                    td { @if one.tasks.is_empty() { "none" } @else { ul {
                        @for task in &one.tasks { li {
                            a href={ "/tasks/" (task.id) "?branch=" (query(branch)) } { (short(&task.content)) }
                            " " span.soft.mono { (task.id) }
                        } }
                    } } }
                } } }
            } }
        }
    }
}
