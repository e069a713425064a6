//! One artifact of a run, by its name or a shorter one.

use convoke_domain::design::design_file::DesignFile;

use super::report::ArtifactReport;
use super::{Known, NoArtifact};
use crate::app::Format;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::output::Output;

pub(super) fn artifact(
    known: &Known,
    name: &str,
    format: Format,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let long = DesignFile::long_name(name);
    let Some(text) = known.progress.files.get(long) else {
        let names = known.progress.files.keys().map(String::as_str);
        let all: Vec<_> = names.chain(DesignFile::SHORT.map(|(short, _)| short)).collect();
        let there = |(short, file): &(_, DesignFile)| {
            known.progress.files.contains_key(file.name()).then_some(*short)
        };
        let short: Vec<_> = DesignFile::SHORT.iter().filter_map(there).collect();
        let long: Vec<_> = known.progress.files.keys().map(String::as_str).collect();
        let list = match [short, long].concat().as_slice() {
            [] => "the run has none yet".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        let failure = Failure::new(ErrorClass::Refused, NoArtifact { name: name.to_owned() });
        return Err(failure.maybe_hint(did_you_mean(name, all)).hint(list));
    };
    match format {
        Format::Text => output.data(text)?,
        Format::Json => {
            let run = known.run.id.as_str();
            output.json(&ArtifactReport { run, artifact: long, text })?;
        }
    }
    Ok(Exit::Done)
}
