//! `_nodes/hot_threads`: what the threads of the process do, measured over an interval.
//!
//! There are no stacks to show: an executor's stack names its scheduler, not its task. What is
//! shown is what the kernel counts of each thread: the time on a processor (`cpu`), the time asleep (`wait`), the
//! time ready without a processor (`block`). Who waits for a lock is asleep: the kernel does not know what for.
//! Memory (`mem`) is not counted by thread, so there is no figure of it.

use std::time::Duration;

use engine::{Error, Result};
use env::machine::Thread;
use env::{Clock, Env};

use super::is_chosen;
use crate::call::Call;
use crate::params::time_ms;
use crate::render::units;
use crate::reply::Reply;

/// The longest interval; a caller waits for it.
const INTERVAL_MS_MAX: u64 = 30_000;

/// `GET /_nodes/hot_threads`, `/_nodes/{node_id}/hot_threads`.
pub(crate) async fn hot_threads<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/hot_threads")?;
    let most = call.params.int("threads")?.unwrap_or(3);
    let most = usize::try_from(most).map_err(|_| {
        Error::illegal_argument("[threads] must be a whole number that is not negative")
    })?;
    let named = call.params.text("type").unwrap_or("cpu");
    let Some(kind) = Kind::of(named) else {
        return Err(Error::illegal_argument(format!("type not supported [{named}]")));
    };
    // Without stacks a thread's time is not split, so both orders are the same.
    let order = call.params.text("sort").unwrap_or("total");
    if !["cpu", "total"].contains(&order) {
        return Err(Error::illegal_argument(format!("sort order not supported [{order}]")));
    }
    let interval = match call.params.text("interval") {
        None => 500,
        Some(text) => time_ms("interval", text)?.unwrap_or(500),
    };
    let interval = Duration::from_millis(interval.min(INTERVAL_MS_MAX));
    let idle_too = !call.params.flag("ignore_idle_threads", true)?;
    let info = &call.core.shared().config.info;
    if !is_chosen(info, call.path.get("node_id").unwrap_or("_all"))? {
        return Ok(Reply::text(200, Vec::new()));
    }
    let clock = call.core.env().clock();
    let (before, begun) = (call.core.threads().await, clock.monotonic());
    clock.sleep(interval).await;
    let (after, passed) = (call.core.threads().await, clock.monotonic().saturating_sub(begun));
    let mut text = format!("::: {{{}}}{{{}}}{{{}}}\n", info.name, info.id, info.transport_address);
    text.push_str(&format!(
        "   Hot threads at {}, interval={}, busiestThreads={most}, ignoreIdleThreads={}:\n",
        units::date(call.now_ms()),
        units::millis(interval.as_millis() as u64),
        !idle_too,
    ));
    if let Some(why) = kind.unknown(&after) {
        text.push_str(&format!("   \n   No figures: {why}.\n"));
    }
    for (thread, time_ms) in
        busiest(kind, (&before, &after, passed), idle_too).into_iter().take(most)
    {
        let share = time_ms as f64 * 100.0 / (interval.as_millis().max(1) as f64);
        text.push_str(&format!(
            "   \n   {share:.1}% ({time_ms}ms out of {}) {} by thread '{}' [{}] state {}\n",
            units::millis(interval.as_millis() as u64),
            kind.words(),
            thread.name,
            thread.id,
            thread.state,
        ));
    }
    text.push('\n');
    Ok(Reply::text(200, text))
}

/// What is told of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cpu,
    Wait,
    Block,
    Memory,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "cpu" => Self::Cpu,
            "wait" => Self::Wait,
            "block" => Self::Block,
            "mem" => Self::Memory,
            _ => return None,
        })
    }

    /// What its figures are.
    const fn words(self) -> &'static str {
        match self {
            Self::Cpu => "cpu usage",
            Self::Wait => "wait (asleep) usage",
            Self::Block => "block (ready, without a processor) usage",
            Self::Memory => "mem usage",
        }
    }

    /// Why there are no figures, where there are none.
    fn unknown(self, threads: &[Thread]) -> Option<&'static str> {
        match self {
            Self::Cpu => None,
            Self::Memory => Some("memory is not counted by thread"),
            Self::Wait | Self::Block => threads
                .iter()
                .all(|thread| thread.scheduled.is_none())
                .then_some("this system does not tell how long threads wait (schedstat)"),
        }
    }

    /// Milliseconds of it between two looks at a thread, where they are known.
    fn time_ms(self, earlier: Option<&Thread>, thread: &Thread, passed: Duration) -> Option<u64> {
        if self == Self::Cpu {
            return Some(cpu_ms(earlier, thread));
        }
        // How long a new thread lived is not known.
        let (before, after) = (earlier?.scheduled?, thread.scheduled?);
        let ready_ns = after.ready_ns.saturating_sub(before.ready_ns);
        let awake_ns = after.ran_ns.saturating_sub(before.ran_ns) + ready_ns;
        let time_ns = match self {
            Self::Block => ready_ns,
            Self::Wait => (passed.as_nanos() as u64).saturating_sub(awake_ns),
            Self::Cpu | Self::Memory => return None,
        };
        Some(time_ns / 1_000_000)
    }
}

/// What a thread ran between two looks.
fn cpu_ms(earlier: Option<&Thread>, thread: &Thread) -> u64 {
    thread.cpu_ms - earlier.map_or(0, |it| it.cpu_ms.min(thread.cpu_ms))
}

/// A thread that did not run is idle, however long it waited.
fn is_idle(earlier: Option<&Thread>, thread: &Thread) -> bool {
    let ran = |thread: &Thread| thread.scheduled.map(|it| it.ran_ns);
    let moved = earlier.map(ran).is_some_and(|before| before != ran(thread));
    cpu_ms(earlier, thread) == 0 && !moved
}

/// Threads with their times of a kind between two looks, the longest first.
fn busiest<'t>(
    kind: Kind,
    (before, after, passed): (&[Thread], &'t [Thread], Duration),
    idle_too: bool,
) -> Vec<(&'t Thread, u64)> {
    let mut times: Vec<(&Thread, u64)> = after
        .iter()
        .filter_map(|thread| {
            let earlier = before.iter().find(|earlier| earlier.id == thread.id);
            let time_ms = kind.time_ms(earlier, thread, passed)?;
            let is_told = match kind {
                Kind::Cpu | Kind::Block => time_ms > 0,
                Kind::Wait | Kind::Memory => !is_idle(earlier, thread),
            };
            (idle_too || is_told).then_some((thread, time_ms))
        })
        .collect();
    times.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
    times
}

#[cfg(test)]
mod tests {
    use env::machine::Scheduled;

    use super::*;

    /// A thread with milliseconds on a processor, and ready without one.
    fn thread(id: u32, cpu_ms: u64, ready_ms: u64) -> Thread {
        let scheduled = Scheduled { ran_ns: cpu_ms * 1_000_000, ready_ns: ready_ms * 1_000_000 };
        Thread { id, name: format!("t{id}"), state: 'S', cpu_ms, scheduled: Some(scheduled) }
    }

    fn told(kind: Kind, idle_too: bool) -> Vec<(u32, u64)> {
        let before = [thread(1, 10, 1), thread(2, 100, 1), thread(3, 7, 9)];
        let after = [thread(1, 15, 41), thread(2, 130, 3), thread(3, 7, 9), thread(4, 1, 1)];
        let looks = (&before[..], &after[..], Duration::from_millis(500));
        let told = busiest(kind, looks, idle_too);
        told.into_iter().map(|(thread, time_ms)| (thread.id, time_ms)).collect()
    }

    #[test]
    fn the_busiest_come_first_and_idle_ones_only_where_wanted() {
        assert_eq!(told(Kind::Cpu, false), [(2, 30), (1, 5), (4, 1)]);
        assert_eq!(told(Kind::Cpu, true), [(2, 30), (1, 5), (4, 1), (3, 0)]);
    }

    /// Time on processors was told under the names of time without.
    #[test]
    fn who_waits_is_asleep_or_without_a_processor() {
        assert_eq!(told(Kind::Wait, false), [(2, 468), (1, 455)]);
        assert_eq!(told(Kind::Wait, true), [(3, 500), (2, 468), (1, 455)]);
        assert_eq!(told(Kind::Block, false), [(1, 40), (2, 2)]);
        assert_eq!(told(Kind::Memory, true), []);
        assert!(Kind::Memory.unknown(&[]).is_some());
        let unseen = [Thread { scheduled: None, ..thread(1, 5, 5) }];
        assert!(Kind::Wait.unknown(&unseen).is_some() && Kind::Cpu.unknown(&unseen).is_none());
        assert!(Kind::Block.unknown(&[thread(1, 5, 5)]).is_none());
    }
}
