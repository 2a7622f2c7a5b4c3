//! A shorter and a longer text of the same kinds: the beginnings of several corpora, put together.

use std::fs;

use anyhow::{Result, bail};

use super::operations::Kind;
use super::result::{CorpusResult, Growth};
use crate::corpus::Corpus;
use crate::paths;
use crate::units::MB;

/// Makes two corpora of about so many bytes, each with the same part of every corpus.
pub fn parts(corpora: &[Corpus], shorter: u64, longer: u64) -> Result<[Corpus; 2]> {
    let total: u64 = corpora.iter().map(Corpus::bytes).sum();
    if shorter >= longer {
        bail!("the first length of --scale is the shorter one");
    }
    if total < longer {
        bail!(
            "the corpora have {:.0} MB of text together, fewer than the {:.0} MB to measure",
            total as f64 / MB,
            longer as f64 / MB
        );
    }
    clear()?;
    let make = |name: &str, bytes: u64| {
        Corpus::part_of_all(corpora, bytes, &paths::work("access")?.join(name))
    };
    Ok([make("shorter", shorter)?, make("longer", longer)?])
}

/// Removes what [`parts`] has made.
pub fn clear() -> Result<()> {
    for name in ["shorter", "longer"] {
        let folder = paths::work("access")?.join(name);
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    Ok(())
}

/// How much longer operations take on the second of two corpora. Searches over all documents are compared by the offset:
/// a longer text has more of them.
pub fn growth(results: &[CorpusResult]) -> Vec<Growth> {
    let [shorter, longer] = results else { return Vec::new() };
    let mut all = Vec::new();
    for (one, other) in shorter.indexes.iter().zip(&longer.indexes) {
        for kind in Kind::ALL {
            let nanoseconds = |index: &super::result::IndexResult| {
                let batch = index.batch(kind, 1)?;
                let speed = match kind {
                    Kind::SearchInAll => batch.offset_speed(),
                    _ => batch.speed(),
                };
                Some(1e9 / speed)
            };
            if let (Some(shorter), Some(longer)) = (nanoseconds(one), nanoseconds(other)) {
                all.push(Growth { index: one.index.clone(), kind, shorter, longer });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::corpus;
    use super::*;

    #[test]
    fn growth_is_that_of_an_operation() {
        let shorter = corpus("shorter", [100.0, 1.0, 1.0, 1.0, 50.0, 1.0]);
        let longer = corpus("longer", [150.0, 1.0, 1.0, 1.0, 50.0, 1.0]);
        let growth = growth(&[shorter, longer]);
        // Of every kind with two indexes.
        assert_eq!(growth.len(), 12);
        assert!((growth[0].shorter - 100.0).abs() < 1e-6 && (growth[0].ratio() - 1.5).abs() < 1e-9);
        // Two offsets an operation.
        assert!((growth[4].shorter - 25.0).abs() < 1e-6);
    }
}
