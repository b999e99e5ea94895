//! A whole node below HTTP, of two cores, on a simulated machine.

use std::rc::Rc;

use engine::{Config, Core, start_all};
use sim::SimEnv;

/// How the nodes here are set up.
pub fn config() -> Config {
    Config { warn: |text| println!("warn: {text}"), ..Config::new(2, "/data") }
}

/// The cores of a node that was just started.
#[allow(dead_code, reason = "not all tests take every start for sure")]
pub async fn start(env: &SimEnv) -> Vec<Rc<Core<SimEnv>>> {
    start_all(env, config()).await.expect("the state opens")
}
