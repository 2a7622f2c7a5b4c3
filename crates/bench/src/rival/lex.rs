//! Lexing on all threads: every word becomes a number of the thread's own, and a sink keeps of these numbers
//! what the task needs.
//!
//! Threads take units of about 256 KiB from a common list (or blocks of a stream as they come), so that many
//! small documents and one large document are balanced alike.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use tadoc_engine::Lexer;

use super::cut;
use super::intern::{BATCH, Interner};
use super::tar::{self, Block};
use super::text::Text;

/// Names of documents.
pub type Names = Vec<Vec<u8>>;

/// What a thread keeps of the words that it met.
pub trait Sink: Default + Send {
    /// Takes the words of a document, or of a part of it, as the thread's numbers, all of which are below
    /// `distinct`.
    fn take(&mut self, document: u32, part: u32, ids: &[u32], distinct: usize);

    /// Called once after everything was taken.
    fn finish(&mut self) {}
}

/// A thread's words, and what was kept of them.
#[derive(Default)]
pub struct Lexed<S> {
    pub interner: Interner,
    pub sink: S,
}

/// A thread at work.
struct Worker<S> {
    lexer: Lexer,
    lexed: Lexed<S>,
    words: Vec<(u32, u32)>,
    ids: Vec<u32>,
}

impl<S: Sink> Worker<S> {
    fn new(lexer: Lexer) -> Self {
        let lexed = Lexed { interner: Interner::default(), sink: S::default() };
        Self { lexer, lexed, words: Vec::with_capacity(BATCH), ids: Vec::new() }
    }

    fn lex(&mut self, document: u32, part: u32, text: &[u8]) {
        assert!(u32::try_from(text.len()).is_ok(), "4 GiB without a space are no text");
        let Lexed { interner, sink } = &mut self.lexed;
        let (words, ids) = (&mut self.words, &mut self.ids);
        ids.clear();
        cut::words(self.lexer, text, words, BATCH, |words| {
            interner.intern(text, words, ids);
            words.clear();
        });
        sink.take(document, part, ids, interner.len());
    }

    fn finish(mut self) -> Lexed<S> {
        self.lexed.sink.finish();
        self.lexed
    }
}

/// Lexes a text; the answer has an entry for each thread.
pub fn text<S: Sink>(text: &Text, lexer: Lexer, threads: usize) -> Result<Vec<Lexed<S>>> {
    let units = text.units(lexer);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = Worker::new(lexer);
        let mut buffer = Vec::new();
        while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            text.visit(unit.clone(), &mut buffer, |document, part, bytes| {
                worker.lex(document as u32, part, bytes);
            })?;
        }
        Ok(worker.finish())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Lexes a tar stream while it is read; also gives the names of its documents, which are numbered as they
/// come.
pub fn stream<S: Sink>(
    stream: impl std::io::Read,
    lexer: Lexer,
    threads: usize,
) -> Result<(Names, Vec<Lexed<S>>)> {
    // As many blocks as keep all threads busy while one is filled.
    let (filled, take) = mpsc::sync_channel::<Block>(threads);
    let (give_back, empty) = mpsc::channel::<Block>();
    let take = Mutex::new(take);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (take, give_back) = (&take, give_back.clone());
                scope.spawn(move || {
                    let mut worker = Worker::new(lexer);
                    loop {
                        let block = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok(mut block) = block else { return worker.finish() };
                        let mut start = 0;
                        for piece in block.pieces.drain(..) {
                            worker.lex(piece.document, piece.part, &block.bytes[start..piece.end]);
                            start = piece.end;
                        }
                        block.bytes.clear();
                        // The reader may have come to its end.
                        let _ = give_back.send(block);
                    }
                })
            })
            .collect();
        let names = tar::read(stream, |block| {
            let _ = filled.send(block);
            empty.try_recv().unwrap_or_default()
        });
        drop(filled);
        let lexed = workers.into_iter().map(|worker| worker.join().expect("no panic")).collect();
        Ok((names?, lexed))
    })
}
