//! The arguments of `cargo xtask attack`, and the head of a report.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::project::Project;

/// How to attack, and for how long.
pub struct Options {
    /// How long mutants are made.
    pub seconds: u64,
    pub seed: u64,
    /// The command; built as for tests if there is none.
    pub binary: Option<PathBuf>,
    /// How many commands run at a time.
    pub jobs: usize,
    /// How many writing commands are killed, and signalled.
    pub kills: u64,
    pub signals: u64,
    /// Where the report goes, as Markdown.
    pub write: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments; an error says what is wrong with them.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let mut options = Self {
            seconds: 60,
            seed: 1,
            binary: None,
            jobs: cores,
            kills: 0,
            signals: 0,
            write: None,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            let number = |text: &String| {
                text.parse::<u64>().map_err(|_| format!("{argument} needs a number"))
            };
            match argument.as_str() {
                "--seconds" => options.seconds = number(value()?)?,
                "--seed" => options.seed = number(value()?)?,
                "--binary" => options.binary = Some(value()?.into()),
                "--jobs" => options.jobs = (number(value()?)? as usize).max(1),
                "--kills" => options.kills = number(value()?)?,
                "--signals" => options.signals = number(value()?)?,
                "--write" => options.write = Some(value()?.into()),
                other => return Err(format!("attack has no argument '{other}'")),
            }
        }
        Ok(options)
    }

    /// The command line that does the same.
    fn line(&self) -> String {
        let Self { seconds, seed, jobs, kills, signals, .. } = self;
        format!(
            "cargo xtask attack --seconds {seconds} --seed {seed} --jobs {jobs} --kills {kills} --signals {signals}"
        )
    }
}

/// What a report begins with: the command line, the commit and the machine.
pub fn head(project: &Project, options: &Options, took: Duration) -> String {
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let command = command.current_dir(&project.root).args(arguments);
        crate::process::output(command).unwrap_or_default().trim().to_owned()
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let changed = if git(&["status", "--porcelain"]).is_empty() { "" } else { ", with changes" };
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name"));
    let processor = processor.map_or("", |name| name.trim_start_matches(['\t', ' ', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut text = String::from("# Mutants, kills and signals\n\n");
    let _ = writeln!(text, "- Command: `{}`", options.line());
    let _ = writeln!(text, "- Commit: {commit}{changed}");
    let _ = writeln!(text, "- Machine: {processor}, {cores} cores");
    let _ = writeln!(text, "- Took {:.0} s", took.as_secs_f64());
    text
}
