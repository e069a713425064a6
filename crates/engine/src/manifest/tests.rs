//! Bundles that others have changed, ten thousand of them, and bundles that change meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use convoke_domain::manifest::{EXPORT_DIR, MANIFEST_FILE, ManifestArtifact};
use jiff::Timestamp;

use super::read::{Bundle, read};
use super::write::{ArtifactSource, BundleOrder, WriteError, write};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

fn design(top: &Path, text: &str) -> PathBuf {
    let folder = top.join(text);
    fs::create_dir_all(&folder).unwrap();
    for artifact in ManifestArtifact::ALL {
        fs::write(folder.join(artifact.file()), format!("{text} {}", artifact.file())).unwrap();
    }
    folder
}

fn export(from: &Path, parent: &Path) -> Result<PathBuf, WriteError> {
    let source = ArtifactSource::Folder(from);
    write(&BundleOrder {
        source,
        parent,
        session_id: None,
        now: Timestamp::UNIX_EPOCH,
        record: None,
    })
}

/// Repeats the requirements on a manifest, without any of the code that reads one.
fn is_in_order(bytes: &[u8], export: &Path) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let lines: Vec<_> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let is_line = |line: &&str| {
        let Some(at) = line.find('=') else { return false };
        let key = &line[..at];
        !key.is_empty()
            && key.starts_with(|c: char| c.is_ascii_uppercase())
            && key.chars().all(|c| c == '_' || c.is_ascii_digit() || c.is_ascii_uppercase())
            && line.bytes().all(|byte| byte >= 0x20 && byte != 0x7f)
    };
    let values = |key: &str| -> Vec<&str> {
        let begins = format!("{key}=");
        lines.iter().filter_map(|line| line.strip_prefix(begins.as_str())).collect()
    };
    let mut files = BTreeSet::new();
    let is_file = |key: &str, is_filled: bool, is_optional: bool| match values(key)[..] {
        [] | [""] => is_optional,
        [path] => {
            let named = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
            let real = fs::canonicalize(path).unwrap_or_default();
            let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
            path.starts_with('/')
                && named
                && real.starts_with(export)
                && (size > 0 || !is_filled)
                && files.insert(fs::metadata(path).unwrap().ino())
        }
        _ => false,
    };
    bytes.len() <= 65_536
        && lines.len() <= 256
        && lines.iter().all(is_line)
        && values("MANIFEST_VERSION") == ["1"]
        && ["TIMESTAMP", "SESSION_ID"]
            .iter()
            .all(|key| values(key).len() == 1 && values(key) != [""])
        && [
            ("PLAN_FILE", true, false),
            ("PLAN_REVIEW_TALLY_FILE", true, false),
            ("CONTESTED_CRITERIA_FILE", false, false),
            ("OOS_FILE", false, false),
            ("REJECTED_FINDINGS_FILE", false, false),
            ("ACCEPTED_PLAN_FINDINGS_FILE", false, false),
            ("ARCHITECTURE_DIAGRAM_FILE", false, true),
        ]
        .map({
            let mut is_file = is_file;
            move |(key, is_filled, is_optional)| is_file(key, is_filled, is_optional)
        })
        .into_iter()
        .all(|is_right| is_right)
}

/// Changes a manifest at a random place.
fn change(bytes: &mut Vec<u8>, paths: &[String], dice: &mut Dice) {
    let at = dice.roll(bytes.len() + 1);
    let odd = b"\0\n\r\t\x1b\x7f\x80\xff= /.A1_$";
    match dice.roll(9) {
        0 if at < bytes.len() => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
        1 => bytes.insert(at, odd[dice.roll(odd.len())]),
        2 => bytes.truncate(at),
        3 => bytes.extend_from_slice(b"UNKNOWN=$(touch /x) `x` \"y\n"),
        4 => bytes.extend_from_slice(b"A=b\n".repeat(dice.roll(300)).as_slice()),
        kind => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            if lines.is_empty() {
                return;
            }
            let (one, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
            match kind {
                5 => drop(lines.remove(one)),
                6 => lines.insert(one, lines[other].clone()),
                7 => lines.swap(one, other),
                _ => {
                    let key = lines[one].split('=').next().unwrap_or_default().to_owned();
                    lines[one] = format!("{key}={}", paths[dice.roll(paths.len())]);
                }
            }
            *bytes = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
        }
    }
}

// P-340, P-341, P-342, P-343
#[test]
fn ten_thousand_changed_manifests_are_read_as_the_rules_say() {
    let top = tempfile::tempdir().unwrap();
    let top = top.path().canonicalize().unwrap();
    let parent = top.join("p");
    fs::create_dir(&parent).unwrap();
    let manifest = export(&design(&top, "d"), &parent).unwrap();
    let folder = parent.join(EXPORT_DIR);
    fs::create_dir(folder.join("inner")).unwrap();
    fs::write(folder.join("inner/file"), "x").unwrap();
    fs::write(folder.join("empty"), "").unwrap();
    fs::hard_link(folder.join("plan.txt"), folder.join("again")).unwrap();
    symlink("plan.txt", folder.join("link")).unwrap();
    symlink("../../d", folder.join("way")).unwrap();
    let names = [
        "plan.txt",
        "oos.md",
        "inner/file",
        "empty",
        "again",
        "link",
        "way/plan.txt",
        "nothing",
        "inner",
        "",
        ".",
        "..",
        "../design-export/plan.txt",
        "../../d/plan.txt",
        "inner/../oos.md",
        "plan.txt/",
        "plan.txt/.",
        "inner/./file",
        MANIFEST_FILE,
    ];
    let below = names.iter().map(|name| format!("{}/{name}", folder.display()));
    let elsewhere = ["/etc/passwd", "/dev/null", "/", "", "plan.txt", "./plan.txt", "//", "1"];
    let paths: Vec<_> = below.chain(elsewhere.map(str::to_owned)).collect();
    let whole = fs::read(&manifest).unwrap();
    let mut dice = Dice(20_260_501);
    let mut accepted = 0;
    for round in 0..10_000 {
        let mut bytes = whole.clone();
        for _ in 0..=dice.roll(3) {
            change(&mut bytes, &paths, &mut dice);
        }
        // To write over a file waits for the disk; to make a new one does not.
        fs::remove_file(&manifest).unwrap();
        fs::write(&manifest, &bytes).unwrap();
        let read = read(&parent, None);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(read.is_ok(), is_in_order(&bytes, &folder), "{round}: {read:?}\n{text}");
        let Ok(bundle) = read else { continue };
        accepted += 1;
        for (_, path, file) in bundle.artifacts() {
            assert_eq!(fs::canonicalize(path).unwrap(), Path::new(path));
            assert_eq!(file.metadata().unwrap().ino(), fs::metadata(path).unwrap().ino());
        }
        assert_eq!(bundle.manifest.accepted().lines().count(), bundle.files.len() + 3);
    }
    assert!((1_000..9_000).contains(&accepted), "{accepted}");
}

/// Replaces a bundle as every writer does, but without waiting for the disk.
fn replace(export: &Path, manifest: &[u8], text: &str) {
    let stage = export.with_extension("stage.x");
    fs::create_dir_all(&stage).unwrap();
    for artifact in ManifestArtifact::ALL {
        fs::write(stage.join(artifact.file()), text).unwrap();
    }
    fs::write(stage.join(MANIFEST_FILE), manifest).unwrap();
    // Moving a file over another waits for the disk; without an old file it does not.
    for file in [MANIFEST_FILE].into_iter().chain(ManifestArtifact::ALL.map(ManifestArtifact::file))
    {
        fs::remove_file(export.join(file)).unwrap();
    }
    for file in ManifestArtifact::ALL.map(ManifestArtifact::file).into_iter().chain([MANIFEST_FILE])
    {
        fs::rename(stage.join(file), export.join(file)).unwrap();
    }
}

// P-343: open files belong together, however often the bundle is replaced meanwhile.
#[test]
fn a_bundle_that_is_replaced_meanwhile_is_read_whole_or_not_at_all() {
    let top = tempfile::tempdir().unwrap();
    let parent = top.path().join("p");
    fs::create_dir(&parent).unwrap();
    let manifest = export(&design(top.path(), "d"), &parent).unwrap();
    let (folder, text) = (parent.join(EXPORT_DIR), fs::read(&manifest).unwrap());
    replace(&folder, &text, "one");
    let is_done = AtomicBool::new(false);
    let mixed = std::thread::scope(|scope| {
        scope.spawn(|| {
            for word in ["one", "two"].into_iter().cycle() {
                replace(&folder, &text, word);
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let words = |file: &fs::File| std::io::read_to_string(file).unwrap();
        let bundles = std::iter::repeat_with(|| read(&parent, None)).flatten();
        let is_mixed =
            |bundle: &Bundle| bundle.files.iter().map(words).collect::<BTreeSet<_>>().len() > 1;
        let mixed = bundles.take(2_000).filter(is_mixed).count();
        is_done.store(true, Ordering::Relaxed);
        mixed
    });
    assert_eq!(mixed, 0);
}

#[test]
fn one_process_writes_at_a_time() {
    let top = tempfile::tempdir().unwrap();
    let (from, parent) = (design(top.path(), "d"), top.path().join("p"));
    fs::create_dir_all(parent.join(EXPORT_DIR)).unwrap();
    let held = fs::File::open(parent.join(EXPORT_DIR)).unwrap();
    held.lock().unwrap();
    let refused = export(&from, &parent).unwrap_err();
    assert!(matches!(refused, WriteError::Busy { .. }), "{refused}");
    drop(held);
    export(&from, &parent).unwrap();
}

// A place that others reach by a name without control characters must not bring lines of its own.
#[test]
fn a_folder_behind_a_link_brings_no_lines() {
    let top = tempfile::tempdir().unwrap();
    let odd = top.path().join("p\nPLAN_FILE=x");
    fs::create_dir(&odd).unwrap();
    let plain = top.path().join("plain");
    fs::create_dir(&plain).unwrap();
    let manifest = export(&design(top.path(), "d"), &plain).unwrap();
    let text = fs::read_to_string(&manifest).unwrap();
    fs::rename(plain.join(EXPORT_DIR), odd.join(EXPORT_DIR)).unwrap();
    fs::remove_dir(&plain).unwrap();
    symlink(&odd, &plain).unwrap();
    assert_eq!(read(&plain, None).unwrap_err().to_string(), "control-char", "{text}");
}
