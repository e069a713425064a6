//! The command line of a guardian, and the program that parses it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the small program, beside Convoke's own.
pub const SMALL_PROGRAM: &str = "convoke-guard";

/// Identifies this build's guardian: other builds may use other words or behave differently.
const BUILD: u64 =
    fingerprint(include_str!("guard_command.rs"), fingerprint(include_str!("lib.rs"), 0));

/// A client to supervise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardCommand {
    /// The client's program.
    pub program: PathBuf,
    /// The client's arguments.
    pub arguments: Vec<OsString>,
    /// The file for the client's stdin; without it, stdin is empty.
    pub stdin: Option<PathBuf>,
    /// How long the client may take to stop after the request; rounded down to milliseconds.
    pub grace: Duration,
    /// The file for the client's end, in the lane's own folder.
    pub report: PathBuf,
    /// The process that wants to know, and that removes that folder.
    pub owner: u32,
}

/// Returns the program that is to guard a client, and its arguments.
///
/// That is the small one beside Convoke's own program, or without it Convoke itself.
pub fn guardian(convoke: &Path, guarded: &GuardCommand) -> (PathBuf, Vec<OsString>) {
    let small = convoke.with_file_name(SMALL_PROGRAM);
    if is_program(&small) {
        let build = format!("{BUILD:x}").into();
        let known = ["--build".into(), build, "--convoke".into(), convoke.into()];
        return (small, known.into_iter().chain(guarded.words()).collect());
    }
    (convoke.to_owned(), std::iter::once("guard".into()).chain(guarded.words()).collect())
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Parses the small program's command line. If a Convoke of another build started it, this process
/// executes that Convoke instead, because only it knows what its words mean; then this does not
/// return.
pub fn hand_over(arguments: &[OsString]) -> io::Result<Option<GuardCommand>> {
    let [build, number, convoke, path, words @ ..] = arguments else { return Ok(None) };
    if build != "--build" || convoke != "--convoke" {
        return Ok(None);
    }
    if number.to_str() == Some(format!("{BUILD:x}").as_str()) {
        return Ok(GuardCommand::parse(words));
    }
    Err(super::command(Path::new(path)).arg("guard").args(words).exec())
}

impl GuardCommand {
    /// Writes the words that [`GuardCommand::parse`] reads.
    fn words(&self) -> impl Iterator<Item = OsString> {
        let option = |name: &str, value: &OsStr| [name.into(), value.to_owned()];
        let numbers = [("--owner", self.owner.to_string()), ("--grace-ms", self.grace_ms())];
        let feed = self.stdin.iter().flat_map(move |path| option("--feed", path.as_os_str()));
        option("--report", self.report.as_os_str())
            .into_iter()
            .chain(numbers.into_iter().flat_map(|(name, number)| [name.into(), number.into()]))
            .chain(feed)
            .chain(["--".into(), self.program.clone().into()])
            .chain(self.arguments.iter().cloned())
    }

    fn grace_ms(&self) -> String {
        u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX).to_string()
    }

    /// Reads a guardian's words; `None` if one is missing, unknown or wrong.
    pub fn parse(words: &[OsString]) -> Option<Self> {
        let mut words = words.iter();
        let (mut report, mut owner, mut grace, mut stdin) = (None, None, None, None);
        loop {
            match words.next()?.to_str()? {
                "--" => break,
                "--report" => report = words.next().map(PathBuf::from),
                "--feed" => stdin = Some(words.next().map(PathBuf::from)?),
                "--owner" => owner = words.next()?.to_str()?.parse().ok(),
                "--grace-ms" => grace = words.next()?.to_str()?.parse().ok(),
                _ => return None,
            }
        }
        let program = words.next().map(PathBuf::from)?;
        Some(Self {
            program,
            arguments: words.cloned().collect(),
            stdin,
            grace: Duration::from_millis(grace?),
            report: report?,
            owner: owner?,
        })
    }
}

/// FNV-1a, which a constant can be computed with.
const fn fingerprint(text: &str, before: u64) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = before ^ 0xcbf2_9ce4_8422_2325;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn words_that_are_not_a_guardians_are_refused() {
        let guarded =
            GuardCommand::parse(&words("--report r --owner 7 --grace-ms 10 -- client --flag"));
        let guarded = guarded.unwrap();
        assert_eq!((guarded.owner, guarded.arguments), (7, words("--flag")));
        for wrong in [
            "",
            "--help",
            "--report r --owner 7 --grace-ms 10",
            "--report r --owner 7 --grace-ms 10 --",
            "--report r --owner 7 -- client",
            "--report r --owner me --grace-ms 10 -- client",
            "--report r --owner 7 --grace-ms -1 -- client",
            "--report r --owner 7 --grace-ms 10 --feed",
            "--report r --owner 7 --grace-ms 10 --more x -- client",
        ] {
            assert_eq!(GuardCommand::parse(&words(wrong)), None, "{wrong}");
        }
    }

    #[test]
    fn the_small_program_is_preferred_if_it_is_there_and_can_be_started() {
        let folder = tempfile::tempdir().unwrap();
        let convoke = folder.path().join("convoke");
        let guarded =
            GuardCommand::parse(&words("--report r --owner 7 --grace-ms 10 -- client")).unwrap();
        let chosen = || guardian(&convoke, &guarded);
        assert_eq!(chosen().0, convoke);
        assert_eq!(chosen().1[0], "guard");
        assert_eq!(GuardCommand::parse(&chosen().1[1..]), Some(guarded.clone()));
        let small = folder.path().join(SMALL_PROGRAM);
        std::fs::write(&small, "").unwrap();
        assert_eq!(chosen().0, convoke, "it cannot be started");
        std::fs::set_permissions(&small, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(chosen().0, small);
        assert_eq!(hand_over(&chosen().1).unwrap(), Some(guarded.clone()));
    }

    #[test]
    fn words_of_another_build_go_to_its_convoke() {
        let line = "--build 0 --convoke /nowhere/convoke --report r -- client";
        let error = hand_over(&words(line)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "it was to be started");
        assert_eq!(hand_over(&words("--report r -- client")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn a_written_command_line_is_read(
            bytes in proptest::collection::vec(proptest::collection::vec(1_u8.., 0..9), 3..8),
            grace in any::<u32>(),
            owner in any::<u32>(),
            has_stdin in any::<bool>(),
        ) {
            let mut words = bytes.into_iter().map(OsString::from_vec);
            let mut path = || PathBuf::from(words.next().unwrap_or_default());
            let (program, report, stdin) = (path(), path(), path());
            let guarded = GuardCommand {
                program,
                report,
                stdin: has_stdin.then_some(stdin),
                arguments: words.collect(),
                grace: Duration::from_millis(grace.into()),
                owner,
            };
            let words: Vec<_> = guarded.words().collect();
            prop_assert_eq!(GuardCommand::parse(&words), Some(guarded));
        }
    }
}
