//! `convoke brief`: the block, its log and its reports.

use insta::assert_snapshot;

use crate::harness::Project;

const CHECKOUT: &str = "# Checkout\n\n## Goal\nOne-page checkout.\n\n## Frames\n- Cart\n- Pay\n";
const NOTES: &str = "# Notes\n\nUsers leave at step 3.\n";
const HEADER: &str = "## Design Context (from .moai/design/)\n";

/// Text of `chars` characters, a third of them wide, with a heading at every offset in `borders`.
fn wide(chars: usize, borders: &[usize]) -> String {
    let filler = |count: usize| "가bc".chars().cycle().take(count).collect::<String>();
    let mut text = String::new();
    let mut length = 0;
    for &border in borders {
        text += &filler(border - length - 1);
        text += "\n## ";
        length = border + 3;
    }
    text + &filler(chars - length)
}

// B-61 and B-18, example A: the block byte for byte, with one document refused by the system.
#[cfg(unix)]
#[test]
fn a_refused_document_is_a_warning_and_the_rest_is_there() {
    let project =
        Project::with_documents(&[("spec", CHECKOUT), ("research", NOTES), ("system", "x")])
            .design_yaml("{}");
    crate::harness::set_mode(&project.design("system.md"), 0o000);
    let outcome = project.run_without_rights(&["brief"]);
    assert_snapshot!(outcome, @"
    exit: 0
    --- stdout
    ## Design Context (from .moai/design/)

    > source: .moai/design/spec.md
    # Checkout

    ## Goal
    One-page checkout.

    ## Frames
    - Cart
    - Pay

    > source: .moai/design/research.md
    # Notes

    Users leave at step 3.

    > warnings: [system unreadable: permission denied]
    --- stderr
    ");
    assert_eq!(outcome.stdout.chars().count(), 254);
}

// B-54, example B: the marker is the last line. B-8: a budget on the command line is for this call.
#[test]
fn a_cut_is_marked_at_the_end() {
    let project = Project::with_documents(&[("spec", CHECKOUT), ("research", NOTES)]);
    assert_snapshot!(project.run(&["brief", "--budget", "10"]), @"
    exit: 0
    --- stdout
    ## Design Context (from .moai/design/)

    > source: .moai/design/spec.md
    # Checkout

    > truncated: spec.md at char_offset=12
    --- stderr
    design_docs not configured — using defaults
    ");
}

// B-29, B-70, example C: an untouched folder leaves the header, and the log gives the reasons, in
// order.
#[test]
fn an_untouched_folder_is_a_header_and_a_log() {
    let project = Project::new();
    project.run(&["brief", "init"]);
    assert_snapshot!(project.run(&["brief", "--auto"]), @"
    exit: 0
    --- stdout
    ## Design Context (from .moai/design/)
    --- stderr
    design_docs not configured — using defaults
    skip: spec — _TBD_ only
    skip: system — _TBD_ only
    skip: research — _TBD_ only
    design docs present but all are _TBD_ — no content loaded
    ");
}

// B-13, B-71, B-12
#[test]
fn a_missing_folder_is_logged_and_an_empty_one_is_not() {
    let project = Project::new();
    assert_snapshot!(project.run(&["brief"]), @"
    exit: 0
    --- stdout
    ## Design Context (from .moai/design/)
    --- stderr
    design_docs not configured — using defaults
    design docs not initialized — run `convoke brief init` to create a design folder
    ");
    let literal = project.run(&["brief", "--literal-source"]);
    let original = "design docs not initialized — run /moai init or SPEC-DESIGN-DOCS-001 to create";
    assert!(literal.stderr.lines().any(|line| line == original), "{literal}");
    let project = project.design_yaml("{}").file(".moai/design/assets/logo.md", "x");
    assert_snapshot!(project.run(&["brief"]), @"
    exit: 0
    --- stdout
    ## Design Context (from .moai/design/)
    --- stderr
    ");
}

// B-10, B-11: a closed gate gives a workflow an empty text, without a header or a log line.
#[test]
fn a_closed_gate_is_zero_bytes_for_workflows_only() {
    let project = Project::new().design_yaml("{auto_load_on_design_command: false}");
    let silent = "exit: 0\n--- stdout\n--- stderr\n";
    assert_eq!(project.run(&["brief", "--auto"]).to_string(), silent);
    let project = project.document("spec", "text");
    assert_eq!(project.run(&["brief", "--auto", "--dir", "nowhere"]).to_string(), silent);
    assert!(project.run(&["brief"]).stdout.contains("> source: .moai/design/spec.md\ntext\n"));
    let nowhere = project.run(&["brief", "--dir", "nowhere"]).stdout;
    assert!(nowhere.starts_with("## Design Context (from nowhere/)\n"), "{nowhere}");
    let project = project.design_yaml("{auto_load_on_design_command: true}");
    assert!(project.run(&["brief", "--auto"]).stdout.contains("text"));
}

// B-14: files beside the candidates are never read.
#[test]
fn only_candidates_are_read() {
    let project = Project::with_documents(&[("spec", "text"), ("README", "no"), ("SYSTEM", "no")])
        .file(".moai/design/tokens.json", "no")
        .file(".moai/design/brief/spec.md", "no");
    let block = project.run(&["brief"]).stdout;
    assert_eq!(block, format!("{HEADER}\n> source: .moai/design/spec.md\ntext\n"));
}

// B-30..B-34, B-50..B-52, worked example 3: offsets are characters although a third are wide.
#[test]
fn a_long_wide_document_is_cut_by_characters() {
    let borders = [3_166, 10_520, 34_955, 72_366, 72_725, 80_000];
    let document = wide(88_730, &borders);
    assert!(document.len() > 140_000);
    let project = Project::with_documents(&[("spec", &document)]);
    for (budget, offset, used) in [
        (1_000, 3_166, 8_712),
        (5_000, 10_520, 28_930),
        (10_000, 34_955, 96_129),
        (20_000, 72_366, 199_012),
    ] {
        let report = project.json(&["--budget", &budget.to_string()]);
        assert_eq!(report["included"][0]["char_offset"], offset, "budget {budget}");
        assert_eq!(report["used_x10"], used, "budget {budget}");
        let marker = format!("\n\n> truncated: spec.md at char_offset={offset}\n");
        assert!(report["block"].as_str().unwrap().ends_with(&marker));
    }
}

// B-43, B-45: worked example 4 under every policy. B-46: the drop is reported only on request.
#[test]
fn policies_differ_in_what_gives_way() {
    let project = Project::with_documents(&[
        ("spec", &wide(20_000, &[])),
        ("system", &wide(24_000, &[])),
        ("research", &wide(120_000, &[9_000, 18_050, 27_990, 30_110])),
        ("pencil-plan", &wide(4_000, &[])),
    ])
    .design_yaml("{}");
    let result = |policy: &[&str]| {
        let report = project.json(policy);
        format!(
            "{} {} {}",
            report["used_x10"], report["dropped"], report["included"][2]["char_offset"]
        )
    };
    let kept = r#"197978 ["pencil-plan"] 27990"#;
    assert_eq!(result(&[]), kept);
    assert_eq!(result(&["--policy", "contract"]), kept);
    assert_eq!(result(&["--policy", "strict"]), r#"121000 ["research","pencil-plan"] null"#);
    assert_eq!(result(&["--policy", "fill"]), kept);
    assert_eq!(project.run(&["brief"]).stderr, "");
    let verbose = project.run(&["brief", "-v", "--policy", "strict"]).stderr;
    let drops = "drop: research — over token budget\ndrop: pencil-plan — over token budget\n";
    assert_eq!(verbose, drops);
    let filled = project.run(&["brief", "-v", "--policy", "fill"]).stderr;
    assert_eq!(filled, "drop: pencil-plan — over token budget\n");
}

// B-8, B-16, B-60, B-63: another folder is read, cited and named by the header; `--literal-source`
// keeps the contract's words in both.
#[test]
fn another_folder_is_read_instead() {
    let project = Project::with_documents(&[("spec", "default")])
        .file("docs/design/spec.md", "other")
        .design_yaml("{dir: docs/design//}");
    let header = |path: &str| format!("## Design Context (from {path}/)\n");
    let cited = |path: &str| format!("{}\n> source: {path}/spec.md\nother\n", header(path));
    assert_eq!(project.run(&["brief"]).stdout, cited("docs/design"));
    assert_eq!(project.run(&["brief", "--dir", "docs/design"]).stdout, cited("docs/design"));
    let literal = project.run(&["brief", "--literal-source"]).stdout;
    assert_eq!(literal, cited(".moai/design"));
    let absolute = project.path("docs/design").display().to_string();
    assert_eq!(project.run(&["brief", "--dir", &absolute]).stdout, cited(&absolute));
    assert_eq!(project.run(&["brief", "--dir", "~"]).stdout, header("~"));
}

// B-65: one document with everything a program may want to know.
#[test]
fn the_report_tells_everything() {
    let project =
        Project::with_documents(&[("spec", CHECKOUT), ("system", "_TBD_"), ("research", NOTES)])
            .file(".moai/design/extra.md/x", "")
            .design_yaml(
                "{token_budget: 12, priority: [spec, system, research, extra, none, ../x]}",
            );
    let report = project.run(&["brief", "--json", "-C", "."]);
    assert_snapshot!(report);
}

#[test]
fn the_explanation_names_every_candidate_and_its_reason() {
    let project = Project::with_documents(&[
        ("spec", CHECKOUT),
        ("system", "# System\n\n_TBD_\n"),
        (
            "research",
            &format!("# Research\n\n{}\n## Long {}\nx\n## B\n", "x".repeat(26), "y".repeat(150)),
        ),
    ])
    .design_yaml("{token_budget: 40, priority: [spec, system, research, plan, gone]}")
    .file(".moai/design/plan.md/x", "");
    assert_snapshot!(project.run(&["brief", "--explain", "-C", "."]), @"
    exit: 0
    --- stdout
    folder  ./.moai/design
    budget  40 tokens, policy contract
    used    28.6 tokens (71.5 %), an estimate

    brief     chars  tokens   share  result
    spec         63    17.6  44.0 %  kept whole; written from line 4 on
    system       16                  skipped: only its template, nothing written yet
    research     39    11.0  27.5 %  cut at 39 of 205 before `## Long yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…`
    plan                             unreadable: is a directory
    gone                             absent
    note: priority_custom: `priority` differs from the default list
    --- stderr
    ");
    assert_snapshot!(project.run(&["brief", "--explain", "-C", ".", "--dir", "none"]), @"
    exit: 0
    --- stdout
    folder  ./none
    budget  40 tokens, policy contract
    used    0.0 tokens (0.0 %), an estimate

    not loaded: the folder does not exist
    note: priority_custom: `priority` differs from the default list
    --- stderr
    ");
}

// B-35: the estimate is blind to scripts; an exact count is marked as exact.
#[test]
fn an_exact_count_is_used_for_packing_and_says_so() {
    let korean = "## 목표\n\n한 페이지 결제.\n".repeat(20);
    let project = Project::with_documents(&[("spec", &korean)]).design_yaml("{token_budget: 90}");
    let estimate = project.json(&[]);
    let exact = project.json(&["--tokenizer", "o200k"]);
    assert_eq!((&estimate["exact"], &exact["exact"]), (&false.into(), &true.into()));
    assert_eq!(estimate["included"][0]["char_offset"], 323);
    assert_eq!(exact["included"][0]["char_offset"], 187);
    assert_eq!(exact["used_x10"], 880);
}
