//! The conversation with an agent, as a machine of states: a line in, steps out.
//!
//! One request is open at a time. The bridge tells the supervisor everything else that the agent
//! sends, and does nothing about it, unless the session leaves its safe mode.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;

use convoke_domain::lane::event::FailureKind;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::{AnswerText, Piece};
use super::message::{
    AgentError, LOGIN_REQUIRED, Message, PROTOCOL, answer, greeting, notification, refusal, request,
};
use super::offer::{Choice, Choosable, Offers};
use super::part::{Capabilities, Ended, Greeting, Login, Notified, Opened, Update};
use super::permission::rule;
use super::request::BridgeRequest;
use super::step::{FAILED, READY, Step, tell, told_answer, told_request, unreadable};
use crate::client::failure::{readable, told};
use crate::json::{parse, string};

/// What the bridge waits for.
#[derive(Debug)]
enum State {
    Initializing,
    Opening,
    Choosing(Choice, VecDeque<Choice>),
    Prompting,
    Over,
}

/// A conversation with one agent.
#[derive(Debug)]
pub(super) struct Conversation {
    request: BridgeRequest,
    state: State,
    /// The number of the open request.
    number: u64,
    session: String,
    /// The ways to log in that the agent names.
    logins: Vec<String>,
    answer: AnswerText,
}

impl Conversation {
    pub(super) fn new(request: BridgeRequest) -> Self {
        let session = request.resume.clone().unwrap_or_default();
        let answer = AnswerText::of(&request);
        Self { request, state: State::Initializing, number: 0, session, logins: Vec::new(), answer }
    }

    /// Returns what Convoke says first.
    pub(super) fn begin(&mut self) -> Vec<Step> {
        vec![self.ask("initialize", &greeting())]
    }

    /// Takes in a line of the agent.
    pub(super) fn take(&mut self, line: &str) -> Vec<Step> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        // A program's own words on stdout are no message.
        if !line.trim_start().starts_with('{') {
            return vec![unreadable(line)];
        }
        let Ok(message) = serde_json::from_str::<Message<'_>>(line) else {
            // It may have been a piece of the answer.
            self.answer.tear("the agent sent a message that is not JSON");
            return vec![unreadable(line)];
        };
        match (&message.method, message.id) {
            (Some(method), Some(id)) => self.asked(method, id, message.params, line),
            (Some(method), None) => self.notified(method, message.params, line),
            (None, _) if message.number() == Some(self.number) && !self.is_over() => {
                self.answered(&message, line)
            }
            (None, _) => vec![tell("stray", line)],
        }
    }

    /// Takes in that the lane was stopped. The agent may still end its turn in order.
    pub(super) fn cancel(&mut self) -> Vec<Step> {
        if matches!(self.state, State::Prompting) { vec![self.stop()] } else { vec![Step::End] }
    }

    /// Takes in that the agent sent a line of so many bytes that it was not read.
    pub(super) fn long_line(&mut self, bytes: u64) -> Vec<Step> {
        // It may be the output of a tool, unless it comes in the middle of an answer.
        if self.answer.is_begun() {
            self.answer.tear("the agent sent a line that is too long to read");
        }
        vec![Step::Tell(json!({ "acp": "long_line", "bytes": bytes }).to_string())]
    }

    /// Ends the conversation with a failure.
    pub(super) fn fail(&mut self, kind: FailureKind, words: &str) -> Vec<Step> {
        self.state = State::Over;
        let line = json!({ "acp": FAILED, "kind": kind.name(), "words": readable(words) });
        vec![Step::Tell(line.to_string()), Step::End]
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Step {
        self.number += 1;
        Step::Send(request(self.number, method, params))
    }

    fn stop(&self) -> Step {
        Step::Send(notification("session/cancel", &json!({ "sessionId": self.session })))
    }

    /// Answers a request of the agent. Nothing but permissions is offered.
    fn asked(
        &self,
        method: &str,
        id: &RawValue,
        params: Option<&RawValue>,
        line: &str,
    ) -> Vec<Step> {
        if method == "session/request_permission" {
            let folder = Path::new(&self.request.folder);
            let ruling = rule(params, self.request.rights(), folder);
            let told = told_request(method, ruling.word, &ruling.title, line);
            return vec![told, Step::Send(answer(id, &ruling.result))];
        }
        let method: String = method.chars().take(100).collect();
        vec![told_request(&method, "unsupported", "", line), Step::Send(refusal(id, &method))]
    }

    fn notified(&mut self, method: &str, params: Option<&RawValue>, line: &str) -> Vec<Step> {
        let notified: Option<Notified<'_>> = parse(params).filter(|_| method == "session/update");
        let Some(notified) = notified else { return vec![tell("stray", line)] };
        match self.state {
            // Before the prompt, the agent repeats what a loaded session contains.
            State::Initializing | State::Opening | State::Choosing(..) => {
                vec![tell("replay", line)]
            }
            State::Prompting if string(notified.session).as_deref() == Some(&self.session) => {
                let mut steps = vec![tell("update", line)];
                if let Piece::Said(text) = self.answer.take(notified.update) {
                    let said = json!({ "acp": "text", "text": text }).to_string();
                    steps.insert(0, Step::Tell(said));
                }
                steps.extend(self.left_mode(notified.update));
                steps
            }
            State::Prompting | State::Over => vec![tell("stray", line)],
        }
    }

    /// Stops a reader whose session leaves its mode.
    fn left_mode(&mut self, update: Option<&RawValue>) -> Vec<Step> {
        let Some(wanted) = self.request.mode.clone().filter(|_| !self.request.may_write) else {
            return Vec::new();
        };
        let Some(told) = parse::<Update<'_>>(update) else { return Vec::new() };
        let offers = Offers::read(update);
        let mode = match string(told.kind).unwrap_or_default().as_ref() {
            "current_mode_update" => string(told.mode),
            "config_option_update" => offers.current(Choosable::Mode).map(Cow::Borrowed),
            _ => None,
        };
        let Some(mode) = mode.filter(|mode| *mode != wanted) else { return Vec::new() };
        let words = format!("the agent left its read-only mode `{wanted}` for `{mode}`");
        let mut steps = vec![self.stop()];
        steps.extend(self.fail(FailureKind::RefusedFlags, &words));
        steps
    }

    fn answered(&mut self, message: &Message<'_>, line: &str) -> Vec<Step> {
        let to = match &self.state {
            State::Initializing => "initialize",
            State::Opening => "session",
            State::Choosing(choice, _) => choice.what.name(),
            State::Prompting => "session/prompt",
            State::Over => return Vec::new(),
        };
        let mut steps = vec![told_answer(to, line)];
        steps.extend(match message.error() {
            Some(error) => self.refused(&error),
            None => self.go_on(message.result),
        });
        steps
    }

    fn go_on(&mut self, result: Option<&RawValue>) -> Vec<Step> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Initializing => self.greeted(result),
            State::Opening => self.opened(result),
            State::Choosing(choice, rest) => self.chosen(&choice, rest, result),
            State::Prompting => self.ended(result),
            State::Over => Vec::new(),
        }
    }

    /// Tells how the turn ended. Only the whole answer is one.
    fn ended(&mut self, result: Option<&RawValue>) -> Vec<Step> {
        let stop = parse::<Ended<'_>>(result).and_then(|ended| string(ended.stop));
        let (answer, torn) = match self.answer.finish() {
            Ok(answer) => (Some(answer), None),
            Err(torn) => (None, Some(torn)),
        };
        let line = json!({ "acp": "end", "stop": stop, "answer": answer, "torn": torn });
        vec![Step::Tell(line.to_string()), Step::End]
    }

    fn greeted(&mut self, result: Option<&RawValue>) -> Vec<Step> {
        let greeting: Option<Greeting<'_>> = parse(result);
        let version = greeting.as_ref().and_then(|greeting| greeting.version);
        if version.and_then(|version| version.get().parse().ok()) != Some(PROTOCOL) {
            let told = version.map_or("no version".to_owned(), |told| format!("version {told}"));
            return self.fail(
                FailureKind::RefusedFlags,
                &format!(
                    "the agent speaks {told} of the Agent Client Protocol; Convoke speaks version {PROTOCOL}"
                ),
            );
        }
        let login =
            |raw: &RawValue| Some(string(parse::<Login<'_>>(Some(raw))?.name)?.into_owned());
        let logins = greeting.as_ref().and_then(|told| parse::<Vec<&RawValue>>(told.logins));
        self.logins = logins.unwrap_or_default().into_iter().filter_map(login).collect();
        let can_load = greeting
            .and_then(|told| parse::<Capabilities<'_>>(told.capabilities))
            .and_then(|told| parse::<bool>(told.load))
            .unwrap_or(false);
        if self.request.resume.is_some() && !can_load {
            return self.fail(FailureKind::NoSession, "the agent cannot load earlier sessions");
        }
        self.open()
    }

    /// Begins a session, or loads one. No server of the user's is passed on.
    fn open(&mut self) -> Vec<Step> {
        self.state = State::Opening;
        let mut params = json!({ "cwd": self.request.folder, "mcpServers": [] });
        if let Some(meta) = &self.request.session_meta {
            params["_meta"] = meta.clone();
        }
        let method = match &self.request.resume {
            Some(session) => {
                params["sessionId"] = json!(session);
                "session/load"
            }
            None => "session/new",
        };
        vec![self.ask(method, &params)]
    }

    fn opened(&mut self, result: Option<&RawValue>) -> Vec<Step> {
        if self.request.resume.is_none() {
            let opened: Option<Opened<'_>> = parse(result);
            let session = opened.and_then(|opened| string(opened.session).map(Cow::into_owned));
            let Some(session) = session.filter(|session| !session.trim().is_empty()) else {
                return self.fail(FailureKind::Other, "the agent began a session without a name");
            };
            self.session = session;
        }
        let offers = Offers::read(result);
        let mut choices = VecDeque::new();
        for (what, wanted) in self.wishes() {
            match offers.choose(what, &wanted) {
                Ok(choice) => choices.push_back(choice),
                // Other clients, too, pass over an effort that they do not know.
                Err(_) if what == Choosable::Effort => {}
                Err(offered) => return self.not_offered(what, &wanted, &offered),
            }
        }
        let current = offers.current(Choosable::Model);
        let model = self.request.model.as_deref().or(current).filter(|name| *name != "default");
        let mode = self.request.mode.as_deref().or_else(|| offers.current(Choosable::Mode));
        let told = json!({ "acp": "session", "id": self.session, "mode": mode, "model": model });
        let mut steps = vec![Step::Tell(told.to_string())];
        steps.extend(self.choose(choices));
        steps
    }

    /// Returns what to choose. The mode comes last, so that no other choice changes it again.
    fn wishes(&self) -> Vec<(Choosable, String)> {
        let BridgeRequest { model, effort, mode, .. } = &self.request;
        let wishes =
            [(Choosable::Model, model), (Choosable::Effort, effort), (Choosable::Mode, mode)];
        let wish = |(what, wanted): (Choosable, &Option<String>)| Some((what, wanted.clone()?));
        wishes.into_iter().filter_map(wish).collect()
    }

    fn not_offered(&mut self, what: Choosable, wanted: &str, offered: &str) -> Vec<Step> {
        let what = what.name();
        let offered = if offered.is_empty() {
            "it offers no choice".to_owned()
        } else {
            format!("it offers {offered}")
        };
        let words = format!("the agent does not offer the {what} `{wanted}`; {offered}");
        self.fail(FailureKind::RefusedFlags, &words)
    }

    /// Makes the next choice, and sends the prompt after the last.
    fn choose(&mut self, mut choices: VecDeque<Choice>) -> Vec<Step> {
        let Some(choice) = choices.pop_front() else {
            if self.request.prompt.is_empty() {
                return self.ready();
            }
            self.state = State::Prompting;
            let prompt = json!([{ "type": "text", "text": self.request.prompt }]);
            let params = json!({ "sessionId": self.session, "prompt": prompt });
            return vec![self.ask("session/prompt", &params)];
        };
        let mut params = choice.params.clone();
        params["sessionId"] = json!(self.session);
        let step = self.ask(choice.method, &params);
        self.state = State::Choosing(choice, choices);
        vec![step]
    }

    /// Ends a conversation that has no prompt: the agent took all that a lane tells it before one.
    fn ready(&mut self) -> Vec<Step> {
        self.state = State::Over;
        vec![Step::Tell(json!({ "acp": READY }).to_string()), Step::End]
    }

    /// Checks that the agent took a choice, where its answer tells.
    fn chosen(
        &mut self,
        choice: &Choice,
        rest: VecDeque<Choice>,
        result: Option<&RawValue>,
    ) -> Vec<Step> {
        let now = Offers::read(result);
        match now.current(choice.what) {
            Some(current) if current != choice.value => {
                let (what, value) = (choice.what.name(), &choice.value);
                let words = format!("the agent keeps the {what} `{current}` instead of `{value}`");
                self.fail(FailureKind::RefusedFlags, &words)
            }
            _ => self.choose(rest),
        }
    }

    fn refused(&mut self, error: &AgentError) -> Vec<Step> {
        if error.code == Some(LOGIN_REQUIRED) {
            let words = self.login_words(&error.words);
            return self.fail(FailureKind::Auth, &words);
        }
        let kind = match (&self.state, told(&error.words).kind) {
            (State::Opening, FailureKind::Other) if self.request.resume.is_some() => {
                FailureKind::NoSession
            }
            (State::Choosing(..), FailureKind::Other) => FailureKind::RefusedFlags,
            (_, kind) => kind,
        };
        let words = match &self.state {
            State::Choosing(choice, _) => {
                let (what, value) = (choice.what.name(), &choice.value);
                format!("the agent refuses the {what} `{value}`: {}", error.words)
            }
            _ if kind == FailureKind::Auth => self.login_words(&error.words),
            State::Initializing | State::Opening | State::Prompting | State::Over => {
                error.words.clone()
            }
        };
        self.fail(kind, &words)
    }

    /// Tells that the agent wants a login, and how a person logs in.
    fn login_words(&self, words: &str) -> String {
        let methods = if self.logins.is_empty() {
            String::new()
        } else {
            format!(" (it offers: {})", self.logins.join(", "))
        };
        let how = match &self.request.login {
            Some(command) => format!("run `{command}` and log in"),
            None => "log in with the agent's own program".to_owned(),
        };
        format!("{words}{methods}; {how}")
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
