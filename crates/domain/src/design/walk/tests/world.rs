//! A world in which agents answer from a table.

use std::collections::BTreeMap;

use super::super::*;
use super::run::Run;
use crate::design::absence::Absence;
use crate::design::citation::{CitationRule, PlaceFinding};
use crate::design::event::{Chosen, Event, Export, LaneEnd, Recovery, Stamped, Tree};
use crate::design::heavy::WorkerResult;
use crate::design::lane_id::LaneKind;
use crate::design::matter::{MatterId, Ruling, RulingChoice};
use crate::design::policy::Policy;
use crate::design::progress::Prefix;
use crate::design::reading_order::JudgeOrders;
use crate::design::rules::RulesVersion;
use crate::design::seat::{Available, Panel};
use crate::design::settled::PollRule;
use crate::design::setup::ground::{BranchRule, DirtyTree};
use crate::design::setup::{Begins, Ready, SetUp};
use crate::design::voting_block::MarkerWord;
use crate::lane::collected::CollectedStatus;
use crate::lane::health::AgentHealth::Sick;
use crate::lane::unanswered::Unanswered;

/// The world of a run: every answer, by the name of the lane.
pub(super) struct World {
    pub(super) settings: Settings,
    pub(super) health: Available,
    pub(super) judges: Available,
    pub(super) answers: BTreeMap<&'static str, Result<String, &'static str>>,
    /// The partial answers of lanes that were cut off.
    pub(super) beginnings: BTreeMap<&'static str, String>,
    pub(super) trees: BTreeMap<&'static str, Vec<Tree>>,
    pub(super) replies: BTreeMap<&'static str, &'static str>,
    pub(super) exports: Vec<Export>,
    pub(super) workers: Vec<WorkerResult>,
    /// The words that are drawn first for every ballot.
    pub(super) words: Vec<MarkerWord>,
    /// What is at cited places; at all others, all is as cited.
    pub(super) places: BTreeMap<&'static str, PlaceFinding>,
    /// Whether no word is drawn, as before there were any.
    pub(super) is_of_old: bool,
}

const BOTH: Available = Available { first: true, second: true };

fn chosen(agent: &str) -> Chosen {
    Chosen { agent: agent.to_owned(), model: None }
}

pub(super) fn settings() -> Settings {
    Settings {
        feature: "Keep drafts when the connection is lost".to_owned(),
        auto: true,
        quick: false,
        subagent: false,
        poll_rule: PollRule::All,
        judge_orders: JudgeOrders::One,
        nested: false,
        session_env: None,
        prefix: Prefix::default(),
        panel: Panel::default(),
        agents: ["cursor", "codex", "claude"].map(chosen),
        policy: Policy::Safe,
        rules: RulesVersion::PRESENT,
        brief: None,
        pack: None,
        pointers: None,
        citation_rule: CitationRule::EveryForm,
        documents: Vec::new(),
        is_rehearsal: false,
        no_branch: false,
        branch_rule: BranchRule::Seed,
        dirty_tree: DirtyTree::Refused,
        branch_info: None,
        feature_dir: None,
        budget: None,
    }
}

fn ready() -> Ready {
    Ready {
        branch: "me/keep-drafts".to_owned(),
        is_new: true,
        base: "abc".to_owned(),
        setup_notes: Vec::new(),
        begins: Begins::Plain,
        branch_notes: Vec::new(),
        left: None,
        tree_before: None,
    }
}

pub(super) fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

pub(super) fn sketch() -> String {
    format!("Drafts go to src/draft.rs first. {}", words(60))
}

pub(super) fn block(number: usize, title: &str) -> String {
    format!(
        "### DECISION_{number}: {title}\n- **Chosen**: A file\n- **Alternative**: A table\n\
         - **Tension**: Cursor-Arch and Codex-Pragmatic differ\n- **Impact**: High\n\
         - **Affected files**: src/draft.rs\n"
    )
}

pub(super) fn synthesis(decisions: &str) -> String {
    format!(
        "=== approach-synthesis.txt ===\nAll agree on a local copy.\n\
         === contested-decisions.md ===\n{decisions}"
    )
}

fn defense(token: &str) -> String {
    format!(
        "<claim>It is the right thing here.</claim>\n<evidence>See src/draft.rs:12 for it.</evidence>\n\
         <strongest_concession>It costs one more file.</strongest_concession>\n\
         <counter_to_opposition>The other way costs more.</counter_to_opposition>\n\
         <risk_if_wrong>We would move one file.</risk_if_wrong>\nRECOMMEND: {token}\n"
    )
}

pub(super) fn plan(title: &str) -> String {
    format!(
        "## Files to modify/create\n- src/draft.rs: {title}\n\n## Approach\nWrite first.\n\n\
         ## Edge cases\nA full disk.\n\n## Failure modes\nA torn file.\n\n\
         ## Testing strategy\nKill it.\n\n## Tasks\n### Task 1: Keep drafts\n\
         **Files:** src/draft.rs\n**Done when:** a killed editor keeps its draft\n\
         **Source:** Approach\n"
    )
}

pub(super) fn review() -> String {
    format!(
        "1. [correctness] The draft in src/draft.rs is not synced. {} Suggested revision: sync it.\n\
         2. [OUT_OF_SCOPE] [code-quality] The log in src/log.rs:1-9 is never rotated.\n",
        words(30)
    )
}

/// The word of every ballot in this world.
pub(super) fn word() -> MarkerWord {
    MarkerWord::from_random(7)
}

/// Votes in the requested form.
pub(super) fn in_block(votes: &str) -> String {
    format!("I weighed them.\n\n{}\n{}\n{}\n", word().begin(), votes.trim_end(), word().end())
}

pub(super) fn votes(first: &str, second: &str) -> String {
    in_block(&format!("FINDING_1: {first} — it is so\nOOS_1: {second} — worth an issue\n"))
}

/// The kind of lanes that a poll starts.
const fn lanes_of(poll: Poll) -> LaneKind {
    match poll {
        Poll::Judges => LaneKind::Judge,
        Poll::Voters => LaneKind::Vote,
    }
}

fn request(id: &LaneId) -> LaneNeed {
    LaneNeed {
        id: id.clone(),
        holder: Holder::Host,
        step: Step::Review,
        kind: String::new(),
        file: String::new(),
        prompt: String::new(),
    }
}

impl World {
    pub(super) fn new() -> Self {
        let mut world = Self {
            settings: settings(),
            health: BOTH,
            judges: BOTH,
            answers: BTreeMap::new(),
            beginnings: BTreeMap::new(),
            trees: BTreeMap::new(),
            replies: BTreeMap::new(),
            exports: Vec::new(),
            workers: Vec::new(),
            words: Vec::new(),
            places: BTreeMap::new(),
            is_of_old: false,
        };
        for (start, answer) in [
            ("chair/questions", "NO_QUESTIONS".to_owned()),
            ("chair/scope", "NO_QUESTIONS".to_owned()),
            ("chair/interview", "NO_QUESTIONS".to_owned()),
            ("chair/synthesis", synthesis("NO_CONTESTED_DECISIONS")),
            ("chair/plan", plan("new")),
            ("chair/merge", "GROUP 1: R1\nGROUP 2: R2\n".to_owned()),
            (
                "chair/revision",
                format!(
                    "=== plan.txt ===\n{}\n=== resolutions ===\nFINDING_1: It is synced now.\n",
                    plan("new, synced")
                ),
            ),
            ("chair/update", plan("updated")),
            (
                "chair/diagram",
                "## Architecture Diagram\n\n```mermaid\nflowchart TD\n  A[Draft] --> B[Disk]\n```\n"
                    .to_owned(),
            ),
            ("sketch/", sketch()),
            ("review/", review()),
            ("vote/", votes("YES", "YES")),
            ("judge/", in_block("DECISION_1: THESIS — better shown\nDECISION_2: ANTI_THESIS — simpler\n")),
        ] {
            world.answers.insert(start, Ok(answer));
        }
        world
    }

    pub(super) fn answer(mut self, start: &'static str, answer: impl Into<String>) -> Self {
        self.answers.insert(start, Ok(answer.into()));
        self
    }

    pub(super) fn failing(mut self, start: &'static str, reason: &'static str) -> Self {
        self.answers.insert(start, Err(reason));
        self
    }

    pub(super) fn cut_off(mut self, lane: &'static str, beginning: String) -> Self {
        self.beginnings.insert(lane, beginning);
        self.failing(lane, "it was cut off")
    }

    /// The answer under the longest name that the lane's begins with.
    fn end(&self, request: &LaneNeed) -> LaneEnd {
        let found =
            self.answers.iter().filter(|(start, _)| request.id.as_str().starts_with(**start));
        let found = found.max_by_key(|(start, _)| start.len()).map(|(_, answer)| answer.clone());
        let side =
            |word: &str, token| request.id.as_str().ends_with(word).then(|| Ok(defense(token)));
        let answer = found
            .or_else(|| side("antithesis", "ANTI_THESIS"))
            .or_else(|| side("thesis", "THESIS"))
            .unwrap_or(Err("nobody"));
        LaneEnd {
            status: if answer.is_ok() { CollectedStatus::Ok } else { CollectedStatus::Failed },
            reason: answer.as_ref().err().map(|reason| Unanswered::Sentence((*reason).to_owned())),
            answer: answer
                .unwrap_or_else(|_| {
                    self.beginnings.get(request.id.as_str()).cloned().unwrap_or_default()
                })
                .into(),
            agent: self.settings.chosen(request.holder).agent.clone(),
            model: Some(format!("{:?}-model", request.holder).to_lowercase()),
            usage: None,
            took: 61_000,
        }
    }

    /// Returns the events that satisfy a need.
    fn found(&self, need: Need, facts: &Facts) -> Vec<Event> {
        match need {
            Need::SetUp => vec![Event::SetUp(Box::new(SetUp::Ready(ready())))],
            Need::Probe(occasion) => {
                let available = if occasion == Occasion::SetUp { self.health } else { self.judges };
                let missing = [Holder::First, Holder::Second].into_iter();
                let missing = missing.filter(|_| occasion == Occasion::Judges);
                let missing = missing.filter(|holder| !available.has(*holder));
                let absence = |holder| Absence::Agent { holder, health: Sick(None) };
                let absences = missing.map(absence).collect();
                vec![Event::Probed { occasion, health: Health { available, absences } }]
            }
            Need::Word(poll) if self.is_of_old => {
                let ended = |label: &str| {
                    let id = LaneId::new(lanes_of(poll), label);
                    assert!(facts.lane(&id).is_none(), "{id:?} answered before there were words");
                    let end = self.end(&request(&id));
                    Event::LaneEnded(id, Box::new(end))
                };
                ["Claude", "Codex", "Cursor"].map(ended).to_vec()
            }
            Need::Word(poll) => {
                let drawn = self.words.get(facts.words(poll).len()).cloned();
                vec![Event::WordDrawn(poll, drawn.unwrap_or_else(word))]
            }
            Need::Lanes(requests) => {
                let started = requests.iter().map(|request| Event::LaneStarted(request.id.clone()));
                let ended = requests.iter().map(|request| {
                    Event::LaneEnded(request.id.clone(), Box::new(self.end(request)))
                });
                started.chain(ended).collect()
            }
            Need::Ask(question) => {
                let reply = self.replies.get(question.id.to_string().as_str());
                let reply =
                    reply.map_or(Reply::Recommended, |words| Reply::Words((*words).to_owned()));
                vec![Event::Replied(question.id, reply)]
            }
            Need::Tree(boundary) => {
                let round = facts.trees(boundary).len();
                let tree = self.trees.get(boundary.name()).and_then(|trees| trees.get(round));
                vec![Event::TreeChecked(boundary, tree.cloned().unwrap_or(Tree::Clean))]
            }
            Need::Citations(_) => vec![Event::CitationsChecked(Vec::new())],
            Need::CitedPlaces(moment, places) => {
                let results = places.into_iter().map(|cited| {
                    let found = self.places.get(cited.shown().as_str()).copied();
                    (cited, found.unwrap_or(PlaceFinding::Holds))
                });
                vec![Event::CitationsLookedUp(moment, results.collect())]
            }
            Need::Export => {
                let export = self.exports.get(facts.exports().len()).cloned();
                let manifest = "/parent/design-export/manifest.env".to_owned();
                vec![Event::Exported(export.unwrap_or(Export::Written { manifest }))]
            }
            Need::Recover(boundary) => {
                vec![Event::TreeDecided(boundary, Recovery::Restored)]
            }
        }
    }

    /// Runs to the end, and checks on the way that nothing that was shown ever changes.
    pub(super) fn run(&self) -> Run {
        self.go_on(Facts::default(), Event::Begun(Box::new(self.settings.clone())))
    }

    pub(super) fn resume(&self, run: &Run) -> Run {
        self.go_on(run.facts.clone(), Event::Resumed)
    }

    pub(super) fn decide(
        &self,
        run: &Run,
        matter: &str,
        choice: RulingChoice,
        because: &str,
    ) -> Run {
        let matter = MatterId::parse(matter).unwrap();
        let ruling = Ruling { matter, choice, because: because.to_owned() };
        self.go_on(run.facts.clone(), Event::Decided(ruling))
    }

    pub(super) fn go_on(&self, facts: Facts, first: Event) -> Run {
        let mut events = vec![first];
        let mut at = if facts.settings().is_some() { 1_000_000 } else { 0 };
        let (mut asked, mut prompts, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        let mut shown = walk(&facts).notices;
        let mut design = DesignWalk::from(facts);
        loop {
            let mut progress = design.outline();
            for event in events.drain(..) {
                at += 1000;
                let before = design.notice_count();
                taken.push(Stamped { at, event: event.clone() });
                design.take(Stamped { at, event });
                progress = design.outline();
                assert_eq!(progress, walk(design.facts()), "it goes on as it began");
                assert_eq!(progress.notices[..shown.len()], shown, "what was told stays told");
                assert_eq!(progress.notices[before..], design.notices_after(before));
                shown.clone_from(&progress.notices);
            }
            let facts = design.facts();
            match progress.next.clone() {
                Next::End(ending) => {
                    let facts = design.into_facts();
                    return Run { facts, events: taken, progress, ending, asked, prompts };
                }
                Next::Need(need) => {
                    if let Need::Lanes(requests) = &need {
                        for request in requests {
                            assert_eq!(request.id.step(), request.step, "{request:?}");
                        }
                        prompts.extend(
                            requests
                                .iter()
                                .map(|request| (request.id.to_string(), request.prompt.clone())),
                        );
                        asked.extend(
                            requests.iter().map(|request| (request.id.to_string(), request.holder)),
                        );
                    }
                    let ended = self.workers.get(facts.workers().len());
                    events = match ended.filter(|_| progress.is_heavy) {
                        Some(worked) => {
                            let folder = "/state/runs/x".to_owned();
                            vec![Event::Worked { worked: worked.clone(), folder }]
                        }
                        None => self.found(need, facts),
                    };
                }
            }
        }
    }
}
