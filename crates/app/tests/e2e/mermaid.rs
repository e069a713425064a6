//! `convoke mermaid check` and `convoke plumbing mermaid`: which diagrams are refused, at which
//! line, and in which log.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Outcome, Project, build_parser_of_diagrams};

fn plumbing(project: &Project, words: &[&str], input: &str) -> Outcome {
    project.run_with_input(&[&["plumbing", "mermaid"], words].concat(), input.as_bytes())
}

fn check(project: &Project, words: &[&str], input: &str) -> Outcome {
    project.run_with_input(&[&["mermaid", "check"], words].concat(), input.as_bytes())
}

/// Checks a bare diagram: the exit code and the lines with reasons.
#[track_caller]
fn found(body: &str, expected: &[(&str, usize)]) {
    let outcome = plumbing(&Project::new(), &[], body);
    let reason =
        |(token, line): &(&str, usize)| format!("REASON_TOKEN={token} fence=1 line={line}\n");
    let (code, status) = if expected.is_empty() { (0, "ok") } else { (1, "rejected") };
    let reasons: String = expected.iter().map(reason).collect();
    let lines = format!("STATUS={status}\n{reasons}FENCE_COUNT=1\n");
    assert_eq!((outcome.code, outcome.stdout), (Some(code), lines), "{body}");
    assert_eq!(outcome.stderr, "");
}

const PIPE: &str = "pipe-in-node-label";
const BREAK: &str = "br-in-participant-alias";
const DOLLAR: &str = "dollar-in-participant-alias";

// T-44, P-297, P-300, P-305
#[test]
fn a_bar_in_a_label_is_refused_in_every_bracket() {
    for label in ["[a | b]", "(a | b)", "{a | b}", "((a | b))"] {
        found(&format!("flowchart TD\n    A{label} --> B\n"), &[(PIPE, 2)]);
    }
}

// T-45, P-306
#[test]
fn breaks_and_dollars_in_other_names_are_refused() {
    for alias in ["One<br/>Two", "One<br />Two", "One<br>Two"] {
        found(&format!("sequenceDiagram\n  participant A as {alias}\n"), &[(BREAK, 2)]);
    }
    for word in ["participant", "actor"] {
        found(&format!("sequenceDiagram\n  {word} A as $HOME\n"), &[(DOLLAR, 2)]);
    }
}

// T-46, P-305, P-307
#[test]
fn what_only_looks_like_it_is_accepted() {
    for body in [
        "flowchart LR\n  A -->|text| B\n",
        "flowchart LR\n  A[one<br/>two] --> B\n",
        "flowchart LR\n  A[$5] --> B\n",
        "sequenceDiagram\n  A->>B: costs $5<br/>net\n",
        "flowchart LR\n  A --> B\n",
        "sequenceDiagram\n  participant A as Alice\n  A->>B: hi\n",
        "flowchart LR\n  A[\"a | b\"] --> B\n",
        "flowchart LR\n  A[\"say \\\"a | b\\\"\"] --> B\n",
        "flowchart LR\n  A[[x (y) {z}]] --> B\n",
        "pie\n  \"a | b\" : 1\n",
    ] {
        found(body, &[]);
    }
}

// T-47, P-304
#[test]
fn front_matter_is_read_past() {
    found("---\ntitle: x\n---\nflowchart TD\n  A[a|b]\n", &[(PIPE, 5)]);
    found("---\ntitle: x\n---\nflowchart TD\n  A[a]\n", &[]);
    found("---\ntitle: x\nflowchart TD\n", &[("unclosed-frontmatter", 3)]);
}

// T-48, P-306
#[test]
fn spaces_and_tabs_hide_nothing() {
    found("sequenceDiagram\n  participant   A   as   x<br/>y\n", &[(BREAK, 2)]);
    found("sequenceDiagram\n\tactor\tA\tas\t$x\n", &[(DOLLAR, 2)]);
}

const TWO: &str = "## Architecture Diagram\n\n```mermaid\nflowchart TD\n  A --> B\n```\n\n\
                   ## Code Flow Diagram\n\n```mermaid\nsequenceDiagram\n  \
                   participant S as Secret<br/>name\n```\n";

// T-49, P-298, P-301, P-303
#[test]
fn of_two_fences_the_second_is_named() {
    let project = Project::new().file("two.md", TWO);
    let outcome = plumbing(&project, &["--input", "two.md", "--from-md"], "");
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (
            Some(1),
            "STATUS=rejected\nREASON_TOKEN=br-in-participant-alias fence=2 line=2\nFENCE_COUNT=2\n\
             FENCE_1_HEADING=architecture\nFENCE_2_HEADING=code-flow\n"
        )
    );
    let nothing = plumbing(&project, &["--from-md"], "prose\n");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), "STATUS=ok\nFENCE_COUNT=0\n"));
}

// T-50, P-302
#[test]
fn an_indented_fence_is_seen() {
    let text = "- item\n\n   ```mermaid\n   flowchart TD\n     A[a|b]\n   ```\n";
    let outcome = plumbing(&Project::new(), &["--from-md"], text);
    let lines = "STATUS=rejected\nREASON_TOKEN=pipe-in-node-label fence=1 line=2\nFENCE_COUNT=1\n\
                 FENCE_1_HEADING=unknown\n";
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), lines));
}

// T-51, P-299, P-311
#[test]
fn the_log_gets_reasons_and_nothing_else() {
    for command in [&["plumbing", "mermaid"][..], &["mermaid", "check"]] {
        let before = "### Tool Failures\n\n- x\n\n### Warnings\n\n- old\n\n### Q/A\n\n-  y";
        let project = Project::new().file("log.md", before).file("two.md", TWO);
        let words = ["--input", "two.md", "--from-md", "--warnings-log", "log.md"];
        let step = ["--warnings-step", "3b"];
        let outcome = project.run(&[command, &words, &step].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), ""), "{outcome}");
        let log = fs::read_to_string(project.path("log.md")).unwrap();
        let entry = "- **Step 3b — mermaid sanitizer rejected:** br-in-participant-alias\n";
        let expected = before.replace("- old\n", &format!("- old\n\n{entry}"));
        assert_eq!(log, expected);
        assert!(!log.contains("Secret"));
    }
    let project = Project::new().file("safe.mmd", "flowchart TD\n");
    let safe = ["--input", "safe.mmd", "--warnings-log", "log.md"];
    assert_eq!(plumbing(&project, &safe, "").code, Some(0));
    assert!(!project.path("log.md").exists(), "there is nothing to tell");
}

// P-296, P-297, P-299
#[test]
fn what_cannot_be_checked_is_an_internal_error() {
    let project = Project::new().file("binary", b"\xff\xfe");
    for (words, error) in [
        (&["--input"][..], "usage: --input needs a value"),
        (&["--bogus"], "usage: unknown flag: --bogus"),
        (&["--input", "missing.md"], "unreadable input"),
        (&["--input", "binary"], "unreadable input"),
        (&["--input", "."], "unreadable input"),
    ] {
        let words = [&["--warnings-log", "log.md"], words].concat();
        let outcome = plumbing(&project, &words, "");
        let lines = format!("STATUS=internal-error\nERROR={error}\n");
        assert_eq!((outcome.code, outcome.stdout), (Some(2), lines), "{words:?}");
        let log = fs::read_to_string(project.path("log.md")).unwrap();
        let entry = "- **Step unknown — mermaid sanitizer rejected:** internal-error\n";
        assert_eq!(log, format!("### Warnings\n\n{entry}"), "{words:?}");
        fs::remove_file(project.path("log.md")).unwrap();
    }
}

#[test]
fn an_unreadable_file_is_named_with_the_reason() {
    let project = Project::new().file("binary.md", b"\xff\xfe").file("docs/a.md", TWO);
    let made =
        project.shell("mkfifo pipe.md && truncate -s 17M long.md && ln -s missing.md link.md", "");
    assert_eq!(made.code, Some(0), "{made}");
    for (file, reason) in [
        ("missing.md", "there is no such file"),
        ("link.md", "there is no such file"),
        ("docs", "is a directory"),
        ("binary.md", "invalid utf-8"),
        ("long.md", "too large"),
        ("pipe.md", "not a regular file"),
    ] {
        for words in [&[file][..], &["--input", file, "--json"]] {
            let words = [words, &["--warnings-log", "log.md"]].concat();
            let outcome = check(&project, &words, "");
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
            let error = format!("error: cannot read `{file}`: {reason}\nhint: name a text file");
            assert!(outcome.stderr.starts_with(&error), "{outcome}");
            assert!(project.path("log.md").exists(), "the log says that nothing was checked");
            fs::remove_file(project.path("log.md")).unwrap();
        }
    }
    let outcome = project.run_with_input(&["mermaid", "check"], b"\xff\xfe");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("from standard input: it is not UTF-8 text"), "{outcome}");
}

// A text without a diagram was not checked, so it is not safe; P-307 keeps the script's answer.
#[test]
fn a_text_without_a_diagram_fails_the_check() {
    let prose = "# Notes\n\nNo diagram here.\n\n```sh\nls | wc\n```\n";
    let project = Project::new()
        .file("notes.md", prose)
        .file("words.MD", "Just words.\n")
        .file("notes.txt", prose)
        .file("empty.md", "")
        .file("empty.mmd", "\n\n");
    for file in ["notes.md", "words.MD", "notes.txt", "empty.md", "empty.mmd"] {
        let outcome = check(&project, &[file, "--warnings-log", "log.md"], "");
        let line = format!("no diagram found in `{file}`\n");
        assert_eq!((outcome.code, outcome.stdout), (Some(1), line), "{file}");
        assert_eq!(outcome.stderr, "", "{file}");
        let log = fs::read_to_string(project.path("log.md")).unwrap();
        assert!(log.ends_with("mermaid sanitizer rejected:** no-diagram\n"), "{log}");
        fs::remove_file(project.path("log.md")).unwrap();
        let outcome = check(&project, &[file, "--json"], "");
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let expected = json!({ "is_safe": false, "diagrams": [], "hits": [] });
        assert_eq!((outcome.code, report), (Some(1), expected), "{file}");
    }
    for (words, input) in [(&[][..], prose), (&["--from-md"], "words\n"), (&["--syntax"], "")] {
        let outcome = check(&project, words, input);
        let line = "no diagram found in standard input\n";
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), line), "{words:?}");
    }
}

// Nothing but the name, or a fence, says that these are Markdown.
#[test]
fn a_bad_diagram_among_several_is_at_its_line_of_the_file() {
    let text = format!("# Notes\n\nWords.\n\n{TWO}");
    let project = Project::new().file("two.md", &text).file("two.txt", &text);
    let at = text.lines().position(|line| line.contains("Secret")).unwrap() + 1;
    for (file, words) in [("two.md", &["two.md"][..]), ("two.txt", &["--input", "two.txt"])] {
        let outcome = check(&project, words, "");
        let lines = format!(
            "{file}:{at}: diagram 2, line 2: br-in-participant-alias\n\
             2 diagrams: not safe to publish\n"
        );
        assert_eq!((outcome.code, outcome.stdout), (Some(1), lines));
    }
}

// P-297: a log that cannot be written changes no answer.
#[test]
fn a_log_that_cannot_be_written_is_a_warning() {
    let project = Project::new();
    let outcome = plumbing(&project, &["--warnings-log", "no/log.md"], "flowchart TD\nA[a|b]\n");
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.starts_with("STATUS=rejected\n"), "{outcome}");
    assert_eq!(outcome.stderr, "warning: cannot write `no/log.md`\n");
}

#[test]
fn people_and_programs_get_the_same_result() {
    let project = Project::new();
    let outcome = check(&project, &["--from-md"], TWO);
    let text = "<stdin>:12: diagram 2, line 2: br-in-participant-alias\n\
                2 diagrams: not safe to publish\n";
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), text));
    let outcome = check(&project, &["--input", "-"], "flowchart TD\n  A --> B\n");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "1 diagram: safe to publish\n"));
    let outcome = check(&project, &["--from-md", "--json"], TWO);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let expected = json!({
        "is_safe": false,
        "diagrams": [{ "heading": "architecture" }, { "heading": "code-flow" }],
        "hits": [
            { "reason": "br-in-participant-alias", "diagram": 2, "line": 2, "line_of_text": 12 },
        ],
    });
    assert_eq!((outcome.code, report), (Some(1), expected));
}

/// Returns the rows of the table with their diagrams: name, refusals, Mermaid's result.
fn table() -> Vec<([String; 3], String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mermaid");
    let table = fs::read_to_string(folder.join("table.txt")).unwrap();
    let rows: Vec<_> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let files = fs::read_dir(&folder).unwrap().count() - 1;
    assert_eq!(rows.len(), files, "every diagram stands in the table once");
    let row = |row: &&str| {
        let mut cells = row.split_whitespace().map(str::to_owned);
        let cells: [String; 3] = std::array::from_fn(|_| cells.next().unwrap());
        let path = folder.join(&cells[0]).with_extension("mmd");
        (cells, fs::read_to_string(path).unwrap())
    };
    rows.iter().map(row).collect()
}

// The same table is tried with a real Mermaid in a browser, by `cargo xtask test --browser`.
#[test]
fn the_table_of_diagrams_matches_the_refusals() {
    for ([_, ours, _], body) in table() {
        let hits: Vec<_> = ours
            .split(',')
            .filter_map(|hit| hit.split_once(':'))
            .map(|(token, line)| (token, line.parse().unwrap()))
            .collect();
        found(&body, &hits);
    }
}

// The parser says of every diagram that the rules accept what Mermaid says, but for the exceptions.
#[test]
fn the_table_of_diagrams_says_what_parses() {
    build_parser_of_diagrams();
    let project = Project::new();
    for ([name, ours, fate], body) in table() {
        let parses = ours == "ok" && (fate == "renders" || fate.ends_with("parses"));
        let outcome = check(&project, &["--syntax"], &body);
        assert_eq!(outcome.code, Some(i32::from(!parses)), "{name}: {outcome}");
        // A text without a diagram is not parsed.
        let is_empty = body.trim().is_empty();
        let words = if is_empty { "no diagram found" } else { "does not parse" };
        assert_eq!(outcome.stdout.contains(words), ours == "ok" && !parses, "{name}");
        assert_eq!(outcome.stderr, "", "{name}");
    }
}

const WRONG: &str = "```mermaid\nflowchart TD\n  A --> B\n```\n\n```mermaid\nflowchart TD\n  \
                     A[Secret\n```\n\n```mermaid\nflowchrt \u{1b}[31mTD\n```\n";

#[test]
fn a_parse_error_has_its_place() {
    build_parser_of_diagrams();
    let project = Project::new();
    let outcome = check(&project, &["--from-md"], WRONG);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "3 diagrams: safe to publish\n"));
    let words = ["--from-md", "--syntax", "--warnings-log", "log.md"];
    let outcome = check(&project, &words, WRONG);
    let unknown =
        r"No diagram type detected matching given configuration for text: flowchrt \u{1b}[31mTD";
    let text = format!(
        "<stdin>:8: diagram 2, line 2: does not parse: Unterminated node label (missing `]`)\n\
         <stdin>:12: diagram 3: does not parse: {unknown}\n3 diagrams: not safe to publish\n"
    );
    assert_eq!((outcome.code, outcome.stdout), (Some(1), text));
    let log = fs::read_to_string(project.path("log.md")).unwrap();
    assert!(log.ends_with("mermaid sanitizer rejected:** does-not-parse\n"), "{log}");
    let outcome = check(&project, &["--from-md", "--syntax", "--json"], WRONG);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let heading = json!({ "heading": "unknown" });
    let expected = json!({
        "is_safe": false,
        "diagrams": [heading, heading, heading],
        "hits": [],
        "syntax": [
            { "diagram": 2, "line": 2, "line_of_text": 8,
              "message": "Unterminated node label (missing `]`)" },
            { "diagram": 3, "line": null, "line_of_text": 12, "message": unknown },
        ],
    });
    assert_eq!((outcome.code, report), (Some(1), expected));
    assert_eq!(
        plumbing(&project, &["--from-md"], WRONG).code,
        Some(0),
        "the contract has no parser"
    );
    assert_eq!(plumbing(&project, &["--syntax"], WRONG).code, Some(2));
}

#[test]
fn no_diagram_is_too_much_for_the_parser() {
    build_parser_of_diagrams();
    let project = Project::new().file("binary", b"\xff\xfe");
    let nested = |open: &str, close: &str, times: usize| open.repeat(times) + &close.repeat(times);
    for (body, words) in [
        (format!("flowchart TD\nA{}", "[".repeat(100_000)), "longer than"),
        (format!("flowchart TD\n{}", "A --> B\n".repeat(128 * 1024)), "longer than"),
        (format!("flowchart TD\nA{}", nested("[", "]", 24_000)), "structural characters"),
        (format!("---\nconfig: {}\n---\npie\n", nested("[", "]", 24_000)), "recursion limit"),
    ] {
        let outcome = check(&project, &["--syntax"], &body);
        assert_eq!(outcome.code, Some(1), "{words}: {outcome}");
        assert!(outcome.stdout.contains(words), "{words}: {outcome}");
    }
    let subgraphs = format!("flowchart TD\n{}", nested("subgraph a\n", "end\n", 3_000));
    assert_eq!(check(&project, &["--syntax"], &subgraphs).code, Some(0));
    assert_eq!(check(&project, &["--syntax", "--input", "binary"], "").code, Some(2));
}

#[test]
fn only_what_the_rules_accept_is_parsed() {
    build_parser_of_diagrams();
    let text = "```mermaid\nflowchart TD\nA[a|b\n```\n```mermaid\nflowchart TD\nA[b\n```\n\
                ```mermaid\nflowchart TD\nA\n```\n";
    let outcome = check(&Project::new(), &["--from-md", "--syntax"], text);
    let lines = "<stdin>:3: diagram 1, line 2: pipe-in-node-label\n\
                 <stdin>:7: diagram 2, line 2: does not parse: Unterminated node label (missing `]`)\n\
                 3 diagrams: not safe to publish\n";
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), lines));
}
