//! `convoke dispatch prompt` and `artifacts`.

use convoke_domain::dispatch::role::PromptProfile;
use convoke_service::dispatch::{artifacts, fresh_prompt};
use convoke_service::failure::Failure;

use super::materials::{ChangedArgs, MaterialArgs};
use super::{HandoverArgs, PostArgs, profile, say_remarks};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct PromptArgs {
    #[command(flatten)]
    post: PostArgs,

    #[command(flatten)]
    materials: MaterialArgs,

    #[command(flatten)]
    handover: HandoverArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct ArtifactsArgs {
    #[command(flatten)]
    post: PostArgs,

    /// The style of the prompt [default: seed]
    #[arg(long, value_parser = profile())]
    profile: Option<PromptProfile>,

    #[command(flatten)]
    changed: ChangedArgs,
}

impl PromptArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let (post, materials) = (self.post.name(), self.materials.read()?);
        let report = fresh_prompt(&app.session, &post, &materials, &self.handover.terms())?;
        say_remarks(app, &report.diagnostics, output);
        match app.format {
            Format::Text => output.data(&report.prompt)?,
            Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}

impl ArtifactsArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report =
            artifacts(&app.session, &self.post.name(), self.profile, &self.changed.files())?;
        say_remarks(app, &report.diagnostics, output);
        match app.format {
            Format::Text => output.data(&format!("{}\n", report.block))?,
            Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}
