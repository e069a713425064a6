//! What a browser learns that the dashboard does not let in.

use crate::harness::Project;
use crate::serve::Dashboard;

#[test]
fn a_browser_that_is_not_let_in_learns_why_and_what_to_do() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let refused = |path: &str, cookie: &str, words: &str| {
        let answer = dashboard.get(path, cookie);
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{path}: {answer:?}");
        for words in [words, "<code>convoke serve</code>", "It prints a new link"] {
            assert!(answer.body.contains(words), "{path}: {answer:?}");
        }
    };
    refused("/", "", "This dashboard does not know your browser");
    refused("/open?token=wrong", "", "This link is not of this dashboard");
    refused("/open", "", "This link is not of this dashboard");
    let browser = dashboard.browser();
    refused(&dashboard.link, "", "This link has been used");
    let again = browser.get(&dashboard.link);
    let leads_to = again.header("refresh");
    assert_eq!((again.status, leads_to.as_deref()), (200, Some("0; url=/")), "to its own browser");
    let port = dashboard.address.rsplit_once(':').unwrap().1;
    let former = format!("cookie: convoke-{port}=of-an-earlier-server\r\n");
    refused("/tasks", &former, "Your session has ended");
}
