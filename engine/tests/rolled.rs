//! Rollovers beside another change of the same moment: each is judged by what the other left, and either
//! is done or refused in Elasticsearch's words.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use cluster::{Alias, AliasAction, TemplateKind};
use engine::ops::alias::{AliasChange, AliasRequest};
use engine::ops::data_stream::StreamView;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::rollover::{Rollover, RolloverRequest};
use engine::ops::{IndicesOptions, Refresh};
use engine::{Core, Everything, Gate, Limits, Result};
use env::{Bytes, Clock, Env};
use json::{Value, json};
use sim::{Sim, SimEnv};

use common::start;

type Node = Rc<Core<SimEnv>>;

/// A gate that counts how often a rollover looks at its target.
#[derive(Default)]
struct Counting(Cell<u32>);

impl Gate for Counting {
    fn cluster(&self, _action: &'static str) -> Result<()> {
        Ok(())
    }

    fn index(&self, action: &'static str, index: &str) -> Result<Limits> {
        if action == "indices:admin/rollover" && index == "w" {
            self.0.set(self.0.get() + 1);
        }
        Ok(Limits::default())
    }

    /// What the alias leads to is asked for once it is known: that is no second look.
    fn index_by_alias(&self, action: &'static str, index: &str, _alias: &str) -> Result<Limits> {
        self.index(action, index)
    }

    fn sees(&self, _action: &'static str, _index: &str) -> bool {
        true
    }
}

/// How often the other change comes, each time so much later after the rollover began.
const MOMENTS: u64 = 24;
const MOMENT_US: u64 = 50;

/// Rolls `w` over beside `other`, which comes a little later each time; `check` sees what became of both. How
/// often the rollover had to look twice.
fn beside(
    prepare: impl AsyncFn(&Node),
    other: impl AsyncFn(&Node) -> Result<()>,
    check: impl AsyncFn(&Node, Result<Rollover>, Result<()>),
) -> u32 {
    let mut twice = 0;
    for moment in 0..MOMENTS {
        let sim = Sim::new(moment);
        let env = sim.env();
        sim.run(async {
            let cores = start(&env).await;
            prepare(&cores[0]).await;
            let gate = Counting::default();
            let request = RolloverRequest { target: "w".into(), ..RolloverRequest::default() };
            let rolled = async {
                let done = cores[1].rollover(&gate, &request).await;
                // The one before it waits, and the one of the first look.
                twice += u32::from(gate.0.get() > 2);
                Ok(done)
            };
            let late = async {
                env.clock().sleep(Duration::from_micros(moment * MOMENT_US)).await;
                Err(other(&cores[0]).await)
            };
            let both: [std::pin::Pin<Box<dyn Future<Output = _>>>; 2] =
                [Box::pin(rolled), Box::pin(late)];
            let mut both = env::join_all(both.into()).await.into_iter();
            let (Some(Ok(rolled)), Some(Err(other))) = (both.next(), both.next()) else {
                panic!("both are answered");
            };
            println!("moment {moment}: {rolled:?}, {other:?}");
            check(&cores[0], rolled, other).await;
            cores[0].stop().await;
        });
    }
    twice
}

fn writes(flag: Option<bool>) -> Alias {
    Alias { is_write_index: flag, ..Alias::default() }
}

fn add(index: &str, flag: Option<bool>) -> AliasRequest {
    AliasRequest {
        change: AliasChange::Add { alias: Box::new(writes(flag)), must_exist: false },
        indices: vec![index.into()],
        aliases: vec!["w".into()],
    }
}

async fn make(core: &Node, index: &str, body: Value) {
    core.create_index(&Everything, index, &body).await.expect("a good index");
}

/// `w-000001`, which takes the writes of `w`: because it says so, or because it is the only one.
async fn make_first(core: &Node, explicit: bool) {
    let said = if explicit { json!({"is_write_index": true}) } else { json!({}) };
    make(core, "w-000001", json!({"aliases": {"w": (said)}})).await;
}

/// The indices that have the alias, and whether each takes its writes.
fn behind(core: &Node) -> Vec<(String, Option<bool>)> {
    let state = core.state();
    let indices = state.aliases.get("w").map(|indices| &**indices).unwrap_or_default();
    let said = |index: &std::sync::Arc<str>| {
        let alias = state.index(index)?.aliases.get("w")?;
        Some((index.to_string(), alias.is_write_index))
    };
    indices.iter().filter_map(said).collect()
}

fn said(error: &engine::Error) -> String {
    format!("{} {}: {}", error.status, error.kind, error.reason)
}

const NO_TARGET: &str = "400 illegal_argument_exception: rollover target [w] does not exist";

/// Both were done, and the alias was back on the index that it was taken from.
#[test]
fn a_rollover_beside_the_removal_of_its_alias() {
    for explicit in [true, false] {
        let twice = beside(
            async |core| make_first(core, explicit).await,
            async |core| {
                let remove = AliasRequest {
                    change: AliasChange::Remove { must_exist: None },
                    indices: vec!["w-000001".into()],
                    aliases: vec!["w".into()],
                };
                core.update_aliases(&Everything, &[remove]).await.map(drop)
            },
            async |core, rolled, removed| match (rolled, removed) {
                (Ok(_), Ok(())) => {
                    assert!(explicit, "a rollover leaves nothing of it to remove");
                    assert_eq!(behind(core), [("w-000002".to_owned(), Some(true))]);
                }
                (Ok(_), Err(_)) => assert_eq!(behind(core), [("w-000002".to_owned(), None)]),
                (Err(error), removed) => {
                    assert_eq!(said(&error), NO_TARGET);
                    assert_eq!(removed, Ok(()));
                    assert_eq!(behind(core), []);
                    assert!(core.state().index("w-000002").is_none());
                }
            },
        );
        assert!(twice > 0, "explicit {explicit}");
    }
}

/// It was answered with 500: two indices would have taken the writes.
#[test]
fn a_rollover_beside_a_move_of_the_write_index() {
    let twice = beside(
        async |core| {
            make_first(core, true).await;
            make(core, "x-000007", json!({"aliases": {"w": {}}})).await;
        },
        async |core| {
            let moves = [add("w-000001", Some(false)), add("x-000007", Some(true))];
            core.update_aliases(&Everything, &moves).await.map(drop)
        },
        async |core, rolled, moved| {
            let new = rolled.expect("it writes to one index or the other").new_index;
            let writer: Vec<_> =
                behind(core).into_iter().filter(|(_, flag)| *flag == Some(true)).collect();
            assert_eq!(writer, [(new.clone(), Some(true))]);
            match moved {
                Ok(()) => assert_eq!(new, "x-000008"),
                Err(error) => {
                    assert_eq!(new, "w-000002");
                    assert_eq!(
                        said(&error),
                        "500 illegal_state_exception: alias [w] has more than one write index \
                         [w-000002,x-000007]"
                    );
                }
            }
        },
    );
    assert!(twice > 0);
}

async fn make_stream_template(core: &Node) {
    let template = json!({"index_patterns": ["w"], "data_stream": {}});
    let kind = TemplateKind::Index;
    core.put_template(&Everything, kind, "t", &template, false).await.expect("a good template");
}

async fn stream(core: &Node) -> StreamView {
    let options = IndicesOptions::default();
    let mut found = core.streams(&Everything, "", "w", options).await.expect("it is there");
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// It was answered with 400: the name of the alias was a data stream's.
#[test]
fn a_rollover_beside_the_migration_of_its_alias() {
    let twice = beside(
        async |core| {
            make_stream_template(core).await;
            let dated = json!({"properties": {"@timestamp": {"type": "date"}}});
            let template = json!({"index_patterns": ["w-*"], "template": {"mappings": (dated)}});
            let kind = TemplateKind::Index;
            core.put_template(&Everything, kind, "d", &template, false).await.expect("a template");
            make_first(core, true).await;
        },
        async |core| core.migrate_alias(&Everything, "w").await,
        async |core, rolled, migrated| {
            let rolled = rolled.expect("an alias or a stream");
            assert_eq!(migrated, Ok(()));
            assert_eq!(rolled.old_index, "w-000001");
            assert_eq!(stream(core).await.stream.write_index(), rolled.new_index);
            assert_eq!(stream(core).await.indices.len(), 2);
            assert_eq!(behind(core), []);
        },
    );
    assert!(twice > 0);
}

/// It was answered with 404, of the id of the index.
#[test]
fn a_rollover_beside_the_deletion_of_its_index() {
    for explicit in [true, false] {
        let twice = beside(
            async |core| make_first(core, explicit).await,
            async |core| {
                core.delete_index(&Everything, "w-000001", IndicesOptions::default()).await
            },
            async |core, rolled, deleted| {
                assert_eq!(deleted, Ok(()));
                match rolled {
                    Ok(_) => {
                        assert_eq!(
                            behind(core),
                            [("w-000002".to_owned(), explicit.then_some(true))]
                        );
                    }
                    Err(error) => {
                        assert_eq!(said(&error), NO_TARGET);
                        assert!(core.state().index("w-000002").is_none());
                    }
                }
            },
        );
        assert!(twice > 0, "explicit {explicit}");
    }
}

/// What the alias says of an index may change, too: the next one has what is said by then.
#[test]
fn a_rollover_beside_another_routing_of_its_alias() {
    let routed = || Alias { index_routing: Some("r".into()), ..writes(Some(true)) };
    let twice = beside(
        async |core| make_first(core, true).await,
        async |core| {
            let change = AliasChange::Add { alias: Box::new(routed()), must_exist: false };
            let request = AliasRequest { change, ..add("w-000001", None) };
            core.update_aliases(&Everything, &[request]).await.map(drop)
        },
        async |core, rolled, routed| {
            let state = core.state();
            let of =
                |name: &str| state.index(name).and_then(|index| index.aliases.get("w").cloned());
            let new = rolled.expect("the alias writes where it wrote").new_index;
            let routing = |name: &str| of(name).and_then(|alias| alias.index_routing);
            assert_eq!(of(&new).and_then(|alias| alias.is_write_index), Some(true));
            match routed {
                Ok(()) => assert_eq!(routing(&new), routing("w-000001")),
                Err(error) => {
                    assert!(said(&error).contains("has more than one write index"), "{error:?}");
                }
            }
        },
    );
    assert_eq!(twice, 0, "it is no other target");
}

/// The name of the next index of a stream at the time of the simulation.
fn next_name(core: &Node) -> String {
    core.state().data_streams["w"].write_index().replace("-000001", "-000002")
}

async fn make_stream(core: &Node) {
    make_stream_template(core).await;
    core.create_stream(&Everything, "w").await.expect("a template fits");
}

/// It was answered with 400: the index exists.
#[test]
fn a_rollover_of_a_stream_beside_who_takes_its_next_name() {
    let twice = beside(
        async |core| make_stream(core).await,
        async |core| {
            let name = next_name(core);
            core.create_index(&Everything, &name, &json!({})).await.map(drop)
        },
        async |core, rolled, made| {
            let rolled = rolled.expect("there are other names");
            assert_eq!(stream(core).await.stream.write_index(), rolled.new_index);
            let number = match made {
                Ok(()) => "-000003",
                Err(error) => {
                    assert_eq!(error.kind, "resource_already_exists_exception");
                    "-000002"
                }
            };
            assert!(rolled.new_index.ends_with(number), "{}", rolled.new_index);
        },
    );
    assert!(twice > 0);
}

/// The document of a write that rolls a stream over failed, with 400.
#[test]
fn a_write_that_rolls_over_beside_who_takes_the_next_name() {
    let mut late = 0u64;
    for moment in 0..MOMENTS {
        let sim = Sim::new(moment);
        let env = sim.env();
        sim.run(async {
            let cores = start(&env).await;
            make_stream(&cores[0]).await;
            let lazy =
                RolloverRequest { target: "w".into(), lazy: true, ..RolloverRequest::default() };
            cores[0].rollover(&Everything, &lazy).await.expect("it is marked");
            let (name, first) = (next_name(&cores[0]), stream(&cores[0]).await.stream);
            let item = WriteItem {
                source: Bytes::from(br#"{"@timestamp":1}"#.to_vec()),
                ..WriteItem::new(WriteAction::Create, "w", "1")
            };
            let write = async {
                let written = cores[1].write(&Everything, item, Refresh::No).await;
                let index = written.expect("the stream takes it").index;
                assert_ne!(index, first.write_index());
                index.ends_with("-000003")
            };
            let take = async {
                env.clock().sleep(Duration::from_micros(moment * MOMENT_US)).await;
                cores[0].create_index(&Everything, &name, &json!({})).await.is_ok()
            };
            let both: [std::pin::Pin<Box<dyn Future<Output = bool>>>; 2] =
                [Box::pin(write), Box::pin(take)];
            let both = env::join_all(both.into()).await;
            assert_eq!(both[0], both[1], "moment {moment}: it passes over what was taken");
            late += u64::from(!both[1]);
            cores[0].stop().await;
        });
    }
    assert!((1..MOMENTS).contains(&late), "{late}");
}

/// The templates of the next index may have come to give the alias, too, since the rollover looked.
#[test]
fn a_rollover_beside_a_template_that_gives_its_alias() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async {
        let cores = start(&env).await;
        make_first(&cores[0], true).await;
        let state = cores[0].state();
        let template = json!({"index_patterns": ["w-*"], "template": {"aliases": {"w": {}}}});
        let kind = TemplateKind::Index;
        cores[0].put_template(&Everything, kind, "t", &template, false).await.expect("good");
        let from = state.index("w-000001").expect("there").uuid;
        let roll =
            cluster::Command::RollAlias { name: "w".into(), from, index: "w-000002".into() };
        let told = "Rollover alias [w] can point to multiple indices, found duplicated alias [[w]] in index template [t]";
        let refused = cluster::admit(&cores[0].state(), &roll).expect_err("both would have it");
        assert_eq!(refused.to_string(), told);
        let action = AliasAction::Remove { uuid: from, name: "w".into() };
        let gone = cluster::Command::UpdateAliases { actions: vec![action] };
        let (bare, _) = cluster::apply(&state, &gone);
        let (_, outcome) = cluster::apply(&bare, &roll);
        let moved = cluster::Error::Moved { target: "w".into() };
        assert_eq!(outcome, cluster::Outcome::Refused(moved));
        cores[0].stop().await;
    });
}
