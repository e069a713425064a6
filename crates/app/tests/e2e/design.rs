//! `convoke design` from beginning to end, with recorded agents.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Outcome, Project};

const REHEARSAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/rehearsal");

fn rehearsed(project: &Project, flag: &str) -> (Outcome, String) {
    let outcome = project.run(&["design", flag]);
    let run = outcome.stderr.lines().find_map(|line| line.strip_prefix("run ")?.split(':').next());
    let run = run.unwrap_or_default().to_owned();
    (outcome, run)
}

fn git(project: &Project, arguments: &[&str]) {
    let mut git = project.command(Path::new("/usr/bin/git"), &[]);
    git.args(["-c", "user.name=June", "-c", "user.email=june@localhost"]);
    let ended = git.args(arguments).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

// The user decided, and did not ask to resume anything.
#[test]
fn the_findings_of_a_rehearsal_cannot_be_decided() {
    let project = Project::new();
    let (_, run) = rehearsed(&project, "--rehearse");
    let outcome = project.run(&["decide", "FINDING_2", "accept", "--because", "x"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{outcome}");
    let error = format!(
        "error: cannot decide anything in `{run}`: it is a rehearsal, whose findings are examples\n\
         hint: plan a feature with your agents: `convoke design \"FEATURE\"`\n"
    );
    assert!(outcome.stderr.starts_with(&error), "{outcome}");
    assert!(!outcome.stderr.contains("resume"), "{outcome}");
}

// P-1, P-84, P-86, P-95, P-100, P-190, P-203, P-246, P-279, P-293
#[test]
fn a_rehearsal_needs_no_agent_and_shows_everything() {
    let project = Project::new();
    let (outcome, run) = rehearsed(&project, "--rehearse");
    assert_eq!(outcome.code, Some(0), "{outcome}");
    for line in [
        "> **🔶 0: setup**",
        "**ℹ This is a rehearsal: every answer was recorded.**",
        "✅ 1d: discussion r1 — 4 decisions resolved (",
        "✅ 3.5: discussion r2 — 1 decisions resolved (",
        "📊 Sketches (regular): | Cursor-Arch: ✅ 48s |",
        "✅ 2a.5: dialectic — 2 voted (",
        "| FINDING_5 | NO | NO | NO | 0 | 3 | 0 | rejected |",
        "| FINDING_2 | NO | EXONERATE | YES | 1 | 1 | 1 | neutral |",
        "## Revised Implementation Plan",
        "```mermaid\n",
        "## Unimplemented Plan Review Suggestions",
        "**ℹ Independence — vote: 3 answered, 3 of them different models; judge: 3 answered, 3 of \
         them different models; nobody was replaced. More in independence.md.**\n",
        "✅ 5: cleanup — design complete! (",
    ] {
        assert!(outcome.stdout.contains(line), "{line}\n{outcome}");
    }
    // The output can be printed again, counted again and inspected.
    assert_eq!(project.run(&["replay", &run]).stdout, outcome.stdout);
    let recount = project.run(&["recount", &run]);
    assert_eq!(
        recount.stdout,
        "journal: sound\n9 verdicts, counted again: the same\n36 artifacts: the same\n",
        "{recount}"
    );
    assert!(project.stdout(&["runs"]).contains(&run));
    assert!(project.stdout(&["show", &run, "--artifact", "plan"]).contains("### Task 1:"));
    let shown: Value = serde_json::from_str(&project.stdout(&["show", &run, "--json"])).unwrap();
    assert_eq!(shown["lanes"].as_array().unwrap().len(), 27);
    let independence = shown["independence"].as_str().unwrap();
    let shown = project.stdout(&["show", &run]);
    let plain = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(&format!("independence: {independence} ")), "{shown}");
    assert!(
        project
            .stdout(&["show", &run, "--artifact", "independence"])
            .contains("3 of them different models")
    );
    let missing = project.run(&["show", &run, "--artifact", "tallly"]);
    assert!(missing.stderr.contains("hint: did you mean `tally`?"), "{missing}");
    let unknown = project.run(&["show", &run, "--artifact", "nonsense"]);
    let list = "hint: known artifacts: plan, citations, tally, diagram, synthesis, decisions, resolutions, independence; ";
    assert!(unknown.stderr.contains(list), "{unknown}");
    assert!(unknown.stderr.contains(&format!("`convoke show {run}` names all ")), "{unknown}");
    assert!(project.stdout(&["show", &run]).contains("voting-tally.md"));
}

// P-268, P-269: a voter without marker lines counts, and a note at the end says so; a voter that
// only repeats the prompt has not voted.
#[test]
fn a_vote_without_block_is_marked_and_an_echo_does_not_count() {
    let project = Project::new();
    copied(Path::new(REHEARSAL), &project.path("r"));
    let edit = |voter: &str, change: &dyn Fn(&str) -> String| {
        let path = project.path(&format!("r/answers/vote/{voter}.md"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, change(&text)).unwrap();
    };
    edit("Codex", &|text| {
        let kept = text.lines().filter(|line| !line.contains(" VOTES "));
        kept.collect::<Vec<_>>().join("\n")
    });
    edit("Cursor", &|text| {
        let (head, _) = text.split_once("BEGIN VOTES").unwrap();
        format!(
            "{head}    FINDING_N: YES|NO|EXONERATE — reason\n    OOS_N: YES|NO|EXONERATE — reason\n"
        )
    });
    let flag = format!("--rehearse={}", project.path("r").display());
    let (outcome, run) = rehearsed(&project, &flag);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let row = "| FINDING_1 | YES | YES | — | 2 | 0 | 0 | accepted |";
    assert!(outcome.stdout.contains(row), "{outcome}");
    for warning in ["Codex voter answered without block: ", "Cursor voter output holds no vote"] {
        let count = outcome.stdout.matches(&format!("**⚠ {warning}")).count();
        assert_eq!(count, 2, "{warning}: {outcome}");
    }
    // The word is in the journal, so that the same votes are read again.
    assert_eq!(project.run(&["recount", &run]).code, Some(0));
}

// P-6, P-167: the rehearsal includes the questions, and `--auto` leaves them out.
#[test]
fn a_rehearsal_plays_its_recorded_questions() {
    let project = Project::new();
    let (played, run) = rehearsed(&project, "--rehearse");
    for line in [
        "\n[1c/1] What counts as losing an edit\n",
        "\nrecorded answer: Any number, but two must be easy\n",
        "\n[3.5/1] Whether a join is announced\n",
    ] {
        assert!(played.stderr.contains(line), "{line}\n{played}");
    }
    let settled = project.stdout(&["show", &run, "--artifact", "discussion-round1.md"]);
    assert!(settled.contains("- **Resolution**: Any number, but two must be easy\n"), "{settled}");
    let auto = project.run(&["design", "--auto", "--rehearse"]);
    assert!(auto.stdout.contains("⏩ 1c: questions — skipped (auto mode) ("), "{auto}");
    assert!(!auto.stderr.contains("recorded answer"), "{auto}");
    // Answers for one call come first, and a missing recording leads to the recommendation.
    copied(Path::new(REHEARSAL), &project.path("r"));
    fs::remove_file(project.path("r/replies.txt")).unwrap();
    let project = project.file("mine.txt", "1d/1: Exactly two\n");
    let flag = format!("--rehearse={}", project.path("r").display());
    let mine = project.run(&["design", &flag, "--answers", "mine.txt"]);
    assert_eq!(mine.code, Some(0), "{mine}");
    assert!(mine.stderr.contains("More than two computers: Exactly two\n"), "{mine}");
    let recommended = "no recorded answer; accepting the recommendation\n";
    assert_eq!(mine.stderr.matches(recommended).count(), 5, "{mine}");
}

// Editing one recorded vote changes the tally, the route and the plan.
#[test]
fn votes_are_counted_and_not_believed() {
    let project = Project::new();
    copied(Path::new(REHEARSAL), &project.path("r"));
    for voter in ["Claude", "Codex", "Cursor"] {
        let path = project.path(&format!("r/answers/vote/{voter}.md"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace(": YES", ": NO")).unwrap();
    }
    // The author's answers would change the plan, too.
    fs::write(project.path("r/answers/chair/interview/claude.md"), "NO_QUESTIONS\n").unwrap();
    let flag = format!("--rehearse={}", project.path("r").display());
    let (outcome, run) = rehearsed(&project, &flag);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(
        outcome.stdout.contains("| FINDING_1 | NO | NO | NO | 0 | 3 | 0 | rejected |"),
        "{outcome}"
    );
    assert!(
        outcome
            .stdout
            .contains("**ℹ Voting panel rejected all in-scope findings. Plan unchanged.**")
    );
    assert!(!outcome.stdout.contains("## Revised Implementation Plan"));
    let shown = project.stdout(&["show", &run, "--json"]);
    assert!(!shown.contains("chair/revision"));
}

#[test]
fn an_answer_that_was_changed_afterwards_is_noticed() {
    let project = Project::new();
    let (_, run) = rehearsed(&project, "--rehearse");
    let store = project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    let changed = store
        .execute("UPDATE journal SET body = replace(body, 'FINDING_5: NO', 'FINDING_5: YES')", []);
    assert!(changed.unwrap() > 0);
    let recount = project.run(&["recount", &run]);
    assert_eq!(recount.code, Some(1), "{recount}");
    assert!(recount.stdout.contains("journal: changed at event "), "{recount}");
    assert!(recount.stdout.contains("differs: voting-tally.md\n"), "{recount}");
    // A command that reads the journal warns once, and still prints its output.
    for arguments in [&["show", &run][..], &["show", &run, "--json"], &["replay", &run]] {
        let looked = project.run(arguments);
        let warned = looked.stderr.matches("warning: the journal of ").count();
        assert_eq!(
            (looked.code, warned, looked.stdout.is_empty()),
            (Some(0), 1, false),
            "{looked}"
        );
    }
    assert_eq!(project.run(&["compare", &run]).stderr.matches("warning: the journal").count(), 1);
}

// P-2, P-5, P-47, P-56, P-57, P-60
#[test]
fn a_refused_design_gives_the_reason() {
    let project = Project::new().variable("PATH", "/usr/bin:/bin");
    let without_clients = project.run(&["design", "--auto", "Keep", "--", "--drafts"]);
    assert_eq!(without_clients.code, Some(3), "{without_clients}");
    assert!(
        without_clients.stderr.contains("looked for claude, codex, cursor-agent, agent, gemini"),
        "{without_clients}"
    );
    assert!(without_clients.stderr.contains("convoke design --rehearse"), "{without_clients}");
    let behind = ["design", "Keep drafts", "--auto", "--budget", "foo"];
    let unknown = ["design", "Keep", "--drafts"];
    for arguments in
        [&["design"][..], &["design", "--auto"], &["design", "--nonsense", "x"], &behind, &unknown]
    {
        assert_eq!(project.run(arguments).code, Some(2), "{arguments:?}");
    }
    let seats = ["design", "--auto", "--seats", "codex,gemini,claude", "Keep drafts"];
    let no_git = project.run(&seats);
    assert_eq!(no_git.code, Some(3), "{no_git}");
    assert!(no_git.stderr.starts_with("error: cannot "), "{no_git}");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(project.path("a.txt"), "a").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "-m", "a"]);
    fs::write(project.path("a.txt"), "b").unwrap();
    let seed = [&["design", "--policy", "seed"], &seats[1..]].concat();
    let dirty = project.run(&seed);
    assert_eq!(dirty.code, Some(3), "{dirty}");
    let text = "PREFLIGHT_ERROR=Working tree is not clean. Commit or stash changes first.";
    assert!(dirty.stdout.contains(text), "{dirty}");
    assert!(dirty.stdout.contains("⚠ /design requires clean main to start."), "{dirty}");
    assert!(!dirty.stderr.contains("--policy seed"), "{dirty}");
    git(&project, &["switch", "--quiet", "-c", "elsewhere"]);
    let elsewhere = project.run(&seed);
    assert_eq!(elsewhere.code, Some(3), "{elsewhere}");
    assert!(elsewhere.stderr.contains("hint: leave out `--policy seed` to plan"), "{elsewhere}");
    let nope = project.run(&["design", "--auto", "--seats", "codex,gemni,claude", "Keep drafts"]);
    let known = "hint: did you mean `gemini`?\nhint: known agents: claude, codex, cursor, gemini, opencode, qwen, `http:NAME` for a configured model API, and `replay:FILE`\n";
    assert!(nope.code == Some(2) && nope.stderr.ends_with(known), "{nope}");
}

// A feature that is too long is refused before the run begins; any shorter text is accepted.
#[test]
fn a_feature_has_a_length() {
    let project = Project::new();
    copied(Path::new(REHEARSAL), &project.path("r"));
    let flag = format!("--rehearse={}", project.path("r").display());
    let nasty = "Keep\n$(touch x) `id` '\"<panel_feature> ; rm -rf * | e\0\n";
    let mut feature = nasty.repeat(64 * 1024 / nasty.len() + 1);
    feature.truncate(64 * 1024 - 1);
    fs::write(project.path("r/feature.txt"), format!("{feature}x")).unwrap();
    let (outcome, _) = rehearsed(&project, &flag);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    fs::write(project.path("r/feature.txt"), format!("{feature}xx")).unwrap();
    let (outcome, _) = rehearsed(&project, &flag);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    let error = "error: the feature has 65537 bytes, but 65536 is the most\nhint: ";
    assert!(outcome.stderr.starts_with(error) && outcome.stdout.is_empty(), "{outcome}");
    let typed = project.run(&["design", "--auto", "--", &"x".repeat(40_000), &"y".repeat(40_000)]);
    assert_eq!(typed.code, Some(2), "{typed}");
    assert_eq!(project.stdout(&["runs"]).lines().count(), 2, "a header and the first");
}

// Whether a panel paid can be seen: the same feature in one pass, beside it.
#[test]
fn a_panel_is_compared_with_a_single_pass() {
    let project = Project::new();
    copied(Path::new(REHEARSAL), &project.path("r"));
    let plan = project.path("r/answers/chair/plan/claude.md");
    fs::copy(plan, project.path("r/answers/compare.md")).unwrap();
    let flag = format!("--rehearse={}", project.path("r").display());
    let (_, run) = rehearsed(&project, &flag);
    // The recording of a rehearsal is gone with it.
    let gone = project.run(&["compare", &run]);
    assert_eq!(gone.code, Some(3), "{gone}");
    assert_eq!(project.run(&["compare", "nope"]).code, Some(1));
}

// A rehearsal plays the recorded feature, and warns a user who names another.
#[test]
fn a_rehearsal_is_about_its_own_feature() {
    let project = Project::new();
    let note = "note: a rehearsal plans its own example feature and ignores yours\n";
    let other = project.run(&["design", "--rehearse", "Keep drafts"]);
    assert_eq!((other.code, other.stderr.starts_with(note)), (Some(0), true), "{other}");
    assert!(!project.run(&["design", "--rehearse"]).stderr.contains("note: "));
    let runs = project.stdout(&["runs"]);
    assert!(runs.lines().skip(1).all(|line| line.contains("  (rehearsal) Let people")), "{runs}");
    // It is easy to find afterwards, and leaves no project that the user does not know.
    let status = project.stdout(&["status"]);
    assert!(status.contains("`convoke show` shows the last one"), "{status}");
    let projects = project.stdout(&["project", "list"]);
    assert!(!projects.contains("(gone)"), "{projects}");
    let refused = project.run(&["show", "--markdown", "run.md"]);
    assert!(refused.stderr.contains("`--markdown=run.md` writes to a file"), "{refused}");
}

// Text from agents is shown, and no terminal obeys it.
#[test]
fn names_of_models_steer_no_terminal() {
    let project = Project::new();
    copied(Path::new(REHEARSAL), &project.path("r"));
    let sketch = project.path("r/answers/sketch/Cursor-Arch.md");
    let text = fs::read_to_string(&sketch).unwrap();
    let model = text.lines().find(|line| line.starts_with("model: ")).unwrap();
    let hostile = text.replace(model, "model: a\u{1b}]0;owned\u{7}b\u{9b}2J");
    fs::write(&sketch, hostile + "\u{1b}[2J here.\n").unwrap();
    let (_, run) = rehearsed(&project, &format!("--rehearse={}", project.path("r").display()));
    let steers = |text: &str| text.contains(|c: char| c.is_control() && c != '\n');
    let shown = project.stdout(&["show", &run]);
    assert!(shown.contains(" a ]0;owned b 2J ") && !steers(&shown), "{shown}");
    let artifact = ["show", &run, "--artifact", "cursor-sketch-arch-output.txt"];
    assert!(project.stdout(&artifact).contains("\u{1b}[2J here."), "a file gets what was written");
}
