//! Progress on a terminal: one bar for a command, with the phase, how much of the work is done and the time
//! that is left. Nothing is shown for work of less than half a second, nor where there is no terminal. The same
//! observer tells the library to stop when the person has asked for it.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tadoc::{Observer, Phase};

use crate::interrupt;
use crate::units;

/// Shorter work has no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time left is told when this part of the work is done, and this time has passed: before, it is a guess.
const TELLING_PART: f64 = 0.03;
const TELLING_TIME: Duration = Duration::from_secs(2);
/// Steps of a bar.
const STEPS: u64 = 10_000;

/// An [`Observer`] that shows a bar and passes on the wish to stop. The bar goes when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    start: Instant,
    state: Mutex<State>,
}

/// What the bar shows.
#[derive(Default)]
struct State {
    visible: bool,
    phase: Option<Phase>,
    /// The bar has a length, instead of a sign that turns.
    known: bool,
    /// When the phase began, and what was done then.
    began: Option<(Instant, u64)>,
}

impl Progress {
    /// A bar on standard error, unless that is no terminal or the person wants it `quiet`.
    pub fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden());
        Self { bar, quiet, start: Instant::now(), state: Mutex::default() }
    }

    /// Takes the bar off the screen, so that a line can be printed.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, phase: Phase, done: u64, total: u64) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if state.phase != Some(phase) {
            *state = State { phase: Some(phase), began: Some((now, done)), ..*state };
        }
        if now - self.start < PATIENCE {
            return;
        }
        if !state.visible {
            state.visible = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
            self.bar.set_style(style(false));
        }
        // What is done in one go has no length that would say something.
        let known = total > 0 && done > 0;
        if state.known != known {
            state.known = known;
            self.bar.set_style(style(known));
        }
        if known {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a position is a whole number, and not below 0"
            )]
            self.bar.set_position((done as f64 / total as f64 * STEPS as f64) as u64);
        }
        let (began, before) = state.began.unwrap_or((now, 0));
        self.bar.set_prefix(verb(phase));
        self.bar.set_message(told(phase, done, total, before, now - began));
    }
}

impl Observer for Progress {
    fn step(&self, phase: Phase, done: u64, total: u64) -> ControlFlow<()> {
        if !self.quiet {
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

/// What stands behind the bar. The phase has lasted for `elapsed`, and began with `before` done.
fn told(phase: Phase, done: u64, total: u64, before: u64, elapsed: Duration) -> String {
    if phase == Phase::Finding {
        return units::counted(done, "file");
    }
    if total == 0 {
        return units::size(done);
    }
    if done == 0 {
        return units::size(total);
    }
    let mut text = format!("{}, {}", units::share(done, total), units::size(total));
    let here = done.saturating_sub(before);
    let part = here as f64 / total.saturating_sub(before).max(1) as f64;
    if part >= TELLING_PART && elapsed >= TELLING_TIME && done < total {
        let left = elapsed.as_secs_f64() * (1.0 / part - 1.0);
        text.push_str(&format!(", {} left", units::rough_duration(left)));
    }
    text
}

fn verb(phase: Phase) -> &'static str {
    match phase {
        Phase::Finding => "finding files",
        Phase::Compressing => "compressing",
        Phase::Restoring => "restoring",
        Phase::Verifying => "verifying",
        Phase::Transcoding => "transcoding",
        Phase::Reading => "reading",
        Phase::Indexing => "indexing",
        _ => "working",
    }
}

fn style(known: bool) -> ProgressStyle {
    let template = match known {
        true => "{prefix} [{wide_bar}] {msg}",
        false => "{prefix} {spinner} {msg}, {elapsed}",
    };
    ProgressStyle::with_template(template)
        .expect("the template is one of the above")
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_a_name() {
        for phase in [
            Phase::Finding,
            Phase::Compressing,
            Phase::Restoring,
            Phase::Verifying,
            Phase::Transcoding,
            Phase::Reading,
            Phase::Indexing,
        ] {
            assert_ne!(verb(phase), "working");
        }
        for known in [false, true] {
            style(known);
        }
    }

    #[test]
    fn time_left_is_told_when_it_is_known() {
        let told = |done, before, seconds| {
            told(Phase::Compressing, done, 1 << 20, before, Duration::from_secs(seconds))
        };
        assert_eq!(told(0, 0, 10), "1.0 MiB");
        assert_eq!(told(1 << 18, 0, 1), "25.0%, 1.0 MiB");
        assert_eq!(told(1 << 10, 0, 10), "0.1%, 1.0 MiB");
        assert_eq!(told(1 << 18, 0, 10), "25.0%, 1.0 MiB, 30 s left");
        // A phase that begins in the middle has the speed of its own.
        assert_eq!(told(3 << 18, 1 << 19, 10), "75.0%, 1.0 MiB, 10 s left");
        assert_eq!(told(1 << 20, 0, 10), "100.0%, 1.0 MiB");
    }

    #[test]
    fn files_are_counted_as_files() {
        assert_eq!(super::told(Phase::Finding, 1, 0, 0, Duration::ZERO), "1 file");
        assert_eq!(super::told(Phase::Compressing, 2048, 0, 0, Duration::ZERO), "2.0 KiB");
    }

    #[test]
    fn a_quiet_bar_lets_work_go_on() {
        let progress = Progress::new(true);
        assert_eq!(progress.step(Phase::Compressing, 1, 2), ControlFlow::Continue(()));
    }

    #[test]
    fn short_work_shows_nothing() {
        let progress = Progress::new(false);
        assert_eq!(progress.step(Phase::Compressing, 1, 2), ControlFlow::Continue(()));
        assert!(!progress.state.lock().unwrap().visible && progress.bar.is_hidden());
    }
}
