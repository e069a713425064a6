//! Reviews of a plan: how many findings are in scope and out of it, and how many of these Convoke
//! withholds from published files because they may be about security; or why it requests the review
//! again. With `policy: seed` the original's rules hold, and `rules: 4` means those of that version.

use convoke_domain::design::finding::FindingScope;
use convoke_domain::design::merge::{RaisedRemark, distinct, findings};
use convoke_domain::design::outcome::is_held_back;
use convoke_domain::design::policy::Policy;
use convoke_domain::design::review::{flaw, remarks};
use convoke_domain::design::rules::RulesVersion;

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let answer = case.text();
    if let Some(flaw) = flaw(&answer, policy(case), rules(case)) {
        return format!("again: {flaw}");
    }
    let found = remarks(&answer).unwrap_or_default();
    let out = found.iter().filter(|remark| remark.scope == FindingScope::Out).count();
    if found.is_empty() {
        return "nothing".to_owned();
    }
    let said = format!("{} in, {out} out", found.len() - out);
    let raised = found.into_iter().map(|remark| RaisedRemark { proposer: "A".to_owned(), remark });
    let findings = findings(distinct(raised.collect()));
    match findings.iter().filter(|finding| is_held_back(finding)).count() {
        0 => said,
        withheld => format!("{said}, {withheld} withheld"),
    }
}

fn policy(case: &Case) -> Policy {
    match case.keys.get("policy").map(String::as_str) {
        Some("seed") => Policy::Seed,
        _ => Policy::Safe,
    }
}

fn rules(case: &Case) -> RulesVersion {
    let number = case.keys.get("rules").and_then(|number| number.parse().ok());
    number.map_or(RulesVersion::PRESENT, RulesVersion::new)
}
