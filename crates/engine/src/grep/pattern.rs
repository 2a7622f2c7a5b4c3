//! From what a person types to the regular expression that decides about one line.
//!
//! The syntax is that of the crate `regex`, on bytes and with Unicode, and as in ripgrep nothing
//! matches across lines: classes lose the newline, and a newline that is asked for is an error.
//! `\A` and `\z` are the edges of a line, as `^` and `$` are. Text that is not UTF-8 is searched as
//! it is; no character class matches its bytes.

use std::fmt::Display;
use std::ops::Range;

use regex_automata::Input;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;
use regex_syntax::ast::{self, Ast, Visitor};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode};
use regex_syntax::hir::{ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use super::automaton::Automaton;
use crate::error::{Error, Result};

/// Bytes that the compiled expression may take, as in ripgrep.
const MOST_BYTES: usize = 100 << 20;
/// How deep groups may be nested.
const DEEPEST: u32 = 250;

/// When letters match those of the other case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Never.
    #[default]
    Sensitive,
    /// Always.
    Insensitive,
    /// If the patterns have letters or digits, and no upper case letter among them.
    Smart,
}

/// How patterns are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Syntax {
    /// About upper and lower case.
    pub case: Case,
    /// Patterns are what is looked for, and no regular expressions.
    pub fixed: bool,
    /// A match has no word character right before and behind it.
    pub whole_words: bool,
    /// A match is a whole line; goes before `whole_words`.
    pub whole_lines: bool,
}

/// One or several regular expressions, of which any may match a line.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    /// A looser expression, with which text is scanned first: Unicode's word boundaries are not
    /// looked at, since beside bytes beyond ASCII no fast engine knows them.
    loose: Option<Regex>,
    automaton: Automaton,
    /// Parts of words, of which every match has one; `None` if there are none such.
    pieces: Option<Vec<Vec<u8>>>,
}

impl Pattern {
    /// Reads and compiles patterns; none of them match nothing.
    ///
    /// Error: [`Error::BadPattern`] where one is no regular expression, asks for a newline, or
    /// would be too large.
    pub fn new(patterns: &[impl AsRef<str>], syntax: Syntax) -> Result<Self> {
        let written: Vec<String> = patterns
            .iter()
            .map(|pattern| match syntax.fixed {
                true => regex_syntax::escape(pattern.as_ref()),
                false => pattern.as_ref().to_owned(),
            })
            .collect();
        let mut letters = Letters::default();
        let mut trees = Vec::with_capacity(written.len());
        for (pattern, given) in written.iter().zip(patterns) {
            let mut parser = ast::parse::ParserBuilder::new().nest_limit(DEEPEST).build();
            let tree = parser.parse(pattern).map_err(|error| bad(given, error))?;
            letters = ast::visit(&tree, Letters { asked: given.as_ref(), ..letters })?;
            trees.push(tree);
        }
        let insensitive = match syntax.case {
            Case::Sensitive => false,
            Case::Insensitive => true,
            Case::Smart => letters.any && !letters.upper,
        };
        let mut translator = TranslatorBuilder::new();
        translator.case_insensitive(insensitive).multi_line(true).unicode(true).utf8(false);
        let mut parts = Vec::with_capacity(trees.len());
        for ((pattern, tree), given) in written.iter().zip(&trees).zip(patterns) {
            let part = translator.build().translate(pattern, tree);
            let part = part.map_err(|error| bad(given, error))?;
            parts.push(around(within_lines(&part), syntax));
        }
        let all = Hir::alternation(parts);
        let build = |expression: &Hir| {
            Regex::builder()
                .configure(
                    Regex::config()
                        .utf8_empty(false)
                        .nfa_size_limit(Some(MOST_BYTES))
                        .onepass(false),
                )
                .syntax(syntax::Config::new().utf8(false))
                .build_from_hir(expression)
                .map_err(|error| too_large(&error))
        };
        let joined = || {
            let patterns: Vec<&str> = patterns.iter().map(AsRef::as_ref).collect();
            patterns.join("|")
        };
        let regex = build(&all).map_err(|reason| bad(&joined(), reason))?;
        let has_boundaries = all.properties().look_set().contains_word_unicode();
        let loose = has_boundaries.then(|| build(&without_word_boundaries(&all)).ok()).flatten();
        Ok(Self { regex, loose, automaton: Automaton::new(&all), pieces: required_pieces(&all) })
    }

    /// Whether a line matches; it comes without its newline. O(line) at best, O(line × pattern) at
    /// worst.
    pub fn is_match(&self, line: &[u8]) -> bool {
        self.regex.is_match(Input::new(line))
    }

    /// Where a line matches: leftmost matches that do not overlap. It comes without its newline;
    /// `newline` tells whether it has one. As in ripgrep, an empty match at the end of a line is in
    /// front of the newline, and where there is none, no match.
    pub fn find_iter<'p>(
        &'p self,
        line: &'p [u8],
        newline: bool,
    ) -> impl Iterator<Item = Range<usize>> + 'p {
        let found = self.regex.find_iter(Input::new(line)).map(|found| found.range());
        found.filter(move |found| newline || found.start < line.len())
    }

    /// Where the first match at or behind `from` ends or is known of, in text of several lines: a
    /// place in its line or at the end of that. Unless [`Pattern::finds_exactly`], that line may
    /// not match after all.
    pub(super) fn find_in_text(&self, text: &[u8], from: usize) -> Option<usize> {
        let regex = self.loose.as_ref().unwrap_or(&self.regex);
        let found = regex.search_half(&Input::new(text).span(from..text.len()).earliest(true));
        found.map(|found| found.offset())
    }

    /// Whether text is scanned for literals of some length first.
    pub(super) fn has_literals(&self) -> bool {
        self.pieces.is_some()
    }

    /// Whether every line that [`Pattern::find_in_text`] gives matches.
    pub(super) fn finds_exactly(&self) -> bool {
        self.loose.is_none()
    }

    /// Parts of words, of which every line that matches has one inside of a word; `None` if nothing
    /// is known.
    pub(super) fn pieces(&self) -> Option<&[Vec<u8>]> {
        self.pieces.as_deref()
    }

    /// The automaton that sorts out lines which cannot match.
    pub(super) fn automaton(&self) -> &Automaton {
        &self.automaton
    }
}

/// Shorter parts of words are in too many words to be of use.
const SHORTEST_PIECE: usize = 3;
/// More parts than that are not looked for one by one.
const MOST_PIECES: usize = 32;

/// Runs of ASCII letters, digits and underscores, of which every match has one. Such a run lies
/// inside of one word, whichever the lexer is: no lexer ends a word between two of these
/// characters.
fn required_pieces(expression: &Hir) -> Option<Vec<Vec<u8>>> {
    match expression.kind() {
        HirKind::Literal(literal) => {
            let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let runs = literal.0.split(|byte| !in_word(byte));
            let longest = runs.max_by_key(|run| run.len())?;
            (longest.len() >= SHORTEST_PIECE).then(|| vec![longest.to_vec()])
        }
        HirKind::Capture(capture) => required_pieces(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required_pieces(&repetition.sub),
        HirKind::Concat(parts) => {
            let of_parts = parts.iter().filter_map(required_pieces);
            of_parts.max_by_key(|pieces| pieces.iter().map(Vec::len).min())
        }
        HirKind::Alternation(parts) => {
            let of_parts: Option<Vec<_>> = parts.iter().map(required_pieces).collect();
            let pieces: Vec<Vec<u8>> = of_parts?.into_iter().flatten().collect();
            (!pieces.is_empty() && pieces.len() <= MOST_PIECES).then_some(pieces)
        }
        _ => None,
    }
}

fn bad(pattern: &(impl AsRef<str> + ?Sized), reason: impl Display) -> Error {
    Error::BadPattern { pattern: pattern.as_ref().to_owned(), reason: reason.to_string() }
}

fn too_large(error: &BuildError) -> String {
    match error.size_limit() {
        Some(limit) => format!(
            "compiled, it would take more than {limit} bytes; repeat less, or look for less at a time"
        ),
        None => error.to_string(),
    }
}

/// What letters there are in patterns, and whether a newline is asked for.
#[derive(Default)]
struct Letters<'p> {
    asked: &'p str,
    any: bool,
    upper: bool,
}

impl Letters<'_> {
    fn literal(&mut self, literal: &ast::Literal) {
        self.any = true;
        self.upper |= literal.c.is_uppercase();
    }
}

impl Visitor for Letters<'_> {
    type Output = Self;
    type Err = Error;

    fn finish(self) -> Result<Self> {
        Ok(self)
    }

    fn visit_pre(&mut self, tree: &Ast) -> Result<()> {
        if let Ast::Literal(literal) = tree {
            if literal.c == '\n' {
                return Err(bad(
                    self.asked,
                    "it asks for a newline, but lines are searched one by one",
                ));
            }
            self.literal(literal);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<()> {
        match item {
            ast::ClassSetItem::Literal(literal) => self.literal(literal),
            ast::ClassSetItem::Range(range) => {
                self.literal(&range.start);
                self.literal(&range.end);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The expression with what stands around it.
fn around(expression: Hir, syntax: Syntax) -> Hir {
    let (before, behind) = match syntax {
        Syntax { whole_lines: true, .. } => (Look::StartLF, Look::EndLF),
        Syntax { whole_words: true, .. } => (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode),
        _ => return expression,
    };
    Hir::concat(vec![Hir::look(before), expression, Hir::look(behind)])
}

/// The expression without newlines, and without groups, which no one asks for.
fn within_lines(expression: &Hir) -> Hir {
    map(expression, &mut |kind| match kind {
        // A class that had the newline alone.
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Some(Hir::fail()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut without = class.clone();
            without.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Some(Hir::class(Class::Unicode(without)))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut without = class.clone();
            without.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Some(Hir::class(Class::Bytes(without)))
        }
        HirKind::Look(Look::Start) => Some(Hir::look(Look::StartLF)),
        HirKind::Look(Look::End) => Some(Hir::look(Look::EndLF)),
        _ => None,
    })
}

/// The expression without Unicode's word boundaries: what it matches, and more.
fn without_word_boundaries(expression: &Hir) -> Hir {
    map(expression, &mut |kind| match kind {
        HirKind::Look(
            Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode,
        ) => Some(Hir::empty()),
        _ => None,
    })
}

/// An expression in which `change` may put another in the place of any part; groups become what is
/// in them.
pub(super) fn map(expression: &Hir, change: &mut impl FnMut(&HirKind) -> Option<Hir>) -> Hir {
    if let Some(changed) = change(expression.kind()) {
        return changed;
    }
    match expression.kind() {
        HirKind::Capture(Capture { sub, .. }) => map(sub, change),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(map(&repetition.sub, change));
            Hir::repetition(Repetition { sub, ..*repetition })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(|part| map(part, change)).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(|part| map(part, change)).collect())
        }
        _ => expression.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(&[text], Syntax::default()).unwrap()
    }

    #[test]
    fn nothing_matches_a_newline() {
        for text in [r"\n", "a\nb", r"x|\n", r"\x0A", r"(a\n)"] {
            let error = Pattern::new(&[text], Syntax::default()).unwrap_err();
            assert!(error.to_string().contains("newline"), "{error}");
        }
        for text in [r"a[^b]b", r"a\sb", "(?s)a.b", r"a[\n]b", r"(?-u)a[^b]b"] {
            assert_eq!(pattern(text).find_in_text(b"a\nb", 0), None, "{text}");
        }
        assert_eq!(pattern("^b$").find_in_text(b"a\nb\nc", 0), Some(3));
        assert_eq!(pattern(r"\Ab\z").find_in_text(b"a\nb\nc", 0), Some(3));
    }
}
