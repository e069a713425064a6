//! The content of a demanded file, even if its bytes are not UTF-8.

use std::path::Path;

use convoke_domain::receipt::Contents;

use super::super::feature::MAX_BYTES;
use crate::file;

/// Windows' characters where Latin-1 has controls.
const WINDOWS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// The present content of a file.
pub(super) enum Now {
    Text(String),
    /// Bytes that are not UTF-8, as a text in every way that clients make one of them.
    Other(Vec<String>),
    Unknown,
}

impl Now {
    pub(super) fn of(path: &str) -> Self {
        let Some(bytes) = file::bytes(Path::new(path), MAX_BYTES) else { return Self::Unknown };
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Other(readings(error.as_bytes())),
        }
    }

    pub(super) fn contents(&self) -> Contents<'_> {
        match self {
            Self::Text(text) => Contents::Text(text),
            Self::Other(readings) => Contents::Other(readings),
            Self::Unknown => Contents::Unknown,
        }
    }
}

fn readings(bytes: &[u8]) -> Vec<String> {
    let windows = |byte: &u8| match byte {
        0x80..=0x9f => WINDOWS.get(usize::from(byte - 0x80)).copied().unwrap_or('\u{fffd}'),
        _ => char::from(*byte),
    };
    let mut readings = vec![
        String::from_utf8_lossy(bytes).into_owned(),
        bytes.iter().map(|byte| char::from(*byte)).collect(),
        bytes.iter().map(windows).collect(),
    ];
    let order: Option<fn([u8; 2]) -> u16> = match bytes {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    };
    if let Some(order) = order {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| order([pair[0], pair[1]])).collect();
        readings.push(String::from_utf16_lossy(&units));
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_every_way_that_clients_know() {
        let latin = readings(b"na\xefve \x93plan\x94\n");
        assert_eq!(latin[0], "na\u{fffd}ve \u{fffd}plan\u{fffd}\n");
        assert!(latin.contains(&"naïve “plan”\n".to_owned()));
        let wide: Vec<u8> = "\u{feff}naïve".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(readings(&wide).contains(&"\u{feff}naïve".to_owned()));
    }
}
