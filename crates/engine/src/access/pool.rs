//! Random access out of a pool: everything that operations read is mapped from it.
//!
//! A segment is a block of the phase `segments`, the only one of its chain: its index as a fast one has it, and its tokens unpacked. Segments
//! are made one after the other, each on all threads, so that no more than one is in memory; what is stored of an index is copied, and what is not
//! is derived. Then no operation decodes anything or holds anything of a segment but bits that lead to long lengths, and an archive may
//! be far larger than memory. A segment is checked when it is first needed, and made again if it is damaged; others are not read.

use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;
use tadoc_core::Array;
use tadoc_core::archive::{Index, sections};
use tadoc_pool::work::{BlockBuilder, LateBlock, LateBlocks};
use tadoc_pool::{Chain, Patience, Persist, Resumption};

use super::segment::Segment;
use super::tokens::TokenStore;
use super::unpacked::{FirstTokens, Unpacked};
use super::{Access, Source};
use crate::SegmentInfo;
use crate::backend::open_pool;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::threads;

/// The phase that makes all there is.
const SEGMENTS: &str = "segments";

/// What the sections of a block are, as a number: another one where they are others.
const KEY: u64 = 2;

impl Access {
    /// Opens an archive for random access in the pool of this file: what is not in it yet is put there, in the place of the tables of a task. Says what
    /// was there. The pool is held until the access is dropped; if another process holds it, it is waited for.
    ///
    /// # Errors
    /// What the archive gives, and what is wrong with the pool.
    pub fn in_pool(
        corpus: &Corpus,
        path: &Path,
        persist: Persist,
        patience: Patience,
    ) -> Result<(Self, Resumption)> {
        let pool = open_pool(path, &[corpus], patience)?;
        let chain = Chain { name: "random access".into(), key: KEY };
        let segments = corpus.summary().segments.len();
        let blocks =
            LateBlocks::new(pool, &chain, persist, SEGMENTS, segments, |number, block| {
                put_segment(corpus, number, block)
            })?;
        let found = blocks.resumption();
        Ok((Self::new(corpus, Source::Pool(Box::new(blocks)), Index::Fast)?, found))
    }

    /// Segments that were found damaged in the pool since it was opened, and were made again.
    pub fn made_again(&self) -> Vec<usize> {
        match &self.source {
            Source::Archive(_) => Vec::new(),
            Source::Pool(blocks) => blocks.made_again(),
        }
    }
}

/// A segment where its block lies.
pub(super) fn segment(corpus: &Corpus, blocks: &LateBlocks, number: usize) -> Result<Segment> {
    let make = |block: &mut BlockBuilder<'_>| {
        // Other threads may wait for this segment, so they cannot help to make it.
        std::thread::scope(|scope| {
            let count = rayon::current_num_threads();
            let making = threads::spawn(scope, move || {
                threads::pool(Some(count))?.install(|| put_segment(corpus, number, block))
            })?;
            making.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    };
    let block = blocks.block(number, make)?;
    if has_sections(&block)
        && let Ok(segment) = map_segment(corpus, number, &block)
    {
        return Ok(segment);
    }
    // It has its checksum and is no segment of this archive: it is as good as damaged.
    let block = blocks.instead_of(&block, number, make)?;
    map_segment(corpus, number, &block)
}

/// Whether a block has all sections of [`put_segment`].
fn has_sections(block: &LateBlock) -> bool {
    block.has::<u64>(0)
        && (1..5).all(|section| block.has::<u8>(section))
        && block.has::<u32>(5)
        && block.has::<u64>(6)
        && block.has::<u32>(7)
}

/// How much of everything a segment has. The figures of an archive are not those of a segment that
/// edits have touched.
fn figures(segment: &SegmentInfo) -> [u64; 7] {
    [
        segment.documents,
        segment.text_bytes,
        segment.token_types,
        segment.words,
        segment.rules,
        segment.symbols,
        segment.root_symbols,
    ]
}

/// Puts a segment into a block: its figures, what the sections `NAVI`, `SYMR` and `DOCW` of a fast
/// index have, and its tokens unpacked: their bytes and ends, and which of them begin a word.
fn put_segment(corpus: &Corpus, number: usize, block: &mut BlockBuilder<'_>) -> Result<()> {
    let segment = Segment::load(corpus, number, Index::Fast)?;
    segment.derive_word_documents()?;
    let (navigation, root) = segment.stored_parts()?;
    let tokens = segment.tokens();
    let own = SegmentInfo {
        token_types: segment.token_count().into(),
        words: tokens.word_count().into(),
        rules: segment.rule_count().into(),
        symbols: (navigation.bodies.len() + root.len()) as u64,
        root_symbols: root.len() as u64,
        ..corpus.summary().segments[number]
    };
    block.put(&figures(&own));
    let spill = corpus.budget().spill();
    block.put(&sections::write_navigation(navigation, spill));
    block.put(&sections::write_root(root, spill));
    let word_documents = segment.word_documents().expect("just derived");
    block.put(&sections::write_word_documents(word_documents, spill));
    let (bytes, ends) = tokens.all()?.parts();
    block.put(bytes);
    block.put(ends);
    let firsts = tokens.map_words(|_, tokens| Some(tokens.start))?;
    let firsts = FirstTokens::new(tokens.word_token_count(), &firsts);
    let (marks, before) = firsts.parts();
    block.put(marks);
    block.put(before);
    Ok(())
}

/// A segment whose rows are the sections of its block, if they are those of one with as many
/// documents and as much text as that of the archive. Nothing is decoded, copied or held on the
/// heap. Cost: a pass over the rows, which checks that none leads out of another.
fn map_segment(corpus: &Corpus, number: usize, block: &Arc<LateBlock>) -> Result<Segment> {
    let segment = &corpus.summary().segments[number];
    let kept: Array<u64> = row(block, 0);
    let &[documents, text_bytes, token_types, words, rules, symbols, root_symbols] = &kept[..]
    else {
        return Err(Error::malformed("a kept segment has other figures"));
    };
    if [documents, text_bytes] != [segment.documents, segment.text_bytes]
        || [token_types, rules].iter().any(|&count| count > u32::MAX.into())
    {
        return Err(Error::malformed("a kept segment is not that of the archive"));
    }
    let own = SegmentInfo { token_types, words, rules, symbols, root_symbols, ..*segment };
    let ((navigation, tokens), (root, word_documents)) = rayon::join(
        || {
            rayon::join(
                || sections::read_navigation(row(block, 1), &own),
                || Unpacked::from_parts(row(block, 4), row(block, 5), token_types),
            )
        },
        || {
            rayon::join(
                || sections::read_root(row(block, 2), &own),
                || sections::read_word_documents(row(block, 3), &own),
            )
        },
    );
    let navigation = navigation?;
    // Those without newlines of their own are those that have a word.
    let word_tokens = token_types - navigation.separator_newlines.len() as u64;
    let firsts = FirstTokens::from_parts(row(block, 6), row(block, 7), word_tokens, words)?;
    let tokens = TokenStore::elsewhere(tokens?, firsts);
    Ok(Segment::mapped(corpus, number, navigation, root?, word_documents?, tokens))
}

fn row<T: Pod + Send + Sync>(block: &Arc<LateBlock>, section: usize) -> Array<T> {
    Array::Shared(Arc::new(Row { block: block.clone(), section }))
}

/// A section of a block.
struct Row {
    block: Arc<LateBlock>,
    section: usize,
}

impl<T: Pod> AsRef<[T]> for Row {
    fn as_ref(&self) -> &[T] {
        self.block.section(self.section)
    }
}
