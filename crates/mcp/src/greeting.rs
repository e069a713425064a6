//! What the server says to a client at the beginning.

use convoke_domain::scope::AgentName;
use convoke_service::session::Session;
use convoke_service::task::{TaskDesk, TaskPlace, task_progress};

/// What the server says to a client that runs in one of Convoke's own lanes.
pub(crate) const IN_LANE: &str =
    "You work in one of Convoke's lanes, which have no access to Convoke's tools.";

/// Returns the agent's next task in words.
pub(crate) fn next_task(session: &Session, agent: &AgentName) -> Option<String> {
    let place = TaskPlace { branch: None, actor: Some(agent.clone()) };
    let task = TaskDesk::open(session, &place, task_progress).ok()?.current?;
    let title: String = task.title.chars().take(80).collect();
    Some(format!("; next: {} ({title})", task.id))
}

/// Returns the one paragraph that every client gives its model.
pub(crate) fn instructions(agent: &AgentName, next: Option<String>) -> String {
    let next = next.unwrap_or_default();
    format!(
        "You are @{agent}{next}. Call `wake` first, and again after you lose context: it returns \
         your skill, plan, tasks, rules and messages. For `convoke task`, `inbox` and `show` in a \
         text, call `task_update` or `tasks`, `wake` and `run_status`. Every result ends with a line about unread messages."
    )
}
