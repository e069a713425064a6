//! `convoke brief rest`: the text that a cut left out.

use std::path::Path;

use convoke_domain::brief::name::{BriefName, DocumentPriority};
use convoke_domain::brief::rest::{Rest, RestError};
use convoke_domain::brief::settings::BriefSettings;
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::text::{CharOffset, Text};
use convoke_engine::brief::{Resolved, leads_out, read, resolve};
use serde::Serialize;

use super::{BriefOptions, open_tokenizer, say_diagnostics};
use crate::app::{App, Format};
use crate::config::brief::layers;
use crate::exit::Exit;
use crate::failure::{Failure, did_you_mean};
use crate::output::Output;

/// Print a document from a character offset on, cut and marked as before
///
/// Prints a `> source:` line, the untouched text and, if it was cut again, a line break and the
/// `> truncated:` line with the offset to go on from. Reading on until no such line comes yields
/// every character once.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The document, by its bare name
    #[arg(value_name = "TOKEN")]
    name: String,

    /// The offset to read on from, in characters
    #[arg(long, value_name = "N")]
    from: usize,
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("cannot read on in `{given}`: it is not in the priority list")]
    NotListed { given: String },
    #[error("cannot read on in `{name}`: there is no such file in `{dir}`")]
    Absent { name: BriefName, dir: String },
    #[error("cannot read on in `{name}`: {reason}")]
    Unreadable { name: BriefName, reason: Unreadable },
}

#[derive(Serialize)]
struct Report<'a> {
    token: &'a str,
    from: usize,
    next: Option<usize>,
    chars: usize,
    tokens_x10: u64,
    tokenizer: &'static str,
    exact: bool,
    text: &'a str,
}

impl Args {
    pub(super) fn run(
        &self,
        options: &BriefOptions,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Resolved { settings, diagnostics } =
            resolve(&app.project, layers(options.layer(), app)?);
        say_diagnostics(app, &diagnostics, output);
        let name = self.listed(&settings.priority)?;
        let content = document(&app.project, name, &settings)?;
        let tokenizer = open_tokenizer(settings.tokenizer)?;
        let from = CharOffset::new(self.from);
        let rest =
            Rest::read(Text::new(&content), from, settings.budget, &*tokenizer).map_err(refused)?;
        match app.format {
            Format::Text => output.data(&rest.cited(&settings, name).to_string())?,
            Format::Json => output.json(&Report {
                token: name.as_str(),
                from: self.from,
                next: rest.next.map(CharOffset::get),
                chars: rest.text.chars(),
                tokens_x10: tokenizer.count(rest.text).tenths(),
                tokenizer: tokenizer.vocabulary().name(),
                exact: tokenizer.vocabulary().is_exact(),
                text: rest.text.as_str(),
            })?,
        }
        Ok(Exit::Done)
    }

    fn listed<'p>(&self, priority: &'p DocumentPriority) -> Result<&'p BriefName, Failure> {
        priority.find(&self.name).ok_or_else(|| {
            let known: Vec<_> = priority.names().iter().map(BriefName::as_str).collect();
            Failure::new(Exit::Usage, ReadError::NotListed { given: self.name.clone() })
                .maybe_hint(did_you_mean(&self.name, known.iter().copied()))
                .hint(format!("listed: {}", known.join(", ")))
        })
    }
}

fn document(project: &Path, name: &BriefName, settings: &BriefSettings) -> Result<String, Failure> {
    let dir = project.join(settings.dir.as_str());
    let name = name.clone();
    let found = if leads_out(project, settings) {
        FileFinding::Unreadable(Unreadable::OutsideDir)
    } else {
        read(&dir, &name, settings)
    };
    match found {
        FileFinding::Text(content) => Ok(content),
        FileFinding::Absent => {
            let dir = dir.display().to_string();
            Err(Failure::new(Exit::Surroundings, ReadError::Absent { name, dir })
                .hint("run `convoke brief --explain` to see what there is"))
        }
        FileFinding::Unreadable(reason) => {
            Err(Failure::new(Exit::Surroundings, ReadError::Unreadable { name, reason }))
        }
    }
}

fn refused(error: RestError) -> Failure {
    let hint = match error {
        RestError::BeyondEnd { .. } => "the document may have changed; run `convoke brief` again",
        RestError::NothingFits { .. } => "raise `--budget`",
    };
    Failure::new(Exit::Usage, error).hint(hint)
}
