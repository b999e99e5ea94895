//! Answers that go back to a client through the browser.

use super::form;
use super::visit::found;
use crate::reply::Reply;

/// `302` to the client with a code.
pub fn code(redirect: &str, code: &str, state: Option<&str>, issuer: &str) -> Reply {
    found(location(redirect, &[("code", code)], state, issuer))
}

/// `302` to the client with an error.
pub fn error(
    redirect: &str,
    error: &str,
    description: &str,
    state: Option<&str>,
    issuer: &str,
) -> Reply {
    let pairs = [("error", error), ("error_description", description)];
    found(location(redirect, &pairs, state, issuer))
}

/// The redirect URI, untouched, with parameters after its query.
fn location(redirect: &str, pairs: &[(&str, &str)], state: Option<&str>, issuer: &str) -> String {
    let mut out = redirect.to_owned();
    let mut separator = match redirect.split_once('?') {
        None => '?',
        Some((_, query)) if query.is_empty() || query.ends_with('&') => '\0',
        Some(_) => '&',
    };
    let state = state.map(|state| ("state", state));
    for (name, value) in pairs.iter().copied().chain(state).chain([("iss", issuer)]) {
        match separator {
            '\0' => {
                let mut one = String::new();
                form::push(&mut one, '&', name, value);
                out.push_str(&one[1..]);
            }
            separator => form::push(&mut out, separator, name, value),
        }
        separator = '&';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_kept_and_values_are_escaped() {
        let of = |redirect: &str| {
            location(redirect, &[("code", "a+b")], Some("x y&"), "https://i.example")
        };
        let tail = "code=a%2Bb&state=x%20y%26&iss=https%3A%2F%2Fi.example";
        assert_eq!(of("https://a/cb"), format!("https://a/cb?{tail}"));
        assert_eq!(of("https://a/cb?k=%41"), format!("https://a/cb?k=%41&{tail}"));
        assert_eq!(of("https://a/cb?"), format!("https://a/cb?{tail}"));
        assert_eq!(of("com.example.app:/cb"), format!("com.example.app:/cb?{tail}"));
    }
}
