//! Secrets that a browser must know, and comparing them.

use std::fmt;

use convoke_engine::skill::hash;
use convoke_service::failure::Failure;
use convoke_service::mcp_listen::AccessToken;

/// A text that only our own pages know. Only its hash is compared, so that the time a comparison takes
/// tells nothing about the text.
#[derive(Clone)]
pub(crate) struct Secret {
    text: String,
    hash: String,
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

impl Secret {
    /// Makes one that no one can guess.
    pub(crate) fn random() -> Result<Self, Failure> {
        AccessToken::random().map(|token| Self::new(token.text()))
    }

    /// Keeps one that the user chose.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), hash: hash(text) }
    }

    /// Returns the text, to send it to a browser that may know it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether a text is the secret.
    pub(crate) fn is(&self, given: &str) -> bool {
        hash(given) == self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_knows_itself_and_is_never_printed() {
        let [one, other] = [Secret::random().unwrap(), Secret::random().unwrap()];
        assert!(one.is(one.text()) && !one.is(other.text()) && !one.is(""));
        assert_eq!(format!("{one:?}"), "Secret");
    }
}
