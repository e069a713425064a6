//! What the lines of a bridge without a prompt tell about its agent.

use std::borrow::Cow;

use convoke_domain::lane::event::FailureKind;
use serde::Deserialize;

/// Whether an agent would take a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentReadiness {
    /// It began a session, and took its mode.
    Ready,
    /// The conversation failed before that, for this reason.
    Failed(FailureKind, String),
    /// The agent ended, or said nothing.
    Silent,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    acp: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    words: Cow<'a, str>,
}

impl AgentReadiness {
    /// Judges what a bridge printed on its stdout. The agent's own messages are inside of these
    /// lines, so that no agent can say that it is ready.
    pub fn of<'a>(printed: impl IntoIterator<Item = &'a str>) -> Self {
        let lines = printed.into_iter().filter_map(|line| serde_json::from_str(line).ok());
        let judged = lines.filter_map(|line: Line<'_>| match line.acp.as_ref() {
            super::bridge::READY => Some(Self::Ready),
            super::bridge::FAILED => {
                let kind = FailureKind::parse(&line.kind).unwrap_or(FailureKind::Other);
                Some(Self::Failed(kind, line.words.into_owned()))
            }
            _ => None,
        });
        judged.last().unwrap_or(Self::Silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bridges_own_words_count() {
        let ready = r#"{"acp":"ready"}"#;
        assert_eq!(AgentReadiness::of([ready]), AgentReadiness::Ready);
        let inside = r#"{"acp":"stray","message":{"acp":"ready"}}"#;
        assert_eq!(AgentReadiness::of([inside, "ready", "", "[]"]), AgentReadiness::Silent);
        let failed = r#"{"acp":"failed","kind":"auth","words":"log in"}"#;
        let expected = AgentReadiness::Failed(FailureKind::Auth, "log in".to_owned());
        assert_eq!(AgentReadiness::of([failed]), expected);
        assert_eq!(AgentReadiness::of([]), AgentReadiness::Silent);
    }
}
