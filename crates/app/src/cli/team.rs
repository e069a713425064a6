//! `convoke team`: who may use a store on a server, and who wrote what.

use std::path::PathBuf;

use clap::Subcommand;
use convoke_domain::team::MemberName;
use convoke_domain::text::counted;
use convoke_service::failure::Failure;
use convoke_service::team::{
    AuditEntryReport, AuditRequest, InvitePassword, InviteRequest, TeamInitReport,
    TeamInviteReport, TeamMemberReport, TeamRevokeReport, begin_team, invite_member, list_members,
    read_audit, revoke_member,
};
use convoke_store::team::PasswordChange;
use serde::Serialize;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Manage who may use a store on a server, project by project
///
/// A member logs in with a role of its own, and reads and writes only the projects that it was invited
/// to, also with plain SQL. Every message, deed, run and lane carries the member who wrote it. A store
/// that is a file has no team: `convoke store move --to` copies it to a server.
#[derive(Debug, clap::Args)]
pub struct TeamArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Begin a team in the store, as the user who owns it
    ///
    /// The owner needs the right to create roles on the server. Run it again to set the rights of all
    /// members anew.
    Init,
    /// Invite a member to this project, or to others
    ///
    /// Makes a role on the server and prints its password once. For a member of the team, adds the
    /// projects and leaves the password as it is.
    Invite(InviteArgs),
    /// List the members, their projects and their agents
    Members,
    /// Take one project, or everything, from a member
    ///
    /// The server refuses the member immediately, also on connections that are open.
    Revoke(RevokeArgs),
    /// Show who wrote what: the audit trail, which only grows
    Log(LogArgs),
}

#[derive(Debug, clap::Args)]
struct InviteArgs {
    /// The member's name, which is also the user of its address
    #[arg(value_name = "NAME", value_parser = MemberName::parse)]
    member: MemberName,

    /// The projects that the member may use, by name [default: this project]
    #[arg(value_name = "PROJECT")]
    projects: Vec<String>,

    /// Take the password from the first line of this file, which only you can read
    #[arg(long, value_name = "FILE", conflicts_with = "password_command")]
    password_file: Option<PathBuf>,

    /// Take the password from the first line that this command prints
    #[arg(long, value_name = "COMMAND")]
    password_command: Option<String>,

    /// Give another password to a member that has one
    #[arg(long)]
    new_password: bool,
}

#[derive(Debug, clap::Args)]
struct RevokeArgs {
    /// The member's name
    #[arg(value_name = "NAME", value_parser = MemberName::parse)]
    member: MemberName,

    /// Take only this project from the member
    #[arg(value_name = "PROJECT")]
    from_project: Option<String>,
}

#[derive(Debug, clap::Args)]
struct LogArgs {
    /// Show only what belongs to this project
    #[arg(value_name = "PROJECT")]
    of_project: Option<String>,

    /// Show only what this member wrote
    #[arg(long, value_name = "NAME", value_parser = MemberName::parse)]
    member: Option<MemberName>,

    /// Show this many entries, the newest ones
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    last: u32,
}

impl TeamArgs {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Init => print(&begin_team(&app.session)?, init_words, app, output),
            Command::Invite(args) => {
                print(&invite_member(&app.session, &args.request())?, invite_words, app, output)
            }
            Command::Members => {
                let members = list_members(&app.session)?;
                print(&members, |members| member_list(members), app, output)
            }
            Command::Revoke(RevokeArgs { member, from_project }) => {
                let report = revoke_member(&app.session, member, from_project.as_deref())?;
                print(&report, revoke_words, app, output)
            }
            Command::Log(LogArgs { of_project, member, last }) => {
                let (project, member) = (of_project.clone(), member.clone());
                let request = AuditRequest { project, member, last: *last };
                let entries = read_audit(&app.session, &request)?;
                print(&entries, |entries| audit_lines(entries), app, output)
            }
        }
    }
}

impl InviteArgs {
    fn request(&self) -> InviteRequest {
        let password = match (&self.password_file, &self.password_command) {
            (Some(file), _) => InvitePassword::File(file.clone()),
            (None, Some(command)) => InvitePassword::Command(command.clone()),
            (None, None) => InvitePassword::Random,
        };
        let change = if self.new_password { PasswordChange::Always } else { PasswordChange::IfNew };
        let (member, projects) = (self.member.clone(), self.projects.clone());
        InviteRequest { member, projects, password, change }
    }
}

fn print<R: Serialize>(
    report: &R,
    words: impl FnOnce(&R) -> String,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(report)?,
        Format::Text => output.data(&words(report))?,
    }
    Ok(Exit::Done)
}

fn init_words(report: &TeamInitReport) -> String {
    let TeamInitReport { store, role, was_there } = report;
    if *was_there {
        format!("set the rights of the team's members again in {store}\n")
    } else {
        format!("began a team in {store}; members belong to the role {role}\n")
    }
}

fn invite_words(report: &TeamInviteReport) -> String {
    let TeamInviteReport { member, store, projects, password, password_changed, .. } = report;
    let mut lines = vec![format!("invited {member} to {}", projects.join(", "))];
    lines.push(format!("store:     {store}"));
    match (password, password_changed) {
        (Some(password), _) => lines.push(format!("password:  {password}  (shown only now)")),
        (None, true) => lines.push("password:  the one that you gave".to_owned()),
        (None, false) => lines.push("password:  as before".to_owned()),
    }
    lines.join("\n") + "\n"
}

fn member_list(reports: &[TeamMemberReport]) -> String {
    if reports.is_empty() {
        return "No members.\n".to_owned();
    }
    reports.iter().map(member_lines).collect()
}

fn member_lines(report: &TeamMemberReport) -> String {
    let listed = |names: &[String]| {
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let state = match &report.revoked_at {
        Some(at) => format!("revoked {at}"),
        None => format!("invited {}", report.invited_at),
    };
    format!(
        "{}  {state}\n    projects: {}\n    agents:   {}\n",
        report.name,
        listed(&report.projects),
        listed(&report.agents)
    )
}

fn revoke_words(report: &TeamRevokeReport) -> String {
    let TeamRevokeReport { member, projects, ended_connections } = report;
    if !projects.is_empty() {
        return format!("{member} still may use {}\n", projects.join(", "));
    }
    match ended_connections {
        Some(0) => format!("revoked {member}\n"),
        Some(count) => format!("revoked {member}, and ended {}\n", counted(*count, "connection")),
        None => format!("revoked {member}; the server refuses what its open connections ask\n"),
    }
}

fn audit_lines(reports: &[AuditEntryReport]) -> String {
    if reports.is_empty() {
        return "No entries.\n".to_owned();
    }
    let line = |entry: &AuditEntryReport| {
        let member = entry.member.as_deref().unwrap_or("the owner");
        let agent = entry.agent.as_ref().map(|agent| format!(" as @{agent}")).unwrap_or_default();
        let AuditEntryReport { at, action, subject, key, project, .. } = entry;
        format!("{at}  {project}  {member}{agent}: {action} {subject} {key}\n")
    };
    reports.iter().map(line).collect()
}
