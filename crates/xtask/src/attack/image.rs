//! Stored views and pools changed inside, with checksums that hold: docs/view.md 3 and docs/pool.md 7. Both are
//! caches whose checksums a hostile file can have right, so readers may answer wrongly and must not do worse. O(bytes).

use std::ops::Range;

use tadoc_oracle::Random;
use tadoc_testing::{mend_pool, mend_view};

use super::tweak;

const VIEW_HEADER: usize = 256;
const ALIGNMENT: usize = 256;
/// Bytes of an element of each of a view's arrays.
const WIDTHS: [usize; 7] = [1, 8, 4, 4, 4, 4, 4];
const SLOTS: [usize; 2] = [1 << 15, 1 << 16];
const SLOT_HEAD: usize = 256;
const SLOT_TABLE: usize = 128;
const MOST_TABLES: usize = 254;

fn get(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Where the arrays of a view lie; `None` where that is not within it.
fn arrays(view: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut at = VIEW_HEADER;
    let mut arrays = Vec::new();
    for (place, width) in WIDTHS.iter().enumerate() {
        let elements = usize::try_from(get(view, 40 + 8 * place)).ok()?;
        let end = at.checked_add(elements.checked_mul(*width)?)?;
        (end <= view.len()).then_some(())?;
        arrays.push(at..end);
        at = end.next_multiple_of(ALIGNMENT);
    }
    (at <= view.len()).then_some(arrays)
}

/// A mutant of a view whose checksums hold, and what was done.
pub fn mutate_view(view: &[u8], random: &mut Random) -> (Vec<u8>, &'static str) {
    let mut view = view.to_vec();
    let done = change_view(&mut view, random);
    mend_view(&mut view);
    (view, done)
}

fn change_view(view: &mut [u8], random: &mut Random) -> &'static str {
    if random.below(4) == 0 {
        let at = random.below(7) as usize;
        let was = get(view, 40 + 8 * at);
        put(view, 40 + 8 * at, tweak::number(random, was));
        return "view header";
    }
    for _ in 0..1 + random.below(3) {
        let arrays = arrays(view).expect("a victim is whole");
        let array = random.choose(&arrays).clone();
        if !array.is_empty() {
            tweak::in_place(&mut view[array], random);
        }
    }
    "view array"
}

/// A table of a pool.
struct Table {
    kind: u32,
    bytes: Range<usize>,
}

/// The tables of the checkpoint in a slot that lie within the file.
fn tables(pool: &[u8], slot: usize) -> Vec<Table> {
    let count = (get(pool, slot + 16) as usize).min(MOST_TABLES);
    let entries = (0..count).map(|place| slot + SLOT_HEAD + SLOT_TABLE * place);
    entries
        .filter_map(|entry| {
            let start = usize::try_from(get(pool, entry + 8)).ok()?;
            let end = start.checked_add(usize::try_from(get(pool, entry + 16)).ok()?)?;
            (start >= SLOTS[1] && end <= pool.len())
                .then(|| Table { kind: get(pool, entry) as u32, bytes: start..end })
        })
        .collect()
}

/// Whether a slot has a checkpoint.
fn is_used(pool: &[u8], slot: usize) -> bool {
    pool.len() >= slot + (1 << 15) && get(pool, slot + 8) != 0
}

/// The slot that readers take.
fn newest(pool: &[u8]) -> usize {
    let used = SLOTS.into_iter().filter(|&slot| is_used(pool, slot));
    used.max_by_key(|&slot| get(pool, slot + 8)).unwrap_or(SLOTS[1])
}

/// The entries of a table of blocks: where each one's list is, and how many sections that has. The directory ends where
/// the first list or section may begin, so entries are looked at as long as they are before all lists seen.
fn lists(table: &[u8]) -> Vec<(usize, Range<usize>)> {
    let mut lists = Vec::new();
    let mut end = table.len();
    let mut at = 0;
    while at + 32 <= end {
        let list = usize::try_from(get(table, at)).unwrap_or(usize::MAX);
        let sections = usize::try_from(get(table, at + 8)).unwrap_or(usize::MAX);
        let Some(list_end) = sections.checked_mul(16).and_then(|bytes| list.checked_add(bytes))
        else {
            break;
        };
        if list < 32 || list_end > table.len() || !list.is_multiple_of(ALIGNMENT) {
            break;
        }
        lists.push((at, list..list_end));
        end = end.min(list);
        for section in (list..list_end).step_by(16) {
            end = end.min(usize::try_from(get(table, section)).unwrap_or(usize::MAX));
        }
        at += 32;
    }
    lists
}

/// A mutant of a pool whose checksums hold, and what was done.
pub fn mutate_pool(pool: &[u8], random: &mut Random) -> (Vec<u8>, &'static str) {
    let mut pool = pool.to_vec();
    let slot = newest(&pool);
    let tables = tables(&pool, slot);
    if tables.is_empty() || random.below(6) == 0 {
        let entries = SLOT_HEAD + SLOT_TABLE * tables.len().min(MOST_TABLES) - 8;
        // Identities and names stay: a table of another one is not looked at.
        let at = 8 + random.below(entries as u64) as usize;
        tweak::word(&mut pool[slot + 8..slot + 8 + entries], at - 8, random);
        mend_pool(&mut pool);
        return (pool, "pool checkpoint");
    }
    let table = random.choose(&tables);
    let range = table.bytes.clone();
    let mut done = "pool table";
    for _ in 0..1 + random.below(3) {
        let bytes = &mut pool[range.clone()];
        if bytes.is_empty() {
            continue;
        }
        match table.kind {
            1 => done = if arrays(bytes).is_some() { change_view(bytes, random) } else { done },
            4 | 5 if random.below(2) == 0 => {
                let lists = lists(bytes);
                if lists.is_empty() {
                    tweak::in_place(bytes, random);
                    continue;
                }
                let (entry, list) = random.choose(&lists).clone();
                let at = match random.below(3) {
                    0 => entry + 8 * random.below(2) as usize,
                    _ if list.is_empty() => entry,
                    _ => list.start + 8 * random.below(list.len() as u64 / 8) as usize,
                };
                let was = get(bytes, at);
                put(bytes, at, tweak::number(random, was));
                done = "pool blocks";
            }
            _ => {
                tweak::in_place(bytes, random);
            }
        }
    }
    mend_pool(&mut pool);
    (pool, done)
}
