//! The display of a design: at a terminal a line for each phase and rows that live while agents
//! work; elsewhere every line of the design as it comes.

use std::time::Duration;

use convoke_domain::design::event::{LaneEnd, LaneId, Settings};
use convoke_domain::design::notice::{DesignNote, Notice, ToldArtifact};
use convoke_domain::design::progress::Step;
use convoke_domain::design::render::{Line, is_same_failure, warnings_for_people};
use convoke_domain::design::seat::Holder;
use convoke_domain::design::seat_name::lane_seat;
use convoke_domain::design::walk::LaneNeed;
use convoke_domain::design::warning::DesignWarning;
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::run::RunId;
use convoke_domain::text::counted;
use convoke_service::design::{DesignFrontEnd, TypedAnswer, WorkerLane};
use convoke_service::failure::{ErrorClass, Failure};

use super::live::{Live, wipe};
use crate::app::{App, Format, Verbosity};
use crate::input::{self, Typed};
use crate::interrupt;
use crate::output::{Output, is_closed_pipe};
use crate::terminal::markdown;
use crate::terminal::progress::{DesignProgress, phase_name};
use crate::terminal::styled::{Ink, StyledLine};

/// How many columns the further rows of a wrapped line are indented.
const INDENT: usize = 2;

/// How many lines of a feature are shown at the beginning.
const MOST_FEATURE_LINES: usize = 6;

#[derive(Debug, thiserror::Error)]
#[error("cannot continue the run: the output pipe was closed")]
struct Unheard;

/// The display of a design.
pub(in crate::cli) struct Screen<'o> {
    output: &'o mut Output,
    manner: Manner,
    verbosity: Verbosity,
    /// The last plan that was not shown: a person sees it before a question about it.
    plan: Option<String>,
    /// The last phase of a worker process that a note named.
    worker_step: Option<Step>,
    /// The request of the run, with the names of its agents.
    settings: Option<Settings>,
    /// Warnings that share a sentence with those that may follow.
    held: Vec<DesignWarning>,
}

/// The manner of display.
enum Manner {
    /// Nothing: a report in JSON follows.
    Silent,
    /// Line by line.
    Plain,
    /// At a terminal where lines can be drawn again.
    Live(Box<Live>),
}

impl<'o> Screen<'o> {
    pub(in crate::cli) fn new(app: &App, output: &'o mut Output) -> Self {
        let manner = match app.format {
            Format::Json => Manner::Silent,
            Format::Text if output.is_terminal() => {
                Manner::Live(Box::new(Live::start(&app.session)))
            }
            Format::Text => Manner::Plain,
        };
        Self {
            output,
            manner,
            verbosity: app.verbosity,
            plan: None,
            worker_step: None,
            settings: None,
            held: Vec::new(),
        }
    }

    /// Ends the last phase, and stops drawing.
    pub(in crate::cli) fn close(mut self) -> Result<(), Failure> {
        self.tell_held()?;
        let Manner::Live(live) = &self.manner else { return Ok(()) };
        let over = live.update(DesignProgress::finish);
        wipe();
        self.page(over.as_slice())
    }

    fn columns(&self) -> usize {
        self.output.page_size().0
    }

    fn page(&mut self, lines: &[StyledLine]) -> Result<(), Failure> {
        if lines.is_empty() { Ok(()) } else { self.output.page(lines) }
    }

    fn markdown(&mut self, text: &str) -> Result<(), Failure> {
        let lines = markdown::lines(text, self.columns());
        self.page(&lines)
    }

    fn folded(&mut self, line: &str) -> Result<(), Failure> {
        let lines = StyledLine::plain(line).folded(self.columns(), INDENT);
        self.page(&lines)
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.output.data(&format!("{text}\n"))?;
        self.output.flush()
    }

    /// Shows what the design tells, where lines live.
    fn show_live(&mut self, notice: &Notice, rendered: &Line) -> Result<(), Failure> {
        if let Notice::Warning(warning) = notice {
            return self.warn_person(warning);
        }
        self.tell_held()?;
        let Manner::Live(live) = &self.manner else { return Ok(()) };
        match notice {
            Notice::StepBegins { step, with } => {
                let over = live.update(|progress, now| progress.begin(*step, now));
                if let Some(words) = with {
                    live.update(|progress, _| progress.conclude(words));
                }
                self.page(over.as_slice())
            }
            Notice::StepDone { what: words, .. } => {
                live.update(|progress, _| progress.conclude(words));
                Ok(())
            }
            Notice::DecisionsResolved { count, .. } => {
                let words = format!("{} resolved", counted(*count, "decision"));
                live.update(|progress, _| progress.conclude(&words));
                Ok(())
            }
            Notice::StepSkipped { why: words, .. } => {
                live.update(|progress, _| progress.skip(words));
                Ok(())
            }
            Notice::Artifact(artifact) => self.artifact(artifact, rendered),
            Notice::Note(DesignNote::SetUp(note)) if !note.is_warning() => {
                self.folded(&rendered.text())
            }
            // Commands keep their backticks, and lists their indent.
            Notice::Note(DesignNote::Refused(reason)) => self.folded(reason),
            Notice::Note(_) => self.markdown(&rendered.text()),
            // The rows show the states of lanes, and the last screen shows results and all
            // warnings.
            Notice::ArtifactSaved { .. }
            | Notice::LaneBoard(_)
            | Notice::Warning(_)
            | Notice::Reminder(_)
            | Notice::Tally(_)
            | Notice::Independence(_) => Ok(()),
        }
    }

    /// Shows a warning in words for people. Seats that the host leaves empty in one phase share a
    /// sentence, which waits for the last of them.
    fn warn_person(&mut self, warning: &DesignWarning) -> Result<(), Failure> {
        if !self.held.last().is_some_and(|held| is_same_failure(held, warning)) {
            self.tell_held()?;
        }
        self.held.push(warning.clone());
        if is_same_failure(warning, warning) { Ok(()) } else { self.tell_held() }
    }

    fn tell_held(&mut self) -> Result<(), Failure> {
        let held = std::mem::take(&mut self.held);
        for sentence in warnings_for_people(&held, self.settings.as_ref()) {
            self.markdown(&sentence)?;
        }
        Ok(())
    }

    /// Texts are in files and in `show`; `-v` shows all of them now.
    fn artifact(&mut self, artifact: &ToldArtifact, rendered: &Line) -> Result<(), Failure> {
        let text = rendered.text();
        if self.verbosity == Verbosity::Verbose {
            return self.markdown(&text);
        }
        if matches!(artifact, ToldArtifact::Plan(_) | ToldArtifact::RevisedPlan(_)) {
            self.plan = Some(text.to_string());
        }
        Ok(())
    }

    /// Breaks lines at word borders, as wide as the terminal; a list stays indented.
    fn wrapped(&self, text: &str) -> String {
        let columns = self.columns();
        let wrap = |line: &str| {
            let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
            let (first, rest) = (StyledLine::plain(&indent), StyledLine::plain(&(indent + "  ")));
            let lines =
                StyledLine::plain(line.trim_start_matches(' ')).wrapped(columns, &first, &rest);
            lines.iter().map(StyledLine::text).collect::<Vec<_>>().join("\n")
        };
        text.lines().map(wrap).collect::<Vec<_>>().join("\n")
    }
}

/// A reader that closes a pipe has enough of the text; the run itself is not at its end.
fn unheard(failure: Failure) -> Failure {
    if !is_closed_pipe(&failure) {
        return failure;
    }
    Failure::new(ErrorClass::Prerequisite, Unheard)
}

/// Renders the feature and the panel.
fn opening(run: &RunId, settings: &Settings, columns: usize) -> Vec<StyledLine> {
    let (first, rest) = (StyledLine::new(Ink::Heading, "Design  "), StyledLine::plain("        "));
    let feature = StyledLine::new(Ink::Strong, &settings.feature);
    let mut lines = feature.wrapped(columns, &first, &rest);
    if lines.len() > MOST_FEATURE_LINES {
        lines.truncate(MOST_FEATURE_LINES);
        lines.push(rest.clone().with(Ink::Quiet, "…"));
    }
    let named = |holder| {
        let model = settings.chosen(holder).model.as_ref();
        let name = settings.panel.named(holder).name();
        model.map_or(name.to_owned(), |model| format!("{name} ({model})"))
    };
    let [one, two, host] = [Holder::First, Holder::Second, Holder::Host].map(named);
    let rehearsal = if settings.is_rehearsal { " · rehearsal with recorded answers" } else { "" };
    let panel = format!("{one}, {two}, {host} (chair) · run {run}{rehearsal}");
    lines.extend(StyledLine::new(Ink::Quiet, &panel).wrapped(columns, &rest, &rest));
    lines
}

impl DesignFrontEnd for Screen<'_> {
    fn open(&mut self, run: &RunId, settings: &Settings) {
        if matches!(self.manner, Manner::Live(_)) {
            let lines = opening(run, settings, self.columns());
            // A terminal that cannot be written to is noticed with the first line of the design.
            self.page(&lines).ok();
            self.settings = Some(settings.clone());
        }
    }

    fn show(&mut self, notice: &Notice, line: &Line) -> Result<(), Failure> {
        match &self.manner {
            Manner::Silent => Ok(()),
            Manner::Plain => self.print(&line.text()).map_err(unheard),
            Manner::Live(_) => self.show_live(notice, line).map_err(unheard),
        }
    }

    fn works(&mut self, activity: Option<&str>) {
        self.tell_held().ok();
        if let Manner::Live(live) = &self.manner {
            live.update(|progress, now| progress.work(activity, now));
        }
    }

    fn worker_lanes(&mut self, lanes: Vec<WorkerLane>) {
        match &self.manner {
            Manner::Silent => {}
            Manner::Live(live) => {
                let over = live.update(|progress, now| progress.watch_worker(lanes, now));
                self.page(over.as_slice()).ok();
            }
            // The lines of the design come when the worker has ended, which can take an hour.
            Manner::Plain => {
                let step = lanes.last().map(|lane| lane.id.step());
                if let Some(step) = step.filter(|step| self.worker_step != Some(*step)) {
                    self.worker_step = Some(step);
                    let name = phase_name(step);
                    self.output.say(&format!("note: phase {name} began in another process"));
                }
            }
        }
    }

    fn say(&mut self, text: &str) {
        self.tell_held().ok();
        match &self.manner {
            Manner::Live(_) => self.output.say(&self.wrapped(text)),
            Manner::Silent | Manner::Plain => self.output.say(text),
        }
    }

    fn remark(&mut self, text: &str) {
        self.say(&format!("note: {text}"));
    }

    fn warn(&mut self, text: &str) {
        self.say(&format!("warning: {text}"));
    }

    fn note(&mut self, text: &str) {
        if !matches!(self.manner, Manner::Silent) {
            self.say(text);
        }
    }

    fn lane_starts(&mut self, request: &LaneNeed, settings: &Settings) {
        self.tell_held().ok();
        if let Manner::Live(live) = &self.manner {
            let name = lane_seat(&request.id, settings.panel.named(request.holder));
            live.update(|progress, now| progress.start(&request.id, name, now));
        }
    }

    fn lane_says(&mut self, lane: &LaneId, event: &LaneEvent) {
        if let Manner::Live(live) = &self.manner {
            live.update(|progress, _| progress.hear(lane, event));
        }
    }

    fn lane_ends(&mut self, lane: &LaneId, end: Option<&LaneEnd>) {
        if let Manner::Live(live) = &self.manner {
            live.update(|progress, now| progress.end(lane, end, now));
        }
    }

    fn has_person(&self) -> bool {
        input::has_person()
    }

    fn ask(&mut self, question: &str, limit: Option<Duration>) -> TypedAnswer {
        self.tell_held().ok();
        if let Some(plan) = self.plan.take() {
            self.markdown(&plan).ok();
        }
        self.update_quietly(DesignProgress::ask);
        let typed = input::line(|| self.say(question), limit, &interrupt::cancel());
        self.update_quietly(DesignProgress::go_on);
        match typed {
            Typed::Line(line) => TypedAnswer::Line(line),
            Typed::TooLate => TypedAnswer::TooLate,
            Typed::End => TypedAnswer::End,
            Typed::Stopped => TypedAnswer::Stopped,
        }
    }
}

impl Screen<'_> {
    /// Nothing moves while a person types.
    fn update_quietly(&self, change: fn(&mut DesignProgress)) {
        if let Manner::Live(live) = &self.manner {
            live.update(|progress, _| change(progress));
            wipe();
        }
    }
}
