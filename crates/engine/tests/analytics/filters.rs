//! Least counts, limits on rows, chosen documents, analyzers and several corpora, in combination.

use tadoc_core::Limits;
use tadoc_engine::{Analyzer, Builder, Corpus, Language, Lexer, StopWords};
use tadoc_oracle::{Case, Document, Oracle, cases};
use tadoc_testing::archives::{compress, oracle_lexer, thread_pool};
use tadoc_testing::numbered;

use super::support::{Question, check, expected_of, names, rows, some_questions};

/// Cases of several documents that the plain program does not take long for.
fn small_cases() -> Vec<Case> {
    let mut cases = cases();
    cases.retain(|case| case.documents.len() > 2 && case.size() < 20_000);
    assert!(cases.len() > 4, "{} cases", cases.len());
    let text = "The cats, the CAT and a dog: connections connected, Connecting cats. ".repeat(4);
    let texts = (0..9).map(|number| match number % 4 {
        3 => Vec::new(),
        _ => text.as_bytes()[number * 3..text.len() - number * 7].to_vec(),
    });
    cases.push(Case { name: "english".to_owned(), documents: numbered(texts.collect::<Vec<_>>()) });
    cases
}

fn analyzers() -> Vec<Analyzer> {
    let english = || StopWords::of(Language::English).unwrap();
    vec![
        Analyzer::new().fold_case(true),
        Analyzer::new().stem(Some(Language::English)).stop_words(english()),
        Analyzer::new().stop_words(english()).matching("[aeiou]").unwrap(),
        // Nothing is left.
        Analyzer::new().matching("^$").unwrap(),
    ]
}

/// Questions of which the first rows are the same whatever the rounding.
fn limited_questions() -> Vec<Question> {
    let mut questions = some_questions();
    questions.retain(|question| !matches!(question, Question::Collocations { .. }));
    questions
}

fn check_filters(
    corpora: &[&Corpus],
    documents: &[Document],
    lexer: Lexer,
    analyzer: &Analyzer,
    chosen: Option<&[u32]>,
    what: &dyn Fn() -> String,
) {
    let view = tadoc_engine::view::make(corpora, analyzer, chosen, &()).unwrap();
    for (least, top) in [(1, None), (3, None), (1, Some(2)), (2, Some(1)), (2, Some(30))] {
        let own = analyzer.clone();
        let mut oracle = Oracle::new(oracle_lexer(lexer), documents)
            .with_analyzer(move |word| own.term(word).map(|term| term.into_owned()))
            .with_min_count(least);
        if let Some(chosen) = chosen {
            oracle = oracle.with_documents(chosen.iter().map(|&number| number as usize));
        }
        let questions = if top.is_none() { some_questions() } else { limited_questions() };
        let expected = expected_of(&oracle, documents, &questions, top);
        let limits = Limits { least, top, ..Default::default() };
        check(&view, documents, &expected, limits, &|| format!("{} {chosen:?}", what()));
    }
}

#[test]
fn filters_equal_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for (number, case) in small_cases().iter().enumerate() {
        let lexer = [Lexer::Words, Lexer::Whitespace][number % 2];
        let builder = [Builder::RePair, Builder::Sequitur][number / 2 % 2];
        compress(&case.documents, &path, lexer, builder, None).unwrap();
        let corpus = Corpus::open(&path).unwrap();
        let count = case.documents.len() as u32;
        let odd: Vec<u32> = (0..count).filter(|number| number % 2 == 1).collect();
        let last = [count - 1];
        let mut ways = vec![(Analyzer::new(), Some(&odd[..])), (Analyzer::new(), Some(&last[..]))];
        // One analyzer a case is enough, and all of them for the text that is made for them.
        let all = analyzers();
        let own = if case.name == "english" { 0..4 } else { number % 4..number % 4 + 1 };
        for analyzer in &all[own] {
            ways.push((analyzer.clone(), None));
            ways.push((analyzer.clone(), Some(&odd[..])));
        }
        thread_pool(1 + number % 3).install(|| {
            for (analyzer, chosen) in &ways {
                let what = || format!("{} {lexer:?} {builder:?} {analyzer:?}", case.name);
                check_filters(&[&corpus], &case.documents, lexer, analyzer, *chosen, &what);
            }
        });
    }
}

#[test]
fn several_corpora_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let texts = |count: usize, step: usize| {
        let words = ["the", "cat", "sat", "on", "the", "mat", "Cat", "and", "purred"];
        let text = |number: usize| {
            let words = (0..number * 5).map(|word| words[(word * step + number) % words.len()]);
            words.collect::<Vec<_>>().join(" ").into_bytes()
        };
        numbered((0..count).map(text))
    };
    // Names come again in another corpus, and one corpus has no words.
    let corpora = [texts(4, 1), texts(1, 1), texts(3, 2), texts(6, 4)];
    let lexers = [Lexer::Words, Lexer::Words, Lexer::Whitespace, Lexer::Words];
    let opened: Vec<Corpus> = corpora
        .iter()
        .zip(lexers)
        .enumerate()
        .map(|(number, (documents, lexer))| {
            let path = folder.path().join(format!("{number}.tdc"));
            compress(documents, &path, lexer, Builder::RePair, None).unwrap();
            Corpus::open(&path).unwrap()
        })
        .collect();
    let opened: Vec<&Corpus> = opened.iter().collect();
    let documents: Vec<Document> = corpora.concat();
    for analyzer in [Analyzer::new(), Analyzer::new().fold_case(true)] {
        for chosen in [None, Some(&[3_u32, 5, 6, 7, 13][..]), Some(&[0][..]), Some(&[][..])] {
            check_filters(&opened, &documents, Lexer::Words, &analyzer, chosen, &|| {
                "several".to_owned()
            });
        }
    }
    // No corpus at all has answers too.
    check_filters(&[], &[], Lexer::Words, &Analyzer::new(), None, &|| "none".to_owned());
}

/// A limit keeps the first rows of the whole answer, and nothing else; groups have it each.
#[test]
fn limited_rows_are_the_first_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let case = small_cases().pop().unwrap();
    compress(&case.documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let view = super::support::plain_view(&path);
    let names = names(&case.documents);
    for question in some_questions() {
        let Question::Collocations { measure, .. } = question else { continue };
        for least in [1, 4] {
            let limits = Limits { least, ..Default::default() };
            let all = rows(&*question.ask(&view, &limits).unwrap().answer, &view, &names);
            super::support::assert_order_of_scores(&all, measure);
            for top in [0, 1, 7, all.len(), all.len() + 1] {
                let limits = Limits { top: Some(top), ..limits };
                let first = rows(&*question.ask(&view, &limits).unwrap().answer, &view, &names);
                assert_eq!(first, all[..top.min(all.len())], "{question:?} {limits:?}");
            }
        }
    }
}
