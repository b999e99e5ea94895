//! `oracle find|rights`: random questions to a node in this process, held against a plain reading.
//!
//! `oracle find --seconds 600` runs seeds one after the other and tells every difference with the command
//! that shows it again; `oracle find --seed 7` runs one; `oracle find --case file.json` a case that was
//! written down. `--shrink` makes what fails smaller and prints it.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use json::Value;
use oracle::find::run::{Counts, Difference};
use oracle::{ask, find, rights, shrink};

/// Which questions are asked.
#[derive(Clone, Copy)]
enum Judge {
    Find,
    Rights,
}

impl Judge {
    fn name(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Rights => "rights",
        }
    }

    fn case(self, seed: u64) -> Value {
        match self {
            Self::Find => ask::case(seed),
            Self::Rights => rights::ask::case(seed),
        }
    }

    fn run(self, case: &Value) -> Result<Counts, Difference> {
        match self {
            Self::Find => find::run::run(case),
            Self::Rights => rights::run::run(case),
        }
    }
}

struct Options {
    judge: Judge,
    seconds: u64,
    first: u64,
    one: Option<u64>,
    case: Option<String>,
    shrink: bool,
    print: bool,
    most: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = read(&arguments) else {
        eprintln!(
            "usage: oracle find|rights [--seconds N] [--from SEED] [--seed SEED] [--case FILE] [--shrink] [--failures N]"
        );
        return ExitCode::from(2);
    };
    // A panic of the node is a difference like others; its text is told with the seed.
    panic::set_hook(Box::new(|_| {}));
    seeds(&options)
}

fn read(arguments: &[String]) -> Option<Options> {
    let mut rest = arguments.iter();
    let judge = match rest.next()?.as_str() {
        "find" => Judge::Find,
        "rights" => Judge::Rights,
        _ => return None,
    };
    let mut options = Options {
        judge,
        seconds: 60,
        first: 1,
        one: None,
        case: None,
        shrink: false,
        print: false,
        most: 1,
    };
    while let Some(name) = rest.next() {
        match name.as_str() {
            "--seconds" => options.seconds = rest.next()?.parse().ok()?,
            "--from" => options.first = rest.next()?.parse().ok()?,
            "--seed" => options.one = Some(rest.next()?.parse().ok()?),
            "--case" => options.case = Some(rest.next()?.clone()),
            "--failures" => options.most = rest.next()?.parse().ok()?,
            "--shrink" => options.shrink = true,
            "--print" => options.print = true,
            _ => return None,
        }
    }
    Some(options)
}

/// Runs a case; a panic is a difference.
fn safely(judge: Judge, case: &Value) -> Result<Counts, Difference> {
    panic::catch_unwind(AssertUnwindSafe(|| judge.run(case))).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("?");
        Err(Difference { step: usize::MAX, what: format!("panic: {text}") })
    })
}

fn seeds(options: &Options) -> ExitCode {
    if let Some(path) = &options.case {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        };
        let Ok(case) = json::parse(&text) else {
            eprintln!("{path}: no JSON");
            return ExitCode::from(2);
        };
        return one(&case, options, path);
    }
    if let (Some(seed), true) = (options.one, options.print) {
        let text = json::to_vec(&options.judge.case(seed));
        println!("{}", String::from_utf8_lossy(&json::pretty(&text)));
        return ExitCode::SUCCESS;
    }
    if let Some(seed) = options.one {
        return one(&options.judge.case(seed), options, &format!("seed {seed}"));
    }
    let begin = Instant::now();
    let (mut total, mut cases, mut failures) = (Counts::default(), 0, 0);
    let mut seed = options.first;
    while begin.elapsed() < Duration::from_secs(options.seconds) && failures < options.most {
        let case = options.judge.case(seed);
        cases += 1;
        match safely(options.judge, &case) {
            Ok(counts) => {
                total.checked += counts.checked;
                total.skipped += counts.skipped;
                total.found += counts.found;
            }
            Err(difference) => {
                failures += 1;
                tell(&case, &difference, options, &format!("seed {seed}"));
                let name = options.judge.name();
                println!("again: cargo run -p corelode-oracle -- {name} --seed {seed} --shrink\n");
            }
        }
        seed += 1;
    }
    println!(
        "{cases} cases from seed {} in {} s: {} answers checked over {} documents found, {} without an opinion, {failures} differences",
        options.first,
        begin.elapsed().as_secs(),
        total.checked,
        total.found,
        total.skipped
    );
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one(case: &Value, options: &Options, name: &str) -> ExitCode {
    match safely(options.judge, case) {
        Ok(counts) => {
            println!("{name}: no difference; {counts:?}");
            ExitCode::SUCCESS
        }
        Err(difference) => {
            tell(case, &difference, options, name);
            ExitCode::FAILURE
        }
    }
}

fn kind(what: &str) -> String {
    what.chars().filter(|letter| !letter.is_ascii_digit()).take(14).collect()
}

fn tell(case: &Value, difference: &Difference, options: &Options, name: &str) {
    println!("{name}, step {}: {}", difference.step, difference.what);
    if let Some(step) =
        case.at(&["steps"]).and_then(Value::as_array).and_then(|all| all.get(difference.step))
    {
        println!("the step: {}", json::to_string(step));
    }
    if !options.shrink {
        return;
    }
    let wanted = kind(&difference.what);
    let small = shrink::shrink(case, 3_000, &mut |case| {
        safely(options.judge, case).is_err_and(|difference| kind(&difference.what) == wanted)
    });
    println!("the smallest case that differs alike:\n{}", json::to_string(&small));
    if let Err(difference) = safely(options.judge, &small) {
        println!("step {}: {}", difference.step, difference.what);
    }
}
