//! Tables that a scorer needs while it fills one window, lent by its thread for so long.
//!
//! A number for each place of a window is tens of kilobytes, and a query has thousands of nodes, of which one after the
//! other fills: each with a table of its own, a thousand ranges over two fields held 110 MB.
//!
//! Always true
//! 1. What is lent is blank: all zero, no hits. Whoever gives it back leaves numbers as blank as it found them.
//! 2. A thread keeps no more of a kind than [`KEPT_MAX`]; queries that nest deeper make some anew.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use super::{Hits, WINDOW};

/// So many of a kind are kept.
const KEPT_MAX: usize = 4;

/// Numbers by their places in a window.
pub type Numbers<T> = [T; WINDOW as usize];

/// Those of a thread that nobody has now.
type Spare<T> = RefCell<Vec<Box<T>>>;

/// What can be lent.
pub trait Blank: Sized + 'static {
    /// A new one.
    fn blank() -> Box<Self>;

    /// Is it as it was lent? Asked in tests alone.
    fn is_blank(&self) -> bool;

    /// What the next one does not mind about.
    fn clear(&mut self) {}

    /// Does something with those that are there; nothing at the end of a thread.
    fn with_spare<R>(use_them: impl FnOnce(&mut Vec<Box<Self>>) -> R) -> Option<R>;
}

macro_rules! numbers {
    ($number:ty, $zero:expr, $spare:ident) => {
        thread_local! {
            static $spare: Spare<Numbers<$number>> = const { RefCell::new(Vec::new()) };
        }

        impl Blank for Numbers<$number> {
            fn blank() -> Box<Self> {
                Box::new([$zero; WINDOW as usize])
            }

            fn is_blank(&self) -> bool {
                self.iter().all(|number| *number == $zero)
            }

            fn with_spare<R>(use_them: impl FnOnce(&mut Vec<Box<Self>>) -> R) -> Option<R> {
                $spare.try_with(|spare| use_them(&mut spare.borrow_mut())).ok()
            }
        }
    };
}

numbers!(f64, 0.0, DOUBLES);
numbers!(f32, 0.0, FLOATS);
numbers!(u16, 0, COUNTS);

thread_local! {
    static HITS: Spare<Hits> = const { RefCell::new(Vec::new()) };
}

impl Blank for Hits {
    fn blank() -> Box<Self> {
        Box::default()
    }

    fn is_blank(&self) -> bool {
        self.docs.is_empty() && self.scores.is_empty()
    }

    fn clear(&mut self) {
        Hits::clear(self);
    }

    fn with_spare<R>(use_them: impl FnOnce(&mut Vec<Box<Self>>) -> R) -> Option<R> {
        HITS.try_with(|spare| use_them(&mut spare.borrow_mut())).ok()
    }
}

/// A table until it goes back.
#[must_use = "dropped it is freed, and the next one is made anew"]
pub struct Lent<T: Blank>(Box<T>);

impl<T: Blank> Lent<T> {
    /// One that is spare, or a new one.
    #[inline]
    pub fn take() -> Self {
        let spare = T::with_spare(Vec::pop).flatten();
        Self(spare.unwrap_or_else(T::blank))
    }

    /// Back it goes. One that is dropped instead, as where somebody panics, is lent no more.
    #[inline]
    pub fn give_back(self) {
        let mut table = self.0;
        table.clear();
        debug_assert!(table.is_blank(), "what is lent is blank");
        T::with_spare(|spare| {
            if spare.len() < KEPT_MAX {
                spare.push(table);
            }
        });
    }
}

impl<T: Blank> Deref for Lent<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Blank> DerefMut for Lent<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare<T: Blank>() -> usize {
        T::with_spare(|spare| spare.len()).expect("the thread goes on")
    }

    #[test]
    fn what_goes_back_is_lent_again() {
        let at = |lent: &Lent<Numbers<f64>>| std::ptr::from_ref(&**lent).addr();
        let mut first = Lent::<Numbers<f64>>::take();
        first[7] = 1.0;
        first[7] = 0.0;
        let (place, second) = (at(&first), Lent::<Numbers<f64>>::take());
        assert_ne!(place, at(&second), "each has its own");
        second.give_back();
        first.give_back();
        let again = [Lent::<Numbers<f64>>::take(), Lent::take()];
        assert!(again.iter().any(|one| at(one) == place));
        assert_eq!(spare::<Numbers<f64>>(), 0);
    }

    #[test]
    fn few_are_kept_and_hits_come_back_empty() {
        let many: Vec<Lent<Hits>> = (0..10).map(|_| Lent::take()).collect();
        many.into_iter().for_each(Lent::give_back);
        assert_eq!(spare::<Hits>(), KEPT_MAX);
        let mut hits = Lent::<Hits>::take();
        hits.docs.push(1);
        hits.scores.push(1.0);
        hits.give_back();
        assert!(Lent::<Hits>::take().is_blank());
    }
}
