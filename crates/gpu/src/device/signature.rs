//! The parameters of kernels, read from their source, so that launches can be checked against them.

use super::driver::Value;

/// The parameters of a kernel, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature(Vec<Parameter>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    /// A pointer to values of so many bytes.
    Memory(usize),
    U32,
    U64,
}

/// The kernels of a source with their parameters: all that is between `KERNEL name(` and `)`.
///
/// # Panics
/// If a parameter is of a type that no argument has; the sources are part of this crate.
pub(super) fn of_source(source: &str) -> Vec<(String, Signature)> {
    // The word in a comment is followed by something else than a name and a parenthesis at the start of a line.
    let kernels = source.split("\nKERNEL ").skip(1);
    kernels
        .map(|rest| {
            let (name, rest) = rest.split_once('(').expect("a kernel has parameters");
            let (parameters, _) = rest.split_once(')').expect("parameters end");
            let parameters = parameters.split(',').map(|text| parameter(name, text)).collect();
            (name.trim().to_owned(), Signature(parameters))
        })
        .collect()
}

fn parameter(kernel: &str, text: &str) -> Parameter {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is = |word: &str| words.contains(&word);
    let width = [("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8)];
    let width = width.iter().find(|(name, _)| is(name)).map(|&(_, width)| width);
    match (text.contains('*'), width) {
        (true, Some(width)) => Parameter::Memory(width),
        (false, Some(4)) => Parameter::U32,
        (false, Some(8)) => Parameter::U64,
        _ => panic!("{kernel} has a parameter `{}`, which no argument fits", text.trim()),
    }
}

impl Signature {
    /// Checks the arguments of a launch.
    ///
    /// # Panics
    /// If they are others than the kernel takes.
    pub(super) fn check(&self, kernel: &str, values: &[Value]) {
        assert_eq!(self.0.len(), values.len(), "arguments of {kernel}");
        for (place, (parameter, value)) in self.0.iter().zip(values).enumerate() {
            let given = match value {
                Value::Memory { width, .. } => Parameter::Memory(*width),
                Value::U32(_) => Parameter::U32,
                Value::U64(_) => Parameter::U64,
            };
            assert_eq!(*parameter, given, "argument {place} of {kernel}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Handle;
    use super::*;

    const SOURCE: &str = "/* KERNEL is a word */\nKERNEL first(GLOBAL const u32 *values,\n    GLOBAL u64 *sums, u32 count)\n{ }\n\
                          KERNEL second(GLOBAL u8 *bytes, u64 count) { }";

    #[test]
    fn parameters_are_read_and_checked() {
        let found = of_source(SOURCE);
        assert_eq!((&*found[0].0, &*found[1].0, found.len()), ("first", "second", 2));
        let memory = |width| Value::Memory { memory: Handle(1), width };
        found[0].1.check("first", &[memory(4), memory(8), Value::U32(1)]);
        found[1].1.check("second", &[memory(1), Value::U64(1)]);
        for wrong in [vec![memory(4), memory(8)], vec![memory(8), memory(8), Value::U32(1)]] {
            let check = || found[0].1.check("first", &wrong);
            assert!(std::panic::catch_unwind(check).is_err());
        }
    }
}
