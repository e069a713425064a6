//! What an agent is told that still has its memory: where it stands, and what was said to it.

use super::NewMessage;
use crate::message::quote;
use crate::pin::{Pin, before_prompt};
use crate::task::tree::Node;

const NONE: &str = "(none)";

/// Renders the user's rules, the line that says where the agent stands, and the messages, oldest
/// first.
pub fn news(roots: &[Node], path: &[&Node], messages: &[NewMessage], pins: &[Pin]) -> String {
    let said: Vec<_> = messages.iter().map(|it| quote(&it.from, &it.content)).collect();
    let said = if said.is_empty() { NONE.to_owned() } else { said.join("\n") };
    before_prompt(pins, &format!("{}\n\n{said}\n", state(roots, path)))
}

/// Names the part of the plan, the task, and how many there are beside it.
fn state(roots: &[Node], path: &[&Node]) -> String {
    let (siblings, phase) = match path {
        [.., parent, _] => (parent.children.as_slice(), parent.task.content.as_str()),
        _ => (roots, NONE),
    };
    let Some(leaf) = path.last() else {
        return format!("Phase: {NONE} | Task 0/{}: {NONE}", siblings.len());
    };
    let before = siblings.iter().take_while(|node| !std::ptr::eq(*node, *leaf)).count();
    let (number, all) = (before + 1, siblings.len());
    format!("Phase: {phase} | Task {number}/{all}: {}", leaf.task.content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::AgentName;
    use crate::task::State;
    use crate::task::fixture::{LOGIN, tasks};
    use crate::task::tree::{current_path, trees};

    fn told(lines: &str, messages: &[NewMessage]) -> String {
        let roots = trees(tasks(lines), |task| State::of(task.status, None));
        news(&roots, &current_path(&roots), messages, &[])
    }

    fn from_ana(content: &str) -> NewMessage {
        NewMessage { from: AgentName::known("ana"), content: content.to_owned() }
    }

    // W-24
    #[test]
    fn the_news_is_where_an_agent_stands_and_what_was_said() {
        assert_eq!(
            told(LOGIN, &[from_ana("first"), from_ana("second")]),
            "Phase: Task 2: Add login endpoint | Task 2/3: Spec review\n\n\
             @ana: \"first\"\n@ana: \"second\"\n"
        );
    }

    #[test]
    fn without_a_task_or_a_message_it_says_so() {
        assert_eq!(told("", &[]), "Phase: (none) | Task 0/0: (none)\n\n(none)\n");
    }
}
