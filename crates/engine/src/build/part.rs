//! Parts of a grammar that are grammars themselves.
//!
//! Cost: O(symbols of the part and rules of the whole).
