//! The README and the guides show the program's real behaviour.
//!
//! Blocks of a document are played in order, in a repository of their own:
//!
//! - the info string `LANGUAGE,file=PATH` is a file that the reader writes;
//! - `console` is a list of commands behind `$ `, each with all that it prints; a line `…` is any
//!   number of lines that the document leaves out, and ids of tasks need not be the same;
//! - `sh` is a list of commands without their output. Each is run, but those of [`NOT_RUN`]: these
//!   fail here for the reason that the list gives;
//! - `text` is for other programs: the tests of the chores hold those of the README;
//! - `json`, `toml` and `yaml` are excerpts of files. Another form is a mistake: no test would read it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use convoke::cli::Cli;

use crate::design_terminal::Terminal;
use crate::documents_not_run::{NOT_RUN, NotRun, Obstacle};
use crate::harness::{Project, set_mode};
use crate::panel::Panel;

/// One fenced block of a document.
struct Block {
    info: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut fence: Option<String> = None;
    for line in document.lines() {
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => found.last_mut().unwrap().text.extend([line, "\n"]),
            None if line.starts_with("```") => {
                let info = line.trim_start_matches('`');
                fence = Some(line[..line.len() - info.len()].to_owned());
                found.push(Block { info: info.to_owned(), text: String::new() });
            }
            None => {}
        }
    }
    assert!(fence.is_none(), "a fence is not closed");
    found
}

/// Returns where the ids of tasks in a text begin.
fn ids(text: &str) -> Vec<&str> {
    let places = text.match_indices("t-").filter_map(|(at, _)| text.get(at..at + 7));
    places.filter(|id| id[2..].bytes().all(|digit| digit.is_ascii_hexdigit())).collect()
}

fn without_ids(text: &str) -> String {
    ids(text).into_iter().fold(text.to_owned(), |text, id| text.replace(id, "t-ID"))
}

/// Tells whether lines are those that are shown, where `…` is any number of them.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"…", rest)) => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        Some((first, rest)) => printed.split_first().is_some_and(|(line, others)| {
            without_ids(first) == without_ids(line) && fits(rest, others)
        }),
    }
}

/// Runs the commands of a block, and compares their output with the document's.
fn play(project: &Project, text: &str, known: &mut BTreeMap<String, String>) {
    for run in text.split("$ ").filter(|run| !run.is_empty()) {
        let (line, shown) = run.split_once('\n').unwrap_or((run, ""));
        let line = known.iter().fold(line.to_owned(), |line, (id, real)| line.replace(id, real));
        let outcome = project.shell(&format!("{line} 2>&1"), "");
        assert_eq!(outcome.code, Some(0), "{line}\n{outcome}");
        let printed: Vec<_> = outcome.stdout.trim_end().lines().map(str::trim_end).collect();
        let shown: Vec<_> = shown.trim_end().lines().collect();
        assert!(fits(&shown, &printed), "$ {line}\n{}", outcome.stdout);
        for (shown, printed) in shown.iter().zip(&printed) {
            let pairs = ids(shown).into_iter().zip(ids(printed));
            known.extend(pairs.map(|(id, real)| (id.to_owned(), real.to_owned())));
        }
    }
}

/// Splits a line as a shell does, as far as documents need it, up to a pipe, a comment or a file.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '|' | '#' | '>') => break,
            (None, ' ') => words.push(String::new()),
            (_, letter) => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the commands of a `sh` block, each on one line and without its remark.
fn commands(text: &str) -> Vec<String> {
    let whole = text.replace("\\\n", " ");
    let plain = |line: &str| {
        let line = line.split("  #").next().unwrap_or(line);
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    whole.lines().map(plain).collect()
}

/// Runs the commands of a `sh` block, and returns which of [`NOT_RUN`] are among them.
fn run(panel: &Panel, document: &str, text: &str) -> Vec<usize> {
    let project = &panel.project;
    let mut met = Vec::new();
    for command in commands(text) {
        let is_it = |entry: &NotRun| (entry.document, entry.command) == (document, &*command);
        let listed = NOT_RUN.iter().position(is_it);
        match listed.map(|at| &NOT_RUN[at]) {
            None => succeed(project, &command),
            Some(entry) => {
                check_obstacle(project, entry);
                if entry.obstacle == Obstacle::NeedsSeats {
                    succeed(project, &format!("{command} --auto --seats '{}'", panel.seats()));
                }
            }
        }
        met.extend(listed);
    }
    met
}

fn succeed(project: &Project, command: &str) {
    let outcome = project.shell(command, "");
    assert_eq!(outcome.code, Some(0), "{command}\n{outcome}");
}

/// Checks that a command really meets the obstacle for which it is listed, and no other.
fn check_obstacle(project: &Project, entry: &NotRun) {
    let NotRun { command, obstacle, .. } = entry;
    if *obstacle == Obstacle::OtherProgram {
        assert!(!command.starts_with("convoke "), "{command}");
        return;
    }
    let words = words(command);
    let parsed = Cli::try_parse_from(&words);
    assert!(parsed.is_ok(), "{command}\n{}", parsed.err().unwrap());
    let fails = |why: &str| {
        let outcome = project.shell(&format!("{{ {command}; }} 2>&1"), "");
        // `agents` exits 1 where no agent can answer, and `decide` where nothing is to be decided.
        let listed = ["claude    missing", "the panel decided it"];
        let is_expected = match outcome.code {
            Some(1) => listed.iter().any(|words| outcome.stdout.contains(words)),
            Some(3 | 4) => outcome.stdout.contains(why),
            _ => false,
        };
        assert!(is_expected, "{command}: {why}?\n{outcome}");
    };
    match obstacle {
        Obstacle::NeedsAgent | Obstacle::NeedsSeats => fails(" on the PATH"),
        Obstacle::NeedsOpenDecision => fails("the panel decided it"),
        Obstacle::NeedsTranscript => fails("session.jsonl"),
        Obstacle::Prompts => {
            let client = project.path("../home/bin/claude");
            fs::create_dir_all(client.parent().unwrap()).unwrap();
            fs::write(&client, "#!/bin/sh\necho '2.1.0 (Claude Code)'\n").unwrap();
            set_mode(&client, 0o755);
            let words: Vec<_> = words.iter().skip(1).map(String::as_str).collect();
            let mut terminal = Terminal::open(project, 80, &words);
            terminal.until("[y/N]");
            terminal.press("y\n");
            let (code, shown) = terminal.end();
            assert_eq!(code, Some(0), "{command}\n{shown}");
            fs::remove_file(client).unwrap();
        }
        Obstacle::Serves | Obstacle::OtherProgram => {}
    }
}

/// Checks that the page about data names what the commands left in the home folder.
fn check_places(project: &Project) {
    let page = fs::read_to_string(guide("your-data.md")).unwrap();
    let home = project.path("../home");
    let mut folders = vec![home.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = format!("~/{}", path.strip_prefix(&home).unwrap().display());
            let is_ours = name.split('/').any(|part| part == "convoke");
            // A file beside the store, such as its log, begins with the store's name.
            let is_named = page.split('`').skip(1).step_by(2).any(|place| {
                place.starts_with("~/") && place.contains("/convoke/") && name.starts_with(place)
            });
            if path.is_dir() && !is_named {
                folders.push(path);
            } else if is_ours {
                assert!(is_named, "the page about data does not name {name}");
            }
        }
    }
}

/// Plays a document in a repository with two commits and a home of its own.
fn follow(document: &Path) {
    let programs = Path::new(env!("CARGO_BIN_EXE_convoke")).parent().unwrap().display();
    let project = Project::new();
    let clients = project.path("../home/bin");
    let path = format!("{}:{programs}:/usr/bin:/bin", clients.display());
    let panel = Panel::in_project(project.variable("PATH", &path));
    panel.git(&["commit", "--quiet", "--allow-empty", "-m", "two"]);
    panel.git(&["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
    let project = &panel.project;
    let name = document.file_name().unwrap().to_str().unwrap();
    let mut met = Vec::new();
    let mut known = BTreeMap::new();
    for block in blocks(&fs::read_to_string(document).unwrap()) {
        if let Some((_, path)) = block.info.split_once(",file=") {
            let path = project.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, block.text).unwrap();
        } else if block.info == "console" {
            play(project, &block.text, &mut known);
        } else {
            match block.info.as_str() {
                "sh" => met.extend(run(&panel, name, &block.text)),
                "json" => drop(serde_json::from_str::<serde_json::Value>(&block.text).unwrap()),
                other => assert!(
                    ["text", "toml", "yaml"].contains(&other),
                    "{}: `{other}` is no form of a block",
                    document.display()
                ),
            }
        }
    }
    check_places(project);
    let listed = (0..NOT_RUN.len()).filter(|at| NOT_RUN[*at].document == name);
    assert_eq!(met, listed.collect::<Vec<_>>(), "`NOT_RUN` names other commands of {name}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn guide(name: &str) -> PathBuf {
    root().join("docs/guide").join(name)
}

#[test]
fn the_readme_can_be_followed() {
    follow(&root().join("README.md"));
}

#[test]
fn the_guide_to_designs_can_be_followed() {
    follow(&guide("plan-a-feature.md"));
}

#[test]
fn the_guide_to_sizes_can_be_followed() {
    follow(&guide("size-a-panel.md"));
}

#[test]
fn the_guide_to_wake_ups_can_be_followed() {
    follow(&guide("never-lose-your-place.md"));
}

#[test]
fn the_guide_to_dispatches_can_be_followed() {
    follow(&guide("send-reviewers.md"));
}

#[test]
fn the_guide_to_briefs_can_be_followed() {
    follow(&guide("feed-documents.md"));
}

#[test]
fn the_guide_to_lanes_can_be_followed() {
    follow(&guide("supervise-agents.md"));
}

#[test]
fn the_guide_to_fan_outs_can_be_followed() {
    follow(&guide("ask-many.md"));
}

#[test]
fn the_guide_to_limits_can_be_followed() {
    follow(&guide("outlive-limits.md"));
}

#[test]
fn the_guide_to_the_dashboard_can_be_followed() {
    follow(&guide("see-your-agents.md"));
}

// SSH begins in the home folder, which is no project: the line must name one.
#[test]
fn the_line_for_another_machine_names_the_project() {
    let guide = fs::read_to_string(guide("see-your-agents.md")).unwrap();
    let line = guide.lines().find_map(|line| line.strip_prefix("ssh ")).unwrap();
    let (_, remote) = line.split_once("convoke ").unwrap();
    let (place, serve) = remote.split_once("serve ").unwrap();
    let (_, folder) = place.trim().split_once("-C ").unwrap();
    Cli::try_parse_from(words(&format!("convoke {place}serve {serve}"))).unwrap();
    let project = Project::new();
    fs::create_dir_all(project.path(folder).join(".git")).unwrap();
    let status = project.shell(&format!("'{}' {place}status", env!("CARGO_BIN_EXE_convoke")), "");
    let shown = status.stdout.lines().next().unwrap_or_default();
    assert!(shown.contains(folder), "{status}");
}

#[test]
fn the_guide_to_connections_can_be_followed() {
    follow(&guide("connect-agents.md"));
}

#[test]
fn the_page_about_data_can_be_followed() {
    follow(&guide("your-data.md"));
}

// Its commands need a server, and the tests with one follow them: tests/fleet/guide.rs.
#[test]
fn the_guide_to_a_team_has_known_blocks() {
    follow(&guide("from-one-laptop-to-a-team.md"));
}

#[test]
fn every_guide_is_followed_by_a_test() {
    let names = fs::read_dir(root().join("docs/guide")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let followed = include_str!("documents.rs");
    for name in names {
        assert!(followed.contains(&format!("follow(&guide(\"{name}\"))")), "{name}");
    }
}

#[test]
fn every_command_that_is_not_run_is_of_a_document() {
    for NotRun { document, command, .. } in &NOT_RUN {
        let is_there = *document == "README.md" || guide(document).is_file();
        assert!(is_there, "{document}: {command}");
    }
}

#[test]
fn lines_that_are_shown_are_compared() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(fits(&["t-1bef1  Model"], &["t-00000  Model"]));
    assert!(!fits(&["a"], &["a", "b"]) && !fits(&["a", "…", "d"], &["a", "b"]));
}
