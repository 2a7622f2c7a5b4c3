//! `--format table`: for people.
//!
//! A header, columns as wide as they must be, numbers to the right with separators, and a bar
//! beside the last column if that is a count. How wide columns are, and what the longest bar stands
//! for, is found in the first rows, which are held back for that; rows that come later are aligned
//! as well as they can be. Lines stay within the terminal, or within 100 columns where there is
//! none: long text ends in an ellipsis, and long names of documents have it in their middle. A
//! terminal gets the first 100 rows, unless all are asked for, and a last line that says how many
//! there are.
//!
//! Text is escaped as [`screen::name`] does, so that nothing in it steers the
//! terminal. 200 to 600 ns a row.

use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use tadoc::Timestamp;
use tadoc::{Column, ColumnKind, Rows, Value};
use unicode_width::UnicodeWidthStr;

use super::lines::{Line, Lines};
use crate::output::Output;
use crate::screen::{self, Limit, Notation, WIDTH, fit, fit_name, wide};
use crate::units::{self, usize_of};

/// So many rows say how wide columns are.
const SAMPLE_ROWS: u64 = 2000;
/// How wide bars are: at least so, to be worth their place, and at most.
const BAR: (usize, usize) = (10, 24);
/// Text columns do not get narrower than this.
const NARROWEST: usize = 8;
/// Of longer text nothing is looked at, since no line shows it.
const LONGEST_TEXT: usize = 4096;
const GAP: &str = "  ";

const HEADER: Style = Style::new().bold();
const BAR_STYLE: Style = AnsiColor::Cyan.on_default();

/// A table on its way out.
pub struct Table {
    state: State,
    limit: Limit,
}

enum State {
    /// The first rows, held back.
    Sampling(Sampling),
    /// The others, as they come.
    Printing(Lines<Layout>),
    /// Nothing more, after a failure.
    Failed,
}

struct Sampling {
    output: Output,
    columns: &'static [Column],
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub fn new(output: Output, columns: &'static [Column], limit: Limit) -> Self {
        Self { state: State::Sampling(Sampling { output, columns, rows: Vec::new() }), limit }
    }

    /// Shows all rows, on a terminal too.
    pub fn show_all(&mut self) {
        self.limit = Limit::none();
    }

    pub fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        let shown = self.limit.take(rows.len());
        let mut first = 0;
        if let State::Sampling(sampling) = &mut self.state {
            first = shown.min(SAMPLE_ROWS - sampling.rows.len() as u64);
            rows.visit(0..first, &mut |values| {
                sampling.rows.push(values.iter().map(Cell::new).collect());
            });
            if first == shown && !self.limit.is_reached() {
                return Ok(());
            }
        }
        match self.printing()? {
            Some(lines) => lines.write_range(rows, first..shown),
            None => Ok(()),
        }
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        self.printing()?;
        match self.state {
            State::Printing(lines) => lines.finish_with(&self.limit.last_line("row")),
            State::Sampling(_) | State::Failed => Ok(()),
        }
    }

    /// The printer, which prints what was held back before it gives itself away.
    fn printing(&mut self) -> anyhow::Result<Option<&mut Lines<Layout>>> {
        if let State::Sampling(_) = self.state
            && let State::Sampling(Sampling { output, columns, rows }) =
                std::mem::replace(&mut self.state, State::Failed)
        {
            self.state = State::Printing(Layout::print(output, columns, &rows)?);
        }
        match &mut self.state {
            State::Printing(lines) => Ok(Some(lines)),
            State::Sampling(_) | State::Failed => Ok(None),
        }
    }
}

/// A value of a row that is held back.
enum Cell {
    Text(Vec<u8>),
    Count(u64),
    Real(f64),
    Time(Option<Timestamp>),
}

impl Cell {
    fn new(value: &Value<'_>) -> Self {
        match value {
            Value::Text(bytes) => Self::Text(bytes[..bytes.len().min(LONGEST_TEXT)].to_vec()),
            Value::Terms(terms) => Self::Text(joined(terms)),
            Value::Count(value) => Self::Count(*value),
            Value::Real(value) => Self::Real(*value),
            Value::Time(time) => Self::Time(*time),
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Text(bytes) => Value::Text(bytes),
            Self::Count(value) => Value::Count(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Time(time) => Value::Time(*time),
        }
    }
}

fn joined(terms: &[&[u8]]) -> Vec<u8> {
    let mut text = Vec::new();
    for (place, term) in terms.iter().enumerate() {
        if text.len() >= LONGEST_TEXT {
            break;
        }
        if place > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(&term[..term.len().min(LONGEST_TEXT)]);
    }
    text.truncate(LONGEST_TEXT);
    text
}

/// What a value looks like when there is room for it.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Text(bytes) => screen::name(&bytes[..bytes.len().min(LONGEST_TEXT)]),
        Value::Terms(terms) => screen::name(&joined(terms)),
        Value::Time(time) => time.map(units::moment_for_people).unwrap_or_default(),
        Value::Count(value) => units::count(*value),
        Value::Real(value) => {
            let size = value.abs();
            if size == 0.0 || (1e-3..1e9).contains(&size) || !value.is_finite() {
                format!("{value:.4}")
            } else {
                format!("{value:.3e}")
            }
        }
    }
}

/// Where things stand on a line.
struct Layout {
    columns: &'static [Column],
    widths: Vec<usize>,
    /// How wide the longest bar is, and what it stands for.
    bar: Option<(usize, u64)>,
    styled: bool,
}

impl Layout {
    /// Prints the header and the rows that were held back.
    fn print(
        output: Output,
        columns: &'static [Column],
        rows: &[Vec<Cell>],
    ) -> anyhow::Result<Lines<Self>> {
        let width = output.terminal_width().unwrap_or(WIDTH);
        let layout = Self::new(columns, rows, width, screen::is_styled(&output));
        let mut lines = Lines::new(output, layout)?;
        lines.write(&Held { columns, rows })?;
        Ok(lines)
    }

    fn new(columns: &'static [Column], rows: &[Vec<Cell>], width: usize, styled: bool) -> Self {
        let mut widths: Vec<usize> = columns.iter().map(|column| column.name.width()).collect();
        let mut greatest = 0;
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(wide(&shown(&cell.value())));
            }
            if let Some(Cell::Count(value)) = row.last() {
                greatest = greatest.max(*value);
            }
        }
        // How much there is of something is seen in a bar; where it is, is not.
        let counts = columns
            .last()
            .is_some_and(|column| column.kind == ColumnKind::Count && column.name != "offset");
        let gaps = GAP.len() * (columns.len().saturating_sub(1) + usize::from(counts));
        let least = if counts && width >= 6 * BAR.0 { BAR.0 } else { 0 };
        let is_text = |place: usize| columns[place].kind == ColumnKind::Text;
        while widths.iter().sum::<usize>() + gaps + least > width {
            let texts = (0..columns.len()).filter(|&place| is_text(place));
            match texts.max_by_key(|&place| widths[place]) {
                Some(widest) if widths[widest] > NARROWEST => widths[widest] -= 1,
                _ => break,
            }
        }
        let left = width.saturating_sub(widths.iter().sum::<usize>() + gaps);
        let bar = (counts && left >= BAR.0 && greatest > 0).then(|| (left.min(BAR.1), greatest));
        Self { columns, widths, bar, styled }
    }

    fn cell(&self, place: usize, text: &str, to: &mut Vec<u8>) {
        if place > 0 {
            to.extend_from_slice(GAP.as_bytes());
        }
        let width = self.widths[place];
        if self.columns[place].kind == ColumnKind::Text {
            let fitting = match self.columns[place].name {
                "document" => fit_name(text, width),
                _ => fit(text, width),
            };
            to.extend_from_slice(fitting.as_bytes());
            if place + 1 < self.columns.len() {
                to.resize(to.len() + width.saturating_sub(wide(&fitting)), b' ');
            }
        } else {
            to.resize(to.len() + width.saturating_sub(text.len()), b' ');
            to.extend_from_slice(text.as_bytes());
        }
    }
}

impl Line for Layout {
    /// Cells are escaped before they get colours.
    const NOTATION: Option<Notation> = None;

    fn header(&self, to: &mut Vec<u8>) {
        for (place, column) in self.columns.iter().enumerate() {
            self.cell(place, column.name, to);
        }
        if self.styled {
            to.splice(..0, format!("{HEADER}").into_bytes());
            write!(to, "{HEADER:#}").expect("a vector takes all");
        }
        to.push(b'\n');
    }

    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        for (place, value) in values.iter().enumerate() {
            self.cell(place, &shown(value), to);
        }
        if let (Some((width, greatest)), Some(Value::Count(value))) = (self.bar, values.last()) {
            let bar = bar(*value, greatest, width);
            if self.styled {
                write!(to, "{GAP}{BAR_STYLE}{bar}{BAR_STYLE:#}").expect("a vector takes all");
            } else if !bar.is_empty() {
                write!(to, "{GAP}{bar}").expect("a vector takes all");
            }
        }
        to.push(b'\n');
    }
}

/// A bar of eighths of a column; what is not nothing has at least one.
fn bar(value: u64, greatest: u64, width: usize) -> String {
    let share = value.min(greatest) as f64 / greatest as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a bar has whole eighths, and not fewer than 0"
    )]
    let eighths = ((share * width as f64 * 8.0) as usize).max(usize::from(value > 0));
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        // From one eighth to seven.
        let part = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8 - 1];
        bar.write_char(part).expect("a string takes all");
    }
    bar
}

/// The rows that were held back, as rows again.
struct Held<'r> {
    columns: &'static [Column],
    rows: &'r [Vec<Cell>],
}

impl Rows for Held<'_> {
    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn visit(&self, rows: std::ops::Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for row in &self.rows[usize_of(rows.start)..usize_of(rows.end)] {
            let values: Vec<Value<'_>> = row.iter().map(Cell::value).collect();
            each(&values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[Column::text("term"), Column::count("count")];

    fn printed(rows: &[(&[u8], u64)], width: usize, styled: bool) -> String {
        let cells: Vec<Vec<Cell>> = rows
            .iter()
            .map(|(term, count)| vec![Cell::Text(term.to_vec()), Cell::Count(*count)])
            .collect();
        let layout = Layout::new(COLUMNS, &cells, width, styled);
        let mut bytes = Vec::new();
        layout.header(&mut bytes);
        for row in &cells {
            let values: Vec<Value<'_>> = row.iter().map(Cell::value).collect();
            layout.row(&values, &mut bytes);
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let rows: [(&[u8], u64); 5] = [
            ("日本".as_bytes(), 1_234_567),
            ("e\u{301}te\u{301}".as_bytes(), 600_000),
            (b"a\tb\x1b\xff", 1),
            (b"", 0),
            ("naïve".as_bytes(), 12),
        ];
        assert_eq!(
            printed(&rows, 40, false),
            "term              count
日本          1,234,567  ███████████████
e\u{301}te\u{301}             600,000  ███████▎
a\\tb\\x1b\\xff          1  ▏
                      0
naïve                12  ▏\n"
        );
    }

    #[test]
    fn lines_stay_within_the_terminal() {
        let long = "x".repeat(10_000);
        let wide_text = "日".repeat(500);
        let rows: [(&[u8], u64); 3] =
            [(long.as_bytes(), u64::MAX), (wide_text.as_bytes(), 5), (b"short", 4)];
        for width in [40, 60, 61, 80, 133] {
            let text = printed(&rows, width, false);
            assert_eq!(text.matches('…').count(), 2);
            let widest = text.lines().map(wide).max().unwrap();
            assert!(widest <= width && widest + 12 > width, "{widest} of {width}\n{text}");
            // The number's column ends at the same place in all lines.
            let ends: Vec<usize> =
                text.lines().map(|line| wide(line.trim_end_matches(['█', '▏', ' ']))).collect();
            assert!(ends.iter().all(|&end| end == ends[0]), "{ends:?}\n{text}");
        }
        // Narrower than the number: as narrow as it can be.
        assert!(printed(&rows, 10, false).lines().all(|line| wide(line) <= 8 + 2 + 26));
    }

    #[test]
    fn colours_are_asked_for() {
        let rows: [(&[u8], u64); 1] = [(b"a", 1)];
        assert!(!printed(&rows, 80, false).contains('\x1b'));
        let styled = printed(&rows, 80, true);
        assert!(styled.starts_with("\x1b[1mterm") && styled.contains("\x1b[36m█"));
        assert_eq!(anstream::adapter::strip_str(&styled).to_string(), printed(&rows, 80, false));
    }

    #[test]
    fn bars() {
        assert_eq!(bar(0, 9, 10), "");
        assert_eq!(bar(1, u64::MAX, 10), "▏");
        assert_eq!(bar(u64::MAX, u64::MAX, 3), "███");
        assert_eq!(bar(9, 3, 3), "███");
        assert_eq!(bar(1, 2, 3), "█▌");
    }

    #[test]
    fn reals_for_people() {
        let text = |value| shown(&Value::Real(value));
        assert_eq!(text(0.0), "0.0000");
        assert_eq!(text(1.23456), "1.2346");
        assert_eq!(text(-2.5e-7), "-2.500e-7");
        assert_eq!(text(1.7976931348623157e308), "1.798e308");
        assert_eq!(text(f64::NAN), "NaN");
        assert_eq!(text(f64::NEG_INFINITY), "-inf");
    }
}
