//! The table of every document's outcome, for a person.

use convoke_domain::brief::{Brief, BriefEntry, DocumentOutcome, Folder};
use convoke_domain::cut::{Border, Cut};
use convoke_domain::markdown::{bare, lines};
use convoke_domain::scaffold::first_content_line;
use convoke_domain::text::Text;
use convoke_domain::token::{Budget, Tokens};
use convoke_engine::brief::LoadedBrief;

use crate::terminal::grid::{Grid, Overflow};
use crate::terminal::styled::{Ink, StyledLine};

/// Returns the table, none of its lines wider than some columns as far as words allow.
pub(super) fn table(loaded: &LoadedBrief, brief: &Brief<'_>, columns: usize) -> Vec<StyledLine> {
    let mut page = folded(&head(loaded, brief), columns);
    match &loaded.folder {
        Folder::GateClosed => {
            page.extend(folded("\nnot loaded: the project disables automatic loading", columns));
        }
        Folder::Missing => {
            page.extend(folded("\nnot loaded: the folder does not exist", columns));
        }
        Folder::Searched(_) => {
            let budget = loaded.settings.budget;
            page.extend(render(brief.entries().iter().map(|entry| row(entry, budget)), columns));
        }
    }
    for diagnostic in &loaded.diagnostics {
        let note = format!("note: {}: {}", diagnostic.code(), diagnostic.message());
        page.extend(folded(&note, columns));
    }
    page
}

/// Folds lines below what follows their first word.
pub(super) fn folded(text: &str, columns: usize) -> Vec<StyledLine> {
    text.lines().flat_map(|line| StyledLine::plain(line).folded(columns, 8)).collect()
}

fn head(loaded: &LoadedBrief, brief: &Brief<'_>) -> String {
    let settings = &loaded.settings;
    let name = settings.tokenizer.name();
    let counted = if settings.tokenizer.is_exact() {
        format!("exact for {name}")
    } else {
        "an estimate".to_owned()
    };
    format!(
        "folder  {}\nbudget  {} tokens, policy {}\nused    {} tokens ({}), {counted}\n",
        loaded.dir.display(),
        settings.budget.get(),
        settings.policy.name(),
        brief.used(),
        share(brief.used(), settings.budget),
    )
}

/// A document's row: four cells about it, and its outcome.
pub(super) struct Row {
    pub(super) cells: [String; 4],
    pub(super) outcome: String,
    pub(super) ink: Ink,
}

pub(super) fn render(rows: impl Iterator<Item = Row>, columns: usize) -> Vec<StyledLine> {
    let header = ["brief", "chars", "tokens", "share", "result"];
    let mut grid = Grid::new(header, Overflow::Fold).right(&[1, 2, 3]);
    for Row { cells, outcome, ink } in rows {
        let cells = cells.iter().map(|cell| StyledLine::plain(cell));
        grid.push(cells.chain([StyledLine::new(ink, &outcome)]));
    }
    std::iter::once(StyledLine::default()).chain(grid.lines(columns)).collect()
}

fn row(entry: &BriefEntry<'_>, budget: Budget) -> Row {
    let name = entry.name.to_string();
    let blank = String::new;
    let nothing = [name.clone(), blank(), blank(), blank()];
    let numbers = |text: Text<'_>| {
        let cost = entry.cost;
        [name.clone(), text.chars().to_string(), cost.to_string(), share(cost, budget)]
    };
    let (cells, outcome, ink) = match entry.fate {
        DocumentOutcome::Absent => (nothing, "absent".to_owned(), Ink::Quiet),
        DocumentOutcome::Unreadable(reason) => (nothing, format!("unreadable: {reason}"), Ink::Bad),
        DocumentOutcome::Scaffold(text) => {
            let cells = [name.clone(), text.chars().to_string(), blank(), blank()];
            (cells, "skipped: only its template, nothing written yet".to_owned(), Ink::Quiet)
        }
        DocumentOutcome::Whole(text) => {
            let line = first_content_line(text.as_str()).unwrap_or_default();
            (numbers(text), format!("kept whole; written from line {line} on"), Ink::Good)
        }
        DocumentOutcome::Cut(text, cut) => {
            (numbers(text.before(cut.at)), cut_words(text, cut), Ink::Caution)
        }
        DocumentOutcome::Dropped(text, why) => {
            (numbers(text), format!("dropped: {why}"), Ink::Caution)
        }
    };
    Row { cells, outcome, ink }
}

fn cut_words(text: Text<'_>, cut: Cut) -> String {
    let next_line = lines(text.after(cut.at).as_str()).next().map(bare).unwrap_or_default();
    let place = match cut.border {
        Border::Section => format!("before `{}`", shortened(next_line.trim_end())),
        border @ (Border::Line | Border::Character) => border.to_string(),
    };
    format!("cut at {} of {} {place}", cut.at, text.chars())
}

/// Keeps a table cell on one line, and a terminal from obeying what a document says.
pub(super) fn shortened(line: &str) -> String {
    const MOST: usize = 40;
    let line = line.replace(char::is_control, "\u{fffd}");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns a share of the budget in percent, to the tenth, rounded down.
pub(super) fn share(cost: Tokens, budget: Budget) -> String {
    let per_mille = u128::from(cost.tenths()) * 1000 / u128::from(budget.tokens().tenths());
    format!("{}.{} %", per_mille / 10, per_mille % 10)
}
