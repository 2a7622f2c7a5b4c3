//! Random access to plain text: segments are written out, and words looked for token by token.

use super::inputs::noise;
use crate::access::{ALL, Insert, SegmentText};

/// A segment of one's own.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    pub token_bytes: Vec<u8>,
    pub token_ends: Vec<u32>,
    pub word_starts: Vec<u32>,
    pub rule_starts: Vec<u32>,
    pub bodies: Vec<u32>,
    pub root: Vec<u32>,
    pub document_starts: Vec<u32>,
}

/// The documents of a segment, written out.
#[derive(Debug, Clone)]
pub struct Plain {
    pub documents: Vec<Vec<u8>>,
    /// Each word with the places at which it starts in the text of all documents.
    words: Vec<(Vec<u8>, Vec<u32>)>,
    starts: Vec<u32>,
}

impl Segment {
    /// A segment whose words, rules and documents look random: with words in one or both forms, rules that no one uses and documents
    /// without text, and with chains of rules so deep that a way down does not remember all of it.
    pub fn random(seed: u32, words: u32, rules: u32, documents: u32, depth: u32) -> Self {
        let mut numbers = noise(seed, 1 << 16).into_iter().cycle();
        let mut below = |end: u32| numbers.next().expect("they go round") % end.max(1);
        let mut segment = Self { word_starts: vec![0], ..Self::default() };
        for word in 0..words {
            // Prefixes of each other, too.
            let name = "w".repeat(1 + word as usize % 3) + &format!("{:x}", word / 3);
            let forms = 1 + below(3);
            for spaced in [false, true] {
                if forms & (1 << u32::from(spaced)) != 0 {
                    segment
                        .token_bytes
                        .extend(if spaced { " " } else { "" }.bytes().chain(name.bytes()));
                    segment.token_ends.push(segment.token_bytes.len() as u32);
                }
            }
            segment.word_starts.push(segment.token_ends.len() as u32);
        }
        for separator in [",", "\n", "  ", " -- ", "."] {
            segment.token_bytes.extend(separator.bytes());
            segment.token_ends.push(segment.token_bytes.len() as u32);
        }
        let tokens = segment.token_ends.len() as u32;
        // Most rules have a few symbols, those of the chain a token and the next one.
        let mut bodies: Vec<Vec<u32>> = Vec::new();
        let mut lengths = vec![1_u32; (tokens + rules + depth) as usize];
        for rule in (0..rules + depth).rev() {
            let own = tokens + rule;
            let last = tokens + rules + depth;
            let body: Vec<u32> = if rule < depth {
                let before = (0..below(2)).map(|_| below(tokens)).collect::<Vec<_>>();
                let next = if own + 1 < last { own + 1 } else { 0 };
                before.into_iter().chain([next, below(tokens)]).collect()
            } else {
                let mut body: Vec<u32> = (0..2 + below(4))
                    .map(|_| match below(3) {
                        0 if own + 1 < last => own + 1 + below(last - own - 1),
                        _ => below(tokens),
                    })
                    .collect();
                // Texts double with every level otherwise.
                body.iter_mut()
                    .filter(|symbol| lengths[**symbol as usize] > 300)
                    .for_each(|symbol| *symbol = 0);
                body
            };
            lengths[own as usize] = body.iter().map(|&symbol| lengths[symbol as usize]).sum();
            bodies.push(body);
        }
        segment.rule_starts.push(0);
        for body in bodies.iter().rev() {
            segment.bodies.extend(body);
            segment.rule_starts.push(segment.bodies.len() as u32);
        }
        for document in 0..documents {
            segment.document_starts.push(segment.root.len() as u32);
            let places = if document % 5 == 3 { 0 } else { below(20) };
            for _ in 0..places {
                let rule = below(3) == 0;
                let symbol = if rule { tokens + below(rules + depth) } else { below(tokens) };
                segment.root.push(if rule && rules + depth == 0 { 0 } else { symbol });
            }
        }
        segment.document_starts.push(segment.root.len() as u32);
        segment
    }

    pub fn text(&self) -> SegmentText<'_> {
        SegmentText {
            token_bytes: &self.token_bytes,
            token_ends: &self.token_ends,
            word_starts: &self.word_starts,
            rule_starts: &self.rule_starts,
            bodies: &self.bodies,
            root: &self.root,
            document_starts: &self.document_starts,
            text_bytes: self.plain().documents.iter().map(|text| text.len() as u64).sum(),
        }
    }

    fn token(&self, token: u32) -> &[u8] {
        let start = if token == 0 { 0 } else { self.token_ends[token as usize - 1] };
        &self.token_bytes[start as usize..self.token_ends[token as usize] as usize]
    }

    /// The word of a number.
    pub fn word(&self, word: usize) -> &[u8] {
        let bytes = self.token(self.word_starts[word]);
        bytes.strip_prefix(b" ").unwrap_or(bytes)
    }

    pub fn plain(&self) -> Plain {
        let tokens = self.token_ends.len() as u32;
        let word_tokens = *self.word_starts.last().unwrap();
        let mut words: Vec<(Vec<u8>, Vec<u32>)> = (0..self.word_starts.len() - 1)
            .map(|word| (self.word(word).to_vec(), Vec::new()))
            .collect();
        let (mut documents, mut starts, mut at) = (Vec::new(), vec![0], 0);
        for places in self.document_starts.windows(2) {
            let mut text = Vec::new();
            let root = &self.root[places[0] as usize..places[1] as usize];
            let mut left: Vec<u32> = root.iter().rev().copied().collect();
            while let Some(symbol) = left.pop() {
                if symbol >= tokens {
                    let rule = (symbol - tokens) as usize;
                    let body = self.rule_starts[rule] as usize..self.rule_starts[rule + 1] as usize;
                    left.extend(self.bodies[body].iter().rev());
                    continue;
                }
                let bytes = self.token(symbol);
                if symbol < word_tokens {
                    let word = self.word_starts.partition_point(|&first| first <= symbol) - 1;
                    words[word].1.push(at + u32::from(bytes[0] == b' '));
                }
                text.extend_from_slice(bytes);
                at += bytes.len() as u32;
            }
            documents.push(text);
            starts.push(at);
        }
        Plain { documents, words, starts }
    }
}

/// What loading makes of a segment, each row as the device has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Made {
    pub bytes: Vec<u32>,
    pub body_offsets: Vec<u32>,
    pub owners: Vec<u32>,
    pub root_offsets: Vec<u32>,
    pub document_offsets: Vec<u32>,
    pub weights: Vec<u32>,
    pub use_starts: Vec<u32>,
    pub uses: Vec<u32>,
    pub use_before: Vec<u32>,
    pub posting_starts: Vec<u32>,
    pub posting_documents: Vec<u32>,
    pub posting_counts: Vec<u32>,
}

/// Where rows of these lengths start, and the end behind the last.
fn starts_of(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0];
    starts.extend(lengths.scan(0_u32, |sum, length| {
        *sum = sum.wrapping_add(length);
        Some(*sum)
    }));
    starts
}

impl Segment {
    pub fn made(&self) -> Made {
        let (tokens, rules) = (self.token_ends.len(), self.rule_starts.len() - 1);
        let mut made = Made { bytes: vec![0; tokens + rules], ..Made::default() };
        let body =
            |rule: usize| self.rule_starts[rule] as usize..self.rule_starts[rule + 1] as usize;
        for token in 0..tokens {
            made.bytes[token] = self.token(token as u32).len() as u32;
        }
        made.body_offsets = vec![0; self.bodies.len()];
        made.owners = vec![0; self.bodies.len()];
        for rule in (0..rules).rev() {
            for at in body(rule) {
                made.body_offsets[at] = made.bytes[tokens + rule];
                made.owners[at] = rule as u32;
                made.bytes[tokens + rule] += made.bytes[self.bodies[at] as usize];
            }
        }
        made.root_offsets = starts_of(self.root.iter().map(|&symbol| made.bytes[symbol as usize]));
        made.document_offsets =
            self.document_starts.iter().map(|&place| made.root_offsets[place as usize]).collect();
        made.weights = vec![0; tokens + rules];
        self.root.iter().for_each(|&symbol| made.weights[symbol as usize] += 1);
        for rule in 0..rules {
            for at in body(rule) {
                made.weights[self.bodies[at] as usize] += made.weights[tokens + rule];
            }
        }
        let symbols = self.bodies.iter().chain(&self.root).copied();
        let mut uses: Vec<(u32, u32)> = symbols.zip(0..).collect();
        uses.sort_unstable();
        let first_use = |symbol| uses.partition_point(|&(other, _)| other < symbol) as u32;
        made.use_starts = (0..=(tokens + rules) as u32).map(first_use).collect();
        made.uses = uses.iter().map(|&(_, place)| place).collect();
        made.use_before = starts_of(made.uses.iter().map(|&place| {
            made.owners.get(place as usize).map_or(1, |&rule| made.weights[tokens + rule as usize])
        }));
        let plain = self.plain();
        let documents = plain.documents.len() as u32;
        made.posting_starts.push(0);
        for (word, _) in &plain.words {
            for document in 0..documents {
                let count = plain.search(word, document).len() as u32;
                if count > 0 {
                    made.posting_documents.push(document);
                    made.posting_counts.push(count);
                }
            }
            made.posting_starts.push(made.posting_documents.len() as u32);
        }
        made
    }
}

impl Plain {
    /// The places of a word in the text of a document, or of [`ALL`].
    pub fn search(&self, word: &[u8], document: u32) -> Vec<u32> {
        let Some((_, places)) = self.words.iter().find(|(other, _)| other == word) else {
            return Vec::new();
        };
        let (start, end) = match document {
            ALL => (0, u32::MAX),
            document => (self.starts[document as usize], self.starts[document as usize + 1]),
        };
        places.iter().copied().filter(|place| (start..end).contains(place)).collect()
    }

    pub fn extract(&self, document: u32, offset: u32, length: u32) -> &[u8] {
        let text = &self.documents[document as usize];
        let start = text.len().min(offset as usize);
        &text[start..text.len().min(start + length as usize)]
    }

    /// Inserts all at once.
    pub fn insert(&mut self, inserts: &[Insert<'_>]) {
        for (document, text) in (0..).zip(&mut self.documents) {
            let mut before: Vec<Vec<u8>> = vec![Vec::new(); text.len() + 1];
            for insert in inserts.iter().filter(|insert| insert.document == document) {
                let offset = insert.offset.map_or(text.len(), |offset| offset as usize);
                before[offset].extend_from_slice(insert.text);
            }
            let mut new = Vec::new();
            for (place, inserted) in before.iter().enumerate() {
                new.extend_from_slice(inserted);
                new.extend(text.get(place));
            }
            *text = new;
        }
    }
}
