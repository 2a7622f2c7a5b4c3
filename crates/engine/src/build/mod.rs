//! From bytes to a grammar: lexer, dictionary, grammar builders.

pub mod builder;
pub mod order;
pub mod sequitur;
