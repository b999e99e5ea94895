//! What the slow log tells of the request: who sent it, and by which words it can be found again.

use std::sync::{Arc, Mutex};

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, value, with_slow_log};

#[derive(Debug, Default)]
struct Kept(Mutex<Vec<String>>);

impl env::lines::Lines for Kept {
    fn keep(&self, line: &str) {
        self.0.lock().expect("nobody panics").push(line.to_owned());
    }
}

impl Kept {
    fn take(&self) -> Vec<Value> {
        let lines = std::mem::take(&mut *self.0.lock().expect("nobody panics"));
        lines.iter().map(|line| json::parse(line.as_bytes()).expect("JSON")).collect()
    }

    /// The first line of this request, which is sent until there is one: where nobody waits no simulated time
    /// passes, and nothing is slow.
    async fn line(
        &self,
        client: &mut Client,
        (method, target, body): (&str, &str, &str),
        fields: &[(&str, &str)],
    ) -> Value {
        self.take();
        let mut fields = fields.to_vec();
        fields.push(("Content-Type", "application/json"));
        for _ in 0..100 {
            let answer = client.call_with(method, target, &fields, body.as_bytes()).await;
            assert!(answer.status < 300, "{}", answer.text());
            // The line is on its way beside the answer.
            let answer = client.call("GET", "/", "").await;
            value(&answer);
            if let Some(line) = self.take().into_iter().next() {
                return line;
            }
        }
        panic!("{method} {target} was never slow");
    }
}

const WRITE: (&str, &str, &str) = ("PUT", "/m/_doc/7", r#"{"a":1}"#);
const SEARCH: (&str, &str, &str) = ("POST", "/m/_search", r#"{"query":{"match_all":{}}}"#);

/// What a line says of its caller.
fn caller(line: &Value) -> Vec<(&str, &str)> {
    let of_caller =
        |name: &str| ["user.", "auth.", "apikey."].iter().any(|start| name.starts_with(start));
    let members = line.as_object().expect("an object").iter();
    let words = members.filter(|(name, _)| of_caller(name));
    words.map(|(name, word)| (name, word.as_str().expect("a text"))).collect()
}

async fn watched(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    let shape = json!({"settings": {
        "index.search.slowlog.threshold.query.trace": "0ms",
        "index.search.slowlog.include.user": true,
        "index.indexing.slowlog.threshold.index.trace": "0ms",
        "index.indexing.slowlog.include.user": true,
    }});
    client.good("PUT", "/m", &json::to_string(&shape)).await;
}

/// Who acted in another's name was not told: the line named the other as the one who searched.
#[test]
fn a_slow_request_is_told_by_who_sent_it() {
    let kept = Arc::new(Kept::default());
    with_slow_log(Arc::clone(&kept) as _, |mut client| async move {
        watched(&mut client).await;
        let user = r#"{"password":"ann-knows-this","roles":["superuser"],"full_name":"Ann A"}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let as_ann = [("es-security-runas-user", "ann")];
        let own = [("user.name", "elastic"), ("user.realm", "reserved"), ("auth.type", "REALM")];
        let lent = [
            ("user.name", "elastic"),
            ("user.realm", "reserved"),
            ("user.effective.name", "ann"),
            ("user.effective.realm", "default_native"),
            ("user.effective.full_name", "Ann A"),
            ("auth.type", "REALM"),
        ];
        for request in [WRITE, SEARCH] {
            let line = kept.line(&mut client, request, &[]).await;
            assert_eq!(caller(&line), own, "{line:?}");
            let line = kept.line(&mut client, request, &as_ann).await;
            assert_eq!(caller(&line), lent, "{line:?}");
        }
        let wish = r#"{"name":"k"}"#;
        let key = client.good("POST", "/_security/api_key", wish).await;
        let grant = r#"{"grant_type":"password","username":"ann","password":"ann-knows-this"}"#;
        let token = client.good("POST", "/_security/oauth2/token", grant).await;
        let text = |value: &Value, name: &str| at(value, &[name]).as_str().expect("it").to_owned();
        client.authorize(Some(&format!("ApiKey {}", text(&key, "encoded"))));
        let line = kept.line(&mut client, WRITE, &[]).await;
        let id = text(&key, "id");
        let by_key = [
            ("user.name", "elastic"),
            ("user.realm", "_es_api_key"),
            ("auth.type", "API_KEY"),
            ("apikey.id", id.as_str()),
            ("apikey.name", "k"),
        ];
        assert_eq!(caller(&line), by_key, "{line:?}");
        client.authorize(Some(&format!("Bearer {}", text(&token, "access_token"))));
        let line = kept.line(&mut client, WRITE, &[]).await;
        let by_token = [
            ("user.name", "ann"),
            ("user.realm", "default_native"),
            ("user.full_name", "Ann A"),
            ("auth.type", "TOKEN"),
        ];
        assert_eq!(caller(&line), by_token, "{line:?}");
        client.authorize(Some(&basic("elastic", "secret")));
        let off = r#"{"index.search.slowlog.include.user":false}"#;
        client.good("PUT", "/m/_settings", off).await;
        let line = kept.line(&mut client, SEARCH, &as_ann).await;
        assert!(caller(&line).is_empty(), "{line:?}");
    });
}

/// One line called a document's id what was an object in the other, and an index took no more than one of them.
#[test]
fn lines_of_searches_and_of_writes_go_into_one_index() {
    let kept = Arc::new(Kept::default());
    with_slow_log(Arc::clone(&kept) as _, |mut client| async move {
        watched(&mut client).await;
        let named = [("X-Opaque-Id", "night job")];
        let mut lines = Vec::new();
        for request in [WRITE, SEARCH] {
            lines.push(kept.line(&mut client, request, &[]).await);
            lines.push(kept.line(&mut client, request, &named).await);
        }
        let text = |at: usize, name: &str| lines[at].get(name).and_then(Value::as_str);
        let id = "elasticsearch.slowlog.id";
        let ids: Vec<_> = (0..4).map(|at| text(at, id)).collect();
        assert_eq!(ids, [Some("7"), Some("7"), None, Some("night job")]);
        let opaque = "elasticsearch.http.request.x_opaque_id";
        assert_eq!(text(1, opaque), Some("night job"));
        // Whoever reads these lines may not be let in by them.
        let wish = r#"{"name":"k"}"#;
        let key = client.good("POST", "/_security/api_key", wish).await;
        let key = at(&key, &["encoded"]).as_str().expect("a text").to_owned();
        let line = kept.line(&mut client, WRITE, &[("X-Opaque-Id", &key)]).await;
        let told = json::to_string(&line);
        assert!(!told.contains(&key) && told.contains("x_opaque_id"), "{told}");
        let told = client.call_with("GET", "/_tasks", &[("X-Opaque-Id", &key)], b"").await.text();
        assert!(!told.contains(&key) && told.contains("X-Opaque-Id"), "{told}");
        for line in &lines {
            client.good("POST", "/lines/_doc", &json::to_string(line)).await;
        }
        client.good("POST", "/lines/_refresh", "").await;
        let query = r#"{"query":{"term":{"elasticsearch.slowlog.id.keyword":"7"}}}"#;
        let found = client.good("POST", "/lines/_count", query).await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(2));
    });
}
