//! House checks that the compiler does not make: `cargo xtask arrows`, `cargo xtask tidy`.

#![forbid(unsafe_code)]

mod arrows;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let root = root();
    let found = match task.as_str() {
        "arrows" => arrows::check(&root),
        "tidy" => tidy::check(&root),
        _ => {
            eprintln!(
                "usage: cargo xtask arrows|tidy\n\narrows  crates lean on lower floors only\ntidy    heads, lengths, words and calls that the house style asks for"
            );
            return ExitCode::from(2);
        }
    };
    match found {
        Ok(problems) if problems.is_empty() => {
            println!("{task}: all is well");
            ExitCode::SUCCESS
        }
        Ok(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            eprintln!("{task}: {} found", problems.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{task}: {error}");
            ExitCode::from(2)
        }
    }
}

/// The workspace folder: two above this crate's.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
