//! Documents of a design folder: the outcome of a single one.
//!
//! `budget:` is in tokens. A cut is named by the first line behind it.

use std::fs;

use convoke_domain::brief::DocumentOutcome;
use convoke_domain::brief::settings::Layer;
use convoke_domain::text::Text;
use convoke_domain::token::{Budget, Estimate};
use convoke_engine::brief::{BriefLayers, BriefMode, load, resolve};

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let project = tempfile::tempdir().unwrap();
    let folder = project.path().join(".moai/design");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("spec.md"), &case.payload).unwrap();
    let budget = case.keys.get("budget").map(|tokens| tokens.parse().unwrap());
    let call = Layer { budget: budget.and_then(Budget::new), ..Layer::default() };
    let resolved = resolve(project.path(), BriefLayers { call, ..BriefLayers::default() });
    let loaded = load(project.path(), BriefMode::Standalone, resolved);
    let brief = loaded.brief(&Estimate);
    let entries = brief.entries().iter().filter(|entry| entry.fate != DocumentOutcome::Absent);
    entries.map(|entry| shown(&entry.fate)).collect::<Vec<_>>().join("; ")
}

fn shown(fate: &DocumentOutcome<'_>) -> String {
    match fate {
        DocumentOutcome::Absent => "absent".to_owned(),
        DocumentOutcome::Unreadable(reason) => format!("unreadable: {reason}"),
        DocumentOutcome::Scaffold(_) => "scaffold".to_owned(),
        DocumentOutcome::Whole(_) => "whole".to_owned(),
        DocumentOutcome::Cut(text, cut) => {
            format!("cut before: {}", first_line(text.after(cut.at)))
        }
        DocumentOutcome::Dropped(..) => "dropped".to_owned(),
    }
}

fn first_line(text: Text<'_>) -> String {
    let line = text.as_str().lines().next().unwrap_or_default();
    line.trim_end().to_owned()
}
