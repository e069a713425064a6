//! The usage of lanes, their list, and their budgets.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;

use serde_json::{Value, json};

use crate::harness::{Outcome, Project};
use crate::lane::until;

/// A project with scripts in place of clients.
pub(crate) fn with_agents(agents: &[(&str, &str)]) -> Project {
    let project = agents.iter().fold(Project::new(), |project, (name, script)| {
        let file = format!("../home/bin/{name}");
        let project = project.file(&file, format!("#!/bin/sh\n{script}\n"));
        let path = project.path(&file);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        project
    });
    let bin = project.path("../home/bin").display().to_string();
    project.variable("PATH", &format!("{bin}:/usr/bin:/bin"))
}

fn said(value: &Value) -> String {
    format!("echo '{value}'\n")
}

/// Codex says after each turn what its whole thread has used.
fn codex() -> String {
    let started = json!({ "type": "thread.started", "thread_id": "t-1" });
    let item = json!({ "type": "agent_message", "id": "i", "text": "Yes." });
    let usage = r#"{"type":"turn.completed","usage":{"input_tokens":%s,"cached_input_tokens":1000,"output_tokens":%s,"reasoning_output_tokens":7}}\n"#;
    format!(
        "echo x >> ../rounds; n=$(wc -l < ../rounds)\n{}{}printf '{usage}' $((n * 1200)) $((n * 42))",
        said(&started),
        said(&json!({ "type": "item.completed", "item": item })),
    )
}

pub(crate) fn claude(session: &str, cost: f64) -> String {
    let init = json!({ "type": "system", "subtype": "init", "session_id": session, "uuid": "u-1",
        "model": "claude-opus-5-5", "tools": [] });
    let result = json!({ "type": "result", "subtype": "success", "is_error": false, "uuid": "u-2",
        "result": "The answer is 42.", "session_id": session, "total_cost_usd": cost,
        "usage": { "input_tokens": 400, "cache_read_input_tokens": 2000, "output_tokens": 84 } });
    said(&init) + &said(&result)
}

/// Works until it is stopped.
const ENDLESS: &str = "echo $$ > pid; sleep 300";

pub(crate) fn run(project: &Project, agent: &str, more: &[&str]) -> Outcome {
    project.run(&[&["lane", "run", "--agent", agent, "What is it?"], more].concat())
}

pub(crate) fn document(project: &Project, arguments: &[&str]) -> Value {
    let outcome = project.run(&[&["--json"], arguments].concat());
    serde_json::from_str(&outcome.stdout).unwrap()
}

/// Starts a lane that does not end, and waits until its client works.
pub(crate) fn started(project: &Project) -> Child {
    let program = Path::new(env!("CARGO_BIN_EXE_convoke"));
    let arguments = ["lane", "run", "--agent", "claude", "x", "--grace", "0.2"];
    let convoke = project.command(program, &arguments).spawn().unwrap();
    until(|| fs::read_to_string(project.path("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    convoke
}

// A client counts a resumed session from its beginning, and Convoke counts each run once.
#[test]
fn rounds_of_one_session_are_counted_once() {
    let project = with_agents(&[("codex", &codex())]);
    let round = |resume: &[&str]| {
        let lane = ["lane", "run", "--agent", "codex", "x"];
        document(&project, &[&lane[..], resume].concat())["usage"].clone()
    };
    let first = round(&[]);
    assert_eq!([&first["input_tokens"], &first["of_run"]["input_tokens"]], [1200, 1200]);
    let second = round(&["--resume", "t-1"]);
    assert_eq!([&second["input_tokens"], &second["output_tokens"]], [2400, 84]);
    let of_run =
        ["input_tokens", "cached_tokens", "output_tokens"].map(|key| &second["of_run"][key]);
    assert_eq!(of_run, [1200, 0, 42]);
    let third = round(&["--resume", "t-1"]);
    assert_eq!(third["of_run"]["output_tokens"], 42);
    let total = &document(&project, &["usage"])["total"];
    assert_eq!([&total["lanes"], &total["input_tokens"], &total["output_tokens"]], [3, 3600, 126]);
    assert_eq!(total["micro_dollars"], Value::Null, "Codex does not say it");
}

#[test]
fn a_session_that_others_began_does_not_say_what_a_run_spent() {
    let project = with_agents(&[("codex", &codex())]);
    let lane = ["lane", "run", "--agent", "codex", "x", "--resume", "t-1"];
    assert_eq!(document(&project, &lane)["usage"]["of_run"], Value::Null);
    assert_eq!(document(&project, &lane)["usage"]["of_run"]["input_tokens"], 1200);
    let usage = project.run(&["usage"]);
    assert!(usage.stderr.contains("note: 1 lane reported no usage and is not counted"), "{usage}");
}

#[test]
fn usage_is_put_together_by_every_key() {
    let project = with_agents(&[("codex", &codex()), ("claude", &claude("s-1", 0.25))]);
    let labels = ["--role", "judge", "--phase", "sketch", "--run", "r1"];
    assert_eq!(run(&project, "claude", &labels).code, Some(0));
    assert_eq!(run(&project, "codex", &["--model", "gpt-9", "--run", "r2"]).code, Some(0));
    let names = |key: &str| -> Vec<Value> {
        let rows = document(&project, &["usage", "--by", key])["rows"].clone();
        rows.as_array().unwrap().iter().map(|row| row["name"].clone()).collect()
    };
    assert_eq!(names("agent"), ["claude", "codex"]);
    assert_eq!(names("role"), [json!("judge"), Value::Null]);
    assert_eq!(names("phase"), [json!("sketch"), Value::Null]);
    assert_eq!(names("run"), ["r1", "r2"]);
    assert_eq!(names("model"), ["claude-opus-5-5", "gpt-9"]);
    assert_eq!(names("day").len(), 1);
    let table = project.run(&["usage", "--by", "agent"]);
    assert_eq!(
        table.to_string(),
        "exit: 0\n--- stdout\n\
         agent   lanes  input  cached  output  reasoning    cost\n\
         claude      1   2400    2000      84          0   $0.25\n\
         codex       1   1200    1000      42          7       -\n\
         total       2   3600    3000     126          7  $0.25+\n\
         --- stderr\nnote: 1 lane reported no cost\n"
    );
    let forecast = project.stdout(&["usage", "--by", "role", "--forecast"]);
    assert!(forecast.contains("2484 … 2484  $0.25 … $0.25"), "{forecast}");
    assert_eq!(project.stdout(&["usage", "--since", "2999-01-01"]), "No lanes yet.");
    let soon = project.run(&["usage", "--since", "soon"]);
    assert_eq!(soon.code, Some(2));
    assert!(soon.stderr.contains("it must be a day such as 2026-01-31"), "{soon}");
}

#[test]
fn a_lane_is_shown_with_everything_known() {
    let project = with_agents(&[("claude", &claude("s-1", 0.25))]);
    assert_eq!(project.stdout(&["lane", "list"]), "No lanes yet.");
    let report = document(&project, &["lane", "run", "--agent", "claude", "x", "--keep", "kept"]);
    assert_eq!(report["lane"], 1);
    let shown = document(&project, &["lane", "show", "1"]);
    let known = ["state", "agent", "model", "rights", "session", "branch", "end"];
    let expected = ["answered", "claude", "claude-opus-5-5", "read", "s-1", "main", "exited 0"];
    assert_eq!(known.map(|name| shown[name].as_str().unwrap()), expected);
    assert_eq!(shown["spent"]["micro_dollars"], 250_000);
    let kept = shown["kept_in"].as_str().unwrap();
    assert!(fs::read_to_string(Path::new(kept).join("stdout")).unwrap().contains("42"));
    let text = project.stdout(&["lane", "show", "1"]);
    assert!(text.contains("spent        2400 tokens in (2000 cached), 84 out (0 reasoning)"));
    let list = project.stdout(&["lane", "list"]);
    assert!(list.contains("1  answered  claude"), "{list}");
    let none = project.run(&["lane", "show", "7"]);
    assert_eq!(
        (none.code, none.stderr.lines().next()),
        (Some(1), Some("error: there is no lane 7"))
    );
}

// A client that could not start left no output, and the ledger still has the reason.
#[test]
fn a_lane_that_could_not_be_started_says_why() {
    let project = with_agents(&[("claude", "")]);
    assert_eq!(run(&project, "codex", &[]).code, Some(3));
    let shown = document(&project, &["lane", "show", "1"]);
    let known = [&shown["state"], &shown["trouble"], &shown["spent"]["input_tokens"]];
    let expected = [json!("not_started"), json!("cannot find `codex` on the PATH"), json!(0)];
    assert_eq!(known, expected.each_ref(), "no client spent anything");
}

// An impossible count is not free: the usage is unknown.
#[test]
fn a_count_that_cannot_be_is_unknown() {
    let odd = claude("s-1", 0.25).replace(":84", ":-84").replace(":400", ":1e300");
    let project = with_agents(&[("claude", &odd)]);
    let outcome = run(&project, "claude", &[]);
    assert!(outcome.stderr.contains("answered after") && !outcome.stderr.contains("tokens"));
    assert_eq!(document(&project, &["lane", "show", "1"])["spent"], Value::Null);
    let shown = project.stdout(&["lane", "show", "1"]);
    assert!(shown.contains("spent        unknown\n"), "{shown}");
    let usage = document(&project, &["usage"]);
    assert_eq!(usage["total"]["without_usage"], 1, "{usage}");
    let last_line = || {
        let table = project.stdout(&["usage"]);
        let words = table.lines().last().unwrap().split_whitespace().map(str::to_owned);
        words.collect::<Vec<_>>()
    };
    assert_eq!(last_line(), ["total", "1", "-", "-", "-", "-", "-"]);
    fs::write(project.path("../home/bin/claude"), "#!/bin/sh\n".to_owned() + &claude("s-2", 0.25))
        .unwrap();
    run(&project, "claude", &[]);
    assert_eq!(last_line(), ["total", "2", "2400+", "2000+", "84+", "0+", "$0.25+"]);
}

// The ledger holds no prompt and no key.
#[test]
fn neither_prompts_nor_keys_are_written_down() {
    let project = with_agents(&[("claude", &claude("s-1", 0.25))])
        .variable("ANTHROPIC_API_KEY", "sk-very-secret");
    assert_eq!(run(&project, "claude", &[]).code, Some(0));
    let state = project.path("../home/.local/state/convoke");
    let search = format!("grep -rE 'What is it\\?|sk-very-secret' {}", state.display());
    let found = project.shell(&search, "");
    assert_eq!(found.code, Some(1), "{found}");
}

#[test]
fn a_lane_whose_convoke_was_killed_is_lost() {
    let project = with_agents(&[("claude", ENDLESS)]);
    let mut convoke = started(&project);
    assert_eq!(document(&project, &["lane", "list"])[0]["state"], "running");
    convoke.kill().unwrap();
    convoke.wait().unwrap();
    assert_eq!(document(&project, &["lane", "list"])[0]["state"], "lost");
    assert_eq!(
        document(&project, &["lane", "stop", "1"])["state"],
        "lost",
        "no process gets a signal"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_lane_is_stopped_by_its_number() {
    let project = with_agents(&[("claude", ENDLESS)]);
    let mut convoke = started(&project);
    let client = fs::read_to_string(project.path("pid")).unwrap();
    let stopped = document(&project, &["lane", "stop", "1"]);
    assert_eq!(stopped["state"], "cancelled");
    assert!(!convoke.wait().unwrap().success());
    until(|| !Path::new("/proc").join(client.trim()).exists());
    let again = project.run(&["lane", "stop", "1"]);
    assert!(again.stderr.contains("note: lane 1 is over: cancelled"), "{again}");
}

// The system reuses process ids; a later process with the same id is left alone.
#[test]
fn a_stranger_with_the_same_number_is_not_stopped() {
    let project = with_agents(&[("claude", ENDLESS)]);
    let mut convoke = started(&project);
    let path = project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(path).unwrap();
    store.busy_timeout(std::time::Duration::from_mins(1)).unwrap();
    // The second word is the namespace of numbers.
    let sql = "UPDATE lanes SET owner_mark = replace(owner_mark, '] ', '] 9')";
    store.execute(sql, []).unwrap();
    assert_eq!(document(&project, &["lane", "stop", "1"])["state"], "lost");
    assert_eq!(convoke.try_wait().unwrap(), None, "it was not ours to stop");
    convoke.kill().unwrap();
    convoke.wait().unwrap();
}

// A spent budget starts no lane, and the output says so.
#[test]
fn a_budget_that_is_used_up_starts_no_lane() {
    let script = format!("echo x >> ../started\n{}", claude("s-1", 0.25));
    let project = with_agents(&[("claude", &script)]);
    let budget = |cap: &str| run(&project, "claude", &["--run", "r1", "--budget", cap]);
    assert_eq!(budget("2k").code, Some(0), "nothing was spent yet");
    let refused = budget("2k");
    assert_eq!(
        refused.to_string(),
        "exit: 5\n--- stdout\n--- stderr\n\
         over budget after 0.0 s: the budget is spent: used 2484 of 2000 tokens\n"
    );
    assert_eq!(budget("$0.20").code, Some(5));
    assert_eq!(budget("$0.30").code, Some(0));
    assert_eq!(run(&project, "claude", &["--budget", "2k"]).code, Some(0), "a lane of its own");
    let project = project.variable("CONVOKE_LANE_BUDGET_PER_DAY", "7k");
    let day = run(&project, "claude", &[]);
    assert_eq!(day.code, Some(5), "{day}");
    assert!(day.stderr.contains("the day's budget is spent: used 7452 of 7000 tokens"), "{day}");
    let started = fs::read_to_string(project.path("../started")).unwrap();
    assert_eq!(started.lines().count(), 3);
    // A lane that may not start is recorded, with no usage.
    let list = document(&project, &["lane", "list"]);
    let of = |lane: &&Value| lane["state"] == "over_budget" && lane["end"] == "not_started";
    assert_eq!(list.as_array().unwrap().iter().filter(of).count(), 3, "{list}");
    let total = &document(&project, &["usage"])["total"];
    assert_eq!([&total["lanes"], &total["without_usage"], &total["output_tokens"]], [6, 0, 252]);
    assert_eq!(run(&project, "claude", &["--budget", "much"]).code, Some(2));
}

// Before a lane begins, Convoke shows the usage of earlier lanes like it, and whether the budget is
// large enough.
#[test]
fn a_forecast_is_shown_before_a_lane_begins() {
    let project = with_agents(&[("claude", &claude("s-1", 0.25)), ("codex", &codex())]);
    let first = run(&project, "claude", &["--role", "judge"]);
    assert!(!first.stderr.contains("forecast"), "there is no history: {first}");
    let forecast = "forecast: 2484 tokens, $0.";
    let second = run(&project, "claude", &["--role", "judge", "--budget", "1k"]);
    assert!(second.stderr.starts_with(forecast), "{second}");
    let short = "warning: the remaining budget is probably too small: 1000 tokens remaining, and half of \
                 earlier lanes needed 2484 tokens\nsession s-1\n";
    assert!(second.stderr.contains(short), "{second}");
    assert_eq!(second.code, Some(0), "it is only said");
    let enough = run(&project, "claude", &["--role", "judge", "--budget", "3k"]);
    assert!(enough.stderr.starts_with(forecast) && !enough.stderr.contains("warning"), "{enough}");
    for (agent, role) in [("claude", "voter"), ("codex", "judge")] {
        let other = run(&project, agent, &["--role", role]);
        assert!(!other.stderr.contains("forecast"), "{other}");
    }
}

// A client that reports its usage as it goes is stopped when it exceeds its budget.
#[test]
fn a_lane_that_went_over_a_budget_says_so() {
    let project = with_agents(&[("claude", &claude("s-1", 0.25))]);
    let over = |more: &[&str]| {
        let outcome = run(&project, "claude", more);
        let lines = outcome.stderr.lines().filter(|line| line.starts_with("warning: over"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(over(&["--budget", "2k"]), ["warning: over its budget: 2484 of 2000 tokens"]);
    assert_eq!(over(&["--budget", "2484"]), [""; 0], "all of it may be spent");
    let run = ["--run", "r1", "--budget", "4k"];
    assert_eq!(over(&run), [""; 0]);
    let second = [&["--json", "lane", "run", "--agent", "claude", "x"], &run[..]].concat();
    let report: Value = serde_json::from_str(&project.run(&second).stdout).unwrap();
    let expected = json!({ "whose": "own", "unit": "tokens", "spent": 4968, "partial": false,
        "budget": 4000 });
    assert_eq!(report["over_budget"], expected, "{report}");
    let project = project.variable("CONVOKE_LANE_BUDGET_PER_DAY", "12k");
    let outcome = self::run(&project, "claude", &[]);
    let words = "warning: over the day's budget: 12420 of 12000 tokens\n";
    assert!(outcome.stderr.contains(words), "{outcome}");
}

#[test]
fn a_lane_that_goes_on_over_its_budget_is_stopped() {
    let step = json!({ "type": "step_finish", "sessionID": "s", "part": { "type": "step-finish",
        "reason": "tool-calls", "cost": 0.5, "tokens": { "input": 900, "output": 100,
        "reasoning": 0, "cache": { "read": 0, "write": 0 } } } });
    let tool = json!({ "type": "tool_use", "sessionID": "s", "part": { "tool": "read" } });
    let script = said(&step) + &said(&tool) + "sleep 300";
    let project = with_agents(&[("opencode", &script)]);
    let stopped = run(&project, "opencode", &["--budget", "$0.40", "--grace", "0.2"]);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (Some(5), ""), "{stopped}");
    let why = "the budget is spent: used $0.50 of $0.40";
    assert!(stopped.stderr.contains(why), "{stopped}");
    let entry = document(&project, &["lane", "show", "1"]);
    assert_eq!([&entry["state"], &entry["end"]], ["over_budget", "budget_limit"]);
    assert_eq!(entry["spent"]["micro_dollars"], 500_000);
}

// A project may ask its users to spend less, never let them spend more.
#[test]
fn a_committed_file_lowers_the_budget_of_a_day_and_never_raises_it() {
    let day = |cap: &str| format!("[lane]\nbudget_per_day = \"{cap}\"\n");
    let user = "../home/.config/convoke/config.toml";
    let twice = |project: &Project| [0, 1].map(|_| run(project, "claude", &[]).code);
    let agent = || with_agents(&[("claude", &claude("s-1", 0.25))]);
    let lowered = agent().file(user, day("$9")).file("convoke.toml", day("$0.10"));
    assert_eq!(twice(&lowered), [Some(0), Some(5)]);
    for (own, committed) in [("$0.10", "$999999"), ("$0.10", "999999M"), ("10", "999999M")] {
        let raised = agent().file(user, day(own)).file("convoke.toml", day(committed));
        assert_eq!(twice(&raised), [Some(0), Some(5)], "{committed} over {own}");
    }
    let alone = agent().file("convoke.toml", day("$0.10"));
    assert_eq!(twice(&alone), [Some(0), Some(5)], "the default is no limit, so this one is lower");
    let overruled = alone.variable("CONVOKE_LANE_BUDGET_PER_DAY", "$9");
    assert_eq!(twice(&overruled), [Some(0); 2], "the user says so for this call");
}

#[test]
fn a_lane_that_cannot_be_recorded_still_runs() {
    let project = with_agents(&[("claude", &claude("s-1", 0.25))])
        .variable("CONVOKE_STORE", "/proc/nowhere/store.db");
    let outcome = run(&project, "claude", &[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "The answer is 42.\n"));
    let warning = "warning: Convoke cannot record the lane: cannot create `/proc/nowhere`: ";
    assert!(outcome.stderr.contains(warning), "its cause is said: {outcome}");
    let usage = &document(&project, &["lane", "run", "--agent", "claude", "x"])["usage"];
    assert_eq!(usage["of_run"]["micro_dollars"], 250_000);
}

#[test]
fn lanes_of_many_processes_are_all_written_down() {
    let project = with_agents(&[("claude", &claude("s-1", 0.25))]);
    let program = Path::new(env!("CARGO_BIN_EXE_convoke"));
    let arguments = ["lane", "run", "--agent", "claude", "x"];
    let start = |_| project.command(program, &arguments).spawn().unwrap();
    let lanes: Vec<_> = (0..8).map(start).collect();
    for lane in lanes {
        let output = lane.wait_with_output().unwrap();
        assert!(output.status.success());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("warning"), "{stderr}");
    }
    let total = &document(&project, &["usage"])["total"];
    assert_eq!([&total["lanes"], &total["without_usage"], &total["output_tokens"]], [8, 0, 672]);
    // All counted the money of one session, which stayed what it was.
    assert_eq!(total["micro_dollars"], 250_000);
    let list = document(&project, &["lane", "list"]);
    assert!(list.as_array().unwrap().iter().all(|lane| lane["state"] == "answered"), "{list}");
}
