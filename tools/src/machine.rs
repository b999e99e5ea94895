//! What the machine offers to this process: its name, processors, memory.

use std::path::Path;

use crate::config::Machine;

/// Where no limit can be read, this much memory is assumed.
const MEMORY_ASSUMED: u64 = 1 << 30;

/// Reads it.
pub fn read() -> Machine {
    let host_name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host_name = match host_name.trim() {
        "" | "(none)" => "localhost".to_owned(),
        name => name.to_owned(),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Machine { host_name, cores, memory_bytes: memory_bytes() }
}

/// The machine's memory, or what the process's cgroup allows where that is less.
fn memory_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = total(&meminfo).unwrap_or(MEMORY_ASSUMED);
    let cgroup = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&cgroup);
    let limits = limits.iter().filter_map(|file| limit(&std::fs::read_to_string(file).ok()?));
    limits.fold(machine, u64::min)
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The files that may hold a limit: of the process's own group and of all above it.
fn limit_files(cgroup: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in cgroup.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        // Version 2 has one line without controllers, version 1 one for each.
        let (root, name) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        } else {
            continue;
        };
        let above = Path::new(group).ancestors();
        files.extend(above.map(|group| {
            let group = group.to_string_lossy();
            format!("{root}{}/{name}", group.trim_end_matches('/'))
        }));
    }
    files
}

/// A limit; `None` where there is none.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_in_kib() {
        assert_eq!(total("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(total(""), None);
    }

    #[test]
    fn limits_of_both_cgroup_versions_are_looked_up_to_the_root() {
        assert_eq!(
            limit_files("0::/a/b\n"),
            [
                "/sys/fs/cgroup/a/b/memory.max",
                "/sys/fs/cgroup/a/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        let old = limit_files("4:cpu,cpuacct:/x\n5:memory:/x\n");
        assert_eq!(old[0], "/sys/fs/cgroup/memory/x/memory.limit_in_bytes");
        assert_eq!(old.len(), 2);
        assert_eq!(limit("max\n"), None);
        assert_eq!(limit("1048576\n"), Some(1 << 20));
    }

    #[test]
    fn this_machine_has_something() {
        let machine = read();
        assert!(machine.cores > 0);
        assert!(machine.memory_bytes > 1 << 20);
        assert!(!machine.host_name.is_empty());
    }
}
