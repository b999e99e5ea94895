//! What is to go wrong, and when.

use env::ErrorKind;

/// The kinds of calls that reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// `create`, and the first step of `save`.
    Create,
    /// `open` and `map`.
    Open,
    /// `read_at`.
    Read,
    /// `write_at`, and the second step of `save`.
    Write,
    /// `sync_data` and `sync_all`, and the third step of `save`.
    Sync,
    /// `rename`, and the fourth step of `save`.
    Rename,
    /// `remove` and `remove_dir`.
    Remove,
    /// `create_dir`.
    CreateDir,
    /// `sync_dir`, and the last step of `save`.
    SyncDir,
    /// `list`, `free_bytes` and `len`: nothing changes.
    Look,
}

impl Call {
    /// Whether it may change what is on the disk.
    pub fn changes(self) -> bool {
        !matches!(self, Self::Open | Self::Read | Self::Look)
    }
}

/// How a disk lies about a write that it says it has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Nothing was written.
    Lost,
    /// It was written to another place of the file.
    Misdirected,
    /// It is read back until the power goes; then the older bytes are there again.
    Stale,
}

/// One planned failure; without a call it meets any that may change the disk.
#[derive(Clone, Debug)]
struct Plan {
    call: Option<Call>,
    path_part: String,
    left: u64,
    kind: ErrorKind,
}

/// All that is planned.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    plans: Vec<Plan>,
    /// Lies, with the writes left until each.
    lies: Vec<(Lie, String, u64)>,
    /// Lies that were told, and about which file.
    told: Vec<(Lie, String)>,
    /// Calls that change the disk, left until the power is cut.
    cut_after: Option<u64>,
    /// Calls so far that change the disk.
    changes: u64,
}

impl Faults {
    /// Plans that the `nth` (from 1) such call on a path that contains `path_part` fails.
    pub(crate) fn fail(&mut self, call: Option<Call>, path_part: &str, nth: u64, kind: ErrorKind) {
        assert!(nth > 0, "the next call is number 1");
        self.plans.push(Plan { call, path_part: path_part.to_owned(), left: nth, kind });
    }

    /// Plans a lie about the `nth` (from 1) write to a path that contains `path_part`.
    pub(crate) fn lie(&mut self, lie: Lie, path_part: &str, nth: u64) {
        assert!(nth > 0, "the next write is number 1");
        self.lies.push((lie, path_part.to_owned(), nth));
    }

    /// Whether the disk lies about this write, which it counts.
    pub(crate) fn lies(&mut self, path: &str) -> Option<Lie> {
        let mut told = None;
        self.lies.retain_mut(|(lie, part, left)| {
            if path.contains(part.as_str()) {
                *left -= 1;
                if *left == 0 {
                    told = Some(*lie);
                }
            }
            *left > 0
        });
        if let Some(lie) = told {
            self.told.push((lie, path.to_owned()));
        }
        told
    }

    /// Lies that were told.
    pub(crate) fn told(&self) -> &[(Lie, String)] {
        &self.told
    }

    /// Plans that the power is cut while the `nth` (from 1) changing call is under way.
    pub(crate) fn cut(&mut self, nth: u64) {
        assert!(nth > 0, "the next call is number 1");
        self.cut_after = Some(nth);
    }

    /// Forgets all plans.
    pub(crate) fn clear(&mut self) {
        self.plans.clear();
        self.lies.clear();
        self.cut_after = None;
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Counts a call: how it fails, if it does, and whether the power goes now.
    pub(crate) fn meet(&mut self, call: Call, path: &str) -> (Option<ErrorKind>, bool) {
        let mut cut = false;
        if call.changes() {
            self.changes += 1;
            if let Some(left) = &mut self.cut_after {
                *left -= 1;
                cut = *left == 0;
            }
            if cut {
                self.cut_after = None;
            }
        }
        let mut failure = None;
        self.plans.retain_mut(|plan| {
            let meets = plan.call.map_or(call.changes(), |planned| planned == call);
            if !meets || !path.contains(&plan.path_part) {
                return true;
            }
            plan.left -= 1;
            if plan.left == 0 {
                failure = Some(plan.kind);
            }
            plan.left > 0
        });
        (failure, cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_call_on_the_path_fails_once() {
        let mut faults = Faults::default();
        faults.fail(Some(Call::Sync), "log", 2, ErrorKind::Io);
        assert_eq!(faults.meet(Call::Sync, "/a/log-1"), (None, false));
        assert_eq!(faults.meet(Call::Sync, "/a/other"), (None, false));
        assert_eq!(faults.meet(Call::Write, "/a/log-1"), (None, false));
        assert_eq!(faults.meet(Call::Sync, "/a/log-1"), (Some(ErrorKind::Io), false));
        assert_eq!(faults.meet(Call::Sync, "/a/log-1"), (None, false));
    }

    #[test]
    fn the_nth_change_fails_whatever_it_is() {
        let mut faults = Faults::default();
        faults.fail(None, "", 2, ErrorKind::NoSpace);
        assert_eq!(faults.meet(Call::Write, "/a").0, None);
        assert_eq!(faults.meet(Call::Read, "/a").0, None);
        assert_eq!(faults.meet(Call::Rename, "/b").0, Some(ErrorKind::NoSpace));
        assert_eq!(faults.meet(Call::Rename, "/b").0, None);
    }

    #[test]
    fn the_nth_write_is_lied_about_once() {
        let mut faults = Faults::default();
        faults.lie(Lie::Lost, "log", 2);
        let lies = ["/log", "/manifest", "/log", "/log"].map(|path| faults.lies(path));
        assert_eq!(lies, [None, None, Some(Lie::Lost), None]);
        assert_eq!(faults.told(), [(Lie::Lost, "/log".to_owned())]);
    }

    #[test]
    fn only_changing_calls_count_towards_the_cut() {
        let mut faults = Faults::default();
        faults.cut(2);
        assert!(!faults.meet(Call::Read, "/a").1);
        assert!(!faults.meet(Call::Write, "/a").1);
        assert!(!faults.meet(Call::Look, "/a").1);
        assert!(faults.meet(Call::Sync, "/a").1);
        assert!(!faults.meet(Call::Sync, "/a").1);
    }
}
