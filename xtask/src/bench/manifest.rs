//! Whether files are still what they were, against `sha256sum` on the same files.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{MB, Row, Sink, convoke, ratio, take_turns, time};
use crate::Error;
use crate::process::command;

/// How many files share the weight.
const FILES: usize = 10;

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let names = write_artifacts(top.path())?;
    write_record(top.path(), &names)?;
    let (ours, theirs) = take_turns(
        10,
        || {
            let mut verify = convoke();
            verify.args(["manifest", "verify"]).arg(top.path()).env("HOME", top.path());
            time(verify, Sink::Pipe)
        },
        || time(sums(top.path(), &names), Sink::Pipe),
    )?;
    Ok(vec![ratio("verifying 50 MB of artifacts / `sha256sum`", ours, theirs, 1.5)])
}

/// Writes files that are all different and hold 50 MB together.
fn write_artifacts(folder: &Path) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for index in 0..FILES {
        let name = format!("artifact-{index}.md");
        let line = format!("A line of the artifact with the number {index}.\n");
        fs::write(folder.join(&name), line.repeat(50 * MB / FILES / line.len()))?;
        names.push(name);
    }
    Ok(names)
}

/// Writes the record that a run would leave, with the hashes that `sha256sum` finds.
fn write_record(folder: &Path, names: &[String]) -> Result<(), Error> {
    let said = String::from_utf8(sums(folder, names).output()?.stdout)?;
    let entry = |(name, line): (&String, &str)| -> Result<Value, Error> {
        let sha256 = line.split(' ').next().unwrap_or_default();
        let bytes = fs::metadata(folder.join(name))?.len();
        Ok(json!({ "name": name, "bytes": bytes, "sha256": sha256 }))
    };
    let files = names.iter().zip(said.lines()).map(entry).collect::<Result<Vec<_>, _>>()?;
    let record = json!({
        "manifest": 1, "run": "20260304-050607-abcde", "project": "p", "branch": "main",
        "started_at": "2026-03-04T05:06:07Z", "ended_at": null, "ending": "complete",
        "degraded": [], "rehearsal": false, "feature": { "text": "", "sha256": "" }, "brief": null,
        "documents": [], "seats": [], "lanes": [], "journal": { "events": 1, "chain": "" },
        "exclusive": true, "files": files,
    });
    Ok(fs::write(folder.join("manifest.json"), record.to_string())?)
}

fn sums(folder: &Path, names: &[String]) -> Command {
    let mut sums = command("sha256sum");
    sums.args(names).current_dir(folder);
    sums
}
