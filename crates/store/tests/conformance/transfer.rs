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
    let text = PinText::parse("Never push").unwrap();
    let pin = NewPin { text: &text, reach: Reach::Project, task: None, plan: None, until: None };
    store.add_pin(&here(), &pin, at(5)).unwrap();
    let role = DeedRole::parse("spec-reviewer").unwrap();
    let deed = NewDeed {
        task: &first,
        kind: DeedKind::Pass,
        role: &role,
        actor: &june,
        reason: Some("fine"),
        message_id: Some(said.id),
        run: None,
    };
    store.record_deed(&here(), &deed, at(5)).unwrap();
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
    let text = [lines, &[String::new()]].concat().join("\n");
    store.import(&mut text.as_bytes())
}

fn source(other: &dyn Store) -> Vec<String> {
    fill(other);
    exported(other)
}

// A backup is a store with all that the other one held at that moment, and nothing of later.
pub(super) fn backups_are_stores(store: &dyn Store) {
    fill(store);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("backup.db");
    store.backup(&place).unwrap();
    let then = store.digests().unwrap();
    let copy = convoke_store::open(&StoreLocation::file(&place)).unwrap();
    assert_eq!(copy.check().unwrap(), Vec::<String>::new());
    assert_eq!(copy.digests().unwrap(), then);
    add(store, "later", None, None);
    assert_eq!(copy.digests().unwrap(), then, "the copy stays as it was");
    // It is used like any other.
    add(&*copy, "in the copy", None, None);
    let titles = |store: &dyn Store| {
        let tasks = store.tasks(&here()).unwrap();
        tasks.into_iter().map(|task| task.content).collect::<Vec<_>>()
    };
    assert!(titles(&*copy).contains(&"in the copy".to_owned()));
    assert!(!titles(store).contains(&"in the copy".to_owned()));
}

pub(super) fn everything_is_exported_and_imported(store: &dyn Store, other: &dyn Store) {
    let lines = source(other);
    assert!(lines.iter().all(|line| !line.contains('\n')));
    // A name and a hook's call do not make a store count as used.
    store.project_name("/somewhere", "somewhere").unwrap();
    let rows = import(store, &lines).unwrap();
    assert_eq!(rows, lines.len() as u64 - 2);
    assert_eq!(exported(store), lines, "nothing is lost and nothing is added");
    assert_eq!(store.verify("app", &run()).unwrap(), Integrity::Sound);
    let last = store.undo_task_step(&here(), Undoer::User, at(10)).unwrap();
    assert_eq!(last[0].words(), "removed", "history goes on");
    let again = import(store, &lines);
    assert!(matches!(again, Err(TransferError::NotEmpty { .. })), "{again:?}");
    let message = store.thread(&here(), 1).unwrap();
    assert_eq!(message.len(), 2);
}

/// The defect of a file, its line, and the file.
type Case = (&'static str, Option<usize>, Vec<String>);

fn find(lines: &[String], table: &str) -> usize {
    let start = format!("{{\"table\":\"{table}\"");
    lines.iter().position(|line| line.starts_with(&start)).unwrap()
}

/// Defects that a hostile or damaged file may have. Each replaces a part of the line of a table.
const HOSTILE: [(&str, &str, &str, &str); 35] = [
    ("not a row", "tasks", "{\"table\"", "{\"x\":1,\"table\""),
    ("no table", "tasks", "\"table\":\"tasks\"", "\"table\":\"sqlite_master\""),
    ("no table", "tasks", "\"table\":\"tasks\"", "\"table\":\"task_step_now\""),
    ("no table", "tasks", "\"table\":\"tasks\"", "\"table\":\"tasks\\\" DROP\""),
    ("no column", "tasks", "\"body\"", "\"x\\\", \\\"body\""),
    ("has control characters", "tasks", "first ", "first \\n- forged"),
    ("has control characters", "events", "did it", "did\\n## it"),
    ("has control characters", "agents", "\"june\"", "\"ju\u{2028}ne\""),
    ("`role` has an unexpected", "task_deeds", "spec-reviewer", "Spec reviewer"),
    ("is not an id", "tasks", "\"id\":\"", "\"id\":\"../"),
    ("is not a time", "tasks", "1970-01-01T", "yesterday "),
    ("CHECK constraint", "tasks", "\"pending\"", "\"approved\""),
    ("neither a text nor", "tasks", "\"sort_index\":1", "\"sort_index\":[1]"),
    ("neither a text nor", "tasks", "\"sort_index\":1", "\"sort_index\":1e99"),
    ("neither a text nor", "tasks", "\"sort_index\":1", "\"sort_index\":true"),
    ("cannot store TEXT", "tasks", "\"sort_index\":1", "\"sort_index\":\"x\""),
    ("unexpected value", "messages", "\"dm\"", "\"verdict\""),
    ("`name` has control", "agents", "\"june\"", "\"ju\\u001bne\""),
    ("`after` `content` has control", "task_changes", "first ", "first \\\\u000a"),
    ("`after` is not a task", "task_changes", "\\\"status\\\"", "\\\"other\\\""),
    ("`status` has an unexpected", "agents", "\"status\":\"idle\"", "\"status\":-1"),
    ("`kind` has an unexpected", "messages", "\"dm\"", "-1"),
    ("`hop` has an unexpected", "messages", "\"hop\":0", "\"hop\":-1"),
    ("`path` is not an absolute", "projects", "/home/ana/app", "app"),
    ("`text` is not a rule", "pins", "Never push", "Never\\npush"),
    ("`text` is not a rule", "pins", "Never push", ""),
    ("`until` is not a time", "pins", "\"until\":null", "\"until\":\"never\""),
    ("`until` is not a time", "pins", "\"until\":null", "\"until\":7"),
    ("`pid` has an unexpected value: -1", "agents", "\"pid\":null", "\"pid\":-1"),
    ("`pid` has an unexpected value", "agents", "\"pid\":null", "\"pid\":99999999999"),
    ("`plan_file` has control", "tasks", "\"plan.md\"", "\"pl\u{202e}an.md\""),
    ("`content` has control", "tasks", "first ", "first \u{202e}"),
    ("`id` has an unexpected value", "events", "\"id\":1", "\"id\":9223372036854775807"),
    ("`from_agent` is empty", "messages", "\"from_agent\":\"human\"", "\"from_agent\":\"\""),
    ("does not begin like", "", "store export", "another"),
];

fn hostile_lines(lines: &[String]) -> Vec<Case> {
    let replaced = HOSTILE.iter().map(|(why, table, part, with)| {
        let at = if table.is_empty() { 0 } else { find(lines, table) };
        let mut changed = lines.to_vec();
        assert!(changed[at].contains(part), "{why}: {}", changed[at]);
        changed[at] = changed[at].replacen(part, with, 1);
        (*why, Some(at + 1), changed)
    });
    let task = find(lines, "tasks");
    let texts = [
        ("not valid JSON", "{".to_owned()),
        ("it is not a JSON object", "[1]".to_owned()),
        ("not valid JSON", "[".repeat(100_000)),
        ("not a row", "{\"table\":\"tasks\"}".to_owned()),
        ("rows should come before it", "{\"end\":true,\"rows\":1000}".to_owned()),
    ];
    let whole = texts.into_iter().map(|(why, text)| {
        let mut changed = lines.to_vec();
        changed[task] = text;
        (why, Some(task + 1), changed)
    });
    replaced.chain(whole).collect()
}

fn hostile_files(lines: &[String]) -> Vec<Case> {
    let (task, recipient, last) =
        (find(lines, "tasks"), find(lines, "recipients"), lines.len() - 1);
    let mut cases = vec![
        ("ends before its last", Some(last + 1), lines[..last].to_vec()),
        ("UNIQUE constraint", Some(task + 2), [&lines[..=task], &lines[task..]].concat()),
        ("it follows the last line", Some(lines.len() + 1), [lines, &lines[task..=task]].concat()),
    ];
    let mut dangling = lines.to_vec();
    dangling[recipient] = dangling[recipient].replace("\"message_id\":1", "\"message_id\":77");
    cases.push(("refers to a row that is missing", None, dangling));
    let mut renamed = lines.to_vec();
    let project = find(lines, "projects");
    renamed[project] = renamed[project].replace("\"name\":\"app\"", "\"name\":\"zz\"");
    cases.push(("rows of a project that is missing: \"app\"", None, renamed));
    let mut circle = lines.to_vec();
    let id = circle[task].split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let itself = format!("\"parent_id\":\"{id}\"");
    circle[task] = circle[task].replace("\"parent_id\":null", &itself);
    cases.push(("contains itself", None, circle));
    for name in ["version", "schema"] {
        let mut later = lines.to_vec();
        let at = later[0].find(&format!("\"{name}\":")).unwrap() + name.len() + 3;
        later[0].insert(at, '9');
        cases.push(("this version knows", None, later));
    }
    cases
}

pub(super) fn bad_exports_are_refused(store: &dyn Store, other: &dyn Store) {
    let lines = source(other);
    for (why, line, lines) in [hostile_lines(&lines), hostile_files(&lines)].concat() {
        let error = import(store, &lines).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(why), "{why}: {said}");
        let number = line.map(|line| format!("line {line}:"));
        assert!(number.is_none_or(|number| said.contains(&number)), "{why}: {said}");
        assert!(store.tasks(&here()).unwrap().is_empty(), "{why}: nothing is imported");
    }
    let cut = lines.join("\n").into_bytes();
    assert!(store.import(&mut &cut[..]).is_err(), "the last line has no end");
    assert!(store.import(&mut &b""[..]).is_err());
    assert!(store.import(&mut &b"\xff\xfe\n"[..]).unwrap_err().to_string().contains("UTF-8"));
    import(store, &lines).unwrap();
}

// A trigger changes one row on its way.
#[test]
fn a_copy_that_differs_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| StoreLocation::file(folder.path().join(name));
    let (source, target) = (file("source.db"), file("target.db"));
    let source = convoke_store::open(&source).unwrap();
    add(&*source, "a", None, None);
    let empty = convoke_store::open(&target).unwrap().digests().unwrap();
    let raw = rusqlite::Connection::open(folder.path().join("target.db")).unwrap();
    let spoil = "CREATE TRIGGER spoil AFTER INSERT ON task_changes \
                 BEGIN UPDATE task_changes SET task = 'another' WHERE id = NEW.id; END";
    raw.execute_batch(spoil).unwrap();
    let differs = source.copy_into(&target).unwrap_err();
    let is_named = matches!(&differs, TransferError::Differs { table } if table == "task_changes");
    assert!(is_named, "{differs}");
    assert_eq!(convoke_store::open(&target).unwrap().digests().unwrap(), empty);
    raw.execute_batch("DROP TRIGGER spoil").unwrap();
    assert!(!source.copy_into(&target).unwrap().was_there);
}
