//! `tadoc completions`: what a shell needs to complete the command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::{Arguments, examples};
use crate::failure::Outcome;
use crate::output;

/// Print a shell's completions
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc completions bash > ~/.local/share/bash-completion/completions/tadoc"
    "tadoc completions zsh > ~/.zfunc/_tadoc"
    "tadoc completions fish > ~/.config/fish/completions/tadoc.fish"
))]
pub struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "tadoc", &mut script);
        output::print_text(&String::from_utf8(script)?)?;
        Ok(Outcome::Done)
    }
}
