//! `convoke decide`: a person ends what a panel left undecided.

use convoke_domain::design::event::Event;
use convoke_domain::design::facts::Facts;
use convoke_domain::design::matter::{
    Choice, Matter, MatterId, NotDecidable, Revisiting, Ruling, decidable,
};
use convoke_domain::design::progress::Step;
use convoke_domain::design::walk::{Ending, Need, Next, Progress, walk};
use convoke_domain::run::{RunId, RunState};
use serde::Serialize;

use super::design::{CourseArgs, hold, opened};
use super::runs::Known;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};
use convoke_service::run::{
    self, MattersReport, RunKind, journal_integrity, last_run, must_be_real, must_be_sound,
    worked_on,
};

/// No reason is longer, in bytes: an agent is given it, and files hold it on one line.
const LONGEST_REASON: usize = 4096;

/// Decide what a design's panel left undecided, and revise the plan for it
///
/// Without an id, lists what is undecided, what is withheld because it may be about security, and
/// what people decided. With one, Convoke writes your decision to the run's journal first, and then
/// has an agent revise the plan where the decision changes it: for an accepted finding, or for a
/// contested decision whose alternative you take with `reject`. If no agent answers, the decision
/// waits, and `convoke resume RUN` acts on it.
#[derive(Debug, clap::Args)]
#[command(override_usage = "convoke decide [RUN] [ID accept|reject --because <TEXT>] [OPTIONS]")]
pub struct Args {
    /// The run [default: the last one], what to decide (`FINDING_2`, `OOS_1`, `DECISION_1`), and
    /// `accept` or `reject`
    #[arg(value_name = "WORD", num_args = 0..=3)]
    words: Vec<String>,

    /// Why; the journal keeps it, and so do the files about findings
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,

    /// Change an earlier decision of a person
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    course: CourseArgs,
}

#[derive(Debug, thiserror::Error)]
enum DecideError {
    #[error("cannot take `{0}` for a run, an id such as `FINDING_2`, `accept` or `reject`")]
    Word(String),
    #[error("cannot decide `{0}`: say `accept` or `reject`")]
    NoChoice(MatterId),
    #[error("cannot tell what to {0}: name a finding or decision")]
    NoMatter(&'static str),
    #[error("cannot decide `{0}` without a reason")]
    NoReason(MatterId),
    #[error("cannot take a reason of {0} bytes: {LONGEST_REASON} is the most")]
    LongReason(usize),
    #[error("cannot decide anything in `{0}` now: it is running")]
    Running(RunId),
    #[error("cannot decide anything in `{0}`: it ended without a plan")]
    NoPlan(RunId),
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    run: Option<RunId>,
    ruling: Option<Ruling>,
}

#[derive(Serialize)]
struct Report<'a> {
    run: &'a str,
    #[serde(flatten)]
    matters: MattersReport,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let asked = self.asked()?;
        let id = match asked.run {
            Some(run) => run,
            None => last_run(app)?,
        };
        match asked.ruling {
            None => listed(app, &Known::open(app, &id)?, output),
            Some(ruling) => self.decide(app, &id, ruling, output),
        }
    }

    /// Reads the words by their form, so that the run can be left out.
    fn asked(&self) -> Result<Asked, Failure> {
        let usage = |error| Failure::new(ErrorClass::Usage, error);
        let (mut run, mut matter, mut choice) = (None, None, None);
        for word in &self.words {
            if let Some(found) = MatterId::parse(word).filter(|_| matter.is_none()) {
                matter = Some(found);
            } else if let Some(found) = Choice::parse(word).filter(|_| choice.is_none()) {
                choice = Some(found);
            } else {
                let found = RunId::parse(word).ok().filter(|_| run.is_none() && matter.is_none());
                let wrong = || usage(DecideError::Word(word.clone()));
                run = Some(found.ok_or_else(wrong)?);
            }
        }
        let example = "convoke decide FINDING_2 accept --because \"REASON\"";
        let (matter, choice) = match (matter, choice) {
            (None, None) if self.because.is_some() => {
                return Err(usage(DecideError::NoMatter("decide")).hint(example));
            }
            (None, None) => return Ok(Asked { run, ruling: None }),
            (Some(matter), Some(choice)) => (matter, choice),
            (Some(matter), None) => {
                return Err(usage(DecideError::NoChoice(matter)).hint(example));
            }
            (None, Some(choice)) => {
                return Err(usage(DecideError::NoMatter(choice.word())).hint(example));
            }
        };
        let because = self.because.as_deref().map_or("", str::trim).to_owned();
        if because.is_empty() {
            return Err(usage(DecideError::NoReason(matter)).hint("--because \"REASON\""));
        }
        if because.len() > LONGEST_REASON {
            return Err(usage(DecideError::LongReason(because.len())));
        }
        Ok(Asked { run, ruling: Some(Ruling { matter, choice, because }) })
    }

    /// Writes the decision down, and then has the run act on it.
    fn decide(
        &self,
        app: &App,
        id: &RunId,
        ruling: Ruling,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        self.course.check()?;
        let workspace = Workspace::open(app, None)?;
        let run = workspace.store.run(&workspace.scope.project, id).map_err(refused)?;
        if worked_on(app).contains(&run.id) {
            let failure = Failure::new(ErrorClass::Prerequisite, DecideError::Running(run.id));
            return Err(failure.hint("wait until it has ended: `convoke runs`"));
        }
        // Only the process with the lock writes, so what is read from here on stays true.
        let lock = hold(app, &run.id)?;
        must_be_sound(&run.id, journal_integrity(&workspace, &run.id)?)?;
        let (mut journal, events) = opened(&workspace, &run.id)?;
        let facts = Facts::fold(events);
        must_be_real(&run.id, &facts)?;
        let progress = walk(&facts);
        if matches!(progress.next, Next::End(Ending::DirtyTree | Ending::Refused(_))) {
            return Err(Failure::new(ErrorClass::Refused, DecideError::NoPlan(run.id)));
        }
        let revisiting = if self.again { Revisiting::Allowed } else { Revisiting::Refused };
        let matter = decidable(&progress.matters, ruling.matter, revisiting)
            .map_err(|error| undecidable(error, &run.id, &progress))?;
        let mut said = format!("decided: {} {}", ruling.matter, ruling.choice.past());
        if let Some(earlier) = matter.ruling.as_ref().filter(|_| matter.is_pending) {
            said = format!("{said}\n{}", earlier.changed_to(&ruling));
        }
        journal.append(now().as_millisecond(), &Event::Decided(ruling)).map_err(refused)?;
        workspace.store.mark_run(&run.id, RunState::Stopped, now()).map_err(refused)?;
        output.say(&said);
        if is_at_its_end(&progress) {
            return self.course.go(app, &workspace, &run.id, lock, output);
        }
        drop(lock);
        output.say("note: the run is not at its end; it acts on the decision when it is");
        output.say(&format!("hint: convoke resume {}", run.id));
        if app.format == Format::Json {
            listed(app, &Known::open(app, &run.id)?, output)?;
        }
        Ok(Exit::Done)
    }
}

/// Tells whether nothing but decisions of people is left to act on.
fn is_at_its_end(progress: &Progress) -> bool {
    match &progress.next {
        Next::End(Ending::Complete { .. } | Ending::NotExported(_)) | Next::Need(Need::Export) => {
            true
        }
        Next::End(Ending::Failed(failed)) => failed.step == Step::Decisions,
        Next::Need(Need::Lanes(lanes)) => lanes.iter().all(|lane| lane.step == Step::Decisions),
        Next::End(_) | Next::Need(_) => false,
    }
}

fn listed(app: &App, known: &Known, output: &mut Output) -> Result<Exit, Failure> {
    known.warn_if_changed(&app.reporter());
    let run = &known.run.id;
    if app.format == Format::Json {
        let matters = MattersReport::new(&known.progress);
        output.json(&Report { run: run.as_str(), matters })?;
        return Ok(Exit::Done);
    }
    match MattersReport::new(&known.progress).text() {
        text if text.is_empty() => output.say(&format!("nothing is undecided in {run}")),
        text => output.data(&text)?,
    }
    if let Some(matter) = run::open(&known.progress).first() {
        let kind =
            known.facts.settings().map_or(RunKind::Real, |(_, settings)| RunKind::of(settings));
        output.say(&format!("hint: {}", run::way_out(run, matter, kind)));
    }
    Ok(Exit::Done)
}

/// Adds what can be decided instead.
fn undecidable(error: NotDecidable, run: &RunId, progress: &Progress) -> Failure {
    let hint = match &error {
        NotDecidable::ByPerson { .. } => "change it with `--again`".to_owned(),
        NotDecidable::Unknown(_) | NotDecidable::ByPanel { .. } => {
            let withheld = progress.matters.iter().filter(|matter| matter.is_withheld);
            let open: Vec<_> = run::open(progress);
            let ids = |matters: Vec<&Matter>| {
                matters.iter().map(|matter| matter.id.to_string()).collect::<Vec<_>>().join(", ")
            };
            match (ids(open), ids(withheld.filter(|matter| matter.ruling.is_none()).collect())) {
                (open, withheld) if open.is_empty() && withheld.is_empty() => {
                    format!("nothing is undecided in {run}")
                }
                (open, withheld) if withheld.is_empty() => format!("undecided: {open}"),
                (open, withheld) if open.is_empty() => format!("withheld: {withheld}"),
                (open, withheld) => format!("undecided: {open}; withheld: {withheld}"),
            }
        }
    };
    Failure::new(ErrorClass::Refused, error).hint(hint)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn asked(words: &[&str]) -> Result<Asked, Failure> {
        let line = [&["decide"], words].concat();
        Line::try_parse_from(line).unwrap().args.asked()
    }

    #[test]
    fn the_run_can_be_left_out() {
        let because = ["--because", "so"];
        for words in [&["finding_2", "Accept"][..], &["20260304-050607", "FINDING_2", "accept"]] {
            let asked = asked(&[words, &because].concat()).unwrap();
            let ruling = asked.ruling.unwrap();
            assert_eq!(
                (ruling.matter.to_string(), ruling.choice),
                ("FINDING_2".into(), Choice::Accept)
            );
            assert_eq!(asked.run.is_some(), words.len() == 3);
        }
        let only = asked(&["20260304"]).unwrap();
        assert!(only.run.is_some() && only.ruling.is_none());
        assert_eq!(asked(&[]).unwrap(), Asked { run: None, ruling: None });
    }

    #[test]
    fn a_decision_is_whole_or_wrong_usage() {
        for words in [
            &["FINDING_2"][..],
            &["accept"],
            &["--because", "x"],
            &["FINDING_2", "accept"],
            &["FINDING_2", "accept", "--because", " \t"],
            &["FINDING_2", "FINDING_3", "accept", "--because", "x"],
            &["FINDING_2", "accept", "reject", "--because", "x"],
            &["FINDING_2", "maybe", "--because", "x"],
            &["FINDING_2!", "accept", "--because", "x"],
        ] {
            assert_eq!(
                asked(words).map_err(|failure| failure.class),
                Err(ErrorClass::Usage),
                "{words:?}"
            );
        }
        let long = "x".repeat(LONGEST_REASON + 1);
        assert!(asked(&["FINDING_2", "accept", "--because", &long]).is_err());
    }
}
