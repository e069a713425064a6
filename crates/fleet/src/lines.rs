//! The companion's own lines, between those of the worker's lane.

use serde::Serialize;
use serde_json::value::RawValue;

/// One line that the submitter adds. Every other line is one of the worker's, as `convoke lane run
/// --events` prints it.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum OwnLine<'a> {
    /// The lane is in the store, and Temporal hands it out.
    Submitted {
        /// The id of the lane in the store.
        fleet_lane: &'a str,
        /// How often the lane was submitted.
        generation: u64,
        /// The queue of Temporal in which it waits.
        queue: &'a str,
    },
    /// The lane waits; repeated every half minute.
    Waiting {
        /// What it waits for.
        reason: &'a str,
    },
    /// The lane runs without a word of the agent; repeated every half minute.
    Running {},
    /// An attempt begins; an earlier one counts no more.
    Placed {
        /// The worker's process.
        worker: &'a str,
        /// How often the lane was submitted.
        generation: u64,
        /// The number of the attempt in its generation, from 1.
        attempt: u64,
    },
    /// The last line: the report of the attempt that ended the lane.
    Ended {
        /// The report, as the worker wrote it.
        report: &'a RawValue,
    },
    /// The last line of a lane that no worker ended.
    Lost {
        /// Why not, in words for the user.
        why: &'a str,
    },
}
