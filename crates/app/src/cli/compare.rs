//! `convoke compare`: the same feature in a single pass by the chair, beside what the panel made.

use convoke_domain::design::event::Settings;
use convoke_domain::design::forecast::COMPARED;
use convoke_domain::design::outline::Plan;
use convoke_domain::design::plan::{check, read};
use convoke_domain::design::prompt;
use convoke_domain::design::seat::Holder;
use convoke_domain::design::walk::{Ending, Next};
use convoke_domain::lane::cap::dollars;
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::ledger::{Purpose, Sum};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::run::RunId;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::scratch;
use serde::Serialize;

use super::design::{DesignError, lane_limits};
use super::runs::{Known, matters};
use super::table::render;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use convoke_service::lane::{LaneRequest, LaneRun, PinnedRules, lane_failed, sentence};

/// Plan a design's feature once more in a single pass, and show it beside the panel's plan
///
/// One agent, the host of the run, writes a plan from the feature alone. So you can see whether the
/// panel paid: what both plans hold, what they cost and how long they took. The single plan is
/// printed below the table.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run, or the beginning of its name
    #[arg(value_parser = RunId::parse)]
    run: RunId,

    /// How long the lane may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = super::lane::seconds())]
    limit: std::time::Duration,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot compare `{run}`: it has no plan yet")]
struct NoPlan {
    run: RunId,
}

/// One way to a plan, in numbers.
#[derive(Serialize)]
struct Side {
    way: &'static str,
    lanes: u64,
    words: usize,
    tasks: usize,
    missing: usize,
    input_tokens: u64,
    output_tokens: u64,
    micro_dollars: Option<u64>,
    seconds: u64,
}

#[derive(Serialize)]
struct Report<'a> {
    /// Whether the panel's plan is what it came to in the end.
    is_finished: bool,
    /// What people decided in the panel's place, a line each.
    decided: Vec<String>,
    panel: Side,
    single: Side,
    single_plan: &'a str,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let known = Known::open(app, &self.run)?;
        known.warn_if_changed(output);
        let settings = known.facts.settings().map(|(_, settings)| settings);
        let plan = known.progress.results.plan.as_ref();
        let (Some(settings), Some(plan)) = (settings, plan) else {
            return Err(Failure::new(ErrorClass::Refused, NoPlan { run: known.run.id }));
        };
        let took: u64 = known.facts.ended().iter().map(|(_, end)| end.took).sum();
        let Sum { lanes, usage, .. } = known.sum()?;
        let panel = Side::new("panel", lanes, plan, usage, took / 1000);
        let is_finished = matches!(
            known.progress.next,
            Next::End(Ending::Complete { .. } | Ending::NotExported(_))
        );
        if !is_finished {
            output.say(&format!(
                "note: the run is not at its end, so the panel's plan is unfinished; see `convoke resume {}`",
                known.run.id
            ));
        }
        let decided = matters::decisions(&known.progress);
        for decision in &decided {
            output.say(&format!("note: {decision}"));
        }
        let ran = self.single(app, settings, &known.run.id)?;
        output.say(&sentence(&ran.driven, None));
        let answer =
            ran.driven.heard.answer().filter(|_| ran.driven.outcome == LaneOutcome::Answered);
        let Some(answer) = answer else { return Ok(Exit::of_lane(ran.driven.outcome)) };
        let single_plan = read(answer).text;
        let took = ran.driven.took.as_secs();
        let usage = ran.spent.unwrap_or_default();
        let single = Side::new("single", 1, &Plan::new(&single_plan), usage, took);
        let single_plan = single_plan.as_str();
        match app.format {
            Format::Json => {
                output.json(&Report { is_finished, decided, panel, single, single_plan })?;
            }
            Format::Text => {
                let header =
                    ["way", "lanes", "words", "tasks", "missing", "in", "out", "cost", "seconds"];
                let rows = [panel, single].map(|side| side.row());
                output.data(&render(header, rows, &[1, 2, 3, 4, 5, 6, 7, 8]))?;
                output.data(&format!("\n{}\n", single_plan.trim_end()))?;
            }
        }
        Ok(Exit::Done)
    }

    /// Has the host write a plan from the feature alone.
    fn single(&self, app: &App, settings: &Settings, run: &RunId) -> Result<LaneRun, Failure> {
        let chosen = settings.chosen(Holder::Host);
        let agent = AgentRef::parse(&chosen.agent).ok_or_else(|| {
            Failure::new(ErrorClass::Usage, DesignError::NoAgent { name: chosen.agent.clone() })
        })?;
        let empty = "";
        let prompt = prompt::plan(&prompt::Plan {
            feature: &settings.feature,
            discussion: empty,
            synthesis: empty,
            resolutions: empty,
        });
        let purpose = Purpose {
            run: Some(run.to_string()),
            role: Some("single-pass".to_owned()),
            phase: Some(COMPARED.to_owned()),
        };
        let order = LaneRequest {
            label: Some("compare"),
            model: chosen.model.as_deref(),
            rules: PinnedRules::Before.under(settings.policy),
            limits: lane_limits(self.limit),
            purpose,
            ..LaneRequest::new(&agent, &prompt)
        };
        let scratch = scratch::lane().map_err(lane_failed)?;
        order.run_watched(app, scratch.path(), &app.reporter())
    }
}

impl Side {
    fn new(way: &'static str, lanes: u64, plan: &Plan, usage: Usage, seconds: u64) -> Self {
        Self {
            way,
            lanes,
            words: plan.text.split_whitespace().count(),
            tasks: plan.task_count,
            missing: check(&plan.text).len(),
            input_tokens: usage.input,
            output_tokens: usage.output,
            micro_dollars: usage.micro_dollars,
            seconds,
        }
    }

    fn row(&self) -> [String; 9] {
        [
            self.way.to_owned(),
            self.lanes.to_string(),
            self.words.to_string(),
            self.tasks.to_string(),
            self.missing.to_string(),
            self.input_tokens.to_string(),
            self.output_tokens.to_string(),
            self.micro_dollars.map_or_else(|| "-".to_owned(), dollars),
            self.seconds.to_string(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_stands_beside_tokens_where_it_is_known() {
        let paid = Usage { input: 3, micro_dollars: Some(20_000), ..Usage::default() };
        let costs = [paid, Usage::default()]
            .map(|usage| Side::new("single", 1, &Plan::default(), usage, 0).row());
        assert_eq!(costs.map(|row| row[7].clone()), ["$0.02", "-"]);
    }
}
