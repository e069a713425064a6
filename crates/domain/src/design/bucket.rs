//! Buckets: which agent debates which decisions, and the warning when that agent is unavailable.

use super::seat::{Available, Holder, Panel, bucket};

/// Decisions without a debate because their agent is unavailable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedBucket {
    pub(super) agent: String,
    pub(super) number: usize,
    /// The numbers of the decisions.
    pub decisions: Vec<usize>,
}

/// Lists the buckets that are skipped when decisions 1 to `selected` go to debate.
pub fn skipped(panel: &Panel, selected: usize, available: Available) -> Vec<SkippedBucket> {
    let of = |(number, holder): (usize, Holder)| SkippedBucket {
        agent: panel.named(holder).name().to_owned(),
        number,
        decisions: (1..=selected).filter(|decision| bucket(*decision) == holder).collect(),
    };
    let absent = [(1, Holder::First), (2, Holder::Second)].into_iter();
    let absent = absent.filter(|(_, holder)| !available.has(*holder)).map(of);
    absent.filter(|bucket| !bucket.decisions.is_empty()).collect()
}

impl SkippedBucket {
    /// Returns the reason that each of its decisions is recorded with.
    pub fn reason(&self) -> String {
        format!(
            "{} unavailable — bucket {} decisions (indices: {}) skipped at Step 2a.5 step 4",
            self.agent,
            self.number,
            self.indices()
        )
    }

    /// Returns the numbers of its decisions.
    pub(super) fn indices(&self) -> String {
        self.decisions.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::render::sentence;
    use crate::design::warning::DebateWarning;

    fn shown(bucket: SkippedBucket) -> String {
        sentence(DebateWarning::BucketSkipped(bucket))
    }

    const NONE: Available = Available { first: false, second: false };

    // P-199, P-200, P-201
    #[test]
    fn a_bucket_without_its_agent_is_skipped_once() {
        let panel = Panel::default();
        let both = skipped(&panel, 5, NONE);
        assert_eq!(both[0].decisions, [1, 3, 5]);
        assert_eq!(both[1].decisions, [2, 4]);
        assert_eq!(
            shown(both[1].clone()),
            "**⚠ Codex unavailable — dialectic skipped for bucket 2 decisions (indices: 2, 4). \
             Step 2a.4 synthesis decisions stand.**"
        );
        let first = skipped(&panel, 5, Available { first: false, second: true });
        assert_eq!(first.len(), 1);
        let first = shown(first[0].clone());
        assert!(first.contains("Cursor unavailable"), "{first}");
        assert!(first.contains("bucket 1 decisions (indices: 1, 3, 5)"), "{first}");
        assert_eq!(skipped(&panel, 5, Available { first: true, second: true }), []);
    }

    // P-200: one decision leaves the second agent's bucket empty, and an empty one gives no line.
    #[test]
    fn an_empty_bucket_is_not_spoken_of() {
        let found = skipped(&Panel::default(), 1, NONE);
        assert_eq!(found.iter().map(|bucket| bucket.number).collect::<Vec<_>>(), [1]);
        assert_eq!(skipped(&Panel::default(), 0, NONE), []);
    }
}
