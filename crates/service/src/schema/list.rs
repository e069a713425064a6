//! Which command prints which report. A report is one line here.

use std::collections::BTreeMap;

use convoke_engine::manifest::record::RunRecord;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{ReportSchema, line, report};
use crate::agent::{
    AgentProfileReport, BoundSessionReport, RemovedAgentReport, RenamedAgentReport,
};
use crate::agents::AgentsReport;
use crate::attend::AttendReport;
use crate::brief::files::BriefFilesReport;
use crate::brief::{BriefInitReport, BriefReport, BriefRestReport};
use crate::config::{ConfigEntry, ConfigFile, SetConfigReport, UnsetConfigReport};
use crate::design::{DesignEstimateReport, DesignReport};
use crate::diagram::DiagramCheckReport;
use crate::dispatch::{
    AnswerCheckReport, ArtifactsReport, AuditReport, DispatchInitReport, DispatchMatrixReport,
    DispatchPromptReport, DispatchRateReport, DispatchRoleReport, DispatchRoundReport,
    DispatchSavingsReport, ForgottenRoundsReport, GatePromptsReport, GateReport, HistoryRateReport,
    NextRoundReport, ReviewLoopReport, TaskPromptReport,
};
use crate::doctor::DoctorCheck;
use crate::fan::{FanForecastReport, FanReport, FanResultLine};
use crate::fleet::{DrainReport, FleetStatus, StoppedFleetLane};
use crate::hooks::{HooksDryRunReport, HooksReport, RemovedHooksReport};
use crate::init::InitReport;
use crate::lane::{LaneEntryReport, LaneEventLine, LaneReport};
use crate::manifest::{ManifestReadReport, ManifestVerifyReport, ManifestWriteReport};
use crate::mcp_entry::{McpEntryDryRunReport, McpEntryReport};
use crate::message::{MessagePageReport, MessageReport, SayReport};
use crate::now::{AgentsNowReport, NowReport};
use crate::pin::{PinReport, RemovedPinReport};
use crate::plan::ResumedPlanReport;
use crate::project::{MergedProjectReport, ProjectReport};
use crate::prompt::PromptReport;
use crate::replica::SyncReport;
use crate::repository_pack::RepositoryPackReport;
use crate::run::{
    ArtifactReport, CompareReport, RecountReport, ReplayReport, ReportVerdict, RunComparisonReport,
    RunMattersReport, RunShowReport, RunSummaryReport,
};
use crate::search::SearchReport;
use crate::skill::{ChosenSkillReport, SkillReport, UnpinnedSkillReport};
use crate::status::{ClientHooks, StatusReport};
use crate::statusline::StatuslineReport;
use crate::store_page::StorePageReport;
use crate::store_transfer::{StoreCheckReport, StoreMoveReport, StoreTransferReport};
use crate::subagent::SubagentReport;
use crate::task::{
    AddedTasksReport, BranchTasksReport, DeedReport, ImportPreviewReport, MovedTasksReport,
    RemovedCount, RemovedTaskReport, RestoredCount, ShownTaskReport, TaskChangeReport,
    TaskPageReport, TaskReport,
};
use crate::team::{
    AuditEntryReport, TeamInitReport, TeamInviteReport, TeamMemberReport, TeamRevokeReport,
};
use crate::tree::{TreeBaselineReport, TreeNoteReport, TreeNotesReport};
use crate::upgrade::UpgradeReport;
use crate::usage::{LaneUsageReport, SessionUsageReport, UsagePageReport};
use crate::wake::WakeReport;

/// One line of an exported store.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StoreExportLine {
    /// The first line.
    Head {
        /// The kind of file.
        convoke: String,
        /// The version of the export's form.
        version: u32,
        /// The version of the store's tables.
        schema: u32,
        /// When the export was made.
        exported_at: String,
    },
    /// A row of a table.
    Row {
        /// The name of the store's table.
        table: String,
        /// Every column's value.
        row: BTreeMap<String, Value>,
    },
    /// The last line.
    End {
        /// Always true.
        end: bool,
        /// How many rows the export has.
        rows: u64,
    },
}

/// Returns the schema of every document.
pub fn reports() -> Vec<ReportSchema> {
    [briefs(), dispatches(), runs(), tasks(), agents(), lanes(), upkeep(), pages()].concat()
}

fn briefs() -> Vec<ReportSchema> {
    vec![
        report::<BriefReport>("brief", &["brief"]),
        report::<BriefFilesReport>("brief-files", &["brief FILE"]),
        report::<BriefRestReport>("brief-rest", &["brief rest"]),
        report::<BriefInitReport>("brief-init", &["brief init"]),
        report::<RepositoryPackReport>("pack", &["pack"]),
    ]
}

fn dispatches() -> Vec<ReportSchema> {
    vec![
        report::<DispatchInitReport>("dispatch-init", &["dispatch init"]),
        report::<Vec<DispatchRoleReport>>("dispatch-roles", &["dispatch roles"]),
        report::<DispatchPromptReport>("dispatch-prompt", &["dispatch prompt"]),
        report::<ArtifactsReport>("dispatch-artifacts", &["dispatch artifacts"]),
        report::<TaskPromptReport>("dispatch-task", &["dispatch task"]),
        report::<AnswerCheckReport>("dispatch-check", &["dispatch check"]),
        report::<NextRoundReport>("dispatch-next", &["dispatch next"]),
        report::<DispatchRoundReport>("dispatch-run", &["dispatch run"]),
        report::<ReviewLoopReport>("dispatch-loop", &["dispatch loop"]),
        report::<ForgottenRoundsReport>("dispatch-reset", &["dispatch reset"]),
        report::<DispatchRateReport>("dispatch-rate", &["dispatch rate"]),
        report::<HistoryRateReport>("dispatch-rate-histories", &["dispatch rate --histories"]),
        report::<DispatchSavingsReport>("dispatch-savings", &["dispatch savings"]),
        report::<AuditReport>("dispatch-audit", &["dispatch audit"]),
        report::<GateReport>("dispatch-gate", &["dispatch gate"]),
        report::<GatePromptsReport>("dispatch-gate-prompts", &["dispatch gate --file FILE"]),
    ]
}

fn runs() -> Vec<ReportSchema> {
    vec![
        report::<DesignReport>(
            "design",
            &["design", "resume", "decide RUN ID accept", "decide RUN ID reject"],
        ),
        report::<Vec<RunSummaryReport>>("runs", &["runs"]),
        report::<FanReport>("fan", &["fan", "show FAN", "resume FAN"]),
        report::<FanForecastReport>("fan-forecast", &["fan --dry-run"]),
        line::<FanResultLine>("fan-results", &["show FAN --artifact results"]),
        report::<DesignEstimateReport>("design-estimate", &["design --estimate"]),
        report::<RunShowReport>("show", &["show"]),
        report::<ReportVerdict>("verify", &["verify"]),
        report::<ArtifactReport>("show-artifact", &["show --artifact NAME"]),
        report::<RunRecord>("record", &["show --artifact manifest"]),
        report::<ReplayReport>("replay", &["replay"]),
        report::<RecountReport>("recount", &["recount"]),
        report::<RunMattersReport>("decide", &["decide"]),
        report::<CompareReport>("compare", &["compare"]),
        report::<RunComparisonReport>("compare-runs", &["compare --with RUN"]),
        report::<ManifestWriteReport>("manifest-write", &["manifest write"]),
        report::<ManifestReadReport>("manifest-read", &["manifest read"]),
        report::<ManifestVerifyReport>("manifest-verify", &["manifest verify"]),
        report::<DiagramCheckReport>("mermaid-check", &["mermaid check"]),
    ]
}

fn tasks() -> Vec<ReportSchema> {
    vec![
        report::<AddedTasksReport>("tasks-added", &["task add", "task import"]),
        report::<ImportPreviewReport>("import-preview", &["task import --dry-run"]),
        report::<Vec<TaskReport>>(
            "task-list",
            &["task list", "task search", "task tree", "task move"],
        ),
        report::<Vec<BranchTasksReport>>(
            "task-list-branches",
            &["task list --all-branches", "task search --all-branches"],
        ),
        report::<ShownTaskReport>("task-show", &["task show"]),
        report::<Option<TaskReport>>("task-next", &["task next"]),
        report::<TaskReport>(
            "task",
            &[
                "task start",
                "task done",
                "task skip",
                "task note",
                "task assign",
                "task edit",
                "task reorder",
            ],
        ),
        report::<MovedTasksReport>(
            "task-move-branch",
            &["task move --branch NAME", "task move --from-branch NAME"],
        ),
        report::<DeedReport>("task-verdict", &["task pass", "task fail"]),
        report::<RemovedCount>("task-rm", &["task rm"]),
        report::<RestoredCount>("task-restore", &["task restore ID"]),
        report::<Vec<RemovedTaskReport>>("task-removed", &["task restore"]),
        report::<Vec<TaskChangeReport>>("task-log", &["task log", "task undo"]),
        report::<Vec<ProjectReport>>("project-list", &["project list"]),
        report::<MergedProjectReport>("project-merge", &["project attach", "project merge"]),
        report::<PinReport>("pin", &["pin add", "plan cancel"]),
        report::<Vec<PinReport>>("pin-list", &["pin list"]),
        report::<RemovedPinReport>("pin-rm", &["pin rm"]),
        report::<ResumedPlanReport>("plan-resume", &["plan resume"]),
    ]
}

fn agents() -> Vec<ReportSchema> {
    vec![
        report::<SayReport>("say", &["say"]),
        report::<Vec<MessageReport>>("inbox", &["inbox"]),
        report::<AgentProfileReport>(
            "agent",
            &["agent add", "agent show", "agent status", "agent archive"],
        ),
        report::<Vec<AgentProfileReport>>("agent-list", &["agent list"]),
        report::<BoundSessionReport>("agent-use", &["agent use"]),
        report::<RenamedAgentReport>("agent-rename", &["agent rename"]),
        report::<RemovedAgentReport>("agent-rm", &["agent rm"]),
        report::<WakeReport>("wake", &["wake"]),
        report::<PromptReport>("prompt", &["prompt"]),
        line::<AttendReport>("attend", &["attend"]),
        report::<SubagentReport>("subagent", &["subagent"]),
        report::<Vec<String>>("skill-list", &["skill list"]),
        report::<SkillReport>("skill", &["skill show", "skill which", "skill pin"]),
        report::<ChosenSkillReport>("skill-use", &["skill use"]),
        report::<UnpinnedSkillReport>("skill-unpin", &["skill unpin"]),
        report::<HooksReport>("hooks", &["hooks status CLIENT", "hooks install"]),
        report::<RemovedHooksReport>("hooks-uninstall", &["hooks uninstall"]),
        report::<Vec<ClientHooks>>("hooks-overview", &["hooks status"]),
        report::<HooksDryRunReport>(
            "hooks-dry-run",
            &["hooks install --dry-run", "hooks uninstall --dry-run"],
        ),
        report::<McpEntryReport>("mcp-entry", &["mcp status", "mcp install", "mcp uninstall"]),
        report::<McpEntryDryRunReport>(
            "mcp-entry-dry-run",
            &["mcp install --dry-run", "mcp uninstall --dry-run"],
        ),
    ]
}

fn lanes() -> Vec<ReportSchema> {
    vec![
        report::<LaneReport>("lane-report", &["lane run"]),
        line::<LaneEventLine<'_>>("lane-event", &["lane run --events"]),
        report::<LaneEntryReport>("lane-entry", &["lane show", "lane stop"]),
        report::<Vec<LaneEntryReport>>("lane-list", &["lane list"]),
        report::<FleetStatus>("fleet-status", &["fleet status"]),
        report::<DrainReport>("fleet-drain", &["fleet drain", "fleet evict"]),
        report::<StoppedFleetLane>("fleet-stop", &["fleet stop"]),
        report::<LaneUsageReport>("usage", &["usage"]),
        report::<SessionUsageReport>("usage-sessions", &["usage --all-sessions"]),
        report::<AgentsReport>("agents", &["agents"]),
    ]
}

fn upkeep() -> Vec<ReportSchema> {
    vec![
        report::<InitReport>("init", &["init"]),
        report::<StatusReport>("status", &["status"]),
        report::<StatuslineReport>("statusline", &["statusline"]),
        report::<Vec<ConfigEntry>>("config-list", &["config list"]),
        report::<ConfigEntry>("config-entry", &["config get"]),
        report::<SetConfigReport>("config-set", &["config set"]),
        report::<UnsetConfigReport>("config-unset", &["config unset"]),
        report::<Vec<ConfigFile>>("config-files", &["config path"]),
        report::<UpgradeReport>("upgrade", &["upgrade"]),
        report::<Vec<DoctorCheck>>("doctor", &["doctor"]),
        report::<TreeBaselineReport>("tree-baseline", &["tree baseline"]),
        report::<TreeNoteReport>("tree-check", &["tree check"]),
        report::<TreeNotesReport>("tree-show", &["tree show"]),
        report::<StoreCheckReport>("store-check", &["store check"]),
        report::<StoreTransferReport>(
            "store-transfer",
            &["store backup", "store export", "store import"],
        ),
        report::<StoreMoveReport>("store-move", &["store move"]),
        report::<SyncReport>("sync", &["sync"]),
        report::<TeamInitReport>("team-init", &["team init"]),
        report::<TeamInviteReport>("team-invite", &["team invite"]),
        report::<Vec<TeamMemberReport>>("team-members", &["team members"]),
        report::<TeamRevokeReport>("team-revoke", &["team revoke"]),
        report::<Vec<AuditEntryReport>>("team-log", &["team log"]),
        line::<StoreExportLine>("store-export", &["store export -"]),
    ]
}

/// The reports of the dashboard's pages.
fn pages() -> Vec<ReportSchema> {
    vec![
        report::<NowReport>("serve-now", &["serve --report now"]),
        report::<AgentsNowReport>("serve-agents", &["serve --report agents"]),
        report::<TaskPageReport>("serve-tasks", &["serve --report tasks"]),
        report::<MessagePageReport>("serve-messages", &["serve --report messages"]),
        report::<UsagePageReport>("serve-usage", &["serve --report usage"]),
        report::<DispatchMatrixReport>("serve-dispatch", &["serve --report dispatch"]),
        report::<StorePageReport>("serve-store", &["serve --report store"]),
        report::<SearchReport>("serve-search", &["serve --report search"]),
    ]
}
