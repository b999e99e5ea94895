//! Searches over views that are held: scrolls, page after page, and points in time.
//!
//! A page of a scroll is a search for what comes after the last hit of the page before, in an order
//! that tells all hits apart; nothing but that place is remembered. All matches are counted once, at
//! the beginning.
//!
//! Always true: the gate is asked again for each page, so a privilege that is taken away counts.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use env::{Clock, Env};
use search::request::{PointInTime, SearchRequest, Tiebreak, TrackTotal};

use super::context::{self, Context, ContextId, ContextKind, HeldShard, Scrolling};
use super::search::{KeepAlive, SEARCH, SearchCall, SearchReply};
use super::sliced::{By, sliced};
use super::slow::{Asked, Source, kept_source};
use super::{IndicesOptions, Shards};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::preference::Preference;

/// What closing everybody's scrolls is asked by.
const CLEAR_ALL: &str = "cluster:admin/indices/scroll/clear_all";

/// Answer of opening a point in time.
#[derive(Clone, Debug)]
pub struct MomentReply {
    /// By which it is searched.
    pub id: String,
    /// The shards that are held.
    pub shards: Shards,
}

/// Opens a point in time.
#[derive(Clone, Debug)]
pub struct MomentCall {
    /// Index expression.
    pub indices: String,
    /// How to read it.
    pub options: IndicesOptions,
    /// Only shards of these routing values; empty is all.
    pub routing: Vec<String>,
    /// Which of these shards.
    pub preference: Preference,
    /// For how long it stays.
    pub keep_alive: KeepAlive,
}

impl<E: Env> Core<E> {
    /// The first page of a scroll.
    pub(super) async fn begin_scroll(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &SearchCall,
        keep_alive: &KeepAlive,
        mut request: SearchRequest,
        begin: Duration,
    ) -> Result<SearchReply> {
        check_scroll(&request)?;
        let stays = self.check_keep_alive(keep_alive.ms, &keep_alive.text)?;
        let mut held = self.hold(gate, SEARCH, call).await?;
        if let Some(slice) = request.slice.take() {
            let by = match &slice.field {
                Some(field) => By::Field(field),
                None => By::Id,
            };
            sliced((self, gate), &mut held, slice.id, slice.max, by).await?;
        }
        request.scrolls = true;
        request.tiebreak = Tiebreak::Hidden;
        request.total = TrackTotal::Exact;
        let request = Arc::new(request);
        let asked = Asked::new(gate, &request, Source::Call(call), call.partial_results);
        let run = self.find(asked, &held, begin).await?;
        let after = run.merged.winners.last().map(|winner| winner.ranked.keys.as_slice().into());
        let (total, max_score) = (run.merged.total, run.merged.max_score);
        let mut reply = self.bring(asked, run, begin).await?;
        let mut request = Arc::unwrap_or_clone(request);
        request.total = TrackTotal::No;
        let context = Context {
            owner: gate.owner().to_owned(),
            standing: gate.standing(),
            kind: ContextKind::Scroll,
            shards: held.into(),
            scrolling: Some(Scrolling {
                request: Arc::new(request),
                after,
                total,
                max_score,
                partial_results: call.partial_results,
                source: kept_source(call),
            }),
        };
        reply.scroll_id = Some(self.open_context(context, stays).await?.text());
        Ok(reply)
    }

    /// The next page of a scroll.
    ///
    /// # Errors
    /// An identifier that is none, a scroll that is over, shards that do not answer.
    pub async fn scroll(
        self: &Rc<Self>,
        gate: &dyn Gate,
        id: &str,
        keep_alive: Option<&KeepAlive>,
    ) -> Result<SearchReply> {
        let begin = self.env.clock().monotonic();
        let stays = keep_alive.map(|it| self.check_keep_alive(it.ms, &it.text)).transpose()?;
        let known = scroll_id(id)?;
        let context = self.use_context(known, gate.owner(), stays).await;
        let Some(Context { shards, scrolling: Some(mut scrolling), .. }) = context else {
            return Err(context::missing(known));
        };
        self.check_there(&shards, known)?;
        let mut request = (*scrolling.request).clone();
        request.resume = scrolling.after.clone();
        // Only the first page tells aggregations.
        request.aggs = Default::default();
        if scrolling.after.is_none() {
            // The first page was empty, so all are.
            request.size = 0;
        }
        let request = Arc::new(request);
        let source = Arc::clone(&scrolling.source);
        let asked = Asked::new(gate, &request, Source::Kept(&source), scrolling.partial_results);
        let run = self.find(asked, &shards, begin).await?;
        if let Some(last) = run.merged.winners.last() {
            scrolling.after = Some(last.ranked.keys.as_slice().into());
        }
        let (total, max_score) = (scrolling.total, scrolling.max_score);
        let mut reply = self.bring(asked, run, begin).await?;
        self.move_context(known, scrolling).await;
        reply.result.total = total;
        reply.result.max_score = max_score;
        reply.scroll_id = Some(id.to_owned());
        Ok(reply)
    }

    /// Ends scrolls; `None`: all of the caller's, or everybody's where the caller may. How many were open.
    ///
    /// # Errors
    /// An identifier that is none.
    pub async fn clear_scroll(
        self: &Rc<Self>,
        gate: &dyn Gate,
        ids: Option<&[String]>,
    ) -> Result<usize> {
        let ids = match ids {
            Some(ids) => Some(ids.iter().map(|id| scroll_id(id)).collect::<Result<Vec<_>>>()?),
            None => None,
        };
        // Who may close everybody's scrolls does so by `_all`, as in Elasticsearch; others close their own.
        let owner = match ids.is_none() && gate.cluster(CLEAR_ALL).is_ok() {
            true => None,
            false => Some(gate.owner()),
        };
        Ok(self.close_contexts(ids, owner, ContextKind::Scroll).await)
    }

    /// Opens a point in time.
    ///
    /// # Errors
    /// A missing index, a shard that does not serve, too many open.
    pub async fn open_moment(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &MomentCall,
    ) -> Result<MomentReply> {
        let stays = self.check_keep_alive(call.keep_alive.ms, &call.keep_alive.text)?;
        let names = SearchCall {
            indices: call.indices.clone(),
            options: call.options,
            routing: call.routing.clone(),
            preference: call.preference.clone(),
            ..SearchCall::default()
        };
        let held = self.hold(gate, "indices:data/read/open_point_in_time", &names).await?;
        Self::check_whole("open_search_context", &held)?;
        for shard in &held {
            if let Err(error) = &shard.view {
                return Err(error.clone());
            }
        }
        let count = held.len() as u32;
        let context = Context {
            owner: gate.owner().to_owned(),
            standing: gate.standing(),
            kind: ContextKind::PointInTime,
            shards: held.into(),
            scrolling: None,
        };
        let id = self.open_context(context, stays).await?.text();
        Ok(MomentReply {
            id,
            shards: Shards { total: count, successful: count, ..Shards::default() },
        })
    }

    /// Closes a point in time; whether it was open.
    ///
    /// # Errors
    /// An identifier that is none.
    pub async fn close_moment(self: &Rc<Self>, gate: &dyn Gate, id: &str) -> Result<usize> {
        let ids = Some(vec![moment_id(id)?]);
        Ok(self.close_contexts(ids, Some(gate.owner()), ContextKind::PointInTime).await)
    }

    /// Searches a point in time.
    pub(super) async fn search_moment(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &SearchCall,
        pit: PointInTime,
        mut request: SearchRequest,
        begin: Duration,
    ) -> Result<SearchReply> {
        let mut problems = Vec::new();
        if !call.indices.is_empty() {
            problems.push(
                "[indices] cannot be used with point in time. Do not specify any index with point \
                 in time.",
            );
        }
        if !call.routing.is_empty() {
            problems.push("[routing] cannot be used with point in time");
        }
        if !call.preference.is_none() {
            problems.push("[preference] cannot be used with point in time");
        }
        if !problems.is_empty() {
            return Err(Error::validation(&problems));
        }
        let stays = match &pit.keep_alive {
            Some((ms, text)) => Some(self.check_keep_alive(*ms, text)?),
            None => None,
        };
        let known = moment_id(&pit.id)?;
        let Some(context) = self.use_context(known, gate.owner(), stays).await else {
            return Err(context::missing(known));
        };
        self.check_there(&context.shards, known)?;
        if !request.sort.is_empty() && !ends_apart(&request) {
            request.tiebreak = Tiebreak::Shown;
        }
        let shards = match request.slice.take() {
            None => context.shards,
            Some(slice) => {
                let mut held = context.shards.to_vec();
                let by = match &slice.field {
                    Some(field) => By::Field(field),
                    None => By::Place,
                };
                sliced((self, gate), &mut held, slice.id, slice.max, by).await?;
                held.into()
            }
        };
        let request = Arc::new(request);
        let asked = Asked::new(gate, &request, Source::Call(call), call.partial_results);
        let run = self.find(asked, &shards, begin).await?;
        let mut reply = self.bring(asked, run, begin).await?;
        self.expand(gate, &shards, &request, &mut reply, begin).await?;
        reply.pit_id = Some(pit.id);
        Ok(reply)
    }

    /// Contexts end with their indices.
    fn check_there(&self, shards: &[HeldShard], id: ContextId) -> Result<()> {
        let state = self.state();
        let there =
            |shard: &HeldShard| state.index_by_uuid(shard.index).is_some_and(|index| index.open);
        if shards.iter().all(there) { Ok(()) } else { Err(context::missing(id)) }
    }
}

/// The order already tells all hits apart.
fn ends_apart(request: &SearchRequest) -> bool {
    request.sort.last().is_some_and(|sort| sort.by == search::request::SortBy::ShardDoc)
}

/// What a scroll may not ask for.
fn check_scroll(request: &SearchRequest) -> Result<()> {
    let mut problems = Vec::new();
    if request.total == TrackTotal::No {
        problems.push("disabling [track_total_hits] is not allowed in a scroll context");
    }
    if request.from > 0 {
        problems.push("using [from] is not allowed in a scroll context");
    }
    if request.size == 0 {
        problems.push("[size] cannot be [0] in a scroll context");
    }
    if request.search_after.is_some() {
        problems.push("[search_after] cannot be used in a scroll context");
    }
    if !request.rescore.is_empty() {
        problems.push("using [rescore] is not allowed in a scroll context");
    }
    if request.collapse.is_some() {
        problems.push("cannot use `collapse` in a scroll context");
    }
    if request.pit.is_some() {
        problems.push("using [point in time] is not allowed in a scroll context");
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::validation(&problems)) }
}

fn scroll_id(text: &str) -> Result<ContextId> {
    ContextId::parse(text, ContextKind::Scroll)
        .ok_or_else(|| Error::illegal_argument("Cannot parse scroll id"))
}

fn moment_id(text: &str) -> Result<ContextId> {
    ContextId::parse(text, ContextKind::PointInTime)
        .ok_or_else(|| Error::illegal_argument(format!("invalid id: [{text}]")))
}
