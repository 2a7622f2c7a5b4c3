//! Lines of plain text, by counting newlines. A newline ends its line; a last line needs none.

use crate::Oracle;

impl Oracle<'_> {
    /// How many lines a document has.
    pub fn line_count(&self, document: usize) -> usize {
        let bytes = &self.documents[document].1;
        let unfinished = !bytes.is_empty() && !bytes.ends_with(b"\n");
        self.line_of(document, bytes.len()) + usize::from(unfinished)
    }

    /// Where a line (the first is 0) starts in a document; the document's length for a line past
    /// the last.
    pub fn line_start(&self, document: usize, line: usize) -> usize {
        let bytes = &self.documents[document].1;
        bytes.split_inclusive(|&byte| byte == b'\n').take(line).map(<[u8]>::len).sum()
    }

    /// How many newlines are before an offset of a document.
    pub fn line_of(&self, document: usize, offset: usize) -> usize {
        self.documents[document].1[..offset].iter().filter(|&&byte| byte == b'\n').count()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Lexer, Oracle};

    #[test]
    fn a_last_line_needs_no_newline() {
        let texts: [(&[u8], usize); 6] =
            [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\na\r\n", 3)];
        let documents: Vec<_> =
            texts.iter().map(|(text, _)| (String::new(), text.to_vec())).collect();
        let oracle = Oracle::new(Lexer::Words, &documents);
        for (document, (text, lines)) in texts.iter().enumerate() {
            assert_eq!(oracle.line_count(document), *lines, "{text:?}");
            assert_eq!(oracle.line_start(document, 0), 0);
            assert_eq!(oracle.line_start(document, lines + 1), text.len());
        }
        let starts: Vec<usize> = (0..5).map(|line| oracle.line_start(5, line)).collect();
        assert_eq!(starts, [0, 1, 2, 5, 5]);
        let lines: Vec<usize> = (0..=5).map(|offset| oracle.line_of(5, offset)).collect();
        assert_eq!(lines, [0, 1, 2, 2, 2, 3]);
    }
}
