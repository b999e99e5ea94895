//! Where authz state is kept: one core owns the log, the others ask it.
//!
//! Always true
//! 1. A change is answered when it is committed and published, so the next look on any core that
//!    heard the answer sees it.
//! 2. What crosses cores is hashed already; no password travels.
//! 3. What takes rights away, or replaces a secret, finds room on a full disk: other changes leave some to it,
//!    and a file is kept back for it.
//! 4. There is always the user `elastic`: opening makes it where it is missing, also where an
//!    earlier first start was cut short.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::planted::{Fault, planted};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use consensus::{Replicated, Reserve, Setup};
use env::mailbox::{Receiver, Sender};
use env::published::{Published, Watch};
use env::reply::Reply;
use env::{Clock, Disk, Env, ErrorKind, Pace, Random, Spawn};

use crate::audit::Audit;
use crate::authenticate::REMEMBERED;
use crate::authenticate::memory::Memory;
use crate::command::{Command, Outcome, Withdrawal};
use crate::error::{Error, Result};
use crate::holdings::Holdings;
use crate::password::{self, CHARACTERS_MIN, PasswordHash};
use crate::record::key::{ApiKey, Salted};
use crate::record::role::{Descriptor, Role};
use crate::record::user::ELASTIC;
use crate::refusals::Line;
use crate::right::Right;
use crate::secret::Secret;
use crate::state::State;
use crate::token::Keys;

/// Commands that may wait for the keeper, in bytes.
const WAITING_BYTES: usize = 4 << 20;

/// The file that is kept back for a full disk, in the folder of the state; twice what the next file of the log
/// takes.
const RESERVE: &str = "reserve";
const RESERVE_BYTES: u64 = 2 << 20;

/// What a command weighs in the mailbox.
const COMMAND_BYTES: usize = 1 << 10;

/// The same of one that carries a client, beside its pictures: as much as a registration may be long.
const CLIENT_BYTES: usize = 64 << 10;

/// A command on its way to the keeper.
pub struct Ask {
    command: Command,
    /// What is judged right before it is carried out.
    right: Option<Right>,
    reply: Reply<Result<Outcome>>,
}

/// Authz state on the core that keeps it.
pub struct Store<E: Env> {
    env: E,
    replicated: Replicated<E, State>,
    holdings: RefCell<Holdings>,
}

/// How the user `elastic` came into being.
#[derive(Debug)]
pub enum First {
    /// This was the first start, with this new password.
    Generated(Secret),
    /// This was the first start, with the password that was given.
    Preset,
    /// It was there.
    No,
}

impl<E: Env> Store<E> {
    /// Opens the state in `dir`, or makes it at the first start, with the password `preset` for
    /// `elastic` or else a generated one.
    pub async fn open(env: E, dir: &Path, preset: Option<Secret>) -> Result<(Self, First)> {
        let setup = Setup::new(dir, "authz");
        let is_first = !Replicated::<E, State>::exists(&env, &setup).await?;
        let disk = env.disk();
        disk.create_dir(dir).await.map_err(consensus::Error::from)?;
        let reserve = Reserve::open(&env, dir.join(RESERVE), RESERVE_BYTES).await;
        let reserve = Some(reserve.map_err(consensus::Error::from)?);
        let (password, first) = match preset {
            Some(password) => (password, First::Preset),
            None => {
                let password = password::generate(env.random());
                (password.clone(), First::Generated(password))
            }
        };
        if is_first {
            // The hash takes as long as the files, so both are made at once.
            let (reply, answer) = env::reply::channel();
            let hashing = env.clone();
            env.spawn().spawn(async move { reply.send(hash(&hashing, password).await) });
            let replicated = Replicated::create(&env, setup, reserve).await?;
            let store = Self::with(env, replicated).await;
            store.bootstrap(answer.await.ok_or(Error::Stopped)??).await?;
            return Ok((store, first));
        }
        let replicated = Replicated::open(&env, setup, reserve).await?;
        let store = Self::with(env, replicated).await;
        if store.replicated.state().user(ELASTIC).is_some() {
            return Ok((store, First::No));
        }
        store.bootstrap(hash(&store.env, password).await?).await?;
        Ok((store, first))
    }

    /// Opens the state as [`open`](Self::open) does and lets it serve on this core: the store, the way
    /// of any core to it, and how `elastic` came into being. A password that was made here needs no slow hash
    /// to be known as right.
    ///
    /// # Errors
    /// Those of `open`.
    pub async fn start(
        env: &E,
        dir: &Path,
        preset: Option<Secret>,
        keys: Keys,
    ) -> Result<(Rc<Self>, Keeper, First)> {
        let given = preset.clone();
        let (store, first) = Self::open(env.clone(), dir, preset).await?;
        let store = Rc::new(store);
        let (sender, receiver) = env::mailbox::channel(WAITING_BYTES);
        let mut key = [0; 32];
        env.random().fill(&mut key);
        let keeper = Keeper::new(store.published(), sender, keys, &key);
        match (&first, &given) {
            (First::Generated(password), _) | (First::Preset, Some(password)) => {
                keeper.remember_elastic(password, env.clock().monotonic());
            }
            _ => {}
        }
        let serving = Rc::clone(&store);
        env.spawn().spawn(async move { serving.serve(receiver).await });
        Ok((store, keeper, first))
    }

    async fn with(env: E, replicated: Replicated<E, State>) -> Self {
        let holdings = Holdings::of(&replicated.state(), env.spawn()).await;
        Self { env, replicated, holdings: RefCell::new(holdings) }
    }

    /// All API keys may hold so many bytes of memory from now on, those of one owner a quarter of it; users, roles and
    /// what else administrators make, together, as many. More that is there stays, and does not grow.
    pub fn bound(&self, bytes: usize) {
        self.holdings.borrow_mut().bound(bytes);
    }

    async fn bootstrap(&self, password: PasswordHash) -> Result<()> {
        // Without it nobody gets in: it takes what room there is.
        let made = self.replicated.propose_pressing(Command::Bootstrap { password }).await;
        Ok(made.map(drop)?)
    }

    /// The state, for all cores.
    pub fn published(&self) -> Arc<Published<State>> {
        self.replicated.published()
    }

    /// Carries out one command (rule 3).
    pub async fn propose(&self, command: Command) -> Result<Outcome> {
        let touched = self.holdings.borrow().touched(&command, &self.replicated.state());
        let outcome = match (command.is_pressing(), command.is_own_password()) {
            (true, _) => self.replicated.propose_pressing(command).await?,
            (false, true) => self.replicated.propose_careful(command).await?,
            (false, false) => self.replicated.propose_sparing(command).await?,
        };
        self.holdings.borrow_mut().follow(&touched, &self.replicated.state());
        Ok(outcome)
    }

    /// Carries out what the other cores ask, until all of them are gone.
    pub async fn serve(&self, mut asks: Receiver<Ask>) {
        let mut batch = Vec::new();
        while asks.receive(&mut batch).await {
            for Ask { command, right, reply } in batch.drain(..) {
                // What was asked before it is carried out by now, and nothing else comes in between.
                let state = self.replicated.state();
                let judged = match right {
                    Some(right) => {
                        right.judge(&state).and_then(|()| right.limited(command, &state))
                    }
                    None => Ok(command),
                };
                let within = judged.and_then(|command| {
                    self.holdings.borrow().judge(&command, &state).map(|()| command)
                });
                let command = match within {
                    Ok(command) => command,
                    Err(error) => {
                        reply.send(Err(error));
                        continue;
                    }
                };
                if planted(Fault::RevokeEarly)
                    && let Command::Revoke { grants, .. } = &command
                {
                    reply.send(Ok(Outcome::Ended(grants.clone())));
                    self.propose(command).await.ok();
                    continue;
                }
                reply.send(self.propose(command).await);
            }
        }
    }

    /// Ends when the log fails: the process must then end.
    pub async fn failed(&self) -> Error {
        self.replicated.failed().await.into()
    }

    /// Reads what the state stands on, at a pace, and compares it with its checksums; answers how
    /// many files that were.
    pub async fn scrub(&self, pace: &Pace<E>) -> Result<u64> {
        Ok(self.replicated.scrub(pace).await?)
    }

    /// Saves a snapshot, so that the next start replays nothing, and lets go of the files.
    pub async fn close(&self) -> Result<()> {
        match self.replicated.save().await {
            // A full disk: the log has all of it, and the next start reads that.
            Err(consensus::Error::Disk(error)) if error.kind == ErrorKind::NoSpace => {}
            saved => saved?,
        }
        Ok(self.replicated.close().await?)
    }
}

/// The way of any core to authz state: reads at once, changes through the keeper.
#[derive(Clone, Debug)]
pub struct Keeper {
    published: Arc<Published<State>>,
    asks: Sender<Ask>,
    keys: Keys,
    audit: Audit,
    refusals: Line,
    memory: Memory,
}

impl Keeper {
    /// Joins what the keeper publishes with the way to ask it, and the keys of tokens; `memory` is the key by
    /// which passwords are remembered until the process ends.
    pub fn new(
        published: Arc<Published<State>>,
        asks: Sender<Ask>,
        keys: Keys,
        memory: &[u8; 32],
    ) -> Self {
        let memory = Memory::new(memory);
        Self { published, asks, keys, audit: Audit::none(), refusals: Line::default(), memory }
    }

    /// The same, with an audit log.
    #[must_use]
    pub fn with_audit(self, audit: Audit) -> Self {
        Self { audit, ..self }
    }

    /// Where events are noted.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// The line in which passwords are checked.
    pub(crate) fn refusals(&self) -> &Line {
        &self.refusals
    }

    /// Remembers the password that `elastic` was just given.
    fn remember_elastic(&self, password: &Secret, now: Duration) {
        if let Some(user) = self.state().user(ELASTIC) {
            let tag = self.memory.tag(ELASTIC, password);
            self.memory.keep(Arc::clone(user), tag, now + REMEMBERED, now);
        }
    }

    /// Passwords that were found right lately.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The keys of tokens.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// A reader of the state for one core.
    pub fn watch(&self) -> Watch<State> {
        Watch::new(Arc::clone(&self.published))
    }

    /// What it is read from, for who asks later and on another core.
    pub fn published(&self) -> &Arc<Published<State>> {
        &self.published
    }

    /// The newest state.
    pub fn state(&self) -> Arc<State> {
        self.published.load()
    }

    /// Gives `user` another password, and takes back all that the old one had let in; where `instead_of` is
    /// given, the same password, in place of that hash.
    pub async fn set_password<E: Env>(
        &self,
        env: &E,
        user: &str,
        password: Secret,
        instead_of: Option<PasswordHash>,
    ) -> Result<()> {
        // One that is only hashed anew is as long as it was where it came from.
        if instead_of.is_none() {
            check_length(&password)?;
        }
        if self.state().user(user).is_none() {
            return Err(Error::UnknownUser { name: user.to_owned() });
        }
        let password = hash(env, password).await?;
        let user = user.to_owned();
        let withdraws = instead_of.is_none().then_some(Withdrawal::All);
        let command =
            Command::SetPassword { user, password, instead_of, keep: None, withdraws, by: None };
        self.ask(command).await.map(drop)
    }

    /// Carries out one command; durable and published when this returns.
    ///
    /// # Errors
    /// What the command was refused for, or why it could not be carried out.
    pub async fn ask(&self, command: Command) -> Result<Outcome> {
        self.send(command, None).await
    }

    /// The same, if the right is held at the moment in which it is carried out.
    ///
    /// # Errors
    /// As [`ask`](Self::ask), and those of [`Right::judge`].
    pub async fn ask_by_right(&self, command: Command, right: Right) -> Result<Outcome> {
        self.send(command, Some(right)).await
    }

    async fn send(&self, command: Command, right: Option<Right>) -> Result<Outcome> {
        let weight = match &command {
            Command::PutClient { client, .. }
            | Command::OpenClient { client, .. }
            | Command::AddClient { client, .. } => {
                let profiles = std::iter::once(&client.profile).chain(&client.proposal);
                let pictures = profiles.filter_map(|profile| profile.logo.as_ref());
                CLIENT_BYTES + pictures.map(|logo| logo.data.len()).sum::<usize>()
            }
            _ => COMMAND_BYTES,
        };
        let (reply, answer) = env::reply::channel();
        self.asks.send(Ask { command, right, reply }, weight).map_err(|_| Error::Busy)?;
        match answer.await.ok_or(Error::Stopped)?? {
            Outcome::Refused(error) => Err(error),
            outcome => Ok(outcome),
        }
    }
}

/// How long an enrollment token lives.
const ENROLLMENT_MS: u64 = 30 * 60 * 1000;

/// Makes the key of an enrollment token for the companion tool: what stands in the token.
///
/// # Errors
/// Where the key cannot be kept.
pub async fn enrollment_key<E: Env>(env: &E, keeper: &Keeper) -> Result<Secret> {
    let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let (mut id, mut secret, mut salt) = ([0; 15], [0; 16], [0; 32]);
    env.random().fill(&mut id);
    env.random().fill(&mut secret);
    env.random().fill(&mut salt);
    let (id, secret) = (text(&id), text(&secret));
    let now = u64::try_from(env.clock().unix_ms()).unwrap_or_default();
    let action = "cluster:admin/xpack/security/enroll/kibana".to_owned();
    let descriptor = Descriptor { cluster: vec![action], ..Descriptor::default() };
    let key = ApiKey {
        id: id.clone(),
        name: format!("enrollment_token_API_key_{id}"),
        secret: Salted::new(salt, secret.as_bytes()),
        kind: "rest".to_owned(),
        owner: ELASTIC.to_owned(),
        realm: ("reserved".to_owned(), "reserved".to_owned()),
        creation: now,
        expiration: Some(now + ENROLLMENT_MS),
        invalidation: None,
        metadata: json::Object::new(),
        descriptors: vec![Arc::new(Role::new("create_enrollment_token", descriptor))],
        creator: None,
        limited_by: keeper.state().roles_of(&["superuser".to_owned()]).to_vec(),
        access: None,
    };
    keeper.ask(Command::PutKey { key, by: None, granted_by: None }).await?;
    Ok(Secret::new(format!("{id}:{secret}")))
}

/// Is the password long enough?
///
/// # Errors
/// The refusal, in Elasticsearch's words.
pub fn check_length(password: &Secret) -> Result<()> {
    if password.reveal().chars().count() < CHARACTERS_MIN {
        return Err(Error::refused(format!(
            "passwords must be at least [{CHARACTERS_MIN}] characters long"
        )));
    }
    Ok(())
}

/// Hashes a password on a worker.
///
/// # Errors
/// Where too many wait.
pub async fn hash<E: Env>(env: &E, password: Secret) -> Result<PasswordHash> {
    let salt = password::salt(env.random());
    let hashed = env.spawn().work_on_hash(move || PasswordHash::make(&password, salt)).await;
    hashed.map_err(|_| Error::Busy)
}
