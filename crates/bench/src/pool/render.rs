//! A run in a pool as text.

use super::reads::Reads;
use super::result::{PoolCosts, PoolRun, TaskResult};
use crate::render::{bars, machine};
use crate::table::Table;
use crate::units::{MB, MIB, counted};

fn seconds(costs: &PoolCosts) -> String {
    format!("{:.2}", costs.seconds)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / MIB)
}

fn times(tasks: &[TaskResult], place: usize) -> Table {
    let memory = if place == 0 { "archive" } else { "stored view" };
    let mut table = Table::new([
        "",
        &format!("in memory, {memory} s"),
        "pool, phase s",
        "ratio",
        "pool, operation s",
        "ratio",
        "plain text s",
        "over plain text",
    ]);
    for task in tasks {
        let mut cells = vec![
            task.task.name().to_owned(),
            seconds(if place == 0 { &task.archive } else { &task.stored }),
        ];
        for pool in [&task.phase, &task.operation] {
            cells.extend([seconds(&pool[place]), format!("{:.2}x", task.times(pool)[place])]);
        }
        let mark = if task.text_is_limited { "" } else { " (*)" };
        let text = seconds(&task.text) + mark;
        cells.extend([text, format!("{:.1}x", task.over_text()[place])]);
        table.row(cells);
    }
    table
}

fn memory(tasks: &[TaskResult]) -> Table {
    let mut table = Table::new([
        "",
        "in memory, archive MiB",
        "in memory, stored view MiB",
        "new pool MiB",
        "ratio",
        "pool made before MiB",
        "operation MiB",
        "plain text MiB",
        "pool's file MiB",
    ]);
    for task in tasks {
        table.row([
            task.task.name().to_owned(),
            mebibytes(task.archive.anonymous_bytes),
            mebibytes(task.stored.anonymous_bytes),
            mebibytes(task.phase[0].anonymous_bytes),
            format!("{:.3}x", task.memory()),
            mebibytes(task.phase[1].anonymous_bytes),
            mebibytes(task.operation[0].anonymous_bytes),
            mebibytes(task.text.anonymous_bytes),
            mebibytes(task.pool_bytes),
        ]);
    }
    table
}

fn reads(reads: &Reads) -> String {
    let mut table =
        Table::new(["", "in memory s", "pool s", "in memory MiB", "pool MiB", "prints the same"]);
    for read in &reads.results {
        table.row([
            read.command.clone(),
            seconds(&read.in_memory),
            seconds(&read.in_pool),
            mebibytes(read.in_memory.anonymous_bytes),
            mebibytes(read.in_pool.anonymous_bytes),
            if read.same { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    format!(
        "Of a document in the middle, 64 bytes; and its longest word, counted and searched for in all documents. The archive has {:.1} MB; \
         in the pool, which was made before in {} s with {} MiB of memory and has {} MiB, commands ran under `prlimit --data={}`.\n\n{}",
        reads.archive_bytes as f64 / MB,
        seconds(&reads.new_pool),
        mebibytes(reads.new_pool.anonymous_bytes),
        mebibytes(reads.pool_bytes),
        reads.limit_bytes,
        table.markdown()
    )
}

fn checks(run: &PoolRun) -> String {
    let different = run.checks.iter().filter(|check| check.difference.is_some());
    let mut text = match run.checks.len() {
        0 => return "Rows were not compared in this run.\n".into(),
        number => format!(
            "Rows compared with those of the plain-text program, byte by byte (every task with phase, operation and none): \
             {number} answers, {} different.\n",
            different.clone().count()
        ),
    };
    for check in different {
        text +=
            &format!("- {}: {}\n", check.task.name(), check.difference.as_deref().unwrap_or(""));
    }
    text
}

/// The run as Markdown.
pub fn markdown(run: &PoolRun) -> String {
    let mut text = format!("# Pool, {}\n\n", run.date);
    text += &machine(&run.machine, &run.command);
    if let Some(load) = run.load {
        text += &format!("- load of the machine before: {load:.2}\n");
    }
    text += &format!(
        "\n{}: {:.1} MB of text, {}. The pool and the plain-text program ran under `prlimit --data={}` ({:.0}% of the text); \
         where the plain-text program does not finish so, it ran without the limit (*). Everything is a process from its files \
         to its rows, which go to /dev/null; files were read before (warm page cache). Times are medians of {}, memory is the most \
         that was seen: memory of the process's own (RssAnon, looked at every two milliseconds), without pages of files.\n",
        run.corpus,
        run.text_bytes as f64 / MB,
        counted(run.files, "file", "files"),
        run.limit_bytes,
        100.0 * run.limit_bytes as f64 / run.text_bytes as f64,
        counted(run.rounds as usize, "run", "runs"),
    );
    text += "\n## A new pool\n\nThe question makes the pool: it reads the archive, as the in-memory backend does.\n\n";
    text += &times(&run.tasks, 0).markdown();
    text += "\n## A pool that was made before\n\nAnother question was asked of it before; the in-memory backend maps a stored view.\n\n";
    text += &times(&run.tasks, 1).markdown();
    text += "\n## Memory\n\n";
    text += &memory(&run.tasks).markdown();
    text += &format!("\n## Random access\n\n{}", reads(&run.reads));
    text += &format!("\n## Rows\n\n{}", checks(run));
    text += "\n## Promises\n\n";
    text += &bars(&run.bars).markdown();
    text
}

#[cfg(test)]
mod tests {
    use super::super::reads::ReadResult;
    use super::super::result::bars;
    use super::super::result::tests::{costs, task};
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn a_run_is_told_whole() {
        let tasks = vec![task(1.7, 300 << 20)];
        let read = ReadResult {
            command: "search".into(),
            in_memory: costs(2.0, 400 << 20),
            in_pool: costs(0.5, 8 << 20),
            same: false,
        };
        let run = PoolRun {
            date: "2026-01-31".into(),
            command: "cargo xtask bench pool text".into(),
            machine: Machine::ask(),
            load: Some(0.1),
            corpus: "text".into(),
            files: 1,
            text_bytes: 500_000_000,
            limit_bytes: 100_000_000,
            rounds: 3,
            bars: bars(&tasks),
            tasks,
            reads: Reads {
                archive_bytes: 80_000_000,
                limit_bytes: 10_000_000,
                pool_bytes: 200 << 20,
                new_pool: costs(3.0, 90 << 20),
                results: vec![read],
            },
            checks: Vec::new(),
        };
        let text = markdown(&run);
        for part in [
            "# Pool, 2026-01-31",
            "text: 500.0 MB of text, 1 file.",
            "--data=100000000` (20% of the text)",
            "|          1.70 | 1.70x |",
            "0.300x",
            "8.00 (*)",
            "| search |        2.00 |   0.50 |           400 |        8 |              NO |",
            "prlimit --data=10000000",
            "MISSED",
            "Rows were not compared",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
