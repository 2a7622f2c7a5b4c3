//! What the steps of some work took: time, time of processors, and bytes.
//!
//! Recording costs two readings of clocks a step, so it is always on; steps are some milliseconds
//! long, not loops.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// More steps than this are not kept: nobody has taken those that there are.
const MOST: usize = 1 << 10;

/// A step of some work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// What was made.
    pub name: &'static str,
    /// How long it took.
    pub wall: Duration,
    /// The time of all processors meanwhile, which is also that of steps beside it.
    pub processor: Duration,
    /// Bytes that it read and wrote at least; 0 where that is not known.
    pub bytes: u64,
}

/// A record of steps. Clones are one record.
#[derive(Debug, Clone, Default)]
pub struct Steps(Arc<Mutex<Vec<Step>>>);

impl Steps {
    /// Does a step, and records it behind those that ended before.
    pub fn measure<T>(&self, name: &'static str, bytes: u64, work: impl FnOnce() -> T) -> T {
        let (start, processor) = (Instant::now(), processor_time());
        let result = work();
        let processor = processor_time().saturating_sub(processor);
        self.add(Step { name, wall: start.elapsed(), processor, bytes });
        result
    }

    fn add(&self, step: Step) {
        let mut steps = self.lock();
        if steps.len() < MOST {
            steps.push(step);
        }
    }

    /// The steps since this was asked last.
    pub fn take(&self) -> Vec<Step> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Step>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time that the threads of this process have had.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_kept_until_they_are_taken() {
        let steps = Steps::default();
        assert_eq!(steps.clone().measure("sum", 24, || [1, 2, 3].iter().sum::<i32>()), 6);
        steps.measure("nothing", 0, || ());
        let taken = steps.take();
        let names: Vec<(&str, u64)> = taken.iter().map(|step| (step.name, step.bytes)).collect();
        assert_eq!(names, [("sum", 24), ("nothing", 0)]);
        assert_eq!(steps.take(), []);
        (0..2 * MOST).for_each(|_| steps.measure("again", 0, || ()));
        assert_eq!(steps.take().len(), MOST);
    }
}
