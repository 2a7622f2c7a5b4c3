//! The places where sequences and pairs are: every one that crosses a border in the root or in a rule, put
//! into buckets by key.
//!
//! Where all of them would take more memory than allowed, they are counted first, and then made several
//! times, each time for those buckets only that fit.

use std::ops::Range;

use tadoc_core::Network;
use tadoc_core::parallel::map;

use super::keys::Key;
use super::partition::{Buckets, Layout, Record, passes};

/// Stretches of root and rules a thread.
const STRETCHES_PER_THREAD: usize = 4;
/// Pieces that are not full, and the sorting of buckets, take less than what is in them once more.
const GROWTH: u64 = 2;

/// What lies across the borders of symbols, packed into keys: sequences, or pairs.
pub(super) trait Crossings: Sync {
    type Key: Key + Record<Key = Self::Key>;

    /// Bits of a key.
    fn key_bits(&self) -> u32;

    /// The network that it is of.
    fn network(&self) -> &Network;

    /// How many there are at most.
    fn most(&self) -> u64;

    /// In how many of one key an occurrence of an item can be, at most: a key occurs at most so many times as
    /// often as its rarest item.
    fn most_of_an_item(&self) -> u64;

    /// Calls `each` with those in the body of a rule.
    fn of_rule(&self, rule: u32, each: impl FnMut(Self::Key));

    /// Calls `each` with those that end in a stretch of the root, and with their document's place.
    fn of_root(&self, stretch: Range<u32>, each: impl FnMut(usize, Self::Key));
}

/// How the crossings of a network are made and put into buckets.
pub(super) struct Sites<C> {
    crossings: C,
    layout: Layout,
    /// Ranges of buckets that are worked on at a time.
    pub(super) passes: Vec<Range<usize>>,
}

/// The crossings of some buckets.
pub(super) struct Filled<R, S> {
    /// Of the root, in the order of the root.
    pub(super) root: Vec<Buckets<R>>,
    /// Of rules, in the order of rules.
    pub(super) rules: Vec<Buckets<S>>,
}

/// Cuts `0..end` into stretches of about equal size.
fn map_stretches<T: Send>(end: u32, work: &(dyn Fn(Range<u32>) -> T + Sync)) -> Vec<T> {
    let count = rayon::current_num_threads() * STRETCHES_PER_THREAD;
    let cut = |number: usize| (u64::from(end) * number as u64 / count as u64) as u32;
    map(count, &|number| work(cut(number)..cut(number + 1)))
}

impl<C: Crossings> Sites<C> {
    /// For crossings of which each, with what is known about it, fits a key and 8 bytes.
    pub(super) fn new(crossings: C, memory: u64) -> Self {
        let most = crossings.most();
        let layout = Layout::new(crossings.key_bits(), most.div_ceil(2));
        let mut sites = Self { crossings, layout, passes: Vec::new() };
        let record_bytes = size_of::<(C::Key, u64)>() as u64 * GROWTH;
        sites.passes = if most.saturating_mul(record_bytes) <= memory {
            std::iter::once(0..layout.buckets()).collect()
        } else {
            passes(&sites.count(), record_bytes, memory)
        };
        sites
    }

    fn network(&self) -> &Network {
        self.crossings.network()
    }

    /// Bits of a key below those that choose its bucket.
    pub(super) fn low_bits(&self) -> u32 {
        self.layout.low_bits
    }

    /// How many crossings each bucket has.
    fn count(&self) -> Vec<u64> {
        let buckets = self.layout.buckets();
        let root = self.network().grammar().root().len() as u32;
        let of_root = map_stretches(root, &|stretch| {
            let mut counts = vec![0_u64; buckets];
            self.crossings.of_root(stretch, |_, key| counts[self.layout.bucket(key)] += 1);
            counts
        });
        let of_rules = map_stretches(self.network().grammar().rule_count(), &|stretch| {
            let mut counts = vec![0_u64; buckets];
            for rule in stretch {
                self.crossings.of_rule(rule, |key| counts[self.layout.bucket(key)] += 1);
            }
            counts
        });
        let mut sums = vec![0; buckets];
        for counts in of_root.into_iter().chain(of_rules) {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    /// Makes the crossings of a pass. `of_root` makes a record of a document's place and a key, `of_rule` of a rule and
    /// a key; what they give no record for is left out.
    pub(super) fn fill<R: Record, S: Record>(
        &self,
        pass: &Range<usize>,
        of_root: impl Fn(usize, C::Key) -> Option<R> + Sync,
        of_rule: impl Fn(u32, C::Key) -> Option<S> + Sync,
    ) -> Filled<R, S> {
        let all = pass.len() == self.layout.buckets();
        let in_pass = |bucket: usize| all || pass.contains(&bucket);
        let root = self.network().grammar().root().len() as u32;
        let root = map_stretches(root, &|stretch| {
            let mut buckets = Buckets::new(self.layout);
            self.crossings.of_root(stretch, |document, key| {
                let bucket = self.layout.bucket(key);
                if in_pass(bucket)
                    && let Some(record) = of_root(document, key)
                {
                    buckets.push(bucket, record);
                }
            });
            buckets.finish()
        });
        Filled { root, rules: self.fill_rules(pass, of_rule) }
    }

    /// The same for rules alone.
    pub(super) fn fill_rules<S: Record>(
        &self,
        pass: &Range<usize>,
        of_rule: impl Fn(u32, C::Key) -> Option<S> + Sync,
    ) -> Vec<Buckets<S>> {
        let all = pass.len() == self.layout.buckets();
        let in_pass = |bucket: usize| all || pass.contains(&bucket);
        map_stretches(self.network().grammar().rule_count(), &|stretch| {
            let mut buckets = Buckets::new(self.layout);
            for rule in stretch {
                self.crossings.of_rule(rule, |key| {
                    let bucket = self.layout.bucket(key);
                    if in_pass(bucket)
                        && let Some(record) = of_rule(rule, key)
                    {
                        buckets.push(bucket, record);
                    }
                });
            }
            buckets.finish()
        })
    }
}
