//! The supervisor and its guardian against clients that misbehave. Every client here is a shell
//! script; the test searches for its leftovers from outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_domain::lane::outcome::ProcessEnd;
use convoke_engine::lane::cancel::Cancel;
use convoke_engine::lane::supervisor::{
    ChildProcess, ExitReport, Limits, OutputLine, Stream, Supervision, TurnState, run,
};

const PATIENT: Limits = Limits {
    wall: Duration::from_mins(1),
    first_byte: Duration::from_mins(1),
    stall: Duration::from_mins(1),
    grace: Duration::from_millis(300),
};

const SHORT: Duration = Duration::from_millis(400);

/// The result of a script.
struct Seen {
    finished: ExitReport,
    lines: Vec<(Stream, String)>,
    scratch: tempfile::TempDir,
}

/// Runs a script as a client; a line `over` ends its turn, and at `enough` the test stops it.
fn ran(script: &str, limits: Limits, stdin: Option<&str>) -> Seen {
    ran_by(Path::new(env!("CARGO_BIN_EXE_convoke")), script, limits, stdin)
}

fn ran_by(convoke: &Path, script: &str, limits: Limits, stdin: Option<&str>) -> Seen {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("client.sh");
    fs::write(&path, script).unwrap();
    let (mut lines, cancel) = (Vec::new(), Cancel::default());
    let arguments = [path.display().to_string()];
    let child_process = ChildProcess {
        convoke,
        program: Path::new("/bin/sh"),
        arguments: &arguments,
        variables: &[("PATH".into(), "/usr/bin:/bin".into())],
        folder: scratch.path(),
        stdin,
        scratch: scratch.path(),
        supervision: Supervision { limits, cancel: &cancel },
    };
    let finished = run(&child_process, &mut |stream, words| {
        let OutputLine::Line(line) = words else { return TurnState::GoesOn };
        lines.push((stream, line.to_owned()));
        if line == "enough" {
            cancel.cancel();
        }
        if line == "over" { TurnState::IsOver } else { TurnState::GoesOn }
    });
    Seen { finished: finished.unwrap(), lines, scratch }
}

impl Seen {
    fn printed(&self) -> Vec<&str> {
        let stdout = self.lines.iter().filter(|(stream, _)| *stream == Stream::Stdout);
        stdout.map(|(_, line)| line.as_str()).collect()
    }

    /// The file that keeps what the script printed.
    fn stdout(&self) -> PathBuf {
        self.scratch.path().join("stdout")
    }

    /// Checks that the processes whose ids the script wrote down are gone.
    #[track_caller]
    fn leaves_no_process(&self) {
        let ids = fs::read_to_string(self.scratch.path().join("pids")).unwrap();
        assert!(!ids.trim().is_empty());
        for id in ids.split_whitespace() {
            assert!(!PathBuf::from(format!("/proc/{id}")).exists(), "{id} is still there");
        }
    }
}

#[test]
fn what_a_client_says_is_heard_and_kept() {
    let script = "read line; echo \"got $line\"; echo aside >&2; printf 'half a line'";
    let seen = ran(script, PATIENT, Some("the prompt\n"));
    assert_eq!(seen.finished.end, ProcessEnd::Exited(0));
    assert_eq!(seen.printed(), ["got the prompt", "half a line"]);
    assert!(seen.lines.contains(&(Stream::Stderr, "aside".to_owned())));
    assert_eq!(fs::read_to_string(seen.stdout()).unwrap(), "got the prompt\nhalf a line");
    assert_eq!(seen.finished.bytes, 32, "of both streams");
    assert_eq!(ran("cat; echo done", PATIENT, None).printed(), ["done"], "stdin is closed");
}

#[test]
fn every_end_is_reported_by_its_kind() {
    assert_eq!(ran("exit 7", PATIENT, None).finished.end, ProcessEnd::Exited(7));
    assert_eq!(ran("kill -9 $$", PATIENT, None).finished.end, ProcessEnd::Signalled(9));
    let scratch = tempfile::tempdir().unwrap();
    let missing = ChildProcess {
        convoke: Path::new(env!("CARGO_BIN_EXE_convoke")),
        program: Path::new("/nowhere/client"),
        arguments: &[],
        variables: &[],
        folder: scratch.path(),
        stdin: None,
        scratch: scratch.path(),
        supervision: Supervision { limits: PATIENT, cancel: &Cancel::default() },
    };
    let finished = run(&missing, &mut |_, _| TurnState::GoesOn).unwrap();
    assert_eq!(finished.end, ProcessEnd::NotStarted);
}

#[test]
fn every_limit_stops_what_it_limits() {
    let silent = Limits { first_byte: SHORT, ..PATIENT };
    assert_eq!(ran("sleep 300", silent, None).finished.end, ProcessEnd::FirstByteLimit);
    let stalling = Limits { stall: SHORT, ..PATIENT };
    let stalled = ran("echo hello; sleep 300", stalling, None);
    assert_eq!((stalled.finished.end, stalled.printed()), (ProcessEnd::StallLimit, vec!["hello"]));
    let dripping = Limits { wall: SHORT, ..PATIENT };
    let dripped = ran("while :; do echo drip; sleep 0.05; done", dripping, None);
    assert_eq!(dripped.finished.end, ProcessEnd::WallLimit);
    assert!(dripped.finished.took < SHORT * 10, "{:?}", dripped.finished.took);
    // Output in time counts, even if the client does not end.
    let lingering = ran("echo over; sleep 300", stalling, None);
    assert_eq!(lingering.printed(), ["over"]);
}

#[test]
fn a_cancellation_stops_a_client() {
    let script = "echo $$ > pids; echo hello; echo enough; while :; do sleep 300; done";
    let seen = ran(script, PATIENT, None);
    assert_eq!(
        (seen.finished.end, seen.printed()),
        (ProcessEnd::Cancelled, vec!["hello", "enough"])
    );
    seen.leaves_no_process();
}

// A process that ignores a signal, leaves its group, or is left over, is still found.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_a_client() {
    let deaf = "trap '' TERM; echo $$ > pids; echo hello; while :; do sleep 300; done";
    let stalling = Limits { stall: SHORT, ..PATIENT };
    let seen = ran(deaf, stalling, None);
    assert_eq!(seen.finished.end, ProcessEnd::StallLimit);
    seen.leaves_no_process();
    let runaway = "setsid sh -c 'echo $$ > pids; trap \"\" TERM; sleep 300' & \
                   while [ ! -s pids ]; do :; done; echo over";
    let seen = ran(runaway, PATIENT, None);
    assert_eq!(seen.finished.end, ProcessEnd::Exited(0));
    seen.leaves_no_process();
    let twice = "(setsid sh -c '(sleep 300 & echo $! > pids)' &) ; \
                 while [ ! -s pids ]; do :; done; echo hello; sleep 300";
    let seen = ran(twice, stalling, None);
    seen.leaves_no_process();
}

// Bytes of any kind and any amount are survived.
#[test]
fn any_output_is_survived() {
    let odd = ran("printf '\\377\\376 \\033[31mred\\033[0m\\n\\000\\nlast\\n'", PATIENT, None);
    assert_eq!(odd.printed().last(), Some(&"last"));
    assert_eq!(fs::read(odd.stdout()).unwrap()[0], 0xff, "kept as it came");
    let long = "head -c 40000000 /dev/zero | tr '\\0' x; echo; echo end";
    let long = ran(long, PATIENT, None);
    assert_eq!(long.printed(), ["end"], "a line without end is passed over");
    assert_eq!(fs::metadata(long.stdout()).unwrap().len(), 40_000_005);
}

// One file is enough; the small program only saves memory.
#[cfg(target_os = "linux")]
#[test]
fn the_guardian_is_the_small_program_or_convoke_itself() {
    let guardian = |convoke: &Path| {
        let seen = ran_by(convoke, "readlink /proc/$PPID/exe", PATIENT, None);
        assert_eq!(seen.finished.end, ProcessEnd::Exited(0));
        seen.printed().concat()
    };
    let (whole, small) = (env!("CARGO_BIN_EXE_convoke"), env!("CARGO_BIN_EXE_convoke-guard"));
    assert_eq!(guardian(Path::new(whole)), small);
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().canonicalize().unwrap().join("convoke");
    fs::hard_link(whole, &alone).or_else(|_| fs::copy(whole, &alone).map(drop)).unwrap();
    assert_eq!(guardian(&alone), alone.display().to_string());
    let other = alone.with_file_name("convoke-guard");
    fs::write(&other, format!("#!/bin/sh\nshift 2\nexec '{small}' --build other \"$@\"\n"))
        .unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(guardian(&alone), alone.display().to_string(), "the small one is of another build");
}

#[test]
fn the_small_program_names_its_caller() {
    let project = crate::harness::Project::new();
    let small = Path::new(env!("CARGO_BIN_EXE_convoke-guard"));
    for words in [&[][..], &["--help"], &["--report", "r", "--", "true"]] {
        let output = project.command(small, words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(1), &b""[..]),
            "{words:?}"
        );
        assert!(said.contains("only convoke starts this program"), "{said}");
    }
}
