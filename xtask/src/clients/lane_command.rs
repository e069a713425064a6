//! What `convoke doctor` says of a real client: it is of the tested version, and takes the command of
//! a lane without a prompt. No model answers for that.

use std::path::Path;

use serde_json::Value;

use super::lanes::setup;
use super::user::User;
use crate::Error;
use crate::model_server::ModelServer;
use crate::packages::folder_of;

/// Checks both lines of the doctor about a client, and that its model got no request.
pub(super) fn check(short: &str, bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::fresh()?, ModelServer::start()?);
    let program = std::env::current_exe()?.with_file_name("convoke");
    let mut convoke = user.plain(&program);
    let node = folder_of("node").unwrap_or_default();
    convoke.env("PATH", format!("{}:{node}:/usr/bin:/bin", bin.display()));
    convoke.envs(setup::configure(short, &user, &server)?);
    convoke.args(["doctor", "--no-probe", "--json"]);
    let printed = convoke.output()?.stdout;
    let checks: Vec<Value> = serde_json::from_slice(&printed)?;
    for name in ["client", "lane command"] {
        let mut lines = checks.iter().filter(|check| check["name"] == name);
        let is_fine = |check: &Value| {
            let found = check["found"].as_str().unwrap_or_default();
            check["level"] == "ok" && found.starts_with(short)
        };
        if !lines.clone().any(is_fine) {
            let line = lines.next().map_or("nothing".to_owned(), Value::to_string);
            return Err(format!("`convoke doctor` says of `{name}`: {line}").into());
        }
    }
    match server.prompts().len() {
        0 => Ok(()),
        count => Err(format!("a command without a prompt asked the model {count} times").into()),
    }
}
