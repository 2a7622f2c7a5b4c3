//! Tables whose elements are written once.
//!
//! With [`Persist::Operation`] there is a checksum for every operation behind the table. It is made durable
//! together with the operation's elements, in any order: after a crash, an operation is done if its elements have its checksum. That costs reading
//! what was written once more, while it is in the cache.

use std::ops::Range;
use std::sync::Arc;

use tadoc_core::parallel;
use tadoc_tasks::work::{Bytes, CheckFilled, Fill, Filling, RULES_AT_ONCE};
use xxhash_rust::xxh64::xxh64;

use super::{Found, Phases};
use crate::layout::{Kind, Table, digest};
use crate::medium::PAGE;
use crate::medium::space::Region;
use crate::{Persist, Pool, Result};

impl Phases<'_> {
    /// `work` and `check` get an operation, its bytes, and those behind the operation's level.
    pub(super) fn fill_table(
        &mut self,
        phase: &'static str,
        filling: &Filling<'_>,
        check: &CheckFilled<'_>,
        work: &Fill<'_>,
    ) -> Result<Bytes> {
        let shape = [filling.bytes as u64, shape_of(filling)];
        let bytes = filling.bytes as u64;
        let is_sound = |pool: &Pool, table: &Table| {
            table.bytes == bytes
                && filling.is_sound(&pool.space.shared::<u8>(table.offset, filling.bytes), check)
        };
        let size = (filling.element, bytes);
        let (at_work, new) = match self.look(phase, Kind::Fill, size, &shape, &is_sound) {
            Found::Finished(table) => {
                return Ok(Arc::new(self.pool.space.shared::<u8>(table.offset, filling.bytes)));
            }
            Found::Open(at_work, new) => (at_work, new),
        };
        let marks = if self.by_operation() { filling.operations.len() } else { 0 };
        let marks_start = |table: &Table| table.end().next_multiple_of(PAGE);
        let marks_end = |table: &Table| marks_start(table) + 8 * marks as u64;
        let (table, resumed) = self.begin(at_work, new, |table| table.bytes == bytes, marks_end)?;
        let (offset, identity) = (table.offset, table.identity);
        let mut elements = self.pool.space.region::<u8>(table.offset, filling.bytes);
        if marks == 0 {
            let work = self.settling(&table, filling, work);
            for level in filling.levels {
                filling.run(&mut elements, level, level, &|_| false, &work);
            }
        } else {
            let mut marks = self.pool.space.region::<u64>(marks_start(&table), marks);
            let done = if resumed {
                done(filling, &mut elements, &marks, identity, check)
            } else {
                vec![false; marks.len()]
            };
            if resumed {
                let there = done.iter().filter(|&&done| done).count();
                self.pool.resumes(phase, there as u64, done.len() as u64);
            }
            self.fill_durably(filling, &mut elements, &mut marks, &done, identity, work)?;
        }
        drop(elements);
        self.finish(table)?;
        let elements = self.pool.space.shared::<u8>(offset, filling.bytes);
        debug_assert!(filling.is_sound(&elements, check), "{phase}");
        Ok(Arc::new(elements))
    }

    /// The same work, after which the device may begin to write what came of it.
    fn settling<'a>(
        &'a self,
        table: &'a Table,
        filling: &'a Filling<'_>,
        work: &'a Fill<'a>,
    ) -> impl Fn(usize, &mut [u8], &[u8]) + Sync + 'a {
        move |operation, own, below| {
            work(operation, own, below);
            if self.persist == Persist::Phase && own.len() >= SETTLED_AT_ONCE {
                let start = table.offset + filling.operations[operation].start as u64;
                self.pool.space.settle(start..start + own.len() as u64);
            }
        }
    }

    /// Runs all operations that are not done, and makes them durable by waves. Small levels share one.
    fn fill_durably(
        &self,
        filling: &Filling<'_>,
        elements: &mut Region<u8>,
        marks: &mut Region<u64>,
        done: &[bool],
        identity: u64,
        work: &Fill<'_>,
    ) -> Result<()> {
        let (start, marks_start) = (elements.range().start, marks.range().start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut waiting = 0;
        for (number, level) in filling.levels.iter().enumerate() {
            for first in level.clone().step_by(self.wave()) {
                let wave = first..level.end.min(first + self.wave());
                filling.run(elements, level, &wave, &|operation| done[operation], work);
                let own = filling.bytes_of(&wave);
                let sums = parallel::map(wave.len(), &|number| {
                    let operation = wave.start + number;
                    mark(&elements[filling.operations[operation].clone()], identity, operation)
                });
                marks[wave.clone()].copy_from_slice(&sums);
                ranges.push(start + own.start as u64..start + own.end as u64);
                ranges.push(marks_start + 8 * wave.start as u64..marks_start + 8 * wave.end as u64);
                waiting += own.len() / filling.element;
                let last = number + 1 == filling.levels.len() && wave.end == level.end;
                // A level of a few rules is much less than an operation may be.
                if last || wave.len() > 1 || waiting >= RULES_AT_ONCE {
                    self.pool.persist(&ranges)?;
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

/// Which operations are done; the elements of others are made zero. Where one of a level is not, none behind that level is: they were
/// made of its elements.
fn done(
    filling: &Filling<'_>,
    elements: &mut [u8],
    marks: &[u64],
    identity: u64,
    check: &CheckFilled<'_>,
) -> Vec<bool> {
    let mut done = vec![false; filling.operations.len()];
    for level in filling.levels {
        let below = &elements[filling.bytes_of(level).end..];
        let is_done = |operation: usize| {
            let own = &elements[filling.operations[operation].clone()];
            marks[operation] == mark(own, identity, operation) && check(operation, own, below)
        };
        let own = parallel::map(level.len(), &|number| is_done(level.start + number));
        done[level.clone()].copy_from_slice(&own);
        if own.contains(&false) {
            break;
        }
    }
    for (own, _) in filling.operations.iter().zip(&done).filter(|(_, done)| !**done) {
        elements[own.clone()].fill(0);
    }
    done
}

/// What stands for an operation that is done: never 0.
fn mark(elements: &[u8], identity: u64, operation: usize) -> u64 {
    xxh64(elements, identity.wrapping_add(operation as u64)).max(1)
}

/// A digest of where operations and levels are.
fn shape_of(filling: &Filling<'_>) -> u64 {
    let digest_of = |ranges: &[Range<usize>]| {
        let ends: Vec<u64> =
            ranges.iter().flat_map(|range| [range.start as u64, range.end as u64]).collect();
        digest(&ends, 0)
    };
    digest(&[digest_of(filling.operations), digest_of(filling.levels)], 0)
}
