//! `convoke guard`: the guardian of one client. Convoke starts it itself.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use convoke_engine::lane::guardian::{Ward, guard};

use crate::exit::Exit;
use crate::failure::Failure;

/// Look after one client until nothing of it is left (called by convoke)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write how the client ended
    #[arg(long, value_name = "FILE")]
    report: PathBuf,

    /// Who wants to know; without them, the folder of that file is removed
    #[arg(long, value_name = "PID")]
    owner: u32,

    /// How long the client may take to stop when it is asked to
    #[arg(long, value_name = "N")]
    grace_ms: u64,

    /// What the client reads on its stdin
    #[arg(long, value_name = "FILE")]
    feed: Option<PathBuf>,

    /// The client and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    client: Vec<OsString>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot look after the client")]
struct GuardFailed(#[source] std::io::Error);

impl Args {
    /// Runs the client to its end.
    pub fn run(&self) -> Result<Exit, Failure> {
        let Some((program, arguments)) = self.client.split_first() else { return Ok(Exit::Usage) };
        guard(&Ward {
            program: PathBuf::from(program),
            arguments: arguments.to_vec(),
            stdin: self.feed.clone(),
            grace: Duration::from_millis(self.grace_ms),
            report: self.report.clone(),
            owner: self.owner,
        })
        .map_err(|error| Failure::new(Exit::Surroundings, GuardFailed(error)))?;
        Ok(Exit::Done)
    }
}
