//! The fence around the system calls for which std has no words.
//!
//! Each function is a thin, safe face of one call; nothing here decides anything. The alternative
//! was a wrapper crate (`rustix`, `nix`): more code from outside for ten calls.
//!
//! Not here: memory maps (`mapped`) and the handler of SIGBUS (`suspect`), which have their own
//! fences.

#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::cell::Cell;
use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Turns the -1 of a system call into its error.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Bytes that an unprivileged writer may still use on the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    Ok(volume_bytes(path)?.available)
}

/// Sizes of a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeBytes {
    /// All of it.
    pub total: u64,
    /// Not in use.
    pub free: u64,
    /// What an unprivileged writer may still use.
    pub available: u64,
}

/// Sizes of the file system of `path`.
pub fn volume_bytes(path: &Path) -> io::Result<VolumeBytes> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut answer = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `path` ends in a zero byte and lives through the call; `answer` has the size that
    // the call fills. All-zero bytes are a valid `statvfs`.
    let answer = unsafe {
        checked(libc::statvfs(path.as_ptr(), answer.as_mut_ptr()))?;
        answer.assume_init()
    };
    let bytes = |blocks: u64| blocks.saturating_mul(answer.f_frsize);
    Ok(VolumeBytes {
        total: bytes(answer.f_blocks),
        free: bytes(answer.f_bfree),
        available: bytes(answer.f_bavail),
    })
}

/// Has the other side of the socket `fd` said that no more comes, or is the connection broken? Does
/// not wait; what cannot be asked counts as there.
pub fn has_hung_up(fd: RawFd) -> bool {
    let mut asked = libc::pollfd { fd, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one `pollfd`, alive through the call; a wrong descriptor is told in `revents`.
    let count = unsafe { libc::poll(&mut asked, 1, 0) };
    count == 1 && asked.revents & (libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR) != 0
}

/// Does the socket `fd` hold bytes that were not read? Reads none and does not wait; what cannot be asked holds none.
pub fn has_received(fd: RawFd) -> bool {
    let mut first = 0_u8;
    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
    // SAFETY: at most one byte is written to `first`, alive through the call; a wrong descriptor is an error.
    unsafe { libc::recv(fd, (&raw mut first).cast(), 1, flags) == 1 }
}

/// Has the open file `fd` a name still? What cannot be asked has one.
pub fn has_name(fd: RawFd) -> bool {
    let mut asked = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `asked` has the size that the call fills; a wrong descriptor is an error. All-zero bytes are a
    // valid `stat`.
    let asked = unsafe {
        if checked(libc::fstat(fd, asked.as_mut_ptr())).is_err() {
            return true;
        }
        asked.assume_init()
    };
    asked.st_nlink > 0
}

/// A second descriptor of the open file `fd`, closed on exec.
pub fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the caller's file object keeps `fd` open while it lends it; only borrowed here.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    borrowed.try_clone_to_owned()
}

/// The lowest priority that there is.
const NICENESS_MAX: i32 = 19;

/// Takes the priority of the calling thread down by `steps` (0 to 19) from where it is, as far as that goes: what counts
/// is how far it stands below the process, which somebody may have started with another priority than the normal one.
pub fn lower_priority(steps: i32) -> io::Result<()> {
    let niceness = (niceness() + steps).min(NICENESS_MAX);
    // SAFETY: takes numbers only. On Linux, 0 names the calling thread, not the whole process.
    checked(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, niceness) }).map(drop)
}

/// The addresses of this machine's interfaces that are up; those that mean something on one link alone left out.
pub fn interface_addresses() -> io::Result<Vec<IpAddr>> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: fills in the pointer that it is given.
    checked(unsafe { libc::getifaddrs(&raw mut list) })?;
    let (mut found, mut at) = (Vec::new(), list);
    // SAFETY: the list is the system's, ends with a null pointer, and is whole until it is freed below.
    while let Some(one) = unsafe { at.as_ref() } {
        at = one.ifa_next;
        let is_up = one.ifa_flags & libc::IFF_UP as libc::c_uint != 0;
        // SAFETY: where there is an address it begins with its family.
        let Some(address) = (unsafe { one.ifa_addr.as_ref() }).filter(|_| is_up) else { continue };
        let ip: Option<IpAddr> = match libc::c_int::from(address.sa_family) {
            libc::AF_INET => {
                // SAFETY: an address of this family is one of these, as the system aligns them.
                let address = unsafe { one.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned() };
                Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let address = unsafe { one.ifa_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
                let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
                (!ip.is_unicast_link_local()).then(|| ip.into())
            }
            _ => None,
        };
        found.extend(ip);
    }
    // SAFETY: made above, and freed once.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

/// The shortest time that the scheduler gives a thread in one go, in nanoseconds.
const SLICE_NS: u64 = 100_000;

/// Asks that the calling thread, when it wakes, gets a processor at once, and in return keeps it for a short time only
/// while others want it: its share stays what its priority says. For threads that answer others; Linux before 6.12
/// takes no notice.
///
/// A thread that has waited otherwise waits until the one that runs has had its time, milliseconds, however low the
/// other's priority.
pub fn prefer_short_slices() -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `sched_attr`: numbers alone.
    let mut attr: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::sched_attr>() as libc::c_uint;
    // SAFETY: 0 names the calling thread; `attr` has the size that is told, and lives through the call.
    let got = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, size, 0) };
    checked(got as libc::c_int)?;
    attr.size = size;
    attr.sched_runtime = SLICE_NS;
    // SAFETY: as above; the policy and the niceness are those that were read.
    let set = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) };
    checked(set as libc::c_int).map(drop)
}

/// A thread with a low priority computes for so long in one go.
const GO: Duration = Duration::from_micros(150);

thread_local! {
    /// When the thread last let others have its processor.
    static PAUSED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Lets others have the processor of the calling thread, where it has had it for long enough.
pub(crate) fn pause_if_due() {
    let now = Instant::now();
    if PAUSED.get().is_some_and(|paused| now.duration_since(paused) < GO) {
        return;
    }
    std::thread::yield_now();
    PAUSED.set(Some(Instant::now()));
}

/// The priority of the calling thread: -20 (highest), 0 (normal) to 19 (lowest).
pub(crate) fn niceness() -> i32 {
    // SAFETY: takes numbers only. On Linux, 0 names the calling thread, not the whole process.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// The allocator's names for the settings below: their places in `mi_option_e`, for which the binding has
/// no constants.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
const GENERIC_COLLECT: libmimalloc_sys::mi_option_t = 34;

/// After so many of its slower calls a thread looks through all of its pages: the most that it takes.
const CALLS_BETWEEN_LOOKS: libc::c_long = 1_000_000;

/// So long the allocator keeps what was freed, in milliseconds, unless it is told to give it back: for ever.
const KEPT_MS: libc::c_long = 1 << 40;

/// Makes the allocator (mimalloc, where a program chose it) give memory back only where it is told to, by
/// [`give_all_back`], and take it in small pages.
///
/// Left alone it gives all back that was freed a second ago, on whatever thread next asks it for a page: an
/// executor that freed what a large answer held was held for up to 240 ms by the kernel's unmapping. Here one
/// thread does that for all, soon and often, beside them: waiting for a second, 1,500 searches at work that were
/// refused for want of memory made 909 MB resident where 512 were allowed.
///
/// Left alone each thread looks through all of its pages, too, after ten thousand of its slower calls, wherever it is:
/// a core that had read large hits was held for 8 to 13 ms by that. What is free there is used again without, and where
/// memory is tight executors look at their beats.
///
/// Huge pages are turned off for the process: the first touch of one has the kernel clear 2 MiB, and
/// nobody else is served on that core meanwhile. Of a minute of overload they made 155 stretches
/// beyond 5 ms, where 5 are left without them; bulk indexing and searches go on as fast, in 50 MiB
/// less. Where a kernel refuses, they stay.
pub fn tame_allocator() {
    // SAFETY: sets one number, which the allocator reads whenever it likes.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, KEPT_MS) };
    // SAFETY: the same.
    unsafe { libmimalloc_sys::mi_option_set(GENERIC_COLLECT, CALLS_BETWEEN_LOOKS) };
    // SAFETY: numbers alone; sets one flag of the process, or fails.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

/// Whether executors shall give back what was freed; see [`ask_to_give_back`].
static MEMORY_IS_TIGHT: AtomicBool = AtomicBool::new(false);

/// Says whether each executor shall give back at its next beat what was freed there.
pub(crate) fn ask_to_give_back(is_tight: bool) {
    MEMORY_IS_TIGHT.store(is_tight, Ordering::Relaxed);
}

/// Gives back what was freed on the calling thread, where that was asked for.
pub(crate) fn give_back_if_asked() {
    if MEMORY_IS_TIGHT.load(Ordering::Relaxed) {
        give_back_freed();
    }
}

/// Lets the calling thread hand to the allocator, for all, what was freed on it.
fn give_back_freed() {
    // SAFETY: works on the allocator's own lists, under its own rules, like any call of `free`.
    unsafe { libmimalloc_sys::mi_collect(false) };
}

/// Lets the allocator give to the system what any thread handed to it: the calling thread is held meanwhile, tens
/// of milliseconds for hundreds of megabytes.
pub(crate) fn give_all_back() {
    // SAFETY: as above.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

/// Bytes of a page of memory.
pub fn page_bytes() -> usize {
    // SAFETY: takes a number, and answers one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

/// Processor time that the calling thread has used; 0 where the system does not tell.
pub fn thread_time() -> Duration {
    ThreadClock(libc::CLOCK_THREAD_CPUTIME_ID).time()
}

/// A clock of one thread's processor time, to be read by others.
#[derive(Clone, Copy, Debug)]
pub struct ThreadClock(libc::clockid_t);

impl ThreadClock {
    /// The calling thread's; `None` where the system has none.
    pub fn of_this_thread() -> Option<Self> {
        let mut clock = 0;
        // SAFETY: the calling thread is alive, and `clock` is a place for the answer.
        let told = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        (told == 0).then_some(Self(clock))
    }

    /// What it tells; 0 where the thread has ended.
    pub fn time(self) -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a place for the answer; the clock of a thread that has ended is an error.
        let told = unsafe { libc::clock_gettime(self.0, &raw mut time) };
        if told != 0 {
            return Duration::ZERO;
        }
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
    }
}

/// A limit of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of memory that may be locked.
    LockedMemory,
    /// Open files and sockets.
    OpenFiles,
}

/// Raises the soft value of a limit to the hard one, which needs no privilege; the value now in
/// force (`u64::MAX`: none).
pub fn raise_limit(limit: Limit) -> io::Result<u64> {
    let resource = match limit {
        Limit::LockedMemory => libc::RLIMIT_MEMLOCK,
        Limit::OpenFiles => libc::RLIMIT_NOFILE,
    };
    let mut values = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `values` is a valid, writable `rlimit`.
    checked(unsafe { libc::getrlimit(resource, &mut values) })?;
    if values.rlim_cur != values.rlim_max {
        let raised = libc::rlimit { rlim_cur: values.rlim_max, rlim_max: values.rlim_max };
        // SAFETY: `raised` is a valid `rlimit`, only read.
        if checked(unsafe { libc::setrlimit(resource, &raised) }).is_ok() {
            values = raised;
        }
    }
    Ok(if values.rlim_cur == libc::RLIM_INFINITY { u64::MAX } else { values.rlim_cur })
}

/// Which operations the kernel's io_uring offers to this process, by number. All three calls of it are made, for
/// a sandbox may allow some; the one that failed is named.
pub fn io_uring_operations() -> Result<Vec<bool>, (&'static str, io::Error)> {
    const REGISTER_PROBE: libc::c_long = 8;
    const OPERATION_COUNT_MAX: usize = 256;
    const SUPPORTED: u64 = 1;
    // `struct io_uring_params` has 120 bytes, `struct io_uring_probe` 16 and then 8 an operation.
    let mut parameters = [0u64; 15];
    let mut probe = [0u64; 2 + OPERATION_COUNT_MAX];
    let depth: libc::c_long = 2;
    // SAFETY: the second argument points at 120 zeroed, writable bytes, as the call wants.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, depth, parameters.as_mut_ptr()) };
    let fd = checked(fd as libc::c_int).map_err(|error| ("io_uring_setup", error))?;
    // SAFETY: the call before made this descriptor, and nobody else owns it.
    let ring = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: `probe` has room for the header and for as many operations as the call is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            libc::c_long::from(ring.as_raw_fd()),
            REGISTER_PROBE,
            probe.as_mut_ptr(),
            OPERATION_COUNT_MAX as libc::c_long,
        )
    };
    checked(result as libc::c_int).map_err(|error| ("io_uring_register", error))?;
    let (nothing, no_mask) = (0 as libc::c_long, std::ptr::null::<libc::c_void>());
    // SAFETY: submits nothing and waits for nothing, with no mask of signals to be read.
    let result = unsafe {
        let ring = libc::c_long::from(ring.as_raw_fd());
        libc::syscall(libc::SYS_io_uring_enter, ring, nothing, nothing, nothing, no_mask, nothing)
    };
    checked(result as libc::c_int).map_err(|error| ("io_uring_enter", error))?;
    // An operation is `{u8 op, u8 reserved, u16 flags, u32 reserved}`.
    Ok(probe[2..].iter().map(|word| (word.to_le() >> 16) & SUPPORTED != 0).collect())
}

/// Keeps what is typed at the terminal from being shown, until it is dropped.
#[derive(Debug)]
pub struct HiddenTyping {
    terminal: OwnedFd,
    before: Termios,
}

struct Termios(libc::termios);

impl std::fmt::Debug for Termios {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Termios")
    }
}

impl HiddenTyping {
    /// Hides from now on. An error where standard input is no terminal.
    pub fn begin() -> io::Result<Self> {
        let terminal = duplicate(libc::STDIN_FILENO)?;
        let mut before = MaybeUninit::<libc::termios>::zeroed();
        // SAFETY: `before` is writable and of the right size; all-zero bytes are a valid `termios`.
        let before = unsafe {
            checked(libc::tcgetattr(terminal.as_raw_fd(), before.as_mut_ptr()))?;
            before.assume_init()
        };
        let mut hidden = before;
        hidden.c_lflag &= !libc::ECHO;
        // SAFETY: `hidden` is a valid `termios`, only read.
        checked(unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSAFLUSH, &hidden) })?;
        Ok(Self { terminal, before: Termios(before) })
    }
}

impl Drop for HiddenTyping {
    fn drop(&mut self) {
        // SAFETY: `before` came from `tcgetattr`. A failure leaves the terminal without echo, and
        // there is nobody to tell.
        unsafe { libc::tcsetattr(self.terminal.as_raw_fd(), libc::TCSAFLUSH, &self.before.0) };
    }
}

/// A write beyond the longest file allowed (`ulimit -f`) fails with EFBIG, as every other failed write
/// tells why, and does not end the process by SIGXFSZ.
pub fn fail_beyond_file_size() {
    // SAFETY: ignoring a signal sets no handler. It can only fail for a number that is no signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// The signals that ask this process to stop: SIGTERM, SIGINT and SIGHUP, for a command all others too that end it.
///
/// [`StopSignals::block`] must come before the first thread is made, so that each thread inherits
/// the mask and the signals wait for [`StopSignals::wait`].
#[derive(Clone, Copy)]
pub struct StopSignals(libc::sigset_t);

/// Signals that end a process, unless it says otherwise, and tell no fault of its own.
const ENDS: [libc::c_int; 11] = [
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];

impl StopSignals {
    /// Keeps SIGTERM, SIGINT and SIGHUP from ending the process; from now on they wait to be asked for. Where whoever
    /// started it had it ignore SIGHUP, as `nohup` does, that stays so.
    pub fn block() -> io::Result<Self> {
        let mut signals = vec![libc::SIGTERM, libc::SIGINT];
        signals.extend(Self::heeded(&[libc::SIGHUP])?);
        Self::block_these(&signals)
    }

    /// Does it say that the terminal is gone?
    pub fn is_hangup(signal: i32) -> bool {
        signal == libc::SIGHUP
    }

    /// The same of a command, with every signal that would end it and that is sent to it: by its terminal
    /// (SIGHUP, SIGQUIT), by limits and timers of whoever started it. What that one had it ignore stays so:
    /// `nohup`, and a shell without job control for what runs in the background. Signals of a fault of its own
    /// end it where it stands.
    pub fn block_for_command() -> io::Result<Self> {
        Self::block_these(&Self::heeded(&ENDS)?)
    }

    /// Those of some signals that the process does not ignore.
    fn heeded(signals: &[libc::c_int]) -> io::Result<Vec<libc::c_int>> {
        let mut heeded = Vec::new();
        for &signal in signals {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: sets nothing, and `action` is writable; all-zero bytes are a valid `sigaction`.
            let action = unsafe {
                checked(libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()))?;
                action.assume_init()
            };
            if action.sa_sigaction != libc::SIG_IGN {
                heeded.push(signal);
            }
        }
        Ok(heeded)
    }

    fn block_these(signals: &[libc::c_int]) -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` fills `set` before anything reads it; the others get valid sets.
        unsafe {
            checked(libc::sigemptyset(set.as_mut_ptr()))?;
            let mut set = set.assume_init();
            for signal in signals {
                checked(libc::sigaddset(&mut set, *signal))?;
            }
            match libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) {
                0 => Ok(Self(set)),
                code => Err(io::Error::from_raw_os_error(code)),
            }
        }
    }

    /// Waits for one of the signals; its number.
    pub fn wait(&self) -> io::Result<i32> {
        let mut signal = 0;
        // SAFETY: the set was filled by `block`; `signal` is writable.
        match unsafe { libc::sigwait(&self.0, &mut signal) } {
            0 => Ok(signal),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }
}

impl std::fmt::Debug for StopSignals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StopSignals")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_tells_its_free_bytes() {
        assert!(free_bytes(Path::new("/tmp")).expect("there is a /tmp") > 0);
        let missing = free_bytes(Path::new("/no/such/folder")).expect_err("not there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_thread_may_lower_its_own_priority() {
        let thread = std::thread::spawn(|| {
            lower_priority(4).and_then(|()| lower_priority(6)).expect("needs no privilege");
            niceness()
        });
        assert_eq!(thread.join().expect("does not panic"), (niceness() + 10).min(NICENESS_MAX));
    }

    #[test]
    fn a_thread_may_ask_for_short_slices_and_keeps_its_priority() {
        let thread = std::thread::spawn(|| {
            lower_priority(3).expect("needs no privilege");
            prefer_short_slices().expect("needs no privilege");
            niceness()
        });
        assert_eq!(thread.join().expect("does not panic"), (niceness() + 3).min(NICENESS_MAX));
    }

    #[test]
    fn interfaces_have_addresses() {
        let found = interface_addresses().expect("readable");
        assert!(found.iter().any(IpAddr::is_loopback), "{found:?}");
    }

    #[test]
    fn limits_can_be_read() {
        assert!(raise_limit(Limit::OpenFiles).expect("readable") > 0);
        raise_limit(Limit::LockedMemory).expect("readable");
    }
}
