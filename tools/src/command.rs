//! The command line: what may be asked, and the page of help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::calendar;
use crate::config::source::{self, Given};
use crate::config::{Sources, data_folder};
use crate::failure::{Code, Failure, Result};
use crate::logging;

/// Version and commit.
pub const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("CORELODE_COMMIT"), ")");

/// Commit alone.
pub const COMMIT: &str = env!("CORELODE_COMMIT");

/// Date of the commit, ISO 8601; 1970 where it is not known.
pub fn build_date() -> String {
    let seconds = env!("CORELODE_COMMIT_SECONDS").parse().unwrap_or_default();
    calendar::iso(Duration::from_secs(seconds))
}

const HELP: &str = "\
Corelode, a search engine that speaks Elasticsearch's language

corelode [serve]          start a node
    corelode serve --data /var/lib/corelode --http 0.0.0.0:9200
corelode reset-password   give a user another password
    corelode reset-password -u elastic
corelode create-enrollment-token   let a node or a tool join
    corelode create-enrollment-token -s kibana
corelode users            users of the file
    corelode users useradd ann -r viewer
corelode service-tokens   tokens of services
    corelode service-tokens create elastic/kibana name
corelode check            verify every byte of a stopped node's store
    corelode check --data /var/lib/corelode --json
corelode inspect FILE     show a log, segment, manifest or state in words
    corelode inspect corelode-data/cluster/snapshot
corelode --version, --help

Options of serve
  --data DIR              data folder (corelode-data)
  --http HOST:PORT        where HTTP listens (127.0.0.1:9200-9300, first free)
  --transport HOST:PORT   where nodes meet (127.0.0.1:9300-9400, first free)
  --cores N               executors (as many as there are processors)
  --memory SIZE           buffers and caches, 512mb or 30% (half of the memory)
  --config FILE           settings in YAML (corelode.yml in the data folder)
  --ready-file FILE       written when requests are answered
  --log-format text|json  lines on standard error (text at a terminal)
  -E NAME=VALUE           any setting: -E cluster.name=books
Settings may also come as variables: CORELODE_CLUSTER__NAME=books

Options of reset-password; all commands take --data, --config and -E
  -u USER  -a generate it (default)  -i type it  -b do not ask  -s print only it
  -f even if the cluster is unhealthy  --url URL of the running node
users: useradd, userdel, passwd NAME (-p PASSWORD), roles NAME (-a, -r ROLES)
service-tokens: create, delete ACCOUNT NAME, list
Options of inspect: --json, --term FIELD TERM, --doc ID
";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "corelode",
    version = VERSION,
    override_help = HELP,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Starts a node.
    #[command(override_help = HELP)]
    Serve(Serve),
    /// Gives a user another password.
    #[command(override_help = HELP)]
    ResetPassword(ResetPassword),
    /// Makes a token with which a node or a tool joins.
    #[command(override_help = HELP)]
    CreateEnrollmentToken(CreateEnrollmentToken),
    /// Looks after the users of the operator's file.
    #[command(override_help = HELP)]
    Users(Users),
    /// Looks after tokens of service accounts.
    #[command(override_help = HELP)]
    ServiceTokens(ServiceTokens),
    /// Verifies the store of a stopped node.
    #[command(override_help = HELP)]
    Check(Check),
    /// Shows a file of a store.
    #[command(override_help = HELP)]
    Inspect(Inspect),
}

impl CommandLine {
    /// What to do; to serve where nothing is named.
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Serve(self.serve))
    }
}

/// The exit code of wrong usage: that of a failure, where a command promises only one.
pub fn usage_code(arguments: impl Iterator<Item = OsString>) -> u8 {
    let named = arguments.skip(1).find(|word| word == "reset-password" || word == "inspect");
    if named.is_some() { Code::Failed as u8 } else { Code::Usage as u8 }
}

impl Command {
    /// How its failures end the program: `reset-password` and `inspect` know 1 alone, `check` says 1 only
    /// of damage, and 2 where it could not run.
    pub fn exit_codes(&self) -> fn(Code) -> u8 {
        match self {
            Self::ResetPassword(_) | Self::Inspect(_) => |_| Code::Failed as u8,
            Self::Check(_) => |code| match code {
                Code::Failed => Code::Failed as u8,
                _ => Code::Usage as u8,
            },
            _ => |code| code as u8,
        }
    }
}

/// Options that find the settings.
#[derive(Debug, Default, Args)]
pub struct Where {
    /// The file of settings.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data folder.
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    /// Settings.
    #[arg(short = 'E', value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

/// Options of `serve`.
#[derive(Debug, Default, Args)]
pub struct Serve {
    #[command(flatten)]
    place: Where,
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    #[arg(long, value_name = "HOST:PORT")]
    transport: Option<String>,
    #[arg(long, value_name = "N")]
    cores: Option<String>,
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Written when requests are answered.
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// How log lines look.
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<logging::Format>,
}

/// Options of `reset-password`.
#[derive(Debug, Args)]
pub struct ResetPassword {
    #[command(flatten)]
    place: Where,
    /// Whose password.
    #[arg(short, long, value_name = "USER")]
    pub username: String,
    /// Generate it.
    #[arg(short, long, conflicts_with = "interactive")]
    pub auto: bool,
    /// Ask for it.
    #[arg(short, long)]
    pub interactive: bool,
    /// Do not ask whether to go on.
    #[arg(short, long)]
    pub batch: bool,
    /// Print the password and nothing else.
    #[arg(short, long)]
    pub silent: bool,
    /// Go on whatever the health of the cluster.
    #[arg(short, long)]
    pub force: bool,
    /// Address of the running node.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// Who joins.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum EnrollmentScope {
    /// The companion tool.
    Kibana,
    /// A node.
    Node,
}

impl EnrollmentScope {
    /// Its name in paths.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kibana => "kibana",
            Self::Node => "node",
        }
    }
}

/// Options of `create-enrollment-token`.
#[derive(Debug, Args)]
pub struct CreateEnrollmentToken {
    #[command(flatten)]
    place: Where,
    /// Who joins.
    #[arg(short, long)]
    pub scope: EnrollmentScope,
    /// Address of the running node.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// Options of `users`.
#[derive(Debug, Args)]
pub struct Users {
    #[command(flatten)]
    place: WhereAnywhere,
    #[command(subcommand)]
    pub verb: UsersVerb,
}

/// What to do with users of the file.
#[derive(Debug, Subcommand)]
pub enum UsersVerb {
    /// Adds one.
    Useradd {
        /// The name.
        name: String,
        /// The password; else a line of standard input.
        #[arg(short, long)]
        password: Option<String>,
        /// Roles, apart at commas.
        #[arg(short, long)]
        roles: Option<String>,
    },
    /// Removes one.
    Userdel {
        /// The name.
        name: String,
    },
    /// Gives one another password.
    Passwd {
        /// The name.
        name: String,
        /// The password; else a line of standard input.
        #[arg(short, long)]
        password: Option<String>,
    },
    /// Changes roles of one.
    Roles {
        /// The name.
        name: String,
        /// Roles to give.
        #[arg(short, long)]
        add: Option<String>,
        /// Roles to take.
        #[arg(short, long)]
        remove: Option<String>,
    },
    /// Lists them.
    List {
        /// Only this one.
        name: Option<String>,
    },
}

/// Options of `service-tokens`.
#[derive(Debug, Args)]
pub struct ServiceTokens {
    #[command(flatten)]
    place: WhereAnywhere,
    /// Address of the running node.
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,
    #[command(subcommand)]
    pub verb: ServiceTokensVerb,
}

/// What to do with tokens of service accounts.
#[derive(Debug, Subcommand)]
pub enum ServiceTokensVerb {
    /// Makes one.
    Create {
        /// `elastic/kibana`.
        account: String,
        /// Its name; else one is made.
        name: Option<String>,
    },
    /// Removes one.
    Delete {
        /// `elastic/kibana`.
        account: String,
        /// Its name.
        name: String,
    },
    /// Lists them.
    List {
        /// Only of this account.
        account: Option<String>,
    },
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    place: Where,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// The file.
    pub file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// A field by its number, and a term of it.
    #[arg(long, num_args = 2, value_names = ["FIELD", "TERM"], conflicts_with = "doc")]
    pub term: Option<Vec<String>>,
    /// A document by its id.
    #[arg(long, value_name = "ID")]
    pub doc: Option<String>,
}

/// The same for commands with words of their own, before and after those.
#[derive(Debug, Default, Args)]
pub struct WhereAnywhere {
    /// The file of settings.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// The data folder.
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<String>,
    /// Settings.
    #[arg(short = 'E', value_name = "NAME=VALUE", global = true)]
    settings: Vec<String>,
}

impl WhereAnywhere {
    fn place(&self) -> Where {
        let Self { config, data, settings } = self;
        Where { config: config.clone(), data: data.clone(), settings: settings.clone() }
    }
}

impl Where {
    /// All settings: options, then the environment, then the file.
    fn sources(&self, flags: Vec<Given>) -> Result<Sources> {
        let mut given = flags;
        if let Some(data) = &self.data {
            given.push(Given::option("path.data", data));
        }
        let named: Result<Vec<Given>> =
            self.settings.iter().map(|text| source::option(text)).collect();
        given.extend(named?);
        let mut sources = Sources::default();
        sources.add(given)?;
        sources.add(source::environment(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        })))?;
        let file = match &self.config {
            Some(file) => Some(file.clone()),
            None => Some(data_folder(&sources).join("corelode.yml")).filter(|file| file.exists()),
        };
        if let Some(file) = file {
            sources.add(source::file(&file)?)?;
        }
        Ok(sources)
    }
}

impl Serve {
    /// All settings.
    pub fn sources(&self) -> Result<Sources> {
        let mut flags = Vec::new();
        for (kind, address) in [("http", &self.http), ("transport", &self.transport)] {
            if let Some(address) = address {
                let (host, port) = address_parts(kind, address)?;
                flags.push(Given::option(&format!("{kind}.host"), host));
                flags.push(Given::option(&format!("{kind}.port"), port));
            }
        }
        for (name, value) in [("node.processors", &self.cores), ("indices.memory", &self.memory)] {
            if let Some(value) = value {
                flags.push(Given::option(name, value));
            }
        }
        self.place.sources(flags)
    }
}

impl Check {
    /// All settings.
    pub fn sources(&self) -> Result<Sources> {
        self.place.sources(Vec::new())
    }
}

impl ResetPassword {
    /// All settings.
    pub fn sources(&self) -> Result<Sources> {
        self.place.sources(Vec::new())
    }
}

impl CreateEnrollmentToken {
    /// All settings.
    pub fn sources(&self) -> Result<Sources> {
        self.place.sources(Vec::new())
    }
}

impl Users {
    /// All settings.
    pub fn sources(&self) -> Result<Sources> {
        self.place.place().sources(Vec::new())
    }
}

impl ServiceTokens {
    /// All settings.
    pub fn sources(&self) -> Result<Sources> {
        self.place.place().sources(Vec::new())
    }
}

/// Host and port of `HOST:PORT`; an IPv6 host stands in brackets.
fn address_parts<'a>(flag: &str, text: &'a str) -> Result<(&'a str, &'a str)> {
    let wrong = || {
        Failure::new(Code::Usage, format!("--{flag} {text}: wants HOST:PORT, as 127.0.0.1:9200"))
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let is_bare_ipv6 = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
    if host.is_empty() || port.is_empty() || is_bare_ipv6 {
        return Err(wrong());
    }
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::{Machine, Settings};

    fn machine() -> Machine {
        Machine { host_name: "box".into(), cores: 2, memory_bytes: 1 << 30 }
    }

    fn serve(arguments: &[&str]) -> Serve {
        let line = CommandLine::try_parse_from([&["corelode"], arguments].concat())
            .unwrap_or_else(|error| panic!("{error}"));
        match line.command() {
            Command::Serve(serve) => serve,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definition_holds_together() {
        CommandLine::command_factory_check();
    }

    impl CommandLine {
        fn command_factory_check() {
            <Self as CommandFactory>::command().debug_assert();
        }
    }

    #[test]
    fn serve_may_be_left_out() {
        for arguments in [&["--cores", "3"][..], &["serve", "--cores", "3"]] {
            let sources = serve(arguments).sources().expect("legal");
            let settings = Settings::read(&sources, &machine()).expect("legal");
            assert_eq!(settings.cores, 3);
        }
    }

    #[test]
    fn flags_are_settings() {
        let options = [
            "--http",
            "[::1]:9201",
            "--transport",
            "127.0.0.1:0",
            "--memory",
            "64mb",
            "--data",
            "/tmp/x",
            "-E",
            "node.name=a",
            "-E",
            "cluster.name=b",
        ];
        let sources = serve(&options).sources().expect("legal");
        let settings = Settings::read(&sources, &machine()).expect("legal");
        assert_eq!(settings.http.ip.to_string(), "::1");
        assert_eq!((settings.http.ports, settings.transport.ports), (9201..=9201, 0..=0));
        assert_eq!(settings.memory_bytes, 64 << 20);
        assert_eq!((settings.node_name.as_str(), settings.cluster_name.as_str()), ("a", "b"));
    }

    #[test]
    fn wrong_addresses_are_usage() {
        for bad in ["9200", "localhost:", ":9200", "::1:9200"] {
            let failure = serve(&["--http", bad]).sources().expect_err(bad);
            assert_eq!(failure.code, Code::Usage, "{bad}");
        }
    }

    #[test]
    fn help_fits_a_screen() {
        assert!(HELP.lines().count() <= 36);
        for line in HELP.lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }

    #[test]
    fn reset_password_takes_elasticsearchs_options() {
        for arguments in [&["-u", "elastic", "-a", "-b", "-s", "-f"][..], &["-i", "-u", "x"]] {
            let arguments = [&["corelode", "reset-password"], arguments].concat();
            assert!(CommandLine::try_parse_from(arguments).is_ok());
        }
        assert!(CommandLine::try_parse_from(["corelode", "reset-password"]).is_err());
        assert!(CommandLine::try_parse_from(["corelode", "frobnicate"]).is_err());
    }

    #[test]
    fn each_command_ends_with_the_codes_it_promises() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        for (line, code) in [
            ("corelode reset-password", 1),
            ("corelode inspect", 1),
            ("corelode --nope", 2),
            ("corelode check --nope", 2),
        ] {
            assert_eq!(usage_code(words(line).into_iter()), code, "{line}");
        }
        let codes = |line: &str| {
            let parsed = CommandLine::try_parse_from(words(line)).expect("good usage");
            let code = parsed.command().exit_codes();
            [Code::Failed, Code::Setting, Code::Folder].map(code)
        };
        assert_eq!(codes("corelode serve"), [1, 78, 75]);
        assert_eq!(codes("corelode check"), [1, 2, 2]);
        assert_eq!(codes("corelode inspect x"), [1, 1, 1]);
        assert_eq!(codes("corelode reset-password -u x"), [1, 1, 1]);
    }

    #[test]
    fn commands_with_words_take_the_folder_anywhere() {
        for line in [
            "users useradd ann -p secret -r viewer --data /tmp/x",
            "users --data /tmp/x list",
            "users roles ann -a a,b -r c",
            "service-tokens create elastic/kibana --data /tmp/x",
            "service-tokens --url https://127.0.0.1:9200 list",
            "create-enrollment-token -s kibana --data /tmp/x",
        ] {
            let words = std::iter::once("corelode").chain(line.split(' '));
            assert!(CommandLine::try_parse_from(words).is_ok(), "{line}");
        }
        let bad = ["corelode", "create-enrollment-token", "-s", "moon"];
        assert!(CommandLine::try_parse_from(bad).is_err());
    }
}
