//! The gate at a design's beginning: whether it may go on from a branch that is not the default one.
//!
//! Only a branch of the user's own, or a caller that vouches for the branch, opens it. That some
//! branch is checked out does not.

/// The gate's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The default branch must be checked out.
    Strict,
    /// The design goes on from where it is.
    Continue,
}

impl Gate {
    /// Tells whether it does not matter which branch is checked out.
    pub const fn skips_branch_check(self) -> bool {
        matches!(self, Self::Continue)
    }

    /// Returns the two lines that programs read.
    pub fn lines(self) -> [String; 2] {
        let name = match self {
            Self::Strict => "strict",
            Self::Continue => "continue",
        };
        [format!("ENTRY_GATE={name}"), format!("SKIP_BRANCH_CHECK={}", self.skips_branch_check())]
    }
}

/// Invalid arguments of the gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// A flag without a value.
    #[error("GATE_ERROR=missing value for {0}")]
    MissingValue(String),
    /// A flag that the script does not have.
    #[error("GATE_ERROR=unknown flag: {0}")]
    UnknownFlag(String),
    /// A word that is not a flag.
    #[error("GATE_ERROR=unknown argument: {0}")]
    UnknownArgument(String),
    /// A required flag is missing.
    #[error("GATE_ERROR=missing required flag {0}")]
    MissingFlag(&'static str),
    /// Neither of the two modes.
    #[error("GATE_ERROR=invalid mode: {0}")]
    InvalidMode(String),
    /// A user without a prefix.
    #[error("GATE_ERROR=--user-prefix must be non-empty")]
    EmptyPrefix,
    /// Neither `true` nor `false`.
    #[error("GATE_ERROR=invalid value for {flag}: {value}")]
    InvalidValue {
        /// The flag with the invalid value.
        flag: &'static str,
        /// The given value.
        value: String,
    },
    /// The implementing workflow cannot vouch for a branch.
    #[error("GATE_ERROR=--branch-info-supplied not allowed for mode=implement")]
    NotForImplement,
}

impl GateError {
    /// The exit code.
    pub const CODE: u8 = 4;
}

/// The gate's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateWords {
    /// The branch; empty when a commit is checked out.
    pub current_branch: String,
    /// `true` or `false`, unparsed.
    pub is_main: String,
    /// `true` or `false`, unparsed.
    pub is_user_branch: String,
    /// The prefix of the user's own branches.
    pub user_prefix: String,
    /// Whether the caller vouches for these facts.
    pub branch_info_supplied: bool,
}

impl GateWords {
    /// Runs the gate for a design.
    pub fn ask(&self) -> Result<Gate, GateError> {
        let supplied = self.branch_info_supplied.to_string();
        entry_gate(&[
            "--mode",
            "design",
            "--current-branch",
            &self.current_branch,
            "--is-main",
            &self.is_main,
            "--is-user-branch",
            &self.is_user_branch,
            "--user-prefix",
            &self.user_prefix,
            "--branch-info-supplied",
            &supplied,
        ])
    }
}

const MODE: &str = "--mode";
const CURRENT_BRANCH: &str = "--current-branch";
const IS_MAIN: &str = "--is-main";
const IS_USER_BRANCH: &str = "--is-user-branch";
const USER_PREFIX: &str = "--user-prefix";
const BRANCH_INFO_SUPPLIED: &str = "--branch-info-supplied";

/// The given flags.
#[derive(Default)]
struct Given<'a> {
    mode: Option<&'a str>,
    current_branch: Option<&'a str>,
    is_main: Option<&'a str>,
    is_user_branch: Option<&'a str>,
    user_prefix: Option<&'a str>,
    branch_info_supplied: Option<&'a str>,
}

/// Decides by flags and their values. It checks that every flag is present before it judges any
/// value.
pub fn entry_gate(arguments: &[&str]) -> Result<Gate, GateError> {
    let given = read(arguments)?;
    let required = |value: Option<_>, flag| value.ok_or(GateError::MissingFlag(flag));
    let mode = required(given.mode, MODE)?;
    required(given.current_branch, CURRENT_BRANCH)?;
    let user_prefix = required(given.user_prefix, USER_PREFIX)?;
    let is_main = required(given.is_main, IS_MAIN)?;
    let is_user_branch = required(given.is_user_branch, IS_USER_BRANCH)?;

    if !["implement", "design"].contains(&mode) {
        return Err(GateError::InvalidMode(shown(mode)));
    }
    if user_prefix.is_empty() {
        return Err(GateError::EmptyPrefix);
    }
    truth(IS_MAIN, is_main)?;
    let is_user_branch = truth(IS_USER_BRANCH, is_user_branch)?;
    let is_answered_for = match given.branch_info_supplied {
        Some(_) if mode == "implement" => return Err(GateError::NotForImplement),
        Some(value) => truth(BRANCH_INFO_SUPPLIED, value)?,
        None => false,
    };
    Ok(if is_answered_for || is_user_branch { Gate::Continue } else { Gate::Strict })
}

fn read<'a>(arguments: &[&'a str]) -> Result<Given<'a>, GateError> {
    let mut given = Given::default();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let slot = match *word {
            MODE => &mut given.mode,
            CURRENT_BRANCH => &mut given.current_branch,
            IS_MAIN => &mut given.is_main,
            IS_USER_BRANCH => &mut given.is_user_branch,
            USER_PREFIX => &mut given.user_prefix,
            BRANCH_INFO_SUPPLIED => &mut given.branch_info_supplied,
            flag if flag.starts_with("--") => return Err(GateError::UnknownFlag(shown(flag))),
            other => return Err(GateError::UnknownArgument(shown(other))),
        };
        let value = words.next_if(|value| !value.starts_with("--"));
        *slot = Some(value.ok_or_else(|| GateError::MissingValue((*word).to_owned()))?);
    }
    Ok(given)
}

fn truth(flag: &'static str, value: &str) -> Result<bool, GateError> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(GateError::InvalidValue { flag, value: shown(value) }),
    }
}

/// Keeps the given value on the error's single line.
fn shown(value: &str) -> String {
    value.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives the gate a line of words; `''` is an empty one.
    fn ask(line: &str) -> String {
        let words: Vec<_> =
            line.split(' ').map(|word| if word == "''" { "" } else { word }).collect();
        match entry_gate(&words) {
            Ok(gate) => gate.lines().join("\n"),
            Err(error) => error.to_string(),
        }
    }

    const STRICT: &str = "ENTRY_GATE=strict\nSKIP_BRANCH_CHECK=false";
    const CONTINUE: &str = "ENTRY_GATE=continue\nSKIP_BRANCH_CHECK=true";

    // P-45, P-46, P-49, P-50, P-51
    #[test]
    fn only_the_users_own_branch_or_a_vouching_caller_opens_the_gate() {
        for (mode, branch, is_main, is_own, more, said) in [
            ("implement", "main", true, false, "", STRICT),
            ("implement", "ann/x", false, true, "", CONTINUE),
            ("implement", "other", false, false, "", STRICT),
            ("implement", "''", true, false, "", STRICT),
            ("design", "ann/x", false, true, "", CONTINUE),
            ("design", "ann/x", false, true, " --branch-info-supplied false", CONTINUE),
            ("design", "main", true, false, " --branch-info-supplied true", CONTINUE),
            ("design", "main", true, false, " --branch-info-supplied false", STRICT),
            ("design", "main", true, false, "", STRICT),
            ("design", "other", false, false, "", STRICT),
            ("design", "''", true, false, "", STRICT),
            ("design", "''", true, false, " --branch-info-supplied true", CONTINUE),
        ] {
            let line = format!(
                "--mode {mode} --current-branch {branch} --is-main {is_main} --is-user-branch \
                 {is_own} --user-prefix ann{more}"
            );
            assert_eq!(ask(&line), said, "{line}");
        }
    }

    // P-47, P-48
    #[test]
    fn invalid_arguments_are_explained() {
        let all = "--current-branch main --is-main true --is-user-branch false --user-prefix ann";
        for (line, said) in [
            (format!("--mode x {all}"), "invalid mode: x"),
            (all.to_owned(), "missing required flag --mode"),
            (format!("--mode {all}"), "missing value for --mode"),
            (format!("{all} --mode"), "missing value for --mode"),
            (format!("--mode design {all} --is-main yes"), "invalid value for --is-main: yes"),
            (
                format!("--mode design {all} --is-user-branch ''"),
                "invalid value for --is-user-branch: ",
            ),
            (format!("--mode design {all} --is-main"), "missing value for --is-main"),
            (
                "--mode design --is-main true --is-user-branch false --user-prefix ann".to_owned(),
                "missing required flag --current-branch",
            ),
            (format!("--mode design {all} --user-prefix ''"), "--user-prefix must be non-empty"),
            (
                "--mode design --current-branch x --is-main true --is-user-branch false".to_owned(),
                "missing required flag --user-prefix",
            ),
            (
                "--mode x --current-branch x --user-prefix ''".to_owned(),
                "missing required flag --is-main",
            ),
            (
                "--mode x --current-branch x --user-prefix '' --is-main x".to_owned(),
                "missing required flag --is-user-branch",
            ),
            (
                format!("--mode implement {all} --branch-info-supplied true"),
                "--branch-info-supplied not allowed for mode=implement",
            ),
            (
                format!("--mode implement {all} --branch-info-supplied false"),
                "--branch-info-supplied not allowed for mode=implement",
            ),
            (
                format!("--mode design {all} --branch-info-supplied 1"),
                "invalid value for --branch-info-supplied: 1",
            ),
            (format!("--mode design {all} --issue 3"), "unknown flag: --issue"),
            (format!("--mode design {all} 3"), "unknown argument: 3"),
        ] {
            assert_eq!(ask(&line), format!("GATE_ERROR={said}"), "{line}");
        }
        assert_eq!(GateError::CODE, 4);
    }

    // P-23
    #[test]
    fn facts_that_are_given_are_judged_too() {
        let words = GateWords {
            current_branch: "main".to_owned(),
            is_main: "maybe\n".to_owned(),
            is_user_branch: "false".to_owned(),
            user_prefix: "ann".to_owned(),
            branch_info_supplied: true,
        };
        let error = words.ask().unwrap_err().to_string();
        assert_eq!(error, "GATE_ERROR=invalid value for --is-main: maybe\u{fffd}");
        let words = GateWords { is_main: "true".to_owned(), ..words };
        assert_eq!(words.ask(), Ok(Gate::Continue));
    }

    proptest! {
        #[test]
        fn every_request_has_one_answer(
            words in prop::collection::vec("--[a-z-]{0,12}|true|false|design|.*", 0..14)
        ) {
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            if let Err(error) = entry_gate(&words) {
                let line = error.to_string();
                prop_assert!(line.starts_with("GATE_ERROR=") && !line.contains('\n'));
            }
        }
    }
}
