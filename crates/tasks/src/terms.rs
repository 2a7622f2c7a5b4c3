//! Terms as what documents are walked for.

use tadoc_core::{Array, Network};

use crate::Result;
use crate::bounds::{Bound, SymbolBounds, bounds};
use crate::entry::Key;
use crate::tables::RuleTables;
use crate::walk::{Emit, Meeting};
use crate::work::Work;

/// The terms of rules. A key is 4 bytes wide, or 8 if a term can occur more than 2^32 times.
pub struct TermsOf<'n, K: Key> {
    network: &'n Network,
    bounds: Array<Bound>,
    tables: Option<RuleTables<K>>,
}

impl<'n, K: Key> TermsOf<'n, K> {
    /// The terms of a network.
    pub fn new(work: &mut Work<'_>, network: &'n Network) -> Result<Self> {
        let grammar = network.grammar().slices();
        let is_item = |&&symbol: &&u32| grammar.rule_of(symbol).is_none();
        let own = |rule| grammar.body(rule).iter().filter(is_item).count() as u64;
        let length = |rule, _| network.lengths()[rule as usize];
        let bounds = bounds(work, network, own, length, network.grammar().token_count().into())?;
        Ok(Self { network, bounds, tables: None })
    }

    /// The same with tables for rules.
    pub fn with_tables(self, work: &mut Work<'_>) -> Result<Self> {
        let tables = RuleTables::new(work, self.network, &self.bounds)?;
        Ok(Self { tables: Some(tables), ..self })
    }

    /// The bounds of every rule.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// The terms of a rule, if it has a table; entries without a count end it.
    #[inline]
    pub fn table(&self, rule: u32) -> Option<&[K::Entry]> {
        self.tables.as_ref().map(|tables| tables.get(rule)).filter(|table| !table.is_empty())
    }
}

impl<K: Key> Emit for TermsOf<'_, K> {
    type Key = K;

    fn bounds(&self) -> SymbolBounds<'_> {
        let items = self.network.grammar().token_count();
        SymbolBounds { items, of_item: 1, of_rules: &self.bounds, beside: 0 }
    }

    fn most(&self) -> Bound {
        [self.network.grammar().token_count(), self.bounds.len() as u32]
    }

    #[inline]
    fn of_item(&self, item: u32) -> Option<K> {
        Some(K::of_number(item))
    }

    #[inline]
    fn of_rule(&self, _: u32) -> Option<K> {
        None
    }

    #[inline]
    fn meet(&self, rule: u32) -> Meeting<'_, K> {
        self.table(rule).map_or(Meeting::Waits, Meeting::Table)
    }

    fn numbers(&self) -> Option<usize> {
        Some(self.network.grammar().token_count() as usize)
    }

    fn is_plain(&self) -> bool {
        self.tables.is_none()
    }
}
