//! `say`: a message to another agent, or to the person.

use convoke_service::failure::Failure;
use convoke_service::message::{SayRequest, say as send};

use super::{Desk, agent};
use crate::arguments::Arguments;
use crate::reply::Reply;

/// Stores a message.
pub(super) fn say(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let request = SayRequest {
        text: arguments.text("text")?.to_owned(),
        to: agent(arguments, "to")?,
        re: arguments.number("re"),
        speaker: Some(desk.actor(arguments)?),
        verdict: None,
    };
    let said = send(&desk.session, &request)?;
    let to = match said.addressed.as_slice() {
        [] => " (a note)".to_owned(),
        all => format!(" to @{}", all.join(" @")),
    };
    Ok(Reply::new(format!("sent message {}{to}\n", said.id), &said))
}
