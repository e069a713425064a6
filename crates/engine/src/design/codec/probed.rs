//! The health of a panel's agents, in the journal's form.

use convoke_domain::design::absence::Absence;
use convoke_domain::design::event::{Event, Health, Occasion};
use convoke_domain::design::seat::{Available, Holder};
use convoke_domain::lane::health::{AgentHealth, ProbeFailure};
use serde::{Deserialize, Serialize};

use super::{CodecError, Reader};

#[derive(Serialize, Deserialize)]
pub(super) struct ProbedBody {
    occasion: String,
    first: bool,
    second: bool,
    warnings: Vec<AbsenceBody>,
}

/// An agent that does not take part. Early journals have a sentence.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum AbsenceBody {
    Sentence(String),
    Agent(AgentBody),
}

#[derive(Serialize, Deserialize)]
struct AgentBody {
    /// `first` or `second`.
    holder: String,
    /// `missing` or `sick`.
    health: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<CauseBody>,
}

#[derive(Serialize, Deserialize)]
struct CauseBody {
    line: String,
    words: String,
}

impl ProbedBody {
    pub(super) fn new(occasion: Occasion, health: &Health) -> Self {
        let Available { first, second } = health.available;
        let occasion = match occasion {
            Occasion::SetUp => "set_up",
            Occasion::Judges => "judges",
        };
        let warnings = health.absences.iter().filter_map(AbsenceBody::of).collect();
        Self { occasion: occasion.to_owned(), first, second, warnings }
    }

    pub(super) fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let occasion = match self.occasion.as_str() {
            "set_up" => Some(Occasion::SetUp),
            "judges" => Some(Occasion::Judges),
            _ => None,
        };
        let occasion = read.known(&self.occasion, occasion)?;
        let available = Available { first: self.first, second: self.second };
        let absences = self.warnings.into_iter().map(|body| body.absence(read));
        let absences = absences.collect::<Result<_, _>>()?;
        Ok(Event::Probed { occasion, health: Health { available, absences } })
    }
}

impl AbsenceBody {
    /// Returns the form of an absence; an agent that can take part has no absence.
    fn of(absence: &Absence) -> Option<Self> {
        let (holder, health) = match absence {
            Absence::Sentence(line) => return Some(Self::Sentence(line.clone())),
            Absence::Agent { holder, health } => (holder, health),
        };
        let holder = match holder {
            Holder::First => "first",
            Holder::Second => "second",
            Holder::Host => return None,
        };
        let health_word = match health {
            AgentHealth::Missing => "missing",
            AgentHealth::Sick(_) => "sick",
            AgentHealth::NotAsked | AgentHealth::Healthy => return None,
        };
        let cause = health
            .reason()
            .map(|cause| CauseBody { line: cause.line.clone(), words: cause.words.clone() });
        let (holder, health) = (holder.to_owned(), health_word.to_owned());
        Some(Self::Agent(AgentBody { holder, health, cause }))
    }

    fn absence(self, read: &Reader<'_>) -> Result<Absence, CodecError> {
        let AgentBody { holder, health, cause } = match self {
            Self::Sentence(line) => return Ok(Absence::Sentence(line)),
            Self::Agent(agent) => agent,
        };
        let found = match holder.as_str() {
            "first" => Some(Holder::First),
            "second" => Some(Holder::Second),
            _ => None,
        };
        let holder = read.known(&holder, found)?;
        let cause =
            cause.map(|CauseBody { line, words }| ProbeFailure { line, words, outcome: None });
        let found = match health.as_str() {
            "missing" => Some(AgentHealth::Missing),
            "sick" => Some(AgentHealth::Sick(cause)),
            _ => None,
        };
        Ok(Absence::Agent { holder, health: read.known(&health, found)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};

    #[test]
    fn an_absence_is_read_as_it_was_written_and_an_early_journal_keeps_its_sentence() {
        let probed = |warnings: &str| {
            format!(
                r#"{{"occasion":"set_up","first":false,"second":true,"warnings":[{warnings}]}}"#
            )
        };
        for warnings in [
            r#""**⚠ Codex is not installed. Claude takes its seats.**""#,
            r#"{"holder":"first","health":"missing"}"#,
            r#"{"holder":"second","health":"sick"}"#,
            r#"{"holder":"first","health":"sick","cause":{"line":"Probe attempt 1: x","words":"x"}}"#,
        ] {
            let body = probed(warnings);
            assert_eq!(encode(&decode("probed", &body).unwrap()), ("probed", body));
        }
        for wrong in [
            r#"{"holder":"host","health":"missing"}"#,
            r#"{"holder":"first","health":"healthy"}"#,
            r#"{"holder":"first"}"#,
            "7",
        ] {
            assert!(decode("probed", &probed(wrong)).is_err(), "{wrong}");
        }
    }
}
