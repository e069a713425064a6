//! `convoke doctor`: what keeps Convoke from working, and what mends it.

use std::fs;

use serde_json::Value;

use crate::agents::stopped;
use crate::harness::{Project, set_mode};
use crate::lane::{init, result, with_claude};
use crate::scripted_server::{Reply, Server};

/// Returns the checks with a name: level, result, and remedy.
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
    let is_expected = |check: &[String; 3]| {
        check[0] == level && check[1].contains(found) && check[2].contains(fix)
    };
    assert!(checks.iter().any(is_expected), "{checks:#?}");
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

// A client that is older than the one that Convoke is tested with may not know its flags.
#[test]
fn the_version_of_every_client_is_checked() {
    let says = |version: &str| with_claude(&format!("echo '{version}'")).in_repository("main");
    let old = says("2.0.1 (Claude Code)");
    let words = "claude 2.0.1 is of an earlier series than 2.1.325, which Convoke is tested with";
    check(&old, "client", "warn", words, "install claude 2.1.325");
    let good = says("2.1.325 (Claude Code)");
    check(&good, "client", "ok", "claude 2.1.325 (Claude Code)", "");
    let patch = says("2.1.3 (Claude Code)");
    check(&patch, "client", "ok", "claude 2.1.3 (Claude Code); tested with 2.1.325", "");
    check(&says("no idea"), "client", "warn", "`no idea`, which is not a version", "reinstall");
}

/// A client that tells its version, and says something to every other command; what it is started
/// with is kept.
fn saying(version: &str, words: &str) -> Project {
    let script = format!(
        "[ \"$1\" = --version ] && {{ echo '{version}'; exit; }}\n\
         cat > \"$HOME/prompt\"; env > \"$HOME/environment\"; pwd > \"$HOME/folder\"\n\
         printf '%s\\n' \"$@\" > \"$HOME/arguments\"\n\
         echo \"{words}\" >&2; exit 1"
    );
    with_claude(&script).in_repository("main")
}

const NO_PROMPT: &str =
    "Error: Input must be provided either through stdin or as a prompt argument when using --print";

// The very command of a lane, but for the prompt: so no model answers.
#[test]
fn every_client_is_given_the_command_of_a_lane_without_a_prompt() {
    let project = saying("2.1.325", NO_PROMPT)
        .variable("ANTHROPIC_API_KEY", "sk-own")
        .variable("OPENAI_API_KEY", "sk-other");
    let words = "claude -p --output-format=stream-json --verbose --include-partial-messages \
         --tools=Read,Grep,Glob --permission-mode=dontAsk --strict-mcp-config`; `--probe` checks \
         login, model and answer";
    check(&project, "lane command", "ok", words, "");
    let kept = |name: &str| fs::read_to_string(project.path("../home").join(name)).unwrap();
    let environment = kept("environment");
    assert_eq!(kept("prompt"), "");
    assert!(environment.contains("ANTHROPIC_API_KEY=sk-own"), "{environment}");
    assert!(environment.contains("DISABLE_AUTOUPDATER=1"), "{environment}");
    assert!(!environment.contains("sk-other"), "{environment}");
    assert_ne!(kept("folder").trim(), project.root().display().to_string(), "an empty folder");
    let given = kept("arguments");
    let lane = saying("2.1.325", NO_PROMPT);
    lane.run(&["lane", "run", "--agent", "claude", "--no-tree-check", "Say hello"]);
    let ran = fs::read_to_string(lane.path("../home/arguments")).unwrap();
    assert_eq!(given, ran, "a lane runs the same");
}

#[test]
fn a_client_that_lacks_a_flag_fails_and_one_that_says_something_else_is_doubted() {
    let refusal = "error: unknown option '--include-partial-messages'";
    let old = saying("1.0.44", refusal);
    let words = format!("claude 1.0.44 is too old: {refusal}; a lane runs `");
    check(&old, "lane command", "fail", &words, "install claude 2.1.325");
    let words = format!("claude refuses the command of a lane: {refusal}");
    check(&saying("3.0.0", refusal), "lane command", "fail", &words, "install claude 2.1.325");
    let unclear = saying("2.1.325", "Welcome!");
    let words = "it said `Welcome!`";
    check(&unclear, "lane command", "warn", words, "`convoke doctor --probe`");
    // What it is not known to say without a prompt might be an answer, which costs.
    let cursor = Project::new().in_repository("main");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] || touch \"$HOME/asked\"\necho 1.0.0\n";
    let cursor = cursor.file("../home/bin/cursor-agent", script);
    set_mode(&cursor.path("../home/bin/cursor-agent"), 0o755);
    let bin = cursor.path("../home/bin").display().to_string();
    let cursor = cursor.variable("PATH", &format!("{bin}:/usr/bin:/bin"));
    check(&cursor, "lane command", "ok", "only `--probe` checks whether cursor takes that", "");
    check(&cursor, "client", "ok", "cursor 1.0.0; no version of it is tested", "");
    assert!(!cursor.path("../home/asked").exists(), "it was not started");
}

// A script that waits for a working agent reads the exit code alone.
#[test]
fn a_probe_that_no_agent_answers_fails_and_keeps_the_free_checks() {
    let refusal = "error: unknown option '--include-partial-messages'";
    let old = saying("1.0.44", refusal).variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0");
    let outcome = old.run(&["doctor", "--probe"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    for line in [
        "fail  lane command: claude 1.0.44 is too old",
        "fail  answer: claude did not pass the probe: it does not know one of its flags",
        "fix: install claude 2.1.325, which Convoke is tested with",
        "fail  answers: no agent answered, so no lane can",
    ] {
        assert!(outcome.stdout.contains(line), "`{line}` is not in {outcome}");
    }
    // What earlier probes found says nothing beside a new one.
    assert!(!outcome.stdout.contains(" health: "), "{outcome}");
    assert!(old.run(&["doctor"]).stdout.contains(" health: "));
    let said = format!("{}{}", init(), result(|answer| answer["result"] = "OK".into()));
    let well = with_claude(&format!("[ \"$1\" = --version ] && echo 2.1.325 && exit\n{said}"));
    let outcome = well.in_repository("main").run(&["doctor", "--probe"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(outcome.stdout.contains("ok    answer: claude answers"), "{outcome}");
}

#[test]
fn missing_parts_are_named_with_their_remedy() {
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

// A hook that calls a missing program fails silently.
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

// The output never shows a key; its name is enough.
#[test]
fn keys_are_known_by_name_alone() {
    let project = healthy().variable("ANTHROPIC_API_KEY", "sk-secret");
    check(&project, "keys", "ok", "ANTHROPIC_API_KEY in the environment", "");
    for arguments in [&["doctor"][..], &["doctor", "--json"], &["agents"]] {
        assert!(!project.run(arguments).to_string().contains("sk-secret"));
    }
}

// A user who stops Convoke waits for no probe.
#[test]
fn a_probe_without_an_answer_can_be_stopped() {
    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let config = format!("[lane.http.it]\napi = 'chat'\nurl = '{}'\nmodel = 'm'\n", server.url());
    let project = healthy().file("../home/.config/convoke/config.toml", config);
    let outcome = stopped(&project, &["doctor"], || !server.asked().is_empty());
    assert_eq!(outcome.status.code(), Some(130));
    assert!(outcome.stdout.is_empty() && outcome.stderr.is_empty());
}

// The doctor checks an API's configuration, and never shows its key.
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
    // Any reply counts as an answer; a closed port counts as none.
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
    // With an API, a client is not needed.
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
