//! A tar stream, cut into blocks of documents while it is read.
//!
//! ustar, GNU long names and pax paths; other members than files are passed over. Each byte is read once, into
//! a block of about [`BLOCK`] bytes that a lexing thread takes while the next one is filled; blocks come back
//! to be filled again, so memory does not grow with the text. Documents are numbered as they come.

use std::io::Read;

use anyhow::{Context, Result, bail, ensure};

/// When a block is full.
const BLOCK: usize = if cfg!(test) { 1 << 10 } else { 512 << 10 };
const RECORD: usize = 512;

/// Bytes of some documents, or of a part of one.
#[derive(Debug, Default)]
pub struct Block {
    pub bytes: Vec<u8>,
    pub pieces: Vec<Piece>,
}

/// A document, or a part of one, in a block.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub document: u32,
    /// Which part of the document.
    pub part: u32,
    /// Where it ends in the block; it begins where the one before it ends.
    pub end: usize,
}

/// Reads a tar to its end and returns the names of its documents. Calls `full` with every block, which
/// returns one to fill next.
pub fn read(mut stream: impl Read, mut full: impl FnMut(Block) -> Block) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    let mut block = Block::default();
    let mut long_name: Option<Vec<u8>> = None;
    let mut long_size: Option<u64> = None;
    let mut header = [0; RECORD];
    while fill(&mut stream, &mut header)? && header.iter().any(|&byte| byte != 0) {
        let size = match long_size.take() {
            Some(size) => size,
            None => number(&header[124..136]).context("a tar header has no length")?,
        };
        match header[156] {
            kind @ (b'L' | b'x') => {
                let mut bytes = vec![0; usize::try_from(size)?.next_multiple_of(RECORD)];
                ensure!(fill(&mut stream, &mut bytes)?, "the tar ends in a header");
                bytes.truncate(size as usize);
                if kind == b'L' {
                    bytes.truncate(until_zero(&bytes).len());
                    long_name = Some(bytes);
                } else {
                    if let Some(path) = pax(&bytes, b"path") {
                        long_name = Some(path.to_vec());
                    }
                    let size = pax(&bytes, b"size").map(std::str::from_utf8);
                    long_size = size.transpose()?.map(str::parse).transpose()?;
                }
            }
            b'0' | 0 | b'7' => {
                let document = u32::try_from(names.len()).context("too many documents")?;
                names.push(document_name(long_name.take().unwrap_or_else(|| name(&header))));
                block = content(&mut stream, size, document, block, &mut full)?;
                skip(&mut stream, size.next_multiple_of(RECORD as u64) - size)?;
            }
            _ => {
                long_name = None;
                skip(&mut stream, size.next_multiple_of(RECORD as u64))?;
            }
        }
    }
    full(block);
    // What follows the end is padding; a writer would fail if we did not take it.
    std::io::copy(&mut stream, &mut std::io::sink())?;
    Ok(names)
}

/// Reads a document's bytes into blocks, cut where no word is cut.
fn content(
    stream: &mut impl Read,
    size: u64,
    document: u32,
    mut block: Block,
    full: &mut impl FnMut(Block) -> Block,
) -> Result<Block> {
    let mut left = size;
    let mut part = 0;
    let mut start = block.bytes.len();
    loop {
        let wanted = left.min(BLOCK.saturating_sub(block.bytes.len()).max(RECORD) as u64);
        let read = stream.by_ref().take(wanted).read_to_end(&mut block.bytes)?;
        ensure!(read as u64 == wanted, "the tar ends in a document");
        left -= wanted;
        if left == 0 {
            block.pieces.push(Piece { document, part, end: block.bytes.len() });
            return Ok(if block.bytes.len() >= BLOCK { full(block) } else { block });
        }
        // More of this document comes: the block ends behind its last space or line feed, if it has one.
        if let Some(at) = memchr::memrchr2(b'\n', b' ', &block.bytes[start..]) {
            let end = start + at + 1;
            let rest = block.bytes[end..].to_vec();
            block.bytes.truncate(end);
            block.pieces.push(Piece { document, part, end });
            block = full(block);
            block.bytes.extend_from_slice(&rest);
            part += 1;
            start = 0;
        }
    }
}

/// Fills the buffer; false at the end of the stream.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..])? {
            0 if filled == 0 => return Ok(false),
            0 => bail!("the tar ends in the middle"),
            count => filled += count,
        }
    }
    Ok(true)
}

fn skip(stream: &mut impl Read, bytes: u64) -> Result<()> {
    let copied = std::io::copy(&mut stream.by_ref().take(bytes), &mut std::io::sink())?;
    ensure!(copied == bytes, "the tar ends in the middle");
    Ok(())
}

fn until_zero(field: &[u8]) -> &[u8] {
    &field[..field.iter().position(|&byte| byte == 0).unwrap_or(field.len())]
}

/// Octal digits, or GNU's binary numbers.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        return Some(
            field[field.len() - 8..].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
        );
    }
    let digits = std::str::from_utf8(until_zero(field)).ok()?.trim();
    u64::from_str_radix(digits, 8).ok()
}

/// The name in a header, with ustar's prefix.
fn name(header: &[u8; RECORD]) -> Vec<u8> {
    let name = until_zero(&header[..100]);
    // GNU writes "ustar " and has other things where the prefix would be.
    let prefix = if &header[257..263] == b"ustar\0" { until_zero(&header[345..500]) } else { &[] };
    if prefix.is_empty() { name.to_vec() } else { [prefix, b"/", name].concat() }
}

/// A value of a pax header, whose records are `LENGTH KEY=VALUE\n`.
fn pax<'b>(mut records: &'b [u8], key: &[u8]) -> Option<&'b [u8]> {
    let mut found = None;
    while let Some(space) = memchr::memchr(b' ', records) {
        let length: usize = std::str::from_utf8(&records[..space]).ok()?.parse().ok()?;
        let record = records.get(space + 1..length.checked_sub(1)?)?;
        let equals = memchr::memchr(b'=', record)?;
        if &record[..equals] == key {
            found = Some(&record[equals + 1..]);
        }
        records = &records[length..];
    }
    found
}

/// A document's name has no `./` or `/` before it.
fn document_name(mut name: Vec<u8>) -> Vec<u8> {
    let mut start = 0;
    loop {
        let rest = &name[start..];
        if rest.starts_with(b"./") {
            start += 2;
        } else if rest.starts_with(b"/") {
            start += 1;
        } else {
            return name.split_off(start);
        }
    }
}
