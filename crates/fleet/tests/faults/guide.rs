//! The part of the guide "From one laptop to a team" about workers, followed line by line. Only what
//! differs between the guide's machines and this one is replaced: addresses, names of folders and the
//! password, which a connection by socket does not need.

use std::collections::BTreeMap;
use std::fs;

use crate::process::{Process, wait_for};
use crate::stage::Stage;

const GUIDE: &str = include_str!("../../../../docs/guide/from-one-laptop-to-a-team.md");

/// The first word of the guide's prompt, which names the lane for the test's client.
const LANE: &str = "Which";

/// Splits a line as a shell does, as far as the guide needs it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

pub(crate) fn workers_of_the_guide(stage: &Stage) {
    stage.convoke(&["task", "add", "Write the parser"]).stdout(Some(0));
    stage.convoke(&["team", "init"]).stdout(Some(0));
    let (_, guide) = GUIDE.split_once("\n## 7. ").unwrap();
    let (mut printed, mut variables) = (String::new(), BTreeMap::new());
    let mut worker: Option<Process> = None;
    for block in guide.split("```text\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (mark, rest) = block.split_once('\n').unwrap();
        if mark.starts_with("; ") {
            let folder = stage.path("app").display().to_string();
            let temporal = format!("http://127.0.0.1:{}", stage.port);
            let rest = rest.replace("https://temporal.example", &temporal);
            let rest = rest.replace("shop = ", "app = ").replace("/srv/clones/shop", &folder);
            fs::write(stage.path("home/.config/convoke/config.toml"), rest).unwrap();
            continue;
        }
        for line in rest.lines() {
            let line = line.replace("@shop", "@app").replace(" shop", " app");
            let words = words(&line);
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            match (mark, &words[..]) {
                // The stage has its own.
                ("# on the server", ["temporal", "server", "start-dev", ..]) => {}
                ("# on the build server", ["export", set]) => {
                    let (name, value) = set.split_once('=').unwrap();
                    let value = match value.strip_prefix("postgres://") {
                        Some(rest) => stage.store_of(rest.split('@').next().unwrap()),
                        None => value.to_owned(),
                    };
                    variables.insert(name.to_owned(), value);
                }
                ("# on the build server", ["convoke-fleet", words @ ..]) => {
                    let mut command = stage.fleet(words);
                    command.envs(&variables);
                    let started = Process::start(command);
                    started.stderr_until("offers claude@app");
                    worker = Some(started);
                }
                ("# on your laptop", ["convoke", words @ ..]) => {
                    let process = stage.convoke(words);
                    if words.contains(&"run") {
                        stage.wait_for_clients(LANE, 1);
                        stage.answer(LANE);
                    }
                    printed.push_str(&process.stdout(Some(0)));
                }
                _ => panic!("the test does not know `{line}` {mark}"),
            }
        }
    }
    for found in ["invited box to app", "build", &format!("{LANE} by "), "draining 1 worker"] {
        assert!(printed.contains(found), "{found}: {printed}");
    }
    let worker = worker.unwrap();
    wait_for("the worker drains", || worker.try_end().is_some());
    assert_eq!(worker.end(), Some(0));
    stage.expect_in_ledger(1);
}
