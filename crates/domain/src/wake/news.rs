//! The news for an agent that still has its memory: its place in the plan, and new messages.

use super::fit::minimal::Minimal;
use super::fit::{SHORT_MESSAGE, ShorteningStep, WakeLimits, WakeUp};
use super::layout::{cut_message, unread_line};
use super::{NewMessage, WakeFit};
use crate::pin::{Pin, before_prompt};
use crate::scope::AgentName;
use crate::token::Tokenizer;

const NONE: &str = "(none)";

/// An unread message to the agent: stored, or given with this call only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its number, if it is stored.
    pub id: Option<i64>,
    /// Sender and whole text.
    pub message: NewMessage,
}

/// The agent's place in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewsPlace<'a> {
    /// The parent of its task.
    pub phase: Option<&'a str>,
    /// The task's number among the parts, from one; 0 without a task.
    pub number: usize,
    /// How many parts there are.
    pub of: usize,
    /// The title of the agent's current task.
    pub task: Option<&'a str>,
}

impl NewsPlace<'_> {
    fn line(self) -> String {
        let Self { phase, number, of, task } = self;
        let (phase, task) = (phase.unwrap_or(NONE), task.unwrap_or(NONE));
        format!("Phase: {phase} | Task {number}/{of}: {task}")
    }
}

/// The content of the news.
#[derive(Debug, Clone, Copy)]
pub struct News<'a> {
    /// The agent that wakes.
    pub reader: &'a AgentName,
    /// The agent's place in the plan.
    pub place: NewsPlace<'a>,
    /// The newest unread messages to it, oldest first.
    pub messages: &'a [Unread],
    /// How many stored messages to it are unread in all.
    pub unread: usize,
    /// What may be shortened.
    pub fit: WakeFit,
    /// The user's rules, which come first.
    pub pins: &'a [Pin],
}

impl News<'_> {
    /// Renders the agent's place and the messages, oldest first. When the room is too small, the
    /// oldest messages go first, and the text counts them.
    pub fn wake_up(&self, room: WakeLimits, tokenizer: &dyn Tokenizer) -> WakeUp {
        let most = self.messages.len();
        let mut choices: Vec<_> = (1..=most).rev().map(|shown| (shown, None)).collect();
        if most == 0 {
            choices.push((0, None));
        }
        choices.extend(SHORT_MESSAGE.map(|chars| (most.min(1), Some(chars))));
        if self.fit == WakeFit::Seed {
            choices.truncate(1);
        }
        for (shown, chars) in choices {
            let (text, read) = self.render(shown, chars);
            if self.fit == WakeFit::Seed || room.holds(&text, tokenizer) {
                let steps = match (shown < most, chars) {
                    (_, Some(_)) => {
                        vec![ShorteningStep::LessActivity, ShorteningStep::ShortMessage]
                    }
                    (true, None) => vec![ShorteningStep::LessActivity],
                    (false, None) => Vec::new(),
                };
                return WakeUp::new(text, read, steps, room, tokenizer);
            }
        }
        let newest = self.messages.last();
        let minimal = Minimal {
            reader: self.reader,
            task: self.place.task,
            next: None,
            message: newest.map(|newest| &newest.message),
            message_id: newest.and_then(|newest| newest.id),
            unread: self.unread,
            pins: self.pins,
        };
        minimal.wake_up(room, tokenizer)
    }

    fn render(&self, shown: usize, chars: Option<usize>) -> (String, Vec<i64>) {
        let messages = &self.messages[self.messages.len() - shown..];
        let mut lines = Vec::new();
        let mut read = Vec::new();
        let mut announced = 0;
        for Unread { id, message } in messages {
            let cut = chars.and_then(|most| cut_message(&message.content, most, self.reader));
            if let Some(cut) = cut {
                lines.push(self.fit.quote(&message.from, &cut));
                announced += usize::from(id.is_some());
            } else {
                lines.push(self.fit.quote(&message.from, &message.content));
                read.extend(id);
            }
        }
        let left = self.unread.saturating_sub(read.len() + announced);
        lines.extend((left > 0).then(|| unread_line(left, self.reader)));
        let said = if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") };
        (before_prompt(self.pins, &format!("{}\n\n{said}\n", self.place.line())), read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::message::{quote_as_written, quote_lines};
    use crate::pin::fixture::pins;
    use crate::token::{Budget, Estimate};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        // W-21: the delivered and the announced messages together are the unread ones, also where
        // another session is being given some of them, or the store holds more than are shown.
        #[test]
        fn no_message_of_the_news_is_lost(
            lengths in prop::collection::vec(
                prop_oneof![0_usize..80, 0_usize..3000, 29_000_usize..31_000], 0..12),
            letter in prop_oneof![
                Just("a"), Just("가"), Just("a line\n"), Just("\n\n> quoted\r\n"),
                Just("\n(3 more unread to you: `convoke inbox june --mark`)\n"),
            ],
            not_shown in 0_usize..30,
            is_given in any::<bool>(),
            budget in prop_oneof![45_u64..400, 400_u64..9000],
            most_bytes in prop::option::of(200_usize..40_000),
            rules in prop::collection::vec(1_usize..300, 0..5),
            is_seed in any::<bool>(),
        ) {
            let rules: Vec<_> = rules.iter().map(|length| "r".repeat(*length)).collect();
            let rules: Vec<_> = rules.iter().map(String::as_str).collect();
            let from = AgentName::known("ana");
            let stored = lengths.iter().zip(1..).map(|(length, id)| {
                let content = format!("{id}: {}", letter.repeat(length / letter.len()));
                Unread { id: Some(id), message: NewMessage { from: from.clone(), content } }
            });
            let mut messages: Vec<_> = stored.collect();
            let unread = messages.len() + not_shown;
            if is_given {
                let message = NewMessage { from: from.clone(), content: "given ".repeat(90) };
                messages.push(Unread { id: None, message });
            }
            let fit = if is_seed { WakeFit::Seed } else { WakeFit::Kept };
            let news = News {
                reader: &AgentName::known("june"),
                place: PLACE,
                messages: &messages,
                unread,
                fit,
                pins: &pins(&rules),
            };
            let room = WakeLimits { budget: Budget::at_least_one(budget), most_bytes };
            let woken = news.wake_up(room, &Estimate);
            let text = &woken.text;
            prop_assert!(is_seed || room.holds(text, &Estimate), "{text}");
            let counted = text.lines().find_map(|line| {
                let number = line
                    .strip_prefix('(')?
                    .strip_suffix(" more unread to you: `convoke inbox june --mark`)")?;
                number.parse::<usize>().ok()
            });
            let is_cut = text.contains(" characters more: `convoke inbox june --mark`]");
            let newest = messages.last().and_then(|newest| newest.id);
            let cut = usize::from(is_cut && newest.is_some());
            let announced = counted.unwrap_or_default() + cut;
            let is_told = woken.read.len() + announced == unread;
            prop_assert!(is_told, "{:?} and {announced} of {unread}: {text}", woken.read);
            let quote = if is_seed { quote_as_written } else { quote_lines };
            for id in &woken.read {
                let message = messages.iter().find(|one| one.id == Some(*id)).unwrap();
                prop_assert!(text.contains(&quote(&from, &message.message.content)), "{id}");
            }
        }
    }

    fn told(place: NewsPlace<'_>, messages: &[&str], unread: usize, budget: u64) -> WakeUp {
        let from = AgentName::known("ana");
        let stored = messages.iter().zip(1..).map(|(content, id)| Unread {
            id: Some(id),
            message: NewMessage { from: from.clone(), content: (*content).to_owned() },
        });
        let messages: Vec<_> = stored.collect();
        let news = News {
            reader: &AgentName::known("june"),
            place,
            messages: &messages,
            unread,
            fit: WakeFit::Kept,
            pins: &[],
        };
        news.wake_up(WakeLimits::from(Budget::at_least_one(budget)), &Estimate)
    }

    const PLACE: NewsPlace<'_> = NewsPlace {
        phase: Some("Task 2: Add login endpoint"),
        number: 2,
        of: 3,
        task: Some("Spec review"),
    };

    // W-24
    #[test]
    fn the_news_is_an_agents_place_and_its_messages() {
        let told = told(PLACE, &["first", "second"], 2, 8000);
        assert_eq!(
            told.text,
            "Phase: Task 2: Add login endpoint | Task 2/3: Spec review\n\n\
             @ana: \"first\"\n@ana: \"second\"\n"
        );
        assert_eq!((told.read, told.steps), (vec![1, 2], vec![]));
    }

    #[test]
    fn without_a_task_or_a_message_it_says_so() {
        let told = told(NewsPlace::default(), &[], 0, 8000);
        assert_eq!(told.text, "Phase: (none) | Task 0/0: (none)\n\n(none)\n");
    }

    // W-24: old messages go first, and are counted with those that were not read from the store.
    #[test]
    fn news_that_are_too_long_are_counted() {
        let long = "x".repeat(200);
        let told = told(PLACE, &[&long, &long, "new"], 9, 100);
        assert!(told.text.ends_with("\n(7 more unread to you: `convoke inbox june --mark`)\n"));
        assert_eq!(told.read, [2, 3]);
        assert!(!told.over_budget);
    }

    // W-21: what is cut or left out stays unread, and is announced once.
    #[test]
    fn a_message_that_is_cut_stays_unread() {
        let long = "x".repeat(4000);
        for (budget, expected) in [(200, "(1 more unread"), (60, "(2 more unread")] {
            let told = told(PLACE, &["old", &long], 2, budget);
            let is_cut = told.text.contains("characters more: `convoke inbox june --mark`]");
            assert_eq!(is_cut, budget == 200, "{}", told.text);
            assert!(told.text.contains(expected) && told.read.is_empty(), "{}", told.text);
        }
    }
}
