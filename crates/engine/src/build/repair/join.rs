//! One set of rules from several that were found apart: rules that stand for the same symbols become one.
//!
//! The same passage is seldom paired in the same way twice, so rules are compared by what they expand to:
//! by a fingerprint first, then symbol by symbol. Longer expansions than [`LONGEST`] are left to the
//! pairing that follows, which finds their equal bodies.
//!
//! Cost: O(symbols) on all threads, a hash table look-up a rule, and 24 bytes a rule.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use tadoc_core::parallel::{map, map_concat};

use super::sequence::BARRIER;
use crate::build::prune::Bodies;

/// Longer expansions are not compared.
const LONGEST: u32 = 1 << 10;
/// Rules are looked up in so many tables; any number gives the same.
const TABLES: usize = 32;

/// Cells, and the rules that they and the rules themselves use, children first.
pub(super) struct Piece<'p> {
    pub(super) cells: &'p [u32],
    pub(super) bodies: &'p Bodies,
}

/// One row of cells and one set of rules from those of the pieces, children first. Symbols below `first_rule` and barriers stay as
/// they are; the symbol `first_rule + r` is rule `r`, of the piece and in the result.
pub(super) fn join(pieces: &[Piece<'_>], first_rule: u32) -> (Vec<u32>, Bodies) {
    let expansions: Vec<Vec<Expansion>> =
        map(pieces.len(), &|piece| expansions(pieces[piece].bodies, first_rule));
    let mut numbers: Vec<Vec<u32>> = Vec::with_capacity(pieces.len());
    numbers.extend(pieces.iter().map(|piece| vec![0; piece.bodies.len()]));
    let repeated = repeated(pieces, &expansions, first_rule);
    drop(expansions);
    for &(rule, _) in repeated.iter().flatten() {
        numbers[rule.piece as usize][rule.rule as usize] = REPEATED;
    }
    let own = numbers.iter_mut().flatten().filter(|number| **number != REPEATED);
    own.zip(first_rule..).for_each(|(number, next)| *number = next);
    for &(rule, first) in repeated.iter().flatten() {
        numbers[rule.piece as usize][rule.rule as usize] =
            numbers[first.piece as usize][first.rule as usize];
    }
    let is_first: Vec<Vec<bool>> = firsts(pieces, &repeated);
    drop(repeated);

    let renumber = |piece: usize, symbol: u32| match symbol.checked_sub(first_rule) {
        Some(rule) if symbol != BARRIER => numbers[piece][rule as usize],
        _ => symbol,
    };
    let own: Vec<Bodies> = map(pieces.len(), &|piece| {
        let bodies = pieces[piece].bodies;
        let mut own = Bodies::new();
        for rule in (0..bodies.len()).filter(|&rule| is_first[piece][rule]) {
            own.symbols.extend(bodies.body(rule).iter().map(|&symbol| renumber(piece, symbol)));
            own.close();
        }
        own
    });
    let joined = Bodies::concat(&own);
    drop(own);
    let cells: Vec<&[u32]> = pieces.iter().map(|piece| piece.cells).collect();
    (map_concat(&cells, renumber), joined)
}

/// Stands for the number of a rule that another one has already.
const REPEATED: u32 = u32::MAX;

/// A rule of a piece.
#[derive(Debug, Clone, Copy)]
struct Rule {
    piece: u32,
    rule: u32,
}

/// Which rules of each piece come first of those that are equal.
fn firsts(pieces: &[Piece<'_>], repeated: &[Vec<(Rule, Rule)>]) -> Vec<Vec<bool>> {
    let mut firsts: Vec<Vec<bool>> =
        pieces.iter().map(|piece| vec![true; piece.bodies.len()]).collect();
    for &(rule, _) in repeated.iter().flatten() {
        firsts[rule.piece as usize][rule.rule as usize] = false;
    }
    firsts
}

/// Rules that equal one before, each with the first of those.
fn repeated(
    pieces: &[Piece<'_>],
    expansions: &[Vec<Expansion>],
    first_rule: u32,
) -> Vec<Vec<(Rule, Rule)>> {
    // The rules of each piece that belong into each table.
    let shares: Vec<Vec<Vec<u32>>> = map(pieces.len(), &|piece| {
        let mut shares = vec![Vec::new(); TABLES];
        for (rule, expansion) in (0_u32..).zip(&expansions[piece]) {
            if expansion.length <= LONGEST {
                shares[expansion.hash as usize % TABLES].push(rule);
            }
        }
        shares
    });
    let expansion = |rule: Rule| expansions[rule.piece as usize][rule.rule as usize];
    map(TABLES, &|table| {
        let mut known: HashTable<Rule> = HashTable::new();
        let mut repeated = Vec::new();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (piece, shares) in (0_u32..).zip(&shares) {
            for &rule in &shares[table] {
                let rule = Rule { piece, rule };
                let own = expansion(rule);
                let equal = |other: &Rule| expansion(*other).same(own);
                match known.entry(own.in_table(), equal, |other| expansion(*other).in_table()) {
                    Entry::Vacant(vacant) => {
                        vacant.insert(rule);
                    }
                    Entry::Occupied(occupied) => {
                        let first = *occupied.get();
                        expand(pieces, first_rule, first, &mut left);
                        expand(pieces, first_rule, rule, &mut right);
                        // Of those that only look equal, the first one has the place.
                        if left == right {
                            repeated.push((rule, first));
                        }
                    }
                }
            }
        }
        repeated
    })
}

/// Puts what a rule expands to into `into`.
fn expand(pieces: &[Piece<'_>], first_rule: u32, rule: Rule, into: &mut Vec<u32>) {
    let bodies = pieces[rule.piece as usize].bodies;
    into.clear();
    let mut above: Vec<&[u32]> = vec![bodies.body(rule.rule as usize)];
    while let Some(rest) = above.pop() {
        for (place, &symbol) in rest.iter().enumerate() {
            match symbol.checked_sub(first_rule) {
                None => into.push(symbol),
                Some(rule) => {
                    above.push(&rest[place + 1..]);
                    above.push(bodies.body(rule as usize));
                    break;
                }
            }
        }
    }
}

/// The modulus of fingerprints, a prime.
const PRIME: u64 = (1 << 61) - 1;
/// The polynomial of the symbols at this place is the fingerprint.
const BASE: u64 = 0x0B7C_59D1_83A6_E42F;

/// What is known of what a rule expands to.
#[derive(Debug, Clone, Copy)]
struct Expansion {
    hash: u64,
    /// [`BASE`] to the power of the length.
    power: u64,
    /// More than [`LONGEST`], if it is longer.
    length: u32,
}

impl Expansion {
    const NOTHING: Self = Self { hash: 0, power: 1, length: 0 };

    fn of_symbol(symbol: u32) -> Self {
        let mixed = (u64::from(symbol) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self { hash: (mixed ^ mixed >> 32) % PRIME, power: BASE, length: 1 }
    }

    fn then(self, next: Self) -> Self {
        Self {
            hash: (multiply(self.hash, next.power) + next.hash) % PRIME,
            power: multiply(self.power, next.power),
            length: (self.length + next.length).min(LONGEST + 1),
        }
    }

    /// What of the hash does not choose the table.
    fn in_table(self) -> u64 {
        (self.hash / TABLES as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn same(self, other: Self) -> bool {
        (self.hash, self.length) == (other.hash, other.length)
    }
}

fn multiply(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    ((product as u64 & PRIME) + (product >> 61) as u64) % PRIME
}

fn expansions(bodies: &Bodies, first_rule: u32) -> Vec<Expansion> {
    let mut expansions: Vec<Expansion> = Vec::with_capacity(bodies.len());
    for rule in 0..bodies.len() {
        let symbols = bodies.body(rule).iter();
        let of_symbol = |&symbol: &u32| match symbol.checked_sub(first_rule) {
            None => Expansion::of_symbol(symbol),
            Some(child) => expansions[child as usize],
        };
        expansions.push(symbols.map(of_symbol).fold(Expansion::NOTHING, Expansion::then));
    }
    expansions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(rules: &[&[u32]]) -> Bodies {
        let mut bodies = Bodies::new();
        for rule in rules {
            bodies.symbols.extend_from_slice(rule);
            bodies.close();
        }
        bodies
    }

    #[test]
    fn rules_of_equal_expansion_become_one() {
        // `1 2 3`, once as (1 2) 3 and once as 1 (2 3).
        let left = bodies(&[&[1, 2], &[10, 3]]);
        let right = bodies(&[&[2, 3], &[1, 10], &[11, 4]]);
        let pieces = [
            Piece { cells: &[11, BARRIER], bodies: &left },
            Piece { cells: &[11, 12, 10, BARRIER], bodies: &right },
        ];
        let (cells, joined) = join(&pieces, 10);
        assert_eq!(joined, bodies(&[&[1, 2], &[10, 3], &[2, 3], &[11, 4]]));
        assert_eq!(cells, [11, BARRIER, 11, 13, 12, BARRIER]);
    }

    #[test]
    fn long_expansions_stay_apart() {
        let doubled: Vec<[u32; 2]> = (0..12).map(|rule| [rule.max(1) + 9; 2]).collect();
        let mut rules: Vec<&[u32]> = vec![&[1, 2]];
        rules.extend(doubled[1..].iter().map(|rule| &rule[..]));
        let (left, right) = (bodies(&rules), bodies(&rules));
        let pieces =
            [Piece { cells: &[21], bodies: &left }, Piece { cells: &[21], bodies: &right }];
        let (cells, joined) = join(&pieces, 10);
        assert_eq!(joined.len(), 14);
        assert_eq!(joined.body(12), [19, 19]);
        assert_eq!(cells, [21, 23]);
    }
}
