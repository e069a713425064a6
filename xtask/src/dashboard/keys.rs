//! Keys where rows lie in other rows.

use serde_json::json;

use super::enter;
use super::scene::Scene;
use super::webdriver::{Driver, Look, Window};
use crate::Error;

/// The keys `j` and `k` visit every row of a table that unfolds, and come out of it again.
pub(super) fn rows_within_rows(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.fill()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    window.goto(&format!("{}/usage", dashboard.origin))?;
    let open = "for (const one of document.querySelectorAll('details[data-row]')) one.open = true; \
                return document.querySelectorAll('[data-row]').length";
    let count = window.script(open, &json!([]))?.as_u64().unwrap_or_default();
    if count < 10 {
        return Err(format!("the page of usage has {count} rows").into());
    }
    for place in 0..count {
        window.press(&["j"])?;
        expect_row(&window, place, "j")?;
    }
    window.press(&["j"])?;
    expect_row(&window, count - 1, "j at the end")?;
    for place in (0..count - 1).rev() {
        window.press(&["k"])?;
        expect_row(&window, place, "k")?;
    }
    Ok(())
}

fn expect_row(window: &Window<'_>, place: u64, key: &str) -> Result<(), Error> {
    let focused = "const row = document.activeElement.closest('[data-row]'); \
                   return [...document.querySelectorAll('[data-row]')].indexOf(row)";
    let row = window.script(focused, &json!([]))?;
    if row.as_u64() == Some(place) {
        return Ok(());
    }
    Err(format!("`{key}` leads to row {row} instead of {place}").into())
}
