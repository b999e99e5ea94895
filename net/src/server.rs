//! The service behind the connections of one core: from a request to its answer.
//!
//! In order: query and wanted type are read; the caller is judged; the route is found, its
//! parameters checked; the body is decompressed and its type checked; the handler runs; its answer
//! is filtered, laid out and packed as asked. Every answer, also a refusal, goes the last part.

use std::borrow::Cow;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use engine::meter::FAMILIES;
use engine::{Core, Error, Result};
use env::{Bytes, Clock, Env, Spawn, Stream};
use http::coding::{self, Coding};
use http::{Fault, Method, Target};
use json::path::Filter;

use crate::admit::{self, Caller, Security};
use crate::audit;
use crate::call::Call;
use crate::conn::{self, Door, Refusal, Service};
use crate::fail::{self, Trace};
use crate::format::{self, Encoding};
use crate::limits::Limits;
use crate::media::{self, Unfit, Wanted};
use crate::oauth::Oauth;
use crate::oauth::touch::Touched;
use crate::oauth::visit::Visit;
use crate::params::Params;
use crate::reply::{JSON, Reply};
use crate::request::Request;
use crate::rest;
use crate::router::{Found, PathParams, Router};
use crate::table::{ROUTES, Route};

/// Bodies above this are unpacked, and answers packed, on a worker.
const WORKER_BYTES_MIN: usize = 64 * 1024;

/// Answers below this are not packed: the head is longer.
const PACK_BYTES_MIN: usize = 512;

/// How a server is set up.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bounds of connections.
    pub limits: Limits,
    /// Answers are packed where the client takes it (`http.compression`). Elasticsearch leaves it
    /// off under TLS, for packing secrets beside a stranger's text tells their lengths.
    pub compression: bool,
}

/// The HTTP side of one core.
pub struct Server<E: Env> {
    door: Rc<Door<E, Front<E>>>,
}

impl<E: Env> Server<E> {
    /// A server before an engine core. Without `security` everything is allowed.
    pub fn new(core: Rc<Core<E>>, security: Option<Security<E>>, options: Options) -> Rc<Self> {
        let (env, lease) = (core.env().clone(), core.shared().budget.lease());
        let router = Router::new(ROUTES);
        let inner = Inner { core, security, options, router, touched: Touched::default() };
        let door = Door::new(env, options.limits, lease, Front(Rc::new(inner)));
        Rc::new(Self { door })
    }

    /// Serves one connection until it ends.
    pub async fn serve(&self, stream: impl Stream) {
        let core = Rc::clone(&self.door.service().0.core);
        core.meter().connections_opened.add(1);
        conn::serve(stream, Rc::clone(&self.door)).await;
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

/// Answers requests.
struct Front<E: Env>(Rc<Inner<E>>);

struct Inner<E: Env> {
    core: Rc<Core<E>>,
    security: Option<Security<E>>,
    options: Options,
    router: Router,
    touched: Touched,
}

impl<E: Env> Service for Front<E> {
    fn call(&self, request: Request) -> Pin<Box<dyn Future<Output = Reply>>> {
        let inner = Rc::clone(&self.0);
        Box::pin(async move { inner.answer(request).await })
    }

    fn refuse(&self, refusal: Refusal) -> Reply {
        let error = match refusal {
            Refusal::Fault(fault @ Fault::LineTooLong(_)) => {
                Error::new(400, "too_long_http_line_exception", fault.to_string())
            }
            Refusal::Fault(fault @ Fault::HeadTooLong(_)) => {
                Error::new(400, "too_long_http_header_exception", fault.to_string())
            }
            Refusal::Fault(fault) => return Reply::empty(fault.status()),
            Refusal::Memory { wanted_bytes } => {
                no_memory(wanted_bytes, self.0.core.shared().budget.total_bytes())
            }
        };
        fail::reply(&error, Trace::No)
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
    /// Of the request, for its meter: a place in `engine::meter::FAMILIES`.
    family: usize,
}

/// The family of requests that no route knows.
const OTHER: usize = FAMILIES.len() - 1;

impl Look {
    fn read(&mut self, params: &Params, head: &http::Head) -> Result<()> {
        self.pretty = params.flag("pretty", false)?;
        self.human = params.flag("human", false)?;
        if params.flag("error_trace", false)? {
            self.trace = Trace::Yes;
        }
        self.filter = params.list("filter_path");
        self.wanted = media::wanted(head.text("accept"))?;
        match params.text("format") {
            None => {}
            Some(name) => {
                self.wanted = self
                    .wanted
                    .format(name)
                    .ok_or_else(|| Error::illegal_argument(format!("unknown format [{name}]")))?;
            }
        }
        Ok(())
    }
}

impl<E: Env> Inner<E> {
    async fn answer(&self, request: Request) -> Reply {
        let begin = self.core.env().clock().monotonic();
        self.core.meter().received_bytes.add(request.body.len() as u64);
        let (reply, family) = self.answer_unmetered(request).await;
        let meter = self.core.meter();
        let took = self.core.env().clock().monotonic().saturating_sub(begin);
        meter.requests[family].add(took);
        meter.sent_bytes.add(reply.body.len() as u64);
        if let Some(answers) = meter.answers.get(usize::from(reply.status / 100).wrapping_sub(1)) {
            answers.add(1);
        }
        if reply.status == 429 {
            meter.rejected.add(1);
        }
        reply
    }

    /// The answer, and the family of its request.
    async fn answer_unmetered(&self, request: Request) -> (Reply, usize) {
        let mut look = Look { family: OTHER, ..Look::default() };
        let Request { head, body, memory, peer } = request;
        if let Some(reply) = self.oauth(&head, &body, &peer).await {
            return (reply, OTHER);
        }
        let mut reply = match self.dispatch(&head, body, memory, &mut look, &peer).await {
            Ok(reply) => reply,
            Err(error) => {
                look.filter.clear();
                fail::reply(&error, look.trace)
            }
        };
        self.dress(&mut reply, &look).await;
        if let Some(id) = head.text("x-opaque-id") {
            reply = reply.field("X-Opaque-Id", id.to_owned());
        }
        self.pack(&head, &mut reply).await;
        (reply, look.family)
    }

    /// The answer of the OAuth half, where the path is one of its own.
    async fn oauth(&self, head: &http::Head, body: &Bytes, peer: &str) -> Option<Reply> {
        let security = self.security.as_ref()?;
        let oauth = security.oauth.as_ref()?;
        let target = Target::new(head.target());
        if !Oauth::owns(&target) {
            return None;
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
        };
        Some(crate::oauth::answer(&visit).await)
    }

    async fn dispatch(
        &self,
        head: &http::Head,
        body: Bytes,
        mut memory: Option<env::budget::Taken>,
        look: &mut Look,
        peer: &str,
    ) -> Result<Reply> {
        let target = Target::new(head.target());
        let params = Params::parse(&target)?;
        look.read(&params, head)?;
        let caller = match head.method() {
            // A browser's question before the question carries no credential.
            Method::Options => Caller::Anyone,
            _ => match admit::caller(self.security.as_ref(), head, look.trace).await {
                Ok(caller) => caller,
                Err(reply) => {
                    look.filter.clear();
                    audit::refused(self.core.env(), self.security.as_ref(), head, peer, &reply);
                    return Ok(reply);
                }
            },
        };
        self.touched.note(self.core.env(), self.security.as_ref(), &caller, peer);
        let (route, path) = match self.route(head, &target)? {
            Ok(found) => found,
            Err(reply) => {
                look.filter.clear();
                return Ok(reply);
            }
        };
        look.family = route.family();
        params.check(&String::from_utf8_lossy(target.path()), route.params)?;
        let body = self.plain_body(head, body, &mut memory).await?;
        let body = match encoding_of(head, &body)? {
            Ok(Encoding::Json) => body,
            Ok(encoding) => self.json_of(encoding, body).await?,
            Err(reply) => {
                look.filter.clear();
                return Ok(reply);
            }
        };
        let gate = caller.gate();
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
        };
        let answered = rest::answer(&call).await;
        audit::answered(&call, peer, &answered);
        // Tokens of the OAuth half are told which scope they lack.
        match (answered, caller.lacks()) {
            (Err(error), Some(challenge)) if error.status == 403 => {
                look.filter.clear();
                Ok(fail::reply(&error, look.trace).field("WWW-Authenticate", challenge))
            }
            (answered, _) => answered,
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
        if names.is_empty() {
            return Ok(Err(fail::no_handler(&uri(), head.method_text())));
        }
        let sentence = format!(
            "Incorrect HTTP method for uri [{}] and method [{}], allowed: [{}]",
            uri(),
            head.method_text(),
            names.join(", ")
        );
        Ok(Err(allowed(fail::plain(405, &sentence))))
    }

    /// The body without its coding.
    async fn plain_body(
        &self,
        head: &http::Head,
        body: Bytes,
        memory: &mut Option<env::budget::Taken>,
    ) -> Result<Bytes> {
        let Some(coding) = Coding::of(head.field("content-encoding")) else {
            return Err(Error::new(
                415,
                "unsupported_media_type_exception",
                format!(
                    "Content-Encoding header [{}] is not supported",
                    head.text("content-encoding").unwrap_or_default()
                ),
            ));
        };
        if coding == Coding::Identity || body.is_empty() {
            return Ok(body);
        }
        let most = self.options.limits.http.body_bytes_max;
        let decoded = if body.len() < WORKER_BYTES_MIN {
            coding::decode(coding, &body, most)
        } else {
            let work = move || coding::decode(coding, &body, most);
            let done = self.core.env().spawn().work_short(work).await;
            done.map_err(|error| Error::rejected(format!("no worker for the body: {error}")))?
        };
        let plain = decoded.map_err(|fault| match fault {
            Fault::BodyTooLong(most) => Error::new(
                413,
                "content_too_long_exception",
                format!("entity content is too long for the configured buffer limit [{most}]"),
            ),
            other => Error::new(
                400,
                "zip_exception",
                format!(
                    "the body is not what its Content-Encoding header [{}] says: {other}",
                    head.text("content-encoding").unwrap_or_default()
                ),
            ),
        })?;
        if let Some(memory) = memory
            && !memory.grow(plain.len())
        {
            return Err(no_memory(plain.len(), self.core.shared().budget.total_bytes()));
        }
        Ok(Bytes::from(plain))
    }

    /// A body of another encoding as JSON: a large one on a worker.
    async fn json_of(&self, encoding: Encoding, body: Bytes) -> Result<Bytes> {
        let decoded = if body.len() < WORKER_BYTES_MIN {
            format::to_json(encoding, &body)
        } else {
            let work = move || format::to_json(encoding, &body);
            let done = self.core.env().spawn().work_short(work).await;
            done.map_err(|error| Error::rejected(format!("no worker for the body: {error}")))?
        };
        let json = decoded.map_err(|malformed| {
            Error::new(
                400,
                "x_content_parse_exception",
                format!("the body is no {}: {malformed}", encoding.name()),
            )
        })?;
        Ok(Bytes::from(json))
    }

    /// Filters and lays out what is JSON.
    async fn dress(&self, reply: &mut Reply, look: &Look) {
        if reply.content_type.as_deref() != Some(JSON) {
            return;
        }
        let encoding = look.wanted.encoding;
        let pretty = look.pretty && encoding == Encoding::Json;
        if !look.filter.is_empty() || pretty {
            let filter = (!look.filter.is_empty()).then(|| Filter::response(&look.filter));
            let dress = Change::Dress { filter, pretty };
            reply.body = self.change(std::mem::take(&mut reply.body), dress).await;
        }
        if encoding != Encoding::Json && !reply.body.is_empty() {
            let body = std::mem::take(&mut reply.body);
            reply.body = self.change(body, Change::Encode(encoding)).await;
        }
        reply.content_type = Some(look.wanted.content_type());
    }

    /// Packs the body where the client takes it.
    async fn pack(&self, head: &http::Head, reply: &mut Reply) {
        if !self.options.compression || reply.body.len() < PACK_BYTES_MIN {
            return;
        }
        if head.field("accept-encoding").is_some_and(|value| http::field::accepts(value, "gzip")) {
            reply.body = self.change(std::mem::take(&mut reply.body), Change::Pack).await;
            reply.fields.push(("content-encoding", Cow::Borrowed("gzip")));
        }
    }

    /// Makes another body of a body: a large one on a worker, so that no core stalls.
    async fn change(&self, body: Vec<u8>, change: Change) -> Vec<u8> {
        if body.len() < WORKER_BYTES_MIN {
            return change.of(&body);
        }
        let (body, again) = (Bytes::from(body), change.clone());
        let shared = body.clone();
        match self.core.env().spawn().work_short(move || again.of(&shared)).await {
            Ok(changed) => changed,
            // All workers are busy with more than they can do; late is better than wrong.
            Err(_) => change.of(&body),
        }
    }
}

/// What is done to a whole body at its end.
#[derive(Clone)]
enum Change {
    /// Filtered, laid out.
    Dress { filter: Option<Filter>, pretty: bool },
    /// Packed with gzip.
    Pack,
    /// Written otherwise.
    Encode(Encoding),
}

impl Change {
    fn of(&self, body: &[u8]) -> Vec<u8> {
        match self {
            Self::Pack => coding::gzip(body),
            // Our own answers are JSON; one that is not goes as it is.
            Self::Encode(encoding) => {
                format::of_json(*encoding, body).unwrap_or_else(|| body.to_vec())
            }
            Self::Dress { filter, pretty } => {
                let mut out = Vec::with_capacity(body.len());
                let filtered = filter.as_ref().map(|filter| filter.apply(body, &mut out));
                // Our own answers are JSON; one that is not goes as it is.
                if !matches!(filtered, Some(Ok(()))) {
                    out.extend_from_slice(body);
                }
                if *pretty {
                    out = json::pretty(&out);
                    out.push(b'\n');
                }
                out
            }
        }
    }
}

/// How a body is written; or the answer to one of a type that is not read.
fn encoding_of(head: &http::Head, body: &[u8]) -> Result<std::result::Result<Encoding, Reply>> {
    if body.is_empty() {
        return Ok(Ok(Encoding::Json));
    }
    let value = head.text("content-type");
    match media::check_body(value) {
        Ok(encoding) => Ok(Ok(encoding)),
        Err(Unfit::Missing) => Ok(Err(fail::plain(406, "Content-Type header is missing"))),
        Err(Unfit::Unsupported) => {
            let value = value.unwrap_or_default();
            let sentence = format!("Content-Type header [{value}] is not supported");
            Ok(Err(fail::plain(406, &sentence)))
        }
        Err(Unfit::Malformed) => {
            let value = value.unwrap_or_default();
            Err(media::malformed("Content-Type", &format!("invalid media type [{value}]")))
        }
    }
}

fn no_memory(wanted: usize, limit: usize) -> Error {
    let reason = format!(
        "[parent] Data too large, data for [<http_request>] would be [{wanted}/{}], which is \
         larger than what is left of the limit of [{limit}/{}]",
        crate::render::units::bytes(wanted as u64),
        crate::render::units::bytes(limit as u64)
    );
    Error::new(429, "circuit_breaking_exception", reason)
        .with("bytes_wanted", wanted)
        .with("bytes_limit", limit)
        .with("durability", "TRANSIENT")
}
