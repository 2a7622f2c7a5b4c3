//! The view in a pool: the first of its tables, of which all others are made.
//!
//! It is the image that docs/view.md describes, as a whole, and behind it the numbers of its documents. Writing it costs a copy and checksums, opening
//! it one pass over it.

use tadoc_core::View;
use tadoc_core::archive::{ViewImage, open_image};
use tadoc_core::usize_of;
use tadoc_tasks::Work;
use xxhash_rust::xxh64::Xxh64;

use crate::layout::{BLOCK, IMAGE, Kind, Table};
use crate::work::Phases;
use crate::{Persist, Pool, Result};

const VIEW: &str = "view";
const DOCUMENTS: &str = "documents";
const IMAGE_HEADER: usize = 256;
const DOCUMENTS_AT_ONCE: usize = 1 << 16;

impl Pool {
    /// The view that was stored for a question, with its arrays where they lie in the pool; `None` if there is none, or it is damaged. With
    /// `counts_only`, the root is not read, and the view has counts instead.
    pub fn view(&mut self, question: u64, counts_only: bool) -> Result<Option<View>> {
        if self.directory.groups[IMAGE].key != question || self.directory.groups[IMAGE].tables == 0
        {
            return Ok(None);
        }
        self.begin(IMAGE, question, VIEW);
        let view = self.open_view(question, counts_only)?;
        if view.is_none() {
            self.directory.cut(IMAGE, 0);
            self.resumption()
                .discarded
                .push("the view, which is damaged, and all behind it".into());
        }
        Ok(view)
    }

    /// Opens the image; `None` if anything is wrong with it.
    fn open_view(&mut self, question: u64, counts_only: bool) -> Result<Option<View>> {
        let table = self.directory.tables[0].clone();
        // Numbers of documents are checked with the view, and must be those that were asked for.
        let documents = self.directory.tables.get(1).cloned();
        let Some(documents) = documents.filter(|_| self.directory.groups[IMAGE].tables == 2) else {
            return Ok(None);
        };
        let fits = table.kind == Kind::Image
            && table.end() <= self.space.len()
            && usize_of(table.bytes) >= IMAGE_HEADER;
        let same = table.identity == self.image_identity(question) && documents.kind == Kind::Fill;
        if !fits || !same || self.image_sums(&table) != table.sums || !self.is_right(&documents) {
            return Ok(None);
        }
        let numbers =
            self.space.shared::<u32>(documents.offset, usize_of(documents.bytes) / 4).to_vec();
        let bytes = self.space.shared::<u8>(table.offset, usize_of(table.bytes));
        let view = open_image(bytes.into(), self.archive(), numbers, counts_only, &self.spill);
        let view = view.ok();
        if view.is_some() {
            self.resumption().finished.extend([VIEW.to_owned(), DOCUMENTS.to_owned()]);
        }
        Ok(view)
    }

    /// Stores the view of a question, which is the end of the initialisation, and gives it with its arrays in the pool. Everything else in the pool
    /// is discarded. `root_counts` as for [`tadoc_core::Network::root_counts_or`].
    pub fn initialise(
        &mut self,
        question: u64,
        view: &View,
        root_counts: &[u32],
        persist: Persist,
    ) -> Result<View> {
        self.begin(IMAGE, question, VIEW);
        self.begin_phase();
        self.directory.cut(IMAGE, 0);
        let image = ViewImage::new(view, root_counts, self.archive());
        let mut table = Table {
            name: VIEW.to_owned(),
            kind: Kind::Image,
            element: 1,
            offset: self.next_offset(),
            bytes: image.len(),
            identity: self.image_identity(question),
            sums: 0,
        };
        self.zeros(table.offset..table.end())?;
        image
            .write(|offset, bytes| self.space.write(table.offset + offset, bytes))
            .map_err(|error| self.failed(error, table.end()))?;
        table.sums = self.image_sums(&table);
        self.finish_with_sums(IMAGE, table.clone(), persist)?;
        let documents = view.network().documents();
        let mut phases = Phases::new(self, IMAGE, persist);
        phases.skip_phase();
        let mut work = Work::new(Box::new(phases), 0);
        let cuts: Vec<usize> =
            (0..documents.len()).step_by(DOCUMENTS_AT_ONCE).chain([documents.len()]).collect();
        let ascend = |_, own: &[u32]| own.is_sorted_by(|one, other| one < other);
        work.fill(DOCUMENTS, &cuts, ascend, |operation, own: &mut [u32]| {
            own.copy_from_slice(&documents[cuts[operation]..cuts[operation + 1]]);
        })?;
        drop(work);
        let bytes = self.space.shared::<u8>(table.offset, usize_of(table.bytes));
        Ok(open_image(bytes.into(), self.archive(), documents.to_vec(), false, &self.spill)?)
    }

    fn image_identity(&self, question: u64) -> u64 {
        self.identity(IMAGE, 0, VIEW, &[Kind::Image as u64, question])
    }

    /// The digest of an image's header and of its checksums, which are among its last bytes.
    fn image_sums(&self, table: &Table) -> u64 {
        let bytes = self.space.shared::<u8>(table.offset, usize_of(table.bytes));
        let checksums = (8 * usize_of(table.bytes.div_ceil(BLOCK))).min(bytes.len());
        let mut hash = Xxh64::new(table.identity);
        hash.update(&bytes[..IMAGE_HEADER]);
        hash.update(&bytes[bytes.len() - checksums..]);
        hash.digest()
    }
}
