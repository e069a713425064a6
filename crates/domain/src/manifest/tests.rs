//! The meaning of a manifest's lines, and which lines are refused.

use proptest::prelude::*;

use super::*;

const WHOLE: &str = "\
MANIFEST_VERSION=1
PLAN_FILE=/p/design-export/plan.txt
PLAN_REVIEW_TALLY_FILE=/p/design-export/voting-tally.md
CONTESTED_CRITERIA_FILE=/p/design-export/contested-decisions.md
OOS_FILE=/p/design-export/oos.md
REJECTED_FINDINGS_FILE=/p/design-export/rejected-findings.md
ACCEPTED_PLAN_FINDINGS_FILE=/p/design-export/accepted-plan-findings.md
ARCHITECTURE_DIAGRAM_FILE=/p/design-export/architecture-diagram.md
TIMESTAMP=2026-05-01T09:30:00Z
SESSION_ID=7c0e4c9e-0000-4000-8000-000000000001
";

fn token(bytes: impl AsRef<[u8]>) -> String {
    Manifest::parse(bytes.as_ref()).map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}

// P-330, P-331
#[test]
fn a_manifest_has_these_lines_in_this_order() {
    let whole = Manifest::of_folder(
        "/p/design-export",
        &ManifestArtifact::ALL,
        "2026-05-01T09:30:00Z",
        "7c0e4c9e-0000-4000-8000-000000000001",
    );
    assert_eq!(whole.as_ref().unwrap().text(), WHOLE);
    assert_eq!(Manifest::parse(WHOLE.as_bytes()), Ok(whole.unwrap()));
    let bare = Manifest::of_folder("/p", &ManifestArtifact::ALL[..6], "t", "s").unwrap();
    assert!(!bare.text().contains("ARCHITECTURE_DIAGRAM_FILE"));
    assert_eq!(token(bare.text()), "ok");
}

#[test]
fn a_folder_cannot_bring_lines_of_its_own() {
    for folder in ["/p\nPLAN_FILE=/etc/passwd", "/p\r", "/p\u{1}", "p", ""] {
        let made = Manifest::of_folder(folder, &ManifestArtifact::ALL, "t", "s");
        assert_eq!(made, Err(Unspeakable), "{folder:?}");
    }
}

// P-338, P-339
#[test]
fn an_accepted_manifest_is_printed_with_its_verdict_first() {
    let manifest = Manifest::parse(WHOLE.as_bytes()).unwrap();
    let expected = WHOLE.replace("MANIFEST_VERSION=1\n", "MANIFEST_OK=true\n");
    assert_eq!(manifest.accepted(), expected);
    let last = "📥 1: design plan — manifest loaded (plan=plan.txt)\n";
    assert_eq!(manifest.breadcrumb(), last);
    assert!(!last.contains("PLAN_FILE="));
}

// P-337
#[test]
fn a_refusal_is_two_lines() {
    assert_eq!(Rejection::Link.refused(), "MANIFEST_FAILED=true\nERROR=symlink-rejected\n");
}

// P-340, T-6, T-10, T-13, T-15
#[test]
fn every_line_is_checked_before_anything_is_believed() {
    for (added, expected) in [
        ("\n", "malformed-line"),
        ("word\n", "malformed-line"),
        ("bad-key=value\n", "invalid-key"),
        ("=value\n", "invalid-key"),
        ("1A=value\n", "invalid-key"),
        (" A=value\n", "invalid-key"),
        ("A =value\n", "invalid-key"),
        ("PLAN_FILE\r=value\n", "invalid-key"),
        ("A=\u{1}\n", "control-char"),
        ("A=\t\n", "control-char"),
        ("A=\r\n", "control-char"),
        ("A=\u{1f}\n", "control-char"),
        ("A=\u{7f}\n", "control-char"),
        // The value is checked before the key is compared.
        ("SESSION_ID=a\u{1}b\n", "control-char"),
        ("PLAN_FILE=/etc/passwd\n", "duplicate-key:PLAN_FILE"),
        ("SESSION_ID=\n", "duplicate-key:SESSION_ID"),
        ("MANIFEST_VERSION=1\n", "duplicate-key:MANIFEST_VERSION"),
    ] {
        assert_eq!(token(format!("{WHOLE}{added}")), expected, "{added:?}");
        // The first invalid line decides.
        assert_eq!(token(format!("{WHOLE}{added}bad-key=1\n")), expected, "{added:?}");
    }
    assert_eq!(token(WHOLE.trim_end()), "ok");
    assert_eq!(token(""), "manifest-not-found");
    assert_eq!(token("\n"), "malformed-line");
}

// P-343
#[test]
fn what_a_shell_would_not_see_is_refused() {
    assert_eq!(token(format!("{WHOLE}A=\0\n")), "control-char");
    assert_eq!(token(format!("{WHOLE}\0A=b\n")), "control-char");
    assert_eq!(token(WHOLE.replace("SESSION_ID=7", "SESSION_ID=\x007")), "control-char");
    assert_eq!(token([WHOLE.as_bytes(), b"A=\xff\n"].concat()), "malformed-line");
}

// P-341, T-7
#[test]
fn unknown_keys_do_nothing() {
    for added in
        ["INJECT=$(echo sourced)\n", "A=`rm -rf /`; x=\"y\n", "A=1\nA=2\n", "A=\n", "A==\n"]
    {
        let read = Manifest::parse(format!("{WHOLE}{added}").as_bytes());
        assert_eq!(read, Manifest::parse(WHOLE.as_bytes()), "{added:?}");
    }
}

// P-340
#[test]
fn missing_keys_are_named_in_order() {
    assert_eq!(token(WHOLE.replace("VERSION=1", "VERSION=2")), "unsupported-version");
    assert_eq!(token("A=b\n"), "unsupported-version");
    let mut rest = "MANIFEST_VERSION=1\n".to_owned();
    let expected = [
        "missing-plan-file",
        "missing-plan-review-tally-file",
        "missing-contested-criteria-file",
        "missing-oos-file",
        "missing-rejected-findings-file",
        "missing-accepted-plan-findings-file",
        "missing-timestamp",
        "missing-timestamp",
        "missing-session-id",
        "ok",
    ];
    for (line, expected) in WHOLE.lines().skip(1).zip(expected) {
        assert_eq!(token(&rest), expected);
        let (key, _) = line.split_once('=').unwrap();
        // No value is as good as no line.
        assert_eq!(token(format!("{rest}{key}=\n")), expected);
        rest = format!("{rest}{line}\n");
    }
    assert_eq!(token(rest), "ok");
}

#[test]
fn a_manifest_has_its_limits() {
    let lines = |count| format!("{WHOLE}{}", "A=b\n".repeat(count));
    assert_eq!(token(lines(MAX_LINES - 10)), "ok");
    assert_eq!(token(lines(MAX_LINES - 9)), "manifest-too-large");
    let room = usize::try_from(MAX_BYTES).unwrap() - WHOLE.len() - "A=\n".len();
    assert_eq!(token(format!("{WHOLE}A={}\n", "b".repeat(room))), "ok");
    assert_eq!(token(format!("{WHOLE}A={}\n", "b".repeat(room + 1))), "manifest-too-large");
}

// P-332
#[test]
fn a_session_is_called_by_the_first_name_that_is_there() {
    assert_eq!(session_id(Some("a"), Some("b"), "c").as_deref(), Some("a"));
    assert_eq!(session_id(Some(""), Some("b\r\n"), "c").as_deref(), Some("b"));
    assert_eq!(session_id(None, Some("\r\n"), "c").as_deref(), Some("c"));
    assert_eq!(session_id(None, None, "c\u{7f}\0\td").as_deref(), Some("cd"));
    assert_eq!(session_id(Some("a\nPLAN_FILE=b"), None, "c").as_deref(), Some("aPLAN_FILE=b"));
    assert_eq!(session_id(Some("\u{1}"), Some("b"), "c"), None);
    assert_eq!(session_id(None, None, ""), None);
}

proptest! {
    // An accepted manifest has exactly the values of its lines.
    #[test]
    fn nothing_is_accepted_that_is_not_there(
        lines in prop::collection::vec("(MANIFEST_VERSION=1|[A-Z_]{1,9}=[a-z/]{0,5}|\\PC{0,9}|=|)", 0..12),
        at in 0_usize..12,
        byte in any::<u8>(),
    ) {
        let mut all: Vec<_> = WHOLE.lines().map(str::to_owned).collect();
        all.splice(at.min(all.len())..at.min(all.len()), lines);
        let mut bytes = all.join("\n").into_bytes();
        let at = (at * 37) % bytes.len();
        bytes[at] = byte;
        if let Ok(manifest) = Manifest::parse(&bytes) {
            let text = String::from_utf8(bytes).unwrap();
            for line in manifest.text().lines() {
                prop_assert_eq!(text.split('\n').filter(|other| *other == line).count(), 1, "{}", line);
            }
            prop_assert!(!text.trim_end_matches('\n').chars().any(|c| c.is_ascii_control() && c != '\n'));
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Manifest::parse(&bytes).is_err());
    }

    // A writer never writes what a reader refuses.
    #[test]
    fn a_written_manifest_can_be_read(folder in "/[^/\0]{0,20}", said in "\\PC{0,9}|[\0-\x7f]{0,9}", name in ".*") {
        let id = session_id(Some(&said), None, &name);
        if let (Some(id), Ok(manifest)) = (&id, Manifest::of_folder(&folder, &ManifestArtifact::ALL, "t", id.as_deref().unwrap_or("x"))) {
            prop_assert_eq!(Manifest::parse(manifest.text().as_bytes()).map(|manifest| manifest.session_id), Ok(id.clone()));
        }
    }
}
