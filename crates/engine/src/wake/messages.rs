//! Messages to an agent, and events around it.

use std::collections::BTreeSet;

use convoke_domain::message::{ActivityLine, ActivityReader, Message, activity};
use convoke_domain::task::outline::clipped;
use convoke_domain::wake::news::Unread;
use convoke_domain::wake::{NewMessage, WakeFit};
use convoke_store::error::StoreError;
use convoke_store::message::InboxFilter;

use super::work::LONG_TITLE;
use super::{WakeCall, WakeSources};

/// The most messages and the most deeds that are shown as recent.
const RECENT: usize = 10;

/// The new message, and the lines of recent activity without it.
pub(super) struct Messages {
    pub(super) new: Option<NewMessage>,
    pub(super) id: Option<i64>,
    /// The newest unread messages to the agent, the new message last.
    pub(super) unread: Vec<Unread>,
    /// How many stored ones there are in all.
    pub(super) count: usize,
    /// The newest of the messages.
    pub(super) newest: Option<i64>,
    pub(super) activity: Vec<ActivityLine>,
}

impl Messages {
    pub(super) fn read(
        sources: &WakeSources<'_>,
        call: &WakeCall,
        fit: WakeFit,
    ) -> Result<Self, StoreError> {
        let (store, scope, agent) = (sources.store, sources.scope, &call.agent);
        let mut addressed =
            store.addressed_to(scope, agent, InboxFilter::Unread, None, RECENT + 1)?;
        let count = store.count_addressed_to(scope, agent, InboxFilter::Unread)?;
        let newest = addressed.last().map(|message| message.id);
        addressed.retain(|message| !call.taken.contains(&message.id));
        for message in &mut addressed {
            fit.disarm(&mut message.content);
        }
        let stored = |message: &Message| Unread {
            id: Some(message.id),
            message: NewMessage { from: message.from.clone(), content: message.content.clone() },
        };
        let mut unread: Vec<_> = addressed.iter().map(stored).collect();
        let mut said = call.message.clone();
        if let Some(message) = &mut said {
            fit.disarm(&mut message.content);
        }
        unread.extend(said.clone().map(|message| Unread { id: None, message }));
        let (new, id) = match said {
            Some(message) => (Some(message), None),
            None => {
                addressed.pop().map_or((None, None), |Message { id, from, content, .. }| {
                    (Some(NewMessage { from, content }), Some(id))
                })
            }
        };
        let waiting: BTreeSet<i64> = addressed.iter().map(|message| message.id).collect();
        let mut recent = store.recent_messages(scope, RECENT + 1)?;
        for message in &mut recent {
            fit.disarm(&mut message.content);
        }
        let known = |message: &Message| Some(message.id) == id || waiting.contains(&message.id);
        let others = recent.into_iter().rev().filter(|message| !known(message));
        // Unread messages go before those that the agent may have seen.
        let newest_first = addressed.into_iter().rev().chain(others);
        let shown: Vec<_> = newest_first.take(RECENT).collect();
        let mut events = store.recent_events(scope, RECENT)?;
        for event in &mut events {
            fit.disarm(&mut event.verb_phrase);
        }
        if sources.fit == WakeFit::Kept {
            // A deed repeats a title, which is cut in the task list, too.
            for event in &mut events {
                event.verb_phrase = clipped(&event.verb_phrase, LONG_TITLE);
            }
        }
        let (clock, marks) = (sources.clock, fit.quotation_marks());
        let reader = ActivityReader { name: agent, clock, marks, unread: &waiting };
        let activity = activity(&shown, &events, reader);
        Ok(Self { new, id, unread, count, newest, activity })
    }
}
