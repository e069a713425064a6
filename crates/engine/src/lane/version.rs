//! Versions of clients, read under supervision, because even this call can hang.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::cancel::Cancel;
use super::drive::ClientProgram;
use super::supervisor::{ChildProcess, Limits, OutputLine, Stream, Supervision, TurnState, run};
use crate::client::adapter;

/// How long a client may take to say its version.
const LIMIT: Duration = Duration::from_secs(10);

/// How much of its output is shown, in characters.
const MOST_SHOWN: usize = 60;

const fn limits(grace: Duration) -> Limits {
    Limits { wall: LIMIT, first_byte: LIMIT, stall: LIMIT, grace }
}

/// Asks programs for their versions, in parallel; `None` for one that prints none.
pub fn versions(programs: &[ClientProgram<'_>], cancel: &Cancel) -> Vec<Option<String>> {
    thread::scope(|scope| {
        let asked: Vec<_> =
            programs.iter().map(|program| scope.spawn(|| version(program, cancel))).collect();
        asked.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    })
}

fn version(program: &ClientProgram<'_>, cancel: &Cancel) -> Option<String> {
    let scratch = crate::scratch::lane().ok()?;
    let own = adapter(program.agent).quiet.iter().map(|(name, value)| (name.into(), value.into()));
    let mut variables: Vec<_> = program.variables.iter().cloned().chain(own).collect();
    variables.push(("TMPDIR".into(), scratch.path().into()));
    let child_process = ChildProcess {
        convoke: program.convoke,
        program: program.program,
        arguments: &["--version".to_owned()],
        variables: &variables,
        folder: scratch.path(),
        stdin: None,
        scratch: scratch.path(),
        supervision: Supervision { limits: limits(Duration::from_secs(1)), cancel },
    };
    let mut said = None;
    run(&child_process, &mut |stream, words| {
        if let (Stream::Stdout, OutputLine::Line(line), None) = (stream, words, &said)
            && !line.trim().is_empty()
        {
            let shown = line.trim().chars().filter(|c| !c.is_control()).take(MOST_SHOWN);
            said = Some(shown.collect());
        }
        TurnState::GoesOn
    })
    .ok()?;
    said
}

/// Runs a program that does nothing, as every client is run, and tells whether that works.
pub fn is_supervised(convoke: &Path, program: &Path, cancel: &Cancel) -> bool {
    use convoke_domain::lane::outcome::ProcessEnd;

    let Ok(scratch) = crate::scratch::lane() else { return false };
    let child_process = ChildProcess {
        convoke,
        program,
        arguments: &[],
        variables: &[],
        folder: scratch.path(),
        stdin: None,
        scratch: scratch.path(),
        supervision: Supervision { limits: limits(LIMIT), cancel },
    };
    run(&child_process, &mut |_, _| TurnState::GoesOn)
        .is_ok_and(|finished| finished.end == ProcessEnd::Exited(0))
}
