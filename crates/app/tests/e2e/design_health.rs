//! Agents are probed again before they judge.

use std::fs;

use serde_json::json;

use crate::harness::Outcome;
use crate::lane::{init, result, with_claude};
use crate::panel::{FEATURE, Panel, answers_of_chair};

/// Designs with a Claude Code that sketches well, records its probes in `$HOME/probes`, and answers
/// them as `probe` does, a piece of shell.
fn designed(probe: &str, flags: &[&str]) -> (Panel, Outcome) {
    let said =
        |answer: &str| format!("{}{}", init(), result(|line| line["result"] = json!(answer)));
    let (ok, sketch) = (said("OK"), said(&format!("It is simple. {}", "word ".repeat(60))));
    let script = format!(
        "prompt=$(cat; echo \"$@\")\ncase \"$prompt\" in\n*'Respond with OK'*)\n\
         echo x >> \"$HOME/probes\"\n{probe}\n{ok}\n;;\n*)\n{sketch}\n;;\nesac\n"
    );
    let panel =
        Panel::in_project(with_claude(&script).variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0"));
    // The host is called Cursor here, and so are its lanes.
    panel.recorded("cursor", &answers_of_chair("cursor"));
    let tape = |name: &str| panel.project.path(&format!("../{name}.jsonl")).display().to_string();
    let seats = format!("claude,replay:{},replay:{}", tape("codex"), tape("cursor"));
    let words = [&["design", "--auto", "--quick", "--seats", &seats], flags, &["Keep notes"]];
    let outcome = panel.project.run(&words.concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    (panel, outcome)
}

fn probes(panel: &Panel) -> usize {
    fs::read_to_string(panel.project.path("../home/probes")).unwrap_or_default().lines().count()
}

fn judge(panel: &Panel) -> String {
    let shown = panel.shown(&panel.run().0);
    let lanes = shown["lanes"].as_array().unwrap();
    let judge = lanes.iter().find(|lane| lane["lane"] == "judge/Claude");
    judge.map(|lane| lane["agent"].as_str().unwrap().to_owned()).unwrap_or_default()
}

// P-218: a recent cached result does not seat a judge.
#[test]
fn a_judge_is_probed_although_its_health_is_remembered() {
    let (panel, outcome) = designed("", &[]);
    assert_eq!(probes(&panel), 2, "{outcome}");
    assert_eq!(judge(&panel), "claude");
    assert!(!outcome.stdout.contains("cannot judge"), "{outcome}");
}

// P-218, P-220: the panel keeps its three judges, and the run names the missing one.
#[test]
fn an_agent_that_went_silent_does_not_judge() {
    let silent = "[ $(wc -l < \"$HOME/probes\") -gt 1 ] && exit 1";
    let (panel, outcome) = designed(silent, &[]);
    let warning = "**⚠ Claude cannot judge (health check failed: ";
    assert_eq!(outcome.stdout.matches(warning).count(), 2, "{outcome}");
    assert!(outcome.stdout.contains("Cursor judges in its place.**"), "{outcome}");
    assert!(judge(&panel).ends_with("cursor.jsonl"), "{outcome}");
    assert!(outcome.stderr.contains(", DEGRADED ("), "{outcome}");
}

// P-76, P-77: the run says what the agent did, and which one takes its place; the original's box
// comes with the original's rules.
#[test]
fn a_design_says_why_an_agent_did_not_pass_the_probe() {
    let (_, outcome) = designed("exit 7", &[]);
    let warning = "**⚠ Claude did not pass the probe: it ended before it answered: the \
                   client exited with code 7. Codex and Cursor take its seats.**";
    assert!(outcome.stdout.contains(warning), "{outcome}");
    assert!(!outcome.to_string().contains("HEALTH CHECK FAILED"), "{outcome}");
    let (_, outcome) = designed("exit 7", &["--policy", "seed"]);
    assert!(outcome.stderr.contains("⚠  CLAUDE HEALTH CHECK FAILED — not responding\n"));
    assert!(!outcome.stdout.contains(warning), "{outcome}");
}

#[test]
fn without_probes_nothing_that_is_remembered_counts_for_judges() {
    let (panel, outcome) = designed("exit 1", &["--no-probe"]);
    assert_eq!((probes(&panel), judge(&panel).as_str()), (0, "claude"), "{outcome}");
    // A sick agent is remembered from here on.
    panel.project.run(&["agents", "--probe"]);
    let asked = probes(&panel);
    let tape = |name: &str| panel.project.path(&format!("../{name}.jsonl")).display().to_string();
    let seats = format!("replay:{},claude,replay:{}", tape("codex"), tape("cursor"));
    let words = ["design", "--auto", "--quick", "--no-probe", "--no-branch", "--seats", &seats];
    let outcome = panel.project.run(&[&words[..], &["Keep notes"]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_eq!((probes(&panel), judge(&panel).as_str()), (asked, "claude"), "{outcome}");
}

/// The only agent of a project: a Claude Code without a login until there is `$HOME/login`.
fn without_login() -> Panel {
    let refused = result(|answer| {
        answer["is_error"] = json!(true);
        answer["result"] = json!("Not logged in \u{b7} Please run /login");
    });
    let said = result(|answer| answer["result"] = json!("OK"));
    let script = format!(
        "cat > /dev/null; echo x >> \"$HOME/probes\"\n{}\n\
         if [ -e \"$HOME/login\" ]; then {said} else {refused} exit 1; fi",
        init()
    );
    Panel::in_project(with_claude(&script).variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0"))
}

const LOG_IN: &str = "hint: start claude by hand and log in";

// P-76: the host writes the plan, and takes all seats where it is the only agent.
#[test]
fn a_host_without_a_login_gets_one_probe_and_begins_no_run() {
    let panel = without_login();
    for asked in 1..=2 {
        let outcome = panel.project.run(&["design", "--auto", FEATURE]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{outcome}");
        let why = "cannot start the design: claude, its host, did not pass the probe: it is not \
                   logged in, or its key is refused: Not logged in";
        assert!(outcome.stderr.contains(why) && outcome.stderr.contains(LOG_IN), "{outcome}");
        assert_eq!(probes(&panel), asked, "a person may have logged in since: {outcome}");
    }
    assert_eq!(panel.project.stdout(&["runs", "--json"]).trim(), "[]");
    // A remembered failure does not keep a person from going on.
    fs::write(panel.project.path("../home/login"), "").unwrap();
    let outcome = panel.project.run(&["design", "--auto", FEATURE]);
    assert!(!outcome.stderr.contains("did not pass the probe"), "{outcome}");
    assert!(probes(&panel) > 3 && panel.run().1 != "refused", "{outcome}");
}

#[test]
fn lanes_without_a_login_say_once_how_to_log_in() {
    let panel = without_login();
    let outcome = panel.project.run(&["design", "--auto", "--no-probe", FEATURE]);
    assert_eq!((outcome.code, probes(&panel)), (Some(4), 4), "{outcome}");
    assert_eq!(outcome.stderr.matches(LOG_IN).count(), 1, "{outcome}");
}
