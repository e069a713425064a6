//! Characters that a reader takes for a Latin letter or for a mark of Convoke's.
//!
//! The table has what is common in Cyrillic, Greek, Armenian and Latin. It is not the complete list of
//! Unicode: a rare character, or a word of another spelling, passes.

/// The Latin letter in lower case or the mark, and what looks like it in upper or lower case.
const ALIKE: [(char, &str); 28] = [
    ('a', "\u{430}\u{3b1}\u{e0}\u{e1}\u{e2}\u{e3}\u{e4}\u{e5}\u{410}\u{391}\u{251}"),
    ('b', "\u{42c}\u{412}\u{392}"),
    ('c', "\u{441}\u{3f2}\u{e7}\u{421}\u{217d}"),
    ('d', "\u{501}\u{217e}"),
    ('e', "\u{435}\u{3b5}\u{e8}\u{e9}\u{ea}\u{eb}\u{415}\u{395}\u{451}\u{454}"),
    ('g', "\u{261}\u{581}"),
    ('h', "\u{4bb}\u{570}\u{43d}\u{41d}\u{397}"),
    ('i', "\u{456}\u{3b9}\u{ec}\u{ed}\u{ee}\u{ef}\u{406}\u{399}\u{131}\u{269}"),
    ('j', "\u{458}\u{408}"),
    ('k', "\u{43a}\u{3ba}\u{41a}\u{39a}"),
    ('l', "\u{4cf}\u{142}\u{217c}"),
    ('m', "\u{43c}\u{41c}\u{39c}\u{217f}"),
    ('n', "\u{578}\u{f1}\u{39d}\u{3b7}"),
    ('o', "\u{43e}\u{3bf}\u{f2}\u{f3}\u{f4}\u{f5}\u{f6}\u{f8}\u{41e}\u{39f}\u{585}"),
    ('p', "\u{440}\u{3c1}\u{420}\u{3a1}"),
    ('q', "\u{51b}"),
    ('r', "\u{433}"),
    ('s', "\u{455}\u{15b}\u{161}\u{405}"),
    ('t', "\u{442}\u{3c4}\u{422}\u{3a4}"),
    ('u', "\u{57d}\u{3c5}\u{f9}\u{fa}\u{fb}\u{fc}"),
    ('v', "\u{475}\u{3bd}\u{2174}"),
    ('w', "\u{51d}\u{3c9}\u{448}"),
    ('x', "\u{445}\u{3c7}\u{425}\u{3a7}"),
    ('y', "\u{443}\u{3b3}\u{423}\u{3a5}\u{4af}"),
    ('-', "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}"),
    (':', "\u{2d0}\u{2236}\u{a789}"),
    ('[', "\u{3010}\u{3014}\u{3016}\u{27e6}\u{2772}\u{2045}"),
    ('>', "\u{203a}\u{bb}\u{276f}\u{227b}\u{27e9}\u{25b8}\u{25b7}"),
];

/// Returns the Latin letter in lower case, or the mark, that a character looks like; any other
/// character as it is.
pub(crate) fn look(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let alphabetic = |from: char| {
        // Such alphabets follow each other, each with 26 letters.
        let at = (u32::from(c) - u32::from(from)) % 26;
        char::from_u32(u32::from('a') + at).unwrap_or(c)
    };
    match c {
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(c) - 0xfee0).map_or(c, |c| c.to_ascii_lowercase())
        }
        '\u{1d400}'..='\u{1d6a3}' => alphabetic('\u{1d400}'),
        '\u{24b6}'..='\u{24e9}' => alphabetic('\u{24b6}'),
        _ => ALIKE.iter().find(|(_, alike)| alike.contains(c)).map_or(c, |(plain, _)| *plain),
    }
}

/// Tells whether a character is drawn over the one before it.
pub(crate) const fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_what_it_looks_like() {
        for (text, expected) in [
            ("Ｃｏｎｖｏｋｅ ＝［＃＞", "convoke =[#>"),
            ("соnνоке", "convoke"),
            ("𝐘𝓸𝖚𝚛 ⓃⒺⓍⓉ", "your next"),
            ("Нехт Аϲтіоո", "hext action"),
            ("Größe 중 日本", "Große 중 日本"),
        ] {
            assert_eq!(text.chars().map(look).collect::<String>(), expected, "{text}");
        }
    }
}
