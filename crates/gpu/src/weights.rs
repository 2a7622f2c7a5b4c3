//! How often every rule and item occurs: sums over the transpose, level by level.
//!
//! Rows (symbols) are cut into tiles when a network is loaded. A launch does the tiles of one level, a group each; levels that
//! have few tiles and follow each other are done by a single group in one launch, so that a deep network costs few launches.
//! Nothing waits.
//!
//! Cost: 12 bytes read an edge, 12 moved a row. Memory: 8 bytes a list and an item, and what `Plan` keeps.

use crate::device::{Buffer, Device, Kernel, Module, groups_for};
use crate::error::Result;
use crate::network::ResidentNetwork;
use crate::tuning::{SMALL_LEVEL_TILES, WEIGHTS_PER_LANE};

use std::sync::Arc;

/// The kernels.
pub static MODULE: Module =
    Module { name: "weights", source: include_str!("../kernels/weights.c") };

const START_WEIGHTS: Kernel = Kernel { module: &MODULE, name: "start_weights" };
const SUM_LEVEL: Kernel = Kernel { module: &MODULE, name: "sum_level" };
const SUM_SMALL_LEVELS: Kernel = Kernel { module: &MODULE, name: "sum_small_levels" };

/// Edges of a tile at most, and rows of it.
const TILE: u32 = crate::device::GROUP * WEIGHTS_PER_LANE;
/// Says that a tile is a piece of one row, as the kernels do.
const PIECE: u32 = 1 << 31;

/// How often everything occurs.
#[derive(Debug)]
pub struct Weights {
    /// For each rule; behind them, for each symbol, how often it is in the root.
    pub lists: Buffer<u64>,
    /// For each item.
    pub items: Buffer<u64>,
}

/// How the rows of a network are cut up.
#[derive(Debug)]
pub struct Plan {
    /// The first row of each tile, or the row that it is a piece of; and behind them the number of rows.
    tile_rows: Buffer<u32>,
    /// The first edge of each tile, and behind them the number of edges.
    tile_edges: Buffer<u32>,
    steps: Vec<Step>,
}

/// One launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    first_tile: u32,
    last_tile: u32,
    /// By one group, one tile after the other.
    alone: bool,
}

impl Plan {
    /// Cuts rows into tiles. `levels` are first rows of levels, with the number of rows behind them; `starts` the first edge of
    /// each row, with the number of edges behind them. O(rows) on the host.
    pub fn new(device: &Arc<Device>, levels: &[u32], starts: &[u32]) -> Result<Self> {
        let (tile_rows, tile_edges, steps) = cut(levels, starts);
        let (tile_rows, tile_edges) = (device.upload(&tile_rows)?, device.upload(&tile_edges)?);
        Ok(Self { tile_rows, tile_edges, steps })
    }

    /// For each row of a network the sum of what its lists have, all rows at once: levels do not get from each other.
    pub(crate) fn sums_of_rows(
        &self,
        network: &ResidentNetwork,
        of_lists: &Buffer<u64>,
    ) -> Result<Buffer<u64>> {
        let device = &network.device;
        let sums = device.zeroed(network.symbol_count() as usize)?;
        let tiles = self.tile_rows.len() as u32 - 1;
        let (no_rules, first_tile) = (0_u32, 0_u32);
        device.launch(
            &SUM_LEVEL,
            tiles,
            &[
                (&self.tile_rows).into(),
                (&self.tile_edges).into(),
                (&network.use_starts).into(),
                (&network.uses).into(),
                of_lists.into(),
                (&sums).into(),
                no_rules.into(),
                first_tile.into(),
            ],
        )?;
        Ok(sums)
    }

    /// Bytes of device memory that it holds.
    pub fn memory(&self) -> u64 {
        4 * (self.tile_rows.len() + self.tile_edges.len()) as u64
    }
}

/// First rows and first edges of tiles, and the launches that do them.
fn cut(levels: &[u32], starts: &[u32]) -> (Vec<u32>, Vec<u32>, Vec<Step>) {
    let (mut tile_rows, mut tile_edges) = (Vec::new(), Vec::new());
    let mut steps: Vec<Step> = Vec::new();
    for level in levels.windows(2) {
        let first_tile = tile_rows.len() as u32;
        // The first row of the tile that is being filled, and its first edge.
        let mut open = None;
        for row in level[0]..level[1] {
            let (start, end) = (starts[row as usize], starts[row as usize + 1]);
            if end - start > TILE {
                open = None;
                for piece in (start..end).step_by(TILE as usize) {
                    tile_rows.push(row | PIECE);
                    tile_edges.push(piece);
                }
            } else if open
                .is_none_or(|(first, first_edge)| end - first_edge > TILE || row - first == TILE)
            {
                open = Some((row, start));
                tile_rows.push(row);
                tile_edges.push(start);
            }
        }
        let last_tile = tile_rows.len() as u32;
        let alone = last_tile - first_tile <= SMALL_LEVEL_TILES;
        match steps.last_mut() {
            Some(step) if alone && step.alone => step.last_tile = last_tile,
            _ if first_tile == last_tile => {}
            _ => steps.push(Step { first_tile, last_tile, alone }),
        }
    }
    tile_rows.push(levels.last().copied().unwrap_or(0));
    tile_edges.push(starts.last().copied().unwrap_or(0));
    (tile_rows, tile_edges, steps)
}

impl Weights {
    /// Adds up the weights of a network.
    pub fn new(network: &ResidentNetwork) -> Result<Self> {
        let device = &network.device;
        let (rules, symbols) = (network.rule_count, network.symbol_count());
        let lists = device.allocate((rules + symbols) as usize)?;
        let items = device.zeroed(network.item_count as usize)?;
        device.launch(
            &START_WEIGHTS,
            groups_for(lists.len()),
            &[(&network.root_counts).into(), (&lists).into(), rules.into(), symbols.into()],
        )?;
        let plan = &network.weight_plan;
        for &Step { first_tile, last_tile, alone } in &plan.steps {
            let (kernel, groups) = match alone {
                true => (&SUM_SMALL_LEVELS, 1),
                false => (&SUM_LEVEL, last_tile - first_tile),
            };
            let mut arguments = vec![
                (&plan.tile_rows).into(),
                (&plan.tile_edges).into(),
                (&network.use_starts).into(),
                (&network.uses).into(),
                (&lists).into(),
                (&items).into(),
                rules.into(),
                first_tile.into(),
            ];
            if alone {
                arguments.push(last_tile.into());
            }
            device.launch(kernel, groups, &arguments)?;
        }
        Ok(Self { lists, items })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tadoc_core::Network;

    use super::*;
    use crate::reference::network::{plain, weights};
    use crate::testing::device;
    use tadoc_testing::networks::{chain, counts_only, frequent, shapes, texts};

    fn check(network: &Network) {
        let Some(device) = device() else { return };
        let found = Weights::new(&ResidentNetwork::new(&device, network).unwrap()).unwrap();
        let rules = network.grammar().rule_count() as usize;
        let (lists, items) =
            (device.download(&found.lists).unwrap(), device.download(&found.items).unwrap());
        let wanted = weights(&plain(network));
        assert_eq!([&lists[..rules], &items].concat(), wanted);
        if network.has_root() {
            let mut plain = vec![0_u64; items.len()];
            texts(network).concat().iter().for_each(|&item| plain[item as usize] += 1);
            assert_eq!(items, plain);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn as_the_reference_adds_up(shape in shapes()) {
            let network = shape.network();
            check(&network);
            check(&counts_only(&network));
        }
    }

    #[test]
    fn deep_and_frequent() {
        check(&chain(200, 4));
        check(&chain(1, 1));
        // An item in more rules than a tile has edges, and levels of more tiles than one group does.
        check(&frequent(5000, 300));
    }

    #[test]
    fn rows_are_cut_between_levels_and_when_long() {
        // Rows of 3, 2 * TILE + 1 and 0 edges in one level, then one of TILE.
        let starts = [0, 3, 2 * TILE + 4, 2 * TILE + 4, 3 * TILE + 4];
        let (rows, edges, steps) = cut(&[0, 3, 4], &starts);
        assert_eq!(rows, [0, 1 | PIECE, 1 | PIECE, 1 | PIECE, 2, 3, 4]);
        assert_eq!(edges, [0, 3, TILE + 3, 2 * TILE + 3, 2 * TILE + 4, 2 * TILE + 4, 3 * TILE + 4]);
        let step = |first_tile, last_tile, alone| Step { first_tile, last_tile, alone };
        assert_eq!(steps, [step(0, 5, false), step(5, 6, true)]);
        assert_eq!(cut(&[0, 0], &[0]), (vec![0], vec![0], vec![]));
        // Rows without edges fill a tile, too.
        let (rows, edges, _) = cut(&[0, TILE + 2], &vec![0; TILE as usize + 3]);
        assert_eq!((rows, edges), (vec![0, TILE, TILE + 2], vec![0, 0, 0]));
    }
}
