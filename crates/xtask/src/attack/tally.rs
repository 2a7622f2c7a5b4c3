//! What a run has done, in figures: for the last lines that it prints, and as Markdown for the runs that are committed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::finding::Findings;

/// The most that a run has taken, and which.
#[derive(Debug, Default, Clone)]
pub struct Most<T> {
    pub value: T,
    pub of: String,
}

impl<T: PartialOrd> Most<T> {
    pub fn see(&mut self, value: T, of: impl FnOnce() -> String) {
        if value > self.value {
            *self = Self { value, of: of() };
        }
    }
}

/// Counts of mutants and of runs.
#[derive(Debug, Default)]
pub struct Tally {
    /// By the kind of victim and of mutation.
    pub mutants: BTreeMap<(&'static str, &'static str), u64>,
    /// Runs by the name of the command.
    pub commands: BTreeMap<String, u64>,
    /// Runs by exit code; -1 for those that did not exit.
    pub exits: BTreeMap<i32, u64>,
    /// Answers that were compared.
    pub compared: u64,
    /// Runs that were ended because the text that a mutant announces is too long to go through.
    pub endless: u64,
    pub time: Most<Duration>,
    pub memory: Most<u64>,
    /// Kills and signals, and what came of them, by command.
    pub interruptions: BTreeMap<(&'static str, String), Interruptions>,
    pub answer_time: Most<Duration>,
}

/// What came of interrupting a command.
#[derive(Debug, Default, Clone)]
pub struct Interruptions {
    pub sent: u64,
    /// Those that came while the command was at work.
    pub in_time: u64,
    pub slowest: Duration,
}

impl Tally {
    pub fn mutants(&self) -> u64 {
        self.mutants.values().sum()
    }

    pub fn runs(&self) -> u64 {
        self.commands.values().sum()
    }

    /// The figures in a few lines.
    pub fn summary(&self, findings: &Findings) -> String {
        let mut text = format!(
            "{} mutants, {} runs, {} answers compared; the longest run took {:.2} s ({}); the most memory was {} MiB ({})\n",
            self.mutants(),
            self.runs(),
            self.compared,
            self.time.value.as_secs_f64(),
            self.time.of,
            self.memory.value >> 20,
            self.memory.of
        );
        for what in ["kill", "signal"] {
            let of: Vec<_> =
                self.interruptions.iter().filter(|((kind, _), _)| *kind == what).collect();
            if !of.is_empty() {
                let sent: u64 = of.iter().map(|(_, done)| done.sent).sum();
                let in_time: u64 = of.iter().map(|(_, done)| done.in_time).sum();
                let _ = write!(text, "{sent} {what}s, {in_time} of them in the middle of the work");
                if what == "signal" {
                    let Most { value, of } = &self.answer_time;
                    let _ = write!(
                        text,
                        "; the slowest end took {:.2} s of the processor ({of})",
                        value.as_secs_f64()
                    );
                }
                text.push('\n');
            }
        }
        let faults: u64 = findings.all.values().map(|finding| finding.times).sum();
        let _ = writeln!(text, "{} findings, seen {faults} times", findings.all.len());
        text
    }

    /// The whole report.
    pub fn markdown(&self, findings: &Findings, head: &str) -> String {
        let mut text = format!("{head}\n{}\n", self.summary(findings));
        let kinds: Vec<&str> = {
            let mut kinds: Vec<&str> = self.mutants.keys().map(|(_, how)| *how).collect();
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        };
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text.push_str("## Mutants\n\n");
        let titles = std::iter::once("victim").chain(kinds.iter().copied()).chain(["all"]);
        text.push_str(&row(titles.map(str::to_owned).collect()));
        text.push_str(&row(vec!["---".into(); kinds.len() + 2]));
        let mut victims: Vec<&str> = self.mutants.keys().map(|(victim, _)| *victim).collect();
        victims.dedup();
        for victim in victims {
            let count = |how: &str| {
                let found = self.mutants.iter().find(|((v, h), _)| *v == victim && *h == how);
                found.map_or(0, |(_, &count)| count)
            };
            let counts: Vec<u64> = kinds.iter().map(|how| count(how)).collect();
            let shown = counts.iter().map(|&n| if n == 0 { String::new() } else { n.to_string() });
            let all = counts.iter().sum::<u64>().to_string();
            text.push_str(&row([vec![victim.to_owned()], shown.collect(), vec![all]].concat()));
        }
        text.push_str("\n## Runs\n\n| command | runs |\n| --- | --- |\n");
        for (command, runs) in &self.commands {
            text.push_str(&row(vec![command.clone(), runs.to_string()]));
        }
        let exits: Vec<String> = self
            .exits
            .iter()
            .map(|(code, runs)| match code {
                -1 => format!("{runs} ended otherwise"),
                code => format!("{runs} with exit code {code}"),
            })
            .collect();
        let _ = writeln!(text, "\n{}.", exits.join(", "));
        if !self.interruptions.is_empty() {
            text.push_str("\n## Kills and signals\n\n");
            text.push_str("| what | command | sent | in time | slowest end |\n| --- | --- | --- | --- | --- |\n");
            for ((what, command), done) in &self.interruptions {
                let slowest = match *what {
                    "signal" => format!("{:.3} s", done.slowest.as_secs_f64()),
                    _ => String::new(),
                };
                text.push_str(&row(vec![
                    (*what).into(),
                    command.clone(),
                    done.sent.to_string(),
                    done.in_time.to_string(),
                    slowest,
                ]));
            }
        }
        text.push_str("\n## Findings\n\n");
        if findings.all.is_empty() {
            text.push_str("None.\n");
        } else {
            text.push_str("| command | fault | times | first seen | line |\n| --- | --- | --- | --- | --- |\n");
        }
        for ((command, fault), finding) in &findings.all {
            text.push_str(&row(vec![
                command.clone(),
                fault.to_string(),
                finding.times.to_string(),
                finding.mutant.clone(),
                format!("`{}`", finding.line.replace('|', "\\|")),
            ]));
        }
        text
    }
}
