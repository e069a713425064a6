//! The page Now: what runs, what today costs, and whether agents and hooks work.

use convoke_service::agents::AgentReport;
use convoke_service::hooks::WakeArrival;
use convoke_service::now::{
    AgentsNowReport, BudgetTodayReport, LiveDesignReport, LiveLaneReport, NowReport,
    SpendingTodayReport, TreeNowReport, TreeNowState,
};
use convoke_service::run::RunStateReport;
use convoke_service::status::ClientHooks;
use maud::{Markup, html};

use crate::components::{empty, money, number, since, time, tokens};
use crate::layout::Access;

/// A part of a page that changes while it is shown: its element's id, and its content.
pub type LivePart = (&'static str, Markup);

/// What is known about agents.
#[derive(Debug, Clone, Copy)]
pub enum AgentsKnown<'a> {
    /// Nothing yet: finding out starts their programs.
    NotYet,
    /// What Convoke found out.
    Found(&'a AgentsNowReport),
    /// Why Convoke cannot find out.
    Failed(&'a str),
}

/// Returns the page's heading and its live parts, with the slow facts about agents below.
pub fn now_page(now: &NowReport, agents: AgentsKnown<'_>, access: Access) -> Markup {
    html! {
        h1 { "Now" }
        div.now {
            @for (id, content) in now_parts(now, agents, access) {
                section id=(id) data-part { (content) }
            }
        }
    }
}

/// Returns the parts of the page that change while it is shown.
pub fn now_parts(now: &NowReport, agents: AgentsKnown<'_>, access: Access) -> Vec<LivePart> {
    vec![
        ("spending", spending(&now.spending)),
        ("lanes", lanes(&now.lanes, access)),
        ("designs", designs(&now.designs, access)),
        ("agents", agents_part(agents)),
    ]
}

fn agents_part(agents: AgentsKnown<'_>) -> Markup {
    match agents {
        AgentsKnown::NotYet => looking(),
        AgentsKnown::Found(report) => agents_section(report),
        AgentsKnown::Failed(why) => not_found(why),
    }
}

fn looking() -> Markup {
    html! {
        h2 { "Agents" }
        p.soft { "Convoke is looking for agents." }
    }
}

fn not_found(why: &str) -> Markup {
    html! {
        h2 { "Agents" }
        p.failure { (why) }
        p.soft { "Convoke looks again within a minute. " code { "convoke agents" } " shows the same." }
    }
}

/// Returns what today costs, against the budgets of a day.
pub(crate) fn spending(today: &SpendingTodayReport) -> Markup {
    html! {
        h2 { "Today" }
        dl.facts {
            dt { "Lanes" }
            dd { (number(today.lanes))
                @if today.without_usage > 0 {
                    " (" (number(today.without_usage)) " reported no usage)"
                }
            }
            dt { "Tokens" }
            dd { (tokens(today.tokens)) }
            dt { "Cost" }
            dd { (money(today.micro_dollars)) }
        }
        @if today.budgets.is_empty() {
            p.soft { "No budget of a day is set. Set one with "
                code { "convoke config set lane.budget_per_day 2M" } }
        }
        @for budget in &today.budgets { (budget_bar(budget)) }
    }
}

fn budget_bar(budget: &BudgetTodayReport) -> Markup {
    let (spent, most) = if budget.unit == "tokens" {
        (tokens(budget.spent), tokens(budget.most))
    } else {
        (money(Some(budget.spent)), money(Some(budget.most)))
    };
    html! {
        p.budget {
            label {
                "Used " (spent) " of " (most)
                @if budget.is_used_up { " " span.tag.bad { "used up" } }
                progress value=(budget.spent.min(budget.most)) max=(budget.most.max(1)) {}
            }
        }
    }
}

fn lanes(lanes: &[LiveLaneReport], access: Access) -> Markup {
    html! {
        h2 { "Running lanes " span.count { (number(lanes.len() as u64)) } }
        @if lanes.is_empty() {
            (empty("No lane of this project runs.", "convoke lane run --agent claude \"PROMPT\""))
        } @else {
            (lane_cards(lanes, access))
        }
    }
}

/// Shows lanes that run.
pub(crate) fn lane_cards(lanes: &[LiveLaneReport], access: Access) -> Markup {
    html! {
        ul.cards { @for lane in lanes { (lane_card(lane, access)) } }
    }
}

fn lane_card(lane: &LiveLaneReport, access: Access) -> Markup {
    let unknown = || "not reported yet".to_owned();
    html! {
        li.card #{ "lane-" (lane.id) } data-row {
            h3 {
                (lane.seat.as_deref().or(lane.role.as_deref()).unwrap_or(&lane.agent))
                " "
                span.soft { "lane " (lane.id) }
            }
            dl.facts {
                dt { "Client" }
                dd { (lane.agent) }
                dt { "Model" }
                dd { (lane.model.as_deref().unwrap_or("not reported yet")) }
                @if let Some(role) = &lane.role { dt { "Role" } dd { (role) } }
                @if let Some(run) = &lane.run {
                    dt { "Design" }
                    dd { a href={ "/runs/" (run) } { (run) }
                        @if let Some(phase) = &lane.phase { ", step " (phase) }
                    }
                }
                dt { "Elapsed" }
                dd { (since(&lane.started_at)) }
                dt { "Tokens" }
                dd { (lane.tokens.map_or_else(unknown, tokens)) }
                dt { "Cost" }
                dd { (lane.micro_dollars.map_or_else(unknown, |micro| money(Some(micro)))) }
                dt { "Last tool" }
                dd { @match &lane.last_tool {
                    Some(tool) => { (tool) " (" (number(lane.tools)) " used)" },
                    None => "none yet",
                } }
                dt { "Working tree" }
                dd { (tree_state(lane)) ", "
                    @if lane.rights == "write" { span.tag.warn { "may change files" } } @else { "read-only" }
                }
                dt { "Last heard" }
                dd { @match &lane.heard_at {
                    Some(at) => (since(at)),
                    None => "not yet",
                } }
            }
            @if access == Access::Full {
                a.button.danger href={ "/lanes/" (lane.id) "/stop" } {
                    "Stop" span.hidden { " lane " (lane.id) } "…"
                }
            }
        }
    }
}

fn tree_state(lane: &LiveLaneReport) -> Markup {
    html! {
        @match lane.tree {
            None if lane.folder.is_none() => "not known",
            None => "not known yet",
            Some(TreeNowReport { state: TreeNowState::Clean, .. }) => span.tag.good { "✓ clean" },
            Some(TreeNowReport { state: TreeNowState::NotWatched, .. }) => "not watched",
            Some(TreeNowReport { state: TreeNowState::Changed, files }) => span.tag.warn {
                "changed: " (number(files.unwrap_or_default() as u64))
                @if files == Some(1) { " file" } @else { " files" }
            },
        }
    }
}

fn designs(designs: &[LiveDesignReport], access: Access) -> Markup {
    html! {
        h2 { "Open designs " span.count { (number(designs.len() as u64)) } }
        @if designs.is_empty() {
            (empty("No design runs, and none was stopped.", "convoke design \"FEATURE\""))
        } @else {
            ul.cards {
                @for design in designs { (design_card(design, access)) }
            }
        }
    }
}

fn design_card(design: &LiveDesignReport, access: Access) -> Markup {
    let is_running = design.state == RunStateReport::Running;
    html! {
        li.card #{ "design-" (design.run) } data-row {
            h3 { a href={ "/runs/" (design.run) } { (design.feature) } }
            dl.facts {
                dt { "State" }
                dd { span.tag.good[is_running].warn[!is_running] { (design.state) } }
                dt { "Run" }
                dd.mono { (design.run) }
                dt { "Began" }
                dd { @if is_running { (since(&design.started_at)) } @else { (time(&design.started_at)) } }
                dt { "Lanes" }
                dd { (number(design.running_lanes)) " running of " (number(design.lanes)) }
                dt { "Tokens" }
                dd { (tokens(design.tokens)) }
                dt { "Cost" }
                dd { (money(design.micro_dollars)) }
            }
            @if is_running && access == Access::Full {
                a.button.danger href={ "/runs/" (design.run) "/stop" } {
                    "Stop" span.hidden { " design " (design.run) } "…"
                }
            } @else if !is_running {
                p.soft { "Go on with " code { "convoke resume " (design.run) } }
            }
        }
    }
}

fn agents_section(report: &AgentsNowReport) -> Markup {
    html! {
        h2 { "Agents" }
        @if report.agents.is_empty() {
            (empty("Convoke found no agent.", "convoke doctor"))
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Table" {
                table {
                    caption { "Health as last probed; " code { "convoke agents --probe" } " asks again" }
                    thead { tr { th scope="col" { "Agent" } th scope="col" { "Health" }
                        th scope="col" { "Version" } th scope="col" { "Hooks" } } }
                    tbody { @for agent in &report.agents { (agent_row(agent)) } }
                }
            }
        }
        h2 { "Hooks" }
        @if report.hooks.is_empty() {
            (empty("No client with hooks is installed.", "convoke hooks install claude"))
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Table" {
                table {
                    caption { "When a wake-up was last delivered, and last seen in the client's own record" }
                    thead { tr { th scope="col" { "Client" } th scope="col" { "Installed" }
                        th scope="col" { "Delivered" } th scope="col" { "Arrived" } th scope="col" { "Problem" } } }
                    tbody { @for hooks in &report.hooks { (hooks_row(hooks)) } }
                }
            }
        }
    }
}

fn agent_row(agent: &AgentReport) -> Markup {
    html! {
        tr data-row {
            th scope="row" { (agent.agent) }
            td { (agent.health) @if let Some(error) = &agent.error { ": " (error) } }
            td { (agent.version.as_deref().unwrap_or("unknown")) }
            td { (agent.hooks) }
        }
    }
}

fn hooks_row(hooks: &ClientHooks) -> Markup {
    let when = |at: &Option<String>| {
        html! {
            @match at { Some(at) => (time(at)), None => "never" }
        }
    };
    html! {
        tr data-row {
            th scope="row" { (hooks.client) }
            td { @if hooks.installed { span.tag.good { "installed" } } @else { "not installed" } }
            td { (when(&hooks.delivered_at)) }
            td { @match (&hooks.arrived_at, hooks.arrival) {
                (_, Some(WakeArrival::Missing)) => {
                    span.tag.warn { "the last one is missing" }
                    @if let Some(at) = &hooks.arrived_at { " one was seen " (time(at)) }
                },
                (Some(at), _) => (time(at)),
                (None, _) => "not seen",
            } }
            td { (hooks.problem.as_deref().unwrap_or("none")) }
        }
    }
}

/// Returns the question before something stops.
pub fn confirm_stop(what: &str, effect: &str, action: &str, csrf: &str) -> Markup {
    html! {
        h1 { "Stop " (what) "?" }
        p { (effect) }
        form.row action=(action) method="post" {
            input type="hidden" name="csrf" value=(csrf);
            button.danger { "Stop " (what) }
            a.button href="/" { "Cancel" }
        }
    }
}

#[cfg(test)]
mod tests;
