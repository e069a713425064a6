//! Programs that a repository names for git. Git itself starts them; Convoke never does.

use std::fs;
use std::path::Path;

use crate::dispatch::{DESIGN, FEATURE};
use crate::harness::{Project, set_mode};
use crate::lane::{init, result, with_claude};

/// The ways in which git starts a program: its name, the script that plants it, and an ordinary
/// command that starts it.
///
/// `$P` is the folder of the programs. Where no command is given, git starts the program only for a
/// terminal or from settings that are no repository's.
const ROWS: [(&str, &str, &str); 31] = [
    ("clean", "git config filter.c.clean $P/clean; attr '*.clean filter=c'", "git add a.clean"),
    (
        "smudge",
        "git config filter.s.smudge $P/smudge; attr '*.smudge filter=s'",
        "rm a.smudge; git checkout -- a.smudge",
    ),
    (
        "process",
        "git config filter.p.process $P/process; attr '*.process filter=p'",
        "git add a.process",
    ),
    ("committed", "git config filter.committed.clean $P/committed", "git add a.committed"),
    (
        "included",
        "printf '[filter \"i\"]\\n\\tclean = %s\\n' $P/included > ../included; \
         git config include.path ../../included; attr '*.included filter=i'",
        "git add a.included",
    ),
    (
        "worktree",
        "git config extensions.worktreeConfig true; \
         git config --worktree filter.w.clean $P/worktree; attr '*.worktree filter=w'",
        "git add a.worktree",
    ),
    ("fsmonitor", "git config core.fsmonitor $P/fsmonitor", "git status"),
    ("external", "git config diff.external $P/external", "git diff a.plain"),
    ("driver", "git config diff.d.command $P/driver; attr '*.driver diff=d'", "git diff a.driver"),
    (
        "textconv",
        "git config diff.t.textconv $P/textconv; attr '*.textconv diff=t'",
        "git diff --no-ext-diff a.textconv",
    ),
    (
        "merge",
        "git config merge.m.driver $P/merge; attr '*.merge merge=m'",
        "git reset -q --hard; echo m > a.merge; git commit -qm m --no-gpg-sign a.merge; git merge side",
    ),
    ("post-index-change", "hook post-index-change", "echo y >> a.plain; git add a.plain"),
    ("reference-transaction", "hook reference-transaction", "git branch one"),
    ("post-checkout", "hook post-checkout", "git checkout -b two"),
    ("pre-commit", "hook pre-commit", "git commit --allow-empty -m x"),
    ("prepare-commit-msg", "hook prepare-commit-msg", "git commit --allow-empty -m x"),
    ("commit-msg", "hook commit-msg", "git commit --allow-empty -m x"),
    ("post-commit", "hook post-commit", "git commit --allow-empty --no-gpg-sign -m x"),
    (
        "pre-rebase",
        "hook pre-rebase",
        "git reset -q --hard; git rebase --force-rebase HEAD~1; git rebase --quit",
    ),
    ("pager", "git config core.pager $P/pager; git config pager.status $P/pager", ""),
    (
        "credential",
        "git config credential.helper $P/credential",
        "printf 'protocol=https\\nhost=nobody.invalid\\n' | git credential fill",
    ),
    (
        "askpass",
        "git config core.askPass $P/askpass",
        "printf 'protocol=https\\nhost=nobody.invalid\\n' | git credential fill",
    ),
    ("ssh", "git config core.sshCommand $P/ssh", "git ls-remote ssh://nobody.invalid/x"),
    ("editor", "git config core.editor $P/editor", "git commit --allow-empty --no-gpg-sign"),
    (
        "sequence",
        "git config sequence.editor $P/sequence",
        "rm -rf .git/rebase-merge; git reset -q --hard; git rebase -i HEAD~1",
    ),
    (
        "gpg",
        "git config commit.gpgSign true; git config gpg.program $P/gpg",
        "git commit --allow-empty -m x",
    ),
    ("alias", "git config alias.st '!'$P/alias", "git st"),
    ("upload", "git config remote.origin.uploadpack $P/upload", "git fetch origin"),
    (
        "ext",
        "git config remote.other.url \"ext::$P/ext\"",
        "GIT_ALLOW_PROTOCOL=ext git fetch other",
    ),
    (
        "submodule",
        "git -C sub config core.fsmonitor $P/submodule",
        "git -C sub update-index --force-untracked-cache; git status",
    ),
    ("pack", "git config uploadpack.packObjectsHook $P/pack", ""),
];

/// Programs that git would wait for.
const TALKERS: [&str; 7] = ["ssh", "upload", "ext", "gpg", "editor", "sequence", "credential"];

/// The beginning of every script here. Attributes count from git's own folder, and some from a
/// committed file; a hook is a program of git's own folder.
const WORDS: &str = "P=$(cd ../programs && pwd)\n\
    attr() { echo \"$1\" >> .git/info/attributes; }\n\
    hook() { mkdir -p .git/hooks; cp $P/$1 .git/hooks/$1; }\n";

/// Makes the repository, with a remote that is one commit ahead and a submodule.
const MAKE: &str = "export GIT_CONFIG_GLOBAL=$HOME/.gitconfig\n\
    git config --global user.name A; git config --global user.email a@example.org\n\
    git config --global init.defaultBranch main; git config --global protocol.file.allow always\n\
    git init -q ../inner && cd ../inner && echo x > x && git add . && git commit -qm inner\n\
    git init -q ../origin && cd ../origin && echo '*.committed filter=committed' > .gitattributes\n\
    for name in clean smudge process committed included worktree driver textconv merge plain; do\n\
    echo one > a.$name; done\n\
    cp -r ../project/docs . && git submodule --quiet add $(cd ../inner && pwd) sub && git add . && git commit -qm one\n\
    git clone -q --recurse-submodules . ../clone && rm -rf ../project/docs\n\
    mv ../clone/.git ../clone/.gitattributes ../clone/.gitmodules ../clone/* ../project/\n\
    echo two >> a.plain && git commit -qam two\n\
    cd ../project && git checkout -q -b side && echo side > a.merge && git commit -qam side\n\
    git checkout -q main\n";

/// A repository in which every row is planted.
fn planted(path: &str) -> Project {
    let project = with_claude(&format!("cat > /dev/null\n{}{}", init(), result(|_| ())));
    let bin = project.path("../home/bin").display().to_string();
    let project = project.variable("PATH", &format!("{bin}:{path}"));
    let ran = project.path("../ran");
    fs::create_dir(&ran).unwrap();
    fs::create_dir(project.path("../programs")).unwrap();
    for (name, ..) in ROWS {
        let program = project.path(&format!("../programs/{name}"));
        // A filter copies its input; a program that should talk to git ends immediately.
        let then = if TALKERS.contains(&name) { "exit 1" } else { "exec cat" };
        let script = format!("#!/bin/sh\ntouch '{}/{name}'\n{then}\n", ran.display());
        fs::write(&program, script).unwrap();
        set_mode(&program, 0o755);
    }
    let project = project
        .file(
            &format!("{FEATURE}/spec.md"),
            format!("# Spec\n\n{}", "R: a rule of it.\n".repeat(60)),
        )
        .file(&format!("{FEATURE}/design.md"), DESIGN);
    sh(&project, MAKE, "making it");
    for (name, plant, _) in ROWS {
        sh(&project, plant, name);
    }
    forget(&project);
    project
}

fn sh(project: &Project, script: &str, what: &str) {
    let script = format!("set -e\n{WORDS}{script}");
    let done = project.command(Path::new("/bin/sh"), &["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{what}: {said}");
}

/// Returns the programs that ran since the last time.
fn ran(project: &Project) -> Vec<String> {
    let entries = fs::read_dir(project.path("../ran")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    forget(project);
    names
}

fn forget(project: &Project) {
    for entry in fs::read_dir(project.path("../ran")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
}

/// Makes git check files again. Their content stays as committed.
fn touch(project: &Project) {
    sh(project, "touch -d 2001-01-01 a.* docs/features/*/*", "touching");
}

/// Changes every file.
fn change(project: &Project) {
    sh(project, "for file in a.*; do echo changed >> $file; done; echo x > sub/x", "changing");
}

/// The folders in which git is searched first; there may be several versions.
fn paths() -> Vec<&'static str> {
    let is_there = |folder: &&str| Path::new(folder).join("git").exists();
    ["/usr/bin:/bin", "/usr/local/bin:/usr/bin:/bin"]
        .into_iter()
        .filter(|path| path.split(':').next().is_some_and(|folder| is_there(&folder)))
        .collect()
}

// Without this the next test would prove nothing.
#[test]
fn git_itself_starts_every_program() {
    for path in paths() {
        let project = planted(path);
        change(&project);
        let mut missing = Vec::new();
        for (name, _, command) in ROWS.iter().filter(|(.., command)| !command.is_empty()) {
            // The program that git asks for changes reports none.
            let quiet = match *name {
                "fsmonitor" | "submodule" => "",
                _ => "git() { command git -c core.fsmonitor=false \"$@\"; }\n",
            };
            let script = format!("{WORDS}export GIT_TERMINAL_PROMPT=0\n{quiet}{command}");
            let words = ["20", "/bin/sh", "-c", &script];
            let output = project.command(Path::new("/usr/bin/timeout"), &words).output().unwrap();
            if !ran(&project).contains(&(*name).to_owned()) {
                missing.push(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        assert!(missing.is_empty(), "{path}: {missing:#?}");
    }
}

/// Every command that makes Convoke call git, for a clean tree.
const ON_CLEAN: [&str; 7] = [
    "plumbing preflight",
    "plumbing branch-check --check",
    "plumbing branch-check --branch a/x",
    "plumbing session-setup --prefix x --skip-repo-check",
    "design --auto --no-probe --seats replay:../none,replay:../none,replay:../none Keep notes",
    "design --rehearse",
    "doctor",
];

/// The same for one that is changed.
const ON_CHANGED: [&str; 12] = [
    "dispatch prompt implement/security-reviewer --feature 031 --changed-since HEAD",
    "dispatch next specify/spec-reviewer --feature 031",
    "dispatch next implement/security-reviewer --feature 031",
    "dispatch next implement/security-reviewer --feature 031 --iteration 2 --agent a",
    "dispatch next implement/security-reviewer --feature 031 --iteration 3 --commit",
    "dispatch next specify/spec-reviewer --feature 031 --iteration 2 --agent a --commit",
    "lane run --agent claude Which?",
    "tree baseline ../baseline",
    "tree check --mode baseline --baseline ../baseline",
    "tree check --mode checkpoint --sidecar ../note",
    "plumbing clean-tree",
    "plumbing dirty-tree --mode checkpoint",
];

/// Entries of a PATH that lead to programs of the project, each below the folder of the project.
const PLANTED_ENTRIES: [&str; 5] = [".", "", "bin", "PROJECT/bin", "PROJECT/../linked"];

// Convoke runs no program of a repository, by any name that the PATH gives it.
#[test]
fn convoke_starts_no_program_of_the_project() {
    for entry in PLANTED_ENTRIES {
        let project = planted(paths()[0]);
        let root = project.path(".").canonicalize().unwrap().display().to_string();
        let plant = "mkdir bin; ln -s \"$PWD/bin\" ../linked; for name in git claude ssh node; do\n\
            printf '#!/bin/sh\\ntouch %s/ran/%s\\nexit 1\\n' \"$(cd .. && pwd)\" $name > bin/$name\n\
            chmod +x bin/$name; cp bin/$name .; echo \"/$name\" >> .git/info/exclude; done\n\
            echo bin >> .git/info/exclude\n";
        sh(&project, plant, "planting");
        forget(&project);
        let entry = entry.replace("PROJECT", &root);
        let home = project.path("../home/bin").canonicalize().unwrap().display().to_string();
        let project = project.variable("PATH", &format!("{entry}:{home}:/usr/bin:/bin"));
        for line in ON_CLEAN.iter().chain(&ON_CHANGED) {
            let outcome = project.run(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(ran(&project), [""; 0], "`{entry}`: {line}: {outcome}");
        }
        let project = project.variable("PATH", &entry);
        let lane = project.run(&["lane", "run", "--agent", "claude", "Which?"]);
        let design = project.run(&["plumbing", "preflight"]);
        let doctor = project.run(&["doctor"]);
        assert_eq!(ran(&project), [""; 0], "`{entry}`");
        let named =
            if entry.is_empty() { "an empty entry".to_owned() } else { format!("`{entry}`") };
        for outcome in [&lane, &doctor] {
            let said = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(said.contains(&format!("Convoke skipped {named} of the PATH")), "{outcome}");
        }
        assert_eq!(lane.code, Some(3), "{lane}");
        assert_ne!(design.code, Some(0), "{design}");
    }
}

// N-1: searching for an agent's plants does not execute them.
#[test]
fn convoke_starts_no_program_that_a_repository_names() {
    for path in paths() {
        let project = planted(path);
        let run = |line: &str| {
            let outcome = project.run(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(ran(&project), [""; 0], "{path}: {line}: {outcome}");
            outcome
        };
        for line in ON_CLEAN {
            touch(&project);
            run(line);
        }
        assert!(run("plumbing clean-tree").stdout.contains("CLEAN=true"), "filters do not run");
        change(&project);
        for line in ON_CHANGED {
            touch(&project);
            run(line);
        }
        assert!(run("tree check --mode checkpoint").stdout.contains("STATUS=dirty"));
        sh(&project, "rm -r .git/hooks; git config core.hooksPath $P", "other hooks");
        forget(&project);
        run("dispatch next specify/spec-reviewer --feature 031 --iteration 4 --commit");
        run("lane run --agent claude Which?");
    }
}

// A remote that the settings rewrite is refused, too.
#[test]
fn a_remote_that_is_a_program_is_not_fetched_from() {
    for rewrite in [
        "git config remote.origin.url \"ext::$P/ext\"",
        "git config url.\"ext::$P/ext \".insteadOf /; git config protocol.ext.allow always",
        "git config remote.origin.vcs ext; git config remote.origin.url $P/ext",
    ] {
        let project = planted("/usr/bin:/bin");
        sh(&project, rewrite, rewrite);
        forget(&project);
        let outcome = project.run(&["plumbing", "preflight"]);
        assert_eq!(ran(&project), [""; 0], "{rewrite}: {outcome}");
    }
}
