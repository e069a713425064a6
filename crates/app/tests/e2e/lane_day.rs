//! The day's budget while lanes run.

use std::fs;

use crate::lane_ledger::{claude, document, run, started, with_agents};

// What a running lane will probably use is not there for another one, in any process.
#[test]
fn a_running_lane_takes_its_part_of_the_days_budget() {
    let endless = "if [ -e ../endless ]; then echo $$ > pid; sleep 300; fi\n";
    let script = format!("{endless}{}", claude("s-1", 0.25));
    let project =
        with_agents(&[("claude", &script)]).variable("CONVOKE_LANE_BUDGET_PER_DAY", "4900");
    assert_eq!(run(&project, "claude", &[]).code, Some(0), "2484 tokens");
    fs::write(project.path("../endless"), "").unwrap();
    let mut convoke = started(&project);
    let refused = run(&project, "claude", &[]);
    assert_eq!(
        refused.to_string(),
        "exit: 5\n--- stdout\n--- stderr\nover budget after 0.0 s: a running lane may need the \
         rest of the day's budget: used 2484 of 4900 tokens\n"
    );
    assert_eq!(document(&project, &["lane", "list"])[2]["state"], "over_budget");
    // A lane whose process was killed uses nothing more.
    convoke.kill().unwrap();
    convoke.wait().unwrap();
    fs::remove_file(project.path("../endless")).unwrap();
    assert_eq!(run(&project, "claude", &[]).code, Some(0));
    assert_eq!(run(&project, "claude", &[]).code, Some(5), "4968 tokens");
}
