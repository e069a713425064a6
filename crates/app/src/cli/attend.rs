//! `convoke attend`: whoever a message is waiting for is woken.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, Scope as Threads};
use std::time::Duration;

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::lane::outcome::{LaneOutcome, ProcessEnd};
use convoke_domain::owner::Owner;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::wake::hop::wakes;
use convoke_engine::lane::adapter::Rights;
use convoke_engine::lock::{Lock, NotLocked};
use convoke_engine::owner::is_gone;
use convoke_engine::skill::hash;
use convoke_store::agent::AgentStore;
use convoke_store::wake_up::WakeUpStore;
use serde::Serialize;

use super::deliver::{Delivered, Delivery, client, session, wakes_nobody};
use super::lane::{Allowance, OverReport, Purse, overdrawn, sentence};
use crate::app::{App, Format};
use crate::config::wake::{Settings, settings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, Voice};
use crate::workspace::{Workspace, refused, store_path};

/// How often it is asked whether the store has changed, and whether whoever is busy still runs.
const INTERVAL: Duration = Duration::from_millis(500);

/// Wake every agent of this branch that a message waits for, until you stop it
///
/// All that waits for an agent is one wake-up, and its session goes on in a supervised lane, as with
/// `convoke prompt`. Whoever is busy is not interrupted. Answers are kept as messages, and wake
/// those whom they mention, up to eight wake-ups in a row. An agent that gave no answer is tried
/// again when there is something new for it. When a `--budget` is used up, it ends with exit code 5.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End when nothing is left that could be delivered
    #[arg(long)]
    once: bool,

    /// Let agents change files, as far as their clients' own settings allow
    #[arg(long)]
    write: bool,

    /// The most agents that work at the same time
    #[arg(long, value_name = "N", default_value = "2")]
    max_parallel: NonZeroUsize,

    #[command(flatten)]
    allowance: Allowance,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot attend to {scope}")]
struct NotAttending {
    scope: String,
    source: NotLocked,
}

#[derive(Serialize)]
struct Report<'a> {
    agent: &'a str,
    outcome: &'static str,
    answer: Option<&'a str>,
    message_id: Option<i64>,
    hop: Option<u32>,
    wake_loop: bool,
    took_ms: u128,
    /// The budget that it went over.
    over_budget: Option<OverReport>,
}

/// What a thread says when its agent has been seen to.
struct Done {
    agent: AgentName,
    /// The newest message that it was to be given.
    newest: i64,
    delivered: Result<Option<Delivered>, Failure>,
}

/// Everything that is known while attending.
struct Attendant<'a> {
    args: &'a Args,
    app: &'a App,
    workspace: &'a Workspace,
    settings: &'a Settings,
    purse: &'a Purse,
    /// Who is being seen to.
    running: Vec<AgentName>,
    /// Up to which message somebody was tried in vain.
    given_up: BTreeMap<AgentName, i64>,
    /// Who others are taken by.
    owners: Vec<Owner>,
    exit: Exit,
    /// Whether the budget of this call is used up, so that nobody more is woken.
    is_spent: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let _lock = lock(app, &workspace.scope)?;
        let (settings, purse) = (settings(app)?, self.allowance.settle("attend"));
        output.say(&format!("attending to {}", described(&workspace.scope)));
        let mut attendant = Attendant {
            args: self,
            app,
            workspace: &workspace,
            settings: &settings,
            purse: &purse,
            running: Vec::new(),
            given_up: BTreeMap::new(),
            owners: Vec::new(),
            exit: Exit::Done,
            is_spent: false,
        };
        thread::scope(|threads| attendant.attend(threads, output))?;
        Ok(attendant.exit)
    }
}

/// Two that attend to the same agents would only be in each other's way.
fn lock(app: &App, scope: &Scope) -> Result<Lock, Failure> {
    let holder = format!("process {}", std::process::id());
    let mut path = store_path(app)?.into_os_string();
    path.push(format!("-attend-{}", &hash(described(scope))[..16]));
    Lock::take(&PathBuf::from(path), &holder).map_err(|source| {
        let hint = match source {
            NotLocked::Held { .. } => Some("stop it first".to_owned()),
            NotLocked::File { .. } => None,
        };
        let error = NotAttending { scope: described(scope), source };
        Failure::new(Exit::Surroundings, error).maybe_hint(hint)
    })
}

fn described(scope: &Scope) -> String {
    format!("{}:{}", scope.project, scope.branch)
}

impl<'a> Attendant<'a> {
    fn attend<'scope>(
        &mut self,
        threads: &'scope Threads<'scope, 'a>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let (sender, receiver) = channel();
        let mut seen = None;
        let cancel = interrupt::cancel();
        loop {
            let is_stopped = self.is_spent || cancel.is_asked();
            let is_over = self.args.once || is_stopped;
            let changes = self.workspace.store.changes().map_err(refused)?;
            let is_news = seen != Some(changes) || self.owners.iter().any(is_gone);
            if is_news && !is_stopped {
                seen = Some(changes);
                self.look(threads, &sender)?;
            }
            if is_over && self.running.is_empty() {
                return Ok(());
            }
            if let Ok(done) = receiver.recv_timeout(INTERVAL) {
                self.take(done, output)?;
                // There may be room for somebody else now.
                seen = None;
            }
        }
    }

    /// Sees to everybody who can be woken now.
    fn look<'scope>(
        &mut self,
        threads: &'scope Threads<'scope, 'a>,
        sender: &Sender<Done>,
    ) -> Result<(), Failure> {
        let Workspace { store, scope } = self.workspace;
        for agent in store.agents(scope).map_err(refused)? {
            if agent.owner.is_some() && self.delivery(&agent.name).bury()? {
                Voice::named(format!("@{}", agent.name)).say("the process that woke it is gone");
            }
        }
        let agents = store.agents(scope).map_err(refused)?;
        self.owners = agents.iter().filter_map(|agent| agent.owner.clone()).collect();
        for agent in agents {
            if self.running.len() < self.args.max_parallel.get()
                && let Some(newest) = self.waits_for(&agent)?
            {
                self.start(agent.name, newest, threads, sender);
            }
        }
        Ok(())
    }

    /// Returns the newest message that waits for somebody who can be woken.
    fn waits_for(&self, agent: &Agent) -> Result<Option<i64>, Failure> {
        let is_free = agent.status != AgentStatus::Busy && agent.owner.is_none();
        let can_be_woken = session(agent).is_ok() && client(agent).is_ok();
        if !is_free || !can_be_woken || self.running.contains(&agent.name) {
            return Ok(None);
        }
        let Workspace { store, scope } = self.workspace;
        let pending = store.pending(scope, &agent.name, agent.last_seen).map_err(refused)?;
        let given_up = self.given_up.get(&agent.name).copied().unwrap_or_default();
        Ok(pending.map(|pending| pending.newest).filter(|newest| *newest > given_up))
    }

    fn start<'scope>(
        &mut self,
        agent: AgentName,
        newest: i64,
        threads: &'scope Threads<'scope, 'a>,
        sender: &Sender<Done>,
    ) {
        self.running.push(agent.clone());
        let (app, settings, rights) = (self.app, self.settings, self.rights());
        let purse = self.purse;
        let sender = sender.clone();
        threads.spawn(move || {
            let deliver = || {
                // A connection is its thread's own.
                let workspace = Workspace::open(app, None)?;
                let voice = Voice::named(format!("@{agent}"));
                voice.say("is woken");
                let delivery = Delivery {
                    app,
                    workspace: &workspace,
                    settings,
                    agent: &agent,
                    message: None,
                    rights,
                    purse,
                };
                delivery.deliver(&voice)
            };
            let delivered = deliver();
            sender.send(Done { agent, newest, delivered }).ok();
        });
    }

    fn delivery<'b>(&'b self, agent: &'b AgentName) -> Delivery<'b> {
        Delivery {
            app: self.app,
            workspace: self.workspace,
            settings: self.settings,
            agent,
            message: None,
            rights: self.rights(),
            purse: self.purse,
        }
    }

    const fn rights(&self) -> Rights {
        if self.args.write { Rights::Write } else { Rights::ReadOnly }
    }

    /// Takes in what became of a wake-up.
    fn take(&mut self, done: Done, output: &mut Output) -> Result<(), Failure> {
        let Done { agent, newest, delivered } = done;
        self.running.retain(|it| *it != agent);
        let voice = Voice::named(format!("@{agent}"));
        let delivered = match delivered {
            Ok(Some(delivered)) => delivered,
            Ok(None) => return Ok(()),
            Err(failure) => {
                output.failure(&failure);
                self.give_up(agent, newest);
                return Ok(());
            }
        };
        let Delivered { driven, over, reply, .. } = &delivered;
        let is_answered = driven.outcome == LaneOutcome::Answered;
        let loops = reply.filter(|reply| !wakes(reply.hop));
        voice.say(&sentence(driven, None));
        if let Some(line) = overdrawn(driven, *over) {
            voice.say(&line);
        }
        if let Some(reply) = loops {
            voice.say(&wakes_nobody(reply));
        }
        let answer = driven.heard.answer().filter(|_| is_answered);
        match self.app.format {
            Format::Json => output.json_line(&Report {
                agent: agent.as_str(),
                outcome: driven.outcome.name(),
                answer,
                message_id: reply.map(|it| it.id),
                hop: reply.map(|it| it.hop),
                wake_loop: loops.is_some(),
                took_ms: driven.took.as_millis(),
                over_budget: over.map(OverReport::from),
            })?,
            Format::Text => {
                let text = answer.map(|it| format!("@{agent}: {}\n", it.trim_end()));
                output.data(&text.unwrap_or_default())?;
                output.flush()?;
            }
        }
        if driven.outcome == LaneOutcome::Cancelled {
            self.exit = Exit::Interrupted;
        } else if !is_answered {
            self.give_up(agent, newest);
        }
        if driven.end == ProcessEnd::BudgetLimit {
            self.exit = Exit::Budget;
            self.is_spent |= self.args.allowance.budget.is_some();
        }
        Ok(())
    }

    /// Whoever gave no answer is left alone until there is something new.
    fn give_up(&mut self, agent: AgentName, newest: i64) {
        self.given_up.insert(agent, newest);
        self.exit = Exit::LaneFailed;
    }
}
