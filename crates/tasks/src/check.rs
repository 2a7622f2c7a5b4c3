//! What the checks of phases are made of: whether rows that were found in a pool can be read without a look at
//! each number. Every one is a pass over its row.

/// Whether places do not descend and end with a row of so many entries: then each is an end of a part of it.
pub(crate) fn are_ends(ends: impl IntoIterator<Item = u64>, entries: usize) -> bool {
    let mut last = 0;
    for end in ends {
        if end < last {
            return false;
        }
        last = end;
    }
    last == entries as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_ascend_to_the_last_entry() {
        for (ends, entries, expected) in [
            (&[][..], 0, true),
            (&[], 1, false),
            (&[0, 0, 3, 3], 3, true),
            (&[2, 1, 3], 3, false),
            (&[1, 4], 3, false),
            (&[u64::MAX], 3, false),
        ] {
            assert_eq!(are_ends(ends.iter().copied(), entries), expected, "{ends:?}");
        }
    }
}
