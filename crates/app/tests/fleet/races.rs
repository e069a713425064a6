//! Real processes that hand records over, copy the server and answer hooks at the same time.

use std::fs;
use std::process::{Child, Output, Stdio};

use serde_json::Value;

use crate::replica::{COPY, variables};
use crate::server::{TestServer, USER};
use crate::{Ground, said};

const ROUNDS: usize = 5;

/// No server answers within this time, in milliseconds: hooks answer from the copy.
const TOO_SHORT: &str = "1";

/// Every server that runs answers within this time.
const LONG: &str = "60000";

/// One agent with its sessions, and the number of hooks that it had.
struct Racers<'a> {
    ground: &'a Ground,
    address: &'a str,
    hooks: usize,
}

impl Racers<'_> {
    fn start(&self, limit: &str, arguments: &[&str], input: Option<&str>) -> Child {
        let mut command = self.ground.with(&variables(self.address, limit));
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        match input {
            None => command.stdin(Stdio::null()),
            Some(file) => {
                command.env("CONVOKE_AGENT", "june");
                command.stdin(fs::File::open(self.ground.path(file)).unwrap())
            }
        };
        command.spawn().unwrap()
    }

    /// Starts the hook of a compaction, which no other one is equal to.
    fn start_hook(&mut self, limit: &str, session: &str) -> Child {
        self.hooks += 1;
        let file = format!("hook-{}", self.hooks);
        let input = format!(
            "{{\"hook_event_name\":\"SessionStart\",\"source\":\"compact\",\
             \"session_id\":\"{session}\",\"cwd\":\"{}\",\"salt\":{}}}",
            self.ground.path("project").display(),
            self.hooks,
        );
        fs::write(self.ground.path(&file), input).unwrap();
        self.start(limit, &["hook", "claude", "SessionStart"], Some(&file))
    }

    fn hook(&mut self, limit: &str, session: &str) -> String {
        said(&wait_for(self.start_hook(limit, session)))
    }
}

/// Returns the messages that a wake-up delivers; the ones below were delivered before.
fn new_messages(wake_up: &str) -> &str {
    let (_, rest) = wake_up.split_once("## New Message").unwrap();
    rest.split("## Your Next Action").next().unwrap()
}

fn wait_for(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    output
}

/// W-86: nothing is lost, and nothing is delivered twice, whichever process is first.
pub(crate) fn processes_that_race_deliver_each_message_once(server: &TestServer) {
    server.sql("postgres", "CREATE DATABASE races");
    let address = server.tcp_address(USER, "races");
    let ground = Ground::new();
    let store = variables(&address, LONG);
    ground.stdout(&store, &["task", "add", "Write the parser", "--agent", "june"]);
    let mut racers = Racers { ground: &ground, address: &address, hooks: 0 };
    racers.hook(LONG, "s1");
    let (mut told, mut from_copy) = (String::new(), 0);
    for round in 0..ROUNDS {
        // A hook records in the copy; several processes hand that over together.
        ground.stdout(&store, &["say", &format!("recorded-{round} for @june")]);
        let text = racers.hook(TOO_SHORT, "s1");
        from_copy += usize::from(text.contains(COPY));
        told.push_str(new_messages(&text));
        let race = [
            racers.start(LONG, &["sync"], None),
            racers.start(LONG, &["task", "list"], None),
            racers.start(LONG, &["sync"], None),
        ];
        race.into_iter().map(wait_for).for_each(drop);
        // A hook answers while others copy the server.
        ground.stdout(&store, &["say", &format!("direct-{round} for @june")]);
        let race = [
            racers.start(LONG, &["sync"], None),
            racers.start_hook(LONG, "s1"),
            racers.start(LONG, &["sync"], None),
        ];
        let [_, hook, _] = race.map(wait_for);
        told.push_str(new_messages(&said(&hook)));
        // What the copies held then must not bring a message back.
        told.push_str(new_messages(&racers.hook(TOO_SHORT, "s1")));
        wait_for(racers.start(LONG, &["sync"], None));
        told.push_str(new_messages(&racers.hook(LONG, "s1")));
    }
    assert_eq!(from_copy, ROUNDS, "hooks that the copy answered");
    two_sessions_of_one_agent(&mut racers, &store);
    let count = |words: String| told.matches(&words).count();
    let counts: Vec<_> = (0..ROUNDS)
        .map(|round| (count(format!("recorded-{round} for")), count(format!("direct-{round} for"))))
        .collect();
    assert_eq!(counts, vec![(1, 1); ROUNDS], "deliveries of each message");
    assert_eq!(ground.unread(&store), 0);
    let status: Value =
        serde_json::from_str(&ground.stdout(&store, &["status", "--json"])).unwrap();
    assert_eq!(status["copy"]["waiting"], 0, "{status}");
}

/// W-86: one session has its answer from the server, and has not delivered it when another session of the
/// agent answers from the copy, which holds the message as unread; and the other way round.
fn two_sessions_of_one_agent(racers: &mut Racers<'_>, store: &[(&str, &str)]) {
    let ground = racers.ground;
    racers.hook(LONG, "s2");
    for round in 0..ROUNDS {
        for (place, limits) in [(0, [LONG, TOO_SHORT]), (1, [TOO_SHORT, LONG])] {
            let words = format!("shared-{round}-{place} for");
            ground.stdout(store, &["say", &format!("{words} @june")]);
            ground.stdout(store, &["sync"]);
            let race = [racers.start_hook(limits[0], "s1"), racers.start_hook(limits[1], "s2")];
            let mut told: String = race
                .map(wait_for)
                .iter()
                .map(|hook| new_messages(&said(hook)).to_owned())
                .collect();
            told.push_str(new_messages(&racers.hook(LONG, "s1")));
            assert_eq!(told.matches(&words).count(), 1, "round {round}, {limits:?}: {told}");
        }
    }
}
