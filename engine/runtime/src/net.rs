//! Sockets: one listener bound once, an acceptor that hands sockets to the executors in turn, and
//! the streams that the floors above read and write.
//!
//! Always true
//! 1. The listening socket is bound without SO_REUSEPORT, so a second node on the same port is told
//!    so. (glommio's own bind sets it, and two nodes would share the port unseen.)
//! 2. Open connections are counted. Where there are as many as may be, or no descriptor is left, the
//!    cores are asked for room ([`Handed::Press`]); who comes waits for it, not for long.
//! 3. A [`Socket`] may cross cores; a [`Connection`] stays on the core that opened it.
//! 4. Once [`Acceptor::stop`] has returned, the port refuses connections.
//!
//! Deadlines are the caller's: drop the connection when time is up.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use env::mailbox::Sender;
use env::{Error, Result, Stream};
use futures_lite::{AsyncReadExt, AsyncWriteExt};
use glommio::net::TcpStream;

use crate::clock::within;
use crate::tls::TlsStream;

/// Sockets that wait for one core to take them.
pub const WAITING_MAX: usize = 1024;

/// Connections that the system makes before they are accepted.
const BACKLOG: i32 = 4096;

/// How long the acceptor rests where there is no room, before it asks again.
const REST: Duration = Duration::from_millis(1);

/// So long it waits for room, and so long where it waited in vain just now.
const PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE_SPENT: Duration = Duration::from_millis(5);

/// It is not said more often that somebody was refused.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// What a closing connection still swallows, so that a reset does not overtake the last answer.
const LINGER_BYTES_MAX: usize = 256 << 10;
const LINGER: Duration = Duration::from_secs(1);

/// A bound, listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds `address` and listens; port 0 takes any free one. std's error says whether the
    /// address is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        // std sets SO_REUSEADDR (a restart need not wait for old connections), never SO_REUSEPORT.
        let socket = TcpListener::bind(address)?;
        // std asks for 128; the system cuts what is more than `net.core.somaxconn`.
        socket2::SockRef::from(&socket).listen(BACKLOG)?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address bound, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts on a thread of its own and hands each socket to the next of `cores`; at most
    /// `connections_max` are open at a time.
    pub fn accept_for(
        self,
        cores: Vec<Sender<Handed>>,
        connections_max: usize,
    ) -> io::Result<Acceptor> {
        assert!(!cores.is_empty(), "somebody must take the sockets");
        let wake = self.socket.try_clone()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let open = Arc::new(AtomicUsize::new(0));
        let accepting = Accepting {
            socket: self.socket,
            cores,
            connections_max,
            open: Arc::clone(&open),
            stopping: Arc::clone(&stopping),
            turn: 0,
            refused: None,
            warned: None,
        };
        let thread =
            std::thread::Builder::new().name("accept".into()).spawn(move || accepting.run())?;
        Ok(Acceptor { wake, stopping, open, thread: Some(thread) })
    }
}

/// An address that is kept for later: bound, so that nobody else takes it, but not listening, so
/// that whoever connects is refused.
#[derive(Debug)]
pub struct Reserved {
    _socket: socket2::Socket,
    address: SocketAddr,
}

impl Reserved {
    /// Takes `address`; port 0 takes any free one.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        // Without SO_REUSEADDR: two sockets that have it and do not listen may share a port.
        let socket = socket2::Socket::new(
            socket2::Domain::for_address(address),
            socket2::Type::STREAM,
            Some(socket2::Protocol::TCP),
        )?;
        socket.bind(&address.into())?;
        let bound = socket.local_addr()?.as_socket().unwrap_or(address);
        Ok(Self { _socket: socket, address: bound })
    }

    /// The address taken, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// What a core is given.
#[derive(Debug)]
pub enum Handed {
    /// A connection to serve.
    Socket(Socket),
    /// Room is wanted: some of those that wait for their clients should end.
    Press,
}

/// The thread that accepts.
struct Accepting {
    socket: TcpListener,
    cores: Vec<Sender<Handed>>,
    connections_max: usize,
    open: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
    /// Whose turn it is.
    turn: usize,
    /// When somebody was refused last.
    refused: Option<Instant>,
    /// When that was said last.
    warned: Option<Instant>,
}

impl Accepting {
    fn run(mut self) {
        loop {
            let accepted = self.socket.accept();
            if self.stopping.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                Ok((stream, peer)) => match self.place() {
                    Some(place) => self.hand_out(Socket { stream, peer, place }),
                    None => {
                        let connections_max = self.connections_max;
                        self.refuse(format_args!("{connections_max} connections are open"));
                    }
                },
                // The client left again, or the call was interrupted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // No descriptor, mostly.
                Err(error) => {
                    self.press();
                    self.refuse(format_args!("{error}"));
                    std::thread::sleep(REST);
                }
            }
        }
    }

    /// What `attempt` gives, as soon as it gives anything; nothing where that takes too long.
    fn patiently<T>(&mut self, mut attempt: impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        let begun = Instant::now();
        let is_spent = self.refused.is_some_and(|refused| refused.elapsed() < PATIENCE);
        let patience = if is_spent { PATIENCE_SPENT } else { PATIENCE };
        loop {
            let given = attempt(self);
            if given.is_some() {
                return given;
            }
            if begun.elapsed() >= patience || self.stopping.load(Ordering::Acquire) {
                return None;
            }
            std::thread::sleep(REST);
        }
    }

    /// A place in the count; none where none becomes free soon.
    fn place(&mut self) -> Option<Place> {
        self.patiently(|this| {
            let place = Place::take(&this.open, this.connections_max);
            if place.is_none() {
                this.press();
            }
            place
        })
    }

    /// Asks each core for room.
    fn press(&self) {
        for core in &self.cores {
            // One that has no time for it will not make room for what waits there either.
            let _ = core.send(Handed::Press, 1);
        }
    }

    /// Gives `socket` to the next core that has room; drops it where none has any for long.
    fn hand_out(&mut self, socket: Socket) {
        let mut waiting = Some(Handed::Socket(socket));
        let handed = self.patiently(|this| {
            for _ in 0..this.cores.len() {
                let core = &this.cores[this.turn];
                this.turn = (this.turn + 1) % this.cores.len();
                match core.send(waiting.take()?, 1) {
                    Ok(()) => return Some(()),
                    Err(full) => waiting = Some(full.0),
                }
            }
            None
        });
        if handed.is_none() {
            self.refuse(format_args!("every core has {WAITING_MAX} sockets waiting"));
        }
    }

    /// Says now and then why connections are refused.
    fn refuse(&mut self, why: std::fmt::Arguments<'_>) {
        let now = Instant::now();
        self.refused = Some(now);
        if self.warned.is_none_or(|warned| now.duration_since(warned) >= WARN_EVERY) {
            self.warned = Some(now);
            log::warn!("connections are refused: {why}");
        }
    }
}

/// Stops accepting when told to, or when dropped.
#[derive(Debug)]
pub struct Acceptor {
    wake: TcpListener,
    stopping: Arc<AtomicBool>,
    open: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Refuses new connections from now on. Open ones go on.
    pub fn stop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.stopping.store(true, Ordering::Release);
        // Ends the call that waits in the other thread, and refuses whoever connects.
        if let Err(error) = socket2::SockRef::from(&self.wake).shutdown(Shutdown::Both) {
            log::debug!("shutting the listener down: {error}");
        }
        if thread.join().is_err() {
            log::error!("the acceptor panicked");
        }
    }

    /// Connections that are open now.
    pub fn open_count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One connection's place in the count.
#[derive(Debug)]
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>, max: usize) -> Option<Self> {
        if open.fetch_add(1, Ordering::Relaxed) >= max {
            open.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self(Arc::clone(open)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An accepted socket on its way to its core.
#[derive(Debug)]
pub struct Socket {
    stream: std::net::TcpStream,
    peer: SocketAddr,
    place: Place,
}

impl Socket {
    /// Address of the other side.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Opens it on this core, without TLS.
    pub fn open(self) -> Result<Connection> {
        Ok(Connection::Plain(self.bind()?))
    }

    /// Opens it on this core and shakes hands; `TimedOut` where that takes too long.
    pub async fn open_tls(self, tls: &crate::tls::ServerTls) -> Result<Connection> {
        let stream = self.bind()?;
        Ok(Connection::Tls(Box::new(TlsStream::accept(stream, tls).await?)))
    }

    fn bind(self) -> Result<PlainStream> {
        let peer = self.peer.to_string();
        let prepare = || {
            self.stream.set_nodelay(true)?;
            socket2::SockRef::from(&self.stream).set_keepalive(true)
        };
        prepare().map_err(|error| Error::from_io(&error, &peer))?;
        let stream = TcpStream::from(socket2::Socket::from(self.stream));
        Ok(PlainStream { stream, peer, _place: Some(self.place) })
    }
}

/// A TCP connection on this core.
#[derive(Debug)]
pub struct PlainStream {
    stream: TcpStream,
    peer: String,
    _place: Option<Place>,
}

impl PlainStream {
    /// Connects to `address`, which is resolved already.
    pub async fn connect(address: SocketAddr, deadline: Duration) -> Result<Self> {
        let peer = address.to_string();
        let stream = TcpStream::connect_timeout(address, deadline)
            .await
            .map_err(|error| Error::from_io(&error.into(), format_args!("connecting to {peer}")))?;
        Ok(Self { stream, peer, _place: None })
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::from_io(error, &self.peer)
    }

    /// Swallows what the other side still sends, within bounds: closing a socket that holds unread
    /// bytes resets the connection, and the reset may destroy an answer not yet read.
    async fn linger(&mut self) {
        let swallow = async {
            let mut buffer = [0; 4096];
            let mut swallowed = 0;
            while swallowed < LINGER_BYTES_MAX {
                match self.stream.read(&mut buffer).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => swallowed += count,
                }
            }
        };
        within(LINGER, swallow).await;
    }
}

impl Stream for PlainStream {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.stream.read(buffer).await {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(|error| self.failed(&error)),
            }
        }
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await.map_err(|error| self.failed(&error))
    }

    async fn finish(&mut self) -> Result<()> {
        match self.stream.shutdown(Shutdown::Write).await.map_err(io::Error::from) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    async fn close(&mut self) -> Result<()> {
        self.finish().await?;
        self.linger().await;
        Ok(())
    }

    fn has_left(&self) -> bool {
        crate::system::has_hung_up(self.stream.as_raw_fd())
    }

    fn has_more(&self) -> bool {
        crate::system::has_received(self.stream.as_raw_fd())
    }

    fn peer(&self) -> &str {
        &self.peer
    }
}

/// A connection, with TLS or without.
#[derive(Debug)]
pub enum Connection {
    /// Bytes as they are.
    Plain(PlainStream),
    /// TLS ends here.
    Tls(Box<TlsStream>),
}

impl Stream for Connection {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer).await,
            Self::Tls(stream) => stream.read(buffer).await,
        }
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Tls(stream) => stream.write_all(bytes).await,
        }
    }

    async fn finish(&mut self) -> Result<()> {
        match self {
            Self::Plain(stream) => stream.finish().await,
            Self::Tls(stream) => stream.finish().await,
        }
    }

    async fn close(&mut self) -> Result<()> {
        match self {
            Self::Plain(stream) => stream.close().await,
            Self::Tls(stream) => stream.close().await,
        }
    }

    fn has_left(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.has_left(),
            Self::Tls(stream) => stream.has_left(),
        }
    }

    fn has_more(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.has_more(),
            Self::Tls(stream) => stream.has_more(),
        }
    }

    fn peer(&self) -> &str {
        match self {
            Self::Plain(stream) => stream.peer(),
            Self::Tls(stream) => stream.peer(),
        }
    }
}
