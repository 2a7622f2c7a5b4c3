//! What tadoc promises of random access, checked on a run. As with compressing, only corpora of at least 50 MB count.

use super::lone::Lone;
use super::operations::Kind;
use super::result::{CorpusResult, Growth, IndexResult};
use super::whole::Question;
use crate::bars::{Bar, LEAST_BYTES};

/// Millions of operations in a second on one thread, with the largest index.
const SPEEDS: [(Kind, f64); 4] = [
    (Kind::Extract, 2.0),
    (Kind::CountInDocument, 1.0),
    (Kind::CountInAll, 1.0),
    (Kind::Sample, 2.0),
];
/// Millions of offsets in a second.
const OFFSETS: f64 = 20.0;
/// Archive and index as a part of the text.
const SHARES: [(&str, f64); 2] = [("small", 1.0 / 3.0), ("fast", 1.0 / 2.0)];
/// Memory, the file being 1.
const MEMORY: f64 = 1.2;
/// Microseconds of a question asked by itself, for each 100 KB of its document: a twentieth of what it took before.
const LONE_MICROSECONDS: f64 = 165.0;
/// How much longer an operation may take on the longer text.
const GROWTH: f64 = 2.0;

/// Checks the promises; none without a corpus that counts.
pub fn check(corpora: &[CorpusResult], growth: &[Growth]) -> Vec<Bar> {
    let counting: Vec<&CorpusResult> =
        corpora.iter().filter(|corpus| corpus.text_bytes >= LEAST_BYTES).collect();
    let mut bars = Vec::new();
    for (kind, least) in SPEEDS {
        let speed = |index: &IndexResult| Some(index.batch(kind, 1)?.speed() / 1e6);
        let what = format!("{}, M/s, one thread, index fast", kind.name());
        bars.extend(slowest(&counting, &what, least, speed));
    }
    let offsets =
        |index: &IndexResult| Some(index.batch(Kind::SearchInAll, 1)?.offset_speed() / 1e6);
    let what = "search in all, M offsets/s, one thread, index fast";
    bars.extend(slowest(&counting, what, OFFSETS, offsets));
    for (name, most) in SHARES {
        let share = |corpus: &CorpusResult| Some(corpus.share(corpus.index(name)?));
        bars.extend(largest(&counting, &format!("archive with {name} to text"), most, share));
    }
    for (name, _) in SHARES {
        let memory = |corpus: &CorpusResult| Some(corpus.index(name)?.memory_ratio());
        bars.extend(largest(&counting, &format!("memory to file, index {name}"), MEMORY, memory));
    }
    for (name, what) in [("none", "without an index"), ("fast", "index fast")] {
        let lone = |corpus: &CorpusResult| corpus.index(name)?.measured.lone.clone();
        let slower = |lone: &Lone| lone.count_seconds.max(lone.search_seconds);
        let each = |corpus: &CorpusResult| {
            let lone = lone(corpus)?;
            Some(lone.microseconds(slower(&lone)))
        };
        let to_plain = |corpus: &CorpusResult| {
            let lone = lone(corpus)?;
            Some(slower(&lone) / lone.plain_seconds)
        };
        let lone = format!("lone count or search, us for 100 KB, {what}");
        bars.extend(largest(&counting, &lone, LONE_MICROSECONDS, each));
        let lone = format!("the same to writing out and scanning, {what}");
        bars.extend(largest(&counting, &lone, 1.0, to_plain));
        let to_pipe = |corpus: &CorpusResult| {
            let ratios = corpus.index(name)?.whole.iter().map(Question::ratio);
            ratios.max_by(f64::total_cmp)
        };
        let whole = format!("count or search in a document to `cat \\| rg -c`, {what}");
        bars.extend(largest(&counting, &whole, 1.0, to_pipe));
    }
    for growth in growth {
        bars.push(Bar {
            what: format!("growth of {}, index {}", growth.kind.name(), growth.index),
            limit: format!("< {GROWTH:.0}x"),
            found: format!("{:.2}x", growth.ratio()),
            met: growth.ratio() < GROWTH,
        });
    }
    bars
}

/// The lowest of a speed with the largest index.
fn slowest(
    corpora: &[&CorpusResult],
    what: &str,
    least: f64,
    speed: impl Fn(&IndexResult) -> Option<f64>,
) -> Option<Bar> {
    let speeds = corpora.iter().filter_map(|corpus| Some((speed(corpus.index("fast")?)?, corpus)));
    let (found, corpus) = speeds.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Bar {
        what: format!("{what}, lowest ({})", corpus.name),
        limit: format!("≥ {least:.0}"),
        found: format!("{found:.2}"),
        met: found >= least,
    })
}

/// The largest of a ratio.
fn largest(
    corpora: &[&CorpusResult],
    what: &str,
    most: f64,
    ratio: impl Fn(&CorpusResult) -> Option<f64>,
) -> Option<Bar> {
    let ratios = corpora.iter().filter_map(|corpus| Some((ratio(corpus)?, corpus)));
    let (found, corpus) = ratios.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Bar {
        what: format!("{what}, largest ({})", corpus.name),
        limit: format!("≤ {most:.3}"),
        found: format!("{found:.3}"),
        met: found <= most,
    })
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::corpus;
    use super::*;

    fn missed(bars: &[Bar]) -> Vec<&str> {
        bars.iter().filter(|bar| !bar.met).map(|bar| &bar.what[..]).collect()
    }

    #[test]
    fn a_run_that_keeps_everything_misses_nothing() {
        let bars = check(&[corpus("web", [400.0, 900.0, 900.0, 1e6, 80.0, 450.0])], &[]);
        assert_eq!(missed(&bars), [""; 0]);
        assert_eq!(bars.len(), 12);
    }

    #[test]
    fn each_corpus_counts() {
        let good = corpus("web", [400.0, 900.0, 900.0, 1e6, 80.0, 450.0]);
        let mut slow = corpus("logs", [501.0, 900.0, 1001.0, 1.0, 110.0, 400.0]);
        slow.indexes[0].bytes = 34_000_000;
        slow.indexes[1].measured.mapped_bytes = 50_000_000;
        slow.indexes[1].measured.lone.as_mut().unwrap().search_seconds = 0.17;
        slow.indexes[1].whole[0].count_seconds = 0.011;
        assert_eq!(
            missed(&check(&[good, slow.clone()], &[])),
            [
                "extract 64 bytes, M/s, one thread, index fast, lowest (logs)",
                "count in all, M/s, one thread, index fast, lowest (logs)",
                "search in all, M offsets/s, one thread, index fast, lowest (logs)",
                "archive with small to text, largest (logs)",
                "memory to file, index fast, largest (logs)",
                "lone count or search, us for 100 KB, index fast, largest (logs)",
                "count or search in a document to `cat \\| rg -c`, index fast, largest (logs)",
            ]
        );
        slow.text_bytes = 1;
        assert_eq!(check(&[slow], &[]), []);
    }

    #[test]
    fn growth_is_a_promise_of_its_own() {
        let of =
            |longer| Growth { index: "fast".into(), kind: Kind::Extract, shorter: 100.0, longer };
        let bars = check(&[], &[of(199.0), of(200.0)]);
        assert_eq!((bars[0].met, bars[1].met), (true, false));
    }
}
