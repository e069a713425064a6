//! The hashes of a run's files at its end, to check the files later.
//!
//! The record has no secret: it detects accidents and careless edits, not an attacker who writes it
//! anew. The run's journal detects that.

use std::collections::BTreeSet;

use convoke_domain::design::event::{Chosen, LaneEnd, LaneId, Settings};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::matter::Matter;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::recount::{ArtifactChanges, artifact_changes};
use convoke_domain::design::render;
use convoke_domain::design::seat::Holder;
use convoke_domain::design::walk::{DesignEnding, Next};
use convoke_domain::design::warning::DesignWarning;
use convoke_domain::run::RunId;
use convoke_store::journal::Run;
use serde::{Deserialize, Serialize};

use crate::design::kept::hashes;
use crate::skill::hash;

/// The file name of a record.
pub const RECORD_FILE: &str = "manifest.json";

const VERSION: u32 = 1;

/// What is needed to tell later whether files are those of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// The version of this format.
    pub manifest: u32,
    /// The run's id.
    pub run: String,
    /// The project's name in the store.
    pub project: String,
    /// The branch on which the run began.
    pub branch: String,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How it ended.
    pub ending: String,
    /// The warnings of the run.
    pub degraded: Vec<String>,
    /// Whether every answer was recorded.
    pub rehearsal: bool,
    /// The version of the rules that the run began under; earlier records have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
    /// The requested feature.
    pub feature: RecordedFeature,
    /// The design documents that it was made from, as one block.
    pub brief: Option<TextDigest>,
    /// Further documents named to the agents, by path.
    pub documents: Vec<String>,
    /// The participants.
    pub seats: Vec<RecordedSeat>,
    /// The run's lanes.
    pub lanes: Vec<RecordedLane>,
    /// People's decisions in the panel's place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<RecordedDecision>,
    /// The journal's length and chain at the end.
    pub journal: RecordedJournal,
    /// Whether the folder holds no other file.
    pub exclusive: bool,
    /// The run's files.
    pub files: Vec<RecordedFile>,
}

/// The requested feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedFeature {
    /// The feature's text.
    pub text: String,
    /// The text's hash.
    pub sha256: String,
}

/// A text of which only the digest is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextDigest {
    /// The text's length, in bytes.
    pub bytes: u64,
    /// The text's SHA-256.
    pub sha256: String,
}

/// One of the participants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedSeat {
    /// `first`, `second` or `host`.
    pub seat: String,
    /// The seat's name.
    pub name: String,
    /// The agent behind the name.
    pub agent: String,
    /// The requested model, unless it was the client's own choice.
    pub model: Option<String>,
    /// The models that this agent really answered with, as far as it says.
    pub answered: Vec<String>,
}

/// One lane of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedLane {
    /// The lane's id.
    pub lane: String,
    /// The agent that answered.
    pub agent: String,
    /// The model that answered, as far as it is known.
    pub model: Option<String>,
    /// The lane's status.
    pub status: String,
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedDecision {
    /// The finding or contested decision.
    pub id: String,
    /// `accept` or `reject`.
    pub choice: String,
    /// Why; nothing where that may be about security.
    pub because: Option<String>,
}

/// A journal's state at the end of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedJournal {
    /// How many events it has.
    pub events: u64,
    /// The last value of its chain.
    pub chain: String,
}

/// A file at the end of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedFile {
    /// The file's name.
    pub name: String,
    /// The file's length, in bytes.
    pub bytes: u64,
    /// The file's SHA-256.
    pub sha256: String,
}

/// A run of which there is no record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is in progress, or was stopped.
    #[error("cannot export the files of `{run}`: the run has not ended")]
    Unfinished {
        /// The run's id.
        run: RunId,
    },
    /// Its files are not what they were.
    #[error("cannot export the files of `{run}`: `{file}` does not match its recorded SHA-256")]
    Differs {
        /// The run's id.
        run: RunId,
        /// The first such file.
        file: String,
    },
    /// Convoke itself words one of its prompts otherwise now.
    #[error(
        "cannot export the files of `{run}`: this version of Convoke words `{file}` otherwise \
         than the one that wrote it"
    )]
    Reworded {
        /// The run's id.
        run: RunId,
        /// The first such prompt.
        file: String,
    },
    /// Its files are what they were only by the rules of another version.
    #[error("cannot export the files of `{run}`: `{file}` changed with the rules ({difference})")]
    OtherRules {
        /// The run's id.
        run: RunId,
        /// The first such file.
        file: String,
        /// The versions of the rules.
        difference: String,
    },
}

/// A text that is not a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordFormError {
    /// It is another kind of file.
    #[error("not the manifest of a run")]
    Form(#[source] serde_json::Error),
    /// It is of another version.
    #[error("cannot read a manifest of version {0}")]
    Version(u32),
    /// A name could lead elsewhere, or is there twice.
    #[error("`{}` is not a valid file name", .0.escape_debug())]
    Name(String),
}

impl RunRecord {
    /// Makes the record of a run that has ended.
    pub fn of_run(run: &Run, facts: &Facts, outline: &DesignOutline) -> Result<Self, RecordError> {
        let unfinished = || RecordError::Unfinished { run: run.id.clone() };
        let kept = facts.kept().ok_or_else(unfinished)?;
        let (_, settings) = facts.settings().ok_or_else(unfinished)?;
        let (ending, degraded) = ending(&outline.next).ok_or_else(unfinished)?;
        let degraded = render::warnings(degraded, Some(settings));
        let ArtifactChanges { differing, reworded } = artifact_changes(kept, &hashes(outline));
        let run_id = || run.id.clone();
        if let Some(file) = differing.into_iter().next() {
            return Err(match settings.rules.difference() {
                Some(difference) => RecordError::OtherRules { run: run_id(), file, difference },
                None => RecordError::Differs { run: run_id(), file },
            });
        }
        if let Some(file) = reworded.into_iter().next() {
            return Err(RecordError::Reworded { run: run_id(), file });
        }
        let files = render::artifacts(outline);
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
            feature: RecordedFeature {
                text: settings.feature.clone(),
                sha256: hash(&settings.feature),
            },
            brief: settings.brief.as_ref().map(|text| digest(text)),
            documents: settings.documents.clone(),
            seats: seats(settings, facts),
            lanes: lanes(facts),
            decided: outline.matters.iter().filter_map(decided).collect(),
            journal: RecordedJournal { events: run.last_seq, chain: run.last_chain.clone() },
            exclusive: true,
            files: files.iter().map(|(name, text)| RecordedFile::of(name, text)).collect(),
        })
    }

    /// Leaves only the files that `keep` names.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.files.retain(|file| keep(&file.name));
        self
    }

    /// Returns the record for other files, in a folder that holds more.
    #[must_use]
    pub fn with_files(self, files: Vec<RecordedFile>) -> Self {
        Self { files, exclusive: false, ..self }
    }

    /// Returns the record's text.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        text + "\n"
    }

    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self, RecordFormError> {
        let record: Self = serde_json::from_str(text).map_err(RecordFormError::Form)?;
        if record.manifest != VERSION {
            return Err(RecordFormError::Version(record.manifest));
        }
        let mut names = BTreeSet::new();
        for RecordedFile { name, .. } in &record.files {
            if !is_plain(name) || !names.insert(name) {
                return Err(RecordFormError::Name(name.clone()));
            }
        }
        Ok(record)
    }
}

impl RecordedFile {
    /// Describes a text under a name.
    pub fn of(name: &str, text: &str) -> Self {
        let TextDigest { bytes, sha256 } = digest(text);
        Self { name: name.to_owned(), bytes, sha256 }
    }
}

/// Tells whether a name stays in its folder, and is not a manifest's own.
fn is_plain(name: &str) -> bool {
    !["", ".", "..", RECORD_FILE].contains(&name)
        && !name.contains(['/', '\\'])
        && !name.contains(char::is_control)
        && name.len() <= 255
}

fn digest(text: &str) -> TextDigest {
    TextDigest { bytes: text.len() as u64, sha256: hash(text) }
}

fn ending(next: &Next) -> Option<(String, &[DesignWarning])> {
    let word = match next {
        Next::Need(_)
        | Next::End(
            DesignEnding::OverBudget(_)
            | DesignEnding::HeavyFailed(_)
            | DesignEnding::NotExported(_),
        ) => {
            return None;
        }
        Next::End(DesignEnding::Complete { degraded }) => {
            return Some(("complete".to_owned(), degraded));
        }
        Next::End(DesignEnding::Refused(_)) => "refused".to_owned(),
        Next::End(DesignEnding::DirtyTree) => "dirty tree".to_owned(),
        Next::End(DesignEnding::Failed(failed)) => format!("failed: {}", failed.why),
    };
    Some((word, &[]))
}

fn seats(settings: &Settings, facts: &Facts) -> Vec<RecordedSeat> {
    let holders = [("first", Holder::First), ("second", Holder::Second), ("host", Holder::Host)];
    let seat = |(word, holder): (&str, Holder)| {
        let Chosen { agent, model } = settings.chosen(holder);
        let of_agent = facts.ended().into_iter().filter(|(_, end)| end.agent == *agent);
        let models: BTreeSet<_> = of_agent.filter_map(|(_, end)| end.model.clone()).collect();
        RecordedSeat {
            seat: word.to_owned(),
            name: settings.panel.named(holder).name().to_owned(),
            agent: agent.clone(),
            model: model.clone(),
            answered: models.into_iter().collect(),
        }
    };
    holders.map(seat).into()
}

fn decided(matter: &Matter) -> Option<RecordedDecision> {
    let ruling = matter.ruling.as_ref()?;
    Some(RecordedDecision {
        id: matter.id.to_string(),
        choice: ruling.choice.word().to_owned(),
        because: (!matter.is_withheld).then(|| ruling.because.clone()),
    })
}

fn lanes(facts: &Facts) -> Vec<RecordedLane> {
    let lane = |(id, end): (&LaneId, &LaneEnd)| RecordedLane {
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

    fn record(name: &str) -> RunRecord {
        RunRecord {
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
            feature: RecordedFeature { text: "f".to_owned(), sha256: hash("f") },
            brief: Some(digest("brief")),
            documents: Vec::new(),
            seats: Vec::new(),
            lanes: Vec::new(),
            decided: Vec::new(),
            journal: RecordedJournal { events: 1, chain: "c".to_owned() },
            exclusive: true,
            files: vec![RecordedFile::of("plan.txt", "plan"), RecordedFile::of(name, "")],
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let read = record("oos.md");
        assert_eq!(RunRecord::parse(&read.text()).unwrap(), read);
        for name in ["", ".", "..", "a/b", "/a", "../a", "a\nb", "a\0", "plan.txt", RECORD_FILE] {
            let error = RunRecord::parse(&record(name).text()).unwrap_err();
            assert!(matches!(error, RecordFormError::Name(_)), "{name:?}");
        }
        let later = record("a").text().replace("\"manifest\": 1", "\"manifest\": 2");
        assert!(matches!(RunRecord::parse(&later), Err(RecordFormError::Version(2))));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC*|\\{\"manifest\": 1[^}]{0,20}\\}", at in 0_usize..200) {
            prop_assert!(RunRecord::parse(&text).is_err());
            let mut cut = record("a").text();
            cut.truncate(at);
            prop_assert!(RunRecord::parse(&cut).is_err());
        }
    }
}
