//! How the documents of a corpus are shared out to operations.
//!
//! An operation has documents that follow each other, with few enough symbols and keys that what they give is small; or a stretch of one
//! document, if that is so large that one thread should not have it alone, or that its keys need too large a table. What the stretches of a document give
//! is added up by whoever reads it. The plan follows from the view and from [`Sizes`] alone, not from the number of threads, so that
//! work that was interrupted can go on with another one.
//!
//! Cost: the bound of every symbol of the root is added up once, in a phase. Size: 8 bytes a document. Neither, where documents are counted in
//! one row of counters: then there are no tables to be made for a bound, and only symbols say how documents are shared out.

use std::ops::Range;

use tadoc_core::{Array, Network};

use crate::Result;
use crate::bounds::{Bound, add};
use crate::walk::{Emit, fits_densely};
use crate::work::Work;

/// The document that all of the root is of, by place, if it is one. Where there are counts instead
/// of a root, they are of it if there is no other.
pub fn sole_document(network: &Network) -> Option<u32> {
    if !network.has_root() {
        return (network.documents().len() == 1).then_some(0);
    }
    let starts = network.grammar().document_starts();
    let place = starts.partition_point(|&start| start == 0).checked_sub(1)?;
    (starts.get(place + 1) == starts.last()).then_some(place as u32)
}

/// How large things may be.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Symbols of an operation of several documents.
    pub symbols: u32,
    /// A document of more symbols is cut into stretches of so many.
    pub stretch: u32,
    /// A document with a bound of more keys is cut into stretches with at most so many, as far as a single symbol has no more.
    pub keys: u32,
    /// Whether a row of counters for everything may be taken, if there is memory for it.
    pub dense: bool,
    /// Keys, or rules, that are counted in a hash table; with a bound of more they are counted in a row of counters, if they are numbers.
    pub hashed: u32,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { symbols: 1 << 17, stretch: 1 << 20, keys: u32::MAX, dense: true, hashed: 1 << 14 }
    }
}

/// Operations, if they are not too small for that: for threads to end at about the same time.
const OPERATIONS: usize = 64;
/// Symbols that an operation is too small for, unless its documents have more keys.
const FEW_SYMBOLS: u32 = 1 << 13;
/// Documents of an operation have a bound of so many keys together, unless one has more.
const KEYS_OF_AN_OPERATION: u32 = 1 << 20;
/// Documents of an operation.
const DOCUMENTS_OF_AN_OPERATION: usize = 1 << 12;

/// A stretch of the root within one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The document, by place.
    pub document: u32,
    /// Which symbols of the root.
    pub root: Range<u32>,
    /// Where the document ends in the root.
    pub document_end: u32,
    /// What there can be in it.
    pub bound: Bound,
}

/// The documents of an operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Which documents, by place.
    pub documents: Range<u32>,
    /// The stretch, if it is not all of one document.
    pub stretch: Option<Stretch>,
}

impl Operation {
    /// Whether it begins a document that other operations go on with, or goes on with one.
    pub fn is_cut(&self) -> bool {
        self.stretch.is_some()
    }
}

/// The operations of a phase that goes over documents.
#[derive(Debug)]
pub struct Plan<'n> {
    starts: &'n [u32],
    /// The bound of every document, unless all is counted in one row.
    bounds: Option<Array<Bound>>,
    operations: Vec<Operation>,
    sizes: Sizes,
}

impl<'n> Plan<'n> {
    /// Shares the documents out.
    pub fn new<E: Emit>(
        work: &mut Work<'_>,
        phase: &'static str,
        network: &'n Network,
        emit: &E,
        sizes: Sizes,
    ) -> Result<Self> {
        let starts = network.grammar().document_starts();
        let documents = starts.len() - 1;
        let root = network.grammar().root();
        let (bounds, most) = (emit.bounds(), emit.most());
        let sum = |symbols: Range<u32>| {
            let symbols = &root[symbols.start as usize..symbols.end as usize];
            symbols.iter().fold([0, 0], |sum, &symbol| add(sum, bounds.of(symbol), most))
        };
        let symbols_of = |document: usize| starts[document + 1] - starts[document];
        let even = (root.len() / OPERATIONS) as u32;
        let symbols = sizes.symbols.min(even.max(FEW_SYMBOLS));
        let cuts = runs(documents, symbols.into(), |document| Some(symbols_of(document).into()));
        let of_document = |document: usize| sum(starts[document]..starts[document + 1]);
        // Rows are made for them, so they must be right.
        let are_right = |operation: usize, own: &[Bound]| {
            (cuts[operation]..).zip(own).all(|(document, bound)| *bound == of_document(document))
        };
        let is_dense = sizes.keys == u32::MAX && fits_densely(work, network, emit, sizes);
        let bounds = match is_dense {
            true => None,
            false => Some(work.fill(phase, &cuts, are_right, |operation, own: &mut [Bound]| {
                for (document, bound) in (cuts[operation]..).zip(own) {
                    *bound = of_document(document);
                }
            })?),
        };
        let mut plan = Self { starts, bounds, operations: Vec::new(), sizes };
        let is_cut = |document: usize| {
            symbols_of(document) > sizes.stretch || plan.bound(document)[0] > sizes.keys
        };
        let most_keys = sizes.keys.min(KEYS_OF_AN_OPERATION);
        // A part of an operation that a document is, by symbols or by keys; one that is cut stands alone.
        let part = |document: usize| {
            let by_symbols = u64::from(symbols_of(document)) * u64::from(most_keys);
            let by_keys = u64::from(plan.bound(document)[0]) * u64::from(symbols);
            (!is_cut(document)).then_some(by_symbols.max(by_keys))
        };
        let cuts = runs(documents, u64::from(symbols) * u64::from(most_keys), part);
        let mut operations = Vec::new();
        for run in cuts.windows(2).filter(|run| run[0] < run[1]) {
            let documents = run[0] as u32..run[1] as u32;
            if !is_cut(run[0]) {
                operations.push(Operation { documents, stretch: None });
                continue;
            }
            for root in stretches(starts[run[0]]..starts[run[1]], root, emit, sizes) {
                let (document, document_end) = (run[0] as u32, starts[run[1]]);
                let bound = sum(root.clone());
                let stretch = Some(Stretch { document, root, document_end, bound });
                operations.push(Operation { documents: documents.clone(), stretch });
            }
        }
        plan.operations = operations;
        Ok(plan)
    }

    /// What a document can have; nothing where it need not be known.
    fn bound(&self, document: usize) -> Bound {
        self.bounds.as_ref().map_or([0, 0], |bounds| bounds[document])
    }

    /// The operations.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// How large things are.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// What an operation goes over: one stretch for every document of it, in order.
    pub fn stretches(&self, operation: usize) -> impl Iterator<Item = Stretch> + '_ {
        let Operation { documents, stretch } = &self.operations[operation];
        documents.clone().map(move |document| match stretch {
            Some(stretch) => stretch.clone(),
            None => {
                let place = document as usize;
                let root = self.starts[place]..self.starts[place + 1];
                let (document_end, bound) = (root.end, self.bound(place));
                Stretch { document, root, document_end, bound }
            }
        })
    }

    /// The largest bounds of a stretch that are no more than `below`; and whether there are any above.
    pub fn largest(&self, below: Bound) -> (Bound, [bool; 2]) {
        let whole = self.operations.iter().filter(|operation| !operation.is_cut());
        let whole = whole.flat_map(|operation| {
            operation.documents.clone().map(|document| self.bound(document as usize))
        });
        let cut = self.operations.iter().filter_map(|operation| operation.stretch.as_ref());
        let cut = cut.map(|stretch| stretch.bound);
        let mut largest = ([0, 0], [false, false]);
        for bound in whole.chain(cut) {
            for which in 0..2 {
                if bound[which] <= below[which] {
                    largest.0[which] = largest.0[which].max(bound[which]);
                } else {
                    largest.1[which] = true;
                }
            }
        }
        largest
    }
}

/// Cuts documents into runs that have at most so much together, or are a single one; where each starts, and the end. One without a size stands alone.
fn runs(documents: usize, most: u64, size: impl Fn(usize) -> Option<u64>) -> Vec<usize> {
    let mut cuts = vec![0];
    let mut sum = 0_u64;
    for document in 0..documents {
        let size = size(document).unwrap_or(u64::MAX);
        let first = *cuts.last().expect("it begins with 0");
        sum = sum.saturating_add(size);
        if document > first && (sum > most || document - first >= DOCUMENTS_OF_AN_OPERATION) {
            cuts.push(document);
            sum = size;
        }
    }
    cuts.push(documents);
    cuts
}

/// Cuts a document into stretches.
fn stretches<E: Emit>(
    document: Range<u32>,
    root: &[u32],
    emit: &E,
    sizes: Sizes,
) -> Vec<Range<u32>> {
    let bounds = emit.bounds();
    let mut stretches = Vec::new();
    let (mut first, mut keys) = (document.start, 0_u32);
    for place in document.clone() {
        let more = bounds.of(root[place as usize])[0];
        let too_many = keys.saturating_add(more) > sizes.keys || place - first >= sizes.stretch;
        if place > first && too_many {
            stretches.push(first..place);
            (first, keys) = (place, 0);
        }
        keys = keys.saturating_add(more);
    }
    stretches.push(first..document.end);
    stretches
}
