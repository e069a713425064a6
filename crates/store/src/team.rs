//! The team that shares a store on a server: members, what each may see, and who wrote what.

use convoke_domain::team::MemberName;
use jiff::Timestamp;

use crate::address::Password;
use crate::error::StoreError;

/// A team that was begun, or had been before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunTeam {
    /// The server's role that every member belongs to.
    pub role: String,
    /// Whether the team had been begun before; its rights were set again.
    pub was_there: bool,
}

/// Whether a member that has a password gets the given one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordChange {
    /// Only a member without one: one that is invited for the first time, or after a revocation.
    IfNew,
    /// In any case.
    Always,
}

/// What an owner offers a person who may join the team.
#[derive(Debug, Clone, Copy)]
pub struct Invitation<'a> {
    /// Who may join the team.
    pub member: &'a MemberName,
    /// The projects that the member may use besides those of earlier invitations.
    pub projects: &'a [String],
    /// The password for the member.
    pub password: &'a Password,
    /// Whether a member that has a password gets this one.
    pub change: PasswordChange,
}

/// What an invitation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvitedMember {
    /// Whether the member had been invited before, and not revoked since.
    pub was_member: bool,
    /// Whether the member has the given password now.
    pub has_password: bool,
}

/// A member of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamMember {
    /// The name by which the owner invited the member.
    pub name: String,
    /// The projects that the member may use, as far as the reader may, too.
    pub projects: Vec<String>,
    /// The agents that act for the member, each with its project.
    pub agents: Vec<(String, String)>,
    /// When the member was invited last.
    pub invited_at: Timestamp,
    /// When the member was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// What a revocation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokedMember {
    /// How many open connections the server ended; `None` if the owner may not end them. The server
    /// refuses every further statement on them, too.
    pub ended: Option<usize>,
    /// The projects that the member still may use; empty if the member was revoked altogether.
    pub projects: Vec<String>,
}

/// One entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number.
    pub id: i64,
    /// When, by the server's clock.
    pub at: Timestamp,
    /// The member whose connection wrote; empty for the owner.
    pub member: String,
    /// The project whose rows changed.
    pub project: String,
    /// What was done: `insert`, `update`, `delete`, `invite` or `revoke`.
    pub action: String,
    /// The table.
    pub subject: String,
    /// The row.
    pub key: String,
    /// The agent that the row names as its author.
    pub agent: String,
    /// The SHA-256 of the row as it was written.
    pub sha256: String,
}

/// Selects entries of the audit trail.
#[derive(Debug, Clone, Copy)]
pub struct AuditQuery<'a> {
    /// Only entries of this project.
    pub project: Option<&'a str>,
    /// Only entries of this member; an empty name is the owner.
    pub member: Option<&'a str>,
    /// The last so many.
    pub last: u32,
}

/// Keeps a team. A store that is a file has none.
pub trait TeamStore {
    /// Begins a team, or sets the rights of its members again. Only the store's owner may.
    fn begin_team(&self, now: Timestamp) -> Result<BegunTeam, StoreError>;

    /// Invites a member. Only the store's owner may.
    fn invite(
        &self,
        invitation: Invitation<'_>,
        now: Timestamp,
    ) -> Result<InvitedMember, StoreError>;

    /// Returns the members, in the order of their names: the owner sees all, a member those with whom
    /// it shares a project.
    fn members(&self) -> Result<Vec<TeamMember>, StoreError>;

    /// Takes a project, or everything, from a member. Only the store's owner may.
    fn revoke(
        &self,
        member: &MemberName,
        project: Option<&str>,
        now: Timestamp,
    ) -> Result<RevokedMember, StoreError>;

    /// Returns entries of the audit trail, in the order in which they were written.
    fn audit(&self, query: AuditQuery<'_>) -> Result<Vec<AuditEntry>, StoreError>;
}
