//! Runs of designs: their records, and whether the panel was worth its cost.

mod artifact;
mod compare;
mod decide;
mod integrity;
mod known;
mod list;
mod matters;
mod progress;
mod record;
mod recount;
mod report;
mod results;
mod show;
mod spending;

pub use self::compare::{
    CompareOutcome, CompareReport, CompareRequest, CompareSideReport, compare,
};
pub use self::decide::{
    DecideRequest, DecisionOutcome, RunMattersReport, decide, list_matters, person_ruling,
};
pub(crate) use self::integrity::{journal_integrity, must_be_sound};
pub use self::known::KnownRun;
pub(crate) use self::known::{must_be_real, run_spending};
pub(crate) use self::list::last_run;
pub use self::list::{last_stopped_run, list_runs};
pub use self::matters::{DecisionReport, MatterReport, MattersReport};
pub(crate) use self::matters::{RunKind, open, way_out};
pub(crate) use self::progress::{DesignProgress, design_progress};
pub use self::record::record_text;
pub use self::recount::{ChangedVerdictReport, RecountReport, recount_run};
pub use self::report::{
    ArtifactReport, ReplayReport, RulesReport, RunLaneReport, RunLineReport, RunShowReport,
    RunSummaryReport,
};
pub use self::results::{
    ContestedDecisionReport, FindingVoteReport, JudgeVotesReport, PanelFindingReport,
    PanelVoiceReport, PlanSizeReport, ResultsReport, ReviewerScoreReport, VoteCountsReport,
    VoteTallyReport,
};
pub use self::show::{replay_run, show_artifact, show_run};
pub use self::spending::{SpendingReport, SpendingRow};
