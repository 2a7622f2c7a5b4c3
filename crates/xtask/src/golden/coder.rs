//! Writes what section 4 of docs/format.md describes, right or wrong: models, streams, lists. Made from the
//! document and not from the writer of the archives, which refuses to write nonsense.

/// A model in which all classes are about equally likely.
pub struct Model {
    classes: Vec<(usize, u32)>,
}

impl Model {
    /// A model of these classes, in ascending order, of which there must be at least two.
    pub fn new(classes: &[usize]) -> Self {
        let share = 16384 / classes.len() as u32;
        let rest = 16384 - share * classes.len() as u32;
        let classes = classes.iter().enumerate();
        Self {
            classes: classes
                .map(|(index, &class)| (class, share + if index == 0 { rest } else { 0 }))
                .collect(),
        }
    }

    pub fn write(&self) -> Vec<u8> {
        let mut bytes = varint(self.classes.len() as u64);
        let mut next = 0;
        for &(class, frequency) in &self.classes {
            bytes.extend(varint((class - next) as u64));
            bytes.extend(varint(frequency.into()));
            next = class + 1;
        }
        bytes
    }
}

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// What is coded, in the order of decoding.
pub enum Step<'m> {
    Class(&'m Model, usize),
    /// Value, and number of bits.
    Bits(u64, u32),
}

pub fn stream(steps: &[Step<'_>]) -> Vec<u8> {
    let mut words: Vec<u32> = Vec::new();
    let mut state = 1_u64 << 31;
    let mut make_room = |state: &mut u64, limit: u64| {
        if *state >= limit {
            words.push(*state as u32);
            *state >>= 32;
        }
    };
    for step in steps.iter().rev() {
        match *step {
            Step::Class(model, class) => {
                let at = model.classes.iter().position(|&(other, _)| other == class);
                let at = at.expect("the model has the class");
                let start: u32 = model.classes[..at].iter().map(|&(_, frequency)| frequency).sum();
                let frequency = u64::from(model.classes[at].1);
                make_room(&mut state, frequency << 49);
                state = (state / frequency) << 14 | (state % frequency + u64::from(start));
            }
            Step::Bits(value, count) => {
                make_room(&mut state, 1 << (63 - count));
                state = state << count | value;
            }
        }
    }
    words.extend([state as u32, (state >> 32) as u32]);
    words.iter().rev().flat_map(|word| word.to_le_bytes()).collect()
}

/// A list of integers.
pub fn list(values: &[u64]) -> Vec<u8> {
    let mut bytes = varint(values.len() as u64);
    if values.is_empty() {
        return bytes;
    }
    let bits = |value: u64| (64 - value.leading_zeros()) as usize;
    let mut classes: Vec<usize> = values.iter().map(|&value| bits(value)).chain([0, 1]).collect();
    classes.sort_unstable();
    classes.dedup();
    let model = Model::new(&classes);
    let mut steps = Vec::new();
    for &value in values {
        steps.push(Step::Class(&model, bits(value)));
        let mut left = (bits(value) as u32).saturating_sub(1);
        let mut rest = if left > 0 { value ^ 1 << left } else { 0 };
        while left > 0 {
            let now = left.min(31);
            steps.push(Step::Bits(rest & ((1 << now) - 1), now));
            (rest, left) = (rest >> now, left - now);
        }
    }
    let stream = stream(&steps);
    bytes.extend(model.write());
    bytes.extend(varint(stream.len() as u64));
    bytes.extend(stream);
    bytes
}
