//! Editing a file that other programs and people edit too.
//!
//! Convoke's processes take turns. Other programs know no lock of ours, so just before a file gets
//! its new text, Convoke reads it again: a save that came meanwhile is edited instead of lost.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use convoke_domain::finding::{FileFinding, Unreadable};

use super::{DraftReaders, Refusal, draft, read_bytes, sweep_drafts, without_path};
use crate::lock::{Lock, LockError};

/// How often Convoke edits a file again because it changed meanwhile.
const TRIES: usize = 5;

/// What an edit makes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEdit {
    /// The file stays as it is.
    Keep,
    /// The file holds this text afterwards.
    Write(String),
    /// There is no file afterwards.
    Remove,
}

/// The limits of an edit.
#[derive(Debug, Clone, Copy)]
pub struct EditTerms<'a> {
    /// The lock file by which the processes of Convoke take turns. Without one, only the comparison
    /// before the change protects what others write.
    pub lock: Option<&'a Path>,
    /// A longer file is not read.
    pub max_bytes: u64,
}

/// An edit that changed nothing.
#[derive(Debug)]
pub enum EditError<E> {
    /// The caller did not want to edit this text.
    Refused(E),
    /// The file cannot be read.
    Unreadable(Unreadable),
    /// The file cannot be written.
    Unwritable(io::Error),
    /// Another process of Convoke edits settings and does not finish.
    Locked(LockError),
    /// Another program changed the file during every attempt.
    Changing,
}

/// Reads a file, has `edit` decide about its text (`None` without a file), and carries that out.
/// `edit` is called again if the file changes meanwhile, so what it does besides must be repeatable.
/// It must not edit another file under the same lock.
pub fn edit<E>(
    path: &Path,
    terms: EditTerms<'_>,
    mut edit: impl FnMut(Option<&str>) -> Result<FileEdit, E>,
) -> Result<FileEdit, EditError<E>> {
    let _lock = take_turns(terms.lock).map_err(EditError::Locked)?;
    for _ in 0..TRIES {
        let target = target(path).map_err(EditError::Unwritable)?;
        target.parent().into_iter().for_each(sweep_drafts);
        let before = match super::read(&target, terms.max_bytes) {
            FileFinding::Absent => None,
            FileFinding::Text(text) => Some(text),
            FileFinding::Unreadable(reason) => return Err(EditError::Unreadable(reason)),
        };
        let decided = edit(before.as_deref()).map_err(EditError::Refused)?;
        let file = EditedFile { path: &target, before: before.as_deref() };
        match file.carry_out(&decided) {
            Ok(Course::Done) => return Ok(decided),
            Ok(Course::Changed) => {}
            Err(source) => return Err(EditError::Unwritable(without_path(source))),
        }
    }
    Err(EditError::Changing)
}

/// Waits for the lock. A folder that cannot hold one is no reason to change nothing.
fn take_turns(path: Option<&Path>) -> Result<Option<Lock>, LockError> {
    let Some(path) = path else { return Ok(None) };
    path.parent().map_or(Ok(()), fs::create_dir_all).ok();
    match Lock::wait(path, &format!("process {}", std::process::id())) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::File { .. }) => Ok(None),
        Err(held @ LockError::Held { .. }) => Err(held),
    }
}

/// Returns the file that a link leads to; a link to nothing is an error.
fn target(path: &Path) -> io::Result<std::path::PathBuf> {
    if path.is_symlink() { path.canonicalize() } else { Ok(path.to_owned()) }
}

/// The end of an attempt.
enum Course {
    /// The file is as the edit wants it.
    Done,
    /// Another program changed the file, and its text stays.
    Changed,
}

struct EditedFile<'a> {
    path: &'a Path,
    before: Option<&'a str>,
}

impl EditedFile<'_> {
    fn carry_out(&self, edit: &FileEdit) -> io::Result<Course> {
        match edit {
            FileEdit::Keep => Ok(Course::Done),
            FileEdit::Write(text) if self.before == Some(text) => Ok(Course::Done),
            FileEdit::Write(text) => self.write(text),
            FileEdit::Remove if self.before.is_none() => Ok(Course::Done),
            FileEdit::Remove if self.is_as_read() => match fs::remove_file(self.path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(Course::Done),
                removed => removed.map(|()| Course::Done),
            },
            FileEdit::Remove => Ok(Course::Changed),
        }
    }

    fn write(&self, text: &str) -> io::Result<Course> {
        use std::io::Write as _;

        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let permissions = fs::symlink_metadata(self.path).ok().map(|found| found.permissions());
        if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let mut file = draft(folder, DraftReaders::Everyone)?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        // Nothing slow may come between the comparison and the change.
        if !self.is_as_read() {
            return Ok(Course::Changed);
        }
        let placed = match self.before {
            Some(_) => file.persist(self.path),
            None => file.persist_noclobber(self.path),
        };
        match placed {
            Ok(_) => Ok(Course::Done),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(Course::Changed),
            Err(error) => Err(error.error),
        }
    }

    /// Tells whether the file still holds what the edit read.
    fn is_as_read(&self) -> bool {
        let most = self.before.map_or(0, |text| text.len() as u64);
        match (read_bytes(self.path, most), self.before) {
            (Ok(bytes), Some(before)) => bytes == before.as_bytes(),
            (Err(Refusal::Absent), None) => true,
            (Ok(_) | Err(_), _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1000;

    fn appending(line: &str) -> impl FnMut(Option<&str>) -> Result<FileEdit, ()> {
        move |text| Ok(FileEdit::Write(format!("{}{line}\n", text.unwrap_or_default())))
    }

    #[test]
    fn edits_in_parallel_are_all_kept() {
        let place = tempfile::tempdir().unwrap();
        let (path, lock) = (place.path().join("a.toml"), place.path().join("state/lock"));
        let terms = EditTerms { lock: Some(&lock), max_bytes: LIMIT };
        std::thread::scope(|scope| {
            for number in 0..16 {
                let path = &path;
                scope.spawn(move || edit(path, terms, appending(&format!("<{number}>"))).unwrap());
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert!((0..16).all(|number| text.contains(&format!("<{number}>\n"))), "{text}");
        let names = fs::read_dir(place.path()).unwrap().count();
        assert_eq!(names, 2, "the file and the folder of the lock, no draft");
    }

    // Other programs know no lock of ours.
    #[test]
    fn a_save_of_another_program_during_an_edit_is_edited_too() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.toml");
        let terms = EditTerms { lock: None, max_bytes: LIMIT };
        for before in [None, Some("old\n"), Some("saved\n")] {
            fs::remove_file(&path).ok();
            before.inspect(|text| fs::write(&path, text).unwrap());
            let mut is_first = true;
            let meddle = |text: Option<&str>| {
                if std::mem::take(&mut is_first) {
                    fs::write(&path, "saved, by its user\n").unwrap();
                }
                appending("ours")(text)
            };
            edit(&path, terms, meddle).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "saved, by its user\nours\n");
        }
    }

    #[test]
    fn a_file_that_changes_meanwhile_is_not_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.toml");
        let terms = EditTerms { lock: None, max_bytes: LIMIT };
        fs::write(&path, "ours").unwrap();
        let remove_ours = |text: Option<&str>| {
            let is_ours = text == Some("ours");
            fs::write(&path, "the user's").unwrap();
            Ok::<_, ()>(if is_ours { FileEdit::Remove } else { FileEdit::Keep })
        };
        assert_eq!(edit(&path, terms, remove_ours).unwrap(), FileEdit::Keep);
        assert_eq!(fs::read_to_string(&path).unwrap(), "the user's");
    }

    #[test]
    fn a_file_that_changes_all_the_time_is_left_to_its_writer() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.toml");
        let terms = EditTerms { lock: None, max_bytes: LIMIT };
        let mut saves = 0;
        let always = |text: Option<&str>| {
            saves += 1;
            fs::write(&path, format!("save {saves}\n")).unwrap();
            appending("ours")(text)
        };
        let error = edit(&path, terms, always).unwrap_err();
        assert!(matches!(error, EditError::Changing), "{error:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("save {saves}\n"));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "no draft stays");
    }
}
