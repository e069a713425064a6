//! Diagrams in a real browser: compares the result of `convoke mermaid check` for every diagram of
//! a table with a real Mermaid's.
//!
//! Mermaid must draw every accepted diagram, unless the table's name for it says that only a parser
//! can tell; a refused one must break on the reported line, unless the table says that Mermaid
//! draws it. Mermaid must draw what `--syntax` accepts and break on what it refuses, unless the
//! table names the exception. The browser gets no address to talk to.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::design::mermaid::{DiagramText, Report};
use convoke_engine::mermaid::{DIAGRAM_PROGRAM, check_syntax};

use crate::process::{command, run as run_program};
use crate::{Error, dashboard, root, say, second_try, tools};

/// The Mermaid of the table, from the npm registry.
const MERMAID: &str = "12.3.0";

/// Diagrams of this beginning are accepted although Mermaid cannot draw them.
const ONLY_A_PARSER_CAN_TELL: &str = "broken-";

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: String,
    /// The expected refusals: reason and line; empty if it is accepted.
    refused: Vec<(String, usize)>,
    fate: Fate,
    /// Whether it parses although Mermaid cannot draw it.
    parses_all_the_same: bool,
}

/// A result with this suffix is an exception.
const PARSES: &str = "/parses";

/// Mermaid's result for a diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Renders,
    /// It breaks on a line, as far as Mermaid says on which.
    Breaks(Option<usize>),
}

/// The word that chooses the table of diagrams.
const DIAGRAMS: &str = "diagrams";

/// Draws the diagrams and opens the dashboard; with words, only what they choose.
pub fn run(words: &[String]) -> Result<(), Error> {
    if words.is_empty() || words.iter().any(|word| word == DIAGRAMS) {
        second_try::run(DIAGRAMS, draw_table)?;
    }
    let others: Vec<_> = words.iter().filter(|word| *word != DIAGRAMS).cloned().collect();
    if words.is_empty() || !others.is_empty() {
        dashboard::run(&others)?;
    }
    Ok(())
}

/// Draws every diagram of the table, and compares.
fn draw_table() -> Result<(), Error> {
    let folder = root().join("crates/app/tests/fixtures/mermaid");
    let table = fs::read_to_string(folder.join("table.txt"))?;
    let convoke = with_parser()?;
    let rows = rows(&table)?;
    let mut diagrams = BTreeMap::new();
    for row in &rows {
        let path = folder.join(&row.name).with_extension("mmd");
        diagrams.insert(row.name.clone(), fs::read_to_string(path)?);
    }
    let fates = draw(&mermaid()?, &diagrams)?;
    let mut drawn_all_the_same = Vec::new();
    for row in &rows {
        let (diagram, fate) = (&diagrams[&row.name], fates.get(&row.name).copied());
        let fate = fate.ok_or_else(|| format!("{}: the browser did not get to it", row.name))?;
        let report = check_syntax(diagram, DiagramText::Guessed, &convoke)?;
        row.compare(diagram, &report, fate).map_err(|error| format!("{}: {error}", row.name))?;
        if !row.refused.is_empty() && fate == Fate::Renders {
            drawn_all_the_same.push(row.name.as_str());
        }
    }
    say(&format!("Mermaid {MERMAID} does with {} diagrams what the table says", rows.len()));
    let exceptions = rows.iter().filter(|row| row.parses_all_the_same);
    let exceptions: Vec<_> = exceptions.map(|row| row.name.as_str()).collect();
    say(&format!("--syntax agrees, but for: {}", exceptions.join(", ")));
    say(&format!("refused, although drawn: {}", drawn_all_the_same.join(", ")));
    Ok(())
}

/// Installs Mermaid below the build folder, once, and returns its script.
fn mermaid() -> Result<PathBuf, Error> {
    let folder = root().join("target/browser/mermaid").join(MERMAID);
    tools::npm(&folder, &[&format!("mermaid@{MERMAID}")])?;
    Ok(folder.join("node_modules/mermaid/dist/mermaid.min.js"))
}

/// Opens a page that draws all diagrams, and reads the results.
fn draw(
    script: &Path,
    diagrams: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Fate>, Error> {
    let dir = tempfile::tempdir()?;
    let page = dir.path().join("page.html");
    let json = serde_json::to_string(diagrams)?.replace("</", "<\\/");
    let text = include_str!("browser/page.html");
    let text = text.replace("SCRIPT", &script.display().to_string()).replace("DIAGRAMS", &json);
    fs::write(&page, text)?;
    let mut browser = command("timeout");
    browser
        .args(["90", "chromium", "--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=60000"])
        .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()));
    let output = browser.output().map_err(|error| format!("cannot start chromium: {error}"))?;
    let shown = String::from_utf8_lossy(&output.stdout);
    let fates = fates(&shown);
    if fates.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("chromium showed no diagram ({}):\n{said}", output.status).into());
    }
    Ok(fates)
}

/// Builds the parser of diagrams beside this program, and returns where a Convoke would be that finds
/// it.
fn with_parser() -> Result<PathBuf, Error> {
    let convoke = std::env::current_exe()?.with_file_name("convoke");
    let folder = convoke.parent().and_then(Path::file_name).and_then(OsStr::to_str);
    let profile = folder.filter(|name| *name != "debug").unwrap_or("dev");
    run_program(
        "cargo",
        &["build", "--profile", profile, "--package", DIAGRAM_PROGRAM, "--locked"],
    )?;
    Ok(convoke)
}

/// Reads the page's output: a line with name and result for every diagram.
fn fates(shown: &str) -> BTreeMap<String, Fate> {
    let written =
        shown.split_once("<pre id=\"fates\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let lines = written.map_or("", |(lines, _)| lines).lines();
    let words = lines.filter_map(|line| line.split_once(' '));
    words.filter_map(|(name, fate)| Some((name.to_owned(), Fate::parse(fate)?))).collect()
}

fn rows(table: &str) -> Result<Vec<Row>, Error> {
    table.lines().filter(|line| !line.starts_with('#')).map(Row::parse).collect()
}

impl Row {
    fn parse(line: &str) -> Result<Self, Error> {
        let cells: Vec<_> = line.split_whitespace().collect();
        let [name, refused, fate] = cells[..] else {
            return Err(format!("a row of the table has three cells: {line}").into());
        };
        let hit = |word: &str| {
            let (reason, line) = word.split_once(':')?;
            Some((reason.to_owned(), line.parse().ok()?))
        };
        let refused = refused.split(',').filter_map(hit).collect();
        let word = fate.strip_suffix(PARSES);
        let parses_all_the_same = word.is_some();
        let fate = Fate::parse(word.unwrap_or(fate)).ok_or_else(|| format!("no fate: {line}"))?;
        Ok(Self { name: name.to_owned(), refused, fate, parses_all_the_same })
    }

    /// Returns the first difference from the table.
    fn compare(&self, diagram: &str, report: &Report, fate: Fate) -> Result<(), String> {
        if fate != self.fate {
            return Err(format!("the table says {:?}, and it is {fate:?}", self.fate));
        }
        let hits = report.hits.iter();
        let hits: Vec<_> = hits.map(|hit| (hit.reason.token().to_owned(), hit.line)).collect();
        if hits != self.refused {
            return Err(format!("the table refuses {:?}, and we {hits:?}", self.refused));
        }
        let parses = report.faults.is_empty();
        let expected = fate == Fate::Renders || self.parses_all_the_same;
        if hits.is_empty() && parses != expected {
            return Err(format!("with --syntax accepted: {parses}, and it is {fate:?}"));
        }
        if self.parses_all_the_same && fate == Fate::Renders {
            return Err("it is drawn, so it is no exception".to_owned());
        }
        let parser_only = self.name.starts_with(ONLY_A_PARSER_CAN_TELL);
        match (&hits[..], fate) {
            ([], Fate::Renders) if parser_only => {
                Err("it is drawn, so it is not broken".to_owned())
            }
            ([], Fate::Breaks(_)) if !parser_only => Err("accepted, and it breaks".to_owned()),
            ([(_, line), ..], Fate::Breaks(Some(broken)))
                if *line != broken + front_matter(diagram) =>
            {
                Err(format!("refused for line {line}, and it breaks on {broken}"))
            }
            _ => Ok(()),
        }
    }
}

impl Fate {
    fn parse(word: &str) -> Option<Self> {
        match word.split_once(':') {
            Some(("breaks", line)) => Some(Self::Breaks(Some(line.parse().ok()?))),
            None if word == "breaks" => Some(Self::Breaks(None)),
            None if word == "renders" => Some(Self::Renders),
            _ => None,
        }
    }
}

/// Counts the lines of front matter, which Mermaid takes away before it counts.
fn front_matter(diagram: &str) -> usize {
    let mut lines = diagram.lines();
    if lines.next() != Some("---") {
        return 0;
    }
    lines.position(|line| line == "---").map_or(0, |end| end + 2)
}

#[cfg(test)]
mod tests {
    use convoke_domain::design::mermaid::{Fault, check};

    use super::*;

    #[test]
    fn every_difference_from_the_table_is_noticed() {
        let bar = "flowchart TD\nA[a|b]\n";
        let titled = format!("---\ntitle: x\n---\n{bar}");
        for (row, diagram, fate, is_right) in [
            ("a ok renders", "flowchart TD\nA\n", "renders", true),
            ("a ok renders", "flowchart TD\nA\n", "breaks:2", false),
            ("a ok breaks:2", "flowchart TD\nA\n", "breaks:2", false),
            ("broken-a ok breaks:2", "flowchart TD\nA[\n", "breaks:2", true),
            ("broken-a ok breaks:2", "flowchart TD\nA\n", "breaks:2", false),
            ("broken-a ok breaks:2/parses", "flowchart TD\nA\n", "breaks:2", true),
            ("broken-a ok breaks:2/parses", "flowchart TD\nA[\n", "breaks:2", false),
            ("a ok renders", "flowchart TD\nA[\n", "renders", false),
            ("a ok renders/parses", "flowchart TD\nA\n", "renders", false),
            ("broken-a ok renders", "flowchart TD\nA\n", "renders", false),
            ("a pipe-in-node-label:2 breaks:2", bar, "breaks:2", true),
            ("a pipe-in-node-label:2 renders", bar, "renders", true),
            ("a pipe-in-node-label:2 breaks:3", bar, "breaks:3", false),
            ("a pipe-in-node-label:3 breaks:2", bar, "breaks:2", false),
            ("a pipe-in-node-label:5 breaks:2", &titled, "breaks:2", true),
            ("a ok renders", bar, "renders", false),
        ] {
            let mut report = check(diagram, DiagramText::Guessed);
            if report.hits.is_empty() && diagram.ends_with("[\n") {
                report.faults.push(Fault::new(1, Some(2), "as the parser says"));
            }
            let found =
                Row::parse(row).unwrap().compare(diagram, &report, Fate::parse(fate).unwrap());
            assert_eq!(found.is_ok(), is_right, "{row} {fate} {found:?}");
        }
    }

    #[test]
    fn what_the_page_wrote_is_read() {
        let shown = "<html><pre id=\"fates\">a renders\nb breaks:4\nc breaks\nd x\n</pre></html>";
        let found: Vec<_> = fates(shown).into_values().collect();
        assert_eq!(found, [Fate::Renders, Fate::Breaks(Some(4)), Fate::Breaks(None)]);
        assert!(fates("").is_empty());
    }
}
