//! Counters that operations add to, by all threads at once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use tadoc_core::{Array, parallel};

use super::{Work, operations_of};
use crate::Result;

/// Counters that get their first values at once.
const INITIAL_AT_ONCE: usize = 1 << 16;
/// With fewer threads, atomic additions cost more than they save.
const THREADS_FOR_ATOMICS: usize = 4;

/// What gives counters their first values.
pub type Initial<'a> = dyn Fn(Range<usize>, &mut [u64]) + Sync + 'a;
/// What adds to counters for some rules.
pub type Adding<'a> = dyn Fn(Range<u32>, &mut Counters<'_>) + Sync + 'a;

/// Counters to be added up.
pub struct Counting<'a> {
    /// How many there are.
    pub length: usize,
    /// Rules that add to them, level by level.
    pub levels: &'a [u32],
    /// Gives them their first values.
    pub initial: &'a Initial<'a>,
    /// Checks all counters that were found, or that work was resumed on.
    pub check: &'a dyn Fn(&[u64]) -> bool,
    /// Adds for some rules.
    pub work: &'a Adding<'a>,
}

impl Counting<'_> {
    /// Sets the first values of counters that are zero.
    pub fn set_initial(&self, counters: &mut [u64]) {
        counters.par_chunks_mut(INITIAL_AT_ONCE).enumerate().for_each(|(number, some)| {
            let first = number * INITIAL_AT_ONCE;
            (self.initial)(first..first + some.len(), some);
        });
    }

    /// Adds to counters that have their first values: level by level on all threads, or one rule after
    /// the other where threads are few.
    pub fn add_up(&self, values: &[AtomicU64]) {
        if rayon::current_num_threads() < THREADS_FOR_ATOMICS {
            if let (Some(&first), Some(&end)) = (self.levels.first(), self.levels.last()) {
                (self.work)(first..end, &mut Counters::alone(values));
            }
            return;
        }
        for level in self.levels.windows(2) {
            let operations: Vec<Range<u32>> = operations_of(level).collect();
            parallel::each(operations.len(), &|operation| {
                let rules = operations[operation].clone();
                (self.work)(rules, &mut Counters::in_place(values));
            });
        }
    }
}

impl Work<'_> {
    /// Counters, of which `initial` gives the first values (it gets a range, and its counters, which are zero). `levels` are as those of a
    /// [`tadoc_core::Network`]; level by level `work` is called with rules of it, and adds to counters. What it reads of the counters must not be
    /// added to by rules of the same level; it may be any number where the work was interrupted, so it is multiplied with wrapping. `check` gets
    /// all counters as they were found, or as they are when work was gone on with.
    pub fn accumulate(
        &mut self,
        phase: &'static str,
        length: usize,
        initial: impl Fn(Range<usize>, &mut [u64]) + Sync,
        levels: &[u32],
        check: impl Fn(&[u64]) -> bool,
        work: impl Fn(Range<u32>, &mut Counters<'_>) + Sync,
    ) -> Result<Array<u64>> {
        let counting = Counting { length, levels, initial: &initial, check: &check, work: &work };
        let (storage, bytes) = (&mut self.storage, 8 * length as u64);
        self.steps.measure(phase, bytes, || storage.accumulate(phase, &counting))
    }
}

/// Counters that an operation reads and adds to.
pub struct Counters<'a> {
    values: &'a [AtomicU64],
    /// Counters to which levels before this one have added what is not in `values` yet.
    ahead: Option<&'a HashMap<u64, u64>>,
    /// What was added, if it is not to be seen yet.
    aside: Option<Vec<[u64; 2]>>,
    /// Whether nobody else adds.
    alone: bool,
}

impl<'a> Counters<'a> {
    /// Counters that are added to in place.
    pub fn in_place(values: &'a [AtomicU64]) -> Self {
        Self { values, ahead: None, aside: None, alone: false }
    }

    /// The same where nobody else adds to them meanwhile, which spares atomic additions.
    fn alone(values: &'a [AtomicU64]) -> Self {
        Self { alone: true, ..Self::in_place(values) }
    }

    /// Counters whose additions are kept aside. `ahead` has the values of those that earlier levels have added to.
    pub fn aside(values: &'a [AtomicU64], ahead: &'a HashMap<u64, u64>) -> Self {
        let ahead = Some(ahead).filter(|ahead| !ahead.is_empty());
        Self { values, ahead, aside: Some(Vec::new()), alone: false }
    }

    /// What was kept aside: each a counter and what is added to it.
    pub fn into_additions(self) -> Vec<[u64; 2]> {
        self.aside.unwrap_or_default()
    }

    /// A counter that nothing of this level adds to.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        if let Some(ahead) = self.ahead
            && let Some(&value) = ahead.get(&(index as u64))
        {
            return value;
        }
        self.values[index].load(Ordering::Relaxed)
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&mut self, index: usize, more: u64) {
        self.add_each([index], more);
    }

    /// Adds the same to several counters.
    #[inline]
    pub fn add_each(&mut self, indexes: impl IntoIterator<Item = usize>, more: u64) {
        let indexes = indexes.into_iter();
        match &mut self.aside {
            None if self.alone => indexes.for_each(|index| {
                let value = &self.values[index];
                value.store(value.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
            }),
            None => indexes.for_each(|index| {
                self.values[index].fetch_add(more, Ordering::Relaxed);
            }),
            Some(aside) => indexes.for_each(|index| {
                assert!(index < self.values.len(), "there is no counter {index}");
                aside.push([index as u64, more]);
            }),
        }
    }
}
