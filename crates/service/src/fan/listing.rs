//! The items of a fan-out: taken from the user's input, and read again for each request.

use std::path::{Path, PathBuf};

use convoke_domain::fan::FanSource;
use convoke_domain::fan::event::FanSettings;
use convoke_domain::fan::item::{ItemKey, LONGEST_ITEM, ListedItem, items_of_lines};
use convoke_domain::fan::template::PromptTemplate;
use convoke_domain::finding::FileFinding;
use convoke_engine::brief::selection::{NamedBy, SelectionError, SelectionRequest, select};
use convoke_engine::fan::fields::{ItemFields, known_names};
use convoke_engine::file;
use convoke_engine::skill::hash;

use super::error::FanError;
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::session::Session;

/// The input of a fan-out.
#[derive(Debug, Clone)]
pub enum FanInput {
    /// Lines of text.
    Lines(Vec<u8>),
    /// Lines of JSON.
    JsonLines(Vec<u8>),
    /// Files, folders and patterns.
    Files(Vec<PathBuf>),
}

impl FanInput {
    pub(super) const fn source(&self) -> FanSource {
        match self {
            Self::Lines(_) => FanSource::Lines,
            Self::JsonLines(_) => FanSource::JsonLines,
            Self::Files(_) => FanSource::Files,
        }
    }
}

/// The items of an input.
pub(super) struct Listing {
    pub(super) items: Vec<ListedItem>,
    /// The hash of all that the list holds, in its order.
    pub(super) digest: String,
}

/// Parses the prompt of a fan-out, and refuses names that no item of the source has.
pub(super) fn parse_template(text: &str, source: FanSource) -> Result<PromptTemplate, Failure> {
    let refused = |error| Failure::new(ErrorClass::Usage, error);
    let template = PromptTemplate::parse(text).map_err(|error| {
        refused(FanError::Template(error))
            .hint("write `{{item}}` where the item belongs, and `\\{{` for two braces")
    })?;
    let known = known_names(source);
    let unknown = template.names().find(|name| !known.contains(name));
    match unknown.filter(|_| source != FanSource::JsonLines) {
        None => Ok(template),
        Some(name) => {
            let failure = refused(FanError::UnknownName { name: name.to_owned() });
            let names: Vec<_> = known.iter().map(|name| format!("`{{{{{name}}}}}`")).collect();
            Err(failure
                .maybe_hint(did_you_mean(name, known.iter().copied()))
                .hint(format!("items have {}; write `\\{{{{` for two braces", names.join(", "))))
        }
    }
}

/// Lists the items, and fills the prompt for each, so that Convoke asks no agent before all of them fit.
pub(super) fn list_items(
    session: &Session,
    template: &PromptTemplate,
    input: &FanInput,
) -> Result<Listing, Failure> {
    let usage = |error| Failure::new(ErrorClass::Usage, error);
    let items = match input {
        FanInput::Lines(bytes) => {
            let lines = items_of_lines(bytes).map_err(|error| usage(FanError::Line(error)))?;
            let item = |(line, text): (usize, &str)| {
                list(template, line, text, &ItemFields::Line(text.to_owned()), None)
            };
            lines.into_iter().map(item).collect::<Result<_, _>>().map_err(usage)?
        }
        FanInput::JsonLines(bytes) => {
            let lines = items_of_lines(bytes).map_err(|error| usage(FanError::Line(error)))?;
            let item = |(line, text): (usize, &str)| {
                let fields = ItemFields::of_json_line(text)
                    .map_err(|source| FanError::JsonLine { line, source })?;
                list(template, line, text, &fields, None)
            };
            lines.into_iter().map(item).collect::<Result<_, _>>().map_err(usage)?
        }
        FanInput::Files(named) => list_files(session, template, named)?,
    };
    if items.is_empty() {
        return Err(usage(FanError::NoItems));
    }
    let digest = list_digest(&items);
    Ok(Listing { items, digest })
}

/// Returns the hash of a list. A key covers only what the template uses, but a result also shows the
/// item, and Convoke reads a file again by its path.
fn list_digest(items: &[ListedItem]) -> String {
    let entry = |ListedItem { key, text, sha256 }: &ListedItem| {
        let sha256 = sha256.as_deref().unwrap_or("-");
        format!("{key} {sha256} {} {text}", text.len())
    };
    hash(items.iter().map(entry).collect::<Vec<_>>().join("\n"))
}

/// Returns an item with the key of all that its answer depends on.
fn list(
    template: &PromptTemplate,
    line: usize,
    text: &str,
    fields: &ItemFields,
    sha256: Option<String>,
) -> Result<ListedItem, FanError> {
    let prompt = template
        .fill(|name| fields.value(name))
        .map_err(|name| FanError::MissingField { line, name: name.to_owned() })?;
    let whole = hash(format!("{prompt}\0{}", sha256.as_deref().unwrap_or_default()));
    let key = ItemKey::parse(&whole).ok_or(FanError::NoItems)?;
    Ok(ListedItem { key, text: text.to_owned(), sha256 })
}

fn list_files(
    session: &Session,
    template: &PromptTemplate,
    named: &[PathBuf],
) -> Result<Vec<ListedItem>, Failure> {
    let (project, folder) = crate::brief::files::places(session);
    let (first, cancel) = (&[], session.cancel());
    let wanted = SelectionRequest {
        project: &project,
        folder: &folder,
        named,
        first,
        named_by: NamedBy::Person,
        cancel,
    };
    let (selected, _) = select(wanted).map_err(unselected)?;
    let mut items = Vec::with_capacity(selected.len());
    for (line, document) in (1..).zip(selected) {
        let path = document.path;
        let Ok(below) = path.strip_prefix(&project) else {
            return Err(Failure::new(ErrorClass::Usage, FanError::Outside { path }));
        };
        let Some(name) = below.to_str() else {
            return Err(Failure::new(ErrorClass::Usage, FanError::Name { path }));
        };
        let text = read_file(&project, name)
            .map_err(|error| Failure::new(ErrorClass::Prerequisite, error))?;
        let sha256 = Some(hash(&text));
        let fields = ItemFields::File { path: name.to_owned(), text };
        let item = list(template, line, name, &fields, sha256);
        items.push(item.map_err(|error| Failure::new(ErrorClass::Usage, error))?);
    }
    Ok(items)
}

fn unselected(error: SelectionError) -> Failure {
    if matches!(error, SelectionError::Stopped) {
        return Failure::new(ErrorClass::Interrupted, error);
    }
    let failure = Failure::new(ErrorClass::Usage, error);
    failure.hint("for more files, list their names: `git ls-files | convoke fan … --lines -`")
}

fn read_file(project: &Path, name: &str) -> Result<String, FanError> {
    let path = name.to_owned();
    match file::read_below(project, &project.join(name), LONGEST_ITEM as u64) {
        FileFinding::Text(text) => Ok(text),
        FileFinding::Absent => Err(FanError::Absent { path }),
        FileFinding::Unreadable(reason) => Err(FanError::Unreadable { path, reason }),
    }
}

/// Returns the prompt of a listed item, with the form of its answer.
pub(super) fn item_prompt(
    session: &Session,
    template: &PromptTemplate,
    settings: &FanSettings,
    item: &ListedItem,
) -> Result<String, FanError> {
    let fields = match settings.source {
        FanSource::Lines => ItemFields::Line(item.text.clone()),
        FanSource::JsonLines => ItemFields::of_json_line(&item.text)
            .map_err(|source| FanError::JsonLine { line: 1, source })?,
        FanSource::Files => {
            let text = read_file(&session.absolute_project(), &item.text)?;
            if item.sha256.as_deref() != Some(hash(&text).as_str()) {
                return Err(FanError::Changed { path: item.text.clone() });
            }
            ItemFields::File { path: item.text.clone(), text }
        }
    };
    let filled = template.fill(|name| fields.value(name));
    let prompt =
        filled.map_err(|name| FanError::MissingField { line: 1, name: name.to_owned() })?;
    Ok(match &settings.schema {
        None => prompt,
        Some(schema) => format!(
            "{prompt}\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema:\n\n\
             {}\n",
            schema.trim()
        ),
    })
}
