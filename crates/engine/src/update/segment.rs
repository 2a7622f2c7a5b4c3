//! The grammar of an edited segment, from the stored one and the pieces of its documents.
//!
//! Documents go by in order. Symbols that no edit touches are copied; where a piece starts or ends inside of a symbol, the rules
//! on the way to that place are unrolled into the document's own symbols, and no shared rule is changed. Around a cut the text is *loose*: it is
//! lexed anew together with what was inserted there, from a place where no word can reach across to the next such place. So
//! every word is the one that a fresh lexer would find, also where an edit cuts or joins words.
//!
//! Cost: a pass over the symbols of the segment, the way down for each cut, lexing of what is new, and a new dictionary.

use std::ops::Range;
use std::sync::Arc;

use tadoc_core::archive::{Dictionary, EncodedDictionary, Tokens};
use tadoc_core::grammar::Slices;
use tadoc_core::parallel;
use tadoc_core::{Array, Budget, Grammar, Share, usize_of};

use super::dictionary::{EditedDictionary, UNUSED};
use super::edited::{EDITED, Elsewhere};
use super::pieces::{Piece, Source};
use super::plan::PlannedPart;
use crate::build::interner::Interner;
use crate::build::lexer::Lexer;
use crate::error::{Error, Result};

/// Loose text is lexed in pieces of about so many bytes.
const LEXED_AT_ONCE: usize = 1 << 20;

/// Work of a stretch of documents that is worth a thread of its own, and of a piece, in bytes of text.
const LEAST_WORK: u64 = 1 << 16;
const PIECE_WORK: u64 = 256;

/// What an edited segment is made from.
pub(super) struct Stored {
    pub(super) grammar: Grammar,
    pub(super) tokens: Tokens,
    /// Tokens below this have a word.
    pub(super) word_tokens: u32,
}

impl Stored {
    pub(super) fn empty() -> Self {
        let grammar = Grammar::new(0, vec![], vec![0], vec![0]).expect("nothing is a grammar");
        Self { grammar, tokens: Tokens::default(), word_tokens: 0 }
    }
}

/// Where the bytes of pieces come from.
pub(super) trait Texts: Sync {
    fn new_text(&self, piece: Piece) -> &[u8];

    /// The place in the stored segment of the part of a document that has an offset, and where that part starts in the document; `None`
    /// if it is in another segment.
    fn place(&self, document: u32, offset: u64) -> Option<(u32, u64)>;

    /// Appends stored bytes of a document that is in another segment.
    fn append_elsewhere(
        &self,
        elsewhere: &mut Elsewhere,
        document: u32,
        piece: Piece,
        into: &mut Vec<u8>,
    ) -> Result<()>;
}

/// An edited segment. Its copies share everything.
#[derive(Debug, Clone)]
pub(crate) struct EditedSegment {
    pub(crate) grammar: Grammar,
    pub(crate) dictionary: Arc<Dictionary>,
    /// For each token whether it ends a line.
    pub(crate) line_ends: Arc<Vec<bool>>,
}

pub(super) fn edit(
    stored: &Stored,
    parts: &[PlannedPart],
    texts: &impl Texts,
    lexer: Lexer,
    budget: &Budget,
) -> Result<EditedSegment> {
    let work = budget.take(8 * u64::from(stored.grammar.rule_count()), EDITED)?;
    let rule_bytes = stored
        .grammar
        .rule_weights(|token| stored.tokens.length(token))
        .map_err(tadoc_core::Error::from)?;
    let shares = shares(parts, &stored.grammar);
    let cut: Vec<Stretch> = parallel::try_map(shares.len(), &|share| -> Result<Stretch> {
        let mut cutter = Cutter::new(stored, &rule_bytes, lexer, &work);
        for part in shares[share] {
            cutter.part(part, texts)?;
        }
        let Cutter { symbols, loose, runs, document_ends, .. } = cutter;
        let lexed = Lexed::new(&loose, &runs, lexer, &work)?;
        Ok(Stretch { symbols, runs, document_ends, lexed })
    })?;
    drop(rule_bytes);
    assemble(stored, cut)
}

/// Cuts documents into a stretch for each thread, of about the same work.
fn shares<'p>(parts: &'p [PlannedPart], grammar: &Grammar) -> Vec<&'p [PlannedPart]> {
    let work = |part: &PlannedPart| match part {
        PlannedPart::Whole { place } => grammar.document(*place as usize).len() as u64,
        PlannedPart::Edited { pieces, .. } => {
            let bytes: u64 = pieces.iter().map(|piece| piece.bytes()).sum();
            PIECE_WORK * pieces.len() as u64 + bytes
        }
    };
    let total: u64 = parts.iter().map(work).sum();
    let share = total.div_ceil(rayon::current_num_threads() as u64).max(LEAST_WORK);
    let mut shares = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (number, part) in parts.iter().enumerate() {
        sum += work(part);
        if sum >= share || number + 1 == parts.len() {
            shares.push(&parts[start..=number]);
            (start, sum) = (number + 1, 0);
        }
    }
    shares
}

/// Some documents, cut into symbols and loose text, and that lexed.
struct Stretch {
    symbols: Vec<u32>,
    runs: Vec<Run>,
    document_ends: Vec<usize>,
    lexed: Lexed,
}

/// Symbols, and the loose text behind them; up to where they go in the rows of all symbols and all loose text.
#[derive(Debug, Clone, Copy)]
struct Run {
    symbols_end: usize,
    loose_end: usize,
}

/// Cuts documents into symbols and loose text.
struct Cutter<'s> {
    grammar: Slices<'s>,
    documents: &'s Grammar,
    tokens: &'s Tokens,
    rule_bytes: &'s [u64],
    separators: [bool; 256],
    /// Symbols of all documents, numbered as they are stored.
    symbols: Vec<u32>,
    loose: Vec<u8>,
    runs: Vec<Run>,
    /// How many runs there are up to the end of each document.
    document_ends: Vec<usize>,
    /// Bytes before a cut, for now.
    tail: Vec<u8>,
    elsewhere: Elsewhere,
    /// What memory is taken of.
    work: &'s Share,
}

impl<'s> Cutter<'s> {
    fn new(stored: &'s Stored, rule_bytes: &'s [u64], lexer: Lexer, work: &'s Share) -> Self {
        Self {
            grammar: stored.grammar.slices(),
            documents: &stored.grammar,
            tokens: &stored.tokens,
            rule_bytes,
            separators: lexer.ascii_separators(),
            symbols: Vec::new(),
            loose: Vec::new(),
            runs: Vec::new(),
            document_ends: Vec::new(),
            tail: Vec::new(),
            elsewhere: Elsewhere::default(),
            work,
        }
    }

    fn end_run(&mut self) {
        self.runs.push(Run { symbols_end: self.symbols.len(), loose_end: self.loose.len() });
    }

    fn part(&mut self, part: &PlannedPart, texts: &impl Texts) -> Result<()> {
        let before = self.symbols.len();
        match part {
            PlannedPart::Whole { place } => {
                self.symbols.extend_from_slice(self.documents.document(*place as usize));
            }
            PlannedPart::Edited { document, pieces } => self.document(*document, pieces, texts)?,
        }
        self.end_run();
        self.document_ends.push(self.runs.len());
        // Here, and once more when they are put together.
        Ok(self.work.grow((2 * size_of::<u32>() * (self.symbols.len() - before)) as u64, EDITED)?)
    }

    fn document(&mut self, document: u32, pieces: &[Piece], texts: &impl Texts) -> Result<()> {
        let mut cursor: Option<(u32, Cursor<'s>)> = None;
        // Nothing of the document is there yet, so that nothing can reach into it.
        let mut is_start = true;
        for (index, &piece) in pieces.iter().enumerate() {
            if piece.source() == Source::New {
                self.work.grow(piece.bytes(), EDITED)?;
                self.loose.extend_from_slice(texts.new_text(piece));
                is_start = false;
                continue;
            }
            let Some((place, part_start)) = texts.place(document, piece.start()) else {
                self.work.grow(piece.bytes(), EDITED)?;
                texts.append_elsewhere(&mut self.elsewhere, document, piece, &mut self.loose)?;
                is_start = false;
                continue;
            };
            let cursor = match &mut cursor {
                Some((of, cursor)) if *of == place => cursor,
                other => {
                    let symbols = self.documents.document(place as usize);
                    &mut other.insert((place, Cursor::new(symbols))).1
                }
            };
            let start = piece.start() - part_start;
            let is_end = index + 1 == pieces.len();
            self.stored(cursor, start..start + piece.bytes(), is_start, is_end)?;
            is_start = false;
        }
        Ok(())
    }

    /// A stored piece. `is_start` and `is_end`: nothing of the document is before or behind it.
    fn stored(
        &mut self,
        cursor: &mut Cursor<'s>,
        range: Range<u64>,
        is_start: bool,
        is_end: bool,
    ) -> Result<()> {
        cursor.seek(self, range.start)?;
        let starts_whole = is_start && range.start == cursor.offset;
        if !starts_whole && !self.loosen_start(cursor, &range)? {
            return Ok(());
        }
        self.end_run();
        let first = self.symbols.len();
        self.tail.clear();
        while let Some(symbol) = cursor.peek().filter(|_| cursor.offset < range.end) {
            let bytes = self.bytes(symbol);
            if cursor.offset + bytes <= range.end {
                self.symbols.push(symbol);
                cursor.skip(bytes);
            } else if let Some(rule) = self.grammar.rule_of(symbol) {
                cursor.enter(self.grammar.body(rule));
            } else {
                let here = usize_of(range.end - cursor.offset);
                self.tail.extend_from_slice(&self.tokens.get(symbol)[..here]);
                break;
            }
        }
        if cursor.offset < range.end && self.tail.is_empty() {
            return Err(too_short());
        }
        if !(is_end && self.tail.is_empty()) {
            self.loosen_end(first);
        }
        if self.symbols.len() == first {
            // Nothing is between the loose text before and that behind: they are one.
            self.runs.pop();
        }
        self.loose.append(&mut self.tail);
        Ok(())
    }

    /// Makes text from the start of a piece loose, up to where no word can reach across; tells whether there is more of the piece.
    fn loosen_start(&mut self, cursor: &mut Cursor<'s>, range: &Range<u64>) -> Result<bool> {
        let before = self.runs.last().map_or(0, |run| run.loose_end);
        let mut inside = range.start - cursor.offset;
        loop {
            if cursor.offset + inside >= range.end {
                return Ok(false);
            }
            let symbol = cursor.peek().ok_or_else(too_short)?;
            if inside == 0 {
                // Without loose text there is a separator before: what ends a piece sees to that.
                let is_safe = match self.loose[before..].last() {
                    None => true,
                    Some(&byte) => self.is_separator(byte),
                };
                if is_safe || self.is_separator(self.first_byte(symbol)) {
                    return Ok(true);
                }
            }
            match self.grammar.rule_of(symbol) {
                Some(rule) => cursor.enter(self.grammar.body(rule)),
                None => {
                    let bytes = self.tokens.get(symbol);
                    let end = (range.end - cursor.offset).min(bytes.len() as u64);
                    self.work.grow(end - inside, EDITED)?;
                    self.loose.extend_from_slice(&bytes[usize_of(inside)..usize_of(end)]);
                    if end < bytes.len() as u64 {
                        // The next piece may start in the same token.
                        return Ok(false);
                    }
                    cursor.skip(end);
                    inside = 0;
                }
            }
        }
    }

    /// Moves the last tokens of the symbols from `first` on to the tail, until no word can reach across.
    fn loosen_end(&mut self, first: usize) {
        while self.symbols.len() > first {
            let last = self.symbols[self.symbols.len() - 1];
            let is_safe = self.tail.first().is_some_and(|&byte| self.is_separator(byte))
                || self.is_separator(self.last_byte(last));
            if is_safe {
                return;
            }
            self.symbols.pop();
            match self.grammar.rule_of(last) {
                Some(rule) => self.symbols.extend_from_slice(self.grammar.body(rule)),
                None => drop(self.tail.splice(0..0, self.tokens.get(last).iter().copied())),
            }
        }
    }

    fn is_separator(&self, byte: u8) -> bool {
        self.separators[byte as usize]
    }

    fn bytes(&self, symbol: u32) -> u64 {
        match self.grammar.rule_of(symbol) {
            None => self.tokens.length(symbol),
            Some(rule) => self.rule_bytes[rule as usize],
        }
    }

    fn first_byte(&self, mut symbol: u32) -> u8 {
        while let Some(rule) = self.grammar.rule_of(symbol) {
            symbol = self.grammar.body(rule)[0];
        }
        self.tokens.get(symbol)[0]
    }

    fn last_byte(&self, mut symbol: u32) -> u8 {
        while let Some(rule) = self.grammar.rule_of(symbol) {
            symbol = *self.grammar.body(rule).last().expect("a rule is not empty");
        }
        *self.tokens.get(symbol).last().expect("a token is not empty")
    }
}

fn too_short() -> Error {
    Error::malformed("a document is shorter than recorded")
}

/// A way through the symbols of a document, forwards.
struct Cursor<'s> {
    /// What is left of the rules on the way down, the document first; never empty but for the document.
    rest: Vec<&'s [u32]>,
    /// Bytes of the document before it.
    offset: u64,
}

impl<'s> Cursor<'s> {
    fn new(symbols: &'s [u32]) -> Self {
        Self { rest: vec![symbols], offset: 0 }
    }

    fn peek(&self) -> Option<u32> {
        self.rest.last().and_then(|rest| rest.first()).copied()
    }

    /// Passes over the next symbol, which has so many bytes.
    fn skip(&mut self, bytes: u64) {
        self.offset += bytes;
        self.drop_first();
    }

    /// Goes into the next symbol, which is a rule of this body.
    fn enter(&mut self, body: &'s [u32]) {
        self.drop_first();
        self.rest.push(body);
    }

    fn drop_first(&mut self) {
        let rest = self.rest.last_mut().expect("the document is always there");
        *rest = &rest[1..];
        while self.rest.len() > 1 && self.rest.last().is_some_and(|rest| rest.is_empty()) {
            self.rest.pop();
        }
    }

    /// Goes to the token in which an offset is, or to a symbol that starts there.
    fn seek(&mut self, cutter: &Cutter<'s>, offset: u64) -> Result<()> {
        while self.offset < offset {
            let symbol = self.peek().ok_or_else(too_short)?;
            let bytes = cutter.bytes(symbol);
            if self.offset + bytes <= offset {
                self.skip(bytes);
            } else if let Some(rule) = cutter.grammar.rule_of(symbol) {
                self.enter(cutter.grammar.body(rule));
            } else {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A number, and a range that belongs to it: of a run and bytes, or of a stretch and tokens.
type Places = (usize, Range<usize>);

/// Loose text, lexed.
struct Lexed {
    interners: Vec<Interner>,
    /// Tokens as the interner of the same place numbered them.
    tokens: Vec<Vec<u32>>,
    /// Of each run that has loose text, in order: the pieces that its tokens are in.
    of_runs: Vec<Vec<Places>>,
}

impl Lexed {
    fn new(loose: &[u8], runs: &[Run], lexer: Lexer, work: &Share) -> Result<Self> {
        // Which run, and which bytes: long texts in several pieces.
        let mut texts: Vec<Places> = Vec::new();
        let mut start = 0;
        for (number, run) in runs.iter().enumerate() {
            while run.loose_end - start > LEXED_AT_ONCE
                && let Some(end) = lexer
                    .safe_cut(&loose[..run.loose_end], start + LEXED_AT_ONCE)
                    .filter(|&end| end < run.loose_end)
            {
                texts.push((number, start..end));
                start = end;
            }
            if run.loose_end > start {
                texts.push((number, start..run.loose_end));
            }
            start = run.loose_end;
        }
        // Stretches of about the same length, one for each thread.
        let share = loose.len().div_ceil(rayon::current_num_threads()).max(LEXED_AT_ONCE);
        let mut stretches: Vec<&[Places]> = Vec::new();
        let mut rest = &texts[..];
        while let Some((_, first)) = rest.first() {
            let end = rest.partition_point(|(_, text)| text.start < first.start + share);
            let (stretch, behind) = rest.split_at(end);
            stretches.push(stretch);
            rest = behind;
        }
        type LexedStretch = (Interner, Vec<u32>, Vec<Places>);
        let lexed: Vec<LexedStretch> =
            parallel::try_map(stretches.len(), &|stretch| -> Result<LexedStretch> {
                let (mut interner, mut tokens) = (Interner::default(), Vec::new());
                let mut of_texts = Vec::with_capacity(stretches[stretch].len());
                for (run, text) in stretches[stretch] {
                    let (text, first) = (&loose[text.clone()], tokens.len());
                    let mut start = 0;
                    lexer.tokens(text, |end, kind| {
                        tokens.push(interner.intern(text, start, end, kind));
                        start = end;
                    });
                    // A token here, and once more when they are put together; and words that are new.
                    let taken = 2 * size_of::<u32>() * (tokens.len() - first) + text.len() / 2;
                    work.grow(taken as u64, EDITED)?;
                    of_texts.push((*run, first..tokens.len()));
                }
                Ok((interner, tokens, of_texts))
            })?;
        let mut of_runs = vec![Vec::new(); runs.len()];
        let (mut interners, mut tokens) = (Vec::new(), Vec::new());
        for (stretch, (interner, of_stretch, of_texts)) in lexed.into_iter().enumerate() {
            for (run, places) in of_texts {
                of_runs[run].push((stretch, places));
            }
            interners.push(interner);
            tokens.push(of_stretch);
        }
        Ok(Self { interners, tokens, of_runs })
    }
}

/// Puts symbols and tokens together, with a dictionary of the tokens that are used and the rules that are.
fn assemble(stored: &Stored, stretches: Vec<Stretch>) -> Result<EditedSegment> {
    let grammar = &stored.grammar;
    let token_count = grammar.token_count();
    let used = used_symbols(grammar, &stretches);
    // Which interners those of each stretch have become.
    let (mut firsts, mut rows, mut interners) = (Vec::new(), Vec::new(), Vec::new());
    for Stretch { symbols, runs, document_ends, lexed } in stretches {
        firsts.push(interners.len());
        interners.extend(lexed.interners);
        rows.push((symbols, runs, document_ends, lexed.tokens, lexed.of_runs));
    }
    let (of_tokens, of_rules) = used.split_at(token_count as usize);
    let mut merged =
        EditedDictionary::new(&stored.tokens, stored.word_tokens, of_tokens, &interners);
    let merged_count = merged.token_count();
    let mut numbers = std::mem::take(&mut merged.stored);
    let mut next = merged_count;
    numbers.extend(of_rules.iter().map(|&used| {
        next += u32::from(used);
        if used { next - 1 } else { UNUSED }
    }));

    // The documents, then the bodies of the rules that are used. Each part with the numbers of its symbols.
    let mut parts: Vec<(&[u32], &[u32])> = Vec::new();
    let mut starts = vec![0_u32];
    let mut length = 0_u64;
    for (first, (symbols, runs, document_ends, tokens, of_runs)) in firsts.into_iter().zip(&rows) {
        let mut from = 0;
        let mut ends = document_ends.iter().copied().peekable();
        for (number, run) in runs.iter().enumerate() {
            parts.push((&numbers, &symbols[from..run.symbols_end]));
            length += (run.symbols_end - from) as u64;
            from = run.symbols_end;
            for (stretch, places) in &of_runs[number] {
                parts.push((&merged.interned[first + stretch], &tokens[*stretch][places.clone()]));
                length += places.len() as u64;
            }
            if ends.next_if_eq(&(number + 1)).is_some() {
                starts.push(u32::try_from(length).map_err(|_| too_many())?);
            }
        }
    }
    let mut rule_starts = Vec::with_capacity((next - merged_count) as usize + 1);
    let is_used = |rule: u32| of_rules[rule as usize];
    let mut rule = 0;
    while rule < grammar.rule_count() {
        // The bodies of rules in a row are one part.
        let first = rule;
        while rule < grammar.rule_count() && is_used(rule) {
            rule_starts.push(u32::try_from(length).map_err(|_| too_many())?);
            length += grammar.body(rule).len() as u64;
            rule += 1;
        }
        let bodies = grammar.rule_starts()[first as usize]..grammar.rule_starts()[rule as usize];
        parts.push((&numbers, &grammar.symbols()[bodies.start as usize..bodies.end as usize]));
        rule += 1;
    }
    rule_starts.push(u32::try_from(length).map_err(|_| too_many())?);
    let slices: Vec<&[u32]> = parts.iter().map(|(_, row)| *row).collect();
    let symbols = parallel::map_concat(&slices, |part, symbol| parts[part].0[symbol as usize]);
    let grammar = Grammar::new(merged_count, shared(symbols), shared(rule_starts), shared(starts))
        .map_err(tadoc_core::Error::from)?;
    let dictionary = Arc::new(EncodedDictionary::quick(&merged.words, &merged.separators).open()?);
    Ok(EditedSegment { grammar, dictionary, line_ends: Arc::new(merged.line_ends) })
}

fn too_many() -> Error {
    Error::TooMany { what: "symbols in a segment", most: u32::MAX.into() }
}

/// Numbers that are copied for next to nothing.
fn shared(numbers: Vec<u32>) -> Array<u32> {
    Array::Shared(Arc::new(numbers))
}

/// Which tokens and rules the symbols of documents need.
fn used_symbols(grammar: &Grammar, stretches: &[Stretch]) -> Vec<bool> {
    let mut used = vec![false; (grammar.token_count() + grammar.rule_count()) as usize];
    for stretch in stretches {
        stretch.symbols.iter().for_each(|&symbol| used[symbol as usize] = true);
    }
    // Parents come before children.
    for rule in 0..grammar.rule_count() {
        if used[(grammar.token_count() + rule) as usize] {
            grammar.body(rule).iter().for_each(|&symbol| used[symbol as usize] = true);
        }
    }
    used
}
