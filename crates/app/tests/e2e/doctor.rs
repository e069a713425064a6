//! `convoke doctor`: what keeps Convoke from working, and what mends it.

use std::fs;

use serde_json::Value;

use crate::agents::stopped;
use crate::harness::Project;
use crate::lane::with_claude;
use crate::scripted_server::{Reply, Server};

/// Returns the checks with a name: how bad, what was found, and what mends it.
fn checks(project: &Project, name: &str) -> (Option<i32>, Vec<[String; 3]>) {
    let outcome = project.run(&["doctor", "--json"]);
    let all: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = all.as_array().unwrap().iter().filter(|check| check["name"] == name);
    let found =
        found.map(|check| [text(&check["level"]), text(&check["found"]), text(&check["fix"])]);
    (outcome.code, found.collect())
}

#[track_caller]
fn check(project: &Project, name: &str, level: &str, found: &str, fix: &str) {
    let (code, checks) = checks(project, name);
    let is_it = |it: &[String; 3]| it[0] == level && it[1].contains(found) && it[2].contains(fix);
    assert!(checks.iter().any(is_it), "{checks:#?}");
    if level == "fail" {
        assert_eq!(code, Some(3));
    }
}

fn healthy() -> Project {
    with_claude("exit 0").in_repository("main")
}

#[test]
fn where_all_is_well_nothing_fails() {
    let outcome = healthy().run(&["doctor"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
    assert!(!outcome.stdout.contains("fail"), "{outcome}");
    for line in ["ok    agents: claude\n", "ok    guardian: it supervises a client\n"] {
        assert!(outcome.stdout.contains(line), "{outcome}");
    }
}

// A client that is older than any that Convoke is tested with may not know its flags.
#[test]
fn the_version_of_every_client_is_checked() {
    let says = |version: &str| with_claude(&format!("echo '{version}'")).in_repository("main");
    let old = says("1.0.44 (Claude Code)");
    check(&old, "client", "warn", "claude 1.0.44 (Claude Code) is older than 2.1", "update claude");
    let good = says("2.1.325 (Claude Code)");
    check(&good, "client", "ok", "claude 2.1.325 (Claude Code)", "");
    check(&says("no idea"), "client", "warn", "`no idea`, which is not a version", "reinstall");
}

#[test]
fn what_is_missing_is_named_with_what_mends_it() {
    let bare = Project::new().variable("PATH", "/usr/bin:/bin");
    check(&bare, "project", "warn", "no `.git`, `convoke.toml` or `.moai` found", "git init");
    check(&bare, "agents", "fail", "no client is on the PATH", "install one of claude, codex");
    let lonely = Project::new().variable("PATH", "/nowhere");
    check(&lonely, "git", "warn", "not found", "install git");
}

#[test]
fn broken_files_are_named() {
    let project = healthy().file("convoke.toml", "[brief\n");
    check(&project, "configuration", "fail", "convoke.toml", "correct the file");
    let project = healthy().file("convoke.toml", "[brief]\nbudjet = 1\n");
    check(&project, "configuration", "fail", "`brief.budjet`", "known keys");
    let project = healthy().file("../home/.local/state/convoke/store.db", "no database at all\n");
    check(&project, "store", "fail", "cannot", "");
    let project = healthy().variable("CONVOKE_STORE", "/proc/nowhere/store.db");
    check(&project, "folders", "fail", "/proc/nowhere is not writable", "CONVOKE_STORE");
    let project = healthy().variable("XDG_CACHE_HOME", "cache");
    check(&project, "folders", "warn", "XDG_CACHE_HOME is a relative path", "absolute");
    let project = healthy().variable("TMPDIR", "/nowhere");
    check(&project, "temporary files", "fail", "Convoke cannot write any", "TMPDIR");
}

// A hook that calls a program that is gone fails without a word.
#[test]
fn hooks_that_cannot_work_are_named() {
    let project = healthy();
    project.run(&["hooks", "install", "claude"]);
    check(&project, "hooks", "ok", "settings.json calls this convoke", "");
    let path = project.path(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(env!("CARGO_BIN_EXE_convoke"), "/gone/convoke")).unwrap();
    check(&project, "hooks", "fail", "calls /gone/convoke", "convoke hooks install claude");
    let project = healthy();
    project.run(&["hooks", "install", "codex"]);
    check(&project, "hooks", "warn", "not trusted", "/hooks");
}

// Keys are nobody's business; their names are enough.
#[test]
fn keys_are_known_by_name_alone() {
    let project = healthy().variable("ANTHROPIC_API_KEY", "sk-secret");
    check(&project, "keys", "ok", "ANTHROPIC_API_KEY in the environment", "");
    for arguments in [&["doctor"][..], &["doctor", "--json"], &["agents"]] {
        assert!(!project.run(arguments).to_string().contains("sk-secret"));
    }
}

// Who asks to stop waits for nobody.
#[test]
fn who_is_asked_in_vain_can_be_left() {
    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let config = format!("[lane.http.it]\napi = 'chat'\nurl = '{}'\nmodel = 'm'\n", server.url());
    let project = healthy().file("../home/.config/convoke/config.toml", config);
    let outcome = stopped(&project, &["doctor"], || !server.asked().is_empty());
    assert_eq!(outcome.status.code(), Some(130));
    assert!(outcome.stdout.is_empty() && outcome.stderr.is_empty());
}

// An API is looked at as it is configured, and its key is never shown.
#[test]
fn apis_are_looked_at() {
    let config = |text: &str| healthy().file("../home/.config/convoke/config.toml", text);
    let api = |url: &str, more: &str| {
        config(&format!(
            "[lane.http.small]\napi = \"chat\"\nurl = \"{url}\"\nmodel = \"m\"\n{more}"
        ))
    };
    let name = "models' APIs";
    check(&api("ftp://x", ""), name, "fail", "cannot use `lane.http.small.url`", "");
    let keyless = api("https://localhost/v1", "key_env = \"SMALL_KEY\"\n");
    check(&keyless, name, "warn", "`SMALL_KEY` is not set", "set the variable");
    // Whoever listens answers, whatever it says; nobody listens where nobody may.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", server.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut client, _) = server.accept().unwrap();
        let (mut asked, mut chunk) = (String::new(), [0; 1024]);
        while !asked.contains("\r\n\r\n") {
            let count = client.read(&mut chunk).unwrap();
            asked.push_str(&String::from_utf8_lossy(&chunk[..count]));
        }
        client.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap();
        asked
    });
    let there = api(&address, "key_env = \"SMALL_KEY\"\n").variable("SMALL_KEY", "sk-secret");
    let outcome = there.run(&["doctor"]);
    let line = format!("ok    models' APIs: http:small at {address} answers\n");
    assert!(outcome.stdout.contains(&line), "{outcome}");
    assert!(!outcome.to_string().contains("sk-secret"), "{outcome}");
    assert!(!answering.join().unwrap().contains("sk-secret"), "no key is sent");
    let gone = api(&address, "");
    check(&gone, name, "warn", "does not answer: Connection refused", "[lane.http.small]");
    let unasked = gone.run(&["doctor", "--no-probe"]);
    assert!(unasked.stdout.contains(&format!("http:small at {address}\n")), "{unasked}");
    // Who has an API needs no client.
    let alone = gone.variable("PATH", "/nowhere");
    check(&alone, "agents", "ok", "model APIs are configured", "");
}

// On a full disk SQLite cannot even read. What mends that must not lose a sound store.
#[cfg(unix)]
#[test]
fn a_disk_that_takes_no_byte_costs_no_store() {
    let project = healthy();
    project.run(&["task", "add", "x"]);
    let program = env!("CARGO_BIN_EXE_convoke");
    let line = format!("trap '' XFSZ; ulimit -f 0; exec {program} doctor --json");
    let outcome = project.shell(&line, "");
    let all: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let store = all.as_array().unwrap().iter().find(|check| check["name"] == "store").unwrap();
    let fix = store["fix"].as_str().unwrap();
    assert_eq!(store["level"], "fail", "{store}");
    assert!(fix.contains("disk") && fix.contains("keep its files"), "{store}");
    assert!(!fix.contains("away") && !fix.contains("backup"), "{store}");
    assert!(project.stdout(&["task", "list"]).contains('x'));
}
