//! Rules about exports and imports.

use convoke_domain::run::RunId;
use convoke_store::journal::{Integrity, NewEvent};
use convoke_store::task_edit::TaskEdit;
use convoke_store::transfer::TransferError;

use super::*;

fn run() -> RunId {
    RunId::parse("20261116T060000-abcd").unwrap()
}

/// Something of most kinds.
fn fill(store: &dyn Store) {
    store.project_name("/home/ana/app", "app").unwrap();
    let (june, human) = (name("june"), name("human"));
    store.add_agent(&here(), &june, "claude").unwrap();
    let first = add(store, "first \u{2028} “quoted” \\ \"", None, Some("plan.md"));
    let then = NewTask { after: std::slice::from_ref(&first), ..NewTask::titled("then") };
    let then = store.add_tasks(&here(), &[then], at(1)).unwrap().remove(0);
    let edit = TaskEdit { body: Some("two\nlines\u{0}"), ..TaskEdit::default() };
    store.edit_task(&here(), &then, &edit, at(2)).unwrap();
    store.remove_task(&here(), &then, at(3)).unwrap();
    let message = NewMessage {
        from: &human,
        to: Some(&june),
        kind: MessageKind::Direct,
        content: "hello\n\u{1b}[2J",
        mentions: &[],
    };
    let said = store.say(&here(), &message, at(4)).unwrap();
    store.reply(&here(), said.id, &message, at(5)).unwrap();
    store.record_event(&here(), &june, "did it", at(5)).unwrap();
    store.begin_run(&run(), &here(), "Add a search", at(1)).unwrap();
    let event = NewEvent { at_ms: i64::MAX, kind: "begun", body: "{\"a\":1}" };
    store.append(&run(), 1, &[event]).unwrap();
}

fn exported(store: &dyn Store) -> Vec<String> {
    let mut lines = Vec::new();
    let mut write = |line: &str| {
        lines.push(line.to_owned());
        Ok(())
    };
    store.export(at(9), &mut write).unwrap();
    lines
}

fn import(store: &dyn Store, lines: &[String]) -> Result<u64, TransferError> {
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    store.import(&mut text.as_bytes())
}

fn source() -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&dir.path().join("store.db")).unwrap();
    fill(&store);
    exported(&store)
}

pub(super) fn everything_is_exported_and_imported(store: &dyn Store) {
    let lines = source();
    assert!(lines.iter().all(|line| !line.contains('\n')));
    // A name and a firing of a hook do not make a store one with something in it.
    store.project_name("/somewhere", "somewhere").unwrap();
    let rows = import(store, &lines).unwrap();
    assert_eq!(rows, lines.len() as u64 - 2);
    assert_eq!(exported(store), lines, "nothing is lost and nothing is added");
    assert_eq!(store.verify("app", &run()).unwrap(), Integrity::Sound);
    let last = store.undo_task_step(&here(), at(10)).unwrap();
    assert_eq!(last[0].words(), "removed", "history goes on");
    let again = import(store, &lines);
    assert!(matches!(again, Err(TransferError::NotEmpty { .. })), "{again:?}");
    let message = store.thread(&here(), 1).unwrap();
    assert_eq!(message.len(), 2);
}

pub(super) fn bad_exports_are_refused(store: &dyn Store) {
    let lines = source();
    let find = |table: &str| {
        let start = format!("{{\"table\":\"{table}\"");
        lines.iter().position(|line| line.starts_with(&start)).unwrap()
    };
    let (task, recipient) = (find("tasks"), find("recipients"));
    let last = lines.len() - 1;
    let mut cases: Vec<(&str, Option<usize>, Vec<String>)> = Vec::new();
    let mut case = |why: &'static str, at: usize, change: &dyn Fn(&str) -> String| {
        let mut changed = lines.clone();
        changed[at] = change(&lines[at]);
        cases.push((why, Some(at + 1), changed));
    };
    case("does not begin like", 0, &|_| "{}".to_owned());
    case("does not begin like", 0, &|line| line.replace("store export", "another"));
    case("no JSON", task, &|_| "{".to_owned());
    case("no JSON object", task, &|_| "[1]".to_owned());
    case("no JSON", task, &|_| "[".repeat(100_000));
    case("no row", task, &|_| "{\"table\":\"tasks\"}".to_owned());
    case("no row", task, &|line| line.replacen('{', "{\"x\":1,", 1));
    case("no table", task, &|line| {
        line.replace("\"table\":\"tasks\"", "\"table\":\"sqlite_master\"")
    });
    case("no table", task, &|line| {
        line.replace("\"table\":\"tasks\"", "\"table\":\"task_step_now\"")
    });
    case("no table", task, &|line| {
        line.replace("\"table\":\"tasks\"", "\"table\":\"tasks\\\" DROP\"")
    });
    case("no column", task, &|line| line.replace("\"body\"", "\"x\\\", \\\"body\""));
    case("has control characters", task, &|line| line.replace("first ", "first \\n- forged"));
    case("is no id", task, &|line| {
        let at = line.find("\"id\":\"").unwrap() + 6;
        format!("{}../{}", &line[..at], &line[at..])
    });
    case("is no time", task, &|line| line.replace("1970-01-01T", "yesterday "));
    case("CHECK constraint", task, &|line| line.replace("\"pending\"", "\"approved\""));
    case("neither a text nor", task, &|line| {
        line.replace("\"sort_index\":1", "\"sort_index\":[1]")
    });
    case("neither a text nor", task, &|line| {
        line.replace("\"sort_index\":1", "\"sort_index\":1e99")
    });
    case("cannot store TEXT", task, &|line| {
        line.replace("\"sort_index\":1", "\"sort_index\":\"x\"")
    });
    case("strange value", find("messages"), &|line| line.replace("\"dm\"", "\"verdict\""));
    let change = find("task_changes");
    case("`after` `content` has control", change, &|line| {
        line.replace("first ", "first \\\\u000a")
    });
    case("`after` is no task", change, &|line| line.replace("\\\"status\\\"", "\\\"other\\\""));
    case("rows should come before it", last, &|_| "{\"end\":true,\"rows\":1}".to_owned());
    cases.push(("ends before its last", Some(last + 1), lines[..last].to_vec()));
    let twice = [&lines[..=task], &lines[task..]].concat();
    cases.push(("UNIQUE constraint", Some(task + 2), twice));
    let more = [&lines[..], &lines[task..=task]].concat();
    cases.push(("it is the last", Some(lines.len() + 1), more));
    cases.push(("ends before its last", Some(1), Vec::new()));
    let mut dangling = lines.clone();
    dangling[recipient] = dangling[recipient].replace("\"message_id\":1", "\"message_id\":77");
    cases.push(("refers to a row that is missing", None, dangling));
    for name in ["version", "schema"] {
        let mut later = lines.clone();
        let at = later[0].find(&format!("\"{name}\":")).unwrap() + name.len() + 3;
        later[0].insert_str(at, "9");
        cases.push(("this version knows", None, later));
    }
    for (why, line, lines) in cases {
        let error = import(store, &lines).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(why), "{why}: {said}");
        let number = line.map(|line| format!("line {line}:"));
        assert!(number.is_none_or(|number| said.contains(&number)), "{why}: {said}");
        assert!(store.tasks(&here()).unwrap().is_empty(), "{why}: nothing is imported");
    }
    let cut = lines.join("\n").into_bytes();
    assert!(store.import(&mut &cut[..]).is_err(), "the last line has no end");
    assert!(store.import(&mut &b"\xff\xfe\n"[..]).unwrap_err().to_string().contains("UTF-8"));
    import(store, &lines).unwrap();
}
