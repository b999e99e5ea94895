//! Many seeds: counts, times, and the table of planted faults.

use std::fmt::Write as _;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[cfg(feature = "planted")]
use base::planted::Fault;

use crate::run::{Outcome, run};

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which seeds.
    pub seeds: Range<u64>,
    /// Threads.
    pub jobs: usize,
    /// Each seed twice, with equal traces.
    pub twice: bool,
    /// Tells what happens.
    pub verbose: bool,
    /// Where the result is written to.
    pub record: Option<PathBuf>,
    /// Which fault is planted; `all`: each in turn.
    pub planted: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seeds: 0..200, jobs: 1, twice: false, verbose: false, record: None, planted: None }
    }
}

std::thread_local! {
    static STORY: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

/// A seed that found something.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The seed.
    pub seed: u64,
    /// What it found.
    pub what: String,
}

/// Runs a seed; what it found instead of an end.
///
/// # Errors
/// What was not as it was promised.
pub fn try_seed(seed: u64, verbose: bool) -> Result<Outcome, Finding> {
    panic::catch_unwind(AssertUnwindSafe(|| run(seed, verbose)))
        .map_err(|_| Finding { seed, what: STORY.take() })
}

/// Panics are told by whoever catches them.
pub fn keep_quiet() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
        let text = info.payload().downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| info.payload().downcast_ref::<String>().cloned());
        let story = format!("{} ({})", text.unwrap_or_default(), place.unwrap_or_default());
        // The first is the cause; others may follow while things are dropped.
        STORY.with_borrow_mut(|kept| {
            if kept.is_empty() {
                *kept = story;
            }
        });
    }));
}

/// Does what was asked; whether all is well.
pub fn go(options: &Options) -> bool {
    keep_quiet();
    match &options.planted {
        None => seeds(options),
        Some(name) => faults(options, name),
    }
}

/// The command that replays a seed.
fn replay(seed: u64, planted: Option<&str>) -> String {
    let (feature, fault) = match planted {
        Some(name) => (" --features planted", format!(" --planted {name}")),
        None => ("", String::new()),
    };
    format!(
        "cargo run --profile sim -p corelode-simulate{feature} -- --seeds {seed} --verbose{fault}"
    )
}

fn seeds(options: &Options) -> bool {
    let begun = Instant::now();
    let next = AtomicU64::new(options.seeds.start);
    let total = Mutex::new((Outcome::default(), Vec::<Finding>::new(), 0u64));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= options.seeds.end {
                return;
            }
            let mut done = try_seed(seed, options.verbose);
            if let (true, Ok(first)) = (options.twice, &done) {
                let first = *first;
                done = try_seed(seed, false).and_then(|second| match first == second {
                    true => Ok(second),
                    false => Err(Finding {
                        seed,
                        what: format!("two runs differ: {first:?}, {second:?}"),
                    }),
                });
            }
            let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            total.2 += 1;
            match done {
                Ok(outcome) => total.0.add(&outcome),
                Err(finding) => {
                    println!("seed {}: {}", finding.seed, finding.what);
                    println!("  {}", replay(seed, None));
                    total.1.push(finding);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let (sum, findings, count) =
        total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let took = begun.elapsed();
    let text = summary(&sum, findings.len(), count, took, options.jobs.max(1));
    print!("{text}");
    write_record(options, &text);
    findings.is_empty()
}

fn summary(sum: &Outcome, findings: usize, count: u64, took: Duration, jobs: usize) -> String {
    let virtual_s = sum.virtual_time.as_secs_f64();
    let took_s = took.as_secs_f64();
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<42} {value}").expect("memory takes it");
    };
    line("seeds", count.to_string());
    line("violations", findings.to_string());
    line("lives of the process", sum.lives.to_string());
    line("writes acknowledged", sum.acknowledged.to_string());
    line("codes and refresh tokens used", sum.secrets.to_string());
    line("searches compared with the plain model", sum.compared.to_string());
    line("documents with too many orders to try", sum.undecided.to_string());
    line("seeds in which planted damage was told", sum.damage_told.to_string());
    line("virtual seconds", format!("{virtual_s:.0}"));
    line("seconds", format!("{took_s:.1} on {jobs} thread(s)"));
    line("milliseconds a seed", format!("{:.1}", took_s * 1000.0 * jobs as f64 / count as f64));
    line("virtual seconds a second", format!("{:.0}", virtual_s / took_s));
    text
}

impl Outcome {
    fn add(&mut self, other: &Self) {
        self.virtual_time += other.virtual_time;
        self.acknowledged += other.acknowledged;
        self.secrets += other.secrets;
        self.compared += other.compared;
        self.lives += other.lives;
        self.undecided += other.undecided;
        self.damage_told += other.damage_told;
    }
}

fn write_record(options: &Options, text: &str) {
    if let Some(path) = &options.record
        && let Err(error) = std::fs::write(path, text)
    {
        eprintln!("{}: {error}", path.display());
    }
}

#[cfg(not(feature = "planted"))]
fn faults(_options: &Options, _name: &str) -> bool {
    eprintln!("no fault can be planted in this build: it lacks the feature `planted`");
    false
}

/// Plants faults one after the other; whether each was found.
#[cfg(feature = "planted")]
fn faults(options: &Options, name: &str) -> bool {
    let chosen: Vec<Fault> = match (name, Fault::named(name)) {
        ("all", _) => Fault::ALL.to_vec(),
        (_, Some(fault)) => vec![fault],
        _ => {
            eprintln!("no fault is called [{name}]; there are {:?}", Fault::ALL);
            return false;
        }
    };
    let next = AtomicU64::new(0);
    let rows = Mutex::new(Vec::new());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(&fault) = chosen.get(at) else { return };
            let found = find(options, fault);
            match &found {
                Some(finding) => {
                    println!("{fault:?}: seed {}: {}", finding.seed, finding.what);
                }
                None => println!("{fault:?}: NOT FOUND in {:?}", options.seeds),
            }
            let mut rows = rows.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            rows.push((at, fault, found));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    rows.sort_by_key(|(at, ..)| *at);
    let found = rows.iter().filter(|(_, _, found)| found.is_some()).count();
    let mut text = String::from("| planted fault | seed | what the oracle said |\n|---|---|---|\n");
    for (_, fault, found) in &rows {
        let (seed, what) = match found {
            Some(finding) => (finding.seed.to_string(), first_line(&finding.what)),
            None => (format!("none in {:?}", options.seeds), String::new()),
        };
        writeln!(text, "| `{fault:?}` | {seed} | {what} |").expect("memory takes it");
    }
    writeln!(text, "\n{found} of {} found.", rows.len()).expect("memory takes it");
    println!("\n{text}");
    if let Some((_, fault, Some(finding))) = rows.first() {
        println!("replay: {}", replay(finding.seed, Some(&format!("{fault:?}"))));
    }
    write_record(options, &text);
    found == rows.len()
}

#[cfg(feature = "planted")]
fn find(options: &Options, fault: Fault) -> Option<Finding> {
    options.seeds.clone().find_map(|seed| {
        base::planted::plant(Some(fault));
        let found = try_seed(seed, options.verbose).err();
        base::planted::plant(None);
        // A seed that finds something without the fault says nothing of it.
        found.filter(|_| try_seed(seed, false).is_ok())
    })
}

/// The beginning of what was found, fit for a table.
#[cfg(feature = "planted")]
fn first_line(what: &str) -> String {
    let line = what.lines().next().unwrap_or_default().replace('|', "/");
    // Bytes of a damaged file may stand in it.
    let line = line.replace(char::is_control, "\u{fffd}");
    let mut short: String = line.chars().take(160).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
