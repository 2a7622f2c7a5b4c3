//! Ways over a grammar: what every task is made of, and what you write your own on.
//!
//! - **Top-down**, weights go from the root to the rules: [`occurrences`] gives how often every rule and
//!   every item occurs, in all documents or in a stretch of the root; [`map_documents`] goes over documents, with a
//!   [`Walker`] that gives the items of each and looks at nothing but the rules that the document uses.
//! - **Bottom-up**, tables go from the rules to the root: [`Tables`] has for rules the items that they expand to, in one
//!   allocation whose size is known before; [`fold`] computes any value of a rule from the values of its
//!   symbols.
//! - **Postings**: [`Postings`] turns the items of documents round to the documents of items.
//! - **Borders**: [`Borders`] has the first and last items of every rule, so that what crosses from one symbol
//!   to the next can be seen without expanding either.
//!
//! All of them take a [`Network`], on the rayon pool that they are called in, and give
//! the same results on any number of threads.
//!
//! ```
//! # fn main() -> tadoc_engine::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("corpus.tdc");
//! # let text = b"to be or not to be".to_vec();
//! # let input = tadoc_engine::Input::new("hamlet.txt", tadoc_engine::Source::Bytes(text));
//! # tadoc_engine::compress(vec![input], &path, &tadoc_engine::CompressOptions::default(), &())?;
//! use tadoc_engine::analyzer::Analyzer;
//!
//! let corpus = tadoc_engine::Corpus::open(&path)?;
//! let view = tadoc_engine::view::make(&[&corpus], &Analyzer::new(), None, &())?;
//! let counts = tadoc_engine::traverse::occurrences(view.network(), ..).items;
//! let be = view.terms().find(b"be").unwrap();
//! assert_eq!(counts[be as usize], 2);
//! # Ok(())
//! # }
//! ```

mod borders;
mod documents;
mod ordered_set;
mod postings;
mod tables;
mod weights;

pub use borders::Borders;
pub(crate) use documents::is_dense;
pub use documents::{DocumentItems, Walker, map_documents, map_documents_in};
pub(crate) use ordered_set::OrderedSet;
pub use postings::{DocumentLists, Postings};
pub(crate) use tables::table_limit;
pub use tables::{TableSlices, Tables};
pub use weights::{Occurrences, occurrences};

use rayon::prelude::*;
use tadoc_core::Network;

/// Rules that a thread takes at a time.
const RULES_AT_ONCE: usize = 1 << 12;

/// Computes a value for every rule from its body, children first: `value` gets the body and a function that
/// gives the value of a rule in it. O(symbols of rules), levels on all threads.
pub fn fold<T: Clone + Default + Send + Sync>(
    network: &Network,
    value: impl Fn(&[u32], &dyn Fn(u32) -> T) -> T + Sync,
) -> Vec<T> {
    let grammar = network.grammar();
    let mut values = vec![T::default(); grammar.rule_count() as usize];
    for level in network.levels().windows(2).rev() {
        // All children of a level have higher numbers than its rules.
        let (own, below) = values.split_at_mut(level[1] as usize);
        let of_rule = |rule: u32| below[(rule - level[1]) as usize].clone();
        own[level[0] as usize..]
            .par_iter_mut()
            .with_min_len(RULES_AT_ONCE)
            .enumerate()
            .for_each(|(place, own)| *own = value(grammar.body(level[0] + place as u32), &of_rule));
    }
    values
}
