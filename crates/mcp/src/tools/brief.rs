//! `brief`: documents as one cited block.

use convoke_domain::brief::collection::BlockForm;
use convoke_domain::brief::settings::Layer;
use convoke_domain::token::Budget;
use convoke_engine::brief::BriefMode;
use convoke_engine::brief::collect::SecretHandling;
use convoke_engine::brief::selection::NamedBy;
use convoke_service::brief::files::{BriefFilesRequest, brief_files};
use convoke_service::brief::{BriefReport, brief_settings, open_brief};
use convoke_service::failure::{ErrorClass, Failure};
use serde_json::{Map, Value, json};

use super::Desk;
use crate::arguments::{ArgumentError, Arguments};
use crate::reply::Reply;

/// Shows the block in pages.
pub(super) fn brief(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let layer = Layer { budget: budget(arguments)?, ..Layer::default() };
    let settled = brief_settings(&desk.session, layer)?;
    let named = arguments.texts("documents");
    // What a server hands out may end in a model's context far away, so secrets stay here.
    let (text, facts) = if named.is_empty() {
        let mut opened = open_brief(&desk.session, BriefMode::Standalone, settled)?;
        opened.withhold_secrets(&desk.session)?;
        let report = BriefReport::new(&opened.loaded, &opened.brief());
        let facts = json!({"budget": report.budget, "dropped": report.dropped});
        let empty = "no documents in the design folder; name some in `documents`\n".to_owned();
        (if report.block.is_empty() { empty } else { report.block }, facts)
    } else {
        let named: Result<_, _> = named.into_iter().map(|name| desk.inside(name)).collect();
        let request = BriefFilesRequest {
            named: named?,
            first: Vec::new(),
            named_by: NamedBy::Agent,
            policy: None,
            form: BlockForm::Markdown,
            secrets: SecretHandling::LeaveOut,
        };
        let report = brief_files(&desk.session, &settled.settings, &request)?;
        (report.block, json!({"budget": report.budget}))
    };
    Ok(Reply::paged(&text, arguments.from(), object(&facts)))
}

fn budget(arguments: &Arguments) -> Result<Option<Budget>, Failure> {
    let Some(tokens) = arguments.number("budget") else { return Ok(None) };
    let budget = u64::try_from(tokens).ok().and_then(Budget::new);
    let refused = || {
        let expected =
            "at least 1 token; without it, the setting `brief.token_budget` holds".to_owned();
        let error = ArgumentError::Value { name: "budget".to_owned(), expected };
        Failure::new(ErrorClass::Usage, error)
    };
    budget.map(Some).ok_or_else(refused)
}

fn object(facts: &Value) -> Map<String, Value> {
    facts.as_object().cloned().unwrap_or_default()
}
