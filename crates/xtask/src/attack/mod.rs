//! `cargo xtask attack`: mutated archives, views and pools, on which no command may panic, hang, take much memory or
//! answer wrongly; and writing commands that are killed and signalled, of which nothing may be lost or left.
//!
//! A mutant is a function of the seed and its number. It is *raw* if bytes were changed anywhere, so that checksums tell:
//! then every answer is the victim's own or an error. Or it is *fixed*: changed inside, with checksums that hold as those
//! of a hostile file do; then every answer is that of a fresh archive of its text, if `verify` finds nothing wrong. Costs
//! some milliseconds a run; what is found is kept below `target/attack`.

mod archive;
mod child;
mod fields;
mod finding;
mod image;
mod interrupt;
mod options;
mod plain;
mod probe;
mod tally;
mod tweak;
mod victim;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tadoc_oracle::Random;

use self::child::{End, Outcome};
use self::finding::{Fault, Findings, Seen};
pub use self::options::Options;
use self::probe::{ARCHIVE, Given, Probe};
use self::tally::Tally;
use self::victim::{Files, Reference, Target, Victim, write_files};
use crate::files;
use crate::project::Project;

/// A run that takes more processor time, its threads together, hangs.
const LONGEST: Duration = Duration::from_secs(20);
/// Text of more bytes may take longer than that to go through.
const LONG_TEXT: u64 = 1 << 30;
/// Commands that are run on a raw mutant, of which most are refused for the same reason, and on a fixed one.
const PROBES_OF_RAW: u64 = 2;
const PROBES_OF_FIXED: u64 = 4;

/// Attacks until the time is over; tells whether nothing was found.
pub fn run(options: &Options) -> Result<bool> {
    child::stay_small();
    let project = Project::find()?;
    let binary = match &options.binary {
        Some(binary) => std::path::absolute(binary)?,
        None => project.command()?,
    };
    let start = Instant::now();
    let findings = Findings::new(&project.target.join("attack"))?;
    let scratch = scratch(&project)?;
    let workshop = scratch.path().join("workshop");
    files::create_folder(&workshop)?;
    let victims = victim::all(&binary, &project.root.join("testdata/sample"), &workshop)?;
    ensure_mended(&victims)?;
    println!("seed {}, {} victims, binary {}", options.seed, victims.len(), binary.display());
    let attack = Attack {
        binary,
        victims,
        seed: options.seed,
        scratch: scratch.path().to_owned(),
        findings: Mutex::new(findings),
        tally: Mutex::new(Tally::default()),
    };
    attack.run_victims(options.jobs)?;
    attack.mutate(options.jobs, Instant::now() + Duration::from_secs(options.seconds))?;
    if options.kills + options.signals > 0 {
        interrupt::run(&attack, options.jobs, options.kills, options.signals)?;
    }
    let findings = attack.findings.into_inner().expect("no thread panicked");
    let tally = attack.tally.into_inner().expect("no thread panicked");
    print!("{}", tally.summary(&findings));
    if let Some(path) = &options.write {
        let head = options::head(&project, options, start.elapsed());
        files::write(path, tally.markdown(&findings, &head).as_bytes())?;
    }
    Ok(findings.all.is_empty())
}

/// A folder in memory where the system has such a place: mutants are written and read thousands of times.
fn scratch(project: &Project) -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    let above = if memory.is_dir() { memory } else { &project.target };
    tempfile::Builder::new()
        .prefix("tadoc-attack-")
        .tempdir_in(above)
        .with_context(|| format!("making a folder in {}", above.display()))
}

/// Checks that what makes checksums hold leaves alone what is whole: else mutants would be refused for the wrong reason.
fn ensure_mended(victims: &[Victim]) -> Result<()> {
    for victim in victims {
        let bytes = victim.bytes();
        let mut mended = bytes.to_vec();
        match victim.target {
            Target::Archive => mended = archive::rewritten(bytes),
            Target::View => tadoc_testing::mend_view(&mut mended),
            Target::Pool => tadoc_testing::mend_pool(&mut mended),
        }
        ensure!(mended == bytes, "mending a whole {} changes it", victim.kind);
    }
    Ok(())
}

/// What all threads share.
struct Attack {
    binary: PathBuf,
    victims: Vec<Victim>,
    seed: u64,
    scratch: PathBuf,
    findings: Mutex<Findings>,
    tally: Mutex<Tally>,
}

/// A victim that was changed.
struct Mutant<'v> {
    victim: &'v Victim,
    number: u64,
    /// What was done to it, and in detail.
    how: &'static str,
    detail: &'static str,
    fixed: bool,
    files: Files,
}

/// The folders that one thread works in.
struct Folders {
    mutant: PathBuf,
    reference: PathBuf,
}

impl Folders {
    fn new(scratch: &Path, job: usize) -> Result<Self> {
        let folders = Self {
            mutant: scratch.join(format!("mutant-{job}")),
            reference: scratch.join(format!("reference-{job}")),
        };
        files::create_folder(&folders.mutant)?;
        files::create_folder(&folders.reference)?;
        Ok(folders)
    }
}

/// A generator for each mutant: neighbouring numbers have nothing in common.
fn random_of(seed: u64, number: u64) -> Random {
    let mut random = Random::new(
        seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .wrapping_mul(0xD6E8_FEB8_6659_FD93),
    );
    for _ in 0..8 {
        random.next_u64();
    }
    random
}

/// Which kind of mutation one belongs to.
fn kind_of(detail: &'static str) -> &'static str {
    match detail {
        "number" | "list" | "frame" | "bytes" | "fields" => "field",
        "journal" | "journal payload" | "journal large" => "journal",
        "table" | "header" => "table",
        "view header" | "view array" => "view",
        "pool checkpoint" | "pool table" | "pool blocks" => "pool",
        other => other,
    }
}

impl Attack {
    /// Does work on some threads; the first error ends all of it.
    fn on_threads(&self, jobs: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs)
                .map(|job| {
                    scope.spawn({
                        let work = &work;
                        move || work(job)
                    })
                })
                .collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panicks"))
        })
    }

    /// Runs every probe on every victim as it is: what is found then needs no mutation.
    fn run_victims(&self, jobs: usize) -> Result<()> {
        let next = AtomicU64::new(0);
        self.on_threads(jobs, |job| {
            let folders = Folders::new(&self.scratch, job)?;
            while let Some(victim) = self.victims.get(next.fetch_add(1, Ordering::Relaxed) as usize)
            {
                let files = victim.references[0].files.clone();
                let mutant =
                    Mutant { victim, number: 0, how: "none", detail: "none", fixed: false, files };
                self.count_mutant(&mutant);
                for (place, probe) in victim.probes.iter().enumerate() {
                    let given = self.probe(&mutant, probe, &folders)?;
                    let _ = victim.references[0].given[place].set(given);
                }
            }
            Ok(())
        })
    }

    /// Makes mutants and runs commands on them until the time is over.
    fn mutate(&self, jobs: usize, end: Instant) -> Result<()> {
        let next = AtomicU64::new(1);
        self.on_threads(jobs, |job| {
            let folders = Folders::new(&self.scratch, job)?;
            while Instant::now() < end {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let mut random = random_of(self.seed, number);
                let mutant = self.mutant(number, &mut random);
                self.attack(&mutant, &mut random, &folders)?;
            }
            Ok(())
        })
    }

    /// Makes a mutant.
    fn mutant(&self, number: u64, random: &mut Random) -> Mutant<'_> {
        // As often an archive as a view or a pool: archives have more to go wrong, and pools more than views.
        let target = *random.choose(&[
            Target::Archive,
            Target::Archive,
            Target::Archive,
            Target::View,
            Target::Pool,
            Target::Pool,
        ]);
        let of_target: Vec<&Victim> =
            self.victims.iter().filter(|victim| victim.target == target).collect();
        let victim = *random.choose(&of_target);
        let other = random.choose(&of_target).bytes();
        let fixed = random.below(8) >= 3;
        let (bytes, detail) = match (fixed, target) {
            (false, _) => raw(victim.bytes(), other, random),
            (true, Target::Archive) => archive::mutate(victim.bytes(), other, random),
            (true, Target::View) => image::mutate_view(victim.bytes(), random),
            (true, Target::Pool) => image::mutate_pool(victim.bytes(), random),
        };
        let mut files = victim.references[0].files.clone();
        for (name, old) in &mut files {
            if *name == target.file() {
                old.clone_from(&bytes);
            }
        }
        let how = if fixed { kind_of(detail) } else { "raw" };
        Mutant { victim, number, how, detail, fixed, files }
    }

    /// Runs some commands on a mutant.
    fn attack(&self, mutant: &Mutant<'_>, random: &mut Random, folders: &Folders) -> Result<()> {
        self.count_mutant(mutant);
        let victim = mutant.victim;
        let of_archive = victim.target == Target::Archive;
        // A fixed view or pool may give wrong answers: view.md 7, pool.md 6.
        let fresh = match (mutant.fixed, of_archive) {
            (true, true) => self.fresh(mutant, folders)?,
            _ => None,
        };
        let probes = if mutant.fixed { PROBES_OF_FIXED } else { PROBES_OF_RAW };
        for _ in 0..probes {
            let place = random.below(victim.probes.len() as u64) as usize;
            let probe = &victim.probes[place];
            let Some(given) = self.probe(mutant, probe, folders)? else { continue };
            let rights: Vec<&Reference> = match (mutant.fixed, &fresh) {
                (false, _) => victim.references.iter().collect(),
                (true, Some(fresh)) => vec![fresh],
                (true, None) => continue,
            };
            let mut known = false;
            let mut right = false;
            for reference in rights {
                let expected = self.expected(victim, reference, place, folders)?;
                known |= expected.is_some();
                right |= expected.is_some_and(|expected| given.agrees(&expected));
                if right {
                    break;
                }
            }
            self.tally.lock().expect("no thread panicked").compared += u64::from(known);
            if known && !right {
                let told = "the answer is not that of the text";
                self.found(Fault::WrongAnswer, mutant, probe, told)?;
            }
        }
        Ok(())
    }

    /// A fresh archive of a fixed mutant's text, if `verify` finds nothing wrong with the mutant.
    fn fresh(&self, mutant: &Mutant<'_>, folders: &Folders) -> Result<Option<Reference>> {
        let victim = mutant.victim;
        let verify = victim.probes.iter().find(|probe| probe.name() == "verify");
        let Some(verify) = verify else { return Ok(None) };
        if self.probe(mutant, verify, folders)?.is_none() {
            return Ok(None);
        }
        let fresh = plain::fresh(&self.binary, &folders.mutant, &folders.reference)?;
        Ok(fresh.map(|bytes| Reference::new(vec![(ARCHIVE, bytes)], victim.probes.len())))
    }

    /// Runs a command on a mutant, and takes note of what is wrong with the run itself; gives the answer, if there is
    /// one.
    fn probe(
        &self,
        mutant: &Mutant<'_>,
        probe: &Probe,
        folders: &Folders,
    ) -> Result<Option<Given>> {
        let folder = &folders.mutant;
        self.prepare(folder, mutant.victim, &mutant.files)?;
        let run = child::run(&self.binary, folder, &probe.arguments, LONGEST)?;
        self.count_run(mutant, probe, &run);
        if let Some(fault) = Fault::of(&run, &mutant.files) {
            self.found(fault, mutant, probe, &run.stderr)?;
            return Ok(None);
        }
        if run.end == End::TimedOut {
            self.took_too_long(mutant, probe, folder)?;
            return Ok(None);
        }
        probe.given(&self.binary, folder, &run)
    }

    /// Takes note of a hang, unless there is just much text to go through.
    fn took_too_long(&self, mutant: &Mutant<'_>, probe: &Probe, folder: &Path) -> Result<()> {
        self.prepare(folder, mutant.victim, &mutant.files)?;
        let arguments = ["info", ARCHIVE, "--json"].map(str::to_owned);
        let info = child::run(&self.binary, folder, &arguments, LONGEST)?;
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap_or_default();
        if probe.reads_all && info["text_bytes"].as_u64().is_some_and(|bytes| bytes > LONG_TEXT) {
            self.tally.lock().expect("no thread panicked").endless += 1;
            return Ok(());
        }
        self.found(
            Fault::Hang,
            mutant,
            probe,
            &format!("not done after {LONGEST:?} of the processor"),
        )
    }

    /// What a probe gives on files that are whole.
    fn expected(
        &self,
        victim: &Victim,
        reference: &Reference,
        place: usize,
        folders: &Folders,
    ) -> Result<Option<Given>> {
        if let Some(given) = reference.given[place].get() {
            return Ok(given.clone());
        }
        let folder = &folders.reference;
        self.prepare(folder, victim, &reference.files)?;
        let probe = &victim.probes[place];
        let run = child::run(&self.binary, folder, &probe.arguments, 6 * LONGEST)?;
        let given = probe.given(&self.binary, folder, &run)?;
        Ok(reference.given[place].get_or_init(|| given).clone())
    }

    fn prepare(&self, folder: &Path, victim: &Victim, files: &Files) -> Result<()> {
        probe::clean(folder)?;
        probe::write_inputs(folder, &victim.asked)?;
        write_files(folder, files)
    }

    fn found(&self, fault: Fault, mutant: &Mutant<'_>, probe: &Probe, told: &str) -> Result<()> {
        let Mutant { victim, number, how, detail, files, .. } = mutant;
        let seen = Seen {
            mutant: format!(
                "{}, {how} {detail}, mutant {number} of seed {}",
                victim.kind, self.seed
            ),
            command: probe.name(),
            line: probe.shown(),
            files,
            told,
        };
        let mut findings = self.findings.lock().expect("no thread panicked");
        let folder = findings.add(fault, &seen)?;
        match folder {
            Some(folder) => probe::write_inputs(&folder, &victim.asked),
            None => Ok(()),
        }
    }

    fn count_mutant(&self, mutant: &Mutant<'_>) {
        let mut tally = self.tally.lock().expect("no thread panicked");
        *tally.mutants.entry((mutant.victim.kind, mutant.how)).or_default() += 1;
    }

    fn count_run(&self, mutant: &Mutant<'_>, probe: &Probe, run: &Outcome) {
        let mut tally = self.tally.lock().expect("no thread panicked");
        *tally.commands.entry(probe.name().to_owned()).or_default() += 1;
        *tally.exits.entry(run.code().unwrap_or(-1)).or_default() += 1;
        let of = || format!("{} of {}, {}", probe.name(), mutant.victim.kind, mutant.how);
        tally.time.see(run.wall, of);
        tally.memory.see(run.peak_bytes, of);
    }
}

/// A mutant that was changed anywhere, or is made of two.
fn raw(bytes: &[u8], other: &[u8], random: &mut Random) -> (Vec<u8>, &'static str) {
    let mut mutant = bytes.to_vec();
    if random.below(12) == 0 {
        let at = random.below(bytes.len() as u64) as usize;
        let from = random.below(other.len() as u64) as usize;
        mutant.truncate(at);
        mutant.extend(&other[from..]);
        return (mutant, "splice");
    }
    let mut done = "none";
    for _ in 0..1 + random.below(3) {
        done = tweak::any(&mut mutant, random);
    }
    (mutant, done)
}
