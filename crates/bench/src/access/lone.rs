//! Questions asked one by one, in documents of 50 to 200 KB: how long a word is counted and
//! searched in one, beside what writing out its text and looking for the word there takes.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Result;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use tadoc_engine::Analyzer;
use tadoc_engine::access::{Access, Scope};

/// Lengths of the documents that are asked about.
pub const LENGTHS: std::ops::RangeInclusive<u64> = 50_000..=200_000;

/// Questions at the most.
const QUESTIONS: usize = 10_000;

/// What questions of each kind took, all together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lone {
    pub questions: u64,
    /// Bytes of the documents that were asked about.
    pub bytes: u64,
    pub count_seconds: f64,
    pub search_seconds: f64,
    /// Writing out the document and looking for the word in it.
    pub plain_seconds: f64,
}

impl Lone {
    /// Asks about the documents and words that were drawn, if enough of these documents have the
    /// right length.
    pub fn measure(access: &Access, words: &[(u32, String)]) -> Result<Option<Self>> {
        let is_right =
            |document: u32| LENGTHS.contains(&access.documents()[document as usize].bytes);
        let asked: Vec<&(u32, String)> =
            words.iter().filter(|(document, _)| is_right(*document)).take(QUESTIONS).collect();
        if asked.len() < QUESTIONS / 10 {
            return Ok(None);
        }
        let analyzer = Analyzer::new();
        let mut lone = Self {
            questions: asked.len() as u64,
            bytes: 0,
            count_seconds: 0.0,
            search_seconds: 0.0,
            plain_seconds: 0.0,
        };
        // What is kept from one question to the next is made in a round that is not measured.
        for round in 0..2 {
            let start = Instant::now();
            let mut counts = HashMap::new();
            for &(document, word) in &asked {
                let phrase = access.phrase(word.as_bytes(), &analyzer)?;
                let count = access.count(&phrase, &Scope::Documents(vec![*document]))?;
                counts.insert((*document, &word[..]), count);
            }
            lone.count_seconds = start.elapsed().as_secs_f64();
            let start = Instant::now();
            for &(document, word) in &asked {
                let phrase = access.phrase(word.as_bytes(), &analyzer)?;
                let mut found = 0;
                access.search(&phrase, &Scope::Documents(vec![*document]), &mut |_, offsets| {
                    found += offsets.len() as u64;
                    ControlFlow::Continue(())
                })?;
                let counted = counts[&(*document, &word[..])];
                anyhow::ensure!(found == counted, "{word}: {found} found, {counted} counted");
            }
            lone.search_seconds = start.elapsed().as_secs_f64();
            if round == 0 {
                continue;
            }
            let start = Instant::now();
            for &(document, word) in &asked {
                let text = access.extract(*document, 0, u64::MAX)?;
                lone.bytes += text.len() as u64;
                std::hint::black_box(memmem::find_iter(&text, word.as_bytes()).count());
            }
            lone.plain_seconds = start.elapsed().as_secs_f64();
        }
        Ok(Some(lone))
    }

    /// Microseconds that a question takes for each 100 KB of its document.
    pub fn microseconds(&self, seconds: f64) -> f64 {
        seconds * 1e6 / (self.bytes as f64 / 1e5)
    }
}
