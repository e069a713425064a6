//! Every command that takes `--json` has a JSON Schema.

use std::collections::BTreeSet;

use clap::{Command, CommandFactory};
use convoke::cli::Cli;
use convoke_service::schema::reports;

/// `hook` answers in the format of its client; `plumbing` refuses `--json`, its lines are a contract;
/// a shell and `man` read the other two.
const WITHOUT: [&str; 4] = ["hook", "plumbing", "completions", "man"];

/// These speak a protocol on stdout; commands below them print documents.
const PROTOCOLS: [&str; 1] = ["mcp"];

/// Collects the words of every command that takes `--json` and runs without a subcommand.
fn collect(command: &Command, words: &str, found: &mut BTreeSet<String>) {
    let takes_json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
    let does_something = !command.has_subcommands() || !command.is_subcommand_required_set();
    if takes_json && does_something && !words.is_empty() && !PROTOCOLS.contains(&words) {
        found.insert(words.to_owned());
    }
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let words = format!("{words} {}", below.get_name());
        if !WITHOUT.contains(&words.trim()) {
            collect(below, words.trim(), found);
        }
    }
}

/// Every command that takes `--json`, such as `task add`.
fn commands() -> BTreeSet<String> {
    let mut command = Cli::command();
    command.build(); // Hands the global options down.
    let mut found = BTreeSet::new();
    collect(&command, "", &mut found);
    found
}

/// Returns the command of a call such as `task list --all-branches`.
fn command_of(call: &str, commands: &BTreeSet<String>) -> Option<String> {
    let words: Vec<_> = call.split(' ').collect();
    let prefixes = (1..=words.len()).rev().map(|count| words[..count].join(" "));
    prefixes.into_iter().find(|words| commands.contains(words))
}

#[test]
fn every_command_with_json_has_a_schema() {
    let commands = commands();
    assert!(commands.len() > 70, "{commands:?}");
    let described: BTreeSet<_> = reports()
        .iter()
        .flat_map(|report| report.printed_by)
        .map(|call| command_of(call, &commands).unwrap_or_else(|| format!("no command: {call}")))
        .collect();
    let unknown: Vec<_> = described.difference(&commands).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let missing: Vec<_> = commands.difference(&described).collect();
    assert!(missing.is_empty(), "add these to crates/service/src/schema/list.rs: {missing:?}");
}

#[test]
fn a_call_has_one_schema_and_a_file_one_name() {
    let (mut calls, mut names) = (BTreeSet::new(), BTreeSet::new());
    for report in reports() {
        assert!(names.insert(report.name), "{} twice", report.name);
        for call in report.printed_by {
            assert!(calls.insert(*call), "`{call}` twice");
        }
        assert!(!report.summary().is_empty(), "{} says nothing", report.name);
    }
}
