//! Results as JSON, one object a line.

use base64::prelude::{BASE64_STANDARD, Engine};
use tadoc::access::{Operation, Outcome, Sampled};
use tadoc::text::escape;

use super::super::Opened;

/// About how many bytes an offset takes, in memory and as text; beside the document's name, where that is told.
const OFFSET_BYTES: u64 = 20;
const NAME_BYTES: u64 = 60;
/// About how many bytes a drawn word takes.
const DRAWN_BYTES: u64 = 160;

/// How many bytes of memory the answer to an operation may take.
pub fn most_bytes(opened: &Opened<'_>, operation: &Result<Operation, String>) -> u64 {
    match operation {
        // In memory and as text.
        Ok(Operation::Extract { document, length, .. }) => {
            (*length).min(opened.bytes(*document)).saturating_mul(3)
        }
        // There is something between words.
        Ok(Operation::Search { document: Some(document), .. }) => {
            bytes_of_offsets(opened.bytes(*document) / 2 + 1, false)
        }
        Ok(Operation::Search { document: None, .. }) => u64::MAX,
        Ok(Operation::Sample { count, .. }) => count * DRAWN_BYTES,
        Ok(Operation::Count { .. }) => OFFSET_BYTES,
        Err(wrong) => wrong.len() as u64,
    }
}

/// About how many bytes offsets take; `in_all` with the names of documents.
pub fn bytes_of_offsets(count: u64, in_all: bool) -> u64 {
    count.saturating_mul(OFFSET_BYTES + if in_all { NAME_BYTES } else { 0 })
}

/// Writes the result of an operation on a line of its own.
pub fn write(
    opened: &Opened<'_>,
    outcome: Result<(&Operation, Outcome), String>,
    to: &mut Vec<u8>,
) {
    match outcome {
        Ok((_, Outcome::Bytes(bytes))) => field(to, b"{\"text\":", b"{\"base64\":", &bytes),
        Ok((operation, Outcome::Offsets(documents))) => {
            to.extend_from_slice(b"{\"offsets\":");
            list(to, documents.iter().flat_map(|(_, offsets)| offsets), |to, offset| {
                number(to, *offset);
            });
            if matches!(operation, Operation::Search { document: None, .. }) {
                to.extend_from_slice(b",\"documents\":");
                let mut name = Vec::new();
                let mut last = None;
                let documents = documents.iter();
                let of_offsets = documents
                    .flat_map(|(document, offsets)| std::iter::repeat_n(*document, offsets.len()));
                list(to, of_offsets, |to, document| {
                    if last != Some(document) {
                        last = Some(document);
                        name.clear();
                        string(&mut name, &name_of(opened, document));
                    }
                    to.extend_from_slice(&name);
                });
            }
        }
        Ok((_, Outcome::Count(count))) => {
            to.extend_from_slice(b"{\"count\":");
            number(to, count);
        }
        Ok((_, Outcome::Words(words))) => {
            to.extend_from_slice(b"{\"words\":");
            list(to, words.iter(), |to, word| drawn(opened, to, word));
        }
        Err(wrong) => {
            to.extend_from_slice(b"{\"error\":");
            string(to, &wrong);
        }
    }
    to.extend_from_slice(b"}\n");
}

fn drawn(opened: &Opened<'_>, to: &mut Vec<u8>, drawn: &Sampled) {
    to.extend_from_slice(b"{\"document\":");
    string(to, &name_of(opened, drawn.document));
    to.extend_from_slice(b",\"offset\":");
    number(to, drawn.offset);
    field(to, b",\"word\":", b",\"word_base64\":", &drawn.word);
    to.push(b'}');
}

/// The name of a document that an operation can have again: where it is not UTF-8, as `tadoc list` prints it.
fn name_of(opened: &Opened<'_>, document: u32) -> String {
    let name = opened.name(document);
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => escape(name).to_string(),
    }
}

/// Bytes as a string behind one key, or in base64 behind another.
fn field(to: &mut Vec<u8>, key: &[u8], base64_key: &[u8], bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            to.extend_from_slice(key);
            string(to, text);
        }
        Err(_) => {
            to.extend_from_slice(base64_key);
            string(to, &BASE64_STANDARD.encode(bytes));
        }
    }
}

fn string(to: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(to, text).expect("a vector takes all");
}

fn number(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn list<T>(
    to: &mut Vec<u8>,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    to.push(b'[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            to.push(b',');
        }
        write(to, item);
    }
    to.push(b']');
}
