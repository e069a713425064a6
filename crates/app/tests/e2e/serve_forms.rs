//! What the dashboard's forms change: tasks, rules and messages, on the branch that the page shows.

use serde_json::Value;

use crate::harness::Project;
use crate::serve::{Browser, Dashboard};

/// Sends a form, and returns the place that the browser is led to.
fn sent(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> String {
    let answer = browser.post(path, fields);
    assert_eq!(answer.status, 303, "{path}: {answer:?}");
    answer.header("location").unwrap()
}

fn json(project: &Project, words: &[&str]) -> Value {
    serde_json::from_str(&project.stdout(words)).unwrap()
}

fn add(project: &Project, title: &str) -> String {
    project.stdout(&["task", "add", title]).trim().to_owned()
}

#[test]
fn every_form_of_a_task_changes_what_the_command_line_shows() {
    let project = Project::new().on_branch("main");
    let (one, two, three) =
        (add(&project, "Write the model"), add(&project, "Write the view"), add(&project, "Test"));
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let state = |id: &str| json(&project, &["task", "show", id, "--json"]);
    sent(&browser, "/tasks/change", &[("do", &format!("done {one}"))]);
    assert_eq!(state(&one)["status"], "completed");
    sent(&browser, "/tasks/change", &[("do", &format!("skip {two}"))]);
    assert_eq!(state(&two)["status"], "skipped");
    let place = sent(&browser, "/tasks/undo", &[]);
    assert!(browser.page(&place).contains("Undone: "), "{place}");
    assert_eq!(state(&two)["status"], "pending");
    sent(&browser, "/tasks/assign", &[("task", &three), ("agent", "worker")]);
    assert_eq!(state(&three)["agent"], "worker");
    let edit = [
        ("task", three.as_str()),
        ("title", "Test both"),
        ("body", "With **care**"),
        ("priority", "high"),
        ("after", &two),
    ];
    let place = sent(&browser, "/tasks/edit", &edit);
    let edited = state(&three);
    assert_eq!((&edited["content"], &edited["priority"]), (&"Test both".into(), &"high".into()));
    assert_eq!(edited["after"][0], two.as_str());
    assert!(browser.page(&place).contains("<strong>care</strong>"), "a description is Markdown");
    sent(&browser, "/tasks/remove", &[("task", &three)]);
    assert!(!project.stdout(&["task", "list"]).contains("Test both"));
    for form in ["done", "done x", "fly t-00000", "before t-00000"] {
        let refused = browser.post("/tasks/change", &[("do", form)]);
        assert!(matches!(refused.status, 400 | 409), "{form}: {refused:?}");
    }
}

#[test]
fn a_rule_of_a_branch_holds_on_the_branch_that_the_page_shows() {
    let project = Project::new().on_branch("main");
    add(&project, "Write the model");
    let project = project.on_branch("other");
    add(&project, "Write the view");
    let project = project.on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let page = browser.page("/tasks?branch=other");
    assert!(page.contains("name=\"branch\" value=\"other\""), "{page}");
    let rule = [("text", "Ask before a merge"), ("scope", "branch"), ("branch", "other")];
    let place = sent(&browser, "/pins/add", &rule);
    assert!(place.starts_with("/tasks?branch=other&") && place.ends_with("#rules"), "{place}");
    let listed = json(&project, &["pin", "list", "--all", "--json"]);
    assert_eq!(listed[0]["branch"], "other", "{listed}");
    assert!(!project.stdout(&["pin", "list"]).contains("Ask before a merge"), "not on main");
    let place = sent(&browser, "/pins/remove", &[("rule", "1"), ("branch", "other")]);
    assert!(place.starts_with("/tasks?branch=other&"), "{place}");
    assert_eq!(json(&project, &["pin", "list", "--all", "--json"]).as_array().unwrap().len(), 0);
}

#[test]
fn messages_count_as_read_when_the_person_says_so() {
    let project = Project::new().on_branch("main");
    project.run(&["agent", "add", "worker", "--client", "claude"]);
    for text in ["@human one **bold** word", "@human two"] {
        project.stdout(&["say", "--as", "worker", text]);
    }
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let page = browser.page("/messages");
    assert!(page.contains("2 messages") && page.contains("<strong>bold</strong>"), "{page}");
    let read = page.split("name=\"read\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let place = sent(&browser, "/messages/read", &[("read", read)]);
    let page = browser.page(&place);
    assert!(page.contains("2 messages count as read.") && page.contains("0 messages"), "{page}");
    assert!(!page.contains("/messages/read"), "nothing is left to read");
    assert_eq!(browser.post("/messages/read", &[("read", "x")]).status, 400);
    sent(&browser, "/messages/read", &[("read", "9999999 -4 1")]);
}

#[test]
fn a_message_of_another_branch_is_found_and_opened() {
    let project = Project::new().on_branch("main");
    let project = project.on_branch("other");
    project.stdout(&["say", "the zebra crossing"]);
    let project = project.on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let found = browser.page("/search?q=zebra");
    let address = found.split("<a href=\"/messages/").nth(1).unwrap().split('"').next().unwrap();
    let page = browser.page(&format!("/messages/{address}"));
    assert!(
        page.contains("the zebra crossing") && page.contains("Check it out to answer"),
        "{page}"
    );
    assert!(!page.contains("action=\"/messages/say\""), "an answer would go to another branch");
}

#[test]
fn a_long_list_of_tasks_is_shown_page_by_page() {
    let project = Project::new().on_branch("main");
    let tasks = (1..=1203).map(|number| format!("## Task {number}: Do number {number}.\n\n"));
    let project = project.file("plan.md", format!("# Plan\n\n{}", tasks.collect::<String>()));
    project.stdout(&["task", "import", "plan.md"]);
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let first = browser.page("/tasks");
    assert!(first.contains("around the current one") && first.contains("&amp;page=1"), "{first}");
    let mut seen = Vec::new();
    for page in 1..=3 {
        let shown = browser.page(&format!("/tasks?page={page}"));
        assert!(shown.contains(&format!("Page {page} of 3. ")), "{page}");
        let rows = shown.split("class=\"task").skip(1);
        seen.push(rows.count());
        assert_eq!(shown.contains("Do number 501.<"), page == 2, "{page}");
    }
    assert_eq!(seen, [500, 500, 203]);
    assert!(browser.page("/tasks?page=99").contains("Page 3 of 3. "));
    assert!(browser.page("/tasks?page=0").contains("Page 1 of 3. "));
    assert_eq!(browser.get("/tasks?page=x").status, 400);
    // A change leads back to the page that it was made on.
    let second = browser.page("/tasks?page=2");
    let id = &second.split("id=\"task-").nth(1).unwrap()[..7];
    let done = format!("done {id}");
    let back = browser.post("/tasks/change", &[("do", &done), ("branch", "main"), ("page", "2")]);
    let place = back.header("location").unwrap();
    assert!(place.starts_with("/tasks?branch=main&page=2"), "{place}");
}

#[test]
fn tasks_of_one_plan_are_shown_alone_and_agents_with_what_they_do() {
    let project = Project::new().on_branch("main").file("plan.md", "## Task 1: Do one.\n");
    let project = project.file("other.md", "## Task 1: Do the other.\n");
    project.stdout(&["task", "import", "plan.md"]);
    project.stdout(&["task", "import", "other.md"]);
    let free = add(&project, "Free");
    project.run(&["agent", "add", "worker", "--client", "claude"]);
    project.stdout(&["task", "assign", &free, "worker"]);
    project.stdout(&["task", "start", &free]);
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let all = browser.page("/tasks");
    assert!(all.contains("All plans (3)") && all.contains("&amp;plan=other.md"), "{all}");
    let titles = |path: &str| {
        let page = browser.page(path);
        let tree = page.split("Who works on what").next().unwrap();
        let mut titles = vec!["Do one.", "Do the other.", "Free"];
        titles.retain(|title| tree.contains(&format!("{title}</a>")));
        titles
    };
    assert_eq!(titles("/tasks"), ["Do one.", "Do the other.", "Free"]);
    assert_eq!(titles("/tasks?branch=main&plan=other.md"), ["Do the other."]);
    assert_eq!(titles("/tasks?without_plan=1"), ["Free"]);
    assert!(browser.page("/tasks?plan=none.md").contains("This plan has no tasks on this branch."));
    let work = all.split("Who works on what").nth(1).unwrap();
    let row = work.split("@worker").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(row.contains("<td>claude</td>") && row.contains(">Free</a>"), "{row}");
    // A change leads back to the same plan.
    let id = json(&project, &["task", "list", "--plan", "other.md", "--json"])[0]["id"].clone();
    let done = format!("done {}", id.as_str().unwrap());
    let fields = [("do", done.as_str()), ("branch", "main"), ("plan", "other.md")];
    let place = sent(&browser, "/tasks/change", &fields);
    assert!(place.starts_with("/tasks?branch=main&plan=other.md&note="), "{place}");
}
