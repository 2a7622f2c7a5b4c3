//! Tasks of your own, which run in memory and in a pool as the others do.
//!
//! A [`CustomTask`] is a chain of phases that [`Phases`] runs, each of which makes a table: values of
//! rules from those below them ([`Phases::fold`]), how often everything occurs ([`Phases::weights`]), a
//! value of each document ([`Phases::documents`]), or blocks of any length ([`Phases::blocks`]). What a
//! phase is given must be a function of the view, of what [`CustomTask::key`] tells and of the tables
//! before it: in a pool a phase that was interrupted goes on, and one that is finished is not run
//! again.
//!
//! Every phase takes a check of what is read of its values without another look, such as that a number
//! can be an index: tables that an earlier process left in a pool and that fail it are made again.

use bytemuck::Pod;
use tadoc_core::{Array, Network, View};

use crate::entry::{Entry, Key};
use crate::plan::{Plan, Sizes};
use crate::terms::TermsOf;
use crate::walk::Walkers;
use crate::weights::Weights;
use crate::work::{Block, BlockBuilder, Blocks, Starts, Work, level_end};
use crate::{Error, Result};

/// A task of your own.
///
/// ```
/// use tadoc_core::{Array, Grammar, Network, Part, Terms, View};
/// use tadoc_tasks::{CpuBackend, CustomTask, Phases, Result};
///
/// /// How many different terms each document has.
/// struct DistinctTerms;
///
/// impl CustomTask for DistinctTerms {
///     type Answer = Array<u32>;
///
///     fn name(&self) -> &str {
///         "distinct terms"
///     }
///
///     fn key(&self) -> Vec<u8> {
///         b"distinct terms, version 1".to_vec()
///     }
///
///     fn run(&self, phases: &mut Phases<'_, '_>) -> Result<Self::Answer> {
///         let terms = phases.view().terms().len();
///         let can_be = |&count: &u32| count <= terms;
///         phases.documents("distinct terms", can_be, |_, found| found.len() as u32)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// // "to be or not to be" and "be": rule 0, which is symbol 4, is "to be".
/// let terms = Terms::new(b"benotorto".to_vec(), vec![2, 5, 7, 9])?;
/// let symbols = vec![4, 2, 1, 4, 0, 3, 0];
/// let grammar = Grammar::new(4, symbols, vec![5, 7], vec![0, 4, 5])?;
/// let network = Network::new(grammar, vec![Part { root: 0..5, rules: 0..1 }], vec![0, 1])?;
/// let view = View::new(terms, network)?;
///
/// let memory = 1 << 20;
/// let counts = CpuBackend.run(&view, &DistinctTerms, memory)?;
/// assert_eq!(counts[..], [4, 1]);
/// # Ok(())
/// # }
/// ```
pub trait CustomTask {
    /// What it gives. Tables are handles, which are good for as long as they are held.
    type Answer;

    /// What it is, for messages.
    fn name(&self) -> &str;

    /// What makes two runs on one view the same: the task, its version and all that its phases depend
    /// on beside the view. A pool finds what was done by it.
    fn key(&self) -> Vec<u8>;

    /// Runs its phases, in the same order for the same key.
    ///
    /// # Errors
    /// What a phase gives.
    fn run(&self, phases: &mut Phases<'_, '_>) -> Result<Self::Answer>;
}

/// Runs the phases of a [`CustomTask`], each with a name that is its own. All work is done on the rayon
/// pool of the caller.
pub struct Phases<'p, 's> {
    work: &'p mut Work<'s>,
    view: &'p View,
}

impl<'p, 's> Phases<'p, 's> {
    /// Phases over a view.
    pub fn new(work: &'p mut Work<'s>, view: &'p View) -> Self {
        Self { work, view }
    }

    /// The view: its terms, and the grammar over them.
    pub fn view(&self) -> &'p View {
        self.view
    }

    /// How often every term and every rule occurs: weights from the root down to the rules. An addition for
    /// every symbol of a rule.
    ///
    /// ```
    /// # use tadoc_tasks::{Phases, Result};
    /// fn most_frequent(phases: &mut Phases<'_, '_>) -> Result<u64> {
    ///     Ok(phases.weights()?.items().iter().copied().max().unwrap_or(0))
    /// }
    /// ```
    ///
    /// # Errors
    /// If the storage fails.
    pub fn weights(&mut self) -> Result<Weights> {
        Weights::new(self.work, self.view.network())
    }

    /// A value for every rule, from the rules up: `value` gets a rule's body and what gives the value of a
    /// rule in it, by number. Every symbol is looked at once.
    ///
    /// ```
    /// # use tadoc_core::Array;
    /// # use tadoc_tasks::{Phases, Result};
    /// /// How deep each rule is.
    /// fn depths(phases: &mut Phases<'_, '_>) -> Result<Array<u32>> {
    ///     let network = phases.view().network();
    ///     let grammar = network.grammar();
    ///     let can_be = |&depth: &u32| depth <= grammar.rule_count();
    ///     phases.fold("depths", can_be, |body, of_rule| {
    ///         let rules = body.iter().filter_map(|&symbol| grammar.rule_of(symbol));
    ///         1 + rules.map(of_rule).max().unwrap_or(0)
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// If the storage fails.
    pub fn fold<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        can_be: impl Fn(&T) -> bool + Sync,
        value: impl Fn(&[u32], &dyn Fn(u32) -> T) -> T + Sync,
    ) -> Result<Array<T>> {
        let network = self.view.network();
        let (grammar, levels) = (network.grammar(), network.levels());
        let are_values = |_, own: &[T], _: &[T]| own.iter().all(&can_be);
        self.work.fill_upwards(phase, Starts::One, levels, are_values, |rules, own, below| {
            let behind = level_end(levels, rules.start);
            let of_rule = |rule: u32| below[(rule - behind) as usize];
            for (rule, own) in rules.zip(own) {
                *own = value(grammar.body(rule), &of_rule);
            }
        })
    }

    /// A value for every document of the view, in their order: `value` gets a document's place and its
    /// terms, ascending, each with its count. A document looks at every rule that it uses once, and is
    /// one thread's work.
    ///
    /// # Errors
    /// [`Error::CountsOnly`] if the view does not know where terms occur, and if the storage fails.
    pub fn documents<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        can_be: impl Fn(&T) -> bool + Sync,
        value: impl Fn(u32, &[(u32, u64)]) -> T + Sync,
    ) -> Result<Array<T>> {
        let network = self.view.network();
        if !network.has_root() {
            return Err(Error::CountsOnly);
        }
        // A term may occur as often as there are items.
        match network.length() <= u32::MAX.into() {
            true => self.documents_by::<u32, T>(network, phase, can_be, value),
            false => self.documents_by::<u64, T>(network, phase, can_be, value),
        }
    }

    fn documents_by<K: Key, T: Pod + Send + Sync>(
        &mut self,
        network: &Network,
        phase: &'static str,
        can_be: impl Fn(&T) -> bool + Sync,
        value: impl Fn(u32, &[(u32, u64)]) -> T + Sync,
    ) -> Result<Array<T>> {
        let terms = TermsOf::<K>::new(self.work, network)?;
        // A document is never cut.
        let sizes = Sizes { stretch: u32::MAX, keys: u32::MAX, ..Sizes::default() };
        let plan = Plan::new(self.work, "bounds of documents", network, &terms, sizes)?;
        let walkers = Walkers::new(self.work, network, &plan, &terms)?;
        let starts = plan.operations().iter().map(|operation| operation.documents.start as usize);
        let cuts: Vec<usize> = starts.chain([network.documents().len()]).collect();
        let are_values = |_, own: &[T]| own.iter().all(&can_be);
        self.work.fill(phase, &cuts, are_values, |operation, own| {
            let mut own = own.iter_mut();
            let mut terms = Vec::new();
            walkers.walk(operation, |stretch, found| {
                terms.clear();
                terms.extend(found.iter().map(|entry| (entry.key().number(), entry.count())));
                let own = own.next().expect("a stretch for each document");
                *own = value(stretch.document, &terms);
            });
        })
    }

    /// Blocks, one by each of so many operations, which are lists of numbers of any length. `check` gets an
    /// operation and its block as it was found; nothing is as good as a no.
    ///
    /// ```
    /// # use tadoc_tasks::{Phases, Result};
    /// /// The lengths of terms by their first byte.
    /// fn lengths(phases: &mut Phases<'_, '_>) -> Result<Vec<u64>> {
    ///     let terms = phases.view().terms();
    ///     let are_numbers = |_, block: tadoc_tasks::work::Block<'_>| {
    ///         block.section::<u64>(0).map(|_| true)
    ///     };
    ///     let blocks = phases.blocks("lengths", 256, are_numbers, |first, block| {
    ///         let all = (0..terms.len()).map(|term| terms.get(term));
    ///         let own = all.filter(|term| term.first() == Some(&(first as u8)));
    ///         block.put(&own.map(|term| term.len() as u64).collect::<Vec<_>>());
    ///         Ok(())
    ///     })?;
    ///     Ok(blocks.section(usize::from(b'b'), 0).to_vec())
    /// }
    /// ```
    ///
    /// # Errors
    /// What an operation gives, and if the storage fails.
    pub fn blocks(
        &mut self,
        phase: &'static str,
        operations: usize,
        check: impl Fn(usize, Block<'_>) -> Option<bool> + Sync,
        work: impl Fn(usize, &mut BlockBuilder<'_>) -> Result<()> + Sync,
    ) -> Result<Blocks> {
        self.work.append(phase, operations, check, work)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use tadoc_testing::networks::{counts_only, deep, shapes, texts, view};

    fn phased<T>(view: &View, run: impl FnOnce(&mut Phases<'_, '_>) -> Result<T>) -> Result<T> {
        let mut work = Work::volatile(1 << 20);
        run(&mut Phases::new(&mut work, view))
    }

    /// The places, terms and occurrences of a document.
    fn summary(document: u32, terms: &[(u32, u64)]) -> [u64; 3] {
        [document.into(), terms.len() as u64, terms.iter().map(|&(_, count)| count).sum()]
    }

    proptest! {
        #[test]
        fn phases_give_what_the_text_says(shape in shapes()) {
            let view = view(shape.network());
            let network = view.network();
            let grammar = network.grammar();
            let lengths = phased(&view, |phases| {
                phases.fold("lengths", |_| true, |body, of_rule| {
                    let length = |&symbol: &u32| grammar.rule_of(symbol).map_or(1, of_rule);
                    body.iter().map(length).sum()
                })
            });
            prop_assert_eq!(&lengths.unwrap()[..], network.lengths());
            let texts = texts(network);
            let mut totals = vec![0_u64; grammar.token_count() as usize];
            texts.iter().flatten().for_each(|&term| totals[term as usize] += 1);
            let weights = phased(&view, |phases| phases.weights()).unwrap();
            prop_assert_eq!(weights.items(), &totals[..]);
            let found = phased(&view, |phases| phases.documents("documents", |_| true, summary));
            let expected = (0_u32..).zip(&texts).map(|(document, text)| {
                let mut counts = BTreeMap::new();
                text.iter().for_each(|&term| *counts.entry(term).or_default() += 1);
                summary(document, &counts.into_iter().collect::<Vec<_>>())
            });
            prop_assert_eq!(&found.unwrap()[..], &expected.collect::<Vec<_>>()[..]);
        }
    }

    #[test]
    fn counts_beyond_32_bits() {
        let view = view(deep(41));
        let found = phased(&view, |phases| phases.documents("documents", |_| true, summary));
        let occurrences: u64 = found.unwrap().iter().map(|&[_, _, occurrences]| occurrences).sum();
        assert_eq!(occurrences, view.network().length());
        assert!(occurrences > 1 << 32);
    }

    #[test]
    fn views_of_counts_have_no_documents() {
        let view = view(counts_only(&deep(3)));
        let found = phased(&view, |phases| phases.documents("documents", |_| true, summary));
        assert!(matches!(found, Err(Error::CountsOnly)));
        assert!(phased(&view, |phases| phases.weights()).is_ok());
    }
}
