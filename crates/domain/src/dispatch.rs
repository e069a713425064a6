//! Dispatches: the prompt of one role on one feature, and its result.
//!
//! A prompt names the files that a role must read instead of quoting them ([`required`]), and adds
//! the other sections of its part ([`prompt`], [`task_prompt`]). Convoke then judges the answer
//! ([`confirmation`], [`review`], [`ambiguity`]) and sends the next round as a delta where that is
//! possible ([`resume`]). Formats that other programs parse are exact to the byte.

pub mod also_wrote;
pub mod ambiguity;
pub mod artifact;
pub mod audit;
pub mod confirmation;
pub mod extract;
pub mod feature_name;
pub mod gate;
pub mod history;
pub mod issue_list;
pub mod lead_in;
pub mod pattern;
pub mod project_context;
pub mod prompt;
pub mod rate;
pub mod refusal;
pub mod required;
pub mod reservation;
pub mod resume;
pub mod resumed_prompt;
pub mod review;
pub mod review_loop;
pub mod role;
pub mod savings;
pub mod task_list;
pub mod task_prompt;
pub mod texts;
