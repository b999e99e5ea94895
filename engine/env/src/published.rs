//! The newest value of something, for all cores: one writes, all read.
//!
//! Always true
//! 1. A reader sees a whole value, never older than one it has seen before.
//! 2. [`Watch::get`] costs one atomic load while nothing new was stored; the lock is taken only for
//!    the few instructions in which a pointer is copied or exchanged.
//!
//! 3. Whoever waits for another version than the newest is woken by the store that makes it.
//!
//! The version is raised while the lock is held and read back under the lock, so a value and its
//! version always belong together, and no store slips in between a waiter's look and its waiting.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// A value that is replaced as a whole.
pub struct Published<T> {
    version: AtomicU64,
    slot: Mutex<Slot<T>>,
}

/// What the lock guards.
struct Slot<T> {
    value: Arc<T>,
    /// Who waits for the next value. Each takes itself out when it goes away, so there are never
    /// more than there are waiting futures.
    waiting: Vec<(u64, Waker)>,
    /// Number of the next one who waits.
    next: u64,
}

impl<T> Published<T> {
    /// Publishes a first value.
    pub fn new(value: Arc<T>) -> Self {
        let slot = Slot { value, waiting: Vec::new(), next: 0 };
        Self { version: AtomicU64::new(1), slot: Mutex::new(slot) }
    }

    /// The newest value.
    pub fn load(&self) -> Arc<T> {
        Arc::clone(&lock(&self.slot).value)
    }

    /// Replaces the value, and wakes who waits. The old one lives on in those who hold it.
    pub fn store(&self, value: Arc<T>) {
        let (before, waiting) = {
            let mut slot = lock(&self.slot);
            self.version.fetch_add(1, Ordering::Release);
            (std::mem::replace(&mut slot.value, value), std::mem::take(&mut slot.waiting))
        };
        // Outside the lock: dropping the last holder of a view may unmap files, and who is woken
        // takes the lock.
        drop(before);
        for (_, waker) in waiting {
            waker.wake();
        }
    }

    /// Ends when another version than `seen` is the newest.
    pub fn changed(&self, seen: u64) -> Changed<'_, T> {
        Changed { source: self, seen, number: None }
    }

    /// The newest value with its version.
    fn load_versioned(&self) -> (u64, Arc<T>) {
        let slot = lock(&self.slot);
        (self.version.load(Ordering::Relaxed), Arc::clone(&slot.value))
    }
}

/// A wait for the next value ([`Published::changed`]).
pub struct Changed<'a, T> {
    source: &'a Published<T>,
    seen: u64,
    /// Under which its waker stands; `None` before the first look.
    number: Option<u64>,
}

impl<T> Future for Changed<'_, T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut slot = lock(&this.source.slot);
        // Under the lock: a store that raised it before has been seen, one after will wake.
        if this.source.version.load(Ordering::Relaxed) != this.seen {
            return Poll::Ready(());
        }
        let standing = slot.waiting.iter_mut().find(|(number, _)| Some(*number) == this.number);
        match standing {
            Some((_, waker)) => waker.clone_from(context.waker()),
            None => {
                let number = slot.next;
                slot.next += 1;
                slot.waiting.push((number, context.waker().clone()));
                this.number = Some(number);
            }
        }
        Poll::Pending
    }
}

impl<T> Drop for Changed<'_, T> {
    fn drop(&mut self) {
        if let Some(mine) = self.number {
            lock(&self.source.slot).waiting.retain(|(number, _)| *number != mine);
        }
    }
}

impl<T> fmt::Debug for Changed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Changed(from version {})", self.seen)
    }
}

impl<T: fmt::Debug> fmt::Debug for Published<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Published").field(&self.load()).finish()
    }
}

/// One core's reader of a published value; keeps the newest value it has seen.
pub struct Watch<T> {
    source: Arc<Published<T>>,
    version: u64,
    value: Arc<T>,
}

impl<T> Watch<T> {
    /// A reader of `source`.
    pub fn new(source: Arc<Published<T>>) -> Self {
        let (version, value) = source.load_versioned();
        Self { source, version, value }
    }

    /// The newest value.
    #[inline]
    pub fn get(&mut self) -> &Arc<T> {
        if self.source.version.load(Ordering::Acquire) != self.version {
            (self.version, self.value) = self.source.load_versioned();
        }
        &self.value
    }

    /// The newest version: another whenever the value is another.
    pub fn version(&mut self) -> u64 {
        self.get();
        self.version
    }

    /// What is watched.
    pub fn source(&self) -> &Arc<Published<T>> {
        &self.source
    }
}

impl<T> Clone for Watch<T> {
    fn clone(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            version: self.version,
            value: Arc::clone(&self.value),
        }
    }
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch(version {})", self.version)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_watch_sees_what_was_stored() {
        let published = Arc::new(Published::new(Arc::new(1)));
        let mut watch = Watch::new(Arc::clone(&published));
        assert_eq!(**watch.get(), 1);
        published.store(Arc::new(2));
        published.store(Arc::new(3));
        assert_eq!(**watch.get(), 3);
        assert_eq!(*published.load(), 3);
    }

    /// Counts how often it was woken.
    struct Bell(std::sync::atomic::AtomicU64);

    impl std::task::Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn who_waits_is_woken_by_the_store_and_by_nothing_else() {
        let published = Arc::new(Published::new(Arc::new(1)));
        let mut watch = Watch::new(Arc::clone(&published));
        let bell = Arc::new(Bell(std::sync::atomic::AtomicU64::new(0)));
        let waker = Waker::from(Arc::clone(&bell));
        let mut context = Context::from_waker(&waker);
        let rung = || bell.0.load(std::sync::atomic::Ordering::Relaxed);
        let seen = watch.version();
        let mut waits = published.changed(seen);
        for _ in 0..3 {
            assert!(Pin::new(&mut waits).poll(&mut context).is_pending());
        }
        assert_eq!(lock(&published.slot).waiting.len(), 1, "it stands there once");
        assert_eq!(rung(), 0);
        published.store(Arc::new(2));
        assert_eq!(rung(), 1);
        assert!(Pin::new(&mut waits).poll(&mut context).is_ready());
        assert_eq!((**watch.get(), watch.version()), (2, seen + 1));

        let mut gone = published.changed(watch.version());
        assert!(Pin::new(&mut gone).poll(&mut context).is_pending());
        drop(gone);
        assert!(lock(&published.slot).waiting.is_empty(), "it took itself out");
    }

    #[test]
    fn an_old_value_lives_while_it_is_held() {
        let published = Published::new(Arc::new(String::from("old")));
        let held = published.load();
        published.store(Arc::new(String::from("new")));
        assert_eq!(*held, "old");
        assert_eq!(Arc::strong_count(&held), 1, "nothing else keeps it");
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;

    #[test]
    fn a_reader_never_goes_back_and_ends_at_the_newest() {
        loom::model(|| {
            let published = Arc::new(Published::new(Arc::new(0)));
            let writer = {
                let published = Arc::clone(&published);
                loom::thread::spawn(move || {
                    published.store(Arc::new(1));
                    published.store(Arc::new(2));
                })
            };
            let mut watch = Watch::new(Arc::clone(&published));
            let first = **watch.get();
            let second = **watch.get();
            assert!(first <= second);
            writer.join().expect("stored");
            assert_eq!(**watch.get(), 2);
        });
    }

    #[test]
    fn no_wake_is_lost_between_a_look_and_a_store() {
        loom::model(|| {
            let published = Arc::new(Published::new(Arc::new(0)));
            let writer = {
                let published = Arc::clone(&published);
                loom::thread::spawn(move || published.store(Arc::new(1)))
            };
            let mut watch = Watch::new(Arc::clone(&published));
            loop {
                // The version first: a value that is newer than it ends the wait at once.
                let seen = watch.version();
                if **watch.get() == 1 {
                    break;
                }
                crate::sync::model::block_on(published.changed(seen));
            }
            writer.join().expect("stored");
        });
    }

    /// A view of files: it says whether it still stands, and that it ended.
    struct View {
        stands: AtomicU64,
        ended: Arc<AtomicU64>,
    }

    impl View {
        fn new(ended: &Arc<AtomicU64>) -> Arc<Self> {
            Arc::new(Self { stands: AtomicU64::new(1), ended: Arc::clone(ended) })
        }
    }

    impl Drop for View {
        fn drop(&mut self) {
            self.stands.store(0, Ordering::Release);
            self.ended.fetch_add(1, Ordering::AcqRel);
        }
    }

    #[test]
    fn a_view_ends_once_with_its_last_holder_and_not_under_a_reader() {
        loom::model(|| {
            let ended = Arc::new(AtomicU64::new(0));
            let published = Arc::new(Published::new(View::new(&ended)));
            let reader = {
                let published = Arc::clone(&published);
                loom::thread::spawn(move || {
                    let view = published.load();
                    assert_eq!(view.stands.load(Ordering::Acquire), 1);
                    loom::thread::yield_now();
                    assert_eq!(view.stands.load(Ordering::Acquire), 1, "held, so it stands");
                })
            };
            published.store(View::new(&ended));
            assert!(ended.load(Ordering::Acquire) <= 1, "the new one is published");
            reader.join().expect("read");
            assert_eq!(ended.load(Ordering::Acquire), 1, "the old one, once");
            drop(published);
            assert_eq!(ended.load(Ordering::Acquire), 2, "each once");
        });
    }

    #[test]
    fn what_was_written_before_the_store_is_seen_after_the_get() {
        loom::model(|| {
            let published = Arc::new(Published::new(Arc::new((0, 0))));
            let writer = {
                let published = Arc::clone(&published);
                loom::thread::spawn(move || published.store(Arc::new((7, 7))))
            };
            let mut watch = Watch::new(published);
            let seen = **watch.get();
            assert!(seen == (0, 0) || seen == (7, 7));
            writer.join().expect("stored");
        });
    }
}
