//! `convoke recount`: whether a run's answers still come to what the run ended with.

use std::collections::{BTreeMap, BTreeSet};

use convoke_domain::design::rules::{VerdictChange, changes_line, verdict_changes};
use convoke_domain::run::RunId;
use convoke_engine::design::run::hashes;
use convoke_store::journal::Integrity;

use super::report::{RecountReport, RulesReport, VerdictReport};
use super::{Known, matters};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Count a design again from the recorded answers, and compare
///
/// Exit 0 means that the journal is whole and gives the same artifacts, 1 that it does not. A run that
/// began under other rules is counted by the present ones; `rules:` says so, and artifacts that differ
/// only for that reason do not fail the check.
#[derive(Debug, clap::Args)]
pub struct RecountArgs {
    /// The run, or the beginning of its name
    #[arg(value_parser = RunId::parse)]
    run: RunId,
}

impl RecountArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let known = Known::open(app, &self.run)?;
        let recount = Recount::new(&known);
        match app.format {
            Format::Json => output.json(&recount.report(&known))?,
            Format::Text => recount.print(&known, output)?,
        }
        Ok(if recount.is_explained() && known.is_sound() { Exit::Done } else { Exit::No })
    }
}

/// A run that was counted again, compared with what its journal keeps of its end.
struct Recount {
    artifacts: usize,
    /// Artifacts that are not as they were.
    differing: Vec<String>,
    /// That other rules count the run now.
    difference: Option<String>,
    /// Verdicts that differ; nothing if the journal keeps none.
    changes: Option<Vec<VerdictChange>>,
}

impl Recount {
    fn new(known: &Known) -> Self {
        let counted: BTreeMap<_, _> = hashes(&known.progress).into_iter().collect();
        let differing = known.facts.kept().map(|kept| {
            let kept: BTreeMap<_, _> = kept.iter().cloned().collect();
            let names: BTreeSet<_> = counted.keys().chain(kept.keys()).collect();
            let differs = |name: &&String| counted.get(*name) != kept.get(*name);
            names.into_iter().filter(differs).cloned().collect()
        });
        let verdicts = known.progress.results.verdicts();
        let recorded = known.facts.kept_verdicts();
        Self {
            artifacts: counted.len(),
            differing: differing.unwrap_or_default(),
            difference: known.facts.rules().difference(),
            changes: recorded.map(|recorded| verdict_changes(recorded, &verdicts)),
        }
    }

    /// In a sound journal nothing but the rules can have changed what follows from it.
    const fn is_explained(&self) -> bool {
        self.differing.is_empty() || self.difference.is_some()
    }

    fn report(&self, known: &Known) -> RecountReport {
        let changes = self.changes.as_ref();
        RecountReport {
            run: known.run.id.to_string(),
            journal: known.soundness(),
            rules: RulesReport::new(&known.facts),
            differing: self.differing.clone(),
            changed_verdicts: changes
                .map(|changes| changes.iter().map(VerdictReport::from).collect()),
            decided: matters::decisions(&known.progress),
        }
    }

    fn print(&self, known: &Known, output: &mut Output) -> Result<(), Failure> {
        output.data(&format!("journal: {}\n", known.soundness()))?;
        if let Some(difference) = &self.difference {
            output.data(&format!("rules: {difference}\n"))?;
            if let Some(changes) = &self.changes {
                output.data(&format!("verdicts: {}\n", changes_line(changes)))?;
            }
        }
        for name in &self.differing {
            output.data(&format!("differs: {name}\n"))?;
        }
        for decision in matters::decisions(&known.progress) {
            output.data(&format!("decided: {decision}\n"))?;
        }
        if known.facts.kept().is_none() {
            output.say("note: the run is not at its end; there is nothing to compare with");
        } else if known.is_sound() && self.differing.is_empty() {
            output.data(&format!("{} artifacts: the same\n", self.artifacts))?;
        }
        Ok(())
    }
}

impl Known {
    fn is_sound(&self) -> bool {
        self.integrity == Integrity::Sound
    }

    /// Says whether the journal is as it was written.
    fn soundness(&self) -> String {
        match self.integrity {
            Integrity::Sound => "sound".to_owned(),
            Integrity::BrokenAt(event) => format!("changed at event {event}"),
        }
    }
}
