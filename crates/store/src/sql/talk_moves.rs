//! Messages, agents and sessions that follow all tasks of a branch to another one.

use convoke_domain::scope::Scope;

use crate::sql::driver::{self, Connection, params};
use crate::task_edit::MovedTasks;

const STEP: &str = "(SELECT step FROM task_step_now)";

/// Takes messages, agents and sessions along. The step that is under way remembers them. An agent that
/// both branches have stays on both; its messages come.
pub(super) fn take_talk(
    connection: &Connection,
    from: &Scope,
    to: &Scope,
    moved: &mut MovedTasks,
) -> driver::Result<()> {
    let new = "project = ?1 AND branch = ?2 AND NOT EXISTS (SELECT 1 FROM agents AS there \
               WHERE there.project = ?1 AND there.branch = ?3 AND there.name = agents.name)";
    let here = "project = ?1 AND branch = ?2";
    let remember = [
        format!("SELECT {STEP}, project, id, '', branch FROM messages WHERE {here} AND ?3 <> ''"),
        format!(
            "SELECT DISTINCT {STEP}, project, message_id, agent, branch FROM recipients \
             WHERE {here} AND ?3 <> ''"
        ),
        format!("SELECT {STEP}, project, 0, name, branch FROM agents WHERE {new}"),
    ];
    let values = params![from.project, from.branch, to.branch];
    for rows in remember {
        connection.execute(&format!("INSERT INTO talk_moves {rows}"), values)?;
    }
    let sql = format!(
        "INSERT INTO session_moves SELECT {STEP}, client, session_id, branch FROM sessions \
         WHERE {here}"
    );
    connection.execute(&sql, params![from.project, from.branch])?;
    let change = |table: &str, which: &str| {
        let sql = format!("UPDATE {table} SET branch = ?3 WHERE {which}");
        connection.execute(&sql, values)
    };
    let single = format!("{here} AND NOT EXISTS ({})", same_recipient("?3"));
    change("recipients", &single)?;
    moved.messages = change("messages", here)?;
    moved.agents = change("agents", new)?;
    change("sessions", here)?;
    // A recipient on both branches gets the message once.
    for table in ["recipients", "unread"] {
        let sql = format!("DELETE FROM {table} WHERE {here}");
        connection.execute(&sql, params![from.project, from.branch])?;
    }
    Ok(())
}

/// Selects the recipient that a recipient would become on another branch.
fn same_recipient(branch: &str) -> String {
    format!(
        "SELECT 1 FROM recipients AS there WHERE there.project = recipients.project \
         AND there.branch = {branch} AND there.agent = recipients.agent \
         AND there.message_id = recipients.message_id \
         AND there.mentioned = recipients.mentioned"
    )
}

/// Brings back what a step took along.
pub(super) fn bring_talk_back(
    connection: &Connection,
    scope: &Scope,
    step: i64,
) -> driver::Result<()> {
    let back = |table: &str, which: &str| {
        format!(
            "UPDATE {table} SET branch = moves.branch FROM talk_moves AS moves \
             WHERE step = ?1 AND {which} AND {table}.project = ?2 AND {table}.branch = ?3"
        )
    };
    let recipient = format!(
        "moves.message_id = recipients.message_id AND moves.agent = recipients.agent \
         AND NOT EXISTS ({})",
        same_recipient("moves.branch")
    );
    let agent = "moves.message_id = 0 AND moves.agent = agents.name \
                 AND NOT EXISTS (SELECT 1 FROM agents AS there WHERE there.project = ?2 \
                   AND there.branch = moves.branch AND there.name = agents.name)";
    for sql in [
        back("messages", "moves.agent = '' AND moves.message_id = messages.id"),
        back("recipients", &recipient),
        back("agents", agent),
        "UPDATE sessions SET branch = moves.branch FROM session_moves AS moves \
         WHERE step = ?1 AND moves.client = sessions.client \
         AND moves.session_id = sessions.session_id \
         AND sessions.project = ?2 AND sessions.branch = ?3"
            .to_owned(),
    ] {
        connection.execute(&sql, params![step, scope.project, scope.branch])?;
    }
    Ok(())
}
