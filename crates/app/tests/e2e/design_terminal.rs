//! A design at a terminal: the drawn lines, and the questions to a person.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::harness::Project;
use crate::lane::{init, result, with_claude};
use crate::panel::{FEATURE, Panel, answers};

/// Longer than any test should take; only a hanging program ever waits for it.
const DEADLINE: Duration = Duration::from_mins(1);

/// A terminal that runs Convoke.
pub(crate) struct Terminal {
    pub(crate) convoke: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    text: String,
    /// How much of the output the test has waited for.
    seen: usize,
}

impl Terminal {
    pub(crate) fn open(project: &Project, columns: u16, arguments: &[&str]) -> Self {
        Self::open_as("xterm", project, columns, arguments)
    }

    pub(crate) fn open_as(kind: &str, project: &Project, columns: u16, arguments: &[&str]) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let end = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
        let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), arguments);
        command.env("TERM", kind).stdin(end()).stdout(end()).stderr(end());
        let convoke = command.spawn().unwrap();
        // Only the program holds its end now, so that the test sees when it ends.
        drop(command);
        let keys = File::from(master);
        let mut screen = keys.try_clone().unwrap();
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                sender.send(buffer[..count].to_vec()).ok();
            }
        });
        Self { convoke, keys, shown, text: String::new(), seen: 0 }
    }

    /// Waits until a text is shown after all earlier ones.
    pub(crate) fn until(&mut self, text: &str) {
        loop {
            if let Some(at) = self.text[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            let more = self.shown.recv_timeout(DEADLINE).unwrap_or_default();
            assert!(!more.is_empty(), "`{text}` is not in\n{}", &self.text[self.seen..]);
            self.text += &String::from_utf8_lossy(&more);
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end; returns its code and all that was shown.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        loop {
            match self.shown.recv_timeout(DEADLINE) {
                Ok(more) => self.text += &String::from_utf8_lossy(&more),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.convoke.kill().unwrap(),
            }
        }
        (self.convoke.wait().unwrap().code(), self.text)
    }
}

/// Returns the printed lines, without control sequences.
pub(crate) fn printed(shown: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in shown.split(['\r', '\n']) {
        let pieces = line.split("\u{1b}[").enumerate().map(|(at, piece)| match at {
            0 => piece,
            _ => piece.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest),
        });
        lines.push(pieces.collect());
    }
    lines
}

// P-91: at a terminal every phase leaves one line, and one screen shows the result.
#[test]
fn a_design_at_a_terminal_is_a_line_for_each_phase_and_one_screen() {
    let project = Project::new();
    for columns in [60, 80, 140] {
        let (code, shown) =
            Terminal::open(&project, columns, &["design", "--rehearse", "--auto"]).end();
        assert_eq!(code, Some(0), "{shown}");
        let lines = printed(&shown);
        let place = |words: &str| {
            let found = lines.iter().position(|line| line.starts_with(words));
            found.unwrap_or_else(|| panic!("`{words}` is not in\n{}", lines.join("\n")))
        };
        let order = [
            "Design  Let people keep their notes",
            "\u{2713} Sketches ",
            "\u{2713} Debates ",
            "\u{2713} Plan ",
            "\u{2713} Review ",
            "The plan is ready",
            "Decisions",
            "Findings: 3 accepted",
            "Next: convoke show ",
        ];
        let places = order.map(place);
        assert!(places.is_sorted(), "{places:?}\n{}", lines.join("\n"));
        for line in &lines {
            assert!(line.chars().count() <= usize::from(columns), "{columns}: {line}");
            assert!(
                !line.contains("**") && !line.starts_with("## ") && !line.contains('\u{2501}'),
                "{line}"
            );
        }
    }
}

// P-91: people read who sits where, once for each reason, and commands alone in `Next`.
#[test]
fn a_failed_design_names_seats_for_people() {
    let panel = Panel::in_project(with_claude("exit 1"));
    let arguments = ["design", "--auto", "--no-probe", FEATURE];
    let (code, shown) = Terminal::open(&panel.project, 80, &arguments).end();
    assert_eq!(code, Some(4), "{shown}");
    let lines = printed(&shown);
    let words = lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let failed = "Claude gave no sketch in 4 seats (Architecture, Edge cases, Innovation, \
                  Pragmatism)";
    assert_eq!(words.matches(failed).count(), 2, "as it happens, and at the end: {words}");
    for angle in ["-Arch", "-Edge", "-Innovation", "-Pragmatic", "-Generic"] {
        assert!(!words.contains(angle), "{angle}: {words}");
    }
    let (run, _) = panel.run();
    for next in [format!("Next: convoke resume {run}"), "Next: convoke doctor --probe".to_owned()] {
        assert!(lines.contains(&next), "`{next}` is not in {words}");
    }
    // Pipes keep the contract's labels, a line for each seat.
    let piped = panel.project.run(&arguments);
    assert_eq!(piped.stdout.matches("Claude sketch failed (").count(), 4, "{piped}");
}

/// A panel in which a Claude Code uses a tool and then works until it is stopped, and its seats.
pub(crate) fn panel_that_works() -> (Panel, String) {
    let tool = r#"{"type":"assistant","uuid":"u","session_id":"s-1","message":{"content":[{"type":"tool_use","id":"t","name":"Grep"}]}}"#;
    let wait = "while [ ! -e \"$HOME/go\" ]; do sleep 0.05; done";
    let script = format!("{}printf '%s\\n' '{tool}'\n{wait}\n{}", init(), result(|_| {}));
    let panel = Panel::in_project(with_claude(&script));
    let seats = panel.seats().replacen("replay:", "claude,replay:", 1);
    let seats = seats.rsplit_once(',').unwrap().0.to_owned();
    (panel, seats)
}

impl Terminal {
    /// Waits for the row of that agent, with its tool and its time, and stops the run.
    pub(crate) fn shows_who_works(mut self) {
        self.until("Claude \u{b7} Architecture");
        self.until("Grep");
        self.until("2s");
        kill_process(Pid::from_child(&self.convoke), Signal::INT).unwrap();
        let (code, shown) = self.end();
        assert_eq!(code, Some(130), "{shown}");
        assert!(shown.contains("convoke resume "), "{shown}");
    }
}

// A phase is never silent: the agent that works is named, with its time and its last tool.
#[test]
fn an_agent_that_works_has_a_row_that_lives() {
    let (panel, seats) = panel_that_works();
    let seats = seats.as_str();
    let arguments = ["design", "--auto", "--seats", seats, FEATURE];
    let mut terminal = Terminal::open(&panel.project, 80, &arguments);
    terminal.until("Design");
    terminal.until("asking Claude and ");
    terminal.until("whether they answer (1s)");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    assert_eq!(terminal.end().0, Some(130));
    let arguments = ["design", "--auto", "--no-probe", "--seats", seats, FEATURE];
    let terminal = Terminal::open(&panel.project, 80, &arguments);
    terminal.shows_who_works();
}

#[test]
fn a_terminal_without_colours_moves_and_a_dumb_one_does_not() {
    let project = Project::new().variable("NO_COLOR", "1");
    let arguments = ["design", "--rehearse", "--auto"];
    let (_, shown) = Terminal::open(&project, 80, &arguments).end();
    assert!(shown.contains("\u{2713} Sketches") && !shown.contains("\u{1b}[1m"), "{shown}");
    let orders = shown.split("\u{1b}[").skip(1).map(|rest| rest.split_once(char::is_alphabetic));
    assert!(orders.flatten().all(|(number, _)| number.len() < 3), "no colour: {shown}");
    let (_, dumb) = Terminal::open_as("dumb", &project, 80, &arguments).end();
    assert!(!dumb.contains('\u{1b}') && dumb.contains("> **🔶 2a: sketches**\r\n"), "{dumb}");
}

// Piped, a text keeps its bytes; at a terminal it is read in a pager.
#[test]
fn an_artifact_is_read_in_a_pager_at_a_terminal_alone() {
    let project = Project::new().variable("PAGER", "sed 's/^/paged: /'");
    let piped = project.run(&["design", "--rehearse", "--auto"]);
    assert_eq!(piped.code, Some(0), "{piped}");
    let plan = project.stdout(&["show", "--artifact", "plan"]);
    assert!(plan.contains("### Task 1:") && !plan.contains("paged: "), "{plan}");
    let (code, paged) = Terminal::open(&project, 80, &["show", "--artifact", "plan"]).end();
    assert!(code == Some(0) && printed(&paged).contains(&"paged: Approach".to_owned()), "{paged}");
    let (_, whole) =
        Terminal::open(&project, 80, &["show", "--artifact", "plan", "--no-pager"]).end();
    let lines = printed(&whole);
    assert!(lines.contains(&"Approach".to_owned()) && !whole.contains("paged"), "{whole}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{whole}");
}

// P-5: without a feature, Convoke asks for it if there is a person.
#[test]
fn convoke_asks_a_person_for_the_feature() {
    let panel = Panel::new();
    let seats = panel.seats();
    let mut terminal = Terminal::open(&panel.project, 80, &["design", "--seats", &seats]);
    terminal.until("What do you want to design?");
    terminal.press("\u{1b}[A\n");
    terminal.until("unrecognized input; type a number or text; try again");
    terminal.until("What do you want to design?");
    terminal.press("Keep notes in a folder\n");
    terminal.until("Enter accepts the recommendation");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(panel.project.stdout(&["runs"]).contains("Keep notes in a folder"));
    let (code, shown) = Terminal::open(&panel.project, 80, &["design", "--auto"]).end();
    assert_eq!(code, Some(2), "{shown}");
    let mut nothing = Terminal::open(&panel.project, 80, &["design", "--seats", &seats]);
    nothing.until("What do you want to design?");
    nothing.press("\n");
    assert_eq!(nothing.end().0, Some(2));
}

// A slip of the finger is no answer, and Ctrl-C is one everywhere.
#[test]
fn a_mistyped_number_repeats_the_question() {
    let panel = Panel::new();
    let seats = panel.seats();
    let mut terminal =
        Terminal::open(&panel.project, 80, &["design", "--branch", "--seats", &seats, FEATURE]);
    terminal.until("Enter accepts the recommendation");
    terminal.press("7\n");
    terminal.until("option 7 does not exist; try again");
    terminal.until("Enter accepts the recommendation");
    terminal.press("-1\n");
    terminal.until("option -1 does not exist; try again");
    terminal.until("Enter accepts the recommendation");
    terminal.press("\u{1b}[B\n");
    terminal.until("unrecognized input; type a number or text; try again");
    terminal.until("Enter accepts the recommendation");
    terminal.press("1\n");
    terminal.until("taken: ");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    assert_eq!(terminal.end().0, Some(130));
    let (run, _) = panel.run();
    panel.git(&["switch", "--quiet", "main"]);
    let mut terminal = Terminal::open(&panel.project, 80, &["resume", &run]);
    terminal.until("Enter accepts the recommendation: Stop");
    terminal.press("yes\n");
    terminal.until("`yes` is not one of the options; try again");
    terminal.until("Enter accepts the recommendation: Stop");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains(&format!("convoke resume {run}")), "{shown}");
    // A prepared answer counts once; the person answers a second question.
    let said = panel.project.path("../said").display().to_string();
    fs::write(&said, "resume/ground: 1\n").unwrap();
    let mut terminal = Terminal::open(&panel.project, 80, &["resume", &run, "--answers", &said]);
    terminal.until("Resuming: 1");
    terminal.until("Enter accepts the recommendation: Stop");
    terminal.press("\n");
    assert_eq!((terminal.end().0, panel.run().1.as_str()), (Some(6), "stopped"));
}

// P-347, P-348: an answered question is not repeated; a person who leaves did not answer.
#[test]
fn a_question_about_the_tree_can_be_interrupted() {
    let script = format!("echo x > dirty.txt\n{}{}", init(), result(|_| {}));
    let panel = Panel::in_project(with_claude(&script));
    let seats = panel.seats().replacen("replay:", "claude,replay:", 1);
    let seats = seats.rsplit_once(',').unwrap().0;
    let arguments = ["design", "--auto", "--no-probe", "--seats", seats, FEATURE];
    let mut terminal = Terminal::open(&panel.project, 80, &arguments);
    terminal.until("Enter accepts the recommendation: Cancel");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    let mut terminal = Terminal::open(&panel.project, 80, &["resume", &run, "--no-probe"]);
    terminal.until("Enter accepts the recommendation: Cancel");
    terminal.press("\n");
    assert_eq!((terminal.end().0, panel.run().1.as_str()), (Some(6), "ended"));
}

// Text from agents is shown, and the terminal obeys none of it.
#[test]
fn a_terminal_is_shown_no_escapes_of_others() {
    let panel = Panel::new();
    let mut knows = answers();
    let sketch = knows.get_mut("sketch/Cursor-Arch").unwrap();
    *sketch += "\u{1b}]0;owned\u{7} here \u{202e}and\u{2066}there\u{200b}.\n";
    panel.recorded("cursor", &knows);
    assert_eq!(panel.design(&[]).code, Some(0));
    let (run, _) = panel.run();
    let artifact = ["show", &run, "--artifact", "cursor-sketch-arch-output.txt"];
    for arguments in [&artifact[..], &["show", &run, "--json"]] {
        let (code, shown) = Terminal::open(&panel.project, 80, arguments).end();
        assert!(code == Some(0) && shown.contains("owned"), "{shown}");
        let orders = ['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}', '\u{200b}'];
        assert!(!shown.contains(orders), "{shown}");
    }
}
