//! `convoke pack`: the repository as a text for an agent.

use std::fs;

use serde_json::json;

use crate::harness::{Outcome, Project};
use crate::panel::Panel;
use crate::scripted_server::{Reply, Server};

fn project() -> Project {
    let door = "//! Doors of a house.\n\n/// Opens it.\npub fn open_door() {\n    creak();\n}\n";
    Project::new()
        .in_repository("main")
        .file(".gitignore", "target\n")
        .file("target/door.rs", "fn open_door() {}\n")
        .file("src/door.rs", door)
        .file("src/window.rs", "pub fn open_window() {}\n")
        .file("tests/door.rs", "#[test]\nfn a_door_opens() {}\n")
}

fn pack(project: &Project, arguments: &[&str]) -> Outcome {
    let before = project.listing();
    let outcome = project.run(&[&["pack"], arguments].concat());
    assert_eq!(project.listing(), before, "something was written");
    outcome
}

fn report(project: &Project, arguments: &[&str]) -> serde_json::Value {
    let outcome = pack(project, &[&["--json"], arguments].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

// K-1, K-2
#[test]
fn a_pack_shows_tree_and_texts_with_citations() {
    let outcome = pack(&project(), &["keep open_door from creaking"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let text = outcome.stdout;
    assert!(text.contains("src/: door.rs window.rs\n"), "{text}");
    assert!(text.contains("\nsrc/door.rs:1-6\n```rust\n//! Doors of a house.\n"), "{text}");
    assert!(!text.contains("target/"), "{text}");
}

// K-3: all that is printed counts.
#[test]
fn the_budget_holds_for_everything_printed() {
    let project = project();
    for budget in ["60", "90", "150", "400"] {
        let report = report(&project, &["open_door", "--budget", budget]);
        let budget: u64 = budget.parse().unwrap();
        assert!(report["used_x10"].as_u64().unwrap() <= 10 * budget, "{report}");
        let chars = report["text"].as_str().unwrap().chars().count() as u64;
        assert!(chars.div_ceil(4) * 11 <= 10 * budget, "{report}");
    }
    let refused = pack(&project, &["open_door", "--budget", "3"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("hint: raise `--budget`"), "{refused}");
}

#[test]
fn a_pack_about_something_else_says_so() {
    let note = "note: no file, name or commit has a word of the feature";
    let other = pack(&project(), &["quaternion"]);
    assert!(other.stderr.starts_with(note), "{other}");
    let found = pack(&project(), &["open_door"]);
    assert_eq!((found.code, found.stderr.as_str()), (Some(0), ""), "{found}");
}

// K-6: agents with tools get no texts.
#[test]
fn pointers_show_definitions_without_texts() {
    let outcome = pack(&project(), &["open_door", "--pointers"]);
    assert!(outcome.stdout.contains("4: pub fn open_door() {\n"), "{outcome}");
    assert!(!outcome.stdout.contains("creak"), "{outcome}");
}

// K-7
#[test]
fn an_explanation_names_the_reasons() {
    let project = project();
    let outcome = pack(&project, &["open_door in src/window.rs", "--explain"]);
    assert!(outcome.stdout.contains("named in the feature"), "{outcome}");
    assert!(outcome.stdout.contains("defines open_door"), "{outcome}");
    let report = report(&project, &["open_door in src/window.rs"]);
    assert_eq!(report["files"][0]["path"], "src/window.rs", "{report}");
    assert_eq!(report["files"][0]["reasons"][0]["kind"], "named", "{report}");
}

#[test]
fn a_feature_comes_from_stdin_and_may_not_be_empty() {
    let project = project();
    let piped = project.run_with_input(&["pack", "-"], b"open_door\n");
    assert!(piped.stdout.contains("src/door.rs:1-6"), "{piped}");
    let empty = pack(&project, &[" "]);
    assert_eq!(empty.code, Some(2), "{empty}");
    assert!(empty.stderr.contains("the feature is empty"), "{empty}");
    let nothing = Project::new().run(&["pack", "door"]);
    assert_eq!(nothing.code, Some(3), "{nothing}");
}

/// A model's API that gives the same sketch to every request.
fn model() -> Server {
    let words = format!("Notes go to README.md first. {}", "word ".repeat(80));
    let chunk = json!({ "model": "m-1", "choices": [{ "delta": { "content": words } }] });
    let stop = json!({ "model": "m-1", "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let reply = format!("{head}data: {chunk}\n\ndata: {stop}\n\n");
    Server::start((0..20).map(|_| Reply::Says(reply.clone())).collect())
}

// K-9, K-10: only an agent that cannot read files gets the repository, and not under the seed's rules.
#[test]
fn a_design_gives_the_repository_to_an_agent_without_tools() {
    for (flags, budget, is_given) in
        [(&[][..], 2000, true), (&["--policy", "seed"], 2000, false), (&[], 0, false)]
    {
        let server = model();
        let config = format!(
            "[pack]\ndesign_budget = {budget}\n\n[lane.http.it]\napi = 'chat'\nurl = '{}'\n\
             model = 'm-1'\nkey_env = 'IT_KEY'\n",
            server.url()
        );
        let project = Project::new().file("../home/.config/convoke/config.toml", config);
        let panel = Panel::in_project(
            project.variable("PATH", "/usr/bin:/bin").variable("IT_KEY", "sk-0123456789"),
        );
        let recorded = panel.seats();
        let (_, others) = recorded.split_once(',').unwrap();
        let seats = format!("http:it,{others}");
        let begin = ["design", "--auto", "--quick", "--no-probe", "--seats", &seats];
        let outcome = panel.project.run(&[&begin[..], flags, &["Keep README notes"]].concat());
        let asked = server.asked();
        assert_eq!(asked.contains("<panel_repository>"), is_given, "{flags:?} {asked} {outcome}");
        assert_eq!(asked.contains("README.md:1-1"), is_given, "{flags:?} {asked}");
    }
}

// K-12: an agent that reads files gets the map and no texts, unless the user wants none.
#[test]
fn a_design_gives_the_map_to_an_agent_with_tools() {
    for (flags, budget, is_given) in [
        (&[][..], "", true),
        (&["--policy", "seed"], "", false),
        (&[], "pointers_budget = 0", false),
    ] {
        let project = Project::new()
            .file("../home/.config/convoke/config.toml", format!("[pack]\n{budget}\n"))
            .file(
                "src/notes.rs",
                "/// Keeps notes.\npub fn keep_notes() {\n    secret_sauce();\n}\n",
            );
        let panel = Panel::in_project(project.variable("PATH", "/usr/bin:/bin"));
        let (panel, seats) = panel.with_spender();
        let program = panel.project.path("../bin/claude");
        let spender = fs::read_to_string(&program).unwrap();
        let keep = format!("cat >> {}", panel.project.path("../asked.txt").display());
        fs::write(&program, spender.replace("cat > /dev/null", &keep)).unwrap();
        let begin = ["design", "--auto", "--quick", "--no-probe", "--no-branch", "--seats", &seats];
        let outcome = panel.project.run(&[&begin[..], flags, &["Keep notes"]].concat());
        assert_eq!(outcome.code, Some(0), "{outcome}");
        let asked = fs::read_to_string(panel.project.path("../asked.txt")).unwrap();
        assert_eq!(asked.contains("a map of the repository"), is_given, "{flags:?} {asked}");
        assert_eq!(asked.contains("pub fn keep_notes()"), is_given, "{flags:?} {asked}");
        assert!(!asked.contains("secret_sauce"), "it reads the texts itself: {asked}");
    }
}
