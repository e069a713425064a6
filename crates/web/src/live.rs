//! Live pages: one look for all browsers of a page, at most ten times a second, and only while one
//! listens. A browser gets the parts that changed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use convoke_domain::run::RunId;
use convoke_page::layout::Access;
use convoke_page::now::{LivePart, now_parts};
use convoke_page::run::{RunPage, lanes_part, run_parts};
use convoke_service::failure::Failure;
use convoke_service::now::{LiveLaneReport, now, run_now};
use convoke_service::run::show_run;
use convoke_service::session::Session;
use hyper::body::Frame;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::answer::{refusal, typed};
use crate::dashboard::{Dashboard, agents_known};

/// The least time between two looks.
const STEP: Duration = Duration::from_millis(100);

/// How many looks in a row without a change make the next ones rarer.
const CALM: u32 = 20;

/// The time between two looks while nothing changes.
const CALM_STEP: Duration = Duration::from_millis(500);

/// A page that takes long to look at is looked at for one part in so many of the time.
const SHARE: u32 = 4;

/// After this time without a change, a browser gets a sign that the server is there.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How many browsers listen in parallel.
const MOST_LISTENERS: usize = 64;

/// How long a browser may leave an update unread before its place is given back.
const PATIENCE: Duration = Duration::from_secs(30);

/// A page that changes while it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LivePage {
    Now,
    Run(RunId),
}

/// The parts of a page, each under the id of its element.
type Parts = BTreeMap<&'static str, Arc<str>>;

/// The parts of a run that follow from its journal, and the mark of the run that they were made from.
type KnownParts = Option<(String, Parts)>;

/// What the last look at a page found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Glance {
    /// The parts as Convoke last read them.
    parts: Parts,
    /// Whether Convoke could not read the page, so that its parts may be old.
    is_unreadable: bool,
}

/// What every listener of a page sees.
type Seen = watch::Receiver<Arc<Glance>>;

/// The pages that browsers listen to.
#[derive(Default)]
pub(crate) struct Live {
    pages: Mutex<BTreeMap<LivePage, watch::Sender<Arc<Glance>>>>,
}

impl Live {
    fn listeners(&self) -> usize {
        let pages = self.pages.lock();
        pages.map_or(0, |pages| pages.values().map(watch::Sender::receiver_count).sum())
    }

    /// Shows listeners what a page looks like now, or that Convoke cannot read it, and tells whether that
    /// is new to them. Without listeners, the page is forgotten.
    fn publish(&self, page: &LivePage, parts: Option<Parts>) -> Option<Change> {
        let mut pages = self.pages.lock().ok()?;
        let sender = pages.get(page)?;
        if sender.receiver_count() == 0 {
            pages.remove(page);
            return None;
        }
        let is_new = sender.send_if_modified(|shown| {
            let now = match parts {
                Some(parts) => Glance { parts, is_unreadable: false },
                None => Glance { parts: shown.parts.clone(), is_unreadable: true },
            };
            let is_new = **shown != now;
            if is_new {
                *shown = Arc::new(now);
            }
            is_new
        });
        Some(if is_new { Change::New } else { Change::Same })
    }
}

/// Answers with the changes of a page until the browser leaves.
pub(crate) fn events(dashboard: &Arc<Dashboard>, page: LivePage) -> Response {
    if dashboard.live.listeners() >= MOST_LISTENERS {
        let words = "64 pages of this dashboard are live already; close one of them\n";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, words);
    }
    let Some(seen) = listen(dashboard, page) else {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "cannot listen\n");
    };
    let (sender, receiver) = channel(1);
    tokio::spawn(tell(seen, sender));
    typed(StatusCode::OK, "text/event-stream", Body::new(EventBody { receiver }))
}

/// Returns what a page shows, and has one task look at it while someone listens.
fn listen(dashboard: &Arc<Dashboard>, page: LivePage) -> Option<Seen> {
    let mut pages = dashboard.live.pages.lock().ok()?;
    if let Some(known) = pages.get(&page) {
        return Some(known.subscribe());
    }
    let (sender, receiver) = watch::channel(Arc::default());
    pages.insert(page.clone(), sender);
    tokio::spawn(look(Arc::clone(dashboard), page));
    Some(receiver)
}

async fn look(dashboard: Arc<Dashboard>, page: LivePage) {
    let mut tempo = Pace::default();
    let mut known = None;
    loop {
        let begun = Instant::now();
        let parts;
        (parts, known) = parts_of(&dashboard, &page, known).await;
        let Some(change) = dashboard.live.publish(&page, parts.ok()) else { return };
        sleep_until(begun + tempo.step(change, begun.elapsed())).await;
    }
}

/// Whether a look found something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    New,
    Same,
}

/// How often a page is looked at.
#[derive(Debug, Default)]
struct Pace {
    /// Looks in a row that found nothing new.
    calm: u32,
}

impl Pace {
    /// Returns the time from the beginning of a look to that of the next one.
    fn step(&mut self, change: Change, took: Duration) -> Duration {
        self.calm = match change {
            Change::New => 0,
            Change::Same => self.calm.saturating_add(1),
        };
        let step = if self.calm > CALM { CALM_STEP } else { STEP };
        // A long journal takes long to read, and the server has more to do.
        step.max(took * SHARE)
    }
}

/// Returns what a page shows now, and of a run what need not be read again until its mark changes.
async fn parts_of(
    dashboard: &Arc<Dashboard>,
    page: &LivePage,
    known: KnownParts,
) -> (Result<Parts, Failure>, KnownParts) {
    let access = dashboard.access;
    match page.clone() {
        LivePage::Now => {
            let agents = dashboard.agents();
            let shown = dashboard.read(now).await.map(|mut report| {
                dashboard.add_trees(&mut report.lanes);
                named(now_parts(&report, agents_known(agents.as_deref()), access))
            });
            (shown, None)
        }
        LivePage::Run(run) => {
            let csrf = dashboard.csrf.text().to_owned();
            let read = move |session: &Session| parts_of_run(session, &run, access, &csrf, known);
            match dashboard.read(read).await {
                Ok((mut parts, mut lanes, known)) => {
                    dashboard.add_trees(&mut lanes);
                    parts.extend(named(vec![lanes_part(&lanes, access)]));
                    (Ok(parts), known)
                }
                Err(why) => (Err(why), None),
            }
        }
    }
}

/// Returns the parts of a run that follow from its journal, and its lanes.
fn parts_of_run(
    session: &Session,
    run: &RunId,
    access: Access,
    csrf: &str,
    known: KnownParts,
) -> Result<(Parts, Vec<LiveLaneReport>, KnownParts), Failure> {
    let now = run_now(session, run)?;
    let parts = match known {
        Some((mark, parts)) if mark == now.mark => parts,
        Some(_) | None => {
            let report = show_run(session, Some(run))?;
            let (report, course) = (&report, &report.timeline);
            // The list of other designs is in no part that changes.
            let page = RunPage { report, course, lanes: &[], recent: &[], access, csrf };
            named(run_parts(&page))
        }
    };
    let known = Some((now.mark, parts.clone()));
    Ok((parts, now.lanes, known))
}

fn named(parts: Vec<LivePart>) -> Parts {
    parts.into_iter().map(|(id, content)| (id, content.into_string().into())).collect()
}

/// Sends one browser the parts that it has not seen. Updates that come faster than it reads are one.
async fn tell(mut seen: Seen, sender: Sender<Bytes>) {
    let mut shown = Arc::<Glance>::default();
    loop {
        let now = Arc::clone(&seen.borrow_and_update());
        if now.is_unreadable != shown.is_unreadable && !send(&sender, sign(&now)).await {
            return;
        }
        let parts = &now.parts;
        let is_changed =
            |(id, content): &(&&str, &Arc<str>)| shown.parts.get(**id) != Some(*content);
        let changed = parts.iter().filter(is_changed).map(|(id, content)| (*id, &**content));
        let changed: BTreeMap<&str, &str> = changed.collect();
        if !changed.is_empty()
            && let Ok(json) = serde_json::to_string(&changed)
        {
            let event = Bytes::from(format!("event: parts\ndata: {json}\n\n"));
            if !send(&sender, event).await {
                return;
            }
        }
        shown = now;
        let news = tokio::select! {
            news = timeout(HEARTBEAT, seen.changed()) => news,
            // A browser that leaves gives its place back without waiting for news.
            () = sender.closed() => return,
        };
        match news {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) => {
                if !send(&sender, sign(&shown)).await {
                    return;
                }
            }
        }
    }
}

/// Returns the sign that the server is there, and whether it can read the page.
const fn sign(shown: &Glance) -> Bytes {
    Bytes::from_static(if shown.is_unreadable {
        b"event: unreadable\ndata:\n\n"
    } else {
        b"event: here\ndata:\n\n"
    })
}

async fn send(sender: &Sender<Bytes>, event: Bytes) -> bool {
    matches!(timeout(PATIENCE, sender.send(event)).await, Ok(Ok(())))
}

/// The body of an answer that goes on.
struct EventBody {
    receiver: Receiver<Bytes>,
}

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

#[cfg(test)]
mod tests;
