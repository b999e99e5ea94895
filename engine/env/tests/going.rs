//! Memory of what is on its way. A process of its own: what goes is counted for all threads.

use std::cell::RefCell;
use std::rc::Rc;

use env::budget::Budget;
use env::leftovers;

const MIB: usize = 1 << 20;

/// What was taken for an answer came back while the answer was still on its way.
#[test]
fn what_was_taken_comes_back_behind_what_goes() {
    let budget = Budget::new(64 * MIB);
    let lease = budget.lease();
    let queue = Rc::new(RefCell::new(Vec::new()));
    let left = Rc::clone(&queue);
    leftovers::take_by(move |leftover| left.borrow_mut().push(leftover));
    let held = || budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum::<usize>();
    let go = |bytes: usize| drop(lease.take(bytes).expect("free"));

    go(MIB);
    assert_eq!(held(), 0, "nothing is on its way");
    leftovers::leave(vec![0_u8; 9]);
    go(MIB);
    go(1 << 10);
    assert_eq!((held(), queue.borrow().len()), (MIB, 2), "small ones do not wait");
    drop(queue.borrow_mut().remove(0));
    assert_eq!(held(), MIB, "its turn has not come");
    drop(queue.borrow_mut().remove(0));
    assert_eq!(held(), 0);
    go(MIB);
    assert_eq!((held(), queue.borrow().len()), (0, 0));
}
