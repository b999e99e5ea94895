//! The node that the stories talk to.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use authz::audit::Audit;
use engine::ops::observe::{CertificateFile, NodeInfo};
use engine::{Config, Core, start_all};
use env::{Clock, Env, Spawn, Stream};
use http::Method;
use http::client::{Response, request};
use json::Value;
use net::{Limits, Options, Security, Server};
use sim::{Sim, SimEnv, SimStream};

/// The operator's file of users.
const USERS: &str = "/data/node/users";

/// A client with one connection to a node of two cores.
pub struct Client {
    stream: SimStream,
    authorization: Option<String>,
}

/// Runs a story against a fresh node without security.
pub fn with_node<F: Future<Output = ()>>(story: impl FnOnce(Client) -> F) {
    run(1, None, Audit::none(), story);
}

/// Runs a story against a fresh node whose `elastic` has the password `secret`.
pub fn with_security<F: Future<Output = ()>>(story: impl FnOnce(Client) -> F) {
    run(1, Some(None), Audit::none(), story);
}

/// The same, with what keeps the lines of its slow log.
pub fn with_slow_log<F: Future<Output = ()>>(
    log: Arc<dyn env::lines::Lines>,
    story: impl FnOnce(Client) -> F,
) {
    let sim = Sim::new(1);
    let env = sim.env();
    let (near, far) = sim.stream_pair();
    sim.run(async {
        let core = start_told(&env, 512 << 20, Some(log)).await.pop().expect("two cores");
        let security = security(&env, Audit::none()).await;
        serve(&env, core, Some(security), far).await;
        story(Client { stream: near, authorization: None }).await;
    });
}

/// The same, with the OAuth half, where clients may register by themselves.
pub fn with_oauth<F: Future<Output = ()>>(story: impl FnOnce(Client) -> F) {
    run(1, Some(Some(oauth())), Audit::none(), story);
}

/// The same, on a machine whose time is the story's.
pub fn with_oauth_on<F: Future<Output = ()>>(sim: &Sim, story: impl FnOnce(Client) -> F) {
    run_on(sim, Some(Some(oauth())), Audit::none(), story);
}

/// The same, on a machine whose power goes while the story lasts.
pub fn with_oauth_until_cut<F: Future<Output = ()>>(sim: &Sim, story: impl FnOnce(Client) -> F) {
    let (near, far) = sim.stream_pair();
    let whole = whole(sim.env(), (near, far), Some(Some(oauth())), Audit::none(), story);
    assert!(sim.run_until_cut(whole).is_none(), "the power is still there");
}

/// Who may do what, as it lies on the disk of a machine whose node is gone.
pub fn kept(sim: &Sim) -> Arc<authz::State> {
    let env = sim.env();
    sim.run(async move { security(&env, Audit::none()).await.keeper.state() })
}

/// The same, where the operator's file has a user of this name, these roles and this password.
pub fn with_filed<F: Future<Output = ()>>(
    (name, roles, password): (&str, &[&str], &str),
    story: impl FnOnce(Client) -> F,
) {
    let hash = authz::password::PasswordHash::make(&authz::Secret::new(password.into()), [1; 16]);
    let line = authz::file_realm::line(name, roles, &hash);
    let sim = Sim::new(1);
    sim.plant(USERS, format!("{line}\n").as_bytes());
    run_on(&sim, Some(Some(oauth())), Audit::none(), story);
}

/// The same, with what is told to the audit log.
pub fn with_audited<F: Future<Output = ()>>(story: impl FnOnce(Client, Told) -> F) {
    let (audit, lines) = Audit::new(false);
    run(1, Some(Some(oauth())), audit, |client| story(client, Told { lines }));
}

/// The same, where nothing is done that cannot be noted, and nothing can be noted.
pub fn with_unwritten<F: Future<Output = ()>>(story: impl FnOnce(Client) -> F) {
    let (audit, lines) = Audit::new(true);
    drop(lines);
    run(1, Some(Some(oauth())), audit, story);
}

/// An audit log in which what cannot be noted is not done. It takes as many lines as its story lets it; others wait
/// until it takes more.
#[derive(Clone, Default)]
pub struct Strict {
    taken: Rc<RefCell<Vec<Value>>>,
    waits: Rc<RefCell<Vec<Value>>>,
    room: Rc<Cell<usize>>,
}

impl Strict {
    /// It takes so many more lines, those that wait first.
    pub fn takes(&self, lines: usize) {
        self.room.set(lines);
        self.flush();
    }

    /// What it took since the last call.
    pub fn taken(&self) -> Vec<Value> {
        self.taken.take()
    }

    fn flush(&self) {
        let mut waits = self.waits.borrow_mut();
        let count = waits.len().min(self.room.get());
        self.room.set(self.room.get() - count);
        self.taken.borrow_mut().extend(waits.drain(..count));
    }

    fn write(&self, item: authz::audit::Item) {
        match item {
            authz::audit::Item::Line(line) => {
                self.waits.borrow_mut().push(json::parse(line.as_bytes()).expect("a line"));
                self.flush();
            }
            authz::audit::Item::Ask(reply) => reply.send(self.waits.borrow().is_empty()),
            authz::audit::Item::Begin { line, waits, reply } => {
                self.write(authz::audit::Item::Line(line));
                let is_taken = self.waits.borrow().is_empty();
                if !is_taken && !waits {
                    self.waits.borrow_mut().pop();
                }
                reply.send(is_taken);
            }
        }
    }
}

/// The same, with a strict audit log, which takes all lines at first.
pub fn with_strict<F: Future<Output = ()>>(story: impl FnOnce(Client, Strict) -> F) {
    let story = |mut clients: Vec<Client>, log| story(clients.pop().expect("one"), log);
    with_strict_clients_on(&Sim::new(1), 1, story);
}

/// The same of several clients, each with a connection of its own, on both cores in turn of a machine whose time is
/// the story's.
pub fn with_strict_clients_on<F: Future<Output = ()>>(
    sim: &Sim,
    count: usize,
    story: impl FnOnce(Vec<Client>, Strict) -> F,
) {
    let env = sim.env();
    let (audit, lines) = Audit::new(true);
    let log = Strict::default();
    log.takes(usize::MAX);
    let (writer, clock) = (log.clone(), env.clone());
    let writes = async move {
        loop {
            lines.try_iter().for_each(|item| writer.write(item));
            clock.clock().sleep(std::time::Duration::from_micros(10)).await;
        }
    };
    with_oauth_clients_of(sim, count, (oauth(), audit), |clients| {
        env.spawn().spawn(writes);
        story(clients, log)
    });
}

/// The same, with these settings, and with what is told to the audit log.
pub fn with_oauth_set<F: Future<Output = ()>>(
    set: &[(&str, &str)],
    story: impl FnOnce(Client, Told) -> F,
) {
    let mut settings = net::oauth::Settings::new(ISSUER);
    for (name, value) in set {
        settings.set(name, value).expect("a setting");
    }
    let (audit, lines) = Audit::new(false);
    let oauth = net::oauth::Oauth::new(settings);
    run(1, Some(Some(oauth)), audit, |client| story(client, Told { lines }));
}

fn oauth() -> net::oauth::Oauth {
    let mut settings = net::oauth::Settings::new(ISSUER);
    settings.set("oauth.registration.mode", "open").expect("a mode");
    net::oauth::Oauth::new(settings)
}

/// A node with the OAuth half, behind a proxy that tells from where requests come.
pub fn with_oauth_behind_a_proxy<F: Future<Output = ()>>(story: impl FnOnce(Client) -> F) {
    let mut settings = net::oauth::Settings::new(ISSUER);
    settings.set("oauth.trusted_proxies", "10.0.0.0/24").expect("a network");
    run(1, Some(Some(net::oauth::Oauth::new(settings))), Audit::none(), story);
}

/// What a node tells its audit log.
pub struct Told {
    lines: std::sync::mpsc::Receiver<authz::audit::Item>,
}

impl Told {
    /// The lines since the last call.
    pub fn all(&self) -> Vec<Value> {
        let lines = self.lines.try_iter().filter_map(|item| match item {
            authz::audit::Item::Line(line) => Some(json::parse(line.as_bytes()).expect("a line")),
            authz::audit::Item::Ask(_) | authz::audit::Item::Begin { .. } => None,
        });
        lines.collect()
    }

    /// The lines of an event since the last call; those of other events are dropped.
    pub fn of(&self, event: &str) -> Vec<Value> {
        let mut lines = self.all();
        lines.retain(|line| line.get("event").and_then(Value::as_str) == Some(event));
        lines
    }
}

/// The issuer of the node's OAuth half.
pub const ISSUER: &str = "https://store.example";

/// A machine whose node stops and starts again; what happens to its files meanwhile is the story's.
pub struct Machine {
    /// The machine.
    pub sim: Sim,
}

impl Machine {
    /// With an empty disk.
    pub fn new(seed: u64) -> Self {
        Self { sim: Sim::new(seed) }
    }

    /// The node starts, without security, and is stopped when the story has ended.
    pub fn story<F: Future<Output = ()>>(&self, story: impl FnOnce(Client) -> F) {
        self.tell(story, true);
    }

    fn tell<F: Future<Output = ()>>(&self, story: impl FnOnce(Client) -> F, stops: bool) {
        let env = self.sim.env();
        let (near, far) = self.sim.stream_pair();
        self.sim.run(async {
            let cores = start(&env).await;
            serve(&env, Rc::clone(&cores[1]), None, far).await;
            story(Client { stream: near, authorization: None }).await;
            if stops {
                cores[0].stop().await;
            }
        });
    }

    /// As [`Machine::story`], but the power goes when the story has ended.
    pub fn story_cut<F: Future<Output = ()>>(&self, story: impl FnOnce(Client) -> F) {
        self.tell(story, false);
        self.sim.crash();
    }
}

/// Runs a story of several clients, each with a connection of its own, on both cores in turn.
pub fn with_clients<F: Future<Output = ()>>(
    seed: u64,
    count: usize,
    story: impl FnOnce(Vec<Client>) -> F,
) {
    with_clients_on(&Sim::new(seed), count, story);
}

/// The same, on a machine whose time is the story's.
pub fn with_clients_on<F: Future<Output = ()>>(
    sim: &Sim,
    count: usize,
    story: impl FnOnce(Vec<Client>) -> F,
) {
    let env = sim.env();
    let streams: Vec<_> = (0..count).map(|_| sim.stream_pair()).collect();
    sim.run(async {
        let cores = start(&env).await;
        let mut clients = Vec::new();
        for (at, (near, far)) in streams.into_iter().enumerate() {
            serve(&env, Rc::clone(&cores[at % 2]), None, far).await;
            clients.push(Client { stream: near, authorization: None });
        }
        story(clients).await;
    });
}

/// Runs a story against a node of so much memory, which the story may take for itself.
pub fn with_memory<F: Future<Output = ()>>(
    memory_bytes: usize,
    story: impl FnOnce(Client, env::budget::Lease) -> F,
) {
    with_core(memory_bytes, |client, core| story(client, core.shared().budget.lease()));
}

/// The same, where the story has the core that answers: what it takes of that one's room is there for no answer.
pub fn with_core<F: Future<Output = ()>>(
    memory_bytes: usize,
    story: impl FnOnce(Client, Rc<Core<SimEnv>>) -> F,
) {
    within(memory_bytes, false, story);
}

/// The same on a node whose `elastic` has the password `secret`.
pub fn with_security_within<F: Future<Output = ()>>(
    memory_bytes: usize,
    story: impl FnOnce(Client, env::budget::Lease) -> F,
) {
    within(memory_bytes, true, |client, core| story(client, core.shared().budget.lease()));
}

fn within<F: Future<Output = ()>>(
    memory_bytes: usize,
    is_secure: bool,
    story: impl FnOnce(Client, Rc<Core<SimEnv>>) -> F,
) {
    let sim = Sim::new(1);
    let env = sim.env();
    let (near, far) = sim.stream_pair();
    sim.run(async {
        let core = start_within(&env, memory_bytes).await.pop().expect("two cores");
        let security = match is_secure {
            true => Some(security(&env, Audit::none()).await),
            false => None,
        };
        serve(&env, Rc::clone(&core), security, far).await;
        story(Client { stream: near, authorization: None }, core).await;
    });
}

/// The same on a node with the OAuth half; all of them come from one address.
pub fn with_oauth_clients<F: Future<Output = ()>>(
    count: usize,
    story: impl FnOnce(Vec<Client>) -> F,
) {
    with_oauth_clients_on(&Sim::new(1), count, story);
}

/// The same, with these settings.
pub fn with_oauth_clients_set<F: Future<Output = ()>>(
    count: usize,
    set: &[(&str, &str)],
    story: impl FnOnce(Vec<Client>) -> F,
) {
    let mut settings = net::oauth::Settings::new(ISSUER);
    for (name, value) in set {
        settings.set(name, value).expect("a setting");
    }
    let half = net::oauth::Oauth::new(settings);
    with_oauth_clients_of(&Sim::new(1), count, (half, Audit::none()), story);
}

/// The same, on a machine whose time is the story's.
pub fn with_oauth_clients_on<F: Future<Output = ()>>(
    sim: &Sim,
    count: usize,
    story: impl FnOnce(Vec<Client>) -> F,
) {
    with_oauth_clients_of(sim, count, (oauth(), Audit::none()), story);
}

fn with_oauth_clients_of<F: Future<Output = ()>>(
    sim: &Sim,
    count: usize,
    (oauth, audit): (net::oauth::Oauth, Audit),
    story: impl FnOnce(Vec<Client>) -> F,
) {
    let env = sim.env();
    let streams: Vec<_> = (0..count).map(|_| sim.stream_pair()).collect();
    sim.run(async {
        let cores = start(&env).await;
        let first = security(&env, audit).await;
        let keeper = first.keeper;
        // Each core has a doorkeeper of its own.
        let doors: Vec<_> = cores.iter().map(|_| authenticator(&env, &keeper)).collect();
        let mut clients = Vec::new();
        for (at, (near, far)) in streams.into_iter().enumerate() {
            let security = Security {
                authenticator: doors[at % 2].clone(),
                keeper: keeper.clone(),
                oauth: Some(oauth.clone()),
            };
            serve(&env, Rc::clone(&cores[at % 2]), Some(security), far).await;
            clients.push(Client { stream: near, authorization: None });
        }
        story(clients).await;
    });
}

/// A node whose OAuth half has this issuer.
pub fn with_issuer<F: Future<Output = ()>>(issuer: &str, story: impl FnOnce(Client) -> F) {
    let half = net::oauth::Oauth::new(net::oauth::Settings::new(issuer));
    run(1, Some(Some(half)), Audit::none(), story);
}

/// A client of a node with the OAuth half, and one of the same node where that half is switched off.
pub fn with_oauth_on_and_off<F: Future<Output = ()>>(story: impl FnOnce(Client, Client) -> F) {
    with_oauth_and(None, story);
}

/// The same, where an access token lives for a minute by what the second client's half is set to.
pub fn with_oauth_and_a_minute<F: Future<Output = ()>>(story: impl FnOnce(Client, Client) -> F) {
    let mut settings = net::oauth::Settings::new(ISSUER);
    settings.set("oauth.access_token.ttl", "1m").expect("a time");
    with_oauth_and(Some(net::oauth::Oauth::new(settings)), story);
}

fn with_oauth_and<F: Future<Output = ()>>(
    other: Option<net::oauth::Oauth>,
    story: impl FnOnce(Client, Client) -> F,
) {
    let sim = Sim::new(1);
    let env = sim.env();
    let (on, off) = (sim.stream_pair(), sim.stream_pair());
    sim.run(async {
        let core = start(&env).await.pop().expect("two cores");
        let first = security(&env, Audit::none()).await;
        let (keeper, authenticator) = (first.keeper.clone(), first.authenticator.clone());
        let second = Security { authenticator, keeper, oauth: other };
        let first = Security { oauth: Some(oauth()), ..first };
        serve(&env, Rc::clone(&core), Some(first), on.1).await;
        serve(&env, core, Some(second), off.1).await;
        let client = |stream| Client { stream, authorization: None };
        story(client(on.0), client(off.0)).await;
    });
}

/// The same request of each client at the same time.
pub async fn at_once(
    clients: &mut [Client],
    method: &str,
    target: &str,
    body: impl Fn(usize) -> String,
) -> Vec<Response> {
    let calls = clients.iter_mut().enumerate().map(|(at, client)| {
        let body = body(at);
        Box::pin(async move { client.call(method, target, &body).await })
    });
    env::join_all(calls.collect()).await
}

fn run<F: Future<Output = ()>>(
    seed: u64,
    secure: Option<Option<net::oauth::Oauth>>,
    audit: Audit,
    story: impl FnOnce(Client) -> F,
) {
    run_on(&Sim::new(seed), secure, audit, story);
}

fn run_on<F: Future<Output = ()>>(
    sim: &Sim,
    secure: Option<Option<net::oauth::Oauth>>,
    audit: Audit,
    story: impl FnOnce(Client) -> F,
) {
    let streams = sim.stream_pair();
    sim.run(whole(sim.env(), streams, secure, audit, story));
}

/// A node, and a story against it.
async fn whole<F: Future<Output = ()>>(
    env: SimEnv,
    (near, far): (SimStream, SimStream),
    secure: Option<Option<net::oauth::Oauth>>,
    audit: Audit,
    story: impl FnOnce(Client) -> F,
) {
    // The second core answers, the first keeps the state: every change hops.
    let core = start(&env).await.pop().expect("two cores");
    let security = match secure {
        Some(oauth) => Some(Security { oauth, ..security(&env, audit).await }),
        None => None,
    };
    serve(&env, core, security, far).await;
    story(Client { stream: near, authorization: None }).await;
}

/// Answers what comes through a stream.
async fn serve(
    env: &SimEnv,
    core: Rc<Core<SimEnv>>,
    security: Option<Security<SimEnv>>,
    far: SimStream,
) {
    let options = Options { limits: Limits::default(), compression: true };
    let server = Server::new(core, security, options);
    let place = server.enter().await.expect("room");
    env.spawn().spawn(async move { server.serve(far, place).await });
}

async fn start(env: &SimEnv) -> Vec<Rc<Core<SimEnv>>> {
    start_within(env, 512 << 20).await
}

async fn start_within(env: &SimEnv, memory_bytes: usize) -> Vec<Rc<Core<SimEnv>>> {
    start_told(env, memory_bytes, None).await
}

async fn start_told(
    env: &SimEnv,
    memory_bytes: usize,
    slow_log: Option<Arc<dyn env::lines::Lines>>,
) -> Vec<Rc<Core<SimEnv>>> {
    let info = NodeInfo {
        name: "node-1".into(),
        id: "AAAAAAAAAAAAAAAAAAAAAA".into(),
        ephemeral_id: "EEEEEEEEEEEEEEEEEEEEEE".into(),
        cluster_name: "corelode".into(),
        cluster_uuid: "BBBBBBBBBBBBBBBBBBBBBB".into(),
        http_address: "127.0.0.1:9200".into(),
        transport_address: "127.0.0.1:9300".into(),
        started_ms: env.clock().unix_ms(),
        build_hash: "abc".into(),
        build_date: "2026-11-20T00:00:00Z".into(),
        attributes: vec![("rack".into(), "r1".into())],
        certificates: vec![CertificateFile {
            path: "/data/certs/http.crt".into(),
            shown: "certs/http.crt".into(),
            has_key: true,
        }],
        slow_log,
        ..NodeInfo::default()
    };
    let config = Config {
        info,
        memory_bytes,
        warn: |text| println!("warn: {text}"),
        ..Config::new(2, "/data")
    };
    start_all(env, config).await.expect("the state opens")
}

async fn security(env: &SimEnv, audit: Audit) -> Security<SimEnv> {
    let preset = Some(authz::Secret::new("secret".into()));
    let dir = PathBuf::from("/data/authz");
    let keys = authz::token::Keys::new(b"pepper");
    let started = authz::Store::start(env, &dir, preset, keys).await;
    let (_, keeper, _) = started.expect("the state opens");
    let keeper = keeper.with_audit(audit);
    Security { authenticator: authenticator(env, &keeper), keeper, oauth: None }
}

fn authenticator(env: &SimEnv, keeper: &authz::Keeper) -> authz::Authenticator<SimEnv> {
    authz::Authenticator::new(env.clone(), keeper.clone(), authz::FileRealm::new(USERS))
}

impl Client {
    /// Says who calls from now on.
    pub fn authorize(&mut self, value: Option<&str>) {
        self.authorization = value.map(str::to_owned);
    }

    /// Sends a request, JSON where it has a body, and reads the answer.
    pub async fn call(&mut self, method: &str, target: &str, body: &str) -> Response {
        let kind =
            if target.contains("_bulk") { "application/x-ndjson" } else { "application/json" };
        let fields: Vec<(&str, &str)> =
            if body.is_empty() { Vec::new() } else { vec![("Content-Type", kind)] };
        self.call_with(method, target, &fields, body.as_bytes()).await
    }

    /// Sends a request with these fields and reads the answer.
    pub async fn call_with(
        &mut self,
        method: &str,
        target: &str,
        fields: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        self.send(method, target, fields, body).await;
        self.answer(method, target).await
    }

    /// Sends a request; who waits for its answer calls [`Client::answer`].
    pub async fn send(&mut self, method: &str, target: &str, fields: &[(&str, &str)], body: &[u8]) {
        let mut fields = fields.to_vec();
        let authorization = self.authorization.clone();
        if let Some(value) = &authorization {
            fields.push(("Authorization", value));
        }
        let bytes = request(method, target, &fields, body);
        self.stream.write_all(&bytes).await.expect("the connection is open");
    }

    /// Sends bytes as they are, as far as the other side takes them.
    pub async fn push(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// Sends these bytes, whatever they are.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the connection is open");
    }

    /// Closes its sending half alone.
    pub async fn finish(&mut self) {
        self.stream.finish().await.expect("the connection is open");
    }

    /// Closes its connection.
    pub async fn leave(mut self) {
        self.stream.close().await.expect("the connection is open");
    }

    /// Reads the answer to a request that was sent.
    pub async fn answer(&mut self, method: &str, target: &str) -> Response {
        let mut got = Vec::new();
        let mut buffer = vec![0; 65_536];
        loop {
            let count = self.stream.read(&mut buffer).await.expect("the connection is open");
            assert!(count > 0, "{method} {target}: closed after {got:?}");
            got.extend_from_slice(&buffer[..count]);
            match Response::parse(&got, Method::of(method)).expect("an answer") {
                Some((response, len)) => {
                    assert_eq!(len, got.len(), "one answer to one request");
                    return response;
                }
                None => continue,
            }
        }
    }

    /// As [`Client::call`], for stories that go on only if it went well.
    pub async fn good(&mut self, method: &str, target: &str, body: &str) -> Value {
        let response = self.call(method, target, body).await;
        assert!(
            matches!(response.status, 200 | 201),
            "{method} {target}: {} {}",
            response.status,
            response.text()
        );
        value(&response)
    }

    /// Status and error of a call that must fail: `400 illegal_argument_exception: reason`.
    pub async fn bad(&mut self, method: &str, target: &str, body: &str) -> String {
        let response = self.call(method, target, body).await;
        failure(&response)
    }
}

/// `400 illegal_argument_exception: reason`, or the plain sentence.
pub fn failure(response: &Response) -> String {
    let body = value(response);
    let error = body.get("error").unwrap_or_else(|| panic!("no error: {}", response.text()));
    match error.as_str() {
        Some(sentence) => format!("{} {sentence}", response.status),
        None => {
            let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
            assert_eq!(
                body.get("status").and_then(Value::as_u64),
                Some(u64::from(response.status))
            );
            format!("{} {}: {}", response.status, text("type"), text("reason"))
        }
    }
}

/// The body of an answer as a tree.
pub fn value(response: &Response) -> Value {
    json::parse(&response.body).unwrap_or_else(|error| panic!("{error} in {:?}", response.text()))
}

/// The value at a path of keys.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    value.at(path).unwrap_or_else(|| panic!("no {path:?} in {}", json::to_string(value)))
}

/// Makes user `name` with this password and a role of its own, of this entry with `limits` in it.
pub async fn person(
    client: &mut Client,
    (name, password): (&str, &str),
    entry: &Value,
    limits: &Value,
) {
    let mut entry = entry.as_object().expect("an object").clone();
    for (key, rule) in limits.as_object().expect("an object").iter() {
        entry.insert(key, rule.clone());
    }
    let role = json::to_string(&json::json!({"indices": [(Value::Object(entry))]}));
    client.good("PUT", &format!("/_security/role/{name}"), &role).await;
    let user = json::json!({"password": password, "roles": [name]});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
}
