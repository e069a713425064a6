//! The facts about a feature's project.

use std::path::Path;

use convoke_domain::dispatch::extract::titled;
use convoke_domain::dispatch::project_context::{Dependency, ProjectContext};
use convoke_domain::markdown::heading::Heading;

use super::feature::{Feature, MAX_BYTES, folders};
use crate::file;

/// Gathers what a feature's project says: `<root>/projects/<id>-…/`. Missing values are left out.
pub fn project_context(feature: &Feature, root: &Path) -> Option<ProjectContext> {
    let id = feature.meta.project_id.as_deref()?;
    let projects = root.join("projects");
    let is_ours = |name: &String| name == id || name.starts_with(&format!("{id}-"));
    let folder = folders(&projects).into_iter().find(is_ours)?;
    let prd = file::text(&projects.join(&folder).join("prd.md"), MAX_BYTES);
    let roadmap = file::text(&projects.join(&folder).join("roadmap.md"), MAX_BYTES);
    let title = prd.as_deref().and_then(title).unwrap_or_else(|| folder.clone());
    let goals = prd.as_deref().and_then(|text| section(text, "Goals"));
    let dependency = |name: &String| {
        let status = Feature::at(&root.join("features").join(name)).meta.status;
        Dependency { feature: name.clone(), status }
    };
    Some(ProjectContext {
        project: Some(title),
        feature: Some(feature.meta.module.clone().unwrap_or_else(|| feature.name())),
        goals,
        dependencies: feature.meta.depends_on.iter().map(dependency).collect(),
        priority: roadmap.as_deref().and_then(|text| section(text, "Priority")),
    })
}

fn title(text: &str) -> Option<String> {
    let heading = text.lines().find_map(Heading::parse).filter(|heading| heading.level == 1)?;
    Some(heading.title.to_owned()).filter(|title| !title.is_empty())
}

/// Returns a section's lines as one, without its heading.
fn section(text: &str, name: &str) -> Option<String> {
    let body =
        titled(text, name)?.lines().skip(1).take_while(|line| Heading::parse(line).is_none());
    let words = body.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    Some(words).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // D-38
    #[test]
    fn a_project_is_found_by_its_id() {
        let top = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "projects/P001-shop/prd.md",
            "# Shop\n\n## Goals\n- sell books\n- soon\n\n## Risks\nx\n",
        );
        write(
            "features/031-x/.meta.json",
            r#"{"project_id":"P001","depends_on_features":["030-a","029-b"]}"#,
        );
        write("features/030-a/.meta.json", r#"{"status":"completed"}"#);
        let feature = Feature::at(&top.path().join("features/031-x"));
        let found = project_context(&feature, top.path()).unwrap();
        assert_eq!(found.project.as_deref(), Some("Shop"));
        assert_eq!(found.goals.as_deref(), Some("- sell books - soon"));
        let statuses: Vec<_> =
            found.dependencies.iter().map(|dependency| dependency.status.as_deref()).collect();
        assert_eq!((statuses, found.priority), (vec![Some("completed"), None], None));
        write("features/032-y/.meta.json", r#"{"project_id":"P002"}"#);
        let other = Feature::at(&top.path().join("features/032-y"));
        assert_eq!(project_context(&other, top.path()), None);
    }
}
