//! Debates: what a debater answered, and whether judges may see it.
//!
//! Judges never see one side alone, so a decision is judged only if both sides pass.

use super::seat::Side;
use super::vote::unwrapped;
use crate::markdown::lines;

/// The parts of a defence, in their required order.
const PARTS: [&str; 5] =
    ["claim", "evidence", "strongest_concession", "counter_to_opposition", "risk_if_wrong"];

/// A part that may precede the others.
const STEELMAN: &str = "steelman";

/// One side's case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defense {
    /// The other side's case at its best, where the debater wrote it.
    pub steelman: Option<String>,
    /// The claim of this side.
    pub claim: String,
    /// The evidence for the claim, with a place in the code.
    pub evidence: String,
    /// The best point of the other side.
    pub concession: String,
    /// Why the other side is nevertheless wrong.
    pub counter: String,
    /// The consequence if this side is wrong.
    pub risk: String,
}

/// Why a debate does not reach the judges, in the order in which reasons are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DebateFault {
    /// A side gave no answer.
    NoOutput,
    /// A part is missing, there twice, or out of order.
    MissingTag,
    /// There is not exactly one line that recommends one of the two.
    BadRecommend,
    /// The evidence names no place in the code.
    MissingCitation,
    /// A side recommends the other.
    RoleMismatch,
    /// A part is empty.
    SubstantiveEmpty,
}

impl DebateFault {
    /// Returns the token that is reported and recorded.
    pub const fn token(self) -> &'static str {
        match self {
            Self::NoOutput => "no_output",
            Self::MissingTag => "missing_tag",
            Self::BadRecommend => "bad_recommend",
            Self::MissingCitation => "missing_citation",
            Self::RoleMismatch => "role_mismatch",
            Self::SubstantiveEmpty => "substantive_empty",
        }
    }

    /// Returns the reason that a decision is recorded with.
    pub fn reason(self) -> String {
        format!("debate quorum failed — {}", self.token())
    }
}

/// Decides whether judges may see a debate. A side whose lane failed has no answer.
pub fn gate(thesis: Option<&str>, antithesis: Option<&str>) -> Result<[Defense; 2], DebateFault> {
    let (Some(thesis), Some(antithesis)) = (thesis, antithesis) else {
        return Err(DebateFault::NoOutput);
    };
    match (read(thesis, Side::Thesis), read(antithesis, Side::Antithesis)) {
        (Ok(thesis), Ok(antithesis)) => Ok([thesis, antithesis]),
        (Err(one), Err(other)) => Err(one.min(other)),
        (Err(fault), Ok(_)) | (Ok(_), Err(fault)) => Err(fault),
    }
}

/// Reads one side's answer.
pub fn read(answer: &str, side: Side) -> Result<Defense, DebateFault> {
    let parts = parts(answer).ok_or(DebateFault::MissingTag)?;
    let recommended = recommended(answer).ok_or(DebateFault::BadRecommend)?;
    let [claim, evidence, concession, counter, risk] = parts.bodies.map(argument);
    if !has_citation(&evidence) {
        return Err(DebateFault::MissingCitation);
    }
    if recommended != side {
        return Err(DebateFault::RoleMismatch);
    }
    let defense = Defense {
        steelman: parts.steelman.map(argument).filter(|text| !text.is_empty()),
        claim,
        evidence,
        concession,
        counter,
        risk,
    };
    let said = |body: &&String| has_sentence(body);
    if defense.bodies().iter().all(said) { Ok(defense) } else { Err(DebateFault::SubstantiveEmpty) }
}

struct Parts<'a> {
    steelman: Option<&'a str>,
    bodies: [&'a str; 5],
}

/// Finds the five parts, each exactly once and in order, and the optional one before them.
fn parts(answer: &str) -> Option<Parts<'_>> {
    // Lower case keeps every offset, since only ASCII changes.
    let lower = answer.to_ascii_lowercase();
    let mut bodies = [""; 5];
    let mut end = 0;
    let mut first = 0;
    for (index, (body, tag)) in bodies.iter_mut().zip(PARTS).enumerate() {
        let part = only(&lower, tag).filter(|part| part.start >= end)?;
        if index == 0 {
            first = part.start;
        }
        end = part.end;
        *body = &answer[part.inner];
    }
    let steelman = only(&lower, STEELMAN).filter(|part| part.end <= first);
    Some(Parts { steelman: steelman.map(|part| &answer[part.inner]), bodies })
}

struct Place {
    start: usize,
    inner: std::ops::Range<usize>,
    end: usize,
}

/// Finds a tag that is opened once and closed once, in that order.
fn only(text: &str, tag: &str) -> Option<Place> {
    let once = |mark: &str| {
        let mut found = text.match_indices(mark).map(|(at, _)| at);
        found.next().filter(|_| found.next().is_none())
    };
    let (opening, closing) = (format!("<{tag}>"), format!("</{tag}>"));
    let start = once(&opening)?;
    let inner = start + opening.len()..once(&closing)?;
    let end = inner.end + closing.len();
    (inner.start <= inner.end).then_some(Place { start, inner, end })
}

/// Returns what the only recommending line says.
fn recommended(answer: &str) -> Option<Side> {
    let mut found = lines(answer).filter_map(recommendation);
    let only = found.next().filter(|_| found.next().is_none())?;
    Side::parse(only.trim())
}

fn recommendation(line: &str) -> Option<&str> {
    const START: &str = "RECOMMEND:";
    let (start, token) = unwrapped(line.trim()).split_at_checked(START.len())?;
    start.eq_ignore_ascii_case(START).then_some(token)
}

/// Takes the recommending line out of a part, if it holds one.
fn argument(body: &str) -> String {
    let kept = lines(body).filter(|line| recommendation(line).is_none());
    kept.collect::<String>().trim().to_owned()
}

/// Tells whether the evidence contains `file:line`.
fn has_citation(evidence: &str) -> bool {
    let in_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-');
    evidence.match_indices(':').any(|(at, _)| {
        evidence[..at].ends_with(in_path)
            && evidence[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Tells whether a text has content: three words, or a sentence of a script without blanks.
fn has_sentence(body: &str) -> bool {
    let words = body.split_whitespace().filter(|word| word.contains(char::is_alphabetic));
    words.take(3).count() == 3 || body.contains(['。', '！', '？'])
}

impl Defense {
    fn bodies(&self) -> [&String; 5] {
        [&self.claim, &self.evidence, &self.concession, &self.counter, &self.risk]
    }

    /// Returns the whole case without its recommendation, as judges read it.
    pub fn text(&self) -> String {
        let bodies = self.steelman.iter().chain(self.bodies());
        bodies.map(String::as_str).collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::design::render::sentence;
    use crate::design::warning::DebateWarning;

    const THESIS: &str = "\
<claim>
The cap belongs in the client settings because only the client knows the request cost.
</claim>
<evidence>
The client already owns back-off, see src/upload/client.rs:88.
</evidence>
<strongest_concession>
The worker sees all clients and could balance them.
</strongest_concession>
<counter_to_opposition>
Balancing is not part of the stated goal and would add a second owner of back-off.
</counter_to_opposition>
<risk_if_wrong>
Two retry counters would drift apart and hide outages.
</risk_if_wrong>
RECOMMEND: THESIS
";

    fn antithesis() -> String {
        THESIS.replace(": THESIS", ": ANTI_THESIS")
    }

    fn fault(answer: &str) -> Option<DebateFault> {
        read(answer, Side::Thesis).err()
    }

    // P-208, P-223
    #[test]
    fn a_defence_is_its_parts_in_order() {
        let defense = read(THESIS, Side::Thesis).unwrap();
        assert_eq!(defense.concession, "The worker sees all clients and could balance them.");
        assert_eq!(defense.steelman, None);
        let text = defense.text();
        assert!(text.starts_with("The cap belongs") && text.ends_with("hide outages."), "{text}");
        assert!(!text.contains("RECOMMEND"));
        let moved = THESIS
            .replace("</risk_if_wrong>\nRECOMMEND: THESIS", "RECOMMEND: THESIS\n</risk_if_wrong>");
        assert_eq!(read(&moved, Side::Thesis), Ok(defense), "the line is no part of the case");
    }

    // P-208: a sixth part may come first, although no prompt requests it.
    #[test]
    fn a_steelman_may_stand_first() {
        let with = format!("<steelman>They balance all clients.</steelman>\n{THESIS}");
        let defense = read(&with, Side::Thesis).unwrap();
        assert_eq!(defense.steelman.as_deref(), Some("They balance all clients."));
        assert!(defense.text().starts_with("They balance all clients.\n\nThe cap belongs"));
        let late = format!("{THESIS}<steelman>They balance.</steelman>");
        assert_eq!(read(&late, Side::Thesis).unwrap().steelman, None);
    }

    // P-208, P-214: each part exactly once, in order.
    #[test]
    fn a_part_must_stand_once_and_in_its_place() {
        for tag in PARTS {
            for mark in [format!("<{tag}>"), format!("</{tag}>")] {
                assert_eq!(
                    fault(&THESIS.replace(&mark, "")),
                    Some(DebateFault::MissingTag),
                    "{mark}"
                );
                let twice = THESIS.replace(&mark, &format!("{mark}{mark}"));
                assert_eq!(fault(&twice), Some(DebateFault::MissingTag), "{mark}");
            }
            assert_eq!(fault(&THESIS.replace(tag, &tag.to_uppercase())), None, "{tag}");
        }
        let swapped = THESIS
            .replace("claim>", "x>")
            .replace("evidence>", "claim>")
            .replace("x>", "evidence>");
        assert_eq!(fault(&swapped), Some(DebateFault::MissingTag));
        let nested = THESIS
            .replace("</claim>\n<evidence>", "<evidence>")
            .replace("</evidence>", "</evidence></claim>");
        assert_eq!(fault(&nested), Some(DebateFault::MissingTag));
        assert_eq!(fault(""), Some(DebateFault::MissingTag));
    }

    // P-209
    #[test]
    fn exactly_one_line_recommends() {
        for (line, expected) in [
            ("RECOMMEND: THESIS", None),
            ("  **recommend: thesis**  ", None),
            ("__Recommend:THESIS__", None),
            ("RECOMMEND: ANTI_THESIS", Some(DebateFault::RoleMismatch)),
            ("RECOMMEND: ANTITHESIS", Some(DebateFault::BadRecommend)),
            ("RECOMMEND: ANTI THESIS", Some(DebateFault::BadRecommend)),
            ("RECOMMEND: THESIS, of course", Some(DebateFault::BadRecommend)),
            ("RECOMMEND:", Some(DebateFault::BadRecommend)),
            ("I RECOMMEND: THESIS", Some(DebateFault::BadRecommend)),
            ("RECOMMEND: THESIS\nRECOMMEND: THESIS", Some(DebateFault::BadRecommend)),
            ("RECOMMEND: THESIS\n**RECOMMEND: maybe**", Some(DebateFault::BadRecommend)),
            ("", Some(DebateFault::BadRecommend)),
        ] {
            let answer = THESIS.replace("RECOMMEND: THESIS", line);
            assert_eq!(fault(&answer), expected, "{line}");
        }
    }

    // P-215
    #[test]
    fn evidence_names_a_place_in_the_code() {
        for (evidence, cited) in [
            ("see src/a-b_c.rs:7 for it", true),
            ("Makefile:3 has the rule", true),
            ("see src/a.rs for it", false),
            ("at 12: 30 it happens", false),
            ("see :7 for that", false),
            ("see src/a.rs: 7 there", false),
            ("see é:7 for that", false),
        ] {
            let answer = THESIS.replace("see src/upload/client.rs:88", evidence);
            assert_eq!(fault(&answer) != Some(DebateFault::MissingCitation), cited, "{evidence}");
        }
        let elsewhere = THESIS
            .replace(", see src/upload/client.rs:88", "")
            .replace("drift apart", "drift apart at a.rs:1");
        assert_eq!(fault(&elsewhere), Some(DebateFault::MissingCitation), "only evidence counts");
    }

    // P-213, P-214, P-217: the tokens, and which is reported when several apply.
    #[test]
    fn the_first_reason_in_order_is_reported() {
        let good = antithesis();
        assert!(gate(Some(THESIS), Some(&good)).is_ok());
        let no_tag = good.replace("<claim>", "");
        let empty =
            THESIS.replace("Two retry counters would drift apart and hide outages.", "None.");
        let uncited = THESIS.replace(":88", "");
        for (thesis, antithesis, expected) in [
            (None, Some(good.as_str()), "no_output"),
            (Some(""), None, "no_output"),
            (Some(empty.as_str()), Some(&no_tag), "missing_tag"),
            (Some(&empty), Some(&good.replace("RECOMMEND", "")), "bad_recommend"),
            (Some(&uncited), Some(THESIS), "missing_citation"),
            (Some(&empty), Some(THESIS), "role_mismatch"),
            (Some(&good), Some(&good), "role_mismatch"),
            (Some(&empty), Some(&good), "substantive_empty"),
        ] {
            let fault = gate(thesis, antithesis).unwrap_err();
            assert_eq!(fault.token(), expected);
        }
        let both = THESIS.replace(":88", "").replace("<claim>", "").replace("RECOMMEND", "");
        assert_eq!(fault(&both), Some(DebateFault::MissingTag));
        let japanese = THESIS.replace(
            "Two retry counters would drift apart and hide outages.",
            "二つの数が食い違う。",
        );
        assert_eq!(fault(&japanese), None);
    }

    // P-212, P-216, P-238
    #[test]
    fn warnings_and_reasons_are_exact() {
        assert_eq!(
            sentence(DebateWarning::NoQuorum { decision: 3, fault: DebateFault::MissingCitation }),
            "**⚠ Debate for DECISION_3 failed quorum (reason: missing_citation). Fallback to synthesis.**"
        );
        assert_eq!(DebateFault::BadRecommend.reason(), "debate quorum failed — bad_recommend");
        let failed = DebateWarning::SideFailed {
            agent: "Cursor".to_owned(),
            decision: 1,
            side: Side::Antithesis,
            reason: "timed out\n**⚠ forged**".to_owned(),
        };
        assert_eq!(
            sentence(failed),
            "**⚠ Cursor dialectic debate (decision 1, antithesis) failed: timed out **⚠ forged**. \
             Bucket truncated; synthesis decision stands.**"
        );
    }

    proptest! {
        #[test]
        fn any_answer_is_read(text in any::<String>(), pieces in prop::collection::vec(
            prop::sample::select(vec!["<claim>", "</claim>", "<evidence>", "</evidence>", "a.rs:1 is it. ",
                "<strongest_concession>", "</strongest_concession>", "<counter_to_opposition>",
                "</counter_to_opposition>", "<risk_if_wrong>", "</risk_if_wrong>", "\n", "RECOMMEND: THESIS",
                "<STEELMAN>", "</steelman>", "é İ ", "**"]), 0..30)) {
            for text in [text, pieces.concat()] {
                for side in Side::BOTH {
                    if let Ok(defense) = read(&text, side) {
                        prop_assert!(lines(&defense.text()).all(|line| recommendation(line).is_none()));
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_answer_costs_its_length() {
        let long = "<claim> a:b RECOMMEND ".repeat(100_000);
        assert_eq!(fault(&long), Some(DebateFault::MissingTag));
    }
}
