//! `create-enrollment-token`: a token with which a node or the companion tool joins.
//!
//! The token is base64 of `{"ver","adr","fgr","key"}`: the version, where the node answers, the
//! SHA-256 of its authority, and an API key that may call the one path and dies after 30 minutes. A
//! token for a node opens the whole cluster: it is printed, and never logged.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Method;
use json::{Value, json};

use crate::certificates;
use crate::command::CreateEnrollmentToken;
use crate::config::data_folder;
use crate::failure::Result;
use crate::folder::Folder;
use crate::reset::{Node, failed};

/// How a node names the certificate that it made for itself.
const OWN_CERTIFICATE: &str = "certs/http.crt";

/// Runs the command.
pub fn run(options: &CreateEnrollmentToken) -> Result<()> {
    let sources = options.sources()?;
    let folder = Folder::at(&data_folder(&sources))?;
    let node = Node::find(&folder, options.url.as_deref())?;
    let Some(authority) = &node.authority else {
        return Err(failed("an enrollment token wants a node that speaks HTTPS"));
    };
    // The same that a call to enroll is judged by.
    let presented = node.ask_as_operator(&folder, Method::Get, "/_ssl/certificates", None)?;
    let path = |file: &Value| file.get("path").and_then(Value::as_str).map(str::to_owned);
    let paths = presented.as_array().unwrap_or_default().iter().filter_map(path);
    if !paths.into_iter().any(|path| path == OWN_CERTIFICATE) {
        return Err(failed(
            "enrollment needs the certificates that the node made at its first start, and settings name one. Give \
             whoever joins a service token (`corelode service-tokens create`) and the authority of that certificate",
        ));
    }
    let fingerprint = certificates::fingerprint(authority)
        .map_err(|error| failed(format!("the authority of {}: {error}", node.url)))?;
    let scope = options.scope.as_str();
    let body = json!({
        "name": (format!("enrollment_token_API_key_{}", std::process::id())),
        "expiration": "30m",
        "role_descriptors": {
            "create_enrollment_token": {
                "cluster": [(format!("cluster:admin/xpack/security/enroll/{scope}"))],
            },
        },
    });
    let key = node.ask_as_operator(&folder, Method::Post, "/_security/api_key", Some(&body))?;
    let root = node.ask_as_operator(&folder, Method::Get, "/", None)?;
    let text = |value: &Value, path: &[&str]| {
        value.at(path).and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
    };
    let key = format!("{}:{}", text(&key, &["id"]), text(&key, &["api_key"]));
    let known = node.url.split("://").nth(1).unwrap_or_default().trim_end_matches('/');
    let nodes = node.ask_as_operator(&folder, Method::Get, "/_nodes/_local/http", None)?;
    let address = reached(known, &nodes);
    println!("{}", token(&text(&root, &["version", "number"]), &address, &fingerprint, &key));
    Ok(())
}

/// Where others reach the node that this machine knows by `known`: where that is its own loopback address, as the node
/// says.
fn reached(known: &str, nodes: &Value) -> String {
    let is_loopback = known.parse().is_ok_and(|address: SocketAddr| address.ip().is_loopback());
    let told = nodes.get("nodes").and_then(Value::as_object).and_then(|all| all.iter().next());
    let told = told.and_then(|(_, node)| node.at(&["http", "publish_address"])?.as_str());
    told.filter(|_| is_loopback).unwrap_or(known).to_owned()
}

/// The text of a token.
pub fn token(version: &str, address: &str, fingerprint: &str, key: &str) -> String {
    let value = json!({"ver": version, "adr": [address], "fgr": fingerprint, "key": key});
    BASE64.encode(json::to_vec(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_told_where_they_reach_the_node() {
        let nodes = json!({"nodes": {"x": {"http": {"publish_address": "192.0.2.2:9200"}}}});
        assert_eq!(reached("127.0.0.1:9200", &nodes), "192.0.2.2:9200");
        assert_eq!(reached("[::1]:9200", &nodes), "192.0.2.2:9200");
        assert_eq!(reached("es.example:9200", &nodes), "es.example:9200");
        assert_eq!(reached("127.0.0.1:9200", &json!({})), "127.0.0.1:9200");
    }

    #[test]
    fn a_token_says_where_whom_to_trust_and_by_which_key() {
        let text = token("8.19.0", "127.0.0.1:9200", "ab", "id:secret");
        let value = json::parse(&BASE64.decode(text).expect("base64")).expect("JSON");
        assert_eq!(value.get("ver").and_then(Value::as_str), Some("8.19.0"));
        assert_eq!(value.get("adr"), Some(&json!(["127.0.0.1:9200"])));
        assert_eq!(value.get("key").and_then(Value::as_str), Some("id:secret"));
    }
}
