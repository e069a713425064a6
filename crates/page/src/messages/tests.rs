//! Whether the preview of a wake-up says what it uses and leaves out.

use convoke_domain::token::Tokens;

use super::*;

fn preview() -> WakeReport {
    WakeReport {
        text: "Hello <b>".to_owned(),
        tokens_x10: 12_345,
        budget: 2000,
        over_budget: false,
        extent: "everything",
        steps: vec!["notes of closed tasks", "the plan's section"],
        skill: Some("rust".to_owned()),
        skill_reason: Some("its task names it"),
        skill_path: None,
        skill_version: None,
        plan_file: Some("docs/plan.md".to_owned()),
        task: Some("t-00001".to_owned()),
        message_id: None,
        pins: vec![1, 2],
        diagnostics: vec!["no-<skill>".to_owned()],
        cost: Tokens::default(),
        messages: Vec::new(),
    }
}

#[test]
fn a_wake_up_says_what_it_uses_and_what_was_left_out() {
    let shown = wake_page("worker", &preview()).into_string();
    for words in [
        "Wake-up of @worker, if it came now",
        "Uses about 1,235 tokens of 2,000 tokens<progress value=\"1235\" max=\"2000\">",
        "<dt>Tells</dt><dd>everything</dd>",
        "<dt>Task</dt><dd>t-00001</dd>",
        "<dt>Plan</dt><dd>docs/plan.md</dd>",
        "<dt>Skill</dt><dd>rust (its task names it)</dd>",
        "<dt>Rules</dt><dd>2</dd>",
        "<ol><li>notes of closed tasks</li><li>the plan's section</li></ol>",
        "<li>no-&lt;skill&gt;</li>",
        "<pre>Hello &lt;b&gt;</pre>",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("over the budget"), "{shown}");
}

#[test]
fn a_wake_up_over_its_budget_says_so_and_one_that_fits_leaves_nothing_out() {
    let over = WakeReport { over_budget: true, tokens_x10: 30_000, ..preview() };
    let shown = wake_page("worker", &over).into_string();
    let words = "Uses about 3,000 tokens of 2,000 tokens <span class=\"tag bad\">over the budget</span>\
                 <progress value=\"2000\" max=\"2000\">";
    assert!(shown.contains(words), "{shown}");
    let whole = WakeReport {
        steps: Vec::new(),
        diagnostics: Vec::new(),
        skill: None,
        skill_reason: None,
        plan_file: None,
        task: None,
        budget: 0,
        ..preview()
    };
    let shown = wake_page("worker", &whole).into_string();
    for words in [
        "Nothing: the whole wake-up fits.",
        "<dt>Skill</dt><dd>none</dd>",
        "<dt>Task</dt><dd>none</dd>",
        // A bar needs an end.
        "<progress value=\"0\" max=\"1\">",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("Remarks"), "{shown}");
}
