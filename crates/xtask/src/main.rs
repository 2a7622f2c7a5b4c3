//! `cargo xtask`: what people and continuous integration run on the repository.

mod api;
mod attack;
mod awkward;
mod bench;
mod corpus;
mod dax;
mod debian;
mod files;
mod fuzz;
mod golden;
mod process;
mod project;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  corpus [NAME...] [--to DIR]   make the corpora that benchmarks and larger tests use
  bench compress|scale|analytics|access|edit|grep|gpu|pool
                                measure tadoc beside other compressors, and its analytics beside plain text;
                                `bench --help` says more
  fuzz [TARGET...] [--seconds N]
                                run fuzzers (lexer, builders, archive, index, journal, view,
                                pool, round_trip, grep, operations) for 60 or N seconds each;
                                --seeds only writes what they start from
  test [STEP...] [--quick]      run what must hold before a change is taken: fmt, clippy, ripgrep, gpu, test, features,
                                doctest, api, doc, python, fuzz, attack; --quick leaves out the last two
  api [PACKAGE] [--write]       compare the public items of a package (default: tadoc) with those in its api.txt,
                                or write them there
  attack [--seconds N] [--seed S] [--binary PATH] [--jobs N] [--kills N] [--signals N] [--write FILE]
                                run the command on mutated archives, views and pools for 60 or N seconds, then kill
                                and signal N writing commands; what is found is in target/attack
  dax [--cuts N]                run the pool's tests and the command in a guest of QEMU with persistent memory, and cut
                                its power 6 or N times
  golden                        make the golden archives in testdata/golden anew; only for a new format
  help                          print this

Corpora (default: small), each a folder of DIR (default: target/corpora):
  small         16 MB of device bindings, HTML, records, seven languages, prose and a log
  medium        1.6 GB: sources, API pages, records, languages, RFCs and a log
  large         3.9 GB: the same kinds, whole
  awkward       130 MB, generated: encodings, NULs, line ends, long words, odd file names
  big-awkward   400 MB, generated: a huge vocabulary, one long line, 100,000 files

The first three are made of Debian packages and archive indices, from the archive that apt is set up
with or the one that DEBIAN_MIRROR names (run `apt-get update` before). What was fetched is kept in
DIR/.cache.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("corpus") => corpus::Options::parse(&arguments[1..]).map(corpus::run),
        Some("bench") => Ok(bench::run(&arguments[1..])),
        Some("fuzz") => fuzz::Options::parse(&arguments[1..]).map(|options| fuzz::run(&options)),
        Some("test") => test::Options::parse(&arguments[1..]).map(|options| {
            // What failed was shown, and the last line is said.
            if test::run(&options)? { Ok(()) } else { std::process::exit(1) }
        }),
        Some("api") => api::Options::parse(&arguments[1..]).map(|options| api::run(&options)),
        Some("attack") => attack::Options::parse(&arguments[1..]).map(|options| {
            // What was found was shown, and the last line is said.
            if attack::run(&options)? { Ok(()) } else { std::process::exit(1) }
        }),
        Some("dax") => dax::Options::parse(&arguments[1..]).map(|options| dax::run(&options)),
        Some("golden") if arguments.len() == 1 => Ok(golden::run()),
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(Ok(()))
        }
        Some(other) => Err(format!("there is no command '{other}'")),
    };
    match result {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
        Err(usage) => {
            eprintln!("error: {usage}; see `cargo xtask help`");
            ExitCode::from(2)
        }
    }
}
