//! Compressing an edited archive again, without expanding it.
//!
//! Segments that no edit has touched are copied. Those of others become again what a fresh archive would have: their roots and rules are
//! paired once more, with old rules as symbols like others. The new archive is written aside and renamed, so that at any
//! moment there is a whole one; readers that have the old one open go on with it.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use tadoc_core::archive::dictionary::{Entry, Forms};
use tadoc_core::archive::journal::ArchiveLock;
use tadoc_core::archive::{
    Archive, ArchiveWriter, EncodedDictionary, EncodedSegment, Summary, Tokens,
};
use tadoc_core::{Grammar, MemoryLimit, parallel, usize_of};

use super::digests::digests;
use super::editor::{Editor, OpenArchive};
use super::segment::EditedSegment;
use crate::access::{self, Index};
use crate::build::again::build_again;
use crate::build::builder::CancelFlag;
use crate::build::part::{part_of, with_used_tokens};
use crate::compress::{Budget, Builder, WRITTEN_BY, Watch, figures};
use crate::corpus::{Corpus, Found};
use crate::error::{Error, Result};
use crate::progress::Observer;
use crate::{Level, SegmentInfo, threads};

/// How long to wait for the lock of the new archive, which somebody else may have for a moment.
const WAIT_FOR_LOCK: Duration = Duration::from_secs(10);
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// How to compress again.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecompressOptions {
    /// The index that the archive is to have; `None`: the one that it has.
    pub index: Option<Index>,
    /// The most memory to use, in bytes; as in [`crate::CompressOptions`].
    pub memory: Option<u64>,
    /// Threads to use; `None`: as many as the machine has cores.
    pub threads: Option<usize>,
    /// If bytes of the journal are damaged: keep the edits before them, and drop the others.
    pub keep_whole: bool,
}

/// What came of compressing again.
#[expect(missing_docs, reason = "figures of the archive say what they are")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecompressReport {
    /// Edits that are part of the archive now.
    pub edits: u64,
    pub documents: u64,
    pub text_bytes: u64,
    /// Bytes of the file before, with the edits behind the archive.
    pub bytes_before: u64,
    pub archive_bytes: u64,
    pub segments: u64,
    /// Segments that were compressed again.
    pub segments_made: u64,
}

impl RecompressOptions {
    /// Compresses an edited archive again, so that edits are part of it and the journal is empty.
    /// One without edits is left as it is, unless another index is asked for. Nobody else can edit
    /// it meanwhile.
    ///
    /// # Errors
    /// What reading and writing give: then the archive is as it was.
    pub fn recompress(
        &self,
        path: impl AsRef<Path>,
        observer: &dyn Observer,
    ) -> Result<RecompressReport> {
        threads::ready()?;
        let path = path.as_ref();
        let lock = ArchiveLock::acquire(path)?;
        let memory = self.memory.map_or(MemoryLimit::Default, MemoryLimit::AtLeast);
        let archive = Archive::open_within(path, memory)?;
        let journal = match self.keep_whole {
            true => archive.journal_until_damage().0,
            false => archive.journal()?,
        };
        let bytes_before = std::fs::metadata(path).map_err(|error| Error::io(path, error))?.len();
        let corpus = Corpus::stored(archive).with_journal(&journal)?;
        let recompression = Recompression { corpus: &corpus, options: self, observer };
        let mut report = recompression
            .run(bytes_before > corpus.archive().stored_bytes(), || Ok(lock.check()?))?;
        drop(lock);
        report.bytes_before = bytes_before;
        report.edits = journal.edit_count();
        recompression.index(path, &mut report)?;
        Ok(report)
    }
}

impl Editor {
    /// Compresses the archive again, and goes on with it. Documents have other numbers from then
    /// on.
    ///
    /// # Errors
    /// [`Error::TransactionOpen`] while there is one; what reading and writing give: then the
    /// archive is as it was, and can be edited further. If somebody else edits the new archive
    /// before this editor has it again, the editor can do no more.
    pub fn recompress(
        &self,
        options: &RecompressOptions,
        observer: &dyn Observer,
    ) -> Result<RecompressReport> {
        let mut transaction = self.begin()?;
        let corpus = transaction.corpus()?;
        let pending = transaction.pending();
        let recompression = Recompression { corpus: &corpus, options, observer };
        let mut report = recompression.run(pending.edits > 0, || transaction.check_lock())?;
        report.bytes_before = transaction.stored_bytes() + pending.journal_bytes;
        report.edits = pending.edits;
        let mut indexed = Ok(());
        transaction.start_again(|| {
            // Storing an index takes the lock, too.
            indexed = recompression.index(self.path(), &mut report);
            let asked = Instant::now();
            loop {
                match OpenArchive::new(self.path(), self.memory) {
                    Err(Error::Archive(tadoc_core::Error::Locked { .. }))
                        if asked.elapsed() < WAIT_FOR_LOCK =>
                    {
                        std::thread::sleep(ASK_AGAIN);
                    }
                    opened => return opened,
                }
            }
        })?;
        indexed.map(|()| report)
    }
}

/// An archive that is being compressed again.
struct Recompression<'r> {
    corpus: &'r Corpus,
    options: &'r RecompressOptions,
    observer: &'r dyn Observer,
}

impl Recompression<'_> {
    /// Writes the new archive, if there is something behind the old one. `may_replace` is asked right before it gets its name.
    fn run(
        &self,
        is_needed: bool,
        may_replace: impl Fn() -> Result<()>,
    ) -> Result<RecompressReport> {
        let Self { corpus, options, observer } = *self;
        let before = corpus.summary();
        let mut report = RecompressReport {
            documents: before.documents,
            text_bytes: before.text_bytes,
            archive_bytes: corpus.archive().stored_bytes(),
            segments: before.segments.len() as u64,
            ..Default::default()
        };
        if !is_needed {
            return Ok(report);
        }
        let name = &before.builder;
        let builder =
            Builder::from_name(name).ok_or_else(|| Error::UnknownBuilder { name: name.clone() })?;
        let budget = Budget::new(options.memory, options.threads)?;
        // However little memory there is, an archive has no more segments than it can have.
        let symbols: u64 = before.segments.iter().map(|segment| segment.symbols).sum();
        let most_symbols = budget.most_symbols().max(symbols / FEW_SEGMENTS);
        let pool = threads::pool(Some(budget.threads))?;
        let watch = Watch::new(observer, before.text_bytes, before.level);
        watch.check()?;
        let mut writer = ArchiveWriter::create(corpus.archive().path())?;
        let mut segments: Vec<SegmentInfo> = Vec::new();
        let numbers = corpus.edited().map(|edited| edited.as_stored());
        let mut table = None;
        let mut number = 0;
        while number < before.segments.len() {
            if let Some(stored) = corpus.stored_segment(number) {
                writer.copy_segment(corpus.archive(), stored)?;
                segments.push(before.segments[number]);
                watch.lexed(before.segments[number].text_bytes);
                watch.built();
                number += 1;
                continue;
            }
            let group = self.group(number, most_symbols);
            watch.lexed(before.segments[group.clone()].iter().map(|info| info.text_bytes).sum());
            let work = |cancel: &CancelFlag| {
                let make =
                    |number| make(corpus, number, builder, before.level, most_symbols, cancel);
                let makes = || parallel::try_map(group.len(), &|place| make(group.start + place));
                // Both need the edited segments.
                pool.install(|| corpus.prepare(group.clone()))?;
                // Digests are found beside the first segments that are made: much of both runs on one thread.
                let digest = || match table {
                    None => numbers.map(|numbers| digests(corpus, numbers, &())).transpose(),
                    Some(_) => Ok(None),
                };
                Ok::<_, Error>(pool.install(|| rayon::join(makes, digest)))
            };
            let (made, digested) = watch.during(group.len(), work)??;
            table = digested?.or(table);
            for (number, made) in group.clone().zip(made?) {
                for (encoded, info) in made {
                    writer.add_segment(&encoded)?;
                    let first_document =
                        before.segments[number].first_document + info.first_document;
                    segments.push(SegmentInfo { first_document, ..info });
                    report.segments_made += 1;
                }
            }
            watch.built();
            watch.check()?;
            number = group.end;
        }
        let table = match (table, numbers) {
            (Some(table), _) => table,
            (None, Some(numbers)) => pool.install(|| digests(corpus, numbers, &()))?,
            (None, None) => (**corpus.table()?).clone(),
        };
        report.segments = segments.len() as u64;
        let summary = Summary { written_by: WRITTEN_BY.into(), segments, ..before.clone() };
        may_replace()?;
        report.archive_bytes = writer.finish(&table, &summary, true)?;
        Ok(report)
    }

    /// Edited segments from a number on that can be made at the same time without taking too much memory; one at least.
    fn group(&self, first: usize, most_symbols: u64) -> Range<usize> {
        let segments = &self.corpus.summary().segments;
        let mut symbols = 0;
        let fitting = (first..segments.len()).take_while(|&number| {
            // What edits have added to a segment is not known yet; what a symbol takes is on the safe side.
            symbols += segments[number].symbols;
            self.corpus.stored_segment(number).is_none() && symbols <= most_symbols
        });
        first..first + fitting.count().max(1)
    }

    /// Gives the new archive the index that it is to have.
    fn index(&self, path: &Path, report: &mut RecompressReport) -> Result<()> {
        let archive = self.corpus.archive();
        let index = self.options.index.unwrap_or(archive.index());
        let has = if report.archive_bytes == archive.stored_bytes()
            && report.segments_made == 0
            && report.edits == 0
        {
            archive.index()
        } else {
            Index::None
        };
        if index != has {
            report.archive_bytes = access::store(path, index, self.observer)?;
        }
        Ok(())
    }
}

/// An archive is cut into about so many segments at the most, however little memory there is.
const FEW_SEGMENTS: u64 = 1 << 12;

/// The segments that become of an edited one: more than one if it has grown so that building it would take too much memory. The first documents count
/// from that of the edited segment.
fn make(
    corpus: &Corpus,
    number: usize,
    builder: Builder,
    level: Level,
    most_symbols: u64,
    cancel: &CancelFlag,
) -> Result<Vec<(EncodedSegment, SegmentInfo)>> {
    let Found::Edited(segment) = corpus.find_segment(number)? else {
        unreachable!("only edited segments are made");
    };
    let EditedSegment { grammar, dictionary, line_ends } = segment;
    let mut made = Vec::new();
    let (tokens, separators) = (dictionary.tokens(u64::MAX)?, corpus.lexer()?.ascii_separators());
    for part in cut(grammar, most_symbols, &tokens, &separators) {
        cancel.check()?;
        let (grammar, kept) = with_used_tokens(&part.grammar);
        let entries = Entries::new(&tokens, dictionary.word_token_count(), &kept);
        let line_ends: Vec<bool> = kept.iter().map(|&token| line_ends[token as usize]).collect();
        // Parts of building run on one thread: the dictionary is encoded beside them.
        let (again, encoded) = rayon::join(
            || build_again(&grammar, &line_ends, builder, cancel),
            || EncodedDictionary::new(&entries.words(), &entries.separators(), level, cancel),
        );
        let (again, encoded) = (again?, encoded?);
        drop(grammar);
        let lengths = || -> Result<(u64, u64)> {
            Ok((total(&again, |token| entries.length(token))?, total(&again, |_| 1)?))
        };
        let (encoded, (lengths, figures)) = rayon::join(
            || EncodedSegment::with_dictionary(encoded, &again, level, cancel),
            || rayon::join(lengths, || figures(&again)),
        );
        let (bytes, tokens) = lengths?;
        let info = SegmentInfo {
            first_document: part.first_document as u64,
            documents: again.document_count() as u64,
            text_bytes: bytes,
            tokens,
            words: entries.words.len() as u64,
            ..figures
        };
        made.push((encoded?, info));
    }
    Ok(made)
}

/// The sum of the weights of all tokens of a text.
fn total(grammar: &Grammar, weigh: impl Fn(u32) -> u64 + Sync) -> Result<u64> {
    let of_rules = grammar.rule_weights(&weigh).map_err(tadoc_core::Error::from)?;
    let weigh = |&symbol: &u32| match grammar.rule_of(symbol) {
        None => weigh(symbol),
        Some(rule) => of_rules[rule as usize],
    };
    let total = grammar.root().iter().map(weigh).try_fold(0_u64, u64::checked_add);
    let too_long = || tadoc_core::Error::malformed("a segment has more than 2^64 bytes");
    Ok(total.ok_or_else(too_long)?)
}

/// Some documents of a segment.
struct SegmentPart {
    grammar: Grammar,
    first_document: usize,
}

/// Cuts a grammar so that no part has many more symbols in its root than so many. A document may be cut, between two symbols and beside a
/// separator, so that no edit on one side can make a word that reaches to the other.
fn cut(
    grammar: &Grammar,
    most_symbols: u64,
    tokens: &Tokens,
    separators: &[bool; 256],
) -> Vec<SegmentPart> {
    let (length, starts) = (grammar.root().len(), grammar.document_starts());
    let parts = usize_of((grammar.symbols().len() as u64).div_ceil(most_symbols).max(1));
    if parts == 1 {
        return vec![SegmentPart { grammar: grammar.clone(), first_document: 0 }];
    }
    let share = length.div_ceil(parts).max(1);
    let token_at_the_edge = |mut symbol: u32, edge: fn(&[u32]) -> Option<&u32>| {
        while let Some(rule) = grammar.rule_of(symbol) {
            symbol = *edge(grammar.body(rule)).expect("a rule is not empty");
        }
        tokens.get(symbol)
    };
    #[expect(clippy::cast_possible_truncation, reason = "a grammar has fewer than 2^32 symbols")]
    let is_safe = |place: usize| {
        let before = token_at_the_edge(grammar.root()[place - 1], <[u32]>::last).last();
        let behind = token_at_the_edge(grammar.root()[place], <[u32]>::first).first();
        starts.binary_search(&(place as u32)).is_ok()
            || before.into_iter().chain(behind).any(|&byte| separators[byte as usize])
    };
    let mut cuts = Vec::new();
    let mut start = 0;
    while start < length || cuts.is_empty() {
        let end = (start + share..length).find(|&place| is_safe(place)).unwrap_or(length);
        // Documents that start here; the first may have started before, and what is empty at the very end belongs to the last part.
        let first = if start == 0 {
            0
        } else {
            let here = starts.partition_point(|&document| (document as usize) < start);
            if starts[here] as usize == start { here } else { here - 1 }
        };
        let behind = if end == length {
            grammar.document_count()
        } else {
            starts.partition_point(|&document| (document as usize) < end)
        };
        let grammar = part_of(grammar, start..end, first..behind);
        cuts.push(SegmentPart { grammar, first_document: first });
        start = end;
    }
    cuts
}

/// The words and separators of a dictionary of which some tokens are used.
struct Entries<'t> {
    tokens: &'t Tokens,
    /// Numbers of the tokens that are used, ascending.
    kept: &'t [u32],
    /// A token of each word, and the forms in which it is used.
    words: Vec<(u32, Forms)>,
    separators: &'t [u32],
}

impl<'t> Entries<'t> {
    fn new(tokens: &'t Tokens, word_tokens: u32, kept: &'t [u32]) -> Self {
        let of_words = kept.partition_point(|&token| token < word_tokens);
        let word = |token: u32| {
            let bytes = tokens.get(token);
            &bytes[access::leading_space(bytes)..]
        };
        let mut words = Vec::with_capacity(of_words);
        for group in kept[..of_words].chunk_by(|&one, &other| word(one) == word(other)) {
            let forms = match (group.len(), access::leading_space(tokens.get(group[0]))) {
                (1, 0) => Forms::Bare,
                (1, _) => Forms::Spaced,
                _ => Forms::Both,
            };
            words.push((group[0], forms));
        }
        Self { tokens, kept, words, separators: &kept[of_words..] }
    }

    /// The length of a token that is used, by its number among them.
    fn length(&self, token: u32) -> u64 {
        self.tokens.length(self.kept[token as usize])
    }

    fn words(&self) -> Vec<Entry<'t>> {
        let entry = |&(token, forms): &(u32, Forms)| {
            let bytes = self.tokens.get(token);
            Entry { bytes: &bytes[access::leading_space(bytes)..], forms }
        };
        self.words.iter().map(entry).collect()
    }

    fn separators(&self) -> Vec<&'t [u8]> {
        self.separators.iter().map(|&token| self.tokens.get(token)).collect()
    }
}
