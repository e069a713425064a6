//! A PostgreSQL server of a test's own: from Debian's package, on a private socket and a free port.
#![allow(dead_code, reason = "each test uses some of it")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "this starts the server's programs, which must be installed"
)]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// The user that owns every database.
pub(crate) const USER: &str = "convoke";

/// The user's password, which a connection over TCP needs.
pub(crate) const PASSWORD: &str = "correct horse";

/// A running server. It ends, and its files go, when this is dropped.
pub(crate) struct TestServer {
    folder: TempDir,
    programs: PathBuf,
    pub(crate) port: u16,
    databases: AtomicU32,
}

impl TestServer {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// Starts a server with more options.
    pub(crate) fn start_with(options: &str) -> Self {
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
            programs: programs(),
            port: free_port(),
            databases: AtomicU32::new(0),
        };
        // Its user must reach the folder, and a socket's path must be short.
        let root = server.folder.path();
        fs::write(root.join("password"), PASSWORD).unwrap();
        chown(root);
        let data = server.data();
        let password = root.join("password");
        server.run("initdb", |command| {
            command.arg("-D").arg(&data).args(["-U", USER, "--auth-local=trust", "--no-sync"]);
            command.args(["--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C"]);
            command.arg("--pwfile").arg(&password);
        });
        server.begin(options);
        server
    }

    /// Starts the server again, after [`TestServer::stop`].
    pub(crate) fn begin(&self, options: &str) {
        let (data, socket, port) = (self.data(), self.socket(), self.port);
        let log = self.folder.path().join("log");
        let options = format!(
            "-k {} -p {port} -c listen_addresses=127.0.0.1 -c max_connections=200 {options}",
            socket.display()
        );
        self.run("pg_ctl", |command| {
            command.args(["start", "-w", "-s", "-t", "60", "-D"]).arg(&data);
            command.arg("-l").arg(&log).args(["-o", &options]);
        });
    }

    /// Ends the server, as a crash would if `how` is `immediate`.
    pub(crate) fn stop(&self, how: &str) {
        let data = self.data();
        self.run("pg_ctl", |command| {
            command.args(["stop", "-w", "-s", "-m", how, "-D"]).arg(&data);
        });
    }

    /// Makes an empty database, and returns its address.
    pub(crate) fn new_database(&self) -> String {
        let name = format!("store_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    /// Returns the address of a database, by the socket.
    pub(crate) fn address(&self, database: &str) -> String {
        let (socket, port) = (self.socket(), self.port);
        format!("postgres://{USER}@/{database}?host={}&port={port}", socket.display())
    }

    /// Returns the address of a database, by TCP.
    pub(crate) fn tcp_address(&self, login: &str, database: &str) -> String {
        format!("postgres://{login}@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs SQL in a database, and returns what it prints.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let (socket, port) = (self.socket(), self.port.to_string());
        let output = self.run("psql", |command| {
            command.arg("-h").arg(&socket).args(["-p", &port, "-U", USER, "-d", database]);
            command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        });
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs SQL as another user, as a plain client does; returns what it prints, or the error.
    pub(crate) fn sql_as(&self, user: &str, database: &str, sql: &str) -> Result<String, String> {
        let mut command = as_server(&self.programs.join("psql"));
        command.current_dir(self.folder.path()).arg("-h").arg(self.socket());
        command.args(["-p", &self.port.to_string(), "-U", user, "-d", database]);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Starts a plain client that reads statements from its stdin.
    pub(crate) fn client(&self, user: &str, database: &str) -> Command {
        let mut command = as_server(&self.programs.join("psql"));
        command.current_dir(self.folder.path()).arg("-h").arg(self.socket());
        command.args(["-p", &self.port.to_string(), "-U", user, "-d", database]);
        command.args(["-X", "-q", "-A", "-t"]);
        command
    }

    /// Puts a file into the server's folder that only the server may read.
    pub(crate) fn put(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.data().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        chown(&path);
        path
    }

    /// Returns the folder of the server's files.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn run(&self, program: &str, prepare: impl FnOnce(&mut Command)) -> Output {
        let mut command = as_server(&self.programs.join(program));
        command.current_dir(self.folder.path());
        prepare(&mut command);
        let output = command.output().unwrap();
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {said}\n{log}");
        output
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let mut command = as_server(&self.programs.join("pg_ctl"));
        command.args(["stop", "-w", "-s", "-m", "immediate", "-D"]).arg(self.data());
        command.output().ok();
    }
}

/// A PgBouncer in front of a server, which shares few connections between transactions.
pub(crate) struct TestPool<'a> {
    server: &'a TestServer,
    port: u16,
}

impl TestServer {
    /// Starts a pool of two connections to each database.
    pub(crate) fn start_pool(&self) -> TestPool<'_> {
        let pool = TestPool { server: self, port: free_port() };
        let folder = self.folder.path();
        let users = folder.join("users");
        fs::write(&users, format!("\"{USER}\" \"\"\n")).unwrap();
        let settings = format!(
            "[databases]\n* = host={folder} port={port}\n[pgbouncer]\nlisten_addr =\n\
             unix_socket_dir = {folder}\nlisten_port = {own}\nauth_type = trust\n\
             auth_file = {users}\npool_mode = transaction\ndefault_pool_size = 2\n\
             logfile = {folder}/pool.log\npidfile = {folder}/pool.pid\n",
            folder = folder.display(),
            port = self.port,
            own = pool.port,
            users = users.display(),
        );
        let file = folder.join("pool.ini");
        fs::write(&file, settings).unwrap();
        chown(&file);
        chown(&users);
        pool.begin(&file);
        pool
    }
}

impl TestServer {
    /// Starts a pool with settings of a guide: its own port, its users, and where the server is.
    pub(crate) fn start_pool_with(&self, settings: &str, port: u16, users: &str) -> TestPool<'_> {
        let pool = TestPool { server: self, port };
        let folder = self.folder.path().display();
        let list = self.folder.path().join("users");
        fs::write(&list, users).unwrap();
        let settings = settings
            .replace("port=5432", &format!("port={}", self.port))
            .replace("= 6432", &format!("= {port}"))
            .replace("/etc/pgbouncer/userlist.txt", &list.display().to_string());
        let file = self.folder.path().join("pool.ini");
        let own = format!(
            "{settings}unix_socket_dir = {folder}\nlogfile = {folder}/pool.log\n\
             pidfile = {folder}/pool.pid\n"
        );
        fs::write(&file, own).unwrap();
        chown(&file);
        chown(&list);
        pool.begin(&file);
        pool
    }

    /// Returns a port that is free at the moment.
    pub(crate) fn free_port() -> u16 {
        free_port()
    }
}

impl TestPool<'_> {
    fn begin(&self, settings: &Path) {
        let output = as_server(Path::new("/usr/sbin/pgbouncer")).arg("-d").arg(settings).output();
        let output = output.expect("Debian's package `pgbouncer`");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let socket = self.server.folder.path().join(format!(".s.PGSQL.{}", self.port));
        let is_ready = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
        while !is_ready() {
            std::thread::yield_now();
        }
    }

    /// Returns the address of a database, by the pool's socket.
    pub(crate) fn address(&self, database: &str) -> String {
        let folder = self.server.folder.path().display();
        format!("postgres://{USER}@/{database}?host={folder}&port={}", self.port)
    }
}

impl Drop for TestPool<'_> {
    fn drop(&mut self) {
        let pid = fs::read_to_string(self.server.folder.path().join("pool.pid"));
        if let Ok(pid) = pid {
            Command::new("kill").arg(pid.trim()).output().ok();
        }
    }
}

/// Runs a program as a user who may run a server: never as root.
fn as_server(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

fn chown(path: &Path) {
    if is_root() {
        let done = Command::new("chown").args(["-R", "postgres:postgres"]).arg(path).output();
        assert!(done.unwrap().status.success());
    }
}

/// Debian keeps the programs of each version in a folder of its own.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").expect("Debian's package `postgresql`");
    let mut folders: Vec<_> = versions.map(|entry| entry.unwrap().path().join("bin")).collect();
    folders.sort();
    folders.pop().expect("Debian's package `postgresql`")
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
