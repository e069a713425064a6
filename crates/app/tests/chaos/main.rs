//! Clients that hang, leak and report falsely, each through `convoke lane run` as users start it.
//!
//! Not a table of unit tests but one of misbehaviours, with a row printed for each: the reported
//! outcome, the time, and Convoke's memory. The test searches for leftover processes from outside,
//! by two properties that no child of a client can lose by accident: its environment and its
//! folder. Words after `--` choose cases by their name.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot set itself up should stop where it stands, and this one reports"
)]

mod cases;
mod signals;
mod stage;

use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

/// Most cases wait for a limit; this many wait in parallel.
const AT_ONCE: usize = 4;

/// A case that can be run: its name, and what it finds.
struct Trial {
    name: &'static str,
    run: Box<dyn Fn() -> Verdict + Send>,
}

/// The measurements of a case, for its row, and its errors.
struct Verdict {
    shown: String,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    if !cfg!(target_os = "linux") {
        println!("what is left of a client can only be seen on Linux");
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_chosen = |trial: &Trial| {
        words.is_empty() || words.iter().any(|word| trial.name.contains(word.as_str()))
    };
    let trials: Vec<_> = cases::trials().chain(signals::trials()).filter(is_chosen).collect();
    let (count, queue, failed) = (trials.len(), Mutex::new(trials), Mutex::new(0));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(trial) = next(&queue) {
                    let Verdict { shown, wrong } = (trial.run)();
                    let mark = if wrong.is_empty() { "ok" } else { "WRONG" };
                    println!("{:<32} {shown} {mark}", trial.name);
                    for line in &wrong {
                        println!("    {line}");
                    }
                    *failed.lock().unwrap() += usize::from(!wrong.is_empty());
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    println!("{count} misbehaviours, {failed} not borne");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn next(queue: &Mutex<Vec<Trial>>) -> Option<Trial> {
    let mut queue = queue.lock().unwrap();
    if queue.is_empty() { None } else { Some(queue.remove(0)) }
}
