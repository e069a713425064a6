//! The npm package's command passes on what its program does: exit codes and signals, both ways.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::dist::kit::{Mode, add_text, set_mode};
use crate::dist::npm::LAUNCHER;
use crate::dist::target::Target;
use crate::process::{command, run};
use crate::{Error, say};

/// A program that stops at a signal, and says so; without a word from anyone, after a
/// minute.
const PATIENT: &str =
    "trap 'echo stopped; exit 9' TERM\necho ready\nfor _ in $(seq 1200); do sleep 0.05; done\n";

/// Starts the command with programs that end in every way.
pub(super) fn check(target: Target) -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let modules = folder.path().join("node_modules");
    let command = modules.join("convoke/bin/convoke.js");
    add_text(LAUNCHER, &command)?;
    let missing = launched(&command).output()?;
    (missing.status.code() == Some(3))
        .then_some(())
        .ok_or_else(|| broken("without a program it exits 3", missing.status))?;

    let system = modules.join("@convoke").join(target.npm);
    add_text("{\"name\": \"system\"}\n", &system.join("package.json"))?;
    let program = system.join("bin/convoke");
    is_script(&program, "exit 7\n")?;
    let status = launched(&command).status()?;
    (status.code() == Some(7))
        .then_some(())
        .ok_or_else(|| broken("it exits as its program", status))?;
    is_script(&program, "kill -KILL $$\n")?;
    let status = launched(&command).status()?;
    (status.signal() == Some(9))
        .then_some(())
        .ok_or_else(|| broken("it ends by the signal that ended its program", status))?;
    is_script(&program, "printf '%s|' \"$@\"\n")?;
    let echoed = launched(&command).args(["a b", "", "--c"]).output()?;
    (echoed.stdout == b"a b||--c|")
        .then_some(())
        .ok_or_else(|| broken("it passes arguments on", echoed.status))?;
    is_script(&program, PATIENT)?;
    stop(&command)?;
    say("the npm command passes arguments, exit codes and signals on");
    Ok(())
}

/// Asks the command to stop, as a supervisor does, and waits for its program.
fn stop(launcher: &Path) -> Result<(), Error> {
    let mut child = launched(launcher).stdout(Stdio::piped()).spawn()?;
    let mut printed = BufReader::new(child.stdout.take().ok_or("the command has no output")?);
    let mut line = String::new();
    printed.read_line(&mut line)?;
    run("kill", &["-TERM", &child.id().to_string()])?;
    let mut rest = String::new();
    printed.read_to_string(&mut rest)?;
    let status = child.wait()?;
    (rest == "stopped\n")
        .then_some(())
        .ok_or_else(|| broken("its program hears that it is to stop", status))?;
    let waits = status.code() == Some(9);
    waits.then_some(()).ok_or_else(|| broken("it waits for its program", status))
}

fn launched(launcher: &Path) -> Command {
    let mut node = command("node");
    node.arg(launcher);
    node
}

fn is_script(program: &Path, lines: &str) -> Result<(), Error> {
    add_text(&format!("#!/bin/sh\n{lines}"), program)?;
    set_mode(program, Mode::Program)
}

/// The error for a command that does not hold a rule.
fn broken(rule: &str, status: ExitStatus) -> Error {
    format!("the npm command: {rule}, and it ended: {status}").into()
}
