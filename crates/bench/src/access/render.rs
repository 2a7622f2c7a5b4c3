//! A run of `bench access` as text for a terminal, and as Markdown.

use super::operations::{Kind, MOST_OFFSETS};
use super::result::{AccessRun, CorpusResult, Growth};
use crate::bars::LEAST_BYTES;
use crate::render::{bars, machine};
use crate::table::Table;
use crate::units::{MB, counted};

fn title(result: &CorpusResult) -> String {
    format!(
        "{}: {:.1} MB of text, {}",
        result.name,
        result.text_bytes as f64 / MB,
        counted(result.files, "file", "files")
    )
}

/// Sizes, memory and loading, with every index.
fn sizes(result: &CorpusResult) -> Table {
    let mut table = Table::new([
        "index",
        "file MB",
        "of the text",
        "heap MB",
        "mapped MB",
        "to the file",
        "resident MB",
        "load s",
    ]);
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / MB);
    for index in &result.indexes {
        let measured = &index.measured;
        table.row([
            index.index.clone(),
            megabytes(index.bytes),
            format!("1/{:.1}", 1.0 / result.share(index)),
            megabytes(measured.heap_bytes),
            megabytes(measured.mapped_bytes),
            format!("{:.2}x", index.memory_ratio()),
            megabytes(measured.resident_bytes),
            format!("{:.2}", measured.load_seconds),
        ]);
    }
    table
}

/// Operations of every kind, with every index and number of threads.
fn speeds(result: &CorpusResult) -> Table {
    let mut table = Table::new([
        "operation",
        "index",
        "threads",
        "operations",
        "M/s",
        "best M/s",
        "ns",
        "offsets",
        "M offsets/s",
    ]);
    for kind in Kind::ALL {
        for index in &result.indexes {
            for batch in index.measured.batches.iter().filter(|batch| batch.kind == kind) {
                let offsets = |text: String| if batch.offsets > 0 { text } else { "-".into() };
                table.row([
                    kind.name().to_owned(),
                    index.index.clone(),
                    batch.threads.to_string(),
                    batch.operations.to_string(),
                    format!("{:.3}", batch.speed() / 1e6),
                    format!("{:.3}", batch.best_speed() / 1e6),
                    format!("{:.0}", 1e9 / batch.speed()),
                    offsets(batch.offsets.to_string()),
                    offsets(format!("{:.1}", batch.offset_speed() / 1e6)),
                ]);
            }
        }
    }
    table
}

/// Questions asked one by one, with every index; none without documents for them.
fn lone(result: &CorpusResult) -> Option<Table> {
    let mut table = Table::new([
        "one by one, in documents of 50 to 200 KB",
        "index",
        "questions",
        "us",
        "us for 100 KB",
        "to the text",
    ]);
    for index in &result.indexes {
        let lone = index.measured.lone.as_ref()?;
        let kinds = [
            ("count a word", lone.count_seconds),
            ("search a word", lone.search_seconds),
            ("write out and scan", lone.plain_seconds),
        ];
        for (name, seconds) in kinds {
            table.row([
                name.to_owned(),
                index.index.clone(),
                lone.questions.to_string(),
                format!("{:.1}", seconds * 1e6 / lone.questions as f64),
                format!("{:.1}", lone.microseconds(seconds)),
                format!("{:.2}x", seconds / lone.plain_seconds),
            ]);
        }
    }
    Some(table)
}

/// The same as whole commands, with every index; none without documents for them.
fn whole(result: &CorpusResult) -> Option<Table> {
    let mut table = Table::new([
        "whole commands, in documents of 50 to 200 KB",
        "index",
        "document KB",
        "count ms",
        "search ms",
        "cat, rg ms",
        "to cat, rg",
    ]);
    for index in &result.indexes {
        for question in &index.whole {
            let milliseconds = |seconds: f64| format!("{:.1}", seconds * 1e3);
            table.row([
                format!("`{}` in {}", question.word, question.document),
                index.index.clone(),
                format!("{:.0}", question.bytes as f64 / 1e3),
                milliseconds(question.count_seconds),
                milliseconds(question.search_seconds),
                milliseconds(question.pipe_seconds),
                format!("{:.2}x", question.ratio()),
            ]);
        }
    }
    result.indexes.iter().any(|index| !index.whole.is_empty()).then_some(table)
}

/// What was left out, if anything was.
fn capped(result: &CorpusResult) -> String {
    match result.capped {
        Some(searched) => format!(
            "Of the words, the first {searched} were searched for in all documents: these have about {:.0} million \
             offsets.\n",
            MOST_OFFSETS as f64 / 1e6
        ),
        None => String::new(),
    }
}

/// A corpus on a terminal.
pub fn corpus(result: &CorpusResult) -> String {
    format!(
        "{}\n\n{}\n{}{}{}{}",
        title(result),
        sizes(result).text(),
        speeds(result).text(),
        lone(result).map(|table| format!("\n{}", table.text())).unwrap_or_default(),
        whole(result).map(|table| format!("\n{}", table.text())).unwrap_or_default(),
        capped(result)
    )
}

fn growths(growth: &[Growth]) -> Table {
    let mut table = Table::new(["operation", "index", "shorter ns", "longer ns", "growth"]);
    for row in growth {
        let each = if row.kind == Kind::SearchInAll { ", an offset" } else { "" };
        table.row([
            format!("{}{each}", row.kind.name()),
            row.index.clone(),
            format!("{:.1}", row.shorter),
            format!("{:.1}", row.longer),
            format!("{:.2}x", row.ratio()),
        ]);
    }
    table
}

fn conditions(run: &AccessRun) -> String {
    let load = run.load.map(|load| format!("; load of the machine before: {load:.2}"));
    format!("{}{}", counted(run.threads, "thread", "threads"), load.unwrap_or_default())
}

fn no_bars() -> String {
    format!("No corpus has {:.0} MB: the promises are not checked.\n", LEAST_BYTES as f64 / MB)
}

/// What follows the corpora on a terminal.
pub fn ending(run: &AccessRun) -> String {
    let mut text = format!("{}\n\n", conditions(run));
    if !run.growth.is_empty() {
        text += &format!("{}\n", growths(&run.growth).text());
    }
    text + &if run.bars.is_empty() { no_bars() } else { bars(&run.bars).text() }
}

/// The whole run.
pub fn markdown(run: &AccessRun) -> String {
    let mut text =
        format!("# Random access, {}\n\n{}", run.date, machine(&run.machine, &run.command));
    text += &format!("- {}\n\n", conditions(run));
    text += "Operations of one kind are one batch (`Access::run`) on a loaded archive, all results made; times are \
             medians of the rounds, and M/s are millions of operations in a second. A batch that would take more than 10 seconds \
             has fewer operations.\n\n\
             - extract: 64 bytes from a place that is drawn, each byte of the corpus being as likely as any other\n\
             - count and search: for a word that is drawn from the vocabulary of a document that is drawn, in that \
             document or in all\n\
             - sample: words, 1,000 an operation; a word is what is counted here\n\
             - heap and mapped: what the loaded archive says that it holds, against the length of its file; resident: \
             what the process has in memory more than before, after some operations of each kind\n\
             - one by one: the same words, each a question by itself, on one thread; `write out and scan` writes out the document \
             and looks for the word in its bytes\n\
             - whole commands: `tadoc count` and `tadoc search` with `-d DOCUMENT` beside `tadoc cat ARCHIVE DOCUMENT | rg -c -w -F -e \
             WORD`; the least wall times of turns\n";
    for result in &run.corpora {
        text += &format!(
            "\n## {}\n\n{}\n{}",
            title(result),
            sizes(result).markdown(),
            speeds(result).markdown()
        );
        for table in [lone(result), whole(result)].into_iter().flatten() {
            text += &format!("\n{}", table.markdown());
        }
        if result.capped.is_some() {
            text += &format!("\n{}", capped(result));
        }
    }
    if !run.growth.is_empty() {
        text += "\n## From the shorter to the longer text\n\nOn one thread.\n\n";
        text += &growths(&run.growth).markdown();
    }
    text += "\n## Promises\n\n";
    text += &if run.bars.is_empty() { no_bars() } else { bars(&run.bars).markdown() };
    text
}

#[cfg(test)]
mod tests {
    use super::super::bars::check;
    use super::super::result::tests::corpus as corpus_of;
    use super::super::scale::growth;
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn a_run_is_told_whole() {
        let mut shorter = corpus_of("shorter", [400.0, 900.0, 900.0, 1e6, 80.0, 450.0]);
        shorter.capped = Some(77);
        let corpora = vec![shorter, corpus_of("longer", [900.0; 6])];
        let growth = growth(&corpora);
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
        let run = AccessRun {
            date: "2026-01-31".into(),
            command: "cargo xtask bench access".into(),
            machine,
            threads: 2,
            load: Some(0.25),
            bars: check(&corpora, &growth),
            corpora,
            growth,
        };
        let text = markdown(&run);
        for part in [
            "# Random access, 2026-01-31",
            "- command: `cargo xtask bench access`",
            "- 2 threads; load of the machine before: 0.25\n",
            "## shorter: 100.0 MB of text, 1 file",
            "| small |    20.0 |       1/5.0 |     5.0 |      10.0 |       0.75x |        20.0 |   0.50 |",
            "| extract 64 bytes     | small |       1 |       1000 |  2.500 |    2.778 |     400 |",
            "the first 77 were searched for",
            "| extract 64 bytes         | small |      400.0 |     900.0 |  2.25x |",
            "| MISSED |",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(ending(&run).contains("MISSED"));
        assert!(corpus(&run.corpora[0]).contains("search in all"));
    }
}
