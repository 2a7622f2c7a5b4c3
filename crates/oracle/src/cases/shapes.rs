//! Cases about repetition: texts that make grammars deep, wide, flat or useless.

use super::Case;
use crate::Random;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = runs();
    cases.extend(self_similar());
    cases.extend(vocabularies());
    cases.extend(long_words());
    cases.extend(document_borders());
    cases
}

/// One thing over and over: pairs overlap themselves, and rules double. Lengths around powers of
/// two take every path through a run.
fn runs() -> Vec<Case> {
    let letters = (0..=20).chain([31, 32, 33, 127, 128, 129, 1000]);
    vec![
        Case::single("one-letter-run", "a".repeat(5000)),
        Case::single("one-word-run", "a ".repeat(10_000)),
        Case::numbered(
            "one-word-runs-of-each-length",
            letters.map(|length| "a ".repeat(length).into_bytes()),
        ),
        Case::single("two-word-run", "a b ".repeat(3000)),
        Case::single("one-line-run", "the quick brown fox jumps over the lazy dog\n".repeat(700)),
        Case::single(
            "runs-between-others",
            "a a a b a a a a c a a b b b a a a a a a a ".repeat(40),
        ),
    ]
}

/// Sequences known for how they repeat: in a Fibonacci word every border is a repetition, in a
/// Thue-Morse word nothing comes three times in a row.
fn self_similar() -> Vec<Case> {
    let (mut shorter, mut longer) = ("x ".to_string(), "x y ".to_string());
    while longer.len() < 30_000 {
        let next = format!("{longer}{shorter}");
        shorter = std::mem::replace(&mut longer, next);
    }
    let thue_morse: String = (0..8192_u32)
        .map(|index| if index.count_ones().is_multiple_of(2) { "zero " } else { "one " })
        .collect();
    // Each line is the one before it, twice, with a word of its own: one rule a level.
    let mut doubling = "level0".to_string();
    for level in 1..12 {
        doubling = format!("{doubling} {doubling} level{level}");
    }
    vec![
        Case::single("fibonacci", longer),
        Case::single("thue-morse", thue_morse),
        Case::single("doubling", doubling),
    ]
}

/// Few words or many, and words that look like what an engine writes inside.
fn vocabularies() -> Vec<Case> {
    let mut random = Random::new(4);
    let joined = |words: Vec<String>| words.join(" ");
    let distinct = (0..8000_u32).map(|i| format!("w{:x}", i.wrapping_mul(2_654_435_761))).collect();
    let ordered = (0..5000).map(|index| format!("k{index:07}")).collect::<Vec<_>>().join("\n");
    let zipf = (0..20_000).map(|_| format!("z{}", random.rank())).collect();
    let coin = (0..10_000).map(|_| random.below(2).to_string()).collect();
    let pairs = (0..6000).map(|i| format!("p{} q{}", i % 100, i * 7 % 100)).collect();
    let identifiers = (0..1500_u32)
        .map(|index| {
            let top = u32::MAX - index % 3;
            format!(
                "R{index} #{} {top} -{index} 0x{index:x} <{}> $ ||| \u{1e}",
                index % 64,
                index % 9
            )
        })
        .collect();
    let numbers = (0..3000_u64)
        .map(|index| match index % 5 {
            0 => index.to_string(),
            1 => format!("{:08}", index * 37),
            2 => format!("{}.{:02}", index % 50, index % 100),
            3 => format!("-{}", index % 20),
            _ => (u64::MAX - index % 4).to_string(),
        })
        .collect();
    let mut hash = || format!("{:016x}{:016x}", random.next_u64(), random.next_u64());
    let hashes: Vec<String> = (0..300).map(|_| hash()).collect();
    let hash_lines = (0..900)
        .map(|index| format!("{}  file{}\n", hashes[index * 7 % 300], index % 40))
        .collect::<String>();
    vec![
        Case::single("all-distinct-words", joined(distinct)),
        Case::single("distinct-words-in-order", ordered),
        Case::single("zipf-words", joined(zipf)),
        Case::single("coin-tosses", joined(coin)),
        Case::single("pairs-with-two-periods", joined(pairs)),
        Case::single("words-like-identifiers", joined(identifiers)),
        Case::single("words-like-numbers", joined(numbers)),
        Case::single("words-like-hashes", hash_lines),
        Case::single(
            "prefix-chains",
            joined((0..400).map(|index| "a".repeat(index % 150 + 1)).collect()),
        ),
    ]
}

/// Words past any length that a length field or a buffer was thought of for.
fn long_words() -> Vec<Case> {
    let mut random = Random::new(5);
    let mut word = |length: usize| -> String {
        (0..length).map(|_| *random.choose(&['a', 'b', 'c', 'd', 'e', 'f'])).collect()
    };
    let (one, other) = (word(70_000), word(65_536));
    let borders = [254, 255, 256, 257, 4095, 4096, 4097, 65_535];
    let around: Vec<String> = borders.iter().map(|&length| word(length)).collect();
    vec![
        Case::single("long-word", format!("before {one} after {one} {other}")),
        Case::single("words-around-powers-of-two", format!("{0} x {0}", around.join(" "))),
        Case::single("long-word-of-one-letter", format!("Q {} Q", "Q".repeat(70_000))),
    ]
}

/// Repetition within documents, over documents and across their borders, where no rule, sequence
/// or phrase may cross.
fn document_borders() -> Vec<Case> {
    let text = "the quick brown fox jumps over the lazy dog";
    let tokens: Vec<&str> = text.split(' ').collect();
    let tiny = (0..800).map(|index| format!("only{}", index % 700).into_bytes());
    let shared = (0..40).map(|index| {
        let phrase = "common phrase across files ".repeat(3);
        if index % 2 == 0 { format!("tail {phrase}") } else { format!("{phrase}head") }.into_bytes()
    });
    // One text, cut at other places in each round: all cuts together are the text again.
    let pieces = (1..9).flat_map(|width| {
        tokens.chunks(width).map(|chunk| chunk.join(" ").into_bytes()).collect::<Vec<_>>()
    });
    // Cut in the middle of words too.
    let halves = (0..=text.len()).flat_map(|at| {
        let (left, right) = text.as_bytes().split_at(at);
        [left.to_vec(), right.to_vec()]
    });
    let versions = (0..30).map(|version| {
        let lines = (0..40).map(|line| {
            let edited = if line % 11 == version % 11 { version } else { 0 };
            format!("line {line} of the page, last edited in version {edited}\n")
        });
        lines.collect::<String>().into_bytes()
    });
    let names = ["a", "a b", "a.d/b", "a.d/b.d/c.txt", "b\\c", "tab\there", "é", "日本語/😀.txt"];
    let named = names.map(|name| (name.to_string(), format!("content of {name}\n").into_bytes()));
    vec![
        Case::numbered("many-tiny-documents", tiny),
        Case::numbered("many-equal-documents", vec![text.repeat(4).into_bytes(); 100]),
        Case::numbered("two-equal-documents", vec![text.as_bytes().to_vec(); 2]),
        Case::numbered("shared-across-borders", shared),
        Case::numbered("cut-at-every-word", pieces),
        Case::numbered("cut-at-every-byte", halves),
        Case::numbered("versions-of-a-page", versions),
        Case::new("document-names", named.to_vec()),
    ]
}
