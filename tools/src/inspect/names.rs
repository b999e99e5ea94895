//! What the fields of a segment are called: its numbers are given by the cluster's state, which lies
//! in the same data folder.
//!
//! The state is read as it stands on disk, and nothing is changed, so that this works beside a
//! running node too. A segment that was copied elsewhere, or whose index is gone, keeps its numbers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc;

use base::FieldNo;
use consensus::{Replicated, Setup};
use env::{ReadOnly, read_only};
use runtime::RuntimeEnv;

/// Names by number; the system's own are always known.
#[derive(Debug, Default)]
pub struct Names {
    paths: BTreeMap<FieldNo, String>,
    /// Why the names are not known.
    unknown: Option<String>,
}

impl Names {
    /// Those of the shard's file at `path`.
    pub fn of(path: &Path) -> Self {
        match look(path) {
            Ok(paths) => Self { paths, unknown: None },
            Err(why) => Self { paths: BTreeMap::new(), unknown: Some(why) },
        }
    }

    /// Of fields that are called so.
    #[cfg(test)]
    pub fn new(paths: impl IntoIterator<Item = (FieldNo, String)>) -> Self {
        Self { paths: paths.into_iter().collect(), unknown: None }
    }

    /// How a field is called: by its path in the mapping, else by its number.
    pub fn name(&self, field: FieldNo) -> String {
        match field {
            FieldNo::ID => "_id".into(),
            FieldNo::SEQ_NO => "_seq_no".into(),
            FieldNo::VERSION => "_version".into(),
            FieldNo::PRIMARY_TERM => "_primary_term".into(),
            FieldNo::ROUTING => "_routing".into(),
            FieldNo::FIELD_NAMES => "_field_names".into(),
            FieldNo::IGNORED => "_ignored".into(),
            other => self.paths.get(&other).cloned().unwrap_or_else(|| other.to_string()),
        }
    }

    /// Why fields go by number here; `None` where their names are known.
    pub fn unknown(&self) -> Option<&str> {
        self.unknown.as_deref()
    }
}

/// The paths of the fields of the index in whose folder the file at `path` lies.
fn look(path: &Path) -> Result<BTreeMap<FieldNo, String>, String> {
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    // `<data>/indices/<uuid>/<shard>/<file>`
    let mut above = path.ancestors().skip(2);
    let uuid = above.next().and_then(Path::file_name).and_then(|name| name.to_str());
    let uuid = uuid.and_then(cluster::state::uuid_from_text);
    let indices = above.next().filter(|folder| folder.ends_with("indices"));
    let (Some(uuid), Some(data)) = (uuid, indices.and_then(Path::parent)) else {
        return Err("the file lies in no data folder".into());
    };
    let state = state(&data.join("cluster"))?;
    let index = state.indices.values().find(|index| index.uuid == uuid);
    let index = index.ok_or("the cluster's state does not know its index")?;
    Ok(index.mapping.fields().map(|field| (field.no, field.path.to_string())).collect())
}

/// The cluster's state in the folder `dir`.
fn state(dir: &Path) -> Result<cluster::State, String> {
    let (tell, told) = mpsc::channel();
    let setup = Setup::new(dir, "cluster");
    let running = runtime::start(vec![(setup, tell)], |core, (setup, tell)| async move {
        let env = read_only(core.env);
        let look = Replicated::<ReadOnly<RuntimeEnv>, cluster::State>::look(&env, &setup);
        // The other side waits as long as the executor runs.
        tell.send(look.await.map_err(|error| error.to_string())).ok();
    })
    .map_err(|error| error.message)?;
    let looked = told.recv();
    running.join().map_err(|error| error.message)?;
    looked.map_err(|_| "the look ended early".to_owned())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_outside_of_a_data_folder_keeps_its_numbers() {
        let names = Names::of(Path::new("Cargo.toml"));
        assert!(names.unknown().is_some());
        assert_eq!(names.name(FieldNo::SEQ_NO), "_seq_no");
        assert_eq!(names.name(FieldNo::USER_FIRST), FieldNo::USER_FIRST.to_string());
    }

    #[test]
    fn a_known_field_goes_by_its_path() {
        let names = Names::new([(FieldNo::USER_FIRST, "author.name".to_owned())]);
        assert_eq!(names.name(FieldNo::USER_FIRST), "author.name");
    }
}
