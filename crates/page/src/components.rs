//! Parts that several pages share.

use jiff::Timestamp;
use maud::{Markup, html};

/// Returns a time, in UTC for readers without the script, which shows it in the reader's zone.
pub fn time(at: &str) -> Markup {
    let Ok(moment) = at.parse::<Timestamp>() else { return html! { (at) } };
    html! { time datetime=(moment.to_string()) { (minute(at)) } }
}

/// Returns a time in UTC as words alone, for places that take no tags.
pub fn minute(at: &str) -> String {
    let moment = at.parse::<Timestamp>();
    moment.map_or_else(|_| at.to_owned(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// Returns how long ago something was: the script counts on, and without it the time itself is shown.
pub fn since(at: &str) -> Markup {
    let Ok(at) = at.parse::<Timestamp>() else { return html! { (at) } };
    let shown = at.strftime("since %Y-%m-%d %H:%M:%S UTC").to_string();
    html! { time data-since datetime=(at.to_string()) { (shown) } }
}

/// Returns an amount of milliseconds in words, such as `2 min 05 s`.
pub fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes} min {:02} s", seconds % 60),
        3600..86_400 => format!("{hours} h {:02} min", minutes % 60),
        _ => format!("{days} d {:02} h", hours % 24),
    }
}

/// Returns a number with groups of three digits.
pub fn number(amount: u64) -> String {
    let digits = amount.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns an amount of bytes with its unit.
pub fn bytes(amount: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", amount / unit, amount % unit * 10 / unit);
    match amount {
        0..1_000 => format!("{amount} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} GB", tenths(1_000_000_000)),
    }
}

/// Returns an amount of tokens with its unit.
pub fn tokens(amount: u64) -> String {
    let unit = if amount == 1 { "token" } else { "tokens" };
    format!("{} {unit}", number(amount))
}

/// Returns an amount of money in dollars; `unknown cost` where no client said one.
pub fn money(micro_dollars: Option<u64>) -> String {
    match micro_dollars {
        None => "unknown cost".to_owned(),
        Some(0) => "$0".to_owned(),
        Some(micro) if micro < 10_000 => format!("${}.{:06}", micro / 1_000_000, micro % 1_000_000),
        Some(micro) => format!("${}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000),
    }
}

/// Returns the field that proves a form to be ours.
pub fn csrf_field(token: &str) -> Markup {
    html! { input type="hidden" name="csrf" value=(token); }
}

/// Returns a text as a value in an address.
pub fn query(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Returns what a page says where it has nothing to show, and the command that changes that.
pub fn empty(what: &str, do_this: &str) -> Markup {
    html! {
        div.empty {
            p { (what) }
            p { "Run " code { (do_this) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_groups() {
        let durations = [(0, "0 ms"), (999, "999 ms"), (1000, "1 s"), (125_000, "2 min 05 s")];
        for (given, shown) in durations {
            assert_eq!(duration(given), shown);
        }
        assert_eq!(duration(3_720_000), "1 h 02 min");
        assert_eq!(duration(90_000_000), "1 d 01 h");
        assert_eq!(number(0), "0");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_234_567), "1.2 MB");
        assert_eq!(tokens(1), "1 token");
        assert_eq!(tokens(1000), "1,000 tokens");
        assert_eq!(money(None), "unknown cost");
        assert_eq!(money(Some(1_234_567)), "$1.23");
        assert_eq!(money(Some(1234)), "$0.001234");
    }

    #[test]
    fn times_are_machine_readable_and_other_text_is_escaped() {
        let shown = time("2026-01-02T03:04:05Z").into_string();
        assert!(shown.contains("datetime=\"2026-01-02T03:04:05Z\""), "{shown}");
        assert!(shown.contains("2026-01-02 03:04 UTC"), "{shown}");
        assert_eq!(time("<b>").into_string(), "&lt;b&gt;");
        assert_eq!(query("a/b&c=<d> é"), "a%2Fb%26c%3D%3Cd%3E%20%C3%A9");
    }
}
