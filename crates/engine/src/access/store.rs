//! Adding an index to an archive, replacing the one it has, or taking it away.

use std::path::Path;

use tadoc_core::archive::{Archive, FastPart, Index, IndexWriter};

use super::build;
use super::segment::Segment;
use crate::corpus::{Corpus, OpenOptions};
use crate::error::Result;
use crate::progress::{Observer, Phase, step};
use crate::threads;

/// Checks that the index of an archive is what its grammars give. Decodes all segments.
pub(crate) fn check(corpus: &Corpus) -> Result<()> {
    let archive = corpus.archive();
    let index = archive.index();
    if index == Index::None {
        return Ok(());
    }
    for number in 0..archive.summary().segments.len() {
        let derived = Segment::load(corpus, number, Index::None)?;
        let (navigation, root) = derived.stored_parts()?;
        let mut holds = archive.navigation(number)? == *navigation;
        if index == Index::Fast {
            holds &= archive.mapped_root(number)? == *root
                && archive.word_documents(number)? == build::word_documents(&derived)?;
        }
        if !holds {
            return Err(tadoc_core::Error::malformed(format!(
                "the index of segment {number} is not that of its text; `tadoc index` makes a new one"
            ))
            .into());
        }
    }
    Ok(())
}

/// Writes an archive anew with this index and no other; gives its length. Written aside and renamed, so that at any moment there
/// is a whole archive; one that is open goes on with what it has. Memory: one segment, decoded and indexed.
pub fn store(path: impl AsRef<Path>, index: Index, observer: &dyn Observer) -> Result<u64> {
    store_with(path, &OpenOptions::new(), index, observer)
}

/// The same; `options` say how the archive is opened.
pub fn store_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    index: Index,
    observer: &dyn Observer,
) -> Result<u64> {
    threads::ready()?;
    // Edits stay behind what is stored, and the index is of that.
    let corpus = Corpus::stored(Archive::open_within(path.as_ref(), options.memory)?);
    let archive = corpus.archive();
    let mut writer = IndexWriter::create(archive)?;
    if index != Index::None {
        let summary = archive.summary();
        let mut done = 0;
        for (number, info) in summary.segments.iter().enumerate() {
            step(observer, Phase::Indexing, done, summary.text_bytes)?;
            done += info.text_bytes;
            let segment = Segment::load(&corpus, number, Index::None)?;
            let (navigation, root) = segment.stored_parts()?;
            let fast = match index {
                Index::Fast => {
                    let word_documents = build::word_documents(&segment)?;
                    Some(FastPart { root: root.clone(), word_documents })
                }
                _ => None,
            };
            writer.add_segment(number, navigation, fast.as_ref())?;
        }
    }
    Ok(writer.finish()?)
}
