//! `convoke lane run`: agents that behave, and agents that do not.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::harness::{Outcome, Project};

/// A project with a script in place of Claude Code.
pub(crate) fn with_claude(script: &str) -> Project {
    let project = Project::new().file("../home/bin/claude", format!("#!/bin/sh\n{script}\n"));
    let path = project.path("../home/bin/claude");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let bin = path.parent().unwrap().display().to_string();
    project.variable("PATH", &format!("{bin}:/usr/bin:/bin"))
}

pub(crate) fn said(value: &Value) -> String {
    format!("printf '%s\\n' '{value}'\n")
}

pub(crate) fn init() -> String {
    said(&json!({ "type": "system", "subtype": "init", "session_id": "s-1", "uuid": "u-1",
        "model": "claude-opus-5-5", "tools": [] }))
}

fn words() -> String {
    let message = json!({ "id": "m-1", "role": "assistant",
        "content": [{ "type": "text", "text": "Let me see." }] });
    said(&json!({ "type": "assistant", "uuid": "u-3", "session_id": "s-1", "message": message }))
}

pub(crate) fn result(change: impl FnOnce(&mut Value)) -> String {
    let mut value = json!({ "type": "result", "subtype": "success", "is_error": false,
        "result": "The answer is 42.", "session_id": "s-1", "uuid": "u-2", "num_turns": 1,
        "total_cost_usd": 0.00368,
        "usage": { "input_tokens": 400, "cache_read_input_tokens": 2000, "output_tokens": 84 } });
    change(&mut value);
    said(&value)
}

fn run(project: &Project, more: &[&str]) -> Outcome {
    project.run(&[&["lane", "run", "--agent", "claude", "What is it?"], more].concat())
}

fn report(project: &Project, more: &[&str]) -> Value {
    let outcome = run(project, &[&["--json"], more].concat());
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn an_answer_is_printed_and_accounted_for() {
    let project = with_claude(&format!("cat > asked; {}{}", init(), result(|_| ())));
    let outcome = run(&project, &[]);
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (Some(0), "The answer is 42.\n"),
        "{outcome}"
    );
    assert!(outcome.stderr.contains("session s-1\n"), "{outcome}");
    assert_eq!(fs::read_to_string(project.path("asked")).unwrap().trim(), "What is it?");
    let report = report(&project, &["--model", "opus"]);
    assert_eq!(
        (&report["outcome"], &report["model"]),
        (&json!("answered"), &json!("claude-opus-5-5"))
    );
    assert_eq!(report["usage"]["output_tokens"], 84);
    assert_eq!(report["usage"]["cached_tokens"], 2000);
    assert_eq!(report["usage"]["micro_dollars"], 3680);
    // Its money counts the whole session, its tokens do not.
    let of = ["tokens_of", "money_of"].map(|name| report["usage"][name].as_str());
    assert_eq!(of, [Some("run"), Some("session")]);
}

// An exit code is not to be believed, in either direction.
#[test]
fn only_a_turn_that_ended_well_is_an_answer() {
    let limits = ["--stall", "3", "--grace", "0.3"];
    let failed = result(|line| line["is_error"] = json!(true));
    let empty = result(|line| line["result"] = json!(""));
    let limited = result(|line| {
        line["is_error"] = json!(true);
        line["api_error_status"] = json!(429);
        line["result"] = json!("API Error: 429 rate limit");
    });
    for (script, outcome, code) in [
        (init() + &result(|_| ()) + "exit 1", "answered", 0),
        (init() + &result(|_| ()) + "sleep 300", "answered", 0),
        (init() + &failed, "failed", 4),
        (init() + &empty, "no_output", 4),
        (init() + &limited, "rate_limited", 4),
        (init(), "no_output", 4),
        (init() + &words(), "exited_early", 4),
        (init() + "sleep 300", "stalled", 4),
        ("sleep 300".to_owned(), "no_output", 4),
        ("exit 0".to_owned(), "no_output", 4),
        ("kill -9 $$".to_owned(), "exited_early", 4),
        ("printf '{\"type\":\"res'".to_owned(), "no_output", 4),
    ] {
        let project = with_claude(&script);
        let found = run(&project, &[&limits[..], &["--json"]].concat());
        let report: Value = serde_json::from_str(&found.stdout).unwrap();
        assert_eq!(
            (report["outcome"].as_str(), found.code),
            (Some(outcome), Some(code)),
            "{script}: {found}"
        );
    }
    let other = with_claude(&(init() + &result(|_| ())));
    let told = report(&other, &["--model", "haiku"]);
    let words = "Convoke asked for haiku, but claude-opus-5-5 answered";
    assert_eq!((&told["outcome"], &told["trouble"]), (&json!("model_mismatch"), &json!(words)));
    let told = run(&other, &["--model", "haiku"]);
    assert!(told.stderr.contains(words), "{told}");
}

// A client sees its own vendor's key and what every program needs, and nothing else.
#[test]
fn a_client_sees_only_its_own_variables() {
    let project = with_claude(&format!("env > seen; {}{}", init(), result(|_| ())))
        .variable("ANTHROPIC_API_KEY", "mine")
        .variable("OPENAI_API_KEY", "another's")
        .variable("CONVOKE_AGENT", "june")
        .variable("SECRET", "nobody's");
    run(&project, &[]);
    let seen = fs::read_to_string(project.path("seen")).unwrap();
    assert!(seen.contains("ANTHROPIC_API_KEY=mine\n") && seen.contains("HOME="), "{seen}");
    for name in ["OPENAI_API_KEY", "CONVOKE_AGENT", "SECRET"] {
        assert!(!seen.contains(name), "{name}: {seen}");
    }
}

// P-157: with `--substance`, an answer without substance does not count.
#[test]
fn an_answer_may_have_to_have_substance() {
    let project = with_claude(&(init() + &result(|_| ())));
    let thin = run(&project, &["--substance"]);
    assert_eq!((thin.code, thin.stdout.as_str()), (Some(4), ""), "{thin}");
    assert!(thin.stderr.contains("but without substance: body too thin: 4/30 words"), "{thin}");
    let none = with_claude(&(init() + &result(|line| line["result"] = json!("NO_ISSUES_FOUND"))));
    assert_eq!(run(&none, &["--substance"]).code, Some(0));
}

#[test]
fn a_client_that_is_not_there_is_named() {
    let project = Project::new().variable("PATH", "/usr/bin:/bin");
    let outcome = project.run(&["lane", "run", "--agent", "cursor", "x"]);
    assert_eq!(
        outcome.to_string(),
        "exit: 3\n--- stdout\n--- stderr\nerror: cannot find `cursor-agent` on the PATH\n\
         hint: install cursor, or put it on the PATH\n"
    );
    let nonsense = project.run(&["lane", "run", "--agent", "claude", "x", "--limit", "-1"]);
    assert_eq!(nonsense.code, Some(2), "{nonsense}");
}

// The client's output can be kept; it is not left in the project.
#[test]
fn a_clients_output_can_be_kept() {
    let project = with_claude(&(init() + &result(|_| ()) + "echo aside >&2"));
    run(&project, &["--keep", "kept"]);
    assert!(fs::read_to_string(project.path("kept/stdout")).unwrap().contains("The answer is 42."));
    assert_eq!(fs::read_to_string(project.path("kept/stderr")).unwrap(), "aside\n");
    assert_eq!(fs::read_to_string(project.path("kept/stdin")).unwrap(), "What is it?");
    // Only the user can read it.
    #[cfg(unix)]
    for name in ["stdout", "stderr", "stdin"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(project.path("kept").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

// A script that reads one of them can read the other.
#[test]
fn an_end_is_called_the_same_everywhere() {
    for (script, end) in [(init() + &result(|_| ()), "exited 0"), ("exit 3".to_owned(), "exited 3")]
    {
        let project = with_claude(&script);
        let report: Value = serde_json::from_str(&run(&project, &["--json"]).stdout).unwrap();
        let lane = report["lane"].to_string();
        let shown = project.run(&["lane", "show", &lane, "--json"]);
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        assert_eq!([&report["end"], &shown["end"]], [end, end], "{shown:#}");
    }
}

// Output in an unknown format is not silence.
#[test]
fn unknown_lines_are_reported() {
    let project = with_claude("echo 'Welcome to version 9!'; echo '{\"kind\":\"new\"}'");
    let report: Value = serde_json::from_str(&run(&project, &["--json"]).stdout).unwrap();
    let told =
        "the client printed 2 lines that Convoke cannot read; the first: Welcome to version 9!";
    assert_eq!([&report["outcome"], &report["trouble"]], ["no_output", told]);
}

// Only one lane's files are kept: those of an earlier one are removed.
#[test]
fn what_an_earlier_lane_left_is_not_kept() {
    let project = with_claude("exit 0").file("kept/mine", "mine");
    for name in ["stdout", "stderr", "stdin"] {
        fs::write(project.path(&format!("kept/{name}")), "of another lane").unwrap();
    }
    fs::remove_file(project.path("../home/bin/claude")).unwrap();
    assert_eq!(run(&project, &["--keep", "kept"]).code, Some(3), "it could not even start");
    let left: Vec<_> = fs::read_dir(project.path("kept")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_to_string(project.path("kept/mine")).unwrap(), "mine");
    fs::create_dir(project.path("kept/stdout")).unwrap();
    let refused = run(&project, &["--keep", "kept"]);
    assert!(refused.stderr.starts_with("error: cannot use `kept`\ncause: "), "{refused}");
}

/// Returns the lines on a terminal after all output.
fn screen(printed: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in printed.split("\r\n") {
        let rest = line.strip_prefix("\u{1b}[1A\u{1b}[2K");
        if rest.is_some() {
            lines.pop();
        }
        lines.push(rest.unwrap_or(line).to_owned());
    }
    lines
}

// On a terminal one line moves, and wipes nothing but itself.
#[cfg(target_os = "linux")]
#[test]
fn a_person_sees_one_line_that_moves() {
    let project = with_claude(&(init() + &words() + &result(|_| ())));
    assert_eq!(run(&project, &[]).code, Some(0));
    let line = format!("{} lane run --agent claude 'What is it?'", env!("CARGO_BIN_EXE_convoke"));
    let printed = |terminal: &str| {
        let mut script = project.command(std::path::Path::new("script"), &[]);
        script.args(["-qec", &line, "/dev/null"]).env("TERM", terminal);
        String::from_utf8(script.output().unwrap().stdout).unwrap()
    };
    for (terminal, moving) in [("xterm", 1), ("dumb", 0)] {
        let printed = printed(terminal);
        let seen = screen(&printed);
        let stays = |words: &str| seen.iter().filter(|line| line.starts_with(words)).count();
        let lines = ["forecast: 2484 tokens", "session s-1", "answered after", "The answer is"];
        assert_eq!(lines.map(stays), [1; 4], "{printed:?}");
        let moved: Vec<_> = seen.iter().filter(|line| line.starts_with(char::is_numeric)).collect();
        assert_eq!(moved.len(), moving, "{printed:?}");
        assert!(moved.iter().all(|line| line.ends_with(" s, 2484 tokens")), "{printed:?}");
    }
}

// A line that is longer than the terminal is wide would leave its rest behind.
#[test]
fn the_line_that_moves_fits_on_the_terminal() {
    let tool = said(&json!({ "type": "assistant", "uuid": "u", "session_id": "s-1", "message": {
        "content": [{ "type": "tool_use", "id": "t", "name": "mcp__a_server__a_tool_with_a_name" }] } }));
    let project = with_claude(&(init() + &tool + &result(|_| ())));
    let line = format!("{} lane run --agent claude x", env!("CARGO_BIN_EXE_convoke"));
    let mut script = project.command(std::path::Path::new("script"), &[]);
    let line = format!("stty cols 24; exec {line}");
    script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm");
    let printed = String::from_utf8(script.output().unwrap().stdout).unwrap();
    let moving = printed.split("\r\n").map(|line| line.trim_start_matches("\u{1b}[1A\u{1b}[2K"));
    let moving: Vec<_> = moving.filter(|line| line.starts_with(char::is_numeric)).collect();
    assert!(moving.iter().any(|line| line.ends_with('…')), "{printed:?}");
    assert!(moving.iter().all(|line| line.chars().count() <= 24), "{printed:?}");
}

// Killing Convoke itself leaves no process behind.
#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left_when_convoke_is_killed() {
    let script =
        "setsid sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 300' & echo $$ >> pids; sleep 300";
    let project = with_claude(script);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let arguments = ["lane", "run", "--agent", "claude", "x", "--grace", "0.2"];
    let mut convoke = project.command(program, &arguments).spawn().unwrap();
    let ids = || fs::read_to_string(project.path("pids")).unwrap_or_default();
    until(|| ids().lines().count() == 2);
    let ids: Vec<_> = ids().split_whitespace().map(str::to_owned).collect();
    convoke.kill().unwrap();
    convoke.wait().unwrap();
    until(|| ids.iter().all(|id| !std::path::Path::new("/proc").join(id).exists()));
}

/// Waits until a condition holds, bounded by the harness's own limit.
#[track_caller]
pub(crate) fn until(holds: impl Fn() -> bool) {
    for _ in 0..50_000_000_u64 {
        if holds() {
            return;
        }
        std::thread::yield_now();
    }
    assert!(holds());
}

// A session that does not go on is not passed off as one that does.
#[test]
fn another_session_is_reported() {
    let project = with_claude(&(init() + &result(|_| ())));
    assert_eq!(report(&project, &["--resume", "s-1"])["outcome"], "answered");
    let told = report(&project, &["--resume", "s-0"]);
    assert_eq!(told["outcome"], "session_lost");
    assert_eq!(told["trouble"], "Convoke resumed session s-0, but session s-1 answered");
}

// W-22, W-23: a prompt wakes the agent in its own session; a busy agent is not interrupted.
#[test]
fn a_prompt_wakes_an_agent() {
    let script = format!("echo \"$*\" > arguments; cat > asked; {}{}", init(), result(|_| ()));
    let project = with_claude(&script).on_branch("main");
    project.run(&["agent", "add", "june", "--session", "s-1"]);
    project.run(&["agent", "archive", "june"]);
    let woken = project.run(&["prompt", "june", "What now?"]);
    assert_eq!((woken.code, woken.stdout.as_str()), (Some(0), "The answer is 42.\n"), "{woken}");
    let asked = fs::read_to_string(project.path("asked")).unwrap();
    assert!(asked.contains("You are @june") && asked.contains("@human: \"What now?\""), "{asked}");
    assert!(fs::read_to_string(project.path("arguments")).unwrap().contains("s-1"));
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.", "it was taken in");
    assert!(project.stdout(&["inbox"]).contains("@june: \"The answer is 42.\""), "it is kept");
    assert_eq!(project.stdout(&["agent", "show", "june"]), "@june  claude  [idle]  session s-1");
    project.run(&["agent", "status", "june", "busy"]);
    let busy = project.run(&["prompt", "june", "Hurry!"]);
    assert_eq!((busy.code, busy.stdout.as_str()), (Some(0), ""), "{busy}");
    assert!(busy.stderr.contains("note: @june is busy; message 3 waits"), "{busy}");
    assert!(project.stdout(&["inbox", "june"]).contains("Hurry!"));
}

// Only an answer shows that a prompt was taken in.
#[test]
fn a_prompt_that_was_not_answered_stays_unread() {
    let project = with_claude("exit 1").on_branch("main");
    project.run(&["agent", "add", "june", "--session", "s-1"]);
    let failed = project.run(&["prompt", "june", "What now?"]);
    assert_eq!(failed.code, Some(4), "{failed}");
    assert!(project.stdout(&["inbox", "june"]).contains("What now?"));
    assert_eq!(project.stdout(&["agent", "show", "june"]), "@june  claude  [idle]  session s-1");
    project.run(&["agent", "add", "kim", "--session", "k", "--client", "aider"]);
    let unknown = project.run(&["prompt", "kim", "x"]);
    assert!(unknown.stderr.contains("convoke does not run `aider`"), "{unknown}");
}

// P-127
#[test]
fn a_model_has_a_name() {
    let project = with_claude(&result(|_| ()));
    for name in ["", " ", "opus\n--write"] {
        let outcome = run(&project, &["--model", name]);
        assert_eq!(outcome.code, Some(2), "{outcome}");
        assert!(outcome.stderr.contains("it must be a name, on one line"), "{outcome}");
    }
}

// A variable that was not set is no session to go on with, and no run to count.
#[test]
fn a_blank_text_is_no_name() {
    let project = with_claude(&format!("echo x > asked\n{}", result(|_| ())));
    for flag in ["--resume", "--effort", "--run", "--role", "--phase", "--label"] {
        let outcome = run(&project, &[flag, ""]);
        assert_eq!(outcome.code, Some(2), "{flag}: {outcome}");
    }
    assert!(!project.path("asked").exists());
}

#[test]
fn bad_input_is_refused_before_a_client_starts() {
    let project = with_claude(&result(|_| ()));
    let blank = project.run(&["lane", "run", "--agent", "claude", "  "]);
    assert_eq!(blank.code, Some(2), "{blank}");
    let device = project.run(&["lane", "run", "--agent", "replay:/dev/zero", "x"]);
    assert_eq!(device.code, Some(3), "{device}");
    fs::write(project.path("file"), "").unwrap();
    let kept = run(&project, &["--keep", "file"]);
    assert_eq!(kept.code, Some(3), "{kept}");
    assert!(!kept.stderr.contains("answered"), "no client was started: {kept}");
}

// A limit that is too large, or zero, leads to an error with the valid range.
#[test]
fn a_limit_names_its_bounds() {
    let project = with_claude(&result(|_| ()));
    for limit in ["0", "-1", "8640001", "1e300", "inf", "NaN", "1e-300", "soon"] {
        let refused = run(&project, &[&format!("--limit={limit}")]);
        assert_eq!(refused.code, Some(2), "{refused}");
        let words = "it must be more than 0 and at most 8640000 seconds (100 days)";
        assert!(refused.stderr.contains(words), "{refused}");
    }
    assert_eq!(run(&project, &["--limit=8640000"]).code, Some(0));
}
