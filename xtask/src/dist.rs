//! What is released: programs that need no compiler to install, in the packages that people use.

pub mod archive;
pub mod build;
mod check;
pub mod debian;
pub mod kit;
pub mod npm;
pub mod project;
pub mod sbom;
pub mod target;
pub mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use convoke::cli::Cli;

pub use self::archive::name as archive_name;
use self::kit::{Kit, file_name};
use self::project::{LinkedCrate, Project};
pub use self::target::{ALL as TARGETS, Target};
use crate::bench::stopwatch;
use crate::process::output;
use crate::{Error, root, say};

/// A kind of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PackageKind {
    /// An archive of programs, completions and man pages
    Tar,
    /// A Debian package
    Deb,
    /// The npm packages
    Npm,
    /// A Python wheel
    Wheel,
}

/// What to make.
#[derive(Debug, Clone)]
pub struct DistRequest {
    /// The kinds of packages; all if the list is empty.
    pub kinds: Vec<PackageKind>,
    /// The systems; all that this machine can build for if the list is empty.
    pub targets: Vec<Target>,
    /// The folder with programs that are built already; Convoke builds them if it is not named.
    pub built: Option<PathBuf>,
    /// Whether the packages are also installed and run.
    pub trial: Trial,
}

/// Whether packages are tried after they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// Each is installed in a temporary folder, and its programs are run.
    Install,
    /// They are only made.
    Skip,
}

impl DistRequest {
    fn wants(&self, kind: PackageKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// A package, and how long it took.
struct Made {
    path: PathBuf,
    took: Duration,
}

/// Makes packages in `target/packages`, with their checksums, and says what it left out.
pub fn write(request: &DistRequest) -> Result<(), Error> {
    let packages = root().join("target/packages");
    if packages.exists() {
        fs::remove_dir_all(&packages)?;
    }
    fs::create_dir_all(&packages)?;
    let project = Project::read()?;
    let (targets, left_out) = targets(request)?;
    let mut made = Vec::new();
    for target in &targets {
        made.extend(of_target(request, &project, *target, &packages)?);
    }
    checksums(&packages)?;
    if request.trial == Trial::Install {
        for target in &targets {
            check::packages(&project, *target, request, &packages)?;
        }
    }
    for Made { path, took } in &made {
        let kib = fs::metadata(path)?.len().div_ceil(1024);
        say(&format!("{kib:>7} KiB {:>5} s  {}", took.as_secs(), file_name(path)));
    }
    for (target, why) in left_out {
        say(&format!("left out {}: {why}", target.triple));
    }
    Ok(())
}

/// Returns the systems to build for, and those that are left out with the reason.
#[expect(clippy::type_complexity, reason = "two lists that are made together")]
fn targets(request: &DistRequest) -> Result<(Vec<Target>, Vec<(Target, String)>), Error> {
    let (mut ready, mut left_out) = (Vec::new(), Vec::new());
    let wanted =
        if request.targets.is_empty() { &target::ALL[..] } else { request.targets.as_slice() };
    for target in wanted {
        match build::prepare(*target) {
            Ok(()) => ready.push(*target),
            Err(why) if request.targets.is_empty() => left_out.push((*target, why)),
            Err(why) => return Err(format!("cannot build for {}: {why}", target.triple).into()),
        }
    }
    if ready.is_empty() {
        return Err("no system is left to build for".into());
    }
    Ok((ready, left_out))
}

/// Makes everything for one system.
fn of_target(
    request: &DistRequest,
    project: &Project,
    target: Target,
    packages: &Path,
) -> Result<Vec<Made>, Error> {
    let mut programs = Vec::new();
    let provide = || match &request.built {
        Some(folder) => build::stripped(target, folder),
        None => build::build(target),
    };
    let took = stopwatch(|| provide().map(|built| programs = built))?;
    let built = programs.iter().map(|path| Made { path: path.clone(), took });
    let mut made: Vec<_> = built.collect();
    made.extend(pack(request, project, target, programs, packages)?);
    Ok(made)
}

/// Makes every package of one system from its programs.
fn pack(
    request: &DistRequest,
    project: &Project,
    target: Target,
    programs: Vec<PathBuf>,
    packages: &Path,
) -> Result<Vec<Made>, Error> {
    let mut made = Vec::new();
    let linked = LinkedCrate::of(target)?;
    let kit = Kit::gather(project, target, programs, &linked)?;
    let list = packages.join(archive::name(&project.version, target.triple) + ".cdx.json");
    fs::write(&list, format!("{:#}\n", sbom::sbom(project, &linked)?))?;
    made.push(Made { path: list, took: Duration::ZERO });
    for kind in PackageKind::value_variants().iter().filter(|kind| request.wants(**kind)) {
        let mut paths = Vec::new();
        let took = stopwatch(|| of_kind(*kind, &kit, packages).map(|written| paths = written))?;
        made.extend(paths.into_iter().map(|path| Made { path, took }));
    }
    Ok(made)
}

fn of_kind(kind: PackageKind, kit: &Kit<'_>, packages: &Path) -> Result<Vec<PathBuf>, Error> {
    match kind {
        PackageKind::Tar => Ok(vec![archive::write(kit, packages)?]),
        PackageKind::Deb => Ok(debian::write(kit, packages)?.into_iter().collect()),
        PackageKind::Npm => npm::write(kit, packages),
        PackageKind::Wheel => Ok(vec![wheel::write(kit, packages)?]),
    }
}

/// Writes the checksums of all packages beside them.
fn checksums(packages: &Path) -> Result<(), Error> {
    let program = if cfg!(target_os = "macos") { "shasum -a 256" } else { "sha256sum" };
    let line = format!("cd \"$0\" && LC_ALL=C {program} -- *");
    let sums = output("sh", &["-c", &line, &packages.display().to_string()])?;
    Ok(fs::write(packages.join("SHA256SUMS"), sums)?)
}

/// Writes one file for each shell, and returns their paths.
pub fn completions(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(dir)?;
    let generate =
        |shell: &Shell| clap_complete::generate_to(*shell, &mut Cli::command(), "convoke", dir);
    Ok(Shell::value_variants().iter().map(generate).collect::<Result<_, _>>()?)
}

/// Writes one page for each command, and returns their paths.
pub fn man_pages(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)?;
    let mut pages: Vec<_> = fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    pages.sort();
    Ok(pages)
}
