//! Real clients, driven against a stand-in for their model: what `convoke hooks install` wrote,
//! unedited, must bring a wake-up larger than the client's limit to the model, whole and once.
//!
//! Every client runs with an environment of its own: its own home, a key that is none, and no
//! address but the loopback. A client that cannot be installed is skipped aloud.

mod model_server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use self::model_server::ModelServer;
use crate::packages::{FOR_CLIENTS, folder_of, install};
use crate::process::{command, run as run_program, succeeds};
use crate::{Error, root, say};

/// Lines in the skill; enough for three parts.
const RULES: usize = 450;

/// A session's name, as Claude Code wants it.
const SESSION: &str = "7b0c9b7e-52f1-4d0e-9a55-0f5b1f6d2a11";

/// A client from the npm registry.
struct Package {
    name: &'static str,
    version: &'static str,
}

const CLAUDE: Package = Package { name: "@anthropic-ai/claude-code", version: "2.1.325" };
const CODEX: Package = Package { name: "@openai/codex", version: "0.166.0" };

/// Runs every client that can be had.
pub fn run() -> Result<(), Error> {
    install(&FOR_CLIENTS)?;
    run_program("cargo", &["build", "--quiet"])?;
    for (package, check) in [(&CLAUDE, claude as fn(&Path) -> Result<(), Error>), (&CODEX, codex)] {
        match package.install() {
            Some(bin) => {
                check(&bin).map_err(|error| format!("{}: {error}", package.name))?;
                say(&format!(
                    "{} {}: the wake-up arrived, whole and once",
                    package.name, package.version
                ));
            }
            None => say(&format!(
                "SKIPPED: {} {} cannot be installed here",
                package.name, package.version
            )),
        }
    }
    Ok(())
}

impl Package {
    /// Installs the package below the build folder, once, and returns where its programs are.
    fn install(&self) -> Option<PathBuf> {
        let folder = root().join("target/clients").join(self.name).join(self.version);
        let bin = folder.join("node_modules/.bin");
        let spec = format!("{}@{}", self.name, self.version);
        let prefix = folder.display().to_string();
        let arguments =
            ["install", "--silent", "--no-audit", "--no-fund", "--prefix", &prefix, &spec];
        (bin.is_dir() || succeeds("npm", &arguments)).then_some(bin)
    }
}

/// A user with a project in the middle of a task, by a skill longer than any client hands on.
struct User {
    top: tempfile::TempDir,
}

impl User {
    fn new() -> Result<Self, Error> {
        let user = Self { top: tempfile::tempdir()? };
        let rules: Vec<_> =
            (0..RULES).map(|n| format!("Rule {n}: this first, then that, in order.")).collect();
        user.write(".git/HEAD", "ref: refs/heads/main\n")?;
        user.write(".claude/skills/test-driven-development.md", &rules.join("\n"))?;
        user.write("convoke.toml", "[wake]\nagent = 'june'\nwake_budget = 100000\n")?;
        user.convoke(&["task", "add", "Build the parser"])?;
        Ok(user)
    }

    fn home(&self) -> PathBuf {
        self.top.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.top.path().join("project")
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(fs::write(path, text)?)
    }

    fn convoke(&self, arguments: &[&str]) -> Result<(), Error> {
        let program = std::env::current_exe()?.with_file_name("convoke");
        finished(self.scrubbed(&program).args(arguments))
    }

    /// Prepares a program with nothing of ours in its environment.
    fn scrubbed(&self, program: &Path) -> Command {
        let mut it = command("timeout");
        it.arg("120").arg(program).current_dir(self.project());
        let path = folder_of("node").map_or(String::new(), |folder| folder + ":") + "/usr/bin:/bin";
        it.env_clear().env("HOME", self.home()).env("PATH", path);
        it
    }
}

fn finished(command: &mut Command) -> Result<(), Error> {
    let Output { status, stdout, stderr } = command.output()?;
    if status.success() {
        return Ok(());
    }
    let said = [stdout, stderr].concat();
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&said)).into())
}

/// Begins a session, compacts it, and goes on.
fn claude(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    user.convoke(&["hooks", "install", "claude"])?;
    let ask = |prompt: &str, session: [&str; 2]| {
        let mut claude = user.scrubbed(&bin.join("claude"));
        claude.args(["-p", prompt, "--output-format", "json"]).args(session);
        claude.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "no-key");
        let quiet = [
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ];
        claude.envs(quiet.map(|name| (name, "1"))).env("CLAUDE_CODE_MAX_RETRIES", "1");
        finished(&mut claude)
    };
    ask("hello", ["--session-id", SESSION])?;
    whole_and_once(&server)?;
    ask("/compact", ["--resume", SESSION])?;
    ask("go on", ["--resume", SESSION])?;
    whole_and_once(&server)
}

/// Begins a session and resumes it. Codex runs hooks that nobody trusted only with its bypass flag;
/// the product never passes it.
fn codex(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    let config = format!(
        "model = \"stand-in\"\nmodel_provider = \"stand-in\"\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n[model_providers.stand-in]\nname = \"stand-in\"\n\
         base_url = \"{}/v1\"\nenv_key = \"NO_KEY\"\nwire_api = \"responses\"\n",
        server.url()
    );
    fs::create_dir_all(user.home().join(".codex"))?;
    fs::write(user.home().join(".codex/config.toml"), config)?;
    user.convoke(&["hooks", "install", "codex", "--user"])?;
    let ask = |words: &[&str]| {
        let mut codex = user.scrubbed(&bin.join("codex"));
        let flags = [
            "--json",
            "--sandbox",
            "read-only",
            "--skip-git-repo-check",
            "--disable",
            "plugins",
            "--dangerously-bypass-hook-trust",
        ];
        finished(codex.arg("exec").args(flags).args(words).env("NO_KEY", "no-key"))
    };
    ask(&["hello"])?;
    whole_and_once(&server)?;
    ask(&["resume", "--last", "go on"])?;
    whole_and_once(&server)
}

/// Checks the newest prompt: every part is there once, marked at both ends, and no rule is missing.
fn whole_and_once(server: &ModelServer) -> Result<(), Error> {
    let prompts = server.prompts();
    let newest = prompts.last().ok_or("the model was never asked")?;
    for part in ["1/3", "2/3", "3/3"] {
        for mark in
            [format!("[convoke wake-up {part} "), format!("[end of convoke wake-up {part} ")]
        {
            let count = newest.matches(&mark).count();
            if count != 1 {
                return Err(format!("`{mark}` is in the prompt {count} times").into());
            }
        }
    }
    let missing = (0..RULES).find(|rule| !newest.contains(&format!("Rule {rule}:")));
    missing.map_or(Ok(()), |rule| Err(format!("rule {rule} did not arrive").into()))
}
