//! A whole node below HTTP on a simulated machine: two cores of the engine, and authz state.

use std::cell::RefCell;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::OnceLock;
use std::task::Poll;
use std::time::Duration;

use authz::token::Keys;
use authz::{Keeper, Secret, Store};
use engine::{Config, Core, start_all};
use env::{Clock, Env, Spawn};
use sim::{Sim, SimEnv};

/// Executors of a node.
pub const CORES: u16 = 2;

/// What a sound node warns of when the one before ended in the middle of a copy: nobody was told that it is there.
const COPIES_CUT_SHORT: &str = "indices that were not copied whole are removed";

const DATA: &str = "/data";
const AUTHZ: &str = "/data/authz";

/// Files of authz state after its first start. (Hashing the first password takes longer than all the
/// rest of a seed.)
static FIRST: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();

std::thread_local! {
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What the node warned of since the last question.
pub fn warnings() -> Vec<String> {
    WARNINGS.take()
}

/// A node that runs.
pub struct Node {
    /// Its cores.
    pub cores: Vec<Rc<Core<SimEnv>>>,
    /// The way to authz state.
    pub keeper: Keeper,
    store: Rc<Store<SimEnv>>,
}

impl Node {
    /// Starts it; each shard is open or has failed when this returns.
    ///
    /// # Errors
    /// Why it does not start.
    pub async fn start(env: &SimEnv) -> Result<Self, String> {
        let config = Config {
            warn: |text| {
                if !text.ends_with(COPIES_CUT_SHORT) {
                    WARNINGS.with_borrow_mut(|all| all.push(text.to_owned()));
                }
            },
            // So short that a life of a seed sees it cut, and its files change.
            state_log_bytes: 32 << 10,
            ..Config::new(CORES, DATA)
        };
        let (reply, waking) = env::reply::channel();
        let theirs = env.clone();
        env.spawn().spawn(async move { reply.send(wake_authz(&theirs).await) });
        let started = start_all(env, config).await;
        let cores = started.map_err(|error| format!("cluster state: {error}"))?;
        let (store, keeper) = waking.await.ok_or("authz state: its task ended")??;
        Ok(Self { cores, keeper, store })
    }

    /// Ends when a log of it fails: the process ends then.
    pub async fn failed(&self) -> String {
        let mut all: Vec<Pin<Box<dyn Future<Output = String>>>> = Vec::new();
        for core in &self.cores {
            let core = Rc::clone(core);
            all.push(Box::pin(async move { core.log_failed().await }));
        }
        let store = Rc::clone(&self.store);
        all.push(Box::pin(async move { store.failed().await.to_string() }));
        poll_fn(|context| {
            for one in &mut all {
                if let Poll::Ready(why) = one.as_mut().poll(context) {
                    return Poll::Ready(why);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Stops in order.
    pub async fn stop(&self) -> Result<(), String> {
        self.cores[0].stop().await;
        self.store.close().await.map_err(|error| format!("authz state: {error}"))
    }
}

async fn wake_authz(env: &SimEnv) -> Result<(Rc<Store<SimEnv>>, Keeper), String> {
    let preset = Some(Secret::new("correct horse".into()));
    let started = Store::start(env, Path::new(AUTHZ), preset, Keys::new(b"pepper")).await;
    let (store, keeper, _) = started.map_err(|error| format!("authz state: {error}"))?;
    Ok((store, keeper))
}

/// Puts authz state on the machine as it is after its first start.
pub fn plant_authz(sim: &Sim) {
    let files = FIRST.get_or_init(|| {
        let sim = Sim::new(0);
        let env = sim.env();
        sim.run(async move {
            let (store, _) = wake_authz(&env).await.expect("a healthy disk");
            store.close().await.expect("a healthy disk");
        });
        let files = sim.files().into_iter();
        files.filter_map(|(path, _)| Some((path.clone(), sim.bytes(path)?))).collect()
    });
    for (path, bytes) in files {
        sim.plant(path, bytes);
    }
}

/// Waits for one of two.
pub async fn either<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> Either<A, B> {
    let (mut first, mut second) = (Box::pin(first), Box::pin(second));
    poll_fn(move |context| {
        if let Poll::Ready(value) = first.as_mut().poll(context) {
            return Poll::Ready(Either::First(value));
        }
        second.as_mut().poll(context).map(Either::Second)
    })
    .await
}

/// Which of two was ready.
pub enum Either<A, B> {
    /// The first.
    First(A),
    /// The second.
    Second(B),
}

/// Sleeps.
pub async fn sleep(env: &SimEnv, duration: Duration) {
    env.clock().sleep(duration).await;
}
