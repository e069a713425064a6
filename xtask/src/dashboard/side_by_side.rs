//! Runs that a panel of recorded agents made, in a real browser: one beside the plan of an agent
//! alone, and one whose agents attack the page.

use std::fs;
use std::time::Duration;

use convoke::rehearsal::answers;
use convoke_engine::lane::cassette::{Cassette, CassetteEntry};
use serde_json::json;

use super::checks::{axe, check_access, check_harmless, check_width};
use super::hostile::all_are_shown;
use super::scene::Scene;
use super::webdriver::{Driver, Look};
use super::{HOSTILE, encoded, enter, picture};
use crate::Error;

/// A word that nearly every answer of the rehearsal has, and no form of an answer needs.
const USUAL_WORD: &str = "computer";

/// How many texts stand in the place of a word.
const TEXTS_OF_PLACE: usize = 3;

/// Has three agents answer as in the rehearsal, after a change; the plan is also that of one agent
/// alone. Returns the last run.
fn planned(
    scene: &Scene,
    feature: &str,
    mut changed: impl FnMut(&str) -> String,
) -> Result<String, Error> {
    let mut lanes = String::new();
    for (lane, text) in answers() {
        let text = changed(text);
        let mut add = |lane: &str| {
            lanes.push_str(&CassetteEntry::answered(lane, &text, Duration::ZERO).lines(None));
        };
        add(lane);
        if lane == "chair/plan/claude" {
            add("compare");
        }
    }
    let mut seats = Vec::new();
    for agent in ["cursor", "codex", "claude"] {
        let tape = scene.file(&format!("{agent}.jsonl"));
        fs::write(&tape, format!("{}\n{lanes}", Cassette::head()))?;
        seats.push(format!("replay:{tape}"));
    }
    let seats = seats.join(",");
    let words = ["design", "--auto", "--no-probe", "--seats", &seats, "--", feature];
    scene.convoke_ends(&words, &[0])?;
    Ok(scene.runs()?.remove(0))
}

/// The page of a run leads to its single pass: first to the command, then to both plans.
pub(super) fn beside_its_single_pass(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let run = planned(&scene, "Keep notes in a folder", str::to_owned)?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let axe = axe()?;
    let beside = format!("{}/runs/{run}/single-pass", dashboard.origin);
    window.goto(&format!("{}/runs/{run}", dashboard.origin))?;
    window.click(&format!("a[href='/runs/{run}/single-pass']"))?;
    window.wait_for(&format!("convoke compare {run}"))?;
    check_access(&window, &axe, "a run without a single pass")?;
    scene.convoke(&["compare", &run])?;
    for scheme in ["light", "dark"] {
        window.prefer(scheme)?;
        for (width, height) in [(360, 800), (1280, 900), (2560, 1440)] {
            window.resize(width, height)?;
            window.goto(&beside)?;
            window.wait_for("Findings that only the panel has")?;
            let place = format!("a run and its single pass, {scheme} {width}");
            check_width(&window, &place)?;
            check_access(&window, &axe, &place)?;
            picture(&window, &format!("single-pass-{scheme}-{width}"))?;
        }
    }
    let plans =
        "return [...document.querySelectorAll('.document')].map((one) => one.innerText.length)";
    let lengths = window.script(plans, &json!([]))?;
    let is_long = |place: usize| lengths[place].as_u64().is_some_and(|length| length > 1000);
    if !is_long(0) || !is_long(1) {
        return Err(format!("the page does not show two plans: {lengths}").into());
    }
    check_harmless(&window, &dashboard.origin, "a run and its single pass")
}

/// Agents put hostile texts into sketches, cases, votes, findings and plans, and the feature is one.
pub(super) fn hostile_panel(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let texts: Vec<_> = HOSTILE.lines().collect();
    let mut next = texts.iter().cycle();
    let mut count = 0;
    let run = planned(&scene, texts[0], |answer| {
        let parts: Vec<_> = answer.split(USUAL_WORD).collect();
        count += parts.len() - 1;
        let mut told = parts[0].to_owned();
        for part in &parts[1..] {
            // Not every answer is shown, so each place has several texts.
            let texts: Vec<_> = next.by_ref().take(TEXTS_OF_PLACE).copied().collect();
            told.push_str(&texts.join(" "));
            told.push_str(part);
        }
        told
    })?;
    if count < texts.len() {
        return Err(format!("only {count} of {} texts are in the answers", texts.len()).into());
    }
    scene.convoke(&["compare", &run])?;
    let report = scene.file("report.html");
    scene.convoke(&["show", &run, "--html", &report])?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let path = format!("{}/runs/{run}", dashboard.origin);
    for place in [
        format!("{}/", dashboard.origin),
        format!("{}/runs", dashboard.origin),
        path.clone(),
        format!("{path}?at=30"),
        format!("{path}/diagram"),
        format!("{path}/single-pass"),
        format!("{}/compare?first={run}&second={run}", dashboard.origin),
        format!("{}/search?q={}", dashboard.origin, encoded("pwned")),
        format!("file://{report}"),
    ] {
        window.goto(&place)?;
        let open = "for (const one of document.querySelectorAll('details')) one.open = true";
        window.script(open, &json!([]))?;
        check_harmless(&window, &dashboard.origin, &place)?;
    }
    window.goto(&path)?;
    window.script(
        "for (const one of document.querySelectorAll('details')) one.open = true",
        &json!([]),
    )?;
    let plain: Vec<_> = texts.iter().copied().filter(|text| !is_markup(text)).collect();
    all_are_shown(&window, &plain)?;
    picture(&window, "run-hostile")
}

/// Tells whether a page shows a text in other letters: Markdown's links, code, emphasis and references to
/// letters, and letters that cannot be seen.
fn is_markup(text: &str) -> bool {
    text.contains(['`', '[', '*', '&', '\\', '\u{200d}'])
}
