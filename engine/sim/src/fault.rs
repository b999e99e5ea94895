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

/// One planned failure.
#[derive(Clone, Debug)]
struct Plan {
    call: Call,
    path_part: String,
    left: u64,
    kind: ErrorKind,
}

/// All that is planned.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    plans: Vec<Plan>,
    /// Calls that change the disk, left until the power is cut.
    cut_after: Option<u64>,
    /// Calls so far that change the disk.
    changes: u64,
}

impl Faults {
    /// Plans that the `nth` (from 1) such call on a path that contains `path_part` fails.
    pub(crate) fn fail(&mut self, call: Call, path_part: &str, nth: u64, kind: ErrorKind) {
        assert!(nth > 0, "the next call is number 1");
        self.plans.push(Plan { call, path_part: path_part.to_owned(), left: nth, kind });
    }

    /// Plans that the power is cut while the `nth` (from 1) changing call is under way.
    pub(crate) fn cut(&mut self, nth: u64) {
        assert!(nth > 0, "the next call is number 1");
        self.cut_after = Some(nth);
    }

    /// Forgets all plans.
    pub(crate) fn clear(&mut self) {
        self.plans.clear();
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
            if plan.call != call || !path.contains(&plan.path_part) {
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
        faults.fail(Call::Sync, "log", 2, ErrorKind::Io);
        assert_eq!(faults.meet(Call::Sync, "/a/log-1"), (None, false));
        assert_eq!(faults.meet(Call::Sync, "/a/other"), (None, false));
        assert_eq!(faults.meet(Call::Write, "/a/log-1"), (None, false));
        assert_eq!(faults.meet(Call::Sync, "/a/log-1"), (Some(ErrorKind::Io), false));
        assert_eq!(faults.meet(Call::Sync, "/a/log-1"), (None, false));
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
