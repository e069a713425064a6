//! Finding prompts that paste a document instead of referring to it.

use convoke_domain::dispatch::audit::{PasteHit, Pattern, Strictness, audit};
use convoke_domain::dispatch::role::PromptProfile;
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::dispatch::settings;

/// All lines that look pasted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct AuditReport {
    /// The findings, file by file.
    pub found: Vec<PasteReport>,
}

/// A line that looks like a part of a pasted document.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PasteReport {
    /// The file of the prompt.
    pub file: String,
    /// The line, from one.
    pub line: usize,
    /// The patterns that it matches.
    pub patterns: Vec<&'static str>,
    /// The line's text.
    pub text: String,
    /// Why it is allowed.
    pub allowed: Option<&'static str>,
}

impl AuditReport {
    /// Returns how many of them are not allowed.
    pub fn violations(&self) -> usize {
        self.found.iter().filter(|paste| paste.allowed.is_none()).count()
    }

    /// Returns why the prompts do not pass; `None` if they do.
    pub fn class(&self) -> Option<ErrorClass> {
        (self.violations() > 0).then_some(ErrorClass::Refused)
    }
}

/// Checks prompts, each with the name of its file. Under the profile `all-reference` even the
/// artifact under review must not be pasted.
pub fn audit_prompts(
    session: &Session,
    prompts: &[(String, String)],
    profile: Option<PromptProfile>,
) -> Result<AuditReport, Failure> {
    let strictness = match profile.unwrap_or(settings(session)?.profile) {
        PromptProfile::AllReference => Strictness::AllReference,
        PromptProfile::Seed | PromptProfile::StablePrefix => Strictness::Seed,
    };
    let hits = |(name, text): &(String, String)| {
        audit(name, text, strictness).into_iter().map(|hit| report(name, hit)).collect::<Vec<_>>()
    };
    Ok(AuditReport { found: prompts.iter().flat_map(hits).collect() })
}

fn report(file: &str, hit: PasteHit) -> PasteReport {
    PasteReport {
        file: file.to_owned(),
        line: hit.line,
        patterns: hit.patterns.into_iter().map(Pattern::name).collect(),
        text: hit.text,
        allowed: hit.allowed,
    }
}
