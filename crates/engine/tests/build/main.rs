//! What compressing is made of: lexers, dictionaries, builders of grammars.

mod again;
mod lexer;
mod order;
mod part;
mod repair;
mod sequitur;
mod words;
