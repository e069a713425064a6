//! Uses Convoke as a library: runs one lane that a recording answers, and prints its report as JSON.
//!
//! `cargo run -p convoke-service --example one_lane`
#![expect(clippy::print_stdout, reason = "an example has no other door to the terminal")]

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::environment::Environment;
use convoke_service::failure::Failure;
use convoke_service::lane::{
    LaneChecks, LaneProgress, LaneReport, LaneRequest, TreeWatching, run_one,
};
use convoke_service::session::Session;

/// One recorded lane, as `convoke lane run --record FILE --label greeting` writes it. Its label finds
/// it, so the prompt can be any.
pub(crate) const CASSETTE: &str = r#"{"cassette":{"version":1}}
{"request":{"label":"greeting","match":"label","agent":"claude"}}
{"model":{"name":"claude-opus-5-5"}}
{"text":{"text":"Hello from a recording."}}
{"usage":{"input":12,"output":5}}
{"ended":{"answer":"Hello from a recording."}}
{"end":{"how":"exited 0","took_ms":40}}
"#;

/// Prints the report of a lane that runs in a temporary folder.
pub(crate) fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let cassette = folder.path().join("cassette");
    fs::write(&cassette, CASSETTE)?;
    let report = report(folder.path(), cassette).map_err(|failure| failure.error)?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

/// Runs one lane in a project, and returns what came of it.
pub(crate) fn report(project: &Path, cassette: PathBuf) -> Result<LaneReport, Failure> {
    // The caller decides what Convoke sees of the environment: here only where its store is. A lane
    // that starts a client also needs PATH, HOME, and the path of the `convoke` program, which guards
    // the client.
    let store = project.join("store.db");
    let variables = [("CONVOKE_STORE".into(), store.into_os_string())];
    let environment = Environment::new(variables, Some(project.to_owned()), "convoke".into());
    let session = Session::new(project.to_owned(), environment);
    let agent = AgentRef::Replay(cassette);
    let request = LaneRequest {
        label: Some("greeting"),
        watch: TreeWatching::Nothing,
        ..LaneRequest::new(&agent, "Say hello in five words.")
    };
    // A front end shows progress here; breaking off stops the lane.
    let mut on_progress = |_progress: LaneProgress<'_>| ControlFlow::Continue(());
    run_one(&session, &request, &LaneChecks::default(), &mut on_progress)
}
