//! Refusals of the endpoints that programs call: fixed words, nothing echoed.

use authz::Error;
use json::Writer;

use crate::reply::Reply;

/// A refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fail {
    /// Status of the answer.
    pub status: u16,
    /// The word of the standard.
    pub error: &'static str,
    /// A sentence for the developer.
    pub description: &'static str,
    /// Seconds to wait, where waiting helps.
    pub retry_after: Option<u64>,
    /// How to authenticate, where that was the trouble.
    pub challenge: Option<&'static str>,
}

/// The type of every answer to a program.
pub const JSON: &str = "application/json;charset=UTF-8";

/// How a client is asked to authenticate.
const BASIC: &str = "Basic realm=\"oauth\"";

impl Fail {
    /// 400 with a word and a sentence.
    pub const fn new(error: &'static str, description: &'static str) -> Self {
        Self { status: 400, error, description, retry_after: None, challenge: None }
    }

    /// The request is malformed.
    pub const fn request(description: &'static str) -> Self {
        Self::new("invalid_request", description)
    }

    /// The client is not who it says.
    pub const fn client() -> Self {
        Self {
            status: 401,
            error: "invalid_client",
            description: "Client authentication failed",
            retry_after: None,
            challenge: Some(BASIC),
        }
    }

    /// A code or token is of no use; why stays with us.
    pub const fn grant() -> Self {
        Self::new(
            "invalid_grant",
            "The code or token is invalid, expired, revoked or was issued to another client",
        )
    }

    /// Too many requests.
    pub const fn slow(seconds: u64) -> Self {
        Self {
            status: 429,
            error: "temporarily_unavailable",
            description: "Too many requests",
            retry_after: Some(seconds),
            challenge: None,
        }
    }

    /// State cannot be written now.
    pub const fn down() -> Self {
        Self {
            status: 503,
            error: "temporarily_unavailable",
            description: "The server cannot keep its state at this moment",
            retry_after: Some(1),
            challenge: None,
        }
    }

    /// With another status.
    pub const fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The answer.
    pub fn reply(self) -> Reply {
        let mut body = Vec::with_capacity(96);
        let mut writer = Writer::new(&mut body);
        writer.begin_object().field_str("error", self.error);
        writer.field_str("error_description", self.description).end_object();
        let mut reply = answer(self.status, body);
        if let Some(challenge) = self.challenge {
            reply = reply.field("WWW-Authenticate", challenge);
        }
        if let Some(seconds) = self.retry_after {
            reply = reply.field("Retry-After", seconds.to_string());
        }
        reply
    }
}

/// What authz state refuses, in the words of the token endpoint.
pub fn of_state(error: &Error) -> Fail {
    match error {
        Error::Store { .. }
        | Error::Log { .. }
        | Error::Full { .. }
        | Error::Unnoted
        | Error::Stopped
        | Error::Busy => Fail::down(),
        _ => Fail::grant(),
    }
}

/// An answer to a program, with the headers that all of them have.
pub fn answer(status: u16, body: Vec<u8>) -> Reply {
    let mut reply = Reply { status, body, ..Reply::default() };
    reply.content_type = Some(JSON.into());
    unkept(reply)
}

/// No cache keeps it.
pub fn unkept(reply: Reply) -> Reply {
    reply.field("Cache-Control", "no-store").field("Pragma", "no-cache")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_its_word_and_how_to_go_on() {
        let reply = Fail::client().reply();
        assert_eq!(reply.status, 401);
        assert_eq!(
            String::from_utf8_lossy(&reply.body),
            r#"{"error":"invalid_client","error_description":"Client authentication failed"}"#
        );
        let field = |name: &str| {
            reply
                .fields
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.to_string())
        };
        assert_eq!(field("WWW-Authenticate").as_deref(), Some("Basic realm=\"oauth\""));
        assert_eq!(field("Cache-Control").as_deref(), Some("no-store"));
        assert_eq!(field("Pragma").as_deref(), Some("no-cache"));
        assert_eq!(reply.content_type.as_deref(), Some("application/json;charset=UTF-8"));
        let slow = Fail::slow(7).reply();
        assert!(slow.fields.iter().any(|(name, value)| *name == "Retry-After" && value == "7"));
    }
}
