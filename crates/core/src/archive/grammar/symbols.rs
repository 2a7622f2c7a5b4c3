//! The section `SYMB`: blocks of symbols, decoded on all threads, each independent of the others.
//!
//! Cost: one class and up to 31 raw bits a symbol, and one look-up or two.

use std::ops::Range;

use rayon::prelude::*;

use super::decode::{Items, WHAT};
use super::symbol_class::{self, Meaning, RECENT};
use super::{BLOCK, FREQUENCY_CLASSES};
use crate::archive::rans::{Decoder, DecodingTable, Model, most_values};
use crate::archive::wire::Reader;
use crate::budget::Share;
use crate::error::{Error, Result};
use crate::parallel::map_with;
use crate::spill::SpillVec;
use crate::usize_of;

/// Tasks that are under way before what they gave is taken: some for each thread.
const TASKS_A_THREAD: usize = 8;

/// The items of each frequency class in the order of their introduction, and how many of each class come
/// before each block.
#[derive(Debug)]
struct ByFrequency {
    /// Ordinal and symbol of each: both are wanted, and one look-up gives them.
    items: SpillVec<[u32; 2]>,
    starts: [u32; 2 * FREQUENCY_CLASSES + 1],
    before_block: Vec<[u32; 2 * FREQUENCY_CLASSES]>,
}

impl ByFrequency {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "items are checked to be 32 bits in number"
    )]
    fn new(items: &Items, block_starts: &[u32]) -> Self {
        let (symbols, frequencies) = (&items.symbols[..], &items.frequencies[..]);
        let mut starts = [0_u32; 2 * FREQUENCY_CLASSES + 1];
        for &frequency in frequencies {
            starts[frequency as usize + 1] += 1;
        }
        for class in 1..starts.len() {
            starts[class] += starts[class - 1];
        }
        let mut row = items.symbols.spill().filled([0; 2], frequencies.len());
        let items = &mut row[..];
        let mut counts = [0_u32; 2 * FREQUENCY_CLASSES];
        let mut before_block = Vec::with_capacity(block_starts.len());
        for (ordinal, (&frequency, &symbol)) in frequencies.iter().zip(symbols).enumerate() {
            while block_starts.get(before_block.len()) == Some(&(ordinal as u32)) {
                before_block.push(counts);
            }
            let count = &mut counts[frequency as usize];
            items[(starts[frequency as usize] + *count) as usize] = [ordinal as u32, symbol];
            *count += 1;
        }
        before_block.resize(block_starts.len(), counts);
        Self { items: row, starts, before_block }
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
        let by_frequency = ByFrequency::new(items, &starts);
        let ends = starts.iter().skip(1).copied().chain([introduced as u32]);
        let mut blocks = Vec::with_capacity(starts.len());
        for ((&start, end), length) in starts.iter().zip(ends).zip(lengths) {
            let stream = reader.take(length)?;
            let at = section.len() - reader.rest().len() - stream.len();
            blocks.push(Block { introduces: start..end, stream: at..at + stream.len() });
        }
        reader.finish()?;
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

    /// Decodes at least the first `wanted` symbols, which take memory of `share`.
    pub(super) fn beginning(
        &self,
        section: &[u8],
        items: &Items,
        wanted: usize,
        share: &Share,
    ) -> Result<SpillVec<u32>> {
        let blocks = self.first_with(wanted)..self.blocks.len();
        self.decode(section, items, blocks, share)
    }

    /// Decodes the symbols from `first` on, which take memory of `share`.
    pub(super) fn end(
        &self,
        section: &[u8],
        items: &Items,
        first: usize,
        share: &Share,
    ) -> Result<SpillVec<u32>> {
        let blocks = 0..(self.count - first).div_ceil(BLOCK);
        let before = first - self.places(&blocks).start;
        let mut symbols = self.decode(section, items, blocks, share)?;
        symbols.copy_within(before.., 0);
        symbols.truncate(self.count - first);
        Ok(symbols)
    }

    fn decode(
        &self,
        section: &[u8],
        items: &Items,
        blocks: Range<usize>,
        share: &Share,
    ) -> Result<SpillVec<u32>> {
        let length = self.places(&blocks).len();
        share.grow(size_of::<u32>() as u64 * length as u64, WHAT)?;
        let mut symbols = share.spill().filled(0_u32, length);
        symbols
            .par_rchunks_mut(2 * BLOCK)
            .zip(blocks.into_par_iter().step_by(2))
            .try_for_each(|(symbols, first)| self.decode_pair(section, items, first, symbols))?;
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

    /// Puts other symbols in the place of those of the items.
    pub(super) fn replace(&mut self, items: &mut Items, other: &(dyn Fn(u32) -> u32 + Sync)) {
        let of_items = items.symbols.par_iter_mut();
        let of_frequencies = self.by_frequency.items.par_iter_mut().map(|[_, symbol]| symbol);
        of_items.chain(of_frequencies).with_min_len(BLOCK).for_each(|symbol| {
            *symbol = other(*symbol);
        });
    }

    /// Decodes the first `wanted` symbols in chunks, on all threads. `work` gets each chunk and where
    /// it starts; `take` gets what it gave, in order. Memory: some chunks a thread.
    pub(super) fn for_each_chunk<R: Send, E: From<Error> + Send>(
        &self,
        section: &[u8],
        items: &Items,
        wanted: usize,
        work: &(dyn Fn(usize, &[u32]) -> R + Sync),
        take: &mut dyn FnMut(R) -> Result<(), E>,
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
            done.into_iter().try_for_each(|result| take(result?))?;
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
