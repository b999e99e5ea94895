//! What is of no more use goes: where that is much, on a thread for which nobody waits.
//!
//! A large value is many small pieces, and each of them is given back by itself: the buckets of one refused search
//! held a core for 480 ms, the meaning of sixty thousand terms in three hundred indices for 900. Such a value
//! leaves its executor however whoever had it ends: with an answer, with an error, in the middle of it, where its
//! client has left.
//!
//! Always true
//! 1. A value goes once: at once where no thread takes leftovers (workers, simulated cores), else on that thread.
//! 2. What a value holds (memory that was taken for it) is held until it is gone. What was taken for it and stands
//!    beside it goes behind what is on its way ([`is_behind`]): nobody has it again while that is there.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Something that is to go.
pub type Leftover = Box<dyn Send>;

/// Lets what is given go elsewhere.
type Taker = Rc<dyn Fn(Leftover)>;

/// How many values are on their way, of all threads.
static GOING: AtomicUsize = AtomicUsize::new(0);

/// A value on its way; counted until it is gone.
struct Going<T> {
    value: Option<T>,
}

impl<T> Going<T> {
    fn new(value: T) -> Self {
        GOING.fetch_add(1, Ordering::Relaxed);
        Self { value: Some(value) }
    }
}

impl<T> Drop for Going<T> {
    fn drop(&mut self) {
        drop(self.value.take());
        GOING.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    static TAKER: RefCell<Option<Taker>> = const { RefCell::new(None) };
}

/// From now on `taker` is given what is left on the calling thread, until that ends.
pub fn take_by(taker: impl Fn(Leftover) + 'static) {
    TAKER.set(Some(Rc::new(taker)));
}

fn taker() -> Option<Taker> {
    // A thread that ends has no taker any more.
    TAKER.try_with(|taker| taker.borrow().clone()).ok().flatten()
}

/// Lets `value` go, elsewhere where the calling thread has a taker.
pub fn leave<T: Send + 'static>(value: T) {
    match taker() {
        Some(taker) => taker(Box::new(Going::new(value))),
        None => drop(value),
    }
}

/// Is anything on its way that is not gone, where what the calling thread leaves now would go behind it? One thread lets
/// all go, in the order in which it was left.
pub fn is_behind() -> bool {
    GOING.load(Ordering::Relaxed) > 0
        && TAKER.try_with(|taker| taker.borrow().is_some()).unwrap_or(false)
}

/// A value that goes elsewhere where it is large.
pub struct Leaving<T: Send + 'static> {
    /// There until it leaves.
    value: Option<T>,
    is_large: fn(&T) -> bool,
}

impl<T: Send + 'static> Leaving<T> {
    /// `value`, of which `is_large` tells at its end whether it takes more than a moment to go (some 100 µs). It is
    /// asked on executors alone, and looks no further than it must.
    pub fn new(value: T, is_large: fn(&T) -> bool) -> Self {
        Self { value: Some(value), is_large }
    }

    /// `value`, of which that is known.
    pub fn known(value: T, is_large: bool) -> Self {
        Self::new(value, if is_large { |_| true } else { |_| false })
    }

    /// It goes where any value does.
    pub fn stay(mut self) -> T {
        self.value.take().expect("it is there until it leaves")
    }
}

impl<T: Send + 'static> Deref for Leaving<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is there until it leaves")
    }
}

impl<T: Send + 'static> DerefMut for Leaving<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is there until it leaves")
    }
}

impl<T: Send + 'static> Drop for Leaving<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take()
            && let Some(taker) = taker()
            && (self.is_large)(&value)
        {
            taker(Box::new(Going::new(value)));
        }
    }
}

impl<'a, T: Send + 'static> IntoIterator for &'a Leaving<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&**self).into_iter()
    }
}

impl<T: Clone + Send + 'static> Clone for Leaving<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), is_large: self.is_large }
    }
}

impl<T: PartialEq + Send + 'static> PartialEq for Leaving<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq + Send + 'static> Eq for Leaving<T> {}

impl<T: fmt::Debug + Send + 'static> fmt::Debug for Leaving<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_is_large_goes_elsewhere_and_nothing_goes_twice() {
        let alive = Arc::new(());
        let values = |count: usize| vec![Arc::clone(&alive); count];
        let many = |values: &Vec<Arc<()>>| values.len() > 2;
        let left = Rc::new(RefCell::new(Vec::<Leftover>::new()));
        // Nobody takes anything yet.
        drop(Leaving::new(values(3), many));
        leave(values(3));
        assert_eq!(Arc::strong_count(&alive), 1);
        let taken = Rc::clone(&left);
        take_by(move |leftover| taken.borrow_mut().push(leftover));
        drop(Leaving::new(values(2), many));
        drop(Leaving::known(values(3), false));
        assert_eq!((Arc::strong_count(&alive), left.borrow().len()), (1, 0));
        drop(Leaving::new(values(3), many));
        drop(Leaving::known(values(1), true));
        leave(values(1));
        assert_eq!((Arc::strong_count(&alive), left.borrow().len()), (6, 3));
        let stays = Leaving::known(values(4), true).stay();
        assert_eq!(left.borrow().len(), 3);
        drop(stays);
        left.borrow_mut().clear();
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn it_is_measured_at_its_end_and_where_it_may_leave_alone() {
        thread_local! {
            static ASKED: Cell<usize> = const { Cell::new(0) };
        }
        let is_large = |values: &Vec<u8>| {
            ASKED.set(ASKED.get() + 1);
            values.len() > 2
        };
        drop(Leaving::new(vec![0; 3], is_large));
        assert_eq!(ASKED.get(), 0, "nobody takes it");
        let left = Rc::new(Cell::new(0));
        let count = Rc::clone(&left);
        take_by(move |_| count.set(count.get() + 1));
        let mut grows = Leaving::new(Vec::new(), is_large);
        grows.extend([0; 9]);
        assert_eq!((&grows).into_iter().count(), 9);
        drop(grows);
        assert_eq!((ASKED.get(), left.get()), (1, 1));
    }
}
