//! The whole of the storage: a chain with every kind of phase, on every medium, through every fault.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use tadoc_pool::medium::mapped::Mapped;
use tadoc_pool::{Chain, Error, Patience, Persist, Pool};
use tadoc_tasks::Work;

use super::chain::{ARCHIVE, TABLES, chain, check, fill, random, run, run_as, run_chain};
use super::simulated::Simulated;

/// Phases of the chain, with the base's.
const PHASES: usize = 5;
const ROOM: usize = 1 << 20;

fn finished(pool: &Pool) -> usize {
    pool.resumptions().iter().map(|resumption| resumption.finished.len()).sum()
}

#[test]
fn work_without_a_file_gives_the_same() {
    let mut work = Work::volatile(1 << 20);
    let filled = fill(&mut work).unwrap();
    check(&run_chain(&mut work, filled).unwrap());
}

#[test]
fn a_chain_is_found_finished_on_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for persist in Persist::ALL {
        let path = folder.path().join(persist.name());
        for found in [0, PHASES, PHASES] {
            let mut pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
            check(&run(&mut pool, persist).unwrap());
            assert_eq!(finished(&pool), found);
            assert!(pool.resumptions().iter().all(|resumption| resumption.discarded.is_empty()));
        }
    }
}

/// Runs the chain on simulated memory until an event, and says how many there are if it gets to the end.
fn run_until(medium: &Arc<Simulated>, persist: Persist) -> Option<u64> {
    let mut pool = Pool::over(medium.clone(), ARCHIVE).ok()?;
    check(&run(&mut pool, persist).ok()?);
    Some(medium.events())
}

/// The power goes at every flush and fence; any part of what was not durable is there. The chain gives the same, and what was durable is not
/// made again.
#[test]
fn power_is_lost_at_every_event() {
    for persist in [Persist::Phase, Persist::Operation] {
        let whole = Arc::new(Simulated::new(ROOM));
        let events = run_until(&whole, persist).unwrap();
        assert!(events > if persist == Persist::Phase { 20 } else { 60 }, "{events}");
        let (mut seed, mut most_operations) = (1, 0);
        for event in 0..events {
            let medium = Arc::new(Simulated::new(ROOM));
            medium.power_goes_at(event);
            assert_eq!(run_until(&medium, persist), None, "event {event}");
            for round in 0..4 {
                // The last two rounds have none, or all, of what was not durable.
                let image = medium.image(|| match round {
                    0 | 1 => random(&mut seed),
                    other => other - 2,
                });
                let again = Arc::new(Simulated::from_image(&image, ROOM));
                let mut pool = Pool::over(again.clone(), ARCHIVE).unwrap();
                check(&run(&mut pool, persist).unwrap());
                let done = |(_, done, _): (String, u64, u64)| done;
                let operations =
                    pool.resumptions().iter().filter_map(|found| found.operations.clone());
                most_operations = most_operations.max(operations.map(done).max().unwrap_or(0));
                if event + 1 == events {
                    assert!(finished(&pool) >= PHASES - 1);
                }
                if round == 0 {
                    let image = again.image(|| random(&mut seed));
                    let mut pool =
                        Pool::over(Arc::new(Simulated::from_image(&image, ROOM)), ARCHIVE).unwrap();
                    check(&run(&mut pool, persist).unwrap());
                    assert_eq!(finished(&pool), PHASES, "what was finished is durable");
                }
            }
        }
        assert_eq!(most_operations > 0, persist == Persist::Operation);
    }
}

/// Blocks that are large are made durable before a wave has all its operations.
#[test]
fn large_blocks_are_durable_soon() {
    const OPERATIONS: usize = 5;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (bytes, kept) in [(20 << 20, true), (20 << 10, false)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool");
        let run = |fails: bool| {
            threads.install(|| {
                let mut pool = Pool::open(&path, ARCHIVE, Patience::default())?;
                let mut work = pool.work(&chain(), Persist::Operation, 0)?;
                let blocks = work.append(
                    "blocks",
                    OPERATIONS,
                    |_, _| Some(true),
                    |operation, block| {
                        block.put(&vec![operation as u8; bytes]);
                        let fails = fails && operation == OPERATIONS - 1;
                        if fails { Err(tadoc_core::Error::CountsOnly) } else { Ok(()) }
                    },
                )?;
                drop(work);
                let found = pool.resumptions().last().unwrap();
                let done = found.operations.as_ref().map(|&(_, done, _)| done);
                Ok::<_, Error>((blocks, done))
            })
        };
        assert!(matches!(run(true), Err(Error::Core(tadoc_core::Error::CountsOnly))));
        let (blocks, done) = run(false).unwrap();
        assert_eq!(done.unwrap() >= 2, kept, "{done:?}");
        for operation in 0..OPERATIONS {
            let section = blocks.section::<u8>(operation, 0);
            assert!(section.len() == bytes && section.iter().all(|&byte| byte == operation as u8));
        }
    }
}

/// Power is lost again and again, at random events, until the chain comes to its end.
#[test]
fn power_is_lost_again_and_again() {
    let mut seed = 9;
    for _ in 0..20 {
        let mut image = Vec::new();
        let mut times = 0;
        loop {
            let medium = Arc::new(Simulated::from_image(&image, ROOM));
            medium.power_goes_at(3 + random(&mut seed) % 30);
            let persist = if random(&mut seed).is_multiple_of(4) {
                Persist::Phase
            } else {
                Persist::Operation
            };
            // Tasks take turns in the same place.
            let chain = Chain { key: 5 + random(&mut seed) / 7 % 2, ..chain() };
            let ran = Pool::over(medium.clone(), ARCHIVE)
                .and_then(|mut pool| run_as(&mut pool, persist, &chain));
            if let Ok(tables) = ran {
                check(&tables);
                break;
            }
            image = medium.image(|| random(&mut seed));
            times += 1;
            assert!(times < 1000, "it does not come to an end");
        }
    }
}

/// Nothing is flushed: whatever happens to be there is used if it is right.
#[test]
fn power_is_lost_without_any_flush() {
    let mut seed = 4;
    let medium = Arc::new(Simulated::new(ROOM));
    run_until(&medium, Persist::None).unwrap();
    for round in 0..40 {
        let image = medium.image(|| if round == 0 { 1 } else { random(&mut seed) });
        // A header is always made durable.
        let mut pool = Pool::over(Arc::new(Simulated::from_image(&image, ROOM)), ARCHIVE).unwrap();
        check(&run(&mut pool, Persist::None).unwrap());
        assert!(round > 0 || finished(&pool) == PHASES);
    }
}

#[test]
fn a_flush_that_fails_is_an_error_and_nothing_is_lost() {
    let events = run_until(&Arc::new(Simulated::new(ROOM)), Persist::Operation).unwrap();
    for event in (0..events).step_by(3) {
        let medium = Arc::new(Simulated::new(ROOM));
        medium.fails_at(event);
        assert_eq!(run_until(&medium, Persist::Operation), None);
        // The same memory, by the same process or the next.
        assert!(run_until(&medium, Persist::Operation).is_some(), "event {event}");
    }
}

/// An image of a finished chain, and one of a chain in the middle of a phase.
fn images() -> Vec<(Persist, Vec<u8>)> {
    let mut images = Vec::new();
    for persist in [Persist::Phase, Persist::Operation] {
        let medium = Arc::new(Simulated::new(ROOM));
        let events = run_until(&medium, persist).unwrap();
        images.push((persist, medium.image(|| 1)));
        for part in [events / 4, events / 2, events - 10] {
            let medium = Arc::new(Simulated::new(ROOM));
            medium.power_goes_at(part);
            run_until(&medium, persist);
            images.push((persist, medium.image(|| 1)));
        }
    }
    images
}

/// A bit flipped anywhere: an error about the header, or the right tables.
#[test]
fn flipped_bits_are_noticed() {
    let mut seed = 77;
    for (persist, image) in images() {
        let mut discarded = 0;
        // Header and checkpoints densely, tables here and there.
        let dense = (0..64).chain(32768..33800).chain(65536..66600);
        let sparse = (98304..image.len()).step_by(4099);
        for byte in dense.step_by(11).chain(sparse) {
            let mut image = image.clone();
            image[byte] ^= 1 << (random(&mut seed) % 8);
            match Pool::over(Arc::new(Simulated::from_image(&image, ROOM)), ARCHIVE) {
                Ok(mut pool) => {
                    check(&run(&mut pool, persist).unwrap());
                    discarded +=
                        pool.resumptions().iter().map(|found| found.discarded.len()).sum::<usize>();
                }
                Err(error) => {
                    assert!(byte < 64, "{error}");
                    let is_of_header = matches!(
                        error,
                        Error::NotAPool { .. }
                            | Error::OtherVersion { .. }
                            | Error::OtherArchive { .. }
                            | Error::DamagedHeader { .. }
                    );
                    assert!(is_of_header, "{error}");
                }
            }
        }
        assert!(discarded > 0);
    }
}

/// Cut at every page, and in the middle of some.
#[test]
fn cut_files_are_noticed() {
    for (persist, image) in images() {
        for page in 0..image.len() / 4096 {
            let length = page * 4096 + (page % 3) * 40;
            let medium = Arc::new(Simulated::from_image(&image[..length], ROOM));
            match Pool::over(medium, ARCHIVE) {
                Ok(mut pool) => check(&run(&mut pool, persist).unwrap()),
                Err(error) => {
                    assert!(page == 0 && matches!(error, Error::NotAPool { .. }), "{error}")
                }
            }
        }
    }
}

/// Too little room, in every step from none to enough.
#[test]
fn a_full_device_is_an_error() {
    for persist in Persist::ALL {
        let mut enough = false;
        for room in (0..ROOM).step_by(24 << 10) {
            let medium = Arc::new(Simulated::new(room));
            let ran = Pool::over(medium.clone(), ARCHIVE)
                .and_then(|mut pool| run(&mut pool, persist).map(|_| ()));
            match ran {
                Ok(()) => enough = true,
                Err(error) => {
                    assert!(!enough && matches!(error, Error::NoRoom { .. }), "{error}");
                    // With more room the same pool goes on.
                    let image = medium.image(|| 1);
                    let mut pool =
                        Pool::over(Arc::new(Simulated::from_image(&image, ROOM)), ARCHIVE).unwrap();
                    check(&run(&mut pool, persist).unwrap());
                }
            }
        }
        assert!(enough);
    }
}

/// A device that is really full.
#[test]
fn a_full_file_system_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k", "none"])
        .arg(folder.path())
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let path = folder.path().join("pool");
    let ran = Pool::open(&path, ARCHIVE, Patience::default())
        .and_then(|mut pool| run(&mut pool, Persist::Phase).map(|_| ()));
    let unmounted = std::process::Command::new("umount").arg(folder.path()).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert!(matches!(ran, Err(Error::NoRoom { .. })), "{ran:?}");
}

#[test]
fn a_pool_has_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool");
    let pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
    let refused =
        Pool::open(&path, ARCHIVE, Patience { most: Duration::ZERO, ..Patience::default() })
            .unwrap_err();
    assert!(matches!(refused, Error::InUse { .. }), "{refused}");
    drop(pool);
    Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool");
    for bytes in [b"x".to_vec(), vec![0; 63], vec![0; 5000], vec![7; 200_000]] {
        std::fs::write(&path, &bytes).unwrap();
        let refused = Pool::open(&path, ARCHIVE, Patience::default()).unwrap_err();
        assert!(matches!(refused, Error::NotAPool { .. }), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    std::fs::remove_file(&path).unwrap();
    drop(Pool::open(&path, ARCHIVE, Patience::default()).unwrap());
    let refused = Pool::open(&path, [3, 5], Patience::default()).unwrap_err();
    assert!(matches!(refused, Error::OtherArchive { .. }), "{refused}");
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(&[9], 20).unwrap();
    let refused = Pool::open(&path, ARCHIVE, Patience::default()).unwrap_err();
    assert!(matches!(refused, Error::DamagedHeader { .. }), "{refused}");
    assert!(matches!(
        Pool::open(folder.path(), ARCHIVE, Patience::default()),
        Err(Error::Io { .. })
    ));
}

#[test]
fn another_chain_replaces_the_working_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool");
    let mut pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
    let tables = run(&mut pool, Persist::Phase).unwrap();
    let other = Chain { key: 6, name: "another".into() };
    for _ in 0..2 {
        let mut work = pool.work(&other, Persist::Phase, 0).unwrap();
        let ones =
            work.fill("ones", &[0, 3000], |_, _| true, |_, own: &mut [u64]| own.fill(1)).unwrap();
        assert!(ones.iter().all(|&one| one == 1));
    }
    // What was discarded is still there for those who hold it.
    check(&tables);
    let found = pool.resumptions();
    assert_eq!(found[1].replaced.as_deref(), Some("a chain"));
    assert_eq!((found[1].finished.len(), found[2].finished.len()), (0, 1));
    let bytes = pool.bytes();
    drop((tables, pool));
    let mut pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
    check(&run(&mut pool, Persist::Phase).unwrap());
    assert_eq!(finished(&pool), 0);
    // Nobody holds the first ones any more, so their place is taken again.
    assert!(pool.bytes() < bytes);
}

#[test]
fn another_shape_is_made_again() {
    let mut pool = Pool::over(Arc::new(Mapped::in_memory().unwrap()), ARCHIVE).unwrap();
    for (cuts, found) in [([0, 2, 4], 0), ([0, 2, 4], 2), ([0, 3, 4], 0), ([0, 3, 4], 2)] {
        let mut work = pool.work(&chain(), Persist::Phase, 0).unwrap();
        let table = work
            .fill("one", &cuts, |_, _| true, |operation, own| own.fill(operation as u8))
            .unwrap();
        assert_eq!(table[2], u8::from(cuts[1] == 2));
        work.fill("two", &[0, 1], |_, _| true, |_, own: &mut [u8]| own.fill(7)).unwrap();
        drop(work);
        assert_eq!(pool.resumptions().last().unwrap().finished.len(), found);
    }
}

/// Rows to work in are zero, in memory and beside it, and memory is given back.
#[test]
fn rows_to_work_in_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut pool = Pool::open(&folder.path().join("pool"), ARCHIVE, Patience::default()).unwrap();
    let work = pool.work(&chain(), Persist::Phase, 1000).unwrap();
    let mut rows: Vec<_> = (0..5).map(|_| work.scratch::<u64>(50).unwrap()).collect();
    for (number, row) in rows.iter_mut().enumerate() {
        assert!(row.iter().all(|&word| word == 0));
        row.fill(number as u64);
    }
    assert!(rows.iter().enumerate().all(|(number, row)| row[49] == number as u64));
    assert_eq!(rows.iter().filter(|row| row.is_in_memory()).count(), 2);
    drop(rows);
    assert!(work.scratch::<u8>(1000).unwrap().is_in_memory());
    assert!(work.scratch::<u8>(0).unwrap().is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

const KILLED: &str = "TADOC_POOL_OF_A_CHILD";
const KILLS: usize = 100;

/// What the child of the next test does: the chain, at one level after the other.
#[test]
fn child_that_is_killed() {
    let Some(path) = std::env::var_os(KILLED) else {
        return;
    };
    for key in 0.. {
        let persist = [Persist::Operation, Persist::Phase, Persist::None][key as usize % 3];
        let mut pool = Pool::open(path.as_ref(), ARCHIVE, Patience::default()).unwrap();
        check(&run_as(&mut pool, persist, &Chain { key: key / 2, ..chain() }).unwrap());
    }
}

/// A process is killed at random moments; the next one finds a pool in which it gets the right tables.
#[test]
fn killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool");
    let mut seed = 3;
    for _ in 0..KILLS {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "storage::child_that_is_killed"])
            .env(KILLED, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5 + random(&mut seed) % 60));
        // A child that has found something wrong has ended by itself.
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
    check(&run(&mut pool, Persist::Operation).unwrap());
}

/// Elements at work have a checksum for each operation, which whoever changes them can make right: they must pass the check of
/// their phase all the same, and what was made of others is made again with them.
#[test]
fn elements_at_work_pass_the_check_or_are_made_again() {
    let levels = [0_u32, 2, 4, 6];
    let is_above = |rules: std::ops::Range<u32>, own: &[u64], below: &[u64]| {
        let least = below.iter().copied().max().unwrap_or(0);
        rules.zip(own).all(|(_, &own)| own > least && own < 100)
    };
    let run = |medium: &Arc<Simulated>| {
        let mut pool = Pool::over(medium.clone(), ARCHIVE)?;
        let mut work = pool.work(&chain(), Persist::Operation, 0)?;
        let made = std::sync::atomic::AtomicUsize::new(0);
        let starts = tadoc_tasks::work::Starts::One;
        let table = work.fill_upwards("rows", starts, &levels, is_above, |_, own, below| {
            made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            own.fill(below.first().copied().unwrap_or(0) + 1);
        })?;
        Ok::<_, Error>((table.to_vec(), made.into_inner()))
    };
    let expected = vec![3, 3, 2, 2, 1, 1];
    let whole = Arc::new(Simulated::new(ROOM));
    assert_eq!(run(&whole).unwrap(), (expected.clone(), 3));
    // The power goes when all is done but the last checkpoint: every operation is there with its mark.
    let mut at_work = None;
    for event in 0..whole.events() {
        let medium = Arc::new(Simulated::new(ROOM));
        medium.power_goes_at(event);
        assert!(run(&medium).is_err());
        let image = medium.image(|| 1);
        if run(&Arc::new(Simulated::from_image(&image, ROOM))).unwrap().1 == 0 {
            at_work = Some(image);
        }
    }
    let image = at_work.expect("an event at which all operations are done");
    let marks = (TABLES + 256 + 8).next_multiple_of(4096);
    let identity = {
        let words: &[u64] = bytemuck::cast_slice(&image[1 << 15..3 << 15]);
        let slots = words.split_at(words.len() / 2);
        let newer = if slots.0[1] > slots.1[1] { slots.0 } else { slots.1 };
        newer[32 + 3]
    };
    // The operation of each level, from the last rules up, and how many at least are made again if it is
    // changed.
    for (operation, first, again) in [(0, 4, 3), (1, 2, 2), (2, 0, 1)] {
        let mut image = image.clone();
        let own = TABLES + 8 * first..TABLES + 8 * (first + 2);
        image[own.start..own.start + 8].copy_from_slice(&1000_u64.to_le_bytes());
        let mark = xxhash_rust::xxh64::xxh64(&image[own], identity.wrapping_add(operation));
        let place = marks + 8 * operation as usize;
        image[place..place + 8].copy_from_slice(&mark.max(1).to_le_bytes());
        let medium = Arc::new(Simulated::from_image(&image, ROOM));
        let (found, made) = run(&medium).unwrap();
        assert_eq!(found, expected, "operation {operation}");
        assert!(made >= again, "operation {operation}: {made} made again");
    }
}
