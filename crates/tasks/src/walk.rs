//! One document after the other: what each has, and how often.
//!
//! Weights go down from the symbols of a document. Rules wait in a queue until they have all their
//! weight, and then pass it on to the symbols of their bodies; with tables, a rule that has one is met
//! with its entries at once and needs no weight. A key is a word, or whatever else an [`Emit`] makes of
//! items and rules.
//!
//! Where the memory that the work may take has room for it and keys are numbers, weights and keys are
//! counted in one row of counters, with rules before keys: a rule or key is its place there, and one
//! queue has both. Else they are counted in hash tables made for the bound of the document; where that
//! is large, in rows of counters of their own. A thread has one [`Walker`], whose tables are for the
//! largest of the documents that they are used for.
//!
//! Cost: a random access for every symbol of the document, and of the rules that it uses.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};

use tadoc_core::{Network, grammar::Slices};

use crate::Result;
use crate::bounds::{Bound, SymbolBounds};
use crate::entry::{Count, Entry, Key};
use crate::hash_table::{HashTable, Table};
use crate::plan::{Plan, Sizes, Stretch};
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

    /// The key that an item emits, in the root and in bodies, if any.
    fn of_item(&self, item: u32) -> Option<Self::Key>;

    /// The key that a rule emits beside those of its body, if any.
    fn of_rule(&self, rule: u32) -> Option<Self::Key>;

    /// What is done with a rule that is met.
    fn meet(&self, rule: u32) -> Meeting<'_, Self::Key>;

    /// If keys are numbers: all are below this.
    fn numbers(&self) -> Option<usize>;

    /// Whether every item is the key of its number, and every rule waits and emits none.
    fn is_plain(&self) -> bool;
}

/// What is done with a rule that is met.
pub enum Meeting<'e, K: Key> {
    /// It waits until it has all its weight.
    Waits,
    /// All keys of it and of what is below it, with their counts; entries without a count end them.
    Table(&'e [K::Entry]),
    /// One key stands for it and what is below it, or none.
    Leaf(Option<K>),
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
    items: u32,
    root: &'a [u32],
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
        self.meet_row(self.symbols(stretch), 1, &mut add, |rule, weight| {
            if rules.add(E::Key::rule(rule), weight) {
                waiting.put(rule);
            }
        });
        waiting.drain(|rule, waiting| {
            let weight = rules.settle(E::Key::rule(rule));
            self.emit.of_rule(rule).into_iter().for_each(|key| add(key, weight));
            self.meet_row(self.grammar.body(rule), weight, &mut add, |rule, weight| {
                if rules.add(E::Key::rule(rule), weight) {
                    waiting.put(rule);
                }
            });
        });
    }

    #[inline]
    fn symbols(&self, stretch: &Stretch) -> &[u32] {
        let Range { start, end } = stretch.root;
        &self.root[start as usize..end as usize]
    }

    /// Meets symbols that occur so often: calls `add` with keys, and `wait` with rules that wait.
    #[inline]
    fn meet_row(
        &self,
        symbols: &[u32],
        weight: u64,
        mut add: impl FnMut(E::Key, u64),
        mut wait: impl FnMut(u32, u64),
    ) {
        for &symbol in symbols {
            match self.grammar.rule_of(symbol) {
                None => self.emit.of_item(symbol).into_iter().for_each(|key| add(key, weight)),
                Some(rule) => match self.emit.meet(rule) {
                    Meeting::Waits => wait(rule, weight),
                    Meeting::Table(entries) => {
                        for entry in entries.iter().take_while(|entry| entry.count() > 0) {
                            add(entry.key(), weight * entry.count());
                        }
                    }
                    Meeting::Leaf(key) => key.into_iter().for_each(|key| add(key, weight)),
                },
            }
        }
    }

    /// Appends the keys of a stretch with their counts, or with 1, by key ascending; all is counted in one row.
    fn walk_densely<const COUNTED: bool>(
        &self,
        stretch: &Stretch,
        row: &mut DenseRow<<E::Key as Key>::Count>,
        into: &mut Vec<<E::Key as Key>::Entry>,
    ) {
        let (rules, items) = (row.rules, self.items);
        let is_plain = self.emit.is_plain();
        let mut marks = Marks::<_, COUNTED> { counts: &mut row.counts };
        let waiting = &mut row.waiting.queue();
        let meet_row = |symbols: &[u32], weight, marks: &mut Marks<_, COUNTED>, waiting: &mut _| {
            if is_plain {
                return marks.add_plain(waiting, symbols, weight, [items, rules]);
            }
            let marks = RefCell::new((marks, waiting));
            let add = |place, weight| {
                let (marks, waiting) = &mut *marks.borrow_mut();
                marks.add(waiting, place, weight);
            };
            self.meet_row(symbols, weight, |key, more| add(rules + key.number(), more), add);
        };
        meet_row(self.symbols(stretch), 1, &mut marks, waiting);
        waiting.drain(|place, waiting| {
            let weight = marks.settle(place);
            if place >= rules {
                return into.push(Entry::new(E::Key::of_number(place - rules), weight));
            }
            if let Some(key) = self.emit.of_rule(place) {
                marks.add(waiting, rules + key.number(), weight);
            }
            meet_row(self.grammar.body(place), weight, &mut marks, waiting);
        });
    }
}

/// Counters of places that wait from the first count on; if it is enough to know which places there
/// are, none.
struct Marks<'r, C, const COUNTED: bool> {
    counts: &'r mut [C],
}

impl<C: Count, const COUNTED: bool> Marks<'_, C, COUNTED> {
    /// Adds symbols, each at its own place: behind all rules if it is one of the items.
    #[inline]
    fn add_plain(
        &mut self,
        waiting: &mut Queue<'_>,
        symbols: &[u32],
        more: u64,
        [items, rules]: [u32; 2],
    ) {
        for &symbol in symbols {
            // Whether a symbol is an item is hard to foresee, so there is no branch.
            let over = u32::from(symbol >= items).wrapping_neg() & (items + rules);
            self.add(waiting, symbol.wrapping_add(rules).wrapping_sub(over), more);
        }
    }

    #[inline]
    fn add(&mut self, waiting: &mut Queue<'_>, place: u32, more: u64) {
        if COUNTED {
            let counter = &mut self.counts[place as usize];
            *counter = C::of(counter.get() + more);
        }
        waiting.put(place);
    }

    /// The count of a place that nothing is added to any more.
    #[inline]
    fn settle(&mut self, place: u32) -> u64 {
        match COUNTED {
            true => std::mem::replace(&mut self.counts[place as usize], C::of(0)).get(),
            false => 1,
        }
    }
}

/// A walker that is given back when this is dropped. A panic ends the threads that wait for it.
struct Taken<'w, 'a, E: Emit> {
    walkers: &'w Walkers<'a, E>,
    walker: Option<Walker<E::Key>>,
}

impl<E: Emit> Drop for Taken<'_, '_, E> {
    fn drop(&mut self) {
        let mut idle = self.walkers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.as_mut() {
            Some(walkers) if !std::thread::panicking() => {
                walkers.extend(self.walker.take());
                self.walkers.given_back.notify_one();
            }
            _ => {
                *idle = None;
                self.walkers.given_back.notify_all();
            }
        }
    }
}

/// Walkers that threads take for an operation and give back.
pub struct Walkers<'a, E: Emit> {
    over: Over<'a, E>,
    plan: &'a Plan<'a>,
    /// Nothing once a thread has panicked: its walker is not as others expect it.
    idle: Mutex<Option<Vec<Walker<E::Key>>>>,
    given_back: Condvar,
}

impl<'a, E: Emit> Walkers<'a, E> {
    /// One for every thread.
    pub fn new(
        work: &Work<'_>,
        network: &'a Network,
        plan: &'a Plan<'a>,
        emit: &'a E,
    ) -> Result<Self> {
        let hashed = plan.sizes().hashed;
        let over = Over {
            grammar: network.grammar().slices(),
            items: network.grammar().token_count(),
            root: network.grammar().root(),
            emit,
            is_dense: fits_densely(work, network, emit, plan.sizes()),
            is_distinct: false,
            hashed: [if emit.numbers().is_some() { hashed } else { u32::MAX }, hashed],
        };
        let threads = rayon::current_num_threads().min(plan.operations().len());
        let rules = network.grammar().rule_count();
        let walkers = (0..threads).map(|_| Walker::new(work, plan, &over, rules));
        let idle = Mutex::new(Some(walkers.collect::<Result<_>>()?));
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
            let walkers = idle.as_mut().expect("no other thread has panicked");
            if let Some(walker) = walkers.pop() {
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
    use crate::reference::sizes;
    use crate::terms::TermsOf;
    use tadoc_testing::networks::{deep, shapes, texts};

    /// Every stretch with its document, its terms and their counts, in order.
    type Found = Vec<(u32, Vec<(u32, u64)>)>;

    fn walked<K: Key>(network: &Network, sizes: Sizes, with_tables: bool) -> Found {
        let mut work = Work::volatile(1 << 20);
        let mut terms = TermsOf::<K>::new(&mut work, network).unwrap();
        if with_tables {
            terms = terms.with_tables(&mut work).unwrap();
        }
        let plan = Plan::new(&mut work, "documents", network, &terms, sizes).unwrap();
        let walkers = Walkers::new(&work, network, &plan, &terms).unwrap();
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
