//! The text of one edited document: pieces in a row, each a range of the stored document or of new text.
//!
//! The pieces are in the leaves of a B+ tree whose nodes know how many bytes are below each of their children. An insert is
//! one way down, a delete up to five, besides freeing the pieces that go as a whole. Appending goes down at the right edge
//! and leaves full nodes behind. Nodes that deletes leave small are joined with a neighbour; no way becomes longer by a
//! delete, so the depth is at most the logarithm of the inserts. Memory: 16 bytes a piece and the room that nodes have left;
//! a document of a few pieces is one short list.

#[cfg(test)]
mod tests;

use std::fmt;
use std::slice;

const MOST_PIECES: usize = 64;
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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Piece {
    /// Where it starts, below 2^63, and the source in the highest bit.
    place: u64,
    bytes: u64,
}

impl Piece {
    /// `bytes` is at least 1, and the end is below 2^63.
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
        Self { bytes, root: Node::Leaf(leaf) }
    }

    pub(crate) fn empty() -> Self {
        Self::stored(0)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts a piece of new text before the byte at `offset`, which is at most the document's length. It lies behind all new
    /// text that the document has: it may go on where the piece before it ends, and never ends where another one starts.
    pub(crate) fn insert(&mut self, offset: u64, piece: Piece) {
        assert!(offset <= self.bytes, "a piece is inserted in the document");
        if offset == self.bytes {
            return self.append(piece);
        }
        let split = self.root.insert(offset, piece);
        self.bytes += piece.bytes;
        self.grow(split);
    }

    /// Puts a piece of new text at the end.
    pub(crate) fn append(&mut self, piece: Piece) {
        let split = self.root.append(piece);
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
        self.bytes -= self.root.cut(start, end, &mut rest);
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

    fn insert(&mut self, offset: u64, piece: Piece) -> SplitOff {
        match self {
            Self::Leaf(pieces) => insert_into(pieces, offset, piece),
            Self::Inner(inner) => {
                let (child, offset) = inner.child_ending_at(offset);
                let split = inner.children[child].insert(offset, piece);
                inner.took(child, piece.bytes, split);
            }
        }
        if self.len() > self.most() { Some(self.split_off(self.len() / 2)) } else { None }
    }

    fn append(&mut self, piece: Piece) -> SplitOff {
        match self {
            Self::Leaf(pieces) => match pieces.last_mut() {
                Some(last) if piece.continues(*last) => last.bytes += piece.bytes,
                _ => pieces.push(piece),
            },
            Self::Inner(inner) => {
                let last = inner.children.len() - 1;
                let split = inner.children[last].append(piece);
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
    fn cut(&mut self, start: u64, end: u64, rest: &mut Option<Piece>) -> u64 {
        match self {
            Self::Leaf(pieces) => cut_out_of(pieces, start, end, rest),
            Self::Inner(inner) => inner.cut(start, end, rest),
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

    fn cut(&mut self, start: u64, end: u64, rest: &mut Option<Piece>) -> u64 {
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
                gone += bytes;
                whole.end = behind + 1;
            } else {
                let went = self.children[behind].cut(from, to, rest);
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
