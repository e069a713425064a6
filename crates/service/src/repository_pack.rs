//! The repository as a text for an agent: its tree, and what matters most for a feature.

mod report;

use convoke_domain::brief::settings::Layer;
use convoke_domain::repository_pack::{PackFrameTooLarge, PackLayout};
use convoke_domain::token::{Budget, Vocabulary};
use convoke_engine::brief::secrets::SecretRules;
use convoke_engine::repository_pack::{LeftOut, RepositorySurvey};

pub use self::report::{
    LeftOutReport, PackFileReport, PackRangeReport, PackReasonReport, RepositoryPackReport,
};
use crate::brief::{brief_settings, open_tokenizer};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::pack::settings;

/// What is packed, and how.
#[derive(Debug, Clone)]
pub struct PackRequest {
    /// The feature, in any words.
    pub feature: String,
    /// What the agent gets.
    pub layout: PackLayout,
    /// The most tokens that the pack may cost.
    pub budget: Option<Budget>,
    /// How tokens are counted; without it, as for briefs.
    pub tokenizer: Option<Vocabulary>,
}

#[derive(Debug, thiserror::Error)]
enum PackError {
    #[error("cannot pack the repository: the feature is empty")]
    NoFeature,
    #[error("cannot pack `{project}`: it has no files")]
    NoFiles { project: String },
}

/// Packs the project's repository. The pack keeps its budget, and marks what it cuts.
pub fn pack_repository(
    session: &Session,
    request: &PackRequest,
) -> Result<RepositoryPackReport, Failure> {
    if request.feature.trim().is_empty() {
        return Err(Failure::new(ErrorClass::Usage, PackError::NoFeature)
            .hint("describe the feature: `convoke pack \"add a login page\"`"));
    }
    let layer = Layer { tokenizer: request.tokenizer, ..Layer::default() };
    let vocabulary = brief_settings(session, layer)?.settings.tokenizer;
    let tokenizer = open_tokenizer(vocabulary)?;
    let rules = SecretRules::load().map_err(|error| Failure::new(ErrorClass::Bug, error))?;
    let survey = RepositorySurvey::new(&session.project, &request.feature, &rules);
    if survey.files.is_empty() {
        let project = session.project.display().to_string();
        return Err(Failure::new(ErrorClass::Prerequisite, PackError::NoFiles { project }));
    }
    let budget = match request.budget {
        Some(budget) => budget,
        None => settings(session)?.budget,
    };
    let pack = survey.pack(request.layout, budget, &*tokenizer).map_err(too_small)?;
    let report = RepositoryPackReport::new(&survey, &pack, request.layout, budget, vocabulary);
    tell(session, &survey);
    if !survey.has_hit() {
        session.reporter().remark(
            "no file, name or commit has a word of the feature; the pack shows what changed \
             recently",
        );
    }
    Ok(report)
}

/// The repository for the agents of a design.
#[derive(Debug, Clone, Default)]
pub(crate) struct DesignPacks {
    /// Tree, texts and outlines, for agents without tools.
    pub(crate) texts: Option<String>,
    /// Tree and outlines, for agents that read files themselves.
    pub(crate) pointers: Option<String>,
}

/// Packs the repository for the agents of a design, in the layouts that its seats can use. A layout is
/// `None` if the settings give no budget for it, or if there is nothing to pack.
pub(crate) fn design_packs(
    session: &Session,
    feature: &str,
    layouts: &[PackLayout],
) -> Result<DesignPacks, Failure> {
    let settings = settings(session)?;
    let budget_of = |layout| match layout {
        PackLayout::Texts => settings.design_budget,
        PackLayout::Pointers => settings.pointers_budget,
    };
    let wanted: Vec<_> =
        layouts.iter().filter_map(|layout| Some((*layout, budget_of(*layout)?))).collect();
    let mut packs = DesignPacks::default();
    if wanted.is_empty() {
        return Ok(packs);
    }
    let tokenizer = open_tokenizer(Vocabulary::Estimate)?;
    let rules = SecretRules::load().map_err(|error| Failure::new(ErrorClass::Bug, error))?;
    let survey = RepositorySurvey::new(&session.project, feature, &rules);
    if survey.files.is_empty() {
        return Ok(packs);
    }
    for (layout, budget) in wanted {
        let (pack, key) = match layout {
            PackLayout::Texts => (&mut packs.texts, "design_budget"),
            PackLayout::Pointers => (&mut packs.pointers, "pointers_budget"),
        };
        let packed = survey.pack(layout, budget, &*tokenizer).map_err(|error| {
            Failure::new(ErrorClass::Usage, error)
                .hint(format!("raise `{key}` in `[pack]`, or set it to 0"))
        })?;
        *pack = Some(packed.block);
    }
    tell(session, &survey);
    Ok(packs)
}

fn too_small(error: PackFrameTooLarge) -> Failure {
    Failure::new(ErrorClass::Usage, error).hint("raise `--budget`")
}

/// Warns of what a user would miss: likely secrets among the best files, and files that were not read.
fn tell(session: &Session, survey: &RepositorySurvey) {
    const MOST: usize = 5;
    let reporter = session.reporter();
    let secrets = survey.files.iter().filter_map(|file| match &file.text {
        Err(LeftOut::Secret { line, kind }) => Some((&file.path, *line, kind)),
        Ok(_) | Err(_) => None,
    });
    for (path, line, kind) in secrets.take(MOST) {
        reporter.warn(format!("left out {path}: line {line} looks like a secret ({kind})"));
    }
    if survey.unnamed > 0 {
        let count = survey.unnamed;
        reporter.aside(format!("{count} file names cannot be cited: they are not plain text"));
    }
    if survey.is_cut {
        let count = survey.files.len();
        reporter.warn(format!("the project has more files than Convoke lists ({count})"));
    }
}
