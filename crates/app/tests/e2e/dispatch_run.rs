//! `convoke dispatch run`: rounds with an agent that is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::dispatch::{APPROVED, FEATURE};
use crate::dispatch_rounds::{repository, revise};
use crate::harness::{Outcome, Project};

/// A client that prints its version, passes the gate while there is a memory, and otherwise prints
/// the file `stream`.
const CLAUDE: &str = r#"#!/bin/sh
[ "$1" = --version ] && { cat "${0%/*}/../../version"; exit; }
echo "$*" >> ../arguments
cat > ../now
say() {
    echo '{"type":"system","subtype":"init","session_id":"s-gate","uuid":"1","model":"m"}'
    printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"uuid":"2","session_id":"s-gate","result":"'"$1"'"}'
}
case "$(cat ../now)" in
    "Read the file "*)
        path=$(sed -n 's/^Read the file \(.*\) with your.*/\1/p' ../now)
        head -n 1 "$path" > ../memory
        say 'ISSUE: one\nISSUE: two' ;;
    "Do not open "*) say "FIRST LINE: $(cat ../memory)\nISSUES: 2" ;;
    *) cat ../now >> ../asked; cat ../stream ;;
esac
"#;

/// A repository with a script in place of Claude Code.
pub(crate) fn with_claude(project: Project) -> Project {
    let project = project.file("../home/bin/claude", CLAUDE).file("../version", "1.0 (Claude)\n");
    let path = project.path("../home/bin/claude");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let bin = path.parent().unwrap().display().to_string();
    project.variable("PATH", &format!("{bin}:/usr/bin:/bin"))
}

/// The output of a Claude Code that reads one document and answers.
pub(crate) fn stream(project: &Project, read: &str, answer: &str) -> String {
    let path = project.path(&format!("{FEATURE}/{read}")).display().to_string();
    let text = fs::read_to_string(&path).unwrap();
    let count = text.split('\n').count();
    let numbered: Vec<_> =
        text.split('\n').enumerate().map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
    let call =
        json!({ "type": "tool_use", "id": "c", "name": "Read", "input": { "file_path": path } });
    let result =
        json!({ "type": "tool_result", "tool_use_id": "c", "content": numbered.join("\n") });
    let file = json!({ "filePath": path, "content": text, "numLines": count, "startLine": 1, "totalLines": count });
    let lines = [
        json!({ "type": "system", "subtype": "init", "session_id": "s-1", "uuid": "1", "cwd": project.root(), "model": "m" }),
        json!({ "type": "assistant", "session_id": "s-1", "uuid": "2", "message": { "id": "m", "content": [call] } }),
        json!({ "type": "user", "session_id": "s-1", "uuid": "3", "message": { "content": [result] },
            "tool_use_result": { "type": "text", "file": file } }),
        json!({ "type": "assistant", "session_id": "s-1", "uuid": "4",
            "message": { "id": "n", "content": [{ "type": "text", "text": answer }], "stop_reason": "end_turn" } }),
        json!({ "type": "result", "subtype": "success", "is_error": false, "uuid": "5",
            "result": answer, "session_id": "s-1", "usage": { "input_tokens": 9, "output_tokens": 5 } }),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

pub(crate) fn pass_gate(project: &Project) {
    let passed = project.run(&["dispatch", "gate", "--agent", "claude"]);
    assert_eq!(passed.stdout, "passed: sessions can be resumed here\n", "{passed}");
}

pub(crate) fn run(project: &Project, more: &[&str]) -> Outcome {
    let role = "implement/security-reviewer";
    let arguments = ["dispatch", "run", role, "--feature", "031", "--client", "claude"];
    project.run(&[&arguments[..], more].concat())
}

// The second job joined to a lane: prompt, run, receipts, verdict, ledger, and a delta next time.
#[test]
fn a_round_goes_from_decision_to_verdict() {
    let project = with_claude(repository());
    pass_gate(&project);
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    let first = run(&project, &[]);
    assert_eq!(first.code, Some(0), "{first}");
    assert!(
        first.stderr.starts_with("fresh: this is the first round\nsession s-1\nuses Read\n"),
        "{first}"
    );
    assert_eq!(
        first.stdout,
        "confirmation  confirmed\nread          design.md: all of it\nread          spec.md: not read\n\
         unproven      confirmed, but not read: spec.md\nverdict       PASS\n"
    );
    let asked = fs::read_to_string(project.path("../asked")).unwrap();
    assert!(asked.contains("## Required Artifacts"), "{asked}");
    revise(&project, "R: 100 ms.");
    fs::remove_file(project.path("../asked")).unwrap();
    let second = run(&project, &["--iteration", "2"]);
    assert!(second.stderr.starts_with("resume s-1\n"), "{second}");
    let asked = fs::read_to_string(project.path("../asked")).unwrap();
    assert!(
        asked.starts_with("Review iteration 2 of 5.") && asked.contains("+R: 100 ms."),
        "{asked}"
    );
    assert!(fs::read_to_string(project.path("../arguments")).unwrap().contains("s-1"));
    let rate: Value =
        serde_json::from_str(&project.stdout(&["dispatch", "rate", "--json"])).unwrap();
    let counts = ["dispatches", "unproven", "resumed"].map(|name| rate["all"][name].as_u64());
    assert_eq!(counts, [Some(1), Some(1), Some(1)]);
}

// A round records with its task what it found; only a clear verdict is one.
#[test]
fn a_round_records_its_verdict_with_its_task() {
    let project = with_claude(repository());
    let task = project.stdout(&["task", "add", "Task 1: Build it"]);
    project.stdout(&["task", "start", &task]);
    let kinds = |project: &Project| {
        let shown = project.stdout(&["task", "show", &task, "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let deeds = shown["deeds"].as_array().unwrap().clone();
        let kind = |deed: &Value| format!("{} {}", deed["verdict"], deed["because"]);
        deeds.iter().map(kind).collect::<Vec<_>>().join(", ").replace('"', "")
    };
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    assert_eq!(run(&project, &["--task", &task]).code, Some(0));
    // The pass says that its reads are unproven, wherever it is shown.
    let why = "unproven: no record shows that it read spec.md";
    assert_eq!(kinds(&project), format!("dispatched null, pass {why}"));
    let shown = project.stdout(&["task", "show", &task]);
    assert!(shown.contains(why), "{shown}");
    let woken = project.stdout(&["wake", "june"]);
    let found = format!("Recorded: implement/security-reviewer passed it: \"{why}\".");
    assert!(
        woken.contains(&found) && woken.contains("1. Mark Task 1: Build it complete"),
        "{woken}"
    );
    let unproven = run(&project, &["--task", &task, "--require-proof"]);
    assert_eq!(unproven.code, Some(1), "{unproven}");
    assert!(
        kinds(&project).ends_with("dispatched null, no_verdict UNPROVEN"),
        "{}",
        kinds(&project)
    );
    say_in_turn(&project, UNCLEAR, UNCLEAR);
    assert_eq!(run(&project, &["--task", &task]).code, Some(4));
    assert!(kinds(&project).ends_with("no_verdict AMBIGUOUS"), "{}", kinds(&project));
    let woken = project.stdout(&["wake", "june"]);
    assert!(!woken.contains("Mark Task 1"), "{woken}");
    fs::remove_file(project.path("../asked")).unwrap();
    let unknown = run(&project, &["--task", "t-00000"]);
    assert_eq!(unknown.code, Some(1), "{unknown}");
    assert!(!project.path("../asked").exists(), "nothing is paid for before");
    let without = project.stdout(&["wake", "june"]);
    assert!(without.contains("dispatched implement/security-reviewer subagent"), "{without}");
}

pub(crate) const UNCLEAR: &str = "Files read: design.md, spec.md\nI do not approve.\n\
    {\"approved\": true, \"issues\": []}";

/// Lets the client answer `first`, and `then` to the request for the verdict alone.
pub(crate) fn say_in_turn(project: &Project, first: &str, then: &str) {
    let script = CLAUDE.replace(
        "*) cat ../now",
        "\"Your last answer has no clear verdict\"*) cat ../now > ../again; cat ../then ;;\n    *) cat ../now",
    );
    fs::write(project.path("../home/bin/claude"), script).unwrap();
    fs::write(project.path("../stream"), stream(project, "design.md", first)).unwrap();
    fs::write(project.path("../then"), stream(project, "design.md", then)).unwrap();
}

// After an ambiguous answer Convoke asks the same session once more, for the verdict alone.
#[test]
fn an_ambiguous_answer_leads_to_a_second_request() {
    let project = with_claude(repository());
    say_in_turn(&project, UNCLEAR, "{\"approved\": true, \"issues\": []}");
    let clear = run(&project, &[]);
    assert_eq!(clear.code, Some(0), "{clear}");
    let told = "the answer is ambiguous: other words of the answer contradict the JSON object; \
        asking once more for the verdict alone\n";
    assert!(clear.stderr.contains(told), "{clear}");
    assert!(clear.stdout.starts_with("confirmation  confirmed\n"), "of the first answer: {clear}");
    let note = "note          Convoke asked once more for the verdict: other words";
    assert!(clear.stdout.contains(note), "{clear}");
    // The verdict alone takes back no word of the first answer.
    let beside = "verdict       PASS\n              the reviewer also wrote: I do not approve.";
    assert!(clear.stdout.contains(beside), "{clear}");
    let asked = fs::read_to_string(project.path("../again")).unwrap();
    assert!(asked.contains("i do not approve.\n") && asked.contains("## How to answer"), "{asked}");
    let arguments = fs::read_to_string(project.path("../arguments")).unwrap();
    assert!(arguments.lines().next_back().unwrap().contains("s-1"), "{arguments}");
    let rate: Value =
        serde_json::from_str(&project.stdout(&["dispatch", "rate", "--json"])).unwrap();
    assert_eq!(rate["all"]["dispatches"], 1, "one round is one dispatch");
}

// A second ambiguity is no answer; what the agent wrote is shown.
#[test]
fn a_second_ambiguity_is_no_answer() {
    let project = with_claude(repository());
    say_in_turn(&project, UNCLEAR, "Sorry, I really cannot approve this.");
    let unclear = run(&project, &[]);
    assert_eq!(unclear.code, Some(4), "{unclear}");
    let verdict = "verdict       AMBIGUOUS: it has no JSON object with the key `approved`\n";
    assert!(unclear.stdout.contains(verdict), "{unclear}");
    assert!(unclear.stdout.contains("\n  | Sorry, I really cannot approve this.\n"), "{unclear}");
    let report: Value = serde_json::from_str(&run(&project, &["--json"]).stdout).unwrap();
    assert_eq!(report["first_ambiguity"]["answer"], UNCLEAR);
    assert_eq!(report["earlier_lanes"].as_array().unwrap().len(), 1);
}

// An unproven approval does not pass where proof is required.
#[test]
fn a_round_can_require_proof() {
    let project = with_claude(repository());
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    let unproven = run(&project, &["--require-proof"]);
    assert_eq!(unproven.code, Some(1), "{unproven}");
    assert!(unproven.stdout.contains("proof         confirmed, but not read: spec.md\n"));
}

// D-64, D-67: a resumed session that answers something else has lost its context. It need not
// repeat the reading of its first round.
#[test]
fn a_resumed_round_without_a_verdict_begins_afresh() {
    let project = with_claude(repository());
    pass_gate(&project);
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    run(&project, &[]);
    revise(&project, "R: 100 ms.");
    let quiet = stream(&project, "design.md", APPROVED);
    let quiet: Vec<_> = quiet.lines().filter(|line| !line.contains("tool_use")).collect();
    fs::write(project.path("../stream"), quiet.join("\n") + "\n").unwrap();
    let resumed = run(&project, &["--iteration", "2"]);
    assert!(
        resumed.stdout.contains("read          design.md: all of it, in round 1\n"),
        "{resumed}"
    );
    let lost = stream(&project, "design.md", "Hello! What shall I review?");
    fs::write(project.path("../stream"), lost).unwrap();
    revise(&project, "R: 200 ms.");
    let third = run(&project, &["--iteration", "3"]);
    assert!(third.stderr.contains("resume s-1\n"), "{third}");
    assert!(third.stderr.contains("\nfresh: the session could not be resumed\n"), "{third}");
    let history = project.path(&format!("{FEATURE}/.review-history.md"));
    let line = "RESUME-FALLBACK: security-reviewer iteration 3 \u{2014} answer could not be parsed: \
        it has no JSON object with the key `approved`";
    assert!(fs::read_to_string(history).unwrap().contains(line), "{third}");
}

// An answer was paid for, so it is judged even if the reading is unknown.
#[test]
fn an_answer_is_judged_although_its_record_is_not_understood() {
    let project = with_claude(repository());
    let strange = stream(&project, "design.md", APPROVED).replace("\"uuid\"", "\"id\"");
    fs::write(project.path("../stream"), strange).unwrap();
    let outcome = run(&project, &[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let note = "note: Convoke cannot tell what was read: cannot use ";
    assert!(outcome.stderr.contains(note), "{outcome}");
    let begin = "confirmation  confirmed\nread          unknown: cannot use ";
    assert!(outcome.stdout.starts_with(begin), "{outcome}");
    assert!(outcome.stdout.ends_with("\nverdict       PASS\n"), "{outcome}");
    let report: Value = serde_json::from_str(&run(&project, &["--json"]).stdout).unwrap();
    assert_eq!([&report["verdict"], &report["receipts"]], [&json!("PASS"), &Value::Null]);
    assert!(
        report["reading_unknown"]
            .as_str()
            .unwrap()
            .contains("not a transcript or event log of claude")
    );
    let rate: Value =
        serde_json::from_str(&project.stdout(&["dispatch", "rate", "--json"])).unwrap();
    assert_eq!(rate["all"]["unproven"], 0, "no agent is accused");
}

// D-64, D-67: a session that does not go on is begun afresh, with a note.
#[test]
fn a_round_that_cannot_be_resumed_begins_afresh() {
    let project = with_claude(repository());
    pass_gate(&project);
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    run(&project, &[]);
    revise(&project, "R: 100 ms.");
    let other = stream(&project, "design.md", APPROVED).replace("s-1", "s-2");
    fs::write(project.path("../stream"), other).unwrap();
    let second = run(&project, &["--iteration", "2"]);
    assert_eq!(second.code, Some(0), "{second}");
    assert!(second.stderr.contains("other session after "), "{second}");
    assert!(second.stderr.contains("\nfresh: the session could not be resumed\n"), "{second}");
    let asked = fs::read_to_string(project.path("../asked")).unwrap();
    assert!(asked.contains("(Fresh dispatch \u{2014} prior session unavailable.)"), "{asked}");
    let history =
        fs::read_to_string(project.path(&format!("{FEATURE}/.review-history.md"))).unwrap();
    // D-64: the line keeps what went wrong, not only of what kind it was.
    let line = "RESUME-FALLBACK: security-reviewer iteration 2 \u{2014} session_lost: ";
    let line = history.lines().find(|entry| entry.starts_with(line)).unwrap();
    assert!(line.contains("s-1"), "the session that was lost is named: {line}");
    fs::write(project.path("../stream"), "").unwrap();
    assert_eq!(run(&project, &["--iteration", "3"]).code, Some(4));
}

// The caller sets a round's budget and time limit.
#[test]
fn a_round_is_under_a_budget_and_a_limit() {
    let project = with_claude(repository());
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    let named = ["--run", "r", "--budget", "10"];
    let first = run(&project, &named);
    assert_eq!(first.code, Some(0), "{first}");
    assert!(first.stderr.contains("warning: over its budget: 14 of 10 tokens\n"), "{first}");
    let refused = run(&project, &named);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(5), ""), "{refused}");
    assert!(refused.stderr.contains("used 14 of 10 tokens"), "{refused}");
    let own = run(&project, &["--budget", "10"]);
    assert_eq!(own.code, Some(0), "a call of its own: {own}");
    let expected = "forecast: 14 tokens, ";
    assert!(own.stderr.contains(expected), "what rounds of the role needed is said: {own}");
    let lanes: Value = serde_json::from_str(&project.stdout(&["lane", "list", "--json"])).unwrap();
    let states: Vec<_> =
        lanes.as_array().unwrap().iter().map(|lane| lane["state"].clone()).collect();
    assert_eq!(states, ["answered", "over_budget", "answered"]);
    assert_eq!([&lanes[0]["run"], &lanes[1]["run"]], ["r", "r"]);
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && exit\nsleep 300\n";
    fs::write(project.path("../home/bin/claude"), script).unwrap();
    let late = run(&project, &["--limit", "0.5"]);
    assert_eq!(late.code, Some(4), "{late}");
}

// Programs get one document, with an answer and without, including the lane's outcome.
#[test]
fn a_round_is_reported_as_one_document() {
    let project = with_claude(repository());
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    let round = || {
        let outcome = run(&project, &["--json", "--run", "r", "--budget", "10"]);
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        (outcome.code, document)
    };
    let (code, answered) = round();
    assert_eq!((code, &answered["approved"]), (Some(0), &json!(true)));
    let over =
        json!({ "whose": "own", "unit": "tokens", "spent": 14, "partial": false, "budget": 10 });
    assert_eq!(answered["lane"]["over_budget"], over);
    let (code, refused) = round();
    assert_eq!((code, &refused["lane"]["outcome"]), (Some(5), &json!("over_budget")));
    assert_eq!(refused["lane"]["trouble_kind"], "over_budget");
}

// D-61: nothing is resumed before the client has shown that it can, in the version that runs.
#[test]
fn nothing_is_resumed_before_the_gate_has_passed() {
    let project = with_claude(repository());
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    run(&project, &[]);
    revise(&project, "R: 100 ms.");
    let second = |project: &Project| run(project, &["--iteration", "2"]).stderr;
    let told = second(&project);
    assert!(
        told.starts_with(
            "fresh: this client has not passed the gate for resuming\nhint: Convoke resumes sessions of claude only after `convoke dispatch gate --client claude` has passed\n"
        ),
        "{told}"
    );
    pass_gate(&project);
    assert!(second(&project).starts_with("resume s-1\n"));
    assert!(fs::read_to_string(project.path("../arguments")).unwrap().contains("s-gate"));
    let left = fs::read_dir(project.root()).unwrap();
    let left = left
        .filter(|entry| entry.as_ref().unwrap().file_name().display().to_string().contains("gate"));
    assert_eq!(left.count(), 0, "nothing stays in the project");
    // Another version is another environment.
    fs::write(project.path("../version"), "2.0 (Claude)\n").unwrap();
    assert!(second(&project).starts_with("fresh: this client has not passed the gate"));
    // One that forgets does not pass, and what passed before counts no more.
    let forgetful = CLAUDE.replace("$(cat ../memory)", "# Other");
    fs::write(project.path("../home/bin/claude"), forgetful).unwrap();
    let failed = project.run(&["dispatch", "gate", "--client", "claude"]);
    assert_eq!(
        (failed.code, failed.stdout.as_str()),
        (Some(1), "V3: the resumed session does not know the first line of the file\n"),
        "{failed}"
    );
    assert!(second(&project).starts_with("fresh: this client has not passed the gate"));
    fs::write(project.path("../home/bin/claude"), "#!/bin/sh\nexit 1\n").unwrap();
    let failed = project.run(&["dispatch", "gate", "--client", "claude", "--json"]);
    let failed: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(failed, json!({ "passed": false, "r1_deferred_reason": "V1: exited_early" }));
    let told = project.run(&["dispatch", "gate", "--client", "claude"]);
    assert_eq!((told.code, told.stdout.as_str()), (Some(1), "V1: ended early\n"), "{told}");
}
