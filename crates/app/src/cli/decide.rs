//! `convoke decide`: a person ends what a panel left undecided.

use convoke_domain::design::matter::{MatterId, Revisiting, Ruling, RulingChoice};
use convoke_domain::run::RunId;
use convoke_service::run::{
    DecideRequest, DecisionOutcome, RunMattersReport, decide, list_matters, person_ruling,
};

use super::design::{CourseArgs, Screen, tell};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use convoke_service::failure::{ErrorClass, Failure};

/// Decide what a design's panel left open, and revise the plan
///
/// Without an id, lists the open findings and decisions, those withheld because they may concern
/// security, and what people decided. With an id, Convoke records your decision in the run's
/// journal and then has an agent revise the plan if the decision changes it: for an accepted
/// finding, or for a contested decision whose alternative you choose with `reject`. If no agent
/// answers, `convoke resume RUN` revises the plan later.
#[derive(Debug, clap::Args)]
#[command(override_usage = "convoke decide [RUN] [ID accept|reject --because <TEXT>] [OPTIONS]")]
pub struct Args {
    /// The run [default: the newest], the id to decide on (`FINDING_2`, `OOS_1`, `DECISION_1`), and
    /// `accept` or `reject`
    #[arg(value_name = "WORD", num_args = 0..=3)]
    words: Vec<String>,

    /// The reason; Convoke writes it to the journal and to the files about findings
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,

    /// Replace an earlier decision by a person
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    course: CourseArgs,
}

#[derive(Debug, thiserror::Error)]
enum DecideError {
    #[error("cannot take `{0}` for a run, an id such as `FINDING_2`, `accept` or `reject`")]
    Word(String),
    #[error("cannot decide `{0}`: add `accept` or `reject`")]
    NoChoice(MatterId),
    #[error("cannot {0} without an id: name a finding or decision")]
    NoMatter(&'static str),
}

/// The parsed arguments.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    run: Option<RunId>,
    ruling: Option<Ruling>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Asked { run, ruling } = self.asked()?;
        let Some(ruling) = ruling else {
            return listed(app, &list_matters(&app.session, run.as_ref())?, output);
        };
        let revisiting = if self.again { Revisiting::Allowed } else { Revisiting::Refused };
        let (app, course) = (&self.course.context(app), self.course.request());
        let request = DecideRequest { run, ruling, revisiting, course };
        let mut screen = Screen::new(app, output);
        let decided = decide(&app.session, request, &mut screen);
        screen.close()?;
        match decided? {
            DecisionOutcome::Acted(ended) => tell(app, &ended.report, output),
            DecisionOutcome::Waiting(run) if app.format == Format::Json => {
                listed(app, &list_matters(&app.session, Some(&run))?, output)
            }
            DecisionOutcome::Waiting(_) => Ok(Exit::Done),
        }
    }

    /// Reads the words by their form, so that the run can be left out.
    fn asked(&self) -> Result<Asked, Failure> {
        let usage = |error| Failure::new(ErrorClass::Usage, error);
        let (mut run, mut matter, mut choice) = (None, None, None);
        for word in &self.words {
            if let Some(found) = MatterId::parse(word).filter(|_| matter.is_none()) {
                matter = Some(found);
            } else if let Some(found) = RulingChoice::parse(word).filter(|_| choice.is_none()) {
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
        let because = self.because.as_deref().unwrap_or_default();
        Ok(Asked { run, ruling: Some(person_ruling(matter, choice, because)?) })
    }
}

fn listed(app: &App, report: &RunMattersReport, output: &mut Output) -> Result<Exit, Failure> {
    if app.format == Format::Json {
        output.json(report)?;
        return Ok(Exit::Done);
    }
    match report.matters.text() {
        text if text.is_empty() => output.say(&format!("no open decisions in {}", report.run)),
        text => output.data(&text)?,
    }
    if let Some(way_out) = &report.way_out {
        output.say(&format!("hint: {way_out}"));
    }
    Ok(Exit::Done)
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
                ("FINDING_2".into(), RulingChoice::Accept)
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
        let long = "x".repeat(4097);
        assert!(asked(&["FINDING_2", "accept", "--because", &long]).is_err());
    }
}
