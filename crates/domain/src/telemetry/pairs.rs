//! Lists of `name=value`, as OpenTelemetry's variables have them.

/// The pairs of a list, and the places of entries without a name or a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PairList {
    /// The pairs, in order, with escapes undone.
    pub pairs: Vec<(String, String)>,
    /// The numbers of entries that cannot be read, from 1 on. Their text may hold a secret.
    pub faults: Vec<usize>,
}

impl PairList {
    /// Reads `name=value,name=value`; `%2C` in a value is a comma.
    pub fn parse(text: &str) -> Self {
        Self::of_usable(text, |_, _| true)
    }

    /// Reads a list whose pairs become headers of a request.
    pub fn headers(text: &str) -> Self {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let is_value = |c: char| c.is_ascii_graphic() || c == ' ';
        Self::of_usable(text, |name, value| {
            name.chars().all(is_name) && value.chars().all(is_value)
        })
    }

    fn of_usable(text: &str, is_usable: impl Fn(&str, &str) -> bool) -> Self {
        let mut list = Self::default();
        let entries = text.split(',').enumerate();
        for (index, entry) in entries.filter(|(_, entry)| !entry.trim().is_empty()) {
            match pair(entry).filter(|(name, value)| is_usable(name, value)) {
                Some(pair) => list.pairs.push(pair),
                None => list.faults.push(index + 1),
            }
        }
        list
    }
}

fn pair(entry: &str) -> Option<(String, String)> {
    let (name, value) = entry.split_once('=')?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    Some((name.to_owned(), unescaped(value.trim())?))
}

/// Undoes `%41`. Text that is not UTF-8 after that is nothing that can be sent.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok().filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> String {
        let PairList { pairs, faults } = PairList::parse(text);
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        format!("{} {faults:?}", pairs.join(" "))
    }

    #[test]
    fn a_list_of_pairs_is_read() {
        for (text, expected) in [
            ("", " []"),
            ("a=1", "a:1 []"),
            (" a = 1 , b=2,", "a:1 b:2 []"),
            ("a=x%2Cy%20z", "a:x,y z []"),
            ("a=b=c", "a:b=c []"),
            ("a=", "a: []"),
            ("a,b=2", "b:2 [1]"),
            ("=1,a=%zz,b=%4,c=%+1,d=%ff,e=1", "e:1 [1, 2, 3, 4, 5]"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn a_header_cannot_end_its_line() {
        let list = PairList::headers("authorization=Bearer%20x,a=b%0D%0Ac: d,b c=1,x-key=%C3%A9");
        assert_eq!(list.pairs, [("authorization".to_owned(), "Bearer x".to_owned())]);
        assert_eq!(list.faults, [2, 3, 4]);
    }

    proptest! {
        #[test]
        fn no_text_does_harm(text in "[a-z=,%0-9 é]{0,40}") {
            let list = PairList::headers(&text);
            prop_assert!(list.pairs.len() + list.faults.len() <= text.split(',').count());
        }
    }
}
