//! Long jobs of workers let those have the processor now and then who answer others.
//!
//! A kernel takes a processor from a thread that computes at its tick alone, each 4 ms where that beats 250 times a
//! second. A worker with the lowest priority has a hundredth of a processor beside an executor that is busy all the
//! time, but it has it in pieces of that length: three a second, and whoever asks then waits for one. So jobs that
//! take long say where they could pause, and their thread says whether it is time to.
//!
//! Always true: on a thread that nobody gave a way to pause, nothing happens.

use std::cell::Cell;

thread_local! {
    static GIVE: Cell<Option<fn()>> = const { Cell::new(None) };
}

/// From now on the calling thread pauses by `give`, which is called often and decides whether it is time.
pub fn give_by(give: fn()) {
    GIVE.set(Some(give));
}

/// Here the job could pause: called at least every hundred microseconds or so, and costs nothing that counts there.
#[inline]
pub fn breathe() {
    if let Some(give) = GIVE.get() {
        give();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static GIVEN: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn who_said_how_is_asked_and_nobody_else() {
        breathe();
        assert_eq!(GIVEN.get(), 0);
        give_by(|| GIVEN.set(GIVEN.get() + 1));
        breathe();
        breathe();
        assert_eq!(GIVEN.get(), 2);
        let other = std::thread::spawn(|| {
            breathe();
            GIVEN.get()
        });
        assert_eq!(other.join().expect("does not panic"), 0);
    }
}
