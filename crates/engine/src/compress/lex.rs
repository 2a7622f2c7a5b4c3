//! Lexing batches on all threads, until as much as may be paired at a time is there.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use tadoc_core::archive::HASHED_PIECE;
use tadoc_core::usize_of;
use xxhash_rust::xxh64::xxh64;

use super::feed::{Batch, Feed, Text};
use super::{Split, Watch};
use crate::build::interner::{Interner, TokenList};
use crate::build::lexer::Lexer;
use crate::error::{Error, Result};
use crate::threads::{self, MOST_THREADS, spawn};

/// A batch, lexed by one of the threads.
struct LexedBatch {
    batch: Batch,
    thread: usize,
    tokens: Vec<u32>,
    pieces: Vec<Piece>,
    grown: Vec<PathBuf>,
    /// Some of the tokens that are new to the thread.
    sampled: Vec<SampledToken>,
}

/// A token by the hash of its bytes, and what it takes in a dictionary.
type SampledToken = (u64, u64);

/// A piece of a document.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) input: usize,
    /// Number of tokens.
    pub(super) tokens: u32,
    pub(super) bytes: u64,
    /// Hash of a piece by length that ends here.
    pub(super) hash: Option<u64>,
    /// The document ends with this piece.
    pub(super) ends: bool,
}

/// The tokens of a segment or of a part of one, as each thread numbered them.
pub(super) struct Lexed {
    pub(super) interners: Vec<TokenList>,
    /// Which thread's numbers, and the tokens; in the order of the text.
    pub(super) tokens: Vec<(usize, Vec<u32>)>,
    pub(super) pieces: Vec<Piece>,
    pub(super) grown: Vec<PathBuf>,
    /// The threads went further, so their dictionaries have tokens of what comes next.
    pub(super) overshot: bool,
    /// It ended because the memory did.
    pub(super) full: bool,
}

/// What fits into the memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    memory: u64,
    pub(crate) threads: usize,
    /// Threads that lex: fewer where their batches would leave too little for the segment.
    lexing: usize,
}

/// The most memory that is taken where it is not said how much there is.
const USUAL_MEMORY: u64 = 8 << 30;

/// A thread works for each so many bytes: it takes about half of that besides tokens and symbols, to pack words.
const MEMORY_PER_THREAD: u64 = 128 << 20;
/// What building a grammar takes for a token or symbol, at its peak. Measured: 20 to 28 bytes.
const BYTES_PER_TOKEN: u64 = 30;
/// Tokens are numbered with fewer bits while they are paired.
const MOST_TOKENS: u64 = 1 << 30;
/// Bytes that a token has in usual text, and tokens that become one symbol of a part at the least.
const TEXT_PER_TOKEN: u64 = 4;
const TOKENS_PER_SYMBOL: u64 = 2;
/// Dictionaries of up to one byte for each so many bytes of text are part of the estimate for the tokens.
const TEXT_PER_DICTIONARY_BYTE: u64 = 2;
/// Of the tokens one in so many is looked at to estimate what a dictionary takes.
const SAMPLE: u64 = 64;
/// What a token takes beside its bytes.
const BYTES_PER_ENTRY: u64 = 40;

impl Budget {
    /// What was asked for; where nothing was, what the machine has, within reason. Where it is little, fewer threads work.
    pub(crate) fn new(memory: Option<u64>, threads: Option<usize>) -> Result<Self> {
        let threads = match threads {
            Some(threads) => threads.clamp(1, MOST_THREADS),
            None => threads::default_count(),
        };
        let least = Self::least(1);
        let memory = memory.unwrap_or_else(|| super::available_memory(USUAL_MEMORY).max(2 * least));
        if memory < least {
            return Err(Error::TooLittleMemory { given: memory, least });
        }
        let working = usize_of(memory / MEMORY_PER_THREAD).max(1);
        let threads = threads.min(working);
        // While threads lex, tokens take less than they do later.
        let lexing = (1..=threads).rev().find(|&threads| Self::least(threads) <= memory / 4 * 3);
        Ok(Self { memory, threads, lexing: lexing.unwrap_or(1) })
    }

    /// How many symbols can be paired at a time.
    pub(crate) fn most_symbols(self) -> u64 {
        ((self.memory - Self::least(1)) / BYTES_PER_TOKEN).max(1)
    }

    /// The least that any work can be done with, by so many threads that lex.
    fn least(threads: usize) -> u64 {
        // Each thread holds a batch and its tokens, and the dictionaries have some room.
        (64 << 20) + threads as u64 * 10 * super::feed::BATCH
    }

    /// The longest line that can be a document: one batch has it as a whole.
    pub(super) fn longest_line(self) -> u64 {
        self.memory / 8
    }

    /// What text of so many bytes takes, about: memory at the most, and segments.
    pub(super) fn estimate(self, text: u64, is_united: bool) -> (u64, u64) {
        let tokens = text / TEXT_PER_TOKEN;
        let paired = if is_united { tokens / TOKENS_PER_SYMBOL } else { tokens };
        let memory =
            Self::least(self.lexing).saturating_add(tokens.saturating_mul(BYTES_PER_TOKEN));
        (memory.min(self.memory), paired.div_ceil(self.most_symbols()).max(1))
    }

    /// Whether no more text should be lexed before this is paired, beside parts that hold so much memory. It does not depend on threads.
    fn is_full(self, held: u64, tokens: u64, text: u64, dictionary: u64) -> bool {
        let spent = Self::least(1)
            + held
            + tokens * BYTES_PER_TOKEN
            + 3 * dictionary.saturating_sub(text / TEXT_PER_DICTIONARY_BYTE);
        spent >= self.memory || tokens >= MOST_TOKENS
    }

    /// Whether parts of so many symbols together, whose dictionaries take so much, can be united.
    pub(super) fn can_unite(self, symbols: u64, dictionaries: u64) -> bool {
        let spent = Self::least(1) + symbols * BYTES_PER_TOKEN + 3 * dictionaries;
        spent < self.memory && symbols < MOST_TOKENS
    }
}

/// Lexes batches from `feed` until the budget is used up, of which parts hold so much, or there are no more; `None` if there were none.
pub(super) fn lex(
    feed: &Mutex<Feed>,
    lexer: Lexer,
    split: Split,
    budget: Budget,
    held: u64,
    watch: &Watch<'_>,
) -> Result<Option<Lexed>> {
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::sync_channel::<Result<LexedBatch>>(budget.lexing);
    let mut done: BTreeMap<u64, LexedBatch> = BTreeMap::new();
    let mut lexed = Lexed {
        interners: Vec::new(),
        tokens: Vec::new(),
        pieces: Vec::new(),
        grown: Vec::new(),
        overshot: false,
        full: false,
    };
    let mut failure = None;
    let mut next = feed.lock().expect("no thread panics with the lock").position();
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(budget.lexing);
        for thread in 0..budget.lexing {
            let (sender, stop) = (sender.clone(), &stop);
            match spawn(scope, move || work(thread, feed, lexer, split, stop, &sender)) {
                Ok(started) => threads.push(started),
                // Those that were started do all the work.
                Err(_) if thread > 0 => break,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        drop(sender);
        let (mut tokens, mut text) = (0_u64, 0_u64);
        // Whatever thread has seen them, all sampled tokens of the text so far are among these.
        let (mut sampled, mut dictionary) = (HashSet::new(), 0_u64);
        for result in receiver {
            match result.and_then(|batch| watch.check().map(|()| batch)) {
                Ok(batch) => {
                    done.insert(batch.batch.number, batch);
                }
                Err(error) => {
                    failure.get_or_insert(error);
                    stop.store(true, Ordering::Relaxed);
                    continue;
                }
            }
            // Batches count in the order of the text, whichever thread was faster.
            while !lexed.full
                && let Some(batch) = done.remove(&next)
            {
                next += 1;
                tokens += batch.tokens.len() as u64;
                text += batch.pieces.iter().map(|piece| piece.bytes).sum::<u64>();
                for (hash, bytes) in batch.sampled {
                    if sampled.insert(hash) {
                        dictionary += bytes * SAMPLE;
                    }
                }
                watch.lexed_pieces(&batch.pieces);
                lexed.tokens.push((batch.thread, batch.tokens));
                lexed.pieces.extend(batch.pieces);
                lexed.grown.extend(batch.grown);
                // Without a piece it is no segment: empty inputs have no lines.
                lexed.full =
                    !lexed.pieces.is_empty() && budget.is_full(held, tokens, text, dictionary);
                if lexed.full {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
        lexed.interners = threads
            .into_iter()
            .map(|thread| thread.join().expect("lexing does not panic").into_tokens())
            .collect();
    });
    if let Some(error) = failure {
        return Err(error);
    }
    lexed.overshot = !done.is_empty();
    let returned = done.into_values().map(|batch| batch.batch).collect();
    feed.lock().expect("no thread panics with the lock").give_back(returned);
    Ok((!lexed.pieces.is_empty()).then_some(lexed))
}

/// What each thread does: takes batches and lexes them. Gives its dictionary.
fn work(
    thread: usize,
    feed: &Mutex<Feed>,
    lexer: Lexer,
    split: Split,
    stop: &AtomicBool,
    sender: &mpsc::SyncSender<Result<LexedBatch>>,
) -> Interner {
    let mut interner = Interner::default();
    while !stop.load(Ordering::Relaxed) {
        let batch = feed.lock().expect("no thread panics with the lock").next();
        let lexed = match batch {
            Ok(None) => break,
            Ok(Some(batch)) => lex_batch(batch, thread, lexer, split, &mut interner),
            Err(error) => Err(error),
        };
        let failed = lexed.is_err();
        if sender.send(lexed).is_err() || failed {
            break;
        }
    }
    interner
}

fn lex_batch(
    batch: Batch,
    thread: usize,
    lexer: Lexer,
    split: Split,
    interner: &mut Interner,
) -> Result<LexedBatch> {
    let mut tokens = Vec::new();
    let mut pieces = Vec::new();
    let mut grown = Vec::new();
    let known = interner.len() as u32;
    batch.content.read(|text| {
        let Text { input, bytes, hash, ends, grew } = text;
        grown.extend(grew);
        let mut lex = |bytes: &[u8]| {
            let before = tokens.len();
            let mut start = 0;
            lexer.tokens(bytes, |end, kind| {
                tokens.push(interner.intern(bytes, start, end, kind));
                start = end;
            });
            (tokens.len() - before) as u32
        };
        match split {
            Split::Files => {
                let tokens = lex(&bytes);
                pieces.push(Piece { input, tokens, bytes: bytes.len() as u64, hash, ends });
            }
            Split::Lines => {
                for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                    // A line that is longer than a hashed piece has several hashes.
                    let mut hashed = line.chunks(HASHED_PIECE as usize);
                    let last = hashed.next_back().expect("a line is not empty");
                    pieces.extend(hashed.map(|piece| Piece {
                        input,
                        tokens: 0,
                        bytes: 0,
                        hash: Some(xxh64(piece, 0)),
                        ends: false,
                    }));
                    pieces.push(Piece {
                        input,
                        tokens: lex(line),
                        bytes: line.len() as u64,
                        hash: Some(xxh64(last, 0)),
                        ends: true,
                    });
                }
            }
        }
        Ok(())
    })?;
    let new = (known..interner.len() as u32).map(|token| interner.token(token));
    let sampled = new
        .map(|bytes| (xxh64(bytes, 0), bytes.len() as u64 + BYTES_PER_ENTRY))
        .filter(|(hash, _)| hash.is_multiple_of(SAMPLE))
        .collect();
    Ok(LexedBatch { batch, thread, tokens, pieces, grown, sampled })
}
