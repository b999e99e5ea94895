//! Every interleaving of small cases (`.ci/loom`).

use super::*;

#[test]
fn two_cores_never_hold_more_than_the_total_and_all_comes_back() {
    loom::model(|| {
        let budget = Budget::new(CHUNK_BYTES / 16 * 17);
        let other = budget.lease();
        let thread = loom::thread::spawn(move || {
            let taken = other.take(CHUNK_BYTES);
            taken.is_some()
        });
        let lease = budget.lease();
        let taken = lease.take(20);
        assert!(budget.leased_bytes() <= budget.total_bytes());
        drop(taken);
        drop(lease);
        thread.join().expect("took");
        assert_eq!(budget.leased_bytes(), 0);
    });
}

#[test]
fn what_comes_back_while_some_is_set_aside_is_neither_lost_nor_kept_twice() {
    loom::model(|| {
        let budget = Budget::new(100);
        let lease = budget.lease();
        let (first, second) = (lease.take(40).expect("room"), lease.take(50).expect("room"));
        let other = loom::thread::spawn(move || drop(first));
        budget.set_aside(60);
        drop(second);
        budget.set_aside(20);
        other.join().expect("dropped");
        budget.set_aside(20);
        drop(lease);
        assert_eq!((budget.aside_bytes(), budget.leased_bytes()), (20, 20));
    });
}

#[test]
fn a_piece_dropped_on_another_core_returns_to_its_lease() {
    loom::model(|| {
        let budget = Budget::new(3 * CHUNK_BYTES);
        let lease = budget.lease();
        let taken = lease.take(2 * CHUNK_BYTES).expect("room");
        let thread = loom::thread::spawn(move || drop(taken));
        let mine = lease.take(5);
        assert!(mine.is_some());
        thread.join().expect("dropped");
        drop(mine);
        drop(lease);
        assert_eq!(budget.leased_bytes(), 0);
    });
}
