//! The savings of references, and whose they are.
//!
//! Two sums belong together: the cost of the dispatcher's prompts, which references reduce, and the
//! total cost of the agents, reading included, which they hardly change. Each sum alone would
//! mislead.

use std::collections::BTreeMap;

use super::artifact::FeatureArtifact;
use super::role::{DispatchRole, PromptProfile};
use crate::token::{Estimate, Tokens};

/// How long a feature's documents are, in characters. A missing document has no entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeatureSizes {
    /// By document.
    pub chars: BTreeMap<FeatureArtifact, usize>,
    /// The two sections of the PRD that were once pasted by themselves.
    pub prd_sections: usize,
}

impl FeatureSizes {
    /// Tells whether the feature has all that a whole pass of dispatches needs.
    pub fn is_complete(&self) -> bool {
        let needed = [
            FeatureArtifact::SPEC,
            FeatureArtifact::DESIGN,
            FeatureArtifact::PLAN,
            FeatureArtifact::TASKS,
        ];
        needed.iter().all(|artifact| self.chars.contains_key(artifact))
    }

    fn sum<'a>(&self, artifacts: impl IntoIterator<Item = &'a FeatureArtifact>) -> usize {
        artifacts.into_iter().filter_map(|artifact| self.chars.get(artifact)).sum()
    }
}

/// How long the parts of a prompt are that do not depend on the feature's documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Without any references.
    pub pasted: usize,
    /// With references, the target pasted.
    pub seed: usize,
    /// With references alone.
    pub all_reference: usize,
}

/// The cost of one dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// The prompt alone, estimated from its characters.
    pub prompt: Tokens,
    /// Its prompt, and every file that the agent must read.
    pub total: Tokens,
}

impl Cost {
    fn new(prompt: usize, reading: usize) -> Self {
        let prompt = Estimate::of_chars(prompt);
        Self { prompt, total: prompt + Estimate::of_chars(reading) }
    }

    fn plus(self, other: Self) -> Self {
        Self { prompt: self.prompt + other.prompt, total: self.total + other.total }
    }
}

/// The cost of dispatches in three generations of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Costs {
    /// Everything pasted.
    pub pasted: Cost,
    /// References, the target pasted.
    pub seed: Cost,
    /// References alone.
    pub all_reference: Cost,
}

impl Costs {
    /// Adds up.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            pasted: self.pasted.plus(other.pasted),
            seed: self.seed.plus(other.seed),
            all_reference: self.all_reference.plus(other.all_reference),
        }
    }
}

/// Returns what dispatching a role on a feature costs.
pub fn costs(role: &DispatchRole, feature: &FeatureSizes, frame: Frame) -> Costs {
    let by_reference = |profile: PromptProfile, frame: usize| {
        let pasted = feature.sum(role.pasted(profile));
        Cost::new(frame + pasted, feature.sum(role.reads(profile)))
    };
    // This one was pasted two sections of the PRD instead of all of it.
    let sections = if role.name.role == "test-deepener" { feature.prd_sections } else { 0 };
    let pasted = frame.pasted + feature.sum(&role.pasted_before) + sections;
    Costs {
        pasted: Cost::new(pasted, 0),
        seed: by_reference(PromptProfile::Seed, frame.seed),
        all_reference: by_reference(PromptProfile::AllReference, frame.all_reference),
    }
}

/// Returns what part of `before` is left, as a change in tenths of a percent: −912 is −91.2 %.
pub fn change_per_mille(before: Tokens, after: Tokens) -> Option<i64> {
    let (before, after) = (i128::from(before.tenths()), i128::from(after.tenths()));
    let change = ((after - before) * 1000).checked_div(before)?;
    i64::try_from(change).ok()
}

/// Returns what a loop costs that resumes after its first round, in tenths of a percent of one that
/// begins afresh each time.
pub fn resumed_loop_per_mille(fresh: u64, resumed: u64, rounds: u64) -> Option<u64> {
    let resuming = fresh + resumed * rounds.saturating_sub(1);
    let afresh = fresh * rounds;
    (resuming * 1000 + afresh / 2).checked_div(afresh)
}

#[cfg(test)]
mod tests {
    use super::super::role::{RoleName, Roles};
    use super::*;

    fn feature(prd: Option<usize>) -> FeatureSizes {
        let known = [
            (FeatureArtifact::SPEC, 4000),
            (FeatureArtifact::DESIGN, 8000),
            (FeatureArtifact::PLAN, 6000),
            (FeatureArtifact::TASKS, 2000),
        ];
        let prd = prd.map(|chars| (FeatureArtifact::PRD, chars));
        FeatureSizes { chars: known.into_iter().chain(prd).collect(), prd_sections: 400 }
    }

    fn of(name: &str, feature: &FeatureSizes) -> [String; 6] {
        let roles = Roles::default();
        let role = roles.find(&RoleName::parse(name).unwrap()).unwrap();
        let frame = Frame { pasted: 400, seed: 800, all_reference: 840 };
        let Costs { pasted, seed, all_reference } = costs(role, feature, frame);
        let all = [pasted, seed, all_reference];
        [all.map(|size| size.prompt.to_string()), all.map(|size| size.total.to_string())]
            .concat()
            .try_into()
            .unwrap()
    }

    // D-80, D-82: the prompt shrinks, the whole does not.
    #[test]
    fn references_move_cost_to_the_reader() {
        let with_prd = feature(Some(1200));
        assert_eq!(
            of("design/design-reviewer", &with_prd),
            // 400+1200+4000+8000; 800+8000; 840; and the same with what must be read.
            ["3740.0", "2420.0", "231.0", "3740.0", "3850.0", "3861.0"]
        );
        assert_eq!(
            of("implement/security-reviewer", &with_prd),
            ["5940.0", "220.0", "231.0", "5940.0", "3520.0", "3531.0"]
        );
        let [pasted, .., all] = of("implement/test-deepener", &with_prd);
        assert_eq!((pasted.as_str(), all.as_str()), ("4070.0", "4411.0"), "it reads the whole PRD");
    }

    #[test]
    fn missing_documents_cost_nothing() {
        let without = feature(None);
        assert_eq!(of("specify/spec-reviewer", &without)[3..], ["1210.0", "1320.0", "1331.0"]);
        assert!(without.is_complete());
        assert!(!FeatureSizes::default().is_complete());
    }

    // D-81: the published claim of less than half does not hold at the guard itself.
    #[test]
    fn at_the_guard_a_resumed_loop_of_five_rounds_costs_three_fifths() {
        assert_eq!(resumed_loop_per_mille(1000, 500, 5), Some(600));
        assert_eq!(resumed_loop_per_mille(1000, 370, 5), Some(496));
    }

    // D-84
    #[test]
    fn a_resumed_loop_costs_less_than_half() {
        assert_eq!(resumed_loop_per_mille(3680, 1145, 5), Some(449));
        assert_eq!(resumed_loop_per_mille(0, 1, 5), None);
        let change = |before, after| change_per_mille(Tokens::whole(before), Tokens::whole(after));
        assert_eq!(change(1000, 88), Some(-912));
        assert_eq!((change(10, 11), change(0, 1)), (Some(100), None));
    }
}
