//! `--sarif`: the findings of a review as a file for code hosts.

use std::path::PathBuf;

use convoke_service::failure::Failure;
use convoke_service::sarif::{ReviewLog, SarifFile};
use convoke_service::session::Session;

/// The file that a review is logged to.
#[derive(Debug, clap::Args)]
pub(super) struct SarifArgs {
    /// Also write the findings to this file as SARIF 2.1.0; the log of a review that did not take
    /// place says so. Choose a path outside the project, or one that git ignores
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

/// The file of this review, if the user wants one.
pub(super) struct Sarif(Option<SarifFile>);

impl SarifArgs {
    /// Removes the log of an earlier review, before this one costs anything.
    pub(super) fn prepare(&self, session: &Session) -> Result<Sarif, Failure> {
        let file = self.sarif.as_ref().map(|path| SarifFile::prepare(session, path));
        file.transpose().map(Sarif)
    }
}

impl Sarif {
    /// Writes the log.
    pub(super) fn write(&self, log: impl FnOnce() -> ReviewLog) -> Result<(), Failure> {
        self.0.as_ref().map_or(Ok(()), |file| file.write(&log()))
    }
}
