//! What the page of tasks says of plans and agents.

use convoke_service::task::{AgentAtWorkReport, HeldTaskReport, PlanCountReport};

use super::*;

fn report() -> TaskPageReport {
    let plan = |plan: Option<&str>, tasks| PlanCountReport { plan: plan.map(str::to_owned), tasks };
    let held = HeldTaskReport { id: "t-00001".to_owned(), content: "Write <b>".to_owned() };
    let agent = |agent: &str, tasks: Vec<HeldTaskReport>| AgentAtWorkReport {
        agent: agent.to_owned(),
        client: Some("claude".to_owned()),
        status: Some("busy"),
        tasks,
    };
    let left =
        AgentAtWorkReport { client: None, status: None, ..agent("left", vec![held.clone()]) };
    TaskPageReport {
        branch: "a&b".to_owned(),
        branches: Vec::new(),
        plans: vec![plan(Some("plans/one.md"), 1200), plan(None, 3)],
        tasks: Vec::new(),
        left_out: 0,
        page: None,
        pages: 1,
        rules: Vec::new(),
        agents: vec![agent("worker", vec![held]), agent("idler", Vec::new()), left],
    }
}

fn shown(report: &TaskPageReport, plans: &TaskPlans) -> String {
    let frame = TaskFrame { access: Access::Full, csrf: "x", branch: "a&b", page: None, plans };
    tasks_page(report, frame).into_string()
}

#[test]
fn a_branch_with_several_plans_leads_to_each() {
    let mut report = report();
    let all = shown(&report, &TaskPlans::All);
    for link in [
        "<a href=\"/tasks?branch=a%26b\" aria-current=\"page\">All plans (1,203)</a>",
        "<a href=\"/tasks?branch=a%26b&amp;plan=plans%2Fone.md\">plans/one.md (1,200)</a>",
        "<a href=\"/tasks?branch=a%26b&amp;without_plan=1\">Without a plan (3)</a>",
    ] {
        assert!(all.contains(link), "{link}: {all}");
    }
    let one = shown(&report, &TaskPlans::File("plans/one.md".to_owned()));
    assert!(one.contains("aria-current=\"page\">plans/one.md (1,200)"), "{one}");
    assert!(one.contains("type=\"hidden\" name=\"plan\" value=\"plans/one.md\""), "{one}");
    let none = shown(&report, &TaskPlans::WithoutFile);
    assert!(none.contains("type=\"hidden\" name=\"without_plan\" value=\"1\""), "{none}");
    report.plans.truncate(1);
    assert!(!shown(&report, &TaskPlans::All).contains("aria-label=\"Plans\""));
}

#[test]
fn the_page_says_who_works_on_what() {
    let mut report = report();
    let page = shown(&report, &TaskPlans::All);
    let table = page.split("Who works on what").nth(1).unwrap();
    let rows: Vec<_> = table.split("<tr data-row>").skip(1).collect();
    let link = "<a href=\"/tasks/t-00001?branch=a%26b\">Write &lt;b&gt;</a>";
    assert!(rows[0].contains("@worker") && rows[0].contains("<td>busy</td>"), "{rows:?}");
    assert!(rows[0].contains(link), "{rows:?}");
    assert!(rows[1].contains("@idler") && rows[1].contains("<td>none</td>"), "{rows:?}");
    assert!(rows[2].contains("no agent of this branch") && rows[2].contains(link), "{rows:?}");
    report.agents.clear();
    assert!(shown(&report, &TaskPlans::All).contains("This branch has no agent."));
}
