use super::*;
use std::thread;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn mark(seed: u8, place: usize) -> u8 {
    seed ^ (place / PAGE) as u8
}

/// A block of a heap, with bytes in it that are to stay.
struct Block<'h> {
    heap: &'h SpillingHeap,
    block: *mut u8,
    layout: Layout,
    seed: u8,
}

impl<'h> Block<'h> {
    fn new(heap: &'h SpillingHeap, bytes: usize, zeroed: bool, seed: u8) -> Self {
        let layout = Layout::from_size_align(bytes, 8).unwrap();
        // SAFETY: no layout here is empty.
        let block = unsafe { if zeroed { heap.alloc_zeroed(layout) } else { heap.alloc(layout) } };
        assert!(!block.is_null());
        let mut block = Self { heap, block, layout, seed };
        if zeroed {
            assert!(block.bytes().iter().all(|&byte| byte == 0));
        }
        block.fill(0);
        block
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block is ours, so long, and was written or cleared.
        unsafe { std::slice::from_raw_parts_mut(self.block, self.layout.size()) }
    }

    /// Writes the bytes from a place on, a mark of its own at the start of every page.
    fn fill(&mut self, from: usize) {
        let (seed, length) = (self.seed, self.layout.size());
        // SAFETY: the block is ours, and so long.
        unsafe { ptr::write_bytes(self.block.add(from), seed, length - from) };
        for place in (from.next_multiple_of(PAGE)..length).step_by(PAGE) {
            self.bytes()[place] = mark(seed, place);
        }
    }

    fn check(&mut self) {
        let seed = self.seed;
        for (place, byte) in self.bytes().iter().enumerate().step_by(PAGE) {
            assert_eq!(*byte, mark(seed, place), "byte {place}");
        }
        assert!(self.layout.size() % PAGE < 2 || self.bytes().last() == Some(&seed));
    }

    fn resize(&mut self, bytes: usize) {
        let shared = self.layout.size().min(bytes);
        // SAFETY: the block is of this heap and layout.
        self.block = unsafe { self.heap.realloc(self.block, self.layout, bytes) };
        assert!(!self.block.is_null());
        for length in [shared, bytes] {
            self.layout = Layout::from_size_align(length, 8).unwrap();
            if length == bytes {
                self.fill(shared);
            }
            self.check();
        }
    }

    fn is_spilled(&self) -> bool {
        self.heap.offset(self.block).is_some()
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        // SAFETY: the block is of this heap and layout.
        unsafe { self.heap.dealloc(self.block, self.layout) }
    }
}

/// Makes, resizes and drops blocks of all sizes; all keep their bytes.
fn churn(heap: &SpillingHeap, seed: u64, steps: usize) {
    let mut random = Random(seed);
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for step in 0..steps {
        let bytes = 1 + random.below(4 * LEAST_SPILLED);
        match random.below(4) {
            0 | 1 if blocks.len() < 24 => {
                blocks.push(Block::new(heap, bytes, random.below(2) == 0, step as u8));
            }
            2 if !blocks.is_empty() => {
                let at = random.below(blocks.len());
                blocks[at].resize(bytes);
            }
            _ if !blocks.is_empty() => {
                let at = random.below(blocks.len());
                blocks.swap_remove(at).check();
            }
            _ => {}
        }
    }
    blocks.iter_mut().for_each(Block::check);
}

#[test]
fn blocks_keep_their_bytes_on_several_threads() {
    let folder = tempfile::tempdir().unwrap();
    let heap = SpillingHeap::new();
    churn(&heap, 1, 500);
    assert_eq!(heap.spilled(), 0);
    let mut before = Block::new(&heap, 3 * LEAST_SPILLED, false, 7);
    heap.spill_into(folder.path()).unwrap();
    thread::scope(|scope| {
        for seed in 0..4 {
            let heap = &heap;
            scope.spawn(move || churn(heap, seed, 1500));
        }
    });
    assert!(heap.spilled() > 4 * LEAST_SPILLED as u64);
    before.check();
    // Nothing is lost: all that was ever taken is one free stretch again.
    let mut own = heap.lock();
    let extents = &mut own.as_mut().unwrap().extents;
    let end = extents.end();
    assert_eq!(extents.take(end).map(|taken| (taken.start, taken.length)), Some((0, end)));
}

#[test]
fn large_blocks_are_in_the_file_and_small_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let heap = SpillingHeap::new();
    let mut early = Block::new(&heap, LEAST_SPILLED, false, 1);
    assert!(!early.is_spilled());
    heap.spill_into(folder.path()).unwrap();
    assert!(heap.spill_into(folder.path()).is_err());
    assert!(!Block::new(&heap, LEAST_SPILLED - 1, false, 1).is_spilled());
    let mut block = Block::new(&heap, LEAST_SPILLED, false, 1);
    assert!(block.is_spilled());
    // The last one of the file grows where it is.
    let place = block.block;
    block.resize(9 * LEAST_SPILLED);
    assert_eq!(block.block, place);
    block.resize(LEAST_SPILLED);
    assert_eq!(block.block, place);
    block.resize(LEAST_SPILLED - 1);
    assert!(!block.is_spilled());
    early.resize(LEAST_SPILLED + 1);
    assert!(early.is_spilled());
    // The folder shows nothing of it.
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn what_is_given_back_is_taken_again_and_is_zero_where_that_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let heap = SpillingHeap::new();
    heap.spill_into(folder.path()).unwrap();
    const KEPT: usize = 64 << 20;
    heap.lock().as_mut().unwrap().kept = KEPT;
    for _ in 0..8 {
        for bytes in [LEAST_SPILLED, KEPT / 2, KEPT + GRAIN] {
            drop(Block::new(&heap, bytes, true, 3));
        }
    }
    assert!(heap.spilled() <= 2 * KEPT as u64);
    let own = heap.lock();
    let own = own.as_ref().unwrap();
    assert!(own.extents.kept() <= KEPT);
    let blocks = rustix::fs::fstat(own.file.as_fd()).unwrap().st_blocks as u64;
    assert!(blocks * 512 <= KEPT as u64 + (1 << 20), "{blocks} blocks are held");
}

#[test]
fn without_room_in_the_file_blocks_are_the_system_s() {
    let folder = tempfile::tempdir().unwrap();
    let heap = SpillingHeap::new();
    heap.spill_into(folder.path()).unwrap();
    heap.lock().as_mut().unwrap().extents = Extents::new(3 * LEAST_SPILLED);
    let mut first = Block::new(&heap, 2 * LEAST_SPILLED, true, 1);
    let mut second = Block::new(&heap, 2 * LEAST_SPILLED, true, 2);
    assert!(first.is_spilled() && !second.is_spilled());
    first.resize(4 * LEAST_SPILLED);
    assert!(!first.is_spilled());
    // Now there is room again, and what grows goes there.
    second.resize(3 * LEAST_SPILLED);
    assert!(second.is_spilled());
    first.check();
    second.check();
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let heap = SpillingHeap::new();
    assert!(heap.spill_into(&folder.path().join("none")).is_err());
    assert!(!Block::new(&heap, LEAST_SPILLED, true, 0).is_spilled());
}
