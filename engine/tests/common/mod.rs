//! A whole node below HTTP, of two cores, on a simulated machine.

use std::rc::Rc;

use engine::{Config, Core, start_all};
use sim::SimEnv;

/// The cores of a node that was just started.
pub async fn start(env: &SimEnv) -> Vec<Rc<Core<SimEnv>>> {
    let config = Config { warn: |text| println!("warn: {text}"), ..Config::new(2, "/data") };
    start_all(env, config).await.expect("the state opens")
}
