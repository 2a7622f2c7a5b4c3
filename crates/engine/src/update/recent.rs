//! Reads in the middle of edits: a base that is open for random access, and what was edited since.
//!
//! A read becomes a question to the base, and what has to be done to its answer: documents that were edited since have zones whose words are
//! looked at here, and everything that the base finds outside of them is moved to where it is now. Questions wait, so that many of them
//! are asked at once; what was edited after them does not matter to them.
//!
//! Cost of a read of an edited document: what the question costs, and a pass over the pieces of the document if it was edited since the last read; a word is
//! looked for in the words of its zones, which are known, and for a phrase their text is read. When all that has come to more than a new base costs, one is made,
//! so what a read costs does not grow with the reads and edits before it.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use tadoc_core::archive::journal::Edit;

use super::batch::{Operation, Outcome};
use super::pieces::{Piece, Pieces, Source};
use super::zones::{Borders, Text, ZoneWords, Zones};
use super::{EditedText, Ledger};
use crate::access::{self, Access, Phrase};
use crate::analyzer::Analyzer;
use crate::backend::Reads;
use crate::error::{Error, Result};

/// A new base costs as much as going over so many pieces or zones for each symbol of the corpus, and no less than over some thousands.
const PIECES_PER_SYMBOL: u64 = 4;
const LEAST_PIECES: u64 = 1 << 14;

/// So much text that is gone is read again to see which words were in it; of more, all places of a word are asked for.
const MOST_GONE: u64 = 1 << 16;

/// A base and what was edited since.
pub(super) struct Recent {
    access: Arc<Access>,
    /// Where the base is asked.
    reads: Reads,
    /// Numbers of the documents of the base, ascending, and their places in it.
    places: Vec<(u32, u32)>,
    /// What documents are made of: stored pieces are of the base.
    text: EditedText,
    /// Documents that are not as they were: edited, added, removed or renamed.
    changed: HashSet<u32, FixedState>,
    /// Those that were removed.
    gone: HashSet<u32, FixedState>,
    /// Pieces and zones that reads went over, and how many may be.
    work: Cell<u64>,
    most_work: u64,
    known: RefCell<HashMap<u32, Known, FixedState>>,
    separators: [bool; 256],
}

/// What was found out about a document that was edited.
#[derive(Default)]
struct Known {
    /// Its zones, until it is edited again.
    zones: Option<Arc<Zones>>,
    borders: Borders,
    /// The words of its zones, or of those that it had.
    words: ZoneWords,
    words_are_current: bool,
}

/// What becomes of a read.
pub(super) enum Asked {
    Waits(Question),
    Answered(Result<Outcome>),
    /// It is to be asked of a new base.
    TooMuchIsNew,
}

/// A read that waits for answers of the base.
#[derive(Debug)]
pub(super) struct Question {
    /// What the base is asked.
    base: Vec<access::Operation>,
    then: Then,
}

/// What is to be done with the answers.
#[derive(Debug)]
enum Then {
    /// They are bytes, or words; of a document that has this name now.
    Nothing { name: Option<Vec<u8>> },
    /// The first count less the others, and this.
    Count { difference: i64 },
    /// Their offsets, moved.
    Search { documents: Vec<Changed>, count_only: bool, name: Option<Vec<u8>> },
}

/// What a search has to know about a document that is not as it was.
#[derive(Debug)]
struct Changed {
    place: Option<u32>,
    /// Its name; `None` if it is gone.
    name: Option<Vec<u8>>,
    /// Where it was moved to, and up to which places; `None` if it is as it was but for its name.
    zones: Option<(Arc<Zones>, Vec<u64>)>,
    found: Vec<u64>,
}

impl Recent {
    /// Nothing was edited since the base, whose documents the ledger has, and which `reads` answers for.
    pub(super) fn new(access: Arc<Access>, reads: Reads, ledger: &Ledger) -> Self {
        let documents = ledger.documents();
        let mut places: Vec<(u32, u32)> =
            documents.iter().zip(0..).map(|((number, _), place)| (*number, place)).collect();
        places.sort_unstable();
        let separators = access.lexer().ascii_separators();
        let symbols = access.stored_symbols().saturating_mul(PIECES_PER_SYMBOL);
        Self {
            access,
            reads,
            places,
            text: EditedText::default(),
            changed: HashSet::default(),
            gone: HashSet::default(),
            work: Cell::new(0),
            most_work: symbols.max(LEAST_PIECES),
            known: RefCell::default(),
            separators,
        }
    }

    /// Takes an edit that the ledger has just taken.
    pub(super) fn apply(&mut self, edit: &Edit<'_>, ledger: &Ledger) {
        let Self { access, places, text, changed, gone, known, .. } = self;
        let base_bytes = |document: u32| {
            place_of(places, document).map_or(0, |place| access.documents()[place as usize].bytes)
        };
        text.apply_to(edit, base_bytes, ledger);
        let document = match *edit {
            Edit::Insert { document, .. }
            | Edit::Append { document, .. }
            | Edit::Delete { document, .. }
            | Edit::Replace { document, .. }
            | Edit::Remove { document }
            | Edit::Rename { document, .. } => document,
            Edit::Add { .. } => ledger.next_number() - 1,
        };
        if matches!(edit, Edit::Remove { .. }) {
            gone.insert(document);
        }
        if let Some(known) = known.get_mut().get_mut(&document) {
            known.zones = None;
            known.words_are_current = false;
        }
        changed.insert(document);
    }

    /// What becomes of a read.
    pub(super) fn ask(&self, operation: &Operation, ledger: &Ledger) -> Asked {
        let asked = self.try_ask(operation, ledger);
        asked.unwrap_or_else(|error| Asked::Answered(Err(error)))
    }

    fn try_ask(&self, operation: &Operation, ledger: &Ledger) -> Result<Asked> {
        let number = |document: &Vec<u8>| {
            ledger.find(document).ok_or_else(|| Error::NoSuchDocument { name: document.clone() })
        };
        match operation {
            Operation::Extract { document, offset, length } => {
                let number = number(document)?;
                self.ask_extract(number, *offset, *length, ledger)
            }
            Operation::Sample { document, count, seed } => {
                let name = document.clone();
                let document = document.as_ref().map(number).transpose()?;
                let place = match document {
                    Some(number) if self.text.document(number).is_none() => {
                        Some(self.place(number))
                    }
                    None if self.changed.is_empty() => None,
                    _ => return Ok(Asked::TooMuchIsNew),
                };
                let sample =
                    access::Operation::Sample { document: place, count: *count, seed: *seed };
                Ok(waits(vec![sample], Then::Nothing { name }))
            }
            Operation::Search { document, phrase } | Operation::Count { document, phrase } => {
                let document = document.as_ref().map(number).transpose()?;
                let counts = matches!(operation, Operation::Count { .. });
                self.ask_words(document, phrase, counts, ledger)
            }
            _ => unreachable!("only reads are asked"),
        }
    }

    fn ask_extract(&self, number: u32, offset: u64, length: u64, ledger: &Ledger) -> Result<Asked> {
        let Some(pieces) = self.text.document(number) else {
            let document = self.place(number);
            let extract = access::Operation::Extract { document, offset, length };
            return Ok(waits(vec![extract], Then::Nothing { name: None }));
        };
        let bytes = pieces.bytes();
        if offset > bytes {
            let name = ledger.name(number).to_vec();
            return Err(Error::OffsetPastEnd { name, offset, bytes });
        }
        let mut text = Vec::new();
        let end = offset.saturating_add(length).min(bytes);
        self.edited(number, pieces).read(offset..end, &mut text)?;
        Ok(Asked::Answered(Ok(Outcome::Bytes(text))))
    }

    fn ask_words(
        &self,
        document: Option<u32>,
        phrase: &[u8],
        counts: bool,
        ledger: &Ledger,
    ) -> Result<Asked> {
        let terms = self.access.phrase(phrase, &Analyzer::new())?;
        let place = document.map(|number| place_of(&self.places, number));
        let of_base = |place: Option<u32>| match counts {
            true => access::Operation::Count { document: place, phrase: phrase.to_vec() },
            false => access::Operation::Search { document: place, phrase: phrase.to_vec() },
        };
        let mut changed: Vec<u32> = match document {
            // Its name does not matter to a question about it.
            Some(number) => self.text.document(number).map(|_| number).into_iter().collect(),
            None => self.changed.iter().copied().collect(),
        };
        changed.sort_unstable();
        let name = document.map(|number| ledger.name(number).to_vec());
        if changed.is_empty() {
            let then = match counts {
                true => Then::Count { difference: 0 },
                false => Then::Search { documents: Vec::new(), count_only: false, name },
            };
            return Ok(waits(vec![of_base(place.flatten())], then));
        }
        if self.work.get() > self.most_work {
            return Ok(Asked::TooMuchIsNew);
        }
        if counts
            && terms.terms().len() == 1
            && let Some(question) = self.count_by_difference(document, &changed, phrase, &terms)?
        {
            return Ok(Asked::Waits(question));
        }
        let mut documents = Vec::with_capacity(changed.len());
        for number in changed {
            documents.push(self.changed_document(number, &terms, ledger)?);
        }
        let search = |place| access::Operation::Search { document: place, phrase: phrase.to_vec() };
        // A document that is new is not in the base.
        let base = match place {
            Some(None) => Vec::new(),
            Some(Some(place)) => vec![search(Some(place))],
            None => vec![search(None)],
        };
        Ok(waits(base, Then::Search { documents, count_only: counts, name }))
    }

    /// How often a word occurs: as often as in the base, and what is in zones, less what was in their places. `None` if that is much text.
    fn count_by_difference(
        &self,
        document: Option<u32>,
        changed: &[u32],
        phrase: &[u8],
        terms: &Phrase,
    ) -> Result<Option<Question>> {
        let count = |place| access::Operation::Count { document: place, phrase: phrase.to_vec() };
        let mut difference = 0;
        let mut base = match document {
            None => vec![count(None)],
            Some(number) => {
                place_of(&self.places, number).map(|place| count(Some(place))).into_iter().collect()
            }
        };
        let word = &terms.terms()[0][..];
        let mut known = self.known.borrow_mut();
        for &number in changed {
            let place = place_of(&self.places, number);
            let Some(pieces) = self.text.document(number) else {
                // It was renamed, or it is gone.
                if self.gone.contains(&number) {
                    base.extend(place.map(|place| count(Some(place))));
                }
                continue;
            };
            let known = known.entry(number).or_default();
            let zones = self.zones(known, number, pieces)?;
            if zones.base_bytes_gone() > MOST_GONE {
                return Ok(None);
            }
            self.update_words(known, &zones, number, pieces)?;
            difference += known.words.difference(word);
        }
        Ok(Some(Question { base, then: Then::Count { difference } }))
    }

    fn changed_document(&self, number: u32, terms: &Phrase, ledger: &Ledger) -> Result<Changed> {
        let place = place_of(&self.places, number);
        let name = ledger.is_there(number).then(|| ledger.name(number).to_vec());
        let Some(pieces) = self.text.document(number).filter(|_| name.is_some()) else {
            return Ok(Changed { place, name, zones: None, found: Vec::new() });
        };
        let mut known = self.known.borrow_mut();
        let known = known.entry(number).or_default();
        let zones = self.zones(known, number, pieces)?;
        let mut edited = self.edited(number, pieces);
        let lexer = self.access.lexer();
        self.works(zones.len());
        let (found, limits) = match terms.terms() {
            [word] if zones.base_bytes_gone() <= MOST_GONE => {
                self.update_words(known, &zones, number, pieces)?;
                (known.words.find(&zones, word, lexer, &mut edited)?, Vec::new())
            }
            terms => zones.occurrences(terms, lexer, &mut edited, &self.separators)?,
        };
        Ok(Changed { place, name, zones: Some((zones, limits)), found })
    }

    /// The zones of a document, of which what is known is kept.
    fn zones(&self, known: &mut Known, number: u32, pieces: &Pieces) -> Result<Arc<Zones>> {
        if let Some(zones) = &known.zones {
            return Ok(zones.clone());
        }
        let place = place_of(&self.places, number);
        let base_bytes = place.map_or(0, |place| self.access.documents()[place as usize].bytes);
        let mut base = self.base(place.unwrap_or(0));
        let zones =
            Zones::new(pieces.iter(), base_bytes, &mut base, &self.separators, &mut known.borders)?;
        self.works(zones.len());
        Ok(known.zones.insert(Arc::new(zones)).clone())
    }

    /// Goes from the words that the zones of a document had to those that they have.
    fn update_words(
        &self,
        known: &mut Known,
        zones: &Zones,
        number: u32,
        pieces: &Pieces,
    ) -> Result<()> {
        if known.words_are_current {
            return Ok(());
        }
        let place = place_of(&self.places, number);
        let mut base = self.base(place.unwrap_or(0));
        let read = |piece: Piece, into: &mut Vec<u8>| match piece.source() {
            Source::New => {
                into.extend_from_slice(self.text.new_text(piece));
                Ok(())
            }
            Source::Stored => base.read(piece.start()..piece.end(), into),
        };
        self.works(zones.len());
        known.words.update(zones, pieces.iter(), self.access.lexer(), read)?;
        known.words_are_current = true;
        Ok(())
    }

    /// So many pieces or zones are gone over.
    fn works(&self, pieces: usize) {
        self.work.set(self.work.get().saturating_add(pieces as u64));
    }

    /// The place in the base of a document that is there and not new.
    fn place(&self, number: u32) -> u32 {
        place_of(&self.places, number).expect("a document without pieces is in the base")
    }

    fn base(&self, place: u32) -> BaseText<'_> {
        BaseText { access: &self.access, place }
    }

    fn edited<'t>(&'t self, number: u32, pieces: &'t Pieces) -> EditedDocument<'t> {
        let place = place_of(&self.places, number).unwrap_or(0);
        EditedDocument { base: self.base(place), text: &self.text, pieces }
    }

    /// Answers questions, all together.
    pub(super) fn answer(&self, questions: Vec<Question>) -> Vec<Result<Outcome>> {
        let operations: Vec<access::Operation> =
            questions.iter().flat_map(|question| question.base.iter().cloned()).collect();
        let mut answers = self.reads.run(&operations).into_iter();
        questions
            .into_iter()
            .map(|question| {
                let own: Vec<Result<access::Outcome>> =
                    answers.by_ref().take(question.base.len()).collect();
                self.finish(question.then, own.into_iter().collect::<Result<_>>()?)
            })
            .collect()
    }

    fn finish(&self, then: Then, answers: Vec<access::Outcome>) -> Result<Outcome> {
        let name_of = |place: u32| self.access.documents()[place as usize].name.clone();
        match then {
            Then::Nothing { name } => Ok(match answers.into_iter().next() {
                Some(access::Outcome::Bytes(bytes)) => Outcome::Bytes(bytes),
                Some(access::Outcome::Words(words)) => Outcome::Words(
                    words
                        .into_iter()
                        .map(|word| {
                            let name = name.clone().unwrap_or_else(|| name_of(word.document));
                            (name, word.offset, word.word)
                        })
                        .collect(),
                ),
                _ => unreachable!("bytes or words were asked for"),
            }),
            Then::Count { difference } => {
                let mut counts = answers.into_iter().map(|answer| match answer {
                    access::Outcome::Count(count) => count,
                    _ => unreachable!("counts were asked for"),
                });
                let first = counts.next().unwrap_or(0);
                let count = (first - counts.sum::<u64>()).checked_add_signed(difference);
                Ok(Outcome::Count(count.expect("no more words go than there are")))
            }
            Then::Search { documents, count_only, name } => {
                let found = match answers.into_iter().next() {
                    Some(access::Outcome::Offsets(found)) => found,
                    None => Vec::new(),
                    _ => unreachable!("offsets were asked for"),
                };
                let mut moved = merge(found, documents, name_of);
                if let (Some(name), [only]) = (name, &mut moved[..]) {
                    only.0 = name;
                }
                Ok(match count_only {
                    true => {
                        Outcome::Count(moved.iter().map(|(_, offsets)| offsets.len() as u64).sum())
                    }
                    false => Outcome::Offsets(moved),
                })
            }
        }
    }
}

/// What the base found, with documents that are not as they were.
fn merge(
    found: Vec<(u32, Vec<u64>)>,
    documents: Vec<Changed>,
    name_of: impl Fn(u32) -> Vec<u8>,
) -> Vec<(Vec<u8>, Vec<u64>)> {
    let mut changed: HashMap<u32, usize, FixedState> = HashMap::default();
    changed.extend(documents.iter().enumerate().filter_map(|(at, one)| Some((one.place?, at))));
    let mut merged: Vec<(Vec<u8>, Vec<u64>)> = Vec::with_capacity(found.len());
    let mut documents: Vec<Option<Changed>> = documents.into_iter().map(Some).collect();
    for (place, offsets) in found {
        let Some(&at) = changed.get(&place) else {
            merged.push((name_of(place), offsets));
            continue;
        };
        let one = documents[at].as_mut().expect("a document is found once");
        one.found.extend(match &one.zones {
            None => offsets,
            Some((zones, limits)) => {
                offsets.iter().filter_map(|&offset| zones.moved(offset, limits)).collect()
            }
        });
    }
    let was_empty = documents.is_empty();
    for one in documents.into_iter().flatten() {
        if let (Some(name), false) = (one.name, one.found.is_empty()) {
            let mut offsets = one.found;
            offsets.sort_unstable();
            merged.push((name, offsets));
        }
    }
    if !was_empty {
        merged.sort_unstable();
    }
    merged
}

fn waits(base: Vec<access::Operation>, then: Then) -> Asked {
    Asked::Waits(Question { base, then })
}

fn place_of(places: &[(u32, u32)], number: u32) -> Option<u32> {
    let at = places.binary_search_by_key(&number, |&(number, _)| number).ok()?;
    Some(places[at].1)
}

/// The text of a document of the base.
struct BaseText<'t> {
    access: &'t Access,
    place: u32,
}

impl Text for BaseText<'_> {
    fn read(&mut self, range: Range<u64>, into: &mut Vec<u8>) -> Result<()> {
        if !range.is_empty() {
            into.extend(self.access.extract(self.place, range.start, range.end - range.start)?);
        }
        Ok(())
    }
}

/// The text of a document that was edited since.
struct EditedDocument<'t> {
    base: BaseText<'t>,
    text: &'t EditedText,
    pieces: &'t Pieces,
}

impl Text for EditedDocument<'_> {
    fn read(&mut self, range: Range<u64>, into: &mut Vec<u8>) -> Result<()> {
        for piece in self.pieces.range(range.start, range.end - range.start) {
            match piece.source() {
                Source::New => into.extend_from_slice(self.text.new_text(piece)),
                Source::Stored => self.base.read(piece.start()..piece.end(), into)?,
            }
        }
        Ok(())
    }
}
