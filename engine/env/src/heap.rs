//! What a job leaves on the heap, as the allocator saw it: measured, where reckoning would have to know each shape that
//! a request may take.
//!
//! [`Counting`] stands around the allocator of the program (and of tests that ask for it); each thread adds what it is
//! given and takes off what it gives back, in a word of its own: an addition without a lock. [`left_by`] looks at
//! that word before and after.
//!
//! Always true
//! 1. Sizes are those that were asked for; what the allocator rounds up is not counted.
//! 2. Without [`Counting`] nothing is counted, and every job leaves nothing.
//! 3. The word has no destructor and is never allocated, so the allocator may use it at any time.

#![allow(unsafe_code, reason = "an allocator around another one; each call is handed on as it is")]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

thread_local! {
    /// What this thread was given, less what it gave back; of another thread perhaps, so it may be below zero.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// What this thread was given so far, less what it gave back: by itself it says nothing, two of them tell what became
/// between them.
pub fn held() -> isize {
    HELD.get()
}

/// Runs `job`; beside what it made, how many bytes more than before it the heap holds. What another thread does
/// meanwhile does not count, nor what the job drops of what was there before.
pub fn left_by<T>(job: impl FnOnce() -> T) -> (T, usize) {
    let before = held();
    let made = job();
    let more = held().wrapping_sub(before);
    (made, usize::try_from(more).unwrap_or(0))
}

#[inline]
fn count(more: usize, less: usize) {
    // No layout is larger than `isize::MAX`.
    HELD.set(HELD.get().wrapping_add(more.cast_signed()).wrapping_sub(less.cast_signed()));
}

/// An allocator that counts what the one inside gives and takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting<A>(pub A);

// SAFETY: every call goes to the allocator inside with the arguments that came, and its answer is handed back; counting
// touches one word of the thread and neither allocates nor panics.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps what `GlobalAlloc::alloc` asks of it, which is the same here.
        let place = unsafe { self.0.alloc(layout) };
        if !place.is_null() {
            count(layout.size(), 0);
        }
        place
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let place = unsafe { self.0.alloc_zeroed(layout) };
        if !place.is_null() {
            count(layout.size(), 0);
        }
        place
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; `place` came of the allocator inside, with this layout.
        let moved = unsafe { self.0.realloc(place, layout, size) };
        if !moved.is_null() {
            count(size, layout.size());
        }
        moved
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { self.0.dealloc(place, layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;

    #[global_allocator]
    static ALLOCATOR: Counting<System> = Counting(System);

    #[test]
    fn what_stays_is_counted_and_what_goes_is_not() {
        let (kept, bytes) = left_by(|| {
            let gone = vec![1u8; 1 << 20];
            let mut kept: Vec<u8> = Vec::with_capacity(10);
            kept.extend_from_slice(&gone[..100_000]);
            kept.shrink_to_fit();
            (kept, vec![0u64; 1_000])
        });
        assert_eq!(bytes, kept.0.len() + size_of_val(&*kept.1));
        assert_eq!(left_by(move || drop(kept)).1, 0, "less than before is nothing");
        let (inner, outer) = left_by(|| left_by(|| vec![0u8; 64]));
        assert_eq!((inner.1, outer), (64, 64));
        let elsewhere = std::thread::spawn(|| vec![0u8; 4_096]);
        let made = elsewhere.join().expect("it ends");
        assert_eq!(left_by(|| made.len()).1, 0, "of this thread alone");
    }
}
