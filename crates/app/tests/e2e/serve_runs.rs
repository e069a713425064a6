//! The dashboard's page of a run: now, after an earlier event, its diagram, its forms, and runs side by side.

use std::fs;

use serde_json::Value;

use crate::harness::Project;
use crate::panel::{FEATURE, Panel};
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
    assert!(!page.contains("<option"), "there is no other design to compare with");
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

#[test]
fn a_search_finds_runs_findings_tasks_and_messages() {
    let project = Project::new();
    project.run(&["design", "--rehearse", "--auto"]);
    let task = project.stdout(&["task", "add", "Export the notes"]);
    project.stdout(&["say", "@human who exports the notes?"]);
    let runs: Value = serde_json::from_str(&project.stdout(&["runs", "--json"])).unwrap();
    let run = runs[0]["run"].as_str().unwrap();
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let found = browser.page("/search?q=export");
    let links = [format!("/runs/{run}#FINDING_1"), format!("/tasks/{}?", task.trim())];
    for link in links.iter().map(String::as_str).chain(["/messages/1?"]) {
        assert!(found.contains(&format!("href=\"{link}")), "{link}: {found}");
    }
    let found = browser.page("/search?q=notes");
    assert!(found.contains(&format!("href=\"/runs/{run}\"")), "{found}");
    let nothing = browser.page("/search?q=zebra");
    assert!(nothing.contains("0 results") && nothing.contains("has all of these words"));
}

// Of more results than a page shows, the newest are there, and each shows why it was found.
#[test]
fn a_search_says_that_it_found_more_than_it_shows() {
    let project = Project::new();
    let long = format!("{}the Needle {}", "hay ".repeat(200), "straw ".repeat(200));
    project.stdout(&["task", "add", "A needle in hay", &format!("--body={long}")]);
    for number in 0..31 {
        project.stdout(&["say", &format!("needle {number}")]);
    }
    let find = |words: &str| {
        let report = project.stdout(&["serve", "--report", "search", "--words", words]);
        serde_json::from_str::<Value>(&report).unwrap()
    };
    let found = find("needle");
    let hits = found["hits"].as_array().unwrap();
    assert_eq!((hits.len(), &found["more"]), (31, &serde_json::json!(["message"])), "{found}");
    assert!(hits[0]["text"].as_str().unwrap().contains("hay the Needle straw"), "{found}");
    assert_eq!(find("needle 30")["more"], serde_json::json!([]));
    let dashboard = Dashboard::start(&project, &[]);
    let page = dashboard.browser().page("/search?q=needle");
    let (tasks, messages) = page.split_once("<h2>Messages</h2>").unwrap();
    let more = "The newest 30; more words narrow it.";
    assert!(messages.contains(more) && !tasks.contains(more), "{page}");
    assert!(page.contains("31 of more results"), "{page}");
}

// The page shows the report that the command prints, and the form offers runs by their features.
#[test]
fn two_runs_are_compared_on_the_page_and_by_the_command() {
    let project = Project::new();
    for _ in 0..2 {
        assert_eq!(project.run(&["design", "--rehearse", "--auto"]).code, Some(0));
    }
    let runs: Value = serde_json::from_str(&project.stdout(&["runs", "--json"])).unwrap();
    let [second, first] = [0, 1].map(|place| runs[place]["run"].as_str().unwrap());
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let page = browser.page(&format!("/runs/{first}"));
    assert!(page.contains(&format!("<option value=\"{second}\">")), "{page}");
    assert!(!page.contains(&format!("<option value=\"{first}\">")), "{page}");
    let lanes = project.stdout(&["lane", "list", "--json"]);
    let report = project.stdout(&["compare", first, "--with", second, "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["first"]["run"], &report["second"]["run"]),
        (&first.into(), &second.into())
    );
    let shared = report["shared"].as_array().unwrap();
    assert!(
        !shared.is_empty() && report["first"]["only_here"] == serde_json::json!([]),
        "{report}"
    );
    let page = browser.page(&format!("/compare?first={first}&second={second}"));
    assert!(page.contains(&format!("In both: {}", shared.len())), "{page}");
    let text = project.stdout(&["compare", first, "--with", second]);
    assert!(text.contains(&format!("only in {first}: 0\n")), "{text}");
    assert!(
        text.contains(&format!("in both: {}\n  FINDING_1, FINDING_1 ", shared.len())),
        "{text}"
    );
    assert_eq!(lanes, project.stdout(&["lane", "list", "--json"]), "no agent is asked");
    for words in [["--with", second, "--kept"], ["--with", second, "--limit=5"]] {
        let both = project.run(&[&["compare", first][..], &words].concat());
        assert_eq!(both.code, Some(2), "{both}");
    }
    let gone = project.run(&["compare", first, "--with", "20200101-000000-aaaaa"]);
    assert_eq!((gone.code, gone.stdout.as_str()), (Some(1), ""), "{gone}");
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

// A plan that one agent wrote alone was paid once: pages and `--kept` show it, and start no lane.
#[test]
fn a_run_is_shown_beside_its_single_pass() {
    let (panel, seats) = Panel::new().with_spender();
    let usual = ["design", "--auto", "--no-probe", "--no-branch", "--seats", &seats, FEATURE];
    assert_eq!(panel.project.run(&usual).code, Some(0));
    let (run, _) = panel.run();
    let dashboard = Dashboard::start(&panel.project, &[]);
    let browser = dashboard.browser();
    let path = format!("/runs/{run}/single-pass");
    assert!(browser.page(&format!("/runs/{run}")).contains(&format!("href=\"{path}\"")));
    let command = format!("convoke compare {run}");
    assert!(browser.page(&path).contains(&format!("<code>{command}</code>")));
    let none = panel.project.run(&["compare", &run, "--kept"]);
    assert_eq!(none.code, Some(1), "{none}");
    assert!(none.stderr.contains(&command), "{none}");

    let asked = panel.project.stdout(&["compare", &run, "--json"]);
    let lanes = panel.project.stdout(&["lane", "list", "--json"]);
    let asked: Value = serde_json::from_str(&asked).unwrap();
    let kept = panel.project.stdout(&["compare", &run[..18], "--kept", "--json"]);
    assert_eq!(asked, serde_json::from_str::<Value>(&kept).unwrap(), "the same report");
    let shown = panel.shown(&run);
    let plan = &shown["plans"].as_array().unwrap().last().unwrap()["text"];
    assert_eq!(asked["panel_plan"].as_str().unwrap().trim(), plan.as_str().unwrap().trim());
    let page = browser.page(&path);
    let findings = asked["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let id = finding["id"].as_str().unwrap();
        assert!(page.contains(&format!("href=\"/runs/{run}#{id}\"")), "{id}");
    }
    for words in
        ["As it is.", "claude", "$0.01", "Findings that only the panel has", "not reported"]
    {
        assert_eq!(page.contains(words), words != "not reported", "{words}: {page}");
    }
    assert_eq!(lanes, panel.project.stdout(&["lane", "list", "--json"]), "looking costs nothing");

    let folder = panel.project.path("../home/.local/state/convoke/runs/.single-passes");
    fs::write(folder.join(format!("{run}.json")), "{\"form\": 1").unwrap();
    let damaged = panel.project.run(&["compare", &run, "--kept"]);
    assert_eq!(damaged.code, Some(3), "{damaged}");
    assert!(damaged.stderr.contains("hint: `convoke compare"), "{damaged}");
    assert_eq!(browser.get(&path).status, 503, "a damaged file is not shown as no file");
}
