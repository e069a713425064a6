//! `convoke statusline`: one line for a client's status line and for shells.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use convoke_domain::text::{fitting, one_line};
use convoke_service::failure::Failure;
use convoke_service::statusline::{StatuslineReport, StatuslineRequest, statusline};

use super::status::spent;
use crate::app::Format;
use crate::env;
use crate::exit::Exit;
use crate::input;
use crate::output::{LineReader, Output};
use crate::terminal::styled::{Ink, StyledLine};

/// No client says more about a session.
const MAX_INPUT: u64 = 1024 * 1024;

/// A client writes its input right away. A pipe that stays silent and open belongs to a shell.
const INPUT_LIMIT: Duration = Duration::from_millis(500);

/// A title in fewer columns says nothing.
const LEAST_TITLE: usize = 4;

const GAP: &str = " · ";

/// Print one line: agent, task, unread messages, spent today
///
/// For Claude Code's `statusLine`, whose JSON it reads on stdin, and for shell prompts and terminal
/// multiplexers. The line fits `COLUMNS`, else the terminal, else 80 columns, and is coloured for Claude
/// Code and terminals unless `NO_COLOR` is set.
///
/// Reads the store as it is: creates no store, registers no session, marks no message as read. After an
/// error, prints a short line about it and exits 0.
#[derive(Debug, clap::Args)]
pub struct StatuslineArgs {}

/// Returns the format of a command line that calls `statusline` alone or with `--json`; `None` for any
/// other.
pub fn parse_alone(arguments: &[OsString]) -> Option<Format> {
    let words: Vec<_> = arguments.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    match words.iter().map(AsRef::as_ref).collect::<Vec<&str>>().as_slice() {
        ["statusline"] => Some(Format::Text),
        ["statusline", "--json"] => Some(Format::Json),
        _ => None,
    }
}

/// Runs the command.
pub fn run(project: Option<PathBuf>, format: Format, output: &mut Output) -> Result<Exit, Failure> {
    let input = if input::has_person() { None } else { input::read_soon(MAX_INPUT, INPUT_LIMIT) };
    let input = input.filter(|text| !text.trim().is_empty());
    let reader = if input.is_some() { LineReader::Client } else { LineReader::Shell };
    let report = statusline(&env::captured(), &StatuslineRequest { input, project });
    match format {
        Format::Json => output.json(&report)?,
        Format::Text => {
            let columns = env::columns().unwrap_or_else(|| output.page_size().0);
            output.line(&line(&report, columns), reader)?;
        }
    }
    Ok(Exit::Done)
}

/// Renders the line. Only the title gives way to the width, until nothing of it is left.
fn line(report: &StatuslineReport, columns: usize) -> StyledLine {
    if report.project.is_none() {
        let why = report.problem.as_deref().unwrap_or("no facts");
        return StyledLine::new(Ink::Quiet, "convoke: ").with(Ink::Caution, why).fitted(columns);
    }
    let mut start = match &report.agent {
        Some(agent) => StyledLine::new(Ink::Strong, &format!("@{agent}")),
        None => StyledLine::new(Ink::Quiet, "no agent"),
    };
    start.push(Ink::Quiet, GAP);
    let end = end(report);
    match &report.task {
        Some(task) => {
            if !task.is_begun {
                start.push(Ink::Quiet, "next ");
            }
            start.push(Ink::Code, &task.id);
            let room = columns.saturating_sub(start.width() + 1 + end.width());
            if room >= LEAST_TITLE {
                let title = fitting(&one_line(&task.title), room);
                start.push(Ink::Plain, &format!(" {title}"));
            }
        }
        None if report.total > 0 => start.push(Ink::Quiet, "all tasks closed"),
        None => start.push(Ink::Quiet, "no tasks"),
    }
    start.extend(&end);
    start.fitted(columns)
}

fn end(report: &StatuslineReport) -> StyledLine {
    let mut end = StyledLine::default();
    for unread in report.unread.iter().filter(|unread| unread.count > 0) {
        let is_agents = report.agent.as_ref() == Some(&unread.reader);
        let whose = if is_agents { String::new() } else { format!(" for @{}", unread.reader) };
        end.push(Ink::Quiet, GAP);
        end.push(Ink::Caution, &format!("{} unread{whose}", unread.count));
    }
    let Some(today) = &report.today else {
        let why = report.problem.as_deref().unwrap_or("unknown");
        end.push(Ink::Quiet, GAP);
        end.push(Ink::Caution, &format!("today unknown: {why}"));
        return end;
    };
    let more = if today.without_usage + today.partial_usage > 0 { "+" } else { "" };
    let budget = match today.budgets.as_slice() {
        [] => String::new(),
        budgets => format!(" of {}", budgets.join(" and ")),
    };
    let ink = if today.is_used_up { Ink::Bad } else { Ink::Plain };
    let amount = spent(today.tokens, today.micro_dollars);
    end.push(Ink::Quiet, GAP);
    end.push(ink, &format!("today {amount}{more}{budget}"));
    end
}

#[cfg(test)]
mod tests {
    use convoke_service::status::{SpentToday, UnreadMessages};
    use convoke_service::task::CurrentTask;
    use proptest::prelude::*;

    use super::*;

    fn report(title: &str) -> StatuslineReport {
        StatuslineReport {
            project: Some("app".to_owned()),
            branch: Some("main".to_owned()),
            agent: Some("june".to_owned()),
            task: Some(CurrentTask {
                id: "t-3fa9c".to_owned(),
                title: title.to_owned(),
                is_begun: true,
                agent: None,
            }),
            closed: 1,
            total: 3,
            unread: vec![UnreadMessages { reader: "june".to_owned(), count: 2 }],
            today: Some(SpentToday {
                lanes: 3,
                without_usage: 1,
                partial_usage: 0,
                tokens: 12_345,
                micro_dollars: Some(420_000),
                budgets: vec!["$20.00".to_owned()],
                is_used_up: false,
            }),
            problem: None,
        }
    }

    #[test]
    fn the_title_gives_way_before_the_numbers() {
        let title = "Build the parser of the configuration file";
        let end = " · 2 unread · today 12k tokens, $0.42+ of $20.00";
        for (columns, expected) in [
            (120, format!("@june · t-3fa9c {title}{end}")),
            (80, format!("@june · t-3fa9c Build the parse…{end}")),
            (66, format!("@june · t-3fa9c{end}")),
            (40, "@june · t-3fa9c · 2 unread · today 12k …".to_owned()),
        ] {
            let line = line(&report(title), columns);
            assert_eq!(line.text(), expected);
            assert!(line.width() <= columns);
        }
    }

    #[test]
    fn facts_that_are_missing_are_named() {
        let mut report = report("x");
        (report.agent, report.task, report.today) = (None, None, None);
        report.problem = Some("cannot read settings".to_owned());
        let text = line(&report, 120).text();
        assert_eq!(
            text,
            "no agent · all tasks closed · 2 unread for @june · today unknown: cannot read settings"
        );
        report.project = None;
        assert_eq!(line(&report, 120).text(), "convoke: cannot read settings");
    }

    proptest! {
        #[test]
        fn it_is_one_line_of_its_width_that_no_terminal_obeys(
            title in any::<String>(), columns in 0_usize..200,
        ) {
            let line = line(&report(&title), columns);
            prop_assert!(line.width() <= columns);
            prop_assert!(!line.text().contains(char::is_control), "{:?}", line);
        }
    }

    #[test]
    fn a_terminals_orders_in_a_title_are_not_obeyed() {
        let text = line(&report("a\u{1b}[2J\u{7}b\nc\u{202e}d"), 120).text();
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
    }
}
