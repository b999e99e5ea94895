//! `/_prometheus`: counters and histograms in the text form that Prometheus reads (version 0.0.4).
//!
//! Names begin with `corelode_`; units stand in them (`_seconds`, `_bytes`); counters end in
//! `_total`. What each means stands beside it, and in `docs/guide/monitoring.md`.

use std::fmt::Write;

use engine::Result;
use engine::ops::stats::{Counts, Stats, Usage, Work};
use env::Env;
use env::meter::{STEPS_US, Spread};

use crate::call::Call;
use crate::reply::Reply;

/// Takes lines.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Tells what a family of metrics is; its samples come next.
    fn family(&mut self, name: &str, kind: &str, about: &str) {
        let _ = write!(self.0, "# HELP corelode_{name} {about}\n# TYPE corelode_{name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(self.0, "corelode_{name}{braces} {value}");
    }

    fn counter(&mut self, name: &str, about: &str, value: u64) {
        self.family(name, "counter", about);
        self.sample(name, "", value);
    }

    fn gauge(&mut self, name: &str, about: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", about);
        self.sample(name, "", value);
    }

    fn histogram(&mut self, name: &str, labels: &str, spread: &Spread) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut sum = 0;
        for (bound, count) in STEPS_US.iter().zip(&spread.steps) {
            sum += count;
            let bound = seconds(*bound);
            self.sample(&format!("{name}_bucket"), &format!("{labels}{comma}le=\"{bound}\""), sum);
        }
        let count = spread.count();
        self.sample(&format!("{name}_bucket"), &format!("{labels}{comma}le=\"+Inf\""), count);
        self.sample(&format!("{name}_sum"), labels, seconds(spread.sum_us));
        self.sample(&format!("{name}_count"), labels, count);
    }
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

/// `GET /_prometheus`.
pub(super) async fn metrics<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/nodes/stats")?;
    let mut page = Page::default();
    requests(call, &mut page);
    let stats = call.core.node_stats().await;
    shards(&mut page, &stats);
    health(call, &mut page);
    machine(call, &mut page).await;
    Ok(Reply {
        content_type: Some("text/plain; version=0.0.4; charset=utf-8".into()),
        ..Reply::text(200, page.0)
    })
}

fn requests<E: Env>(call: &Call<'_, E>, page: &mut Page) {
    let meters = &call.core.shared().meters;
    let name = "http_request_seconds";
    page.family(name, "histogram", "From a request's coming to its answer, by kind of request.");
    for (family, spread) in meters.requests() {
        page.histogram(name, &format!("api=\"{family}\""), &spread);
    }
    let sums = meters.sums();
    page.family("http_answers_total", "counter", "Answers, by the first digit of their status.");
    for (at, count) in sums.answers.iter().enumerate() {
        page.sample("http_answers_total", &format!("status=\"{}xx\"", at + 1), count);
    }
    page.counter("http_rejected_total", "Answers that said: not now (429).", sums.rejected);
    page.gauge("http_connections", "Connections that are open.", sums.connections_open);
    page.counter("http_connections_total", "Connections taken.", sums.connections_opened);
    page.counter("http_received_bytes_total", "Bytes of bodies that came.", sums.received_bytes);
    page.counter("http_sent_bytes_total", "Bytes of bodies that went.", sums.sent_bytes);
    let name = "core_queue_seconds";
    page.family(name, "histogram", "How long messages between cores waited to be taken up.");
    page.histogram(name, "", &sums.queue);
}

fn shards(page: &mut Page, stats: &Stats) {
    let Counts { docs_count, docs_deleted, store_bytes, segment_count, .. } = stats.shard;
    page.gauge("docs", "Searchable documents.", docs_count);
    page.gauge("docs_deleted", "Deleted documents that segments still hold.", docs_deleted);
    page.gauge("store_bytes", "Bytes of the files of all segments.", store_bytes);
    page.gauge("segments", "Segments.", segment_count);
    page.gauge(
        "version_bytes",
        "Bytes of what is remembered of deletes.",
        stats.shard.version_bytes,
    );
    page.gauge("buffer_bytes", "Bytes that wait in memory for a flush.", stats.shard.buffer_bytes);
    page.gauge("log_bytes", "Bytes of logs that a flush would free.", stats.shard.log_bytes);
    page.gauge(
        "writes_under_way",
        "Operations that are not answered yet.",
        stats.shard.index_current + stats.shard.delete_current,
    );
    page.gauge("merges_under_way", "Merges that run.", stats.shard.merge_current);
    page.counter(
        "writes_refused_total",
        "Operations that were refused: for want of room, or since another version stood there.",
        stats.shard.refused_count + stats.shard.conflict_count,
    );
    page.counter("merged_docs_total", "Documents merged.", stats.shard.merge_docs);
    page.counter("merged_bytes_total", "Bytes read by merges.", stats.shard.merge_bytes);
    let of = |usage: Usage| Work { count: usage.count, time_us: usage.time_us };
    page.family("work_total", "counter", "Work of shards, by kind: how often.");
    let kinds = [
        ("index", stats.shard.index),
        ("delete", stats.shard.delete),
        ("get", stats.shard.get),
        ("refresh", stats.shard.refresh),
        ("flush", stats.shard.flush),
        ("merge", stats.shard.merge),
        ("query", of(stats.query)),
        ("fetch", of(stats.fetch)),
        ("bulk", of(stats.bulk)),
    ];
    for (kind, work) in kinds {
        page.sample("work_total", &format!("kind=\"{kind}\""), work.count);
    }
    page.family("work_seconds_total", "counter", "Work of shards, by kind: how long in all.");
    for (kind, work) in kinds {
        page.sample("work_seconds_total", &format!("kind=\"{kind}\""), seconds(work.time_us));
    }
}

fn health<E: Env>(call: &Call<'_, E>, page: &mut Page) {
    let counts = call.core.shard_counts();
    page.family("shards", "gauge", "Copies of shards, by whether they have a place.");
    page.sample("shards", "state=\"assigned\"", counts.assigned);
    page.sample("shards", "state=\"unassigned\"", counts.unassigned);
    page.gauge("indices", "Indices.", call.core.state().indices.len());
    page.counter(
        "cluster_state_version_total",
        "Changes of the cluster state.",
        call.core.state().version,
    );
    let budget = &call.core.shared().budget;
    page.family("memory_bytes", "gauge", "The memory budget: its size, what is taken, and what of that is kept for what nobody counts.");
    page.sample("memory_bytes", "part=\"total\"", budget.total_bytes());
    page.sample("memory_bytes", "part=\"taken\"", budget.leased_bytes());
    page.sample("memory_bytes", "part=\"aside\"", budget.aside_bytes());
    let name = "memory_taken_bytes";
    page.family(name, "gauge", "What is taken of the memory budget, by what it is for.");
    for (holder, bytes) in budget.taken_bytes() {
        page.sample(name, &format!("holder=\"{}\"", holder.as_str()), bytes);
    }
    page.counter(
        "memory_refused_total",
        "How often more memory was asked for than there was.",
        budget.refused_count() as u64,
    );
}

async fn machine<E: Env>(call: &Call<'_, E>, page: &mut Page) {
    let sample = call.core.machine().await;
    let info = &call.core.shared().config.info;
    page.gauge("start_time_seconds", "When the node started, since 1970.", info.started_ms / 1_000);
    let process = &sample.process;
    page.family("process_cpu_seconds_total", "counter", "Processor time used.");
    page.sample("process_cpu_seconds_total", "", process.cpu_total_ms as f64 / 1e3);
    page.gauge("process_resident_bytes", "Memory that is really there.", process.resident_bytes);
    page.gauge("process_open_files", "Descriptors that are open.", process.files_open);
    page.gauge("process_threads", "Threads.", process.threads);
    page.family("disk_bytes", "gauge", "The volume of the data folder.");
    page.sample("disk_bytes", "part=\"total\"", sample.volume.total_bytes);
    page.sample("disk_bytes", "part=\"available\"", sample.volume.available_bytes);
    let (syncs, sync_us) = sample.syncs;
    page.counter("syncs_total", "Files synced: logs mostly.", syncs);
    page.family("sync_seconds_total", "counter", "Time until syncs were done.");
    page.sample("sync_seconds_total", "", seconds(sync_us));
    page.family("core_stalls_total", "counter", "Times a core did not answer for a second.");
    for (core, load) in sample.cores.iter().enumerate() {
        page.sample("core_stalls_total", &format!("core=\"{core}\""), load.stalls);
    }
    page.family("core_stalled_seconds_total", "counter", "How long those silences were.");
    for (core, load) in sample.cores.iter().enumerate() {
        let label = format!("core=\"{core}\"");
        page.sample("core_stalled_seconds_total", &label, load.stalled_ms as f64 / 1e3);
    }
    page.family(
        "core_stretch_max_seconds",
        "gauge",
        "The longest time for which a task held a core and let no other run.",
    );
    for (core, load) in sample.cores.iter().enumerate() {
        let label = format!("core=\"{core}\"");
        page.sample("core_stretch_max_seconds", &label, load.stretch_max_us as f64 / 1e6);
    }
    page.family(
        "core_long_stretches_total",
        "counter",
        "Times that a task held a core for more than 5 ms.",
    );
    for (core, load) in sample.cores.iter().enumerate() {
        page.sample("core_long_stretches_total", &format!("core=\"{core}\""), load.long_stretches);
    }
    page.family("pool_jobs", "gauge", "Jobs of the worker threads, by pool and state.");
    for pool in &sample.pools {
        for (state, count) in [("active", pool.active), ("waiting", pool.waiting)] {
            page.sample("pool_jobs", &format!("pool=\"{}\",state=\"{state}\"", pool.name), count);
        }
    }
    page.family("pool_jobs_total", "counter", "Jobs that ended or were refused, by pool.");
    for pool in &sample.pools {
        for (state, count) in [("completed", pool.completed), ("rejected", pool.rejected)] {
            let labels = format!("pool=\"{}\",state=\"{state}\"", pool.name);
            page.sample("pool_jobs_total", &labels, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_summed_up_and_end_in_all() {
        let mut page = Page::default();
        let mut spread = Spread { sum_us: 1_500_000, ..Spread::default() };
        spread.steps[0] = 2;
        spread.steps[3] = 1;
        page.histogram("x_seconds", "api=\"get\"", &spread);
        let lines: Vec<&str> = page.0.lines().collect();
        assert_eq!(lines[0], r#"corelode_x_seconds_bucket{api="get",le="0.0001"} 2"#);
        assert_eq!(lines[3], r#"corelode_x_seconds_bucket{api="get",le="0.001"} 3"#);
        assert_eq!(lines[15], r#"corelode_x_seconds_bucket{api="get",le="+Inf"} 3"#);
        assert_eq!(lines[16], r#"corelode_x_seconds_sum{api="get"} 1.5"#);
        assert_eq!(lines[17], r#"corelode_x_seconds_count{api="get"} 3"#);
    }
}
