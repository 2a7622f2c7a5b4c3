//! Blocks that are damaged, lost or in the middle of being made.

use std::cell::Cell;
use std::sync::Arc;

use tadoc_pool::work::{BLOCK_ALIGNMENT, BlockBuilder, LateBlocks};
use tadoc_pool::{Error, Persist, Pool, Result};

use super::chain::{ARCHIVE, TABLES, chain, random};
use super::simulated::Simulated;

const BLOCKS: usize = 20;
const ROOM: usize = 1 << 20;
/// Bytes of the directory: four numbers for each block.
const DIRECTORY: usize = (32 * BLOCKS).next_multiple_of(BLOCK_ALIGNMENT);

fn numbers(block: usize) -> Vec<u64> {
    (0..300 + 17 * block as u64).map(|number| number * 1001 + block as u64).collect()
}

fn put(number: usize, block: &mut BlockBuilder<'_>) -> Result<()> {
    block.put(&numbers(number));
    block.put::<u16>(&[]);
    block.put(&[number as u8; 3]);
    Ok(())
}

/// Opens the blocks, and says how many operations were run for it.
fn open(medium: &Arc<Simulated>, persist: Persist) -> Result<(LateBlocks, usize)> {
    let pool = Pool::over(medium.clone(), ARCHIVE)?;
    let ran = Cell::new(0);
    let blocks = LateBlocks::new(pool, &chain(), persist, "blocks", BLOCKS, |number, block| {
        ran.set(ran.get() + 1);
        put(number, block)
    })?;
    Ok((blocks, ran.get()))
}

fn check(blocks: &LateBlocks, number: usize) {
    let block = blocks.block(number, |block| put(number, block)).unwrap();
    assert_eq!(block.section::<u64>(0), numbers(number));
    assert_eq!(block.section::<u16>(1), [0_u16; 0]);
    assert_eq!(block.section::<u8>(2), [number as u8; 3]);
}

fn image(medium: &Simulated) -> Vec<u8> {
    medium.image(|| 1)
}

fn whole(persist: Persist) -> Vec<u8> {
    let medium = Arc::new(Simulated::new(ROOM));
    let (blocks, ran) = open(&medium, persist).unwrap();
    assert_eq!((ran, blocks.checks()), (BLOCKS, 0));
    (0..BLOCKS).for_each(|number| check(&blocks, number));
    image(&medium)
}

fn from(image: &[u8]) -> Arc<Simulated> {
    Arc::new(Simulated::from_image(image, ROOM))
}

/// Where the numbers of a block are in an image.
fn place(image: &[u8], number: usize) -> usize {
    let wanted: Vec<u8> = bytemuck::cast_slice(&numbers(number)).to_vec();
    let mut places = (TABLES..image.len() - wanted.len()).step_by(BLOCK_ALIGNMENT);
    places.find(|&at| image[at..at + wanted.len()] == wanted).unwrap()
}

#[test]
fn only_what_is_asked_for_is_checked_and_made_again() {
    for persist in Persist::ALL {
        let mut bytes = whole(persist);
        for damaged in [3, 11] {
            let place = place(&bytes, damaged) + 100;
            bytes[place] ^= 4;
        }
        let medium = from(&bytes);
        let (blocks, ran) = open(&medium, persist).unwrap();
        assert_eq!((ran, blocks.checks()), (0, 0));
        assert_eq!(blocks.resumption().finished, ["blocks"]);
        for _ in 0..2 {
            check(&blocks, 2);
            check(&blocks, 4);
        }
        assert_eq!((blocks.checks(), blocks.made_again()), (2, vec![]));
        assert_eq!(image(&medium), bytes, "{persist}");
        check(&blocks, 11);
        check(&blocks, 11);
        // The damaged one is checked once more when it is made.
        assert_eq!((blocks.checks(), blocks.made_again()), (4, vec![11]));
        drop(blocks);
        // What was made again is there for the next process, behind all others, and what nobody has asked for is as it was.
        let (blocks, ran) = open(&from(&image(&medium)), persist).unwrap();
        assert_eq!(ran, 0);
        check(&blocks, 11);
        assert_eq!(blocks.made_again(), [0_usize; 0]);
        (0..BLOCKS).for_each(|number| check(&blocks, number));
        assert_eq!(blocks.made_again(), [3]);
    }
}

/// Threads that ask for the same damaged blocks at once.
#[test]
fn a_damaged_block_is_made_once() {
    let mut bytes = whole(Persist::Phase);
    for damaged in [0, 7, 19] {
        let place = place(&bytes, damaged);
        bytes[place..place + 700].fill(0xAA);
    }
    let (blocks, _) = open(&from(&bytes), Persist::Phase).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..BLOCKS).for_each(|number| check(&blocks, number)));
        }
    });
    let mut again = blocks.made_again();
    again.sort_unstable();
    assert_eq!(again, [0, 7, 19]);
}

/// A bit flipped anywhere in the table, and everything behind a place lost: the right blocks all the same.
#[test]
fn whatever_is_damaged_blocks_are_right() {
    let mut seed = 5;
    for persist in Persist::ALL {
        let bytes = whole(persist);
        let mut again = 0;
        // The directory densely, blocks here and there.
        let directory = TABLES..TABLES + DIRECTORY;
        for byte in directory.step_by(3).chain((TABLES..bytes.len()).step_by(499)) {
            let mut bytes = bytes.clone();
            bytes[byte] ^= 1 << (random(&mut seed) % 8);
            let (blocks, ran) = open(&from(&bytes), persist).unwrap();
            assert_eq!(ran, 0);
            (0..BLOCKS).for_each(|number| check(&blocks, number));
            again += blocks.made_again().len();
        }
        assert!(again > 200, "{again}");
        for length in (TABLES..bytes.len()).step_by(1777) {
            let (blocks, _) = open(&from(&bytes[..length]), persist).unwrap();
            (0..BLOCKS).for_each(|number| check(&blocks, number));
        }
    }
}

/// The power goes at every event, while blocks are made and while one is made again.
#[test]
fn power_is_lost_at_every_event() {
    let mut seed = 8;
    for persist in [Persist::Phase, Persist::Operation] {
        let mut damaged = whole(persist);
        let place = place(&damaged, 6);
        damaged[place] ^= 1;
        for start in [vec![], damaged] {
            let run = |medium: &Arc<Simulated>| -> Result<u64> {
                let (blocks, _) = open(medium, persist)?;
                blocks.block(6, |block| put(6, block))?;
                Ok(medium.events())
            };
            let events = run(&from(&start)).unwrap();
            let mut most_done = 0;
            for event in 0..events {
                let medium = from(&start);
                medium.power_goes_at(event);
                assert!(run(&medium).is_err(), "event {event}");
                for round in 0..4 {
                    // The last two rounds have none, or all, of what was not durable.
                    let image = medium.image(|| match round {
                        0 | 1 => random(&mut seed),
                        other => other - 2,
                    });
                    let (blocks, ran) = open(&from(&image), persist).unwrap();
                    let done = blocks.resumption().operations.map_or(0, |(_, done, _)| done);
                    most_done = most_done.max(done);
                    assert!(done == 0 || ran as u64 == BLOCKS as u64 - done);
                    (0..BLOCKS).for_each(|number| check(&blocks, number));
                }
            }
            let resumes = start.is_empty() && persist == Persist::Operation;
            assert_eq!(most_done, if resumes { BLOCKS as u64 } else { 0 });
        }
    }
}

/// An operation that fails ends the work; all blocks before it are kept, at the level of operations.
#[test]
fn every_block_is_kept_when_it_is_done() {
    for fails in 1..BLOCKS {
        let medium = Arc::new(Simulated::new(ROOM));
        let pool = Pool::over(medium.clone(), ARCHIVE).unwrap();
        let failing = |number: usize, block: &mut BlockBuilder<'_>| {
            put(number, block)?;
            if number == fails { Err(Error::Core(tadoc_core::Error::CountsOnly)) } else { Ok(()) }
        };
        let chain = chain();
        let made = LateBlocks::new(pool, &chain, Persist::Operation, "blocks", BLOCKS, failing);
        assert!(matches!(made, Err(Error::Core(tadoc_core::Error::CountsOnly))));
        // Only what was made durable is there.
        let (blocks, ran) = open(&from(&medium.image(|| 0)), Persist::Operation).unwrap();
        assert_eq!(ran, BLOCKS - fails);
        (0..BLOCKS).for_each(|number| check(&blocks, number));
    }
}

/// A damaged block that cannot be made again is an error, and others are as they were.
#[test]
fn what_cannot_be_made_again_is_an_error() {
    let mut bytes = whole(Persist::Phase);
    let place = place(&bytes, 5);
    bytes[place] ^= 1;
    let (blocks, _) = open(&from(&bytes), Persist::Phase).unwrap();
    let failed = blocks.block(5, |block| {
        block.put(&[1_u8; 5000]);
        Err(Error::Core(tadoc_core::Error::CountsOnly))
    });
    assert!(matches!(failed, Err(Error::Core(tadoc_core::Error::CountsOnly))));
    assert_eq!(blocks.made_again(), [0_usize; 0]);
    (0..BLOCKS).for_each(|number| check(&blocks, number));
    assert_eq!(blocks.made_again(), [5]);
    let (blocks, _) =
        open(&Arc::new(Simulated::from_image(&bytes, bytes.len())), Persist::Phase).unwrap();
    let failed = blocks.block(5, |block| {
        block.put(&[1_u8; 9000]);
        Ok(())
    });
    assert!(matches!(failed, Err(Error::NoRoom { .. })), "{failed:?}");
    check(&blocks, 4);
}

#[test]
fn there_may_be_no_blocks() {
    let medium = Arc::new(Simulated::new(ROOM));
    for _ in 0..2 {
        let pool = Pool::over(medium.clone(), ARCHIVE).unwrap();
        LateBlocks::new(pool, &chain(), Persist::Operation, "none", 0, put).unwrap();
    }
}
