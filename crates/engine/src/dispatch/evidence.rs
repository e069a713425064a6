//! Evidence that a dispatched agent read its required files, and that its quotations are where it
//! says.

mod contents;

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::dispatch::confirmation::ExpectedFile;
use convoke_domain::dispatch::required::Reference;
use convoke_domain::dispatch::review::Review;
use convoke_domain::receipt::path::base_name;
use convoke_domain::receipt::quotation::{QuotableFile, Quotation, quotations};
use convoke_domain::receipt::sought::Sought;
use convoke_domain::receipt::{Demanded, Read, ReadState, Receipt, Seen, Weight, receipts};

use self::contents::Now;
use super::feature::MAX_BYTES;
use crate::client::{PrintedEvents, adapter};
use crate::file;
use crate::skill::hash;
use crate::transcript::own::{ClientHomes, own_record};
use crate::transcript::reads::{
    Damage, DamageKind, RecordEnding, SessionRecord, WantedReads, reads,
};

/// A record that proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// It is not there.
    #[error("cannot read the transcript `{}`: there is no such file", path.display())]
    Absent {
        /// The record's path.
        path: PathBuf,
    },
    /// A folder or device has its name.
    #[error("cannot read the transcript `{}`: not a file", path.display())]
    NoFile {
        /// The record's path.
        path: PathBuf,
    },
    /// It cannot be read to its end.
    #[error("cannot read the transcript `{}`", path.display())]
    Unreadable {
        /// The record's path.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The record is empty.
    #[error("cannot use the transcript `{}`: it is empty", path.display())]
    Empty {
        /// The record's path.
        path: PathBuf,
    },
    /// No line of it is one that the client writes.
    #[error("cannot use `{}`: not a transcript or event log of {client}", path.display())]
    Foreign {
        /// The record's path.
        path: PathBuf,
        /// The client whose record it should be.
        client: &'static str,
    },
    /// It is the record of another answer.
    #[error("the last answer in the transcript differs from --response")]
    OtherAnswer,
    /// The agent gave another answer later, which may take this one back.
    #[error("the transcript has a later answer than --response")]
    EarlierAnswer,
    /// The record does not show which reads came before the answer.
    #[error("the transcript has no answer to compare with --response")]
    NoAnswer,
}

/// The evidence of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// One receipt for each required file, with the hash of the shown text if all of it was shown.
    pub receipts: Vec<(Receipt, Option<String>)>,
    /// The agent's answer, if the record has it.
    pub answer: Option<String>,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

impl Evidence {
    /// Returns the files that the record proves unread before the answer. Doubtful ones are not
    /// among them.
    pub fn unproven(&self) -> Vec<String> {
        self.names_of(|weight| weight == Weight::Refuted)
    }

    /// Returns the files that were read whole before the answer.
    pub fn proven(&self) -> Vec<String> {
        self.names_of(|weight| weight == Weight::Proven)
    }

    /// Returns the files that are not proven to have been read whole before the answer, whether that
    /// is known or in doubt.
    pub fn without_proof(&self) -> Vec<String> {
        self.names_of(|weight| weight != Weight::Proven)
    }

    fn names_of(&self, is_meant: fn(Weight) -> bool) -> Vec<String> {
        let receipts = self.receipts.iter().map(|(receipt, _)| receipt);
        let meant = receipts.filter(|receipt| is_meant(receipt.standing.weight()));
        meant.map(|receipt| receipt.name.clone()).collect()
    }
}

/// Returns the files whose number of lines differs from the answer's claim. One line more or less
/// is a matter of how the end of a file is counted.
pub fn miscounted(claims: &[(String, u64)], references: &[Reference]) -> Vec<String> {
    let remark = |(name, claimed): &(String, u64)| {
        let reference =
            references.iter().find(|reference| reference.expected_name() == Some(name))?;
        let text = file::text(Path::new(reference.path.as_ref()?), MAX_BYTES)?;
        let lines = text.lines().count() as u64;
        (lines.abs_diff(*claimed) > 1)
            .then(|| format!("{name} has {lines} lines, but the answer claims {claimed}"))
    };
    claims.iter().filter_map(remark).collect()
}

/// A file that the agent had to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemandedFile {
    /// The file's name in the demand.
    pub name: String,
    /// The file's absolute path.
    pub path: String,
}

impl DemandedFile {
    /// Returns what a role's references demand.
    pub fn of_references(references: &[Reference]) -> Vec<Self> {
        let demand = |reference: &Reference| {
            let ExpectedFile { name, path } = reference.expected()?;
            Some(Self { name: name.to_owned(), path: path.to_owned() })
        };
        references.iter().filter_map(demand).collect()
    }
}

/// A client's record, as evidence.
#[derive(Debug, Clone, Copy)]
pub struct EvidenceSource<'a> {
    /// The client that wrote it.
    pub client: Client,
    /// The client's transcript, or the events that it printed.
    pub path: &'a Path,
    /// The folder in which the client was started.
    pub project: &'a Path,
    /// The folders of clients' own records: printed events are judged by those, if found.
    pub homes: &'a ClientHomes,
    /// The answer under judgement, if it did not come from the record: reads before another answer
    /// prove nothing about this one.
    pub answer: Option<&'a str>,
}

/// Reads a client's record for what it proves about the files that had to be read.
pub fn evidence(
    record: &EvidenceSource<'_>,
    demands: &[DemandedFile],
) -> Result<Evidence, EvidenceError> {
    let demanded = Files::of(demands);
    let names: Vec<_> = demands.iter().map(|demand| base_name(&demand.path)).collect();
    let wanted = WantedReads {
        folder: Some(record.project),
        names: &names,
        texts: &demanded.sought,
        answer: record.answer,
    };
    let session = usable(record.client, record.path, &wanted)?;
    if let Some(given) = record.answer {
        let recorded = session.answer.as_ref().ok_or(EvidenceError::NoAnswer)?;
        recorded.is_same(given).then_some(()).ok_or(EvidenceError::OtherAnswer)?;
        if session.has_later_answer {
            return Err(EvidenceError::EarlierAnswer);
        }
    }
    let id = session.printed.as_deref();
    let own = id.and_then(|id| own_record(record.client, id, record.homes));
    let answer = session.answer.as_ref().map(|answer| answer.text.as_str());
    // A record that continues behind the answer began before it too.
    let of_own =
        |path: PathBuf| usable(record.client, &path, &WantedReads { answer, ..wanted }).ok();
    let own = own.and_then(of_own);
    let mut diagnostics = Vec::new();
    if session.ending == RecordEnding::Cut {
        diagnostics.push("record_cut".to_owned());
    }
    if session.answer.is_none() {
        diagnostics.push("record_without_answer".to_owned());
    }
    diagnostics.extend(damage_remarks(&own.as_ref().unwrap_or(&session).damages));
    let format = adapter(record.client).transcript;
    let may_tell_more = format.is_some_and(|format| format.printed == PrintedEvents::MayTellMore);
    if may_tell_more && session.printed.is_some() && own.is_none() {
        diagnostics.push("record_printed_only".to_owned());
    }
    let printed = demanded.receipts(demands, &session);
    let receipts = match own {
        Some(own) => {
            let kept = demanded.receipts(demands, &own);
            kept.into_iter().zip(printed).map(|(kept, printed)| truer(kept, printed)).collect()
        }
        None => printed,
    };
    let with_hash = |receipt: Receipt| {
        let shown = receipt.shown_whole.as_deref().map(hash);
        (receipt, shown)
    };
    let receipts = receipts.into_iter().map(with_hash).collect();
    Ok(Evidence { receipts, answer: session.answer.map(|answer| answer.text), diagnostics })
}

/// Names the damaged lines of a record, up to a limit.
fn damage_remarks(damages: &[Damage]) -> Vec<String> {
    const MOST: usize = 5;
    let remark = |Damage { at, kind }: &Damage| match kind {
        DamageKind::UnreadableLine => format!("record_line_unreadable:{}", at.line),
        DamageKind::BrokenLink => format!("record_link_broken:{}", at.line),
    };
    damages.iter().rev().take(MOST).map(remark).collect()
}

/// Chooses the more reliable receipt: a client's own record is truer than its printed events. Only
/// if the record has no trace of a file, the client may have ended before it wrote one.
fn truer(kept: Receipt, printed: Receipt) -> Receipt {
    let has_no_trace = kept.standing == ReadState::NotRead { attempts: 0 };
    let is_better = printed.standing.weight() != Weight::Refuted;
    if has_no_trace && is_better { printed } else { kept }
}

/// The demanded files as they are now.
struct Files {
    now: Vec<(String, Now)>,
    sought: Vec<Sought>,
}

impl Files {
    fn of(demands: &[DemandedFile]) -> Self {
        let now: Vec<_> =
            demands.iter().map(|demand| (canonical(&demand.path), Now::of(&demand.path))).collect();
        let sought = now.iter().filter_map(|(path, now)| Sought::new(path, &now.contents()));
        Self { sought: sought.collect(), now }
    }

    fn receipts(&self, demands: &[DemandedFile], session: &SessionRecord) -> Vec<Receipt> {
        let both = demands.iter().zip(&self.now);
        let demanded: Vec<_> = both
            .map(|(demand, (path, now))| Demanded { name: &demand.name, path, now: now.contents() })
            .collect();
        let answered = session.answer.as_ref().map(|answer| answer.step);
        receipts(&demanded, &session.reads, answered)
    }
}

/// Reads a record and those of the agents that were sent, if it is one of the client's.
fn usable(
    client: Client,
    path: &Path,
    wanted: &WantedReads<'_>,
) -> Result<SessionRecord, EvidenceError> {
    let mut session = read(client, path, wanted)?;
    if session.lines.understood == 0 && session.lines.passed_over == 0 {
        return Err(EvidenceError::Empty { path: path.to_owned() });
    }
    if session.is_foreign() {
        return Err(EvidenceError::Foreign { path: path.to_owned(), client: client.name() });
    }
    for path in subagents(path) {
        // A subagent's reads are useful, and no reason to fail.
        if let Ok(other) = read(client, &path, wanted) {
            session.add_subagent(other);
        }
    }
    session.doubts_reads_before_damage();
    session.reads.iter_mut().for_each(resolve);
    Ok(session)
}

/// Resolves links, so that one file has one path.
fn resolve(read: &mut Read) {
    match &mut read.seen {
        Seen::Lines { path, .. } | Seen::Maybe { path, .. } | Seen::Nothing { path } => {
            *path = canonical(path);
        }
        Seen::Perhaps { .. } => {}
    }
}

fn canonical(path: &str) -> String {
    let whole = Some(Path::new(path)).filter(|path| path.is_absolute());
    let found = whole.and_then(|path| path.canonicalize().ok());
    found.map_or_else(|| path.to_owned(), |real| real.display().to_string())
}

fn read(
    client: Client,
    path: &Path,
    wanted: &WantedReads<'_>,
) -> Result<SessionRecord, EvidenceError> {
    let no_file = || {
        let path = path.to_owned();
        match path.try_exists() {
            Ok(false) => EvidenceError::Absent { path },
            Ok(true) | Err(_) => EvidenceError::NoFile { path },
        }
    };
    let file = file::open_regular(path).ok_or_else(no_file)?;
    reads(client, BufReader::with_capacity(256 * 1024, file), wanted)
        .map_err(|source| EvidenceError::Unreadable { path: path.to_owned(), source })
}

/// Claude Code keeps what its subagents did in a folder beside the record.
fn subagents(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_extension("").join("subagents");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    paths.sort();
    paths
}

/// Looks up what a review quotes: in the documents it was sent to, and in the files it names.
pub fn quoted(review: &Review, project: &Path, documents: &[PathBuf]) -> Vec<Vec<Quotation>> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut add = |name: String, path: &Path| {
        let known = files.iter().any(|(known, _)| *known == name);
        if let Some(text) = file::text(path, MAX_BYTES).filter(|_| !known) {
            files.push((name, text));
        }
    };
    for path in documents {
        let name =
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        add(name, path);
    }
    for location in review.issues.iter().filter_map(|issue| issue.location.as_deref()) {
        let named = location.split([':', '#', ' ']).next().unwrap_or_default();
        let path = project.join(named);
        if !named.is_empty() && is_below(project, &path) {
            add(named.to_owned(), &path);
        }
    }
    let sources: Vec<_> = files.iter().map(|(name, text)| QuotableFile { name, text }).collect();
    let of = |issue: &convoke_domain::dispatch::review::Issue| {
        quotations(&issue.description, issue.location.as_deref(), &sources)
    };
    review.issues.iter().map(of).collect()
}

/// A review may name any file; only those of the project are read.
fn is_below(project: &Path, path: &Path) -> bool {
    let both = path.canonicalize().ok().zip(project.canonicalize().ok());
    both.is_some_and(|(path, project)| path.starts_with(project) && path.is_file())
}
