//! The pages and help texts that are made from the code.

use std::path::Path;

use clap::{Command, CommandFactory};
use convoke::cli::Cli;

use super::{BUDGET, HIDING, held};

/// How wide a help text may be at a terminal, in columns.
const TERMINAL: usize = 80;

/// The longest summary of a command, in characters.
const SUMMARY: usize = 70;

/// Returns a command with everything below it that a user can see, each with its whole name.
fn commands(command: &Command, name: &str) -> Vec<(String, Command)> {
    let mut all = vec![(name.to_owned(), command.clone().bin_name(name))];
    let below = command.get_subcommands().filter(|command| command.get_name() != "help");
    for command in below {
        all.extend(commands(command, &format!("{name} {}", command.get_name())));
    }
    all
}

fn all() -> Vec<(String, Command)> {
    let mut command = Cli::command().term_width(TERMINAL);
    command.build();
    commands(&command, "convoke")
}

#[test]
fn generated_pages_name_who_acts() {
    let mut found = Vec::new();
    for (path, text) in xtask::docs::pages() {
        // Names of fields are a contract; their descriptions are not.
        let is_schema = Path::new(&path).extension().is_some_and(|ending| ending == "json");
        let is_said = |line: &str| !is_schema || line.contains("\"description\":");
        for (index, line) in text.lines().enumerate().filter(|(_, line)| is_said(line)) {
            let outside: Vec<_> = line.split('`').step_by(2).collect();
            let words = outside.join("`").to_lowercase();
            for phrase in [held(&words, &HIDING), held(&words, &BUDGET)].concat() {
                found.push(format!("{path}:{}: {phrase}", index + 1));
            }
        }
    }
    assert!(found.is_empty(), "say who does what, in the reader's words: {found:#?}");
}

#[test]
fn a_summary_of_a_command_is_short() {
    for (name, command) in all() {
        let summary = command.get_about().map(ToString::to_string).unwrap_or_default();
        let length = summary.chars().count();
        assert!((1..=SUMMARY).contains(&length), "`{name}` has {length} characters: {summary}");
    }
}

#[test]
fn help_texts_fit_a_terminal() {
    for (name, mut command) in all() {
        for help in [command.render_help().to_string(), command.render_long_help().to_string()] {
            // A usage line is not wrapped.
            let mut lines = help.lines().filter(|line| !line.starts_with("Usage: "));
            let wide = lines.find(|line| line.chars().count() > TERMINAL);
            assert_eq!(wide, None, "`{name} --help`");
        }
    }
}
