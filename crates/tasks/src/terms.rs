//! Terms as what documents are walked for.

use tadoc_core::{Array, Network};

use crate::Result;
use crate::bounds::{Bound, SymbolBounds, bounds};
use crate::entry::Key;
use crate::pruned::{Pruned, PrunedSlices};
use crate::tables::RuleTables;
use crate::walk::Emit;
use crate::work::Work;

/// The terms of rules. A key is 4 bytes wide, or 8 if a term can occur more than 2^32 times.
pub struct TermsOf<'n, K: Key> {
    terms: u32,
    pruned: PrunedSlices<'n>,
    bounds: Array<Bound>,
    tables: Option<RuleTables<K>>,
}

impl<'n, K: Key> TermsOf<'n, K> {
    /// The terms of a network.
    pub fn new(work: &mut Work<'_>, network: &'n Network, pruned: &'n Pruned) -> Result<Self> {
        let terms = network.grammar().token_count();
        let rules = pruned.slices();
        let own = |rule| rules.words(rule).len() as u64;
        let length = |rule| network.lengths()[rule as usize];
        let bounds = bounds(work, network, pruned, own, length, terms.into())?;
        Ok(Self { terms, pruned: rules, bounds, tables: None })
    }

    /// The same with tables for rules.
    pub fn with_tables(
        self,
        work: &mut Work<'_>,
        network: &Network,
        pruned: &Pruned,
    ) -> Result<Self> {
        let rules = pruned.slices();
        let own = |rule, each: &mut dyn FnMut(K, u64)| {
            for &[word, times] in rules.words(rule) {
                each(K::of_number(word), times.into());
            }
        };
        let tables = RuleTables::new(work, network, pruned, &self.bounds, own)?;
        Ok(Self { tables: Some(tables), ..self })
    }

    /// The bounds of every rule.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }
}

impl<K: Key> Emit for TermsOf<'_, K> {
    type Key = K;

    fn bounds(&self) -> SymbolBounds<'_> {
        SymbolBounds { items: self.terms, of_item: 1, of_rules: &self.bounds, beside: 0 }
    }

    fn most(&self) -> Bound {
        [self.terms, self.bounds.len() as u32]
    }

    #[inline]
    fn of_item(&self, item: u32) -> Option<K> {
        Some(K::of_number(item))
    }

    #[inline]
    fn of_rule(&self, rule: u32, mut each: impl FnMut(K, u64)) {
        for &[word, times] in self.pruned.words(rule) {
            each(K::of_number(word), times.into());
        }
    }

    fn tables<'s>(&'s self) -> impl Fn(u32) -> &'s [K::Entry] + Sync {
        let tables = self.tables.as_ref().map(RuleTables::slices);
        move |rule| tables.map_or(&[], |tables| tables.get(rule))
    }

    fn numbers(&self) -> Option<usize> {
        Some(self.terms as usize)
    }
}
