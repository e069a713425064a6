//! Prompts and sums against `cat` of what they are made from, and the reads of a long transcript
//! against `jq`, which parses every line and does nothing else.

use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::Command;

use convoke_domain::client::Client;
use convoke_domain::receipt::Contents;
use convoke_domain::receipt::sought::Sought;
use convoke_engine::transcript::reads::{WantedReads, reads};
use serde_json::{Value, json};

use super::{MB, Row, Sink, ratio, stopwatch, take_turns, time};
use crate::process::command;
use crate::{Error, root};

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let claude = top.path().join("claude.jsonl");
    let codex = top.path().join("codex.jsonl");
    write(&claude, claude_turn)?;
    write(&codex, codex_turn)?;
    let features = top.path().join("project/docs/features");
    write_features(&features)?;
    Ok(vec![
        prompt_against_cat(&features)?,
        savings_against_cat(&features)?,
        against_jq("reads of 50 MB of Claude Code / `jq -c .`", Client::Claude, &claude)?,
        against_jq("reads of 50 MB of Codex / `jq -c .`", Client::Codex, &codex)?,
    ])
}

/// How many features savings are measured over, each of 75 KB; the first one is larger.
const FEATURES: usize = 100;

/// The documents of a feature and their shares of its size, in percent.
const DOCUMENTS: [(&str, usize); 5] =
    [("prd.md", 20), ("spec.md", 15), ("design.md", 30), ("plan.md", 20), ("tasks.md", 15)];

fn write_features(features: &Path) -> Result<(), Error> {
    let line = "A sentence of a document, of about the usual length, with nothing in it.\n";
    for number in 0..FEATURES {
        let folder = features.join(format!("{number:03}-feature"));
        fs::create_dir_all(&folder)?;
        let size = if number == 0 { 180_000 } else { 75_000 };
        for (name, share) in DOCUMENTS {
            fs::write(folder.join(name), line.repeat(size * share / 100 / line.len()))?;
        }
    }
    Ok(())
}

/// Every document of some features, as `cat` takes them.
fn documents(features: &Path, numbers: std::ops::Range<usize>) -> Command {
    let mut cat = command("cat");
    for number in numbers {
        let folder = features.join(format!("{number:03}-feature"));
        cat.args(DOCUMENTS.map(|(name, _)| folder.join(name)));
    }
    cat
}

fn convoke(features: &Path, arguments: &[&str]) -> Command {
    let mut convoke = command(root().join("target/release/convoke"));
    convoke.current_dir(features).arg("dispatch").args(arguments);
    convoke
}

/// The role that reads most, beside a document that is pasted.
fn prompt_against_cat(features: &Path) -> Result<Row, Error> {
    let arguments = ["prompt", "create-tasks/task-reviewer", "--feature", "000-feature"];
    let ours = || time(convoke(features, &arguments), Sink::Pipe);
    let cat = || time(documents(features, 0..1), Sink::Pipe);
    let (ours, theirs) = take_turns(40, ours, cat)?;
    Ok(ratio("prompt on a feature of 180 KB / cat of it", ours, theirs, 3.0))
}

fn savings_against_cat(features: &Path) -> Result<Row, Error> {
    let path = features.display().to_string();
    let ours = || time(convoke(features, &["savings", "--features", &path]), Sink::Pipe);
    let cat = || time(documents(features, 0..FEATURES), Sink::Pipe);
    let (ours, theirs) = take_turns(20, ours, cat)?;
    Ok(ratio("savings over 100 features of 75 KB / cat of them", ours, theirs, 10.0))
}

fn against_jq(what: &'static str, client: Client, path: &Path) -> Result<Row, Error> {
    // Searched for in every output, and found in none.
    let sought: Vec<_> = (0..120).map(|n| format!("{n} words that are nowhere")).collect();
    let sought = sought.join("\n");
    let texts: Vec<_> =
        Sought::new("/project/file-7.md", &Contents::Text(&sought)).into_iter().collect();
    let wanted = WantedReads {
        folder: Some(Path::new("/project")),
        names: &["file-7.md"],
        texts: &texts,
        answer: None,
    };
    let ours = || {
        stopwatch(|| {
            let session = reads(client, BufReader::new(File::open(path)?), &wanted)?;
            if session.reads.is_empty() { Err("nothing was read".into()) } else { Ok(session) }
        })
    };
    let jq = || {
        let mut jq = command("jq");
        jq.args(["-c", "."]).arg(path);
        time(jq, Sink::Null)
    };
    let (ours, theirs) = take_turns(3, ours, jq)?;
    Ok(ratio(what, ours, theirs, 0.25))
}

/// Writes turns until there are enough.
fn write(path: &Path, turn: fn(usize, &str) -> Vec<Value>) -> Result<(), Error> {
    let lines: Vec<_> = (0..120).map(|n| format!("{n} words \"and\" more words\\n")).collect();
    let text = lines.join("\n");
    let mut file = File::create(path)?;
    let (mut written, mut number) = (0, 0);
    while written < 50 * MB {
        for line in turn(number, &text) {
            let line = format!("{line}\n");
            file.write_all(line.as_bytes())?;
            written += line.len();
        }
        number += 1;
    }
    Ok(())
}

fn claude_turn(number: usize, text: &str) -> Vec<Value> {
    let (id, path) = (format!("call-{number}"), format!("/project/file-{}.md", number % 50));
    let call =
        json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": path } });
    let file = json!({ "filePath": path, "content": text, "numLines": 120, "startLine": 1, "totalLines": 120 });
    let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
    vec![
        json!({ "type": "assistant", "uuid": id, "cwd": "/project", "message": { "id": id, "content": [call] } }),
        json!({ "type": "user", "uuid": id, "cwd": "/project", "message": { "content": [result] },
                "toolUseResult": { "type": "text", "file": file } }),
        json!({ "type": "api-request", "params": { "betas": [text] }, "tail": [id] }),
    ]
}

fn codex_turn(number: usize, text: &str) -> Vec<Value> {
    let (id, name) = (format!("call-{number}"), format!("file-{}.md", number % 50));
    let arguments = json!({ "cmd": format!("cat {name}") }).to_string();
    let output = format!("Process exited with code 0\nOutput:\n{text}");
    let item = json!({ "type": "CommandExecution", "id": id, "aggregated_output": text });
    vec![
        json!({ "type": "response_item", "payload": { "type": "function_call",
                "name": "exec_command", "arguments": arguments, "call_id": id } }),
        json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": item } }),
        json!({ "type": "response_item", "payload": { "type": "function_call_output",
                "call_id": id, "output": output } }),
    ]
}
