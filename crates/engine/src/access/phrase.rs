//! What is looked for: words in a row, each as the tokens that it is in a segment.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::Access;
use super::tokens::TokenStore;
use crate::Lexer;
use crate::analyzer::Analyzer;
use crate::build::lexer::TokenKind;
use crate::error::{Error, Result};

/// A word or several words in a row, to be looked for; made by [`Access::phrase`] or
/// [`Access::any_word`] for one archive.
#[derive(Debug)]
pub struct Phrase {
    terms: Vec<Vec<u8>>,
    analyzer: Analyzer,
    /// Whether it is one word, and any that the analyzer leaves in.
    is_any: bool,
    /// For each segment, for each term, its tokens.
    tokens: Vec<OnceLock<Vec<TermTokens>>>,
}

/// The tokens of a term in a segment: ranges, ascending.
pub(super) type TermTokens = Vec<Range<u32>>;

/// Whether a token is one of those of a term. O(log).
pub(super) fn is_one_of(tokens: &[Range<u32>], token: u32) -> bool {
    match tokens {
        [] => false,
        [only] => only.contains(&token),
        several => {
            let behind = several.partition_point(|range| range.start <= token);
            behind > 0 && several[behind - 1].contains(&token)
        }
    }
}

impl Phrase {
    /// The terms in a row that are looked for; one without text for any word.
    pub fn terms(&self) -> &[Vec<u8>] {
        &self.terms
    }

    /// What makes words of the text terms.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// Whether the analyzer leaves out any word.
    pub(super) fn leaves_out(&self) -> bool {
        self.analyzer.leaves_out()
    }

    /// Whether the analyzer leaves a word out, so that it is passed over in the text.
    pub(super) fn passes_over(&self, word: &[u8]) -> bool {
        self.analyzer.leaves_out() && self.analyzer.term(word).is_none()
    }

    /// The tokens of each term in a segment; found once.
    pub(super) fn tokens(&self, number: usize, tokens: &TokenStore) -> Result<&[TermTokens]> {
        if let Some(found) = self.tokens[number].get() {
            return Ok(found);
        }
        let found = if self.is_any {
            vec![tokens.map_words(|word, tokens| self.analyzer.term(word).map(|_| tokens))?]
        } else if self.analyzer.is_identity() {
            let find = |term: &Vec<u8>| Ok(tokens.find(term)?.into_iter().collect());
            self.terms.iter().map(find).collect::<Result<Vec<TermTokens>>>()?
        } else {
            self.tokens_of_terms(tokens)?
        };
        Ok(self.tokens[number].get_or_init(|| found))
    }

    /// Where the analyzer makes several words one term, all words of the segment are looked at.
    fn tokens_of_terms(&self, tokens: &TokenStore) -> Result<Vec<TermTokens>> {
        let matching = tokens.map_words(|word, tokens| {
            let term = self.analyzer.term(word)?;
            let which = self.terms.iter().position(|wanted| **wanted == *term)?;
            Some((which, tokens))
        })?;
        let mut of_terms = vec![Vec::new(); self.terms.len()];
        for (which, tokens) in matching {
            of_terms[which].push(tokens);
        }
        // A term may come twice in a phrase.
        for (index, term) in self.terms.iter().enumerate() {
            let first = self.terms.iter().position(|other| other == term).expect("itself");
            if first < index {
                of_terms[index] = of_terms[first].clone();
            }
        }
        Ok(of_terms)
    }
}

/// Where the words of a text are.
pub fn words(lexer: Lexer, text: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    lexer.tokens(text, |end, kind| {
        match kind {
            TokenKind::Separator => {}
            TokenKind::Word => words.push(start..end),
            TokenKind::SpacedWord => words.push(start + 1..end),
        }
        start = end;
    });
    words
}

impl Access {
    /// A word, or words in a row, as this archive's lexer cuts them, to be looked for as `analyzer` has it.
    ///
    /// # Errors
    /// [`Error::NoWord`] if there is no word in it (or none that the analyzer leaves in), [`Error::NotWords`] if words are
    /// joined by other characters than white space, or others stand around them: what is between words is not
    /// looked for.
    pub fn phrase(&self, text: &[u8], analyzer: &Analyzer) -> Result<Phrase> {
        let words = words(self.lexer, text);
        let no_word = || Error::NoWord { given: text.to_vec() };
        let (first, last) = words.first().zip(words.last()).ok_or_else(no_word)?;
        let mut between = words.windows(2).map(|pair| pair[0].end..pair[1].start);
        let blank =
            |range: Range<usize>| text[range].iter().all(|byte| b" \t\n\r\x0b\x0c".contains(byte));
        if !blank(0..first.start) || !blank(last.end..text.len()) || !between.all(blank) {
            let listed: Vec<Cow<'_, str>> =
                words.iter().map(|word| String::from_utf8_lossy(&text[word.clone()])).collect();
            let (count, words) = (words.len(), listed.join(" "));
            return Err(Error::NotWords { given: text.to_vec(), count, words });
        }
        self.phrase_of_words(words.iter().map(|word| &text[word.clone()]), analyzer)
            .ok_or_else(no_word)
    }

    /// Whether a text is one word and nothing else.
    pub(crate) fn is_word(&self, text: &[u8]) -> bool {
        let (mut tokens, mut one) = (0, false);
        self.lexer.tokens(text, |end, kind| {
            tokens += 1;
            one = tokens == 1 && kind == TokenKind::Word && end == text.len();
        });
        one
    }

    /// The phrase of some words, or `None` if the analyzer leaves them all out.
    pub(super) fn phrase_of_words<'w>(
        &self,
        words: impl Iterator<Item = &'w [u8]>,
        analyzer: &Analyzer,
    ) -> Option<Phrase> {
        let terms: Vec<Vec<u8>> =
            words.filter_map(|word| analyzer.term(word).map(Cow::into_owned)).collect();
        (!terms.is_empty()).then(|| self.new_phrase(terms, analyzer, false))
    }

    /// Any single word that the analyzer leaves in: of one with [`Analyzer::matching`], the words whose terms match.
    pub fn any_word(&self, analyzer: &Analyzer) -> Phrase {
        self.new_phrase(vec![Vec::new()], analyzer, true)
    }

    fn new_phrase(&self, terms: Vec<Vec<u8>>, analyzer: &Analyzer, is_any: bool) -> Phrase {
        let tokens = (0..self.segment_count()).map(|_| OnceLock::new()).collect();
        Phrase { terms, analyzer: analyzer.clone(), is_any, tokens }
    }

    /// The distinct terms of any text, in order, each as a phrase of its own.
    pub(super) fn distinct_terms(&self, text: &[u8], analyzer: &Analyzer) -> Vec<Phrase> {
        let mut phrases: Vec<Phrase> = Vec::new();
        for word in words(self.lexer, text) {
            let word = std::iter::once(&text[word]);
            if let Some(phrase) = self.phrase_of_words(word, analyzer)
                && !phrases.iter().any(|other| other.terms == phrase.terms)
            {
                phrases.push(phrase);
            }
        }
        phrases
    }
}
