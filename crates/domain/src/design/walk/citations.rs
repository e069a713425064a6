//! What agents cite, looked up before other agents go by it.

use super::{Halt, Need, Walk, Walked};
use crate::design::citation::CitedIn;
use crate::design::judge::Judgement;
use crate::design::notice::DesignNote;
use crate::design::outline::PhaseResults;

impl Walk<'_> {
    /// Looks up what texts cite, unless the run goes by the earlier rule.
    pub(super) fn look_up(&mut self, moment: CitedIn, texts: &[&str]) -> Walked<()> {
        let rule = self.settings.citation_rule;
        if !rule.shows_verdicts() {
            return Ok(());
        }
        if let Some((at, results)) = self.facts.looked_up(moment) {
            self.state.at(at);
            self.results().citations.take(rule, results);
            return Ok(());
        }
        let unknown = self.state.results.citations.unknown(rule, texts.iter().copied());
        if unknown.is_empty() {
            return Ok(());
        }
        Err(Halt::Need(Need::CitedPlaces(moment, unknown)))
    }

    /// Looks up what the plan cites, and the reasons of those who judged and voted. Tells what does not
    /// hold in the plan, because people and agents build by it.
    pub(super) fn look_up_plan(&mut self, moment: CitedIn) -> Walked<()> {
        let results = self.state.results.clone();
        let plan = results.plan.as_ref().map(|plan| plan.text.to_string()).unwrap_or_default();
        let reasons = reasons(&results);
        let texts: Vec<_> = [plan.as_str()].into_iter().chain(reasons.iter().copied()).collect();
        self.look_up(moment, &texts)?;
        if self.settings.citation_rule.shows_verdicts()
            && let Some(places) = self.state.results.citations.failures(&plan)
        {
            self.note(DesignNote::PlanCitations { places });
        }
        Ok(())
    }
}

/// Returns the reasons of judges and voters.
fn reasons(results: &PhaseResults) -> Vec<&str> {
    let judged = results.evidence.judges.iter().flat_map(|judge| match &judge.judgement {
        Judgement::Votes(votes) => {
            votes.votes.values().map(|vote| vote.rationale.as_str()).collect()
        }
        Judgement::Ineligible | Judgement::Unparseable | Judgement::Disowned(_) => Vec::new(),
    });
    let voters = results.voted().into_iter().flat_map(|review| &review.voters);
    judged.chain(voters.flat_map(|voter| voter.votes.reasons())).collect()
}
