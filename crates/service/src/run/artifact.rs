//! One artifact of a run, by its name or a shorter one.

use convoke_domain::design::design_file::DesignFile;

use super::known::KnownRun;
use super::report::ArtifactReport;
use crate::failure::{ErrorClass, Failure, did_you_mean};

#[derive(Debug, thiserror::Error)]
#[error("cannot find `{name}` among the artifacts of the run")]
struct NoArtifact {
    name: String,
}

pub(super) fn artifact(known: &KnownRun, name: &str) -> Result<ArtifactReport, Failure> {
    let (long, run) = (DesignFile::long_name(name), &known.run.id);
    let files = known.artifacts();
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
