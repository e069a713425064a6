//! `convoke acp-bridge`: holds a lane's conversation with an agent that speaks the Agent Client
//! Protocol. Lanes start it; its request is on stdin.

use std::ffi::OsString;
use std::ops::ControlFlow;

use convoke_engine::client::acp::BRIDGE;
use convoke_service::acp_bridge::hold_bridge;
use convoke_service::failure::Failure;

use crate::exit::Exit;
use crate::output::Output;
use crate::{input, interrupt};

/// No request is longer; a prompt has at most a part of this.
const MAX_REQUEST: u64 = 256 * 1024 * 1024;

/// Tells whether a command line is the bridge's.
pub fn is_meant(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, word] if word == BRIDGE)
}

/// Holds the conversation to its end. A request to stop cancels the agent's turn.
pub fn run(output: &mut Output) -> Result<Exit, Failure> {
    let cancel = interrupt::cancel();
    let request = input::read(MAX_REQUEST);
    let mut tell = |line: &str| {
        let told = output.data(line).and_then(|()| output.data("\n"));
        match told.and_then(|()| output.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    hold_bridge(request.as_deref(), &cancel, &mut tell).map(Exit::Script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bridges_word_alone_starts_it() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        assert!(is_meant(&words("convoke acp-bridge")));
        for other in ["convoke", "convoke acp-bridge --help", "convoke lane acp-bridge"] {
            assert!(!is_meant(&words(other)), "{other}");
        }
    }
}
