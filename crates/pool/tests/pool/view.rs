//! Views in a pool: found again, through losses of power and flipped bits.

use std::sync::Arc;

use tadoc_core::{Grammar, Network, Part, Terms, View};
use tadoc_pool::{Patience, Persist, Pool};

use super::chain::{ARCHIVE, check, random, run};
use super::simulated::Simulated;

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
        let mut pool = Pool::over(Arc::new(Simulated::from_image(image, ROOM)), ARCHIVE).unwrap();
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
