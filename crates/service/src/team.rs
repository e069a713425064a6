//! The team that shares a store on a server: who belongs to it, and who wrote what.

use std::path::PathBuf;

use convoke_domain::team::MemberName;
use convoke_engine::secret;
use convoke_store::Password;
use convoke_store::team::{
    AuditEntry, AuditQuery, Invitation, PasswordChange, RevokedMember, TeamMember,
};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::mcp_listen::AccessToken;
use crate::session::Session;
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{Workspace, open_store, refused, store_location};

/// Where a member's password comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvitePassword {
    /// Convoke makes one, and reports it once.
    Random,
    /// The first line of a file that only the user can read.
    File(PathBuf),
    /// The first line that a command prints.
    Command(String),
}

/// A member to invite.
#[derive(Debug, Clone)]
pub struct InviteRequest {
    /// The name of the new member's role on the server.
    pub member: MemberName,
    /// The projects; without any, the session's.
    pub projects: Vec<String>,
    /// The member's password.
    pub password: InvitePassword,
    /// Whether a member that has a password gets another.
    pub change: PasswordChange,
}

/// Which entries of the audit trail are reported.
#[derive(Debug, Clone)]
pub struct AuditRequest {
    /// Of one project.
    pub project: Option<String>,
    /// Of one member.
    pub member: Option<MemberName>,
    /// The last so many.
    pub last: u32,
}

/// A team that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TeamInitReport {
    /// The address of the store, without a password.
    pub store: String,
    /// The role on the server that every member belongs to.
    pub role: String,
    /// Whether the team had been begun before; the rights of its members were set again.
    pub was_there: bool,
}

/// A member that was invited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TeamInviteReport {
    /// The name of the member.
    pub member: String,
    /// The store's address for the member, without a password.
    pub store: String,
    /// The projects of this invitation.
    pub projects: Vec<String>,
    /// The password that Convoke made. It is reported this once, and kept nowhere.
    pub password: Option<String>,
    /// Whether the member's password is another one than before.
    pub password_changed: bool,
    /// Whether the member had been invited before, and not revoked since.
    pub was_member: bool,
}

/// A member of the team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TeamMemberReport {
    /// The member's name.
    pub name: String,
    /// The projects that the member may use.
    pub projects: Vec<String>,
    /// The agents that act for the member, each as `project @agent`.
    pub agents: Vec<String>,
    /// When the member was invited last.
    pub invited_at: String,
    /// When the member was revoked.
    pub revoked_at: Option<String>,
}

/// A member from whom a project or everything was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TeamRevokeReport {
    /// The name of the member.
    pub member: String,
    /// The projects that the member still may use; empty after a whole revocation.
    pub projects: Vec<String>,
    /// How many open connections the server ended; absent if the owner may not end them. The server
    /// refuses their further statements in any case.
    pub ended_connections: Option<usize>,
}

/// One entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditEntryReport {
    /// The entry's number.
    pub id: i64,
    /// When, by the server's clock.
    pub at: String,
    /// The member whose connection wrote; absent for the store's owner.
    pub member: Option<String>,
    /// The name of the project whose rows changed.
    pub project: String,
    /// What was done: `insert`, `update`, `delete`, `invite` or `revoke`.
    pub action: String,
    /// The table that was written to.
    pub subject: String,
    /// The row, by its number or name.
    pub key: String,
    /// The agent that the row names as its author.
    pub agent: Option<String>,
    /// The SHA-256 of the row as it was written.
    pub sha256: Option<String>,
}

/// A password for a member could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the member's password from {from}")]
struct NoMemberPassword {
    from: String,
    source: std::io::Error,
}

/// Begins a team, or sets the rights of its members again.
pub fn begin_team(session: &Session) -> Result<TeamInitReport, Failure> {
    refuse_agents(session, UserOnly::Team)?;
    let begun = open_store(session)?.begin_team(session.now()).map_err(refused)?;
    let store = store_location(session)?.to_string();
    Ok(TeamInitReport { store, role: begun.role, was_there: begun.was_there })
}

/// Invites a member to projects.
pub fn invite_member(
    session: &Session,
    request: &InviteRequest,
) -> Result<TeamInviteReport, Failure> {
    refuse_agents(session, UserOnly::Team)?;
    let (store, projects) = if request.projects.is_empty() {
        let Workspace { store, scope } = Workspace::open(session, None)?;
        (store, vec![scope.project])
    } else {
        (open_store(session)?, request.projects.clone())
    };
    let text = password(session, &request.password)?;
    let invitation = Invitation {
        member: &request.member,
        projects: &projects,
        password: &Password::new(text.clone()),
        change: request.change,
    };
    let invited = store.invite(invitation, session.now()).map_err(refused)?;
    let is_told = invited.has_password && request.password == InvitePassword::Random;
    Ok(TeamInviteReport {
        member: request.member.to_string(),
        store: store_location(session)?.for_user(request.member.as_str()).to_string(),
        projects,
        password: is_told.then_some(text),
        password_changed: invited.has_password,
        was_member: invited.was_member,
    })
}

fn password(session: &Session, from: &InvitePassword) -> Result<String, Failure> {
    let wrong = |from: String| {
        move |source| Failure::new(ErrorClass::Prerequisite, NoMemberPassword { from, source })
    };
    match from {
        InvitePassword::Random => AccessToken::random().map(|token| token.text().to_owned()),
        InvitePassword::File(path) => {
            secret::of_file(path).map_err(wrong(format!("`{}`", path.display())))
        }
        InvitePassword::Command(command) => {
            // Not in the project: its files have no say in which program this is.
            let home = session.environment.home().unwrap_or_else(|| PathBuf::from("/"));
            secret::of_command(command, &home).map_err(wrong("the command".to_owned()))
        }
    }
}

/// Lists the members, as far as the user may see them.
pub fn list_members(session: &Session) -> Result<Vec<TeamMemberReport>, Failure> {
    let members = open_store(session)?.members().map_err(refused)?;
    Ok(members.into_iter().map(TeamMemberReport::new).collect())
}

impl TeamMemberReport {
    fn new(member: TeamMember) -> Self {
        let agents = member.agents.iter().map(|(project, agent)| format!("{project} @{agent}"));
        Self {
            agents: agents.collect(),
            name: member.name,
            projects: member.projects,
            invited_at: member.invited_at.to_string(),
            revoked_at: member.revoked_at.map(|at| at.to_string()),
        }
    }
}

/// Takes a project, or everything, from a member.
pub fn revoke_member(
    session: &Session,
    member: &MemberName,
    project: Option<&str>,
) -> Result<TeamRevokeReport, Failure> {
    refuse_agents(session, UserOnly::Team)?;
    let store = open_store(session)?;
    let revoked = store.revoke(member, project, session.now()).map_err(refused)?;
    let RevokedMember { ended, projects } = revoked;
    Ok(TeamRevokeReport { member: member.to_string(), projects, ended_connections: ended })
}

/// Reports the end of the audit trail.
pub fn read_audit(
    session: &Session,
    request: &AuditRequest,
) -> Result<Vec<AuditEntryReport>, Failure> {
    let query = AuditQuery {
        project: request.project.as_deref(),
        member: request.member.as_ref().map(MemberName::as_str),
        last: request.last,
    };
    let entries = open_store(session)?.audit(query).map_err(refused)?;
    Ok(entries.into_iter().map(AuditEntryReport::new).collect())
}

impl AuditEntryReport {
    fn new(entry: AuditEntry) -> Self {
        let filled = |text: String| (!text.is_empty()).then_some(text);
        Self {
            id: entry.id,
            at: entry.at.to_string(),
            member: filled(entry.member),
            project: entry.project,
            action: entry.action,
            subject: entry.subject,
            key: entry.key,
            agent: filled(entry.agent),
            sha256: filled(entry.sha256),
        }
    }
}
