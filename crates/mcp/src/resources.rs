//! Resources: artifacts of designs under an address. `run_result` shows the same in pages.

use convoke_domain::run::RunId;
use convoke_service::background::run_output;
use convoke_service::failure::with_causes;
use convoke_service::run::{RunStateReport, list_designs};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::catalog::ToolName;
use crate::tools::Desk;

/// How every address begins.
const RUN: &str = "convoke://run/";

/// How many designs are listed.
const MOST: usize = 10;

/// Lists the plans of the last designs.
pub(crate) fn list(desk: &Desk) -> Vec<Resource> {
    if desk.tools.is_empty() {
        return Vec::new();
    }
    let runs = list_designs(&desk.session).unwrap_or_default();
    let ended = runs.into_iter().filter(|run| run.state == RunStateReport::Ended).take(MOST);
    ended
        .map(|run| {
            let feature: String = run.feature.chars().take(80).collect();
            Resource::new(format!("{RUN}{}/plan", run.run), format!("plan {}", run.run))
                .with_description(feature)
                .with_mime_type("text/markdown")
        })
        .collect()
}

/// Returns the form of all addresses.
pub(crate) fn templates(tools: &[ToolName]) -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new(format!("{RUN}{{id}}/{{artifact}}"), "artifact of a run")
        .with_description("plan, tally, synthesis, decisions, …; run_result shows it in pages")
        .with_mime_type("text/markdown");
    if tools.is_empty() { Vec::new() } else { vec![template] }
}

/// Reads an artifact, whole.
pub(crate) fn read(desk: &Desk, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let shown: String = uri.chars().take(200).collect();
    let missing = |why: String| {
        let words = format!("cannot read `{shown}`: {why}");
        ErrorData::resource_not_found(words, Some(json!({ "uri": shown })))
    };
    let parts = uri.strip_prefix(RUN).and_then(|rest| rest.split_once('/'));
    let found = parts.and_then(|(run, artifact)| Some((RunId::parse(run).ok()?, artifact)));
    let Some((run, artifact)) = found.filter(|_| !desk.tools.is_empty()) else {
        return Err(missing(format!("addresses have the form {RUN}ID/ARTIFACT")));
    };
    let found = run_output(&desk.session, &run, Some(artifact))
        .map_err(|failure| missing(with_causes(&*failure.error)))?;
    let text = ResourceContents::text(found.text, uri).with_mime_type("text/markdown");
    Ok(ReadResourceResult::new(vec![text]))
}
