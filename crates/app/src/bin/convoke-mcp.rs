//! The MCP server. `convoke mcp` becomes it: linked into `convoke`, its tables would cost every start,
//! and every hook is one.

use std::process::ExitCode;

fn main() -> ExitCode {
    convoke::run_server(std::env::args_os())
}
