//! Archives to edit: of every lexer, builder, level and index, in one segment and in several.

use std::path::Path;

use tadoc_core::archive::{
    Archive, ArchiveWriter, Digester, DocumentTable, EncodedSegment, PieceHasher, Summary,
};
use tadoc_engine::access::{self, Index};
use tadoc_engine::{Builder, CompressOptions, Document, Level, Lexer, SegmentInfo};
use tadoc_oracle::Random;
use tadoc_testing::archives::{compress_with, one_thread};

use super::access_support::INDEXES;
use super::model::Model;

/// A document, or a part of one.
type Text = (String, Vec<u8>);

/// How an archive is made.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub lexer: Lexer,
    pub builder: Builder,
    pub level: Level,
    pub index: Index,
    /// About so many segments.
    pub segments: u64,
}

impl Setup {
    /// Any of them; most are of one segment.
    pub fn at_random(random: &mut Random) -> Self {
        Self {
            lexer: *random.choose(&[Lexer::Words, Lexer::Words, Lexer::Whitespace]),
            builder: *random.choose(&[Builder::RePair, Builder::RePair, Builder::Sequitur]),
            level: if random.below(8) == 0 { Level::Dense } else { Level::Fast },
            index: match random.below(4) {
                0 => *random.choose(&INDEXES),
                _ => Index::None,
            },
            segments: 1,
        }
    }

    fn options(&self) -> CompressOptions {
        let Self { lexer, builder, level, .. } = *self;
        CompressOptions { lexer, builder, level, ..one_thread() }
    }

    /// Makes an archive of the model's documents.
    pub fn make(&self, model: &Model, path: &Path, random: &mut Random) {
        match self.segments > 1 && !model.documents.is_empty() {
            true => self.make_segments(model, path, random),
            false => self.compress(model.list(), path),
        }
        if self.index != Index::None {
            access::store(path, self.index, &()).unwrap();
        }
    }

    fn compress(&self, documents: Vec<Text>, path: &Path) {
        compress_with(&documents, path, &self.options());
    }

    /// Each segment is compressed by itself; documents go on from one to the next where no word is split.
    fn make_segments(&self, model: &Model, path: &Path, random: &mut Random) {
        let cuts = self.cuts(model, random);
        let mut writer = ArchiveWriter::create(path).unwrap();
        let mut summary = Summary::default();
        let part_path = path.with_extension("part");
        for (first_document, parts) in cuts {
            self.compress(parts, &part_path);
            let part = Archive::open(&part_path).unwrap();
            let entries = part.dictionary(0).unwrap().entries(u64::MAX).unwrap();
            let (words, separators) = (entries.words(), entries.separators());
            let grammar = part.grammar(0).unwrap();
            writer
                .add_segment(&EncodedSegment::new(&grammar, &words, &separators, self.level))
                .unwrap();
            let info = SegmentInfo { first_document, ..part.summary().segments[0] };
            let mut segments = std::mem::take(&mut summary.segments);
            segments.push(info);
            summary = Summary { segments, ..part.summary().clone() };
        }
        std::fs::remove_file(part_path).unwrap();
        let table = table_of(model);
        summary.documents = table.documents.len() as u64;
        summary.text_bytes = table.documents.iter().map(|document| document.bytes).sum();
        writer.finish(&table, &summary, true).unwrap();
    }

    /// The documents of each segment, and the number of the first of them.
    fn cuts(&self, model: &Model, random: &mut Random) -> Vec<(u64, Vec<Text>)> {
        let bytes: usize = model.documents.values().map(Vec::len).sum();
        let share = bytes as u64 / self.segments + 1;
        let mut cuts: Vec<(u64, Vec<Text>)> = vec![(0, Vec::new())];
        let mut left = random.below(share);
        for (number, (name, text)) in (0..).zip(&model.documents) {
            let mut rest = &text[..];
            // A segment may end with a document, too.
            while left < rest.len() as u64
                && let Some(cut) = self.lexer.safe_cut(rest, left as usize)
                && cut < rest.len()
            {
                let (here, behind) = rest.split_at(cut);
                cuts.last_mut().unwrap().1.push((name.clone(), here.to_vec()));
                cuts.push((number, Vec::new()));
                rest = behind;
                left = 1 + random.below(2 * share);
            }
            left = left.saturating_sub(rest.len() as u64);
            cuts.last_mut().unwrap().1.push((name.clone(), rest.to_vec()));
            if left == 0 {
                cuts.push((number + 1, Vec::new()));
                left = 1 + random.below(2 * share);
            }
        }
        cuts.retain(|(_, parts)| !parts.is_empty());
        cuts
    }
}

/// The documents with their digests.
fn table_of(model: &Model) -> DocumentTable {
    let (mut table, mut digester) = (DocumentTable::default(), Digester::default());
    for (number, (name, text)) in model.documents.iter().enumerate() {
        let mut hasher = PieceHasher::default();
        hasher.update(text);
        let is_last = number + 1 == model.documents.len();
        let bytes = text.len() as u64;
        table.digests.extend(digester.document(bytes, &hasher.finish(), is_last));
        let name = name.clone().into_bytes();
        table.documents.push(Document { name, bytes, modified: None, mode: None });
    }
    table
}
