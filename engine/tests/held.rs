//! Memory of the cluster state: what would pass its share is refused, and what is lost by that comes back with
//! what is deleted. And of what became of tasks, as much as a core keeps.

mod common;

use std::cell::RefCell;
use std::rc::Rc;

use engine::ops::IndicesOptions;
use engine::task::{Ended, TaskSpec};
use engine::{Config, Core, Error, Everything, start_all};
use env::budget::Holder;
use json::{Object, Value, json};
use sim::{Sim, SimEnv};

const MEMORY: usize = 32 << 20;

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

async fn start(env: &SimEnv, memory_bytes: usize) -> Vec<Rc<Core<SimEnv>>> {
    let warn = |text: &str| TOLD.with_borrow_mut(|told| told.push(text.to_owned()));
    start_all(env, Config { warn, memory_bytes, ..common::config() }).await.expect("it starts")
}

fn held(core: &Core<SimEnv>) -> usize {
    let all = core.shared().budget.taken_bytes();
    all.iter().find(|(holder, _)| *holder == Holder::State).map_or(0, |(_, bytes)| *bytes)
}

/// Fields whose names nobody else has.
fn fields(number: usize) -> Value {
    let field = |at: usize| (format!("field_{number}_{at}"), json!({"type": "text"}));
    let properties: Object = (0..900).map(field).collect();
    json!({"mappings": {"properties": (Value::Object(properties))}})
}

/// Makes indices until one is refused: how many, and why not more.
async fn fill(core: &Rc<Core<SimEnv>>) -> (usize, Error) {
    let mut made = 0;
    loop {
        match core.create_index(&Everything, &format!("i{made}"), &fields(made)).await {
            Ok(_) => made += 1,
            Err(error) => return (made, error),
        }
    }
}

async fn delete(core: &Rc<Core<SimEnv>>, index: &str) {
    core.delete_index(&Everything, index, IndicesOptions::default()).await.expect("it goes");
}

fn is_refused(error: &Error) {
    assert_eq!((error.status, &*error.kind), (429, "circuit_breaking_exception"), "{error:?}");
    let told = "[parent] Data too large, data for [<cluster_state>] would be [";
    assert!(error.reason.starts_with(told), "{}", error.reason);
    let limit = format!("b], which is larger than the limit of [{}b]", MEMORY / 4);
    assert!(error.reason.ends_with(&limit), "{}", error.reason);
}

/// Once 562 indices of 980 fields each took 671 MiB of `--memory 128mb`: nobody counted them.
#[test]
fn indices_are_refused_when_the_state_would_pass_its_share() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env, MEMORY).await;
        let core = &cores[1];
        let (made, refused) = fill(core).await;
        is_refused(&refused);
        assert!((5..40).contains(&made), "{made}");
        assert!(core.state().index(&format!("i{made}")).is_none());
        assert!(held(core) <= MEMORY / 4, "{}", held(core));
        // Whatever would make it grow, by whichever way.
        let body = fields(made);
        let mappings = body.get("mappings").expect("just made");
        let options = IndicesOptions::default();
        core.create_index(&Everything, "small", &json!({})).await.expect("there is room for one");
        let put = core.put_mapping(&Everything, "small", options, false, mappings.clone()).await;
        is_refused(&put.expect_err("the fields are new"));
        let note = json!({"template": {}, "_meta": {"note": ("x".repeat(1 << 20))}});
        let kind = cluster::TemplateKind::Component;
        let put = core.put_template(&Everything, kind, "large", &note, false).await;
        is_refused(&put.expect_err("a mebibyte"));
        // What helps at the end of it is small.
        let body = json!({"index.blocks.write": "true"});
        let change = engine::ops::index_settings::SettingsChange::default();
        let new = engine::ops::index_settings::NewSettings::read(&body).expect("one setting");
        let put = core.put_settings(&Everything, "i0,i1", options, new, change).await;
        put.expect("a block is no growth");
        // An equal mapping is shared, and a deletion always passes.
        core.create_index(&Everything, "again", &fields(0)).await.expect("no tree of its own");
        delete(core, "i1").await;
        core.create_index(&Everything, "instead", &fields(made)).await.expect("there is room");
        let before = held(core);
        for number in 2..made {
            delete(core, &format!("i{number}")).await;
        }
        assert!(held(core) < before / 2, "{} of {before} are held still", held(core));
        cores[0].stop().await;
    });
}

#[test]
fn a_state_beyond_its_share_starts_and_says_so_and_grows_no_more() {
    let sim = Sim::new(2);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env, MEMORY).await;
        fill(&cores[0]).await;
        cores[0].stop().await;
    });
    TOLD.take();
    sim.kill();
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env, MEMORY / 2).await;
        let told = TOLD.take().join("\n");
        assert!(told.contains("the cluster state takes about "), "{told}");
        let core = &cores[0];
        assert!(core.state().index("i0").is_some());
        let refused = core.create_index(&Everything, "one_more", &json!({})).await;
        let refused = refused.expect_err("there is no room");
        assert_eq!((refused.status, &*refused.kind), (429, "circuit_breaking_exception"));
        delete(core, "i0").await;
        cores[0].stop().await;
    });
}

/// What became of tasks was kept by their number alone: each told of a thousand documents that failed.
#[test]
fn what_became_of_tasks_is_forgotten_before_it_takes_much() {
    let sim = Sim::new(3);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env, MEMORY).await;
        let core = &cores[0];
        let mut numbers = Vec::new();
        for bytes in [100, 1_000_000, 1_000_000, 1_000_000, 100, 100, 2_000_000, 8_000_000] {
            let task = core.begin_task(TaskSpec::default());
            numbers.push(task.control().number());
            let ended = task.ended(Err::<Ended, _>(Error::internal("x".repeat(bytes))));
            task.keep(ended);
            let mut kept = Vec::new();
            for number in &numbers {
                kept.push(core.task(*number).await.is_some());
            }
            match numbers.len() {
                ..=6 => assert!(kept.iter().all(|kept| *kept), "{kept:?}"),
                7 => assert_eq!(kept, [false, false, true, true, true, true, true]),
                _ => assert_eq!(kept.iter().filter(|kept| **kept).count(), 1, "the newest alone"),
            }
        }
    });
}
