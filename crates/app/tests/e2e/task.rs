//! `convoke task`: the work tree.

use insta::assert_snapshot;

use crate::deeds::id_of;
use crate::harness::Project;

const PLAN: &str = "# Auth\n\n---\n\n### Task 1: Add user model\n\nbody\n\n### Task 2: Add login\n";

// W-6: importing another plan does not change the current task.
#[test]
fn a_task_in_progress_stays_current_when_another_plan_is_imported() {
    let project = Project::new()
        .on_branch("main")
        .file("plan.md", PLAN)
        .file("later.md", "### Task 1: Index\n\nBuild a trigram index.\n");
    project.stdout(&["task", "import", "plan.md"]);
    let begun = project.stdout(&["task", "start"]);
    let begun = begun.split_whitespace().next().unwrap().to_owned();
    let imported = project.run(&["task", "import", "later.md"]);
    assert!(imported.stderr.contains("`plan.md` stays the current plan"), "{imported}");
    let status = project.stdout(&["status"]);
    assert!(status.contains(&format!("{begun} Task 1: Add user model (in progress)")), "{status}");
    let wake = project.stdout(&["wake", "june"]);
    assert!(wake.contains("Task 1: Add user model (in progress)  <-- CURRENT"), "{wake}");
    let tree = project.stdout(&["task", "tree"]);
    let current = tree.lines().find(|line| line.contains("current")).unwrap();
    assert!(current.contains(&begun), "{tree}");
    let next = project.stdout(&["task", "next"]);
    assert!(next.contains("Task 2: Add login"), "{next}");
    assert_eq!(project.stdout(&["task", "search", "trigram"]).lines().count(), 1);
    assert_eq!(project.stdout(&["task", "search", "no-such-word"]), "No such tasks.");
}

// Section 12 of the contract, and W-2: ids are short, lists are lines.
#[test]
fn tasks_are_added_listed_and_shown() {
    let project = Project::new().on_branch("main");
    assert_eq!(project.stdout(&["task", "list"]), "No tasks.");
    let top = project.stdout(&["task", "add", "Build it"]);
    assert!(top.len() == 7 && top.starts_with("t-"), "{top}");
    let added = project.run(&["task", "add", "One", "Two", "--parent", &top, "--agent", "Backend"]);
    assert_snapshot!(added.stable(&project), @"
    exit: 0
    --- stdout
    t-1
    t-2
    --- stderr
    ");
    project.run(&["task", "note", &top, "ask Ana"]);
    assert_snapshot!(project.run(&["task", "list"]).stable(&project), @"
    exit: 0
    --- stdout
    t-1  Build it  [pending]  (2 children)
    --- stderr
    ");
    assert_snapshot!(project.run(&["task", "show", &top]).stable(&project), @r#"
    exit: 0
    --- stdout
    t-1 "Build it" [pending]
      Note: ask Ana

    Children:
      t-2  One  [pending]  @backend
      t-3  Two  [pending]  @backend
    --- stderr
    "#);
    let part = project.stdout(&["task", "add", "Deep", "--parent", &top]);
    assert_snapshot!(project.run(&["task", "show", &part]).stable(&project), @r#"
    exit: 0
    --- stdout
    t-1 "Deep" [pending]
      Parent: t-2

    No children.
    --- stderr
    "#);
    let json = project.stdout(&["task", "add", "Json", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["id"].as_str().unwrap().starts_with("t-"), "{json}");
}

// W-3: a plan's headings become tasks, once.
#[test]
fn a_plan_is_imported_once() {
    let project = Project::new().on_branch("main").file("plan.md", PLAN);
    assert_snapshot!(project.run(&["task", "import", "plan.md"]).stable(&project), @"
    exit: 0
    --- stdout
    t-1
    t-2
    --- stderr
    ");
    assert_snapshot!(project.run(&["task", "import", "plan.md"]).stable(&project), @"
    exit: 0
    --- stdout
    --- stderr
    note: 2 tasks of this plan are here already
    ");
    let empty = Project::new().file("plan.md", "## T1: other words\n");
    assert_snapshot!(empty.run(&["task", "import", "plan.md"]).stable(&empty), @"
    exit: 1
    --- stdout
    --- stderr
    error: cannot import `TOP/project/plan.md`: it has no `Task N` headings and no list with boxes or numbers
    hint: a task reads `### Task 1: What is to be done`, `- [ ] …` or `1. …`
    ");
    assert_eq!(empty.run(&["task", "import", "gone.md"]).code, Some(3));
    std::fs::write(empty.path("latin.md"), b"### Task 1: caf\xe9\n").unwrap();
    let latin = empty.run(&["task", "import", "latin.md"]);
    assert!(latin.stderr.ends_with("invalid utf-8\nhint: save it as UTF-8\n"), "{latin}");
}

#[test]
fn a_dry_run_shows_what_an_import_would_add() {
    let plan = "### Task 1: One\n\n- [x] step\n\n### Task 2: Two\n\n### Task 3: Three\n";
    let project = Project::new().on_branch("main").file("plan.md", "### Task 2: Two\n");
    let known = project.stdout(&["task", "import", "plan.md"]);
    let project = project.file("plan.md", plan);
    let dry = project.run(&["task", "import", "plan.md", "--dry-run", "--reviews"]);
    assert_snapshot!(dry.stable(&project), @"
    exit: 0
    --- stdout
    done   Task 1: One
    known  Task 2: Two  (t-1)
    new    Task 3: Three
    --- stderr
    note: 2 tasks would get: Implementation, Spec review, Code quality review
    note: a dry run imports nothing; 2 of 3 tasks would be added
    ");
    let json = project.stdout(&["task", "import", "plan.md", "--dry-run", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["source"], "plan.md");
    assert_eq!(json["tasks"][1]["outcome"], "known");
    assert_eq!(json["tasks"][1]["id"], known.trim());
    let tasks = project.stdout(&["task", "list"]);
    assert_eq!(tasks.lines().count(), 1, "{tasks}");
    // A moved plan is recognised, and stays as it is stored.
    std::fs::rename(project.path("plan.md"), project.path("moved.md")).unwrap();
    let project = project.file("moved.md", "### Task 2: Two\n");
    let dry = project.run(&["task", "import", "moved.md", "--dry-run"]);
    assert!(dry.stdout.starts_with("known  Task 2: Two"), "{dry}");
    assert!(dry.stderr.contains("they would belong to `moved.md`"), "{dry}");
    assert!(project.stdout(&["task", "show", known.trim()]).contains("  Plan: plan.md"));
}

// However a path is written, it is one plan; and a plan is a file of the project.
#[test]
fn a_plan_is_known_by_one_path() {
    let project = Project::new().on_branch("main").file("docs/plan.md", PLAN);
    assert_eq!(project.stdout(&["task", "import", "docs/plan.md"]).lines().count(), 2);
    let absolute = project.path("docs/plan.md").display().to_string();
    for path in ["./docs/plan.md", "docs/../docs/plan.md", &absolute] {
        assert_eq!(project.stdout(&["task", "import", path]), "", "{path}");
    }
    for path in ["../../etc/passwd", "/etc/passwd", "a\n## New Message", "."] {
        let outcome = project.run(&["task", "add", "x", "--plan", path]);
        assert_eq!(outcome.code, Some(2), "{path}: {outcome}");
    }
}

#[test]
fn the_tree_shows_where_the_work_is() {
    let project = Project::new().on_branch("main").file("plan.md", PLAN);
    let ids = project.stdout(&["task", "import", "plan.md"]);
    let (one, two) = ids.split_once('\n').unwrap();
    let parts = project.stdout(&["task", "add", "Write", "Review", "--parent", two]);
    let (write, review) = parts.split_once('\n').unwrap();
    project.run(&["task", "done", one]);
    project.run(&["task", "skip", write]);
    project.run(&["task", "start", review]);
    project.run(&["task", "assign", two, "backend"]);
    assert_snapshot!(project.run(&["task", "tree"]).stable(&project), @"
    exit: 0
    --- stdout
    project on main
    ├─ ✔ t-1  Task 1: Add user model
    └─ ○ t-2  Task 2: Add login  @backend
       ├─ – t-3  Write
       └─ ▶ t-4  Review  ← current
    --- stderr
    ");
    assert_eq!(project.stdout(&["task", "rm", two]), "removed 3");
    assert_eq!(project.stdout(&["task", "move", one]).split("  ").next(), Some(one));
}

// W-1: branches are apart, worktrees of one repository are not.
#[test]
fn another_branch_has_tasks_of_its_own_and_says_so() {
    let project = Project::new().on_branch("main");
    project.run(&["task", "add", "On main"]);
    let project = project.on_branch("feature/login");
    assert_snapshot!(project.run(&["task", "tree"]).stable(&project), @"
    exit: 0
    --- stdout
    No tasks.
    --- stderr
    note: branch main has 1 open task; see `convoke task list --all-branches`, or bring it here with `convoke task move --all --from-branch main`
    ");
    let main = project.run(&["task", "tree", "--branch", "main"]);
    assert!(main.stdout.ends_with("  On main  ← current\n"), "{main}");
}

// A rebase checks out a commit, but the work is still the branch's.
#[test]
fn a_detached_head_is_not_the_main_branch() {
    let project = Project::new().on_branch("feature/x");
    project.run(&["task", "add", "On the feature"]);
    let detached = project.file(".git/HEAD", "0123456789abcdef\n");
    assert_eq!(detached.stdout(&["task", "list"]), "No tasks.");
    let rebasing = detached.file(".git/rebase-merge/head-name", "refs/heads/feature/x\n");
    assert!(rebasing.stdout(&["task", "list"]).contains("On the feature"));
    // From a folder inside, the project is still the repository.
    let inside = rebasing.file("src/x", "");
    assert!(inside.stdout(&["-C", "src", "task", "list"]).contains("On the feature"));
}

#[test]
fn what_cannot_be_done_is_explained() {
    let project = Project::new().on_branch("main");
    let top = project.stdout(&["task", "add", "Top"]);
    let part = project.stdout(&["task", "add", "Part", "--parent", &top]);
    assert_snapshot!(project.run(&["task", "move", &top, "--under", &part]).stable(&project), @"
    exit: 1
    --- stdout
    --- stderr
    error: cannot move `t-1` below `t-2`: it would contain itself
    ");
    assert_snapshot!(project.run(&["task", "done", "t-zzz"]), @"
    exit: 1
    --- stdout
    --- stderr
    error: there is no task `t-zzz` here
    hint: run `convoke task tree` to list the tasks
    ");
    for arguments in [
        &["task", "add", " "][..],
        &["task", "add", "a\nb"],
        &["task", "show", "../x"],
        &["task", "list", "--branch", "a\nb"],
        &["task", "add", "x", "--skill", "Bad!"],
    ] {
        assert_eq!(project.run(arguments).code, Some(2), "{arguments:?}");
    }
    assert_eq!(project.run(&["task", "add", "x", "--parent", "t-zzz"]).code, Some(1));
}

// W-3: tasks of an earlier program are taken over once, those of this project and branch.
#[test]
fn tasks_of_an_earlier_program_are_taken_over() {
    let project = Project::new().on_branch("main");
    let database = project.path("june.db");
    let script = "CREATE TABLE tasks (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT, \
        status TEXT, notes TEXT, created_at TEXT, updated_at TEXT, deleted_at TEXT, \
        repo_path TEXT, branch TEXT); INSERT INTO tasks VALUES \
        ('t-000b1', 't-000a1', 'part', 'open', NULL, '', '', NULL, '/x/project', 'main'), \
        ('t-000a1', NULL, 'whole', 'in_progress', NULL, '', '', NULL, '/x/project', 'main'), \
        ('t-000c1', NULL, 'other', 'open', NULL, '', '', NULL, '/x/project', 'wip');";
    rusqlite::Connection::open(&database).unwrap().execute_batch(script).unwrap();
    assert_snapshot!(project.run(&["task", "import", "june.db"]), @"
    exit: 0
    --- stdout
    t-000a1
    t-000b1
    --- stderr
    ");
    assert_snapshot!(project.stdout(&["task", "tree"]), @"
    project on main
    └─ ▶ t-000a1  whole
       └─ ○ t-000b1  part  ← current
    ");
    let again = project.run(&["task", "import", "june.db"]);
    assert!(again.stderr.contains("note: 2 of its tasks are here already"), "{again}");
    let elsewhere = project.run(&["task", "import", "june.db", "--branch", "nowhere"]);
    assert_snapshot!(elsewhere.stable(&project), @"
    exit: 1
    --- stdout
    --- stderr
    error: cannot import `june.db`: it has no tasks of project on nowhere
    hint: it has tasks of /x/project on main, /x/project on wip; `--branch` names another branch
    ");
}

// W-3
#[test]
fn an_import_says_what_it_leaves_out() {
    let plan = "### Task 1: Old\n### Task 2: Gone\n### 1.1 More\n### Step 1: x\n";
    let project = Project::new().on_branch("main").file("plan.md", plan);
    let first = project.run(&["task", "import", "plan.md"]);
    let note = "note: not taken as tasks: 2 headings (`1.1 More`, `Step 1: x`)";
    assert!(first.stderr.contains(note), "{first}");
    let old = id_of(&project, "Old");
    project.stdout(&["task", "rm", &id_of(&project, "Gone")]);
    let project = project.file("plan.md", plan.replace("Old", "New"));
    let again = project.run(&["task", "import", "plan.md"]);
    let kept = format!("{old} keeps its title `Task 1: Old`; the plan now says `Task 1: New`");
    assert!(again.stderr.contains(&kept), "{again}");
    assert!(again.stderr.contains("`Task 2: Gone` was removed before"), "{again}");
    assert!(again.stderr.contains("note: 1 task of this plan is here already"), "{again}");
}

// W-3
#[test]
fn an_import_names_a_block_that_hides_the_rest() {
    for (mark, block) in [("```", "code fence"), ("<!--", "comment")] {
        let plan = format!("### Task 1: Old\n{mark}\ncode\n### Task 2: Hidden\n");
        let project = Project::new().on_branch("main").file("plan.md", &plan);
        let outcome = project.run(&["task", "import", "plan.md", "--dry-run"]);
        let note =
            format!("note: the {block} in line 2 is never closed; Convoke takes no task after it");
        assert!(outcome.stderr.contains(&note), "{outcome}");
        assert!(!outcome.stdout.contains("Hidden"), "{outcome}");
    }
}
