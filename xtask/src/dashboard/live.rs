//! Pages that change while they are shown, in a real browser.

use serde_json::json;

use super::scene::{Dashboard, Scene};
use super::webdriver::{Driver, Look, Window};
use super::{enter, picture};
use crate::Error;

/// The beginning of the feature that a rehearsal plans.
const EXAMPLE: &str = "Let people keep their notes";

/// How much of a page may move while it lives, as the browser measures it.
const MOST_SHIFT: f64 = 0.01;

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

pub(super) fn live_design(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    window.wait_for("No design runs, and none was stopped.")?;
    let shift = "window.shifts = 0; new PerformanceObserver((list) => { for (const one of \
                 list.getEntries()) if (!one.hadRecentInput) window.shifts += one.value; })\
                 .observe({type: 'layout-shift', buffered: false});";
    window.script(shift, &json!([]))?;
    let mut design = scene.slow_design()?;
    window.wait_for(EXAMPLE)?;
    window.wait_for("running of")?;
    picture(&window, "design")?;
    design.wait()?;
    window.wait_for("No design runs, and none was stopped.")?;
    let shifts = window.script("return window.shifts", &json!([]))?;
    if shifts.as_f64().is_none_or(|shifts| shifts > MOST_SHIFT) {
        return Err(format!("the page moved while it lived: {shifts}").into());
    }
    live_run(&window, &scene, &dashboard)
}

/// Follows a design on its own page, without loading it again.
fn live_run(window: &Window<'_>, scene: &Scene, dashboard: &Dashboard) -> Result<(), Error> {
    let mut design = scene.slow_design()?;
    window.wait_for(EXAMPLE)?;
    window.click(".card h3 a")?;
    window.wait_for("Stop the design")?;
    window.script("window.was_loaded_once = true", &json!([]))?;
    picture(window, "run-live")?;
    design.wait()?;
    window.wait_until("the page shows the ended run", |window| {
        let text = window.text()?;
        Ok(!text.contains("Stop the design") && text.contains("Draft against revised plan"))
    })?;
    if window.script("return window.was_loaded_once", &json!([]))? != json!(true) {
        return Err("the page was loaded again".into());
    }
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
