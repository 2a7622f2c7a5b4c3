//! Observers end long work in the middle of its steps, and nothing is left behind.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use tadoc_engine::{CompressOptions, Error, Input, Level, Phase, Source};

/// Words that come again now and then.
fn text(bytes: usize) -> Vec<u8> {
    let (mut text, mut seed) = (Vec::with_capacity(bytes + 8), 1_u32);
    while text.len() < bytes {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend_from_slice(format!("{:x} ", (seed >> 16) % 5000).as_bytes());
    }
    text
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Lets an observer end work at its second call, on longer and longer texts: work that is done before it
/// is called so often proves nothing.
fn cancel(
    work: impl Fn(
        usize,
        &(dyn Fn(Phase, u64, u64) -> ControlFlow<()> + Sync),
    ) -> tadoc_engine::Result<()>,
) {
    for bytes in [1 << 20, 4 << 20, 16 << 20] {
        let calls = AtomicU32::new(0);
        let ended = work(bytes, &|_, _, _| match calls.fetch_add(1, Ordering::SeqCst) {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        });
        match ended {
            Err(Error::Cancelled) => return,
            Err(error) => panic!("{error}"),
            Ok(()) => {}
        }
    }
    panic!("the observer was never asked in the middle of a segment");
}

#[test]
fn transcoding_one_segment_is_cancelled() {
    for (from, to) in [(Level::Fast, Level::Dense), (Level::Dense, Level::Fast)] {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old.tdc", "new.tdc"].map(|name| folder.path().join(name));
        cancel(|bytes, observer| {
            let input = Input::new("a", Source::Bytes(text(bytes)));
            let options = CompressOptions { level: from, force: true, ..Default::default() };
            tadoc_engine::compress(vec![input], &old, &options, &())?;
            tadoc_engine::transcode(&old, &new, to, true, &observer).map(drop)
        });
        let _ = std::fs::remove_file(&new);
        assert_eq!(names(folder.path()), ["old.tdc"]);
    }
}

#[test]
fn compressing_is_cancelled_behind_parts_that_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.tdc");
    // So little memory that half of the text is a part, which waits while the other half is lexed and paired.
    let least = match tadoc_engine::compress(
        vec![],
        &path,
        &CompressOptions { memory: Some(0), ..Default::default() },
        &(),
    ) {
        Err(Error::TooLittleMemory { least, .. }) => least,
        other => panic!("{other:?}"),
    };
    let options = CompressOptions { memory: Some(least + (1 << 20)), ..Default::default() };
    for eighth in 1..8 {
        let observer = |_: Phase, done: u64, total: u64| match done * 8 > total * eighth {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let input = Input::new("a", Source::Bytes(text(20 << 20)));
        let ended = tadoc_engine::compress(vec![input], &path, &options, &observer);
        assert!(matches!(ended, Err(Error::Cancelled)), "{eighth}: {ended:?}");
        assert!(names(folder.path()).is_empty());
    }
}
