//! What a search was made of goes when it ends, however it ends: where that is much, on a worker.
//!
//! Sixty thousand terms in three hundred indices are millions of small pieces; to give them all back at once
//! held a core for 0.9 s.

use std::ops::{Deref, DerefMut};

use env::turns::Lane;
use env::{Env, Spawn};

use crate::core::Core;

/// A value that goes on a worker where it is large.
pub(crate) struct Leaving<E: Env, T: Send + 'static> {
    env: E,
    lane: Lane,
    /// There until it leaves.
    value: Option<T>,
    is_large: bool,
}

impl<E: Env> Core<E> {
    /// `value`, which goes on a worker of the caller whose turn it is.
    pub(crate) fn leaving<T: Send + 'static>(&self, value: T, is_large: bool) -> Leaving<E, T> {
        let (env, lane) = (self.env().clone(), self.turns().current());
        Leaving { env, lane, value: Some(value), is_large }
    }
}

impl<E: Env, T: Send + 'static> Leaving<E, T> {
    /// It goes where any value does.
    pub(crate) fn stay(mut self) -> T {
        self.value.take().expect("it is there until it leaves")
    }
}

impl<E: Env, T: Send + 'static> Deref for Leaving<E, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is there until it leaves")
    }
}

impl<E: Env, T: Send + 'static> DerefMut for Leaving<E, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is there until it leaves")
    }
}

impl<E: Env, T: Send + 'static> Drop for Leaving<E, T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take().filter(|_| self.is_large) {
            self.env.spawn().work_unawaited(self.lane, move || drop(value));
        }
    }
}
