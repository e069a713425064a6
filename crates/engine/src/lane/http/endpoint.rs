//! A model's API that a user configured: its address, its kind, and its key.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

/// The kind of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `OpenAI`'s Chat Completions, which most local servers support.
    Chat,
    /// `OpenAI`'s Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl Api {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    /// Returns the word that is configured.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    /// Returns the way called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }

    /// Returns what follows the base address.
    const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/messages",
        }
    }
}

/// A secret. No output shows it, not even by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key, without the spaces around it; `None` if it can be no header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_usable = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
        is_usable.then(|| Self(text.to_owned()))
    }

    /// Returns a text without the key in it: some servers repeat what they refuse.
    pub(super) fn hidden_in<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains(&self.0) { Cow::Owned(text.replace(&self.0, "***")) } else { text.into() }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(***)")
    }
}

/// An API at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The kind of API.
    pub api: Api,
    /// Its base address, such as `http://127.0.0.1:11434/v1`.
    pub url: BaseUrl,
    /// The API's key.
    pub key: Option<ApiKey>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u64>,
}

impl Endpoint {
    /// Returns where prompts are sent.
    pub(super) fn address(&self) -> String {
        format!("{}{}", self.url.0, self.api.path())
    }

    /// Returns the headers of a request.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "text/event-stream, application/json".to_owned()),
        ];
        let key = self.key.as_ref().map(|key| key.0.clone());
        match self.api {
            Api::Messages => {
                headers.push(("anthropic-version", "2023-06-01".to_owned()));
                headers.extend(key.map(|key| ("x-api-key", key)));
            }
            Api::Chat | Api::Responses => {
                headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
            }
        }
        headers
    }
}

/// An address that prompts may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// Why an address cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It is not an address, or of another kind.
    #[error("it must be an `http` or `https` address without a query")]
    NotAnAddress,
    /// It carries a name or a password.
    #[error("it must not carry a name or a password; keys come from `key_env` or `key_file`")]
    HasUser,
    /// A key would be sent in the open.
    #[error("Convoke would send the key unencrypted to another machine; use `https`")]
    KeyInTheOpen,
}

impl BaseUrl {
    /// Takes an address.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let uri: Uri = text.parse().map_err(|_| UrlError::NotAnAddress)?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        if !is_web || !has_host || uri.query().is_some() || text.contains('#') {
            return Err(UrlError::NotAnAddress);
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(UrlError::HasUser);
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    /// Returns the address without its path, which may hold a key.
    pub fn origin(&self) -> String {
        let uri: Option<Uri> = self.0.parse().ok();
        let authority = uri.as_ref().and_then(Uri::authority).map_or("", |host| host.as_str());
        let scheme = if self.is_encrypted() { "https" } else { "http" };
        format!("{scheme}://{authority}")
    }

    /// Tells whether others can read a request on its way.
    pub fn is_open(&self) -> bool {
        !self.is_encrypted() && !self.is_loopback()
    }

    /// Tells whether requests are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.to_ascii_lowercase().starts_with("https:")
    }

    /// Tells whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        let uri: Option<Uri> = self.0.parse().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_ours = |address: IpAddr| address.is_loopback();
        host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(is_ours)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_taken() {
        for (text, expected) in [
            ("http://127.0.0.1:11434/v1", Ok(())),
            ("https://api.example.com/v1/", Ok(())),
            ("https://api.example.com", Ok(())),
            ("HTTPS://api.example.com", Ok(())),
            ("ftp://example.com", Err(UrlError::NotAnAddress)),
            ("file:///etc/passwd", Err(UrlError::NotAnAddress)),
            ("example.com/v1", Err(UrlError::NotAnAddress)),
            ("/v1", Err(UrlError::NotAnAddress)),
            ("", Err(UrlError::NotAnAddress)),
            ("https://example.com/v1?key=x", Err(UrlError::NotAnAddress)),
            ("https://example.com/v1#x", Err(UrlError::NotAnAddress)),
            ("https://me:secret@example.com/v1", Err(UrlError::HasUser)),
        ] {
            assert_eq!(BaseUrl::parse(text).map(|_| ()), expected, "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_safe_without_encryption() {
        for (text, is_open) in [
            ("http://127.0.0.1:1/v1", false),
            ("http://127.9.9.9", false),
            ("http://[::1]:8080", false),
            ("http://localhost:8080", false),
            ("https://example.com", false),
            ("HTTPS://example.com", false),
            ("http://example.com", true),
            ("http://localhost.example.com", true),
            ("http://192.168.0.7", true),
            ("http://127.0.0.1.example.com", true),
        ] {
            assert_eq!(BaseUrl::parse(text).unwrap().is_open(), is_open, "{text}");
        }
    }

    #[test]
    fn each_api_wants_the_key_in_its_own_place() {
        let endpoint = |api| Endpoint {
            api,
            url: BaseUrl::parse("https://example.com/v1/").unwrap(),
            key: ApiKey::new(" k-1\n"),
            max_tokens: None,
        };
        for (api, address, header) in [
            (Api::Chat, "https://example.com/v1/chat/completions", ("authorization", "Bearer k-1")),
            (Api::Responses, "https://example.com/v1/responses", ("authorization", "Bearer k-1")),
            (Api::Messages, "https://example.com/v1/messages", ("x-api-key", "k-1")),
        ] {
            let endpoint = endpoint(api);
            assert_eq!(endpoint.address(), address);
            let headers = endpoint.headers();
            assert!(headers.iter().any(|(name, value)| (*name, value.as_str()) == header));
            assert!(!format!("{endpoint:?}").contains("k-1"));
            assert_eq!(Api::parse(api.name()), Some(api));
        }
    }

    #[test]
    fn a_key_is_hidden_at_any_position() {
        let key = ApiKey::new("k-1").unwrap();
        assert_eq!(key.hidden_in("no: k-1, k-1!"), "no: ***, ***!");
        assert_eq!(key.hidden_in("no"), "no");
        for text in ["", " \n", "two words", "a\nb", "é"] {
            assert_eq!(ApiKey::new(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_does_harm(text in "\\PC{0,40}", rest in "[a-z:/@.\\[\\]]{0,20}") {
            for text in [text, format!("http://{rest}")] {
                if let Ok(url) = BaseUrl::parse(&text) {
                    url.is_open();
                }
            }
        }
    }
}
