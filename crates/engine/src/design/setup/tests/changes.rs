//! Uncommitted changes at the beginning of a design.

use super::*;

// P-57: changes are named; with permission the design begins on them.
#[test]
fn uncommitted_changes_are_named_or_allowed() {
    let stage = Stage::shared("main");
    std::fs::write(stage.project().join("notes.md"), "mine").unwrap();
    for branch_rule in [BranchRule::Stay, BranchRule::New] {
        let outcome = stage.try_with(|request| request.branch_rule = branch_rule).unwrap();
        let SetUp::Refused(refusal) = outcome else { panic!("{outcome:?}") };
        assert_eq!((refusal.lines[1].as_str(), refusal.code), ("  untracked  notes.md", 2));
        assert_eq!(stage.git(&["branch", "--show-current"]), "main");
    }
    let ready = stage.ready(|request| {
        (request.branch_rule, request.dirty_tree) = (BranchRule::New, DirtyTree::Allowed);
    });
    let said = "**⚠ 1 file has uncommitted changes. The agents plan on them as they are.**";
    assert_eq!(lines(&ready.setup_notes), [said]);
    assert!(stage.project().join("notes.md").exists());
}

// P-57: what Convoke's own setup wrote refuses no design; a file that the user changed too does.
#[test]
fn files_of_the_setup_refuse_nothing() {
    let stage = Stage::shared("main");
    let root = stage.project().canonicalize().unwrap();
    std::fs::write(root.join("AGENTS.md"), "mine\n").unwrap();
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "--message", "rules"]);
    std::fs::create_dir(root.join(".claude")).unwrap();
    std::fs::write(root.join(".claude/settings.json"), "{}").unwrap();
    std::fs::write(root.join("AGENTS.md"), "mine\nConvoke's\n").unwrap();
    let own = |original: &str| {
        let file = |path: &str, original: Option<&str>| OwnFile {
            path: root.join(path),
            original: original.map(str::to_owned),
        };
        [file(".claude/settings.json", None), file("AGENTS.md", Some(original))]
    };
    let (whole, older) = (own("mine\n"), own("older\n"));
    let refused = |own: &[OwnFile]| {
        let outcome = stage.try_beside(own, |request| request.branch_rule = BranchRule::Stay);
        match outcome.unwrap() {
            SetUp::Refused(refusal) => Err(refusal.lines),
            SetUp::Ready(ready) => Ok(lines(&ready.setup_notes)),
            SetUp::Undecided { branch } => panic!("{branch}"),
        }
    };
    let note = "2 files of Convoke's setup are not committed; commit them when you like: \
                AGENTS.md, .claude/settings.json";
    assert_eq!(refused(&whole), Ok(vec![note.to_owned()]));
    let lines = refused(&older).unwrap_err();
    assert_eq!(lines[1], "  modified   AGENTS.md", "the user changed it before the setup");
    std::fs::write(root.join(".claude/mine.json"), "{}").unwrap();
    assert_eq!(refused(&whole).unwrap_err()[1], "  untracked  .claude/", "a file of the user's");
}
