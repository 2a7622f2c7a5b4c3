//! The two ways through a network, for everything that is asked of each document.
//!
//! Top-down, every rule gets the documents that it occurs in, with how often, from those that use it; then an item, or
//! a sequence, gets them from the rules that it is in. Bottom-up, every rule gets the items that it expands to from its body, and
//! a document from its root. Both are lists merged along edges, level by level.
//!
//! Cost: of the levels about five launches each and, where a row may be long, one wait; see `lists` for what is moved. Memory: 8
//! bytes an entry of the lists of all rules, for which there is room before it is known how many there are.

use crate::device::{Buffer, Kernel, groups_for};
use crate::error::{Error, Result};
use crate::lists::{self, Lists, Offsets, Pool, Rows, Table, Target, VIRTUAL};
use crate::network::ResidentNetwork;

const START_LISTS: Kernel = Kernel { module: &lists::MODULE, name: "start_lists" };

/// The lists of all rules; top-down also those of the root.
#[derive(Debug)]
pub struct RuleLists {
    /// Where they are.
    pub lists: Lists,
    /// Their entries.
    pub pool: Pool,
}

/// Counts in a document have 32 bits.
fn check_length(network: &ResidentNetwork) -> Result<()> {
    if network.length <= u32::MAX.into() {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: format!("a text of {} words, counted by document", network.length),
    })
}

impl RuleLists {
    /// The documents of every rule, ascending, with how often it occurs in each. Top-down.
    pub fn documents(network: &ResidentNetwork) -> Result<Self> {
        check_length(network)?;
        let device = &network.device;
        let (rules, symbols) = (network.rule_count, network.symbol_count());
        let postings = network.posting_documents.len();
        let made = Self {
            lists: Lists::new(device, (rules + symbols) as usize)?,
            pool: Pool::new(device, postings as u64 + network.document_bound)?,
        };
        let Self { lists, pool } = &made;
        if pool.capacity() < postings as u64 {
            let (needed, free) = (8 * postings as u64, 8 * pool.capacity());
            return Err(Error::TooLittleMemory {
                device: device.info().name.clone(),
                needed,
                free,
            });
        }
        device.copy(&network.posting_documents, 0, &pool.values, 0, postings)?;
        device.copy(&network.posting_counts, 0, &pool.counts, 0, postings)?;
        device.write(&pool.used, 0, &[postings as u64])?;
        device.launch(
            &START_LISTS,
            groups_for((rules + symbols) as usize),
            &[
                (&network.posting_starts).into(),
                (&lists.starts).into(),
                (&lists.sizes).into(),
                rules.into(),
                symbols.into(),
            ],
        )?;
        for level in 0..network.levels.len() - 1 {
            made.merge_level(&Rows {
                rows: network.levels[level]..network.levels[level + 1],
                edge_range: network.level_edges[level]..network.level_edges[level + 1],
                most_long: network.level_long_uses[level],
                ..of_uses(network)
            })?;
        }
        Ok(made)
    }

    /// The items of every rule, ascending, with how often each occurs in it. Bottom-up.
    pub fn items(network: &ResidentNetwork) -> Result<Self> {
        let bound = network.item_bound;
        let bodies = Bodies {
            starts: &network.body_starts,
            edges: &network.bodies,
            level_edges: &network.level_symbols,
        };
        Self::of_bodies(network, &bodies, network.item_count, bound)
    }

    /// The values of every rule, from bodies whose symbols are rules, then values. There is room for `bound` entries.
    pub fn of_bodies(
        network: &ResidentNetwork,
        bodies: &Bodies<'_>,
        value_count: u32,
        bound: u64,
    ) -> Result<Self> {
        check_length(network)?;
        let device = &network.device;
        let made = Self {
            lists: Lists::new(device, network.rule_count as usize)?,
            pool: Pool::new(device, bound)?,
        };
        for level in (0..network.levels.len() - 1).rev() {
            made.merge_level(&Rows {
                row_starts: bodies.starts,
                edges: bodies.edges,
                rows: network.levels[level]..network.levels[level + 1],
                edge_range: bodies.level_edges[level]..bodies.level_edges[level + 1],
                virtual_from: network.rule_count,
                value_count,
                most_long: network.level_long_bodies[level],
            })?;
        }
        Ok(made)
    }

    fn merge_level(&self, rows: &Rows<'_>) -> Result<()> {
        let target = Target { lists: &self.lists, pool: &self.pool, first: 0 };
        lists::merge(rows, &Offsets::new(rows, &self.lists)?, &self.lists, &self.pool, target)
    }

    /// The lists of other rows, one after the other. Waits for how many entries they have before and after they are merged, and
    /// whether there was room for everything.
    pub fn table(&self, rows: &Rows<'_>) -> Result<Table> {
        let device = rows.edges.device();
        let offsets = Offsets::new(rows, &self.lists)?;
        let pool = Pool::new(device, offsets.total()?)?;
        let lists = Lists::new(device, rows.rows.len())?;
        let target = Target { lists: &lists, pool: &pool, first: rows.rows.start };
        lists::merge(rows, &offsets, &self.lists, &self.pool, target)?;
        self.pool.check()?;
        pool.check()?;
        Table::new(&lists, &pool)
    }
}

/// The bodies of rules.
#[derive(Debug, Clone, Copy)]
pub struct Bodies<'a> {
    /// Where each begins, and where the last one ends.
    pub starts: &'a Buffer<u32>,
    /// Their symbols.
    pub edges: &'a Buffer<u32>,
    /// Where those of each level begin, and where the last ones end.
    pub level_edges: &'a [u32],
}

/// All symbols as rows, with their uses as edges to lists of documents.
fn of_uses(network: &ResidentNetwork) -> Rows<'_> {
    Rows {
        row_starts: &network.use_starts,
        edges: &network.uses,
        rows: 0..network.symbol_count(),
        edge_range: 0..network.uses.len() as u32,
        virtual_from: VIRTUAL,
        value_count: network.document_count,
        most_long: u32::MAX,
    }
}

/// The items as rows, with their uses as edges to lists of documents.
pub fn item_rows(network: &ResidentNetwork) -> Rows<'_> {
    let level = network.levels.len() - 1;
    Rows {
        rows: network.rule_count..network.symbol_count(),
        edge_range: network.level_edges[level]..network.level_edges[level + 1],
        most_long: network.level_long_uses[level],
        ..of_uses(network)
    }
}

/// The documents as rows, with the symbols of their roots as edges to lists of items.
pub fn document_rows(network: &ResidentNetwork) -> Rows<'_> {
    Rows {
        row_starts: &network.document_starts,
        edges: &network.root,
        rows: 0..network.document_count,
        edge_range: 0..network.root.len() as u32,
        virtual_from: network.rule_count,
        value_count: network.item_count,
        most_long: u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tadoc_core::Network;

    use super::*;
    use crate::testing::device;
    use tadoc_testing::networks::{chain, frequent, index, shapes};

    type Entries = Vec<(u32, u32, u32)>;

    fn entries(table: &Table) -> Entries {
        let device = table.starts.device();
        let starts = device.download(&table.starts).unwrap();
        let values = device.download(&table.values).unwrap();
        let counts = device.download(&table.counts).unwrap();
        let rows = starts.windows(2).enumerate();
        rows.flat_map(|(row, range)| {
            let entries = range[0] as usize..range[1] as usize;
            entries.map(|at| (row as u32, values[at], counts[at])).collect::<Vec<_>>()
        })
        .collect()
    }

    /// The first entries that differ.
    fn compare(found: &Entries, wanted: &Entries) {
        let differ = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
        let at = differ.unwrap_or(found.len().min(wanted.len()));
        let shown = |entries: &Entries| entries[at..entries.len().min(at + 9)].to_vec();
        assert_eq!((at, shown(found)), (at, shown(wanted)));
    }

    fn check(network: &Network) {
        let Some(device) = device() else { return };
        let resident = ResidentNetwork::new(&device, network).unwrap();
        let mut by_item = Entries::new();
        let mut by_document = BTreeMap::new();
        for (sequence, documents) in index(network, 1) {
            for (document, count) in documents {
                by_item.push((sequence[0], document, count));
                by_document.insert((document, sequence[0]), count);
            }
        }
        let by_document: Entries = by_document
            .into_iter()
            .map(|((document, item), count)| (document, item, count))
            .collect();
        let documents = RuleLists::documents(&resident).unwrap();
        compare(&entries(&documents.table(&item_rows(&resident)).unwrap()), &by_item);
        let items = RuleLists::items(&resident).unwrap();
        compare(&entries(&items.table(&document_rows(&resident)).unwrap()), &by_document);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_ways_are_those_of_the_text(shape in shapes()) {
            check(&shape.network());
        }
    }

    #[test]
    fn deep_and_frequent() {
        check(&chain(200, 4));
        check(&chain(200, 300));
        check(&chain(1000, 1));
        // Rows of more entries than a tile has, of few documents and of many.
        check(&frequent(5000, 4));
        check(&frequent(3000, 300));
        check(&frequent(700, 40_000));
    }
}
