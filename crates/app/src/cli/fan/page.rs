//! A fan-out in words.

use convoke_domain::lane::budget::dollars;
use convoke_domain::text::{counted, one_line};
use convoke_service::fan::{FanForecastReport, FanReport};
use convoke_service::run::RunStateReport;

use crate::terminal::styled::{Ink, StyledLine};

/// How many changed paths are named.
const MOST_PATHS: usize = 5;

/// Returns the lines of a dry run.
pub(super) fn forecast_lines(report: &FanForecastReport) -> Vec<StyledLine> {
    let same = report.items - report.distinct;
    let same = if same > 0 { format!(", {same} identical to others") } else { String::new() };
    let mut lines = vec![
        format!("{}{same}, {} answered already", counted(report.items, "item"), report.answered),
        format!("Convoke would ask {} for {}", report.agent, counted(report.to_ask, "answer")),
        report.forecast.clone(),
    ];
    lines.extend(
        report
            .shortage
            .as_ref()
            .map(|short| format!("the remaining budget is probably too small: {short}")),
    );
    lines.push(format!("run: {}", report.run));
    lines.iter().map(|line| StyledLine::plain(line)).collect()
}

/// Returns the page of a run.
pub(super) fn report_lines(report: &FanReport) -> Vec<StyledLine> {
    let prompt = one_line(report.template.lines().next().unwrap_or_default());
    let model = report.asked_model.as_ref().map_or(String::new(), |model| format!(" ({model})"));
    let commit = report.commit.as_deref().map_or("none", |commit| &commit[..commit.len().min(12)]);
    let row = |name: &str, text: &str| {
        StyledLine::new(Ink::Quiet, &format!("{name:<9}")).with(Ink::Plain, text)
    };
    let mut lines = vec![
        StyledLine::new(Ink::Heading, "Fan-out  ").with(Ink::Strong, &prompt),
        row("run", &format!("{}, {}", report.run, report.state)),
        row("agent", &format!("{}{model}", report.agent)),
        row("commit", commit),
        row("items", &report.sentence()),
        row("cost", &spent(report)),
    ];
    lines.extend(report.stopped.as_deref().map(|why| row("stopped", &one_line(why))));
    let next = if report.state == RunStateReport::Stopped {
        format!("convoke resume {}", report.run)
    } else {
        format!("convoke show {} --artifact results", report.run)
    };
    lines.push(row("next", &next));
    lines
}

fn spent(report: &FanReport) -> String {
    let tokens = report.spent.input_tokens.saturating_add(report.spent.output_tokens);
    let money = report.spent.micro_dollars.map(|money| format!(", {}", dollars(money)));
    let lanes = usize::try_from(report.lanes).unwrap_or(usize::MAX);
    let unknown = match report.without_usage {
        0 => String::new(),
        count => format!(", {count} without usage"),
    };
    let budget = report.budget.as_ref().map(|budget| format!(", of a budget of {budget}"));
    format!(
        "{tokens} tokens{}{} in {}{unknown}",
        money.unwrap_or_default(),
        budget.unwrap_or_default(),
        counted(lanes, "lane")
    )
}

/// Returns the lines at the end of a call.
pub(super) fn ending_lines(report: &FanReport) -> Vec<String> {
    let mut lines = vec![format!("{} · {}", report.sentence(), spent(report))];
    if let Some(tree) = report.tree.as_ref().filter(|tree| tree.status != "clean") {
        let paths: Vec<_> = tree.paths.iter().take(MOST_PATHS).map(|path| one_line(path)).collect();
        let reason = tree.reason.unwrap_or_default();
        lines.push(match tree.status {
            "dirty" => format!(
                "warning: the working tree changed while read-only agents worked: {}",
                paths.join(", ")
            ),
            _ => format!("warning: Convoke cannot tell whether the working tree changed: {reason}"),
        });
    }
    if let Some(why) = &report.stopped {
        lines.push(format!("stopped: {}", one_line(why)));
        lines.push(format!("hint: convoke resume {}", report.run));
    } else if report.unfit > 0 {
        lines.push(
            "hint: repeat the command with `--retry` to ask again for what does not fit".to_owned(),
        );
    }
    lines
}
