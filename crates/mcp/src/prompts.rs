//! Prompts that a person starts in a client's menu: `wake` and `design`.

use convoke_service::failure::with_causes;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};

use crate::catalog::ToolName;
use crate::tools::{Desk, wake};

const FEATURE: &str = "feature";

/// Lists the prompts whose tools the user allows.
pub(crate) fn list(tools: &[ToolName]) -> Vec<Prompt> {
    let feature = PromptArgument::new(FEATURE)
        .with_description("What to design, in a sentence")
        .with_required(true);
    let wake = Prompt::new("wake", Some("Your memory, tasks, rules and messages"), None);
    let design =
        Prompt::new("design", Some("Plan a feature with several agents"), Some(vec![feature]));
    let offered = [(ToolName::Wake, wake), (ToolName::RunStart, design)];
    let is_offered = |(tool, _): &(ToolName, Prompt)| tools.contains(tool);
    offered.into_iter().filter(is_offered).map(|(_, prompt)| prompt).collect()
}

/// Makes the text of a prompt.
pub(crate) fn get(
    desk: &Desk,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let is_offered = list(&desk.tools).iter().any(|prompt| prompt.name == request.name);
    let text = match request.name.as_str() {
        "wake" if is_offered => wake::text(desk)
            .map_err(|failure| ErrorData::internal_error(with_causes(&*failure.error), None))?,
        "design" if is_offered => design(request)?,
        _ => {
            let shown: String = request.name.chars().take(60).collect();
            let words = format!("there is no prompt `{shown}`; there are `wake` and `design`");
            return Err(ErrorData::invalid_params(words, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn design(request: &GetPromptRequestParams) -> Result<String, ErrorData> {
    let given = request.arguments.as_ref().and_then(|given| given.get(FEATURE)?.as_str());
    let Some(feature) = given.map(str::trim).filter(|text| !text.is_empty()) else {
        return Err(ErrorData::invalid_params("the prompt needs `feature`", None));
    };
    Ok(format!(
        "Plan this feature with Convoke's panel of agents:\n\n{feature}\n\n1. Call `run_start` with \
         kind `design`, this text, a key of your choice, and the budget that I named; ask me for one \
         if I did not.\n2. Call `run_status` with wait_s 45 until the run ends. If it needs an \
         answer, show me the question and pass my answer with `run_result`.\n3. Read the plan with \
         `run_result`, and summarize it with what is undecided."
    ))
}
