//! Roles of a project: files of the project, changed files, and no feature.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Project;

const APPROVED: &str = r#"{"approved": true, "issues": []}"#;

const ROLES: &str = r#"
[dispatch.roles."ship/api-reviewer"]
required = ["src/**/*.rs", "openapi.yaml", "docs/adr/*.md"]

[dispatch.roles."ship/diff-reviewer"]
required = ["CONTRIBUTING.md"]
diff = true
"#;

fn git(project: &Project, words: &[&str]) {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let done = project.command(Path::new("git"), &[&who[..], words].concat()).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn project() -> Project {
    let project = Project::new()
        .file("convoke.toml", ROLES)
        .file(".gitignore", "target/\n")
        .file("src/main.rs", "fn main() {}\n")
        .file("src/cli/args.rs", "struct Args;\n")
        .file("target/debug/built.rs", "")
        .file("openapi.yaml", "openapi: 3.1.0\n")
        .file("docs/adr/0001.md", "# One\n")
        .file("CONTRIBUTING.md", "Be kind.\n");
    git(&project, &["init", "-q", "-b", "main", "."]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "first"]);
    project
}

fn block(project: &Project, role: &str, more: &[&str]) -> String {
    let outcome = project.run(&[&["dispatch", "artifacts", role], more].concat());
    outcome.to_string().replace(&project.root().display().to_string(), "ROOT")
}

// Any file type, several folders, by path or pattern, without a feature.
#[test]
fn a_role_reads_files_of_the_project() {
    let project = project();
    assert_snapshot!(block(&project, "ship/api-reviewer", &[]), @r#"
    exit: 0
    --- stdout
    ## Required Artifacts
    You MUST read the following files before beginning your review.
    After reading, confirm: "Files read: {name} ({N} lines), ..." in a single line.
    - src/cli/args.rs: ROOT/src/cli/args.rs
    - src/main.rs: ROOT/src/main.rs
    - openapi.yaml: ROOT/openapi.yaml
    - docs/adr/0001.md: ROOT/docs/adr/0001.md
    --- stderr
    "#);
    let needs = project.run(&["dispatch", "prompt", "implement/security-reviewer"]);
    assert_eq!(needs.code, Some(2), "{needs}");
    assert!(needs.stderr.contains("hint: name one with `--feature DIR`"), "{needs}");
}

// The diff is what it must read: every file that changed and is still there.
#[test]
fn a_role_reads_what_changed() {
    let project = project();
    let nothing = block(&project, "ship/diff-reviewer", &["--changed-since", "HEAD"]);
    assert!(nothing.starts_with("exit: 2"), "{nothing}");
    let words = "error: cannot dispatch `ship/diff-reviewer`: `diff`: no changed file is left";
    assert!(nothing.contains(words), "{nothing}");
    // A role that reads changes is not sent without knowing since when.
    let project = project.file("src/new.rs", "fn new() {}\n");
    for command in ["prompt", "artifacts"] {
        let unnamed = project.run(&["dispatch", command, "ship/diff-reviewer"]);
        assert_eq!(unnamed.code, Some(2), "{unnamed}");
        let words = "error: cannot dispatch `ship/diff-reviewer`: it reviews what changed and needs \
                     `--changed-since COMMIT`\nhint: `--changed-since HEAD` names your uncommitted";
        assert!(unnamed.stderr.starts_with(words), "{unnamed}");
    }
    fs::remove_file(project.path("src/new.rs")).unwrap();
    fs::write(project.path("src/main.rs"), "fn main() { run() }\n").unwrap();
    fs::remove_file(project.path("openapi.yaml")).unwrap();
    let project = project.file("src/run.rs", "fn run() {}\n");
    let found = block(&project, "ship/diff-reviewer", &["--changed-since", "HEAD"]);
    let lines: Vec<_> = found.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 3, "{found}");
    for (line, path) in lines.iter().zip(["CONTRIBUTING.md", "src/main.rs", "src/run.rs"]) {
        assert!(line.ends_with(&format!(": ROOT/{path}")), "{found}");
    }
}

/// The output of a Claude Code that reads some files and answers.
fn transcript(project: &Project, files: &[&str], answer: &str) -> String {
    let mut lines = vec![json!({ "type": "system", "subtype": "init", "session_id": "s",
        "uuid": "0", "cwd": project.root(), "model": "m" })];
    for (at, file) in files.iter().enumerate() {
        let path = project.path(file).display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let rows = text.split('\n').enumerate();
        let shown: Vec<_> = rows.map(|(row, line)| format!("{}\t{line}", row + 1)).collect();
        let id = format!("c{at}");
        let call =
            json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": path } });
        let result =
            json!({ "type": "tool_result", "tool_use_id": id, "content": shown.join("\n") });
        let count = shown.len();
        let file = json!({ "filePath": path, "content": text, "numLines": count, "startLine": 1,
            "totalLines": count });
        lines.push(json!({ "type": "assistant", "session_id": "s", "uuid": format!("a{at}"),
            "message": { "id": format!("m{at}"), "content": [call] } }));
        lines.push(json!({ "type": "user", "session_id": "s", "uuid": format!("b{at}"),
            "message": { "content": [result] }, "tool_use_result": { "type": "text", "file": file } }));
    }
    lines.push(json!({ "type": "assistant", "session_id": "s", "uuid": "z", "message": {
        "id": "z", "content": [{ "type": "text", "text": answer }], "stop_reason": "end_turn" } }));
    lines.push(json!({ "type": "result", "subtype": "success", "is_error": false, "uuid": "y",
        "result": answer, "session_id": "s" }));
    lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

// Receipts are for changed files too, by their paths: two files may have one name.
#[test]
fn changed_files_have_receipts() {
    let project = project().file("src/mod.rs", "mod a;\n").file("src/cli/mod.rs", "mod b;\n");
    let answer = format!("Files read: CONTRIBUTING.md (1 lines), mod.rs (1 lines)\n\n{APPROVED}");
    let record = transcript(&project, &["CONTRIBUTING.md", "src/mod.rs"], &answer);
    fs::write(project.path("../record.jsonl"), record).unwrap();
    let record = project.path("../record.jsonl").display().to_string();
    let outcome = project.run(&[
        "dispatch",
        "check",
        "ship/diff-reviewer",
        "--changed-since",
        "HEAD",
        "--transcript",
        &record,
        "--client",
        "claude",
        "--json",
    ]);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let receipts = report["receipts"].as_array().unwrap();
    let shown: Vec<_> = receipts
        .iter()
        .map(|receipt| {
            format!(
                "{} {}",
                receipt["name"].as_str().unwrap(),
                receipt["standing"].as_str().unwrap()
            )
        })
        .collect();
    assert!(shown.contains(&"src/mod.rs whole".to_owned()), "{shown:?}");
    let other = shown.iter().find(|line| line.starts_with("src/cli/mod.rs ")).unwrap();
    assert!(!other.ends_with(" whole"), "{shown:?}");
    assert_eq!(report["unproven"], json!(["src/cli/mod.rs"]));
    assert!(
        !project.path(".review-history.md").exists()
            && !project.path(".resume-state.json").exists()
    );
}

// A name that is no Markdown file confirms, too.
#[test]
fn any_demanded_file_confirms() {
    let project = project();
    let check = |answer: &str| {
        let words = ["dispatch", "check", "ship/api-reviewer", "--json"];
        let outcome = project.run_with_input(&words, answer.as_bytes());
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        report["confirmation"]["confirmed"].clone()
    };
    assert_eq!(check(&format!("Files read: openapi.yaml (1 lines)\n{APPROVED}")), true);
    assert_eq!(check(&format!("Files read: none\n{APPROVED}")), false);
}

// The state is in the store; a copy beside the documents is optional.
#[test]
fn rounds_without_a_feature_are_in_the_store() {
    let project = project();
    let next = |more: &[&str]| -> Value {
        let words = [&["dispatch", "next", "ship/api-reviewer", "--json"], more].concat();
        serde_json::from_str(&project.stdout(&words)).unwrap()
    };
    assert_eq!(next(&[])["reason"], "first_iteration");
    fs::write(project.path("src/main.rs"), "fn main() { }\n").unwrap();
    fs::write(project.path("src/cli/args.rs"), "// Long enough.\n".repeat(60)).unwrap();
    git(&project, &["commit", "-q", "-am", "second"]);
    assert_eq!(next(&[])["reason"], "first_iteration");
    fs::write(project.path("src/main.rs"), "fn main() {}\n").unwrap();
    let second = next(&["--iteration", "2", "--agent", "a-1"]);
    assert_eq!(second["reason"], "within_guard", "{second}");
    assert!(second["prompt"].as_str().unwrap().contains("+fn main() {}"), "{second}");
    assert!(!project.path(".resume-state.json").exists());
    assert!(!project.path(".review-history.md").exists());
    assert_eq!(project.stdout(&["dispatch", "reset"]), "deleted the rounds of 1 role");
}

// A mistake is named with role, key and reason.
#[test]
fn a_mistake_in_a_role_is_named() {
    for (line, words) in [
        (
            "noun = 'poem'",
            r#"`dispatch.roles."ship/x".noun` in `./convoke.toml`: it must be review or work"#,
        ),
        (
            "form = 7",
            r#"`dispatch.roles."ship/x".form` in `./convoke.toml`: it must be review, phase or fix"#,
        ),
        (
            "required = 'src'",
            r#"`dispatch.roles."ship/x".required` in `./convoke.toml`: it must be a list"#,
        ),
        ("required = ['/etc/passwd']", "`/etc/passwd`: it must be relative to the project"),
        ("required = ['src/../../x']", "`src/../../x`: it must not lead out of the project"),
        ("required = ['a**b']", "`**` must be a whole part"),
        ("required = [3]", "a list of texts"),
        ("artifacts = ['a/b']", "`a/b` is not an artifact"),
        (
            "diff = 'yes'",
            r#"`dispatch.roles."ship/x".diff` in `./convoke.toml`: it must be true or false"#,
        ),
        ("target = 3", ".target` in `./convoke.toml`: it must be one artifact, such as `design`"),
        ("rubrik = 'x'", ".rubrik` in `./convoke.toml`: it must be one of artifacts, required,"),
    ] {
        let text = format!("[dispatch.roles.\"ship/x\"]\n{line}\n");
        let outcome =
            Project::new().file("convoke.toml", text).run(&["-C", ".", "dispatch", "roles"]);
        assert_eq!(outcome.code, Some(2), "{line}\n{outcome}");
        assert!(outcome.stderr.contains(words), "{line}\n{outcome}");
    }
    let name = "[dispatch.roles.\"Ship\"]\ndiff = true\n";
    let outcome = Project::new().file("convoke.toml", name).run(&["-C", ".", "dispatch", "roles"]);
    assert!(outcome.stderr.contains(r#"`dispatch.roles."Ship"`"#), "{outcome}");
    assert!(outcome.stderr.contains("named `command/role`, in small letters"), "{outcome}");
}

// A variable overrules files key by key, in either form that TOML has.
#[test]
fn a_variable_adds_and_changes_roles() {
    let required = |roles: &str, role: &str| {
        let project = project().variable("CONVOKE_DISPATCH_ROLES", roles);
        block(&project, role, &[])
    };
    let files = |block: &str| block.lines().filter(|line| line.starts_with("- ")).count();
    for roles in [
        "{ \"ship/api-reviewer\" = { required = [\"openapi.yaml\"] } }",
        "\"ship/api-reviewer\".required = [\"openapi.yaml\"]",
        "[\"ship/api-reviewer\"]\nrequired = [\"openapi.yaml\"]\n",
    ] {
        let changed = required(roles, "ship/api-reviewer");
        assert!(changed.contains("- openapi.yaml: ") && files(&changed) == 1, "{roles}: {changed}");
    }
    let added = required("{ \"ship/poet\" = { required = [\"CONTRIBUTING.md\"] } }", "ship/poet");
    assert!(added.contains("/CONTRIBUTING.md\n"), "{added}");
}

#[test]
fn a_variable_with_a_mistake_says_in_which_role_and_key() {
    let said = |roles: &str| {
        let project = project().variable("CONVOKE_DISPATCH_ROLES", roles);
        let outcome = project.run(&["dispatch", "roles"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{roles}: {outcome}");
        outcome.stderr
    };
    let place = "`CONVOKE_DISPATCH_ROLES.\"a/b\".diff`: it must be true or false";
    let wrong = said("{ \"a/b\" = { diff = 1 } }");
    assert!(wrong.contains(place), "{wrong}");
    for roles in ["a/b", "{ \"a/b\" = ", "[1, 2]", "true"] {
        let wrong = said(roles);
        assert!(wrong.contains("in a variable: the same as TOML"), "{roles}: {wrong}");
    }
}
