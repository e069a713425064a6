//! Projects in SQL.

mod merge;

use convoke_domain::repository::RepositoryId;
use jiff::{SignedDuration, Timestamp};

use self::merge::merge;
use super::row::Time;
use super::{SqlStore, failed, first_row};
use crate::error::StoreError;
use crate::project::{
    KnownProject, MOST_COUNTED, MergedProject, ProjectStore, ProjectUse, REPLACED, WaitingCounts,
};
use crate::sql::driver::{self, Connection, Row, params};

/// A use is written down at most this often.
const AN_HOUR: SignedDuration = SignedDuration::from_hours(1);

impl ProjectStore for SqlStore {
    fn project_name(&self, path: &str, wanted: &str) -> Result<String, StoreError> {
        let name = || {
            let known = name_of(&self.connection(), path)?;
            if let Some(name) = known {
                return Ok(name);
            }
            let transaction = self.begin()?;
            // Another process may have been faster.
            let name = match name_of(&transaction, path)? {
                Some(name) => name,
                None => add(&transaction, path, wanted)?,
            };
            transaction.commit()?;
            Ok(name)
        };
        name().map_err(failed("name the project"))
    }

    fn project_at(&self, path: &str) -> Result<Option<KnownProject>, StoreError> {
        let sql = "SELECT * FROM projects WHERE path = ?1";
        self.read_first("find the project", sql, params![path], read_project)
    }

    fn projects_with_folder_id(&self, id: &str) -> Result<Vec<KnownProject>, StoreError> {
        let sql = "SELECT * FROM projects WHERE folder_id = ?1 ORDER BY name";
        self.read_all("find the project", sql, params![id], read_project)
    }

    fn keep_folder_id(&self, project: &str, id: &str) -> Result<(), StoreError> {
        let sql = "UPDATE projects SET folder_id = ?2 WHERE name = ?1";
        self.change("keep the id of the project's folder", sql, params![project, id]).map(drop)
    }

    fn move_project(&self, project: &str, path: &str) -> Result<(), StoreError> {
        let sql = "UPDATE projects SET path = ?2 WHERE name = ?1 \
                   AND NOT EXISTS (SELECT 1 FROM projects WHERE path = ?2)";
        self.change("move the project", sql, params![project, path]).map(drop)
    }

    fn replace_project(&self, project: &KnownProject) -> Result<(), StoreError> {
        let failed = failed("take the folder from the project");
        let transaction = self.begin().map_err(&failed)?;
        let numbered = (2..).map(|number: u64| format!(" {number}"));
        let mut paths = std::iter::once(String::new())
            .chain(numbered)
            .map(|number| format!("{}{REPLACED}{number})", project.path));
        // Another process may have been faster: then the project is at that path no more.
        let sql = "UPDATE projects SET path = ?3 WHERE name = ?1 AND path = ?2";
        let free = paths.find_map(|path| match name_of(&transaction, &path) {
            Ok(None) => Some(Ok(path)),
            Ok(Some(_)) => None,
            Err(error) => Some(Err(error)),
        });
        if let Some(path) = free.transpose().map_err(&failed)? {
            let values = params![project.name, project.path, path];
            transaction.execute(sql, values).map_err(&failed)?;
        }
        transaction.commit().map_err(failed)
    }

    fn waiting(&self, project: &str, now: Timestamp) -> Result<WaitingCounts, StoreError> {
        let tasks = self.open_branches(project)?.iter().map(|(_, count)| count).sum();
        let sql = "SELECT (SELECT count(*) FROM pins WHERE project = ?1 AND removed_at IS NULL \
                     AND plan_file IS NULL AND (until IS NULL OR until > ?2)), \
                   (SELECT coalesce(sum(messages), 0) FROM unread_counts WHERE project = ?1)";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let counted =
            self.read_first("count what waits", sql, params![project, Time(now)], read)?;
        let (rules, messages) = counted.unwrap_or_default();
        Ok(WaitingCounts { tasks, rules, messages })
    }

    fn projects(&self) -> Result<Vec<KnownProject>, StoreError> {
        let sql = "SELECT * FROM projects ORDER BY last_used DESC NULLS LAST, name";
        self.read_all("list the projects", sql, &[], read_project)
    }

    fn repository_of(&self, project: &str) -> Result<Option<RepositoryId>, StoreError> {
        let sql = "SELECT roots, remote FROM projects WHERE name = ?1";
        let doing = "find the project's repository";
        self.read_first(doing, sql, params![project], read_repository).map(Option::flatten)
    }

    fn keep_repository(&self, project: &str, id: &RepositoryId) -> Result<(), StoreError> {
        let roots: Vec<_> = id.roots.iter().map(String::as_str).collect();
        let sql = "UPDATE projects SET roots = ?2, remote = ?3 WHERE name = ?1";
        let values = params![project, roots.join(" "), id.remote];
        self.change("keep the project's repository", sql, values).map(drop)
    }

    fn keep_use(&self, project: &str, now: Timestamp) -> Result<ProjectUse, StoreError> {
        let sql = "SELECT 1 FROM projects WHERE name = ?1 AND last_used > ?2";
        let long_ago = now.checked_sub(AN_HOUR).unwrap_or(now);
        let doing = "keep when the project was used";
        let values = params![project, Time(long_ago)];
        if self.read_first(doing, sql, values, |_| Ok(()))?.is_some() {
            return Ok(ProjectUse::Again);
        }
        let sql = "UPDATE projects SET last_used = ?2 WHERE name = ?1";
        self.change(doing, sql, params![project, Time(now)])?;
        Ok(ProjectUse::FirstOfHour)
    }

    fn count_tasks(&self, project: &str) -> Result<(u32, u32), StoreError> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE status IN ('pending', 'in_progress')) \
                   FROM tasks WHERE project = ?1 AND deleted_at IS NULL";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let counted = self.read_first("count the tasks", sql, params![project], read)?;
        Ok(counted.unwrap_or_default())
    }

    fn open_branches(&self, project: &str) -> Result<Vec<(String, u32)>, StoreError> {
        // From one branch to the next by the index, instead of through all tasks.
        let open = "project = ?1 AND deleted_at IS NULL AND status IN ('pending', 'in_progress')";
        let sql = format!(
            "WITH RECURSIVE found (branch) AS ( \
               SELECT min(branch) FROM tasks WHERE {open} UNION ALL \
               SELECT (SELECT min(branch) FROM tasks WHERE {open} AND branch > found.branch) \
               FROM found WHERE branch IS NOT NULL) \
             SELECT branch, (SELECT count(*) FROM (SELECT 1 FROM tasks \
               WHERE {open} AND tasks.branch = found.branch LIMIT ?2) AS counted) \
             FROM found WHERE branch IS NOT NULL"
        );
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let values = params![project, MOST_COUNTED];
        self.read_all("list the branches", &sql, values, read)
    }

    fn attach_project(&self, project: &str, path: &str) -> Result<MergedProject, StoreError> {
        let failed = failed("attach the project");
        let transaction = self.begin().map_err(&failed)?;
        refuse_missing(&transaction, project)?;
        let present = name_of(&transaction, path).map_err(&failed)?;
        let merged = match present {
            Some(present) if present == project => MergedProject::default(),
            Some(present) => {
                let merged = merge(&transaction, &present, project)?;
                forget(&transaction, &present).map_err(&failed)?;
                merged
            }
            None => MergedProject::default(),
        };
        let sql = "UPDATE projects SET path = ?2, roots = NULL, remote = NULL, folder_id = NULL, \
                   merged_into = NULL WHERE name = ?1";
        transaction.execute(sql, params![project, path]).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(merged)
    }

    fn merge_projects(&self, from: &str, into: &str) -> Result<MergedProject, StoreError> {
        let failed = failed("merge the projects");
        let transaction = self.begin().map_err(&failed)?;
        refuse_missing(&transaction, from)?;
        refuse_missing(&transaction, into)?;
        if from == into {
            return Err(StoreError::SameProject { name: from.to_owned() });
        }
        let merged = merge(&transaction, from, into)?;
        let sql = "UPDATE projects SET merged_into = CASE name WHEN ?1 THEN ?2 END \
                   WHERE name IN (?1, ?2)";
        transaction.execute(sql, params![from, into]).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(merged)
    }

    fn forget_project(&self, project: &str) -> Result<(), StoreError> {
        forget(&self.connection(), project).map_err(failed("forget the project"))
    }
}

fn refuse_missing(connection: &Connection, project: &str) -> Result<(), StoreError> {
    let sql = "SELECT 1 FROM projects WHERE name = ?1";
    let found =
        connection.prepare_cached(sql).and_then(|mut statement| statement.exists([project]));
    if found.map_err(failed("find the project"))? {
        return Ok(());
    }
    Err(StoreError::NoProject { name: project.to_owned() })
}

fn forget(connection: &Connection, project: &str) -> driver::Result<()> {
    connection.execute("DELETE FROM projects WHERE name = ?1", [project]).map(drop)
}

pub(super) fn read_project(row: &Row<'_>) -> driver::Result<KnownProject> {
    let last_used: Option<Time> = row.get("last_used")?;
    Ok(KnownProject {
        name: row.get("name")?,
        path: row.get("path")?,
        repository: read_repository(row)?,
        last_used: last_used.map(|Time(at)| at),
        folder_id: row.get("folder_id")?,
        merged_into: row.get("merged_into")?,
    })
}

fn read_repository(row: &Row<'_>) -> driver::Result<Option<RepositoryId>> {
    let roots: Option<String> = row.get("roots")?;
    let remote = row.get("remote")?;
    let roots = roots.map(|roots| roots.split_whitespace().map(str::to_owned).collect());
    Ok(roots.map(|roots| RepositoryId { roots, remote }))
}

fn name_of(connection: &Connection, path: &str) -> driver::Result<Option<String>> {
    let sql = "SELECT name FROM projects WHERE path = ?1";
    first_row(connection, sql, params![path], |row| row.get(0))
}

fn add(connection: &Connection, path: &str, wanted: &str) -> driver::Result<String> {
    let numbered = (2..).map(|number: u64| format!("{wanted}-{number}"));
    let taken = match connection {
        Connection::Sqlite(_) => "SELECT 1 FROM projects WHERE name = ?1",
        // Another member's project may have the name.
        #[cfg(feature = "postgres")]
        Connection::Server(_) => "SELECT 1 WHERE team_name_taken(?1)",
    };
    let mut taken = connection.prepare_cached(taken)?;
    for name in std::iter::once(wanted.to_owned()).chain(numbered) {
        if !taken.exists([&name])? {
            let sql = "INSERT INTO projects (path, name) VALUES (?1, ?2)";
            connection.execute(sql, params![path, name])?;
            return Ok(name);
        }
    }
    Ok(wanted.to_owned())
}
