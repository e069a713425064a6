//! What the conformance suite checks and the server does not do, each with its reason. The suite fails
//! when an entry is out of date.

/// The versions of the protocol that the suite checks.
pub(super) const SUITE_VERSIONS: [&str; 2] = BOTH;

const BOTH: [&str; 2] = [OLD, NEW];

const OLD: &str = "2025-11-25";

const NEW: &str = "2026-07-28";

/// A check that does not apply.
pub(super) struct NotOurs {
    /// The scenario, or one check of it: `SCENARIO:CHECK`.
    pub(super) check: &'static str,
    /// The versions for which it fails.
    pub(super) versions: &'static [&'static str],
    /// Why it does not apply.
    pub(super) why: &'static str,
}

const TOOL: &str = "it calls a tool that only the suite's own example server has";

const PROMPT: &str = "it asks for a prompt that only the suite's own example server has";

const RESOURCE: &str = "it reads a resource that only the suite's own example server has";

const LOGGING: &str = "the server does not declare logging: a result says all that matters";

const SUBSCRIPTION: &str = "the server does not declare subscriptions to resources";

const HEADERS: &str = "no tool of the server takes an argument from a header";

const fn not_ours(
    check: &'static str,
    versions: &'static [&'static str],
    why: &'static str,
) -> NotOurs {
    NotOurs { check, versions, why }
}

pub(super) const NOT_OURS: [NotOurs; 37] = [
    not_ours("tools-call-image", &BOTH, TOOL),
    not_ours("tools-call-audio", &BOTH, TOOL),
    not_ours("tools-call-embedded-resource", &BOTH, TOOL),
    not_ours("tools-call-mixed-content", &BOTH, TOOL),
    not_ours("tools-call-with-progress", &BOTH, TOOL),
    not_ours("json-schema-2020-12", &BOTH, TOOL),
    not_ours("tools-call-sampling", &[OLD], TOOL),
    not_ours("tools-call-elicitation", &[OLD], TOOL),
    not_ours("elicitation-sep1034-defaults", &[OLD], TOOL),
    not_ours("elicitation-sep1330-enums", &[OLD], TOOL),
    not_ours("server-sse-polling", &[OLD], TOOL),
    not_ours("logging-set-level", &[OLD], LOGGING),
    not_ours("tools-call-with-logging", &[OLD], LOGGING),
    not_ours("resources-read-text", &BOTH, RESOURCE),
    not_ours("resources-read-binary", &BOTH, RESOURCE),
    not_ours("resources-templates-read", &BOTH, RESOURCE),
    not_ours("resources-subscribe", &[OLD], SUBSCRIPTION),
    not_ours("resources-unsubscribe", &[OLD], SUBSCRIPTION),
    not_ours("prompts-get-simple", &BOTH, PROMPT),
    not_ours("prompts-get-with-args", &BOTH, PROMPT),
    not_ours("prompts-get-embedded-resource", &BOTH, PROMPT),
    not_ours("prompts-get-with-image", &BOTH, PROMPT),
    not_ours("server-stateless:sep-2575-server-rejects-undeclared-capability", &[NEW], TOOL),
    not_ours("server-stateless:sep-2575-missing-capability-http-400", &[NEW], TOOL),
    not_ours("http-custom-header-server-validation", &[NEW], HEADERS),
    not_ours("input-required-result-basic-elicitation", &[NEW], TOOL),
    not_ours("input-required-result-basic-sampling", &[NEW], TOOL),
    not_ours("input-required-result-basic-list-roots", &[NEW], TOOL),
    not_ours("input-required-result-request-state", &[NEW], TOOL),
    not_ours("input-required-result-multiple-input-requests", &[NEW], TOOL),
    not_ours("input-required-result-multi-round", &[NEW], TOOL),
    not_ours("input-required-result-result-type", &[NEW], TOOL),
    not_ours("input-required-result-tampered-state", &[NEW], TOOL),
    not_ours("input-required-result-capability-check", &[NEW], TOOL),
    not_ours("input-required-result-missing-input-response", &[NEW], TOOL),
    not_ours("input-required-result-validate-input", &[NEW], TOOL),
    not_ours("input-required-result-non-tool-request", &[NEW], PROMPT),
];
