//! Questions asked one by one, in one document or in all, again and again: what is kept from one to
//! the next changes no answer. Documents share rules, phrases cross the borders of rules, and some
//! documents are far longer than their grammar.

use tadoc_engine::access::Scope;
use tadoc_engine::{Analyzer, Builder, Lexer};
use tadoc_oracle::{Document, Oracle, Random};
use tadoc_testing::archives::compress;
use tadoc_testing::numbered;

use super::support::{for_each_index, places};

/// More than the searches of all documents from which on postings are kept.
const ROUNDS: usize = 20;

/// Documents of passages that others have, too.
fn documents() -> Vec<Document> {
    let mut random = Random::new(17);
    let words: Vec<String> = (0..300).map(|number| format!("w{number}")).collect();
    let passages: Vec<String> = (0..40)
        .map(|_| {
            let length = 2 + random.below(12);
            let chosen = (0..length).map(|_| random.choose(&words).as_str());
            chosen.collect::<Vec<_>>().join([" ", ", ", "\n"][random.below(3) as usize])
        })
        .collect();
    let mut texts: Vec<Vec<u8>> = (0..30)
        .map(|_| {
            let length = random.below(60);
            let chosen = (0..length).map(|_| random.choose(&passages).as_str());
            chosen.collect::<Vec<_>>().join(" ").into_bytes()
        })
        .collect();
    // Counted on the rules, and not found to be counted.
    texts.push(format!("{} rare {}", "so so much ".repeat(3000), "so so much ".repeat(500)).into());
    texts.push("much".repeat(3).into());
    numbered(texts)
}

#[test]
fn questions_again_and_again_equal_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lone.tdc");
    let documents = documents();
    let oracle = Oracle::new(tadoc_oracle::Lexer::Words, &documents);
    let texts = ["w1", "w17", "w17 w4", "so", "so much", "much so so", "rare", "rare so", "none"];
    let mut asked: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    // Words in a row, over the ends of passages.
    let occurrences = oracle.occurrences();
    for start in (0..occurrences.len().min(4000)).step_by(97) {
        let run = &occurrences[start..occurrences.len().min(start + 1 + start % 3)];
        asked.push(run.iter().map(|&(_, _, word)| word).collect::<Vec<_>>().join(&b' '));
    }
    for builder in [Builder::RePair, Builder::Sequitur] {
        compress(&documents, &path, Lexer::Words, builder, None).unwrap();
        for_each_index(&path, |access, what| {
            for (round, text) in asked.iter().cycle().take(ROUNDS.max(2 * asked.len())).enumerate()
            {
                let what =
                    format!("{builder:?} {what}, {round}: {}", String::from_utf8_lossy(text));
                let expected = oracle.search_all(text);
                let phrase = access.phrase(text, &Analyzer::new()).unwrap();
                assert_eq!(places(access, &phrase, &Scope::All), expected, "{what}");
                for document in 0..documents.len() {
                    let own: Vec<(usize, usize)> =
                        expected.iter().copied().filter(|&(of, _)| of == document).collect();
                    let scope = Scope::Documents(vec![document as u32]);
                    let count = access.count(&phrase, &scope).unwrap();
                    assert_eq!(count, own.len() as u64, "{what} in {document}");
                    assert_eq!(places(access, &phrase, &scope), own, "{what} in {document}");
                }
            }
        });
    }
}

#[test]
fn what_is_kept_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lone.tdc");
    compress(&documents(), &path, Lexer::Words, Builder::RePair, None).unwrap();
    let corpus = tadoc_engine::Corpus::open(&path).unwrap();
    let access = tadoc_engine::access::Access::open(&corpus, super::support::INDEXES[0]).unwrap();
    access.load().unwrap();
    let (before, _) = access.memory();
    let mut kept = before;
    let phrase = access.phrase(b"w1", &Analyzer::new()).unwrap();
    for _ in 0..ROUNDS {
        for document in 0..access.documents().len() as u32 {
            access.count(&phrase, &Scope::Documents(vec![document])).unwrap();
        }
        places(&access, &phrase, &Scope::All);
        let (now, _) = access.memory();
        assert!(now >= kept, "{now} bytes, and {kept} before");
        kept = now;
    }
    // Signatures, room and postings, once.
    assert!(kept > before, "{kept} bytes, and {before} before");
    let symbols = corpus.info().segments.iter().map(|segment| segment.symbols).sum::<u64>();
    assert!(kept - before < 40 * symbols + (1 << 14), "{} bytes for {symbols}", kept - before);
}
