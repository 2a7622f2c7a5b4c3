//! Random access out of pools that were there before: what is in them is used again if it is right, and made again if it is not.
//!
//! That every operation is right in a pool, the other tests say, which ask all their questions in one, too.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tadoc_engine::access::{self, Access, Index};
use tadoc_engine::pool::{Error as PoolError, Patience, Persist, Resumption};
use tadoc_engine::{Analyzer, Builder, Corpus, Durability, Edit, Editor, Error, Lexer};
use tadoc_oracle::{Document, Random};

use super::segments::least_memory;
use super::support::{Questions, compress, numbered};

/// Documents of so many words each, which become many segments.
fn documents(words: u64) -> Vec<Document> {
    let mut random = Random::new(3);
    let texts = (0..40).map(|number| {
        let words = (0..words).map(|word| {
            let gap = if word % 9 == 0 { "\n" } else { " " };
            format!("w{}{gap}", random.rank() % (50 + 30 * number))
        });
        words.collect::<String>().into_bytes()
    });
    numbered(texts.collect::<Vec<_>>())
}

/// Makes an archive of them; gives how many segments it has.
fn make(documents: &[Document], path: &Path) -> u64 {
    let least = least_memory(path);
    let segments = compress(documents, path, Lexer::Words, Builder::RePair, Some(least)).unwrap();
    assert!(segments > 10, "{segments} segments");
    segments
}

/// Asks an archive in a pool, and tells what was found in that.
fn ask(archive: &Path, pool: &Path, persist: Persist, questions: &Questions<'_>) -> Resumption {
    let corpus = Corpus::open(archive).unwrap();
    let (access, found) = Access::in_pool(&corpus, pool, persist, Patience::default()).unwrap();
    questions.check(&access, &format!("{persist}: {found:?}"));
    found
}

/// Fails if a pool has not all of an archive.
fn assert_whole(archive: &Path, pool: &Path) {
    let corpus = Corpus::open(archive).unwrap();
    let (_, found) = Access::in_pool(&corpus, pool, Persist::Phase, Patience::default()).unwrap();
    assert_eq!(found.finished, ["segments"]);
    assert!(found.operations.is_none() && found.discarded.is_empty(), "{found:?}");
}

#[test]
fn what_is_there_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, pool] = ["c.tdc", "c.pool"].map(|name| folder.path().join(name));
    let documents = documents(300);
    make(&documents, &archive);
    let questions = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 1, 12);
    for persist in Persist::ALL {
        let _ = fs::remove_file(&pool);
        let made = ask(&archive, &pool, persist, &questions);
        assert!(made.finished.is_empty() && made.operations.is_none(), "{made:?}");
        for again in Persist::ALL {
            let found = ask(&archive, &pool, again, &questions);
            assert_eq!(found.finished, ["segments"], "{persist}, then {again}");
            assert_whole(&archive, &pool);
        }
    }
    // What an index has changes nothing in a pool: neither whose it is, nor what is in it.
    access::store(&archive, Index::Fast, &()).unwrap();
    assert_eq!(ask(&archive, &pool, Persist::Phase, &questions).finished, ["segments"]);
    let before = fs::read(&pool).unwrap();
    fs::remove_file(&pool).unwrap();
    ask(&archive, &pool, Persist::None, &questions);
    assert_eq!(fs::read(&pool).unwrap().len(), before.len());
}

#[test]
fn what_is_damaged_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, pool] = ["c.tdc", "c.pool"].map(|name| folder.path().join(name));
    let documents = documents(300);
    make(&documents, &archive);
    let questions = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 2, 4);
    ask(&archive, &pool, Persist::Phase, &questions);
    let whole = fs::read(&pool).unwrap();
    // Behind header and checkpoints there is one table.
    let table = 3 << 15;
    let mut random = Random::new(8);
    let mut again = 0;
    for _ in 0..24 {
        let mut bytes = whole.clone();
        let place = table + random.below((whole.len() - table) as u64) as usize;
        bytes[place] ^= 1 << random.below(8);
        fs::write(&pool, &bytes).unwrap();
        let corpus = Corpus::open(&archive).unwrap();
        let (access, found) =
            Access::in_pool(&corpus, &pool, Persist::Phase, Patience::default()).unwrap();
        assert_eq!(found.finished, ["segments"], "byte {place}");
        questions.check(&access, &format!("byte {place}"));
        access.load().unwrap();
        // A byte between sections has no meaning.
        let made = access.made_again().len();
        assert!(made < 2, "byte {place}");
        again += made;
        drop(access);
        let (access, _) =
            Access::in_pool(&corpus, &pool, Persist::Phase, Patience::default()).unwrap();
        questions.check(&access, &format!("byte {place}, made again"));
        access.load().unwrap();
        assert_eq!(access.made_again(), [0_usize; 0], "byte {place}");
    }
    assert!(again > 12, "{again} of 24 were made again");
    for length in [whole.len() / 2, table, 100] {
        fs::write(&pool, &whole[..length]).unwrap();
        let found = ask(&archive, &pool, Persist::Phase, &questions);
        assert!(found.finished.is_empty(), "{length} bytes: {found:?}");
    }
}

/// An extract reads the segment that it is of: whatever is wrong with another is not noticed, and left as it is.
#[test]
fn segments_that_are_not_asked_for_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, pool] = ["c.tdc", "c.pool"].map(|name| folder.path().join(name));
    let documents = documents(300);
    make(&documents, &archive);
    let corpus = Corpus::open(&archive).unwrap();
    drop(Access::in_pool(&corpus, &pool, Persist::Phase, Patience::default()).unwrap());
    let mut bytes = fs::read(&pool).unwrap();
    // Segments lie in their order, as they were made one after the other.
    let half = bytes.len() / 2;
    bytes[half..].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(&pool, &bytes).unwrap();
    let (access, found) =
        Access::in_pool(&corpus, &pool, Persist::Phase, Patience::default()).unwrap();
    assert_eq!(found.finished, ["segments"]);
    assert_eq!(access.extract(0, 3, 50).unwrap(), documents[0].1[3..53]);
    assert_eq!(access.made_again(), [0_usize; 0]);
    assert_eq!(fs::read(&pool).unwrap(), bytes);
    let last = documents.len() - 1;
    assert_eq!(access.extract(last as u32, 3, 50).unwrap(), documents[last].1[3..53]);
    assert_eq!(access.made_again(), [access.segment_count() - 1]);
    // All threads ask for all segments at once.
    let questions = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 3, 4);
    questions.check(&access, "made again");
    access.load().unwrap();
    assert!(access.made_again().len() > 3);
}

/// An archive that cannot be read any further ends the work as a crash does, and always at the same place.
#[test]
fn segments_that_were_done_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, pool] = ["c.tdc", "c.pool"].map(|name| folder.path().join(name));
    let documents = documents(300);
    let segments = make(&documents, &archive);
    let questions = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 4, 12);
    let whole = fs::read(&archive).unwrap();
    // Sections come in the order of segments; what belongs to the whole archive is at both ends.
    let mut damaged = whole.clone();
    let place = whole.len() / 2;
    damaged[place..place + 64].iter_mut().for_each(|byte| *byte ^= 0xFF);
    for persist in Persist::ALL {
        let _ = fs::remove_file(&pool);
        fs::write(&archive, &damaged).unwrap();
        let corpus = Corpus::open(&archive).unwrap();
        let error = Access::in_pool(&corpus, &pool, persist, Patience::default()).unwrap_err();
        assert!(matches!(error, Error::Archive(_)), "{error}");
        // All before the first one that cannot be read.
        let access = Access::open(&corpus, Index::None).unwrap();
        let readable = (0..segments).find(|&number| access.segment(number as usize).is_err());
        fs::write(&archive, &whole).unwrap();
        let found = ask(&archive, &pool, persist, &questions);
        match persist {
            Persist::Operation => {
                let (phase, done, of) = found.operations.clone().expect("it was at work");
                assert_eq!((phase.as_str(), Some(done), of), ("segments", readable, segments));
                assert!(done > 1, "{found:?}");
            }
            _ => assert!(found.operations.is_none(), "{found:?}"),
        }
    }
}

#[test]
fn a_pool_is_of_an_archive_with_its_edits() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, pool] = ["c.tdc", "c.pool"].map(|name| folder.path().join(name));
    let mut documents = documents(300);
    make(&documents, &archive);
    let before = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 5, 4);
    ask(&archive, &pool, Persist::Phase, &before);
    let mut transaction = Editor::open(&archive).unwrap().begin().unwrap();
    let document = transaction.find(documents[17].0.as_bytes()).unwrap();
    let text = b"these words are new and w1 is not".to_vec();
    transaction.edit(&Edit::Insert { document, offset: 0, text: &text }).unwrap();
    transaction.commit(Durability::Sync).unwrap();
    documents[17].1.splice(0..0, text);
    let corpus = Corpus::open(&archive).unwrap();
    let error = Access::in_pool(&corpus, &pool, Persist::Phase, Patience::default()).unwrap_err();
    assert!(matches!(error, Error::Pool(PoolError::OtherArchive { .. })), "{error}");
    fs::remove_file(&pool).unwrap();
    let after = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 6, 12);
    ask(&archive, &pool, Persist::Phase, &after);
    assert_eq!(ask(&archive, &pool, Persist::Phase, &after).finished, ["segments"]);
}

#[test]
fn operations_hold_next_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, pool] = ["c.tdc", "c.pool"].map(|name| folder.path().join(name));
    let documents = documents(900);
    make(&documents, &archive);
    let questions = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 7, 12);
    let corpus = Corpus::open(&archive).unwrap();
    let decoded = Access::open(&corpus, Index::None).unwrap();
    questions.check(&decoded, "decoded");
    decoded.load().unwrap();
    let (in_pool, _) = Access::in_pool(&corpus, &pool, Persist::None, Patience::default()).unwrap();
    questions.check(&in_pool, "in the pool");
    in_pool.load().unwrap();
    let (heap, mapped) = in_pool.memory();
    let (heap_of_decoded, _) = decoded.memory();
    assert!(heap * 20 < heap_of_decoded, "{heap} bytes, not {heap_of_decoded}");
    assert!(mapped > 2 * heap, "{mapped} bytes are mapped");
}

/// Puts an archive into a pool; for the test that kills it.
#[test]
#[ignore = "only for the test that kills it"]
fn maker() {
    let variable = |name| std::env::var(name).expect("started by the test that kills it");
    let persist = variable("TADOC_TEST_PERSIST").parse().unwrap();
    let corpus = Corpus::open(variable("TADOC_TEST_ARCHIVE")).unwrap();
    Access::in_pool(&corpus, Path::new(&variable("TADOC_TEST_POOL")), persist, Patience::default())
        .unwrap();
}

#[test]
fn a_maker_that_is_killed_leaves_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, pool] = ["c.tdc", "c.pool"].map(|name| folder.path().join(name));
    let documents = documents(2000);
    make(&documents, &archive);
    let questions = Questions::new(Lexer::Words, &documents, &Analyzer::new(), 9, 2);
    let start = |persist: Persist| {
        Command::new(std::env::current_exe().unwrap())
            .args(["pool::maker", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env("TADOC_TEST_ARCHIVE", &archive)
            .env("TADOC_TEST_POOL", &pool)
            .env("TADOC_TEST_PERSIST", persist.name())
            .env("RAYON_NUM_THREADS", "1")
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    assert!(start(Persist::Operation).wait().unwrap().success());
    let length = || fs::metadata(&pool).map_or(0, |pool| pool.len());
    let whole = length();
    let mut random = Random::new(10);
    // A kill is at a point in the work, told by the length of the pool. One that comes too late for it is
    // no kill, so this goes on until there were enough.
    let (mut killed, mut resumed, mut number) = (0, 0, 0);
    while killed < 24 || resumed == 0 {
        let persist = Persist::ALL[number % 3];
        number += 1;
        let _ = fs::remove_file(&pool);
        let point = random.below(whole);
        let mut maker = start(persist);
        while length() < point && maker.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = maker.kill();
        killed += u64::from(maker.wait().unwrap().signal() == Some(9));
        let found = ask(&archive, &pool, persist, &questions);
        resumed += u64::from(found.operations.is_some_and(|(_, done, _)| done > 0));
        assert_whole(&archive, &pool);
    }
}
