//! Contenders take turns, and in every further round another one begins: what slows the machine for a while
//! slows all of them.

use std::time::Instant;

use anyhow::Result;

/// What is over soon is repeated until so many seconds are full,
const LEAST_SECONDS: f64 = 1.0;
/// but no more than so many times as often as asked for.
const MOST_REPEATS: usize = 5;

/// Calls each contender in so many rounds, more if they are short; gives what each gave.
pub fn take_turns<T>(
    contenders: &mut [&mut dyn FnMut() -> Result<T>],
    rounds: usize,
) -> Result<Vec<Vec<T>>> {
    let mut given: Vec<Vec<T>> = contenders.iter().map(|_| Vec::new()).collect();
    let start = Instant::now();
    for round in 0..rounds * MOST_REPEATS {
        if round >= rounds && start.elapsed().as_secs_f64() >= LEAST_SECONDS {
            break;
        }
        for turn in 0..contenders.len() {
            let index = (round + turn) % contenders.len();
            given[index].push(contenders[index]()?);
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn another_one_begins_in_every_round() {
        let calls = RefCell::new(String::new());
        let note = |letter: char| {
            calls.borrow_mut().push(letter);
            Ok(letter)
        };
        let mut first = || note('a');
        let mut second = || note('b');
        let given = take_turns(&mut [&mut first, &mut second], 1).unwrap();
        assert_eq!(calls.into_inner(), "abbaabbaab");
        assert_eq!(given, [vec!['a'; 5], vec!['b'; 5]]);
    }

    #[test]
    fn a_failure_ends_it() {
        let mut fails = || anyhow::bail!("no");
        assert!(take_turns::<()>(&mut [&mut fails], 3).is_err());
    }
}
