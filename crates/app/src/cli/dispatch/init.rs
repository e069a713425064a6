//! `convoke dispatch init`: a feature's folder and a reviewer to begin with.

use convoke_domain::dispatch::feature_name::FeatureName;
use convoke_service::dispatch::init_dispatch;
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Create a feature's folder and a reviewer of the project's own
///
/// Makes `spec.md`, `design.md`, `plan.md` and `tasks.md` below `docs/features/001-NAME`, the file
/// with the reviewer's instructions, and its entry in `convoke.toml`. Never changes a file that
/// exists, and says what to run next.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the feature is called: small letters, digits and hyphens [default: first-feature]
    #[arg(value_parser = name)]
    name: Option<FeatureName>,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = init_dispatch(&app.session, &self.name.clone().unwrap_or_default())?;
        if app.format == Format::Json {
            output.json(&report)?;
            return Ok(Exit::Done);
        }
        for path in &report.created {
            output.data(&format!("created  {path}\n"))?;
        }
        for path in &report.kept {
            output.data(&format!("kept     {path}\n"))?;
        }
        // What comes next stays below the list where both go to a terminal.
        output.flush()?;
        if let Some(lines) = &report.add_to_configuration {
            output.say(&format!("note: to use the reviewer, add to convoke.toml:\n\n{lines}"));
        }
        output.say(&format!("Write {}/spec.md, and then run:", report.feature));
        for command in &report.next {
            output.command(command);
        }
        Ok(Exit::Done)
    }
}

fn name(name: &str) -> Result<FeatureName, String> {
    FeatureName::parse(name).ok_or_else(|| {
        "a name has small letters, digits and hyphens, and begins with a letter".to_owned()
    })
}
