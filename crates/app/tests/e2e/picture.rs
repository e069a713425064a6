//! The README's picture shows what the program shows.

use std::fs;
use std::path::Path;

use crate::design_terminal::{Terminal, printed};
use crate::harness::Project;

/// Returns a line without blanks, and without what is different in every run.
fn comparable(line: &str) -> String {
    let is_drawn = |word: &str| {
        let parts: Vec<_> = word.split('-').map(str::len).collect();
        parts == [8, 6, 5] && word.starts_with("20")
    };
    let is_time =
        |word: &str| word.strip_suffix('s').is_some_and(|seconds| seconds.parse::<u32>().is_ok());
    line.split_whitespace().filter(|word| !is_drawn(word) && !is_time(word)).collect()
}

/// Returns the rows of a film's last screen.
fn last_screen(svg: &str) -> Vec<String> {
    let last = svg.rsplit("<g transform=").next().unwrap();
    let without_tags = |row: &str| {
        let runs = row.split('<').filter_map(|tag| tag.split_once('>'));
        // A run of another look may begin behind blanks that are not drawn.
        runs.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    };
    let rows = last.lines().filter(|row| row.starts_with("<text")).map(without_tags);
    rows.map(|row| row.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).collect()
}

#[test]
fn the_picture_of_the_readme_ends_as_a_rehearsal_does() {
    let (code, shown) = Terminal::open(&Project::new(), 80, &["design", "--rehearse"]).end();
    assert_eq!(code, Some(0), "{shown}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/design.svg");
    let drawn = last_screen(&fs::read_to_string(path).unwrap());
    let end = |lines: &[String]| -> Vec<String> {
        let lines = lines.iter().skip_while(|line| !line.contains("The plan is ready"));
        lines.map(|line| comparable(line)).filter(|line| !line.is_empty()).collect()
    };
    assert_eq!(end(&drawn), end(&printed(&shown)), "run `cargo xtask demo`");
}
