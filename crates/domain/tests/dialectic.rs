//! Complete debates from folders of recorded answers of debaters and judges, with their expected
//! results. `expected.txt` has a line for every decision: `DECISION_<n> expected_disposition=<d>
//! expected_tally=THESIS=<a>,ANTI_THESIS=<b>`, with `skip_debater_validation=true` where a debate
//! must fail and `skip_ballot_anonymity=true` where a ballot names an agent; `#` begins a comment.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixtures should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use convoke_domain::design::anonymity::Hidden;
use convoke_domain::design::debate::gate;
use convoke_domain::design::decision::CAP;
use convoke_domain::design::judge::{self, Asked, Judgement, JudgesVerdict, verdict};
use convoke_domain::design::policy::Policy;
use convoke_domain::design::resolution::Disposition;
use convoke_domain::design::seat::{Panel, Side};
use convoke_domain::design::voting_block::Reading;

/// The files of one folder.
type Folder = BTreeMap<String, String>;

fn folders() -> BTreeMap<String, Folder> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dialectic");
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut folders = BTreeMap::new();
    for folder in fs::read_dir(top).unwrap().map(Result::unwrap) {
        let files = fs::read_dir(folder.path()).unwrap().map(Result::unwrap);
        let files = files.map(|file| (name(&file), fs::read_to_string(file.path()).unwrap()));
        folders.insert(name(&folder), files.collect());
    }
    folders
}

/// The expected result of one decision.
#[derive(Debug, PartialEq)]
struct Expected {
    number: usize,
    disposition: String,
    tally: (usize, usize),
    debate_may_fail: bool,
    ballot_may_name: bool,
}

fn expected(text: &str) -> Vec<Expected> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let number = words.next().unwrap().strip_prefix("DECISION_").unwrap();
            let keys: BTreeMap<_, _> = words.map(|word| word.split_once('=').unwrap()).collect();
            let count = |word: &str, tally: &str| {
                let part = tally.split(',').find_map(|part| part.strip_prefix(&format!("{word}=")));
                part.unwrap().parse().unwrap()
            };
            let tally = keys["expected_tally"];
            Expected {
                number: number.parse().unwrap(),
                disposition: keys["expected_disposition"].to_owned(),
                tally: (count("THESIS", tally), count("ANTI_THESIS", tally)),
                debate_may_fail: keys.get("skip_debater_validation") == Some(&"true"),
                ballot_may_name: keys.get("skip_ballot_anonymity") == Some(&"true"),
            }
        })
        .collect()
}

fn debater(folder: &Folder, number: usize, side: Side) -> Option<&str> {
    let end = format!("-{}.txt", side.word());
    let start = format!("debate-{number}-");
    let mut files =
        folder.iter().filter(|(name, _)| name.starts_with(&start) && name.ends_with(&end));
    files.next().map(|(_, text)| text.as_str())
}

fn judges(folder: &Folder, on_ballot: &BTreeSet<usize>) -> Vec<Judgement> {
    let answer = |who: &str| folder.get(&format!("{who}-judge-output.txt")).map(String::as_str);
    let asked = Asked { on_ballot, policy: Policy::Seed, reading: Reading::Plain };
    ["cursor", "codex", "claude"].map(|who| judge::read(answer(who), asked)).to_vec()
}

fn on_ballot(ballot: &str) -> BTreeSet<usize> {
    let headings = ballot.lines().filter_map(|line| line.strip_prefix("### DECISION_"));
    headings.map(|heading| heading.split_once(':').unwrap().0.parse().unwrap()).collect()
}

/// Returns all deviations of a folder from its expectations.
fn complaints(folder: &Folder) -> Vec<String> {
    let ballot = folder.get("ballot.txt").map_or("", String::as_str);
    let numbers = on_ballot(ballot);
    let judges = judges(folder, &numbers);
    let all = expected(&folder["expected.txt"]);
    let mut complaints = Vec::new();
    let names = Hidden::of(&Panel::default()).mask(ballot).is_ok_and(|masked| !masked.replaced);
    if !names && !all.iter().any(|decision| decision.ballot_may_name) {
        complaints.push("the ballot names an agent".to_owned());
    }
    for decision in &all {
        let number = decision.number;
        let sides = [Side::Thesis, Side::Antithesis].map(|side| debater(folder, number, side));
        let votes = |side| {
            let on = |judge: &&Judgement| match judge {
                Judgement::Votes(votes) => {
                    votes.votes.get(&number).is_some_and(|vote| vote.side == side)
                }
                Judgement::Ineligible | Judgement::Unparseable | Judgement::Disowned(_) => false,
            };
            judges.iter().filter(on).count()
        };
        let tally = (votes(Side::Thesis), votes(Side::Antithesis));
        let disposition = match sides {
            [None, None] if number > CAP => Disposition::OverCap,
            [None, None] => Disposition::BucketSkipped,
            [thesis, antithesis] => match gate(thesis, antithesis) {
                Err(fault) => {
                    if !decision.debate_may_fail {
                        complaints.push(format!("DECISION_{number}: {}", fault.token()));
                    }
                    Disposition::Fallback
                }
                Ok(_) if !numbers.contains(&number) => {
                    complaints.push(format!("DECISION_{number} is debated and on no ballot"));
                    Disposition::Fallback
                }
                Ok(_) => match verdict(number, &judges) {
                    JudgesVerdict::Won { .. } => Disposition::Voted,
                    JudgesVerdict::Tie(_) | JudgesVerdict::TooFew(_) => Disposition::Fallback,
                },
            },
        };
        if (disposition.word(), tally) != (decision.disposition.as_str(), decision.tally) {
            complaints.push(format!("DECISION_{number}: {} {tally:?}", disposition.word()));
        }
        let was_never_debated =
            ["bucket-skipped", "over-cap"].contains(&decision.disposition.as_str());
        let is_voted_on = folder.iter().any(|(name, text)| {
            let line = format!("DECISION_{number}:");
            name.ends_with("-judge-output.txt") && text.lines().any(|said| said.starts_with(&line))
        });
        if was_never_debated && (sides != [None, None] || numbers.contains(&number) || is_voted_on)
        {
            complaints.push(format!("DECISION_{number} was not debated, and still is there"));
        }
    }
    complaints
}

// T-52, T-53, T-54, T-55
#[test]
fn recorded_debates_have_the_expected_results() {
    let folders = folders();
    let names = ["happy-path-5-decisions", "over-cap", "parser-tolerance", "two-judge-quorum"];
    assert!(names.iter().all(|name| folders.contains_key(*name)));
    for (name, folder) in &folders {
        assert_eq!(complaints(folder), [""; 0], "{name}");
    }
}

fn changed(name: &str, file: &str, change: impl FnOnce(&str) -> String) -> Vec<String> {
    let mut folder = folders().remove(name).unwrap();
    let text = folder.get(file).cloned().unwrap_or_default();
    folder.insert(file.to_owned(), change(&text));
    complaints(&folder)
}

// T-53
#[test]
fn a_debater_that_breaks_a_rule_is_noticed() {
    type Change = fn(&str) -> String;
    let file = "debate-1-cursor-thesis.txt";
    let changes: [(Change, &str); 5] = [
        (|text| text.replace("</claim>", ""), "missing_tag"),
        (|text| text.replace("RECOMMEND", "I RECOMMEND"), "bad_recommend"),
        (|text| text.replace(": THESIS", ": ANTITHESIS"), "bad_recommend"),
        (|text| text.replace("queue.rs:40", "queue.rs"), "missing_citation"),
        (|text| text.replace(": THESIS", ": ANTI_THESIS"), "role_mismatch"),
    ];
    for (change, token) in changes {
        let found = changed("happy-path-5-decisions", file, change);
        assert!(found.contains(&format!("DECISION_1: {token}")), "{token}: {found:?}");
    }
}

// T-54
#[test]
fn a_ballot_that_names_an_agent_is_noticed_in_any_case() {
    for name in ["Cursor", "CODEX", "claude", "precursor"] {
        let ballot = |text: &str| text.replace("the change small", &format!("{name} small"));
        let found = changed("happy-path-5-decisions", "ballot.txt", ballot);
        assert!(found.contains(&"the ballot names an agent".to_owned()), "{name}: {found:?}");
    }
}

// T-55
#[test]
fn an_undebated_decision_appears_in_no_file() {
    let is_there = "DECISION_6 was not debated, and still is there".to_owned();
    let ballot = |text: &str| format!("{text}\n### DECISION_6: x\n");
    assert!(changed("over-cap", "ballot.txt", ballot).contains(&is_there));
    let vote = |text: &str| format!("{text}DECISION_6: THESIS — x\n");
    assert!(changed("over-cap", "codex-judge-output.txt", vote).contains(&is_there));
    let debate = |_: &str| "anything".to_owned();
    assert!(changed("over-cap", "debate-6-codex-thesis.txt", debate).contains(&is_there));
    let skipped = "DECISION_2 was not debated, and still is there".to_owned();
    let debate = |_: &str| "anything".to_owned();
    assert!(changed("bucket-skipped", "debate-2-codex-thesis.txt", debate).contains(&skipped));
}

// T-56
#[test]
fn there_are_four_dispositions() {
    let words = Disposition::ALL.map(Disposition::word);
    assert_eq!(words, ["voted", "fallback-to-synthesis", "bucket-skipped", "over-cap"]);
}
