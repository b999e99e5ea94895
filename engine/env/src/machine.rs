//! What the machine and the process are doing: plain figures, each of them read from the system.
//!
//! A figure that could not be read is `None`, never a guess. Reading takes a while (files of
//! `/proc`): it is a job for a worker, not for a core.

use std::fmt::Debug;
use std::path::Path;

/// Reads the figures.
pub trait Measure: Debug + Send + Sync {
    /// Now; `data` is a folder of the volume that is asked about.
    fn sample(&self, data: &Path) -> Sample;

    /// Threads of the process, with what each has run so far.
    fn threads(&self) -> Vec<Thread>;
}

/// Everything that is read at once.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The operating system.
    pub os: Os,
    /// This process.
    pub process: Process,
    /// The volume of the data folder.
    pub volume: Volume,
    /// The disks of the machine.
    pub devices: Vec<Device>,
    /// Threads beside the executors.
    pub pools: Vec<Pool>,
    /// One an executor.
    pub cores: Vec<CoreLoad>,
    /// Syncs of files by the process: how many, and microseconds in all.
    pub syncs: (u64, u64),
}

/// The operating system.
#[derive(Clone, Debug, Default)]
pub struct Os {
    /// `Linux`.
    pub name: String,
    /// Its own name for itself: `Debian GNU/Linux 12`.
    pub pretty_name: String,
    /// `amd64`, as Java names it.
    pub arch: String,
    /// Of the kernel.
    pub version: String,
    /// Processors of the machine that the process may use.
    pub processors: u64,
    /// Percent of all processors that were busy since the sample before.
    pub cpu_percent: Option<u64>,
    /// Averages over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// Memory in all.
    pub memory_total_bytes: u64,
    /// Memory that can be had without swapping.
    pub memory_free_bytes: u64,
    /// Swap in all.
    pub swap_total_bytes: u64,
    /// Swap not in use.
    pub swap_free_bytes: u64,
    /// The groups that bound the process, where there are any whose figures can be read.
    pub cgroup: Option<Cgroup>,
}

/// Control groups: those of version 1 each of its own name, one of version 2.
#[derive(Clone, Debug, Default)]
pub struct Cgroup {
    /// Path of the group whose use of processors is counted.
    pub accounts: String,
    /// Path of the group that bounds processors.
    pub cpu: String,
    /// Path of the group that bounds memory.
    pub memory: String,
    /// Nanoseconds of processors used.
    pub cpu_usage_ns: u64,
    /// Microseconds of a period.
    pub cpu_period_us: u64,
    /// Microseconds of processors in each period; -1: no limit.
    pub cpu_quota_us: i64,
    /// Periods that have passed.
    pub periods: u64,
    /// Periods in which it had to wait.
    pub throttled: u64,
    /// Nanoseconds for which it had to wait.
    pub throttled_ns: u64,
    /// Bytes, or `max`, as the system says it: version 1 has a very large number where there is no limit.
    pub memory_limit: String,
    /// Bytes in use.
    pub memory_usage: String,
}

/// This process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Descriptors that are open.
    pub files_open: u64,
    /// Descriptors that may be open.
    pub files_max: u64,
    /// Percent of all processors used since the sample before.
    pub cpu_percent: Option<u64>,
    /// Milliseconds of processors used so far.
    pub cpu_total_ms: u64,
    /// Address space.
    pub virtual_bytes: u64,
    /// Memory that is really there.
    pub resident_bytes: u64,
    /// Memory that cannot be swapped out.
    pub locked_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// Most threads seen.
    pub threads_peak: u64,
}

/// A volume.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    /// Where it is mounted, and from what: `/data (/dev/sda1)`.
    pub mount: String,
    /// `ext4`.
    pub kind: String,
    /// Size.
    pub total_bytes: u64,
    /// Not in use.
    pub free_bytes: u64,
    /// Free for this process.
    pub available_bytes: u64,
}

/// A disk.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// `sda1`.
    pub name: String,
    /// Reads that ended.
    pub reads: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Read so far.
    pub read_kib: u64,
    /// Written so far.
    pub written_kib: u64,
    /// Milliseconds in which something was under way.
    pub busy_ms: u64,
}

/// A pool of worker threads.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// Its name.
    pub name: &'static str,
    /// Its threads.
    pub threads: u64,
    /// Jobs that may wait; `None`: any number.
    pub waiting_max: Option<u64>,
    /// Jobs that run.
    pub active: u64,
    /// Jobs that wait.
    pub waiting: u64,
    /// Jobs refused because too many waited.
    pub rejected: u64,
    /// Jobs that ended.
    pub completed: u64,
}

/// An executor.
#[derive(Clone, Debug, Default)]
pub struct CoreLoad {
    /// Times it did not answer for a second.
    pub stalls: u64,
    /// Milliseconds of those silences.
    pub stalled_ms: u64,
    /// The longest time for which a task held it, in microseconds of the processor.
    pub stretch_max_us: u64,
    /// Times that a task held it for more than 5 ms.
    pub long_stretches: u64,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's number for it.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Running, sleeping, …: the kernel's letter.
    pub state: char,
    /// Milliseconds of processors used so far.
    pub cpu_ms: u64,
    /// What its scheduler counted, where the kernel tells it.
    pub scheduled: Option<Scheduled>,
}

/// What the kernel's scheduler counted of a thread so far, in nanoseconds: the rest of its life it slept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduled {
    /// On a processor.
    pub ran_ns: u64,
    /// Ready to run, and waiting for a processor.
    pub ready_ns: u64,
}
