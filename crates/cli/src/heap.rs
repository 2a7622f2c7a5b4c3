//! The allocator of the command: the system's, until a pool is to be worked in. Then large blocks go to a file beside the pool, so that
//! reading an archive for it takes no more memory than the rest.

use std::path::Path;

use anyhow::Context;
use tadoc_engine::pool::SpillingHeap;

#[global_allocator]
static HEAP: SpillingHeap = SpillingHeap::new();

/// Puts large blocks of memory into a file in the folder of this one from now on.
pub fn spill_beside(pool: &Path) -> anyhow::Result<()> {
    let parent = pool.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    HEAP.spill_into(folder)
        .with_context(|| format!("no file to work in can be made in {}", folder.display()))?;
    crate::memory::is_spilled();
    Ok(())
}
