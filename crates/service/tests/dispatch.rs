//! Dispatches as a front end without a terminal calls them: values in, a report or an error out.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::path::PathBuf;

use convoke_domain::dispatch::role::{Proof, RoleName};
use convoke_service::dispatch::{
    AnswerKind, ChangedFiles, CheckRequest, JudgementKeeping, PostName, check_answer, ledger_rates,
};
use convoke_service::environment::Environment;
use convoke_service::failure::ErrorClass;
use convoke_service::session::Session;
use tempfile::TempDir;

const REVIEWER: &str = "implement/security-reviewer";

const APPROVED: &str = "Files read: design.md, spec.md\n\
    ```json\n{\"approved\": true, \"issues\": []}\n```\n";

const REJECTED: &str = "Files read: design.md, spec.md\n\
    ```json\n{\"approved\": false, \"issues\": [{\"severity\": \"blocker\", \
    \"description\": \"No limit on retries\"}]}\n```\n";

/// A project with one feature, and a store of its own.
fn session(folder: &TempDir) -> Session {
    let project = folder.path().join("project");
    let feature = project.join("docs/features/031-retries");
    fs::create_dir_all(&feature).unwrap();
    for document in ["spec.md", "design.md"] {
        fs::write(feature.join(document), "# Retries\n").unwrap();
    }
    let variable = |name: &str, path: &str| (name.into(), folder.path().join(path).into());
    let variables = [variable("CONVOKE_STORE", "store.db"), variable("HOME", "home")];
    Session::new(project, Environment::new(variables, None, PathBuf::new()))
}

fn request(role: &str, answer: &str) -> CheckRequest {
    let role = RoleName::parse(role).unwrap();
    CheckRequest {
        post: PostName { role, feature: Some(PathBuf::from("031")) },
        kind: AnswerKind::Round,
        profile: None,
        iteration: 1,
        answer: Some(answer.to_owned()),
        record: None,
        agent: None,
        changed: ChangedFiles::Listed(Vec::new()),
        tokens: None,
        stored_task: None,
        proof: Proof::Reported,
        keeping: JudgementKeeping::DryRun,
    }
}

// D-26
#[test]
fn the_class_of_an_answer_tells_a_rejection_from_no_verdict() {
    let folder = TempDir::new().unwrap();
    let session = session(&folder);
    let class = |answer| check_answer(&session, &request(REVIEWER, answer)).unwrap().class();
    assert_eq!(class(APPROVED), None);
    assert_eq!(class(REJECTED), Some(ErrorClass::Refused));
    assert_eq!(class("It looks fine to me."), Some(ErrorClass::NoAnswer));
}

#[test]
fn a_judgement_is_written_down_only_if_the_caller_keeps_it() {
    let folder = TempDir::new().unwrap();
    let session = session(&folder);
    let dispatches = || ledger_rates(&session, None).unwrap().all.dispatches;
    check_answer(&session, &request(REVIEWER, APPROVED)).unwrap();
    assert_eq!(dispatches(), 0);
    let kept = CheckRequest { keeping: JudgementKeeping::Kept, ..request(REVIEWER, APPROVED) };
    check_answer(&session, &kept).unwrap();
    assert_eq!(dispatches(), 1);
}

#[test]
fn a_role_that_does_not_exist_is_wrong_usage_with_a_hint() {
    let folder = TempDir::new().unwrap();
    let mistyped = request("implement/securty-reviewer", APPROVED);
    let failure = check_answer(&session(&folder), &mistyped).unwrap_err();
    assert_eq!(failure.class, ErrorClass::Usage);
    assert_eq!(failure.hints[0], "did you mean `security-reviewer`?");
}
