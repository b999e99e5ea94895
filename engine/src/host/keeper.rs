//! The keeper: owns the cluster state on core 0, and makes the shards follow it.
//!
//! Always true
//! 1. A change is answered after it is durable, published to all cores, and acted upon: shards of a
//!    new index are open (or failed), those of a deleted one closed and their folder removed.
//! 2. A folder is removed only after the state that names its index no more is durable.
//! 3. The shards of a new index are made before the state names it: from then on a missing manifest
//!    is a failure, never an empty shard. What a crash leaves of an index that was never named is
//!    empty, and removed at the next start (`folders`).
//! 4. What is known to be wrong with a shard stays known while its index is closed: its entry stays in
//!    the directory until the index is opened, which tries again, or is deleted.
//! 5. What gives room back finds some on a full disk: other changes leave it to that, and a file is kept back.
//! 6. A shard is opened, or closed, or its folder removed, by one at a time, in the order in which that was
//!    decided: changes that come meanwhile wait ([`Lines`]).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use base::hash::{Map, Set};
use base::planted::{Fault, planted};
use cluster::{Command, Index, Outcome, State, Urgency};
use consensus::{Replicated, Reserve, Setup};
use env::queue::{Place, Queue};
use env::{Clock, Disk, Env, ErrorKind, Pace, Spawn, reply};

use super::call::{Message, NotOpened, OpenCall, ShardCall};
use super::folders;
use super::held::Held;
use super::line::Lines;
use super::room::{self, FULL_DISK_PAUSE};
use super::scrub;
use super::tried::{Tried, Unfit};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::index::route::home_of;
use crate::index::settings::shard_config;
use crate::node::{Directory, Entry, Failure, Shared};

/// The file that is kept back for a full disk, in the folder of the state: for what gives room back.
const RESERVE: &str = "reserve";
const RESERVE_BYTES: u64 = 2 << 20;

/// See the head of the file.
pub(crate) struct Keeper<E: Env> {
    pub(super) env: E,
    pub(super) shared: Arc<Shared>,
    pub(super) value: Replicated<E, State>,
    reserve: Reserve<E>,
    pub(super) directory: RefCell<Directory>,
    /// Indices whose shards are there and whose name is not yet (rule 3).
    coming: RefCell<Set<[u8; 16]>>,
    /// Failed shards of closed indices (rule 4).
    lost: RefCell<Set<ShardId>>,
    /// Shards that were not opened for want of room on the disk.
    full: RefCell<Set<ShardId>>,
    /// Who opens or closes which shard (rule 6).
    pub(super) lines: Lines,
    /// Of each shard that is opened, the opening that was decided last: what an earlier one comes to is
    /// not told.
    openings: RefCell<Map<ShardId, u64>>,
    opening_count: Cell<u64>,
    pub(super) warn: fn(&str),
    pub(super) held: Held,
    /// Changes that take long, one at a time.
    long_changes: Queue,
}

impl<E: Env> Keeper<E> {
    /// Whether the disk has no room to keep any back for changes of the state: then only those that give room
    /// back are taken.
    pub(super) fn is_short_of_room(&self) -> bool {
        self.reserve.is_lacking()
    }

    /// Opens the state, publishes it, and begins to open every shard.
    pub(crate) async fn start(core: &Rc<Core<E>>) -> std::result::Result<(), consensus::Error> {
        let shared = Arc::clone(&core.shared);
        let mut setup = Setup::new(shared.config.data.join("cluster"), "cluster");
        setup.snapshot_after_bytes = shared.config.state_log_bytes;
        let env = core.env.clone();
        let exists = Replicated::<E, State>::exists(&env, &setup).await?;
        if !exists {
            folders::refuse_beside_indices(&env, &shared.config.data).await?;
        }
        env.disk().create_dir(&setup.dir).await?;
        let reserve = Reserve::open(&env, setup.dir.join(RESERVE), RESERVE_BYTES).await?;
        let kept_back = Some(reserve.clone());
        let value: Replicated<E, State> = match exists {
            true => Replicated::open(&env, setup, kept_back).await?,
            false => Replicated::create(&env, setup, kept_back).await?,
        };
        let standing = value.state();
        let weigh = move || cluster::Weight::of(&standing, None);
        let held = Held::of(env.spawn().work_short_or_here(weigh).await, &core.lease);
        if let Some(complaint) = held.complaint() {
            (shared.config.warn)(&complaint);
        }
        let keeper = Rc::new(Self {
            held,
            warn: shared.config.warn,
            shared,
            value,
            reserve,
            env,
            directory: RefCell::default(),
            coming: RefCell::default(),
            lost: RefCell::default(),
            full: RefCell::default(),
            lines: Lines::default(),
            openings: RefCell::default(),
            opening_count: Cell::default(),
            long_changes: Queue::default(),
        });
        let state = keeper.value.state();
        if state.uuid == [0; 16] {
            let created_ms = Some(core.now_ms());
            keeper.propose(Command::Bootstrap { uuid: core.uuid(), created_ms }).await?;
        } else if state.created_ms.is_none() {
            // From before the time was kept; where there is no room for it now, the next start has.
            let created_ms = Some(core.now_ms());
            keeper.propose(Command::Bootstrap { uuid: core.uuid(), created_ms }).await.ok();
        }
        if !state.settings.transient().is_empty() {
            // They last until the cluster stops, and it has.
            let mut all = json::Object::new();
            all.insert("*", json::Value::Null);
            let (persistent, transient) = (json::Value::Null, json::Value::Object(all));
            let rules = cluster::Rules::Now;
            let forget = Command::PutClusterSettings { persistent, transient, rules };
            // No full disk keeps a node from starting: they go as soon as there is room.
            if keeper.value.propose_pressing(forget.clone()).await.is_err_and(|it| it.is_refusal())
            {
                keeper.forget_later(forget);
            }
        }
        keeper.publish_state();
        keeper.remove_orphans().await;
        keeper.remove_unfinished().await?;
        let state = keeper.value.state();
        for index in state.indices.values().filter(|index| !index.open) {
            for number in 0..index.settings.shard_count() {
                keeper.look_at(shard_id(index, number)).await;
            }
        }
        keeper.publish_directory();
        for index in state.indices.values().filter(|index| index.open) {
            keeper.open_index(index, false);
        }
        let (watched, value) = (Rc::clone(core), keeper.value.clone());
        keeper.env.spawn().spawn(async move { watched.fail(value.failed().await.to_string()) });
        *core.keeper.borrow_mut() = Some(keeper);
        room::watch(core);
        scrub::watch(core);
        Ok(())
    }

    /// Every change goes to the log by here, and has its moment where it leaves one behind.
    pub(super) async fn propose(
        &self,
        command: Command,
    ) -> std::result::Result<Outcome, consensus::Error> {
        let command = command.at(self.env.clock().unix_ms());
        match command.urgency() {
            Urgency::Waits => self.value.propose_sparing(command).await,
            Urgency::Careful => self.value.propose_careful(command).await,
            Urgency::Pressing => self.value.propose_pressing(command).await,
        }
    }

    /// Does a change that found no room as soon as there is some.
    fn forget_later(self: &Rc<Self>, change: Command) {
        (self.warn)(
            "transient settings of the cluster, which a start forgets, still count: the disk has no room to forget them",
        );
        let (env, weak) = (self.env.clone(), Rc::downgrade(self));
        self.env.spawn().spawn(async move {
            loop {
                env.clock().sleep(FULL_DISK_PAUSE).await;
                let Some(keeper) = weak.upgrade() else { return };
                match keeper.value.propose_pressing(change.clone()).await {
                    Err(error) if error.is_refusal() => {}
                    _ => return keeper.publish_state(),
                }
            }
        });
    }

    /// Does a change; see rule 1.
    pub(crate) async fn change(self: &Rc<Self>, command: Command) -> Result<Outcome> {
        let changed = self.try_change(command).await;
        if matches!(changed, Ok(Outcome::Refused(_))) {
            // What refused it may be so new that whoever made it has not published it yet. Who is told that
            // an index exists finds it.
            self.publish_state();
        }
        changed
    }

    async fn try_change(self: &Rc<Self>, command: Command) -> Result<Outcome> {
        if let Some(refused) = self.beyond_room(&command) {
            return Ok(Outcome::Refused(refused));
        }
        let is_long = self.value.state().takes_long(&command);
        // What a long one makes beside the state is there once, not for each of those that come together. Whoever
        // makes indices waits for their shards meanwhile, which may change the state themselves.
        let alone = is_long && command.new_indices().is_empty();
        let turn = if alone { Some(self.long_changes.pass().await) } else { None };
        let state = self.value.state();
        let tried = self.tried(&state, command, is_long).await;
        let Tried { command, after, grown, unfit } = match tried {
            Ok(tried) => tried,
            Err(refused) => return Ok(Outcome::Refused(refused)),
        };
        let mut coming: Vec<[u8; 16]> = Vec::new();
        if let Some(after) = &after
            && !command.new_indices().is_empty()
            && let Some(refused) = self.too_many(&state, after)
        {
            return Ok(Outcome::Refused(refused));
        }
        // Taken until the state that the change makes is weighed.
        let _memory = self.held.admit(&command, grown)?;
        match unfit {
            None => {}
            Some(Unfit::Refused(error)) => return Ok(Outcome::Refused(error)),
            Some(Unfit::Failed(error)) => return Err(error),
        }
        let news = command.new_indices();
        if let Some(after) = &after
            && !news.is_empty()
        {
            for index in news.into_iter().filter_map(|new| after.index_by_uuid(new.uuid)) {
                self.coming.borrow_mut().insert(index.uuid);
                coming.push(index.uuid);
                if !planted(Fault::NameBeforeShards) {
                    self.open_index(index, true);
                }
            }
            self.settled().await;
            if let Some(refused) = self.not_made(&coming) {
                self.give_up(coming).await;
                return Err(refused);
            }
        }
        if planted(Fault::RemoveFolderEarly)
            && let Command::DeleteIndices { uuids } = &command
        {
            for uuid in uuids {
                self.remove_folder(*uuid).await;
            }
        }
        let before = self.value.state();
        let outcome = self.propose(command).await;
        if planted(Fault::NameBeforeShards) {
            let state = self.value.state();
            let late = coming.iter().filter_map(|uuid| state.index_by_uuid(*uuid));
            late.for_each(|index| self.open_index(index, true));
        }
        for uuid in coming {
            self.coming.borrow_mut().remove(&uuid);
        }
        self.publish_state();
        self.weigh(is_long).await;
        drop(turn);
        self.share_mappings(&before);
        let after = self.follow().await;
        self.remove_deleted(&before, &after).await;
        outcome.map_err(|error| {
            let why = self.shared.told(&error.to_string());
            if error.is_refusal() {
                Error::rejected(format!("the cluster state takes no change now: {why}"))
            } else {
                Error::new(503, "master_not_discovered_exception", why)
            }
        })
    }

    /// Gives the shards of open indices the mappings that are new since `before`: those with which they were
    /// made, or an older one, would be kept beside them until something is written.
    fn share_mappings(&self, before: &State) {
        let state = self.value.state();
        for index in state.indices.values().filter(|index| index.open) {
            let old = before.index(&index.name).map(|old| &old.mapping);
            if old.is_some_and(|old| Arc::ptr_eq(old, &index.mapping)) {
                continue;
            }
            for number in 0..index.settings.shard_count() {
                let shard = shard_id(index, number);
                let (reply, _nobody_waits) = reply::channel();
                let call = ShardCall::Configure { reply };
                let home = home_of(shard, self.shared.config.cores);
                let sent = self.env.clock().monotonic();
                self.shared.core(home).send_reply(Message::Shard { shard, call, sent });
            }
        }
    }

    /// Why indices cannot be opened: more than the cluster may have, or than [`Keeper::too_many`].
    fn beyond_room(&self, command: &Command) -> Option<cluster::Error> {
        if !matches!(command, Command::SetOpen { open: true, .. }) {
            return None;
        }
        let state = self.value.state();
        let after = cluster::apply(&state, command).0;
        let coming = after.counted_shards().saturating_sub(state.counted_shards());
        state.beyond_shards(coming).or_else(|| self.too_many(&state, &after))
    }

    /// Why there cannot be the shards of `after`: more than those of `before`, and than files may be open for.
    fn too_many(&self, before: &State, after: &State) -> Option<cluster::Error> {
        let most = self.shared.config.shards_max;
        let (there, then) = (before.open_shards(), after.open_shards());
        (then > most && then > there).then(|| cluster::Error::Invalid {
            problems: vec![format!(
                "this action would add [{}] shards, but this node has [{there}] open, and may have [{most}] with \
                 the files that its process may hold open: raise that limit (`ulimit -n`, LimitNOFILE of systemd) \
                 and start it again",
                then - there
            )],
        })
    }

    /// Why a shard of new indices could not be made. Nothing names them yet, so they are let go.
    fn not_made(&self, coming: &[[u8; 16]]) -> Option<Error> {
        let directory = self.directory.borrow();
        let mut shards = directory.shards.iter().filter(|(shard, _)| coming.contains(&shard.index));
        let why = shards.find_map(|(_, entry)| match entry {
            Entry::Failed(failure) => Some(Arc::clone(&failure.why)),
            Entry::Opening | Entry::Open(_) => None,
        })?;
        let is_full = self.full.borrow().iter().any(|shard| coming.contains(&shard.index));
        Some(if is_full {
            Error::rejected(format!("no room on the disk for a new index: {why}"))
        } else {
            Error::new(503, "process_cluster_event_exception", format!("no index was made: {why}"))
        })
    }

    /// Takes away what there is of indices that were never named.
    async fn give_up(self: &Rc<Self>, coming: Vec<[u8; 16]>) {
        for uuid in &coming {
            self.coming.borrow_mut().remove(uuid);
        }
        self.full.borrow_mut().retain(|shard| !coming.contains(&shard.index));
        self.follow().await;
    }

    /// Opens a shard again whose log had no room: what is in memory only is read from the log.
    pub(crate) async fn reopen(self: &Rc<Self>, shard: ShardId) {
        let index =
            self.value.state().index_by_uuid(shard.index).filter(|index| index.open).cloned();
        let Some(index) = index else { return };
        match self.directory.borrow_mut().shards.get_mut(&shard) {
            Some(entry @ Entry::Open(_)) => *entry = Entry::Opening,
            // Somebody else is at it, or it is gone.
            _ => return,
        }
        let closing = self.lines.join(shard);
        let opening = self.decide_opening(shard);
        self.publish_directory();
        let turn = closing.front().await;
        self.close_at_home(shard, false).await;
        drop(turn);
        self.open_until_there_is_room(&index, shard, false, opening).await;
    }

    /// Takes the place at which a shard is opened, with the number of this opening.
    fn decide_opening(&self, shard: ShardId) -> (Place, u64) {
        let number = self.opening_count.get() + 1;
        self.opening_count.set(number);
        self.openings.borrow_mut().insert(shard, number);
        let place = match planted(Fault::OpenBesideClose) {
            true => Lines::default().join(shard),
            false => self.lines.join(shard),
        };
        (place, number)
    }

    /// No change since then wants another opening, or none.
    fn is_wanted(&self, shard: ShardId, opening: u64) -> bool {
        self.openings.borrow().get(&shard) == Some(&opening)
    }

    /// Opens a shard; where only room is missing, again each second, as long as it is wanted.
    async fn open_until_there_is_room(
        self: &Rc<Self>,
        index: &Arc<Index>,
        shard: ShardId,
        create: bool,
        (mut place, number): (Place, u64),
    ) {
        let mut before: Option<Failure> = None;
        loop {
            let turn = place.front().await;
            if !self.is_wanted(shard, number) {
                return;
            }
            let mut entry = self.open_shard(index, shard, create).await;
            drop(turn);
            if !self.is_wanted(shard, number) {
                return;
            }
            if let Entry::Failed(failure) = &mut entry {
                // It has no place from the first time on.
                if let Some(before) = &before {
                    failure.at_ms = before.at_ms;
                    failure.attempts = before.attempts.saturating_add(1);
                }
                before = Some(failure.clone());
            }
            let is_full = self.full.borrow().contains(&shard);
            self.settle(shard, entry);
            if !is_full || create {
                return;
            }
            self.env.clock().sleep(FULL_DISK_PAUSE).await;
            if !self.is_wanted(shard, number) {
                return;
            }
            match self.directory.borrow_mut().shards.get_mut(&shard) {
                Some(entry @ Entry::Failed(_)) => *entry = Entry::Opening,
                _ => return,
            }
            place = self.lines.join(shard);
            // Nobody is told that it opens: those who ask meanwhile are answered at once.
        }
    }

    async fn close_at_home(&self, shard: ShardId, remove: bool) {
        let (reply, answer) = reply::channel();
        let home = home_of(shard, self.shared.config.cores);
        self.shared.core(home).send_reply(Message::Close { shard, remove, reply });
        answer.await;
    }

    /// Reads what the state stands on, at a pace: files read, or the damage.
    pub(crate) async fn scrub(&self, pace: &Pace<E>) -> std::result::Result<u64, String> {
        self.value.scrub(pace).await.map_err(|error| error.to_string())
    }

    /// Reads what a shard stands on whose index is closed: files read, or the damage; none where it was opened or
    /// deleted meanwhile, so that whatever was found is another's doing.
    pub(crate) async fn scrub_closed(
        &self,
        shard: ShardId,
        pace: &Pace<E>,
    ) -> std::result::Result<u64, String> {
        if !self.rests(shard) {
            return Ok(0);
        }
        let dir = self.shared.shard_dir(shard);
        match shard::scrub_closed(&self.env, &dir, shard, pace).await {
            Err(error) if self.rests(shard) => Err(error.to_string()),
            scrubbed => Ok(scrubbed.unwrap_or_default()),
        }
    }

    /// A shard was found damaged: it serves no more.
    pub(crate) fn fail_shard(&self, shard: ShardId, why: &str) {
        if self.rests(shard) {
            self.lose(shard, why);
            self.publish_directory();
            return;
        }
        match self.directory.borrow().shards.get(&shard) {
            Some(Entry::Open(_)) => {}
            // It is known, or the shard is being closed or opened anew.
            _ => return,
        }
        (self.warn)(&format!("shard [{}] serves no more: {why}", shard.number));
        self.settle(shard, self.failed(why));
    }

    /// Saves and closes the state.
    pub(crate) async fn close(&self) {
        if let Err(error) = self.value.save().await {
            (self.warn)(&format!("the cluster state was not saved: {error}"));
        }
        if let Err(error) = self.value.close().await {
            (self.warn)(&format!("the cluster state closed with a failure: {error}"));
        }
    }

    pub(super) fn publish_state(&self) {
        self.shared.state.store(self.value.state());
    }

    fn publish_directory(&self) {
        self.shared.directory.store(Arc::new(self.directory.borrow().clone()));
    }

    /// Makes the shards what the state says: opens those that are missing, closes those that are
    /// named no more, tells settings, and ends when all of that is done. The state that was followed.
    async fn follow(self: &Rc<Self>) -> Arc<State> {
        let state = self.value.state();
        let mut wanted = Set::default();
        for index in state.indices.values().filter(|index| index.open) {
            let shards = || (0..index.settings.shard_count()).map(|at| shard_id(index, at));
            let is_new = !self.directory.borrow().shards.contains_key(&shard_id(index, 0));
            let was_closed = || shards().any(|shard| self.lost.borrow().contains(&shard));
            if is_new || was_closed() {
                self.open_index(index, false);
            }
            wanted.extend(shards());
        }
        let gone: Vec<ShardId> = {
            let directory = self.directory.borrow();
            let coming = self.coming.borrow();
            let lost = self.lost.borrow();
            let stays = |shard: &ShardId| {
                lost.contains(shard) && state.index_by_uuid(shard.index).is_some()
            };
            let unnamed = |shard: &&ShardId| {
                !wanted.contains(*shard) && !coming.contains(&shard.index) && !stays(shard)
            };
            directory.shards.keys().filter(unnamed).copied().collect()
        };
        self.close_shards(&gone, &state).await;
        let removed: Set<[u8; 16]> = gone.iter().map(|shard| shard.index).collect();
        for uuid in removed {
            if state.index_by_uuid(uuid).is_none() {
                self.remove_folder(uuid).await;
            }
        }
        self.settled().await;
        state
    }

    /// Ends when no shard is being opened, by this or another change.
    async fn settled(&self) {
        while self.directory.borrow().shards.values().any(|entry| matches!(entry, Entry::Opening)) {
            self.env.clock().sleep(Duration::from_millis(1)).await;
        }
    }

    /// Begins to open the shards of an index.
    fn open_index(self: &Rc<Self>, index: &Arc<Index>, create: bool) {
        for number in 0..index.settings.shard_count() {
            let shard = shard_id(index, number);
            self.lost.borrow_mut().remove(&shard);
            self.forget_resting(shard);
            self.directory.borrow_mut().shards.insert(shard, Entry::Opening);
            let opening = self.decide_opening(shard);
            let keeper = Rc::clone(self);
            let index = Arc::clone(index);
            self.env.spawn().spawn(async move {
                keeper.open_until_there_is_room(&index, shard, create, opening).await;
            });
        }
        self.publish_directory();
    }

    async fn open_shard(&self, index: &Index, shard: ShardId, create: bool) -> Entry {
        if create {
            let dir = self.shared.shard_dir(shard);
            if let Err(error) = self.env.disk().create_dir(&dir).await {
                if error.kind == ErrorKind::NoSpace {
                    self.full.borrow_mut().insert(shard);
                }
                return self.failed(&error.to_string());
            }
        }
        let (reply, answer) = reply::channel();
        // It may have waited for its turn, or for room: what is said of the index now counts.
        let state = self.value.state();
        let index = state.index_by_uuid(shard.index).map_or(index, |index| &**index);
        let call = OpenCall {
            shard,
            create,
            config: shard_config(&index.settings),
            mapping: Arc::clone(&index.mapping),
            reply,
        };
        let home = home_of(shard, self.shared.config.cores);
        self.shared.core(home).send_reply(Message::Open(Box::new(call)));
        let answer = answer.await;
        let was_full = self.full.borrow_mut().remove(&shard);
        match answer {
            Some(Ok(reader)) => Entry::Open(reader),
            Some(Err(NotOpened { why, is_full_disk })) => {
                if is_full_disk {
                    self.full.borrow_mut().insert(shard);
                }
                if !was_full {
                    (self.warn)(&format!("shard [{}][{}] failed: {why}", index.name, shard.number));
                }
                self.failed(&why)
            }
            None => self.failed("the node is stopping"),
        }
    }

    /// A shard that serves no more from now on.
    fn failed(&self, why: &str) -> Entry {
        let at_ms = self.env.clock().unix_ms();
        Entry::Failed(Failure { why: self.shared.told(why).into(), at_ms, attempts: 1 })
    }

    /// Notes how an opening ended, unless the shard was given up meanwhile.
    fn settle(&self, shard: ShardId, entry: Entry) {
        if let Some(known) = self.directory.borrow_mut().shards.get_mut(&shard) {
            *known = entry;
        }
        self.publish_directory();
    }

    async fn close_shards(&self, shards: &[ShardId], state: &State) {
        if shards.is_empty() {
            return;
        }
        let is_named = |shard: &ShardId| state.index_by_uuid(shard.index).is_some();
        let mut closing = Vec::new();
        for shard in shards {
            self.openings.borrow_mut().remove(shard);
            closing.push((*shard, self.lines.join(*shard)));
            let mut directory = self.directory.borrow_mut();
            let has_failed = matches!(directory.shards.get(shard), Some(Entry::Failed(_)));
            // Where only room was missing, nothing is wrong with the files.
            if has_failed && is_named(shard) && !self.full.borrow().contains(shard) {
                self.lost.borrow_mut().insert(*shard);
            } else {
                self.lost.borrow_mut().remove(shard);
                directory.shards.remove(shard);
            }
        }
        self.publish_directory();
        let each = closing.into_iter().map(|(shard, place)| {
            Box::pin(async move {
                let _turn = place.front().await;
                self.close_at_home(shard, !is_named(&shard)).await;
                if is_named(&shard) {
                    self.look_at(shard).await;
                }
            })
        });
        env::join_all(each.collect()).await;
        self.publish_directory();
    }

    /// Looks whether a shard of a closed index stands, without opening it, and keeps what was found; one that
    /// does not stand is shown as failed. Whoever calls publishes the directory.
    pub(super) async fn look_at(&self, shard: ShardId) {
        let dir = self.shared.shard_dir(shard);
        let looked = shard::look(&self.env, &dir, shard).await;
        if !self.rests(shard) {
            return;
        }
        match looked {
            Ok(resting) => {
                let mut directory = self.directory.borrow_mut();
                Arc::make_mut(&mut directory.resting).insert(shard, Arc::new(resting));
            }
            Err(error) => self.lose(shard, &error.to_string()),
        }
    }

    /// Whether its index is closed, and nothing is known to be wrong with it: it was not opened or deleted.
    pub(super) fn rests(&self, shard: ShardId) -> bool {
        let state = self.value.state();
        state.index_by_uuid(shard.index).is_some_and(|index| !index.open)
            && !self.directory.borrow().shards.contains_key(&shard)
    }

    fn lose(&self, shard: ShardId, why: &str) {
        (self.warn)(&format!("shard [{}] of a closed index is lost: {why}", shard.number));
        self.lost.borrow_mut().insert(shard);
        let entry = self.failed(why);
        self.directory.borrow_mut().shards.insert(shard, entry);
        self.forget_resting(shard);
    }

    /// Looks again at shards of closed indices whose files are not what they were.
    pub(crate) async fn look_again(&self, shards: Vec<ShardId>) {
        for shard in shards {
            let place = self.lines.join(shard);
            let _turn = place.front().await;
            self.look_at(shard).await;
        }
        self.publish_directory();
    }

    /// What was found of a shard while its index was closed counts no more.
    pub(super) fn forget_resting(&self, shard: ShardId) {
        let mut directory = self.directory.borrow_mut();
        if directory.resting.contains_key(&shard) {
            Arc::make_mut(&mut directory.resting).remove(&shard);
        }
    }
}

fn shard_id(index: &Index, number: u32) -> ShardId {
    ShardId { index: index.uuid, number }
}
