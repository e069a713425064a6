//! The design folder's documents as one cited block under a token budget.
//!
//! [`brief_settings`] resolves which documents to read and how to count them; the other functions
//! take the result, so that a front end can show its diagnostics first, even if the rest fails.

pub mod files;
mod init;
mod report;
mod rest;

use convoke_domain::brief::Brief;
use convoke_domain::brief::settings::Layer;
use convoke_domain::token::{Tokenizer, Vocabulary};
use convoke_engine::brief::secrets::SecretRules;
use convoke_engine::brief::{BriefMode, LoadedBrief, ResolvedBriefSettings, load, resolve};
use convoke_engine::vocabulary;

pub use self::init::{BriefInitReport, init_folder};
pub use self::report::{
    BriefCandidateReport, BriefDiagnosticReport, BriefIncludedReport, BriefReadReport, BriefReport,
};
pub use self::rest::{BriefRestReport, read_rest};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::brief::layers;

/// Documents that were read, and what counts their tokens.
pub struct OpenBrief {
    /// The documents that were read.
    pub loaded: LoadedBrief,
    tokenizer: Box<dyn Tokenizer>,
}

impl OpenBrief {
    /// Decides about the documents. The result borrows their texts.
    pub fn brief(&self) -> Brief<'_> {
        self.loaded.brief(&*self.tokenizer)
    }
}

impl OpenBrief {
    /// Leaves out documents with a likely secret, and reports them. The rules are loaded only where there
    /// is a text.
    pub fn withhold_secrets(&mut self, session: &Session) -> Result<(), Failure> {
        if !self.loaded.has_text() {
            return Ok(());
        }
        let rules = SecretRules::load().map_err(|error| Failure::new(ErrorClass::Bug, error))?;
        for path in self.loaded.withhold_secrets(&rules) {
            session.reporter().warn(format!("{path} is left out: it holds a likely secret"));
        }
        Ok(())
    }
}

/// Settles the settings of a brief, of which a call's own are the strongest.
pub fn brief_settings(session: &Session, call: Layer) -> Result<ResolvedBriefSettings, Failure> {
    Ok(resolve(&session.project, layers(call, session)?))
}

/// Reads every document of the design folder.
pub fn open_brief(
    session: &Session,
    mode: BriefMode,
    settled: ResolvedBriefSettings,
) -> Result<OpenBrief, Failure> {
    let loaded = load(&session.project, mode, settled);
    let counted = if loaded.has_text() { loaded.settings.tokenizer } else { Vocabulary::Estimate };
    let tokenizer = open_tokenizer(counted)?;
    Ok(OpenBrief { loaded, tokenizer })
}

/// Returns the block as configured, if it is not empty.
pub fn brief_block(session: &Session) -> Result<Option<String>, Failure> {
    let settled = brief_settings(session, Layer::default())?;
    let opened = open_brief(session, BriefMode::Standalone, settled)?;
    if !opened.loaded.has_text() {
        return Ok(None);
    }
    Ok(Some(opened.brief().block().pieces().collect()))
}

/// Loads a vocabulary; the estimate needs none.
pub(crate) fn open_tokenizer(asked_for: Vocabulary) -> Result<Box<dyn Tokenizer>, Failure> {
    vocabulary::open(asked_for).map_err(|error| {
        Failure::new(ErrorClass::Prerequisite, error).hint("use `--tokenizer estimate`")
    })
}
