//! The tools, as clients see them: names, descriptions, arguments, annotations.
//!
//! Every word here is part of each request that a client sends to its model, and no client shows its
//! model the shape of a result, so a description says both in few words. What is the protocol's default
//! is left out.

use std::sync::Arc;

use convoke_service::settings::mcp::WritingTool;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use self::ArgumentKind::{Number, OneOf, Prose, Text, Texts, Truth};

/// A tool of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    /// An agent's wake-up and its unread messages.
    Wake,
    /// Documents as one block.
    Brief,
    /// A list of tasks.
    Tasks,
    /// A change to one task.
    TaskUpdate,
    /// A message.
    Say,
    /// A run in the background.
    RunStart,
    /// How far a run is.
    RunStatus,
    /// What a run came to, or an answer to it.
    RunResult,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// The key in the call's JSON.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ArgumentKind,
    /// What a model has to know beside that; empty if the name says it.
    pub meaning: &'static str,
}

/// What values an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A name, id or path: short.
    Text,
    /// A text of a person or an agent, which can be long.
    Prose,
    /// A whole number.
    Number,
    /// True or false.
    Truth,
    /// A list of texts.
    Texts,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

const fn argument(name: &'static str, kind: ArgumentKind, meaning: &'static str) -> Argument {
    Argument { name, kind, meaning }
}

const AS: Argument = argument("as", Text, "your agent name");
const FROM: Argument = argument("from", Number, "a next_from");
const RUN: Argument = argument("run", Text, "");

/// The states that tasks can be listed by.
pub const STATES: &[&str] =
    &["open", "waiting", "pending", "in_progress", "completed", "skipped", "all"];

/// What can be done to a task.
pub const ACTIONS: &[&str] = &["start", "done", "skip", "note", "pass", "fail"];

/// What can run in the background.
pub const KINDS: &[&str] = &["design", "dispatch", "lane"];

const WAKE: &[Argument] = &[AS, FROM];

const BRIEF: &[Argument] = &[
    argument("documents", Texts, "paths or globs; default: the design folder"),
    argument("budget", Number, "tokens"),
    FROM,
];

const TASKS: &[Argument] = &[
    argument("state", OneOf(STATES), "default open"),
    argument("branch", Text, ""),
    argument("search", Text, "words or an id"),
    FROM,
];

const TASK_UPDATE: &[Argument] = &[
    argument("id", Text, "such as t-3fa9c"),
    argument("action", OneOf(ACTIONS), ""),
    argument("as", Text, "your agent name; of pass and fail, the role"),
    argument("note", Prose, "one line: the note, or the reason"),
];

const SAY: &[Argument] = &[
    argument("text", Prose, ""),
    AS,
    argument("to", Text, "agent"),
    argument("re", Number, "id of the message that this answers"),
];

const RUN_START: &[Argument] = &[
    argument("kind", OneOf(KINDS), ""),
    argument("key", Text, "a name for this request"),
    argument("text", Prose, ""),
    argument("budget", Text, "such as 200k tokens or $2"),
    argument("agent", Text, "such as codex or http:NAME"),
    argument("role", Text, "such as implement/security-reviewer"),
    argument("folder", Text, "the feature's documents"),
    argument("task", Text, ""),
    argument("quick", Truth, ""),
    argument("auto", Truth, "ask no question"),
    argument("rehearse", Truth, "play a free example"),
];

const RUN_STATUS: &[Argument] = &[RUN, argument("wait_s", Number, "0 to 45")];

const RUN_RESULT: &[Argument] = &[
    RUN,
    argument("artifact", Text, "default: plan or answer"),
    FROM,
    argument("answer", Prose, ""),
];

impl ToolName {
    /// All tools.
    pub const ALL: [Self; 8] = [
        Self::Wake,
        Self::Brief,
        Self::Tasks,
        Self::TaskUpdate,
        Self::Say,
        Self::RunStart,
        Self::RunStatus,
        Self::RunResult,
    ];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Brief => "brief",
            Self::Tasks => "tasks",
            Self::TaskUpdate => WritingTool::TaskUpdate.name(),
            Self::Say => WritingTool::Say.name(),
            Self::RunStart => WritingTool::RunStart.name(),
            Self::RunStatus => "run_status",
            Self::RunResult => "run_result",
        }
    }

    /// Returns the tool with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns what its user can switch off, if it writes.
    pub const fn writes(self) -> Option<WritingTool> {
        match self {
            Self::TaskUpdate => Some(WritingTool::TaskUpdate),
            Self::Say => Some(WritingTool::Say),
            Self::RunStart => Some(WritingTool::RunStart),
            Self::Wake | Self::Brief | Self::Tasks | Self::RunStatus | Self::RunResult => None,
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Wake => {
                "Your memory: skill, plan, tasks, rules, unread messages, next action. Call it first \
                 and after a context loss. Returns {text, task, next_from}"
            }
            Self::Brief => {
                "Project documents as one cited block within a token budget. Returns {text, \
                 next_from}"
            }
            Self::Tasks => "Returns {tasks: [{id, status, content, agent}], next_from}",
            Self::TaskUpdate => "Change a task. Returns it as it is now",
            Self::Say => "Send a message; @name mentions an agent. Returns {id}",
            Self::RunStart => {
                "Start other agents in the background: `design` plans the feature in `text`, `lane` \
                 asks `agent` the prompt in `text`, `dispatch` has `agent` review as `role`. Costs \
                 money. Same key: same run. Returns {run, forecast, poll_after_s}; then call \
                 run_status"
            }
            Self::RunStatus => {
                "Waits up to wait_s for a change. Returns {state: \
                 starting|running|needs_answer|ended|stopped|failed, phase, spent, question, \
                 how_to_answer, artifacts}"
            }
            Self::RunResult => {
                "Read a run's artifact: {text, next_from}. Or pass the user's `answer` to its \
                 question"
            }
        }
    }

    /// Returns its arguments.
    pub const fn arguments(self) -> &'static [Argument] {
        match self {
            Self::Wake => WAKE,
            Self::Brief => BRIEF,
            Self::Tasks => TASKS,
            Self::TaskUpdate => TASK_UPDATE,
            Self::Say => SAY,
            Self::RunStart => RUN_START,
            Self::RunStatus => RUN_STATUS,
            Self::RunResult => RUN_RESULT,
        }
    }

    /// Returns the arguments that a call must have.
    pub const fn required(self) -> &'static [&'static str] {
        match self {
            Self::Wake | Self::Brief | Self::Tasks => &[],
            Self::TaskUpdate => &["id", "action"],
            Self::Say => &["text"],
            Self::RunStart => &["kind", "key"],
            Self::RunStatus | Self::RunResult => &["run"],
        }
    }

    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Wake | Self::Brief | Self::Tasks | Self::RunStatus => {
                hints.read_only(true).open_world(false)
            }
            Self::TaskUpdate => hints.destructive(false).idempotent(true).open_world(false),
            Self::Say => hints.destructive(false).open_world(false),
            Self::RunStart => hints.destructive(false).idempotent(true).open_world(true),
            Self::RunResult => hints.destructive(false).open_world(true),
        }
    }

    /// Returns the tool for a client's list.
    pub fn tool(self) -> Tool {
        let properties: Map<String, Value> = self
            .arguments()
            .iter()
            .map(|argument| (argument.name.to_owned(), argument.schema()))
            .collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !self.required().is_empty() {
            schema.insert("required".to_owned(), json!(self.required()));
        }
        Tool::new(self.name(), self.description(), Arc::new(schema))
            .with_annotations(self.annotations())
    }
}

impl Argument {
    /// Returns the JSON Schema of its value. Integers have no `format`: some clients refuse them.
    fn schema(self) -> Value {
        let mut schema = match self.kind {
            Text | Prose => json!({"type": "string"}),
            Number => json!({"type": "integer"}),
            Truth => json!({"type": "boolean"}),
            Texts => json!({"type": "array", "items": {"type": "string"}}),
            OneOf(words) => json!({"type": "string", "enum": words}),
        };
        if let (false, Value::Object(schema)) = (self.meaning.is_empty(), &mut schema) {
            schema.insert("description".to_owned(), json!(self.meaning));
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::text::Text;
    use convoke_domain::token::Vocabulary;
    use convoke_engine::vocabulary;

    use super::*;

    // Every request of a client carries the list.
    #[test]
    fn the_list_of_tools_costs_at_most_a_thousand_tokens() {
        let tools: Vec<_> = ToolName::ALL.iter().map(|tool| tool.tool()).collect();
        let list = serde_json::to_string(&tools).unwrap();
        let tokens = vocabulary::open(Vocabulary::O200k).unwrap().count(Text::new(&list));
        assert!(tokens.tenths() <= 10_000, "{} tokens: {list}", tokens.tenths() / 10);
    }

    // The inspector refuses `format: "uint32"`.
    #[test]
    fn integers_have_no_format() {
        for tool in ToolName::ALL {
            let schema = serde_json::to_string(&tool.tool().input_schema).unwrap();
            assert!(!schema.contains("\"format\""), "{schema}");
        }
    }

    #[test]
    fn every_required_argument_is_one() {
        for tool in ToolName::ALL {
            assert_eq!(ToolName::parse(tool.name()), Some(tool));
            for name in tool.required() {
                let is_it = |argument: &&Argument| argument.name == *name;
                assert!(tool.arguments().iter().any(|argument| is_it(&argument)), "{name}");
            }
        }
    }
}
