//! Until when a run waits for the end of an agent's limit, by its journal.

use convoke_domain::design::event::Stamped;
use convoke_domain::design::facts::Facts;
use convoke_domain::fan::record::FanRecord;
use convoke_domain::fan::stop::FanStop;
use convoke_domain::run::RunId;
use convoke_engine::design::codec::decode as decode_design;
use convoke_engine::fan::codec::decode as decode_fan;
use convoke_store::error::StoreError;
use jiff::Timestamp;

use crate::workspace::Workspace;

/// How many of the last events say whether a run waits: one for each limited agent, and a request to stop.
const LAST_EVENTS: u64 = 8;

/// Returns until when a run waits; nothing if it does not. A run that was stopped during its wait is still
/// parked.
pub(crate) fn parked_until(
    workspace: &Workspace,
    run: &RunId,
) -> Result<Option<Timestamp>, StoreError> {
    let last = workspace.store.run(&workspace.scope.project, run)?.last_seq;
    let from = last.saturating_sub(LAST_EVENTS);
    if run.is_fan() {
        let mut record = FanRecord::default();
        workspace.store.replay(run, from, &mut |entry| {
            if let Ok(event) = decode_fan(&entry.kind, &entry.body) {
                record.take(entry.seq, event);
            }
        })?;
        return Ok(match record.stopped() {
            Some(FanStop::Parked { until, .. }) => Some(*until),
            _ => None,
        });
    }
    let mut events = Vec::new();
    workspace.store.replay(run, from, &mut |entry| {
        if let Ok(event) = decode_design(&entry.kind, &entry.body) {
            events.push(Stamped { at: entry.at_ms, event });
        }
    })?;
    let until = Facts::fold(events).parked_until();
    Ok(until.and_then(|until| Timestamp::from_millisecond(until).ok()))
}
