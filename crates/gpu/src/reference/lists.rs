//! Lists merged with a map for each row.

use std::collections::BTreeMap;

/// Values with their counts, ascending.
pub type List = Vec<(u32, u32)>;

/// The list of each row: those of its edges put together. Edges from `virtual_from` on are single values.
pub fn merge(rows: &[Vec<u32>], lists: &[List], virtual_from: u32) -> Vec<List> {
    let merged = |edges: &Vec<u32>| {
        let mut list: BTreeMap<u32, u32> = BTreeMap::new();
        for &edge in edges {
            let single = [(edge.wrapping_sub(virtual_from), 1)];
            let entries = if edge >= virtual_from { &single } else { &lists[edge as usize][..] };
            entries.iter().for_each(|&(value, count)| *list.entry(value).or_default() += count);
        }
        list.into_iter().collect()
    };
    rows.iter().map(merged).collect()
}
