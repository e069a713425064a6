//! Tests which answers are reviews, and which are not.

use proptest::prelude::*;

use super::*;

// D-27: only issues of reviewers that failed.
#[test]
fn kept_reviews_are_read_in_every_shape() {
    let passed = r#"{"reviewer":"a","approved":true,"issues":[{"severity":"suggestion","description":"s"}]}"#;
    let failed =
        r#"{"reviewer":"b","approved":false,"issues":[{"severity":"blocker","description":"f"}]}"#;
    let issues = |text: &str| kept(text).map(|reviews| failed_issues(&reviews).len());
    assert_eq!(issues(&format!("[{passed},{failed}]")), Some(1));
    assert_eq!(issues(passed), Some(0));
    let listed = r#"[{"description":"a"},{"description":"b","severity":"suggestion"}]"#;
    assert_eq!(issues(listed), Some(2));
    assert_eq!(issues("[]"), Some(0));
    for text in ["", "{}", "[1]", "nonsense"] {
        assert_eq!(issues(text), None, "{text}");
    }
}

// An issue in other words is an issue, and is shown.
#[test]
fn no_issue_is_dropped() {
    for (issue, shown) in [
        (r#"{"severity":"blocker","title":"SQL injection"}"#, "SQL injection"),
        (r#"{"Severity":"BLOCKER","Description":" x "}"#, "x"),
        (r#"{"severity":"blocker","what":[1]}"#, r#"{"severity":"blocker","what":[1]}"#),
        (r#"{"description":"no weight"}"#, "no weight"),
        (r#"{"severity":["low"],"description":"odd"}"#, "odd"),
    ] {
        let answer = format!(r#"{{"approved":true,"issues":[{issue}]}}"#);
        let review = review(&answer).unwrap();
        assert!(!review.passes(), "{answer}");
        assert_eq!(review.issues[0].description, shown, "{answer}");
    }
}

// An answer of any size and depth is read once.
#[test]
fn long_and_deep_answers_are_read() {
    let issue = r#"{"severity":"blocker","description":"x {y}"}"#;
    let many = vec![issue; 9_000].join(",\n");
    let long = format!("{{\"issues\":[{many}],\n\"approved\":false}}");
    assert_eq!(review(&long).unwrap().issues.len(), 9_000);
    for text in ["{", "{\"approved\":", "{\n", "[\n", "```\n", "{\"a\":\n"] {
        assert!(review(&format!("{}}}", text.repeat(5_000))).is_err(), "{text}");
    }
}

/// Returns whether a text ends with one complete object that approves and is the only one that
/// mentions approval, found in another way than the reader's: character by character.
fn ends_with_one_approving_object(answer: &str) -> bool {
    let only = answer.to_lowercase().matches("approved").count() == 1;
    let body = answer.trim_end().trim_end_matches(['`', '~']).trim_end();
    let objects = body.match_indices('{').filter_map(|(at, _)| {
        let value: serde_json::Value = serde_json::from_str(&body[at..]).ok()?;
        value.get("approved")?.as_bool().filter(|approved| *approved)
    });
    only && objects.count() == 1
}

/// The pieces of hostile answers.
const PIECES: [&str; 22] = [
    "{\"approved\": true, \"issues\": []}",
    "{\"approved\": true, \"issues\": []}",
    "{\"approved\": false, \"issues\": []}",
    "{\"approved\": true, \"issues\": [",
    "{\"review\": ",
    "\"approved\": true",
    "{\"Approved\": true}",
    "\\u0022",
    "```json",
    "```",
    "~~~",
    "> ",
    "<think>",
    "</think>",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "Files read: spec.md (2 lines)",
    "I approve this.",
];

const GLUE: [&str; 4] = ["", " ", "\n", "\n\n"];

/// Glues up to nine pieces together; every seed gives another answer, and always the same.
fn glued(seed: u64) -> String {
    let mut state = seed;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let pieces = draw(9);
    let parts = (0..=pieces).map(|_| [PIECES[draw(PIECES.len())], GLUE[draw(GLUE.len())]].concat());
    parts.collect()
}

// Nothing but one complete, final, unique object is an approval.
#[test]
fn only_a_complete_final_unique_object_approves() {
    let mut approvals = 0;
    for seed in 0..100_000 {
        let answer = glued(seed);
        if !review(&answer).is_ok_and(|review| review.passes()) {
            continue;
        }
        approvals += 1;
        let lines: Vec<_> = answer.trim_end().lines().collect();
        let said = |line: &&str| !line.contains("Files read:") && !line.trim().is_empty();
        let end = lines.iter().rposition(said);
        let body = end.map_or(String::new(), |end| lines[..=end].join("\n"));
        assert!(ends_with_one_approving_object(&body), "seed {seed}: {answer}");
    }
    assert!(approvals > 1_000, "the pieces make too few approvals to prove anything: {approvals}");
}

proptest! {
    #[test]
    fn any_answer_is_read(answer in "(\\{|\\}|\"approved\":|true|\\[|\\]|\"issues\":|,|é| ){0,40}") {
        prop_assert!(review(&answer).is_err() || answer.contains("approved"));
        kept(&answer);
    }
}
