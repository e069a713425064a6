//! A second try for what failed beside others.
//!
//! The tests start thousands of real programs on as few as two cores. What fails there once and passes
//! afterwards is worth mending, and the run says so; what fails twice fails the run.

use crate::{Error, say};

/// Runs a check, and once more if it fails.
pub fn run(name: &str, mut check: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let Err(first) = check() else { return Ok(()) };
    say(&format!("{name}: FAILED: {first}\n{name}: once more"));
    check()?;
    say(&format!("{name}: UNSTEADY: it passed the second time"));
    Ok(())
}

/// The tests of one target that failed.
#[derive(Debug, PartialEq, Eq)]
pub struct FailedTarget {
    /// The words that choose the target: `--lib`, or `--test` and a name.
    selection: Vec<String>,
    /// The names of the tests; empty for a target that does not list them.
    names: Vec<String>,
    /// What the target says that a second try must not hide.
    finding: Option<String>,
}

impl FailedTarget {
    /// Returns Cargo's words for the failed tests alone, from those of the run in which they failed.
    pub fn arguments<'a>(&'a self, run: &[&'a str]) -> Vec<&'a str> {
        let mut arguments = Vec::new();
        let mut words = run.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--lib" | "--bins" | "--tests" | "--doc" | "--no-fail-fast" => {}
                "--test" | "--bin" => drop(words.next()),
                word => arguments.push(word),
            }
        }
        arguments.extend(self.selection.iter().map(String::as_str));
        if !self.names.is_empty() {
            arguments.extend(["--", "--test-threads=1", "--exact"]);
            arguments.extend(self.names.iter().map(String::as_str));
        }
        arguments
    }

    /// Returns what the target says that a second try must not hide, such as an answer that was lost.
    pub fn finding(&self) -> Option<&str> {
        self.finding.as_deref()
    }

    /// Returns the names of the tests, or the words that choose their target.
    pub fn title(&self) -> String {
        let words = if self.names.is_empty() { &self.selection } else { &self.names };
        words.join(" ")
    }
}

/// Reads in the output of `cargo test` which tests failed.
#[derive(Debug, Default)]
pub struct FailureReader {
    line: Vec<u8>,
    is_list: bool,
    names: Vec<String>,
    finding: Option<String>,
    failed: Vec<FailedTarget>,
}

/// How a target's line begins about what no second try may hide.
const FINDING: &str = "no second try: ";

impl FailureReader {
    /// Reads the next piece of the output.
    pub fn read(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.read_line(String::from_utf8_lossy(&line).trim_end());
            }
        }
    }

    fn read_line(&mut self, line: &str) {
        let rerun = line.strip_prefix("error: test failed, to rerun pass `");
        if line == "failures:" {
            // The first of two lists has the tests' output, which may look like anything.
            self.is_list = true;
            self.names.clear();
        } else if line.starts_with("test result: ") {
            self.is_list = false;
        } else if let Some(words) = rerun.and_then(|rest| rest.strip_suffix('`')) {
            let names = std::mem::take(&mut self.names);
            let finding = self.finding.take();
            self.failed.push(FailedTarget { selection: selection(words), names, finding });
        } else if let Some(finding) = line.strip_prefix(FINDING).filter(|_| !self.is_list) {
            self.finding = Some(finding.to_owned());
        } else if let Some(name) = line.strip_prefix("    ").filter(|_| self.is_list) {
            self.names.push(name.to_owned());
        }
    }

    /// Returns the targets that had failed tests.
    pub fn finish(self) -> Vec<FailedTarget> {
        self.failed
    }
}

/// Returns the words that choose a target, without those that choose its package: with another choice
/// of packages, Cargo compiles the crates that they share anew.
fn selection(words: &str) -> Vec<String> {
    let mut words = words.split_whitespace();
    let mut chosen = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-p" | "--package" => drop(words.next()),
            word => chosen.push(word.to_owned()),
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str, size: usize) -> Vec<FailedTarget> {
        let mut reader = FailureReader::default();
        for piece in output.as_bytes().chunks(size) {
            reader.read(piece);
        }
        reader.finish()
    }

    const OUTPUT: &str = "running 2 tests\n.\nwake::late --- FAILED\n\nfailures:\n\n\
        ---- wake::late stdout ----\n    not a name\nfailures:\n    nor this\n\n\nfailures:\n    wake::late\n\
        \ntest result: FAILED. 1 passed; 1 failed\n\nerror: test failed, to rerun pass `-p convoke --test e2e`\n\
        running 1 test\n.\n    indented\ntest result: ok. 1 passed\n\
        a row of its own\nerror: test failed, to rerun pass `-p convoke --test chaos`\n\
        error: 2 targets failed:\n    `-p convoke --test e2e`\n    `-p convoke --test chaos`\n";

    #[test]
    fn the_second_try_runs_what_failed_and_nothing_else() {
        let run =
            ["test", "--workspace", "--exclude", "x", "--lib", "--test", "a", "--no-fail-fast"];
        for size in [1, 7, 10_000] {
            let failed = read(OUTPUT, size);
            let [e2e, chaos] = &failed[..] else { panic!("{failed:?}") };
            let words = e2e.arguments(&run).join(" ");
            let expected =
                "test --workspace --exclude x --test e2e -- --test-threads=1 --exact wake::late";
            assert_eq!(words, expected);
            assert_eq!(e2e.title(), "wake::late");
            assert_eq!(
                chaos.arguments(&run).join(" "),
                "test --workspace --exclude x --test chaos"
            );
        }
    }

    #[test]
    fn what_a_target_found_is_not_hidden_by_a_second_try() {
        let output = "a worker is frozen: 1 trials, 1 lanes, 0 lost, 0 doubled, 1 stale\n\
            no second try: a worker is frozen\n\nfailures:\n    a worker is frozen\n    disk, full\n\
            \ntest result: FAILED.\nerror: test failed, to rerun pass `-p convoke-fleet --test faults`\n\
            failures:\n    no second try: slow\n\ntest result: FAILED.\n\
            error: test failed, to rerun pass `-p convoke --test e2e`\n";
        let failed = read(output, 9);
        let [faults, e2e] = &failed[..] else { panic!("{failed:?}") };
        assert_eq!(faults.finding(), Some("a worker is frozen"));
        assert_eq!(faults.title(), "a worker is frozen disk, full");
        assert_eq!(e2e.finding(), None, "the name of a test says nothing");
    }

    #[test]
    fn what_does_not_compile_is_not_tried_again() {
        assert_eq!(read("error: could not compile `convoke`\n", 5), []);
    }

    #[test]
    fn a_check_that_fails_twice_fails() {
        let mut tries = 0;
        let mut fail_until = |last: u32| {
            tries = 0;
            let result = run("a check", || {
                tries += 1;
                if tries < last { Err("no".into()) } else { Ok(()) }
            });
            (result.is_ok(), tries)
        };
        assert_eq!(fail_until(1), (true, 1));
        assert_eq!(fail_until(2), (true, 2));
        assert_eq!(fail_until(3), (false, 2));
    }
}
