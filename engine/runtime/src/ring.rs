//! How rings are made: what ends for a core does not interrupt it.
//!
//! glommio asks for its rings without flags. Then whatever ends in them for another processor's doing (a
//! client has sent bytes, mostly) sends an interrupt to the core, wherever that is in its work; behind a
//! hypervisor that costs as much as a short search. With `IORING_SETUP_COOP_TASKRUN` (Linux 5.19) it is
//! put down when the core next enters the kernel: to send, to look at its rings, at the clock's tick.
//!
//! glommio has no setting for it. It calls liburing, whose functions for the system calls are linked by
//! name; those below have these names and come first, so that the linker takes no others.
//!
//! Always true
//! 1. Where the kernel does not know the flag, a ring is made without it.
//! 2. Rings that are polled (`IORING_SETUP_IOPOLL`) are made as they are asked for.

#![allow(unsafe_code, reason = "functions of liburing's names; each block says why it is sound")]

use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_long, c_uint, c_void};

/// What ended is put down when the core enters the kernel anyway.
const COOP_TASKRUN: u32 = 1 << 8;

/// What ended is looked for in the device.
const IOPOLL: u32 = 1 << 0;

/// Bytes of a set of signals.
const SIGNALS_BYTES: c_int = 8;

/// The kernel has made a ring that does not interrupt.
static IS_USED: AtomicBool = AtomicBool::new(false);

/// Whether rings do not interrupt their cores: the kernel knows how, and the linker took what is here.
pub(crate) fn is_cooperative() -> bool {
    IS_USED.load(Ordering::Relaxed)
}

/// What a ring is asked for begins so.
#[repr(C)]
struct Params {
    entries: [u32; 2],
    flags: u32,
}

/// # Safety
/// As `io_uring_setup(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sys_io_uring_setup(entries: c_uint, params: *mut c_void) -> c_int {
    let head = params.cast::<Params>();
    // SAFETY: the caller gives what the system call takes, which begins so.
    let asked = unsafe { (*head).flags };
    let setup = |flags: u32| {
        // SAFETY: as above; nobody else has it.
        unsafe {
            (*head).flags = flags;
            libc::syscall(libc::SYS_io_uring_setup, c_long::from(entries), params) as c_int
        }
    };
    if asked & IOPOLL == 0 {
        let ring = setup(asked | COOP_TASKRUN);
        if ring >= 0 {
            IS_USED.store(true, Ordering::Relaxed);
            return ring;
        }
    }
    setup(asked)
}

/// # Safety
/// As `io_uring_register(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sys_io_uring_register(
    ring: c_int,
    code: c_uint,
    what: *const c_void,
    count: c_uint,
) -> c_int {
    let (ring, code, count) = (c_long::from(ring), c_long::from(code), c_long::from(count));
    // SAFETY: the caller gives what the system call takes.
    unsafe { libc::syscall(libc::SYS_io_uring_register, ring, code, what, count) as c_int }
}

/// # Safety
/// As `io_uring_enter(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sys_io_uring_enter2(
    ring: c_int,
    submitted: c_uint,
    least: c_uint,
    flags: c_uint,
    what: *const c_void,
    bytes: c_int,
) -> c_int {
    let [submitted, least, flags] = [submitted, least, flags].map(c_long::from);
    let (ring, bytes) = (c_long::from(ring), c_long::from(bytes));
    // SAFETY: the caller gives what the system call takes.
    unsafe {
        libc::syscall(libc::SYS_io_uring_enter, ring, submitted, least, flags, what, bytes) as c_int
    }
}

/// # Safety
/// As `io_uring_enter(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sys_io_uring_enter(
    ring: c_int,
    submitted: c_uint,
    least: c_uint,
    flags: c_uint,
    signals: *const c_void,
) -> c_int {
    // SAFETY: the caller gives what the system call takes.
    unsafe { __sys_io_uring_enter2(ring, submitted, least, flags, signals, SIGNALS_BYTES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_have_such_rings_where_the_kernel_does() {
        let executor = glommio::LocalExecutorBuilder::default().make();
        assert!(executor.is_ok(), "{executor:?}");
        // As large as what the system call takes.
        let mut params = [0u32; 30];
        params[2] = COOP_TASKRUN;
        // SAFETY: it is as large as that, and lives as long as the call.
        let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, params.as_mut_ptr()) };
        assert_eq!(is_cooperative(), ring >= 0, "the linker took liburing's functions");
        if let Ok(ring) = c_int::try_from(ring)
            && ring >= 0
        {
            // SAFETY: nobody else has it.
            unsafe { libc::close(ring) };
        }
    }
}
