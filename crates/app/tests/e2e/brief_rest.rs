//! `convoke brief rest`: reading on after a cut.

use insta::assert_snapshot;

use crate::harness::Project;

fn document() -> String {
    let part =
        |n| format!("## Part {n}\n\nText of part {n}, 가나다.\r\n\n```\n## no part\n```\n\n");
    "# Title\n\n".to_owned() + &(1..=30).map(part).collect::<String>() + "the end without a newline"
}

#[test]
fn a_part_is_cited_and_marked() {
    let project =
        Project::with_documents(&[("spec", "# A\n\n## B\ntext of b\n\n## C\ntext of c\n")]);
    assert_snapshot!(project.run(&["brief", "rest", "spec", "--from", "5", "--budget", "7"]), @"
    exit: 0
    --- stdout
    > source: .moai/design/spec.md from char_offset=5
    ## B
    text of b


    > truncated: spec.md at char_offset=21
    --- stderr
    ");
    assert_snapshot!(project.run(&["brief", "--budget", "7", "rest", "spec.md", "--from", "21"]), @"
    exit: 0
    --- stdout
    > source: .moai/design/spec.md from char_offset=21
    ## C
    text of c
    --- stderr
    ");
    assert_snapshot!(project.run(&["brief", "rest", "spec", "--from", "31", "--json"]), @r#"
    exit: 0
    --- stdout
    {
      "token": "spec",
      "from": 31,
      "next": null,
      "chars": 5,
      "tokens_x10": 22,
      "tokenizer": "estimate",
      "exact": false,
      "text": "of c\n"
    }
    --- stderr
    "#);
}

// B-63, and remarks appear here too on request.
#[test]
fn citations_and_remarks_are_those_of_the_brief() {
    let project = Project::new()
        .file("docs/spec.md", "text")
        .file(".moai/config/sections/design.yaml", "design: [");
    let arguments =
        ["brief", "rest", "spec", "--from", "0", "--dir", "docs", "--literal-source", "-v"];
    let outcome = project.run(&arguments);
    assert_eq!(outcome.stdout, "> source: .moai/design/spec.md from char_offset=0\ntext");
    assert!(outcome.stderr.starts_with("note: config_error: "), "{outcome}");
}

/// Reads on from the brief's own marker until no marker comes, as an agent would.
fn read_to_the_end(project: &Project, extra: &[&str]) -> String {
    let block = project.run(&[&["brief"], extra].concat()).stdout;
    let mut from = marker(&block).expect("the brief is cut");
    let whole = std::fs::read_to_string(project.design("spec.md")).unwrap();
    let mut read: String = whole.chars().take(from).collect();
    loop {
        let offset = from.to_string();
        let arguments = [&["brief", "rest", "spec", "--from", &offset], extra].concat();
        let printed = project.run(&arguments).stdout;
        let (_, text) = printed.split_once('\n').unwrap();
        let Some(next) = marker(text) else { return read + text };
        read +=
            text.strip_suffix(&format!("\n> truncated: spec.md at char_offset={next}\n")).unwrap();
        assert!(next > from, "reading on gets nowhere");
        from = next;
    }
}

fn marker(text: &str) -> Option<usize> {
    let line = text.lines().last()?.strip_prefix("> truncated: spec.md at char_offset=")?;
    line.parse().ok()
}

#[test]
fn reading_on_yields_every_character_once() {
    let project = Project::with_documents(&[("spec", &document())]).design_yaml("{}");
    for extra in [
        ["--budget", "60", "--tokenizer", "estimate"],
        ["--budget", "3", "--tokenizer", "estimate"],
        ["--budget", "90", "--tokenizer", "cl100k"],
    ] {
        assert_eq!(read_to_the_end(&project, &extra), document(), "{extra:?}");
    }
}

#[test]
fn what_cannot_be_read_on_is_explained() {
    let project = Project::with_documents(&[("spec", "abc")]).file(".moai/design/system.md/x", "");
    let cases = [
        (["rest", "spex", "--from", "0"], 2),
        (["rest", "../spec", "--from", "0"], 2),
        (["rest", "research", "--from", "0"], 3),
        (["rest", "system", "--from", "0"], 3),
        (["rest", "spec", "--from", "4"], 2),
        (["rest", "spec", "--from", "-1"], 2),
    ];
    for (arguments, code) in cases {
        let outcome = project.run(&[&["brief"], arguments.as_slice()].concat());
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {outcome}");
        assert!(outcome.stdout.is_empty() && outcome.stderr.starts_with("error: "), "{outcome}");
    }
    assert_snapshot!(project.run(&["brief", "rest", "spex", "--from", "0"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot read `spex`: it is neither in the priority list nor a file
    hint: did you mean `spec`?
    hint: listed: spec, system, research, pencil-plan
    ");
    assert_snapshot!(project.run(&["brief", "rest", "spec", "--from", "0", "--budget", "1"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot read within 1 token(s): not one character fits
    hint: raise `--budget`
    ");
}
