//! The control groups that bound this process, of version 2 or 1, where all that is told of them can be read.

use std::fs;
use std::path::Path;

use env::machine::Cgroup;

/// Where the system shows groups.
pub(super) const ROOT: &str = "/sys/fs/cgroup";

/// The groups of a process of which `/proc/self/cgroup` says so, as they are shown below `root`. None where a figure
/// is missing, as of the group of all processes.
pub(super) fn read(groups: &str, root: &Path) -> Option<Cgroup> {
    let mut lines = groups.lines().filter(|line| !line.is_empty());
    match (lines.next().and_then(|line| line.strip_prefix("0::")), lines.next()) {
        (Some(name), None) => second(name.trim(), root),
        _ => first(groups, root),
    }
}

/// One group bounds everything.
fn second(name: &str, root: &Path) -> Option<Cgroup> {
    let file = |file: &str| text(&root.join(below(name)).join(file));
    let stat = file("cpu.stat")?;
    let most = file("cpu.max")?;
    let (quota, period) = most.split_once(' ')?;
    Some(Cgroup {
        cpu_usage_ns: value(&stat, "usage_usec")?.checked_mul(1_000)?,
        cpu_period_us: period.parse().ok()?,
        cpu_quota_us: if quota == "max" { -1 } else { quota.parse().ok()? },
        periods: value(&stat, "nr_periods")?,
        throttled: value(&stat, "nr_throttled")?,
        throttled_ns: value(&stat, "throttled_usec")?.checked_mul(1_000)?,
        memory_limit: file("memory.max")?,
        memory_usage: file("memory.current")?,
        accounts: name.to_owned(),
        cpu: name.to_owned(),
        memory: name.to_owned(),
    })
}

/// Each controller has groups of its own.
fn first(groups: &str, root: &Path) -> Option<Cgroup> {
    let group = |controller: &str| {
        let name = groups.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, name) = rest.split_once(':')?;
            controllers.split(',').any(|known| known == controller).then_some(name)
        })?;
        Some(name.trim().to_owned())
    };
    let file = |controller: &str, group: &str, file: &str| {
        text(&root.join(controller).join(below(group)).join(file))
    };
    let (accounts, cpu, memory) = (group("cpuacct")?, group("cpu")?, group("memory")?);
    let stat = file("cpu", &cpu, "cpu.stat")?;
    Some(Cgroup {
        cpu_usage_ns: file("cpuacct", &accounts, "cpuacct.usage")?.parse().ok()?,
        cpu_period_us: file("cpu", &cpu, "cpu.cfs_period_us")?.parse().ok()?,
        cpu_quota_us: file("cpu", &cpu, "cpu.cfs_quota_us")?.parse().ok()?,
        periods: value(&stat, "nr_periods")?,
        throttled: value(&stat, "nr_throttled")?,
        throttled_ns: value(&stat, "throttled_time")?,
        memory_limit: file("memory", &memory, "memory.limit_in_bytes")?,
        memory_usage: file("memory", &memory, "memory.usage_in_bytes")?,
        accounts,
        cpu,
        memory,
    })
}

/// A group's name as a path below the place of all.
fn below(name: &str) -> &str {
    name.trim_start_matches('/')
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// A number of lines like `nr_periods 5`.
fn value(stat: &str, key: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder with these files, which goes with it.
    struct Shown(PathBuf);

    impl Shown {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let name = format!("corelode-cgroup-{name}-{}", std::process::id());
            let shown = Self(std::env::temp_dir().join(name));
            for (file, text) in files {
                let path = shown.0.join(file);
                fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                fs::write(path, text).expect("written");
            }
            shown
        }
    }

    impl Drop for Shown {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_group_of_version_2_is_told() {
        let mut files = vec![
            (
                "a.slice/b/cpu.stat",
                "usage_usec 7\nuser_usec 5\nnr_periods 4\nnr_throttled 3\nthrottled_usec 2\n",
            ),
            ("a.slice/b/cpu.max", "50000 100000\n"),
            ("a.slice/b/memory.max", "max\n"),
            ("a.slice/b/memory.current", "4096\n"),
        ];
        let shown = Shown::new("two", &files);
        let told = read("0::/a.slice/b\n", &shown.0).expect("a group");
        assert_eq!(
            (&*told.accounts, &*told.cpu, &*told.memory),
            ("/a.slice/b", "/a.slice/b", "/a.slice/b")
        );
        assert_eq!(
            (told.cpu_usage_ns, told.cpu_period_us, told.cpu_quota_us),
            (7_000, 100_000, 50_000)
        );
        assert_eq!((told.periods, told.throttled, told.throttled_ns), (4, 3, 2_000));
        assert_eq!((&*told.memory_limit, &*told.memory_usage), ("max", "4096"));
        // The group of all processes knows no bounds, and nothing is made up for it.
        assert!(read("0::/\n", &shown.0).is_none());
        drop(shown);
        files.pop();
        let shown = Shown::new("lacking", &files);
        assert!(read("0::/a.slice/b\n", &shown.0).is_none());
    }

    /// Nothing was told of them.
    #[test]
    fn groups_of_version_1_are_told_each_by_its_controller() {
        let shown = Shown::new(
            "one",
            &[
                ("cpuacct/a/cpuacct.usage", "70\n"),
                ("cpu/cpu.cfs_period_us", "100000\n"),
                ("cpu/cpu.cfs_quota_us", "-1\n"),
                ("cpu/cpu.stat", "nr_periods 4\nnr_throttled 3\nthrottled_time 2\n"),
                ("memory/m/n/memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory/m/n/memory.usage_in_bytes", "4096\n"),
            ],
        );
        let groups = "9:name=systemd:/\n4:memory:/m/n\n2:cpuset,cpuacct:/a\n1:cpu:/\n0::/\n";
        let told = read(groups, &shown.0).expect("groups");
        assert_eq!((&*told.accounts, &*told.cpu, &*told.memory), ("/a", "/", "/m/n"));
        assert_eq!((told.cpu_usage_ns, told.cpu_period_us, told.cpu_quota_us), (70, 100_000, -1));
        assert_eq!((told.periods, told.throttled, told.throttled_ns), (4, 3, 2));
        assert_eq!((&*told.memory_limit, &*told.memory_usage), ("9223372036854771712", "4096"));
        for lacking in ["", "4:memory:/m/n\n1:cpu:/\n", "4:memory:/m\n2:cpuacct:/a\n1:cpu:/\n"] {
            assert!(read(lacking, &shown.0).is_none(), "{lacking:?}");
        }
    }
}
