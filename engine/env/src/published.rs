//! The newest value of something, for all cores: one writes, all read.
//!
//! Always true
//! 1. A reader sees a whole value, never older than one it has seen before.
//! 2. [`Watch::get`] costs one atomic load while nothing new was stored; the lock is taken only for
//!    the few instructions in which a pointer is copied or exchanged.
//!
//! The version is raised while the lock is held and read back under the lock, so a value and its
//! version always belong together.

use std::fmt;
use std::sync::Arc;

use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// A value that is replaced as a whole.
pub struct Published<T> {
    version: AtomicU64,
    value: Mutex<Arc<T>>,
}

impl<T> Published<T> {
    /// Publishes a first value.
    pub fn new(value: Arc<T>) -> Self {
        Self { version: AtomicU64::new(1), value: Mutex::new(value) }
    }

    /// The newest value.
    pub fn load(&self) -> Arc<T> {
        Arc::clone(&lock(&self.value))
    }

    /// Replaces the value. The old one lives on in those who hold it.
    pub fn store(&self, value: Arc<T>) {
        let before = {
            let mut current = lock(&self.value);
            self.version.fetch_add(1, Ordering::Release);
            std::mem::replace(&mut *current, value)
        };
        // Outside the lock: dropping the last holder of a view may unmap files.
        drop(before);
    }

    /// The newest value with its version.
    fn load_versioned(&self) -> (u64, Arc<T>) {
        let current = lock(&self.value);
        (self.version.load(Ordering::Relaxed), Arc::clone(&current))
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
