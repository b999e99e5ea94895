//! The runtime on the real machine: the only tests besides those of the whole process that start
//! glommio. Small, and none asserts a duration.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use env::disk::Watched;
use env::leftovers::Leaving;
use env::{Bytes, Clock, Disk, Env, ErrorKind, File, Random, Spawn, Stream};
use runtime::net::{Handed, Listener, Socket};
use runtime::tls::ServerTls;
use runtime::{Core, start};

/// Runs `main` on one executor and hands its answer back.
fn on_one_core<T, F>(main: impl FnOnce(Core) -> F + Clone + Send + 'static) -> T
where
    T: Send + 'static,
    F: Future<Output = T> + 'static,
{
    let (sender, receiver) = mpsc::channel();
    let running = start(vec![sender], |core, sender: mpsc::Sender<T>| async move {
        sender.send(main(core).await).expect("the test waits");
    })
    .expect("this machine can run an executor");
    let answer = receiver.recv().expect("the executor answers");
    running.join().expect("it ends in order");
    answer
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        // Under the target folder: a real file system, where /tmp may be memory.
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = base.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("writable");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

/// Tells on which thread it goes.
struct Told(mpsc::Sender<Option<String>>);

impl Drop for Told {
    fn drop(&mut self) {
        let thread = std::thread::current();
        self.0.send(thread.name().map(str::to_owned)).expect("the test waits");
    }
}

#[test]
fn what_is_large_goes_beside_the_executor_that_lets_it_go() {
    let (tell, told) = mpsc::channel();
    on_one_core(move |core| async move {
        drop(Leaving::known(Told(tell.clone()), true));
        drop(Leaving::known(Told(tell.clone()), false));
        let worker = tell.clone();
        let job = move || drop(Leaving::known(Told(worker), true));
        core.env.spawn().work(job).await.expect("a worker has room");
        drop(tell);
    });
    let names: Vec<String> = told.into_iter().flatten().collect();
    // Without their numbers.
    let mut kinds: Vec<&str> = names.iter().filter_map(|name| name.split('-').next()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["core", "heavy", "leftovers"]);
}

#[test]
fn blocks_written_and_synced_are_read_back_at_any_offset() {
    let folder = Folder::new("blocks");
    let path = folder.0.join("log");
    on_one_core(move |core| async move {
        let disk = core.env.disk();
        let file = disk.create(&path).await.expect("new");
        let taken = disk.create(&path).await.expect_err("the name is taken");
        assert_eq!(taken.kind, ErrorKind::AlreadyExists);
        let unit = file.alignment() as usize;
        let mut buffer = file.buffer(2 * unit);
        assert!(buffer.as_ref().iter().all(|&byte| byte == 0), "buffers begin with zeros");
        buffer.as_mut()[..5].copy_from_slice(b"first");
        buffer.as_mut()[unit - 3..unit + 3].copy_from_slice(b"across");
        file.write_at(buffer, 0).await.expect("written");
        file.sync_all().await.expect("synced");
        let mut buffer = file.buffer(unit);
        buffer.as_mut().fill(7);
        file.write_at(buffer, 2 * unit as u64).await.expect("written");
        file.sync_data().await.expect("synced");
        assert_eq!(file.len().await, Ok(3 * unit as u64));
        drop(file);

        let file = disk.open(&path).await.expect("there");
        assert_eq!(&*file.read_at(0, 5).await.expect("read"), b"first");
        assert_eq!(&*file.read_at(unit as u64 - 3, 6).await.expect("read"), b"across");
        assert_eq!(
            &*file.read_at(2 * unit as u64 + 1, unit - 1).await.expect("read"),
            &vec![7; unit - 1]
        );
        assert!(file.read_at(3 * unit as u64, 0).await.expect("nothing").is_empty());
        let beyond = file.read_at(3 * unit as u64 - 1, 2).await.expect_err("one byte too many");
        assert_eq!(beyond.kind, ErrorKind::UnexpectedEnd);
        let beyond = file.read_at(100 * unit as u64, 1).await.expect_err("far beyond");
        assert_eq!(beyond.kind, ErrorKind::UnexpectedEnd);
    });
}

#[test]
fn each_core_reads_what_it_wrote_into_a_new_file() {
    // glommio judged each device once for each executor, by its first file; a new, empty one made
    // it believe in polling, and the second core could not read.
    let folder = Folder::new("each-core");
    let (tell, told) = mpsc::channel();
    let seeds = (0..2).map(|core| (folder.0.join(format!("log-{core}")), tell.clone())).collect();
    drop(tell);
    let running = start(seeds, |core, (path, tell): (PathBuf, mpsc::Sender<()>)| async move {
        let disk = core.env.disk();
        let file = disk.create(&path).await.expect("new");
        let unit = file.alignment() as usize;
        for byte in [1, 2] {
            // The second time the blocks are there, as those of a log are.
            let mut buffer = file.buffer(unit);
            buffer.as_mut().fill(byte);
            file.write_at(buffer, 0).await.expect("written");
            file.sync_all().await.expect("synced");
            assert_eq!(&*file.read_at(0, 3).await.expect("read"), &[byte; 3]);
        }
        tell.send(()).expect("the test waits");
    })
    .expect("started");
    assert_eq!(told.iter().count(), 2, "both cores came to their end");
    running.join().expect("ended");
}

#[test]
fn the_last_bytes_of_an_odd_file_are_read_and_no_more() {
    let folder = Folder::new("odd");
    let path = folder.0.join("file");
    std::fs::write(&path, vec![9; 5000]).expect("writable");
    on_one_core(move |core| async move {
        let file = core.env.disk().open(&path).await.expect("there");
        assert_eq!(&*file.read_at(4090, 910).await.expect("to the end"), &[9; 910]);
        let beyond = file.read_at(4090, 911).await.expect_err("one too many");
        assert_eq!(beyond.kind, ErrorKind::UnexpectedEnd);
    });
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_by_name_and_not_waited_for() {
    let folder = Folder::new("pipe");
    let (path, saved) = (folder.0.join("segment-1"), folder.0.join("manifest-0"));
    for pipe in [path.clone(), saved.with_extension("tmp")] {
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("a shell tool");
        assert!(made.success());
    }
    on_one_core(move |core| async move {
        let disk = core.env.disk();
        let mapped = disk.map(&path).await.expect_err("no file");
        let opened = disk.open(&path).await.map(drop).expect_err("no file");
        for error in [mapped, opened] {
            assert!(error.message.contains("segment-1"), "{error}");
            assert!(error.message.contains("not a file"), "{error}");
        }
        let refused = disk.save(&saved, Bytes::from(b"new".to_vec())).await.expect_err("a pipe");
        assert!(refused.message.contains("manifest-0.tmp"), "{refused}");
        disk.save(&saved, Bytes::from(b"new".to_vec())).await.expect("the pipe was cleared away");
    });
}

#[test]
fn a_saved_file_is_whole_and_a_map_outlives_its_name() {
    let folder = Folder::new("saved");
    let path = folder.0.join("segment-1");
    let root = folder.0.clone();
    on_one_core(move |core| async move {
        let disk = core.env.disk();
        let large: Vec<u8> = (0..3_000_001u32).map(|n| n as u8).collect();
        disk.save(&path, Bytes::from(b"before".to_vec())).await.expect("saved");
        disk.save(&path, Bytes::from(large.clone())).await.expect("replaced");
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let names: Vec<_> =
            disk.list(&root).await.expect("listed").into_iter().map(|e| (e.name, e.len)).collect();
        assert_eq!(names, [("segment-1".to_owned(), 3_000_001)], "no temporary name is left");
        let map = disk.map(&path).await.expect("mapped");
        disk.remove(&path).await.expect("removed");
        disk.sync_dir(&root).await.expect("synced");
        assert!(*map == *large, "the map lives on");
        let missing = disk.map(&path).await.expect_err("the name is gone");
        assert_eq!(missing.kind, ErrorKind::NotFound);
        let no_folder = root.join("nowhere").join("file");
        let missing = disk.save(&no_folder, Bytes::empty()).await.expect_err("no such folder");
        assert_eq!(missing.kind, ErrorKind::NotFound);
        assert!(missing.message.contains("nowhere"), "{missing}");
    });
}

#[test]
fn folders_are_private_and_listed_in_order() {
    let folder = Folder::new("folders");
    let root = folder.0.clone();
    on_one_core(move |core| async move {
        let disk = core.env.disk();
        let deep = root.join("indices/uuid/0");
        disk.create_dir(&deep).await.expect("made, with those above");
        disk.create_dir(&deep).await.expect("no error where it stands");
        for folder in [&deep, deep.parent().expect("two up")] {
            let mode = std::fs::metadata(folder).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        disk.save(&root.join("b"), Bytes::from(vec![1])).await.expect("saved");
        disk.save(&root.join("a"), Bytes::empty()).await.expect("saved");
        disk.rename(&root.join("b"), &root.join("c")).await.expect("renamed");
        let entries = disk.list(&root).await.expect("listed");
        let seen: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.is_dir, e.len)).collect();
        assert_eq!(seen, [("a", false, 0), ("c", false, 1), ("indices", true, 0)]);
        assert!(disk.map(&root.join("a")).await.expect("an empty map").is_empty());
        assert!(disk.free_bytes(&root).await.expect("known") > 0);
        disk.remove_dir(&root.join("indices")).await.expect("removed");
        assert_eq!(disk.list(&root).await.expect("listed").len(), 2);
        let taken = disk.create_dir(&root.join("a").join("b")).await.expect_err("a is a file");
        assert!(taken.message.contains("/a"), "{taken}");
    });
}

/// Each change that a mark must tell of: what is done, in a folder whose files `a` and `b` are marked.
#[test]
fn what_changes_in_a_folder_changes_its_mark() {
    let folder = Folder::new("marks");
    let (one, other) = (folder.0.join("one"), folder.0.join("other"));
    on_one_core(move |core| async move {
        let disk = core.env.disk();
        for folder in [&one, &other] {
            disk.create_dir(folder).await.expect("new");
            for name in ["a", "b", "c"] {
                disk.save(&folder.join(name), Bytes::from(vec![1; 9])).await.expect("saved");
            }
        }
        let marks = async || {
            let names: Arc<[String]> = ["a", "b"].map(str::to_owned).into();
            let watch = |folder: &PathBuf| Watched { folder: folder.clone(), names: names.clone() };
            disk.marks(vec![watch(&one), watch(&other)]).await.expect("a worker")
        };
        let first = marks().await;
        assert_eq!((first.len(), marks().await), (2, first.clone()), "nothing happened");
        let mut seen = vec![first[0]];
        let changed = |now: Vec<u64>, seen: &mut Vec<u64>, what: &str| {
            assert!(!seen.contains(&now[0]), "{what}");
            assert_eq!(now[1], first[1], "{what}: the other folder is as it was");
            seen.push(now[0]);
        };
        std::fs::write(one.join("b"), [1; 8]).expect("writable");
        changed(marks().await, &mut seen, "a file was written in its place");
        disk.save(&one.join("a"), Bytes::from(vec![1; 9])).await.expect("saved");
        changed(marks().await, &mut seen, "another took its place");
        disk.remove(&one.join("c")).await.expect("there");
        disk.remove(&one.join("b")).await.expect("there");
        changed(marks().await, &mut seen, "names are gone");
        disk.remove_dir(&one).await.expect("there");
        changed(marks().await, &mut seen, "the folder is gone");
    });
}

#[test]
fn messages_cross_cores_and_answers_come_back() {
    const ROUNDS: u64 = 1000;
    type Ask = (u64, env::reply::Reply<u64>);
    let (asks, mut served) = env::mailbox::channel::<Ask>(1 << 20);
    let (tell, told) = mpsc::channel();
    enum Role {
        Asks(env::mailbox::Sender<Ask>, mpsc::Sender<u64>),
        Serves(Box<env::mailbox::Receiver<Ask>>),
    }
    let roles = vec![
        Role::Asks(asks, tell),
        Role::Serves(Box::new({
            // Moved in here so that the test keeps no receiver.
            std::mem::replace(&mut served, env::mailbox::channel(1).1)
        })),
    ];
    let running = start(roles, |core, role| async move {
        match role {
            Role::Asks(asks, tell) => {
                assert_eq!(core.id.get(), 0);
                let mut sum = 0;
                for number in 0..ROUNDS {
                    let (reply, answer) = env::reply::channel();
                    asks.send((number, reply), 1).expect("room");
                    sum += answer.await.expect("answered");
                }
                tell.send(sum).expect("the test waits");
            }
            Role::Serves(mut served) => {
                assert_eq!((core.id.get(), core.count), (1, 2));
                let mut batch = Vec::new();
                while served.receive(&mut batch).await {
                    for (number, reply) in batch.drain(..) {
                        reply.send(2 * number);
                    }
                }
            }
        }
    })
    .expect("started");
    assert_eq!(told.recv().expect("answered"), ROUNDS * (ROUNDS - 1));
    running.join().expect("both end");
}

#[test]
fn work_leaves_the_core_and_tasks_share_it() {
    on_one_core(|core| async move {
        let spawn = core.env.spawn();
        let core_thread = std::thread::current().id();
        let worker = spawn.work(|| std::thread::current().id()).await.expect("run");
        let short = spawn.work_short(|| std::thread::current().id()).await.expect("run");
        assert!(worker != core_thread && short != core_thread && worker != short);
        let hash = spawn.work_on_hash(|| std::thread::current().id()).await.expect("run");
        let body = spawn.work_on_body(|| std::thread::current().id()).await.expect("run");
        assert!(
            hash != body
                && ![core_thread, worker, short].iter().any(|id| [hash, body].contains(id))
        );
        let lane = env::turns::Lane(7);
        let step = spawn.work_in_turn(lane, || std::thread::current().id()).await.expect("run");
        assert!(
            ![core_thread, worker, short, hash, body].contains(&step),
            "searches have threads of their own"
        );
        let panicked = spawn.work(|| panic!("on purpose")).await.expect_err("an error, no hang");
        assert_eq!(panicked.kind, ErrorKind::Io);

        // A spawned task starts after its maker has yielded, never inside of it.
        let started = Rc::new(Cell::new(false));
        let flag = Rc::clone(&started);
        spawn.spawn(async move { flag.set(true) });
        assert!(!started.get());
        while !started.get() {
            spawn.yield_if_needed().await;
        }

        let clock = core.env.clock();
        let before = clock.monotonic();
        clock.sleep(Duration::from_millis(2)).await;
        assert!(clock.monotonic() - before >= Duration::from_millis(2));
        assert!(clock.unix_ms() > 1_600_000_000_000);
        assert_ne!(core.env.random().next_u64(), core.env.random().next_u64());
    });
}

/// A CA-less certificate for localhost: chain and key in PEM, and its DER for the client.
fn certificate() -> (String, String, rustls::pki_types::CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
    (made.cert.pem(), made.signing_key.serialize_pem(), made.cert.der().clone())
}

/// Starts one core that opens each socket with `tls` and echoes until the client closes.
fn echo_server(tls: Option<ServerTls>) -> (SocketAddr, runtime::Running, runtime::net::Acceptor) {
    let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let address = listener.address();
    let (sender, receiver) = env::mailbox::channel::<Handed>(16);
    let running =
        start(vec![receiver], |core, mut receiver: env::mailbox::Receiver<Handed>| async move {
            let tls = tls.map(Rc::new);
            let open = Rc::new(Cell::new(0u32));
            let mut sockets = Vec::new();
            while receiver.receive(&mut sockets).await {
                for handed in sockets.drain(..) {
                    let Handed::Socket(socket) = handed else { continue };
                    let tls = tls.clone();
                    let count = Rc::clone(&open);
                    open.set(open.get() + 1);
                    core.env.spawn().spawn(async move {
                        if let Err(error) = echo(socket, tls.as_deref()).await {
                            eprintln!("echo: {error}");
                        }
                        count.set(count.get() - 1);
                    });
                }
            }
            while open.get() > 0 {
                core.env.clock().sleep(Duration::from_millis(1)).await;
            }
        })
        .expect("started");
    let acceptor = listener.accept_for(vec![sender], 3).expect("accepting");
    (address, running, acceptor)
}

/// The acceptor closed whoever came where there were as many connections as may be, for as long as none of
/// those left.
#[test]
fn room_is_asked_for_where_all_places_are_taken() {
    const PLACES: usize = 2;
    let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let address = listener.address();
    let (sender, receiver) = env::mailbox::channel::<Handed>(16);
    // The core lets the oldest go when it is asked for room, which it is again where it is slow: what
    // was asked for before it made room is older than the socket that took it.
    let run = |_, mut receiver: env::mailbox::Receiver<Handed>| async move {
        let (mut kept, mut batch) = (Vec::new(), Vec::new());
        while receiver.receive(&mut batch).await {
            for handed in batch.drain(..) {
                match handed {
                    Handed::Socket(socket) => kept.push(socket),
                    Handed::Press if kept.len() < PLACES => {}
                    Handed::Press => drop(kept.remove(0)),
                }
            }
        }
    };
    let running = start(vec![receiver], run).expect("started");
    let mut acceptor = listener.accept_for(vec![sender], PLACES).expect("accepting");
    let mut clients: Vec<_> =
        (0..5).map(|_| std::net::TcpStream::connect(address).expect("connected")).collect();
    for gone in &mut clients[..3] {
        assert_eq!(gone.read(&mut [0]).expect("closed in order"), 0);
    }
    for kept in &mut clients[3..] {
        kept.set_read_timeout(Some(Duration::from_millis(50))).expect("set");
        assert!(kept.read(&mut [0]).is_err(), "it is kept, and nothing is sent");
    }
    acceptor.stop();
    drop(acceptor);
    running.join().expect("it ends");
}

async fn echo(socket: Socket, tls: Option<&ServerTls>) -> env::Result<()> {
    let mut stream = match tls {
        Some(tls) => socket.open_tls(tls).await?,
        None => socket.open()?,
    };
    assert!(stream.peer().starts_with("127.0.0.1:"));
    let mut all = Vec::new();
    let mut buffer = vec![0; 10_000];
    loop {
        let count = stream.read(&mut buffer).await?;
        all.extend_from_slice(&buffer[..count]);
        if all.ends_with(b"END") {
            break;
        }
        assert!(count > 0, "the client sends an end first");
    }
    stream.write_all(&all).await?;
    stream.close().await
}

/// A few MB with no period that a record boundary could hide behind.
fn message() -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..3_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    bytes.extend_from_slice(b"END");
    bytes
}

#[test]
fn bytes_come_back_over_plain_tcp_and_a_stopped_port_refuses() {
    let (address, running, mut acceptor) = echo_server(None);
    let mut client = std::net::TcpStream::connect(address).expect("connected");
    let second_node = Listener::bind(address).expect_err("the port is taken");
    assert_eq!(second_node.kind(), std::io::ErrorKind::AddrInUse);
    let sent = message();
    client.write_all(&sent).expect("sent");
    let mut back = Vec::new();
    client.read_to_end(&mut back).expect("received");
    assert!(back == sent);
    acceptor.stop();
    let refused = std::net::TcpStream::connect(address).expect_err("nobody listens");
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    drop((client, acceptor));
    running.join().expect("ended");
}

#[test]
fn one_connection_too_many_is_closed_unread() {
    let (address, running, acceptor) = echo_server(None);
    let open: Vec<_> =
        (0..3).map(|_| std::net::TcpStream::connect(address).expect("connected")).collect();
    while acceptor.open_count() < 3 {
        std::thread::yield_now();
    }
    let mut fourth = std::net::TcpStream::connect(address).expect("the kernel accepts");
    let mut byte = [0];
    assert!(matches!(fourth.read(&mut byte), Ok(0) | Err(_)), "closed, nothing sent");
    for mut client in open {
        client.write_all(b"END").expect("sent");
        let mut back = Vec::new();
        client.read_to_end(&mut back).expect("received");
        assert_eq!(back, b"END");
    }
    drop(acceptor);
    running.join().expect("ended");
}

#[test]
fn bytes_come_back_over_tls_of_both_versions_and_sessions_resume() {
    let (chain, key, der) = certificate();
    let tls = ServerTls::new(chain.as_bytes(), key.as_bytes()).expect("a good pair");
    let (address, running, acceptor) = echo_server(Some(tls));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(der).expect("a good certificate");
    for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
        let config = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version])
            .expect("known")
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        let config = Arc::new(config);
        let sent = message();
        for attempt in 0..2 {
            let name = "localhost".try_into().expect("a name");
            let connection =
                rustls::ClientConnection::new(Arc::clone(&config), name).expect("made");
            let socket = std::net::TcpStream::connect(address).expect("connected");
            let mut client = rustls::StreamOwned::new(connection, socket);
            client.write_all(&sent).expect("sent");
            let mut back = Vec::new();
            client.read_to_end(&mut back).expect("received, with TLS's goodbye");
            assert!(back == sent);
            let resumed = client.conn.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
            assert_eq!(resumed, attempt == 1, "the second handshake uses the first one's ticket");
        }
    }
    drop(acceptor);
    running.join().expect("ended");
}

#[test]
fn plain_http_on_a_tls_port_is_answered_with_an_alert() {
    let (chain, key, _) = certificate();
    let tls = ServerTls::new(chain.as_bytes(), key.as_bytes()).expect("a good pair");
    let (address, running, acceptor) = echo_server(Some(tls));
    let mut client = std::net::TcpStream::connect(address).expect("connected");
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let mut back = Vec::new();
    client.read_to_end(&mut back).expect("received");
    assert_eq!(back.first(), Some(&21), "a TLS alert");
    drop((client, acceptor));
    running.join().expect("ended");
}

#[test]
fn a_key_that_does_not_belong_is_refused() {
    let (chain, _, _) = certificate();
    let (_, other_key, _) = certificate();
    let refused = ServerTls::new(chain.as_bytes(), other_key.as_bytes()).expect_err("no pair");
    assert!(refused.to_string().contains("certificate and key"), "{refused}");
    assert!(ServerTls::new(b"", other_key.as_bytes()).is_err());
    assert!(ServerTls::new(chain.as_bytes(), b"rubbish").is_err());
}

#[test]
fn a_reserved_address_is_taken_and_refuses() {
    let reserved =
        runtime::net::Reserved::bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let second = runtime::net::Reserved::bind(reserved.address()).expect_err("taken");
    assert_eq!(second.kind(), std::io::ErrorKind::AddrInUse);
    let listening = Listener::bind(reserved.address()).expect_err("taken for listeners too");
    assert_eq!(listening.kind(), std::io::ErrorKind::AddrInUse);
    let refused = std::net::TcpStream::connect(reserved.address()).expect_err("nobody listens");
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
}

/// Acts only as the child of the test below.
#[test]
fn child_that_loses_a_page_under_a_map() {
    let Some(folder) = std::env::var_os("CORELODE_TEST_LOST_PAGE").map(PathBuf::from) else {
        return;
    };
    runtime::suspect::install(&folder.join("suspect")).expect("installed");
    on_one_core(move |core| async move {
        let path = folder.join("segment-7");
        let map = core.env.disk().map(&path).await.expect("mapped");
        // A truncated file answers like a failed disk: the page cannot be had.
        std::fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_len(0))
            .expect("truncated");
        assert_eq!(map[5000], 0, "never told");
    });
}

#[test]
fn a_disk_error_under_a_map_names_the_file_and_ends_the_process_with_74() {
    let folder = Folder::new("lost-page");
    let segment = folder.0.join("segment-7");
    std::fs::write(&segment, vec![7; 10_000]).expect("written");
    let child = std::process::Command::new(std::env::current_exe().expect("known"))
        .args(["--exact", "child_that_loses_a_page_under_a_map"])
        .env("CORELODE_TEST_LOST_PAGE", &folder.0)
        .output()
        .expect("it runs");
    assert_eq!(child.status.code(), Some(74), "{child:?}");
    let suspects = runtime::suspect::take(&folder.0.join("suspect")).expect("readable");
    assert_eq!(suspects, [segment]);
}
