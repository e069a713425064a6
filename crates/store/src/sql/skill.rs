//! Skills' history and pins in SQL.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::skill::SkillId;
use jiff::Timestamp;

use super::row::{Time, Word, one_of};
use super::{SqlStore, failed};
use crate::error::StoreError;
use crate::skill::{Injection, SkillStore};
use crate::sql::driver::{self, Connection, Row, params};

impl SkillStore for SqlStore {
    fn record_injection(&self, scope: &Scope, injection: &Injection) -> Result<(), StoreError> {
        let sql = "INSERT INTO skill_history (project, branch, agent, plan_file, task_id, skill, \
                   version, sha256, mode, injected_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let values = params![
            scope.project,
            scope.branch,
            injection.agent.as_str(),
            injection.plan_file,
            injection.task_id,
            injection.skill.as_ref().map_or("", SkillId::as_str),
            injection.version,
            injection.sha256,
            injection.mode,
            Time(injection.injected_at),
        ];
        self.change("record the skill", sql, values).map(drop)
    }

    fn last_injection(
        &self,
        scope: &Scope,
        agent: &AgentName,
        plan: Option<&str>,
    ) -> Result<Option<Injection>, StoreError> {
        self.last(scope, Some(agent), plan, None)
    }

    fn last_injection_of(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
        plan: Option<&str>,
        skill: &SkillId,
    ) -> Result<Option<Injection>, StoreError> {
        self.last(scope, agent, plan, Some(skill))
    }

    fn use_skill(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
        skill: Option<&SkillId>,
    ) -> Result<(), StoreError> {
        let agent = agent.map_or("", AgentName::as_str);
        let doing = "keep the skill";
        let Some(skill) = skill else {
            let sql = "DELETE FROM skill_uses WHERE project = ?1 AND branch = ?2 AND agent = ?3";
            let values = params![scope.project, scope.branch, agent];
            return self.change(doing, sql, values).map(drop);
        };
        let sql = "INSERT INTO skill_uses (project, branch, agent, skill) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (project, branch, agent) DO UPDATE SET skill = excluded.skill";
        let values = params![scope.project, scope.branch, agent, skill.as_str()];
        self.change(doing, sql, values).map(drop)
    }

    fn used_skill(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
    ) -> Result<Option<SkillId>, StoreError> {
        let sql = "SELECT skill FROM skill_uses WHERE project = ?1 AND branch = ?2 AND agent = ?3";
        let values = params![scope.project, scope.branch, agent.map_or("", AgentName::as_str)];
        let read = |row: &Row<'_>| one_of(row, "skill", |id| SkillId::parse(id).ok());
        self.read_first("read the skill", sql, values, read)
    }

    fn pin(&self, scope: &Scope, skill: &SkillId, version: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO skill_pins (project, branch, skill, version) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (project, branch, skill) DO UPDATE SET version = excluded.version";
        let Scope { project, branch } = scope;
        let pin = || {
            let transaction = self.begin()?;
            transaction.execute(sql, params![project, branch, skill.bare(), version])?;
            // An earlier injection would otherwise take precedence.
            let release = "UPDATE skill_history SET released_at = injected_at \
                           WHERE project = ?1 AND branch = ?2 AND released_at IS NULL \
                           AND (skill = ?3 OR skill LIKE '%:' || ?3)";
            transaction.execute(release, params![project, branch, skill.bare()])?;
            transaction.commit()
        };
        pin().map_err(failed("pin the skill"))
    }

    fn unpin(&self, scope: &Scope, skill: &SkillId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM skill_pins WHERE project = ?1 AND branch = ?2 AND skill = ?3";
        let values = params![scope.project, scope.branch, skill.bare()];
        let removed = self.change("unpin the skill", sql, values)?;
        Ok(removed > 0)
    }

    fn pinned(&self, scope: &Scope, skill: &SkillId) -> Result<Option<String>, StoreError> {
        let sql =
            "SELECT version FROM skill_pins WHERE project = ?1 AND branch = ?2 AND skill = ?3";
        let values = params![scope.project, scope.branch, skill.bare()];
        self.read_first("read the pin", sql, values, |row| row.get(0))
    }
}

impl SqlStore {
    fn last(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
        plan: Option<&str>,
        skill: Option<&SkillId>,
    ) -> Result<Option<Injection>, StoreError> {
        // Only what the caller names is a condition: the index helps with an equation, not with a choice, and
        // the history grows with every wake-up.
        let of_agent = agent.map_or("", |_| "AND agent = ?3");
        let of_skill = skill.map_or("", |_| "AND skill = ?4 AND released_at IS NULL");
        let sql = format!(
            "SELECT * FROM skill_history WHERE project = ?1 AND branch = ?2 {of_agent} \
             AND plan_file IS ?5 {of_skill} ORDER BY id DESC LIMIT 1"
        );
        let skill = skill.map(SkillId::as_str);
        let agent = agent.map(AgentName::as_str);
        let values = params![scope.project, scope.branch, agent, skill, plan];
        self.read_first("read the skill history", &sql, values, read_injection)
    }
}

/// Lets the versions go that agents had for a plan, once nothing of it is open any more.
pub(super) fn release_pins(
    connection: &Connection,
    scope: &Scope,
    plan: Option<&str>,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "UPDATE skill_history SET released_at = ?4 \
               WHERE project = ?1 AND branch = ?2 AND plan_file IS ?3 AND released_at IS NULL \
               AND NOT EXISTS (SELECT 1 FROM tasks \
                 WHERE project = ?1 AND branch = ?2 AND plan_file IS ?3 \
                 AND deleted_at IS NULL AND status IN ('pending', 'in_progress'))";
    let values = params![scope.project, scope.branch, plan, Time(now)];
    connection.execute(sql, values).map(drop)
}

pub(super) fn read_injection(row: &Row<'_>) -> driver::Result<Injection> {
    Ok(Injection {
        agent: row.get("agent").map(|Word(name)| name)?,
        plan_file: row.get("plan_file")?,
        task_id: row.get("task_id")?,
        skill: match row.get::<_, String>("skill")?.as_str() {
            "" => None,
            _ => Some(one_of(row, "skill", |id| SkillId::parse(id).ok())?),
        },
        version: row.get("version")?,
        sha256: row.get("sha256")?,
        mode: row.get("mode")?,
        injected_at: row.get("injected_at").map(|Time(at)| at)?,
    })
}
