//! Room on the disk: when there is enough to go on, and when indices are kept from growing.
//!
//! Always true
//! 1. Where less is free than the flood stage leaves, every open index gets the block
//!    `index.blocks.read_only_allow_delete`, as in Elasticsearch: writes are answered 429, reading
//!    and deleting go on. Where more is free than the high watermark leaves, the block is taken back.
//!    One that somebody set by hand stands for `cluster.info.update.interval` first.
//! 2. It is looked every second, so that service is back soon after room was made, and a change of the settings
//!    counts soon, also one that switches the marks on again. Where the size of the disk is not known (a simulated
//!    one), and no mark is set in bytes, it is looked every minute whether that has changed.
//!
//! Not here: what happens where the disk fills up before this looks again: the log refuses (429),
//! or, where what it had taken in finds no room, its shard is opened again (`serve`).

use std::rc::Rc;
use std::time::Duration;

use base::hash::{Map, Set};
use base::units;
use cluster::{Command, Rules, State};
use env::{Clock, Disk, Env, Spawn};
use json::{Object, Value};

use crate::core::Core;

/// Between two looks at a full disk.
pub(crate) const FULL_DISK_PAUSE: Duration = Duration::from_secs(1);

/// Between two looks whether a mark in bytes was set, on a disk whose size is not known.
const IDLE_PAUSE: Duration = Duration::from_secs(60);

/// Opening a shard takes this much at most: its manifest, and a first file of its log.
const OPENING_BYTES: u64 = 4 << 20;

const BLOCK: &str = "index.blocks.read_only_allow_delete";
const WATERMARK: &str = "cluster.routing.allocation.disk.watermark";

/// Marks of a disk, as bytes that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// Below it indices are blocked.
    pub flood: u64,
    /// Above it they are free again.
    pub high: u64,
    /// Above it nobody need think of the disk.
    pub low: u64,
}

/// Bytes that a mark leaves of a disk of `total` bytes: `95%` and `0.95` leave a twentieth, but no
/// more than the headroom; `500mb` leaves that. Nothing where it cannot be told.
fn left(mark: &str, headroom: &str, total: u64) -> u64 {
    let share = match mark.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => mark.trim().parse::<f64>().ok(),
    };
    let bytes = |text: &str| units::bytes("", text).ok().flatten();
    let Some(share) = share else { return bytes(mark).unwrap_or(0) };
    let left = (total as f64 * (1.0 - share).clamp(0.0, 1.0)).round() as u64;
    left.min(bytes(headroom).unwrap_or(u64::MAX))
}

fn marks(state: &State, total: u64) -> Option<Marks> {
    let settings = &state.settings;
    if !settings.flag("cluster.routing.allocation.disk.threshold_enabled") {
        return None;
    }
    let mark = |name: &str| {
        let name = format!("{WATERMARK}.{name}");
        left(settings.text(&name).unwrap_or_default(), settings.headroom(&name), total)
    };
    let (flood, high, low) = (mark("flood_stage"), mark("high"), mark("low"));
    let high = high.max(flood);
    Some(Marks { flood, high, low: low.max(high) })
}

/// Blocks that stand: those that stood while the disk was too full, or when the process started, are
/// taken back as soon as there is room; others, which somebody set by hand, after `cluster.info.update.interval`, as Elasticsearch
/// does at its next look.
#[derive(Default)]
struct Standing {
    ours: Set<[u8; 16]>,
    /// When each of the others was first seen.
    others: Map<[u8; 16], Duration>,
}

impl Standing {
    /// Notes what stands, and keeps of `uuids`, which could be freed now, those whose time has come.
    fn ripe(&mut self, uuids: Vec<[u8; 16]>, now: Duration, interval: Duration) -> Vec<[u8; 16]> {
        self.others.retain(|uuid, _| uuids.contains(uuid));
        let ripe = |uuid: &[u8; 16]| {
            let since = *self.others.entry(*uuid).or_insert(now);
            self.ours.remove(uuid) || now.saturating_sub(since) >= interval
        };
        uuids.into_iter().filter(ripe).collect()
    }

    /// The disk is too full: whatever is blocked is so for that.
    fn adopt(&mut self, state: &State) {
        let blocked = state.indices.values().filter(|index| index.settings.flag(BLOCK));
        self.ours.extend(blocked.map(|index| index.uuid));
    }
}

/// The ids of the indices whose block is to change; true where it is to be set.
fn due(state: &State, marks: Option<Marks>, free: u64) -> Option<(Vec<[u8; 16]>, bool)> {
    let wanted = match marks {
        Some(marks) if free < marks.flood => true,
        Some(marks) if free < marks.high => return None,
        _ => false,
    };
    let uuids: Vec<[u8; 16]> = state
        .indices
        .values()
        .filter(|index| index.open && !index.copying && index.settings.flag(BLOCK) != wanted)
        .map(|index| index.uuid)
        .collect();
    (!uuids.is_empty()).then_some((uuids, wanted))
}

impl<E: Env> Core<E> {
    /// The marks of a disk of `total` bytes, as the settings have them; `None` where they are off.
    pub fn disk_marks(&self, total: u64) -> Option<Marks> {
        marks(&self.state(), total)
    }

    /// Indices that take no writes for want of room, or because somebody said so.
    pub fn blocked_for_room(&self) -> usize {
        let state = self.state();
        state.indices.values().filter(|index| index.settings.flag(BLOCK)).count()
    }

    /// Whether a shard could be opened now.
    pub(crate) async fn has_room(&self) -> bool {
        // Where it cannot be asked, the attempt will tell.
        let free = self.env.disk().free_bytes(&self.shared.config.data).await;
        free.is_ok_and(|free| free >= OPENING_BYTES)
    }
}

/// Looks after the disk as long as the keeper's core lives.
pub(crate) fn watch<E: Env>(core: &Rc<Core<E>>) {
    let weak = Rc::downgrade(core);
    let env = core.env.clone();
    env.clone().spawn().spawn(async move {
        let mut total = None;
        let mut pause = FULL_DISK_PAUSE;
        let mut standing = Standing::default();
        let mut is_short = false;
        if let Some(core) = weak.upgrade() {
            // Nobody knows any more who set what stands from before: it goes with the want of room.
            standing.adopt(&core.state());
        }
        loop {
            env.clock().sleep(pause).await;
            let Some(core) = weak.upgrade() else { return };
            let is_now = core.keeper.borrow().as_ref().map(|keeper| keeper.is_short_of_room());
            let Some(is_now) = is_now else { return };
            if is_now != is_short {
                is_short = is_now;
                tell_short(&core, is_short).await;
            }
            let total = match total {
                Some(total) => total,
                None => *total.insert(core.machine().await.volume.total_bytes),
            };
            let marks = marks(&core.state(), total);
            look(&core, marks, &mut standing).await;
            pause = pause_after(marks, total);
        }
    });
}

/// Says that the disk is too full for changes of the cluster's state, or no longer.
async fn tell_short<E: Env>(core: &Core<E>, is_short: bool) {
    let data = &core.shared.config.data;
    let free = core.env.disk().free_bytes(data).await.unwrap_or(0) >> 10;
    core.warn(&match is_short {
        true => format!(
            "the disk of [{}] is full ({free} KiB are free): indices, settings, users and keys are not changed \
             until there is room, but for what makes some",
            data.display()
        ),
        false => format!("there is room on the disk of [{}] again ({free} KiB are free)", data.display()),
    });
}

/// How long it may take until the next look.
fn pause_after(marks: Option<Marks>, total: u64) -> Duration {
    let can_tell = total > 0 || marks.is_some_and(|marks| marks.high > 0);
    if can_tell { FULL_DISK_PAUSE } else { IDLE_PAUSE }
}

async fn look<E: Env>(core: &Rc<Core<E>>, marks: Option<Marks>, standing: &mut Standing) {
    let state = core.state();
    let Ok(free) = core.env.disk().free_bytes(&core.shared.config.data).await else { return };
    if marks.is_some_and(|marks| free < marks.high) {
        standing.adopt(&state);
    }
    let Some((mut uuids, blocked)) = due(&state, marks, free) else { return };
    if blocked {
        standing.ours.extend(uuids.iter().copied());
    } else {
        let interval = state.settings.time("cluster.info.update.interval").unwrap_or_default();
        uuids = standing.ripe(uuids, core.env.clock().monotonic(), interval);
        if uuids.is_empty() {
            return;
        }
    }
    let (count, tried) = (uuids.len(), uuids.clone());
    let mut settings = Object::new();
    settings.insert(BLOCK, if blocked { Value::from("true") } else { Value::Null });
    let settings = Value::Object(settings);
    let changed = core
        .change_here(Command::PutSettings { uuids, settings, preserve: false, rules: Rules::Now })
        .await;
    let free = free >> 20;
    match (changed, blocked) {
        (Ok(_), true) => core.warn(&format!(
            "flood stage: {free} MiB are free; [{count}] indices take no writes until there is room"
        )),
        (Ok(_), false) => {
            core.warn(&format!("{free} MiB are free; the block of [{count}] indices is taken back"))
        }
        // The log of the cluster state has no room itself: its shards refuse on their own.
        (Err(error), true) => core.warn(&format!("the blocks of a full disk: {}", error.reason)),
        // Room was made just now, and the log has not looked again yet.
        (Err(error), false) => {
            standing.ours.extend(tried);
            core.warn(&format!("the blocks of a full disk: {}", error.reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use cluster::{NewIndex, apply};

    use super::*;

    #[test]
    fn marks_are_shares_or_bytes() {
        for (mark, headroom, total, expected) in [
            ("95%", "-1", 1000, 50),
            ("0.9", "-1", 1000, 100),
            ("95%", "10b", 1000, 10),
            ("500mb", "-1", 1 << 40, 500 << 20),
            ("95%", "1gb", 0, 0),
            ("nonsense", "-1", 1000, 0),
        ] {
            assert_eq!(left(mark, headroom, total), expected, "{mark} {headroom} of {total}");
        }
    }

    /// With marks of 1, 2 and 3 percent an index took writes until a gigabyte was free.
    #[test]
    fn a_mark_that_was_set_has_no_headroom_but_one_that_was_set() {
        const GIB: u64 = 1 << 30;
        let put = |state: &State, settings: Value| {
            let (persistent, transient) = (settings, Value::Null);
            let command = Command::PutClusterSettings { persistent, transient, rules: Rules::Now };
            apply(state, &command).0
        };
        let told = |state: &State| {
            marks(state, 1_000 * GIB).map(|marks| (marks.flood, marks.high, marks.low))
        };
        let unset = State::default();
        assert_eq!(told(&unset), Some((GIB, 2 * GIB, 4 * GIB)));
        let shares = json::json!({"cluster.routing.allocation.disk.watermark": {
            "low": "1%", "high": "2%", "flood_stage": "3%",
        }});
        let set = put(&unset, shares);
        assert_eq!(told(&set), Some((970 * GIB, 980 * GIB, 990 * GIB)));
        let high = json::json!({"cluster.routing.allocation.disk.watermark.high": "92%"});
        assert_eq!(told(&put(&unset, high)), Some((50 * GIB, 80 * GIB, 150 * GIB)));
        let rooms = json::json!({"cluster.routing.allocation.disk.watermark": {
            "low.max_headroom": "30gb", "high.max_headroom": "20gb", "flood_stage.max_headroom": "10gb",
        }});
        assert_eq!(told(&put(&set, rooms)), Some((10 * GIB, 20 * GIB, 30 * GIB)));
    }

    /// While they were off it was looked every minute, and so a minute after they were on again.
    #[test]
    fn marks_that_are_switched_on_again_count_within_a_second() {
        let marks = Some(Marks { flood: 100, high: 200, low: 300 });
        let nothing = Some(Marks { flood: 0, high: 0, low: 0 });
        assert_eq!(pause_after(None, 1_000), FULL_DISK_PAUSE);
        assert_eq!(
            pause_after(nothing, 1_000),
            FULL_DISK_PAUSE,
            "100% is no mark, until it changes"
        );
        assert_eq!(pause_after(marks, 0), FULL_DISK_PAUSE);
        assert_eq!(pause_after(nothing, 0), IDLE_PAUSE);
        assert_eq!(pause_after(None, 0), IDLE_PAUSE);
    }

    #[test]
    fn blocks_set_by_hand_stand_for_a_while_and_ours_do_not() {
        let (ours, theirs) = ([1; 16], [2; 16]);
        let interval = Duration::from_secs(30);
        let mut standing = Standing::default();
        standing.ours.insert(ours);
        let at = Duration::from_secs;
        assert_eq!(standing.ripe(vec![ours, theirs], at(10), interval), [ours]);
        assert!(standing.ripe(vec![theirs], at(39), interval).is_empty());
        assert_eq!(standing.ripe(vec![theirs], at(40), interval), [theirs]);
    }

    #[test]
    fn indices_are_blocked_below_the_flood_stage_and_free_above_the_high_mark() {
        let marks = Some(Marks { flood: 100, high: 200, low: 300 });
        let new = NewIndex::new("t", [1; 16], 0);
        let (open, _) = apply(&State::default(), &Command::CreateIndex(new));
        assert_eq!(due(&open, marks, 100), None);
        let (uuids, blocked) = due(&open, marks, 99).expect("too little is left");
        assert!(blocked);
        let settings = json::json!({"index.blocks.read_only_allow_delete": "true"});
        let command = Command::PutSettings { uuids, settings, preserve: false, rules: Rules::Now };
        let (shut, _) = apply(&open, &command);
        assert_eq!(due(&shut, marks, 99), None, "it is done");
        assert_eq!(due(&shut, marks, 199), None, "not yet");
        let (uuids, blocked) = due(&shut, marks, 200).expect("there is room");
        assert!(!blocked);
        let settings = json::json!({"index.blocks.read_only_allow_delete": null});
        let (freed, _) = apply(
            &shut,
            &Command::PutSettings { uuids, settings, preserve: false, rules: Rules::Now },
        );
        assert_eq!(due(&freed, marks, 200), None);
        assert_eq!(due(&shut, None, 0).map(|due| due.1), Some(false), "switched off");
    }
}
