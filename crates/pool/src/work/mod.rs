//! What algorithms see of a pool: phases that make tables.
//!
//! A phase has a name, and makes one table out of finished ones, by operations that are independent of each other within a
//! *wave*. There are three kinds, by what an operation may write:
//!
//! - [`Work::fill`] and [`Work::fill_upwards`]: a table of a length that is known before; each element is written once, by the one
//!   operation that it belongs to.
//! - [`Work::accumulate`]: counters of a number that is known before; operations add to any of them.
//! - [`Work::append`]: blocks, one by every operation, of a length that is known when it is done.
//!
//! A closure that is given to these must be a function of its arguments and of finished tables: it may be called again for an
//! operation whose results were lost, and must give the same. Everything is done on the rayon pool of the caller.
//!
//! A phase that was finished before a crash is not run again; its table is given as it is, once its checksums have been found right. With
//! [`Persist::Operation`] operations that were done are not run again either. A phase is known again by the chain that it is of, its place
//! and name in it, and its shape: lengths, cuts and levels. Whatever else results depend on must be in the chain's key.
//!
//! Checksums say that a table is what someone wrote, and not that a phase made it. So every phase comes with a *check* of what its readers
//! rely on: that offsets ascend and end where their rows do, that numbers are below what they number. What was found in the pool, a table or the
//! results of an operation, is used if it passes; else it is made again. What was just made is not checked, but for assertions of debug builds.
//!
//! # Modules
//!
//! [`fill`], [`accumulate`] and [`append`] are the three kinds, [`late`] blocks that are checked when they are read, [`scratch`] rows that are lost with the process.

pub mod accumulate;
pub mod append;
pub mod fill;
pub mod late;
pub mod scratch;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use accumulate::Counters;
pub use append::{Block, BlockBuilder, Blocks};
pub use late::{LateBlock, LateBlocks};
pub use scratch::Scratch;

use crate::Persist;
use crate::layout::{Kind, Table, WORKING};
use crate::pool::{Pool, Resumption};

/// Rules of an operation that goes over rules.
pub const RULES_AT_ONCE: usize = 1 << 14;

/// Sections of blocks begin at multiples of this.
pub const BLOCK_ALIGNMENT: usize = crate::layout::ALIGNMENT as usize;

/// Operations that are made durable together, for each thread.
const OPERATIONS_OF_A_THREAD: usize = 4;

/// Runs the phases of a task.
pub struct Work<'p> {
    pool: Owner<'p>,
    group: usize,
    /// Phases before the next one.
    phases: usize,
    persist: Persist,
    memory: u64,
    /// Bytes of memory that rows to work in have now.
    taken: Arc<AtomicU64>,
}

/// Whose the pool is.
enum Owner<'p> {
    Own(Box<Pool>),
    Other(&'p mut Pool),
}

/// What there is of a phase.
enum Found {
    Finished(Table),
    AtWork(Table),
    Nothing,
}

impl<'p> Work<'p> {
    /// Work that is lost with the process; for tests.
    ///
    /// # Panics
    /// If the system gives no memory.
    pub fn volatile(memory: u64) -> Self {
        let mut pool = Pool::in_memory().expect("memory for a pool");
        pool.begin(WORKING, 0, "a test");
        Self::new(Owner::Own(Box::new(pool)), WORKING, Persist::None, memory)
    }

    pub(crate) fn on(pool: &'p mut Pool, group: usize, persist: Persist, memory: u64) -> Self {
        Self::new(Owner::Other(pool), group, persist, memory)
    }

    fn new(pool: Owner<'p>, group: usize, persist: Persist, memory: u64) -> Self {
        Self { pool, group, phases: 0, persist, memory, taken: Arc::default() }
    }

    /// Passes over a phase whose table was made otherwise.
    pub(crate) fn skip_phase(&mut self) {
        self.phases += 1;
    }

    /// Bytes of memory that the work may take, beside the pool.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// What this chain has found so far.
    pub fn resumption(&self) -> &Resumption {
        self.pool().resumptions().last().expect("a chain was begun")
    }

    fn pool(&self) -> &Pool {
        match &self.pool {
            Owner::Own(pool) => pool,
            Owner::Other(pool) => pool,
        }
    }

    fn pool_mut(&mut self) -> &mut Pool {
        match &mut self.pool {
            Owner::Own(pool) => pool,
            Owner::Other(pool) => pool,
        }
    }

    /// Looks for the next phase in the pool; what is there instead of it, or is damaged, is discarded with all behind it. A finished table
    /// is taken if it has its checksums and `is_sound` says that whoever reads it can.
    fn look(
        &mut self,
        phase: &'static str,
        kind: Kind,
        element: usize,
        shape: &[u64],
        is_sound: &dyn Fn(&Pool, &Table) -> bool,
    ) -> (Found, u64) {
        let (group, place, persist) = (self.group, self.phases, self.persist);
        self.phases += 1;
        let pool = self.pool_mut();
        pool.begin_phase();
        let mut whole = vec![kind as u64, element as u64];
        whole.extend_from_slice(shape);
        let identity = pool.identity(group, place, phase, &whole);
        let index = pool.directory.of_group(group).start + place;
        if !pool.directory.of_group(group).contains(&index) {
            // What later groups have was made of another base.
            pool.directory.cut(group, place);
            return (Found::Nothing, identity);
        }
        let table = pool.directory.tables[index].clone();
        let at_work = pool.directory.at_work && index + 1 == pool.directory.tables.len();
        let same = table.identity == identity && table.kind == kind;
        if same && at_work && persist == Persist::Operation {
            return (Found::AtWork(table), identity);
        }
        if same && !at_work && pool.is_right(&table) && is_sound(pool, &table) {
            pool.resumption().finished.push(phase.to_owned());
            return (Found::Finished(table), identity);
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
        (Found::Nothing, identity)
    }

    /// Discards the table at work, which cannot be gone on with.
    fn give_up(&mut self, phase: &str) {
        let (group, place) = (self.group, self.phases - 1);
        let pool = self.pool_mut();
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

/// The rules of levels, cut into operations: for each level, ranges of rules.
fn operations_of(level: &[u32]) -> impl ExactSizeIterator<Item = Range<u32>> + use<> {
    let (start, end) = (level[0], level[1]);
    let firsts = (start..end).step_by(RULES_AT_ONCE);
    firsts.map(move |first| first..end.min(first + RULES_AT_ONCE as u32))
}

/// Where the elements of rules are in a table.
#[derive(Debug, Clone, Copy)]
pub enum Starts<'a> {
    /// Every rule has one.
    One,
    /// Where those of each rule start, with the end behind the last.
    At(&'a [u64]),
}

impl Starts<'_> {
    /// Where the elements of a rule start.
    #[inline]
    pub fn of(self, rule: u32) -> usize {
        match self {
            Self::One => rule as usize,
            Self::At(starts) => starts[rule as usize] as usize,
        }
    }
}

impl Starts<'_> {
    /// A digest of them, for so many rules.
    fn digest(self, rules: u32) -> u64 {
        match self {
            Self::One => u64::from(rules),
            Self::At(starts) => crate::layout::digest(&starts[..=rules as usize], 1),
        }
    }
}
