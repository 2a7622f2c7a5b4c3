//! Zstandard frames inside of sections.

use std::io::Read;

use super::wire::Reader;
use crate::error::Result;

/// Unpacks `compressed`, which must be one frame of `expected` bytes and nothing else. What is announced
/// is a limit and not an allocation: memory grows as bytes come out. Errors are about `section`.
pub(super) fn unpack(section: &Reader<'_>, compressed: &[u8], expected: u64) -> Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    let rest = zstd::Decoder::with_buffer(compressed).and_then(|decoder| {
        let mut limited = decoder.single_frame().take(expected.saturating_add(1));
        limited.read_to_end(&mut unpacked)?;
        Ok(limited.into_inner().into_inner())
    });
    let rest = rest.map_err(|error| section.malformed(format!("Zstandard: {error}")))?;
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

    #[test]
    fn only_one_whole_frame_of_the_announced_length_is_taken() {
        let reader = Reader::new(&[], "test");
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
