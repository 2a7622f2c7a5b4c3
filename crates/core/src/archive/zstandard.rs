//! Zstandard frames inside of sections.

use crate::usize_of;
use std::io::Read;

use super::wire::Reader;
use crate::budget::Share;
use crate::error::Result;

/// Bytes that are unpacked at a time, at least and at the most.
const STEPS: std::ops::RangeInclusive<u64> = 1 << 16..=1 << 24;

/// Decoders refuse frames that refer further back.
const LARGEST_WINDOW: u64 = 1 << 27;

/// Unpacks `compressed`, which must be one frame of `expected` bytes and nothing else. What is announced
/// is a limit and not an allocation: memory grows as bytes come out, and `share` with it, as that of `what`.
/// Errors are about `section`.
pub(super) fn unpack(
    section: &Reader<'_>,
    compressed: &[u8],
    expected: u64,
    share: &Share,
    what: &'static str,
) -> Result<Vec<u8>> {
    // What the decoder keeps of what it has unpacked.
    let _window = share.budget().take(expected.min(LARGEST_WINDOW), what)?;
    let failed = |error| section.malformed(format!("Zstandard: {error}"));
    let decoder = zstd::Decoder::with_buffer(compressed).map_err(failed)?;
    let mut decoder = decoder.single_frame();
    let mut unpacked = Vec::new();
    loop {
        let done = unpacked.len() as u64;
        // One byte more than expected tells that there is more.
        let left = expected.saturating_add(1).saturating_sub(done);
        let step = (done / 2).clamp(*STEPS.start(), *STEPS.end()).min(left);
        share.grow(step, what)?;
        unpacked.reserve_exact(usize_of(step));
        let read = (&mut decoder).take(step).read_to_end(&mut unpacked).map_err(failed)?;
        if (read as u64) < step || step == left {
            break;
        }
    }
    let rest = decoder.into_inner();
    if unpacked.len() as u64 != expected {
        let found = if unpacked.len() as u64 > expected {
            "more".to_owned()
        } else {
            unpacked.len().to_string()
        };
        return Err(section.malformed(format!("a frame unpacks to {found} bytes, not {expected}")));
    }
    if compressed.is_empty() || !rest.is_empty() {
        return Err(section.malformed("compressed bytes are not one Zstandard frame"));
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;

    #[test]
    fn only_one_whole_frame_of_the_announced_length_is_taken() {
        let reader = Reader::new(&[], "test");
        let unpack = |reader: &Reader<'_>, frame: &[u8], expected: u64| {
            unpack(reader, frame, expected, &Budget::unlimited().share(), "test")
        };
        for text in [&b""[..], b"abc", &[7; 300_000]] {
            let frame = zstd::bulk::compress(text, 3).unwrap();
            let length = text.len() as u64;
            assert_eq!(unpack(&reader, &frame, length).unwrap(), text);
            assert!(unpack(&reader, &frame, length + 1).is_err());
            assert!(unpack(&reader, &[&frame[..], &frame].concat(), length).is_err());
            assert!(unpack(&reader, &[&frame[..], &frame].concat(), 2 * length).is_err());
            assert!(unpack(&reader, &[&frame[..], b"x"].concat(), length).is_err());
            for cut in (0..frame.len()).step_by(frame.len() / 9 + 1) {
                assert!(unpack(&reader, &frame[..cut], length).is_err(), "{cut}");
            }
        }
        let bomb = zstd::bulk::compress(&[0; 10_000], 3).unwrap();
        assert!(unpack(&reader, &bomb, 9_999).is_err());
    }
}
