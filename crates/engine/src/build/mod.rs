//! From bytes to a grammar: lexer, dictionary, grammar builders.

pub mod again;
pub mod builder;
pub mod dictionary;
pub mod interner;
pub mod lexer;
pub mod order;
pub mod part;
pub mod prune;
pub mod repair;
pub mod sequitur;
