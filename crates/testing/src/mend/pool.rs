//! Pools, as docs/pool.md describes them.
//!
//! What is not put right: the checksums of operations of a table of elements at work, as the file
//! does not say which elements are of which operation.

use std::ops::Range;

use xxhash_rust::xxh64::{Xxh64, xxh64};

use super::{get, mend_view, put};

const HEADER_CHECKSUM: usize = 56;
const SLOTS: [usize; 2] = [1 << 15, 1 << 16];
const TABLES_START: usize = 3 << 15;
const PAGE: usize = 4096;
const ALIGNMENT: usize = 256;
const BLOCK: usize = 1 << 20;
/// Fields of a checkpoint.
const TABLE_COUNT: usize = 16;
const AT_WORK: usize = 24;
const TABLES: usize = 256;
const TABLE_BYTES: usize = 128;
const MOST_TABLES: u64 = 254;
/// Numbers of a block in the directory of its table, and of a record of the log.
const ENTRY_BYTES: usize = 32;
const RECORD_BYTES: usize = 64;
/// Kinds of tables.
const IMAGE: u32 = 1;
const COUNTERS: u32 = 3;
const BLOCKS: u32 = 4;
const LATE_BLOCKS: u32 = 5;

/// Makes the checksums of a pool agree with its bytes: those of tables that a checkpoint lists, as
/// far as they lie in the file, of blocks and log records in them, of checkpoints, and of the
/// header.
pub fn mend_pool(pool: &mut [u8]) {
    if pool.len() < TABLES_START {
        return;
    }
    let checksum = xxh64(&pool[..HEADER_CHECKSUM], 0);
    put(pool, HEADER_CHECKSUM, checksum);
    for slot in SLOTS {
        let tables = get(pool, slot + TABLE_COUNT);
        // A slot that was never written stays empty.
        if tables > MOST_TABLES || get(pool, slot + 8) == 0 {
            continue;
        }
        for number in 0..tables {
            let entry = slot + TABLES + TABLE_BYTES * number as usize;
            let at_work = get(pool, slot + AT_WORK) != 0 && number + 1 == tables;
            mend_table(pool, entry, at_work);
        }
        let end = slot + TABLES + TABLE_BYTES * tables as usize;
        let checksum = xxh64(&pool[slot + 8..end], 0);
        put(pool, slot, checksum);
    }
}

/// The stretches of a pool that say something: header, checkpoints, each table that the newer
/// checkpoint lists, and what follows the last one. The others are zeros between them.
pub fn pool_parts(pool: &[u8]) -> Vec<Range<usize>> {
    if pool.len() < TABLES_START {
        return std::iter::once(0..pool.len()).collect();
    }
    let header = 0..HEADER_CHECKSUM + 8;
    let mut parts = vec![header];
    let end_of = |slot: usize| {
        slot + TABLES + TABLE_BYTES * get(pool, slot + TABLE_COUNT).min(MOST_TABLES) as usize
    };
    parts.extend(SLOTS.map(|slot| slot..end_of(slot)));
    let newer = SLOTS[usize::from(get(pool, SLOTS[1] + 8) > get(pool, SLOTS[0] + 8))];
    let entries = (newer + TABLES..end_of(newer)).step_by(TABLE_BYTES);
    let mut end = TABLES_START;
    for table in entries.filter_map(|entry| {
        within(pool, get(pool, entry + 8), get(pool, entry + 16)).filter(|table| !table.is_empty())
    }) {
        end = end.max(table.end);
        parts.push(table);
    }
    if end < pool.len() {
        parts.push(end..pool.len());
    }
    parts
}

fn mend_table(pool: &mut [u8], entry: usize, at_work: bool) {
    let kind = get(pool, entry) as u32;
    let identity = get(pool, entry + 24);
    let Some(table) = within(pool, get(pool, entry + 8), get(pool, entry + 16)) else { return };
    let digest = match kind {
        IMAGE => {
            mend_view(&mut pool[table.clone()]);
            let checksums = (8 * table.len().div_ceil(BLOCK)).min(table.len());
            let mut hash = Xxh64::new(identity);
            hash.update(&pool[table.start..table.end.min(table.start + ALIGNMENT)]);
            hash.update(&pool[table.end - checksums..table.end]);
            hash.digest()
        }
        LATE_BLOCKS => {
            mend_blocks(pool, &table, identity);
            xxh64(&[], identity)
        }
        _ => {
            if kind == BLOCKS {
                mend_blocks(pool, &table, identity);
            }
            let sums: Vec<u8> = pool[table.clone()]
                .chunks(BLOCK)
                .flat_map(|block| xxh64(block, identity).to_le_bytes())
                .collect();
            let start = table.end.next_multiple_of(ALIGNMENT);
            let end = start + sums.len();
            if end > pool.len() {
                return;
            }
            if at_work {
                if kind == COUNTERS {
                    mend_log(pool, &table, end.next_multiple_of(PAGE), identity);
                }
                return;
            }
            pool[start..end].copy_from_slice(&sums);
            xxh64(&sums, identity)
        }
    };
    put(pool, entry + 32, digest);
}

/// The checksums of blocks that have one. How many blocks there are, the file does not say: entries
/// end before the first section.
fn mend_blocks(pool: &mut [u8], table: &Range<usize>, identity: u64) {
    let mut directory_end = pool.len() - table.start;
    let mut number = 0;
    while ENTRY_BYTES * (number + 1) <= directory_end {
        let entry = table.start + ENTRY_BYTES * number;
        let seed = identity.wrapping_add(number as u64);
        number += 1;
        let place = |at: usize, bytes: u64| {
            within(pool, (table.start as u64).checked_add(get(pool, at))?, bytes)
        };
        let Some(list) = get(pool, entry + 8).checked_mul(16).and_then(|bytes| place(entry, bytes))
        else {
            continue;
        };
        // An operation that is not done has no list.
        if get(pool, entry) == 0 {
            continue;
        }
        directory_end = directory_end.min(list.start - table.start);
        let sections: Option<Vec<Range<usize>>> =
            list.clone().step_by(16).map(|at| place(at, get(pool, at + 8))).collect();
        let Some(sections) = sections else { continue };
        let mut hash = Xxh64::new(seed);
        for section in &sections {
            hash.update(&pool[section.clone()]);
            directory_end = directory_end.min(section.start - table.start);
        }
        hash.update(&pool[list]);
        if get(pool, entry + 16) == 0 {
            continue;
        }
        put(pool, entry + 16, hash.digest().max(1));
    }
}

/// The records of both halves, and in the last one the digest of the counters that they lead to.
fn mend_log(pool: &mut [u8], table: &Range<usize>, start: usize, identity: u64) {
    let half_bytes = (RECORD_BYTES + 2 * table.len()).next_multiple_of(64).max(1 << 16);
    if start + 2 * half_bytes > pool.len() {
        return;
    }
    let halves = [start, start + half_bytes].map(|half| records(pool, half..half + half_bytes));
    let last = |half: &[Range<usize>]| half.last().map(|record| get(pool, record.start + 8));
    let newer = usize::from(last(&halves[1]) > last(&halves[0]));
    let mut counters: Vec<u64> = pool[table.clone()]
        .chunks_exact(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
        .collect();
    for record in &halves[newer] {
        let changes = get(pool, record.start + 32) as usize;
        for change in (0..changes).map(|change| record.start + RECORD_BYTES + 16 * change) {
            if let Some(counter) = counters.get_mut(get(pool, change) as usize) {
                *counter = get(pool, change + 8);
            }
        }
    }
    if let Some(record) = halves[newer].last() {
        let shares = (0..).zip(&counters).map(|(index, &value)| {
            splitmix(splitmix(u64::wrapping_add(index, 0x9e37_79b9_7f4a_7c15)) ^ value)
        });
        let digest = shares.fold(0, u64::wrapping_add);
        put(pool, record.start + 24, digest);
    }
    for record in halves.concat() {
        let checksum = xxh64(&pool[record.start + 8..record.end], identity);
        put(pool, record.start, checksum);
    }
}

/// The records of a half: as long as their numbers follow each other and they fit.
fn records(pool: &[u8], half: Range<usize>) -> Vec<Range<usize>> {
    let mut records: Vec<Range<usize>> = Vec::new();
    let mut at = half.start;
    while at + RECORD_BYTES <= half.end {
        let number = get(pool, at + 8);
        let follows = match records.last() {
            None => number > 0,
            Some(last) => number == get(pool, last.start + 8).wrapping_add(1),
        };
        let changes = get(pool, at + 32);
        if !follows || changes > (half.len() / 16) as u64 {
            break;
        }
        let end = at + (RECORD_BYTES + 16 * changes as usize).next_multiple_of(RECORD_BYTES);
        if end > half.end {
            break;
        }
        records.push(at..end);
        at = end;
    }
    records
}

/// The last step of splitmix64.
fn splitmix(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A range of the file, if it is one.
fn within(pool: &[u8], start: u64, bytes: u64) -> Option<Range<usize>> {
    let end = start.checked_add(bytes).filter(|&end| end <= pool.len() as u64)?;
    Some(start as usize..end as usize)
}
