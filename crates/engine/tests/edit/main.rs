//! Edited archives are what fresh archives of the edited text would be, whatever happens while they are edited.
//!
//! - `model`, of the crate `tadoc-testing`: the plain documents that an edited archive is compared with.
//! - `plain`: edits by themselves and made together, against plain bytes.
//! - `script`: random operations, with what must come of them.
//! - `whole`: everything that can be asked of an archive, against the model.
//! - `random`: random operations over archives of every kind.
//! - `device`: the same on a GPU.
//! - `device_faults`: the same on one that fails, or that is small.
//! - `segments`: edits around the places where documents go on from one segment to the next.
//! - `recompressed`: compressing again: bytes that do not depend on threads, segments that are cut.
//! - `bases`: reads after more edits than a base takes.
//! - `states`: a writer whose every state is recognisable, for the tests with several threads and processes.
//! - `readers`: a reader against a writer.
//! - `kills`: a writer that is killed at any moment.
//! - `faults`: disks that are full, files and folders that cannot be written.
//! - `transactions`: edits that are committed and rolled back.
//! - `hostile`: journals that are whole and impossible.
#![cfg(unix)]

/// Questions about random access; of its helpers, not all are needed here.
#[allow(dead_code, reason = "what the tests of random access need besides")]
#[path = "../access/support.rs"]
mod access_support;
/// Questions of analytics.
#[allow(dead_code, reason = "what the tests of analytics need besides")]
#[path = "../analytics/support.rs"]
mod analytics_support;

mod archives;
mod bases;
#[cfg(feature = "gpu")]
mod device;
#[cfg(feature = "gpu")]
mod device_faults;
mod faults;
mod hostile;
mod kills;
mod plain;
mod random;
mod readers;
mod recompressed;
mod script;
mod segments;
mod states;
mod texts;
mod transactions;
mod whole;

use tadoc_testing::model;
