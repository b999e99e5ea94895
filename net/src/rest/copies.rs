//! `wait_for_active_shards`: how many copies must be there before a write begins.
//!
//! A node alone has one copy of each shard. Who asks for more waits, and is then told that there
//! are not enough: exactly as on Elasticsearch with one node.

use std::time::Duration;

use base::hash::routing_hash;
use cluster::IndexSettings;
use engine::ops::document::WriteItem;
use engine::{Error, Result};
use env::{Clock, Env};

use crate::call::Call;

/// How many copies are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// As `index.write.wait_for_active_shards` says.
    Setting,
    /// So many.
    Count(u32),
    /// All that are configured.
    All,
}

impl Copies {
    /// The parameter's value; not given, or `index-setting`, means what the index's setting says.
    pub(super) fn read<E: Env>(call: &Call<'_, E>) -> Result<Self> {
        match call.params.text("wait_for_active_shards") {
            None | Some("index-setting") => Ok(Self::Setting),
            Some(text) => Self::parse(text),
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        match text {
            "all" => Ok(Self::All),
            text => match text.parse::<i32>() {
                Ok(count) => match u32::try_from(count) {
                    Ok(count) => Ok(Self::Count(count)),
                    Err(_) => {
                        Err(Error::illegal_argument("shard count cannot be a negative value"))
                    }
                },
                Err(_) => {
                    let reason = format!("For input string: \"{text}\"");
                    let cause = Error::new(400, "number_format_exception", reason);
                    let reason = format!("cannot parse ActiveShardCount[{text}]");
                    Err(Error::illegal_argument(reason).caused_by(cause))
                }
            },
        }
    }

    /// What is asked for where the index's setting says it.
    fn given(self, settings: Option<&IndexSettings>) -> Self {
        let said = settings.and_then(|it| it.text("index.write.wait_for_active_shards"));
        match (self, said.map(Self::parse)) {
            (Self::Setting, Some(Ok(said))) => said,
            (asked, _) => asked,
        }
    }

    /// How many those are, of a shard of an index with these settings; of one that is not there
    /// yet, with the defaults.
    pub(super) fn needed(self, settings: Option<&IndexSettings>) -> u32 {
        let replicas = settings.map_or(1, IndexSettings::replica_count);
        match self.given(settings) {
            Self::Count(count) => count,
            Self::All => replicas.saturating_add(1),
            Self::Setting => 1,
        }
    }
}

/// How long changes of indices wait for copies that will not come.
const CHANGE_TIMEOUT_MS: u64 = 30_000;

impl Copies {
    /// So many, where a number was given.
    pub(super) fn count(self) -> Option<u32> {
        match self {
            Self::Count(count) => Some(count),
            Self::Setting | Self::All => None,
        }
    }
}

/// `shards_acknowledged` of a change that is done: are the copies of these indices there? Those that
/// will not come are waited for as long as the request says.
pub(super) async fn acknowledged<E: Env>(
    call: &Call<'_, E>,
    copies: Copies,
    indices: &[String],
) -> Result<bool> {
    let state = call.core.state();
    let indices = indices.iter().filter_map(|name| state.index(name));
    let needed = indices.map(|index| copies.needed(Some(&index.settings))).max();
    if needed.is_none_or(|needed| needed <= 1) {
        return Ok(true);
    }
    let timeout_ms = call.params.time_ms("timeout")?.unwrap_or(CHANGE_TIMEOUT_MS);
    sleep(call, timeout_ms).await;
    Ok(false)
}

/// The default of `timeout`.
const TIMEOUT_MS: u64 = 60_000;

/// Waits for the copies of the shard that a document goes to; who may not write is told so at once.
pub(super) async fn wait<E: Env>(
    call: &Call<'_, E>,
    copies: Copies,
    item: &WriteItem,
) -> Result<()> {
    let routed = item.routing.as_deref().or(item.id.as_deref());
    match lacking(call, copies, &item.index, routed)? {
        None => Ok(()),
        Some(error) => {
            call.core.may_write(call.gate, item, true)?;
            wait_in_vain(call).await?;
            Err(error)
        }
    }
}

/// Waits as long as the request says for copies that will not come.
pub(super) async fn wait_in_vain<E: Env>(call: &Call<'_, E>) -> Result<()> {
    sleep(call, timeout_ms(call)?).await;
    Ok(())
}

/// Sleeps as long as the client stays: nothing is written meanwhile, and the connection of one that has left
/// would be held for as long as it once said.
async fn sleep<E: Env>(call: &Call<'_, E>, ms: u64) {
    call.left.or(call.core.env().clock().sleep(Duration::from_millis(ms))).await;
}

/// So long the request waits for copies.
pub(super) fn patience<E: Env>(call: &Call<'_, E>) -> Result<Duration> {
    timeout_ms(call).map(Duration::from_millis)
}

fn timeout_ms<E: Env>(call: &Call<'_, E>) -> Result<u64> {
    Ok(call.params.time_ms("timeout")?.unwrap_or(TIMEOUT_MS))
}

/// What is said in the end where the shard that a document of `index` goes to has too few copies; `routed` is its
/// routing value or id.
pub(super) fn lacking<E: Env>(
    call: &Call<'_, E>,
    copies: Copies,
    index: &str,
    routed: Option<&str>,
) -> Result<Option<Error>> {
    if matches!(copies, Copies::Count(0 | 1)) {
        return Ok(None);
    }
    let state = call.core.state();
    // An alias is judged by the first index behind it; what this very write makes, by the defaults.
    let concrete = state.aliases.get(index).and_then(|indices| indices.first());
    let settings = state.index(concrete.map_or(index, |name| name)).map(|index| &*index.settings);
    let needed = copies.needed(settings);
    if needed <= 1 {
        return Ok(None);
    }
    let asked = match copies.given(settings) {
        Copies::All => "ALL".to_owned(),
        _ => needed.to_string(),
    };
    let shard = match (settings, routed) {
        (Some(settings), Some(routed)) => {
            let all = i64::from(settings.routing_shard_count().max(1));
            let each = (all / i64::from(settings.shard_count().max(1))).max(1);
            i64::from(routing_hash(routed)).rem_euclid(all) / each
        }
        _ => 0,
    };
    Ok(Some(Error::new(
        503,
        "unavailable_shards_exception",
        format!(
            "[{index}][{shard}] Not enough active copies to meet shard count of [{asked}] (have \
             1, needed {needed}).{}",
            waited(call)?
        ),
    )))
}

/// The end of what a write is told that waited: how long, and what was asked.
fn waited<E: Env>(call: &Call<'_, E>) -> Result<String> {
    let path = call.head.target().split(|&b| b == b'?').next().unwrap_or_default();
    Ok(format!(
        " Timeout: [{}], request: [{}]",
        crate::render::units::millis(timeout_ms(call)?),
        String::from_utf8_lossy(path)
    ))
}

/// The whole of what is said of a shard that does not serve, to whom it refused a write.
pub(super) fn tell_whole<E: Env>(call: &Call<'_, E>, error: &mut Error) {
    if error.is_primary_inactive()
        && let Ok(end) = waited(call)
    {
        error.reason.push_str(&end);
    }
}
