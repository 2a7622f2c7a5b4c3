//! Documents back into files.
//!
//! What cannot be written, or is not what was compressed, is left out and told; all else is
//! restored. A file gets its name only when its bytes were compared with their digest, as far as
//! they have one. Memory: one segment, and the small files of one run of documents.

use std::collections::HashSet;
use std::path::Path;

use hashbrown::HashMap;

use super::digests::{Comparison, Verdict, check_places};
use super::files::CorpusFile;
use super::target::{Failure, NewFile, Target};
use super::{Corpus, step};
use crate::Document;
use crate::error::{Error, Result};
use crate::progress::{Observer, Phase};

/// So much of a file is kept in memory before it is written aside. Files that wait for the digest
/// of their run are shorter, but for the first and the last.
const HELD: usize = 1 << 16;

/// What is done about files that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Existing {
    /// They stay as they are, and count as skipped.
    #[default]
    Refuse,
    /// They are replaced.
    Replace,
    /// They stay as they are, as if they had been restored.
    Keep,
}

/// What came of restoring.
#[derive(Debug, Default)]
pub struct RestoreReport {
    /// Files written.
    pub files: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Files that were there and stay, as [`Existing::Keep`] says.
    pub kept: u64,
    /// Files that were not restored, in the order in which that was found.
    pub skipped: Vec<SkippedFile>,
}

/// A file that was not restored.
#[derive(Debug)]
pub struct SkippedFile {
    /// Its name.
    pub name: Vec<u8>,
    /// Why: [`Error::UnsafeName`], [`Error::Exists`], [`Error::WrongDigest`], or what the system
    /// said.
    pub error: Error,
}

impl Corpus {
    /// Writes files (of [`Corpus::files`]) below `folder`, with their times and modes. Nothing is
    /// written outside of it, and no link is followed. Files that cannot be written, are there
    /// already or are damaged are left out and told.
    ///
    /// # Errors
    /// [`Error::BadChoice`] of a file whose places are not there or do not ascend, and of a place
    /// that two files have; what reading the archive gives, and what lets nothing more be written:
    /// a full disk, a folder that may not be written.
    pub fn restore(
        &self,
        files: &[CorpusFile],
        folder: &Path,
        existing: Existing,
        observer: &dyn Observer,
    ) -> Result<RestoreReport> {
        let documents = self.documents()?;
        files.iter().try_for_each(|file| check_places(&file.places, documents.len()))?;
        let mut all: Vec<usize> = files.iter().flat_map(|file| file.places.clone()).collect();
        all.sort_unstable();
        check_places(&all, documents.len())?;
        let target = Target::open(folder, existing == Existing::Replace)?;
        let mut restoring = Restoring {
            documents,
            files,
            existing,
            target,
            owners: Vec::new(),
            drafts: HashMap::new(),
            waiting: Vec::new(),
            left_out: HashSet::new(),
            report: RestoreReport::default(),
        };
        restoring.admit()?;
        let asked: Vec<usize> = restoring.owners.iter().map(|&(place, _)| place).collect();
        let mut comparison = Comparison::new(self, &asked)?;
        let places = comparison.places();
        let total = self.total_bytes(&places)?;
        let mut done = 0;
        let mut next = 0;
        self.for_each_piece(&places, |place, piece, ends| {
            let document = &restoring.documents[place];
            let (asked, verdict) = comparison.piece(piece, ends.then_some(document));
            if asked {
                let (_, file) = restoring.owners[next];
                restoring.take(file, piece, ends)?;
                next += usize::from(ends);
            }
            if let Some(verdict) = verdict {
                restoring.judge(&verdict)?;
            }
            done += piece.len() as u64;
            step(observer, Phase::Restoring, done, total)
        })?;
        Ok(restoring.report)
    }
}

struct Restoring<'r> {
    documents: &'r [Document],
    files: &'r [CorpusFile],
    existing: Existing,
    target: Target<'r>,
    /// The documents to be written, ascending, and the file that each belongs to.
    owners: Vec<(usize, usize)>,
    /// Files that have begun.
    drafts: HashMap<usize, Draft>,
    /// Files that have all their bytes, and wait for a digest.
    waiting: Vec<(usize, Text)>,
    /// Files of which a document has another digest, or that cannot be written.
    left_out: HashSet<usize>,
    report: RestoreReport,
}

struct Draft {
    text: Text,
    /// Documents that are still to come.
    left: usize,
}

enum Text {
    Held(Vec<u8>),
    Aside(NewFile, u64),
}

impl Restoring<'_> {
    /// Finds the files that can be written; writes those that have no document.
    fn admit(&mut self) -> Result<()> {
        for (number, file) in self.files.iter().enumerate() {
            let admitted = self.target.admits(&file.document);
            if self.sorted_out(number, admitted)?.is_none() {
                continue;
            }
            self.owners.extend(file.places.iter().map(|&place| (place, number)));
            if file.places.is_empty() {
                self.finish(number, Text::Held(Vec::new()))?;
            }
        }
        self.owners.sort_unstable();
        Ok(())
    }

    fn take(&mut self, number: usize, piece: &[u8], ends: bool) -> Result<()> {
        if self.left_out.contains(&number) {
            return Ok(());
        }
        let files = self.files;
        let file = &files[number];
        let mut draft = self
            .drafts
            .remove(&number)
            .unwrap_or_else(|| Draft { text: Text::Held(Vec::new()), left: file.places.len() });
        draft.left -= usize::from(ends);
        let text = match draft.text {
            Text::Held(mut held) if held.len() + piece.len() <= HELD => {
                held.extend_from_slice(piece);
                Some(Text::Held(held))
            }
            Text::Held(held) => {
                let created = self.target.create(&file.document);
                match self.sorted_out(number, created)? {
                    Some(mut new) => {
                        self.write(&mut new, number, &held)?;
                        self.write(&mut new, number, piece)?;
                        Some(Text::Aside(new, (held.len() + piece.len()) as u64))
                    }
                    None => None,
                }
            }
            Text::Aside(mut new, bytes) => {
                self.write(&mut new, number, piece)?;
                Some(Text::Aside(new, bytes + piece.len() as u64))
            }
        };
        match text {
            Some(text) if draft.left == 0 => self.waiting.push((number, text)),
            Some(text) => drop(self.drafts.insert(number, Draft { text, ..draft })),
            None => {}
        }
        Ok(())
    }

    /// Gives files their names whose documents are known to be right; drops those that are not. No
    /// run goes on when a verdict is found, so there is nothing more to wait for.
    fn judge(&mut self, verdict: &Verdict) -> Result<()> {
        if verdict.error(self.documents).is_some() {
            let from = self.owners.partition_point(|&(place, _)| place < verdict.places.start);
            let to = self.owners.partition_point(|&(place, _)| place < verdict.places.end);
            for &(_, number) in &self.owners[from..to] {
                self.drafts.remove(&number);
                let error = verdict.error(self.documents).expect("it is wrong");
                if self.left_out.insert(number) {
                    let name = self.files[number].document.name.clone();
                    self.report.skipped.push(SkippedFile { name, error });
                }
            }
        }
        for (number, text) in std::mem::take(&mut self.waiting) {
            if !self.left_out.contains(&number) {
                self.finish(number, text)?;
            }
        }
        Ok(())
    }

    fn write(&self, new: &mut NewFile, number: usize, bytes: &[u8]) -> Result<()> {
        let error = |error| self.target.io_error(&self.files[number].document, error);
        new.write(bytes).map_err(error)
    }

    fn finish(&mut self, number: usize, text: Text) -> Result<()> {
        let files = self.files;
        let file = &files[number].document;
        let (new, bytes) = match text {
            Text::Aside(new, bytes) => (new, bytes),
            Text::Held(held) => {
                let created = self.target.create(file);
                let Some(mut new) = self.sorted_out(number, created)? else { return Ok(()) };
                self.write(&mut new, number, &held)?;
                (new, held.len() as u64)
            }
        };
        let finished = self.target.finish(new, file);
        if self.sorted_out(number, finished)?.is_some() {
            self.report.files += 1;
            self.report.bytes += bytes;
        }
        Ok(())
    }

    /// What was attempted, or `None` if this file is left out.
    fn sorted_out<T>(
        &mut self,
        number: usize,
        attempt: std::result::Result<T, Failure>,
    ) -> Result<Option<T>> {
        match attempt {
            Ok(value) => return Ok(Some(value)),
            Err(Failure::End(error)) => return Err(error),
            Err(Failure::Skip(Error::Exists { .. })) if self.existing == Existing::Keep => {
                self.report.kept += 1;
            }
            Err(Failure::Skip(error)) => {
                let name = self.files[number].document.name.clone();
                self.report.skipped.push(SkippedFile { name, error });
            }
        }
        self.left_out.insert(number);
        Ok(None)
    }
}
