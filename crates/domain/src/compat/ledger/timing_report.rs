//! Renders a report of a timing ledger.

use std::collections::BTreeMap;

use super::timing::{Seconds, TimedTask, TimingEvent, TimingRow, WorkEnding};
use super::{VENDORS, cell};

/// Returns the last step of a workflow in one line; nothing if it marked none.
pub fn terse(rows: &[TimingRow], skill: &str, now: Seconds) -> Option<String> {
    let mut own = rows.iter().rev().filter(|row| row.skill == skill);
    let (at, step) = own.find_map(mark)?;
    let since: Vec<_> = tasks(rows).filter(|task| task.end >= at).collect();
    let of = |vendor: &str| since.iter().filter(|task| task.vendor == vendor).count();
    let vendors: Vec<_> = VENDORS.iter().map(|vendor| format!("{vendor}={}", of(vendor))).collect();
    let elapsed = clock(now.saturating_sub(at));
    Some(format!("{step}: elapsed={elapsed} vendor-tasks={} ({})", since.len(), vendors.join(", ")))
}

/// Returns all steps and what agents took on average; nothing if no step was marked.
pub fn full(rows: &[TimingRow], now: Seconds) -> Option<String> {
    let marks: Vec<_> = rows.iter().filter_map(|row| Some((row, mark(row)?))).collect();
    let (first, (begun, _)) = marks.first()?;
    let root = first.skill.as_str();
    let path = rows.iter().rev().find_map(|row| match row.event {
        TimingEvent::Workflow(path) => Some(path.word()),
        TimingEvent::Mark(_) | TimingEvent::Task(_) => None,
    });
    let mut lines = vec![
        format!("**Workflow path**: {}\n", path.unwrap_or("unknown")),
        "## Per-Step Durations\n".to_owned(),
        "| Skill | Step | Duration |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for (index, (row, (at, step))) in marks.iter().enumerate() {
        // A step of the outermost workflow continues while others work for it.
        let is_root = row.skill == root;
        let ends = marks[index + 1..].iter().find(|(next, _)| !is_root || next.skill == root);
        let end = ends.map_or(now, |(_, (at, _))| *at);
        let nested = if is_root { "" } else { "↳ " };
        let (skill, step) = (cell(&row.skill), cell(step));
        let took = clock(end.saturating_sub(*at));
        lines.push(format!("| {nested}{skill} | {step} | {took} |"));
    }
    lines.push(format!("| **Total** | | {} |", clock(now.saturating_sub(*begun))));
    lines.extend(averages(rows));
    Some(lines.join("\n") + "\n")
}

/// Returns the table of agents' times, in minutes.
fn averages(rows: &[TimingRow]) -> Vec<String> {
    let mut samples: BTreeMap<(usize, &str, &str), Vec<Seconds>> = BTreeMap::new();
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    for task in tasks(rows) {
        if task.ending == WorkEnding::Complete {
            let order =
                VENDORS.iter().position(|vendor| *vendor == task.vendor).unwrap_or(VENDORS.len());
            let key = (order, task.vendor.as_str(), task.kind.as_str());
            samples.entry(key).or_default().push(task.duration());
        } else {
            *failures.entry(&task.kind).or_default() += 1;
        }
    }
    let mut lines = vec![
        "\n## Vendor Task Averages\n".to_owned(),
        "| Vendor | Task kind | Samples | Average | Range |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    for ((_, vendor, kind), times) in samples {
        let count = i64::try_from(times.len()).unwrap_or(i64::MAX);
        let average =
            minutes(times.iter().fold(0, |sum: i64, time| sum.saturating_add(*time)), count);
        let range = match (times.iter().min(), times.iter().max()) {
            (Some(least), Some(most)) if count > 1 => {
                format!("{}-{}", minutes(*least, 1), minutes(*most, 1))
            }
            _ => "(1 sample)".to_owned(),
        };
        let (vendor, kind) = (cell(vendor), cell(kind));
        lines.push(format!("| {vendor} | {kind} | {count} | {average} | {range} |"));
    }
    if !failures.is_empty() {
        let list: Vec<_> = failures.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        lines.push(format!("\n(Failures: {} not included in averages.)", list.join("; ")));
    }
    lines
}

fn mark(row: &TimingRow) -> Option<(Seconds, &str)> {
    match &row.event {
        TimingEvent::Mark(step) => Some((row.at, step)),
        TimingEvent::Task(_) | TimingEvent::Workflow(_) => None,
    }
}

fn tasks(rows: &[TimingRow]) -> impl Iterator<Item = &TimedTask> {
    rows.iter().filter_map(|row| match &row.event {
        TimingEvent::Task(task) => Some(task),
        TimingEvent::Mark(_) | TimingEvent::Workflow(_) => None,
    })
}

/// Formats seconds as `HH:MM:SS`; a negative duration counts as zero.
fn clock(seconds: Seconds) -> String {
    let seconds = seconds.max(0);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Formats a share of seconds in minutes, to the nearest tenth.
fn minutes(seconds: Seconds, shares: i64) -> String {
    let unit = shares.saturating_mul(6).max(1);
    let tenths = seconds.saturating_add(unit / 2) / unit;
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::timing::{Workflow, rows};
    use super::*;

    fn mark(at: Seconds, skill: &str, step: &str) -> TimingRow {
        TimingRow { at, skill: skill.to_owned(), event: TimingEvent::Mark(step.to_owned()) }
    }

    fn task(vendor: &str, kind: &str, start: Seconds, end: Seconds, code: i64) -> TimingRow {
        let ending = WorkEnding::of(Some(code));
        let task = TimedTask::new(vendor, kind, (start, end), "o", Some(code), ending).unwrap();
        TimingRow { at: end, skill: "design".to_owned(), event: TimingEvent::Task(task) }
    }

    fn example() -> Vec<TimingRow> {
        vec![
            mark(1000, "implement", "Step 1 — plan"),
            mark(1010, "design", "design Step 2a — sketches"),
            task("cursor", "cursor-sketch-arch", 1010, 1310, 0),
            task("codex", "codex-sketch-pragmatic", 1010, 1100, 124),
            mark(1400, "design", "design Step 3 — plan review"),
            task("cursor", "cursor-plan-arch", 1390, 1399, 0),
            task("cursor", "cursor-sketch-arch", 1400, 1520, 0),
            task("codex", "codex-plan-voter", 1400, 1460, 0),
            mark(2000, "implement", "Step 2 — a | b"),
            TimingRow {
                at: 2001,
                skill: "implement".to_owned(),
                event: TimingEvent::Workflow(Workflow::Hard),
            },
        ]
    }

    // P-368
    #[test]
    fn the_last_step_is_one_line() {
        let rows = example();
        assert_eq!(
            terse(&rows, "design", 5123).unwrap(),
            "design Step 3 — plan review: elapsed=01:02:03 vendor-tasks=2 (codex=1, cursor=1, gemini=0)"
        );
        assert_eq!(
            terse(&rows, "implement", 1999).unwrap(),
            "Step 2 — a | b: elapsed=00:00:00 vendor-tasks=0 (codex=0, cursor=0, gemini=0)"
        );
        assert_eq!(terse(&rows, "review", 5000), None);
    }

    // P-369
    #[test]
    fn all_steps_are_two_tables() {
        let text = full(&example(), 2060).unwrap();
        assert_eq!(
            text,
            "**Workflow path**: HARD\n\n## Per-Step Durations\n\n\
             | Skill | Step | Duration |\n|---|---|---|\n\
             | implement | Step 1 — plan | 00:16:40 |\n\
             | ↳ design | design Step 2a — sketches | 00:06:30 |\n\
             | ↳ design | design Step 3 — plan review | 00:10:00 |\n\
             | implement | Step 2 — a \\| b | 00:01:00 |\n\
             | **Total** | | 00:17:40 |\n\n\
             ## Vendor Task Averages\n\n\
             | Vendor | Task kind | Samples | Average | Range |\n|---|---|---|---|---|\n\
             | codex | codex-plan-voter | 1 | 1.0 | (1 sample) |\n\
             | cursor | cursor-plan-arch | 1 | 0.2 | (1 sample) |\n\
             | cursor | cursor-sketch-arch | 2 | 3.5 | 2.0-5.0 |\n\n\
             (Failures: 1 codex-sketch-pragmatic not included in averages.)\n"
        );
        assert_eq!(full(&[], 1), None);
        let alone = full(&example()[..1], 1060).unwrap();
        assert!(alone.starts_with("**Workflow path**: unknown\n"), "{alone}");
        assert!(!alone.contains("Failures"), "{alone}");
    }

    proptest! {
        #[test]
        fn any_ledger_is_reported(text in "((v1\tmark\t[0-9]{1,19}\ta\tb\t-\t-\t-\t-\t-\t-\t-\t-|v1\tvendor\t1\ta\t-\tx\ty\t-?[0-9]{1,18}\t[0-9]{1,18}\t-\t-\t-\tcomplete)\n){0,5}", now in any::<i64>()) {
            let (rows, _) = rows(&text);
            terse(&rows, "a", now);
            full(&rows, now);
        }
    }
}
