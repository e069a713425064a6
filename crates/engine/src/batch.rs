//! Running several functions in parallel, with results in the order of the calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The most items that are processed in parallel.
const WIDTH: usize = 4;

/// Calls `work` on every item, four at a time, and returns the results in item order.
///
/// The calling thread works too. If the system gives no more threads, fewer do the same work.
pub fn in_parallel<T, R>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R>
where
    T: Sync,
    R: Send,
{
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((index, item)) = claim(items, &next) {
            done.push((index, work(item)));
        }
        done
    };
    let mut results = thread::scope(|scope| {
        let helpers: Vec<_> = (1..WIDTH.min(items.len()))
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, take).ok())
            .collect();
        let mut results = take();
        for helper in helpers {
            match helper.join() {
                Ok(done) => results.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn claim<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    items.get(index).map(|item| (index, item))
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(20);

    // B-17: no read waits for another to end, so four that wait for each other all arrive.
    #[test]
    fn all_work_starts_before_any_of_it_ends() {
        let (started, all_started) = (Mutex::new(0), Condvar::new());
        let arrived = in_parallel(&[1, 2, 3, 4], |_| {
            let mut count = started.lock().unwrap();
            *count += 1;
            all_started.notify_all();
            let (_count, late) =
                all_started.wait_timeout_while(count, DEADLINE, |count| *count < 4).unwrap();
            !late.timed_out()
        });
        assert_eq!(arrived, [true; 4]);
    }

    // B-17: the first result comes first even when it is the last to be ready.
    #[test]
    fn results_come_in_the_order_asked_for() {
        let (finished, one_finished) = (Mutex::new(0), Condvar::new());
        let results = in_parallel(&[0, 1, 2, 3], |&item| {
            let mut done = finished.lock().unwrap();
            if item == 0 {
                let wait = one_finished.wait_timeout_while(done, DEADLINE, |done| *done < 3);
                done = wait.unwrap().0;
            }
            *done += 1;
            one_finished.notify_all();
            (item, *done)
        });
        assert_eq!(results.iter().map(|(item, _)| *item).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(results[0].1, 4, "the first item was the last to finish");
    }

    #[test]
    fn more_items_than_threads_are_all_done() {
        let items: Vec<usize> = (0..50).collect();
        assert_eq!(
            in_parallel(&items, |item| item * 2),
            items.iter().map(|i| i * 2).collect::<Vec<_>>()
        );
        assert!(in_parallel(&[] as &[usize], |item| *item).is_empty());
    }
}
