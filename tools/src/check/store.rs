//! The walk through a store: kept values first, then each shard.

use std::path::{Path, PathBuf};

use base::ShardId;
use consensus::{Replicated, Setup, State, snapshot};
use engine::is_blank_index;
use env::{Bytes, Disk, Env, ErrorKind, File};
use segment::footer::{self, FileKind};
use segment::{Live, verify};
use shard::file::{live_name, segment_name};
use shard::manifest::{Manifest, ManifestError, SegmentFile, slot_name};
use wal::{Config, LogPosition, Reader};

use super::{Damage, Report};

/// Files up to this are read past the page cache, whole; of larger ones memory would not hold two.
const READ_BYTES_MAX: usize = 256 << 20;

/// Looks at all of the data folder at `root`, of a node that had users where these may be `lost`.
pub async fn check<E: Env>(env: &E, root: &Path, lost: bool, report: &mut Report) {
    let mut walk = Walk { env, root, report };
    let state = walk.value::<cluster::State>("cluster").await;
    let mut is_state_told = state.is_some() || !walk.report.damages.is_empty();
    walk.value::<authz::State>("authz").await;
    let authz = root.join("authz");
    walk.no_folders(&authz, &["reserve"]).await;
    walk.no_folders(&root.join("cluster"), &["reserve"]).await;
    walk.no_folders(&root.join("node"), &["reserve-", "identity", "keystore", "lock", "ready"])
        .await;
    let is_gone =
        matches!(env.disk().list(&authz).await, Err(error) if error.kind == ErrorKind::NotFound);
    if lost && is_gone && state.is_some() {
        walk.damage(&authz, "it is missing, and with it users, roles and keys");
    }
    let is_index = |name: &str| cluster::state::uuid_from_text(name).is_some();
    for index in walk.folders(&root.join("indices"), is_index).await {
        let folder = root.join("indices").join(&index);
        let Some(uuid) = cluster::state::uuid_from_text(&index) else { continue };
        let is_named = state.as_ref().is_some_and(|state| state.index_by_uuid(uuid).is_some());
        if !is_named {
            let deleted = |state: &cluster::State| {
                state.tombstones.iter().any(|tombstone| tombstone.uuid == uuid)
            };
            if state.as_ref().is_some_and(deleted) || is_blank_index(env, &folder, uuid).await {
                // The next start removes it.
                continue;
            }
            if state.is_some() {
                walk.damage(
                    &folder,
                    "it belongs to no index of the cluster state, and holds documents",
                );
            } else if !is_state_told {
                is_state_told = true;
                let what = format!("it is missing, while {} holds documents", walk.name(&folder));
                walk.damage(&root.join("cluster"), what);
            }
        }
        for shard in walk.folders(&folder, |name| name.parse::<u32>().is_ok()).await {
            let Ok(number) = shard.parse() else { continue };
            walk.report.shard_count += 1;
            walk.shard(&folder.join(&shard), ShardId { index: uuid, number }).await;
        }
    }
    for index in state.iter().flat_map(|state| state.indices.values()) {
        for number in 0..index.settings.shard_count() {
            let name = cluster::state::uuid_text(index.uuid);
            let folder = root.join("indices").join(name).join(number.to_string());
            if env.disk().list(&folder).await.is_err() {
                walk.damage(&folder, format!("it is missing: shard {number} of [{}]", index.name));
            }
        }
    }
}

struct Walk<'a, E> {
    env: &'a E,
    root: &'a Path,
    report: &'a mut Report,
}

impl<E: Env> Walk<'_, E> {
    /// A path as the report names it.
    fn name(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).display().to_string()
    }

    fn damage(&mut self, path: &Path, what: impl std::fmt::Display) {
        let damage = Damage::file(self.name(path), what);
        self.report.damages.push(damage);
    }

    /// Names of the folders in a folder; none where it is missing. What has the name of one of ours and is
    /// none of its own, as a link is not, is a damage: nothing behind it is read, nor would be copied.
    async fn folders(&mut self, path: &Path, is_ours: impl Fn(&str) -> bool) -> Vec<String> {
        let entries = match self.env.disk().list(path).await {
            Ok(entries) => entries,
            Err(error) if error.kind == ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                self.damage(path, error);
                return Vec::new();
            }
        };
        let (folders, others): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.is_dir);
        for other in others.iter().filter(|other| is_ours(&other.name)) {
            let what = "it is no folder, but a link or a file: nothing in it was read";
            self.damage(&path.join(&other.name), what);
        }
        folders.into_iter().map(|entry| entry.name).collect()
    }

    /// Tells of folders that bear the name of a file of ours: none can be written there.
    async fn no_folders(&mut self, path: &Path, kinds: &[&str]) {
        for entry in self.env.disk().list(path).await.unwrap_or_default() {
            if entry.is_dir && kinds.iter().any(|kind| entry.name.starts_with(kind)) {
                self.damage(
                    &path.join(&entry.name),
                    "it is a folder, where a file of this name belongs",
                );
            }
        }
    }

    /// The bytes of a file past the page cache; `None` where it is missing or cannot be read.
    async fn read(&mut self, path: &Path) -> Option<Bytes> {
        let read = async {
            let file = self.env.disk().open(path).await?;
            let len = file.len().await?;
            match usize::try_from(len) {
                Ok(len) if len <= READ_BYTES_MAX => file.read_at(0, len).await,
                _ => self.env.disk().map(path).await,
            }
        };
        match read.await {
            Ok(bytes) => {
                self.report.file_count += 1;
                self.report.bytes += bytes.len() as u64;
                Some(bytes)
            }
            Err(error) if error.kind == ErrorKind::NotFound => None,
            Err(error) => {
                self.damage(path, error);
                None
            }
        }
    }

    /// A kept value: snapshot, then log, and what both say.
    async fn value<S: State>(&mut self, name: &str) -> Option<S> {
        let dir = self.root.join(name);
        let setup = Setup::new(&dir, name);
        self.no_folders(&dir, &[snapshot::NAME, "log-"]).await;
        let path = dir.join(snapshot::NAME);
        let is_there = self.env.disk().list(&dir).await.is_ok();
        let Some(bytes) = self.read(&path).await else {
            if is_there {
                self.damage(&path, "it is missing");
            }
            return None;
        };
        let after = match snapshot::read(&bytes, setup.id) {
            Ok((head, _)) => head.position,
            Err(error) => {
                let what = match error {
                    snapshot::NoSnapshot::Version(found) => format!("unknown version {found}"),
                    snapshot::NoSnapshot::Corrupt(what) => what,
                };
                self.damage(&path, what);
                return None;
            }
        };
        self.count_log(&dir).await;
        match Replicated::<E, S>::look(self.env, &setup).await {
            Ok(value) => {
                // Once more for what lies between batches, which says nothing.
                self.batches(&dir, setup.id, after).await;
                return Some(value);
            }
            Err(consensus::Error::Log(error)) => self.log_damage(&dir, error),
            Err(consensus::Error::Corrupt { file, what }) => self.damage(Path::new(&file), what),
            Err(consensus::Error::Version { file, found, expected }) => {
                let what = format!("format version {found}, this program reads {expected}");
                self.damage(Path::new(&file), what);
            }
            Err(error) => self.damage(&dir, error),
        }
        None
    }

    /// A log, from `after` to its end.
    async fn log(&mut self, dir: &Path, id: ShardId, after: LogPosition) {
        self.count_log(dir).await;
        self.batches(dir, id, after).await;
    }

    /// The batches of a log, and what lies between them.
    async fn batches(&mut self, dir: &Path, id: ShardId, after: LogPosition) {
        let read = async {
            let mut reader = Reader::open(self.env, Config::new(dir, id), after).await?;
            while reader.next().await?.is_some() {}
            wal::Result::Ok(reader.stains().to_vec())
        };
        match read.await {
            Ok(stains) => {
                for (path, at) in stains {
                    let what = "bytes behind a batch that should be zero";
                    let damage = Damage::file(self.name(&path), what);
                    self.report.damages.push(Damage { offset: Some(at), ..damage });
                }
            }
            Err(error) => self.log_damage(dir, error),
        }
    }

    fn log_damage(&mut self, dir: &Path, error: wal::Error) {
        let damage = match error {
            wal::Error::Corrupt { file, offset, what } => {
                let path = PathBuf::from(file);
                let offset = Some(offset);
                Damage { offset, ..Damage::file(self.name(&path), what) }
            }
            wal::Error::Version { file, found, expected } => Damage::file(
                self.name(Path::new(&file)),
                format!("format version {found}, this program reads {expected}"),
            ),
            error => Damage::file(self.name(dir), error),
        };
        self.report.damages.push(damage);
    }

    async fn count_log(&mut self, dir: &Path) {
        let entries = self.env.disk().list(dir).await.unwrap_or_default();
        for entry in entries.iter().filter(|entry| entry.name.starts_with("log-")) {
            self.report.file_count += 1;
            self.report.bytes += entry.len;
        }
    }

    /// A shard: manifest, segments, log.
    async fn shard(&mut self, dir: &Path, id: ShardId) {
        self.no_folders(dir, &["manifest-", "segment-", "live-", "log-"]).await;
        for entry in self.env.disk().list(dir).await.unwrap_or_default() {
            if entry.name.ends_with(".corrupt") {
                self.damage(&dir.join(&entry.name), "damage was found before, and kept");
            }
        }
        let Some(manifest) = self.manifest(dir, id).await else { return };
        for file in &manifest.segments {
            self.segment(dir, file).await;
        }
        self.log(dir, id, LogPosition(manifest.log_index)).await;
    }

    /// The newest manifest; each slot that is not whole is a damage, also where the other stands in.
    async fn manifest(&mut self, dir: &Path, id: ShardId) -> Option<Manifest> {
        let mut newest: Option<Manifest> = None;
        let mut seen = 0;
        for slot in 0..2 {
            let path = dir.join(slot_name(slot));
            let Some(bytes) = self.read(&path).await else { continue };
            seen += 1;
            match Manifest::decode(&bytes) {
                Ok(manifest) if manifest.shard != id => {
                    self.damage(&path, "it is another shard's");
                }
                Ok(manifest) => {
                    if manifest.generation % 2 != slot {
                        let generation = manifest.generation;
                        self.damage(&path, format!("generation {generation} has the other slot"));
                    }
                    let is_newer = |other: &Manifest| other.generation < manifest.generation;
                    if newest.as_ref().is_none_or(is_newer) {
                        newest = Some(manifest);
                    }
                }
                Err(ManifestError::Format(found)) => {
                    self.damage(&path, format!("unknown format {found}"));
                }
                Err(ManifestError::Malformed(what)) => self.damage(&path, what),
            }
        }
        if seen == 0 {
            self.damage(dir, "there is no manifest");
        }
        newest
    }

    async fn segment(&mut self, dir: &Path, file: &SegmentFile) {
        let path = dir.join(segment_name(file.id));
        let Some(bytes) = self.read(&path).await else {
            return self.damage(&path, "the manifest names it, but it is missing");
        };
        if bytes.len() as u64 != file.len_bytes {
            let (expected, found) = (file.len_bytes, bytes.len());
            self.damage(&path, format!("expected {expected} bytes, found {found}"));
        }
        if let Ok(footer) = footer::open(&bytes, FileKind::Segment)
            && footer.body_checksum != file.checksum
        {
            self.damage(&path, "it is another file than the manifest names");
        }
        for damage in verify::verify(file.id, bytes) {
            let sections: Vec<String> = damage
                .sections
                .iter()
                .map(|(kind, field)| format!("{kind:?} of field {field}"))
                .collect();
            self.report.damages.push(Damage {
                file: self.name(&path),
                section: (!sections.is_empty()).then(|| sections.join(", ")),
                offset: Some(damage.offset),
                what: damage.error.to_string(),
            });
        }
        let Some(live) = &file.live else { return };
        let path = dir.join(live_name(file.id, live.generation));
        let Some(bytes) = self.read(&path).await else {
            return self.damage(&path, "the manifest names it, but it is missing");
        };
        match Live::decode(&bytes, file.id, file.doc_count) {
            Ok((_, generation)) if generation != live.generation => {
                self.damage(&path, format!("it is of generation {generation}"));
            }
            Ok(_) => {}
            Err(error) => self.damage(&path, error),
        }
    }
}
