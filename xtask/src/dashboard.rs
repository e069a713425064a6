//! The dashboard in a real browser: every page, empty and full, live, attacked by texts, by keyboard
//! alone, narrow and wide, and checked by axe-core. Pictures stay in `target/browser/dashboard`.

mod checks;
mod hostile;
mod keys;
mod live;
mod long_run;
pub mod pictures;
mod reviews;
mod runs;
mod scene;
mod side_by_side;
pub mod webdriver;

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use self::checks::{axe, check_access, check_harmless, check_width};
use self::hostile::hostile_names;
use self::keys::rows_within_rows;
use self::live::{live_design, live_design_narrow, no_longer_live, stopping_a_lane};
use self::long_run::long_run;
use self::pictures::pictures_are_true;
use self::reviews::receipts_and_their_evidence;
use self::runs::{
    opened_stays_open, pages_for_strangers, people_answer, people_without_scripts,
    replayed_and_drawn, travelling_report,
};
use self::scene::{Dashboard, Scene};
use self::side_by_side::{beside_its_single_pass, hostile_panel};
use self::webdriver::{Driver, ENTER, ESCAPE, Look, TAB, Window};
use crate::bench::stopwatch;
use crate::{Error, root, say, second_try};

/// The pages of the navigation.
const PAGES: [&str; 7] = ["/", "/runs", "/dispatch", "/tasks", "/messages", "/usage", "/store"];

/// Texts that try to be more than text.
const HOSTILE: &str = include_str!("dashboard/hostile.txt");

/// One test: its name, and what it does with a browser.
type Trial = (&'static str, fn(&Driver) -> Result<(), Error>);

const TRIALS: [Trial; 24] = [
    ("every page of an empty project says what to do", empty_pages),
    ("every page of a full project passes axe-core, light, dark, narrow and wide", full_pages),
    ("pages work without scripts", without_scripts),
    ("texts stay texts in every field", hostile_texts),
    ("names of every kind stay texts on every page", hostile_names),
    ("the keyboard reaches everything", keyboard_alone),
    ("the keyboard reaches rows within rows", rows_within_rows),
    ("a lane appears, shows its last tool and is stopped", stopping_a_lane),
    ("a design is shown from its first lane to its end", live_design),
    ("a design is shown in a narrow window, too", live_design_narrow),
    ("times are those of the reader's zone", times_of_the_reader),
    ("a run of 10,000 events opens and plays", long_run),
    ("people answer, decide and stop without scripts", people_without_scripts),
    ("forms change what the command line shows", forms),
    ("a run is replayed by its slider and its diagram is drawn in a frame", replayed_and_drawn),
    ("questions are answered and findings decided on the page of a run", people_answer),
    ("pages for strangers pass axe-core", pages_for_strangers),
    ("what a reader opened on a live run stays open", opened_stays_open),
    ("a report opens from a file, offline", travelling_report),
    ("a page that is no longer live says so", no_longer_live),
    ("receipts of reviews open their evidence", receipts_and_their_evidence),
    ("a run is shown beside the plan of one agent alone", beside_its_single_pass),
    ("texts of a panel stay texts on every page of a run", hostile_panel),
    ("the pictures of the documents show what the pages show", pictures_are_true),
];

/// Runs all trials, or those whose names have one of these words.
pub fn run(words: &[String]) -> Result<(), Error> {
    Scene::build()?;
    fs::create_dir_all(pictures())?;
    let driver = Driver::start()?;
    let is_chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let mut failed = Vec::new();
    for (name, trial) in TRIALS.into_iter().filter(|(name, _)| is_chosen(name)) {
        let mut outcome = Ok(());
        let took = stopwatch(|| {
            outcome = second_try::run(name, || trial(&driver));
            Ok(())
        })?;
        match outcome {
            Ok(()) => say(&format!("{name}: passed in {} ms", took.as_millis())),
            Err(error) => {
                say(&format!("{name}: FAILED: {error}"));
                failed.push(name);
            }
        }
    }
    say(&format!("pictures: {}", pictures().display()));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join("; ")).into()) }
}

fn pictures() -> PathBuf {
    root().join("target/browser/dashboard")
}

fn picture(window: &Window<'_>, name: &str) -> Result<(), Error> {
    window.picture(&pictures().join(name).with_extension("png"))
}

/// Lets a window in.
fn enter(window: &Window<'_>, dashboard: &Dashboard) -> Result<(), Error> {
    window.goto(&dashboard.link)?;
    window.wait_until("the dashboard lets the browser in", |window| {
        Ok(window.address()? == format!("{}/", dashboard.origin))
    })
}

fn empty_pages(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let axe = axe()?;
    let says = [
        ("/", "No lane of this project runs."),
        ("/runs", "This project has no design."),
        ("/dispatch", "No role was dispatched in this project."),
        ("/tasks", "This branch has no tasks."),
        ("/messages", "No message was sent on this branch."),
        ("/usage", "No lane of this project used a model in this period."),
        ("/store", "No backup was made here."),
        (
            "/search?q=zebra",
            "No run, finding, task or message of this project has all of these words.",
        ),
        ("/search", "Type words into the field above"),
        ("/messages/wake?agent=human", "Nothing: the whole wake-up fits."),
        ("/compare", "Choose two runs"),
    ];
    for (path, words) in says {
        window.goto(&format!("{}{path}", dashboard.origin))?;
        window.wait_for(words)?;
        check_access(&window, &axe, &format!("{path}, empty"))?;
        check_harmless(&window, &dashboard.origin, path)?;
    }
    let complaints = window.complaints()?;
    let is_ours = |text: &&String| !text.contains("favicon");
    match complaints.iter().find(is_ours) {
        Some(complaint) => Err(format!("the browser complains: {complaint}").into()),
        None => Ok(()),
    }
}

fn full_pages(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.fill()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let axe = axe()?;
    for scheme in ["light", "dark"] {
        window.prefer(scheme)?;
        for (width, height) in [(360, 800), (1280, 900), (3840, 2160)] {
            window.resize(width, height)?;
            for path in scene.paths(&PAGES) {
                window.goto(&format!("{}{path}", dashboard.origin))?;
                let place = format!("{path} {scheme} {width}");
                check_width(&window, &place)?;
                if width != 3840 {
                    check_access(&window, &axe, &place)?;
                }
                let name = path.trim_start_matches('/').replace(['/', '?', '='], "-");
                let name = if name.is_empty() { "now".to_owned() } else { name };
                picture(&window, &format!("{name}-{scheme}-{width}"))?;
            }
        }
    }
    check_harmless(&window, &dashboard.origin, "the pages")
}

fn without_scripts(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.fill()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look { has_script: false, ..Look::USUAL })?;
    enter(&window, &dashboard)?;
    window.goto(&format!("{}/tasks", dashboard.origin))?;
    window.fill("form[action='/tasks/add'] input[name=title]", "Added without a script")?;
    window.click("form[action='/tasks/add'] button")?;
    window.wait_for("Added t-")?;
    if !scene.convoke(&["task", "list"])?.contains("Added without a script") {
        return Err("the form added no task".into());
    }
    window.click("nav a[href='/messages']")?;
    window.fill("textarea[name=text]", "Said without a script")?;
    window.click("form[action='/messages/say'] button")?;
    window.wait_for("Said without a script")?;
    if !scene.convoke(&["inbox", "--all"])?.contains("Said without") {
        return Err("the form sent no message".into());
    }
    picture(&window, "messages-without-scripts")
}

fn hostile_texts(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let texts: Vec<_> = HOSTILE.lines().collect();
    let ids = scene.fill_with(&texts)?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let _running = scene.lane_that_talks(texts[2])?;
    window.wait_for("thinker")?;
    let open = |path: &str| window.goto(&format!("{}{path}", dashboard.origin));
    for path in PAGES {
        open(path)?;
        check_harmless(&window, &dashboard.origin, path)?;
    }
    open("/tasks")?;
    let shown = window.script("return document.body.textContent", &json!([]))?;
    let shown = shown.as_str().unwrap_or_default().to_owned();
    for text in &texts {
        if !shown.contains(text.trim()) {
            return Err(format!("the page of tasks does not show `{text}` as it is").into());
        }
    }
    open("/messages")?;
    check_harmless(&window, &dashboard.origin, "/messages")?;
    for (text, id) in texts.iter().zip(&ids) {
        open(&format!("/tasks/{id}"))?;
        check_harmless(&window, &dashboard.origin, text)?;
        let encoded = encoded(text);
        for path in [
            format!("/tasks?branch={encoded}"),
            format!("/messages/wake?agent={encoded}"),
            format!("/messages?before={encoded}&note={encoded}"),
            format!("/search?q={encoded}"),
            format!("/{encoded}"),
        ] {
            open(&path)?;
            check_harmless(&window, &dashboard.origin, &path)?;
        }
    }
    picture(&window, "hostile")
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn keyboard_alone(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.fill()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let at = |path: &str| {
        let wanted = format!("{}{path}", dashboard.origin);
        window.wait_until(&format!("the browser is at {path}"), |window| {
            Ok(window.address()?.starts_with(&wanted))
        })
    };
    window.press(&["g", "t"])?;
    at("/tasks")?;
    window.press(&["?"])?;
    window.wait_for("show these keys")?;
    picture(&window, "keys")?;
    window.press(&[ESCAPE])?;
    window.press(&["j"])?;
    let first = focused_row(&window)?;
    window.press(&["j"])?;
    let second = focused_row(&window)?;
    if first.is_empty() || first == second {
        return Err(format!("`j` does not move: {first} {second}").into());
    }
    for (key, topmost) in [("K", &second), ("J", &first)] {
        window.press(&[key])?;
        window.wait_until(&format!("`{key}` moved the task, with the focus on it"), |window| {
            let rows = "return [...document.querySelectorAll('.task')].map((row) => row.id)";
            let rows = window.script(rows, &json!([]))?;
            Ok(rows[0].as_str() == Some(topmost) && focused_row(window)? == second)
        })?;
    }
    window.press(&[ENTER])?;
    at("/tasks/t-")?;
    window.press(&["/"])?;
    window.press(&["m", "o", "d", "e", "l", ENTER])?;
    at("/search?q=model")?;
    window.press(&["g", "r"])?;
    at("/runs")?;
    for path in scene.paths(&PAGES).iter().filter(|path| has_rows(path)) {
        window.goto(&format!("{}{path}", dashboard.origin))?;
        reach_row(&window, path)?;
    }
    // Everything that can be clicked can be reached, and shows that it is.
    window.press(&["g", "n"])?;
    at("/")?;
    window.press(&[TAB])?;
    let skip = window.script("return document.activeElement.textContent", &json!([]))?;
    if skip != json!("Skip to content") {
        return Err(format!("the first stop is {skip}").into());
    }
    let outline = "const seen = getComputedStyle(document.activeElement); return seen.outlineStyle";
    for _ in 0..8 {
        window.press(&[TAB])?;
        if window.script(outline, &json!([]))? == json!("none") {
            return Err("a focused element does not show it".into());
        }
    }
    Ok(())
}

fn reach_row(window: &Window<'_>, path: &str) -> Result<(), Error> {
    window.press(&["j"])?;
    let is_row = "return Boolean(document.activeElement.closest('[data-row]'))";
    if window.script(is_row, &json!([]))? == json!(true) {
        Ok(())
    } else {
        Err(format!("`j` reaches no row of {path}").into())
    }
}

/// Tells whether a page lists something. A run has nothing to list at its beginning.
fn has_rows(path: &str) -> bool {
    let is_one_thing = path.starts_with("/tasks/") || path.starts_with("/messages/");
    !is_one_thing && !path.ends_with("/diagram") && !path.contains("?at=")
}

fn focused_row(window: &Window<'_>) -> Result<String, Error> {
    let script =
        "const row = document.activeElement.closest('[data-row]'); return row ? row.id : ''";
    Ok(window.script(script, &json!([]))?.as_str().unwrap_or_default().to_owned())
}

fn forms(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    window.goto(&format!("{}/tasks", dashboard.origin))?;
    window.fill("form[action='/tasks/add'] input[name=title]", "Write the model")?;
    window.click("form[action='/tasks/add'] button")?;
    window.wait_for("Added t-")?;
    window.fill("form[action='/pins/add'] input[name=text]", "Never push to main")?;
    window.click("form[action='/pins/add'] button")?;
    window.wait_for("Added rule 1.")?;
    window.click(".task .actions button")?;
    window.wait_for("Started t-")?;
    window.click("a.title")?;
    window.fill("input[name=note]", "half done")?;
    window.click("form[action='/tasks/note'] button")?;
    window.wait_for("Noted on t-")?;
    window.goto(&format!("{}/store", dashboard.origin))?;
    window.click("button[name=check]")?;
    window.wait_for("sound")?;
    window.click("form[action='/store/backup'] button")?;
    window.wait_for("Copied the store to")?;
    let tree = scene.convoke(&["task", "tree"])?;
    let rules = scene.convoke(&["pin", "list"])?;
    let is_done = tree.contains("Write the model") && rules.contains("Never push to main");
    if is_done { Ok(()) } else { Err(format!("{tree}\n{rules}").into()) }
}

/// The same moment is shown by the clock of each reader.
fn times_of_the_reader(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.convoke(&["say", "What time is it?"])?;
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let mut seen = Vec::new();
    for zone in ["Asia/Tokyo", "America/New_York"] {
        window.zone(zone)?;
        window.goto(&format!("{}/messages", dashboard.origin))?;
        let told = "const time = document.querySelector('ul.rows time'); \
                    const words = {dateStyle: 'medium', timeStyle: 'short', timeZone: arguments[0]}; \
                    return [time.textContent, new Date(time.dateTime).toLocaleString(undefined, words), \
                            time.title.endsWith('UTC')]";
        let told = window.script(told, &json!([zone]))?;
        if told[0] != told[1] || told[2] != json!(true) {
            return Err(format!("in {zone}, the page shows {told}").into());
        }
        seen.push(told[0].clone());
    }
    if seen[0] == seen[1] { Err("both zones show the same time".into()) } else { Ok(()) }
}
