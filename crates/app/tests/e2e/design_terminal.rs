//! A design at a terminal: what is drawn there, and what a person is asked.

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

/// A terminal with our program in it.
pub(crate) struct Terminal {
    pub(crate) convoke: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    text: String,
    /// How much of it was waited for.
    seen: usize,
}

impl Terminal {
    pub(crate) fn open(project: &Project, columns: u16, arguments: &[&str]) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let end = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
        let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), arguments);
        command.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
        let convoke = command.spawn().unwrap();
        // Nobody but the program holds its end now, so that we see when it is over.
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

    /// Waits until something is shown after all that was waited for before.
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

/// How many columns a terminal gives to a text of ours.
fn columns(text: &str) -> usize {
    text.chars().map(|c| if "📊✅❌⏳".contains(c) { 2 } else { 1 }).sum()
}

// P-91: one line in one place, however narrow; with what every lane has spent.
#[test]
fn the_table_stays_one_line_and_says_what_was_spent() {
    let project = Project::new();
    let (code, shown) = Terminal::open(&project, 60, &["design", "--rehearse"]).end();
    assert_eq!(code, Some(0), "{shown}");
    let tables: Vec<_> = shown.lines().filter(|line| line.contains('📊')).collect();
    assert!(tables.len() >= 10, "{shown}");
    for table in &tables {
        let line = table.trim_start_matches("\u{1b}[1A\u{1b}[2K");
        let is_table = line.starts_with('📊') || line.contains("k in all 📊");
        assert!(is_table && columns(line) <= 60, "{table}");
    }
    let again = tables.iter().filter(|table| table.starts_with("\u{1b}[1A\u{1b}[2K"));
    assert_eq!(
        again.count(),
        tables.len() - 2,
        "all but the first of each phase are drawn over it"
    );
    assert!(shown.contains("k in all 📊 Sketches (regular): 4 ✅\r\n"), "{shown}");
    let (_, usual) = Terminal::open(&project, 80, &["design", "--rehearse"]).end();
    let row = "k in all 📊 Arch ✅ 48s · Edge ✅ 57s · Innovation ✅ 39s · Pragmatic ✅ 31s";
    assert!(usual.contains(row), "{usual}");
    let (_, wide) = Terminal::open(&project, 400, &["design", "--rehearse"]).end();
    assert!(wide.contains(" | Codex-Pragmatic: ✅ 31s 13.3k |"), "{wide}");
}

// P-5: whoever says nothing is asked, if there is somebody.
#[test]
fn a_person_is_asked_what_is_to_be_designed() {
    let panel = Panel::new();
    let seats = panel.seats();
    let mut terminal = Terminal::open(&panel.project, 80, &["design", "--seats", &seats]);
    terminal.until("What is to be designed?");
    terminal.press("\u{1b}[A\n");
    terminal.until("keys such as arrows are no answer; once more");
    terminal.until("What is to be designed?");
    terminal.press("Keep notes in a folder\n");
    terminal.until("Enter takes the recommendation");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(panel.project.stdout(&["runs"]).contains("Keep notes in a folder"));
    let (code, shown) = Terminal::open(&panel.project, 80, &["design", "--auto"]).end();
    assert_eq!(code, Some(2), "{shown}");
    let mut nothing = Terminal::open(&panel.project, 80, &["design", "--seats", &seats]);
    nothing.until("What is to be designed?");
    nothing.press("\n");
    assert_eq!(nothing.end().0, Some(2));
}

// A slip of the finger is no answer, and Ctrl-C is one everywhere.
#[test]
fn a_mistyped_number_is_asked_for_again() {
    let panel = Panel::new();
    let seats = panel.seats();
    let mut terminal = Terminal::open(&panel.project, 80, &["design", "--seats", &seats, FEATURE]);
    terminal.until("Enter takes the recommendation");
    terminal.press("7\n");
    terminal.until("there is no option 7; once more");
    terminal.until("Enter takes the recommendation");
    terminal.press("-1\n");
    terminal.until("there is no option -1; once more");
    terminal.until("Enter takes the recommendation");
    terminal.press("\u{1b}[B\n");
    terminal.until("keys such as arrows are no answer; once more");
    terminal.until("Enter takes the recommendation");
    terminal.press("1\n");
    terminal.until("taken: ");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    assert_eq!(terminal.end().0, Some(130));
    let (run, _) = panel.run();
    panel.git(&["switch", "--quiet", "main"]);
    let mut terminal = Terminal::open(&panel.project, 80, &["resume", &run]);
    terminal.until("Enter takes the recommendation: Stop");
    terminal.press("yes\n");
    terminal.until("`yes` is none of the options; once more");
    terminal.until("Enter takes the recommendation: Stop");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains(&format!("convoke resume {run}")), "{shown}");
    // What was written down is taken once; whoever is asked again answers it.
    let said = panel.project.path("../said").display().to_string();
    fs::write(&said, "resume/ground: 1\n").unwrap();
    let mut terminal = Terminal::open(&panel.project, 80, &["resume", &run, "--answers", &said]);
    terminal.until("Resuming: 1");
    terminal.until("Enter takes the recommendation: Stop");
    terminal.press("\n");
    assert_eq!((terminal.end().0, panel.run().1.as_str()), (Some(6), "stopped"));
}

// P-347, P-348: who answers is asked once; whoever goes away did not answer.
#[test]
fn a_question_about_the_tree_can_be_interrupted() {
    let script = format!("echo x > dirty.txt\n{}{}", init(), result(|_| {}));
    let panel = Panel::in_project(with_claude(&script));
    let seats = panel.seats().replacen("replay:", "claude,replay:", 1);
    let seats = seats.rsplit_once(',').unwrap().0;
    let arguments = ["design", "--auto", "--no-probe", "--seats", seats, FEATURE];
    let mut terminal = Terminal::open(&panel.project, 80, &arguments);
    terminal.until("Enter takes the recommendation: Cancel");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    let mut terminal = Terminal::open(&panel.project, 80, &["resume", &run, "--no-probe"]);
    terminal.until("Enter takes the recommendation: Cancel");
    terminal.press("\n");
    assert_eq!((terminal.end().0, panel.run().1.as_str()), (Some(6), "ended"));
}

// What agents wrote is shown, and nothing of it is obeyed.
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
