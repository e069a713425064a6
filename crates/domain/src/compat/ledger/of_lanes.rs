//! The entries of a design's lanes in the ledgers.

use super::timing::{Seconds, TimedTask, WorkEnding};
use super::tokens::{TokenCounts, TokenUse};
use crate::design::event::LaneEnd;
use crate::design::seat::Panel;
use crate::design::walk::LaneNeed;
use crate::lane::collected::CollectedStatus;

/// Returns the row of a lane that ended; nothing for agents that the ledger does not know.
pub fn task(panel: &Panel, request: &LaneNeed, end: &LaneEnd, now: Seconds) -> Option<TimedTask> {
    let is_ok = end.status == CollectedStatus::Ok;
    let (code, ending) =
        if is_ok { (Some(0), WorkEnding::Complete) } else { (None, WorkEnding::Signal) };
    let took = i64::try_from(end.took / 1000).unwrap_or(i64::MAX);
    let times = (now.saturating_sub(took), now);
    let vendor = panel.named(request.holder).word();
    TimedTask::new(vendor, &request.kind, times, &request.file, code, ending).ok()
}

/// Returns what a lane used, as far as its client says.
pub fn used(panel: &Panel, request: &LaneNeed, end: &LaneEnd) -> Option<TokenUse> {
    let usage = end.usage?;
    let vendor = panel.named(request.holder).word().to_owned();
    let counts = TokenCounts {
        input: usage.input.saturating_sub(usage.cached),
        output: usage.output,
        cache_read: usage.cached,
        cache_create: 0,
        total: usage.tokens(),
    };
    let is_known = super::VENDORS.contains(&vendor.as_str());
    is_known.then(|| TokenUse { vendor, counts, raw: request.kind.replace('-', "_") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::event::LaneId;
    use crate::design::progress::Step;
    use crate::design::seat::Holder;
    use crate::lane::event::Usage;

    fn request(holder: Holder) -> LaneNeed {
        LaneNeed {
            id: LaneId::parse("review/Cursor-Arch").unwrap(),
            holder,
            step: Step::Review,
            kind: "cursor-plan-arch".to_owned(),
            file: "cursor-plan-arch-output.txt".to_owned(),
            prompt: String::new(),
        }
    }

    fn end(status: CollectedStatus) -> LaneEnd {
        let usage = Usage { input: 100, cached: 30, output: 7, reasoning: 2, micro_dollars: None };
        LaneEnd {
            status,
            reason: None,
            answer: String::new().into(),
            agent: "cursor".to_owned(),
            model: None,
            usage: Some(usage),
            took: 61_999,
        }
    }

    // P-366, P-374
    #[test]
    fn a_lane_is_a_row() {
        let panel = Panel::default();
        let row = task(&panel, &request(Holder::First), &end(CollectedStatus::Ok), 1000).unwrap();
        assert_eq!((row.vendor.as_str(), row.kind.as_str()), ("cursor", "cursor-plan-arch"));
        assert_eq!((row.start, row.end, row.duration()), (939, 1000, 61));
        assert_eq!((row.exit_code, row.ending), (Some(0), WorkEnding::Complete));
        let failed =
            task(&panel, &request(Holder::Second), &end(CollectedStatus::Failed), 1000).unwrap();
        assert_eq!((failed.vendor.as_str(), failed.ending), ("codex", WorkEnding::Signal));
        assert_eq!(task(&panel, &request(Holder::Host), &end(CollectedStatus::Ok), 1000), None);
        let spent = used(&panel, &request(Holder::First), &end(CollectedStatus::Ok)).unwrap();
        let counts =
            TokenCounts { input: 70, output: 7, cache_read: 30, cache_create: 0, total: 107 };
        assert_eq!((spent.counts, spent.raw.as_str()), (counts, "cursor_plan_arch"));
        assert_eq!(used(&panel, &request(Holder::Host), &end(CollectedStatus::Ok)), None);
    }
}
