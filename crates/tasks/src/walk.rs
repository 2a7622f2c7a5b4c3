//! One document after the other: what each has, and how often.
//!
//! Weights go down from the symbols of a document. Rules wait in a queue until they have all their weight, and then emit their keys and
//! pass the weight on to their sub-rules; with tables, a rule that has one is met with its entries at once and needs no weight. A key is a word, or
//! whatever else an [`Emit`] makes of rules, such as sequences.
//!
//! Where the memory that the work may take has room for it and keys are numbers, weights and keys are counted in one row of counters, with
//! rules before keys: a rule or key is its place there, and one queue has both. Else they are counted in hash tables made for the bound of the
//! document; where that is large, in rows of counters of their own. A thread has one [`Walker`], whose tables are for the largest of the documents
//! that they are used for.
//!
//! Cost: an access to a table for every symbol of the document, and every pair of the rules that it uses.

use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};

use tadoc_core::{Network, grammar::Slices};

use crate::Result;
use crate::bounds::{Bound, SymbolBounds};
use crate::entry::{Count, Entry, Key};
use crate::hash_table::{HashTable, Table};
use crate::plan::{Plan, Sizes, Stretch};
use crate::pruned::{Pruned, PrunedSlices};
use crate::queue::{Queue, QueueRow};
use crate::work::{Scratch, Work};

/// A row of counters takes at most this part of the memory that the work may take.
const PART_OF_MEMORY: u64 = 16;

/// What rules and stretches of the root emit.
pub trait Emit: Sync {
    /// What is counted.
    type Key: Key;

    /// What there can be of the symbols of the root.
    fn bounds(&self) -> SymbolBounds<'_>;

    /// What there can be in all.
    fn most(&self) -> Bound;

    /// The key that an item in the root emits, if any.
    fn of_item(&self, item: u32) -> Option<Self::Key>;

    /// Calls `each` with keys and how often a rule has them, beyond what its sub-rules emit.
    fn of_rule(&self, rule: u32, each: impl FnMut(Self::Key, u64));

    /// What gives all keys of a rule and of what is below it, with their counts; entries without a count end them. Nothing if the rule has
    /// no table.
    fn tables<'s>(&'s self) -> impl Fn(u32) -> &'s [<Self::Key as Key>::Entry] + Sync;

    /// If keys are numbers: all are below this.
    fn numbers(&self) -> Option<usize>;
}

/// Whether rules and keys are counted in one row: if keys are numbers, the sizes allow it, and a row is a small part of the memory that the
/// work may take.
pub fn fits_densely<E: Emit>(work: &Work<'_>, network: &Network, emit: &E, sizes: Sizes) -> bool {
    let rules = u64::from(network.grammar().rule_count());
    let most = work.memory() / PART_OF_MEMORY / size_of::<<E::Key as Key>::Count>() as u64;
    let fits = |numbers: usize| numbers as u64 + rules <= most.min(u32::MAX.into());
    sizes.dense && emit.numbers().is_some_and(fits)
}

/// Counters for every number there is.
struct Dense<'t, C> {
    counts: &'t mut [C],
}

/// Where something is counted.
trait Tally<K: Key> {
    /// Counts more of a key, and says whether it is new.
    fn add(&mut self, key: K, more: u64) -> bool;

    /// The count of a key that nothing is added to any more.
    fn settle(&mut self, key: K) -> u64;
}

impl<K: Key> Tally<K> for Table<'_, K> {
    #[inline]
    fn add(&mut self, key: K, more: u64) -> bool {
        Table::add(self, key, more)
    }

    #[inline]
    fn settle(&mut self, key: K) -> u64 {
        self.get(key)
    }
}

impl<K: Key> Tally<K> for Dense<'_, K::Count> {
    #[inline]
    fn add(&mut self, key: K, more: u64) -> bool {
        let counter = &mut self.counts[key.number() as usize];
        let before = counter.get();
        *counter = K::Count::of(before + more);
        before == 0
    }

    #[inline]
    fn settle(&mut self, key: K) -> u64 {
        let counter = &mut self.counts[key.number() as usize];
        std::mem::replace(counter, K::Count::of(0)).get()
    }
}

/// The rows of a hash table, and counters for what is too much for it.
struct Rows<K: Key> {
    hashed: HashTable<K>,
    counts: Scratch<K::Count>,
}

impl<K: Key> Rows<K> {
    fn new(work: &Work<'_>, most: u32, numbers: usize) -> Result<Self> {
        let hashed = HashTable::new(work, most as usize)?;
        Ok(Self { hashed, counts: work.scratch(numbers)? })
    }
}

/// A counter for every rule, and behind them for every key.
struct DenseRow<C> {
    rules: u32,
    counts: Scratch<C>,
    waiting: QueueRow,
}

/// Counts more at a place, which waits from the first time on.
#[inline]
fn count<C: Count>(counts: &mut [C], waiting: &mut Queue<'_>, place: u32, more: u64) {
    let counter = &mut counts[place as usize];
    let before = counter.get();
    *counter = C::of(before + more);
    if before == 0 {
        waiting.put(place);
    }
}

/// Goes over documents, one at a time.
enum Walker<K: Key> {
    Dense(DenseRow<K::Count>),
    Bounded(Box<BoundedWalker<K>>),
}

/// Counts in rows that are made for the bounds of documents.
struct BoundedWalker<K: Key> {
    rules: Rows<K::Rule>,
    keys: Rows<K>,
    waiting: QueueRow,
    /// Keys that are counted in the row of counters.
    counted: QueueRow,
}

impl<K: Key> Walker<K> {
    fn new<E: Emit<Key = K>>(
        work: &Work<'_>,
        plan: &Plan<'_>,
        over: &Over<'_, E>,
        rules: u32,
    ) -> Result<Self> {
        match over.emit.numbers() {
            Some(numbers) if over.is_dense => {
                let places = numbers + rules as usize;
                let counts = work.scratch(places)?;
                let waiting = QueueRow::new(work, places)?;
                Ok(Self::Dense(DenseRow { rules, counts, waiting }))
            }
            _ => Ok(Self::Bounded(Box::new(BoundedWalker::new(work, plan, over, rules)?))),
        }
    }

    /// Appends the keys of a stretch with their counts, by key ascending.
    fn walk<E: Emit<Key = K>>(
        &mut self,
        over: &Over<'_, E>,
        stretch: &Stretch,
        into: &mut Vec<K::Entry>,
    ) {
        match self {
            Self::Dense(row) if over.is_distinct => over.walk_densely::<false>(stretch, row, into),
            Self::Dense(row) => over.walk_densely::<true>(stretch, row, into),
            Self::Bounded(walker) => walker.walk(over, stretch, into),
        }
    }
}

impl<K: Key> BoundedWalker<K> {
    fn new<E: Emit<Key = K>>(
        work: &Work<'_>,
        plan: &Plan<'_>,
        over: &Over<'_, E>,
        rules: u32,
    ) -> Result<Self> {
        let (most, above) = plan.largest(over.hashed);
        let numbers = if above[0] { over.emit.numbers().unwrap_or(0) } else { 0 };
        let counted_rules = if above[1] { rules as usize } else { 0 };
        Ok(Self {
            rules: Rows::new(work, most[1], counted_rules)?,
            keys: Rows::new(work, most[0], numbers)?,
            waiting: QueueRow::new(work, rules as usize)?,
            counted: QueueRow::new(work, numbers)?,
        })
    }

    /// Appends the keys of a stretch with their counts, by key ascending.
    fn walk<E: Emit<Key = K>>(
        &mut self,
        over: &Over<'_, E>,
        stretch: &Stretch,
        into: &mut Vec<K::Entry>,
    ) {
        let Self { rules, keys, waiting, counted } = self;
        if stretch.bound[0] <= over.hashed[0] {
            let mut table = keys.hashed.table(stretch.bound[0] as usize);
            over.walk(stretch, rules, waiting, |key, more| {
                table.add(key, more);
            });
            let found = table.take();
            found.sort_unstable_by_key(Entry::key);
            into.extend_from_slice(found);
        } else {
            let mut counted = counted.queue();
            let mut counts = Dense { counts: &mut keys.counts };
            over.walk(stretch, rules, waiting, |key, more| {
                if Tally::<K>::add(&mut counts, key, more) {
                    counted.put(key.number());
                }
            });
            counted.drain(|number, _| {
                let key = K::of_number(number);
                into.push(K::Entry::new(key, Tally::<K>::settle(&mut counts, key)));
            });
        }
    }
}

/// What a walk goes over.
pub struct Over<'a, E> {
    grammar: Slices<'a>,
    root: &'a [u32],
    pruned: PrunedSlices<'a>,
    emit: &'a E,
    /// Whether all is counted in one row.
    is_dense: bool,
    /// Whether it is enough to know which keys there are.
    is_distinct: bool,
    /// The bounds up to which keys and rules are counted in hash tables.
    hashed: Bound,
}

impl<E: Emit> Over<'_, E> {
    /// Calls `add` with the keys of a stretch.
    #[inline]
    fn walk(
        &self,
        stretch: &Stretch,
        rules: &mut Rows<<E::Key as Key>::Rule>,
        waiting: &mut QueueRow,
        add: impl FnMut(E::Key, u64),
    ) {
        let waiting = &mut waiting.queue();
        if stretch.bound[1] <= self.hashed[1] {
            let mut table = rules.hashed.table(stretch.bound[1] as usize);
            self.walk_rules(stretch, &mut table, waiting, add);
            table.take();
        } else {
            let mut counts = Dense { counts: &mut rules.counts };
            self.walk_rules(stretch, &mut counts, waiting, add);
        }
    }

    /// The same, with the weights of rules in a table.
    #[inline]
    fn walk_rules(
        &self,
        stretch: &Stretch,
        rules: &mut impl Tally<<E::Key as Key>::Rule>,
        waiting: &mut Queue<'_>,
        mut add: impl FnMut(E::Key, u64),
    ) {
        let (emit, tables) = (self.emit, self.emit.tables());
        let meet = |rule, weight, rules: &mut _, waiting: &mut _, add: &mut _| {
            meet::<E>(tables(rule), rule, weight, rules, waiting, add);
        };
        for &symbol in self.symbols(stretch) {
            match self.grammar.rule_of(symbol) {
                Some(rule) => meet(rule, 1, rules, waiting, &mut add),
                None => emit.of_item(symbol).into_iter().for_each(|key| add(key, 1)),
            }
        }
        waiting.drain(|rule, waiting| {
            let weight = rules.settle(E::Key::rule(rule));
            emit.of_rule(rule, |key, times| add(key, times * weight));
            for &[sub_rule, times] in self.pruned.sub_rules(rule) {
                meet(sub_rule, weight * u64::from(times), rules, waiting, &mut add);
            }
        });
    }

    #[inline]
    fn symbols(&self, stretch: &Stretch) -> &[u32] {
        let Range { start, end } = stretch.root;
        &self.root[start as usize..end as usize]
    }

    /// Appends the keys of a stretch with their counts, or with 1, by key ascending; all is counted in one row.
    fn walk_densely<const COUNTED: bool>(
        &self,
        stretch: &Stretch,
        row: &mut DenseRow<<E::Key as Key>::Count>,
        into: &mut Vec<<E::Key as Key>::Entry>,
    ) {
        let (emit, rules) = (self.emit, row.rules);
        let tables = emit.tables();
        let counts = &mut row.counts[..];
        let waiting = &mut row.waiting.queue();
        let count_key = |counts: &mut [_], waiting: &mut Queue<'_>, key: E::Key, more: u64| {
            let place = rules + key.number();
            match COUNTED {
                true => count(counts, waiting, place, more),
                false => waiting.put(place),
            }
        };
        let meet = |rule: u32, weight: u64, counts: &mut [_], waiting: &mut Queue<'_>| {
            let table = tables(rule);
            if table.is_empty() {
                count(counts, waiting, rule, weight);
            }
            for entry in table.iter().take_while(|entry| entry.count() > 0) {
                count_key(counts, waiting, entry.key(), weight * entry.count());
            }
        };
        for &symbol in self.symbols(stretch) {
            match self.grammar.rule_of(symbol) {
                Some(rule) => meet(rule, 1, counts, waiting),
                None => {
                    let key = emit.of_item(symbol).into_iter();
                    key.for_each(|key| count_key(counts, waiting, key, 1));
                }
            }
        }
        waiting.drain(|place, waiting| {
            if place >= rules && !COUNTED {
                return into.push(Entry::new(E::Key::of_number(place - rules), 1));
            }
            let counter = &mut counts[place as usize];
            let weight = std::mem::replace(counter, Count::of(0)).get();
            if place >= rules {
                return into.push(Entry::new(E::Key::of_number(place - rules), weight));
            }
            emit.of_rule(place, |key, times| {
                count_key(counts, waiting, key, times * weight);
            });
            for &[sub_rule, times] in self.pruned.sub_rules(place) {
                meet(sub_rule, weight * u64::from(times), counts, waiting);
            }
        });
    }
}

/// A rule that was met so often: its table, or else it waits.
#[inline]
fn meet<E: Emit>(
    table: &[<E::Key as Key>::Entry],
    rule: u32,
    weight: u64,
    rules: &mut impl Tally<<E::Key as Key>::Rule>,
    waiting: &mut Queue<'_>,
    add: &mut impl FnMut(E::Key, u64),
) {
    if table.is_empty() {
        if rules.add(E::Key::rule(rule), weight) {
            waiting.put(rule);
        }
    } else {
        for entry in table.iter().take_while(|entry| entry.count() > 0) {
            add(entry.key(), weight * entry.count());
        }
    }
}

/// A walker that is given back when this is dropped, by a panic too: otherwise other threads would wait for it for ever.
struct Taken<'w, 'a, E: Emit> {
    walkers: &'w Walkers<'a, E>,
    walker: Option<Walker<E::Key>>,
}

impl<E: Emit> Drop for Taken<'_, '_, E> {
    fn drop(&mut self) {
        let mut idle = self.walkers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.walker.take());
        self.walkers.given_back.notify_one();
    }
}

/// Walkers that threads take for an operation and give back.
pub struct Walkers<'a, E: Emit> {
    over: Over<'a, E>,
    plan: &'a Plan<'a>,
    idle: Mutex<Vec<Walker<E::Key>>>,
    given_back: Condvar,
}

impl<'a, E: Emit> Walkers<'a, E> {
    /// One for every thread.
    pub fn new(
        work: &Work<'_>,
        network: &'a Network,
        pruned: &'a Pruned,
        plan: &'a Plan<'a>,
        emit: &'a E,
    ) -> Result<Self> {
        let hashed = plan.sizes().hashed;
        let over = Over {
            grammar: network.grammar().slices(),
            root: network.grammar().root(),
            pruned: pruned.slices(),
            emit,
            is_dense: fits_densely(work, network, emit, plan.sizes()),
            is_distinct: false,
            hashed: [if emit.numbers().is_some() { hashed } else { u32::MAX }, hashed],
        };
        let threads = rayon::current_num_threads().min(plan.operations().len());
        let walkers = (0..threads).map(|_| Walker::new(work, plan, &over, pruned.rules()));
        let idle = Mutex::new(walkers.collect::<Result<_>>()?);
        Ok(Self { over, plan, idle, given_back: Condvar::new() })
    }

    /// The same where counts are not wanted, and may be any.
    pub fn distinct(mut self) -> Self {
        self.over.is_distinct = true;
        self
    }

    /// What is shared out to them.
    pub fn plan(&self) -> &'a Plan<'a> {
        self.plan
    }

    /// What rules emit.
    pub fn emit(&self) -> &'a E {
        self.over.emit
    }

    /// Calls `each` with the stretches of an operation, in order, and the keys of each with their counts, by key ascending.
    pub fn walk(
        &self,
        operation: usize,
        mut each: impl FnMut(&Stretch, &mut Vec<<E::Key as Key>::Entry>),
    ) {
        let mut taken = self.take();
        let mut found = Vec::new();
        for stretch in self.plan.stretches(operation) {
            let walker = taken.walker.as_mut().expect("it is there until it is given back");
            walker.walk(&self.over, &stretch, &mut found);
            each(&stretch, &mut found);
            found.clear();
        }
    }

    fn take(&self) -> Taken<'_, 'a, E> {
        let mut idle = self.idle.lock().expect("no thread panics while it holds the lock");
        loop {
            if let Some(walker) = idle.pop() {
                return Taken { walkers: self, walker: Some(walker) };
            }
            idle = self.given_back.wait(idle).expect("no thread panics while it holds the lock");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::plan::Sizes;
    use crate::reference::{deep, shapes, sizes, texts};
    use crate::terms::TermsOf;

    /// Every stretch with its document, its terms and their counts, in order.
    type Found = Vec<(u32, Vec<(u32, u64)>)>;

    fn walked<K: Key>(network: &Network, sizes: Sizes, with_tables: bool) -> Found {
        let mut work = Work::volatile(1 << 20);
        let pruned = Pruned::new(&mut work, network).unwrap();
        let mut terms = TermsOf::<K>::new(&mut work, network, &pruned).unwrap();
        if with_tables {
            terms = terms.with_tables(&mut work, network, &pruned).unwrap();
        }
        let plan = Plan::new(&mut work, "documents", network, &terms, sizes).unwrap();
        let walkers = Walkers::new(&work, network, &pruned, &plan, &terms).unwrap();
        let mut found = Vec::new();
        for operation in 0..plan.operations().len() {
            walkers.walk(operation, |stretch, entries| {
                assert!(entries.is_sorted_by(|one, other| one.key() < other.key()));
                let entries = entries.iter().map(|entry| (entry.key().number(), entry.count()));
                found.push((stretch.document, entries.collect()));
            });
        }
        found
    }

    proptest! {
        #[test]
        fn documents_are_as_their_text(
            shape in shapes(), sizes in sizes(), with_tables in any::<bool>()
        ) {
            let network = shape.network();
            let found = walked::<u32>(&network, sizes, with_tables);
            prop_assert_eq!(&found, &walked::<u64>(&network, sizes, with_tables));
            prop_assert!(found.is_sorted_by_key(|stretch| stretch.0));
            let texts = texts(&network);
            let mut sums: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); texts.len()];
            for (document, entries) in found {
                for (term, count) in entries {
                    *sums[document as usize].entry(term).or_default() += count;
                }
            }
            for (sums, text) in sums.iter().zip(&texts) {
                let mut expected = BTreeMap::new();
                text.iter().for_each(|&term| *expected.entry(term).or_default() += 1);
                prop_assert_eq!(sums, &expected);
            }
        }
    }

    #[test]
    fn counts_beyond_32_bits() {
        // Every rule is the next one twice and a term, the last one two terms.
        let network = deep(41);
        let mut of_rule = [0_u64, 1, 1];
        for next in (1..41).rev() {
            of_rule = of_rule.map(|count| 2 * count);
            of_rule[next % 3] += 1;
        }
        for with_tables in [false, true] {
            let found = walked::<u64>(&network, Sizes::default(), with_tables);
            let first: Vec<u64> = found[0].1.iter().map(|&(_, count)| count).collect();
            assert_eq!(first, [of_rule[0] + 1, of_rule[1], of_rule[2]]);
            assert!(first[0] > 1 << 32 && found[1].1[0].1 > of_rule[0]);
        }
    }
}
