//! A panel's matters for people, and people's decisions: for terminals and for programs.

use convoke_domain::design::event::Settings;
use convoke_domain::design::facts::Facts;
use convoke_domain::design::matter::{Matter, Ruling};
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::quote::line;
use convoke_domain::run::RunId;
use serde::Serialize;

/// A finding or contested decision, for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatterReport {
    /// Its id, such as `FINDING_2`.
    pub id: String,
    /// The matter's title.
    pub title: String,
    /// The matter's text.
    pub text: String,
    /// The panel's verdict.
    pub panel: &'static str,
    /// The panel's votes.
    pub votes: String,
    /// Whether it is kept out of published files.
    pub withheld: bool,
    /// A person's decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionReport>,
    /// Whether the panel or a person accepted it.
    #[serde(skip)]
    pub is_accepted: bool,
}

/// A person's decision, for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionReport {
    /// `accept` or `reject`.
    pub choice: &'static str,
    /// The reason.
    pub because: String,
    /// Whether the run has still to act on it.
    pub pending: bool,
    /// The decision in one line.
    #[serde(skip)]
    pub line: String,
}

impl MatterReport {
    fn new(matter: &Matter) -> Self {
        let decision = matter.ruling.as_ref().map(|ruling| DecisionReport {
            choice: ruling.choice.word(),
            because: ruling.because.clone(),
            pending: matter.is_pending,
            line: decision(matter),
        });
        Self {
            id: matter.id.to_string(),
            title: matter.title.clone(),
            text: matter.text.clone(),
            panel: matter.panel.word(),
            votes: matter.votes.clone(),
            withheld: matter.is_withheld,
            decision,
            is_accepted: matter.is_accepted(),
        }
    }
}

/// The three lists of matters for a person.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MattersReport {
    /// Matters that neither the panel nor a person decided.
    pub undecided: Vec<MatterReport>,
    /// Matters withheld from published files.
    pub withheld: Vec<MatterReport>,
    /// Matters that people decided.
    pub decided: Vec<MatterReport>,
}

impl MattersReport {
    /// Lists what a run leaves to people, and what they decided.
    pub fn new(progress: &DesignOutline) -> Self {
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
pub(crate) fn open(progress: &DesignOutline) -> Vec<&Matter> {
    progress.matters.iter().filter(|matter| matter.is_open()).collect()
}

impl MattersReport {
    /// Lists undecided and withheld matters, and people's decisions; empty without any.
    pub fn text(&self) -> String {
        let section = |head: &str, matters: &[MatterReport], item: fn(&MatterReport) -> String| {
            let items: Vec<_> =
                matters.iter().map(|matter| format!("  {}\n", item(matter))).collect();
            if items.is_empty() { String::new() } else { format!("{head}:\n{}", items.concat()) }
        };
        let decision = |matter: &MatterReport| {
            matter.decision.as_ref().map_or_else(String::new, |decision| decision.line.clone())
        };
        [
            section("undecided", &self.undecided, whole),
            section("withheld, may concern security", &self.withheld, whole),
            section("decided by a person", &self.decided, decision),
        ]
        .concat()
    }
}

/// Renders a matter: its id and votes, and its text below. A title that only repeats the beginning
/// of the text is left out.
fn whole(matter: &MatterReport) -> String {
    let MatterReport { id, title, text, panel, votes, .. } = matter;
    let (title, text) = (line(title), line(text));
    let plain = |text: &str| text.replace(['*', '`', '_'], "").to_lowercase();
    let is_repeated = plain(&text).starts_with(plain(&title).trim_end_matches('\u{2026}'));
    let title = if is_repeated { String::new() } else { format!(": {title}") };
    format!("{id} ({panel}; {}){title}\n    {text}", line(votes))
}

/// Renders a person's decision, on one line.
fn decision(matter: &Matter) -> String {
    let said = matter.ruling.as_ref().map_or_else(String::new, Ruling::line);
    let pending = if matter.is_pending { " (the plan is not revised yet)" } else { "" };
    format!("{} {said}{pending}", matter.id)
}

/// Renders people's decisions, a line each, without reasons that may concern security.
pub(super) fn decisions(progress: &DesignOutline) -> Vec<String> {
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
pub(crate) enum RunKind {
    /// They did.
    Real,
    /// Their answers were recorded.
    Rehearsal,
}

impl RunKind {
    /// Tells it by what the run was begun with.
    pub(crate) const fn of(settings: &Settings) -> Self {
        if settings.is_rehearsal { Self::Rehearsal } else { Self::Real }
    }

    /// Tells it by the run's journal.
    pub(super) fn of_facts(facts: &Facts) -> Self {
        facts.settings().map_or(Self::Real, |(_, settings)| Self::of(settings))
    }
}

/// Returns the command that decides a matter of a run whose agents worked.
pub(crate) fn deciding_command(run: &RunId, matter: &str) -> String {
    format!("convoke decide {run} {matter} accept --because \"REASON\" (or `reject`)")
}

/// Returns the command that decides a matter.
pub(crate) fn way_out(run: &RunId, matter: &Matter, kind: RunKind) -> String {
    match kind {
        RunKind::Real => deciding_command(run, &matter.id.to_string()),
        RunKind::Rehearsal => "a rehearsal cannot be decided; change the votes in the folder that \
                               you play with `--rehearse=DIR`"
            .to_owned(),
    }
}
