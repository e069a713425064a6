//! A user with a project in the middle of a task, with a skill longer than any client passes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::Error;
use crate::packages::folder_of;
use crate::process::command;

/// Lines in the skill: 25 KB, which are three parts.
pub(super) const RULES: usize = 600;

/// A user's home and project.
pub(super) struct User {
    top: tempfile::TempDir,
}

impl User {
    /// A user with nothing but a home and an empty folder.
    pub(super) fn fresh() -> Result<Self, Error> {
        let user = Self { top: tempfile::tempdir()? };
        user.write("home/tmp/.keep", "")?;
        fs::create_dir(user.project())?;
        Ok(user)
    }

    pub(super) fn new() -> Result<Self, Error> {
        let user = Self::fresh()?;
        let rules: Vec<_> =
            (0..RULES).map(|n| format!("Rule {n}: this first, then that, in order.")).collect();
        user.write("project/.git/HEAD", "ref: refs/heads/main\n")?;
        user.write("project/.claude/skills/test-driven-development.md", &rules.join("\n"))?;
        let settings = "[wake]\nagent = 'june'\nwake_budget = 100000\n";
        user.write("home/.config/convoke/config.toml", settings)?;
        user.write("home/tmp/.keep", "")?;
        user.convoke(&["task", "add", "Build the parser", "--skill", "test-driven-development"])?;
        Ok(user)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.top.path().join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.top.path().join("project")
    }

    /// Writes a file of the user's.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.top.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(fs::write(path, text)?)
    }

    /// Runs Convoke and returns its output.
    pub(super) fn convoke(&self, arguments: &[&str]) -> Result<String, Error> {
        let program = std::env::current_exe()?.with_file_name("convoke");
        finished(self.scrubbed(&program).args(arguments))
    }

    /// Checks that the hooks of a client know their last wake-up to have arrived.
    pub(super) fn knows_of_arrival(&self, client: &[&str]) -> Result<(), Error> {
        let status = self.convoke(&[&["hooks", "status"], client].concat())?;
        if status.contains("arrived: seen in the client's record") {
            return Ok(());
        }
        Err(format!("the wake-up was not found in the client's record:\n{status}").into())
    }

    /// Prepares a program with none of Convoke's variables, and with a limit.
    pub(super) fn scrubbed(&self, program: &Path) -> Command {
        let mut client = self.scrub(command("timeout"), program);
        client.arg("180").arg(program);
        client
    }

    /// Prepares a program with none of Convoke's variables, which has limits of its own.
    pub(super) fn plain(&self, program: &Path) -> Command {
        self.scrub(command(program), program)
    }

    fn scrub(&self, mut client: Command, program: &Path) -> Command {
        client.current_dir(self.project());
        let beside =
            program.parent().map_or(String::new(), |folder| format!("{}:", folder.display()));
        let node = folder_of("node").map_or(String::new(), |folder| folder + ":");
        // Hooks call Convoke by name.
        let ours = std::env::current_exe().ok();
        let ours = ours.as_deref().and_then(Path::parent);
        let ours = ours.map_or(String::new(), |folder| format!("{}:", folder.display()));
        client.env_clear().env("PATH", format!("{beside}{ours}{node}/usr/bin:/bin"));
        client.env("HOME", self.home()).env("TMPDIR", self.home().join("tmp"));
        client
    }
}

impl User {
    /// Finds every living process that has this user's home, or is in their project.
    pub(super) fn alive(&self) -> Vec<String> {
        let top = self.top.path().display().to_string();
        let is_theirs = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            let folder = fs::read_link(process.join("cwd")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&top)
                || folder.starts_with(self.top.path())
        };
        let words = |process: &Path| {
            let words = fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).replace('\0', " ")
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        processes
            .map(|entry| entry.path())
            .filter(|line| is_theirs(line))
            .map(|line| words(&line))
            .collect()
    }
}

/// Runs a program and returns what it printed.
pub(super) fn finished(command: &mut Command) -> Result<String, Error> {
    let Output { status, stdout, stderr } = command.output()?;
    let printed = String::from_utf8_lossy(&stdout).into_owned();
    if status.success() {
        return Ok(printed);
    }
    let said = String::from_utf8_lossy(&stderr);
    Err(format!("{command:?} failed: {printed}{said}").into())
}
