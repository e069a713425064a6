//! `convoke man`: manual pages.

use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use convoke_service::failure::{ErrorClass, Failure};

use super::Cli;
use crate::exit::Exit;
use crate::output::{Output, OutputError, Paging};
use crate::terminal::styled::StyledLine;

/// Print a manual page, or write all of them to a folder
///
/// At a terminal, opens the page in `man`, or shows the help where there is no `man`.
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// The command, such as `task add` [default: convoke itself]
    command: Vec<String>,

    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
enum ManError {
    #[error("there is no command `{}`", .0.escape_debug())]
    Unknown(String),
    #[error("cannot write manual pages to `{}`", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
}

impl ManArgs {
    /// Runs the command.
    pub fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        if let Some(dir) = &self.dir {
            let failed = |source| {
                let error = ManError::Folder { path: dir.clone(), source };
                Failure::new(ErrorClass::Prerequisite, error)
            };
            std::fs::create_dir_all(dir).map_err(failed)?;
            clap_mangen::generate_to(Cli::command(), dir).map_err(failed)?;
            return Ok(Exit::Done);
        }
        let mut page = Vec::new();
        Man::new(self.meant()?).render(&mut page).map_err(OutputError)?;
        if output.is_terminal() {
            let text = String::from_utf8_lossy(&page);
            if !output.manual(&text) {
                let help = self.meant()?.render_long_help().to_string();
                let lines: Vec<_> = help.lines().map(StyledLine::plain).collect();
                output.long(&lines, Paging::Allowed)?;
            }
            return Ok(Exit::Done);
        }
        output.data(&String::from_utf8_lossy(&page)).map(|()| Exit::Done)
    }

    fn meant(&self) -> Result<Command, Failure> {
        let mut command = Cli::command();
        command.build(); // Names every command's page.
        for word in &self.command {
            let Some(found) = command.find_subcommand(word).cloned() else {
                let words = self.command.join(" ");
                return Err(Failure::new(ErrorClass::Usage, ManError::Unknown(words))
                    .hint("`convoke help --all` lists all commands"));
            };
            command = found;
        }
        Ok(command)
    }
}
