//! Certificates: made at the first start, renewed when they near their end, or the operator's own.
//!
//! Always true
//! 1. There is one authority for HTTP and one for transport; they stay, so that clients may pin
//!    their fingerprint (SHA-256 of the DER, as Elasticsearch does). Without its key an authority stays as well.
//! 2. The node's certificate names every host by which the node may be reached; it is made anew
//!    when it lacks one, or ends within 30 days.
//! 3. The served chain holds the authority too, so that a pinned authority verifies in it.
//! 4. Keys have mode 0600.
//!
//! Keys are ECDSA P-256. An authority's name is derived from its key, so that it can be rebuilt
//! without reading the certificate back.

use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use ring::digest;
use runtime::tls::{BadCertificate, ServerTls, certificates};
use runtime::tls_client::{has_name, is_name, judge, names};

use crate::calendar::date;
use crate::config::OwnCertificate;
use crate::failure::{Code, Failure, Result};
use crate::folder::{Folder, remove, save};

const DAY: Duration = Duration::from_secs(86_400);
const AUTHORITY_DAYS: u32 = 3_650;
const NODE_DAYS: u32 = 730;
const RENEWED_BEFORE_DAYS: u32 = 30;

/// What HTTP presents, and what clients need to trust it.
pub struct Presented {
    /// For the listener.
    pub tls: ServerTls,
    /// The certificates that clients trust: the authority's, or the node's own where no authority is named.
    pub authority: std::path::PathBuf,
    /// SHA-256 of the authority's DER, in hexadecimal.
    pub fingerprint: String,
    /// What is presented, in PEM.
    pub chain: Vec<u8>,
}

impl Presented {
    /// A name by which clients know the certificate, where they do not by `host`; `Err` where it holds none.
    pub fn name_beside(&self, host: &str) -> std::result::Result<Option<String>, BadCertificate> {
        if has_name(&self.chain, host).unwrap_or(false) {
            return Ok(None);
        }
        // Any label does in the place of a star, which stands for one alone, the first.
        let name = names(&self.chain)?.into_iter().find_map(|name| {
            let name = match name.strip_prefix("*.") {
                Some(rest) => format!("node.{rest}"),
                None => name,
            };
            let is_known = is_name(&name) && has_name(&self.chain, &name).unwrap_or(false);
            is_known.then_some(name)
        });
        let nameless = || BadCertificate("it holds no names that a client can ask for".to_owned());
        name.map(Some).ok_or_else(nameless)
    }
}

/// Makes what is missing and renews what is old; the certificate that HTTP presents.
pub fn prepare(
    folder: &Folder,
    own: Option<&OwnCertificate>,
    hosts: &[String],
) -> Result<Presented> {
    if let Some(own) = own {
        return load_own(folder, own);
    }
    let now = now();
    // Both at once: most of the time goes into syncing files.
    let http = std::thread::scope(|scope| {
        let transport = scope.spawn(|| ensure(folder, "transport", "transport", hosts, now));
        let http = ensure(folder, "http", "HTTP", hosts, now);
        transport.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        http
    })?;
    let authority = folder.certs("http_ca.crt");
    let key = read(&folder.certs("http.key"))?;
    let tls =
        ServerTls::new(&http, &key).map_err(|error| wrong(&folder.certs("http.crt"), &error))?;
    let fingerprint = fingerprint(&read(&authority)?).map_err(|error| wrong(&authority, &error))?;
    Ok(Presented { tls, authority, fingerprint, chain: http })
}

/// Tells of each authority that a node which holds something had and that will be made anew.
pub fn note_lost(folder: &Folder) {
    for kind in ["http", "transport"] {
        let authority = folder.certs(&format!("{kind}_ca.crt"));
        if is_to_begin(folder, kind) {
            tracing::warn!(
                "{} is made anew, for the authority of before is not whole; clients that trust that one must be told of \
                 this one",
                authority.display()
            );
        }
    }
}

/// Is an authority to be made? The authority makes the node's certificate last of all: where that is there, clients
/// may know it already, and it is never replaced. Its key may be kept elsewhere until the node needs a new certificate.
fn is_to_begin(folder: &Folder, kind: &str) -> bool {
    let exists = |suffix: &str| folder.certs(&format!("{kind}{suffix}")).exists();
    let is_kept = exists("_ca.key") || (exists("_ca.crt") && exists(".crt"));
    !is_kept
}

fn load_own(folder: &Folder, own: &OwnCertificate) -> Result<Presented> {
    let mut chain = read_given(own, "certificate", &own.certificate)?;
    let key = read_given(own, "key", &own.key)?;
    let bad =
        |what: &str, path: &Path, error: &BadCertificate| given_wrong(own, what, path, &error);
    let mut trusted = Vec::new();
    for authority in &own.authorities {
        let what = "certificate_authorities";
        let pem = read_given(own, what, authority)?;
        certificates(&pem).map_err(|error| bad(what, authority, &error))?;
        trusted.extend_from_slice(&pem);
        trusted.push(b'\n');
    }
    if own.authorities.is_empty() {
        trusted.clone_from(&chain);
    } else {
        chain.push(b'\n');
        chain.extend_from_slice(&trusted);
    }
    let wrong = |error: BadCertificate| bad("certificate", &own.certificate, &error);
    let tls = ServerTls::new(&chain, &key).map_err(wrong)?;
    let fingerprint = fingerprint(&trusted).map_err(wrong)?;
    let authority = match own.authorities.as_slice() {
        // Clients trust the certificate itself.
        [] => own.certificate.clone(),
        [one] => one.clone(),
        // Clients are given one file.
        _ => {
            let all = folder.certs("http_authorities.crt");
            save(&all, &trusted, 0o644)?;
            all
        }
    };
    // Who reads of it stands in another folder, perhaps.
    let authority = std::path::absolute(&authority)
        .map_err(|error| given_wrong(own, "certificate", &authority, &error))?;
    Ok(Presented { tls, authority, fingerprint, chain })
}

fn read_given(own: &OwnCertificate, what: &str, path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| given_wrong(own, what, path, &error))
}

/// A file of the operator's that is not what its setting wants.
fn given_wrong(
    own: &OwnCertificate,
    what: &str,
    path: &Path,
    error: &dyn std::fmt::Display,
) -> Failure {
    let place = own.places.get(what).map_or(String::new(), |place| format!("{place}: "));
    Failure::new(
        Code::Setting,
        format!(
            "{place}xpack.security.http.ssl.{what} is [{}], but must be a file in PEM that can be read, \
             certificate and key of one pair: {error}",
            path.display()
        ),
    )
}

fn wrong(path: &Path, error: &BadCertificate) -> Failure {
    Failure::new(
        Code::Setting,
        format!("{}: {error}; give a certificate chain and its key in PEM", path.display()),
    )
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Failure::new(Code::Setting, format!("{}: {error}", path.display())))
}

/// SHA-256 of the last certificate's DER: the authority stands last in a chain.
pub fn fingerprint(pem: &[u8]) -> std::result::Result<String, BadCertificate> {
    let chain = certificates(pem)?;
    let authority = chain.last().expect("at least one");
    let digest = digest::digest(&digest::SHA256, authority);
    Ok(digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Seconds since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Makes authority and node certificate of one kind where they are missing; the chain in PEM.
fn ensure(
    folder: &Folder,
    kind: &str,
    title: &str,
    hosts: &[String],
    now: Duration,
) -> Result<Vec<u8>> {
    let file = |suffix: &str| folder.certs(&format!("{kind}{suffix}"));
    let (authority_crt, authority_key) = (file("_ca.crt"), file("_ca.key"));
    let (node_crt, node_key) = (file(".crt"), file(".key"));
    if let Some(path) =
        [&authority_crt, &authority_key, &node_crt, &node_key].iter().find(|path| path.is_dir())
    {
        let sentence = format!(
            "{} is a folder, but must be a file in PEM; take it away, and the certificate is made anew",
            path.display()
        );
        return Err(Failure::new(Code::Setting, sentence));
    }
    let is_new = is_to_begin(folder, kind);
    if is_new {
        let key = KeyPair::generate().map_err(|error| made(&authority_key, &error))?;
        let certificate = authority(&key, title, now)
            .self_signed(&key)
            .map_err(|error| made(&authority_crt, &error))?;
        // What an authority of before signed goes first: beside the new one it would say that clients know that.
        remove(&node_key)?;
        remove(&node_crt)?;
        // The key last: a first start cut short between the two begins anew.
        save(&authority_crt, certificate.pem().as_bytes(), 0o644)?;
        save(&authority_key, key.serialize_pem().as_bytes(), 0o600)?;
    }
    let authority_pem = read(&authority_crt).map_err(|failure| Failure {
        sentence: format!("{}. {}", failure.sentence, put_back(&authority_crt, &node_crt)),
        ..failure
    })?;
    let why = match (std::fs::read(&node_crt), std::fs::read(&node_key)) {
        (Ok(chain), Ok(key)) => {
            let then = now + RENEWED_BEFORE_DAYS * DAY;
            let mut judged = hosts.iter().map(|host| judge(&chain, &authority_pem, host, then));
            let wrong = judged
                .find_map(std::result::Result::err)
                .or_else(|| ServerTls::new(&chain, &key).err());
            match wrong {
                None => return Ok(chain),
                Some(wrong) => Some(wrong.to_string()),
            }
        }
        // Of a first start, or where the authority is new.
        (Err(_), _) if is_new => None,
        (Err(error), _) => Some(format!("{}: {error}", node_crt.display())),
        (Ok(_), Err(error)) => Some(format!("{}: {error}", node_key.display())),
    };
    if !authority_key.exists() {
        return Err(keyless(&authority_key, &authority_crt));
    }
    let authority_key_path = authority_key;
    let authority_key = String::from_utf8_lossy(&read(&authority_key_path)?).into_owned();
    let key = KeyPair::from_pem(&authority_key).map_err(|error| made(&authority_crt, &error))?;
    let issuer = Issuer::new(authority(&key, title, now), key);
    // What clients know must be what signs, or nothing is touched: the last whole copy of it may be in the chain.
    let key = KeyPair::generate().map_err(|error| made(&node_key, &error))?;
    let signed = node(&["localhost".to_owned()], now).signed_by(&key, &issuer);
    let signed = signed.map_err(|error| made(&node_crt, &error))?.pem();
    judge(signed.as_bytes(), &authority_pem, "localhost", now).map_err(|error| {
        let sentence = format!(
            "{} is damaged, or not the authority whose key is in {}: {error}. {}",
            authority_crt.display(),
            authority_key_path.display(),
            put_back(&authority_crt, &node_crt)
        );
        Failure::new(Code::Setting, sentence)
    })?;
    let certificate =
        node(hosts, now).signed_by(&key, &issuer).map_err(|error| made(&node_crt, &error))?;
    let mut chain = certificate.pem().into_bytes();
    chain.extend_from_slice(&authority_pem);
    // The certificate first: a start cut short between the two finds no pair, and begins anew.
    save(&node_crt, &chain, 0o644)?;
    save(&node_key, key.serialize_pem().as_bytes(), 0o600)?;
    if let Some(why) = why {
        tracing::warn!(
            "{} was made anew, and its key: {why}; clients that trust {} need not be told, those that pin the node's \
             certificate itself must be",
            node_crt.display(),
            authority_crt.display()
        );
    }
    Ok(chain)
}

/// What to do where the authority's certificate is not what it was.
fn put_back(authority: &Path, node: &Path) -> String {
    format!(
        "Put {} back (where it was whole, a copy of it stands last in {}); or remove it and its key, so that a new \
         authority is made, which each client must then be told",
        authority.display(),
        node.display()
    )
}

/// A certificate must be made, and the authority's key is not there.
fn keyless(key: &Path, authority: &Path) -> Failure {
    Failure::new(
        Code::Setting,
        format!(
            "{} is not there, and the node's certificate must be made anew: it ends soon, lacks a host, or is damaged. \
             Put the key back; or remove {} too, so that a new authority is made, which each client must then be told",
            key.display(),
            authority.display()
        ),
    )
}

fn made(path: &Path, error: &rcgen::Error) -> Failure {
    Failure::new(Code::Setting, format!("making {}: {error}", path.display()))
}

/// The authority of this key.
fn authority(key: &KeyPair, title: &str, now: Duration) -> CertificateParams {
    let digest = digest::digest(&digest::SHA256, key.public_key_raw());
    let tail: String = digest.as_ref()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let mut params = CertificateParams::default();
    params.distinguished_name = name(&format!("Corelode {title} CA {tail}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    lasting(&mut params, now, AUTHORITY_DAYS);
    params
}

/// A node reached by `hosts`.
fn node(hosts: &[String], now: Duration) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = name(hosts.first().map_or("localhost", String::as_str));
    params.subject_alt_names = hosts
        .iter()
        .filter_map(|host| match host.parse::<IpAddr>() {
            Ok(ip) => Some(SanType::IpAddress(ip)),
            // A name that no certificate can hold is one that no client can ask for.
            Err(_) => host.as_str().try_into().ok().map(SanType::DnsName),
        })
        .collect();
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    lasting(&mut params, now, NODE_DAYS);
    params
}

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name.push(DnType::OrganizationName, "Corelode");
    name
}

/// Valid from yesterday, as clocks differ.
fn lasting(params: &mut CertificateParams, now: Duration, days: u32) {
    let (year, month, day) = date(now.saturating_sub(DAY));
    params.not_before = rcgen::date_time_ymd(year, month, day);
    let (year, month, day) = date(now + days * DAY);
    params.not_after = rcgen::date_time_ymd(year, month, day);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn hosts(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn folder(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("corelode-{name}-{}", std::process::id()));
        Folder::make(&path).expect("made")
    }

    fn clear(folder: &Folder) {
        std::fs::remove_dir_all(folder.path()).expect("removed");
    }

    #[test]
    fn clients_trust_the_chain_under_each_name_and_the_authority_stays() {
        let folder = folder("certs");
        let first = hosts(&["localhost", "127.0.0.1", "::1", "box"]);
        let made = prepare(&folder, None, &first).unwrap_or_else(|failure| panic!("{failure}"));
        let chain = std::fs::read(folder.certs("http.crt")).expect("there");
        let authority = std::fs::read(folder.certs("http_ca.crt")).expect("there");
        for host in &first {
            judge(&chain, &authority, host, now())
                .unwrap_or_else(|error| panic!("{host}: {error}"));
            let last = now() + Duration::from_secs(729 * 86_400);
            assert!(judge(&chain, &authority, host, last).is_ok());
        }
        assert!(judge(&chain, &authority, "other", now()).is_err());
        assert_eq!(certificates(&chain).expect("PEM").len(), 2, "the authority is served too");
        assert_eq!(made.fingerprint.len(), 64);
        for key in ["http_ca.key", "http.key", "transport_ca.key", "transport.key"] {
            let mode = std::fs::metadata(folder.certs(key)).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{key}");
        }

        let again = prepare(&folder, None, &first).expect("nothing to do");
        assert_eq!(std::fs::read(folder.certs("http.crt")).expect("there"), chain, "kept");
        assert_eq!(again.fingerprint, made.fingerprint);

        let more = hosts(&["localhost", "search.example.org"]);
        let renewed = prepare(&folder, None, &more).expect("a new name");
        assert_eq!(renewed.fingerprint, made.fingerprint, "the authority stays");
        let chain = std::fs::read(folder.certs("http.crt")).expect("there");
        assert!(judge(&chain, &authority, "search.example.org", now()).is_ok());
        clear(&folder);
    }

    #[test]
    fn a_certificate_near_its_end_is_renewed() {
        let folder = folder("renewed");
        let names = hosts(&["localhost"]);
        let old = ensure(&folder, "http", "HTTP", &names, now()).expect("made");
        let soon = now() + 699 * DAY;
        assert_eq!(ensure(&folder, "http", "HTTP", &names, soon).expect("kept"), old);
        let late = now() + 702 * DAY;
        let renewed = ensure(&folder, "http", "HTTP", &names, late).expect("renewed");
        assert_ne!(renewed, old);
        let authority = std::fs::read(folder.certs("http_ca.crt")).expect("there");
        assert!(judge(&renewed, &authority, "localhost", late + 700 * DAY).is_ok());
        clear(&folder);
    }

    #[test]
    fn an_authority_whose_key_is_kept_elsewhere_stays() {
        let folder = folder("keyless");
        let names = hosts(&["localhost"]);
        let made = prepare(&folder, None, &names).expect("made");
        let key = std::fs::read(folder.certs("http_ca.key")).expect("there");
        std::fs::remove_file(folder.certs("http_ca.key")).expect("removed");
        let again = prepare(&folder, None, &names).expect("the node's certificate is good");
        assert_eq!(again.fingerprint, made.fingerprint);
        let failure = match prepare(&folder, None, &hosts(&["search.example.org"])) {
            Ok(_) => panic!("who made that certificate?"),
            Err(failure) => failure,
        };
        assert_eq!(failure.code, Code::Setting);
        assert!(failure.sentence.contains("http_ca.key"), "{failure}");
        save(&folder.certs("http_ca.key"), &key, 0o600).expect("put back");
        let renewed = prepare(&folder, None, &hosts(&["search.example.org"])).expect("renewed");
        assert_eq!(renewed.fingerprint, made.fingerprint);
        for name in ["http_ca.key", "http_ca.crt"] {
            std::fs::remove_file(folder.certs(name)).expect("removed");
        }
        let other = prepare(&folder, None, &names).expect("a new authority");
        assert_ne!(other.fingerprint, made.fingerprint);
        clear(&folder);
    }

    /// The node's certificate, and with it the last whole copy of the authority, was replaced by one of a broken chain.
    #[test]
    fn an_authority_that_is_not_its_keys_signs_nothing() {
        let folder = folder("damaged");
        let names = hosts(&["localhost"]);
        let made = prepare(&folder, None, &names).expect("made");
        let file = |name: &str| folder.certs(name);
        let whole = std::fs::read(file("http_ca.crt")).expect("there");
        let foreign = std::fs::read(file("transport_ca.crt")).expect("there");
        let chain = std::fs::read(file("http.crt")).expect("there");
        for wrong in [&whole[..whole.len() / 2], &foreign, b""] {
            save(&file("http_ca.crt"), wrong, 0o644).expect("damaged");
            let failure = prepare(&folder, None, &names).err().expect("no client would trust it");
            assert_eq!(failure.code, Code::Setting);
            assert!(failure.sentence.contains("stands last in"), "{failure}");
            assert_eq!(std::fs::read(file("http.crt")).expect("there"), chain, "untouched");
        }
        std::fs::remove_file(file("http_ca.crt")).expect("removed");
        let failure = prepare(&folder, None, &names).err().expect("what did it sign?");
        assert!(failure.sentence.contains("stands last in"), "{failure}");
        save(&file("http_ca.crt"), &whole, 0o644).expect("put back");
        let again = prepare(&folder, None, &names).expect("as before");
        assert_eq!(again.fingerprint, made.fingerprint);
        clear(&folder);
    }

    /// The start after was refused, and told to put a key back that there never was.
    #[test]
    fn a_new_authority_that_was_cut_short_is_begun_anew() {
        let folder = folder("cut-short");
        let names = hosts(&["localhost"]);
        let made = prepare(&folder, None, &names).expect("made");
        for name in ["http_ca.key", "http_ca.crt"] {
            std::fs::remove_file(folder.certs(name)).expect("removed");
        }
        // The certificate is written, its key is not.
        let in_the_way = folder.certs("http_ca.key.tmp");
        std::fs::create_dir(&in_the_way).expect("made");
        assert!(prepare(&folder, None, &names).is_err(), "cut short");
        assert!(folder.certs("http_ca.crt").exists() && !folder.certs("http_ca.key").exists());
        std::fs::remove_dir(&in_the_way).expect("removed");
        let other = prepare(&folder, None, &names).expect("begun anew");
        assert_ne!(other.fingerprint, made.fingerprint);
        let again = prepare(&folder, None, &names).expect("nothing to do");
        assert_eq!(again.fingerprint, other.fingerprint);
        clear(&folder);
    }

    #[test]
    fn authorities_of_the_operator_are_given_to_clients_as_one_file() {
        let folder = folder("several");
        prepare(&folder, None, &hosts(&["localhost"])).expect("made");
        let authorities = vec![folder.certs("transport_ca.crt"), folder.certs("http_ca.crt")];
        let own = OwnCertificate {
            certificate: folder.certs("http.crt"),
            key: folder.certs("http.key"),
            authorities,
            ..OwnCertificate::default()
        };
        let made = prepare(&folder, Some(&own), &[]).expect("all are there");
        let given = std::fs::read(&made.authority).expect("made");
        assert_eq!(certificates(&given).expect("PEM").len(), 2);
        let chain = std::fs::read(folder.certs("http.crt")).expect("there");
        assert!(judge(&chain, &given, "localhost", now()).is_ok());
        clear(&folder);
    }

    #[test]
    fn a_certificate_offers_a_name_where_the_address_is_none_of_its_own() {
        let folder = folder("named");
        let of = |names: &[&str]| {
            let made = rcgen::generate_simple_self_signed(hosts(names)).expect("made");
            let (certificate, key) = (folder.certs("own.crt"), folder.certs("own.key"));
            save(&certificate, made.cert.pem().as_bytes(), 0o644).expect("writable");
            save(&key, made.signing_key.serialize_pem().as_bytes(), 0o600).expect("writable");
            let own = OwnCertificate { certificate, key, ..OwnCertificate::default() };
            prepare(&folder, Some(&own), &[]).expect("a pair").name_beside("127.0.0.1")
        };
        assert_eq!(of(&["es.example.org", "127.0.0.1"]).expect("it has names"), None);
        let name = of(&["es.example.org"]).expect("it has names");
        assert_eq!(name.as_deref(), Some("es.example.org"));
        let name = of(&["*.example.org"]).expect("it has names");
        assert_eq!(name.as_deref(), Some("node.example.org"));
        assert!(of(&[]).is_err(), "a common name alone is none");
        for nobodys in
            ["*", "*.*.example.org", "www.*.org", "foo*.example.org", "a;touch b;c", "a b"]
        {
            assert!(of(&[nobodys]).is_err(), "{nobodys}");
            let name = of(&[nobodys, "es.example.org"]).expect("one of its names does");
            assert_eq!(name.as_deref(), Some("es.example.org"), "beside {nobodys}");
        }
        clear(&folder);
    }

    #[test]
    fn a_wrong_certificate_of_the_operator_is_named() {
        let folder = folder("own");
        prepare(&folder, None, &hosts(&["localhost"])).expect("made");
        let own = |certificate: &str, key: &str| OwnCertificate {
            certificate: folder.certs(certificate),
            key: folder.certs(key),
            ..OwnCertificate::default()
        };
        assert!(prepare(&folder, Some(&own("http.crt", "http.key")), &[]).is_ok());
        for (certificate, key, word) in [
            ("missing.crt", "http.key", "missing.crt"),
            ("http.crt", "missing.key", "missing.key"),
            ("http.crt", "transport.key", "http.crt"),
            ("http.key", "http.key", "http.key"),
        ] {
            let failure = match prepare(&folder, Some(&own(certificate, key)), &[]) {
                Ok(_) => panic!("{certificate} and {key} were accepted"),
                Err(failure) => failure,
            };
            assert_eq!(failure.code, Code::Setting);
            assert!(failure.sentence.contains(word), "{failure}");
        }
        clear(&folder);
    }
}
