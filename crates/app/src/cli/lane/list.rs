//! `convoke lane list`, `show` and `stop`: which lanes there are.

use std::time::Duration;

use convoke_domain::lane::cap::dollars;
use convoke_domain::lane::ledger::LaneEntry;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::owner::{Whereabouts, stop, whereabouts};
use convoke_store::lane::{LaneQuery, LaneStore};
use convoke_store::sqlite::SqliteStore;
use jiff::tz::Offset;

use super::entry::{EntryReport, seconds, shown};
use crate::app::{App, Format};
use crate::cli::table;
use crate::clock::now;
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, open_store, refused};

/// How many lanes are listed beside those that run.
const RECENT: u32 = 20;

/// How long a lane may take to stop: its client's grace, and more.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Also older ones, and those of other projects
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct OneArgs {
    /// The lane's number
    #[arg(value_name = "ID")]
    id: i64,
}

#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("there is no lane {id}")]
    NoLane { id: i64 },
    #[error("cannot stop lane {id}: process {pid} is not on this machine, or in another container")]
    Elsewhere { id: i64, pid: u32 },
    #[error("cannot stop lane {id}")]
    Refused { id: i64, source: std::io::Error },
    #[error("cannot see lane {id} stop: process {pid} was asked, and still runs")]
    Stubborn { id: i64, pid: u32 },
}

impl ListArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = Workspace::open(app, None)?;
        close_lost(&store)?;
        let project = (!self.all).then_some(scope.project.as_str());
        let query = LaneQuery { project, ..LaneQuery::default() };
        let last = (!self.all).then_some(RECENT);
        let recent = store.lanes(LaneQuery { last, ..query }).map_err(refused)?;
        let mut entries = store.lanes(LaneQuery { open: true, ..query }).map_err(refused)?;
        entries.retain(|entry| !recent.contains(entry));
        entries.extend(recent);
        match app.format {
            Format::Json => {
                output.json(&entries.iter().map(EntryReport::new).collect::<Vec<_>>())?;
            }
            Format::Text if entries.is_empty() => output.data("No lanes yet.\n")?,
            Format::Text => output.data(&listing(&entries, wake::settings(app)?.clock))?,
        }
        Ok(Exit::Done)
    }
}

fn listing(entries: &[LaneEntry], clock: Offset) -> String {
    let row = |entry: &LaneEntry| {
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let spent = entry.spent();
        let took = entry.over.as_ref().and_then(|over| over.took_ms);
        [
            entry.id.to_string(),
            entry.state().to_owned(),
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
    table::render(header, entries.iter().map(row), &[0, 6, 7, 8])
}

/// Closes every lane whose convoke is gone; what it had started, the guardian has ended.
fn close_lost(store: &SqliteStore) -> Result<(), Failure> {
    let query = LaneQuery { open: true, ..LaneQuery::default() };
    for entry in store.lanes(query).map_err(refused)? {
        if whereabouts(&entry.begun.owner) == Whereabouts::Gone {
            store.close_lane(entry.id, None, now()).map_err(refused)?;
        }
    }
    Ok(())
}

impl OneArgs {
    fn find(&self, store: &SqliteStore) -> Result<LaneEntry, Failure> {
        let found = store.lane(self.id).map_err(refused)?;
        found.ok_or_else(|| {
            Failure::new(Exit::No, ListError::NoLane { id: self.id })
                .hint("see `convoke lane list --all`")
        })
    }

    /// Prints everything that is known of a lane.
    pub(super) fn show(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let store = open_store(app)?;
        close_lost(&store)?;
        self.print(app, &store, output)
    }

    fn print(&self, app: &App, store: &SqliteStore, output: &mut Output) -> Result<Exit, Failure> {
        let entry = self.find(store)?;
        let report = EntryReport::new(&entry);
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&report.lines(wake::settings(app)?.clock))?,
        }
        Ok(Exit::Done)
    }

    /// Stops a lane by asking the convoke that runs it.
    pub(super) fn stop(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let store = open_store(app)?;
        let entry = self.find(&store)?;
        if entry.over.is_some() {
            output.say(&format!("note: lane {} is over: {}", self.id, entry.state()));
            return self.print(app, &store, output);
        }
        let owner = &entry.begun.owner;
        let outcome = match whereabouts(owner) {
            Whereabouts::Gone => None,
            Whereabouts::Elsewhere => {
                let error = ListError::Elsewhere { id: self.id, pid: owner.pid };
                return Err(Failure::new(Exit::Surroundings, error));
            }
            Whereabouts::Here => {
                self.ask(&entry)?;
                Some(LaneOutcome::Cancelled)
            }
        };
        // One convoke may have run several. It writes down itself how they ended, if it can.
        let query = LaneQuery { open: true, ..LaneQuery::default() };
        for other in store.lanes(query).map_err(refused)? {
            if other.begun.owner == *owner {
                store.close_lane(other.id, outcome, now()).map_err(refused)?;
                if other.id != self.id {
                    output
                        .say(&format!("note: lane {} of the same convoke stopped, too", other.id));
                }
            }
        }
        self.print(app, &store, output)
    }

    fn ask(&self, entry: &LaneEntry) -> Result<(), Failure> {
        let (id, owner) = (self.id, &entry.begun.owner);
        let failed = |error| Failure::new(Exit::Surroundings, error);
        match stop(owner, PATIENCE) {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed(ListError::Stubborn { id, pid: owner.pid })),
            Err(source) => Err(failed(ListError::Refused { id, source })),
        }
    }
}
