//! The built command, run as people and scripts run it.
#![cfg(unix)]

mod access;
mod analytics;
mod answers;
mod archives;
mod edit;
mod faults;
mod folder;
mod formats;
mod grep;
mod inputs;
mod limits;
#[cfg(target_os = "linux")]
mod memory;
mod names;
mod new_files;
mod query;
mod refusals;
mod restore;
mod round_trip;
mod screens;
mod signals;

#[cfg(feature = "decompress")]
mod decompress;
#[cfg(feature = "gpu")]
mod devices;
#[cfg(feature = "pool")]
mod pools;
