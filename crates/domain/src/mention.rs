//! Resolves the `@names` in a message.

use std::collections::HashSet;

use crate::scope::{Address, AgentName, SENTENCE_ENDS, Scope, is_name_character};

/// How strictly names are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MentionRule {
    /// No mention inside a word (mail addresses), and none ends in `.`, `-` or `/`.
    #[default]
    Hardened,
    /// Every `@` followed by a name character, as the original pattern had it.
    Compatible,
}

/// Returns everyone mentioned in `text`, each once, in order of first mention.
///
/// `@agent` is on this branch, `@branch:agent` on another one, `@project:branch:agent` in any
/// project.
pub fn mentions(text: &str, here: &Scope, rule: MentionRule) -> Vec<Address> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for (at, _) in text.match_indices('@') {
        let inside_word = text[..at].ends_with(is_name_character);
        if rule == MentionRule::Hardened && inside_word {
            continue;
        }
        if let Some(address) = resolve(&parts(&text[at + 1..], rule), here)
            && seen.insert(address.clone())
        {
            found.push(address);
        }
    }
    found
}

/// Splits what follows an `@` into at most three names joined by colons.
fn parts(text: &str, rule: MentionRule) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while names.len() < 3 {
        let end = rest.find(|c| !is_name_character(c)).unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        names.push(&rest[..end]);
        let Some(next) = rest[end..].strip_prefix(':') else { break };
        rest = next;
    }
    if rule == MentionRule::Hardened
        && let Some(last) = names.last_mut()
    {
        *last = last.trim_end_matches(SENTENCE_ENDS);
        names.retain(|name| !name.is_empty());
    }
    names
}

fn resolve(parts: &[&str], here: &Scope) -> Option<Address> {
    let (scope, agent) = match *parts {
        [agent] => (here.clone(), agent),
        [branch, agent] => (Scope::new(&here.project, branch), agent),
        [project, branch, agent] => (Scope::new(project, branch), agent),
        _ => return None,
    };
    Some(Address { scope, agent: AgentName::known(agent) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str, rule: MentionRule) -> String {
        let here = Scope::new("app", "feature/login");
        let addresses = mentions(text, &here, rule);
        addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(found(text, MentionRule::Hardened), expected, "{text:?}");
    }

    // W-11, W-12
    #[test]
    fn one_two_or_three_parts_say_where_an_agent_is() {
        check("@Impl-1", "app:feature/login:impl-1");
        check("@main:Otto", "app:main:otto");
        check("@backend:main:Otto", "backend:main:otto");
        check("@impl-1 @IMPL-1 @Impl-1", "app:feature/login:impl-1");
        check("@Backend-API:Feature/Login:agent", "Backend-API:Feature/Login:agent");
        check("@agent.1 @agent_2", "app:feature/login:agent.1 app:feature/login:agent_2");
        check("@b then @a then @b", "app:feature/login:b app:feature/login:a");
        check("@a:b:c:d", "a:b:c");
        check("no one, @ nobody, @: @é", "");
    }

    // W-13
    #[test]
    fn mail_addresses_and_sentence_ends_are_no_part_of_a_name() {
        check("write to ana@example.com", "");
        check("ask @backend.", "app:feature/login:backend");
        check("ask @backend: now", "app:feature/login:backend");
        check("(@backend) \"@june\"", "app:feature/login:backend app:feature/login:june");
        check("@main:... @...", "app:feature/login:main");
        let compatible = MentionRule::Compatible;
        assert_eq!(found("ana@example.com", compatible), "app:feature/login:example.com");
        assert_eq!(found("ask @backend.", compatible), "app:feature/login:backend.");
    }

    // W-14: special names resolve like any other; the caller that wakes agents treats them
    // specially.
    #[test]
    fn special_names_are_resolved_like_any_other() {
        check("@june @human", "app:feature/login:june app:feature/login:human");
    }

    proptest! {
        #[test]
        fn any_text_is_searched_without_repeats(text in "([@:./a-cA-C é_-]|\\PC){0,40}") {
            for rule in [MentionRule::Hardened, MentionRule::Compatible] {
                let here = Scope::new("p", "b");
                let mut seen = std::collections::HashSet::new();
                prop_assert!(mentions(&text, &here, rule).into_iter().all(|agent| seen.insert(agent)));
            }
        }
    }
}
