//! Bar charts as SVG. Every bar carries its words, so that colour and size say nothing that the words do
//! not; the table behind each chart has more of them, and all figures.

use maud::{Markup, html};

/// The width of a chart, in units of its own.
const WIDTH: u64 = 720;

/// The height of a row.
const ROW: u64 = 24;

/// The width of the names.
const NAMES: u64 = 200;

/// The most bars of a chart; the table behind it has the rest.
const MOST_BARS: usize = 31;

/// The longest name beside a bar, in characters.
const LONGEST_NAME: usize = 26;

/// One bar: its name, its length in some unit, and its figure in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// The name beside it.
    pub name: String,
    /// How long it is.
    pub amount: u64,
    /// What it says.
    pub words: String,
}

/// Returns a chart of horizontal bars; `title` says what they measure.
pub fn bar_chart(title: &str, bars: &[Bar]) -> Markup {
    let shown = bars.get(..MOST_BARS).unwrap_or(bars);
    let longest = shown.iter().map(|bar| bar.amount).max().unwrap_or(0).max(1);
    let height = ROW * (shown.len() as u64) + 4;
    // Room for the words behind the longest bar.
    let space = WIDTH - NAMES - 160;
    let length = |amount: u64| {
        let scaled = u128::from(amount) * u128::from(space) / u128::from(longest);
        u64::try_from(scaled).unwrap_or(space).max(u64::from(amount > 0))
    };
    html! {
        svg.chart viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label=(title)
            width=(WIDTH) height=(height) {
            @for (place, bar) in shown.iter().enumerate() {
                @let top = ROW * (place as u64) + 2;
                text x=(NAMES - 8) y=(top + 15) text-anchor="end" { (short(&bar.name)) }
                rect.s1 x=(NAMES) y=(top + 2) width=(length(bar.amount)) height=(ROW - 6) rx="2" {}
                text x=(NAMES + length(bar.amount) + 6) y=(top + 15) { (bar.words) }
            }
        }
        @if bars.len() > shown.len() {
            p.soft { "The chart shows " (shown.len()) " of " (bars.len()) "." }
        }
    }
}

fn short(name: &str) -> String {
    let mut short: String = name.chars().take(LONGEST_NAME).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_amounts_and_names_are_escaped() {
        let bar = |name: &str, amount| Bar { name: name.into(), amount, words: "w".into() };
        let drawn = bar_chart("t", &[bar("<b>", 0), bar("b", 50), bar("c", 100)]).into_string();
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("<b>"), "{drawn}");
        for width in ["width=\"0\"", "width=\"180\"", "width=\"360\""] {
            assert!(drawn.contains(width), "{width} {drawn}");
        }
        let many: Vec<_> = (0..40).map(|count| bar("x", count)).collect();
        assert!(bar_chart("t", &many).into_string().contains("31 of 40"));
        assert!(bar_chart("t", &[bar("x", u64::MAX)]).into_string().contains("width=\"360\""));
    }
}
