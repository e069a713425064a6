//! Searching.

use convoke_store::search::{FindingText, SearchKind, SearchWords};

use super::*;

fn found(store: &dyn Store, words: &str) -> Vec<(SearchKind, String)> {
    let words = SearchWords::parse(words).unwrap();
    let hits = store.search("app", &words, 10).unwrap();
    hits.into_iter().map(|hit| (hit.kind, hit.id)).collect()
}

pub(crate) fn everything_is_found_by_its_words(store: &dyn Store) {
    let now = at(1);
    let scope = here();
    let other = Scope::new("other", "main");
    let (human, run) = (AgentName::human(), convoke_domain::run::RunId::parse("20260101").unwrap());
    let say = |scope: &Scope, text: &str| {
        let message = NewMessage {
            from: &human,
            to: None,
            kind: MessageKind::Say,
            content: text,
            mentions: &[],
        };
        store.say(scope, &message, now).unwrap().id.to_string()
    };
    let first = say(&scope, "Look at the Login page, 100% of \"it\"");
    say(&other, "Login elsewhere");
    let task = add(store, "Write the login form", None, None);
    store.begin_run(&run, &scope, "Login with a passkey", now).unwrap();
    let event = convoke_store::journal::NewEvent { at_ms: 1, kind: "x", body: "{}" };
    store.append(&run, 1, &[event]).unwrap();
    // One of two is left, or the backend searches the messages themselves.
    assert!(store.index_messages(1).unwrap() <= 1);
    assert_eq!(store.index_messages(10).unwrap(), 0);
    let unindexed = store.unindexed_runs("app", 10).unwrap();
    assert_eq!(unindexed.iter().map(|run| run.last_seq).collect::<Vec<_>>(), [1]);
    let finding =
        FindingText { id: "FINDING_1".into(), title: "No login limit".into(), text: "x".into() };
    store.index_findings(&run, 1, &[finding]).unwrap();
    assert_eq!(store.unindexed_runs("app", 10).unwrap(), []);
    assert_eq!(
        found(store, "LOGIN"),
        [
            (SearchKind::Run, run.to_string()),
            (SearchKind::Finding, "FINDING_1".to_owned()),
            (SearchKind::Task, task.to_string()),
            (SearchKind::Message, first.clone()),
        ]
    );
    assert_eq!(found(store, "login pag"), [(SearchKind::Message, first.clone())]);
    assert_eq!(found(store, "login nothing"), []);
    assert_eq!(found(store, "zebra OR login"), [], "`or` is a word like any other");
    assert_eq!(found(store, "100%"), [(SearchKind::Message, first)]);
    let odd = say(&scope, "Depart from src/part.rs—it’s \"über\"-important: naïve_name 2nd");
    store.index_messages(10).unwrap();
    for words in
        ["part", "dep par", "rs", "IT", "über imp", "name", "2n", "naïve", "part|x ' -- rs"]
    {
        let hits = found(store, words);
        let is_found = hits.contains(&(SearchKind::Message, odd.clone()));
        assert_eq!(is_found, !words.contains('x'), "{words}: {hits:?}");
    }
    for words in ["art", "rts", "mportant", "part & zebra", "x:*", "!part", &"a".repeat(5000)] {
        let is_found = found(store, words).contains(&(SearchKind::Message, odd.clone()));
        assert_eq!(is_found, words == "!part", "{words}: words are found by their beginning");
    }
    store.remove_task(&scope, &task, now).unwrap();
    assert_eq!(found(store, "form"), [], "a removed task is not found");
}

/// Letters have capitals in other scripts too.
pub(crate) fn capitals_of_every_script_are_found(store: &dyn Store) {
    let (now, scope) = (at(1), here());
    let run = convoke_domain::run::RunId::parse("20260101").unwrap();
    let human = AgentName::human();
    let content = "Проверить модель ÜBER Nacht";
    let message =
        NewMessage { from: &human, to: None, kind: MessageKind::Say, content, mentions: &[] };
    let said = store.say(&scope, &message, now).unwrap().id.to_string();
    let first = add(store, "Über uns", None, None).to_string();
    let second = add(store, "ПРОВЕРИТЬ МОДЕЛЬ", None, None).to_string();
    store.begin_run(&run, &scope, "Żółw und Ölpreis", now).unwrap();
    let event = convoke_store::journal::NewEvent { at_ms: 1, kind: "x", body: "{}" };
    store.append(&run, 1, &[event]).unwrap();
    store.index_messages(10).unwrap();
    let (title, text) = ("Ärger".to_owned(), "mit ΔΡΌΜΟΣ".to_owned());
    store.index_findings(&run, 1, &[FindingText { id: "F".to_owned(), title, text }]).unwrap();
    let (task, message) = (|id: &str| (SearchKind::Task, id.to_owned()), SearchKind::Message);
    for words in ["über", "ÜBER", "Über"] {
        assert_eq!(found(store, words), [task(&first), (message, said.clone())], "{words}");
    }
    for words in ["проверить", "Проверить модель", "МОДЕЛЬ"] {
        assert_eq!(found(store, words), [task(&second), (message, said.clone())], "{words}");
    }
    for words in ["żółw", "ŻÓŁW ölpreis"] {
        assert_eq!(found(store, words), [(SearchKind::Run, run.to_string())], "{words}");
    }
    for words in ["ärger", "δρόμος", "ÄRGER ΔΡΌΜ"] {
        assert_eq!(found(store, words), [(SearchKind::Finding, "F".to_owned())], "{words}");
    }
    assert_eq!(found(store, "über модель nichts"), []);
}
