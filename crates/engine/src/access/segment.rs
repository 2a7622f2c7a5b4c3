//! One segment, ready for random access: where everything is, and the way down to it.
//!
//! From a stored index it is mapped, and so it is from a pool, with its tokens; else it is decoded, and what the index would have is derived. Cost of
//! finding a place: a search in the samples that starts where the place would be if all symbols were of one length, then the
//! lengths of a few symbols, then one step down for each level of rules.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use memchr::memmem;
use tadoc_core::archive::{Archive, Index, WordDocuments};
use tadoc_core::navigation::{BYTES_EVERY, NEWLINES_EVERY, Navigation, WORDS_EVERY};
use tadoc_core::packed::{NumbersSlice, Packed, PackedSlice};
use tadoc_core::{Budget, Share, usize_of};

use super::build;
use super::postings::Postings;
use super::search::SCANNED_PER_LOOK;
use super::signatures::Signatures;
use super::texts::Texts;
use super::tokens::TokenStore;
use super::workspace::{LentWorkspace, Workspaces};
use crate::corpus::Corpus;
use crate::error::Result;

/// A segment of an archive, for random access. Symbols below [`Segment::token_count`] are tokens, those above it rules;
/// rules use only rules of a higher number.
#[derive(Debug)]
pub struct Segment {
    archive: Arc<Archive>,
    /// Its number in the archive, if it is as it is stored there.
    number: usize,
    navigation: Navigation,
    /// The symbols of the root; of a small index, decoded when they are first needed.
    root: OnceLock<Packed>,
    tokens: Arc<TokenStore>,
    /// The documents of words: stored in a fast index, else derived when many words are counted.
    word_documents: OnceLock<WordDocuments>,
    texts: OnceLock<Texts>,
    /// What questions have looked for, one after the other, and what is kept for those to come.
    questions: Questions,
    mapped: Index,
    /// What all that is derived takes of the archive's budget.
    share: Share,
}

/// Searches of all of a segment from which on postings are made: each takes about a sixteenth of the time.
const MANY_SCANS: usize = 16;

/// The part of the memory left that kept postings may take while they are made.
const PART_OF_MEMORY: u64 = 4;

/// What is kept from one question to the next. It is made when as much was spent without it as it costs, so all questions together
/// cost at most about twice what they would have had to.
#[derive(Debug, Default)]
struct Questions {
    /// Whether nothing is kept: what is mapped from a pool is there to take no memory.
    are_forgotten: bool,
    /// Symbols that were looked at by themselves.
    looked_at: AtomicUsize,
    /// Made, or found to be too large.
    signatures: OnceLock<Option<Signatures>>,
    /// Searches that went over all rules.
    scans: AtomicUsize,
    postings: OnceLock<Arc<Postings>>,
    workspaces: Arc<Workspaces>,
}

impl Segment {
    /// Maps what is stored of it, if `index` has it, and derives what is not.
    pub(crate) fn load(corpus: &Corpus, number: usize, index: Index) -> Result<Self> {
        Self::load_with(corpus, number, index, None)
    }

    /// The same, with its tokens if they are known; only of one that is mapped.
    pub(super) fn load_with(
        corpus: &Corpus,
        number: usize,
        index: Index,
        tokens: Option<Arc<TokenStore>>,
    ) -> Result<Self> {
        let text_bytes = corpus.summary().segments[number].text_bytes;
        let archive = corpus.archive().clone();
        let index = index.min(corpus.index_of(number));
        if index == Index::None {
            let (grammar, dictionary) = corpus.segment(number)?;
            let share = build::share(&grammar, corpus.budget())?;
            let tokens = Arc::new(TokenStore::new(dictionary, text_bytes));
            tokens.load()?;
            let navigation = build::navigation(&grammar, &tokens, text_bytes, corpus.budget())?;
            let root = OnceLock::from(build::root(&grammar));
            return Ok(Self {
                archive,
                number,
                navigation,
                root,
                tokens,
                word_documents: OnceLock::new(),
                texts: OnceLock::new(),
                questions: Questions::default(),
                mapped: index,
                share,
            });
        }
        let number =
            corpus.stored_segment(number).expect("only those that are stored have an index");
        let fast = index == Index::Fast;
        let open_tokens = || -> Result<Arc<TokenStore>> {
            match tokens {
                Some(tokens) => Ok(tokens),
                None => {
                    let dictionary = Arc::new(archive.dictionary(number)?);
                    Ok(Arc::new(TokenStore::new(dictionary, text_bytes)))
                }
            }
        };
        let ((navigation, tokens), (root, word_documents)) = rayon::join(
            || rayon::join(|| archive.navigation(number), open_tokens),
            || {
                rayon::join(
                    || fast.then(|| archive.mapped_root(number)).transpose(),
                    || fast.then(|| archive.word_documents(number)).transpose(),
                )
            },
        );
        let (navigation, tokens) = (navigation?, tokens?);
        // Both have the tokens that the archive announces.
        let separators = navigation.token_count() - tokens.word_token_count();
        if navigation.separator_newlines.len() != separators as usize {
            return Err(super::damaged_index("it has other separators than the dictionary"));
        }
        Ok(Self {
            archive,
            number,
            navigation,
            root: root?.map(OnceLock::from).unwrap_or_default(),
            tokens,
            word_documents: word_documents?.map(OnceLock::from).unwrap_or_default(),
            texts: OnceLock::new(),
            questions: Questions::default(),
            mapped: index,
            share: corpus.budget().share(),
        })
    }

    /// Puts together what is mapped from elsewhere than the archive.
    #[cfg_attr(not(feature = "pool"), allow(dead_code, reason = "only pools map all of a segment"))]
    pub(super) fn mapped(
        corpus: &Corpus,
        number: usize,
        navigation: Navigation,
        root: Packed,
        word_documents: WordDocuments,
        tokens: TokenStore,
    ) -> Self {
        Self {
            archive: corpus.archive().clone(),
            number,
            navigation,
            root: OnceLock::from(root),
            tokens: Arc::new(tokens),
            word_documents: OnceLock::from(word_documents),
            texts: OnceLock::new(),
            questions: Questions { are_forgotten: true, ..Questions::default() },
            mapped: Index::Fast,
            share: corpus.budget().share(),
        }
    }

    /// The parts of an index: all that a fast one stores of this segment but the documents of words.
    pub(super) fn stored_parts(&self) -> Result<(&Navigation, &Packed)> {
        Ok((&self.navigation, self.root()?))
    }

    /// Bytes on the heap, and mapped.
    pub(super) fn memory(&self) -> (u64, u64) {
        let derived = self.navigation.derived_bytes() as u64;
        let navigation = self.navigation.bytes() as u64 - derived;
        let root = self.root.get().map_or(0, |root| root.as_bytes().len() as u64);
        let words = self.word_documents.get().map_or(0, |words| words.bytes() as u64);
        let texts = self.texts.get().map_or(0, Texts::memory);
        let (tokens, elsewhere) = self.tokens.memory();
        let kept = self.questions.memory();
        let (heap, elsewhere) = ((tokens + texts + kept) as u64 + derived, elsewhere as u64);
        match self.mapped {
            Index::None => (heap + navigation + root + words, elsewhere),
            Index::Small => (heap + root + words, elsewhere + navigation),
            Index::Fast => (heap, elsewhere + navigation + root + words),
        }
    }

    /// What may be taken for all that is decoded of the archive.
    pub(super) fn budget(&self) -> &Budget {
        self.share.budget()
    }

    /// How many tokens there are.
    pub fn token_count(&self) -> u32 {
        self.navigation.token_count()
    }

    /// Tokens below this have a word.
    pub fn word_token_count(&self) -> u32 {
        self.tokens.word_token_count()
    }

    /// How many rules there are.
    pub fn rule_count(&self) -> u32 {
        self.navigation.rule_count()
    }

    /// How many symbols the root has.
    pub fn root_length(&self) -> usize {
        self.navigation.root_length()
    }

    /// How many documents it has, or parts of documents.
    pub fn document_count(&self) -> usize {
        self.navigation.document_starts.len() - 1
    }

    /// The places of a document in the root.
    pub fn document_root(&self, document: usize) -> Range<usize> {
        let starts = &self.navigation.document_starts;
        usize_of(starts.get(document))..usize_of(starts.get(document + 1))
    }

    /// How much of what is measured a document has. O(1).
    pub(super) fn measure_document(&self, measure: Measure, document: usize) -> Result<u64> {
        let (slices, root) = (self.slices()?, self.document_root(document));
        let before = slices.before(measure, root.start);
        Ok(slices.before(measure, root.end).saturating_sub(before))
    }

    /// The bytes of a token.
    #[inline]
    pub fn token(&self, token: u32) -> Result<&[u8]> {
        self.tokens.get(token)
    }

    /// Unpacks the bytes of all tokens, on all threads; else they are unpacked as they are asked for.
    pub fn load_tokens(&self) -> Result<()> {
        self.tokens.load()
    }

    /// Unpacks all words and puts them into a table.
    pub(super) fn load_words(&self) -> Result<()> {
        if !self.tokens.has_table() {
            self.share.grow(32 * u64::from(self.tokens.word_count()), "the table of words")?;
        }
        self.tokens.load_table()
    }

    /// Writes out the texts of short rules, within some room.
    pub(super) fn load_texts(&self, room: u64) -> Result<()> {
        if self.texts.get().is_none() {
            let texts = Texts::new(self, &self.slices()?, room)?;
            self.texts.get_or_init(|| texts);
        }
        Ok(())
    }

    /// The texts of short rules, if they are written out.
    pub(super) fn texts(&self) -> Option<&Texts> {
        self.texts.get()
    }

    /// Bytes that the symbols of rules and root take.
    pub(super) fn symbol_bytes(&self) -> u64 {
        let root = self.root.get().map_or(0, |root| root.as_bytes().len());
        (self.navigation.bodies.as_bytes().len() + root) as u64
    }

    pub(super) fn tokens(&self) -> &TokenStore {
        &self.tokens
    }

    /// Memory that a question works in.
    pub(super) fn workspace(&self) -> LentWorkspace {
        self.questions.workspaces.lend(!self.questions.are_forgotten)
    }

    /// The signatures of rules, once they are made.
    #[inline]
    pub(super) fn signatures(&self) -> Option<&Signatures> {
        self.questions.signatures.get()?.as_ref()
    }

    /// So many symbols were looked at by themselves. Makes signatures when that was as much work.
    pub(super) fn looked_at(&self, slices: &Slices<'_>, symbols: usize) -> Result<()> {
        let before = self.questions.looked_at.fetch_add(symbols, Ordering::Relaxed);
        let scanned = slices.bodies_length() + slices.root_length();
        if (before + symbols).saturating_mul(SCANNED_PER_LOOK) >= scanned {
            self.sign()?;
        }
        Ok(())
    }

    /// Makes signatures, if there is memory to spare for them; whether they are there.
    pub(super) fn sign(&self) -> Result<bool> {
        let Questions { are_forgotten, signatures, .. } = &self.questions;
        if signatures.get().is_none() && !*are_forgotten {
            let made = Signatures::of(&self.slices()?, &self.tokens, &self.share)?;
            signatures.get_or_init(|| made);
        }
        Ok(self.signatures().is_some())
    }

    /// Postings for a search of all of the segment, if such were made often enough.
    pub(super) fn postings(&self) -> Result<Option<Arc<Postings>>> {
        let Questions { scans, postings, .. } = &self.questions;
        match postings.get() {
            Some(postings) => Ok(Some(Arc::clone(postings))),
            None if scans.fetch_add(1, Ordering::Relaxed) < MANY_SCANS => Ok(None),
            None if !self.keeps_postings()? => Ok(None),
            None => self.postings_for_many().map(Some),
        }
    }

    /// Postings for many searches; kept, if there is memory to spare.
    pub(super) fn postings_for_many(&self) -> Result<Arc<Postings>> {
        let kept = &self.questions.postings;
        if let Some(postings) = kept.get() {
            return Ok(Arc::clone(postings));
        }
        let keeps = self.keeps_postings()?;
        let made = Arc::new(Postings::of(self)?);
        Ok(if keeps { Arc::clone(kept.get_or_init(|| made)) } else { made })
    }

    /// Whether there is memory to spare for them.
    fn keeps_postings(&self) -> Result<bool> {
        let bytes = Postings::most_bytes(&self.slices()?);
        Ok(!self.questions.are_forgotten && bytes <= self.budget().left() / PART_OF_MEMORY)
    }

    pub(super) fn word_documents(&self) -> Option<&WordDocuments> {
        self.word_documents.get()
    }

    /// Derives the documents of words, if they are not known.
    pub(super) fn derive_word_documents(&self) -> Result<()> {
        if self.word_documents.get().is_none() {
            let derived = build::word_documents(self)?;
            self.word_documents.get_or_init(|| derived);
        }
        Ok(())
    }

    /// How often a word is in the segment, or in one of its documents; asked only where the documents of words are known.
    pub(super) fn count(&self, word: &[u8], document: Option<u32>) -> Result<u64> {
        let Some(number) = self.tokens.find_number(word)? else { return Ok(0) };
        let lists = self.word_documents.get().expect("asked only where they are known");
        Ok(match document {
            None => lists.total(number)?,
            Some(document) => lists.count(number, document)?,
        })
    }

    /// The documents that have a word with any of these parts in it, if the documents of words are known.
    pub(crate) fn documents_with(&self, pieces: &[Vec<u8>]) -> Result<Option<Vec<bool>>> {
        let Some(lists) = self.word_documents.get() else { return Ok(None) };
        let finders: Vec<memmem::Finder<'_>> = pieces.iter().map(memmem::Finder::new).collect();
        let words = self.tokens.map_words(|word, tokens| {
            finders.iter().any(|finder| finder.find(word).is_some()).then_some(tokens.start)
        })?;
        let mut documents = vec![false; self.document_count()];
        for token in words {
            for entry in lists.documents(self.tokens.word_number(token))? {
                documents[entry?.0 as usize] = true;
            }
        }
        Ok(Some(documents))
    }

    fn root(&self) -> Result<&Packed> {
        if let Some(root) = self.root.get() {
            return Ok(root);
        }
        let symbols = self.archive.root(self.number)?;
        self.share.grow(size_of::<u32>() as u64 * symbols.len() as u64, build::WHAT)?;
        let most = u64::from(self.token_count()) + u64::from(self.rule_count());
        if symbols.iter().any(|&symbol| u64::from(symbol) >= most) {
            return Err(super::damaged_index("it has fewer rules than the grammar"));
        }
        let spill = self.budget().spill();
        let root = Packed::spilling(symbols.iter().map(|&symbol| symbol.into()), most, spill);
        Ok(self.root.get_or_init(|| root))
    }

    /// The arrays themselves: taken once, they are read without a look at where they lie.
    pub fn slices(&self) -> Result<Slices<'_>> {
        let navigation = &self.navigation;
        Ok(Slices {
            token_count: self.token_count(),
            word_token_count: self.word_token_count(),
            root: self.root()?.slice(),
            bodies: navigation.bodies.slice(),
            rule_starts: navigation.rule_starts.slice(),
            token_bytes: navigation.token_bytes.slice(),
            rule_bytes: navigation.rule_bytes.slice(),
            rule_words: navigation.rule_words.slice(),
            rule_newlines: navigation.rule_newlines.slice(),
            separator_newlines: navigation.separator_newlines.slice(),
            root_bytes: navigation.root_bytes.slice(),
            root_words: navigation.root_words.slice(),
            root_newlines: navigation.root_newlines.slice(),
        })
    }
}

impl Questions {
    /// Bytes of memory held.
    fn memory(&self) -> usize {
        let signatures = self.signatures.get().into_iter().flatten().map(Signatures::memory);
        let postings = self.postings.get().map_or(0, |postings| postings.memory());
        signatures.sum::<usize>() + postings + self.workspaces.memory()
    }
}

/// What of a text is counted on the way to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Bytes,
    Words,
    Newlines,
}

/// The arrays of a segment.
#[derive(Debug, Clone)]
pub struct Slices<'s> {
    token_count: u32,
    word_token_count: u32,
    pub(super) root: PackedSlice<'s>,
    pub(super) bodies: PackedSlice<'s>,
    pub(super) rule_starts: PackedSlice<'s>,
    token_bytes: NumbersSlice<'s>,
    rule_bytes: NumbersSlice<'s>,
    rule_words: NumbersSlice<'s>,
    rule_newlines: NumbersSlice<'s>,
    separator_newlines: NumbersSlice<'s>,
    root_bytes: PackedSlice<'s>,
    root_words: PackedSlice<'s>,
    root_newlines: PackedSlice<'s>,
}

/// A place of the root, and how much of what was measured is before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) place: usize,
    pub(super) before: u64,
}

impl<'s> Slices<'s> {
    /// How many symbols the root has.
    #[inline]
    pub fn root_length(&self) -> usize {
        self.root.len()
    }

    /// The symbol at a place of the root.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "symbols are numbered in 32 bits")]
    pub fn root(&self, place: usize) -> u32 {
        self.root.get(place) as u32
    }

    /// The rule that a symbol stands for, or `None` for a token.
    #[inline]
    pub fn rule_of(&self, symbol: u32) -> Option<u32> {
        symbol.checked_sub(self.token_count)
    }

    /// Whether a symbol is a token that has a word.
    #[inline]
    pub fn is_word(&self, symbol: u32) -> bool {
        symbol < self.word_token_count
    }

    /// How many tokens and rules there are.
    #[inline]
    pub fn symbol_count(&self) -> usize {
        self.token_bytes.len() + self.rule_bytes.len()
    }

    /// How many tokens there are.
    #[inline]
    pub fn token_count(&self) -> u32 {
        self.token_count
    }

    /// How many rules there are.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "symbols are numbered in 32 bits")]
    pub fn rule_count(&self) -> u32 {
        self.rule_bytes.len() as u32
    }

    /// Where the symbols of a rule are among those of all rules.
    #[inline]
    pub fn body(&self, rule: u32) -> Range<usize> {
        let rule = rule as usize;
        usize_of(self.rule_starts.get(rule))..usize_of(self.rule_starts.get(rule + 1))
    }

    /// How many symbols all rules have.
    #[inline]
    pub fn bodies_length(&self) -> usize {
        self.bodies.len()
    }

    /// A symbol of a rule.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "symbols are numbered in 32 bits")]
    pub fn body_symbol(&self, at: usize) -> u32 {
        self.bodies.get(at) as u32
    }

    /// The length of a symbol's text.
    #[inline]
    pub fn bytes(&self, symbol: u32) -> u64 {
        match self.rule_of(symbol) {
            None => self.token_bytes.get(symbol as usize),
            Some(rule) => self.rule_bytes.get(rule as usize),
        }
    }

    /// How many words a symbol's text has.
    #[inline]
    pub fn words(&self, symbol: u32) -> u64 {
        match self.rule_of(symbol) {
            None => u64::from(symbol < self.word_token_count),
            Some(rule) => self.rule_words.get(rule as usize),
        }
    }

    /// How many newlines a symbol's text has.
    #[inline]
    pub fn newlines(&self, symbol: u32) -> u64 {
        match self.rule_of(symbol) {
            Some(rule) => self.rule_newlines.get(rule as usize),
            None => match symbol.checked_sub(self.word_token_count) {
                None => 0,
                Some(separator) => self.separator_newlines.get(separator as usize),
            },
        }
    }

    #[inline]
    pub(super) fn measure(&self, measure: Measure, symbol: u32) -> u64 {
        match measure {
            Measure::Bytes => self.bytes(symbol),
            Measure::Words => self.words(symbol),
            Measure::Newlines => self.newlines(symbol),
        }
    }

    #[inline]
    fn samples(&self, measure: Measure) -> (PackedSlice<'s>, usize) {
        match measure {
            Measure::Bytes => (self.root_bytes, BYTES_EVERY),
            Measure::Words => (self.root_words, WORDS_EVERY),
            Measure::Newlines => (self.root_newlines, NEWLINES_EVERY),
        }
    }

    /// Asks for the memory of the sample that a search begins with.
    #[inline]
    pub(super) fn prefetch_sample(&self, measure: Measure, number: u64) {
        let samples = self.samples(measure).0;
        samples.prefetch(guess(&samples, number));
    }

    /// The last place that has a sample and does not lie behind the unit of a number.
    #[inline]
    pub(super) fn sampled_place(&self, measure: Measure, number: u64) -> usize {
        let (samples, every) = self.samples(measure);
        last_not_above(&samples, number) * every
    }

    /// A sample, by its number.
    #[inline]
    pub(super) fn sample(&self, measure: Measure, number: usize) -> u64 {
        let samples = self.samples(measure).0;
        samples.get(number.min(samples.len() - 1))
    }

    /// How much of what is measured is before a place of the root.
    pub(super) fn before(&self, measure: Measure, place: usize) -> u64 {
        let (samples, every) = self.samples(measure);
        // An index that was made to harm may tell of places behind the end.
        let place = place.min(self.root_length());
        let sample = place / every;
        (sample * every..place)
            .fold(samples.get(sample), |sum, place| sum + self.measure(measure, self.root(place)))
    }

    /// The place of the root in whose text the unit of that number is; the end of the root if there is none.
    #[inline]
    pub(super) fn locate(&self, measure: Measure, number: u64) -> Located {
        let (samples, every) = self.samples(measure);
        let sample = last_not_above(&samples, number);
        let place = (sample * every).min(self.root_length());
        let mut located = Located { place, before: samples.get(sample) };
        while located.place < self.root_length() {
            let next = located.before + self.measure(measure, self.root(located.place));
            if next > number {
                break;
            }
            located = Located { place: located.place + 1, before: next };
        }
        located
    }

    /// Goes down from a symbol to the token in which the unit of that number is. Gives the token, how many units of its
    /// own are before the one that is looked for, and the bytes of the symbol's text before the token. O(depth).
    pub(super) fn descend(&self, measure: Measure, symbol: u32, number: u64) -> (u32, u64, u64) {
        let (mut symbol, mut number, mut bytes) = (symbol, number, 0);
        while let Some(rule) = self.rule_of(symbol) {
            let mut body = self.body(rule);
            // In a rule whose lengths are wrong, the last symbol is as good as any.
            let last = body.end.saturating_sub(1);
            let child = loop {
                let Some(at) = body.next() else { return (0, 0, bytes) };
                let child = self.body_symbol(at);
                let units = self.measure(measure, child);
                if number < units || at == last {
                    break child;
                }
                number -= units;
                bytes += self.bytes(child);
            };
            symbol = child;
        }
        (symbol, number, bytes)
    }
}

/// Where a sample would be if samples were evenly apart.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the last place; a wrong guess is corrected"
)]
fn guess(samples: &PackedSlice<'_>, number: u64) -> usize {
    let last = samples.len() - 1;
    let share = number as f64 / samples.get(last).max(1) as f64;
    ((share * last as f64) as usize).min(last)
}

/// The last sample that is not above a number; the first one is 0. Looks first where it would be if samples were evenly apart.
#[inline]
fn last_not_above(samples: &PackedSlice<'_>, number: u64) -> usize {
    let last = samples.len() - 1;
    if number >= samples.get(last) {
        return last;
    }
    let guess = guess(samples, number);
    // Steps of doubling length from the guess, until the sample lies between two that were looked at.
    let (mut low, mut high, mut step) = (guess, guess, 1);
    if samples.get(guess) <= number {
        loop {
            high = (high + step).min(last);
            if samples.get(high) > number {
                break;
            }
            (low, step) = (high, 2 * step);
        }
    } else {
        loop {
            low = low.saturating_sub(step);
            if low == 0 || samples.get(low) <= number {
                break;
            }
            (high, step) = (low, 2 * step);
        }
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        if samples.get(middle) <= number { low = middle } else { high = middle }
    }
    low
}
