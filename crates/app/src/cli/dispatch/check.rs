//! `convoke dispatch check`.

use std::path::{Path, PathBuf};

use convoke_domain::dispatch::artifact::Artifact;
use convoke_domain::dispatch::confirmation::{Confirmation, confirmation};
use convoke_domain::dispatch::history::unconfirmed;
use convoke_domain::dispatch::rate::{LedgerEntry, Mode};
use convoke_domain::dispatch::required::Reference;
use convoke_domain::dispatch::resume::unusable;
use convoke_domain::dispatch::review::{Issue, Review};
use convoke_domain::dispatch::role::{Noun, Profile, Role};
use convoke_domain::hook::Client;
use convoke_domain::receipt::quotation::Quotation;
use convoke_engine::dispatch::answer::review;
use convoke_engine::dispatch::evidence::{Demand, Evidence, NoEvidence, evidence, quoted};
use convoke_engine::dispatch::feature::Feature;
use convoke_engine::dispatch::next::write_state;
use convoke_engine::dispatch::{demanded, references, review_history};
use convoke_store::dispatch::{DispatchStore, Post, Round};
use serde::Serialize;

use super::materials::ChangedArgs;
use super::proof::{QuotationReport, ReceiptReport};
use super::{PostArgs, next_failed, no_files, profile, read};
use crate::app::{App, Format};
use crate::cli::hook::client;
use crate::cli::lane::{LaneReport, Ran};
use crate::clock::now;
use crate::config::dispatch::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice, with_causes};
use crate::workspace::{Workspace, refused};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) post: PostArgs,

    /// The answer; `-` is stdin [default: the one in the record, else stdin]
    #[arg(long, value_name = "FILE")]
    pub(super) response: Option<PathBuf>,

    /// The client's own record of the session: its transcript, or the events that it printed
    #[arg(long, value_name = "FILE", requires = "client")]
    pub(super) transcript: Option<PathBuf>,

    /// Which client's it is
    #[arg(long, requires = "transcript", value_parser = client())]
    pub(super) client: Option<Client>,

    /// It answers `dispatch task`, which demands less than a fix round
    #[arg(long, value_name = "NUMBER")]
    pub(super) task: Option<String>,

    /// The profile of the prompt that it answers [default: seed]
    #[arg(long, value_parser = profile())]
    pub(super) profile: Option<Profile>,

    /// The round that it answers
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) iteration: u32,

    /// The session that answered, so that the next round can resume it
    #[arg(long, value_name = "ID")]
    pub(super) agent: Option<String>,

    #[command(flatten)]
    pub(super) changed: ChangedArgs,

    /// How many tokens the answer cost; none at all means that nothing was resumed
    #[arg(long, value_name = "N")]
    pub(super) tokens: Option<u64>,

    /// Only judge: no line in the review history, no entry in the ledger
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Serialize)]
struct Report {
    role: String,
    feature: String,
    iteration: u32,
    mode: &'static str,
    confirmation: Option<ConfirmationReport>,
    receipts: Option<Vec<ReceiptReport>>,
    /// Files that are known not to have been read before the answer.
    unproven: Vec<String>,
    /// Whether a review is expected at all.
    is_review: bool,
    verdict: Option<&'static str>,
    approved: Option<bool>,
    issues: Vec<IssueReport>,
    resume_error: Option<&'static str>,
    diagnostics: Vec<String>,
    /// Why nobody can tell what was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    reading_unknown: Option<String>,
}

/// What becomes of an answer whose record proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoProof {
    /// It is not judged: whoever named the record can name another.
    Refused,
    /// It is judged, and what was read is unknown: it was paid for, and there is no other record.
    Told,
}

/// An answer that was judged.
pub(super) struct Judged {
    report: Report,
    /// Whether it passes.
    pub(super) passes: bool,
    /// The review in it.
    pub(super) review: Option<Review>,
}

impl Judged {
    pub(super) fn show(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match app.format {
            Format::Json => output.json(&self.report)?,
            Format::Text => output.data(&lines(&self.report))?,
        }
        Ok(self.exit())
    }

    pub(super) const fn exit(&self) -> Exit {
        if self.passes { Exit::Done } else { Exit::No }
    }
}

/// A judgement with the lane that it is about, as one document.
#[derive(Serialize)]
pub(super) struct Tried<'a> {
    pub(super) lane: LaneReport,
    /// None where there is no answer.
    #[serde(flatten)]
    judged: Option<&'a Report>,
}

impl<'a> Tried<'a> {
    pub(super) fn new(ran: &Ran, judged: Option<&'a Judged>) -> Self {
        Self { lane: LaneReport::new(ran), judged: judged.map(|it| &it.report) }
    }
}

#[derive(Serialize)]
struct ConfirmationReport {
    confirmed: bool,
    named: Vec<String>,
    missing: Vec<String>,
    unexpected: Vec<String>,
    line_counts: Vec<(String, u64)>,
}

#[derive(Serialize)]
struct IssueReport {
    severity: String,
    category: Option<String>,
    description: String,
    location: Option<String>,
    suggestion: Option<String>,
    quotations: Vec<QuotationReport>,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        self.judge(app, &Voice::default(), NoProof::Refused)?.show(app, output)
    }

    /// Judges the answer, and keeps what is found.
    pub(super) fn judge(
        &self,
        app: &App,
        voice: &Voice,
        no_proof: NoProof,
    ) -> Result<Judged, Failure> {
        let settings = settings(app)?;
        let (role, feature) = self.post.find(app, &settings)?;
        let (references, _) = if self.task.is_some() {
            references(&feature, &app.project, &[&Artifact::PRD, &Artifact::SPEC])
        } else {
            let profile = self.profile.unwrap_or(settings.profile);
            let changed = self.changed.files(app)?;
            demanded(&feature, &app.project, &role, profile, &changed).map_err(no_files)?
        };
        let (evidence, reading_unknown) = match self.evidence(app, &references) {
            Err(failure) if no_proof == NoProof::Told => {
                let why = with_causes(failure.error.as_ref());
                voice.say(&format!("note: what was read cannot be told: {why}"));
                (None, Some(why))
            }
            found => (found?, None),
        };
        let response = self.response(evidence.as_ref())?;
        let workspace = Workspace::open(app, None)?;
        let round = self.round(&workspace, &feature)?;
        let mode = round.as_ref().map_or(Mode::Fresh, |round| round.mode);
        // A resumed session was not told to read anything, nor is one whose only document is a PRD
        // that does not exist.
        let expected: Vec<_> = references.iter().filter_map(Reference::expected_name).collect();
        let demands = mode != Mode::Resume && !expected.is_empty();
        let confirmation =
            demands.then(|| confirmation(&response, &expected, settings.confirmation));
        let unproven = evidence.as_ref().filter(|_| demands).map(Evidence::unproven);
        let review = review(&response);
        // Only a reviewer's answer has to be a review.
        let is_reviewer = role.noun == Noun::Review;
        let is_parsed = review.is_some() || !is_reviewer;
        let resume_error =
            (mode == Mode::Resume).then(|| unusable(&response, self.tokens, is_parsed)).flatten();
        if !self.dry_run {
            let entry = LedgerEntry {
                unproven: unproven.clone(),
                ..self.entry(&feature, &references, confirmation.as_ref(), round.as_ref())
            };
            self.record(&workspace, &feature, &entry, voice)?;
        }
        let documents = documents(&role, &feature, &references);
        let quoted = review.as_ref().map(|it| quoted(it, &app.project, &documents));
        let report = Report {
            role: role.name.to_string(),
            feature: feature.dir.display().to_string(),
            iteration: self.iteration,
            mode: mode.name(),
            confirmation: confirmation.map(ConfirmationReport::from),
            unproven: unproven.unwrap_or_default(),
            is_review: is_reviewer,
            verdict: review.as_ref().map(|it| if it.passes() { "PASS" } else { "FAIL" }),
            approved: review.as_ref().map(|it| it.approved),
            issues: issues(review.as_ref(), quoted.unwrap_or_default()),
            resume_error,
            diagnostics: evidence.as_ref().map(|it| it.diagnostics.clone()).unwrap_or_default(),
            receipts: evidence.map(|it| it.receipts.iter().map(ReceiptReport::new).collect()),
            reading_unknown,
        };
        let unreviewed = !is_reviewer && resume_error.is_none();
        let passes = review.as_ref().map_or(unreviewed, Review::passes);
        Ok(Judged { report, passes, review })
    }

    /// Reads the client's record, if one is named.
    fn evidence(&self, app: &App, references: &[Reference]) -> Result<Option<Evidence>, Failure> {
        let Some((path, client)) = self.transcript.as_deref().zip(self.client) else {
            return Ok(None);
        };
        let demands = Demand::of_references(references);
        let found = evidence(client, path, &app.project, &demands);
        found.map(Some).map_err(|error| {
            let hint = match error {
                NoEvidence::Foreign { .. } => Some("name its client with `--client`".to_owned()),
                NoEvidence::NoFile { .. }
                | NoEvidence::Unreadable { .. }
                | NoEvidence::Empty { .. } => None,
            };
            Failure::new(Exit::Surroundings, error).maybe_hint(hint)
        })
    }

    /// Returns the answer: the one named, else the record's, else what is on stdin.
    fn response(&self, evidence: Option<&Evidence>) -> Result<String, Failure> {
        let recorded = evidence.and_then(|evidence| evidence.answer.clone());
        match (&self.response, recorded) {
            (Some(path), _) => read(path),
            (None, Some(answer)) => Ok(answer),
            (None, None) if evidence.is_some() => Ok(String::new()),
            (None, None) => read(Path::new("-")),
        }
    }

    /// Returns the round that is answered, if `next` made it.
    fn round(&self, workspace: &Workspace, feature: &Feature) -> Result<Option<Round>, Failure> {
        let (name, Workspace { store, scope }) = (feature.name(), workspace);
        let role = self.post.role.to_string();
        let post = Post { feature: &name, role: &role };
        let found = store.round_before(scope, post, self.iteration.saturating_add(1));
        let found = found.map_err(refused)?;
        Ok(found.filter(|round| round.state.last_iteration == self.iteration))
    }

    fn entry(
        &self,
        feature: &Feature,
        references: &[Reference],
        confirmation: Option<&Confirmation>,
        round: Option<&Round>,
    ) -> LedgerEntry {
        let name = |it: &Reference| it.expected_name().map(str::to_owned);
        LedgerEntry {
            feature: feature.name(),
            command: self.post.role.command.clone(),
            role: self.post.role.role.clone(),
            iteration: self.iteration,
            mode: round.map_or(Mode::Fresh, |round| round.mode),
            prompt_chars: round.map(|round| round.prompt_chars),
            artifacts: references.iter().filter_map(name).collect(),
            confirmed: confirmation.map(|it| it.confirmed),
            missing: confirmation.map(|it| it.missing.clone()).unwrap_or_default(),
            unproven: None,
            at: now(),
        }
    }

    /// Keeps what was found. A history that cannot be written stops nothing.
    fn record(
        &self,
        workspace: &Workspace,
        feature: &Feature,
        entry: &LedgerEntry,
        voice: &Voice,
    ) -> Result<(), Failure> {
        let Workspace { store, scope } = workspace;
        store.record_dispatch(scope, entry).map_err(refused)?;
        if entry.confirmed == Some(false)
            && let Err(error) = review_history::append(feature, &unconfirmed(&entry.role))
        {
            voice.say(&format!("note: the review history could not be written: {error}"));
        }
        if let Some(agent) = &self.agent {
            let role = self.post.role.to_string();
            let post = Post { feature: &entry.feature, role: &role };
            let next = self.iteration.saturating_add(1);
            if store.name_session(scope, post, next, agent).map_err(refused)? {
                write_state(store, scope, feature).map_err(next_failed)?;
            } else {
                voice.say("note: the session is not kept, because `dispatch next` did not make this round");
            }
        }
        Ok(())
    }
}

impl From<Confirmation> for ConfirmationReport {
    fn from(found: Confirmation) -> Self {
        let Confirmation { confirmed, named, missing, unexpected, line_counts } = found;
        Self { confirmed, named, missing, unexpected, line_counts }
    }
}

/// Everything that a role was shown of the feature.
fn documents(role: &Role, feature: &Feature, references: &[Reference]) -> Vec<PathBuf> {
    let listed = references.iter().filter_map(|it| it.path.as_ref()).map(PathBuf::from);
    let target = role.target.iter().map(|target| feature.dir.join(target.file()));
    listed.chain(target).collect()
}

fn issues(review: Option<&Review>, quoted: Vec<Vec<Quotation>>) -> Vec<IssueReport> {
    let report = |(issue, quoted): (&Issue, Vec<Quotation>)| IssueReport {
        severity: issue.severity.word().to_owned(),
        category: issue.category.clone(),
        description: issue.description.clone(),
        location: issue.location.clone(),
        suggestion: issue.suggestion.clone(),
        quotations: quoted.into_iter().map(QuotationReport::new).collect(),
    };
    let issues = review.iter().flat_map(|review| &review.issues);
    issues.zip(quoted).map(report).collect()
}

fn lines(report: &Report) -> String {
    let mut lines = Vec::new();
    if let Some(found) = &report.confirmation {
        let missing = match found.missing.as_slice() {
            [] => String::new(),
            missing => format!("; not named: {}", missing.join(", ")),
        };
        let word = if found.confirmed { "confirmed" } else { "not confirmed" };
        lines.push(format!("confirmation  {word}{missing}"));
    }
    for receipt in report.receipts.iter().flatten() {
        lines.push(format!("read          {}", receipt.line()));
    }
    lines.extend(report.reading_unknown.iter().map(|why| format!("read          unknown: {why}")));
    if !report.unproven.is_empty() && report.confirmation.as_ref().is_some_and(|it| it.confirmed) {
        lines
            .push(format!("unproven      confirmed, and not read: {}", report.unproven.join(", ")));
    }
    match report.verdict {
        Some(verdict) => lines.push(format!("verdict       {verdict}")),
        None if report.is_review => {
            lines.push("verdict       none: there is no review in the answer".to_owned());
        }
        None => {}
    }
    for issue in &report.issues {
        let place = issue.location.as_ref().map_or(String::new(), |it| format!("  ({it})"));
        lines.push(format!("  [{}] {}{place}", issue.severity, issue.description));
        lines.extend(issue.quotations.iter().map(|it| format!("      {}", it.line())));
    }
    if let Some(error) = report.resume_error {
        lines.push(format!(
            "resume        failed: {error}; run `dispatch next --resume-failed \"{error}\"`"
        ));
    }
    lines.extend(report.diagnostics.iter().map(|remark| format!("note          {remark}")));
    lines.join("\n") + "\n"
}
