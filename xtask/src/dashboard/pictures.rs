//! The pictures of the documents: the dashboard with lanes that run, and the votes of a rehearsed
//! design. Each picture holds the words that it shows, and a trial compares them with the page, so
//! that an old picture fails the trial.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::enter;
use super::scene::{Dashboard, Running, Scene};
use super::webdriver::{Driver, Look, Window};
use crate::process::run as run_program;
use crate::{Error, root, say};

/// The largest picture, in bytes: a reader of the documents loads it.
const MOST_BYTES: usize = 150_000;

/// The window of a picture: as narrow as the table of votes allows without being cut.
const LOOK: Look = Look { width: 1200, height: 900, ..Look::USUAL };

/// The keyword of the words in a picture.
const KEYWORD: &[u8] = b"Description\0";

/// One picture: the name of its file, and what brings its page up.
type Picture = (&'static str, fn(&Driver) -> Result<Shown, Error>);

const PICTURES: [Picture; 2] = [("now", running_lanes), ("findings", findings_and_votes)];

/// A part of a page as a picture, and its words.
struct Shown {
    png: Vec<u8>,
    words: String,
}

/// Takes the pictures of the documents.
pub fn write() -> Result<(), Error> {
    Scene::build()?;
    let driver = Driver::start()?;
    for (name, show) in PICTURES {
        let shown = show(&driver)?;
        let path = path(name);
        fs::write(&path, &shown.png)?;
        // 256 colours are more than a page has.
        let file = path.display().to_string();
        run_program("pngquant", &["--force", "--strip", "--speed", "1", "--output", &file, &file])?;
        let png = with_words(&fs::read(&path)?, &shown.words).ok_or("the browser took no PNG")?;
        if png.len() > MOST_BYTES {
            return Err(format!("{name} has {} bytes, and may have {MOST_BYTES}", png.len()).into());
        }
        fs::write(&path, &png)?;
        say(&format!("{} ({} KB)", path.display(), png.len() / 1000));
    }
    Ok(())
}

/// The pictures of the documents show what the pages show.
pub(super) fn pictures_are_true(driver: &Driver) -> Result<(), Error> {
    for (name, show) in PICTURES {
        let png = fs::read(path(name))?;
        let drawn = words_of(&png).ok_or_else(|| format!("{name} holds no words"))?;
        let shown = show(driver)?.words;
        if drawn != shown {
            return Err(format!(
                "the picture `{name}` shows\n{drawn}\nand the page\n{shown}\n\
                 take it again: `cargo xtask pictures`"
            )
            .into());
        }
    }
    Ok(())
}

fn path(name: &str) -> PathBuf {
    root().join("docs/pictures").join(name).with_extension("png")
}

/// Shows Now while the seats of a panel sketch.
fn running_lanes(driver: &Driver) -> Result<Shown, Error> {
    let scene = Scene::new()?;
    let _design: Running = scene.design_that_sketches()?;
    let dashboard = scene.dashboard(&[])?;
    let window = opened(driver, &dashboard, "/")?;
    let is_ready = "const cards = [...document.querySelectorAll('#lanes .card')]; \
                    return cards.length === 4 && cards.every((card) => \
                      card.innerText.includes('used)') && card.innerText.includes('clean'))";
    window.wait_until("four lanes have used a tool", |window| {
        Ok(window.script(is_ready, &json!([]))? == json!(true))
    })?;
    shown(&window, &["h1", "#spending", "#lanes"])
}

/// Shows the votes of a rehearsed design, with one reason opened.
fn findings_and_votes(driver: &Driver) -> Result<Shown, Error> {
    let scene = Scene::new()?;
    scene.convoke(&["design", "--rehearse"])?;
    let run = scene.runs()?.remove(0);
    let dashboard = scene.dashboard(&[])?;
    let window = opened(driver, &dashboard, &format!("/runs/{run}"))?;
    window.click("table.matrix details summary")?;
    shown(&window, &["#findings-title", "table.matrix"])
}

fn opened<'d>(driver: &'d Driver, dashboard: &Dashboard, path: &str) -> Result<Window<'d>, Error> {
    let window = driver.window(LOOK)?;
    enter(&window, dashboard)?;
    window.resize(LOOK.width, LOOK.height)?;
    window.goto(&format!("{}{path}", dashboard.origin))?;
    Ok(window)
}

/// Takes a picture of what reaches from the first of some elements to the last one.
fn shown(window: &Window<'_>, selectors: &[&str]) -> Result<Shown, Error> {
    let text =
        "return arguments[0].map((one) => document.querySelector(one).innerText).join('\\n')";
    let words = window.script(text, &json!([selectors]))?;
    let png = window.picture_of(selectors)?;
    Ok(Shown { png, words: lasting(words.as_str().unwrap_or_default()) })
}

/// Returns the words that are the same in every run, sorted, because lanes start in any order: without
/// numbers, and without units of time.
fn lasting(text: &str) -> String {
    let is_unit = |word: &str| matches!(word, "ms" | "s" | "min" | "h");
    let is_lasting = |word: &&str| !is_unit(word) && !word.contains(|c: char| c.is_ascii_digit());
    let mut words: Vec<_> = text.split_whitespace().filter(is_lasting).collect();
    words.sort_unstable();
    words.join(" ")
}

/// Returns a PNG with words in a chunk of its own, before the chunk that ends the picture.
fn with_words(png: &[u8], words: &str) -> Option<Vec<u8>> {
    let end = png.len().checked_sub(12).filter(|end| &png[end + 4..end + 8] == b"IEND")?;
    // Not compressed, in no language, without a translated keyword.
    let body = [b"iTXt", KEYWORD, &[0, 0, 0, 0], words.as_bytes()].concat();
    let length = u32::try_from(body.len() - 4).ok()?;
    let chunk = [&length.to_be_bytes()[..], &body, &crc(&body).to_be_bytes()].concat();
    Some([&png[..end], &chunk, &png[end..]].concat())
}

/// Returns the words of a PNG.
fn words_of(png: &[u8]) -> Option<String> {
    let mut rest = png.get(8..)?;
    loop {
        let length = u32::from_be_bytes(rest.get(..4)?.try_into().ok()?);
        let length = usize::try_from(length).ok()?;
        let (kind, data) = (rest.get(4..8)?, rest.get(8..8 + length)?);
        if kind == b"iTXt" && data.starts_with(KEYWORD) {
            let words = data.get(KEYWORD.len() + 4..)?.to_vec();
            return String::from_utf8(words).ok();
        }
        rest = rest.get(12 + length..)?;
    }
}

/// Returns the checksum that ends a chunk of a PNG.
fn crc(bytes: &[u8]) -> u32 {
    let turned = |crc: u32| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes
        .iter()
        .fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| turned(crc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_holds_its_words() {
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
        let end = [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82];
        let png = [&b"\x89PNG\r\n\x1a\n"[..], &end].concat();
        let told = with_words(&png, "Läufe und Stimmen").unwrap();
        assert_eq!(words_of(&told).as_deref(), Some("Läufe und Stimmen"));
        assert_eq!(words_of(&png), None);
        assert!(told.ends_with(&end));
        assert_eq!(with_words(b"no picture at all", "x"), None);
    }

    // Without a browser: a picture that someone replaced by hand has no words.
    #[test]
    fn the_pictures_of_the_documents_are_small_and_hold_their_words() {
        for (name, _) in PICTURES {
            let png = fs::read(path(name)).unwrap();
            assert!(png.len() <= MOST_BYTES, "{name}: {}", png.len());
            assert!(words_of(&png).is_some_and(|words| words.len() > 100), "{name}");
        }
    }

    #[test]
    fn what_differs_between_runs_is_no_word_of_a_picture() {
        assert_eq!(lasting("lane 3 Elapsed 1 min 02 s t-1bef1 ✓ clean"), "Elapsed clean lane ✓");
    }
}
