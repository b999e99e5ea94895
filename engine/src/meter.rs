//! What the cores of a node count of their own work: requests, connections, waiting.
//!
//! Each core adds to a meter of its own; whoever asks sums them up. What shards count stands in
//! `ops/stats`, what the machine does in `env::machine`.

use env::meter::{Counter, Histogram, Spread};

/// Kinds of requests that are timed apart.
pub const FAMILIES: [&str; 11] = [
    "bulk", "document", "get", "search", "scroll", "indices", "cluster", "cat", "security", "task",
    "other",
];

/// Counts of one core, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Meter {
    /// Connections taken.
    pub connections_opened: Counter,
    /// Connections that ended.
    pub connections_closed: Counter,
    /// Bytes of bodies that came.
    pub received_bytes: Counter,
    /// Bytes of bodies that went.
    pub sent_bytes: Counter,
    /// Answers by the first digit of their status, from 1.
    pub answers: [Counter; 5],
    /// Answers that said: not now (429).
    pub rejected: Counter,
    /// From a request's coming to its answer, by family.
    pub requests: [Histogram; FAMILIES.len()],
    /// How long messages from other cores waited.
    pub queue: Histogram,
    /// Scripts that were compiled.
    pub script_compilations: Counter,
    /// Compiled scripts that were let go to make room.
    pub script_evictions: Counter,
    /// Compilations that were refused, since there were too many in a time.
    pub script_refusals: Counter,
}

/// Meters of all cores.
#[derive(Debug)]
pub struct Meters {
    cores: Vec<Meter>,
}

/// Sums over all cores; plain data.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Connections taken.
    pub connections_opened: u64,
    /// Connections open.
    pub connections_open: u64,
    /// Bytes of bodies that came.
    pub received_bytes: u64,
    /// Bytes of bodies that went.
    pub sent_bytes: u64,
    /// Answers by the first digit of their status, from 1.
    pub answers: [u64; 5],
    /// Answers that said: not now (429).
    pub rejected: u64,
    /// How long messages between cores waited.
    pub queue: Spread,
    /// What became of scripts.
    pub scripts: Scripts,
}

/// How often scripts were compiled; plain data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scripts {
    /// Compilations; a core compiles for itself.
    pub compilations: u64,
    /// Compiled ones that were let go to make room.
    pub evictions: u64,
    /// Compilations that were refused, since there were too many in a time.
    pub refused: u64,
}

impl Meters {
    /// For so many cores.
    pub fn new(cores: u16) -> Self {
        Self { cores: (0..cores).map(|_| Meter::default()).collect() }
    }

    /// The meter of one core.
    pub fn core(&self, core: base::CoreId) -> &Meter {
        &self.cores[usize::from(core.get())]
    }

    /// How long requests took, by family.
    pub fn requests(&self) -> Vec<(&'static str, Spread)> {
        let sum = |at: usize| {
            let mut sum = Spread::default();
            for core in &self.cores {
                core.requests[at].add_to(&mut sum);
            }
            sum
        };
        FAMILIES.iter().enumerate().map(|(at, family)| (*family, sum(at))).collect()
    }

    /// The rest.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        let mut closed = 0;
        for core in &self.cores {
            sums.connections_opened += core.connections_opened.get();
            closed += core.connections_closed.get();
            sums.received_bytes += core.received_bytes.get();
            sums.sent_bytes += core.sent_bytes.get();
            sums.rejected += core.rejected.get();
            for (sum, one) in sums.answers.iter_mut().zip(&core.answers) {
                *sum += one.get();
            }
            core.queue.add_to(&mut sums.queue);
            sums.scripts.compilations += core.script_compilations.get();
            sums.scripts.evictions += core.script_evictions.get();
            sums.scripts.refused += core.script_refusals.get();
        }
        sums.connections_open = sums.connections_opened.saturating_sub(closed);
        sums
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn all_cores_are_summed_up() {
        let meters = Meters::new(2);
        for core in 0..2 {
            let meter = meters.core(base::CoreId(core));
            meter.connections_opened.add(2);
            meter.connections_closed.add(1);
            meter.requests[3].add(Duration::from_millis(1));
            meter.answers[1].add(1);
            meter.script_compilations.add(3);
            meter.script_evictions.add(2);
            meter.script_refusals.add(1);
        }
        let sums = meters.sums();
        assert_eq!((sums.connections_opened, sums.connections_open, sums.answers[1]), (4, 2, 2));
        assert_eq!(sums.scripts, Scripts { compilations: 6, evictions: 4, refused: 2 });
        let search = meters.requests().into_iter().find(|(family, _)| *family == "search");
        assert_eq!(search.map(|(_, spread)| spread.count()), Some(2));
    }
}
