//! The display of a fan-out: at a terminal a table that lives, elsewhere a line now and then.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use convoke_domain::text::one_line;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::fan::{FanCounts, FanFrontEnd, FanNews, FanResultLine, ResultTime};
use convoke_service::session::Session;

use crate::app::{App, Format};
use crate::output::{Output, draw_below, is_closed_pipe, terminal_size};
use crate::terminal::fan_progress::FanProgress;
use crate::terminal::styled::StyledLine;

/// How often the table is drawn, at most.
const TICK: Duration = Duration::from_millis(125);

/// How many rows it may take.
const MOST_ROWS: usize = 14;

/// Into how many parts plain progress divides the work.
const PARTS: usize = 20;

/// How many lanes without an answer are named.
const MOST_NAMED: usize = 10;

#[derive(Debug, thiserror::Error)]
#[error("cannot continue the run: the output pipe was closed")]
struct Unheard;

/// The display of a fan-out.
pub(super) struct FanScreen<'o> {
    output: &'o mut Output,
    format: Format,
    results: ResultTime,
    live: Option<LiveTable>,
    /// How many parts of the work the screen has shown.
    told: usize,
    /// How many failures were named.
    named: usize,
}

impl<'o> FanScreen<'o> {
    pub(super) fn new(app: &App, results: ResultTime, output: &'o mut Output) -> Self {
        let is_live = app.format == Format::Text && output.is_watched();
        let live = is_live.then(|| LiveTable::start(&app.session));
        Self { output, format: app.format, results, live, told: 0, named: 0 }
    }

    /// Stops drawing.
    pub(super) fn close(&mut self) {
        self.live = None;
    }

    /// Tells the progress without a table.
    fn tell(&mut self, news: &FanNews<'_>) {
        match news {
            FanNews::Opened { run, agent, items, kept, counts } => self.output.say(&format!(
                "run {run}: {items} items, {kept} answered before; asking {agent} for {}",
                counts.to_ask
            )),
            FanNews::Ended { index, trouble, counts, .. } => {
                self.name_trouble(*index, *trouble);
                let part = parts(*counts);
                if part > self.told && counts.done() < counts.to_ask {
                    self.told = part;
                    let (done, to_ask) = (counts.done(), counts.to_ask);
                    self.output
                        .say(&format!("{done} of {to_ask} settled, {} tokens", counts.tokens));
                }
            }
            FanNews::Started { .. } | FanNews::Said { .. } => {}
        }
    }

    fn name_trouble(&mut self, index: usize, trouble: Option<&str>) {
        let Some(trouble) = trouble.filter(|_| self.named < MOST_NAMED) else { return };
        self.named += 1;
        self.output.say(&format!("warning: item {index}: {}", one_line(trouble)));
        if self.named == MOST_NAMED {
            self.output.say("note: further items without an answer are in the results only");
        }
    }
}

const fn parts(counts: FanCounts) -> usize {
    match (counts.done() * PARTS).checked_div(counts.to_ask) {
        Some(part) => part,
        None => PARTS,
    }
}

impl FanFrontEnd for FanScreen<'_> {
    fn hear(&mut self, news: &FanNews<'_>) {
        if self.format == Format::Json {
            return;
        }
        let Some(live) = &self.live else { return self.tell(news) };
        live.update(news);
        match news {
            FanNews::Ended { index, trouble, .. } => self.name_trouble(*index, *trouble),
            FanNews::Opened { .. } | FanNews::Started { .. } | FanNews::Said { .. } => {}
        }
    }

    fn result(&mut self, result: &FanResultLine) -> Result<(), Failure> {
        if self.format == Format::Json {
            return Ok(());
        }
        // Beside a table on the same terminal, a line has to go above it.
        if self.live.is_some() && self.output.is_shown() {
            let line = serde_json::to_string(result).unwrap_or_default();
            return self.output.page(&[StyledLine::plain(&line)]);
        }
        let written = self.output.json_line(result);
        written.map_err(|failure| {
            // A reader who has enough does not end a run that is at work.
            let is_cut_off = self.results == ResultTime::AsTheyCome && is_closed_pipe(&failure);
            if is_cut_off { Failure::new(ErrorClass::Prerequisite, Unheard) } else { failure }
        })
    }
}

/// Draws the table for as long as it lives.
struct LiveTable {
    session: Session,
    progress: Arc<Mutex<FanProgress>>,
    /// Ends the thread when it is dropped.
    until: Option<Sender<()>>,
    drawing: Option<JoinHandle<()>>,
}

impl LiveTable {
    fn start(session: &Session) -> Self {
        let progress = Arc::new(Mutex::new(FanProgress::new(session.now())));
        let (until, ends) = channel();
        let (clock, shown) = (session.clone(), Arc::clone(&progress));
        let drawing = thread::spawn(move || {
            while ends.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let (columns, rows) = terminal_size();
                let rows = MOST_ROWS.min(rows.saturating_sub(2)).max(1);
                let lines = lock(&shown).lines(clock.now(), columns.saturating_sub(1), rows);
                draw_below(&lines);
            }
        });
        Self { session: session.clone(), progress, until: Some(until), drawing: Some(drawing) }
    }

    fn update(&self, news: &FanNews<'_>) {
        lock(&self.progress).take(news, self.session.now());
    }
}

impl Drop for LiveTable {
    fn drop(&mut self) {
        self.until = None;
        if let Some(drawing) = self.drawing.take() {
            drawing.join().ok();
        }
        draw_below(&[]);
    }
}

fn lock(progress: &Mutex<FanProgress>) -> MutexGuard<'_, FanProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}
