//! The program `corelode`: the only place that sees all floors.

#![forbid(unsafe_code)]

mod calendar;
mod certificates;
mod check;
mod command;
mod config;
mod enroll;
mod failure;
mod folder;
mod inspect;
mod logging;
mod machine;
mod reset;
mod serve;
mod users;

use std::process::ExitCode;

use clap::Parser;

use crate::command::{Command, CommandLine};

fn main() -> ExitCode {
    let result = match CommandLine::parse().command() {
        Command::Serve(options) => serve::run(&options),
        Command::ResetPassword(options) => reset::run(&options),
        Command::CreateEnrollmentToken(options) => enroll::run(&options),
        Command::Users(options) => users::run(&options),
        Command::ServiceTokens(options) => users::run_service_tokens(&options),
        Command::Check(options) => check::run(&options),
        Command::Inspect(options) => inspect::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("corelode: {failure}");
            ExitCode::from(failure.code as u8)
        }
    }
}
