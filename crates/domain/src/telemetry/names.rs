//! Every name that Convoke sends to a collector. The conventions for generative AI are in
//! development, so a name that changes there changes here, and nowhere else.
//!
//! The conventions are those of `open-telemetry/semantic-conventions-genai`. Names that begin with
//! `convoke.` are Convoke's own, for facts that the conventions do not know.

use crate::client::Client;

/// The name of the instrumentation, and of the service unless the user names it.
pub const CONVOKE: &str = "convoke";

/// The service that the data is of.
pub const SERVICE_NAME: &str = "service.name";
/// The service's version.
pub const SERVICE_VERSION: &str = "service.version";
/// The class of an error, in a word.
pub const ERROR_TYPE: &str = "error.type";

/// The operation.
pub const OPERATION_NAME: &str = "gen_ai.operation.name";
/// The company whose model answers, as far as the client tells.
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
/// The agent that worked in the lane.
pub const AGENT_NAME: &str = "gen_ai.agent.name";
/// The workflow that groups lanes.
pub const WORKFLOW_NAME: &str = "gen_ai.workflow.name";
/// The client's session.
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// The requested model.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// The model that answered.
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// Tokens of the prompts, with those from a cache.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Of these, tokens from a cache.
pub const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Tokens of the answers, with those of reasoning.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Of these, tokens of reasoning.
pub const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
/// The prompt; only where the user switched content on.
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// The answer; only where the user switched content on.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// Which tokens a point of the token metric counts.
pub const TOKEN_TYPE: &str = "gen_ai.token.type";

/// The operation of a client that works on a prompt.
pub const INVOKE_AGENT: &str = "invoke_agent";
/// The operation of a model's API.
pub const CHAT: &str = "chat";
/// The operation that groups lanes.
pub const INVOKE_WORKFLOW: &str = "invoke_workflow";
/// The value of the token type for prompts.
pub const INPUT: &str = "input";
/// The value of the token type for answers.
pub const OUTPUT: &str = "output";

/// The metric of tokens.
pub const TOKEN_USAGE: &str = "gen_ai.client.token.usage";
/// The metric of durations.
pub const OPERATION_DURATION: &str = "gen_ai.client.operation.duration";
/// The metric of money.
pub const COST: &str = "convoke.lane.cost";

/// The project's name, never its path.
pub const PROJECT_NAME: &str = "convoke.project.name";
/// The run that a span belongs to.
pub const RUN_ID: &str = "convoke.run.id";
/// The step of a run, by its number, such as `2a`.
pub const PHASE: &str = "convoke.phase";
/// The seat of a design that a lane is of.
pub const SEAT: &str = "convoke.seat";
/// The agent's role.
pub const ROLE: &str = "convoke.role";
/// The lane's number in the ledger.
pub const LANE_ID: &str = "convoke.lane.id";
/// The outcome of a lane, or how a run ended.
pub const OUTCOME: &str = "convoke.outcome";
/// `read` or `write`.
pub const RIGHTS: &str = "convoke.lane.rights";
/// How many times the agent used a tool.
pub const TOOL_CALLS: &str = "convoke.lane.tool_calls";
/// Whether a recording answered, which costs nothing.
pub const RECORDED: &str = "convoke.lane.recorded";
/// Whether the agent reports only a part of its usage.
pub const PARTIAL_USAGE: &str = "convoke.usage.partial";
/// Money in dollars, where the client says it.
pub const COST_USD: &str = "convoke.usage.cost_usd";

/// The start of a phase's span name.
pub const PHASE_SPAN: &str = "phase";
/// The name of the agent and its provider where a recording answers: the recording's path is the
/// user's own.
pub const REPLAY: &str = "replay";

/// Returns the provider of a client, as far as its name tells; a client that serves models of many
/// providers is its own.
pub const fn provider(client: Client) -> &'static str {
    match client {
        Client::Claude => ANTHROPIC,
        Client::Codex => OPENAI,
        Client::Gemini => GEMINI,
        Client::Cursor | Client::Opencode | Client::Qwen | Client::Acp | Client::Fleet => {
            client.name()
        }
    }
}

/// Anthropic, and APIs of its kind.
pub const ANTHROPIC: &str = "anthropic";
/// `OpenAI`, and APIs of its kind.
pub const OPENAI: &str = "openai";
const GEMINI: &str = "gcp.gemini";
