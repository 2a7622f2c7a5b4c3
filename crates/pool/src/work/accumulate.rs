//! Counters that operations add to.
//!
//! They are added to in place, by all threads at once. With [`Persist::Operation`](crate::Persist::Operation) what an operation adds is kept aside
//! until its wave is in the log: that costs sorting it, and 16 bytes of log for each counter that a wave changes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use tadoc_core::{Array, usize_of};
use tadoc_tasks::work::{Counters, Counting, RULES_AT_ONCE, operations_of};

use super::{Found, Phases};
use crate::layout::{Kind, Table, digest};
use crate::log::{Log, State, changes_of, digest_of};
use crate::medium::PAGE;
use crate::medium::space::Region;
use crate::{Pool, Result};

impl Phases<'_> {
    pub(super) fn accumulate_table(
        &mut self,
        phase: &'static str,
        counting: &Counting<'_>,
    ) -> Result<Array<u64>> {
        let Counting { length, levels, check, .. } = *counting;
        let words: Vec<u64> = levels.iter().map(|&level| u64::from(level)).collect();
        let shape = [length as u64, digest(&words, 0), RULES_AT_ONCE as u64];
        let is_sound = |pool: &Pool, table: &Table| {
            table.bytes == 8 * length as u64 && check(&pool.space.shared(table.offset, length))
        };
        let size = (8, 8 * length as u64);
        let (mut at_work, new) = match self.look(phase, Kind::Counters, size, &shape, &is_sound) {
            Found::Finished(table) => {
                return Ok(self.pool.space.shared(table.offset, length).into());
            }
            Found::Open(at_work, new) => (at_work, new),
        };
        let table = if self.by_operation() {
            loop {
                let resumed = at_work.is_some();
                let table = self.accumulate_durably(at_work.take(), new.clone(), counting)?;
                if !resumed || check(&self.pool.space.shared(table.offset, length)) {
                    break table;
                }
                self.give_up(phase);
            }
        } else {
            let (table, _) = self.begin(None, new, |_| true, Table::end)?;
            let mut counters = self.pool.space.region::<u64>(table.offset, length);
            counting.set_initial(&mut counters);
            counting.add_up(counters.atomics());
            table
        };
        let offset = table.offset;
        debug_assert!(check(&self.pool.space.shared(offset, length)), "{phase}");
        self.finish(table)?;
        Ok(self.pool.space.shared(offset, length).into())
    }

    fn accumulate_durably(
        &mut self,
        at_work: Option<Table>,
        new: Table,
        counting: &Counting<'_>,
    ) -> Result<Table> {
        let Counting { length, levels, .. } = *counting;
        let operations: u64 =
            levels.windows(2).map(|level| operations_of(level).len() as u64).sum();
        let space = self.pool.space.clone();
        let log_start = |table: &Table| table.end().next_multiple_of(PAGE);
        let log_of =
            |table: &Table| Log::new(space.clone(), new.identity, log_start(table), length);
        let log_end = |table: &Table| log_start(table) + Log::bytes(length);
        let resumed = at_work.and_then(|table| {
            if table.bytes != 8 * length as u64 || log_end(&table) > space.len() {
                return None;
            }
            let mut counters = space.region::<u64>(table.offset, length);
            let mut log = log_of(&table);
            let state = log.replay(&mut counters).filter(|state| state.operations <= operations)?;
            Some((table, counters, log, state))
        });
        let (table, mut counters, mut log, mut state) = match resumed {
            Some(resumed) => {
                self.pool.resumes(&new.name, resumed.3.operations, operations);
                resumed
            }
            None => {
                if self.pool.directory.at_work {
                    self.give_up(&new.name);
                }
                let (table, _) = self.begin(None, new.clone(), |_| true, log_end)?;
                let mut counters = space.region::<u64>(table.offset, length);
                counting.set_initial(&mut counters);
                let state = State { operations: 0, digest: digest_of(&counters) };
                self.pool.persist(&[counters.range()])?;
                let mut log = log_of(&table);
                self.record(&mut log, state, &[], &counters)?;
                (table, counters, log, state)
            }
        };
        let mut before = 0;
        // What waits for a record, and what counters are with it.
        let (mut waiting, mut rules_waiting) = (Vec::new(), 0);
        let mut ahead: HashMap<u64, u64> = HashMap::new();
        for level in levels.windows(2) {
            let rules: Vec<Range<u32>> = operations_of(level).collect();
            // Those of a wave that is done were recorded together, but not by as many threads perhaps.
            let done = usize_of(state.operations.saturating_sub(before).min(rules.len() as u64));
            before += rules.len() as u64;
            for wave in rules[done..].chunks(rayon::current_num_threads()) {
                let values = counters.atomics();
                let added = wave.into_par_iter().with_max_len(1).map(|rules| {
                    let mut own = Counters::aside(values, &ahead);
                    (counting.work)(rules.clone(), &mut own);
                    own.into_additions()
                });
                let added: Vec<[u64; 2]> = added.reduce(Vec::new, joined);
                state.operations += wave.len() as u64;
                rules_waiting += wave.iter().map(ExactSizeIterator::len).sum::<usize>();
                // A level of a few rules is much less than an operation may be: the next ones share its record.
                if rules_waiting < RULES_AT_ONCE && state.operations < operations {
                    for &[index, more] in &added {
                        let value = || values[usize_of(index)].load(Ordering::Relaxed);
                        let value = ahead.entry(index).or_insert_with(value);
                        *value = value.wrapping_add(more);
                    }
                    waiting.extend(added);
                    continue;
                }
                waiting = joined(waiting, added);
                let (changes, moved) = changes_of(std::mem::take(&mut waiting), values);
                state.digest = state.digest.wrapping_add(moved);
                self.record(&mut log, state, &changes, &counters)?;
                let values = counters.atomics();
                changes.par_iter().with_min_len(1 << 12).for_each(|&[index, value]| {
                    values[usize_of(index)].store(value, Ordering::Relaxed);
                });
                rules_waiting = 0;
                ahead.clear();
            }
        }
        Ok(table)
    }

    fn record(
        &self,
        log: &mut Log,
        state: State,
        changes: &[[u64; 2]],
        counters: &Region<u64>,
    ) -> Result<()> {
        let pool = &*self.pool;
        let recorded = log.record(state, changes, || pool.space.persist(&[counters.range()]));
        recorded.map_err(|error| pool.failed(error, pool.space.len()))
    }
}

/// Both rows as one, in the longer one's memory.
fn joined(mut one: Vec<[u64; 2]>, mut other: Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    if one.len() < other.len() {
        std::mem::swap(&mut one, &mut other);
    }
    one.append(&mut other);
    one
}
