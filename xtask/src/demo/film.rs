//! Screens of a terminal, one after another, as one SVG without scripts.

use std::num::NonZeroU16;

use vt100::{Cell, Color, Parser, Screen};

/// How long the film takes, in seconds, and how long its last screen stays.
const LENGTH: f64 = 14.0;
const REST: f64 = 6.0;

/// Screens closer together than this part of the film are merged.
const SHORTEST: f64 = 0.004;

/// The size of a character cell.
const CELL: (f64, f64) = (8.4, 18.0);

/// The sixteen colours of a terminal, on a dark ground.
const PALETTE: [&str; 16] = [
    "#2e3440", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
    "#7f8795", "#ff7b86", "#b5e890", "#ffd787", "#7cc4ff", "#de9bf0", "#6fd4e0", "#ffffff",
];

const GROUND: &str = "#1e222a";
const TEXT: &str = "#d8dee9";

/// One screen, and from which part of the recording on it is shown (0 to 1).
struct Frame {
    from: f64,
    rows: Vec<String>,
}

/// The screens of a recording.
pub(super) struct Film {
    frames: Vec<Frame>,
    size: (NonZeroU16, NonZeroU16),
}

impl Film {
    /// Plays what `script` recorded on a screen of that many rows and columns.
    pub(super) fn new(bytes: &[u8], times: &str, size: (NonZeroU16, NonZeroU16)) -> Self {
        let mut terminal = Parser::new(size.0, size.1, 0);
        let mut frames: Vec<Frame> = Vec::new();
        let steps = steps(times);
        let whole: f64 = steps.iter().map(|(pause, _)| pause).sum::<f64>().max(0.001);
        let (mut now, mut rest) = (0.0, bytes);
        for (pause, count) in steps {
            now += pause / whole;
            let (chunk, later) = rest.split_at(count.min(rest.len()));
            terminal.process(chunk);
            rest = later;
            let rows = rows(terminal.screen());
            match frames.last_mut() {
                Some(last) if last.rows == rows => {}
                Some(last) if now - last.from < SHORTEST => last.rows = rows,
                _ => frames.push(Frame { from: now, rows }),
            }
        }
        Self { frames, size }
    }

    /// Returns the film as an animated SVG, which shows its last screen to readers who prefer no
    /// motion.
    pub(super) fn svg(&self) -> String {
        let width = f64::from(self.size.1.get()) * CELL.0 + 24.0;
        let height = f64::from(self.size.0.get()) * CELL.1 + 24.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
             <title>A design by several agents, played from a recording</title>\n{}\
             <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n\
             <svg x=\"12\" y=\"12\" width=\"{:.0}\" height=\"{:.0}\">\n<g class=\"film\">\n",
            self.style(width),
            width - 24.0,
            height - 24.0,
        );
        for (index, frame) in self.frames.iter().enumerate() {
            let place = format!("<g transform=\"translate({:.0})\">", as_number(index) * width);
            let rows = frame.rows.iter().filter(|row| !row.is_empty()).map(String::as_str);
            for line in [place.as_str()].into_iter().chain(rows).chain(["</g>"]) {
                svg.extend([line, "\n"]);
            }
        }
        svg + "</g>\n</svg>\n</svg>\n"
    }

    fn style(&self, width: f64) -> String {
        let last = as_number(self.frames.len().saturating_sub(1)) * width;
        let key = |(index, frame): (usize, &Frame)| {
            let at = frame.from * LENGTH / (LENGTH + REST) * 100.0;
            format!("{at:.2}%{{transform:translateX(-{:.0}px)}}", as_number(index) * width)
        };
        let keys: String = self.frames.iter().enumerate().map(key).collect();
        format!(
            "<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;\
             white-space:pre;fill:{TEXT}}}.b{{font-weight:bold}}\
             .film{{transform:translateX(-{last:.0}px);animation:play {:.0}s steps(1,end) infinite}}\
             @keyframes play{{{keys}100%{{transform:translateX(-{last:.0}px)}}}}\
             @media(prefers-reduced-motion:reduce){{.film{{animation:none}}}}</style>\n",
            LENGTH + REST,
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "a film has a few hundred screens")]
fn as_number(index: usize) -> f64 {
    index as f64
}

/// Reads how long `script` waited for how many bytes; other kinds of lines have no bytes of output.
fn steps(times: &str) -> Vec<(f64, usize)> {
    let step = |line: &str| {
        let line = line.strip_prefix("O ").unwrap_or(line);
        let (pause, count) = line.split_once(' ')?;
        Some((pause.parse().ok()?, count.trim().parse().ok()?))
    };
    times.lines().filter_map(step).collect()
}

/// Draws each row of a screen.
fn rows(screen: &Screen) -> Vec<String> {
    let (rows, columns) = screen.size();
    (0..rows.get()).map(|row| draw_row(screen, row, columns.get())).collect()
}

/// Draws a row as runs of cells that look the same, each at its own column, so that a font whose
/// letters are a little wider shifts no column.
fn draw_row(screen: &Screen, row: u16, columns: u16) -> String {
    let mut drawn = String::new();
    let mut run: Option<(u16, String, String)> = None;
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation())
        else {
            continue;
        };
        let look = look(cell);
        let text = if cell.has_contents() { escape(cell.contents()) } else { " ".to_owned() };
        match &mut run {
            Some((_, known, written)) if *known == look => *written += &text,
            _ => {
                drawn += &finish(run.take(), row);
                run = Some((column, look, text));
            }
        }
        if cell.is_wide() {
            drawn += &finish(run.take(), row);
        }
    }
    drawn + &finish(run, row)
}

fn finish(run: Option<(u16, String, String)>, row: u16) -> String {
    let Some((column, look, text)) = run.filter(|(_, _, text)| !text.trim().is_empty()) else {
        return String::new();
    };
    let (x, y) = (f64::from(column) * CELL.0, (f64::from(row) + 0.75) * CELL.1);
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{look}>{}</text>", text.trim_end())
}

/// Returns the attributes of a cell's text.
fn look(cell: &Cell) -> String {
    let color = match cell.fgcolor() {
        Color::Default => None,
        Color::Idx(index) => PALETTE.get(usize::from(index)).map(|color| (*color).to_owned()),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    };
    let dim = cell.dim().then(|| " opacity=\".65\"".to_owned());
    let bold = cell.bold().then(|| " class=\"b\"".to_owned());
    let fill = color.map(|color| format!(" style=\"fill:{color}\""));
    [fill, bold, dim].into_iter().flatten().collect()
}

fn escape(text: &str) -> String {
    let safe = |letter: char| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: u16, columns: u16) -> (NonZeroU16, NonZeroU16) {
        (NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap())
    }

    #[test]
    fn a_film_shows_each_screen_at_its_time() {
        let film = Film::new(b"one\r\x1b[31mt<o\x1b[0m", "O 0.5 4\nO 0.5 12\n", size(2, 10));
        assert_eq!(film.frames.len(), 2);
        let svg = film.svg();
        assert!(svg.contains(">one</text>") && svg.contains("t&lt;o</text>"), "{svg}");
        assert!(svg.contains("fill:#e06c75"), "{svg}");
        assert!(svg.contains("35.00%{transform:translateX(-0px)}"), "{svg}");
    }

    #[test]
    fn screens_that_look_the_same_are_one() {
        let film = Film::new(b"onon", "0.5 2\n0.5 2\n", size(1, 2));
        assert_eq!(film.frames.len(), 1);
    }
}
