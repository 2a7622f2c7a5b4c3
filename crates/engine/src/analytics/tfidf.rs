//! TF-IDF: how much each term weighs in each document, by scikit-learn's definition (see [`super::score`]).

use std::ops::Range;
use std::sync::Arc;

use tadoc_core::answer::{Answer, Column, Entries, Labels, Position, Rows, Value};
use tadoc_core::{Network, Result};

use super::columns::TERM_WEIGHTS;
use super::score::{Norm, inverse_document_frequency, term_frequency};
use super::term_vector::{TermColumns, document_ranges, for_each_entry};
use crate::traverse::{DocumentLists, Tables, map_documents_in};

/// How terms are weighed; the default is scikit-learn's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TfIdfOptions {
    /// What the weights of a document are divided by.
    pub norm: Norm,
    /// Terms of many documents weigh less.
    pub use_idf: bool,
    /// As if there were one more document, which has every term.
    pub smooth_idf: bool,
    /// Counts weigh one and their logarithm.
    pub sublinear_tf: bool,
}

impl Default for TfIdfOptions {
    fn default() -> Self {
        Self { norm: Norm::L2, use_idf: true, smooth_idf: true, sublinear_tf: false }
    }
}

/// Documents, each with its terms, ascending, and their weights; or with the `top` terms that weigh most, by
/// weight descending, then term ascending.
pub(super) struct TfIdf {
    network: Arc<Network>,
    tables: Option<Tables>,
    options: TfIdfOptions,
    /// What a term's frequency is multiplied by; 0 for terms that are left out.
    factors: Vec<f64>,
    top: Option<usize>,
}

impl TfIdf {
    /// `totals` has how often each term occurs; terms below `least` are left out before anything is weighed.
    pub(super) fn new(
        network: &Arc<Network>,
        tables: Option<Tables>,
        options: TfIdfOptions,
        totals: &[u64],
        least: u64,
        top: Option<usize>,
    ) -> Self {
        let terms = totals.len();
        let documents = network.documents().len() as u64;
        let mut factors = vec![1.0; terms];
        if options.use_idf {
            let mut with_term = vec![0_u64; terms];
            for range in document_ranges(network) {
                let found =
                    map_documents_in(network, tables.as_ref(), range, |walker, documents| {
                        let mut terms: Vec<u32> = Vec::new();
                        for document in documents {
                            terms.extend_from_slice(walker.distinct(document));
                        }
                        terms
                    });
                found.iter().flatten().for_each(|&term| with_term[term as usize] += 1);
            }
            for (factor, with_term) in factors.iter_mut().zip(with_term) {
                *factor = inverse_document_frequency(documents, with_term, options.smooth_idf);
            }
        }
        for (factor, &total) in factors.iter_mut().zip(totals) {
            if total < least {
                *factor = 0.0;
            }
        }
        Self { network: network.clone(), tables, options, factors, top }
    }

    /// The weights of a range of documents: the bits of a number stand for a count in the lists.
    fn weights(&self, documents: Range<usize>) -> Vec<DocumentLists> {
        let options = &self.options;
        map_documents_in(&self.network, self.tables.as_ref(), documents, |walker, documents| {
            let mut lists = DocumentLists::new(documents.start);
            let mut row: Vec<(u32, f64)> = Vec::new();
            for document in documents {
                row.clear();
                let found = walker.document(document).iter();
                row.extend(found.filter(|&(term, _)| self.factors[term as usize] != 0.0).map(
                    |(term, count)| {
                        let frequency = term_frequency(count, options.sublinear_tf);
                        (term, frequency * self.factors[term as usize])
                    },
                ));
                let divisor = options.norm.divisor(row.iter().map(|&(_, weight)| weight));
                row.iter_mut().for_each(|(_, weight)| *weight /= divisor);
                if let Some(top) = self.top {
                    row.sort_by(|one, other| other.1.total_cmp(&one.1));
                    row.truncate(top);
                }
                for &(term, weight) in &row {
                    lists.items.push(term);
                    lists.counts.push(weight.to_bits());
                }
                lists.close();
            }
            lists
        })
    }
}

struct TfIdfRows<'a> {
    labels: Labels<'a>,
    network: &'a Network,
    lists: Vec<DocumentLists>,
    ends: Vec<u64>,
    /// Only for a matrix.
    columns: Option<TermColumns>,
}

impl<'a> TfIdfRows<'a> {
    fn new(network: &'a Network, lists: Vec<DocumentLists>, labels: Labels<'a>) -> Self {
        let mut end = 0;
        let ends = lists.iter().map(|list| {
            end += list.items.len() as u64;
            end
        });
        let ends = ends.collect();
        Self { labels, network, lists, ends, columns: None }
    }

    fn entries(&self, rows: Range<u64>, mut each: impl FnMut(usize, u32, f64)) {
        for_each_entry(&self.lists, &self.ends, rows, |document, list, entry| {
            each(document, list.items[entry], f64::from_bits(list.counts[entry]));
        });
    }
}

impl Rows for TfIdfRows<'_> {
    fn columns(&self) -> &'static [Column] {
        TERM_WEIGHTS
    }

    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let numbers = self.network.documents();
        self.entries(rows, |document, term, weight| {
            each(&[
                Value::Text(self.labels.documents.get(numbers[document])),
                Value::Text(self.labels.terms.get(term)),
                Value::Real(weight),
            ]);
        });
    }
}

impl Entries for TfIdfRows<'_> {
    fn shape(&self) -> (u64, u64) {
        let columns = self.columns.as_ref().map_or(0, |columns| columns.count);
        (self.network.documents().len() as u64, columns)
    }

    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>)) {
        let columns = self.columns.as_ref().expect("made as a matrix");
        self.entries(rows, |document, term, weight| {
            each(document as u64, columns.get(term), Value::Real(weight));
        });
    }
}

impl Answer for TfIdf {
    fn columns(&self) -> &'static [Column] {
        TERM_WEIGHTS
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let [part, ..] = at.state();
        *at = Position::new([part.saturating_add(1), 0, 0, 0]);
        let ranges = document_ranges(&self.network);
        let documents = ranges.into_iter().nth(part as usize);
        let rows = |documents| TfIdfRows::new(&self.network, self.weights(documents), labels);
        Ok(documents.map(|documents| Box::new(rows(documents)) as Box<dyn Rows>))
    }

    fn entries<'a>(&'a self, labels: Labels<'a>) -> Option<Result<Box<dyn Entries + 'a>>> {
        let lists = self.weights(0..self.network.documents().len());
        let columns = TermColumns::new(labels.terms.len(), &lists);
        let mut rows = TfIdfRows::new(&self.network, lists, labels);
        rows.columns = Some(columns);
        Some(Ok(Box::new(rows)))
    }
}
