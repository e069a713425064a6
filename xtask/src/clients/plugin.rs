//! The plugin for Claude Code, installed by Claude Code itself: it is valid, its command runs
//! Convoke, and its hooks bring the wake-up.

use std::path::Path;

use serde_json::{Value, json};

use super::claude;
use super::user::{User, finished};
use super::whole_and_once;
use crate::model_server::{Answer, ModelServer};
use crate::{Error, root};

/// The line of `convoke runs` for a completed run.
const ENDED: &str = "  ended  (rehearsal) Let people keep their notes";

/// Installs the plugin.
pub(super) fn install(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    let manifest = root().join("plugin").display().to_string();
    for words in [
        &["validate", "--strict", &manifest][..],
        &["validate", "--strict", "./"],
        // As the README has it; without the slash, it is no path.
        &["marketplace", "add", "./"],
        &["install", "convoke@convoke"],
    ] {
        let mut claude = claude::command(user, bin, server);
        finished(claude.current_dir(root()).arg("plugin").args(words))?;
    }
    Ok(())
}

/// Installs the plugin and calls its command, whose model then calls Convoke.
pub(super) fn check(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    install(user, bin, server)?;
    let call = |words: &str| {
        let input = json!({ "command": format!("convoke {words}"), "description": "Plan" });
        Answer::Tool { name: "Bash", input }
    };
    let said = Answer::Text("It is planned.".to_owned());
    server.will_answer([call("design --rehearse"), call("runs"), said]);
    let mut claude = claude::command(user, bin, server);
    claude.args(["-p", "/convoke:design --rehearse", "--verbose"]);
    let printed = finished(claude.args(["--output-format", "stream-json"]))?;
    is_listed(&printed)?;
    let prompts = server.prompts();
    let [asked, begun, ended] = &prompts[..] else {
        return Err(format!("the model was asked {} times, and not three", prompts.len()).into());
    };
    holds(asked, "Have `convoke` plan this: --rehearse", "the command's text")?;
    // The output is longer than the client passes on.
    holds(begun, "This is a rehearsal: every answer was recorded.", "the rehearsal")?;
    holds(ended, ENDED, "the run's end")?;
    whole_and_once(server, 3)
}

/// Checks what the session says of itself at its beginning.
fn is_listed(printed: &str) -> Result<(), Error> {
    let lines = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let init =
        lines.into_iter().find(|line| line["subtype"] == "init").ok_or("no session began")?;
    for (list, name) in [("slash_commands", "convoke:design"), ("skills", "convoke:convoke")] {
        let names = init[list].as_array().cloned().unwrap_or_default();
        if !names.contains(&json!(name)) {
            return Err(format!("{name} is not among the {list}: {names:?}").into());
        }
    }
    Ok(())
}

fn holds(prompt: &str, text: &str, what: &str) -> Result<(), Error> {
    if prompt.contains(text) {
        Ok(())
    } else {
        Err(format!("{what} did not reach the model").into())
    }
}
