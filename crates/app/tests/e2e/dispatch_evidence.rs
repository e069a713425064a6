//! `convoke dispatch check`: what a client's record proves, and where quoted words are.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::dispatch::{APPROVED, DESIGN, FEATURE, check, project};
use crate::harness::Project;

/// A record of Claude Code in which these files were read, each wholly unless lines are named.
pub(crate) fn record(
    project: &Project,
    reads: &[(&str, Option<(usize, usize)>)],
    answer: &str,
) -> String {
    let mut lines = Vec::new();
    for (index, (name, range)) in reads.iter().enumerate() {
        let path = project.path(name).display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let all: Vec<_> = text.split('\n').collect();
        let (start, count) = range.unwrap_or((1, all.len()));
        let shown = all[start - 1..start - 1 + count].join("\n");
        let id = format!("call-{index}");
        let call =
            json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": path } });
        let file = json!({ "filePath": path, "content": shown, "numLines": count,
            "startLine": start, "totalLines": all.len() });
        lines.push(
            json!({ "type": "assistant", "message": { "role": "assistant", "content": [call] } }),
        );
        let numbered = all.iter().enumerate().skip(start - 1).take(count);
        let numbered: Vec<_> = numbered.map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
        let seen = numbered.join("\n");
        let result = json!({ "tool_use_id": id, "type": "tool_result", "content": seen });
        lines.push(json!({ "type": "user", "message": { "role": "user", "content": [result] },
            "toolUseResult": { "type": "text", "file": file } }));
    }
    let text = json!([{ "type": "text", "text": answer }]);
    lines.push(json!({ "type": "assistant", "message": { "role": "assistant", "content": text,
        "stop_reason": "end_turn" } }));
    for (index, line) in lines.iter_mut().enumerate() {
        (line["uuid"], line["cwd"]) = (json!(format!("line-{index}")), json!(project.root()));
    }
    let path = project.path("record.jsonl");
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat())
        .unwrap();
    path.display().to_string()
}

// D-40..D-43: a confirmation is only a claim; the client's record proves it.
#[test]
fn a_confirmation_without_a_read_is_unproven() {
    let project = project();
    let (design, spec) = (format!("{FEATURE}/design.md"), format!("{FEATURE}/spec.md"));
    let check = |path: &str| {
        let role = "implement/security-reviewer";
        project.run(&[
            "dispatch",
            "check",
            role,
            "--feature",
            "031",
            "--transcript",
            path,
            "--client",
            "claude",
        ])
    };
    let both = record(&project, &[(&design, None), (&spec, Some((1, 2)))], APPROVED);
    assert_snapshot!(check(&both), @"
    exit: 0
    --- stdout
    confirmation  confirmed
    read          design.md: all of it
    read          spec.md: in part: lines 1-2 of 5
    verdict       PASS
    --- stderr
    ");
    let one = record(&project, &[(&design, None)], APPROVED);
    fs::write(project.path(&design), DESIGN.replace("cookie", "header")).unwrap();
    assert_snapshot!(check(&one), @"
    exit: 0
    --- stdout
    confirmation  confirmed
    read          design.md: an older version of lines 1-12
    read          spec.md: not read
    unproven      confirmed, but not read: spec.md
    verdict       PASS
    --- stderr
    ");
    let rate: Value =
        serde_json::from_str(&project.stdout(&["dispatch", "rate", "--json"])).unwrap();
    assert_eq!((&rate["all"]["recorded"], &rate["all"]["unproven"]), (&json!(2), &json!(1)));
    let wrong = project.run(&[
        "dispatch",
        "check",
        "implement/security-reviewer",
        "--feature",
        "031",
        "--transcript",
        &one,
        "--client",
        "codex",
    ]);
    assert_snapshot!(wrong.stable(&project), @"
    exit: 3
    --- stdout
    --- stderr
    error: cannot use `TOP/project/record.jsonl`: not a transcript or event log of codex
    hint: name the client that wrote it with `--client`: claude, codex, gemini, cursor, opencode
    ");
}

// A review's quotations are checked at the cited place.
#[test]
fn quotations_are_looked_up() {
    let project = project();
    let issue = |words: &str, location: &str| json!({ "severity": "warning", "description": words, "location": location });
    let review = json!({ "approved": false, "issues": [
        issue("`A token in a cookie.` is not bound to anything", "design.md:9"),
        issue("`A token in a cookie.` again", "design.md:2"),
        issue("`A token in a header.` is said", "design.md:9"),
        issue("it is somewhere", "design.md line 900"),
        issue("it is nowhere", "absent.md:3"),
        issue("it is outside", "../other.md:3"),
        issue("it is in words", "the second section"),
    ] });
    let outcome =
        check(&project, "implement/security-reviewer", &["--dry-run"], &review.to_string());
    let found: Vec<_> = outcome.stdout.lines().filter(|line| line.starts_with("      ")).collect();
    assert_eq!(
        found,
        [
            "      `A token in a cookie.` found in design.md at line 9",
            "      `A token in a cookie.` moved: in design.md at line 9",
            "      `A token in a header.` not found in design.md",
            "      place fails: `design.md:900` does not exist: the file has 12 lines",
            "      place fails: `absent.md:3` does not exist: no such file",
            "      place unknown: `../other.md:3` could not be checked",
        ],
        "{outcome}"
    );
    let judge = ["--dry-run", "--json"];
    let outcome = check(&project, "implement/security-reviewer", &judge, &review.to_string());
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let issues = report["issues"].as_array().unwrap();
    let verdicts: Vec<_> = issues.iter().map(|issue| &issue["place"]["verdict"]).collect();
    assert_eq!(verdicts, ["holds", "holds", "holds", "fails", "fails", "unknown", "unknown"]);
}

// Two files of one name are two files: reading the one proves nothing about the other.
#[test]
fn proof_is_of_a_file_and_not_of_its_name() {
    let role = "[dispatch.roles.\"ship/reader\"]\nrequired = [\"one/f.md\", \"two/f.md\"]\n\
                require_proof = true\n";
    let project = Project::new()
        .file("convoke.toml", role)
        .file("one/f.md", "# One\n\nThe first document says this and no more.\n")
        .file("two/f.md", "# Two\n\nThe second document says something else.\n");
    let check = |reads: &[(&str, Option<(usize, usize)>)]| {
        let path =
            record(&project, reads, "Files read: f.md\n{\"approved\": true, \"issues\": []}");
        let judge = ["dispatch", "check", "ship/reader", "--json", "--client", "claude"];
        let outcome = project.run(&[&judge[..], &["--transcript", &path]].concat());
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        (outcome.code, report["verdict"].clone(), report["not_proven"].clone())
    };
    let one = check(&[("one/f.md", None)]);
    assert_eq!(one, (Some(1), json!("UNPROVEN"), json!(["two/f.md"])));
    let both = check(&[("one/f.md", None), ("two/f.md", None)]);
    assert_eq!(both, (Some(0), json!("PASS"), json!([])));
    let judge = ["dispatch", "check", "ship/reader", "--client", "claude", "--transcript"];
    let missing = project.run(&[&judge[..], &["nope.jsonl"]].concat()).stderr;
    assert!(missing.contains("`nope.jsonl`: there is no such file"), "{missing}");
    let folder = project.run(&[&judge[..], &["one"]].concat()).stderr;
    assert!(folder.contains("`one`: not a file"), "{folder}");
}

// Reads before another answer prove nothing about this one.
#[test]
fn a_record_of_another_answer_proves_nothing() {
    let project = project();
    let (design, spec) = (format!("{FEATURE}/design.md"), format!("{FEATURE}/spec.md"));
    let reads: [(&str, Option<(usize, usize)>); 2] = [(&design, None), (&spec, None)];
    let record = record(&project, &reads, APPROVED);
    let check = |response: &str, more: &[&str]| {
        fs::write(project.path("response"), response).unwrap();
        let response = project.path("response").display().to_string();
        let role = "implement/security-reviewer";
        let judge = ["dispatch", "check", role, "--feature", "031", "--client", "claude"];
        let files = ["--transcript", &record, "--response", &response];
        project.run(&[&judge[..], &files, more].concat())
    };
    let same = check(&format!("\n{}\r\n\n", APPROVED.replace('\n', "\r\n")), &[]);
    assert!(same.stdout.contains("read          design.md: all of it"), "{same}");
    let other = APPROVED.replace("Files read:", "Done.\nFiles read:");
    assert_snapshot!(check(&other, &[]), @"
    exit: 0
    --- stdout
    confirmation  confirmed
    read          unknown: the last answer in the transcript differs from --response
    verdict       PASS
                  the reviewer also wrote: Done.
    --- stderr
    ");
    assert_snapshot!(check(&other, &["--require-proof"]), @"
    exit: 1
    --- stdout
    confirmation  confirmed
    read          unknown: the last answer in the transcript differs from --response
    proof         confirmed, but no transcript shows it: design.md, spec.md
    verdict       UNPROVEN: approved, but without the required proof of reading
                  the reviewer also wrote: Done.
    --- stderr
    ");
    let report: Value = serde_json::from_str(&check(&other, &["--json"]).stdout).unwrap();
    assert_eq!(report["receipts"], json!(null));
    assert_eq!(
        report["reading_unknown"],
        "the last answer in the transcript differs from --response"
    );
}

// A line that cannot be read may have been a compaction.
#[test]
fn a_damaged_line_of_a_record_puts_earlier_reads_in_doubt() {
    let project = project();
    let (design, spec) = (format!("{FEATURE}/design.md"), format!("{FEATURE}/spec.md"));
    let path = record(&project, &[(&design, None), (&spec, None)], APPROVED);
    let role = "implement/security-reviewer";
    let judge = ["dispatch", "check", role, "--feature", "031", "--client", "claude", "--json"];
    let check = || {
        let more = ["--dry-run", "--require-proof", "--transcript", path.as_str()];
        let outcome = project.run(&[&judge[..], &more].concat());
        serde_json::from_str::<Value>(&outcome.stdout).unwrap()
    };
    assert_eq!(check()["verdict"], "PASS");
    let whole = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = whole.lines().collect();
    let torn = "{\"type\":\"system\",\"subtype\":\"compact_bou";
    lines.insert(lines.len() - 1, torn);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let report = check();
    assert_eq!(report["verdict"], "UNPROVEN", "{report}");
    assert_eq!(report["receipts"][0]["standing"], "unsure", "{report}");
    let remark = format!("record_line_unreadable:{}", lines.len() - 1);
    assert_eq!(report["diagnostics"], json!([remark]), "{report}");
    fs::write(&path, format!("{whole}{torn}")).unwrap();
    assert_eq!(check()["verdict"], "PASS", "half a line after the answer takes nothing back");
}
