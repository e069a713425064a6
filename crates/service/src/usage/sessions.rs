//! The usage of every session, by the clients' own records.

use convoke_domain::client::Client;
use convoke_domain::session_usage::{
    SessionGrouping, SessionSum, SessionSums, StatedSum, UsageSince,
};
use convoke_engine::transcript::usage::{RecordCounts, SessionUse, used_by_sessions};
use serde::Serialize;

use super::today;
use crate::failure::Failure;
use crate::session::Session;
use crate::settings::wake;

/// Which answers to sum, and how.
#[derive(Debug, Clone, Copy)]
pub struct SessionUsageRequest {
    /// The key by which answers are grouped.
    pub by: SessionGrouping,
    /// Only answers of this day of `wake.clock` or later.
    pub since: Option<UsageSince>,
}

/// The usage of every session, by the clients' own records.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionUsageReport {
    /// The key by which answers are grouped.
    pub by: &'static str,
    /// The first day that counts; none if all do.
    pub since: Option<String>,
    /// A sum for each value of the key.
    pub rows: Vec<SessionUsageRow>,
    /// The sum of all of them.
    pub total: SessionUsageRow,
    /// The clients whose records Convoke found.
    pub clients: Vec<&'static str>,
    /// The clients that are in use here and whose records hold no usage.
    pub clients_without_usage: Vec<&'static str>,
    /// How many files and databases Convoke read.
    pub files: u64,
    /// How many files, folders and databases could not be read.
    pub unreadable: u64,
    /// How many lines and rows are damaged and were skipped.
    pub broken_lines: u64,
    /// How many lines are too long to read and were skipped.
    pub long_lines: u64,
    /// How many answers have no time and are left out because only some days count.
    pub undated: u64,
}

/// The usage of some answers. A fork or a resumed session repeats answers; each counts once.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionUsageRow {
    /// The key's value; none if unknown.
    pub name: Option<String>,
    /// How many sessions the answers are from.
    pub sessions: usize,
    /// How many answers there are.
    pub answers: u64,
    /// How many of them state no usage.
    pub without_usage: u64,
    /// Tokens of the prompts, with those that a cache served or took in.
    pub input_tokens: u64,
    /// Of these, tokens from a cache.
    pub cached_tokens: StatedAmount,
    /// Of these, tokens written to a cache.
    pub cache_write_tokens: StatedAmount,
    /// Tokens of the answers, with those of reasoning.
    pub output_tokens: u64,
    /// Of these, tokens of reasoning.
    pub reasoning_tokens: StatedAmount,
    /// Money, in millionths of a dollar.
    pub micro_dollars: StatedAmount,
}

/// A sum of a count that not every record states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatedAmount {
    /// The sum of what records state; none if no record states it.
    pub amount: Option<u64>,
    /// How many answers do not state it.
    pub unstated: u64,
}

/// Adds up what all sessions used, by the clients' own records. It opens no store.
pub fn session_usage(
    session: &Session,
    request: &SessionUsageRequest,
) -> Result<SessionUsageReport, Failure> {
    let clock = wake::settings(session)?.clock;
    let since = request.since.map(|since| since.day(today(session, clock)));
    let SessionUse { tally, counts, clients, without_records } =
        used_by_sessions(&session.environment.client_homes());
    let SessionSums { groups, total, undated } = tally.sums(request.by, clock, since);
    let RecordCounts { files, unreadable, broken_lines, long_lines } = counts;
    let names = |clients: Vec<Client>| clients.into_iter().map(Client::name).collect();
    let row = |(name, sum): (Option<String>, SessionSum)| SessionUsageRow::new(name, &sum);
    Ok(SessionUsageReport {
        by: request.by.name(),
        since: since.map(|day| day.to_string()),
        rows: groups.into_iter().map(row).collect(),
        total: SessionUsageRow::new(None, &total),
        clients: names(clients),
        clients_without_usage: names(without_records),
        files,
        unreadable,
        broken_lines,
        long_lines,
        undated,
    })
}

impl SessionUsageRow {
    fn new(name: Option<String>, sum: &SessionSum) -> Self {
        let stated = |StatedSum { amount, unstated }: StatedSum| StatedAmount { amount, unstated };
        Self {
            name,
            sessions: sum.sessions.len(),
            answers: sum.answers,
            without_usage: sum.without_usage,
            input_tokens: sum.input,
            cached_tokens: stated(sum.cached),
            cache_write_tokens: stated(sum.cache_writes),
            output_tokens: sum.output,
            reasoning_tokens: stated(sum.reasoning),
            micro_dollars: stated(sum.micro_dollars),
        }
    }
}
