//! Runs: their records, and whether the panel was worth its cost.

mod artifact;
mod at_hand;
mod citations;
mod compare;
mod comparison;
mod decide;
mod evidence;
mod integrity;
mod known;
mod list;
mod matters;
mod parked;
mod progress;
mod record;
mod recount;
mod report;
mod report_file;
mod results;
mod show;
mod single_pass;
mod spending;
mod state;
mod timeline;

pub use self::at_hand::{JournalAtHand, ReportVerdict, journal_at_hand};
pub use self::citations::CitationReport;
pub use self::compare::{
    CompareOutcome, CompareReport, CompareRequest, CompareSideReport, SinglePassSource, compare,
};
pub use self::comparison::{
    ComparedFindingReport, ComparedRunReport, RunComparisonReport, SharedFindingReport,
    compare_runs,
};
pub use self::decide::{
    DecideRequest, DecisionOutcome, RunMattersReport, decide, list_matters, person_ruling,
};
pub use self::evidence::{
    DebateReport, DecisionPositionsReport, DefensePartReport, DefenseReport, JudgeVoteReport,
    PlanVersionReport, RunEvidenceReport, SketchPositionReport, SketchReport,
    WaitingQuestionReport,
};
pub(crate) use self::integrity::{journal_integrity, must_be_sound};
pub use self::known::KnownRun;
pub(crate) use self::known::{must_be_design, must_be_real, run_spending};
pub use self::list::{RecentDesign, last_stopped_run, list_designs, list_runs, recent_designs};
pub(crate) use self::list::{is_rehearsal, last_of_all_runs, last_run, worked_on};
pub use self::matters::{DecisionReport, MatterReport, MattersReport};
pub(crate) use self::matters::{RunKind, deciding_command, open, way_out};
pub(crate) use self::parked::parked_until;
pub(crate) use self::progress::{DesignProgress, design_progress};
pub use self::record::record_text;
pub use self::recount::{ChangedVerdictReport, RecountReport, recount_run};
pub use self::report::{
    ArtifactReport, ReplayReport, RulesReport, RunJournalReport, RunLaneReport, RunLineReport,
    RunShowReport, RunSummaryReport,
};
pub use self::report_file::{ExistingFile, ReportText, read_report, write_report};
pub use self::results::{
    ContestedDecisionReport, FindingVoteReport, JudgeVotesReport, PanelFindingReport,
    PanelVoiceReport, PlanSizeReport, ResultsReport, ReviewerScoreReport, VoteCountsReport,
    VoteTallyReport,
};
pub use self::show::{replay_run, show_artifact, show_run, show_run_at};
pub use self::spending::{SpendingReport, SpendingRow};
pub use self::state::{JournalStateReport, RunStateReport};
pub use self::timeline::{
    LaneBarReport, RunEventReport, RunTimelineReport, RunWaitReport, StepSpanReport,
};
