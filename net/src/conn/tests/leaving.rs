//! How connections end: their time is over, their client leaves, or the server stops.

use super::*;

#[test]
fn a_connection_without_a_request_is_closed_sooner_than_one_that_had_some() {
    let place = with(3, Limits::default(), 64 << 20);
    let (mut silent, mut used) = (place.connect(), place.connect());
    place.sim.run(async {
        used.write_all(&get("/u")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
        place.sim.env().clock().sleep(Duration::from_secs(100)).await;
        let (found, closed) = answers(&mut silent, &[Method::Get]).await;
        assert_eq!((found.len(), closed), (0, true));
        used.write_all(&get("/v")).await.expect("open");
        assert_eq!(answers(&mut used, &[Method::Get]).await.0[0].status, 200);
    });
}

#[test]
fn time_is_bounded() {
    let seconds = |place: &Place| place.sim.now().as_secs();
    for (bytes, least, most) in [
        (&b""[..], 60, 65),
        (b"GET / HT", 10, 15),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nab", 20, 25),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 20, 25),
    ] {
        let place = place(9);
        let mut stream = place.connect();
        place.sim.run(async {
            stream.write_all(bytes).await.expect("open");
            // Who began to say something is told why nobody listens any more.
            let (found, closed) = answers(&mut stream, &[Method::Post]).await;
            let told: Vec<u16> = found.iter().map(|answer| answer.status).collect();
            let expected: &[u16] = if bytes.is_empty() { &[] } else { &[408] };
            assert_eq!((told.as_slice(), closed), (expected, true), "{bytes:?}");
        });
        assert!((least..most).contains(&seconds(&place)), "{bytes:?} {}", seconds(&place));
    }
    // Who asked once may ask again.
    let asked = place(8);
    let mut stream = asked.connect();
    asked.sim.run(async {
        stream.write_all(&get("/x")).await.expect("open");
        answers(&mut stream, &[Method::Get]).await;
        answers(&mut stream, &[Method::Get]).await;
    });
    assert!((3_600..3_605).contains(&seconds(&asked)), "{}", seconds(&asked));
    // A byte now and then does not help a head.
    let place = place(10);
    let mut stream = place.connect();
    place.sim.run(async {
        for byte in b"GET / HTTP/1.1\r\nHost: h\r\n".iter().cycle().take(100) {
            place.sim.env().clock().sleep(Duration::from_secs(1)).await;
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
        panic!("a hundred seconds for a head");
    });
    assert!(seconds(&place) < 40);
}

#[test]
fn a_client_that_does_not_read_is_left() {
    let place = place(11);
    let mut stream = place.connect();
    place.sim.run(async {
        stream.write_all(&get("/large")).await.expect("open");
        place.sim.env().clock().sleep(Duration::from_secs(100)).await;
    });
    assert_eq!(place.door.open_count(), 0);
}

#[test]
fn a_stop_lets_requests_in_flight_finish() {
    for seed in 0..10 {
        let place = place(seed);
        let (mut idle, mut half, mut busy, mut body) =
            (place.connect(), place.connect(), place.connect(), place.connect());
        place.sim.run(async {
            half.write_all(b"GET / HTT").await.expect("open");
            let both = [get("/later/500"), request("PUT", "/last", &[], b"x")].concat();
            busy.write_all(&both).await.expect("open");
            body.write_all(b"PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab")
                .await
                .expect("open");
            place.sim.env().clock().sleep(Duration::from_millis(200)).await;
            place.door.stop();
            assert_eq!(idle.read(&mut [0; 9]).await, Ok(0));
            assert_eq!(half.read(&mut [0; 9]).await, Ok(0));
            place.sim.env().clock().sleep(Duration::from_secs(5)).await;
            body.write_all(b"cd").await.expect("open");
            let (found, closed) = answers(&mut body, &[Method::Put]).await;
            assert_eq!((found[0].text(), closed), ("PUT /b 4".into(), true));
            let (found, closed) = answers(&mut busy, &[Method::Get, Method::Put]).await;
            assert_eq!((found[1].text(), closed), ("PUT /last 1".into(), true), "seed {seed}");
            place.door.closed().await;
        });
    }
}

/// Of many requests that had come before a stop those alone were answered which one read had taken.
#[test]
fn a_stop_lets_requests_finish_that_came_before_it() {
    const MANY: usize = 500;
    for seed in 0..10 {
        let place = place(seed);
        let mut stream = place.connect();
        place.sim.run(async {
            let rest = (0..MANY).flat_map(|at| request("PUT", &format!("/{at}"), &[], b"x"));
            let all: Vec<u8> = get("/later/500").into_iter().chain(rest).collect();
            stream.write_all(&all).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_millis(200)).await;
            place.door.stop();
            let methods: Vec<Method> =
                [Method::Get].into_iter().chain((0..MANY).map(|_| Method::Put)).collect();
            let (found, closed) = answers(&mut stream, &methods).await;
            assert_eq!((found.len(), closed), (MANY + 1, true), "seed {seed}");
            assert_eq!(found[MANY].text(), format!("PUT /{} 1", MANY - 1));
            place.door.closed().await;
        });
    }
}

#[test]
fn a_client_that_leaves_leaves_nothing_behind() {
    for seed in 0..10 {
        let place = place(seed);
        let mut stream = place.connect();
        place.sim.run(async {
            stream.write_all(&[get("/later/50"), get("/large")].concat()).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_millis(10)).await;
            stream.reset();
            place.sim.env().clock().sleep(Duration::from_secs(1)).await;
        });
        assert_eq!(place.door.open_count(), 0, "seed {seed}");
        assert_eq!(place.seen.borrow().first().map(String::as_str), Some("begin /later/50"));
    }
}

/// Fifty waits of ten minutes held their connections when their clients were long gone.
#[test]
fn what_waits_for_a_client_that_left_is_given_up() {
    for seed in 0..10 {
        let place = place(seed);
        let (mut gone, mut here, mut writer) = (place.connect(), place.connect(), place.connect());
        place.sim.run(async {
            gone.write_all(&[get("/held/600000"), get("/held/600001")].concat())
                .await
                .expect("open");
            here.write_all(&get("/held/5000")).await.expect("open");
            writer.write_all(&request("PUT", "/later/5000", &[], b"")).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_millis(500)).await;
            gone.close().await.expect("open");
            writer.close().await.expect("open");
            place.sim.env().clock().sleep(Duration::from_secs(2)).await;
            assert_eq!(place.door.open_count(), 2, "seed {seed}: the first has ended");
            let (found, _) = answers(&mut here, &[Method::Get]).await;
            assert_eq!(found[0].text(), "GET /held/5000 0", "a client that stays is waited for");
            place.sim.env().clock().sleep(Duration::from_secs(2)).await;
            assert_eq!(place.door.open_count(), 1, "seed {seed}");
        });
        let seen = place.seen.borrow();
        for told in ["given up /held/600000", "given up /held/600001", "end /later/5000"] {
            assert!(seen.iter().any(|line| line == told), "seed {seed}: {told} in {seen:?}");
        }
    }
}
