//! What sessions used, by records of the real clients. The stand-in for their model numbered its answers
//! and stated other tokens for each, so that the sums show which answers were counted, and how often.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its records should stop")]

use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::session_usage::{SessionGrouping, SessionSum, SessionSums, StatedSum};
use convoke_engine::transcript::own::ClientHomes;
use convoke_engine::transcript::usage::{RecordCounts, SessionUse, used_by_sessions};
use jiff::tz::Offset;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/usage")
}

/// Reads the records of one client, in a folder of its name.
fn used(client: Client, folder: &Path) -> SessionUse {
    used_by_sessions(&ClientHomes::from_iter([(client, folder.join(client.name()))]))
}

fn sums(used: &SessionUse, by: SessionGrouping) -> SessionSums {
    used.tally.sums(by, Offset::UTC, None)
}

fn total(used: &SessionUse) -> SessionSum {
    sums(used, SessionGrouping::Client).total
}

/// The tokens that the stand-in stated for some of its answers: of the prompt without any cache, from the
/// cache, written to it, of the answer without reasoning, and of reasoning.
#[derive(Debug, PartialEq, Eq)]
struct Stated {
    answers: u64,
    fresh: u64,
    cached: u64,
    written: u64,
    text: u64,
    reasoning: u64,
}

impl Stated {
    fn of(answers: &(impl Iterator<Item = u64> + Clone)) -> Self {
        let sum = |each: fn(u64) -> u64| answers.clone().map(each).sum();
        Self {
            answers: sum(|_| 1),
            fresh: sum(|answer| 100 + answer),
            cached: sum(|answer| 1000 + 10 * answer),
            written: sum(|answer| 200 + answer),
            text: sum(|answer| 20 + answer),
            reasoning: sum(|answer| 5 + answer),
        }
    }
}

const fn stated(amount: u64) -> StatedSum {
    StatedSum { amount: Some(amount), unstated: 0 }
}

const fn unstated(answers: u64) -> StatedSum {
    StatedSum { amount: None, unstated: answers }
}

// One session that read a file, was resumed twice, sent a subagent and was forked.
#[test]
fn claude_codes_sessions_count_each_answer_once() {
    let used = used(Client::Claude, &fixtures());
    let (total, truth) = (total(&used), Stated::of(&(1..=8)));
    assert_eq!(total.answers, truth.answers);
    assert_eq!(total.input, truth.fresh + truth.cached + truth.written);
    assert_eq!(total.cached, stated(truth.cached));
    assert_eq!(total.cache_writes, stated(truth.written));
    assert_eq!(total.output, truth.text + truth.reasoning);
    assert_eq!(total.reasoning, unstated(8), "the client writes 0 where the service says nothing");
    assert_eq!(total.micro_dollars, unstated(8));
    assert_eq!(total.sessions.len(), 2);
    assert_eq!(used.counts, RecordCounts { files: 3, ..RecordCounts::default() });
    let models = sums(&used, SessionGrouping::Model).groups;
    assert_eq!(models[0].0.as_deref(), Some("claude-sonnet-4-5-20250929"));
    assert_eq!(sums(&used, SessionGrouping::Project).groups[0].0.as_deref(), Some("/project"));
    assert_eq!(sums(&used, SessionGrouping::Day).groups[0].0.as_deref(), Some("2026-11-16"));
}

// One session that was resumed, forked twice, and resumed again.
#[test]
fn codexs_forks_count_only_what_is_new() {
    let used = used(Client::Codex, &fixtures());
    let (total, truth) = (total(&used), Stated::of(&(9..=14)));
    assert_eq!(total.answers, truth.answers);
    assert_eq!(total.input, truth.fresh + truth.cached);
    assert_eq!(total.cached, stated(truth.cached));
    assert_eq!(total.cache_writes, stated(0), "the stand-in stated none");
    assert_eq!(total.output, truth.text + truth.reasoning);
    assert_eq!(total.reasoning, stated(truth.reasoning));
    assert_eq!(total.sessions.len(), 3);
    let models = sums(&used, SessionGrouping::Model).groups;
    assert_eq!(models[0].0.as_deref(), Some("gpt-5-codex"));
}

#[test]
fn geminis_repeated_messages_count_once() {
    let used = used(Client::Gemini, &fixtures());
    let (total, truth) = (total(&used), Stated::of(&(15..=17)));
    assert_eq!((total.answers, total.without_usage), (truth.answers, 0));
    assert_eq!(total.input, truth.fresh + truth.cached);
    assert_eq!(total.cached, stated(truth.cached));
    assert_eq!(total.cache_writes, unstated(3));
    assert_eq!(total.output, truth.text + truth.reasoning);
    assert_eq!(total.reasoning, stated(truth.reasoning));
    assert_eq!(sums(&used, SessionGrouping::Project).groups[0].0.as_deref(), Some("/project"));
}

// One session that was resumed and forked. The client asked for a title, too, and did not record that.
#[test]
fn opencodes_forks_count_only_what_is_new() {
    let used = used(Client::Opencode, &fixtures());
    let (total, truth) = (total(&used), Stated::of(&(19..=22)));
    assert_eq!(total.answers, truth.answers);
    assert_eq!(total.input, truth.fresh + truth.cached);
    assert_eq!(total.cached, stated(truth.cached));
    assert_eq!(total.output, truth.text + truth.reasoning);
    assert_eq!(total.reasoning, stated(truth.reasoning));
    // Only the last model has a price: 122 × $3, 1220 × $0.30, 69 × $15 a million.
    assert_eq!(total.micro_dollars, StatedSum { amount: Some(1767), unstated: 3 });
    assert_eq!(used.counts, RecordCounts { files: 1, ..RecordCounts::default() });
}

// One session that was resumed and forked. Two of its answers are no messages.
#[test]
fn qwen_codes_answers_count_once_with_those_that_are_no_messages() {
    let used = used(Client::Qwen, &fixtures());
    let (total, truth) = (total(&used), Stated::of(&(23..=28)));
    assert_eq!((total.answers, total.without_usage), (truth.answers, 0));
    assert_eq!(total.input, truth.fresh + truth.cached);
    assert_eq!(total.cached, stated(truth.cached));
    assert_eq!(total.output, truth.text + truth.reasoning);
    assert_eq!(total.reasoning, stated(truth.reasoning));
    // Early versions have the messages alone.
    let top = tempfile::tempdir().unwrap();
    for name in ["7b0c9b7e-52f1-4d0e-9a55-0f5b1f6d2a13", "a020ed8f-71a3-4466-8a3c-b71e0e509277"] {
        let file = format!("qwen/projects/-project/chats/{name}.jsonl");
        let text = fs::read_to_string(fixtures().join(&file)).unwrap();
        let messages = text.lines().filter(|line| !line.contains("api_response"));
        let messages: String = messages.flat_map(|line| [line, "\n"]).collect();
        let path = top.path().join(&file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, messages).unwrap();
    }
    let messages = self::used(Client::Qwen, top.path());
    let truth = Stated::of(&[23, 24, 25, 27].into_iter());
    assert_eq!(self::total(&messages).input, truth.fresh + truth.cached);
}

/// A folder with records as `(file, text)`.
fn records(files: &[(&str, &str)]) -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = top.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    top
}

fn claude_line(id: &str, request: &str, output: u64) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"u\",\"timestamp\":\"2026-05-01T09:30:00Z\",\"sessionId\":\"s\",\
         {request}\"message\":{{\"id\":\"{id}\",\"model\":\"m\",\"role\":\"assistant\",\"usage\":{{\
         \"input_tokens\":3,\"output_tokens\":{output}}}}}}}\n"
    )
}

// Early versions write each part of an answer with the tokens so far.
#[test]
fn an_answer_that_grows_counts_at_its_end() {
    let request = "\"requestId\":\"r1\",";
    let text = [1, 5, 9].map(|output| claude_line("m1", request, output)).concat()
        + &claude_line("m1", "\"requestId\":\"r2\",", 4)
        + &claude_line("m2", "", 1);
    let top = records(&[("claude/projects/p/s.jsonl", &text)]);
    let total = total(&used(Client::Claude, top.path()));
    assert_eq!((total.answers, total.input, total.output), (3, 9, 14));
    assert_eq!(total.cached, unstated(3), "a gateway that says nothing of a cache");
}

#[test]
fn what_cannot_be_read_is_counted() {
    let text = claude_line("m1", "", 1)
        + "{\"type\":\"assistant\",\"message\":{\"id\":\"m2\"\n"
        + "{\"type\":\"assistant\",\"message\":5}\n"
        + "{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{\"id\":\"m3\",\"model\":\"m\"}}\n"
        + "{\"type\":\"assistant\",\"message\":{\"id\":\"m4\",\"model\":\"<synthetic>\",\"usage\":{}}}\n"
        + "{\"type\":\"user\",\"message\":{\"content\":\"\\\"assistant\\\"\"}}\n"
        + "{\"type\":\"assistant\",\"message\":{\"id\":\"m5\",\"usage\":{\"input_tokens\":-1,\"output_tokens\":1e99}}}\n";
    let top = records(&[("claude/projects/p/s.jsonl", &text)]);
    let link = top.path().join("claude/projects/p/gone.jsonl");
    std::os::unix::fs::symlink("nothing", link).unwrap();
    let used = used(Client::Claude, top.path());
    let total = total(&used);
    assert_eq!((total.answers, total.without_usage, total.output), (3, 2, 1));
    let counts = RecordCounts { files: 1, unreadable: 1, broken_lines: 2, long_lines: 0 };
    assert_eq!(used.counts, counts);
}

/// A rollout with counts of a session from its beginning, and of the answer before each.
fn rollout(id: &str, parent: &str, counts: &[(u64, u64)]) -> String {
    let meta = format!(
        "{{\"timestamp\":\"2026-05-01T09:30:00Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\
         {parent}\"cwd\":\"/p\"}}}}\n"
    );
    let count = |(total, last): &(u64, u64)| {
        let usage = |input: u64| {
            format!("{{\"input_tokens\":{input},\"cached_input_tokens\":0,\"output_tokens\":0}}")
        };
        let (total, last) = (usage(*total), usage(*last));
        format!(
            "{{\"timestamp\":\"2026-05-02T09:30:00Z\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\
             \"info\":{{\"total_token_usage\":{total},\"last_token_usage\":{last}}}}}}}\n"
        )
    };
    meta + &counts.iter().map(count).collect::<Vec<_>>().concat()
}

/// Versions that copy the parent's lines into a fork, with the parent's own first line.
#[test]
fn a_copied_history_counts_once() {
    let history = [(10, 10), (10, 10), (30, 20)];
    let parent = rollout("a", "", &[&history[..], &[(35, 5)]].concat());
    let of_parent = "\"forked_from_id\":\"a\",";
    let copy = |id: &str, more: &[(u64, u64)]| {
        let own = rollout(id, of_parent, &[]);
        own + &rollout("a", "", &[&history[..], more].concat())
    };
    let at = |name: &str| format!("codex/sessions/2026/05/01/rollout-{name}.jsonl");
    let forks = [copy("b", &[(37, 7)]), copy("c", &[(37, 7), (38, 1)])];
    let top = records(&[
        (&at("1-a"), &parent),
        (&at("2-b"), &forks[0]),
        (&at("3-c"), &forks[1]),
        ("codex/archived_sessions/rollout-1-a.jsonl", &parent),
    ]);
    let all = total(&used(Client::Codex, top.path()));
    assert_eq!((all.input, all.answers), (10 + 20 + 5 + 7 + 7 + 1, 6));
    // Without the parent's file, its copies are all that is left of it.
    let top = records(&[(&at("2-b"), &forks[0]), (&at("3-c"), &forks[1])]);
    let all = total(&used(Client::Codex, top.path()));
    assert_eq!(all.input, 10 + 20 + 7 + 1);
}

// A probe asks the same each time, and has the same tokens each time.
#[test]
fn equal_counts_of_sessions_without_a_common_parent_are_not_the_same() {
    let at = |name: &str| format!("codex/sessions/2026/05/01/rollout-{name}.jsonl");
    let same = [rollout("a", "", &[(10, 10)]), rollout("b", "", &[(10, 10)])];
    let top = records(&[(&at("1-a"), &same[0]), (&at("2-b"), &same[1])]);
    assert_eq!(total(&used(Client::Codex, top.path())).input, 20);
    // A counter that runs backwards began anew.
    let again = rollout("a", "", &[(10, 10), (25, 15), (4, 4)]);
    let top = records(&[(&at("1-a"), &again)]);
    assert_eq!(total(&used(Client::Codex, top.path())).input, 29);
}

#[test]
fn a_client_without_usage_in_its_records_is_named() {
    let top = records(&[("cursor/chats/x/store.db", "")]);
    let used = used(Client::Cursor, top.path());
    assert_eq!((used.without_records, used.clients.len()), (vec![Client::Cursor], 0));
    let nothing = used_by_sessions(&ClientHomes::default());
    assert!(nothing.clients.is_empty() && nothing.without_records.is_empty());
}

// Every reader takes any text without a panic, and says that it could not read it.
#[test]
fn nonsense_is_counted_and_harms_nothing() {
    let nonsense = "{\"assistant\"}\n{\"type\":\"gemini\",\"id\":{}}\n{\"token_count\":\"session_meta\"}\n\0\n";
    let top = records(&[
        ("claude/projects/p/s.jsonl", nonsense),
        ("codex/sessions/rollout-x.jsonl", nonsense),
        ("gemini/tmp/p/chats/session-x.jsonl", nonsense),
        ("gemini/tmp/p/chats/session-x.json", nonsense),
        ("opencode/opencode.db", nonsense),
        ("opencode/storage/message/ses_1/msg_1.json", nonsense),
        ("qwen/projects/p/chats/s.jsonl", nonsense),
    ]);
    for client in [Client::Claude, Client::Codex, Client::Gemini, Client::Opencode, Client::Qwen] {
        let used = used(client, top.path());
        assert_eq!(total(&used), SessionSum::default(), "{client}");
        let RecordCounts { unreadable, broken_lines, .. } = used.counts;
        assert!(unreadable + broken_lines > 0, "{client}: {:?}", used.counts);
    }
}

#[test]
fn opencodes_earlier_files_are_read() {
    let message = |role: &str, tokens: &str| {
        format!(
            "{{\"id\":\"msg_1\",\"sessionID\":\"ses_1\",\"role\":\"{role}\",\"modelID\":\"m\",\"cost\":0.5,\
             \"time\":{{\"created\":1750000000000,\"completed\":1750000001000}},\"path\":{{\"cwd\":\"/p\"}},\
             \"tokens\":{tokens}}}"
        )
    };
    let tokens = "{\"input\":1,\"output\":2,\"reasoning\":3,\"cache\":{\"read\":4,\"write\":5}}";
    let zeros = "{\"input\":0,\"output\":0,\"reasoning\":0,\"cache\":{\"read\":0,\"write\":0}}";
    let top = records(&[
        ("opencode/storage/message/ses_1/msg_1.json", &message("assistant", tokens)),
        ("opencode/storage/message/ses_1/msg_2.json", &message("assistant", zeros)),
        ("opencode/storage/message/ses_1/msg_3.json", &message("user", tokens)),
        ("opencode/storage/message/ses_2/msg_4.json", &message("assistant", tokens)),
    ]);
    let used = used(Client::Opencode, top.path());
    let total = total(&used);
    assert_eq!(
        (total.answers, total.without_usage),
        (2, 1),
        "a failed answer, and a copy of a fork"
    );
    assert_eq!((total.input, total.output), (10, 5));
    assert_eq!(total.micro_dollars, stated(500_000));
    assert_eq!(sums(&used, SessionGrouping::Day).groups[0].0.as_deref(), Some("2025-06-15"));
}
