//! The locks and atomics of this crate: std's, or loom's where its model checker runs the tests.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Locks, also where another holder panicked: no section of this crate leaves a value half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What loom's tests lean on.
#[cfg(all(test, loom))]
pub(crate) mod model {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};

    use loom::sync::{Condvar, Mutex};

    /// A waker that a loom thread can wait for.
    struct Bell {
        rung: Mutex<bool>,
        heard: Condvar,
    }

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            *self.rung.lock().expect("no holder panics") = true;
            self.heard.notify_one();
        }
    }

    /// Drives `future`, sleeping until it is woken; a lost wake is a deadlock that loom reports.
    pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
        let mut future = pin!(future);
        let bell = Arc::new(Bell { rung: Mutex::new(false), heard: Condvar::new() });
        let waker = Waker::from(Arc::clone(&bell));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            let mut rung = bell.rung.lock().expect("no holder panics");
            while !*rung {
                rung = bell.heard.wait(rung).expect("no holder panics");
            }
            *rung = false;
        }
    }
}
