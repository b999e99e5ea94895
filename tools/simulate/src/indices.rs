//! One who makes and deletes indices, moves aliases and adds fields; and what must stand of it.
//!
//! Each name is changed by one client, one change after the other, so what may stand there is a short
//! list: what was acknowledged last, and each change after it that nobody answered.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use engine::Everything;
use engine::ops::alias::{AliasChange, AliasRequest};
use engine::ops::document::{GetRequest, WriteAction, WriteItem};
use engine::ops::{IndicesOptions, Refresh};
use env::{Bytes, Env, Spawn, join_all};
use json::Value;

use crate::context::Context;
use crate::documents::INDICES;
use crate::node;

/// What may stand in one place.
#[derive(Clone, Debug)]
pub struct Register<T> {
    possible: Vec<T>,
}

impl<T: Clone + PartialEq + std::fmt::Debug> Register<T> {
    /// This stands there.
    pub fn new(value: T) -> Self {
        Self { possible: vec![value] }
    }

    /// A change begins: from now on either may stand there.
    pub fn begin(&mut self, value: T) {
        self.possible.push(value);
    }

    /// The change was done.
    pub fn done(&mut self, value: T) {
        self.possible = vec![value];
    }

    /// The change that began last was not done.
    pub fn refused(&mut self) {
        self.possible.pop();
    }

    /// Holds what stands there against what may; after a restart nothing else is on its way.
    pub fn check(&mut self, what: &str, found: T, is_start: bool) {
        assert!(
            self.possible.contains(&found),
            "{what} is {found:?}, and may be {:?}",
            self.possible
        );
        if is_start {
            self.possible = vec![found];
        }
    }

    /// May this stand there?
    pub fn may_be(&self, value: &T) -> bool {
        self.possible.contains(value)
    }

    /// Changes that were made at one moment were all done: one of them was the last.
    pub fn one_of(&mut self, values: Vec<T>) {
        self.possible = values;
    }

    /// May something stand there of which this holds?
    pub fn is_any(&self, holds: impl Fn(&T) -> bool) -> bool {
        self.possible.iter().any(holds)
    }

    /// This change was not done; others that began since may have been.
    pub fn not(&mut self, value: &T) {
        if let Some(at) = self.possible.iter().rposition(|possible| possible == value) {
            self.possible.remove(at);
        }
    }

    /// What stands there, where that is sure.
    pub fn sure(&self) -> Option<&T> {
        match self.possible.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// Names, and what may stand behind each.
#[derive(Default)]
pub struct Names {
    /// Which making of the index stands there.
    indices: BTreeMap<String, Register<Option<u64>>>,
    /// Which index an alias leads to.
    aliases: BTreeMap<String, Register<Option<String>>>,
    /// The document of each making.
    docs: BTreeMap<u64, Register<Option<u64>>>,
    /// Makings so far.
    made: u64,
}

/// Indices that come and go.
const PASSING: u64 = 2;

/// Changes that are made close to each other.
const BURST: u64 = 5;

/// The one who tends names, until told to end.
pub async fn keeper(context: Rc<Context>) {
    while !context.stopping.get() {
        match context.below(11) {
            0 | 1 => make(&context).await,
            2 => remove(&context).await,
            3 | 4 => use_passing(&context).await,
            5 => add_field(&context).await,
            6 | 7 => move_alias(&context, &format!("alias{}", context.below(2))).await,
            8 | 9 => move_many(&context).await,
            _ => race_to_make(&context).await,
        }
        context.rest().await;
        context.rest().await;
        look(&context, false);
    }
    context.active.set(context.active.get() - 1);
}

/// Makes the lasting indices where they are missing.
pub async fn prepare(context: &Context) {
    for (at, index) in INDICES.iter().enumerate() {
        if context.node.cores[0].state().index(index).is_some() {
            continue;
        }
        let interval = ["-1", "20ms", "1s", "300ms"][context.below(4) as usize];
        let flush = ["16kb", "64kb", "512mb"][context.below(3) as usize];
        let tier = 2 + context.below(4);
        let settings = format!(
            r#""index.refresh_interval":"{interval}","index.translog.flush_threshold_size":"{flush}",
            "index.merge.policy.segments_per_tier":{tier},"index.merge.policy.floor_segment":"1kb""#
        );
        let fields = r#""tag":{"type":"keyword"},"base":{"type":"keyword"},"n":{"type":"long"},"text":{"type":"text"},"pad":{"type":"keyword","index":false,"doc_values":false}"#;
        let aliases = format!(r#"{{"{index}-alias":{{}}}}"#);
        create(context, index, at as u32 + 1, (&settings, fields), &aliases).await;
    }
}

/// Makes an index. Each making has a field of its own, by which it is known again.
pub(crate) async fn create(
    context: &Context,
    name: &str,
    shard_count: u32,
    (settings, fields): (&str, &str),
    aliases: &str,
) -> Option<bool> {
    let made = {
        let mut names = context.oracle.names.borrow_mut();
        names.made += 1;
        let made = names.made;
        let register = names.indices.entry(name.to_owned()).or_insert_with(|| Register::new(None));
        register.begin(Some(made));
        made
    };
    let comma = |text: &str| if text.is_empty() { String::new() } else { format!(",{text}") };
    let body = format!(
        r#"{{"settings":{{"index.number_of_shards":{shard_count}{}}},
        "mappings":{{"properties":{{"made{made}":{{"type":"long"}}{}}}}},"aliases":{aliases}}}"#,
        comma(settings),
        comma(fields)
    );
    let body = json::parse(body.as_bytes()).expect("well-formed");
    let done = context.core().create_index(&Everything, name, &body).await;
    context.say(|| format!("make [{name}] as {made} -> {done:?}"));
    let mut names = context.oracle.names.borrow_mut();
    let register = names.indices.get_mut(name).expect("noted above");
    match done {
        Ok(created) => {
            let sound = context.health.get() == crate::context::Health::Sound;
            assert!(created.shards_acknowledged || !sound, "[{name}] has no shards");
            register.done(Some(made));
            names.docs.insert(made, Register::new(None));
            Some(true)
        }
        Err(error) if error.kind == "resource_already_exists_exception" => {
            register.refused();
            let exists = register.possible.iter().any(Option::is_some);
            assert!(exists, "[{name}] is there and nobody made it");
            Some(false)
        }
        Err(error) => {
            if context.judge(&format!("make [{name}]"), &error) {
                register.refused();
            }
            None
        }
    }
}

fn passing(context: &Context) -> String {
    format!("passing{}", context.below(PASSING))
}

async fn make(context: &Context) {
    create(context, &passing(context), 1, ("", ""), "{}").await;
}

async fn remove(context: &Context) {
    remove_named(context, &passing(context)).await;
}

/// Takes an index away that [`create`] may have made.
pub(crate) async fn remove_named(context: &Context, name: &str) {
    {
        let mut names = context.oracle.names.borrow_mut();
        let Some(register) = names.indices.get_mut(name) else { return };
        register.begin(None);
    }
    let done = context.core().delete_index(&Everything, name, IndicesOptions::default()).await;
    context.say(|| format!("remove [{name}] -> {done:?}"));
    let mut names = context.oracle.names.borrow_mut();
    let register = names.indices.get_mut(name).expect("looked at above");
    match done {
        Ok(()) => register.done(None),
        Err(error) if error.kind == "index_not_found_exception" => {
            assert!(register.possible.contains(&None), "[{name}] is gone and nobody removed it");
            register.done(None);
        }
        Err(error) => {
            if context.judge(&format!("remove [{name}]"), &error) {
                register.refused();
            }
        }
    }
}

/// Writes and reads the one document of a passing index.
async fn use_passing(context: &Context) {
    let name = passing(context);
    let made = {
        let names = context.oracle.names.borrow();
        match names.indices.get(&name).and_then(Register::sure) {
            Some(Some(made)) => *made,
            _ => return,
        }
    };
    if context.one_in(2) {
        let tag = context.oracle.history.tag();
        let register = |change: &dyn Fn(&mut Register<Option<u64>>)| {
            let mut names = context.oracle.names.borrow_mut();
            change(names.docs.entry(made).or_insert_with(|| Register::new(None)));
        };
        register(&|register| register.begin(Some(tag)));
        let item = WriteItem {
            source: Bytes::from(format!(r#"{{"tag":{tag}}}"#).into_bytes()),
            ..WriteItem::new(WriteAction::Index, name.clone(), "only")
        };
        match context.core().write(&Everything, item, Refresh::No).await {
            Ok(_) => register(&|register| register.done(Some(tag))),
            Err(error) => {
                if context.judge(&format!("write to [{name}]"), &error) {
                    register(&|register| register.refused());
                }
            }
        }
    }
    read_passing(context, &name, made, false).await;
}

async fn read_passing(context: &Context, name: &str, made: u64, is_start: bool) {
    let request =
        GetRequest { index: name.to_owned(), id: "only".to_owned(), ..GetRequest::default() };
    match context.core().get(&Everything, &request).await {
        Ok(reply) => {
            let source = reply.found.and_then(|found| found.source);
            let tag = source.and_then(|source| {
                json::parse(&source).expect("it is JSON").get("tag").and_then(Value::as_u64)
            });
            context.say(|| format!("the document of [{name}] -> {tag:?}"));
            let mut names = context.oracle.names.borrow_mut();
            if let Some(register) = names.docs.get_mut(&made) {
                register.check(&format!("the document of [{name}]"), tag, is_start);
            }
        }
        Err(error) => {
            context.judge(&format!("get from [{name}]"), &error);
        }
    }
}

async fn add_field(context: &Context) {
    let index = INDICES[context.below(2) as usize];
    let field = format!("f{}", context.below(6));
    let body = format!(r#"{{"properties":{{"{field}":{{"type":"keyword"}}}}}}"#);
    let body = json::parse(body.as_bytes()).expect("well-formed");
    let options = IndicesOptions::default();
    let done = context.core().put_mapping(&Everything, index, options, false, body).await;
    context.say(|| format!("field [{field}] of [{index}] -> {done:?}"));
    match done {
        Ok(()) => {
            context.oracle.fields.borrow_mut().insert((index.to_owned(), field));
        }
        Err(error) => {
            context.judge(&format!("field [{field}] of [{index}]"), &error);
        }
    }
}

/// Several changes of the state, close to each other: while the first is on its way, those that follow
/// make a batch of their own, which may land before it.
async fn move_many(context: &Context) {
    let moves = (0..BURST).map(|at| {
        Box::pin(async move {
            let pause = if at == 0 { 0 } else { context.below(1_500) };
            node::sleep(&context.env, Duration::from_micros(pause)).await;
            move_alias(context, &format!("burst{at}")).await;
        })
    });
    join_all(moves.collect()).await;
}

async fn move_alias(context: &Context, alias: &str) {
    let alias = alias.to_owned();
    let target = match context.below(3) {
        2 => None,
        at => Some(INDICES[at as usize].to_owned()),
    };
    {
        let mut names = context.oracle.names.borrow_mut();
        let register = names.aliases.entry(alias.clone()).or_insert_with(|| Register::new(None));
        register.begin(target.clone());
    }
    let mut requests = vec![AliasRequest {
        change: AliasChange::Remove { must_exist: Some(false) },
        indices: INDICES.iter().map(|&index| index.to_owned()).collect(),
        aliases: vec![alias.clone()],
    }];
    if let Some(target) = &target {
        requests.push(AliasRequest {
            change: AliasChange::Add { alias: Box::default(), must_exist: false },
            indices: vec![target.clone()],
            aliases: vec![alias.clone()],
        });
    }
    let done = context.core().update_aliases(&Everything, &requests).await;
    context.say(|| format!("alias [{alias}] to {target:?} -> {done:?}"));
    let mut names = context.oracle.names.borrow_mut();
    let register = names.aliases.get_mut(&alias).expect("noted above");
    match done {
        Ok(_) => register.done(target),
        // Nothing is taken away where nothing stands.
        Err(error) if error.kind == "aliases_not_found_exception" => register.refused(),
        Err(error) => {
            if context.judge(&format!("alias [{alias}]"), &error) {
                register.refused();
            }
        }
    }
}

/// Two make the same index at the same time: one of them does.
async fn race_to_make(context: &Rc<Context>) {
    let name = {
        let mut names = context.oracle.names.borrow_mut();
        names.made += 1;
        format!("race{}", names.made)
    };
    let body = json::parse(br#"{"settings":{"index.number_of_shards":1}}"#).expect("well-formed");
    let racers: Vec<_> = (0..2)
        .map(|_| {
            let (reply, answer) = env::reply::channel();
            let (racer, name, body) = (Rc::clone(context), name.clone(), body.clone());
            context.env.spawn().spawn(async move {
                reply.send(racer.core().create_index(&Everything, &name, &body).await);
            });
            answer
        })
        .collect();
    let mut wins = 0;
    let mut is_sure = true;
    for racer in racers {
        match racer.await.expect("the racer answers") {
            Ok(_) => wins += 1,
            Err(error) if error.kind == "resource_already_exists_exception" => {}
            Err(error) => {
                context.judge(&format!("race for [{name}]"), &error);
                is_sure = false;
            }
        }
    }
    context.say(|| format!("race for [{name}] -> {wins} won"));
    assert!(wins <= 1, "[{name}] was made {wins} times");
    assert!(wins == 1 || !is_sure, "[{name}] was made by nobody");
    if let Err(error) =
        context.core().delete_index(&Everything, &name, IndicesOptions::default()).await
        && error.status != 404
    {
        context.judge(&format!("remove [{name}]"), &error);
    }
}

/// Holds the published state against what may stand.
pub fn look(context: &Context, is_start: bool) {
    let state = context.node.cores[0].state();
    let mut names = context.oracle.names.borrow_mut();
    let Names { indices, aliases, made, .. } = &mut *names;
    for (name, register) in indices {
        let found = state.index(name).map(|index| {
            let known =
                (1..=*made).find(|made| index.mapping.field(&format!("made{made}")).is_some());
            known.unwrap_or_else(|| panic!("[{name}] has no field of its making"))
        });
        register.check(&format!("index [{name}]"), found, is_start);
    }
    for (alias, register) in aliases {
        let mut found: Vec<&str> = INDICES
            .into_iter()
            .filter(|index| {
                state.index(index).is_some_and(|index| index.aliases.contains_key(alias.as_str()))
            })
            .collect();
        assert!(found.len() <= 1, "alias [{alias}] leads to {found:?}: a change was torn");
        let found = found.pop().map(str::to_owned);
        register.check(&format!("alias [{alias}]"), found, is_start);
    }
    for (index, field) in context.oracle.fields.borrow().iter() {
        let mapping = state.index(index).map(|index| &index.mapping);
        assert!(
            mapping.is_some_and(|mapping| mapping.field(field).is_some()),
            "field [{field}] of [{index}] was promised and is not in the mapping"
        );
    }
}

/// Documents of passing indices, and folders: nothing is left of what was deleted.
pub async fn look_closely(context: &Context, is_start: bool) {
    let sure: Vec<(String, u64)> = {
        let names = context.oracle.names.borrow();
        let passing = names.indices.iter().filter(|(name, _)| name.starts_with("passing"));
        passing.filter_map(|(name, register)| Some((name.clone(), (*register.sure()?)?))).collect()
    };
    for (name, made) in sure {
        read_passing(context, &name, made, is_start).await;
    }
    let state = context.node.cores[0].state();
    for folder in context.sim.names("/data/indices") {
        let known =
            state.indices.values().any(|index| cluster::state::uuid_text(index.uuid) == folder);
        assert!(known || !is_start, "the folder [{folder}] belongs to no index");
    }
}
