//! Heads and bodies that come late, and connections that say nothing.

use super::*;

/// Where a client sends `begin` and then a byte a second for so many seconds: after how many seconds the server
/// closes, and with which status.
fn dripped(begin: &[u8], seconds: u64) -> (u64, Option<u16>) {
    let place = place(1);
    let mut stream = place.connect();
    let env = place.sim.env();
    place.sim.run(async {
        let begun = env.clock().monotonic();
        stream.write_all(begin).await.expect("open");
        for _ in 0..seconds {
            env.clock().sleep(Duration::from_secs(1)).await;
            stream.write_all(b"x").await.expect("open");
        }
        let (found, closed) = answers(&mut stream, &[Method::Post, Method::Post]).await;
        assert!(closed);
        let passed = (env.clock().monotonic() - begun).as_secs();
        (passed, found.last().map(|answer| answer.status))
    })
}

/// A body whose beginning had come with requests before it was late when those had been answered: nothing of it had
/// been read meanwhile.
#[test]
fn no_body_is_late_by_the_time_that_those_before_it_take() {
    for (method, status, rest) in [("/brief", 200, 58), ("/bulk", 200, 58), ("/brief", 408, 0)] {
        let place = place(1);
        let mut stream = place.connect();
        let env = place.sim.env();
        place.sim.run(async {
            let mut sent = get("/later/45000");
            sent.extend(
                format!("POST {method} HTTP/1.1\r\nHost: h\r\nContent-Length: 60\r\n\r\nab")
                    .bytes(),
            );
            stream.write_all(&sent).await.expect("open");
            env.clock().sleep(Duration::from_secs(60)).await;
            stream.write_all(&vec![b'x'; rest]).await.expect("open");
            let begun = env.clock().monotonic();
            let (found, _) = answers(&mut stream, &[Method::Get, Method::Post]).await;
            let statuses: Vec<u16> = found.iter().map(|answer| answer.status).collect();
            assert_eq!(statuses, [200, status]);
            let passed = (env.clock().monotonic() - begun).as_secs();
            assert_eq!(passed, if status == 200 { 0 } else { 5 });
        });
    }
}

/// A head had 30 s, and a form a minute and more.
#[test]
fn heads_and_forms_have_their_time_however_they_drip() {
    assert_eq!(dripped(b"", 0), (60, None), "who connects has something to ask");
    assert_eq!(dripped(b"POST /", 0), (10, Some(408)));
    assert_eq!(dripped(b"POST /", 8), (10, Some(408)));
    let body = |target: &str, bytes: usize| {
        let mut text =
            format!("POST {target} HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n")
                .into_bytes();
        text.resize(text.len() + bytes, b'x');
        text
    };
    assert_eq!(dripped(&body("/brief", 0), 15), (20, Some(408)));
    assert_eq!(dripped(&body("/brief", 50_000), 15), (20, Some(408)), "a form is no bulk body");
    assert_eq!(dripped(&body("/bulk", 0), 15), (20, Some(408)));
    assert_eq!(dripped(&body("/bulk", 10 * 1_024), 15), (30, Some(408)), "1 KiB a second");
    // Who was let in keeps the connection.
    let idle = dripped(&request("POST", "/a", &[], b""), 0);
    assert_eq!(idle, (3_600, Some(200)));
    let idle = dripped(&request("POST", "/anybody", &[], b""), 0);
    assert_eq!(idle, (60, Some(200)));
}
