use proptest::prelude::*;

use super::*;

/// A document as plain bytes: each is its place, with the bit for new text.
struct Model {
    places: Vec<u64>,
    pieces: Pieces,
    new_bytes: u64,
}

impl Model {
    fn new(bytes: u64) -> Self {
        Self { places: (0..bytes).collect(), pieces: Pieces::stored(bytes), new_bytes: 0 }
    }

    fn take(&mut self, bytes: u64) -> (Piece, Vec<u64>) {
        let start = self.new_bytes;
        self.new_bytes += bytes;
        let places = (start..start + bytes).map(|place| place | NEW).collect();
        (Piece::new(Source::New, start, bytes), places)
    }

    fn insert(&mut self, offset: usize, bytes: u64) {
        let (piece, places) = self.take(bytes);
        self.pieces.insert(offset as u64, piece);
        self.places.splice(offset..offset, places);
    }

    fn append(&mut self, bytes: u64) {
        let (piece, places) = self.take(bytes);
        self.pieces.append(piece);
        self.places.extend(places);
    }

    fn delete(&mut self, offset: usize, length: usize) {
        self.pieces.delete(offset as u64, length as u64);
        self.places.drain(offset..offset + length);
    }

    fn check(&self) {
        let mut expected: Vec<Piece> = Vec::new();
        for &place in &self.places {
            let byte = Piece { place, bytes: 1 };
            match expected.last_mut() {
                Some(last) if byte.continues(*last) => last.bytes += 1,
                _ => expected.push(byte),
            }
        }
        assert_eq!(self.pieces.iter().collect::<Vec<_>>(), expected);
        assert_eq!(self.pieces.bytes(), self.places.len() as u64);
        assert_eq!(self.pieces.iter().count(), expected.len());
        check_node(&self.pieces.root, true);
    }

    fn check_range(&self, offset: usize, length: usize) {
        let pieces = self.pieces.range(offset as u64, length as u64);
        let places: Vec<u64> =
            pieces.flat_map(|piece| piece.place..piece.place + piece.bytes).collect();
        assert_eq!(places, self.places[offset..offset + length]);
    }
}

/// Gives depth and bytes.
fn check_node(node: &Node, is_root: bool) -> (usize, u64) {
    assert!(node.len() <= node.most());
    assert!(is_root || node.len() > 0);
    match node {
        Node::Leaf(pieces) => (0, pieces.iter().map(|piece| piece.bytes).sum()),
        Node::Inner(inner) => {
            assert!(!is_root || inner.children.len() > 1);
            let below: Vec<(usize, u64)> =
                inner.children.iter().map(|child| check_node(child, false)).collect();
            assert!(below.iter().all(|&(depth, _)| depth == below[0].0));
            assert!(below.iter().map(|&(_, bytes)| bytes).eq(inner.bytes.iter().copied()));
            (below[0].0 + 1, inner.bytes.iter().sum())
        }
    }
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (((self.0 >> 32) * end as u64) >> 32) as usize
    }
}

#[test]
fn a_piece_is_small() {
    assert_eq!(size_of::<Piece>(), 16);
    let piece = Piece::new(Source::New, 7, 3);
    assert_eq!(
        (piece.source(), piece.start(), piece.bytes(), piece.end()),
        (Source::New, 7, 3, 10)
    );
    assert_eq!(Piece::new(Source::Stored, 7, 3).source(), Source::Stored);
}

#[test]
fn typing_and_appending_stay_one_piece() {
    let mut model = Model::new(10);
    for at in 4..90 {
        model.insert(at, 1);
    }
    model.check();
    assert_eq!(model.pieces.iter().count(), 3);
    model.append(5);
    model.append(6);
    model.check();
    assert_eq!(model.pieces.iter().count(), 4);
    let mut other = Model::new(0);
    other.append(3);
    other.append(3);
    other.check();
    assert_eq!(other.pieces.iter().count(), 1);
}

#[test]
fn what_was_inserted_and_deleted_again_leaves_no_trace() {
    let mut model = Model::new(20_000);
    for at in 1..10_000 {
        model.insert(2 * at + (at - 1), 1);
    }
    model.check();
    assert_eq!(model.pieces.iter().count(), 2 * 9_999 + 1);
    let mut numbers = Numbers(1);
    let mut there: Vec<usize> = (1..10_000).collect();
    while !there.is_empty() {
        // Every one of them has two stored bytes for each place before it, and those inserts that are left.
        let index = numbers.below(there.len());
        let at = there.remove(index);
        model.delete(2 * at + index, 1);
    }
    model.check();
    assert_eq!(model.pieces.iter().count(), 1);
    assert!(matches!(model.pieces.root, Node::Leaf(_)));
}

#[test]
fn pieces_appended_apart_fill_their_nodes() {
    let mut pieces = Pieces::empty();
    for number in 0..100_000 {
        pieces.append(Piece::new(Source::New, 2 * number, 1));
    }
    let (depth, bytes) = check_node(&pieces.root, true);
    assert_eq!((depth, bytes, pieces.iter().count()), (2, 100_000, 100_000));
}

#[test]
fn deletes_leave_no_small_nodes() {
    fn leaves(node: &Node) -> usize {
        match node {
            Node::Leaf(_) => 1,
            Node::Inner(inner) => inner.children.iter().map(leaves).sum(),
        }
    }
    let mut pieces = Pieces::empty();
    for number in 0..100_000 {
        pieces.append(Piece::new(Source::New, 2 * number, 1));
    }
    let mut numbers = Numbers(3);
    for _ in 0..99_000 {
        pieces.delete(numbers.below(pieces.bytes() as usize) as u64, 1);
    }
    assert_eq!(pieces.iter().count(), 1_000);
    let (depth, _) = check_node(&pieces.root, true);
    assert!(leaves(&pieces.root) <= 1_000 / (MOST_PIECES / 4) && depth == 1);
}

#[test]
fn long_ranges_go_at_once() {
    let mut numbers = Numbers(2);
    for round in 0..40 {
        let mut model = Model::new(if round % 2 == 0 { 40_000 } else { 0 });
        for _ in 0..8_000 {
            let offset = numbers.below(model.places.len() + 1);
            model.insert(offset, 1 + numbers.below(3) as u64);
        }
        model.check();
        while !model.places.is_empty() {
            let length = 1 + numbers.below(model.places.len());
            let offset = match numbers.below(4) {
                0 => 0,
                1 => model.places.len() - length,
                _ => numbers.below(model.places.len() - length + 1),
            };
            model.delete(offset, length);
            model.check();
            for _ in 0..numbers.below(20) {
                let offset = numbers.below(model.places.len() + 1);
                model.insert(offset, 1);
            }
            if model.places.len() < 100 {
                model.delete(0, model.places.len());
            }
            model.check();
        }
        assert_eq!(model.pieces.iter().count(), 0);
    }
}

#[test]
#[should_panic(expected = "what is deleted is in the document")]
fn a_range_past_the_end_is_not_deleted() {
    Pieces::stored(10).delete(1, u64::MAX);
}

#[derive(Debug, Clone)]
enum Step {
    Insert(prop::sample::Index, u64),
    /// At the border of a piece.
    InsertAtBorder(prop::sample::Index, u64),
    Append(u64),
    Delete(prop::sample::Index, prop::sample::Index),
    /// From border to border.
    DeletePieces(prop::sample::Index, usize),
    DeleteFew(prop::sample::Index, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        40 => (place(), 1..5_u64).prop_map(|(at, bytes)| Step::Insert(at, bytes)),
        8 => (place(), 1..5_u64).prop_map(|(at, bytes)| Step::InsertAtBorder(at, bytes)),
        4 => (1..5_u64).prop_map(Step::Append),
        1 => (place(), place()).prop_map(|(from, to)| Step::Delete(from, to)),
        6 => (place(), 0..6_usize).prop_map(|(at, count)| Step::DeletePieces(at, count)),
        10 => (place(), 1..9_usize).prop_map(|(at, length)| Step::DeleteFew(at, length)),
    ]
}

proptest! {
    #[test]
    fn pieces_are_what_bytes_are(
        bytes in 0..2_000_u64,
        steps in prop::collection::vec(step(), 0..700),
        ranges in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 8),
    ) {
        let mut model = Model::new(bytes);
        for step in steps {
            let end = model.places.len();
            let border = |model: &Model, index: usize| -> usize {
                model.pieces.iter().take(index).map(|piece| piece.bytes() as usize).sum()
            };
            match step {
                Step::Insert(at, bytes) => model.insert(at.index(end + 1), bytes),
                Step::InsertAtBorder(at, bytes) => {
                    let offset = border(&model, at.index(model.pieces.iter().count() + 1));
                    model.insert(offset, bytes);
                }
                Step::Append(bytes) => model.append(bytes),
                Step::Delete(from, to) => {
                    let (from, to) = (from.index(end + 1), to.index(end + 1));
                    model.delete(from.min(to), from.abs_diff(to));
                }
                Step::DeletePieces(at, count) => {
                    let first = at.index(model.pieces.iter().count() + 1);
                    let from = border(&model, first);
                    model.delete(from, border(&model, first + count) - from);
                }
                Step::DeleteFew(at, length) => {
                    let from = at.index(end + 1);
                    model.delete(from, length.min(end - from));
                }
            }
        }
        model.check();
        for (from, to) in ranges {
            let end = model.places.len() + 1;
            let (from, to) = (from.index(end), to.index(end));
            model.check_range(from.min(to), from.abs_diff(to));
        }
    }
}
