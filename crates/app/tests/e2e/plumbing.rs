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
        words.extend(supplied.into_iter().flat_map(|answer| ["--branch-info-supplied", answer]));
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
fn an_entry_gate_reports_wrong_usage_on_stderr() {
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

// P-47, P-48, P-54, P-350: flags that Convoke has elsewhere are a script's own words here.
#[test]
fn a_scripts_words_are_not_convokes_options() {
    let project = Project::new();
    for (words, code, said) in [
        (&["entry-gate", "--json"][..], 4, "GATE_ERROR=unknown flag: --json"),
        (&["entry-gate", "-C", "/"], 4, "GATE_ERROR=unknown argument: -C"),
        (&["entry-gate", "--"], 4, "GATE_ERROR=unknown flag: --"),
        (&["preflight", "-v"], 3, "Unknown option: -v"),
        (&["dirty-tree", "--json"], 0, "REASON=unknown-flag"),
    ] {
        let outcome = project.run(&[&["plumbing"], words].concat());
        assert_eq!(outcome.code, Some(code), "{words:?}");
        assert!((outcome.stdout + &outcome.stderr).contains(said), "{words:?}");
    }
}

// P-45, P-350: a gate checks only its words, and a probe never stops the watched program.
#[cfg(unix)]
#[test]
fn neither_bytes_nor_a_lost_folder_keep_a_script_from_its_answer() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let project = Project::new();
    let gate = "entry-gate --mode design --is-main true --is-user-branch false --user-prefix a";
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let mut command = project.command(program, &["plumbing"]);
    command.args(gate.split(' ')).arg("--current-branch");
    let outcome = command.arg(OsStr::from_bytes(b"\xff")).output().unwrap();
    assert_eq!(outcome.status.code(), Some(0));
    assert_eq!(outcome.stdout, b"ENTRY_GATE=strict\nSKIP_BRANCH_CHECK=false\n");

    // The folder is gone before the program begins.
    let script = "mkdir x && cd x && rmdir ../x && exec \"$@\"";
    for (words, code, said) in [
        (&["dirty-tree", "--mode", "checkpoint"][..], 0, "REASON=git-status-failed"),
        (&["manifest-read"], 0, "ERROR=missing-implement-tmpdir"),
        (&["timing", "mark"], 0, ""),
    ] {
        let mut command = project.command("sh".as_ref(), &["-c", script, "sh"]);
        let outcome = command.arg(program).arg("plumbing").args(words).output().unwrap();
        assert_eq!(outcome.status.code(), Some(code), "{words:?}");
        assert!(String::from_utf8_lossy(&outcome.stdout).contains(said), "{words:?}");
    }
}
