//! What is warned of on the way.

use super::world::{World, sketch};

// The same words twice say no more than once, and whose seat stays empty is said.
#[test]
fn seats_that_fail_are_told_apart() {
    let both = World::new()
        .failing("sketch/Cursor-", "no quota")
        .failing("sketch/Cursor-Edge/host", "gone")
        .answer("sketch/Cursor-Arch/host", sketch())
        .run();
    let warnings = both.shown().matches("**⚠ Cursor failed — no quota.").count();
    assert_eq!(warnings, 2, "{}", both.shown());
    both.shows("**⚠ Claude sketch failed (Cursor-Edge): gone. Going on without it.**");
}

// The chair may put findings together, but not without a word all of them.
#[test]
fn one_group_of_all_findings_is_remarked_on() {
    let more = |count: usize| {
        let found = |n: usize| {
            format!(
                "{n}. [correctness] Draft {n} in src/d{n}.rs is lost at the {n}th stop, and \
                     nobody is told that it is gone, not even whoever wrote it on that day.\n"
            )
        };
        (1..=count).map(found).collect::<String>()
    };
    let merged = |count: usize, groups: &str| {
        World::new().answer("review/", more(count)).answer("chair/merge", groups).run().shown()
    };
    let warning = "**⚠ The chair put all 3 findings together: there is one vote on all of them.**";
    assert_eq!(merged(3, "GROUP 1: R1, R2, R3").matches(warning).count(), 2);
    assert!(!merged(3, "GROUP 1: R1, R2\nGROUP 2: R3").contains("findings together"));
    assert!(!merged(2, "GROUP 1: R1, R2").contains("findings together"));
}
