//! A question of your own, asked of an archive without unpacking it: how many different words has each document?
//!
//! ```text
//! cargo run --release --package tadoc --example distinct_words -- corpus.tdc
//! ```
//!
//! It takes a view of the archive, and goes over its documents on all threads with a walker, which gives
//! the different words of each and looks at every rule of the grammar once a document, however often the document
//! repeats it.

use std::error::Error;
use std::path::Path;

use tadoc_engine::text::escape;
use tadoc_engine::traverse::map_documents;
use tadoc_engine::{Analyzer, Corpus};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("expected the path of an archive")?;
    for (document, words) in distinct_words(path.as_ref())? {
        println!("{words}\t{document}");
    }
    Ok(())
}

/// The name of every document of an archive, with the number of its different words.
pub fn distinct_words(archive: &Path) -> tadoc_engine::Result<Vec<(String, usize)>> {
    let corpus = Corpus::open(archive)?;
    // `Words` and `words` are one word here; leave the analyzer as it is to tell them apart.
    let analyzer = Analyzer::new().fold_case(true);
    let view = tadoc_engine::view::make(&[&corpus], &analyzer, None, &())?;
    // Documents come in groups, so that each thread is busy with several at a time.
    let groups = map_documents(view.network(), None, |walker, documents| {
        documents.map(|document| walker.document(document).items.len()).collect::<Vec<usize>>()
    });
    let names = corpus.documents()?.iter().map(|document| escape(&document.name).to_string());
    Ok(names.zip(groups.into_iter().flatten()).collect())
}
