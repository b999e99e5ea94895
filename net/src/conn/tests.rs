//! Connections over simulated streams: bytes arrive late and cut anywhere.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use env::budget::{Budget, Lease};
use env::turns::Lane;
use http::Head;
use http::client::{Response, request};
use sim::{Sim, SimEnv, SimStream};

use super::*;
use crate::limits::Limits;

/// Answers `/later/N` and `/held/N` after N milliseconds, the latter only while its client is there;
/// everything else at once, with what it saw.
struct Echo {
    lease: Lease,
    env: SimEnv,
    seen: Rc<RefCell<Vec<String>>>,
}

impl Service for Echo {
    fn call(&self, request: Request) -> Pin<Box<dyn Future<Output = Reply>>> {
        match request.judged {
            Some(Judged::Stranger(reply)) => return Box::pin(async move { reply }),
            Some(Judged::Crowded(_) | Judged::NoMemory { .. }) => {
                return Box::pin(async { Reply::empty(429) });
            }
            Some(Judged::Caller(_) | Judged::Anybody { .. }) | None => {}
        }
        let target = String::from_utf8_lossy(request.head.target()).into_owned();
        let method = request.head.method_text().to_owned();
        self.seen.borrow_mut().push(format!("begin {target}"));
        let (env, seen, lease) = (self.env.clone(), Rc::clone(&self.seen), self.lease.clone());
        Box::pin(async move {
            if let Some(ms) = target.strip_prefix("/later/") {
                let ms = ms.parse().expect("a number");
                env.clock().sleep(Duration::from_millis(ms)).await;
            }
            if let Some(ms) = target.strip_prefix("/held/") {
                let ms = ms.parse().expect("a number");
                let work = env.clock().sleep(Duration::from_millis(ms));
                if request.left.or(work).await.is_none() {
                    seen.borrow_mut().push(format!("given up {target}"));
                    return Reply::empty(400);
                }
            }
            seen.borrow_mut().push(format!("end {target}"));
            if target == "/large" {
                return Reply::text(200, vec![b'x'; 3_000_000]);
            }
            if target == "/counted" {
                let body = vec![b'x'; 3_000_000];
                let memory = lease.take(body.len()).map(Arc::new);
                return Reply { is_of_known: true, memory, ..Reply::text(200, body) };
            }
            let mut body = format!("{method} {target} {}", request.body.len());
            if target == "/anybody/large" {
                body.push_str(&"x".repeat(8_000));
            }
            let is_of_known = !target.starts_with("/anybody");
            Reply { is_of_known, ..Reply::text(200, body) }
        })
    }

    fn lane(&self, head: &Head, _peer: &str) -> Lane {
        Lane(u64::from(head.field("authorization").is_some()))
    }

    fn judge(&self, head: Head, _peer: Rc<str>) -> Pin<Box<dyn Future<Output = Option<Judged>>>> {
        let stranger = head.field("authorization") == Some(b"wrong");
        let anybody = head.target().starts_with(b"/anybody");
        let env = self.env.clone();
        Box::pin(async move {
            env.clock().sleep(Duration::from_millis(3)).await;
            match (stranger, anybody) {
                (true, _) => Some(Judged::Stranger(Reply::empty(401))),
                (_, true) => Some(Judged::Anybody { bytes_max: ANYBODYS }),
                _ => None,
            }
        })
    }

    fn refuse(&self, refusal: Refusal) -> Reply {
        match refusal {
            Refusal::Fault(fault) => Reply::empty(fault.status()),
            Refusal::Memory { .. } => Reply::empty(429),
        }
    }
}

/// The largest body to a path that anybody may ask.
const ANYBODYS: usize = 1 << 20;

struct Place {
    sim: Sim,
    door: Rc<Door<SimEnv, Echo>>,
    seen: Rc<RefCell<Vec<String>>>,
    budget: Budget,
    /// How often memory lacked.
    told: Rc<Cell<usize>>,
}

fn place(seed: u64) -> Place {
    with(seed, Limits::default(), 64 << 20)
}

fn with(seed: u64, limits: Limits, memory: usize) -> Place {
    let sim = Sim::new(seed);
    let seen = Rc::<RefCell<Vec<String>>>::default();
    let (budget, told) = (Budget::new(memory), Rc::<Cell<usize>>::default());
    let service = Echo { env: sim.env(), seen: Rc::clone(&seen), lease: budget.lease() };
    let turns = env::turns::Turns::new(sim.env(), 1_000);
    let tell = Rc::clone(&told);
    let room = Room::new(sim.env(), budget.lease(), Box::new(move |_| tell.set(tell.get() + 1)));
    let door = Door::new(limits, (sim.env(), turns), room, service);
    Place { sim, door, seen, budget, told }
}

impl Place {
    /// A connection to the door.
    fn connect(&self) -> SimStream {
        let (near, far) = self.sim.stream_pair();
        let door = Rc::clone(&self.door);
        if let Some(place) = door.enter_now(true) {
            self.sim.env().spawn().spawn(serve(far, place));
        }
        near
    }

    /// Sends all, then reads until so many answers are there or the server closes.
    fn talk(&self, bytes: &[u8], methods: &[Method]) -> (Vec<Response>, bool) {
        let mut stream = self.connect();
        self.sim.run(async {
            stream.write_all(bytes).await.ok();
            answers(&mut stream, methods).await
        })
    }
}

/// Reads the answers to requests of these methods; also: has the server closed after them?
async fn answers(stream: &mut SimStream, methods: &[Method]) -> (Vec<Response>, bool) {
    let mut bytes = Vec::new();
    let mut found = Vec::new();
    let mut buffer = vec![0; 10_000];
    loop {
        while let Some(method) = methods.get(found.len()) {
            match Response::parse(&bytes, *method).expect("an answer") {
                Some((response, len)) => {
                    bytes.drain(..len);
                    found.push(response);
                }
                None => break,
            }
        }
        if found.len() == methods.len() {
            let closes = found.last().is_some_and(|r| r.field("connection") == Some("close"));
            if !closes {
                return (found, false);
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => {
                assert!(bytes.is_empty(), "half an answer: {bytes:?}");
                return (found, true);
            }
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn get(target: &str) -> Vec<u8> {
    request("GET", target, &[], b"")
}

#[test]
fn a_request_is_answered() {
    for seed in 0..20 {
        let place = place(seed);
        let bytes = request("POST", "/a", &[], b"{\"a\":1}");
        let (found, closed) = place.talk(&bytes, &[Method::Post]);
        assert_eq!((found[0].status, found[0].text(), closed), (200, "POST /a 7".into(), false));
        assert_eq!(found[0].field("x-elastic-product"), Some("Elasticsearch"));
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for seed in 0..5 {
        let place = place(seed);
        let mut bytes = Vec::new();
        let count = 1_200;
        for n in 0..count {
            // Some wait, the first of them longest.
            let target =
                if n % 7 == 3 { format!("/later/{}", 50 - n % 50) } else { format!("/{n}") };
            bytes.extend(get(&target));
        }
        let (found, closed) = place.talk(&bytes, &vec![Method::Get; count]);
        assert!(!closed, "seed {seed}");
        for (n, response) in found.iter().enumerate() {
            let target =
                if n % 7 == 3 { format!("/later/{}", 50 - n % 50) } else { format!("/{n}") };
            assert_eq!(response.text(), format!("GET {target} 0"), "seed {seed}");
        }
    }
}

#[test]
fn safe_requests_run_together_and_others_alone() {
    let place = place(3);
    let mut bytes = get("/later/30");
    bytes.extend(get("/later/10"));
    bytes.extend(request("PUT", "/later/20", &[], b"x"));
    bytes.extend(get("/after"));
    place.talk(&bytes, &[Method::Get, Method::Get, Method::Put, Method::Get]);
    let seen = place.seen.borrow();
    let at = |what: &str| seen.iter().position(|seen| seen == what).expect("seen");
    assert!(at("begin /later/10") < at("end /later/30"));
    assert!(at("begin /later/20") > at("end /later/30"));
    assert!(at("begin /after") > at("end /later/20"));
}

#[test]
fn no_more_than_allowed_run_at_once() {
    let limits = Limits { running_max: 4, ..Limits::default() };
    let place = with(1, limits, 64 << 20);
    let bytes: Vec<u8> = (0..40).flat_map(|n| get(&format!("/later/{}", n % 5))).collect();
    let (found, _) = place.talk(&bytes, &[Method::Get; 40]);
    assert_eq!(found.len(), 40);
    let mut running = 0;
    for event in place.seen.borrow().iter() {
        running += if event.starts_with("begin") { 1 } else { -1 };
        assert!(running <= 4);
    }
}

#[test]
fn a_head_request_gets_the_length_alone() {
    let place = place(1);
    let mut bytes = request("HEAD", "/abc", &[], b"");
    bytes.extend(get("/x"));
    let (found, _) = place.talk(&bytes, &[Method::Head, Method::Get]);
    assert_eq!(found[0].field("content-length"), Some("11"));
    assert_eq!(found[1].text(), "GET /x 0");
}

#[test]
fn a_client_that_expects_to_be_asked_is_asked() {
    let place = place(5);
    let mut stream = place.connect();
    let head = b"PUT /a HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    place.sim.run(async {
        stream.write_all(head).await.expect("open");
        let (asked, _) = answers(&mut stream, &[Method::Put]).await;
        assert_eq!(asked[0].status, 100);
        stream.write_all(b"abc").await.expect("open");
        let (found, _) = answers(&mut stream, &[Method::Put]).await;
        assert_eq!(found[0].text(), "PUT /a 3");
    });
    // One that sends its body along is not asked.
    let (found, _) = place.talk(&[&head[..], b"abc"].concat(), &[Method::Put]);
    assert!(found[0].status == 100 || found[0].text() == "PUT /a 3");
    let (found, closed) =
        place.talk(b"PUT /a HTTP/1.1\r\nContent-Length: 3\r\nExpect: x\r\n\r\n", &[Method::Put]);
    assert_eq!((found[0].status, closed), (417, true));
}

#[test]
fn large_bodies_and_answers_pass() {
    for seed in 0..3 {
        let place = place(seed);
        let body = vec![b'y'; 3_000_000];
        let mut stream = place.connect();
        place.sim.run(async {
            stream.write_all(&request("POST", "/a", &[], &body)).await.expect("open");
            let (found, _) = answers(&mut stream, &[Method::Post]).await;
            assert_eq!(found[0].text(), "POST /a 3000000");
            stream.write_all(&get("/large")).await.expect("open");
            let (found, _) = answers(&mut stream, &[Method::Get]).await;
            assert_eq!(found[0].body.len(), 3_000_000);
            let mut chunked = b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            for _ in 0..30 {
                chunked.extend_from_slice(b"186A0\r\n");
                chunked.extend_from_slice(&body[..100_000]);
                chunked.extend_from_slice(b"\r\n");
            }
            chunked.extend_from_slice(b"0\r\n\r\n");
            stream.write_all(&chunked).await.expect("open");
            let (found, _) = answers(&mut stream, &[Method::Post]).await;
            assert_eq!(found[0].text(), "POST /c 3000000");
        });
    }
}

#[test]
fn connections_close_when_asked() {
    let place = place(2);
    let bytes = [request("GET", "/1", &[("Connection", "close")], b""), get("/2")].concat();
    let (found, closed) = place.talk(&bytes, &[Method::Get, Method::Get]);
    assert_eq!((found.len(), closed), (1, true));
    let (found, closed) = place.talk(b"GET /1 HTTP/1.0\r\n\r\n", &[Method::Get]);
    assert_eq!((found[0].field("connection"), closed), (Some("close"), true));
    let old = b"GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let (found, closed) = place.talk(old, &[Method::Get]);
    assert_eq!((found[0].field("connection"), closed), (Some("keep-alive"), false));
}

#[test]
fn faults_are_refused_and_close() {
    let place = place(4);
    for (bytes, status) in [
        (&b"GET / HTTP/1.1\nHost: h\n\n"[..], 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET /a/%2e%2e/b HTTP/1.1\r\n\r\n", 400),
        (b"GET /a/%5Cb HTTP/1.1\r\n\r\n", 400),
        (b"GET //x HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\nx", 413),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n", 400),
    ] {
        let (found, closed) = place.talk(bytes, &[Method::Get]);
        assert_eq!((found[0].status, closed), (status, true), "{bytes:?}");
        assert!(found[0].body.is_empty());
        // What came before it is answered first.
        let (found, closed) = place.talk(&[&get("/later/5"), bytes].concat(), &[Method::Get; 2]);
        assert_eq!((found[0].status, found[1].status, closed), (200, status, true), "{bytes:?}");
        // What comes after it is not.
        let (found, closed) = place.talk(&[bytes, &get("/x")].concat(), &[Method::Get; 2]);
        assert_eq!((found.len(), closed), (1, true), "{bytes:?}");
    }
    // The clients are gone: those who lingered for them notice.
    place.sim.run(async { place.sim.env().clock().sleep(Duration::from_secs(5)).await });
    assert_eq!(place.door.open_count(), 0);
}

#[test]
fn a_large_body_of_a_stranger_is_not_read() {
    for seed in 0..10 {
        let place = place(seed);
        let stranger = [("Authorization", "wrong")];
        let large = request("POST", "/a", &stranger, &[b'x'; 300_000]);
        let (found, closed) =
            place.talk(&[large.clone(), get("/x")].concat(), &[Method::Post, Method::Get]);
        assert_eq!((found[0].status, found[1].status, closed), (401, 200, false), "seed {seed}");
        assert!(!place.seen.borrow().contains(&"begin /a".to_owned()));
        // The one before it is answered first: it may change who is known.
        let waits = [request("PUT", "/later/5", &[], b""), large].concat();
        let (found, _) = place.talk(&waits, &[Method::Put, Method::Post]);
        assert_eq!((found[0].status, found[1].status), (200, 401), "seed {seed}");
        // In chunks, too.
        let mut chunked = b"POST /c HTTP/1.1\r\nAuthorization: wrong\r\n".to_vec();
        chunked.extend(b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        chunked.extend(get("/y"));
        let (found, closed) = place.talk(&chunked, &[Method::Post, Method::Get]);
        assert_eq!((found[0].status, found[1].status, closed), (401, 200, false), "seed {seed}");
        // Known callers are heard.
        let known = request("POST", "/a", &[("Authorization", "right")], &[b'x'; 300_000]);
        let (found, _) = place.talk(&known, &[Method::Post]);
        assert_eq!(found[0].text(), "POST /a 300000", "seed {seed}");
    }
}

#[test]
fn who_asked_whether_to_send_a_refused_body_is_told_no_and_closed() {
    let place = place(3);
    let fields = "Authorization: wrong\r\nExpect: 100-continue\r\nContent-Length: 100000";
    let bytes = format!("POST /a HTTP/1.1\r\n{fields}\r\n\r\n");
    let (found, closed) = place.talk(bytes.as_bytes(), &[Method::Post]);
    assert_eq!((found[0].status, closed), (401, true), "whether the body comes is not known");
}

#[test]
fn one_lane_may_hold_so_much_and_others_are_not_refused() {
    let limits = Limits { lane_bytes_max: 500_000, ..Limits::default() };
    let place = with(5, limits, 64 << 20);
    let head = "POST /a HTTP/1.1\r\nContent-Length: 400000\r\n\r\n";
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
        let mut chunked = b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
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
    let mut chunked = b"POST /anybody HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    chunked.extend(format!("{:x}\r\n", 3 * ANYBODYS / 2).into_bytes());
    chunked.resize(chunked.len() + 3 * ANYBODYS / 2, b'x');
    let announced = |bytes: usize| {
        format!("POST /anybody HTTP/1.1\r\nContent-Length: {bytes}\r\n\r\n").into_bytes()
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

/// What is taken, to the byte.
fn taken(budget: &Budget) -> usize {
    budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum()
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
        assert_eq!(answers(&mut open[0], &[Method::Get]).await.0[0].status, 200);
    });
    assert_eq!(place.talk(&get("/z"), &[Method::Get]).0.len(), 1);
}

#[test]
fn whoever_keeps_the_server_waiting_gives_its_place_to_another() {
    // The story: four hundred half heads, or bodies that never came, kept everybody else out for a minute,
    // and clients that had been served before as well.
    let stranger = "Authorization: wrong\r\n";
    let known = "Authorization: right\r\n";
    for (story, seed) in [
        ("GET /h HTTP/1.1\r\nHost: h\r\n".to_owned(), 1),
        ("POST /h HTTP/1.1\r\nContent-Length: 10\r\n\r\nab".to_owned(), 2),
        (format!("POST /h HTTP/1.1\r\n{stranger}Content-Length: 90000\r\n\r\nab"), 3),
        (format!("POST /h HTTP/1.1\r\n{known}Content-Length: 90000\r\n\r\nab"), 4),
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
fn a_refusal_is_heard_by_a_client_that_still_sends() {
    let limits = Limits {
        http: http::Limits { body_bytes_max: 1_000, ..http::Limits::DEFAULT },
        ..Limits::default()
    };
    for seed in 0..5 {
        let place = with(seed, limits, 64 << 20);
        let (found, _) = place.talk(&request("POST", "/", &[], &[b'x'; 500_000]), &[Method::Post]);
        assert_eq!(found[0].status, 413, "seed {seed}");
    }
}

#[test]
fn memory_of_bodies_is_bounded() {
    let place = with(1, Limits::default(), 1 << 20);
    // Refused before it is read; the connection goes on.
    let much = [request("POST", "/", &[], &[b'x'; 2 << 20]), get("/x")].concat();
    let (found, closed) = place.talk(&much, &[Method::Post, Method::Get]);
    assert_eq!((found[0].status, found[1].status, closed), (429, 200, false));
    let mut chunked = b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n".to_vec();
    chunked.resize(chunked.len() + 0x20_0000, b'x');
    let (found, closed) = place.talk(&chunked, &[Method::Post]);
    assert_eq!((found[0].status, closed), (429, true));
    // What was taken is given back.
    let (found, _) = place.talk(&request("POST", "/", &[], &[b'x'; 900_000]), &[Method::Post]);
    assert_eq!(found[0].status, 200);
}

#[test]
fn time_is_bounded() {
    let seconds = |place: &Place| place.sim.now().as_secs();
    for (bytes, least, most) in [
        (&b""[..], 60, 65),
        (b"GET / HT", 30, 35),
        (b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nab", 60, 65),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 60, 65),
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
        for byte in b"GET / HTTP/1.1\r\n".iter().cycle().take(100) {
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
            body.write_all(b"PUT /b HTTP/1.1\r\nContent-Length: 4\r\n\r\nab").await.expect("open");
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

#[test]
fn requests_are_the_same_under_every_cut() {
    let bytes = [
        request("POST", "/a", &[], b"12345"),
        b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\nT: u\r\n\r\n"
            .to_vec(),
        b"\r\n".to_vec(),
        get("/b"),
    ]
    .concat();
    for cut in 1..bytes.len() {
        let place = place(cut as u64);
        let mut stream = place.connect();
        place.sim.run(async {
            stream.write_all(&bytes[..cut]).await.expect("open");
            place.sim.env().clock().sleep(Duration::from_millis(20)).await;
            stream.write_all(&bytes[cut..]).await.expect("open");
            let (found, _) = answers(&mut stream, &[Method::Post, Method::Post, Method::Get]).await;
            let texts: Vec<String> = found.iter().map(Response::text).collect();
            assert_eq!(texts, ["POST /a 5", "POST /c 2", "GET /b 0"], "cut at {cut}");
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

#[test]
fn large_bodies_beside_others_of_their_caller_are_refused_while_memory_is_scarce() {
    let limits = Limits { lane_bytes_max: 2 << 20, ..Limits::default() };
    let place = with(6, limits, 2 << 20);
    let head = |bytes: usize| format!("POST /a HTTP/1.1\r\nContent-Length: {bytes}\r\n\r\n");
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
