//! How a client's process ended.

use std::fmt;

/// The end of a client's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It exited with this code.
    Exited(i32),
    /// By a signal that Convoke did not send.
    Signalled(i32),
    /// It was stopped, because the whole took too long.
    WallLimit,
    /// It was stopped, because it printed nothing at first for too long.
    FirstByteLimit,
    /// It was stopped, because it printed nothing more for too long.
    StallLimit,
    /// It was stopped, because it cost too much.
    BudgetLimit,
    /// A person or a program stopped it.
    Cancelled,
    /// It could not be started.
    NotStarted,
    /// Unknown: its supervisor process disappeared.
    Lost,
}

impl ProcessEnd {
    /// Ends that need no number.
    const PLAIN: [Self; 7] = [
        Self::WallLimit,
        Self::FirstByteLimit,
        Self::StallLimit,
        Self::BudgetLimit,
        Self::Cancelled,
        Self::NotStarted,
        Self::Lost,
    ];

    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            Some(("exited", code)) => code.parse().ok().map(Self::Exited),
            Some(("signalled", signal)) => signal.parse().ok().map(Self::Signalled),
            Some(_) => None,
            None => Self::PLAIN.into_iter().find(|end| end.to_string() == text),
        }
    }
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited {code}"),
            Self::Signalled(signal) => write!(f, "signalled {signal}"),
            Self::WallLimit => f.write_str("wall_limit"),
            Self::FirstByteLimit => f.write_str("first_byte_limit"),
            Self::StallLimit => f.write_str("stall_limit"),
            Self::BudgetLimit => f.write_str("budget_limit"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::NotStarted => f.write_str("not_started"),
            Self::Lost => f.write_str("lost"),
        }
    }
}

impl ProcessEnd {
    /// Returns the code of a process that exited by itself.
    pub const fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Signalled(_)
            | Self::WallLimit
            | Self::FirstByteLimit
            | Self::StallLimit
            | Self::BudgetLimit
            | Self::Cancelled
            | Self::NotStarted
            | Self::Lost => None,
        }
    }

    /// Returns the end as a person reads it.
    pub fn words(self) -> String {
        match self {
            Self::Exited(code) => format!("exited with code {code}"),
            Self::Signalled(signal) => format!("killed by signal {signal}"),
            Self::WallLimit => "stopped at its time limit".to_owned(),
            Self::FirstByteLimit => "stopped because it printed nothing".to_owned(),
            Self::StallLimit => "stopped because it printed nothing more".to_owned(),
            Self::BudgetLimit => "stopped at the budget".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
            Self::NotStarted => "not started".to_owned(),
            Self::Lost => "lost with its supervisor process".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_written_in_one_way() {
        for end in ProcessEnd::PLAIN.into_iter().chain([
            ProcessEnd::Exited(0),
            ProcessEnd::Exited(-1),
            ProcessEnd::Signalled(9),
        ]) {
            let text = end.to_string();
            assert_eq!(ProcessEnd::parse(&text), Some(end), "{text}");
            assert!(!text.is_empty() && text == text.to_lowercase(), "{text}");
        }
        for wrong in ["", "exited", "exited x", "Exited(0)", "lost 3"] {
            assert_eq!(ProcessEnd::parse(wrong), None, "{wrong}");
        }
    }
}
