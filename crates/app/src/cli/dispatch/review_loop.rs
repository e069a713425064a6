//! `convoke dispatch loop`: all reviewers of a command, until they approve or it must end.

use convoke_domain::dispatch::role::Proof;
use convoke_domain::lane::budget::dollars;
use convoke_domain::text::{counted, hanging};
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::dispatch::{
    ChangedFiles, FinishedLoop, LoopAnswerReport, LoopCostReport, LoopFindingReport,
    ReviewLoopReport, ReviewLoopRequest, also_wrote_lines, issue_lines, review_loop,
};
use convoke_service::failure::Failure;
use convoke_service::sarif::ReviewLog;

use super::lanes::LaneArgs;
use super::{LABEL, MaybeFeature};
use crate::app::{App, Format};
use crate::cli::lane::{AgentWord, model_name};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::styled::{Ink, StyledLine};

/// Run a command's reviewers until all approve, with fixes in between
///
/// Convoke asks all reviewers in parallel, and then again those that did not approve. When each has
/// approved, it asks all of them once more. With `--write`, the command's fixer fixes the issues
/// between rounds; without it, the loop stops so that you can fix them. The next call continues the
/// loop, also after an interruption. `dispatch reset` starts over.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command whose reviewers run, such as `implement`
    command: String,

    #[command(flatten)]
    feature: MaybeFeature,

    /// The agent that reviews: a client, `acp:NAME` for an agent of the Agent Client Protocol,
    /// `http:NAME` for a configured model API, or `replay:FILE` for recorded lanes
    #[arg(long, value_parser = AgentWord)]
    client: AgentRef,

    /// The model to use [default: the client's choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// The agent that fixes: a client, or `replay:FILE` for recorded lanes [default: the reviewers'
    /// client]
    #[arg(long, value_name = "CLIENT", value_parser = AgentWord)]
    fix_client: Option<AgentRef>,

    /// Stop after this many rounds [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,

    /// Stop from this round on if only warnings are left; 0 for never [default: 3]
    #[arg(long, value_name = "N")]
    floor_from: Option<u32>,

    /// Settle a finding that you do not want fixed, by the id that the summary shows
    #[arg(long, value_name = "ID")]
    dismiss: Vec<String>,

    /// Stop after each round of reviews, so that you can fix the issues
    #[arg(long)]
    no_fix: bool,

    /// Let the command's fixer change files, as far as its client's settings allow
    #[arg(long)]
    write: bool,

    /// Take the files that changed since this commit
    #[arg(long, value_name = "REV")]
    changed_since: Option<String>,

    #[command(flatten)]
    lanes: LaneArgs,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let app = &self.lanes.otel.context(app);
        let sarif = self.lanes.sarif.prepare(&app.session)?;
        let ended = review_loop(&app.session, &self.request(app));
        let logged = sarif.write(|| ReviewLog::of_loop(&app.session, &ended));
        let FinishedLoop { report, hint, .. } = ended?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                let columns = output.page_size().0;
                output.sheet(&lines(&report, columns), LABEL)?;
            }
        }
        if let Some(hint) = hint {
            output.say(&format!("hint: {hint}"));
        }
        logged?;
        Ok(report.class().map_or(Exit::Done, Exit::from))
    }

    fn request(&self, app: &App) -> ReviewLoopRequest {
        let nothing = || ChangedFiles::Listed(Vec::new());
        ReviewLoopRequest {
            command: self.command.clone(),
            feature: self.feature.feature.clone(),
            client: self.client.clone(),
            model: self.model.clone(),
            fix_client: self.fix_client.clone(),
            max: self.max,
            floor_from: self.floor_from,
            dismiss: self.dismiss.clone(),
            stops_for_fix: self.no_fix,
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            changed: self.changed_since.clone().map_or_else(nothing, ChangedFiles::Since),
            proof: Proof::of(self.lanes.require_proof),
            rules: self.lanes.rules.rules(),
            task: self.lanes.task.clone(),
            budget: self.lanes.settle(&app.session, "dispatch loop"),
        }
    }
}

fn lines(report: &ReviewLoopReport, columns: usize) -> Vec<StyledLine> {
    let header = format!("{:<6} {:<26} {:<7} {:>8}", "round", "role", "verdict", "tokens");
    let mut lines = vec![StyledLine::new(Ink::Strong, &header)];
    let plain = |text: String| StyledLine::plain(&text);
    for (at, answer) in report.answers.iter().enumerate() {
        lines.push(answer_line(answer));
        let is_last = !report.answers[at + 1..].iter().any(|later| later.role == answer.role);
        if is_last {
            let words = answer.also_wrote.iter();
            lines.extend(words.flat_map(|words| also_wrote_lines(words, columns)).map(plain));
            let light = answer.light.iter().flat_map(|issue| issue_lines(issue, columns));
            lines.extend(light.map(plain));
        }
    }
    for LoopFindingReport { id, fate, issue, .. } in &report.findings {
        let text = format!("{id} {fate:<8} ");
        let room = columns.saturating_sub(text.len());
        let text = text + &hanging(&issue.text(), room, 2);
        lines.extend(text.lines().map(StyledLine::plain));
    }
    lines.push(plain(cost_line(report)));
    let after =
        format!("after {}", counted(usize::try_from(report.rounds).unwrap_or(usize::MAX), "round"));
    lines.push(plain(match report.reason.obstacle() {
        None => format!("approved {after}"),
        Some(obstacle) => format!("not approved {after}: {obstacle}"),
    }));
    lines
}

fn answer_line(answer: &LoopAnswerReport) -> StyledLine {
    let (verdict, ink) = match answer.passed {
        Some(true) => ("PASS", Ink::Good),
        Some(false) => ("FAIL", Ink::Bad),
        None if answer.is_void => ("none", Ink::Caution),
        // The user called the loop again; Convoke does not know what happened meanwhile.
        None if answer.is_by_hand => ("again", Ink::Plain),
        None => ("fixed", Ink::Plain),
    };
    let tokens = answer.input_tokens.zip(answer.output_tokens).map(|(read, wrote)| read + wrote);
    let unknown = if answer.is_by_hand { "-" } else { "?" };
    let tokens = tokens.map_or(unknown.to_owned(), |tokens| tokens.to_string());
    StyledLine::plain(&format!("{:<6} {:<26} ", answer.round, answer.role))
        .with(ink, verdict)
        .with(Ink::Plain, &" ".repeat(7_usize.saturating_sub(verdict.len())))
        .with(Ink::Plain, &format!(" {tokens:>8}"))
}

fn cost_line(report: &ReviewLoopReport) -> String {
    let LoopCostReport { tokens, micro_dollars, is_complete, tokens_per_accepted, .. } =
        &report.cost;
    let least = if *is_complete { "" } else { "at least " };
    let all = match micro_dollars {
        0 => format!("{least}{tokens} tokens"),
        micro => format!("{least}{tokens} tokens, {}", dollars(*micro)),
    };
    match tokens_per_accepted {
        Some(each) => format!("{all}; {each} tokens for each of {} accepted", report.accepted),
        None => all,
    }
}
