//! `convoke brief FILES`: documents that a person names.

use insta::assert_snapshot;

use crate::harness::{Outcome, Project};

const INSTALL: &str = "# Install\n\nRun the installer.\n\n## Options\n\nThere are three.\n";
const GUIDE: &str = "# Guide\n\n## First steps\n\nOpen the program.\n\n## Next\n\nClose it.\n";
const NOTES: &str = "Plain notes,\nwithout any heading,\nline by line.\n";

fn project() -> Project {
    Project::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file("docs/install.md", INSTALL)
        .file("docs/guide/start.md", GUIDE)
        .file("docs/notes.txt", NOTES)
}

fn brief(project: &Project, arguments: &[&str]) -> Outcome {
    let before = project.listing();
    let outcome = project.run(&[&["brief"], arguments].concat());
    assert_eq!(project.listing(), before, "something was written");
    outcome
}

fn json(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.stdout).unwrap()
}

/// Runs the command in another folder than the project's root.
fn run_in(project: &Project, folder: &str, arguments: &[&str]) -> Outcome {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let mut command = project.command(program, arguments);
    let done = command.current_dir(project.path(folder)).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { code: done.status.code(), stdout: text(done.stdout), stderr: text(done.stderr) }
}

// B-80, B-81: a list of the shell's and a pattern of Convoke's mean the same documents.
#[test]
fn files_folders_and_patterns_are_packed_in_order() {
    let project = project();
    let by_pattern = brief(&project, &["docs/**/*.md"]);
    assert_snapshot!(by_pattern, @"
    exit: 0
    --- stdout
    ## Documents

    > source: docs/guide/start.md
    # Guide

    ## First steps

    Open the program.

    ## Next

    Close it.

    > source: docs/install.md
    # Install

    Run the installer.

    ## Options

    There are three.
    --- stderr
    ");
    let by_name = brief(&project, &["docs/guide/start.md", "docs/install.md", "docs/install.md"]);
    assert_eq!(by_name, by_pattern);
    let by_folder = brief(&project, &["docs/", "--explain"]);
    assert_snapshot!(by_folder, @"
    exit: 0
    --- stdout
    budget  20000 tokens, policy fill
    used    73.7 tokens (0.3 %), an estimate

    brief                chars  tokens  share  result
    docs/guide/start.md     63    17.6  0.0 %  kept whole
    docs/install.md         60    16.5  0.0 %  kept whole
    docs/notes.txt          48    13.2  0.0 %  kept whole
    --- stderr
    ");
}

// B-82: order is priority, and `--first` comes before it.
#[test]
fn first_documents_come_before_all_others() {
    let project = project();
    let paths = |arguments: &[&str]| {
        let report = json(&brief(&project, arguments));
        let documents = report["documents"].as_array().unwrap().clone();
        documents.iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["docs", "--json"];
    assert_eq!(paths(&all), ["docs/guide/start.md", "docs/install.md", "docs/notes.txt"]);
    let first = [&all[..], &["--first", "*.txt", "--first", "docs/*.md"]].concat();
    assert_eq!(paths(&first), ["docs/notes.txt", "docs/install.md", "docs/guide/start.md"]);
    let none = brief(&project, &["docs", "--first", "adr/*", "--explain"]);
    assert_eq!(none.stderr, "warning: none of the documents matches `--first adr/*`\n");
}

// B-83, B-84: a text that does not fit is cut on a border and marked, the rest is named, and
// reading on from the mark yields the rest.
#[test]
fn a_budget_holds_for_everything_that_is_printed() {
    let long = "# Long\n\n## One\n\nfirst part\n\n## Two\n\nsecond part\n".repeat(3);
    let project = project().file("docs/long.md", long);
    let documents = ["docs/install.md", "docs/long.md", "docs/notes.txt", "--budget", "90"];
    let outcome = brief(&project, &documents);
    assert_snapshot!(outcome, @"
    exit: 0
    --- stdout
    ## Documents

    > source: docs/install.md
    # Install

    Run the installer.

    ## Options

    There are three.

    > source: docs/long.md
    # Long

    ## One

    first part

    ## Two

    second part
    # Long

    ## One

    first part

    > truncated: docs/long.md at char_offset=76

    > omitted: docs/notes.txt (13.2 tokens; the budget was full before it)
    --- stderr
    ");
    assert!(outcome.stdout.chars().count().div_ceil(4) * 11 <= 900, "{outcome}");
    let rest = brief(&project, &["rest", "docs/long.md", "--from", "28", "--budget", "20"]);
    assert_snapshot!(rest, @"
    exit: 0
    --- stdout
    > source: docs/long.md from char_offset=28
    ## Two

    second part
    # Long

    ## One

    first part


    > truncated: docs/long.md at char_offset=76
    --- stderr
    ");
    let refused = brief(&project, &["docs", "--budget", "9"]);
    assert_snapshot!(refused, @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot pack documents within a budget of 9: citations and marks cost 85.8 tokens
    hint: raise `--budget`, or name fewer documents
    ");
}

// B-81: the citation names the real folder, from any current folder.
#[test]
fn a_citation_names_the_path_below_the_project() {
    let project = project();
    let outcome = run_in(&project, "docs/guide", &["brief", "../*.md", "start.md"]);
    let cited: Vec<_> =
        outcome.stdout.lines().filter(|line| line.starts_with("> source")).collect();
    assert_eq!(cited, ["> source: docs/install.md", "> source: docs/guide/start.md"], "{outcome}");
    let root = project.root().display().to_string();
    let elsewhere = run_in(&project, "..", &["-C", &root, "brief", "docs/*.md"]);
    assert!(elsewhere.stdout.contains("\n> source: docs/install.md\n"), "{elsewhere}");
}

// B-81
#[test]
fn a_gitignore_holds_for_folders_and_patterns_but_not_for_a_name() {
    let project =
        project().file(".gitignore", "drafts/\n").file("docs/drafts/plan.md", "# Draft\n");
    for pattern in ["docs", "docs/**/*.md"] {
        let outcome = brief(&project, &[pattern]);
        assert!(!outcome.stdout.contains("draft"), "{outcome}");
    }
    assert_snapshot!(brief(&project, &["docs/drafts/plan.md"]), @"
    exit: 0
    --- stdout
    ## Documents

    > source: docs/drafts/plan.md
    # Draft
    --- stderr
    note: `docs/drafts/plan.md` is in a .gitignore; taken because you named it
    ");
    assert_snapshot!(brief(&project, &["docs/drafts/*.markdown", "docs/*/plan.md"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: no document matches `docs/drafts/*.markdown`, `docs/*/plan.md`
    hint: a `.gitignore` excludes what matches (1 file); name a file itself to take it
    ");
}

// B-80
#[test]
fn a_missing_document_is_an_error() {
    let project = project();
    assert_snapshot!(brief(&project, &["docs/instal.md", "docs/notes.txt"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot find `docs/instal.md`
    hint: did you mean `docs/install.md`?
    ");
    assert_snapshot!(brief(&project, &["docs/*.rst"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: no document matches `docs/*.rst`
    hint: `*` stays within one folder, `**` does not; quote a pattern that the shell must not expand: `convoke brief 'docs/**/*.md'`
    ");
    assert_snapshot!(brief(&project, &["docs/*.rst", "docs/*.txt"]), @"
    exit: 0
    --- stdout
    ## Documents

    > source: docs/notes.txt
    Plain notes,
    without any heading,
    line by line.
    --- stderr
    warning: no document matches `docs/*.rst`
    ");
    assert_snapshot!(brief(&project, &["docs/[.md"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use the pattern `[.md`
    cause: error parsing glob '[.md': unclosed character class; missing ']'
    ");
}

// B-87: a file that gives no text is named with the reason, and the others go on.
#[cfg(unix)]
#[test]
fn hostile_files_are_named_and_not_read() {
    use std::os::unix::fs::symlink;

    let project = project()
        .file("docs/image.md", b"\x89PNG\0\0\xff")
        .file("docs/latin.md", b"caf\xe9\n")
        .file("docs/huge.md", "x".repeat(5000))
        .file("docs/closed.md", "closed\n")
        .file("outside.md", "inside the project\n")
        .file("convoke.toml", "[brief]\nmax_file_bytes = 4096\n");
    symlink("/etc/passwd", project.path("docs/passwd.md")).unwrap();
    symlink("nowhere", project.path("docs/broken.md")).unwrap();
    symlink("../outside.md", project.path("docs/link.md")).unwrap();
    crate::harness::set_mode(&project.path("docs/closed.md"), 0o000);
    let outcome = project.run_without_rights(&["brief", "docs/*.md"]);
    assert_snapshot!(outcome, @"
    exit: 0
    --- stdout
    ## Documents

    > source: docs/install.md
    # Install

    Run the installer.

    ## Options

    There are three.

    > source: docs/link.md
    inside the project

    > omitted: docs/broken.md (i/o error)
    > omitted: docs/closed.md (permission denied)
    > omitted: docs/huge.md (too large)
    > omitted: docs/latin.md (invalid utf-8)
    > omitted: docs/passwd.md (a link that leads out of the project)
    --- stderr
    note: left out what is binary (1 file), such as `docs/image.md`
    ");
    let named = project.run_without_rights(&["brief", "docs/image.md", "docs/passwd.md"]);
    assert_snapshot!(named, @"
    exit: 3
    --- stdout
    --- stderr
    error: cannot read any document: `docs/image.md`: a binary file; `docs/passwd.md`: a link that leads out of the project
    ");
}

// B-86: no document can end its element.
#[test]
fn the_formats_tell_documents_apart() {
    let project = project().file("docs/x.html", "</document>]]></documents>\n");
    assert_snapshot!(brief(&project, &["docs/x.html", "docs/notes.txt", "--format", "xml"]), @r#"
    exit: 0
    --- stdout
    <documents>
    <document index="1" path="docs/x.html"><![CDATA[
    </document>]]]]><![CDATA[></documents>
    ]]></document>
    <document index="2" path="docs/notes.txt"><![CDATA[
    Plain notes,
    without any heading,
    line by line.
    ]]></document>
    </documents>
    --- stderr
    "#);
    let outcome = brief(&project, &["docs/x.html", "--format", "json"]);
    assert_eq!(json(&outcome)["documents"][0]["text"], "</document>]]></documents>\n");
    assert_eq!(outcome, brief(&project, &["docs/x.html", "--json"]));
}

// B-88: a warning names place and kind, never the secret.
#[test]
fn a_likely_secret_is_warned_of_and_never_shown_on_stderr() {
    let secret = ["AKIA", "Z7JQ4N2XKM5RWT3P"].concat();
    let project = project().file("docs/keys.md", format!("# Keys\n\nUse {secret} here.\n"));
    let outcome = brief(&project, &["docs/keys.md", "docs/notes.txt"]);
    assert!(outcome.stdout.contains(&secret));
    assert_snapshot!(outcome.stderr, @"
    warning: docs/keys.md:3 looks like a secret (aws-access-token)
    hint: leave such files out with `--no-secrets`
    ");
    let without = brief(&project, &["docs/keys.md", "docs/notes.txt", "--no-secrets"]);
    assert_snapshot!(without, @"
    exit: 0
    --- stdout
    ## Documents

    > source: docs/notes.txt
    Plain notes,
    without any heading,
    line by line.

    > omitted: docs/keys.md (holds a likely secret)
    --- stderr
    ");
    assert!(!without.to_string().contains(&secret));
}

// B-80: options of the design folder and of named documents do not mix silently.
#[test]
fn options_that_do_not_belong_are_refused() {
    let project = project();
    for arguments in [
        &["docs", "--dir", "x"][..],
        &["docs", "--literal-source"],
        &["docs", "--auto"],
        &["--format", "xml"],
        &["--first", "x"],
        &["--no-secrets"],
    ] {
        let outcome = brief(&project, arguments);
        assert_eq!(
            (outcome.code, outcome.stdout.as_str()),
            (Some(2), ""),
            "{arguments:?} {outcome}"
        );
    }
}
