//! A task of your own, run on an archive without unpacking it: how many different words has each document?
//!
//! ```text
//! cargo run --release --package tadoc-engine --example distinct_words -- corpus.tdc
//! ```
//!
//! Its one phase goes over the documents of a view on all threads, and looks at every rule of the grammar
//! once a document, however often the document repeats it. The same task runs in memory and in a pool.

use std::error::Error;
use std::path::Path;

use tadoc_core::Array;
use tadoc_engine::analytics::{CustomTask, Phases};
use tadoc_engine::backend::{Backends, Choice};
use tadoc_engine::text::escape;
use tadoc_engine::view::Detail;
use tadoc_engine::{Analyzer, Corpus, Limits};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("expected the path of an archive")?;
    let backends = Backends::new(Choice::Cpu, None);
    for (document, words) in distinct_words(path.as_ref(), &backends)? {
        println!("{words}\t{document}");
    }
    Ok(())
}

/// How many different words each document of a view has.
pub struct DistinctWords;

impl CustomTask for DistinctWords {
    type Answer = Array<u32>;

    fn name(&self) -> &str {
        "distinct words"
    }

    fn key(&self) -> Vec<u8> {
        b"distinct words, version 1".to_vec()
    }

    fn run(&self, phases: &mut Phases<'_, '_>) -> tadoc_core::Result<Array<u32>> {
        let words = phases.view().terms().len();
        phases.documents("distinct words", |&count| count <= words, |_, found| found.len() as u32)
    }
}

/// The name of every document of an archive, with the number of its different words.
pub fn distinct_words(
    archive: &Path,
    backends: &Backends,
) -> tadoc_engine::Result<Vec<(String, u32)>> {
    let corpus = Corpus::open(archive)?;
    // `Words` and `words` are one word here; leave the analyzer as it is to tell them apart.
    let analyzer = Analyzer::new().fold_case(true);
    let (view, _) = backends.view(&[&corpus], &analyzer, None, Detail::Whole, &())?;
    let counts = backends.run_custom(&view, &DistinctWords, Limits::default().memory)?;
    let names = corpus.documents()?.iter().map(|document| escape(&document.name).to_string());
    Ok(names.zip(counts.iter().copied()).collect())
}
