//! A node of two cores on a simulated machine, and a client with one connection to it.

use std::path::PathBuf;
use std::rc::Rc;

use engine::ops::observe::NodeInfo;
use engine::{Config, Core, start_all};
use env::{Env, Spawn, Stream};
use http::Method;
use http::client::{Response, request};
use json::Value;
use net::{Limits, Options, Security, Server};
use sim::{Sim, SimEnv, SimStream};

/// A client with one connection.
pub struct Client {
    stream: SimStream,
    authorization: Option<String>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its fields in order.
    pub fields: Vec<(String, String)>,
    /// Its body; null where there is none.
    pub body: Value,
    /// Its body as it came.
    pub text: String,
}

impl Answer {
    /// The value of a field; several are told apart by line ends.
    pub fn field(&self, name: &str) -> Option<String> {
        let own = self.fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let all: Vec<&str> = own.map(|(_, value)| value.as_str()).collect();
        if all.is_empty() { None } else { Some(all.join("\n")) }
    }
}

/// What the node of a case calls itself to applications.
pub const ISSUER: &str = "https://store.example";

/// Runs a story against a fresh node; with `secure`, `elastic` has the password `secret`.
pub fn with_node<T, F: Future<Output = T>>(
    seed: u64,
    secure: bool,
    story: impl FnOnce(Client) -> F,
) -> T {
    let sim = Sim::new(seed);
    let env = sim.env();
    let (near, far) = sim.stream_pair();
    sim.run(async {
        let core = start(&env).await;
        let security = if secure { Some(security(&env).await) } else { None };
        let options = Options { limits: Limits::default(), compression: false };
        let server = Server::new(core, security, options);
        let serving = Rc::clone(&server);
        let place = serving.enter().await.expect("room");
        env.spawn().spawn(async move { serving.serve(far, place).await });
        story(Client { stream: near, authorization: None }).await
    })
}

async fn start(env: &SimEnv) -> Rc<Core<SimEnv>> {
    let config = Config {
        info: NodeInfo { name: "node-1".into(), ..NodeInfo::default() },
        memory_bytes: 512 << 20,
        warn: |text| println!("warn: {text}"),
        ..Config::new(2, "/data")
    };
    let mut cores = start_all(env, config).await.expect("the state opens");
    // The second core answers, the first keeps the state: every change hops.
    cores.pop().expect("two cores")
}

async fn security(env: &SimEnv) -> Security<SimEnv> {
    let preset = Some(authz::Secret::new("secret".into()));
    let dir = PathBuf::from("/data/authz");
    let keys = authz::token::Keys::new(b"pepper");
    let started = authz::Store::start(env, &dir, preset, keys).await;
    let (_, keeper, _) = started.expect("the state opens");
    let file = authz::FileRealm::new("/data/node/users");
    let authenticator = authz::Authenticator::new(env.clone(), keeper.clone(), file);
    let oauth = Some(net::oauth::Oauth::new(net::oauth::Settings::new(ISSUER)));
    Security { authenticator, keeper, oauth }
}

impl Client {
    /// Says who calls from now on.
    pub fn authorize(&mut self, value: Option<&str>) {
        self.authorization = value.map(str::to_owned);
    }

    /// Sends a request, JSON where it has a body, and reads the answer.
    pub async fn call(&mut self, method: &str, target: &str, body: &str) -> Answer {
        self.call_with(method, target, &[], body).await
    }

    /// As [`Client::call`], with more fields in its head.
    pub async fn call_with(
        &mut self,
        method: &str,
        target: &str,
        more: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let lines = target.contains("_bulk") || target.contains("_msearch");
        let form = more.iter().any(|(name, _)| *name == "Content-Type");
        let kind = if lines { "application/x-ndjson" } else { "application/json" };
        let mut fields = more.to_vec();
        if !body.is_empty() && !form {
            fields.push(("Content-Type", kind));
        }
        let authorization = self.authorization.clone();
        if let Some(value) = &authorization {
            fields.push(("Authorization", value));
        }
        let bytes = request(method, target, &fields, body.as_bytes());
        self.stream.write_all(&bytes).await.expect("the connection is open");
        let mut got = Vec::new();
        let mut buffer = vec![0; 65_536];
        loop {
            let count = self.stream.read(&mut buffer).await.expect("the connection is open");
            assert!(count > 0, "{method} {target}: closed");
            got.extend_from_slice(&buffer[..count]);
            if let Some((response, _)) =
                Response::parse(&got, Method::of(method)).expect("an answer")
            {
                let (body, text) = (read(&response), response.text());
                return Answer { status: response.status, fields: response.fields, body, text };
            }
        }
    }
}

/// A body as a tree; text that is no JSON as a string.
fn read(response: &Response) -> Value {
    if response.body.is_empty() {
        return Value::Null;
    }
    json::parse(&response.body).unwrap_or_else(|_| Value::from(response.text()))
}
