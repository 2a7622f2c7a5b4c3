//! Real persistent memory, where there is some: `cargo xtask dax` runs this in a guest that has it. Elsewhere a pool is an ordinary
//! mapped file, so nothing else would notice if persistent memory were taken for one.

use tadoc_pool::{Patience, Pool};

/// The folder that `TADOC_DAX_FOLDER` names is in persistent memory, and a pool there must say so.
#[test]
fn a_pool_in_persistent_memory_is_mapped_directly() {
    let Some(folder) = std::env::var_os("TADOC_DAX_FOLDER") else {
        eprintln!("skipped: TADOC_DAX_FOLDER names no folder in persistent memory");
        return;
    };
    let folder = tempfile::tempdir_in(folder).expect("the folder can be written to");
    let path = folder.path().join("pool");
    // The second time the file is there already.
    for _ in 0..2 {
        let pool = Pool::open(&path, [1, 2], Patience::default())
            .expect("there is room for an empty pool");
        let medium = pool.medium();
        assert!(medium.starts_with("persistent memory"), "the pool lies in a {medium}");
        println!("{medium}");
    }
}
