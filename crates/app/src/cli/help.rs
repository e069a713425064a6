//! Help in groups: the commands that people use first, and plumbing only on request.

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory, FromArgMatches};

use super::Cli;
use super::sheet::{COLUMNS, hung};
use crate::output::help_width;

/// Which commands the help lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelpExtent {
    /// Those that people use.
    Usual,
    /// Also plumbing.
    All,
}

/// Every command that people use, by purpose, the most used first. Commands in no group are
/// plumbing.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Plan", &["design", "resume", "decide", "compare", "brief", "pack"]),
    ("Remember", &["task", "wake", "say", "inbox", "pin", "plan", "skill"]),
    ("Dispatch", &["dispatch", "agent", "attend"]),
    ("Run agents", &["lane", "fan", "agents", "usage", "fleet"]),
    ("Look", &["status", "serve", "statusline", "runs", "show", "verify", "project", "mermaid"]),
    (
        "Set up",
        &[
            "init",
            "doctor",
            "hooks",
            "mcp",
            "config",
            "upgrade",
            "store",
            "sync",
            "team",
            "completions",
            "man",
            "help",
        ],
    ),
];

const PLUMBING: &str = "Plumbing";

/// How many columns a command's name takes.
const NAME: usize = 12;

impl Cli {
    /// Reads a command line.
    pub fn parse_words(words: &[OsString]) -> Result<Self, clap::Error> {
        let (extent, words) = asked_extent(words);
        let columns = help_width();
        let command =
            if may_show_help(&words) { grouped_in(extent, columns) } else { Self::command() };
        // The process needs it until its end or never again; freeing it takes as long as parsing.
        let mut command = ManuallyDrop::new(command.term_width(columns));
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Returns which commands to list, and the words that clap knows.
fn asked_extent(words: &[OsString]) -> (HelpExtent, Vec<OsString>) {
    let mut is_all = false;
    if let [program, rest @ ..] = words
        && rest.iter().any(is_help)
        && rest.iter().all(|word| is_help(word) || word == "--all")
    {
        is_all = rest.iter().any(|word| word == "--all");
        if is_all {
            return (HelpExtent::All, vec![program.clone(), "--help".into()]);
        }
    }
    let extent = if is_all { HelpExtent::All } else { HelpExtent::Usual };
    (extent, words.to_vec())
}

/// Tells whether clap may print the list of commands, which takes longer to write than a whole brief.
fn may_show_help(words: &[OsString]) -> bool {
    words.len() < 2 || words.iter().any(is_help)
}

/// Tells whether the user named a command that Convoke does not have. Subcommands are in the help of
/// their command.
pub fn names_unknown_command(error: &clap::Error, words: &[OsString]) -> bool {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else {
        return false;
    };
    let mut named = words.iter().skip(1).filter(|word| *word != "help");
    named.next().is_some_and(|word| word == unknown.as_str())
}

fn is_help(word: &OsString) -> bool {
    word == "help" || word == "--help" || word == "-h"
}

/// Returns the whole command line, with its commands in groups.
pub fn grouped(extent: HelpExtent) -> Command {
    grouped_in(extent, COLUMNS)
}

fn grouped_in(extent: HelpExtent, columns: usize) -> Command {
    let command = Cli::command();
    let mut built = command.clone();
    built.build(); // Each command describes itself only when it is built.
    command.help_template(template(&built, extent, columns))
}

fn template(command: &Command, extent: HelpExtent, columns: usize) -> String {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let line = |name: &str| {
        let about = match command.find_subcommand(name).filter(|_| name != "help") {
            Some(found) => found.get_about().map(ToString::to_string).unwrap_or_default(),
            None => "Show this help, or a command's; `--all` lists plumbing, too".to_owned(),
        };
        let text = hung(&format!("  {name:<NAME$}"), &about, columns);
        text.replacen(name, &format!("{literal}{name}{literal:#}"), 1)
    };
    let group = |(title, names): (&str, Vec<&str>)| {
        let lines: String = names.into_iter().map(line).collect();
        format!("{header}{title}:{header:#}\n{lines}\n")
    };
    let usual = GROUPS.iter().map(|(title, names)| (*title, names.to_vec()));
    let plumbing = (extent == HelpExtent::All).then(|| (PLUMBING, plumbing(command)));
    let groups: String = usual.chain(plumbing).map(group).collect();
    format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    )
}

/// Returns the commands of no group.
fn plumbing(command: &Command) -> Vec<&str> {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let names = command.get_subcommands().map(Command::get_name);
    names.filter(|name| *name != "help" && !is_grouped(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_or_known_as_plumbing() {
        let command = Cli::command();
        for (title, names) in GROUPS {
            for name in names.iter().filter(|name| **name != "help") {
                assert!(command.find_subcommand(name).is_some(), "{title}: {name}");
            }
        }
        let plumbing = plumbing(&command);
        let known =
            ["hook", "manifest", "plumbing", "prompt", "recount", "replay", "subagent", "tree"];
        let mut found: Vec<_> = plumbing;
        found.sort_unstable();
        assert_eq!(found, known);
    }
}
