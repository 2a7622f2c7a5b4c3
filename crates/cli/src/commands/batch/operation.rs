//! Operations as JSON. What is wrong with one is worded for the person who wrote it.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Map, Value};
use tadoc::edit::Operation;

/// The most words that one operation draws.
const MOST_DRAWN: u64 = 1_000_000;

/// Which operations are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Those that change nothing.
    Reads,
    All,
}

/// The operations that there are, with their fields; those from [`READS`] on are edits.
const OPERATIONS: [(&str, &[&str]); 11] = [
    ("extract", &["op", "document", "offset", "length"]),
    ("search", &["op", "word", "document"]),
    ("count", &["op", "word", "document"]),
    ("sample", &["op", "k", "seed", "document"]),
    ("insert", &["op", "document", "offset", "text", "base64"]),
    ("append", &["op", "document", "text", "base64"]),
    ("delete", &["op", "document", "offset", "length"]),
    ("replace", &["op", "document", "offset", "length", "text", "base64"]),
    ("add", &["op", "document", "text", "base64"]),
    ("remove", &["op", "document"]),
    ("rename", &["op", "document", "name"]),
];
const READS: usize = 4;

/// Reads an operation. Names are as they were written. O(line); strings are not copied again.
pub fn parse(line: &[u8], taken: Taken) -> Result<Operation, String> {
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| format!("expected an operation as a JSON object on one line: {error}"))?;
    let Value::Object(mut object) = value else {
        return Err(format!("expected an operation as a JSON object, found {}", shown(&value)));
    };
    let known = match taken {
        Taken::Reads => &OPERATIONS[..READS],
        Taken::All => &OPERATIONS[..],
    };
    let op = text(&mut object, "op", "an operation")?
        .ok_or_else(|| format!("an operation needs \"op\": {}", listed(known, "or")))?;
    let Some(place) = OPERATIONS.iter().position(|(name, _)| *name == op) else {
        let given = Value::from(op);
        return Err(format!("there is no operation {given}; there are {}", listed(known, "and")));
    };
    if place >= known.len() {
        return Err(format!(
            "{op} is an edit, and `tadoc query` only reads; `tadoc edit` does both"
        ));
    }
    let (op, fields) = OPERATIONS[place];
    if let Some(other) = object.keys().find(|key| !fields.contains(&&key[..])) {
        let given = Value::from(&other[..]);
        return Err(format!("{op} has no field {given}; it has {}", fields.join(", ")));
    }
    let mut fields = Fields { op, object };
    Ok(match op {
        "extract" => Operation::Extract {
            document: fields.string("document")?,
            offset: fields.number("offset")?,
            length: fields.number("length")?,
        },
        "search" => {
            Operation::Search { document: fields.document()?, phrase: fields.string("word")? }
        }
        "count" => {
            Operation::Count { document: fields.document()?, phrase: fields.string("word")? }
        }
        "sample" => Operation::Sample {
            document: fields.document()?,
            count: fields.drawn()?,
            seed: fields.number("seed")?,
        },
        "insert" => Operation::Insert {
            document: fields.string("document")?,
            offset: fields.number("offset")?,
            text: fields.bytes()?,
        },
        "append" => {
            Operation::Append { document: fields.string("document")?, text: fields.bytes()? }
        }
        "delete" => Operation::Delete {
            document: fields.string("document")?,
            offset: fields.number("offset")?,
            length: fields.number("length")?,
        },
        "replace" => Operation::Replace {
            document: fields.string("document")?,
            offset: fields.number("offset")?,
            length: fields.number("length")?,
            text: fields.bytes()?,
        },
        "add" => Operation::Add {
            document: fields.string("document")?,
            modified: None,
            mode: None,
            text: fields.bytes()?,
        },
        "remove" => Operation::Remove { document: fields.string("document")? },
        _ => {
            Operation::Rename { document: fields.string("document")?, name: fields.string("name")? }
        }
    })
}

/// What an operation was given.
struct Fields {
    op: &'static str,
    object: Map<String, Value>,
}

impl Fields {
    /// A string that has to be there.
    fn string(&mut self, field: &str) -> Result<Vec<u8>, String> {
        let text = text(&mut self.object, field, self.op)?;
        Ok(text.ok_or_else(|| self.missing(field))?.into_bytes())
    }

    /// The document, where that may be all of them.
    fn document(&mut self) -> Result<Option<Vec<u8>>, String> {
        Ok(text(&mut self.object, "document", self.op)?.map(String::into_bytes))
    }

    /// Bytes in "text" or "base64".
    fn bytes(&mut self) -> Result<Vec<u8>, String> {
        let op = self.op;
        let text_given = text(&mut self.object, "text", op)?;
        let base64 = text(&mut self.object, "base64", op)?;
        match (text_given, base64) {
            (Some(text), None) => Ok(text.into_bytes()),
            (None, Some(base64)) => BASE64_STANDARD
                .decode(&base64)
                .map_err(|error| format!("{op} expects base64 in \"base64\": {error}")),
            (None, None) => Err(format!("{op} needs \"text\", or \"base64\" for any bytes")),
            (Some(_), Some(_)) => Err(format!("{op} takes \"text\" or \"base64\", not both")),
        }
    }

    fn number(&self, field: &str) -> Result<u64, String> {
        let value = self.object.get(field).ok_or_else(|| self.missing(field))?;
        value.as_u64().ok_or_else(|| {
            format!(
                "{} expects a whole number from 0 on in {field:?}, and found {}",
                self.op,
                shown(value)
            )
        })
    }

    /// How many words are drawn.
    fn drawn(&self) -> Result<u64, String> {
        let count = self.number("k")?;
        if count > MOST_DRAWN {
            return Err(format!(
                "sample draws at most {MOST_DRAWN} words at a time, not {count}; draw several times \
                 with different seeds"
            ));
        }
        Ok(count)
    }

    fn missing(&self, field: &str) -> String {
        format!("{} needs {field:?}", self.op)
    }
}

/// Takes a string out of an object.
fn text(object: &mut Map<String, Value>, field: &str, op: &str) -> Result<Option<String>, String> {
    match object.get_mut(field).map(Value::take) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(format!("{op} expects a string in {field:?}, and found {}", shown(&other)))
        }
    }
}

/// The names of operations, as a person would list them.
fn listed(operations: &[(&str, &[&str])], last: &str) -> String {
    let names: Vec<&str> = operations.iter().map(|(name, _)| *name).collect();
    let (end, start) = names.split_last().expect("there are some");
    format!("{} {last} {end}", start.join(", "))
}

/// A value for an error: short ones as they are.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) if text.len() > 40 => "a long string".into(),
        other => other.to_string(),
    }
}
