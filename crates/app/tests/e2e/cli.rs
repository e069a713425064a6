//! The common behaviour of all commands.

use std::io::Read;

use insta::assert_snapshot;

use crate::harness::Project;

#[test]
fn the_version_is_the_packages() {
    let outcome = Project::new().run(&["--version"]);
    let expected =
        format!("exit: 0\n--- stdout\nconvoke {}\n--- stderr\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(outcome.to_string(), expected);
}

// A program at a fixed address is easier to attack, and some systems refuse to start it.
#[cfg(target_os = "linux")]
#[test]
fn the_program_is_position_independent() {
    /// The place of the kind of file in an ELF header, and the kind of what can be anywhere.
    const KIND: (std::ops::Range<usize>, [u8; 2]) = (16..18, 3_u16.to_ne_bytes());
    let mut header = [0; 64];
    let mut program = std::fs::File::open(env!("CARGO_BIN_EXE_convoke")).unwrap();
    program.read_exact(&mut header).unwrap();
    assert_eq!(&header[..4], b"\x7fELF");
    assert_eq!(header[KIND.0], KIND.1);
}

#[test]
fn wrong_usage_is_exit_2_and_lists_the_known_words() {
    let project = Project::new();
    assert_snapshot!(project.run(&["breif"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: unrecognized subcommand 'breif'

      tip: some similar subcommands exist: 'verify', 'brief'

    Usage: convoke [OPTIONS] <COMMAND>

    For more information, try '--help'.
    hint: `convoke help --all` lists all commands
    ");
    assert_snapshot!(project.run(&["brief", "--policy", "fill", "init"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use `--policy` with a subcommand
    ");
    for arguments in [
        &["brief", "--policy", "none"][..],
        &["brief", "--tokenizer", "claude"],
        &["brief", "--dir", ""],
        &["brief", "--dir", "a\nb"],
        &["brief", "rest", "spec"],
        &[],
    ] {
        let outcome = project.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let project = Project::with_documents(&[("spec", "text")]).design_yaml("{}");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let output = project.command(program, &["brief"]).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(said, "error: cannot write output\ncause: No space left on device (os error 28)\n");
}

#[test]
fn a_project_that_is_not_there_is_wrong_usage() {
    let project = Project::new().file("file", "");
    assert_snapshot!(project.run(&["brief", "--project", "nowhere"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use project `nowhere`
    cause: No such file or directory (os error 2)
    hint: name the project's root folder with `--project`
    ");
    assert_eq!(project.run(&["-C", "file", "brief"]).code, Some(2));
}

#[test]
fn the_project_is_found_from_a_folder_inside_it() {
    let project = Project::with_documents(&[("spec", "found")]).file("src/deep/x", "");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let mut command = project.command(program, &["brief"]);
    let output = command.current_dir(project.path("src/deep")).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("found\n"));
}

#[test]
fn nothing_is_colored_without_a_terminal() {
    let project = Project::new().variable("TERM", "xterm-256color").variable("NO_COLOR", "1");
    for arguments in [&["--help"][..], &["brief", "--help"], &["brief", "rest", "x", "--from", "0"]]
    {
        let outcome = project.run(arguments);
        assert!(!outcome.to_string().contains('\u{1b}'), "{outcome}");
    }
}

// A terminal obeys such characters, and a reader does not see them.
#[test]
fn an_error_repeats_no_hidden_character_of_an_argument() {
    let project = Project::new();
    for hidden in ['\u{202e}', '\u{200b}', '\u{1b}'] {
        for words in [
            vec![format!("ta{hidden}sk")],
            vec!["task".to_owned(), "show".to_owned(), format!("x{hidden}y")],
            vec!["task".to_owned(), "list".to_owned(), format!("--bog{hidden}us")],
        ] {
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let refused = project.run(&words);
            assert_eq!(refused.code, Some(2), "{words:?}: {refused}");
            assert!(refused.stderr.starts_with("error: "), "{refused}");
            assert!(!refused.stderr.contains(hidden), "{words:?}: {refused}");
        }
    }
}

// The type of an ELF file is in its bytes 16 and 17: 3 is a program for any address, 2 for one.
#[test]
#[cfg(target_os = "linux")]
fn every_program_can_be_loaded_at_any_address() {
    for program in [
        env!("CARGO_BIN_EXE_convoke"),
        env!("CARGO_BIN_EXE_convoke-guard"),
        env!("CARGO_BIN_EXE_convoke-mcp"),
        env!("CARGO_BIN_EXE_convoke-web"),
    ] {
        let mut header = [0; 18];
        std::fs::File::open(program).unwrap().read_exact(&mut header).unwrap();
        assert_eq!((&header[..4], &header[16..]), (&b"\x7fELF"[..], &[3, 0][..]), "{program}");
    }
}
