//! How often: counters that all cores share, bounded in number, forgotten when their time is over.
//!
//! Whoever is counted is known by a hash under a key of this process: names come from strangers, and may
//! be long. Each kind of thing has its own room, so that a flood of one forgives nothing of another.
//!
//! They are no part of the replicated state: a restart forgives. One lock guards them; it is held
//! for a look-up and an addition, on paths that hash or write a log beside it.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::hash::Map;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Requests of a client at the token endpoint.
    Token,
    /// Failed client authentications.
    ClientAuth,
    /// Pushed requests and device requests of a client.
    Push,
    /// Registrations.
    Register,
    /// Passwords that came by `Basic` and were wrong.
    Password,
    /// Sign-ins from an address.
    Login,
    /// Device codes typed.
    Device,
}

const KINDS: usize = Of::Device as usize + 1;

/// Counters of a kind that are kept at most; beyond, those whose time is over go, then all of them.
const COUNTERS_MAX: usize = 100_000;

/// Longest delay of an account in seconds.
const DELAY_MAX_S: u64 = 60;

/// After so long without a failure an account's counter begins anew.
const FORGIVEN: Duration = Duration::from_secs(15 * 60);

#[derive(Clone, Copy)]
struct Window {
    count: u64,
    end: Duration,
}

#[derive(Clone, Copy)]
struct Failures {
    count: u64,
    until: Duration,
    last: Duration,
}

/// All counters.
#[derive(Default)]
pub struct Limiter {
    windows: Mutex<[Map<u64, Window>; KINDS]>,
    failures: Mutex<Map<u64, Failures>>,
    names: RandomState,
    /// Until then some wrong password is counted, in nanoseconds: who asks at each request looks here,
    /// and at the counters only where there are any.
    guessed_until: AtomicU64,
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Limiter(..)")
    }
}

impl Limiter {
    /// Counts one more; where that is above `most` in this window, answers the seconds to wait.
    pub fn count(
        &self,
        of: Of,
        key: &str,
        most: u64,
        window: Duration,
        now: Duration,
    ) -> Option<u64> {
        if most == 0 {
            return None;
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let windows = &mut windows[of as usize];
        make_room(windows, |window| window.end > now);
        let name = self.names.hash_one(key);
        let entry = windows.entry(name).or_insert(Window { count: 0, end: now + window });
        if entry.end <= now {
            *entry = Window { count: 0, end: now + window };
        }
        entry.count += 1;
        if of == Of::Password {
            self.guessed_until.fetch_max(nanos(entry.end), Ordering::Relaxed);
        }
        (entry.count > most).then(|| seconds(entry.end.saturating_sub(now)))
    }

    /// Is any wrong password counted now?
    pub fn is_guessed(&self, now: Duration) -> bool {
        nanos(now) < self.guessed_until.load(Ordering::Relaxed)
    }

    /// Is it above `most` already? Counts nothing.
    pub fn is_over(&self, of: Of, key: &str, most: u64, now: Duration) -> Option<u64> {
        if most == 0 {
            return None;
        }
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows[of as usize].get(&self.names.hash_one(key))?;
        let is_over = window.end > now && window.count > most;
        is_over.then(|| seconds(window.end.saturating_sub(now)))
    }

    /// Seconds that an account has to wait before its next attempt is looked at.
    pub fn delay(&self, account: &str, now: Duration) -> Option<u64> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let known = failures.get(&self.names.hash_one(account))?;
        (known.until > now).then(|| seconds(known.until.saturating_sub(now)))
    }

    /// An attempt failed: after `free` of them delays of 1, 2, 4 … 60 s begin.
    pub fn failed(&self, account: &str, free: u64, now: Duration) {
        if free == 0 {
            return;
        }
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut failures, |known| known.last + FORGIVEN > now);
        let known = failures.entry(self.names.hash_one(account)).or_insert(Failures {
            count: 0,
            until: now,
            last: now,
        });
        if known.last + FORGIVEN <= now {
            known.count = 0;
        }
        known.count += 1;
        known.last = now;
        if known.count >= free {
            let doublings = (known.count - free).min(6);
            known.until = now + Duration::from_secs((1 << doublings).min(DELAY_MAX_S));
        }
    }

    /// An attempt succeeded.
    pub fn succeeded(&self, account: &str) {
        let name = self.names.hash_one(account);
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
    }
}

fn make_room<K: std::hash::Hash + Eq, V>(map: &mut Map<K, V>, is_live: impl Fn(&V) -> bool) {
    if map.len() >= COUNTERS_MAX {
        map.retain(|_, value| is_live(value));
        if map.len() >= COUNTERS_MAX {
            map.clear();
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whole seconds, at least one.
fn seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1000).max(1) as u64
}

/// What stands for the neighbourhood of an address: its /24, or its /64.
pub fn neighbourhood(address: &str) -> String {
    match host(address).parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(ip)) => {
            let [a, b, c, _] = ip.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        Ok(std::net::IpAddr::V6(ip)) => {
            let [a, b, c, d, ..] = ip.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
        Err(_) => host(address).to_owned(),
    }
}

/// The host of `host:port`.
pub fn host(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn wrong_passwords_are_looked_for_while_there_are_any() {
        let limiter = Limiter::default();
        let (minute, at) = (Duration::from_secs(60), Duration::from_secs);
        assert!(!limiter.is_guessed(at(0)));
        limiter.count(Of::Login, "a", 10, minute, at(0));
        assert!(!limiter.is_guessed(at(0)));
        limiter.count(Of::Password, "a", 10, minute, at(5));
        assert!(limiter.is_guessed(at(64)) && !limiter.is_guessed(at(65)));
    }

    #[test]
    fn a_window_ends_and_begins_anew() {
        let limiter = Limiter::default();
        let count = |now| limiter.count(Of::Login, "a", 2, S * 60, now);
        assert_eq!([count(S), count(S), count(S * 2)], [None, None, Some(59)]);
        assert_eq!(limiter.is_over(Of::Login, "a", 2, S * 3), Some(58));
        assert_eq!(limiter.count(Of::Login, "b", 2, S * 60, S), None, "others are others");
        assert_eq!(count(S * 61), None);
        assert_eq!(limiter.count(Of::Login, "a", 0, S, S), None, "0 is off");
    }

    #[test]
    fn a_flood_of_names_forgives_nothing_else() {
        let limiter = Limiter::default();
        let count = |of, key: &str| limiter.count(of, key, 2, S * 60, S);
        assert_eq!([count(Of::Password, "ann"), count(Of::Password, "ann")], [None, None]);
        for stranger in 0..=COUNTERS_MAX {
            assert_eq!(count(Of::Token, &stranger.to_string()), None);
        }
        assert_eq!(count(Of::Password, "ann"), Some(60));
        let windows = limiter.windows.lock().expect("nobody panicked");
        assert!(windows.iter().all(|of| of.len() <= COUNTERS_MAX));
    }

    #[test]
    fn delays_double_up_to_a_minute_and_are_forgiven() {
        let limiter = Limiter::default();
        let mut now = S;
        let mut delays = Vec::new();
        for _ in 0..12 {
            limiter.failed("ann", 5, now);
            let delay = limiter.delay("ann", now).unwrap_or(0);
            delays.push(delay);
            now += S * delay as u32;
        }
        assert_eq!(delays, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
        limiter.succeeded("ann");
        assert_eq!(limiter.delay("ann", now), None);
        limiter.failed("bob", 1, now);
        limiter.failed("bob", 1, now + FORGIVEN);
        assert_eq!(limiter.delay("bob", now + FORGIVEN), Some(1));
    }

    #[test]
    fn neighbours_share_a_counter() {
        assert_eq!(neighbourhood("10.1.2.3:99"), "10.1.2.0/24");
        assert_eq!(neighbourhood("[2001:db8:1:2:3::4]:99"), "2001:db8:1:2::/64");
    }
}
