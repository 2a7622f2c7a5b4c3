//! Whether two answers have the same rows.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_engine::answer::{Answer, Labels, Position, Rows, Value};

/// Rows that a thread compares at a time.
const ROWS_AT_ONCE: u64 = 1 << 14;

/// The first difference between an answer that is given in one part and another one; `None` if there is none.
pub fn difference(
    found: &dyn Answer,
    expected: &dyn Answer,
    labels: Labels<'_>,
) -> tadoc_core::Result<Option<String>> {
    let found = found.next_part(&mut Position::default(), labels)?;
    let length = found.as_ref().map_or(0, |found| found.len());
    let mut at = Position::default();
    let mut before = 0;
    while let Some(part) = expected.next_part(&mut at, labels)? {
        let told = found.as_ref().and_then(|found| part_differs(&**found, before, &*part));
        if told.is_some() {
            return Ok(told);
        }
        before += part.len();
    }
    Ok((before != length).then(|| format!("{length} rows, and {before} are right")))
}

/// The first row of a part that is not the same.
fn part_differs(found: &dyn Rows, before: u64, part: &dyn Rows) -> Option<String> {
    let most = part.len().min(found.len().saturating_sub(before));
    let starts: Vec<u64> = (0..most).step_by(ROWS_AT_ONCE as usize).collect();
    starts.into_par_iter().find_map_first(|start| {
        let rows = start..most.min(start + ROWS_AT_ONCE);
        let one = written(found, before + rows.start..before + rows.end);
        let other = written(part, rows.clone());
        if one == other {
            return None;
        }
        let (one, other) = (String::from_utf8_lossy(&one), String::from_utf8_lossy(&other));
        let pairs = one.lines().zip(other.lines()).enumerate();
        let first = pairs.into_iter().find(|(_, (one, other))| one != other);
        let (place, (one, other)) = first?;
        Some(format!("row {}: {one}, and {other} is right", before + start + place as u64))
    })
}

/// Rows as lines.
fn written(rows: &dyn Rows, range: Range<u64>) -> Vec<u8> {
    let mut lines = Vec::new();
    rows.visit(range, &mut |values| {
        for value in values {
            match value {
                Value::Text(text) => lines.extend_from_slice(text),
                Value::Terms(terms) => lines.extend_from_slice(&terms.join(&b' ')),
                Value::Count(count) => lines.extend_from_slice(count.to_string().as_bytes()),
                Value::Real(real) => lines.extend_from_slice(real.to_string().as_bytes()),
                Value::Time(_) => unreachable!("tasks have no times"),
            }
            lines.push(b'\t');
        }
        lines.push(b'\n');
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use tadoc_core::Terms;
    use tadoc_core::answer::tables::{CountTable, Keys, Table, TableAnswer};

    #[test]
    fn rows_are_compared() {
        let terms = Terms::new(b"ab".to_vec(), vec![1, 2]).unwrap();
        let labels = Labels { terms: terms.texts(), documents: Default::default() };
        let answer = |keys: &[u32], counts: &[u64]| {
            let keys = Keys::Terms(keys.to_vec());
            TableAnswer::new(Table::Counts(CountTable { keys, counts: counts.to_vec() }), [].into())
        };
        let told =
            |found: &TableAnswer| difference(found, &answer(&[0, 1], &[3, 2]), labels).unwrap();
        assert_eq!(told(&answer(&[0, 1], &[3, 2])), None);
        let wrong = told(&answer(&[0, 1], &[3, 4])).unwrap();
        assert!(wrong.starts_with("row 1: b\t4"), "{wrong}");
        assert_eq!(told(&answer(&[0], &[3])).unwrap(), "1 rows, and 2 are right");
    }
}
