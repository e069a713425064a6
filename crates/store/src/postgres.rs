//! The store of a team: a PostgreSQL database that many machines share.
//!
//! Each opening has one connection. Writers take turns by a lock of the whole store, so that a change of
//! several statements sees nothing that another one is about to change: the rules of the store hold for
//! a team as they hold for one user. Readers never wait.

mod cell;
mod connect;
mod dialect;
mod failure;
mod nul;
mod schema;
mod server;
pub(crate) mod team;

pub(crate) use self::cell::ServerRow;
pub(crate) use self::failure::ServerFailure;
pub(crate) use self::schema::KNOWN;
pub(crate) use self::server::Server;

use crate::address::ServerAddress;
use crate::backend::Opening;
use crate::error::StoreError;
use crate::location::{Place, StoreLocation};
use crate::sql::driver::Connection;
use crate::sql::{SqlStore, driver, failure as store_failure};

/// Opens the store on a server.
pub(crate) fn open(address: &ServerAddress, opening: Opening) -> Result<SqlStore, StoreError> {
    let not_opened = |error: driver::Error| store_failure::not_opened(location(address), error);
    let server = Server::new(address.clone(), opening).map_err(|error| not_opened(error.into()))?;
    match opening {
        Opening::Whole | Opening::Hurried(_) | Opening::Within { .. } => {
            schema::bring_up_to_date(&server, address)?;
        }
        Opening::ToLook(_) => schema::check_present(&server, address)?,
    }
    Ok(SqlStore::new(Connection::Server(Box::new(server))))
}

/// Returns the version of the schema on a server; `None` if there is no store.
pub(crate) fn schema_version(address: &ServerAddress) -> Result<Option<usize>, StoreError> {
    let not_opened = |error: driver::Error| store_failure::not_opened(location(address), error);
    let server = Server::new(address.clone(), Opening::Whole);
    let server = server.map_err(|error| not_opened(error.into()))?;
    schema::version(&server).map_err(not_opened)
}

fn location(address: &ServerAddress) -> StoreLocation {
    StoreLocation(Place::Server(Box::new(Ok(address.clone()))))
}
