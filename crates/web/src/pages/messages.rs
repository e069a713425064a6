//! The pages of messages, and sending one.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use convoke_domain::scope::AgentName;
use convoke_page::layout::Section;
use convoke_page::messages::{messages_page, thread_page, wake_page};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::message::{
    ListedMessageReport, SayRequest, mark_messages_read, mark_own_read, message_page, say, thread,
};
use convoke_service::wake::{WakeRequest, wake};

use super::{changed, failure};
use crate::answer::shown;
use crate::dashboard::Dashboard;
use crate::door::CheckedForm;
use crate::form::Asked;

const SECTION: Section = Section::Messages;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new()
        .route("/messages", get(list))
        .route("/messages/{id}", get(conversation))
        .route("/messages/wake", get(preview))
        .route("/messages/say", post(send))
        .route("/messages/read", post(mark_read))
}

fn agent(text: &str) -> Result<AgentName, Failure> {
    AgentName::parse(text.trim()).map_err(|error| Failure::new(ErrorClass::Usage, error))
}

async fn list(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let before = fields.maybe("before", |text| text.parse().ok());
    let report = match before {
        Ok(before) => dashboard.read(move |session| message_page(session, before)).await,
        Err(why) => Err(why),
    };
    match report {
        Ok(report) => {
            let frame = dashboard.frame(SECTION, "Messages", fields.get("note"));
            shown(&frame, &messages_page(&report, frame.access, &frame.csrf))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn conversation(
    State(dashboard): State<Arc<Dashboard>>,
    Path(id): Path<i64>,
    Asked(fields): Asked,
) -> Response {
    let asked = fields.get("branch").map(str::to_owned);
    let branch = asked.clone();
    let report = dashboard.read(move |session| thread(session, id, None, branch.as_deref())).await;
    match report {
        Ok(found) => {
            let messages: Vec<_> = found.messages.iter().map(ListedMessageReport::new).collect();
            let frame = dashboard.frame(SECTION, &format!("Message {id}"), fields.get("note"));
            let other = asked.as_deref().filter(|branch| *branch != frame.branch);
            shown(&frame, &thread_page(id, &messages, other, frame.access, &frame.csrf))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn preview(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let report = dashboard.read(move |session| {
        let name = fields.get("agent").map(agent).transpose()?;
        let shown = name.as_ref().map(ToString::to_string).unwrap_or_default();
        Ok((shown, wake(session, WakeRequest { agent: name, ..WakeRequest::default() })?))
    });
    match report.await {
        Ok((name, report)) => {
            let frame = dashboard.frame(SECTION, &format!("Wake-up of @{name}"), None);
            shown(&frame, &wake_page(&name, &report))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn mark_read(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    let done = dashboard.change(move |session| {
        let ids =
            |text: &str| text.split(' ').map(|id| id.parse().ok()).collect::<Option<Vec<_>>>();
        mark_own_read(session, &fields.parsed("read", ids)?)
    });
    match done.await {
        Ok((count, _)) => {
            let what = if count == 1 { "message counts" } else { "messages count" };
            changed(&dashboard, "/messages", &format!("{count} {what} as read."))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn send(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    let answered = fields.get("re").map(str::to_owned);
    let done = dashboard.change(move |session| {
        let re = fields.maybe("re", |text| text.parse().ok())?;
        let to = fields.get("to").map(agent).transpose()?;
        let text = fields.text("text")?.replace("\r\n", "\n");
        let said = say(session, &SayRequest { text, to, re, ..SayRequest::default() })?;
        // A person who answers has the message.
        if let Some(re) = re {
            mark_messages_read(session, &AgentName::human(), &[re])?;
        }
        Ok(said)
    });
    match done.await {
        Ok((said, heard)) => {
            let back =
                answered.map_or("/messages".to_owned(), |_| format!("/messages/{}", said.id));
            changed(&dashboard, &back, format!("Sent message {}. {heard}", said.id).trim())
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}
