//! Rows on their way to columns. Text is copied as it is, and looked at when its column ends: a
//! column that is UTF-8 without backslashes, as nearly all are, is checked once as a whole.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;
use tadoc::text::as_utf8;
use tadoc::{Column, ColumnKind, Timestamp, Value};

use crate::options::ZONE;
use crate::{Error, Options, Result};

/// Bytes that a text is expected to have, when room is made for it.
const EXPECTED_TEXT: usize = 8;

/// A column that takes values.
pub(crate) struct ColumnBuilder {
    name: &'static str,
    values: Values,
}

enum Values {
    Text(Texts),
    Encoded(Dictionary),
    Count(Vec<u64>),
    Signed(Vec<u64>),
    Real(Vec<f64>),
    /// Nanoseconds since 1970.
    Time(Vec<Option<i64>>),
}

impl ColumnBuilder {
    /// An empty one with room for `rows`.
    pub(crate) fn new(column: &Column, options: &Options, rows: usize) -> Self {
        let values = match column.kind {
            ColumnKind::Text if options.dictionary => Values::Encoded(Dictionary {
                keys: Vec::with_capacity(rows),
                texts: Texts::new(0),
                places: HashTable::new(),
            }),
            ColumnKind::Text => Values::Text(Texts::new(rows)),
            ColumnKind::Count if options.signed_counts => Values::Signed(Vec::with_capacity(rows)),
            ColumnKind::Count => Values::Count(Vec::with_capacity(rows)),
            ColumnKind::Real => Values::Real(Vec::with_capacity(rows)),
            ColumnKind::Time => Values::Time(Vec::with_capacity(rows)),
        };
        Self { name: column.name, values }
    }

    /// Adds a value.
    pub(crate) fn push(&mut self, value: &Value<'_>) -> Result<()> {
        match (&mut self.values, value) {
            (Values::Text(texts), value) => {
                texts.append(value);
                texts.end(self.name)?;
            }
            (Values::Encoded(dictionary), value) => dictionary.push(value, self.name)?,
            (Values::Count(values) | Values::Signed(values), Value::Count(value)) => {
                values.push(*value);
            }
            (Values::Real(values), Value::Real(value)) => values.push(*value),
            (Values::Time(values), Value::Time(time)) => {
                let nanoseconds = |time: Timestamp| {
                    let error = Error::TimeOutOfRange { column: self.name, time };
                    nanoseconds(time).ok_or(error)
                };
                values.push(time.map(nanoseconds).transpose()?);
            }
            _ => panic!("column {}: {value:?} is none of its values", self.name),
        }
        Ok(())
    }

    /// Bytes of its text.
    pub(crate) fn text_bytes(&self) -> usize {
        match &self.values {
            Values::Text(texts) => texts.bytes.len(),
            Values::Encoded(dictionary) => dictionary.texts.bytes.len(),
            _ => 0,
        }
    }

    /// Its values as Arrow's.
    pub(crate) fn finish(self) -> Result<ArrayRef> {
        Ok(match self.values {
            Values::Text(texts) => Arc::new(texts.finish(self.name)?),
            Values::Encoded(Dictionary { keys, texts, .. }) => {
                let values = Arc::new(texts.finish(self.name)?);
                Arc::new(DictionaryArray::<Int32Type>::new(Int32Array::from(keys), values))
            }
            Values::Count(values) => Arc::new(UInt64Array::from(values)),
            Values::Signed(values) => {
                let too_large = |&&count: &&u64| i64::try_from(count).is_err();
                if let Some(&count) = values.iter().find(too_large) {
                    return Err(Error::CountTooLarge { column: self.name, count });
                }
                let length = values.len();
                let values = ScalarBuffer::new(Buffer::from_vec(values), 0, length);
                Arc::new(Int64Array::new(values, None))
            }
            Values::Real(values) => Arc::new(Float64Array::from(values)),
            Values::Time(values) => {
                Arc::new(TimestampNanosecondArray::from(values).with_timezone(ZONE))
            }
        })
    }
}

/// Nanoseconds since 1970, which reach from 1677 to 2262.
fn nanoseconds(time: Timestamp) -> Option<i64> {
    let whole = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
    i64::try_from(whole).ok()
}

/// An offset or a key as a place in memory.
#[expect(clippy::cast_sign_loss, reason = "offsets and keys are made of lengths")]
fn place_of(number: i32) -> usize {
    number as usize
}

/// Texts behind one another, and where each ends, behind a 0.
struct Texts {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
}

impl Texts {
    fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { bytes: Vec::with_capacity(rows * EXPECTED_TEXT), offsets }
    }

    /// Adds the bytes of a text that does not end yet.
    fn append(&mut self, value: &Value<'_>) {
        match value {
            Value::Text(text) => self.bytes.extend_from_slice(text),
            Value::Terms(terms) => {
                for (place, term) in terms.iter().enumerate() {
                    if place > 0 {
                        self.bytes.push(b' ');
                    }
                    self.bytes.extend_from_slice(term);
                }
            }
            _ => panic!("{value:?} is no text"),
        }
    }

    /// Where the last text ended.
    fn start(&self) -> usize {
        place_of(*self.offsets.last().expect("behind a 0"))
    }

    /// Ends a text.
    fn end(&mut self, column: &'static str) -> Result<()> {
        let too_long = || {
            let bytes = (self.bytes.len() - self.start()) as u64;
            Error::TextTooLong { column, bytes }
        };
        let end = i32::try_from(self.bytes.len()).map_err(|_| too_long())?;
        self.offsets.push(end);
        Ok(())
    }

    /// The texts, each with its offsets.
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets.windows(2).map(|ends| &self.bytes[place_of(ends[0])..place_of(ends[1])])
    }

    fn finish(mut self, column: &'static str) -> Result<StringArray> {
        if !self.bytes.contains(&b'\\') {
            // Arrow's own check: UTF-8 as a whole, and texts begin where characters do.
            let bytes = Buffer::from_vec(self.bytes);
            let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
            match StringArray::try_new(offsets.clone(), bytes.clone(), None) {
                Ok(array) => return Ok(array),
                Err(_) => {
                    let offsets = offsets.into_inner().to_vec();
                    self = Self { bytes: bytes.to_vec(), offsets };
                }
            }
        }
        let mut escaped = Self::new(self.offsets.len() - 1);
        for text in self.iter() {
            escaped.bytes.extend_from_slice(as_utf8(text).as_bytes());
            escaped.end(column)?;
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(escaped.offsets));
        Ok(StringArray::new(offsets, Buffer::from_vec(escaped.bytes), None))
    }
}

/// Different texts, and which of them each row has.
struct Dictionary {
    keys: Vec<i32>,
    texts: Texts,
    /// The keys of the texts, by their bytes.
    places: HashTable<i32>,
}

impl Dictionary {
    fn push(&mut self, value: &Value<'_>, column: &'static str) -> Result<()> {
        // It is added, and taken back if it is there already.
        let start = self.texts.start();
        self.texts.append(value);
        let (bytes, offsets) = (&self.texts.bytes, &self.texts.offsets);
        let text = |key: i32| {
            let [from, to] = [offsets[place_of(key)], offsets[place_of(key) + 1]];
            &bytes[place_of(from)..place_of(to)]
        };
        let (added, state) = (&bytes[start..], FixedState::default());
        // Rows of one document, or of one term, follow one another.
        if let Some(&last) = self.keys.last()
            && text(last) == added
        {
            self.texts.bytes.truncate(start);
            self.keys.push(last);
            return Ok(());
        }
        let is_same = |&key: &i32| text(key) == added;
        let hash = |&key: &i32| state.hash_one(text(key));
        let key = match self.places.entry(state.hash_one(added), is_same, hash) {
            Entry::Occupied(there) => {
                let key = *there.get();
                self.texts.bytes.truncate(start);
                key
            }
            Entry::Vacant(free) => {
                // Every text has an offset of 32 bits, and the empty one is there once.
                let key = i32::try_from(offsets.len() - 1).expect("fewer texts than bytes");
                free.insert(key);
                self.texts.end(column)?;
                key
            }
        };
        self.keys.push(key);
        Ok(())
    }
}
