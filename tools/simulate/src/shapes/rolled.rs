//! An alias whose next index takes the writes, and a template that shapes indices.

use cluster::{Index, State, TemplateKind};
use engine::Everything;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::rollover::RolloverRequest;
use engine::ops::{IndicesOptions, Refresh};
use env::Bytes;

use super::{Work, at_once};
use crate::context::Context;
use crate::indices::Register;

const ALIAS: &str = "rolled";
const TEMPLATE: &str = "shape";
/// Indices of the alias that are kept.
const KEPT: u64 = 2;

/// All that is known.
pub(super) struct Rolled {
    /// The number of the index that takes the writes; 0: there is none.
    newest: Register<u64>,
    /// Which text of the template stands; 0: none.
    template: Register<u64>,
    /// Indices made for a first document so far.
    fresh: u64,
}

impl Default for Rolled {
    fn default() -> Self {
        Self { newest: Register::new(0), template: Register::new(0), fresh: 0 }
    }
}

impl Rolled {
    /// Holds the state against what may stand.
    pub(super) fn look(&mut self, state: &State, is_start: bool) {
        self.newest.check("the newest of the alias", newest(state), is_start);
        self.template.check("the template", template_of(state), is_start);
    }
}

fn with<T>(context: &Context, work: impl FnOnce(&mut Rolled) -> T) -> T {
    work(&mut context.oracle.shapes.borrow_mut().rolled)
}

fn name(number: u64) -> String {
    format!("{ALIAS}-{number:06}")
}

fn newest(state: &State) -> u64 {
    let indices = state.aliases.get(ALIAS).map(|indices| &**indices).unwrap_or_default();
    let writes = |index: &&std::sync::Arc<str>| {
        let alias = state.index(index).and_then(|index| index.aliases.get(ALIAS));
        alias.is_some_and(|alias| alias.is_write_index == Some(true))
    };
    let writing: Vec<&str> = indices.iter().filter(writes).map(|name| &**name).collect();
    assert!(writing.len() <= 1, "[{ALIAS}] writes to {writing:?}: a rollover was torn");
    let number = |name: &str| name.rsplit('-').next()?.parse().ok();
    writing.first().map_or(0, |name| number(name).expect("it ends in a number"))
}

/// The marks that are in a template or an index: `g7`.
fn mark(fields: impl Iterator<Item = String>) -> Option<u64> {
    fields.filter_map(|field| field.strip_prefix('g')?.parse().ok()).max()
}

fn template_of(state: &State) -> u64 {
    let Some(template) = state.templates.index.get(TEMPLATE) else { return 0 };
    let mappings = template.template.as_ref().and_then(|part| part.mappings.as_ref());
    let fields = mappings.and_then(|it| it.get("properties")).and_then(|it| it.as_object());
    let fields = fields.into_iter().flat_map(|fields| fields.keys()).map(str::to_owned);
    mark(fields).expect("each text has a mark")
}

fn shape_of(index: &Index, texts: u64) -> u64 {
    let has = |text: &u64| index.mapping.field(&format!("g{text}")).is_some();
    (1..=texts).rev().find(has).unwrap_or(0)
}

/// Sets the template: once, or twice at one moment, perhaps while an index is made.
pub(super) async fn template(context: &Context) {
    let texts: Vec<u64> = (0..1 + context.below(2)).map(|_| context.oracle.history.tag()).collect();
    texts.iter().for_each(|&text| with(context, |rolled| rolled.template.begin(text)));
    let mut works: Vec<Work<'_, bool>> =
        texts.iter().map(|&text| Box::pin(put_template(context, text)) as _).collect();
    let makes = context.one_in(2);
    if makes {
        works.push(Box::pin(async move {
            make_fresh(context).await;
            true
        }));
    }
    if at_once(context, works).await.into_iter().all(|done| done) {
        let found = template_of(&context.node.cores[0].state());
        with(context, |rolled| {
            rolled.template.one_of(texts);
            rolled.template.check("the template", found, true);
        });
    }
    if !makes {
        make_fresh(context).await;
    }
}

async fn put_template(context: &Context, text: u64) -> bool {
    let body = format!(
        r#"{{"index_patterns":["fresh*","{ALIAS}-*"],"template":{{"mappings":{{"properties":{{"g{text}":{{"type":"long"}}}}}}}}}}"#
    );
    let body = json::parse(body.as_bytes()).expect("well-formed");
    let kind = TemplateKind::Index;
    let done = context.core().put_template(&Everything, kind, TEMPLATE, &body, false).await;
    context.say(|| format!("template {text} -> {done:?}"));
    match done {
        Ok(_) => true,
        Err(error) => {
            if context.judge("the template", &error) {
                with(context, |rolled| rolled.template.not(&text));
            }
            false
        }
    }
}

/// Makes an index by a first document, and takes it away; its shape is that of the template.
async fn make_fresh(context: &Context) {
    let name = with(context, |rolled| {
        rolled.fresh += 1;
        format!("fresh{}", rolled.fresh)
    });
    let before = with(context, |rolled| rolled.template.clone());
    let done = write(context, &name).await;
    check_shape(context, &name, &before);
    if done.is_some() {
        let options = IndicesOptions::default();
        if let Err(error) = context.core().delete_index(&Everything, &name, options).await {
            context.judge(&format!("remove [{name}]"), &error);
        }
    }
}

/// Writes a document; the index that took it.
async fn write(context: &Context, target: &str) -> Option<String> {
    let item = WriteItem {
        source: Bytes::from(br#"{"n":1}"#.to_vec()),
        ..WriteItem::new(WriteAction::Index, target, "first")
    };
    let done = context.core().write(&Everything, item, Refresh::No).await;
    context.say(|| format!("write to [{target}] -> {done:?}"));
    match done {
        Ok(written) => Some(written.index),
        Err(error) => {
            context.judge(&format!("write to [{target}]"), &error);
            None
        }
    }
}

/// An index that was made just now has the shape of a template that may have stood since.
fn check_shape(context: &Context, name: &str, before: &Register<u64>) {
    let state = context.node.cores[0].state();
    let Some(index) = state.index(name) else { return };
    let shape = shape_of(index, context.oracle.history.last_tag());
    with(context, |rolled| {
        let may_be = before.may_be(&shape) || rolled.template.may_be(&shape);
        assert!(may_be, "[{name}] is shaped by text {shape}, not {:?}", rolled.template);
    });
}

/// Rolls the alias over: once, or twice at one moment; the newest index takes the writes.
pub(super) async fn roll(context: &Context) {
    if newest(&context.node.cores[0].state()) == 0 {
        with(context, |rolled| rolled.newest.begin(1));
        let body = format!(r#"{{"aliases":{{"{ALIAS}":{{"is_write_index":true}}}}}}"#);
        let body = json::parse(body.as_bytes()).expect("well-formed");
        let done = context.core().create_index(&Everything, &name(1), &body).await;
        context.say(|| format!("the first of [{ALIAS}] -> {done:?}"));
        match done {
            Ok(_) => with(context, |rolled| rolled.newest.done(1)),
            Err(error) => {
                if context.judge(&format!("the first of [{ALIAS}]"), &error) {
                    with(context, |rolled| rolled.newest.not(&1));
                }
                return;
            }
        }
    }
    let from = newest(&context.node.cores[0].state());
    let template = with(context, |rolled| rolled.template.clone());
    let rolls = 1 + context.below(2);
    (1..=rolls).for_each(|more| with(context, |rolled| rolled.newest.begin(from + more)));
    let works: Vec<Work<'_, Option<String>>> =
        (0..rolls).map(|_| Box::pin(roll_once(context)) as _).collect();
    let news = at_once(context, works).await;
    let found = newest(&context.node.cores[0].state());
    if news.iter().all(Option::is_some) {
        let mut news: Vec<String> = news.into_iter().flatten().collect();
        news.sort();
        let expected: Vec<String> = (1..=rolls).map(|more| name(from + more)).collect();
        assert_eq!(news, expected, "rollovers of one moment, from {from}");
        with(context, |rolled| rolled.newest.done(from + rolls));
    }
    with(context, |rolled| rolled.newest.check("the newest of the alias", found, false));
    (from + 1..=found).for_each(|number| check_shape(context, &name(number), &template));
    if let Some(index) = write(context, ALIAS).await {
        assert_eq!(index, name(found), "what took a write to [{ALIAS}]");
    }
    for old in 1..=found.saturating_sub(KEPT) {
        let state = context.node.cores[0].state();
        let Some(index) = state.index(&name(old)) else { continue };
        let done =
            context.core().delete_index(&Everything, &index.name, IndicesOptions::default()).await;
        if let Err(error) = done {
            context.judge(&format!("remove [{}]", name(old)), &error);
        }
    }
}

async fn roll_once(context: &Context) -> Option<String> {
    let request = RolloverRequest {
        target: ALIAS.to_owned(),
        body: json::Value::Object(json::Object::new()),
        ..RolloverRequest::default()
    };
    let done = context.core().rollover(&Everything, &request).await;
    context.say(|| format!("rollover -> {done:?}"));
    match done {
        Ok(rolled) => {
            assert!(rolled.rolled_over, "{rolled:?}");
            Some(rolled.new_index)
        }
        Err(error) => {
            context.judge("rollover", &error);
            None
        }
    }
}
