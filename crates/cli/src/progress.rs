//! Progress on a terminal: a bar with rate and time left. Elsewhere there is silence. The same observer
//! tells the library to stop when the person has asked for it.

use std::ops::ControlFlow;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tadoc::{Observer, Phase};

use crate::interrupt;

/// An [`Observer`] that shows a bar and passes on the wish to stop. The bar goes when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    /// What the bar looks like now: phase, and whether its end is known.
    shown: Mutex<Option<(Phase, bool)>>,
}

impl Progress {
    /// A bar on standard error, unless that is no terminal or the person wants it `quiet`.
    pub fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self { bar: ProgressBar::with_draw_target(None, target), shown: Mutex::new(None) }
    }

    /// Takes the bar off the screen, so that a line can be printed.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, phase: Phase, done: u64, total: u64) {
        let known = total > 0;
        let mut shown = self.shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if *shown != Some((phase, known)) {
            *shown = Some((phase, known));
            self.bar.set_style(style(phase, known));
            self.bar.set_message(verb(phase));
            self.bar.reset();
        }
        if known {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }
}

impl Observer for Progress {
    fn step(&self, phase: Phase, done: u64, total: u64) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            self.show(phase, done, total);
        }
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn verb(phase: Phase) -> &'static str {
    match phase {
        Phase::Finding => "finding",
        Phase::Compressing => "compressing",
        Phase::Restoring => "restoring",
        Phase::Verifying => "verifying",
        Phase::Transcoding => "transcoding",
        Phase::Reading => "reading",
        Phase::Indexing => "indexing",
        _ => "working",
    }
}

fn style(phase: Phase, known: bool) -> ProgressStyle {
    let template = match (phase, known) {
        (Phase::Finding, _) => "{msg} {spinner} {human_pos} files",
        (Phase::Transcoding | Phase::Reading | Phase::Indexing, true) => {
            "{msg} [{wide_bar}] {pos}/{len} segments, {eta} left"
        }
        (Phase::Transcoding | Phase::Reading | Phase::Indexing, false) => {
            "{msg} {spinner} {pos} segments"
        }
        (_, true) => {
            "{msg} [{wide_bar}] {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec}, {eta} left"
        }
        (_, false) => "{msg} {spinner} {binary_bytes} {binary_bytes_per_sec}, {elapsed}",
    };
    ProgressStyle::with_template(template)
        .expect("the template is one of the above")
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_a_look() {
        for phase in [
            Phase::Finding,
            Phase::Compressing,
            Phase::Restoring,
            Phase::Verifying,
            Phase::Transcoding,
            Phase::Reading,
        ] {
            for known in [false, true] {
                style(phase, known);
            }
            assert_ne!(verb(phase), "working");
        }
    }

    #[test]
    fn a_quiet_bar_lets_work_go_on() {
        let progress = Progress::new(true);
        assert_eq!(progress.step(Phase::Compressing, 1, 2), ControlFlow::Continue(()));
    }
}
