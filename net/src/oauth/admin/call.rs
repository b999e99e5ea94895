//! The calls of `/_oauth`, and what each of them takes: a parameter, or a body, that a call does not know is
//! refused and not passed over, as by every call of the store. A misspelt `version` would decide about
//! something else than was looked at.

use engine::{Error, Result};
use env::Env;
use http::{Method, Target};

use super::super::visit::Visit;
use super::decide::Verb;
use crate::fail;
use crate::format::Encoding;
use crate::media::encoding_of;
use crate::params::{Kind, Known, Params};
use crate::reply::Reply;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Make a client.
    Create,
    /// Show all clients.
    List,
    /// Show one.
    Show,
    /// Remove one.
    Delete,
    /// Decide about one.
    Decide(Verb),
    /// Lend one an account.
    Lend,
    /// Give one a new secret.
    RotateSecret,
    /// Show grants.
    Grants,
    /// End one.
    Revoke,
    /// Seal tokens with new keys.
    RotateKeys,
}

/// A call.
#[derive(Debug)]
pub struct Call {
    /// What it does.
    pub op: Op,
    method: Method,
    /// What follows `/_oauth`; a star is a name.
    path: &'static [&'static str],
    params: &'static [Known],
    takes_body: bool,
    /// What it is in the audit log; looking is nothing.
    pub event: Option<&'static str>,
}

const VERSION: &[Known] = &[Known::new("version", Kind::Long)];

const OF_GRANTS: &[Known] =
    &[Known::new("client_id", Kind::Text), Known::new("username", Kind::Text)];

const fn call(op: Op, method: Method, path: &'static [&'static str]) -> Call {
    Call { op, method, path, params: &[], takes_body: false, event: None }
}

impl Call {
    const fn noted(self, event: &'static str) -> Self {
        Self { event: Some(event), ..self }
    }

    const fn with(self, params: &'static [Known]) -> Self {
        Self { params, ..self }
    }

    const fn with_body(self) -> Self {
        Self { takes_body: true, ..self }
    }

    fn is_at(&self, path: &[String]) -> bool {
        self.path.len() == path.len()
            && self.path.iter().zip(path).all(|(own, given)| *own == "*" || own == given)
    }
}

/// All calls.
#[rustfmt::skip]
const CALLS: &[Call] = &[
    call(Op::Create, Method::Post, &["client"]).with_body().noted("client_registered"),
    call(Op::List, Method::Get, &["client"]),
    call(Op::Show, Method::Get, &["client", "*"]),
    call(Op::Delete, Method::Delete, &["client", "*"]).noted("client_deleted"),
    call(Op::Decide(Verb::Approve), Method::Post, &["client", "*", "_approve"]).with(VERSION).with_body().noted("client_approved"),
    call(Op::Decide(Verb::Reject), Method::Post, &["client", "*", "_reject"]).with(VERSION).noted("client_rejected"),
    call(Op::Decide(Verb::Suspend), Method::Post, &["client", "*", "_suspend"]).with(VERSION).noted("client_suspended"),
    call(Op::Lend, Method::Post, &["client", "*", "_service_account"]).with(VERSION).with_body().noted("client_changed"),
    call(Op::RotateSecret, Method::Post, &["client", "*", "_rotate_secret"]).noted("client_secret_rotated"),
    call(Op::Grants, Method::Get, &["grant"]).with(OF_GRANTS),
    call(Op::Revoke, Method::Delete, &["grant", "*"]).noted("consent_revoked"),
    call(Op::RotateKeys, Method::Post, &["keys", "_rotate"]).noted("key_rotated"),
];

/// The call of this method at this path.
pub fn find(method: Method, path: &[String]) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.method == method && call.is_at(path))
}

/// The methods of a path, in order.
pub fn methods(path: &[String]) -> Vec<&'static str> {
    let mut methods: Vec<&str> =
        CALLS.iter().filter(|call| call.is_at(path)).map(|call| call.method.as_str()).collect();
    methods.sort_unstable();
    methods
}

/// What was said beside the path.
#[derive(Debug)]
pub struct Asked {
    params: Params,
}

impl Asked {
    /// Reads what the call takes.
    ///
    /// # Errors
    /// A name that it does not know, a value of another kind or an empty one, a name that comes twice, a body
    /// where none is taken: each in Elasticsearch's words, where it has some. A body of a type that is not read has an
    /// answer of its own.
    pub fn read<E: Env>(
        visit: &Visit<'_, E>,
        call: &Call,
    ) -> Result<std::result::Result<Self, Reply>> {
        let target = Target::new(visit.head.target());
        let params = Params::parse(&target)?;
        let path = String::from_utf8_lossy(target.path());
        params.check(&path, &[call.params], &[], !visit.body.is_empty())?;
        for known in call.params {
            // The store lets the last one count; who decides about access shall not have to know that.
            let is_it = |pair: &(_, _)| pair.0 == known.name;
            if target.params().flatten().filter(is_it).count() > 1 {
                return Err(Error::illegal_argument(format!("[{}] came twice", known.name)));
            }
            if params.text(known.name) == Some("") {
                return Err(Error::illegal_argument(format!("[{}] is empty", known.name)));
            }
        }
        match encoding_of(visit.head, visit.body)? {
            Ok(Encoding::Json) => {}
            Ok(_) => {
                let kind = visit.head.text("content-type").unwrap_or_default();
                let sentence = format!("Content-Type header [{kind}] is not supported");
                return Ok(Err(fail::plain(406, &sentence)));
            }
            Err(reply) => return Ok(Err(reply)),
        }
        if !visit.body.is_empty() && !call.takes_body {
            let method = visit.head.method_text();
            return Err(Error::illegal_argument(format!(
                "request [{method} {path}] does not support having a body"
            )));
        }
        Ok(Ok(Self { params }))
    }

    /// A parameter, where it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.params.text(name)
    }

    /// `version`: the one that a decision is about, where the caller names one.
    ///
    /// # Errors
    /// A number that no version has.
    pub fn version(&self) -> Result<Option<u64>> {
        let Some(version) = self.params.long("version")? else { return Ok(None) };
        let version = u64::try_from(version);
        version.map(Some).map_err(|_| Error::illegal_argument("[version] must not be negative"))
    }
}
