//! What is said around the questions to a person.

use super::world::World;

// P-173: what the code answers is not asked, but said.
#[test]
fn what_the_code_answers_is_reported() {
    let question = |number: usize, title: &str, last: &str| {
        format!("### Question {number}: {title}\n- **Question**: Is it so?\n- **{last}\n\n")
    };
    let by_code = question(1, "Retries", "Answered by code**: Three, src/retry.rs:4");
    let asked = question(2, "Offline", "Recommended**: yes");
    let mut world = World::new()
        .answer("chair/questions", by_code.clone())
        .answer("chair/scope", format!("{by_code}{asked}"))
        .answer("chair/interview", by_code.replace("Retries", "Waits"));
    world.settings.auto = false;
    let run = world.run();
    for line in [
        "ℹ 1c: questions — Retries: Three, src/retry.rs:4 (by the code)\n",
        "ℹ 1d: discussion r1 — Retries: Three, src/retry.rs:4 (by the code)\n",
        "ℹ 3.5: discussion r2 — Waits: Three, src/retry.rs:4 (by the code)\n",
    ] {
        assert_eq!(run.shown().matches(line).count(), 1, "{line}\n{}", run.shown());
    }
}
