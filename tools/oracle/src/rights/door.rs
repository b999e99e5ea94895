//! How callers get their credentials: as people and programs do, by requests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};

use crate::node::{Answer, Client, ISSUER};

/// Where the application wants its codes.
const CALLBACK: &str = "https://app.example/cb";

/// The password of all people of a case.
pub const PASSWORD: &str = "a-long-password";

/// `elastic`'s credential.
pub fn admin() -> String {
    basic("elastic", "secret")
}

/// A user's credential.
pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Letters that are safe in a form stay, all else is escaped.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                out.push(char::from(byte))
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn form(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// A browser: cookies, and forms sent as a page of the node would.
struct Browser<'c> {
    client: &'c mut Client,
    cookies: Vec<(String, String)>,
}

impl Browser<'_> {
    async fn request(&mut self, method: &str, target: &str, body: &str) -> Answer {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut fields = vec![("Origin", ISSUER)];
        if !cookies.is_empty() {
            fields.push(("Cookie", &cookies));
        }
        if method == "POST" {
            fields.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        self.client.authorize(None);
        let answer = self.client.call_with(method, target, &fields, body).await;
        for line in answer.field("set-cookie").unwrap_or_default().lines() {
            let first = line.split(';').next().unwrap_or_default();
            if let Some((name, value)) = first.split_once('=') {
                self.cookies.retain(|(known, _)| known != name);
                self.cookies.push(pair(name, value));
            }
        }
        answer
    }

    /// Sends the first form of a page that posts to `to`, with its hidden fields.
    async fn submit(&mut self, page: &Answer, to: &str, more: Vec<(String, String)>) -> Answer {
        let mut pairs = hidden(&page.text, to);
        pairs.extend(more);
        self.request("POST", to, &form(&pairs)).await
    }
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn hidden(page: &str, to: &str) -> Vec<(String, String)> {
    let wanted = format!("action=\"{to}\"");
    for form in page.split("<form").skip(1) {
        let form = form.split("</form>").next().unwrap_or_default();
        if !form.contains(&wanted) {
            continue;
        }
        let inputs = form.split("<input type=\"hidden\" name=\"").skip(1);
        return inputs
            .filter_map(|input| {
                let (name, rest) = input.split_once('"')?;
                let value = rest.split_once("value=\"")?.1.split('"').next()?;
                Some((unescaped(name), unescaped(value)))
            })
            .collect();
    }
    Vec::new()
}

fn parameter(location: &str, name: &str) -> Option<String> {
    let query = location.split_once('?')?.1;
    let own = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")))?;
    let mut out = Vec::new();
    let mut bytes = own.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let pair: String = bytes.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&pair, 16).unwrap_or(b'?')
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

/// An API key: made as its owner.
pub async fn key(client: &mut Client, owner: &str, roles: &Value) -> Result<String, String> {
    client.authorize(Some(&admin()));
    let body = json!({"name": "k", "role_descriptors": (roles.clone())});
    let as_owner = [("es-security-runas-user", owner)];
    let target = "/_security/api_key";
    let answer = client.call_with("POST", target, &as_owner, &json::to_string(&body)).await;
    match answer.body.get("encoded").and_then(Value::as_str) {
        Some(encoded) => Ok(format!("ApiKey {encoded}")),
        None => Err(format!("no key: {} {}", answer.status, answer.text)),
    }
}

/// An access token: a client is made, its owner signs in, consents to all, the code is exchanged.
pub async fn token(
    client: &mut Client,
    owner: &str,
    wish: &Value,
) -> Result<Option<(String, Value)>, String> {
    client.authorize(Some(&admin()));
    let ceiling = wish.get("ceiling").and_then(Value::as_str).unwrap_or_default();
    let body = json!({
        "client_name": "App", "redirect_uris": [CALLBACK], "scope": ceiling,
        "authorization_details_types": ["index_access"]
    });
    let made = client.call("POST", "/_oauth/client", &json::to_string(&body)).await;
    let text =
        |key: &str| made.body.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (id, secret) = (text("client_id"), text("client_secret"));
    if made.status != 201 {
        return Err(format!("no client: {} {}", made.status, made.text));
    }
    let scope = wish.get("scope").and_then(Value::as_str).unwrap_or_default();
    let mut ask = vec![pair("response_type", "code"), pair("client_id", &id), pair("state", "s")];
    if !scope.is_empty() {
        ask.push(pair("scope", scope));
    }
    let details = wish.get("details").and_then(Value::as_array).unwrap_or(&[]);
    if !details.is_empty() {
        let text = json::to_string(wish.get("details").unwrap_or(&Value::Null));
        ask.push(pair("authorization_details", &text));
    }
    let mut browser = Browser { client, cookies: Vec::new() };
    let page = browser.request("GET", &format!("/authorize?{}", form(&ask)), "").await;
    let location = page.field("location").unwrap_or_default();
    if location.starts_with(CALLBACK) {
        return Err(format!("refused: {location}"));
    }
    let page = browser.request("GET", &location, "").await;
    let who = vec![pair("username", owner), pair("password", PASSWORD)];
    let page = browser.submit(&page, "/login", who).await;
    let location = page.field("location").unwrap_or_default();
    if !location.starts_with("/consent") {
        return Err(format!("no consent: {} {location} {}", page.status, page.text));
    }
    let page = browser.request("GET", &location, "").await;
    let mut ticked = vec![pair("decision", "allow")];
    // What the owner cannot give is not offered.
    let offered =
        |name: &str, value: &str| page.text.contains(&format!("name=\"{name}\" value=\"{value}\""));
    let scopes = scope.split(' ').filter(|one| offered("scope", one));
    ticked.extend(scopes.map(|one| pair("scope", one)));
    let details = (0..details.len()).map(|at| at.to_string()).filter(|at| offered("detail", at));
    ticked.extend(details.map(|at| pair("detail", &at)));
    if ticked.len() == 1 {
        return Ok(None);
    }
    let page = browser.submit(&page, "/consent", ticked).await;
    let location = page.field("location").unwrap_or_default();
    if location.contains("error=access_denied") {
        // Nothing of it is the owner's to give.
        return Ok(None);
    }
    let Some(code) = parameter(&location, "code") else {
        return Err(format!("no code: {} {location} {}", page.status, page.text));
    };
    let body = form(&[
        pair("grant_type", "authorization_code"),
        pair("code", &code),
        pair("client_id", &id),
        pair("client_secret", &secret),
    ]);
    let answer = browser.request("POST", "/token", &body).await;
    match answer.body.get("access_token").and_then(Value::as_str) {
        Some(token) => {
            let granted = json!({
                "scope": (answer.body.get("scope").cloned()),
                "details": (answer.body.get("authorization_details").cloned())
            });
            Ok(Some((format!("Bearer {token}"), granted)))
        }
        None => Err(format!("no token: {} {}", answer.status, answer.text)),
    }
}
