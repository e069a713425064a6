//! What must hold on every page: anyone can use it, it fits, and no text on it acts.

use std::fs;

use serde_json::{Value, json};

use super::webdriver::Window;
use crate::{Error, root, tools};

/// The axe-core of the check, from the npm registry.
const AXE: &str = "4.14.0";

/// Installs axe-core below the build folder, once, and returns its script.
pub(super) fn axe() -> Result<String, Error> {
    let folder = root().join("target/browser/axe").join(AXE);
    tools::npm(&folder, &[&format!("axe-core@{AXE}")])?;
    Ok(fs::read_to_string(folder.join("node_modules/axe-core/axe.min.js"))?)
}

/// Fails if axe-core finds a serious issue on the page.
pub(super) fn check_access(window: &Window<'_>, axe: &str, place: &str) -> Result<(), Error> {
    let script = format!(
        "{axe}\nconst done = arguments[arguments.length - 1];\n\
         axe.run(document, {{resultTypes: ['violations']}}).then((found) => done(\n\
           found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')\n\
           .map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html).join(' | '))\n\
         ), (error) => done([String(error)]));"
    );
    let found = window.script_that_calls_back(&script)?;
    let found: Vec<_> = found.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(format!("axe-core on {place}: {}", found.join("\n")).into())
}

/// Fails if the page is wider than its window.
pub(super) fn check_width(window: &Window<'_>, place: &str) -> Result<(), Error> {
    let script = "const wide = [...document.body.querySelectorAll('*')].filter((one) => \
                  one.getBoundingClientRect().right > window.innerWidth + 1 && !one.closest('.scroll, .table, pre')); \
                  return [document.documentElement.scrollWidth, window.innerWidth, \
                  wide.slice(0, 3).map((one) => one.cloneNode(false).outerHTML).join(' ')]";
    let found = window.script(script, &json!([]))?;
    let width = |place: usize| found[place].as_f64().unwrap_or(0.0);
    if width(0) <= width(1) + 1.0 {
        return Ok(());
    }
    Err(format!("{place} is {} pixels wide in a window of {}: {}", found[0], found[1], found[2])
        .into())
}

/// Fails if a script of a text ran, or a request left the host.
pub(super) fn check_harmless(window: &Window<'_>, origin: &str, place: &str) -> Result<(), Error> {
    if window.has_alert() {
        return Err(format!("a box is open on {place}").into());
    }
    let pwned = window.script("return typeof window.pwned", &json!([]))?;
    if pwned != json!("undefined") {
        return Err(format!("a script ran on {place}").into());
    }
    // The browser's own pages have other schemes, and none of these leads out of the machine.
    let leads_out =
        |address: &str| ["http", "ws", "ftp"].iter().any(|scheme| address.starts_with(scheme));
    let is_foreign = |address: &&String| leads_out(address) && !address.starts_with(origin);
    let requests = window.requests()?;
    match requests.iter().find(is_foreign) {
        Some(address) => Err(format!("{place} asks for {address}").into()),
        None => Ok(()),
    }
}
