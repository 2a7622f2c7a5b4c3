//! The view in a pool: the first of its tables, of which all others are made.
//!
//! It is the image that docs/view.md describes, as a whole, and behind it the numbers of its documents. Writing it costs a copy and checksums, opening
//! it one pass over it.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

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
/// Bytes of an image's header.
const IMAGE_HEADER: usize = 256;
/// Numbers of documents that are written at once.
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
        let view = open_image(bytes.into(), self.archive(), numbers, counts_only).ok();
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
        Ok(open_image(bytes.into(), self.archive(), documents.to_vec(), false)?)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tadoc_core::{Grammar, Network, Part, Terms};

    use super::*;
    use crate::Patience;
    use crate::medium::simulated::Simulated;
    use crate::testing::{ARCHIVE, check, random, run};

    const ROOM: usize = 2 << 20;

    /// Three documents of a corpus of more, two rules; and how often everything stands in the root.
    fn view() -> (View, Vec<u32>) {
        let terms = Terms::new(b"abc".to_vec(), vec![1, 2, 3]).unwrap();
        let symbols: Vec<u32> = vec![3, 0, 3, 4, 2, 4, 1, 1, 2];
        let grammar = Grammar::new(3, symbols, vec![5, 7, 9], vec![0, 2, 2, 5]).unwrap();
        let parts = vec![Part { root: 0..5, rules: 0..2 }];
        let network = Network::new(grammar, parts, vec![1, 4, 9]).unwrap();
        (View::new(terms, network).unwrap(), vec![1, 0, 1, 2, 1])
    }

    fn assert_same(found: &View, expected: &View) {
        assert_eq!(found.terms().bytes(), expected.terms().bytes());
        assert_eq!(found.network().grammar().symbols(), expected.network().grammar().symbols());
        assert_eq!(found.network().documents()[..], [1, 4, 9]);
        assert_eq!(found.network().length(), expected.network().length());
    }

    #[test]
    fn a_view_is_found_again_for_its_question_only() {
        let (view, counts) = view();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool");
        for persist in Persist::ALL {
            let mut pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
            assert_same(&pool.initialise(5, &view, &counts, persist).unwrap(), &view);
            check(&run(&mut pool, persist).unwrap());
            drop(pool);
            let mut pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
            assert!(pool.view(6, false).unwrap().is_none());
            assert!(!pool.view(5, true).unwrap().unwrap().network().has_root());
            assert_same(&pool.view(5, false).unwrap().unwrap(), &view);
            check(&run(&mut pool, persist).unwrap());
            let found: usize = pool.resumptions().iter().map(|found| found.finished.len()).sum();
            assert_eq!(found, 9);
        }
        let mut pool = Pool::open(&path, ARCHIVE, Patience::default()).unwrap();
        pool.initialise(6, &view, &counts, Persist::Phase).unwrap();
        assert!(pool.view(5, false).unwrap().is_none());
    }

    /// Power is lost while the view is stored, and bits of it are flipped: it is there and right, or not there.
    #[test]
    fn a_view_is_whole_or_not_there() {
        let (view, counts) = view();
        let whole = Arc::new(Simulated::new(ROOM));
        Pool::over(whole.clone(), ARCHIVE)
            .unwrap()
            .initialise(5, &view, &counts, Persist::Phase)
            .unwrap();
        let (mut seed, mut there, mut images) = (1, 0, Vec::new());
        for event in 0..whole.events() {
            let medium = Arc::new(Simulated::new(ROOM));
            medium.power_goes_at(event);
            let stored = Pool::over(medium.clone(), ARCHIVE)
                .and_then(|mut pool| pool.initialise(5, &view, &counts, Persist::Phase));
            assert!(stored.is_err());
            images.extend((0..5).map(|_| medium.image(|| random(&mut seed))));
        }
        let image = whole.image(|| 1);
        for byte in 64..image.len() {
            // Nothing is between the parts of a pool but zeros.
            if image[byte] != 0 || byte.is_multiple_of(512) {
                let mut image = image.clone();
                image[byte] ^= 1 << (random(&mut seed) % 8);
                images.push(image);
            }
        }
        for image in &images {
            let mut pool =
                Pool::over(Arc::new(Simulated::from_image(image, ROOM)), ARCHIVE).unwrap();
            match pool.view(5, false).unwrap() {
                Some(found) => {
                    assert_same(&found, &view);
                    there += 1;
                }
                None => {
                    assert_same(&pool.initialise(5, &view, &counts, Persist::Phase).unwrap(), &view)
                }
            }
        }
        assert!(there > 0 && there < images.len());
    }
}
