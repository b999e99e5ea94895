//! One who changes what indices are: settings, open or closed, copies of another number of shards,
//! the next index of an alias, templates; often two at one moment. And what must stand of it.
//!
//! What is asked
//! 1. What a write may lose is what the settings say: nothing, where `request` was acknowledged (`doors`).
//! 2. A closed index refuses, an open one serves, and both keep their documents (`doors`).
//! 3. A copy that was acknowledged holds each document of its source, and lasts; one that was not is
//!    whole, or not there (`copies`).
//! 4. Of rollovers each makes one index, and the newest takes the writes; an index is shaped by the
//!    template of its moment (`rolled`). One beside another change of its alias or data stream is judged by
//!    what that left (`passed`).

mod copies;
mod doors;
mod passed;
mod rolled;

use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use env::join_all;

use crate::context::{Context, Health};
use crate::node;

/// All that is known.
#[derive(Default)]
pub struct Shapes {
    doors: doors::Doors,
    copies: copies::Copies,
    rolled: rolled::Rolled,
}

/// The longest time between changes of one moment, in microseconds.
const MOMENT_US: u64 = 3_000;

/// Work of one moment.
type Work<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The one who tends shapes, until told to end.
pub async fn keeper(context: Rc<Context>) {
    while !context.stopping.get() {
        match context.below(13) {
            0..=3 => doors::settle(&context).await,
            4 | 5 => doors::turn(&context).await,
            6 => doors::remove_while_it_opens(&context).await,
            7 => doors::write_some(&context).await,
            8 | 9 => copies::copy(&context).await,
            10 => rolled::roll(&context).await,
            11 => passed::pass_on(&context).await,
            _ => rolled::template(&context).await,
        }
        context.rest().await;
        look(&context, false);
    }
    context.active.set(context.active.get() - 1);
}

/// Holds the published state against what may stand.
pub fn look(context: &Context, is_start: bool) {
    let state = context.node.cores[0].state();
    let mut shapes = context.oracle.shapes.borrow_mut();
    shapes.doors.look(&state, is_start);
    shapes.copies.look(&state, is_start);
    shapes.rolled.look(&state, is_start);
}

/// Documents of all of them; false where one could not be read.
pub async fn look_closely(context: &Context, is_start: bool) -> bool {
    let doors = doors::look_closely(context, is_start).await;
    let copies = copies::look_closely(context).await;
    doors && copies
}

/// Does all of it at one moment; what each comes to.
async fn at_once<'a, T>(context: &'a Context, works: Vec<Work<'a, T>>) -> Vec<T> {
    let begin = |work: Work<'a, T>| {
        let pause = Duration::from_micros(context.below(MOMENT_US));
        Box::pin(async move {
            node::sleep(&context.env, pause).await;
            work.await
        })
    };
    join_all(works.into_iter().map(begin).collect()).await
}

/// Whether a refusal says that an index is closed.
fn says_closed(error: &engine::Error) -> bool {
    error.status == 400 && error.kind == "index_closed_exception"
}

/// Whether something may be half done: only where the disk does not do what it is told.
fn may_fail(context: &Context) -> bool {
    context.health.get() != Health::Sound
}
