//! What a member's plain SQL cannot do: find more by functions and sequences, or change what was written.

use super::{OURS, OWNER, Team};

/// Functions with their owner's rights that members may call; the test below says what each tells.
const DEFINERS: [&str; 6] =
    ["team_active", "team_lanes", "team_me", "team_mine", "team_name_taken", "team_sees_message"];

pub(super) fn functions_and_sequences_tell_nothing(team: &Team<'_>) {
    let sql = "SELECT DISTINCT proname FROM pg_proc WHERE prosecdef \
               AND pronamespace = 'public'::regnamespace \
               AND has_function_privilege('ana', oid, 'EXECUTE') ORDER BY 1";
    assert_eq!(team.admin(sql).lines().collect::<Vec<_>>(), DEFINERS);
    let ask = |sql: &str| team.plain("ana", sql).unwrap();
    assert_eq!(ask("SELECT team_mine()"), format!("{{{OURS}}}"));
    assert_eq!(ask("SELECT team_sees_message(1)"), "f", "a message of the other project");
    assert_eq!(
        ask(
            "SELECT count(*) FROM messages WHERE words_of(content) @@ to_tsquery('simple', 'hello | hi | x:*') AND project <> 'project-2'"
        ),
        "0"
    );
    let lanes = ask("SELECT to_jsonb(l)::text FROM team_lanes('') AS l");
    for row in team.admin("SELECT DISTINCT prompt_hash FROM lanes").lines() {
        assert!(!lanes.contains(row), "{lanes}");
    }
    assert!(!lanes.contains("\"project\": \"p"), "{lanes}");
    let sequences = "SELECT relname FROM pg_class WHERE relkind = 'S' \
                     AND relnamespace = 'public'::regnamespace";
    let sequences = team.admin(sequences);
    assert!(sequences.lines().count() > 5, "{sequences}");
    for sequence in sequences.lines() {
        for sql in [
            format!("SELECT last_value FROM \"{sequence}\""),
            format!("SELECT nextval('\"{sequence}\"')"),
            format!("SELECT setval('\"{sequence}\"', 1)"),
        ] {
            assert!(team.plain("ana", &sql).is_err(), "{sql}");
        }
    }
    statements_are_refused(team);
}

fn statements_are_refused(team: &Team<'_>) {
    for sql in [
        "SET ROLE boss",
        "SET SESSION AUTHORIZATION boss",
        "CREATE TABLE mine (x INT)",
        "CREATE FUNCTION mine() RETURNS INT LANGUAGE sql AS 'SELECT 1'",
        "ALTER TABLE tasks DISABLE ROW LEVEL SECURITY",
        "DROP POLICY team_read ON tasks",
        "CREATE POLICY all_mine ON tasks USING (true)",
        "ALTER TABLE tasks DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
        "INSERT INTO team_access VALUES ('ana', 'p', 'now')",
        "UPDATE team_members SET revoked_at = NULL",
        "CREATE ROLE eve",
        "SET row_security = off; SELECT * FROM tasks",
    ] {
        assert!(team.plain("ana", sql).is_err(), "{sql}");
    }
    // A table of a member's own must not stand in for one that a function with the owner's rights reads.
    let trick = "CREATE TEMP TABLE team_access (member TEXT, project TEXT, granted_at TEXT); \
                 INSERT INTO team_access VALUES ('ana', 'p', 'now'); \
                 CREATE TEMP TABLE team_members (name TEXT, revoked_at TEXT); \
                 INSERT INTO team_members VALUES ('ana', NULL); \
                 SELECT count(*) FROM tasks WHERE project IN ('p', 'project')";
    assert_eq!(team.plain("ana", trick).as_deref(), Ok("0"));
}

// What the whole team spent is known to each, and no more.
pub(super) fn the_day_counts_for_all(team: &Team<'_>) {
    team.admin(
        "INSERT INTO lanes (project, branch, agent, writes, owner_pid, owner_mark, prompt_chars, \
         prompt_hash, started_at, ended_at, outcome, input, output, micro_dollars) VALUES \
         ('p', 'main', 'claude', 0, 1, 'm', 1, 'secret', '2026-11-18T00:00:00.000Z', \
          '2026-11-18T00:00:01.000Z', 'answered', 700, 30, 9000)",
    );
    let sum = "SELECT coalesce(sum(input), 0) || ' ' || coalesce(sum(micro_dollars), 0) FROM";
    let all = team.admin(&format!("{sum} lanes"));
    assert_ne!(all, "0 0");
    assert_eq!(team.plain("ana", &format!("{sum} team_lanes('')")), Ok(all));
    assert_eq!(team.plain("ana", "SELECT count(*) FROM lanes").as_deref(), Ok("0"));
}

pub(super) fn what_was_written_stays(team: &Team<'_>) {
    let message = "SELECT max(id) FROM messages WHERE project = 'project-2'";
    let id = team.plain("ana", message).unwrap();
    for sql in [
        format!("UPDATE messages SET content = 'never' WHERE id = {id}"),
        format!("UPDATE messages SET member = 'boss' WHERE id = {id}"),
        format!("UPDATE messages SET created_at = '2000' WHERE id = {id}"),
        "UPDATE events SET verb_phrase = 'did nothing'".to_owned(),
        "UPDATE journal SET body = ''".to_owned(),
        "DELETE FROM journal".to_owned(),
        "UPDATE team_audit SET member = 'boss'".to_owned(),
        "DELETE FROM team_audit".to_owned(),
        "INSERT INTO team_audit (at) VALUES ('now')".to_owned(),
    ] {
        assert!(team.plain("ana", &sql).is_err(), "{sql}");
    }
    let before = team.rows(None);
    for table in ["messages", "events", "task_deeds", "lanes", "runs"] {
        team.plain("ana", &format!("DELETE FROM {table}")).ok();
    }
    let after = team.rows(None);
    for table in ["messages", "events", "task_deeds", "lanes", "runs", "journal"] {
        assert_eq!(after[table], before[table], "{table}");
    }
    for sql in
        ["UPDATE team_audit SET member = ''", "DELETE FROM team_audit", "TRUNCATE team_audit"]
    {
        assert!(team.plain(OWNER, sql).is_err(), "not even the owner: {sql}");
    }
    let forged = "INSERT INTO messages (project, branch, from_agent, kind, content, created_at, member) \
                  VALUES ('project-2', 'main', 'human', 'say', 'forged', '2026-11-18T00:00:00.000Z', 'bob') \
                  RETURNING member";
    assert_eq!(team.plain("ana", forged).as_deref(), Ok("ana"));
}
