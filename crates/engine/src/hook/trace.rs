//! What a client's record shows about the last wake-up of a session.

use std::num::NonZeroUsize;
use std::path::Path;

use convoke_domain::hook::parts::split;
use convoke_domain::hook::{Moment, SAVED, Trace};
use convoke_store::delivery::{LastText, Session};
use convoke_store::error::StoreError;

use super::{HookEvent, length, parts};
use crate::client::{Compactions, adapter};
use crate::skill::hash;
use crate::transcript::own::{ClientHomes, own_record};
use crate::transcript::{InjectedTexts, injected};
use crate::wake::WakeSources;

/// How much of a record is read again at the next prompt instead of writing down that it was read.
const READ_AGAIN: u64 = 64 * 1024;

/// Checks the client's record for this entry's part of the last wake-up. Once it has arrived, Convoke
/// reads only what the client has written since, and looks for a compaction that no hook reported.
pub(super) fn trace(sources: &WakeSources<'_>, heard: &HookEvent<'_>) -> Result<Trace, StoreError> {
    if heard.event == SAVED {
        return Ok(Trace::Found);
    }
    if !matches!(heard.moment, Moment::Prompted | Moment::Resumed) {
        return Ok(Trace::Unknown);
    }
    let last = sources.store.last_text(heard.session, heard.entry.number)?;
    let is_ours = |last: &LastText| [0, heard.entry.entries()].contains(&last.wording.entries);
    let (Some(last), Some(transcript)) = (last.filter(is_ours), heard.transcript) else {
        return Ok(Trace::Unknown);
    };
    let mut parts = parts(&last.wording.text, heard);
    let number = heard.entry.number as usize;
    let is_settled = last.arrived && heard.hooks.compactions == Compactions::Announced;
    // An empty text has no part that could be missing, nor has an entry behind the last part. Such an
    // entry looks for the first part later.
    match (number <= parts.len(), is_settled) {
        (false, false) => Ok(Trace::Found),
        (false, true) if parts.is_empty() => Ok(Trace::Unknown),
        (false, true) => since_arrival(sources, heard, &last, &parts.swap_remove(0), transcript),
        (true, true) => {
            since_arrival(sources, heard, &last, &parts.swap_remove(number - 1), transcript)
        }
        (true, false) => {
            until_arrival(sources, heard, &last, &parts.swap_remove(number - 1), transcript)
        }
    }
}

/// Looks for a part in all that the client has written since the text was made.
fn until_arrival(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    last: &LastText,
    part: &str,
    transcript: &Path,
) -> Result<Trace, StoreError> {
    let found = injected(heard.session.client, transcript, last.wording.record_bytes);
    let Some(found) = found else { return Ok(Trace::Unknown) };
    let trace = judged(&found, last, part);
    if trace == Trace::Found && heard.hooks.compactions == Compactions::Announced {
        sources.store.record_read(heard.session, found.read_until())?;
    }
    Ok(trace)
}

/// Checks the client's own record for a session's last wake-up, all of its parts, between two events: a
/// session with one prompt has no second event at which a hook could look.
pub fn trace_of_session(session: Session<'_>, last: &LastText, homes: &ClientHomes) -> Trace {
    let wiring = adapter(session.client).hooks.as_ref();
    let entries = NonZeroUsize::new(last.wording.entries as usize);
    let record = own_record(session.client, session.id, homes);
    let (Some(wiring), Some(entries), Some(record)) = (wiring, entries, record) else {
        return Trace::Unknown;
    };
    let Some(found) = injected(session.client, &record, last.wording.record_bytes) else {
        return Trace::Unknown;
    };
    let text = &last.wording.text;
    let (parts, _left) = split(text, entries, wiring.most_bytes, &hash(text)[..8]);
    let traces: Vec<_> = parts.iter().map(|part| judged(&found, last, part)).collect();
    let first = |wanted: Trace| traces.iter().copied().find(|trace| *trace == wanted);
    // One missing part says more than another one that is not decided.
    first(Trace::Missing)
        .or_else(|| first(Trace::Unknown))
        .or_else(|| first(Trace::Forgotten))
        .or_else(|| first(Trace::Found))
        .unwrap_or(Trace::Unknown)
}

fn judged(found: &InjectedTexts, last: &LastText, part: &str) -> Trace {
    if found.has(part) {
        Trace::Found
    } else if found.has_forgotten(part) {
        Trace::Forgotten
    } else if found.covers(last.at) {
        Trace::Missing
    } else {
        Trace::Unknown
    }
}

/// Looks for a compaction in what the client has written since the text was found.
fn since_arrival(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    last: &LastText,
    part: &str,
    transcript: &Path,
) -> Result<Trace, StoreError> {
    // A record that became shorter is another file.
    let Some(from) = last.read_until.filter(|until| *until <= length(transcript)) else {
        return until_arrival(sources, heard, last, part, transcript);
    };
    let found = injected(heard.session.client, transcript, from);
    let Some(found) = found else { return Ok(Trace::Unknown) };
    if found.is_compacted() {
        return Ok(Trace::Forgotten);
    }
    if found.read_until().saturating_sub(from) >= READ_AGAIN {
        sources.store.record_read(heard.session, found.read_until())?;
    }
    Ok(Trace::Unknown)
}
