//! A client's repeated notices of trouble, as one line with a count.

use convoke_domain::lane::event::LaneEvent;

use crate::cli::lane::progress_line;

/// The lines of a lane so far: a notice of trouble is shown once, and its repetitions are counted.
/// Notices are the same if they differ in numbers only, such as `Reconnecting... 2/5`.
#[derive(Debug, Default)]
pub struct LaneLines {
    /// The last trouble, if nothing else happened since, and how often it was repeated.
    trouble: Option<(String, u64)>,
}

impl LaneLines {
    /// Returns the lines that an event is worth.
    pub fn take(&mut self, event: &LaneEvent) -> Vec<String> {
        let line = progress_line(event);
        if let (LaneEvent::Trouble(_), Some(line), Some((before, more))) =
            (event, &line, &mut self.trouble)
            && without_numbers(before) == without_numbers(line)
        {
            line.clone_into(before);
            *more += 1;
            return Vec::new();
        }
        let repeated = self.end();
        if let (LaneEvent::Trouble(_), Some(line)) = (event, &line) {
            self.trouble = Some((line.clone(), 0));
        }
        repeated.into_iter().chain(line).collect()
    }

    /// Returns how often the last trouble was repeated, if it was: nothing repeats it any more.
    pub fn end(&mut self) -> Option<String> {
        let (line, more) = self.trouble.take().filter(|(_, more)| *more > 0)?;
        let times = if more == 1 { "once more".to_owned() } else { format!("{more} more times") };
        Some(format!("{line} ({times})"))
    }
}

fn without_numbers(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use convoke_domain::client::Client;
    use convoke_engine::client::listen;

    use super::*;

    /// Shows lines of Codex as `lane run` does.
    fn shown(printed: &[&str]) -> Vec<String> {
        let (mut listener, mut lines) = (listen(Client::Codex), LaneLines::default());
        let mut shown = Vec::new();
        for line in printed {
            let events = listener.stdout_line(line);
            shown.extend(events.iter().flat_map(|event| lines.take(event)));
        }
        shown.extend(lines.end());
        shown
    }

    const STARTED: &str = r#"{"type":"thread.started","thread_id":"t-1"}"#;
    const WAITS: &str = r#"{"type":"error","message":"Reconnecting... waiting for network"}"#;
    const SAYS: &str =
        r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Fine."}}"#;

    // Codex without a network prints the same notice every few seconds, for as long as it lives.
    #[test]
    fn a_repeated_notice_is_one_line_with_a_count() {
        let mut printed = vec![STARTED];
        printed.extend([WAITS; 40]);
        let waits = "trouble: Reconnecting... waiting for network";
        let last = format!("{waits} (39 more times)");
        assert_eq!(shown(&printed), ["session t-1", waits, &last]);
    }

    #[test]
    fn notices_that_differ_in_numbers_are_the_same() {
        let notice =
            |number: u32| format!(r#"{{"type":"error","message":"Reconnecting... {number}/5"}}"#);
        let printed = [&notice(1), &notice(2), &notice(3), SAYS, &notice(1)];
        assert_eq!(
            shown(&printed),
            [
                "trouble: Reconnecting... 1/5",
                "trouble: Reconnecting... 3/5 (2 more times)",
                "trouble: Reconnecting... 1/5"
            ]
        );
    }

    #[test]
    fn another_notice_is_another_line() {
        let other = r#"{"type":"error","message":"unexpected status 429 Too Many Requests"}"#;
        assert_eq!(
            shown(&[WAITS, WAITS, other]),
            [
                "trouble: Reconnecting... waiting for network",
                "trouble: Reconnecting... waiting for network (once more)",
                "trouble: unexpected status 429 Too Many Requests"
            ]
        );
    }
}
