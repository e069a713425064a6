//! The misbehaviours: a client's script, its limits, and the expected report.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::stage::Stage;
use crate::{Trial, Verdict};

/// How much later than its limit a lane may be over.
const LATER: Duration = Duration::from_secs(5);

/// The most memory of its own that Convoke may hold, in megabytes: an idle program for tests holds 27, a
/// line may have 16, and it is read once more as JSON. What a client prints beyond that must not be kept.
const MEMORY: u64 = 64;

/// A second without output is too long.
const IMPATIENT: [&str; 6] = ["--limit", "60", "--stall", "1", "--grace", "0.3"];

/// No limit applies.
const PATIENT: [&str; 6] = ["--limit", "170", "--stall", "100", "--grace", "0.3"];

/// It may print any text, for two seconds.
const BRIEF: [&str; 6] = ["--limit", "2", "--stall", "60", "--grace", "0.3"];

/// A client that misbehaves.
struct Case {
    name: &'static str,
    /// The client's behaviour, in the words of the stage.
    script: &'static str,
    limits: [&'static str; 6],
    /// When it must be over, in seconds, by its limits.
    due: u64,
    outcome: &'static str,
    more: &'static [&'static str],
}

const fn case(name: &'static str, outcome: &'static str, script: &'static str) -> Case {
    Case { name, script, limits: PATIENT, due: 170, outcome, more: &[] }
}

/// A client whose whole output is read, however long that takes.
const fn says_much(name: &'static str, script: &'static str) -> Case {
    case(name, "answered", script)
}

/// A client that has to be stopped because it says nothing.
const fn stalls(name: &'static str, outcome: &'static str, script: &'static str) -> Case {
    Case { limits: IMPATIENT, due: 1, ..case(name, outcome, script) }
}

/// A client that has answered, and must be stopped.
const fn lingers(name: &'static str, script: &'static str) -> Case {
    Case { due: 5, ..case(name, "answered", script) }
}

/// A client that Convoke has to stop because it does not end.
const fn never_stops(name: &'static str, outcome: &'static str, script: &'static str) -> Case {
    Case { limits: BRIEF, due: 2, ..case(name, outcome, script) }
}

const CASES: &[Case] = &[
    // It prints too much.
    says_much("200 MB of output", "init; yes \"$(words 4000)\" | head -c 200000000; echo; answer"),
    says_much("a line of 100 MB", "init; head -c 100000000 /dev/zero | tr '\\0' x; echo; answer"),
    says_much("ten lines of 15 MB", "init; for _ in $(seq 10); do head -c 15000000 /dev/zero | tr '\\0' x; echo; done; answer"),
    says_much("50 MB on stderr", "init; yes \"$(words 4000)\" | head -c 50000000 >&2; answer"),
    says_much("both streams at once", "init; yes \"$(words 4000)\" | head -c 20000000 >&2 & yes \"$(words 4000)\" | head -c 20000000; wait; echo; answer"),
    never_stops("talks for ever", "timed_out", "init; exec yes \"$(words)\""),
    never_stops("talks for ever on stderr", "timed_out", "init; exec yes 'warning: it is late' >&2"),
    never_stops("a line without end", "timed_out", "init; exec tr '\\0' x < /dev/zero"),
    // It prints too little.
    case("says nothing", "no_output", "exit 0"),
    stalls("says nothing and stays", "no_output", "exec sleep 300"),
    stalls("stops talking", "stalled", "init; words; exec sleep 300"),
    stalls("reads stdin for ever", "stalled", "init; while cat > /dev/null; do sleep 0.1; done"),
    stalls("closes its streams and stays", "stalled", "init; exec > /dev/null 2>&1; exec sleep 300"),
    stalls("stops itself", "stalled", "init; kill -STOP $$"),
    never_stops("a byte at a time", "timed_out", "init; while :; do printf x; sleep 0.1; done"),
    case("dies in the middle of a line", "exited_early", "init; words; printf '{\"type\":\"resu'; kill -9 $$"),
    case("does not read a long prompt", "answered", "init; answer"),
    // It prints odd output.
    case("bytes that are no text", "answered", "printf '\\377\\376\\000\\n'; init; printf '{\"\\377\":1}\\n'; answer"),
    case("art", "answered", "printf '\\033[2J\\033[31m*\\033[0m\\r\\n\\007'; init; printf '\\033]0;title\\007\\n'; answer"),
    case("JSON that means nothing", "answered", "echo '[[[[1]]]]'; echo '{\"type\":{}}'; init; echo null; answer"),
    case("JSON without end", "answered", "init; head -c 1000000 /dev/zero | tr '\\0' '['; echo; answer"),
    // Its exit code contradicts its output.
    case("exit 0 with an error", "failed", "init; failure 500"),
    case("exit 1 with an answer", "answered", "init; answer; exit 1"),
    case("killed with an answer", "answered", "init; answer; kill -9 $$"),
    case("another model", "model_mismatch", "init; answer").with(&["--model", "haiku"]),
    case("another session", "session_lost", "init; answer").with(&["--resume", "s-0"]),
    case("may write when resumed", "answered", "case \"$*\" in *--tools=Read,Grep,Glob*--resume=s-1*) init; answer;; esac")
        .with(&["--resume", "s-1"]),
    case("key refused", "auth", "init; failure 401; exit 1"),
    case("too many requests", "rate_limited", "init; failure 429; exit 1"),
    never_stops("too many requests, for ever", "rate_limited", "init; while :; do retry 429; sleep 0.1; done"),
    never_stops("key refused, for ever", "auth", "init; while :; do retry 401; sleep 0.1; done"),
    case("flag refused", "refused_flags", "echo \"error: unknown option '--tools'\" >&2; exit 1"),
    // It does not end, or leaves a process behind.
    lingers("stays after its answer", "init; answer; exec sleep 300"),
    lingers("talks after its answer", "init; answer; while :; do words; sleep 0.1; done"),
    stalls("does not listen to TERM", "stalled", "trap '' TERM INT HUP; init; while :; do sleep 300; done"),
    case("a child stays", "answered", "sleep 300 > /dev/null 2>&1 & init; answer"),
    case("a child keeps the streams", "answered", "init; answer; sleep 300 & exit 0"),
    case("a child in a session of its own", "answered", "(setsid sh -c 'trap \"\" TERM; sleep 300 & sleep 300' &); init; answer"),
    stalls("twice in a session of its own", "stalled", "init; (setsid sh -c '(setsid sleep 300 &) ; sleep 300' &); exec sleep 300"),
    stalls("leaves its group", "stalled", "init; set -m; sleep 300 & setsid sleep 300 & wait"),
    case("200 children", "answered", "for _ in $(seq 200); do sleep 300 & done; init; answer"),
    case("a child without environment", "answered", "env -i setsid sleep 300 & init; answer"),
    case("a child that is never the same", "answered", "hop() { sleep 0.01; hop & }; hop & init; answer"),
    case("a child that is stopped", "answered", "sh -c 'kill -STOP $$' & init; answer"),
    // It changes files.
    case("writes into the tree", "answered", "echo mine > surprise; init; answer"),
    case("leaves temporary files", "answered", "mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; init; answer"),
    case("removes its temporary folder", "answered", "init; rm -rf \"$TMPDIR\"; answer"),
    case("puts links in place of our files", "answered", "init; for name in stdout stderr end; do ln -sf \"$PWD/surprise\" \"$TMPDIR/$name\"; done; answer"),
    stalls("kills its guardian", "stalled", "init; kill -9 $PPID; sleep 300 & exec sleep 300"),
    case("kills its guardian and answers", "answered", "init; kill -9 $PPID; sleep 300 & answer"),
    // Another client, and no other word for the same.
    case("codex: a turn that failed", "rate_limited", "echo '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'; echo '{\"type\":\"turn.failed\",\"error\":{\"message\":\"exceeded retry limit, last status: 429 Too Many Requests\"}}'")
        .with(&["--agent", "codex"]),
    never_stops("codex: connects for ever", "timed_out", "echo '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'; while :; do echo '{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}'; sleep 0.1; done")
        .with(&["--agent", "codex"]),
    stalls("codex: waits for a network for ever", "stalled", "echo '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'; while :; do echo '{\"type\":\"error\",\"message\":\"Reconnecting... waiting for network\"}'; sleep 0.1; done")
        .with(&["--agent", "codex"]),
    case("codex: ends without an end", "exited_early", "echo '{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"hm\"}}'")
        .with(&["--agent", "codex"]),
];

impl Case {
    const fn with(self, more: &'static [&'static str]) -> Self {
        Self { more, ..self }
    }

    fn run(&self) -> Verdict {
        let stage = Stage::new(self.script);
        let agent: &[&str] =
            if self.more.contains(&"--agent") { &[] } else { &["--agent", "claude"] };
        let prompt = "What is it? ".repeat(500_000);
        let run = stage.run(&[agent, &self.limits, self.more].concat(), &prompt);
        let report: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let outcome = report["outcome"].as_str().unwrap_or("nothing");
        let mut wrong = Vec::new();
        let mut check = |holds: bool, what: String| {
            if !holds {
                wrong.push(what);
            }
        };
        check(outcome == self.outcome, format!("not {}: {report:#}{}", self.outcome, run.stderr));
        check(run.took <= Duration::from_secs(self.due) + LATER, "took too long".to_owned());
        check(run.megabytes <= MEMORY, format!("more than {MEMORY} MB"));
        let (alive, files) = (stage.alive(), stage.left_files());
        check(alive.is_empty(), format!("left alive: {alive:?}"));
        check(files.is_empty(), format!("left behind: {files:?}"));
        let written = fs::read_dir(stage.path("project")).unwrap().count();
        check(
            written == usize::from(self.name == "writes into the tree"),
            "wrote files".to_owned(),
        );
        let seconds = run.took.as_secs_f64();
        Verdict { shown: format!("{outcome:<14} {seconds:>5.1} s {:>4} MB", run.megabytes), wrong }
    }
}

pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    CASES.iter().map(|case| Trial { name: case.name, run: Box::new(|| case.run()) })
}
