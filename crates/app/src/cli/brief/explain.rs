//! The table of every document's outcome, for a person.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use convoke_domain::brief::{Brief, BriefEntry, DocumentOutcome, Folder};
use convoke_domain::cut::{Border, Cut};
use convoke_domain::markdown::{bare, lines};
use convoke_domain::scaffold::first_content_line;
use convoke_domain::text::Text;
use convoke_domain::token::{Budget, Tokens};
use convoke_engine::brief::LoadedBrief;

pub(super) fn table(loaded: &LoadedBrief, brief: &Brief<'_>) -> String {
    let mut page = head(loaded, brief);
    match &loaded.folder {
        Folder::GateClosed => {
            page.push_str("\nnot loaded: the project disables automatic loading\n");
        }
        Folder::Missing => page.push_str("\nnot loaded: the folder does not exist\n"),
        Folder::Searched(_) => {
            let budget = loaded.settings.budget;
            let rows = brief.entries().iter().map(|entry| row(entry, budget));
            page.push_str(&render(rows));
        }
    }
    for diagnostic in &loaded.diagnostics {
        writeln!(page, "note: {}: {}", diagnostic.code(), diagnostic.message()).ok();
    }
    page
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

pub(super) type Row = [String; 5];

pub(super) fn render(rows: impl Iterator<Item = Row>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["\nbrief", "\nchars", "\ntokens", "\nshare", "\nresult"]);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1).take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().fold(String::new(), |page, line| {
        page + line.trim_end().strip_prefix(' ').unwrap_or_default() + "\n"
    })
}

fn row(entry: &BriefEntry<'_>, budget: Budget) -> Row {
    let name = entry.name.to_string();
    let numbers = |text: Text<'_>, cost: Tokens, fate: String| {
        [name.clone(), text.chars().to_string(), cost.to_string(), share(cost, budget), fate]
    };
    let blank = String::new;
    match entry.fate {
        DocumentOutcome::Absent => [name, blank(), blank(), blank(), "absent".to_owned()],
        DocumentOutcome::Unreadable(reason) => {
            [name, blank(), blank(), blank(), format!("unreadable: {reason}")]
        }
        DocumentOutcome::Scaffold(text) => {
            let fate = "skipped: scaffold, _TBD_ only".to_owned();
            [name, text.chars().to_string(), blank(), blank(), fate]
        }
        DocumentOutcome::Whole(text) => {
            let line = first_content_line(text.as_str()).unwrap_or_default();
            numbers(text, entry.cost, format!("kept whole; written from line {line} on"))
        }
        DocumentOutcome::Cut(text, cut) => {
            let kept = text.before(cut.at);
            numbers(kept, entry.cost, cut_words(text, cut))
        }
        DocumentOutcome::Dropped(text, why) => numbers(text, entry.cost, format!("dropped: {why}")),
    }
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
