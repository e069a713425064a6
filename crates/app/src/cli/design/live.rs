//! The lines of a design that live at the bottom of a terminal, drawn from a thread of their own.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use convoke_service::session::Session;
use jiff::Timestamp;

use crate::output::{draw_below, terminal_size};
use crate::terminal::progress::DesignProgress;

/// How often they are drawn, at most.
const TICK: Duration = Duration::from_millis(125);

/// How many rows they may take.
const MOST_ROWS: usize = 14;

/// Draws the progress of a design for as long as it lives.
pub(super) struct Live {
    session: Session,
    progress: Arc<Mutex<DesignProgress>>,
    /// Ends the thread when it is dropped.
    until: Option<Sender<()>>,
    drawing: Option<JoinHandle<()>>,
}

impl Live {
    pub(super) fn start(session: &Session) -> Self {
        let progress = Arc::new(Mutex::new(DesignProgress::default()));
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

    /// Changes the progress, at the present time.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut DesignProgress, Timestamp) -> T) -> T {
        let now = self.session.now();
        change(&mut lock(&self.progress), now)
    }
}

/// Wipes the lines until the next tick.
pub(super) fn wipe() {
    draw_below(&[]);
}

impl Drop for Live {
    fn drop(&mut self) {
        self.until = None;
        if let Some(drawing) = self.drawing.take() {
            drawing.join().ok();
        }
        wipe();
    }
}

fn lock(progress: &Mutex<DesignProgress>) -> MutexGuard<'_, DesignProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}
