//! What a model can take from the result of a call. Clients pass on the text or the structured content,
//! escaped in their own way.

/// Numbers between words, in the order of their appearance.
pub(super) struct Numbers {
    before: &'static str,
    behind: &'static str,
    all: Vec<usize>,
}

impl Numbers {
    pub(super) const fn between(before: &'static str, behind: &'static str) -> Self {
        Self { before, behind, all: Vec::new() }
    }

    /// Takes in a page.
    pub(super) fn gather(&mut self, page: &str) {
        let found = page.split(self.before).skip(1).filter_map(|rest| {
            let (number, _) = rest.split_once(self.behind)?;
            number.parse::<usize>().ok()
        });
        self.all.extend(found);
    }

    /// Fails unless every number came once and in order, and returns the first and the last.
    pub(super) fn are_consecutive(&self) -> Result<(usize, usize), String> {
        for (earlier, later) in self.all.iter().zip(self.all.iter().skip(1)) {
            if *later != earlier + 1 {
                return Err(format!("`{}{later}` came behind {earlier}", self.before));
            }
        }
        let ends = self.all.first().zip(self.all.last());
        ends.map(|(first, last)| (*first, *last))
            .ok_or_else(|| format!("no `{}` came", self.before))
    }

    /// Fails unless every number from 0 on came, once and in order.
    pub(super) fn are_all(&self, count: usize) -> Result<(), String> {
        let wrong = (0..count).zip(&self.all).find(|(expected, found)| expected != *found);
        match wrong {
            None if self.all.len() == count => Ok(()),
            None => Err(format!("{} of {count} came after `{}`", self.all.len(), self.before)),
            Some((expected, found)) => {
                Err(format!("`{}{found}` came in the place of {expected}", self.before))
            }
        }
    }
}

/// Returns where the next page begins, if there is one.
pub(super) fn next_from(result: &str) -> Option<usize> {
    let (_, rest) =
        result.rsplit_once("next_from").or_else(|| result.rsplit_once("call again with from="))?;
    let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Finds an id such as `20261116-195552-cc6d4`.
pub(super) fn run_id(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut words = text.split(|c: char| !is_part(c));
    let is_run = |word: &&str| word.split('-').map(str::len).eq([8, 6, 5]);
    words.find(is_run).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_lost_or_comes_twice_is_noticed() {
        let gathered = |pages: &[&str]| {
            let mut numbers = Numbers::between("line ", " of");
            for page in pages {
                numbers.gather(page);
            }
            numbers.are_all(3).is_ok()
        };
        assert!(gathered(&["line 0 of\\nline 1 of", "line 2 of"]));
        for pages in [&["line 0 of", "line 2 of"][..], &["line 0 of line 1 of"], &["line 0 of"; 3]]
        {
            assert!(!gathered(pages), "{pages:?}");
        }
    }

    #[test]
    fn a_page_that_is_lost_between_two_is_noticed() {
        let gathered = |page: &str| {
            let mut numbers = Numbers::between("line ", " of");
            numbers.gather(page);
            numbers.are_consecutive().ok()
        };
        assert_eq!(gathered("ne 4 of line 5 of line 6 of"), Some((5, 6)));
        assert_eq!(gathered("line 5 of line 7 of"), None);
        assert_eq!(gathered("nothing"), None);
    }

    #[test]
    fn both_forms_of_a_result_say_where_to_go_on() {
        assert_eq!(next_from("{\\\"next_from\\\":6010,\\\"x\\\":1}"), Some(6010));
        assert_eq!(next_from("text\\n[more: call again with from=6010]\\nno unread"), Some(6010));
        assert_eq!(next_from("the end"), None);
        let run = run_id("{\"run\":\"20261116-195552-cc6d4\",\"x\":\"2026-11-16\"}");
        assert_eq!(run.as_deref(), Some("20261116-195552-cc6d4"));
    }
}
