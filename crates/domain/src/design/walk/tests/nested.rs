//! Designs that another workflow requested.

use super::super::*;
use super::world::World;
use crate::design::event::Export;
use crate::design::export::ExportFailure;
use crate::design::progress::Prefix;

fn nested() -> World {
    let mut world = World::new();
    world.settings.nested = true;
    world.settings.session_env = Some("/parent/session-env.sh".to_owned());
    world.settings.prefix = Prefix::parse("1.::design plan");
    world
}

// P-17, P-96, P-97, P-384: the calling workflow shows the artifacts; the nested design only
// announces them.
#[test]
fn a_nested_design_is_quiet() {
    let run = nested().run();
    let lines = run.lines();
    let said: Vec<_> = lines.iter().filter(|line| line.starts_with('✅')).collect();
    let said: Vec<_> = said.iter().map(|line| line.split(" (").next().unwrap()).collect();
    assert_eq!(
        said,
        [
            "✅ 1.2a: design plan | sketches — synthesis saved",
            "✅ 1.2b: design plan | full plan — saved",
            "✅ 1.3: design plan | plan review — voting tally saved",
            "✅ 1.3: design plan | plan review — accepted findings saved",
            "✅ 1.3: design plan | plan review — revised plan saved",
            "✅ 1.3b: design plan | arch diagram — saved",
            "✅ 1.4: design plan | rejected findings — all suggestions implemented",
        ]
    );
    let bodies = lines.iter().filter(|line| line.starts_with('#') || line.contains("```"));
    assert_eq!(bodies.count(), 0, "{lines:#?}");
    assert!(matches!(run.ending, DesignEnding::Complete { .. }));
    for required in ["plan.txt", "voting-tally.md", "approach-synthesis.txt"] {
        assert!(!run.files()[required].is_empty(), "{required}");
    }
    let may_be_empty =
        ["contested-decisions.md", "oos.md", "rejected-findings.md", "accepted-plan-findings.md"];
    assert!(may_be_empty.iter().all(|name| run.files().contains_key(*name)));
}

// P-336: a design without a calling workflow is not exported.
#[test]
fn a_design_of_ones_own_is_not_exported() {
    let run = World::new().run();
    assert_eq!(run.facts.exports(), []);
}

// P-335, P-378, P-379: the failure comes before repeated warnings, and the export can be tried
// again.
#[test]
fn what_cannot_be_handed_over_is_kept() {
    let mut world = nested().failing("sketch/Cursor-Arch", "no tokens");
    let failed = Export::Failed {
        folder: "/state/runs/x".to_owned(),
        why: ExportFailure::Sentence("no folder".to_owned()),
    };
    world.exports = vec![failed];
    let run = world.run();
    assert_eq!(run.ending, DesignEnding::NotExported("no folder".to_owned()));
    let lines = run.lines();
    let warning = "**⚠ 1.5: design plan | cleanup — design manifest export failed. Parent /implement will rerun /design. Preserving /state/runs/x for inspection.**";
    let at = lines.iter().position(|line| line == warning).unwrap();
    assert!(lines[at + 1].contains("no tokens"), "{lines:#?}");
    let again = world.resume(&run);
    assert!(matches!(again.ending, DesignEnding::Complete { .. }), "{:?}", again.ending);
    assert_eq!(again.facts.exports().len(), 2);
}

// P-294: of a diagram that was refused only the reasons leave the run.
#[test]
fn a_refused_diagram_is_for_the_callers_log() {
    let diagram = "```mermaid\nflowchart TD\n  A[a|b] --> B\n```\n";
    let run = nested().answer("chair/diagram", diagram).run();
    let issue = "- **Step 3b — architecture diagram rejected:** pipe-in-node-label";
    assert_eq!(run.progress.results.issues, [issue]);
    let warning = "**⚠ 1.3b: design plan | architecture diagram — rejected by mermaid sanitizer (REASON_TOKEN=pipe-in-node-label); proceeding without diagram.**";
    assert!(run.lines().iter().any(|line| line == warning), "{:#?}", run.lines());
    assert!(!run.files().contains_key("architecture-diagram.md"));
    assert!(World::new().run().progress.results.issues.is_empty());
}
