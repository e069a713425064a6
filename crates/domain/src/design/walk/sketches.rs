//! Steps 2a to 2a.4: sketches that know nothing of each other, and what they come to.

use super::chair::{Flawed, Said, Task};
use super::interview::Scope;
use super::seated::{Phase, Taken};
use super::{Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::board::Table;
use crate::design::decision::{self, Decision};
use crate::design::event::Boundary;
use crate::design::parts;
use crate::design::progress::{Saved, Shown, Step, unnumbered_warning};
use crate::design::prompt::{self, Reader};
use crate::design::seat::{Holder, Part, Personality, Seat};
use crate::design::sketch;
use crate::lane::collected::CollectedStatus;

const SYNTHESIS: Task =
    Task { word: "synthesis", noun: "synthesis", form: prompt::SYNTHESIS_SKELETON };

/// The parts of the chair's answer.
const PARTS: [&str; 2] = ["approach-synthesis.txt", "contested-decisions.md"];

/// What the sketches come to.
pub(super) struct Synthesis {
    /// The text.
    pub(super) text: String,
    /// What the sketches differ on, in the order of its weight.
    pub(super) decisions: Vec<Decision>,
}

impl Walk<'_> {
    pub(super) fn sketches(&mut self, scope: &Scope) -> Walked<Synthesis> {
        self.begin(Step::Sketches);
        self.heavy_begins();
        let quick = self.settings.quick;
        let seats = self.settings.panel.sketchers(quick, self.available);
        let feature = self.feature_for_sketches(scope);
        let phase = Phase {
            word: "sketch",
            noun: "sketch",
            table: if quick { Table::QuickSketches } else { Table::Sketches },
            prompt: &|seat| prompt::sketch(personality(seat), &feature, reader(seat)),
            flaw: &thin,
            again: &|seat, _, flaw| {
                prompt::sketch_again(
                    &prompt::sketch(personality(seat), &feature, reader(seat)),
                    flaw,
                )
            },
            takes_beginnings: true,
        };
        let sketches = self.seated(&seats, &phase)?;
        self.tree(Boundary::Sketches)?;
        if sketches.is_empty() {
            return Err(self.failed("nobody sketched"));
        }
        let synthesis = self.synthesis(scope, &sketches)?;
        self.file(PARTS[0], format!("{}\n", synthesis.text.trim_end()));
        self.file(PARTS[1], decision::render(&synthesis.decisions));
        self.publish(Shown::Synthesis, Some(Saved::Synthesis), &synthesis.text);
        Ok(synthesis)
    }

    /// What is to be built, with all that is known about it.
    fn feature_for_sketches(&self, scope: &Scope) -> String {
        let documents = match self.settings.documents.as_slice() {
            [] => String::new(),
            paths => format!("\n\nDocuments about it, to be read:\n- {}", paths.join("\n- ")),
        };
        let brief = self.settings.brief.as_ref().map(|brief| format!("\n\n{brief}"));
        format!("{}{documents}{}", scope.with_answers(), brief.unwrap_or_default())
    }

    fn synthesis(&mut self, scope: &Scope, sketches: &[Taken<'_>]) -> Walked<Synthesis> {
        let labelled: Vec<_> =
            sketches.iter().map(|it| (it.seat.label.as_str(), it.answer)).collect();
        let settings = self.settings;
        let prompt =
            || prompt::synthesis(&settings.feature, &scope.file(), &labelled, !settings.quick);
        let said = self.chair(SYNTHESIS, &prompt, &read)?;
        let labels: Vec<_> = labelled.iter().map(|(label, _)| *label).collect();
        let (text, decisions) = match said {
            Said::Well(said) => said,
            Said::Badly(Flawed { salvaged: Some(salvaged), defects }) => {
                self.chair_was_poor(SYNTHESIS, &defects);
                salvaged
            }
            Said::Badly(Flawed { salvaged: None, defects }) => {
                self.chair_was_poor(SYNTHESIS, &defects);
                (side_by_side(&labelled), Vec::new())
            }
            Said::Nothing => {
                let text = "There is no synthesis: nobody answered as the chair. The sketches stand \
                            side by side.";
                self.warn(unnumbered_warning(text));
                (side_by_side(&labelled), Vec::new())
            }
        };
        let decisions = self.contests(decisions);
        Ok(Synthesis { text, decisions: decision::in_order(decisions, &labels) })
    }

    /// Leaves out decisions whose two sides are one, which nobody could argue for.
    fn contests(&mut self, decisions: Vec<Decision>) -> Vec<Decision> {
        let (contests, others): (Vec<_>, Vec<_>) =
            decisions.into_iter().partition(Decision::is_contest);
        for Decision { title, chosen, .. } in others {
            let text = format!(
                "The decision \"{title}\" is not debated: what was chosen and the alternative are \
                 the same ({chosen})."
            );
            self.warn(unnumbered_warning(&text));
        }
        contests
    }
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

/// Says why a sketch is none.
fn thin(answer: &str) -> Option<(CollectedStatus, String)> {
    sketch::flaw(answer).map(|flaw| (CollectedStatus::NotSubstantive, flaw.to_string()))
}

pub(super) fn personality(seat: &Seat) -> Personality {
    match seat.part {
        Part::Sketch(personality) | Part::Review(personality) => personality,
        Part::Debate { .. } | Part::Judge | Part::Vote => Personality::Generic,
    }
}

pub(super) fn reader(seat: &Seat) -> Reader {
    if seat.runner == Holder::Host { Reader::Host } else { Reader::Vendor }
}
