//! `POST /par` (RFC 9126) and `POST /device_authorization` (RFC 8628): requests that a client sends
//! itself.

use std::sync::Arc;
use std::time::Duration;

use authz::form::Hash;
use authz::record::grant::{Device, Pushed};
use authz::token::text::Kind;
use authz::{Command, Outcome};
use env::{Env, Random};
use json::Writer;

use super::ask;
use super::authorize::HANDLE;
use super::client_auth::{self, Proven};
use super::fail::{Fail, answer, of_state};
use super::form::Form;
use super::limit::{self, Of, owned};
use super::places::{Passing, Places, Whose};
use super::token::{DEVICE, check_resources, form, without_details, without_proof};
use super::visit::Visit;
use crate::reply::Reply;

/// Life of a handle.
const HANDLE_MS: u64 = 60_000;

/// The parameters of one pushed request may have so many bytes, names and values together: twice of what the address of
/// `/authorize` may have, and what waits for a person because of it holds them once more.
const PUSHED_BYTES_MAX: usize = 8 << 10;

/// RFC 9126, 2.3.
const TOO_LONG: Fail = Fail::request("A pushed request may have 8192 bytes at most").status(413);

/// Letters of a user code: no vowels, so that no words come out; none that look alike.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

fn paced<E: Env>(visit: &Visit<'_, E>, client: &Proven) -> Result<(), Fail> {
    let (limit, second) = (visit.settings.limits.par, Duration::from_secs(1));
    match visit.limiter.count(Of::Push, &client.rate(visit.peer), limit, second, visit.monotonic())
    {
        Some(seconds) => Err(Fail::slow(seconds)),
        None => Ok(()),
    }
}

/// `POST /par`.
pub async fn par<E: Env>(visit: &Visit<'_, E>) -> Reply {
    match try_par(visit).await {
        Ok(reply) => reply,
        Err(fail) => fail.reply(),
    }
}

async fn try_par<E: Env>(visit: &Visit<'_, E>) -> Result<Reply, Fail> {
    let form = form(visit)?;
    let client = client_auth::prove(visit, &form)?;
    paced(visit, &client)?;
    without_proof(visit, &client)?;
    if form.first("request_uri").is_some() {
        return Err(Fail::request("A pushed request cannot contain a request_uri"));
    }
    ask::target(&client.client, client.id.clone(), &form)
        .map_err(|_| Fail::request("The redirect_uri is missing or not registered"))?;
    ask::check(visit.settings, &client.client, &form)
        .map_err(|refusal| Fail::new(refusal.error, refusal.description()))?;
    let handle = format!("{HANDLE}{}", visit.random_text());
    let now = visit.now();
    let pushed = Pushed {
        id: visit.hash("par", &handle),
        client: client.id.clone(),
        params: asked(&form, &client.id),
        end: now + HANDLE_MS,
        kept: None,
    };
    let bytes: usize = pushed.params.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > PUSHED_BYTES_MAX {
        return Err(TOO_LONG);
    }
    let (id, places) = (pushed.id, &visit.limiter.handles);
    place(visit, &client, places, (id, &pushed), &visit.state().pushed)?;
    let kept = visit.ask(Command::PutPushed { pushed, now }).await;
    places.entered(id, kept.is_ok());
    kept.map_err(|error| down(&error))?;
    let mut body = Vec::with_capacity(128);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().field_str("request_uri", &handle);
    writer.key("expires_in").u64(HANDLE_MS / 1000).end_object();
    Ok(answer(201, body))
}

fn down(error: &authz::Error) -> Fail {
    match of_state(error) {
        fail if fail.status == 503 => fail,
        _ => Fail::down(),
    }
}

/// The parameters that are read when the handle is opened. Nothing else is kept: how the client showed who it is, and
/// whatever it sent by mistake, which may be somebody's password.
fn asked(form: &Form, client: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = form
        .pairs()
        .iter()
        .filter(|(name, _)| ask::NAMES.contains(&name.as_str()))
        .cloned()
        .collect();
    pairs.push(("client_id".to_owned(), client.to_owned()));
    pairs
}

/// `POST /device_authorization`.
pub async fn device<E: Env>(visit: &Visit<'_, E>) -> Reply {
    match try_device(visit).await {
        Ok(reply) => reply,
        Err(fail) => fail.reply(),
    }
}

async fn try_device<E: Env>(visit: &Visit<'_, E>) -> Result<Reply, Fail> {
    let form = form(visit)?;
    let client = client_auth::prove(visit, &form)?;
    paced(visit, &client)?;
    if !client.client.may(DEVICE) {
        return Err(Fail::new("unauthorized_client", "This client may not use the device grant"));
    }
    without_details(&form)?;
    const SCOPE: Fail =
        Fail::new("invalid_scope", "A scope is malformed, unknown or not allowed for this client");
    let scopes = match form.first("scope") {
        None => ask::default_scopes(&client.client).ok_or(SCOPE)?,
        Some(text) => {
            let wanted = authz::oauth::scope::parse_list(text).map_err(|_| SCOPE)?;
            let ceiling = authz::oauth::scope::stored(&client.client.profile.scopes);
            if !wanted.iter().all(|one| ask::is_within(&ceiling, &client.client, one)) {
                return Err(SCOPE);
            }
            wanted.iter().map(ToString::to_string).collect()
        }
    };
    check_resources(visit, &form)?;
    let code = visit.keys().write(Kind::Device, &visit.random());
    let id = visit.hash("device code", &code);
    let (now, places) = (visit.now(), &visit.limiter.devices);
    let waiting =
        |user_code: String| Device::new(id, user_code, client.id.clone(), scopes.clone(), now);
    place(visit, &client, places, (id, &waiting(String::new())), &visit.state().devices)?;
    let kept = keep(visit, &waiting).await;
    places.entered(id, kept.is_ok());
    Ok(told(visit, &code, &kept?))
}

/// Keeps a device that waits, by a code that nobody else has at this moment; answers that.
async fn keep<E: Env>(
    visit: &Visit<'_, E>,
    waiting: &dyn Fn(String) -> Device,
) -> Result<String, Fail> {
    for _ in 0..8 {
        let user_code = user_code(visit);
        let (device, now) = (waiting(user_code.clone()), visit.now());
        match visit.ask(Command::PutDevice { device, now }).await.map_err(|error| down(&error))? {
            Outcome::Unchanged => {}
            _ => return Ok(user_code),
        }
    }
    Err(Fail::down())
}

/// Takes a place for what a client asks for, where it does not hold too many.
///
/// # Errors
/// 429.
fn place<E: Env, T: Passing>(
    visit: &Visit<'_, E>,
    client: &Proven,
    places: &Places,
    new: (Hash, &T),
    kept: &authz::map::Map<Hash, Arc<T>>,
) -> Result<(), Fail> {
    let (of, network, place) =
        (client.rate(visit.peer), owned(visit.peer), limit::place(visit.peer));
    let whose = match client.client.profile.confidential {
        true => Whose { network: &of, place: &of, client: &of },
        false => Whose { network: &network, place: &place, client: &of },
    };
    let most = visit.settings.limits.waiting as usize;
    places.enter(new, &whose, most, kept, visit.now()).map_err(Fail::slow)
}

fn told<E: Env>(visit: &Visit<'_, E>, code: &str, user_code: &str) -> Reply {
    let issuer = &visit.settings.issuer;
    let shown = shown(user_code);
    let mut body = Vec::with_capacity(320);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().field_str("device_code", code).field_str("user_code", &shown);
    writer.field_str("verification_uri", &format!("{issuer}/device"));
    let complete = format!("{issuer}/device?user_code={shown}");
    writer.field_str("verification_uri_complete", &complete);
    writer.key("expires_in").u64(Device::LIFE_MS / 1000);
    writer.key("interval").u64(Device::INTERVAL_S).end_object();
    answer(200, body)
}

/// Eight letters, each as likely as any other.
fn user_code<E: Env>(visit: &Visit<'_, E>) -> String {
    let mut code = String::new();
    let mut bytes = [0; 32];
    while code.len() < 8 {
        visit.core.env().random().fill(&mut bytes);
        // 240 is the highest multiple of 20 in a byte.
        let letters = bytes.iter().filter(|byte| **byte < 240);
        code.extend(letters.map(|byte| char::from(LETTERS[usize::from(byte % 20)])));
    }
    code.truncate(8);
    code
}

/// As it is shown: `XXXX-XXXX`.
pub fn shown(code: &str) -> String {
    match code.split_at_checked(4) {
        Some((first, second)) => format!("{first}-{second}"),
        None => code.to_owned(),
    }
}

/// As it is kept, from whatever a person typed; empty where it can be none.
pub fn typed(text: &str) -> String {
    let code: String = text
        .chars()
        .filter(|char| !matches!(char, '-' | ' '))
        .flat_map(char::to_uppercase)
        .take(16)
        .collect();
    let is_code = code.len() == 8 && code.bytes().all(|byte| LETTERS.contains(&byte));
    if is_code { code } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_not_kept() {
        let form = b"scope=self&password=p&token=t&code_verifier=v&client_secret=s&resource=a&resource=b&state=x&x=y";
        let kept = asked(&Form::parse(form).expect("good"), "app");
        let kept: Vec<_> = kept.iter().map(|(name, value)| (&**name, &**value)).collect();
        let expected = [
            ("scope", "self"),
            ("resource", "a"),
            ("resource", "b"),
            ("state", "x"),
            ("client_id", "app"),
        ];
        assert_eq!(kept, expected);
    }

    #[test]
    fn codes_are_read_as_people_type_them() {
        for text in ["BCDF-GHJK", "bcdfghjk", " bcdf ghjk ", "b-c-d-f-g-h-j-k"] {
            assert_eq!(typed(text), "BCDFGHJK", "{text}");
        }
        for text in ["", "BCDF", "BCDF-GHJA", "BCDFGHJKL", "ÄÄÄÄ-ÄÄÄÄ"] {
            assert_eq!(typed(text), "", "{text}");
        }
        assert_eq!(shown("BCDFGHJK"), "BCDF-GHJK");
    }
}
