//! The `[mcp]` section.

use convoke_domain::lane::budget::{LaneBudget, WrittenBudget};
use toml::Value;

use super::files::settle_once;
use super::{Key, list, read_layers, text, truth};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "mcp";

/// A tool of the MCP server that changes something, so that its user can switch it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritingTool {
    /// Changes a task.
    TaskUpdate,
    /// Sends a message.
    Say,
    /// Starts a run, which costs money, and answers a run's question.
    RunStart,
}

impl WritingTool {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::TaskUpdate, Self::Say, Self::RunStart];

    /// Returns the tool's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TaskUpdate => "task_update",
            Self::Say => "say",
            Self::RunStart => "run_start",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// What is decided about the MCP server.
#[derive(Debug, Clone)]
pub struct McpSettings {
    /// The writing tools that clients may call.
    pub allow: Vec<WritingTool>,
    /// The most that one run may spend, and its budget where the call names none. Every one of them
    /// holds: the user's own, and another that a project asks for.
    pub budgets: Vec<WrittenBudget>,
    /// Whether Convoke's own lanes may use the tools.
    pub in_lanes: bool,
}

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct McpLayer {
    allow: Option<Vec<WritingTool>>,
    budget: Option<WrittenBudget>,
    in_lanes: Option<bool>,
}

/// Every setting of the MCP server.
pub const KEYS: [Key<McpLayer>; 3] = [
    Key {
        name: "allow",
        expected: "a list of task_update, say and run_start (in a variable: separated by commas)",
        default: "[\"task_update\", \"say\", \"run_start\"]",
        meaning: "the tools beside the reading ones that clients can call; [] leaves the reading tools",
        from_text: list,
        set: |layer, value| {
            layer.allow = Some(tools(value)?);
            Some(())
        },
    },
    Key {
        name: "budget",
        expected: "tokens such as \"200k\" or \"1.5M\", or money such as \"$2.50\"",
        default: "none",
        meaning: "the most that one run of `run_start` may spend, and its budget if the call names none",
        from_text: text,
        set: |layer, value| {
            layer.budget = Some(WrittenBudget::parse(value.as_str()?).ok()?);
            Some(())
        },
    },
    Key {
        name: "in_lanes",
        expected: "true or false",
        default: "false",
        meaning: "offer the tools to agents in Convoke's own lanes, too",
        from_text: truth,
        set: |layer, value| {
            layer.in_lanes = Some(value.as_bool()?);
            Some(())
        },
    },
];

/// Reads a list of writing tools; an empty text in a variable is an empty list.
pub(super) fn tools(value: &Value) -> Option<Vec<WritingTool>> {
    let names = value.as_array()?.iter().map(|name| name.as_str().map(str::trim));
    names.filter(|name| *name != Some("")).map(|name| WritingTool::parse(name?)).collect()
}

/// Returns what the environment and the files say about the MCP server.
pub fn settings(session: &Session) -> Result<McpSettings, Failure> {
    settle_once(&session.settings.files().mcp, || settle(session))
}

fn settle(session: &Session) -> Result<McpSettings, Failure> {
    let [environment, local, project, user] = read_layers(session, SECTION, &KEYS)?;
    let own = environment.budget.or(local.budget);
    let budgets = match own {
        Some(own) => vec![own],
        None => [project.budget, user.budget].into_iter().flatten().collect(),
    };
    let layers = [environment.allow, local.allow, project.allow, user.allow];
    Ok(McpSettings {
        allow: layers.into_iter().flatten().next().unwrap_or(WritingTool::ALL.to_vec()),
        budgets,
        in_lanes: environment.in_lanes.or(local.in_lanes).or(user.in_lanes).unwrap_or(false),
    })
}

/// A budget that a call may not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetRefusal {
    /// Neither the call nor the configuration has one.
    #[error("a run needs a budget")]
    Missing,
    /// It is more than the configuration allows.
    #[error("the budget `{asked}` is more than `mcp.budget` allows: `{most}`")]
    TooHigh {
        /// The budget of the request.
        asked: String,
        /// What is allowed.
        most: String,
    },
    /// One counts tokens and the other money.
    #[error("the budget `{asked}` cannot be compared with `mcp.budget`: `{most}`")]
    OtherUnit {
        /// The budget of the request.
        asked: String,
        /// What is allowed.
        most: String,
    },
}

impl McpSettings {
    /// Tells whether clients may call a tool.
    pub fn allows(&self, tool: WritingTool) -> bool {
        self.allow.contains(&tool)
    }

    /// Returns the budget of a run: that of the request, within every configured one.
    pub fn budget(&self, asked: Option<WrittenBudget>) -> Result<WrittenBudget, BudgetRefusal> {
        let Some(asked) = asked.or_else(|| self.budgets.first().cloned()) else {
            return Err(BudgetRefusal::Missing);
        };
        for most in &self.budgets {
            let words = || (asked.text().to_owned(), most.text().to_owned());
            match (asked.budget(), most.budget()) {
                (LaneBudget::Tokens(one), LaneBudget::Tokens(other))
                | (LaneBudget::MicroDollars(one), LaneBudget::MicroDollars(other)) => {
                    if one > other {
                        let (asked, most) = words();
                        return Err(BudgetRefusal::TooHigh { asked, most });
                    }
                }
                (LaneBudget::Tokens(_), LaneBudget::MicroDollars(_))
                | (LaneBudget::MicroDollars(_), LaneBudget::Tokens(_)) => {
                    let (asked, most) = words();
                    return Err(BudgetRefusal::OtherUnit { asked, most });
                }
            }
        }
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(budgets: &[&str]) -> McpSettings {
        let budgets = budgets.iter().map(|text| WrittenBudget::parse(text).unwrap()).collect();
        McpSettings { allow: Vec::new(), budgets, in_lanes: false }
    }

    #[test]
    fn a_run_spends_at_most_what_is_configured() {
        let asked = |text: &str| Some(WrittenBudget::parse(text).unwrap());
        let text =
            |budget: Result<WrittenBudget, BudgetRefusal>| budget.map(|cap| cap.text().to_owned());
        assert_eq!(text(limited(&[]).budget(None)), Err(BudgetRefusal::Missing));
        assert_eq!(text(limited(&[]).budget(asked("2M"))), Ok("2M".to_owned()));
        let settings = limited(&["200k"]);
        assert_eq!(text(settings.budget(None)), Ok("200k".to_owned()));
        assert_eq!(text(settings.budget(asked("200k"))), Ok("200k".to_owned()));
        for (asked_for, words) in [
            ("201k", "the budget `201k` is more than `mcp.budget` allows: `200k`"),
            ("$1", "the budget `$1` cannot be compared with `mcp.budget`: `200k`"),
        ] {
            assert_eq!(settings.budget(asked(asked_for)).unwrap_err().to_string(), words);
        }
        assert!(limited(&["200k", "100k"]).budget(asked("150k")).is_err());
    }

    #[test]
    fn only_writing_tools_are_listed() {
        let read = |text: &str| tools(&text.parse::<toml::Table>().unwrap()["x"]);
        assert_eq!(read("x = []"), Some(Vec::new()));
        assert_eq!(read("x = [\"\"]"), Some(Vec::new()));
        assert_eq!(read("x = ['say', ' run_start']").unwrap().len(), 2);
        for wrong in ["x = ['wake']", "x = 'say'", "x = [1]", "x = ['Say']"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
