//! Documents as plain bytes: what an edited archive must be.

use std::collections::BTreeMap;

use tadoc_engine::update::{Operation, Outcome};
use tadoc_engine::{Error, Lexer};
use tadoc_oracle::{Document, words};

use crate::archives::oracle_lexer;

/// Documents by their names, with what is asked about them answered the plain way.
#[derive(Debug, Clone)]
pub struct Model {
    /// What cuts words.
    pub lexer: Lexer,
    /// The documents, by their names.
    pub documents: BTreeMap<String, Vec<u8>>,
}

/// The name of a document, and offsets in it.
type Places = (Vec<u8>, Vec<u64>);

/// What must come of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// This.
    Outcome(Outcome),
    /// An error of this kind.
    Refused(Refusal),
}

impl Expected {
    /// Whether this came of it.
    pub fn is(&self, found: &tadoc_engine::Result<Outcome>) -> bool {
        match (self, found) {
            (Self::Outcome(expected), Ok(found)) => expected == found,
            (Self::Refused(refusal), Err(error)) => refusal.is(error),
            _ => false,
        }
    }
}

/// Why an operation is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no document of that name.
    NoSuchDocument,
    /// The offset is behind the document's end.
    OffsetPastEnd,
    /// The range ends behind the document's end.
    RangePastEnd,
    /// Another document has that name.
    DocumentExists,
    /// The operation has no meaning in a snapshot.
    NotInSnapshot,
    /// The phrase has no word.
    NoWord,
    /// The phrase has more than words and white space.
    NotWords,
}

impl Refusal {
    /// Whether an error is this one.
    pub fn is(self, error: &Error) -> bool {
        match self {
            Self::NoSuchDocument => matches!(error, Error::NoSuchDocument { .. }),
            Self::OffsetPastEnd => matches!(error, Error::OffsetPastEnd { .. }),
            Self::RangePastEnd => matches!(error, Error::RangePastEnd { .. }),
            Self::DocumentExists => matches!(error, Error::DocumentExists { .. }),
            Self::NotInSnapshot => matches!(error, Error::NotInSnapshot { .. }),
            Self::NoWord => matches!(error, Error::NoWord { .. }),
            Self::NotWords => matches!(error, Error::NotWords { .. }),
        }
    }
}

/// What an edit does to the text of one document.
#[derive(Debug, Clone)]
struct Change {
    document: String,
    offset: usize,
    length: usize,
    text: Vec<u8>,
}

impl Model {
    /// Documents by name; of two with one name, the last.
    pub fn new(lexer: Lexer, documents: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { lexer, documents: documents.into_iter().collect() }
    }

    /// The documents as the oracle takes them.
    pub fn list(&self) -> Vec<Document> {
        self.documents.iter().map(|(name, text)| (name.clone(), text.clone())).collect()
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<String> {
        self.documents.keys().cloned().collect()
    }

    /// Answers a read other than a sample.
    pub fn answer(&self, read: &Operation) -> Expected {
        self.try_answer(read).map_or_else(Expected::Refused, Expected::Outcome)
    }

    fn try_answer(&self, read: &Operation) -> Result<Outcome, Refusal> {
        match read {
            Operation::Extract { document, offset, length } => {
                let text = &self.documents[&self.find(document)?];
                let rest = text.get(*offset as usize..).ok_or(Refusal::OffsetPastEnd)?;
                let kept = rest.len().min(usize::try_from(*length).unwrap_or(usize::MAX));
                Ok(Outcome::Bytes(rest[..kept].to_vec()))
            }
            Operation::Search { document, phrase } => {
                Ok(Outcome::Offsets(self.places(document.as_deref(), phrase)?))
            }
            Operation::Count { document, phrase } => {
                let places = self.places(document.as_deref(), phrase)?;
                Ok(Outcome::Count(places.iter().map(|(_, offsets)| offsets.len() as u64).sum()))
            }
            other => panic!("{other:?} is no read of this kind"),
        }
    }

    /// Where words in a row are, in one document or in all.
    fn places(&self, document: Option<&[u8]>, phrase: &[u8]) -> Result<Vec<Places>, Refusal> {
        let of: Vec<String> = match document {
            Some(name) => vec![self.find(name)?],
            None => self.names(),
        };
        let lexer = oracle_lexer(self.lexer);
        let cut = words(lexer, phrase);
        let terms: Vec<&[u8]> = cut.iter().map(|word| &phrase[word.clone()]).collect();
        if terms.is_empty() {
            return Err(Refusal::NoWord);
        }
        let is_word = |place: usize| cut.iter().any(|word| word.contains(&place));
        let is_blank = |byte: u8| b" \t\n\r\x0b\x0c".contains(&byte);
        if phrase.iter().enumerate().any(|(place, &byte)| !is_blank(byte) && !is_word(place)) {
            return Err(Refusal::NotWords);
        }
        let mut places = Vec::new();
        for name in of {
            let text = &self.documents[&name];
            let words = words(lexer, text);
            let found: Vec<u64> = words
                .windows(terms.len())
                .filter(|run| {
                    run.iter().zip(&terms).all(|(word, term)| text[word.clone()] == **term)
                })
                .map(|run| run[0].start as u64)
                .collect();
            if !found.is_empty() {
                places.push((name.into_bytes(), found));
            }
        }
        Ok(places)
    }

    fn find(&self, name: &[u8]) -> Result<String, Refusal> {
        let name = String::from_utf8(name.to_vec()).unwrap();
        match self.documents.contains_key(&name) {
            true => Ok(name),
            false => Err(Refusal::NoSuchDocument),
        }
    }

    /// What an edit would do to the text of a document.
    fn change(&self, edit: &Operation) -> Result<Change, Refusal> {
        let (document, offset, length, text) = match edit {
            Operation::Insert { document, offset, text } => (document, Some(*offset), 0, &text[..]),
            Operation::Append { document, text } => (document, None, 0, &text[..]),
            Operation::Delete { document, offset, length } => {
                (document, Some(*offset), *length, &[][..])
            }
            Operation::Replace { document, offset, length, text } => {
                (document, Some(*offset), *length, &text[..])
            }
            other => panic!("{other:?} does not change text"),
        };
        let document = self.find(document)?;
        let bytes = self.documents[&document].len() as u64;
        let offset = offset.unwrap_or(bytes);
        let left = bytes.checked_sub(offset).ok_or(Refusal::OffsetPastEnd)?;
        if length > left {
            return Err(Refusal::RangePastEnd);
        }
        let (offset, length) = (offset as usize, length as usize);
        Ok(Change { document, offset, length, text: text.to_vec() })
    }

    /// Makes an edit whose offsets mean the text as it is now.
    pub fn edit(&mut self, edit: &Operation) -> Expected {
        match self.try_edit(edit) {
            Ok(()) => Expected::Outcome(Outcome::Done),
            Err(refusal) => Expected::Refused(refusal),
        }
    }

    fn try_edit(&mut self, edit: &Operation) -> Result<(), Refusal> {
        match edit {
            Operation::Add { document, text, .. } => {
                if self.find(document).is_ok() {
                    return Err(Refusal::DocumentExists);
                }
                let name = String::from_utf8(document.clone()).unwrap();
                self.documents.insert(name, text.clone());
            }
            Operation::Remove { document } => {
                let name = self.find(document)?;
                self.documents.remove(&name);
            }
            Operation::Rename { document, name } => {
                let old = self.find(document)?;
                if document != name && self.find(name).is_ok() {
                    return Err(Refusal::DocumentExists);
                }
                let text = self.documents.remove(&old).unwrap();
                self.documents.insert(String::from_utf8(name.clone()).unwrap(), text);
            }
            _ => {
                let Change { document, offset, length, text } = self.change(edit)?;
                let old = self.documents.get_mut(&document).unwrap();
                old.splice(offset..offset + length, text);
            }
        }
        Ok(())
    }

    /// Makes those edits of a batch together that are possible, their offsets meaning the text as
    /// it is now.
    pub fn edit_together(&mut self, edits: &[Operation]) -> Vec<Expected> {
        let mut changes = Vec::new();
        let mut expected = Vec::new();
        for edit in edits {
            let change = match edit {
                Operation::Add { .. } => Err(Refusal::NotInSnapshot),
                Operation::Remove { document } | Operation::Rename { document, .. } => {
                    self.find(document).and(Err(Refusal::NotInSnapshot))
                }
                _ => self.change(edit),
            };
            expected.push(match change {
                Ok(change) => {
                    changes.push(change);
                    Expected::Outcome(Outcome::Done)
                }
                Err(refusal) => Expected::Refused(refusal),
            });
        }
        for (name, text) in &mut self.documents {
            // For each byte, and for the end, what comes before it and whether it goes.
            let own = || changes.iter().filter(|change| change.document == *name);
            if own().next().is_none() {
                continue;
            }
            let mut before: Vec<Vec<u8>> = vec![Vec::new(); text.len() + 1];
            let mut goes = vec![false; text.len()];
            for Change { offset, length, text, .. } in own() {
                before[*offset].extend_from_slice(text);
                goes[*offset..offset + length].fill(true);
            }
            let mut new = Vec::new();
            for (place, inserted) in before.iter().enumerate() {
                new.extend_from_slice(inserted);
                new.extend(text.get(place).filter(|_| !goes[place]));
            }
            *text = new;
        }
        expected
    }
}
