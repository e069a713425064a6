//! The reads of a long transcript against `jq`, which parses every line and does nothing else.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use convoke_domain::hook::Client;
use convoke_engine::transcript::reads::{Wanted, reads};
use serde_json::{Value, json};

use super::{MB, Row, Sink, ratio, stopwatch, take_turns, time};
use crate::Error;
use crate::process::command;

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let claude = top.path().join("claude.jsonl");
    let codex = top.path().join("codex.jsonl");
    write(&claude, claude_turn)?;
    write(&codex, codex_turn)?;
    Ok(vec![
        against_jq("reads of 50 MB of Claude Code / `jq -c .`", Client::Claude, &claude)?,
        against_jq("reads of 50 MB of Codex / `jq -c .`", Client::Codex, &codex)?,
    ])
}

fn against_jq(what: &'static str, client: Client, path: &Path) -> Result<Row, Error> {
    let wanted = Wanted { folder: Some(Path::new("/project")), names: &["file-7.md"] };
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
