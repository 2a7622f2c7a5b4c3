//! The section `SYMX`: the symbols of a grammar, coded adaptively in streams that are decoded side
//! by side.
//!
//! The order of coding and the items are those of `SYMB`; what is new is that a symbol is guessed
//! before it is described. Text is coded from its end, so what *follows* a symbol is known. Under
//! its next two tokens, its next token, and the symbol after the next one, the symbols that stood
//! there before are remembered; a decision says whether it is one of them, and others which. Only
//! if it is none is it described, as in `SYMB`, but by how long ago an item of its group was
//! *referred to*. Each decision is predicted from what came before and from the groups of what
//! follows.
//!
//! The symbols are cut into [`streams`] by their number alone: first a short one of the last rules,
//! then the other rules, then the root. Those of a phase are independent of each other, know the
//! first tokens of the rules of the phases before, and start with what the last stream of the phase
//! before has learnt.
//!
//! Cost: about 0.5 µs a symbol; 27 MB of model at most for each thread, and 10 bytes an item.

mod model;
mod recency;

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;

use model::{Context, Description, Items as ItemLists, Model, NO_GROUP, NOTHING};
use recency::{Introductions, List};

use super::FREQUENCY_CLASSES;
use super::decode::{Layout, WHAT};
use super::encode::Item;
use super::items::Items;
use super::symbol_class::{self, MOST_NEARBY_BITS, RECENT};
use crate::archive::Level;
use crate::archive::integers::bit_length;
use crate::archive::mixing::{BitDecoder, BitEncoder};
use crate::archive::wire::{Reader, put_varint};
use crate::budget::Share;
use crate::cancel::Stage;
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::spill::SpillVec;
use crate::usize_of;
use crate::{CancelFlag, Cancelled};

/// Symbols of a stream, but for the largest grammars.
const STREAM: usize = 1 << 18;
/// Symbols of the first stream of rules, if there are others.
const FIRST_STREAM: usize = 1 << 16;
/// Streams of a phase at the most.
const MOST_STREAMS: usize = 16;

/// The symbols of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stream {
    positions: Range<usize>,
    /// The rules that they are of.
    rules: Range<usize>,
}

/// The streams of each phase, in the order of coding.
#[derive(Debug)]
struct Phases(Vec<Vec<Stream>>);

/// How many streams so many symbols of a phase are cut into.
fn stream_count(symbols: u64) -> u64 {
    symbols.div_ceil(STREAM as u64).min(MOST_STREAMS as u64)
}

/// How many streams can be decoded side by side, of so many symbols in the root and in all rules.
pub(crate) fn streams_side_by_side(root: u64, rules: u64) -> u64 {
    stream_count(root).max(stream_count(rules))
}

/// Cuts symbols into streams, given where rules start and the last one ends.
fn streams(rule_starts: &[u32]) -> Phases {
    let rule_count = rule_starts.len() - 1;
    let (root_end, end) = (rule_starts[0] as usize, rule_starts[rule_count] as usize);
    // The rule whose body has a position, or the first one behind it.
    let rule_at = |position: usize| {
        rule_starts.partition_point(|&start| start as usize <= position).saturating_sub(1)
    };
    let rules = |rules: Range<usize>| Stream {
        positions: rule_starts[rules.start] as usize..rule_starts[rules.end] as usize,
        rules,
    };
    let count = |symbols: usize| stream_count(symbols as u64) as usize;
    // The ends of streams of about equal length, from the last to the first.
    let ends = |start: usize, end: usize| {
        let streams = count(end - start);
        (0..streams).map(move |stream| end - (end - start) * stream / streams)
    };

    let mut phases = Vec::new();
    let mut last = rule_count;
    if end - root_end > STREAM {
        let first = rule_at(end - FIRST_STREAM);
        phases.push(vec![rules(first..rule_count)]);
        last = first;
    }
    let last_end = rule_starts[last] as usize;
    let mut phase = Vec::new();
    for start in ends(root_end, last_end).skip(1).map(rule_at).chain([0]) {
        if start < last {
            phase.push(rules(start..last));
            last = start;
        }
    }
    phases.push(phase);
    let ends: Vec<usize> = ends(0, root_end).chain([0]).collect();
    let root = ends.windows(2).map(|pair| Stream { positions: pair[1]..pair[0], rules: 0..0 });
    phases.push(root.collect());
    phases.retain(|phase| !phase.is_empty());
    Phases(phases)
}

impl Phases {
    fn all(&self) -> impl Iterator<Item = &Stream> {
        self.0.iter().flatten()
    }

    /// Symbols of the longest stream.
    fn longest(&self) -> u64 {
        self.all().map(|stream| stream.positions.len()).max().unwrap_or(0) as u64
    }

    /// Runs a task on each stream, phase by phase, with a model, the part of `symbols` that it has
    /// and the first tokens of rules; at most so many streams at a time.
    fn run<S: Send, T: Send, E: Send>(
        &self,
        (symbols, rule_count): (Option<&mut [u32]>, usize),
        mut inputs: std::vec::IntoIter<S>,
        at_a_time: usize,
        task: impl Fn(&Stream, S, &mut Model, &mut [u32], Heads<'_>) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let mut all = Vec::new();
        let mut learnt = Model::new(self.longest());
        let mut heads = vec![[NOTHING; 2]; rule_count];
        let mut symbols = symbols.unwrap_or_default();
        for phase in &self.0 {
            // Streams go from the end of the symbols and rules to their starts.
            let known_from = phase[0].rules.end;
            let (mut own, known) = heads.split_at_mut(known_from);
            let known = &*known;
            let mut tasks = Vec::new();
            for stream in phase {
                let (rest, part) = match symbols.len() {
                    0 => (Default::default(), Default::default()),
                    _ => std::mem::take(&mut symbols).split_at_mut(stream.positions.start),
                };
                symbols = rest;
                let (rest, rules) = std::mem::take(&mut own).split_at_mut(stream.rules.start);
                own = rest;
                let heads = Heads { own: rules, first: stream.rules.start, known, known_from };
                tasks.push((stream, inputs.next().expect("one for each stream"), part, heads));
            }
            let last = Mutex::new(None);
            let count = tasks.len();
            let mut tasks = tasks.into_iter().enumerate();
            loop {
                let some: Vec<_> = tasks.by_ref().take(at_a_time).collect();
                if some.is_empty() {
                    break;
                }
                let run = |(number, (stream, input, part, heads))| {
                    let mut model: Model = learnt.for_stream();
                    let output = task(stream, input, &mut model, part, heads)?;
                    if number + 1 == count {
                        *last.lock().expect("nobody panics with it") = Some(model);
                    }
                    Ok(output)
                };
                let some: Vec<T> = some.into_par_iter().map(run).collect::<Result<_, E>>()?;
                all.extend(some);
            }
            let last = last.into_inner().expect("nobody panics with it");
            learnt = last.expect("a phase has a stream");
        }
        Ok(all)
    }
}

/// The first two tokens of rules, as far as a stream knows them.
struct Heads<'h> {
    /// Those of the stream, from the rule `first` on.
    own: &'h mut [[u32; 2]],
    first: usize,
    /// Those of the phases before, from the rule `known_from` on.
    known: &'h [[u32; 2]],
    known_from: usize,
}

/// What follows a position of a stream.
struct Following<'l> {
    layout: &'l Layout,
    heads: Heads<'l>,
    positions: Range<usize>,
    /// The body that is being coded, as far as it is in the stream; a rule or document.
    body: Range<usize>,
    number: usize,
    in_rules: bool,
}

impl<'l> Following<'l> {
    fn new(layout: &'l Layout, stream: &Stream, heads: Heads<'l>) -> Self {
        let Stream { positions, rules } = stream.clone();
        let in_rules = !rules.is_empty();
        let number = if in_rules {
            rules.end
        } else {
            layout.document_starts.partition_point(|&start| (start as usize) < positions.end)
        };
        let body = positions.end..positions.end;
        Self { layout, heads, positions, body, number, in_rules }
    }

    /// The first two tokens of a symbol; what is not known stands for itself.
    fn heads(&self, symbol: u32) -> [u32; 2] {
        let Some(rule) = symbol.checked_sub(self.layout.token_count).filter(|_| symbol != NOTHING)
        else {
            return [symbol, NOTHING];
        };
        let rule = rule as usize;
        let heads = match rule.checked_sub(self.heads.known_from) {
            Some(place) => self.heads.known.get(place),
            None => rule.checked_sub(self.heads.first).and_then(|place| self.heads.own.get(place)),
        };
        heads.copied().unwrap_or([symbol; 2])
    }

    /// The body that a position of the stream is in.
    fn find_body(&mut self, position: usize) {
        let starts =
            if self.in_rules { &self.layout.rule_starts } else { &self.layout.document_starts };
        while position < self.body.start {
            self.number -= 1;
            let end = (starts[self.number + 1] as usize).min(self.positions.end);
            self.body = starts[self.number] as usize..end;
        }
    }

    /// The two symbols behind `position`; `symbols` are those of the stream.
    fn behind(&self, symbols: &[u32], position: usize) -> [u32; 2] {
        [1, 2].map(|distance| match position + distance {
            at if at < self.body.end => symbols[at - self.positions.start],
            _ => NOTHING,
        })
    }

    /// What follows `position`, whose body was found; `group` is that of a symbol.
    fn context(&self, [next, second]: [u32; 2], group: impl Fn(u32) -> u8) -> Context {
        let heads = self.heads(next);
        let second_token = match next.checked_sub(self.layout.token_count) {
            Some(_) => heads[1],
            None => self.heads(second)[0],
        };
        let groups =
            [next, second].map(|symbol| if symbol == NOTHING { NO_GROUP } else { group(symbol) });
        Context { tokens: [heads[0], second_token], second_symbol: second, groups }
    }

    /// `symbol` was coded at `position`; if a rule is complete, its first tokens are known.
    fn coded(&mut self, symbol: u32, next: u32, position: usize) {
        if self.in_rules && position == self.body.start {
            let heads = self.heads(symbol);
            let second =
                if symbol < self.layout.token_count { self.heads(next)[0] } else { heads[1] };
            self.heads.own[self.number - self.heads.first] = [heads[0], second];
        }
    }
}

/// Symbols between two looks at whether the work is cancelled: some milliseconds.
const LOOK_UP_EVERY: usize = 1 << 12;

/// How far all streams are.
struct Progress<'f> {
    cancel: &'f CancelFlag,
    stage: Mutex<(Stage<'f>, u64)>,
    total: u64,
}

impl<'f> Progress<'f> {
    fn new(cancel: &'f CancelFlag, work: u64, total: u64) -> Self {
        Self { cancel, stage: Mutex::new((cancel.stage(work), 0)), total }
    }

    /// Some more symbols are coded.
    fn step(&self) -> Result<(), Cancelled> {
        self.cancel.check()?;
        let (stage, done) = &mut *self.stage.lock().expect("nobody panics with it");
        *done += LOOK_UP_EVERY as u64;
        stage.reach(*done, self.total);
        Ok(())
    }
}

/// Frequency classes of items that do not come again once they were referred to.
fn is_spent(group: usize) -> bool {
    group % FREQUENCY_CLASSES < 3
}

/// Symbols after which costs are estimated anew.
const ESTIMATE_EVERY: usize = 1 << 12;

/// Items to an encoder: where each is in its list, and the cheapest way to describe it.
struct Describing<'i> {
    items: &'i [Item],
    lists: Vec<List>,
    /// By ordinals.
    places: Vec<u32>,
    symbol: u32,
    counts: Vec<u32>,
    costs: Vec<f32>,
}

impl Describing<'_> {
    fn introduce(&mut self, item: Item) {
        let place = self.lists[usize::from(item.frequency)].push(item.ordinal);
        self.places.push(place as u32);
    }

    /// What classes cost by what was chosen so far.
    fn estimate(&mut self) {
        let total: u32 = self.counts.iter().sum();
        let cost = |&count: &u32| ((total + 1) as f32 / (count as f32 + 0.3)).log2();
        self.costs = self.counts.iter().map(cost).collect();
    }
}

impl ItemLists for Describing<'_> {
    fn describe(&mut self, recent: &[u32; RECENT]) -> Description {
        let item = self.items[self.symbol as usize];
        let group = usize::from(item.frequency);
        let since = self.lists[group].since(self.places[item.ordinal as usize] as usize);
        let length = since.ilog2();
        let mut class = symbol_class::by_frequency(group, length);
        let mut cost = self.costs[class] + length as f32;
        let way = (RECENT + group) as u32;
        let mut best = Description { way, length, backwards: false, raw: since ^ 1 << length };
        for (way, &other) in recent.iter().enumerate() {
            let distance = item.ordinal.abs_diff(other);
            let length = bit_length(distance.into());
            if length <= MOST_NEARBY_BITS {
                let backwards = item.ordinal < other;
                let other_class = symbol_class::nearby(way, length, backwards);
                let raw_bits = length.saturating_sub(1);
                let other_cost = self.costs[other_class] + raw_bits as f32;
                if other_cost < cost {
                    (class, cost) = (other_class, other_cost);
                    let raw = distance & ((1 << raw_bits) - 1);
                    best = Description { way: way as u32, length, backwards, raw };
                }
            }
        }
        self.counts[class] += 1;
        best
    }

    fn by_frequency(&mut self, group: usize, _: u32) -> Option<u32> {
        let ordinal = self.items[self.symbol as usize].ordinal;
        let (list, place) = (&mut self.lists[group], &mut self.places[ordinal as usize]);
        list.kill(*place as usize);
        if !is_spent(group) {
            *place = list.push(ordinal) as u32;
        }
        Some(ordinal)
    }
}

/// Encodes the symbols; `introduced` are the items in the order of their introduction.
pub(super) fn encode(
    grammar: &Grammar,
    items: &[Item],
    introduced: &[u32],
    cancel: &CancelFlag,
) -> Result<Vec<u8>, Cancelled> {
    cancel.check()?;
    let symbols = grammar.symbols();
    let layout = Layout {
        token_count: grammar.token_count(),
        rule_starts: grammar.rule_starts().to_vec().into(),
        document_starts: grammar.document_starts().to_vec().into(),
    };
    let phases = streams(&layout.rule_starts);
    let mut before = Vec::new();
    let mut next = 0_u32;
    for stream in phases.all() {
        before.push(next);
        for &symbol in symbols[stream.positions.clone()].iter().rev() {
            next += u32::from(items[symbol as usize].ordinal == next);
        }
    }
    let ends: Vec<u32> = before.iter().skip(1).copied().chain([next]).collect();
    let group_of = |&symbol: &u32| items[symbol as usize].frequency;
    let introductions = Introductions::new(introduced.iter().map(group_of));
    let progress = Progress::new(cancel, Level::Dense.encoding_work(), symbols.len() as u64);
    let task = |stream: &Stream, start: u32, model: &mut Model, _: &mut [u32], heads: Heads<'_>| {
        let mut encoder = BitEncoder::new();
        let mut following = Following::new(&layout, stream, heads);
        let part = &symbols[stream.positions.clone()];
        let places = introduced[..start as usize].iter().map(|&item| items[item as usize].rank);
        let mut items = Describing {
            items,
            lists: introductions.lists(start),
            places: places.collect(),
            symbol: 0,
            counts: vec![0; symbol_class::COUNT],
            costs: vec![8.0; symbol_class::COUNT],
        };
        let mut next = start;
        for position in stream.positions.clone().rev() {
            if position % LOOK_UP_EVERY == 0 {
                progress.step()?;
            }
            if position % ESTIMATE_EVERY == 0 {
                items.estimate();
            }
            let symbol = part[position - stream.positions.start];
            let item = items.items[symbol as usize];
            items.symbol = symbol;
            following.find_body(position);
            let behind = following.behind(part, position);
            let context =
                following.context(behind, |symbol| items.items[symbol as usize].frequency);
            let coded = model.symbol(&mut encoder, item.ordinal, next, &context, &mut items);
            debug_assert_eq!(coded, Some(item.ordinal));
            if item.ordinal == next {
                items.introduce(item);
                next += 1;
            }
            following.coded(symbol, behind[0], position);
        }
        Ok(encoder.finish())
    };
    let rules = layout.rule_starts.len() - 1;
    let inputs = before.clone().into_iter();
    let streams: Vec<Vec<u8>> = phases.run((None, rules), inputs, usize::MAX, task)?;
    let mut section = Vec::new();
    put_varint(&mut section, symbols.len() as u64);
    for ((start, end), stream) in before.iter().zip(ends).zip(&streams) {
        put_varint(&mut section, u64::from(end - start));
        put_varint(&mut section, stream.len() as u64);
    }
    for stream in streams {
        section.extend_from_slice(&stream);
    }
    Ok(section)
}

/// Items to a decoder.
struct Finding(Vec<List>);

impl ItemLists for Finding {
    fn describe(&mut self, _: &[u32; RECENT]) -> Description {
        Description::default()
    }

    #[inline(always)]
    fn by_frequency(&mut self, group: usize, since: u32) -> Option<u32> {
        let list = &mut self.0[group];
        let (place, ordinal) = list.find(since)?;
        list.kill(place);
        if !is_spent(group) {
            list.push(ordinal);
        }
        Some(ordinal)
    }
}

/// Symbols in a byte at the most: each is at least one decision that costs 0.0056 bits.
const MOST_PER_BYTE: u64 = 1 << 11;

/// Decodes the symbols of a grammar of this layout. Takes what they need of the first share, and
/// what decoding them needs of the second one; as many streams at a time as that affords.
pub(super) fn decode(
    section: &[u8],
    items: &Items,
    layout: &Layout,
    [share, work]: [&Share; 2],
    cancel: &CancelFlag,
) -> Result<SpillVec<u32>> {
    let mut reader = Reader::new(section, "section SYMX");
    let count = reader.varint()?;
    let expected = layout.symbol_count();
    if count != expected {
        return Err(reader.malformed(format!("{count} symbols, where the rules have {expected}")));
    }
    if count > section.len() as u64 * MOST_PER_BYTE {
        return Err(
            reader.malformed(format!("{count} symbols cannot be in {} bytes", section.len()))
        );
    }
    let phases = streams(&layout.rule_starts);
    let item_count = items.symbols.len();
    let mut parts = Vec::new();
    let mut introduced = 0_u64;
    for _ in phases.all() {
        let start = introduced;
        introduced += reader.bounded(item_count as u64 - introduced, "introductions")?;
        parts.push((start as u32..introduced as u32, reader.varint()?));
    }
    if introduced != item_count as u64 {
        return Err(reader.malformed(format!("{introduced} of {item_count} items occur")));
    }
    let parts: Vec<(Range<u32>, &[u8])> = parts
        .into_iter()
        .map(|(items, length)| Ok((items, reader.take(length)?)))
        .collect::<Result<_>>()?;
    reader.finish()?;

    // The symbols; the group of each symbol, ordinals by groups, and the first tokens of rules.
    let rules = layout.rule_starts.len() - 1;
    share.grow(size_of::<u32>() as u64 * count, WHAT)?;
    work.grow(5 * item_count as u64 + 8 * rules as u64, WHAT)?;
    let at_a_time = affordable(&phases, item_count as u64, work)?;
    let introductions = Introductions::new(items.frequencies.iter().copied());
    let mut groups = vec![0_u8; item_count];
    for (&symbol, &group) in items.symbols.iter().zip(&items.frequencies[..]) {
        groups[symbol as usize] = group;
    }
    let mut symbols = share.spill().filled(0_u32, usize_of(count));
    let progress = Progress::new(cancel, Level::Dense.decoding_work(), count);
    let task = |stream: &Stream,
                (introduced, bytes): (Range<u32>, &[u8]),
                model: &mut Model,
                part: &mut [u32],
                heads: Heads<'_>| {
        let mut decoder = BitDecoder::new(bytes);
        let mut following = Following::new(layout, stream, heads);
        let mut lists = Finding(introductions.lists(introduced.start));
        let mut next = introduced.start;
        for position in stream.positions.clone().rev() {
            if position % LOOK_UP_EVERY == 0 {
                progress.step()?;
            }
            following.find_body(position);
            let behind = following.behind(part, position);
            let context = following.context(behind, |symbol| groups[symbol as usize]);
            let ordinal = model
                .symbol(&mut decoder, NOTHING, next, &context, &mut lists)
                .ok_or_else(|| Error::malformed("section SYMX: a symbol refers to nothing"))?;
            if ordinal == next {
                if next == introduced.end {
                    return Err(Error::malformed("section SYMX: a stream introduces too much"));
                }
                lists.0[usize::from(items.frequencies[ordinal as usize])].push(ordinal);
                next += 1;
            }
            let symbol = items.symbols[ordinal as usize];
            // A rule uses only rules behind it, whose first tokens are known by now.
            if following.in_rules
                && symbol >= layout.token_count
                && (symbol - layout.token_count) as usize <= following.number
            {
                return Err(Error::malformed(
                    "section SYMX: a rule uses one that is not described yet",
                ));
            }
            if decoder.is_exhausted() {
                return Err(Error::malformed("section SYMX: it ends early"));
            }
            part[position - stream.positions.start] = symbol;
            following.coded(symbol, behind[0], position);
        }
        if next != introduced.end {
            return Err(Error::malformed("section SYMX: a stream introduces too little"));
        }
        decoder.finish()
    };
    phases.run((Some(&mut symbols), rules), parts.into_iter(), at_a_time, task)?;
    Ok(symbols)
}

/// Takes what streams need, for as many at a time as there are threads, or as few as it affords.
fn affordable(phases: &Phases, items: u64, work: &Share) -> Result<usize> {
    let longest = phases.longest();
    let model = Model::bytes(longest);
    let most = phases.0.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut streams = most.min(rayon::current_num_threads());
    loop {
        // What was learnt, what the last stream of a phase has learnt, and those that are decoded.
        let bytes = 2 * model + streams as u64 * (model + List::bytes(items + longest));
        match work.grow(bytes, WHAT) {
            Ok(()) => {
                return Ok(if streams < most.min(rayon::current_num_threads()) {
                    streams
                } else {
                    most
                });
            }
            Err(error) if streams == 1 => return Err(error),
            Err(_) => streams /= 2,
        }
    }
}

#[cfg(test)]
mod tests;
