//! One artifact of a run, by its name or a shorter one.

use std::path::Path;

use convoke_domain::design::design_file::DesignFile;

use super::known::KnownRun;
use super::report::ArtifactReport;
use crate::failure::{ErrorClass, Failure, did_you_mean};

#[derive(Debug, thiserror::Error)]
#[error("cannot find `{name}` among the artifacts of the run")]
struct NoArtifact {
    name: String,
}

/// Returns the one file that has this name without its extension.
fn by_stem<'n>(names: impl Iterator<Item = &'n String>, stem: &str) -> Option<&'n str> {
    let is_named = |name: &&String| Path::new(name).with_extension("").as_os_str() == stem;
    let mut found = names.filter(is_named);
    found.next().filter(|_| found.next().is_none()).map(String::as_str)
}

pub(super) fn artifact(known: &KnownRun, name: &str) -> Result<ArtifactReport, Failure> {
    let files = known.artifacts();
    let long = match DesignFile::long_name(name) {
        long if files.contains_key(long) => long,
        word => by_stem(files.keys(), word).unwrap_or(word),
    };
    let run = &known.run.id;
    let Some(text) = files.get(long) else {
        let names = files.keys().map(String::as_str);
        let there =
            |(short, file): &(_, DesignFile)| files.contains_key(file.name()).then_some(*short);
        let short: Vec<_> = DesignFile::SHORT.iter().filter_map(there).collect();
        // Only a name that works is worth a hint.
        let all: Vec<_> = names.chain(short.iter().copied()).collect();
        let list = match (short.as_slice(), files.len()) {
            (_, 0) => "the run has no artifacts yet".to_owned(),
            ([], count) => format!("`convoke show {run}` names the run's {count} artifacts"),
            (names, count) => format!(
                "known artifacts: {}; `convoke show {run}` names all {count}",
                names.join(", ")
            ),
        };
        let failure = Failure::new(ErrorClass::Refused, NoArtifact { name: name.to_owned() });
        return Err(failure.maybe_hint(did_you_mean(name, all)).hint(list));
    };
    Ok(ArtifactReport {
        run: known.run.id.to_string(),
        artifact: long.to_owned(),
        text: text.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artifact_goes_by_its_name_without_the_extension() {
        let names = ["voting-tally.md", "plan.txt", "notes.md", "notes.txt"].map(str::to_owned);
        assert_eq!(by_stem(names.iter(), "voting-tally"), Some("voting-tally.md"));
        assert_eq!(by_stem(names.iter(), "notes"), None, "two files have the name");
        assert_eq!(by_stem(names.iter(), "voting"), None);
    }
}
