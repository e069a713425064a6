//! Finds errors in the configuration files, for commands that do not read the part in question.

use std::path::Path;

use convoke_engine::git::tracked::is_left_out;
use toml::{Table, Value};

use super::files::ConfigFile;
use super::trust::{Author, Origin, Refused, sift};
use super::{
    Key, LOCAL_FILE, SECTIONS, acp, brief, dispatch, endpoint, fleet, health, lane, mcp, pack,
    read_section, store, task, telemetry, unknown, wake,
};
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::session::Session;

/// A file can hold thousands of mistakes; more lines than this help no reader.
const MOST: usize = 12;

/// Returns a line for each unknown section or key, each value that cannot be used and each key that
/// its file may not set; never a value. It leaves out `told`, which the user has already seen.
pub fn remarks(session: &Session, told: Option<&Failure>) -> Vec<String> {
    let told = told.map(|failure| failure.error.to_string());
    let mut lines: Vec<_> = found(session)
        .into_iter()
        .filter(|remark| told.as_ref().is_none_or(|told| !remark.starts_with(told)))
        .collect();
    if lines.len() > MOST {
        let more = lines.len() - MOST;
        lines.truncate(MOST);
        lines.push(format!("{more} more remarks on the configuration; `convoke doctor`"));
    }
    lines
}

/// Returns a line for each key that its file may not set.
pub fn refusals(session: &Session) -> Vec<String> {
    let files = session.settings.files();
    let user = files.user(session).and_then(|file| file.parsed().ok()).cloned().unwrap_or_default();
    let local = files.local(session);
    let mut lines = Vec::new();
    if let Ok(table) = local.parsed() {
        let author = files.local_author(session, table);
        lines.extend(refused(session, local, author, table, &user));
    }
    let project = files.project(session);
    if let Ok(table) = project.parsed() {
        lines.extend(refused(session, project, Author::Committer, table, &user));
    }
    lines
}

fn found(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    let files = session.settings.files();
    let here = [files.local(session), files.project(session)];
    for file in here.into_iter().chain(files.user(session)) {
        match file.parsed() {
            Ok(table) => lines.extend(mistakes(table, &file.path)),
            Err(failure) => lines.push(with_causes(failure.error.as_ref())),
        }
    }
    lines.extend(refusals(session));
    lines
}

fn refused(
    session: &Session,
    file: &ConfigFile,
    author: Author,
    table: &Table,
    user: &Table,
) -> Vec<String> {
    let is_local = file.path.file_name().is_some_and(|name| name == LOCAL_FILE);
    let is_foreign = is_local && author == Author::Committer;
    let tracked = match is_foreign.then(|| is_left_out(&session.project)) {
        Some(true) => " (git ignores its folder)",
        Some(false) => " (git tracks this file)",
        None => "",
    };
    let line = |refused: Refused| {
        let (file, key, reason) = (file.path.display(), refused.key, refused.reason);
        format!("`{key}` in `{file}` is ignored: {reason}{tracked}; set it in your own config.toml")
    };
    let origin = Origin { author, project: &session.project, user };
    sift(&mut table.clone(), origin).into_iter().map(line).collect()
}

fn mistakes(table: &Table, path: &Path) -> Vec<String> {
    table.iter().flat_map(|(name, value)| section_mistakes(name, value, path)).collect()
}

fn section_mistakes(name: &str, value: &Value, path: &Path) -> Vec<String> {
    match name {
        brief::SECTION => each_key(name, value, path, &brief::KEYS),
        wake::SECTION => each_key(name, value, path, &wake::KEYS),
        dispatch::SECTION => each_key(name, value, path, &dispatch::KEYS),
        health::SECTION => each_key(name, value, path, &health::KEYS),
        lane::SECTION => each_key(name, value, path, &lane::KEYS),
        acp::SECTION => acp::mistakes(value, path).iter().map(told).collect(),
        store::SECTION => Vec::new(),
        task::SECTION => each_key(name, value, path, &task::KEYS),
        mcp::SECTION => each_key(name, value, path, &mcp::KEYS),
        pack::SECTION => each_key(name, value, path, &pack::KEYS),
        telemetry::SECTION => each_key(name, value, path, &telemetry::KEYS),
        fleet::SECTION => each_key(name, value, path, &fleet::KEYS),
        _ => vec![told(&unknown(name, path, "section", &SECTIONS))],
    }
}

/// Reads key by key, so that one mistake hides no other.
fn each_key<L: Default>(section: &str, value: &Value, path: &Path, keys: &[Key<L>]) -> Vec<String> {
    let read = |values: Value| {
        let table = Table::from_iter([(section.to_owned(), values)]);
        read_section(&table, path, section, keys).err().map(|failure| told(&failure))
    };
    let Value::Table(values) = value else { return read(value.clone()).into_iter().collect() };
    let is_read_elsewhere = |key: &str| section == lane::SECTION && key == endpoint::HTTP;
    let values = values.iter().filter(|(key, _)| !is_read_elsewhere(key));
    values
        .filter_map(|(key, value)| {
            read(Value::Table(Table::from_iter([(key.clone(), value.clone())])))
        })
        .collect()
}

/// Returns an error and what to do about it, in one line.
fn told(failure: &Failure) -> String {
    let words = with_causes(failure.error.as_ref());
    failure.hints.first().map_or(words.clone(), |hint| format!("{words}; {hint}"))
}
