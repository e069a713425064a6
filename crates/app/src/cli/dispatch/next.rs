//! `convoke dispatch next`.

use std::path::PathBuf;

use convoke_domain::dispatch::resume::FreshReason;
use convoke_service::dispatch::{NextRoundReport, NextRoundRequest, next_round};
use convoke_service::failure::Failure;

use super::materials::MaterialArgs;
use super::{HandoverArgs, PostArgs, read_named, say_remarks};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    next: NextArgs,

    #[command(flatten)]
    handover: HandoverArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct NextArgs {
    #[command(flatten)]
    post: PostArgs,

    #[command(flatten)]
    materials: MaterialArgs,

    /// The session that answered the previous round
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// A file that describes how the issues were fixed
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// First commit the changes: the document under review, or all files
    #[arg(long)]
    commit: bool,

    /// Mark the round as the final validation by a role that passed before
    #[arg(long = "final")]
    is_final: bool,

    /// The error of a failed attempt to resume the session for this round
    #[arg(long, value_name = "TEXT")]
    resume_failed: Option<String>,
}

impl NextArgs {
    /// Reads every file that the user named.
    pub(super) fn request(&self) -> Result<NextRoundRequest, Failure> {
        Ok(NextRoundRequest {
            post: self.post.name(),
            materials: self.materials.read()?,
            agent: self.agent.clone(),
            summary: read_named(self.summary.as_ref())?.unwrap_or_default(),
            commits: self.commit,
            is_final: self.is_final,
            resume_failed: self.resume_failed.clone(),
        })
    }
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = next_round(&app.session, &self.next.request()?, &self.handover.terms())?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                say_remarks(app, &report.diagnostics, output);
                output.say(&sentence(&report));
                output.data(&report.prompt)?;
            }
        }
        Ok(Exit::Done)
    }
}

fn sentence(report: &NextRoundReport) -> String {
    let committed = report.committed.as_ref().map_or(String::new(), |result| format!("; {result}"));
    match (&report.agent_id, report.delta_chars) {
        (Some(agent_id), Some(delta)) if report.reason == "final_round" => {
            format!("resume {agent_id}: the final round, {delta} characters changed{committed}")
        }
        (Some(agent_id), Some(delta)) => format!(
            "resume {agent_id}: {delta} characters changed, of {} at most{committed}",
            report.base_chars / 2
        ),
        (Some(agent_id), None) => format!("resume {agent_id}{committed}"),
        (None, _) => {
            let reason =
                FreshReason::parse(report.reason).map_or(report.reason, FreshReason::words);
            format!("fresh: {reason}{committed}")
        }
    }
}
