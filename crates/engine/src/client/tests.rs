//! Adapters, line by line: what clients really printed, and what may be made of it.

use convoke_domain::hook::Moment;
use convoke_domain::lane::event::{FailureKind, LaneEvent, LaneFailure, TurnEnd, Usage};
use convoke_domain::lane::outcome::{ClientOutput, LaneCourse, LaneOutcome, ProcessEnd, outcome};
use proptest::prelude::*;

use super::*;

mod acp;
mod counting;
mod launching;
mod limits;
mod message_clients;
mod other_clients;

/// Everything that one run says.
struct Run<'a> {
    agent: Client,
    stdout: &'a str,
    stderr: &'a str,
    code: Option<i32>,
}

impl Run<'_> {
    fn events(&self) -> Vec<LaneEvent> {
        let mut listener = listen(self.agent);
        let mut events = Vec::new();
        self.stdout.lines().for_each(|line| events.extend(listener.stdout_line(line)));
        self.stderr.lines().for_each(|line| events.extend(listener.stderr_line(line)));
        events.extend(listener.exited(self.code));
        events
    }

    fn outcome(&self) -> LaneOutcome {
        let mut output = ClientOutput::default();
        self.events().into_iter().for_each(|event| output.take(event));
        let end = self.code.map_or(ProcessEnd::Signalled(9), ProcessEnd::Exited);
        outcome(&LaneCourse { output: &output, end, model: None, resume: None })
    }

    #[track_caller]
    fn check(&self, expected: &[&str], comes_to: LaneOutcome) {
        let shown: Vec<String> = self.events().iter().map(shown).collect();
        assert_eq!(shown, expected, "{}", self.agent);
        assert_eq!(self.outcome(), comes_to, "{}", self.agent);
    }
}

fn shown(event: &LaneEvent) -> String {
    match event {
        LaneEvent::Session(id) => format!("session {id}"),
        LaneEvent::Model(name) => format!("model {name}"),
        LaneEvent::Rights(granted) => {
            let mode = granted.mode.as_deref().unwrap_or_default();
            format!("rights {mode} {}", granted.tools.join(","))
        }
        LaneEvent::Text(text) => format!("text {text}"),
        LaneEvent::Tool(name) => format!("tool {name}"),
        LaneEvent::Usage(usage) => shown_usage(*usage),
        LaneEvent::Trouble(failure) => format!("trouble {}", shown_failure(failure)),
        LaneEvent::Ended(TurnEnd { failure: Some(failure), .. }) => {
            format!("failed {}", shown_failure(failure))
        }
        LaneEvent::Ended(TurnEnd { answer: Some(answer), .. }) => format!("ended {answer}"),
        LaneEvent::Ended(_) => "ended".to_owned(),
    }
}

fn shown_usage(usage: Usage) -> String {
    let Usage { input, cached, output, reasoning, micro_dollars } = usage;
    let money = micro_dollars.map_or_else(String::new, |amount| format!(" ${amount}"));
    format!("usage {input} ({cached}) {output} ({reasoning}){money}")
}

fn shown_failure(failure: &LaneFailure) -> String {
    format!("{:?}: {}", failure.kind, failure.message)
}

fn fixture(agent: Client, name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts");
    std::fs::read_to_string(format!("{folder}/{agent}/{name}.printed.jsonl")).unwrap()
}

fn recorded() -> Vec<(Client, String)> {
    let agents = [Client::Claude, Client::Codex, Client::Cursor, Client::Gemini, Client::Opencode];
    agents.into_iter().map(|agent| (agent, fixture(agent, "reads"))).collect()
}

#[test]
fn recorded_runs_end_in_their_answer() {
    let tools = [10, 8, 4, 6, 6];
    for ((agent, stdout), tools) in recorded().into_iter().zip(tools) {
        let run = Run { agent, stdout: &stdout, stderr: "", code: Some(0) };
        let mut output = ClientOutput::default();
        run.events().into_iter().for_each(|event| output.take(event));
        assert_eq!(output.answer(), Some("I have read what I could."), "{agent}");
        assert_eq!(output.tools, tools, "{agent}");
        assert!(output.session.is_some(), "{agent}");
        assert_eq!(run.outcome(), LaneOutcome::Answered, "{agent}");
    }
}

#[test]
fn lines_of_other_clients_are_passed_over() {
    for (speaker, stdout) in recorded() {
        // The lines of clients that copied Claude Code's format cannot all be distinguished.
        let is_alike = |agent: &Client| {
            matches!(speaker, Client::Claude | Client::Cursor)
                && matches!(agent, Client::Claude | Client::Qwen)
        };
        let others = Client::ALL.into_iter().filter(|agent| *agent != speaker && !is_alike(agent));
        for agent in others {
            let mut listener = listen(agent);
            for line in stdout.lines() {
                assert_eq!(listener.stdout_line(line), [], "{agent} heard {speaker}: {line}");
            }
        }
    }
}

#[test]
fn a_line_that_is_cut_says_nothing() {
    for (agent, stdout) in recorded() {
        for line in stdout.lines() {
            let cut = line.char_indices().nth_back(0).map(|(at, _)| &line[..at]).unwrap();
            assert_eq!(listen(agent).stdout_line(cut), [], "{agent}: {cut}");
        }
    }
}

#[test]
fn an_odd_value_does_not_cost_the_line() {
    for (agent, line) in [
        (
            Client::Claude,
            r#"{"type":"result","uuid":"u","session_id":7,"subtype":null,"is_error":"no","result":"yes","usage":[],"total_cost_usd":"x","errors":{}}"#,
        ),
        (
            Client::Qwen,
            r#"{"type":"result","uuid":"u","session_id":7,"subtype":null,"is_error":"no","result":"yes","usage":[]}"#,
        ),
        (Client::Codex, r#"{"type":"turn.completed","usage":"none","error":7}"#),
        (
            Client::Gemini,
            r#"{"type":"result","status":"success","stats":{"total_tokens":"x","models":[]},"error":7}"#,
        ),
        (
            Client::Claude,
            r#"{"type":"result","uuid":"u","result":"yes","message":{"model":[],"content":[7,{"type":8,"text":{}},"x",{"a":[1.5,null,-1]}]}}"#,
        ),
        (Client::Claude, r#"{"type":"result","uuid":"u","result":"yes","message":[true]}"#),
    ] {
        let ends = listen(agent)
            .stdout_line(line)
            .into_iter()
            .any(|event| matches!(event, LaneEvent::Ended(TurnEnd { failure: None, .. })));
        assert!(ends, "{agent}");
    }
}

// A version without line numbers is still understood.
#[test]
fn a_line_without_a_number_is_known_by_its_session() {
    for agent in [Client::Claude, Client::Qwen] {
        let stdout = [
            r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"Yes."}]}}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"Yes.","session_id":"s"}"#,
        ];
        Run { agent, stdout: &stdout.join("\n"), stderr: "", code: Some(0) }
            .check(&["session s", "text Yes.", "ended Yes."], LaneOutcome::Answered);
        let elsewhere = r#"{"type":"result","subtype":"success","result":"Yes."}"#;
        assert_eq!(listen(agent).stdout_line(elsewhere), [], "{agent}");
    }
}

// A client with unknown output was not silent.
#[test]
fn unknown_lines_are_reported() {
    for agent in Client::ALL {
        let mut listener = listen(agent);
        for line in ["", "Welcome to version 9!", "{\"kind\":\"new\"}"] {
            assert_eq!(listener.stdout_line(line), [], "{agent}");
        }
        let events: Vec<_> = listener.exited(Some(0)).iter().map(shown).collect();
        let words =
            "the client printed 2 lines that Convoke cannot read; the first: Welcome to version 9!";
        assert_eq!(events, [format!("trouble Other: {words}")], "{agent}");
        // A message on stderr says more.
        let mut listener = listen(agent);
        listener.stdout_line("Welcome!");
        listener.stderr_line("fatal error: no disk");
        let events = listener.exited(Some(70));
        let told = events.last().map(shown).unwrap();
        assert!(told.ends_with("fatal error: no disk"), "{agent}: {told}");
    }
    for (agent, stdout) in recorded() {
        let mut listener = listen(agent);
        listener.stdout_line("Welcome!");
        // A client that was stopped after one line was understood.
        stdout.lines().take(1).for_each(|line| drop(listener.stdout_line(line)));
        assert_eq!(listener.exited(None), [], "{agent}");
    }
}

// The line's content is unknown, so the message says that; and the client was not silent.
#[test]
fn a_line_that_is_too_long_is_reported() {
    let words = "the client printed a line of 8.1 MB; Convoke reads lines of at most 8 MB";
    for agent in Client::ALL {
        let mut listener = listen(agent);
        listener.stdout_line("Welcome!");
        let told: Vec<_> = listener.long_line(8 * 1024 * 1024 + 1).iter().map(shown).collect();
        assert_eq!(told, [format!("trouble LongLine: {words}")], "{agent}");
        let after = listener.exited(Some(1));
        assert!(
            !after.iter().any(|event| matches!(event, LaneEvent::Trouble(_))),
            "{agent}: {after:?}"
        );
    }
}

#[test]
fn a_signal_says_nothing_about_the_client() {
    for agent in Client::ALL {
        assert_eq!(listen(agent).exited(None), [], "{agent}");
        assert_eq!(listen(agent).exited(Some(0)), [], "{agent}");
    }
}

// The first words about an error are the reason; what follows is where it happened.
#[test]
fn an_exit_without_an_end_is_reported_in_the_clients_words() {
    let stderr = "warming up\nfatal Error: no disk\n    at write (file.js)\n";
    for agent in Client::ALL {
        let mut listener = listen(agent);
        stderr.lines().for_each(|line| assert_eq!(listener.stderr_line(line), [], "{agent}"));
        let events = listener.exited(Some(70));
        let [
            LaneEvent::Trouble(failure) | LaneEvent::Ended(TurnEnd { failure: Some(failure), .. }),
        ] = &events[..]
        else {
            panic!("{agent}: {events:?}")
        };
        assert_eq!(failure.message, "fatal Error: no disk", "{agent}");
        assert_eq!(failure.kind, FailureKind::Other, "{agent}");
    }
    let events = listen(Client::Codex).exited(Some(9));
    assert_eq!(shown(&events[0]), "trouble Other: the client exited with code 9");
}

// A complaint from which the client recovered is not why the process ended.
#[test]
fn words_and_deeds_get_over_a_complaint() {
    let mut listener = listen(Client::Codex);
    assert_eq!(listener.stderr_line("429 Too Many Requests").len(), 1);
    listener.stdout_line(r#"{"type":"item.completed","item":{"type":"agent_message","text":"x"}}"#);
    assert_eq!(shown(&listener.exited(Some(9))[0]), "trouble Other: the client exited with code 9");
}

#[test]
fn an_unknown_trouble_does_not_hide_a_known_one() {
    let stdout = [
        r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized)"}"#,
        r#"{"type":"error","message":"Reconnecting... 2/5"}"#,
    ]
    .join("\n");
    Run { agent: Client::Codex, stdout: &stdout, stderr: "", code: None }.check(
        &["trouble Auth: Reconnecting... 1/5 (unexpected status 401 Unauthorized)"],
        LaneOutcome::Auth,
    );
}

#[test]
fn counters_of_a_session_become_those_of_a_run() {
    let usage = |input, money| Usage { input, micro_dollars: money, ..Usage::default() };
    let (before, said) = (usage(1200, Some(900)), usage(2000, Some(1500)));
    for (agent, expected) in [
        (Client::Claude, usage(2000, Some(600))),
        (Client::Codex, usage(800, Some(600))),
        (Client::Cursor, usage(2000, Some(1500))),
        (Client::Gemini, usage(2000, Some(1500))),
        (Client::Opencode, usage(2000, Some(1500))),
        (Client::Qwen, usage(800, Some(600))),
    ] {
        assert_eq!(usage_scope(agent).of_run(said, Some(before)), Some(expected), "{agent}");
    }
    // Tokens of one run may be fewer than those of the run before; the money still adds up.
    let fewer = usage_scope(Client::Claude).of_run(usage(100, Some(1000)), Some(before));
    assert_eq!(fewer, Some(usage(100, Some(100))));
    let anew = usage_scope(Client::Claude).of_run(usage(100, Some(40)), Some(before));
    assert_eq!(anew, Some(usage(100, Some(40))), "it began anew");
}

#[test]
fn clients_have_names_and_programs() {
    for agent in Client::ALL {
        assert_eq!(Client::parse(agent.name()), Some(agent));
        assert!(!adapter(agent).programs.is_empty(), "{agent}");
    }
    assert_eq!(Client::parse("Claude"), None);
    assert_eq!(adapter(Client::Cursor).programs, ["cursor-agent", "agent"]);
}

// The list in `domain` and the table say the same.
#[test]
fn clients_with_hooks_are_those_that_are_listed() {
    for client in Client::ALL {
        let adapter = adapter(client);
        let is_listed = Client::WITH_HOOKS.contains(&client);
        assert_eq!(adapter.hooks.is_some(), is_listed, "{client}");
        assert_eq!(adapter.transcript.is_some(), is_listed, "{client}");
    }
}

#[test]
fn events_of_each_client_are_known_by_their_names() {
    let cases = [
        (Client::Claude, "SessionStart", Some("startup"), Some(Moment::Started)),
        (Client::Claude, "SessionStart", Some("compact"), Some(Moment::Compacted)),
        (Client::Claude, "SessionStart", Some("fork"), Some(Moment::Began)),
        (Client::Claude, "SessionStart", Some("resume"), Some(Moment::Resumed)),
        (Client::Claude, "UserPromptSubmit", None, Some(Moment::Prompted)),
        (Client::Claude, "PreCompact", None, None),
        (Client::Codex, "SessionStart", Some("clear"), Some(Moment::Began)),
        (Client::Codex, "PreCompact", None, None),
        (Client::Gemini, "SessionStart", Some("startup"), None),
        (Client::Gemini, "BeforeAgent", None, Some(Moment::Resumed)),
        (Client::Gemini, "PreCompress", Some("manual"), None),
        (Client::Cursor, "preCompact", None, Some(Moment::Compacting)),
        (Client::Cursor, "beforeSubmitPrompt", None, Some(Moment::Prompted)),
        (Client::Opencode, "session.compacted", None, Some(Moment::Compacted)),
        (Client::Claude, "Stop", None, None),
        (Client::Claude, "", None, None),
    ];
    for (client, event, source, expected) in cases {
        assert_eq!(
            adapter(client).hooks.as_ref().unwrap().moment(event, source),
            expected,
            "{client:?} {event} {source:?}"
        );
    }
}

/// Lines that are nearly what a client prints.
fn nearly() -> impl Strategy<Value = String> {
    let kinds = "(system|assistant|result|init|message|text|error|item\\.completed|turn\\.failed|\
                 step_finish|tool_use|thread\\.started)";
    let value = "(null|7|-1|true|\"[a-z]{0,4}\"|\\{\\}|\\[\\]|\\{\"type\":\"text\",\"text\":\"x\"\\}\
                 |\\{\"message\":\"429\",\"content\":\\[\\{\"type\":\"tool_use\"\\}\\]\\})";
    let key = "(uuid|session_id|sessionID|thread_id|message|item|part|usage|stats|error|errors|result\
               |is_error|status|role|content|subtype|tool_call|model)";
    (kinds, proptest::collection::btree_map(key, value, 0..7)).prop_map(|(kind, fields)| {
        let fields: Vec<_> =
            fields.iter().map(|(key, value)| format!(",\"{key}\":{value}")).collect();
        format!("{{\"type\":\"{kind}\"{}}}", fields.concat())
    })
}

proptest! {
    #[test]
    fn every_listener_bears_every_text(lines in proptest::collection::vec(".{0,60}", 0..8), code: Option<i32>) {
        for agent in Client::ALL {
            let mut listener = listen(agent);
            for line in &lines {
                let events = listener.stdout_line(line);
                let is_mere_trouble = events.iter().all(|event| matches!(event, LaneEvent::Trouble(_)));
                prop_assert!(is_mere_trouble, "{}: {:?}", agent, events);
                listener.stderr_line(line);
            }
            let ends_well = |event: &LaneEvent| matches!(event, LaneEvent::Ended(TurnEnd { failure: None, .. }));
            prop_assert!(!listener.exited(code).iter().any(ends_well), "{}", agent);
        }
    }

    #[test]
    fn every_listener_survives_nearly_valid_lines(lines in proptest::collection::vec(nearly(), 0..8), code: Option<i32>) {
        for agent in Client::ALL {
            let mut listener = listen(agent);
            for line in &lines {
                let events = listener.stdout_line(line);
                let ends = events.iter().filter(|event| matches!(event, LaneEvent::Ended(_))).count();
                prop_assert!(ends <= 1, "{}: {}", agent, line);
                prop_assert!(!events.contains(&LaneEvent::Session(String::new())), "{}: {}", agent, line);
                listener.stderr_line(line);
            }
            listener.exited(code);
        }
    }
}
