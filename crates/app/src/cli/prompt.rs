//! `convoke prompt`: a message to an agent that wakes it.

use convoke_domain::scope::AgentName;
use convoke_engine::client::Rights;
use convoke_service::failure::Failure;
use convoke_service::prompt::{PromptDelivery, PromptReport, PromptRequest, prompt};

use crate::app::{App, Format};
use crate::cli::lane::BudgetArgs;
use crate::exit::Exit;
use crate::output::Output;

/// Wake an agent with a prompt and print its answer
///
/// Stores the prompt as a message and resumes the agent's session with its wake-up in a supervised
/// lane, read-only unless `--write` is given. Convoke does not interrupt a busy agent; the message
/// waits for the agent's next wake-up.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent to wake
    #[arg(value_parser = AgentName::parse)]
    agent: AgentName,

    /// The prompt
    text: String,

    /// The sender [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    speaker: Option<AgentName>,

    /// Let the agent change files, as far as its client's settings allow
    #[arg(long)]
    write: bool,

    /// Store the message and print the wake-up without starting the agent
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    call_budget: BudgetArgs,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let request = PromptRequest {
            agent: self.agent.clone(),
            text: self.text.clone(),
            speaker: self.speaker.clone(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            delivery: if self.print { PromptDelivery::Stored } else { PromptDelivery::Now },
            budget: self.call_budget.settle(&app.session, "prompt"),
        };
        let report = prompt(&app.session, &request)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => self.show(&report, output)?,
        }
        Ok(report.problem.map_or(Exit::Done, Exit::from))
    }

    fn show(&self, report: &PromptReport, output: &mut Output) -> Result<(), Failure> {
        match (&report.sentence, &report.why_not_sent) {
            (None, _) if self.print => {
                if report.command.is_empty() {
                    output.say("note: Convoke knows no command that resumes this agent's session");
                    return output.data(&report.text);
                }
                let command = report.command.join(" ");
                output.data(&format!("{command}\n\n{}", report.text))
            }
            (None, why) => {
                if let Some(why) = why {
                    output.say(&format!("note: {why}"));
                }
                Ok(())
            }
            (Some(sentence), _) => {
                output.say(sentence);
                let warning = report.warning.iter();
                warning.for_each(|line| output.say(&format!("warning: {line}")));
                let answer = report.answer.as_ref();
                output.data(&answer.map_or(String::new(), |text| format!("{}\n", text.trim_end())))
            }
        }
    }
}
