//! A new user: one plan is imported, hooks are installed, nothing else is set up, and a compacted
//! session receives its wake-up. The agent of a session is changed from inside it.

use std::path::Path;

use serde_json::json;

use super::user::{User, finished};
use super::{claude, codex, compacted};
use crate::Error;
use crate::model_server::{Answer, ModelServer};

/// A plan in a usual form.
const PLAN: &str = "# Parser\n\n**Goal:** Read settings.\n\n### Task 1: Write the parser\n\nBegin with a test.\n\n### Task 2: Write Codex docs\n\nIn docs/.\n";

/// Begins with two commands, in a repository without any file of Convoke's.
fn begin(user: &User, client: &str) -> Result<(), Error> {
    user.write("project/plan.md", PLAN)?;
    let mut git = user.plain(Path::new("/usr/bin/git"));
    finished(git.args(["init", "--quiet", "--initial-branch=main"]))?;
    user.convoke(&["task", "import", "plan.md"])?;
    user.convoke(&["hooks", "install", client])?;
    let settings = user.convoke(&["hooks", "status", client])?;
    if settings.contains("agent: @me (convoke.local.toml)") {
        return Ok(());
    }
    Err(format!("no agent was bound:\n{settings}").into())
}

/// Tries Claude Code.
pub(super) fn check_claude(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    begin(user, "claude")?;
    let ask = |prompt: &str, words: &[&str]| {
        let mut claude = claude::command(user, bin, server);
        claude.args(["-p", prompt, "--output-format", "json"]).args(words);
        finished(claude.args(["--allowedTools", "Bash(convoke *)"]))
    };
    ask("hello", &["--session-id", claude::SESSION])?;
    woken_as_me(server)?;
    ask("/compact", &["--resume", claude::SESSION])?;
    ask("go on", &["--resume", claude::SESSION])?;
    compacted(server, "This session is being continued")?;
    woken_as_me(server)?;
    user.knows_of_arrival(&["claude"])?;
    // From inside, the session is known by what the client says of it.
    let input = json!({ "command": "convoke agent use max", "description": "Change the agent" });
    let said = Answer::Text("Done.".to_owned());
    server.will_answer([Answer::Tool { name: "Bash", input }, said]);
    ask("be max", &["--resume", claude::SESSION])?;
    holds(server, &format!("claude session {} belongs to @max", claude::SESSION))
}

/// Tries Codex.
pub(super) fn check_codex(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    codex::configure(user, server)?;
    begin(user, "codex")?;
    trust_folder(user)?;
    let ask = |words: &[&str]| finished(codex::command(user, bin).args(words));
    ask(&["hello"])?;
    woken_as_me(server)?;
    server.will_count(9000);
    ask(&["resume", "--last", "go on"])?;
    ask(&["-c", "model_auto_compact_token_limit=5000", "resume", "--last", "and on"])?;
    compacted(server, "Another language model started")?;
    woken_as_me(server)?;
    ask(&["resume", "--last", "and on and on"])?;
    user.knows_of_arrival(&["codex"])?;
    // Its sandbox lets nothing write, so the store is only read.
    let input = json!({ "cmd": "printf 'in thread %s.' \"$CODEX_THREAD_ID\"" });
    let said = Answer::Text("Done.".to_owned());
    server.will_answer([Answer::Tool { name: "exec_command", input }, said]);
    let printed = ask(&["resume", "--last", "who are you"])?;
    let thread = printed.split("\"thread_id\":\"").nth(1).and_then(|rest| rest.split('"').next());
    holds(server, &format!("in thread {}.", thread.ok_or("there is no thread")?))
}

/// Answers Codex's question in a folder that is new to it; until then it reads no settings there.
fn trust_folder(user: &User) -> Result<(), Error> {
    let path = user.home().join(".codex/config.toml");
    let config = std::fs::read_to_string(&path)?;
    let project = user.project();
    let trusted = format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", project.display());
    Ok(std::fs::write(path, format!("{config}{trusted}"))?)
}

/// Checks that the newest prompt has the wake-up of the default agent, once.
fn woken_as_me(server: &ModelServer) -> Result<(), Error> {
    let prompts = server.prompts();
    let newest = prompts.last().ok_or("the model was never asked")?;
    for words in ["[convoke wake-up 1/1 ", "You are @me", "Task 1: Write the parser"] {
        if !newest.contains(words) {
            return Err(format!("`{words}` is not in prompt {}", prompts.len()).into());
        }
    }
    match newest.matches("[convoke wake-up 1/1 ").count() {
        1 => Ok(()),
        count => Err(format!("the wake-up is in prompt {} {count} times", prompts.len()).into()),
    }
}

fn holds(server: &ModelServer, words: &str) -> Result<(), Error> {
    let prompts = server.prompts();
    let newest = prompts.last().ok_or("the model was never asked")?;
    if newest.contains(words) { Ok(()) } else { Err(format!("`{words}` was not said").into()) }
}
