//! Operations as JSON. What is wrong with one is worded for the person who wrote it.

use serde_json::{Map, Value};
use tadoc::Error;
use tadoc::access::Operation;
use tadoc::text::unescape;

use super::super::Opened;

/// The most words that one operation draws.
const MOST_DRAWN: u64 = 1_000_000;

/// The operations that there are, with their fields; those of [`EDITS`] are known but not run.
const OPERATIONS: [(&str, &[&str]); 4] = [
    ("extract", &["op", "document", "offset", "length"]),
    ("search", &["op", "word", "document"]),
    ("count", &["op", "word", "document"]),
    ("sample", &["op", "k", "seed", "document"]),
];
const EDITS: [&str; 4] = ["insert", "append", "delete", "replace"];

/// Reads an operation.
pub fn parse(opened: &Opened<'_>, line: &[u8]) -> Result<Operation, String> {
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| format!("expected an operation as a JSON object on one line: {error}"))?;
    let Value::Object(object) = value else {
        return Err(format!("expected an operation as a JSON object, found {}", shown(&value)));
    };
    let op = text(&object, "op", "an operation")?
        .ok_or("an operation needs \"op\": extract, search, count or sample")?;
    if EDITS.contains(&op) {
        return Err(format!("{op} is an edit, and `tadoc query` only reads"));
    }
    let Some((op, fields)) = OPERATIONS.iter().find(|(name, _)| *name == op) else {
        let given = Value::from(op);
        return Err(format!(
            "there is no operation {given}; there are extract, search, count and sample"
        ));
    };
    if let Some(other) = object.keys().find(|key| !fields.contains(&&key[..])) {
        let given = Value::from(&other[..]);
        return Err(format!("{op} has no field {given}; it has {}", fields.join(", ")));
    }
    let document = match text(&object, "document", op)? {
        Some(name) => Some(find(opened, name)?),
        None => None,
    };
    let word = || -> Result<Vec<u8>, String> {
        Ok(text(&object, "word", op)?.ok_or_else(|| missing(op, "word"))?.as_bytes().to_vec())
    };
    let whole = |field: &'static str| -> Result<u64, String> {
        number(&object, field, op)?.ok_or_else(|| missing(op, field))
    };
    Ok(match *op {
        "extract" => Operation::Extract {
            document: document.ok_or_else(|| missing(op, "document"))?,
            offset: whole("offset")?,
            length: whole("length")?,
        },
        "search" => Operation::Search { document, phrase: word()? },
        "count" => Operation::Count { document, phrase: word()? },
        _ => {
            let count = whole("k")?;
            if count > MOST_DRAWN {
                return Err(format!(
                    "sample draws at most {MOST_DRAWN} words at a time, not {count}; draw several times \
                     with different seeds"
                ));
            }
            Operation::Sample { document, count, seed: whole("seed")? }
        }
    })
}

/// The document of a name, as it is or as `tadoc list` prints it.
fn find(opened: &Opened<'_>, name: &str) -> Result<u32, String> {
    let found = |name: &[u8]| {
        opened.documents.binary_search_by(|document| document.name[..].cmp(name)).ok()
    };
    found(name.as_bytes())
        .or_else(|| unescape(name).and_then(|name| found(&name)))
        .map(|place| place as u32)
        .ok_or_else(|| Error::NoSuchDocument { name: name.as_bytes().to_vec() }.to_string())
}

fn missing(op: &str, field: &str) -> String {
    format!("{op} needs {field:?}")
}

fn text<'o>(
    object: &'o Map<String, Value>,
    field: &str,
    op: &str,
) -> Result<Option<&'o str>, String> {
    match object.get(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(format!("{op} expects a string in {field:?}, and found {}", shown(other)))
        }
    }
}

fn number(object: &Map<String, Value>, field: &str, op: &str) -> Result<Option<u64>, String> {
    let Some(value) = object.get(field) else { return Ok(None) };
    let number = value.as_u64();
    number.map(Some).ok_or_else(|| {
        format!("{op} expects a whole number from 0 on in {field:?}, and found {}", shown(value))
    })
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
