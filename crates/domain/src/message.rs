//! What agents and people say to each other, and what they did meanwhile.

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::scope::{Address, AgentName};

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Said to everyone in the scope.
    Say,
    /// Said to one agent.
    Direct,
    /// A question.
    Question,
    /// A piece of work is done.
    Complete,
    /// A process ended.
    Exit,
    /// A prompt that was given to an agent.
    Prompt,
    /// Talk.
    Chat,
}

impl MessageKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Say,
        Self::Direct,
        Self::Question,
        Self::Complete,
        Self::Exit,
        Self::Prompt,
        Self::Chat,
    ];

    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Say => "say",
            Self::Direct => "dm",
            Self::Question => "question",
            Self::Complete => "complete",
            Self::Exit => "exit",
            Self::Prompt => "prompt",
            Self::Chat => "chat",
        }
    }

    /// Returns the kind stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One stored message. Messages are ordered by time, then by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number in the store.
    pub id: i64,
    /// Who said it.
    pub from: AgentName,
    /// Whom it was said to, if not everyone.
    pub to: Option<AgentName>,
    /// What it is for.
    pub kind: MessageKind,
    /// What was said.
    pub content: String,
    /// Who is mentioned in it.
    pub mentions: Vec<Address>,
    /// The number of the message that it answers.
    pub re: Option<i64>,
    /// How many wake-ups in a row led to it.
    pub hop: u32,
    /// When it was said.
    pub created_at: Timestamp,
}

/// Something an agent did, in the words that follow its name: `dispatched spec-reviewer subagent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityEvent {
    /// Its number in the store.
    pub id: i64,
    /// Who did it.
    pub actor: AgentName,
    /// What it did.
    pub verb_phrase: String,
    /// When the agent did it.
    pub created_at: Timestamp,
}

/// A line of recent activity, with what it is ordered by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Dated {
    at: Timestamp,
    id: i64,
    line: ActivityLine,
}

/// A line of recent activity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActivityLine {
    /// The rendered line, without a line ending.
    pub text: String,
    /// The message that it holds whole.
    pub message: Option<i64>,
}

/// Renders messages and events for `reader`, merged by time, oldest first.
pub fn activity(
    messages: &[Message],
    events: &[ActivityEvent],
    reader: &AgentName,
    clock: Offset,
) -> Vec<ActivityLine> {
    let said = messages.iter().map(|message| {
        let text = format!("- {} - {}", hours(message.created_at, clock), quoted(message));
        let line = ActivityLine { text, message: Some(message.id) };
        Dated { at: message.created_at, id: message.id, line }
    });
    let done = events.iter().map(|event| {
        let who =
            if event.actor == *reader { "You".to_owned() } else { format!("@{}", event.actor) };
        let hours = hours(event.created_at, clock);
        let text = format!("- {hours} - {who} {}", event.verb_phrase);
        let line = ActivityLine { text, message: None };
        Dated { at: event.created_at, id: event.id, line }
    });
    let mut all: Vec<_> = said.chain(done).collect();
    all.sort();
    all.into_iter().map(|dated| dated.line).collect()
}

/// Renders a message as `@from: "content"` on one line.
pub fn quoted(message: &Message) -> String {
    quote(&message.from, &message.content)
}

/// Renders words of an agent as `@from: "content"` on one line.
pub fn quote(from: &AgentName, content: &str) -> String {
    // Nothing that somebody says may move a cursor or ring a bell.
    let one_line = content.replace("\r\n", " ").replace(char::is_control, " ");
    format!("@{from}: \"{one_line}\"")
}

fn hours(moment: Timestamp, clock: Offset) -> String {
    let local = clock.to_datetime(moment);
    format!("{:02}:{:02}", local.hour(), local.minute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        format!("2025-12-24T{time}:00Z").parse().unwrap()
    }

    fn name(name: &str) -> AgentName {
        AgentName::parse(name).unwrap()
    }

    fn shown(
        messages: &[Message],
        events: &[ActivityEvent],
        reader: &str,
        clock: Offset,
    ) -> Vec<String> {
        let lines = activity(messages, events, &name(reader), clock);
        lines.into_iter().map(|line| line.text).collect()
    }

    fn message(id: i64, time: &str, from: &str, content: &str) -> Message {
        Message {
            id,
            from: name(from),
            to: None,
            kind: MessageKind::Say,
            content: content.to_owned(),
            mentions: Vec::new(),
            re: None,
            hop: 0,
            created_at: at(time),
        }
    }

    fn event(id: i64, time: &str, actor: &str, verb_phrase: &str) -> ActivityEvent {
        let (actor, verb_phrase) = (name(actor), verb_phrase.to_owned());
        ActivityEvent { id, actor, verb_phrase, created_at: at(time) }
    }

    // W-36, W-9: by time, oldest first, the reader's own deeds as "You".
    #[test]
    fn messages_and_deeds_are_merged_by_time() {
        let messages = [
            message(2, "10:45", "spec-reviewer", "Review complete"),
            message(1, "10:32", "backend", "one\r\ntwo\nthree"),
        ];
        let events = [
            event(1, "10:33", "june", "dispatched spec-reviewer subagent"),
            event(2, "23:59", "backend", "started Task 3"),
        ];
        assert_eq!(
            shown(&messages, &events, "june", Offset::UTC),
            [
                "- 10:32 - @backend: \"one two three\"",
                "- 10:33 - You dispatched spec-reviewer subagent",
                "- 10:45 - @spec-reviewer: \"Review complete\"",
                "- 23:59 - @backend started Task 3",
            ]
        );
    }

    // W-36
    #[test]
    fn the_clock_is_the_readers() {
        let messages = [message(1, "23:30", "a", "x")];
        let east = Offset::from_seconds(5 * 3600 + 1800).unwrap();
        assert_eq!(shown(&messages, &[], "b", east), ["- 05:00 - @a: \"x\""]);
    }

    // W-8
    #[test]
    fn messages_of_one_moment_keep_their_order() {
        let messages = [message(9, "10:00", "a", "later"), message(2, "10:00", "a", "sooner")];
        let lines = shown(&messages, &[], "b", Offset::UTC);
        assert_eq!(lines, ["- 10:00 - @a: \"sooner\"", "- 10:00 - @a: \"later\""]);
    }
}
