//! A run of `bench analytics` in figures, and the ratios between them.

use serde::Serialize;

use crate::bars::Bar;
use crate::machine::Machine;
use crate::measure::Measurement;
use crate::statistics::median;
use crate::task::TaskName;

/// All that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct AnalyticsRun {
    pub date: String,
    pub command: String,
    pub machine: Machine,
    /// Threads on both sides.
    pub threads: usize,
    /// How many programs ran on average in the minute before: figures of a busy machine say little.
    pub load: Option<f64>,
    /// Bytes of memory read in a second by that many threads; nothing where commands alone were measured.
    pub bandwidth: Option<f64>,
    pub corpora: Vec<CorpusResult>,
    pub medians: Vec<Medians>,
    pub bars: Vec<Bar>,
}

/// One corpus.
#[derive(Debug, Clone, Serialize)]
pub struct CorpusResult {
    pub name: String,
    pub files: usize,
    pub text_bytes: u64,
    pub archive_bytes: u64,
    /// Where the compressed tar has been measured.
    pub tar_bytes: Option<u64>,
    /// Of the loaded archive, where one has been measured.
    pub view: Option<ViewResult>,
    pub tasks: Vec<TaskResult>,
    pub strategies: Vec<StrategyResult>,
    pub checks: Vec<CheckResult>,
}

/// What tasks run on.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ViewResult {
    /// From the archive's file.
    pub seconds: f64,
    /// Before anything was asked of it.
    pub bytes: u64,
    pub terms: u64,
    pub rules: u64,
    pub root_symbols: u64,
    pub body_symbols: u64,
    /// Occurrences of terms in the text.
    pub words: u64,
}

/// What something took: the median of the times, and the largest of the peaks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    pub seconds: f64,
    pub all_seconds: Vec<f64>,
    /// Of processes only.
    pub user_seconds: Option<f64>,
    /// Of processes only.
    pub peak_bytes: Option<u64>,
}

impl Cost {
    /// Of something in this process.
    pub fn of_calls(all_seconds: Vec<f64>) -> Self {
        Self { seconds: median(&all_seconds), all_seconds, user_seconds: None, peak_bytes: None }
    }

    /// Of a program.
    pub fn of_processes(measured: &[Measurement]) -> Self {
        let of = |figure: fn(&Measurement) -> f64| measured.iter().map(figure).collect::<Vec<_>>();
        Self {
            user_seconds: Some(median(&of(|one| one.user_seconds))),
            peak_bytes: measured.iter().map(|one| one.peak_bytes).max(),
            ..Self::of_calls(of(|one| one.seconds))
        }
    }
}

/// One task on one corpus.
#[derive(Debug, Clone, Serialize)]
pub struct TaskResult {
    pub task: TaskName,
    /// Where more than commands have been measured.
    #[serde(flatten)]
    pub inside: Option<InsideResult>,
    /// (b) The command, from the archive's file to rows.
    pub command: Cost,
    /// (b') The same with the view stored beside the archive.
    pub viewed: Option<Cost>,
    /// (d) From the compressed tar to rows.
    pub pipeline: Cost,
    pub duckdb: Option<DuckDbResult>,
}

/// A task on what is in memory.
#[derive(Debug, Clone, Serialize)]
pub struct InsideResult {
    pub rows: u64,
    /// The first answer on a view, which counts its root.
    pub first_seconds: f64,
    /// (a) On a loaded archive.
    pub archive: Cost,
    /// (c) On text in memory.
    pub text: Cost,
    /// What must be read and written, whatever way the task goes.
    pub limit: Limit,
}

impl InsideResult {
    /// c/a: how much faster the loaded archive is than text in memory.
    pub fn ratio(&self) -> f64 {
        self.text.seconds / self.archive.seconds
    }
}

impl TaskResult {
    /// c/a, where it has been measured.
    pub fn loaded_ratio(&self) -> Option<f64> {
        Some(self.inside.as_ref()?.ratio())
    }

    /// d/b: how much faster the command is than decompressing and counting.
    pub fn command_ratio(&self) -> f64 {
        self.pipeline.seconds / self.command.seconds
    }

    /// d/b': the same with a stored view.
    pub fn viewed_ratio(&self) -> Option<f64> {
        Some(self.pipeline.seconds / self.viewed.as_ref()?.seconds)
    }
}

/// What DuckDB took, once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DuckDbResult {
    /// Reading the files into a table.
    pub read_seconds: f64,
    /// The query.
    pub query_seconds: f64,
}

/// The least bytes that a task moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limit {
    pub read_bytes: u64,
    pub written_bytes: u64,
}

impl Limit {
    /// The time that moving them takes.
    pub fn seconds(&self, bandwidth: f64) -> f64 {
        (self.read_bytes + self.written_bytes) as f64 / bandwidth
    }
}

/// Both strategies on a task, and the one that is chosen.
#[derive(Debug, Clone, Serialize)]
pub struct StrategyResult {
    pub task: TaskName,
    pub top_down: Cost,
    pub bottom_up: Cost,
    pub auto: Cost,
    /// What auto chose.
    pub chosen: String,
}

impl StrategyResult {
    /// The time of auto, that of the better strategy being 1.
    pub fn auto_ratio(&self) -> f64 {
        self.auto.seconds / self.top_down.seconds.min(self.bottom_up.seconds)
    }
}

/// Whether two programs print the same rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    pub task: TaskName,
    /// What tadoc was compared with.
    pub with: &'static str,
    /// Rows and bytes that are the same: all, if there is no difference.
    pub rows: u64,
    pub bytes: u64,
    pub difference: Option<String>,
}

/// The medians of ratios over corpora.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Medians {
    pub task: TaskName,
    /// c/a.
    pub loaded: Option<f64>,
    /// d/b.
    pub command: f64,
    /// d/b'.
    pub viewed: Option<f64>,
}

/// For each task the ratios of all corpora with one of its figures, and the corpora's names.
pub fn ratios<'c>(
    corpora: impl IntoIterator<Item = &'c CorpusResult>,
    task: TaskName,
    ratio: impl Fn(&TaskResult) -> Option<f64>,
) -> Vec<(f64, &'c str)> {
    let of = |corpus: &'c CorpusResult| {
        let result = corpus.tasks.iter().find(|result| result.task == task)?;
        Some((ratio(result)?, &corpus.name[..]))
    };
    corpora.into_iter().filter_map(of).collect()
}

/// The median of ratios; `None` of none.
pub fn median_of(ratios: &[(f64, &str)]) -> Option<f64> {
    let ratios: Vec<f64> = ratios.iter().map(|(ratio, _)| *ratio).collect();
    (!ratios.is_empty()).then(|| median(&ratios))
}

/// The medians of all tasks that were measured.
pub fn medians(corpora: &[CorpusResult]) -> Vec<Medians> {
    let of = |task| {
        Some(Medians {
            task,
            loaded: median_of(&ratios(corpora, task, TaskResult::loaded_ratio)),
            command: median_of(&ratios(corpora, task, |result| Some(result.command_ratio())))?,
            viewed: median_of(&ratios(corpora, task, TaskResult::viewed_ratio)),
        })
    };
    TaskName::ALL.into_iter().filter_map(of).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    fn cost(milliseconds: f64) -> Cost {
        Cost::of_calls(vec![milliseconds / 1e3])
    }

    /// A task with these milliseconds of (a), (b), (b'), (c) and (d).
    pub fn task(task: TaskName, milliseconds: [f64; 5]) -> TaskResult {
        let [archive, command, viewed, text, pipeline] = milliseconds.map(cost);
        TaskResult {
            task,
            inside: Some(InsideResult {
                rows: 10,
                first_seconds: 0.1,
                archive,
                text,
                limit: Limit { read_bytes: 4_000_000, written_bytes: 1_000_000 },
            }),
            command: Cost { peak_bytes: Some(80_000_000), ..command },
            viewed: Some(viewed),
            pipeline,
            duckdb: None,
        }
    }

    /// A corpus with these tasks and a view of 20 MB.
    pub fn corpus(name: &str, text_bytes: u64, tasks: Vec<TaskResult>) -> CorpusResult {
        let view = ViewResult {
            seconds: 0.02,
            bytes: 20_000_000,
            terms: 1_000_000,
            rules: 1,
            root_symbols: 1,
            body_symbols: 2,
            words: 4,
        };
        CorpusResult {
            name: name.into(),
            files: 1,
            text_bytes,
            archive_bytes: 1_000_000,
            tar_bytes: Some(1_100_000),
            view: Some(view),
            tasks,
            strategies: Vec::new(),
            checks: Vec::new(),
        }
    }

    #[test]
    fn ratios_are_above_one_where_the_archive_is_faster() {
        let result = task(TaskName::Sort, [2.0, 20.0, 5.0, 50.0, 100.0]);
        assert_eq!(result.loaded_ratio(), Some(25.0));
        assert_eq!(result.command_ratio(), 5.0);
        assert_eq!(result.viewed_ratio(), Some(20.0));
        assert_eq!(TaskResult { viewed: None, ..result }.viewed_ratio(), None);
    }

    #[test]
    fn medians_are_over_corpora_with_the_task() {
        let of = |archive: f64| task(TaskName::Sort, [archive, 1.0, 1.0, 12.0, 3.0]);
        let corpora = [
            corpus("a", 1, vec![of(1.0)]),
            corpus("b", 1, vec![of(2.0)]),
            corpus("c", 1, vec![of(4.0)]),
            corpus("d", 1, vec![]),
        ];
        let expected =
            Medians { task: TaskName::Sort, loaded: Some(6.0), command: 3.0, viewed: Some(3.0) };
        assert_eq!(medians(&corpora), [expected]);
        assert_eq!(medians(&corpora[3..]), []);
    }

    #[test]
    fn costs_are_medians_and_peaks_are_maxima() {
        let measured = [(3.0, 7), (1.0, 9), (2.0, 8)].map(|(seconds, peak_bytes)| Measurement {
            seconds,
            user_seconds: 2.0 * seconds,
            anonymous_bytes: 0,
            peak_bytes,
        });
        let cost = Cost::of_processes(&measured);
        assert_eq!((cost.seconds, cost.user_seconds, cost.peak_bytes), (2.0, Some(4.0), Some(9)));
    }

    #[test]
    fn auto_is_compared_with_the_better_one() {
        let result = StrategyResult {
            task: TaskName::TermVector,
            top_down: cost(10.0),
            bottom_up: cost(4.0),
            auto: cost(5.0),
            chosen: "bottom-up".into(),
        };
        assert_eq!(result.auto_ratio(), 1.25);
    }

    #[test]
    fn the_limit_is_bytes_over_bandwidth() {
        let limit = Limit { read_bytes: 3_000_000, written_bytes: 1_000_000 };
        assert_eq!(limit.seconds(1e9), 0.004);
    }
}
