//! The structure of the repository, held by tests instead of good intentions.
#![expect(clippy::unwrap_used, reason = "a test that cannot read the repository should stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

#[path = "tidy/borders.rs"]
mod borders;
#[path = "tidy/comments.rs"]
mod comments;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/parameters.rs"]
mod parameters;
#[path = "tidy/walks.rs"]
mod walks;

/// Returns every file below a folder whose name ends so, build output left out.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !matches!(name.as_str(), "target" | "node_modules" | ".git") {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<PathBuf> {
    files(&xtask::root(), ".rs")
}

fn relative(path: &Path) -> String {
    path.strip_prefix(xtask::root()).unwrap().display().to_string()
}

/// Lines before the tests of a file.
fn code_lines(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap();
    text.lines().take_while(|line| *line != "#[cfg(test)]").count()
}

// app → service → engine → store → domain: an arrow means "may use", and all may use domain. `mcp` and `web`
// are front ends beside the command line, which app starts; `page` renders reports for `web` and app. The
// guardian's program is small because its crate uses nothing else. The companion for other machines is a
// program with the terminal and signals of app, and none of these crates uses it. The parser of diagrams is a
// separate program: it uses none of these crates, and none of them uses it.
#[test]
fn crates_depend_only_downwards() {
    let layers = [
        ("domain", &[][..]),
        ("guard", &["domain"]),
        ("diagram", &[]),
        ("store", &["domain"]),
        ("engine", &["domain", "guard", "store"]),
        ("service", &["domain", "store", "engine"]),
        ("mcp", &["domain", "store", "engine", "service"]),
        ("page", &["domain", "service"]),
        ("web", &["domain", "engine", "service", "page"]),
        ("app", &["domain", "guard", "store", "engine", "service", "mcp", "page", "web"]),
        ("fleet", &["store", "engine", "service"]),
    ];
    for entry in fs::read_dir(xtask::root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (_, allowed) = layers.iter().find(|(layer, _)| *layer == name).unwrap();
        let manifest: Table = fs::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap();
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(Value::Table(dependencies)) = manifest.get(table) else { continue };
            for dependency in dependencies.keys() {
                let ours = dependency.strip_prefix("convoke-");
                let may_use_app = name == "fleet";
                assert!(dependency != "convoke" || may_use_app, "{name} may not use app");
                assert!(
                    ours.is_none_or(|ours| allowed.contains(&ours)),
                    "{name} may not use {dependency}"
                );
            }
        }
    }
}

// The rules must not be able to act: no files, processes, environment, clock, threads.
#[test]
fn domain_has_no_effects() {
    let forbidden =
        ["std::fs", "std::io", "std::env", "std::process", "std::net", "std::thread", "std::time"];
    for path in files(&xtask::root().join("crates/domain/src"), ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        let used = forbidden.iter().find(|module| text.contains(**module));
        assert_eq!(used, None, "{}", relative(&path));
    }
}

// The parser of diagrams is a third of all crates, and its tables cost every start of a program that
// has them.
#[test]
fn only_a_program_of_its_own_has_the_parser_of_diagrams() {
    for path in files(&xtask::root(), "Cargo.toml") {
        let manifest: Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let Some(Value::Table(dependencies)) = manifest.get("dependencies") else { continue };
        let is_parser = relative(&path) == "crates/diagram/Cargo.toml";
        assert_eq!(dependencies.contains_key("merman-core"), is_parser, "{}", relative(&path));
        assert!(!dependencies.contains_key("convoke-diagram"), "{}", relative(&path));
    }
}

// Every other program would compile Temporal's packages, and need `protoc`.
#[test]
fn only_the_companion_talks_to_temporal() {
    for path in files(&xtask::root(), "Cargo.toml") {
        let manifest: Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let Some(Value::Table(dependencies)) = manifest.get("dependencies") else { continue };
        let is_companion = relative(&path) == "crates/fleet/Cargo.toml";
        let is_temporals = |name: &String| name.starts_with("temporalio");
        assert_eq!(dependencies.keys().any(is_temporals), is_companion, "{}", relative(&path));
        assert!(!dependencies.contains_key("convoke-fleet"), "{}", relative(&path));
    }
}

// Only doors may be exempt from the ban on effects.
#[test]
fn every_effect_has_one_door() {
    let doors = [
        "crates/app/src/env.rs",
        "crates/app/src/output.rs",
        "crates/app/tests/chaos/stage.rs",
        "crates/app/tests/e2e/harness.rs",
        "crates/app/tests/fleet.rs",
        "crates/app/tests/kill.rs",
        "crates/diagram/src/main.rs",
        "crates/engine/src/lane/stopwatch.rs",
        "crates/engine/src/process.rs",
        "crates/fleet/tests/faults/process.rs",
        "crates/guard/src/lib.rs",
        "crates/service/src/clock.rs",
        "crates/store/tests/processes.rs",
        "crates/store/tests/server.rs",
        "crates/store/tests/support/server.rs",
        "xtask/src/bench.rs",
        "xtask/src/clients/lanes.rs",
        "xtask/src/newcomer/pages.rs",
        "xtask/src/process.rs",
    ];
    let lint = concat!("clippy::disallowed_", "methods");
    let exempt: Vec<_> = sources()
        .iter()
        .filter(|path| fs::read_to_string(path).unwrap().contains(lint))
        .map(|path| relative(path))
        .collect();
    assert_eq!(exempt, doors);
}

// A user or another program may save such a file while Convoke edits it.
#[test]
fn settings_files_are_written_through_one_door() {
    let users = [
        "crates/service/src/config",
        "crates/service/src/hooks",
        "crates/service/src/init",
        "crates/service/src/mcp_entry",
    ];
    let ways =
        ["file::replace", "file::put", "replace(&path", "fs::write", "remove_file", "fs::rename"];
    for path in sources() {
        let name = relative(&path);
        if !users.iter().any(|user| name.starts_with(user)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let found = ways.iter().find(|way| text.contains(*way));
        assert_eq!(found, None, "{name}: edit the file by `crates/service/src/settings_file.rs`");
    }
}

#[test]
fn source_files_stay_readable() {
    const LIMIT: usize = 400;
    for path in sources() {
        let lines = code_lines(&path);
        assert!(lines <= LIMIT, "{} has {lines} lines; split it", relative(&path));
    }
}

// Where one program holds all tests of a crate, Cargo finds none by itself.
#[test]
fn every_file_of_tests_is_compiled() {
    for folder in ["xtask/tests", "crates/engine/tests", "crates/service/tests"] {
        let folder = xtask::root().join(folder);
        let main = fs::read_to_string(folder.join("main.rs")).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.extension().is_some_and(|ending| ending == "rs") && stem != "main" {
                assert!(main.contains(&format!("mod {stem};")), "{} is not run", relative(&path));
            }
        }
    }
}

#[test]
fn file_names_say_what_a_file_holds() {
    let vague = ["mod", "core", "common", "util", "utils", "helper", "helpers", "types", "manager"];
    for path in sources() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!vague.contains(&stem.as_str()), "{}", relative(&path));
    }
}

#[test]
fn every_source_file_says_what_it_owns() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} has no module comment", relative(&path));
    }
}

// A dangling link is worse than no link.
#[test]
fn links_and_paths_in_documents_exist() {
    let root = xtask::root();
    for page in
        files(&root, ".md").into_iter().filter(|path| !relative(path).starts_with("examples"))
    {
        let text = fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let outside = target.is_empty() || target.contains("://");
            let exists = page.parent().unwrap().join(target).exists();
            assert!(outside || exists, "{}: no such file: {target}", relative(&page));
        }
        for word in text.split('`').skip(1).step_by(2) {
            let ours = ["crates/", "docs/", "xtask/", "examples/"];
            let path = word.split(['…', ' ']).next().unwrap();
            if ours.iter().any(|start| path.starts_with(start)) {
                assert!(root.join(path).exists(), "{}: no such path: {path}", relative(&page));
            }
        }
    }
}

#[test]
fn generated_pages_are_current() {
    for (path, expected) in xtask::docs::pages() {
        let text = fs::read_to_string(xtask::root().join(&path)).unwrap_or_default();
        assert!(text == expected, "{path} is out of date; run `cargo xtask docs`");
    }
}

// A schema of a document that no command prints any more would promise it.
#[test]
fn every_schema_is_of_a_report() {
    let made: BTreeSet<_> = xtask::docs::pages().into_iter().map(|(path, _)| path).collect();
    for path in files(&xtask::root().join(xtask::docs::JSON), "") {
        let path = relative(&path);
        assert!(made.contains(&path), "no report has the schema {path}; remove it");
    }
}

// Every rule has a number, and the contract explains each.
#[test]
fn the_contract_of_the_brief_names_every_rule() {
    let page = xtask::root().join("docs/reference/brief.md");
    let text = fs::read_to_string(page).unwrap();
    let numbers: BTreeSet<u32> = text
        .split("**B-")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .collect();
    let expected =
        (1..=35).chain(40..=46).chain(50..=55).chain(60..=65).chain(70..=72).chain(80..=88);
    assert_eq!(numbers, expected.collect());
}

// A plugin that is older than the program would describe commands that are not there.
#[test]
fn the_plugin_is_of_the_programs_version() {
    let read = |name: &str| {
        let text = fs::read_to_string(xtask::root().join(name)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let plugin = read("plugin/.claude-plugin/plugin.json");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    let market = read(".claude-plugin/marketplace.json");
    let listed = &market["plugins"][0];
    assert_eq!(listed["name"], plugin["name"]);
    assert_eq!(listed["description"], plugin["description"]);
    assert!(xtask::root().join(listed["source"].as_str().unwrap()).is_dir());
}

// The plugin's hooks are those that are installed without it.
#[test]
fn the_plugins_hooks_are_those_that_are_installed() {
    use convoke_domain::client::Client;
    use convoke_engine::hooks::install;

    let installed = install(None, None, Client::Claude, Path::new("convoke"), 4).unwrap();
    let installed: serde_json::Value = serde_json::from_str(&installed).unwrap();
    let plugin = fs::read_to_string(xtask::root().join("plugin/hooks/hooks.json")).unwrap();
    let plugin: serde_json::Value = serde_json::from_str(&plugin).unwrap();
    assert_eq!(plugin["hooks"], installed["hooks"]);
}

// Every command that the plugin tells an agent to call must exist.
#[test]
fn the_plugin_names_only_commands_that_there_are() {
    use clap::CommandFactory;

    let mut program = convoke::cli::Cli::command();
    program.build();
    for name in ["plugin/commands/design.md", "plugin/skills/convoke/SKILL.md"] {
        let text = fs::read_to_string(xtask::root().join(name)).unwrap();
        for call in text.split("`convoke ").skip(1) {
            let call = call.split('`').next().unwrap();
            let mut command = &program;
            for word in call.split_whitespace() {
                let Some(next) = command.find_subcommand(word) else { break };
                command = next;
            }
            assert_ne!(command.get_name(), "convoke", "{name}: {call}");
            let flags = call.split_whitespace().filter_map(|word| word.strip_prefix("--"));
            for flag in flags {
                let known =
                    command.get_arguments().any(|argument| argument.get_long() == Some(flag));
                assert!(known, "{name}: {call} has no --{flag}");
            }
            assert!(
                !command.has_subcommands() || command.get_name() == "brief",
                "{name}: {call} is not a whole command"
            );
        }
    }
}
