//! `cargo xtask test`: everything that must hold before a change is taken, step after step. What a
//! step needs is installed below the target folder; where that cannot be, the step is skipped and
//! says why.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::process::succeeds;
use crate::project::{Project, WITH_ALL_FEATURES};
use crate::{api, debian, files, fuzz};

/// Each fuzzer runs for so many seconds.
const FUZZ_SECONDS: u32 = 8;
/// Mutants are made for so many seconds; then so many writing commands are killed, and signalled.
const ATTACK: [&str; 6] = ["--seconds", "60", "--kills", "52", "--signals", "78"];

/// A step, by its name.
type Step = (&'static str, fn(&Run) -> Result<Outcome>);

const STEPS: [Step; 13] = [
    ("fmt", format),
    ("clippy", clippy),
    ("ripgrep", ripgrep),
    ("gpu", gpu),
    ("test", test),
    ("features", features),
    ("doctest", doctest),
    ("api", api),
    ("doc", doc),
    ("python", python),
    ("formats", formats),
    ("fuzz", fuzz),
    ("attack", attack),
];

/// How a step ended, if it did not fail; with some words about it.
enum Outcome {
    Passed(String),
    Skipped(String),
}

/// Which steps to run.
pub struct Options {
    names: Vec<&'static str>,
}

impl Options {
    /// Reads `[STEP...] [--quick]`; an error says what is wrong with it.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut names = Vec::new();
        let mut quick = false;
        for argument in arguments {
            match STEPS.iter().find(|(name, _)| name == argument) {
                Some((name, _)) => names.push(*name),
                None if argument == "--quick" => quick = true,
                None => return Err(format!("there is no step '{argument}'")),
            }
        }
        if names.is_empty() {
            names = STEPS.iter().map(|(name, _)| *name).collect();
        }
        names.retain(|name| !quick || !["fuzz", "attack"].contains(name));
        Ok(Self { names })
    }
}

/// A step that runs, and the file that its commands' output goes to.
struct Run {
    project: Project,
    log: File,
}

/// Runs the steps; tells whether none failed.
pub fn run(options: &Options) -> Result<bool> {
    let start = Instant::now();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, step) in STEPS.iter().filter(|(name, _)| options.names.contains(name)) {
        let project = Project::find()?;
        let folder = project.target.join("xtask");
        files::create_folder(&folder)?;
        let path = folder.join(format!("{name}.log"));
        let log = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
        if std::io::stdout().is_terminal() {
            print!("{name:<8} …\r");
            std::io::stdout().flush()?;
        }
        let begin = Instant::now();
        let result = step(&Run { project, log });
        let seconds = begin.elapsed().as_secs_f64();
        let (word, about) = match &result {
            Ok(Outcome::Passed(about)) => ("passed", about.clone()),
            Ok(Outcome::Skipped(why)) => ("skipped", why.clone()),
            Err(error) => ("FAILED", format!("{error:#}")),
        };
        println!("{}", format!("{name:<8} {word:<8} {seconds:6.1} s  {about}").trim_end());
        match result {
            Ok(Outcome::Passed(_)) => passed += 1,
            Ok(Outcome::Skipped(_)) => skipped += 1,
            Err(_) => {
                failed += 1;
                let output =
                    fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
                println!("{}", String::from_utf8_lossy(&output));
            }
        }
    }
    println!(
        "{passed} passed, {failed} failed, {skipped} skipped in {:.0} s",
        start.elapsed().as_secs_f64()
    );
    Ok(failed == 0)
}

impl Run {
    /// Cargo, with its output in the log.
    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.cargo();
        command.args(arguments);
        command
    }

    /// Runs a command to its end, with its output in the log.
    fn run(&self, command: &mut Command) -> Result<()> {
        let log = || self.log.try_clone().map(Stdio::from);
        command.stdin(Stdio::null()).stdout(log()?).stderr(log()?);
        let shown = command.get_program().to_string_lossy().into_owned();
        let status = command.status().with_context(|| format!("cannot run {shown}"))?;
        if !status.success() {
            bail!("{status}");
        }
        Ok(())
    }

    /// Whether a component of the toolchain is there, after an attempt to install it.
    fn has_component(&self, subcommand: &str, component: &str) -> bool {
        succeeds(&mut self.cargo(&[subcommand, "--version"]))
            || (succeeds(Command::new("rustup").args(["component", "add", component]))
                && succeeds(&mut self.cargo(&[subcommand, "--version"])))
    }

    /// Python in a folder of its own, with packages that are installed if what imports them fails;
    /// an error says what is not there.
    fn python_with(&self, packages: &[&str], import: &str) -> Result<PathBuf, &'static str> {
        let folder = self.project.target.join("venv");
        let python = folder.join("bin/python");
        let works = || succeeds(Command::new(&python).args(["-m", "pip", "--version"]));
        if !works() {
            let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder));
            if !made || !works() {
                return Err("python3 with venv and pip is not there");
            }
        }
        if !succeeds(Command::new(&python).args(["-c", import])) {
            let mut install = Command::new(&python);
            install.args(["-m", "pip", "install", "--disable-pip-version-check"]).args(packages);
            if self.run(&mut install).is_err() {
                return Err("pip cannot install what is needed");
            }
        }
        Ok(python)
    }

    /// The last line of the log that has this in it.
    fn line_with(&self, name: &str, text: &str) -> String {
        let path = self.project.target.join("xtask").join(format!("{name}.log"));
        let output = fs::read(path).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        output.lines().rev().find(|line| line.contains(text)).unwrap_or_default().trim().to_owned()
    }
}

fn passed() -> Result<Outcome> {
    Ok(Outcome::Passed(String::new()))
}

fn skipped(why: &str) -> Result<Outcome> {
    Ok(Outcome::Skipped(why.to_owned()))
}

fn format(run: &Run) -> Result<Outcome> {
    if !run.has_component("fmt", "rustfmt") {
        return skipped("rustfmt is not there and cannot be installed");
    }
    run.run(&mut run.cargo(&["fmt", "--all", "--check"]))?;
    run.run(&mut run.cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    passed()
}

fn clippy(run: &Run) -> Result<Outcome> {
    if !run.has_component("clippy", "clippy") {
        return skipped("clippy is not there and cannot be installed");
    }
    run.run(&mut run.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    passed()
}

/// What the tests compare `tadoc grep` with, installed if that can be.
fn ripgrep(_: &Run) -> Result<Outcome> {
    let version = || Command::new("rg").arg("--version").output().ok();
    if version().is_none() {
        debian::install(&["ripgrep"]);
    }
    let Some(output) = version() else {
        return skipped(
            "ripgrep is not there and cannot be installed: grep is compared with nothing",
        );
    };
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(Outcome::Passed(output.lines().next().unwrap_or_default().to_owned()))
}

/// The kernels: run on the processor by PoCL, and compiled for CUDA by NVIDIA's compiler, which
/// needs no GPU either. Both are installed if that can be. What other crates test on devices
/// follows in the step `test`.
fn gpu(run: &Run) -> Result<Outcome> {
    const FIND_COMPILER: &str = "import pathlib, nvidia
found = [path for folder in nvidia.__path__ for path in pathlib.Path(folder).rglob('libnvrtc.so*')]
print(found[0].parent)";
    if !has_opencl() {
        debian::install(&["pocl-opencl-icd", "ocl-icd-libopencl1"]);
    }
    let mut without = Vec::new();
    let mut command = run.cargo(&["test", "--lib", "--test", "nvrtc"]);
    command.args(WITH_ALL_FEATURES);
    let devices = DeviceTests::of(run, "gpu", &mut command)?;
    if devices.is_none() {
        without.push("kernels are not run, as there is no OpenCL and PoCL cannot be installed");
    }
    let compiler = run.python_with(&["nvidia-cuda-nvrtc"], FIND_COMPILER).ok().and_then(|python| {
        let found = Command::new(python).args(["-c", FIND_COMPILER]).output().ok()?;
        let folder = String::from_utf8(found.stdout).ok()?.trim().to_owned();
        (!folder.is_empty()).then_some(folder)
    });
    match compiler {
        Some(folder) => {
            let before = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
            command.env("LD_LIBRARY_PATH", format!("{folder}:{before}").trim_end_matches(':'));
            command.env("TADOC_TEST_NVRTC", "1");
        }
        None => without
            .push("kernels are not compiled for CUDA, as nvidia-cuda-nvrtc cannot be installed"),
    }
    run.run(&mut command)?;
    match without.len() {
        2 => skipped(&without.join("; ")),
        _ => {
            let ran = devices.map(|devices| devices.ran()).transpose()?;
            let about: Vec<&str> = ran.iter().map(String::as_str).chain(without).collect();
            Ok(Outcome::Passed(about.join("; ")))
        }
    }
}

/// Whether some OpenCL driver is installed.
fn has_opencl() -> bool {
    let folder = fs::read_dir("/etc/OpenCL/vendors").into_iter().flatten();
    folder.flatten().any(|file| file.path().extension().is_some_and(|ending| ending == "icd"))
}

/// The tests of a step that work on devices. There are drivers, so that a missing device is a
/// failure, and each of them tells that it was given one.
struct DeviceTests(PathBuf);

impl DeviceTests {
    /// Has the tests of a command tell; `None` if there are no drivers.
    fn of(run: &Run, step: &str, command: &mut Command) -> Result<Option<Self>> {
        if !has_opencl() {
            return Ok(None);
        }
        let path = run.project.target.join("xtask").join(format!("{step}.devices"));
        files::write(&path, b"")?;
        command.env("TADOC_TEST_DEVICE", "opencl").env("TADOC_TEST_DEVICE_LOG", &path);
        Ok(Some(Self(path)))
    }

    /// How many ran; none is an error.
    fn ran(&self) -> Result<String> {
        let told =
            fs::read_to_string(&self.0).with_context(|| format!("reading {}", self.0.display()))?;
        let count = told.lines().collect::<BTreeSet<_>>().len();
        ensure!(count > 0, "no test ran on a device, though there are OpenCL drivers");
        Ok(format!("{count} tests ran on OpenCL"))
    }
}

fn test(run: &Run) -> Result<Outcome> {
    let others = ["--workspace", "--exclude", "tadoc-gpu", "--no-fail-fast"];
    let has_nextest = succeeds(&mut run.cargo(&["nextest", "--version"]));
    let mut command = match has_nextest {
        true => run.cargo(&["nextest", "run"]),
        false => run.cargo(&["test", "--lib", "--bins", "--tests"]),
    };
    let devices = DeviceTests::of(run, "test", command.args(others))?;
    run.run(&mut command)?;
    let devices = match devices {
        Some(devices) => devices.ran()?,
        None => "those on devices skipped, as there is no OpenCL".to_owned(),
    };
    let summary = if has_nextest { run.line_with("test", "Summary") } else { String::new() };
    let about = if summary.is_empty() { devices } else { format!("{summary}; {devices}") };
    Ok(Outcome::Passed(about))
}

/// The engine and the command with fewer features: lints of each set, and quick tests of what it
/// has.
fn features(run: &Run) -> Result<Outcome> {
    const ENGINE: [&str; 3] = ["--package", "tadoc-engine", "--no-default-features"];
    const SETS: [(&str, &[&str]); 3] = [
        ("", &["every_case", "answers::", "round_trip::"]),
        ("tadoc-engine/gpu,tadoc-cli/gpu", &["answers::", "devices::"]),
        ("tadoc-engine/pool,tadoc-cli/pool", &["answers::", "pools::what_"]),
    ];
    for (features, tests) in SETS {
        let with = |command: &str| {
            let mut command = run.cargo(&[command, "--features", features]);
            command.args(WITH_ALL_FEATURES).args(ENGINE);
            command
        };
        run.run(with("clippy").args(["--all-targets", "--", "-D", "warnings"]))?;
        let mut test = with("test");
        run.run(test.args(["--test", "distinct_words", "--test", "command", "--"]).args(tests))?;
    }
    passed()
}

/// Examples, and the Rust code of the documents, all of which are compiled.
fn doctest(run: &Run) -> Result<Outcome> {
    let compiled = run.project.root.join("crates/tadoc/src/guides.rs");
    let compiled = fs::read_to_string(&compiled).context("reading the list of documents")?;
    let root = &run.project.root;
    let documents = fs::read_dir(root.join("docs")).context("listing docs")?;
    let documents = documents.collect::<Result<Vec<_>, _>>()?.into_iter().map(|file| file.path());
    for path in documents.chain([root.join("README.md")]) {
        let name = path.strip_prefix(root)?.display().to_string();
        let is_text = name.ends_with(".md");
        if is_text && fs::read_to_string(&path)?.contains("```rust") {
            let is_compiled = compiled.contains(&format!("/{name}\""));
            ensure!(is_compiled, "{name} has Rust code and is not in crates/tadoc/src/guides.rs");
        }
    }
    run.run(&mut run.cargo(&["test", "--workspace", "--doc"]))?;
    passed()
}

/// The API of the library that people use, against the list that is committed.
fn api(run: &Run) -> Result<Outcome> {
    if !run.project.folder_of(api::PACKAGE).is_dir() {
        return skipped("there is no package tadoc yet");
    }
    Ok(Outcome::Passed(api::compare(&run.project, api::PACKAGE)?))
}

fn doc(run: &Run) -> Result<Outcome> {
    let mut command = run.cargo(&["doc", "--workspace", "--no-deps"]);
    run.run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    passed()
}

/// The decoder in Python that was written from the document alone.
fn python(run: &Run) -> Result<Outcome> {
    let docs = run.project.root.join("docs");
    if !docs.join("test_decoder.py").exists() {
        return skipped("there is no docs/test_decoder.py");
    }
    let python = match run.python_with(&["zstandard"], "import zstandard") {
        Ok(python) => python,
        Err(why) => return skipped(why),
    };
    run.run(Command::new(&python).args(["-m", "unittest"]).current_dir(&docs))?;
    Ok(Outcome::Passed(run.line_with("python", "Ran ")))
}

/// Rows in every format, loaded by the programs that people load them with.
fn formats(run: &Run) -> Result<Outcome> {
    // pandas reads .zst with zstandard.
    let packages = ["pyarrow", "polars", "pandas", "duckdb", "zstandard"];
    let python = match run.python_with(&packages, &format!("import {}", packages.join(", "))) {
        Ok(python) => python,
        Err(why) => return skipped(why),
    };
    let command = run.project.command()?;
    let script = run.project.root.join("crates/cli/tests/formats.py");
    run.run(Command::new(&python).arg(script).arg(command))?;
    Ok(Outcome::Passed(run.line_with("formats", "loaded")))
}

fn fuzz(run: &Run) -> Result<Outcome> {
    if let Err(error) = fuzz::install(&run.project) {
        writeln!(&run.log, "{error:#}")?;
        return skipped("cargo-fuzz cannot be installed");
    }
    let log = Some(&run.log);
    fuzz::write_seeds(&run.project)?;
    fuzz::build(&run.project, log)?;
    let mut counts = Vec::new();
    for target in fuzz::TARGETS {
        fuzz::run_target(&run.project, target, FUZZ_SECONDS, log)?;
        let line = run.line_with("fuzz", "Done ");
        let runs = line.split_whitespace().nth(1).unwrap_or("some").to_owned();
        counts.push(format!("{target} {runs}"));
    }
    Ok(Outcome::Passed(format!("runs: {}", counts.join(", "))))
}

/// Mutants, kills and signals, with the command that the tests have built.
fn attack(run: &Run) -> Result<Outcome> {
    let this = std::env::current_exe().context("finding this program")?;
    run.run(Command::new(this).arg("attack").args(ATTACK))?;
    Ok(Outcome::Passed(run.line_with("attack", " mutants, ")))
}
