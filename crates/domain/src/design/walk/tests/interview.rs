//! The lines around questions to a person.

use super::world::World;

// P-173: a question that the code answers is reported instead of asked.
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

// P-168: one step asks at most four questions; the next one asks the others.
#[test]
fn questions_beyond_a_steps_limit_move_to_the_next() {
    let question = |number: usize| {
        format!(
            "### Question {number}: Matter {number}\n- Question: Is it so?\n- Recommended: yes\n\n"
        )
    };
    let six: String = (1..=6).map(question).collect();
    let mut world = World::new().answer("chair/questions", six);
    world.settings.auto = false;
    world.replies.insert("1d/2", "No, not the sixth");
    let run = world.run();
    run.shows("ℹ 1c: questions — 2 more in step 1d\n");
    run.shows("✅ 1d: discussion r1 — 2 decisions resolved (");
    let file = run.file("discussion-round1.md");
    assert!(file.starts_with("### Decision 1: Matter 5\n"), "{file}");
    assert!(file.contains("### Decision 2: Matter 6\n"), "{file}");
    assert!(run.prompts("sketch/").iter().all(|prompt| prompt.contains("No, not the sixth")));
    // The chair may ask for the same again.
    let scope = question(5).replace("Question 5", "Question 1");
    let many = World::new()
        .answer("chair/questions", (1..=12).map(question).collect::<String>())
        .answer("chair/scope", scope);
    let mut many = many;
    many.settings.auto = false;
    let many = many.run();
    many.shows("⏩ Remaining scope questions deferred to implementation.\n");
    assert_eq!(many.file("discussion-round1.md").matches("Matter 5\n").count(), 1);
}
