//! A core answers: its mailbox, the shards whose home it is.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::SeqNo;
use base::hash::Map;
use base::planted::{Fault, planted};
use env::budget::Holder;
use env::{Clock, Env, Pace, Random, Spawn};
use shard::{Setup, Shard};

use super::call::{
    Called, Down, Message, NotOpened, OpenCall, ShardCall, SliceCall, Turn, WriteAnswer,
};
use super::room::FULL_DISK_PAUSE;
use crate::core::Core;
use crate::index::block::{self, Level};
use crate::index::settings::shard_config;
use crate::node::Inbox;
use crate::ops::Refresh;
use crate::ops::slices::Until;

/// A shard of this core.
pub(crate) enum Slot<E: Env> {
    /// Opens or replays.
    Opening,
    /// Serves.
    Open(Shard<E>),
    /// Serves no more; why.
    Failed(Arc<str>),
}

/// The shards whose home a core is.
pub(crate) type Shards<E> = Map<base::ShardId, Slot<E>>;

/// Answers messages until every sender is gone.
pub(crate) async fn serve<E: Env>(core: Rc<Core<E>>, inbox: Inbox) {
    let mut receiver = inbox.0;
    let mut messages = Vec::new();
    while receiver.receive(&mut messages).await {
        for message in messages.drain(..) {
            let core = Rc::clone(&core);
            match message {
                Message::Shard { shard, call, sent } => {
                    core.meter().queue.add(core.env.clock().monotonic().saturating_sub(sent));
                    let spawner = core.env.clone();
                    spawner.spawn().spawn(async move { answer(&core, shard, call).await });
                }
                Message::Open(call) => {
                    let spawner = core.env.clone();
                    spawner.spawn().spawn(async move { open(&core, *call).await });
                }
                Message::Close { shard, remove, reply } => {
                    let spawner = core.env.clone();
                    spawner.spawn().spawn(async move {
                        close(&core, shard, remove).await;
                        reply.send(());
                    });
                }
                Message::Reopen(shard) => {
                    let keeper = core.keeper.borrow().clone();
                    if let Some(keeper) = keeper {
                        let spawner = core.env.clone();
                        spawner.spawn().spawn(async move { keeper.reopen(shard).await });
                    }
                }
                Message::Damaged { shard, why } => {
                    let keeper = core.keeper.borrow().clone();
                    if let Some(keeper) = keeper {
                        keeper.fail_shard(shard, &why);
                    }
                }
                Message::LookAgain { shards, reply } => {
                    let keeper = core.keeper.borrow().clone();
                    if let Some(keeper) = keeper {
                        let spawner = core.env.clone();
                        spawner.spawn().spawn(async move {
                            keeper.look_again(shards).await;
                            reply.send(());
                        });
                    }
                }
                Message::Change { command, reply } => {
                    let spawner = core.env.clone();
                    spawner.spawn().spawn(async move {
                        reply.send(core.change_here(command).await);
                    });
                }
                Message::Roll { target, reply } => core.give_turn_to_roll(target, reply),
                Message::Stats { reply } => {
                    let spawner = core.env.clone();
                    spawner.spawn().spawn(async move { reply.send(core.own_stats().await) });
                }
                Message::Task(call) => core.answer_tasks(call),
                Message::Context(call) => core.answer_contexts(*call),
                Message::Slices(call) => {
                    let turns = core.turns.clone();
                    let SliceCall { slices, deadline, lane, reply } = *call;
                    turns.run(lane, async move {
                        let is_wanted = || reply.is_wanted();
                        let until = Until { deadline, is_wanted: &is_wanted };
                        let found = core.run_slices(slices, until).await;
                        reply.send(found);
                    });
                }
                Message::Stop { reply } => {
                    let spawner = core.env.clone();
                    spawner.spawn().spawn(async move {
                        stop(&core).await;
                        reply.send(());
                    });
                }
            }
        }
    }
}

/// Opens a shard and tells the keeper.
async fn open<E: Env>(core: &Rc<Core<E>>, call: OpenCall) {
    core.shards.borrow_mut().insert(call.shard, Slot::Opening);
    let setup = Setup {
        id: call.shard,
        dir: core.shared.shard_dir(call.shard),
        config: call.config,
        mapping: call.mapping,
        lease: core.lease.of(Holder::Writes),
        reserve: core.reserve.borrow().clone(),
    };
    let opened = if call.create {
        Shard::create(&core.env, setup).await
    } else {
        Shard::open(&core.env, setup).await
    };
    match opened {
        Ok(shard) => {
            let reader = shard.reader();
            let (watching, watched) = (Rc::clone(core), shard.clone());
            core.env.spawn().spawn(async move { watch(&watching, watched).await });
            core.shards.borrow_mut().insert(call.shard, Slot::Open(shard));
            call.reply.send(Ok(reader));
        }
        Err(error) => {
            let why: Arc<str> = error.to_string().into();
            core.shards.borrow_mut().insert(call.shard, Slot::Failed(Arc::clone(&why)));
            call.reply.send(Err(NotOpened { why, is_full_disk: error.is_full_disk() }));
        }
    }
}

/// Waits for the end of a shard's log. One that failed ends the process; one that had no room is
/// opened again when there is some.
async fn watch<E: Env>(core: &Rc<Core<E>>, shard: Shard<E>) {
    let Some(error) = shard.log_failed().await else { return };
    let id = shard.id();
    drop(shard);
    match &error {
        shard::Error::Log(why) => return core.fail(why.clone()),
        error if !error.is_full_disk() => return core.fail(error.to_string()),
        _ => {}
    }
    core.warn(&format!("shard [{}] takes no writes: {error}", id.number));
    while !core.has_room().await {
        core.env.clock().sleep(FULL_DISK_PAUSE).await;
        if !core.shards.borrow().contains_key(&id) {
            return;
        }
    }
    core.shared.core(crate::core::KEEPER).send_reply(Message::Reopen(id));
}

async fn close<E: Env>(core: &Rc<Core<E>>, shard: base::ShardId, remove: bool) {
    let slot = core.shards.borrow_mut().remove(&shard);
    core.groups.borrow_mut().remove(&shard);
    let Some(Slot::Open(open)) = slot else { return };
    core.past.borrow_mut().begin(&open);
    let closed = if remove { open.remove().await } else { open.close().await };
    if let Err(error) = closed {
        core.warn(&format!("shard [{}] closed with a failure: {error}", shard.number));
    }
    core.past.borrow_mut().end(&open, core.now_ms());
}

async fn stop<E: Env>(core: &Rc<Core<E>>) {
    let shards: Vec<base::ShardId> = core.shards.borrow().keys().copied().collect();
    for shard in shards {
        close(core, shard, false).await;
    }
    core.reserve.borrow_mut().take();
}

/// The open shard, or why there is none.
fn find<E: Env>(core: &Core<E>, shard: base::ShardId) -> Called<Shard<E>> {
    match core.shards.borrow().get(&shard) {
        Some(Slot::Open(open)) => Ok(open.clone()),
        Some(Slot::Opening) => Err(Down::Opening),
        Some(Slot::Failed(why)) => Err(Down::Failed(Arc::clone(why))),
        None => Err(Down::Gone),
    }
}

/// Blocks are looked at where a request begins; one that came since then counts too, so that
/// nothing is written once a block was answered. What is copied into a new index passes.
fn still_allowed<E: Env>(core: &Core<E>, shard: base::ShardId) -> Called<()> {
    let state = core.state();
    match state.index_by_uuid(shard.index) {
        Some(index) if !index.copying => block::check(index, Level::Write)
            .map_err(|error| Down::Blocked { status: error.status, reason: error.reason.into() }),
        _ => Ok(()),
    }
}

/// Does what is asked of a shard of this core. One that met damage is a failed one from then on, for
/// all who look at the node: what it was asked has failed, and a shard that is shown as started is
/// thought to be whole.
pub(crate) async fn answer<E: Env>(core: &Core<E>, id: base::ShardId, call: ShardCall) {
    carry_out(core, id, call).await;
    let Ok(shard) = find(core, id) else { return };
    if let Some(error @ shard::Error::Corrupt { .. }) = shard.failure() {
        let why = error.to_string().into();
        core.shared.core(crate::core::KEEPER).send_reply(Message::Damaged { shard: id, why });
    }
}

/// Makes visible what was written up to this, as it was asked for. Was a refresh forced for it?
async fn show<E: Env>(shard: &Shard<E>, refresh: Refresh, seq_no: SeqNo) -> bool {
    match refresh {
        Refresh::No => false,
        Refresh::Now => shard.refresh().await.is_ok(),
        Refresh::Wait => shard.wait_for(seq_no).await.unwrap_or(false),
    }
}

async fn carry_out<E: Env>(core: &Core<E>, id: base::ShardId, call: ShardCall) {
    let found = find(core, id);
    let failed_told = |error| told(core, failed(error));
    match call {
        ShardCall::Write { batch, mapping, refresh, turn, reply } => {
            let shard = match found {
                Ok(shard) => shard,
                Err(down) => return reply.send(Err(down)),
            };
            if let Err(down) = still_allowed(core, id) {
                return reply.send(Err(down));
            }
            shard.set_mapping(mapping);
            let (begun, bytes) = (core.env.clock().monotonic(), source_bytes(&batch));
            let reader = shard.reader();
            if turn == Turn::First {
                reader.uses().bulk.begun.add(1);
            }
            let answers = shard.write(batch).await;
            let took = core.env.clock().monotonic().saturating_sub(begun);
            match turn {
                Turn::First => {
                    reader.uses().bulk_bytes.add(bytes);
                    reader.uses().bulk.ended.add(took);
                }
                Turn::Later => reader.uses().bulk.ended.lengthen(took),
            }
            let forced_refresh = match WriteAnswer::seq_no_max(&answers) {
                Some(seq_no) => show(&shard, refresh, seq_no).await,
                None => false,
            };
            reply.send(Ok(WriteAnswer { answers, forced_refresh }));
        }
        ShardCall::Show { seq_no, refresh, reply } => match found {
            Ok(shard) => reply.send(Ok(show(&shard, refresh, seq_no).await)),
            Err(down) => reply.send(Err(down)),
        },
        ShardCall::Get { id: document, realtime, reading, refresh, reply } => {
            let answer = async {
                let shard = found?;
                if refresh {
                    shard.refresh().await.map_err(failed_told)?;
                }
                shard.get_by(&document, realtime, reading).await.map_err(failed_told)
            };
            reply.send(answer.await);
        }
        ShardCall::Refresh { reply } => {
            let answer = async { found?.refresh().await.map(drop).map_err(failed_told) };
            reply.send(answer.await);
        }
        ShardCall::Flush { reply } => {
            let answer = async { found?.flush().await.map_err(failed_told) };
            reply.send(answer.await);
        }
        ShardCall::ForceMerge { aim, flush, reply } => {
            let answer = async {
                let shard = found?;
                shard.merge_to(aim).await.map_err(failed_told)?;
                if flush { shard.flush().await.map_err(failed_told) } else { Ok(()) }
            };
            reply.send(answer.await);
        }
        ShardCall::Stats { reply } => {
            reply.send(found.map(|shard| shard.stats()));
        }
        ShardCall::Scrub { rate, reply } => {
            let read = Arc::clone(&core.shared.scrubbing.read_bytes);
            let pace = Pace::new(&core.env, rate, read);
            let answer = async { found?.scrub(&pace).await.map_err(failed) };
            reply.send(answer.await);
        }
        ShardCall::Segments { reply } => {
            reply.send(found.map(|shard| shard.segments()));
        }
        ShardCall::CountGroups { names, part, took, reply } => {
            if found.is_ok() {
                core.note_groups(id, &names, part, took);
            }
            reply.send(found.map(drop));
        }
        ShardCall::Groups { reply } => {
            let groups = core.groups.borrow().get(&id).cloned().unwrap_or_default();
            reply.send(found.map(|_| groups));
        }
        ShardCall::Configure { reply } => {
            let state = core.state();
            if planted(Fault::OldSettingsLast) {
                let pause = core.env.random().next_u64() % 20;
                core.env.clock().sleep(Duration::from_millis(pause)).await;
            }
            let index = state.index_by_uuid(id.index);
            reply.send(found.map(|shard| {
                if let Some(index) = index {
                    shard.set_config(shard_config(&index.settings));
                    shard.set_mapping(Arc::clone(&index.mapping));
                }
            }));
        }
    }
}

/// Bytes of the sources in a batch.
fn source_bytes(batch: &shard::WriteBatch) -> u64 {
    let bytes = |op: &shard::Operation| match &op.kind {
        shard::Kind::Index { source, .. } => source.len() as u64,
        _ => 0,
    };
    batch.ops.iter().map(bytes).sum()
}

fn failed(error: shard::Error) -> Down {
    match error {
        shard::Error::Closed => Down::Gone,
        shard::Error::Disk(error) if error.kind == env::ErrorKind::Busy => {
            Down::Busy(error.message.into())
        }
        lacking @ shard::Error::NoMemory { .. } => Down::Busy(lacking.to_string().into()),
        other => Down::Broke(other.to_string().into()),
    }
}

/// The same in words for callers; the round through the store tells its log the whole.
fn told<E: Env>(core: &Core<E>, down: Down) -> Down {
    match down {
        Down::Broke(why) => Down::Broke(core.shared.told(&why).into()),
        other => other,
    }
}
