//! Sizes that cut small networks into many operations, and the rows of answers as text, for tests.

use proptest::prelude::*;
use tadoc_core::answer::columns::{TERM_VECTORS, TERM_WEIGHTS};
use tadoc_core::answer::{Answer, Labels, Names, Position, Value};
use tadoc_core::{Network, View};

use crate::plan::Sizes;

/// Sizes that cut small networks into many operations, and into hash tables and counters.
pub fn sizes() -> impl Strategy<Value = Sizes> {
    let size = || prop_oneof![1..5_u32, 5..80_u32, Just(u32::MAX)];
    let some = (size(), size(), size(), size(), any::<bool>());
    some.prop_map(|(symbols, stretch, keys, hashed, dense)| Sizes {
        symbols,
        stretch,
        keys,
        dense,
        hashed,
    })
}

fn shown(values: &[Value<'_>]) -> String {
    let one = |value: &Value<'_>| match value {
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Terms(terms) => String::from_utf8(terms.join(&b' ')).unwrap(),
        Value::Count(count) => count.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Time(_) => panic!("no times here"),
    };
    values.iter().map(one).collect::<Vec<_>>().join(",")
}

/// The names of all documents of the corpus.
fn names(network: &Network) -> Vec<String> {
    let count = network.documents().last().map_or(0, |&last| last + 1);
    (0..count).map(|number| format!("d{number}")).collect()
}

/// All rows, by part and by range; and as a matrix, which must have the same counts.
pub fn rows(view: &View, answer: &dyn Answer) -> Vec<String> {
    let names = names(view.network());
    let names = Names::from_iter(&names);
    let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
    let mut all = Vec::new();
    let mut at = Position::default();
    while let Some(rows) = answer.next_part(&mut at, labels).unwrap() {
        assert_eq!(rows.columns(), answer.columns());
        let before = all.len();
        rows.visit(0..rows.len(), &mut |values| {
            assert_eq!(values.len(), rows.columns().len());
            all.push(shown(values));
        });
        assert_eq!(rows.len() as usize, all.len() - before);
        let step = 1 + rows.len() / 5;
        let mut part = Vec::new();
        for start in (0..rows.len()).step_by(step as usize) {
            let end = rows.len().min(start + step);
            rows.visit(start..end, &mut |values| part.push(shown(values)));
        }
        assert_eq!(part, all[before..]);
    }
    assert!(answer.next_part(&mut at, labels).unwrap().is_none());
    let matrix = answer.entries(labels);
    let is_matrix = [TERM_VECTORS, TERM_WEIGHTS].contains(&answer.columns());
    assert_eq!(matrix.is_some(), is_matrix);
    if let Some(entries) = matrix.transpose().unwrap() {
        let (documents, terms) = entries.shape();
        assert_eq!(documents as usize, view.network().documents().len());
        assert_eq!(entries.len() as usize, all.len());
        let mut place = 0;
        entries.visit_entries(0..entries.len(), &mut |document, term, count| {
            let number = view.network().documents()[document as usize];
            assert!(term < terms && all[place].starts_with(&format!("d{number},")));
            assert!(all[place].ends_with(&format!(",{}", shown(&[count]))));
            place += 1;
        });
        assert_eq!(place, all.len());
    }
    all
}
