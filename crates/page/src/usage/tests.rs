//! What the page of usage says.

use convoke_service::now::BudgetTodayReport;
use convoke_service::usage::LaneRangeReport;

use super::*;

fn row(name: Option<&str>, input: u64, forecast: Option<LaneForecastReport>) -> LaneUsageRow {
    LaneUsageRow {
        name: name.map(str::to_owned),
        lanes: 1200,
        without_usage: 2,
        without_money: 3,
        partial_usage: 0,
        input_tokens: input,
        cached_tokens: 40,
        output_tokens: 500,
        reasoning_tokens: 60,
        micro_dollars: Some(1_250_000),
        forecast,
    }
}

fn report() -> UsagePageReport {
    let range = |median, p90| LaneRangeReport { median, p90 };
    let forecast = LaneForecastReport {
        lanes: 50,
        tokens: range(1000, 9000),
        micro_dollars: Some(range(20_000, 90_000)),
        took_ms: Some(range(61_000, 125_000)),
    };
    let group = |by, rows| LaneUsageReport { by, rows, total: row(None, 7000, None) };
    let budget = BudgetTodayReport {
        budget: "2M tokens".to_owned(),
        unit: "tokens",
        spent: 500_000,
        most: 2_000_000,
        is_used_up: false,
    };
    UsagePageReport {
        since: "2026-01-02".to_owned(),
        groups: vec![
            group(
                "day",
                vec![row(Some("2026-01-02"), 10, None), row(Some("2026-01-03"), 20, None)],
            ),
            group(
                "role",
                vec![
                    row(Some("few <b>"), 10, None),
                    row(Some("many"), 9000, Some(forecast)),
                    row(None, 300, None),
                ],
            ),
        ],
        spending: SpendingTodayReport {
            lanes: 3,
            without_usage: 0,
            tokens: 500_000,
            micro_dollars: None,
            budgets: vec![budget],
        },
    }
}

/// Returns the names of a table's rows, in its order.
fn names(section: &str) -> Vec<&str> {
    let rows = section.split("<th scope=\"row\">").skip(1);
    rows.map(|row| row.split('<').next().unwrap()).collect()
}

#[test]
fn each_group_has_a_chart_and_a_table_with_its_largest_first() {
    let shown = usage_page(&report(), 30).into_string();
    let sections: Vec<_> = shown.split("<h2>By ").skip(1).collect();
    assert!(sections[0].starts_with("day") && sections[1].starts_with("role"), "{shown}");
    // Days run backwards; every other group begins with what used most.
    assert_eq!(names(sections[0]), ["2026-01-03", "2026-01-02"]);
    assert_eq!(names(sections[1]), ["many", "none", "few &lt;b&gt;"]);
    assert!(sections[1].contains("aria-label=\"Tokens by role\""), "{}", sections[1]);
    for cell in
        ["<td class=\"number\">1,200</td>", ">9,000</td>", ">40</td>", ">500</td>", ">$1.25</td>"]
    {
        assert!(sections[1].contains(cell), "{cell}: {}", sections[1]);
    }
}

#[test]
fn a_table_has_its_hundred_largest_rows_and_says_how_many_more_there_are() {
    let mut report = report();
    let run = |number: u64| row(Some(&format!("20260102-030405-{number:05x}")), number, None);
    let mut rows: Vec<_> = (0..1234).map(run).collect();
    // A lane's purpose can name a run in words that are no id.
    rows.push(row(Some("<b>../x"), 9999, None));
    report.groups = vec![LaneUsageReport { by: "run", rows, total: row(None, 7000, None) }];
    let shown = usage_page(&report, 365).into_string();
    let links: Vec<_> =
        shown.split("<a href=\"/runs/").skip(1).filter_map(|link| link.split('"').next()).collect();
    assert_eq!(links.len(), 99, "{shown}");
    assert_eq!((links[0], links[98]), ("20260102-030405-004d1", "20260102-030405-0046f"));
    assert!(shown.contains("<th scope=\"row\">&lt;b&gt;../x</th>"), "{shown}");
    let more = "1,135 more. <code>convoke usage --by run --since 365d</code> lists all.";
    assert!(shown.contains(more), "{shown}");
    assert!(shown.contains("The chart shows 31 of 1235."), "{shown}");
    report.groups[0].rows.truncate(100);
    let shown = usage_page(&report, 365).into_string();
    assert!(!shown.contains("lists all"), "{shown}");
}

#[test]
fn the_page_has_forecasts_totals_and_budgets() {
    let shown = usage_page(&report(), 7).into_string();
    for words in [
        "1,000 tokens and 9,000 tokens; $0.02 and $0.09; 1 min 01 s and 2 min 05 s",
        "no earlier lane",
        "Since 2026-01-02",
        "1,200 (2 reported no usage)",
        "7,000 tokens, of which 40 from a cache",
        "500 tokens, of which 60 reasoning",
        "$1.25 (3 lanes reported no cost)",
        "Used 500,000 tokens of 2,000,000 tokens<progress value=\"500000\" max=\"2000000\">",
        "<a href=\"/usage?days=7\" aria-current=\"page\">7 days</a>",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let mut empty = report();
    for group in &mut empty.groups {
        group.rows.clear();
    }
    let shown = usage_page(&empty, 30).into_string();
    assert!(shown.contains("No lane of this project used a model in this period."), "{shown}");
    assert!(!shown.contains("By role"), "{shown}");
}
