//! The protocol's own programs against the server: the inspector's command line, over stdin and stdout
//! and over HTTP, and the conformance suite over HTTP.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::super::installed;
use super::super::lanes::{Row, timed};
use super::super::user::{User, finished};
use super::expected::{NOT_OURS, NotOurs, SUITE_VERSIONS};
use super::relay;
use crate::Error;

/// The inspector, and the Node that both programs need.
const INSPECTOR: (&str, &str, &[&str]) =
    ("@modelcontextprotocol/inspector", "2.12.0", &["node@22.23.3"]);

/// The conformance suite. Only its preliminary releases know the newest version of the protocol.
const CONFORMANCE: (&str, &str, &[&str]) =
    ("@modelcontextprotocol/conformance", "0.2.0-alpha.12", &["node@22.23.3"]);

const TOKEN: &str = "0123456789abcdef-of-a-suite";

/// What the inspector asks, and what its output must have.
const REQUESTS: [(&[&str], &str); 7] = [
    (&["tools/list"], "run_result"),
    (&["tools/call", "--tool-name", "tasks", "--tool-arg", "state=open"], "Build the parser"),
    (&["tools/call", "--tool-name", "wake", "--tool-arg", "from=0"], "Rule 0:"),
    (&["prompts/list"], "\"design\""),
    (&["prompts/get", "--prompt-name", "design", "--prompt-args", "feature=Drafts"], "run_start"),
    (&["resources/list"], "\"resources\""),
    (&["resources/templates/list"], "convoke://run/{id}/{artifact}"),
];

/// A server over HTTP, which ends with this value.
struct HttpServer {
    process: Child,
    address: SocketAddr,
}

impl HttpServer {
    fn start(user: &User) -> Result<Self, Error> {
        let program = std::env::current_exe()?.with_file_name("convoke");
        let mut convoke = user.plain(&program);
        convoke.args(["mcp", "--listen", "127.0.0.1:0"]).env("CONVOKE_MCP_TOKEN", TOKEN);
        let mut process = convoke.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut said = String::new();
        if let Some(stderr) = process.stderr.take() {
            BufReader::new(stderr).read_line(&mut said)?;
        }
        let address = said.trim().strip_prefix("listening on http://");
        let address = address.and_then(|address| address.strip_suffix("/mcp")?.parse().ok());
        match address {
            Some(address) => Ok(Self { process, address }),
            None => Err(format!("the server does not say where it is: {said}").into()),
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Runs the inspector, and adds a row.
pub(in crate::clients) fn inspect(rows: &mut Vec<Row>) -> Result<(), Error> {
    let (name, version, with) = INSPECTOR;
    let bin = installed(name, version, with).ok_or("the inspector cannot be installed here")?;
    let (took, ()) = timed(|| ask_all(&bin))?;
    let outcome = format!("{} requests, twice", REQUESTS.len());
    rows.push(Row { client: "mcp-inspector", case: "stdio and HTTP", outcome, took });
    Ok(())
}

fn ask_all(bin: &Path) -> Result<(), Error> {
    let user = User::new()?;
    let server = HttpServer::start(&user)?;
    let convoke = std::env::current_exe()?.with_file_name("convoke").display().to_string();
    let url = format!("http://{}/mcp", server.address);
    let token = format!("Authorization: Bearer {TOKEN}");
    let transports: [&[&str]; 2] =
        [&[&convoke, "mcp"], &[&url, "--transport", "http", "--header", &token]];
    for transport in transports {
        for (method, expected) in REQUESTS {
            let mut inspector = user.scrubbed(&bin.join("mcp-inspector"));
            inspector.arg("--cli").args(transport).arg("--method").args(method);
            let printed = finished(&mut inspector)?;
            serde_json::from_str::<Value>(&printed)
                .map_err(|error| format!("{method:?} prints no JSON: {error}: {printed}"))?;
            if !printed.contains(expected) {
                return Err(format!("{method:?} prints no `{expected}`: {printed}").into());
            }
        }
    }
    Ok(())
}

/// Runs the conformance suite, and adds a row for each version of the protocol.
pub(in crate::clients) fn conform(rows: &mut Vec<Row>) -> Result<(), Error> {
    let (name, version, with) = CONFORMANCE;
    let bin = installed(name, version, with).ok_or("the suite cannot be installed here")?;
    for version in SUITE_VERSIONS {
        let (took, outcome) = timed(|| pass(&bin, version))?;
        rows.push(Row { client: "mcp-conformance", case: version, outcome, took });
    }
    Ok(())
}

fn pass(bin: &Path, version: &str) -> Result<String, Error> {
    let user = User::new()?;
    let server = HttpServer::start(&user)?;
    let url = format!("http://{}/mcp", relay::start(server.address, TOKEN)?);
    let known = NOT_OURS.iter().filter(|known| known.versions.contains(&version));
    let line = |known: &NotOurs| format!("  # {}\n  - {}\n", known.why, known.check);
    let list: String = known.clone().map(line).collect();
    user.write("home/expected.yml", &format!("server:\n{list}"))?;
    let list = user.home().join("expected.yml").display().to_string();
    let mut suite = user.scrubbed(&bin.join("conformance"));
    suite.args(["server", "--url", &url, "--suite", "all", "--spec-version", version]);
    let printed = finished(suite.args(["--expected-failures", &list]))?;
    let total = printed.lines().rev().find(|line| line.starts_with("Total:")).unwrap_or_default();
    Ok(format!("{}; {} entries do not apply", total.trim(), known.count()))
}
