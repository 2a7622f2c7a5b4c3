//! Results as JSON, one object a line.

use base64::prelude::{BASE64_STANDARD, Engine};
use tadoc::text::escape;

/// Bytes of a document.
pub fn bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    field(to, b"{\"text\":", b"{\"base64\":", bytes);
    to.extend_from_slice(b"}\n");
}

/// Where a word is: offsets by documents.
pub fn offsets<D>(to: &mut Vec<u8>, documents: &[(D, Vec<u64>)]) {
    put_offsets(to, documents);
    to.extend_from_slice(b"}\n");
}

/// Names of what each offset is of, and the key that they are told under.
pub type Names<'n, D> = (&'static str, &'n dyn Fn(&D) -> Vec<u8>);

/// The same, with the name of a document for each offset, and others.
pub fn offsets_in_all<D>(to: &mut Vec<u8>, documents: &[(D, Vec<u64>)], told: &[Names<'_, D>]) {
    put_offsets(to, documents);
    for (key, name_of) in told {
        to.extend_from_slice(format!(",\"{key}\":").as_bytes());
        let mut name = Vec::new();
        let of_offsets = documents.iter().flat_map(|(document, offsets)| {
            (0..offsets.len()).map(move |place| (place == 0).then_some(document))
        });
        list(to, of_offsets, |to, document| {
            if let Some(document) = document {
                name.clear();
                string(&mut name, &printed(&name_of(document)));
            }
            to.extend_from_slice(&name);
        });
    }
    to.extend_from_slice(b"}\n");
}

/// How often a word occurs.
pub fn count(to: &mut Vec<u8>, count: u64) {
    to.extend_from_slice(b"{\"count\":");
    number(to, count);
    to.extend_from_slice(b"}\n");
}

/// A word that was drawn.
pub struct Word<'w> {
    /// Where it is told.
    pub archive: Option<&'w [u8]>,
    pub document: &'w [u8],
    pub offset: u64,
    pub word: &'w [u8],
}

/// Words that were drawn.
pub fn words<'w>(to: &mut Vec<u8>, words: impl Iterator<Item = Word<'w>>) {
    to.extend_from_slice(b"{\"words\":");
    list(to, words, |to, Word { archive, document, offset, word }| {
        to.push(b'{');
        if let Some(archive) = archive {
            to.extend_from_slice(b"\"archive\":");
            string(to, &printed(archive));
            to.push(b',');
        }
        to.extend_from_slice(b"\"document\":");
        string(to, &printed(document));
        to.extend_from_slice(b",\"offset\":");
        number(to, offset);
        field(to, b",\"word\":", b",\"word_base64\":", word);
        to.push(b'}');
    });
    to.extend_from_slice(b"}\n");
}

/// An edit that was made.
pub fn done(to: &mut Vec<u8>) {
    to.extend_from_slice(b"{\"ok\":true}\n");
}

/// What went wrong.
pub fn error(to: &mut Vec<u8>, wrong: &str) {
    to.extend_from_slice(b"{\"error\":");
    string(to, wrong);
    to.extend_from_slice(b"}\n");
}

fn put_offsets<D>(to: &mut Vec<u8>, documents: &[(D, Vec<u64>)]) {
    to.extend_from_slice(b"{\"offsets\":");
    list(to, documents.iter().flat_map(|(_, offsets)| offsets), |to, offset| number(to, *offset));
}

/// The name of a document that an operation can have again: where it is not UTF-8, as `tadoc list` prints it.
fn printed(name: &[u8]) -> String {
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
