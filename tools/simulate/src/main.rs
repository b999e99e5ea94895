//! Runs seeds, and plants faults to see which seeds find them.

use std::ops::Range;
use std::process::ExitCode;

use simulate::table;

const HELP: &str = "\
simulate [--seeds FROM..TO] [--jobs N] [--twice] [--verbose] [--record FILE] [--planted FAULT|all]

Runs whole nodes by seed, on simulated machines that fail, with an oracle. Ends with 1 where a seed
finds something, and says how to replay it.

  --seeds FROM..TO  which seeds (default 0..200)
  --jobs N          threads (default 1)
  --twice           runs each seed twice: the traces must be equal
  --verbose         tells what happens
  --record FILE     writes the result there
  --planted FAULT   plants a fault, or each of them in turn: tells which seed finds it
";

fn main() -> ExitCode {
    match options(std::env::args().skip(1)) {
        Ok(None) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Some(options)) => match table::go(&options) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
        Err(why) => {
            eprintln!("{why}\n{HELP}");
            ExitCode::from(64)
        }
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Option<table::Options>, String> {
    let mut options = table::Options::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--seeds" => options.seeds = range(&value()?)?,
            "--jobs" => {
                options.jobs = value()?.parse().map_err(|_| "--jobs needs a number".to_owned())?;
            }
            "--twice" => options.twice = true,
            "--verbose" => options.verbose = true,
            "--record" => options.record = Some(value()?.into()),
            "--planted" => options.planted = Some(value()?),
            "--help" => return Ok(None),
            other => return Err(format!("[{other}] is no option")),
        }
    }
    Ok(Some(options))
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, ""));
    let wrong = |_| format!("[{text}] is no range of seeds");
    let from: u64 = from.parse().map_err(wrong)?;
    let to: u64 = if to.is_empty() { from + 1 } else { to.parse().map_err(wrong)? };
    if from < to { Ok(from..to) } else { Err(format!("[{text}] holds no seed")) }
}
