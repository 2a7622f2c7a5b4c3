//! From a segment's grammar to what operations need: the launch code of `kernels/text.c`.
//!
//! Rules are done level by level: lengths from the lowest, which have no rules in them, how often they occur from the highest. Cost: two launches a
//! level, two sorts of the symbols of the grammar, and for the documents of words the words of the text, a bounded number at a time, sorted.

use std::sync::Arc;

use super::pieces::Pieces;
use super::{ResidentText, SegmentText};
use crate::device::{Buffer, Device, Kernel, Module, groups_for};
use crate::error::{Error, Result};
use crate::primitives::scan;
use crate::primitives::sort::{Keys, Order, Rows, sort};
use crate::tuning::{POSTINGS_AT_ONCE, SAMPLE_BYTES, WINDOW_BYTES};

/// The kernels.
pub static MODULE: Module = Module {
    name: "text",
    source: concat!(include_str!("../../kernels/segment.h"), include_str!("../../kernels/text.c")),
};

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

const TOKEN_LENGTHS: Kernel = kernel("text_token_lengths");
const WORDS_OF_TOKENS: Kernel = kernel("text_words_of_tokens");
const RULE_LENGTHS: Kernel = kernel("text_rule_lengths");
const ROOT_LENGTHS: Kernel = kernel("text_root_lengths");
const SAMPLES: Kernel = kernel("text_samples");
const DOCUMENT_OFFSETS: Kernel = kernel("text_document_offsets");
const USES: Kernel = kernel("text_uses");
const STARTS: Kernel = kernel("text_starts");
const ROOT_WEIGHTS: Kernel = kernel("text_root_weights");
const RULE_WEIGHTS: Kernel = kernel("text_rule_weights");
const USE_WEIGHTS: Kernel = kernel("text_use_weights");
const WEIGHTS: Kernel = kernel("text_weights");
const WORD_TABLE: Kernel = kernel("text_word_table");
const COUNT_WORDS: Kernel = kernel("text_count_words");
const FILL_WORDS: Kernel = kernel("text_fill_words");
const HEADS: Kernel = kernel("text_heads");
const RUNS: Kernel = kernel("text_runs");
const RUN_LENGTHS: Kernel = kernel("text_run_lengths");

/// Bits that numbers below `count` need.
pub(super) fn bits_for(count: u64) -> u32 {
    u64::BITS - count.saturating_sub(1).leading_zeros()
}

/// Rules by levels, those without rules in them first.
struct Levels {
    order: Vec<u32>,
    /// Where each level ends in `order`.
    ends: Vec<u32>,
}

impl Levels {
    /// One pass over the bodies, from the last rule to the first.
    fn new(text: &SegmentText<'_>) -> Self {
        let (rules, tokens) = (text.rules(), text.tokens());
        let mut levels = vec![0_u32; rules];
        let mut sizes: Vec<u32> = Vec::new();
        for rule in (0..rules).rev() {
            let body = text.rule_starts[rule] as usize..text.rule_starts[rule + 1] as usize;
            let below = text.bodies[body]
                .iter()
                .filter_map(|&symbol| (symbol as usize).checked_sub(tokens));
            let level = below.map(|child| levels[child] + 1).max().unwrap_or(0);
            levels[rule] = level;
            if sizes.len() <= level as usize {
                sizes.resize(level as usize + 1, 0);
            }
            sizes[level as usize] += 1;
        }
        let ends = sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        let ends: Vec<u32> = ends.collect();
        let mut next: Vec<u32> = ends.iter().zip(&sizes).map(|(end, size)| end - size).collect();
        let mut order = vec![0; rules];
        for (rule, &level) in (0..).zip(&levels) {
            order[next[level as usize] as usize] = rule;
            next[level as usize] += 1;
        }
        Self { order, ends }
    }

    /// The first rule of each level in `order`, and how many there are.
    fn ranges(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + '_ {
        (0..self.ends.len()).map(|level| {
            let first = if level == 0 { 0 } else { self.ends[level - 1] };
            (first, self.ends[level] - first)
        })
    }
}

impl ResidentText {
    /// Bytes of device memory that loading a segment needs at the most, what is given back afterwards included.
    pub fn needed(text: &SegmentText<'_>) -> u64 {
        let count = |length: usize| length as u64;
        let (tokens, rules) = (count(text.tokens()), count(text.rules()));
        let (bodies, root) = (count(text.bodies.len()), count(text.root.len()));
        let (words, documents) = (count(text.words()), count(text.documents()));
        // No text has more words than bytes, nor more than one document a word.
        let occurrences = text.text_bytes.min(POSTINGS_AT_ONCE as u64);
        let postings = text.text_bytes / 2;
        // Rows of starts have an end, and none is quite empty.
        128 + count(text.token_bytes.len())
            + 4 * (4 * tokens + 7 * rules + 3 * words + 6 * documents)
            + 8 * rules
            + 4 * (3 * bodies + 2 * root)
            // Uses with the sums of what is before them, and while they are sorted their symbols, all twice.
            + 4 * 6 * (bodies + root)
            + 4 * (text.text_bytes / u64::from(SAMPLE_BYTES) + 2)
            + 8 * words.next_power_of_two()
            + 8 * postings
            + 32 * occurrences
            + 8 * text.text_bytes / u64::from(WINDOW_BYTES)
    }

    /// Brings a segment to the device and makes what operations need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a segment of 4 GiB of text or more, [`Error::TooLittleMemory`] if it does not fit.
    ///
    /// # Panics
    /// If the rows of `text` do not belong together.
    pub fn load(device: &Arc<Device>, text: &SegmentText<'_>) -> Result<Self> {
        let unsupported = |what: &str| Error::Unsupported { what: what.to_owned() };
        let symbols = text.bodies.len() as u64 + text.root.len() as u64;
        let (Ok(text_bytes), Ok(_)) =
            (u32::try_from(text.text_bytes + 1), u32::try_from(symbols + 1))
        else {
            return Err(unsupported("a segment of 4 GiB of text or more"));
        };
        let text_bytes = text_bytes - 1;
        let maker = Maker::new(device, text)?;
        let Lengths { bytes, body_offsets, owners, marks } = maker.lengths()?;
        let (root_offsets, samples) = maker.root_offsets(&bytes, text_bytes)?;
        if device.value(&root_offsets, text.root.len())? != text_bytes {
            return Err(unsupported("a segment whose symbols are not as long as its text"));
        }
        let documents = text.documents() as u32;
        let document_offsets = device.allocate(text.documents() + 1)?;
        device.launch(
            &DOCUMENT_OFFSETS,
            groups_for(text.documents() + 1),
            &[
                (&maker.document_starts).into(),
                (&root_offsets).into(),
                (&document_offsets).into(),
                documents.into(),
            ],
        )?;
        let (use_starts, uses) = maker.uses()?;
        let (weights, use_before) = maker.weights(&use_starts, &uses, &owners)?;
        let table = maker.word_table()?;
        let pieces = Pieces::stored(device, &document_offsets, documents)?;
        let empty = || device.allocate::<u32>(0);
        let Maker { words_of_tokens, token_bytes, token_ends, word_starts, .. } = maker;
        let mut resident = Self {
            device: Arc::clone(device),
            tokens: text.tokens() as u32,
            words: text.words() as u32,
            documents,
            places: text.root.len() as u32,
            body_symbols: text.bodies.len() as u32,
            text_bytes,
            token_bytes,
            token_ends,
            word_starts,
            rule_starts: maker.rule_starts,
            bodies: maker.bodies,
            root: maker.root,
            document_starts: maker.document_starts,
            body_offsets,
            owners,
            root_offsets,
            samples,
            document_offsets,
            bytes,
            weights,
            marks,
            use_starts,
            uses,
            use_before,
            table,
            posting_starts: empty()?,
            posting_documents: empty()?,
            posting_counts: empty()?,
            pieces,
        };
        resident.make_postings(text, &words_of_tokens)?;
        Ok(resident)
    }

    /// Makes the documents of words: the words of the text, each with its document, are sorted, and equal ones counted. As many words at a time
    /// as occur at most [`POSTINGS_AT_ONCE`] times together.
    fn make_postings(
        &mut self,
        text: &SegmentText<'_>,
        words_of_tokens: &Buffer<u32>,
    ) -> Result<()> {
        let device = Arc::clone(&self.device);
        let word_tokens = *text.word_starts.last().expect("an end is there") as usize;
        let weights = device.download_part(&self.weights, 0..word_tokens)?;
        let (mut runs, mut first) = (Vec::new(), 0);
        while first < text.words() {
            let (mut end, mut occurrences) = (first, 0_usize);
            while end < text.words() {
                let tokens = text.word_starts[end] as usize..text.word_starts[end + 1] as usize;
                let more = weights[tokens].iter().map(|&weight| weight as usize).sum::<usize>();
                if end > first && occurrences + more > POSTINGS_AT_ONCE {
                    break;
                }
                occurrences += more;
                end += 1;
            }
            let tokens = (text.word_starts[first], text.word_starts[end]);
            if occurrences > 0 {
                runs.push(self.runs(words_of_tokens, tokens, first, end, occurrences)?);
            }
            first = end;
        }
        let total = runs.iter().map(|run| run.count).sum();
        let words = device.allocate(total)?;
        self.posting_documents = device.allocate(total)?;
        self.posting_counts = device.allocate(total)?;
        let mut at = 0;
        for run in runs {
            device.copy(&run.words, 0, &words, at, run.count)?;
            device.copy(&run.documents, 0, &self.posting_documents, at, run.count)?;
            device.copy(&run.counts, 0, &self.posting_counts, at, run.count)?;
            at += run.count;
        }
        self.posting_starts = starts_of(&device, &words, total, self.words)?;
        Ok(())
    }

    /// The documents of some words.
    fn runs(
        &self,
        words_of_tokens: &Buffer<u32>,
        (first_token, end_token): (u32, u32),
        first_word: usize,
        end_word: usize,
        occurrences: usize,
    ) -> Result<Runs> {
        let device = &self.device;
        let windows = self.text_bytes.div_ceil(WINDOW_BYTES);
        let document_bits = bits_for(self.documents.into());
        let counts = device.allocate::<u32>(windows as usize)?;
        device.launch(
            &COUNT_WORDS,
            groups_for(windows as usize),
            &[
                (&self.rule_starts).into(),
                (&self.bodies).into(),
                (&self.body_offsets).into(),
                (&self.root).into(),
                (&self.root_offsets).into(),
                (&self.samples).into(),
                (&self.bytes).into(),
                (&counts).into(),
                windows.into(),
                WINDOW_BYTES.into(),
                self.tokens.into(),
                self.places.into(),
                SAMPLE_BYTES.into(),
                self.text_bytes.into(),
                first_token.into(),
                end_token.into(),
            ],
        )?;
        let before = scan::starts::<u32, u32>(device, &counts, windows as usize)?;
        let keys = device.allocate::<u64>(occurrences)?;
        device.launch(
            &FILL_WORDS,
            groups_for(windows as usize),
            &[
                (&self.rule_starts).into(),
                (&self.bodies).into(),
                (&self.body_offsets).into(),
                (&self.root).into(),
                (&self.root_offsets).into(),
                (&self.samples).into(),
                (&self.bytes).into(),
                words_of_tokens.into(),
                (&self.document_offsets).into(),
                (&before).into(),
                (&keys).into(),
                windows.into(),
                WINDOW_BYTES.into(),
                self.tokens.into(),
                self.places.into(),
                SAMPLE_BYTES.into(),
                self.text_bytes.into(),
                self.documents.into(),
                document_bits.into(),
                first_token.into(),
                end_token.into(),
            ],
        )?;
        let bits = document_bits + bits_for((end_word - first_word) as u64);
        let rows = Rows { keys: Keys::Wide(keys), first: None, second: None };
        let keys = sort(device, rows, occurrences, 0..bits, Order::Ascending)?.keys.wide();
        let count = occurrences as u32;
        let heads = device.allocate::<u32>(occurrences)?;
        let groups = groups_for(occurrences);
        device.launch(&HEADS, groups, &[(&keys).into(), (&heads).into(), count.into()])?;
        let before = scan::starts::<u32, u32>(device, &heads, occurrences)?;
        let runs = device.value(&before, occurrences)? as usize;
        let (starts, words) = (device.allocate::<u32>(runs + 1)?, device.allocate::<u32>(runs)?);
        let (documents, counts) = (device.allocate::<u32>(runs)?, device.allocate::<u32>(runs)?);
        device.launch(
            &RUNS,
            groups_for(occurrences + 1),
            &[
                (&keys).into(),
                (&before).into(),
                (&starts).into(),
                (&words).into(),
                (&documents).into(),
                count.into(),
                document_bits.into(),
                (first_word as u32).into(),
            ],
        )?;
        device.launch(
            &RUN_LENGTHS,
            groups_for(runs),
            &[(&starts).into(), (&counts).into(), (runs as u32).into()],
        )?;
        Ok(Runs { count: runs, words, documents, counts })
    }
}

/// Documents of words, in order of words and then of documents.
struct Runs {
    count: usize,
    words: Buffer<u32>,
    documents: Buffer<u32>,
    counts: Buffer<u32>,
}

/// Where each number below `numbers` starts in a sorted row, and the end behind the last.
fn starts_of(
    device: &Arc<Device>,
    sorted: &Buffer<u32>,
    length: usize,
    numbers: u32,
) -> Result<Buffer<u32>> {
    let starts = device.allocate(numbers as usize + 1)?;
    device.launch(
        &STARTS,
        groups_for(length + 1),
        &[sorted.into(), (&starts).into(), (length as u32).into(), numbers.into()],
    )?;
    Ok(starts)
}

/// What is made of rules from the lowest to the highest.
struct Lengths {
    bytes: Buffer<u32>,
    body_offsets: Buffer<u32>,
    owners: Buffer<u32>,
    marks: Buffer<u64>,
}

/// A segment whose parts are being made.
struct Maker<'t> {
    device: &'t Arc<Device>,
    text: &'t SegmentText<'t>,
    levels: Levels,
    order: Buffer<u32>,
    words_of_tokens: Buffer<u32>,
    token_bytes: Buffer<u8>,
    token_ends: Buffer<u32>,
    word_starts: Buffer<u32>,
    rule_starts: Buffer<u32>,
    bodies: Buffer<u32>,
    root: Buffer<u32>,
    document_starts: Buffer<u32>,
}

impl<'t> Maker<'t> {
    fn new(device: &'t Arc<Device>, text: &'t SegmentText<'t>) -> Result<Self> {
        let levels = Levels::new(text);
        let word_tokens = *text.word_starts.last().expect("an end is there");
        let words_of_tokens = device.allocate::<u32>(word_tokens as usize)?;
        let word_starts = device.upload(text.word_starts)?;
        let words = text.words() as u32;
        device.launch(
            &WORDS_OF_TOKENS,
            groups_for(text.words()),
            &[(&word_starts).into(), (&words_of_tokens).into(), words.into()],
        )?;
        Ok(Self {
            device,
            text,
            order: device.upload(&levels.order)?,
            levels,
            words_of_tokens,
            token_bytes: device.upload(text.token_bytes)?,
            token_ends: device.upload(text.token_ends)?,
            word_starts,
            rule_starts: device.upload(text.rule_starts)?,
            bodies: device.upload(text.bodies)?,
            root: device.upload(text.root)?,
            document_starts: device.upload(text.document_starts)?,
        })
    }

    fn tokens(&self) -> u32 {
        self.text.tokens() as u32
    }

    fn symbols(&self) -> usize {
        self.text.tokens() + self.text.rules()
    }

    /// The length of each symbol; where each symbol of a body starts in its rule, and whose it is; the marks of rules.
    fn lengths(&self) -> Result<Lengths> {
        let (device, tokens) = (self.device, self.tokens());
        let bytes = device.allocate(self.symbols())?;
        device.launch(
            &TOKEN_LENGTHS,
            groups_for(self.text.tokens()),
            &[(&self.token_ends).into(), (&bytes).into(), tokens.into()],
        )?;
        let body_offsets = device.allocate(self.text.bodies.len())?;
        let owners = device.allocate(self.text.bodies.len())?;
        let marks = device.allocate(self.text.rules())?;
        let word_tokens = self.words_of_tokens.len() as u32;
        for (first, count) in self.levels.ranges() {
            device.launch(
                &RULE_LENGTHS,
                groups_for(count as usize),
                &[
                    (&self.order).into(),
                    (&self.rule_starts).into(),
                    (&self.bodies).into(),
                    (&self.words_of_tokens).into(),
                    (&bytes).into(),
                    (&body_offsets).into(),
                    (&owners).into(),
                    (&marks).into(),
                    first.into(),
                    count.into(),
                    tokens.into(),
                    word_tokens.into(),
                ],
            )?;
        }
        Ok(Lengths { bytes, body_offsets, owners, marks })
    }

    /// Where each place of the root starts in the text, and the samples of these.
    fn root_offsets(
        &self,
        bytes: &Buffer<u32>,
        text_bytes: u32,
    ) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let (device, places) = (self.device, self.text.root.len());
        let lengths = device.allocate::<u32>(places)?;
        device.launch(
            &ROOT_LENGTHS,
            groups_for(places),
            &[(&self.root).into(), bytes.into(), (&lengths).into(), (places as u32).into()],
        )?;
        let root_offsets = scan::starts(device, &lengths, places)?;
        let count = text_bytes / SAMPLE_BYTES + 2;
        let samples = device.allocate(count as usize)?;
        device.launch(
            &SAMPLES,
            groups_for(count as usize),
            &[
                (&root_offsets).into(),
                (&samples).into(),
                count.into(),
                (places as u32).into(),
                SAMPLE_BYTES.into(),
            ],
        )?;
        Ok((root_offsets, samples))
    }

    /// The uses of each symbol, in order of their places, and where they start.
    fn uses(&self) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let (device, text) = (self.device, self.text);
        let count = text.bodies.len() + text.root.len();
        let (symbols, uses) = (device.allocate(count)?, device.allocate(count)?);
        device.launch(
            &USES,
            groups_for(count),
            &[
                (&self.bodies).into(),
                (&self.root).into(),
                (&symbols).into(),
                (&uses).into(),
                (text.bodies.len() as u32).into(),
                (text.root.len() as u32).into(),
            ],
        )?;
        let rows = Rows { keys: Keys::Narrow(symbols), first: Some(uses), second: None };
        let bits = bits_for(self.symbols() as u64);
        let sorted = sort(device, rows, count, 0..bits, Order::Ascending)?;
        let symbols = sorted.keys.narrow();
        let starts = starts_of(device, &symbols, count, self.symbols() as u32)?;
        Ok((starts, sorted.first.expect("it was given")))
    }

    /// How often each symbol occurs, and what uses it before each of its uses.
    fn weights(
        &self,
        use_starts: &Buffer<u32>,
        uses: &Buffer<u32>,
        owners: &Buffer<u32>,
    ) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let (device, text, tokens) = (self.device, self.text, self.tokens());
        let weights = device.zeroed(self.symbols())?;
        let places = text.root.len();
        device.launch(
            &ROOT_WEIGHTS,
            groups_for(places),
            &[(&self.root).into(), (&weights).into(), (places as u32).into(), tokens.into()],
        )?;
        for (first, count) in self.levels.ranges().rev() {
            device.launch(
                &RULE_WEIGHTS,
                groups_for(count as usize),
                &[
                    (&self.order).into(),
                    (&self.rule_starts).into(),
                    (&self.bodies).into(),
                    (&weights).into(),
                    first.into(),
                    count.into(),
                    tokens.into(),
                ],
            )?;
        }
        let count = text.bodies.len() + places;
        let values = device.allocate::<u32>(count)?;
        device.launch(
            &USE_WEIGHTS,
            groups_for(count),
            &[
                uses.into(),
                owners.into(),
                (&weights).into(),
                (&values).into(),
                (count as u32).into(),
                (text.bodies.len() as u32).into(),
                tokens.into(),
            ],
        )?;
        let before = scan::starts(device, &values, count)?;
        device.launch(
            &WEIGHTS,
            groups_for(self.symbols()),
            &[
                use_starts.into(),
                (&before).into(),
                (&weights).into(),
                (self.symbols() as u32).into(),
            ],
        )?;
        Ok((weights, before))
    }

    /// The table of words, at most half full.
    fn word_table(&self) -> Result<Buffer<u32>> {
        let (device, words) = (self.device, self.text.words());
        let places = (2 * words).next_power_of_two();
        let table = device.zeroed(places)?;
        device.launch(
            &WORD_TABLE,
            groups_for(words),
            &[
                (&self.token_bytes).into(),
                (&self.token_ends).into(),
                (&self.word_starts).into(),
                (&table).into(),
                (words as u32).into(),
                (places as u32 - 1).into(),
            ],
        )?;
        Ok(table)
    }
}
