//! A run of 10,000 events in a real browser: how long it takes to open, and how smooth its slider is. Both
//! are reported, because a machine that is busy would fail a limit.

use convoke_domain::run::RunId;
use convoke_engine::design::journal::Journal;
use convoke_store::StoreLocation;
use serde_json::{Value, json};

use super::scene::Scene;
use super::webdriver::{Driver, Look, Window};
use super::{enter, picture};
use crate::bench::{add_ended_run, whole_run};
use crate::{Error, say};

/// How many events the run has.
const EVENTS: usize = 10_000;

/// The run.
const RUN: &str = "20250101-000000-00000";

pub(super) fn long_run(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.long_run()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    window.goto(&format!("{}/runs/{RUN}", dashboard.origin))?;
    window.wait_for("Replay: event 10000 of 10000")?;
    let times = "const [page] = performance.getEntriesByType('navigation'); \
                 return [page.responseStart - page.requestStart, page.domContentLoadedEventEnd]";
    let times = window.script(times, &json!([]))?;
    let frames = slide(&window)?;
    say(&format!(
        "a run of {EVENTS} events: {} ms until the server answers, {} ms until the page is there; frames of \
         its slider: median {} ms, 95 of 100 {} ms, longest {} ms",
        whole(&times[0]),
        whole(&times[1]),
        whole(&frames[0]),
        whole(&frames[1]),
        whole(&frames[2]),
    ));
    picture(&window, "run-of-10000-events")?;
    window.wait_for("Replay: event 1 of 10000")
}

fn whole(milliseconds: &Value) -> String {
    milliseconds.as_f64().map_or_else(|| "unknown".to_owned(), |time| format!("{time:.1}"))
}

/// Moves the slider from the last event to the first in two hundred frames, and returns how long these
/// took: the median, the 95th of a hundred, and the longest.
fn slide(window: &Window<'_>) -> Result<Value, Error> {
    let script = "const done = arguments[arguments.length - 1]; \
        const slider = document.getElementById('at'), times = []; let before = 0, step = 0; \
        const frame = (now) => { if (before) times.push(now - before); before = now; \
          if (step > 200) { times.sort((one, other) => one - other); \
            const at = (share) => times[Math.floor((times.length - 1) * share)]; \
            done([at(.5), at(.95), at(1)]); return; } \
          slider.value = String(Math.max(1, 10000 - step * 50)); \
          slider.dispatchEvent(new Event('input')); step += 1; requestAnimationFrame(frame); }; \
        requestAnimationFrame(frame);";
    window.script_that_calls_back(script)
}

impl Scene {
    /// Writes a run with many events into the store.
    fn long_run(&self) -> Result<(), Error> {
        self.convoke(&["task", "add", "Write the model"])?;
        let path = self.store();
        add_ended_run(&path, RUN)?;
        let store = convoke_store::open(&StoreLocation::file(path))?;
        let run = RunId::parse(RUN).map_err(|error| error.to_string())?;
        let (mut journal, _) = Journal::open(&*store, run)?;
        for stamped in whole_run(EVENTS) {
            journal.append(stamped.at, &stamped.event)?;
        }
        Ok(())
    }
}
