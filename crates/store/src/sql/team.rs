//! Teams. Only a server's store has one.

use convoke_domain::team::MemberName;
use jiff::Timestamp;

use super::SqlStore;
#[cfg(feature = "postgres")]
use super::driver::Connection;
use crate::error::StoreError;
#[cfg(feature = "postgres")]
use crate::postgres::team;
use crate::team::{
    AuditEntry, AuditQuery, BegunTeam, Invitation, InvitedMember, RevokedMember, TeamMember,
    TeamStore,
};

#[cfg(feature = "postgres")]
macro_rules! on_server {
    ($store:expr, $call:path $(, $argument:expr)*) => {
        match &*$store.connection() {
            Connection::Sqlite(_) => Err(StoreError::TeamNeedsServer),
            Connection::Server(server) => $call(server $(, $argument)*),
        }
    };
}

#[cfg(feature = "postgres")]
impl TeamStore for SqlStore {
    fn begin_team(&self, now: Timestamp) -> Result<BegunTeam, StoreError> {
        on_server!(self, team::begin, now)
    }

    fn invite(
        &self,
        invitation: Invitation<'_>,
        now: Timestamp,
    ) -> Result<InvitedMember, StoreError> {
        on_server!(self, team::invite, invitation, now)
    }

    fn members(&self) -> Result<Vec<TeamMember>, StoreError> {
        on_server!(self, team::members)
    }

    fn revoke(
        &self,
        member: &MemberName,
        project: Option<&str>,
        now: Timestamp,
    ) -> Result<RevokedMember, StoreError> {
        on_server!(self, team::revoke, member, project, now)
    }

    fn audit(&self, query: AuditQuery<'_>) -> Result<Vec<AuditEntry>, StoreError> {
        on_server!(self, team::audit, query)
    }
}

#[cfg(not(feature = "postgres"))]
impl TeamStore for SqlStore {
    fn begin_team(&self, _: Timestamp) -> Result<BegunTeam, StoreError> {
        Err(StoreError::TeamNeedsServer)
    }

    fn invite(&self, _: Invitation<'_>, _: Timestamp) -> Result<InvitedMember, StoreError> {
        Err(StoreError::TeamNeedsServer)
    }

    fn members(&self) -> Result<Vec<TeamMember>, StoreError> {
        Err(StoreError::TeamNeedsServer)
    }

    fn revoke(
        &self,
        _: &MemberName,
        _: Option<&str>,
        _: Timestamp,
    ) -> Result<RevokedMember, StoreError> {
        Err(StoreError::TeamNeedsServer)
    }

    fn audit(&self, _: AuditQuery<'_>) -> Result<Vec<AuditEntry>, StoreError> {
        Err(StoreError::TeamNeedsServer)
    }
}
