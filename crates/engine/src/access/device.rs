//! Batches of random access on a GPU: the same operations as [`Access::run`] takes, with the same outcomes.
//!
//! Segments are brought to the device once and stay there; those for which there is no room come anew for each batch. Operations are
//! split by segments as the parts of documents are, and what comes back is put together. Single words are looked up, counted and searched on the device; phrases and samples
//! are answered by the processor, in the same call.
//!
//! Cost: bringing a segment there costs its grammar as plain numbers and a pass over its text on the device; a batch costs its requests and
//! results over the bus, and what `tadoc_gpu::access` says.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;
use rayon::prelude::*;
use tadoc_core::archive::journal::Edit;
use tadoc_core::usize_of;
use tadoc_gpu::Device;
use tadoc_gpu::access::{
    ALL, Extract, Extracts, InSequence, Insert, Inserts, OutsideDocument, ResidentText,
    SegmentText, Words, in_sequence,
};
use tadoc_gpu::device::Mark;

use super::batch::{Operation, Outcome};
use super::search::push;
use super::{Access, Part};
use crate::analyzer::Analyzer;
use crate::error::{Error, Result};

/// Of the device's memory, one of so many parts stays free of segments, for batches.
const SHARE_OF_BATCHES: u64 = 8;

/// Of the device's free memory, a batch takes one of so many parts for its results; what makes them takes about as much.
const SHARE_OF_RESULTS: u64 = 4;

/// Bytes that a place of a word takes while searches run.
const BYTES_OF_PLACE: u64 = 20;

/// An archive opened for random access on a device.
#[derive(Debug)]
pub struct DeviceAccess {
    access: Arc<Access>,
    device: Arc<Device>,
    /// The segments that have room.
    segments: Vec<Option<ResidentText>>,
    /// Bytes that were inserted into parts, by their numbers among all parts.
    inserted: HashMap<usize, u64>,
    /// Start and end of what the device did for the last batch.
    spans: Mutex<Vec<(Mark, Mark)>>,
}

fn unsupported(what: &str) -> Error {
    Error::Gpu(tadoc_gpu::Error::Unsupported { what: what.to_owned() })
}

/// What of a batch goes to one segment, each with the number of its operation.
#[derive(Default)]
struct OfSegment<'o> {
    extracts: Vec<(usize, Extract)>,
    counts: Vec<(usize, Asked<'o>)>,
    searches: Vec<(usize, Asked<'o>)>,
}

/// A word, and the place of a document or [`ALL`].
#[derive(Clone, Copy)]
struct Asked<'o> {
    word: &'o [u8],
    document: u32,
}

impl DeviceAccess {
    /// Brings the segments of an archive to a device, as many as have room there beside batches.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the device fails or a segment is more than it can do.
    pub fn new(access: Arc<Access>, device: Arc<Device>) -> Result<Self> {
        let mut own = Self {
            access,
            device,
            segments: Vec::new(),
            inserted: HashMap::new(),
            spans: Mutex::default(),
        };
        for number in 0..own.access.segment_count() {
            let least = own.device.info().memory / SHARE_OF_BATCHES;
            let resident = match own.load(number)? {
                Ok(resident) => {
                    let free = own.device.free_memory()?;
                    (free >= least).then_some(resident)
                }
                Err(tadoc_gpu::Error::TooLittleMemory { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            own.segments.push(resident);
        }
        Ok(own)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Bytes of the device's memory that segments take.
    pub fn memory(&self) -> u64 {
        self.segments.iter().flatten().map(ResidentText::memory).sum()
    }

    /// A segment that stays on the device, if it has room there: for whoever measures what kernels do.
    pub fn resident(&self, number: usize) -> Option<&ResidentText> {
        self.segments[number].as_ref()
    }

    /// The time that the device took for the last batch, by its own clock: from requests that are there to results that are there.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the device fails.
    pub fn device_time(&self) -> Result<Duration> {
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        spans.iter().map(|(start, end)| Ok(end.since(start)?)).sum()
    }

    /// Notes the time that the device takes for a part of a batch.
    fn timed<T>(&self, run: impl FnOnce() -> tadoc_gpu::Result<T>) -> tadoc_gpu::Result<T> {
        let start = self.device.mark()?;
        let result = run()?;
        let end = self.device.mark()?;
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).push((start, end));
        Ok(result)
    }

    /// Forgets the time of the batch before.
    fn start_batch(&self) {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes a segment from the device; it comes anew for each batch that needs it. What was inserted into it is lost.
    pub fn evict(&mut self, number: usize) {
        self.segments[number] = None;
        let parts = &self.access.parts;
        self.inserted.retain(|&part, _| parts[part].segment as usize != number);
    }

    #[expect(clippy::cast_possible_truncation, reason = "a segment has fewer than 2^32 symbols")]
    fn load(&self, number: usize) -> Result<tadoc_gpu::Result<ResidentText>> {
        let segment = self.access.segment(number)?;
        let slices = segment.slices()?;
        let (token_bytes, token_ends) = segment.tokens().all()?.joined();
        let mut word_starts = segment.tokens().map_words(|_, tokens| Some(tokens.start))?;
        word_starts.push(segment.word_token_count());
        let rules = 0..slices.rule_count();
        let rule_starts = rules.into_par_iter().map(|rule| slices.body(rule).start as u32);
        let mut rule_starts: Vec<u32> = rule_starts.collect();
        rule_starts.push(slices.bodies_length() as u32);
        let bodies = (0..slices.bodies_length()).into_par_iter().map(|at| slices.body_symbol(at));
        let root = (0..slices.root_length()).into_par_iter().map(|place| slices.root(place));
        let documents = 0..segment.document_count();
        let document_starts = documents.map(|place| segment.document_root(place).start as u32);
        let document_starts = document_starts.chain([slices.root_length() as u32]);
        let text = SegmentText {
            token_bytes,
            token_ends,
            word_starts: &word_starts,
            rule_starts: &rule_starts,
            bodies: &bodies.collect::<Vec<u32>>(),
            root: &root.collect::<Vec<u32>>(),
            document_starts: &document_starts.collect::<Vec<u32>>(),
            text_bytes: self.access.corpus.summary().segments[number].text_bytes,
        };
        Ok(ResidentText::load(&self.device, &text))
    }

    /// Runs operations and gives their results in the same order; one that fails does not stop the others. Extracts see what was
    /// inserted; after an insert, words can no longer be asked for.
    pub fn run(&self, operations: &[Operation]) -> Vec<Result<Outcome>> {
        self.start_batch();
        let mut results: Vec<Option<Result<Outcome>>> = operations.iter().map(|_| None).collect();
        let words: Vec<Cow<'_, [u8]>> =
            operations.par_iter().map(|operation| self.single_word(operation)).collect();
        let mut segments: Vec<OfSegment> =
            self.segments.iter().map(|_| OfSegment::default()).collect();
        let mut rest = Vec::new();
        for (number, operation) in operations.iter().enumerate() {
            match self.place(operation, number, &words[number], &mut segments) {
                Ok(true) => results[number] = Some(Ok(nothing(operation))),
                Ok(false) => rest.push(number),
                Err(error) => results[number] = Some(Err(error)),
            }
        }
        for (number, of_segment) in segments.iter().enumerate() {
            let Err(error) = self.run_segment(number, of_segment, &mut results) else { continue };
            let (extracts, words) =
                (&of_segment.extracts, [&of_segment.counts, &of_segment.searches]);
            let all = extracts.iter().map(|(operation, _)| *operation);
            let all = all.chain(words.into_iter().flatten().map(|(operation, _)| *operation));
            match error {
                Error::Gpu(error) => {
                    all.for_each(|operation| results[operation] = Some(Err(error.clone().into())));
                }
                // The processor reads the same archive, and tells what is wrong with it.
                _ if self.inserted.is_empty() => rest.extend(all),
                _ => all.for_each(|operation| {
                    let what = "text that cannot be read beside what was inserted";
                    results[operation] = Some(Err(unsupported(what)));
                }),
            }
        }
        rest.sort_unstable();
        rest.dedup();
        let of_processor: Vec<Operation> =
            rest.iter().map(|&number| operations[number].clone()).collect();
        for (number, result) in rest.into_iter().zip(self.access.run(&of_processor)) {
            results[number] = Some(result);
        }
        results.into_iter().map(|result| result.expect("all operations were run")).collect()
    }

    /// The word that an operation asks for, if it is one alone; else nothing.
    fn single_word<'o>(&self, operation: &'o Operation) -> Cow<'o, [u8]> {
        let (Operation::Search { phrase, .. } | Operation::Count { phrase, .. }) = operation else {
            return Cow::Borrowed(&[]);
        };
        if self.access.is_word(phrase) {
            return Cow::Borrowed(phrase);
        }
        match self.access.phrase(phrase, &Analyzer::new()) {
            Ok(phrase) if phrase.terms().len() == 1 => Cow::Owned(phrase.terms()[0].clone()),
            // Whoever answers it tells what is wrong.
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Gives an operation to the segments that it is about; whether that is possible, or the processor has to answer it.
    fn place<'o>(
        &self,
        operation: &Operation,
        number: usize,
        word: &'o [u8],
        segments: &mut [OfSegment<'o>],
    ) -> Result<bool> {
        if let &Operation::Extract { document, offset, length } = operation {
            for (part, start, length) in self.stretches(document, offset, length)? {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a segment on the device has less than 4 GiB"
                )]
                let extract =
                    Extract { document: part.place, offset: start as u32, length: length as u32 };
                segments[part.segment as usize].extracts.push((number, extract));
            }
            return Ok(true);
        }
        if !self.inserted.is_empty() {
            return Err(unsupported("words of a text into which it has inserted"));
        }
        let (Operation::Search { document, .. } | Operation::Count { document, .. }) = operation
        else {
            return Ok(false);
        };
        if word.is_empty() {
            return Ok(false);
        }
        let counts = matches!(operation, Operation::Count { .. });
        let ask = |segment: &mut OfSegment<'o>, document: u32| {
            let row = if counts { &mut segment.counts } else { &mut segment.searches };
            row.push((number, Asked { word, document }));
        };
        match document {
            None => segments.iter_mut().for_each(|segment| ask(segment, ALL)),
            Some(document) => {
                for part in self.access.parts_of_document(*document)? {
                    ask(&mut segments[part.segment as usize], part.place);
                }
            }
        }
        Ok(true)
    }

    /// The parts of some bytes of a document as it is now, each with where they start in it and how many are asked of it.
    fn stretches(&self, document: u32, offset: u64, length: u64) -> Result<Vec<(Part, u64, u64)>> {
        let access = &self.access;
        let parts = access.parts_of_document(document)?;
        let first = access.first_parts[document as usize] as usize;
        let mut stretches = Vec::new();
        let (mut at, mut left, mut bytes) = (offset, length, 0);
        for (part, number) in parts.iter().zip(first..) {
            let of_part = self.length(number);
            bytes += of_part;
            if at < of_part && left > 0 {
                let taken = left.min(of_part - at);
                stretches.push((*part, at, taken));
                left -= taken;
            }
            at = at.saturating_sub(of_part);
        }
        if offset > bytes {
            return Err(access.past_end(document, offset, bytes));
        }
        Ok(stretches)
    }

    /// Bytes of a part as it is now.
    fn length(&self, part: usize) -> u64 {
        self.access.parts[part].bytes + self.inserted.get(&part).copied().unwrap_or(0)
    }

    /// Runs what goes to one segment, which is loaded if it is not there.
    fn run_segment(
        &self,
        number: usize,
        of_segment: &OfSegment,
        results: &mut [Option<Result<Outcome>>],
    ) -> Result<()> {
        let OfSegment { extracts, counts, searches } = of_segment;
        if extracts.is_empty() && counts.is_empty() && searches.is_empty() {
            return Ok(());
        }
        let loaded;
        let resident = match &self.segments[number] {
            Some(resident) => resident,
            None => {
                loaded = self.load(number)??;
                &loaded
            }
        };
        let most = self.device.free_memory()? / SHARE_OF_RESULTS;
        for (range, _) in rounds(extracts.iter().map(|(_, extract)| extract.length.into()), most) {
            self.run_extracts(resident, &extracts[range], results)?;
        }
        if !counts.is_empty() {
            let counted = self.count(resident, counts)?;
            for ((operation, _), count) in counts.iter().zip(counted) {
                if let Some(Ok(Outcome::Count(sum))) = &mut results[*operation] {
                    *sum += u64::from(count);
                }
            }
        }
        if !searches.is_empty() {
            let counted = self.count(resident, searches)?;
            let places = counted.iter().map(|&count| count.into());
            for (range, found) in rounds(places, (most / BYTES_OF_PLACE).min(u32::MAX.into())) {
                if found > 0 {
                    self.run_searches(number, resident, &searches[range], results)?;
                }
            }
        }
        Ok(())
    }

    fn run_extracts(
        &self,
        resident: &ResidentText,
        extracts: &[(usize, Extract)],
        results: &mut [Option<Result<Outcome>>],
    ) -> tadoc_gpu::Result<()> {
        let requests: Vec<Extract> = extracts.iter().map(|(_, extract)| *extract).collect();
        let requests = Extracts::upload(&self.device, &requests)?;
        let (bytes, starts) = self.timed(|| resident.extract(&requests))?.download()?;
        for ((operation, _), ends) in extracts.iter().zip(starts.windows(2)) {
            let found = &bytes[usize_of(ends[0])..usize_of(ends[1])];
            if let Some(Ok(Outcome::Bytes(into))) = &mut results[*operation] {
                into.extend_from_slice(found);
            }
        }
        Ok(())
    }

    fn words(&self, asked: &[(usize, Asked<'_>)]) -> tadoc_gpu::Result<Words> {
        Words::upload(&self.device, asked.iter().map(|(_, asked)| (asked.word, asked.document)))
    }

    fn count(
        &self,
        resident: &ResidentText,
        asked: &[(usize, Asked<'_>)],
    ) -> tadoc_gpu::Result<Vec<u32>> {
        let words = self.words(asked)?;
        self.timed(|| resident.count(&words))?.download()
    }

    fn run_searches(
        &self,
        number: usize,
        resident: &ResidentText,
        asked: &[(usize, Asked<'_>)],
        results: &mut [Option<Result<Outcome>>],
    ) -> Result<()> {
        let words = self.words(asked)?;
        let found = self.timed(|| resident.search(&words, &resident.count(&words)?))?;
        let (places, starts) = found.download()?;
        let parts = self.access.parts_of_segment(number);
        let lists: Vec<Vec<(u32, Vec<u64>)>> = starts
            .par_windows(2)
            .map(|ends| by_documents(&places[usize_of(ends[0])..usize_of(ends[1])], parts))
            .collect();
        for ((operation, _), lists) in asked.iter().zip(lists) {
            if let Some(Ok(Outcome::Offsets(into))) = &mut results[*operation] {
                lists.into_iter().for_each(|(document, offsets)| push(into, document, offsets));
            }
        }
        Ok(())
    }

    /// Makes inserts and appends whose offsets all mean the text before them, on the device alone: extracts from then on see them. Documents are numbers
    /// in [`Access::documents`]. If one of them is not possible, or the device fails, none is made.
    ///
    /// # Errors
    /// [`Error::BadChoice`], [`Error::OffsetPastEnd`]; [`Error::Gpu`] if a segment has no room to stay on the device, for other edits than these, and what the device
    /// gives.
    pub fn edit_together(&mut self, edits: &[Edit<'_>]) -> Result<()> {
        let mut of_segments: Vec<Vec<(usize, Insert<'_>)>> = vec![Vec::new(); self.segments.len()];
        for edit in edits {
            let (document, offset, text) = as_insert(edit)?;
            let (part, offset) = self.part_of_insert(document, offset)?;
            let Part { segment, place, .. } = self.access.parts[part];
            if self.segments[segment as usize].is_none() {
                return Err(unsupported("inserts into a segment that has no room to stay there"));
            }
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a segment on the device has less than 4 GiB"
            )]
            let offset = offset.map(|offset| offset as u32);
            of_segments[segment as usize].push((part, Insert { document: place, offset, text }));
        }
        self.start_batch();
        // Nothing is changed before all segments have what becomes of them.
        let (mut made, mut longer) = (Vec::new(), Vec::new());
        for (number, inserts) in of_segments.into_iter().enumerate() {
            let Some(segment) = self.segments[number].as_ref().filter(|_| !inserts.is_empty())
            else {
                continue;
            };
            let (parts, inserts): (Vec<usize>, Vec<Insert<'_>>) = inserts.into_iter().unzip();
            let uploaded = Inserts::upload(&self.device, &inserts)?;
            let inserted = self.timed(|| segment.inserted(&uploaded))?;
            made.push((number, inserted));
            let lengths = inserts.into_iter().map(|insert| insert.text.len() as u64);
            longer.extend(parts.into_iter().zip(lengths));
        }
        for (number, inserted) in made {
            self.segments[number].as_mut().expect("it has inserts").take(inserted);
        }
        for (part, bytes) in longer {
            *self.inserted.entry(part).or_default() += bytes;
        }
        Ok(())
    }

    /// Makes inserts and appends in sequence, each of which sees those before it; else as [`DeviceAccess::edit_together`].
    ///
    /// # Errors
    /// As [`DeviceAccess::edit_together`].
    pub fn edit_in_sequence(&mut self, edits: &[Edit<'_>]) -> Result<()> {
        let mut inserts = Vec::with_capacity(edits.len());
        for edit in edits {
            let insert = as_insert(edit)?;
            self.access.parts_of_document(insert.0)?;
            inserts.push(insert);
        }
        let together = in_sequence(&inserts, |document| self.bytes(document));
        let together = together.map_err(|OutsideDocument { number, bytes }| {
            let (document, offset, _) = inserts[number];
            self.access.past_end(document, offset.unwrap_or(bytes), bytes)
        })?;
        let edits: Vec<Edit<'_>> = together
            .iter()
            .map(|(document, offset, text)| Edit::Insert {
                document: *document,
                offset: *offset,
                text,
            })
            .collect();
        self.edit_together(&edits)
    }

    /// Bytes of a document as it is now.
    fn bytes(&self, document: u32) -> u64 {
        let parts = &self.access.first_parts[document as usize..document as usize + 2];
        (parts[0]..parts[1]).map(|part| self.length(part as usize)).sum()
    }

    /// The part into which text is inserted, and where; `None` for its end.
    fn part_of_insert(&self, document: u32, offset: Option<u64>) -> Result<(usize, Option<u64>)> {
        let parts = self.access.parts_of_document(document)?.len();
        let first = self.access.first_parts[document as usize] as usize;
        let Some(mut at) = offset else { return Ok((first + parts - 1, None)) };
        // At the start of a part and not at the end of the one before, and at the very end where appends are: what is put in one place
        // stays in order.
        let (mut bytes, mut found) = (0, None);
        for part in first..first + parts {
            let of_part = self.length(part);
            bytes += of_part;
            if at < of_part || (at == of_part && part + 1 == first + parts) {
                found = found.or(Some((part, Some(at))));
            }
            at = at.saturating_sub(of_part);
        }
        let found = found.filter(|_| offset <= Some(bytes));
        found.ok_or_else(|| self.access.past_end(document, offset.unwrap_or(0), bytes))
    }
}

/// An edit that puts text somewhere.
fn as_insert<'t>(edit: &Edit<'t>) -> Result<InSequence<'t>> {
    match *edit {
        Edit::Insert { document, offset, text } => Ok((document, Some(offset), text)),
        Edit::Append { document, text } => Ok((document, None, text)),
        _ => Err(unsupported("edits that are neither inserts nor appends")),
    }
}

/// What an operation has found before any segment was asked.
fn nothing(operation: &Operation) -> Outcome {
    match operation {
        Operation::Extract { .. } => Outcome::Bytes(Vec::new()),
        Operation::Search { .. } => Outcome::Offsets(Vec::new()),
        Operation::Count { .. } => Outcome::Count(0),
        Operation::Sample { .. } => Outcome::Words(Vec::new()),
    }
}

/// Cuts requests into runs whose sizes are at most `most` together, or of one request alone; each with the sum of its sizes.
fn rounds(sizes: impl Iterator<Item = u64>, most: u64) -> Vec<(Range<usize>, u64)> {
    let mut rounds: Vec<(Range<usize>, u64)> = Vec::new();
    for (number, size) in sizes.enumerate() {
        match rounds.last_mut() {
            Some((range, sum)) if *sum + size <= most => {
                range.end = number + 1;
                *sum += size;
            }
            _ => rounds.push((number..number + 1, size)),
        }
    }
    rounds
}

/// Places in the text of a segment, ascending, as offsets in documents.
fn by_documents(places: &[u32], parts: &[Part]) -> Vec<(u32, Vec<u64>)> {
    let (mut found, mut places, mut parts) = (Vec::new(), places, parts);
    while let Some(&first) = places.first() {
        let behind = parts.partition_point(|part| part.text_start + part.bytes <= first.into());
        let Some((part, rest)) = parts[behind..].split_first() else { break };
        let end = places.partition_point(|&place| u64::from(place) < part.text_start + part.bytes);
        let offsets =
            places[..end].iter().map(|&place| u64::from(place) - part.text_start + part.offset);
        push(&mut found, part.document, offsets.collect());
        (places, parts) = (&places[end..], rest);
    }
    found
}
