//! What stands around an occurrence. It costs the bytes that are shown: the text is read in pieces
//! that grow until they hold what is wanted.

use tadoc_engine::access::words;

use crate::{Analyzer, Document, Lexer, Result};

/// The most bytes that a character has.
const CHARACTER: u64 = 4;

/// How much text is wanted on each side of an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// So many characters; a byte that is not UTF-8 is one.
    Characters(u64),
    /// So many words, with what stands between them.
    Words(u64),
}

/// Of a side that has too few words, so many bytes are shown beside those that so many words have
/// mostly.
const LONGEST: u64 = 4 << 20;
/// Bytes of a word and what follows it, mostly.
const WORD: u64 = 16;

impl Extent {
    /// About how many bytes both sides have.
    pub fn bytes(self) -> u64 {
        2 * match self {
            Self::Characters(count) => count.saturating_add(1).saturating_mul(CHARACTER),
            Self::Words(count) => count.saturating_add(1).saturating_mul(WORD),
        }
    }
}

/// An occurrence of a phrase, and what is around it.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let corpus = tadoc::Corpus::open(&path)?;
/// let hit = corpus.search("not")?.next().expect("it is there")?;
/// let context = hit.context(tadoc::Extent::Words(1))?;
/// assert_eq!((context.left, context.keyword, context.right),
///     (b"or ".to_vec(), b"not".to_vec(), b" to".to_vec()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// What stands before it.
    pub left: Vec<u8>,
    /// The phrase as it is in the text, with what stands between its words.
    pub keyword: Vec<u8>,
    /// What stands behind it.
    pub right: Vec<u8>,
}

impl Context {
    /// Reads what is around an occurrence of so many terms.
    pub(crate) fn read(
        document: &Document,
        offset: u64,
        terms: usize,
        analyzer: &Analyzer,
        extent: Extent,
    ) -> Result<Self> {
        let lexer = document.part().access()?.lexer();
        let reader = Reader { document, lexer, analyzer, terms, extent };
        let (keyword, right) = reader.keyword_and_right(offset)?;
        Ok(Self { left: reader.left(offset)?, keyword, right })
    }
}

/// What is read around an occurrence.
struct Reader<'r> {
    document: &'r Document,
    lexer: Lexer,
    analyzer: &'r Analyzer,
    terms: usize,
    extent: Extent,
}

impl Reader<'_> {
    fn left(&self, offset: u64) -> Result<Vec<u8>> {
        let mut length = match self.extent {
            // With room for a character that the beginning cuts.
            Extent::Characters(count) => count.saturating_add(1).saturating_mul(CHARACTER),
            Extent::Words(count) => count.saturating_add(1).saturating_mul(WORD),
        };
        let most = length.saturating_add(LONGEST);
        loop {
            let start = offset.saturating_sub(length);
            let mut text = self.document.extract(start, offset - start)?;
            if let Some(from) = self.left_start(&text, start == 0 || length == most) {
                text.drain(..from);
                text.shrink_to_fit();
                return Ok(text);
            }
            length = length.saturating_mul(2).min(most);
        }
    }

    /// Where what is wanted starts in a text that ends at the keyword; `None` if that is before the
    /// text.
    fn left_start(&self, text: &[u8], is_whole: bool) -> Option<usize> {
        match self.extent {
            Extent::Characters(count) => {
                let starts = characters(text);
                let from =
                    starts.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
                // A text that is not whole has more characters than are wanted.
                Some(starts.get(from).copied().unwrap_or(text.len()))
            }
            Extent::Words(0) => Some(text.len()),
            Extent::Words(count) => {
                let words = words(self.lexer, text);
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                // The first word may be the end of one.
                match words.len() > count {
                    true => Some(words[words.len() - count].start),
                    false => is_whole.then_some(0),
                }
            }
        }
    }

    fn keyword_and_right(&self, offset: u64) -> Result<(Vec<u8>, Vec<u8>)> {
        let wanted = match self.extent {
            Extent::Characters(count) => count.saturating_add(1).saturating_mul(CHARACTER),
            Extent::Words(count) => count.saturating_add(1).saturating_mul(WORD),
        };
        let mut length = wanted.saturating_add(WORD * self.terms as u64);
        let most = length.saturating_add(LONGEST);
        loop {
            let mut text = self.document.extract(offset, length)?;
            let ends = offset + text.len() as u64 == self.document.bytes();
            let is_whole = ends || length == most;
            if let Some(end) = self.keyword_end(&text, is_whole)
                && let Some(right) = self.right_end(&text[end..], is_whole)
            {
                text.truncate(end + right);
                text.shrink_to_fit();
                let right = text.split_off(end);
                return Ok((text, right));
            }
            length = length.saturating_mul(2).min(most);
        }
    }

    /// Where the last term of the phrase ends in a text that begins with its first; `None` if that
    /// is behind the text.
    fn keyword_end(&self, text: &[u8], is_whole: bool) -> Option<usize> {
        let words = words(self.lexer, text).into_iter();
        // The last word may go on.
        let mut words = words.filter(|word| word.end < text.len() || is_whole);
        let mut terms = self.terms;
        let last = words.find(|word| {
            terms -= usize::from(self.analyzer.term(&text[word.clone()]).is_some());
            terms == 0
        });
        match last {
            Some(word) => Some(word.end),
            None => is_whole.then_some(text.len()),
        }
    }

    /// Where what is wanted ends in a text that starts behind the keyword; `None` if that is behind
    /// the text.
    fn right_end(&self, text: &[u8], is_whole: bool) -> Option<usize> {
        match self.extent {
            Extent::Characters(count) => {
                let starts = characters(text);
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                match starts.get(count) {
                    // The last character may be cut.
                    Some(&end) if is_whole || end + CHARACTER as usize <= text.len() => Some(end),
                    Some(_) => None,
                    None => is_whole.then_some(text.len()),
                }
            }
            Extent::Words(0) => Some(0),
            Extent::Words(count) => {
                let words = words(self.lexer, text);
                let place = usize::try_from(count - 1).unwrap_or(usize::MAX);
                match words.get(place) {
                    Some(word) if word.end < text.len() || is_whole => Some(word.end),
                    Some(_) => None,
                    None => is_whole.then_some(text.len()),
                }
            }
        }
    }
}

/// Where the characters of a text start; bytes that are not UTF-8 are characters of their own. Of a
/// text that begins or ends within a character, that is some that are none.
fn characters(text: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut place = 0;
    for chunk in text.utf8_chunks() {
        starts.extend(chunk.valid().char_indices().map(|(start, _)| place + start));
        place += chunk.valid().len();
        starts.extend(place..place + chunk.invalid().len());
        place += chunk.invalid().len();
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_start_where_they_do() {
        assert_eq!(characters("aé日".as_bytes()), [0, 1, 3]);
        assert_eq!(characters(b"a\xff\xe2\x82b"), [0, 1, 2, 3, 4]);
        assert_eq!(characters(b""), [0; 0]);
    }

    #[test]
    fn words_are_without_their_spaces() {
        assert_eq!(words(Lexer::Words, b"to be, or"), [0..2, 3..5, 7..9]);
        assert_eq!(words(Lexer::Whitespace, b" be,  or"), [1..4, 6..8]);
    }
}
