//! The program as a person or a script sees it: options, files, answers over HTTP, exit codes.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Method;
use http::client::{Response, request};
use json::Value;

const PASSWORD: &str = "correct horse";

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = base.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("writable");
        Self(path)
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corelode"));
    command.stdin(Stdio::null()).env_remove("ELASTIC_PASSWORD").env_remove("CORELODE_LOG");
    command
}

/// Runs a command to its end.
fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it exits by itself")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A node that runs; killed where a test ends early.
struct Node {
    child: Child,
    ready_file: PathBuf,
    ready: Value,
    data: PathBuf,
    /// Its standard error.
    log: PathBuf,
}

impl Node {
    fn start(folder: &Folder, options: &[&str]) -> Self {
        let data = folder.data();
        let ready_file = folder.0.join("ready.json");
        let mut command = program();
        command.arg("serve").arg("--data").arg(&data).arg("--ready-file").arg(&ready_file);
        command.args(["--http", "127.0.0.1:0", "--transport", "127.0.0.1:0", "--cores", "2"]);
        command.args(options).env("ELASTIC_PASSWORD", PASSWORD);
        let log = folder.0.join("stderr");
        command.stdout(Stdio::piped());
        command.stderr(std::fs::File::create(&log).expect("writable"));
        let mut child = command.spawn().expect("the program starts");
        while !ready_file.exists() {
            if let Some(status) = child.try_wait().expect("it can be asked") {
                panic!("it ended with {status}: {}", read(&log));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let ready = std::fs::read(&ready_file).expect("just seen");
        let ready = json::parse(&ready).expect("written whole");
        Self { child, ready_file, ready, data, log }
    }

    fn told(&self, key: &str) -> &str {
        self.ready.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("{key} is told"))
    }

    fn address(&self) -> &str {
        self.told("http").split_once("://").expect("a URL").1
    }

    /// One request on a connection of its own.
    fn ask(&self, method: Method, path: &str, password: &str, body: &str) -> Response {
        let credential = BASE64.encode(format!("elastic:{password}"));
        let authorization = format!("Basic {credential}");
        let fields = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            ("Connection", "close"),
        ];
        let name = method.as_str();
        let bytes = request(name, path, &fields, body.as_bytes());
        let socket = TcpStream::connect(self.address()).expect("the port answers");
        // A node that has lost a core is silent.
        socket.set_read_timeout(Some(Duration::from_secs(30))).expect("not zero");
        let answer = if self.told("http").starts_with("https") {
            let authority = std::fs::read(self.told("ca")).expect("named in the ready file");
            let tls = runtime::tls_client::connect(socket, "127.0.0.1", &authority);
            exchange(tls.expect("a good authority"), &bytes)
        } else {
            exchange(socket, &bytes)
        };
        let parsed = Response::parse(&answer, method).expect("HTTP");
        parsed.unwrap_or_else(|| panic!("whole: {}", text(&answer))).0
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(name).arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill is there").success());
    }

    /// Ends it in order; its output.
    fn stop(mut self) -> Output {
        self.signal("-TERM");
        let ready_file = self.ready_file.clone();
        let status = self.child.wait().expect("ends");
        let mut stdout = Vec::new();
        let pipe = self.child.stdout.as_mut().expect("piped");
        pipe.read_to_end(&mut stdout).expect("readable");
        let output = Output { status, stdout, stderr: read(&self.log).into_bytes() };
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        assert!(!ready_file.exists(), "a clean stop removes the ready file");
        output
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("readable")
}

impl Drop for Node {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the node's log:\n{}", read(&self.log));
        }
        // Fine where it has ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn exchange(mut stream: impl Read + Write, request: &[u8]) -> Vec<u8> {
    stream.write_all(request).expect("sent");
    stream.flush().expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("answered");
    answer
}

#[test]
fn a_first_start_makes_all_it_needs_and_prints_nothing_secret() {
    let folder = Folder::new("first");
    let node = Node::start(&folder, &[]);
    assert_eq!(
        node.told("data"),
        node.data.canonicalize().expect("there").to_str().expect("UTF-8")
    );
    let pid = node.ready.get("pid").and_then(Value::as_u64);
    assert_eq!(pid, Some(u64::from(node.child.id())));
    assert!(node.told("transport").starts_with("127.0.0.1:"));
    let mode = |name: &str| {
        let meta =
            std::fs::metadata(node.data.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        meta.permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    for private in ["certs/http_ca.key", "certs/http.key", "node/keystore", "node/identity"] {
        assert_eq!(mode(private), 0o600, "{private}");
    }
    assert_eq!(mode("certs/http_ca.crt"), 0o644);

    let found = node.ask(Method::Get, "/", PASSWORD, "");
    assert_eq!(found.status, 200, "{}", text(&found.body));
    assert_eq!(node.ask(Method::Get, "/", "wrong", "").status, 401);
    let data = node.data.display().to_string();
    let output = node.stop();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("Try: curl --cacert "), "{out}");
    assert!(out.contains(" -u elastic https://127.0.0.1:"), "{out}");
    assert!(!out.contains(PASSWORD) && !err.contains(PASSWORD));
    assert!(
        err.lines().all(|line| line.starts_with('{')),
        "JSON lines where no terminal is: {err}"
    );
    assert!(Path::new(&data).join("node/lock").exists());
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_a_stop() {
    let folder = Folder::new("survives");
    let path = "/books/_doc/1";
    let node = Node::start(&folder, &[]);
    let made = node.ask(Method::Put, path, PASSWORD, r#"{"title":"Solaris"}"#);
    assert_eq!(made.status, 201, "{}", text(&made.body));
    node.signal("-KILL");
    drop(node);
    std::fs::remove_file(folder.0.join("ready.json")).expect("a kill leaves it");

    let node = Node::start(&folder, &[]);
    let found = node.ask(Method::Get, path, PASSWORD, "");
    assert_eq!(found.status, 200, "{}", text(&found.body));
    assert!(text(&found.body).contains("Solaris"));
    node.stop();
    let checked = run(&["check", "--data", folder.data().to_str().expect("UTF-8")]);
    assert_eq!(code(&checked), 0, "{}{}", text(&checked.stdout), text(&checked.stderr));

    let node = Node::start(&folder, &[]);
    assert_eq!(node.ask(Method::Get, path, PASSWORD, "").status, 200);
    node.stop();
}

#[test]
fn commands_trust_the_operators_own_certificate_as_it_is() {
    let folder = Folder::new("own");
    // As `openssl req -x509` makes it: signed by itself, and an authority by its own word.
    let mut wanted =
        rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
    wanted.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().expect("made");
    let made = wanted.self_signed(&key).expect("made");
    let file = |name: &str| folder.0.join(name);
    std::fs::create_dir_all(&folder.0).expect("writable");
    std::fs::write(file("own.crt"), made.pem()).expect("writable");
    std::fs::write(file("own.key"), key.serialize_pem()).expect("writable");
    let setting =
        |name: &str, path: &str| format!("xpack.security.http.ssl.{name}={}", file(path).display());
    let (crt, key) = (setting("certificate", "own.crt"), setting("key", "own.key"));
    let authority = setting("certificate_authorities", "own.crt");
    let alone = ["-E", &crt, "-E", &key];
    for settings in [&alone[..], &[&alone[..], &["-E", &authority]].concat()] {
        let node = Node::start(&folder, settings);
        assert_eq!(node.told("ca"), file("own.crt").display().to_string());
        let data = folder.data().display().to_string();
        let reset = run(&["reset-password", "-u", "elastic", "-b", "-s", "--data", &data]);
        assert_eq!(code(&reset), 0, "{}", text(&reset.stderr));
        let password = text(&reset.stdout);
        assert_eq!(node.ask(Method::Get, "/", password.trim(), "").status, 200);
        let output = node.stop();
        assert!(text(&output.stdout).contains("Try: curl --cacert "), "{}", text(&output.stdout));
    }
}

#[test]
fn an_authority_that_is_lost_is_made_anew_with_a_word() {
    let folder = Folder::new("authority");
    let told = |node: Node| text(&node.stop().stderr);
    let first = told(Node::start(&folder, &[]));
    assert!(!first.contains("WARN"), "a first start loses nothing: {first}");
    let certs = folder.data().join("certs");
    // One that ran without security never had any.
    let plain = Folder::new("no-authority");
    told(Node::start(&plain, &["-E", "xpack.security.enabled=false"]));
    let said = told(Node::start(&plain, &[]));
    assert!(!said.contains("WARN"), "{said}");
    let before = read(&certs.join("http_ca.crt"));
    for gone in [
        &["http_ca.crt", "http_ca.key"][..],
        &["http_ca.crt", "http_ca.key", "http.crt", "http.key"],
    ] {
        gone.iter().for_each(|name| std::fs::remove_file(certs.join(name)).expect("there"));
        let said = told(Node::start(&folder, &[]));
        assert!(said.contains("WARN") && said.contains("http_ca.crt is made anew"), "{said}");
        assert_ne!(read(&certs.join("http_ca.crt")), before);
    }
    std::fs::remove_file(certs.join("http.crt")).expect("there");
    let said = told(Node::start(&folder, &[]));
    assert!(said.contains("WARN") && said.contains("http.crt was made anew"), "{said}");
    std::fs::remove_file(certs.join("http.key")).expect("there");
    std::fs::create_dir(certs.join("http.key")).expect("writable");
    let data = folder.data();
    let address = ["--http", "127.0.0.1:0", "--transport", "127.0.0.1:0", "--cores", "1"];
    let refused =
        run(&[&["serve", "--data", data.to_str().expect("UTF-8")][..], &address].concat());
    assert_eq!(code(&refused), 78, "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("http.key is a folder"), "{}", text(&refused.stderr));
}

#[test]
fn a_password_is_reset_while_the_node_runs_and_while_it_does_not() {
    let folder = Folder::new("reset");
    let data = folder.data();
    let data = data.to_str().expect("UTF-8");
    let reset = |extra: &[&str]| {
        run(&[&["reset-password", "-u", "elastic", "-b", "-s", "--data", data], extra].concat())
    };
    let nothing = reset(&[]);
    assert_eq!(code(&nothing), 1, "there is no node yet");

    let node = Node::start(&folder, &[]);
    let done = reset(&[]);
    assert_eq!(code(&done), 0, "{}", text(&done.stderr));
    let second = text(&done.stdout).trim().to_owned();
    assert_eq!(second.len(), 20);
    assert_eq!(node.ask(Method::Get, "/", PASSWORD, "").status, 401);
    assert_eq!(node.ask(Method::Get, "/", &second, "").status, 200);
    let users = std::fs::read_to_string(node.data.join("node/users")).expect("left empty");
    assert_eq!(users, "", "the helper is gone");
    node.stop();

    let done = reset(&[]);
    assert_eq!(code(&done), 0, "{}", text(&done.stderr));
    let third = text(&done.stdout).trim().to_owned();
    let node = Node::start(&folder, &[]);
    assert_eq!(node.ask(Method::Get, "/", &second, "").status, 401);
    assert_eq!(node.ask(Method::Get, "/", &third, "").status, 200);
    node.stop();
    let unknown = run(&["reset-password", "-u", "nobody", "-b", "--data", data]);
    assert_eq!(code(&unknown), 1);
    assert!(text(&unknown.stderr).contains("user [nobody] does not exist"));
}

#[test]
fn each_refusal_has_its_code_and_a_sentence() {
    let folder = Folder::new("refusals");
    let node = Node::start(&folder, &[]);
    let (data, address) = (node.data.display().to_string(), node.address().to_owned());
    let other = folder.0.join("other");
    let other = other.to_str().expect("UTF-8");
    let file = folder.0.join("settings.yml");
    std::fs::write(&file, "http:\n  port: web\n").expect("writable");
    let file = file.to_str().expect("UTF-8");
    let own = folder.0.join("own.yml");
    let ssl = "xpack.security.http.ssl";
    std::fs::write(&own, format!("# own\n{ssl}.certificate: /nope.crt\n{ssl}.key: /nope.key\n"))
        .expect("writable");
    let own = own.to_str().expect("UTF-8");
    let both = format!("path.data={other}");
    let open = ["-E", "xpack.security.enabled=false", "--http", "0.0.0.0:0"];
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--bogus"], 2, "--bogus"),
        (&["frobnicate"], 2, "frobnicate"),
        (&["serve", "--http", "nonsense"], 2, "HOST:PORT"),
        (&["serve", "-E", "novalue"], 2, "NAME=VALUE"),
        (&["serve", "--data", other, "--http", &address], 73, "in use"),
        (&["serve", "--data", &data], 75, "in use by process"),
        (&["serve", "--data", file], 78, "path.data"),
        (&["serve", "--data", "/proc/x"], 78, "path.data"),
        (&["serve", "--data", other, "--ready-file", "/no/such/folder/x"], 78, "--ready-file"),
        (&["serve", "-E", "http.prot=1"], 78, "did you mean [http.port]?"),
        (&["serve", "--data", other, "--config", file], 78, "settings.yml, line 2: http.port"),
        (
            &["serve", "--data", other, "--config", own],
            78,
            "own.yml, line 2: xpack.security.http.ssl.cert",
        ),
        (&["serve", "--data", other, "-E", &both], 78, "command line: path.data is set twice"),
        (&["serve", "-E", "node.name=a", "-E", "node.name=a"], 78, "node.name is set twice"),
        (&[&["serve", "--data", other][..], &open].concat(), 78, "loopback"),
        (&["check", "--data", &data], 2, "in use by process"),
        (&["check", "--data", "/no/such/folder"], 2, "/no/such/folder"),
    ];
    for (arguments, expected, word) in cases {
        let output = run(arguments);
        let sentence = text(&output.stderr);
        assert_eq!(code(&output), *expected, "{arguments:?}: {sentence}");
        assert!(sentence.contains(word), "{arguments:?}: {sentence}");
        assert!(!sentence.contains("panicked"), "{arguments:?}: {sentence}");
    }
    node.stop();
}

/// A terminal that was closed ended the node where it stood, and its ready file stayed.
#[test]
fn a_closed_terminal_stops_the_node_in_order() {
    let folder = Folder::new("hangup");
    let mut node = Node::start(&folder, &["-E", "xpack.security.enabled=false"]);
    assert_eq!(node.ask(Method::Put, "/a/_doc/1", "", "{}").status, 201);
    node.signal("-HUP");
    let status = node.child.wait().expect("ends");
    assert_eq!(status.code(), Some(0), "{}", read(&node.log));
    assert!(!node.ready_file.exists(), "a clean stop removes the ready file");
}

#[test]
fn help_and_version_are_answers() {
    let help = run(&["--help"]);
    assert_eq!(code(&help), 0);
    assert!(text(&help.stdout).contains("corelode reset-password -u elastic"));
    let version = run(&["--version"]);
    assert_eq!(code(&version), 0);
    let version = text(&version.stdout);
    assert!(version.starts_with("corelode 0."), "{version}");
    assert!(version.contains("commit "), "{version}");
}

#[test]
fn a_stop_lets_a_request_in_flight_finish_and_refuses_new_ones() {
    let folder = Folder::new("drain");
    let node = Node::start(&folder, &["-E", "xpack.security.enabled=false"]);
    assert!(node.told("http").starts_with("http://"), "no TLS without security");
    let body = br#"{"title":"late"}"#;
    let mut slow = TcpStream::connect(node.address()).expect("the port answers");
    let head = format!(
        "PUT /books/_doc/1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).expect("sent");
    // The head has arrived when the node asks for the body: from here on the request is in flight.
    let mut asked = [0; 25];
    slow.read_exact(&mut asked).expect("asked for the body");
    assert!(asked.starts_with(b"HTTP/1.1 100"), "{}", text(&asked));
    // One that has been served once is idle; one that is still on its way in may be reset.
    let mut idle = TcpStream::connect(node.address()).expect("the port answers");
    idle.write_all(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        idle.read_exact(&mut byte).expect("answered");
        head.push(byte[0]);
    }

    node.signal("-TERM");
    let mut nothing = Vec::new();
    idle.read_to_end(&mut nothing).expect("closed");
    assert!(nothing.is_empty(), "an idle connection ends without a word");
    assert!(TcpStream::connect(node.address()).is_err(), "new connections are refused");
    slow.write_all(body).expect("sent");
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).expect("answered, then closed");
    assert!(answer.starts_with(b"HTTP/1.1 201"), "{}", text(&answer));
    let mut node = node;
    assert_eq!(node.child.wait().expect("ends").code(), Some(0));

    let node = Node::start(&folder, &["-E", "xpack.security.enabled=false"]);
    assert_eq!(node.ask(Method::Get, "/books/_doc/1", "", "").status, 200);
    node.stop();
}

#[test]
fn check_finds_a_flipped_byte_and_changes_nothing() {
    let folder = Folder::new("check");
    let node = Node::start(&folder, &[]);
    let made = node.ask(Method::Put, "/books/_doc/1", PASSWORD, r#"{"title":"Solaris"}"#);
    assert_eq!(made.status, 201);
    node.stop();
    let data = folder.data();
    let segment = segment(&data);
    let mut bytes = std::fs::read(&segment).expect("readable");
    bytes[100] ^= 1;
    std::fs::write(&segment, &bytes).expect("writable");
    let before = files(&data);

    let data = data.to_str().expect("UTF-8");
    let checked = run(&["check", "--data", data]);
    assert_eq!(code(&checked), 1);
    let lines = text(&checked.stdout);
    let name = segment.file_name().expect("a file").to_str().expect("UTF-8");
    assert!(lines.lines().any(|line| line.contains(name) && line.contains("offset")), "{lines}");
    let checked = run(&["check", "--data", data, "--json"]);
    assert_eq!(code(&checked), 1);
    let report = json::parse(&checked.stdout).expect("JSON");
    assert_eq!(report.get("sound").and_then(Value::as_bool), Some(false));
    assert_eq!(files(Path::new(data)), before, "nothing was renamed or removed");
}

/// A disk that was mounted so that nothing changes on it could not be checked, as no lock was written there.
/// Where no file system can be mounted this says so, and tries nothing.
#[test]
fn check_reads_where_nothing_can_be_written() {
    let folder = Folder::new("read-only");
    let node = Node::start(&folder, &["-E", "xpack.security.enabled=false"]);
    assert_eq!(node.ask(Method::Put, "/books/_doc/1", "", r#"{"title":"Solaris"}"#).status, 201);
    node.stop();
    let data = folder.data();
    std::fs::remove_file(data.join("node/lock")).expect("left by the node");
    let mounted = |then: &str| {
        let (program, data) = (env!("CARGO_BIN_EXE_corelode"), data.display());
        let script = format!(
            "mount --bind {data} {data} && mount -o remount,bind,ro {data} && echo mounted && exec {program} {then} --data {data}"
        );
        let made = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output();
        made.ok().filter(|output| output.stdout.starts_with(b"mounted"))
    };
    let Some(checked) = mounted("check") else {
        return eprintln!("nothing can be mounted here: not tried");
    };
    assert_eq!(code(&checked), 0, "{}{}", text(&checked.stdout), text(&checked.stderr));
    assert!(text(&checked.stdout).contains("sound: 1 shard"), "{}", text(&checked.stdout));
    let served = mounted("serve").expect("as before");
    assert_eq!(code(&served), 1, "a node has to write");
    assert!(text(&served.stderr).contains("Read-only"), "{}", text(&served.stderr));
}

/// Whoever removed the data folder of a running node was told 201 for what no start would find.
#[test]
fn nothing_is_acknowledged_into_a_log_that_was_removed() {
    let folder = Folder::new("removed");
    let mut node = Node::start(&folder, &["-E", "xpack.security.enabled=false"]);
    let put = |node: &Node| node.ask(Method::Put, "/books/_doc/1", "", r#"{"title":"Solaris"}"#);
    assert_eq!(put(&node).status, 201);
    std::fs::remove_dir_all(folder.data().join("indices")).expect("its folder is there");
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| put(&node).status));
    assert!(answer.is_err() || answer.is_ok_and(|status| status >= 500));
    assert_eq!(node.child.wait().expect("ends").code(), Some(74));
    assert!(read(&node.log).contains("was removed while it was written"));
}

/// Another change, which had seen an index named and ended after it was not, removed its folder before whoever deleted
/// it had begun to close its shards: what was written to it just then went into files without a name.
#[test]
fn no_folder_goes_before_its_shards_are_closed() {
    let folder = Folder::new("deleted");
    let node = Node::start(&folder, &["-E", "xpack.security.enabled=false"]);
    let lines = "{\"index\":{}}\n{\"n\":1}\n".repeat(200);
    let until = Instant::now() + Duration::from_secs(4);
    let come_and_go = |caller: usize| {
        let mut count = 0;
        while Instant::now() < until {
            count += 1;
            let index = format!("/i{caller}-{count}");
            let write = || node.ask(Method::Post, &format!("{index}/_bulk"), "", &lines).status;
            assert_eq!((write(), write()), (200, 200));
            std::thread::scope(|scope| {
                scope.spawn(|| node.ask(Method::Delete, &index, "", ""));
                for _ in 0..3 {
                    write();
                }
            });
        }
        count
    };
    let counts: Vec<u32> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..6)
            .map(|caller| {
                scope.spawn({
                    let come_and_go = &come_and_go;
                    move || come_and_go(caller)
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("the node answers")).collect()
    });
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    node.stop();
}

/// Users that were never there were called lost.
#[test]
fn check_misses_users_only_where_there_were_some() {
    for with_users in [false, true] {
        let folder = Folder::new(if with_users { "check-users" } else { "check-none" });
        let open: &[&str] = &["-E", "xpack.security.enabled=false"];
        Node::start(&folder, if with_users { &[] } else { open }).stop();
        let data = folder.data();
        if with_users {
            std::fs::remove_dir_all(data.join("authz")).expect("it was there");
        }
        let checked = run(&["check", "--data", data.to_str().expect("UTF-8")]);
        assert_eq!(code(&checked), i32::from(with_users), "{}", text(&checked.stdout));
    }
}

#[test]
fn inspect_follows_a_word_by_the_name_of_its_field() {
    let folder = Folder::new("inspect");
    let node = Node::start(&folder, &[]);
    let made =
        node.ask(Method::Put, "/books/_doc/1", PASSWORD, r#"{"title":"Solaris","year":1961}"#);
    assert_eq!(made.status, 201);
    node.stop();
    let segment = segment(&folder.data());
    let segment = segment.to_str().expect("UTF-8");
    let shown = run(&["inspect", segment]);
    assert_eq!(code(&shown), 0, "{}", text(&shown.stderr));
    assert!(text(&shown.stdout).contains("title.keyword"), "{}", text(&shown.stdout));
    let shown = run(&["inspect", segment, "--term", "title", "solaris", "--json"]);
    assert_eq!(code(&shown), 0, "{}", text(&shown.stderr));
    let told = json::parse(&shown.stdout).expect("JSON");
    assert_eq!(told.get("documents").and_then(Value::as_u64), Some(1));
    for (field, term) in [("title", "darkness"), ("author", "lem"), ("year", "1961")] {
        let shown = run(&["inspect", segment, "--term", field, term]);
        assert_eq!(code(&shown), 1);
        assert!(text(&shown.stderr).contains(field), "{}", text(&shown.stderr));
    }
    // Elsewhere nobody knows the names.
    let copy = folder.0.join("segment-copy");
    std::fs::copy(segment, &copy).expect("writable");
    let shown = run(&["inspect", copy.to_str().expect("UTF-8"), "--term", "title", "solaris"]);
    assert_eq!(code(&shown), 1);
    assert!(text(&shown.stderr).contains("fields go by number"), "{}", text(&shown.stderr));
}

#[test]
fn the_guide_names_every_metric_and_no_other() {
    let folder = Folder::new("metrics");
    let node = Node::start(&folder, &[]);
    let page = text(&node.ask(Method::Get, "/_prometheus", PASSWORD, "").body);
    let there: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(there.len() > 30, "{page}");
    // The connection that asks takes memory itself.
    let held = "corelode_memory_taken_bytes{holder=\"requests\"} ";
    let held = page.lines().find_map(|line| line.strip_prefix(held)?.parse::<u64>().ok());
    assert!(held.is_some_and(|bytes| bytes > 0), "{page}");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide");
    let guide = read(&docs.join("monitoring.md"));
    let rows: Vec<&str> = guide.lines().filter(|line| line.starts_with("| `corelode_")).collect();
    let rows = rows.join("\n");
    assert_eq!(metrics(&rows), there, "the table in docs/guide/monitoring.md");
    // A histogram's samples have names of their own.
    let known = |name: &&str| {
        let plain = ["_bucket", "_count", "_sum"].iter().find_map(|end| name.strip_suffix(end));
        !there.contains(*name) && !plain.is_some_and(|name| there.contains(name))
    };
    let board = read(&docs.join("grafana.json"));
    for text in [board.as_str(), guide.as_str()] {
        let unknown: Vec<&str> = metrics(text).into_iter().filter(known).collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }
    let drawn =
        |name: &&&str| ["", "_bucket"].iter().any(|end| board.contains(&format!("{name}{end}")));
    let lacking: Vec<_> = there.iter().filter(|name| !drawn(name)).collect();
    assert_eq!(lacking, Vec::<&&str>::new(), "docs/guide/grafana.json");
    node.stop();
}

/// Names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    let starts = text.match_indices("corelode_").map(|(at, _)| &text[at..]);
    starts.map(|rest| &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]).collect()
}

/// The first segment of a store that was closed in order.
fn segment(data: &Path) -> PathBuf {
    let is_segment = |path: &PathBuf| {
        path.file_name().is_some_and(|name| text(name.as_encoded_bytes()).starts_with("segment-"))
    };
    let mut all = files(&data.join("indices")).into_iter();
    all.find(is_segment).expect("a clean stop flushes")
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
