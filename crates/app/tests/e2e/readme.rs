//! What the README shows is what the program prints.

use std::path::Path;

use crate::harness::Project;

const README: &str = include_str!("../../../../README.md");

#[test]
fn the_shown_output_is_the_real_output() {
    let shown = README.split("````console\n").nth(1).unwrap().split("````\n").next().unwrap();
    let mut runs = 0;
    for run in shown.split("$ convoke ").skip(1) {
        let (line, expected) = run.split_once('\n').unwrap();
        let arguments: Vec<_> = line.split(' ').collect();
        let program = Path::new(env!("CARGO_BIN_EXE_convoke"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let project = Project::new();
        let output = project.command(program, &arguments).current_dir(root).output().unwrap();
        let printed = [output.stderr, output.stdout].concat();
        let printed = String::from_utf8(printed).unwrap();
        assert_eq!(printed.trim_end(), expected.trim_end(), "convoke {line}");
        runs += 1;
    }
    assert_eq!(runs, 2);
}
