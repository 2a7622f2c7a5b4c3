//! What tadoc promises of its sizes and times, checked on a run. Only corpora of at least 50 MB count: the
//! promises are about text by the gigabyte, and small corpora measure how fast programs start.

use serde::Serialize;

use crate::contenders::{Contender, Level, REFERENCE};
use crate::run::{CorpusResult, means};

/// Corpora from this length on count.
pub const LEAST_BYTES: u64 = 50_000_000;

/// Size as a multiple of the reference's: in the geometric mean, and on each corpus.
const FAST_SIZE: (f64, f64) = (0.95, 1.08);
const DENSE_SIZE: (f64, f64) = (0.80, 1.00);
/// Size with little memory, that of one segment being 1, on each corpus.
const SEGMENTS: f64 = 1.03;
/// Speed of compressing as a multiple of the reference's: in the geometric mean, and on each corpus.
const FAST_SPEED: (f64, f64) = (20.0, 12.0);
/// The most that `tadoc info` may take.
const INFO_SECONDS: f64 = 0.050;

/// One promise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    pub what: String,
    pub limit: String,
    pub found: String,
    pub met: bool,
}

impl Bar {
    /// A figure that shall be at most `limit`.
    pub fn at_most(what: &str, found: f64, limit: f64) -> Self {
        Self {
            what: what.into(),
            limit: format!("≤ {limit:.2}x"),
            found: format!("{found:.3}x"),
            met: found <= limit,
        }
    }

    /// A figure that shall be at least `limit`.
    pub fn at_least(what: &str, found: f64, limit: f64) -> Self {
        Self {
            what: what.into(),
            limit: format!("≥ {limit:.0}x"),
            found: format!("{found:.1}x"),
            met: found >= limit,
        }
    }

    /// How it is marked in tables.
    pub fn mark(&self) -> &'static str {
        if self.met { "ok" } else { "MISSED" }
    }
}

/// Checks the promises; none without a corpus that counts.
pub fn check(corpora: &[CorpusResult]) -> Vec<Bar> {
    let counting: Vec<CorpusResult> =
        corpora.iter().filter(|corpus| corpus.text_bytes >= LEAST_BYTES).cloned().collect();
    let mut bars = Vec::new();
    for (level, size) in [(Level::Fast, FAST_SIZE), (Level::Dense, DENSE_SIZE)] {
        bars.extend(sizes(&counting, level, size));
        if level == Level::Fast {
            bars.extend(speeds(&counting));
        }
    }
    bars.extend(segments(&counting));
    bars.extend(loads(&counting));
    bars.extend(infos(&counting));
    bars
}

/// The largest of a figure over corpora, and the corpus.
fn largest(
    corpora: &[CorpusResult],
    figure: impl Fn(&CorpusResult) -> Option<f64>,
) -> Option<(f64, &str)> {
    let figures = corpora.iter().filter_map(|corpus| Some((figure(corpus)?, &corpus.name[..])));
    figures.max_by(|left, right| left.0.total_cmp(&right.0))
}

fn sizes(corpora: &[CorpusResult], level: Level, (mean, each): (f64, f64)) -> Vec<Bar> {
    let contender = Contender::Tadoc(level);
    let Some(found) = means(corpora).into_iter().find(|mean| mean.contender == contender) else {
        return Vec::new();
    };
    let ratio = |corpus: &CorpusResult| Some(corpus.size_ratio(corpus.of(contender)?));
    let name = level.name();
    let mut bars =
        vec![Bar::at_most(&format!("{name}: size, geometric mean"), found.size_ratio, mean)];
    if let Some((worst, corpus)) = largest(corpora, ratio) {
        bars.push(Bar::at_most(&format!("{name}: size, largest ({corpus})"), worst, each));
    }
    bars
}

fn speeds(corpora: &[CorpusResult]) -> Vec<Bar> {
    let contender = Contender::Tadoc(Level::Fast);
    let Some(found) = means(corpora).into_iter().find(|mean| mean.contender == contender) else {
        return Vec::new();
    };
    let slowness = |corpus: &CorpusResult| Some(-corpus.speed_ratio(corpus.of(contender)?));
    let (mean, each) = FAST_SPEED;
    let mut bars = vec![Bar::at_least("fast: speed, geometric mean", found.speed_ratio, mean)];
    if let Some((slowest, corpus)) = largest(corpora, slowness) {
        bars.push(Bar::at_least(&format!("fast: speed, lowest ({corpus})"), -slowest, each));
    }
    bars
}

/// The size with little memory, against that of one segment.
fn segments(corpora: &[CorpusResult]) -> Option<Bar> {
    let ratio = |corpus: &CorpusResult| Some(corpus.segments.as_ref()?.size_ratio());
    let (worst, corpus) = largest(corpora, ratio)?;
    let what =
        format!("fast: size with 1 GiB of memory to that of one segment, largest ({corpus})");
    Some(Bar::at_most(&what, worst, SEGMENTS))
}

/// Loading an archive for queries, against decompressing the reference's file.
fn loads(corpora: &[CorpusResult]) -> Option<Bar> {
    let ratio = |corpus: &CorpusResult| {
        let load = corpus.of(Contender::Tadoc(Level::Fast))?.load_seconds?;
        Some(load / corpus.of(REFERENCE)?.decompress_seconds?)
    };
    let (worst, corpus) = largest(corpora, ratio)?;
    Some(Bar {
        what: format!("fast: loading against zstd -dc, slowest ({corpus})"),
        limit: "< 1.00x".into(),
        found: format!("{worst:.3}x"),
        met: worst < 1.0,
    })
}

fn infos(corpora: &[CorpusResult]) -> Option<Bar> {
    let seconds = |corpus: &CorpusResult| {
        let all = corpus.results.iter().filter_map(|result| result.info_seconds);
        all.max_by(f64::total_cmp)
    };
    let (worst, corpus) = largest(corpora, seconds)?;
    Some(Bar {
        what: format!("tadoc info, slowest ({corpus})"),
        limit: format!("< {:.0} ms", INFO_SECONDS * 1e3),
        found: format!("{:.1} ms", worst * 1e3),
        met: worst < INFO_SECONDS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::corpus;
    use crate::segments::{Made, Segments};

    fn missed(bars: &[Bar]) -> Vec<&str> {
        bars.iter().filter(|bar| !bar.met).map(|bar| &bar.what[..]).collect()
    }

    #[test]
    fn a_run_that_keeps_everything_misses_nothing() {
        let good = corpus(LEAST_BYTES, &[(Level::Fast, 90, 4.0), (Level::Dense, 80, 9.0)]);
        let bars = check(&[good]);
        assert_eq!(missed(&bars), [""; 0]);
        assert_eq!(bars.len(), 8);
    }

    #[test]
    fn each_corpus_counts_and_not_only_the_mean() {
        let good = corpus(LEAST_BYTES, &[(Level::Fast, 60, 4.0), (Level::Dense, 50, 9.0)]);
        let large = corpus(LEAST_BYTES, &[(Level::Fast, 109, 9.0), (Level::Dense, 101, 9.0)]);
        assert_eq!(
            missed(&check(&[good, large])),
            [
                "fast: size, largest (text)",
                "fast: speed, geometric mean",
                "fast: speed, lowest (text)",
                "dense: size, largest (text)",
            ]
        );
    }

    #[test]
    fn small_corpora_and_levels_not_measured_are_left_out() {
        let bad = corpus(LEAST_BYTES - 1, &[(Level::Fast, 900, 900.0)]);
        assert_eq!(check(std::slice::from_ref(&bad)), []);
        let good = corpus(LEAST_BYTES, &[(Level::Fast, 90, 4.0)]);
        let bars = check(&[bad, good]);
        assert_eq!(missed(&bars), [""; 0]);
        assert!(!bars.iter().any(|bar| bar.what.starts_with("dense")));
    }

    #[test]
    fn segments_have_a_bar_of_their_own() {
        let made = |bytes| Made { segments: 1, bytes, seconds: 1.0, peak_bytes: 1 };
        let mut corpus = corpus(LEAST_BYTES, &[(Level::Fast, 90, 4.0)]);
        corpus.segments = Some(Segments { little: made(104), plenty: made(100) });
        let expected = ["fast: size with 1 GiB of memory to that of one segment, largest (text)"];
        assert_eq!(missed(&check(std::slice::from_ref(&corpus))), expected);
        corpus.segments = Some(Segments { little: made(103), plenty: made(100) });
        assert_eq!(missed(&check(&[corpus])), [""; 0]);
    }

    #[test]
    fn slow_loading_is_missed() {
        let mut slow = corpus(LEAST_BYTES, &[(Level::Fast, 90, 4.0)]);
        slow.results[1].load_seconds = Some(1.0);
        slow.results[1].info_seconds = Some(0.051);
        let bars = check(&[slow]);
        let expected =
            ["fast: loading against zstd -dc, slowest (text)", "tadoc info, slowest (text)"];
        assert_eq!(missed(&bars), expected);
    }
}
