//! Random access: any bytes, lines and words of an archive, and where words are, without unpacking the rest.
//!
//! `arguments` is what the commands have in common, `phrase` the words that they look for, `place` where what they read
//! lies. Several archives answer as one corpus, and long answers are pulled piece by piece. A command costs what the
//! stored index makes of it; without one, the segments that it meets are decoded.

mod arguments;
mod cat;
mod extract;
mod find;
mod find_query;
mod head;
mod kwic;
mod lines;
mod phrase;
mod place;
mod query;
mod sample;
mod search;

use clap::Subcommand;

use crate::failure::Outcome;

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
pub enum Access {
    Cat(cat::Cat),
    Head(head::Head),
    Extract(extract::Extract),
    Search(search::Search),
    Count(search::Count),
    Kwic(kwic::Kwic),
    Find(find::Find),
    Sample(sample::Sample),
    Query(query::Query),
}

impl Access {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        match self {
            Self::Cat(command) => command.run(quiet),
            Self::Head(command) => command.run(quiet),
            Self::Extract(command) => command.run(quiet),
            Self::Search(command) => command.run(quiet),
            Self::Count(command) => command.run(quiet),
            Self::Kwic(command) => command.run(quiet),
            Self::Find(command) => command.run(quiet),
            Self::Sample(command) => command.run(quiet),
            Self::Query(command) => command.run(quiet),
        }
    }
}
