//! What a member's plain SQL cannot do: find more by functions and sequences, or change what was written.

use super::{OURS, OWNER, Team};

/// Functions with their owner's rights that members may call; the test below says what each tells.
const DEFINERS: [&str; 7] = [
    "team_active",
    "team_lanes",
    "team_me",
    "team_mine",
    "team_name_taken",
    "team_open_lanes",
    "team_sees_message",
];

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

// A fleet of a team: lanes and their lines by project, workers by member, and no one rewrites a prompt.
pub(super) fn lanes_of_workers_belong_to_projects(team: &Team<'_>) {
    let ask = |sql: &str| team.plain("ana", sql).unwrap();
    let refused = |sql: &str| assert!(team.plain("ana", sql).is_err(), "{sql}");
    assert_eq!(ask("SELECT count(*) FROM fleet_lanes"), "0");
    assert_eq!(ask("SELECT count(*) FROM fleet_events"), "0");
    let lane = |id: &str, project: &str| {
        format!(
            "INSERT INTO fleet_lanes (id, project, queue, request, prompt, permit, generation, \
             attempt, state, submitted_at, watched_at, member) VALUES ('{id}', '{project}', \
             'convoke/claude', '{{}}', 'Why?', 'claude', 1, 1, 'running', '2026', '2026', 'bob')"
        )
    };
    refused(&lane("f-2", "p"));
    ask(&lane("f-2", OURS));
    assert_eq!(
        ask("SELECT member FROM fleet_lanes"),
        "ana",
        "also if the statement names another member"
    );
    refused("UPDATE fleet_lanes SET prompt = 'Who?'");
    refused("UPDATE fleet_lanes SET member = 'bob'");
    refused("INSERT INTO fleet_events VALUES ('f-1', 1, 1, 2, 'forged')");
    ask("INSERT INTO fleet_events VALUES ('f-2', 1, 1, 1, 'mine')");
    refused("UPDATE fleet_events SET line = 'other'");
    ask("UPDATE fleet_lanes SET watched_at = '2027' WHERE id = 'f-2'");
    // A lane that is submitted again may have other limits.
    ask("UPDATE fleet_lanes SET request = '{\"wall_ms\":1}' WHERE id = 'f-2'");
    ask("UPDATE fleet_lanes SET state = 'ended', ended_at = '2027' WHERE id = 'f-2'");
    let audit = "SELECT string_agg(action, ' ' ORDER BY id) FROM team_audit \
                 WHERE subject = 'fleet_lanes' AND member = 'ana' AND key = 'f-2'";
    assert_eq!(ask(audit), "insert update", "signs of life are not noted");
    // The limit of an account counts all projects, and tells only the number.
    assert_eq!(ask("SELECT team_open_lanes('claude', '2000', '2100')"), "1");
    assert_eq!(team.admin("SELECT state FROM fleet_lanes WHERE id = 'f-1'"), "running");
    let worker = "INSERT INTO fleet_workers (process, name, machine, pid, offers, slots, version, \
                  state, started_at, beat_at, member) VALUES ('hers#1', 'hers', 'x', 1, 'claude', 1, \
                  '0.1.0', 'working', '2026', '2026', '')";
    ask(worker);
    ask("UPDATE fleet_workers SET state = 'draining'");
    ask("DELETE FROM fleet_workers WHERE name = 'box'");
    let workers = "SELECT string_agg(name || ' ' || state || ' ' || member, ', ' ORDER BY name) \
                   FROM fleet_workers WHERE name IN ('box', 'hers')";
    assert_eq!(ask(workers), "box working , hers draining ana", "all are seen, one is hers");
    team.admin("DELETE FROM fleet_workers WHERE member = 'ana'");
    team.admin(
        "DELETE FROM fleet_events WHERE lane = 'f-2'; DELETE FROM fleet_lanes WHERE id = 'f-2'",
    );
    // Entries without a project are the owner's, and no project is called so.
    team.admin(
        "INSERT INTO team_audit (at, member, project, action, subject, key, agent, sha256) \
         VALUES ('2026', '', '', 'insert', 'tasks', '1', '', '')",
    );
    for name in ["''", "' '"] {
        refused(&format!("INSERT INTO projects (path, name) VALUES ('/home/ana/x', {name})"));
    }
    assert_eq!(ask("SELECT count(*) FROM team_audit WHERE project = ''"), "0");
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
