//! Names and reasons that attack the page: of lanes, models, roles, branches, plans, folders, verdicts
//! and the commands of reviewers.

use std::fs;

use serde_json::json;

use super::checks::check_harmless;
use super::scene::{LaneWords, Scene};
use super::webdriver::{Driver, Look, Window};
use super::{HOSTILE, PAGES, encoded, enter, picture};
use crate::Error;

/// Opens everything that unfolds.
const OPEN: &str = "for (const one of document.querySelectorAll('details')) one.open = true";

/// Every name that a page shows is one of the texts.
pub(super) fn hostile_names(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let texts: Vec<_> = HOSTILE.lines().collect();
    let ids = fill(&scene, &texts)?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let _running = scene.lane_that_talks_as(LaneWords {
        tool: texts[0],
        model: texts[4],
        role: texts[8],
        label: texts[12],
    })?;
    for text in [texts[0], texts[4], texts[12]] {
        window.wait_for(text)?;
    }
    let open = |path: &str| {
        window.goto(&format!("{}{path}", dashboard.origin))?;
        window.script(OPEN, &json!([]))?;
        check_harmless(&window, &dashboard.origin, path)
    };
    for path in PAGES {
        open(path)?;
    }
    open("/usage")?;
    all_are_shown(&window, &texts)?;
    picture(&window, "usage-hostile")?;
    open("/store")?;
    let files: Vec<_> = texts.iter().map(|text| file_name(text)).collect();
    all_are_shown(&window, &files.iter().map(String::as_str).collect::<Vec<_>>())?;
    open("/tasks")?;
    all_are_shown(&window, &texts)?;
    all_are_shown(&window, &files.iter().map(String::as_str).collect::<Vec<_>>())?;
    open(&format!("/tasks?branch={}", encoded(texts[0])))?;
    open(&format!("/tasks?plan={}", encoded(texts[0])))?;
    for id in &ids {
        open(&format!("/tasks/{id}"))?;
    }
    let judged = ids.first().ok_or("no task has a verdict")?;
    open(&format!("/tasks/{judged}"))?;
    all_are_shown(&window, &texts)?;
    open("/dispatch")?;
    picture(&window, "dispatch-hostile")
}

/// Gives the texts to everything that has a name, and returns the ids of tasks: the first one has every
/// text as a reason of a verdict.
fn fill(scene: &Scene, texts: &[&str]) -> Result<Vec<String>, Error> {
    let judged = scene.convoke(&["task", "add", "Write the model"])?;
    for text in texts {
        scene.lane_named(text)?;
        scene.convoke(&["task", &format!("--branch={text}"), "add", "--", text])?;
        let words = ["task", "fail", &judged, "--by", "spec-reviewer"];
        scene.convoke(&[&words[..], &[&format!("--because={text}")]].concat())?;
        let name = file_name(text);
        let plan = format!("# Plan\n\n## Task 1: {text}\n\n{text}\n");
        fs::write(scene.project().join(&name), plan)?;
        scene.convoke(&["task", "import", &format!("./{name}")])?;
        scene.other_project(&name)?;
    }
    scene.hostile_reviews(texts)?;
    // A client that fails with a text, and settings that cannot be read.
    scene.client(&format!("cat >/dev/null; cat <<'END' >&2\n{}\nEND\nexit 1\n", texts[0]))?;
    scene.convoke_ends(&["agents", "claude", "--probe"], &[0, 1, 3, 4])?;
    let settings = scene.project().join(".claude");
    fs::create_dir_all(&settings)?;
    fs::write(settings.join("settings.json"), texts.join("\n"))?;
    let listed = scene.convoke(&["task", "list"])?;
    let ids = listed.split_whitespace().filter(|word| word.starts_with("t-"));
    let ids = ids.map(|id| id.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned());
    Ok([judged].into_iter().chain(ids.take(12)).collect())
}

/// Returns a text as the name of a file or folder.
fn file_name(text: &str) -> String {
    text.trim().replace('/', "_")
}

/// Fails if a page leaves one of the texts out instead of showing it. Spaces are as HTML shows them.
pub(super) fn all_are_shown(window: &Window<'_>, texts: &[&str]) -> Result<(), Error> {
    let shown = window.script("return document.body.textContent", &json!([]))?;
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = plain(shown.as_str().unwrap_or_default());
    match texts.iter().find(|text| !shown.contains(&plain(text))) {
        Some(text) => {
            let address = window.address()?;
            Err(format!("{address} does not show `{text}` as it is").into())
        }
        None => Ok(()),
    }
}
