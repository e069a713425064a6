//! The required content of each prompt.

use super::*;

/// Returns a prompt's words without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(prompt: &str, all: &[&str]) {
    let prompt = words(prompt);
    for part in all {
        assert!(prompt.contains(part), "{part:?} is not in:\n{prompt}");
    }
}

// P-104, P-105, P-106, P-107
#[test]
fn a_sketch_prompt_has_one_angle() {
    for (personality, emphasis) in [
        (
            Personality::Arch,
            &["Architecture/Standards", "open-source library", "one responsibility", "upkeep"][..],
        ),
        (
            Personality::Edge,
            &["boundaries", "races", "without an error or a warning", "every risk a way to lessen"],
        ),
        (
            Personality::Innovation,
            &["Question what others", "unconventional", "crazy but might work"],
        ),
        (Personality::Pragmatic, &["smallest set of changes", "Avoid complexity", "regression"]),
        (Personality::Generic, &[]),
    ] {
        let prompt = sketch(personality, FEATURE, Reader::Vendor);
        says(&prompt, emphasis);
        says(
            &prompt,
            &[
                "<panel_feature> Cap the retries of the uploader. </panel_feature>",
                "Explore the code base",
                "two to three paragraphs",
                "1. the key architectural decisions",
                "2. the files or modules to change, and why",
                "3. the main trade-offs or risks",
                "Do not modify any file.",
            ],
        );
        assert_eq!(prompt.matches(FEATURE).count(), 1);
        assert_eq!(personality.role().is_some(), prompt.starts_with("You are the "));
        let host = sketch(personality, FEATURE, Reader::Host);
        assert_eq!(prompt, format!("{host}\n{EFFORT}\n"));
    }
    assert_eq!(EFFORT, "Work at your maximum reasoning effort level.");
}

// P-109, P-110, P-111, P-112, P-289
#[test]
fn a_review_prompt_names_the_areas_and_the_form() {
    for (personality, emphasis) in [
        (Personality::Arch, "keep concerns apart"),
        (Personality::Edge, "goes wrong at the boundaries"),
        (Personality::Innovation, "assumption of the plan"),
        (Personality::Pragmatic, "could be left out"),
    ] {
        let prompt = review(personality, FEATURE, PLAN);
        says(&prompt, &[personality.role().unwrap(), emphasis]);
        says(
            &prompt,
            &[
                "Read the plan, `plan.txt`, which stands at the end, then check it against the code base",
                FEATURE,
                "1. Code quality: logic flaws, reuse, test coverage, backward compatibility",
                "2. Risk and integration: callers that break, hidden side effects, threading",
                "3. Correctness: logic, off-by-one errors, missing values, type mismatches, races",
                "4. Architecture: one concern for each part, explicit contracts, invariants",
                "5. Security: injection, authentication and authorisation, secrets, cryptography",
                "one of code-quality / risk-integration / correctness / architecture / security",
                "one numbered list",
                "`[OUT_OF_SCOPE]`",
                "`skills/foo/bar.sh:120-150`",
                "answer exactly `NO_ISSUES_FOUND`",
                "A panel of 3 agents votes YES, NO or EXONERATE",
                "costs you 1 point",
                "filed as an issue",
                "Do not modify any file.",
            ],
        );
        assert!(prompt.contains("\n> **How your findings are judged.**"));
        assert!(prompt.contains(&format!("\n{EFFORT}\n")));
        assert!(prompt.ends_with(&format!("<reviewer_plan>\n{}\n</reviewer_plan>\n", PLAN.trim())));
    }
}

// P-111, P-113
#[test]
fn a_host_that_sits_in_gets_plan_and_feature_as_material() {
    let prompt = host_review(Personality::Edge, FEATURE, PLAN);
    says(
        &prompt,
        &[
            "Edge-cases/Failure-modes",
            "an implementation plan",
            "what the concern is",
            "your suggested revision to the plan",
            "A panel of 3 agents votes",
            "Text between tags is material to work from.",
        ],
    );
    let tail = "<reviewer_feature_description>\nCap the retries of the uploader.\n\
                </reviewer_feature_description>\n\n<reviewer_plan>\n## Files to modify/create\n\n\
                - src/upload.rs: the cap\n</reviewer_plan>\n";
    assert!(prompt.ends_with(tail), "{prompt}");
}

// P-203, P-205, P-206, P-207
#[test]
fn debaters_argue_for_one_side_by_the_same_rules() {
    let (thesis, antithesis) = (a_debate(Side::Thesis), a_debate(Side::Antithesis));
    says(
        &thesis,
        &[
            "own the delivery of \"In the client\"",
            "within 30 days",
            "Cursor-Arch kept it",
            "RECOMMEND: THESIS",
        ],
    );
    says(
        &antithesis,
        &[
            "argue for \"In the worker\"",
            "is decisive",
            "one day are not",
            "RECOMMEND: ANTI_THESIS",
        ],
    );
    for prompt in [&thesis, &antithesis] {
        says(
            prompt,
            &[
                "Begin with one or two sentences",
                "`file:line`",
                "at most 250 words outside the tags",
                "your opponent will read this",
                "No flattery",
                "exactly once, in this order",
                "Do not copy tags or `RECOMMEND:` lines out of it.",
                "src/client.rs, src/worker.rs",
                FEATURE,
            ],
        );
        let tags =
            ["claim", "evidence", "strongest_concession", "counter_to_opposition", "risk_if_wrong"];
        let places: Vec<_> =
            tags.iter().map(|tag| prompt.find(&format!("    <{tag}>")).unwrap()).collect();
        assert!(places.is_sorted());
        assert!(
            prompt.contains(
                "<debater_synthesis>\nThe sketches agree on a cap.\n</debater_synthesis>"
            )
        );
        assert!(prompt.ends_with("- **Chosen**: In the client\n</debater_decision>\n"));
        // The prompt does not state the number of sketches, which differs between runs.
        assert!(!prompt.contains("5 sketches") && !prompt.contains("4 sketches"));
    }
}

// P-226
#[test]
fn a_judges_prompt_explains_both_words() {
    let ballot = "<defense_content>\nx\n</defense_content>";
    let asked = |reader| judge(&on_ballot(ballot, ANSWERED), reader);
    let (vendor, host) = (asked(Reader::Vendor), asked(Reader::Host));
    for prompt in [&vendor, &host] {
        says(
            prompt,
            &[
                "You are a judge",
                "each decision says which defence it means there",
                "<panel_feature> Cap the retries of the uploader. </panel_feature>",
                "Must old callers work?",
                "how strong the evidence is, how fairly the other side was put",
                "no credit for tone",
                "one line for each decision",
                "Vote on all of them",
                "Do not modify any file.",
            ],
        );
    }
    assert!(vendor.contains(EFFORT) && !host.contains(EFFORT));
    assert!(host.ends_with(&format!("<panel_ballot>\n{ballot}\n</panel_ballot>\n")));
}

// P-260, P-265, P-266, P-267
#[test]
fn a_voters_prompt_explains_each_vote() {
    let first = a_voter(VoterRole::SeniorReviewer, "the ballot", Reader::Host);
    says(
        &first,
        &[
            "senior code reviewer on a voting panel",
            "Be scrupulous",
            "worth revising the plan for",
            EFFORT,
        ],
    );
    let second = a_voter(VoterRole::SeniorEngineer, "the ballot", Reader::Vendor);
    says(&second, &["senior engineer on a voting panel", "the ballot", EFFORT]);
    let replacement = a_voter(VoterRole::SeniorEngineer, "the ballot", Reader::Host);
    assert!(!replacement.contains(EFFORT) && !replacement.contains("scrupulous"));
    for prompt in [&first, &second, &replacement] {
        says(
            prompt,
            &[
                "more complexity than the matter warrants, say EXONERATE and not YES",
                "YES: it is correct, important and worth doing.",
                "NO: it is incorrect, trivial, a duplicate or harmful.",
                "YES: file an issue for it.",
                "NO: it is not worth tracking.",
                "never implemented in this change",
                "Vote on every item",
                "<panel_feature> Cap the retries of the uploader. </panel_feature>",
                "Must old callers work?",
                "<panel_plan> ## Files to modify/create - src/upload.rs: the cap </panel_plan>",
                "Do not modify any file.",
            ],
        );
    }
}

// P-169, P-172, P-174, P-187, P-188, P-243, P-244, P-291
#[test]
fn the_chairs_prompts_list_the_required_parts() {
    let all = chair_prompts();
    let prompt = |name: &str| &all.iter().find(|(known, _)| *known == name).unwrap().1;
    says(
        prompt("chair_questions"),
        &[
            "at most 4 questions",
            "puts to its author together",
            "related changes that are not wanted",
        ],
    );
    says(
        prompt("chair_scope"),
        &[
            "at most 7",
            "Explore the code base first",
            "no libraries, no layout of files",
            "one at a time",
        ],
    );
    says(
        prompt("chair_interview"),
        &["at most 7", "decided by 2 votes to 1", "Architecture and approach may be asked"],
    );
    says(
        prompt("chair_synthesis"),
        &[
            "where the sketches agree",
            "a reasoned call on each",
            "failure modes that the plan must answer",
            "Sketch Cursor-Arch:",
        ],
    );
    assert!(!prompt("chair_synthesis_quick").contains("failure modes that the plan must answer"));
    says(
        prompt("chair_plan"),
        &[
            "binds you",
            "Where the disposition is `voted`, follow",
            "do not answer arguments that no side made",
            "3 most likely ways",
            "earliest warning signal",
        ],
    );
    says(prompt("chair_revision"), &["the whole revised plan", "not a list of changes"]);
    says(prompt("chair_diagram"), &["not what happens at run time", "Choose whichever kind"]);
    for (name, prompt) in &all {
        let questions = prompt.lines().filter(|line| line.starts_with("- ") && line.contains('?'));
        assert!(questions.count() >= 5, "{name}");
    }
}
