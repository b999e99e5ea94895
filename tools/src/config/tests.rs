//! Settings as a whole.

use super::*;

fn machine() -> Machine {
    Machine { host_name: "box".into(), cores: 4, memory_bytes: 8 << 30 }
}

fn sources(options: &[(&str, &str)]) -> Sources {
    let mut sources = Sources::default();
    let given = options.iter().map(|(name, value)| Given::option(name, value)).collect();
    sources.add(given).unwrap_or_else(|failure| panic!("{failure}"));
    sources
}

fn read(options: &[(&str, &str)]) -> Result<Settings> {
    Settings::read(&sources(options), &machine())
}

#[test]
fn defaults_are_as_documented() {
    let settings = read(&[]).expect("defaults are legal");
    assert_eq!(settings.data, PathBuf::from("corelode-data"));
    assert_eq!(settings.http.ports, 9200..=9300);
    assert_eq!(settings.transport.ports, 9300..=9400);
    assert!(settings.http.ip.is_loopback());
    assert_eq!((settings.cores, settings.memory_bytes), (4, 4 << 30));
    assert_eq!(settings.node_name, "box");
    assert!(settings.security && settings.tls && settings.own_certificate.is_none());
}

#[test]
fn the_stronger_source_wins() {
    let mut all = sources(&[("http.port", "1")]);
    all.add(vec![Given::option("http.port", "2"), Given::option("node.name", "x")])
        .expect("known names");
    let settings = Settings::read(&all, &machine()).expect("legal");
    assert_eq!(settings.http.ports, 1..=1);
    assert_eq!(settings.node_name, "x");
}

#[test]
fn what_a_stronger_source_overrides_must_be_right_too() {
    for (name, strong, weak) in [
        ("http.port", "9200", "abc"),
        ("node.processors", "2", "0"),
        ("node.name", "a", "a/b"),
        ("http.host", "127.0.0.1", "no such host.invalid"),
        ("oauth.code.ttl", "30s", "soon"),
        ("xpack.security.enabled", "true", "yes"),
    ] {
        let mut all = sources(&[(name, strong)]);
        all.add(vec![Given::option(name, weak)]).expect("a known name");
        let failure = Settings::read(&all, &machine()).expect_err(name);
        assert_eq!(failure.code, Code::Setting, "{name}");
        assert!(failure.sentence.contains(&format!("[{weak}]")), "{failure}");
    }
    let mut all = sources(&[("oauth.code.ttl", "30s")]);
    all.add(vec![Given::option("oauth.code.ttl", "40s")]).expect("a known name");
    let settings = Settings::read(&all, &machine()).expect("both are legal");
    assert_eq!(settings.oauth.expect("on").settings.code, 30_000, "the stronger is what counts");
}

#[test]
fn network_host_sets_both_hosts_unless_one_is_named() {
    let settings = read(&[("network.host", "0.0.0.0"), ("transport.host", "::1")]).expect("legal");
    assert_eq!(settings.http.ip.to_string(), "0.0.0.0");
    assert_eq!(settings.transport.ip.to_string(), "::1");
}

#[test]
fn an_unknown_name_offers_the_nearest() {
    let failure =
        Sources::default().add(vec![Given::option("http.prot", "1")]).expect_err("unknown");
    assert_eq!(failure.code, Code::Setting);
    assert!(failure.sentence.contains("did you mean [http.port]?"), "{failure}");
}

#[test]
fn an_unknown_name_that_is_like_none_is_told_where_all_stand() {
    for name in ["foo.bar", "x", "", "discovery.type", "index.number_of_replicas_per_shard_group"] {
        let failure = Sources::default().add(vec![Given::option(name, "1")]).expect_err("unknown");
        let told = failure.sentence;
        assert!(
            told.contains(&format!(
                "unknown setting [{name}], the nearest of those there are is ["
            )),
            "{told}"
        );
        assert!(told.ends_with("docs/guide/settings.md tells of all"), "{told}");
    }
}

#[test]
fn wrong_values_say_what_would_be_right() {
    for (name, value, word) in [
        ("http.port", "web", "9200-9300"),
        ("xpack.security.enabled", "yes", "true or false"),
        ("node.processors", "0", "from 1 to 1024"),
        ("indices.memory", "lots", "512mb"),
        ("http.host", "no such host.invalid", "host name or address"),
        ("node.name", "a/b", "a name without"),
        ("cluster.name", "a\u{7}b", "control characters"),
        ("cluster.name", "a\nb", "line ends"),
        ("http.host", "127.0.0.1,::1", "one host name or address"),
        ("oauth.issuer", "example.org", "https://"),
        ("oauth.issuer", "https://a b", "with a host"),
        ("oauth.issuer", "https://a//b", "without empty parts"),
        ("oauth.enabled", "1", "true or false"),
    ] {
        let failure = read(&[(name, value)]).expect_err(name);
        assert_eq!(failure.code, Code::Setting, "{name}");
        assert!(failure.sentence.contains(name), "{failure}");
        assert!(failure.sentence.contains(word), "{failure}");
    }
}

/// Elasticsearch's files say `xpack.security.audit.enabled: true`, and the node did not start.
#[test]
fn the_audit_log_is_on_and_may_be_switched_off_where_it_is_not_strict() {
    let enabled = |value| ("xpack.security.audit.enabled", value);
    let strict = ("oauth.audit.strict", "true");
    assert!(read(&[]).expect("legal").audit && read(&[enabled("true")]).expect("legal").audit);
    assert!(!read(&[enabled("false")]).expect("legal").audit);
    assert!(read(&[enabled("true"), strict]).expect("legal").audit_strict);
    let failure = read(&[enabled("false"), strict]).expect_err("contradict each other");
    assert_eq!(failure.code, Code::Setting);
    assert!(failure.sentence.contains("oauth.audit.strict"), "{failure}");
    assert_eq!(read(&[enabled("yes")]).expect_err("no truth").code, Code::Setting);
    let open = ("xpack.security.enabled", "false");
    assert!(!read(&[open]).expect("legal").audit, "nobody is known whom a line could name");
}

/// A node that registers nobody came up, and told each of them that its token is wrong.
#[test]
fn who_wants_a_token_of_registrations_names_it() {
    let mode = ("oauth.registration.mode", "token");
    let failure = read(&[mode]).expect_err("no token");
    assert_eq!(failure.code, Code::Setting);
    assert!(failure.sentence.starts_with("oauth.registration.token is not set"), "{failure}");
    let token = ("oauth.registration.token", "0123456789abcdef");
    assert!(read(&[mode, token]).is_ok() && read(&[mode, ("oauth.enabled", "false")]).is_ok());
    assert!(read(&[("oauth.registration.mode", "open")]).is_ok());
    // It was told to whoever may look at the node, and where it was too short.
    let known = read(&[mode, token]).expect("legal").shown;
    assert_eq!(known, [(mode.0.to_owned(), mode.1.to_owned())]);
    let failure = read(&[mode, ("oauth.registration.token", "tooshort")]).expect_err("short");
    assert!(failure.sentence.contains("is [***], but must be at least"), "{failure}");
}

/// The values of `cluster.name: [a, b]` were joined: the cluster was called `a,b`.
#[test]
fn a_list_is_refused_where_one_value_is_wanted() {
    let add = |text: &str| {
        let given = source::yaml(text, Path::new("corelode.yml")).expect("good YAML");
        Sources::default().add(given)
    };
    for (text, told) in [
        ("cluster.name: [a, b]", "corelode.yml, line 1: cluster.name is the list [a,b]"),
        ("node:\n  name:\n    - a\n", "corelode.yml, line 3: node.name is the list [a]"),
        ("node.attr.rack: [r1, r2]", "corelode.yml, line 1: node.attr.rack is the list [r1,r2]"),
        ("path.data: [/a, /b]", "corelode.yml, line 1: path.data is the list [/a,/b]"),
        ("http.port: []", "corelode.yml, line 1: http.port is the list []"),
    ] {
        let failure = add(text).expect_err(text);
        assert_eq!(failure.code, Code::Setting);
        assert_eq!(failure.sentence, format!("{told}, but must be one value"));
    }
    for text in [
        "path.repo: [/a, /b]",
        "discovery.seed_hosts: ['a:1', 'b:2']",
        "oauth.trusted_proxies: [10.0.0.0/8]",
        "network.host: [127.0.0.1]",
    ] {
        assert_eq!(add(text), Ok(()), "{text}");
    }
}

/// Hosts of a list were looked up as one name: `failed to lookup address information`.
#[test]
fn a_list_of_hosts_is_told_as_such_with_its_place() {
    let given = source::yaml("http.host: [127.0.0.1, '::1']", Path::new("corelode.yml"));
    let mut sources = Sources::default();
    sources.add(given.expect("good YAML")).expect("a list may stand there");
    let failure = Settings::read(&sources, &machine()).expect_err("two hosts");
    let told = "corelode.yml, line 1: http.host is [127.0.0.1,::1], but must be one host name or address, for a node \
                listens on one";
    assert_eq!(failure.sentence, told);
}

/// The cluster was called `a\0b`.
#[test]
fn no_value_holds_the_character_0() {
    for name in ["cluster.name", "node.attr.rack", "path.data"] {
        let given = source::yaml(&format!("{name}: \"a\\0b\""), Path::new("corelode.yml"));
        let failure = Sources::default().add(given.expect("good YAML")).expect_err(name);
        let told = format!("corelode.yml, line 1: {name} is [a\\0b], but must be a text without");
        assert!(failure.code == Code::Setting && failure.sentence.starts_with(&told), "{failure}");
    }
}

/// The last of several options counted, or the first: `--data` before `-E path.data`.
#[test]
fn the_command_line_sets_each_name_once() {
    let twice = [Given::option("cluster.name", "a"), Given::option("cluster.name", "b")];
    let failure = Sources::default().add(twice.to_vec()).expect_err("twice");
    assert_eq!(failure.code, Code::Setting);
    assert_eq!(failure.sentence, "command line: cluster.name is set twice; set it once");
    let variables = ["CORELODE_HTTP__PORT", "CORELODE_http__port"];
    let variables = variables.map(|name| (name.to_owned(), "9200".to_owned()));
    let failure =
        Sources::default().add(source::environment(variables.into_iter())).expect_err("twice");
    assert!(failure.sentence.contains("http.port is set twice; the first is at env"), "{failure}");
}

#[test]
fn an_open_door_is_refused_but_at_home() {
    assert!(read(&[("xpack.security.enabled", "false")]).is_ok());
    assert!(read(&[("xpack.security.http.ssl.enabled", "false")]).is_ok());
    for name in ["xpack.security.enabled", "xpack.security.http.ssl.enabled"] {
        for host in ["network.host", "http.host", "transport.host"] {
            let failure = read(&[(name, "false"), (host, "0.0.0.0")]).expect_err(host);
            assert_eq!(failure.code, Code::Setting);
            assert!(failure.sentence.contains("loopback"), "{failure}");
        }
    }
    assert!(read(&[("network.host", "0.0.0.0")]).is_ok(), "with TLS and passwords it is fine");
}

#[test]
fn security_off_means_no_tls_either() {
    let settings = read(&[("xpack.security.enabled", "false")]).expect("legal");
    assert!(!settings.security && !settings.tls);
}

#[test]
fn certificate_and_key_come_together() {
    let key = "xpack.security.http.ssl.key";
    let certificate = "xpack.security.http.ssl.certificate";
    for (one, other) in [(key, certificate), (certificate, key)] {
        let failure = read(&[(one, "x.pem")]).expect_err("alone");
        assert!(failure.sentence.contains(other), "{failure}");
    }
    let own = read(&[(key, "x.key"), (certificate, "/etc/x.crt"), ("path.data", "/d")])
        .expect("legal")
        .own_certificate
        .expect("given");
    assert_eq!(own.key, PathBuf::from("/d/x.key"), "relative to the data folder");
    assert_eq!(own.certificate, PathBuf::from("/etc/x.crt"));
}

/// A list was joined to one path, `a.crt,b.crt`, which was no file.
#[test]
fn authorities_may_be_several() {
    let yaml = "xpack.security.http.ssl:\n  certificate: own.crt\n  key: own.key\n  certificate_authorities: [\"a.crt\", \
                \"/etc/b.crt\"]\n";
    let mut sources = Sources::default();
    let given = source::yaml(yaml, Path::new("/c/corelode.yml")).expect("good YAML");
    sources.add(given).expect("known names");
    let settings = Settings::read(&sources, &machine()).expect("legal");
    let own = settings.own_certificate.expect("given");
    assert_eq!(own.authorities, [PathBuf::from("/c/a.crt"), PathBuf::from("/etc/b.crt")]);
    assert_eq!(own.certificate, PathBuf::from("/c/own.crt"));
}

#[test]
fn attributes_are_kept() {
    let settings = read(&[("node.attr.rack", "r1")]).expect("legal");
    assert_eq!(settings.node_attributes, [("rack".to_owned(), "r1".to_owned())]);
}
