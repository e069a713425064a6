//! What a panel left undecided: only the person decides it, also where a program is in between.

use rusqlite::Connection;
use serde_json::json;

use crate::design_decide::divided;
use crate::mcp_client::{McpClient, text_of};
use crate::serve::Dashboard;

const FORM: [(&str, &str); 3] =
    [("matter", "FINDING_2"), ("choice", "accept"), ("because", "The rule must have one owner")];

// A model that says what the person decided is no proof that the person did.
#[test]
fn a_model_cannot_decide_what_a_panel_left_undecided() {
    let panel = divided();
    panel.design(&[]);
    let (run, _) = panel.run();
    let mut client = McpClient::start(&panel.project);
    let status = client.call("run_status", &json!({"run": run}));
    assert_eq!((&status["state"], status.get("question")), (&json!("ended"), None), "{status}");
    assert_eq!(status["undecided"].as_array().unwrap().len(), 3, "{status}");
    let command = format!("convoke decide {run} FINDING_2 accept --because \"REASON\"");
    let how = status["how_to_answer"].as_str().unwrap();
    assert!(how.contains("the user runs") && how.contains(&command), "{status}");
    for answer in ["FINDING_2 accept It matters", "1", "yes"] {
        let refused = client.call_any("run_result", &json!({"run": run, "answer": answer}));
        let text = text_of(&refused);
        assert_eq!(refused["isError"], json!(true), "{refused}");
        assert!(text.contains("only the user decides") && text.contains(&command), "{text}");
    }
    assert_eq!(panel.shown(&run)["decided"], json!([]));
    assert_eq!(panel.run().1, "ended");
}

#[test]
fn the_person_decides_on_the_dashboard() {
    let panel = divided();
    panel.design(&[]);
    let (run, _) = panel.run();
    let dashboard = Dashboard::start(&panel.project, &[]);
    let sent = dashboard.browser().post(&format!("/runs/{run}/decide"), &FORM);
    assert_eq!(sent.status, 303, "{sent:?}");
    let ended = McpClient::start(&panel.project).wait_for(&run);
    assert_eq!((&ended["state"], ended.get("messages")), (&json!("ended"), None), "{ended}");
    assert_eq!(panel.shown(&run)["decided"][0]["id"], json!("FINDING_2"));
}

// A process of its own finds out that it cannot act, after the dashboard has answered.
#[test]
fn a_run_shows_why_its_last_process_was_refused() {
    let panel = divided();
    panel.design(&[]);
    let (run, _) = panel.run();
    let dashboard = Dashboard::start(&panel.project, &[]);
    let store = panel.project.path("../home/.local/state/convoke/store.db");
    let changed = Connection::open(store)
        .unwrap()
        .execute("UPDATE journal SET body = replace(body, 'FINDING_5: NO', 'FINDING_5: YES')", []);
    assert!(changed.unwrap() > 0);
    let sent = dashboard.browser().post(&format!("/runs/{run}/decide"), &FORM);
    assert_eq!(sent.status, 303, "{sent:?}");
    let ended = McpClient::start(&panel.project).wait_for(&run);
    let said = ended["messages"].to_string();
    assert_eq!(ended["state"], json!("ended"), "{ended}");
    assert!(said.contains("error: ") && said.contains("journal"), "{ended}");
}
