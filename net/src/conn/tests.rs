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

mod late;
mod leaving;
mod memory;
mod places;

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
        request.shown.set(request.head.field("authorization") == Some(b"right"));
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
            if target == "/wide" {
                body.push_str(&"x".repeat(40_000));
            }
            let is_of_known = !target.starts_with("/anybody");
            Reply { is_of_known, ..Reply::text(200, body) }
        })
    }

    fn lane(&self, head: &Head, _peer: &str) -> Lane {
        Lane(u64::from(head.field("authorization").is_some()))
    }

    fn is_brief(&self, head: &Head) -> bool {
        head.target().starts_with(b"/brief")
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

    fn refuse(&self, refusal: Refusal, _head: Option<&Head>) -> Reply {
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
    let head = b"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
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
    let (found, closed) = place.talk(
        b"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: x\r\n\r\n",
        &[Method::Put],
    );
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
            let mut chunked =
                b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
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
        (b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /a/%2e%2e/b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /a/%5Cb HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET //x HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET h:80 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999\r\n\r\nx", 413),
        // Without a host, with two, or with what is none (RFC 9112, section 3.2).
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET http://h/ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h/a\r\n\r\n", 400),
        (b"GET / HTTP/1.0\r\nHost: me@h\r\n\r\n", 400),
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
        let mut chunked = b"POST /c HTTP/1.1\r\nHost: h\r\nAuthorization: wrong\r\n".to_vec();
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
    let bytes = format!("POST /a HTTP/1.1\r\nHost: h\r\n{fields}\r\n\r\n");
    let (found, closed) = place.talk(bytes.as_bytes(), &[Method::Post]);
    assert_eq!((found[0].status, closed), (401, true), "whether the body comes is not known");
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
fn requests_are_the_same_under_every_cut() {
    let bytes = [
        request("POST", "/a", &[], b"12345"),
        b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\nT: u\r\n\r\n"
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
