//! Measures machine and process: files of `/proc` and `/sys`, and what this crate counts itself.
//!
//! Always true
//! 1. A figure that cannot be read is left out or 0; none is guessed.
//! 2. Reading blocks: it is a job for a worker.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use env::machine::{CoreLoad, Device, Measure, Os, Process, Sample, Scheduled, Thread, Volume};
use env::meter::Timed;

use crate::system;
use crate::watchdog::Beat;
use crate::workers::{Pool, Workers};

mod cgroup;

/// Ticks of the kernel's clocks in a second, as `/proc` shows them on every Linux of today.
const TICKS_PER_SECOND: u64 = 100;

/// Bytes of a sector, as `/proc/diskstats` counts them.
const SECTOR_BYTES: u64 = 512;

/// Clones measure the same process.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    held: Arc<Held>,
}

#[derive(Debug, Default)]
struct Held {
    syncs: Arc<Timed>,
    watched: OnceLock<(Workers, Vec<Arc<Beat>>)>,
    load: Mutex<Load>,
}

/// How busy the processors were between two samples.
#[derive(Debug, Default)]
struct Load {
    /// Ticks at the sample before.
    before: Ticks,
    /// Percent that were told last, of the machine and of the process.
    told: (Option<u64>, Option<u64>),
}

/// Time of processors, in ticks since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    process: u64,
    busy: u64,
    all: u64,
}

impl Probe {
    /// Measures the process; pools and cores are known once they run.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where syncs of files are counted.
    pub(crate) fn syncs(&self) -> Arc<Timed> {
        Arc::clone(&self.held.syncs)
    }

    /// From now on these pools and executors are told of.
    pub(crate) fn watch(&self, workers: Workers, beats: Vec<Arc<Beat>>) {
        // A second set of executors in one process (in tests) is not told of.
        let _ = self.held.watched.set((workers, beats));
    }

    /// Percent of all processors since the sample before: the machine's, the process's. Within a
    /// tick (10 ms) nothing can be measured; then it is what was told last.
    fn percents(&self, now: Ticks) -> (Option<u64>, Option<u64>) {
        let mut load = self.held.load.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = load.before;
        let all = now.all.saturating_sub(earlier.all);
        if all > 0 {
            let percent =
                |now: u64, earlier: u64| Some((now.saturating_sub(earlier) * 100 / all).min(100));
            load.told = (percent(now.busy, earlier.busy), percent(now.process, earlier.process));
            load.before = now;
        }
        load.told
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

impl Measure for Probe {
    fn sample(&self, data: &Path) -> Sample {
        let stat = read("/proc/self/stat");
        let machine = machine_ticks(&read("/proc/stat"));
        let own = process_ticks(&stat);
        let (machine_percent, own_percent) =
            self.percents(Ticks { process: own, busy: machine.0, all: machine.1 });
        let mut os = os();
        os.cpu_percent = machine_percent;
        let mut process = process(&read("/proc/self/status"), &read("/proc/self/limits"));
        process.cpu_percent = own_percent;
        process.cpu_total_ms = own * 1_000 / TICKS_PER_SECOND;
        process.virtual_bytes = stat_field(&stat, 23).unwrap_or(0);
        let (mut pools, mut cores) = (Vec::new(), Vec::new());
        if let Some((workers, beats)) = self.held.watched.get() {
            let Workers { heavy, documents, search, short, bodies, hashes, leftovers, files } =
                workers;
            pools = [heavy, documents, search, short, bodies, hashes, leftovers, files]
                .map(Pool::load)
                .into();
            let load = |beat: &Arc<Beat>| CoreLoad {
                stalls: beat.stalls.get(),
                stalled_ms: beat.stalled_ms.get(),
                stretch_max_us: beat.stretch_max().as_micros() as u64,
                long_stretches: beat.long_stretches.get(),
            };
            cores = beats.iter().map(load).collect();
        }
        Sample {
            os,
            process,
            volume: volume(data),
            devices: devices(&read("/proc/diskstats")),
            pools,
            cores,
            syncs: (self.held.syncs.count.get(), self.held.syncs.time_us.get()),
        }
    }

    fn threads(&self) -> Vec<Thread> {
        let Ok(entries) = fs::read_dir("/proc/self/task") else { return Vec::new() };
        entries
            .filter_map(|entry| {
                let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
                let of_thread = |name: &str| read(&format!("/proc/self/task/{id}/{name}"));
                let scheduled = scheduled(&of_thread("schedstat"));
                Some(Thread { scheduled, ..thread(id, &of_thread("stat"))? })
            })
            .collect()
    }
}

/// The fields of a `stat` file behind the name, which may hold anything; the first is number 3.
fn stat_field(stat: &str, number: usize) -> Option<u64> {
    let rest = stat.rsplit_once(')')?.1;
    rest.split_ascii_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

/// Ticks that a process or thread has run, in user and in kernel mode.
fn process_ticks(stat: &str) -> u64 {
    stat_field(stat, 14).unwrap_or(0) + stat_field(stat, 15).unwrap_or(0)
}

fn thread(id: u32, stat: &str) -> Option<Thread> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    Some(Thread {
        id,
        name: name.to_owned(),
        state: rest.trim_start().chars().next().unwrap_or('?'),
        cpu_ms: process_ticks(stat) * 1_000 / TICKS_PER_SECOND,
        scheduled: None,
    })
}

/// The first two numbers of a `schedstat` file; a kernel that does not count has no such file, or zeros.
fn scheduled(text: &str) -> Option<Scheduled> {
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok());
    let (ran_ns, ready_ns) = (numbers.next()??, numbers.next()??);
    (ran_ns > 0).then_some(Scheduled { ran_ns, ready_ns })
}

/// Busy ticks and all ticks of the machine.
fn machine_ticks(stat: &str) -> (u64, u64) {
    let Some(line) = stat.lines().find_map(|line| line.strip_prefix("cpu ")) else {
        return (0, 0);
    };
    // user nice system idle iowait irq softirq steal; guests count as users already.
    let ticks: Vec<u64> =
        line.split_ascii_whitespace().take(8).filter_map(|text| text.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    (all - idle, all)
}

/// A value of lines like `MemTotal:  16 kB`, in bytes.
fn kib_line(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kib.checked_mul(1_024)
}

fn os() -> Os {
    let memory = read("/proc/meminfo");
    let kib = |key: &str| kib_line(&memory, key).unwrap_or(0);
    let load = read("/proc/loadavg");
    let mut loads = load.split_ascii_whitespace().map_while(|text| text.parse().ok());
    let load = loads.next().zip(loads.next()).zip(loads.next());
    let pretty = read("/etc/os-release");
    let pretty = pretty.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    Os {
        name: "Linux".to_owned(),
        pretty_name: pretty.unwrap_or("Linux").trim_matches('"').to_owned(),
        arch: match std::env::consts::ARCH {
            "x86_64" => "amd64",
            other => other,
        }
        .to_owned(),
        version: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        processors: std::thread::available_parallelism().map_or(1, usize::from) as u64,
        cpu_percent: None,
        load: load.map(|((one, five), fifteen)| [one, five, fifteen]),
        memory_total_bytes: kib("MemTotal"),
        // As Elasticsearch tells it: what caches could give back is used.
        memory_free_bytes: kib("MemFree"),
        swap_total_bytes: kib("SwapTotal"),
        swap_free_bytes: kib("SwapFree"),
        cgroup: cgroup::read(&read("/proc/self/cgroup"), Path::new(cgroup::ROOT)),
    }
}

fn process(status: &str, limits: &str) -> Process {
    let kib = |key: &str| kib_line(status, key).unwrap_or(0);
    let threads = status.lines().find_map(|line| line.strip_prefix("Threads:"));
    let threads = threads.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let files_max = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files_max = files_max.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    Process {
        pid: std::process::id(),
        files_open: fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64),
        files_max: files_max.unwrap_or(0),
        cpu_percent: None,
        cpu_total_ms: 0,
        virtual_bytes: 0,
        resident_bytes: kib("VmRSS"),
        locked_bytes: kib("VmLck"),
        threads,
        threads_peak: threads,
    }
}

fn volume(data: &Path) -> Volume {
    let mut volume = Volume::default();
    if let Ok(sizes) = system::volume_bytes(data) {
        volume.total_bytes = sizes.total;
        volume.free_bytes = sizes.free;
        volume.available_bytes = sizes.available;
    }
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    if let Some((mount, kind)) = mount_of(&data, &read("/proc/self/mounts")) {
        volume.mount = mount;
        volume.kind = kind;
    }
    volume
}

/// The mount that holds a path: the one whose folder is the longest of those that begin it.
fn mount_of(path: &Path, mounts: &str) -> Option<(String, String)> {
    let mut best: Option<(usize, String, String)> = None;
    for line in mounts.lines() {
        let mut fields = line.split(' ');
        let (Some(device), Some(folder), Some(kind)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let longer = best.as_ref().is_none_or(|(len, _, _)| folder.len() >= *len);
        if path.starts_with(folder) && longer {
            best = Some((folder.len(), format!("{folder} ({device})"), kind.to_owned()));
        }
    }
    best.map(|(_, mount, kind)| (mount, kind))
}

/// Whole disks and their parts that have done anything.
fn devices(stats: &str) -> Vec<Device> {
    let device = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let name = *fields.get(2)?;
        let number = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok());
        let (reads, writes) = (number(3)?, number(7)?);
        let loops = name.starts_with("loop") || name.starts_with("ram");
        (reads + writes > 0 && !loops).then(|| Device {
            name: name.to_owned(),
            reads,
            writes,
            read_kib: number(5).unwrap_or(0) * SECTOR_BYTES / 1_024,
            written_kib: number(9).unwrap_or(0) * SECTOR_BYTES / 1_024,
            busy_ms: number(12).unwrap_or(0),
        })
    };
    stats.lines().filter_map(device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_hide_no_fields() {
        let stat = "7 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 30 12 13 14 15 16 17 18 19 4096 21";
        assert_eq!(process_ticks(stat), 42);
        assert_eq!(stat_field(stat, 23), Some(4096));
        let thread = thread(7, stat).expect("a thread");
        assert_eq!((thread.name.as_str(), thread.state, thread.cpu_ms), ("a) b) c", 'S', 420));
        let counted = Scheduled { ran_ns: 178_320_005, ready_ns: 13_047_071 };
        assert_eq!(scheduled("178320005 13047071 360\n"), Some(counted));
        assert_eq!([scheduled("0 0 0\n"), scheduled("")], [None, None]);
        assert_eq!(stat_field("", 14), None);
    }

    #[test]
    fn idle_and_waiting_processors_are_not_busy() {
        assert_eq!(machine_ticks("cpu  10 1 5 80 4 0 0 0 0 0\ncpu0 1 1 1 1\n"), (16, 100));
        assert_eq!(machine_ticks(""), (0, 0));
    }

    #[test]
    fn two_samples_within_a_tick_tell_the_same() {
        let probe = Probe::new();
        let none = Ticks::default();
        assert_eq!(probe.percents(none), (None, None), "nothing was measured yet");
        let first = Ticks { process: 10, busy: 50, all: 100 };
        assert_eq!(probe.percents(first), (Some(50), Some(10)));
        assert_eq!(probe.percents(first), (Some(50), Some(10)));
        let second = Ticks { process: 40, busy: 80, all: 200 };
        assert_eq!(probe.percents(second), (Some(30), Some(30)));
    }

    #[test]
    fn the_longest_mount_holds_the_path() {
        let mounts = "/dev/a / ext4 rw 0 0\n/dev/b /data xfs rw 0 0\n";
        let found = mount_of(Path::new("/data/x"), mounts);
        assert_eq!(found, Some(("/data (/dev/b)".to_owned(), "xfs".to_owned())));
        let found = mount_of(Path::new("/database"), mounts);
        assert_eq!(found, Some(("/ (/dev/a)".to_owned(), "ext4".to_owned())));
    }

    #[test]
    fn devices_that_did_nothing_are_left_out() {
        let stats = "8 0 sda 10 0 20 0 5 0 8 0 0 7 0\n7 0 loop0 1 0 2 0 0 0 0 0 0 0 0\n8 1 sdb 0 0 0 0 0 0 0\n";
        let found = devices(stats);
        assert_eq!(found.len(), 1);
        let sda = &found[0];
        assert_eq!(
            (sda.reads, sda.writes, sda.read_kib, sda.written_kib, sda.busy_ms),
            (10, 5, 10, 4, 7)
        );
    }

    #[test]
    fn this_process_is_measured() {
        let probe = Probe::new();
        let sample = probe.sample(Path::new("/"));
        assert!(sample.os.memory_total_bytes > 1 << 20);
        assert!(sample.process.files_open > 2 && sample.process.resident_bytes > 0);
        assert!(sample.volume.total_bytes >= sample.volume.available_bytes);
        assert_eq!(sample.process.pid, std::process::id());
        assert!(probe.threads().iter().any(|thread| thread.id == std::process::id()));
    }
}
