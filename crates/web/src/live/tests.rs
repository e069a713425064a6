//! Live pages with listeners of every kind, by a clock that only tests advance.

use std::future::Future;

use tokio::task::yield_now;
use tokio::time::sleep;

use super::*;

/// Runs a test with a clock that jumps to the next wake-up as soon as every task waits.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(test);
}

/// A live page, and what shows it.
fn page() -> (Live, Seen) {
    let live = Live::default();
    let (sender, receiver) = watch::channel(Arc::default());
    live.pages.lock().unwrap().insert(LivePage::Now, sender);
    (live, receiver)
}

fn publish(live: &Live, text: &str) -> Option<Change> {
    live.publish(&LivePage::Now, Some(Parts::from([("lanes", Arc::from(text))])))
}

/// A browser that listens.
fn listener(seen: &Seen) -> Receiver<Bytes> {
    let (sender, receiver) = channel(1);
    tokio::spawn(tell(seen.clone(), sender));
    receiver
}

async fn news(receiver: &mut Receiver<Bytes>) -> String {
    let event = receiver.recv().await.unwrap();
    String::from_utf8(event.to_vec()).unwrap()
}

#[test]
fn a_page_is_looked_at_ten_times_a_second_at_most() {
    let (mut pace, quick) = (Pace::default(), Duration::from_millis(1));
    for _ in 0..50 {
        assert_eq!(pace.step(Change::New, quick), Duration::from_millis(100));
    }
    // A slow look takes a quarter of the time at most.
    let slow = Duration::from_millis(80);
    assert_eq!(pace.step(Change::New, slow), Duration::from_millis(320));
    for _ in 0..CALM {
        assert_eq!(pace.step(Change::Same, quick), Duration::from_millis(100));
    }
    assert_eq!(pace.step(Change::Same, quick), Duration::from_millis(500));
    assert_eq!(pace.step(Change::New, quick), Duration::from_millis(100));
}

#[test]
fn updates_that_come_faster_than_a_browser_reads_are_one() {
    run(async {
        let (live, seen) = page();
        let mut browser = listener(&seen);
        for number in 0..1000 {
            assert_eq!(publish(&live, &format!("state {number}")), Some(Change::New));
            if number % 100 == 0 {
                yield_now().await;
            }
        }
        let mut events = vec![news(&mut browser).await];
        while !events.last().unwrap().contains("state 999") {
            events.push(news(&mut browser).await);
        }
        // One waits in its pipe, one was about to be sent, and the last one follows.
        assert!(events.len() <= 3, "{events:?}");
        assert!(events[0].starts_with("event: parts\ndata: {\"lanes\":\"state "), "{events:?}");
    });
}

#[test]
fn only_parts_that_changed_are_sent() {
    run(async {
        let (live, seen) = page();
        let mut browser = listener(&seen);
        let both = |lanes: &str| {
            let parts = Parts::from([("lanes", Arc::from(lanes)), ("spent", Arc::from("$1"))]);
            live.publish(&LivePage::Now, Some(parts))
        };
        both("one");
        assert!(news(&mut browser).await.contains("spent"));
        both("two");
        assert_eq!(news(&mut browser).await, "event: parts\ndata: {\"lanes\":\"two\"}\n\n");
        assert_eq!(both("two"), Some(Change::Same));
        // Nothing new: a sign of life, and no parts.
        assert_eq!(news(&mut browser).await, "event: here\ndata:\n\n");
    });
}

#[test]
fn a_page_that_cannot_be_read_says_so() {
    run(async {
        let (live, seen) = page();
        let mut browser = listener(&seen);
        publish(&live, "one");
        assert!(news(&mut browser).await.contains("one"));
        assert_eq!(live.publish(&LivePage::Now, None), Some(Change::New));
        assert_eq!(news(&mut browser).await, "event: unreadable\ndata:\n\n");
        assert_eq!(live.publish(&LivePage::Now, None), Some(Change::Same));
        // The sign that the server is there does not say that the page lives.
        assert_eq!(news(&mut browser).await, "event: unreadable\ndata:\n\n");
        // A browser that comes now learns it with its first event.
        assert_eq!(news(&mut listener(&seen)).await, "event: unreadable\ndata:\n\n");
        assert_eq!(publish(&live, "one"), Some(Change::New));
        assert_eq!(news(&mut browser).await, "event: here\ndata:\n\n");
    });
}

#[test]
fn a_slow_browser_loses_its_place_and_harms_no_other() {
    run(async {
        let (live, seen) = page();
        let (slow, mut quick) = (listener(&seen), listener(&seen));
        drop(seen);
        for number in 0..3 {
            publish(&live, &format!("state {number}"));
            assert!(news(&mut quick).await.contains(&format!("state {number}")));
        }
        assert_eq!(live.listeners(), 2);
        sleep(PATIENCE + STEP).await;
        assert_eq!(live.listeners(), 1, "its place is free");
        while news(&mut quick).await.contains("event: here") {
            publish(&live, "later");
        }
        drop(slow);
    });
}

#[test]
fn a_browser_that_leaves_gives_its_place_back() {
    run(async {
        let (live, seen) = page();
        let browser = listener(&seen);
        drop(seen);
        yield_now().await;
        assert_eq!(live.listeners(), 1);
        drop(browser);
        yield_now().await;
        assert_eq!(live.listeners(), 0);
        // Without listeners the page is no longer looked at.
        assert_eq!(publish(&live, "unseen"), None);
    });
}
