//! A copy beside a store in the place of the server: the statements are the same for both.

use std::path::Path;
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_domain::hook::{Moment, NoticedEvent, Trace};
use convoke_domain::message::MessageKind;
use convoke_domain::owner::Owner;
use convoke_domain::pin::PinText;
use convoke_domain::scope::{Address, AgentName, Scope};
use jiff::Timestamp;
use rusqlite::backup::Backup;

use super::*;
use crate::agent::{AgentChange, AgentStore};
use crate::delivery::{Claimant, DeliveryStore, NewText, Session, TextChoice, Wording};
use crate::message::{InboxFilter, MessageStore, NewMessage};
use crate::pin::{NewPin, PinStore, Reach};
use crate::project::ProjectStore;
use crate::task::{NewTask, TaskStore};
use crate::transfer::TransferStore;

const SESSION: Session<'static> = Session { client: Client::Claude, id: "s1" };

fn june() -> Address {
    Address { scope: Scope::new("app", "main"), agent: AgentName::known("june") }
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
}

struct Team {
    folder: tempfile::TempDir,
    server: SqlStore,
    replica: Replica,
    minute: i64,
    said: Vec<i64>,
    delivered: Vec<i64>,
}

fn replica_in(folder: &Path) -> Replica {
    Replica::open(&folder.join("copy.db"), Duration::from_secs(1)).unwrap()
}

/// Copies a store into memory, where many are made in little time.
fn in_memory(store: &SqlStore) -> SqlStore {
    let mut memory = rusqlite::Connection::open_in_memory().unwrap();
    let connection = store.connection();
    #[cfg(feature = "postgres")]
    let Connection::Sqlite(from) = &*connection else { panic!("a file") };
    #[cfg(not(feature = "postgres"))]
    let Connection::Sqlite(from) = &*connection;
    Backup::new(from, &mut memory).unwrap().step(-1).unwrap();
    SqlStore::new(Connection::Sqlite(memory))
}

impl Team {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = SqlStore::open(&folder.path().join("server.db")).unwrap();
        server.project_name("/home/ana/app", "app").unwrap();
        server.add_agent(&june().scope, &june().agent, "claude").unwrap();
        let replica = replica_in(folder.path());
        let (said, delivered) = (Vec::new(), Vec::new());
        let mut team = Self { folder, server, replica, minute: 0, said, delivered };
        team.refresh();
        team
    }

    /// Returns a team in the same state, in memory.
    fn again(&self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = in_memory(&self.replica.store);
        store.prepare_replica().unwrap();
        let replica = Replica { store, path: folder.path().join("copy.db") };
        let server = in_memory(&self.server);
        let (said, delivered) = (Vec::new(), Vec::new());
        Self { folder, server, replica, minute: self.minute, said, delivered }
    }

    fn say(&mut self) {
        let (from, to) = (AgentName::known("max"), june().agent);
        let message = NewMessage {
            from: &from,
            to: Some(&to),
            kind: MessageKind::Say,
            content: "look",
            mentions: &[],
        };
        self.said.push(self.server.say(&june().scope, &message, at(self.minute)).unwrap().id);
    }

    fn refresh(&mut self) -> ReplicaRefresh {
        let scope = june().scope;
        let wish = ReplicaWish { scope: &scope, sessions: &[SESSION] };
        self.server.refresh_replica(&self.replica, wish, at(self.minute)).unwrap()
    }

    fn forward(&self) -> usize {
        self.server.take_records(&self.replica, Duration::from_secs(1)).unwrap()
    }

    /// Hands the records over, as a process that is killed before it crosses them off.
    fn forward_and_die(&self) {
        let records = WaitingRecords::read(&self.replica.store).unwrap();
        let transaction = self.server.begin().unwrap();
        records.put_into(&transaction).unwrap();
        transaction.commit().unwrap();
    }

    /// Answers a compaction from a store, with every unread message.
    fn hook(&mut self, from: From) {
        self.minute += 1;
        let store = match from {
            From::Server => &self.server,
            From::Copy => &self.replica.store,
        };
        let now = at(self.minute);
        let owner = Owner { pid: 7, mark: "me".to_owned() };
        let claimant = Claimant { owner: &owner, is_gone: &|_| true };
        store.fired(Client::Claude, "app", now).unwrap();
        store.bind(SESSION, &june()).unwrap();
        let noticed = NoticedEvent {
            moment: Moment::Compacted,
            trace: Trace::Unknown,
            mark: self.minute.unsigned_abs(),
            entries: 1,
        };
        let loss = store.notice(SESSION, 1, noticed, claimant, now).unwrap().unwrap();
        let agent = june();
        let unread =
            store.addressed_to(&agent.scope, &agent.agent, InboxFilter::Unread, None, 100).unwrap();
        let messages: Vec<_> = unread.iter().map(|message| message.id).collect();
        let wording = Wording {
            text: format!("wake-up {}", self.minute),
            messages: messages.clone(),
            newest_known: messages.last().copied(),
            record_bytes: 0,
            entries: 1,
            whose: "app\nmain\njune".to_owned(),
        };
        let is_outdated = |_: &Wording, _| true;
        let text = NewText {
            loss,
            wording: &wording,
            agent: &agent,
            is_outdated: &is_outdated,
            client: None,
            is_cleared: false,
        };
        let kept = store.keep_text(SESSION, text, claimant, now).unwrap();
        assert!(matches!(kept, TextChoice::Deliver(_)), "{kept:?}");
        if from == From::Server {
            self.replica.forget_unread(&agent, &messages).unwrap();
        }
        self.delivered.extend(&messages);
        store.delivered(SESSION, 1, loss, now).unwrap();
        let receipt = MessageReceipt { read: &messages, known: messages.last().copied() };
        let change = AgentChange::Received(receipt);
        store.change_agent(&agent.scope, &agent.agent, &change).unwrap();
    }

    fn play(&mut self, step: Step) {
        match step {
            Step::Say => self.say(),
            Step::Away => self.hook(From::Copy),
            Step::Direct => {
                self.forward();
                self.hook(From::Server);
                self.refresh();
            }
            Step::KilledDirect => {
                self.forward();
                self.hook(From::Server);
            }
            Step::Sync => {
                self.forward();
                self.refresh();
            }
            Step::KilledForward => self.forward_and_die(),
            Step::Mark => {
                self.forward();
                let agent = june();
                let unread = self.server.addressed_to(
                    &agent.scope,
                    &agent.agent,
                    InboxFilter::Unread,
                    None,
                    100,
                );
                let read: Vec<_> = unread.unwrap().iter().map(|message| message.id).collect();
                self.delivered.extend(&read);
                let change = AgentChange::Received(MessageReceipt { read: &read, known: None });
                self.server.change_agent(&agent.scope, &agent.agent, &change).unwrap();
                self.refresh();
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Server,
    Copy,
}

/// What happens, in any order.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Another agent writes to this one.
    Say,
    /// The server does not answer a hook.
    Away,
    /// It does.
    Direct,
    /// It does, and the hook is killed before it refreshes the copy.
    KilledDirect,
    /// A command reaches the server.
    Sync,
    /// One does, and is killed before it crosses the records off.
    KilledForward,
    /// The agent reads its messages with a command.
    Mark,
}

const STEPS: [Step; 7] = [
    Step::Say,
    Step::Away,
    Step::Direct,
    Step::KilledDirect,
    Step::Sync,
    Step::KilledForward,
    Step::Mark,
];

// W-86
#[test]
fn every_message_is_delivered_once_in_any_order_of_hooks_and_commands() {
    let first = Team::new();
    for number in 0..STEPS.len().pow(3) {
        let place = |digit: u32| STEPS[number / STEPS.len().pow(digit) % STEPS.len()];
        let order = [Step::Say, Step::Sync, place(0), place(1), place(2)];
        // Only orders in which the server is away once say anything.
        if !order.iter().any(|step| matches!(step, Step::Away)) {
            continue;
        }
        let mut team = first.again();
        for step in order {
            team.play(step);
        }
        team.play(Step::Direct);
        team.delivered.sort_unstable();
        assert_eq!(team.delivered, team.said, "{order:?}");
        assert_eq!(team.replica.state(&june().scope).unwrap().waiting, 0, "{order:?}");
    }
}

// W-86
#[test]
fn records_that_come_twice_change_nothing() {
    let mut team = Team::new();
    let pin = NewPin {
        text: &PinText::parse("Never push.").unwrap(),
        reach: Reach::Project,
        task: None,
        plan: None,
        until: None,
    };
    let pin = team.server.add_pin(&june().scope, &pin, at(0)).unwrap();
    team.say();
    team.refresh();
    team.hook(From::Copy);
    team.replica.store.pins_delivered(&[pin.id], "claude", "s1", at(1)).unwrap();
    let compacted = AgentChange::Compacted(Some(at(1)));
    team.replica.store.change_agent(&june().scope, &june().agent, &compacted).unwrap();
    team.forward_and_die();
    let once = team.server.digests().unwrap();
    assert!(team.forward() > 3);
    assert_eq!(team.server.digests().unwrap(), once);
    assert_eq!(team.server.last_receipt(pin.id).unwrap().unwrap().at, at(1));
    assert_eq!(team.server.agents(&june().scope).unwrap()[0].compacted_at, Some(at(1)));
    assert_eq!(team.server.activity(Client::Claude, "app").unwrap().fired_at, Some(at(1)));
    assert_eq!(team.forward(), 0);
}

// A record of an agent or project that was removed meanwhile must not keep the others waiting.
#[test]
fn a_record_about_what_is_gone_holds_up_no_other() {
    let mut team = Team::new();
    team.say();
    team.refresh();
    team.hook(From::Copy);
    let remove = "DELETE FROM agents; DELETE FROM unread; DELETE FROM projects";
    team.server.connection().execute_batch(remove).unwrap();
    assert!(team.forward() > 0);
    assert_eq!(team.forward(), 0);
    assert!(team.server.agents(&june().scope).unwrap().is_empty());
}

#[test]
fn a_copy_holds_what_the_server_holds() {
    let mut team = Team::new();
    let scope = june().scope;
    let tasks = [NewTask::titled("Write the parser"), NewTask::titled("Write the printer")];
    team.server.add_tasks(&scope, &tasks, at(1)).unwrap();
    team.say();
    let check = |team: &Team| {
        let (server, copy) = (&team.server, &team.replica.store);
        assert_eq!(copy.tasks(&scope).unwrap(), server.tasks(&scope).unwrap());
        assert_eq!(copy.agents(&scope).unwrap(), server.agents(&scope).unwrap());
        let recent = |store: &SqlStore| store.recent_messages(&scope, 10).unwrap();
        assert_eq!(recent(copy), recent(server));
        let count = |store: &SqlStore| {
            store.count_addressed_to(&scope, &june().agent, InboxFilter::Unread).unwrap()
        };
        assert_eq!(count(copy), count(server));
        assert_eq!(copy.projects().unwrap(), server.projects().unwrap());
    };
    for _ in 0..3 {
        team.minute += 1;
        assert_eq!(team.refresh(), ReplicaRefresh::Refreshed);
        check(&team);
        team.say();
        team.server.add_tasks(&scope, &[NewTask::titled("More")], at(2)).unwrap();
    }
    let state = team.replica.state(&scope).unwrap();
    assert_eq!((state.refreshed_at, state.waiting), (Some(at(3)), 0));
    // A new name is no step, and the tasks follow nevertheless.
    let to = AgentName::known("july");
    team.server.rename_agent("app", &june().agent, &to).unwrap();
    team.refresh();
    check(&team);
}

// W-86
#[test]
fn a_refresh_that_began_before_a_record_is_not_kept() {
    let mut team = Team::new();
    team.say();
    team.refresh();
    let scope = june().scope;
    let known = pull::Known::read(&team.replica.store, &scope).unwrap();
    let pulled = PulledRows::read(&team.server.connection(), &known, &scope).unwrap();
    team.hook(From::Copy);
    assert!(!pulled.put_into(&team.replica.store, &known, at(9)).unwrap());
    assert_eq!(team.refresh(), ReplicaRefresh::Postponed);
    team.forward();
    // The records are on the server by now, but the rows from before still lack them.
    assert!(!pulled.put_into(&team.replica.store, &known, at(9)).unwrap());
    assert_eq!(team.refresh(), ReplicaRefresh::Refreshed);
}

#[test]
fn a_damaged_copy_is_refused_and_can_be_discarded() {
    let team = Team::new();
    let path = team.folder.path().join("copy.db");
    drop(team.replica);
    Replica::discard(&path).unwrap();
    std::fs::write(&path, "not a database, but long enough to look like something").unwrap();
    let error = Replica::open(&path, Duration::ZERO).unwrap_err();
    assert!(error.is_damage(), "{error}");
    Replica::discard(&path).unwrap();
    assert!(Replica::open_present(&path, Duration::ZERO).unwrap().is_none());
    replica_in(team.folder.path());
}

#[test]
fn a_message_is_given_to_one_session_of_this_machine() {
    let team = Team::new();
    let (alive, gone) = (|_: &Owner| false, |_: &Owner| true);
    let claim = |id, pid, is_gone: &dyn Fn(&Owner) -> bool, minute| {
        let session = Session { client: Client::Claude, id };
        let owner = &Owner { pid, mark: "m".to_owned() };
        let claimant = Claimant { owner, is_gone };
        team.replica.claim_messages(&june(), session, &[7, 8], claimant, at(minute)).unwrap()
    };
    assert_eq!(claim("s1", 1, &alive, 1), Vec::<i64>::new());
    assert_eq!(claim("s1", 1, &alive, 1), Vec::<i64>::new(), "it asks again");
    assert_eq!(claim("s2", 2, &alive, 1), [7, 8], "the first is giving them");
    assert_eq!(claim("s2", 2, &gone, 1), Vec::<i64>::new(), "the first died before it did");
    team.replica.keep_claims(Session { client: Client::Claude, id: "s2" }).unwrap();
    assert_eq!(claim("s3", 3, &gone, 1), [7, 8], "the second delivered them, and ended");
    assert_eq!(claim("s3", 3, &alive, 2), Vec::<i64>::new(), "a claim ends after a while");
}
