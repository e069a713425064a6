//! Pages that change while they are shown, in a real browser.

use std::fs;

use serde_json::json;

use super::scene::{Dashboard, Scene};
use super::webdriver::{Driver, Look, Window};
use super::{enter, picture};
use crate::{Error, say};

/// The beginning of the feature that a rehearsal plans.
const EXAMPLE: &str = "Let people keep their notes";

/// How much of Now may move while it lives, as the browser measures it.
const MOST_SHIFT: f64 = 0.01;

/// How much the page of a run may move while its run goes from the first lane to its end. Browsers call
/// 0.1 good and 0.25 poor; measured were 0 and 0.08, on a machine that did much else.
const MOST_SHIFT_OF_RUN: f64 = 0.2;

pub(super) fn stopping_a_lane(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    window.wait_for("No lane of this project runs.")?;
    let mut running = scene.lane_that_talks("Read the map")?;
    // The page was not loaded again.
    window.wait_for("Read the map")?;
    window.wait_for("a-model-of-the-test")?;
    picture(&window, "lane")?;
    window.click("a.danger")?;
    window.wait_for("Stop lane 1?")?;
    picture(&window, "stop")?;
    window.click("form button.danger")?;
    window.wait_for("Lane 1 stopped.")?;
    window.wait_for("No lane of this project runs.")?;
    running.wait()?;
    let listed = scene.convoke(&["lane", "list"])?;
    if !listed.contains("cancelled") && !listed.contains("stopped") {
        return Err(format!("the lane is not stopped:\n{listed}").into());
    }
    Ok(())
}

/// Measures from now on how much a page moves by itself, and what moves.
const WATCH: &str = "window.shifts = 0; window.moved = []; new PerformanceObserver((list) => { \
     for (const one of list.getEntries()) if (!one.hadRecentInput) { window.shifts += one.value; \
     for (const source of one.sources) if (source.node && source.node.cloneNode) \
     window.moved.push(source.node.cloneNode(false).outerHTML || source.node.nodeName); } })\
     .observe({type: 'layout-shift', buffered: false});";

/// Fails if the page moved by more than this since [`WATCH`].
fn check_still(window: &Window<'_>, place: &str, most: f64) -> Result<(), Error> {
    let shifts = window.script("return [window.shifts, window.moved.slice(0, 4)]", &json!([]))?;
    let moved = shifts[0].as_f64();
    say(&format!("{place} moved by {} while it lived; {most} is the most", shifts[0]));
    if moved.is_none_or(|moved| moved > most) {
        return Err(format!("{place} moved while it lived: {shifts}").into());
    }
    Ok(())
}

pub(super) fn live_design(driver: &Driver) -> Result<(), Error> {
    live_design_in(driver, Look::USUAL)
}

/// The same in a window as narrow as a telephone.
pub(super) fn live_design_narrow(driver: &Driver) -> Result<(), Error> {
    live_design_in(driver, Look { width: 360, height: 800, ..Look::USUAL })
}

fn live_design_in(driver: &Driver, look: Look) -> Result<(), Error> {
    let scene = Scene::new()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(look)?;
    enter(&window, &dashboard)?;
    window.resize(look.width, look.height)?;
    window.wait_for("No design runs, and none was stopped.")?;
    window.script(WATCH, &json!([]))?;
    let mut design = scene.slow_design()?;
    window.wait_for(EXAMPLE)?;
    window.wait_for("running of")?;
    picture(&window, "design")?;
    design.wait()?;
    window.wait_for("No design runs, and none was stopped.")?;
    check_still(&window, "Now", MOST_SHIFT)?;
    live_run(&window, &scene, &dashboard)
}

/// Follows a design on its own page, without loading it again.
fn live_run(window: &Window<'_>, scene: &Scene, dashboard: &Dashboard) -> Result<(), Error> {
    let mut design = scene.slow_design()?;
    window.wait_for(EXAMPLE)?;
    window.click(".card h3 a")?;
    window.wait_for("Stop the design")?;
    window.script("window.was_loaded_once = true", &json!([]))?;
    window.script(WATCH, &json!([]))?;
    picture(window, "run-live")?;
    design.wait()?;
    window.wait_until("the page shows the ended run", |window| {
        let text = window.text()?;
        Ok(!text.contains("Stop the design") && text.contains("Draft against revised plan"))
    })?;
    if window.script("return window.was_loaded_once", &json!([]))? != json!(true) {
        return Err("the page was loaded again".into());
    }
    check_still(window, "the page of a run", MOST_SHIFT_OF_RUN)?;
    window.goto(&format!("{}/runs", dashboard.origin))?;
    window.wait_for(EXAMPLE)
}

pub(super) fn no_longer_live(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let _lane = scene.lane_that_talks("Read the map")?;
    window.wait_for("Read the map")?;
    if window.text()?.contains("Not live") {
        return Err("a live page says that it is not".into());
    }
    without_its_store(&window, &scene)?;
    drop(dashboard);
    window.wait_for("Not live: the server does not answer.")?;
    let clock = "return document.querySelector('time[data-since]').textContent";
    let before = window.script(clock, &json!([]))?;
    let wait = "const done = arguments[arguments.length - 1]; setTimeout(done, 2200);";
    window.script_that_calls_back(wait)?;
    if window.script(clock, &json!([]))? != before {
        return Err("a clock counts on although the page is not live".into());
    }
    picture(&window, "not-live")
}

/// A page whose store cannot be read says that it is not live, and lives again with the store.
fn without_its_store(window: &Window<'_>, scene: &Scene) -> Result<(), Error> {
    let store = scene.store();
    let aside = store.with_extension("aside");
    fs::rename(&store, &aside)?;
    fs::create_dir(&store)?;
    window.wait_for("Not live: Convoke cannot read this page.")?;
    picture(window, "unreadable")?;
    fs::remove_dir(&store)?;
    fs::rename(&aside, &store)?;
    window.wait_until("the page lives again", |window| Ok(!window.text()?.contains("Not live")))
}
