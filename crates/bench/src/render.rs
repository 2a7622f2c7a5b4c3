//! A run as text for a terminal, and as Markdown.

use crate::bars::{Bar, LEAST_BYTES};
use crate::contenders::REFERENCE;
use crate::machine::Machine;
use crate::run::{CorpusResult, Mean, Run};
use crate::segments::Segments;
use crate::table::Table;
use crate::units::{MB, MIB, counted};

/// One corpus: every contender a row.
pub fn corpus(result: &CorpusResult) -> Table {
    let mut table = Table::new([
        "",
        "bytes",
        "size",
        "seconds",
        "MB/s",
        "speed",
        "peak MiB",
        "decompress s",
        "load s",
        "info ms",
    ]);
    let or_dash = |value: Option<String>| value.unwrap_or("-".into());
    for row in &result.results {
        table.row([
            row.contender.name(),
            row.bytes.to_string(),
            format!("{:.3}x", result.size_ratio(row)),
            format!("{:.2}", row.seconds),
            format!("{:.1}", result.speed(row)),
            format!("{:.2}x", result.speed_ratio(row)),
            format!("{:.0}", row.peak_bytes as f64 / MIB),
            or_dash(row.decompress_seconds.map(|seconds| format!("{seconds:.3}"))),
            or_dash(row.load_seconds.map(|seconds| format!("{seconds:.3}"))),
            or_dash(row.info_seconds.map(|seconds| format!("{:.1}", seconds * 1e3))),
        ]);
    }
    table
}

/// What little memory costs, in a line; nothing where that was not measured.
pub fn segments(result: &CorpusResult) -> String {
    result.segments.as_ref().map(Segments::text).unwrap_or_default()
}

/// What a corpus is, in a line.
pub fn title(result: &CorpusResult) -> String {
    let megabytes = result.text_bytes as f64 / MB;
    format!(
        "{}: {megabytes:.1} MB of text, {}",
        result.name,
        counted(result.files, "file", "files")
    )
}

fn means(means: &[Mean]) -> Table {
    let mut table = Table::new(["geometric mean", "size", "speed"]);
    for mean in means {
        table.row([
            mean.contender.name(),
            format!("{:.3}x", mean.size_ratio),
            format!("{:.2}x", mean.speed_ratio),
        ]);
    }
    table
}

/// Promises and whether they were kept.
pub fn bars(bars: &[Bar]) -> Table {
    let mut table = Table::new(["promise", "limit", "found", ""]);
    for bar in bars {
        table.row([bar.what.clone(), bar.limit.clone(), bar.found.clone(), bar.mark().into()]);
    }
    table
}

fn no_bars() -> String {
    format!("No corpus has {:.0} MB: the promises are not checked.\n", LEAST_BYTES as f64 / MB)
}

fn corpora(run: &Run) -> String {
    counted(run.corpora.len(), "corpus", "corpora")
}

/// What follows the corpora on a terminal.
pub fn ending(run: &Run) -> String {
    let checked = if run.bars.is_empty() { no_bars() } else { bars(&run.bars).text() };
    format!("Over {}:\n{}\n{checked}", corpora(run), means(&run.means).text())
}

/// What a run was made on and of, as a list.
pub fn machine(machine: &Machine, command: &str) -> String {
    format!(
        "- command: `{command}`\n- commit: {}\n- processor: {}, {} cores\n- memory: {:.1} GiB\n\
         - system: {}\n- {}; zstd {}; xz {}\n",
        machine.commit,
        machine.processor,
        machine.cores,
        machine.memory_bytes as f64 / (1024.0 * MIB),
        machine.system,
        machine.rustc,
        machine.zstd,
        machine.xz
    )
}

/// The whole run.
pub fn markdown(run: &Run) -> String {
    let mut text =
        format!("# Compressing, {}\n\n{}\n", run.date, machine(&run.machine, &run.command));
    text += &format!(
        "Size and speed are relative to `{}` in the same run, MB/s is text read (10^6 bytes), peak is resident \
         memory. Rivals compress a tar of the same files; all files were read once before. Decompressing \
         goes to /dev/null; loading decodes all grammars and opens all dictionaries of the archive. \
         Times are medians of whole processes: of {} for compressing, of five for the rest.\n",
        REFERENCE.name(),
        match run
            .corpora
            .iter()
            .flat_map(|corpus| &corpus.results)
            .map(|row| row.all_seconds.len())
            .max()
        {
            Some(1) | None => "one run".to_owned(),
            Some(runs) => format!("{runs} runs"),
        }
    );
    for result in &run.corpora {
        text += &format!("\n## {}\n\n{}", title(result), corpus(result).markdown());
        if result.segments.is_some() {
            text += &format!("\n{}", segments(result));
        }
    }
    text += &format!("\n## Over {}\n\n{}", corpora(run), means(&run.means).markdown());
    text += "\n## Promises\n\n";
    text += &if run.bars.is_empty() { no_bars() } else { bars(&run.bars).markdown() };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bars::check;
    use crate::contenders::Level;
    use crate::run;

    #[test]
    fn a_run_is_told_whole() {
        let corpora = vec![run::tests::corpus(100_000_000, &[(Level::Fast, 126, 4.0)])];
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
        let run = Run {
            date: "2026-01-31".into(),
            command: "cargo xtask bench compress".into(),
            machine,
            means: run::means(&corpora),
            bars: check(&corpora),
            corpora,
        };
        let text = markdown(&run);
        for part in [
            "# Compressing, 2026-01-31",
            "- command: `cargo xtask bench compress`",
            "A processor, 2 cores",
            "memory: 8.0 GiB",
            "## text: 100.0 MB of text, 1 file",
            "| tadoc fast             |   126 | 1.260x |    4.00 | 25.0 | 25.00x |",
            "| fast: size, geometric mean                     | ≤ 0.95x | 1.260x | MISSED |",
            "|     ok |",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(ending(&run).contains("MISSED"));
    }
}
