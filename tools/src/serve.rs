//! `serve`: the one place where runtime, engine, authz and net are put together.
//!
//! Order at start: signals are held back, the machine is checked, the data folder is locked,
//! addresses are made sure of; then the executors begin ([`core`]), while a thread makes
//! certificates. Core 0 wakes cluster and authz state; when all is up every core opens its door and
//! sockets are accepted; when each shard is open or has failed, the ready file follows.
//!
//! Order at a stop: no more connections; requests in flight finish (10 s at most); shards are
//! flushed, cluster and authz state saved; the executors end; the ready file goes.
//!
//! This thread only waits: for what the cores tell, and for signals.

mod addresses;
mod audit_log;
mod core;
mod greeting;
mod ready;
mod slow_log;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use authz::Secret;
use authz::audit::Audit;
use authz::password::CHARACTERS_MIN;
use authz::store::First;
use engine::ops::observe::{CertificateFile, NodeInfo};
use env::mailbox;
use runtime::memory::Gauge;
use runtime::net::{Acceptor, Listener, WAITING_MAX};
use runtime::preflight;
use runtime::system::{Limit, StopSignals, fail_beyond_file_size, raise_limit, tame_allocator};
use runtime::tls::ServerTls;
use runtime::{Probe, RuntimeRandom, suspect};

use self::core::{Order, Seed};
use crate::certificates::{self, Presented};
use crate::command::{self, Serve};
use crate::config::Settings;
use crate::failure::{Code, Failure, Result};
use crate::file_user;
use crate::folder::Folder;
use crate::{logging, machine};

/// Between two attempts to write a ready file for which there was no room.
const READY_PAUSE: Duration = Duration::from_secs(1);

/// What the cores, and the thread of the signals, tell this thread.
#[allow(clippy::large_enum_variant, reason = "a handful in the life of a process")]
pub enum Event {
    /// Cluster and authz state are up.
    Up {
        /// The way to authz state; `None` without security.
        keeper: Option<authz::Keeper>,
        /// How the user `elastic` came into being.
        first: First,
        /// The key of an enrollment token, at the first start and for a terminal.
        enrollment: Option<Secret>,
    },
    /// Each shard is open or has failed.
    Settled,
    /// The node cannot go on.
    Failed(Failure),
    /// Somebody asks to stop.
    Signal(i32),
}

/// Descriptors that an executor opens for itself (its rings, its pokes), and a few to spare.
const FILES_OF_CORE: u64 = 24;

/// Descriptors of the process without executors, and of files that are being written or opened.
const FILES_OF_PROCESS: u64 = 64;

/// Fewer than this beyond them serve nobody.
const FILES_SHARED_MIN: u64 = 64;

/// Descriptors that the process needs for itself.
const fn files_of_node(cores: usize) -> u64 {
    FILES_OF_PROCESS + FILES_OF_CORE * cores as u64
}

/// How the descriptors beyond those the process needs are shared out: three of four go to connections, the rest
/// to shards, each of which keeps its log open.
struct FileShares {
    connections: usize,
    shards: u64,
}

impl FileShares {
    fn of(open_files: u64, cores: usize) -> Self {
        let free = open_files.saturating_sub(files_of_node(cores));
        let connections = usize::try_from(free / 4 * 3).unwrap_or(usize::MAX);
        Self { connections: connections.clamp(1, 1 << 20), shards: (free / 4).max(1) }
    }
}

/// Runs a node until it is told to stop.
pub fn run(options: &Serve) -> Result<()> {
    // Before the first thread: each inherits the mask.
    let signals = StopSignals::block()
        .map_err(|error| Failure::new(Code::Machine, format!("holding signals back: {error}")))?;
    fail_beyond_file_size();
    tame_allocator();
    logging::start(options.log_format);
    let machine = machine::read();
    let settings = Settings::read(&options.sources()?, &machine)?;
    let open_files = check_machine(settings.cores)?;

    let folder = Folder::make(&settings.data)?;
    let lock = folder.lock()?;
    folder.sweep_probes()?;
    note_suspects(&folder)?;
    if let Err(failure) = file_user::sweep(&folder) {
        tracing::warn!(
            "users whom commands left behind stay in the file, and come in no more: {failure}"
        );
    }
    note_small_memory(settings.memory_bytes);
    if let Some(told) = beyond_machine(settings.memory_bytes, machine.memory_bytes) {
        tracing::warn!("{told}");
    }
    let identity = folder.identity(&RuntimeRandom::new())?;
    folder.claim_cluster()?;
    if settings.security {
        folder.claim_authz()?;
    }
    ready::remove(&folder.node("ready"))?;
    if let Some(file) = &options.ready_file {
        ready::clear(file)?;
    }
    // Certificates are made while the executors start: both wait for the disk.
    let certificates = prepare_certificates(&settings, &folder, &machine.host_name)?;
    let listener = addresses::listen(&settings.http)?;
    let transport = addresses::reserve(&settings.transport)?;
    let probe = Probe::new();
    let info = NodeInfo {
        name: settings.node_name.clone(),
        id: identity.node,
        ephemeral_id: identity.start,
        cluster_name: settings.cluster_name.clone(),
        cluster_uuid: identity.cluster,
        http_address: addresses::published(listener.address(), &machine.host_name).to_string(),
        transport_address: addresses::published(transport.address(), &machine.host_name)
            .to_string(),
        started_ms: now_ms(),
        build_hash: command::COMMIT.to_owned(),
        build_date: command::build_date(),
        attributes: settings.node_attributes.clone(),
        settings: settings.shown.clone(),
        certificates: certificate_files(&settings, &folder),
        slow_log: Some(Arc::new(slow_log::SlowLog::new(&settings.logs_in(folder.path())))),
        measure: Some(Arc::new(probe.clone())),
    };
    let url = addresses::url(&settings.http, listener.address(), settings.tls);
    let reached = match listener.address().ip().is_unspecified() {
        true => info.http_address.clone(),
        false => url.split("://").nth(1).unwrap_or_default().to_owned(),
    };
    let told = ready::Told {
        url,
        reached,
        transport: transport.address().to_string(),
        authority: None,
        certificate_name: None,
        fingerprint: None,
        data: folder.path().to_owned(),
        security: settings.security,
        cores: settings.cores,
    };
    let shares = FileShares::of(open_files, settings.cores);
    let oauth = settings.oauth.clone().map(|oauth| {
        let url = || addresses::url(&settings.http, listener.address(), true);
        let issuer = oauth.issuer.unwrap_or_else(url);
        net::oauth::Oauth::new(net::oauth::Settings { issuer, ..oauth.settings })
    });
    let door = (listener, shares, oauth);
    let node = Node::start(&settings, &folder, info, door, &probe)?;
    wait_for_signals(signals, &node)?;
    let result = node.live(&folder, told, certificates, options);
    drop(lock);
    result
}

/// Refuses a machine that lacks what is needed; how many files may be open, raised as far as it goes.
fn check_machine(cores: usize) -> Result<u64> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(Code::Machine, error.to_string());
    let offered = preflight::Machine::read().map_err(|error| failed(&error))?;
    offered.judge().map_err(|refusal| failed(&refusal))?;
    let open_files = raise_limit(Limit::OpenFiles).map_err(|error| failed(&error))?;
    let needed = files_of_node(cores) + FILES_SHARED_MIN;
    if open_files < needed {
        return Err(failed(&too_few_files(open_files, needed, cores)));
    }
    Ok(open_files)
}

fn too_few_files(open_files: u64, needed: u64, cores: usize) -> String {
    let (word, fewer) =
        if cores == 1 { ("core", "") } else { ("cores", ", or give fewer cores (`--cores`)") };
    format!(
        "{open_files} files may be open (RLIMIT_NOFILE), {needed} are needed for {cores} {word}; run \
         `ulimit -n {needed}` first, or set LimitNOFILE={needed} in the systemd unit{fewer}"
    )
}

/// The password that `elastic` gets at the first start, where it is preset.
fn preset_password() -> Result<Option<Secret>> {
    let Some(text) = std::env::var("ELASTIC_PASSWORD").ok().filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let password = Secret::new(text);
    if password.reveal().chars().count() < CHARACTERS_MIN {
        return Err(Failure::new(
            Code::Setting,
            format!("ELASTIC_PASSWORD is set, but must have at least {CHARACTERS_MIN} characters"),
        ));
    }
    Ok(Some(password))
}

/// Tells which files an earlier run found bad, and from now on notes those of this one.
fn note_suspects(folder: &Folder) -> Result<()> {
    let path = folder.node("suspect");
    let failed = |error: std::io::Error| Failure::file("the list of suspects", &path, &error);
    for file in suspect::take(&path).map_err(failed)? {
        tracing::warn!(
            "the disk failed under {} in an earlier run: run `corelode check` before trusting it",
            file.display()
        );
    }
    suspect::install(&path).map_err(failed)
}

/// Tells that a node with so little will refuse much.
fn note_small_memory(bytes: u64) {
    if bytes < MEMORY_DAILY {
        tracing::warn!(
            "indices.memory is {}mb: below {}mb many requests get 429, and what the process needs \
             before the first of them may be more; give it more with --memory",
            bytes >> 20,
            MEMORY_DAILY >> 20
        );
    }
}

/// What is told of memory that the machine, or the cgroup of the process, does not have.
fn beyond_machine(bytes: u64, machine_bytes: u64) -> Option<String> {
    (bytes > machine_bytes).then(|| {
        format!(
            "indices.memory is {}mb, but this process may have {}mb: the kernel will end it before it refuses a \
             request; give it less with --memory",
            bytes >> 20,
            machine_bytes >> 20
        )
    })
}

/// The least memory with which a node does its daily work: with it, `tools/conform/memory.py` asks
/// everything that takes memory.
const MEMORY_DAILY: u64 = 128 << 20;

/// The files of what HTTP presents: ours, or the operator's as the settings name them.
fn certificate_files(settings: &Settings, folder: &Folder) -> Vec<CertificateFile> {
    if !settings.tls {
        return Vec::new();
    }
    let Some(own) = &settings.own_certificate else {
        let (path, shown) = (folder.certs("http.crt"), "certs/http.crt".to_owned());
        return vec![CertificateFile { path, shown, has_key: true }];
    };
    let authorities = own.authorities.iter().map(|path| (path, false));
    let files = std::iter::once((&own.certificate, true)).chain(authorities);
    let file = |(path, has_key): (&PathBuf, bool)| CertificateFile {
        path: path.clone(),
        shown: path.display().to_string(),
        has_key,
    };
    files.map(file).collect()
}

/// A thread that makes certificates.
type Certificates = JoinHandle<Result<Presented>>;

/// Makes certificates, and the keystore, beside whatever else starts.
fn prepare_certificates(
    settings: &Settings,
    folder: &Folder,
    host_name: &str,
) -> Result<Option<Certificates>> {
    folder.make_keystore(&RuntimeRandom::new())?;
    if !settings.tls {
        return Ok(None);
    }
    if settings.own_certificate.is_none() && folder.is_known()? {
        certificates::note_lost(folder);
    }
    let hosts = addresses::names(&settings.http, host_name);
    let (folder, own) = (folder.clone(), settings.own_certificate.clone());
    let make = move || certificates::prepare(&folder, own.as_ref(), &hosts);
    let thread = std::thread::Builder::new().name("certificates".into()).spawn(make);
    let failed = |error| Failure::new(Code::Machine, format!("starting a thread: {error}"));
    Ok(Some(thread.map_err(failed)?))
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A thread that turns signals into events; the second one ends the process at once.
fn wait_for_signals(signals: StopSignals, node: &Node) -> Result<()> {
    let events = node.sender.clone();
    let wait = move || {
        let mut asked = false;
        loop {
            match signals.wait() {
                // A terminal that is closed tells so several times, and a manager of services after it asked.
                Ok(signal) if asked && StopSignals::is_hangup(signal) => {}
                Ok(signal) if asked => std::process::exit(128 + signal),
                Ok(signal) => {
                    asked = true;
                    // Nobody listens any more only when the node ends anyway.
                    events.send(Event::Signal(signal)).ok();
                }
                Err(error) => {
                    tracing::error!("waiting for signals: {error}");
                    return;
                }
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(wait)
        .map(drop)
        .map_err(|error| Failure::new(Code::Machine, format!("starting a thread: {error}")))
}

/// A node that runs.
struct Node {
    running: runtime::Running,
    _gauge: Gauge,
    events: Receiver<Event>,
    sender: mpsc::Sender<Event>,
    orders: Vec<mailbox::Sender<Order>>,
    sockets: Vec<mailbox::Sender<runtime::net::Handed>>,
    listener: Option<Listener>,
    acceptor: Option<Acceptor>,
    connections_max: usize,
}

impl Node {
    /// Starts the executors.
    fn start(
        settings: &Settings,
        folder: &Folder,
        info: NodeInfo,
        (listener, shares, oauth): (Listener, FileShares, Option<net::oauth::Oauth>),
        probe: &Probe,
    ) -> Result<Self> {
        let cores = u16::try_from(settings.cores).expect("at most 1024");
        let (shared, inboxes) = engine::prepare(engine::Config {
            info,
            memory_bytes: usize::try_from(settings.memory_bytes).unwrap_or(usize::MAX),
            warn: |sentence| tracing::warn!("{sentence}"),
            shards_max: shares.shards,
            reserved_names: if oauth.is_some() { net::oauth::RESERVED } else { &[] },
            ..engine::Config::new(cores, folder.path())
        });
        let (sender, events) = mpsc::channel();
        let mut preset = preset_password()?;
        let half = oauth.as_ref().map(|oauth| &oauth.settings);
        let prefix = half.map_or(authz::token::text::PREFIX, |half| &half.token_prefix);
        let keys = authz::token::Keys::new(&folder.pepper()?).with_prefix(prefix);
        let audit = match settings.audit {
            true => audit_log::start(&settings.logs_in(folder.path()), settings.audit_strict)?,
            false => Audit::none(),
        };
        let hashing = half.map_or_else(runtime::workers::Hashing::default, |half| {
            let (threads, waiting_max) = (half.hashing_threads, half.hashing_queue);
            runtime::workers::Hashing {
                threads: threads as usize,
                waiting_max: waiting_max as usize,
            }
        });
        let (mut orders, mut sockets, mut seeds) = (Vec::new(), Vec::new(), Vec::new());
        for inbox in inboxes {
            // Orders are few and small; their mailbox is as good as unbounded.
            let (order, ordered) = mailbox::channel(usize::MAX);
            let (socket, handed) = mailbox::channel(WAITING_MAX);
            orders.push(order);
            sockets.push(socket);
            seeds.push(Seed {
                shared: Arc::clone(&shared),
                inbox,
                orders: ordered,
                sockets: handed,
                events: sender.clone(),
                security: settings.security,
                authz: folder.path().join("authz"),
                keys: keys.clone(),
                audit: audit.clone(),
                oauth: oauth.clone(),
                users: folder.node("users"),
                preset: preset.take(),
                tidy: settings.tidy,
            });
        }
        let gauge = Gauge::start(shared.budget.clone())
            .map_err(|error| Failure::new(Code::Machine, error.message))?;
        let running = runtime::start_measured(seeds, core::run, probe, hashing)
            .map_err(|error| Failure::new(Code::Machine, error.message))?;
        let listener = Some(listener);
        Ok(Self {
            running,
            _gauge: gauge,
            events,
            sender,
            orders,
            sockets,
            listener,
            acceptor: None,
            connections_max: shares.connections,
        })
    }

    /// Lives until a signal or a failure.
    fn live(
        mut self,
        folder: &Folder,
        mut told: ready::Told,
        mut certificates: Option<Certificates>,
        options: &Serve,
    ) -> Result<()> {
        let node_file = told.data.join("node/ready");
        let asked_file = options.ready_file.as_deref();
        // The ready files that are still to be written.
        let mut owed: Vec<&Path> = Vec::new();
        loop {
            let event = match owed.is_empty() {
                true => self.events.recv().map_err(RecvTimeoutError::from),
                false => self.events.recv_timeout(READY_PAUSE),
            };
            match event {
                Ok(Event::Up { keeper, first, enrollment }) => {
                    // A full disk is no reason not to serve: the next start notes it.
                    if let Err(failure) = folder.note_filled() {
                        tracing::warn!(
                            "it is not noted that the node holds something, so that a loss of all of it would not be \
                             seen at the next start: {failure}"
                        );
                    }
                    let mut tls = None;
                    if let Some(made) = certificates.take() {
                        let made =
                            made.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                        match made.name_beside(addresses::host_of(&told.url)) {
                            Ok(name) => told.certificate_name = name,
                            Err(why) => tracing::warn!(
                                "clients will not know the node by its certificate: {why} (subjectAltName); make \
                                 one with the names by which they reach it"
                            ),
                        }
                        told.authority = Some(made.authority);
                        told.fingerprint = Some(made.fingerprint);
                        tls = Some(made.tls);
                    }
                    self.open_doors(keeper, tls)?;
                    greeting::print(&told, first, enrollment.as_ref());
                    tracing::info!(url = told.url, data = %told.data.display(), "started");
                }
                Ok(Event::Settled) => {
                    // A full disk is no reason not to serve: whoever waits for a file has it when there is room.
                    owed.extend([&*node_file].into_iter().chain(asked_file));
                    for failure in told.write_owed(&mut owed) {
                        tracing::warn!("{failure}; it is tried again until it can be written");
                    }
                    tracing::info!("ready");
                }
                Ok(Event::Failed(failure)) => return Err(failure),
                Ok(Event::Signal(signal)) => {
                    tracing::info!(signal, "stopping");
                    self.stop()?;
                    ready::remove(&node_file)?;
                    if let Some(file) = asked_file {
                        ready::remove(file)?;
                    }
                    tracing::info!("stopped");
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => drop(told.write_owed(&mut owed)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::new(Code::Failed, "the cores ended by themselves"));
                }
            }
        }
    }

    /// Lets requests in.
    fn open_doors(&mut self, keeper: Option<authz::Keeper>, tls: Option<ServerTls>) -> Result<()> {
        for order in &self.orders {
            order.send_reply(Order::Begin(keeper.clone(), tls.clone()));
        }
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let acceptor = listener
            .accept_for(self.sockets.clone(), self.connections_max)
            .map_err(|error| Failure::new(Code::Machine, format!("accepting: {error}")))?;
        self.acceptor = Some(acceptor);
        Ok(())
    }

    /// Ends in order.
    fn stop(self) -> Result<()> {
        // Drops the listener, so that the port refuses.
        drop((self.acceptor, self.listener));
        let (tell, told) = mpsc::channel();
        for order in &self.orders {
            order.send_reply(Order::CloseDoor(tell.clone()));
        }
        drop(tell);
        // One answer from each core, or the end of the channel where a core has gone.
        while told.recv().is_ok() {}
        let (tell, told) = mpsc::channel();
        if let Some(keeper) = self.orders.first() {
            keeper.send_reply(Order::Save(tell));
        }
        let saved = told.recv().unwrap_or_else(|_| {
            Err(Failure::new(Code::Failed, "the core that keeps the state has ended"))
        });
        for order in &self.orders {
            order.send_reply(Order::End);
        }
        let ended = self.running.join().map_err(|error| Failure::new(Code::Failed, error.message));
        saved.and(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--memory 99tb` was taken without a word.
    #[test]
    fn memory_that_the_machine_lacks_is_told() {
        assert_eq!(beyond_machine(8 << 30, 8 << 30), None);
        let told = beyond_machine(99 << 40, 8 << 30).expect("more than there is");
        assert!(told.starts_with("indices.memory is 103809024mb, but"), "{told}");
        assert!(told.contains("8192mb") && told.contains("--memory"), "{told}");
    }

    #[test]
    fn too_few_files_are_told_with_what_helps() {
        let one = too_few_files(100, 152, 1);
        assert!(one.contains("152 are needed for 1 core;"), "{one}");
        assert!(!one.contains("--cores"), "there are no fewer: {one}");
        let four = too_few_files(100, 500, 4);
        assert!(four.contains("for 4 cores;") && four.contains("--cores"), "{four}");
    }
}
