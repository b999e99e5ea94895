//! Settings: where they come from, which there are, what they mean.
//!
//! Order: `-E` and flags, then the environment, then the file, then defaults. An unknown name is an
//! error that offers the nearest known one; a wrong value is an error that names its place and what
//! would be right.

pub mod source;
pub mod table;
pub mod value;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use authz::tidy::Tidy;

use crate::failure::{Code, Failure, Result};
use source::{Given, Place};
use value::Ports;

/// Settings as given, by name; the first source that names one wins. What it wins over must be right
/// all the same: else a mistake would show on the day the stronger source is taken away.
#[derive(Debug, Default)]
pub struct Sources {
    given: BTreeMap<String, Given>,
    /// What a stronger source set too.
    overridden: Vec<Given>,
}

impl Sources {
    /// Takes in a source that is weaker than all before it. It names each setting once: else it would be chance which
    /// of two counts.
    pub fn add(&mut self, source: Vec<Given>) -> Result<()> {
        let mut places: BTreeMap<String, Place> = BTreeMap::new();
        for given in source {
            table::check_name(&given)?;
            table::check_list(&given)?;
            table::check_text(&given)?;
            if let Some(first) = places.insert(given.name.clone(), given.place.clone()) {
                return Err(given.again(&first));
            }
            match self.given.entry(given.name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(given);
                }
                Entry::Occupied(_) => self.overridden.push(given),
            }
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// All that was given for `name`, the strongest last.
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Given> {
        let weaker = self.overridden.iter().rev().filter(move |given| given.name == name);
        weaker.chain(self.get(name))
    }

    /// Reads one setting, wherever it was given: the strongest is read last, and counts.
    fn read<T>(
        &self,
        name: &str,
        mut parse: impl FnMut(&str) -> std::result::Result<T, String>,
    ) -> Result<Option<T>> {
        let mut value = None;
        for given in self.all(name) {
            value = Some(parse(&given.value).map_err(|wanted| given.wrong(&wanted))?);
        }
        Ok(value)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|given| given.value.clone())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool> {
        Ok(self.read(name, value::flag)?.unwrap_or(default))
    }
}

/// One listening address: a host and the ports to try in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// As the operator wrote it, for certificates and sentences.
    pub host: String,
    /// The same, resolved.
    pub ip: IpAddr,
    /// The ports to try.
    pub ports: RangeInclusive<u16>,
}

impl Endpoint {
    /// The addresses to try, in order.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let ip = self.ip;
        self.ports.clone().map(move |port| SocketAddr::new(ip, port))
    }
}

/// A certificate of the operator's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnCertificate {
    /// Chain in PEM, the server's own first.
    pub certificate: PathBuf,
    /// Key in PEM.
    pub key: PathBuf,
    /// The authorities that clients should trust, each in PEM; none: the certificate itself.
    pub authorities: Vec<PathBuf>,
    /// Where each of the three was given, by the last part of its name.
    pub places: BTreeMap<&'static str, Place>,
}

/// All settings, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The data folder.
    pub data: PathBuf,
    /// Where audit and slow logs lie; `None`: `logs` in the data folder.
    pub logs: Option<PathBuf>,
    /// Where HTTP listens.
    pub http: Endpoint,
    /// Where nodes will talk to each other.
    pub transport: Endpoint,
    /// Name of the cluster.
    pub cluster_name: String,
    /// Name of this node.
    pub node_name: String,
    /// Attributes of this node, `node.attr.*`.
    pub node_attributes: Vec<(String, String)>,
    /// All that was given, by name, for those who ask the node.
    pub shown: Vec<(String, String)>,
    /// Executors.
    pub cores: usize,
    /// Memory for buffers, caches and requests in flight.
    pub memory_bytes: u64,
    /// Whether callers must say who they are.
    pub security: bool,
    /// Whether HTTP is spoken over TLS.
    pub tls: bool,
    /// The operator's own certificate for HTTP.
    pub own_certificate: Option<OwnCertificate>,
    /// The OAuth half; none where it is off.
    pub oauth: Option<Oauth>,
    /// Whether there is an audit log.
    pub audit: bool,
    /// Whether the audit log is strict, which it is with or without the OAuth half.
    pub audit_strict: bool,
    /// How long dead API keys are kept.
    pub tidy: Tidy,
}

/// How the OAuth half is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oauth {
    /// The issuer, where it was given; else it follows from the address of HTTP.
    pub issuer: Option<String>,
    /// Everything else.
    pub settings: net::oauth::Settings,
}

/// What the machine offers, for defaults.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Name of the host.
    pub host_name: String,
    /// Processors that this process may use.
    pub cores: usize,
    /// Memory that this process may use, in bytes.
    pub memory_bytes: u64,
}

/// Whether callers must say who they are.
///
/// # Errors
/// The value is neither `true` nor `false`.
pub fn security(sources: &Sources) -> Result<bool> {
    sources.flag("xpack.security.enabled", true)
}

/// Where the data folder lies, before the other settings are known: the file of settings may lie in
/// it.
pub fn data_folder(sources: &Sources) -> PathBuf {
    sources.path("path.data").unwrap_or_else(|| PathBuf::from("corelode-data"))
}

impl Settings {
    /// The folder of audit and slow logs, where the data folder is at `data`.
    pub fn logs_in(&self, data: &Path) -> PathBuf {
        self.logs.clone().unwrap_or_else(|| data.join("logs"))
    }

    /// Checks all that was given.
    pub fn read(sources: &Sources, machine: &Machine) -> Result<Self> {
        let security = security(sources)?;
        let tls = sources.flag("xpack.security.http.ssl.enabled", true)?;
        let node_name = sources.text("node.name").unwrap_or_else(|| machine.host_name.clone());
        let cores = sources
            .read("node.processors", |text| value::whole(text, 1..=1024))?
            .map_or(machine.cores, |cores| usize::try_from(cores).expect("at most 1024"));
        let memory = |text: &str| value::memory(text, machine.memory_bytes);
        let settings = Self {
            data: data_folder(sources),
            logs: sources.path("path.logs"),
            http: endpoint(sources, "http", 9200..=9300)?,
            transport: endpoint(sources, "transport", 9300..=9400)?,
            cluster_name: sources.text("cluster.name").unwrap_or_else(|| "corelode".to_owned()),
            node_name,
            node_attributes: sources
                .given
                .values()
                .filter_map(|given| {
                    let name = given.name.strip_prefix("node.attr.")?;
                    Some((name.to_owned(), given.value.clone()))
                })
                .collect(),
            shown: sources
                .given
                .values()
                .filter(|given| !given.is_secret())
                .map(|given| (given.name.clone(), given.value.clone()))
                .collect(),
            cores,
            memory_bytes: sources
                .read("indices.memory", memory)?
                .unwrap_or(machine.memory_bytes / 2),
            security,
            tls: security && tls,
            own_certificate: own_certificate(sources)?,
            oauth: oauth(sources, security, tls)?,
            audit: sources.flag("xpack.security.audit.enabled", true)? && security,
            audit_strict: security && sources.flag("oauth.audit.strict", false)?,
            tidy: tidy(sources)?,
        };
        settings.check(sources)?;
        Ok(settings)
    }

    /// What only holds for several settings together, and those that nothing reads yet.
    fn check(&self, sources: &Sources) -> Result<()> {
        for (name, value) in [("cluster.name", &self.cluster_name), ("node.name", &self.node_name)]
        {
            let wanted = "a name without [:], [/], line ends and other control characters";
            let is_bad = |c: char| matches!(c, ':' | '/') || c.is_control();
            let judge = |text: &str| match text.trim().is_empty() || text.contains(is_bad) {
                true => Err(wanted.to_owned()),
                false => Ok(()),
            };
            if sources.read(name, judge)?.is_none() && judge(value).is_err() {
                return Err(Failure::new(Code::Setting, format!("{name} is not set: {wanted}")));
            }
        }
        let open = if !self.security {
            Some("xpack.security.enabled")
        } else if !self.tls {
            Some("xpack.security.http.ssl.enabled")
        } else {
            None
        };
        if let (Some(name), Some(given)) = (open, open.and_then(|name| sources.get(name))) {
            for endpoint in [&self.http, &self.transport] {
                if !endpoint.ip.is_loopback() {
                    return Err(Failure::new(
                        Code::Setting,
                        format!(
                            "{}: {name} may be false only where every host is a loopback address, \
                             but [{}] is none; bind 127.0.0.1 or leave it on",
                            given.place, endpoint.host
                        ),
                    ));
                }
            }
        }
        if self.audit_strict
            && !self.audit
            && let Some(given) = sources.get("xpack.security.audit.enabled")
        {
            return Err(Failure::new(
                Code::Setting,
                format!(
                    "{}: xpack.security.audit.enabled may not be false where oauth.audit.strict is \
                     true: a strict audit log lets nothing be done without a line of it",
                    given.place
                ),
            ));
        }
        sources.flag("xpack.security.transport.ssl.enabled", true)?;
        Ok(())
    }
}

/// How long dead API keys are kept, and how often it is looked.
fn tidy(sources: &Sources) -> Result<Tidy> {
    let name = |what: &str| format!("xpack.security.authc.api_key.delete.{what}");
    let usual = Tidy::default();
    let retention = sources.read(&name("retention_period"), value::time)?;
    let interval = sources.read(&name("interval"), |text| match value::time(text)? {
        short if short < TIDY_INTERVAL_MIN => Err("a time like 24h, at least 1m".to_owned()),
        interval => Ok(interval),
    })?;
    Ok(Tidy {
        retention: retention.unwrap_or(usual.retention),
        interval: interval.unwrap_or(usual.interval),
    })
}

/// Looking at all keys more often is of no use.
const TIDY_INTERVAL_MIN: Duration = Duration::from_secs(60);

/// The OAuth half. It speaks only where there is TLS: here, or at a proxy whose address then is the
/// issuer.
fn oauth(sources: &Sources, security: bool, tls: bool) -> Result<Option<Oauth>> {
    let enabled = sources.flag("oauth.enabled", true)?;
    let issuer = sources.read("oauth.issuer", value::issuer)?;
    let mut settings = net::oauth::Settings::new(issuer.as_deref().unwrap_or_default());
    for name in net::oauth::Settings::NAMES {
        sources.read(name, |text| settings.set(name, text))?;
    }
    let speaks = security && enabled && (tls || issuer.is_some());
    if speaks && let Err((name, wanted)) = settings.check() {
        return Err(Failure::new(Code::Setting, format!("{name} is not set: it must be {wanted}")));
    }
    Ok(speaks.then_some(Oauth { issuer, settings }))
}

/// `kind.host` and `kind.port`.
fn endpoint(sources: &Sources, kind: &str, default: RangeInclusive<u16>) -> Result<Endpoint> {
    let address = |host: &str| match resolve(host) {
        _ if host.contains(',') => {
            Err("one host name or address, for a node listens on one".to_owned())
        }
        Ok(ip) => Ok((host.to_owned(), ip)),
        Err(why) => Err(format!("a host name or address of this machine ({why})")),
    };
    let both = sources.read("network.host", address)?;
    let given = sources.read(&format!("{kind}.host"), address)?.or(both);
    let (host, ip) = given.unwrap_or(("127.0.0.1".to_owned(), Ipv4Addr::LOCALHOST.into()));
    let ports = sources.read(&format!("{kind}.port"), Ports::parse)?;
    let ports = ports.map_or(default, |ports| ports.0);
    Ok(Endpoint { host, ip, ports })
}

/// The address of a host name. Names are resolved here, once, before anything binds.
fn resolve(host: &str) -> std::result::Result<IpAddr, String> {
    let host = match host {
        "_local_" => "127.0.0.1",
        other => other.trim_start_matches('[').trim_end_matches(']'),
    };
    if let Ok(ip) = host.parse() {
        return Ok(ip);
    }
    let mut found = (host, 0).to_socket_addrs().map_err(|error| error.to_string())?;
    found.next().map(|address| address.ip()).ok_or_else(|| "it has no address".to_owned())
}

/// `xpack.security.http.ssl.certificate` and its kin: both or neither.
fn own_certificate(sources: &Sources) -> Result<Option<OwnCertificate>> {
    let name = |what: &str| format!("xpack.security.http.ssl.{what}");
    let base = data_folder(sources);
    // Beside the file of settings that names them, else in the data folder.
    let folder = |given: &Given| match &given.place {
        Place::File { path, .. } => path.parent().unwrap_or(Path::new(".")).to_owned(),
        Place::Option | Place::Environment { .. } => base.clone(),
    };
    let path = |what: &str| {
        let given = sources.get(&name(what))?;
        Some(folder(given).join(&given.value))
    };
    let paths = |what: &str| -> Vec<PathBuf> {
        let Some(given) = sources.get(&name(what)) else { return Vec::new() };
        let each = given.value.split(',').map(str::trim).filter(|path| !path.is_empty());
        each.map(|path| folder(given).join(path)).collect()
    };
    let places = ["certificate", "key", "certificate_authorities"]
        .into_iter()
        .filter_map(|what| Some((what, sources.get(&name(what))?.place.clone())));
    match (path("certificate"), path("key")) {
        (Some(certificate), Some(key)) => Ok(Some(OwnCertificate {
            certificate,
            key,
            authorities: paths("certificate_authorities"),
            places: places.collect(),
        })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(alone(sources, &name("certificate"), &name("key"))),
        (None, Some(_)) => Err(alone(sources, &name("key"), &name("certificate"))),
    }
}

fn alone(sources: &Sources, given: &str, missing: &str) -> Failure {
    let place = sources.get(given).map_or(String::new(), |given| format!("{}: ", given.place));
    Failure::new(Code::Setting, format!("{place}{given} is set without {missing}; set both"))
}

#[cfg(test)]
mod tests;
