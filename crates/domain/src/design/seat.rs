//! Seats: which agent holds which place on the panels, and which one replaces a missing agent.
//!
//! A panel is made of two agents that compete and a host that fills gaps. Which agents these are is
//! data; labels, file names and columns follow from their names. Which seat each holds is a rule.

pub use super::personality::Personality;
use super::sketch::SketchPanel;

/// One of the three that a panel is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// The first agent; by default the slowest, which is why it is started first.
    First,
    /// The second external agent.
    Second,
    /// The host, which is always there.
    Host,
}

impl Holder {
    /// Returns how long a lane is expected to take, against the others: the slowest is started first.
    pub const fn slowness(self) -> u64 {
        match self {
            Self::First => 3,
            Self::Second => 2,
            Self::Host => 1,
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Host => Self::Host,
        }
    }
}

/// Which of the two agents can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Available {
    /// Whether the first agent can be used.
    pub first: bool,
    /// Whether the second agent can be used.
    pub second: bool,
}

impl Available {
    /// Tells whether a holder can be used. The host always can.
    pub const fn has(self, holder: Holder) -> bool {
        match holder {
            Holder::First => self.first,
            Holder::Second => self.second,
            Holder::Host => true,
        }
    }
}

/// An agent's names: the word it is called by in files, and the name that people read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    word: String,
    name: String,
}

/// Names that no panel can work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// The word would not do in a file name.
    #[error(
        "cannot use `{0}` as an agent's word: it must be lower-case letters, digits and dashes, \
         begin with a letter, have at most 32 characters and no part `fallback`"
    )]
    Word(String),
    /// The name would not do in a table.
    #[error(
        "cannot show `{0}` as an agent's name: it must be letters, digits, dots, dashes or blanks, \
         begin with a letter and have at most 32 characters"
    )]
    Name(String),
    /// Two of a panel's three have the same name.
    #[error("cannot seat `{0}` twice")]
    Twice(String),
}

impl Named {
    /// Checks a word and a name. Both appear in files and tables that programs read.
    pub fn new(word: &str, name: &str) -> Result<Self, BadName> {
        let short = |text: &str| (1..=32).contains(&text.len());
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        // A file of an agent `a-fallback-b` would be that of `a` sitting in for `b`.
        let reserved = word.split('-').any(|part| part == "fallback");
        let begins = word.starts_with(|c: char| c.is_ascii_lowercase());
        if !(short(word) && begins && word.chars().all(letters) && !reserved) {
            return Err(BadName::Word(word.to_owned()));
        }
        let shown = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ' ');
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !(short(name) && begins && name.chars().all(shown) && name.trim_end() == name) {
            return Err(BadName::Name(name.to_owned()));
        }
        Ok(Self { word: word.to_owned(), name: name.to_owned() })
    }

    /// Returns the word that the agent is called by in files.
    pub fn word(&self) -> &str {
        &self.word
    }

    /// Returns the name that people read, such as `Codex`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The three that a design is made by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    first: Named,
    second: Named,
    host: Named,
}

impl Default for Panel {
    /// Cursor and Codex, with Claude as the host.
    fn default() -> Self {
        let named = |word: &str, name: &str| Named { word: word.to_owned(), name: name.to_owned() };
        Self {
            first: named("cursor", "Cursor"),
            second: named("codex", "Codex"),
            host: named("claude", "Claude"),
        }
    }
}

impl Panel {
    /// Seats three agents with different names.
    pub fn new(first: Named, second: Named, host: Named) -> Result<Self, BadName> {
        for (one, other) in [(&first, &second), (&first, &host), (&second, &host)] {
            if one.word == other.word || one.name.eq_ignore_ascii_case(&other.name) {
                return Err(BadName::Twice(other.word.clone()));
            }
        }
        Ok(Self { first, second, host })
    }

    /// Returns the names of a holder.
    pub const fn named(&self, holder: Holder) -> &Named {
        match holder {
            Holder::First => &self.first,
            Holder::Second => &self.second,
            Holder::Host => &self.host,
        }
    }

    /// Seats the sketchers: four, or two without personalities. The host sits in.
    pub fn sketchers(&self, panel: SketchPanel, available: Available) -> Vec<Seat> {
        let seat = |owner, personality| {
            let runner = if available.has(owner) { owner } else { Holder::Host };
            self.seat(SeatPart::Sketch(personality), owner, runner)
        };
        if panel == SketchPanel::Quick {
            let generic = |owner| seat(owner, Personality::Generic);
            return [Holder::First, Holder::Second].map(generic).to_vec();
        }
        Personality::FOUR.map(|personality| seat(personality.owner(), personality)).to_vec()
    }

    /// Seats the debaters of one decision, the thesis first. The host never replaces one: its style
    /// would reveal to the judges who wrote a defence.
    pub fn debaters(&self, decision: usize, available: Available) -> Option<[Seat; 2]> {
        let owner = bucket(decision);
        let seat = |side| self.seat(SeatPart::Debate { decision, side }, owner, owner);
        available.has(owner).then(|| Side::BOTH.map(seat))
    }

    /// Seats three judges. The host sits in.
    pub fn judges(&self, available: Available) -> Vec<Seat> {
        self.three([Holder::First, Holder::Second, Holder::Host], SeatPart::Judge, available)
    }

    /// Seats the four reviewers. The other agent sits in, and the host where neither is there.
    pub fn reviewers(&self, available: Available) -> Vec<Seat> {
        let seat = |personality: Personality| {
            let owner = personality.owner();
            let chain = [owner, owner.other()];
            let runner =
                chain.into_iter().find(|holder| available.has(*holder)).unwrap_or(Holder::Host);
            self.seat(SeatPart::Review(personality), owner, runner)
        };
        Personality::FOUR.map(seat).to_vec()
    }

    /// Seats three voters. The host sits in.
    pub fn voters(&self, available: Available) -> Vec<Seat> {
        self.three([Holder::Host, Holder::Second, Holder::First], SeatPart::Vote, available)
    }

    fn three(&self, owners: [Holder; 3], part: SeatPart, available: Available) -> Vec<Seat> {
        let runner = |owner| if available.has(owner) { owner } else { Holder::Host };
        owners.map(|owner| self.seat(part, owner, runner(owner))).to_vec()
    }

    fn seat(&self, part: SeatPart, owner: Holder, runner: Holder) -> Seat {
        let word = self.named(owner).word();
        let task = part.task();
        let file = match part {
            SeatPart::Debate { decision, side } => {
                format!("debate-{decision}-{word}-{}.txt", side.word())
            }
            _ if owner != runner => {
                format!("{}-fallback-{word}-{task}-output.txt", self.named(runner).word())
            }
            SeatPart::Review(_) if owner == Holder::Second => {
                format!("{word}-primary-{task}-output.txt")
            }
            SeatPart::Sketch(_) | SeatPart::Review(_) | SeatPart::Judge | SeatPart::Vote => {
                format!("{word}-{task}-output.txt")
            }
        };
        let kind = if part == SeatPart::Vote { "plan-voter" } else { &task };
        let name = self.named(owner).name();
        let label = match part {
            SeatPart::Sketch(angle) | SeatPart::Review(angle) => {
                format!("{name}-{}", angle.label())
            }
            SeatPart::Judge | SeatPart::Vote => name.to_owned(),
            SeatPart::Debate { decision, side } => format!("{name}-{decision}-{}", side.word()),
        };
        Seat { part, owner, runner, label, file, kind: format!("{word}-{kind}") }
    }

    /// Returns the author of a seat's findings: its label, with the name of the agent that replaced
    /// another. All findings of the host have one author.
    pub fn attribution(&self, seat: &Seat) -> String {
        if seat.runner == seat.owner {
            seat.label.clone()
        } else if seat.runner == Holder::Host {
            super::seat_name::HOST_REVIEWER.to_owned()
        } else {
            format!("{} ({})", seat.label, self.named(seat.runner).name())
        }
    }
}

/// Returns the agent that debates a decision: odd ones are the first's, even ones the second's.
pub const fn bucket(decision: usize) -> Holder {
    if decision % 2 == 1 { Holder::First } else { Holder::Second }
}

/// One of the two sides of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// For what the synthesis chose.
    Thesis,
    /// For the strongest alternative.
    Antithesis,
}

impl Side {
    /// Both sides, in their order.
    pub const BOTH: [Self; 2] = [Self::Thesis, Self::Antithesis];

    /// Returns the word in file names.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Thesis => "thesis",
            Self::Antithesis => "antithesis",
        }
    }

    /// Returns the word that a debater recommends with and a judge votes with.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Thesis => "THESIS",
            Self::Antithesis => "ANTI_THESIS",
        }
    }

    /// Reads such a word, in any case.
    pub fn parse(token: &str) -> Option<Self> {
        Self::BOTH.into_iter().find(|side| side.token().eq_ignore_ascii_case(token))
    }
}

/// The purpose of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatPart {
    /// To sketch an approach.
    Sketch(Personality),
    /// To defend one side of a decision.
    Debate {
        /// The decision's number.
        decision: usize,
        /// Which option to defend.
        side: Side,
    },
    /// To judge the debates.
    Judge,
    /// To review the plan.
    Review(Personality),
    /// To vote on findings.
    Vote,
}

impl SeatPart {
    fn task(self) -> String {
        match self {
            Self::Sketch(personality) => format!("sketch-{}", personality.word()),
            Self::Debate { side, .. } => format!("debate-{}", side.word()),
            Self::Judge => "judge".to_owned(),
            Self::Review(personality) => format!("plan-{}", personality.word()),
            Self::Vote => "vote".to_owned(),
        }
    }
}

/// One seat, and who sits on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// The seat's purpose.
    pub part: SeatPart,
    /// The agent that the seat belongs to.
    pub owner: Holder,
    /// The agent that holds it now.
    pub runner: Holder,
    /// The seat's name, which does not depend on the agent that takes it.
    pub label: String,
    /// The file for the answer. It names the agent that answered; a replacement has another file,
    /// so no answer can be attributed to the wrong agent.
    pub file: String,
    /// The kind of work, for the ledger of times.
    pub kind: String,
}

impl Seat {
    /// Seats another in the same place, after the one on it failed.
    #[must_use]
    pub fn taken_by(&self, runner: Holder, panel: &Panel) -> Self {
        panel.seat(self.part, self.owner, runner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: Available = Available { first: true, second: true };
    const SECOND: Available = Available { first: false, second: true };
    const FIRST: Available = Available { first: true, second: false };
    const NONE: Available = Available { first: false, second: false };

    fn files(seats: &[Seat]) -> Vec<&str> {
        seats.iter().map(|seat| seat.file.as_str()).collect()
    }

    fn runners(seats: &[Seat]) -> Vec<Holder> {
        seats.iter().map(|seat| seat.runner).collect()
    }

    // P-101, P-102, P-103: the table of seats, with both agents there.
    #[test]
    fn every_seat_has_its_label_file_and_kind() {
        let panel = Panel::default();
        let row = |seat: &Seat| [seat.label.clone(), seat.file.clone(), seat.kind.clone()];
        let rows = |seats: Vec<Seat>| seats.iter().map(row).collect::<Vec<_>>();
        assert_eq!(
            rows(panel.sketchers(SketchPanel::Full, BOTH)),
            [
                ["Cursor-Arch", "cursor-sketch-arch-output.txt", "cursor-sketch-arch"],
                ["Cursor-Edge", "cursor-sketch-edge-output.txt", "cursor-sketch-edge"],
                [
                    "Codex-Innovation",
                    "codex-sketch-innovation-output.txt",
                    "codex-sketch-innovation"
                ],
                ["Codex-Pragmatic", "codex-sketch-pragmatic-output.txt", "codex-sketch-pragmatic"],
            ]
        );
        assert_eq!(
            rows(panel.sketchers(SketchPanel::Quick, BOTH)),
            [
                ["Cursor-Generic", "cursor-sketch-generic-output.txt", "cursor-sketch-generic"],
                ["Codex-Generic", "codex-sketch-generic-output.txt", "codex-sketch-generic"],
            ]
        );
        assert_eq!(
            rows(panel.reviewers(BOTH)),
            [
                ["Cursor-Arch", "cursor-plan-arch-output.txt", "cursor-plan-arch"],
                ["Cursor-Edge", "cursor-plan-edge-output.txt", "cursor-plan-edge"],
                [
                    "Codex-Innovation",
                    "codex-primary-plan-innovation-output.txt",
                    "codex-plan-innovation"
                ],
                [
                    "Codex-Pragmatic",
                    "codex-primary-plan-pragmatic-output.txt",
                    "codex-plan-pragmatic"
                ],
            ]
        );
        assert_eq!(
            rows(panel.judges(BOTH)),
            [
                ["Cursor", "cursor-judge-output.txt", "cursor-judge"],
                ["Codex", "codex-judge-output.txt", "codex-judge"],
                ["Claude", "claude-judge-output.txt", "claude-judge"],
            ]
        );
        assert_eq!(
            rows(panel.voters(BOTH)),
            [
                ["Claude", "claude-vote-output.txt", "claude-plan-voter"],
                ["Codex", "codex-vote-output.txt", "codex-plan-voter"],
                ["Cursor", "cursor-vote-output.txt", "cursor-plan-voter"],
            ]
        );
        let debate = panel.debaters(2, BOTH).unwrap();
        assert_eq!(files(&debate), ["debate-2-codex-thesis.txt", "debate-2-codex-antithesis.txt"]);
        assert_eq!(debate[0].kind, "codex-debate-thesis");
        assert_eq!(panel.debaters(3, BOTH).unwrap()[1].file, "debate-3-cursor-antithesis.txt");
    }

    // P-162: who sits where when an agent is not there. Panels keep their size; debates do not.
    #[test]
    fn a_missing_agent_is_replaced_except_in_debates() {
        use Holder::{First, Host, Second};
        let panel = Panel::default();
        let debated = |available| {
            (1..=5).filter(|n| panel.debaters(*n, available).is_some()).collect::<Vec<_>>()
        };
        for (available, sketches, debates, judges, reviews, voters) in [
            (
                BOTH,
                [First, First, Second, Second],
                &[1, 2, 3, 4, 5][..],
                [First, Second, Host],
                [First, First, Second, Second],
                [Host, Second, First],
            ),
            (
                SECOND,
                [Host, Host, Second, Second],
                &[2, 4],
                [Host, Second, Host],
                [Second; 4],
                [Host, Second, Host],
            ),
            (
                FIRST,
                [First, First, Host, Host],
                &[1, 3, 5],
                [First, Host, Host],
                [First; 4],
                [Host, Host, First],
            ),
            (NONE, [Host; 4], &[], [Host; 3], [Host; 4], [Host; 3]),
        ] {
            assert_eq!(runners(&panel.sketchers(SketchPanel::Full, available)), sketches);
            assert_eq!(
                runners(&panel.sketchers(SketchPanel::Quick, available)),
                [sketches[0], sketches[2]]
            );
            assert_eq!(debated(available), debates);
            assert_eq!(runners(&panel.judges(available)), judges);
            assert_eq!(runners(&panel.reviewers(available)), reviews);
            assert_eq!(runners(&panel.voters(available)), voters);
        }
    }

    // P-103, P-94: a replacement writes another file, under the same label.
    #[test]
    fn a_replacement_answers_into_a_file_of_its_own() {
        let panel = Panel::default();
        let reviewers = panel.reviewers(SECOND);
        assert_eq!(
            files(&reviewers),
            [
                "codex-fallback-cursor-plan-arch-output.txt",
                "codex-fallback-cursor-plan-edge-output.txt",
                "codex-primary-plan-innovation-output.txt",
                "codex-primary-plan-pragmatic-output.txt",
            ]
        );
        assert_eq!(
            (reviewers[0].label.as_str(), reviewers[0].kind.as_str()),
            ("Cursor-Arch", "cursor-plan-arch")
        );
        assert_eq!(
            files(&panel.reviewers(FIRST))[2..],
            [
                "cursor-fallback-codex-plan-innovation-output.txt",
                "cursor-fallback-codex-plan-pragmatic-output.txt",
            ]
        );
        let failed = &panel.sketchers(SketchPanel::Full, BOTH)[0];
        let again = failed.taken_by(Holder::Host, &panel);
        assert_eq!(again.file, "claude-fallback-cursor-sketch-arch-output.txt");
        assert_eq!((again.label.as_str(), again.runner), ("Cursor-Arch", Holder::Host));
    }

    // P-253
    #[test]
    fn findings_are_attributed_to_the_seat_or_to_the_host() {
        let panel = Panel::default();
        let names = |available| {
            panel
                .reviewers(available)
                .iter()
                .map(|seat| panel.attribution(seat))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(BOTH),
            ["Cursor-Arch", "Cursor-Edge", "Codex-Innovation", "Codex-Pragmatic"]
        );
        assert_eq!(names(SECOND)[..2], ["Cursor-Arch (Codex)", "Cursor-Edge (Codex)"]);
        assert_eq!(names(NONE), ["Code"; 4]);
        assert_eq!(panel.attribution(&panel.judges(BOTH)[2]), "Claude");
    }

    // P-114: the slowest agent's seats come first.
    #[test]
    fn the_slowest_starts_first_and_the_host_last() {
        use Holder::{First, Host, Second};
        let mut all = [Host, Second, First];
        all.sort_by_key(|holder| std::cmp::Reverse(holder.slowness()));
        assert_eq!(all, [First, Second, Host]);
    }

    // P-101: any other three can be seated, and nothing is called after the usual ones.
    #[test]
    fn seats_follow_the_names_given() {
        let named = |word, name| Named::new(word, name).unwrap();
        let panel = Panel::new(
            named("gemini", "Gemini"),
            named("qwen3-max", "Qwen 3"),
            named("local", "Local"),
        );
        let panel = panel.unwrap();
        let seats =
            [panel.reviewers(SECOND), panel.judges(NONE), panel.sketchers(SketchPanel::Full, BOTH)]
                .concat();
        let text = format!("{seats:?}").to_lowercase();
        assert!(!["cursor", "codex", "claude"].iter().any(|name| text.contains(name)), "{text}");
        assert_eq!(seats[0].file, "qwen3-max-fallback-gemini-plan-arch-output.txt");
        assert_eq!(seats[2].label, "Qwen 3-Innovation");
    }

    #[test]
    fn names_that_would_forge_a_file_or_a_row_are_refused() {
        for word in
            ["", "A", "1a", "a_b", "../a", "a b", "a-fallback-b", "fallback", &"a".repeat(33)]
        {
            assert_eq!(Named::new(word, "A"), Err(BadName::Word(word.to_owned())), "{word}");
        }
        for name in ["", " A", "A ", "A|B", "A\nB", "A: B", "A, B", "**A**", "9", &"A".repeat(33)] {
            assert_eq!(Named::new("a", name), Err(BadName::Name(name.to_owned())), "{name}");
        }
        let named = |word, name| Named::new(word, name).unwrap();
        let twice = Panel::new(named("a", "A"), named("b", "B"), named("a", "C"));
        assert_eq!(twice, Err(BadName::Twice("a".to_owned())));
        let twice = Panel::new(named("a", "X"), named("b", "x"), named("c", "C"));
        assert_eq!(twice, Err(BadName::Twice("b".to_owned())));
    }

    fn panel() -> impl Strategy<Value = Panel> {
        let word = "[a-c]{1,2}(-(plan|primary|sketch|judge|vote|arch|[a-c])){0,2}";
        [word, word, word].prop_filter_map("three that differ", |words| {
            let [first, second, host] = words.map(|word| Named::new(&word, &word).ok());
            Panel::new(first?, second?, host?).ok()
        })
    }

    proptest! {
        // P-103: no two seats write to one file, for any availability at any two moments.
        #[test]
        fn no_two_seats_share_a_file(panel in panel(), flags in any::<[bool; 4]>()) {
            let [a, b, c, d] = flags;
            let mut seen = std::collections::BTreeMap::new();
            for available in [Available { first: a, second: b }, Available { first: c, second: d }] {
                let debates = (1..=5).filter_map(|n| panel.debaters(n, available)).flatten();
                let seats = [
                    panel.sketchers(SketchPanel::Full, available),
                    panel.sketchers(SketchPanel::Quick, available),
                    panel.judges(available),
                    panel.reviewers(available),
                    panel.voters(available),
                ];
                for seat in seats.into_iter().flatten().chain(debates) {
                    let file = seat.file.clone();
                    prop_assert!(file.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)));
                    if let Some(other) = seen.insert(file, seat.clone()) {
                        prop_assert_eq!(other, seat);
                    }
                }
            }
        }

        #[test]
        fn any_name_is_judged(word in any::<String>(), name in any::<String>()) {
            if let Ok(named) = Named::new(&word, &name) {
                prop_assert_eq!((named.word(), named.name()), (word.as_str(), name.as_str()));
            }
        }
    }
}
