//! A run as text for a terminal, and as Markdown.

use super::result::{AnalyticsRun, CorpusResult, Cost, InsideResult, Medians, ViewResult};
use crate::bars::LEAST_BYTES;
use crate::render::{bars, machine};
use crate::table::Table;
use crate::units::{MB, MIB, counted};

fn milliseconds(seconds: f64) -> String {
    match seconds * 1e3 {
        short if short < 9.995 => format!("{short:.2}"),
        middle if middle < 99.95 => format!("{middle:.1}"),
        long => format!("{long:.0}"),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / MB)
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or("-".into())
}

/// `12.3x`: three digits say all that a ratio of times can say.
fn times(ratio: f64) -> String {
    let digits = if ratio < 9.995 { 2 } else { usize::from(ratio < 99.95) };
    format!("{ratio:.digits$}x")
}

/// What a corpus is, in a line.
pub fn title(result: &CorpusResult) -> String {
    let files = counted(result.files, "file", "files");
    format!("{}: {} of text, {files}", result.name, megabytes(result.text_bytes))
}

/// Its archive and its view, in a line.
pub fn view(result: &CorpusResult) -> String {
    let tar = result.tar_bytes.map(|bytes| format!(", tar.zst {}", megabytes(bytes)));
    format!(
        "archive {}{}{}",
        megabytes(result.archive_bytes),
        tar.unwrap_or_default(),
        result.view.as_ref().map(in_figures).unwrap_or_default()
    )
}

fn in_figures(view: &ViewResult) -> String {
    format!(
        "; view {}, made in {} ms: {} terms, {} rules, {} symbols in them and {} in the root, for \
         {} words",
        megabytes(view.bytes),
        milliseconds(view.seconds),
        view.terms,
        view.rules,
        view.body_symbols,
        view.root_symbols,
        view.words
    )
}

/// Every task a row: the contenders and their ratios.
fn tasks(result: &CorpusResult) -> Table {
    let inside: Vec<&InsideResult> =
        result.tasks.iter().filter_map(|row| row.inside.as_ref()).collect();
    if inside.is_empty() {
        return commands(result);
    }
    let mut headings = vec![
        "", "rows", "(a) ms", "first ms", "(c) ms", "c/a", "(b) ms", "(d) ms", "d/b", "(b') ms",
        "d/b'", "peak MiB",
    ];
    let has_duckdb = result.tasks.iter().any(|row| row.duckdb.is_some());
    if has_duckdb {
        headings.extend(["DuckDB ms", "reading"]);
    }
    let mut table = Table::new(headings);
    let of = |cost: &Cost| milliseconds(cost.seconds);
    for (row, inside) in result.tasks.iter().zip(inside) {
        let mut cells = vec![
            row.task.name().to_owned(),
            inside.rows.to_string(),
            of(&inside.archive),
            milliseconds(inside.first_seconds),
            of(&inside.text),
            times(inside.ratio()),
            of(&row.command),
            of(&row.pipeline),
            times(row.command_ratio()),
            or_dash(row.viewed.as_ref().map(of)),
            or_dash(row.viewed_ratio().map(times)),
            peak(&row.command),
        ];
        if has_duckdb {
            let told = row.duckdb;
            cells.push(or_dash(told.map(|told| milliseconds(told.query_seconds))));
            cells.push(or_dash(told.map(|told| milliseconds(told.read_seconds))));
        }
        table.row(cells);
    }
    table
}

/// Every task a row: the commands alone.
fn commands(result: &CorpusResult) -> Table {
    let mut table =
        Table::new(["", "(b) ms", "(d) ms", "d/b", "(b) CPU ms", "(d) CPU ms", "peak MiB"]);
    for row in &result.tasks {
        table.row([
            row.task.name().to_owned(),
            milliseconds(row.command.seconds),
            milliseconds(row.pipeline.seconds),
            times(row.command_ratio()),
            or_dash(row.command.user_seconds.map(milliseconds)),
            or_dash(row.pipeline.user_seconds.map(milliseconds)),
            peak(&row.command),
        ]);
    }
    table
}

fn peak(cost: &Cost) -> String {
    or_dash(cost.peak_bytes.map(|bytes| format!("{:.0}", bytes as f64 / MIB)))
}

/// Every task a row: what it must move, and how long that takes.
fn limits(result: &CorpusResult, bandwidth: f64) -> Table {
    let mut table = Table::new(["", "read MB", "written MB", "limit ms", "(a) ms", "a/limit"]);
    let inside = |(task, inside): (_, Option<&InsideResult>)| {
        let InsideResult { limit, archive, .. } = inside?;
        let seconds = limit.seconds(bandwidth);
        Some([
            task,
            format!("{:.1}", limit.read_bytes as f64 / MB),
            format!("{:.1}", limit.written_bytes as f64 / MB),
            milliseconds(seconds),
            milliseconds(archive.seconds),
            times(archive.seconds / seconds),
        ])
    };
    let tasks = result.tasks.iter().map(|row| (row.task.name().to_owned(), row.inside.as_ref()));
    tasks.filter_map(inside).for_each(|row| table.row(row));
    table
}

fn strategies(result: &CorpusResult) -> Table {
    let mut table =
        Table::new(["", "top-down ms", "bottom-up ms", "auto ms", "chosen", "auto/better"]);
    for row in &result.strategies {
        table.row([
            row.task.name().to_owned(),
            milliseconds(row.top_down.seconds),
            milliseconds(row.bottom_up.seconds),
            milliseconds(row.auto.seconds),
            row.chosen.clone(),
            times(row.auto_ratio()),
        ]);
    }
    table
}

fn checks(result: &CorpusResult) -> Table {
    let mut table = Table::new(["", "compared with", "rows", "bytes", ""]);
    for row in &result.checks {
        table.row([
            row.task.name().to_owned(),
            row.with.to_owned(),
            row.rows.to_string(),
            row.bytes.to_string(),
            row.difference.clone().unwrap_or("equal".into()),
        ]);
    }
    table
}

/// The tables that a corpus has, each with what it is about.
fn tables(result: &CorpusResult, bandwidth: Option<f64>) -> Vec<(&'static str, Table)> {
    let mut tables = Vec::new();
    if !result.tasks.is_empty() {
        tables.push(("", tasks(result)));
    }
    if let (Some(bandwidth), false) = (bandwidth, result.tasks.is_empty()) {
        tables.push(("Distance to the limit:", limits(result, bandwidth)));
    }
    if !result.strategies.is_empty() {
        tables.push(("Strategies:", strategies(result)));
    }
    if !result.checks.is_empty() {
        tables.push(("Rows compared byte by byte:", checks(result)));
    }
    tables
}

/// A corpus on a terminal.
pub fn corpus(result: &CorpusResult, bandwidth: Option<f64>) -> String {
    let mut text = format!("{}\n{}\n", title(result), view(result));
    for (about, table) in tables(result, bandwidth) {
        let gap = if about.is_empty() { "" } else { "\n" };
        text += &format!("\n{about}{gap}{}", table.text());
    }
    text
}

fn medians(medians: &[Medians]) -> Table {
    let mut table = Table::new(["median", "c/a", "d/b", "d/b'"]);
    for row in medians {
        table.row([
            row.task.name().to_owned(),
            or_dash(row.loaded.map(times)),
            times(row.command),
            or_dash(row.viewed.map(times)),
        ]);
    }
    table
}

fn corpora(run: &AnalyticsRun) -> String {
    counted(run.corpora.len(), "corpus", "corpora")
}

/// What the figures depend on beside the machine, in a line.
fn conditions(run: &AnalyticsRun) -> String {
    let threads = counted(run.threads, "thread", "threads");
    let load = run.load.map(|load| format!("; load of the machine before: {load:.2}"));
    let bandwidth =
        run.bandwidth.map(|bytes| format!(", which read memory at {:.1} GB/s", bytes / 1e9));
    format!("{threads} on both sides{}{}", bandwidth.unwrap_or_default(), load.unwrap_or_default())
}

fn no_bars() -> String {
    format!("No corpus has {:.0} MB: the promises are not checked.\n", LEAST_BYTES as f64 / MB)
}

/// What follows the corpora on a terminal.
pub fn ending(run: &AnalyticsRun) -> String {
    let mut text = format!("{}\n\n", conditions(run));
    if !run.medians.is_empty() {
        text += &format!("Over {}:\n{}\n", corpora(run), medians(&run.medians).text());
    }
    text + &if run.bars.is_empty() { no_bars() } else { bars(&run.bars).text() }
}

/// The whole run.
pub fn markdown(run: &AnalyticsRun) -> String {
    let mut text = format!("# Analytics, {}\n\n{}", run.date, machine(&run.machine, &run.command));
    text += &format!("- {}\n\n", conditions(run));
    text += "Sequences have 3 terms. Times are medians of turns that the contenders took in this run; all files \
             were read once before. Where zstd is a library in tadoc-bench, that decompresses for (d).\n\n\
             - (a) the task on a loaded archive, all rows made and counted; first: the first one on a \
             view, which has the counts of its root already\n\
             - (b) `tadoc TASK ARCHIVE --format tsv -o /dev/null`, the whole process; peak is its resident memory\n\
             - (b') the same with the view stored beside the archive (`tadoc index --view`)\n\
             - (c) the plain-text program on text in memory, in the same process as (a), all rows made\n\
             - (d) `zstd -dc TAR | tadoc-bench rival TASK --tar-stdin`, rows to /dev/null\n\
             - limit: the bytes of the view that must be read and of the answer that must be written, at the speed \
             of memory\n";
    for result in &run.corpora {
        text += &format!("\n## {}\n\n{}.\n", title(result), view(result));
        for (about, table) in tables(result, run.bandwidth) {
            let gap = if about.is_empty() { "" } else { "\n\n" };
            text += &format!("\n{about}{gap}{}", table.markdown());
        }
    }
    if !run.medians.is_empty() {
        text += &format!("\n## Over {}\n\n{}", corpora(run), medians(&run.medians).markdown());
    }
    text += "\n## Promises\n\n";
    text += &if run.bars.is_empty() { no_bars() } else { bars(&run.bars).markdown() };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::bars::check;
    use crate::analytics::result::tests::{corpus as corpus_of, task};
    use crate::analytics::result::{CheckResult, medians};
    use crate::machine::Machine;
    use crate::task::TaskName;

    #[test]
    fn figures_have_three_digits() {
        assert_eq!([0.0001234, 0.0123, 1.5].map(milliseconds), ["0.12", "12.3", "1500"]);
        assert_eq!([1.234, 12.34, 123.4].map(times), ["1.23x", "12.3x", "123x"]);
    }

    #[test]
    fn a_run_is_told_whole() {
        let mut result = corpus_of(
            "text",
            100_000_000,
            vec![task(TaskName::WordCount, [1.0, 10.0, 3.0, 24.0, 30.0])],
        );
        result.checks.push(CheckResult {
            task: TaskName::Sort,
            with: "rival",
            rows: 1,
            bytes: 4,
            difference: None,
        });
        let corpora = vec![result];
        let machine = Machine {
            processor: "A processor".into(),
            cores: 2,
            memory_bytes: 8 << 30,
            system: "A system, Linux 6.1".into(),
            rustc: "rustc 1.95.0".into(),
            zstd: "1.5.4".into(),
            xz: "5.4.1".into(),
            commit: "0123456789ab".into(),
        };
        let run = AnalyticsRun {
            date: "2026-01-31".into(),
            command: "cargo xtask bench analytics".into(),
            machine,
            threads: 2,
            load: Some(0.25),
            bandwidth: Some(10e9),
            medians: medians(&corpora),
            bars: check(&corpora),
            corpora,
        };
        let text = markdown(&run);
        for part in [
            "# Analytics, 2026-01-31",
            "- command: `cargo xtask bench analytics`",
            "- 2 threads on both sides, which read memory at 10.0 GB/s; load of the machine before: 0.25\n",
            "## text: 100.0 MB of text, 1 file",
            "view 20.0 MB, made in 20.0 ms: 1000000 terms",
            "| word-count |   10 |   1.00 |      100 |   24.0 | 24.0x |   10.0 |   30.0 | 3.00x |",
            "| word-count |     4.0 |        1.0 |     0.50 |   1.00 |   2.00x |",
            "equal |",
            "| median     |   c/a |   d/b |  d/b' |",
            "| MISSED |",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(ending(&run).contains("MISSED"));
        assert!(corpus(&run.corpora[0], run.bandwidth).contains("Distance to the limit:\n"));
    }
}
