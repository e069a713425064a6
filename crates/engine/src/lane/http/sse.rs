//! Server-sent events, cut out of bytes however they come.

/// The longest event; even one with the longest answer is shorter. Convoke gives up a stream with a
/// longer one.
const LONGEST_EVENT: usize = 16 * 1024 * 1024;

/// A mark that some servers put before everything.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// An event was longer than any may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// Turns bytes into the data of events. The names of events are not kept: in every format that is
/// read here, the data says the same.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR, whose LF may follow in the next piece.
    after_return: bool,
    is_begun: bool,
}

impl Events {
    /// Adds bytes, and returns the data of every event that is whole now.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut whole = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    whole.extend(self.end_line());
                }
                _ => {
                    self.after_return = false;
                    self.line.push(*byte);
                }
            }
            if self.line.len() + self.data.len() > LONGEST_EVENT {
                return Err(TooLong);
            }
        }
        Ok(whole)
    }

    /// An empty line ends an event; a line without a colon, or of another field, adds nothing.
    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let line = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(&line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let is_event = std::mem::take(&mut self.has_data);
            return is_event.then(|| String::from_utf8_lossy(&data).into_owned());
        }
        let value = if line == b"data" { Some(&[][..]) } else { line.strip_prefix(b"data:") };
        if let Some(value) = value {
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn heard(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        pieces.iter().flat_map(|piece| events.add(piece).unwrap()).collect()
    }

    #[test]
    fn every_way_to_write_an_event_is_read() {
        for (text, expected) in [
            ("data: one\n\n", &["one"][..]),
            ("data:one\n\n", &["one"]),
            ("data:  one\n\n", &[" one"]),
            ("data: one\r\n\r\ndata: two\r\n\r\n", &["one", "two"]),
            ("data: one\r\rdata: two\r\r", &["one", "two"]),
            ("data: one\ndata: two\n\n", &["one\ntwo"]),
            ("data\ndata\n\n", &["\n"]),
            ("event: x\nid: 3\nretry: 10\n: a comment\ndata: one\n\n", &["one"]),
            (": ping\n\n\n\n", &[]),
            ("event: x\n\n", &[]),
            ("database: no\n\n", &[]),
            ("\u{feff}data: one\n\n", &["one"]),
            ("data: \u{feff}one\n\n", &["\u{feff}one"]),
            ("data: cut off\n", &[]),
        ] {
            assert_eq!(heard(&[text.as_bytes()]), expected, "{text:?}");
        }
        assert_eq!(heard(&[b"data: \xff\n\n"]), ["\u{fffd}"]);
    }

    #[test]
    fn an_event_without_end_is_given_up() {
        let mut events = Events::default();
        let piece = vec![b'x'; LONGEST_EVENT / 2];
        assert_eq!(events.add(b"data: "), Ok(vec![]));
        assert_eq!(events.add(&piece), Ok(vec![]));
        assert_eq!(events.add(b"\ndata: "), Ok(vec![]));
        assert_eq!(events.add(&piece), Err(TooLong));
    }

    proptest! {
        // However it comes in pieces, the events are the same.
        #[test]
        fn pieces_make_the_same_events(
            text in "(data: ?|x|: |\n|\r\n|\r|é|\u{feff}){0,40}",
            at in prop::collection::vec(0.0_f64..1.0, 0..6),
        ) {
            let bytes = text.as_bytes();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss,
                clippy::cast_precision_loss, reason = "a place within a short text")]
            let mut cuts: Vec<_> =
                at.iter().map(|part| (part * bytes.len() as f64) as usize).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(heard(&pieces), heard(&[bytes]));
        }

        #[test]
        fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            heard(&[&bytes]);
        }
    }
}
