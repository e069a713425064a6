//! Steps 2a to 2a.4: independent sketches, and their synthesis.

use std::sync::Arc;

use super::chair::{Flawed, Said, Task};
use super::phases::Passage;
use super::seated::{SeatedPhase, Taken};
use super::{Walk, Walked, heavy};
use crate::design::aside::without_asides;
use crate::design::board::Table;
use crate::design::citation::CitedIn;
use crate::design::decision::{self, Decision};
use crate::design::design_file::DesignFile;
use crate::design::event::Boundary;
use crate::design::evidence::SketchEvidence;
use crate::design::lane_id::{ChairTask, LaneKind};
use crate::design::notice::{DesignNote, ToldArtifact};
use crate::design::outline::Synthesis;
use crate::design::parts;
use crate::design::progress::{Saved, Step};
use crate::design::prompt::{self, Reader, ShownSketch};
use crate::design::seat::{Holder, Personality, Seat, SeatPart};
use crate::design::settled::PollRule;
use crate::design::sketch::{self, SketchPanel};
use crate::design::warning::{ChairWarning, DebateWarning};
use crate::lane::collected::CollectedStatus;

const SYNTHESIS: Task =
    Task { word: ChairTask::Synthesis, noun: "synthesis", form: prompt::SYNTHESIS_SKELETON };

/// The parts of the chair's answer.
const PARTS: [&str; 2] = [DesignFile::Synthesis.name(), DesignFile::Decisions.name()];

pub(super) fn sketches(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Sketches);
    heavy::begin(walk);
    let panel = walk.settings.sketch_panel();
    let seats = walk.settings.panel.sketchers(panel, walk.state.roster.available);
    let feature = feature_for_sketches(walk);
    let phase = SeatedPhase {
        kind: LaneKind::Sketch,
        noun: "sketch",
        table: match panel {
            SketchPanel::Quick => Table::QuickSketches,
            SketchPanel::Full => Table::Sketches,
        },
        prompt: &|seat| prompt::sketch(personality(seat), &feature, reader(seat)),
        flaw: &thin,
        again: &|seat, _, flaw| {
            prompt::sketch_again(&prompt::sketch(personality(seat), &feature, reader(seat)), flaw)
        },
        takes_beginnings: true,
    };
    let sketches = walk.seated(&seats, &phase)?;
    walk.check_tree(Boundary::Sketches)?;
    if sketches.is_empty() {
        return Err(walk.failed("no agent produced a usable sketch"));
    }
    walk.results().evidence.sketches = sketches.iter().map(evidence).collect();
    let texts: Vec<_> = sketches.iter().map(|sketch| sketch.answer).collect();
    walk.look_up(CitedIn::Sketches, &texts)?;
    let synthesis = Arc::new(synthesis(walk, &sketches)?);
    walk.results().synthesis = Some(Arc::clone(&synthesis));
    walk.publish(ToldArtifact::Synthesis(synthesis), Saved::Synthesis);
    Ok(Passage::On)
}

fn evidence(sketch: &Taken<'_>) -> SketchEvidence {
    let Taken { seat, answer } = sketch;
    SketchEvidence {
        label: seat.label.clone(),
        owner: seat.owner,
        runner: seat.runner,
        text: (*answer).into(),
    }
}

/// Returns the feature with all documents and answers about it.
fn feature_for_sketches(walk: &Walk<'_>) -> String {
    let documents = match walk.settings.documents.as_slice() {
        [] => String::new(),
        paths => format!("\n\nDocuments about it, to be read:\n- {}", paths.join("\n- ")),
    };
    let brief = walk.settings.brief.as_ref().map(|brief| format!("\n\n{brief}"));
    let feature = walk.state.results.scope.with_answers();
    format!("{feature}{documents}{}", brief.unwrap_or_default())
}

fn synthesis(walk: &mut Walk<'_>, sketches: &[Taken<'_>]) -> Walked<Synthesis> {
    let labelled: Vec<_> =
        sketches.iter().map(|sketch| (sketch.seat.label.as_str(), sketch.answer)).collect();
    let (settings, scope) = (walk.settings, walk.state.results.scope.clone());
    let panel = settings.sketch_panel();
    let failures: Vec<_> = sketches
        .iter()
        .map(|sketch| walk.state.results.citations.failures(sketch.answer))
        .collect();
    let prompt = || {
        let sketches = sketches.iter().zip(&failures).map(|(sketch, failures)| ShownSketch {
            label: sketch.seat.label.as_str(),
            text: sketch.answer,
            failures: failures.as_deref(),
        });
        let (sketches, poll_rule) = (sketches.collect::<Vec<_>>(), settings.poll_rule);
        prompt::synthesis(&settings.feature, &scope.file(), &sketches, panel, poll_rule)
    };
    let said = walk.chair(SYNTHESIS, &prompt, &read)?;
    let labels: Vec<_> = labelled.iter().map(|(label, _)| *label).collect();
    let (text, decisions) = match said {
        Said::Well(said) => said,
        Said::Badly(Flawed { salvaged: Some(salvaged), defects }) => {
            walk.chair_was_poor(SYNTHESIS, &defects);
            salvaged
        }
        Said::Badly(Flawed { salvaged: None, defects }) => {
            walk.chair_was_poor(SYNTHESIS, &defects);
            (side_by_side(&labelled), Vec::new())
        }
        Said::Nothing => {
            walk.warn(ChairWarning::NoSynthesis);
            (side_by_side(&labelled), Vec::new())
        }
    };
    let decisions = without_agreed(walk, decisions, &labels);
    let decisions = contests(walk, decisions);
    Ok(Synthesis { text, decisions: decision::in_order(decisions, &labels) })
}

/// Leaves out decisions whose two sides are equal: they leave nothing to argue.
fn contests(walk: &mut Walk<'_>, decisions: Vec<Decision>) -> Vec<Decision> {
    let (contests, others): (Vec<_>, Vec<_>) =
        decisions.into_iter().partition(Decision::is_contest);
    for Decision { title, chosen, .. } in others {
        walk.warn(DebateWarning::NoContest { title, chosen });
    }
    contests
}

/// Leaves out, in an adaptive design, decisions on which all sketches agree.
fn without_agreed(walk: &mut Walk<'_>, decisions: Vec<Decision>, labels: &[&str]) -> Vec<Decision> {
    if walk.settings.poll_rule == PollRule::All {
        return decisions;
    }
    let (agreed, contested): (Vec<_>, Vec<_>) =
        decisions.into_iter().partition(|decision| decision.is_agreed(labels));
    if !agreed.is_empty() {
        let titles = agreed.iter().map(|decision| decision.title.clone()).collect();
        walk.results().agreed = agreed;
        walk.note(DesignNote::Agreed { titles });
    }
    contested
}

/// A synthesis and the decisions on its list.
type Read = (String, Vec<Decision>);

/// Takes the chair's answer apart.
fn read(answer: &str) -> Result<Read, Flawed<Read>> {
    let (spoken, _) = without_asides(answer);
    let [text, list] = match parts::split(&spoken, PARTS) {
        Ok(parts) => parts,
        Err(error) => {
            // Words without markers are a synthesis if they could be a sketch.
            let text = parts::document(&spoken);
            let salvaged = sketch::flaw(text).is_none().then(|| (text.to_owned(), Vec::new()));
            return Err(Flawed { defects: vec![error.to_string()], salvaged });
        }
    };
    let contested = decision::parse(list);
    let said = (text.to_owned(), contested.decisions);
    if contested.complaints.is_empty() {
        return Ok(said);
    }
    let defects = contested.complaints.iter().map(ToString::to_string).collect();
    Err(Flawed { defects, salvaged: Some(said) })
}

fn side_by_side(sketches: &[(&str, &str)]) -> String {
    let sketch = |(label, text): &(&str, &str)| {
        format!("Sketch of {label}:\n\n{}", crate::design::quote::body(text))
    };
    sketches.iter().map(sketch).collect::<Vec<_>>().join("\n\n")
}

/// Returns why an answer is no sketch.
fn thin(answer: &str) -> Option<(CollectedStatus, String)> {
    sketch::flaw(answer).map(|flaw| (CollectedStatus::NotSubstantive, flaw.to_string()))
}

pub(super) fn personality(seat: &Seat) -> Personality {
    match seat.part {
        SeatPart::Sketch(personality) | SeatPart::Review(personality) => personality,
        SeatPart::Debate { .. } | SeatPart::Judge | SeatPart::Vote => Personality::Generic,
    }
}

pub(super) fn reader(seat: &Seat) -> Reader {
    if seat.runner == Holder::Host { Reader::Host } else { Reader::Vendor }
}
