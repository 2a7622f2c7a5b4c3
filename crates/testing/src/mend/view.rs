//! Stored views, as docs/view.md describes them.

use xxhash_rust::xxh64::xxh64;

use super::{get, put};

const HEADER_BYTES: usize = 256;
const BLOCK: usize = 1 << 20;
/// Fields of the header.
const IMAGE_BYTES: usize = 16;
const LENGTHS: usize = 40;
const HEADER_CHECKSUM: usize = HEADER_BYTES - 8;
/// Bytes of an element of each array.
const ELEMENT_BYTES: [u64; 7] = [1, 8, 4, 4, 4, 4, 4];

/// Makes length and checksums of a stored view agree with its bytes. The checksums of blocks are
/// put right only where the lengths of arrays are those of an image of this size.
pub fn mend_view(image: &mut [u8]) {
    if image.len() < HEADER_BYTES {
        return;
    }
    put(image, IMAGE_BYTES, image.len() as u64);
    if let Some(end) = arrays_end(image) {
        for block in 0..(end - HEADER_BYTES).div_ceil(BLOCK) {
            let start = HEADER_BYTES + block * BLOCK;
            let checksum = xxh64(&image[start..end.min(start + BLOCK)], 0);
            put(image, end + 8 * block, checksum);
        }
    }
    let checksum = xxh64(&image[..HEADER_CHECKSUM], 0);
    put(image, HEADER_CHECKSUM, checksum);
}

/// Where the arrays end, if the checksums behind them end with the image.
fn arrays_end(image: &[u8]) -> Option<usize> {
    let mut end = HEADER_BYTES as u64;
    for (number, bytes) in ELEMENT_BYTES.iter().enumerate() {
        let length = get(image, LENGTHS + 8 * number).checked_mul(*bytes)?;
        end = end.checked_add(length)?.checked_next_multiple_of(HEADER_BYTES as u64)?;
    }
    let end = usize::try_from(end).ok()?;
    let checksums = 8 * (end - HEADER_BYTES).div_ceil(BLOCK);
    (end.checked_add(checksums) == Some(image.len())).then_some(end)
}
