//! The real binary, run as users run it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot set itself up should stop where it stands"
)]

mod acp_agents;
mod acp_lane;
mod action;
mod agent_sessions;
mod agents;
mod attend;
mod brief;
mod brief_bad_input;
mod brief_files;
mod brief_init;
mod brief_rest;
mod cli;
mod config;
mod config_set;
mod config_trust;
mod decisions_of_programs;
mod deeds;
mod design;
mod design_branch;
mod design_cost;
mod design_decide;
mod design_health;
mod design_heavy;
mod design_journals;
mod design_nested;
mod design_output;
mod design_panel;
mod design_parent;
mod design_resume;
mod design_rules;
mod design_terminal;
mod design_tree;
mod dispatch;
mod dispatch_evidence;
mod dispatch_figures;
mod dispatch_init;
mod dispatch_loop;
mod dispatch_loop_end;
mod dispatch_matrix;
mod dispatch_roles;
mod dispatch_rounds;
mod dispatch_run;
mod dispatch_sums;
mod doctor;
mod documents;
mod documents_not_run;
mod fan;
mod fan_server;
mod fan_stops;
mod git_programs;
mod harness;
mod hook;
mod hook_agent;
mod hook_arrival;
mod hook_claims;
mod hook_lane;
mod hook_splits;
mod hook_trust;
mod hooks;
mod hooks_binding;
mod http_lane;
mod init;
mod json_checker;
mod json_schema;
mod lane;
mod lane_day;
mod lane_events;
mod lane_ledger;
mod lane_long_line;
mod lane_look;
mod lane_reading;
mod lane_unknown;
mod ledgers;
mod log;
mod looks;
mod manifest;
mod manifest_kill;
mod manifest_people;
mod manifest_run;
mod mcp;
mod mcp_client;
mod mcp_facts;
mod mcp_hostile;
mod mcp_http;
mod mcp_install;
mod mcp_runs;
mod mermaid;
mod mermaid_parser;
mod messages;
mod newcomer;
mod newcomer_hour;
mod otlp_receiver;
mod pack;
mod pager;
mod panel;
mod picture;
mod pin;
mod plain_words;
mod plumbing;
mod plumbing_checkout;
mod plumbing_session;
mod project;
mod project_identity;
mod replay_lane;
mod sarif;
mod scripted_server;
mod serve;
mod serve_door;
mod serve_forms;
mod serve_limits;
mod serve_live;
mod serve_load;
mod serve_people;
mod serve_runs;
mod shared_reports;
mod skill;
mod status;
mod statusline;
mod store;
mod supervisor;
mod task;
mod task_edit;
mod telemetry;
mod telemetry_design;
mod terminal_width;
mod tree;
mod upgrade;
mod usage_sessions;
mod wake;
mod wake_voice;

/// A file that is not included would silently test nothing.
#[test]
fn every_file_here_is_included() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e");
    for entry in std::fs::read_dir(dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        let included = include_str!("main.rs").contains(&format!("\nmod {module};\n"));
        assert!(included || module == "main", "{name} is not included in main.rs");
    }
}
