//! What can be told of a log that nobody has open, without reading its batches.

use std::path::Path;

use base::ShardId;
use env::Env;
use env::disk::Entry;

use crate::file::{Kind, LogFile, kind};
use crate::{Error, Result};

/// Do the files of the log of `shard` stand, among these `entries` of the folder `dir`? There is one at least, none
/// is missing between two, and each is of this shard and as long as its head says. Nothing is changed.
///
/// # Errors
/// What is missing or damaged; a file that cannot be read.
pub async fn look<E: Env>(env: &E, dir: &Path, shard: ShardId, entries: &[Entry]) -> Result<()> {
    let numbers = entries.iter().filter_map(|entry| match kind(&entry.name) {
        Kind::Log(number) => Some(number),
        Kind::Unfinished | Kind::Corrupt | Kind::Other => None,
    });
    for number in row(dir, numbers.collect())? {
        LogFile::open(env, dir, shard, number).await?;
    }
    Ok(())
}

/// The numbers of a log's files, in order.
///
/// # Errors
/// [`Error::NoLog`] where there is none; [`Error::Corrupt`] where one is missing between two.
pub(crate) fn row(dir: &Path, mut numbers: Vec<u64>) -> Result<Vec<u64>> {
    numbers.sort_unstable();
    if numbers.is_empty() {
        return Err(Error::NoLog { dir: dir.to_string_lossy().into_owned() });
    }
    if let Some(pair) = numbers.windows(2).find(|pair| pair[1] != pair[0] + 1) {
        return Err(Error::Corrupt {
            file: dir.join(crate::file::name(pair[0] + 1)).to_string_lossy().into_owned(),
            offset: 0,
            what: format!("it is missing, while file {} stands", pair[1]),
        });
    }
    Ok(numbers)
}
