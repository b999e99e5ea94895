//! TLS from the other side: judging a certificate as a client would, and a blocking client for the
//! program's own commands.
//!
//! Only the given certificates are trusted, never the system's: as authorities, or as the very certificate that
//! the other side shows. The latter is how most certificates without an authority are meant.

use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme, StreamOwned,
};

use crate::tls::{BadCertificate, certificates};

type Result<T> = std::result::Result<T, BadCertificate>;

fn bad(error: impl std::fmt::Display) -> BadCertificate {
    BadCertificate(error.to_string())
}

fn roots(authority_pem: &[u8]) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authority_pem)? {
        roots.add(certificate).map_err(bad)?;
    }
    Ok(roots)
}

/// Whether a certificate can hold this host name or IP address.
pub fn is_name(name: &str) -> bool {
    ServerName::try_from(name).is_ok()
}

/// The names that the first certificate of a chain holds in its subjectAltName: hosts and addresses. What its
/// subject is called alone is no name to most clients.
///
/// # Errors
/// It cannot be read.
pub fn names(chain_pem: &[u8]) -> Result<Vec<String>> {
    // Who refuses a name tells all that it knows.
    match check_name(chain_pem, "nobody.invalid")? {
        Err(CertificateError::NotValidForNameContext { presented, .. }) => Ok(bare(&presented)),
        _ => Ok(Vec::new()),
    }
}

/// Whether that certificate holds this name, or one with a star that stands for it.
///
/// # Errors
/// It cannot be read.
pub fn has_name(chain_pem: &[u8], name: &str) -> Result<bool> {
    check_name(chain_pem, name).map(|checked| checked.is_ok())
}

fn check_name(chain_pem: &[u8], name: &str) -> Result<std::result::Result<(), CertificateError>> {
    let chain = certificates(chain_pem)?;
    let leaf = ParsedCertificate::try_from(chain.first().expect("at least one")).map_err(bad)?;
    let name = ServerName::try_from(name).map_err(bad)?;
    match verify_server_name(&leaf, &name) {
        Ok(()) => Ok(Ok(())),
        Err(rustls::Error::InvalidCertificate(error)) => Ok(Err(error)),
        Err(error) => Err(bad(error)),
    }
}

/// Hosts and addresses as webpki prints them (`DnsName("a")`, `IpAddress(::1)`) without what is around them. What
/// else a certificate is made for (an address of a page, a mailbox) is the name of no host.
fn bare(presented: &[String]) -> Vec<String> {
    let inner = |name: &String| {
        if let Some(host) = name.strip_prefix("DnsName(\"") {
            return host.strip_suffix("\")").map(str::to_owned);
        }
        let address = name.strip_prefix("IpAddress(")?.strip_suffix(')')?;
        // Of zeros webpki leaves one.
        let parsed = address.parse::<IpAddr>();
        Some(parsed.map_or_else(|_| address.to_owned(), |address| address.to_string()))
    };
    presented.iter().filter_map(inner).collect()
}

/// Why the other side's certificate is not trusted.
#[derive(Debug, PartialEq, Eq)]
pub enum Distrust {
    /// It is for these names.
    Name(Vec<String>),
    /// It has ended, or begins later.
    Time,
    /// Nobody who is trusted vouches for it.
    Unknown,
}

/// That, where it is what a conversation broke off for.
pub fn distrust(error: &std::io::Error) -> Option<Distrust> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    let rustls::Error::InvalidCertificate(error) = error else { return None };
    Some(match error {
        CertificateError::NotValidForNameContext { presented, .. } => {
            Distrust::Name(bare(presented))
        }
        CertificateError::NotValidForName => Distrust::Name(Vec::new()),
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Distrust::Time,
        _ => Distrust::Unknown,
    })
}

/// Whether a client that trusts `authority_pem` would accept `chain_pem` for `name` (a host name or
/// an IP address) at `unix` since 1970.
pub fn judge(chain_pem: &[u8], authority_pem: &[u8], name: &str, unix: Duration) -> Result<()> {
    let chain = certificates(chain_pem)?;
    let (leaf, rest) = chain.split_first().expect("at least one");
    let verifier = by_authorities(authority_pem)?;
    let name = ServerName::try_from(name).map_err(bad)?;
    let now = UnixTime::since_unix_epoch(unix);
    verifier.verify_server_cert(leaf, rest, &name, &[], now).map(drop).map_err(bad)
}

fn by_authorities(authority_pem: &[u8]) -> Result<Arc<WebPkiServerVerifier>> {
    let provider = Arc::new(ring::default_provider());
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots(authority_pem)?), provider)
        .build()
        .map_err(bad)
}

/// Accepts who shows one of the certificates that are trusted, by whatever name and for whatever use it was
/// made; else asks whether one of them vouches for it. That the other side has its key is always asked.
#[derive(Debug)]
struct Trust {
    known: Vec<CertificateDer<'static>>,
    authorities: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if self.known.iter().any(|known| known == leaf) {
            return Ok(ServerCertVerified::assertion());
        }
        self.authorities.verify_server_cert(leaf, rest, name, stapled, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, leaf, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, leaf, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// A blocking TLS connection.
pub type TlsClient = StreamOwned<ClientConnection, TcpStream>;

/// Begins TLS on `socket` with the server called `name`, which must show one of the certificates of
/// `trusted_pem`, or one that these vouch for. The handshake runs with the first read or write.
pub fn connect(socket: TcpStream, name: &str, trusted_pem: &[u8]) -> Result<TlsClient> {
    let trust =
        Trust { known: certificates(trusted_pem)?, authorities: by_authorities(trusted_pem)? };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(bad)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(trust))
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).map_err(bad)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(bad)?;
    Ok(StreamOwned::new(connection, socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_tells_its_names() {
        let wanted = ["es.example.org", "*.example.net", "127.0.0.1", "::1"];
        let made = rcgen::generate_simple_self_signed(wanted.map(str::to_owned)).expect("made");
        let pem = made.cert.pem().into_bytes();
        assert_eq!(names(&pem).expect("read"), wanted);
        assert!(has_name(&pem, "a.example.net").expect("read"));
        assert!(!has_name(&pem, "example.org").expect("read"));
        let none = rcgen::generate_simple_self_signed(Vec::new()).expect("made");
        assert_eq!(names(none.cert.pem().as_bytes()).expect("read"), Vec::<String>::new());
    }

    /// A start with such a certificate told the operator to connect to `spiffe://…`, or to `0x01`.
    #[test]
    fn only_hosts_and_addresses_are_names() {
        let mut made =
            rcgen::CertificateParams::new(vec!["es.example.org".to_owned()]).expect("made");
        for name in [
            rcgen::SanType::URI("spiffe://example.org/es".try_into().expect("text")),
            rcgen::SanType::Rfc822Name("es@example.org".try_into().expect("text")),
            rcgen::SanType::IpAddress(IpAddr::from([127, 0, 0, 1])),
        ] {
            made.subject_alt_names.push(name);
        }
        let key = rcgen::KeyPair::generate().expect("a key");
        let pem = made.self_signed(&key).expect("signed").pem().into_bytes();
        assert_eq!(names(&pem).expect("read"), ["es.example.org", "127.0.0.1"]);
    }

    #[test]
    fn a_certificate_is_judged_by_name_time_and_authority() {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
        let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
        let (pem, other) = (made.cert.pem(), other.cert.pem());
        let now = Duration::from_secs(1_800_000_000);
        let judge =
            |authority: &str, name, when| judge(pem.as_bytes(), authority.as_bytes(), name, when);
        assert!(judge(&pem, "localhost", now).is_ok());
        assert!(judge(&pem, "example.org", now).is_err());
        assert!(judge(&pem, "127.0.0.1", now).is_err());
        assert!(judge(&other, "localhost", now).is_err());
        assert!(judge(&pem, "localhost", Duration::ZERO).is_err(), "1970 is too early");
    }
}
