//! The files that documents are restored to: each its own, or, of an archive whose files were split
//! into lines, the files that they are lines of.

use hashbrown::HashMap;
use tadoc_core::archive::Split;

use super::Corpus;
use crate::Document;
use crate::error::Result;

/// Digits of the line number in the names of lines: names sort as numbers do.
pub(crate) const LINE_DIGITS: usize = 10;

/// A file that can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusFile {
    /// Its name, length, time and mode; of a file that was split, those of its first line and the
    /// length of all.
    pub document: Document,
    /// The documents that its bytes are those of, one after the other: places in
    /// [`Corpus::documents`], ascending. None of a file that was empty when it was split.
    pub places: Vec<usize>,
}

impl Corpus {
    /// How files became documents when the archive was compressed; lines where it says so.
    pub fn split(&self) -> Split {
        self.summary().origin.as_ref().map_or(Split::Files, |origin| origin.split)
    }

    /// The files that the corpus can be restored to, in byte order of their names. O(documents).
    ///
    /// Of an archive that was split into lines, documents called `NAME:` and ten digits are lines
    /// of the file `NAME`, whichever of them edits have left, removed or added, unless there is a
    /// document `NAME`. With `pieces`, each document is a file.
    pub fn files(&self, pieces: bool) -> Result<Vec<CorpusFile>> {
        let documents = self.documents()?;
        let whole = |(place, document): (usize, &Document)| CorpusFile {
            document: document.clone(),
            places: vec![place],
        };
        if pieces || self.split() == Split::Files {
            return Ok(documents.iter().enumerate().map(whole).collect());
        }
        let mut files: Vec<CorpusFile> = Vec::new();
        // For each name of a split file its place among the files; `None` if a document has that
        // name.
        let mut split: HashMap<&[u8], Option<usize>> = HashMap::new();
        for (place, document) in documents.iter().enumerate() {
            let Some(name) = file_of_line(&document.name) else {
                files.push(whole((place, document)));
                continue;
            };
            let next = files.len();
            let found =
                *split.entry(name).or_insert_with(|| self.find(name).is_err().then_some(next));
            match found {
                None => files.push(whole((place, document))),
                Some(number) if number == next => files.push(CorpusFile {
                    document: Document { name: name.to_vec(), ..document.clone() },
                    places: vec![place],
                }),
                Some(number) => {
                    files[number].document.bytes += document.bytes;
                    files[number].places.push(place);
                }
            }
        }
        let empty = self.summary().origin.iter().flat_map(|origin| &origin.empty);
        let gone = empty.filter(|file| !split.contains_key(&file.name[..]));
        let gone = gone.filter(|file| self.find(&file.name).is_err());
        files.extend(gone.map(|file| CorpusFile { document: file.clone(), places: Vec::new() }));
        files.sort_by(|left, right| left.document.name.cmp(&right.document.name));
        Ok(files)
    }
}

/// The name of the file that a document of this name is a line of.
fn file_of_line(name: &[u8]) -> Option<&[u8]> {
    let (file, number) = name.split_at_checked(name.len().checked_sub(LINE_DIGITS + 1)?)?;
    let is_number = number[0] == b':' && number[1..].iter().all(u8::is_ascii_digit);
    (is_number && !file.is_empty()).then_some(file)
}
