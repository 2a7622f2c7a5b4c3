//! The phases of a chain in a pool: the durable [`Storage`].
//!
//! A phase that was finished before a crash is not run again; its table is given as it is, once its checksums and the phase's check have been found right. With
//! [`Persist::Operation`] operations that were done are not run again either. A phase is known again by the chain that it is of, its place
//! and name in it, and its shape: lengths, cuts and levels. Whatever else results depend on must be in the chain's key.
//!
//! # Modules
//!
//! `fill`, `accumulate` and `append` are the three kinds of phases, [`late`] blocks that are checked when they are read.

mod accumulate;
mod append;
mod fill;
pub mod late;

use tadoc_core::room::Room;
use tadoc_core::{Array, usize_of};
use tadoc_tasks::work::{
    Append, Blocks, Bytes, CheckBlock, CheckFilled, Counting, Fill, Filling, Storage,
};

pub use late::{LateBlock, LateBlocks};
pub use tadoc_tasks::work::BlockBuilder;

use crate::layout::{Kind, Table};
use crate::pool::Pool;
use crate::{Persist, Result};

/// Sections of blocks begin at multiples of this.
pub const BLOCK_ALIGNMENT: usize = usize_of(crate::layout::ALIGNMENT);
/// Operations that are made durable together, for each thread.
const OPERATIONS_OF_A_THREAD: usize = 4;

/// The phases of a chain, in a pool.
pub(crate) struct Phases<'p> {
    pool: &'p mut Pool,
    group: usize,
    /// Phases before the next one.
    phases: usize,
    persist: Persist,
}

/// What there is of a phase.
enum Found {
    Finished(Table),
    /// A table that may be at work, and the one to enter if it cannot be gone on with; where that
    /// goes is said then.
    Open(Option<Table>, Table),
}

/// Less than in memory: a pool is for those who have little.
const MOST_OF_AN_OPERATION: u64 = 8 << 20;

impl Storage for Phases<'_> {
    fn fill(
        &mut self,
        phase: &'static str,
        filling: &Filling<'_>,
        check: &CheckFilled<'_>,
        work: &Fill<'_>,
    ) -> tadoc_tasks::Result<Bytes> {
        Ok(self.fill_table(phase, filling, check, work)?)
    }

    fn accumulate(
        &mut self,
        phase: &'static str,
        counting: &Counting<'_>,
    ) -> tadoc_tasks::Result<Array<u64>> {
        Ok(self.accumulate_table(phase, counting)?)
    }

    fn append(
        &mut self,
        phase: &'static str,
        operations: usize,
        check: &CheckBlock<'_>,
        work: &Append<'_>,
    ) -> tadoc_tasks::Result<Blocks> {
        self.append_table(phase, operations, check, work)
    }

    fn aside(&self, bytes: usize) -> tadoc_tasks::Result<Room> {
        Ok(self.pool.aside(bytes)?)
    }

    fn most_of_an_operation(&self) -> u64 {
        MOST_OF_AN_OPERATION
    }
}

impl<'p> Phases<'p> {
    pub(crate) fn new(pool: &'p mut Pool, group: usize, persist: Persist) -> Self {
        Self { pool, group, phases: 0, persist }
    }

    /// Passes over a phase whose table was made otherwise.
    pub(crate) fn skip_phase(&mut self) {
        self.phases += 1;
    }

    /// Looks for the next phase in the pool; what is there instead of it, or is damaged, is discarded with all behind it. A finished table
    /// is taken if it has its checksums and `is_sound` says that whoever reads it can.
    fn look(
        &mut self,
        phase: &'static str,
        kind: Kind,
        (element, bytes): (usize, u64),
        shape: &[u64],
        is_sound: &dyn Fn(&Pool, &Table) -> bool,
    ) -> Found {
        let (group, place, persist) = (self.group, self.phases, self.persist);
        self.phases += 1;
        let pool = &mut *self.pool;
        pool.begin_phase();
        let mut whole = vec![kind as u64, element as u64];
        whole.extend_from_slice(shape);
        let identity = pool.identity(group, place, phase, &whole);
        #[expect(clippy::cast_possible_truncation, reason = "an element is a type of some bytes")]
        let (name, element) = (phase.to_owned(), element as u32);
        let new = Table { name, kind, element, offset: 0, bytes, identity, sums: 0 };
        let index = pool.directory.of_group(group).start + place;
        if !pool.directory.of_group(group).contains(&index) {
            // What later groups have was made of another view.
            pool.directory.cut(group, place);
            return Found::Open(None, new);
        }
        let table = pool.directory.tables[index].clone();
        let at_work = pool.directory.at_work && index + 1 == pool.directory.tables.len();
        let same = table.identity == identity && table.kind == kind;
        if same && at_work && persist == Persist::Operation {
            return Found::Open(Some(table), new);
        }
        if same && !at_work && pool.is_right(&table) && is_sound(pool, &table) {
            pool.resumption().finished.push(phase.to_owned());
            return Found::Finished(table);
        }
        let why = match (same, at_work) {
            (false, _) => "of another shape",
            (true, true) => "not finished",
            (true, false) => "damaged",
        };
        let behind = pool.directory.cut(group, place).saturating_sub(1);
        let behind = if behind == 0 { String::new() } else { format!(", and {behind} behind it") };
        pool.resumption()
            .discarded
            .push(format!("the table of `{}`, which is {why}{behind}", table.name));
        Found::Open(None, new)
    }

    /// Goes on with a table at work that `fits` and ends within the pool; else enters the new one,
    /// with zeros up to its `end`. Tells whether it goes on.
    fn begin(
        &mut self,
        at_work: Option<Table>,
        mut new: Table,
        fits: impl Fn(&Table) -> bool,
        end: impl Fn(&Table) -> u64,
    ) -> Result<(Table, bool)> {
        if let Some(table) = at_work {
            if fits(&table) && end(&table) <= self.pool.space.len() {
                return Ok((table, true));
            }
            self.give_up(&new.name);
        }
        new.offset = self.pool.next_offset();
        self.pool.zeros(new.offset..end(&new))?;
        if self.by_operation() {
            self.pool.enter(self.group, new.clone(), self.persist)?;
        }
        Ok((new, false))
    }

    fn finish(&mut self, table: Table) -> Result<()> {
        self.pool.finish(self.group, table, self.persist)
    }

    /// Discards the table at work, which cannot be gone on with.
    fn give_up(&mut self, phase: &str) {
        let (group, place) = (self.group, self.phases - 1);
        let pool = &mut *self.pool;
        pool.directory.cut(group, place);
        pool.resumption().discarded.push(format!("what was done of `{phase}`, which is damaged"));
    }

    /// Operations that are made durable together.
    fn wave(&self) -> usize {
        OPERATIONS_OF_A_THREAD * rayon::current_num_threads()
    }

    /// Whether operations are made durable.
    fn by_operation(&self) -> bool {
        self.persist == Persist::Operation
    }
}
