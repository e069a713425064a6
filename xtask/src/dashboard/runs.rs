//! The pages of runs in a real browser: the slider, the diagram, people at work, and reports that
//! travel.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::checks::{axe, check_access, check_harmless, check_width};
use super::scene::Scene;
use super::webdriver::{Driver, Look, Window};
use super::{enter, picture};
use crate::Error;

/// A diagram that tries to be more than one.
const HOSTILE_DIAGRAM: &str = "flowchart TD\n  A[\"<img src=x onerror=window.pwned=1>\"] --> B\n  \
    click A \"javascript:window.pwned=1\"\n  click B call alert(1)\n  click B href \"http://example.org/x\"\n";

/// What the page of a run shows when its panel could not decide a finding.
const UNDECIDED: &str = "The panel left this to you";

/// The slider moves the line of the time axis, and Mermaid draws in its frame.
pub(super) fn replayed_and_drawn(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.convoke(&["design", "--rehearse"])?;
    let run = scene.runs()?.remove(0);
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    window.goto(&format!("{}/runs/{run}", dashboard.origin))?;
    let place = "const line = document.querySelector('.gantt-cursor line'); return \
                 [document.getElementById('at-number').textContent, line.getAttribute('x1'), \
                  document.querySelectorAll('.gantt-track .future').length]";
    let end = window.script(place, &json!([]))?;
    let slide = "const slider = document.getElementById('at'); slider.value = 3; \
                 slider.dispatchEvent(new Event('input'));";
    window.script(slide, &json!([]))?;
    window.wait_until("the slider shows event 3 and hides later lanes", |window| {
        let now = window.script(place, &json!([]))?;
        Ok(now[0] == json!("3") && now[1] != end[1] && now[2] != json!(0))
    })?;
    picture(&window, "run-replay")?;
    window.click("form.replay button[type=submit]")?;
    window.wait_for("as of event 3 of")?;
    window.goto(&format!("{}/runs/{run}", dashboard.origin))?;
    window.script("document.querySelector('iframe.diagram').scrollIntoView()", &json!([]))?;
    window.wait_until("Mermaid draws in the frame", |window| {
        let drawn = "const frame = document.querySelector('iframe.diagram').contentDocument; \
                     return Boolean(frame && frame.querySelector('#drawing svg'))";
        Ok(window.script(drawn, &json!([]))? == json!(true))
    })?;
    picture(&window, "run-diagram")?;
    window.goto(&format!("{}/runs/{run}/diagram", dashboard.origin))?;
    hostile_diagram(&window)?;
    check_harmless(&window, &dashboard.origin, "the frame of the diagram")
}

/// Has the document of the frame draw a hostile diagram. Convoke refuses such a diagram before it is
/// shown; this asks whether the frame would be harmless all by itself.
fn hostile_diagram(window: &Window<'_>) -> Result<(), Error> {
    let drawn = "return document.querySelectorAll('#drawing svg').length";
    window
        .wait_until("Mermaid draws", |window| Ok(window.script(drawn, &json!([]))? == json!(1)))?;
    let redraw = "document.getElementById('drawing').replaceChildren(); \
                  document.getElementById('source').textContent = arguments[0]; \
                  const again = document.createElement('script'); again.src = '/assets/draw.js'; \
                  document.body.append(again);";
    window.script(redraw, &json!([HOSTILE_DIAGRAM]))?;
    window.wait_until("the frame is done with the hostile diagram", |window| {
        let text = window.text()?;
        let is_drawn = window.script(drawn, &json!([]))? == json!(1);
        Ok(is_drawn || text.contains("cannot draw this diagram"))
    })?;
    let left = "const drawing = document.getElementById('drawing'); \
                for (const node of drawing.querySelectorAll('.node')) \
                  node.dispatchEvent(new MouseEvent('click', {bubbles: true})); \
                return [drawing.querySelectorAll('a, script, img, foreignObject').length, \
                        drawing.innerHTML.includes('javascript:')]";
    match window.script(left, &json!([]))? {
        found if found == json!([0, false]) => Ok(()),
        found => Err(format!("the drawing has links, scripts or pictures: {found}").into()),
    }
}

/// A person answers every question of a design and decides a finding, on a page that is not loaded
/// again.
pub(super) fn people_answer(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let seats = scene.divided_panel()?;
    scene.design_that_waits(&seats)?;
    let run = scene.runs()?.remove(0);
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    let axe = axe()?;
    window.goto(&format!("{}/runs/{run}", dashboard.origin))?;
    window.wait_for("The run waits for your answer")?;
    check_access(&window, &axe, "a run that waits")?;
    picture(&window, "run-question")?;
    let asked = "const field = document.querySelector('#question input[name=question]'); \
                 return field ? field.value : ''";
    let mut answered = Vec::new();
    loop {
        let question = window.script(asked, &json!([]))?;
        if question == json!("") {
            break;
        }
        // The notice of the answer before is still shown: only a page without this mark is the next.
        window.script("window.was_left = true", &json!([]))?;
        window.click("#question button.primary")?;
        window.wait_until("the page after the answer", |window| {
            let is_next = window.script("return window.was_left", &json!([]))? != json!(true);
            Ok(is_next && window.text()?.contains("Convoke resumes the run."))
        })?;
        window.script("window.was_loaded_once = true", &json!([]))?;
        // Between two processes of the design, the page shows a run that neither asks nor has ended.
        window.wait_until("the run asks something else or has ended", |window| {
            let next = window.script(asked, &json!([]))?;
            let asks = next != json!("") && next != question;
            Ok(asks || window.text()?.contains(UNDECIDED))
        })?;
        if window.script("return window.was_loaded_once", &json!([]))? != json!(true) {
            return Err("the page was loaded again".into());
        }
        answered.push(question);
        if answered.len() > 20 {
            return Err(format!("the design asks without an end: {answered:?}").into());
        }
    }
    window.wait_for(UNDECIDED)?;
    check_access(&window, &axe, "a run with undecided findings")?;
    picture(&window, "run-undecided")?;
    window.fill("#because-FINDING_2", "The rule must have one owner")?;
    window.click("button[value=reject]")?;
    window.wait_for("People decided")?;
    picture(&window, "run-decided")?;
    let shown = scene.convoke(&["decide", &run, "--json"])?;
    if answered.is_empty() || !shown.contains("The rule must have one owner") {
        return Err(format!("{answered:?} was answered, and this decided: {shown}").into());
    }
    check_harmless(&window, &dashboard.origin, "the page of a run")
}

/// Pages for those who may not see the dashboard, and for a path that is not there, are pages that
/// anyone can use.
pub(super) fn pages_for_strangers(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let axe = axe()?;
    let check = |window: &Window<'_>, words: &str| {
        window.wait_for(words)?;
        for scheme in ["light", "dark"] {
            window.prefer(scheme)?;
            for (width, height) in [(360, 800), (1280, 900)] {
                window.resize(width, height)?;
                let place = format!("`{words}`, {scheme} {width}");
                check_width(window, &place)?;
                check_access(window, &axe, &place)?;
            }
        }
        Ok::<(), Error>(())
    };
    let dashboard = scene.dashboard(&[])?;
    let guest = driver.window(Look::USUAL)?;
    enter(&guest, &dashboard)?;
    guest.goto(&format!("{}/nothing/here", dashboard.origin))?;
    check(&guest, "There is no such page")?;
    let stranger = driver.window(Look::USUAL)?;
    stranger.goto(&format!("{}/", dashboard.origin))?;
    check(&stranger, "This dashboard does not know your browser")?;
    stranger.goto(&dashboard.link)?;
    check(&stranger, "This link has been used")?;
    drop(dashboard);
    let file = scene.file("password");
    fs::write(&file, "a-password-that-is-long-enough-4711\n")?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
    let dashboard = scene.dashboard(&["--token-file", &file])?;
    stranger.goto(&format!("{}/", dashboard.origin))?;
    check(&stranger, "Log in to Convoke's dashboard")?;
    stranger.fill("#password", "wrong")?;
    stranger.click("button.primary")?;
    check(&stranger, "that is not the password")?;
    picture(&stranger, "login")
}

/// Of votes that look alike, the one that a reader opened stays open when its part is replaced, and
/// the others stay closed; so does a list whose words change with each event.
pub(super) fn opened_stays_open(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let seats = scene.divided_panel()?;
    scene.convoke_ends(&["design", "--auto", "--seats", &seats, "Keep notes in a folder"], &[0])?;
    let run = scene.runs()?.remove(0);
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look::USUAL)?;
    enter(&window, &dashboard)?;
    window.goto(&format!("{}/runs/{run}", dashboard.origin))?;
    window.wait_for(UNDECIDED)?;
    let open = "const alike = new Map(); \
        for (const one of document.querySelectorAll('#findings .matrix details')) { \
          const text = one.querySelector('summary').textContent; \
          alike.set(text, [...(alike.get(text) || []), one]); } \
        const group = [...alike.values()].find((group) => group.length > 2); \
        if (!group) return null; \
        for (const one of [group[1], document.querySelector('details.events')]) one.open = true; \
        window.was_loaded_once = true; window.before = document.querySelector('details.events'); \
        return [group[1].dataset.open, 'events']";
    let opened = window.script(open, &json!([]))?;
    if opened.is_null() {
        return Err("no three votes of the run are alike".into());
    }
    scene.convoke(&["decide", &run, "FINDING_2", "reject", "--because", "It has one owner"])?;
    window.wait_until("the page shows the decision", |window| {
        let is_replaced = "return [window.before.isConnected, window.was_loaded_once]";
        let state = window.script(is_replaced, &json!([]))?;
        if state[1] != json!(true) {
            return Err("the page was loaded again".into());
        }
        Ok(state[0] == json!(false) && window.text()?.contains("It has one owner"))
    })?;
    let left = "return [...document.querySelectorAll('#findings .matrix details, details.events')]\
        .filter((one) => one.open).map((one) => one.dataset.open).sort().reverse()";
    match window.script(left, &json!([]))? {
        left if left == opened => Ok(()),
        left => Err(format!("the reader opened {opened}, and {left} is open").into()),
    }
}

/// A report opens from its file, without a server, and asks for nothing.
pub(super) fn travelling_report(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.convoke(&["design", "--rehearse"])?;
    let file = scene.file("report.html");
    scene.convoke(&["show", "--html", &file])?;
    let window = driver.window(Look::USUAL)?;
    window.requests()?;
    let axe = axe()?;
    for scheme in ["light", "dark"] {
        window.prefer(scheme)?;
        for (width, height) in [(360, 800), (1280, 900), (3840, 2160)] {
            window.resize(width, height)?;
            window.goto(&format!("file://{file}"))?;
            window.wait_for("Contested decisions")?;
            let place = format!("a report, {scheme} {width}");
            check_width(&window, &place)?;
            if width != 3840 {
                check_access(&window, &axe, &place)?;
            }
            picture(&window, &format!("report-{scheme}-{width}"))?;
        }
    }
    check_harmless(&window, "no host", "a report")?;
    match window.complaints()?.first() {
        Some(complaint) => Err(format!("the browser complains: {complaint}").into()),
        None => Ok(()),
    }
}

/// The same without any script: the browser loads each page anew.
pub(super) fn people_without_scripts(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    let seats = scene.divided_panel()?;
    scene.design_that_waits(&seats)?;
    let run = scene.runs()?.remove(0);
    let dashboard = scene.dashboard(&[])?;
    let window = driver.window(Look { has_script: false, ..Look::USUAL })?;
    enter(&window, &dashboard)?;
    let page = format!("{}/runs/{run}", dashboard.origin);
    let show = |window: &Window<'_>| window.goto(&page).and_then(|()| window.text());
    let forms = "return [Boolean(document.querySelector('#question button.primary')), \
                 Boolean(document.querySelector('#because-FINDING_2'))]";
    for _ in 0..20 {
        window.wait_until("the run waits for a person", |window| {
            show(window)?;
            Ok(window.script(forms, &json!([]))? != json!([false, false]))
        })?;
        if window.script(forms, &json!([]))?[1] == json!(true) {
            break;
        }
        window.click("#question button.primary")?;
        window.wait_for("Convoke resumes the run.")?;
    }
    window.wait_for(UNDECIDED)?;
    window.fill("#because-FINDING_2", "The rule must have one owner")?;
    window.click("button[value=reject]")?;
    window.wait_for("Convoke resumes the run.")?;
    window.wait_until("the decision is shown", |window| {
        Ok(show(window)?.contains("People decided"))
    })?;
    picture(&window, "run-decided-without-scripts")?;
    let _lane = scene.lane_that_talks("Read the map")?;
    window.wait_until("the lane is shown", |window| {
        window.goto(&format!("{}/", dashboard.origin))?;
        Ok(window.text()?.contains("Read the map"))
    })?;
    window.click("#lanes a.danger")?;
    window.wait_for("All lanes of the same process stop with it.")?;
    window.click("form button.danger")?;
    window.wait_for(" stopped.")?;
    window.wait_for("No lane of this project runs.")
}
