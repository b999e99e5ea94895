//! The budget of one process: what is taken, given back, set aside.

use super::lease::SMALL_BYTES;
use super::*;

const MIB: usize = 1 << 20;

#[test]
fn a_lease_fetches_whole_chunks() {
    let budget = Budget::new(64 * MIB);
    let lease = budget.lease();
    let first = lease.take(1).expect("room");
    assert_eq!(budget.leased_bytes(), CHUNK_BYTES);
    let second = lease.take(5 * MIB).expect("room");
    assert_eq!(budget.leased_bytes(), 2 * CHUNK_BYTES);
    drop((first, second));
    assert_eq!(budget.leased_bytes(), 2 * CHUNK_BYTES, "two chunks may stay spare");
    drop(lease);
    assert_eq!(budget.leased_bytes(), 0);
}

#[test]
fn what_is_not_there_is_refused_and_changes_nothing() {
    let budget = Budget::new(10 * MIB);
    let lease = budget.lease();
    let held = lease.take(9 * MIB).expect("less than a chunk is left, exactly so much is fetched");
    assert!(lease.take(2 * MIB).is_none());
    assert!(lease.take(MIB).is_none(), "a part is left to small pieces");
    drop(held);
    assert!(lease.take(9 * MIB).is_some());
    assert!(lease.take(usize::MAX).is_none());
}

#[test]
fn small_pieces_are_to_be_had_when_large_ones_are_not() {
    let budget = Budget::new(32 * MIB);
    let (greedy, modest) = (budget.lease(), budget.lease());
    let mut held = Vec::new();
    while let Some(taken) = greedy.take(SMALL_BYTES + 1) {
        held.push(taken);
    }
    let small: Vec<Taken> = std::iter::from_fn(|| modest.take(SMALL_BYTES)).collect();
    assert_eq!(small.len(), 8, "half of a thirty-second part");
    let door = modest.of(Holder::Requests);
    let coming: Vec<Taken> = std::iter::from_fn(|| door.take(SMALL_BYTES)).collect();
    assert_eq!(coming.len(), 8, "the rest, to the last byte, is for who comes in");
    assert!(budget.leased_bytes() <= budget.total_bytes());
}

#[test]
fn what_is_set_aside_is_not_given_out() {
    let budget = Budget::new(32 * MIB);
    let lease = budget.lease();
    assert_eq!(budget.set_aside(20 * MIB), 20 * MIB);
    let held = lease.take(8 * MIB).expect("room");
    assert!(lease.take(8 * MIB).is_none());
    let most = budget.set_aside(30 * MIB);
    assert_eq!(most, 23 * MIB, "what is free but the part for small pieces");
    assert_eq!(budget.aside_bytes(), most);
    assert_eq!(budget.set_aside(MIB), MIB);
    assert!(lease.take(8 * MIB).is_some());
    drop((held, lease));
    assert_eq!(budget.leased_bytes(), MIB);
}

#[test]
fn what_was_not_free_to_be_set_aside_is_kept_as_it_comes_back() {
    let budget = Budget::new(32 * MIB);
    let lease = budget.lease();
    let held: Vec<Taken> = (0..30).map(|_| lease.take(MIB).expect("room")).collect();
    let first = budget.set_aside(16 * MIB);
    assert!(first <= 2 * MIB, "{first} was free");
    drop(held);
    assert_eq!(budget.aside_bytes(), 16 * MIB);
    assert!(lease.take(17 * MIB).is_none());
    assert!(lease.take(14 * MIB).is_some());
    // Less than that is asked for before all of it has come.
    let held = lease.take(14 * MIB).expect("room");
    budget.set_aside(30 * MIB);
    budget.set_aside(MIB);
    drop(held);
    assert_eq!(budget.aside_bytes(), MIB);
    assert!(lease.take(30 * MIB).is_some());
    drop(lease);
    assert_eq!(budget.leased_bytes(), MIB);
}

#[test]
fn surplus_goes_back_to_the_pool_for_other_cores() {
    let budget = Budget::new(40 * MIB);
    let (one, other) = (budget.lease(), budget.lease());
    let all = one.take(38 * MIB).expect("nearly all of it");
    assert!(other.take(2 * MIB).is_none());
    drop(all);
    assert!(other.take(32 * MIB).is_some());
}

#[test]
fn who_holds_how_much_is_told() {
    let budget = Budget::new(40 * MIB);
    let (one, other) = (budget.lease(), budget.lease().of(Holder::Writes));
    let answers = one.take(MIB).expect("room");
    let writes = one.of(Holder::Writes).take(2 * MIB).expect("room");
    let mut more = other.take(3 * MIB).expect("room");
    assert!(more.grow(MIB));
    more.shrink_to(2 * MIB);
    let told = |holder| budget.taken_bytes().iter().find(|(one, _)| *one == holder).map(|it| it.1);
    assert_eq!(told(Holder::Answers), Some(MIB));
    assert_eq!(told(Holder::Writes), Some(4 * MIB));
    assert_eq!(told(Holder::Merges), Some(0));
    drop((answers, writes, more));
    assert!(budget.taken_bytes().iter().all(|(_, bytes)| *bytes == 0));
}

#[test]
fn work_that_cannot_be_refused_passes_the_total_one_at_a_time() {
    let budget = Budget::new(32 * MIB);
    let (one, other) = (budget.lease(), budget.lease());
    let mut first = one.advance(12 * MIB).expect("room");
    let mut second = other.advance(12 * MIB).expect("room");
    assert!(one.advance(12 * MIB).is_none(), "others are under way");
    assert!(second.grow_to(20 * MIB), "nobody else is beyond the total");
    assert!(second.grow_to(usize::MAX));
    assert!(!first.grow_to(20 * MIB));
    drop(second);
    assert!(first.grow_to(usize::MAX));
    drop(first);
    let alone = one.advance(64 * MIB).expect("nobody is under way");
    let small = other.advance(MIB).expect("what is free is anybody's");
    assert!(other.advance(64 * MIB).is_none());
    drop((alone, small));
    assert!(other.advance(64 * MIB).is_some());
    assert!(budget.leased_bytes() <= budget.total_bytes());
}

#[test]
fn a_piece_grows_and_shrinks() {
    let budget = Budget::new(10 * MIB);
    let lease = budget.lease();
    let mut taken = lease.take(MIB).expect("room");
    assert!(taken.grow(8 * MIB));
    assert!(!taken.grow(2 * MIB));
    assert_eq!(taken.bytes(), 9 * MIB);
    taken.shrink_to(MIB);
    assert_eq!(taken.bytes(), MIB);
    taken.shrink_to(5 * MIB);
    assert_eq!(taken.bytes(), MIB, "shrinking never grows");
    drop(taken);
    drop(lease);
    assert_eq!(budget.leased_bytes(), 0);
}

#[test]
fn what_is_taken_is_cut_handed_on_and_given_back_once() {
    let budget = Budget::new(64 * MIB);
    let requests = budget.lease().of(Holder::Requests);
    let held = |holder: Holder| budget.taken_bytes()[holder as usize].1;
    let mut whole = requests.take(10_000).expect("there is so much");
    let mut part = whole.split(4_000);
    assert_eq!((whole.bytes(), part.bytes()), (6_000, 4_000));
    part.hand_to(Holder::Writes);
    assert_eq!((held(Holder::Requests), held(Holder::Writes)), (6_000, 4_000));
    assert_eq!(whole.split(7_000).bytes(), 6_000, "no more than there is");
    assert_eq!((whole.bytes(), held(Holder::Requests)), (0, 0));
    drop((whole, part));
    assert_eq!(held(Holder::Writes), 0);
}

#[test]
fn what_others_hold_is_within_reach_and_what_is_ones_own_is_not() {
    let budget = Budget::new(64 * MIB);
    let (one, other) = (budget.lease().of(Holder::Requests), budget.lease().of(Holder::Requests));
    let (own, _theirs) = (one.take(20 * MIB), other.take(20 * MIB));
    let own = own.expect("there is so much").bytes();
    assert!(one.is_within_reach(20 * MIB, own));
    assert!(one.is_within_reach(40 * MIB, own));
    assert!(!one.is_within_reach(50 * MIB, own));
    let _buffers = other.of(Holder::Writes).take(20 * MIB);
    assert!(!one.is_within_reach(40 * MIB, own), "shards do not give it back for that");
}

/// Four documents at a quarter of the budget each held all of it: writes of 44 KB were refused for half a minute.
#[test]
fn what_grows_as_it_goes_leaves_some_to_others() {
    let budget = Budget::new(64 * MIB);
    let (one, other) = (budget.lease(), budget.lease());
    let mut documents = [const { None }; 4];
    let grown = (0..64).filter(|at| one.add_leaving(&mut documents[at % 4], MIB)).count();
    assert_eq!(grown, 56, "an eighth is left");
    let small = other.take(4 * MIB).expect("there is some for others");
    drop(small);
    documents[0] = None;
    assert!(one.add_leaving(&mut documents[1], MIB), "what came back is to be had again");
}

/// Pages of hits were paid hit by hit, each of them a small thing, and left nothing to whoever asked for one document.
#[test]
fn what_came_in_small_pieces_is_no_small_thing() {
    let budget = Budget::new(64 * MIB);
    let (page, other) = (budget.lease(), budget.lease());
    let mut hits = None;
    while page.add(&mut hits, 1_000) {}
    assert!(budget.leased_bytes() >= 62 * MIB - CHUNK_BYTES, "all but what is left to small ones");
    let small: Vec<Taken> = (0..10).filter_map(|_| other.take(1_000)).collect();
    assert_eq!(small.len(), 10);
}

#[test]
fn who_makes_many_small_pieces_is_told_when_only_what_is_kept_for_them_is_left() {
    let budget = Budget::new(64 * MIB);
    let lease = budget.lease();
    assert!(lease.leaves_small());
    let mut pieces = Vec::new();
    while lease.leaves_small() {
        pieces.push(lease.take(SMALL_BYTES).expect("more is left than what is kept"));
    }
    let other: Vec<Taken> = std::iter::from_fn(|| budget.lease().take(SMALL_BYTES)).collect();
    assert!(other.len() >= 15, "{} pieces: a mebibyte but one", other.len());
    drop(pieces);
    assert!(lease.leaves_small());
}

/// Thirteen of 128 MiB lay spare at the cores, and requests for 10 KB were refused.
#[test]
fn a_small_piece_is_found_where_it_lies_spare() {
    let budget = Budget::new(64 * MIB);
    let (one, other) = (budget.lease(), budget.lease());
    let large = one.take(61 * MIB).expect("most of it");
    drop(one.take(MIB).expect("of the chunk that was fetched"));
    let small: Vec<Taken> = std::iter::from_fn(|| other.take(SMALL_BYTES)).collect();
    let all: usize = small.iter().map(Taken::bytes).sum();
    assert!(
        all > 2 * MIB - SMALL_BYTES,
        "{all} bytes: what is kept for small ones, and what the other has spare"
    );
    assert!(other.take(SMALL_BYTES + 1).is_none(), "a large piece is not gathered so");
    assert!(budget.leased_bytes() <= budget.total_bytes());
    drop((large, small));
}
