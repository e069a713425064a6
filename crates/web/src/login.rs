//! Letting a browser in: a link with a token that works once, or a password, becomes a cookie.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{HeaderValue, REFRESH, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use convoke_page::layout::{STYLE_PATH, outside};
use convoke_service::dashboard::BrowserStart;
use convoke_service::failure::Failure;
use convoke_service::mcp_listen::AccessToken;
use maud::{Markup, html};
use tokio::time::Instant;

use crate::answer::{html_answer, refusal, see_other};
use crate::door::{CheckedForm, cookie};
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
    /// The token of the link.
    link: Secret,
    link_state: Mutex<LinkState>,
    /// When the link ends, if it does.
    link_ends: Option<Instant>,
    password: Option<Secret>,
    guesses: Mutex<Guesses>,
    browsers: Mutex<VecDeque<Secret>>,
}

/// Whether the link still lets a browser in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkState {
    Open,
    Used,
}

/// What opening a link comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkVisit {
    /// It lets the browser in, and no other from now on.
    Welcome,
    /// It let a browser in before.
    Used,
    /// Its minute is over.
    Late,
    /// It is no link of this server's.
    Unknown,
}

/// A browser that may not see the dashboard, as its request shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// It has a cookie of this name that lets no one in: of an earlier server, or of a browser that left
    /// for another.
    Former,
    /// It has none.
    New,
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
            link: Secret::random()?,
            link_state: Mutex::new(LinkState::Open),
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
    pub(crate) fn link(&self) -> String {
        format!("{OPEN_PATH}?token={}", self.link.text())
    }

    /// Tells whether a cookie is one of ours.
    pub(crate) fn knows(&self, given: &str) -> bool {
        let browsers = self.browsers.lock();
        browsers.is_ok_and(|browsers| browsers.iter().any(|secret| secret.is(given)))
    }

    /// Uses the link up, if this is its token and it still works. Only a browser that has the token learns
    /// that the link was used.
    fn visit(&self, given: &str, now: Instant) -> LinkVisit {
        let Ok(mut state) = self.link_state.lock() else { return LinkVisit::Unknown };
        if !self.link.is(given) {
            return LinkVisit::Unknown;
        }
        match *state {
            LinkState::Used => LinkVisit::Used,
            LinkState::Open if self.link_ends.is_some_and(|end| now >= end) => LinkVisit::Late,
            LinkState::Open => {
                *state = LinkState::Used;
                LinkVisit::Welcome
            }
        }
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

/// Answers a browser that is not logged in: why, and what lets it in.
pub(crate) fn who_are_you(guests: &Guests, stranger: Stranger) -> Response {
    if guests.password.is_some() {
        return see_other(LOGIN_PATH);
    }
    let content = html! {
        @match stranger {
            Stranger::Former => {
                h1 { "Your session has ended" }
                p { "The dashboard that let this browser in has ended, and its cookie with it." }
            }
            Stranger::New => {
                h1 { "This dashboard does not know your browser" }
                p { "It shows the project only to the browser that opened its link." }
            }
        }
        p { "If you have not used it yet, open the link that " code { "convoke serve" } " printed." }
        (way_in(guests))
    };
    html_answer(StatusCode::UNAUTHORIZED, outside("Not logged in", &content).into_string())
}

/// Says what lets a browser in.
fn way_in(guests: &Guests) -> Markup {
    html! {
        @if guests.password.is_some() {
            p { a href=(LOGIN_PATH) { "Log in with the password" } "." }
        } @else {
            p { "In the terminal, you can end " code { "convoke serve" } " with Ctrl-C and start it again. It \
                prints a new link; open that one here. Nothing is lost, because the dashboard keeps \
                nothing of its own." }
        }
    }
}

/// `GET /open?token=…`: uses the link up. The page leads on by itself: after a redirection from a
/// foreign page, the browser would not send the cookie.
pub(crate) async fn open(
    State(rooms): State<Arc<Rooms>>,
    method: Method,
    headers: HeaderMap,
    Asked(fields): Asked,
) -> Response {
    let guests = &rooms.door.guests;
    // A program that previews links must not use this one up.
    if method == Method::HEAD {
        return refusal(StatusCode::OK, "");
    }
    // Its user opens the link a second time, from the terminal or the browser's history.
    if cookie(&headers, guests).is_some_and(|given| guests.knows(given)) {
        return lead_on();
    }
    let given = fields.get("token").unwrap_or_default();
    match guests.visit(given, Instant::now()) {
        LinkVisit::Welcome => with_cookie(guests, lead_on()),
        visit @ (LinkVisit::Used | LinkVisit::Late | LinkVisit::Unknown) => {
            link_over(guests, visit)
        }
    }
}

fn lead_on() -> Response {
    let content = html! {
        p { a href="/" { "Open the dashboard" } }
    };
    let mut answer = html_answer(StatusCode::OK, outside("Welcome", &content).into_string());
    answer.headers_mut().insert(REFRESH, HeaderValue::from_static("0; url=/"));
    answer
}

fn link_over(guests: &Guests, visit: LinkVisit) -> Response {
    let content = html! {
        @match visit {
            LinkVisit::Used | LinkVisit::Welcome => {
                h1 { "This link has been used" }
                p { "It works once, so that no one else can use it. The browser that opened it still sees \
                    the dashboard, without the link." }
                p { "If that was not you, another user of this machine may see the dashboard: end \
                    " code { "convoke serve" } " now." }
            }
            LinkVisit::Late => {
                h1 { "This link has ended" }
                p { "Convoke opened a browser with it, and such a link works for a minute: other users of \
                    the machine can see it." }
            }
            LinkVisit::Unknown => {
                h1 { "This link is not of this dashboard" }
                p { "It may be of an earlier " code { "convoke serve" } ", or not be copied as a whole." }
            }
        }
        (way_in(guests))
    };
    html_answer(StatusCode::UNAUTHORIZED, outside("Link over", &content).into_string())
}

/// `GET /login`: the form with the password.
pub(crate) async fn login_form(State(rooms): State<Arc<Rooms>>) -> Response {
    if rooms.door.guests.password.is_none() {
        return who_are_you(&rooms.door.guests, Stranger::New);
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
    let Some(password) = &guests.password else {
        return who_are_you(guests, Stranger::New);
    };
    let Ok(mut guesses) = guests.guesses.lock() else {
        return who_are_you(guests, Stranger::New);
    };
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
        let link = guests.link();
        let (_, token) = link.split_once('=').unwrap();
        let later = Instant::now() + 10 * LINK_STAYS;
        assert_eq!(guests.visit("wrong", later), LinkVisit::Unknown);
        assert_eq!(guests.visit("", later), LinkVisit::Unknown);
        assert_eq!(guests.visit(token, later), LinkVisit::Welcome);
        assert_eq!(guests.visit(token, later), LinkVisit::Used);
        assert_eq!(guests.visit("wrong", later), LinkVisit::Unknown, "it learns nothing");
        let cookie = guests.admit().unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        let value = cookie.split_once('=').unwrap().1.split_once(';').unwrap().0;
        assert!(guests.knows(value) && !guests.knows("") && !guests.knows(token));
    }

    #[test]
    fn a_link_that_a_program_was_given_works_for_a_minute() {
        for (after, expected) in
            [(LINK_STAYS / 2, LinkVisit::Welcome), (2 * LINK_STAYS, LinkVisit::Late)]
        {
            let guests = Guests::new(1, None, BrowserStart::Open).unwrap();
            let link = guests.link();
            let (_, token) = link.split_once('=').unwrap();
            assert_eq!(guests.visit(token, Instant::now() + after), expected, "{after:?}");
        }
    }
}
