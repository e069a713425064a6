//! One connection to a server, as the store's code uses it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;
use tokio_postgres::{Client, Error as ClientError};

use super::cell::ServerRow;
use super::connect::connect;
use super::dialect::Statement;
use super::failure::ServerFailure;
use crate::address::ServerAddress;
use crate::backend::Opening;
use crate::sql::driver::{Error, Result, Row, ToSql};

/// How long a command waits for its turn to write, and for any answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long a command waits for a connection.
const CONNECTING: Duration = Duration::from_secs(15);

/// How long the server may need for an answer beyond the wait for other writers.
const WORKING: Duration = Duration::from_mins(2);

/// The lock by which writers take turns: the letters `Conv`.
pub(super) const WRITERS: i64 = 0x436f_6e76;

/// How many rows of a long answer are fetched together.
const AT_ONCE: u32 = 1000;

/// A connection to a server. It is made again when it was lost, never within a transaction.
pub(crate) struct Server {
    address: ServerAddress,
    runtime: Runtime,
    client: RefCell<Option<Client>>,
    is_in_transaction: Cell<bool>,
    /// How many long answers are being read.
    cursors: Cell<u32>,
    limits: Limits,
    /// When all answers must be there, and how long that was from the beginning.
    deadline: Cell<Option<(Instant, Duration)>>,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    connecting: Duration,
    /// The wait for other writers.
    turn: Duration,
    answer: Duration,
}

/// Whether a statement may be sent again when its connection was lost before the answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// It only reads, or begins.
    Harmless,
    /// It may have changed something.
    Never,
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Connects to a server.
    pub(super) fn new(
        address: ServerAddress,
        opening: Opening,
    ) -> std::result::Result<Self, ServerFailure> {
        let (limits, deadline) = match opening {
            Opening::Whole => {
                let answer = PATIENCE + WORKING;
                (Limits { connecting: CONNECTING, turn: PATIENCE, answer }, None)
            }
            Opening::Hurried(patience) | Opening::ToLook(patience) => {
                (Limits { connecting: patience, turn: patience, answer: patience }, None)
            }
            Opening::Within { limit, patience } => {
                let limits = Limits { connecting: patience, turn: patience, answer: patience };
                (limits, Some((Instant::now() + limit, limit)))
            }
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let server = Self {
            address,
            runtime: runtime.map_err(ServerFailure::Runtime)?,
            client: RefCell::new(None),
            is_in_transaction: Cell::new(false),
            cursors: Cell::new(0),
            limits,
            deadline: Cell::new(deadline),
        };
        *server.client.borrow_mut() = Some(server.connect()?);
        Ok(server)
    }

    fn connect(&self) -> std::result::Result<Client, ServerFailure> {
        let limit = self.limits.connecting;
        let left = self.left(limit);
        let connected = self
            .runtime
            .block_on(async { tokio::time::timeout(left, connect(&self.address)).await });
        connected.unwrap_or_else(|_| Err(self.late(limit)))
    }

    /// Limits the time for all further answers together; `None` ends the limit.
    pub(crate) fn limit_answers(&self, limit: Option<Duration>) {
        self.deadline.set(limit.map(|limit| (Instant::now() + limit, limit)));
    }

    /// Returns how much is left of a limit.
    fn left(&self, limit: Duration) -> Duration {
        let left = |(deadline, _): (Instant, _)| deadline.duration_since(Instant::now());
        self.deadline.get().map_or(limit, |deadline| limit.min(left(deadline)))
    }

    fn late(&self, limit: Duration) -> ServerFailure {
        let all = self.deadline.get().map(|(_, all)| all.min(limit));
        ServerFailure::Late(all.unwrap_or(limit))
    }

    /// Runs one exchange with the server. A connection that was lost is made again: before the exchange,
    /// and after it if it may be repeated.
    #[expect(clippy::needless_pass_by_value, reason = "callers write the exchange in its place")]
    fn exchange<T>(
        &self,
        repeat: Repeat,
        work: impl AsyncFn(&Client) -> std::result::Result<T, ClientError>,
    ) -> std::result::Result<T, ServerFailure> {
        let mut client = self.client.borrow_mut();
        let mut may_repeat = repeat == Repeat::Harmless && !self.is_in_transaction.get();
        loop {
            if client.as_ref().is_none_or(Client::is_closed) {
                // What a lost connection had begun, the server has undone.
                if self.is_in_transaction.get() {
                    return Err(ServerFailure::Interrupted);
                }
                let unreached = |why| ServerFailure::Unreached(Box::new(why));
                *client = Some(self.connect().map_err(unreached)?);
            }
            let Some(open) = client.as_ref() else { return Err(ServerFailure::Interrupted) };
            let limit = self.limits.answer;
            let left = self.left(limit);
            let answer =
                self.runtime.block_on(async { tokio::time::timeout(left, work(open)).await });
            let failure = match answer {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => ServerFailure::of(error),
                Err(_) => self.late(limit),
            };
            if !failure.is_lost() {
                return Err(failure);
            }
            *client = None;
            // A server that is late once would only be late again.
            if !may_repeat || matches!(failure, ServerFailure::Late(_)) {
                return Err(failure);
            }
            may_repeat = false;
        }
    }

    /// Returns how a change of one statement failed: if the connection was lost, it may have been made.
    fn unless_confirmed(&self, failure: ServerFailure) -> Error {
        let was_sent = !matches!(failure, ServerFailure::Interrupted | ServerFailure::Unreached(_));
        let is_unknown = failure.is_lost() && was_sent && !self.is_in_transaction.get();
        if is_unknown {
            ServerFailure::Unconfirmed(Box::new(failure)).into()
        } else {
            failure.into()
        }
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize> {
        let statement = Statement::new(sql, values)?;
        let (sql, values) = (&statement.sql, statement.values());
        let changed = self
            .exchange(Repeat::Never, async |client| client.execute_typed(sql, &values).await)
            .map_err(|failure| self.unless_confirmed(failure))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs statements without values.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        self.exchange(Repeat::Never, async |client| client.batch_execute(sql).await)
            .map_err(|failure| self.unless_confirmed(failure))
    }

    /// Reads every row of an answer.
    pub(crate) fn query(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<impl Iterator<Item = ServerRow> + use<>> {
        let repeat = if sql.starts_with("SELECT") { Repeat::Harmless } else { Repeat::Never };
        let statement = Statement::new(sql, values)?;
        let (sql, values) = (&statement.sql, statement.values());
        let found = self.exchange(repeat, async |client| client.query_typed(sql, &values).await);
        let found = found.map_err(|failure| match repeat {
            Repeat::Harmless => failure.into(),
            Repeat::Never => self.unless_confirmed(failure),
        });
        Ok(found?.into_iter().map(ServerRow::new))
    }

    /// Reads the first row of an answer; without one it is an error.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let row = self.query(sql, values)?.next().ok_or_else(Error::no_row)?;
        read(&Row::Server(&row))
    }

    /// Reads every row of a long answer, some at a time. `read` may use the connection.
    pub(crate) fn each_row(
        &self,
        sql: &str,
        read: &mut dyn FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let is_alone = !self.is_in_transaction.get();
        if is_alone {
            self.begin_read()?;
        }
        let name = format!("convoke_{}", self.cursors.get());
        self.cursors.set(self.cursors.get() + 1);
        let walked = self.walk(&name, sql, read);
        self.cursors.set(self.cursors.get() - 1);
        if is_alone {
            self.rollback();
        }
        walked
    }

    fn walk(
        &self,
        name: &str,
        sql: &str,
        read: &mut dyn FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        self.execute_batch(&format!("DECLARE {name} NO SCROLL CURSOR FOR {sql}"))?;
        loop {
            let fetched = self.query(&format!("FETCH {AT_ONCE} FROM {name}"), &[])?;
            let mut count = 0;
            for row in fetched {
                count += 1;
                if !read(&Row::Server(&row))? {
                    return self.execute_batch(&format!("CLOSE {name}"));
                }
            }
            if count < AT_ONCE {
                return self.execute_batch(&format!("CLOSE {name}"));
            }
        }
    }

    /// Returns a number that changes when any change was kept. Which one is not asked: a look that finds
    /// nothing costs less than one that misses something.
    pub(crate) fn changes(&self) -> Result<i64> {
        let sql = "SELECT hashtextextended(CAST(pg_current_snapshot() AS TEXT), 0)";
        self.first(sql, &[], |row| row.get(0))
    }

    /// Begins a change, when no other writer is at it. The server ends a change whose program went away
    /// without a word, and writes every change through to its disk.
    pub(crate) fn begin_write(&self) -> Result<()> {
        let turn = self.left(self.limits.turn).as_millis().max(1);
        self.begin(&format!(
            "BEGIN; SET LOCAL lock_timeout = {turn}; \
             SET LOCAL idle_in_transaction_session_timeout = 60000; \
             SELECT set_config('synchronous_commit', 'on', true) \
             WHERE current_setting('synchronous_commit') = 'off'; \
             SELECT pg_advisory_xact_lock({WRITERS}); SET LOCAL lock_timeout = 0"
        ))
    }

    /// Begins a look at one state of the store.
    pub(crate) fn begin_read(&self) -> Result<()> {
        self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    fn begin(&self, sql: &str) -> Result<()> {
        let begun = self.exchange(Repeat::Harmless, async |client| client.batch_execute(sql).await);
        self.is_in_transaction.set(true);
        if begun.is_err() {
            self.rollback();
        }
        Ok(begun?)
    }

    pub(crate) fn commit(&self) -> Result<()> {
        let kept =
            self.exchange(Repeat::Never, async |client| client.batch_execute("COMMIT").await);
        self.is_in_transaction.set(false);
        kept.map_err(|failure| self.unless_confirmed(failure))
    }

    /// Undoes a change that is under way, if there is one. A lost connection has undone it.
    pub(crate) fn rollback(&self) {
        if self.is_in_transaction.get() {
            self.exchange(Repeat::Never, async |client| client.batch_execute("ROLLBACK").await)
                .ok();
            self.is_in_transaction.set(false);
        }
    }
}
