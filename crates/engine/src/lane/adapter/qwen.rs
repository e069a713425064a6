//! Qwen Code, with `--output-format stream-json`.

use convoke_domain::lane::event::{FailureKind, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::failure::told;
use super::hearing::{Dialect, Exit, Said};
use super::message_line::Line;
use super::{Errand, Launch, Rights};
use crate::json::{count, parse, tokens};

pub(super) const VARIABLES: &[&str] =
    &["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"];

pub(super) fn launch(errand: &Errand<'_>, launch: &mut Launch) {
    launch.arguments(&["--output-format=stream-json"]);
    match errand.rights {
        // The mode alone refuses to write, but leaves tools that make worktrees and timers.
        Rights::ReadOnly => launch.arguments(&[
            "--approval-mode=plan",
            "--core-tools=read_file,grep_search,glob,list_directory",
            "--exclude-tools=run_shell_command,edit,write_file",
            "--allowed-mcp-server-names=none",
        ]),
        Rights::Write => launch.arguments(&["--approval-mode=auto-edit"]),
    }
    launch.option("--model", errand.model);
    launch.option("--resume", errand.resume);
}

/// Tells whether a tool cannot write. A reader keeps many that have other names in every version, so
/// the ones that write are known instead.
pub(super) fn is_harmless(tool: &str) -> bool {
    !["run_shell_command", "edit", "write_file"].contains(&tool)
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "cache_read_input_tokens")]
    cached: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens")]
    output: Option<&'a RawValue>,
}

/// How Qwen Code speaks: as Claude Code does, with other numbers and other failures.
#[derive(Debug, Default)]
pub(super) struct Qwen;

impl Dialect for Qwen {
    fn line(&mut self, line: &str, said: &mut Said) -> Option<()> {
        let line = Line::parse(line).filter(Line::is_of_a_session)?;
        line.introduce(said);
        match line.kind.as_ref() {
            "assistant" => assistant(&line, said),
            "result" => result(&line, said),
            _ => {}
        }
        Some(())
    }

    fn exits(&mut self, exit: &Exit, said: &mut Said) {
        let by_code = match exit.code {
            Some(41) => Some(FailureKind::Auth),
            // Turns; time or calls.
            Some(53 | 55) => Some(FailureKind::OverBudget),
            _ => None,
        };
        if let (false, Some(failure)) = (said.has_ended(), exit.failure(by_code)) {
            said.trouble(failure);
        }
    }
}

fn assistant(line: &Line<'_>, said: &mut Said) {
    let text = line.message_text();
    // What the client itself says about an error looks as if the agent said it.
    if text.starts_with("[API Error:") {
        return said.trouble(told(&text));
    }
    line.speak(said);
}

fn usage(line: &Line<'_>) -> Option<Usage> {
    let said: Tokens<'_> = parse(line.usage)?;
    let (input, output) = (tokens(said.input)?, tokens(said.output)?);
    Some(Usage { input, cached: count(said.cached), output, ..Usage::default() })
}

fn result(line: &Line<'_>, said: &mut Said) {
    if let Some(usage) = usage(line) {
        said.usage(usage);
    }
    if line.is_failure() {
        said.ends_in(told(&line.failure_words()));
    } else {
        said.ends_well(line.answer());
    }
}
