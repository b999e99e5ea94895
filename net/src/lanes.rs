//! Whose work a request is: callers by their names, keys and clients, strangers by their addresses.
//!
//! A lane is known at once from a credential that was found good before; until then a caller shares
//! the lane of the address. A false credential never makes a lane of its own.

use std::cell::RefCell;
use std::hash::BuildHasher;

use authz::Via;
use base::hash::{Map, State};
use env::turns::Lane;

use crate::admit::{Caller, RUN_AS};
use crate::oauth::limit::place;

/// Credentials that are remembered; beyond it all are forgotten, and learnt anew.
const KNOWN_MAX: usize = 4096;

/// Lanes of credentials that were good.
pub struct Lanes {
    hasher: State,
    known: RefCell<Map<u64, Lane>>,
}

impl Lanes {
    /// None is known; the same caller has the same number wherever `hasher` is the same.
    pub fn new(hasher: State) -> Self {
        Self { hasher, known: RefCell::default() }
    }

    /// The lane of a request, by its head.
    pub fn of(&self, head: &http::Head, peer: &str) -> Lane {
        let known = self.credential(head).and_then(|it| self.known.borrow().get(&it).copied());
        known.unwrap_or_else(|| Lane(self.hasher.hash_one(("address", place(peer)))))
    }

    /// The caller was let in.
    pub fn learn(&self, head: &http::Head, caller: &Caller) {
        let (Some(credential), Caller::Known(known)) = (self.credential(head), caller) else {
            return;
        };
        let lane = match known.via() {
            Via::Realm | Via::Token(_) => self.hasher.hash_one(("user", known.name())),
            Via::ApiKey(key) => self.hasher.hash_one(("key", &key.id)),
            Via::Service(token) => self.hasher.hash_one(("service", &token.account, &token.name)),
            Via::Oauth(grant) => self.hasher.hash_one(("client", &grant.client)),
        };
        let mut all = self.known.borrow_mut();
        if all.len() >= KNOWN_MAX {
            all.clear();
        }
        all.insert(credential, Lane(lane));
    }

    fn credential(&self, head: &http::Head) -> Option<u64> {
        let credential = head.field("authorization")?;
        Some(self.hasher.hash_one((credential, head.field(RUN_AS))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &str) -> http::Head {
        let text = format!("GET / HTTP/1.1\r\nhost: x\r\n{fields}\r\n");
        http::Head::parse(text.as_bytes(), &http::Limits::DEFAULT).expect("a head")
    }

    #[test]
    fn strangers_share_the_lane_of_their_address() {
        let lanes = Lanes::new(State::default());
        let one = lanes.of(&head("authorization: ApiKey a\r\n"), "10.0.0.1:1");
        assert_eq!(one, lanes.of(&head("authorization: ApiKey b\r\n"), "10.0.0.1:2"));
        assert_eq!(one, lanes.of(&head(""), "10.0.0.1:3"));
        assert_ne!(one, lanes.of(&head(""), "10.0.0.2:1"));
        // One machine has all addresses of its /64: each was a lane.
        let one = lanes.of(&head(""), "[2001:db8::1]:1");
        assert_eq!(one, lanes.of(&head(""), "[2001:db8::2]:1"));
        assert_ne!(one, lanes.of(&head(""), "[2001:db8:0:1::1]:1"));
    }
}
