//! Agents on other machines. For a lane, such an agent is one more client: the companion
//! `convoke-fleet lane` takes the prompt on its stdin, has a worker run the agent, and prints the events
//! that the worker's supervisor saw, line by line, until the report that ends the lane.

mod listener;

use std::time::Duration;

use convoke_domain::text::one_line;

use super::listener::DialectListener;
use super::{ClientAdapter, ClientCommand, ClientRequest, UsageScope, is_not_said};
use crate::lane::fleet_offer::FleetOffer;
use crate::lane::supervisor::Limits;
use crate::skill::hash;

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    programs: &["convoke-fleet"],
    variables: &[],
    quiet: &[],
    read_only_by: "its agent's client on the worker",
    tested: None,
    no_prompt: None,
    resumed_by: "never",
    usage_scope: UsageScope::RUN,
    session_variable: None,
    shell_variable: None,
    home: None,
    transcript: None,
    usage_records: None,
    hooks: None,
    server: None,
    resumed_with: &[],
    launch,
    listen: || Box::new(DialectListener::<listener::Fleet>::default()),
    // The worker's supervisor knows the client, and judges this.
    is_reader_tool: is_not_said,
    is_reader_mode: is_not_said,
};

/// The digits of a prompt's hash in a name, and the most letters of its label.
const NAME_DIGITS: usize = 16;
const LONGEST_LABEL: usize = 120;

/// A lane of the fleet: who answers, and how long it may take there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetCommand {
    offer: String,
    limits: Limits,
    name: Option<String>,
    /// The process whose ledger counts the lane.
    owner: u32,
}

impl FleetCommand {
    /// Returns the command for an agent on another machine.
    pub fn new(offer: &FleetOffer, limits: Limits) -> Self {
        Self { offer: offer.to_string(), limits, name: None, owner: std::process::id() }
    }

    /// Names the lane, so that a run that is resumed finds it again. The prompt belongs to the name: a lane
    /// with another prompt is another lane.
    #[must_use]
    pub fn of_run(self, run: &str, label: &str, prompt: &str) -> Self {
        let asked = hash(prompt);
        let asked = asked.get(..NAME_DIGITS).unwrap_or(&asked);
        let label: String = one_line(label).chars().take(LONGEST_LABEL).collect();
        Self { name: Some(format!("{run} {label} {asked}")), ..self }
    }
}

fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    command.arguments(&["lane"]);
    let Some(FleetCommand { offer, limits, name, owner }) = request.fleet else {
        return command.stdin = None;
    };
    let seconds = |time: Duration| format!("{}", time.as_secs_f64());
    command.option("--agent", Some(offer));
    // Its ledger and budgets count the lane, and a lane with a name outlives a process that was killed.
    command.option("--counted-by", Some(&owner.to_string()));
    command.option("--name", name.as_deref());
    command.option("--model", request.model);
    command.option("--effort", request.effort);
    command.option("--limit", Some(&seconds(limits.wall)));
    command.option("--stall", Some(&seconds(limits.stall)));
    command.option("--grace", Some(&seconds(limits.grace)));
    command.arguments(&["-"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Rights, command, listen};
    use convoke_domain::client::Client;
    use convoke_domain::lane::event::{LaneEvent, TurnEnd};

    const LIMITS: Limits = Limits {
        wall: Duration::from_mins(1),
        first_byte: Duration::from_secs(9),
        stall: Duration::from_millis(1500),
        grace: Duration::from_secs(5),
    };

    #[test]
    fn a_command_names_the_offer_and_the_limits() {
        let offer = FleetOffer::parse("codex@app").unwrap();
        let fleet = FleetCommand::new(&offer, LIMITS);
        let request = ClientRequest {
            prompt: "Why?",
            model: Some("gpt-5.5"),
            effort: None,
            resume: None,
            rights: Rights::ReadOnly,
            folder: "/p",
            scratch: "/s",
            acp: None,
            fleet: Some(&fleet),
        };
        let made = command(Client::Fleet, &request);
        let owner = format!("--counted-by={}", std::process::id());
        let words = ["lane", "--agent=codex@app", &owner, "--model=gpt-5.5", "--limit=60"];
        assert_eq!(made.arguments[..5], words);
        assert_eq!(made.arguments[5..], ["--stall=1.5", "--grace=5", "-"]);
        assert_eq!(made.stdin.as_deref(), Some("Why?"));
    }

    #[test]
    fn a_lane_of_a_run_has_the_same_name_when_the_run_is_resumed() {
        let offer = FleetOffer::parse("codex@app").unwrap();
        let named = |run, label, prompt| {
            FleetCommand::new(&offer, LIMITS).of_run(run, label, prompt).name.unwrap()
        };
        let name = named("20261118-1", "1/sketch/a", "Why?");
        assert_eq!(name, named("20261118-1", "1/sketch/a", "Why?"));
        assert!(name.starts_with("20261118-1 1/sketch/a "), "{name}");
        for other in [
            named("20261118-2", "1/sketch/a", "Why?"),
            named("20261118-1", "1/sketch/b", "Why?"),
            named("20261118-1", "1/sketch/a", "Who?"),
        ] {
            assert_ne!(name, other);
        }
        assert!(named("20261118-1", &"x".repeat(9999), "Why?").len() < 200, "names are bounded");
    }

    fn hear(lines: &[&str]) -> Vec<LaneEvent> {
        let mut listener = listen(Client::Fleet);
        lines.iter().flat_map(|line| listener.stdout_line(line)).collect()
    }

    fn end(lines: &[&str]) -> TurnEnd {
        let events = hear(lines);
        let Some(LaneEvent::Ended(end)) = events.last() else { unreachable!("{events:?}") };
        end.clone()
    }

    #[test]
    fn only_a_report_of_an_answer_is_an_answer() {
        let report = |rest: &str| format!(r#"{{"event":"ended","report":{{{rest}}}}}"#);
        let answered = end(&[&report(r#""outcome":"answered","answer":"42""#)]);
        assert_eq!(answered, TurnEnd { answer: Some("42".to_owned()), failure: None });
        for (rest, words) in [
            (r#""outcome":"answered""#, "without an answer"),
            (r#""outcome":"answered","answer":7"#, "without an answer"),
            (r#""answer":"42""#, "unknown"),
            (r#""outcome":"stalled","answer":"42""#, "stalled"),
            (r#""outcome":"auth","trouble":"log in","trouble_kind":"auth""#, "log in"),
            (r#""outcome":"answered","answer":"42","tree":{"status":"dirty"}"#, "changed"),
        ] {
            let failure = end(&[&report(rest)]).failure.unwrap();
            assert!(failure.message.contains(words), "{rest}: {}", failure.message);
        }
        let lost = end(&[r#"{"event":"lost","why":"3 workers ended"}"#]).failure.unwrap();
        assert!(lost.message.contains("3 workers ended"));
    }

    // An attempt that was superseded has spent its tokens nevertheless.
    #[test]
    fn usage_of_all_attempts_is_added_up() {
        let usage = r#"{"event":"usage","input_tokens":10,"cached_tokens":0,"output_tokens":2,"reasoning_tokens":0,"micro_dollars":null}"#;
        let events = hear(&[
            r#"{"event":"placed","worker":"a","generation":1,"attempt":1}"#,
            usage,
            r#"{"event":"placed","worker":"b","generation":1,"attempt":2}"#,
            usage,
            r#"{"event":"text","text":"hello"}"#,
            "nonsense",
            r#"{"event":"novel"}"#,
        ]);
        let spent: Vec<_> = events
            .iter()
            .filter_map(
                |event| if let LaneEvent::Usage(usage) = event { Some(usage.input) } else { None },
            )
            .collect();
        assert_eq!(spent, [10, 20]);
        assert!(events.contains(&LaneEvent::Text("hello".to_owned())));
    }
}
