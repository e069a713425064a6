//! What the files of a run were when it ended, for whoever wants to know whether they still are.
//!
//! There is no secret in it: it holds against accidents and careless hands, not against somebody who
//! writes it anew. The run's journal is the place to ask then.

use std::collections::{BTreeMap, BTreeSet};

use convoke_domain::design::event::{Chosen, LaneEnd, LaneId, Settings};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::matter::Matter;
use convoke_domain::design::outline::Outline;
use convoke_domain::design::seat::Holder;
use convoke_domain::design::walk::{Ending, Next};
use convoke_domain::run::RunId;
use convoke_store::journal::Run;
use serde::{Deserialize, Serialize};

use crate::design::run::hashes;
use crate::skill::hash;

/// What a record is called.
pub const RECORD_FILE: &str = "manifest.json";

const VERSION: u32 = 1;

/// The record of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// The version of this form.
    pub manifest: u32,
    /// The run's id.
    pub run: String,
    /// The project.
    pub project: String,
    /// The branch on which it was asked for.
    pub branch: String,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How it ended.
    pub ending: String,
    /// What was missing on the way.
    pub degraded: Vec<String>,
    /// Whether every answer was recorded.
    pub rehearsal: bool,
    /// The version of the rules that the run began under; earlier records have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
    /// What was asked for.
    pub feature: Feature,
    /// The design documents that it was made from, as one block.
    pub brief: Option<Digest>,
    /// Further documents that agents were told of, by path.
    pub documents: Vec<String>,
    /// Who took part.
    pub seats: Vec<Seat>,
    /// Who answered.
    pub lanes: Vec<Lane>,
    /// What people decided where the panel had not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<Decided>,
    /// The journal up to its end.
    pub journal: Journal,
    /// Whether nothing else lies in the folder of its files.
    pub exclusive: bool,
    /// The files.
    pub files: Vec<Entry>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Feature {
    /// In words.
    pub text: String,
    /// Their hash.
    pub sha256: String,
}

/// A text that is not told again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Digest {
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub sha256: String,
}

/// One of those who took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seat {
    /// `first`, `second` or `host`.
    pub seat: String,
    /// What it is called.
    pub name: String,
    /// The agent behind the name.
    pub agent: String,
    /// The model that was asked for, unless it was the client's own choice.
    pub model: Option<String>,
    /// The models that this agent really answered with, as far as it says.
    pub answered: Vec<String>,
}

/// One that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lane {
    /// The lane.
    pub lane: String,
    /// The agent.
    pub agent: String,
    /// The model that answered, as far as it is known.
    pub model: Option<String>,
    /// What became of it.
    pub status: String,
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decided {
    /// The finding or contested decision.
    pub id: String,
    /// `accept` or `reject`.
    pub choice: String,
    /// Why; nothing where that may be about security.
    pub because: Option<String>,
}

/// A journal as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Journal {
    /// How many events it has.
    pub events: u64,
    /// The last value of its chain.
    pub chain: String,
}

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub sha256: String,
}

/// A run of which there is no record.
#[derive(Debug, thiserror::Error)]
pub enum NoRecord {
    /// It goes on, or was stopped.
    #[error("cannot vouch for the files of `{run}`: the run is not at its end")]
    Unfinished {
        /// The run.
        run: RunId,
    },
    /// Its files are not what they were.
    #[error("cannot vouch for the files of `{run}`: `{file}` is not what it was at the end")]
    Differs {
        /// The run.
        run: RunId,
        /// The first of them.
        file: String,
    },
    /// Its files are what they were only by the rules of another version.
    #[error(
        "cannot vouch for the files of `{run}`: `{file}` changed with the rules ({difference})"
    )]
    OtherRules {
        /// The run.
        run: RunId,
        /// The first of them.
        file: String,
        /// Which rules are meant.
        difference: String,
    },
}

/// A text that is no record.
#[derive(Debug, thiserror::Error)]
pub enum BadRecord {
    /// It is another kind of file.
    #[error("cannot take it for the record of a run")]
    Form(#[source] serde_json::Error),
    /// It is of another version.
    #[error("cannot read a record of version {0}")]
    Version(u32),
    /// A name could lead elsewhere, or is there twice.
    #[error("cannot take `{}` for the name of a file", .0.escape_debug())]
    Name(String),
}

impl Record {
    /// Makes the record of a run that has ended.
    pub fn of_run(run: &Run, facts: &Facts, outline: &Outline) -> Result<Self, NoRecord> {
        let unfinished = || NoRecord::Unfinished { run: run.id.clone() };
        let kept = facts.kept().ok_or_else(unfinished)?;
        let (_, settings) = facts.settings().ok_or_else(unfinished)?;
        let (ending, degraded) = ending(&outline.next).ok_or_else(unfinished)?;
        let now: BTreeMap<_, _> = hashes(outline).into_iter().collect();
        let then: BTreeMap<_, _> = kept.iter().cloned().collect();
        let names: BTreeSet<_> = now.keys().chain(then.keys()).collect();
        if let Some(file) = names.into_iter().find(|name| now.get(*name) != then.get(*name)) {
            let (run, file) = (run.id.clone(), file.clone());
            return Err(match settings.rules.difference() {
                Some(difference) => NoRecord::OtherRules { run, file, difference },
                None => NoRecord::Differs { run, file },
            });
        }
        Ok(Self {
            manifest: VERSION,
            run: run.id.to_string(),
            project: run.scope.project.clone(),
            branch: run.scope.branch.clone(),
            started_at: format!("{:.0}", run.started_at),
            ended_at: run.ended_at.map(|at| format!("{at:.0}")),
            ending,
            degraded,
            rehearsal: settings.is_rehearsal,
            rules: Some(settings.rules.number()),
            feature: Feature { text: settings.feature.clone(), sha256: hash(&settings.feature) },
            brief: settings.brief.as_ref().map(|text| digest(text)),
            documents: settings.documents.clone(),
            seats: seats(settings, facts),
            lanes: lanes(facts),
            decided: outline.matters.iter().filter_map(decided).collect(),
            journal: Journal { events: run.last_seq, chain: run.last_chain.clone() },
            exclusive: true,
            files: outline.files.iter().map(|(name, text)| Entry::of(name, text)).collect(),
        })
    }

    /// Leaves only the files that `keep` names.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.files.retain(|file| keep(&file.name));
        self
    }

    /// Is about other files, which lie among others.
    #[must_use]
    pub fn with_files(self, files: Vec<Entry>) -> Self {
        Self { files, exclusive: false, ..self }
    }

    /// Returns the record's text.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        text + "\n"
    }

    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self, BadRecord> {
        let record: Self = serde_json::from_str(text).map_err(BadRecord::Form)?;
        if record.manifest != VERSION {
            return Err(BadRecord::Version(record.manifest));
        }
        let mut names = BTreeSet::new();
        for Entry { name, .. } in &record.files {
            if !is_plain(name) || !names.insert(name) {
                return Err(BadRecord::Name(name.clone()));
            }
        }
        Ok(record)
    }
}

impl Entry {
    /// Describes a text under a name.
    pub fn of(name: &str, text: &str) -> Self {
        let Digest { bytes, sha256 } = digest(text);
        Self { name: name.to_owned(), bytes, sha256 }
    }
}

/// Tells whether a name stays in its folder, and is none of a manifest's own.
fn is_plain(name: &str) -> bool {
    !["", ".", "..", RECORD_FILE].contains(&name)
        && !name.contains(['/', '\\'])
        && !name.contains(char::is_control)
        && name.len() <= 255
}

fn digest(text: &str) -> Digest {
    Digest { bytes: text.len() as u64, sha256: hash(text) }
}

fn ending(next: &Next) -> Option<(String, Vec<String>)> {
    let word = match next {
        Next::Need(_)
        | Next::End(Ending::OverBudget(_) | Ending::HeavyFailed(_) | Ending::NotExported(_)) => {
            return None;
        }
        Next::End(Ending::Complete { degraded }) => {
            return Some(("complete".to_owned(), degraded.clone()));
        }
        Next::End(Ending::Refused(_)) => "refused".to_owned(),
        Next::End(Ending::DirtyTree) => "dirty tree".to_owned(),
        Next::End(Ending::Failed(failed)) => format!("failed: {}", failed.why),
    };
    Some((word, Vec::new()))
}

fn seats(settings: &Settings, facts: &Facts) -> Vec<Seat> {
    let holders = [("first", Holder::First), ("second", Holder::Second), ("host", Holder::Host)];
    let seat = |(word, holder): (&str, Holder)| {
        let Chosen { agent, model } = settings.chosen(holder);
        let of_agent = facts.ended().into_iter().filter(|(_, end)| end.agent == *agent);
        let models: BTreeSet<_> = of_agent.filter_map(|(_, end)| end.model.clone()).collect();
        Seat {
            seat: word.to_owned(),
            name: settings.panel.named(holder).name().to_owned(),
            agent: agent.clone(),
            model: model.clone(),
            answered: models.into_iter().collect(),
        }
    };
    holders.map(seat).into()
}

fn decided(matter: &Matter) -> Option<Decided> {
    let ruling = matter.ruling.as_ref()?;
    Some(Decided {
        id: matter.id.to_string(),
        choice: ruling.choice.word().to_owned(),
        because: (!matter.is_withheld).then(|| ruling.because.clone()),
    })
}

fn lanes(facts: &Facts) -> Vec<Lane> {
    let lane = |(id, end): (&LaneId, &LaneEnd)| Lane {
        lane: id.to_string(),
        agent: end.agent.clone(),
        model: end.model.clone(),
        status: end.status.name().to_owned(),
    };
    facts.ended().into_iter().map(lane).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(name: &str) -> Record {
        Record {
            manifest: VERSION,
            run: "r".to_owned(),
            project: "p".to_owned(),
            branch: "b".to_owned(),
            started_at: String::new(),
            ended_at: None,
            ending: "complete".to_owned(),
            degraded: Vec::new(),
            rehearsal: false,
            rules: Some(2),
            feature: Feature { text: "f".to_owned(), sha256: hash("f") },
            brief: Some(digest("brief")),
            documents: Vec::new(),
            seats: Vec::new(),
            lanes: Vec::new(),
            decided: Vec::new(),
            journal: Journal { events: 1, chain: "c".to_owned() },
            exclusive: true,
            files: vec![Entry::of("plan.txt", "plan"), Entry::of(name, "")],
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let read = record("oos.md");
        assert_eq!(Record::parse(&read.text()).unwrap(), read);
        for name in ["", ".", "..", "a/b", "/a", "../a", "a\nb", "a\0", "plan.txt", RECORD_FILE] {
            let error = Record::parse(&record(name).text()).unwrap_err();
            assert!(matches!(error, BadRecord::Name(_)), "{name:?}");
        }
        let later = record("a").text().replace("\"manifest\": 1", "\"manifest\": 2");
        assert!(matches!(Record::parse(&later), Err(BadRecord::Version(2))));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC*|\\{\"manifest\": 1[^}]{0,20}\\}", at in 0_usize..200) {
            prop_assert!(Record::parse(&text).is_err());
            let mut cut = record("a").text();
            cut.truncate(at);
            prop_assert!(Record::parse(&cut).is_err());
        }
    }
}
