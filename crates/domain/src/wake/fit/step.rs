//! The steps of shortening a wake-up, and their order.

/// One step of shortening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShorteningStep {
    /// Old messages that are long are cut short; unread ones never are.
    ShortActivity,
    /// Activity is shortened, oldest first, down to three lines.
    LessActivity,
    /// Of the plan, only the current task.
    PlanTask,
    /// The skill's explanations go.
    SkillExplanations,
    /// The skill's diagrams go.
    SkillDiagrams,
    /// Of the plan, only the current task's heading and files.
    PlanFiles,
    /// Of the plan, only the file's name.
    NoPlan,
    /// Activity is shortened to one line, then to none.
    NoActivity,
    /// Finished tasks are drawn together.
    ShortTasks,
    /// Titles of tasks are cut short.
    ShortTitles,
    /// The skill is cut at a section border.
    SkillCut,
    /// Of a long list, only tasks near the current one are shown.
    NearTasks,
    /// Only the nearest tasks are shown.
    FewTasks,
    /// The new message is cut, where it alone is too long.
    ShortMessage,
    /// The text holds only the user's rules and the commands that show the rest.
    Minimal,
    /// Rules of the user that still do not fit are counted, in a line with the command that shows
    /// them.
    FewerPins,
}

impl ShorteningStep {
    /// The contract's steps, in order.
    pub(super) const SEED: [Self; 8] = [
        Self::LessActivity,
        Self::PlanTask,
        Self::SkillExplanations,
        Self::SkillDiagrams,
        Self::PlanFiles,
        Self::NoActivity,
        Self::ShortTasks,
        Self::SkillCut,
    ];

    /// The steps of a text that keeps its budget, in order.
    pub(super) const KEPT: [Self; 14] = [
        Self::NearTasks,
        Self::ShortActivity,
        Self::LessActivity,
        Self::PlanTask,
        Self::SkillExplanations,
        Self::SkillDiagrams,
        Self::PlanFiles,
        Self::NoActivity,
        Self::ShortTasks,
        Self::ShortTitles,
        Self::FewTasks,
        Self::SkillCut,
        Self::NoPlan,
        Self::ShortMessage,
    ];

    /// Returns the word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShortActivity => "short_activity",
            Self::LessActivity => "less_activity",
            Self::PlanTask => "plan_task",
            Self::SkillExplanations => "skill_explanations",
            Self::SkillDiagrams => "skill_diagrams",
            Self::PlanFiles => "plan_files",
            Self::NoPlan => "no_plan",
            Self::NoActivity => "no_activity",
            Self::ShortTasks => "short_tasks",
            Self::ShortTitles => "short_titles",
            Self::SkillCut => "skill_cut",
            Self::NearTasks => "near_tasks",
            Self::FewTasks => "few_tasks",
            Self::ShortMessage => "short_message",
            Self::Minimal => "minimal",
            Self::FewerPins => "fewer_pins",
        }
    }
}
