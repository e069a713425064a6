//! The example that shows how to use the service as a library works.

use std::fs;

use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::environment::Environment;
use convoke_service::lane::{LaneEntryReport, LaneList, list};
use convoke_service::session::Session;

#[path = "../../../examples/one_lane.rs"]
mod one_lane;

#[test]
fn the_example_runs() {
    one_lane::main().unwrap();
}

#[test]
fn a_library_runs_a_lane_and_finds_it_in_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("tape");
    fs::write(&cassette, one_lane::CASSETTE).unwrap();
    let report = one_lane::report(folder.path(), cassette.clone()).unwrap();
    assert_eq!((report.outcome, report.recorded), ("answered", true));
    assert_eq!(report.answer.as_deref(), Some("Hello from a recording."));
    assert_eq!(report.model.as_deref(), Some("claude-opus-5-5"));

    let store = folder.path().join("store.db").into_os_string();
    let variables = [("CONVOKE_STORE".into(), store)];
    let environment = Environment::new(variables, None, "convoke".into());
    let session = Session::new(folder.path().to_owned(), environment);
    let lanes = list(&session, LaneList::Recent).unwrap();
    let lanes: Vec<_> = lanes.iter().map(LaneEntryReport::new).collect();
    let [lane] = lanes.as_slice() else { panic!("{lanes:?}") };
    assert_eq!((Some(lane.id), lane.state), (report.lane, "answered"));
    assert_eq!(lane.agent, AgentRef::Replay(cassette).to_string());
}

// A missing recording is not made up, and the caller gets the reason.
#[test]
fn a_library_call_returns_why_there_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let failure = one_lane::report(folder.path(), missing).unwrap_err();
    assert!(failure.error.to_string().starts_with("there is no file `"), "{failure:?}");
    let other = folder.path().join("other");
    fs::write(&other, one_lane::CASSETTE.replace("greeting", "farewell")).unwrap();
    let report = one_lane::report(folder.path(), other).unwrap();
    assert_eq!((report.outcome, report.answer), ("not_started", None));
}
