//! `convoke brief init`: a folder to write in.

use std::fs;

use insta::assert_snapshot;

use crate::harness::Project;

#[test]
fn a_new_folder_is_made_once() {
    let project = Project::new();
    assert_snapshot!(project.run(&["brief", "init", "-C", "."]), @"
    exit: 0
    --- stdout
    ./.moai/design/wireframes
    ./.moai/design/screenshots
    ./.moai/design/README.md
    ./.moai/design/spec.md
    ./.moai/design/system.md
    ./.moai/design/research.md
    --- stderr
    ");
    fs::write(project.design("spec.md"), "mine").unwrap();
    let before = project.listing();
    assert_snapshot!(project.run(&["brief", "init", "--json"]), @r#"
    exit: 0
    --- stdout
    {
      "dir": ".moai/design/",
      "created": [],
      "already_in_use": true
    }
    --- stderr
    warning: .moai/design/ already contains files — skip template deployment
    "#);
    assert_eq!(
        project.run(&["brief", "init"]).stderr,
        "note: .moai/design/ has files already; Convoke wrote nothing\n"
    );
    assert_eq!(project.listing(), before);
    assert_eq!(fs::read_to_string(project.design("spec.md")).unwrap(), "mine");
}

#[test]
fn a_reserved_name_stops_it() {
    let project = Project::new().file("docs/tokens.json", "{}");
    assert_snapshot!(project.run(&["brief", "init", "--dir", "docs"]), @"
    exit: 1
    --- stdout
    --- stderr
    error: reserved filename: tokens.json
    hint: that name belongs to another tool; rename the file
    ");
    assert_eq!(project.listing().len(), 2);
}

#[test]
fn a_file_in_the_way_is_explained() {
    let project = Project::new().file("docs", "a file");
    let outcome = project.run(&["brief", "init", "--dir", "docs"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("cannot list"), "{outcome}");
}

// B-71: a folder of other documents leads to a hint how to name them.
#[test]
fn documents_outside_the_list_are_pointed_at() {
    let project = Project::new()
        .file(".moai/design/api.md", "# API\n")
        .file(".moai/design/flows.md", "# Flows\n")
        .design_yaml("{}");
    assert_snapshot!(project.run(&["brief"]), @"
    exit: 0
    --- stdout
    ## Design Context (from .moai/design/)
    --- stderr
    warning: `.moai/design` holds 2 documents (api.md, flows.md), and none is in the priority list (spec, system, research, pencil-plan); run `convoke brief '.moai/design/*.md'`, or set `priority` under `[brief]` in convoke.toml
    ");
    let named = project.run(&["brief", ".moai/design/*.md"]);
    assert!(named.stdout.contains("# API"), "{named}");
}
