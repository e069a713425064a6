//! A hook on a server's store against the same hook on a SQLite file: directly, through PgBouncer, and
//! from the copy while the server is away.

use std::path::Path;

use super::wake::{Home, SMALL, row};
use super::{Row, Sink, all_turns, convoke, time};
use crate::Error;
use crate::process::run;

#[path = "../../../crates/store/tests/support/server.rs"]
#[expect(clippy::unwrap_used, reason = "a server that cannot be started ends the measurement")]
mod server;

use self::server::TestServer;

const ROUNDS: usize = 200;

/// How a hook says that the server was too late.
const COPY: &[u8] = b"the store's server does not answer";

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let backend = ["--package", "convoke", "--features", "convoke/postgres"];
    run("cargo", &[&["build", "--profile", "dist"], &backend[..]].concat())?;
    let top = tempfile::tempdir()?;
    let server = TestServer::start();
    let pool = server.start_pool();
    let direct = server.new_database();
    let name = direct.split(['/', '?']).nth(3).unwrap_or_default().to_owned();
    let pooled = pool.address(&name);
    let file = Home::create(&top.path().join("file"), SMALL)?;
    let on_server = Home::create(&top.path().join("server"), SMALL)?;
    move_store(&on_server, &direct)?;
    let on_file = || time(file.hook(convoke())?, Sink::Pipe);
    let at = |address: &str| {
        let mut hook = on_server.hook(convoke())?;
        hook.env("CONVOKE_STORE", address).env("CONVOKE_STORE_HOOK_MILLISECONDS", "10000");
        time(hook, Sink::Pipe)
    };
    for address in [&direct, &pooled] {
        sync(&on_server, address)?;
    }
    let (beside_direct, directly) = all_turns(ROUNDS, on_file, || at(&direct))?;
    let (beside_pool, through_pool) = all_turns(ROUNDS, on_file, || at(&pooled))?;
    let late = late_answers(&on_server, &direct)?;
    let late_in_pool = late_answers(&on_server, &pooled)?;
    server.stop("fast");
    let (beside_copy, from_copy) = all_turns(ROUNDS, on_file, || at(&direct))?;
    Ok(vec![
        row("hook on a Postgres server, directly / on SQLite", &directly, &beside_direct, 4.0),
        row(
            "hook on a Postgres server, by PgBouncer / on SQLite",
            &through_pool,
            &beside_pool,
            2.0,
        ),
        row("hook from the copy, without its server / on SQLite", &from_copy, &beside_copy, 1.6),
        late_row("hooks that a healthy server answers after 150 ms, in percent", late),
        late_row("the same through PgBouncer, in percent", late_in_pool),
    ])
}

fn move_store(home: &Home, address: &str) -> Result<(), Error> {
    let mut moving = convoke();
    moving.args(["store", "move", "--to", address]).current_dir(home.project());
    moving.env("HOME", &home.folder).env("CONVOKE_STORE", home.store());
    succeed(moving, "store move")
}

/// Makes the copy that hooks answer from.
fn sync(home: &Home, address: &str) -> Result<(), Error> {
    let mut sync = convoke();
    sync.arg("sync").current_dir(home.project());
    sync.env("HOME", &home.folder).env("CONVOKE_STORE", Path::new(address));
    succeed(sync, "sync")
}

fn succeed(mut command: std::process::Command, what: &str) -> Result<(), Error> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{what}: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// Counts the hooks with the usual limit that answered from the copy, because the server was late. After
/// one of them, hooks do not ask for 10 s: the copy is made anew, which ends that.
fn late_answers(home: &Home, address: &str) -> Result<usize, Error> {
    let mut late = 0;
    for _ in 0..ROUNDS {
        let mut hook = home.hook(convoke())?;
        let output = hook.env("CONVOKE_STORE", address).output()?;
        if output.stdout.windows(COPY.len()).any(|found| found == COPY) {
            late += 1;
            sync(home, address)?;
        }
    }
    Ok(late)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn late_row(what: &'static str, late: usize) -> Row {
    let figures = format!("{late} of {ROUNDS}");
    Row { what, figures, value: 100.0 * late as f64 / ROUNDS as f64, limit: 2.0 }
}
