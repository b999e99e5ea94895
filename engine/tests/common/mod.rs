//! A whole node below HTTP, of two cores, on a simulated machine.

use std::path::PathBuf;
use std::rc::Rc;

use base::CoreId;
use engine::ops::observe::NodeInfo;
use engine::{Config, Core, prepare};
use sim::SimEnv;

/// The cores of a node that was just started.
pub async fn start(env: &SimEnv) -> Vec<Rc<Core<SimEnv>>> {
    let (shared, inboxes) = prepare(Config {
        cores: 2,
        data: PathBuf::from("/data"),
        info: NodeInfo::default(),
        memory_bytes: 256 << 20,
        warn: |text| println!("warn: {text}"),
        reserved_names: &[],
    });
    let mut cores = Vec::new();
    for (at, inbox) in inboxes.into_iter().enumerate() {
        let core = Core::start(env.clone(), CoreId(at as u16), shared.clone(), inbox).await;
        cores.push(core.expect("the state opens"));
    }
    cores[0].all_settled().await;
    cores
}
