//! The sequences of `n` items, where they are in rules and documents, and how often each occurs.
//!
//! As on the processor, a sequence is made once where it crosses a border between two symbols of a rule, whatever the number of
//! times that the rule occurs; the first and last `n - 1` items of every rule are enough to see it. Each symbol of a
//! body or of the root is a lane's, however long the body is. The sequences are sorted, and runs of equal
//! ones are the rows.
//!
//! Cost: a launch for each level, two passes over all symbols, and a sort of one key and one list for each sequence that crosses a
//! border, at most `n - 1` for each symbol. Waits twice: for the number of sequences, and for that of rows. Memory: 16 or 32
//! bytes a rule, and 24 or 40 for each sequence while it is sorted.

use std::sync::Arc;

use tadoc_core::Packing;

use crate::device::{Buffer, Device, GROUP, Kernel, Module, groups_for};
use crate::error::{Error, Result};
use crate::network::ResidentNetwork;
use crate::primitives::scan;
use crate::primitives::select::Marks;
use crate::primitives::sort::{self, Keys, Order, Rows};
use crate::tuning::SEQUENCES_PER_LANE;

/// The kernels.
pub static MODULE: Module =
    Module { name: "sequences", source: include_str!("../kernels/sequences.c") };

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

const MAKE_ENDS: Kernel = kernel("make_ends");
const COUNT_WINDOWS: Kernel = kernel("count_windows");
const WRITE_WINDOWS: Kernel = kernel("write_windows");
const WEIGH_EDGES: Kernel = kernel("weigh_edges");
const TAKE_KEYS: Kernel = kernel("take_keys");
const SUMS_OF_ROWS: Kernel = kernel("sums_of_rows");

/// Symbols of a tile.
const TILE: usize = GROUP as usize * SEQUENCES_PER_LANE;

/// What tells documents from rules among the edges of [`SequenceRows`].
pub const DOCUMENT: u32 = 1 << 31;

/// Whether keys have a second word.
fn is_wide(packing: Packing) -> bool {
    packing.key_bits() > u64::BITS
}

/// Room for so many keys.
fn room(packing: Packing, device: &Arc<Device>, count: usize) -> Result<Keys> {
    Ok(match is_wide(packing) {
        true => Keys::Double { high: device.allocate(count)?, low: device.allocate(count)? },
        false => Keys::Wide(device.allocate(count)?),
    })
}

/// Refuses sequences that have more than the two words of a key.
pub(crate) fn check(packing: Packing) -> Result<()> {
    if packing.key_bits() <= u128::BITS {
        return Ok(());
    }
    let Packing { n, items, .. } = packing;
    Err(Error::Unsupported { what: format!("a sequence of {n} terms, each one of {items}") })
}

/// The distinct sequences, ascending, each with edges to where it crosses a border.
#[derive(Debug)]
pub struct SequenceRows {
    /// How keys are packed.
    pub packing: Packing,
    /// How many rows there are.
    pub count: usize,
    /// The sequences: [`Keys::Wide`], or [`Keys::Double`] if one word is not enough.
    pub keys: Keys,
    /// Where the edges of each row begin, and where the last ones end.
    pub edge_starts: Buffer<u32>,
    /// For each time that a sequence crosses a border the list where it does: a rule, or a document (its place in the network)
    /// with [`DOCUMENT`] set. Ascending in a row.
    pub edges: Buffer<u32>,
}

impl SequenceRows {
    /// Finds all sequences of `n` items. `weights` says how often each rule occurs; those that do not occur have no sequences.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for sequences that no key has room for, for 2^32 of them or more, and for a network without a
    /// root; [`Error::TooLittleMemory`] if they do not fit.
    pub fn new(network: &ResidentNetwork, weights: &Buffer<u64>, n: usize) -> Result<Self> {
        let packing = Packing::new(n, network.item_count);
        check(packing)?;
        if !network.has_root {
            let what = "finding sequences in a view that has counts and no documents".to_owned();
            return Err(Error::Unsupported { what });
        }
        assert!(weights.len() >= network.rule_count as usize);
        let windows = Windows { network, weights, packing };
        let ends = windows.ends()?;
        let (keys, lists, count) = windows.write(&ends)?;
        drop(ends);
        let rows = Rows { keys, first: Some(lists), second: None };
        let device = &network.device;
        let sorted = sort::sort(device, rows, count, 0..packing.key_bits(), Order::Ascending)?;
        let edges = sorted.first.expect("lists went along");
        let edge_starts = Marks::of_heads(&sorted.keys, count)?.places()?;
        let rows = edge_starts.len() - 1;
        let keys = room(packing, device, rows)?;
        let ((high, low), (row_high, row_low)) = (words(&sorted.keys), words(&keys));
        device.launch(
            &TAKE_KEYS,
            groups_for(rows),
            &[
                high.into(),
                low.into(),
                (&edge_starts).into(),
                row_high.into(),
                row_low.into(),
                (rows as u32).into(),
                u32::from(is_wide(packing)).into(),
            ],
        )?;
        Ok(Self { packing, count: rows, keys, edge_starts, edges })
    }

    /// How often each sequence occurs, by the weights of rules.
    pub fn counts(&self, weights: &Buffer<u64>) -> Result<Buffer<u64>> {
        let device = weights.device();
        let edges = self.edges.len();
        let sums = device.allocate::<u64>(edges + 1)?;
        device.launch(
            &WEIGH_EDGES,
            groups_for(edges),
            &[(&self.edges).into(), weights.into(), (&sums).into(), (edges as u32).into()],
        )?;
        scan::exclusive(&sums, edges, &sums)?;
        let counts = device.allocate(self.count)?;
        device.launch(
            &SUMS_OF_ROWS,
            groups_for(self.count),
            &[
                (&sums).into(),
                (&self.edge_starts).into(),
                (&counts).into(),
                (self.count as u32).into(),
            ],
        )?;
        Ok(counts)
    }
}

/// The words of keys; where there is only one, it stands for both.
fn words(keys: &Keys) -> (&Buffer<u64>, &Buffer<u64>) {
    match keys {
        Keys::Double { high, low } => (high, low),
        Keys::Wide(keys) => (keys, keys),
        Keys::Narrow(_) => unreachable!("keys of sequences have 64 bits or 128"),
    }
}

/// What finding sequences needs.
struct Windows<'n> {
    network: &'n ResidentNetwork,
    weights: &'n Buffer<u64>,
    packing: Packing,
}

/// Rows of symbols: all bodies, or the documents.
struct Source<'n> {
    symbols: &'n Buffer<u32>,
    starts: &'n Buffer<u32>,
    in_root: bool,
    first_tile: usize,
}

impl Source<'_> {
    fn tiles(&self) -> usize {
        self.symbols.len().div_ceil(TILE)
    }
}

impl Windows<'_> {
    /// Heads and tails of all rules, level by level from the last.
    fn ends(&self) -> Result<Buffer<u64>> {
        let Self { network, packing, .. } = self;
        // A sequence of one crosses no border.
        if packing.n == 1 {
            return network.device.allocate(1);
        }
        let wide = is_wide(*packing);
        let words = if wide { 4 } else { 2 };
        let ends = network.device.allocate(words * network.rule_count as usize)?;
        for level in network.levels.windows(2).rev() {
            let count = level[1] - level[0];
            network.device.launch(
                &MAKE_ENDS,
                groups_for(count as usize),
                &[
                    (&network.bodies).into(),
                    (&network.body_starts).into(),
                    (&ends).into(),
                    level[0].into(),
                    count.into(),
                    network.rule_count.into(),
                    (packing.n as u32).into(),
                    packing.bits.into(),
                    u32::from(wide).into(),
                ],
            )?;
        }
        Ok(ends)
    }

    /// All sequences that cross a border, with their lists, and how many there are: those of rules by rule, then those of
    /// documents. Waits for their number.
    fn write(&self, ends: &Buffer<u64>) -> Result<(Keys, Buffer<u32>, usize)> {
        let Self { network, packing, .. } = self;
        let device = &network.device;
        let bodies = Source {
            symbols: &network.bodies,
            starts: &network.body_starts,
            in_root: false,
            first_tile: 0,
        };
        let root = Source {
            symbols: &network.root,
            starts: &network.document_starts,
            in_root: true,
            first_tile: bodies.tiles(),
        };
        let tiles = bodies.tiles() + root.tiles();
        let counts = device.allocate::<u32>(tiles)?;
        for source in [&bodies, &root] {
            self.count(source, &counts)?;
        }
        let starts = device.allocate::<u64>(tiles)?;
        let count = device.value(&scan::exclusive(&counts, tiles, &starts)?, 0)?;
        if count > u32::MAX.into() {
            return Err(Error::Unsupported { what: format!("sorting {count} sequences") });
        }
        let count = count as usize;
        let keys = room(*packing, device, count)?;
        let lists = device.allocate(count)?;
        let (high, low) = words(&keys);
        for source in [&bodies, &root] {
            device.launch(
                &WRITE_WINDOWS,
                source.tiles() as u32,
                &[
                    source.symbols.into(),
                    source.starts.into(),
                    ends.into(),
                    self.weights.into(),
                    (&starts).into(),
                    high.into(),
                    low.into(),
                    (&lists).into(),
                    (source.symbols.len() as u32).into(),
                    (source.starts.len() as u32 - 1).into(),
                    network.rule_count.into(),
                    (packing.n as u32).into(),
                    packing.bits.into(),
                    u32::from(is_wide(*packing)).into(),
                    u32::from(source.in_root).into(),
                    (source.first_tile as u32).into(),
                ],
            )?;
        }
        Ok((keys, lists, count))
    }

    /// Counts the sequences of each tile.
    fn count(&self, source: &Source<'_>, counts: &Buffer<u32>) -> Result<()> {
        let Self { network, packing, .. } = self;
        let length = source.symbols.len();
        // Kernels look at places some way behind the end.
        if length > (u32::MAX - 2 * GROUP) as usize {
            return Err(Error::Unsupported { what: format!("a network of {length} symbols") });
        }
        network.device.launch(
            &COUNT_WINDOWS,
            source.tiles() as u32,
            &[
                source.symbols.into(),
                source.starts.into(),
                (&network.lengths).into(),
                self.weights.into(),
                counts.into(),
                (length as u32).into(),
                (source.starts.len() as u32 - 1).into(),
                network.rule_count.into(),
                (packing.n as u32).into(),
                u32::from(source.in_root).into(),
                (source.first_tile as u32).into(),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tadoc_core::Network;

    use super::*;
    use crate::reference::sequences::documents_of_rules;
    use crate::testing::device;
    use tadoc_testing::networks::{Shape, chain, counts_only, frequent, index, shapes};

    /// Keys of any width as one number.
    fn numbers(device: &Device, keys: &Keys) -> Vec<u128> {
        let (high, low) = words(keys);
        let (high, low) = (device.download(high).unwrap(), device.download(low).unwrap());
        let wide = matches!(keys, Keys::Double { .. });
        let of_words = |(&high, &low): (&u64, &u64)| u128::from(high) << 64 | u128::from(low);
        match wide {
            true => high.iter().zip(&low).map(of_words).collect(),
            false => low.into_iter().map(u128::from).collect(),
        }
    }

    /// Checks rows, counts and edges against the documents written out.
    fn check(device: &Arc<Device>, network: &Network, n: usize) -> Result<(), TestCaseError> {
        let resident = ResidentNetwork::new(device, network).unwrap();
        let of_rules = documents_of_rules(device, &resident);
        let weights: Vec<u64> = of_rules.iter().map(|documents| documents.values().sum()).collect();
        let weights = device.upload(&weights).unwrap();
        let rows = SequenceRows::new(&resident, &weights, n).unwrap();
        let wanted = index(network, n);
        let keys: Vec<u128> = wanted.keys().map(|sequence| rows.packing.pack(sequence)).collect();
        prop_assert_eq!(numbers(device, &rows.keys), keys);
        prop_assert_eq!(rows.count, wanted.len());
        let counts = device.download(&rows.counts(&weights).unwrap()).unwrap();
        let starts = device.download(&rows.edge_starts).unwrap();
        let edges = device.download(&rows.edges).unwrap();
        prop_assert_eq!(starts.len(), rows.count + 1);
        prop_assert_eq!(starts[rows.count] as usize, edges.len());
        for (row, documents) in wanted.values().enumerate() {
            let mut found = BTreeMap::<u32, u32>::new();
            let edges = &edges[starts[row] as usize..starts[row + 1] as usize];
            prop_assert!(edges.is_sorted());
            for &edge in edges {
                if edge & DOCUMENT != 0 {
                    *found.entry(edge ^ DOCUMENT).or_default() += 1;
                    continue;
                }
                for (&document, &count) in &of_rules[edge as usize] {
                    *found.entry(document).or_default() += count as u32;
                }
            }
            prop_assert_eq!(&found, documents);
            let count = documents.values().map(|&count| u64::from(count)).sum::<u64>();
            prop_assert_eq!(counts[row], count);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn rows_are_those_of_the_documents(shape in shapes(), n in 1..=5_usize) {
            let Some(device) = device() else { return Ok(()) };
            check(&device, &shape.network(), n)?;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn keys_of_every_width(shape in shapes(), n in 1..=5_usize, width in 1..=14_u32, more in 0..3_u32) {
            let Some(device) = device() else { return Ok(()) };
            // Around powers of two, where items fill their bits.
            let items = (1 << width) - 1 + more;
            check(&device, &Shape { items, ..shape }.network(), n)?;
        }
    }

    #[test]
    fn long_rules_long_roots_and_deep_networks() {
        let Some(device) = device() else { return };
        let shape = Shape {
            seed: 7,
            items: 900,
            parts: 2,
            rules: 300,
            body: 3000,
            root: 5000,
            documents: 40,
            rule_share: 3,
            longest: 300,
            reach: 1000,
        };
        for n in [1, 2, 3, 5] {
            check(&device, &shape.network(), n).unwrap();
            check(&device, &chain(700, 5), n).unwrap();
            check(&device, &frequent(3000, 20), n).unwrap();
        }
    }

    #[test]
    fn many_items_make_long_keys() {
        let Some(device) = device() else { return };
        let shape = Shape {
            seed: 3,
            items: (1 << 22) + 1,
            parts: 1,
            rules: 50,
            body: 6,
            root: 500,
            documents: 3,
            rule_share: 60,
            longest: 300,
            reach: 1000,
        };
        // Of 92 and 115 bits.
        check(&device, &shape.network(), 4).unwrap();
        check(&device, &shape.network(), 5).unwrap();
    }

    #[test]
    fn what_no_key_has_room_for_is_refused() {
        assert_eq!(Packing::new(5, 1 << 25).key_bits(), 125);
        assert!(super::check(Packing::new(5, 1 << 25)).is_ok());
        assert!(!is_wide(Packing::new(2, 1 << 31)));
        assert!(super::check(Packing::new(5, (1 << 25) + 1)).is_err());
        let Some(device) = device() else { return };
        let bare = ResidentNetwork::new(&device, &counts_only(&chain(9, 2))).unwrap();
        let weights = device.zeroed(9).unwrap();
        let refused = SequenceRows::new(&bare, &weights, 3).unwrap_err();
        assert!(refused.to_string().contains("no documents"), "{refused}");
    }
}
