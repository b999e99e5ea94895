//! Whose work a request is: callers by their names, keys and clients, strangers by their addresses.
//!
//! A lane is known at once from a credential that was found good before; until then a caller shares
//! the lane of the address. A false credential never makes a lane of its own.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::BuildHasher;

use authz::Via;
use base::hash::{Map, State};
use env::turns::Lane;

use crate::admit::{Caller, RUN_AS};
use crate::oauth::limit::place;

/// Credentials that are remembered; beyond it the oldest is forgotten, and learnt anew.
const KNOWN_MAX: usize = 4096;

/// Of one caller so many are: a key may be written in many ways, and whoever does makes nobody else forgotten. An
/// application has a token for each of its users.
const OF_ONE_MAX: usize = KNOWN_MAX / 8;

/// Lanes of credentials that were good.
pub struct Lanes {
    hasher: State,
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    lanes: Map<u64, Lane>,
    /// The credentials of each lane, the oldest first.
    of_one: Map<Lane, VecDeque<u64>>,
    /// All, the oldest first; some may be forgotten already.
    order: VecDeque<u64>,
}

impl Known {
    /// Remembers a credential of the lane.
    fn learn(&mut self, credential: u64, lane: Lane) {
        match self.lanes.get(&credential) {
            Some(known) if *known == lane => return,
            // It is somebody else's now.
            Some(_) => self.forget(credential),
            None => {}
        }
        if let Some(own) = self.of_one.get(&lane)
            && own.len() >= OF_ONE_MAX
            && let Some(oldest) = own.front().copied()
        {
            self.forget(oldest);
        }
        while self.lanes.len() >= KNOWN_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.forget(oldest);
        }
        if self.order.len() >= 2 * KNOWN_MAX {
            self.order.retain(|one| self.lanes.contains_key(one));
        }
        self.lanes.insert(credential, lane);
        self.of_one.entry(lane).or_default().push_back(credential);
        self.order.push_back(credential);
    }

    fn forget(&mut self, credential: u64) {
        let Some(lane) = self.lanes.remove(&credential) else { return };
        let Some(own) = self.of_one.get_mut(&lane) else { return };
        own.retain(|one| *one != credential);
        if own.is_empty() {
            self.of_one.remove(&lane);
        }
    }
}

impl Lanes {
    /// None is known; the same caller has the same number wherever `hasher` is the same.
    pub fn new(hasher: State) -> Self {
        Self { hasher, known: RefCell::default() }
    }

    /// The lane of a request, by its head.
    pub fn of(&self, head: &http::Head, peer: &str) -> Lane {
        let known =
            self.credential(head).and_then(|it| self.known.borrow().lanes.get(&it).copied());
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
        self.known.borrow_mut().learn(credential, Lane(lane));
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

    /// One key, written in thousands of ways, made all others forgotten: a flood and a quiet caller shared the lane of
    /// their address then, and the quiet one was refused.
    #[test]
    fn who_writes_a_key_in_many_ways_makes_nobody_forgotten() {
        let mut known = Known::default();
        known.learn(1, Lane(1));
        for credential in 100..30_000 {
            known.learn(credential, Lane(2));
        }
        assert_eq!(known.lanes.get(&1), Some(&Lane(1)));
        assert_eq!(known.lanes.len(), 1 + OF_ONE_MAX);
        assert!(known.lanes.contains_key(&29_999) && !known.lanes.contains_key(&100));
        assert!(known.order.len() <= 2 * KNOWN_MAX, "{}", known.order.len());
        // Of as many callers the oldest is forgotten, and no more than that.
        for caller in 0..2 * KNOWN_MAX as u64 {
            known.learn(50_000 + caller, Lane(50_000 + caller));
        }
        assert_eq!((known.lanes.len(), known.of_one.len()), (KNOWN_MAX, KNOWN_MAX));
        assert!(!known.lanes.contains_key(&1));
        assert!(known.lanes.contains_key(&(50_000 + KNOWN_MAX as u64)));
        // A credential that is another's now is the other's.
        let last = 50_000 + 2 * KNOWN_MAX as u64 - 1;
        known.learn(last, Lane(7));
        assert_eq!(known.lanes.get(&last), Some(&Lane(7)));
        assert_eq!((known.lanes.len(), known.of_one.len()), (KNOWN_MAX, KNOWN_MAX));
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
