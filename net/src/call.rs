//! One request on its way through a handler: what it asks, and of whom.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use engine::{Core, Error, Gate, Left, Result};
use env::budget::Taken;
use env::{Bytes, Env};
use http::Head;
use json::{Value, Writer};

use crate::admit::{Caller, Security};
use crate::audit::Told;
use crate::fail;
use crate::media::Wanted;
use crate::params::Params;
use crate::reply::Reply;
use crate::router::PathParams;
use crate::table::Route;

/// What a handler sees.
pub struct Call<'a, E: Env> {
    /// The engine.
    pub core: &'a Rc<Core<E>>,
    /// May the caller?
    pub gate: &'a dyn Gate,
    /// Who calls.
    pub caller: &'a Caller,
    /// Who judges callers; none where security is off.
    pub security: Option<&'a Security<E>>,
    /// The route.
    pub route: &'static Route,
    /// Its head.
    pub head: &'a Head,
    /// Parameters of the path.
    pub path: &'a PathParams,
    /// Parameters of the query.
    pub params: &'a Params,
    /// The body, plain.
    pub body: Bytes,
    /// How the answer is to be written.
    pub wanted: Wanted,
    /// Readable twins of numbers are wanted.
    pub human: bool,
    /// Stack traces are wanted.
    pub trace: fail::Trace,
    /// Longest body that is taken.
    pub body_bytes_max: usize,
    /// The address from which it comes.
    pub peer: &'a str,
    /// Tells when the client has left.
    pub left: &'a Left,
    /// What the audit log is told of it, beside what its head says.
    pub told: RefCell<Told>,
    /// Seconds until the caller may ask again, where the answer is 429 and the time is known.
    pub wait_seconds: Cell<Option<u64>>,
    /// Memory for what the engine makes of a large body, where it was taken before.
    pub room: Cell<Option<Taken>>,
}

impl<E: Env> Call<'_, E> {
    /// A parameter of the path that the route has.
    pub fn segment(&self, name: &str) -> &str {
        self.path.get(name).unwrap_or_default()
    }

    /// Now, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        use env::Clock;
        self.core.env().clock().unix_ms()
    }

    /// The index expression of the path; empty where the route has none.
    pub fn indices(&self) -> &str {
        self.segment("index")
    }

    /// The body, or the one that came in the query as `source`.
    ///
    /// # Errors
    /// A `source` without its type, or of another type.
    pub fn content(&self) -> Result<Bytes> {
        if !self.body.is_empty() {
            return Ok(self.body.clone());
        }
        let Some(source) = self.params.text("source") else { return Ok(Bytes::empty()) };
        let Some(kind) = self.params.text("source_content_type") else {
            return Err(Error::new(
                500,
                "illegal_state_exception",
                "source and source_content_type parameters are required",
            ));
        };
        let Ok(encoding) = crate::media::check_body(Some(kind)) else {
            let named = kind.split(';').next().unwrap_or(kind).trim_end();
            let is_named = named.split_once('/').is_some_and(|(of, what)| {
                http::field::is_token(of.as_bytes()) && http::field::is_token(what.as_bytes())
            });
            return Err(match is_named {
                true => Error::new(
                    500,
                    "illegal_state_exception",
                    format!("Unknown value for source_content_type [{kind}]"),
                ),
                false => Error::illegal_argument(format!("invalid Content-Type header [{kind}]")),
            });
        };
        let json = crate::format::to_json(encoding, source.as_bytes()).map_err(|malformed| {
            Error::new(400, "x_content_parse_exception", format!("[source]: {malformed}"))
        })?;
        Ok(Bytes::from(json))
    }

    /// A body came, and there is nothing in it: an empty `source`, or blanks. Elasticsearch's parsers meet their end
    /// at once, where without any body they are not asked.
    ///
    /// # Errors
    /// As [`Call::content`].
    pub fn is_blank(&self) -> Result<bool> {
        Ok(match self.body.is_empty() {
            true => self.params.text("source") == Some("") && self.content()?.is_empty(),
            false => self.body.iter().all(u8::is_ascii_whitespace),
        })
    }

    /// What `read` makes of [`Call::content`], which may be empty. A long one is read on a worker, so
    /// whatever goes through the whole of it belongs into `read`.
    ///
    /// # Errors
    /// Those of `read` and of `content`; 429 where too many wait for a worker.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Bytes) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.core.read_text(self.content()?, read).await
    }

    /// The body as an object; `None` where there is none.
    ///
    /// # Errors
    /// `Failed to parse content to map` where it is not a JSON object; as [`Call::read`].
    pub async fn map(&self) -> Result<Option<Value>> {
        self.read(|content| if content.is_empty() { Ok(None) } else { map_of(content).map(Some) })
            .await
    }

    /// The body as an object, which must be there.
    ///
    /// # Errors
    /// `request body is required`, and as [`Call::map`].
    pub async fn required_map(&self) -> Result<Value> {
        self.map().await?.ok_or_else(|| Error::parse("request body is required"))
    }

    /// Where the member `key` of the body stands; its beginning where there is none.
    ///
    /// # Errors
    /// As [`Call::read`].
    pub async fn place_of(&self, key: &str) -> Result<json::Place> {
        let key = key.to_owned();
        self.read(move |content| Ok(fail::place_of(content, &key))).await
    }

    /// A JSON answer, written by `write`.
    pub fn json(&self, status: u16, write: impl FnOnce(&mut Writer<'_>)) -> Reply {
        let mut body = Vec::with_capacity(256);
        write(&mut Writer::new(&mut body));
        Reply::json(status, body)
    }

    /// As [`Call::json`], for a body of about so many bytes.
    pub fn json_of(&self, status: u16, bytes: usize, write: impl FnOnce(&mut Writer<'_>)) -> Reply {
        let mut body = Vec::with_capacity(256 + bytes);
        write(&mut Writer::new(&mut body));
        Reply::json(status, body)
    }

    /// `{"acknowledged":true}`.
    pub fn acknowledged(&self) -> Reply {
        Reply::json(200, br#"{"acknowledged":true}"#.to_vec())
    }
}

/// A body as an object, for [`Call::read`].
///
/// # Errors
/// `request body is required`, and as [`Call::map`].
pub fn map_of(content: &[u8]) -> Result<Value> {
    if content.is_empty() {
        return Err(Error::parse("request body is required"));
    }
    let failed = || Error::parse("Failed to parse content to map");
    match json::parse(content) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(failed()),
        Err(error) => Err(failed().caused_by(fail::of_json(&error, content))),
    }
}
