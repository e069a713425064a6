//! Which of several clients around this process is the innermost.

/// The most processes that are looked at; a chain of real ones is much shorter.
const MOST_ANCESTORS: usize = 64;

/// Returns the place of the variable that was set last on the way to this process: the nearest
/// ancestor that lacks one of them set it for its children, and has all others from a client further
/// out. `None` where that cannot be told, such as without `/proc`.
pub fn last_set(variables: &[(&str, &str)]) -> Option<usize> {
    let parent = rustix::process::getppid()?;
    let mut next = u32::try_from(parent.as_raw_nonzero().get()).ok();
    let ancestors = std::iter::from_fn(|| {
        let pid = next.filter(|pid| *pid > 0)?;
        let environment = environment(pid)?;
        next = parent_of(pid);
        Some(environment)
    });
    first_without(ancestors.take(MOST_ANCESTORS), variables)
}

/// Finds the first environment that lacks some of the variables; `None` if it lacks several.
fn first_without(
    mut environments: impl Iterator<Item = Vec<u8>>,
    variables: &[(&str, &str)],
) -> Option<usize> {
    environments.find_map(|environment| {
        let lacks = |(name, value): &(&str, &str)| {
            let line = format!("{name}={value}");
            !environment.split(|byte| *byte == 0).any(|entry| entry == line.as_bytes())
        };
        let places = variables.iter().enumerate();
        let lacking: Vec<_> = places.filter(|(_, one)| lacks(one)).map(|(at, _)| at).collect();
        match lacking.as_slice() {
            [] => None,
            [one] => Some(Some(*one)),
            _ => Some(None),
        }
    })?
}

/// Returns the variables that a process was started with.
fn environment(pid: u32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/environ")).ok()
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold any character; the text behind it does not.
    let (_, rest) = status.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_that_the_nearest_ancestor_lacks_was_set_last() {
        const BOTH: &str = "HOME=/h\0A=1\0B=2\0";
        for (environments, expected) in [
            (vec![BOTH, "A=1\0", ""], Some(1)),
            (vec![BOTH, BOTH, "B=2\0", "A=1\0"], Some(0)),
            // An inner client of the same kind has a value of its own.
            (vec![BOTH, "A=0\0B=2\0"], Some(0)),
            (vec![BOTH, "AA=1\0B=2\0"], Some(0)),
            // Both came at the same time, or from nowhere.
            (vec![BOTH, ""], None),
            (vec![""], None),
            (vec![BOTH], None),
            (vec![], None),
        ] {
            let environments = environments.into_iter().map(|text| text.as_bytes().to_vec());
            let found = first_without(environments, &[("A", "1"), ("B", "2")]);
            assert_eq!(found, expected);
        }
    }
}
