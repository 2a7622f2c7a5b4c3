//! Tables whose elements are written once.
//!
//! With [`Persist::Operation`] there is a checksum for every operation behind the table. It is made durable
//! together with the operation's elements, in any order: after a crash, an operation is done if its elements have its checksum. That costs reading
//! what was written once more, while it is in the cache.

use std::ops::Range;

use bytemuck::Pod;
use tadoc_core::{Array, parallel};
use xxhash_rust::xxh64::xxh64;

use super::{Found, RULES_AT_ONCE, Starts, Work, operations_of};
use crate::layout::{Kind, Table, digest};
use crate::medium::PAGE;
use crate::medium::space::Region;
use crate::{Persist, Pool, Result};

/// What fills the elements of an operation. A pointer, so that code is made once for a kind of element and not once for a phase.
type Fill<'a, T> = dyn Fn(usize, &mut [T], &[T]) + Sync + 'a;
/// What checks the elements of an operation.
type Check<'a, T> = dyn Fn(usize, &[T], &[T]) -> bool + Sync + 'a;

impl Work<'_> {
    /// A table of `cuts.last()` elements, of which operation `i` fills those from `cuts[i]` to `cuts[i + 1]`; they are zero before. `cuts` begins
    /// with 0 and does not descend. `check` gets an operation and its elements as they were found.
    pub fn fill<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        cuts: &[usize],
        check: impl Fn(usize, &[T]) -> bool + Sync,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Array<T>> {
        let operations: Vec<Range<usize>> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
        let words: Vec<u64> = cuts.iter().map(|&cut| cut as u64).collect();
        let levels = [0..operations.len()];
        let length = *cuts.last().expect("cuts begin with 0");
        let filling =
            Filling { length, operations: &operations, levels: &levels, shape: digest(&words, 0) };
        let check = |operation: usize, own: &[T], _: &[T]| check(operation, own);
        self.fill_levels(phase, &filling, &check, &|operation, own, _| work(operation, own))
    }

    /// A table with elements for every rule, of which those of rule `r` are `starts.of(r)`; rules of higher numbers first. `levels` are as those of a
    /// [`tadoc_core::Network`]. `work` gets some rules of one level, their elements (zero before), and the elements of all rules behind that
    /// level, of which the first belongs to the rule that the level ends with. `check` gets the same of what was found.
    pub fn fill_upwards<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        starts: Starts<'_>,
        levels: &[u32],
        check: impl Fn(Range<u32>, &[T], &[T]) -> bool + Sync,
        work: impl Fn(Range<u32>, &mut [T], &[T]) + Sync,
    ) -> Result<Array<T>> {
        let rules_end = levels.last().copied().unwrap_or(0);
        let mut rules = Vec::new();
        let mut ranges = Vec::new();
        for level in levels.windows(2).rev() {
            let first = rules.len();
            rules.extend(operations_of(level));
            ranges.push(first..rules.len());
        }
        let of_rules = |rules: &Range<u32>| starts.of(rules.start)..starts.of(rules.end);
        let operations: Vec<Range<usize>> = rules.iter().map(of_rules).collect();
        let words: Vec<u64> = levels.iter().map(|&level| u64::from(level)).collect();
        let shape = digest(&[starts.digest(rules_end), digest(&words, 0), RULES_AT_ONCE as u64], 0);
        let length = if rules_end == 0 { 0 } else { starts.of(rules_end) };
        let filling = Filling { length, operations: &operations, levels: &ranges, shape };
        let check =
            |operation: usize, own: &[T], below: &[T]| check(rules[operation].clone(), own, below);
        self.fill_levels(phase, &filling, &check, &|operation, own, below| {
            work(rules[operation].clone(), own, below);
        })
    }

    /// `work` and `check` get an operation, its elements, and those behind the operation's level.
    fn fill_levels<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        filling: &Filling<'_>,
        check: &Check<'_, T>,
        work: &Fill<'_, T>,
    ) -> Result<Array<T>> {
        let shape = [filling.length as u64, filling.shape];
        let bytes = (filling.length * size_of::<T>()) as u64;
        let is_sound = |pool: &Pool, table: &Table| {
            table.bytes == bytes
                && filling.is_sound(&pool.space.shared::<T>(table.offset, filling.length), check)
        };
        let (found, identity) = self.look(phase, Kind::Fill, size_of::<T>(), &shape, &is_sound);
        let mut table = match found {
            Found::Finished(table) => {
                return Ok(self.pool().space.shared(table.offset, filling.length).into());
            }
            Found::AtWork(table) => Some(table),
            Found::Nothing => None,
        };
        let marks = if self.by_operation() { filling.operations.len() } else { 0 };
        let marks_start = |table: &Table| table.end().next_multiple_of(PAGE);
        let marks_end = |table: &Table| marks_start(table) + 8 * marks as u64;
        let room = self.pool().space.len();
        if table.as_ref().is_some_and(|table| table.bytes != bytes || marks_end(table) > room) {
            self.give_up(phase);
            table = None;
        }
        let resumed = table.is_some();
        let table = match table {
            Some(table) => table,
            None => {
                let table = Table {
                    name: phase.to_owned(),
                    kind: Kind::Fill,
                    element: size_of::<T>() as u32,
                    offset: self.pool().next_offset(),
                    bytes,
                    identity,
                    sums: 0,
                };
                self.pool().zeros(table.offset..marks_end(&table))?;
                if self.by_operation() {
                    let (group, persist) = (self.group, self.persist);
                    self.pool_mut().enter(group, table.clone(), persist)?;
                }
                table
            }
        };
        let mut elements = self.pool().space.region::<T>(table.offset, filling.length);
        if marks == 0 {
            let nothing = vec![false; filling.operations.len()];
            let work = self.settling(&table, filling, work);
            for level in filling.levels {
                filling.run(&mut elements, level, level, &nothing, &work);
            }
        } else {
            let mut marks = self.pool().space.region::<u64>(marks_start(&table), marks);
            let done = if resumed {
                filling.done(&mut elements, &marks, identity, check)
            } else {
                vec![false; marks.len()]
            };
            let there = done.iter().filter(|&&done| done).count() as u64;
            if resumed {
                let operations = Some((phase.to_owned(), there, done.len() as u64));
                self.pool_mut().resumption().operations = operations;
            }
            self.fill_durably(filling, &mut elements, &mut marks, &done, identity, work)?;
        }
        drop(elements);
        let (group, persist) = (self.group, self.persist);
        let (offset, length) = (table.offset, filling.length);
        self.pool_mut().finish(group, table, persist)?;
        let elements = self.pool().space.shared(offset, length);
        debug_assert!(filling.is_sound(&elements, check), "{phase}");
        Ok(elements.into())
    }

    /// The same work, after which the device may begin to write what came of it.
    fn settling<'a, T: Pod>(
        &'a self,
        table: &'a Table,
        filling: &'a Filling<'_>,
        work: &'a Fill<'a, T>,
    ) -> impl Fn(usize, &mut [T], &[T]) + Sync + 'a {
        move |operation, own, below| {
            work(operation, own, below);
            if self.persist == Persist::Phase && size_of_val(own) >= SETTLED_AT_ONCE {
                let start =
                    table.offset + (filling.operations[operation].start * size_of::<T>()) as u64;
                self.pool().space.settle(start..start + size_of_val(own) as u64);
            }
        }
    }

    /// Runs all operations that are not done, and makes them durable by waves. Small levels share one.
    fn fill_durably<T: Pod + Send + Sync>(
        &self,
        filling: &Filling<'_>,
        elements: &mut Region<T>,
        marks: &mut Region<u64>,
        done: &[bool],
        identity: u64,
        work: &Fill<'_, T>,
    ) -> Result<()> {
        let (start, marks_start) = (elements.range().start, marks.range().start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut waiting = 0;
        for (number, level) in filling.levels.iter().enumerate() {
            for first in level.clone().step_by(self.wave()) {
                let wave = first..level.end.min(first + self.wave());
                filling.run(elements, level, &wave, done, work);
                let own = filling.elements_of(&wave);
                let sums = parallel::map(wave.len(), &|number| {
                    let operation = wave.start + number;
                    mark(&elements[filling.operations[operation].clone()], identity, operation)
                });
                marks[wave.clone()].copy_from_slice(&sums);
                let bytes = |number: usize| (number * size_of::<T>()) as u64;
                ranges.push(start + bytes(own.start)..start + bytes(own.end));
                ranges.push(marks_start + 8 * wave.start as u64..marks_start + 8 * wave.end as u64);
                waiting += own.len();
                let last = number + 1 == filling.levels.len() && wave.end == level.end;
                // A level of a few rules is much less than an operation may be.
                if last || wave.len() > 1 || waiting >= RULES_AT_ONCE {
                    self.pool().persist(&ranges)?;
                    ranges.clear();
                    waiting = 0;
                }
            }
        }
        Ok(())
    }
}

/// Operations of at least so many bytes are given to the device as soon as they are done.
const SETTLED_AT_ONCE: usize = 1 << 16;

/// A table to be filled.
struct Filling<'a> {
    length: usize,
    /// The elements of each operation. Those of a level follow each other.
    operations: &'a [Range<usize>],
    /// Which operations depend on nothing but those of levels before theirs.
    levels: &'a [Range<usize>],
    /// A digest of both.
    shape: u64,
}

impl Filling<'_> {
    /// The elements of operations that are of one level.
    fn elements_of(&self, operations: &Range<usize>) -> Range<usize> {
        match operations.is_empty() {
            true => 0..0,
            false => {
                self.operations[operations.start].start..self.operations[operations.end - 1].end
            }
        }
    }

    /// Runs those operations of a level that are not done.
    fn run<T: Pod + Send + Sync>(
        &self,
        elements: &mut [T],
        level: &Range<usize>,
        operations: &Range<usize>,
        done: &[bool],
        work: &Fill<'_, T>,
    ) {
        let (elements, below) = elements.split_at_mut(self.elements_of(level).end);
        let mut rest = &mut elements[self.elements_of(operations)];
        let mut pieces = Vec::with_capacity(operations.len());
        for operation in operations.clone() {
            let length = self.operations[operation].len();
            let own =
                rest.split_off_mut(..length).expect("operations of a level follow each other");
            if !done[operation] {
                pieces.push((operation, own));
            }
        }
        parallel::for_each(pieces, &|_, (operation, own)| work(operation, own, below));
    }

    /// Whether all operations have elements that pass the check.
    fn is_sound<T: Pod + Send + Sync>(&self, elements: &[T], check: &Check<'_, T>) -> bool {
        self.levels.iter().all(|level| {
            let below = &elements[self.elements_of(level).end..];
            let own = |operation: usize| &elements[self.operations[operation].clone()];
            parallel::all(level.len(), &|number| {
                let operation = level.start + number;
                check(operation, own(operation), below)
            })
        })
    }

    /// Which operations are done; the elements of others are made zero. Where one of a level is not, none behind that level is: they were
    /// made of its elements.
    fn done<T: Pod + Send + Sync>(
        &self,
        elements: &mut [T],
        marks: &[u64],
        identity: u64,
        check: &Check<'_, T>,
    ) -> Vec<bool> {
        let mut done = vec![false; self.operations.len()];
        for level in self.levels {
            let below = &elements[self.elements_of(level).end..];
            let is_done = |operation: usize| {
                let own = &elements[self.operations[operation].clone()];
                marks[operation] == mark(own, identity, operation) && check(operation, own, below)
            };
            let own = parallel::map(level.len(), &|number| is_done(level.start + number));
            done[level.clone()].copy_from_slice(&own);
            if own.contains(&false) {
                break;
            }
        }
        for (own, _) in self.operations.iter().zip(&done).filter(|(_, done)| !**done) {
            elements[own.clone()].fill(T::zeroed());
        }
        done
    }
}

/// What stands for an operation that is done: never 0.
fn mark<T: Pod>(elements: &[T], identity: u64, operation: usize) -> u64 {
    let bytes: &[u8] = bytemuck::cast_slice(elements);
    xxh64(bytes, identity.wrapping_add(operation as u64)).max(1)
}
