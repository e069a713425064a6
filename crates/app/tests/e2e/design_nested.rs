//! `convoke design --session-env`: designs that another workflow requests.

use std::fs;
use std::path::PathBuf;

use crate::harness::Outcome;
use crate::panel::{FEATURE, Panel, answers};

/// A workflow that requests a design.
struct Parent {
    panel: Panel,
}

impl Parent {
    fn new(env: &str) -> Self {
        let parent = Self { panel: Panel::new() };
        fs::create_dir(parent.at("")).unwrap();
        fs::write(parent.at("session-env.sh"), env).unwrap();
        parent
    }

    fn at(&self, name: &str) -> PathBuf {
        self.panel.project.path("..").canonicalize().unwrap().join("parent").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    fn design(&self, more: &[&str]) -> Outcome {
        let env = self.at("session-env.sh").display().to_string();
        self.panel.design(&[&["--session-env", &env], more].concat())
    }

    /// Returns the folders of runs that were kept.
    fn kept(&self) -> Vec<PathBuf> {
        let runs = self.panel.project.path("../home/.local/state/convoke/runs");
        let entries = fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.join("session-id").exists()).collect()
    }
}

// P-10, P-17, P-24, P-79, P-96, P-97, P-284, P-334, P-378, P-379, P-384
#[test]
fn the_calling_workflow_gets_every_file_and_little_output() {
    let parent = Parent::new("# known already\nCODEX_HEALTHY=true\nLARCH_TOKEN_SESSION_ID=t\n");
    let outcome = parent.design(&["--step-prefix", "1.::design plan"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let said = outcome.stdout.lines().filter(|line| line.starts_with('✅'));
    let said: Vec<_> = said.map(|line| line.split(" (").next().unwrap()).collect();
    assert_eq!(
        said,
        [
            "✅ 1.2a: design plan | sketches — synthesis saved",
            "✅ 1.2a.5: design plan | dialectic — 2 voted",
            "✅ 1.2b: design plan | full plan — saved",
            "✅ 1.3: design plan | plan review — voting tally saved",
            "✅ 1.3: design plan | plan review — accepted findings saved",
            "✅ 1.3: design plan | plan review — revised plan saved",
            "✅ 1.3b: design plan | arch diagram — saved",
            "✅ 1.4: design plan | rejected findings — saved",
        ]
    );
    assert!(!outcome.stdout.contains("\n#") && !outcome.stdout.contains("```"), "{outcome}");
    assert!(!outcome.stdout.contains("design complete!"), "{outcome}");
    assert_eq!(
        parent.text("session-env.sh.health"),
        "CODEX_HEALTHY=true\nCURSOR_HEALTHY=true\nGEMINI_HEALTHY=false\n"
    );
    let manifest = parent.text("design-export/manifest.env");
    let plan = format!("PLAN_FILE={}\n", parent.at("design-export/plan.txt").display());
    assert!(manifest.starts_with("MANIFEST_VERSION=1\n") && manifest.contains(&plan), "{manifest}");
    assert!(parent.text("design-export/plan.txt").contains("### Task 1:"));
    assert!(parent.text("design-export/architecture-diagram.md").contains("```mermaid"));
    let accepted = parent.text("oos-accepted-design.md");
    assert!(accepted.starts_with("### OOS_1: "), "{accepted}");
    assert!(accepted.contains("- **Phase**: design\n"), "{accepted}");
    assert!(!parent.at("execution-issues.md").exists());
    assert_eq!(parent.kept(), Vec::<PathBuf>::new(), "what was handed over is not kept");
}

// P-25, P-68, P-75, P-77, P-80: what the caller knows is believed, but not about Gemini.
#[test]
fn an_agent_that_the_caller_gave_up_is_not_asked() {
    let env = "CURSOR_HEALTHY=true\nCURSOR_HEALTHY=false\nGEMINI_HEALTHY=true\n";
    let parent = Parent::new(env);
    let outcome = parent.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let warning = "**⚠ Cursor installed but not responding (health check failed). Using Claude replacement.**";
    assert_eq!(outcome.stdout.matches(warning).count(), 2, "at the beginning and the end");
    assert!(outcome.stderr.contains("warning: CURSOR_HEALTHY appears twice in "), "{outcome}");
    let health = "CODEX_HEALTHY=true\nCURSOR_HEALTHY=false\nGEMINI_HEALTHY=false\n";
    assert_eq!(parent.text("session-env.sh.health"), health);
    let shown = parent.panel.shown(&parent.panel.run().0);
    let agents = shown["lanes"].as_array().unwrap().iter().map(|lane| lane["agent"].to_string());
    assert!(agents.into_iter().all(|agent| !agent.contains("cursor.jsonl")));
}

// P-83: an agent that failed on the way is unhealthy for the calling workflow, too.
#[test]
fn an_agent_that_fails_is_given_up_at_the_end() {
    let parent = Parent::new("");
    let mut knows = answers();
    knows.retain(|label, _| !label.starts_with("review/"));
    parent.panel.recorded("cursor", &knows);
    let mut host = answers();
    for (label, answer) in answers() {
        host.insert(format!("{label}/host"), answer);
    }
    parent.panel.recorded("claude", &host);
    let outcome = parent.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let health = "CODEX_HEALTHY=true\nCURSOR_HEALTHY=false\nGEMINI_HEALTHY=false\n";
    assert_eq!(parent.text("session-env.sh.health"), health, "{outcome}");
}

// P-83, P-166, P-378: even without an export.
#[test]
fn an_agent_that_fails_is_given_up_although_nothing_came_of_it() {
    let parent = Parent::new("REPO=\u{fffd}x\nLARCH_TOKEN_SESSION_ID=a b\n");
    let mut knows = answers();
    knows.retain(|label, _| !label.starts_with("sketch/"));
    parent.panel.recorded("cursor", &knows);
    let mut host = answers();
    host.retain(|label, _| !label.starts_with("chair/plan"));
    parent.panel.recorded("claude", &host);
    let outcome = parent.design(&[]);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    assert!(outcome.stderr.contains("LARCH_TOKEN_SESSION_ID in "), "{outcome}");
    assert!(parent.text("session-env.sh.health").contains("CURSOR_HEALTHY=false\n"), "{outcome}");
}

// P-294: the log of the calling workflow gets the reason, and no text.
#[test]
fn a_refused_diagram_is_in_the_callers_log() {
    let parent = Parent::new("");
    let mut knows = answers();
    for (label, answer) in &mut knows {
        if label.starts_with("chair/diagram") {
            *answer = "```mermaid\nflowchart TD\n  A[secret|x] --> B\n```\n".to_owned();
        }
    }
    let mut again = knows.clone();
    for (label, answer) in knows {
        again.insert(format!("{label}/again"), answer);
    }
    parent.panel.recorded("claude", &again);
    fs::write(parent.at("execution-issues.md"), "### Q/A\n\n- asked\n").unwrap();
    let outcome = parent.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_eq!(
        parent.text("execution-issues.md"),
        "### Q/A\n\n- asked\n\n### Warnings\n\n\
         - **Step 3b — architecture diagram rejected:** pipe-in-node-label\n"
    );
    let manifest = parent.text("design-export/manifest.env");
    assert!(!manifest.contains("ARCHITECTURE_DIAGRAM_FILE"), "{manifest}");
}

// P-335, P-378, P-379: a failed export is kept, and repeated later.
#[test]
fn a_design_that_cannot_be_handed_over_is_kept() {
    let parent = Parent::new("");
    fs::write(parent.at("design-export"), "in the way").unwrap();
    let outcome = parent.design(&[]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    let kept = parent.kept();
    let folder = kept[0].canonicalize().unwrap();
    let line = "**⚠ 5: cleanup — design manifest export failed. Parent /implement will rerun /design. Preserving ";
    assert!(outcome.stdout.contains(line), "{outcome}");
    assert!(fs::read_to_string(folder.join("plan.txt")).unwrap().contains("### Task 1:"));
    let (run, state) = parent.panel.run();
    assert_eq!(state, "stopped");
    fs::remove_file(parent.at("design-export")).unwrap();
    let again = parent.panel.project.run(&["resume", &run]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(!again.stdout.contains("sketches"), "no agent sketches again: {again}");
    assert!(parent.text("design-export/manifest.env").contains("PLAN_FILE="));
    assert!(!folder.exists());
    let replayed = parent.panel.project.run(&["replay", &run]);
    assert_eq!(replayed.stdout, format!("{}{}", outcome.stdout, again.stdout));
}

// P-12, P-28: an empty path is no workflow, and a file that is not there says nothing.
#[test]
fn an_empty_or_missing_session_file_is_no_obstacle() {
    let parent = Parent::new("");
    let alone = parent.panel.design(&["--session-env", ""]);
    assert_eq!(alone.code, Some(0), "{alone}");
    assert!(alone.stdout.contains("✅ 5: cleanup — design complete! ("), "{alone}");
    assert!(alone.stdout.contains("## Implementation Plan"), "{alone}");
    parent.panel.git(&["switch", "--quiet", "main"]);
    fs::remove_file(parent.at("session-env.sh")).unwrap();
    let nested = parent.design(&[]);
    assert_eq!(nested.code, Some(0), "{nested}");
    assert!(parent.text("design-export/manifest.env").contains("PLAN_FILE="), "{FEATURE}");
}

// P-33, P-365, P-366, P-375: the calling workflow sees the times and the tokens of each step.
#[test]
fn steps_are_marked_in_the_callers_ledgers() {
    let parent = Parent::new("LARCH_TOKEN_SESSION_ID=t-1\n");
    let outcome = parent.design(&["--step-prefix", "1.::design plan"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let times = parent.text("timing-ledger.tsv");
    let column = |line: &str, at: usize| line.split('\t').nth(at).unwrap_or_default().to_owned();
    assert!(times.lines().all(|line| column(line, 3) == "design"));
    let marks = times.lines().filter(|line| column(line, 1) == "mark");
    let steps: Vec<_> = marks.map(|line| column(line, 4)).collect();
    for step in ["0 — session setup", "2b — plan", "3 — plan review", "5 — cleanup"] {
        let marked = steps.iter().filter(|found| **found == format!("design Step {step}")).count();
        assert_eq!(marked, 1, "{step} in {steps:?}");
    }
    // The host's lanes are no vendor's.
    let vendors = times.lines().filter(|line| column(line, 1) == "vendor");
    let lanes: Vec<_> = vendors.map(|line| [5, 6, 10, 11, 12].map(|at| column(line, at))).collect();
    let file = "cursor-sketch-arch-output.txt";
    let sketch = ["cursor", "cursor-sketch-arch", file, "0", "complete"].map(str::to_owned);
    assert!(lanes.contains(&sketch), "{lanes:?}");
    assert!(lanes.iter().all(|lane| lane[0] != "claude"), "{lanes:?}");
    let dump = parent.panel.project.command(
        std::path::Path::new(env!("CARGO_BIN_EXE_convoke")),
        &["plumbing", "tokens", "dump"],
    );
    let mut dump = dump;
    dump.env("LARCH_TOKEN_SESSION_ID", "t-1").env("SESSION_ENV_PATH", parent.at("session-env.sh"));
    let dump = String::from_utf8(dump.output().unwrap().stdout).unwrap();
    assert!(dump.contains("\"step\":\"Step 1 — design Step 3 plan review\""), "{dump}");
    assert!(dump.contains("\"step\":\"Step 1 — design Step 3b arch diagram\""), "{dump}");
}

// P-11, P-35, P-52: a session file alone waives no check; facts about the branch do.
#[test]
fn a_session_file_does_not_waive_the_branch_check() {
    let parent = Parent::new("CODEX_HEALTHY=true\n");
    parent.panel.git(&["switch", "--quiet", "-c", "somebody/else"]);
    let refused = parent.design(&[]);
    assert_eq!(refused.code, Some(3), "{refused}");
    let text = "PREFLIGHT_ERROR=Not on main branch (on 'somebody/else').";
    assert!(refused.stdout.contains(text), "{refused}");
    assert!(!parent.at("design-export").exists());
    let info =
        "IS_MAIN=false IS_USER_BRANCH=true USER_PREFIX=june CURRENT_BRANCH=june/notes-folder";
    let open = parent.design(&["--branch-info", info]);
    assert_eq!(open.code, Some(0), "{open}");
    assert!(parent.at("design-export/manifest.env").exists());
}

// P-284, P-326: no file of an earlier design counts as this one's, and no missing folder is
// created.
#[test]
fn what_an_earlier_design_accepted_does_not_stay() {
    let parent = Parent::new("");
    fs::write(parent.at("oos-accepted-design.md"), "### OOS_1: of another design\n").unwrap();
    let mut knows = answers();
    for (label, answer) in &mut knows {
        if label.starts_with("vote/") {
            *answer = answer.replace(": YES", ": NO");
        }
    }
    for agent in ["cursor", "codex", "claude"] {
        parent.panel.recorded(agent, &knows);
    }
    let outcome = parent.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(!parent.at("oos-accepted-design.md").exists());
    assert!(parent.at("design-export/manifest.env").exists());
    parent.panel.git(&["switch", "--quiet", "main"]);
    fs::remove_dir_all(parent.at("")).unwrap();
    let gone = parent.design(&[]);
    assert_eq!(gone.code, Some(2), "{gone}");
    assert!(gone.stderr.starts_with("error: cannot write the results: the folder"), "{gone}");
    assert!(!parent.at("").exists());
    assert_eq!(parent.panel.project.stdout(&["runs"]).lines().count(), 2, "nothing was begun");
}

// P-335: a folder that vanishes on the way is not created again, and the design's files are kept.
#[test]
fn a_folder_that_vanishes_is_missed() {
    let parent = Parent::new("");
    let mut knows = answers();
    knows.retain(|label, _| !label.starts_with("sketch/"));
    for agent in ["cursor", "codex", "claude"] {
        parent.panel.recorded(agent, &knows);
    }
    assert_eq!(parent.design(&[]).code, Some(4));
    for agent in ["cursor", "codex", "claude"] {
        parent.panel.recorded(agent, &answers());
    }
    fs::remove_dir_all(parent.at("")).unwrap();
    let (run, _) = parent.panel.run();
    let outcome = parent.panel.project.run(&["resume", &run]);
    assert_eq!((outcome.code, parent.at("").exists()), (Some(3), false), "{outcome}");
    fs::create_dir(parent.at("")).unwrap();
    let again = parent.panel.project.run(&["resume", &run]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(parent.at("design-export/manifest.env").exists());
}
