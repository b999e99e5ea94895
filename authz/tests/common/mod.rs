//! A store that has started, as tests of several files need it.

use std::path::Path;
use std::rc::Rc;

use authz::store::First;
use authz::token::Keys;
use authz::{Keeper, Secret, Store};
use sim::SimEnv;

/// Where its state lies.
pub const DIR: &str = "/data/authz";

/// Starts it on this machine, with this password for `elastic` where it is the first start and one is given.
pub async fn start_with(
    env: &SimEnv,
    preset: Option<Secret>,
) -> (Rc<Store<SimEnv>>, Keeper, First) {
    let keys = Keys::new(b"pepper");
    Store::start(env, Path::new(DIR), preset, keys).await.expect("opens")
}

/// The same, with some password.
#[allow(dead_code, reason = "each file of tests is a program of its own, and one gives passwords")]
pub async fn start(env: &SimEnv) -> (Rc<Store<SimEnv>>, Keeper) {
    let preset = Some(Secret::new("correct horse".to_owned()));
    let (store, keeper, _) = start_with(env, preset).await;
    (store, keeper)
}
