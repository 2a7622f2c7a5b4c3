//! Round trips, damage, and streams of every shape.

use super::super::{Encoded, EncodedSymbols, Symbols, decode, encode};
use super::*;
use crate::budget::Budget;

fn dense(grammar: &Grammar) -> (Encoded, Vec<u8>) {
    let encoded = encode(grammar, Level::Dense, &CancelFlag::default()).unwrap();
    let EncodedSymbols::Dense(symbols) = &encoded.symbols else { panic!("it is dense") };
    let symbols = symbols.clone();
    (encoded, symbols)
}

fn decoded(encoded: &Encoded, symbols: &[u8]) -> Result<Grammar> {
    let (budget, never) = (Budget::unlimited(), CancelFlag::default());
    decode(&encoded.items, Symbols::Streams(symbols), &encoded.root, &budget, &never)
}

/// No pair of neighbours comes twice here, so there are no rules; but what is two places behind a
/// symbol always tells it, and thousands of symbols take a byte.
fn grid(side: u32) -> Grammar {
    let symbols: Vec<u32> =
        (0..side).flat_map(|row| (0..side).flat_map(move |cell| [cell, side + row])).collect();
    let length = symbols.len() as u32;
    Grammar::new(2 * side, symbols, vec![length], vec![0, length]).unwrap()
}

#[test]
fn it_can_be_cancelled() {
    let grammar = grid(100);
    let (encoded, symbols) = dense(&grammar);
    let cancel = CancelFlag::default();
    cancel.cancel();
    assert_eq!(encode(&grammar, Level::Dense, &cancel).unwrap_err(), Cancelled);
    let (symbols, budget) = (Symbols::Streams(&symbols), Budget::unlimited());
    let decoded = decode(&encoded.items, symbols, &encoded.root, &budget, &cancel);
    assert!(matches!(decoded, Err(Error::Cancelled)));
}

#[test]
fn it_tells_how_far_it_is() {
    let grammar = grid(100);
    for level in [Level::Fast, Level::Dense] {
        let told = CancelFlag::default();
        let encoded = encode(&grammar, level, &told).unwrap();
        assert_eq!(told.done() * 1e6, level.encoding_work() as f64);
        let symbols = match &encoded.symbols {
            EncodedSymbols::Dense(symbols) => Symbols::Streams(symbols),
            EncodedSymbols::Fast(symbols) => Symbols::Fast(symbols),
        };
        let told = CancelFlag::default();
        let budget = Budget::unlimited();
        decode(&encoded.items, symbols, &encoded.root, &budget, &told).unwrap();
        assert_eq!(told.done() * 1e6, level.decoding_work() as f64);
    }
}

#[test]
fn what_is_all_predicted_comes_back() {
    let grammar = grid(1000);
    let (encoded, symbols) = dense(&grammar);
    let per_byte = grammar.symbols().len() / symbols.len();
    assert!(per_byte > 200, "{per_byte} symbols in a byte");
    assert_eq!(decoded(&encoded, &symbols).unwrap(), grammar);
}

#[test]
fn empty_grammars_and_documents_come_back() {
    for (symbols, documents) in [
        (vec![], vec![0]),
        (vec![], vec![0, 0]),
        (vec![0], vec![0, 0, 1, 1, 1]),
        (vec![0, 0, 0], vec![0, 0, 0, 2, 2, 3, 3]),
    ] {
        let (tokens, length) = (u32::from(!symbols.is_empty()), symbols.len() as u32);
        let grammar = Grammar::new(tokens, symbols, vec![length], documents).unwrap();
        let (encoded, symbols) = dense(&grammar);
        assert_eq!(decoded(&encoded, &symbols).unwrap(), grammar);
    }
    // Rules, and a root that starts and ends with documents without text.
    let grammar =
        Grammar::new(2, vec![2, 3, 2, 3, 3, 0, 1], vec![3, 5, 7], vec![0, 0, 2, 3, 3]).unwrap();
    let (encoded, symbols) = dense(&grammar);
    assert_eq!(decoded(&encoded, &symbols).unwrap(), grammar);
}

#[test]
fn damage_is_an_error_or_another_grammar_and_never_a_panic() {
    // Rules in rules, and tokens between them.
    let (depth, tokens) = (40, 50);
    let mut symbols: Vec<u32> = (0..400).map(|at| at * at % (tokens + depth)).collect();
    symbols.extend(tokens..tokens + depth);
    symbols.extend((0..tokens).rev());
    let root = symbols.len() as u32;
    let mut starts = vec![root];
    for rule in 0..depth {
        symbols.extend([rule % tokens, (tokens + rule + 1) % (tokens + depth), rule * 7 % tokens]);
        starts.push(symbols.len() as u32);
    }
    let grammar = Grammar::new(tokens, symbols, starts, vec![0, 9, 9, root]).unwrap();
    let (encoded, symbols) = dense(&grammar);
    assert_eq!(decoded(&encoded, &symbols).unwrap(), grammar);
    for length in 0..symbols.len() {
        assert!(decoded(&encoded, &symbols[..length]).is_err(), "{length}");
    }
    let appended = [&symbols[..], &[0]].concat();
    assert!(decoded(&encoded, &appended).is_err());
    let mut state = 1_u32;
    for at in 0..symbols.len() {
        let mut damaged = symbols.clone();
        damaged[at] ^= 1 << (at % 8);
        let _ = decoded(&encoded, &damaged);
        for byte in &mut damaged[at.max(2)..] {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (state >> 24) as u8;
        }
        let _ = decoded(&encoded, &damaged);
    }
}

/// Words and rules without end, in which something comes again now and then.
fn many_streams(rules: u32, root: u32) -> Grammar {
    let tokens = 1000;
    let mut state = 1_u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(state) * u64::from(below)) >> 32) as u32
    };
    // In coding order, each rule is introduced by the one before it, or by the root.
    let mut symbols: Vec<u32> = (0..root).map(|_| random(tokens)).collect();
    symbols.extend((0..tokens).chain([tokens]));
    let documents = vec![0, root / 3, root / 3, symbols.len() as u32];
    let mut starts = vec![symbols.len() as u32];
    for rule in 0..rules {
        symbols.push(if random(4) == 0 { tokens + rule + 1 + random(rules - rule) } else { 7 });
        symbols.push(random(tokens) / (1 + random(50)));
        symbols.push(if rule + 1 < rules { tokens + rule + 1 } else { 3 });
        if symbols[symbols.len() - 3] == tokens + rules {
            let length = symbols.len();
            symbols[length - 3] = 5;
        }
        starts.push(symbols.len() as u32);
    }
    Grammar::new(tokens, symbols, starts, documents).unwrap()
}

#[test]
fn streams_have_all_symbols_and_whole_rules() {
    for (rules, length, root) in
        [(0, 3, 0), (0, 3, 5), (5, 3, 0), (5, 2, 7), (1, STREAM, 1), (700_000, 3, 3 * STREAM)]
            .into_iter()
            .chain([(2, 600_000, 1), (9_000_000, 2, 20 * STREAM)])
    {
        let starts: Vec<u32> = (0..=rules).map(|rule| (root + rule * length) as u32).collect();
        let Phases(phases) = streams(&starts);
        let (mut position, mut rule) = (root + rules * length, rules);
        for stream in phases.iter().flatten() {
            assert!(!stream.positions.is_empty());
            assert_eq!(stream.positions.end, position);
            position = stream.positions.start;
            if position >= root {
                assert_eq!(stream.rules.end, rule);
                rule = stream.rules.start;
                assert_eq!(starts[rule] as usize, position);
            } else {
                assert_eq!(stream.rules, 0..0);
            }
        }
        assert_eq!((position, rule), (0, 0));
        assert!(phases.iter().all(|phase| phase.len() <= MOST_STREAMS));
    }
    let starts: Vec<u32> = (0..=9_000_000).map(|rule| 20 * STREAM as u32 + 2 * rule).collect();
    let lengths: Vec<usize> = streams(&starts).0.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1, 16, 16]);
}

#[test]
fn many_streams_come_back_with_any_number_of_threads_and_any_memory() {
    let grammar = many_streams(150_000, 400_000);
    let (encoded, symbols) = dense(&grammar);
    let layout = streams(grammar.rule_starts());
    assert_eq!(layout.0.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 2]);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            assert_eq!(dense(&grammar).1, symbols);
            assert_eq!(decoded(&encoded, &symbols).unwrap(), grammar);
        });
    }
    let within = |limit: u64| {
        let (budget, never) = (Budget::new(limit), CancelFlag::default());
        decode(&encoded.items, Symbols::Streams(&symbols), &encoded.root, &budget, &never)
    };
    let limits = (1..).map(|megabytes| within(megabytes << 20));
    let fits = limits.skip_while(|result| matches!(result, Err(Error::MemoryLimit { .. })));
    assert_eq!(fits.take(1).next().unwrap().unwrap(), grammar);
}

#[test]
fn damage_in_one_of_many_streams_is_an_error_or_another_grammar() {
    let grammar = many_streams(150_000, 400_000);
    let (encoded, symbols) = dense(&grammar);
    // The numbers in front, and places in all streams.
    let places = (0..24).chain((1..12).map(|part| symbols.len() * part / 12));
    for at in places {
        let mut damaged = symbols.clone();
        damaged[at] ^= 1 << (at % 8);
        let found = decoded(&encoded, &damaged);
        assert!(found.is_err() || found.unwrap() != grammar, "{at}");
    }
    for length in [1, 7, 20, symbols.len() / 2, symbols.len() - 1] {
        assert!(decoded(&encoded, &symbols[..length]).is_err(), "{length}");
    }
}
