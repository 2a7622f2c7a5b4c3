//! From the keys of documents to the documents of keys, in far less memory than there are entries.
//!
//! Keys are cut into ranges, the *buckets*. In the first phase every operation of a [`Plan`] walks its documents and writes a block in which
//! entries stand by bucket, and within a bucket by document. In the second one an operation takes one bucket: it reads its
//! stretch of every block, which is in the order of documents already, and puts the entries by key. So the pool is written and read in long stretches, and
//! memory holds the documents of an operation, or the entries of a bucket.
//!
//! Cost: every entry is written and read once, and put in order by counting where keys are numbers, else by sorting. Size: a key an entry (with its
//! count, if wanted), and 8 bytes for every document and bucket that have entries together.

use rayon::prelude::*;

use crate::Result;
use crate::entry::{Count, Entry, Key};
use crate::walk::{Emit, Walkers};
use crate::work::{Blocks, Work};

/// Sections of a block: where the runs and the entries of each bucket end; runs, which are a document and where its entries end; keys; counts, if
/// they are wanted.
const ENDS: usize = 0;
const RUNS: usize = 1;
const KEYS: usize = 2;
const COUNTS: usize = 3;

/// The entries of all documents, by bucket.
#[derive(Debug)]
pub struct Transposition<K> {
    blocks: Blocks,
    /// The first key of every bucket but the first.
    firsts: Vec<K>,
    counted: bool,
}

/// Keys with the documents that have them.
#[derive(Debug)]
pub struct Postings<K: Key> {
    /// The keys, ascending.
    pub keys: Vec<K>,
    /// Where the documents of each key end.
    pub ends: Vec<u64>,
    /// Documents by place, ascending for each key.
    pub documents: Vec<u32>,
    /// How often the document has the key; none where counts are not wanted.
    pub counts: Vec<K::Count>,
}
