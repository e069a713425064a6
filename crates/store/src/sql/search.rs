//! Searching. In SQLite, the index is a file beside the store, so that opening the store costs hooks
//! nothing more, and a store without it is whole. A server searches messages without an index.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use convoke_domain::run::RunId;
use rusqlite::functions::FunctionFlags;

use super::journal::read_run;
use super::letters;
use super::row::{Word, stored};
use super::transaction::WriteTransaction;
use super::{SqlStore, failed, rows};
use crate::error::StoreError;
use crate::journal::Run;
use crate::search::{FindingText, SearchHit, SearchKind, SearchStore, SearchWords};
use crate::sql::driver::{self, Connection, OptionalExtension, Row, ToSql, params};
use crate::sqlite::make_file;

/// The ending of the index's file name.
const SUFFIX: &str = "-search";

/// How many candidates a search looks at first for each message that it wants.
const CANDIDATES: usize = 20;

/// How many candidates it looks at where those are too few; the rest are older than most people search.
const MOST_CANDIDATES: usize = 50_000;

const SCHEMA: &str = "\
    CREATE TABLE IF NOT EXISTS found.progress (last_message INTEGER NOT NULL);
    CREATE VIRTUAL TABLE IF NOT EXISTS found.message_texts USING fts5(content, content='');
    CREATE TABLE IF NOT EXISTS found.runs (run TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS found.findings (run TEXT NOT NULL, id TEXT NOT NULL,
        title TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (run, id)) WITHOUT ROWID;";

/// The longest word that a server's index holds, in bytes.
#[cfg(feature = "postgres")]
const LONGEST_WORD: usize = 2000;

/// An index that is open: its tables, by their names in the database.
#[derive(Clone, Copy)]
struct Index {
    progress: &'static str,
    runs: &'static str,
    findings: &'static str,
}

impl Index {
    /// Opens the index, if it is not open yet.
    fn open(connection: &Connection) -> driver::Result<Self> {
        match connection {
            Connection::Sqlite(file) => {
                attach(file)?;
                Ok(Self {
                    progress: "found.progress",
                    runs: "found.runs",
                    findings: "found.findings",
                })
            }
            // Its tables came with the schema.
            #[cfg(feature = "postgres")]
            Connection::Server(_) => Ok(Self {
                progress: "found_progress",
                runs: "found_runs",
                findings: "found_findings",
            }),
        }
    }
}

/// The first statement of a change of the index: it changes nothing, and takes the lock.
const LOCK: &str = "DELETE FROM found.progress WHERE 0";

impl SqlStore {
    /// Begins a change of the index alone.
    fn begin_index(&self) -> driver::Result<WriteTransaction<'_>> {
        WriteTransaction::begin_beside(self.connection(), LOCK)
    }
}

/// Opens the file beside the store.
fn attach(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let is_open: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM pragma_database_list WHERE name = 'found')",
        [],
        |row| row.get(0),
    )?;
    if is_open {
        return Ok(());
    }
    let store = connection.path().map(Path::new).filter(|path| path.is_absolute());
    // A store without a file has an index in memory.
    let place = store.map_or_else(|| PathBuf::from(":memory:"), index_file);
    if store.is_some() {
        make_file(&place);
    }
    connection.execute("ATTACH DATABASE ?1 AS found", [place.to_string_lossy()])?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    // The database's own `lower` knows no capitals but those of English.
    connection.create_scalar_function("has_words", 2, flags, |values| {
        let text = |place| values.get_raw(place).as_str().ok();
        Ok(text(0).zip(text(1)).is_some_and(|(text, words)| letters::has_words(text, words)))
    })?;
    connection.execute_batch(SCHEMA)
}

fn index_file(store: &Path) -> PathBuf {
    let mut name: OsString = store.into();
    name.push(SUFFIX);
    name.into()
}

impl SearchStore for SqlStore {
    fn index_messages(&self, most: usize) -> Result<u64, StoreError> {
        // A server searches the messages themselves, by an index of its own.
        #[cfg(feature = "postgres")]
        if matches!(&*self.connection(), Connection::Server(_)) {
            return Ok(0);
        }
        let take = || {
            let change = self.begin_index()?;
            let left = take_messages(&change, Index::open(&change)?, most)?;
            change.commit()?;
            Ok(left)
        };
        // SQLite opens no index within a change.
        let failed = failed("index the messages");
        Index::open(&self.connection()).map_err(&failed)?;
        take().map_err(failed)
    }

    fn unindexed_runs(&self, project: &str, most: usize) -> Result<Vec<Run>, StoreError> {
        let failed = failed("find runs that are not indexed");
        let connection = self.connection();
        let index = Index::open(&connection).map_err(&failed)?;
        let sql = format!(
            "SELECT runs.* FROM runs LEFT JOIN {} AS seen ON seen.run = runs.id \
             WHERE runs.project = ?1 AND runs.last_seq > coalesce(seen.seq, 0) \
             ORDER BY runs.started_at DESC, runs.id DESC LIMIT ?2",
            index.runs
        );
        rows(&connection, &sql, params![project, stored(most)], read_run).map_err(failed)
    }

    fn index_findings(
        &self,
        run: &RunId,
        last_seq: u64,
        findings: &[FindingText],
    ) -> Result<(), StoreError> {
        let failed = failed("index the findings");
        let index = Index::open(&self.connection()).map_err(&failed)?;
        let take = || {
            let change = self.begin_index()?;
            let id = run.as_str();
            for table in [index.findings, index.runs] {
                change.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [id])?;
            }
            let sql = format!(
                "INSERT INTO {} (run, id, title, text) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                index.findings
            );
            for finding in findings {
                let values = params![id, finding.id, finding.title, finding.text];
                change.execute(&sql, values)?;
            }
            let sql = format!("INSERT INTO {} (run, seq) VALUES (?1, ?2)", index.runs);
            change.execute(&sql, params![id, stored(last_seq)])?;
            change.commit()
        };
        take().map_err(failed)
    }

    fn search(
        &self,
        project: &str,
        words: &SearchWords,
        most: usize,
    ) -> Result<Vec<SearchHit>, StoreError> {
        let failed = failed("search");
        let connection = self.connection();
        let index = Index::open(&connection).map_err(&failed)?;
        let look = Look { connection: &connection, index, project, words, most };
        let mut hits = Vec::new();
        // The index has no longer words, and the server refuses to search for them.
        #[cfg(feature = "postgres")]
        if matches!(&*connection, Connection::Server(_))
            && words.words().iter().any(|word| word.len() > LONGEST_WORD)
        {
            return Ok(hits);
        }
        for find in [Look::runs, Look::findings, Look::tasks, Look::messages] {
            hits.extend(find(&look).map_err(&failed)?);
        }
        Ok(hits)
    }
}

/// Messages never change, so that the index only grows; a store with fewer messages than were indexed is
/// another one.
fn take_messages(change: &Connection, index: Index, most: usize) -> driver::Result<u64> {
    let number = |sql: &str, values: &[&dyn ToSql]| -> driver::Result<i64> {
        change.query_row(sql, values, |row| row.get(0))
    };
    let newest = number("SELECT coalesce(max(id), 0) FROM messages", params![])?;
    let sql = format!("SELECT last_message FROM {}", index.progress);
    let last = change.query_row(&sql, params![], |row| row.get(0)).optional()?.unwrap_or(0);
    let is_another = last > newest;
    let last = if is_another { 0 } else { last };
    let sql = "SELECT coalesce(max(id), ?1) FROM \
               (SELECT id FROM messages WHERE id > ?1 ORDER BY id LIMIT ?2) AS next";
    let upto = number(sql, params![last, stored(most)])?;
    match change {
        Connection::Sqlite(file) => {
            if is_another {
                let sql = "INSERT INTO found.message_texts(message_texts) VALUES ('delete-all')";
                file.execute(sql, [])?;
            }
            let sql = "INSERT INTO found.message_texts(rowid, content) \
                       SELECT id, content FROM messages WHERE id > ?1 AND id <= ?2 ORDER BY id";
            file.execute(sql, [last, upto])?;
        }
        // It searches the messages themselves.
        #[cfg(feature = "postgres")]
        Connection::Server(_) => {}
    }
    change.execute(&format!("DELETE FROM {}", index.progress), params![])?;
    let sql = format!("INSERT INTO {} (last_message) VALUES (?1)", index.progress);
    change.execute(&sql, params![upto])?;
    let left = number("SELECT count(*) FROM messages WHERE id > ?1", params![upto])?;
    Ok(left.unsigned_abs())
}

/// One search.
struct Look<'a> {
    connection: &'a Connection,
    index: Index,
    project: &'a str,
    words: &'a SearchWords,
    most: usize,
}

impl Look<'_> {
    /// Returns a condition that a text has all words, for the values of [`Look::find`].
    fn has_words(&self, text: &str) -> String {
        let has = |place: usize| match self.connection {
            Connection::Sqlite(_) => format!("has_words({text}, ?{place})"),
            #[cfg(feature = "postgres")]
            Connection::Server(_) => format!("{text} ~ ?{place}"),
        };
        (3..3 + self.wanted().len()).map(has).collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the values of the words: in SQLite all of them, in a server a pattern for each.
    fn wanted(&self) -> Vec<String> {
        let words = self.words.words();
        match self.connection {
            Connection::Sqlite(_) => vec![letters::wanted(words)],
            #[cfg(feature = "postgres")]
            Connection::Server(_) => words.iter().map(|word| letters::pattern(word)).collect(),
        }
    }

    /// Returns what a statement finds, by the project, the limit and the words.
    fn find(
        &self,
        sql: &str,
        read: impl FnMut(&Row<'_>) -> driver::Result<SearchHit>,
    ) -> driver::Result<Vec<SearchHit>> {
        let wanted = self.wanted();
        let most = stored(self.most);
        let mut values: Vec<&dyn ToSql> = vec![&self.project, &most];
        values.extend(wanted.iter().map(|wanted| wanted as &dyn ToSql));
        rows(self.connection, sql, &values, read)
    }

    fn runs(&self) -> driver::Result<Vec<SearchHit>> {
        let sql = format!(
            "SELECT id, branch, feature FROM runs WHERE project = ?1 AND {} \
             ORDER BY started_at DESC, id DESC LIMIT ?2",
            self.has_words("feature")
        );
        self.find(&sql, |row| {
            Ok(SearchHit {
                kind: SearchKind::Run,
                id: row.get(0)?,
                run: None,
                branch: row.get(1)?,
                title: row.get(2)?,
                text: String::new(),
            })
        })
    }

    fn findings(&self) -> driver::Result<Vec<SearchHit>> {
        let sql = format!(
            "SELECT seen.id, seen.run, seen.title, seen.text FROM {} AS seen \
             JOIN runs ON runs.id = seen.run WHERE runs.project = ?1 AND {} \
             ORDER BY runs.started_at DESC, seen.run DESC, seen.id LIMIT ?2",
            self.index.findings,
            self.has_words("(seen.title || ' ' || seen.text)")
        );
        self.find(&sql, |row| {
            Ok(SearchHit {
                kind: SearchKind::Finding,
                id: row.get(0)?,
                run: row.get(1).map(|Word(run)| Some(run))?,
                branch: None,
                title: row.get(2)?,
                text: row.get(3)?,
            })
        })
    }

    fn tasks(&self) -> driver::Result<Vec<SearchHit>> {
        let text =
            "(id || ' ' || content || ' ' || coalesce(body, '') || ' ' || coalesce(notes, ''))";
        let sql = format!(
            "SELECT id, branch, content, coalesce(notes, '') || ' ' || coalesce(body, '') \
             FROM tasks WHERE project = ?1 AND deleted_at IS NULL AND {} \
             ORDER BY updated_at DESC, id LIMIT ?2",
            self.has_words(text)
        );
        self.find(&sql, |row| {
            Ok(SearchHit {
                kind: SearchKind::Task,
                id: row.get(0)?,
                run: None,
                branch: row.get(1)?,
                title: row.get(2)?,
                text: row.get(3)?,
            })
        })
    }

    fn messages(&self) -> driver::Result<Vec<SearchHit>> {
        let read = |row: &Row<'_>| {
            let id: i64 = row.get(0)?;
            Ok(SearchHit {
                kind: SearchKind::Message,
                id: id.to_string(),
                run: None,
                branch: row.get(1)?,
                title: row.get(2)?,
                text: row.get(3)?,
            })
        };
        #[cfg(feature = "postgres")]
        if matches!(self.connection, Connection::Server(_)) {
            let wanted = self.words.words().iter().map(|word| letters::query(word));
            let wanted = wanted.collect::<Vec<_>>().join(" & ");
            let sql = "SELECT id, branch, from_agent, content FROM messages WHERE project = ?1 \
                       AND words_of(content) @@ to_tsquery('simple', ?3) \
                       ORDER BY id DESC LIMIT ?2";
            let values = params![self.project, stored(self.most), wanted];
            return rows(self.connection, sql, values, read);
        }
        let wanted = self.words.words().iter().map(|word| format!("\"{word}\"*"));
        let wanted = wanted.collect::<Vec<_>>().join(" AND ");
        let sql = "SELECT messages.id, messages.branch, messages.from_agent, messages.content \
                   FROM (SELECT rowid AS id FROM found.message_texts WHERE message_texts MATCH ?2 \
                   ORDER BY rowid DESC LIMIT ?3) AS hits JOIN messages ON messages.id = hits.id \
                   WHERE messages.project = ?1 ORDER BY messages.id DESC";
        let mut found = Vec::new();
        // The newest candidates may all belong to a busier project.
        for candidates in [self.most.saturating_mul(CANDIDATES), MOST_CANDIDATES] {
            let values = params![self.project, wanted, stored(candidates)];
            found = rows(self.connection, sql, values, read)?;
            if found.len() >= self.most {
                break;
            }
        }
        found.truncate(self.most);
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
