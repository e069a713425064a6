//! The section of an implementer's prompt about its feature's project.

use crate::text::Text;
use crate::token::{Estimate, Tokenizer, Tokens};

/// The most tokens that this may cost before it is shortened.
const MOST: Tokens = Tokens::whole(500);

/// A feature that this one depends on, and its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The folder name of the other feature.
    pub feature: String,
    /// Its status, as its own notes say.
    pub status: Option<String>,
}

/// Facts about a project. A missing fact leaves out its own line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectContext {
    /// The project's name.
    pub project: Option<String>,
    /// The feature's name.
    pub feature: Option<String>,
    /// The project's goals.
    pub goals: Option<String>,
    /// The feature's dependencies.
    pub dependencies: Vec<Dependency>,
    /// The project's priorities.
    pub priority: Option<String>,
}

/// Renders the lines; `None` if nothing is known.
pub fn context(known: &ProjectContext) -> Option<String> {
    let full = lines(known, names);
    let text = if Estimate.count(Text::new(&full.join("\n"))) > MOST {
        lines(known, |dependencies| dependencies.len().to_string())
    } else {
        full
    };
    (!text.is_empty()).then(|| text.join("\n"))
}

fn lines(known: &ProjectContext, shown: impl Fn(&[&Dependency]) -> String) -> Vec<String> {
    let line = |text: &Option<String>| text.as_ref().map(|text| text.trim().to_owned());
    let head = line(&known.project).zip(line(&known.feature));
    let head = head
        .map(|(project, feature)| format!("**Project:** {project} | **This feature:** {feature}"));
    let goals = line(&known.goals).map(|goals| format!("**Project goals:** {goals}"));
    let dependencies = (!known.dependencies.is_empty()).then(|| {
        let of = |wanted: State| {
            let of_state =
                |dependency: &&Dependency| State::of(dependency.status.as_deref()) == wanted;
            shown(&known.dependencies.iter().filter(of_state).collect::<Vec<_>>())
        };
        format!(
            "**Feature dependencies:** completed: {} | in-progress: {} | blocked: {}",
            of(State::Completed),
            of(State::InProgress),
            of(State::Blocked)
        )
    });
    let priority = line(&known.priority).map(|priority| format!("**Priority signal:** {priority}"));
    [head, goals, dependencies, priority].into_iter().flatten().collect()
}

fn names(dependencies: &[&Dependency]) -> String {
    if dependencies.is_empty() {
        return "none".to_owned();
    }
    dependencies.iter().map(|dependency| dependency.feature.as_str()).collect::<Vec<_>>().join(", ")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Completed,
    InProgress,
    Blocked,
}

impl State {
    /// Every status other than completed or in progress blocks the dependent feature.
    fn of(status: Option<&str>) -> Self {
        match status.map(str::to_ascii_lowercase).as_deref() {
            Some("completed") => Self::Completed,
            Some("active" | "in-progress" | "in_progress") => Self::InProgress,
            _ => Self::Blocked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(dependencies: usize) -> ProjectContext {
        let dependency = |n: usize| Dependency {
            feature: format!("{n:03}-a-feature-with-a-long-name"),
            status: ["completed", "active", "planned"]
                .get(n % 3)
                .map(|status| (*status).to_owned()),
        };
        ProjectContext {
            project: Some("Shop".to_owned()),
            feature: Some("031-login".to_owned()),
            goals: Some("Sell books".to_owned()),
            dependencies: (0..dependencies).map(dependency).collect(),
            priority: Some("security".to_owned()),
        }
    }

    // D-38
    #[test]
    fn a_missing_fact_leaves_out_its_own_line() {
        let full = context(&known(2)).unwrap();
        assert_eq!(
            full,
            "**Project:** Shop | **This feature:** 031-login\n**Project goals:** Sell books\n\
             **Feature dependencies:** completed: 000-a-feature-with-a-long-name | \
             in-progress: 001-a-feature-with-a-long-name | blocked: none\n\
             **Priority signal:** security"
        );
        let some = ProjectContext { goals: None, dependencies: Vec::new(), ..known(0) };
        assert_eq!(
            context(&some).unwrap(),
            "**Project:** Shop | **This feature:** 031-login\n**Priority signal:** security"
        );
        assert_eq!(context(&ProjectContext::default()), None);
    }

    // D-38: too many names become numbers.
    #[test]
    fn many_dependencies_are_counted() {
        let many = context(&known(90)).unwrap();
        assert!(many.contains("completed: 30 | in-progress: 30 | blocked: 30"), "{many}");
    }
}
