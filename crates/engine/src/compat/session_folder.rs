//! The folders of sessions that scripts set up, and taking them away again.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use convoke_domain::compat::cleanup::{CleanupError, MARKERS, audit_line};
use convoke_domain::compat::session_setup::{Keepalive, clone_tag};
use jiff::Timestamp;

use crate::file;

/// The system's files about itself are short.
const MAX_BYTES: u64 = 4096;

/// A session that was set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignSession {
    /// The session's folder.
    pub folder: PathBuf,
    /// The session's id.
    pub id: String,
    /// Whether the folder is outside of the expected place.
    pub is_elsewhere: bool,
}

/// Makes a session's folder below the first of two places that can be written.
pub fn make(
    usual: Option<&Path>,
    otherwise: &Path,
    prefix: &str,
    project: &Path,
    now: Timestamp,
) -> io::Result<DesignSession> {
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{prefix}-{}-", clone_tag(&name));
    let fresh = |root: &Path| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(&name).rand_bytes(6).permissions(Permissions::from_mode(0o700));
        let made = builder.tempdir_in(root)?;
        Ok::<_, io::Error>(made.keep())
    };
    let private = |root: &Path| DirBuilder::new().recursive(true).mode(0o700).create(root);
    let made = usual.map(|root| private(root).and_then(|()| fresh(root)));
    let (folder, is_elsewhere) = match made {
        Some(Ok(folder)) => (folder, false),
        Some(Err(_)) | None => (fresh(otherwise)?, true),
    };
    let id = session_id(now);
    let keepalive = Keepalive {
        pid: std::process::id(),
        parent: parent(),
        clone_path: &project.display().to_string(),
        session_id: &id,
        prefix,
        created: &format!("{now:.0}"),
    };
    fs::write(folder.join("session-id"), format!("{id}\n"))?;
    fs::write(folder.join(MARKERS[0]), keepalive.text())?;
    Ok(DesignSession { folder, id, is_elsewhere })
}

/// Returns a unique name.
fn session_id(now: Timestamp) -> String {
    let told = |path: &str| {
        let text = file::text(Path::new(path), MAX_BYTES)?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    told("/proc/sys/kernel/random/uuid").unwrap_or_else(|| {
        let host = told("/proc/sys/kernel/hostname").unwrap_or_else(|| "unknown-host".to_owned());
        format!("{host}-{}-{}", std::process::id(), now.as_second())
    })
}

/// Removes a session's folder, if it clearly is one: below a place of sessions, no link, and
/// marked, and with none of these places nor the user's `home` in it. A missing one counts as
/// removed. The removal is logged in `audit`, if that is writable.
pub fn remove(
    folder: &Path,
    roots: &[PathBuf],
    home: Option<&Path>,
    audit: &Path,
    now: Timestamp,
) -> Result<(), CleanupError> {
    let dir = folder.display().to_string();
    let names: Vec<_> = roots.iter().map(|root| format!("{}/", root.display())).collect();
    let not_under = || CleanupError::NotUnder { roots: names.join(", "), dir: dir.clone() };
    let climbs = folder.components().any(|part| part == Component::ParentDir);
    let real_roots: Vec<_> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    if climbs || !(is_below(folder, roots) || is_below(folder, &real_roots)) {
        return Err(not_under());
    }
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(found) if found.is_dir() => {}
        Ok(_) | Err(_) => return Err(CleanupError::NoFolderItself(dir)),
    }
    let refused =
        |error: io::Error| CleanupError::Refused { dir: dir.clone(), why: error.to_string() };
    let real = folder.canonicalize().map_err(refused)?;
    let home = home.and_then(|home| home.canonicalize().ok());
    let holds = real_roots.iter().chain(&home).any(|kept| kept.starts_with(&real));
    if holds || !is_below(&real, &real_roots) {
        return Err(not_under());
    }
    let is_file = |name: &&str| {
        fs::symlink_metadata(real.join(name)).is_ok_and(|metadata| metadata.is_file())
    };
    if !MARKERS.iter().any(is_file) {
        return Err(CleanupError::NoMarker(dir));
    }
    // To write this down is good; to tidy up is better.
    note(audit, &dir, now).ok();
    empty(&real).and_then(|()| fs::remove_dir_all(&real)).map_err(refused)
}

/// Removes everything but the marks, so that a failed removal can be tried again.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if MARKERS.iter().any(|marker| entry.file_name() == *marker) {
            continue;
        }
        let is_folder = entry.file_type()?.is_dir();
        let path = entry.path();
        if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }?;
    }
    Ok(())
}

fn is_below(folder: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| folder.starts_with(root) && folder != root)
}

fn note(audit: &Path, dir: &str, now: Timestamp) -> io::Result<()> {
    let parent = parent();
    let name = file::text(Path::new(&format!("/proc/{parent}/comm")), MAX_BYTES);
    let name = name.unwrap_or_default();
    let line = audit_line(&format!("{now:.0}"), std::process::id(), parent, &name, dir);
    file::append_private(audit)?.write_all(line.as_bytes())
}

fn parent() -> i32 {
    rustix::process::Pid::as_raw(rustix::process::getppid())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn now() -> Timestamp {
        "2026-03-04T05:06:07.123Z".parse().unwrap()
    }

    struct Place {
        top: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let top = tempfile::tempdir().unwrap();
            fs::create_dir(top.path().join("temp")).unwrap();
            Self { top }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.top.path().join(name)
        }

        fn make(&self) -> DesignSession {
            let (cache, temp) = (self.at("cache/sessions"), self.at("temp"));
            make(Some(&cache), &temp, "claude-design", &self.at("my app"), now()).unwrap()
        }

        fn remove(&self, folder: &Path) -> Result<(), CleanupError> {
            let roots = [self.at("cache/sessions"), self.at("temp")];
            remove(folder, &roots, Some(&self.at("temp/home")), &self.at("audit.log"), now())
        }
    }

    // P-27, P-63, P-64
    #[test]
    fn a_session_has_a_fresh_folder() {
        let place = Place::new();
        let (one, other) = (place.make(), place.make());
        assert_ne!(one.folder, other.folder);
        assert_ne!(one.id, other.id);
        let name = one.folder.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("claude-design-my_app-") && name.len() == 27, "{name}");
        assert_eq!(one.folder.parent(), Some(place.at("cache/sessions").as_path()));
        assert_eq!(fs::metadata(&one.folder).unwrap().permissions().mode() & 0o777, 0o700);
        let id = fs::read_to_string(one.folder.join("session-id")).unwrap();
        assert_eq!(id, format!("{}\n", one.id));
        let keepalive = fs::read_to_string(one.folder.join(".larch-keepalive")).unwrap();
        assert!(keepalive.contains(&format!("\nSESSION_ID={}\n", one.id)), "{keepalive}");
        assert!(keepalive.contains("\nCREATED=2026-03-04T05:06:07Z\n"));
    }

    // P-63
    #[test]
    fn without_a_cache_it_lies_elsewhere() {
        let place = Place::new();
        fs::write(place.at("cache"), "a file").unwrap();
        let session = place.make();
        assert!(session.is_elsewhere);
        assert_eq!(session.folder.parent(), Some(place.at("temp").as_path()));
    }

    // P-380, P-381, T-58
    #[test]
    fn a_session_is_removed_once_and_that_is_written_down() {
        let place = Place::new();
        let session = place.make();
        assert_eq!(place.remove(&session.folder), Ok(()));
        assert!(!session.folder.exists());
        assert_eq!(place.remove(&session.folder), Ok(()), "it is not there any more");
        let log = fs::read_to_string(place.at("audit.log")).unwrap();
        assert_eq!(log.lines().count(), 1, "{log}");
        let words: Vec<_> = log.trim_end().splitn(5, ' ').collect();
        assert_eq!(words[0], "2026-03-04T05:06:07Z");
        assert_eq!(words[4], format!("dir={}", session.folder.display()));
    }

    // P-381
    #[test]
    fn a_log_that_is_a_link_is_not_followed() {
        let place = Place::new();
        fs::write(place.at("precious"), "x").unwrap();
        symlink(place.at("precious"), place.at("audit.log")).unwrap();
        assert_eq!(place.remove(&place.make().folder), Ok(()));
        assert_eq!(fs::read_to_string(place.at("precious")).unwrap(), "x");
    }

    // P-381: a pipe in its place, which would be waited for.
    #[test]
    fn a_log_that_is_a_pipe_is_not_waited_for() {
        let place = Place::new();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, place.at("audit.log"), kind, mode, 0).unwrap();
        assert_eq!(place.remove(&place.make().folder), Ok(()));
    }

    // P-382
    #[test]
    fn a_folder_that_holds_a_place_or_a_home_stays() {
        let place = Place::new();
        let outer = place.at("temp/outer");
        let (inner, home) = (outer.join("sessions"), place.at("temp/home"));
        for folder in [&outer, &inner, &home] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(".larch-keepalive"), "").unwrap();
        }
        let roots = [place.at("temp"), inner.clone()];
        for folder in [&outer, &inner, &home] {
            let error = remove(folder, &roots, Some(&home), &place.at("audit.log"), now());
            assert!(matches!(error, Err(CleanupError::NotUnder { .. })), "{folder:?}");
            assert!(folder.exists());
        }
    }

    // P-380, P-382
    #[test]
    fn a_folder_that_is_not_clearly_a_sessions_stays() {
        let place = Place::new();
        let session = place.make().folder;
        let root = session.parent().unwrap().to_owned();
        let outside = place.at("outside");
        fs::create_dir(&outside).unwrap();
        for folder in [&outside, &root] {
            fs::write(folder.join(".larch-keepalive"), "").unwrap();
        }
        symlink(&outside, root.join("link")).unwrap();
        symlink(&outside, root.join("way")).unwrap();
        fs::create_dir(outside.join("deep")).unwrap();
        fs::write(outside.join("deep/.larch-keepalive"), "").unwrap();
        fs::create_dir(root.join("unmarked")).unwrap();
        let error = |folder: &Path| place.remove(folder).unwrap_err();
        for folder in [
            outside.clone(),
            root.clone(),
            session.join("../../../outside"),
            root.join("way/deep"),
            PathBuf::from("/"),
            PathBuf::from("temp"),
        ] {
            assert!(matches!(error(&folder), CleanupError::NotUnder { .. }), "{folder:?}");
        }
        assert!(matches!(error(&root.join("link")), CleanupError::NoFolderItself(_)));
        assert!(matches!(error(&session.join("session-id")), CleanupError::NoFolderItself(_)));
        assert!(matches!(error(&root.join("unmarked")), CleanupError::NoMarker(_)));
        assert!(
            outside.join("deep").exists() && session.exists() && root.join("unmarked").exists()
        );
        assert!(!place.at("audit.log").exists());
    }
}
