//! A note on a tree, in lines of `KEY=value` that a shell can read, and the parser of requests for
//! one.

use super::{DirtyReason, TreeStatus};

/// The kind of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeMode {
    /// Against a list of the files that were new before.
    Baseline,
    /// Against the commit.
    Checkpoint,
}

impl TreeMode {
    /// Returns the word that is typed and written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Checkpoint => "checkpoint",
        }
    }

    /// Returns the way called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Baseline, Self::Checkpoint].into_iter().find(|mode| mode.name() == name)
    }
}

/// A request for a snapshot of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRequest {
    /// The kind of comparison.
    pub mode: TreeMode,
    /// The list of files that were new before.
    pub baseline: Option<String>,
    /// The path of the note.
    pub sidecar: Option<String>,
}

impl TreeRequest {
    /// Reads the words of a request. The note reports an invalid request, because a failing probe
    /// must not stop the watched program.
    pub fn parse(words: &[String]) -> Result<Self, DirtyReason> {
        let (mut mode, mut baseline, mut sidecar) = (None, None, None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, given) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let (place, missing) = match name {
                "--mode" => (&mut mode, DirtyReason::ModeMissingValue),
                "--baseline" => (&mut baseline, DirtyReason::BaselineMissingValue),
                "--sidecar" => (&mut sidecar, DirtyReason::SidecarMissingValue),
                _ => return Err(DirtyReason::UnknownFlag),
            };
            let next = || words.next().filter(|next| !next.starts_with("--")).cloned();
            let value = given.or_else(next).filter(|value| !value.is_empty());
            *place = Some(value.ok_or(missing)?);
        }
        let mode =
            TreeMode::parse(&mode.ok_or(DirtyReason::ModeMissing)?).ok_or(DirtyReason::BadMode)?;
        match (mode, &baseline, &sidecar) {
            (TreeMode::Baseline, None, _) => Err(DirtyReason::BaselineRequired),
            (_, Some(path), _) if !is_one_line(path) => Err(DirtyReason::BadBaselinePath),
            (_, _, Some(path)) if !is_one_line(path) => Err(DirtyReason::BadSidecarPath),
            _ => Ok(Self { mode, baseline, sidecar }),
        }
    }
}

/// A value of a line must not begin another line.
fn is_one_line(path: &str) -> bool {
    !path.contains(char::is_control)
}

/// A note on the state of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNote {
    /// The tree's state.
    pub status: TreeStatus,
    /// The kind of comparison, if the request named one.
    pub mode: Option<TreeMode>,
    /// Whether the list of files that were new before existed, if the comparison needs one.
    pub has_baseline: Option<bool>,
    /// The list of files that git knows and that changed.
    pub tracked: Option<String>,
    /// The list of files that are new.
    pub new_untracked: Option<String>,
    /// Why it is not clean.
    pub reason: Option<DirtyReason>,
}

impl TreeNote {
    /// A note that says only that nothing is known.
    pub const fn unknown(mode: Option<TreeMode>, reason: Option<DirtyReason>) -> Self {
        let status = TreeStatus::Unknown;
        Self { status, mode, has_baseline: None, tracked: None, new_untracked: None, reason }
    }

    /// Returns the note's lines.
    pub fn text(&self) -> String {
        let baseline =
            self.has_baseline.map(|is_there| if is_there { "present" } else { "missing" });
        let lines = [
            ("STATUS", Some(self.status.name())),
            ("MODE", Some(self.mode.map_or("", TreeMode::name))),
            ("UNTRACKED_BASELINE", baseline),
            ("TRACKED_PATHS_FILE", self.tracked.as_deref()),
            ("NEW_UNTRACKED_PATHS_FILE", self.new_untracked.as_deref()),
            ("REASON", self.reason.map(DirtyReason::name)),
        ];
        let lines = lines.into_iter().filter_map(|(key, value)| Some((key, value?)));
        lines.map(|(key, value)| format!("{key}={value}\n")).collect::<Vec<_>>().concat()
    }

    /// Parses a note. A missing, empty or invalid note means that the state is unknown.
    pub fn parse(text: &str) -> Self {
        read(text).unwrap_or(Self::unknown(None, None))
    }
}

fn read(text: &str) -> Option<TreeNote> {
    let mut values = [None; 6];
    let keys = [
        "STATUS",
        "MODE",
        "UNTRACKED_BASELINE",
        "TRACKED_PATHS_FILE",
        "NEW_UNTRACKED_PATHS_FILE",
        "REASON",
    ];
    for line in text.strip_suffix('\n')?.split('\n') {
        let (key, value) = line.split_once('=')?;
        let place = &mut values[keys.iter().position(|known| *known == key)?];
        if place.replace(value).is_some() {
            return None;
        }
    }
    let [status, mode, baseline, tracked, new_untracked, reason] = values;
    let note = TreeNote {
        status: TreeStatus::parse(status?)?,
        mode: match mode? {
            "" => None,
            name => Some(TreeMode::parse(name)?),
        },
        has_baseline: match baseline {
            None => None,
            Some("present") => Some(true),
            Some("missing") => Some(false),
            Some(_) => return None,
        },
        tracked: tracked.map(str::to_owned),
        new_untracked: new_untracked.map(str::to_owned),
        reason: reason.map(DirtyReason::parse).unwrap_or_default(),
    };
    // A note that claims a clean tree and gives a reason contradicts itself.
    let says_more = reason.is_some() || tracked.is_some() || new_untracked.is_some();
    (note.status != TreeStatus::Clean || !says_more && note.mode.is_some()).then_some(note)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(words: &str) -> Result<TreeRequest, DirtyReason> {
        let words: Vec<_> =
            words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        TreeRequest::parse(&words)
    }

    // P-350, P-352: every mistake has its own token.
    #[test]
    fn a_wrong_request_gives_the_reason() {
        for (words, reason) in [
            ("", DirtyReason::ModeMissing),
            ("--mode", DirtyReason::ModeMissingValue),
            ("--mode --sidecar s", DirtyReason::ModeMissingValue),
            ("--mode sometimes", DirtyReason::BadMode),
            ("--mode checkpoint --sidecar", DirtyReason::SidecarMissingValue),
            ("--mode baseline", DirtyReason::BaselineRequired),
            ("--mode baseline --baseline", DirtyReason::BaselineMissingValue),
            ("--mode baseline --baseline a\nb", DirtyReason::BadBaselinePath),
            ("--mode checkpoint --sidecar a\nSTATUS=clean", DirtyReason::BadSidecarPath),
            ("--mode checkpoint --fix", DirtyReason::UnknownFlag),
            ("checkpoint", DirtyReason::UnknownFlag),
        ] {
            assert_eq!(parsed(words), Err(reason), "{words:?}");
        }
        let expected = TreeRequest {
            mode: TreeMode::Baseline,
            baseline: Some("b".to_owned()),
            sidecar: Some("s".to_owned()),
        };
        assert_eq!(parsed("--mode baseline --baseline=b --sidecar s"), Ok(expected));
    }

    // P-351: these keys, in this order.
    #[test]
    fn a_note_has_its_lines_in_order() {
        let note = TreeNote {
            status: TreeStatus::Dirty,
            mode: Some(TreeMode::Baseline),
            has_baseline: Some(true),
            tracked: Some("t".to_owned()),
            new_untracked: Some("n".to_owned()),
            reason: Some(DirtyReason::WorkingTreeDirty),
        };
        assert_eq!(
            note.text(),
            "STATUS=dirty\nMODE=baseline\nUNTRACKED_BASELINE=present\nTRACKED_PATHS_FILE=t\n\
             NEW_UNTRACKED_PATHS_FILE=n\nREASON=working-tree-dirty\n"
        );
        assert_eq!(TreeNote::parse(&note.text()), note);
    }

    // P-346: only a whole note that calls a tree clean makes it clean.
    #[test]
    fn an_invalid_note_is_unknown() {
        for text in [
            "",
            "\n",
            "STATUS=clean",
            "STATUS=clean\n",
            "STATUS=cle",
            "STATUS=clean\nMODE=checkpoint",
            "STATUS=CLEAN\nMODE=checkpoint\n",
            "STATUS=clean\nMODE=\n",
            "STATUS=clean\nSTATUS=clean\nMODE=checkpoint\n",
            "STATUS=clean\nMODE=checkpoint\nREASON=checkpoint-dirty\n",
            "STATUS=clean\nMODE=checkpoint\nREASON=anything\n",
            "STATUS=clean\nMODE=checkpoint\n\0\n",
        ] {
            assert_eq!(TreeNote::parse(text).status, TreeStatus::Unknown, "{text:?}");
        }
        assert_eq!(TreeNote::parse("STATUS=clean\nMODE=checkpoint\n").status, TreeStatus::Clean);
        let odd = TreeNote::parse("STATUS=dirty\nMODE=checkpoint\nREASON=of-a-later-version\n");
        assert_eq!((odd.status, odd.reason), (TreeStatus::Dirty, None));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s).{0,60}", words in prop::collection::vec(".{0,12}", 0..6)) {
            prop_assert_ne!(TreeNote::parse(&text).status, TreeStatus::Clean);
            prop_assert!(TreeRequest::parse(&words).is_err());
        }

        // A note cut at any place never looks better than the complete one.
        #[test]
        fn half_a_note_is_not_clean(at in 0_usize..29) {
            let whole = "STATUS=clean\nMODE=checkpoint\n";
            prop_assert_ne!(TreeNote::parse(&whole[..at]).status, TreeStatus::Clean);
        }
    }
}
