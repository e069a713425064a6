//! The README's picture: a rehearsed design as a terminal shows it, as an animated SVG.
//!
//! The picture is made of what the program prints into a terminal of its own, so it shows what a
//! reader will see: `bytes and times ─► screens ─► film`.

mod film;

use std::fs;
use std::num::NonZeroU16;
use std::path::Path;

use crate::process::{command, run};
use crate::{Error, root, say};
use film::Film;

/// The picture that the README shows.
pub const PICTURE: &str = "docs/pictures/design.svg";

/// The size of the recorded terminal, as most terminals begin.
const COLUMNS: NonZeroU16 = NonZeroU16::new(80).unwrap();
const ROWS: NonZeroU16 = NonZeroU16::new(30).unwrap();

/// Plays the rehearsal in a terminal and writes the picture.
pub fn write() -> Result<(), Error> {
    run("cargo", &["build", "--locked"])?;
    let folder = tempfile::tempdir()?;
    record(folder.path())?;
    let bytes = fs::read(folder.path().join("bytes"))?;
    let times = fs::read_to_string(folder.path().join("times"))?;
    let path = root().join(PICTURE);
    fs::write(&path, Film::new(without_header(&bytes), &times, (ROWS, COLUMNS)).svg())?;
    say(&path.display().to_string());
    Ok(())
}

/// Records what a rehearsal prints, and when, in a home of its own.
fn record(folder: &Path) -> Result<(), Error> {
    let program = root().join("target/debug/convoke");
    let line =
        format!("stty cols {COLUMNS} rows {ROWS}; exec '{}' design --rehearse", program.display());
    let status = command("script")
        .args(["--quiet", "--return", "--flush", "--log-out"])
        .arg(folder.join("bytes"))
        .arg("--log-timing")
        .arg(folder.join("times"))
        .args(["--command", &line])
        .current_dir(folder)
        .env("HOME", folder)
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .stdout(std::process::Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("the rehearsal failed: {status}").into()) }
}

/// Returns what the program printed: `script` begins its file with a line of its own, which its times
/// do not count.
fn without_header(bytes: &[u8]) -> &[u8] {
    let header = bytes.starts_with(b"Script started");
    let end = bytes.iter().position(|byte| *byte == b'\n').filter(|_| header);
    end.map_or(bytes, |end| bytes.get(end + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_header_of_script_is_left_out() {
        assert_eq!(without_header(b"Script started on x\nfirst\n"), b"first\n");
        assert_eq!(without_header(b"first\nsecond"), b"first\nsecond");
    }
}
