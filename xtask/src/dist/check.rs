//! Packages as their users meet them: installed without a network, and run.

mod launcher;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::kit::{Mode, add_text, set_mode};
use super::project::Project;
use super::target::Target;
use super::{DistRequest, PackageKind, archive, sbom};
use crate::process::{command, output, run};
use crate::tools::CYCLONEDX;
use crate::{Error, say};

/// A client that writes down which program started it, and answers.
const CLIENT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo 1.0; exit; }
cat > /dev/null
{ cat "/proc/$PPID/comm" || ps -o comm= -p "$PPID"; } > 'PARENT' 2> /dev/null
echo '{"type":"system","subtype":"init","session_id":"s","uuid":"1","model":"m"}'
echo '{"type":"result","subtype":"success","is_error":false,"uuid":"2","result":"Hello.","session_id":"s","usage":{"input_tokens":1,"output_tokens":1}}'
"#;

/// How a client greets an MCP server.
const GREETING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}
"#;

/// Installs and runs the packages of one system, as far as this machine can.
pub(super) fn packages(
    project: &Project,
    target: Target,
    request: &DistRequest,
    packages: &Path,
) -> Result<(), Error> {
    let check = PackageCheck { project, target, packages };
    check.checksums()?;
    check.sbom()?;
    if request.wants(PackageKind::Deb) && target.debian.is_some() {
        check.lint()?;
    }
    if request.wants(PackageKind::Tar) {
        check.archive()?;
    }
    if request.wants(PackageKind::Deb) && target.debian.is_some() {
        check.debian()?;
    }
    if request.wants(PackageKind::Npm) {
        check.npm()?;
        if target.is_this_machine() {
            launcher::check(target)?;
        }
    }
    if request.wants(PackageKind::Wheel) {
        check.wheel()?;
    }
    Ok(())
}

struct PackageCheck<'a> {
    project: &'a Project,
    target: Target,
    packages: &'a Path,
}

impl PackageCheck<'_> {
    /// Returns the one package whose name begins and ends so.
    fn package(&self, begin: &str, end: &str) -> Result<String, Error> {
        for entry in fs::read_dir(self.packages)? {
            let path = entry?.path();
            let name = super::file_name(&path);
            if name.starts_with(begin) && name.ends_with(end) {
                return Ok(path.display().to_string());
            }
        }
        Err(format!("there is no package `{begin}…{end}`").into())
    }

    fn checksums(&self) -> Result<(), Error> {
        let program = if cfg!(target_os = "macos") { "shasum -a 256" } else { "sha256sum" };
        let line = format!("cd \"$0\" && {program} --check SHA256SUMS");
        output("sh", &["-c", &line, &self.packages.display().to_string()]).map(|_| ())
    }

    /// Checks the list of dependencies with the schema of `CycloneDX`.
    fn sbom(&self) -> Result<(), Error> {
        let name = archive::name(&self.project.version, self.target.triple);
        let list = self.package(&name, ".cdx.json")?;
        sbom::check(&CYCLONEDX.python()?, Path::new(&list))?;
        say(&format!("{name}.cdx.json: keeps to its schema"));
        Ok(())
    }

    fn lint(&self) -> Result<(), Error> {
        let end = format!("_{}.deb", self.target.debian.unwrap_or_default());
        let package = self.package("convoke_", &end)?;
        run("lintian", &["--allow-root", "--fail-on", "error,warning", &package])
    }

    fn archive(&self) -> Result<(), Error> {
        let folder = tempfile::tempdir()?;
        let name = archive::name(&self.project.version, self.target.triple);
        let file = self.package(&name, ".tar.xz")?;
        let into = folder.path().display().to_string();
        output("tar", &["--extract", "--file", &file, "--directory", &into])?;
        let root = folder.path().join(&name);
        for document in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt", "README.md"] {
            expect_file(&root.join(document))?;
        }
        expect_file(&root.join("man/man1/convoke.1"))?;
        expect_file(&root.join("completions/_convoke"))?;
        self.try_programs("the archive", &root.join("convoke"))
    }

    fn debian(&self) -> Result<(), Error> {
        let folder = tempfile::tempdir()?;
        let end = format!("_{}.deb", self.target.debian.unwrap_or_default());
        let into = folder.path().display().to_string();
        output("dpkg-deb", &["--extract", &self.package("convoke_", &end)?, &into])?;
        expect_file(&folder.path().join("usr/share/man/man1/convoke-brief-rest.1.gz"))?;
        expect_file(&folder.path().join("usr/share/bash-completion/completions/convoke"))?;
        self.try_programs("the Debian package", &folder.path().join("usr/bin/convoke"))
    }

    /// Installs as a user does, but for the registry: no script of a package runs, and nothing is
    /// fetched.
    fn npm(&self) -> Result<(), Error> {
        let folder = tempfile::tempdir()?;
        let version = &self.project.version;
        let own = self.package(&format!("convoke-{}-{version}", self.target.npm), ".tgz")?;
        let main = self.package(&format!("convoke-{version}"), ".tgz")?;
        let prefix = folder.path().display().to_string();
        let options =
            ["--global", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"];
        // npm refuses a package for another system, unless it installs for that system.
        let (system, processor) = self.target.node;
        let system = [format!("--os={system}"), format!("--cpu={processor}")];
        let libc = self.target.npm_libc().map(|libc| format!("--libc={libc}"));
        let system: Vec<_> = system.iter().chain(&libc).map(String::as_str).collect();
        run("npm", &[&["install"], &system[..], &options, &[&prefix, &main, &own]].concat())?;
        expect_file(&folder.path().join("lib/node_modules/convoke/share/man/man1/convoke.1"))?;
        self.try_programs("the npm packages", &folder.path().join("bin/convoke"))
    }

    fn wheel(&self) -> Result<(), Error> {
        let folder = tempfile::tempdir()?;
        let environment = folder.path().join("environment");
        run("python3", &["-m", "venv", &environment.display().to_string()])?;
        let pip = environment.join("bin/pip").display().to_string();
        let wheel = self.package("convoke-", &format!("{}.whl", self.target.wheel))?;
        let options = ["install", "--quiet", "--disable-pip-version-check", "--no-index", &wheel];
        // pip refuses a wheel for another system, unless it installs into a folder for that system.
        let foreign = folder.path().join("foreign");
        let into = foreign.display().to_string();
        let other = ["--platform", self.target.wheel, "--only-binary=:all:", "--target", &into];
        let (other, installed) = if self.target.is_this_machine() {
            (&[][..], environment)
        } else {
            (&other[..], foreign)
        };
        run(&pip, &[&options[..], other].concat())?;
        expect_file(&installed.join("share/man/man1/convoke.1"))?;
        self.try_programs("the wheel", &installed.join("bin/convoke"))
    }

    /// Runs what only works if all programs were found.
    fn try_programs(&self, package: &str, convoke: &Path) -> Result<(), Error> {
        let triple = self.target.triple;
        expect_file(convoke)?;
        if !self.target.runs_here() {
            say(&format!(
                "{triple}: {package}: installed, and not run: this machine cannot run it"
            ));
            return Ok(());
        }
        let home = Home::new(convoke)?;
        let version = home.run(&["--version"])?;
        let expected = format!("convoke {}\n", self.project.version);
        if String::from_utf8_lossy(&version.stdout) != expected {
            return Err(format!("{package}: `--version` prints {version:?}").into());
        }
        home.expect(0, &["design", "--rehearse", "--auto"])?;
        home.expect(2, &["no-such-command"])?;
        add_text("flowchart TD\n  A --> B\n", &home.path("good.mmd"))?;
        add_text("flowchart TD\n  A --> --> B\n", &home.path("bad.mmd"))?;
        home.expect(0, &["mermaid", "check", "--syntax", "good.mmd"])?;
        home.expect(1, &["mermaid", "check", "--syntax", "bad.mmd"])?;
        home.expect(0, &["lane", "run", "--agent", "claude", "Say hello"])?;
        let parent = fs::read_to_string(home.path("parent"))?;
        if !parent.contains("convoke-guard") {
            return Err(format!("{package}: `{}` guards the client", parent.trim()).into());
        }
        home.expect_server()?;
        home.expect_backend()?;
        say(&format!(
            "{triple}: {package}: a design, a diagram, a guarded lane, the MCP server and the backend \
             for a store's server work"
        ));
        Ok(())
    }
}

/// A home folder of a user that has a client and nothing else.
struct Home {
    folder: TempDir,
    convoke: PathBuf,
}

impl Home {
    fn new(convoke: &Path) -> Result<Self, Error> {
        let home = Self { folder: tempfile::tempdir()?, convoke: convoke.to_owned() };
        let client = home.path("clients/claude");
        let parent = home.path("parent").display().to_string();
        add_text(&CLIENT.replace("PARENT", &parent), &client)?;
        set_mode(&client, Mode::Program)?;
        Ok(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut convoke = command(&self.convoke);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("clients").display());
        convoke.args(arguments).current_dir(self.folder.path()).env("PATH", path);
        for variable in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            convoke.env(variable, self.folder.path());
        }
        convoke
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, Error> {
        let program = self.convoke.display();
        Ok(self.command(arguments).output().map_err(|error| format!("{program}: {error}"))?)
    }

    /// Greets the MCP server, which is a program of its own.
    fn expect_server(&self) -> Result<(), Error> {
        let greeting = self.path("greeting");
        add_text(GREETING, &greeting)?;
        let done = self.command(&["mcp"]).stdin(fs::File::open(greeting)?).output()?;
        if String::from_utf8_lossy(&done.stdout).contains("\"serverInfo\"") {
            return Ok(());
        }
        Err(format!("`{} mcp` answers no client: {done:?}", self.convoke.display()).into())
    }

    /// Names a store where no server listens: a program with the backend says that.
    fn expect_backend(&self) -> Result<(), Error> {
        let mut tasks = self.command(&["task", "list"]);
        let done = tasks.env("CONVOKE_STORE", "postgres://ana@127.0.0.1:1/none").output()?;
        // Without the backend, the error is another one.
        if String::from_utf8_lossy(&done.stderr).contains("cannot open store `") {
            return Ok(());
        }
        let program = self.convoke.display();
        Err(format!("`{program}` has no backend for a store's server: {done:?}").into())
    }

    fn expect(&self, code: i32, arguments: &[&str]) -> Result<(), Error> {
        let done = self.run(arguments)?;
        if done.status.code() == Some(code) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let program = self.convoke.display();
        let words = arguments.join(" ");
        Err(format!("`{program} {words}`: {}, expected {code}\n{said}", done.status).into())
    }
}

fn expect_file(path: &Path) -> Result<(), Error> {
    if path.is_file() { Ok(()) } else { Err(format!("{} is missing", path.display()).into()) }
}
