//! The tasks, on a resident network.
//!
//! [`run`] leaves its answer on the device ([`DeviceAnswer`]), in the order that the task has; `download` makes a plain table of
//! it. Both strategies come to the same tables: for each item or sequence the documents that have it. Top-down they are merged
//! from the documents of rules, bottom-up turned around from the items of documents. Counts over all documents are weights
//! top-down, and tables added up bottom-up.
//!
//! Cost: what `weights`, `lists` and `sequences` say, and a radix sort of the answer where it is in the order of counts.

mod answer;
mod rank;
mod sequence_bodies;
#[cfg(test)]
mod tests;

use tadoc_core::{Limits, Strategy, Task};

pub use self::answer::DeviceAnswer;
use self::answer::{Counts, Index, Names, Vectors};
use crate::device::{Buffer, Kernel, Module, groups_for};
use crate::error::{Error, Result};
use crate::lists::{Lists, Rows, Table, VIRTUAL, busy_groups};
use crate::network::ResidentNetwork;
use crate::primitives::scan;
use crate::sequences::SequenceRows;
use crate::traverse::{RuleLists, document_rows, item_rows};
use crate::weights::Weights;

/// The kernels.
pub static MODULE: Module = Module { name: "tasks", source: include_str!("../../kernels/tasks.c") };

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

const KEPT_SIZES: Kernel = kernel("kept_sizes");
const ROW_TOTALS: Kernel = kernel("row_totals");
const ADD_TABLES: Kernel = kernel("add_tables");
const START_TOTALS: Kernel = kernel("start_totals");

/// Runs a task. Without a strategy it goes top-down.
///
/// # Errors
/// [`Error::Unsupported`] for what the kernels do not do, [`Error::TooLittleMemory`] if what the task makes does not fit.
pub fn run(network: &ResidentNetwork, task: Task, limits: &Limits) -> Result<DeviceAnswer> {
    let is_counted = matches!(task, Task::WordCount | Task::Sort);
    if !is_counted && !network.has_root {
        let what = "asking for documents of a view that has counts only".to_owned();
        return Err(Error::Unsupported { what });
    }
    let Limits { least, top, .. } = *limits;
    let top = top.unwrap_or(usize::MAX);
    let strategy = limits.strategy.unwrap_or(Strategy::TopDown);
    let n = task.terms_of_a_key();
    Ok(match task {
        Task::WordCount => {
            let ranked = rank::by_count(count_items(network, strategy)?, network.length)?;
            let names = Names::Terms(Some(ranked.order));
            DeviceAnswer::Counts(Counts { names, counts: ranked.counts, least, top })
        }
        Task::Sort => {
            let counts = count_items(network, strategy)?;
            DeviceAnswer::Counts(Counts { names: Names::Terms(None), counts, least, top })
        }
        Task::InvertedIndex => {
            let table = index(network, strategy, least)?;
            let names = Names::Terms(None);
            DeviceAnswer::Index(Index { names, table, with_counts: false, top })
        }
        Task::TermVector => {
            let table = index(network, strategy, least)?;
            let table = rank::transposed(&table, network.document_count)?;
            DeviceAnswer::Vectors(Vectors { names: Names::Terms(None), table, top })
        }
        Task::SequenceCount { .. } => {
            let sequences = Sequences::new(network, n)?;
            let counts = match strategy {
                Strategy::TopDown => sequences.rows.counts(&sequences.weights.lists)?,
                Strategy::BottomUp => totals(&sequences.index(network, strategy, 1)?)?,
            };
            let ranked = rank::by_count(counts, network.length)?;
            let names = Names::of_sequences(sequences.rows);
            let names = rank::ordered(names, &ranked.order)?;
            DeviceAnswer::Counts(Counts { names, counts: ranked.counts, least, top })
        }
        Task::SequenceCountPerDocument { .. } => {
            let sequences = Sequences::new(network, n)?;
            let table = sequences.index(network, strategy, least)?;
            let table = rank::transposed(&table, network.document_count)?;
            let names = Names::of_sequences(sequences.rows);
            DeviceAnswer::Vectors(Vectors { names, table, top })
        }
        Task::RankedInvertedIndex { .. } => {
            let sequences = Sequences::new(network, n)?;
            let table = rank::in_rows(sequences.index(network, strategy, least)?)?;
            let names = Names::of_sequences(sequences.rows);
            DeviceAnswer::Index(Index { names, table, with_counts: true, top })
        }
        Task::TfIdf(_) | Task::Cooccurrence { .. } | Task::Collocations { .. } => {
            return Err(not_here(task));
        }
    })
}

/// A task that there are no kernels for.
pub(crate) fn not_here(task: Task) -> Error {
    Error::Unsupported { what: format!("the task {}", task.name()) }
}

/// How often each item occurs.
fn count_items(network: &ResidentNetwork, strategy: Strategy) -> Result<Buffer<u64>> {
    if strategy == Strategy::TopDown {
        return Ok(Weights::new(network)?.items);
    }
    let device = &network.device;
    let RuleLists { lists, pool } = RuleLists::items(network)?;
    let (rules, items) = (network.rule_count, network.item_count);
    let totals = device.allocate(items as usize)?;
    device.launch(
        &START_TOTALS,
        groups_for(items as usize),
        &[(&network.root_counts).into(), (&totals).into(), rules.into(), items.into()],
    )?;
    device.launch(
        &ADD_TABLES,
        groups_for(32 * rules as usize).min(busy_groups(device)),
        &[
            (&network.root_counts).into(),
            (&lists.starts).into(),
            (&lists.sizes).into(),
            (&pool.values).into(),
            (&pool.counts).into(),
            (&totals).into(),
            rules.into(),
        ],
    )?;
    pool.check()?;
    Ok(totals)
}

/// The documents of each item that occurs at least so often.
fn index(network: &ResidentNetwork, strategy: Strategy, least: u64) -> Result<Table> {
    let table = match strategy {
        Strategy::TopDown => RuleLists::documents(network)?.table(&item_rows(network))?,
        Strategy::BottomUp => {
            let table = RuleLists::items(network)?.table(&document_rows(network))?;
            rank::turned(table, network.item_count)?
        }
    };
    keep(table, least)
}

/// The sum of the counts of each row.
fn totals(table: &Table) -> Result<Buffer<u64>> {
    let device = table.starts.device();
    let sums = scan::starts::<u32, u64>(device, &table.counts, table.entries())?;
    let rows = table.rows();
    let totals = device.allocate(rows)?;
    device.launch(
        &ROW_TOTALS,
        groups_for(rows),
        &[(&table.starts).into(), (&sums).into(), (&totals).into(), (rows as u32).into()],
    )?;
    Ok(totals)
}

/// The table without the rows whose counts are below the least in all; these become empty.
fn keep(table: Table, least: u64) -> Result<Table> {
    if least <= 1 {
        return Ok(table);
    }
    let device = table.starts.device();
    let rows = table.rows();
    let totals = totals(&table)?;
    let sizes = device.allocate(rows)?;
    device.launch(
        &KEPT_SIZES,
        groups_for(rows),
        &[
            (&table.starts).into(),
            (&totals).into(),
            (&sizes).into(),
            (rows as u32).into(),
            least.into(),
        ],
    )?;
    let Table { starts, values, counts } = table;
    Table::of_lists(&Lists { starts, sizes }, &values, &counts)
}

/// The sequences of a network, with the weights by which they were found.
struct Sequences {
    weights: Weights,
    rows: SequenceRows,
}

impl Sequences {
    fn new(network: &ResidentNetwork, n: usize) -> Result<Self> {
        let weights = Weights::new(network)?;
        let rows = SequenceRows::new(network, &weights.lists, n)?;
        Ok(Self { weights, rows })
    }

    /// The documents of each sequence that occurs at least so often.
    fn index(&self, network: &ResidentNetwork, strategy: Strategy, least: u64) -> Result<Table> {
        let table = match strategy {
            Strategy::TopDown => {
                let edges = self.rows.edges.len() as u32;
                RuleLists::documents(network)?.table(&Rows {
                    row_starts: &self.rows.edge_starts,
                    edges: &self.rows.edges,
                    rows: 0..self.rows.count as u32,
                    edge_range: 0..edges,
                    virtual_from: VIRTUAL,
                    value_count: network.document_count,
                    most_long: u32::MAX,
                })?
            }
            Strategy::BottomUp => {
                let table = sequence_bodies::table(network, &self.rows)?;
                rank::turned(table, self.rows.count as u32)?
            }
        };
        keep(table, least)
    }
}
