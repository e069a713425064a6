//! What the page Now says of lanes, budgets, agents and hooks.

use std::path::PathBuf;

use super::*;

fn lane(tree: Option<TreeNowReport>) -> LiveLaneReport {
    LiveLaneReport {
        id: 1,
        agent: "claude".to_owned(),
        role: None,
        seat: None,
        phase: None,
        run: None,
        model: None,
        rights: "read",
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        tokens: None,
        micro_dollars: None,
        last_tool: None,
        tools: 0,
        heard_at: None,
        folder: Some(PathBuf::from("/project")),
        tree,
    }
}

#[test]
fn a_lane_says_what_its_working_tree_is_like() {
    let tree = |state, files| tree_state(&lane(Some(TreeNowReport { state, files }))).into_string();
    assert!(tree(TreeNowState::Clean, Some(0)).contains("✓ clean"));
    assert!(tree(TreeNowState::Changed, Some(1)).contains("changed: 1 file<"));
    assert!(tree(TreeNowState::Changed, Some(1200)).contains("changed: 1,200 files"));
    assert_eq!(tree(TreeNowState::NotWatched, None), "not watched");
    assert_eq!(tree_state(&lane(None)).into_string(), "not known yet");
    let elsewhere = LiveLaneReport { folder: None, ..lane(None) };
    assert_eq!(tree_state(&elsewhere).into_string(), "not known");
}

#[test]
fn budgets_of_a_day_say_what_is_used() {
    let budget = |unit, spent, most| BudgetTodayReport {
        budget: "words".to_owned(),
        unit,
        spent,
        most,
        is_used_up: spent >= most,
    };
    let today = SpendingTodayReport {
        lanes: 1200,
        without_usage: 3,
        tokens: 1_500_000,
        micro_dollars: Some(2_500_000),
        budgets: vec![
            budget("tokens", 1_500_000, 2_000_000),
            budget("micro_dollars", 2_500_000, 2_000_000),
        ],
    };
    let shown = spending(&today).into_string();
    for words in [
        "1,200 (3 reported no usage)",
        "1,500,000 tokens",
        "Used 1,500,000 tokens of 2,000,000 tokens<progress value=\"1500000\" max=\"2000000\">",
        // The bar of a budget that is used up ends at its end.
        "Used $2.50 of $2.00 <span class=\"tag bad\">used up</span>\
         <progress value=\"2000000\" max=\"2000000\">",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(shown.matches("used up").count(), 1, "{shown}");
    let none = SpendingTodayReport { budgets: Vec::new(), ..today };
    assert!(spending(&none).into_string().contains("No budget of a day is set."));
}

fn hooks(
    delivered: Option<&str>,
    arrived: Option<&str>,
    arrival: Option<WakeArrival>,
) -> ClientHooks {
    ClientHooks {
        client: "claude".to_owned(),
        installed: true,
        delivered_at: delivered.map(str::to_owned),
        arrived_at: arrived.map(str::to_owned),
        arrival,
        problem: None,
    }
}

#[test]
fn agents_and_hooks_say_how_they_are() {
    let agent = AgentReport {
        agent: "codex".to_owned(),
        path: None,
        version: Some("0.99".to_owned()),
        health: "does not answer",
        error: Some("no <login>".to_owned()),
        problem: None,
        read_only: "sandbox",
        resume: "yes",
        hooks: "user",
        model: None,
        key: None,
    };
    let (first, second) = ("2026-01-02T03:04:05Z", "2026-01-02T09:10:11Z");
    let broken = ClientHooks {
        installed: false,
        problem: Some("the <hook> has gone".to_owned()),
        ..hooks(None, None, None)
    };
    let report = AgentsNowReport {
        agents: vec![agent],
        hooks: vec![
            hooks(Some(first), Some(second), Some(WakeArrival::Arrived)),
            hooks(Some(second), Some(first), Some(WakeArrival::Missing)),
            hooks(Some(first), None, Some(WakeArrival::Unknown)),
            broken,
        ],
    };
    let shown = agents_section(&report).into_string();
    for words in ["codex", "does not answer: no &lt;login&gt;", "<td>0.99</td>", "<td>user</td>"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let rows: Vec<_> =
        shown.rsplit("<caption>").next().unwrap().split("<tr data-row>").skip(1).collect();
    let at = |at: &str| time(at).into_string();
    assert!(
        rows[0].contains(&format!("<td>{}</td><td>{}</td>", at(first), at(second))),
        "{rows:?}"
    );
    let missing = "<span class=\"tag warn\">the last one is missing</span>";
    assert!(rows[1].contains(missing) && rows[1].contains(&at(first)), "{rows:?}");
    assert!(rows[2].contains("<td>not seen</td>"), "{rows:?}");
    let words = "not installed</td><td>never</td><td>not seen</td><td>the &lt;hook&gt; has gone";
    assert!(rows[3].contains(words), "{rows:?}");
    let none = AgentsNowReport { agents: Vec::new(), hooks: Vec::new() };
    let shown = agents_section(&none).into_string();
    assert!(shown.contains("Convoke found no agent."), "{shown}");
    assert!(shown.contains("No client with hooks is installed."), "{shown}");
}

#[test]
fn the_page_says_why_agents_are_not_known() {
    let shown = |agents| agents_part(agents).into_string();
    assert!(shown(AgentsKnown::NotYet).contains("Convoke is looking for agents."));
    let failed = shown(AgentsKnown::Failed("cannot read `<a>`"));
    assert!(failed.contains("cannot read `&lt;a&gt;`"), "{failed}");
    assert!(!failed.contains("looking for agents"), "{failed}");
}
