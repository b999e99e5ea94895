//! What requests and answers may take of memory together.

use env::budget::Holder;

use super::*;
use crate::conn::room::{IN_LINE_MAX, ROUND};

#[test]
fn one_lane_may_hold_so_much_and_others_are_not_refused() {
    let limits = Limits { lane_bytes_max: 500_000, ..Limits::default() };
    let place = with(5, limits, 64 << 20);
    let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\r\n";
    let mut slow = [place.connect(), place.connect()];
    let mut other = place.connect();
    let body = [b'x'; 400_000];
    place.sim.run(async {
        slow[0].write_all(head.as_bytes()).await.expect("open");
        place.sim.env().clock().sleep(Duration::from_millis(50)).await;
        slow[1].write_all(&[head.as_bytes(), &body].concat()).await.expect("open");
        let (found, closed) = answers(&mut slow[1], &[Method::Post]).await;
        assert_eq!((found[0].status, closed), (429, false), "the first holds it");
        let theirs = request("POST", "/b", &[("Authorization", "right")], &body);
        other.write_all(&theirs).await.expect("open");
        let (found, _) = answers(&mut other, &[Method::Post]).await;
        assert_eq!(found[0].status, 200);
        slow[0].write_all(&body).await.expect("open");
        let (found, _) = answers(&mut slow[0], &[Method::Post]).await;
        assert_eq!(found[0].status, 200);
    });
}

#[test]
fn a_stranger_that_does_not_read_makes_little_wait() {
    let place = with(7, Limits::default(), 4 << 20);
    let mut one = place.connect();
    place.sim.run(async {
        one.write_all(&get("/anybody/large").repeat(60)).await.ok();
        place.sim.env().clock().sleep(Duration::from_millis(500)).await;
    });
    let begun = place.seen.borrow().iter().filter(|line| line.starts_with("begin")).count();
    // What the other side's buffers take, and one piece.
    assert!(begun < 40, "{begun} of 60 have begun");
    assert!(place.budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum::<usize>() < 100 << 10);
}

#[test]
fn what_lies_there_once_more_while_it_is_written_is_counted() {
    // The story: answers of 2 MB that nobody took were counted, and the pieces that lay encrypted beside each were not:
    // a node with 256 MiB had 319.
    for (memory, copies) in [(64 << 20, 2 * COPIED_BYTES_MAX), (3_250_000, 0)] {
        let place = with(11, Limits::default(), memory);
        let mut used = place.connect();
        place.sim.run(async {
            used.write_all(&get("/u")).await.expect("open");
            assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
            let before = taken(&place.budget);
            used.write_all(&get("/counted")).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_secs(1)).await;
            let more = taken(&place.budget) - before;
            assert!(more >= 3_000_000 + copies - HELD_BYTES_MIN.min(copies), "{more} of {memory}");
            let (found, _) = answers(&mut used, &[Method::Get]).await;
            assert_eq!(found[0].body.len(), 3_000_000, "it goes out in any case");
        });
    }
}

/// Answers below 64 KiB are counted when they are written: 16 of them waited behind one that nobody took, on each
/// of a thousand connections.
#[test]
fn where_memory_is_scarce_few_answers_wait_for_who_takes_none() {
    let begun = |held_bytes: usize| {
        let place = with(13, Limits::default(), 64 << 20);
        let (mut used, lease) = (place.connect(), place.budget.lease());
        place.sim.run(async {
            used.write_all(&get("/u")).await.expect("open");
            assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
            let _held = lease.take(held_bytes).expect("there is as much");
            used.write_all(&get("/wide").repeat(40)).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_secs(1)).await;
            let seen = place.seen.borrow().iter().filter(|line| *line == "begin /wide").count();
            let (found, _) = answers(&mut used, &[Method::Get; 40]).await;
            assert_eq!(found.len(), 40, "all go out in any case");
            seen
        })
    };
    let (plenty, scarce) = (begun(0), begun(56 << 20));
    assert!(plenty >= 7, "{plenty}");
    // What the other side's buffers take, and one that waits.
    assert!(scarce <= 4, "{scarce}, and {plenty} where there is plenty");
}

/// Six hundred connections that were served once read 64 KiB ahead each, and nobody counted it before it was there:
/// 154 MiB of 128.
#[test]
fn what_is_read_ahead_is_counted_as_long_as_it_is_held() {
    let place = with(17, Limits::default(), 64 << 20);
    let mut used = place.connect();
    let wide = |bytes: usize| request("GET", "/x", &[("X-Wide", &"y".repeat(bytes))], b"");
    place.sim.run(async {
        used.write_all(&get("/u")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
        let before = taken(&place.budget);
        // The last head does not end, so it lies there.
        let (many, mut last) = (wide(800).repeat(100), wide(6_000));
        let rest = last.split_off(6_000);
        used.write_all(&[many, last].concat()).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get; 100]).await.0.len(), 100);
        place.sim.env().clock().sleep(Duration::from_millis(100)).await;
        assert_eq!(taken(&place.budget) - before, AHEAD_BYTES);
        used.write_all(&rest).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
        place.sim.env().clock().sleep(Duration::from_millis(100)).await;
        assert_eq!(taken(&place.budget), before, "it is small again");
        // A head that is larger than its place, where there is no memory.
        let (lease, mut held) = (place.budget.lease(), Vec::new());
        for bytes in [1 << 20, 16 << 10, 1 << 10] {
            held.extend(std::iter::from_fn(|| lease.take(bytes)));
        }
        used.write_all(&wide(20_000)).await.expect("open");
        let (found, closed) = answers(&mut used, &[Method::Get]).await;
        assert_eq!((found[0].status, closed), (429, true));
    });
}

/// What is taken, to the byte.
fn taken(budget: &Budget) -> usize {
    budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum()
}

#[test]
fn memory_of_bodies_is_bounded() {
    let place = with(1, Limits::default(), 1 << 20);
    // Refused before it is read; the connection goes on.
    let much = [request("POST", "/", &[], &[b'x'; 2 << 20]), get("/x")].concat();
    let (found, closed) = place.talk(&much, &[Method::Post, Method::Get]);
    assert_eq!((found[0].status, found[1].status, closed), (429, 200, false));
    let mut chunked =
        b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n".to_vec();
    chunked.resize(chunked.len() + 0x20_0000, b'x');
    let (found, closed) = place.talk(&chunked, &[Method::Post]);
    assert_eq!((found[0].status, closed), (429, true));
    // What was taken is given back.
    let (found, _) = place.talk(&request("POST", "/", &[], &[b'x'; 900_000]), &[Method::Post]);
    assert_eq!(found[0].status, 200);
}

#[test]
fn where_answers_are_large_few_requests_run_ahead() {
    let place = place(13);
    let mut stream = place.connect();
    place.sim.run(async {
        stream.write_all(&get("/large")).await.expect("open");
        answers(&mut stream, &[Method::Get]).await;
        let many: Vec<u8> = (0..40).flat_map(|_| get("/large")).collect();
        stream.write_all(&many).await.expect("open");
        place.sim.env().clock().sleep(Duration::from_secs(5)).await;
    });
    // One is being written, and nothing else has begun, though all have come.
    assert_eq!(place.seen.borrow().iter().filter(|line| line.starts_with("begin")).count(), 2);
}

#[test]
fn large_bodies_beside_others_of_their_caller_are_refused_while_memory_is_scarce() {
    let limits = Limits { lane_bytes_max: 2 << 20, ..Limits::default() };
    let place = with(6, limits, 2 << 20);
    let head =
        |bytes: usize| format!("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: {bytes}\r\n\r\n");
    let mut first = place.connect();
    let (mut large, mut small) = (place.connect(), place.connect());
    let body = vec![b'x'; 1_700_000];
    place.sim.run(async {
        // Alone it may have nearly all there is.
        first.write_all(head(body.len()).as_bytes()).await.expect("open");
        place.sim.env().clock().sleep(Duration::from_millis(50)).await;
        large.write_all(&[head(20_000).as_bytes(), &body[..20_000]].concat()).await.expect("open");
        let (found, _) = answers(&mut large, &[Method::Post]).await;
        assert_eq!(found[0].status, 429);
        small.write_all(&[head(2_000).as_bytes(), &body[..2_000]].concat()).await.expect("open");
        let (found, _) = answers(&mut small, &[Method::Post]).await;
        assert_eq!(found[0].status, 200);
        first.write_all(&body).await.expect("open");
        let (found, _) = answers(&mut first, &[Method::Post]).await;
        assert_eq!(found[0].status, 200);
    });
}

#[test]
fn of_many_that_hold_bodies_and_lack_memory_to_read_them_those_are_served_that_fit() {
    // The story: 24 callers sent 20 MB each to a node with 512 MiB. Their bodies took all there was, each found
    // nothing left to be read with, and all that had come were refused in one moment.
    let place = with(17, Limits::default(), 64 << 20);
    let (env, lease) = (place.sim.env(), place.budget.lease());
    let served = Rc::<Cell<usize>>::default();
    let refused = Rc::<Cell<usize>>::default();
    place.sim.run(async {
        let bodies: Vec<_> = std::iter::from_fn(|| lease.take(5 << 20)).collect();
        assert_eq!(bodies.len(), 12);
        for body in bodies {
            let (room, env) = (Rc::clone(&place.door.room), env.clone());
            let (served, refused) = (Rc::clone(&served), Rc::clone(&refused));
            place.sim.env().spawn().spawn(async move {
                let wanted = 15 << 20;
                let take = || room.lease().take(wanted);
                match room.in_line((wanted, body.bytes()), take).await {
                    Some(_taken) => {
                        served.set(served.get() + 1);
                        env.clock().sleep(Duration::from_secs(2)).await;
                    }
                    None => refused.set(refused.get() + 1),
                }
                drop(body);
            });
        }
        env.clock().sleep(Duration::from_secs(1)).await;
        // Each is 20 MiB with what it holds, and a part is left to small ones: the third waits for the first.
        assert_eq!((served.get(), refused.get()), (2, 9));
        env.clock().sleep(Duration::from_secs(2)).await;
        assert_eq!((served.get(), refused.get()), (3, 9));
    });
}

#[test]
fn who_waits_for_others_waits_so_long_and_only_where_they_hold_enough() {
    let place = with(18, Limits::default(), 64 << 20);
    let (room, lease) = (&place.door.room, place.budget.lease());
    let wanted = 30 << 20;
    let now = || place.sim.env().clock().monotonic();
    place.sim.run(async {
        let slow = lease.take(40 << 20).expect("there is so much");
        let begun = now();
        assert!(room.in_line((wanted, 0), || lease.take(wanted)).await.is_none());
        assert!(now() - begun >= IN_LINE_MAX, "it may yet come back");
        // Little things pass.
        let begun = now();
        assert!(room.in_line((1 << 20, 0), || lease.take(1 << 20)).await.is_some());
        drop(slow);
        let _other = lease.of(Holder::Filters).take(40 << 20).expect("there is so much");
        assert!(room.in_line((wanted, 0), || lease.take(wanted)).await.is_none());
        assert!(now() - begun < ROUND, "no request holds it");
    });
}

/// 64 heads of a kilobyte that waited on each of 600 connections were counted nowhere: a node with 128 MiB had 157.
#[test]
fn requests_that_wait_beside_others_are_counted() {
    // How many have come when the first begins differs.
    let (mut beside, mut alone) = (0, 0);
    for seed in 0..20 {
        let place = with(seed, Limits::default(), 64 << 20);
        let (mut one, mut other) = (place.connect(), place.connect());
        let begun = || {
            let seen = place.seen.borrow();
            seen.iter().filter(|line| line.starts_with("begin /later")).count()
        };
        place.sim.run(async {
            for used in [&mut one, &mut other] {
                used.write_all(&get("/u")).await.expect("open");
                assert_eq!(answers(used, &[Method::Get]).await.0[0].status, 200);
            }
            let before = taken(&place.budget);
            one.write_all(&get("/later/20000").repeat(10)).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_secs(1)).await;
            let first = begun();
            let more = taken(&place.budget) - before;
            assert!((first - 1) * BESIDE_BYTES <= more && more <= first * 2 * BESIDE_BYTES);
            beside += first - 1;
            let lease = place.budget.lease();
            let mut held = Vec::new();
            for bytes in [1 << 20, 64 << 10, BESIDE_BYTES, 256] {
                held.extend(std::iter::from_fn(|| lease.take(bytes)));
            }
            other.write_all(&get("/later/1000").repeat(10)).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_millis(500)).await;
            alone += begun() - first;
            drop(held);
            let (found, _) = answers(&mut other, &[Method::Get; 10]).await;
            assert_eq!(found.len(), 10, "all are answered");
            assert_eq!(answers(&mut one, &[Method::Get; 10]).await.0.len(), 10);
            let left = taken(&place.budget);
            assert!(left <= before, "{left} of {before}");
        });
    }
    assert!(beside > 20, "{beside} waited beside others");
    assert_eq!(alone, 20, "one at a time where there is no memory for more");
}
