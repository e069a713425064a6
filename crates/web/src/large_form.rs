//! Forms that are too large: the person keeps the text that they wrote.

use std::future::poll_fn;
use std::pin::Pin;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_page::components::bytes;
use convoke_page::layout::{Section, page};
use convoke_page::limits::LONGEST_FORM;
use hyper::body::Body as _;
use maud::html;

use crate::answer::html_answer;
use crate::dashboard::Dashboard;
use crate::form::Fields;

/// How much more of a form is read and dropped. A browser that still sends does not read an answer.
const MOST_DROPPED: usize = 8 * 1024 * 1024;

/// The shortest text that the answer shows again, in bytes.
const LONG_TEXT: usize = 200;

/// A form, as far as it was read.
pub(crate) enum SentForm {
    /// Every field.
    Whole(Fields),
    /// Its beginning; the rest is too much.
    Beginning(Fields),
}

/// Reads a form of at most so many bytes, and the beginning of a longer one.
pub(crate) async fn receive(mut body: Body, most: usize) -> Option<SentForm> {
    let (mut kept, mut dropped) = (Vec::new(), 0);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        let fits = data.len().min(most - kept.len());
        kept.extend_from_slice(&data[..fits]);
        dropped += data.len() - fits;
        if dropped > MOST_DROPPED {
            break;
        }
    }
    if dropped == 0 {
        return Fields::parse(&kept).map(SentForm::Whole);
    }
    // A letter that was cut is no letter.
    let cut = kept.iter().rev().take(2).position(|byte| *byte == b'%');
    kept.truncate(kept.len() - cut.map_or(0, |place| place + 1));
    Fields::parse(&kept).map(SentForm::Beginning)
}

/// Answers a form that is too large with what arrived of its texts.
pub(crate) fn too_large(dashboard: &Dashboard, path: &str, fields: &Fields) -> Response {
    let first = path.split('/').nth(1).unwrap_or_default();
    let of_path = |section: &Section| section.path().trim_start_matches('/') == first;
    let section = Section::NAVIGATION.into_iter().find(of_path).unwrap_or(Section::Now);
    let frame = dashboard.frame(section, "Too large", None);
    let content = html! {
        h1 { "This is too much for one form" }
        p.failure role="alert" {
            "Nothing was changed: the form has more than " (bytes(LONGEST_FORM as u64)) "."
        }
        p { "Go back in your browser, which keeps what you wrote, and make it shorter. "
            "A long text is better kept in a file of the project, named in the form." }
        @for (name, text) in fields.long_texts(LONG_TEXT) {
            @let text = text.trim_end_matches('\u{FFFD}');
            label { "What arrived of the field " code { (name) }
                textarea readonly rows="12" { (text) }
            }
        }
        p { a href=(section.path()) { "Back to " (section.name()) } }
    };
    html_answer(StatusCode::PAYLOAD_TOO_LARGE, page(&frame, &content).into_string())
}
