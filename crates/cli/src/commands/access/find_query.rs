//! What `tadoc find` is asked: words, phrases in quotes that documents must have, and what they must not have.
//!
//! | written | means |
//! | --- | --- |
//! | `tide gauge` | documents with any of the words |
//! | `"tide gauge"` | only documents with the phrase; its words count for the score, too |
//! | `-gauge`, `-"tide gauge"`, `NOT gauge` | no documents with it |
//!
//! What other programs know and this one does not (AND, OR, +, wildcards) is refused with what to write instead.

use anyhow::bail;
use tadoc::SearchQuery as Query;

use super::phrase::{has_wildcard, wildcards_as_pattern};

/// Reads a query.
pub fn parse(text: &[u8]) -> anyhow::Result<Query> {
    let mut query = Query::default();
    let mut excluded = false;
    for Piece { text, is_quoted, is_negated } in pieces(text)? {
        let shown = || String::from_utf8_lossy(text);
        if !is_quoted && !is_negated {
            match text {
                b"NOT" => {
                    excluded = true;
                    continue;
                }
                b"AND" | b"OR" => bail!(
                    "{0} is no operator here: any of the words is looked for, so leave it out; quotes make a \
                     phrase or word required, - excludes one, and \"{0}\" in quotes is the word",
                    shown()
                ),
                [b'+', _, ..] => bail!(
                    "+ is no operator here; put what a document must have in quotes: \"{}\"",
                    String::from_utf8_lossy(&text[1..])
                ),
                _ => {}
            }
        }
        if !is_quoted && has_wildcard(text) {
            bail!(
                "wildcards are not supported here: {}; --stem takes words of one stem as one, and \
                 `tadoc grep -c '{}'` counts lines by document",
                shown(),
                wildcards_as_pattern(&shown()).part
            );
        }
        if is_negated || excluded {
            query.excluded.push(text.to_vec());
        } else {
            if !query.words.is_empty() {
                query.words.push(b' ');
            }
            query.words.extend_from_slice(text);
            if is_quoted {
                query.required.push(text.to_vec());
            }
        }
        excluded = false;
    }
    if excluded {
        bail!("NOT at the end excludes nothing; put a word or a phrase in quotes behind it");
    }
    if query.words.is_empty() && !query.excluded.is_empty() {
        bail!(
            "what to find is missing: - and NOT only exclude documents that other words have found"
        );
    }
    Ok(query)
}

/// A piece of a query: up to white space, or in quotes.
struct Piece<'t> {
    text: &'t [u8],
    is_quoted: bool,
    is_negated: bool,
}

/// Cuts a query into pieces.
fn pieces(text: &[u8]) -> anyhow::Result<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        // A hyphen within words or by itself excludes nothing, and neither do two.
        let is_negated = text[at] == b'-'
            && text.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace() && *next != b'-');
        let start = at + usize::from(is_negated);
        let is_quoted = text[start] == b'"';
        let (start, end, next) = if is_quoted {
            let length = text[start + 1..].iter().position(|&byte| byte == b'"');
            let Some(length) = length else {
                bail!(
                    "a phrase in quotes does not end: {}",
                    String::from_utf8_lossy(&text[start..])
                );
            };
            (start + 1, start + 1 + length, start + length + 2)
        } else {
            let ends = |byte: &u8| byte.is_ascii_whitespace();
            let end =
                text[start..].iter().position(ends).map_or(text.len(), |length| start + length);
            (start, end, end)
        };
        pieces.push(Piece { text: &text[start..end], is_quoted, is_negated });
        at = next;
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Vec<String>, Vec<String>) {
        let Query { words, required, excluded, .. } = parse(text.as_bytes()).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let texts = |list: Vec<Vec<u8>>| list.into_iter().map(text).collect();
        (text(words), texts(required), texts(excluded))
    }

    fn all(
        words: &str,
        required: &[&str],
        excluded: &[&str],
    ) -> (String, Vec<String>, Vec<String>) {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        (words.into(), owned(required), owned(excluded))
    }

    #[test]
    fn words_phrases_and_exclusions() {
        assert_eq!(parsed("tide gauge"), all("tide gauge", &[], &[]));
        assert_eq!(
            parsed(" a \"broken heart\" b"),
            all("a broken heart b", &["broken heart"], &[])
        );
        assert_eq!(parsed("a -b -\"c d\""), all("a", &[], &["b", "c d"]));
        assert_eq!(parsed("a NOT b NOT \"c d\" e"), all("a e", &[], &["b", "c d"]));
        // Words, and no operators.
        assert_eq!(parsed("tide-gauge - --b not"), all("tide-gauge - --b not", &[], &[]));
        assert_eq!(parsed("\"OR\" what?"), all("OR what?", &["OR"], &[]));
        assert_eq!(parsed("\"heart*\""), all("heart*", &["heart*"], &[]));
    }

    #[test]
    fn what_is_refused_says_what_to_write() {
        for (text, told) in [
            ("a AND b", "leave it out"),
            ("a OR b", "leave it out"),
            ("+a", "in quotes"),
            ("heart*", "grep -c 'heart\\w*'"),
            ("\"a b", "does not end"),
            ("a NOT", "NOT at the end"),
            ("-a", "what to find is missing"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
