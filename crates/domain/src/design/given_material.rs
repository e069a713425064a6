//! What an agent gets before its prompt, beside the words of the phase.

use super::event::Settings;
use super::lane_id::{ChairTask, LaneKind};
use super::outline::SettledScope;
use super::policy::Policy;
use super::prompt;
use super::seat::Holder;

impl Settings {
    /// Puts before a prompt what its agent needs to know of the feature and the repository.
    pub fn with_material(&self, kind: LaneKind, holder: Holder, prompt: &str) -> String {
        if !kind.needs_code() {
            return prompt.to_owned();
        }
        self.with_repository(holder, self.with_feature(kind, prompt.to_owned()))
    }

    /// Returns the prompt of an agent that writes the plan alone. It gets what the panel's chair got from
    /// outside: two plans from different material say nothing about a panel.
    pub fn single_pass_prompt(&self, scope: &SettledScope) -> String {
        let empty = "";
        let prompt = prompt::plan(&prompt::PlanMaterial {
            feature: &scope.feature,
            discussion: &scope.file(),
            synthesis: empty,
            resolutions: empty,
        });
        self.with_material(LaneKind::Chair(ChairTask::Plan), Holder::Host, &prompt)
    }

    /// Puts the brief and the documents of the feature before the prompts of all phases that decide. A
    /// sketcher's feature has them already, and the original gave them to sketchers alone.
    fn with_feature(&self, kind: LaneKind, prompt: String) -> String {
        let has_any = self.brief.is_some() || !self.documents.is_empty();
        if self.policy == Policy::Seed || kind == LaneKind::Sketch || !has_any {
            return prompt;
        }
        prompt::with_material(self.brief.as_deref(), &self.documents, &prompt)
    }

    /// Puts the pack of the repository before the prompt of an agent that has no tools, and the map
    /// before that of an agent that can follow it. It comes first: what all prompts of a run begin with
    /// is paid once where the provider caches.
    fn with_repository(&self, holder: Holder, prompt: String) -> String {
        let chosen = self.chosen(holder);
        match (&self.pack, &self.pointers) {
            (Some(pack), _) if !chosen.has_tools() => prompt::with_repository(pack, &prompt),
            (_, Some(map)) if chosen.explores() => prompt::with_pointers(map, &prompt),
            _ => prompt,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::design::event::Chosen;

    fn chosen(agent: &str) -> Chosen {
        Chosen { agent: agent.to_owned(), model: None }
    }

    // A map is for an agent that can follow it: the agent that answers in the end.
    #[test]
    fn the_agent_that_answers_decides_about_texts_and_map() {
        for agent in ["http:small", "fleet:http:small", "fleet:http:small@app", "fleet:claude"] {
            assert!(!chosen(agent).has_tools() && !chosen(agent).explores(), "{agent}");
        }
        for agent in ["claude", "acp:codex", "fleet:claude@app", "fleet:acp:mine@app"] {
            assert!(chosen(agent).has_tools() && chosen(agent).explores(), "{agent}");
        }
        assert!(chosen("replay:a.jsonl").has_tools() && !chosen("replay:a.jsonl").explores());
    }
}
