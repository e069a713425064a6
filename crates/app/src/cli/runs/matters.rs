//! What a panel left to people, and what people decided: for terminals and for programs.

use convoke_domain::design::event::Settings;
use convoke_domain::design::matter::{Matter, Ruling};
use convoke_domain::design::outline::Outline;
use convoke_domain::design::quote::line;
use convoke_domain::run::RunId;
use serde::Serialize;

/// A finding or contested decision, for programs.
#[derive(Serialize)]
pub(in crate::cli) struct MatterReport<'a> {
    id: String,
    title: &'a str,
    text: &'a str,
    /// What the panel made of it.
    panel: &'static str,
    votes: &'a str,
    /// Whether it is kept out of published files.
    withheld: bool,
    /// What a person decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionReport<'a>>,
}

#[derive(Serialize)]
struct DecisionReport<'a> {
    choice: &'static str,
    because: &'a str,
    /// Whether the run has still to act on it.
    pending: bool,
}

impl<'a> MatterReport<'a> {
    fn new(matter: &'a Matter) -> Self {
        let decision = matter.ruling.as_ref().map(|ruling| DecisionReport {
            choice: ruling.choice.word(),
            because: &ruling.because,
            pending: matter.is_pending,
        });
        Self {
            id: matter.id.to_string(),
            title: &matter.title,
            text: &matter.text,
            panel: matter.panel.word(),
            votes: &matter.votes,
            withheld: matter.is_withheld,
            decision,
        }
    }
}

/// The three lists that a person looks at.
#[derive(Serialize)]
pub(in crate::cli) struct MattersReport<'a> {
    /// What neither the panel nor a person decided.
    undecided: Vec<MatterReport<'a>>,
    /// What is kept out of published files.
    withheld: Vec<MatterReport<'a>>,
    /// What people decided.
    decided: Vec<MatterReport<'a>>,
}

impl<'a> MattersReport<'a> {
    pub(in crate::cli) fn new(progress: &'a Outline) -> Self {
        let listed = |wanted: fn(&Matter) -> bool| {
            progress.matters.iter().filter(|matter| wanted(matter)).map(MatterReport::new).collect()
        };
        Self {
            undecided: listed(Matter::is_open),
            withheld: listed(|matter| matter.is_withheld),
            decided: listed(|matter| matter.ruling.is_some()),
        }
    }
}

/// Returns what neither the panel nor a person decided.
pub(in crate::cli) fn open(progress: &Outline) -> Vec<&Matter> {
    progress.matters.iter().filter(|matter| matter.is_open()).collect()
}

/// Lists what is undecided, what is withheld, and what people decided; empty if there is nothing.
pub(in crate::cli) fn text(progress: &Outline) -> String {
    let section =
        |head: &str, wanted: &dyn Fn(&Matter) -> bool, item: &dyn Fn(&Matter) -> String| {
            let items = progress.matters.iter().filter(|matter| wanted(matter));
            let items: Vec<_> = items.map(|matter| format!("  {}\n", item(matter))).collect();
            if items.is_empty() { String::new() } else { format!("{head}:\n{}", items.concat()) }
        };
    [
        section("undecided", &Matter::is_open, &whole),
        section("withheld, perhaps about security", &|matter| matter.is_withheld, &whole),
        section("decided by a person", &|matter| matter.ruling.is_some(), &decision),
    ]
    .concat()
}

/// Says what a matter is about: its id and votes, and its text below. A title that only repeats the
/// beginning of the text is left out.
fn whole(matter: &Matter) -> String {
    let Matter { id, title, text, panel, votes, .. } = matter;
    let (title, text) = (line(title), line(text));
    let plain = |text: &str| text.replace(['*', '`', '_'], "").to_lowercase();
    let is_repeated = plain(&text).starts_with(plain(&title).trim_end_matches('\u{2026}'));
    let title = if is_repeated { String::new() } else { format!(": {title}") };
    format!("{id} ({panel}; {}){title}\n    {text}", line(votes))
}

/// Says what a person decided, on one line.
fn decision(matter: &Matter) -> String {
    let said = matter.ruling.as_ref().map_or_else(String::new, Ruling::line);
    let pending = if matter.is_pending { " (the plan has still to follow)" } else { "" };
    format!("{} {said}{pending}", matter.id)
}

/// Says what people decided, a line each, without reasons that may be about security.
pub(in crate::cli) fn decisions(progress: &Outline) -> Vec<String> {
    let said = |matter: &Matter| {
        let ruling = matter.ruling.as_ref()?;
        let (id, past) = (matter.id, ruling.choice.past());
        Some(if matter.is_withheld {
            format!("{id} {past} by a person (the reason is withheld)")
        } else {
            decision(matter)
        })
    };
    progress.matters.iter().filter_map(said).collect()
}

/// Whether agents worked in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum RunKind {
    /// They did.
    Real,
    /// Their answers were recorded.
    Rehearsal,
}

impl RunKind {
    pub(in crate::cli) const fn of(settings: &Settings) -> Self {
        if settings.is_rehearsal { Self::Rehearsal } else { Self::Real }
    }
}

/// Says how a matter can be decided.
pub(in crate::cli) fn way_out(run: &RunId, matter: &Matter, kind: RunKind) -> String {
    match kind {
        RunKind::Real => {
            format!("convoke decide {run} {} accept --because \"REASON\" (or `reject`)", matter.id)
        }
        RunKind::Rehearsal => "a rehearsal cannot be decided; change the votes in the folder that \
                               you play with `--rehearse=DIR`"
            .to_owned(),
    }
}
