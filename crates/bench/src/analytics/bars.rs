//! What tadoc promises of its analytics, checked on a run. As with compressing, only corpora of at least 50 MB count.

use super::result::{CorpusResult, TaskResult, median_of, ratios};
use crate::bars::{Bar, LEAST_BYTES};
use crate::task::TaskName;
use crate::units::MB;

/// c/a on each corpus.
const LEAST_LOADED: f64 = 1.2;
/// d/b on each corpus.
const LEAST_COMMAND: f64 = 1.2;
/// d/b' of word count: the median over corpora.
const VIEWED: f64 = 10.0;
/// The time of auto, that of the better strategy being 1.
const MOST_AUTO: f64 = 1.2;
/// What the command may hold beside the view: bytes a term, and bytes.
const BESIDE_VIEW: (u64, u64) = (16, 64_000_000);

/// c/a: the median over corpora.
fn loaded_bar(task: TaskName) -> f64 {
    match task {
        TaskName::WordCount | TaskName::Sort => 25.0,
        TaskName::InvertedIndex | TaskName::TermVector => 4.0,
        TaskName::SequenceCount | TaskName::RankedInvertedIndex => 2.5,
    }
}

/// d/b: the median over corpora.
fn command_bar(task: TaskName) -> f64 {
    match task {
        TaskName::WordCount | TaskName::Sort => 5.0,
        TaskName::InvertedIndex | TaskName::TermVector => 2.5,
        TaskName::SequenceCount | TaskName::RankedInvertedIndex => 2.0,
    }
}

/// A ratio that shall be at least `limit`.
fn at_least(what: String, found: f64, limit: f64) -> Bar {
    Bar { what, limit: format!("≥ {limit}x"), found: format!("{found:.2}x"), met: found >= limit }
}

/// Checks the promises; none without a corpus that counts.
pub fn check(corpora: &[CorpusResult]) -> Vec<Bar> {
    let counting: Vec<&CorpusResult> =
        corpora.iter().filter(|corpus| corpus.text_bytes >= LEAST_BYTES).collect();
    let mut bars = Vec::new();
    for task in TaskName::ALL {
        let limits = (loaded_bar(task), LEAST_LOADED);
        let ratio = TaskResult::loaded_ratio;
        bars.extend(medians_and_lowest(&counting, task, "loaded, c/a", ratio, limits));
    }
    for task in TaskName::ALL {
        let ratio = |result: &TaskResult| Some(result.command_ratio());
        let limits = (command_bar(task), LEAST_COMMAND);
        bars.extend(medians_and_lowest(&counting, task, "command, d/b", ratio, limits));
    }
    let viewed = ratios(counting.iter().copied(), TaskName::WordCount, TaskResult::viewed_ratio);
    if let Some(found) = median_of(&viewed) {
        bars.push(at_least("word-count: stored view, d/b', median".into(), found, VIEWED));
    }
    bars.extend(memory(&counting));
    bars.extend(strategies(&counting));
    // Whether answers are right does not depend on their length.
    bars.extend(equality(corpora));
    bars
}

fn medians_and_lowest(
    corpora: &[&CorpusResult],
    task: TaskName,
    what: &str,
    ratio: impl Fn(&TaskResult) -> Option<f64>,
    (median, each): (f64, f64),
) -> Vec<Bar> {
    let ratios = ratios(corpora.iter().copied(), task, ratio);
    let lowest = ratios.iter().min_by(|left, right| left.0.total_cmp(&right.0));
    let (Some(found), Some((lowest, corpus))) = (median_of(&ratios), lowest) else {
        return Vec::new();
    };
    let task = task.name();
    vec![
        at_least(format!("{task}: {what}, median"), found, median),
        at_least(format!("{task}: {what}, lowest ({corpus})"), *lowest, each),
    ]
}

/// The peak of the word-count command against the view and a little more, where it is closest.
fn memory(corpora: &[&CorpusResult]) -> Option<Bar> {
    let peaks = corpora.iter().filter_map(|corpus| {
        let result = corpus.tasks.iter().find(|result| result.task == TaskName::WordCount)?;
        let view = corpus.view.as_ref()?;
        let allowed = view.bytes + BESIDE_VIEW.0 * view.terms + BESIDE_VIEW.1;
        Some((result.command.peak_bytes?, allowed, &corpus.name))
    });
    let share = |peak: u64, allowed: u64| peak as f64 / allowed as f64;
    let (peak, allowed, corpus) =
        peaks.max_by(|left, right| share(left.0, left.1).total_cmp(&share(right.0, right.1)))?;
    Some(Bar {
        what: format!("word-count: peak against view + 16 B a term + 64 MB, highest ({corpus})"),
        limit: format!("≤ {:.0} MB", allowed as f64 / MB),
        found: format!("{:.0} MB", peak as f64 / MB),
        met: peak <= allowed,
    })
}

fn strategies(corpora: &[&CorpusResult]) -> Vec<Bar> {
    let worst = |task: TaskName| {
        let of = |corpus: &&CorpusResult| {
            let result = corpus.strategies.iter().find(|result| result.task == task)?;
            Some((result.auto_ratio(), corpus.name.clone()))
        };
        let (found, corpus) =
            corpora.iter().filter_map(of).max_by(|left, right| left.0.total_cmp(&right.0))?;
        let what = format!("{}: auto against the better, highest ({corpus})", task.name());
        Some(Bar::at_most(&what, found, MOST_AUTO))
    };
    TaskName::ALL.into_iter().filter_map(worst).collect()
}

fn equality(corpora: &[CorpusResult]) -> Option<Bar> {
    let checks: Vec<_> = corpora.iter().flat_map(|corpus| &corpus.checks).collect();
    if checks.is_empty() {
        return None;
    }
    let equal = checks.iter().filter(|check| check.difference.is_none()).count();
    Some(Bar {
        what: "answers that equal those of plain text, byte by byte".into(),
        limit: format!("{} of {}", checks.len(), checks.len()),
        found: format!("{equal} of {}", checks.len()),
        met: equal == checks.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::result::tests::{corpus, task};
    use crate::analytics::result::{CheckResult, Cost, StrategyResult};

    fn missed(bars: &[Bar]) -> Vec<&str> {
        bars.iter().filter(|bar| !bar.met).map(|bar| &bar.what[..]).collect()
    }

    fn good(name: &str) -> CorpusResult {
        let tasks = TaskName::ALL.map(|name| task(name, [1.0, 10.0, 3.0, 25.0, 50.0]));
        corpus(name, LEAST_BYTES, tasks.into())
    }

    #[test]
    fn a_run_that_keeps_everything_misses_nothing() {
        let bars = check(&[good("web")]);
        assert_eq!(missed(&bars), [""; 0]);
        // Two for each task and ratio, the stored view, and the memory.
        assert_eq!(bars.len(), 26);
    }

    #[test]
    fn medians_and_each_corpus_have_bars() {
        let mut slow = good("slow");
        slow.tasks[2] = task(TaskName::InvertedIndex, [1.0, 40.0, 3.0, 1.1, 47.0]);
        let bars = check(&[good("web"), slow.clone(), good("logs")]);
        let lowest = [
            "inverted-index: loaded, c/a, lowest (slow)",
            "inverted-index: command, d/b, lowest (slow)",
        ];
        assert_eq!(missed(&bars), lowest);
        assert_eq!(missed(&check(&[slow])).len(), 4);
    }

    #[test]
    fn the_limits_are_shown_as_they_are() {
        let bars = check(&[good("web")]);
        let limit = |what: &str| &bars.iter().find(|bar| bar.what == what).unwrap().limit[..];
        assert_eq!(limit("sort: loaded, c/a, median"), "≥ 25x");
        assert_eq!(limit("sequence-count: loaded, c/a, median"), "≥ 2.5x");
        assert_eq!(limit("sort: loaded, c/a, lowest (web)"), "≥ 1.2x");
        assert_eq!(limit("sort: command, d/b, median"), "≥ 5x");
        assert_eq!(limit("term-vector: command, d/b, median"), "≥ 2.5x");
        assert_eq!(limit("ranked-inverted-index: command, d/b, median"), "≥ 2x");
        assert_eq!(limit("sort: command, d/b, lowest (web)"), "≥ 1.2x");
        let memory = "word-count: peak against view + 16 B a term + 64 MB, highest (web)";
        assert_eq!(limit(memory), "≤ 100 MB");
    }

    #[test]
    fn commands_alone_have_the_bars_of_commands() {
        let mut corpus = good("web");
        corpus.view = None;
        for task in &mut corpus.tasks {
            (task.inside, task.viewed) = (None, None);
        }
        let bars = check(&[corpus]);
        assert_eq!((bars.len(), missed(&bars).len()), (12, 0));
        assert!(bars.iter().all(|bar| bar.what.contains("d/b")));
    }

    #[test]
    fn small_corpora_count_for_equality_only() {
        let mut small = good("small");
        small.text_bytes = 1;
        assert_eq!(check(std::slice::from_ref(&small)), []);
        let check_of = |difference| CheckResult {
            task: TaskName::Sort,
            with: "rival",
            rows: 1,
            bytes: 4,
            difference,
        };
        small.checks = vec![check_of(None), check_of(Some("row 2".into()))];
        let bars = check(&[small]);
        assert_eq!((bars.len(), &bars[0].found[..], bars[0].met), (1, "1 of 2", false));
    }

    #[test]
    fn auto_may_be_a_little_slower() {
        let cost = |seconds| Cost::of_calls(vec![seconds]);
        let mut corpus = good("web");
        for (task, auto) in [(TaskName::Sort, 1.1), (TaskName::TermVector, 1.3)] {
            corpus.strategies.push(StrategyResult {
                task,
                top_down: cost(1.0),
                bottom_up: cost(2.0),
                auto: cost(auto),
                chosen: "top-down".into(),
            });
        }
        let expected = ["term-vector: auto against the better, highest (web)"];
        assert_eq!(missed(&check(&[corpus])), expected);
    }
}
