//! The content that passes through a pipeline, from program to program.

use super::super::Lines;
use super::program::{Role, Style};
use super::syntax::{Command, Pipeline, Word};

/// The content that a pipeline shows so far.
pub(super) struct Showing {
    pub(super) files: Vec<Word>,
    pub(super) lines: Lines,
    pub(super) style: Style,
    /// Its lines are those that match.
    pub(super) is_search: bool,
}

/// The content that passes through a pipeline.
pub(super) enum Flow {
    /// Nothing that is in a file.
    Nothing,
    /// Lines of these files.
    Files(Showing),
    /// Unknown.
    Doubt,
}

/// Follows the shown text through a pipeline.
pub(super) fn flow(pipeline: &Pipeline) -> Flow {
    let mut flow = Flow::Nothing;
    for command in &pipeline.commands {
        flow = after(flow, command);
        if command.is_output_away {
            flow = Flow::Nothing;
        }
    }
    flow
}

fn after(flow: Flow, command: &Command) -> Flow {
    let input = command.input.clone();
    match (Role::of(command), flow) {
        (Role::Shows { files, lines, style }, flow) => {
            let files = if files.is_empty() { input.into_iter().collect() } else { files };
            match (files.is_empty(), flow) {
                (false, _) => Flow::Files(Showing { files, lines, style, is_search: false }),
                (true, Flow::Files(before)) => Flow::Files(narrowed(before, lines, style)),
                (true, flow) => flow,
            }
        }
        (Role::Finds { files }, Flow::Files(before)) if files.is_empty() => {
            Flow::Files(Showing { lines: Lines::Some, style: Style::Altered, ..before })
        }
        (Role::Finds { files }, Flow::Nothing | Flow::Files(_)) => {
            let files = if files.is_empty() { input.into_iter().collect() } else { files };
            let (lines, style) = (Lines::Some, Style::Altered);
            Flow::Files(Showing { files, lines, style, is_search: true })
        }
        (Role::Hides | Role::Moves { .. }, Flow::Files(_) | Flow::Nothing) => Flow::Nothing,
        (Role::Other, _) | (_, Flow::Doubt) => Flow::Doubt,
    }
}

/// Shows only a part of the already shown text.
fn narrowed(before: Showing, lines: Lines, style: Style) -> Showing {
    let style = if style == Style::Plain { before.style } else { style };
    let lines = match (before.lines, lines) {
        (before, Lines::Whole) => before,
        _ if before.files.len() > 1 || before.is_search => Lines::Some,
        (Lines::Whole, lines) => lines,
        (Lines::Range { first, last }, Lines::Range { first: skip, last: most }) => {
            let shift = first.saturating_sub(1);
            let end = if most == Lines::END { last } else { most.saturating_add(shift).min(last) };
            Lines::Range { first: skip.saturating_add(shift), last: end }
        }
        _ => Lines::Some,
    };
    Showing { lines, style, ..before }
}
