//! Conversations, line by line.

use super::*;

fn request() -> BridgeRequest {
    BridgeRequest {
        program: "agent".to_owned(),
        arguments: Vec::new(),
        folder: "/p".to_owned(),
        prompt: "What is it?".to_owned(),
        model: None,
        effort: None,
        resume: None,
        mode: Some("plan".to_owned()),
        may_write: false,
        session_meta: None,
        answers_have_ids: false,
        login: Some("agent login".to_owned()),
    }
}

/// What was sent and told, in short.
fn shown(steps: Vec<Step>) -> Vec<String> {
    let show = |step| match step {
        Step::End => "end".to_owned(),
        Step::Send(line) => {
            let line: Value = serde_json::from_str(&line).unwrap();
            match line["method"].as_str() {
                Some(method) => format!("send {method}"),
                None => format!("answer {} {}", line["id"], line["result"]["outcome"]),
            }
        }
        Step::Tell(line) => {
            let line: Value = serde_json::from_str(&line).unwrap();
            let words =
                ["words", "text", "answer", "torn"].iter().find_map(|key| line[*key].as_str());
            format!("tell {} {}", line["acp"].as_str().unwrap(), words.unwrap_or_default())
        }
    };
    steps.into_iter().map(show).collect()
}

struct Talk(Conversation);

impl Talk {
    fn new(request: BridgeRequest) -> Self {
        let mut conversation = Conversation::new(request);
        assert_eq!(shown(conversation.begin()), ["send initialize"]);
        Self(conversation)
    }

    /// A conversation in the middle of its turn.
    fn prompted(request: BridgeRequest) -> Self {
        let mut talk = Self::new(request);
        talk.take(GREETING);
        talk.take(SESSION);
        let sent = talk.take(r#"{"id":3,"result":null}"#);
        assert_eq!(sent.last().unwrap(), "send session/prompt");
        talk
    }

    fn take(&mut self, line: &str) -> Vec<String> {
        shown(self.0.take(line))
    }

    fn update(&mut self, update: &str) -> Vec<String> {
        self.take(&format!(
            r#"{{"method":"session/update","params":{{"sessionId":"s-1","update":{update}}}}}"#
        ))
    }
}

const GREETING: &str = r#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[{"id":"k","name":"API key"}]}}"#;

const SESSION: &str = r#"{"id":2,"result":{"sessionId":"s-1","modes":{"currentModeId":"auto","availableModes":[{"id":"auto"},{"id":"plan"}]},"models":{"currentModelId":"small","availableModels":[{"modelId":"small"},{"modelId":"large"}]}}}"#;

const CHUNK: &str =
    r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"42."}}"#;

const END: &str = r#"{"id":4,"result":{"stopReason":"end_turn"}}"#;

#[test]
fn no_prompt_is_sent_before_the_mode_is_taken() {
    let mut talk = Talk::new(request());
    assert_eq!(talk.take(GREETING), ["tell answer ", "send session/new"]);
    assert_eq!(talk.take(SESSION), ["tell answer ", "tell session ", "send session/set_mode"]);
    assert_eq!(talk.take(r#"{"id":3,"result":{}}"#), ["tell answer ", "send session/prompt"]);
    assert_eq!(talk.update(CHUNK), ["tell update "]);
    assert_eq!(talk.take(END), ["tell answer ", "tell end 42.", "end"]);
    assert_eq!(talk.take(END), ["tell stray "], "it is over");
}

// `convoke doctor` has an agent begin a session, and asks its model nothing.
#[test]
fn without_a_prompt_the_conversation_ends_when_the_mode_is_taken() {
    let mut talk = Talk::new(BridgeRequest { prompt: String::new(), ..request() });
    talk.take(GREETING);
    assert_eq!(talk.take(SESSION), ["tell answer ", "tell session ", "send session/set_mode"]);
    assert_eq!(talk.take(r#"{"id":3,"result":{}}"#), ["tell answer ", "tell ready ", "end"]);
}

#[test]
fn a_mode_that_is_refused_or_not_kept_ends_the_conversation() {
    for (answer, words) in [
        (
            r#"{"id":3,"error":{"code":-32602,"message":"no such mode"}}"#,
            "the agent refuses the mode `plan`: no such mode",
        ),
        (
            r#"{"id":3,"result":{"modes":{"currentModeId":"auto"}}}"#,
            "the agent keeps the mode `auto` instead of `plan`",
        ),
    ] {
        let mut talk = Talk::new(request());
        talk.take(GREETING);
        talk.take(SESSION);
        let failed = format!("tell failed {words}");
        assert_eq!(talk.take(answer), ["tell answer ", &failed, "end"]);
    }
    let mut talk = Talk::new(BridgeRequest { mode: Some("ask".to_owned()), ..request() });
    talk.take(GREETING);
    let failed = "tell failed the agent does not offer the mode `ask`; it offers auto, plan";
    assert_eq!(talk.take(SESSION), ["tell answer ", failed, "end"]);
}

#[test]
fn a_reader_that_leaves_its_mode_is_stopped() {
    for update in [
        r#"{"sessionUpdate":"current_mode_update","currentModeId":"auto"}"#,
        r#"{"sessionUpdate":"config_option_update","configOptions":[{"id":"mode","category":"mode","currentValue":"auto"}]}"#,
    ] {
        let mut talk = Talk::prompted(request());
        let words = "tell failed the agent left its read-only mode `plan` for `auto`";
        assert_eq!(talk.update(update), ["tell update ", "send session/cancel", words, "end"]);
        let mut writer = Talk::prompted(BridgeRequest { may_write: true, ..request() });
        assert_eq!(writer.update(update), ["tell update "]);
    }
    let mut talk = Talk::prompted(request());
    let same = r#"{"sessionUpdate":"current_mode_update","currentModeId":"plan"}"#;
    assert_eq!(talk.update(same), ["tell update "]);
}

#[test]
fn only_the_open_request_of_the_own_session_is_answered() {
    let mut talk = Talk::prompted(request());
    for stray in [
        r#"{"id":99,"result":{"stopReason":"end_turn"}}"#,
        r#"{"id":3,"result":{"stopReason":"end_turn"}}"#,
        r#"{"id":"4","result":{"stopReason":"end_turn"}}"#,
        r#"{"result":{"stopReason":"end_turn"}}"#,
        r#"{"method":"session/update","params":{"sessionId":"s-2","update":{"sessionUpdate":"agent_message_chunk","content":{"text":"No."}}}}"#,
        r#"{"method":"_auth/status_update","params":{}}"#,
        "{}",
    ] {
        assert_eq!(talk.take(stray), ["tell stray "], "{stray}");
    }
    talk.update(CHUNK);
    assert_eq!(talk.take(END), ["tell answer ", "tell end 42.", "end"]);
}

#[test]
fn an_unknown_version_and_a_demanded_login_end_the_conversation() {
    for (version, told) in [("2", "version 2"), ("\"1\"", "version \"1\""), ("null", "no version")]
    {
        let mut talk = Talk::new(request());
        let line = format!(r#"{{"id":1,"result":{{"protocolVersion":{version}}}}}"#);
        let words = format!(
            "tell failed the agent speaks {told} of the Agent Client Protocol; Convoke speaks version 1"
        );
        assert_eq!(talk.take(&line)[1], words);
    }
    let mut talk = Talk::new(request());
    talk.take(GREETING);
    let refused =
        talk.take(r#"{"id":2,"error":{"code":-32000,"message":"Authentication required"}}"#);
    let words =
        "tell failed Authentication required (it offers: API key); run `agent login` and log in";
    assert_eq!(refused, ["tell answer ", words, "end"]);
}

#[test]
fn what_a_loaded_session_was_is_not_what_it_says_now() {
    let mut talk = Talk::new(BridgeRequest { resume: Some("s-1".to_owned()), ..request() });
    assert_eq!(talk.take(GREETING), ["tell answer ", "send session/load"]);
    assert_eq!(talk.update(CHUNK), ["tell replay "]);
    talk.take(SESSION);
    assert_eq!(talk.update(CHUNK), ["tell replay "]);
    talk.take(r#"{"id":3,"result":{}}"#);
    assert_eq!(talk.take(END), ["tell answer ", "tell end ", "end"], "no answer");
    let mut gone = Talk::new(BridgeRequest { resume: Some("s-1".to_owned()), ..request() });
    gone.take(GREETING);
    let steps = gone.0.take(r#"{"id":2,"error":{"code":-32603,"message":"Internal error"}}"#);
    assert!(matches!(&steps[1], Step::Tell(line) if line.contains(r#""kind":"no_session""#)));
    let mut cannot = Talk::new(BridgeRequest { resume: Some("s-1".to_owned()), ..request() });
    let told = cannot.take(r#"{"id":1,"result":{"protocolVersion":1}}"#);
    assert_eq!(told[1], "tell failed the agent cannot load earlier sessions");
}

#[test]
fn nothing_is_offered_but_an_answer_to_permissions() {
    let mut talk = Talk::prompted(request());
    for method in
        ["fs/write_text_file", "fs/read_text_file", "terminal/create", "elicitation/create"]
    {
        let line = format!(
            r#"{{"id":"a","method":"{method}","params":{{"sessionId":"s-1","path":"/p/x","content":"x"}}}}"#
        );
        let steps = talk.0.take(&line);
        let Step::Send(answer) = &steps[1] else { panic!("{steps:?}") };
        assert!(answer.contains(r#""code":-32601"#) && answer.contains(r#""id":"a""#), "{answer}");
    }
    let asked = r#"{"id":7,"method":"session/request_permission","params":{"toolCall":{"title":"Write x"},"options":[{"optionId":"y","kind":"allow_once"}]}}"#;
    assert_eq!(talk.take(asked), ["tell request denied", r#"answer 7 {"outcome":"cancelled"}"#]);
}

#[test]
fn half_a_message_makes_the_answer_unknown_and_other_words_do_not() {
    let mut talk = Talk::prompted(request());
    talk.update(CHUNK);
    assert_eq!(talk.take("Loading plugins"), ["tell unreadable Loading plugins"]);
    assert_eq!(talk.take(END), ["tell answer ", "tell end 42.", "end"]);
    let mut torn = Talk::prompted(request());
    torn.update(CHUNK);
    torn.take(r#"{"method":"session/upd"#);
    assert_eq!(torn.take(END)[1], "tell end the agent sent a message that is not JSON");
}

#[test]
fn a_model_is_chosen_before_the_mode() {
    let mut talk = Talk::new(BridgeRequest { model: Some("large".to_owned()), ..request() });
    talk.take(GREETING);
    assert_eq!(talk.take(SESSION).last().unwrap(), "send session/set_model");
    assert_eq!(talk.take(r#"{"id":3,"result":{}}"#).last().unwrap(), "send session/set_mode");
    assert_eq!(talk.take(r#"{"id":4,"result":{}}"#).last().unwrap(), "send session/prompt");
    let mut other = Talk::new(BridgeRequest { model: Some("huge".to_owned()), ..request() });
    other.take(GREETING);
    let words = "tell failed the agent does not offer the model `huge`; it offers small, large";
    assert_eq!(other.take(SESSION)[1], words);
}

#[test]
fn a_stop_cancels_the_turn_and_ends_what_is_no_turn() {
    let mut talk = Talk::prompted(request());
    assert_eq!(shown(talk.0.cancel()), ["send session/cancel"]);
    assert_eq!(shown(Talk::new(request()).0.cancel()), ["end"]);
}

proptest::proptest! {
    // Any line in any state ends in steps, and every printed line is JSON of the bridge's.
    #[test]
    fn no_line_of_an_agent_reaches_the_supervisor_as_it_is(line in "\\PC{0,80}", is_prompted: bool) {
        let mut talk = if is_prompted { Talk::prompted(request()) } else { Talk::new(request()) };
        for step in talk.0.take(&line) {
            if let Step::Tell(told) = step {
                let told: Value = serde_json::from_str(&told).unwrap();
                proptest::prop_assert!(told["acp"].is_string());
            }
        }
    }
}
