//! Passwords that the user keeps in a file, or that a program of the user's prints.
//!
//! No error here repeats what a file or a program said.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::process;

/// No password is longer.
const LONGEST: u64 = 64 * 1024;

/// Reads a password from the first line of a file that only its owner can read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if is_open_to_others(&file.metadata()?) {
        let why = "others can read it; run `chmod 600` on it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    first_line(&text)
}

#[cfg(unix)]
fn is_open_to_others(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

/// Runs a command line of the user's own in the shell, and returns the first line that it prints.
pub fn of_command(command: &str, folder: &Path) -> io::Result<String> {
    let output = process::command("sh", folder).arg("-c").arg(command).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("the command failed: {}", output.status)));
    }
    let text = String::from_utf8(output.stdout);
    first_line(&text.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?)
}

fn first_line(text: &str) -> io::Result<String> {
    let line = text.lines().next().filter(|line| !line.is_empty());
    line.map(str::to_owned).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_first_line_and_no_error_repeats_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        fs::write(&path, "hush\nmore").unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let error = of_file(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains("hush"), "{error}");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(of_file(&path).unwrap(), "hush");
        assert_eq!(of_command("echo hush; echo more", folder.path()).unwrap(), "hush");
        let error = of_command("echo hush; exit 3", folder.path()).unwrap_err().to_string();
        assert!(error.contains('3') && !error.contains("hush"), "{error}");
        assert!(of_command("true", folder.path()).is_err());
    }
}
