//! The pairing itself.

use super::queue::Queue;
use super::sequence::{BARRIER, Sequence};
use crate::build::builder::{CancelFlag, Cancelled};

/// What pairing leaves.
pub struct Paired {
    /// The symbols left, with the barriers.
    pub root: Vec<u32>,
    /// bodies
    pub bodies: Vec<u32>,
    /// ends
    pub ends: Vec<u32>,
    /// stats
    pub stats: [u64; 8],
}

#[derive(Clone, Copy)]
struct Pair {
    first: u32,
    second: u32,
    start: u32,
    count: u32,
}

/// Replaces pairs until none occurs twice.
pub fn pair_up(cells: Vec<u32>, first_rule: u32, cancel: &CancelFlag) -> Result<Paired, Cancelled> {
    let t = std::time::Instant::now();
    let mut sequence = Sequence::new(cells);
    let (mut pairs, mut places) = initial_pairs(&sequence, first_rule);
    let t1 = t.elapsed().as_secs_f64();
    let npl = places.len();
    let mut queue = Queue::new();
    // sort by first place
    let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
    order.sort_unstable_by_key(|&p| places[pairs[p as usize].start as usize]);
    for &p in &order {
        queue.push(pairs[p as usize].count, p);
    }
    drop(order);
    let t2 = t.elapsed().as_secs_f64();
    let mut bodies = Vec::new();
    let mut ends = Vec::new();
    let mut neighbours: Vec<u64> = Vec::new();
    let mut scratch: Vec<u64> = Vec::new();
    let mut found: Vec<u32> = Vec::new();
    let mut stats = [0u64; 8];
    while let Some((waited, index)) = queue.pop() {
        let pair = pairs[index as usize];
        // Count what is still there.
        found.clear();
        let mut free_from = 0;
        let list = &places[pair.start as usize..(pair.start + pair.count) as usize];
        stats[0] += list.len() as u64;
        for &place in list {
            if place >= free_from && sequence.get(place) == pair.first {
                let second = sequence.next(place);
                if sequence.get(second) == pair.second {
                    found.push(place);
                    free_from = second + u32::from(pair.first == pair.second);
                }
            }
        }
        if found.len() < 2 {
            continue;
        }
        if (found.len() as u32) < waited {
            let count = found.len() as u32;
            places[pair.start as usize..(pair.start + count) as usize].copy_from_slice(&found);
            pairs[index as usize].count = count;
            queue.push(count, index);
            continue;
        }
        // extend
        stats[1] += found.len() as u64;
        let symbol = first_rule + ends.len() as u32;
        if symbol % 4096 == 0 {
            cancel.check()?;
        }
        let body_start = bodies.len();
        let mut length;
        // ends of every occurrence (exclusive)
        // extension to the right, then to the left, while all occurrences agree and do not meet.
        bodies.push(pair.first);
        bodies.push(pair.second);
        length = 2;
        scratch.clear();
        scratch.extend(found.iter().map(|&place| {
            let end = sequence.next(sequence.next(place));
            (end as u64) << 32 | place as u64
        }));
        if pair.first != pair.second {
            'right: loop {
                let wanted = sequence.get((scratch[0] >> 32) as u32);
                if wanted == BARRIER {
                    break;
                }
                for (i, &span) in scratch.iter().enumerate() {
                    let end = (span >> 32) as u32;
                    if sequence.get(end) != wanted {
                        break 'right;
                    }
                    if i + 1 < scratch.len() && scratch[i + 1] as u32 <= end {
                        break 'right;
                    }
                }
                for span in scratch.iter_mut() {
                    let end = (*span >> 32) as u32;
                    *span = (sequence.next(end) as u64) << 32 | (*span & 0xFFFF_FFFF);
                }
                bodies.push(wanted);
                length += 1;
            }
            let mut left = Vec::new();
            'left: loop {
                let wanted = sequence.get(sequence.previous(scratch[0] as u32));
                if wanted == BARRIER {
                    break;
                }
                for (i, &span) in scratch.iter().enumerate() {
                    let before = sequence.previous(span as u32);
                    if sequence.get(before) != wanted {
                        break 'left;
                    }
                    if i > 0 && (scratch[i - 1] >> 32) as u32 > before {
                        break 'left;
                    }
                }
                for span in scratch.iter_mut() {
                    let before = sequence.previous(*span as u32);
                    *span = (*span & !0xFFFF_FFFF) | before as u64;
                }
                left.push(wanted);
                length += 1;
            }
            if !left.is_empty() {
                left.reverse();
                bodies.splice(body_start..body_start, left);
            }
        }
        stats[2] += length as u64;
        ends.push(bodies.len() as u32);
        for &span in &scratch {
            sequence.replace(span as u32, (span >> 32) as u32, symbol);
        }
        // New pairs
        for right in [false, true] {
            neighbours.clear();
            for &span in &scratch {
                let place = span as u32;
                if right {
                    let n = sequence.get(sequence.next(place));
                    if n != BARRIER {
                        neighbours.push((n as u64) << 32 | place as u64);
                    }
                } else {
                    let p = sequence.previous(place);
                    let n = sequence.get(p);
                    if n != BARRIER && n != symbol {
                        neighbours.push((n as u64) << 32 | p as u64);
                    }
                }
            }
            sort_keys(&mut neighbours);
            let mut i = 0;
            while i < neighbours.len() {
                let n = (neighbours[i] >> 32) as u32;
                let mut j = i + 1;
                while j < neighbours.len() && (neighbours[j] >> 32) as u32 == n {
                    j += 1;
                }
                if j - i >= 2 {
                    let start = places.len() as u32;
                    places.extend(neighbours[i..j].iter().map(|&k| k as u32));
                    let (first, second) = if right { (symbol, n) } else { (n, symbol) };
                    let count = (j - i) as u32;
                    queue.push(count, pairs.len() as u32);
                    pairs.push(Pair { first, second, start, count });
                }
                i = j;
            }
        }
    }
    stats[3] = places.len() as u64 - npl as u64;
    stats[4] = pairs.len() as u64;
    eprintln!(
        "initial {t1:.2} queue {t2:.2} total {:.2} places {npl} +{} pairs {} checked {} replaced {} rules {}",
        t.elapsed().as_secs_f64(),
        stats[3],
        pairs.len(),
        stats[0],
        stats[1],
        ends.len()
    );
    Ok(Paired { root: sequence.symbols().collect(), bodies, ends, stats })
}

fn sort_keys(keys: &mut Vec<u64>) {
    keys.sort_unstable();
}

fn initial_pairs(sequence: &Sequence, symbols: u32) -> (Vec<Pair>, Vec<u32>) {
    let cells = sequence.cells();
    let mut starts = vec![0_u32; symbols as usize + 2];
    for pair in cells.windows(2) {
        if pair[0] != BARRIER && pair[1] != BARRIER {
            starts[pair[0] as usize + 2] += 1;
        }
    }
    for i in 2..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut places = vec![0_u32; *starts.last().unwrap() as usize];
    for (place, pair) in cells.windows(2).enumerate() {
        if pair[0] != BARRIER && pair[1] != BARRIER {
            let slot = &mut starts[pair[0] as usize + 1];
            places[*slot as usize] = place as u32;
            *slot += 1;
        }
    }
    let mut pairs = Vec::new();
    let mut kept = 0_usize;
    let mut keys: Vec<u64> = Vec::new();
    let mut spare: Vec<u64> = Vec::new();
    for first in 0..symbols {
        let (from, to) = (starts[first as usize] as usize, starts[first as usize + 1] as usize);
        if to - from < 2 {
            continue;
        }
        keys.clear();
        keys.extend(
            places[from..to].iter().map(|&p| (cells[p as usize + 1] as u64) << 32 | p as u64),
        );
        if keys.len() < 2048 {
            keys.sort_unstable();
        } else {
            radix(&mut keys, &mut spare, symbols);
        }
        let mut i = 0;
        while i < keys.len() {
            let second = (keys[i] >> 32) as u32;
            let mut j = i + 1;
            while j < keys.len() && (keys[j] >> 32) as u32 == second {
                j += 1;
            }
            if j - i >= 2 {
                pairs.push(Pair { first, second, start: kept as u32, count: (j - i) as u32 });
                for &k in &keys[i..j] {
                    places[kept] = k as u32;
                    kept += 1;
                }
            }
            i = j;
        }
    }
    places.truncate(kept);
    (pairs, places)
}

fn radix(keys: &mut Vec<u64>, spare: &mut Vec<u64>, symbols: u32) {
    let bits = 32 - symbols.leading_zeros();
    spare.resize(keys.len(), 0);
    let mut shift = 32;
    while shift < 32 + bits {
        let mut counts = [0_u32; 2048];
        for &k in keys.iter() {
            counts[(k >> shift) as usize & 2047] += 1;
        }
        let mut sum = 0;
        for c in counts.iter_mut() {
            let n = *c;
            *c = sum;
            sum += n;
        }
        for &k in keys.iter() {
            let d = (k >> shift) as usize & 2047;
            spare[counts[d] as usize] = k;
            counts[d] += 1;
        }
        std::mem::swap(keys, spare);
        shift += 11;
    }
}
