//! The program with its store on a Postgres server of the test's own.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up should stop where it stands"
)]

#[path = "../../store/tests/support/server.rs"]
mod server;

#[path = "fleet/guide.rs"]
mod guide;

#[path = "fleet/races.rs"]
mod races;

#[path = "fleet/replica.rs"]
mod replica;

#[path = "fleet/team.rs"]
mod team;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use convoke_domain::owner::Owner;
use convoke_domain::run::RunId;
use convoke_domain::scope::Scope;
use convoke_store::StoreLocation;
use convoke_store::lease::LeaseClaim;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::server::{PASSWORD, TestServer, USER};

/// A user with a project, and a store that is chosen by variables.
struct Ground {
    top: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Ground {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("project/.git")).unwrap();
        fs::write(top.path().join("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(top.path().join("home/.config/convoke")).unwrap();
        Self { top, variables: Vec::new() }
    }

    fn with(&self, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convoke"));
        command.env_clear().current_dir(self.path("project")).env("HOME", self.path("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.envs(variables.iter().copied());
        command
    }

    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        self.with(variables).args(arguments).output().unwrap()
    }

    fn stdout(&self, variables: &[(&str, &str)], arguments: &[&str]) -> String {
        let output = self.run(variables, arguments);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn configure(&self, text: &str) {
        fs::write(self.path("home/.config/convoke/config.toml"), text).unwrap();
    }
}

fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_team_keeps_its_store_on_a_server() {
    let server = TestServer::start();
    commands_work(&server);
    passwords_stay_secret(&server);
    only_the_user_chooses(&server);
    stores_move(&server);
    runs_have_one_machine(&server);
    hooks_survive_without_their_server(&server);
    // The last, because it stops the server.
    replica::hooks_answer_from_the_copy(&server);
}

#[test]
fn processes_that_race_deliver_each_message_once() {
    races::processes_that_race_deliver_each_message_once(&TestServer::start());
}

#[test]
fn the_guide_to_a_team_shows_what_happens() {
    guide::the_guide_to_a_team_shows_what_happens(&TestServer::start());
}

#[test]
fn members_reach_their_own_projects_only() {
    team::members_reach_their_own_projects_only(&TestServer::start());
}

fn commands_work(server: &TestServer) {
    let ground = Ground::new();
    let address = server.new_database();
    let store = [("CONVOKE_STORE", address.as_str())];
    ground.stdout(&store, &["task", "add", "Write the parser"]);
    assert!(ground.stdout(&store, &["task", "tree"]).contains("Write the parser"));
    ground.stdout(&store, &["say", "hello @june"]);
    assert!(ground.stdout(&store, &["inbox", "june"]).contains("hello @june"));
    let checked = ground.stdout(&store, &["store", "check"]);
    assert!(checked.starts_with("postgres://") && checked.ends_with("  sound\n"), "{checked}");
    assert!(!ground.path("home/.local/state/convoke/store.db").exists());
    // Another machine of the team, with a folder of its own, sees the same store.
    let projects = Ground::new().stdout(&store, &["project", "list"]);
    assert!(projects.contains("project"), "{projects}");
    let status = ground.stdout(&store, &["status"]);
    assert!(status.contains("Write the parser"), "{status}");
}

fn passwords_stay_secret(server: &TestServer) {
    let ground = Ground::new();
    server.sql("postgres", "CREATE DATABASE secret");
    let address = server.tcp_address(USER, "secret");
    let store = ("CONVOKE_STORE", address.as_str());
    let check = ["store", "check"];
    ground.stdout(&[store, ("CONVOKE_STORE_PASSWORD", PASSWORD)], &check);
    let file = ground.path("password");
    fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = file.display().to_string();
    ground.stdout(&[store, ("CONVOKE_STORE_PASSWORD_FILE", &file)], &check);
    ground.configure(&format!("[store]\npath = '{address}'\npassword_command = 'cat {file}'\n"));
    ground.stdout(&[], &check);
    ground.configure("");
    let url = server.tcp_address(&format!("{USER}:wr0ng-secret"), "secret");
    let tries: [&[(&str, &str)]; 3] = [
        &[("CONVOKE_STORE", &url)],
        &[store, ("CONVOKE_STORE_PASSWORD", "wr0ng-secret")],
        // `config list` shows the command itself, which is no secret.
        &[store, ("CONVOKE_STORE_PASSWORD_COMMAND", "printf wr0ng-; echo secret; exit 3")],
    ];
    for variables in tries {
        for arguments in [&["--log", "trace", "task", "list"][..], &["doctor"], &["config", "list"]]
        {
            let told = said(&ground.run(variables, arguments));
            assert!(!told.contains("wr0ng-secret"), "{arguments:?}: {told}");
        }
        let output = ground.run(variables, &["task", "list"]);
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        assert!(said(&output).contains("hint: "), "{}", said(&output));
    }
}

fn only_the_user_chooses(server: &TestServer) {
    let ground = Ground::new();
    let address = server.new_database();
    fs::write(ground.path("project/convoke.toml"), format!("[store]\npath = '{address}'\n"))
        .unwrap();
    let output = ground.run(&[], &["task", "add", "mine"]);
    assert!(said(&output).contains("is ignored"), "{}", said(&output));
    assert!(ground.path("home/.local/state/convoke/store.db").exists());
    ground.configure("[store]\npath = 'postgres://ana:hush@127.0.0.1/x'\n");
    let output = ground.run(&[], &["task", "list"]);
    assert!(said(&output).contains("without a password"), "{}", said(&output));
    assert!(!said(&output).contains("hush"), "{}", said(&output));
    let unencrypted = [("CONVOKE_STORE", "postgres://ana:hush@db.example/x?sslmode=disable")];
    let output = ground.run(&unencrypted, &["task", "list"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("unencrypted") && !said(&output).contains("hush"));
}

fn stores_move(server: &TestServer) {
    let ground = Ground::new();
    ground.stdout(&[], &["task", "add", "Write the parser"]);
    ground.stdout(&[], &["say", "hello @june"]);
    let address = server.new_database();
    let moved = ground.stdout(&[], &["store", "move", "--to", &address, "--json"]);
    let moved: Value = serde_json::from_str(&moved).unwrap();
    assert_eq!(moved["was_there"], false);
    assert!(moved["rows"].as_u64().unwrap() > 3, "{moved}");
    let again = ground.stdout(&[], &["store", "move", "--to", &address]);
    assert!(again.starts_with("found the copy of "), "{again}");
    let store = [("CONVOKE_STORE", address.as_str())];
    assert!(ground.stdout(&store, &["inbox", "june"]).contains("hello @june"));
    ground.stdout(&store, &["task", "add", "Write the printer"]);
    let back = ground.path("back.db").display().to_string();
    ground.stdout(&store, &["store", "move", "--to", &back]);
    let here = [("CONVOKE_STORE", back.as_str())];
    let tree = ground.stdout(&here, &["task", "tree"]);
    assert!(tree.contains("Write the parser") && tree.contains("Write the printer"), "{tree}");
    let output = ground.run(&[], &["store", "move", "--to", &address]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("holds nothing yet"), "{}", said(&output));
}

// A run that another machine works on is running, and is not resumed here.
fn runs_have_one_machine(server: &TestServer) {
    let ground = Ground::new();
    let address = server.new_database();
    let store = [("CONVOKE_STORE", address.as_str())];
    ground.stdout(&store, &["task", "add", "Write the parser"]);
    let kept = convoke_store::open(&StoreLocation::parse(&address)).unwrap();
    let run = RunId::parse("20261117-200000-abcde").unwrap();
    let scope = Scope::new("project", "main");
    kept.begin_run(&run, &scope, "Add a search", Timestamp::UNIX_EPOCH).unwrap();
    let state = || {
        let runs: Value =
            serde_json::from_str(&ground.stdout(&store, &["runs", "--json"])).unwrap();
        runs[0]["state"].clone()
    };
    assert_eq!(state(), "stopped");
    let owner = Owner { pid: 7, mark: "boot pid:[1] 1 on 0123456789ab".to_owned() };
    let lasts = SignedDuration::from_mins(10);
    let claim = LeaseClaim { owner: &owner, machine: "build-1", lasts, is_gone: &|_| false };
    kept.take_lease(&run, claim, Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(state(), "running");
    let refused = ground.run(&store, &["resume", run.as_str()]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    let why = format!("cannot work on run {run}: process 7 on `build-1` works on it");
    assert!(said(&refused).contains(&why), "{}", said(&refused));
    kept.end_lease(&run, &owner).unwrap();
    assert_eq!(state(), "stopped");
    let resumed = ground.run(&store, &["resume", run.as_str()]);
    assert!(!said(&resumed).contains("build-1"), "{}", said(&resumed));
}

// A client goes on when its hook cannot reach the store, and the user can find out why.
fn hooks_survive_without_their_server(server: &TestServer) {
    let ground = Ground::new();
    let address = server.new_database();
    let store = [("CONVOKE_STORE", address.as_str())];
    ground.stdout(&store, &["pin", "add", "Never push to main."]);
    let input = format!(
        "{{\"hook_event_name\":\"SessionStart\",\"source\":\"compact\",\"session_id\":\"s1\",\"cwd\":\"{}\"}}",
        ground.path("project").display()
    );
    fs::write(ground.path("input"), input).unwrap();
    let hook = |store: &[(&str, &str)]| {
        let mut command = ground.with(store);
        command.env("CONVOKE_AGENT", "june").args(["hook", "claude", "SessionStart"]);
        command.stdin(fs::File::open(ground.path("input")).unwrap()).output().unwrap()
    };
    let output = hook(&store);
    assert!(said(&output).contains("Never push to main."), "{}", said(&output));
    let away = [("CONVOKE_STORE", "postgres://ana@127.0.0.1:1/x")];
    let output = hook(&away);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
