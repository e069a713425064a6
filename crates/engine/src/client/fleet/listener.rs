//! What the companion's lines mean: those of the worker's lane, and its own.

use std::borrow::Cow;

use convoke_domain::lane::event::{FailureKind, GrantedRights, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::failure;
use crate::client::listener::{Dialect, EventQueue};
use crate::json::{more_tokens, parse, string, tokens};

/// One line. Fields stay raw, so that one odd value does not cost the line.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    mode: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    why: Option<&'a RawValue>,
    #[serde(borrow)]
    report: Option<&'a RawValue>,
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    cached_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    micro_dollars: Option<&'a RawValue>,
}

/// The part of a report that decides about the answer.
#[derive(Deserialize)]
struct Report<'a> {
    #[serde(borrow)]
    outcome: Option<&'a RawValue>,
    #[serde(borrow)]
    answer: Option<&'a RawValue>,
    #[serde(borrow)]
    trouble: Option<&'a RawValue>,
    #[serde(borrow)]
    trouble_kind: Option<&'a RawValue>,
    #[serde(borrow)]
    tree: Option<&'a RawValue>,
    #[serde(borrow)]
    rights: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tree<'a> {
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Rights<'a> {
    #[serde(borrow)]
    excess: Option<&'a RawValue>,
}

/// The output of the companion.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    /// What attempts before the present one spent.
    before: Usage,
    /// What the present one spent.
    present: Usage,
}

impl Dialect for Fleet {
    fn line(&mut self, line: &str, said: &mut EventQueue) -> Option<()> {
        let line: Line<'_> = serde_json::from_str(line).ok()?;
        match line.event.as_ref() {
            "session" => said.session(&string(line.id).unwrap_or_default()),
            "model" => said.model(&string(line.name).unwrap_or_default()),
            "rights" => said.rights(GrantedRights {
                mode: string(line.mode).map(Cow::into_owned),
                tools: parse(line.tools).unwrap_or_default(),
            }),
            "text" => said.text(&string(line.text).unwrap_or_default()),
            "tool" => said.tool(&string(line.name).unwrap_or_default()),
            "usage" => self.counts(&line, said)?,
            "trouble" => {
                let kind = string(line.kind).and_then(|kind| FailureKind::parse(&kind));
                let words = string(line.message).unwrap_or_default();
                said.trouble(failure(kind.unwrap_or(FailureKind::Other), &words));
            }
            "placed" => {
                self.before = self.before.plus(self.present);
                self.present = Usage::default();
            }
            "lost" => {
                let words = string(line.why).unwrap_or_default();
                said.ends_in(failure(FailureKind::Other, &words));
            }
            "ended" => ends(line.report, said),
            // The worker's turn is not the lane's end: its report is.
            "submitted" | "waiting" | "running" | "turn" | "started" => {}
            _ => return None,
        }
        Some(())
    }
}

impl Fleet {
    fn counts(&mut self, line: &Line<'_>, said: &mut EventQueue) -> Option<()> {
        self.present = Usage {
            input: tokens(line.input_tokens)?,
            cached: more_tokens(line.cached_tokens)?,
            output: tokens(line.output_tokens)?,
            reasoning: more_tokens(line.reasoning_tokens)?,
            micro_dollars: tokens(line.micro_dollars),
        };
        said.usage(self.before.plus(self.present));
        Some(())
    }
}

/// Judges a report. Only one that says `answered`, has an answer, and tells of no changed file is an
/// answer.
fn ends(report: Option<&RawValue>, said: &mut EventQueue) {
    let Some(report) = parse::<Report<'_>>(report) else {
        return said.ends_in(failure(FailureKind::Other, "the worker's report cannot be read"));
    };
    let excess: Vec<String> = parse::<Rights<'_>>(report.rights)
        .and_then(|rights| parse(rights.excess))
        .unwrap_or_default();
    if !excess.is_empty() {
        let words = format!("on the worker, the client reports more rights: {}", excess.join(", "));
        said.trouble(failure(FailureKind::Other, &words));
    }
    let outcome = string(report.outcome).unwrap_or(Cow::Borrowed("unknown"));
    let tree = parse::<Tree<'_>>(report.tree).and_then(|tree| string(tree.status));
    if tree.as_deref() == Some("dirty") {
        let words = "the agent was to read only, and changed the worker's working tree";
        return said.ends_in(failure(FailureKind::Other, words));
    }
    match (outcome.as_ref(), string(report.answer)) {
        ("answered", Some(answer)) => said.ends_well(Some(answer.into_owned())),
        ("answered", None) => {
            let words = "the worker's report says `answered`, without an answer";
            said.ends_in(failure(FailureKind::Other, words));
        }
        (outcome, _) => {
            let kind = string(report.trouble_kind).and_then(|kind| FailureKind::parse(&kind));
            let trouble = string(report.trouble).unwrap_or_default();
            let words = format!("{outcome} on the worker: {trouble}");
            said.ends_in(failure(
                kind.unwrap_or(FailureKind::Other),
                words.trim_end_matches([':', ' ']),
            ));
        }
    }
}
