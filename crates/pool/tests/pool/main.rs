//! Pools through losses of power, full devices, flipped bits, kills and hostile files: tables, views
//! and tasks, as whoever uses the crate sees them.

mod chain;
mod hostile;
mod late;
mod regions;
mod simulated;
mod storage;
mod tasks;
mod view;
