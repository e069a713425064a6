//! The `[wake]` section.

use std::path::{Path, PathBuf};

use convoke_domain::mention::MentionRule;
use convoke_domain::scope::AgentName;
use convoke_domain::skill::choice::{PatternRule, SkillRule};
use convoke_domain::token::Budget;
use convoke_domain::wake::deeds::NextActionRule;
use convoke_domain::wake::{WakeFit, WakeMode};
use convoke_engine::git::checkout;
use jiff::tz::Offset;

use super::files::settle_once;
use super::trust::Author;
use super::usable::{UsableLayers, read_usable_layers, read_usable_local};
use super::{Key, LOCAL_FILE, PROJECT_FILE, number, read_authored, text, truth, whole};
use crate::environment::agent_variable::AGENT_VARIABLE;
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "wake";

/// The default budget of a wake-up.
const DEFAULT_BUDGET: Budget = Budget::at_least_one(8000);

/// A place that names the agent of a project's sessions, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPlace {
    /// The variable for the setting.
    Variable,
    /// The user's own file in the project.
    LocalFile,
    /// The project's committed file, which is not listened to.
    ProjectFile,
    /// The user's file for all projects.
    UserFile,
    /// No place: a mistake may hide the name, and this is the agent that is most likely meant.
    Guess,
}

impl AgentPlace {
    /// Those that Convoke reads, in this order.
    const ALL: [Self; 4] = [Self::Variable, Self::LocalFile, Self::ProjectFile, Self::UserFile];

    /// Returns the words for it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Variable => "CONVOKE_WAKE_AGENT",
            Self::LocalFile => LOCAL_FILE,
            Self::ProjectFile => PROJECT_FILE,
            Self::UserFile => "your config.toml",
            Self::Guess => "a mistake may hide the one that is set",
        }
    }
}

/// Everything decided about wake-ups before one is assembled.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The agent that leads the others.
    pub orchestrator: AgentName,
    /// Whether a setting names that agent; otherwise the agent of the project's sessions leads.
    pub is_orchestrator_named: bool,
    /// The agent of sessions that no other is bound to, and the place that names it.
    pub agent: Option<(AgentName, AgentPlace)>,
    /// The most tokens a wake-up may cost.
    pub budget: Budget,
    /// The most that it may cost without what a committed file says.
    pub own_budget: Budget,
    /// How much a wake-up tells its agent.
    pub mode: WakeMode,
    /// What is shortened when a wake-up costs more than its budget.
    pub fit: WakeFit,
    /// The clock that times are shown by.
    pub clock: Offset,
    /// How mentions are recognised.
    pub mentions: MentionRule,
    /// The basis of the next action.
    pub next_action: NextActionRule,
    /// The sources that may name a skill.
    pub skill_rule: SkillRule,
    /// How the words of tasks choose a skill, where they may.
    pub patterns: PatternRule,
    /// Whether an id of a collection is searched only there.
    pub namespace_strict: bool,
}

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    orchestrator: Option<AgentName>,
    agent: Option<AgentName>,
    budget: Option<Budget>,
    mode: Option<WakeMode>,
    fit: Option<WakeFit>,
    clock: Option<Offset>,
    mentions: Option<MentionRule>,
    next_action: Option<NextActionRule>,
    skill_rule: Option<SkillRule>,
    patterns: Option<PatternRule>,
    namespace_strict: Option<bool>,
}

/// Every setting of wake-ups.
pub const KEYS: [Key<Layer>; 11] = [
    Key {
        name: "agent",
        expected: "an agent's name, and not `human`, which means you",
        default: "no agent",
        meaning: "the agent of sessions without another one; `convoke hooks install` sets it",
        from_text: text,
        set: |layer, value| {
            let named = AgentName::parse(value.as_str()?).ok();
            // A session must not read and answer what others say to the person.
            layer.agent = Some(named.filter(|name| !name.is_human())?);
            Some(())
        },
    },
    Key {
        name: "orchestrator",
        expected: "an agent's name",
        default: "the value of agent, else june",
        meaning: "the agent that leads the others; its wake-up has the whole plan, theirs only their own tasks",
        from_text: text,
        set: |layer, value| {
            layer.orchestrator = Some(AgentName::parse(value.as_str()?).ok()?);
            Some(())
        },
    },
    Key {
        name: "wake_budget",
        expected: "a whole number from 1 up",
        default: "8000",
        meaning: "the token budget of a wake-up",
        from_text: number,
        set: |layer, value| {
            layer.budget = Some(Budget::new(whole(value)?)?);
            Some(())
        },
    },
    Key {
        name: "mode",
        expected: "seed or v0",
        default: "seed",
        meaning: "repeat everything in each wake-up, or with v0 only the news while the agent keeps its memory",
        from_text: text,
        set: |layer, value| {
            layer.mode = Some(WakeMode::parse(value.as_str()?)?);
            Some(())
        },
    },
    Key {
        name: "fit",
        expected: "kept or seed",
        default: "kept",
        meaning: "shorten every section that is too long to fit the budget, or with seed never shorten the task list and the new message",
        from_text: text,
        set: |layer, value| {
            layer.fit = Some(WakeFit::parse(value.as_str()?)?);
            Some(())
        },
    },
    Key {
        name: "next_action",
        expected: "deeds or seed",
        default: "deeds",
        meaning: "choose the next action from recorded verdicts and dispatches, or with seed from words of the message",
        from_text: text,
        set: |layer, value| {
            layer.next_action = Some(NextActionRule::parse(value.as_str()?)?);
            Some(())
        },
    },
    Key {
        name: "skill_choice",
        expected: "named or seed",
        default: "named",
        meaning: "include a skill that is named and installed, or with seed also one guessed from words",
        from_text: text,
        set: |layer, value| {
            layer.skill_rule = Some(SkillRule::parse(value.as_str()?)?);
            Some(())
        },
    },
    Key {
        name: "clock",
        expected: "UTC or an offset such as +02:00",
        default: "UTC",
        meaning: "the time zone of displayed times",
        from_text: text,
        set: |layer, value| {
            layer.clock = Some(offset(value.as_str()?)?);
            Some(())
        },
    },
    Key {
        name: "compat_mentions",
        expected: "true or false",
        default: "false",
        meaning: "recognise `@` also inside words, and names that end like a sentence",
        from_text: truth,
        set: |layer, value| {
            let compatible = value.as_bool()?;
            let rule = if compatible { MentionRule::Compatible } else { MentionRule::Hardened };
            layer.mentions = Some(rule);
            Some(())
        },
    },
    Key {
        name: "compat_patterns",
        expected: "true or false",
        default: "false",
        meaning: "treat the letters `pr` anywhere in a task as a pull request",
        from_text: truth,
        set: |layer, value| {
            let compatible = value.as_bool()?;
            let rule = if compatible { PatternRule::Compatible } else { PatternRule::WholeWord };
            layer.patterns = Some(rule);
            Some(())
        },
    },
    Key {
        name: "namespace_strict",
        expected: "true or false",
        default: "false",
        meaning: "look for `superpowers:` skills only in that collection",
        from_text: truth,
        set: |layer, value| {
            layer.namespace_strict = Some(value.as_bool()?);
            Some(())
        },
    },
];

/// Collects what environment and files say about wake-ups.
pub fn settings(session: &Session) -> Result<Settings, Failure> {
    settle_once(&session.settings.files().wake, || {
        let (layers, author) = read_authored(session, SECTION, &KEYS)?;
        Ok(settled(with_binding(session, layers), author))
    })
}

/// Collects the same as far as it can be used, and returns the names of files and variables with a
/// mistake: a hook delivers in any case.
pub fn settings_for_hook(session: &Session) -> (Settings, Vec<String>) {
    let UsableLayers { layers, author, mut left_out } = read_usable_layers(session, SECTION, &KEYS);
    if session.environment.unusable_agent().is_some() {
        left_out.insert(0, AGENT_VARIABLE.to_owned());
    }
    (settled(with_binding(session, layers), author), left_out)
}

/// Adds the agent that the user bound the project to elsewhere in it. A worktree has no local file of
/// its own, and a folder with a `convoke.toml` below the repository's is the same project: a committed
/// file must not take the agent away, and with it the user's rules.
fn with_binding(session: &Session, mut layers: [Layer; 4]) -> [Layer; 4] {
    let [variable, local, ..] = &mut layers;
    if variable.agent.is_some() || local.agent.is_some() {
        return layers;
    }
    let places = other_places(session);
    let read = |place: &PathBuf| read_usable_local(session, place, SECTION, &KEYS);
    if let Some(found) = places.iter().map(read).find(|found: &Layer| found.agent.is_some()) {
        local.agent = found.agent;
        local.orchestrator = local.orchestrator.take().or(found.orchestrator);
    }
    layers
}

/// Returns the other folders whose local file may bind this project to an agent: the uppermost one of
/// the working tree, and that of the main checkout.
pub(crate) fn other_places(session: &Session) -> Vec<PathBuf> {
    let Some(checkout) = checkout(&session.project) else { return Vec::new() };
    let main = checkout.common_dir.parent().filter(|_| checkout.common_dir.ends_with(".git"));
    let main = main.filter(|main| *main != checkout.root).map(Path::to_owned);
    let own = session.project.canonicalize().ok();
    let places = [Some(checkout.root), main].into_iter().flatten();
    places.filter(|place| own.as_ref() != Some(place)).collect()
}

fn settled(layers: [Layer; 4], author: Author) -> Settings {
    let [variable, local, _, user] = &layers;
    let local = local.budget.filter(|_| author == Author::User);
    let own_budget = variable.budget.or(local).or(user.budget).unwrap_or(DEFAULT_BUDGET);
    let named = layers.iter().zip(AgentPlace::ALL);
    let agent = named.into_iter().find_map(|(layer, place)| Some((layer.agent.clone()?, place)));
    let all = layers.into_iter().reduce(Layer::over).unwrap_or_default();
    Settings {
        own_budget,
        is_orchestrator_named: all.orchestrator.is_some(),
        // The agent that a user binds a project to does not wait for another's orders.
        orchestrator: all.orchestrator.or(all.agent).unwrap_or_else(|| AgentName::known("june")),
        agent,
        budget: all.budget.unwrap_or(DEFAULT_BUDGET),
        mode: all.mode.unwrap_or_default(),
        fit: all.fit.unwrap_or_default(),
        clock: all.clock.unwrap_or(Offset::UTC),
        mentions: all.mentions.unwrap_or_default(),
        next_action: all.next_action.unwrap_or_default(),
        skill_rule: all.skill_rule.unwrap_or_default(),
        patterns: all.patterns.unwrap_or_default(),
        namespace_strict: all.namespace_strict.unwrap_or(false),
    }
}

impl Settings {
    /// Binds the project's sessions to an agent where a mistake may hide the one that is set. It leads,
    /// as that one would.
    #[must_use]
    pub fn bound_by_guess(mut self, agent: AgentName) -> Self {
        if !self.is_orchestrator_named {
            self.orchestrator = agent.clone();
        }
        self.agent = Some((agent, AgentPlace::Guess));
        self
    }
}

impl Layer {
    fn over(self, weaker: Self) -> Self {
        Self {
            orchestrator: self.orchestrator.or(weaker.orchestrator),
            agent: self.agent.or(weaker.agent),
            budget: self.budget.or(weaker.budget),
            mode: self.mode.or(weaker.mode),
            fit: self.fit.or(weaker.fit),
            clock: self.clock.or(weaker.clock),
            mentions: self.mentions.or(weaker.mentions),
            next_action: self.next_action.or(weaker.next_action),
            skill_rule: self.skill_rule.or(weaker.skill_rule),
            patterns: self.patterns.or(weaker.patterns),
            namespace_strict: self.namespace_strict.or(weaker.namespace_strict),
        }
    }
}

/// Reads `UTC`, `+02:00` or `-0330`.
fn offset(words: &str) -> Option<Offset> {
    if words.eq_ignore_ascii_case("utc") {
        return Some(Offset::UTC);
    }
    let (sign, rest) = match words.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits = rest.replace(':', "");
    let number: u16 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    let number = i32::from(number);
    let (hours, minutes) = (number / 100, number % 100);
    (minutes < 60).then(|| Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-36
    #[test]
    fn a_clock_is_utc_or_an_offset() {
        let seconds = |words| offset(words).map(Offset::seconds);
        for (words, expected) in
            [("UTC", 0), ("utc", 0), ("+02:00", 7200), ("-0330", -12_600), ("+00:00", 0)]
        {
            assert_eq!(seconds(words), Some(expected), "{words}");
        }
        for words in ["", "2", "+2", "+02:60", "+99:00", "Europe/Paris", "+-200"] {
            assert_eq!(seconds(words), None, "{words}");
        }
    }
}
