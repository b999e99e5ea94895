//! Browsers in which somebody signed in before: the mark that tells them, and whose they are.
//!
//! The cookie holds a random word, a word that stands for the account, and a mark that binds both to this server.
//! So a browser is known before anybody typed a name, and nobody makes one up. It opens nothing: it says as whom a
//! browser is counted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use env::Env;

use super::cookie;
use super::limit::place;
use super::visit::Visit;

/// The cookie's name.
const DEVICE: &str = "__Host-dev";

/// Bytes of the random word, and of the account's.
const WORD_BYTES: usize = 16;

/// A browser that is known.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its own word.
    pub device: &'a str,
    /// The word of the account in which somebody signed in last.
    account: &'a str,
}

/// The browser of this request, where somebody signed in with it before.
pub fn of<'v, E: Env>(visit: &'v Visit<'_, E>) -> Option<Known<'v>> {
    let (device, mark) = cookie::value(visit.head, DEVICE)?.rsplit_once('.')?;
    let (_, account) = device.split_once('.')?;
    let expected = mark_of(visit, device);
    let is_ours = authz::secret::is_equal(mark.as_bytes(), expected.as_bytes());
    is_ours.then_some(Known { device, account })
}

/// The same, where that was in this account.
pub fn of_account<'v, E: Env>(visit: &'v Visit<'_, E>, account: &str) -> Option<&'v str> {
    let known = of(visit)?;
    (known.account == word(visit, account)).then_some(known.device)
}

/// As what a request is counted: as the account that is signed in, `user`; as the one in which somebody signed in with
/// this browser last, at this address; of a browser that nobody knows as the address.
///
/// Not as the browser: who has one account would have as many as it likes. Not as the account alone: who has an old
/// browser of somebody would spend that one's from anywhere.
pub fn counted_as<E: Env>(visit: &Visit<'_, E>, user: Option<&str>) -> String {
    let place = place(visit.peer);
    match (user, of(visit)) {
        (Some(name), _) => format!("account {name}"),
        (None, Some(known)) => format!("browser of {} at {place}", known.account),
        (None, None) => place,
    }
}

/// The header that makes a browser known as one of this account.
pub fn remember<E: Env>(visit: &Visit<'_, E>, account: &str) -> String {
    let random = URL_SAFE_NO_PAD.encode(&visit.random()[..WORD_BYTES]);
    let device = format!("{random}.{}", word(visit, account));
    let value = format!("{device}.{}", mark_of(visit, &device));
    format!("{}; Max-Age=31536000", cookie::set(DEVICE, &value))
}

/// What stands for an account in cookies.
fn word<E: Env>(visit: &Visit<'_, E>, account: &str) -> String {
    URL_SAFE_NO_PAD.encode(&visit.hash("account of a browser", account).0[..WORD_BYTES])
}

fn mark_of<E: Env>(visit: &Visit<'_, E>, device: &str) -> String {
    visit.token_of(&visit.hash("device", device), "known browser")
}
