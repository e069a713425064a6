//! Installs in SQL.

use convoke_domain::client::Client;

use super::SqlStore;
use super::row::Time;
use crate::error::StoreError;
use crate::install::{Install, InstallStore};
use crate::sql::driver::params;

impl InstallStore for SqlStore {
    fn remember_install(
        &self,
        path: &str,
        client: Client,
        install: &Install,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO installs (path, client, original, installed, installed_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (member, path) DO UPDATE SET \
                   original = excluded.original, installed = excluded.installed, \
                   installed_at = excluded.installed_at";
        let Install { original, installed, installed_at } = install;
        let values = params![path, client.name(), original, installed, Time(*installed_at)];
        self.change("remember the install", sql, values).map(drop)
    }

    fn install(&self, path: &str) -> Result<Option<Install>, StoreError> {
        let me = self.connection().me();
        let sql = format!(
            "SELECT original, installed, installed_at FROM installs \
             WHERE path = ?1 AND member = {me}"
        );
        self.read_first("find the install", &sql, params![path], |row| {
            let installed_at = row.get(2).map(|Time(at)| at)?;
            Ok(Install { original: row.get(0)?, installed: row.get(1)?, installed_at })
        })
    }

    fn forget_install(&self, path: &str) -> Result<(), StoreError> {
        let me = self.connection().me();
        let sql = format!("DELETE FROM installs WHERE path = ?1 AND member = {me}");
        self.change("forget the install", &sql, params![path]).map(drop)
    }
}
