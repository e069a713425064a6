//! `convoke plumbing mermaid`.

use std::path::Path;

use convoke_domain::design::mermaid::request::{Misuse, Request};
use convoke_domain::design::mermaid::{check, unchecked_log_entry};

use crate::cli::mermaid::{log, read};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let request = match Request::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            let Misuse { request, .. } = &misuse;
            return unchecked(request, &misuse.to_string(), output);
        }
    };
    let Some(text) = read(request.input.as_deref().map(Path::new)) else {
        return unchecked(&request, "unreadable input", output);
    };
    let report = check(&text, request.markdown);
    for line in report.lines() {
        output.data(&format!("{line}\n"))?;
    }
    if let (Some(path), Some(entry)) = (&request.log, report.log_entry(&request.step)) {
        log(Path::new(path), &entry, output);
    }
    Ok(if report.is_safe() { Exit::Done } else { Exit::No })
}

fn unchecked(request: &Request, error: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.data(&format!("STATUS=internal-error\nERROR={error}\n"))?;
    if let Some(path) = &request.log {
        log(Path::new(path), &unchecked_log_entry(&request.step), output);
    }
    Ok(Exit::Usage)
}
