//! `_nodes/hot_threads`: what the threads of the process do, measured over an interval.
//!
//! There are no stacks to show: an executor's stack names its scheduler, not its task. What is
//! shown is each thread's share of a processor.

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
    let kind = call.params.text("type").unwrap_or("cpu");
    if !["cpu", "wait", "block", "mem"].contains(&kind) {
        return Err(Error::illegal_argument(format!("type not supported [{kind}]")));
    }
    // What a thread waits is not measured, so both orders are the same.
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
    if !is_chosen(info, call.path.get("node_id").unwrap_or("_all")) {
        return Ok(Reply::text(200, Vec::new()));
    }
    let before = call.core.threads().await;
    call.core.env().clock().sleep(interval).await;
    let after = call.core.threads().await;
    let mut text = format!("::: {{{}}}{{{}}}{{{}}}\n", info.name, info.id, info.transport_address);
    text.push_str(&format!(
        "   Hot threads at {}, interval={}, busiestThreads={most}, ignoreIdleThreads={}:\n",
        units::date(call.now_ms()),
        units::millis(interval.as_millis() as u64),
        !idle_too,
    ));
    for (thread, cpu_ms) in busiest(&before, &after, idle_too).into_iter().take(most) {
        let share = cpu_ms as f64 * 100.0 / (interval.as_millis().max(1) as f64);
        text.push_str(&format!(
            "   \n   {share:.1}% ({cpu_ms}ms out of {}) {kind} usage by thread '{}' [{}] state {}\n",
            units::millis(interval.as_millis() as u64),
            thread.name,
            thread.id,
            thread.state,
        ));
    }
    text.push('\n');
    Ok(Reply::text(200, text))
}

/// Threads with what each ran between two looks, the busiest first.
fn busiest<'t>(before: &[Thread], after: &'t [Thread], idle_too: bool) -> Vec<(&'t Thread, u64)> {
    let mut ran: Vec<(&Thread, u64)> = after
        .iter()
        .map(|thread| {
            let earlier = before.iter().find(|earlier| earlier.id == thread.id);
            (thread, thread.cpu_ms - earlier.map_or(0, |it| it.cpu_ms.min(thread.cpu_ms)))
        })
        .filter(|(_, cpu_ms)| idle_too || *cpu_ms > 0)
        .collect();
    ran.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_come_first_and_idle_ones_only_where_wanted() {
        let thread = |id, cpu_ms| Thread { id, name: format!("t{id}"), state: 'S', cpu_ms };
        let before = [thread(1, 10), thread(2, 100), thread(3, 7)];
        let after = [thread(1, 15), thread(2, 130), thread(3, 7), thread(4, 1)];
        let ids = |idle| -> Vec<u32> {
            busiest(&before, &after, idle).into_iter().map(|(thread, _)| thread.id).collect()
        };
        assert_eq!(ids(false), [2, 1, 4]);
        assert_eq!(ids(true), [2, 1, 4, 3]);
    }
}
