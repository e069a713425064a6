//! Taking back what shortening left out and what would have fitted.

use super::{AROUND, Fitting, PlanForm, Shape, ShorteningStep, TaskForm};
use crate::text::{CharOffset, Text};
use crate::token::Tokens;
use crate::wake::layout::render;

/// The part of the budget that may go from a cut skill to the current task: one of so many.
const A_LITTLE: u64 = 20;

impl Fitting<'_> {
    /// Takes back what went and would have fitted.
    pub(super) fn give_back(&mut self) {
        if self.steps.is_empty() {
            return;
        }
        if self.shape.cut.is_some() {
            self.give_back_beside_cut_skill();
            return;
        }
        for wider in [AROUND, 4 * AROUND, 16 * AROUND] {
            let near = |shape: &mut Shape| {
                if matches!(shape.tasks, TaskForm::Near(around) if around < wider) {
                    shape.tasks = TaskForm::Near(wider);
                }
            };
            self.try_back(&[ShorteningStep::FewTasks], near, Self::fits);
        }
        self.try_back(
            &[ShorteningStep::NearTasks, ShorteningStep::FewTasks],
            |shape| {
                if matches!(shape.tasks, TaskForm::Near(_)) {
                    shape.tasks = TaskForm::Full;
                }
            },
            Self::fits,
        );
        self.give_back_plan(Self::fits);
        self.try_back(
            &[ShorteningStep::SkillDiagrams],
            |shape| shape.level.diagrams = true,
            Self::fits,
        );
        self.try_back(
            &[ShorteningStep::SkillExplanations],
            |shape| {
                shape.level.explanations = true;
            },
            Self::fits,
        );
        self.try_back(
            &[ShorteningStep::ShortTitles],
            |shape| shape.short_titles = false,
            Self::fits,
        );
        self.give_back_activity(self.facts.activity.len(), Self::fits);
        self.try_back(&[ShorteningStep::ShortActivity], |shape| shape.line = None, Self::fits);
    }

    /// Takes parts of the plan back, as long as the text is acceptable with them.
    fn give_back_plan(&mut self, is_acceptable: impl Fn(&Self) -> bool) {
        for (plan, step) in [
            (PlanForm::HeadingAndFiles, ShorteningStep::NoPlan),
            (PlanForm::Task, ShorteningStep::PlanFiles),
            (PlanForm::Full, ShorteningStep::PlanTask),
        ] {
            let forms = self.shape.plan_forms.as_ref();
            if forms.is_some_and(|forms| forms.at(plan).is_none()) {
                break;
            }
            self.try_back(&[step], |shape| shape.plan = shape.plan.max(plan), &is_acceptable);
            if self.shape.plan < plan {
                break;
            }
        }
    }

    /// Takes lines of activity back, newest first, as long as the text is acceptable with them.
    fn give_back_activity(&mut self, most: usize, is_acceptable: impl Fn(&Self) -> bool) {
        while self.shape.activity < most {
            let lines = self.shape.activity + 1;
            let is_all = lines == self.facts.activity.len();
            let mut undone = Vec::new();
            undone.extend((lines >= 3 || is_all).then_some(ShorteningStep::NoActivity));
            undone.extend(is_all.then_some(ShorteningStep::LessActivity));
            self.try_back(&undone, |shape| shape.activity = lines, &is_acceptable);
            if self.shape.activity < lines {
                break;
            }
        }
    }

    /// Takes back what costs little. A skill that is cut has nearly all room already, and the steps of
    /// the current task are worth more than its last lines.
    fn give_back_beside_cut_skill(&mut self) {
        let (shape, steps) = (self.shape.clone(), self.steps.clone());
        let free = self.room.budget.tokens().less(self.cost(&self.shape));
        let little = Tokens::from_tenths(self.room.budget.tokens().tenths() / A_LITTLE);
        let most = self.cost_without_skill().tenths() + free.max(little).tenths();
        let is_cheap = |fitting: &Self| fitting.cost_without_skill().tenths() <= most;
        self.give_back_plan(is_cheap);
        self.give_back_activity(self.facts.activity.len().min(3), is_cheap);
        if self.shape == shape {
            return;
        }
        self.cut_skill();
        if !self.fits() {
            (self.shape, self.steps) = (shape, steps);
        }
    }

    fn cost(&self, shape: &Shape) -> Tokens {
        self.tokenizer.count(Text::new(&render(self.facts, shape)))
    }

    fn cost_without_skill(&self) -> Tokens {
        self.cost(&Shape { cut: Some(CharOffset::START), ..self.shape.clone() })
    }

    fn try_back(
        &mut self,
        undone: &[ShorteningStep],
        change: impl FnOnce(&mut Shape),
        is_acceptable: impl Fn(&Self) -> bool,
    ) {
        let before = self.shape.clone();
        change(&mut self.shape);
        if self.shape == before {
            return;
        }
        if is_acceptable(self) {
            self.steps.retain(|step| !undone.contains(step));
        } else {
            self.shape = before;
        }
    }
}
