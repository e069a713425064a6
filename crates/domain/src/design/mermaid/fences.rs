//! The diagrams of a Markdown text: which fences hold them, and the headings that they have.

use std::collections::VecDeque;

use super::{Diagram, Kind};

/// Finds the diagrams of a Markdown text.
pub(super) fn diagrams_of_markdown(text: &str) -> Vec<Diagram<'_>> {
    let mut found = Vec::new();
    let mut headings = Headings::default();
    let mut open: Option<(Fence, Diagram<'_>)> = None;
    for (index, line) in text.lines().enumerate() {
        match &mut open {
            Some((fence, _)) if fence.is_closed_by(line) => found.extend(open.take()),
            Some((_, diagram)) => diagram.body.push(line),
            None => match Fence::opened_by(line) {
                Some(fence) => {
                    let kind = Some(headings.kind());
                    let diagram = Diagram { kind, body: Vec::new(), first_line: index + 2 };
                    open = Some((fence, diagram));
                }
                None => headings.feed(line),
            },
        }
    }
    let found = found.into_iter().chain(open);
    found.filter(|(fence, _)| fence.diagram).map(|(_, diagram)| diagram).collect()
}

/// A fence of back-ticks; those of tildes hide nothing here.
#[derive(Clone, Copy)]
struct Fence {
    length: usize,
    diagram: bool,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let (length, info) = ticks(line)?;
        let is_fence = length >= 3 && !info.contains('`');
        is_fence.then(|| Self { length, diagram: info.trim() == "mermaid" })
    }

    fn is_closed_by(self, line: &str) -> bool {
        ticks(line).is_some_and(|(length, rest)| length >= self.length && rest.trim().is_empty())
    }
}

fn ticks(line: &str) -> Option<(usize, &str)> {
    let words = line.trim_start_matches(' ');
    let rest = words.trim_start_matches('`');
    (line.len() - words.len() <= 3).then_some((words.len() - rest.len(), rest))
}

/// The last filled lines outside of fences.
#[derive(Default)]
struct Headings<'a> {
    last: VecDeque<&'a str>,
}

impl<'a> Headings<'a> {
    const WINDOW: usize = 5;

    fn feed(&mut self, line: &'a str) {
        if line.trim().is_empty() {
            return;
        }
        if self.last.len() == Self::WINDOW {
            self.last.pop_front();
        }
        self.last.push_back(line.trim());
    }

    fn kind(&self) -> Kind {
        let has = |heading: &str| self.last.iter().any(|line| line.eq_ignore_ascii_case(heading));
        if has("## Code Flow Diagram") {
            Kind::CodeFlow
        } else if has("## Architecture Diagram") {
            Kind::Architecture
        } else {
            Kind::Unknown
        }
    }
}
