//! A run of `bench edit` as text.

use super::{CorpusResult, EditRun, EditedResult, Edits};
use crate::render;
use crate::statistics::median;
use crate::table::Table;
use crate::units::MB;

/// The run, to be committed.
pub fn markdown(run: &EditRun) -> String {
    let mut text =
        format!("# Editing, {}\n\n{}\n", run.date, render::machine(&run.machine, &run.command));
    if let Some(load) = run.load {
        text += &format!("Load when it began: {load:.2}.\n\n");
    }
    text += "Edits are of 64 bytes of the corpus's own text, made by one thread; every batch is committed and synced. Tasks are medians: on \
             loaded archives, and as whole commands that open and decode the archive; `edited` has all inserts behind it, \
             `again` is that archive compressed again. `anew` is the edited text compressed by `tadoc compress`.\n";
    for result in &run.corpora {
        text += &format!("\n## {}\n\n{}", result.name, corpus(result));
    }
    if !run.bars.is_empty() {
        text += &format!("\n## Promises\n\n{}", render::bars(&run.bars).markdown());
    }
    text
}

/// One corpus.
pub fn corpus(result: &CorpusResult) -> String {
    let mut text = format!(
        "{:.1} MB of text, archive {:.2} MB.\n\n",
        result.text_bytes as f64 / MB,
        result.archive_bytes as f64 / MB
    );
    let mut mixed = Table::new(["reads and edits", "edits", "operations", "CPU s", "us each"]);
    for batch in &result.mixed {
        mixed.row([
            format!("index {}", batch.index),
            format!("{} %", batch.edits_in_100),
            batch.operations.to_string(),
            format!("{:.2}", batch.cpu_seconds),
            format!("{:.1}", batch.cpu_seconds * 1e6 / batch.operations as f64),
        ]);
    }
    text += &mixed.markdown();
    if let Some(edited) = &result.edited {
        text += &format!("\n{}", edited_text(edited));
    }
    text
}

/// An archive that was edited.
fn edited_text(result: &EditedResult) -> String {
    let mut text = String::new();
    let mut edits = Table::new([
        "",
        "edits",
        "a batch",
        "edits a second",
        "median",
        "99%",
        "99.9%",
        "most",
        "commit, median",
        "commit, 99%",
        "journal",
    ]);
    for (name, kind) in [("insert", &result.inserts), ("append", &result.appends)] {
        edits.row(row(name, kind));
    }
    text += &edits.markdown();
    text += &format!(
        "\nOpening the archive with all inserts behind it: {:.2} s.\n\n",
        result.open_seconds
    );
    let mut tasks = Table::new([
        "task",
        "before",
        "edited",
        "again",
        "edited / before",
        "again / before",
        "command before",
        "command edited",
        "command again",
        "edited / before",
        "again / before",
    ]);
    for times in &result.tasks {
        let ratio = |after: f64, before: f64| format!("{:.2}", after / before);
        let time = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
        tasks.row([
            times.task.name().to_owned(),
            time(times.before),
            time(times.edited),
            time(times.again),
            ratio(times.edited, times.before),
            ratio(times.again, times.before),
            time(times.command_before),
            time(times.command_edited),
            time(times.command_again),
            ratio(times.command_edited, times.command_before),
            ratio(times.command_again, times.command_before),
        ]);
    }
    text += &tasks.markdown();
    let again = &result.again;
    let (again_seconds, anew_seconds) = (median(&again.again_seconds), median(&again.anew_seconds));
    text += &format!(
        "\nCompressing again takes {again_seconds:.2} s, compressing anew {anew_seconds:.2} s ({:.2}x). The archive has {:.2} MB with the edits \
         behind it, {:.2} MB compressed again, {:.2} MB compressed anew ({:.2}x).\n",
        again_seconds / anew_seconds,
        again.edited_bytes as f64 / MB,
        again.again_bytes as f64 / MB,
        again.anew_bytes as f64 / MB,
        again.again_bytes as f64 / again.anew_bytes as f64,
    );
    let Some(ingest) = &result.ingest else { return text };
    let streamed = ingest.streamed_bytes as f64 / MB;
    text += &format!(
        "\nStreaming {streamed:.1} MB behind {:.1} MB takes {:.2} s ({:.0} MB/s), compressing again {:.2} s ({:.1} MB/s together). The archive has \
         {:.2} MB before, {:.2} MB with the stream behind it, {:.2} MB compressed again; all at once it would have {:.2} MB ({:.2}x), in {:.2} s.\n",
        ingest.text_bytes as f64 / MB,
        ingest.stream_seconds,
        streamed / ingest.stream_seconds,
        ingest.recompress_seconds,
        streamed / (ingest.stream_seconds + ingest.recompress_seconds),
        ingest.before_bytes as f64 / MB,
        ingest.streamed_archive_bytes as f64 / MB,
        ingest.again_bytes as f64 / MB,
        ingest.at_once_bytes as f64 / MB,
        ingest.again_bytes as f64 / ingest.at_once_bytes as f64,
        ingest.at_once_seconds,
    );
    text
}

fn row(name: &str, edits: &Edits) -> [String; 11] {
    let microseconds = |time: f64| format!("{time:.2} us");
    [
        name.to_owned(),
        edits.count.to_string(),
        edits.batch.to_string(),
        format!("{:.0}", edits.count as f64 / edits.seconds),
        microseconds(edits.latency.median),
        microseconds(edits.latency.p99),
        microseconds(edits.latency.p999),
        microseconds(edits.latency.most),
        microseconds(edits.commits.median),
        microseconds(edits.commits.p99),
        format!("{:.2} MB", edits.journal_bytes as f64 / MB),
    ]
}
