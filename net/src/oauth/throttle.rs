//! How often an account's password may be tried at the page of the login.
//!
//! Failures are counted in three places (oauth.md, section 5): of the account in the network that they come
//! from, of that network, and of the account wherever they come from. A stranger in one network holds up that
//! network alone. Many networks together are held up as one, but not those from which the account's person
//! signed in, and no network adds more than its share: one alone never holds up others. A browser
//! that signed in before has a counter of its own, and none of these
//! ([decision 14](../../../docs/decisions/0014-guessed-passwords.md)).

use std::time::Duration;

use super::limit::{Attempt, FORGIVEN, Limiter, Of, Whose, neighbourhood, owned, place};
use super::settings::Limits;

/// A neighbourhood has many people: its delays begin later.
const NEIGHBOURS: u64 = 6;

/// What comes from everywhere is slowed once as many failures came as so many networks may add.
pub const NETWORKS: u64 = 8;

const MINUTE: Duration = Duration::from_secs(60);

/// Who tries: an account's name as it is counted, an address, and the browser where it signed in before.
#[derive(Debug)]
pub struct Who<'a> {
    /// The account.
    pub account: &'a str,
    /// `host:port`.
    pub peer: &'a str,
    /// The browser's own word, which was checked.
    pub device: Option<&'a str>,
}

impl Who<'_> {
    /// Under what the attempts of an account are counted: in one network, or in its own browser.
    pub fn person(&self) -> String {
        match self.device {
            Some(device) => format!("device {device} {}", self.account),
            None => format!("{} {}", neighbourhood(self.peer), self.account),
        }
    }

    /// As what it comes in so often a minute at most: an address, or a browser.
    fn caller(&self) -> String {
        match self.device {
            Some(_) => self.person(),
            None => place(self.peer),
        }
    }
}

/// An attempt, which counts as failed in each place until it is known what it is. One that is dropped stays a
/// failure.
#[derive(Debug)]
pub struct Trying<'a> {
    limiter: &'a Limiter,
    account: &'a str,
    network: String,
    person: String,
    attempt: Option<Attempt>,
    near: Option<Attempt>,
    everywhere: Option<(Share, Option<Attempt>)>,
}

/// What a network added to the count of an account.
#[derive(Debug)]
struct Share {
    key: String,
    end: Duration,
}

impl<'a> Trying<'a> {
    /// Counts an attempt.
    ///
    /// # Errors
    /// Seconds to wait: nobody looks at the password, and nothing is counted.
    pub fn begin(
        limiter: &'a Limiter,
        limits: &Limits,
        who: &Who<'a>,
        now: Duration,
    ) -> Result<Self, u64> {
        let (account, network) = (who.account, neighbourhood(who.peer));
        let is_known = who.device.is_some();
        let is_home = is_known || limiter.is_home(account, &network, now);
        let person = who.person();
        let waits = [
            limiter.delay(Whose::Person, &person, now),
            limiter.delay(Whose::Network, &network, now).filter(|_| !is_known),
            limiter.delay(Whose::Account, account, now).filter(|_| !is_home),
        ];
        if let Some(seconds) = waits.into_iter().flatten().max() {
            return Err(seconds);
        }
        if let Some(seconds) = limiter.count(Of::Login, &who.caller(), limits.login, MINUTE, now) {
            return Err(seconds);
        }
        let free = limits.login_failures;
        let attempt = limiter.attempt(Whose::Person, &person, free, now)?;
        let mut trying =
            Self { limiter, account, network, person, attempt, near: None, everywhere: None };
        if !is_known {
            let (whose, free) = (Whose::Network, free * NEIGHBOURS);
            match limiter.attempt(whose, &trying.network, free, now) {
                Ok(near) => trying.near = near,
                Err(seconds) => {
                    trying.undo();
                    return Err(seconds);
                }
            }
        }
        if !is_home {
            let key = format!("{} {account}", owned(who.peer));
            if let Ok(end) = limiter.begin(Of::Share, &key, free, FORGIVEN, now) {
                let share = Share { key, end };
                match limiter.attempt(Whose::Account, account, free * NETWORKS, now) {
                    Ok(attempt) => trying.everywhere = Some((share, attempt)),
                    Err(seconds) => {
                        limiter.take_back(Of::Share, &share.key, share.end);
                        trying.undo();
                        return Err(seconds);
                    }
                }
            }
        }
        Ok(trying)
    }

    /// The password was wrong.
    pub fn failed(self, now: Duration) {
        self.limiter.failed(Whose::Person, &self.person, self.attempt, now);
        self.limiter.failed(Whose::Network, &self.network, self.near, now);
        if let Some((_, attempt)) = self.everywhere {
            self.limiter.failed(Whose::Account, self.account, attempt, now);
        }
    }

    /// Nobody looked, or it is no failure of this account's.
    pub fn undo(mut self) {
        let attempt = self.attempt.take();
        self.limiter.undo(Whose::Person, &self.person, attempt);
        self.take_back();
    }

    /// The person came in.
    pub fn succeeded(mut self, now: Duration) {
        self.limiter.succeeded(Whose::Person, &self.person);
        self.take_back();
        self.limiter.at_home(self.account, &self.network, now);
    }

    /// Takes back what was counted elsewhere than of the person.
    fn take_back(&mut self) {
        self.limiter.undo(Whose::Network, &self.network, self.near.take());
        if let Some((share, attempt)) = self.everywhere.take() {
            self.limiter.take_back(Of::Share, &share.key, share.end);
            self.limiter.undo(Whose::Account, self.account, attempt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Settings;
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn limits() -> Limits {
        Settings::new("https://store.example").limits
    }

    fn who<'a>(peer: &'a str, device: Option<&'a str>) -> Who<'a> {
        Who { account: "ann", peer, device }
    }

    /// Guesses until it is told to wait; how many were looked at.
    fn guess(limiter: &Limiter, peer: &str, now: Duration) -> usize {
        let mut count = 0;
        while let Ok(trying) = Trying::begin(limiter, &limits(), &who(peer, None), now) {
            trying.failed(now);
            count += 1;
        }
        count
    }

    fn may(limiter: &Limiter, peer: &str, device: Option<&str>, now: Duration) -> bool {
        Trying::begin(limiter, &limits(), &who(peer, device), now).map(Trying::undo).is_ok()
    }

    /// A guesser anywhere held up the person everywhere.
    #[test]
    fn one_who_guesses_holds_up_one_network_alone() {
        let limiter = Limiter::default();
        assert_eq!(guess(&limiter, "10.0.0.1:1", S), 5);
        assert!(!may(&limiter, "10.0.0.9:1", None, S), "a neighbour");
        assert!(may(&limiter, "10.0.1.1:1", None, S), "anybody else");
        // However long it goes on, and with all addresses that one machine is given.
        let mut now = S;
        for round in 0..2_000_u32 {
            now += S * 5;
            guess(&limiter, "10.0.0.1:1", now);
            guess(&limiter, &format!("[2001:db8:1:{round:x}::1]:1"), now);
            assert!(may(&limiter, "10.0.1.1:1", None, now), "{round}");
        }
    }

    /// Many networks together are slowed as one; who signed in before, there or with this browser, is not.
    #[test]
    fn who_guesses_from_everywhere_is_slowed_and_the_person_at_home_is_not() {
        let limiter = Limiter::default();
        let home = "192.0.2.7:1";
        let trying = Trying::begin(&limiter, &limits(), &who(home, None), S).expect("the first");
        trying.succeeded(S);
        let peers: Vec<String> = (0..200).map(|at| format!("10.0.{at}.1:1")).collect();
        let all = |now| peers.iter().map(|peer| guess(&limiter, peer, now)).sum::<usize>();
        assert_eq!(all(S), 40);
        assert!(!may(&limiter, "203.0.113.1:1", None, S), "from a place that nobody knows");
        assert!(may(&limiter, "192.0.2.200:1", None, S), "at home");
        assert!(may(&limiter, "203.0.113.1:1", Some("mark"), S), "with a known browser");
        // Each quarter of an hour so many again, and then one a minute, and one a minute of each network that
        // spent its share.
        let found: usize = (1..720).map(|at| all(S * (1 + 5 * at))).sum();
        assert!(found <= 4 * (40 + 15 * 12), "{found}");
        assert!(may(&limiter, home, None, S * 3602), "still at home");
        // At home it is slow for who guesses there.
        assert_eq!(guess(&limiter, home, S * 3602), 5);
        assert!(!may(&limiter, home, None, S * 3602));
        assert!(may(&limiter, home, Some("mark"), S * 3602), "a known browser has its own counter");
    }

    /// Neither a neighbourhood nor an address that is busy keeps a known browser out; it is slowed by itself.
    #[test]
    fn a_known_browser_is_counted_by_itself() {
        let limiter = Limiter::default();
        for other in 0..40 {
            let account = format!("other-{other}");
            let who = Who { account: &account, peer: "10.0.0.1:1", device: None };
            if let Ok(trying) = Trying::begin(&limiter, &limits(), &who, S) {
                trying.failed(S);
            }
        }
        assert!(!may(&limiter, "10.0.0.1:1", None, S));
        let begin = || Trying::begin(&limiter, &limits(), &who("10.0.0.1:1", Some("mark")), S);
        for _ in 0..5 {
            begin().expect("its own five").failed(S);
        }
        assert_eq!(begin().err(), Some(1));
    }

    #[test]
    fn what_nobody_looked_at_counts_nowhere() {
        let limiter = Limiter::default();
        for _ in 0..100 {
            let mut limits = limits();
            limits.login = 0;
            Trying::begin(&limiter, &limits, &who("10.0.0.1:1", None), S).expect("free").undo();
        }
        assert_eq!(guess(&limiter, "10.0.0.1:1", S), 5);
    }
}
