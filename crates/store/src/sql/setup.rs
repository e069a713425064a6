//! Setups in SQL.

use convoke_domain::client::Client;
use convoke_domain::setup::{SetupChange, SetupStep};
use jiff::Timestamp;

use super::row::Time;
use super::{SqlStore, failed};
use crate::error::StoreError;
use crate::setup::SetupStore;
use crate::sql::driver::{self, Row, params};

impl SetupStore for SqlStore {
    fn remember_setup(
        &self,
        project_folder: &str,
        step: &SetupStep,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO setups \
                   (folder, path, change, client, original, written, made_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (client, original, written) = match &step.change {
            SetupChange::Folder => (None, None, None),
            SetupChange::Hooks(client) | SetupChange::Binding(client) => {
                (Some(client.name()), None, None)
            }
            SetupChange::Guidance { original, written } => {
                (None, original.as_deref(), Some(written.as_str()))
            }
            SetupChange::Configuration { written } => (None, None, Some(written.as_str())),
        };
        let change = step.change.name();
        let values =
            params![project_folder, step.path, change, client, original, written, Time(at)];
        let remember = || {
            let transaction = self.begin()?;
            // The step comes behind those that were taken before it.
            let replaced = format!(
                "DELETE FROM setups WHERE folder = ?1 AND path = ?2 AND member = {}",
                transaction.me()
            );
            transaction.execute(&replaced, params![project_folder, step.path])?;
            transaction.execute(sql, values)?;
            transaction.commit()
        };
        remember().map_err(failed("remember the setup"))
    }

    fn setup(&self, project_folder: &str) -> Result<Vec<SetupStep>, StoreError> {
        let me = self.connection().me();
        let sql = format!(
            "SELECT path, change, client, original, written FROM setups \
             WHERE folder = ?1 AND member = {me} ORDER BY id"
        );
        self.read_all("find the setup", &sql, params![project_folder], step)
    }

    fn forget_setup(&self, project_folder: &str, path: &str) -> Result<(), StoreError> {
        let me = self.connection().me();
        let sql = format!("DELETE FROM setups WHERE folder = ?1 AND path = ?2 AND member = {me}");
        self.change("forget the setup", &sql, params![project_folder, path]).map(drop)
    }
}

fn step(row: &Row<'_>) -> driver::Result<SetupStep> {
    let unknown = |column: usize, name: String| {
        driver::Error::strange(column, format!("`{name}` is not known here"))
    };
    let client = || {
        let client: String = row.get(2)?;
        Client::parse(&client).ok_or_else(|| unknown(2, client))
    };
    let (name, written): (String, Option<String>) = (row.get(1)?, row.get(4)?);
    let written = written.unwrap_or_default();
    let change = match name.as_str() {
        "folder" => SetupChange::Folder,
        "guidance" => SetupChange::Guidance { original: row.get(3)?, written },
        "configuration" => SetupChange::Configuration { written },
        "hooks" => SetupChange::Hooks(client()?),
        "binding" => SetupChange::Binding(client()?),
        _ => return Err(unknown(1, name)),
    };
    Ok(SetupStep { path: row.get(0)?, change })
}
