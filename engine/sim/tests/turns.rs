//! Turns of callers on one core: shares, order, bounds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use env::turns::{BUSY_MAX, Lane, RESTING_MAX, RUNNING_MAX, Turns};
use env::{Clock, Env, Spawn};
use sim::{Sim, SimEnv};

const MANY: Lane = Lane(1);
const FEW: Lane = Lane(2);

/// Who had a turn, in order.
type Log = Rc<RefCell<Vec<Lane>>>;

/// Gives the turn back, and asks for another.
async fn step() {
    let mut is_back = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut is_back, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn work(log: Log, lane: Lane, steps: usize) {
    for _ in 0..steps {
        log.borrow_mut().push(lane);
        step().await;
    }
}

async fn settled(env: &SimEnv, turns: &Turns<SimEnv>) {
    while turns.load().running + turns.load().waiting > 0 {
        env.clock().sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn a_lane_with_one_task_has_as_many_turns_as_one_with_ten() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let (env, log) = (sim.env(), Log::default());
        let turns = Turns::new(env.clone(), 1_000);
        for _ in 0..10 {
            turns.run(MANY, work(Rc::clone(&log), MANY, 100));
        }
        turns.run(FEW, work(Rc::clone(&log), FEW, 100));
        sim.run(async { settled(&env, &turns).await });
        let log = log.borrow();
        let last = log.iter().rposition(|lane| *lane == FEW).expect("it ran");
        let others = log[..last].iter().filter(|lane| **lane == MANY).count();
        assert!((90..=120).contains(&others), "seed {seed}: {others} turns of many beside 100");
        assert_eq!(log.len(), 1_100, "all were done");
    }
}

#[test]
fn who_comes_back_is_ahead_by_its_credit_and_no_more() {
    // A turn that takes no time counts as a nanosecond.
    who_comes_back(0, 0..=3, 90..=110);
    who_comes_back(20, 18..=24, 50..=80);
}

/// The caller of few comes back for 50 turns: `ahead` of them at once, the last beside so many of all.
fn who_comes_back(credit: u64, ahead: RangeInclusive<usize>, beside: RangeInclusive<usize>) {
    let sim = Sim::new(3);
    let (env, log) = (sim.env(), Log::default());
    let turns = Turns::with_credit(env.clone(), 1_000, Duration::from_nanos(credit));
    turns.run(FEW, work(Rc::clone(&log), FEW, 1));
    sim.run(async {
        settled(&env, &turns).await;
        for _ in 0..4 {
            turns.run(MANY, work(Rc::clone(&log), MANY, 500));
        }
        while log.borrow().len() < 1_000 {
            env.spawn().yield_if_needed().await;
            step().await;
        }
        let before = log.borrow().len();
        turns.run(FEW, work(Rc::clone(&log), FEW, 50));
        settled(&env, &turns).await;
        let log = log.borrow();
        let first = log[before..].iter().position(|lane| *lane == FEW).expect("it ran");
        let last = log[before..].iter().rposition(|lane| *lane == FEW).expect("it ran");
        assert!(first <= 3, "it waited for {first} turns");
        let others = log[before + first..].iter().position(|lane| *lane == MANY).expect("others");
        assert!(ahead.contains(&others), "{others} turns before another had one");
        assert!(
            beside.contains(&last),
            "50 turns of its own lie beside those of the others: {last}"
        );
    });
}

#[test]
fn tasks_of_a_lane_begin_in_order_and_so_many_at_a_time() {
    let sim = Sim::new(7);
    let env = sim.env();
    let turns = Turns::new(env.clone(), 100);
    let begun = Rc::<RefCell<Vec<usize>>>::default();
    let running = Rc::<RefCell<(usize, usize)>>::default();
    for number in 0..50 {
        assert_eq!(turns.admits(MANY), Ok(()));
        let (env, begun, running) = (env.clone(), Rc::clone(&begun), Rc::clone(&running));
        turns.run(MANY, async move {
            begun.borrow_mut().push(number);
            {
                let mut running = running.borrow_mut();
                running.0 += 1;
                running.1 = running.1.max(running.0);
            }
            env.clock().sleep(Duration::from_millis(20)).await;
            running.borrow_mut().0 -= 1;
        });
    }
    sim.run(async { settled(&env, &turns).await });
    assert_eq!(*begun.borrow(), (0..50).collect::<Vec<_>>());
    assert_eq!(running.borrow().1, RUNNING_MAX, "all short ones were young");
}

#[test]
fn tasks_that_wait_long_let_others_of_their_lane_begin() {
    let sim = Sim::new(9);
    let env = sim.env();
    let turns = Turns::new(env.clone(), 1_000);
    let done = Rc::<RefCell<usize>>::default();
    for _ in 0..200 {
        let (env, done) = (env.clone(), Rc::clone(&done));
        turns.run(MANY, async move {
            env.clock().sleep(Duration::from_secs(5)).await;
            *done.borrow_mut() += 1;
        });
    }
    sim.run(async {
        env.clock().sleep(Duration::from_secs(4)).await;
        assert_eq!(turns.load().waiting, 0, "sixteen more begin each tenth of a second");
        settled(&env, &turns).await;
    });
    assert_eq!(*done.borrow(), 200);
}

/// Steps of a millisecond of a processor each.
async fn compute(sim: &Sim, steps: usize) {
    for _ in 0..steps {
        sim.pause(Duration::from_millis(1));
        step().await;
    }
}

#[test]
fn of_short_tasks_the_first_ends_first() {
    let sim = Rc::new(Sim::new(15));
    let env = sim.env();
    let turns = Turns::new(env.clone(), 100);
    let running = Rc::<RefCell<(usize, usize)>>::default();
    for _ in 0..20 {
        let (sim, running) = (Rc::clone(&sim), Rc::clone(&running));
        turns.run(MANY, async move {
            {
                let mut running = running.borrow_mut();
                running.0 += 1;
                running.1 = running.1.max(running.0);
            }
            compute(&sim, 8).await;
            running.borrow_mut().0 -= 1;
        });
    }
    sim.run(async { settled(&env, &turns).await });
    assert_eq!(running.borrow().1, 1, "nothing is held by several that one alone needs now");
}

/// Who yields is asked for nothing; who gives way lets all others of the core run first ([`Spawn::give_way`]), and only
/// yields are counted.
#[test]
fn a_light_task_that_goes_on_does_not_give_way_at_each_step() {
    let sim = Rc::new(Sim::new(31));
    let (env, seen) = (sim.env(), Rc::<RefCell<Vec<u64>>>::default());
    let turns = Turns::new(env.clone(), 100);
    let busy = Rc::clone(&sim);
    turns.run(MANY, async move { compute(&busy, 200).await });
    sim.run(async {
        env.clock().sleep(Duration::from_millis(50)).await;
        let light = (Rc::clone(&sim), Rc::clone(&seen));
        turns.run(FEW, async move {
            for _ in 0..5 {
                light.1.borrow_mut().push(light.0.yields());
                step().await;
            }
        });
        settled(&env, &turns).await;
    });
    let seen = seen.borrow();
    let yielded = seen.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert_eq!((seen.len(), yielded), (5, 4), "{seen:?}");
}

#[test]
fn a_long_task_holds_up_no_short_one_of_its_lane() {
    let sim = Rc::new(Sim::new(17));
    let (env, log) = (sim.env(), Log::default());
    let turns = Turns::new(env.clone(), 100);
    let long = (Rc::clone(&sim), Rc::clone(&log));
    turns.run(MANY, async move {
        for _ in 0..1_000 {
            long.1.borrow_mut().push(MANY);
            compute(&long.0, 1).await;
        }
    });
    sim.run(async {
        while log.borrow().len() < 100 {
            env.clock().sleep(Duration::from_millis(1)).await;
        }
        for _ in 0..10 {
            let (sim, log) = (Rc::clone(&sim), Rc::clone(&log));
            turns.run(MANY, async move {
                compute(&sim, 9).await;
                log.borrow_mut().push(FEW);
            });
        }
        settled(&env, &turns).await;
    });
    let log = log.borrow();
    let last = log.iter().rposition(|it| *it == FEW).expect("they ran");
    let beside = log[..last].iter().filter(|it| **it == MANY).count() - 100;
    assert!((20..=40).contains(&beside), "a quarter of the turns was the long one's: {beside}");
    assert_eq!(log.len(), 1_010, "all were done");
}

#[test]
fn tasks_that_wait_for_a_worker_do_not_pile_up() {
    let sim = Rc::new(Sim::new(19));
    let env = sim.env();
    let turns = Turns::new(env.clone(), 1_000);
    for _ in 0..500 {
        let (sim, env, turn) = (Rc::clone(&sim), env.clone(), turns.clone());
        turns.run(MANY, async move {
            compute(&sim, 2).await;
            let _held = turn.hold();
            env.clock().sleep(Duration::from_secs(1)).await;
        });
    }
    let mut most = 0;
    sim.run(async {
        while turns.load().running + turns.load().waiting > 0 {
            most = most.max(turns.load().running);
            env.clock().sleep(Duration::from_millis(10)).await;
        }
    });
    assert!((RUNNING_MAX..=BUSY_MAX).contains(&most), "{most} ran at once");
}

/// Sixteen to thirty-two searches of one caller held what they had beside each other, took all memory, and failed one
/// by one; the other caller was refused meanwhile.
#[test]
fn where_memory_is_tight_few_of_one_caller_run() {
    const EACH: u64 = 10;
    let sim = Rc::new(Sim::new(23));
    let env = sim.env();
    let turns = Turns::new(env.clone(), 1_000);
    let (held, most) = (Rc::<Cell<u64>>::default(), Rc::<Cell<u64>>::default());
    let memory = Rc::clone(&held);
    turns.look_at(0, move || memory.get() > 5 * EACH);
    let other = Rc::<Cell<u64>>::default();
    for number in 0..300 {
        let (sim, turn, env) = (Rc::clone(&sim), turns.clone(), env.clone());
        let (held, most, other) = (Rc::clone(&held), Rc::clone(&most), Rc::clone(&other));
        // Each twentieth is somebody else's.
        let lane = if number % 20 == 19 { FEW } else { MANY };
        turns.run(lane, async move {
            held.set(held.get() + EACH);
            most.set(most.get().max(held.get()));
            for _ in 0..5 {
                compute(&sim, 2).await;
            }
            let waits = turn.hold();
            env.clock().sleep(Duration::from_millis(300)).await;
            drop(waits);
            held.set(held.get() - EACH);
            other.set(other.get() + u64::from(lane == FEW));
        });
    }
    sim.run(async {
        while turns.load().running + turns.load().waiting > 0 {
            env.clock().sleep(Duration::from_millis(10)).await;
        }
    });
    assert_eq!(other.get(), 15, "all of them end");
    // Those that make it tight, those that may run then, and a few of the other.
    assert!((6 * EACH..=14 * EACH).contains(&most.get()), "{} at once", most.get());
}

/// Thirty searches that began while memory was free, and each had a thirtieth of it in the end, failed after ten
/// seconds, and the other caller was refused with them.
#[test]
fn of_those_that_take_much_memory_few_run() {
    const EACH: usize = 10 << 20;
    let sim = Rc::new(Sim::new(24));
    let env = sim.env();
    let turns = Turns::new(env.clone(), 1_000);
    turns.look_at(4 * EACH, || false);
    let (held, most) = (Rc::<Cell<usize>>::default(), Rc::<Cell<usize>>::default());
    let run = |lane: Lane, count: usize, bytes: usize, lacks: bool| {
        for _ in 0..count {
            let (sim, turn, env) = (Rc::clone(&sim), turns.clone(), env.clone());
            let (held, most) = (Rc::clone(&held), Rc::clone(&most));
            turns.run(lane, async move {
                held.set(held.get() + 1);
                most.set(most.get().max(held.get()));
                compute(&sim, 2).await;
                let waits = turn.hold();
                env.clock().sleep(Duration::from_millis(300)).await;
                drop(waits);
                if lacks {
                    turn.lacked()
                } else {
                    turn.took(bytes)
                }
                held.set(held.get() - 1);
            });
        }
    };
    let end = async || {
        while turns.load().running + turns.load().waiting > 0 {
            env.clock().sleep(Duration::from_millis(10)).await;
        }
        most.replace(0)
    };
    sim.run(async {
        run(MANY, 5, EACH, false);
        end().await;
        run(MANY, 40, EACH, false);
        assert!((4..=5).contains(&end().await), "four have their share");
        run(FEW, 40, EACH / 100, false);
        assert!(end().await >= 16, "who takes little is not held up");
        // What they take is less from now on, and soon forgotten.
        run(MANY, 60, 0, false);
        end().await;
        run(MANY, 40, 0, false);
        assert!(end().await >= 16, "small ones run beside each other again");
        run(MANY, 8, 0, true);
        end().await;
        run(MANY, 20, 20 * EACH, false);
        let most = end().await;
        assert!((1..=3).contains(&most), "{most} at once behind some that lacked memory");
    });
}

#[test]
fn tasks_that_wait_for_the_disk_share_the_wait() {
    let sim = Sim::new(21);
    let env = sim.env();
    let turns = Turns::new(env.clone(), 1_000);
    let most = Rc::<RefCell<usize>>::default();
    let resting = Rc::<RefCell<usize>>::default();
    for _ in 0..500 {
        let (env, turn) = (env.clone(), turns.clone());
        let (most, resting) = (Rc::clone(&most), Rc::clone(&resting));
        turns.run(MANY, async move {
            let rest = turn.rest();
            if rest.is_some() {
                *resting.borrow_mut() += 1;
                let now = *resting.borrow();
                most.replace_with(|most| now.max(*most));
            }
            env.clock().sleep(Duration::from_millis(20)).await;
            if rest.is_some() {
                *resting.borrow_mut() -= 1;
            }
            drop(rest);
        });
    }
    sim.run(async { settled(&env, &turns).await });
    assert_eq!(*most.borrow(), RESTING_MAX, "so many rest, and no more");
    assert_eq!(turns.load().running, 0);
    // Who was young once is not so any more: as many as ever may begin now.
    for _ in 0..RUNNING_MAX {
        let env = env.clone();
        turns.run(MANY, async move { env.clock().sleep(Duration::from_millis(20)).await });
    }
    sim.run(async {
        env.clock().sleep(Duration::from_millis(5)).await;
        assert_eq!(turns.load().running, RUNNING_MAX);
        settled(&env, &turns).await;
    });
}

#[test]
fn beyond_its_bound_a_lane_is_told_so_and_others_are_not() {
    let sim = Sim::new(11);
    let env = sim.env();
    let turns = Turns::new(env.clone(), 8);
    for _ in 0..8 {
        assert_eq!(turns.admits(MANY), Ok(()));
        turns.run(MANY, work(Log::default(), MANY, 3));
    }
    let crowded = turns.admits(MANY).expect_err("it is full");
    assert_eq!(crowded.waiting, 8);
    assert_eq!(turns.admits(FEW), Ok(()));
    sim.run(async { settled(&env, &turns).await });
    assert_eq!(turns.admits(MANY), Ok(()), "it has drained");
}

#[test]
fn what_began_at_once_goes_on_in_its_lane() {
    let sim = Sim::new(13);
    let (env, log) = (sim.env(), Log::default());
    let turns = Turns::new(env.clone(), 8);
    assert!(turns.is_free(FEW));
    let mut task = Box::pin(work(Rc::clone(&log), FEW, 3));
    let mut context = Context::from_waker(Waker::noop());
    let polled = turns.begin(FEW, || {
        assert_eq!(turns.current(), FEW);
        task.as_mut().poll(&mut context)
    });
    assert!(polled.is_pending());
    turns.go_on(FEW, task);
    sim.run(async { settled(&env, &turns).await });
    assert_eq!(*log.borrow(), [FEW; 3]);
}

/// Whatever wakes tasks, how often and in which order: each ends, and none is lost.
#[test]
fn every_task_ends_whatever_wakes_it() {
    for seed in 0..100 {
        let sim = Sim::new(seed);
        let env = sim.env();
        let turns = Turns::new(env.clone(), 1_000);
        let ended = Rc::<RefCell<BTreeMap<Lane, usize>>>::default();
        sim.run(async {
            for number in 0..120u64 {
                let lane = Lane(number % 7);
                let (inner, ended) = (env.clone(), Rc::clone(&ended));
                let turn = turns.clone();
                let task = async move {
                    for round in 0..number % 5 {
                        match (number + round) % 3 {
                            0 => step().await,
                            1 => inner.clock().sleep(Duration::from_micros(number * 37)).await,
                            // Wakes itself twice, then ends its poll.
                            _ => {
                                std::future::poll_fn({
                                    let mut polls = 0;
                                    move |context| {
                                        context.waker().wake_by_ref();
                                        let waker = context.waker().clone();
                                        waker.wake();
                                        polls += 1;
                                        if polls > 2 { Poll::Ready(()) } else { Poll::Pending }
                                    }
                                })
                                .await
                            }
                        }
                        assert_eq!(turn.current(), lane);
                    }
                    *ended.borrow_mut().entry(lane).or_default() += 1;
                };
                match number % 2 {
                    0 => turns.run(lane, task),
                    _ => turns.go_on(lane, task),
                }
                if number % 11 == 0 {
                    env.clock().sleep(Duration::from_micros(500)).await;
                }
            }
            settled(&env, &turns).await;
        });
        assert_eq!(ended.borrow().values().sum::<usize>(), 120, "seed {seed}");
    }
}

/// The task that had the slot by then stood among those that were ready twice; when it was found to have ended, its
/// lane was not put back in the line, and whoever was ready behind it had no turn any more, however often it was woken.
#[test]
fn a_late_wake_of_one_that_has_ended_holds_up_nobody() {
    for lane in [FEW, MANY] {
        let sim = Sim::new(17);
        let env = sim.env();
        let turns = Turns::new(env.clone(), 8);
        let kept = Rc::<RefCell<Option<Waker>>>::default();
        let keeps = Rc::clone(&kept);
        sim.run(async {
            turns.run(FEW, async move {
                std::future::poll_fn(|context| {
                    *keeps.borrow_mut() = Some(context.waker().clone());
                    Poll::Ready(())
                })
                .await
            });
            settled(&env, &turns).await;
            let late = kept.take().expect("it ran");
            turns.go_on(lane, async {});
            turns.go_on(FEW, step());
            late.wake();
            env.clock().sleep(Duration::from_secs(1)).await;
        });
        assert_eq!(turns.load().running, 0, "each has ended");
    }
}

/// The core slept without an alarm, and looked at it when another of its tasks was woken: here after a minute.
#[test]
fn one_that_comes_while_all_others_wait_begins_when_they_are_young_no_more() {
    let sim = Sim::new(19);
    let env = sim.env();
    let turns = Turns::new(env.clone(), 8);
    let has_begun = Rc::<RefCell<bool>>::default();
    let begins = Rc::clone(&has_begun);
    sim.run(async {
        for _ in 0..RUNNING_MAX {
            let env = env.clone();
            turns.run(MANY, async move { env.clock().sleep(Duration::from_secs(60)).await });
        }
        env.clock().sleep(Duration::from_millis(10)).await;
        assert_eq!(turns.load().running, RUNNING_MAX);
        turns.run(MANY, async move { *begins.borrow_mut() = true });
        env.clock().sleep(Duration::from_secs(1)).await;
    });
    assert!(*has_begun.borrow());
}
