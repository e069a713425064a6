//! The bridge between a lane and an agent that speaks the Agent Client Protocol.

use std::ops::ControlFlow;

use convoke_engine::client::acp::bridge::{BridgeRequest, hold};
use convoke_engine::lane::cancel::Cancel;

use crate::failure::{ErrorClass, Failure};

#[derive(Debug, thiserror::Error)]
#[error("cannot read what to ask an agent: stdin holds no request of a lane")]
struct NoRequest;

/// Holds one conversation with an agent and tells its lines; returns the process's exit code.
/// `tell` prints a line immediately, and breaks off when its reader is gone.
pub fn hold_bridge(
    request: Option<&str>,
    cancel: &Cancel,
    tell: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<u8, Failure> {
    let request = request.and_then(BridgeRequest::read);
    let request = request.ok_or_else(|| {
        Failure::new(ErrorClass::Usage, NoRequest).hint("`convoke lane run --agent acp:NAME`")
    })?;
    Ok(hold(&request, cancel, tell))
}
