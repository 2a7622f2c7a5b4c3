//! Bottom-up over sequences: a network whose items are sequences.
//!
//! The body of a rule becomes the rules of the old one and the sequences that cross a border in it, and so does the root of
//! a document. So a sequence is in the new bodies as often, and in the same documents, as in the text.
//!
//! Cost: 8 bytes for each symbol and each place of a sequence, sorted once; then a traversal. Waits for where rows begin.

use super::kernel;
use crate::device::{Buffer, Kernel, groups_for};
use crate::error::{Error, Result};
use crate::lists::{Rows, Table};
use crate::network::{ResidentNetwork, bits_below, find_starts};
use crate::primitives::sort::{self, Keys, Order};
use crate::sequences::SequenceRows;
use crate::traverse::{Bodies, RuleLists};

const LIST_CHILDREN: Kernel = kernel("list_children");
const LIST_WINDOWS: Kernel = kernel("list_windows");

/// The sequences of each document, ascending, with counts.
pub(super) fn table(network: &ResidentNetwork, sequences: &SequenceRows) -> Result<Table> {
    let device = &network.device;
    let (rules, documents) = (network.rule_count, network.document_count);
    let (bodies, root, windows) = (network.bodies.len(), network.root.len(), sequences.edges.len());
    let total = bodies + root + windows;
    let symbols = u64::from(rules) + sequences.count as u64;
    if total as u64 > u32::MAX.into() || symbols > u32::MAX.into() {
        let what = format!("a network of {total} sequences and rules");
        return Err(Error::Unsupported { what });
    }
    let (owners, edges) = (device.allocate::<u32>(total)?, device.allocate::<u32>(total)?);
    let row_count = rules + documents;
    let children = |symbols: &Buffer<u32>, starts: &Buffer<u32>, first_row: u32, to: usize| {
        device.launch(
            &LIST_CHILDREN,
            groups_for(symbols.len()),
            &[
                symbols.into(),
                starts.into(),
                (&owners).into(),
                (&edges).into(),
                (starts.len() as u32 - 1).into(),
                first_row.into(),
                row_count.into(),
                rules.into(),
                (to as u32).into(),
                (symbols.len() as u32).into(),
            ],
        )
    };
    children(&network.bodies, &network.body_starts, 0, 0)?;
    children(&network.root, &network.document_starts, rules, bodies)?;
    device.launch(
        &LIST_WINDOWS,
        groups_for(windows),
        &[
            (&sequences.edges).into(),
            (&sequences.edge_starts).into(),
            (&owners).into(),
            (&edges).into(),
            (sequences.count as u32).into(),
            rules.into(),
            ((bodies + root) as u32).into(),
            (windows as u32).into(),
        ],
    )?;
    let rows = sort::Rows { keys: Keys::Narrow(owners), first: Some(edges), second: None };
    let bits = 0..bits_below(row_count + 1);
    let rows = sort::sort(device, rows, total, bits, Order::Ascending)?;
    let starts = find_starts(&rows.keys.narrow(), total as u32, row_count)?;
    let edges = rows.first.expect("it was given");
    let on_host = device.download(&starts)?;
    let level_edges: Vec<u32> = network.levels.iter().map(|&rule| on_host[rule as usize]).collect();
    let bodies = Bodies { starts: &starts, edges: &edges, level_edges: &level_edges };
    let value_count = sequences.count as u32;
    let lists = RuleLists::of_bodies(network, &bodies, value_count, network.rule_lengths)?;
    lists.table(&Rows {
        row_starts: &starts,
        edges: &edges,
        rows: rules..row_count,
        edge_range: on_host[rules as usize]..on_host[row_count as usize],
        virtual_from: rules,
        value_count,
        most_long: u32::MAX,
    })
}
