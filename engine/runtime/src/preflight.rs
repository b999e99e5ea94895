//! What the machine must offer, checked before anything starts: a refusal is a sentence that names
//! the call or limit and the remedy.
//!
//! Checked are the kernel's version, whether the three calls of io_uring may be made, each io_uring
//! operation that the executor uses, and the limit of locked memory. glommio itself would print a
//! joke and end the process where an operation is missing, so it must not get that far.

use std::fmt;
use std::io;

use crate::system::{self, Limit};

/// The oldest kernel that has every operation in use.
const KERNEL_MIN: (u32, u32) = (5, 8);

/// The executor refuses to start below this.
const LOCKED_BYTES_MIN: u64 = 512 << 10;

/// The container profile that allows io_uring, as a reader of the sentence finds it.
pub const CONTAINER_PROFILE: &str = "docs/guide/container-seccomp.json";

/// The io_uring operations that the executor uses, with their numbers in the kernel's interface.
const OPERATIONS: &[(usize, &str)] = &[
    (0, "NOP"),
    (1, "READV"),
    (2, "WRITEV"),
    (3, "FSYNC"),
    (4, "READ_FIXED"),
    (5, "WRITE_FIXED"),
    (6, "POLL_ADD"),
    (7, "POLL_REMOVE"),
    (9, "SENDMSG"),
    (10, "RECVMSG"),
    (11, "TIMEOUT"),
    (12, "TIMEOUT_REMOVE"),
    (13, "ACCEPT"),
    (15, "LINK_TIMEOUT"),
    (16, "CONNECT"),
    (17, "FALLOCATE"),
    (18, "OPENAT"),
    (19, "CLOSE"),
    (21, "STATX"),
    (22, "READ"),
    (23, "WRITE"),
    (26, "SEND"),
    (27, "RECV"),
];

/// Why this machine cannot run the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The kernel is older than 5.8.
    Kernel {
        /// What the kernel calls itself.
        found: String,
    },
    /// The kernel has no io_uring, or a sandbox hides a call of it.
    Missing {
        /// The call's name.
        call: &'static str,
    },
    /// The kernel or a sandbox forbids a call of io_uring.
    Forbidden {
        /// Its name.
        call: &'static str,
        /// Value of `kernel.io_uring_disabled`; 0 where it is not there.
        disabled: u8,
    },
    /// A call of io_uring failed for another reason.
    Failed {
        /// Its name.
        call: &'static str,
        /// What the system said.
        cause: String,
    },
    /// Operations of io_uring are missing.
    Operations {
        /// Their names.
        missing: Vec<&'static str>,
    },
    /// Too little memory may be locked.
    LockedMemory {
        /// The limit in bytes.
        limit: u64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel { found } => write!(
                f,
                "the kernel is {found}, but io_uring is needed as Linux {}.{} and later offer it; \
                 run on a newer kernel",
                KERNEL_MIN.0, KERNEL_MIN.1
            ),
            Self::Missing { call } => write!(
                f,
                "the call {call} does not exist here; run on a kernel built with \
                 CONFIG_IO_URING, or, in a sandbox that hides it (gVisor, an old container \
                 runtime), outside of that sandbox"
            ),
            Self::Forbidden { call, disabled: 0 } => write!(
                f,
                "the call {call} is forbidden, as container runtimes do by default; start \
                 the container with `--security-opt seccomp={CONTAINER_PROFILE}`"
            ),
            Self::Forbidden { call, disabled } => write!(
                f,
                "the call {call} is forbidden by the setting kernel.io_uring_disabled = \
                 {disabled}; run `sysctl kernel.io_uring_disabled=0` as root"
            ),
            Self::Failed { call, cause } => write!(
                f,
                "the call {call} failed: {cause}; raise `ulimit -l` (locked memory) and \
                 `ulimit -n` (open files)"
            ),
            Self::Operations { missing } => write!(
                f,
                "this kernel's io_uring lacks {}; run on Linux {}.{} or later",
                missing.join(", "),
                KERNEL_MIN.0,
                KERNEL_MIN.1
            ),
            Self::LockedMemory { limit } => write!(
                f,
                "only {} KiB of memory may be locked (RLIMIT_MEMLOCK), {} KiB are needed; run \
                 `ulimit -l unlimited` first, set LimitMEMLOCK=infinity in the systemd unit, or \
                 start the container with `--ulimit memlock=-1`",
                limit >> 10,
                LOCKED_BYTES_MIN >> 10
            ),
        }
    }
}

impl std::error::Error for Refusal {}

/// What this machine offers, read once.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What the kernel calls itself, like `6.1.0-13-amd64`.
    pub kernel: String,
    /// Which io_uring operations may be used, by number; or the call that failed, with the system's number for why.
    pub operations: Result<Vec<bool>, (&'static str, i32)>,
    /// Value of `kernel.io_uring_disabled`; 0 where it is not there.
    pub io_uring_disabled: u8,
    /// Bytes that may be locked.
    pub locked_bytes: u64,
}

impl Machine {
    /// Reads it, after raising the limit of locked memory as far as that is allowed.
    pub fn read() -> io::Result<Self> {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
        Ok(Self {
            kernel: kernel.trim().to_owned(),
            operations: system::io_uring_operations()
                .map_err(|(call, error)| (call, error.raw_os_error().unwrap_or(libc::EIO))),
            io_uring_disabled: disabled
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or_default(),
            locked_bytes: system::raise_limit(Limit::LockedMemory)?,
        })
    }

    /// Whether the server can run here.
    pub fn judge(&self) -> Result<(), Refusal> {
        // A name that is no version is believed: the operations below tell more than it does.
        if version(&self.kernel).is_some_and(|found| found < KERNEL_MIN) {
            return Err(Refusal::Kernel { found: self.kernel.clone() });
        }
        let offered = match &self.operations {
            Ok(offered) => offered,
            Err((call, libc::ENOSYS)) => return Err(Refusal::Missing { call }),
            Err((call, libc::EPERM | libc::EACCES)) => {
                return Err(Refusal::Forbidden { call, disabled: self.io_uring_disabled });
            }
            Err((call, code)) => {
                let cause = io::Error::from_raw_os_error(*code).to_string();
                return Err(Refusal::Failed { call, cause });
            }
        };
        let is_missing = |number: usize| !offered.get(number).copied().unwrap_or(false);
        let missing: Vec<_> =
            OPERATIONS.iter().filter(|(n, _)| is_missing(*n)).map(|(_, name)| *name).collect();
        if !missing.is_empty() {
            return Err(Refusal::Operations { missing });
        }
        if self.locked_bytes < LOCKED_BYTES_MIN {
            return Err(Refusal::LockedMemory { limit: self.locked_bytes });
        }
        Ok(())
    }
}

/// The first two numbers of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Machine {
        Machine {
            kernel: "6.1.0-13-amd64".into(),
            operations: Ok(vec![true; 40]),
            io_uring_disabled: 0,
            locked_bytes: 8 << 20,
        }
    }

    #[test]
    fn a_machine_with_all_it_needs_passes() {
        assert_eq!(good().judge(), Ok(()));
        let strange = Machine { kernel: "custom".into(), ..good() };
        assert_eq!(strange.judge(), Ok(()), "the operations decide where the name says nothing");
    }

    #[test]
    fn this_machine_passes() {
        Machine::read().expect("readable").judge().expect("tests run where the server runs");
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(version("5.15.0-91-generic"), Some((5, 15)));
        assert_eq!(version("6.18"), Some((6, 18)));
        assert_eq!(version(""), None);
        let old = Machine { kernel: "5.4.0".into(), ..good() };
        assert_eq!(old.judge(), Err(Refusal::Kernel { found: "5.4.0".into() }));
    }

    #[test]
    fn each_refusal_names_the_call_or_limit_and_the_remedy() {
        let (setup, enter) = ("io_uring_setup", "io_uring_enter");
        let fails = |call, code| Machine { operations: Err((call, code)), ..good() };
        let cases = [
            (Machine { kernel: "4.19.0".into(), ..good() }, ["4.19.0", "5.8"]),
            (fails(setup, libc::ENOSYS), [setup, "IO_URING"]),
            (fails(setup, libc::EPERM), [setup, "seccomp="]),
            (fails(enter, libc::EPERM), [enter, "seccomp="]),
            (
                Machine { io_uring_disabled: 2, ..fails(setup, libc::EPERM) },
                ["io_uring_disabled = 2", "sysctl"],
            ),
            (fails(setup, libc::ENOMEM), [setup, "ulimit -l"]),
            (Machine { operations: Ok(vec![true; 27]), ..good() }, ["lacks RECV", "Linux 5.8"]),
            (Machine { locked_bytes: 65_536, ..good() }, ["64 KiB", "RLIMIT_MEMLOCK"]),
        ];
        for (machine, words) in cases {
            let sentence = machine.judge().expect_err("lacks something").to_string();
            for word in words {
                assert!(sentence.contains(word), "{word} is missing in: {sentence}");
            }
        }
    }
}
