//! Who has a place where there are more than there is room for.

use super::*;

#[test]
fn one_connection_too_many_takes_the_place_of_an_idle_one() {
    // The story: whoever opened some hundred connections and said nothing kept all others out for an hour.
    let limits = Limits { connections_max: 3, ..Limits::default() };
    let place = with(9, limits, 64 << 20);
    let second =
        || place.sim.run(async { place.sim.env().clock().sleep(Duration::from_secs(1)).await });
    let mut used = place.connect();
    place.sim.run(async {
        used.write_all(&get("/u")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
    });
    second();
    let mut silent = place.connect();
    second();
    let mut half = place.connect();
    place.sim.run(async { half.write_all(b"GET /h HTTP/1.1\r\n").await.expect("open") });
    second();
    assert_eq!(place.talk(&get("/x"), &[Method::Get]).0.len(), 1, "there is an idle one");
    place.sim.run(async {
        let (found, closed) = answers(&mut silent, &[Method::Get]).await;
        assert_eq!((found.len(), closed), (0, true), "of those, the one without a request");
        half.write_all(b"Host: h\r\n\r\n").await.expect("open");
        assert_eq!(answers(&mut half, &[Method::Get]).await.0[0].status, 200, "it was not idle");
        used.write_all(&get("/y")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
    });
}

#[test]
fn who_does_not_take_its_answers_gives_its_place_to_another() {
    // The story: some hundred connections that pipelined requests without a password, and never read, kept all
    // others out for minutes.
    let place = with(9, Limits { connections_max: 3, ..Limits::default() }, 64 << 20);
    let mut used = place.connect();
    let second =
        || place.sim.run(async { place.sim.env().clock().sleep(Duration::from_secs(1)).await });
    place.sim.run(async {
        used.write_all(&get("/u")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
    });
    let mut deaf: Vec<_> = (0..2).map(|_| place.connect()).collect();
    place.sim.run(async {
        for one in &mut deaf {
            one.write_all(&get("/large").repeat(2)).await.expect("open");
        }
    });
    second();
    assert_eq!(place.door.open_count(), 3);
    assert_eq!(
        place.talk(&get("/x"), &[Method::Get]).0.len(),
        1,
        "there is one that does not read"
    );
    place.sim.run(async {
        used.write_all(&get("/y")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200, "it was served");
    });
}

#[test]
fn where_memory_lacks_those_end_that_take_no_answer() {
    // The story: strangers asked and asked and read nothing. There were places left, but no memory: newcomers were
    // closed at once, and bodies of clients that were served refused, until nobody came in any more.
    let place = with(9, Limits::default(), 4 << 20);
    let mut used = place.connect();
    place.sim.run(async {
        used.write_all(&get("/u")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
    });
    let mut crowd = Vec::new();
    for _ in 0..100 {
        let mut one = place.connect();
        place.sim.run(async {
            one.write_all(&get("/anybody/large").repeat(20)).await.ok();
            place.sim.env().clock().sleep(Duration::from_millis(10)).await;
        });
        crowd.push(one);
    }
    assert!(place.told.get() > 0, "somebody says that memory lacks");
    // Some is left for who cannot wait until it is given back.
    assert!(place.budget.lease().take(300_000).is_some());
    place.sim.run(async {
        for round in 0..10 {
            let (mut client, far) = place.sim.stream_pair();
            let entered = place.door.enter().await.expect("one of the crowd makes room");
            place.sim.env().spawn().spawn(serve(far, entered));
            client.write_all(&get("/x")).await.expect("open");
            let (found, _) = answers(&mut client, &[Method::Get]).await;
            assert_eq!(found[0].status, 200, "round {round}");
        }
        for bytes in [60_000, 1_000_000] {
            let body = request("POST", "/a", &[("Authorization", "right")], &vec![b'x'; bytes]);
            used.write_all(&body).await.expect("it is not one of them");
            let (found, _) = answers(&mut used, &[Method::Post]).await;
            assert_eq!(found[0].status, 200, "{bytes}");
        }
        let mut chunked =
            b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        chunked.extend(b"200000\r\n");
        chunked.resize(chunked.len() + 0x20_0000, b'x');
        chunked.extend(b"\r\n0\r\n\r\n");
        used.write_all(&chunked).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Post]).await.0[0].status, 200);
    });
}

#[test]
fn for_what_anybody_may_ask_nobody_leaves() {
    let place = with(9, Limits::default(), 4 << 20);
    let _idle: Vec<_> = (0..20).map(|_| place.connect()).collect();
    place.sim.run(async { place.sim.env().clock().sleep(Duration::from_secs(5)).await });
    let mut chunked =
        b"POST /anybody HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    chunked.extend(format!("{:x}\r\n", 3 * ANYBODYS / 2).into_bytes());
    chunked.resize(chunked.len() + 3 * ANYBODYS / 2, b'x');
    let announced = |bytes: usize| {
        format!("POST /anybody HTTP/1.1\r\nHost: h\r\nContent-Length: {bytes}\r\n\r\n").into_bytes()
    };
    for (bytes, status) in [(announced(ANYBODYS + 1), 413), (chunked, 413)] {
        let (found, closed) = place.talk(&bytes, &[Method::Post]);
        assert_eq!((found[0].status, closed), (status, true));
    }
    let whole = request("POST", "/anybody", &[], &vec![b'x'; 500_000]);
    assert_eq!(place.talk(&whole, &[Method::Post]).0[0].text(), "POST /anybody 500000");
    // There is memory for another, but for strangers that have it.
    let lease = place.door.room.lease();
    let _all = std::iter::from_fn(|| lease.take(70_000)).collect::<Vec<_>>();
    assert_eq!(place.talk(&announced(500_000), &[Method::Post]).0[0].status, 429);
}

#[test]
fn an_answer_that_anybody_gets_makes_nobody_known() {
    let place = with(9, Limits { connections_max: 2, ..Limits::default() }, 64 << 20);
    let (mut used, mut other) = (place.connect(), place.connect());
    let second =
        || place.sim.run(async { place.sim.env().clock().sleep(Duration::from_secs(1)).await });
    for (wire, path) in [(&mut used, "/u"), (&mut other, "/anybody")] {
        place.sim.run(async {
            wire.write_all(&get(path)).await.expect("open");
            assert_eq!(answers(wire, &[Method::Get]).await.0[0].status, 200);
        });
        second();
    }
    assert_eq!(place.talk(&get("/x"), &[Method::Get]).0.len(), 1);
    place.sim.run(async {
        let (found, closed) = answers(&mut other, &[Method::Get]).await;
        assert_eq!((found.len(), closed), (0, true), "though it had its answer last");
        used.write_all(&get("/y")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
    });
}

#[test]
fn who_never_ends_a_handshake_gives_its_place_to_another() {
    // The story: some hundred sockets that sent nothing held all places for the time of a handshake, and
    // came again.
    let place = with(9, Limits { connections_max: 1, ..Limits::default() }, 64 << 20);
    let first = place.door.enter_now(true).expect("there is room");
    let mut opening = pin!(first.while_wanted(std::future::pending::<()>()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(opening.as_mut().poll(&mut context).is_pending());
    assert!(place.door.enter_now(true).is_none(), "it has just come");
    place.sim.run(async { place.sim.env().clock().sleep(Duration::from_millis(10)).await });
    let second = place.door.enter_now(true).expect("the place of the first");
    assert_eq!(opening.as_mut().poll(&mut context), Poll::Ready(None));
    let mut opening = pin!(second.while_wanted(std::future::ready(7)));
    assert_eq!(opening.as_mut().poll(&mut context), Poll::Ready(Some(7)));
    assert!(
        place.door.enter_now(true).is_none(),
        "who has come is served, and idle only once it waits"
    );
}

#[test]
fn who_comes_after_a_crowd_is_served() {
    // The story: two thousand came within 50 ms and said nothing, and the first client after them was refused:
    // none of them had found yet that it is idle, or those dismissed had not left.
    let place = with(9, Limits { connections_max: 4, ..Limits::default() }, 64 << 20);
    let served = place.sim.run(async {
        let mut crowd = Vec::new();
        for _ in 0..500 {
            let (near, far) = place.sim.stream_pair();
            let entered = place.door.enter().await.expect("the place of an idle one");
            place.sim.env().spawn().spawn(serve(far, entered));
            crowd.push(near);
        }
        let (mut client, far) = place.sim.stream_pair();
        let entered = place.door.enter().await.expect("the place of an idle one");
        place.sim.env().spawn().spawn(serve(far, entered));
        client.write_all(&get("/x")).await.expect("open");
        answers(&mut client, &[Method::Get]).await.0
    });
    assert_eq!(served[0].status, 200);
}

#[test]
fn one_connection_too_many_is_closed_where_each_is_served() {
    let limits = Limits { connections_max: 2, ..Limits::default() };
    let place = with(9, limits, 64 << 20);
    let mut open = [place.connect(), place.connect()];
    place.sim.run(async {
        for one in &mut open {
            one.write_all(&get("/later/5000")).await.expect("open");
        }
        place.sim.env().clock().sleep(Duration::from_secs(1)).await;
    });
    let (found, closed) = place.talk(&get("/x"), &[Method::Get]);
    assert_eq!((found.len(), closed), (0, true));
    place.sim.run(async {
        for one in &mut open {
            assert_eq!(answers(one, &[Method::Get]).await.0[0].status, 200);
        }
    });
    assert_eq!(place.talk(&get("/z"), &[Method::Get]).0.len(), 1);
}

/// Where one in four asked its first question, and that ran long, they counted as strangers: newcomers were refused
/// while idle connections kept their places.
#[test]
fn who_is_known_is_no_stranger_while_its_first_request_runs() {
    for (shown, is_served) in [("right", true), ("wrong", false)] {
        let place = with(9, Limits { connections_max: 4, ..Limits::default() }, 64 << 20);
        let ms = |ms| {
            place.sim.run(async { place.sim.env().clock().sleep(Duration::from_millis(ms)).await });
        };
        let mut idle = place.connect();
        place.sim.run(async {
            idle.write_all(&get("/u")).await.expect("open");
            assert_eq!(answers(&mut idle, &[Method::Get]).await.0[0].status, 200);
        });
        let mut running = [place.connect(), place.connect(), place.connect()];
        let asked =
            format!("GET /later/9000 HTTP/1.1\r\nHost: h\r\nAuthorization: {shown}\r\n\r\n");
        place.sim.run(async {
            for one in &mut running {
                one.write_all(asked.as_bytes()).await.expect("open");
            }
        });
        ms(100);
        let served = place.talk(&get("/x"), &[Method::Get]).0.len() == 1;
        assert_eq!(served, is_served, "strangers make nobody known leave, however long theirs run");
        place.sim.run(async {
            for one in &mut running {
                assert_eq!(answers(one, &[Method::Get]).await.0[0].status, 200);
            }
        });
    }
}

#[test]
fn whoever_keeps_the_server_waiting_gives_its_place_to_another() {
    // The story: four hundred half heads, or bodies that never came, kept everybody else out for a minute,
    // and clients that had been served before as well.
    let stranger = "Authorization: wrong\r\n";
    let known = "Authorization: right\r\n";
    for (story, seed) in [
        ("GET /h HTTP/1.1\r\nHost: h\r\n".to_owned(), 1),
        ("POST /h HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nab".to_owned(), 2),
        (format!("POST /h HTTP/1.1\r\nHost: h\r\n{stranger}Content-Length: 90000\r\n\r\nab"), 3),
        (format!("POST /h HTTP/1.1\r\nHost: h\r\n{known}Content-Length: 90000\r\n\r\nab"), 4),
        ("GET /h HTTP/9\r\n\r\n".to_owned(), 5),
    ] {
        let place = with(seed, Limits { connections_max: 3, ..Limits::default() }, 64 << 20);
        let wait = |ms| {
            place.sim.run(async { place.sim.env().clock().sleep(Duration::from_millis(ms)).await });
        };
        let mut used = place.connect();
        place.sim.run(async {
            used.write_all(&get("/u")).await.expect("open");
            assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200, "{story}");
        });
        let mut slow: Vec<SimStream> = Vec::new();
        for _ in 0..6 {
            wait(20);
            let mut one = place.connect();
            place.sim.run(async { one.write_all(story.as_bytes()).await.expect("open") });
            slow.push(one);
        }
        wait(20);
        assert_eq!(place.talk(&get("/x"), &[Method::Get]).0.len(), 1, "{story}");
        wait(20);
        place.sim.run(async {
            used.write_all(&get("/y")).await.unwrap_or_else(|error| panic!("{story}: {error}"));
            assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200, "{story}");
        });
    }
}
