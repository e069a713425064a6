//! Answering clients' hooks: reading what a client says, and answering in its own format.

pub mod failure;
mod input;
mod provisional;
mod text;
mod trace;
mod unread;

use std::num::NonZeroUsize;
use std::path::Path;

use convoke_domain::hook::parts::split;
use convoke_domain::hook::{Moment, NoticedEvent, SAME_REPORT};
use convoke_domain::pin::Pin;
use convoke_domain::scope::Address;
use convoke_domain::token::Budget;
use convoke_domain::wake::WakeProfile;
use convoke_store::agent::AgentChange;
use convoke_store::delivery::{Claimant, NewText, Session, TextChoice, Wording};
use convoke_store::error::StoreError;
use convoke_store::message::MessageReceipt;
use convoke_store::skill::Injection;
use jiff::Timestamp;

pub use self::input::HookInput;
use self::provisional::{confirm, hold, is_provisional, settle};
use self::text::{HookText, assembled};
use self::trace::trace;
pub use self::trace::trace_of_session;
use self::unread::announcement;
use crate::client::HookWiring;
use crate::json::ascii::ascii;
use crate::owner;
use crate::skill::hash;
use crate::transcript::own::ClientHomes;
use crate::wake::{AssembledWakeUp, WakeSources};

/// How often a text is made again because other sessions were given its messages meanwhile.
const MOST_ATTEMPTS: usize = 8;

/// One hook entry of a client, and how many there are for the same event.
#[derive(Debug, Clone, Copy)]
pub struct HookEntry {
    /// Its number, from one.
    pub number: u32,
    /// How many entries share a text.
    pub of: NonZeroUsize,
}

impl HookEntry {
    /// Returns how many entries share a text, as the store keeps it.
    fn entries(self) -> u32 {
        u32::try_from(self.of.get()).unwrap_or(u32::MAX)
    }
}

/// A line at the end of a text.
#[derive(Debug, Clone, Copy)]
pub enum HookRemark<'a> {
    /// It appears only beside a wake-up.
    Beside(&'a str),
    /// It appears even without a wake-up.
    Alone(&'a str),
}

impl HookRemark<'_> {
    fn line(self) -> String {
        let (Self::Beside(words) | Self::Alone(words)) = self;
        format!("\n> {words}\n")
    }
}

/// An event that a client reports for an agent.
#[derive(Debug, Clone, Copy)]
pub struct HookEvent<'a> {
    /// The session of the event.
    pub session: Session<'a>,
    /// The wiring of the session's client.
    pub hooks: &'static HookWiring,
    /// The client's name for the event.
    pub event: &'a str,
    /// The event's meaning.
    pub moment: Moment,
    /// A hash of all that the client says about it, which tells it from other events.
    pub mark: u64,
    /// The client's own record of the session.
    pub transcript: Option<&'a Path>,
    /// The entry that received it.
    pub entry: HookEntry,
    /// Where clients keep their own records of sessions.
    pub homes: &'a ClientHomes,
    /// The agent that the session belongs to.
    pub agent: &'a Address,
    /// As what the agent wakes.
    pub profile: WakeProfile,
    /// The highest cost of a wake-up, with all text around it.
    pub budget: Budget,
    /// The remark at the end of the text, on one line.
    pub remark: Option<HookRemark<'a>>,
    /// When.
    pub now: Timestamp,
}

/// An entry's output, and the record to write once it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookAnswer {
    /// The client's JSON.
    pub json: String,
    /// The loss that it answers.
    loss: Option<u32>,
    /// How many parts the whole text has.
    parts: usize,
    /// The messages that it delivers.
    messages: Vec<i64>,
    /// The newest message that it delivered or announced.
    newest_known: Option<i64>,
    /// The user's rules that are whole in this entry's part.
    pins: Vec<i64>,
    /// The skill that was injected with it, where this entry made the text.
    injection: Option<Injection>,
}

impl HookAnswer {
    /// Returns the messages that it delivers.
    pub fn messages(&self) -> &[i64] {
        &self.messages
    }

    /// Tells whether it neither answers a loss nor announces anything.
    pub const fn is_nothing(&self) -> bool {
        self.loss.is_none() && self.newest_known.is_none()
    }

    /// An answer that every client takes for silence.
    pub fn nothing() -> Self {
        Self {
            json: "{}".to_owned(),
            loss: None,
            parts: 0,
            messages: Vec::new(),
            newest_known: None,
            pins: Vec::new(),
            injection: None,
        }
    }
}

/// Claims messages beyond the store that a text is made from, and returns those that other sessions are
/// being given.
pub type ClaimElsewhere<'a> = dyn Fn(&[i64], Claimant<'_>) -> Vec<i64> + 'a;

/// Decides what an entry prints. Until [`record`] is called, the loss stays open.
pub fn answer(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    claim_elsewhere: &ClaimElsewhere<'_>,
) -> Result<HookAnswer, StoreError> {
    let decided = decide(sources, heard, claim_elsewhere)?;
    tracing::debug!(
        client = heard.session.client.name(),
        session = heard.session.id,
        agent = %heard.agent.agent,
        moment = ?heard.moment,
        entry = heard.entry.number,
        loss = decided.loss,
        parts = decided.parts,
        messages = decided.messages.len(),
        "decided what the hook answers"
    );
    Ok(decided)
}

fn decide(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    claim_elsewhere: &ClaimElsewhere<'_>,
) -> Result<HookAnswer, StoreError> {
    let store = sources.store;
    if matches!(heard.moment, Moment::Started | Moment::Began | Moment::Compacted | Moment::Resumed)
    {
        store.bind(heard.session, heard.agent)?;
    }
    let myself = owner::myself();
    let claimant = Claimant { owner: &myself, is_gone: &owner::is_gone };
    let (entry, trace) = (heard.entry.number, trace(sources, heard)?);
    let entries = heard.entry.entries();
    let noticed = NoticedEvent { moment: heard.moment, trace, mark: heard.mark, entries };
    let loss = store.notice(heard.session, entry, noticed, claimant, heard.now)?;
    // A second report of an event that was answered must not undo what the answer recorded.
    let is_compacted = match heard.moment {
        Moment::Compacting => true,
        Moment::Compacted => loss.is_some(),
        Moment::Started | Moment::Began | Moment::Resumed | Moment::Prompted => false,
    };
    if entry == 1 && is_compacted {
        change_agent(sources, heard, &AgentChange::Compacted(Some(heard.now)))?;
    }
    let Some(loss) = loss else {
        confirm(sources, heard)?;
        return announcement(sources, heard);
    };
    let claim = |messages: &[i64]| claim_elsewhere(messages, claimant);
    let Some(Chosen { kept, ours: assembled }) = chosen(sources, heard, loss, claimant, &claim)?
    else {
        return Ok(HookAnswer::nothing());
    };
    let mut parts = parts(&kept.text, heard);
    let count = parts.len();
    let index = heard.entry.number as usize - 1;
    let part = (index < count).then(|| parts.swap_remove(index));
    let pins = part.as_deref().map_or(Ok(Vec::new()), |part| rules_in(sources, part))?;
    let json = part.map_or_else(|| HookAnswer::nothing().json, |part| in_format(heard, &part));
    let injection = assembled.map(|made| made.injection(&heard.agent.agent, heard.now));
    let Wording { messages, newest_known, .. } = kept;
    Ok(HookAnswer { json, loss: Some(loss), parts: count, messages, newest_known, pins, injection })
}

/// The text that a session is given.
struct Chosen {
    /// The text, as all entries deliver it.
    kept: Wording,
    /// How it was made, where this entry made it.
    ours: Option<AssembledWakeUp>,
}

/// Makes the text that answers a loss, and claims its messages. One that other sessions were given
/// meanwhile is left out; `None` where that never comes to rest, and then the next prompt is answered.
fn chosen(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    loss: u32,
    claimant: Claimant<'_>,
    claim_elsewhere: &dyn Fn(&[i64]) -> Vec<i64>,
) -> Result<Option<Chosen>, StoreError> {
    settle(sources, heard)?;
    let client = owner::parent();
    let (client, is_cleared) = (client.as_ref(), heard.moment == Moment::Began);
    let mut taken = Vec::new();
    for _ in 0..MOST_ATTEMPTS {
        let assembled = assembled(sources, heard, &taken)?;
        let made = wording(&assembled, heard);
        let elsewhere = claim_elsewhere(&made.messages);
        if !elsewhere.is_empty() {
            taken.extend(elsewhere);
            continue;
        }
        let is_outdated = |kept: &Wording, made_at| is_outdated(kept, made_at, &made, heard);
        let (agent, is_outdated) = (heard.agent, &is_outdated);
        let new = NewText { loss, wording: &made, agent, client, is_cleared, is_outdated };
        match sources.store.keep_text(heard.session, new, claimant, heard.now)? {
            TextChoice::Deliver(kept) => {
                let ours = assembled.wake_up().filter(|_| kept == made);
                return Ok(Some(Chosen { kept, ours }));
            }
            TextChoice::Taken(messages) => taken.extend(messages),
        }
    }
    Ok(None)
}

fn wording(assembled: &HookText, heard: &HookEvent<'_>) -> Wording {
    let receipt = assembled.receipt();
    Wording {
        text: assembled.delivered(heard),
        messages: receipt.read.to_vec(),
        newest_known: receipt.known,
        record_bytes: heard.transcript.map_or(0, length),
        entries: heard.entry.entries(),
        whose: Wording::name_of(heard.agent),
    }
}

/// Tells whether an entry must no longer deliver its part of a kept text: the text is for another
/// agent, or its facts have changed since. A very recent text is the one that the other entries
/// deliver now.
fn is_outdated(kept: &Wording, made_at: Timestamp, made: &Wording, heard: &HookEvent<'_>) -> bool {
    let has_part = parts(&kept.text, heard).len() >= heard.entry.number as usize;
    let is_old = heard.now.duration_since(made_at) >= SAME_REPORT;
    match (kept.whose == made.whose, has_part) {
        (true, true) => is_old && kept.text != made.text,
        (false, true) => true,
        (false, false) => kept.text.is_empty(),
        (true, false) => false,
    }
}

/// Returns the rules of the user that a part holds whole.
fn rules_in(sources: &WakeSources<'_>, part: &str) -> Result<Vec<i64>, StoreError> {
    let pins = sources.store.pins(sources.scope, sources.now)?;
    let is_there = |pin: &&Pin| part.lines().any(|line| line == pin.line());
    Ok(pins.iter().filter(is_there).map(|pin| pin.id).collect())
}

fn length(transcript: &Path) -> u64 {
    std::fs::metadata(transcript).map_or(0, |metadata| metadata.len())
}

/// Returns the parts of a text, one for each entry; there may be more entries.
fn parts(text: &str, heard: &HookEvent<'_>) -> Vec<String> {
    let (parts, _left) = split(text, heard.entry.of, most_bytes(heard), &hash(text)[..8]);
    parts
}

/// Remembers that an answer was printed. Messages are read once every part of the text was, and a
/// prompt is on its way; until then the agent knows of them.
pub fn record(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    answer: &HookAnswer,
) -> Result<(), StoreError> {
    let Some(loss) = answer.loss else { return record_announcement(sources, heard, answer) };
    let store = sources.store;
    let answered = store.delivered(heard.session, heard.entry.number, loss, heard.now)?;
    hold(sources, heard, answer)?;
    if !answer.pins.is_empty() {
        let (client, session) = (heard.session.client.name(), heard.session.id);
        store.pins_delivered(&answer.pins, client, session, heard.now)?;
    }
    if let Some(injection) = &answer.injection {
        store.record_injection(sources.scope, injection)?;
    }
    if heard.entry.number == 1 {
        change_agent(sources, heard, &AgentChange::Compacted(None))?;
    }
    let is_whole =
        (1..=answer.parts).all(|part| answered.iter().any(|entry| *entry as usize == part));
    if is_whole && answer.newest_known.is_some() {
        let read: &[i64] = if is_provisional(heard) { &[] } else { &answer.messages };
        let receipt = MessageReceipt { read, known: answer.newest_known };
        change_agent(sources, heard, &AgentChange::Received(receipt))?;
    }
    Ok(())
}

/// Remembers that unread messages were announced.
fn record_announcement(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    answer: &HookAnswer,
) -> Result<(), StoreError> {
    let Some(known) = answer.newest_known else { return Ok(()) };
    let receipt = MessageReceipt { read: &[], known: Some(known) };
    change_agent(sources, heard, &AgentChange::Received(receipt))
}

fn change_agent(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    change: &AgentChange<'_>,
) -> Result<(), StoreError> {
    let (store, name) = (sources.store, &heard.agent.agent);
    match store.change_agent(sources.scope, name, change) {
        // The session's user is an agent, even if no command has added it.
        Err(StoreError::NoAgent { .. }) => {
            store.add_agent(sources.scope, name, heard.session.client.name())?;
            store.change_agent(sources.scope, name, change)
        }
        other => other,
    }
}

fn most_bytes(heard: &HookEvent<'_>) -> usize {
    heard.hooks.most_bytes
}

/// Wraps a text in the client's format.
fn in_format(heard: &HookEvent<'_>, text: &str) -> String {
    ascii(&(heard.hooks.answer)(heard.event, text).to_string())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_matters_is_read() {
        let claude = r#"{"session_id":"s","cwd":"/p","source":"compact","x":[1]}"#;
        let heard = HookInput::parse(claude).unwrap();
        assert_eq!(heard.session_id.as_deref(), Some("s"));
        assert_eq!(
            (heard.cwd, heard.cause.as_deref()),
            (Some(PathBuf::from("/p")), Some("compact"))
        );
        let cursor = HookInput::parse(r#"{"conversation_id":"c","trigger":"manual"}"#).unwrap();
        assert_eq!(
            (cursor.session_id.as_deref(), cursor.cause.as_deref()),
            (Some("c"), Some("manual"))
        );
        assert_eq!(HookInput::parse(r#"{"session_id":5}"#), Some(HookInput::default()));
        for text in ["", "null", "[]", "5", "{", "\u{0}"] {
            assert_eq!(HookInput::parse(text), None, "{text}");
        }
        assert_eq!(HookInput::parse(&"[".repeat(10_000)), None);
        // The prompt does not matter, valid or not.
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        for prompt in [r#""half an emoji: \ud83d""#, "1e9999", &deep] {
            let text = format!(r#"{{"prompt":{prompt},"session_id":"s"}}"#);
            let heard = HookInput::parse(&text).unwrap();
            assert_eq!(heard.session_id.as_deref(), Some("s"), "{prompt:.40}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            HookInput::parse(&text);
        }
    }
}
