//! The texts of tokens and short rules, written out: text is then copied in runs of dozens of bytes
//! and not token by token.
//!
//! For whoever writes out much of a segment: restoring, and grep where it expands and scans. Cost:
//! O(symbols and texts) to make, on all threads; at most 16 bytes a symbol of the rules, the bytes
//! of tokens, and 4 bytes a symbol. (Random access, which is given its room, chooses by use:
//! `access::texts`.)
//!
//! Texts stand one behind the other, those of tokens first and then those of rules, children first:
//! where one ends the next starts, and one number a symbol says where a text is and how long.
//! [`Buffer::expand`] copies a fixed number of bytes for every symbol, and more where a text is
//! longer, so that the processor foresees the branch and works on many symbols at a time.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::Budget;
use tadoc_core::packed::prefetch;

/// Longer texts are not written out.
const LONGEST_TEXT: usize = 256;
/// Bytes of texts for each symbol of the rules, and for all.
const TEXT_PER_SYMBOL: usize = 16;
const MOST_TEXT: usize = 1 << 30;
/// So many bytes are copied for a text that is shorter, too: as many stand behind the last text.
const COPIED: usize = 64;
/// Symbols whose texts a thread writes out before they are put together with those of others.
const SYMBOLS_OF_PART: u32 = 1 << 13;
/// Memory is asked for so many rules ahead: where texts are, and texts.
const FAR: u32 = 24;
const NEAR: u32 = 12;
/// Bodies of rules of the same round that are read for a text; a rule that takes more is not
/// written out.
const MOST_BODIES: usize = 64;
/// Bytes that a buffer keeps for the next text.
const KEPT: usize = 1 << 22;
/// Symbols for whose texts room is made at a time.
const SYMBOLS_AT_ONCE: usize = 256;

/// The rules of a segment. Symbols below [`Rules::token_count`] are tokens, the others rules; rule
/// `r` is the symbol `token_count + r`, and uses only rules of higher numbers.
pub(crate) trait Rules {
    /// How many tokens there are.
    fn token_count(&self) -> u32;
    /// How many rules there are.
    fn rule_count(&self) -> u32;
    /// The places of a rule's symbols.
    fn body(&self, rule: u32) -> Range<u32>;
    /// The symbol at a place of a rule.
    fn symbol(&self, place: u32) -> u32;
    /// The bytes of a token.
    fn token(&self, token: u32) -> &[u8];
    /// The length of a symbol's text.
    fn bytes(&self, symbol: u32) -> u64;
}

/// The texts of tokens and short rules. The texts of no symbol at all by default.
#[derive(Default)]
pub(crate) struct Texts {
    /// The texts, and [`COPIED`] bytes more.
    bytes: Vec<u8>,
    /// Where the text of each symbol starts, and then where the last one ends: tokens in their
    /// order, and then rules, the last one first. A symbol whose text is not written out seems to
    /// have none.
    starts: Vec<u32>,
    /// Tokens, and the place in `starts` of a rule's text and its symbol together.
    tokens: u32,
    mirror: u32,
}

impl Texts {
    /// Writes out texts, children first, until there is no more room: that of all, and a fourth of
    /// what is left of a budget.
    #[expect(clippy::cast_possible_truncation, reason = "threads are few")]
    pub(crate) fn new<R: Rules + Sync>(rules: &R, budget: &Budget) -> Self {
        let (tokens, count) = (rules.token_count(), rules.rule_count());
        let Some(symbols) = tokens.checked_add(count).filter(|&all| all <= u32::MAX / 2) else {
            return Self::default();
        };
        let of_starts = size_of::<u32>() as u64 * (u64::from(symbols) + 1);
        if of_starts > budget.left() / 4 {
            return Self::default();
        }
        let room = MOST_TEXT.min(usize::try_from(budget.left() / 4).unwrap_or(usize::MAX));
        let last = rules.rule_count().checked_sub(1).map_or(0, |last| rules.body(last).end);
        let first = if count > 0 { rules.body(0).start } else { 0 };
        let of_rules = (last - first) as usize * TEXT_PER_SYMBOL;
        let mut starts = Vec::with_capacity(symbols as usize + 1);
        starts.push(0);
        let mut texts =
            Self { bytes: Vec::new(), starts, tokens, mirror: 2 * tokens + count.max(1) - 1 };
        let at_once = SYMBOLS_OF_PART.saturating_mul(rayon::current_num_threads() as u32);
        let (mut start, mut room) = (0, room);
        while start < symbols {
            // Tokens first, and rounds of rules then.
            let end = if start < tokens { tokens } else { symbols };
            let round = start..end.min(start.saturating_add(at_once));
            texts.append_round(round.clone(), room, |texts, place, part| {
                if place < tokens {
                    return part.keep(rules.token(place));
                }
                let rule = texts.mirror - place - tokens;
                texts.ask_for(rules, start, rule);
                texts.write_rule(rules, start, rule, part);
            });
            start = round.end;
            if start == tokens {
                room = room.min(texts.bytes.len() + of_rules);
            }
        }
        texts.bytes.resize(texts.bytes.len() + COPIED, 0);
        texts
    }

    /// Appends the texts of the symbols that have these places, written out in parts on all
    /// threads.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there is room for less than 32 bits of text"
    )]
    fn append_round(
        &mut self,
        places: Range<u32>,
        room: usize,
        write: impl Fn(&Self, u32, &mut Part) + Sync,
    ) {
        let chunks = places.len().div_ceil(SYMBOLS_OF_PART as usize) as u32;
        let this = &*self;
        let parts: Vec<Part> = (0..chunks)
            .into_par_iter()
            .map(|chunk| {
                let first = places.start + chunk * SYMBOLS_OF_PART;
                let mut part = Part { first, ..Part::default() };
                for place in first..places.end.min(first.saturating_add(SYMBOLS_OF_PART)) {
                    write(this, place, &mut part);
                }
                part
            })
            .collect();
        for part in parts {
            let base = self.bytes.len();
            if base + part.bytes.len() > room {
                let end = base as u32;
                self.starts.extend(part.ends.iter().map(|_| end));
                continue;
            }
            self.starts.extend(part.ends.iter().map(|&end| base as u32 + end));
            self.bytes.extend_from_slice(&part.bytes);
        }
    }

    /// Asks for the memory in which is what rules that come soon are made of: of some where the
    /// texts are, and of others that come sooner the texts.
    fn ask_for(&self, rules: &impl Rules, round: u32, rule: u32) {
        for (ahead, is_near) in [(FAR, false), (NEAR, true)] {
            let Some(rule) = rule.checked_sub(ahead) else { continue };
            for place in rules.body(rule) {
                let at = self.place(rules.symbol(place));
                match is_near {
                    true if at < round => prefetch(&self.bytes, self.starts[at as usize] as usize),
                    true => {}
                    false => prefetch(&self.starts, at as usize),
                }
            }
        }
    }

    /// Writes out the text of a rule if it is short, and those of all that it uses are written out:
    /// in rounds before the one that starts at this place, in the same part, or now.
    #[expect(clippy::cast_possible_truncation, reason = "a part has few short texts")]
    fn write_rule(&self, rules: &impl Rules, round: u32, rule: u32, part: &mut Part) {
        let start = part.bytes.len();
        let mut bodies = 0;
        part.above.clear();
        part.above.push(rules.body(rule));
        while let Some(places) = part.above.last_mut() {
            let Some(place) = places.next() else {
                part.above.pop();
                continue;
            };
            let symbol = rules.symbol(place);
            let at = self.place(symbol);
            let text = if at < round {
                self.starts[at as usize] as usize..self.starts[at as usize + 1] as usize
            } else if at >= part.first {
                part.range(at)
            } else {
                bodies += 1;
                if bodies > MOST_BODIES {
                    part.bytes.truncate(start);
                    break;
                }
                part.above.push(rules.body(symbol - self.tokens));
                continue;
            };
            if text.is_empty() || part.bytes.len() - start + text.len() > LONGEST_TEXT {
                part.bytes.truncate(start);
                break;
            }
            match at < round {
                true => part.bytes.extend_from_slice(&self.bytes[text]),
                false => part.bytes.extend_from_within(text),
            }
        }
        part.ends.push(part.bytes.len() as u32);
    }

    /// The place of a symbol's text.
    #[inline]
    fn place(&self, symbol: u32) -> u32 {
        // A choice, and no branch.
        if symbol < self.tokens { symbol } else { self.mirror.wrapping_sub(symbol) }
    }

    /// The text of a symbol, if it is written out.
    #[inline]
    pub(crate) fn get(&self, symbol: u32) -> Option<&[u8]> {
        let place = self.place(symbol) as usize;
        let &[start, end] = self.starts.get(place..place + 2)? else { return None };
        (start < end).then(|| &self.bytes[start as usize..end as usize])
    }

    /// How many bytes all this takes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.bytes.len() + size_of::<u32>() * self.starts.len()) as u64
    }
}

/// Texts that a thread has written out.
#[derive(Default)]
struct Part {
    /// The place of the first.
    first: u32,
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
    /// Bodies that are not yet read to their ends.
    above: Vec<Range<u32>>,
}

impl Part {
    /// Where the text of this place is.
    fn range(&self, place: u32) -> Range<usize> {
        let own = (place - self.first) as usize;
        let start = own.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[own] as usize
    }

    /// Adds a text; one that is too long seems empty.
    #[expect(clippy::cast_possible_truncation, reason = "a part has few short texts")]
    fn keep(&mut self, text: &[u8]) {
        if text.len() <= LONGEST_TEXT {
            self.bytes.extend_from_slice(text);
        }
        self.ends.push(self.bytes.len() as u32);
    }
}

/// Text that is being written out. Its memory is used again for the next one.
#[derive(Default)]
pub(crate) struct Buffer {
    /// The text, and bytes that do not matter.
    bytes: Vec<u8>,
    length: usize,
    /// Bodies that are not yet written to their ends.
    above: Vec<Range<u32>>,
}

impl Buffer {
    /// The text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Forgets the text, and gives the memory of a long one back.
    pub(crate) fn clear(&mut self) {
        self.length = 0;
        if self.bytes.len() > KEPT {
            self.bytes = Vec::new();
        }
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Makes room for so many bytes more.
    fn reserve(&mut self, more: usize) {
        let needed = self.length + more;
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(self.bytes.len() + self.bytes.len() / 2), 0);
        }
    }

    /// Appends the text of symbols; `false` where all text would have more than `most` bytes: then
    /// some of it is missing. O(symbols + bytes).
    pub(crate) fn expand(
        &mut self,
        rules: &impl Rules,
        texts: &Texts,
        symbols: &[u32],
        most: usize,
    ) -> bool {
        for symbols in symbols.chunks(SYMBOLS_AT_ONCE) {
            let mut rest = symbols;
            while !rest.is_empty() {
                self.reserve(rest.len() * (LONGEST_TEXT + COPIED));
                let done = self.copy(texts, rest);
                let Some(&long) = rest.get(done) else { break };
                if !self.expand_long(rules, texts, long, most) {
                    return false;
                }
                rest = &rest[done + 1..];
            }
            if self.length > most {
                return false;
            }
        }
        true
    }

    /// Copies texts up to the first symbol without; there is room. Gives how many.
    #[inline]
    fn copy(&mut self, texts: &Texts, symbols: &[u32]) -> usize {
        let (from, into) = (&texts.bytes[..], &mut self.bytes[..]);
        // Where all texts are is looked up before the first is copied, and memory asked for: it is
        // in many places, and arrives for many of them at a time.
        let mut places = [(0_u32, 0_u32); SYMBOLS_AT_ONCE];
        let mut found = 0;
        for (into, &symbol) in places.iter_mut().zip(symbols) {
            let place = texts.place(symbol) as usize;
            let Some(&[start, end]) = texts.starts.get(place..place.saturating_add(2)) else {
                break;
            };
            if start == end {
                break;
            }
            prefetch(from, start as usize);
            prefetch(from, end as usize - 1);
            *into = (start, end);
            found += 1;
        }
        let mut at = self.length;
        for &(start, end) in &places[..found] {
            let (start, end) = (start as usize, end as usize);
            into[at..at + COPIED].copy_from_slice(&from[start..start + COPIED]);
            if end - start > COPIED {
                let more = &from[start + COPIED..end];
                into[at + COPIED..at + COPIED + more.len()].copy_from_slice(more);
            }
            at += end - start;
        }
        self.length = at;
        found
    }

    /// Appends the text of a symbol that is not written out.
    fn expand_long(&mut self, rules: &impl Rules, texts: &Texts, symbol: u32, most: usize) -> bool {
        let tokens = rules.token_count();
        let mut above = std::mem::take(&mut self.above);
        above.clear();
        let mut symbol = symbol;
        let fits = loop {
            if let Some(text) = texts.get(symbol) {
                self.push(text);
            } else if symbol < tokens {
                self.push(rules.token(symbol));
            } else {
                above.push(rules.body(symbol - tokens));
            }
            if self.length > most {
                break false;
            }
            let next = loop {
                let Some(places) = above.last_mut() else { break None };
                if let Some(place) = places.next() {
                    let next = rules.symbol(place);
                    if places.start == places.end {
                        above.pop();
                    }
                    break Some(next);
                }
                above.pop();
            };
            match next {
                Some(next) => symbol = next,
                None => break true,
            }
        };
        self.above = above;
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules with the same tokens and bodies.
    struct Made {
        tokens: Vec<Vec<u8>>,
        bodies: Vec<Vec<u32>>,
    }

    impl Rules for Made {
        fn token_count(&self) -> u32 {
            self.tokens.len() as u32
        }

        fn rule_count(&self) -> u32 {
            self.bodies.len() as u32
        }

        fn body(&self, rule: u32) -> Range<u32> {
            let start: usize = self.bodies[..rule as usize].iter().map(Vec::len).sum();
            start as u32..(start + self.bodies[rule as usize].len()) as u32
        }

        fn symbol(&self, place: u32) -> u32 {
            *self.bodies.iter().flatten().nth(place as usize).unwrap()
        }

        fn token(&self, token: u32) -> &[u8] {
            &self.tokens[token as usize]
        }

        fn bytes(&self, _: u32) -> u64 {
            unreachable!("texts are written out without lengths")
        }
    }

    impl Made {
        /// The text of a symbol.
        fn text(&self, symbol: u32) -> Vec<u8> {
            match symbol.checked_sub(self.token_count()) {
                None => self.token(symbol).to_vec(),
                Some(rule) => {
                    let parts = self.bodies[rule as usize].iter();
                    parts.flat_map(|&symbol| self.text(symbol)).collect()
                }
            }
        }
    }

    /// Tokens of all lengths, and rules that use later ones, so that many are long.
    fn made(rules: u32) -> Made {
        let tokens = (1..=300).step_by(23).map(|length| vec![b'a' + (length % 26) as u8; length]);
        let tokens: Vec<Vec<u8>> = tokens.collect();
        let count = tokens.len() as u32;
        let mut bodies = Vec::new();
        for rule in 0..rules {
            let later = count + rule + 1..count + rules;
            let mut body = vec![rule % count, rule * 7 % 3];
            body.extend((rule % 3 == 0 && !later.is_empty()).then_some(later.start));
            body.extend((rule % 5 == 0 && later.len() > 3).then_some(later.start + 3));
            bodies.push(body);
        }
        Made { tokens, bodies }
    }

    #[test]
    fn what_is_written_out_is_the_text_of_a_symbol() {
        let made = made(200);
        let symbols: Vec<u32> = (0..made.token_count() + made.rule_count()).collect();
        for (budget, some) in [(Budget::unlimited(), true), (Budget::new(40), false)] {
            let texts = Texts::new(&made, &budget);
            let mut written = 0;
            for &symbol in &symbols {
                let text = made.text(symbol);
                if let Some(found) = texts.get(symbol) {
                    assert_eq!(found, text, "{symbol}");
                    written += 1;
                }
            }
            assert_eq!(written > 0, some);
            let all: Vec<u8> = symbols.iter().flat_map(|&symbol| made.text(symbol)).collect();
            let mut buffer = Buffer::default();
            buffer.push(b"before ");
            assert!(buffer.expand(&made, &texts, &symbols, usize::MAX));
            assert_eq!(buffer.text(), [b"before ".as_slice(), &all].concat());
            buffer.clear();
            assert!(!buffer.expand(&made, &texts, &symbols, all.len() - 1));
            buffer.clear();
            assert!(buffer.expand(&made, &Texts::default(), &symbols, all.len()));
            assert_eq!(buffer.text(), all);
        }
    }

    #[test]
    fn rules_are_written_out_in_several_rounds() {
        // Each rule uses one that is far behind it, and one that is near.
        let rules = 3 * SYMBOLS_OF_PART;
        let tokens = vec![b"a".to_vec(), b"bc".to_vec()];
        let body = |rule: u32| {
            let child = |distance: u32| match rule + distance < rules && rule.is_multiple_of(7) {
                true => 2 + rule + distance,
                false => rule % 2,
            };
            [child(1), child(SYMBOLS_OF_PART + 5)]
        };
        let flat: Vec<u32> = (0..rules).flat_map(body).collect();
        struct Pairs(Vec<Vec<u8>>, Vec<u32>);
        impl Rules for Pairs {
            fn token_count(&self) -> u32 {
                2
            }
            fn rule_count(&self) -> u32 {
                self.1.len() as u32 / 2
            }
            fn body(&self, rule: u32) -> Range<u32> {
                2 * rule..2 * rule + 2
            }
            fn symbol(&self, place: u32) -> u32 {
                self.1[place as usize]
            }
            fn token(&self, token: u32) -> &[u8] {
                &self.0[token as usize]
            }
            fn bytes(&self, _: u32) -> u64 {
                unreachable!("texts are written out without lengths")
            }
        }
        let pairs = Pairs(tokens, flat);
        let texts = Texts::new(&pairs, &Budget::unlimited());
        for rule in 0..rules {
            let (mut text, mut below) = (Vec::new(), vec![2 + rule]);
            while let Some(symbol) = below.pop() {
                match symbol.checked_sub(2) {
                    None => text.extend_from_slice(pairs.token(symbol)),
                    Some(rule) => {
                        below.extend(pairs.body(rule).rev().map(|place| pairs.symbol(place)));
                    }
                }
            }
            assert_eq!(texts.get(2 + rule), Some(&text[..]), "{rule}");
        }
    }
}
