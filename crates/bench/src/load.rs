//! `load ARCHIVE`: what a query does before it can answer, and nothing more. Every segment's grammar is
//! decoded and its dictionary opened, on all threads, and all of it is held to the end.

use std::path::Path;

use anyhow::{Context, Result};
use tadoc_core::archive::Archive;

/// Loads an archive, and prints how many symbols and words it has.
pub fn run(path: &Path) -> Result<()> {
    let archive = Archive::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut loaded = Vec::new();
    for segment in 0..archive.summary().segments.len() {
        loaded.push(archive.segment(segment)?);
    }
    let symbols: usize = loaded.iter().map(|(grammar, _)| grammar.symbols().len()).sum();
    let words: u64 = loaded.iter().map(|(_, dictionary)| u64::from(dictionary.word_count())).sum();
    println!("{symbols} symbols, {words} words");
    // A query would end here too: giving back memory piece by piece is no part of loading.
    std::process::exit(0)
}
