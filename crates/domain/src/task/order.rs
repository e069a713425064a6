//! Where a task goes among its siblings.

use super::id::TaskId;

/// The distance between siblings that are numbered anew, so that the next ones fit between them.
const GAP: i64 = 1024;

/// A place among siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiblingPlace<'a> {
    /// Before all of them.
    First,
    /// Behind all of them.
    Last,
    /// Right before this one.
    Before(&'a TaskId),
    /// Right behind this one.
    After(&'a TaskId),
}

/// Returns the order numbers to set that move a task to a place among its siblings; `siblings`
/// lists all others with their numbers, in order. Only the task's own number changes if one is free
/// there. `None` if the sibling that the place names is not listed.
pub fn orders(
    task: &TaskId,
    siblings: &[(TaskId, i64)],
    place: SiblingPlace<'_>,
) -> Option<Vec<(TaskId, i64)>> {
    let at = |wanted: &TaskId| siblings.iter().position(|(id, _)| id == wanted);
    let index = match place {
        SiblingPlace::First => 0,
        SiblingPlace::Last => siblings.len(),
        SiblingPlace::Before(sibling) => at(sibling)?,
        SiblingPlace::After(sibling) => at(sibling)? + 1,
    };
    let before = index.checked_sub(1).map(|index| siblings[index].1);
    let behind = siblings.get(index).map(|(_, order)| *order);
    let free = match (before, behind) {
        (None, None) => Some(1),
        (Some(before), None) => before.checked_add(1),
        (None, Some(behind)) => behind.checked_sub(1),
        (Some(before), Some(behind)) => {
            let middle = before.saturating_add(behind.saturating_sub(before) / 2);
            (before < middle && middle < behind).then_some(middle)
        }
    };
    if let Some(order) = free {
        return Some(vec![(task.clone(), order)]);
    }
    let mut ids: Vec<_> = siblings.iter().map(|(id, _)| id.clone()).collect();
    ids.insert(index, task.clone());
    Some(ids.into_iter().zip((1..).map(|number: i64| number.saturating_mul(GAP))).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: usize) -> TaskId {
        TaskId::parse(&format!("t{number}")).unwrap()
    }

    proptest! {
        #[test]
        fn a_task_comes_to_its_place_and_all_others_keep_their_order(
            mut numbers in prop::collection::vec(-3_i64..5, 0..8),
            extremes in any::<bool>(),
            index in 0..9_usize,
        ) {
            if extremes {
                numbers.extend([i64::MIN, i64::MAX]);
            }
            numbers.sort_unstable();
            let siblings: Vec<_> = numbers.iter().enumerate().map(|(at, n)| (id(at), *n)).collect();
            let index = index.min(siblings.len());
            let place = match index {
                0 => SiblingPlace::First,
                index => SiblingPlace::After(&siblings[index - 1].0),
            };
            let task = TaskId::parse("moved").unwrap();
            let set = orders(&task, &siblings, place).unwrap();
            let of = |id: &TaskId, now: i64| {
                set.iter().find(|(set, _)| set == id).map_or(now, |(_, order)| *order)
            };
            let own = of(&task, 0);
            for (at, (sibling, now)) in siblings.iter().enumerate() {
                let order = of(sibling, *now);
                prop_assert!(if at < index { order < own } else { order > own }, "{set:?}");
            }
        }
    }

    #[test]
    fn a_stranger_is_no_sibling() {
        let siblings = [(id(1), 1), (id(2), 5)];
        let stranger = id(9);
        assert_eq!(orders(&id(3), &siblings, SiblingPlace::Before(&stranger)), None);
        let set = orders(&id(3), &siblings, SiblingPlace::Before(&siblings[1].0));
        assert_eq!(set, Some(vec![(id(3), 3)]), "only its own number changes");
    }
}
