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

use super::places::Places;
use super::waiting::Waiting;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Requests of applications that wait for a person, of a place or an account.
    Authorize,
    /// Requests of a client at the token endpoint.
    Token,
    /// Failed client authentications.
    ClientAuth,
    /// Pushed requests and device requests of a client.
    Push,
    /// Registrations.
    Register,
    /// Passwords that came by `Basic` and were wrong, of an account from a place.
    Password,
    /// The same of an account from everywhere.
    Everywhere,
    /// What one network adds to what is counted of an account from everywhere.
    Share,
    /// Sign-ins from an address.
    Login,
    /// Device codes typed.
    Device,
}

const KINDS: usize = Of::Device as usize + 1;

/// Counters of a kind that are kept at most; beyond, those whose time is over go, then all of them.
const COUNTERS_MAX: usize = 100_000;

/// Whose failures are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Of an account in one network, or in one browser that signed in before.
    Person,
    /// Of a network.
    Network,
    /// Of an account, wherever they come from.
    Account,
}

const WHOSE: usize = Whose::Account as usize + 1;

/// Longest delay of an account in seconds.
const DELAY_MAX_S: u64 = 60;

/// After so long without a failure a counter begins anew; that of an account from everywhere so long after it
/// began.
pub const FORGIVEN: Duration = Duration::from_secs(15 * 60);

/// Networks from which an account's person signed in that are remembered; the oldest goes.
const HOMES_MAX: usize = 16;

/// They are remembered for so long.
const HOME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[derive(Clone, Copy)]
struct Window {
    count: u64,
    end: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Failures {
    count: u64,
    until: Duration,
    first: Duration,
    last: Duration,
}

impl Failures {
    /// Does it go on counting? Whose person is elsewhere is not to hear for ever of somebody who never ends.
    fn is_live(&self, whose: Whose, now: Duration) -> bool {
        let since = if whose == Whose::Account { self.first } else { self.last };
        since + FORGIVEN > now
    }
}

/// All counters.
#[derive(Default)]
pub struct Limiter {
    windows: Mutex<[Map<u64, Window>; KINDS]>,
    failures: Mutex<[Map<u64, Failures>; WHOSE]>,
    /// The networks of each account from which a right password came, and when it did last.
    homes: Mutex<Map<u64, Vec<(u64, Duration)>>>,
    names: RandomState,
    /// Who asked for what waits.
    pub waiting: Waiting,
    /// Whose devices wait.
    pub devices: Places,
    /// Whose pushed requests do.
    pub handles: Places,
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

    /// Seconds to wait before the next attempt is looked at.
    pub fn delay(&self, whose: Whose, name: &str, now: Duration) -> Option<u64> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let known = failures[whose as usize].get(&self.names.hash_one(name))?;
        (known.until > now).then(|| seconds(known.until.saturating_sub(now)))
    }

    /// An attempt is about to be looked at, and counts as failed: after `free` of them delays of 1, 2, 4 … 60 s
    /// begin. It counts before it is looked at, so that many at once are no more than many one after another.
    ///
    /// # Errors
    /// Seconds to wait: nobody looks.
    pub fn attempt(
        &self,
        whose: Whose,
        name: &str,
        free: u64,
        now: Duration,
    ) -> Result<Option<Attempt>, u64> {
        if free == 0 {
            return Ok(None);
        }
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = &mut failures[whose as usize];
        make_room(failures, |known| known.is_live(whose, now));
        let name = self.names.hash_one(name);
        let before = failures.get(&name).copied();
        if let Some(known) = before.filter(|known| known.until > now) {
            return Err(seconds(known.until.saturating_sub(now)));
        }
        let counted = before.filter(|known| known.is_live(whose, now));
        let (count, first) = counted.map_or((1, now), |known| (known.count + 1, known.first));
        let until = match count.checked_sub(free) {
            Some(beyond) => now + Duration::from_secs((1 << beyond.min(6)).min(DELAY_MAX_S)),
            None => now,
        };
        let with = Failures { count, until, first, last: now };
        failures.insert(name, with);
        Ok(Some(Attempt { before, with }))
    }

    /// An attempt was looked at, and failed: its delay begins now, since looking takes time.
    pub fn failed(&self, whose: Whose, name: &str, attempt: Option<Attempt>, now: Duration) {
        let Some(attempt) = attempt else { return };
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let known = failures[whose as usize].get_mut(&self.names.hash_one(name));
        if let Some(known) = known.filter(|known| **known == attempt.with) {
            known.until = now + known.until.saturating_sub(known.last);
            known.last = now;
        }
    }

    /// Nobody looked at an attempt, or it is no failure of this account's: it does not count.
    pub fn undo(&self, whose: Whose, name: &str, attempt: Option<Attempt>) {
        let Some(attempt) = attempt else { return };
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = &mut failures[whose as usize];
        let name = self.names.hash_one(name);
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
    pub fn succeeded(&self, whose: Whose, name: &str) {
        let name = self.names.hash_one(name);
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures[whose as usize].remove(&name);
    }

    /// A right password of this account came from this network.
    pub fn at_home(&self, account: &str, network: &str, now: Duration) {
        let (account, network) = (self.names.hash_one(account), self.names.hash_one(network));
        let mut homes = self.homes.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut homes, |known| known.iter().any(|(_, last)| *last + HOME > now));
        let known = homes.entry(account).or_default();
        known.retain(|(home, last)| *home != network && *last + HOME > now);
        if known.len() == HOMES_MAX {
            known.remove(0);
        }
        known.push((network, now));
    }

    /// Did a right password of this account come from this network lately?
    pub fn is_home(&self, account: &str, network: &str, now: Duration) -> bool {
        let (account, network) = (self.names.hash_one(account), self.names.hash_one(network));
        let homes = self.homes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = homes.get(&account).into_iter().flatten();
        known.into_iter().any(|(home, last)| *home == network && *last + HOME > now)
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
    network(address, 24, 64)
}

/// What stands for one who has an address: that itself, or its /64, of which each machine has all.
pub fn place(address: &str) -> String {
    authz::network::place(host(address))
}

/// What one who is given addresses has at the least: a /24, or a /48, of which the least are given away.
pub fn owned(address: &str) -> String {
    network(address, 24, 48)
}

/// The network of an address, of so many bits.
fn network(address: &str, bits_v4: u32, bits_v6: u32) -> String {
    authz::network::network(host(address), bits_v4, bits_v6)
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
        let attempt = || limiter.attempt(Whose::Person, "ann", 3, S);
        let begun: Vec<_> = (0..6).map(|_| attempt()).collect();
        let waits: Vec<_> = begun.iter().map(|it| it.as_ref().err().copied()).collect();
        assert_eq!(waits, [None, None, None, Some(1), Some(1), Some(1)]);
        // A delay begins when the answer is known, however long that took.
        let slow = limiter.attempt(Whose::Person, "eve", 1, S).expect("free");
        limiter.failed(Whose::Person, "eve", slow, S * 5);
        assert_eq!(limiter.delay(Whose::Person, "eve", S * 5), Some(1));
        // One that nobody looked at leaves things as they were.
        let before = limiter.attempt(Whose::Person, "bob", 2, S).expect("free");
        let one = limiter.attempt(Whose::Person, "bob", 2, S * 2).expect("free");
        limiter.undo(Whose::Person, "bob", one);
        assert_eq!(limiter.delay(Whose::Person, "bob", S * 2), None);
        limiter.undo(Whose::Person, "bob", before);
        assert!(
            limiter.attempt(Whose::Person, "bob", 2, S).is_ok()
                && limiter.delay(Whose::Person, "bob", S).is_none()
        );
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
            limiter.attempt(Whose::Person, "ann", 5, now).expect("its delay is over");
            let delay = limiter.delay(Whose::Person, "ann", now).unwrap_or(0);
            delays.push(delay);
            now += S * delay as u32;
        }
        assert_eq!(delays, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
        limiter.succeeded(Whose::Person, "ann");
        assert_eq!(limiter.delay(Whose::Person, "ann", now), None);
        limiter.attempt(Whose::Person, "bob", 1, now).expect("the first");
        limiter.attempt(Whose::Person, "bob", 1, now + FORGIVEN).expect("forgiven");
        assert_eq!(limiter.delay(Whose::Person, "bob", now + FORGIVEN), Some(1));
    }

    #[test]
    fn neighbours_share_a_counter() {
        assert_eq!(neighbourhood("10.1.2.3:99"), "10.1.2.0/24");
        assert_eq!(neighbourhood("[2001:db8:1:2:3::4]:99"), "2001:db8:1:2::/64");
        // Where one socket listens for both.
        assert_eq!(neighbourhood("[::ffff:10.1.2.3]:99"), "10.1.2.0/24");
        assert_eq!(place("[::ffff:10.1.2.3]:99"), "10.1.2.3/32");
        assert_eq!(
            [place("[2001:db8:1:2::9]:1"), place("[2001:db8:1:2:7::]:2")],
            ["2001:db8:1:2::/64"; 2]
        );
        assert_eq!(owned("[2001:db8:1:2:3::4]:99"), "2001:db8:1::/48");
        assert_eq!(neighbourhood("no address"), "no address");
    }

    #[test]
    fn a_flood_of_one_kind_of_failures_forgives_no_other() {
        let limiter = Limiter::default();
        limiter.attempt(Whose::Account, "ann", 1, S).expect("the first");
        for stranger in 0..=COUNTERS_MAX {
            limiter.attempt(Whose::Person, &stranger.to_string(), 1, S).expect("the first");
        }
        assert_eq!(limiter.delay(Whose::Account, "ann", S), Some(1));
    }

    #[test]
    fn so_many_networks_of_an_account_are_remembered_the_latest_ones() {
        let limiter = Limiter::default();
        let is_home = |network: &str, now| limiter.is_home("ann", network, now);
        for network in 0..=HOMES_MAX {
            limiter.at_home("ann", &network.to_string(), S * network as u32);
        }
        assert_eq!(
            [is_home("0", S * 20), is_home("1", S * 20), is_home("16", S * 20)],
            [false, true, true]
        );
        limiter.at_home("ann", "1", S * 21);
        limiter.at_home("ann", "new", S * 22);
        assert_eq!([is_home("1", S * 22), is_home("2", S * 22)], [true, false]);
        assert!(!limiter.is_home("bob", "1", S * 22) && !is_home("1", S * 21 + HOME));
    }
}
