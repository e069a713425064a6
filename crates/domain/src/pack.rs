//! Fits texts into a budget: keeps some whole, cuts one, drops others, and records why.
//!
//! Texts come in order of priority. One may be protected: it is never dropped, and it is cut only
//! when nothing else is left. The mechanism knows nothing of files or folders.

use std::fmt;

use crate::cut::{self, Accept, Border, Cut};
use crate::text::{CharOffset, Text};
use crate::token::{Budget, Tokenizer, Tokens};

/// Which texts are cut or dropped when not all of them fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PackPolicy {
    /// Drop from the bottom, but cut a text that could never fit if the others leave it room.
    #[default]
    Contract,
    /// Drop whole texts from the bottom; cut only the protected one.
    Strict,
    /// Drop nothing beforehand: fill up in order and cut the first text that does not fit.
    Fill,
}

impl PackPolicy {
    /// Every policy, in the order shown to users.
    pub const ALL: [Self; 3] = [Self::Contract, Self::Strict, Self::Fill];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contract => "contract",
            Self::Strict => "strict",
            Self::Fill => "fill",
        }
    }

    /// Returns the policy that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

/// How much a text matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Importance {
    /// Never dropped.
    Protected,
    /// Dropped from the bottom; may be cut instead.
    Ordinary,
    /// Dropped from the bottom and never cut to be kept.
    Expendable,
}

/// A text to pack.
#[derive(Debug, Clone, Copy)]
pub struct PackItem<'a> {
    /// The whole text, before packing cuts or drops it.
    pub text: Text<'a>,
    /// The cost of the whole text.
    pub cost: Tokens,
    /// How much it matters.
    pub standing: Importance,
    /// Where it may be cut.
    pub borders: Accept,
}

impl Accept {
    /// Returns the weakest border at which a text may be cut: a protected text anywhere, any other
    /// between its sections.
    pub fn at_least(standing: Importance) -> Self {
        match standing {
            Importance::Protected => Self::Anything,
            Importance::Ordinary | Importance::Expendable => Self::Sections,
        }
    }
}

/// Whether a text is in, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackOutcome {
    /// All of it is in.
    Whole,
    /// Everything before the cut is in.
    Cut(Cut),
    /// None of it is in.
    Dropped(DropReason),
}

/// Why a text was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The budget was exceeded and this was the least important text left.
    OverBudget,
    /// There was some room, but no section border in it.
    NoBorder,
    /// A more important text filled the budget.
    AfterCut,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OverBudget => "over budget, and the least important of the remaining ones",
            Self::NoBorder => "no section border within the remaining budget",
            Self::AfterCut => "the budget was full before it",
        })
    }
}

/// Decides about every item; the verdicts come in the order of the items.
pub fn pack(
    items: &[PackItem<'_>],
    budget: Budget,
    policy: PackPolicy,
    tokenizer: &dyn Tokenizer,
) -> Vec<PackOutcome> {
    let mut packing = Packing {
        items,
        budget: budget.tokens(),
        tokenizer,
        verdicts: vec![PackOutcome::Whole; items.len()],
    };
    if policy != PackPolicy::Fill {
        packing.drop_from_the_bottom(policy);
    }
    packing.include_in_order();
    packing.verdicts
}

struct Packing<'a> {
    items: &'a [PackItem<'a>],
    budget: Tokens,
    tokenizer: &'a dyn Tokenizer,
    verdicts: Vec<PackOutcome>,
}

impl Packing<'_> {
    fn drop_from_the_bottom(&mut self, policy: PackPolicy) {
        while self.cost_of_kept() > self.budget {
            let Some(lowest) = self.kept().rev().find(|&i| !self.is_protected(i)) else { return };
            if policy == PackPolicy::Contract && self.is_worth_cutting(lowest) {
                return;
            }
            self.verdicts[lowest] = PackOutcome::Dropped(DropReason::OverBudget);
        }
    }

    /// A text is cut rather than dropped when dropping others could never have saved it, and when
    /// the others leave room for a part of it; if they do not fit themselves, they leave none.
    fn is_worth_cutting(&self, candidate: usize) -> bool {
        let item = &self.items[candidate];
        let others = self.kept().filter(|&i| i != candidate).map(|i| self.items[i].cost).sum();
        item.standing != Importance::Expendable
            && item.cost > self.budget
            && self.cut(candidate, self.budget.less(others)).is_some()
    }

    /// Walks down the priorities. After the first text that does not fit only the protected one
    /// may still come, so its cost is set aside until then.
    fn include_in_order(&mut self) {
        let mut used = Tokens::default();
        let mut full = false;
        for index in self.kept().collect::<Vec<_>>() {
            let item = &self.items[index];
            let room = self.budget.less(used).less(self.reserved_after(index));
            self.verdicts[index] = if full && !self.is_protected(index) {
                PackOutcome::Dropped(DropReason::AfterCut)
            } else if item.cost <= room {
                used += item.cost;
                PackOutcome::Whole
            } else if let Some(cut) = self.cut(index, room) {
                full = true;
                PackOutcome::Cut(cut)
            } else {
                full = true;
                PackOutcome::Dropped(DropReason::NoBorder)
            };
        }
    }

    fn cut(&self, index: usize, room: Tokens) -> Option<Cut> {
        let PackItem { text, borders, .. } = self.items[index];
        let found = cut::find(text, CharOffset::START, room, borders, self.tokenizer);
        // The protected text stays in name even when there is no room for a character of it.
        let empty = Cut { at: CharOffset::START, border: Border::Character };
        found.or(self.is_protected(index).then_some(empty))
    }

    fn reserved_after(&self, index: usize) -> Tokens {
        self.kept()
            .find(|&later| later > index && self.is_protected(later))
            .map_or(Tokens::default(), |later| self.items[later].cost)
    }

    fn kept(&self) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.items.len()).filter(|&i| !matches!(self.verdicts[i], PackOutcome::Dropped(_)))
    }

    fn cost_of_kept(&self) -> Tokens {
        self.kept().map(|i| self.items[i].cost).sum()
    }

    fn is_protected(&self, index: usize) -> bool {
        self.items[index].standing == Importance::Protected
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::token::Estimate;

    /// Makes a text of `chars` characters with a level-2 heading at every offset in `borders`.
    fn text(chars: usize, borders: &[usize]) -> String {
        let mut text = String::with_capacity(chars);
        for &border in borders {
            text.push_str(&"x".repeat(border - text.len() - 1));
            text.push_str("\n## ");
        }
        text.push_str(&"x".repeat(chars - text.len()));
        text
    }

    /// Packs texts in priority order, the first protected by default, the last of four expendable,
    /// and renders the verdicts.
    fn packed(
        texts: &[String],
        protected: usize,
        budget: u64,
        policy: PackPolicy,
    ) -> (String, String) {
        let texts: Vec<_> = texts.iter().map(|text| Text::new(text)).collect();
        let items: Vec<_> = (0..texts.len())
            .map(|i| {
                let standing = match i {
                    _ if i == protected => Importance::Protected,
                    3 => Importance::Expendable,
                    _ => Importance::Ordinary,
                };
                let (text, cost) = (texts[i], Estimate.count(texts[i]));
                PackItem { text, cost, standing, borders: Accept::at_least(standing) }
            })
            .collect();
        let verdicts = pack(&items, Budget::new(budget).unwrap(), policy, &Estimate);
        let mut used = Tokens::default();
        let words = verdicts.iter().zip(&items).map(|(verdict, item)| match verdict {
            PackOutcome::Whole => {
                used += item.cost;
                "whole".to_owned()
            }
            PackOutcome::Cut(cut) => {
                used += Estimate.count(item.text.before(cut.at));
                format!("cut {}", cut.at)
            }
            PackOutcome::Dropped(_) => "dropped".to_owned(),
        });
        let words = words.collect::<Vec<_>>().join(", ");
        (words, used.to_string())
    }

    #[track_caller]
    fn check(texts: &[String], policy: PackPolicy, words: &str, used: &str) {
        assert_eq!(packed(texts, 0, 20_000, policy), (words.to_owned(), used.to_owned()));
    }

    fn plain(chars: &[usize]) -> Vec<String> {
        chars.iter().map(|&chars| text(chars, &[])).collect()
    }

    // B-42: a text that fits stays, even if it fits exactly.
    #[test]
    fn everything_that_fits_is_whole() {
        check(
            &plain(&[21_085, 9_588, 10_748]),
            PackPolicy::Contract,
            "whole, whole, whole",
            "11391.6",
        );
        let exact = plain(&[40_000, 32_000, 724]);
        assert_eq!(packed(&exact, 0, 20_000, PackPolicy::Contract).1, "19999.1");
        let all = plain(&[40, 40]);
        assert_eq!(packed(&all, 0, 22, PackPolicy::Contract).0, "whole, whole");
        assert_eq!(packed(&all, 0, 21, PackPolicy::Contract).0, "whole, dropped");
    }

    // B-40..B-44: the worked table.
    #[test]
    fn the_least_important_text_gives_way_first() {
        let contract = PackPolicy::Contract;
        check(
            &plain(&[24_000, 20_000, 20_000, 16_000]),
            contract,
            "whole, whole, whole, dropped",
            "17600.0",
        );
        check(
            &plain(&[40_000, 32_000, 8_000, 4_000]),
            contract,
            "whole, whole, dropped, dropped",
            "19800.0",
        );
        check(&plain(&[60_000, 40_000]), contract, "whole, dropped", "16500.0");
        check(
            &plain(&[60_000, 32_000, 120_000, 4_000]),
            contract,
            "whole, dropped, dropped, dropped",
            "16500.0",
        );
        let real_sizes = plain(&[21_085, 9_588, 10_748]);
        assert_eq!(
            packed(&real_sizes, 0, 8_000, contract),
            ("whole, dropped, dropped".to_owned(), "5799.2".to_owned())
        );
    }

    fn research_too_long() -> Vec<String> {
        let research = text(120_000, &[9_000, 18_050, 27_990, 30_110]);
        vec![text(20_000, &[]), text(24_000, &[]), research, text(4_000, &[])]
    }

    // B-43.2: a text that could never fit is cut if the others leave it a section's room.
    #[test]
    fn a_text_that_could_never_fit_is_cut_instead() {
        let words = "whole, whole, cut 27990, dropped";
        check(&research_too_long(), PackPolicy::Contract, words, "19797.8");
    }

    // B-43.2: each of the four conditions, taken away alone.
    #[test]
    fn a_text_is_dropped_when_one_reason_to_cut_it_is_missing() {
        let contract = PackPolicy::Contract;
        let three_whole = "whole, whole, dropped, dropped";
        let mut no_border = research_too_long();
        no_border[2] = text(120_000, &[30_110]);
        check(&no_border, contract, three_whole, "12100.0");
        let mut could_fit_alone = research_too_long();
        could_fit_alone[2] = text(72_724, &[9_000]);
        check(&could_fit_alone, contract, three_whole, "12100.0");
        let mut others_fill_it = research_too_long();
        others_fill_it[0] = text(48_720, &[]);
        others_fill_it[1] = text(24_004, &[]);
        check(&others_fill_it, contract, three_whole, "19999.1");
        let last =
            vec![text(20_000, &[]), text(24_000, &[]), text(4, &[]), text(120_000, &[9_000])];
        check(&last, contract, "whole, whole, whole, dropped", "12101.1");
    }

    // B-45
    #[test]
    fn strict_never_cuts_to_keep_and_fill_always_tries() {
        let words = "whole, whole, dropped, dropped";
        check(&research_too_long(), PackPolicy::Strict, words, "12100.0");
        let words = "whole, whole, cut 27990, dropped";
        check(&research_too_long(), PackPolicy::Fill, words, "19797.8");
        let two = [text(54_544, &[]), text(29_092, &[5_000, 15_000, 19_000])];
        check(&two, PackPolicy::Contract, "whole, dropped", "14999.6");
        check(&two, PackPolicy::Fill, "whole, cut 15000", "19124.6");
    }

    // B-44: no text is skipped to admit a lower one, not even when there was no border to cut at.
    #[test]
    fn after_the_first_text_that_does_not_fit_nothing_follows() {
        let texts = [text(40_000, &[]), text(40_000, &[]), text(4, &[])];
        check(&texts, PackPolicy::Fill, "whole, dropped, dropped", "11000.0");
    }

    // B-41, B-53, B-55
    #[test]
    fn the_protected_text_may_be_cut_anywhere() {
        let contract = PackPolicy::Contract;
        check(&plain(&[90_000]), contract, "cut 72724", "19999.1");
        let one_line = plain(&[100]);
        assert_eq!(packed(&one_line, 0, 1, contract), ("cut 0".to_owned(), "0.0".to_owned()));
    }

    // B-41, B-45: the protected text survives at any rank, under any policy.
    #[test]
    fn the_protected_text_survives_below_a_longer_one() {
        for policy in PackPolicy::ALL {
            let texts = [text(120_000, &[9_000, 30_000]), text(60_000, &[])];
            let (words, _) = packed(&texts, 1, 20_000, policy);
            let expected = match policy {
                PackPolicy::Strict => "dropped, whole",
                PackPolicy::Contract | PackPolicy::Fill => "cut 9000, whole",
            };
            assert_eq!(words, expected, "{policy:?}");
        }
        let both_too_long = [text(120_000, &[9_000]), text(90_000, &[])];
        assert_eq!(packed(&both_too_long, 1, 20_000, PackPolicy::Fill).0, "dropped, cut 72724");
    }

    proptest! {
        #[test]
        fn the_budget_holds_and_the_protected_text_stays(
            sizes in prop::collection::vec((1_usize..400, prop::option::of(5_usize..60)), 1..5),
            protected in 0_usize..5,
            budget in 1_u64..300,
        ) {
            let texts: Vec<_> = sizes
                .iter()
                .map(|&(chars, border)| {
                    let borders: Vec<_> = border.filter(|b| b + 3 <= chars).into_iter().collect();
                    text(chars, &borders)
                })
                .collect();
            let protected = protected % texts.len();
            for policy in PackPolicy::ALL {
                let (words, used) = packed(&texts, protected, budget, policy);
                let verdicts: Vec<_> = words.split(", ").collect();
                let tenths: u64 = used.replace('.', "").parse().unwrap();
                prop_assert!(tenths <= budget * 10);
                prop_assert_ne!(verdicts[protected], "dropped");
            }
        }
    }
}
