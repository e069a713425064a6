//! The order of dependent tasks, and whether it has a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::Task;
use super::id::TaskId;

/// The beginning or the end of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment<'a> {
    Begin(&'a TaskId),
    End(&'a TaskId),
}

/// Returns the tasks that wait for each other, the first of them at both ends; `None` if every task
/// can be done at some time.
///
/// A task begins after the tasks before it end, and after the task begins that it is part of; it ends
/// after its parts do.
pub fn circle(tasks: &[Task]) -> Option<Vec<TaskId>> {
    if tasks.iter().all(|task| task.after.is_empty()) {
        return None;
    }
    let known: BTreeMap<_, _> = tasks.iter().map(|task| (&task.id, task)).collect();
    let mut parts: BTreeMap<&TaskId, Vec<&TaskId>> = BTreeMap::new();
    for task in tasks {
        if let Some(parent) = &task.parent {
            parts.entry(parent).or_default().push(&task.id);
        }
    }
    let needs = |moment: Moment<'_>| -> Vec<Moment<'_>> {
        let task = match moment {
            Moment::Begin(id) | Moment::End(id) => known.get(id).copied(),
        };
        let Some(task) = task else { return Vec::new() };
        match moment {
            Moment::Begin(_) => {
                let before = task.after.iter().filter_map(|id| known.get(id));
                let above = task.parent.iter().filter_map(|id| known.get(id));
                let before = before.map(|before| Moment::End(&before.id));
                before.chain(above.map(|above| Moment::Begin(&above.id))).collect()
            }
            Moment::End(_) => {
                let parts = parts.get(&task.id).into_iter().flatten();
                let parts = parts.map(|part| Moment::End(part));
                parts.chain([Moment::Begin(&task.id)]).collect()
            }
        }
    };
    let mut done = BTreeSet::new();
    let starts = tasks.iter().filter(|task| !task.after.is_empty());
    starts.into_iter().find_map(|task| search(Moment::Begin(&task.id), &needs, &mut done))
}

/// Searches depth first, with a stack of its own: a chain may be as long as a plan.
fn search<'a>(
    start: Moment<'a>,
    needs: &impl Fn(Moment<'a>) -> Vec<Moment<'a>>,
    done: &mut BTreeSet<Moment<'a>>,
) -> Option<Vec<TaskId>> {
    let mut way = vec![(start, needs(start))];
    let mut on_way = BTreeSet::from([start]);
    while let Some((moment, left)) = way.last_mut() {
        let Some(next) = left.pop() else {
            on_way.remove(moment);
            done.insert(*moment);
            way.pop();
            continue;
        };
        if on_way.contains(&next) {
            return Some(ids(&way, next));
        }
        if !done.contains(&next) {
            on_way.insert(next);
            way.push((next, needs(next)));
        }
    }
    None
}

/// Names the tasks of a circle, each once but for the first.
fn ids(way: &[(Moment<'_>, Vec<Moment<'_>>)], again: Moment<'_>) -> Vec<TaskId> {
    let from = way.iter().position(|(moment, _)| *moment == again).unwrap_or_default();
    let circle = way[from..].iter().map(|(moment, _)| *moment).chain([again]);
    let mut ids: Vec<_> = circle
        .map(|moment| match moment {
            Moment::Begin(id) | Moment::End(id) => id.clone(),
        })
        .collect();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::super::fixture::task;
    use super::*;

    /// Reads `id parent after,after` lines.
    fn found(lines: &str) -> Option<String> {
        let parse = |line: &str| {
            let words: Vec<_> = line.split(' ').collect();
            let mut task = task(&format!("{} {} 1 - pending x", words[0], words[1]));
            let after = words.get(2).into_iter().flat_map(|ids| ids.split(','));
            task.after = after.map(|id| TaskId::parse(id).unwrap()).collect();
            task
        };
        let tasks: Vec<_> = lines.lines().map(parse).collect();
        let circle = circle(&tasks)?;
        Some(circle.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn tasks_that_could_never_begin_are_found() {
        for (lines, circle) in [
            ("a - b\nb -", None),
            ("a - b,c\nb - c\nc - gone", None),
            ("p -\na p b\nb p", None),
            ("p - q\na p\nq -\nb q", None),
            ("a - a", Some("a")),
            ("a - b\nb - a", Some("a b a")),
            // A task cannot wait for its own part, nor a part for the task it is part of.
            ("p - a\na p", Some("p a p")),
            ("p -\na p p", Some("a p a")),
            // One waits for another whose part waits for it.
            ("x - y\ny -\nz y x", Some("x y z x")),
            // The parts of a waiting task wait, too.
            ("p - x\na p\nx - a", Some("p x a p")),
        ] {
            let expected = circle.map(str::to_owned);
            assert_eq!(found(lines), expected, "{lines}");
        }
    }

    #[test]
    fn a_long_chain_is_no_circle_and_takes_no_stack() {
        let lines: Vec<_> = (0..20_000).map(|n| format!("t{n} - t{}", n + 1)).collect();
        assert_eq!(found(&lines.join("\n")), None);
    }
}
