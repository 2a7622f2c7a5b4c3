//! What is looked for.

use std::sync::Arc;

use tadoc_engine::access::{self, Access};

use crate::{Analyzer, Result};

/// A word, several words in a row, or any word that the query's analyzer keeps.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let corpus = tadoc::Corpus::open(&path)?;
/// let (phrase, any) = (tadoc::Phrase::from("not to be"), tadoc::Phrase::any());
/// assert_eq!(corpus.count(phrase)?, 1);
/// assert_eq!(corpus.query().matching("^.o$")?.count(any)?, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase(Option<Vec<u8>>);

impl Phrase {
    /// Any word that the query's analyzer keeps.
    pub fn any() -> Self {
        Self(None)
    }

    /// What it is in one archive, whose lexer cuts it into words.
    pub(crate) fn of(&self, access: &Access, analyzer: &Analyzer) -> Result<Arc<access::Phrase>> {
        Ok(Arc::new(match &self.0 {
            Some(text) => access.phrase(text, analyzer)?,
            None => access.any_word(analyzer),
        }))
    }
}

impl From<&str> for Phrase {
    fn from(text: &str) -> Self {
        Self(Some(text.into()))
    }
}

impl From<&[u8]> for Phrase {
    fn from(text: &[u8]) -> Self {
        Self(Some(text.into()))
    }
}

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        Self(Some(text.into()))
    }
}
