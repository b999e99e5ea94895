//! Administration and power cuts: what was acknowledged stays, what was not whole is gone.

mod common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use cluster::TemplateKind;
use engine::ops::alias::{AliasChange, AliasRequest};
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::index_settings::{NewSettings, SettingsChange};
use engine::ops::observe::HealthWait;
use engine::ops::resize::Resize;
use engine::ops::rollover::RolloverRequest;
use engine::ops::search::SearchCall;
use engine::ops::{IndicesOptions, Refresh};
use engine::{Config, Core, Error, Everything, Gate, Limits, Result, start_all};
use env::{Bytes, Clock, Env, Spawn};
use json::json;
use sim::{Sim, SimEnv};

use common::start;

async fn fill(core: &Rc<Core<SimEnv>>, index: &str, docs: usize) {
    let items = (0..docs)
        .map(|at| WriteItem {
            source: Bytes::from(format!(r#"{{"n":{at}}}"#).into_bytes()),
            ..WriteItem::new(WriteAction::Index, index, at.to_string())
        })
        .collect();
    let reply = core.bulk(&Everything, BulkRequest { items, refresh: Refresh::Now }).await;
    assert!(reply.items.iter().all(|item| item.result.is_ok()));
}

async fn count(core: &Rc<Core<SimEnv>>, index: &str) -> u64 {
    let call =
        SearchCall { indices: index.to_owned(), partial_results: true, ..SearchCall::default() };
    core.count(&Everything, &call).await.expect("it serves").count
}

#[test]
fn changes_of_the_cluster_survive_a_power_cut() {
    for seed in 0..5 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            let core = &cores[1];
            let template = json!({"index_patterns": ["s"], "data_stream": {}});
            core.put_template(&Everything, TemplateKind::Index, "t", &template, false)
                .await
                .expect("a good template");
            core.create_stream(&Everything, "s").await.expect("a template fits");
            fill(core, "a", 5).await;
            let add = AliasRequest {
                change: AliasChange::Add { alias: Box::default(), must_exist: false },
                indices: vec!["a".into()],
                aliases: vec!["al".into()],
            };
            core.update_aliases(&Everything, &[add]).await.expect("a good alias");
            let settings = json!({"refresh_interval": "7s", "blocks.write": true});
            core.put_settings(
                &Everything,
                "a",
                IndicesOptions::default(),
                NewSettings::read(&settings).expect("two settings"),
                SettingsChange::default(),
            )
            .await
            .expect("dynamic");
            fill(core, "shut", 3).await;
            core.close_indices(&Everything, "shut", IndicesOptions::default())
                .await
                .expect("it is there");
        });
        sim.crash();
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            let state = cores[0].state();
            assert!(state.templates.index.contains_key("t"), "seed {seed}");
            assert_eq!(state.data_streams["s"].indices.len(), 1);
            assert_eq!(count(&cores[1], "al").await, 5);
            let index = state.index("a").expect("kept");
            assert_eq!(index.settings.text("index.refresh_interval"), Some("7s"));
            assert!(index.settings.flag("index.blocks.write"));
            assert!(state.index("shut").is_some_and(|index| !index.open));
            let all = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
            cores[0].open_indices(&Everything, "shut", all).await.expect("it is there");
            assert_eq!(count(&cores[0], "shut").await, 3);
            cores[0].stop().await;
        });
    }
}

#[test]
fn an_index_that_was_not_copied_whole_is_gone_after_a_power_cut() {
    let (mut whole, mut buried) = (0, 0);
    for seed in 0..24u64 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            fill(&cores[0], "t", 60).await;
            cores[0]
                .add_block(&Everything, "t", IndicesOptions::default(), "write")
                .await
                .expect("it is there");
            let core = Rc::clone(&cores[1]);
            env.spawn().spawn(async move {
                let body = json!({});
                let _ = core.resize(&Everything, Resize::Clone, "t", "copy", (&body, None)).await;
            });
            env.clock().sleep(Duration::from_micros(seed * seed * 400)).await;
        });
        sim.crash();
        let env = sim.env();
        let (there, was_there) = sim.run(async move {
            let cores = start(&env).await;
            let state = cores[0].state();
            let there = state.index("copy").is_some();
            let was_there = state.tombstones.iter().any(|one| &*one.name == "copy");
            if there {
                assert_eq!(count(&cores[1], "copy").await, 60, "seed {seed}: all or nothing");
            }
            assert_eq!(count(&cores[0], "t").await, 60, "seed {seed}");
            cores[0].stop().await;
            (there, was_there)
        });
        whole += u32::from(there);
        buried += u32::from(was_there);
        assert!(!(there && was_there), "seed {seed}");
    }
    // What a start takes away has its moment, as every deletion.
    assert!(buried > 0, "none was remembered");
    assert!(whole > 0, "no cut came late enough");
    assert!(whole < 24, "no cut came early enough");
}

/// Each waiter once looked every 5 ms, and built a row of each index each time: a few hundred of
/// them took the whole core. Now the change itself wakes them.
#[test]
fn who_waits_for_health_is_answered_by_the_change_not_by_looking_again_and_again() {
    let sim = Sim::new(3);
    let env = sim.env();
    let times = Rc::new(std::cell::RefCell::new(Vec::new()));
    let told = Rc::clone(&times);
    sim.run(async move {
        let cores = start(&env).await;
        for expression in ["", "late", "la*"] {
            let (core, env, told) = (Rc::clone(&cores[1]), env.clone(), Rc::clone(&told));
            let wait =
                HealthWait { active_shards: Some(1), timeout_ms: 60_000, ..HealthWait::default() };
            env.clone().spawn().spawn(async move {
                let options = IndicesOptions { ignore_unavailable: true, ..Default::default() };
                let reply = core.cluster_health(&Everything, expression, options, &wait).await;
                let reply = reply.expect("nothing is refused");
                assert!(!reply.timed_out, "{expression}");
                assert_eq!(reply.indices.len(), 1, "{expression}");
                told.borrow_mut().push(env.clock().monotonic());
            });
        }
        for late in 0..10 {
            let wait = HealthWait {
                active_shards: Some(9),
                timeout_ms: 500 + late,
                ..HealthWait::default()
            };
            let options = IndicesOptions::default();
            let reply = cores[0].cluster_health(&Everything, "", options, &wait).await;
            assert!(reply.expect("nothing is refused").timed_out);
        }
        env.clock().sleep(Duration::from_micros(1_300)).await;
        assert!(told.borrow().is_empty(), "nothing is there yet");
        core_makes(&cores[0], "late").await;
        let made = env.clock().monotonic();
        env.clock().sleep(Duration::from_millis(1)).await;
        assert_eq!(told.borrow().len(), 3, "all were answered as it came, at {made:?}");
    });
}

async fn core_makes(core: &Rc<Core<SimEnv>>, index: &str) {
    core.create_index(&Everything, index, &json!({})).await.expect("a good name");
}

/// Indices were made until the last descriptor was a log's, and no flush found one.
#[test]
fn no_more_shards_are_opened_than_files_may_be_open_for() {
    let sim = Sim::new(5);
    let env = sim.env();
    sim.run(async move {
        let config = Config { shards_max: 3, ..common::config() };
        let cores = start_all(&env, config).await.expect("the state opens");
        let core = &cores[1];
        let two = json!({"settings": {"number_of_shards": 2}});
        core.create_index(&Everything, "a", &two).await.expect("there is room");
        let refused = core.create_index(&Everything, "b", &two).await.expect_err("one too many");
        assert_eq!(refused.status, 400);
        let told = "this action would add [2] shards, but this node has [2] open, and may have [3] with the files";
        assert!(refused.reason.contains(told), "{}", refused.reason);
        core_makes(core, "b").await;
        // A closed one holds no file; it is opened again where there is room for it.
        let options = IndicesOptions::default();
        core.close_indices(&Everything, "a", options).await.expect("it is there");
        core_makes(core, "c").await;
        let refused = core.open_indices(&Everything, "a", options).await.expect_err("one too many");
        assert_eq!(refused.status, 400);
        core.delete_index(&Everything, "b", options).await.expect("it is there");
        core.open_indices(&Everything, "a", options).await.expect("there is room");
        fill(core, "a", 4).await;
    });
}

/// What `_cluster/state` tells as `primary_terms`: it was 1 whatever had happened.
#[test]
fn a_shard_tells_the_reign_in_which_it_serves() {
    let sim = Sim::new(4);
    let env = sim.env();
    let terms = |core: &Rc<Core<SimEnv>>| -> Vec<u64> {
        let directory = core.directory();
        let of = |entry: &engine::node::Entry| match entry {
            engine::node::Entry::Open(reader) => reader.opening().primary_term.get(),
            _ => 0,
        };
        directory.shards.values().map(of).collect()
    };
    sim.run(async move {
        let cores = start(&env).await;
        fill(&cores[0], "a", 3).await;
        assert_eq!(terms(&cores[0]), [1]);
    });
    sim.kill();
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        assert_eq!(terms(&cores[0]), [2], "its first reign ended without a farewell");
    });
}

/// A gate that hides one name, and notes what it is asked for so that a refusal would be told, and at
/// which of the ticks of its core it is asked at all.
#[derive(Default)]
struct Hiding {
    hidden: &'static str,
    asked: RefCell<Vec<String>>,
    tick: Rc<Cell<u64>>,
    ticks: RefCell<BTreeSet<u64>>,
}

impl Gate for Hiding {
    fn cluster(&self, _action: &'static str) -> Result<()> {
        Ok(())
    }

    fn index(&self, action: &'static str, index: &str) -> Result<Limits> {
        self.asked.borrow_mut().push(index.to_owned());
        match self.sees(action, index) {
            true => Ok(Limits::default()),
            false => Err(Error::new(403, "security_exception", index)),
        }
    }

    /// An alias leads to what its index hides, and to no more.
    fn index_by_alias(&self, action: &'static str, index: &str, _alias: &str) -> Result<Limits> {
        self.index(action, index)
    }

    fn sees(&self, _action: &'static str, index: &str) -> bool {
        self.ticks.borrow_mut().insert(self.tick.get());
        index != self.hidden
    }
}

fn alias_request(change: AliasChange, aliases: &[&str]) -> AliasRequest {
    let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
    AliasRequest { change, indices: vec!["a".into()], aliases }
}

/// Which scope a caller by a grant lacks is noted where the gate refuses it, and told with the next 403.
/// A removal once asked so for each alias of the cluster, and for each name of the request.
#[test]
fn a_removal_passes_over_what_is_hidden_without_a_word() {
    let sim = Sim::new(7);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[1];
        let item = |index: &str| WriteItem {
            source: Bytes::from(b"{}".to_vec()),
            ..WriteItem::new(WriteAction::Index, index, "1")
        };
        let items = vec![item("a"), item("b")];
        core.bulk(&Everything, BulkRequest { items, refresh: Refresh::Now }).await;
        let add = || AliasChange::Add { alias: Box::default(), must_exist: false };
        let other = AliasRequest { indices: vec!["b".into()], ..alias_request(add(), &["hidden"]) };
        core.update_aliases(&Everything, &[other]).await.expect("a good alias");

        for names in [&["unheard", "seen"][..], &["*", "-none"]] {
            let seen = alias_request(add(), &["seen"]);
            core.update_aliases(&Everything, &[seen]).await.expect("a good alias");
            let gate = Hiding { hidden: "hidden", ..Hiding::default() };
            let remove = alias_request(AliasChange::Remove { must_exist: None }, names);
            let again = alias_request(add(), &["seen"]);
            let done = core.update_aliases(&gate, &[again, remove]).await.expect("it may");
            assert!(!done[1].missing, "{names:?}");
            let asked = gate.asked.take();
            assert!(asked.contains(&"seen".to_owned()), "{asked:?}");
            assert!(!asked.contains(&"hidden".to_owned()), "{names:?} asked {asked:?}");
        }
        // What is there and hidden is refused to who writes it out, and met by no pattern.
        let gate = Hiding { hidden: "seen", ..Hiding::default() };
        core.update_aliases(&Everything, &[alias_request(add(), &["seen"])]).await.expect("again");
        for (name, status) in [("seen", 403), ("se*", 404), ("zz*", 404)] {
            let remove = alias_request(AliasChange::Remove { must_exist: None }, &[name]);
            let refused = core.update_aliases(&gate, &[remove]).await.expect_err("hidden");
            assert_eq!(refused.status, status, "{name}: {}", refused.reason);
            assert_eq!(refused.reason.contains("seen"), name == "seen", "{}", refused.reason);
        }
        // So is who writes out what is hidden and no alias of these indices.
        let gate = Hiding { hidden: "hidden", ..Hiding::default() };
        let remove = alias_request(AliasChange::Remove { must_exist: None }, &["hidden"]);
        let refused = core.update_aliases(&gate, &[remove]).await.expect_err("hidden");
        assert_eq!(refused.status, 403, "{}", refused.reason);
        cores[0].stop().await;
    });
}

/// Each removal once looked at each alias of the cluster and at all of the request, in one go: a thousand
/// of them held their core for seconds.
#[test]
fn removals_let_others_run_in_between() {
    let sim = Sim::new(8);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[1];
        fill(core, "a", 1).await;
        let tick = Rc::new(Cell::new(0));
        let done = Rc::new(Cell::new(false));
        let (counts, ends, spawn) = (Rc::clone(&tick), Rc::clone(&done), env.spawn().clone());
        env.spawn().spawn(async move {
            while !ends.get() {
                counts.set(counts.get() + 1);
                spawn.give_way().await;
                spawn.yield_if_needed().await;
            }
        });
        for names in [&["gone"][..], &["go*", "gone"]] {
            let gate = Hiding { tick: Rc::clone(&tick), ..Hiding::default() };
            let remove = AliasChange::Remove { must_exist: Some(false) };
            let requests: Vec<_> = (0..200).map(|_| alias_request(remove.clone(), names)).collect();
            core.update_aliases(&gate, &requests).await.expect("nothing must be there");
            let ticks = gate.ticks.take().len();
            assert!(ticks > 20, "{names:?}: asked at {ticks} ticks of the core");
        }
        done.set(true);
        cores[0].stop().await;
    });
}

/// Patterns times aliases had no bound: sixty thousand of each went on for minutes after their client had left.
#[test]
fn patterns_of_a_removal_are_no_more_than_can_be_compared() {
    let sim = Sim::new(10);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[1];
        fill(core, "a", 1).await;
        let named = |shape: &dyn Fn(usize) -> String, count: usize| AliasRequest {
            change: AliasChange::Remove { must_exist: Some(false) },
            indices: vec!["a".into()],
            aliases: (0..count).map(shape).collect(),
        };
        let add = AliasRequest {
            change: AliasChange::Add { alias: Box::default(), must_exist: false },
            ..named(&|at| format!("x{at}"), 3_000)
        };
        core.update_aliases(&Everything, &[add]).await.expect("good aliases");
        let many = named(&|at| format!("*{at}*y"), 9_000);
        let refused = core.update_aliases(&Everything, &[many]).await.expect_err("too many");
        assert_eq!(refused.status, 400);
        assert_eq!(
            refused.reason,
            "the action has [9000] patterns and names of aliases, more than can be compared with all \
             aliases that it may mean"
        );
        // One after the other they are as many.
        let single = |at: usize| named(&|_| format!("*{at}*{}y", "z".repeat(400)), 1);
        let many: Vec<AliasRequest> = (0..3_000).map(single).collect();
        let refused = core.update_aliases(&Everything, &many).await.expect_err("too many");
        assert!(refused.reason.starts_with("the action has [1] patterns"), "{}", refused.reason);
        // So are actions that each mean many indices: each index counts once for each.
        for at in 0..40 {
            let index = format!("m{at}");
            fill(core, &index, 1).await;
        }
        let each = |_| AliasRequest { indices: vec!["m*".into()], ..named(&|at| format!("n{at}"), 1) };
        let many: Vec<AliasRequest> = (0..7_000).map(each).collect();
        let refused = core.update_aliases(&Everything, &many).await.expect_err("too many");
        assert!(refused.reason.contains("than one request may ([262144])"), "{}", refused.reason);
        // Names are few however many they are; so are patterns of as many aliases as one has.
        let all = named(&|at| format!("x{at}"), 3_000);
        let some = named(&|at| format!("x{at}*"), 100);
        core.update_aliases(&Everything, &[some, all]).await.expect("few enough");
        cores[0].stop().await;
    });
}

/// Calls once began again, conditions and all, where another was faster, and gave up after a hundred times.
#[test]
fn however_many_roll_over_at_once_each_is_judged_once() {
    const CALLS: usize = 30;
    let sim = Sim::new(9);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let request = RolloverRequest { target: "w".into(), ..RolloverRequest::default() };
        fill(&cores[0], "w-000001", 1).await;
        let add = AliasChange::Add { alias: Box::default(), must_exist: false };
        let indices = vec!["w-000001".into()];
        let alias = AliasRequest { change: add, indices, aliases: vec!["w".into()] };
        cores[0].update_aliases(&Everything, &[alias]).await.expect("a good alias");
        let gate = Rc::new(Hiding::default());
        let calls = (0..CALLS).map(|at| {
            let (core, gate, request) =
                (Rc::clone(&cores[at % 2]), Rc::clone(&gate), request.clone());
            Box::pin(async move {
                let mut call = Box::pin(core.rollover(&*gate, &request));
                // One that waits is given up by its caller.
                if at == 7 {
                    let waker = std::task::Waker::noop();
                    let polled = call.as_mut().poll(&mut std::task::Context::from_waker(waker));
                    assert!(polled.is_pending());
                    return None;
                }
                Some(call.await.expect("it has its turn").new_index)
            })
        });
        let names = env::join_all(calls.collect()).await;
        let names: BTreeSet<String> = names.into_iter().flatten().collect();
        assert_eq!(names.len(), CALLS - 1);
        assert_eq!(names.last().map(String::as_str), Some(&*format!("w-{CALLS:06}")));
        // Before it waits, and when its turn has come.
        let asked = gate.asked.take().iter().filter(|name| *name == "w").count();
        assert_eq!(asked, 2 * CALLS - 1);
        cores[0].stop().await;
    });
}
