//! `convoke lane list`, `show` and `stop`: which lanes there are.

use convoke_domain::lane::budget::dollars;
use convoke_domain::lane::ledger::LaneEntry;
use convoke_service::failure::Failure;
use convoke_service::lane::{
    LaneEntryReport, LaneList, StoppedLane, list, seconds, show, shown, stop,
};
use convoke_service::settings::wake;
use jiff::tz::Offset;

use crate::app::{App, Format};
use crate::cli::table;
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Also list older lanes and those of other projects
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct OneArgs {
    /// The lane's number
    #[arg(value_name = "ID")]
    id: i64,
}

impl ListArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let entries = list(&app.session, if self.all { LaneList::All } else { LaneList::Recent })?;
        match app.format {
            Format::Json => {
                output.json(&entries.iter().map(LaneEntryReport::new).collect::<Vec<_>>())?;
            }
            Format::Text if entries.is_empty() => output.data("No lanes yet.\n")?,
            Format::Text => {
                output.table(&listing(&entries, wake::settings(&app.session)?.clock))?;
            }
        }
        Ok(Exit::Done)
    }
}

fn listing(entries: &[LaneEntry], clock: Offset) -> Grid {
    let row = |entry: &LaneEntry| {
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let spent = entry.spent();
        let took = entry.over.as_ref().and_then(|over| over.took_ms);
        [
            entry.id.to_string(),
            entry.shown_state().to_owned(),
            entry.begun.agent.clone(),
            or_dash(entry.begun.purpose.role.clone()),
            or_dash(entry.model().map(str::to_owned)),
            shown(entry.begun.at, clock),
            or_dash(took.map(seconds)),
            or_dash(spent.map(|spent| spent.tokens().to_string())),
            or_dash(spent.and_then(|spent| spent.micro_dollars).map(dollars)),
        ]
    };
    let header = ["lane", "state", "agent", "role", "model", "began", "took", "tokens", "cost"];
    table::grid(header, entries.iter().map(row), &[0, 6, 7, 8]).dispensable(&[4, 3, 5])
}

impl OneArgs {
    /// Prints the record of a lane.
    pub(super) fn show(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        print(app, &show(&app.session, self.id)?, output)
    }

    /// Stops a lane by asking the convoke that runs it.
    pub(super) fn stop(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let StoppedLane { entry, was_over, with_it } = stop(&app.session, self.id)?;
        if was_over {
            output.say(&format!("note: lane {} is over: {}", self.id, entry.shown_state()));
        }
        for other in with_it {
            output.say(&format!("note: lane {other} of the same convoke stopped, too"));
        }
        print(app, &entry, output)
    }
}

fn print(app: &App, entry: &LaneEntry, output: &mut Output) -> Result<Exit, Failure> {
    let report = LaneEntryReport::new(entry);
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text => output.data(&report.lines(wake::settings(&app.session)?.clock))?,
    }
    Ok(Exit::Done)
}
