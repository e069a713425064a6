//! `convoke plumbing`: the lines and exit codes that scripts of the original workflow read.

use crate::harness::Project;

// P-45, P-46, P-49, P-50, P-51, P-52, T-16
#[test]
fn the_entry_gate_says_two_lines() {
    let project = Project::new();
    for (mode, branch, main, user, supplied, gate) in [
        ("implement", "main", "true", "false", None, "strict"),
        ("implement", "ann/x", "false", "true", None, "continue"),
        ("implement", "other", "false", "false", None, "strict"),
        ("implement", "", "true", "false", None, "strict"),
        ("design", "ann/x", "false", "true", None, "continue"),
        ("design", "main", "true", "false", Some("true"), "continue"),
        ("design", "main", "true", "false", None, "strict"),
        ("design", "other", "false", "false", Some("false"), "strict"),
        ("design", "", "true", "false", Some("true"), "continue"),
    ] {
        let mut words = vec!["plumbing", "entry-gate", "--mode", mode, "--current-branch", branch];
        words.extend(["--is-main", main, "--is-user-branch", user, "--user-prefix", "ann"]);
        words.extend(supplied.into_iter().flat_map(|it| ["--branch-info-supplied", it]));
        let skip = gate == "continue";
        let outcome = project.run(&words);
        assert_eq!(
            (outcome.code, outcome.stdout, outcome.stderr.as_str()),
            (Some(0), format!("ENTRY_GATE={gate}\nSKIP_BRANCH_CHECK={skip}\n"), ""),
            "{words:?}"
        );
    }
}

// P-47, P-48, T-17
#[test]
fn an_entry_gate_that_is_asked_wrongly_says_so_on_stderr() {
    let project = Project::new();
    let right = [
        ("--mode", Some("design")),
        ("--current-branch", Some("main")),
        ("--is-main", Some("true")),
        ("--is-user-branch", Some("false")),
        ("--user-prefix", Some("ann")),
    ];
    let (implement, given) = (Some("implement"), "--branch-info-supplied");
    let not_there = "--branch-info-supplied not allowed for mode=implement";
    for (flag, value, more, error) in [
        ("--mode", Some("fix"), &[][..], "invalid mode: fix"),
        ("--mode", None, &[], "missing required flag --mode"),
        ("--mode", None, &["--mode"], "missing value for --mode"),
        ("--is-main", Some("maybe"), &[], "invalid value for --is-main: maybe"),
        ("--is-user-branch", Some(""), &[], "invalid value for --is-user-branch: "),
        ("--is-main", None, &["--is-main"], "missing value for --is-main"),
        ("--current-branch", None, &[], "missing required flag --current-branch"),
        ("--user-prefix", Some(""), &[], "--user-prefix must be non-empty"),
        ("--user-prefix", None, &[], "missing required flag --user-prefix"),
        ("--mode", implement, &[given, "true"], not_there),
        ("--mode", implement, &[given, "false"], not_there),
        ("--mode", Some("design"), &["--help"], "unknown flag: --help"),
    ] {
        let mut words = vec!["plumbing", "entry-gate"];
        for (name, usual) in right {
            let value = if name == flag { value } else { usual };
            words.extend(value.into_iter().flat_map(|value| [name, value]));
        }
        words.extend(more);
        let outcome = project.run(&words);
        assert_eq!(
            (outcome.code, outcome.stdout.as_str(), outcome.stderr),
            (Some(4), "", format!("GATE_ERROR={error}\n")),
            "{words:?}"
        );
    }
}

#[test]
fn plumbing_has_lines_and_no_json() {
    let outcome = Project::new().run(&["--json", "plumbing", "entry-gate"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
}
