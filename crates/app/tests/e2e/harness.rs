//! A project folder of a test's own, and the binary run in it with a clean environment.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Once, mpsc};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::json_checker::faults_of;

/// Longer than any test should take; only a hanging program ever waits for it.
const DEADLINE: Duration = Duration::from_mins(1);

/// A user without rights of their own, for tests that must be refused.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

pub(crate) struct Project {
    top: TempDir,
    variables: Vec<(String, String)>,
}

/// The output and exit code of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or("killed".to_owned(), |code| code.to_string());
        write!(f, "exit: {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

impl Outcome {
    /// Returns the outcome with what differs between runs made the same: ids are numbered in order
    /// of appearance, times are blanked, and the test's own folder is named.
    pub(crate) fn stable(&self, project: &Project) -> String {
        let top = project.top.path().display().to_string();
        let text = self.to_string().replace(&top, "TOP");
        let mut ids: Vec<String> = Vec::new();
        let mut stable = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("t-") {
            let id = rest.get(at..at + 7).unwrap_or_default();
            let is_id = id.len() == 7 && id[2..].chars().all(|c| c.is_ascii_hexdigit());
            let end = if is_id { at + 7 } else { at + 2 };
            stable += &rest[..at];
            if is_id {
                let known = ids.iter().position(|known| known == id);
                let number = known.unwrap_or_else(|| {
                    ids.push(id.to_owned());
                    ids.len() - 1
                });
                stable = stable + "t-" + &(number + 1).to_string();
            } else {
                stable += "t-";
            }
            rest = &rest[end..];
        }
        blank_times(&(stable + rest))
    }
}

/// Blanks the clock in lines such as `- 10:32 - @backend` and `#7 - 10:32 - @backend`.
fn blank_times(text: &str) -> String {
    let blank = |line: &str| {
        let digits = line.trim_start().strip_prefix('#').unwrap_or_default();
        let number = digits.find(' ').map_or(0, |end| line.len() - digits.len() + end + 1);
        let (number, line) = line.split_at(number);
        match (line.get(..2), line.get(7..)) {
            (Some("- "), Some(rest)) if rest.starts_with(" - ") => format!("{number}- HH:MM{rest}"),
            _ => format!("{number}{line}"),
        }
    };
    text.lines().map(blank).collect::<Vec<_>>().join("\n")
}

impl Project {
    /// Makes a folder without any file in it.
    pub(crate) fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let project = Self { top, variables: Vec::new() };
        fs::create_dir(project.root()).unwrap();
        #[cfg(unix)]
        set_mode(project.top.path(), 0o755);
        project
    }

    /// Makes a project with documents in its design folder.
    pub(crate) fn with_documents(documents: &[(&str, &str)]) -> Self {
        documents.iter().fold(Self::new(), |project, (name, text)| project.document(name, text))
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.top.path().join("project")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn design(&self, name: &str) -> PathBuf {
        self.path(".moai/design").join(name)
    }

    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn document(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(&format!(".moai/design/{name}.md"), content)
    }

    pub(crate) fn design_yaml(self, section: &str) -> Self {
        let text = format!("design:\n  design_docs: {section}\n");
        self.file(".moai/config/sections/design.yaml", text)
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs `convoke` with the project as current folder.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run_program(Path::new(env!("CARGO_BIN_EXE_convoke")), arguments);
        fits_its_schema(arguments, outcome)
    }

    /// Runs a program with the project as current folder.
    pub(crate) fn run_program(&self, program: &Path, arguments: &[&str]) -> Outcome {
        finish(self.command(program, arguments))
    }

    /// Runs `convoke` with this text on its standard input.
    #[track_caller]
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        let path = self.top.path().join("input");
        fs::write(&path, input).unwrap();
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_convoke")), arguments);
        command.stdin(fs::File::open(path).unwrap());
        fits_its_schema(arguments, finish(command))
    }

    /// Runs a line in a shell, as clients run hooks.
    pub(crate) fn shell(&self, line: &str, input: &str) -> Outcome {
        let path = self.top.path().join("input");
        fs::write(&path, input).unwrap();
        let mut command = self.command(Path::new("/bin/sh"), &["-c", line]);
        command.stdin(fs::File::open(path).unwrap());
        finish(command)
    }

    /// Runs `convoke` and returns what it printed, without the last line ending.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        outcome.stdout.trim_end_matches('\n').to_owned()
    }

    /// Makes the project a checkout of a branch.
    pub(crate) fn on_branch(self, branch: &str) -> Self {
        self.file(".git/HEAD", format!("ref: refs/heads/{branch}\n"))
    }

    /// Makes the project a checkout of a branch that git itself takes for one.
    pub(crate) fn in_repository(self, branch: &str) -> Self {
        let project = self.on_branch(branch);
        for name in ["objects", "refs"] {
            fs::create_dir(project.path(".git").join(name)).unwrap();
        }
        project
    }

    /// Runs `convoke brief --json` and returns the document.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let outcome = self.run(&[&["brief", "--json"], arguments].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
        serde_json::from_str(&outcome.stdout).unwrap()
    }

    /// Runs `convoke` as a user that file permissions stop, even when the tests run as root.
    #[cfg(unix)]
    pub(crate) fn run_without_rights(&self, arguments: &[&str]) -> Outcome {
        use std::os::unix::process::CommandExt;

        let program = self.top.path().join("convoke");
        fs::copy(env!("CARGO_BIN_EXE_convoke"), &program).unwrap();
        let mut command = self.command(&program, arguments);
        if self.runs_as_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        finish(command)
    }

    /// File permissions do not stop root: it can read an unreadable file.
    #[cfg(unix)]
    fn runs_as_root(&self) -> bool {
        let path = self.top.path().join("unreadable");
        fs::write(&path, "").unwrap();
        set_mode(&path, 0o000);
        fs::read(&path).is_ok()
    }

    #[expect(clippy::disallowed_methods, reason = "the tests' door to processes")]
    pub(crate) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.top.path().join("home"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Returns every file and folder below the project with its content's length.
    pub(crate) fn listing(&self) -> BTreeMap<PathBuf, u64> {
        let mut listing = BTreeMap::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let metadata = fs::symlink_metadata(entry.path()).unwrap();
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
                listing.insert(entry.path(), metadata.len());
            }
        }
        listing
    }
}

/// Builds the parser of diagrams beside `convoke`, once for all tests: Cargo builds no program of
/// another package for them.
#[expect(clippy::disallowed_methods, reason = "the tests' door to processes")]
pub(crate) fn build_parser_of_diagrams() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_convoke")).parent().unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let profile = if name == "debug" { "dev" } else { name };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--package", "convoke-diagram"])
            .args(["--profile", profile, "--target-dir"])
            .arg(folder.parent().unwrap())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    });
}

#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Prints that a test could not run here, bypassing the capture of the test runner.
#[expect(clippy::disallowed_methods, reason = "the tests' door to the terminal")]
pub(crate) fn skipped(why: &str) {
    io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
}

/// Passes on what a command printed, unless it is JSON that the reference does not describe.
#[track_caller]
fn fits_its_schema(arguments: &[&str], outcome: Outcome) -> Outcome {
    let faults = faults_of(arguments, &outcome.stdout);
    assert!(faults.is_empty(), "{arguments:?}: {}\n{outcome}", faults.join("\n"));
    outcome
}

/// Waits for a program to end, and stops it when it hangs.
fn finish(mut command: Command) -> Outcome {
    let mut child = spawn(&mut command);
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let stdout = received(&stdout, &mut child);
    let stderr = received(&stderr, &mut child);
    Outcome { code: child.wait().unwrap().code(), stdout, stderr }
}

/// Starts a program. A copy that was just written may still be open in a process that another test
/// is starting at this moment; that passes.
fn spawn(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::yield_now(),
            started => return started.unwrap(),
        }
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        sender.send(String::from_utf8(bytes).unwrap()).unwrap();
    });
    receiver
}

fn received(stream: &mpsc::Receiver<String>, child: &mut Child) -> String {
    stream.recv_timeout(DEADLINE).unwrap_or_else(|_| {
        child.kill().unwrap();
        "(the program hung and was stopped)\n".to_owned()
    })
}
