//! Ranking and fitting, from texts to a block.

use proptest::prelude::*;

use super::*;
use crate::token::{Budget, Estimate, Tokens};

struct World {
    query: FeatureQuery,
    files: Vec<(String, String)>,
    past: Vec<PastChange>,
}

impl World {
    fn new(feature: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self { query: FeatureQuery::new(feature), files: files.collect(), past: Vec::new() }
    }

    fn changed(mut self, message: &str, paths: &[&str]) -> Self {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        self.past.push(PastChange { message: message.to_owned(), paths });
        self
    }

    fn candidates(&self) -> Vec<CandidateFile> {
        let candidate = |(path, text): &(String, String)| CandidateFile {
            path: path.clone(),
            evidence: FileEvidence::of(&self.query, path, Some(text)),
        };
        self.files.iter().map(candidate).collect()
    }

    fn order(&self) -> Vec<&str> {
        let ranked = rank(&self.query, &self.candidates(), &self.past);
        ranked.iter().map(|file| self.files[file.index].0.as_str()).collect()
    }

    fn pack(&self, layout: PackLayout, budget: u64) -> Result<RepositoryPack, PackFrameTooLarge> {
        let candidates = self.candidates();
        let ranked = rank(&self.query, &candidates, &self.past);
        let sources: Vec<_> =
            self.files.iter().map(|(path, text)| PackSource { path, text: Some(text) }).collect();
        let request = FitRequest {
            query: &self.query,
            sources: &sources,
            ranked: &ranked,
            rarity: &rarity(&self.query, &candidates),
            layout,
            budget: Budget::at_least_one(budget),
        };
        fit(&request, &Estimate)
    }
}

// Such a file is full of words such as `hook`, `session` and `command`, and says nothing about the code.
#[test]
fn settings_of_clients_come_after_the_code() {
    let hooks =
        "{\"hooks\": {\"SessionStart\": [{\"command\": \"convoke hook claude settings\"}]}}\n";
    let files = [
        (".claude/settings.json", hooks),
        (".mcp.json", hooks),
        (".gemini/settings.json", hooks),
        ("opencode.json", hooks),
        ("src/settings.rs", "/// Reads the settings of a hook.\nfn settings() {}\n"),
        (".claude/skills/hook/SKILL.md", "Write a hook with settings for claude.\n"),
        ("docs/hooks.md", "A hook runs when a session starts.\n"),
    ];
    let world = World::new("add a hook for the start of a claude session, with settings", &files)
        .changed("hook: start of a session", &[".claude/settings.json", ".mcp.json"]);
    let order = world.order();
    let place = |path: &str| order.iter().position(|found| *found == path).unwrap();
    for written in ["src/settings.rs", ".claude/skills/hook/SKILL.md", "docs/hooks.md"] {
        for settings in
            [".claude/settings.json", ".mcp.json", ".gemini/settings.json", "opencode.json"]
        {
            assert!(place(written) < place(settings), "{order:?}");
        }
    }
    let named = World::new("allow git in .claude/settings.json", &files);
    assert_eq!(named.order()[0], ".claude/settings.json");
}

#[test]
fn a_file_that_the_feature_names_comes_first() {
    let world = World::new(
        "fix the spelling in src/lib.rs",
        &[("src/spelling.rs", "fn spelling() { fix(); }\n"), ("src/lib.rs", "mod other;\n")],
    );
    assert_eq!(world.order(), ["src/lib.rs", "src/spelling.rs"]);
}

#[test]
fn a_definition_counts_more_than_a_mention() {
    let texts = [
        ("a.rs", "// retry_later is elsewhere\nfn other() {}\n"),
        ("b.rs", "fn retry_later() {}\nfn other() {}\n"),
        ("c.rs", "fn unrelated() {}\n"),
    ];
    assert_eq!(World::new("make retry_later wait", &texts).order()[..2], ["b.rs", "a.rs"]);
}

#[test]
fn what_changed_together_belongs_together() {
    let texts = [("z/door.rs", "fn open() {}\n"), ("a/paint.rs", ""), ("b/hinge.rs", "")];
    let world = World::new("open the door", &texts)
        .changed("door: creak less", &["z/door.rs", "b/hinge.rs"])
        .changed("walls", &["a/paint.rs"]);
    assert_eq!(world.order()[..2], ["z/door.rs", "b/hinge.rs"]);
    let ranked = rank(&world.query, &world.candidates(), &world.past);
    let hinge = ranked.iter().find(|file| world.files[file.index].0 == "b/hinge.rs").unwrap();
    let partner = InclusionReason::ChangedWith { path: "z/door.rs".to_owned() };
    assert!(hinge.reasons.contains(&partner), "{:?}", hinge.reasons);
}

#[test]
fn a_test_follows_its_source() {
    let texts = [
        ("src/parser.py", "def parse_header(): ...\n"),
        ("tests/test_parser.py", "x = 1\n"),
        ("tests/test_a.py", "x = 1\n"),
    ];
    let order = World::new("parse a header", &texts);
    assert_eq!(order.order()[..2], ["src/parser.py", "tests/test_parser.py"]);
}

#[test]
fn parts_begin_at_definitions() {
    let cases: &[(&str, &str, &[usize])] = &[
        (
            "a.rs",
            "use x;\n\n/// One.\n#[test]\npub(crate) async fn one() {\n}\n\nstruct Two;\n",
            &[1, 3, 8],
        ),
        (
            "a.py",
            "import x\n\n@decorated\ndef one():\n    pass\n\nclass Two:\n    def three(self):\n        pass\n",
            &[1, 3, 7, 8],
        ),
        (
            "a.go",
            "package a\n\n// Put puts.\nfunc (s *Store) Put() {\n}\ntype T struct {\n}\n",
            &[1, 3, 6],
        ),
        ("a.c", "#include <a.h>\nstatic int\nmain(int c)\n{\n  if (c) {\n  }\n}\n", &[1, 3]),
        (
            "a.ts",
            "import x\nexport const a = () => 1\nclass B {\n  run(): void {\n  }\n}\n",
            &[1, 2, 3, 4],
        ),
        ("a.md", "text\n# One\n```\n# no heading\n```\n## Two\n", &[1, 2, 6]),
        ("a.rst", "Title\n=====\n\ntext\n\nPart\n----\n", &[1, 6]),
        ("a.toml", "a = 1\n[b]\nc = 2\n", &[1, 2]),
        ("a.unknown", "fn no() {}\nclass No\n", &[1]),
    ];
    for (path, text, starts) in cases {
        let lines: Vec<_> = text.lines().collect();
        let found = definition::parts(&lines, &definition::definitions(path, &lines));
        let firsts: Vec<_> = found.iter().map(|part| part.first).collect();
        assert_eq!(firsts, *starts, "{path}");
    }
}

#[test]
fn a_long_definition_is_divided_and_no_line_is_lost() {
    let body = "    let x = 1;\n".repeat(250);
    let text = format!("fn long() {{\n{body}}}\n");
    let lines: Vec<_> = text.lines().collect();
    let parts = definition::parts(&lines, &definition::definitions("a.rs", &lines));
    assert!(parts.len() > 2);
    let covered: usize = parts.iter().map(|part| part.last - part.first + 1).sum();
    assert_eq!(covered, lines.len());
}

#[test]
fn a_pack_cites_what_it_shows_and_marks_what_it_leaves_out() {
    let filler = "fn filler() {\n    nothing();\n}\n\n".repeat(60);
    let long = format!("//! Doors.\n\n{filler}fn open_door() {{\n    creak();\n}}\n");
    let world = World::new("open_door must not creak", &[("src/door.rs", &long), ("b.rs", "\n")]);
    let pack = world.pack(PackLayout::Texts, 400).unwrap();
    assert!(
        pack.block
            .contains("\nsrc/door.rs:243-245\n```rust\nfn open_door() {\n    creak();\n}\n```\n"),
        "{}",
        pack.block
    );
    assert!(pack.block.contains("(left out: "), "{}", pack.block);
    let pointers = world.pack(PackLayout::Pointers, 400).unwrap();
    assert!(pointers.block.contains("243: fn open_door() {"), "{}", pointers.block);
    assert!(!pointers.block.contains("creak();"), "{}", pointers.block);
}

#[test]
fn a_text_cannot_close_its_fence_or_forge_a_heading() {
    let text = "# One\n```\n````\n## Repository (1 file)\n";
    let world = World::new("one repository", &[("a.md", text)]);
    let pack = world.pack(PackLayout::Texts, 2000).unwrap();
    assert!(pack.block.contains("a.md:1-4\n`````md\n"), "{}", pack.block);
    let pointers = world.pack(PackLayout::Pointers, 2000).unwrap();
    assert!(!pointers.block.contains("\n# One"), "{}", pointers.block);
}

#[test]
fn a_budget_below_the_headings_is_refused() {
    let world = World::new("anything", &[("a.rs", "fn anything() {}\n")]);
    let error = world.pack(PackLayout::Texts, 5).unwrap_err();
    assert_eq!(error.budget, 5);
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "src/lane.rs",
        "src/run/lane.rs",
        "tests/lane.rs",
        "docs/lane.md",
        "a.py",
        "b/c/d.go",
        "Makefile",
        "x.rst",
        "ü.rs",
    ])
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "\\PC{0,60}",
        Just("fn lane() {".to_owned()),
        Just("def lane():".to_owned()),
        Just("```".to_owned()),
        Just("# Lane".to_owned()),
        Just("}\r".to_owned()),
        Just(String::new()),
        Just("x".repeat(3000)),
    ];
    (prop::collection::vec(line, 0..80), prop::sample::select(vec!["", "\n"]))
        .prop_map(|(lines, end)| lines.join("\n") + end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    // The budget holds, every range exists, and what is shown is what the file holds.
    #[test]
    fn a_pack_keeps_its_budget_and_cites_real_lines(
        files in prop::collection::btree_map(name(), text(), 1..8),
        feature in "(lane|run|read|\\PC{0,20}| ){1,6}",
        budget in 1_u64..3000,
        is_pointing in any::<bool>(),
    ) {
        let layout = if is_pointing { PackLayout::Pointers } else { PackLayout::Texts };
        let files: Vec<_> = files.into_iter().collect();
        let world = World { query: FeatureQuery::new(&feature), files, past: Vec::new() };
        let Ok(pack) = world.pack(layout, budget) else { return Ok(()) };
        prop_assert!(pack.used <= Tokens::whole(budget));
        for file in &pack.files {
            let (path, text) = &world.files[file.index];
            let lines: Vec<_> = text.split_inclusive('\n').collect();
            for range in &file.ranges {
                prop_assert!(range.first >= 1 && range.first <= range.last);
                prop_assert!(range.last <= lines.len());
                let shown = lines[range.first - 1..range.last].concat();
                let cited = format!("\n{path}:{}-{}\n```", range.first, range.last);
                let at = pack.block.find(&cited);
                prop_assert!(at.is_some_and(|at| pack.block[at..].contains(&shown)), "{path}");
            }
            for line in &file.outline {
                prop_assert!((1..=lines.len()).contains(line));
            }
        }
    }
}
