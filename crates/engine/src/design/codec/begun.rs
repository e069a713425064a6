//! The request, as the journal holds it.

use convoke_domain::design::citation::CitationRule;
use convoke_domain::design::event::{Chosen, Settings};
use convoke_domain::design::policy::Policy;
use convoke_domain::design::progress::Prefix;
use convoke_domain::design::reading_order::JudgeOrders;
use convoke_domain::design::rules::RulesVersion;
use convoke_domain::design::seat::{Holder, Named, Panel};
use convoke_domain::design::settled::PollRule;
use convoke_domain::design::setup::ground::{BranchRule, DirtyTree};
use convoke_domain::lane::budget::WrittenBudget;
use serde::{Deserialize, Serialize};

use super::{CodecError, Reader};

#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct BegunBody {
    feature: String,
    auto: bool,
    quick: bool,
    #[serde(default)]
    subagent: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    adaptive: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    both_orders: bool,
    nested: bool,
    #[serde(default)]
    session_env: Option<String>,
    number_prefix: String,
    path_prefix: String,
    /// The first, the second and the host.
    agents: [AgentBody; 3],
    policy: String,
    /// Earlier programs wrote none, and a run under their rules stays without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<u32>,
    brief: Option<String>,
    /// Earlier programs wrote none, and a run of theirs stays without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pack: Option<String>,
    /// Earlier programs wrote none, and a run of theirs stays without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pointers: Option<String>,
    /// Earlier programs looked up what findings cite, and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    citations_everywhere: bool,
    /// Earlier programs read citations of one word only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    citations_every_form: bool,
    documents: Vec<String>,
    is_rehearsal: bool,
    no_branch: bool,
    /// Earlier programs wrote none: they had the original's gate only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch_rule: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    allow_dirty: bool,
    branch_info: Option<String>,
    feature_dir: Option<String>,
    budget: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct AgentBody {
    word: String,
    name: String,
    agent: String,
    model: Option<String>,
}

const HOLDERS: [Holder; 3] = [Holder::First, Holder::Second, Holder::Host];

impl From<&Settings> for BegunBody {
    fn from(settings: &Settings) -> Self {
        let agent = |holder| {
            let named = settings.panel.named(holder);
            let Chosen { agent, model } = settings.chosen(holder).clone();
            AgentBody { word: named.word().into(), name: named.name().into(), agent, model }
        };
        Self {
            feature: settings.feature.clone(),
            auto: settings.auto,
            quick: settings.quick,
            subagent: settings.subagent,
            adaptive: settings.poll_rule == PollRule::UntilSettled,
            both_orders: settings.judge_orders == JudgeOrders::Both,
            nested: settings.nested,
            session_env: settings.session_env.clone(),
            number_prefix: settings.prefix.number.clone(),
            path_prefix: settings.prefix.path.clone(),
            agents: HOLDERS.map(agent),
            policy: settings.policy.word().to_owned(),
            rules: Some(settings.rules)
                .filter(|rules| *rules != RulesVersion::UNNUMBERED)
                .map(RulesVersion::number),
            brief: settings.brief.clone(),
            pack: settings.pack.clone(),
            pointers: settings.pointers.clone(),
            citations_everywhere: settings.citation_rule.shows_verdicts(),
            citations_every_form: settings.citation_rule == CitationRule::EveryForm,
            documents: settings.documents.clone(),
            is_rehearsal: settings.is_rehearsal,
            no_branch: settings.no_branch,
            branch_rule: Some(settings.branch_rule)
                .filter(|rule| *rule != BranchRule::Seed)
                .map(|rule| rule.word().to_owned()),
            allow_dirty: settings.dirty_tree == DirtyTree::Allowed,
            branch_info: settings.branch_info.clone(),
            feature_dir: settings.feature_dir.clone(),
            budget: settings.budget.as_ref().map(|budget| budget.text().to_owned()),
        }
    }
}

impl BegunBody {
    pub(super) fn settings(self, read: &Reader<'_>) -> Result<Settings, CodecError> {
        let named =
            |agent: &AgentBody| read.known(&agent.word, Named::new(&agent.word, &agent.name).ok());
        let [first, second, host] = &self.agents;
        let panel = Panel::new(named(first)?, named(second)?, named(host)?);
        let panel = read.known(&first.word, panel.ok())?;
        let policy = read.known(&self.policy, Policy::parse(&self.policy))?;
        let budget = |text: String| read.known(&text, WrittenBudget::parse(&text).ok());
        let budget = self.budget.map(budget).transpose()?;
        let rule = |word: String| read.known(&word, BranchRule::parse(&word));
        let branch_rule = self.branch_rule.map(rule).transpose()?.unwrap_or(BranchRule::Seed);
        Ok(Settings {
            feature: self.feature,
            auto: self.auto,
            quick: self.quick,
            subagent: self.subagent,
            poll_rule: if self.adaptive { PollRule::UntilSettled } else { PollRule::All },
            judge_orders: if self.both_orders { JudgeOrders::Both } else { JudgeOrders::One },
            nested: self.nested,
            session_env: self.session_env,
            prefix: Prefix { number: self.number_prefix, path: self.path_prefix },
            panel,
            agents: self.agents.map(|body| Chosen { agent: body.agent, model: body.model }),
            policy,
            rules: self.rules.map_or(RulesVersion::UNNUMBERED, RulesVersion::new),
            brief: self.brief,
            pack: self.pack,
            pointers: self.pointers,
            citation_rule: match (self.citations_everywhere, self.citations_every_form) {
                (true, true) => CitationRule::EveryForm,
                (true, false) => CitationRule::Everywhere,
                (false, _) => CitationRule::Findings,
            },
            documents: self.documents,
            is_rehearsal: self.is_rehearsal,
            no_branch: self.no_branch,
            branch_rule,
            dirty_tree: if self.allow_dirty { DirtyTree::Allowed } else { DirtyTree::Refused },
            branch_info: self.branch_info,
            feature_dir: self.feature_dir,
            budget,
        })
    }
}
