//! Members of a team, with the program and with plain SQL.

#[path = "team_sql.rs"]
mod sql;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use self::sql::{
    functions_and_sequences_tell_nothing, lanes_of_workers_belong_to_projects,
    the_day_counts_for_all, what_was_written_stays,
};
use crate::server::TestServer;
use crate::{Ground, said};

const DATABASE: &str = "shared";
const OWNER: &str = "boss";
const OWNERS_PASSWORD: &str = "owner horse";

/// An export with a row of every table, of two projects.
const EXPORT: &str = include_str!("../../../store/src/sql/transfer/every_table.jsonl");

/// The projects of the export, which the member of the other one must not reach.
const THEIRS: [&str; 2] = ["p", "project"];
const OURS: &str = "project-2";

/// Tables about one member's own machine and sessions, and the audit trail.
const PERSONAL: [&str; 10] = [
    "counters",
    "deliveries",
    "fleet_workers",
    "gates",
    "installs",
    "losses",
    "memories",
    "run_leases",
    "setups",
    "team_audit",
];

/// A lane that a worker runs in a project of the owner's.
const LANE_OF_THEIRS: &str = "\
    INSERT INTO fleet_lanes (id, project, queue, request, prompt, permit, generation, attempt, state, \
    submitted_at, watched_at) VALUES ('f-1', 'p', 'convoke/claude', '{}', 'hush', 'claude', 1, 1, \
    'running', '2026-11-18T00:00:00.000Z', '2026-11-18T00:00:00.000Z'); \
    INSERT INTO fleet_events VALUES ('f-1', 1, 1, 1, 'hush'); \
    INSERT INTO fleet_workers (process, name, machine, pid, offers, slots, version, state, started_at, \
    beat_at) VALUES ('box#1', 'box', 'box', 1, 'claude', 1, '0.1.0', 'working', \
    '2026-11-18T00:00:00.000Z', '2026-11-18T00:00:00.000Z')";

/// A table's rows, each as JSON.
type Rows = BTreeMap<String, Vec<String>>;

struct Team<'a> {
    server: &'a TestServer,
    owner: Ground,
    address: String,
}

impl Team<'_> {
    fn as_owner(&self, arguments: &[&str]) -> String {
        let store =
            [("CONVOKE_STORE", &*self.address), ("CONVOKE_STORE_PASSWORD", OWNERS_PASSWORD)];
        self.owner.stdout(&store, arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.as_owner(arguments)).unwrap()
    }

    /// Runs SQL as the server's administrator, whom no policy binds.
    fn admin(&self, sql: &str) -> String {
        self.server.sql(DATABASE, sql)
    }

    fn plain(&self, user: &str, sql: &str) -> Result<String, String> {
        self.server.sql_as(user, DATABASE, sql)
    }

    fn relations(&self) -> Vec<String> {
        let sql = "SELECT table_name FROM information_schema.tables \
                   WHERE table_schema = 'public' ORDER BY 1";
        self.admin(sql).lines().map(str::to_owned).collect()
    }

    fn rows(&self, user: Option<&str>) -> Rows {
        let read = |table: String| {
            let sql = format!("SELECT to_jsonb(t)::text FROM \"{table}\" AS t ORDER BY 1");
            let text = match user {
                None => Ok(self.admin(&sql)),
                Some(user) => self.plain(user, &sql),
            };
            let rows = text.unwrap_or_default().lines().map(str::to_owned).collect();
            (table, rows)
        };
        self.relations().into_iter().map(read).collect()
    }

    fn invite(&self, arguments: &[&str]) -> String {
        let report = self.json(&[&["team", "invite", "--json"], arguments].concat());
        report["password"].as_str().unwrap_or_default().to_owned()
    }
}

pub(crate) fn members_reach_their_own_projects_only(server: &TestServer) {
    let role = format!("CREATE ROLE {OWNER} LOGIN CREATEROLE PASSWORD '{OWNERS_PASSWORD}'");
    server.sql("postgres", &role);
    server.sql("postgres", &format!("CREATE DATABASE {DATABASE} OWNER {OWNER}"));
    let address = server.tcp_address(OWNER, DATABASE);
    let team = Team { server, owner: Ground::new(), address };
    let export = team.owner.path("export.jsonl");
    fs::write(&export, EXPORT).unwrap();
    team.as_owner(&["store", "import", &export.display().to_string()]);
    // An export has no lanes of workers.
    team.admin(LANE_OF_THEIRS);
    let theirs = team.rows(None);
    team.as_owner(&["task", "add", "Write the parser"]);
    team.as_owner(&["say", "hello"]);

    team_needs_its_owner(&team);
    let begun = team.as_owner(&["team", "init"]);
    assert!(begun.starts_with("began a team in postgres://boss@127.0.0.1"), "{begun}");
    assert!(team.as_owner(&["team", "init"]).starts_with("set the rights"));
    let password = team.invite(&["ana", OURS]);
    assert!(password.len() >= 20, "{password}");
    let again = team.json(&["team", "invite", "ana", OURS, "--json"]);
    assert_eq!((&again["password"], &again["was_member"]), (&Value::Null, &true.into()));

    nothing_of_others_is_read(&team, &theirs);
    nothing_of_others_is_written(&team, &theirs);
    functions_and_sequences_tell_nothing(&team);
    the_day_counts_for_all(&team);
    lanes_of_workers_belong_to_projects(&team);
    let ana = a_member_works(&team, &password);
    what_was_written_stays(&team);
    names_belong_to_members(&team, &ana, &password);
    an_older_store_waits_for_its_owner(&team, &ana, &password);
    revoked_members_are_refused(&team, &ana, &password);
}

fn team_needs_its_owner(team: &Team<'_>) {
    let file = Ground::new();
    let refused = file.run(&[], &["team", "init"]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(said(&refused).contains("hint: copy it to one with `convoke store move --to"));
    let store = [("CONVOKE_STORE", &*team.address), ("CONVOKE_STORE_PASSWORD", OWNERS_PASSWORD)];
    let early = team.owner.run(&store, &["team", "invite", "ana"]);
    assert!(said(&early).contains("run `convoke team init`"), "{}", said(&early));
    let agent =
        team.owner.run(&[&store[..], &[("CONVOKE_AGENT", "june")]].concat(), &["team", "init"]);
    assert_ne!(agent.status.code(), Some(0), "an agent changes no team: {}", said(&agent));
}

fn nothing_of_others_is_read(team: &Team<'_>, theirs: &Rows) {
    let seen = team.rows(Some("ana"));
    assert!(!seen["tasks"].is_empty() && !seen["projects"].is_empty(), "{seen:?}");
    for (table, rows) in &seen {
        // Every member may know which workers there are.
        let shared = ["convoke_schema", "fleet_workers", "task_step_now"];
        let is_shared = shared.contains(&table.as_str());
        let none = Vec::new();
        let foreign = theirs.get(table).unwrap_or(&none);
        let found: Vec<_> = rows.iter().filter(|row| foreign.contains(row)).collect();
        assert!(is_shared || found.is_empty(), "{table}: {found:?}");
    }
    // Every table of the export had rows, so that the look above could have found some.
    let bases = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND NOT relrowsecurity \
                 AND relnamespace = 'public'::regnamespace";
    assert_eq!(team.admin(bases), "0", "a table without row-level security");
    let filled = theirs.values().filter(|rows| !rows.is_empty()).count();
    assert!(filled > 30, "{filled}");
}

/// Returns a row of the other project as a new one: what identifies it is changed.
fn fresh(row: &str) -> serde_json::Map<String, Value> {
    let mut row: serde_json::Map<String, Value> = serde_json::from_str(row).unwrap();
    for column in ["branch", "session_id", "session", "path", "skill", "feature"] {
        if let Some(Value::String(text)) = row.get_mut(column) {
            text.push_str("-x");
        }
    }
    for column in ["seq", "number"] {
        if let Some(Value::Number(number)) = row.get(column) {
            let number = number.as_i64().unwrap() + 100;
            row.insert(column.to_owned(), number.into());
        }
    }
    for column in ["id", "process"] {
        if let Some(Value::String(text)) = row.get_mut(column) {
            text.push_str("-x");
        }
    }
    if row.get("id").is_some_and(Value::is_number) {
        row.remove("id");
    }
    row
}

fn nothing_of_others_is_written(team: &Team<'_>, theirs: &Rows) {
    let before = team.rows(None);
    let mut possible = 0;
    for (table, rows) in theirs {
        for change in [
            format!("UPDATE \"{table}\" SET \"{}\" = \"{0}\"", first_column(team, table)),
            format!("DELETE FROM \"{table}\""),
            format!("TRUNCATE \"{table}\" CASCADE"),
        ] {
            // In our own project some of it is allowed; what counts is what becomes of theirs.
            team.plain("ana", &format!("BEGIN; {change}; ROLLBACK")).ok();
            if before[table].iter().any(|row| row.contains("\"project\":")) {
                for project in THEIRS {
                    let of_theirs = format!("{change} WHERE \"project\" = '{project}'");
                    team.plain("ana", &of_theirs).ok();
                }
            }
            if rows.len() == before[table].len() {
                team.plain("ana", &change).ok();
            }
        }
        for row in rows {
            let row = fresh(row);
            let columns: Vec<_> = row.keys().map(|name| format!("\"{name}\"")).collect();
            let json = Value::Object(row.clone()).to_string().replace('\'', "''");
            let columns = columns.join(", ");
            let insert = format!(
                "INSERT INTO \"{table}\" ({columns}) SELECT {columns} \
                 FROM jsonb_populate_record(NULL::\"{table}\", '{json}')"
            );
            let try_out = format!("BEGIN; {insert}; ROLLBACK");
            possible += usize::from(team.server.sql_as("convoke", DATABASE, &try_out).is_ok());
            team.plain("ana", &insert).ok();
        }
    }
    assert!(possible > 20, "only {possible} rows could have been added");
    let after = team.rows(None);
    for (table, rows) in &after {
        let was = &before[table];
        if !PERSONAL.contains(&table.as_str()) {
            assert_eq!(rows, was, "{table}");
        }
        for row in rows.iter().filter(|row| !was.contains(row)) {
            assert!(row.contains("\"member\": \"ana\""), "{table}: {row}");
            let names = |project| row.contains(&format!("\"project\": \"{project}\""));
            assert!(!THEIRS.into_iter().any(names), "{table}: {row}");
        }
        assert!(was.iter().all(|row| rows.contains(row)), "{table} lost a row");
    }
}

fn first_column(team: &Team<'_>, table: &str) -> String {
    let sql = format!(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' \
         AND table_name = '{table}' ORDER BY ordinal_position LIMIT 1"
    );
    team.admin(&sql)
}

fn a_member_works(team: &Team<'_>, password: &str) -> Ground {
    let ana = Ground::new();
    let address = team.server.tcp_address("ana", DATABASE);
    let store = [("CONVOKE_STORE", &*address), ("CONVOKE_STORE_PASSWORD", password)];
    // Her folder is a project of her own until she attaches the team's.
    assert!(!ana.stdout(&store, &["task", "tree"]).contains("Write the parser"));
    ana.stdout(&store, &["project", "attach", OURS]);
    assert!(ana.stdout(&store, &["task", "tree"]).contains("Write the parser"));
    ana.stdout(&store, &["task", "add", "Write the printer"]);
    ana.stdout(&store, &["say", "from me to @max"]);
    let inbox = team.as_owner(&["inbox", "max", "--json"]);
    assert!(
        inbox.contains("\"member\": \"ana\"") || inbox.contains("\"member\":\"ana\""),
        "{inbox}"
    );
    let input = format!(
        "{{\"hook_event_name\":\"SessionStart\",\"source\":\"compact\",\"session_id\":\"s1\",\
         \"cwd\":\"{}\"}}",
        ana.path("project").display()
    );
    fs::write(ana.path("input"), input).unwrap();
    let mut hook = ana.with(&store);
    hook.env("CONVOKE_AGENT", "june").env("CONVOKE_STORE_HOOK_MILLISECONDS", "60000");
    hook.args(["hook", "claude", "SessionStart"]);
    let hook = hook.stdin(fs::File::open(ana.path("input")).unwrap()).output().unwrap();
    assert!(said(&hook).contains("Write the printer"), "{}", said(&hook));
    assert_eq!(team.plain("ana", "SELECT count(*) > 0 FROM deliveries").as_deref(), Ok("t"));
    let members = ana.stdout(&store, &["team", "members"]);
    assert!(members.contains("projects: project-2"), "{members}");
    let refused = ana.run(&store, &["team", "invite", "eve", OURS]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(ana.stdout(&store, &["store", "check"]).contains("sound"));
    let log = team.as_owner(&["team", "log", OURS, "--member", "ana"]);
    assert!(log.contains("ana as @human: insert messages"), "{log}");
    ana
}

fn names_belong_to_members(team: &Team<'_>, ana: &Ground, password: &str) {
    let bobs = team.invite(&["bob", OURS]);
    let bob = Ground::new();
    let address = team.server.tcp_address("bob", DATABASE);
    let store = [("CONVOKE_STORE", &*address), ("CONVOKE_STORE_PASSWORD", &*bobs)];
    bob.stdout(&store, &["project", "attach", OURS]);
    let address = team.server.tcp_address("ana", DATABASE);
    let hers = [("CONVOKE_STORE", &*address), ("CONVOKE_STORE_PASSWORD", password)];
    ana.stdout(&hers, &["say", "--as", "june", "I am ana's"]);
    let refused = bob.run(&store, &["say", "--as", "june", "so am I"]);
    assert_ne!(refused.status.code(), Some(0), "{}", said(&refused));
    assert!(said(&refused).contains("belongs to ana"), "{}", said(&refused));
    bob.stdout(&store, &["say", "--as", "max", "I am bob's"]);
    let members = team.as_owner(&["team", "members"]);
    assert!(members.contains("project-2 @june") && members.contains("project-2 @max"), "{members}");
    team.as_owner(&["team", "revoke", "bob", OURS]);
    let tasks = team.plain("bob", "SELECT count(*) FROM tasks WHERE project = 'project-2'");
    assert_eq!(tasks.as_deref(), Ok("0"));
}

fn an_older_store_waits_for_its_owner(team: &Team<'_>, ana: &Ground, password: &str) {
    let address = team.server.tcp_address("ana", DATABASE);
    let store = [("CONVOKE_STORE", &*address), ("CONVOKE_STORE_PASSWORD", password)];
    let version = team.admin("SELECT version FROM convoke_schema");
    team.admin("UPDATE convoke_schema SET version = version - 1");
    let refused = ana.run(&store, &["task", "list"]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(said(&refused).contains("only the store's owner may update it"), "{}", said(&refused));
    assert!(said(&refused).contains("hint: ask the store's owner"), "{}", said(&refused));
    team.admin(&format!("UPDATE convoke_schema SET version = {version}"));
}

fn revoked_members_are_refused(team: &Team<'_>, ana: &Ground, password: &str) {
    let address = team.server.tcp_address("ana", DATABASE);
    let store = [("CONVOKE_STORE", &*address), ("CONVOKE_STORE_PASSWORD", password)];
    let mut open = team.server.client("ana", DATABASE);
    open.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut open = open.spawn().unwrap();
    let (mut ask, answers) = (open.stdin.take().unwrap(), open.stdout.take().unwrap());
    let mut answers = BufReader::new(answers).lines();
    let count = "SELECT count(*) > 0 FROM tasks;";
    // A look that began before the revocation would otherwise go on with what it saw.
    writeln!(ask, "BEGIN ISOLATION LEVEL REPEATABLE READ; {count}").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), "t");
    let revoked = team.as_owner(&["team", "revoke", "ana"]);
    assert!(revoked.contains("revoked ana, and ended 1 connection"), "{revoked}");
    writeln!(ask, "{count}").ok();
    drop(ask);
    assert!(answers.next().is_none(), "the connection goes on");
    open.wait().unwrap();
    let refused = ana.run(&store, &["task", "list"]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(!said(&refused).contains(password), "{}", said(&refused));
    assert!(team.as_owner(&["team", "members"]).contains("revoked 20"));
    // Also where the server did not end the connection: the rows refuse by themselves.
    team.admin("UPDATE team_members SET revoked_at = NULL WHERE name = 'ana'");
    team.admin("INSERT INTO team_access VALUES ('ana', 'project-2', 'now')");
    team.admin("ALTER ROLE ana LOGIN; GRANT convoke_team_shared TO ana");
    let seen = |sql: &str| team.plain("ana", sql);
    assert_ne!(seen("SELECT count(*) FROM tasks").as_deref(), Ok("0"));
    team.admin("UPDATE team_members SET revoked_at = 'now' WHERE name = 'ana'");
    assert_eq!(seen("SELECT count(*) FROM tasks").as_deref(), Ok("0"));
    assert_eq!(seen("SELECT count(*) FROM installs").as_deref(), Ok("0"));
    assert_eq!(seen("SELECT count(*) FROM projects").as_deref(), Ok("0"));
    let back = team.invite(&["ana", OURS]);
    assert!(back.len() >= 20 && back != password, "{back}");
    let store = [("CONVOKE_STORE", &*address), ("CONVOKE_STORE_PASSWORD", &*back)];
    ana.stdout(&store, &["task", "list"]);
}
