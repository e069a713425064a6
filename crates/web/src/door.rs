//! What a request passes before it reaches a page: a host that is ours, no foreign origin, the cookie,
//! a body of bounded size within bounded time, and for every change the token of our own forms.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue,
    ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use convoke_page::layout::Access;
use convoke_page::limits::LONGEST_FORM;
use tokio::time::timeout;

use crate::answer::refusal;
use crate::form::Fields;
use crate::large_form::{SentForm, receive, too_large};
use crate::login::{self, Guests, Stranger};
use crate::routes::Rooms;

/// How long a browser may take to send a form.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most bytes of a form from a browser that is not let in yet.
const LONGEST_LOGIN: usize = 64 * 1024;

/// Pages load only what we serve, run no script of their own, and are in no frame.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Who may ask, and by which names.
#[derive(Debug)]
pub(crate) struct Door {
    /// The address that the server listens on.
    pub(crate) address: SocketAddr,
    /// Further names by which browsers may call the machine.
    pub(crate) hosts: Vec<String>,
    pub(crate) guests: Guests,
}

/// The fields of a form that passed the door.
#[derive(Debug, Clone, Default)]
pub(crate) struct CheckedForm(pub(crate) Fields);

impl Door {
    /// Tells whether a browser called us by a name of ours. A page of another name could otherwise
    /// point that name at this machine (DNS rebinding); an IP address cannot be pointed elsewhere.
    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(HOST).iter();
        let (Some(one), None) = (given.next(), given.next()) else { return false };
        one.to_str().is_ok_and(|host| self.is_ours(host))
    }

    /// Says which hosts the dashboard answers to, and what to do about another. It repeats nothing of the
    /// request.
    fn way_of_hosts(&self) -> String {
        let port = self.address.port();
        format!(
            "This host and port are not the dashboard's. It answers at http://localhost:{port}/.\n\n\
             Through a tunnel, use the same port on both sides: ssh -L {port}:localhost:{port} MACHINE\n\
             Under another name, start it with that name: convoke serve --host NAME\n"
        )
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = split_port(host);
        let port = port.map_or(Some(80), |port| port.parse::<u16>().ok());
        if port != Some(self.address.port()) {
            return false;
        }
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        match bare.parse::<IpAddr>() {
            Ok(ip) if self.address.ip().is_unspecified() => !ip.is_unspecified(),
            Ok(ip) => ip == self.address.ip() || ip.is_loopback(),
            Err(_) => {
                let is_named = self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
                is_named || name.eq_ignore_ascii_case("localhost")
            }
        }
    }

    /// Tells whether a page of ours asks: the origin is the host that the request names.
    fn is_own_origin(headers: &HeaderMap) -> bool {
        let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        origin.zip(host).is_some_and(|(origin, host)| {
            origin.strip_prefix("http://").is_some_and(|from| from.eq_ignore_ascii_case(host))
        })
    }

    /// Tells whether another page embeds ours or reads it; a link to it is allowed.
    fn is_embedded(headers: &HeaderMap) -> bool {
        let word = |name| headers.get(name).and_then(|word: &HeaderValue| word.to_str().ok());
        let is_foreign =
            word(FETCH_SITE).is_some_and(|site| !matches!(site, "same-origin" | "none"));
        is_foreign && word(FETCH_MODE) != Some("navigate")
    }
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        Some(_) | None => (host, None),
    }
}

/// Passes a request on, or refuses it; gives every answer the headers that protect it.
pub(crate) async fn guard(
    State(rooms): State<Arc<Rooms>>,
    request: Request,
    next: Next,
) -> Response {
    let mut answer = match admit(&rooms, request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => *refused,
    };
    protect(answer.headers_mut());
    answer
}

async fn admit(rooms: &Rooms, request: Request) -> Result<Request, Box<Response>> {
    let door = &rooms.door;
    let no = |status, words: &'static str| Box::new(refusal(status, words));
    let headers = request.headers();
    if !door.knows_host(headers) {
        let words = door.way_of_hosts();
        return Err(Box::new(refusal(StatusCode::MISDIRECTED_REQUEST, words)));
    }
    if Door::is_embedded(headers) {
        return Err(no(StatusCode::FORBIDDEN, "another page may not load this one\n"));
    }
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_reading && headers.contains_key(ORIGIN) && !Door::is_own_origin(headers) {
        return Err(no(StatusCode::FORBIDDEN, "a foreign page asks\n"));
    }
    let path = request.uri().path();
    let given = cookie(headers, &door.guests);
    if !given.is_some_and(|given| door.guests.knows(given)) && !login::is_open_to_all(path) {
        let stranger = if given.is_some() { Stranger::Former } else { Stranger::New };
        return Err(Box::new(login::who_are_you(&door.guests, stranger)));
    }
    if is_reading {
        return Ok(request);
    }
    if *request.method() != Method::POST {
        return Err(no(StatusCode::METHOD_NOT_ALLOWED, "the dashboard knows GET and POST\n"));
    }
    if !Door::is_own_origin(headers) {
        return Err(no(StatusCode::FORBIDDEN, "only the dashboard's own pages change something\n"));
    }
    let is_login = login::is_open_to_all(path);
    if !is_login && rooms.dashboard.access == Access::ReadOnly {
        return Err(no(StatusCode::FORBIDDEN, "this dashboard is read-only\n"));
    }
    let (mut parts, body) = request.into_parts();
    // A stranger's form is a password.
    let most = if is_login { LONGEST_LOGIN } else { LONGEST_FORM };
    let fields = match read_form(&parts.headers, body, most).await? {
        SentForm::Whole(fields) => fields,
        SentForm::Beginning(_) if is_login => {
            return Err(no(StatusCode::PAYLOAD_TOO_LARGE, "the form is too large\n"));
        }
        SentForm::Beginning(fields) => {
            return Err(Box::new(too_large(&rooms.dashboard, parts.uri.path(), &fields)));
        }
    };
    let is_ours = fields.get("csrf").is_some_and(|given| rooms.dashboard.csrf.is(given));
    if !is_login && !is_ours {
        return Err(no(StatusCode::FORBIDDEN, "the form has expired; load the page again\n"));
    }
    parts.extensions.insert(CheckedForm(fields));
    Ok(Request::from_parts(parts, Body::empty()))
}

async fn read_form(
    headers: &HeaderMap,
    body: Body,
    most: usize,
) -> Result<SentForm, Box<Response>> {
    let no = |status, words: &'static str| Box::new(refusal(status, words));
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(no(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a change is sent as a form\n"));
    }
    match timeout(PATIENCE, receive(body, most)).await {
        Err(_) => Err(no(StatusCode::REQUEST_TIMEOUT, "the form took too long\n")),
        Ok(form) => form.ok_or_else(|| no(StatusCode::BAD_REQUEST, "cannot read this form\n")),
    }
}

/// Returns the value of our cookie.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, guests: &Guests) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == guests.cookie_name()).map(|(_, value)| value.trim())
}

fn protect(headers: &mut HeaderMap) {
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers would hide the origin of our own forms.
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in fixed {
        // A page that needs another policy brings it along.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use convoke_service::dashboard::BrowserStart;

    use super::*;

    fn door(address: &str, hosts: &[&str]) -> Door {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let address: SocketAddr = address.parse().unwrap();
        Door {
            address,
            hosts,
            guests: Guests::new(address.port(), None, BrowserStart::Print).unwrap(),
        }
    }

    #[test]
    fn only_our_own_names_and_addresses_are_hosts() {
        let here = door("127.0.0.1:4711", &["dev.local"]);
        for (host, is_ours) in [
            ("127.0.0.1:4711", true),
            ("localhost:4711", true),
            ("LOCALHOST:4711", true),
            ("[::1]:4711", true),
            ("dev.local:4711", true),
            ("127.0.0.1:4712", false),
            ("127.0.0.1", false),
            ("evil.example:4711", false),
            ("localhost.evil.example:4711", false),
            ("10.0.0.1:4711", false),
            ("", false),
            (":4711", false),
            ("127.0.0.1:99999", false),
        ] {
            assert_eq!(here.is_ours(host), is_ours, "{host}");
        }
        let everywhere = door("0.0.0.0:80", &[]);
        for (host, is_ours) in
            [("10.0.0.1", true), ("10.0.0.1:80", true), ("evil.example", false), ("0.0.0.0", false)]
        {
            assert_eq!(everywhere.is_ours(host), is_ours, "{host}");
        }
    }
}
