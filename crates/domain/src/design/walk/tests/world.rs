//! A world in which agents answer from a table.

use std::collections::BTreeMap;

use super::super::*;
use crate::design::event::{Chosen, Event, Export, LaneEnd, Recovery, Stamped, Tree};
use crate::design::heavy::Worked;
use crate::design::matter::{Choice, MatterId, Ruling};
use crate::design::policy::Policy;
use crate::design::progress::Prefix;
use crate::design::rules::RulesVersion;
use crate::design::seat::Panel;
use crate::design::setup::{Begins, Ready, SetUp};
use crate::design::voting_block::MarkerWord;
use crate::lane::collected::CollectedStatus;
use crate::lane::health::AgentHealth::Sick;

/// The world of a run: what everybody answers, by the name of the lane.
pub(super) struct World {
    pub(super) settings: Settings,
    pub(super) health: Available,
    pub(super) judges: Available,
    pub(super) answers: BTreeMap<&'static str, Result<String, &'static str>>,
    /// What was said by those who failed because they were cut off.
    pub(super) beginnings: BTreeMap<&'static str, String>,
    pub(super) trees: BTreeMap<&'static str, Vec<Tree>>,
    pub(super) replies: BTreeMap<&'static str, &'static str>,
    pub(super) exports: Vec<Export>,
    pub(super) workers: Vec<Worked>,
    /// The words that are drawn first for every ballot.
    pub(super) words: Vec<MarkerWord>,
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
        nested: false,
        session_env: None,
        prefix: Prefix::default(),
        panel: Panel::default(),
        agents: ["cursor", "codex", "claude"].map(chosen),
        policy: Policy::Safe,
        rules: RulesVersion::PRESENT,
        brief: None,
        documents: Vec::new(),
        is_rehearsal: false,
        no_branch: false,
        branch_info: None,
        feature_dir: None,
        budget: None,
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

/// Votes as they are asked for.
pub(super) fn in_block(votes: &str) -> String {
    format!("I weighed them.\n\n{}\n{}\n{}\n", word().begin(), votes.trim_end(), word().end())
}

pub(super) fn votes(first: &str, second: &str) -> String {
    in_block(&format!("FINDING_1: {first} — it is so\nOOS_1: {second} — worth an issue\n"))
}

/// The word that a poll's lanes begin with.
const fn lanes_of(poll: Poll) -> &'static str {
    match poll {
        Poll::Judges => "judge",
        Poll::Voters => "vote",
    }
}

fn request(id: &LaneId) -> Request {
    Request {
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
    fn end(&self, request: &Request) -> LaneEnd {
        let found = self.answers.iter().filter(|(start, _)| request.id.0.starts_with(**start));
        let found = found.max_by_key(|(start, _)| start.len()).map(|(_, answer)| answer.clone());
        let side = |word: &str, token| request.id.0.ends_with(word).then(|| Ok(defense(token)));
        let answer = found
            .or_else(|| side("antithesis", "ANTI_THESIS"))
            .or_else(|| side("thesis", "THESIS"))
            .unwrap_or(Err("nobody"));
        LaneEnd {
            status: if answer.is_ok() { CollectedStatus::Ok } else { CollectedStatus::Failed },
            reason: answer.as_ref().err().map_or(String::new(), |it| (*it).to_owned()),
            answer: answer
                .unwrap_or_else(|_| {
                    self.beginnings.get(&*request.id.0).cloned().unwrap_or_default()
                })
                .into(),
            agent: self.settings.chosen(request.holder).agent.clone(),
            model: Some(format!("{:?}-model", request.holder).to_lowercase()),
            usage: None,
            took: 61_000,
        }
    }

    /// Finds out what is needed.
    fn found(&self, need: Need, facts: &Facts) -> Vec<Event> {
        match need {
            Need::SetUp => vec![Event::SetUp(Box::new(SetUp::Ready(Ready {
                branch: "me/keep-drafts".to_owned(),
                is_new: true,
                base: "abc".to_owned(),
                setup_lines: Vec::new(),
                begins: Begins::Plain,
                branch_lines: Vec::new(),
            })))],
            Need::Probe(occasion) => {
                let available = if occasion == Occasion::SetUp { self.health } else { self.judges };
                let missing = [Holder::First, Holder::Second].into_iter();
                let missing = missing.filter(|_| occasion == Occasion::Judges);
                let missing = missing.filter(|holder| !available.has(*holder));
                let name = |holder| self.settings.panel.named(holder).name();
                let warning = |holder| Sick(None).judge_warning(name(holder), name(Holder::Host));
                let warnings = missing.filter_map(warning).collect();
                vec![Event::Probed { occasion, health: Health { available, warnings } }]
            }
            Need::Word(poll) if self.is_of_old => {
                let ended = |label: &str| {
                    let id = LaneId(format!("{}/{label}", lanes_of(poll)));
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
                let started = requests.iter().map(|it| Event::LaneStarted(it.id.clone()));
                let ended = requests
                    .iter()
                    .map(|it| Event::LaneEnded(it.id.clone(), Box::new(self.end(it))));
                started.chain(ended).collect()
            }
            Need::Ask(question) => {
                let reply = self.replies.get(question.id.0.as_str());
                let reply = reply.map_or(Reply::Recommended, |it| Reply::Words((*it).to_owned()));
                vec![Event::Replied(question.id, reply)]
            }
            Need::Tree(boundary) => {
                let round = facts.trees(boundary).len();
                let tree = self.trees.get(boundary.name()).and_then(|trees| trees.get(round));
                vec![Event::TreeChecked(boundary, tree.cloned().unwrap_or(Tree::Clean))]
            }
            Need::Citations(_) => vec![Event::CitationsChecked(Vec::new())],
            Need::Export => {
                let export = self.exports.get(facts.exports().len()).cloned();
                let manifest = "/parent/design-export/manifest.env".to_owned();
                vec![Event::Exported(export.unwrap_or(Export::Written { manifest }))]
            }
            Need::Recover(boundary, _) => {
                vec![Event::TreeDecided(boundary, Recovery::Restored)]
            }
        }
    }

    /// Runs to the end, and checks on the way that nothing that was shown ever changes.
    pub(super) fn run(&self) -> Run {
        self.go_on(Facts::default(), Event::Begun(Box::new(self.settings.clone())))
    }

    /// Resumes a run that ended elsewhere.
    pub(super) fn resume(&self, run: &Run) -> Run {
        self.go_on(run.facts.clone(), Event::Resumed)
    }

    /// Has a person decide something in a run that ended.
    pub(super) fn decide(&self, run: &Run, matter: &str, choice: Choice, because: &str) -> Run {
        let matter = MatterId::parse(matter).unwrap();
        let ruling = Ruling { matter, choice, because: because.to_owned() };
        self.go_on(run.facts.clone(), Event::Decided(ruling))
    }

    fn go_on(&self, mut facts: Facts, first: Event) -> Run {
        let mut events = vec![first];
        let mut at = if facts.settings().is_some() { 1_000_000 } else { 0 };
        let (mut asked, mut prompts) = (Vec::new(), Vec::new());
        let mut shown: Vec<Line> = walk(&facts).lines;
        loop {
            let mut progress = walk(&facts);
            for event in events.drain(..) {
                at += 1000;
                facts.take(Stamped { at, event });
                progress = walk(&facts);
                assert_eq!(progress.lines[..shown.len()], shown, "what was shown is shown");
                shown.clone_from(&progress.lines);
            }
            match progress.next.clone() {
                Next::End(ending) => return Run { facts, progress, ending, asked, prompts },
                Next::Need(need) => {
                    if let Need::Lanes(requests) = &need {
                        for request in requests {
                            assert_eq!(request.id.step(), Some(request.step), "{request:?}");
                        }
                        prompts
                            .extend(requests.iter().map(|it| (it.id.0.clone(), it.prompt.clone())));
                        asked.extend(requests.iter().map(|it| (it.id.0.clone(), it.holder)));
                    }
                    let ended = self.workers.get(facts.workers().len());
                    events = match ended.filter(|_| progress.is_heavy) {
                        Some(worked) => {
                            let folder = "/state/runs/x".to_owned();
                            vec![Event::Worked { worked: worked.clone(), folder }]
                        }
                        None => self.found(need, &facts),
                    };
                }
            }
        }
    }
}

#[derive(Clone)]
pub(super) struct Run {
    pub(super) facts: Facts,
    pub(super) progress: Progress,
    pub(super) ending: Ending,
    asked: Vec<(String, Holder)>,
    prompts: Vec<(String, String)>,
}

impl Run {
    pub(super) fn shown(&self) -> String {
        let lines = self.progress.lines.iter().map(Line::text);
        lines.collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    pub(super) fn shows(&self, text: &str) {
        assert!(self.shown().contains(text), "{text}\nis not in\n{}", self.shown());
    }

    pub(super) fn file(&self, name: &str) -> &str {
        self.progress.files.get(name).map_or("(none)", |text| &**text)
    }

    /// Returns what lanes were asked whose names begin so.
    pub(super) fn prompts(&self, start: &str) -> Vec<&str> {
        let asked = self.prompts.iter().filter(|(id, _)| id.starts_with(start));
        asked.map(|(_, prompt)| prompt.as_str()).collect()
    }

    pub(super) fn lanes(&self, start: &str) -> Vec<(&str, Holder)> {
        let lanes = self.asked.iter().filter(|(id, _)| id.starts_with(start));
        lanes.map(|(id, holder)| (id.as_str(), *holder)).collect()
    }
}
