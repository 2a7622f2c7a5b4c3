//! Archives of several segments: documents that go on from one to the next are whole again.

use tadoc_core::{Limits, Task};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Document, Oracle};
use tadoc_testing::archives::{compress, least_memory, oracle_lexer, thread_pool};
use tadoc_testing::numbered;

use super::support::{Question, check, expected_of, names, plain_view, rows, some_questions};

/// Text that is cut is cut after so many bytes.
const BATCH: usize = 8 << 20;

/// Words, and then separators until the text is so long. Few words make a long text, so that the plain program is
/// not kept busy; and words stand on both sides of every place where the text is cut.
fn stretched(words: &str, length: usize) -> Vec<u8> {
    let mut text = words.as_bytes().to_vec();
    text.resize(length, b' ');
    text
}

fn documents() -> Vec<Document> {
    let passage = "to be or not to be that is the question ".repeat(5);
    let long = [
        stretched(&passage, BATCH - 7),
        // This one is cut among its words.
        stretched(&format!("{passage} whether tis nobler {passage}"), BATCH),
        stretched("in the mind ", BATCH),
        passage.clone().into_bytes(),
    ];
    let texts = [
        b"to be or not".to_vec(),
        long.concat(),
        Vec::new(),
        b"to be".to_vec(),
        [stretched("the question ", BATCH), stretched("that is ", BATCH / 2), b"the end".to_vec()]
            .concat(),
        b" ".to_vec(),
    ];
    numbered(texts)
}

#[test]
fn documents_that_go_on_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.tdc");
    let least = least_memory(&path);
    let documents = documents();
    for (lexer, builder) in
        [(Lexer::Words, Builder::RePair), (Lexer::Whitespace, Builder::Sequitur)]
    {
        let segments = compress(&documents, &path, lexer, builder, Some(least)).unwrap();
        assert!(segments >= 6, "{segments} segments");
        let oracle = Oracle::new(oracle_lexer(lexer), &documents);
        let mut questions = some_questions();
        questions.extend((2..=8).map(|n| Question::Task(Task::SequenceCount { n })));
        questions.push(Question::Cooccurrence { window: 64, ordered: true });
        let expected = expected_of(&oracle, &documents, &questions, None);
        for threads in [1, 3] {
            thread_pool(threads).install(|| {
                let view = plain_view(&path);
                assert_eq!(view.network().parts().len() as u64, segments);
                assert_eq!(view.network().documents().len(), documents.len());
                let what = || format!("{lexer:?} {builder:?}");
                check(&view, &documents, &expected, Limits::default(), &what);
            });
        }
    }
}

/// Chosen documents of an archive of several segments, also one that goes on.
#[test]
fn some_documents_of_several_segments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.tdc");
    let least = least_memory(&path);
    let documents = documents();
    compress(&documents, &path, Lexer::Words, Builder::RePair, Some(least)).unwrap();
    let corpus = tadoc_engine::Corpus::open(&path).unwrap();
    for chosen in [&[1_u32][..], &[0, 4], &[1, 2, 3, 4], &[2, 5], &[]] {
        let oracle = Oracle::new(tadoc_oracle::Lexer::Words, &documents)
            .with_documents(chosen.iter().map(|&number| number as usize));
        let expected = expected_of(&oracle, &documents, &some_questions(), None);
        let view =
            tadoc_engine::view::make(&[&corpus], &tadoc_engine::Analyzer::new(), Some(chosen), &())
                .unwrap();
        assert_eq!(&view.network().documents()[..], chosen);
        check(&view, &documents, &expected, Limits::default(), &|| format!("{chosen:?}"));
    }
}

/// Every document a segment of its own: the same rows as in one segment.
#[test]
fn rows_do_not_depend_on_segments() {
    let folder = tempfile::tempdir().unwrap();
    let (one, many) = (folder.path().join("one.tdc"), folder.path().join("many.tdc"));
    let least = least_memory(&one);
    let texts = (0..40).map(|number| {
        let words = (0..60).map(|word| format!("w{} ", (number * word) % 37 % (word + 1)));
        words.collect::<String>().into_bytes()
    });
    let documents = numbered(texts);
    assert_eq!(compress(&documents, &one, Lexer::Words, Builder::RePair, None).unwrap(), 1);
    let segments = compress(&documents, &many, Lexer::Words, Builder::RePair, Some(least)).unwrap();
    assert!(segments > 10, "{segments}");
    let (one, many) = (plain_view(&one), plain_view(&many));
    let names = names(&documents);
    let limits = Limits::default();
    for question in some_questions() {
        let of_one = rows(&*question.ask(&one, &limits).unwrap().answer, &one, &names);
        let of_many = rows(&*question.ask(&many, &limits).unwrap().answer, &many, &names);
        assert!(of_one == of_many, "{question:?}");
    }
}
