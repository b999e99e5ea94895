//! The program `corelode`: the only place that sees all floors.

#![forbid(unsafe_code)]

mod calendar;
mod certificates;
mod command;
mod config;
mod failure;
mod folder;
mod logging;
mod machine;
mod reset;

use std::process::ExitCode;

use clap::Parser;

use crate::command::{Command, CommandLine};

fn main() -> ExitCode {
    let result = match CommandLine::parse().command() {
        Command::Serve(_) => {
            Err(failure::Failure::new(failure::Code::Failed, "this build cannot serve yet"))
        }
        Command::ResetPassword(options) => reset::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("corelode: {failure}");
            ExitCode::from(failure.code as u8)
        }
    }
}
