//! How much a person may write into a form of the dashboard.

use crate::harness::Project;
use crate::serve::Dashboard;

/// The most bytes of a form.
const LONGEST_FORM: usize = 964_296;

/// How many bytes a form sends for one unit of a field at most.
const BYTES_OF_UNIT: usize = 9;

/// Returns the value of an attribute of an element.
fn attribute(element: &str, name: &str) -> Option<usize> {
    let rest = element.split(&format!(" {name}=\"")).nth(1)?;
    rest.split('"').next()?.parse().ok()
}

#[test]
fn every_field_has_a_limit_and_every_form_has_room_for_its_fields() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Write the model"]).trim().to_owned();
    project.stdout(&["say", "Hello"]);
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let mut fields = 0;
    for path in ["/tasks".to_owned(), format!("/tasks/{id}"), "/messages/1".to_owned()] {
        let page = browser.page(&path);
        for form in page.split("<form").skip(1).map(|form| form.split("</form>").next().unwrap()) {
            let texts = form.split('<').filter(|element| {
                let is_line = element.starts_with("input") && element.contains("type=\"text\"");
                is_line || element.starts_with("textarea")
            });
            let limits = texts.map(|element| {
                attribute(element, "maxlength").unwrap_or_else(|| panic!("{path}: {element}"))
            });
            let limits: Vec<_> = limits.collect();
            let most = limits.iter().sum::<usize>() * BYTES_OF_UNIT + form.len();
            assert!(most <= LONGEST_FORM, "{path}: {most}: {form}");
            fields += limits.len();
        }
    }
    assert!(fields > 10, "{fields}");
}

#[test]
fn a_full_field_of_any_script_is_taken() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Write the model"]).trim().to_owned();
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let (text, title, body) = ("Я".repeat(20_000), "語".repeat(1000), "語".repeat(100_000));
    let said = browser.post("/messages/say", &[("text", &text)]);
    assert_eq!(said.status, 303, "{said:?}");
    assert!(project.stdout(&["inbox", "--all", "--json"]).contains(&text));
    let fields = [("title", title.as_str()), ("body", &"語\r\n".repeat(10_000))];
    assert_eq!(browser.post("/tasks/add", &fields).status, 303);
    let fields = [("task", id.as_str()), ("title", &title), ("body", &body), ("after", "")];
    let edited = browser.post("/tasks/edit", &fields);
    assert_eq!(edited.status, 303, "{edited:?}");
    let shown = project.stdout(&["task", "show", &id, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["body"], body.as_str());
    let fields = [("task", id.as_str()), ("note", &"Я".repeat(2000))];
    assert_eq!(browser.post("/tasks/note", &fields).status, 303);
    assert_eq!(browser.post("/pins/add", &[("text", &"Я".repeat(2000))]).status, 303);
}

#[test]
fn a_form_that_is_too_large_gives_its_text_back() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let text = format!("My <b>long</b> story. {}", "Я все написал. ".repeat(40_000));
    let answer = browser.post("/messages/say", &[("text", &text)]);
    assert_eq!(answer.status, 413, "{}", answer.head);
    for words in [
        "This is too much for one form",
        "Go back in your browser",
        "My &lt;b&gt;long&lt;/b&gt; story. Я все написал. ",
        "Back to Messages",
    ] {
        assert!(answer.body.contains(words), "{words}");
    }
    assert!(answer.body.matches("Я все написал.").count() > 5000, "the page keeps what arrived");
    assert!(!answer.body.contains('\u{FFFD}'), "no letter is cut");
    assert_eq!(project.stdout(&["inbox", "--all"]).matches("long").count(), 0);
    let page = browser.page("/messages");
    assert!(page.contains("No message was sent on this branch."), "nothing was sent");
}
