//! Every task, strategy, lexer, builder, number of threads and memory limit gives what the plain program gives.
//!
//! - `cases`: all corpora that the oracle has, through archives.
//! - `texts`: random texts, through archives.
//! - `grammars`: random grammars, made by hand, with what no builder makes.
//! - `segments`, `filters`, `scores`, `memory`, `determinism`: one promise each.
//! - `long_tokens`: texts without white space.
//! - `keys`: vocabularies that need keys of every width.
//! - `devices`: the same on a GPU, or on a processor that OpenCL has.
//! - `device_faults`: the same on one that fails, or that is small.
//! - `pools`: the same in a pool.
//! - `hostile`: views and questions that must be refused.

mod cases;
mod determinism;
#[cfg(feature = "gpu")]
mod device_faults;
#[cfg(feature = "gpu")]
mod devices;
mod filters;
mod grammars;
mod hostile;
mod keys;
mod long_tokens;
mod memory;
#[cfg(feature = "pool")]
mod pools;
mod random_grammar;
mod scores;
mod segments;
mod support;
mod texts;

use tadoc_engine::backend::Choice;

#[test]
fn names_of_backends_are_read_back() {
    for choice in Choice::ALL {
        assert_eq!(choice.name().parse(), Ok(choice));
    }
    assert!("GPU".parse::<Choice>().is_err());
    assert_eq!(Choice::default(), Choice::Auto);
}
