//! The text of one edited document: pieces in a row, each a range of the stored document or of new text.
//!
//! The pieces are the leaves of a B+ tree whose nodes know how many bytes are below each of their children. An insert is one
//! way down, a delete up to four, and what lies in between goes without a look at it. Appending goes down at the right edge
//! and leaves full nodes behind. Nodes that deletes leave small are joined with a neighbour; no way becomes longer by a
//! delete, so the depth is at most the logarithm of the inserts. Memory: 16 bytes a piece and the room that nodes have left,
//! and a document of a few pieces is one short list.

use std::fmt;
use std::slice;

/// A leaf has at most so many pieces.
const MOST_PIECES: usize = 64;
/// An inner node has at most so many children.
const MOST_CHILDREN: usize = 64;
/// The bit of a piece's start that says that it is new text.
const NEW: u64 = 1 << 63;

/// What a piece is a range of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The document as the archive stores it.
    Stored,
    /// The new text, which is one for all documents.
    New,
}

/// A range of bytes, at least one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it starts, below 2^63, and the source in the highest bit.
    place: u64,
    bytes: u64,
}

impl Piece {
    pub(crate) fn new(source: Source, start: u64, bytes: u64) -> Self {
        debug_assert!(bytes > 0 && start < NEW - bytes);
        Self { place: if source == Source::New { start | NEW } else { start }, bytes }
    }

    pub(crate) fn source(self) -> Source {
        if self.place & NEW == 0 { Source::Stored } else { Source::New }
    }

    pub(crate) fn start(self) -> u64 {
        self.place & !NEW
    }

    pub(crate) fn bytes(self) -> u64 {
        self.bytes
    }

    /// The end in the source.
    pub(crate) fn end(self) -> u64 {
        self.start() + self.bytes
    }

    fn continues(self, before: Self) -> bool {
        before.place + before.bytes == self.place
    }

    /// What is left without the first bytes.
    fn behind(self, skipped: u64) -> Self {
        debug_assert!(skipped < self.bytes);
        Self { place: self.place + skipped, bytes: self.bytes - skipped }
    }

    /// The first bytes alone.
    fn first(self, bytes: u64) -> Self {
        debug_assert!(0 < bytes && bytes <= self.bytes);
        Self { bytes, ..self }
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {}..{}", self.source(), self.start(), self.end())
    }
}

/// A document's pieces. No two neighbours are one range in two halves, and stored ones ascend.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    root: Node,
    bytes: u64,
    count: usize,
}

/// All leaves are equally deep, and none is empty but that of an empty document.
#[derive(Debug, Clone)]
enum Node {
    Leaf(Vec<Piece>),
    Inner(Box<Inner>),
}

#[derive(Debug, Clone)]
struct Inner {
    /// Bytes below each child.
    bytes: Vec<u64>,
    children: Vec<Node>,
}

/// A node that was split off to the right, and its bytes.
type SplitOff = Option<(Node, u64)>;

impl Pieces {
    /// A document of which nothing was edited.
    pub(crate) fn stored(bytes: u64) -> Self {
        let whole = (bytes > 0).then(|| Piece::new(Source::Stored, 0, bytes));
        let leaf: Vec<Piece> = whole.into_iter().collect();
        Self { bytes, count: leaf.len(), root: Node::Leaf(leaf) }
    }

    /// A document without text.
    pub(crate) fn empty() -> Self {
        Self::stored(0)
    }

    /// The document's length.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many pieces there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Puts a piece of new text before the byte at `offset`, which is at most the document's length. It lies behind all new
    /// text that the document has: it may go on where the piece before it ends, and never ends where another one starts.
    pub(crate) fn insert(&mut self, offset: u64, piece: Piece) {
        assert!(offset <= self.bytes, "a piece is inserted in the document");
        if offset == self.bytes {
            return self.append(piece);
        }
        let split = self.root.insert(offset, piece, &mut self.count);
        self.bytes += piece.bytes;
        self.grow(split);
    }

    /// Puts a piece of new text at the end.
    pub(crate) fn append(&mut self, piece: Piece) {
        let split = self.root.append(piece, &mut self.count);
        self.bytes += piece.bytes;
        self.grow(split);
    }

    /// Takes `length` bytes out, all of which are there.
    pub(crate) fn delete(&mut self, offset: u64, length: u64) {
        let end = offset.checked_add(length).filter(|&end| end <= self.bytes);
        let end = end.expect("what is deleted is in the document");
        if length == 0 {
            return;
        }
        if length == self.bytes {
            *self = Self::empty();
            return;
        }
        if let Some(rest) = self.cut(offset, end) {
            return self.insert(offset, rest);
        }
        if offset == 0 || offset == self.bytes {
            return;
        }
        // What stood apart may be one range again.
        let (before, behind) = (self.root.piece_ending_at(offset), self.root.piece_at(offset));
        if behind.continues(before) {
            let rest = self.cut(offset, offset + behind.bytes);
            debug_assert!(rest.is_none());
            self.insert(offset, behind);
        }
    }

    /// The pieces in order.
    pub(crate) fn iter(&self) -> PiecesIn<'_> {
        self.range(0, self.bytes)
    }

    /// The pieces of `length` bytes of the document, all of which are there; the first and the last are cut to fit.
    pub(crate) fn range(&self, offset: u64, length: u64) -> PiecesIn<'_> {
        let end = offset.checked_add(length).filter(|&end| end <= self.bytes);
        assert!(end.is_some(), "what is read is in the document");
        let mut pieces = PiecesIn { ways: Vec::new(), leaf: [].iter(), skip: 0, left: length };
        if length > 0 {
            pieces.enter(&self.root, offset);
        }
        pieces
    }

    fn grow(&mut self, split: SplitOff) {
        if let Some((right, right_bytes)) = split {
            let left = std::mem::replace(&mut self.root, Node::Leaf(Vec::new()));
            let bytes = vec![self.bytes - right_bytes, right_bytes];
            self.root = Node::Inner(Box::new(Inner { bytes, children: vec![left, right] }));
        }
    }

    /// Takes out what is between two offsets, of which something remains before or behind. Where that is inside of one
    /// piece, its rest behind goes too, and is given.
    fn cut(&mut self, start: u64, end: u64) -> Option<Piece> {
        let mut rest = None;
        self.bytes -= self.root.cut(start, end, &mut rest, &mut self.count);
        while let Node::Inner(inner) = &mut self.root
            && inner.children.len() == 1
        {
            self.root = inner.children.pop().expect("there is one");
        }
        rest
    }
}

impl Node {
    fn len(&self) -> usize {
        match self {
            Self::Leaf(pieces) => pieces.len(),
            Self::Inner(inner) => inner.children.len(),
        }
    }

    fn most(&self) -> usize {
        match self {
            Self::Leaf(_) => MOST_PIECES,
            Self::Inner(_) => MOST_CHILDREN,
        }
    }

    fn piece_count(&self) -> usize {
        match self {
            Self::Leaf(pieces) => pieces.len(),
            Self::Inner(inner) => inner.children.iter().map(Self::piece_count).sum(),
        }
    }

    fn insert(&mut self, offset: u64, piece: Piece, count: &mut usize) -> SplitOff {
        match self {
            Self::Leaf(pieces) => {
                let before = pieces.len();
                insert_into(pieces, offset, piece);
                *count += pieces.len() - before;
            }
            Self::Inner(inner) => {
                let (child, offset) = inner.child_ending_at(offset);
                let split = inner.children[child].insert(offset, piece, count);
                inner.took(child, piece.bytes, split);
            }
        }
        if self.len() > self.most() { Some(self.split_off(self.len() / 2)) } else { None }
    }

    fn append(&mut self, piece: Piece, count: &mut usize) -> SplitOff {
        match self {
            Self::Leaf(pieces) => match pieces.last_mut() {
                Some(last) if piece.continues(*last) => last.bytes += piece.bytes,
                _ => {
                    pieces.push(piece);
                    *count += 1;
                }
            },
            Self::Inner(inner) => {
                let last = inner.children.len() - 1;
                let split = inner.children[last].append(piece, count);
                inner.took(last, piece.bytes, split);
            }
        }
        if self.len() > self.most() { Some(self.split_off(self.len() - 1)) } else { None }
    }

    /// Splits off what is at `index` and behind.
    fn split_off(&mut self, index: usize) -> (Self, u64) {
        match self {
            Self::Leaf(pieces) => {
                let mut right = Vec::with_capacity(MOST_PIECES + 2);
                right.extend(pieces.drain(index..));
                let bytes = right.iter().map(|piece| piece.bytes).sum();
                (Self::Leaf(right), bytes)
            }
            Self::Inner(inner) => {
                let (bytes, children) =
                    (inner.bytes.split_off(index), inner.children.split_off(index));
                let total = bytes.iter().sum();
                (Self::Inner(Box::new(Inner { bytes, children })), total)
            }
        }
    }

    /// Takes what another node has, which is as deep.
    fn join(&mut self, right: Self) {
        match (self, right) {
            (Self::Leaf(left), Self::Leaf(right)) => left.extend(right),
            (Self::Inner(left), Self::Inner(right)) => {
                left.bytes.extend(right.bytes);
                left.children.extend(right.children);
            }
            _ => unreachable!("all leaves are equally deep"),
        }
    }

    /// As [`Pieces::cut`]; gives how many bytes went.
    fn cut(&mut self, start: u64, end: u64, rest: &mut Option<Piece>, count: &mut usize) -> u64 {
        match self {
            Self::Leaf(pieces) => {
                let before = pieces.len();
                let gone = cut_out_of(pieces, start, end, rest);
                *count -= before - pieces.len();
                gone
            }
            Self::Inner(inner) => inner.cut(start, end, rest, count),
        }
    }

    /// The piece that ends at an offset, which no piece is around and which is not the start.
    fn piece_ending_at(&self, offset: u64) -> Piece {
        match self {
            Self::Leaf(pieces) => pieces[ending_at(pieces, |piece| piece.bytes, offset).0],
            Self::Inner(inner) => {
                let (child, offset) = inner.child_ending_at(offset);
                inner.children[child].piece_ending_at(offset)
            }
        }
    }

    /// The piece that the byte at an offset is in.
    fn piece_at(&self, offset: u64) -> Piece {
        match self {
            Self::Leaf(pieces) => pieces[holding(pieces, |piece| piece.bytes, offset).0],
            Self::Inner(inner) => {
                let (child, offset) = holding(&inner.bytes, |&bytes| bytes, offset);
                inner.children[child].piece_at(offset)
            }
        }
    }
}

impl Inner {
    /// The first child that reaches up to an offset, and the offset in it.
    fn child_ending_at(&self, offset: u64) -> (usize, u64) {
        ending_at(&self.bytes, |&bytes| bytes, offset)
    }

    /// A child has become longer, and may have been split.
    fn took(&mut self, child: usize, more: u64, split: SplitOff) {
        self.bytes[child] += more;
        if let Some((right, right_bytes)) = split {
            self.bytes[child] -= right_bytes;
            self.bytes.insert(child + 1, right_bytes);
            self.children.insert(child + 1, right);
        }
    }

    fn cut(&mut self, start: u64, end: u64, rest: &mut Option<Piece>, count: &mut usize) -> u64 {
        let (first, local) = holding(&self.bytes, |&bytes| bytes, start);
        // Where the child at `behind` starts.
        let mut at = start - local;
        let mut behind = first;
        let mut whole = first..first;
        let mut gone = 0;
        while at < end {
            let (from, bytes) = (start.saturating_sub(at), self.bytes[behind]);
            let to = (end - at).min(bytes);
            at += bytes;
            if from == 0 && to == bytes {
                *count -= self.children[behind].piece_count();
                gone += bytes;
                whole.end = behind + 1;
            } else {
                let went = self.children[behind].cut(from, to, rest, count);
                self.bytes[behind] -= went;
                gone += went;
                if from > 0 {
                    whole = behind + 1..behind + 1;
                }
            }
            behind += 1;
        }
        self.bytes.drain(whole.clone());
        self.children.drain(whole.clone());
        // What is left of the first child and of the last one.
        for child in [whole.start, whole.start.wrapping_sub(1)] {
            self.mend(child);
        }
        gone
    }

    /// Joins a child that has become small with a neighbour.
    fn mend(&mut self, child: usize) {
        let small = self.children.get(child).is_some_and(|node| node.len() < node.most() / 4);
        if !small || self.children.len() == 1 {
            return;
        }
        let left = child.saturating_sub(1);
        let (right, right_bytes) = (self.children.remove(left + 1), self.bytes.remove(left + 1));
        let node = &mut self.children[left];
        node.join(right);
        let split = (node.len() > node.most()).then(|| node.split_off(node.len() / 2));
        self.took(left, right_bytes, split);
    }
}

/// The first item that reaches up to an offset, at most the end, and the offset in it.
#[inline]
fn ending_at<T>(items: &[T], bytes: impl Fn(&T) -> u64, mut offset: u64) -> (usize, u64) {
    let mut index = 0;
    while offset > bytes(&items[index]) {
        offset -= bytes(&items[index]);
        index += 1;
    }
    (index, offset)
}

/// The item that has the byte at an offset, and the offset in it.
#[inline]
fn holding<T>(items: &[T], bytes: impl Fn(&T) -> u64, mut offset: u64) -> (usize, u64) {
    let mut index = 0;
    while offset >= bytes(&items[index]) {
        offset -= bytes(&items[index]);
        index += 1;
    }
    (index, offset)
}

fn insert_into(pieces: &mut Vec<Piece>, offset: u64, piece: Piece) {
    if offset == 0 {
        return pieces.insert(0, piece);
    }
    let (index, offset) = ending_at(pieces, |piece| piece.bytes, offset);
    let around = pieces[index];
    if offset < around.bytes {
        let end = pieces.len();
        pieces.extend([piece; 2]);
        pieces.copy_within(index + 1..end, index + 3);
        pieces[index] = around.first(offset);
        pieces[index + 1] = piece;
        pieces[index + 2] = around.behind(offset);
    } else if piece.continues(around) {
        pieces[index].bytes += piece.bytes;
    } else {
        pieces.insert(index + 1, piece);
    }
}

/// As [`Pieces::cut`]; gives how many bytes went.
fn cut_out_of(pieces: &mut Vec<Piece>, start: u64, end: u64, rest: &mut Option<Piece>) -> u64 {
    let (mut first, local) = holding(pieces, |piece| piece.bytes, start);
    let piece = pieces[first];
    // Bytes to go from the start of the piece at `last` on.
    let mut left = local + (end - start);
    if local > 0 {
        pieces[first] = piece.first(local);
        if left < piece.bytes {
            *rest = Some(piece.behind(left));
            return piece.bytes - local;
        }
        left -= piece.bytes;
        first += 1;
    }
    let mut last = first;
    while last < pieces.len() && left >= pieces[last].bytes {
        left -= pieces[last].bytes;
        last += 1;
    }
    if left > 0 {
        pieces[last] = pieces[last].behind(left);
    }
    pieces.drain(first..last);
    end - start
}

/// Pieces in order, as [`Pieces::range`] gives them.
#[derive(Debug, Clone)]
pub(crate) struct PiecesIn<'p> {
    /// On each level the nodes behind the one that was gone into.
    ways: Vec<slice::Iter<'p, Node>>,
    leaf: slice::Iter<'p, Piece>,
    /// Bytes of the next piece that are before the range.
    skip: u64,
    /// Bytes to come.
    left: u64,
}

impl<'p> PiecesIn<'p> {
    /// Goes down to the byte at an offset.
    fn enter(&mut self, mut node: &'p Node, mut offset: u64) {
        loop {
            match node {
                Node::Leaf(pieces) => {
                    let (index, local) = holding(pieces, |piece| piece.bytes, offset);
                    self.leaf = pieces[index..].iter();
                    self.skip = local;
                    return;
                }
                Node::Inner(inner) => {
                    let (child, local) = holding(&inner.bytes, |&bytes| bytes, offset);
                    self.ways.push(inner.children[child + 1..].iter());
                    node = &inner.children[child];
                    offset = local;
                }
            }
        }
    }
}

impl Iterator for PiecesIn<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        loop {
            if let Some(piece) = self.leaf.next() {
                let piece = piece.behind(std::mem::take(&mut self.skip));
                let piece = piece.first(piece.bytes.min(self.left));
                self.left -= piece.bytes;
                return Some(piece);
            }
            match self.ways.last_mut()?.next() {
                Some(node) => self.enter(node, 0),
                None => {
                    self.ways.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
            assert_eq!(self.pieces.len(), expected.len());
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
            ((self.0 >> 32) * end as u64 >> 32) as usize
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
        assert_eq!(model.pieces.len(), 3);
        model.append(5);
        model.append(6);
        model.check();
        assert_eq!(model.pieces.len(), 4);
        let mut other = Model::new(0);
        other.append(3);
        other.append(3);
        other.check();
        assert_eq!(other.pieces.len(), 1);
    }

    #[test]
    fn what_was_inserted_and_deleted_again_leaves_no_trace() {
        let mut model = Model::new(20_000);
        for at in 1..10_000 {
            model.insert(2 * at + (at - 1), 1);
        }
        model.check();
        assert_eq!(model.pieces.len(), 2 * 9_999 + 1);
        let mut numbers = Numbers(1);
        let mut there: Vec<usize> = (1..10_000).collect();
        while !there.is_empty() {
            // Every one of them has two stored bytes for each place before it, and those inserts that are left.
            let index = numbers.below(there.len());
            let at = there.remove(index);
            model.delete(2 * at + index, 1);
        }
        model.check();
        assert_eq!(model.pieces.len(), 1);
        assert!(matches!(model.pieces.root, Node::Leaf(_)));
    }

    #[test]
    fn pieces_appended_apart_fill_their_nodes() {
        let mut pieces = Pieces::empty();
        for number in 0..100_000 {
            pieces.append(Piece::new(Source::New, 2 * number, 1));
        }
        let (depth, bytes) = check_node(&pieces.root, true);
        assert_eq!((depth, bytes, pieces.len()), (2, 100_000, 100_000));
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
            assert_eq!(model.pieces.len(), 0);
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
                        let offset = border(&model, at.index(model.pieces.len() + 1));
                        model.insert(offset, bytes);
                    }
                    Step::Append(bytes) => model.append(bytes),
                    Step::Delete(from, to) => {
                        let (from, to) = (from.index(end + 1), to.index(end + 1));
                        model.delete(from.min(to), from.abs_diff(to));
                    }
                    Step::DeletePieces(at, count) => {
                        let first = at.index(model.pieces.len() + 1);
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
}
