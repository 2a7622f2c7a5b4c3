//! The documents of every rule, with how often it occurs in each.
//!
//! Documents are walked for their rules as they are for their words, and what is found is transposed. Rules that have no sequences are not
//! walked into; with tables, neither are those that have one, and what is counted of them is how often they are used by the document
//! and by rules without a table.
//!
//! Cost: the bodies of the rules that each document uses. In the pool: 8 bytes for each rule of each
//! document (12 in texts of 2^32 words and more), twice while they are transposed, and 4 bytes a rule.

use std::marker::PhantomData;

use tadoc_core::Array;

use super::keys::Key;
use super::source::{Scope, Sequences};
use super::{Budget, weights};
use crate::Result;
use crate::bounds::{Bound, SymbolBounds, bounds};
use crate::check::are_ends;
use crate::entry::{self, Count};
use crate::plan::{Plan, Sizes};
use crate::transpose::{Transposition, even_buckets};
use crate::walk::{Emit, Meeting, Walkers};
use crate::work::{Block, Blocks, Work};

/// Sections of a block: where the documents of each rule start, and where those of the last one end; documents; counts.
const STARTS: usize = 0;
const DOCUMENTS: usize = 1;
const COUNTS: usize = 2;

/// Bytes that a document of a rule takes while it is put into its place.
const BYTES_OF_AN_ENTRY: u64 = 32;

/// Rules as what documents are walked for.
pub(super) struct RulesOf<'n, R: entry::Key> {
    scope: Scope<'n>,
    items: u32,
    /// How many sequences a symbol of the root can end that are not inside it: none if rules alone matter, else those of its head.
    crossing: u32,
    bounds: Array<Bound>,
    kind: PhantomData<R>,
}

impl<'n, R: entry::Key> RulesOf<'n, R> {
    /// The rules that give sequences, with bounds of rules.
    fn of_rules(work: &mut Work<'_>, scope: Scope<'n>) -> Result<Self> {
        Self::new(work, scope, 0, |rule| scope.has_any(rule).into(), |_, _| u64::MAX)
    }

    /// The same, with bounds of the sequences that they give: what is inside a rule is at most its
    /// text. A rule of a single symbol gives none itself, so its text may have fewer sequences than
    /// there are rules, which are counted too.
    pub(super) fn of_sequences<K: Key, H: Key>(
        work: &mut Work<'_>,
        source: &Sequences<'n, K, H>,
    ) -> Result<Self> {
        let crossing = source.most_of_a_symbol() as u32;
        let lengths = source.network().lengths();
        let scope = source.scope();
        let own = |rule| source.most_of(rule).max(scope.has_any(rule).into());
        let most = |rule: u32, below: u32| lengths[rule as usize].max(u64::from(below) + 1);
        Self::new(work, scope, crossing, own, most)
    }

    fn new(
        work: &mut Work<'_>,
        scope: Scope<'n>,
        crossing: u32,
        own: impl Fn(u32) -> u64 + Sync,
        most: impl Fn(u32, u32) -> u64 + Sync,
    ) -> Result<Self> {
        let network = scope.network;
        let bounds = bounds(work, network, own, most, u32::MAX.into())?;
        let items = network.grammar().token_count();
        Ok(Self { scope, items, crossing, bounds, kind: PhantomData })
    }
}

impl<R: entry::Key> Emit for RulesOf<'_, R> {
    type Key = R;

    fn bounds(&self) -> SymbolBounds<'_> {
        let (of_item, beside) = (self.crossing.min(1), self.crossing);
        SymbolBounds { items: self.items, of_item, of_rules: &self.bounds, beside }
    }

    fn most(&self) -> Bound {
        [u32::MAX, self.bounds.len() as u32]
    }

    #[inline]
    fn of_item(&self, _: u32) -> Option<R> {
        None
    }

    #[inline]
    fn of_rule(&self, rule: u32) -> Option<R> {
        Some(R::of_number(rule))
    }

    #[inline]
    fn meet(&self, rule: u32) -> Meeting<'_, R> {
        match self.scope.descends(rule) {
            true => Meeting::Waits,
            false => Meeting::Leaf(self.scope.has_any(rule).then(|| R::of_number(rule))),
        }
    }

    fn is_plain(&self) -> bool {
        false
    }

    fn numbers(&self) -> Option<usize> {
        Some(self.bounds.len())
    }
}

/// The documents of every rule, ascending.
pub(super) struct RuleDocuments<C> {
    blocks: Blocks,
    /// The first rule of every block.
    firsts: Vec<u32>,
    kind: PhantomData<C>,
}

impl<C: Count> RuleDocuments<C> {
    /// Walks all documents, with rules as keys that have counts of this width.
    pub(super) fn new<R: entry::Key<Count = C>>(
        work: &mut Work<'_>,
        scope: Scope<'_>,
    ) -> Result<Self> {
        let network = scope.network;
        let documents = network.documents().len() as u64;
        let weights = weights::of_rules(work, scope)?;
        let entries = weights.iter().map(|&weight| weight.min(documents));
        let at_once = Budget::new(work)
            .records(BYTES_OF_AN_ENTRY, entries.clone().fold(0, u64::saturating_add));
        let buckets = even_buckets::<R>(entries, at_once);
        let firsts: Vec<u32> =
            std::iter::once(0).chain(buckets.iter().map(|first| first.number())).collect();
        let rules = RulesOf::<R>::of_rules(work, scope)?;
        let plan =
            Plan::new(work, "rules that documents can have", network, &rules, Sizes::default())?;
        let walkers = Walkers::new(work, network, &plan, &rules)?;
        let found = Transposition::new(work, "rules of documents", &walkers, buckets, true)?;
        let end_of = |bucket: usize| {
            firsts.get(bucket + 1).copied().unwrap_or(network.grammar().rule_count())
        };
        let are_of_rules = |bucket: usize, block: Block<'_>| {
            let (starts, places) =
                (block.section::<u32>(STARTS)?, block.section::<u32>(DOCUMENTS)?);
            let counts = block.section::<C>(COUNTS)?;
            Some(
                starts.len() == (end_of(bucket) - firsts[bucket]) as usize + 1
                    && are_ends(starts.iter().map(|&start| start.into()), places.len())
                    && counts.len() == places.len()
                    && places.iter().all(|&place| u64::from(place) < documents),
            )
        };
        let phase = "documents of rules";
        let blocks = work.append(phase, found.buckets(), are_of_rules, |bucket, block| {
            let postings = found.postings(bucket);
            let end = end_of(bucket);
            let mut starts: Vec<u32> = Vec::with_capacity((end - firsts[bucket]) as usize + 1);
            let mut start = 0;
            let mut entries = postings.keys.iter().zip(&postings.ends).peekable();
            for rule in firsts[bucket]..end {
                starts.push(start);
                if let Some((_, &end)) = entries.next_if(|(key, _)| key.number() == rule) {
                    start = end as u32;
                }
            }
            starts.push(start);
            block.put(&starts);
            block.put(&postings.documents);
            block.put(&postings.counts);
            Ok(())
        })?;
        Ok(Self { blocks, firsts, kind: PhantomData })
    }

    /// The documents of a rule, and how often it occurs in each.
    #[inline]
    pub(super) fn get(&self, rule: u32) -> (&[u32], &[C]) {
        let block = self.firsts.partition_point(|&first| first <= rule) - 1;
        let place = (rule - self.firsts[block]) as usize;
        let starts = &self.blocks.section::<u32>(block, STARTS)[place..place + 2];
        let own = starts[0] as usize..starts[1] as usize;
        let documents = &self.blocks.section::<u32>(block, DOCUMENTS)[own.clone()];
        (documents, &self.blocks.section::<C>(block, COUNTS)[own])
    }
}
