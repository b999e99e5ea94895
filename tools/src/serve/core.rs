//! What runs on each core: its part of the engine, its door, and the orders of the main thread.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use authz::audit::Audit;
use authz::store::First;
use authz::tidy::Tidy;
use authz::token::Keys;
use authz::{Authenticator, FileRealm, Keeper, Secret, Store};
use base::CoreId;
use env::mailbox::Receiver;
use env::{Env, Spawn};
use runtime::net::{Connection, Handed, Socket};
use runtime::tls::ServerTls;
use runtime::{Core, RuntimeEnv};

use super::Event;
use crate::failure::{Code, Failure};

/// How long requests in flight may take after a stop.
const DRAIN: Duration = Duration::from_secs(10);

/// The core that keeps cluster and authz state.
const KEEPER: CoreId = CoreId(0);

/// What the main thread asks of a core.
#[allow(clippy::large_enum_variant, reason = "a handful in the life of a process")]
pub enum Order {
    /// State is up: take connections.
    Begin(Option<Keeper>, Option<ServerTls>),
    /// Let requests in flight finish, end every connection, answer.
    CloseDoor(mpsc::Sender<()>),
    /// Flush the shards of every core, save cluster and authz state, answer. For core 0.
    Save(mpsc::Sender<crate::failure::Result<()>>),
    /// End.
    End,
}

/// One part in so many of the memory may be held by API keys, and one by users, roles and what else is like them.
const KEYS_PART: usize = 16;

/// What a core is given at its start.
pub struct Seed {
    pub shared: Arc<engine::Shared>,
    pub inbox: engine::Inbox,
    pub orders: Receiver<Order>,
    pub sockets: Receiver<Handed>,
    pub events: mpsc::Sender<Event>,
    pub security: bool,
    /// Folder of authz state.
    pub authz: PathBuf,
    /// The keys of tokens.
    pub keys: Keys,
    /// The OAuth half; none where it is off.
    pub oauth: Option<net::oauth::Oauth>,
    /// The audit log.
    pub audit: Audit,
    /// The operator's file of users.
    pub users: PathBuf,
    /// Password of `elastic` at the first start; only core 0 has it.
    pub preset: Option<Secret>,
    /// How long dead API keys are kept.
    pub tidy: Tidy,
}

type Server = net::Server<RuntimeEnv>;

/// Tells the main thread; it is gone only when the process ends anyway.
fn tell(events: &mpsc::Sender<Event>, event: Event) {
    events.send(event).ok();
}

/// Runs a core until it is told to end.
pub async fn run(core: Core, seed: Seed) {
    let Seed { shared, inbox, mut orders, sockets, events, security, authz, .. } = seed;
    let Seed { keys, audit, oauth, users, preset, tidy, .. } = seed;
    let env = core.env.clone();
    // Authz state wakes beside cluster state: both wait for the disk.
    let waking = (core.id == KEEPER).then(|| {
        let (reply, answer) = env::reply::channel();
        let waking = env.clone();
        let key_bytes = shared.budget.total_bytes() / KEYS_PART;
        env.spawn().spawn(async move {
            let woken = wake_authz(&waking, security, (authz, keys, audit), preset).await;
            if let Ok((Some(store), ..)) = &woken {
                store.bound(key_bytes);
                store.keep_tidy(&waking, tidy);
            }
            reply.send(woken);
        });
        answer
    });
    let engine = match engine::Core::start(env.clone(), core.id, Arc::clone(&shared), inbox).await {
        Ok(engine) => engine,
        Err(error) => return tell(&events, Event::Failed(refused("cluster state", &error))),
    };
    watch_log(&env, {
        let engine = Rc::clone(&engine);
        async move { engine.log_failed().await }
    });
    let mut store = None;
    if let Some(waking) = waking {
        match waking.await.expect("its task runs as long as this core") {
            Ok((opened, keeper, first)) => {
                store = opened;
                if let Some(store) = &store {
                    let store = Rc::clone(store);
                    engine.scrub_also(Box::new(move |pace| {
                        let store = Rc::clone(&store);
                        Box::pin(async move {
                            store.scrub(&pace).await.map_err(|error| error.to_string())
                        })
                    }));
                }
                let enrollment = enrollment(&env, keeper.as_ref(), &first).await;
                tell(&events, Event::Up { keeper, first, enrollment });
            }
            Err(failure) => return tell(&events, Event::Failed(failure)),
        }
        let engine = Rc::clone(&engine);
        env.spawn().spawn(async move {
            engine.all_settled().await;
            tell(&events, Event::Settled);
        });
    }
    let mut sockets = Some(sockets);
    let mut server: Option<Rc<Server>> = None;
    let mut batch = Vec::new();
    while orders.receive(&mut batch).await {
        for order in batch.drain(..) {
            match order {
                Order::Begin(keeper, tls) => {
                    let security = keeper.map(|keeper| {
                        let file = FileRealm::new(users.clone());
                        let authenticator = Authenticator::new(env.clone(), keeper.clone(), file);
                        net::Security { authenticator, keeper, oauth: oauth.clone() }
                    });
                    // Packing secrets beside a stranger's text would tell their lengths through
                    // TLS; Elasticsearch leaves it off there too.
                    let options =
                        net::Options { limits: net::Limits::default(), compression: tls.is_none() };
                    let begun = Server::new(Rc::clone(&engine), security, options);
                    server = Some(Rc::clone(&begun));
                    if let Some(sockets) = sockets.take() {
                        env.spawn().spawn(take(env.clone(), sockets, begun, tls));
                    }
                }
                Order::CloseDoor(answer) => {
                    if let Some(server) = &server {
                        close(server).await;
                    }
                    answer.send(()).ok();
                }
                Order::Save(answer) => {
                    engine.stop().await;
                    let saved = match &store {
                        Some(store) => store.close().await.map_err(|error| authz_failed(&error)),
                        None => Ok(()),
                    };
                    answer.send(saved).ok();
                }
                Order::End => return,
            }
        }
    }
}

/// Ends the process where a log fails: nothing it has not synced may be acknowledged.
fn watch_log(env: &RuntimeEnv, failed: impl Future<Output = String> + 'static) {
    env.spawn().spawn(async move {
        let reason = failed.await;
        tracing::error!("{reason}");
        eprintln!("corelode: {reason}");
        std::process::exit(Code::Log as i32);
    });
}

/// The key of an enrollment token, where this is the first start and a person looks on.
async fn enrollment(env: &RuntimeEnv, keeper: Option<&Keeper>, first: &First) -> Option<Secret> {
    let keeper = keeper?;
    if matches!(first, First::No) || !std::io::stdout().is_terminal() {
        return None;
    }
    authz::store::enrollment_key(env, keeper).await.ok()
}

type Woken = (Option<Rc<Store<RuntimeEnv>>>, Option<Keeper>, First);

/// Opens authz state and serves it to the other cores.
async fn wake_authz(
    env: &RuntimeEnv,
    security: bool,
    (dir, keys, audit): (PathBuf, Keys, Audit),
    preset: Option<Secret>,
) -> crate::failure::Result<Woken> {
    if !security {
        return Ok((None, None, First::No));
    }
    let started = Store::start(env, &dir, preset, keys).await;
    let (store, keeper, first) = started.map_err(|error| authz_failed(&error))?;
    let watched = Rc::clone(&store);
    watch_log(env, async move { watched.failed().await.to_string() });
    Ok((Some(store), Some(keeper.with_audit(audit)), first))
}

fn authz_failed(error: &authz::Error) -> Failure {
    let code = match error {
        authz::Error::Version { .. } => Code::Setting,
        authz::Error::Log { .. } => Code::Log,
        _ => Code::Failed,
    };
    Failure::new(code, with_remedy(code, error.to_string()))
}

fn refused(what: &str, error: &consensus::Error) -> Failure {
    let code = match error {
        consensus::Error::Version { .. } => Code::Setting,
        error if error.is_disk() => Code::Log,
        _ => Code::Failed,
    };
    Failure::new(code, with_remedy(code, format!("{what}: {error}")))
}

/// What a person can do about a log that cannot be written.
fn with_remedy(code: Code, sentence: String) -> String {
    match code {
        Code::Log => format!(
            "{sentence}; make room on the disk, let this user write there and files grow \
             (`ulimit -f`), and start again"
        ),
        _ => sentence,
    }
}

/// Takes the sockets that the acceptor hands over, and serves each in a task of its own.
async fn take(
    env: RuntimeEnv,
    mut sockets: Receiver<Handed>,
    server: Rc<Server>,
    tls: Option<ServerTls>,
) {
    let mut batch = Vec::new();
    while sockets.receive(&mut batch).await {
        for handed in batch.drain(..) {
            let Handed::Socket(socket) = handed else {
                server.make_room();
                continue;
            };
            // Before anything is spent on it: a client that is refused sees its connection end.
            let Some(place) = server.enter().await else { continue };
            let (server, tls) = (Rc::clone(&server), tls.clone());
            env.spawn().spawn(async move {
                match server.open(&place, open(socket, tls.as_ref())).await {
                    Some(Ok(stream)) => server.serve(stream, place).await,
                    Some(Err(error)) => tracing::debug!("{error}"),
                    // The node stops, or another needs the place.
                    None => {}
                }
            });
        }
    }
}

async fn open(socket: Socket, tls: Option<&ServerTls>) -> env::Result<Connection> {
    match tls {
        Some(tls) => socket.open_tls(tls).await,
        None => socket.open(),
    }
}

/// Waits for the requests in flight, but not for ever.
async fn close(server: &Server) {
    server.stop();
    if !server.drain(DRAIN).await {
        tracing::warn!("{} connections did not end within {DRAIN:?}", server.open_count());
    }
}
