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

/// Edges of a tile at most.
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
        // The first row of the tile that is being filled.
        let mut open = None;
        for row in level[0]..level[1] {
            let (start, end) = (starts[row as usize], starts[row as usize + 1]);
            if end - start > TILE {
                open = None;
                for piece in (start..end).step_by(TILE as usize) {
                    tile_rows.push(row | PIECE);
                    tile_edges.push(piece);
                }
            } else if open.is_none_or(|first_edge| end - first_edge > TILE) {
                open = Some(start);
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
