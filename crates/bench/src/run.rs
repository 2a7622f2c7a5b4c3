//! A run of `bench compress` in figures, and writing runs to be committed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::bars::Bar;
use crate::contenders::{Contender, REFERENCE};
use crate::machine::Machine;
use crate::segments::Segments;
use crate::statistics::geometric_mean;
use crate::units::MB;

/// All that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    pub date: String,
    pub command: String,
    pub machine: Machine,
    pub corpora: Vec<CorpusResult>,
    pub means: Vec<Mean>,
    pub bars: Vec<Bar>,
}

/// One corpus.
#[derive(Debug, Clone, Serialize)]
pub struct CorpusResult {
    pub name: String,
    pub files: usize,
    pub text_bytes: u64,
    pub results: Vec<Compressed>,
    /// Where the level fast was measured.
    pub segments: Option<Segments>,
}

/// What one contender made of a corpus. Times are medians.
#[derive(Debug, Clone, Serialize)]
pub struct Compressed {
    #[serde(serialize_with = "by_name", rename = "name")]
    pub contender: Contender,
    pub bytes: u64,
    pub seconds: f64,
    pub all_seconds: Vec<f64>,
    pub peak_bytes: u64,
    pub decompress_seconds: Option<f64>,
    pub load_seconds: Option<f64>,
    pub load_peak_bytes: Option<u64>,
    pub info_seconds: Option<f64>,
}

/// A contender over all corpora, against the reference.
#[derive(Debug, Clone, Serialize)]
pub struct Mean {
    #[serde(serialize_with = "by_name", rename = "name")]
    pub contender: Contender,
    pub size_ratio: f64,
    pub speed_ratio: f64,
}

fn by_name<S: serde::Serializer>(contender: &Contender, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&contender.name())
}

impl CorpusResult {
    /// What a contender made of it.
    pub fn of(&self, contender: Contender) -> Option<&Compressed> {
        self.results.iter().find(|result| result.contender == contender)
    }

    fn reference(&self) -> &Compressed {
        self.of(REFERENCE).expect("the reference is measured in every run")
    }

    /// The size, the reference's being 1.
    pub fn size_ratio(&self, result: &Compressed) -> f64 {
        result.bytes as f64 / self.reference().bytes as f64
    }

    /// The speed of compressing, the reference's being 1.
    pub fn speed_ratio(&self, result: &Compressed) -> f64 {
        self.reference().seconds / result.seconds
    }

    /// MB of text compressed in a second.
    pub fn speed(&self, result: &Compressed) -> f64 {
        self.text_bytes as f64 / MB / result.seconds
    }
}

/// The geometric means of all contenders over some corpora.
pub fn means(corpora: &[CorpusResult]) -> Vec<Mean> {
    let Some(first) = corpora.first() else { return Vec::new() };
    let mean = |contender: Contender| {
        let of = |figure: fn(&CorpusResult, &Compressed) -> f64| {
            let values: Vec<f64> = corpora
                .iter()
                .filter_map(|corpus| Some(figure(corpus, corpus.of(contender)?)))
                .collect();
            geometric_mean(&values)
        };
        Some(Mean {
            contender,
            size_ratio: of(CorpusResult::size_ratio)?,
            speed_ratio: of(CorpusResult::speed_ratio)?,
        })
    };
    first.results.iter().filter_map(|result| mean(result.contender)).collect()
}

/// Writes a run as Markdown and as JSON, under a name that is not there yet; gives the Markdown's path.
pub fn write(
    folder: &Path,
    date: &str,
    kind: &str,
    markdown: &str,
    run: &impl Serialize,
) -> Result<PathBuf> {
    let mut stem = format!("{date}-{kind}");
    for number in 2.. {
        if !folder.join(format!("{stem}.md")).exists() {
            break;
        }
        stem = format!("{date}-{kind}-{number}");
    }
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let path = folder.join(format!("{stem}.md"));
    let json = serde_json::to_string_pretty(run)? + "\n";
    for (path, text) in [(&path, markdown), (&folder.join(format!("{stem}.json")), &json)] {
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(path)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::contenders::Level;

    /// A corpus on which the reference makes 100 bytes in 100 seconds, and tadoc what is given.
    pub fn corpus(text_bytes: u64, results: &[(Level, u64, f64)]) -> CorpusResult {
        let result = |contender, bytes, seconds| Compressed {
            contender,
            bytes,
            seconds,
            all_seconds: vec![seconds],
            peak_bytes: 1 << 20,
            decompress_seconds: Some(1.0),
            load_seconds: None,
            load_peak_bytes: None,
            info_seconds: None,
        };
        let tadoc = results.iter().map(|&(level, bytes, seconds)| Compressed {
            load_seconds: Some(0.5),
            info_seconds: Some(0.005),
            ..result(Contender::Tadoc(level), bytes, seconds)
        });
        let results = [result(REFERENCE, 100, 100.0)].into_iter().chain(tadoc).collect();
        CorpusResult { name: "text".into(), files: 1, text_bytes, results, segments: None }
    }

    #[test]
    fn ratios_are_to_the_reference() {
        let corpus = corpus(200_000_000, &[(Level::Fast, 80, 5.0)]);
        let fast = corpus.of(Contender::Tadoc(Level::Fast)).unwrap();
        assert_eq!(corpus.size_ratio(fast), 0.8);
        assert_eq!(corpus.speed_ratio(fast), 20.0);
        assert_eq!(corpus.speed(fast), 40.0);
    }

    #[test]
    fn means_are_geometric() {
        let corpora =
            [corpus(1, &[(Level::Fast, 50, 10.0)]), corpus(1, &[(Level::Fast, 200, 40.0)])];
        let means = means(&corpora);
        assert_eq!(means.len(), 2);
        assert!((means[1].size_ratio - 1.0).abs() < 1e-12);
        assert!((means[1].speed_ratio - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_second_run_of_a_day_does_not_replace_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let write = || write(folder.path(), "2026-01-31", "compress", "text", &1).unwrap();
        assert!(write().ends_with("2026-01-31-compress.md"));
        assert!(write().ends_with("2026-01-31-compress-2.md"));
        assert!(folder.path().join("2026-01-31-compress-2.json").exists());
    }
}
