//! `_field_usage_stats`: how often searches read which parts of which fields, counted by shard.
//!
//! Each core counts what it plans, in a table of its own; who asks adds the tables up. A part counts
//! once for a search and shard (`search::plan::uses`).

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use base::hash::Map;
use base::{CoreId, ShardId};
use cluster::Index;
use env::Env;
use search::plan::show;
use search::plan::uses::{Of, Parts, Uses};

use super::IndicesOptions;
use super::reached::Reached;
use super::since::{self, Since};
use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;
use crate::index::block::{self, Level};
use crate::index::resolve::Call;
use crate::node::Primary;

/// Shards in one core's table; beyond it, those that are gone make room.
const SHARDS_MAX: usize = 4_096;

/// How often parts of a field were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Searches that read any part.
    pub any: u64,
    /// Searches that read each part, by its number.
    pub parts: [u64; Parts::COUNT],
    /// Searches that read where terms stand.
    pub proximity: u64,
}

impl Count {
    fn note(&mut self, parts: Parts) {
        self.any += 1;
        parts.numbers().for_each(|number| self.parts[number] += 1);
        self.proximity += u64::from(parts.has(Parts::POSITIONS));
    }

    /// Searches that read this part.
    pub fn of(&self, part: Parts) -> u64 {
        part.numbers().map(|number| self.parts[number]).sum()
    }
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.any += other.any;
        self.proximity += other.proximity;
        for (sum, more) in self.parts.iter_mut().zip(other.parts) {
            *sum += more;
        }
    }
}

type Table = Map<ShardId, Map<Of, Count>>;

/// A table for each core.
pub(crate) struct FieldUses {
    cores: Vec<Mutex<Table>>,
}

impl FieldUses {
    pub(crate) fn new(cores: u16) -> Self {
        Self { cores: (0..cores).map(|_| Mutex::default()).collect() }
    }

    /// The tables; nobody holds one for longer than it takes to count.
    fn table(&self, core: usize) -> std::sync::MutexGuard<'_, Table> {
        self.cores[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sum(&self, shard: ShardId) -> BTreeMap<Of, Count> {
        let mut sum: BTreeMap<Of, Count> = BTreeMap::new();
        for core in 0..self.cores.len() {
            let table = self.table(core);
            for (of, count) in table.get(&shard).into_iter().flatten() {
                *sum.entry(*of).or_default() += *count;
            }
        }
        sum
    }
}

/// What was counted of one shard.
#[derive(Clone, Debug)]
pub struct ShardUses {
    /// Its number.
    pub number: u32,
    /// By field.
    pub fields: BTreeMap<String, Count>,
}

/// What was counted of one index.
#[derive(Clone, Debug)]
pub struct IndexUses {
    /// The index.
    pub index: Arc<Index>,
    /// Shards that are there.
    pub shards: Vec<ShardUses>,
}

impl<E: Env> Core<E> {
    /// Counts what a search reads at a shard: to find hits, then to make those of them that are told.
    pub(crate) fn count_fields(&self, shard: ShardId, uses: &Uses) {
        let CoreId(core) = self.id;
        let mut table = self.shared.field_uses.table(usize::from(core));
        if table.len() >= SHARDS_MAX && !table.contains_key(&shard) {
            let directory = self.directory();
            table.retain(|known, _| directory.shards.contains_key(known));
            if table.len() >= SHARDS_MAX {
                return;
            }
        }
        let fields = table.entry(shard).or_default();
        uses.iter().for_each(|(of, parts)| fields.entry(of).or_default().note(parts));
    }

    /// How often the fields that `fields` names were read, in the indices of an expression. A caller
    /// hears of those fields only that it may see.
    ///
    /// # Errors
    /// A missing or closed index, or what the gate says.
    pub async fn field_uses(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        fields: &[String],
    ) -> Result<Vec<IndexUses>> {
        let action = "indices:monitor/field_usage_stats";
        let mut indices = self.reached(gate, action, expression, Call::new(options)).await?;
        block::check_all(indices.iter().map(|one| &*one.index), Level::MetadataRead)?;
        indices.sort_by(|a, b| a.index.name.cmp(&b.index.name));
        let wanted = |name: &str| {
            fields.is_empty()
                || fields.iter().any(|field| json::path::glob(field.as_bytes(), name.as_bytes()))
        };
        let (directory, state) = (self.directory(), self.state());
        let found = indices.len();
        indices.retain(|one| matches!(since::of(&state, &one.index), Since::Same));
        if indices.len() < found {
            // Whoever named one that is gone is told so, as who asks now.
            self.reached(gate, action, expression, Call::new(options)).await?;
        }
        let uses = |one: Reached| {
            let seen = one.seen(gate);
            let index = one.index;
            let is_seen = |name: &str| seen.iter().all(|limits| limits.shows(name));
            let mut shards = Vec::new();
            for number in 0..index.settings.shard_count() {
                let shard = ShardId { index: index.uuid, number };
                if !matches!(directory.primary(&index, number), Primary::Started(_)) {
                    continue;
                }
                let counts = self.shared.field_uses.sum(shard).into_iter();
                let named = counts.map(|(of, count)| {
                    let name = match of {
                        Of::Field(field) => show::field(field, &index.mapping),
                        Of::Id => "_id".to_owned(),
                        Of::Source => "_source".to_owned(),
                    };
                    (name, count)
                });
                let fields = named.filter(|(name, _)| wanted(name) && is_seen(name)).collect();
                shards.push(ShardUses { number, fields });
            }
            IndexUses { index, shards }
        };
        Ok(indices.into_iter().map(uses).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::FieldNo;

    #[test]
    fn tables_of_all_cores_add_up() {
        let uses = FieldUses::new(2);
        let shard = ShardId { index: [7; 16], number: 0 };
        let of = Of::Field(FieldNo(3));
        for core in [0, 1, 1] {
            let mut table = uses.table(core);
            let count = table.entry(shard).or_default().entry(of).or_default();
            count.note(Parts::TERMS.and(Parts::POSITIONS));
        }
        let sum = uses.sum(shard);
        assert_eq!(sum[&of].any, 3);
        assert_eq!(sum[&of].of(Parts::TERMS), 3);
        assert_eq!((sum[&of].proximity, sum[&of].of(Parts::NORMS)), (3, 0));
        assert!(uses.sum(ShardId { number: 1, ..shard }).is_empty());
    }
}
