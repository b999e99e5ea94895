//! TLS ends here: above it there are byte streams.
//!
//! Always true
//! 1. One [`ServerTls`] serves all cores: tickets that one core gives are good on every other.
//! 2. A handshake ends within [`HANDSHAKE`] and [`HANDSHAKE_BYTES_MAX`], or the connection is closed.
//! 3. What TLS rejects is answered with its alert before the connection ends.
//! 4. Large answers pass in pieces: no more than [`PIECE_BYTES`] lie encrypted at a time.
//!
//! TLS 1.2 and 1.3 by ring; HTTP/1.1 and 1.0 are the protocols offered.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use env::{Error, ErrorKind, Result, Stream};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ServerConnection;
use rustls::{ConfigBuilder, ServerConfig, WantsVerifier};

use crate::clock::within;
use crate::net::PlainStream;

/// How long a handshake may take.
pub const HANDSHAKE: Duration = Duration::from_secs(10);

/// What a client may send until the handshake is done; a certificate of its own would fit.
const HANDSHAKE_BYTES_MAX: usize = 64 << 10;

/// Plain bytes encrypted before they are sent.
const PIECE_BYTES: usize = 64 << 10;

/// Encrypted bytes read at once: one full record with its frame, and a little.
const READ_BYTES: usize = 18 << 10;

/// What is wrong with a certificate or key.
#[derive(Debug)]
pub struct BadCertificate(pub String);

impl std::fmt::Display for BadCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadCertificate {}

/// How this server presents itself; clones share it.
#[derive(Clone, Debug)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
}

impl ServerTls {
    /// From a chain of certificates, the server's first, and the server's key, both PEM.
    pub fn new(chain_pem: &[u8], key_pem: &[u8]) -> std::result::Result<Self, BadCertificate> {
        let bad =
            |what: &str, error: &dyn std::fmt::Display| BadCertificate(format!("{what}: {error}"));
        let chain = certificates(chain_pem)?;
        let key = PrivateKeyDer::from_pem_slice(key_pem)
            .map_err(|error| bad("no private key in PEM", &error))?;
        let mut config = builder()
            .map_err(|error| bad("TLS", &error))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| bad("certificate and key", &error))?;
        // Who asks by name for the older version is served in it, as without TLS.
        config.alpn_protocols = vec![b"http/1.1".to_vec(), b"http/1.0".to_vec()];
        config.ticketer = ring::Ticketer::new().map_err(|error| bad("TLS tickets", &error))?;
        // Each ticket costs a write after the handshake; one is enough to come back once.
        config.send_tls13_tickets = 1;
        Ok(Self { config: Arc::new(config) })
    }
}

fn builder() -> std::result::Result<ConfigBuilder<ServerConfig, WantsVerifier>, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}

/// The certificates of a PEM text, at least one.
pub fn certificates(
    pem: &[u8],
) -> std::result::Result<Vec<CertificateDer<'static>>, BadCertificate> {
    let chain = CertificateDer::pem_slice_iter(pem)
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| BadCertificate(format!("no certificate in PEM: {error}")))?;
    if chain.is_empty() {
        return Err(BadCertificate("there is no certificate in the PEM text".into()));
    }
    Ok(chain)
}

/// A connection whose TLS ends here.
pub struct TlsStream {
    socket: PlainStream,
    tls: ServerConnection,
    /// Encrypted bytes read and not yet given to TLS: `encrypted[start..end]`.
    encrypted: Box<[u8]>,
    start: usize,
    end: usize,
    /// Encrypted bytes to send.
    outgoing: Vec<u8>,
    /// The last read filled its buffer: more may lie in TLS.
    is_cut: bool,
    /// The other side was told that no more comes.
    is_finished: bool,
}

impl TlsStream {
    /// Shakes hands on `socket`.
    pub(crate) async fn accept(socket: PlainStream, tls: &ServerTls) -> Result<Self> {
        let peer = socket.peer().to_owned();
        let connection = ServerConnection::new(Arc::clone(&tls.config))
            .map_err(|error| Error::new(ErrorKind::Io, format!("{peer}: TLS: {error}")))?;
        let mut stream = Self {
            socket,
            tls: connection,
            encrypted: vec![0; READ_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            outgoing: Vec::new(),
            is_cut: false,
            is_finished: false,
        };
        match within(HANDSHAKE, stream.shake_hands()).await {
            Some(shaken) => shaken.map(|()| stream),
            None => Err(Error::new(
                ErrorKind::TimedOut,
                format!("{peer}: no TLS handshake within {HANDSHAKE:?}"),
            )),
        }
    }

    async fn shake_hands(&mut self) -> Result<()> {
        let mut received = 0;
        while self.tls.is_handshaking() {
            if received > HANDSHAKE_BYTES_MAX {
                return Err(self.refused(&"more bytes than any handshake needs"));
            }
            let count = self.receive().await?;
            if count == 0 {
                return Err(Error::new(
                    ErrorKind::Disconnected,
                    format!("{}: closed during the TLS handshake", self.socket.peer()),
                ));
            }
            received += count;
            self.feed().await?;
        }
        self.flush().await
    }

    fn refused(&self, cause: &dyn std::fmt::Display) -> Error {
        Error::new(ErrorKind::Disconnected, format!("{}: TLS: {cause}", self.socket.peer()))
    }

    /// Reads encrypted bytes where none wait; how many wait now, 0 where the other side closed.
    async fn receive(&mut self) -> Result<usize> {
        if self.start == self.end {
            self.start = 0;
            self.end = self.socket.read(&mut self.encrypted).await?;
        }
        Ok(self.end - self.start)
    }

    /// Gives TLS as much of what was read as it takes, and sends what it answers.
    async fn feed(&mut self) -> Result<()> {
        let mut waiting = &self.encrypted[self.start..self.end];
        let before = waiting.len();
        let taken = self.tls.read_tls(&mut waiting);
        self.start += before - waiting.len();
        if let Err(error) = taken {
            return Err(self.refused(&error));
        }
        let processed = self.tls.process_new_packets();
        // Also where the packets were bad: then there is an alert to send, as a courtesy only.
        let flushed = self.flush().await;
        match processed {
            Ok(_) => flushed,
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// Sends what TLS has to say.
    async fn flush(&mut self) -> Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.outgoing).map_err(|error| self.refused(&error))?;
        }
        if self.outgoing.is_empty() {
            return Ok(());
        }
        let sent = self.socket.write_all(&self.outgoing).await;
        self.outgoing.clear();
        if self.outgoing.capacity() > 2 * PIECE_BYTES {
            self.outgoing.shrink_to(PIECE_BYTES);
        }
        sent
    }
}

impl Stream for TlsStream {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.tls.reader().read(buffer) {
                // The other side said goodbye, or there was no room to read into.
                Ok(count) => {
                    self.is_cut = count == buffer.len();
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.refused(&error)),
            }
            if self.receive().await? == 0 {
                // Many clients close without TLS's goodbye. HTTP's own framing tells whether a
                // message was cut short.
                return Ok(0);
            }
            self.feed().await?;
        }
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(PIECE_BYTES) {
            let mut rest = piece;
            while !rest.is_empty() {
                let taken = self.tls.writer().write(rest).map_err(|error| self.refused(&error))?;
                rest = &rest[taken..];
                self.flush().await?;
            }
        }
        self.flush().await
    }

    async fn finish(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        self.tls.send_close_notify();
        let flushed = self.flush().await;
        let finished = self.socket.finish().await;
        flushed.and(finished)
    }

    async fn close(&mut self) -> Result<()> {
        let finished = self.finish().await;
        let closed = self.socket.close().await;
        finished.and(closed)
    }

    fn has_left(&self) -> bool {
        self.socket.has_left()
    }

    fn has_more(&self) -> bool {
        self.is_cut || self.start < self.end || self.socket.has_more()
    }

    fn peer(&self) -> &str {
        self.socket.peer()
    }
}

impl std::fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsStream({})", self.socket.peer())
    }
}
