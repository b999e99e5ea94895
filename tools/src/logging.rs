//! The log: lines on standard error, text for a terminal, JSON otherwise.
//!
//! `CORELODE_LOG` filters (`debug`, `info,wal=trace`); the default is `info`. Records of the `log`
//! crate are taken in too: glommio warns only there.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts the log.
pub fn start(format: Option<Format>) {
    let is_terminal = std::io::stderr().is_terminal();
    let format = format.unwrap_or(if is_terminal { Format::Text } else { Format::Json });
    // The executor's own lines are about matters that the runtime knows better (it is made to
    // misjudge devices on purpose, see `runtime::disk`), and many.
    let default = || EnvFilter::new("info,glommio=off");
    let filter = match std::env::var("CORELODE_LOG") {
        Ok(text) => EnvFilter::try_new(text).unwrap_or_else(|_| default()),
        Err(_) => default(),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let started = match format {
        Format::Text => {
            let lines = lines.with_ansi(is_terminal);
            tracing_subscriber::registry().with(filter).with(lines).try_init()
        }
        Format::Json => {
            let lines = lines.json().flatten_event(true);
            tracing_subscriber::registry().with(filter).with(lines).try_init()
        }
    };
    if let Err(error) = started {
        eprintln!("the log cannot be started: {error}");
    }
}
