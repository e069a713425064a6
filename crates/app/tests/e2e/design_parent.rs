//! A parent that is a shell script: a design, its manifest, its tasks, a prompt and a wake-up.

use std::fs;
use std::path::Path;

use crate::harness::Outcome;
use crate::panel::{FEATURE, Panel};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/parent.sh");
const FOLDER: &str = "docs/features/001-notes";

struct Parent {
    panel: Panel,
}

impl Parent {
    fn new() -> Self {
        let panel = Panel::new();
        let spec = panel.project.path(FOLDER).join("spec.md");
        fs::create_dir_all(spec.parent().unwrap()).unwrap();
        fs::write(spec, "# Spec\n\nNotes lie in a folder.\n").unwrap();
        panel.git(&["add", "."]);
        panel.git(&["commit", "--quiet", "-m", "spec"]);
        fs::create_dir(panel.project.path("../parent")).unwrap();
        Self { panel }
    }

    fn run(&self) -> Outcome {
        let folder = self.panel.project.path("..").canonicalize().unwrap().join("parent");
        let (folder, seats) = (folder.display().to_string(), self.panel.seats());
        let convoke = env!("CARGO_BIN_EXE_convoke");
        let arguments = [SCRIPT, convoke, &folder, FOLDER, &seats, FEATURE];
        let ended = self.panel.project.command(Path::new("/bin/sh"), &arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Outcome {
            code: ended.status.code(),
            stdout: text(ended.stdout),
            stderr: text(ended.stderr),
        }
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.panel.project.path("../parent").join(name)).unwrap()
    }
}

// P-19, P-53, P-344: nothing but lines, files and exit codes.
#[test]
fn a_script_gets_from_a_feature_to_a_wake_up() {
    let parent = Parent::new();
    let outcome = parent.run();
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (
            Some(0),
            "ENTRY_GATE=strict\nSKIP_BRANCH_CHECK=false\ndesigning: manifest-not-found\n\
             📥 1: design plan — manifest loaded (plan=plan.txt)\ntrue\n"
        ),
        "{outcome}"
    );
    assert!(parent.text("design.log").contains("1.3b: design plan | arch diagram — saved"));
    assert!(parent.text("task-1.md").contains("Task 1"), "{}", parent.text("task-1.md"));
    let wake = parent.text("wake.md");
    assert!(wake.contains("**File:** docs/features/001-notes/plan.md"), "{wake}");

    // The second time there is a design already.
    let again = parent.run();
    assert_eq!(again.code, Some(0), "{again}");
    assert!(!again.stdout.contains("designing"), "{again}");
}

// P-322, P-344: a parent sees that there is nothing for it, and why.
#[test]
fn a_script_learns_that_there_is_no_design() {
    let parent = Parent::new();
    fs::write(parent.panel.project.path("dirty.txt"), "x").unwrap();
    let outcome = parent.run();
    let line = "**⚠ 1: design plan — design manifest unavailable: manifest-not-found. Bailing to cleanup.**\n";
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(outcome.stdout.ends_with(&format!("design: exit 3\n{line}")), "{outcome}");
}
