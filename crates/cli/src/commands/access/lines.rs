//! Lines as people ask for them: `10:20`, `10:`, `:20`, `15`, and `-5:` for the last five.

use std::ops::Range;

use tadoc::Document;

/// Which lines of a document are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    first: Bound,
    last: Bound,
}

/// A line, counted from 1; below zero from the end, where -1 is the last line.
type Bound = i64;

impl Lines {
    /// The first so many lines.
    pub fn first(count: u64) -> Self {
        // Of none, the last one is the one before the first.
        Self { first: 1, last: i64::try_from(count).unwrap_or(i64::MAX) }
    }

    /// The bytes of these lines of a document; an empty range where it has none of them.
    pub fn range(&self, document: &Document) -> tadoc::Result<Range<u64>> {
        let count = match self.first < 0 || self.last < 0 {
            true => document.line_count()?,
            false => 0,
        };
        let lines = self.resolve(count);
        let start = document.line_start(lines.start)?;
        let end = match lines.end {
            u64::MAX => document.bytes(),
            line => document.line_start(line)?,
        };
        Ok(start..end.max(start))
    }

    /// The lines counted from 0, of a document that has `count` lines; these matter for bounds below zero only.
    fn resolve(&self, count: u64) -> Range<u64> {
        let before = |bound: Bound| match bound {
            0.. => bound.unsigned_abs(),
            below => (count + 1).saturating_sub(below.unsigned_abs()),
        };
        let start = before(self.first).saturating_sub(1);
        let end = if self.last == i64::MAX { u64::MAX } else { before(self.last) };
        start..end.max(start)
    }
}

impl std::str::FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "expected lines such as 10:20, 10:, :20 or 15 (the first is 1, -1 is the last), found {text:?}"
            )
        };
        let bound = |part: &str, without: Bound| match part {
            "" => Ok(without),
            part => part.parse::<Bound>().ok().filter(|&line| line != 0).ok_or_else(wrong),
        };
        match text.split_once(':') {
            Some((first, last)) => {
                Ok(Self { first: bound(first, 1)?, last: bound(last, i64::MAX)? })
            }
            None if text.is_empty() => Err(wrong()),
            None => {
                let line = bound(text, 1)?;
                Ok(Self { first: line, last: line })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one_and_from_the_end() {
        let of_ten = |text: &str| text.parse::<Lines>().unwrap().resolve(10);
        assert_eq!(of_ten("3:5"), 2..5);
        assert_eq!(of_ten("3:"), 2..u64::MAX);
        assert_eq!(of_ten(":5"), 0..5);
        assert_eq!(of_ten("7"), 6..7);
        assert_eq!(of_ten(":"), 0..u64::MAX);
        assert_eq!(of_ten("-3:"), 7..u64::MAX);
        assert_eq!(of_ten("-3:-2"), 7..9);
        assert_eq!(of_ten("-1"), 9..10);
        assert_eq!(of_ten("2:-1"), 1..10);
        // More than there are, and none.
        assert_eq!(of_ten("-99:2"), 0..2);
        assert_eq!(of_ten("5:3"), 4..4);
        assert_eq!(of_ten("-99:-98"), 0..0);
        assert_eq!(Lines::first(0).resolve(0), 0..0);
        assert_eq!(Lines::first(u64::MAX).resolve(0), 0..u64::MAX);
        assert_eq!("-1".parse::<Lines>().unwrap().resolve(0), 0..0);
    }

    #[test]
    fn what_is_no_line() {
        for wrong in ["", "0", "0:3", "1:0", "a", "1-2", "1:2:3", "1.5", "99999999999999999999"] {
            assert!(wrong.parse::<Lines>().is_err(), "{wrong}");
        }
    }
}
