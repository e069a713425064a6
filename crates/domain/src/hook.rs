//! Delivering wake-ups through clients' hooks: when, in how many parts, and never twice.
//!
//! An agent's memory is lost when a session begins, is cleared or is compacted. [`Memory`] counts
//! losses and deliveries of one session; whatever order a client's events come in, every loss is
//! answered by one delivery, and nothing else is.

pub mod parts;

/// An agent program with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor's CLI.
    Cursor,
    /// opencode, through a plugin.
    Opencode,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 5] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Cursor, Self::Opencode];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the client that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns how many bytes of injected text the client hands on whole, per hook entry. Where the
    /// limit is in characters or in quarters of bytes, this is below either.
    pub const fn most_bytes(self) -> usize {
        match self {
            Self::Claude | Self::Codex | Self::Cursor => 9_900,
            Self::Gemini | Self::Opencode => 200_000,
        }
    }

    /// Reads what an event means for an agent's memory. `cause` is the client's word for why a
    /// session begins or is compacted.
    pub fn moment(self, event: &str, cause: Option<&str>) -> Option<Moment> {
        let moment = match event {
            "SessionStart" | "sessionStart" | "session.created" => match cause {
                Some("resume") => Moment::Resumed,
                Some("compact") => Moment::Compacted,
                _ => Moment::Began,
            },
            "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" | "chat.message" => {
                Moment::Prompted
            }
            "session.compacted" => Moment::Compacted,
            // Claude Code and Codex say so afterwards, by beginning the session again.
            "preCompact" if self == Self::Cursor => Moment::Compacting,
            // Gemini says `auto` before every request, whether it compacts or not.
            "PreCompress" if cause == Some("manual") => Moment::Compacting,
            _ => return None,
        };
        Some(moment)
    }
}

/// What an event means for an agent's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It begins with nothing: a new, cleared or forked session.
    Began,
    /// It goes on with a summary instead of what it had.
    Compacted,
    /// It is back with what it had.
    Resumed,
    /// It is about to be given a prompt.
    Prompted,
    /// It is about to lose what it has, and nothing will say when it has.
    Compacting,
}

/// How often one session lost its memory, and how often it was given it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// Losses noticed.
    pub lost: u32,
    /// The last loss that was answered.
    pub delivered: u32,
}

impl Memory {
    /// Takes notice of a moment, and tells whether the loss that is open now is to be answered at it.
    #[must_use]
    pub fn at(self, moment: Moment) -> (Self, bool) {
        let noticed = match moment {
            Moment::Began | Moment::Compacted => self.lost_again(),
            // A session that nobody knows never had anything.
            Moment::Resumed if self.lost == 0 => self.lost_again(),
            // Clients announce a compaction more than once.
            Moment::Compacting if !self.is_open() => self.lost_again(),
            Moment::Resumed | Moment::Prompted | Moment::Compacting => self,
        };
        (noticed, noticed.is_open() && moment != Moment::Compacting)
    }

    /// Returns the memory after the open loss was answered.
    #[must_use]
    pub const fn answered(self) -> Self {
        Self { delivered: self.lost, ..self }
    }

    const fn lost_again(self) -> Self {
        Self { lost: self.lost.saturating_add(1), ..self }
    }

    const fn is_open(self) -> bool {
        self.delivered < self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENTS: [Moment; 5] =
        [Moment::Began, Moment::Compacted, Moment::Resumed, Moment::Prompted, Moment::Compacting];

    /// Every order of events up to a length.
    fn orders(length: usize) -> Vec<Vec<Moment>> {
        let mut all = vec![Vec::new()];
        let mut last = all.clone();
        for _ in 0..length {
            last = last
                .iter()
                .flat_map(|order| MOMENTS.map(|moment| [order.as_slice(), &[moment]].concat()))
                .collect();
            all.extend(last.clone());
        }
        all
    }

    /// Plays an order, losing the answer at every event in `crashes`, and returns the deliveries.
    fn played(order: &[Moment], crashes: &[usize]) -> (Memory, Vec<u32>) {
        let mut memory = Memory::default();
        let mut delivered = Vec::new();
        for (index, moment) in order.iter().enumerate() {
            let (noticed, deliver) = memory.at(*moment);
            memory = noticed;
            if deliver && !crashes.contains(&index) {
                delivered.push(memory.lost);
                memory = memory.answered();
            }
        }
        (memory, delivered)
    }

    // W-20e: no loss is answered twice, in any order of up to six events.
    #[test]
    fn no_order_of_events_delivers_twice() {
        for order in orders(6) {
            let (memory, delivered) = played(&order, &[]);
            assert!(delivered.is_sorted_by(|one, other| one < other), "{order:?}: {delivered:?}");
            assert!(delivered.len() <= memory.lost as usize, "{order:?}");
        }
    }

    // Every loss before the last moment that can deliver is answered.
    #[test]
    fn every_loss_is_answered_at_the_next_chance() {
        for order in orders(6) {
            let (memory, delivered) = played(&order, &[]);
            let ends_open = order.last() == Some(&Moment::Compacting);
            assert_eq!(
                memory.delivered == memory.lost,
                !ends_open || memory.delivered == memory.lost
            );
            let lost = [Moment::Began, Moment::Compacted];
            let lost = order.iter().filter(|moment| lost.contains(moment)).count();
            assert!(delivered.len() >= lost, "{order:?}: {delivered:?}");
            if !ends_open {
                assert_eq!(memory.delivered, memory.lost, "{order:?}");
            }
        }
    }

    // A hook that dies before its answer arrives is made up for at the next moment.
    #[test]
    fn a_lost_answer_is_made_up_for_once() {
        use Moment::{Began, Prompted, Resumed};
        for next in [Prompted, Resumed] {
            let (_, delivered) = played(&[Began, next, Prompted], &[0]);
            assert_eq!(delivered, [1], "{next:?}");
        }
    }

    // Prompts and resumes alone deliver once, to a session nobody knew.
    #[test]
    fn a_session_that_keeps_its_memory_is_left_alone() {
        use Moment::{Prompted, Resumed};
        assert_eq!(played(&[Prompted, Prompted, Prompted], &[]).1, Vec::<u32>::new());
        assert_eq!(played(&[Resumed, Prompted, Resumed, Prompted], &[]).1, [1]);
    }

    #[test]
    fn events_of_each_client_are_known_by_their_names() {
        let cases = [
            (Client::Claude, "SessionStart", Some("startup"), Some(Moment::Began)),
            (Client::Claude, "SessionStart", Some("compact"), Some(Moment::Compacted)),
            (Client::Claude, "SessionStart", Some("fork"), Some(Moment::Began)),
            (Client::Claude, "SessionStart", Some("resume"), Some(Moment::Resumed)),
            (Client::Claude, "UserPromptSubmit", None, Some(Moment::Prompted)),
            (Client::Claude, "PreCompact", None, None),
            (Client::Codex, "SessionStart", Some("clear"), Some(Moment::Began)),
            (Client::Codex, "PreCompact", None, None),
            (Client::Gemini, "BeforeAgent", None, Some(Moment::Prompted)),
            (Client::Gemini, "PreCompress", Some("manual"), Some(Moment::Compacting)),
            (Client::Gemini, "PreCompress", Some("auto"), None),
            (Client::Cursor, "preCompact", None, Some(Moment::Compacting)),
            (Client::Cursor, "beforeSubmitPrompt", None, Some(Moment::Prompted)),
            (Client::Opencode, "session.compacted", None, Some(Moment::Compacted)),
            (Client::Claude, "Stop", None, None),
            (Client::Claude, "", None, None),
        ];
        for (client, event, source, expected) in cases {
            assert_eq!(client.moment(event, source), expected, "{client:?} {event} {source:?}");
        }
    }
}
