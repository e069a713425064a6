//! The guide "From one laptop to a team", followed line by line.
//!
//! Only what differs between the guide's machines and this one is replaced: host and ports, the
//! administrator's way to the server, and the password that the guide does not know. The pool listens
//! on the loopback, where nothing is encrypted.

use std::collections::BTreeMap;
use std::fs;

use crate::Ground;
use crate::said;
use crate::server::TestServer;

const GUIDE: &str = include_str!("../../../../docs/guide/from-one-laptop-to-a-team.md");

/// A person of the guide: a folder with the project, and the variables that were exported.
struct Person {
    ground: Ground,
    variables: BTreeMap<String, String>,
}

impl Person {
    fn new() -> Self {
        let ground = Ground::new();
        fs::rename(ground.path("project"), ground.path("shop")).unwrap();
        Self { ground, variables: BTreeMap::new() }
    }

    /// Runs a line, and returns what it printed.
    fn follow(&mut self, line: &str) -> String {
        if let Some(set) = line.strip_prefix("export ") {
            let (name, value) = set.split_once('=').unwrap();
            self.variables.insert(name.to_owned(), value.to_owned());
            return String::new();
        }
        let arguments = words(line.strip_prefix("convoke ").unwrap());
        let mut command = self.ground.with(&[]);
        command.current_dir(self.ground.path("shop")).envs(&self.variables).args(arguments);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
        said(&output)
    }
}

/// Splits a line as a shell does, as far as the guide needs it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

/// The tests of the companion follow the part about workers.
fn blocks() -> Vec<&'static str> {
    let (guide, _) = GUIDE.split_once("\n## 7. ").unwrap();
    let parts = guide.split("```text\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap()).collect()
}

pub(crate) fn the_guide_to_a_team_shows_what_happens(server: &TestServer) {
    let (mut you, mut ana) = (Person::new(), Person::new());
    // What one user had on a laptop before.
    you.follow("convoke task add Write-the-parser");
    let pool = TestServer::free_port();
    let (mut printed, mut password, mut running) = (String::new(), String::new(), None);
    for block in blocks() {
        let (mark, rest) = block.split_once('\n').unwrap();
        if mark.starts_with("; ") {
            let settings = on_loopback(rest);
            let users = "\"pgbouncer\" \"pool-secret\"\n";
            running = Some(server.start_pool_with(&settings, pool, users));
            continue;
        }
        for line in rest.lines() {
            let line = line
                .replace("db.example:6432", &format!("127.0.0.1:{pool}"))
                .replace("db.example", &format!("127.0.0.1:{}", server.port))
                .replace("THE-PASSWORD", &password);
            let said = match mark {
                "# on the server" => on_server(server, &line),
                "# on your laptop" => you.follow(&line),
                "# on Ana's laptop" => ana.follow(&line),
                other => panic!("no machine is called `{other}`"),
            };
            if let Some(found) = said.lines().find_map(|line| line.strip_prefix("password:  ")) {
                found.split(' ').next().unwrap().clone_into(&mut password);
            }
            printed.extend(["$ ", &line, "\n", &said]);
        }
    }
    assert!(running.is_some() && password.len() >= 20, "{printed}");
    for words in [
        "sound\n",
        "Write-the-parser",
        "began a team in",
        "invited ana to shop",
        "attached shop to this folder",
        "copied shop on main: 2 tasks",
        "ana as @human: insert messages",
        "revoked ana",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    assert!(printed.contains("the printer is mine") && printed.contains("\"ana\""), "{printed}");
    // The last line holds also for what is behind the pool.
    let mut command = ana.ground.with(&[]);
    command.current_dir(ana.ground.path("shop")).envs(&ana.variables).args(["task", "list"]);
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(said(&refused).contains("check the user and its password"), "{}", said(&refused));
}

/// Returns the guide's settings of the pool for this machine alone. Laptops reach the guide's pool under
/// its name, so it must listen beyond the loopback, with TLS.
fn on_loopback(settings: &str) -> String {
    assert!(settings.contains("listen_addr = *\n"), "{settings}");
    let (tls, others): (Vec<_>, Vec<_>) =
        settings.lines().partition(|line| line.starts_with("client_tls_"));
    assert_eq!(tls.len(), 3, "{settings}");
    let lines = others
        .into_iter()
        .map(|line| line.replace("listen_addr = *", "listen_addr = 127.0.0.1") + "\n");
    lines.collect()
}

fn on_server(server: &TestServer, line: &str) -> String {
    if line.starts_with("sudo apt-get install ") {
        return String::new();
    }
    let words = words(line);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["sudo", "-u", "postgres", "psql", "-c", sql] => server.sql("postgres", sql),
        ["sudo", "-u", "postgres", "psql", "-d", "team", "-c", sql] => server.sql("team", sql),
        _ => panic!("the test does not know `{line}`"),
    }
}
