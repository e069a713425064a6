//! Records, line by line.

use convoke_domain::receipt::{Contents, Demanded, Lines, ReadState, Seen, ShownText, receipts};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod acp;
mod codex_and_gemini;

fn session(client: Client, lines: &[Value]) -> SessionRecord {
    let record: Vec<_> = lines.iter().map(|line| format!("{line}\n")).collect();
    let folder = Some(Path::new("/p"));
    reads(
        client,
        record.concat().as_bytes(),
        &WantedReads { folder, names: &[], ..WantedReads::default() },
    )
    .unwrap()
}

/// Returns the state of a file of three lines.
fn standing(session: &SessionRecord) -> ReadState {
    let demanded = [Demanded { name: "a", path: "/p/a.md", now: Contents::Text("1\n2\n3\n") }];
    let answered = session.answer.as_ref().map(|answer| answer.step);
    receipts(&demanded, &session.reads, answered).remove(0).standing
}

fn claude(kind: &str, message: Value) -> Value {
    let mut line = json!({"type": kind, "uuid": "u", "cwd": "/p"});
    line["message"] = message;
    line
}

fn calls(id: &str, name: &str, input: Value) -> Value {
    let mut block = json!({"type": "tool_use", "id": id, "name": name});
    block["input"] = input;
    claude("assistant", json!({"id": format!("m-{id}"), "content": [block]}))
}

fn returns(id: &str, content: Value, result: Value) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id});
    block["content"] = content;
    let mut line = claude("user", json!({"content": [block]}));
    line["toolUseResult"] = result;
    line
}

fn says(message: &str, text: &str) -> Value {
    claude("assistant", json!({"id": message, "content": [{"type": "text", "text": text}]}))
}

fn whole(path: &str) -> Value {
    json!({"type": "text", "file": {"filePath": path, "content": "1\n2\n3\n", "numLines": 4, "startLine": 1, "totalLines": 4}})
}

fn read_whole(id: &str) -> [Value; 2] {
    [
        calls(id, "Read", json!({"file_path": "/p/a.md"})),
        returns(id, json!("1\t1\n2\t2\n3\t3\n4\t"), whole("/p/a.md")),
    ]
}

#[test]
fn the_answer_is_the_last_text_without_a_call() {
    let [call, result] = read_whole("1");
    let mut aside = call.clone();
    aside["message"]["id"] = json!("m");
    let late = ReadState::OnlyAfterAnswer;
    for (lines, answer, expected) in [
        (vec![call.clone(), result.clone(), says("m", "done")], Some("done"), ReadState::Whole),
        (
            vec![says("m", "I read"), aside, result.clone(), says("n", "done")],
            Some("done"),
            ReadState::Whole,
        ),
        // A text, then a call, then nothing more.
        (vec![says("m", "I read"), call.clone(), result.clone()], None, ReadState::Whole),
        (
            vec![
                says("m", "done"),
                json!({"type": "result", "uuid": "u"}),
                call.clone(),
                result.clone(),
            ],
            Some("done"),
            late,
        ),
        (
            vec![says("m", "one "), says("m", "two")],
            Some("one two"),
            ReadState::NotRead { attempts: 0 },
        ),
        (vec![call, result], None, ReadState::Whole),
    ] {
        let session = session(Client::Claude, &lines);
        assert_eq!(session.answer.as_ref().map(|answer| answer.text.as_str()), answer, "{lines:?}");
        assert_eq!(standing(&session), expected, "{lines:?}");
    }
}

#[test]
fn claudes_results_tell_how_much_was_shown() {
    let part = |first: usize, count: usize| json!({"type": "text", "file": {"filePath": "a.md", "content": "1\n2\n3\n", "numLines": count, "startLine": first, "totalLines": 4}});
    let null = Value::Null;
    for (content, result, expected) in [
        (json!("1\t1\n2\t2\n3\t3\n4\t"), part(1, 4), "Whole"),
        (json!("     1→1\n     2→2\n     3→3\n     4→"), part(1, 4), "Whole"),
        (json!("1\n2\n3\n"), part(1, 4), "Whole"),
        // A field beside the content was not shown.
        (json!("2\t2"), part(1, 4), "Range { first: 2, last: 2 }"),
        (json!("1\t1\n2\t"), part(1, 4), "Range { first: 1, last: 2 }"),
        (json!("1\t1\n[2 lines cut]"), part(1, 4), "Range { first: 1, last: 1 }"),
        (json!("x"), part(1, 4), "Some"),
        (json!("x"), json!({"type": "file_unchanged", "file": {}}), "nothing"),
        (json!("x"), part(9, 0), "nothing"),
        (json!("x"), json!({"type": "image", "file": {}}), "Whole"),
        (json!("x"), json!({"type": "pdf", "file": {}}), "Some"),
        // A subagent's record has no more than what it saw.
        (json!("1\t1\n2\t2\n3\t3\n4\t"), null.clone(), "Whole"),
        (
            json!([{"type": "text", "text": "1\t1\n2\t2\n3\t3\n\n<system-reminder>x</system-reminder>"}]),
            null.clone(),
            "Whole",
        ),
        (
            json!(
                "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
            ),
            null.clone(),
            "Whole",
        ),
        (
            json!(
                "<system-reminder>Warning: the file exists but is shorter than the provided offset (9)."
            ),
            null.clone(),
            "nothing",
        ),
        (json!("something else"), null, "Some"),
    ] {
        let lines = [
            calls("1", "Read", json!({"file_path": "a.md"})),
            returns("1", content.clone(), result),
        ];
        let session = session(Client::Claude, &lines);
        let told = match &session.reads[0].seen {
            Seen::Lines { lines, .. } => format!("{lines:?}"),
            Seen::Nothing { .. } | Seen::Maybe { .. } | Seen::Perhaps { .. } => {
                "nothing".to_owned()
            }
        };
        assert_eq!(told, expected, "{content}");
    }
}

#[test]
fn claudes_other_tools_show_files_too() {
    let null = Value::Null;
    let part = ReadState::Part { lines: vec![], of: Some(3) };
    let not_read = ReadState::NotRead { attempts: 0 };
    for (name, input, content, expected) in [
        ("Grep", json!({"output_mode": "content"}), "a.md:1:1", part.clone()),
        ("Grep", json!({"output_mode": "content", "path": "/p/a.md"}), "1:1", part.clone()),
        (
            "Grep",
            json!({"output_mode": "content", "path": "/p/a.md"}),
            "No matches found",
            not_read.clone(),
        ),
        ("Grep", json!({"pattern": "x"}), "Found 1 file\na.md", not_read.clone()),
        ("Glob", json!({"pattern": "*.md"}), "a.md", not_read.clone()),
        ("Edit", json!({"file_path": "/p/a.md"}), "done", not_read.clone()),
        ("Agent", json!({"prompt": "read a.md"}), "done", not_read.clone()),
        ("mcp__files__get", json!({"path": "a.md"}), "1", ReadState::Unsure),
        ("mcp__files__get", json!({"path": "b.md"}), "1", not_read.clone()),
        ("Bash", json!({"command": "cat a.md"}), "<persisted-output>\nOutput too large", part),
        (
            "Bash",
            json!({"command": "cat a.md"}),
            "Command running in background with ID: x",
            ReadState::Unsure,
        ),
        ("Bash", json!({"command": "cat a.md"}), "1\n2\n3", ReadState::Whole),
        (
            "Bash",
            json!({"command": "cat a.md"}),
            "1\n2",
            ReadState::Older { lines: vec![span(1, 3)] },
        ),
        ("Bash", json!({"command": 7}), "1\n2", not_read),
    ] {
        let lines = [calls("1", name, input.clone()), returns("1", json!(content), null.clone())];
        assert_eq!(
            standing(&session(Client::Claude, &lines)),
            expected,
            "{name} {input} {content}"
        );
    }
}

fn span(first: usize, last: usize) -> convoke_domain::receipt::Span {
    convoke_domain::receipt::Span { first, last }
}

#[test]
fn a_subagents_reads_are_its_own() {
    let [mut call, mut result] = read_whole("1");
    for line in [&mut call, &mut result] {
        line["isSidechain"] = json!(true);
    }
    let lines = [call.clone(), result.clone(), says("m", "done")];
    let main = session(Client::Claude, &lines);
    assert_eq!((main.of, standing(&main)), (FileReader::Answerer, ReadState::OnlySubagent));
    // In a record of its own, it is the one that answers.
    let own = session(Client::Claude, &lines[..2]);
    assert_eq!((own.of, standing(&own)), (FileReader::Subagent, ReadState::Whole));
    let mut empty = session(Client::Claude, &[says("m", "done")]);
    empty.add_subagent(own);
    assert_eq!(standing(&empty), ReadState::OnlySubagent);
    // Printed lines name the call that sent it.
    for line in [&mut call, &mut result] {
        line["isSidechain"] = Value::Null;
        line["parent_tool_use_id"] = json!("0");
    }
    let printed = session(Client::Claude, &[call, result, says("m", "done")]);
    assert_eq!(standing(&printed), ReadState::OnlySubagent);
}

#[test]
fn mentioned_files_were_shown_too() {
    let file = whole("/p/a.md");
    let attached = json!({"type": "attachment", "uuid": "u", "cwd": "/p",
        "attachment": {"type": "file", "filename": "/p/a.md", "content": file}});
    assert_eq!(
        standing(&session(Client::Claude, std::slice::from_ref(&attached))),
        ReadState::Whole
    );
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "u"});
    let mut keeping = boundary.clone();
    keeping["compactMetadata"] = json!({"preservedMessages": {"uuids": ["u"]}});
    let mut printed = boundary.clone();
    printed["compact_metadata"] = json!({"preserved_messages": {"uuids": ["v"]}});
    let mut clearing = json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "u"});
    clearing["microcompactMetadata"] = json!({"compactedToolIds": ["1"]});
    let mut of_other = clearing.clone();
    of_other["microcompactMetadata"] = json!({"compactedToolIds": ["2"]});
    let mut sidechain = boundary.clone();
    sidechain["isSidechain"] = json!(true);
    for (lines, expected) in [
        (vec![boundary.clone()], ReadState::Forgotten),
        (vec![boundary.clone(), attached], ReadState::Whole),
        (vec![boundary.clone(), says("m", "x")], ReadState::Forgotten),
        (vec![says("m", "x"), boundary], ReadState::Whole),
        (vec![keeping], ReadState::Whole),
        (vec![printed], ReadState::Forgotten),
        (vec![clearing], ReadState::Forgotten),
        (vec![of_other], ReadState::Whole),
        (vec![sidechain], ReadState::Whole),
    ] {
        let lines = [&read_whole("1")[..], &lines].concat();
        assert_eq!(standing(&session(Client::Claude, &lines)), expected, "{lines:?}");
    }
}

#[test]
fn a_printed_session_stays_where_it_went() {
    let bash = |id: &str, command: &str| {
        let mut lines = [
            calls(id, "Bash", json!({"command": command})),
            returns(id, json!("1\n2\n3"), json!({})),
        ];
        for line in &mut lines {
            line["cwd"] = Value::Null;
        }
        lines
    };
    let [one, two] = bash("1", "cd /p && ls");
    let [three, four] = bash("2", "cat a.md");
    let start = json!({"type": "system", "subtype": "init", "uuid": "u", "cwd": "/q"});
    assert_eq!(
        standing(&session(Client::Claude, &[start, one, two, three, four])),
        ReadState::Whole
    );
}

#[test]
fn only_texts_of_wanted_files_are_kept() {
    let [call, result] = read_whole("1");
    let record = format!(
        "{call}\n{result}\n{}\n{}\n",
        calls("2", "Bash", json!({"command": "jq . b.md"})),
        returns("2", json!("x"), json!({}))
    );
    let texts = |names: &[&str]| {
        let wanted = WantedReads { names, ..WantedReads::default() };
        let session = reads(Client::Claude, record.as_bytes(), &wanted).unwrap();
        let is_known =
            |read: &&Read| matches!(&read.seen, Seen::Lines { text: ShownText::Exactly(_), .. });
        (session.reads.len(), session.reads.iter().filter(is_known).count())
    };
    assert_eq!(texts(&[]), (2, 1));
    assert_eq!(texts(&["a.md"]), (1, 1));
    assert_eq!(texts(&["docs/b.md"]), (2, 0));
}

#[test]
fn lines_of_every_kind_are_passed_over() {
    let [call, result] = read_whole("1");
    let long = json!({"type": "other", "text": "y".repeat(3_000_000)});
    let mut record = format!("not json\n\n  \n[1]\n7\n{long}\n{call}\n").into_bytes();
    record.extend(b"\xff\xfe\x00binary\n");
    record.extend(result.to_string().replace("1\\n2", "1\\n\\u0032").bytes());
    record.extend(b"\r\n{\"type\": \"user\", \"uu");
    let session = reads(Client::Claude, record.as_slice(), &WantedReads::default()).unwrap();
    assert_eq!(session.lines, LineCount { understood: 2, passed_over: 6 });
    assert_eq!((session.ending, session.reads.len()), (RecordEnding::Cut, 1));
    let damaged: Vec<_> = session.damages.iter().map(|damage| damage.at.line).collect();
    assert_eq!(damaged, [8, 10], "empty lines count, plain words and other JSON are no damage");
}

#[test]
fn bytes_that_are_no_text_do_not_hide_a_read() {
    let [call, result] = read_whole("1");
    let mut record = format!("{call}\n").into_bytes();
    let result = result.to_string().replace("t2", "t~").replace("n2\\n3", "n~\\n3");
    record.extend(result.bytes().map(|byte| if byte == b'~' { 0xff } else { byte }));
    let session = reads(Client::Claude, record.as_slice(), &WantedReads::default()).unwrap();
    let Seen::Lines { lines, text, .. } = &session.reads[0].seen else { unreachable!() };
    assert_eq!((lines, text), (&Lines::Whole, &ShownText::Exactly("1\n\u{fffd}\n3\n".into())));
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for client in Client::ALL {
            let session = reads(client, bytes.as_slice(), &WantedReads::default()).unwrap();
            prop_assert_eq!(session.lines.understood, 0);
        }
    }

    // Lines with the right names and any values.
    #[test]
    fn any_values_are_read(
        kind in "user|assistant|attachment|result|response_item|item.completed|tool_use|tool_result|gemini|text|tool_call|message",
        value in prop_oneof![
            Just(json!(null)), Just(json!(7)), Just(json!(-1.5)), Just(json!("x")), Just(json!([])), Just(json!({})),
            Just(json!([{"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "a", "offset": "3", "limit": 1e30}}])),
            Just(json!({"type": "function_call_output", "call_id": "1", "output": [{"text": "x"}]})),
            Just(json!({"content": [{"type": "tool_result", "tool_use_id": "1", "content": [7]}]})),
            Just(json!({"readToolCall": {"args": {"path": "a", "limit": 0}, "result": {"success": 7}}})),
            Just(json!({"type": "file", "content": {"type": "text", "file": {"startLine": 18_446_744_073_709_551_615_u64, "numLines": 18_446_744_073_709_551_615_u64}}})),
            Just(json!({"tool": "read", "callID": "1", "state": {"status": "completed", "input": {"filePath": "a"}, "output": "<content>\n18446744073709551615: x\n\n(End of file"}})),
        ],
    ) {
        let line = json!({"type": kind, "uuid": "u", "session_id": "s", "sessionID": "s", "id": "1", "tool_id": "1",
            "message": value, "payload": value, "item": value, "part": value, "attachment": value, "tool_call": value,
            "toolCalls": value, "content": value, "parameters": value, "subtype": "completed", "status": "success",
            "role": "assistant", "tool_name": "read_file"});
        for client in Client::ALL {
            session(client, &[line.clone(), line.clone()]);
        }
    }
}
