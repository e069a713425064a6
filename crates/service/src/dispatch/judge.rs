//! Judging an answer: what it confirms, what its client's record proves, and its verdict.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::dispatch::also_wrote::said;
use convoke_domain::dispatch::ambiguity::{Ambiguity, Doubt};
use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::history::unconfirmed;
use convoke_domain::dispatch::rate::{DispatchMode, LedgerEntry};
use convoke_domain::dispatch::required::Reference;
use convoke_domain::dispatch::resume::unusable;
use convoke_domain::dispatch::review::Review;
use convoke_domain::dispatch::role::{Noun, PromptProfile, Proof};
use convoke_engine::design::citations::judge_locations;
use convoke_engine::dispatch::answer::{beside, review};
use convoke_engine::dispatch::evidence::{
    DemandedFile, Evidence, EvidenceError, EvidenceSource, evidence, quoted,
};
use convoke_engine::dispatch::feature::Feature;
use convoke_engine::dispatch::next::write_state;
use convoke_engine::dispatch::{demanded, references, review_history};
use convoke_store::dispatch::{DispatchPost, Round};

use super::post::FoundPost;
use super::reading::{Reading, requires_proof};
use super::report::{AmbiguityReport, AnswerCheckReport, PlaceReport, ReviewIssueReport, issues};
use super::{next_failed, no_files};
use crate::failure::{ErrorClass, Failure, with_causes};
use crate::observer::Reporter;
use crate::workspace::{Workspace, refused};

/// An answer, and how it came about.
pub(super) struct Submission<'a> {
    pub(super) post: &'a FoundPost<'a>,
    pub(super) workspace: &'a Workspace,
    /// Whether it answers the prompt of a task, which demands less.
    pub(super) kind: AnswerKind,
    pub(super) profile: PromptProfile,
    pub(super) iteration: u32,
    /// The client's record of the session.
    pub(super) record: Option<(Client, &'a Path)>,
    /// How to treat a record that proves nothing.
    pub(super) no_proof: NoProof,
    /// The answer; without it, the one in the record counts.
    pub(super) answer: Option<&'a str>,
    /// The agent's answer to the request for the verdict alone.
    pub(super) again: Option<&'a str>,
    /// How many tokens the answer cost.
    pub(super) tokens: Option<u64>,
    /// The files that the role's prompt lists as changed; it may have to read them.
    pub(super) changed: &'a [String],
    /// Whether the caller demands proof of reading; a role may demand it, too.
    pub(super) proof: Proof,
}

/// Which prompt an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// A round of a role.
    Round,
    /// A subagent's work on one task.
    Task,
}

/// How to treat an answer whose record proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoProof {
    /// Convoke does not judge it: the user can name another record.
    Refused,
    /// Convoke judges it and reports the reading as unknown: the answer was paid for, and there is
    /// no other record.
    Told,
}

/// An answer that was judged. Nothing is written down before [`Judged::keep`].
pub(super) struct Judged {
    pub(super) report: AnswerCheckReport,
    /// The review in the answer.
    pub(super) review: Option<Review>,
    /// Why a reviewer's answer has no verdict.
    pub(super) ambiguity: Option<Ambiguity>,
    /// Whether it fails only because reading was not proven.
    pub(super) lacks_proof: bool,
    feature: Feature,
    entry: LedgerEntry,
}

impl Judged {
    /// Tells whether Convoke should ask the agent for the verdict alone. A resumed session whose
    /// answer has no verdict has probably lost its context: Convoke then starts a fresh one.
    pub(super) fn asks_again(&self, mode: DispatchMode) -> bool {
        let is_lost =
            |found: &Ambiguity| mode == DispatchMode::Resume && found.doubt == Doubt::NoObject;
        let is_empty = self.report.resume_error.is_some_and(|error| error != UNPARSED);
        self.ambiguity.as_ref().is_some_and(|found| !is_lost(found) && !is_empty)
    }

    /// Describes in a few words why a resumed session gave no usable answer.
    pub(super) fn resume_failure(&self) -> Option<String> {
        let error = self.report.resume_error?;
        let doubt = self.ambiguity.as_ref().filter(|_| error == UNPARSED);
        Some(doubt.map_or_else(|| error.to_owned(), |found| format!("{error}: {}", found.doubt)))
    }

    /// Records the judgement. A history that cannot be written stops nothing.
    pub(super) fn keep(
        &self,
        workspace: &Workspace,
        agent: Option<&str>,
        reporter: &Reporter,
    ) -> Result<(), Failure> {
        let Workspace { store, scope } = workspace;
        let Self { entry, feature, .. } = self;
        store.record_dispatch(scope, entry).map_err(refused)?;
        if entry.confirmed == Some(false)
            && let Err(error) = review_history::append(feature, &unconfirmed(&entry.role))
        {
            reporter.remark(format!("the review history could not be written: {error}"));
        }
        let Some(agent) = agent else { return Ok(()) };
        let post = DispatchPost { feature: &entry.feature, role: &self.report.role };
        let next = entry.iteration.saturating_add(1);
        if store.name_session(scope, post, next, agent).map_err(refused)? {
            write_state(&**store, scope, feature).map_err(next_failed)?;
        } else {
            reporter.remark(
                "Convoke does not store the session, because `dispatch next` did not start this round",
            );
        }
        Ok(())
    }
}

/// The text of `unusable` for an answer with words and no verdict.
const UNPARSED: &str = "answer could not be parsed";

impl Submission<'_> {
    /// Judges the answer.
    pub(super) fn judge(&self, reporter: &Reporter) -> Result<Judged, Failure> {
        let FoundPost { settings, role, feature, .. } = self.post;
        let references = self.references()?;
        let (evidence, unknown) = self.evidence(&references, reporter)?;
        let recorded = evidence.as_ref().and_then(|found| found.answer.as_deref());
        let answer = self.answer.or(recorded).unwrap_or_default();
        let round = self.round()?;
        let mode = round.as_ref().map_or(DispatchMode::Fresh, |round| round.mode);
        let read_before = match mode {
            DispatchMode::Resume => self.read_before()?,
            DispatchMode::Fresh | DispatchMode::Fallback => Vec::new(),
        };
        // The prompt of a resumed session requires no reading.
        let level = (mode != DispatchMode::Resume).then_some(settings.confirmation);
        let reading = Reading::new(answer, level, &references, evidence.as_ref(), &read_before);
        let Ruling { review, ambiguity, first } = self.ruling(answer);
        let requires_proof = requires_proof(role, self.proof, &references)?;
        let resume_error = (mode == DispatchMode::Resume)
            .then(|| unusable(answer, self.tokens, ambiguity.as_ref()))
            .flatten();
        let unreviewed = role.noun != Noun::Review && resume_error.is_none();
        let would_pass = review.as_ref().map_or(unreviewed, Review::passes) && ambiguity.is_none();
        let lacks_proof = would_pass && requires_proof && !reading.not_proven.is_empty();
        let verdict = verdict_word(review.as_ref(), ambiguity.as_ref())
            .map(|word| if lacks_proof { "UNPROVEN" } else { word });
        let entry = self.entry(&references, &reading, round.as_ref(), verdict);
        let last = self.again.unwrap_or(answer);
        let report = AnswerCheckReport {
            role: role.name.to_string(),
            feature: feature.dir.display().to_string(),
            iteration: self.iteration,
            mode: mode.name(),
            confirmation: reading.confirmation.map(Into::into),
            receipts: reading.receipts,
            unproven: reading.unproven.unwrap_or_default(),
            not_proven: reading.not_proven,
            requires_proof,
            is_review: role.noun == Noun::Review,
            verdict,
            passes: would_pass && !lacks_proof,
            approved: review.as_ref().map(|review| review.approved),
            also_wrote: self.also_wrote(answer, review.as_ref(), first.as_ref()),
            issues: quoted_issues(self.post, &references, review.as_ref()),
            ambiguity: ambiguity.as_ref().map(|found| AmbiguityReport::new(found, last)),
            first_ambiguity: first.as_ref().map(|found| AmbiguityReport::new(found, answer)),
            resume_error,
            role_changed_by: settings.changed_by(&role.name),
            diagnostics: reading.remarks,
            reading_unknown: unknown,
        };
        Ok(Judged { report, review, ambiguity, lacks_proof, feature: feature.clone(), entry })
    }

    /// Returns what the role had to read.
    fn references(&self) -> Result<Vec<Reference>, Failure> {
        let FoundPost { session, role, feature, .. } = self.post;
        let (references, _) = match self.kind {
            AnswerKind::Task => {
                let artifacts = [&FeatureArtifact::PRD, &FeatureArtifact::SPEC];
                references(feature, &session.project, &artifacts)
            }
            AnswerKind::Round => {
                demanded(feature, &session.project, role, self.profile, self.changed)
                    .map_err(no_files)?
            }
        };
        Ok(references)
    }

    /// Reads the verdict: of the first answer, or of the second one. Only a reviewer's answer has
    /// to have one.
    fn ruling(&self, answer: &str) -> Ruling {
        let role = &self.post.role;
        match (review(answer), self.again) {
            (Ok(review), _) => Ruling { review: Some(review), ..Ruling::default() },
            (Err(_), _) if role.noun != Noun::Review => Ruling::default(),
            (Err(first), None) => Ruling { ambiguity: Some(first), ..Ruling::default() },
            (Err(first), Some(again)) => {
                let (review, ambiguity) = match review(again) {
                    Ok(review) => (Some(review), None),
                    Err(second) => (None, Some(second)),
                };
                Ruling { review, ambiguity, first: Some(first) }
            }
        }
    }

    /// Returns a reviewer's text beside its verdict. After a second request it includes the whole
    /// first answer: the verdict alone cannot take back its words.
    fn also_wrote(
        &self,
        answer: &str,
        review: Option<&Review>,
        first: Option<&Ambiguity>,
    ) -> Option<String> {
        review.filter(|_| self.post.role.noun == Noun::Review)?;
        let words = match (self.again, first) {
            (Some(again), Some(_)) => format!("{}\n\n{}", said(answer), beside(again)),
            (Some(_) | None, _) => beside(answer),
        };
        Some(words.trim().to_owned()).filter(|words| !words.is_empty())
    }

    /// Reads the client's record, if one is given; else returns why the reading is unknown.
    fn evidence(
        &self,
        references: &[Reference],
        reporter: &Reporter,
    ) -> Result<(Option<Evidence>, Option<String>), Failure> {
        let demands = DemandedFile::of_references(references);
        let Some((client, path)) = self.record else {
            let why = "the agent leaves no transcript that Convoke can read".to_owned();
            let is_unknown = self.no_proof == NoProof::Told && !demands.is_empty();
            return Ok((None, is_unknown.then_some(why)));
        };
        let session = self.post.session;
        let homes = session.environment.client_homes();
        // A lane that Convoke started wrote both the answer and the record.
        let answer = self.answer.filter(|_| self.no_proof == NoProof::Refused);
        let record =
            EvidenceSource { client, path, project: &session.project, homes: &homes, answer };
        match evidence(&record, &demands) {
            Ok(found) => Ok((Some(found), None)),
            Err(
                error @ (EvidenceError::OtherAnswer
                | EvidenceError::EarlierAnswer
                | EvidenceError::NoAnswer),
            ) => Ok((None, Some(error.to_string()))),
            Err(error) if self.no_proof == NoProof::Told => {
                let why = with_causes(&error);
                reporter.remark(format!("Convoke cannot tell what was read: {why}"));
                Ok((None, Some(why)))
            }
            Err(error) => {
                let hint = match error {
                    EvidenceError::Foreign { .. } => {
                        let clients = Client::WITH_HOOKS.map(Client::name).join(", ");
                        Some(format!("name the client that wrote it with `--client`: {clients}"))
                    }
                    EvidenceError::Absent { .. }
                    | EvidenceError::NoFile { .. }
                    | EvidenceError::Unreadable { .. }
                    | EvidenceError::OtherAnswer
                    | EvidenceError::EarlierAnswer
                    | EvidenceError::NoAnswer
                    | EvidenceError::Empty { .. } => None,
                };
                Err(Failure::new(ErrorClass::Prerequisite, error).maybe_hint(hint))
            }
        }
    }

    /// Returns the round that is answered, if `next` made it.
    fn round(&self) -> Result<Option<Round>, Failure> {
        let (name, Workspace { store, scope }) = (self.post.feature.name(), self.workspace);
        let role = self.post.role.name.to_string();
        let post = DispatchPost { feature: &name, role: &role };
        let found = store.round_before(scope, post, self.iteration.saturating_add(1));
        let found = found.map_err(refused)?;
        Ok(found.filter(|round| round.state.last_iteration == self.iteration))
    }

    /// Returns the files that this session read whole in earlier rounds, each with its round: those
    /// since it last began afresh.
    fn read_before(&self) -> Result<Vec<(String, u32)>, Failure> {
        let Workspace { store, scope } = self.workspace;
        let (name, role) = (self.post.feature.name(), &self.post.role.name);
        let is_ours = |entry: &&LedgerEntry| {
            (&entry.feature, &entry.command, &entry.role) == (&name, &role.command, &role.role)
                && entry.iteration < self.iteration
        };
        let ledger = store.ledger(&scope.project).map_err(refused)?;
        let mut found = Vec::new();
        for entry in ledger.iter().filter(is_ours).rev() {
            found.extend(entry.proven.iter().map(|file| (file.clone(), entry.iteration)));
            if entry.mode != DispatchMode::Resume {
                break;
            }
        }
        Ok(found)
    }

    fn entry(
        &self,
        references: &[Reference],
        reading: &Reading,
        round: Option<&Round>,
        verdict: Option<&str>,
    ) -> LedgerEntry {
        let name = |reference: &Reference| reference.expected_name().map(str::to_owned);
        let (role, confirmation) = (&self.post.role.name, reading.confirmation.as_ref());
        LedgerEntry {
            feature: self.post.feature.name(),
            command: role.command.clone(),
            role: role.role.clone(),
            iteration: self.iteration,
            mode: round.map_or(DispatchMode::Fresh, |round| round.mode),
            prompt_chars: round.map(|round| round.prompt_chars),
            artifacts: references.iter().filter_map(name).collect(),
            confirmed: confirmation.map(|found| found.confirmed),
            missing: confirmation.map(|found| found.missing.clone()).unwrap_or_default(),
            unproven: reading.unproven.clone(),
            proven: reading.proven.clone(),
            receipts: reading.receipts.as_ref().and_then(|all| serde_json::to_string(all).ok()),
            verdict: verdict.map(str::to_owned),
            reason: round.and_then(|round| round.reason.clone()),
            fresh_chars: round.and_then(|round| round.fresh_chars),
            at: self.post.session.now(),
        }
    }
}

/// Returns the word for a verdict; nothing where there is no review and none was expected.
fn verdict_word(review: Option<&Review>, ambiguity: Option<&Ambiguity>) -> Option<&'static str> {
    let of_review = review.map(|review| if review.passes() { "PASS" } else { "FAIL" });
    of_review.or(ambiguity.map(|_| "AMBIGUOUS"))
}

/// The verdict of an answer.
#[derive(Default)]
struct Ruling {
    review: Option<Review>,
    /// Why the answer has no verdict.
    ambiguity: Option<Ambiguity>,
    /// Why there was a second request.
    first: Option<Ambiguity>,
}

/// Reports a review's issues, with their quotations checked against all files shown to the role, and
/// their places.
fn quoted_issues(
    post: &FoundPost<'_>,
    references: &[Reference],
    review: Option<&Review>,
) -> Vec<ReviewIssueReport> {
    let FoundPost { session, role, feature, .. } = post;
    let listed =
        references.iter().filter_map(|reference| reference.path.as_ref()).map(PathBuf::from);
    let target = role.target.iter().map(|target| feature.dir.join(target.file()));
    let documents: Vec<_> = listed.chain(target).collect();
    let Some(review) = review else { return Vec::new() };
    let quotations = quoted(review, &session.project, &documents);
    let around = documents.iter().filter_map(|document| document.parent());
    let mut folders: Vec<_> =
        [feature.dir.as_path()].into_iter().chain(around).map(Path::to_owned).collect();
    folders.sort();
    folders.dedup();
    let locations: Vec<_> =
        review.issues.iter().map(|issue| issue.location.as_deref().unwrap_or_default()).collect();
    let judged = judge_locations(&session.project, &folders, &locations);
    let places = locations.iter().zip(judged).map(|(location, checked)| {
        (!location.trim().is_empty()).then(|| PlaceReport::new(checked.as_deref()))
    });
    issues(review, quotations, places.collect())
}
