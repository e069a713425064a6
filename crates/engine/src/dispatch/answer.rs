//! Taking a review out of an agent's answer.

use convoke_domain::dispatch::review::{Issue, Review, Severity};
use serde_json::{Deserializer, Value};

/// How much of an answer's end is looked through; a review stands at the end.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Finds the last review in an answer: a JSON object that says whether it approves. One that stands
/// inside another value is part of that, and no review.
pub fn review(answer: &str) -> Option<Review> {
    let from = answer.ceil_char_boundary(answer.len().saturating_sub(MOST_BYTES));
    let mut rest = &answer[from..];
    let mut found = None;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            found = read_review(&value).or(found);
            rest = &rest[values.byte_offset()..];
        } else {
            rest = &rest[1..];
        }
    }
    found
}

/// Reads reviews or issues that somebody kept: a review, a list of reviews, or a list of issues.
pub fn kept(text: &str) -> Option<Vec<Review>> {
    let value: Value = serde_json::from_str(text).ok()?;
    if let Some(review) = read_review(&value) {
        return Some(vec![review]);
    }
    let list = value.as_array()?;
    let reviews: Vec<_> = list.iter().filter_map(read_review).collect();
    if reviews.len() == list.len() {
        return Some(reviews);
    }
    // Issues by themselves are of a reviewer that did not approve.
    let are_issues = list.iter().all(|it| it.is_object() || it.is_string());
    let issues = || list.iter().map(read_issue).collect();
    are_issues.then(|| vec![Review { reviewer: None, approved: false, issues: issues() }])
}

/// Returns the issues of the reviews that do not pass.
pub fn failed_issues(reviews: &[Review]) -> Vec<Issue> {
    let failed = reviews.iter().filter(|review| !review.passes());
    failed.flat_map(|review| review.issues.clone()).collect()
}

fn read_review(value: &Value) -> Option<Review> {
    let approved = value.get("approved")?.as_bool()?;
    let list = value.get("issues").and_then(Value::as_array);
    let issues = list.into_iter().flatten().map(read_issue).collect();
    Some(Review { reviewer: words(value, "reviewer"), approved, issues })
}

/// Reads an issue in whatever words it is told. None is dropped: what is not understood is shown as
/// it stands, and counts as heavy as it may be.
fn read_issue(value: &Value) -> Issue {
    let told = ["description", "message", "title", "summary", "issue", "text"];
    let described = told.iter().find_map(|name| words(value, name));
    let raw = || value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    Issue {
        severity: words(value, "severity").map_or(Severity::Warning, |it| Severity::parse(&it)),
        category: words(value, "category"),
        description: described.unwrap_or_else(raw),
        location: words(value, "location"),
        suggestion: words(value, "suggestion"),
    }
}

fn words(value: &Value, name: &str) -> Option<String> {
    let text = match value.get(name)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(answer: &str) -> Option<(bool, usize)> {
        review(answer).map(|review| (review.approved, review.issues.len()))
    }

    // D-26
    #[test]
    fn a_review_is_found_in_whatever_surrounds_it() {
        let issue = r#"{"severity":"blocker","description":"x {y}"}"#;
        for (answer, expected) in [
            (r#"{"approved":true}"#.to_owned(), Some((true, 0))),
            (
                format!(
                    "Files read: a\n```json\n{{\"issues\":[{issue}],\n\"approved\":false}}\n```\nbye"
                ),
                Some((false, 1)),
            ),
            (
                format!("{{\"meta\":{{\"a\":1}},\"issues\":[{issue},{issue}],\"approved\":true}}"),
                Some((true, 2)),
            ),
            (r#"first {"approved":false} then {"approved":true}"#.to_owned(), Some((true, 0))),
            (r#"{"approved":"yes"}"#.to_owned(), None),
            (r#"{"approved":tru"#.to_owned(), None),
            ("approved".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(found(&answer), expected, "{answer}");
        }
        assert_eq!(found(&format!("{}\"approved\"", "{".repeat(100_000))), None);
        let many = vec![issue; 90].join(",");
        assert_eq!(
            found(&format!("{{\"issues\":[{many}],\"approved\":false}}")),
            Some((false, 90))
        );
    }

    // An issue in other words is an issue all the same, and what it quotes is no verdict.
    #[test]
    fn no_issue_is_dropped_and_no_example_approves() {
        for answer in [
            r#"{"approved":true,"issues":[{"severity":"blocker","title":"SQL injection"}]}"#,
            r#"{"approved":true,"issues":["blocker: x"]}"#,
            r#"{"approved":true,"issues":[{"severity":"blocker","what":[1]}]}"#,
            r#"{"approved":true,"issues":[{"description":"no weight"}]}"#,
            r#"{"approved":false,"issues":[{"description":"x","example":{"approved":true}}]}"#,
        ] {
            let review = review(answer).unwrap();
            assert!(!review.passes() && review.issues.len() == 1, "{answer}: {review:?}");
        }
    }

    // D-27: only issues of reviewers that failed.
    #[test]
    fn kept_reviews_are_read_in_every_shape() {
        let passed = r#"{"reviewer":"a","approved":true,"issues":[{"severity":"suggestion","description":"s"}]}"#;
        let failed = r#"{"reviewer":"b","approved":false,"issues":[{"severity":"blocker","description":"f"}]}"#;
        let issues = |text: &str| kept(text).map(|reviews| failed_issues(&reviews).len());
        assert_eq!(issues(&format!("[{passed},{failed}]")), Some(1));
        assert_eq!(issues(passed), Some(0));
        assert_eq!(
            issues(r#"[{"description":"a"},{"description":"b","severity":"suggestion"}]"#),
            Some(2)
        );
        assert_eq!(issues("[]"), Some(0));
        for text in ["", "{}", "[1]", "nonsense"] {
            assert_eq!(issues(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_read(answer in "(\\{|\\}|\"approved\":|true|\\[|\\]|\"issues\":|,|é| ){0,40}") {
            review(&answer);
            kept(&answer);
        }
    }
}
