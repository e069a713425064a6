//! Whether clients take the command of a lane, without asking a model: each is started as a lane
//! starts it, and given no prompt. A client that has read its arguments then says that the prompt is
//! missing; one that does not know them says which.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use convoke_domain::lane::event::FailureKind;
use convoke_domain::lane::outcome::ProcessEnd;
use convoke_domain::text::shell_word;

use super::cancel::Cancel;
use super::drive::ClientProgram;
use super::health::ProbedAcp;
use super::supervisor::{ChildProcess, Limits, OutputLine, Stream, Supervision, TurnState, run};
use crate::client::acp::AgentReadiness;
use crate::client::acp::bridge::BridgeRequest;
use crate::client::failure::{complaint, readable};
use crate::client::{ClientCommand, ClientRequest, Rights, adapter, command};

/// How long a client may take to notice that it has no prompt.
const LIMIT: Duration = Duration::from_mins(1);

/// How many lines of what a client says are looked at.
const MOST_LINES: usize = 200;

/// What is known about a client and the command of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedCommand {
    /// The client's program and the arguments that a lane gives it, as a shell takes them.
    pub words: String,
    /// What the client says to them.
    pub verdict: CommandVerdict,
}

/// What a client says to the command of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandVerdict {
    /// It read the arguments, and misses the prompt.
    Accepted,
    /// It does not take an argument, in its own words.
    Refused(String),
    /// It asks for a login before it asks for a prompt, in its own words.
    NoLogin(String),
    /// What it said tells neither.
    Unclear(String),
    /// It was not started, because a command without a prompt may ask a model.
    NotTried,
}

/// Gives clients the command of a reading lane without a prompt, all in parallel.
pub fn check_commands(programs: &[ClientProgram<'_>], cancel: &Cancel) -> Vec<CheckedCommand> {
    thread::scope(|scope| {
        let asked: Vec<_> =
            programs.iter().map(|program| scope.spawn(|| check(program, cancel))).collect();
        let checked = asked.into_iter().zip(programs).map(|(thread, program)| {
            let lost = || CommandVerdict::Unclear("the check did not finish".to_owned());
            thread.join().unwrap_or_else(|_| CheckedCommand {
                words: shell_word(&program.program.display().to_string()),
                verdict: lost(),
            })
        });
        checked.collect()
    })
}

/// Has agents of the Agent Client Protocol begin a session in the mode of a reading lane, without a
/// prompt, all in parallel.
pub fn check_acp_commands(agents: &[ProbedAcp<'_>], cancel: &Cancel) -> Vec<CheckedCommand> {
    thread::scope(|scope| {
        let asked: Vec<_> =
            agents.iter().map(|agent| scope.spawn(|| check_acp(agent, cancel))).collect();
        let lost = |agent: &ProbedAcp<'_>| CheckedCommand {
            words: shell_word(&agent.command.program.display().to_string()),
            verdict: CommandVerdict::Unclear("the check did not finish".to_owned()),
        };
        let checked = asked.into_iter().zip(agents);
        checked.map(|(thread, agent)| thread.join().unwrap_or_else(|_| lost(agent))).collect()
    })
}

fn check_acp(agent: &ProbedAcp<'_>, cancel: &Cancel) -> CheckedCommand {
    let Ok(scratch) = crate::scratch::lane() else { return no_folder() };
    let folder = scratch.path().display().to_string();
    let bridge = agent.bridge();
    let request = ClientRequest { acp: Some(agent.command), ..without_prompt(&folder) };
    let command = command(bridge.agent, &request);
    let asked = command.stdin.as_deref().and_then(BridgeRequest::read);
    let words = asked.map_or_else(String::new, |asked| {
        let words = std::iter::once(&asked.program).chain(&asked.arguments);
        words.map(|word| typed(&word.replace(&folder, "LANE"))).collect::<Vec<_>>().join(" ")
    });
    let verdict = match started(&bridge, command, scratch.path(), cancel) {
        Ok(said) => readiness(&said),
        Err(why) => CommandVerdict::Unclear(why),
    };
    CheckedCommand { words, verdict }
}

/// Judges what a bridge without a prompt printed, and what its agent said beside it.
fn readiness(said: &[(Stream, String)]) -> CommandVerdict {
    let of = |wanted: Stream| {
        let lines = said.iter().filter(move |(stream, _)| *stream == wanted);
        lines.map(|(_, line)| line.as_str())
    };
    match AgentReadiness::of(of(Stream::Stdout)) {
        AgentReadiness::Ready => CommandVerdict::Accepted,
        AgentReadiness::Failed(FailureKind::Auth, words) => {
            CommandVerdict::NoLogin(first_line(&words))
        }
        AgentReadiness::Failed(FailureKind::RefusedFlags, words) => {
            CommandVerdict::Refused(first_line(&words))
        }
        AgentReadiness::Failed(_, words) => CommandVerdict::Unclear(first_line(&words)),
        AgentReadiness::Silent => {
            let words = of(Stream::Stderr).find(|line| !line.trim().is_empty()).map(first_line);
            let ended = "it ended before it began a session".to_owned();
            let words = words.map_or_else(|| ended.clone(), |words| format!("{ended}: {words}"));
            CommandVerdict::Unclear(words)
        }
    }
}

fn no_folder() -> CheckedCommand {
    let verdict = CommandVerdict::Unclear("Convoke cannot make a folder for it".to_owned());
    CheckedCommand { words: String::new(), verdict }
}

const fn without_prompt(folder: &str) -> ClientRequest<'_> {
    ClientRequest {
        prompt: "",
        model: None,
        effort: None,
        resume: None,
        rights: Rights::ReadOnly,
        folder,
        scratch: folder,
        acp: None,
        fleet: None,
    }
}

fn check(program: &ClientProgram<'_>, cancel: &Cancel) -> CheckedCommand {
    let Ok(scratch) = crate::scratch::lane() else { return no_folder() };
    let folder = scratch.path().display().to_string();
    let command = command(program.agent, &without_prompt(&folder));
    let words = shown(program, &command, &folder);
    let verdict = match adapter(program.agent).no_prompt {
        None => CommandVerdict::NotTried,
        Some(no_prompt) => started(program, command, scratch.path(), cancel).map_or_else(
            CommandVerdict::Unclear,
            |said| {
                let said: Vec<_> = said.into_iter().map(|(_, line)| line).collect();
                verdict(&said, no_prompt)
            },
        ),
    };
    CheckedCommand { words, verdict }
}

/// Returns the command as a person would type it; the lane's own folder has another name each time.
fn shown(program: &ClientProgram<'_>, command: &ClientCommand, folder: &str) -> String {
    let program = program.program.display().to_string();
    let words = std::iter::once(&program).chain(&command.arguments);
    let words: Vec<_> = words.map(|word| typed(&word.replace(folder, "LANE"))).collect();
    words.join(" ")
}

/// Quotes a word only if a shell would change it.
fn typed(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/=,:".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { shell_word(word) }
}

/// Starts a client without a prompt, and returns what it said; else why that is not known.
fn started(
    program: &ClientProgram<'_>,
    command: ClientCommand,
    scratch: &Path,
    cancel: &Cancel,
) -> Result<Vec<(Stream, String)>, String> {
    let ClientCommand { arguments, variables, stdin, files } = command;
    for (path, text) in files {
        fs::write(path, text).map_err(|error| error.to_string())?;
    }
    let own = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
    let mut variables: Vec<_> = program.variables.iter().cloned().chain(own).collect();
    variables.push(("TMPDIR".into(), scratch.into()));
    let child_process = ChildProcess {
        convoke: program.convoke,
        program: program.program,
        arguments: &arguments,
        variables: &variables,
        folder: scratch,
        stdin: stdin.as_deref(),
        scratch,
        supervision: Supervision {
            limits: Limits {
                wall: LIMIT,
                first_byte: LIMIT,
                stall: LIMIT,
                grace: Duration::from_secs(1),
            },
            cancel,
        },
    };
    let mut said = Vec::new();
    let finished = run(&child_process, &mut |stream, line| {
        if let OutputLine::Line(line) = line
            && said.len() < MOST_LINES
        {
            said.push((stream, readable(line)));
        }
        TurnState::GoesOn
    });
    match finished.map_err(|error| error.to_string())?.end {
        ProcessEnd::Exited(_) => Ok(said),
        ProcessEnd::WallLimit | ProcessEnd::FirstByteLimit | ProcessEnd::StallLimit => {
            Err(format!("it did not end within {} s", LIMIT.as_secs()))
        }
        ProcessEnd::Signalled(_)
        | ProcessEnd::BudgetLimit
        | ProcessEnd::Cancelled
        | ProcessEnd::NotStarted
        | ProcessEnd::Lost => Err("it did not run to its end".to_owned()),
    }
}

/// Judges what a client said to a command without a prompt. A refusal counts on any line.
fn verdict(said: &[String], no_prompt: &str) -> CommandVerdict {
    let complaints: Vec<_> = said.iter().filter_map(|line| complaint(line)).collect();
    let first = |kind: FailureKind| {
        let mut found = complaints.iter().filter(|failure| failure.kind == kind);
        found.next().map(|failure| first_line(&failure.message))
    };
    if let Some(words) = first(FailureKind::RefusedFlags) {
        return CommandVerdict::Refused(words);
    }
    if said.iter().any(|line| line.to_lowercase().contains(no_prompt)) {
        return CommandVerdict::Accepted;
    }
    if let Some(words) = first(FailureKind::Auth) {
        return CommandVerdict::NoLogin(words);
    }
    let words = said.iter().find(|line| !line.trim().is_empty()).map(|line| first_line(line));
    CommandVerdict::Unclear(
        words.map_or("it said nothing".to_owned(), |words| format!("it said `{words}`")),
    )
}

/// Returns a line that fits a report.
fn first_line(text: &str) -> String {
    const MOST: usize = 120;
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: &str = "no prompt provided via stdin";

    fn judged(said: &[&str]) -> CommandVerdict {
        let said: Vec<_> = said.iter().map(|line| (*line).to_owned()).collect();
        verdict(&said, MISSING)
    }

    #[test]
    fn only_a_missing_prompt_proves_that_the_arguments_were_read() {
        assert_eq!(judged(&["No prompt provided via stdin."]), CommandVerdict::Accepted);
        let refusal = "error: unexpected argument '--sandbox' found";
        let refused = CommandVerdict::Refused(refusal.to_owned());
        assert_eq!(judged(&[refusal, "", "Usage: codex"]), refused);
        assert_eq!(judged(&["No prompt provided via stdin.", refusal]), refused);
        let login = "Please set an Auth method in your settings.json";
        assert_eq!(judged(&["", login]), CommandVerdict::NoLogin(login.to_owned()));
        let nothing = CommandVerdict::Unclear("it said nothing".to_owned());
        assert_eq!(judged(&[]), nothing);
        assert_eq!(judged(&["", "  "]), nothing);
        let unclear = CommandVerdict::Unclear("it said `0.166.0`".to_owned());
        assert_eq!(judged(&["0.166.0"]), unclear);
        let CommandVerdict::Unclear(words) = judged(&[&"x".repeat(500)]) else { panic!() };
        assert!(words.ends_with("x…`") && words.chars().count() < 150, "{words}");
    }
}
