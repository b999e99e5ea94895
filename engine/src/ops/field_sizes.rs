//! How much room each field takes: read off the lists of sections, nothing is opened.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base::{FieldNo, ShardId};
use cluster::Index;
use env::Env;
use mapping::Mapping;
use mapping::types::Kind;
use segment::View;
use segment::toc::SectionKind;

use super::since::{self, Since};
use super::{IndicesOptions, Shards};
use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;
use crate::host::call::{Called, ShardCall};
use crate::index::block::{self, Level};
use crate::index::resolve::Call;
use crate::node::Primary;

/// Bytes of one field, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSizes {
    /// Terms, postings, positions; of `_id` what finds a document.
    pub inverted: u64,
    /// Stored documents.
    pub stored: u64,
    /// Columns.
    pub doc_values: u64,
    /// Trees of points.
    pub points: u64,
    /// Lengths.
    pub norms: u64,
}

impl FieldSizes {
    /// All together.
    pub fn total(&self) -> u64 {
        self.inverted + self.stored + self.doc_values + self.points + self.norms
    }

    fn add(&mut self, kind: SectionKind, len: u64) {
        let part = match kind {
            SectionKind::StoredHead | SectionKind::StoredBody => &mut self.stored,
            SectionKind::NumericHead
            | SectionKind::NumericBody
            | SectionKind::OrdinalHead
            | SectionKind::OrdinalBody
            | SectionKind::BinaryHead
            | SectionKind::BinaryBody => &mut self.doc_values,
            SectionKind::PointsHead | SectionKind::PointsBody => &mut self.points,
            SectionKind::Norms => &mut self.norms,
            _ => &mut self.inverted,
        };
        *part += len;
    }
}

impl std::ops::AddAssign for FieldSizes {
    fn add_assign(&mut self, other: Self) {
        self.inverted += other.inverted;
        self.stored += other.stored;
        self.doc_values += other.doc_values;
        self.points += other.points;
        self.norms += other.norms;
    }
}

/// Answer of `_disk_usage` for one index.
#[derive(Clone, Debug)]
pub struct DiskUsage {
    /// Its name.
    pub index: String,
    /// Bytes of its segments, frames included.
    pub store_bytes: u64,
    /// By field.
    pub fields: BTreeMap<String, FieldSizes>,
}

/// What is kept of a field for sorting text and for completing words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The column of a text field with `fielddata`.
    pub fielddata: u64,
    /// Terms of a completion field.
    pub completion: u64,
}

/// Sizes of all fields of a view.
pub fn sizes(mapping: &Mapping, view: &View) -> BTreeMap<String, FieldSizes> {
    let mut by_no: BTreeMap<FieldNo, FieldSizes> = BTreeMap::new();
    let mut stored = FieldSizes::default();
    for part in &view.segments {
        for entry in part.segment.file().entries() {
            match entry.kind {
                SectionKind::StoredHead | SectionKind::StoredBody => {
                    stored.add(entry.kind, entry.len);
                }
                SectionKind::Meta | SectionKind::Parents => {}
                kind => by_no.entry(entry.field).or_default().add(kind, entry.len),
            }
        }
    }
    let mut fields: BTreeMap<String, FieldSizes> = BTreeMap::new();
    for (no, sizes) in by_no {
        *fields.entry(name_of(mapping, no)).or_default() += sizes;
    }
    if stored.total() > 0 {
        *fields.entry("_source".to_owned()).or_default() += stored;
    }
    fields
}

/// What sorting and completing keep of a view, by field; only fields that are of that kind.
pub fn loaded(mapping: &Mapping, view: &View) -> BTreeMap<Arc<str>, Loaded> {
    let wanted = mapping.loaded_fields();
    let mut found: BTreeMap<Arc<str>, Loaded> = BTreeMap::new();
    if wanted.is_empty() {
        return found;
    }
    for part in &view.segments {
        for entry in part.segment.file().entries() {
            let Some(field) = wanted.iter().find(|field| field.no == entry.field) else { continue };
            let loaded = found.entry(Arc::clone(&field.path)).or_default();
            match (&field.kind, entry.kind) {
                (
                    Kind::Text(_),
                    SectionKind::OrdinalHead | SectionKind::OrdinalBody | SectionKind::BinaryBody,
                ) => loaded.fielddata += entry.len,
                (Kind::Completion(_), _) => loaded.completion += entry.len,
                _ => {}
            }
        }
    }
    found
}

fn name_of(mapping: &Mapping, no: FieldNo) -> String {
    let known = match no {
        FieldNo::ID => "_id",
        FieldNo::SEQ_NO => "_seq_no",
        FieldNo::VERSION => "_version",
        FieldNo::PRIMARY_TERM => "_primary_term",
        FieldNo::ROUTING => "_routing",
        FieldNo::FIELD_NAMES => "_field_names",
        FieldNo::IGNORED => "_ignored",
        FieldNo::NESTED_PATH => "_nested_path",
        no => {
            return mapping
                .field_by_no(no)
                .map_or_else(|| format!("_field_{}", no.get()), |field| field.path.to_string());
        }
    };
    known.to_owned()
}

impl<E: Env> Core<E> {
    /// How much room the fields of the named indices take.
    ///
    /// # Errors
    /// A missing index.
    pub async fn disk_usage(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        flush: bool,
    ) -> Result<(Shards, Vec<DiskUsage>)> {
        let action = "indices:admin/analyze_disk_usage";
        let mut indices = self.reached(gate, action, expression, Call::new(options)).await?;
        block::check_all(indices.iter().map(|one| &*one.index), Level::MetadataRead)?;
        indices.sort_by(|a, b| a.index.name.cmp(&b.index.name));
        let (mut shards, mut is_any_gone) = (Shards::default(), false);
        let mut usages = Vec::with_capacity(indices.len());
        for one in &indices {
            let (index, seen) = (&one.index, one.seen(gate));
            let mut usage = DiskUsage {
                index: index.name.to_string(),
                store_bytes: 0,
                fields: BTreeMap::new(),
            };
            let mut own = Shards::default();
            for number in 0..index.settings.shard_count() {
                own.total += 1;
                match self.shard_sizes(index, number, flush, &mut usage).await {
                    Ok(()) => own.successful += 1,
                    Err(down) => own.miss(&self.state(), index, number, &down),
                }
            }
            if own.successful < own.total && !matches!(since::of(&self.state(), index), Since::Same)
            {
                is_any_gone = true;
                continue;
            }
            let is_served = own.successful > 0;
            shards.add(own);
            if !is_served {
                continue;
            }
            // What a field weighs tells that it is there.
            usage.fields.retain(|field, _| seen.iter().all(|limits| limits.shows(field)));
            usages.push(usage);
        }
        if is_any_gone {
            // Whoever named one that is gone is told so, as who asks now.
            self.reached(gate, action, expression, Call::new(options)).await?;
        }
        Ok((shards, usages))
    }

    async fn shard_sizes(
        self: &Rc<Self>,
        index: &Index,
        number: u32,
        flush: bool,
        usage: &mut DiskUsage,
    ) -> Called<()> {
        let shard = ShardId { index: index.uuid, number };
        if flush {
            self.ask(shard, |reply| ShardCall::Flush { reply }).await?;
        }
        self.settled(shard).await?;
        let directory = self.directory();
        let Primary::Started(reader) = directory.primary(index, number) else { return Ok(()) };
        let view = reader.view.load();
        usage.store_bytes += view.segments.iter().map(|part| part.segment.len_bytes()).sum::<u64>();
        for (field, sizes) in sizes(&index.mapping, &view) {
            *usage.fields.entry(field).or_default() += sizes;
        }
        Ok(())
    }
}
