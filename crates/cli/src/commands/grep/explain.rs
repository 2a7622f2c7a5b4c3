//! `--explain`: how text was searched, and what each step cost.

use std::fmt::Write;

use tadoc::GrepReport;

use crate::units;

/// The report, for people.
pub fn text(report: &GrepReport) -> String {
    let mut lines = String::new();
    let mut line = |title: &str, value: &str| {
        writeln!(lines, "{title:<9} {value}").expect("a string takes all");
    };
    let searched = [
        (report.symbols > 0)
            .then(|| format!("automaton on the grammar, {} symbols", units::count(report.symbols))),
        (report.expanded > 0)
            .then(|| format!("expanded and scanned, {}", units::size(report.expanded))),
    ];
    for (title, searched) in ["method"; 2].iter().zip(searched.into_iter().flatten()) {
        line(title, &searched);
    }
    let [automaton, expansion] = report.estimates;
    if !(automaton + expansion).is_zero() {
        let estimates = [automaton, expansion].map(units::duration);
        line("estimate", &format!("automaton {}, expanding {}", estimates[0], estimates[1]));
    }
    line("lines", &format!("{} looked at one by one", units::count(report.lines)));
    line("threads", &units::count(rayon::current_num_threads() as u64));
    for (step, took) in [
        ("load", report.load),
        ("prepare", report.prepare),
        ("search", report.search),
        ("total", report.load + report.prepare + report.search),
    ] {
        line(step, &units::duration(took));
    }
    lines
}
