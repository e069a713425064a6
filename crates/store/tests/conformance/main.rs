//! The guarantees of every store, one rule at a time, each against a fresh store.
#![expect(clippy::unwrap_used, reason = "a rule that cannot be set up fails")]
#![expect(
    clippy::print_stderr,
    reason = "the test runner shows this output only for a failed test"
)]

mod claims;
mod deed;
mod dispatch;
mod everyday;
mod fleet;
mod journal;
mod lane;
mod lease;
mod memory;
mod pin;
mod project;
mod search;
mod sharing;
mod talk;
mod task;
mod task_edit;
mod task_history;
mod transfer;

#[cfg(feature = "postgres")]
#[path = "../support/server.rs"]
mod server;

use std::sync::Arc;

use convoke_domain::agent::AgentStatus;
use convoke_domain::client::Client;
use convoke_domain::dispatch::gate::TriedClient;
use convoke_domain::dispatch::review_loop::LoopStop;
use convoke_domain::hook::{Moment, NoticedEvent, Trace};
use convoke_domain::message::MessageKind;
use convoke_domain::owner::Owner;
use convoke_domain::pin::{Pin, PinText};
use convoke_domain::scope::{Address, AgentName, Scope};
use convoke_domain::setup::{SetupChange, SetupStep};
use convoke_domain::skill::SkillId;
use convoke_domain::task::deed::{DeedKind, DeedRole, TaskDeed};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::outline::TaskCounts;
use convoke_domain::task::{Task, TaskStatus};
use jiff::{SignedDuration, Timestamp};

use convoke_store::agent::{AgentChange, AgentLeftovers, Removal};
use convoke_store::deed::NewDeed;
use convoke_store::delivery::{
    Activity, Claimant, LastText, NewText, Session, TextChoice, Wording,
};
use convoke_store::error::StoreError;
use convoke_store::install::Install;
use convoke_store::message::{InboxFilter, MessageReceipt, NewMessage};
use convoke_store::pin::{NewPin, Reach};
use convoke_store::review_loop::{AnswerUsage, LoopEntry, LoopName};
use convoke_store::skill::Injection;
use convoke_store::task::{ActivePlan, Change, NewTask};
use convoke_store::task_history::Undoer;
use convoke_store::wake_up::{PendingWakeUp, WakeUpEnd};
use convoke_store::{Store, StoreLocation};

type Rule = (&'static str, fn(&dyn Store));

/// The rules for every backend.
const RULES: [Rule; 91] = [
    ("a loss belongs to the process that answers it", claims::losses_are_claimed),
    ("a message is given to one session at a time", claims::messages_are_claimed),
    ("a message is kept until a model has it", claims::messages_are_held_until_a_model_has_them),
    ("a backup is a store", transfer::backups_are_stores),
    ("a rule holds where and while it should", pin::rules_hold_where_they_should),
    ("a cancelled plan is not active", pin::a_cancelled_plan_is_not_active),
    ("rules follow the tasks of a renamed branch", pin::rules_follow_their_tasks),
    ("verdicts follow a moved task, and back", deed::verdicts_follow_a_moved_task),
    ("what is known of a rule's arrival is kept", pin::receipts_are_kept),
    ("what is recorded about a task is kept", deed::deeds_are_kept),
    ("a verdict ends with a new start", deed::verdicts_end_with_a_new_start),
    ("a message carries its verdict", deed::a_message_carries_its_verdict),
    ("the skills that a user chose are kept", deed::chosen_skills_are_kept),
    ("a lane is kept from its beginning to its end", lane::lanes_are_kept),
    ("counters of a session become what each run spent", lane::counters_become_differences),
    ("a lane without an end can be closed, once", lane::lanes_are_closed_once),
    (
        "a visit shows every lane once, in the order of beginnings",
        lane::every_lane_is_visited_once_in_the_order_of_beginnings,
    ),
    ("a journal only grows, one event after the other", journal::journals_only_grow),
    ("a run is found by its id or its beginning", journal::runs_are_found),
    ("a run ends, and can be taken up again", journal::runs_end),
    ("a long journal is read in one pass", journal::long_journals_are_read),
    ("the ledger of dispatches only grows", dispatch::the_ledger_is_kept),
    ("a loop of reviews is kept", dispatch::loops_are_kept),
    ("of a client's gates the last one counts", dispatch::the_last_gate_counts),
    ("a round finds what came before it", dispatch::rounds_are_kept),
    ("what a client's record says of a wake-up is kept", memory::arrivals_are_kept),
    ("closing a task closes what is open below it", task::closing_cascades),
    ("a completed plan lets its skills' versions go", memory::pins_are_released),
    ("tasks of another program keep their ids and come once", task::tasks_are_adopted),
    ("a tree does not grow without end", task::trees_end),
    ("a plan is imported once", task::plans_are_imported_once),
    ("what a file was before it was changed is kept", memory::installs_are_kept),
    ("what a setup did is kept until it is taken back", memory::setups_are_kept),
    ("a session belongs to whom it was bound to last", memory::sessions_are_bound),
    ("a loss is answered once at every entry, with one text", memory::losses_are_answered),
    ("an outdated text is replaced", memory::outdated_texts_are_replaced),
    ("a project keeps its name, and no two share one", memory::names_are_unique),
    ("a task is found by its id, in its own scope only", task::tasks_are_scoped),
    ("a part inherits its plan and comes behind its siblings", task::parts_inherit),
    ("a closed task knows when, and an opened one forgets", task::closing_has_a_time),
    ("removing takes everything below", task::removing_cascades),
    ("a task cannot become part of itself", task::no_circles),
    ("the active plan has the task in progress, else the last change", task::active_plan),
    ("the repository of a project is kept", project::repositories_are_kept),
    ("a project is known by its folder's id", project::projects_are_known_by_their_folders_ids),
    ("a project gets another folder", project::projects_are_attached),
    ("two projects become one, and nothing is lost", project::projects_are_merged),
    ("messages of a merged project stay unread", project::merged_messages_stay_unread),
    ("journals of merged projects stay sound", project::merged_journals_stay_sound),
    ("a task's words and priority can be edited", task_edit::edits_are_kept),
    ("a task gets another place among its siblings", task_edit::tasks_are_reordered),
    ("a task waits for its prerequisites", task_edit::prerequisites_are_waited_for),
    ("tasks move to another branch with their parts", task_edit::tasks_change_their_branch),
    (
        "a chosen task is started by the first alone",
        task_history::a_chosen_task_is_started_by_the_first_alone,
    ),
    ("every change of a task is logged", task_history::every_change_is_logged),
    ("agents undo nothing of the user's", task_history::agents_undo_nothing_of_the_users),
    ("steps are undone one after the other", task_history::steps_are_undone),
    ("undo brings everything of a task back", task_history::undo_brings_everything_back),
    ("removed tasks are restored", task_history::removed_tasks_are_restored),
    ("branches with tasks are listed", task::branches_are_listed),
    ("parts of a long list are read", task::parts_of_a_long_list_are_read),
    ("plans with tasks are counted", task::plans_are_counted),
    ("tasks in progress are listed with who holds them", task::held_tasks_are_listed),
    ("urgent tasks are found outside a plan", task::urgent_tasks_elsewhere),
    ("messages and agents follow all tasks of a branch", talk::talk_follows_a_branch),
    ("messages keep their order when the clock runs back", talk::time_never_runs_back),
    ("an agent is addressed by name or mention, from anywhere", talk::addressing),
    ("answers belong to what they answer", talk::answers_are_threaded),
    ("what was seen is never unseen", talk::seeing_only_grows),
    ("a message is read when its text was given", talk::messages_are_read_one_by_one),
    ("an event that is reported twice is answered once", memory::events_are_answered_once),
    ("a large plan is read around its current task", task::large_plans_are_read_in_part),
    ("a wake-up is taken once, and its chain counted", talk::wake_ups_are_taken_once),
    ("an agent is renamed with all that is its own", talk::agents_are_renamed),
    ("an agent is removed, and its messages stay", talk::agents_are_removed),
    ("everything is found by its words", search::everything_is_found_by_its_words),
    ("capitals of every script are found", search::capitals_of_every_script_are_found),
    ("deeds are kept in order", talk::deeds_in_order),
    ("skills are pinned and their history kept", memory::skills),
    ("a store acts for each actor, and all see the same", sharing::actors_share_a_store),
    ("threads that share a store lose nothing", sharing::threads_share_a_store),
    ("a journal is replayed while its store is in use", sharing::a_replay_holds_nothing_up),
    ("only the last attempt adds to a lane of a worker", fleet::attempts_are_fenced),
    ("only the last generation adds to a lane of a worker", fleet::generations_are_fenced),
    ("a lane for workers is submitted once, within its limit", fleet::submissions_are_counted),
    (
        "a lane that is submitted again may have another request",
        fleet::a_lane_that_is_submitted_again_may_have_another_request,
    ),
    (
        "a worker hears when its lane's submitter was there",
        fleet::a_worker_hears_when_its_lanes_submitter_was_there,
    ),
    ("lanes of which nothing is heard are removed", fleet::silent_lanes_are_removed),
    ("workers that cannot begin a lane use up no attempt", fleet::unfit_workers_use_up_no_attempt),
    ("a worker that drains uses up no attempt", fleet::a_drained_worker_uses_up_no_attempt),
    ("workers are known while they are there", fleet::workers_are_known),
];

type RuleOfTwo = (&'static str, fn(&dyn Store, &dyn Store));

/// The rules for every backend with two of its stores.
const RULES_OF_TWO: [RuleOfTwo; 2] = [
    ("everything is exported and imported", transfer::everything_is_exported_and_imported),
    ("a bad export is refused and changes nothing", transfer::bad_exports_are_refused),
];

type RuleOfOpenings = (&'static str, fn(&dyn Store, &dyn Store));

/// The rules for every backend with one store that two processes have open.
const RULES_OF_OPENINGS: [RuleOfOpenings; 3] = [
    ("a budget lets in as many lanes as it has room for", lane::budgets_hold_for_all_processes),
    ("a run is worked on by one process", lease::runs_have_one_worker),
    ("of all attempts at a lane one answers", fleet::lanes_have_one_winner),
];

#[test]
fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = 0..;
    let mut place = || {
        let number: usize = numbers.next().unwrap();
        StoreLocation::file(folder.path().join(format!("deep/{number}/store.db")))
    };
    for (rule, holds) in RULES_OF_OPENINGS {
        eprintln!("{rule}");
        let place = place();
        holds(&*convoke_store::open(&place).unwrap(), &*convoke_store::open(&place).unwrap());
    }
    let mut make = || -> Arc<dyn Store> { convoke_store::open(&place()).unwrap() };
    for rule in RULES.iter().chain(&everyday::RULES) {
        conforms(rule, &*make());
    }
    for (rule, holds) in RULES_OF_TWO {
        eprintln!("{rule}");
        holds(&*make(), &*make());
    }
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_conforms() {
    const THREADS: usize = 6;
    let server = server::TestServer::start();
    let make = || convoke_store::open(&StoreLocation::parse(server.new_database())).unwrap();
    let make = &make;
    for (rule, holds) in RULES_OF_OPENINGS {
        eprintln!("{rule}");
        let place = StoreLocation::parse(server.new_database());
        holds(&*convoke_store::open(&place).unwrap(), &*convoke_store::open(&place).unwrap());
    }
    // Most of the time goes by while the server writes through to its disk.
    std::thread::scope(|threads| {
        for rules in RULES.chunks(RULES.len().div_ceil(THREADS)) {
            threads.spawn(move || {
                for rule in rules {
                    conforms(rule, &*make());
                }
            });
        }
        threads.spawn(move || {
            for rule in &everyday::RULES {
                conforms(rule, &*make());
            }
        });
        for (rule, holds) in RULES_OF_TWO {
            threads.spawn(move || {
                eprintln!("{rule}");
                holds(&*make(), &*make());
            });
        }
    });
}

/// Tries a rule on a new, empty store.
fn conforms((rule, holds): &Rule, store: &dyn Store) {
    eprintln!("{rule}");
    holds(store);
    // Rules work on scopes of projects without a folder.
    let mut defects = store.check().unwrap();
    defects.retain(|defect| !defect.contains("of a project that is missing"));
    assert_eq!(defects, Vec::<String>::new(), "the store is sound: {rule}");
}

fn here() -> Scope {
    Scope::new("app", "main")
}

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

fn name(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

fn add(store: &dyn Store, content: &str, parent: Option<&TaskId>, plan: Option<&str>) -> TaskId {
    let task = NewTask { parent, plan_file: plan, ..NewTask::titled(content) };
    store.add_tasks(&here(), &[task], at(1)).unwrap().remove(0)
}

fn set_status(store: &dyn Store, id: &TaskId, status: TaskStatus, second: i64) {
    store.change_task(&here(), id, &Change::Status(status), at(second)).unwrap();
}
