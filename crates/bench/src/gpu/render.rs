//! A run on a GPU as text for a terminal, and as Markdown.

use super::result::{ArchiveResult, DeviceResult, GpuRun, mean_ratio};
use crate::render::{bars, machine};
use crate::statistics::median;
use crate::table::Table;
use crate::units::MB;

/// Kernels that take less of a task than this are left out.
const LEAST_SHARE: f64 = 0.02;

fn milliseconds(seconds: f64) -> String {
    match seconds * 1e3 {
        short if short < 0.9995 => format!("{short:.3}"),
        middle if middle < 99.95 => format!("{middle:.2}"),
        long => format!("{long:.0}"),
    }
}

fn times(ratio: f64) -> String {
    let digits = if ratio < 9.995 { 2 } else { usize::from(ratio < 99.95) };
    format!("{ratio:.digits$}x")
}

/// The device, in a line.
pub fn device(device: &DeviceResult) -> String {
    format!(
        "{} ({}, {}), {} units, {:.1} GiB: {:.1} GB/s to it, {:.1} GB/s from it, {:.0} GB/s read and written in copies on it; a \
         launch takes {:.1} µs, reading a value {:.1} µs",
        device.name,
        device.selector,
        device.driver,
        device.units,
        device.memory_bytes as f64 / f64::from(1 << 30),
        device.upload_bytes_per_second / 1e9,
        device.download_bytes_per_second / 1e9,
        device.copy_bytes_per_second / 1e9,
        device.launch_seconds * 1e6,
        device.read_seconds * 1e6,
    )
}

/// The view of an archive, in a line.
fn view(result: &ArchiveResult) -> String {
    let view = &result.view;
    format!(
        "view {:.1} MB, made in {} ms, loaded in {} ms, {:.1} MB on the device: {} documents, {} terms, {} rules, {} symbols in them \
         and {} in the root, for {} words",
        view.bytes as f64 / MB,
        milliseconds(view.make_seconds),
        milliseconds(view.load_seconds),
        view.device_bytes as f64 / MB,
        view.documents,
        view.terms,
        view.rules,
        view.body_symbols,
        view.root_symbols,
        view.words
    )
}

fn tasks(result: &ArchiveResult, threads: &[usize]) -> Table {
    let mut headings = vec!["".to_owned(), "rows".into(), "GPU ms".into(), "with answer ms".into()];
    for threads in threads {
        headings.extend([format!("CPU {threads} ms"), format!("CPU {threads} / GPU")]);
    }
    headings.push("rows equal".into());
    let mut table = Table::new(headings);
    for task in &result.tasks {
        let mut cells = vec![
            task.task.name().to_owned(),
            task.rows.to_string(),
            milliseconds(task.device()),
            milliseconds(task.whole()),
        ];
        for place in 0..threads.len() {
            cells.extend([milliseconds(task.processor(place)), times(task.ratio(place))]);
        }
        let checked = task.checked.map_or("-", |equal| if equal { "yes" } else { "NO" });
        cells.push(checked.into());
        table.row(cells);
    }
    table
}

fn kernels(result: &ArchiveResult) -> Table {
    let mut table = Table::new(["", "kernel", "launches", "ms", "of the task"]);
    for task in &result.tasks {
        let of_task: Vec<_> =
            result.kernels.iter().filter(|kernel| kernel.task == task.task).collect();
        let total: f64 = of_task.iter().map(|kernel| kernel.seconds).sum();
        for kernel in of_task.iter().filter(|kernel| kernel.seconds >= LEAST_SHARE * total) {
            table.row([
                task.task.name().to_owned(),
                format!("{} {}", kernel.file, kernel.kernel),
                kernel.launches.to_string(),
                milliseconds(kernel.seconds),
                format!("{:.0}%", 100.0 * kernel.seconds / total),
            ]);
        }
    }
    table
}

fn first(result: &ArchiveResult) -> Table {
    let mut table =
        Table::new(["", "cold ms", "open", "load", "answer", "warm ms", "open", "load", "answer"]);
    for first in &result.first {
        let of = |times: &super::result::FirstTimes| {
            [times.total(), times.open, times.load, times.answer].map(milliseconds)
        };
        let cells =
            [vec![first.task.name().to_owned()], of(&first.cold).into(), of(&first.warm).into()];
        table.row(cells.concat());
    }
    table
}

fn batches(result: &ArchiveResult) -> Table {
    let mut table = Table::new([
        "",
        "operations",
        "GPU ms",
        "with transfer ms",
        "CPU 1 ms",
        "CPU 1 / GPU",
        "CPU 1 / with transfer",
        "outcomes equal",
    ]);
    for batch in &result.batches {
        let checked = batch.checked.map_or("-", |equal| if equal { "yes" } else { "NO" });
        table.row([
            batch.kind.clone(),
            batch.operations.to_string(),
            milliseconds(batch.device()),
            milliseconds(batch.host()),
            milliseconds(batch.processor_seconds),
            times(batch.ratio()),
            times(batch.processor_seconds / batch.host()),
            checked.to_owned(),
        ]);
    }
    table
}

/// What was measured on an archive, for a terminal.
pub fn archive(result: &ArchiveResult, on: &DeviceResult, threads: &[usize]) -> String {
    let mut text = format!("{} on {}\n{}\n\n", result.name, on.name, view(result));
    text += &tasks(result, threads).text();
    if !result.batches.is_empty() {
        text += &format!("\n{}", batches(result).text());
    }
    text
}

/// The run as Markdown.
pub fn markdown(run: &GpuRun) -> String {
    let mut text = format!("# GPU, {}\n\n", run.date);
    text += &machine(&run.machine, &run.command);
    text += &format!("- {}\n", device(&run.device));
    if let Some(load) = run.load {
        text += &format!("- load of the machine before: {load:.2}\n");
    }
    text += &format!(
        "\nSequences have 3 terms. GPU times are medians of {} runs on a loaded view, by the device's clock; \"with answer\" by the \
         host's, with all rows in its memory. CPU times are medians of the processor's backend on the same view, all rows made, on so \
         many threads.\n",
        run.rounds
    );
    for result in &run.archives {
        text += &format!("\n## {}\n\n{}.\n\n", result.name, view(result));
        text += &tasks(result, &run.threads).markdown();
        text += "\nKernels of one run, with marks around each launch:\n\n";
        text += &kernels(result).markdown();
        if !result.first.is_empty() {
            text += "\nFirst answers of a new process on a view in the host's memory: cold has no compiled kernels, warm those \
                     of the process before.\n\n";
            text += &first(result).markdown();
        }
        if !result.batches.is_empty() {
            text += "\nBatches of random access: by the device's clock, from requests that are there to results that are there; and with \
                     transfer by the host's clock, from operations to all outcomes in its memory. Edits are compared by what is then read.\n\n";
            text += &batches(result).markdown();
        }
    }
    text += "\n## All tasks\n\n";
    let mut means = Table::new(["against", "geometric mean"]);
    for (place, threads) in run.threads.iter().enumerate() {
        if let Some(ratio) = mean_ratio(&run.archives, place) {
            means.row([crate::units::counted(*threads, "thread", "threads"), times(ratio)]);
        }
    }
    text += &means.markdown();
    if !run.synthetic.is_empty() {
        text += "\n## Top-down pass on synthetic networks\n\nBytes that must be moved: an edge 4 and the weight behind it 8, a \
                 symbol's weight 8 and its start 4.\n\n";
        let mut table = Table::new([
            "",
            "rules",
            "levels",
            "items",
            "edges",
            "MB",
            "GPU ms",
            "CPU ms",
            "TB/s",
            "of copies",
        ]);
        for synthetic in &run.synthetic {
            let of_copies = synthetic.bandwidth() / run.device.copy_bytes_per_second;
            table.row([
                synthetic.shape.to_owned(),
                synthetic.rules.to_string(),
                synthetic.levels.to_string(),
                synthetic.items.to_string(),
                synthetic.edges.to_string(),
                format!("{:.1}", synthetic.bytes as f64 / MB),
                milliseconds(median(&synthetic.seconds)),
                milliseconds(synthetic.processor_seconds),
                format!("{:.2}", synthetic.bandwidth() / 1e12),
                format!("{:.0}%", 100.0 * of_copies),
            ]);
        }
        text += &table.markdown();
    }
    text += &format!("\n## Promises\n\n{}", bars(&run.bars).markdown());
    text
}
