//! The certificates that a node presents.

use env::{Disk, Env};
use json::json;
use sim::Sim;

use crate::browser::basic;
use crate::place::{at, value, with_oauth_on};

const CHAIN: &str = include_str!("chain.pem");
const FILE: &str = "/data/certs/http.crt";
const TARGET: &str = "/_ssl/certificates";

#[test]
fn certificates_are_told_to_who_may_monitor() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for (name, cluster) in [("ann", "monitor"), ("bob", "manage_own_api_key")] {
            let role = format!(r#"{{"cluster":["{cluster}"]}}"#);
            client.good("PUT", &format!("/_security/role/{cluster}"), &role).await;
            let user = format!(r#"{{"password":"{name}-knows-this","roles":["{cluster}"]}}"#);
            client.good("PUT", &format!("/_security/user/{name}"), &user).await;
        }
        // Its file is gone since the start.
        let refused = client.bad("GET", TARGET, "").await;
        let reason = "cannot load PEM certificate from [certs/http.crt]";
        assert_eq!(refused, format!("500 ssl_config_exception: {reason}"));
        let folder = std::path::Path::new(FILE).parent().expect("a folder");
        env.disk().create_dir(folder).await.expect("made");
        env.disk().save(FILE.as_ref(), CHAIN.as_bytes().to_vec().into()).await.expect("kept");
        client.authorize(Some(&basic("ann", "ann-knows-this")));
        let answer = client.call("GET", TARGET, "").await;
        assert_eq!(answer.status, 200);
        let authority = r#"CN=Test authority, O="Acme, Inc.", C=DE"#;
        let expected = json!([
            {"path": "certs/http.crt", "format": "PEM", "alias": null,
                "subject_dn": "CN=node-1, L=Köln + OU=Nodes, DC=org", "serial_number": "a",
                "has_private_key": true, "expiry": "2028-10-28T14:52:33.000Z", "issuer": authority},
            {"path": "certs/http.crt", "format": "PEM", "alias": null, "subject_dn": authority,
                "serial_number": "c0ffee0123", "has_private_key": false,
                "expiry": "2059-10-06T14:52:33.000Z", "issuer": authority},
        ]);
        assert_eq!(json::to_string(&value(&answer)), json::to_string(&expected));
        client.authorize(Some(&basic("bob", "bob-knows-this")));
        let refused = client.call("GET", TARGET, "").await;
        assert_eq!(refused.status, 403);
        let reason = value(&refused);
        let reason = at(&reason, &["error", "reason"]).as_str().map(str::to_owned);
        let reason = reason.expect("a reason");
        assert!(reason.contains("[cluster:monitor/xpack/ssl/certificates/get]"), "{reason}");
    });
}
