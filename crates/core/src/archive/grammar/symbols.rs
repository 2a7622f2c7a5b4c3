//! The section `SYMB`: blocks of symbols, decoded on all threads, each independent of the others.
//!
//! Cost: one class and up to 31 raw bits a symbol, and one look-up or two.

use std::ops::Range;

use rayon::prelude::*;

use super::decode::WHAT;
use super::items::Items;
use super::symbol_class::{self, Meaning, RECENT};
use super::{BLOCK, FREQUENCY_CLASSES};
use crate::archive::rans::{Decoder, DecodingTable, Model, most_values};
use crate::archive::wire::Reader;
use crate::budget::Share;
use crate::error::{Error, Result};
use crate::parallel::{map_with, split};
use crate::spill::SpillVec;
use crate::usize_of;

/// Stretches of blocks whose items are sorted side by side.
const SORTED_AT_ONCE: usize = 64;
/// Tasks that are under way before what they gave is taken: some for each thread.
const TASKS_A_THREAD: usize = 8;

/// The items of each frequency class in the order of their introduction, and how many of each class come
/// before each block.
#[derive(Debug)]
struct ByFrequency {
    /// Ordinal and symbol of each: both are wanted, and one look-up gives them.
    items: SpillVec<[u32; 2]>,
    starts: [u32; 2 * FREQUENCY_CLASSES + 1],
    before_block: Vec<Counts>,
}

/// A number for each frequency class.
type Counts = [u32; 2 * FREQUENCY_CLASSES];

fn count(frequencies: &[u8]) -> Counts {
    let mut counts = [0; 2 * FREQUENCY_CLASSES];
    frequencies.iter().for_each(|&class| counts[usize::from(class)] += 1);
    counts
}

impl ByFrequency {
    /// Sorts items by frequency class: stretches of blocks are counted side by side, and then put in
    /// place, each into rows of its own.
    fn new(items: &Items, introduced: &[Range<u32>]) -> Self {
        let (symbols, frequencies) = (&items.symbols[..], &items.frequencies[..]);
        let stretches: Vec<&[Range<u32>]> =
            introduced.chunks(introduced.len().div_ceil(SORTED_AT_ONCE).max(1)).collect();
        let items_of = |stretch: &[Range<u32>]| {
            let first = stretch.first().map_or(0, |block| block.start);
            first..stretch.last().map_or(first, |block| block.end)
        };
        let counts: Vec<Counts> = stretches
            .par_iter()
            .map(|stretch| {
                let Range { start, end } = items_of(stretch);
                count(&frequencies[start as usize..end as usize])
            })
            .collect();
        let mut starts = [0_u32; 2 * FREQUENCY_CLASSES + 1];
        for class in 0..2 * FREQUENCY_CLASSES {
            let of_class: u32 = counts.iter().map(|counts| counts[class]).sum();
            starts[class + 1] = starts[class] + of_class;
        }
        let mut row = items.symbols.spill().filled([0; 2], frequencies.len());
        let lengths = (0..2 * FREQUENCY_CLASSES)
            .flat_map(|class| counts.iter().map(move |counts| counts[class] as usize));
        let mut rows: Vec<Vec<&mut [[u32; 2]]>> = stretches.iter().map(|_| Vec::new()).collect();
        for (number, stretch_of_class) in split(&mut row, lengths).into_iter().enumerate() {
            rows[number % stretches.len()].push(stretch_of_class);
        }
        let mut before = Vec::with_capacity(stretches.len());
        let mut sums = [0; 2 * FREQUENCY_CLASSES];
        for counts in &counts {
            before.push(sums);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let before_block: Vec<Vec<Counts>> = rows
            .into_par_iter()
            .zip(before)
            .zip(&stretches)
            .map(|((mut rows, before), stretch)| {
                let mut counts = [0_u32; 2 * FREQUENCY_CLASSES];
                let mut of_blocks = Vec::with_capacity(stretch.len());
                for block in *stretch {
                    of_blocks.push(std::array::from_fn(|class| before[class] + counts[class]));
                    for ordinal in block.clone() {
                        let class = usize::from(frequencies[ordinal as usize]);
                        let count = &mut counts[class];
                        rows[class][*count as usize] = [ordinal, symbols[ordinal as usize]];
                        *count += 1;
                    }
                }
                of_blocks
            })
            .collect();
        Self { items: row, starts, before_block: before_block.concat() }
    }
}

/// The blocks of a section, ready to be decoded. The first block has the last symbols.
#[derive(Debug)]
pub(super) struct Blocks {
    /// How many symbols there are.
    count: usize,
    table: DecodingTable,
    blocks: Vec<Block>,
    by_frequency: ByFrequency,
}

/// A block: the items that it introduces, and where its stream is in the section.
#[derive(Debug, Clone)]
struct Block {
    introduces: Range<u32>,
    stream: Range<usize>,
}

impl Blocks {
    /// Reads where the blocks are, and sorts the items. What this needs is of `work`.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more are introduced than there are items"
    )]
    pub(super) fn open(section: &[u8], items: &Items, expected: u64, work: &Share) -> Result<Self> {
        let mut reader = Reader::new(section, "section SYMB");
        let count = reader.varint()?;
        if count != expected {
            return Err(
                reader.malformed(format!("{count} symbols, where the rules have {expected}"))
            );
        }
        if count > most_values(section.len()) {
            return Err(
                reader.malformed(format!("{count} symbols cannot be in {} bytes", section.len()))
            );
        }
        // For each block its stream and the items before it.
        work.grow(count.div_ceil(BLOCK as u64) * (2 * FREQUENCY_CLASSES as u64 * 4 + 64), WHAT)?;
        let count = usize_of(count);
        let model = Model::read(&mut reader, symbol_class::COUNT)?;
        if let Some(class) = model.classes().find(|&class| !symbol_class::is_used(class)) {
            return Err(reader.malformed(format!("class {class} has no meaning")));
        }
        let table = model.decoding_table();
        let mut introduced = 0_u64;
        let mut starts = Vec::new();
        let mut lengths = Vec::new();
        for _ in 0..count.div_ceil(BLOCK) {
            starts.push(introduced as u32);
            let left = items.symbols.len() as u64 - introduced;
            introduced += reader.bounded(left, "introductions")?;
            lengths.push(reader.varint()?);
        }
        if introduced != items.symbols.len() as u64 {
            return Err(
                reader.malformed(format!("{introduced} of {} items occur", items.symbols.len()))
            );
        }
        let ends = starts.iter().skip(1).copied().chain([introduced as u32]);
        let introduced: Vec<Range<u32>> =
            starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
        let mut blocks = Vec::with_capacity(starts.len());
        for (introduces, length) in introduced.iter().zip(lengths) {
            let stream = reader.take(length)?;
            let at = section.len() - reader.rest().len() - stream.len();
            let introduces = introduces.clone();
            blocks.push(Block { introduces, stream: at..at + stream.len() });
        }
        reader.finish()?;
        let by_frequency = ByFrequency::new(items, &introduced);
        Ok(Self { count, table, blocks, by_frequency })
    }

    /// The first block of those that have any of the first `wanted` symbols.
    fn first_with(&self, wanted: usize) -> usize {
        (self.count - wanted) / BLOCK
    }

    /// The places of the symbols of some blocks.
    fn places(&self, blocks: &Range<usize>) -> Range<usize> {
        self.count - (blocks.end * BLOCK).min(self.count)..self.count - blocks.start * BLOCK
    }

    /// Bytes of the streams that have the symbols of a range.
    pub(super) fn bytes_of(&self, wanted: Range<usize>) -> u64 {
        let blocks = (self.count - wanted.end) / BLOCK..(self.count - wanted.start).div_ceil(BLOCK);
        self.blocks[blocks].iter().map(|block| block.stream.len() as u64).sum()
    }

    /// Decodes the symbols of a range, which take memory of `share`.
    pub(super) fn decode(
        &self,
        section: &[u8],
        items: &Items,
        wanted: Range<usize>,
        share: &Share,
    ) -> Result<SpillVec<u32>> {
        share.grow(size_of::<u32>() as u64 * wanted.len() as u64, WHAT)?;
        let mut symbols = share.spill().filled(0_u32, wanted.len());
        // From the beginning of the text, which is in the last blocks.
        let blocks = (self.count - wanted.end) / BLOCK..(self.count - wanted.start).div_ceil(BLOCK);
        let pairs: Vec<usize> = blocks.clone().step_by(2).rev().collect();
        let places = |first: usize| self.places(&(first..blocks.end.min(first + 2)));
        let is_wanted = |first: usize| {
            let places = places(first);
            places.start.max(wanted.start)..places.end.min(wanted.end)
        };
        let rows = split(&mut symbols, pairs.iter().map(|&first| is_wanted(first).len()));
        rows.into_par_iter().zip(&pairs).try_for_each(|(row, &first)| {
            let (places, is_wanted) = (places(first), is_wanted(first));
            if places == is_wanted {
                return self.decode_pair(section, items, first, row);
            }
            // Of the blocks at either end, others want the rest.
            let mut whole = vec![0; places.len()];
            self.decode_pair(section, items, first, &mut whole)?;
            let skipped = is_wanted.start - places.start;
            row.copy_from_slice(&whole[skipped..skipped + is_wanted.len()]);
            Ok(())
        })?;
        Ok(symbols)
    }

    /// Decodes a block, and the one behind it if there are as many symbols.
    fn decode_pair(
        &self,
        section: &[u8],
        items: &Items,
        first: usize,
        symbols: &mut [u32],
    ) -> Result<()> {
        let start = |number| BlockDecoder::new(section, items, self, number);
        if symbols.len() <= BLOCK {
            return decode_one(start(first)?, symbols);
        }
        let (behind, last) = symbols.split_at_mut(symbols.len() - BLOCK);
        decode_two([start(first)?, start(first + 1)?], [last, behind])
    }

    /// Puts other symbols in the place of those of the items. Rules are in order among them, and
    /// items of one class in the order of all, so both passes go on in few rows at a time.
    pub(super) fn replace(&mut self, items: &mut Items, other: impl Fn(u32) -> u32 + Sync) {
        items.symbols.par_chunks_mut(BLOCK).for_each(|symbols| {
            symbols.iter_mut().for_each(|symbol| *symbol = other(*symbol));
        });
        let symbols = &items.symbols[..];
        self.by_frequency.items.par_chunks_mut(BLOCK).for_each(|items| {
            items.iter_mut().for_each(|[ordinal, symbol]| *symbol = symbols[*ordinal as usize]);
        });
    }

    /// Decodes the first `wanted` symbols in chunks, on all threads. `work` gets each chunk and where
    /// it starts; `take` gets what it gave for some chunks a thread, in order. Memory: these.
    pub(super) fn for_each_chunk<R: Send, E: From<Error> + Send>(
        &self,
        section: &[u8],
        items: &Items,
        wanted: usize,
        work: &(dyn Fn(usize, &[u32]) -> R + Sync),
        take: &mut dyn FnMut(Vec<R>) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self.first_with(wanted);
        // From the beginning of the text, which is in the last blocks.
        let pairs: Vec<usize> = (first..self.blocks.len()).step_by(2).rev().collect();
        for pairs in pairs.chunks(TASKS_A_THREAD * rayon::current_num_threads()) {
            let done = map_with(&Vec::new, pairs.len(), &|symbols: &mut Vec<u32>, pair| {
                let blocks = pairs[pair]..self.blocks.len().min(pairs[pair] + 2);
                let places = self.places(&blocks);
                symbols.clear();
                symbols.resize(places.len(), 0);
                self.decode_pair(section, items, blocks.start, symbols)?;
                symbols.truncate(wanted - places.start);
                Ok::<_, Error>(work(places.start, symbols))
            });
            take(done.into_iter().collect::<Result<_>>()?)?;
        }
        Ok(())
    }
}

/// Decodes two blocks in turns: while one waits for its last word, the other goes on. The first has at
/// least as many symbols as the second.
fn decode_two(decoders: [BlockDecoder<'_>; 2], symbols: [&mut [u32]; 2]) -> Result<()> {
    let [mut first, mut second] = decoders;
    let [first_symbols, second_symbols] = symbols;
    let (alone, beside) = first_symbols.split_at_mut(first_symbols.len() - second_symbols.len());
    for (one, other) in beside.rchunks_mut(GROUP).zip(second_symbols.rchunks_mut(GROUP)) {
        for place in 0..one.len() {
            first.step(place)?;
            second.step(place)?;
        }
        first.resolve(one)?;
        second.resolve(other)?;
    }
    second.finish()?;
    decode_one(first, alone)
}

fn decode_one(mut decoder: BlockDecoder<'_>, symbols: &mut [u32]) -> Result<()> {
    for group in symbols.rchunks_mut(GROUP) {
        for place in 0..group.len() {
            decoder.step(place)?;
        }
        decoder.resolve(group)?;
    }
    decoder.finish()
}

/// Symbols whose items are looked up together: so many misses of the cache are one wait.
const GROUP: usize = 32;

/// One block on its way.
struct BlockDecoder<'a> {
    decoder: Decoder<'a>,
    table: &'a DecodingTable,
    symbols: &'a [u32],
    frequencies: &'a [u8],
    /// As [`ByFrequency`].
    by_frequency: &'a [[u32; 2]],
    starts: &'a [u32; 2 * FREQUENCY_CLASSES + 1],
    /// How many items of each frequency class were introduced.
    introduced: [u32; 2 * FREQUENCY_CLASSES],
    /// The item that is introduced next, and the first one that this block does not introduce.
    next: u32,
    end: u32,
    /// Where the items of the group are by frequency.
    places: [u32; GROUP],
    /// Those that are nearby instead.
    nearby: [Nearby; GROUP],
    nearby_count: usize,
    /// Ordinals and symbols of the last items before the group, and of those of the group.
    items: [[u32; 2]; RECENT + GROUP],
}

/// An item that is so far from the one that was so many before it.
#[derive(Debug, Clone, Copy, Default)]
struct Nearby {
    /// Its place in the group, and that of the other one: [`RECENT`] are before the group.
    place: u8,
    from: u8,
    /// What is added to the ordinal, modulo 2^32, and the first that it cannot be.
    distance: u32,
    next: u32,
}

impl<'a> BlockDecoder<'a> {
    /// Begins with the block of this number.
    fn new(
        section: &'a [u8],
        items: &'a Items,
        Blocks { table, blocks, by_frequency, .. }: &'a Blocks,
        number: usize,
    ) -> Result<Self> {
        let Block { introduces, stream } = &blocks[number];
        Ok(Self {
            decoder: Decoder::new(&section[stream.clone()])?,
            table,
            symbols: &items.symbols,
            frequencies: &items.frequencies,
            by_frequency: &by_frequency.items,
            starts: &by_frequency.starts,
            introduced: by_frequency.before_block[number],
            next: introduces.start,
            end: introduces.end,
            places: [0; GROUP],
            nearby: [Nearby::default(); GROUP],
            nearby_count: 0,
            items: [[0; 2]; RECENT + GROUP],
        })
    }

    /// Reads where the next item is, at this place of the group.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in a group are small numbers")]
    fn step(&mut self, place: usize) -> Result<()> {
        match symbol_class::meaning(self.decoder.class(self.table)) {
            Meaning::Introduction => {
                if self.next >= self.end {
                    return Err(too_much());
                }
                let frequency = self.frequencies[self.next as usize] as usize;
                // Items of a class are in the order of their introduction.
                self.places[place] = self.starts[frequency] + self.introduced[frequency];
                self.introduced[frequency] += 1;
                self.next += 1;
            }
            Meaning::Nearby { recent, bits, backwards } => {
                let distance = self.decoder.below_top_bit(bits);
                let distance = if backwards { distance.wrapping_neg() } else { distance };
                self.nearby[self.nearby_count] = Nearby {
                    place: place as u8,
                    from: (place + RECENT - 1 - recent) as u8,
                    distance,
                    next: self.next,
                };
                self.nearby_count += 1;
            }
            Meaning::ByFrequency { frequency, bits } => {
                let since = 1 << bits | self.decoder.bits(bits);
                let count = self.introduced[frequency];
                if since > count {
                    return Err(nothing());
                }
                self.places[place] = self.starts[frequency] + count - since;
            }
        }
        Ok(())
    }

    /// Looks up the items of a group, whose symbols follow each other from the last to the first.
    #[inline(always)]
    fn resolve(&mut self, symbols: &mut [u32]) -> Result<()> {
        let (by_frequency, length) = (self.by_frequency, symbols.len());
        for (item, &place) in self.items[RECENT..].iter_mut().zip(&self.places[..length]) {
            // A place of one that is nearby is of no use, and may be left from another group.
            *item = by_frequency.get(place as usize).copied().unwrap_or_default();
        }
        for nearby in &self.nearby[..self.nearby_count] {
            let [from, _] = self.items[nearby.from as usize];
            let ordinal = from.wrapping_add(nearby.distance);
            if ordinal >= nearby.next {
                return Err(nothing());
            }
            self.items[RECENT + nearby.place as usize] = [ordinal, self.symbols[ordinal as usize]];
        }
        self.nearby_count = 0;
        for (symbol, item) in symbols.iter_mut().rev().zip(&self.items[RECENT..]) {
            *symbol = item[1];
        }
        self.items.copy_within(length..length + RECENT, 0);
        Ok(())
    }

    fn finish(self) -> Result<()> {
        if self.next != self.end {
            return Err(Error::malformed("section SYMB: a block introduces too little"));
        }
        self.decoder.finish()
    }
}

#[cold]
fn nothing() -> Error {
    Error::malformed("section SYMB: a symbol refers to nothing")
}

#[cold]
fn too_much() -> Error {
    Error::malformed("section SYMB: a block introduces too much")
}
