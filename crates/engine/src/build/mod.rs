//! From bytes to a grammar: lexer, dictionary, grammar builders.

pub mod builder;
pub mod interner;
pub mod lexer;
pub mod repair;
