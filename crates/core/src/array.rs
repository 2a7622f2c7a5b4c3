//! A row of numbers that is either owned or lies in something shared, such as a mapped file.
//!
//! Reading costs what a slice costs, once the slice is taken: hot loops take it first.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Numbers that may lie anywhere.
#[derive(Clone)]
pub enum Array<T> {
    /// On the heap.
    Owned(Vec<T>),
    /// In memory that others hold too.
    Shared(Arc<dyn AsRef<[T]> + Send + Sync>),
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(numbers) => numbers,
            Self::Shared(numbers) => (**numbers).as_ref(),
        }
    }
}

impl<T> Array<T> {
    /// The numbers where they are, to be held by several.
    pub fn into_shared(self) -> Arc<dyn AsRef<[T]> + Send + Sync>
    where
        T: Send + Sync + 'static,
    {
        match self {
            Self::Owned(numbers) => Arc::new(numbers),
            Self::Shared(numbers) => numbers,
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Owned(numbers)
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl<T: fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(formatter)
    }
}

impl<T: PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq> Eq for Array<T> {}
