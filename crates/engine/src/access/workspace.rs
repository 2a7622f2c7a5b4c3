//! Memory that questions to a segment work in, kept from one to the next: most of it is zeroed once
//! and then cleared where a question was.
//!
//! Cost: four bytes and a bit for each rule in a workspace that had a question, of which there are
//! no more than threads.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use super::occurrences::Occurrences;
use super::postings::Reached;

/// What one question works in.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) reached: Reached,
    pub(super) occurrences: Occurrences,
}

/// The workspaces of a segment that nobody works in.
#[derive(Debug, Default)]
pub(super) struct Workspaces(Mutex<Vec<Workspace>>);

/// A workspace that somebody works in. It goes back when it is dropped, if it is kept.
#[derive(Debug)]
pub(super) struct LentWorkspace {
    /// Until it is dropped.
    workspace: Option<Workspace>,
    home: Arc<Workspaces>,
    is_kept: bool,
}

impl Workspaces {
    pub(super) fn lend(self: &Arc<Self>, is_kept: bool) -> LentWorkspace {
        let workspace = self.with(Vec::pop).unwrap_or_default();
        LentWorkspace { workspace: Some(workspace), home: Arc::clone(self), is_kept }
    }

    /// Bytes of memory held by the workspaces that nobody works in.
    pub(super) fn memory(&self) -> usize {
        let memory =
            |workspace: &Workspace| workspace.reached.memory() + workspace.occurrences.memory();
        self.with(|workspaces| workspaces.iter().map(memory).sum())
    }

    /// Workspaces are whole whenever they are in the list, so nobody who panics leaves one half
    /// changed.
    fn with<T>(&self, act: impl FnOnce(&mut Vec<Workspace>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Deref for LentWorkspace {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.workspace.as_ref().expect("it is there until it is dropped")
    }
}

impl DerefMut for LentWorkspace {
    fn deref_mut(&mut self) -> &mut Workspace {
        self.workspace.as_mut().expect("it is there until it is dropped")
    }
}

impl Drop for LentWorkspace {
    fn drop(&mut self) {
        let Some(mut workspace) = self.workspace.take() else { return };
        // A question that panicked may have left a workspace that its next one could not clear.
        if !self.is_kept || std::thread::panicking() {
            return;
        }
        workspace.reached.shrink();
        workspace.occurrences.shrink();
        self.home.with(|workspaces| {
            if workspaces.len() < rayon::current_num_threads() {
                workspaces.push(workspace);
            }
        });
    }
}
