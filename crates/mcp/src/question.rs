//! A run's question to the person, asked through a client that can show it.
//!
//! Clients up to 2025-11-25 are sent a request of their own. Later ones get a result that asks for input,
//! and call the tool again with it. A client without a person cancels; then the question stays in
//! `run_status`, as it does for clients that cannot ask. Convoke asks a slow person again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use convoke_domain::run::RunId;
use convoke_service::background::{RunQuestionReport, run_progress};
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::catalog::ToolName;
use crate::reply::Reply;
use crate::tools::{Desk, run};

/// The name of the answer, in a form and among a client's answers.
const ANSWER: &str = "answer";

/// A person needs at least this long.
const LEAST: Duration = Duration::from_secs(5);

/// The most questions that Convoke remembers of one connection.
const MOST_DECLINED: usize = 1000;

/// How often a form may stay without a usable answer: a client that declares forms and shows none would
/// otherwise keep every call waiting.
const MOST_MISSES: u8 = 3;

/// The questions that the person of one connection did not answer in its client.
#[derive(Debug, Default)]
pub(crate) struct Declined(Mutex<HashMap<String, u8>>);

impl Declined {
    /// Tells whether Convoke asks this no more.
    fn contains(&self, question: &str) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(question).is_some_and(|misses| *misses >= MOST_MISSES)
    }

    fn add(&self, question: String, misses: u8) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_DECLINED {
            all.clear();
        }
        let before = all.entry(question).or_default();
        *before = before.saturating_add(misses);
    }
}

/// What came of showing a form.
#[derive(Debug, PartialEq, Eq)]
enum FormAnswer {
    Given(String),
    /// The person, or the client for them, said no.
    Refused,
    /// The person was too slow, or the client did not show the form.
    Missed,
}

impl FormAnswer {
    fn of(result: &ElicitResult) -> Self {
        if result.action != ElicitationAction::Accept {
            return Self::Refused;
        }
        text_of(result).map_or(Self::Missed, Self::Given)
    }
}

/// What came of asking.
pub(crate) enum Asked {
    /// There is nothing to ask, or the person did not answer.
    Nothing,
    /// The person answered; this is the result of the call.
    Answered(Box<Reply>),
    /// The client has to ask, and to call the tool again.
    Needed(Box<InputRequiredResult>),
}

/// Asks the person what a run waits for, if the client can and there is time left.
pub(crate) async fn ask(
    desk: &Desk,
    run: RunId,
    declined: &Declined,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    left: Duration,
) -> Asked {
    let can_answer = desk.tools.contains(&ToolName::RunStart)
        && !desk.session.environment.is_in_lane()
        && has_forms(context);
    if !can_answer {
        return Asked::Nothing;
    }
    let Some(question) = pending(desk, &run).await else { return Asked::Nothing };
    let mark = format!("{run} {}", question.id);
    if declined.contains(&mark) {
        return Asked::Nothing;
    }
    let answer = if is_stateless(context) {
        match given(request, &mark) {
            Some(result) => FormAnswer::of(&result),
            None => return Asked::Needed(Box::new(needed(&question, mark))),
        }
    } else if left < LEAST {
        return Asked::Nothing;
    } else {
        let shown = context.peer.create_elicitation_with_timeout(form(&question), Some(left));
        shown.await.map_or(FormAnswer::Missed, |result| FormAnswer::of(&result))
    };
    let answer = match answer {
        FormAnswer::Given(answer) => answer,
        FormAnswer::Refused => {
            declined.add(mark, MOST_MISSES);
            return Asked::Nothing;
        }
        FormAnswer::Missed => {
            declined.add(mark, 1);
            return Asked::Nothing;
        }
    };
    let taken = desk.work(move |desk| run::answer(desk, &run, &answer)).await;
    match taken {
        Ok(Ok(reply)) => Asked::Answered(Box::new(reply)),
        Ok(Err(failure)) => Asked::Answered(Box::new(Reply::failed(&failure))),
        Err(_) => Asked::Nothing,
    }
}

/// Tells whether the client shows forms. One that does not say which kind it shows, shows forms.
fn has_forms(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

/// Tells whether the client takes no requests, so that a result has to ask.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

async fn pending(desk: &Desk, run: &RunId) -> Option<RunQuestionReport> {
    let run = run.clone();
    let found = desk.work(move |desk| run_progress(&desk.session, &run)).await;
    found.ok()?.ok()?.question
}

/// Returns the client's answer to this very question.
fn given(request: &CallToolRequestParams, mark: &str) -> Option<ElicitResult> {
    let is_it = request.request_state.as_deref() == Some(mark);
    let responses = request.input_responses.as_ref().filter(|_| is_it)?;
    let response = responses.get(ANSWER).cloned().unwrap_or_default();
    let cancelled = || ElicitResult::new(ElicitationAction::Cancel);
    Some(serde_json::from_value(response).unwrap_or_else(|_| cancelled()))
}

fn needed(question: &RunQuestionReport, mark: String) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question)));
    let requests = InputRequests::from([(ANSWER.to_owned(), request)]);
    InputRequiredResult::new(Some(requests), Some(mark))
}

fn form(question: &RunQuestionReport) -> ElicitRequestParams {
    let mut lines = vec![question.title.clone(), question.text.clone()];
    let options = (1..).zip(&question.options);
    lines.extend(options.map(|(number, option)| format!("{number}. {option}")));
    lines.push(format!("Recommended: {}", question.recommended));
    let answer = json!({
        "type": "string", "title": "Answer", "description": "the number of an option, or words",
    });
    let schema = json!({
        "type": "object", "properties": { ANSWER: answer }, "required": [ANSWER],
    });
    let schema = match schema {
        Value::Object(schema) => ElicitationSchema::from_json_schema(schema).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    };
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: lines.join("\n"),
        requested_schema: schema.unwrap_or_else(|| ElicitationSchema::new([].into())),
    }
}

fn text_of(result: &ElicitResult) -> Option<String> {
    let answer = match result.content.as_ref()?.get(ANSWER)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(answer).filter(|answer| !answer.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(result: &Value) -> FormAnswer {
        FormAnswer::of(&serde_json::from_value(result.clone()).unwrap())
    }

    #[test]
    fn only_a_person_who_says_no_ends_the_questions() {
        let said = |answer: Value| json!({"action": "accept", "content": {"answer": answer}});
        assert_eq!(answered(&said(json!("1"))), FormAnswer::Given("1".to_owned()));
        assert_eq!(answered(&said(json!(2))), FormAnswer::Given("2".to_owned()));
        for empty in [said(json!(" ")), said(json!(true)), json!({"action": "accept"})] {
            assert_eq!(answered(&empty), FormAnswer::Missed, "{empty}");
        }
        for action in ["decline", "cancel"] {
            assert_eq!(answered(&json!({"action": action})), FormAnswer::Refused, "{action}");
        }
    }

    #[test]
    fn a_slow_person_sees_the_form_three_times() {
        let declined = Declined::default();
        for _ in 0..MOST_MISSES {
            assert!(!declined.contains("run 1d/1"));
            declined.add("run 1d/1".to_owned(), 1);
        }
        assert!(declined.contains("run 1d/1"));
        assert!(!declined.contains("run 1d/2"), "another question");
        declined.add("run 1d/2".to_owned(), MOST_MISSES);
        assert!(declined.contains("run 1d/2"));
    }
}
