//! The schema of a server's tables, and its migrations.

use super::location;
use super::server::{Server, WRITERS};
use crate::address::ServerAddress;
use crate::error::StoreError;
use crate::sql::driver::{Error, OptionalExtension, Result};
use crate::sql::failure::not_opened;
use crate::sqlite;

/// The first version that a server can have. Numbers are those of SQLite's schema.
const FIRST: usize = 22;

/// One script for each version from the first on. A script that was released never changes.
const MIGRATIONS: [&str; 6] = [
    include_str!("0022.sql"),
    include_str!("0023.sql"),
    include_str!("0024.sql"),
    include_str!("0025.sql"),
    include_str!("0026.sql"),
    include_str!("0027.sql"),
];

/// Who may read and write what, in a store that a team uses. It runs again after each migration.
const TEAM: &str = include_str!("team.sql");

pub(crate) const KNOWN: usize = FIRST + MIGRATIONS.len() - 1;

// A store moves between both, so neither may have a version that the other lacks.
const _: () = assert!(KNOWN == sqlite::schema::KNOWN, "a migration of one backend is missing");

/// The lock by which programs that bring the schema up to date take turns.
const MIGRATING: i64 = WRITERS + 1;

/// Returns the version of the schema; `None` if the database holds nothing.
pub(super) fn version(server: &Server) -> Result<Option<usize>> {
    // Not by `to_regclass`: within a transaction that waited for its turn, the server may answer it from
    // what it knew before.
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_tables \
               WHERE schemaname = current_schema() AND tablename = 'convoke_schema')";
    if !server.first(sql, &[], |row| row.get::<_, bool>(0))? {
        return Ok(None);
    }
    let sql = "SELECT version FROM convoke_schema";
    let version: Option<u32> = server.first(sql, &[], |row| row.get(0)).optional()?;
    Ok(version.map(|version| version as usize))
}

/// Applies the scripts that a store does not have yet.
pub(super) fn bring_up_to_date(
    server: &Server,
    address: &ServerAddress,
) -> std::result::Result<(), StoreError> {
    let wrong = |error: Error| not_opened(location(address), error);
    match version(server).map_err(wrong)? {
        Some(KNOWN) => return Ok(()),
        Some(found) if found > KNOWN => return Err(newer(address, found)),
        Some(found) if !is_owner(server).map_err(wrong)? => {
            let location = location(address);
            return Err(StoreError::OwnerUpdates { location, found, known: KNOWN });
        }
        Some(_) | None => {}
    }
    server.begin_write().map_err(wrong)?;
    let migrated = migrate(server, address);
    if migrated.is_err() {
        server.rollback();
    }
    migrated
}

/// Brings the schema up to date within the caller's transaction, and ends that.
fn migrate(server: &Server, address: &ServerAddress) -> std::result::Result<(), StoreError> {
    let wrong = |error: Error| not_opened(location(address), error);
    server.execute_batch(&format!("SELECT pg_advisory_xact_lock({MIGRATING})")).map_err(wrong)?;
    // Another program may have been faster.
    let found = version(server).map_err(wrong)?;
    let have = match found {
        Some(found) if found > KNOWN => return Err(newer(address, found)),
        Some(found) => found,
        None if is_empty(server).map_err(wrong)? => FIRST - 1,
        None => return Err(StoreError::Foreign { location: location(address) }),
    };
    for script in MIGRATIONS.iter().skip(have + 1 - FIRST) {
        server.execute_batch(script).map_err(wrong)?;
    }
    let mark = if found.is_none() {
        format!(
            "CREATE TABLE convoke_schema (version BIGINT NOT NULL); \
             INSERT INTO convoke_schema VALUES ({KNOWN})"
        )
    } else {
        format!("UPDATE convoke_schema SET version = {KNOWN}")
    };
    server.execute_batch(&mark).map_err(wrong)?;
    if found.is_some() && has_team(server).map_err(wrong)? {
        set_rights(server).map_err(wrong)?;
    }
    server.commit().map_err(wrong)
}

/// Tells whether the user of the connection owns the store's tables.
pub(super) fn is_owner(server: &Server) -> Result<bool> {
    let sql = "SELECT pg_has_role(session_user, relowner, 'USAGE') FROM pg_class \
               WHERE relname = 'convoke_schema' \
               AND relnamespace = to_regnamespace(current_schema()::text)";
    server.first(sql, &[], |row| row.get(0))
}

/// Tells whether the store has a team.
pub(super) fn has_team(server: &Server) -> Result<bool> {
    server.first("SELECT EXISTS (SELECT 1 FROM team_group)", &[], |row| row.get(0))
}

/// Gives members their rights, within the caller's transaction.
pub(super) fn set_rights(server: &Server) -> Result<()> {
    server.execute_batch(TEAM)
}

/// Checks that a store can be read as it is.
pub(super) fn check_present(
    server: &Server,
    address: &ServerAddress,
) -> std::result::Result<(), StoreError> {
    let found = version(server).map_err(|error| not_opened(location(address), error))?;
    match found.unwrap_or_default() {
        KNOWN => Ok(()),
        found if found > KNOWN => Err(newer(address, found)),
        found => Err(StoreError::Older { location: location(address), found, known: KNOWN }),
    }
}

fn newer(address: &ServerAddress, found: usize) -> StoreError {
    StoreError::Newer { location: location(address), found, known: KNOWN }
}

/// A schema with tables of others is not Convoke's to fill.
fn is_empty(server: &Server) -> Result<bool> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM pg_class \
               WHERE relnamespace = to_regnamespace(current_schema()::text))";
    server.first(sql, &[], |row| row.get(0))
}
