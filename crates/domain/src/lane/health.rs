//! Agents' health: whether an agent is installed, whether it answers, and the warnings about those
//! that do not.

use std::fmt::Write;

use super::outcome::{LaneOutcome, ProcessEnd};

/// The probe's prompt.
pub const PROMPT: &str = "Respond with OK";

/// How many times Convoke probes an agent before it counts as unhealthy.
pub const ATTEMPTS: u32 = 3;

/// How much of an answer that is not the expected one is shown, in characters.
const MOST_SHOWN: usize = 200;

/// An agent's health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentHealth {
    /// Its program is not installed.
    Missing,
    /// It was not probed.
    NotAsked,
    /// It answers.
    Healthy,
    /// It does not, for this reason; a caller that reports it may give none.
    Sick(Option<ProbeFailure>),
}

/// Why an agent did not pass its probe, in the words of the contract and in plain ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeFailure {
    /// The line that other programs read (P-73): `Probe attempt 1 returned non-OK response: no`.
    pub line: String,
    /// The words for a person, which follow the agent's name: ``answered `no` instead of `OK` ``.
    pub words: String,
    /// How the probe's lane ended; unknown of a failure that a file or a journal keeps.
    pub outcome: Option<LaneOutcome>,
}

impl ProbeFailure {
    /// A failure that the contract has no form for.
    pub fn other(words: impl Into<String>) -> Self {
        let words = words.into();
        Self { line: words.clone(), words, outcome: None }
    }
}

impl AgentHealth {
    /// Returns the words for it.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::NotAsked => "not asked",
            Self::Healthy => "healthy",
            Self::Sick(_) => "not responding",
        }
    }

    /// Tells whether the agent may get work: it must be installed, and must have answered.
    pub const fn may_work(&self) -> bool {
        match self {
            Self::Healthy => true,
            Self::Missing | Self::NotAsked | Self::Sick(_) => false,
        }
    }

    /// Tells whether an agent answers no probe because its limit is reached. Caches and journals keep a
    /// failure as its words, which begin with those of the outcome.
    pub fn is_limited(&self) -> bool {
        let limited = LaneOutcome::RateLimited.words();
        self.reason().is_some_and(|failure| failure.words.starts_with(limited))
    }

    /// Returns the health of an installed agent as a calling workflow reports it.
    pub fn from_caller(is_healthy: bool) -> Self {
        if is_healthy { Self::Healthy } else { Self::Sick(None) }
    }

    /// Returns why an agent did not pass its probe.
    pub const fn reason(&self) -> Option<&ProbeFailure> {
        match self {
            Self::Sick(reason) => reason.as_ref(),
            Self::Missing | Self::NotAsked | Self::Healthy => None,
        }
    }

    /// Returns the original workflow's warning that an agent will not take part.
    pub fn warning(&self, agent: &str) -> Option<String> {
        let name = capitalised(agent);
        match self {
            Self::Healthy | Self::NotAsked => None,
            Self::Missing => Some(format!(
                "**⚠ {name} not available (binary not found). \
                 Proceeding without {name} reviewer.**"
            )),
            Self::Sick(cause) => {
                let cause =
                    cause.as_ref().map_or(String::new(), |cause| format!(": {}", cause.line));
                Some(format!(
                    "**⚠ {name} installed but not responding (health check failed{cause}). \
                     Using Claude replacement.**"
                ))
            }
        }
    }

    /// Returns the warning that an agent will not take part: why, and which agent replaces it.
    pub fn plain_warning(&self, agent: &str, host: Replacement<'_>) -> Option<String> {
        let name = capitalised(agent);
        let why = match self {
            Self::Healthy | Self::NotAsked => return None,
            Self::Missing => format!("{name} is not installed"),
            Self::Sick(None) => format!("{name} does not answer, as the calling workflow reports"),
            Self::Sick(Some(cause)) => format!("{name} did not pass the probe: it {}", cause.words),
        };
        Some(format!("**⚠ {why}. {}.**", host.words()))
    }

    /// Returns the warning that an agent does not judge, and which agent judges in its place.
    pub fn judge_warning(&self, agent: &str, host: &str) -> Option<String> {
        let why = match self {
            Self::Healthy | Self::NotAsked => return None,
            Self::Missing => "binary not found".to_owned(),
            Self::Sick(None) => "health check failed".to_owned(),
            Self::Sick(Some(cause)) => format!("health check failed: it {}", cause.words),
        };
        let name = capitalised(agent);
        Some(format!("**⚠ {name} cannot judge ({why}). {host} judges in its place.**"))
    }

    /// Returns the original workflow's warning in a box, for an agent that did not pass its probe.
    pub fn banner(&self, agent: &str) -> Option<String> {
        let Self::Sick(Some(cause)) = self else { return None };
        let rule = "═".repeat(59);
        let (name, cause) = (agent.to_uppercase(), &cause.line);
        Some(format!(
            "{rule}\n⚠  {name} HEALTH CHECK FAILED — not responding\n   Cause: {cause}\n   \
             Will use Claude replacement for this session.\n{rule}"
        ))
    }

    /// Returns a sentence about an agent that did not pass its probe: what it did instead.
    pub fn sentence(&self, agent: &str) -> Option<String> {
        let Self::Sick(Some(cause)) = self else { return None };
        Some(format!("{agent} did not pass the probe: it {}", cause.words))
    }
}

/// The agents that take the seats of one that does not take part.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// The other agent of the panel, if it is available.
    pub other: Option<&'a str>,
    /// The name of the agent that takes the seats left over.
    pub host: &'a str,
    /// Whether the host is the client that failed: it may fail in the same way.
    pub host_is_same: bool,
}

impl Replacement<'_> {
    fn words(self) -> String {
        let Self { other, host, host_is_same } = self;
        let seats = match other {
            Some(other) => format!("{other} and {host} take its seats"),
            None => format!("{host} takes its seats"),
        };
        if host_is_same {
            return format!("{seats}, but {host} is the same client and may fail, too");
        }
        seats
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Tells whether an answer is the expected one. An answer that merely contains it is not.
pub fn is_ok(answer: &str) -> bool {
    let letters = answer.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase);
    letters.eq("ok".chars())
}

/// One probe of an agent, and its result.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The probe's number, from 1.
    pub number: u32,
    /// The lane's outcome.
    pub outcome: LaneOutcome,
    /// How its process ended.
    pub end: ProcessEnd,
    /// The agent's answer.
    pub answer: Option<&'a str>,
    /// The error, in the client's own words.
    pub trouble: Option<&'a str>,
}

impl Attempt<'_> {
    /// Judges the answer, and describes an error in one line.
    pub fn verdict(&self) -> Result<(), ProbeFailure> {
        let answer = self.answer.filter(|_| self.outcome == LaneOutcome::Answered);
        let (form, words) = match (answer, self.trouble) {
            (Some(answer), _) if is_ok(answer) => return Ok(()),
            (Some(answer), _) => {
                let answer = brief(answer);
                let words = format!("answered `{answer}` instead of `OK`");
                (format!(" returned non-OK response: {answer}"), words)
            }
            (None, Some(trouble)) => {
                let trouble = brief(trouble);
                let words = format!("{}: {trouble}", self.outcome.words());
                (format!(": {trouble}"), words)
            }
            (None, None) => self.silence(),
        };
        let line = format!("Probe attempt {}{form}", self.number);
        Err(ProbeFailure { line, words, outcome: Some(self.outcome) })
    }

    /// Tells whether another attempt would fail in the same way until a person changes something.
    pub const fn is_lasting(&self) -> bool {
        matches!(
            self.outcome,
            LaneOutcome::Answered
                | LaneOutcome::Auth
                | LaneOutcome::RefusedFlags
                | LaneOutcome::ModelMismatch
        )
    }

    /// Describes a probe without an answer and without an error of the client's, by its end.
    fn silence(&self) -> (String, String) {
        if let ProcessEnd::Signalled(signal) = self.end {
            let form = " did not complete (possible crash or system kill)";
            return (form.to_owned(), format!("was killed by signal {signal} before it answered"));
        }
        match self.end.exit_code() {
            Some(0) if self.outcome == LaneOutcome::NoOutput => {
                let form = " exited successfully but produced no output";
                (form.to_owned(), "ended without an answer".to_owned())
            }
            Some(code) if code != 0 => (
                format!(" failed with exit code {code}"),
                format!("ended with exit code {code} before it answered"),
            ),
            Some(_) | None => {
                (format!(": {}", self.outcome.name()), self.outcome.words().to_owned())
            }
        }
    }
}

/// One line, and not a long one.
fn brief(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(MOST_SHOWN).collect()
}

/// Which agents are still available in a run. An agent that failed once stays unavailable: a report
/// about agents that come and go could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Availability {
    agents: Vec<(String, bool)>,
}

impl Availability {
    /// Takes in all of another.
    pub fn note_all(&mut self, other: &Self) {
        self.extend(other.agents.iter().cloned());
    }

    /// Returns an agent's health, if it was noted.
    pub fn get(&self, agent: &str) -> Option<bool> {
        self.agents.iter().find(|(name, _)| name == agent).map(|(_, known)| *known)
    }

    /// Returns the lines of a health file, in the order in which agents were noted.
    pub fn text(&self) -> String {
        self.agents.iter().fold(String::new(), |mut text, (name, is_healthy)| {
            // Writing to a text cannot fail.
            writeln!(text, "{}_HEALTHY={is_healthy}", name.to_uppercase()).ok();
            text
        })
    }

    /// Reads a health file. An agent without a clear word is not to be counted on; other lines mean
    /// nothing here.
    pub fn parse(text: &str) -> Self {
        let mut read = Self::default();
        for line in text.lines() {
            let Some((key, value)) = line.split_once('=') else { continue };
            let Some(name) = key.strip_suffix("_HEALTHY").filter(|name| !name.is_empty()) else {
                continue;
            };
            read.extend([(name.to_lowercase(), value == "true")]);
        }
        read
    }

    /// Reads what a caller knows: an empty value says nothing, where a health file's says no.
    pub fn parse_caller(text: &str) -> Self {
        let said = text.lines().filter(|line| !line.ends_with('='));
        Self::parse(&said.collect::<Vec<_>>().join("\n"))
    }
}

/// Takes in agents, each with whether it is available now.
impl Extend<(String, bool)> for Availability {
    fn extend<T: IntoIterator<Item = (String, bool)>>(&mut self, noted: T) {
        for (agent, is_healthy) in noted {
            match self.agents.iter_mut().find(|(name, _)| *name == agent) {
                Some((_, known)) => *known &= is_healthy,
                None => self.agents.push((agent, is_healthy)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-70, T-41
    #[test]
    fn only_ok_is_ok() {
        for answer in ["OK", " o k\n", "ok", "Ok\r\n"] {
            assert!(is_ok(answer), "{answer:?}");
        }
        for answer in ["", "token", "broken", "NotOK", "OK.", "okay", "Error: not ok"] {
            assert!(!is_ok(answer), "{answer:?}");
        }
    }

    // P-68
    #[test]
    fn only_an_installed_agent_that_answered_may_work() {
        assert!(AgentHealth::from_caller(true).may_work());
        for health in [AgentHealth::Missing, AgentHealth::NotAsked, AgentHealth::from_caller(false)]
        {
            assert!(!health.may_work(), "{health:?}");
        }
    }

    // P-73
    #[test]
    fn every_failure_has_its_line() {
        let line = |outcome, end, answer, trouble| {
            Attempt { number: 2, outcome, end, answer, trouble }.verdict().map_err(|why| why.line)
        };
        let said = |text: &str| Err(text.to_owned());
        assert_eq!(line(LaneOutcome::Answered, ProcessEnd::Exited(0), Some("OK\n"), None), Ok(()));
        let long = "no\n".repeat(200);
        let shown = "no ".repeat(67)[..200].to_owned();
        for (outcome, end, answer, trouble, expected) in [
            (
                LaneOutcome::Answered,
                ProcessEnd::Exited(0),
                Some(long.as_str()),
                None,
                format!("Probe attempt 2 returned non-OK response: {shown}"),
            ),
            (
                LaneOutcome::Auth,
                ProcessEnd::Exited(1),
                None,
                Some("no\nkey"),
                "Probe attempt 2: no key".to_owned(),
            ),
            (
                LaneOutcome::Failed,
                ProcessEnd::Exited(0),
                Some("OK"),
                Some("broken"),
                "Probe attempt 2: broken".to_owned(),
            ),
            (
                LaneOutcome::NoOutput,
                ProcessEnd::Exited(0),
                None,
                None,
                "Probe attempt 2 exited successfully but produced no output".to_owned(),
            ),
            (
                LaneOutcome::ExitedEarly,
                ProcessEnd::Exited(7),
                None,
                None,
                "Probe attempt 2 failed with exit code 7".to_owned(),
            ),
            (
                LaneOutcome::ExitedEarly,
                ProcessEnd::Signalled(9),
                None,
                None,
                "Probe attempt 2 did not complete (possible crash or system kill)".to_owned(),
            ),
            (
                LaneOutcome::TimedOut,
                ProcessEnd::WallLimit,
                None,
                None,
                "Probe attempt 2: timed_out".to_owned(),
            ),
        ] {
            assert_eq!(line(outcome, end, answer, trouble), said(&expected));
        }
    }

    // P-73: a lane with output is not reported as one without.
    #[test]
    fn only_silence_is_no_output() {
        let line = |outcome, trouble| {
            let (end, answer) = (ProcessEnd::Exited(0), Some("OK"));
            Attempt { number: 2, outcome, end, answer, trouble }.verdict().unwrap_err().line
        };
        let words = "Convoke asked for m-1, but m-2 answered";
        let told = format!("Probe attempt 2: {words}");
        assert_eq!(line(LaneOutcome::ModelMismatch, Some(words)), told);
        assert_eq!(line(LaneOutcome::ExitedEarly, None), "Probe attempt 2: exited_early");
    }

    // P-77
    #[test]
    fn an_unavailable_agent_gives_a_warning() {
        assert_eq!(AgentHealth::Healthy.warning("codex"), None);
        assert_eq!(
            AgentHealth::Missing.warning("codex").unwrap(),
            "**⚠ Codex not available (binary not found). Proceeding without Codex reviewer.**"
        );
        assert_eq!(
            AgentHealth::from_caller(false).warning("cursor").unwrap(),
            "**⚠ Cursor installed but not responding (health check failed). \
             Using Claude replacement.**"
        );
        assert_eq!(
            AgentHealth::Sick(Some(ProbeFailure::other("it hung"))).warning("codex").unwrap(),
            "**⚠ Codex installed but not responding (health check failed: it hung). \
             Using Claude replacement.**"
        );
    }

    // P-409: what an agent says cannot pass for a limit.
    #[test]
    fn a_limit_is_known_by_the_outcome() {
        let probed = |outcome, answer, trouble| {
            let end = ProcessEnd::Exited(0);
            let attempt = Attempt { number: 1, outcome, end, answer, trouble };
            AgentHealth::Sick(attempt.verdict().err())
        };
        let limited = LaneOutcome::RateLimited;
        assert!(probed(limited, None, Some("resets 3pm")).is_limited());
        assert!(probed(limited, None, None).is_limited());
        let words = Some(limited.words());
        assert!(!probed(LaneOutcome::Answered, words, None).is_limited());
        assert!(!probed(LaneOutcome::Failed, None, words).is_limited());
        assert!(!AgentHealth::Sick(None).is_limited() && !AgentHealth::Healthy.is_limited());
    }

    // P-77: what happened, and which agent replaces it.
    #[test]
    fn a_plain_warning_names_the_cause_and_the_replacement() {
        let failure = ProbeFailure {
            line: "Probe attempt 1 returned non-OK response: no".to_owned(),
            words: "answered `no` instead of `OK`".to_owned(),
            outcome: None,
        };
        let sick = AgentHealth::Sick(Some(failure));
        let alone = Replacement { other: None, host: "Claude", host_is_same: false };
        let same = Replacement { host: "Host", host_is_same: true, ..alone };
        let both = Replacement { other: Some("Cursor"), ..alone };
        for (health, host, words) in [
            (
                &sick,
                alone,
                "Codex did not pass the probe: it answered `no` instead of `OK`. \
                 Claude takes its seats.",
            ),
            (
                &sick,
                same,
                "Codex did not pass the probe: it answered `no` instead of `OK`. \
                 Host takes its seats, but Host is the same client and may fail, too.",
            ),
            (
                &AgentHealth::Missing,
                both,
                "Codex is not installed. Cursor and Claude take its seats.",
            ),
        ] {
            assert_eq!(health.plain_warning("codex", host), Some(format!("**⚠ {words}**")));
        }
        assert_eq!(AgentHealth::Healthy.plain_warning("codex", alone), None);
    }

    // P-76
    #[test]
    fn a_failed_probe_has_a_banner() {
        let banner =
            AgentHealth::Sick(Some(ProbeFailure::other("it hung"))).banner("codex").unwrap();
        let lines: Vec<_> = banner.lines().collect();
        assert_eq!((lines.len(), lines[0].chars().count()), (5, 59));
        assert!(lines[0].chars().all(|c| c == '═') && lines[0] == lines[4]);
        assert_eq!(lines[1], "⚠  CODEX HEALTH CHECK FAILED — not responding");
        assert_eq!(lines[2].trim(), "Cause: it hung");
        assert_eq!(lines[3].trim(), "Will use Claude replacement for this session.");
        assert_eq!(AgentHealth::Healthy.banner("codex"), None);
    }

    // P-76: a person reads what the agent did, in plain words.
    #[test]
    fn a_sentence_about_a_failed_probe_says_what_the_agent_did() {
        let said = |outcome, end, answer, trouble| {
            let attempt = Attempt { number: 3, outcome, end, answer, trouble };
            AgentHealth::Sick(attempt.verdict().err()).sentence("claude").unwrap()
        };
        let begin = "claude did not pass the probe: it";
        for (outcome, end, answer, trouble, words) in [
            (
                LaneOutcome::Answered,
                ProcessEnd::Exited(0),
                Some("FAKE-ANSWER-OK"),
                None,
                "answered `FAKE-ANSWER-OK` instead of `OK`",
            ),
            (
                LaneOutcome::Auth,
                ProcessEnd::Exited(1),
                None,
                Some("Please run /login"),
                "is not logged in, or its key is refused: Please run /login",
            ),
            (LaneOutcome::TimedOut, ProcessEnd::WallLimit, None, None, "reached its time limit"),
            (LaneOutcome::NoOutput, ProcessEnd::Exited(0), None, None, "ended without an answer"),
            (
                LaneOutcome::ExitedEarly,
                ProcessEnd::Signalled(9),
                None,
                None,
                "was killed by signal 9 before it answered",
            ),
        ] {
            assert_eq!(said(outcome, end, answer, trouble), format!("{begin} {words}"));
        }
        assert_eq!(AgentHealth::from_caller(false).sentence("claude"), None);
    }

    // P-71
    #[test]
    fn only_failures_that_may_pass_are_probed_again() {
        let is_lasting = |outcome| {
            let end = ProcessEnd::Exited(0);
            Attempt { number: 1, outcome, end, answer: None, trouble: None }.is_lasting()
        };
        let lasting: Vec<_> =
            LaneOutcome::ALL.into_iter().filter(|outcome| is_lasting(*outcome)).collect();
        let expected = [
            LaneOutcome::Answered,
            LaneOutcome::Auth,
            LaneOutcome::RefusedFlags,
            LaneOutcome::ModelMismatch,
        ];
        assert_eq!(lasting, expected);
    }

    // P-75, P-79, P-80: a health file's empty value says no; a caller's says nothing.
    #[test]
    fn a_health_file_is_read_and_written() {
        let file = "CODEX_HEALTHY=true\nCURSOR_HEALTHY=\nGEMINI_HEALTHY=false\nREPO=x\nnonsense\n";
        let read = Availability::parse(file);
        let expected = "CODEX_HEALTHY=true\nCURSOR_HEALTHY=false\nGEMINI_HEALTHY=false\n";
        assert_eq!(read.text(), expected);
        assert_eq!(Availability::parse(expected), read);
        let told = Availability::parse_caller(file);
        assert_eq!(
            [told.get("codex"), told.get("cursor"), told.get("gemini")],
            [Some(true), None, Some(false)]
        );
    }

    proptest! {
        // P-78, P-81: an agent that failed never becomes available again.
        #[test]
        fn an_unavailable_agent_stays_unavailable(notes in prop::collection::vec(("[ab]", any::<bool>()), 0..12)) {
            let mut run = Availability::default();
            let mut down = Vec::new();
            for (name, is_healthy) in notes {
                run.extend([(name.clone(), is_healthy)]);
                if !is_healthy {
                    down.push(name);
                }
                let mut again = Availability::parse(&run.text());
                again.note_all(&run);
                prop_assert_eq!(&again, &run);
                prop_assert!(down.iter().all(|name| run.get(name) == Some(false)));
            }
        }

        #[test]
        fn any_text_is_read(text in "(?s).{0,80}") {
            let read = Availability::parse(&text);
            prop_assert_eq!(Availability::parse(&read.text()).text(), read.text());
        }
    }
}
