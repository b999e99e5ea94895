//! The program `corelode`: the only place that sees all floors.

#![forbid(unsafe_code)]

mod calendar;
mod certificates;
mod check;
mod command;
mod config;
mod enroll;
mod failure;
mod file_user;
mod folder;
mod inspect;
mod logging;
mod machine;
mod reset;
mod serve;
mod users;

use std::process::ExitCode;

use clap::Parser;
use env::heap::Counting;
use mimalloc::MiMalloc;

use crate::command::{Command, CommandLine};

/// Gives memory back soon after it was freed, whatever is still held beside it: what is resident
/// follows what is counted. The C library's allocator kept three times as much. Around it stands what tells a job how
/// much it made.
#[global_allocator]
static ALLOCATOR: Counting<MiMalloc> = Counting(MiMalloc);

fn main() -> ExitCode {
    let command = match CommandLine::try_parse() {
        Ok(line) => line.command(),
        Err(wrong) => {
            let code =
                if wrong.use_stderr() { command::usage_code(std::env::args_os()) } else { 0 };
            // Nobody is there to hear that standard error is closed.
            wrong.print().ok();
            return ExitCode::from(code);
        }
    };
    let code = command.exit_codes();
    let result = match command {
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
            ExitCode::from(code(failure.code))
        }
    }
}
