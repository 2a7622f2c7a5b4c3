//! Random access out of a pool: everything that operations read is mapped from it.
//!
//! A segment is a block of the phase `segments`, the only one of its chain: its index as a fast one has it, and its tokens unpacked. Segments
//! are made one after the other, each on all threads, so that no more than one is in memory; what is stored of an index is copied, and what is not
//! is derived. Then no operation decodes anything or holds anything of a segment but bits that lead to long lengths, and an archive may
//! be far larger than memory.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use tadoc_core::Array;
use tadoc_core::archive::{Index, sections};
use tadoc_pool::work::{BlockBuilder, Blocks, Work};
use tadoc_pool::{Chain, Persist, Pool, Resumption};

use super::Access;
use super::kept::{KeptSegment, figures};
use super::segment::Segment;
use super::unpacked::FirstTokens;
use crate::SegmentInfo;
use crate::corpus::Corpus;
use crate::error::{Error, Result};

/// The phase that makes all there is.
const SEGMENTS: &str = "segments";

/// What the sections of a block are, as a number: another one where they are others.
const KEY: u64 = 1;

impl<'c> Access<'c> {
    /// Opens an archive for random access in the pool of this file: what is not in it yet is put there, in the place of the tables of a task. Says what
    /// was there. The pool is held until the access is dropped.
    ///
    /// # Errors
    /// What the archive gives, and what is wrong with the pool.
    pub fn in_pool(
        corpus: &'c Corpus,
        path: &Path,
        persist: Persist,
    ) -> Result<(Self, Resumption)> {
        let mut pool = Pool::open(path, corpus.archive().fingerprint())?;
        let chain = Chain { base: false, name: "random access".into(), key: KEY };
        // One segment at a time is in memory, whatever is allowed.
        let mut work = pool.work(&chain, persist, 0)?;
        let access = Self::in_work(corpus, &mut work)?;
        Ok((access, work.resumption().clone()))
    }

    fn in_work(corpus: &'c Corpus, work: &mut Work<'_>) -> Result<Self> {
        let segments = corpus.summary().segments.len();
        let threads = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
        let threads = threads.build().map_err(|error| Error::Io {
            path: "threads".into(),
            source: std::io::Error::other(error),
        })?;
        // Whoever waits for the turn must not wait in the threads that do the work.
        let turn = Mutex::new(());
        let failed = Mutex::new(None);
        let blocks = work.append(SEGMENTS, segments, |number, block| {
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let made = std::thread::scope(|scope| {
                let making = scope.spawn(|| threads.install(|| put_segment(corpus, number, block)));
                making.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            made.map_err(|error| {
                let told = tadoc_pool::Error::Unsupported { what: error.to_string() };
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                told
            })
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let blocks = Arc::new(blocks?);
        Self::with_kept(corpus, (0..segments).map(|number| kept_segment(&blocks, number)).collect())
    }
}

/// Puts a segment into a block: the sections of [`kept_segment`], in order.
fn put_segment(corpus: &Corpus, number: usize, block: &mut BlockBuilder) -> Result<()> {
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
    block.put(&sections::write_navigation(navigation));
    block.put(&sections::write_root(root));
    let word_documents = segment.word_documents().expect("just derived");
    block.put(&sections::write_word_documents(word_documents));
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

/// A segment where its block lies.
fn kept_segment(blocks: &Arc<Blocks>, block: usize) -> KeptSegment {
    KeptSegment {
        figures: row(blocks, block, 0),
        navigation: row(blocks, block, 1),
        root: row(blocks, block, 2),
        word_documents: row(blocks, block, 3),
        token_bytes: row(blocks, block, 4),
        token_ends: row(blocks, block, 5),
        first_tokens: row(blocks, block, 6),
        words_before: row(blocks, block, 7),
    }
}

fn row<T: Pod + Send + Sync>(blocks: &Arc<Blocks>, block: usize, section: usize) -> Array<T> {
    Array::Shared(Arc::new(Row { blocks: blocks.clone(), block, section }))
}

/// A section of a block.
struct Row {
    blocks: Arc<Blocks>,
    block: usize,
    section: usize,
}

impl<T: Pod> AsRef<[T]> for Row {
    fn as_ref(&self) -> &[T] {
        self.blocks.section(self.block, self.section)
    }
}
