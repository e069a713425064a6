//! `convoke decide`: a person ends what the panel left undecided.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use convoke_domain::run::RunId;
use convoke_engine::design::run_folder::RunFolders;
use serde_json::Value;

use crate::harness::Outcome;
use crate::panel::{Answers, Panel, answers};

/// The answers of a chair that can revise the plan for decisions, too.
pub(crate) fn with_decisions() -> Answers {
    let mut known = answers();
    let revision = known["chair/revision/claude"].clone();
    let plan = revision.split("=== resolutions ===").next().unwrap().trim_end().to_owned();
    for (number, id) in [(1, "FINDING_2"), (2, "FINDING_2"), (3, "DECISION_2")] {
        let task = format!(
            "### Task 9: Follow decision {number}\n\n**Files:**\n- jot/store.py\n\n\
             **Done when:** it is followed\n\n**Source:** {id}\n"
        );
        let answer = format!("{plan}\n\n{task}\n=== resolutions ===\n{id}: Task 9 owns it.\n");
        known.insert(format!("chair/decided-{number}/claude"), answer);
    }
    known
}

/// A panel of which one voter fails, so that the other two are divided on three findings.
pub(crate) fn divided() -> Panel {
    let panel = Panel::new();
    let mut known = answers();
    known.retain(|label, _| label != "vote/Codex");
    panel.recorded("codex", &known);
    panel.recorded("claude", &with_decisions());
    panel
}

fn designed(panel: &Panel, flags: &[&str]) -> (String, Outcome) {
    let outcome = panel.design(flags);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    (panel.run().0, outcome)
}

fn decide(panel: &Panel, words: &[&str]) -> Outcome {
    panel.project.run(&[&["decide"], words].concat())
}

fn json(panel: &Panel, words: &[&str]) -> Value {
    serde_json::from_str(&panel.project.stdout(words)).unwrap()
}

/// Returns the first matter that is undecided.
fn first_matter(panel: &Panel, run: &str) -> Value {
    json(panel, &["decide", run, "--json"])["undecided"][0].clone()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|matter| matter["id"].as_str().unwrap()).collect()
}

// P-274: a person decides a tie between two voters, and the run says so.
#[test]
fn a_run_names_undecided_matters_and_how_to_decide_them() {
    let panel = divided();
    let (run, outcome) = designed(&panel, &[]);
    let said = format!(
        "run {run}: complete, DEGRADED (1 warning)\n\
         undecided: FINDING_2 (tied), FINDING_4 (tied), OOS_1 (tied)\n\
         hint: convoke decide {run} FINDING_2 accept --because \"REASON\" (or `reject`)\n"
    );
    assert!(outcome.stderr.contains(&said), "{outcome}");
    let listed = panel.project.run(&["runs"]);
    assert!(listed.stdout.contains("ended, DEGRADED, 3 undecided"), "{listed}");
    let first = &json(&panel, &["runs", "--json"])[0];
    assert_eq!((&first["state"], &first["degraded"]), (&"ended".into(), &true.into()));
    assert_eq!((&first["warnings"], &first["undecided"]), (&1.into(), &3.into()));
    let shown = panel.shown(&run);
    assert_eq!(shown["degraded"].as_array().unwrap().len(), 1);
    assert_eq!(ids(&shown["undecided"]), ["FINDING_2", "FINDING_4", "OOS_1"]);
    let listed = decide(&panel, &[]);
    assert!(listed.stdout.starts_with("undecided:\n  FINDING_2 (tied; YES=1, NO=1"), "{listed}");
    // Each matter once: its text begins with its title.
    let second = &first_matter(&panel, &run);
    let title = second["title"].as_str().unwrap().trim_end_matches('\u{2026}');
    let text = second["text"].as_str().unwrap();
    assert!(text.starts_with(title), "{second}");
    assert_eq!(listed.stdout.matches(title).count(), 1, "{listed}");
    assert!(listed.stdout.contains(&format!(")\n    {text}\n")), "{listed}");
    assert_eq!(ids(&json(&panel, &["decide", &run, "--json"])["undecided"]).len(), 3);
    // Nothing was decided by looking.
    assert_eq!(panel.run().1, "ended");
}

#[test]
fn a_person_accepts_a_finding_and_the_plan_is_revised() {
    let panel = divided();
    let (run, before) = designed(&panel, &[]);
    let because = "The rule must\nhave one owner";
    let decided = decide(&panel, &["finding_2", "accept", "--because", because]);
    assert_eq!(decided.code, Some(0), "{decided}");
    assert!(decided.stderr.starts_with("decided: FINDING_2 accepted\n"), "{decided}");
    let line = "**ℹ A person accepted FINDING_2: The rule must have one owner**\n";
    assert!(decided.stdout.contains(line), "{decided}");
    assert!(decided.stdout.contains("### Task 9: Follow decision 1"), "{decided}");
    assert!(decided.stderr.contains("undecided: FINDING_4 (tied), OOS_1 (tied)\n"), "{decided}");
    // Everything that tells of the run tells of the person.
    let shown = panel.shown(&run);
    assert_eq!(ids(&shown["decided"]), ["FINDING_2"]);
    assert_eq!(shown["decided"][0]["decision"]["because"], because);
    let artifacts = &shown["artifacts"];
    assert!(artifacts["plan.txt"].as_str().unwrap().contains("### Task 9: Follow decision 1"));
    for (name, told) in [
        ("accepted-plan-findings.md", "- **Accepted by a person**: The rule must have one owner\n"),
        ("accepted-plan-findings.md", "- **Resolution**: Task 9 owns it.\n"),
        ("voting-tally.md", "- FINDING_2: accepted by a person: The rule must have one owner\n"),
    ] {
        assert!(artifacts[name].as_str().unwrap().contains(told), "{name}");
    }
    assert!(!artifacts["rejected-findings.md"].as_str().unwrap().contains("FINDING_2"));
    let recounted = panel.project.run(&["recount", &run]);
    assert_eq!(recounted.code, Some(0), "{recounted}");
    let told = "decided: FINDING_2 accepted by a person: The rule must have one owner\n";
    assert!(recounted.stdout.contains(told), "{recounted}");
    let replayed = panel.project.stdout(&["replay", &run]);
    assert_eq!(replayed, format!("{}{}", before.stdout, decided.stdout).trim_end());
    let record = json(&panel, &["show", &run, "--artifact", "manifest"]);
    assert_eq!(record["decided"][0]["because"], because);
    assert_eq!(panel.run().1, "ended");
    let lanes = shown["lanes"].as_array().unwrap().iter();
    let asked = lanes.filter(|lane| lane["lane"] == "chair/decided-1/claude").count();
    assert_eq!(asked, 1);
}

#[test]
fn only_undecided_matters_can_be_decided_and_once() {
    let panel = divided();
    designed(&panel, &[]);
    let because = ["--because", "so"];
    let undecided = "hint: undecided: FINDING_2, FINDING_4, OOS_1\n";
    for (id, why) in [
        ("FINDING_9", "cannot find `FINDING_9` among the open findings and decisions\n"),
        ("FINDING_1", "cannot decide `FINDING_1`: the panel decided it (accepted)\n"),
        ("DECISION_1", "cannot find `DECISION_1` among the open findings and decisions\n"),
    ] {
        let refused = decide(&panel, &[&[id, "reject"], &because[..]].concat());
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains(why) && refused.stderr.ends_with(undecided), "{refused}");
    }
    assert_eq!(decide(&panel, &["FINDING_2", "accept"]).code, Some(2));
    let once = decide(&panel, &[&["FINDING_4", "reject"], &because[..]].concat());
    assert_eq!(once.code, Some(0), "{once}");
    let twice = decide(&panel, &[&["FINDING_4", "accept"], &because[..]].concat());
    assert_eq!(twice.code, Some(1), "{twice}");
    let said = "cannot decide `FINDING_4` again: it was rejected by a person: so\n\
                hint: change it with `--again`\n";
    assert!(twice.stderr.ends_with(said), "{twice}");
    let again =
        decide(&panel, &["FINDING_4", "reject", "--again", "--because", "still so", "--json"]);
    assert_eq!(again.code, Some(0), "{again}");
    let report: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(report["decided"][0]["decision"]["because"], "still so");
    assert_eq!(ids(&report["undecided"]), ["FINDING_2", "OOS_1"]);
}

// A decision is in the journal before anything else happens, and waits for an agent.
#[test]
fn a_decision_without_an_agent_waits_for_the_next_resume() {
    let panel = divided();
    let (run, _) = designed(&panel, &[]);
    panel.recorded("claude", &answers());
    let waiting = decide(&panel, &[&run, "FINDING_2", "accept", "--because", "it matters"]);
    assert_eq!(waiting.code, Some(4), "{waiting}");
    assert!(waiting.stderr.contains("no agent revised the plan for FINDING_2"), "{waiting}");
    assert!(waiting.stderr.contains(&format!("hint: convoke resume {run} ")), "{waiting}");
    assert_eq!(panel.run().1, "stopped");
    let pending = &panel.shown(&run)["decided"][0];
    assert_eq!(pending["decision"]["pending"], true);
    let listed = decide(&panel, &[]);
    assert!(listed.stdout.contains("it matters (the plan is not revised yet)"), "{listed}");
    panel.recorded("claude", &with_decisions());
    for task in 1..=2 {
        let resumed = panel.project.run(&["resume", &run]);
        assert_eq!(resumed.code, Some(0), "{resumed}");
        // The second time there is nothing left to do.
        let revised = resumed.stdout.contains("plan revised for FINDING_2");
        assert_eq!(revised, task == 1, "{resumed}");
        let plan = panel.project.stdout(&["show", &run, "--artifact", "plan"]);
        assert_eq!(plan.matches("### Task 9:").count(), 1);
        assert_eq!(panel.project.run(&["recount", &run]).code, Some(0));
    }
}

// A decision that waits for an agent does not keep a person from deciding otherwise.
#[test]
fn a_decision_that_waits_is_replaced_by_a_later_one() {
    let panel = divided();
    let (run, before) = designed(&panel, &[]);
    panel.recorded("claude", &answers());
    let waiting = decide(&panel, &["FINDING_2", "accept", "--because", "it matters"]);
    assert_eq!(waiting.code, Some(4), "{waiting}");
    let changed = "decision changed: FINDING_2 rejected instead of accepted; no agent had acted on \
                   the earlier decision";
    let decided = decide(&panel, &["FINDING_2", "reject", "--again", "--because", "it does not"]);
    assert_eq!(decided.code, Some(0), "{decided}");
    let said = format!("decided: FINDING_2 rejected\n{changed}\n");
    assert!(decided.stderr.starts_with(&said), "{decided}");
    assert!(decided.stdout.contains(&format!("**ℹ {changed}**\n")), "{decided}");
    assert_eq!(panel.run().1, "ended");
    let shown = panel.shown(&run);
    assert_eq!(shown["decided"][0]["decision"]["choice"], "reject");
    assert_eq!(shown["decided"][0]["decision"]["pending"], false);
    assert!(!shown["artifacts"]["voting-tally.md"].as_str().unwrap().contains("it matters"));
    assert_eq!(panel.project.run(&["recount", &run]).code, Some(0));
    let replayed = panel.project.stdout(&["replay", &run]);
    let told = [&before.stdout, &waiting.stdout, &decided.stdout].map(String::as_str).concat();
    assert_eq!(replayed, told.trim_end());
}

// The plan belongs to the run's branch. The decision is kept even if the plan cannot be revised.
#[test]
fn a_decision_made_on_another_branch_waits_for_the_right_one() {
    let panel = divided();
    let (run, _) = designed(&panel, &["--branch"]);
    let branch = panel.git(&["branch", "--show-current"]);
    panel.git(&["switch", "--quiet", "main"]);
    let waiting = decide(&panel, &["FINDING_2", "accept", "--because", "it matters"]);
    assert_eq!(waiting.code, Some(6), "{waiting}");
    assert!(waiting.stderr.starts_with("decided: FINDING_2 accepted\n"), "{waiting}");
    let hints = format!("hint: git switch {branch}\nhint: convoke resume {run}\n");
    assert!(waiting.stderr.ends_with(&hints), "{waiting}");
    assert_eq!(panel.run().1, "stopped");
    panel.git(&["switch", "--quiet", &branch]);
    let resumed = panel.project.run(&["resume", &run]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert!(resumed.stdout.contains("**ℹ A person accepted FINDING_2: it matters**"), "{resumed}");
    assert!(resumed.stdout.contains("plan revised for FINDING_2"), "{resumed}");
}

#[test]
fn a_run_that_is_worked_on_takes_no_decision() {
    let panel = divided();
    let (run, _) = designed(&panel, &[]);
    let runs = panel.project.path("../home/.local/state/convoke/runs");
    let lock = RunFolders::new(runs).hold(&panel.project.root(), &RunId::parse(&run).unwrap());
    let refused = decide(&panel, &["FINDING_2", "accept", "--because", "x"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("while it is running\n"), "{refused}");
    drop(lock);
    assert!(panel.shown(&run)["decided"].as_array().unwrap().is_empty());
}

// P-232: judges who are divided leave what the synthesis chose; a person can take the other side.
#[test]
fn a_person_takes_the_other_side_of_a_contested_decision() {
    let panel = Panel::new();
    panel.recorded("claude", &with_decisions());
    let mut known = answers();
    known.retain(|label, _| label != "judge/Codex");
    panel.recorded("codex", &known);
    let (run, outcome) = designed(&panel, &[]);
    let warning = "**⚠ Codex judge failed — ";
    assert_eq!(outcome.stdout.matches(warning).count(), 2, "{outcome}");
    assert!(outcome.stderr.contains("DEGRADED: 1 warning"), "{outcome}");
    assert!(outcome.stderr.contains("undecided: DECISION_2 (fallback-to-synthesis)"), "{outcome}");
    let first = with_decisions()["chair/decided-3/claude"].clone();
    let mut known = with_decisions();
    known.insert("chair/decided-1/claude".to_owned(), first);
    panel.recorded("claude", &known);
    let decided = decide(&panel, &["DECISION_2", "reject", "--because", "short notes"]);
    assert_eq!(decided.code, Some(0), "{decided}");
    assert!(
        decided.stdout.contains("✅ 6: decisions — plan revised for DECISION_2 ("),
        "{decided}"
    );
    let resolutions = panel.project.stdout(&["show", &run, "--artifact", "resolutions"]);
    let told = "**Decided by a person**: rejected: short notes";
    assert!(resolutions.contains(told), "{resolutions}");
}

// A plan that the run left is replaced as long as no person has worked on it.
#[test]
fn a_feature_gets_the_plan_that_was_decided() {
    for is_edited in [false, true] {
        let panel = divided();
        let folder = panel.project.path("../feature");
        fs::create_dir(&folder).unwrap();
        let (run, _) = designed(&panel, &["--feature", folder.to_str().unwrap()]);
        let plan = folder.join("plan.md");
        if is_edited {
            fs::write(&plan, "My own plan.\n").unwrap();
        }
        let decided = decide(&panel, &["FINDING_2", "accept", "--because", "it matters"]);
        assert_eq!(decided.code, Some(0), "{decided}");
        let has_task =
            |name: &str| fs::read_to_string(folder.join(name)).unwrap().contains("### Task 9:");
        let beside = format!("plan-{run}.md");
        assert_eq!(has_task("plan.md"), !is_edited, "{decided}");
        assert_eq!(folder.join(&beside).exists(), is_edited, "{decided}");
        assert!(!is_edited || has_task(&beside));
        assert!(has_task("tasks.md"));
        let record = fs::read_to_string(folder.join("manifest.json")).unwrap();
        assert!(record.contains("\"because\": \"it matters\""), "{record}");
        let verified = panel.project.run(&["manifest", "verify", folder.to_str().unwrap()]);
        assert_eq!(verified.code, Some(0), "{verified}");
    }
}

/// A panel that finds a hole outside of the feature.
fn with_hole() -> Panel {
    let panel = Panel::new();
    let mut known = answers();
    let hole = "\n9. [OUT_OF_SCOPE] [security] The export writes tokens to `jot/export.py:3-4`.\n";
    for label in ["review/Cursor-Arch", "review/Cursor-Edge"] {
        let review = known.get_mut(label).unwrap();
        review.push_str(hole);
    }
    known.retain(|label, _| !label.starts_with("chair/merge"));
    for label in ["vote/Claude", "vote/Codex", "vote/Cursor"] {
        let votes = known.get_mut(label).unwrap();
        votes.push_str("\nOOS_2: YES — so\n");
    }
    for agent in ["cursor", "codex", "claude"] {
        panel.recorded(agent, &known);
    }
    panel
}

// P-286: a vulnerability is in no published file, and the person who ran the review sees it.
#[test]
fn security_findings_out_of_scope_reach_a_person() {
    let panel = with_hole();
    let parent = panel.project.path("../parent");
    fs::create_dir(&parent).unwrap();
    let env = parent.join("session.env");
    fs::write(&env, "").unwrap();
    for flags in [&[][..], &["--session-env", env.to_str().unwrap(), "--no-branch"]] {
        let (run, outcome) = designed(&panel, flags);
        let said = "withheld from published files: 1 finding out of scope that may concern security (1 accepted). They are in ";
        let rest = outcome.stderr.split(said).nth(1).unwrap_or_else(|| panic!("{outcome}"));
        let path = rest.split(". `convoke show").next().unwrap();
        let kept = fs::read_to_string(path).unwrap();
        assert!(kept.contains("- OOS_1: accepted\n") && kept.contains("writes tokens"), "{kept}");
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!outcome.stdout.contains("writes tokens"), "{outcome}");
        let shown = panel.project.stdout(&["show", &run]);
        let listed = "withheld, may concern security:\n  OOS_1 (accepted; YES=2, NO=0";
        assert!(shown.contains(listed) && shown.contains("writes tokens"), "{shown}");
        assert_eq!(ids(&panel.shown(&run)["withheld"]), ["OOS_1"]);
        let decided = decide(&panel, &["OOS_1", "reject", "--because", "tokens are dummies"]);
        assert_eq!(decided.code, Some(0), "{decided}");
        assert!(!decided.stdout.contains("dummies"), "{decided}");
        let kept = fs::read_to_string(path).unwrap();
        assert!(kept.contains("- OOS_1: rejected by a person: tokens are dummies\n"), "{kept}");
        let record = panel.project.stdout(&["show", &run, "--artifact", "manifest"]);
        assert!(!record.contains("dummies"), "{record}");
    }
    let exported = fs::read_dir(parent.join("design-export")).unwrap();
    let exported =
        exported.chain(fs::read_dir(&parent).unwrap()).map(|entry| entry.unwrap().path());
    for path in exported.filter(|path| path.is_file()) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("writes tokens") && !text.contains("dummies"), "{}", path.display());
    }
    let tally = fs::read_to_string(parent.join("design-export/voting-tally.md")).unwrap();
    assert!(tally.contains("- OOS_1: rejected by a person: the reason is withheld\n"), "{tally}");
}
