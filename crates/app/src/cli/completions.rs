//! `convoke completions`: what a shell needs to complete command lines.

use clap_complete::{Shell, generate};
use convoke_service::failure::Failure;

use super::help::{HelpExtent, grouped};
use crate::exit::Exit;
use crate::output::Output;

/// Print a script that completes command lines in your shell
///
/// For bash: `convoke completions bash > ~/.local/share/bash-completion/completions/convoke`
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell that loads the script
    shell: Shell,
}

impl CompletionsArgs {
    /// Runs the command.
    pub fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut grouped(HelpExtent::Usual), "convoke", &mut script);
        output.data(&String::from_utf8_lossy(&script)).map(|()| Exit::Done)
    }
}
