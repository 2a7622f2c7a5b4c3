//! Plain text in memory with the places of its words, as the oracle's lexer cuts them: right answers for text by the
//! hundred megabytes, where the oracle itself would take days. It takes about four times the text in memory.

use std::collections::HashMap;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use tadoc_oracle::Lexer;

use crate::corpus::Corpus;

/// Documents, and all words of all documents one after the other: a *position* is the place of a word among these.
pub struct Plain {
    pub names: Vec<Vec<u8>>,
    pub texts: Vec<Vec<u8>>,
    /// Where the newlines of each document are.
    pub newlines: Vec<Vec<u32>>,
    /// The different words.
    pub vocabulary: Vec<Vec<u8>>,
    /// Which word stands at each position, and where it starts in its document.
    pub words: Vec<u32>,
    pub offsets: Vec<u32>,
    /// The positions of each document, and of each word.
    documents: Vec<u32>,
    starts: Vec<u32>,
    postings: Vec<u32>,
}

impl Plain {
    /// Reads a folder, and cuts it.
    pub fn read(corpus: &Corpus, lexer: Lexer) -> Result<Self> {
        let mut named = Vec::with_capacity(corpus.files.len());
        for (file, _) in &corpus.files {
            let name = file.strip_prefix(&corpus.folder)?.as_os_str().as_bytes().to_vec();
            let bytes =
                std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
            named.push((name, bytes));
        }
        // By the bytes of names, which is not the order of paths.
        named.sort();
        Self::of(named, lexer)
    }

    /// Cuts documents, which are in order.
    pub fn of(named: Vec<(Vec<u8>, Vec<u8>)>, lexer: Lexer) -> Result<Self> {
        let (names, texts): (Vec<Vec<u8>>, Vec<Vec<u8>>) = named.into_iter().unzip();
        let most = u32::MAX as usize;
        ensure!(
            texts.iter().map(Vec::len).sum::<usize>() < most,
            "the text is too long for a check"
        );
        let cut: Vec<Vec<Range<usize>>> =
            texts.par_iter().map(|text| tadoc_oracle::words(lexer, text)).collect();
        let newlines = texts
            .par_iter()
            .map(|text| memchr::memchr_iter(b'\n', text).map(|place| place as u32).collect())
            .collect();
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        let (mut words, mut offsets, mut documents) = (Vec::new(), Vec::new(), vec![0]);
        for (text, ranges) in texts.iter().zip(cut) {
            for range in ranges {
                offsets.push(range.start as u32);
                let next = numbers.len() as u32;
                words.push(*numbers.entry(&text[range]).or_insert(next));
            }
            documents.push(words.len() as u32);
        }
        let mut vocabulary = vec![Vec::new(); numbers.len()];
        for (word, number) in numbers {
            vocabulary[number as usize] = word.to_vec();
        }
        let (starts, postings) = postings(&words, vocabulary.len());
        Ok(Self { names, texts, newlines, vocabulary, words, offsets, documents, starts, postings })
    }

    /// The positions of a document.
    pub fn positions(&self, document: usize) -> Range<usize> {
        self.documents[document] as usize..self.documents[document + 1] as usize
    }

    /// The document of a position.
    pub fn document(&self, position: usize) -> usize {
        self.documents.partition_point(|&start| start as usize <= position) - 1
    }

    /// The positions of a word, ascending; in one document or in all.
    pub fn postings(&self, word: u32, document: Option<usize>) -> &[u32] {
        let word = word as usize;
        let all = &self.postings[self.starts[word] as usize..self.starts[word + 1] as usize];
        let Some(document) = document else { return all };
        let range = self.positions(document);
        let start = all.partition_point(|&position| (position as usize) < range.start);
        let end = all.partition_point(|&position| (position as usize) < range.end);
        &all[start..end]
    }

    /// Documents and offsets at which words follow each other, ascending; in one document or in all.
    pub fn search(&self, phrase: &[u32], document: Option<usize>) -> Vec<(u32, u64)> {
        // From the rarest word, whichever it is.
        let rarest =
            (0..phrase.len()).min_by_key(|&place| self.postings(phrase[place], None).len());
        let Some(rarest) = rarest else { return Vec::new() };
        let mut found = Vec::new();
        let mut last = 0;
        for &position in self.postings(phrase[rarest], document) {
            let Some(start) = (position as usize).checked_sub(rarest) else { continue };
            while self.documents[last + 1] as usize <= position as usize {
                last += 1;
            }
            let within = self.positions(last);
            let is_within = start >= within.start && start + phrase.len() <= within.end;
            if is_within && self.words[start..start + phrase.len()] == *phrase {
                found.push((last as u32, u64::from(self.offsets[start])));
            }
        }
        found
    }

    /// The word that starts at an offset of a document.
    pub fn word_at(&self, document: usize, offset: u64) -> Option<&[u8]> {
        let positions = self.positions(document);
        let place = self.offsets[positions.clone()]
            .binary_search_by(|&start| u64::from(start).cmp(&offset))
            .ok()?;
        Some(&self.vocabulary[self.words[positions.start + place] as usize])
    }

    /// How many lines a document has.
    pub fn line_count(&self, document: usize) -> u64 {
        let text = &self.texts[document];
        let unfinished = !text.is_empty() && text.last() != Some(&b'\n');
        self.newlines[document].len() as u64 + u64::from(unfinished)
    }

    /// Where a line starts; the document's length for a line past the last.
    pub fn line_start(&self, document: usize, line: u64) -> u64 {
        match line {
            0 => 0,
            line => {
                let newline = self.newlines[document].get(line as usize - 1);
                newline.map_or(self.texts[document].len() as u64, |&place| u64::from(place) + 1)
            }
        }
    }

    /// How many newlines are before an offset.
    pub fn line_of(&self, document: usize, offset: u64) -> u64 {
        self.newlines[document].partition_point(|&place| u64::from(place) < offset) as u64
    }
}

/// The positions of each word: where they start, and all of them.
fn postings(words: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; count + 1];
    for &word in words {
        starts[word as usize + 1] += 1;
    }
    for word in 0..count {
        starts[word + 1] += starts[word];
    }
    let mut next = starts.clone();
    let mut postings = vec![0; words.len()];
    for (position, &word) in words.iter().enumerate() {
        postings[next[word as usize] as usize] = position as u32;
        next[word as usize] += 1;
    }
    (starts, postings)
}

#[cfg(test)]
mod tests {
    use tadoc_oracle::{Oracle, cases};

    use super::*;

    /// The index of plain text is checked against the oracle itself.
    #[test]
    fn answers_are_the_oracle_s() {
        for case in cases().into_iter().filter(|case| case.size() < 30_000) {
            let named = case.documents.iter();
            let named = named.map(|(name, bytes)| (name.as_bytes().to_vec(), bytes.clone()));
            let plain = Plain::of(named.collect(), Lexer::Words).unwrap();
            let oracle = Oracle::new(Lexer::Words, &case.documents);
            let occurrences = oracle.occurrences();
            assert_eq!(plain.words.len(), occurrences.len(), "{}", case.name);
            for (position, &(document, offset, word)) in occurrences.iter().enumerate() {
                assert_eq!(plain.document(position), document);
                assert_eq!(plain.word_at(document, offset as u64), Some(word));
            }
            let step = plain.words.len() / 20 + 1;
            for start in (0..plain.words.len()).step_by(step) {
                for length in [1, 2, 4] {
                    let phrase = &plain.words[start..plain.words.len().min(start + length)];
                    let text: Vec<&[u8]> =
                        phrase.iter().map(|&word| &plain.vocabulary[word as usize][..]).collect();
                    let expected: Vec<(u32, u64)> = oracle
                        .search_all(&text.join(&b' '))
                        .into_iter()
                        .map(|(document, offset)| (document as u32, offset as u64))
                        .collect();
                    assert_eq!(plain.search(phrase, None), expected, "{}", case.name);
                    let document = plain.document(start);
                    let in_one = expected.iter().filter(|(other, _)| *other == document as u32);
                    let in_one: Vec<_> = in_one.copied().collect();
                    assert_eq!(plain.search(phrase, Some(document)), in_one, "{}", case.name);
                }
            }
            for (document, (_, bytes)) in case.documents.iter().enumerate() {
                let lines = oracle.line_count(document);
                assert_eq!(plain.line_count(document), lines as u64);
                for line in (0..lines + 2).step_by(lines / 20 + 1) {
                    let start = oracle.line_start(document, line);
                    assert_eq!(plain.line_start(document, line as u64), start as u64);
                }
                for offset in (0..=bytes.len()).step_by(bytes.len() / 20 + 1) {
                    let line = oracle.line_of(document, offset);
                    assert_eq!(plain.line_of(document, offset as u64), line as u64);
                }
            }
        }
    }
}
