//! Cases of several people and workers that share lanes: names, members of a team, workers that lack
//! what a lane needs.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::process::{Process, command, is_alive, signal, wait_for};
use crate::stage::{Lane, Stage, postgres};

pub(crate) fn name_is_submitted_again(stage: &Stage) {
    let _worker = stage.worker("only", 1);
    let named = ["--name", "review of login"];
    let asleep = stage.lane("lane-0", &named);
    let cancelled = stage.wait_for_clients("lane-0", 1);
    signal("-STOP", asleep.process.pid());
    // The second submitter finds the lane, and ends it.
    let second = stage.lane("lane-0", &named);
    signal("-TERM", second.process.pid());
    assert_eq!(second.process.end(), Some(130));
    wait_for("the client is stopped", || !is_alive(cancelled[0]));
    let third = stage.lane("lane-0", &named);
    assert_eq!(third.of("submitted")[0]["generation"], 3);
    let clients = stage.wait_for_clients("lane-0", 2);
    signal("-CONT", asleep.process.pid());
    assert_eq!(asleep.process.end(), Some(4), "it hears that its generation is over");
    assert!(is_alive(clients[1]), "the lane of the third submitter goes on");
    stage.answer("lane-0");
    third.finish();
}

/// A run whose lanes are on workers is killed while they run, and comes back for their answers.
pub(crate) fn run_is_killed(stage: &Stage) {
    let _worker = stage.worker("only", 3);
    let items: Vec<_> = (0..3).map(|number| format!("lane-{number}")).collect();
    fs::write(stage.path("app/items.txt"), items.join("\n")).unwrap();
    let words =
        ["fan", "--agent", "fleet:claude@app", "{{item}} and think", "--lines", "items.txt"];
    let first = stage.convoke(&words);
    for item in &items {
        drop(stage.wait_for_clients(item, 1));
    }
    first.kill();
    for item in &items {
        stage.answer(item);
    }
    let printed = stage.convoke(&words).stdout(Some(0));
    for item in &items {
        let mine = printed.matches(&format!("{item} by ")).count();
        assert_eq!(mine, 1, "{item}: {printed}");
        assert_eq!(stage.clients(item).len(), 1, "its agent was asked once");
    }
    stage.expect_in_ledger(items.len());
}

/// Waits until a lane was given back so many times.
fn wait_for_returns(stage: &Stage, lane: &Lane, worker: &Process, count: u64) -> String {
    let id = lane.of("submitted")[0]["fleet_lane"].as_str().unwrap().to_owned();
    worker.stderr_until(&format!("gave lane {id} back"));
    let mut said = String::new();
    wait_for("the lane is given back more often than it may be begun", || {
        let shown = stage.convoke(&["fleet", "status", "--json"]).stdout(Some(0));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let of_lane = shown["lanes"].as_array().unwrap().iter().find(|lane| lane["id"] == id);
        let of_lane = of_lane.unwrap();
        of_lane["waits_for"].as_str().unwrap_or_default().clone_into(&mut said);
        of_lane["attempt"].as_u64().unwrap() >= count && !said.is_empty()
    });
    said
}

/// Lets a worker offer a clone that has none of the commits.
fn with_empty_clone(stage: &Stage, mut worker: Command) -> Command {
    let clone = stage.path("empty-clone");
    let mut git = command("git");
    git.args(["init", "-q"]).arg(&clone);
    assert!(git.status().unwrap().success());
    let home = stage.path("other-home");
    fs::create_dir_all(home.join(".config/convoke")).unwrap();
    Stage::write_config_with(&home, stage.port, &clone, "");
    worker.env("HOME", home);
    worker
}

pub(crate) fn clone_lacks_the_commit(stage: &Stage) {
    let good = stage.worker("good", 1);
    let first = stage.lane("lane-0", &[]);
    stage.wait_for_clients("lane-0", 1);
    // The only worker that is free has not fetched for a while, and cannot.
    let unfit = stage.worker_by("unfit", 1, |worker| with_empty_clone(stage, worker));
    let second = stage.lane("lane-1", &[]);
    let said = wait_for_returns(stage, &second, &unfit, 4);
    assert!(said.contains("cannot find commit"), "{said}");
    stage.answer("lane-0");
    stage.answer("lane-1");
    first.finish();
    second.finish();
    for name in ["lane-0", "lane-1"] {
        assert_eq!(stage.clients(name).len(), 1, "each agent was asked once");
    }
    signal("-TERM", good.pid());
    assert_eq!(good.end(), Some(0));
    // Nothing is left that could run it, and the submitter hears what is missing.
    let third = stage.lane("lane-2", &[]);
    assert_eq!(third.process.end(), Some(4));
    let why = third.rest_of("lost")[0]["why"].as_str().unwrap().to_owned();
    assert!(
        why.contains("every worker gave it back") && why.contains("cannot find commit"),
        "{why}"
    );
}

/// A later version asks for what an older worker cannot read.
pub(crate) fn worker_is_older(stage: &Stage) {
    let _good = stage.worker("good", 1);
    let first = stage.lane("lane-0", &[]);
    stage.wait_for_clients("lane-0", 1);
    let second = stage.lane("lane-1", &[]);
    let sql = |sql: &str| postgres().sql(&stage.database(), sql);
    let (known, version) = ("\"written_by\":\"", env!("CARGO_PKG_VERSION"));
    let later = format!("\"novel\":1,{known}9.1.0");
    let change = |from: &str, to: &str, which: &str| {
        sql(&format!(
            "UPDATE fleet_lanes SET request = replace(request, '{from}', '{to}') {which}"
        ));
    };
    change(&format!("{known}{version}"), &later, "WHERE state = 'waiting'");
    let older = stage.worker("older", 1);
    let said = wait_for_returns(stage, &second, &older, 4);
    assert!(said.contains("convoke 9.1.0 wrote it with `novel`"), "{said}");
    signal("-TERM", older.pid());
    assert_eq!(older.end(), Some(0));
    change(&later, &format!("{known}{version}"), "");
    stage.answer("lane-0");
    stage.answer("lane-1");
    first.finish();
    second.finish();
    assert_eq!(stage.clients("lane-1").len(), 1, "the agent was asked once");
}

pub(crate) fn members_share_a_fleet(stage: &Stage) {
    fs::create_dir_all(stage.path("other/.git")).unwrap();
    for folder in ["app", "other"] {
        let mut add = stage.convoke_command(&["task", "add", "Write the parser"]);
        add.current_dir(stage.path(folder));
        Process::start(add).stdout(Some(0));
    }
    stage.convoke(&["team", "init"]).stdout(Some(0));
    for (member, project) in [("ana", "app"), ("wil", "app"), ("eve", "other")] {
        // Members of all trials have the same names, and the server knows each once.
        postgres().sql("postgres", &format!("DROP ROLE IF EXISTS {member}"));
        stage.convoke(&["team", "invite", member, project]).stdout(Some(0));
    }
    let of = |member: &'static str| {
        let store = stage.store_of(member);
        move |mut program: Command| {
            program.env("CONVOKE_STORE", &store);
            program
        }
    };
    Process::start(of("ana")(stage.convoke_command(&["project", "attach", "app"]))).stdout(Some(0));
    // One whose member has another project cannot see the lane, and uses up none of its attempts.
    let stranger = stage.worker_by("eves", 1, of("eve"));
    let lane = stage.begin_lane_by("lane-0", &[], of("ana"));
    lane.until("submitted");
    stranger.stderr_until("its user is not of the lane's project");
    let worker = stage.worker_by("wils", 1, of("wil"));
    stage.wait_for_clients("lane-0", 1);
    let status = of("ana")(stage.convoke_command(&["fleet", "status", "--json"]));
    let status: Value = serde_json::from_str(&Process::start(status).stdout(Some(0))).unwrap();
    assert_eq!(status["workers"].as_array().unwrap().len(), 2, "{status}");
    assert_eq!(status["lanes"][0]["state"], "running", "{status}");
    // A worker is its member's: another one cannot drain it.
    let drain = of("ana")(stage.convoke_command(&["fleet", "drain", "wils"]));
    Process::start(drain).stdout(Some(2));
    stage.answer("lane-0");
    assert!(lane.finish() < Duration::from_mins(2));
    signal("-TERM", worker.pid());
    assert_eq!(worker.end(), Some(0));
    let rows = |sql: &str| postgres().sql(&stage.database(), sql);
    assert_eq!(rows("SELECT member FROM fleet_lanes"), "ana");
    let audit = "SELECT string_agg(DISTINCT member || ' ' || action, ', ' ORDER BY member || ' ' || action) \
                 FROM team_audit WHERE subject = 'fleet_lanes'";
    assert_eq!(rows(audit), "ana insert, wil update");
}
