//! An agent's activity so far, from its lane's events.

use convoke_domain::lane::event::{LaneEvent, Usage};

/// The shown state of a running lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneActivity {
    /// The usage so far, as the client counts.
    pub usage: Option<Usage>,
    /// The last tool that it called.
    pub tool: Option<String>,
    /// How many calls of tools there were.
    pub tools: usize,
}

impl LaneActivity {
    /// Takes in what the agent says.
    pub fn take(&mut self, event: &LaneEvent) {
        match event {
            LaneEvent::Usage(usage) => self.usage = Some(*usage),
            LaneEvent::Tool(name) => {
                self.tools += 1;
                self.tool = Some(name.clone());
            }
            LaneEvent::Session(_)
            | LaneEvent::Model(_)
            | LaneEvent::Rights(_)
            | LaneEvent::Text(_)
            | LaneEvent::Trouble(_)
            | LaneEvent::Ended(_) => {}
        }
    }
}
