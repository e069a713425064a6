//! The user's rules in SQL.

use convoke_domain::pin::{Pin, PinText};
use convoke_domain::scope::Scope;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use super::row::{Time, Word, one_of};
use super::task::{find, no_task};
use super::{SqlStore, failed};
use crate::error::StoreError;
use crate::pin::{NewPin, PinReceipt, PinStore, Reach};
use crate::sql::driver::{self, Row, params};

impl PinStore for SqlStore {
    fn add_pin(&self, scope: &Scope, pin: &NewPin<'_>, now: Timestamp) -> Result<Pin, StoreError> {
        let failed = failed("add the rule");
        let transaction = self.begin().map_err(&failed)?;
        if let Some(id) = pin.task {
            find(&transaction, scope, id)?.ok_or_else(|| no_task(id))?;
        }
        let add = || {
            let sql = "INSERT INTO pins (project, branch, task_branch, task_id, plan_file, text, \
                       until, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING *";
            let values = params![
                scope.project,
                (pin.reach == Reach::Branch).then_some(&scope.branch),
                pin.task.map(|_| &scope.branch),
                pin.task.map(TaskId::as_str),
                pin.plan,
                pin.text.as_str(),
                pin.until.map(Time),
                Time(now),
            ];
            transaction.query_row(sql, values, read_pin)
        };
        let added = add().map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(added)
    }

    fn pins(&self, scope: &Scope, now: Timestamp) -> Result<Vec<Pin>, StoreError> {
        let sql = "SELECT * FROM pins WHERE project = ?1 AND removed_at IS NULL \
                   AND (branch IS NULL OR branch = ?2) AND (until IS NULL OR until > ?3) \
                   AND (task_id IS NULL OR EXISTS (SELECT 1 FROM tasks \
                     WHERE tasks.project = pins.project AND tasks.branch = pins.task_branch \
                     AND tasks.id = pins.task_id AND deleted_at IS NULL \
                     AND status IN ('pending', 'in_progress'))) ORDER BY id";
        let values = params![scope.project, scope.branch, Time(now)];
        self.read_all("read the rules", sql, values, read_pin)
    }

    fn all_pins(&self, project: &str) -> Result<Vec<Pin>, StoreError> {
        let sql = "SELECT * FROM pins WHERE project = ?1 AND removed_at IS NULL ORDER BY id";
        self.read_all("read the rules", sql, params![project], read_pin)
    }

    fn remove_pin(&self, project: &str, id: i64, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE pins SET removed_at = ?3 \
                   WHERE project = ?1 AND id = ?2 AND removed_at IS NULL";
        let removed = self.change("remove the rule", sql, params![project, id, Time(now)])?;
        Ok(removed > 0)
    }

    fn resume_plan(&self, scope: &Scope, plan: &str, now: Timestamp) -> Result<usize, StoreError> {
        let sql = "UPDATE pins SET removed_at = ?4 WHERE project = ?1 AND branch = ?2 \
                   AND plan_file = ?3 AND removed_at IS NULL";
        let values = params![scope.project, scope.branch, plan, Time(now)];
        self.change("resume the plan", sql, values)
    }

    fn pins_delivered(
        &self,
        pins: &[i64],
        client: &str,
        session: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let record = || {
            let transaction = self.begin()?;
            let sql = "INSERT INTO pin_receipts (pin_id, client, session_id, at) \
                       VALUES (?1, ?2, ?3, ?4) ON CONFLICT (pin_id, client, session_id) DO UPDATE SET at = excluded.at";
            for pin in pins {
                transaction.execute(sql, params![pin, client, session, Time(now)])?;
            }
            transaction.commit()
        };
        record().map_err(failed("record that the rules were delivered"))
    }

    fn last_receipt(&self, pin: i64) -> Result<Option<PinReceipt>, StoreError> {
        let sql = "SELECT client, session_id, at, (SELECT max(arrived_at) FROM deliveries \
                     WHERE deliveries.client = pin_receipts.client \
                     AND deliveries.session_id = pin_receipts.session_id \
                     AND arrived_at >= pin_receipts.at) AS arrived_at \
                   FROM pin_receipts WHERE pin_id = ?1 ORDER BY at DESC LIMIT 1";
        let read = |row: &Row<'_>| {
            let arrived: Option<Time> = row.get("arrived_at")?;
            Ok(PinReceipt {
                client: row.get("client")?,
                session: row.get("session_id")?,
                at: row.get("at").map(|Time(at)| at)?,
                arrived_at: arrived.map(|Time(at)| at),
            })
        };
        self.read_first("read the receipt", sql, params![pin], read)
    }
}

pub(super) fn read_pin(row: &Row<'_>) -> driver::Result<Pin> {
    let task: Option<Word<TaskId>> = row.get("task_id")?;
    let until: Option<Time> = row.get("until")?;
    Ok(Pin {
        id: row.get("id")?,
        text: one_of(row, "text", |text| PinText::parse(text).ok())?,
        branch: row.get("branch")?,
        task: task.map(|Word(id)| id),
        plan: row.get("plan_file")?,
        until: until.map(|Time(at)| at),
        created_at: row.get("created_at").map(|Time(at)| at)?,
    })
}
