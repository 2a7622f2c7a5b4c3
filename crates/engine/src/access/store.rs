//! Adding an index to an archive, replacing the one it has, or taking it away.

use std::path::Path;

use tadoc_core::archive::{FastPart, Index, IndexWriter};

use super::build;
use super::segment::Segment;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::progress::{Observer, Phase, step};

/// Writes an archive anew with this index and no other; gives its length. Written aside and renamed, so that at any moment there
/// is a whole archive; one that is open goes on with what it has. Memory: one segment, decoded and indexed.
pub fn store(path: impl AsRef<Path>, index: Index, observer: &dyn Observer) -> Result<u64> {
    let corpus = Corpus::open(path)?;
    let archive = corpus.archive();
    let mut writer = IndexWriter::create(archive)?;
    if index != Index::None {
        let total = archive.summary().segments.len();
        for number in 0..total {
            let segment = Segment::load(archive, number, Index::None)?;
            let (navigation, root) = segment.stored_parts()?;
            let fast = match index {
                Index::Fast => {
                    let word_documents = build::word_documents(&segment)?;
                    Some(FastPart { root: root.clone(), word_documents })
                }
                _ => None,
            };
            writer.add_segment(number, navigation, fast.as_ref())?;
            step(observer, Phase::Indexing, number as u64 + 1, total as u64)?;
        }
    }
    Ok(writer.finish()?)
}
