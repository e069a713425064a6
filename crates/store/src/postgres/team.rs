//! A team on a server: each member has a role of its own, and all belong to one group.
//!
//! `team.sql` gives the group its rights. Rows decide by the role that logged in, which no statement
//! changes, and by the members' list, which only the owner writes: a statement after a revocation finds
//! nothing, also on a connection that was open before.

use convoke_domain::team::MemberName;
use jiff::Timestamp;
use postgres_protocol::password::scram_sha_256;

use super::schema::{has_team, is_owner, set_rights};
use super::server::Server;
use crate::address::Password;
use crate::error::StoreError;
use crate::sql::driver::{OptionalExtension, Result, Row, params};
use crate::sql::failure::failed;
use crate::sql::row::Time;
use crate::team::{
    AuditEntry, AuditQuery, BegunTeam, Invitation, InvitedMember, PasswordChange, RevokedMember,
    TeamMember,
};

/// Begins a team, or sets its rights again.
pub(crate) fn begin(server: &Server, now: Timestamp) -> std::result::Result<BegunTeam, StoreError> {
    let wrong = failed("begin the team");
    check_owner(server)?;
    if !may_create_roles(server).map_err(&wrong)? {
        return Err(StoreError::MayNotCreateRoles);
    }
    let begin = || {
        let was_there = has_team(server)?;
        if !was_there {
            let sql = "SELECT left('convoke_team_' || current_database(), 63)";
            let role: String = server.first(sql, &[], |row| row.get(0))?;
            let sql = "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = ?1)";
            if !server.first(sql, params![role], |row| row.get::<_, bool>(0))? {
                let quoted: String =
                    server.first("SELECT quote_ident(?1)", params![role], |row| row.get(0))?;
                server.execute_batch(&format!("CREATE ROLE {quoted} NOLOGIN"))?;
            }
            let sql = "INSERT INTO team_group (role, begun_at) VALUES (?1, ?2)";
            server.execute(sql, params![role, Time(now)])?;
        }
        set_rights(server)?;
        let role = server.first("SELECT role FROM team_group", &[], |row| row.get(0))?;
        Ok(BegunTeam { role, was_there })
    };
    within(server, begin).map_err(wrong)
}

/// Invites a member.
pub(crate) fn invite(
    server: &Server,
    invitation: Invitation<'_>,
    now: Timestamp,
) -> std::result::Result<InvitedMember, StoreError> {
    let wrong = failed("invite the member");
    check_team(server)?;
    let Invitation { member, projects, password, change } = invitation;
    let known = "SELECT EXISTS (SELECT 1 FROM projects WHERE name = ?1)";
    for project in projects {
        if !server.first(known, params![project], |row| row.get::<_, bool>(0)).map_err(&wrong)? {
            return Err(StoreError::NoProject { name: project.clone() });
        }
    }
    let name = member.as_str();
    let sql = "SELECT revoked_at IS NULL FROM team_members WHERE name = ?1";
    let found = server.first(sql, params![name], |row| row.get::<_, bool>(0)).optional();
    let found = found.map_err(&wrong)?;
    if found.is_none() {
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = ?1)";
        if server.first(sql, params![name], |row| row.get::<_, bool>(0)).map_err(&wrong)? {
            return Err(StoreError::RoleExists { name: name.to_owned() });
        }
    }
    let was_member = found == Some(true);
    let has_password = !was_member || change == PasswordChange::Always;
    let invite = || {
        let group: String = server.first("SELECT quote_ident(role) FROM team_group", &[], first)?;
        // Only what the password proves goes to the server, whose log may keep statements.
        let login = || format!("LOGIN PASSWORD '{}'", verifier(password));
        if found.is_none() {
            let role = format!("CREATE ROLE \"{name}\" {} IN ROLE {group}", login());
            server.execute_batch(&role)?;
            let sql = "INSERT INTO team_members (name, invited_at) VALUES (?1, ?2)";
            server.execute(sql, params![name, Time(now)])?;
        } else if has_password {
            let role = format!("ALTER ROLE \"{name}\" {}; GRANT {group} TO \"{name}\"", login());
            server.execute_batch(&role)?;
            let sql = "UPDATE team_members SET revoked_at = NULL, invited_at = ?2 WHERE name = ?1";
            server.execute(sql, params![name, Time(now)])?;
        }
        for project in projects {
            let sql = "INSERT INTO team_access (member, project, granted_at) VALUES (?1, ?2, ?3) \
                       ON CONFLICT DO NOTHING";
            server.execute(sql, params![name, project, Time(now)])?;
            note(server, "invite", name, project, now)?;
        }
        Ok(InvitedMember { was_member, has_password })
    };
    within(server, invite).map_err(wrong)
}

/// Returns the members that the user of the connection may see.
pub(crate) fn members(server: &Server) -> std::result::Result<Vec<TeamMember>, StoreError> {
    let wrong = failed("list the members");
    if !has_team(server).map_err(&wrong)? {
        return Err(StoreError::NoTeam);
    }
    let read = || {
        let sql = "SELECT name, invited_at, revoked_at FROM team_members ORDER BY name";
        let mut members = Vec::new();
        for row in server.query(sql, &[])? {
            let row = Row::Server(&row);
            let revoked_at: Option<Time> = row.get(2)?;
            members.push(TeamMember {
                name: row.get(0)?,
                projects: Vec::new(),
                agents: Vec::new(),
                invited_at: row.get(1).map(|Time(at)| at)?,
                revoked_at: revoked_at.map(|Time(at)| at),
            });
        }
        for member in &mut members {
            let sql = "SELECT project FROM team_access WHERE member = ?1 ORDER BY project";
            let rows = server.query(sql, params![member.name])?;
            member.projects = rows.map(|row| Row::Server(&row).get(0)).collect::<Result<_>>()?;
            let sql = "SELECT project, agent FROM team_agents WHERE member = ?1 ORDER BY 1, 2";
            let rows = server.query(sql, params![member.name])?;
            let both = |row| {
                let row = Row::Server(&row);
                Ok((row.get(0)?, row.get(1)?))
            };
            member.agents = rows.map(both).collect::<Result<_>>()?;
        }
        Ok(members)
    };
    read().map_err(wrong)
}

/// Takes a project, or everything, from a member.
pub(crate) fn revoke(
    server: &Server,
    member: &MemberName,
    project: Option<&str>,
    now: Timestamp,
) -> std::result::Result<RevokedMember, StoreError> {
    let wrong = failed("revoke the member");
    check_team(server)?;
    let name = member.as_str();
    let sql = "SELECT EXISTS (SELECT 1 FROM team_members WHERE name = ?1 AND revoked_at IS NULL)";
    if !server.first(sql, params![name], |row| row.get::<_, bool>(0)).map_err(&wrong)? {
        return Err(StoreError::NoMember { name: name.to_owned() });
    }
    let take = || {
        let of_project = ["team_access", "team_agents", "team_folders"];
        for table in of_project {
            let sql =
                format!("DELETE FROM {table} WHERE member = ?1 AND (?2 IS NULL OR project = ?2)");
            server.execute(&sql, params![name, project])?;
        }
        note(server, "revoke", name, project.unwrap_or_default(), now)?;
        if project.is_none() {
            let group: String =
                server.first("SELECT quote_ident(role) FROM team_group", &[], first)?;
            let sql = "UPDATE team_members SET revoked_at = ?2 WHERE name = ?1";
            server.execute(sql, params![name, Time(now)])?;
            server.execute_batch(&format!(
                "ALTER ROLE \"{name}\" NOLOGIN PASSWORD NULL; REVOKE {group} FROM \"{name}\""
            ))?;
        }
        let sql = "SELECT project FROM team_access WHERE member = ?1 ORDER BY project";
        let rows = server.query(sql, params![name])?;
        rows.map(|row| Row::Server(&row).get(0)).collect::<Result<Vec<String>>>()
    };
    let projects = within(server, take).map_err(wrong)?;
    // Rows are refused already; this also ends a look that began before.
    let ended = if project.is_none() { end_connections(server, name).ok() } else { Some(0) };
    Ok(RevokedMember { ended, projects })
}

/// Returns entries of the audit trail.
pub(crate) fn audit(
    server: &Server,
    query: AuditQuery<'_>,
) -> std::result::Result<Vec<AuditEntry>, StoreError> {
    let wrong = failed("read the audit trail");
    if !has_team(server).map_err(&wrong)? {
        return Err(StoreError::NoTeam);
    }
    let read = || {
        let sql = "SELECT * FROM (SELECT * FROM team_audit WHERE (?1 IS NULL OR project = ?1) \
                   AND (?2 IS NULL OR member = ?2) ORDER BY id DESC LIMIT ?3) AS last ORDER BY id";
        let rows = server.query(sql, params![query.project, query.member, query.last])?;
        let entry = |row| {
            let row = Row::Server(&row);
            Ok(AuditEntry {
                id: row.get("id")?,
                at: row.get("at").map(|Time(at)| at)?,
                member: row.get("member")?,
                project: row.get("project")?,
                action: row.get("action")?,
                subject: row.get("subject")?,
                key: row.get("key")?,
                agent: row.get("agent")?,
                sha256: row.get("sha256")?,
            })
        };
        rows.map(entry).collect::<Result<_>>()
    };
    read().map_err(wrong)
}

fn first(row: &Row<'_>) -> Result<String> {
    row.get(0)
}

/// Makes a change of several statements.
fn within<T>(server: &Server, change: impl FnOnce() -> Result<T>) -> Result<T> {
    server.begin_write()?;
    let changed = change().and_then(|changed| server.commit().map(|()| changed));
    if changed.is_err() {
        server.rollback();
    }
    changed
}

/// Writes down what the owner did.
fn note(server: &Server, action: &str, member: &str, project: &str, now: Timestamp) -> Result<()> {
    let sql = "INSERT INTO team_audit (at, member, project, action, subject, key, agent, sha256) \
               VALUES (?1, '', ?2, ?3, 'team_members', ?4, '', '')";
    server.execute(sql, params![Time(now), project, action, member]).map(drop)
}

/// Ends a member's connections, and returns how many there were. The owner may do so as the member.
fn end_connections(server: &Server, name: &str) -> Result<usize> {
    server.execute_batch(&format!("GRANT \"{name}\" TO CURRENT_USER"))?;
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = ?1";
    let ended = server.first(sql, params![name], |row| row.get::<_, u32>(0));
    server.execute_batch(&format!("REVOKE \"{name}\" FROM CURRENT_USER"))?;
    Ok(ended? as usize)
}

fn check_owner(server: &Server) -> std::result::Result<(), StoreError> {
    if is_owner(server).map_err(failed("find the store's owner"))? {
        return Ok(());
    }
    Err(StoreError::NotOwner)
}

fn check_team(server: &Server) -> std::result::Result<(), StoreError> {
    check_owner(server)?;
    if has_team(server).map_err(failed("find the team"))? {
        return Ok(());
    }
    Err(StoreError::NoTeam)
}

fn may_create_roles(server: &Server) -> Result<bool> {
    let sql = "SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user";
    server.first(sql, &[], |row| row.get(0))
}

/// Returns the form in which the server keeps a password.
fn verifier(password: &Password) -> String {
    scram_sha_256(password.reveal().as_bytes())
}
