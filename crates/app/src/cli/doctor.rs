//! `convoke doctor`: everything that keeps Convoke from working here, each with its remedy.

use convoke_service::doctor::{
    ApiCheck, CheckLevel, ClientCheck, DoctorCheck, DoctorRequest, examine,
};
use convoke_service::failure::{ErrorClass, Failure};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::styled::{Ink, StyledLine};

/// Check what Convoke needs here, and show how to fix problems
///
/// Exits 0 if every check passes, also with warnings, and 3 if a prerequisite of a command is
/// missing, or if no agent answers to `--probe`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Do not connect to configured model APIs
    #[arg(long)]
    no_probe: bool,

    /// Ask every installed client for two letters with the command that a lane runs, which costs a
    /// few tokens
    #[arg(long, conflicts_with = "no_probe")]
    probe: bool,
}

impl Args {
    /// Runs every check.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let apis = if self.no_probe { ApiCheck::Configured } else { ApiCheck::Contacted };
        let clients = if self.probe { ClientCheck::Answer } else { ClientCheck::Command };
        let checks = match examine(&app.session, &DoctorRequest { apis, clients }) {
            Ok(checks) => checks,
            // The user who stopped it wants to read no more.
            Err(failure) if failure.class == ErrorClass::Interrupted => {
                return Ok(Exit::Interrupted);
            }
            Err(failure) => return Err(failure),
        };
        match app.format {
            Format::Json => output.json(&checks)?,
            Format::Text => {
                let lines: Vec<_> = checks.iter().flat_map(lines).collect();
                output.sheet(&lines, 8)?;
            }
        }
        let has_failed = checks.iter().any(|check| check.level == CheckLevel::Fail);
        Ok(if has_failed { Exit::Surroundings } else { Exit::Done })
    }
}

fn lines(check: &DoctorCheck) -> Vec<StyledLine> {
    let DoctorCheck { name, level, found, fix } = check;
    let ink = match level {
        CheckLevel::Ok => Ink::Good,
        CheckLevel::Warn => Ink::Caution,
        CheckLevel::Fail => Ink::Bad,
    };
    let line = StyledLine::new(ink, level.name()).padded(6);
    let line = line.with(Ink::Strong, &format!("{name}:")).with(Ink::Plain, &format!(" {found}"));
    let fix = fix.iter().map(|fix| StyledLine::plain("      fix: ").with(Ink::Plain, fix));
    std::iter::once(line).chain(fix).collect()
}
