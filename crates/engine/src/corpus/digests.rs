//! Documents compared with their digests while they are expanded.
//!
//! A digest is of a *run*: one document, or several small ones in a row and the one that ends them
//! (docs/format.md, 6). So whoever asks for some documents of a run has the others expanded, too:
//! less than 4 KiB and one document. Documents that edits have changed have no digest, and neither
//! has a run of which one was changed or removed. Cost: a hash of what is expanded, some percent of
//! expanding it; runs that renames have torn apart are expanded twice.

use std::ops::Range;

use tadoc_core::archive::{Digester, PieceHasher};

use super::Corpus;
use crate::Document;
use crate::error::{Error, Result};

/// The digest that was recorded, and the one that was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wrong {
    expected: u32,
    found: u32,
}

/// What is known of documents when the last of them has been expanded.
pub(crate) struct Verdict {
    pub(crate) places: Range<usize>,
    wrong: Option<Wrong>,
}

impl Verdict {
    /// The error of documents that are not what was compressed.
    pub(crate) fn error(&self, documents: &[Document]) -> Option<Error> {
        let Wrong { expected, found } = self.wrong?;
        Some(Error::WrongDigest {
            name: documents[self.places.start].name.clone(),
            others: self.places.len() as u64 - 1,
            expected,
            found,
        })
    }
}

/// A document that is to be expanded.
struct Step {
    place: usize,
    asked: bool,
    check: Check,
}

#[derive(Clone, Copy)]
enum Check {
    /// There is no digest.
    Nothing,
    /// It was compared before.
    Known(Option<Wrong>),
    /// It is in a run that goes on.
    InRun,
    /// It ends the run that starts at this place and has this digest.
    EndsRun(usize, u32),
}

/// Compares documents as their pieces go by.
pub(crate) struct Comparison {
    steps: Vec<Step>,
    /// The step that is going on.
    at: usize,
    hasher: PieceHasher,
    digester: Digester,
}

impl Comparison {
    /// Documents (places, ascending) that are asked for, and those that have to be expanded to
    /// compare them. O(documents).
    ///
    /// # Errors
    /// [`Error::BadChoice`] of places that are not there, or do not ascend.
    pub(crate) fn new(corpus: &Corpus, asked: &[usize]) -> Result<Self> {
        check_places(asked, corpus.documents()?.len())?;
        let table = corpus.table()?;
        let stored = runs(table.documents.iter().map(|document| document.bytes));
        let numbers = corpus.edited().map(|edited| edited.as_stored());
        let places = numbers.map(|numbers| {
            let mut places = vec![None; table.documents.len()];
            for (place, number) in numbers.iter().enumerate() {
                number.iter().for_each(|&number| places[number as usize] = Some(place));
            }
            places
        });
        let mut steps: Vec<Step> =
            asked.iter().map(|&place| Step { place, asked: true, check: Check::Nothing }).collect();
        #[expect(clippy::cast_possible_truncation, reason = "documents are numbered in 32 bits")]
        let mut touched: Vec<usize> = asked
            .iter()
            .filter_map(|&place| numbers.map_or(Some(place as u32), |numbers| numbers[place]))
            .map(|number| stored.partition_point(|run| run.end <= number as usize))
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let mut torn: Vec<(u32, Vec<usize>)> = Vec::new();
        for run in touched {
            let digest = table.digests[run];
            let of_run: Option<Vec<usize>> = match &places {
                None => Some(stored[run].clone().collect()),
                Some(places) => places[stored[run].clone()].iter().copied().collect(),
            };
            // What was changed or removed cannot be hashed any more.
            let Some(of_run) = of_run else { continue };
            if !of_run.is_sorted_by(|before, after| before + 1 == *after) {
                torn.push((digest, of_run));
                continue;
            }
            let (first, last) = (of_run[0], of_run[of_run.len() - 1]);
            steps.extend(of_run.into_iter().map(|place| {
                let ends = place == last;
                let check = if ends { Check::EndsRun(first, digest) } else { Check::InRun };
                Step { place, asked: false, check }
            }));
        }
        compare_torn(corpus, torn, &mut steps)?;
        steps.sort_by_key(|step| step.place);
        steps.dedup_by(|step, kept| {
            let same = step.place == kept.place;
            if same {
                kept.asked |= step.asked;
                if matches!(kept.check, Check::Nothing) {
                    kept.check = step.check;
                }
            }
            same
        });
        steps.retain(|step| step.asked || !matches!(step.check, Check::Known(_)));
        let (hasher, digester) = (PieceHasher::default(), Digester::default());
        Ok(Self { steps, at: 0, hasher, digester })
    }

    /// How many documents have a digest to compare.
    pub(crate) fn compared(&self) -> u64 {
        self.steps.iter().filter(|step| !matches!(step.check, Check::Nothing)).count() as u64
    }

    /// The documents to expand, ascending.
    pub(crate) fn places(&self) -> Vec<usize> {
        self.steps.iter().map(|step| step.place).collect()
    }

    /// Takes the next piece of the documents to expand; says whether it is of a document that is
    /// asked for, and what is known of it, and of others, if it was the last.
    pub(crate) fn piece(
        &mut self,
        piece: &[u8],
        ends: Option<&Document>,
    ) -> (bool, Option<Verdict>) {
        let Step { place, asked, check } = self.steps[self.at];
        if matches!(check, Check::InRun | Check::EndsRun(..)) {
            self.hasher.update(piece);
        }
        let Some(document) = ends else { return (asked, None) };
        self.at += 1;
        let verdict = |places, wrong| Some(Verdict { places, wrong });
        let alone = place..place + 1;
        let verdict = match check {
            Check::Nothing => verdict(alone, None),
            Check::Known(wrong) => verdict(alone, wrong),
            Check::InRun => {
                let found = self.digester.document(document.bytes, &self.hasher.finish(), false);
                debug_assert!(found.is_none(), "a run ends with its last document");
                None
            }
            Check::EndsRun(first, expected) => {
                let found = self.digester.document(document.bytes, &self.hasher.finish(), true);
                let found = found.expect("the last document has a digest");
                let wrong = (found != expected).then_some(Wrong { expected, found });
                verdict(first..place + 1, wrong)
            }
        };
        (asked, verdict)
    }
}

/// Checks that places of documents ascend, and that there are so many documents.
pub(super) fn check_places(places: &[usize], documents: usize) -> Result<()> {
    let unordered = places.windows(2).find(|pair| pair[0] >= pair[1]).map(|pair| pair[1]);
    let beyond = places.iter().copied().find(|&place| place >= documents);
    match beyond.or(unordered) {
        Some(number) => Err(Error::BadChoice {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            documents: documents as u64,
        }),
        None => Ok(()),
    }
}

/// Compares runs whose documents do not follow each other, as some have other names now, and adds a
/// step for each of these.
fn compare_torn(
    corpus: &Corpus,
    torn: Vec<(u32, Vec<usize>)>,
    steps: &mut Vec<Step>,
) -> Result<()> {
    if torn.is_empty() {
        return Ok(());
    }
    let documents = corpus.documents()?;
    let mut places: Vec<usize> = torn.iter().flat_map(|(_, places)| places.clone()).collect();
    places.sort_unstable();
    let hashes = corpus.hash_documents(&places, &())?;
    for (expected, of_run) in torn {
        let mut digester = Digester::default();
        let mut found = None;
        for (index, &place) in of_run.iter().enumerate() {
            let at = places.binary_search(&place).expect("it was hashed");
            let last = index + 1 == of_run.len();
            found = digester.document(documents[place].bytes, &hashes[at], last);
        }
        let found = found.expect("the last document has a digest");
        let wrong = (found != expected).then_some(Wrong { expected, found });
        let check = Check::Known(wrong);
        steps.extend(of_run.into_iter().map(|place| Step { place, asked: false, check }));
    }
    Ok(())
}

/// The documents that have a digest together, by their lengths.
pub(crate) fn runs(lengths: impl Iterator<Item = u64>) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut digester, mut start, mut end) = (Digester::default(), 0, 0);
    for bytes in lengths {
        end += 1;
        if digester.document(bytes, &[], false).is_some() {
            runs.push(start..end);
            start = end;
        }
    }
    if start < end {
        runs.push(start..end);
    }
    runs
}
