//! Regions of a medium: disjoint, zero when new, shared by threads that add.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tadoc_pool::medium::mapped::Mapped;
use tadoc_pool::medium::space::Space;
use tadoc_pool::medium::{PAGE, widened};

fn space(length: u64) -> Arc<Space> {
    let space = Space::new(Arc::new(Mapped::in_memory().unwrap()));
    space.resize(length).unwrap();
    space
}

#[test]
fn a_byte_has_one_owner() {
    let space = space(8192);
    let first = space.region::<u64>(256, 16);
    assert_eq!(first.range(), 256..384);
    let refused = |offset, length| {
        catch_unwind(AssertUnwindSafe(|| drop(space.region::<u8>(offset, length)))).is_err()
    };
    assert!(refused(383, 1) && refused(0, 257) && refused(300, 2) && refused(8192, 1));
    assert!(!refused(384, 1) && !refused(0, 256) && !refused(300, 0));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(space.shared::<u8>(256, 1)))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| space.resize(383))).is_err());
    let shared = first.share();
    let again = space.shared::<u64>(264, 2);
    assert!(refused(256, 1));
    drop(shared);
    assert!(refused(264, 1) && !refused(256, 8));
    assert_eq!(space.held_end(), 280);
    drop(again);
    assert_eq!(space.held_end(), 0);
    assert!(!refused(0, 8192));
}

#[test]
fn what_is_cut_and_grown_again_is_zero() {
    let space = space(4096);
    space.resize(12288).unwrap();
    space.region::<u8>(0, 12288).fill(7);
    space.resize(4096).unwrap();
    space.resize(12288).unwrap();
    let bytes = space.shared::<u8>(0, 12288);
    assert!(bytes[..4096].iter().all(|&byte| byte == 7));
    assert!(bytes[4096..].iter().all(|&byte| byte == 0));
}

#[test]
fn threads_add_to_the_same_numbers() {
    let space = space(4096);
    let mut region = space.region::<u64>(0, 512);
    let numbers = region.atomics();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in numbers {
                    number.fetch_add(3, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(region.iter().all(|&number| number == 12));
}

#[test]
fn ranges_are_widened_and_joined() {
    let ranges = [9000..9001, 10..20, 30..30, 4096..4097, 5..6];
    assert_eq!(widened(&ranges, PAGE), [0..12288]);
    assert_eq!(widened(&[0..1, 128..129], 64), [0..64, 128..192]);
}
