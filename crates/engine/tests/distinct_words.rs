//! The example `distinct_words` says what the plain program says, in memory and in a pool.

use std::path::Path;

use tadoc_engine::backend::{Backends, Choice};
use tadoc_oracle::{Lexer, Oracle, cases};
use tadoc_testing::archives::{compress_with, one_thread};

#[path = "../examples/distinct_words.rs"]
#[expect(dead_code, reason = "an example has a main function of its own")]
mod example;

/// Memory, and a pool where there is one: a new one, and again the same as another process would find it.
fn backends(pool: &Path) -> Vec<Backends> {
    #[cfg_attr(not(feature = "pool"), expect(unused_mut, reason = "there is one backend"))]
    let mut backends = vec![Backends::new(Choice::Cpu, None)];
    #[cfg(feature = "pool")]
    {
        use tadoc_engine::backend::PoolFile;
        let _ = std::fs::remove_file(pool);
        let file = || PoolFile::new(pool, tadoc_engine::pool::Persist::Phase);
        backends.extend([Backends::with_pool(file()), Backends::with_pool(file())]);
    }
    #[cfg(not(feature = "pool"))]
    let _ = pool;
    backends
}

#[test]
fn every_case_has_its_distinct_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for case in cases() {
        compress_with(&case.documents, &path, &one_thread());
        let fold = tadoc_engine::Analyzer::new().fold_case(true);
        let oracle = Oracle::new(Lexer::Words, &case.documents)
            .with_analyzer(|word| fold.term(word).map(|term| term.into_owned()));
        let vectors = oracle.term_vector(None).into_iter().map(|vector| vector.len() as u32);
        let names = case
            .documents
            .iter()
            .map(|(name, _)| tadoc_engine::text::escape(name.as_bytes()).to_string());
        let expected: Vec<(String, u32)> = names.zip(vectors).collect();
        for backends in backends(&folder.path().join("case.pool")) {
            let found = example::distinct_words(&path, &backends).unwrap();
            assert_eq!(found, expected, "{}, {}", case.name, backends.choice());
        }
    }
}
