//! The dashboard's page of a run: now, after an earlier event, its diagram, its forms, and two runs.

use serde_json::Value;

use crate::harness::Project;
use crate::serve::Dashboard;

#[test]
fn a_run_is_shown_now_and_after_every_event() {
    let project = Project::new();
    let outcome = project.run(&["design", "--rehearse", "--auto"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let runs: Value = serde_json::from_str(&project.stdout(&["runs", "--json"])).unwrap();
    let run = runs[0]["run"].as_str().unwrap();
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let path = format!("/runs/{run}");
    let page = browser.page(&path);
    for words in [
        "Contested decisions",
        "Findings and votes",
        "Draft against revised plan",
        "Only this sketch names",
        "class=\"gantt\"",
        "<iframe class=\"diagram\"",
        "By seat",
        "Hash",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains(" style=") && !page.contains("<style"), "no inline style");
    let events: u64 =
        page.split(" max=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    for at in [1, events / 2, events - 1] {
        let then = browser.page(&format!("{path}?at={at}"));
        assert!(then.contains(&format!("as of event {at} of {events}")), "{at}");
    }
    assert!(!browser.page(&format!("{path}?at={}", u64::MAX)).contains("as of event"));
    assert_eq!(browser.get(&format!("{path}?at=x")).status, 400);
    assert_eq!(browser.get("/runs/20200102-030405-aaaaa").status, 409);
    let compared = browser.page(&format!("/compare?first={run}&second={run}"));
    assert!(compared.contains("Two runs side by side") && compared.contains("In both: "));
    let decide = [("matter", "FINDING_2"), ("choice", "accept"), ("because", "x")];
    let answer = [("question", "1d/1"), ("answer", "1")];
    for (place, form) in [("decide", &decide[..]), ("answer", &answer)] {
        let refused = browser.post(&format!("{path}/{place}"), form);
        assert_eq!(refused.status, 409, "{place}: {refused:?}");
    }
    let no_choice = browser.post(&format!("{path}/decide"), &[("matter", "FINDING_2")]);
    assert_eq!(no_choice.status, 400, "{no_choice:?}");
}

// Only this document may have styles in it, and it may load nothing but two scripts.
#[test]
fn the_diagram_has_a_document_with_a_policy_of_its_own() {
    let project = Project::new();
    project.run(&["design", "--rehearse", "--auto"]);
    let runs: Value = serde_json::from_str(&project.stdout(&["runs", "--json"])).unwrap();
    let run = runs[0]["run"].as_str().unwrap();
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let document = browser.get(&format!("/runs/{run}/diagram"));
    assert_eq!(document.status, 200);
    let policy = document.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(document.body.contains("flowchart"), "{}", document.body);
    assert_eq!(document.header("x-frame-options").as_deref(), Some("sameorigin"));
    let mermaid = browser.get("/assets/mermaid.js");
    assert_eq!(mermaid.header("content-encoding").as_deref(), Some("gzip"));
    assert_eq!(dashboard.get(&format!("/runs/{run}/diagram"), "").status, 401, "without a cookie");
}
