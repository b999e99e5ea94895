//! The service behind the connections of one core: from a request to its answer.
//!
//! In order: query and wanted type are read; the caller is judged; the route is found, its
//! parameters checked; the body is decompressed and its type checked; the handler runs; its answer
//! is filtered, laid out and packed as asked. Every answer, also a refusal, goes the last part.

mod body;
mod repeated;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use engine::meter::FAMILIES;
use engine::ops::dotted;
use engine::{Core, Error, Left, Result};
use env::budget::Holder;
use env::turns::{Crowded, Lane, WAIT_MAX};
use env::{Bytes, Clock, Env, Stream};
use http::{Fault, Method, Target};

use crate::admit::{self, Caller, Security};
use crate::audit::{self, Noted};
use crate::call::Call;
use crate::conn::{self, Door, Memory, Refusal, Room, Service};
use crate::fail::{self, Trace};
use crate::format::{self, Encoding};
use crate::lanes::Lanes;
use crate::limits::{ANYBODYS_BYTES_MAX, Limits};
use crate::media::{self, Wanted};
use crate::oauth::touch::Touched;
use crate::oauth::visit::Visit;
use crate::params::Params;
use crate::reply::Reply;
use crate::request::{Judged, Request};
use crate::rest;
use crate::router::{Found, PathParams, Router};
use crate::seldom::Seldom;
use crate::table::{ROUTES, Route};

/// The bodies of one caller may take one part in so many of all memory, connections as much again.
const LANE_PART: usize = 4;

/// So long nothing more is said of connections that are too many, and of memory that lacks for them.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// How a server is set up.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bounds of connections.
    pub limits: Limits,
    /// Answers are packed where the client takes it (`http.compression`). Elasticsearch leaves it
    /// off under TLS, for packing secrets beside a stranger's text tells their lengths.
    pub compression: bool,
}

/// A connection's place at the door, until this is dropped.
pub struct Place<E: Env>(conn::Entered<E, Front<E>>);

impl<E: Env> std::fmt::Debug for Place<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Place")
    }
}

/// The HTTP side of one core.
pub struct Server<E: Env> {
    door: Rc<Door<E, Front<E>>>,
    /// When it was last said that there are too many connections.
    warned: Seldom,
}

impl<E: Env> Server<E> {
    /// A server before an engine core. Without `security` everything is allowed.
    pub fn new(core: Rc<Core<E>>, security: Option<Security<E>>, options: Options) -> Rc<Self> {
        let (env, lease) = (core.env().clone(), core.shared().budget.lease().of(Holder::Requests));
        let room = Room::new(env.clone(), lease, warn_of_memory(&core));
        let router = Router::new(ROUTES);
        let shared = core.shared();
        let parts = LANE_PART * usize::from(shared.config.cores);
        let lane_bytes_max = shared.budget.total_bytes() / parts;
        let connections_max =
            (lane_bytes_max / conn::CONNECTION_BYTES).min(options.limits.connections_max);
        let limits = Limits { lane_bytes_max, connections_max, ..options.limits };
        let turns = core.turns().clone();
        let (touched, lanes) = (Touched::default(), Lanes::new(shared.hasher.clone()));
        let strangers = audit::Strangers::default();
        let inner = Inner {
            core,
            security,
            options,
            router,
            touched,
            strangers,
            lanes,
            room: Rc::clone(&room),
        };
        let door = Door::new(limits, (env, turns), room, Front(Rc::new(inner)));
        Rc::new(Self { door, warned: Seldom::new(WARN_EVERY) })
    }

    /// A place for one more connection, to be taken before anything is spent on it; none where there
    /// are as many as the memory for them allows.
    pub async fn enter(&self) -> Option<Place<E>> {
        if self.door.is_full() {
            self.warn_of_connections();
        }
        self.door.enter().await.map(Place)
    }

    /// Ends some of the connections that wait for their clients: others need their descriptors.
    pub fn make_room(&self) {
        self.door.make_room();
    }

    /// Says that connections are as many as there may be, once in a while.
    fn warn_of_connections(&self) {
        let core = &self.door.service().0.core;
        if !self.warned.is_due(core.env().clock().monotonic()) {
            return;
        }
        (core.shared().config.warn)(&format!(
            "{} connections are open on a core, as many as `indices.memory` allows: new ones take the \
             places of idle ones, or are closed; more memory, or clients that share connections, help",
            self.open_count()
        ));
    }

    /// Does what comes before the first request; see [`conn::Entered::while_wanted`].
    pub async fn open<T>(&self, place: &Place<E>, opening: impl Future<Output = T>) -> Option<T> {
        place.0.while_wanted(opening).await
    }

    /// Serves one connection until it ends.
    pub async fn serve(&self, stream: impl Stream, place: Place<E>) {
        let core = Rc::clone(&self.door.service().0.core);
        core.meter().connections_opened.add(1);
        conn::serve(stream, place.0).await;
        core.meter().connections_closed.add(1);
    }

    /// Begins no request any more but those whose heads are complete; idle connections end now.
    pub fn stop(&self) {
        self.door.stop();
    }

    /// Ends when no connection is open (true), or the time has passed (false).
    pub async fn drain(&self, time: Duration) -> bool {
        let mut closed = std::pin::pin!(self.door.closed());
        let mut late = std::pin::pin!(self.door.env.clock().sleep(time));
        std::future::poll_fn(|context| {
            if closed.as_mut().poll(context).is_ready() {
                return std::task::Poll::Ready(true);
            }
            late.as_mut().poll(context).map(|()| false)
        })
        .await
    }

    /// Connections that are open.
    pub fn open_count(&self) -> usize {
        self.door.open_count()
    }
}

/// Says that memory lacks for connections or what they ask, once in a while.
fn warn_of_memory<E: Env>(core: &Rc<Core<E>>) -> Box<dyn Fn(usize)> {
    let (core, warned) = (Rc::clone(core), Seldom::new(WARN_EVERY));
    Box::new(move |open| {
        if !warned.is_due(core.env().clock().monotonic()) {
            return;
        }
        (core.shared().config.warn)(&format!(
            "`indices.memory` is all but used up while {open} connections are open on a core: those end that have \
             not shown who they are and keep the server waiting, first who takes no answer; where none does, \
             new ones are closed; more memory, or clients that share connections, help"
        ));
    })
}

/// Answers requests.
struct Front<E: Env>(Rc<Inner<E>>);

struct Inner<E: Env> {
    core: Rc<Core<E>>,
    security: Option<Security<E>>,
    options: Options,
    router: Router,
    touched: Touched,
    strangers: audit::Strangers,
    lanes: Lanes,
    room: Rc<Room<E>>,
}

impl<E: Env> Service for Front<E> {
    fn call(&self, request: Request) -> Pin<Box<dyn Future<Output = Reply>>> {
        let inner = Rc::clone(&self.0);
        Box::pin(async move { inner.answer(request).await })
    }

    fn lane(&self, head: &http::Head, peer: &str) -> Lane {
        self.0.lanes.of(head, peer)
    }

    fn is_brief(&self, head: &http::Head) -> bool {
        let target = Target::new(head.target());
        let oauth = self.0.security.as_ref().and_then(|security| security.oauth.as_ref());
        target.segments().next() == Some(b"_security")
            || oauth.is_some_and(|oauth| oauth.owns(&target))
    }

    fn judge(
        &self,
        head: http::Head,
        peer: Rc<str>,
    ) -> Pin<Box<dyn Future<Output = Option<Judged>>>> {
        let inner = Rc::clone(&self.0);
        Box::pin(async move { inner.judge(&head, peer).await })
    }

    fn refuse(&self, refusal: Refusal, head: Option<&http::Head>) -> Reply {
        let error = match refusal {
            Refusal::Fault(fault @ Fault::LineTooLong(_)) => {
                Error::new(400, "too_long_http_line_exception", fault.to_string())
            }
            Refusal::Fault(fault @ Fault::HeadTooLong(_)) => {
                Error::new(400, "too_long_http_header_exception", fault.to_string())
            }
            Refusal::Fault(fault) => return self.0.counted(Reply::empty(fault.status())),
            Refusal::Memory { wanted_bytes } => self.0.no_memory(wanted_bytes),
        };
        let reply = fail::reply(&error, Trace::No);
        self.0.counted(match head {
            Some(head) => as_asked(reply, head),
            None => reply,
        })
    }
}

/// The short answer to a request of which nothing but the head is read, in the encoding that it asks for.
fn as_asked(mut reply: Reply, head: &http::Head) -> Reply {
    let mut look = Look::default();
    let params = Params::parse(&Target::new(head.target()));
    let read = params.and_then(|params| look.read(&params, head));
    if matches!(read, Ok(Ok(())))
        && let Some(body) = format::of_json(look.wanted.encoding, &reply.body)
    {
        reply.body = body;
        reply.content_type = Some(look.wanted.content_type());
    }
    match head.text("x-opaque-id") {
        Some(id) => reply.field("X-Opaque-Id", id.to_owned()),
        None => reply,
    }
}

/// How an answer is to look, whatever it says.
#[derive(Clone, Debug, Default)]
struct Look {
    pretty: bool,
    human: bool,
    trace: Trace,
    filter: Vec<String>,
    wanted: Wanted,
    /// What it warns of.
    warnings: Vec<String>,
    /// Seconds to wait before asking again, of an answer that refuses for now.
    wait_seconds: Option<u64>,
    /// The caller has shown who it is, or need not.
    is_known: bool,
    /// Of the request, for its meter: a place in `engine::meter::FAMILIES`.
    family: usize,
    /// It has events in the audit log.
    noted: Noted,
}

/// A request but for its body.
struct Come<'a> {
    head: &'a http::Head,
    peer: &'a str,
    judged: Option<Judged>,
    left: &'a Left,
    shown: &'a Cell<bool>,
}

/// What whoever says something of frozen indices is told.
const IGNORE_THROTTLED: &str = "[ignore_throttled] parameter is deprecated because frozen indices have been \
                                deprecated. Consider cold or frozen tiers in place of frozen indices.";

/// Methods that Elasticsearch knows, and no path has.
const NAMES_OF_OTHERS: [&str; 3] = ["PATCH", "TRACE", "CONNECT"];

/// The family of requests that no route knows.
const OTHER: usize = FAMILIES.len() - 1;

impl Look {
    /// Reads what is asked for; or the answer to a caller who takes nothing that we write.
    fn read(
        &mut self,
        params: &Params,
        head: &http::Head,
    ) -> Result<std::result::Result<(), Reply>> {
        self.pretty = params.flag("pretty", false)?;
        self.human = params.flag("human", false)?;
        if params.flag("error_trace", false)? {
            self.trace = Trace::Yes;
        }
        let filter = params.list("filter_path");
        let mut excluded =
            filter.iter().filter_map(|path| path.trim().strip_prefix('-')).peekable();
        if excluded.peek().is_some() && excluded.all(|path| path.trim().is_empty()) {
            return Err(Error::illegal_argument("filters cannot be null or empty"));
        }
        self.filter = filter;
        for name in ["Accept", "Content-Type"] {
            if head.all(name).nth(1).is_some() {
                return Err(media::repeated(name));
            }
        }
        self.wanted = media::wanted(head.text("accept"), head.text("content-type"))?;
        if let Some(name) = params.text("format") {
            self.wanted = self.wanted.format(name);
        }
        if self.wanted.is_unwritten {
            self.filter.clear();
            let accept = head.text("accept").unwrap_or_default();
            let sentence = format!("Accept header [{accept}] is not supported");
            return Ok(Err(fail::plain(406, &sentence)));
        }
        Ok(Ok(()))
    }
}

impl<E: Env> Inner<E> {
    async fn answer(&self, request: Request) -> Reply {
        let begin = request.arrived;
        self.core.meter().received_bytes.add(request.body.len() as u64);
        let lost = audit::lost_count(self.security.as_ref());
        let (reply, family, noted) = self.answer_unmetered(request).await;
        let reply = audit::kept(self.security.as_ref(), (noted, lost), reply).await;
        let took = self.core.env().clock().monotonic().saturating_sub(begin);
        self.core.meter().requests[family].add(took);
        self.counted(reply)
    }

    /// Counts an answer by its status and size: also one to what was no whole request. Who is refused for now is told
    /// when to ask again.
    fn counted(&self, mut reply: Reply) -> Reply {
        let has_time =
            reply.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
        if matches!(reply.status, 429 | 503) && !has_time {
            reply.fields.push(("Retry-After", Cow::Borrowed("1")));
        }
        let meter = self.core.meter();
        meter.sent_bytes.add(reply.body.len() as u64);
        if let Some(answers) = meter.answers.get(usize::from(reply.status / 100).wrapping_sub(1)) {
            answers.add(1);
        }
        if reply.status == 429 {
            meter.rejected.add(1);
        }
        reply
    }

    /// The answer, the family of its request, and whether it has events in the audit log.
    async fn answer_unmetered(&self, request: Request) -> (Reply, usize, Noted) {
        let mut look = Look { family: OTHER, ..Look::default() };
        let Request { head, body, memory, peer, whole, judged, left, shown, .. } = request;
        let peer = self.address(&head, peer);
        let judged = judged.or_else(|| self.too_late(whole));
        if !judged.as_ref().is_some_and(Judged::is_refusal)
            && let Some((reply, noted)) = self.oauth(&head, &body, &peer).await
        {
            return (reply, OTHER, noted);
        }
        let come = Come { head: &head, peer: &peer, judged, left: &left, shown: &shown };
        let mut reply = match self.dispatch(come, body, memory, &mut look).await {
            Ok(reply) => reply,
            // Too long a body has an answer without one, be it long as it came or once unpacked.
            Err(error) if error.status == 413 => Reply::text(413, Vec::new()),
            Err(error) => {
                look.filter.clear();
                fail::reply(&error, look.trace)
            }
        };
        self.dress(&mut reply, &look).await;
        for sentence in &look.warnings {
            reply = reply.warn(sentence, &self.core.shared().config.info.build_hash);
        }
        if let Some(seconds) = look.wait_seconds.filter(|_| reply.status == 429) {
            reply = reply.field("Retry-After", seconds.to_string());
        }
        if let Some(id) = head.text("x-opaque-id") {
            reply = reply.field("X-Opaque-Id", id.to_owned());
        }
        self.pack(&head, &mut reply).await;
        if let Err(error) = self.room_to_send(&mut reply, look.family, head.method()).await {
            // What stands beside the body stays, but for how that was packed.
            let mut fields = std::mem::take(&mut reply.fields);
            fields.retain(|(name, _)| *name != "content-encoding");
            reply = Reply { fields, ..fail::reply(&error, look.trace) };
            look.filter.clear();
            self.dress(&mut reply, &look).await;
        }
        reply.is_of_known = look.is_known;
        (reply, look.family, look.noted)
    }

    /// The answer of the OAuth half, where the path is one of its own, and whether it has events.
    async fn oauth(&self, head: &http::Head, body: &Bytes, peer: &str) -> Option<(Reply, Noted)> {
        let security = self.security.as_ref()?;
        let oauth = security.oauth.as_ref()?;
        let target = Target::new(head.target());
        if !oauth.owns(&target) {
            return None;
        }
        // Administrators call as they call the store, and read as they read it.
        let mut look = oauth.administers(&target).then(Look::default);
        if let Some(look) = &mut look {
            match Params::parse(&target).and_then(|params| look.read(&params, head)) {
                Ok(Ok(())) => {}
                Ok(Err(reply)) => return Some((reply, Noted::Nothing)),
                Err(error) => return Some((fail::reply(&error, Trace::No), Noted::Nothing)),
            }
        }
        let visit = Visit {
            core: &self.core,
            security,
            settings: &oauth.settings,
            limiter: &oauth.limiter,
            head,
            query: target.query(),
            body,
            peer,
            id: OnceCell::new(),
            proven: OnceCell::new(),
            is_admitted: Cell::new(false),
            strangers: &self.strangers,
            is_told: Cell::new(false),
            asked_language: OnceCell::new(),
            why: RefCell::default(),
            right: OnceCell::default(),
            account: OnceCell::default(),
        };
        let mut reply = crate::oauth::answer(&visit).await;
        if let Some(mut look) = look {
            if reply.status >= 400 {
                look.filter.clear();
            }
            self.dress(&mut reply, &look).await;
        }
        reply.is_of_known = reply.status < 400 && visit.is_of_known();
        let noted = if visit.is_told.get() { Noted::Something } else { Noted::Nothing };
        Some((reply, noted))
    }

    /// A request whose turn came when nobody waits for it any more, `whole` as it was by then; how long it took to
    /// come is its client's doing, and bounded elsewhere.
    fn too_late(&self, whole: Duration) -> Option<Judged> {
        let wait = self.core.env().clock().monotonic().saturating_sub(whole);
        (wait > WAIT_MAX * 2).then_some(Judged::Crowded(Crowded { waiting: 0, wait }))
    }

    /// Address of the other side, as a proxy tells it that is trusted to.
    fn address(&self, head: &http::Head, peer: Rc<str>) -> Rc<str> {
        let oauth = self.security.as_ref().and_then(|security| security.oauth.as_ref());
        let told = oauth.and_then(|oauth| oauth.settings.proxies.client(head, &peer));
        told.map_or(peer, Into::into)
    }

    /// Judges the caller before the body is read.
    async fn judge(&self, head: &http::Head, peer: Rc<str>) -> Option<Judged> {
        let security = self.security.as_ref()?;
        if head.method() == Method::Options
            || security.oauth.as_ref().is_some_and(|oauth| oauth.owns(&Target::new(head.target())))
        {
            return Some(Judged::Anybody { bytes_max: ANYBODYS_BYTES_MAX });
        }
        Some(
            match admit::caller(Some(security), head, &self.address(head, peer), Trace::No).await {
                Ok(caller) => {
                    self.lanes.learn(head, &caller);
                    Judged::Caller(caller)
                }
                Err(reply) => Judged::Stranger(reply),
            },
        )
    }

    async fn dispatch(
        &self,
        Come { head, peer, judged, left, shown }: Come<'_>,
        body: Bytes,
        mut memory: Option<Memory>,
        look: &mut Look,
    ) -> Result<Reply> {
        let target = Target::new(head.target());
        let params = Params::parse(&target)?;
        if let Err(reply) = look.read(&params, head)? {
            return Ok(reply);
        }
        let judged = match (judged, head.method()) {
            // A browser's question before the question carries no credential.
            (None | Some(Judged::Anybody { .. }), Method::Options) => {
                Judged::Caller(Caller::Anyone)
            }
            (Some(Judged::Caller(caller)), _) => {
                let now_ms = u64::try_from(self.core.env().clock().unix_ms()).unwrap_or_default();
                let come = (peer, now_ms);
                match admit::again(self.security.as_ref(), caller, head, come, look.trace).await {
                    Ok(caller) => Judged::Caller(caller),
                    Err(reply) => Judged::Stranger(reply),
                }
            }
            (Some(judged), _) => judged,
            (None, _) => {
                match admit::caller(self.security.as_ref(), head, peer, look.trace).await {
                    Ok(caller) => {
                        self.lanes.learn(head, &caller);
                        Judged::Caller(caller)
                    }
                    Err(reply) => Judged::Stranger(reply),
                }
            }
        };
        let caller = match judged {
            Judged::Caller(caller) => {
                look.is_known = self.security.is_none() || matches!(caller, Caller::Known(_));
                shown.set(shown.get() || look.is_known);
                caller
            }
            Judged::Stranger(reply) => {
                look.filter.clear();
                look.noted = audit::refused(
                    self.core.env(),
                    self.security.as_ref(),
                    &self.strangers,
                    head,
                    peer,
                    &reply,
                );
                return Ok(reply);
            }
            // What anybody may ask has been answered, but for questions before a question.
            Judged::Anybody { .. } => {
                return Err(Error::internal("nobody was asked who calls"));
            }
            Judged::Crowded(crowded) => return Err(too_many(head, crowded)),
            Judged::NoMemory { wanted_bytes } => {
                return Err(self.no_memory(wanted_bytes));
            }
        };
        self.touched.note(self.core.env(), self.security.as_ref(), &caller, peer);
        let (route, mut path) = match self.route(head, &target)? {
            Ok(found) => found,
            Err(reply) => {
                look.filter.clear();
                return Ok(reply);
            }
        };
        look.family = route.family();
        let has_body = !body.is_empty();
        let of_path = self.router.names(route.api);
        params.check(&String::from_utf8_lossy(target.path()), route.params, of_path, has_body)?;
        self.router.complete(route, &mut path, &params);
        let body = self.plain_body(head, body, &mut memory).await?;
        let repeated = repeated::bytes_each(route.api, &path, &params);
        let reading = (route.family(), repeated);
        let body = match media::encoding_of(head, &body)? {
            Ok(Encoding::Json) => body,
            Ok(Encoding::Yaml | Encoding::Cbor) if route.api.takes_lines() => {
                look.filter.clear();
                let kind = head.text("content-type").unwrap_or_default();
                let sentence = format!(
                    "Content-Type [{kind}] does not support stream parsing. Use JSON or SMILE instead"
                );
                return Ok(fail::plain(406, &sentence));
            }
            Ok(encoding) => {
                self.json_of(encoding, body, route.api.takes_lines(), &mut memory).await?
            }
            Err(reply) => {
                look.filter.clear();
                return Ok(reply);
            }
        };
        // How many values there are its JSON tells, whatever it came as.
        let room = self.room_to_read(reading, &body, &mut memory).await?;
        if !body.is_empty() && !route.api.takes_body() {
            let (method, path) = (head.method_text(), String::from_utf8_lossy(target.path()));
            return Err(Error::illegal_argument(format!(
                "request [{method} {path}] does not support having a body"
            )));
        }
        let told = audit::Told::default();
        let security = self.security.as_ref();
        let facts = audit::facts_before(self.core.env(), security, &caller, (head, peer), &told);
        let gate = caller.gate(head, &self.core, security, facts);
        let call = Call {
            core: &self.core,
            gate: gate.as_ref(),
            caller: &caller,
            security: self.security.as_ref(),
            route,
            head,
            path: &path,
            params: &params,
            body,
            wanted: look.wanted,
            human: look.human,
            trace: look.trace,
            body_bytes_max: self.options.limits.http.body_bytes_max,
            peer,
            left,
            told: told.into(),
            wait_seconds: std::cell::Cell::default(),
            room: room.into(),
        };
        if params.text("ignore_throttled").is_some() {
            gate.warn(IGNORE_THROTTLED);
        }
        let answered = match audit::may_begin(&call).await {
            Ok(()) => rest::watched::answer(&call).await,
            Err(error) => Err(error),
        };
        look.noted = audit::answered(&call, &answered);
        let warnings = gate.origin().warnings.as_ref();
        look.wait_seconds = call.wait_seconds.get();
        look.warnings = warnings.map(|warnings| warnings.take()).unwrap_or_default();
        let product = call.head.text("x-elastic-product-origin").unwrap_or_default();
        if !product.trim().is_empty() {
            look.warnings.retain(|warning| !dotted::is_for_others(warning));
        }
        match answered {
            Err(error) if error.status == 403 => {
                look.filter.clear();
                Ok(caller.challenged(fail::reply(&error, look.trace), Some(&error)))
            }
            // What was refused in part has a body of its own: `_reindex` tells which documents.
            answered => answered.map(|reply| caller.challenged(reply, None)),
        }
    }

    /// Route and path parameters, or the answer to a path or method that has none.
    fn route(
        &self,
        head: &http::Head,
        target: &Target<'_>,
    ) -> Result<std::result::Result<(&'static Route, PathParams), Reply>> {
        let uri = || String::from_utf8_lossy(head.target()).into_owned();
        let found = self
            .router
            .find(head.method(), target)
            .map_err(|bad| Error::illegal_argument(bad.to_string()))?;
        let methods = match found {
            Found::Route(route, path) => return Ok(Ok((route, path))),
            Found::WrongMethod(methods) => methods,
            Found::Nothing => Vec::new(),
        };
        let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
        let allowed = |reply: Reply| {
            if names.is_empty() { reply } else { reply.field("Allow", names.join(",")) }
        };
        if head.method() == Method::Options {
            return Ok(Err(allowed(Reply::text(200, Vec::new()))));
        }
        let method = head.method_text();
        let mut sentence = if head.method() == Method::Other && !NAMES_OF_OTHERS.contains(&method) {
            format!("Unexpected http method: {method}")
        } else if names.is_empty() {
            return Ok(Err(fail::no_handler(&uri(), method)));
        } else {
            format!("Incorrect HTTP method for uri [{}] and method [{method}]", uri())
        };
        if !names.is_empty() {
            sentence.push_str(&format!(", allowed: [{}]", names.join(", ")));
        }
        Ok(Err(allowed(fail::plain(405, &sentence))))
    }
}

fn too_many(head: &http::Head, crowded: Crowded) -> Error {
    let (method, path) = (head.method_text(), String::from_utf8_lossy(head.target()));
    let path = path.split('?').next().unwrap_or_default();
    let (waiting, wait) = (crowded.waiting, crowded.wait.as_millis());
    Error::rejected(format!(
        "rejected execution of [{method} {path}]: {waiting} requests of this caller wait already, \
         for about [{wait}ms]"
    ))
}
