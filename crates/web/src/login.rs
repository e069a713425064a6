//! Letting a browser in: a link with a token that works once, or a password, becomes a cookie.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{HeaderValue, REFRESH, SET_COOKIE};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use convoke_page::layout::{STYLE_PATH, outside};
use convoke_service::dashboard::BrowserStart;
use convoke_service::failure::Failure;
use convoke_service::mcp_listen::AccessToken;
use maud::html;
use tokio::time::Instant;

use crate::answer::{html_answer, refusal, see_other};
use crate::door::CheckedForm;
use crate::form::Asked;
use crate::guess::{Guesses, PasswordCheck, Peer};
use crate::routes::Rooms;
use crate::secret::Secret;

/// The path that the link leads to.
pub(crate) const OPEN_PATH: &str = "/open";

/// The path of the form with the password.
pub(crate) const LOGIN_PATH: &str = "/login";

/// How long the link works once Convoke had a program open it: other users of the machine can see that
/// program's arguments.
const LINK_STAYS: Duration = Duration::from_mins(1);

/// How many browsers stay logged in by password; the first one leaves for the next.
const MOST_BROWSERS: usize = 32;

/// Which browsers are in, and what lets one in.
#[derive(Debug)]
pub(crate) struct Guests {
    name: String,
    /// The token of the link; none once it was used.
    link: Mutex<Option<Secret>>,
    /// When the link ends, if it does.
    link_ends: Option<Instant>,
    password: Option<Secret>,
    guesses: Mutex<Guesses>,
    browsers: Mutex<VecDeque<Secret>>,
}

impl Guests {
    /// `browser` says whether Convoke has a program open the link.
    pub(crate) fn new(
        port: u16,
        password: Option<&AccessToken>,
        browser: BrowserStart,
    ) -> Result<Self, Failure> {
        let link_ends = match browser {
            BrowserStart::Open => Instant::now().checked_add(LINK_STAYS),
            BrowserStart::Print => None,
        };
        Ok(Self {
            // Cookies know no port, so that two dashboards would take each other's.
            name: format!("convoke-{port}"),
            link: Mutex::new(Some(Secret::random()?)),
            link_ends,
            password: password.map(|token| Secret::new(token.text())),
            guesses: Mutex::default(),
            browsers: Mutex::default(),
        })
    }

    pub(crate) fn cookie_name(&self) -> &str {
        &self.name
    }

    /// Returns the path of the link that works once.
    pub(crate) fn link(&self) -> Option<String> {
        let link = self.link.lock().ok()?;
        link.as_ref().map(|secret| format!("{OPEN_PATH}?token={}", secret.text()))
    }

    /// Tells whether a cookie is one of ours.
    pub(crate) fn knows(&self, given: &str) -> bool {
        let browsers = self.browsers.lock();
        browsers.is_ok_and(|browsers| browsers.iter().any(|secret| secret.is(given)))
    }

    /// Uses the link up, if this is its token.
    fn take_link(&self, given: &str, now: Instant) -> bool {
        let Ok(mut link) = self.link.lock() else { return false };
        if self.link_ends.is_some_and(|end| now >= end) {
            *link = None;
        }
        let is_right = link.as_ref().is_some_and(|secret| secret.is(given));
        if is_right {
            *link = None;
        }
        is_right
    }

    /// Returns the cookie of a new browser.
    fn admit(&self) -> Option<HeaderValue> {
        let secret = Secret::random().ok()?;
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.name, secret.text());
        let mut browsers = self.browsers.lock().ok()?;
        if browsers.len() >= MOST_BROWSERS {
            browsers.pop_front();
        }
        browsers.push_back(secret);
        HeaderValue::from_str(&cookie).ok()
    }
}

/// Tells whether a path needs no cookie.
pub(crate) fn is_open_to_all(path: &str) -> bool {
    matches!(path, OPEN_PATH | LOGIN_PATH | STYLE_PATH)
}

/// Answers a browser without a cookie.
pub(crate) fn who_are_you(guests: &Guests) -> Response {
    if guests.password.is_some() {
        return see_other(LOGIN_PATH);
    }
    let content = html! {
        h1 { "This dashboard does not know your browser" }
        p { "Open the link that " code { "convoke serve" } " printed. It works once." }
        p { "To open the dashboard in another browser, start " code { "convoke serve" } " again." }
    };
    html_answer(StatusCode::UNAUTHORIZED, outside("Not logged in", &content).into_string())
}

/// `GET /open?token=…`: uses the link up. The page leads on by itself: after a redirection from a
/// foreign page, the browser would not send the cookie.
pub(crate) async fn open(
    State(rooms): State<Arc<Rooms>>,
    method: Method,
    Asked(fields): Asked,
) -> Response {
    let guests = &rooms.door.guests;
    // A program that previews links must not use this one up.
    if method == Method::HEAD {
        return refusal(StatusCode::OK, "");
    }
    if !fields.get("token").is_some_and(|given| guests.take_link(given, Instant::now())) {
        let content = html! {
            h1 { "This link does not work any more" }
            p { "The link of " code { "convoke serve" } " works once, and for a minute if Convoke opened \
                a browser with it, so that no one else can use it." }
            p { a href="/" { "Open the dashboard" } " in the browser that used it, or start "
                code { "convoke serve" } " again." }
        };
        let text = outside("Link over", &content).into_string();
        return html_answer(StatusCode::UNAUTHORIZED, text);
    }
    let content = html! {
        p { a href="/" { "Open the dashboard" } }
    };
    let mut answer = html_answer(StatusCode::OK, outside("Welcome", &content).into_string());
    answer.headers_mut().insert(REFRESH, HeaderValue::from_static("0; url=/"));
    with_cookie(guests, answer)
}

/// `GET /login`: the form with the password.
pub(crate) async fn login_form(State(rooms): State<Arc<Rooms>>) -> Response {
    if rooms.door.guests.password.is_none() {
        return who_are_you(&rooms.door.guests);
    }
    form_page(StatusCode::OK, None)
}

fn form_page(status: StatusCode, problem: Option<&str>) -> Response {
    let content = html! {
        h1 { "Log in to Convoke's dashboard" }
        @if let Some(problem) = problem { p.failure role="alert" { (problem) } }
        form.stack action=(LOGIN_PATH) method="post" {
            label for="password" { "Password from the file of " code { "--token-file" } }
            input #password type="password" name="password" autocomplete="current-password" required;
            div { button.primary { "Log in" } }
        }
    };
    html_answer(status, outside("Log in", &content).into_string())
}

/// `POST /login`: checks the password.
pub(crate) async fn log_in(
    State(rooms): State<Arc<Rooms>>,
    Extension(peer): Extension<Peer>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    let guests = &rooms.door.guests;
    let given = fields.get("password").unwrap_or_default();
    let Some(password) = &guests.password else { return who_are_you(guests) };
    let Ok(mut guesses) = guests.guesses.lock() else { return who_are_you(guests) };
    match guesses.check(password, given, peer, Instant::now()) {
        PasswordCheck::Right => with_cookie(guests, see_other("/")),
        PasswordCheck::Wrong => {
            form_page(StatusCode::UNAUTHORIZED, Some("that is not the password"))
        }
        PasswordCheck::Paused(seconds) => {
            let words = format!("too many wrong passwords; try again in {seconds} s");
            form_page(StatusCode::TOO_MANY_REQUESTS, Some(&words))
        }
    }
}

fn with_cookie(guests: &Guests, mut answer: Response) -> Response {
    let Some(cookie) = guests.admit() else {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "cannot make a cookie\n");
    };
    answer.headers_mut().insert(SET_COOKIE, cookie);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_works_once_and_a_cookie_until_the_server_ends() {
        let guests = Guests::new(1, None, BrowserStart::Print).unwrap();
        let link = guests.link().unwrap();
        let (_, token) = link.split_once('=').unwrap();
        let later = Instant::now() + 10 * LINK_STAYS;
        assert!(!guests.take_link("wrong", later));
        assert!(guests.take_link(token, later));
        assert!(!guests.take_link(token, later));
        assert_eq!(guests.link(), None);
        let cookie = guests.admit().unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        let value = cookie.split_once('=').unwrap().1.split_once(';').unwrap().0;
        assert!(guests.knows(value) && !guests.knows("") && !guests.knows(token));
    }

    #[test]
    fn a_link_that_a_program_was_given_works_for_a_minute() {
        for (after, works) in [(LINK_STAYS / 2, true), (2 * LINK_STAYS, false)] {
            let guests = Guests::new(1, None, BrowserStart::Open).unwrap();
            let link = guests.link().unwrap();
            let (_, token) = link.split_once('=').unwrap();
            assert_eq!(guests.take_link(token, Instant::now() + after), works, "{after:?}");
        }
    }
}
