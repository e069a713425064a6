//! Beginning a fan-out, or going on with one.

use std::num::NonZeroUsize;

use convoke_domain::fan::event::{FanEvent, FanSettings, FanTerms};
use convoke_domain::fan::item::ListedItem;
use convoke_domain::run::{RunId, RunState};
use convoke_engine::client::Rights;
use convoke_engine::fan::answer_schema::AnswerSchema;
use convoke_engine::fan::journal::FanJournal;
use convoke_engine::git::diff::head;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::skill::hash;
use convoke_store::error::StoreError;
use convoke_store::journal::Integrity;

use super::error::FanError;
use super::listing::{Listing, list_items, parse_template};
use super::report::FanReport;
use super::results::result_line;
use super::work::{Course, FanPart, go};
use super::{FanFrontEnd, FanRequest, FanStart, FanWork, open_fan_journal};
use crate::agents::first_usable_agent;
use crate::design::hold_only_run;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{LaneRequest, ParkEnd, TreeLook, check_agent, shown_reset, wait_on_ground};
use crate::run::journal_integrity;
use crate::session::Session;
use crate::telemetry::{TracedWork, traced};
use crate::workspace::{Workspace, refused};

/// The most items, and about the most bytes, that one event of a journal lists.
const MOST_LISTED: (usize, usize) = (1000, 1024 * 1024);

/// How much of a commit is shown.
const SHORT_COMMIT: usize = 12;

/// Asks an agent for every item that has no answer yet.
pub fn fan(
    session: &Session,
    request: &FanRequest,
    front_end: &mut dyn FanFrontEnd,
) -> Result<FanReport, Failure> {
    let (settings, listing, workspace) = prepare(session, request)?;
    let run = run_id(&settings)?;
    // A refused request creates no run.
    let _hold = hold_only_run(session, &workspace.store, &run)?;
    let title = settings.template.lines().find(|line| !line.trim().is_empty());
    let title = title.unwrap_or_default().trim();
    match workspace.store.begin_run(&run, &workspace.scope, title, session.now()) {
        Ok(()) | Err(StoreError::RunExists { .. }) => {}
        Err(error) => return Err(refused(error)),
    }
    must_be_unchanged(&workspace, &run)?;
    let mut journal = open_fan_journal(&workspace, &run)?;
    match journal.record().settings() {
        Some(known) if known.digest == settings.digest => {}
        Some(_) => return Err(Failure::new(ErrorClass::Refused, FanError::OtherRequest(run))),
        None => {
            let begun = FanEvent::Begun(Box::new(settings.clone()));
            journal.append(session.now(), begun).map_err(refused)?;
        }
    }
    write_list(session, &mut journal, listing)?;
    let course = Course { session, workspace: &workspace, run: &run, work: &request.work };
    work(&course, journal, front_end)
}

/// Goes on with a run, with the items of its journal.
pub fn resume_fan(
    session: &Session,
    run: &RunId,
    work_request: &FanWork,
    front_end: &mut dyn FanFrontEnd,
) -> Result<FanReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let run = workspace.store.run(&workspace.scope.project, run).map_err(refused)?.id;
    let _hold = hold_only_run(session, &workspace.store, &run)?;
    must_be_unchanged(&workspace, &run)?;
    let journal = open_fan_journal(&workspace, &run)?;
    let record = journal.record();
    let Some(settings) = record.settings().filter(|_| record.list_digest().is_some()) else {
        let failure = Failure::new(ErrorClass::Refused, FanError::NotBegun(run));
        return Err(failure.hint("repeat the `convoke fan` command that began it"));
    };
    must_be_on(session, &run, settings.commit.clone())?;
    let terms = record.terms();
    let kept = terms.and_then(|terms| terms.budget.clone());
    let parallel = terms.and_then(|terms| NonZeroUsize::new(terms.parallel));
    let work_request = FanWork {
        budget: work_request.budget.clone().or(kept),
        parallel: parallel.unwrap_or(work_request.parallel),
        ..work_request.clone()
    };
    let course = Course { session, workspace: &workspace, run: &run, work: &work_request };
    work(&course, journal, front_end)
}

/// Settles a request: Convoke finds all that can be wrong with it before it asks an agent.
pub(super) fn prepare(
    session: &Session,
    request: &FanRequest,
) -> Result<(FanSettings, Listing, Workspace), Failure> {
    let template = parse_template(&request.template, request.input.source())?;
    if let Some(schema) = &request.schema {
        parse_schema(schema)?;
    }
    let listing = list_items(session, &template, &request.input)?;
    let agent = match &request.agent {
        Some(agent) => agent.clone(),
        None => first_usable_agent(session)?,
    };
    check_agent(&agent, Rights::ReadOnly, session)?;
    let lane = LaneRequest { model: request.model.as_deref(), ..LaneRequest::new(&agent, "") };
    let mut settings = FanSettings {
        digest: String::new(),
        template: request.template.clone(),
        source: request.input.source(),
        model: lane.asked_model(session),
        agent: agent_name(&agent),
        effort: request.effort.clone(),
        schema: request.schema.clone(),
        commit: head(&session.project),
        fresh_at: match request.start {
            FanStart::Continue => None,
            FanStart::Fresh => Some(session.now().as_millisecond()),
        },
    };
    let workspace = Workspace::open(session, None)?;
    settings.digest = digest(&settings, &workspace.scope.project);
    Ok((settings, listing, workspace))
}

/// Returns an agent's name as its journal keeps it. A recording is found from every folder.
fn agent_name(agent: &AgentRef) -> String {
    match agent {
        AgentRef::Replay(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            AgentRef::Replay(path).to_string()
        }
        AgentRef::Client(_) | AgentRef::Acp(_) | AgentRef::Http(_) | AgentRef::Fleet(_) => {
            agent.to_string()
        }
    }
}

/// Returns the id of a request's run.
pub(super) fn run_id(settings: &FanSettings) -> Result<RunId, Failure> {
    RunId::of_fan(&settings.digest).map_err(|error| Failure::new(ErrorClass::Bug, error))
}

/// Parses the form of answers.
pub(super) fn parse_schema(text: &str) -> Result<AnswerSchema, Failure> {
    AnswerSchema::parse(text).map_err(|error| {
        Failure::new(ErrorClass::Usage, FanError::Schema(error))
            .hint("docs/reference/fan.md lists the keywords that Convoke checks")
    })
}

/// Returns the hash of all that the answers depend on besides their items. Each part has its length
/// before it, so that no two requests look the same.
fn digest(settings: &FanSettings, project: &str) -> String {
    let fresh = settings.fresh_at.map(|at| at.to_string());
    let parts = [
        Some(project),
        Some(settings.template.as_str()),
        Some(settings.source.name()),
        Some(settings.agent.as_str()),
        settings.model.as_deref(),
        settings.effort.as_deref(),
        settings.schema.as_deref(),
        settings.commit.as_deref(),
        fresh.as_deref(),
    ];
    let whole =
        parts.map(|part| part.map_or("-".to_owned(), |part| format!("{} {part}", part.len())));
    hash(whole.join("\n"))
}

/// Refuses a run whose journal was changed, because its answers may be forged.
fn must_be_unchanged(workspace: &Workspace, run: &RunId) -> Result<(), Failure> {
    match journal_integrity(workspace, run)? {
        Integrity::Sound => Ok(()),
        Integrity::BrokenAt(event) => {
            let error = FanError::ChangedJournal { run: run.clone(), event };
            Err(Failure::new(ErrorClass::Refused, error)
                .hint("restore the store from a backup, or begin anew: `convoke fan --fresh …`"))
        }
    }
}

/// Writes the list of items down, unless it is the journal's last one.
fn write_list(
    session: &Session,
    journal: &mut FanJournal<'_>,
    listing: Listing,
) -> Result<(), Failure> {
    let Listing { items, digest } = listing;
    if journal.record().list_digest() == Some(digest.as_str()) {
        return Ok(());
    }
    let count = items.len();
    let mut append = |event| journal.append(session.now(), event).map_err(refused);
    append(FanEvent::ListBegun)?;
    let (most, most_bytes) = MOST_LISTED;
    let mut chunk: Vec<ListedItem> = Vec::new();
    let mut bytes = 0;
    for item in items {
        bytes += item.text.len();
        chunk.push(item);
        if chunk.len() >= most || bytes >= most_bytes {
            append(FanEvent::Items(std::mem::take(&mut chunk)))?;
            bytes = 0;
        }
    }
    if !chunk.is_empty() {
        append(FanEvent::Items(chunk))?;
    }
    append(FanEvent::Listed { digest, count })
}

fn work<'a>(
    course: &Course<'a>,
    mut journal: FanJournal<'a>,
    front_end: &mut dyn FanFrontEnd,
) -> Result<FanReport, Failure> {
    let Course { session, workspace, run, work } = *course;
    let (mut shown, mut settled) = (0, 0);
    loop {
        let terms = FanTerms {
            budget: work.budget.clone(),
            parallel: work.parallel.get(),
            limit_ms: u64::try_from(work.limits.wall.as_millis()).unwrap_or(u64::MAX),
        };
        journal.append(session.now(), FanEvent::Opened(terms)).map_err(refused)?;
        journal.mark(RunState::Running, session.now()).map_err(refused)?;
        let traced_work = TracedWork::call(session, "fan", Some(run.as_str()));
        let go_on =
            |session: &Session| go(&Course { session, ..*course }, journal, shown, front_end);
        let part = traced(session, traced_work, go_on, |part: &FanPart| part.report.class)
            .map_err(|failure| failure.hint(format!("convoke resume {run}")))?;
        settled += part.report.settled_now;
        let report = FanReport { settled_now: settled, ..part.report };
        let Some(until) = part.parked else { return Ok(report) };
        let reporter = session.reporter();
        let look = TreeLook { session, reporter: &reporter, limit: work.limits.wall };
        let again = format!("convoke resume {run} --park");
        let waited = wait_on_ground(&look, work.watch, until, &again);
        if !matches!(waited, Ok(ParkEnd::Over)) {
            // Answers that were paid for are shown in any case.
            show_rest(course, part.shown, front_end)?;
        }
        if waited? == ParkEnd::Stopped {
            let end = shown_reset(until);
            let hint = format!("convoke resume {run} --park; the limit ends at {end}");
            reporter.hint(hint);
            return Ok(FanReport { class: Some(ErrorClass::Interrupted), ..report });
        }
        must_be_on(session, run, journal_commit(workspace, run)?)?;
        shown = part.shown;
        journal = open_fan_journal(workspace, run)?;
    }
}

/// Shows the results that a stopped wait held up.
fn show_rest(
    course: &Course<'_>,
    shown: usize,
    front_end: &mut dyn FanFrontEnd,
) -> Result<(), Failure> {
    let Course { workspace, run, .. } = *course;
    let journal = open_fan_journal(workspace, run)?;
    for place in shown..journal.record().items().len() {
        if let Some(line) = result_line(&*workspace.store, run, journal.record(), place)? {
            front_end.result(&line)?;
        }
    }
    Ok(())
}

fn journal_commit(workspace: &Workspace, run: &RunId) -> Result<Option<String>, Failure> {
    let journal = open_fan_journal(workspace, run)?;
    Ok(journal.record().settings().and_then(|settings| settings.commit.clone()))
}

/// Refuses to go on where another commit is checked out: answers belong to the one that the run began on.
fn must_be_on(session: &Session, run: &RunId, began: Option<String>) -> Result<(), Failure> {
    let now = head(&session.project);
    if began == now {
        return Ok(());
    }
    let short = |commit: Option<String>| match commit {
        Some(commit) => commit.chars().take(SHORT_COMMIT).collect(),
        None => "no commit".to_owned(),
    };
    let (run, began, now) = (run.clone(), short(began), short(now));
    let failure = Failure::new(ErrorClass::Refused, FanError::OtherCommit { run, began, now });
    Err(failure
        .hint("check out that commit, or repeat the `convoke fan` command to ask on this one"))
}
