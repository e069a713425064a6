//! Rules about leases of runs.

use std::sync::Mutex;
use std::thread;

use convoke_domain::run::RunId;
use convoke_store::lease::{LeaseAnswer, LeaseClaim};

use super::*;

pub(super) fn runs_have_one_worker(one: &dyn Store, other: &dyn Store) {
    let run = RunId::parse("20261117-200000-abcde").unwrap();
    let owner = |pid| Owner { pid, mark: "boot 1 on somewhere".to_owned() };
    let now = at(1000);
    let take = |store: &dyn Store, pid, seconds, is_gone: &dyn Fn(&Owner) -> bool| {
        let (owner, lasts) = (owner(pid), SignedDuration::from_secs(seconds));
        let claim = LeaseClaim { owner: &owner, machine: "build-1", lasts, is_gone };
        match store.take_lease(&run, claim, now).unwrap() {
            LeaseAnswer::Taken => None,
            LeaseAnswer::HeldBy(lease) => Some((lease.owner.pid, lease.machine)),
        }
    };
    let unknown = |_: &Owner| false;
    let winners = Mutex::new(Vec::new());
    thread::scope(|threads| {
        for (pid, store) in (1..).zip([one, other, one, other, one, other, one, other]) {
            let (winners, take) = (&winners, &take);
            threads.spawn(move || {
                if take(store, pid, 600, &|_| false).is_none() {
                    winners.lock().unwrap().push(pid);
                }
            });
        }
    });
    let winners = winners.into_inner().unwrap();
    assert_eq!(winners.len(), 1, "one process has it: {winners:?}");
    let winner = winners[0];
    let held = Some((winner, "build-1".to_owned()));
    assert_eq!(take(other, 99, 600, &unknown), held, "another machine cannot see the process");
    assert_eq!(take(one, winner, 600, &unknown), None, "its own lease is renewed");
    let seen: Vec<_> = other.leases(now).unwrap().into_iter().map(|lease| lease.run).collect();
    assert_eq!(seen, std::slice::from_ref(&run));
    other.end_lease(&run, &owner(99)).unwrap();
    assert_eq!(other.leases(now).unwrap().len(), 1, "another process's lease stays");
    assert_eq!(take(other, 99, 0, &|held: &Owner| held.pid == winner), None, "its process ended");
    assert_eq!(other.leases(now).unwrap(), [], "its time has passed");
    assert_eq!(take(one, 7, 600, &unknown), None);
    one.end_lease(&run, &owner(7)).unwrap();
    assert_eq!(one.leases(now).unwrap(), []);
}
