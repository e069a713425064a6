//! One conversation, with every answer below what it answers.

use std::collections::BTreeMap;

use convoke_domain::message::Message;
use convoke_domain::scope::AgentName;
use convoke_service::message::MessageReport;
use convoke_service::settings::wake;

use super::line;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use convoke_service::failure::Failure;

/// Deeper answers are indented no further.
const DEEPEST: usize = 8;

pub(super) fn print(
    messages: &[Message],
    reader: &AgentName,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => {
            output.json(&messages.iter().map(MessageReport::new).collect::<Vec<_>>())?;
        }
        Format::Text => {
            let clock = wake::settings(&app.session)?.clock;
            for (depth, message) in nested(messages) {
                let indent = "  ".repeat(depth.min(DEEPEST));
                let text = line(message, reader, clock).replace('\n', &format!("\n{indent}"));
                output.data(&format!("{indent}{text}\n"))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Orders messages so that answers follow what they answer, with how deep they are.
fn nested(messages: &[Message]) -> Vec<(usize, &Message)> {
    let mut answers: BTreeMap<i64, Vec<&Message>> = BTreeMap::new();
    let is_known = |id: &i64| messages.iter().any(|message| message.id == *id);
    let mut left: Vec<(usize, &Message)> = Vec::new();
    for message in messages.iter().rev() {
        match message.re.filter(is_known) {
            Some(re) => answers.entry(re).or_default().push(message),
            None => left.push((0, message)),
        }
    }
    let mut ordered = Vec::new();
    while let Some((depth, message)) = left.pop() {
        ordered.push((depth, message));
        let below = answers.remove(&message.id).unwrap_or_default();
        left.extend(below.into_iter().map(|answer| (depth + 1, answer)));
    }
    ordered
}
