//! Which messages of a record lead to its answer.
//!
//! When a user goes back in a conversation, the client does not rewrite its record: the next prompt
//! follows an earlier message, and the agent no longer sees the messages after that one.

use std::collections::{HashMap, HashSet};

use super::LinePlace;

/// The messages of a record, each with the one that it follows.
#[derive(Default)]
pub(crate) struct Thread {
    messages: Vec<Message>,
    places: HashMap<String, usize>,
    last: Option<usize>,
    last_of_subagents: Option<usize>,
}

struct Message {
    at: LinePlace,
    follows: Follows,
    role: Role,
    side: Side,
    /// The line before it in the record, of the same side.
    before: Option<usize>,
}

/// The predecessor of a message.
#[derive(Clone, Default)]
pub(crate) enum Follows {
    /// A message with this name.
    Named(String),
    /// Nothing: a conversation begins.
    Nothing,
    /// The record does not say: it is the line before.
    #[default]
    LineBefore,
}

/// The role of a message in a conversation.
pub(crate) enum Role {
    /// A prompt of the user.
    Prompt,
    /// The agent's, or a piece of it; the pieces of one have one name.
    Reply(Option<String>),
    /// It belongs to the message that it follows: a tool's result, a file, a note.
    Aside,
}

/// The conversation that a message belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Main,
    Subagent,
}

impl Thread {
    /// Adds the message whose line is read.
    pub(crate) fn add(
        &mut self,
        name: &str,
        follows: Follows,
        role: Role,
        side: Side,
        place: LinePlace,
    ) {
        let at = self.messages.len();
        let last = match side {
            Side::Main => &mut self.last,
            Side::Subagent => &mut self.last_of_subagents,
        };
        let before = last.replace(at);
        self.messages.push(Message { at: place, follows, role, side, before });
        self.places.insert(name.to_owned(), at);
    }

    /// Returns the branch that ends with a message, or with the last one.
    pub(crate) fn branch(&self, tip: Option<&str>) -> Branch<'_> {
        let tip = tip.and_then(|name| self.places.get(name).copied());
        let tip = tip.or(self.last).or(self.last_of_subagents);
        let mut branch = Branch {
            thread: self,
            tip,
            on_it: HashSet::new(),
            replies: HashSet::new(),
            lost: None,
        };
        let mut at = tip;
        while let Some(place) = at.filter(|place| branch.on_it.insert(*place)) {
            let message = self.messages.get(place);
            if let Some(Role::Reply(Some(name))) = message.map(|message| &message.role) {
                branch.replies.insert(name);
            }
            let is_cut_off = message.is_some_and(|message| self.has_lost(message));
            branch.lost = branch.lost.or(message.filter(|_| is_cut_off).map(|message| message.at));
            at = message.and_then(|message| self.followed_by(message));
        }
        branch
    }

    /// Tells whether the message before one is named, and missing.
    fn has_lost(&self, message: &Message) -> bool {
        matches!(&message.follows, Follows::Named(name) if !self.places.contains_key(name))
    }

    /// A message that is named and missing was lost with its line. The line before it may belong to
    /// the same branch, and nothing proves it.
    fn followed_by(&self, message: &Message) -> Option<usize> {
        match &message.follows {
            Follows::Named(name) => self.places.get(name).copied().or(message.before),
            Follows::LineBefore => message.before,
            Follows::Nothing => None,
        }
    }
}

/// The messages that lead to one.
pub(crate) struct Branch<'a> {
    thread: &'a Thread,
    tip: Option<usize>,
    on_it: HashSet<usize>,
    replies: HashSet<&'a String>,
    /// The last message that follows a missing one.
    pub(crate) lost: Option<LinePlace>,
}

impl Branch<'_> {
    /// Tells whether a message is on an abandoned branch. Of the results of several calls in one
    /// reply, only the last leads on, and the others belong to it too.
    pub(crate) fn is_left(&self, name: &str) -> bool {
        let mut at = self.thread.places.get(name).copied();
        let side = |place: usize| self.thread.messages.get(place).map(|message| message.side);
        if at.and_then(side) != self.tip.and_then(side) {
            return false;
        }
        let mut passed = HashSet::new();
        while let Some(place) = at.filter(|place| !self.on_it.contains(place)) {
            let Some(message) = self.thread.messages.get(place).filter(|_| passed.insert(place))
            else {
                return false;
            };
            match &message.role {
                Role::Prompt | Role::Reply(None) => return true,
                Role::Reply(Some(name)) if !self.replies.contains(name) => return true,
                Role::Reply(Some(_)) | Role::Aside => {}
            }
            at = self.thread.followed_by(message);
        }
        false
    }
}
