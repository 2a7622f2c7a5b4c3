//! From bytes to a grammar. Nothing in the bytes is believed: every number is checked before it is used,
//! and memory is taken only in proportion to the bytes that are there.

use std::sync::Arc;

use crate::usize_of;

use super::items::Items;
use super::symbols::Blocks;
use super::{Symbols, symd, symx};
use crate::CancelFlag;
use crate::archive::integers;
use crate::archive::wire::Reader;
use crate::budget::{Budget, Counted, Share};
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::spill::SpillVec;

/// Where rules and documents are among the symbols of a grammar.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) token_count: u32,
    /// As [`Grammar::rule_starts`].
    pub(super) rule_starts: SpillVec<u32>,
    /// As [`Grammar::document_starts`].
    pub(super) document_starts: SpillVec<u32>,
}

impl Layout {
    pub(super) fn symbol_count(&self) -> u64 {
        u64::from(*self.rule_starts.last().expect("there is always one boundary"))
    }
}

/// Decodes the three sections of a grammar; the symbols of a fast one on all threads.
pub(crate) fn decode(
    items: &[u8],
    symbols: Symbols<'_>,
    root: &[u8],
    budget: &Budget,
    cancel: &CancelFlag,
) -> Result<Grammar> {
    let (share, work) = (budget.share(), budget.share());
    let items = Items::decode(items, &work)?;
    let layout = layout(&items, root, &share)?;
    let all = layout.symbol_count();
    let symbols = decode_any(symbols, &items, &layout, all, [&share, &work], cancel)?;
    let Layout { token_count, rule_starts, document_starts } = layout;
    Ok(Grammar::new(
        token_count,
        symbols.into_array(),
        rule_starts.into_array(),
        document_starts.into_array(),
    )?
    .holding(share))
}

/// Decodes at least the first `wanted` symbols, of a fast grammar just these. Takes what they need of the first share, and what decoding them needs of
/// the second one.
fn decode_any(
    symbols: Symbols<'_>,
    items: &Items,
    layout: &Layout,
    wanted: u64,
    shares: [&Share; 2],
    cancel: &CancelFlag,
) -> Result<SpillVec<u32>> {
    match symbols {
        Symbols::Fast(section) => {
            let [share, work] = shares;
            let blocks = Blocks::open(section, items, layout.symbol_count(), work)?;
            blocks.decode(section, items, 0..usize_of(wanted), share)
        }
        Symbols::Single(section) => symd::decode(section, items, layout, shares, cancel),
        Symbols::Streams(section) => symx::decode(section, items, layout, shares, cancel),
    }
}

/// Decodes the symbols of the root alone; those of a dense one can only be decoded with all others.
pub(crate) fn decode_root(
    items: &[u8],
    symbols: Symbols<'_>,
    root: &[u8],
    budget: &Budget,
) -> Result<Counted<SpillVec<u32>>> {
    let (share, work) = (budget.share(), budget.share());
    let items = Items::decode(items, &work)?;
    let layout = layout(&items, root, &work)?;
    let root_length = layout.rule_starts[0];
    let wanted = root_length.into();
    let never = &CancelFlag::default();
    let mut symbols = decode_any(symbols, &items, &layout, wanted, [&share, &work], never)?;
    symbols.truncate(root_length as usize);
    Ok(Counted::new(symbols, share))
}

/// Where everything is, by the lengths of rules and documents.
fn layout(items: &Items, root: &[u8], share: &Share) -> Result<Layout> {
    let document_starts = document_starts(root, share)?;
    share.grow(size_of::<u32>() as u64 * (u64::from(items.rule_count()) + 1), WHAT)?;
    let root_length = *document_starts.last().expect("there is always one boundary");
    let rule_starts = items.rule_starts(root_length).ok_or_else(too_many)?;
    Ok(Layout { token_count: items.token_count, rule_starts, document_starts })
}

fn too_many() -> Error {
    Error::malformed("the lengths of the rules pass 2^32")
}

/// Where documents start in the root, and its end.
fn document_starts(section: &[u8], share: &Share) -> Result<SpillVec<u32>> {
    let mut reader = Reader::new(section, "section ROOT");
    let lengths = integers::read(&mut reader, share.budget(), WHAT)?;
    share.grow(size_of::<u32>() as u64 * (lengths.len() as u64 + 1), WHAT)?;
    let mut starts = share.spill().with_capacity(lengths.len() + 1);
    starts.push(0_u32);
    let mut end = 0_u64;
    for &length in lengths.iter() {
        end = end.saturating_add(length);
        starts.push(
            u32::try_from(end).map_err(|_| reader.malformed("the root passes 2^32 symbols"))?,
        );
    }
    reader.finish()?;
    Ok(starts)
}

/// What memory is taken for, in errors.
pub(super) const WHAT: &str = "the grammar";
/// A grammar of which the items are decoded, and no symbols.
#[derive(Debug)]
pub(crate) struct OpenedGrammar {
    items: Items,
    document_starts: SpillVec<u32>,
    budget: Budget,
    work: Share,
}

impl OpenedGrammar {
    /// Decodes the sections `ITEM` and `ROOT`.
    pub(crate) fn open(items: &[u8], root: &[u8], budget: &Budget) -> Result<Self> {
        let work = budget.share();
        let (bytes, decode) = (items.len() as u64, || Items::decode(items, &work));
        let items = budget.steps().measure("items", bytes, decode)?;
        let document_starts = document_starts(root, &work)?;
        Ok(Self { items, document_starts, budget: budget.clone(), work })
    }

    /// Decodes the rules; `symbols` is the section `SYMB`.
    pub(crate) fn decode_rules(self, symbols: SpillVec<u8>) -> Result<CodedGrammar> {
        let Self { items, document_starts, budget, work } = self;
        let (share, steps) = (budget.share(), budget.steps());
        let root_length = *document_starts.last().expect("there is always one boundary");
        let all = u64::from(root_length).saturating_add(items.body_symbols());
        if all > u64::from(u32::MAX) {
            return Err(too_many());
        }
        let open = || Blocks::open(&symbols, &items, all, &work);
        let blocks = steps.measure("items by frequency", 9 * items.symbols.len() as u64, open)?;
        let (root, all) = (root_length as usize, usize_of(all));
        let coded = blocks.bytes_of(root..all);
        let bodies = || blocks.decode(&symbols, &items, root..all, &share);
        let bodies = steps.measure("rules", coded, bodies)?;
        share.grow(size_of::<u32>() as u64 * (u64::from(items.rule_count()) + 1), WHAT)?;
        let starts = items.rule_starts(0).ok_or_else(too_many)?;
        let (bodies, starts) = (bodies.into_array(), starts.into_array());
        let bytes = 4 * bodies.len() as u64;
        let rules = || Grammar::new(items.token_count, bodies, starts, vec![0]);
        let rules = steps.measure("check of rules", bytes, rules)?.holding(share);
        let (section, rules) = (symbols, Arc::new(rules));
        let _work = work;
        Ok(CodedGrammar {
            items,
            document_starts,
            root_length,
            blocks,
            section,
            rules,
            budget,
            _work,
        })
    }
}

/// A grammar of level `fast` that is decoded in two steps: its rules, and then its root in chunks,
/// whose symbols are replaced on the way. So the root is never there as it is stored.
#[derive(Debug)]
pub struct CodedGrammar {
    items: Items,
    document_starts: SpillVec<u32>,
    root_length: u32,
    blocks: Blocks,
    section: SpillVec<u8>,
    rules: Arc<Grammar>,
    budget: Budget,
    /// What the decoding takes, of which memory of the budget is.
    _work: Share,
}

impl CodedGrammar {
    /// The rules: a grammar without documents.
    pub fn rules(&self) -> &Arc<Grammar> {
        &self.rules
    }

    /// Symbols of the root.
    pub fn root_length(&self) -> u32 {
        self.root_length
    }

    /// As [`Grammar::document_starts`].
    pub fn document_starts(&self) -> &[u32] {
        &self.document_starts
    }

    /// What is decoded is counted there.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// For each rule the least number of symbols that it is, as the archive says: at least two thirds
    /// of the right one, and right up to 3. Not checked. O(items).
    pub fn least_uses(&self) -> Vec<u32> {
        self.items.least_uses()
    }

    /// Decodes the root in chunks, on all threads; `other` gives the symbols that take the place of
    /// its own. `work` gets each chunk and where it starts, and `take` what that gave for many chunks,
    /// in order.
    pub fn replace_root<R: Send, E: From<Error> + Send>(
        mut self,
        other: impl Fn(u32) -> u32 + Sync,
        work: &(dyn Fn(usize, &[u32]) -> R + Sync),
        take: &mut dyn FnMut(Vec<R>) -> Result<(), E>,
    ) -> Result<(), E> {
        let steps = self.budget.steps().clone();
        let bytes = 24 * self.items.symbols.len() as u64;
        let (blocks, items) = (&mut self.blocks, &mut self.items);
        steps.measure("replaced items", bytes, || blocks.replace(items, other));
        let wanted = self.root_length as usize;
        let bytes = self.blocks.bytes_of(0..wanted) + 8 * wanted as u64;
        steps.measure("root", bytes, || {
            self.blocks.for_each_chunk(&self.section, &self.items, wanted, work, take)
        })
    }
}
