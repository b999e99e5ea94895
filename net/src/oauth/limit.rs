//! How often: counters that all cores share, bounded in number, forgotten when their time is over.
//!
//! Whoever is counted is known by a hash under a key of this process: names come from strangers, and may
//! be long. Each kind of thing has its own room, so that a flood of one forgives nothing of another.
//!
//! They are no part of the replicated state: a restart forgives. One lock guards them; it is held
//! for a look-up and an addition, on paths that hash or write a log beside it.

use std::hash::{BuildHasher, RandomState};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// An attempt that counts as failed until it is taken back.
#[derive(Debug)]
pub struct Attempt {
    /// What was known before.
    before: Option<Failures>,
    /// What is known with it.
    with: Failures,
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
        let entry = self.current(&mut windows[of as usize], key, window, now);
        entry.count += 1;
        (entry.count > most).then(|| seconds(entry.end.saturating_sub(now)))
    }

    /// Counts one that is about to be tried, where there are not `most` in this window already, and answers when
    /// the window ends: for [`take_back`](Self::take_back).
    ///
    /// # Errors
    /// Seconds to wait.
    pub fn begin(
        &self,
        of: Of,
        key: &str,
        most: u64,
        window: Duration,
        now: Duration,
    ) -> Result<Duration, u64> {
        if most == 0 {
            return Ok(now);
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = self.current(&mut windows[of as usize], key, window, now);
        if entry.count >= most {
            return Err(seconds(entry.end.saturating_sub(now)));
        }
        entry.count += 1;
        Ok(entry.end)
    }

    /// The window of `key` that goes on now, which may begin now.
    fn current<'a>(
        &self,
        windows: &'a mut Map<u64, Window>,
        key: &str,
        window: Duration,
        now: Duration,
    ) -> &'a mut Window {
        make_room(windows, |window| window.end > now);
        let fresh = Window { count: 0, end: now + window };
        let entry = windows.entry(self.names.hash_one(key)).or_insert(fresh);
        if entry.end <= now {
            *entry = fresh;
        }
        entry
    }

    /// What began in the window that ends then does not count.
    pub fn take_back(&self, of: Of, key: &str, end: Duration) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let (windows, place) = (&mut windows[of as usize], self.names.hash_one(key));
        if let Some(window) = windows.get_mut(&place).filter(|window| window.end == end) {
            window.count = window.count.saturating_sub(1);
            if window.count == 0 {
                windows.remove(&place);
            }
        }
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

    /// An attempt is about to be looked at, and counts as failed: after `free` of them delays of 1, 2, 4 … 60 s
    /// begin. It counts before it is looked at, so that many at once are no more than many one after another.
    ///
    /// # Errors
    /// Seconds to wait: nobody looks.
    pub fn attempt(&self, account: &str, free: u64, now: Duration) -> Result<Option<Attempt>, u64> {
        if free == 0 {
            return Ok(None);
        }
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut failures, |known| known.last + FORGIVEN > now);
        let name = self.names.hash_one(account);
        let before = failures.get(&name).copied();
        if let Some(known) = before.filter(|known| known.until > now) {
            return Err(seconds(known.until.saturating_sub(now)));
        }
        let counted = before.filter(|known| known.last + FORGIVEN > now);
        let count = counted.map_or(0, |known| known.count) + 1;
        let until = match count.checked_sub(free) {
            Some(beyond) => now + Duration::from_secs((1 << beyond.min(6)).min(DELAY_MAX_S)),
            None => now,
        };
        let with = Failures { count, until, last: now };
        failures.insert(name, with);
        Ok(Some(Attempt { before, with }))
    }

    /// An attempt was looked at, and failed: its delay begins now, since looking takes time.
    pub fn failed(&self, account: &str, attempt: Option<Attempt>, now: Duration) {
        let Some(attempt) = attempt else { return };
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let known = failures.get_mut(&self.names.hash_one(account));
        if let Some(known) = known.filter(|known| **known == attempt.with) {
            known.until = now + known.until.saturating_sub(known.last);
            known.last = now;
        }
    }

    /// Nobody looked at an attempt, or it is no failure of this account's: it does not count.
    pub fn undo(&self, account: &str, attempt: Option<Attempt>) {
        let Some(attempt) = attempt else { return };
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.names.hash_one(account);
        match (failures.get_mut(&name), attempt.before) {
            (Some(known), Some(before)) if *known == attempt.with => *known = before,
            (Some(known), None) if *known == attempt.with => {
                failures.remove(&name);
            }
            // Others came since; their delays stand.
            (Some(known), _) => known.count = known.count.saturating_sub(1),
            (None, _) => {}
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
    fn what_begins_counts_until_it_is_taken_back() {
        let limiter = Limiter::default();
        let begin = |now| limiter.begin(Of::Password, "a", 2, S * 60, now);
        assert_eq!([begin(S), begin(S), begin(S * 2)], [Ok(S * 61), Ok(S * 61), Err(59)]);
        limiter.take_back(Of::Password, "a", S * 61);
        assert_eq!([begin(S * 2), begin(S * 2)], [Ok(S * 61), Err(59)]);
        // What began in another window takes nothing out of this one.
        assert_eq!(begin(S * 61), Ok(S * 121));
        limiter.take_back(Of::Password, "a", S * 61);
        assert_eq!([begin(S * 61), begin(S * 61)], [Ok(S * 121), Err(60)]);
        assert!(limiter.begin(Of::Password, "a", 0, S, S * 61).is_ok(), "0 is off");
    }

    #[test]
    fn attempts_at_once_count_before_they_are_looked_at() {
        let limiter = Limiter::default();
        let attempt = || limiter.attempt("ann", 3, S);
        let begun: Vec<_> = (0..6).map(|_| attempt()).collect();
        let waits: Vec<_> = begun.iter().map(|it| it.as_ref().err().copied()).collect();
        assert_eq!(waits, [None, None, None, Some(1), Some(1), Some(1)]);
        // A delay begins when the answer is known, however long that took.
        let slow = limiter.attempt("eve", 1, S).expect("free");
        limiter.failed("eve", slow, S * 5);
        assert_eq!(limiter.delay("eve", S * 5), Some(1));
        // One that nobody looked at leaves things as they were.
        let before = limiter.attempt("bob", 2, S).expect("free");
        let one = limiter.attempt("bob", 2, S * 2).expect("free");
        limiter.undo("bob", one);
        assert_eq!(limiter.delay("bob", S * 2), None);
        limiter.undo("bob", before);
        assert!(limiter.attempt("bob", 2, S).is_ok() && limiter.delay("bob", S).is_none());
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
            limiter.attempt("ann", 5, now).expect("its delay is over");
            let delay = limiter.delay("ann", now).unwrap_or(0);
            delays.push(delay);
            now += S * delay as u32;
        }
        assert_eq!(delays, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
        limiter.succeeded("ann");
        assert_eq!(limiter.delay("ann", now), None);
        limiter.attempt("bob", 1, now).expect("the first");
        limiter.attempt("bob", 1, now + FORGIVEN).expect("forgiven");
        assert_eq!(limiter.delay("bob", now + FORGIVEN), Some(1));
    }

    #[test]
    fn neighbours_share_a_counter() {
        assert_eq!(neighbourhood("10.1.2.3:99"), "10.1.2.0/24");
        assert_eq!(neighbourhood("[2001:db8:1:2:3::4]:99"), "2001:db8:1:2::/64");
    }
}
