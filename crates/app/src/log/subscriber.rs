//! Writes what engine and service tell `tracing`, one line for each event with its spans around it.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use convoke_service::clock::now;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use super::filter::{LogFilter, short};
use crate::output::log_line;

/// The target of the log.
#[derive(Debug)]
pub(super) enum LogTarget {
    /// The terminal, or the target of a redirection.
    Stderr,
    /// A file that lines are added to.
    File(File),
}

/// Writes lines to one place.
#[derive(Debug)]
pub(super) struct LineSubscriber {
    filter: LogFilter,
    target: LogTarget,
    spans: Mutex<OpenSpans>,
}

/// The spans that are not over, and which of them each thread is in.
#[derive(Debug, Default)]
struct OpenSpans {
    last: u64,
    open: HashMap<u64, OpenSpan>,
    entered: HashMap<ThreadId, Vec<u64>>,
}

#[derive(Debug)]
struct OpenSpan {
    metadata: &'static Metadata<'static>,
    parent: Option<u64>,
    fields: Fields,
    handles: usize,
}

/// The message of an event, and the fields of it or of a span as they are written.
#[derive(Debug, Default)]
struct Fields {
    message: String,
    text: String,
}

impl LineSubscriber {
    pub(super) fn new(filter: LogFilter, target: LogTarget) -> Self {
        Self { filter, target, spans: Mutex::default() }
    }

    fn spans(&self) -> MutexGuard<'_, OpenSpans> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_wanted(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.filter.level_of(metadata.target())
    }

    /// Writes a line in one piece. That the log cannot be written must not stop the work.
    fn write(&self, line: &str) {
        match &self.target {
            LogTarget::Stderr => log_line(line),
            LogTarget::File(file) => {
                let mut file = file;
                file.write_all(format!("{line}\n").as_bytes()).ok();
            }
        }
    }
}

impl OpenSpans {
    fn current(&self) -> Option<u64> {
        self.entered.get(&thread::current().id())?.last().copied()
    }

    /// Returns a span and those around it, the outermost first.
    fn path(&self, innermost: Option<u64>) -> String {
        let mut path = String::new();
        let mut next = innermost;
        while let Some(span) = next.and_then(|id| self.open.get(&id)) {
            path = format!("{}{{{}}}:{path}", span.metadata.name(), span.fields.text.trim_start());
            next = span.parent;
        }
        path
    }
}

impl Subscriber for LineSubscriber {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.is_wanted(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.is_wanted(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.filter.most())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let mut spans = self.spans();
        let explicit = attributes.parent().map(Id::into_u64);
        let current = spans.current().filter(|_| attributes.is_contextual());
        let parent = explicit.or(current);
        spans.last += 1;
        let id = spans.last;
        let metadata = attributes.metadata();
        spans.open.insert(id, OpenSpan { metadata, parent, fields, handles: 1 });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(open) = self.spans().open.get_mut(&span.into_u64()) {
            values.record(&mut open.fields);
        }
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let path = {
            let spans = self.spans();
            let explicit = event.parent().map(Id::into_u64);
            let current = spans.current().filter(|_| event.is_contextual());
            spans.path(explicit.or(current))
        };
        let (level, target) = (metadata.level(), short(metadata.target()));
        let path = if path.is_empty() { path } else { format!("{path} ") };
        let Fields { message, text } = fields;
        self.write(&format!("{} {level:>5} {target}: {path}{message}{text}", now()));
    }

    fn enter(&self, span: &Id) {
        let thread = thread::current().id();
        self.spans().entered.entry(thread).or_default().push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let thread = thread::current().id();
        let mut spans = self.spans();
        let Some(entered) = spans.entered.get_mut(&thread) else { return };
        if let Some(at) = entered.iter().rposition(|id| *id == span.into_u64()) {
            entered.remove(at);
        }
        if entered.is_empty() {
            spans.entered.remove(&thread);
        }
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some(open) = self.spans().open.get_mut(&span.into_u64()) {
            open.handles += 1;
        }
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let mut spans = self.spans();
        let Some(open) = spans.open.get_mut(&span.into_u64()) else { return false };
        open.handles -= 1;
        let is_over = open.handles == 0;
        if is_over {
            spans.open.remove(&span.into_u64());
        }
        is_over
    }
}

impl Fields {
    /// Adds a field. Clients and files decide about values, so one that is not plain is escaped, and
    /// can neither end its line nor pass for another field.
    fn add(&mut self, name: &str, value: &str) {
        let is_plain = |c: char| c.is_alphanumeric() || "-_./:+@%$~(),".contains(c);
        let added = if !value.is_empty() && value.chars().all(is_plain) {
            write!(self.text, " {name}={value}")
        } else {
            write!(self.text, " {name}={value:?}")
        };
        // Writing to a string cannot fail.
        added.unwrap_or_default();
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        if field.name() == "message" {
            self.message = text;
        } else {
            self.add(field.name(), &text);
        }
    }
}
