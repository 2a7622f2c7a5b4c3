//! A network in a device's memory: what all traversals work on, loaded once and asked many times.
//!
//! Rules are numbered by level, over all parts: level `i` has the `i`-th level of every part, and its rules use only those of
//! later levels. Symbols are the rules, then the items, so that items are one level more, and whoever uses a symbol
//! has a lower number. Beside bodies and root, which say what a symbol is made of, there is the transpose, which says who uses it:
//! sums over it need no atomic additions.
//!
//! What a symbol gets something from is a **list**: lists `0..rules` are those of rules, and list `rules + symbol` is what the
//! root itself has of that symbol (a count, or documents with counts).
//!
//! Cost: loading copies 4 bytes a symbol and 12 a rule to the device, where two radix sorts make the transpose and the
//! postings of the root. It keeps 8 bytes a symbol of bodies, 12 a symbol of the root at most, 12 a rule and 16 a symbol
//! ([`ResidentNetwork::needed`]).

use std::sync::Arc;

use tadoc_core::Network;

use crate::device::{Buffer, Device, Kernel, Module, groups_for};
use crate::error::{Error, Result};
use crate::lists::SHORT_ROW;
use crate::primitives::scan;
use crate::primitives::sort::{self, Keys, Order, Rows};
use crate::weights::{Plan, Weights};

/// The kernels of this module.
pub static MODULE: Module =
    Module { name: "network", source: include_str!("../kernels/network.c") };

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

const ARRANGE_BODIES: Kernel = kernel("arrange_bodies");
const ARRANGE_ROOT: Kernel = kernel("arrange_root");
const FIND_STARTS: Kernel = kernel("find_starts");
const MARK_POSTINGS: Kernel = kernel("mark_postings");
const PLACE_POSTINGS: Kernel = kernel("place_postings");
const COUNT_POSTINGS: Kernel = kernel("count_postings");
const COUNT_ROWS: Kernel = kernel("count_rows");
const MARK_IN_ROOT: Kernel = kernel("mark_in_root");
const PLACE_USES: Kernel = kernel("place_uses");
const WRITE_BODY_USES: Kernel = kernel("write_body_uses");
const WRITE_ROOT_USES: Kernel = kernel("write_root_uses");
const BOUND_DOCUMENTS: Kernel = kernel("bound_documents");

/// A network on a device, as the module's page describes it.
#[derive(Debug)]
pub struct ResidentNetwork {
    /// The device.
    pub device: Arc<Device>,
    /// How many rules there are.
    pub rule_count: u32,
    /// How many items there are.
    pub item_count: u32,
    /// How many documents there are.
    pub document_count: u32,
    /// How many items all documents expand to.
    pub length: u64,
    /// Whether there is a root, and not counts of it only.
    pub has_root: bool,
    /// Rules `levels[i]..levels[i + 1]` are a level; the last number is that of the rules.
    pub levels: Vec<u32>,
    /// Uses `level_edges[i]..level_edges[i + 1]` are those of the rules of a level; behind them one more for the items.
    pub level_edges: Vec<u32>,
    /// How many symbols of each level may have long rows of documents ([`SHORT_ROW`]), behind them how many items.
    pub level_long_uses: Vec<u32>,
    /// Body symbols `level_symbols[i]..level_symbols[i + 1]` are those of the rules of a level.
    pub level_symbols: Vec<u32>,
    /// How many rules of each level may have long rows of items.
    pub level_long_bodies: Vec<u32>,
    /// The documents of all rules are no more than this: of each no more than there are, and than it occurs.
    pub document_bound: u64,
    /// The items of all rules are no more than this: of each no more than there are, and than its length.
    pub item_bound: u64,
    /// The lengths of all rules together.
    pub rule_lengths: u64,
    /// Where the body of each rule begins, and where the last one ends.
    pub body_starts: Buffer<u32>,
    /// The symbols of all bodies.
    pub bodies: Buffer<u32>,
    /// How many items each rule expands to, or 2^32 - 1 if it is more.
    pub lengths: Buffer<u32>,
    /// The symbols of all documents.
    pub root: Buffer<u32>,
    /// Where each document begins in the root, and where the last one ends.
    pub document_starts: Buffer<u32>,
    /// Where the uses of each symbol begin, and where the last ones end.
    pub use_starts: Buffer<u32>,
    /// For each symbol the lists that it gets from: a rule for each time that it is in its body, ascending, then that of the
    /// root.
    pub uses: Buffer<u32>,
    /// How often each symbol is in the root.
    pub root_counts: Buffer<u32>,
    /// Where the documents of each symbol in the root begin, and where the last ones end.
    pub posting_starts: Buffer<u32>,
    /// The documents in whose root a symbol is, ascending.
    pub posting_documents: Buffer<u32>,
    /// How often it is in each.
    pub posting_counts: Buffer<u32>,
    /// How uses are cut up for weights.
    pub(crate) weight_plan: Plan,
}

/// The order of rules by level.
struct Numbering {
    levels: Vec<u32>,
    /// For each rule of the network its number in the grammar.
    old_numbers: Vec<u32>,
    /// For each rule of the grammar its number in the network.
    new_numbers: Vec<u32>,
}

impl Numbering {
    fn new(network: &Network) -> Self {
        let starts = network.levels();
        let rule_count = network.grammar().rule_count() as usize;
        // The first level of each part, and how many it has.
        let of_parts: Vec<(usize, usize)> = network
            .parts()
            .iter()
            .map(|part| {
                let first = starts.partition_point(|&start| start < part.rules.start);
                let last = starts.partition_point(|&start| start < part.rules.end);
                (first, last - first)
            })
            .filter(|&(_, count)| count > 0)
            .collect();
        let depth = of_parts.iter().map(|&(_, count)| count).max().unwrap_or(0);
        let mut levels = Vec::with_capacity(depth + 1);
        let mut old_numbers = Vec::with_capacity(rule_count);
        levels.push(0);
        for level in 0..depth {
            for &(first, _) in of_parts.iter().filter(|&&(_, count)| level < count) {
                old_numbers.extend(starts[first + level]..starts[first + level + 1]);
            }
            levels.push(old_numbers.len() as u32);
        }
        let mut new_numbers = vec![0; rule_count];
        for (new, &old) in old_numbers.iter().enumerate() {
            new_numbers[old as usize] = new as u32;
        }
        Self { levels, old_numbers, new_numbers }
    }
}

/// How many low bits numbers below `count` have.
pub(crate) fn bits_below(count: u32) -> u32 {
    u32::BITS - count.saturating_sub(1).leading_zeros()
}

impl ResidentNetwork {
    /// Bytes of device memory that loading a network takes at its peak; it keeps fewer.
    pub fn needed(network: &Network) -> u64 {
        let grammar = network.grammar();
        let root = grammar.root().len() as u64;
        let bodies = grammar.symbols().len() as u64 - root;
        let rules = u64::from(grammar.rule_count());
        let symbols = rules + u64::from(grammar.token_count());
        // Sorting takes keys and payloads twice; the grammar as it was copied, the postings' places and their symbols stand
        // beside that.
        let sorted = 24 * root.max(bodies) + 4 * (root + bodies);
        let kept = 8 * bodies + 12 * root + 12 * rules + 16 * symbols;
        kept + sorted + 16 * symbols + 24 * rules + 4 * grammar.document_starts().len() as u64
    }

    /// Loads a network. O(symbols), on the device.
    ///
    /// # Errors
    /// [`Error::TooLittleMemory`] if it does not fit, [`Error::Unsupported`] if it has more symbols than lists can be numbered.
    pub fn new(device: &Arc<Device>, network: &Network) -> Result<Self> {
        let grammar = network.grammar();
        let (rule_count, item_count) = (grammar.rule_count(), grammar.token_count());
        let symbol_count = rule_count + item_count;
        let lists = u64::from(symbol_count) + u64::from(rule_count);
        if lists >= 1 << 31 || grammar.document_count() as u64 >= 1 << 31 {
            let what = format!("a network of {lists} lists");
            return Err(Error::Unsupported { what });
        }
        let (needed, free) = (Self::needed(network), device.free_memory()?);
        if needed > free {
            return Err(Error::TooLittleMemory {
                device: device.info().name.clone(),
                needed,
                free,
            });
        }
        let order = Numbering::new(network);
        let root_length = grammar.root().len();
        let (mut body_starts, mut old_starts) = (vec![0_u32], Vec::new());
        let mut lengths = Vec::with_capacity(rule_count as usize);
        let mut end = 0;
        for &old in &order.old_numbers {
            let start = grammar.rule_starts()[old as usize];
            end += grammar.rule_starts()[old as usize + 1] - start;
            body_starts.push(end);
            old_starts.push(start);
            lengths.push(network.lengths()[old as usize].min(u32::MAX.into()) as u32);
        }
        let loading = Loading {
            device: Arc::clone(device),
            symbols: device.upload(grammar.symbols())?,
            new_numbers: device.upload(&order.new_numbers)?,
            rule_count,
            item_count,
            symbol_count,
        };
        let body_ends = body_starts;
        let body_starts = device.upload(&body_ends)?;
        let old_starts = device.upload(&old_starts)?;
        let document_starts = device.upload(grammar.document_starts())?;
        let (bodies, owners) = loading.bodies(&old_starts, &body_starts, end)?;
        let root = loading.root(&document_starts, root_length as u32)?;
        let root_counts = if network.has_root() {
            root.counts
        } else {
            let of_symbols = network.root_counts_or(Vec::new);
            let (of_items, of_rules) = of_symbols.split_at(item_count as usize);
            let of_rules = order.old_numbers.iter().map(|&old| of_rules[old as usize]);
            device.upload(&of_rules.chain(of_items.iter().copied()).collect::<Vec<_>>())?
        };
        let (use_starts, uses) = loading.uses(&bodies, owners, &root_counts)?;
        // A level ends where the next one begins, and the items behind the last one.
        let starts = device.download(&use_starts)?;
        let mut level_edges: Vec<u32> =
            order.levels.iter().map(|&rule| starts[rule as usize]).collect();
        level_edges.push(starts[symbol_count as usize]);
        // A rule has no more entries than items.
        let long_bodies = |level: &[u32]| {
            let rules = order.old_numbers[level[0] as usize..level[1] as usize].iter();
            let lengths = rules.map(|&old| network.lengths()[old as usize]);
            lengths.filter(|&length| length > SHORT_ROW.into()).count() as u32
        };
        let level_long_bodies = order.levels.windows(2).map(long_bodies).collect();
        let of_item = |length: &u64| (*length).min(item_count.into());
        // Items are a level too.
        let rows: Vec<u32> = order.levels.iter().copied().chain([symbol_count]).collect();
        let weight_plan = Plan::new(device, &rows, &starts)?;
        let level_symbols = order.levels.iter().map(|&rule| body_ends[rule as usize]);
        let mut made = Self {
            device: Arc::clone(device),
            rule_count,
            item_count,
            document_count: grammar.document_count() as u32,
            length: network.length(),
            has_root: network.has_root(),
            level_edges,
            level_long_uses: Vec::new(),
            level_symbols: level_symbols.collect(),
            level_long_bodies,
            document_bound: 0,
            item_bound: network.lengths().iter().map(of_item).sum(),
            rule_lengths: network.lengths().iter().fold(0, |sum, &more| sum.saturating_add(more)),
            levels: order.levels,
            body_starts,
            bodies,
            lengths: device.upload(&lengths)?,
            root: root.symbols,
            document_starts,
            use_starts,
            uses,
            root_counts,
            posting_starts: root.posting_starts,
            posting_documents: root.posting_documents,
            posting_counts: root.posting_counts,
            weight_plan,
        };
        made.bound_documents()?;
        Ok(made)
    }

    /// Finds out what lists of documents cannot be longer than: a list has no more than there are documents, and than it
    /// occurs. Waits.
    fn bound_documents(&mut self) -> Result<()> {
        let (device, rules, symbols) = (&self.device, self.rule_count, self.symbol_count());
        let weights = Weights::new(self)?.lists;
        device.launch(
            &BOUND_DOCUMENTS,
            groups_for(weights.len()),
            &[(&weights).into(), self.document_count.into(), (weights.len() as u32).into()],
        )?;
        let of_lists = device.download_part(&weights, 0..rules as usize)?;
        let of_rows = device.download(&self.weight_plan.sums_of_rows(self, &weights)?)?;
        self.document_bound = of_lists.iter().sum();
        let levels = self.levels.iter().copied().chain([symbols]).collect::<Vec<_>>();
        let long_rows = |level: &[u32]| {
            let rows = of_rows[level[0] as usize..level[1] as usize].iter();
            rows.filter(|&&bound| bound > SHORT_ROW.into()).count() as u32
        };
        self.level_long_uses = levels.windows(2).map(long_rows).collect();
        Ok(())
    }

    /// Rules and items.
    pub fn symbol_count(&self) -> u32 {
        self.rule_count + self.item_count
    }

    /// Bytes of device memory that it holds.
    pub fn memory(&self) -> u64 {
        let rows = [
            &self.body_starts,
            &self.bodies,
            &self.lengths,
            &self.root,
            &self.document_starts,
            &self.use_starts,
            &self.uses,
            &self.root_counts,
            &self.posting_starts,
            &self.posting_documents,
            &self.posting_counts,
        ];
        rows.iter().map(|row| 4 * row.len() as u64).sum::<u64>() + self.weight_plan.memory()
    }
}

/// Where each of `rows` begins among the first `count` entries, which are sorted by row, and where the last one ends.
pub(crate) fn find_starts(sorted: &Buffer<u32>, count: u32, rows: u32) -> Result<Buffer<u32>> {
    let device = sorted.device();
    let starts = device.allocate(rows as usize + 1)?;
    device.launch(
        &FIND_STARTS,
        groups_for(rows as usize + 1),
        &[sorted.into(), count.into(), (&starts).into(), rows.into()],
    )?;
    Ok(starts)
}

/// What the steps of loading need.
struct Loading {
    device: Arc<Device>,
    symbols: Buffer<u32>,
    new_numbers: Buffer<u32>,
    rule_count: u32,
    item_count: u32,
    symbol_count: u32,
}

/// The root, with what it has of each symbol.
struct Root {
    symbols: Buffer<u32>,
    counts: Buffer<u32>,
    posting_starts: Buffer<u32>,
    posting_documents: Buffer<u32>,
    posting_counts: Buffer<u32>,
}

impl Loading {
    /// The bodies by level, and the rule of each of their symbols.
    fn bodies(
        &self,
        old_starts: &Buffer<u32>,
        body_starts: &Buffer<u32>,
        count: u32,
    ) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let device = &self.device;
        let (bodies, owners) = (device.allocate(count as usize)?, device.allocate(count as usize)?);
        device.launch(
            &ARRANGE_BODIES,
            groups_for(count as usize),
            &[
                (&self.symbols).into(),
                old_starts.into(),
                (&self.new_numbers).into(),
                body_starts.into(),
                (&bodies).into(),
                (&owners).into(),
                self.item_count.into(),
                self.rule_count.into(),
                count.into(),
            ],
        )?;
        Ok((bodies, owners))
    }

    /// Symbols sorted, with what goes along with them. The symbols given stay as they are.
    fn sorted(
        &self,
        symbols: &Buffer<u32>,
        along: Buffer<u32>,
    ) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let count = symbols.len();
        let keys = self.device.allocate(count)?;
        self.device.copy(symbols, 0, &keys, 0, count)?;
        let rows = Rows { keys: Keys::Narrow(keys), first: Some(along), second: None };
        let bits = 0..bits_below(self.symbol_count);
        let rows = sort::sort(&self.device, rows, count, bits, Order::Ascending)?;
        Ok((rows.keys.narrow(), rows.first.expect("it was given")))
    }

    /// Where the entries of each symbol begin among sorted ones.
    fn starts(&self, sorted: &Buffer<u32>, count: u32) -> Result<Buffer<u32>> {
        find_starts(sorted, count, self.symbol_count)
    }

    /// The root, and the documents of each of its symbols: sorted by symbol, documents stay in order, and runs of
    /// both are counted. Waits once, for the number of runs.
    fn root(&self, document_starts: &Buffer<u32>, count: u32) -> Result<Root> {
        let (device, length) = (&self.device, count as usize);
        let (symbols, documents) = (device.allocate(length)?, device.allocate(length)?);
        device.launch(
            &ARRANGE_ROOT,
            groups_for(length),
            &[
                (&self.symbols).into(),
                (&self.new_numbers).into(),
                document_starts.into(),
                (&symbols).into(),
                (&documents).into(),
                self.item_count.into(),
                self.rule_count.into(),
                (document_starts.len() as u32 - 1).into(),
                count.into(),
            ],
        )?;
        let (sorted, documents) = self.sorted(&symbols, documents)?;
        let starts = self.starts(&sorted, count)?;
        let counts = device.allocate(self.symbol_count as usize)?;
        device.launch(
            &COUNT_ROWS,
            groups_for(self.symbol_count as usize),
            &[(&starts).into(), (&counts).into(), self.symbol_count.into()],
        )?;
        let places = device.allocate::<u32>(length)?;
        device.launch(
            &MARK_POSTINGS,
            groups_for(length),
            &[(&sorted).into(), (&documents).into(), (&places).into(), count.into()],
        )?;
        let postings = device.value(&scan::exclusive(&places, length, &places)?, 0)?;
        let found = || device.allocate::<u32>(postings as usize);
        let (posting_symbols, posting_documents, firsts) = (found()?, found()?, found()?);
        device.launch(
            &PLACE_POSTINGS,
            groups_for(length),
            &[
                (&sorted).into(),
                (&documents).into(),
                (&places).into(),
                (&posting_symbols).into(),
                (&posting_documents).into(),
                (&firsts).into(),
                count.into(),
            ],
        )?;
        let posting_starts = self.starts(&posting_symbols, postings)?;
        // The symbols are not needed any more.
        let posting_counts = posting_symbols;
        device.launch(
            &COUNT_POSTINGS,
            groups_for(postings as usize),
            &[(&firsts).into(), (&posting_counts).into(), postings.into(), count.into()],
        )?;
        Ok(Root { symbols, counts, posting_starts, posting_documents, posting_counts })
    }

    /// Who uses each symbol: the rules, sorted by symbol, with the list of the root behind them.
    fn uses(
        &self,
        bodies: &Buffer<u32>,
        owners: Buffer<u32>,
        root_counts: &Buffer<u32>,
    ) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let (device, symbols) = (&self.device, self.symbol_count);
        let count = bodies.len() as u32;
        let (sorted, owners) = self.sorted(bodies, owners)?;
        let body_use_starts = self.starts(&sorted, count)?;
        let before = device.allocate::<u32>(symbols as usize)?;
        let lanes = groups_for(symbols as usize);
        device.launch(
            &MARK_IN_ROOT,
            lanes,
            &[root_counts.into(), (&before).into(), symbols.into()],
        )?;
        let in_root = scan::exclusive(&before, symbols as usize, &before)?;
        let uses = device.allocate((count + device.value(&in_root, 0)?) as usize)?;
        let use_starts = device.zeroed(symbols as usize + 1)?;
        device.launch(
            &PLACE_USES,
            lanes,
            &[
                (&body_use_starts).into(),
                (&before).into(),
                root_counts.into(),
                (&use_starts).into(),
                symbols.into(),
            ],
        )?;
        device.launch(
            &WRITE_BODY_USES,
            groups_for(count as usize),
            &[(&sorted).into(), (&owners).into(), (&before).into(), (&uses).into(), count.into()],
        )?;
        device.launch(
            &WRITE_ROOT_USES,
            lanes,
            &[
                root_counts.into(),
                (&use_starts).into(),
                (&uses).into(),
                self.rule_count.into(),
                symbols.into(),
            ],
        )?;
        Ok((use_starts, uses))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference::network::{Plain, plain};
    use crate::testing::device;
    use tadoc_testing::networks::{chain, counts_only, frequent, shapes};

    fn rows<T: Clone>(starts: &[u32], values: &[T]) -> Vec<Vec<T>> {
        starts.windows(2).map(|row| values[row[0] as usize..row[1] as usize].to_vec()).collect()
    }

    fn downloaded(network: &ResidentNetwork) -> Plain {
        let get = |buffer: &Buffer<u32>| network.device.download(buffer).unwrap();
        let postings =
            get(&network.posting_documents).into_iter().zip(get(&network.posting_counts));
        Plain {
            levels: network.levels.clone(),
            bodies: rows(&get(&network.body_starts), &get(&network.bodies)),
            lengths: get(&network.lengths).into_iter().map(u64::from).collect(),
            root: get(&network.root),
            uses: rows(&get(&network.use_starts), &get(&network.uses)),
            root_counts: get(&network.root_counts),
            postings: rows(&get(&network.posting_starts), &postings.collect::<Vec<_>>()),
        }
    }

    fn check(network: &Network) {
        let Some(device) = device() else { return };
        let loaded = ResidentNetwork::new(&device, network).unwrap();
        assert_eq!(downloaded(&loaded), plain(network));
        let starts = device.download(&loaded.use_starts).unwrap();
        let levels = loaded.levels.iter().map(|&rule| starts[rule as usize]);
        assert_eq!(loaded.level_edges, levels.chain(starts.last().copied()).collect::<Vec<_>>());
        assert!(loaded.memory() <= ResidentNetwork::needed(network));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn loaded_as_the_reference_says(shape in shapes()) {
            let network = shape.network();
            check(&network);
            check(&counts_only(&network));
        }
    }

    #[test]
    fn deep_and_frequent() {
        check(&chain(200, 4));
        check(&frequent(3000, 300));
    }
}
