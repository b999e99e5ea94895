//! Authz state: what the log's commands have made, published to every core.
//!
//! Always true
//! 1. A state never changes; `apply` makes the next one. All but one path of a map is shared between
//!    the two (decision D10).
//! 2. Only `apply` makes states, but for the empty one and one read from a snapshot.
//! 3. What stands in two maps stands in both: `owners` follows `grants`, `client_ids` follows
//!    `clients`, `user_codes` follows `devices`, `ends` whatever ends by itself.
//!
//! Form 9: JSON, a list for each kind of record. The log and the snapshot around it name the form, and
//! refuse a later one. What an earlier one lacks may be absent. Form 8 lacks, in commands on the word of a consent
//! that is remembered, which consent that was. Form 7 lacks, in commands that make grants, how many there may be,
//! and by which of the tokens of its name a service account gave a command. Form 6 lacks what let in who makes
//! keys. Form 5 lacks what a command that gives a password takes back, the command that rotates a secret, and the
//! ends of the newest access tokens. Form 4 lacks the versions of passwords, the creators of keys, the issues of
//! access tokens, and in commands what let their givers in. Form 3 lacks the numbers of owners and accounts of
//! clients, the terms and last use of clients, and the time for which a handle is kept.

use std::sync::Arc;

use consensus::Decode;
use json::{Object, Value};

use crate::command::{Command, Outcome};
use crate::error::{Error, Result};
use crate::form::{Form, Hash};
use crate::map::Map;
use crate::record::builtin;
use crate::record::client::Client;
use crate::record::grant::{Code, Consent, Device, Grant, GrantKind, Notice, Pending, Pushed};
use crate::record::key::{ApiKey, AppPrivilege, RoleMapping, ServiceToken};
use crate::record::profile::{self, Profile};
use crate::record::role::Role;
use crate::record::session::Session;
use crate::record::user::User;

/// What ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ends {
    /// A code.
    Code(Hash),
    /// A request.
    Pending(Hash),
    /// A pushed request.
    Pushed(Hash),
    /// A device.
    Device(Hash),
    /// A session.
    Session(Hash),
    /// A grant.
    Grant(u64),
    /// What is told of a grant that ended.
    Notice(u64),
    /// A client that nobody reviewed or uses, by its reference.
    Client(Arc<str>),
}

/// All that authz knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Commands applied so far.
    pub version: u64,
    /// The next number of a user or grant.
    pub next: u64,
    /// Access tokens are sealed with the keys of this epoch.
    pub epoch: u64,
    /// Grows whenever roles change: whoever remembers what roles mean compares it.
    pub roles_version: u64,
    /// Users by name.
    pub users: Map<String, Arc<User>>,
    /// Roles that an operator made, by name.
    pub roles: Map<String, Arc<Role>>,
    /// Role mappings by name.
    pub mappings: Map<String, Arc<RoleMapping>>,
    /// Privileges of applications.
    pub privileges: Map<(String, String), Arc<AppPrivilege>>,
    /// API keys by id.
    pub keys: Map<String, Arc<ApiKey>>,
    /// Tokens of service accounts, by account and name.
    pub service_tokens: Map<(String, String), Arc<ServiceToken>>,
    /// Clients by registration number.
    pub clients: Map<String, Arc<Client>>,
    /// Registration numbers by client id.
    pub client_ids: Map<String, String>,
    /// Grants by number.
    pub grants: Map<u64, Arc<Grant>>,
    /// Grants by user, client and number.
    pub owners: Map<(String, String, u64), ()>,
    /// Codes.
    pub codes: Map<Hash, Arc<Code>>,
    /// Requests that wait.
    pub pending: Map<Hash, Arc<Pending>>,
    /// Pushed requests.
    pub pushed: Map<Hash, Arc<Pushed>>,
    /// Devices.
    pub devices: Map<Hash, Arc<Device>>,
    /// Devices by what a person types.
    pub user_codes: Map<String, Hash>,
    /// Sessions.
    pub sessions: Map<Hash, Arc<Session>>,
    /// Consents by user and client.
    pub consents: Map<(String, String), Arc<Consent>>,
    /// Profiles of users by their ids.
    pub profiles: Map<String, Arc<Profile>>,
    /// What owners are told of grants that ended, by grant.
    pub notices: Map<u64, Arc<Notice>>,
    /// When things end.
    pub ends: Map<(u64, Ends), ()>,
}

impl State {
    /// The user of this name.
    pub fn user(&self, name: &str) -> Option<&Arc<User>> {
        self.users.get(name)
    }

    /// The profile of the user of this name whom this realm knows.
    pub fn profile_of(&self, name: &str, realm: &str) -> Option<&Arc<Profile>> {
        let kept = profile::uids(name).filter_map(|uid| self.profiles.get(&uid));
        kept.into_iter().find(|profile| profile.realm == realm)
    }

    /// The role of this name, built in or not.
    pub fn role(&self, name: &str) -> Option<Arc<Role>> {
        builtin::role(name).or_else(|| self.roles.get(name).cloned())
    }

    /// The roles that exist among those named.
    pub fn roles_of(&self, names: &[String]) -> Arc<[Arc<Role>]> {
        names.iter().filter_map(|name| self.role(name)).collect()
    }

    /// The client of this id.
    pub fn client(&self, client_id: &str) -> Option<&Arc<Client>> {
        self.clients.get(self.client_ids.get(client_id)?)
    }

    /// Who registered a client: the very user, not a later one of the same name.
    pub fn owner_of(&self, client: &Client) -> Option<&Arc<User>> {
        self.same_user(client.owner.as_ref()?, client.owner_uid)
    }

    /// Whose rights a client uses when it acts for itself: that very user.
    pub fn account_of(&self, client: &Client) -> Option<&Arc<User>> {
        self.same_user(client.service_account.as_ref()?, client.service_uid)
    }

    /// The user of this name, where it has this number. Without one it was kept before users were told
    /// apart, and no user of the name went since.
    fn same_user(&self, name: &str, uid: Option<u64>) -> Option<&Arc<User>> {
        self.users.get(name).filter(|user| uid.is_none_or(|uid| user.uid == uid))
    }

    /// A grant that still stands: its user, its client and its parent do too, and a client that got it for itself
    /// still acts for that account.
    pub fn grant(&self, id: u64) -> Option<&Arc<Grant>> {
        self.kept_grant(id).filter(|grant| self.is_of_account(grant))
    }

    /// Did nobody get this grant for itself as another account than it has now? Commands do not ask that, as those
    /// of before this was asked would mean something else.
    fn is_of_account(&self, grant: &Grant) -> bool {
        let has_account = |client: &str| {
            let account = self.client(client).and_then(|client| self.account_of(client));
            account.is_some_and(|account| account.uid == grant.uid)
        };
        let is_own = grant.kind == GrantKind::Client;
        grant.client.as_deref().is_none_or(|client| !is_own || has_account(client))
            && grant.parent.is_none_or(|parent| {
                self.grants.get(&parent).is_some_and(|parent| self.is_of_account(parent))
            })
    }

    /// A grant whose user, client and parent are there, as commands see it.
    pub(crate) fn kept_grant(&self, id: u64) -> Option<&Arc<Grant>> {
        let grant = self.grants.get(&id)?;
        let user = self.users.get(&grant.user)?;
        if user.uid != grant.uid {
            return None;
        }
        if let Some(client) = &grant.client {
            let client = self.client(client)?;
            if !client.is_approved() || grant.id < client.grants_from {
                return None;
            }
        }
        match grant.parent {
            Some(parent) => self.kept_grant(parent).map(|_| grant),
            None => Some(grant),
        }
    }

    /// Grants of a user, and of one client where it is named.
    pub fn grants_of<'s>(
        &'s self,
        user: &'s str,
        client: Option<&'s str>,
    ) -> impl Iterator<Item = &'s Arc<Grant>> {
        let from = (user.to_owned(), client.unwrap_or_default().to_owned(), 0);
        self.owners
            .from(&from)
            .map(|(key, ())| key)
            .take_while(move |(owner, of, _)| {
                owner == user && client.is_none_or(|client| of == client)
            })
            .filter_map(|(_, _, id)| self.grant(*id))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Numbers of the grants of the token service that are a user's.
    pub(crate) fn service_grants_of<'s>(&'s self, user: &'s str) -> impl Iterator<Item = u64> + 's {
        let from = (user.to_owned(), String::new(), 0);
        let own = self.owners.from(&from).map(|(key, ())| key);
        own.take_while(move |(owner, of, _)| owner == user && of.is_empty()).map(|(_, _, id)| *id)
    }

    /// What a user is told of grants that ended, oldest first.
    pub fn notices_of<'s>(
        &'s self,
        user: &'s User,
        now: u64,
    ) -> impl Iterator<Item = &'s Arc<Notice>> {
        self.notices.values().filter(move |notice| {
            notice.user == user.name && notice.uid == user.uid && now < notice.end
        })
    }

    /// Sessions of a user that still stand.
    pub fn sessions_of<'s>(
        &'s self,
        user: &'s User,
        now: u64,
    ) -> impl Iterator<Item = &'s Arc<Session>> {
        self.sessions.values().filter(move |session| {
            session.user == user.name && session.uid == user.uid && now < session.end
        })
    }

    /// Form in a snapshot.
    pub fn to_bytes(&self) -> Vec<u8> {
        fn list<K, V>(map: &Map<K, Arc<V>>) -> Value
        where
            K: Ord + Clone + std::hash::Hash,
            V: Form,
        {
            Value::Array(map.values().map(Form::to_json).collect())
        }
        let mut object = Object::new();
        object.insert("version", self.version);
        object.insert("next", self.next);
        object.insert("epoch", self.epoch);
        object.insert("roles_version", self.roles_version);
        object.insert("users", list(&self.users));
        object.insert("roles", list(&self.roles));
        object.insert("mappings", list(&self.mappings));
        object.insert("privileges", list(&self.privileges));
        object.insert("keys", list(&self.keys));
        object.insert("service_tokens", list(&self.service_tokens));
        object.insert("clients", list(&self.clients));
        object.insert("grants", list(&self.grants));
        object.insert("codes", list(&self.codes));
        object.insert("pending", list(&self.pending));
        object.insert("pushed", list(&self.pushed));
        object.insert("devices", list(&self.devices));
        object.insert("sessions", list(&self.sessions));
        object.insert("consents", list(&self.consents));
        object.insert("notices", list(&self.notices));
        object.insert("profiles", list(&self.profiles));
        json::to_vec(&Value::Object(object))
    }

    /// From a snapshot.
    ///
    /// # Errors
    /// Where the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |reason: String| Error::Malformed { what: "authz snapshot", reason };
        let value = json::parse(bytes).map_err(|error| malformed(error.to_string()))?;
        Self::read(&value).map_err(malformed)
    }

    fn read(value: &Value) -> std::result::Result<Self, String> {
        fn list<T: Form>(value: &Value, name: &str) -> std::result::Result<Vec<T>, String> {
            crate::form::take(value, name)
        }
        let number = |name: &str| crate::form::take::<u64>(value, name);
        let mut state = Self {
            version: number("version")?,
            next: number("next")?,
            epoch: number("epoch")?,
            roles_version: number("roles_version")?,
            ..Self::default()
        };
        // Nothing stands twice: what stands in two maps would not stand in both.
        let once = |is_new: bool, what: &str, name: &str| {
            if is_new { Ok(()) } else { Err(format!("{what} [{name}] stands twice")) }
        };
        for user in list::<Arc<User>>(value, "users")? {
            let name = user.name.clone();
            once(state.users.insert(name.clone(), user), "user", &name)?;
        }
        for role in list::<Arc<Role>>(value, "roles")? {
            let name = role.name.clone();
            once(state.roles.insert(name.clone(), role), "role", &name)?;
        }
        for mapping in list::<Arc<RoleMapping>>(value, "mappings")? {
            let name = mapping.name.clone();
            once(state.mappings.insert(name.clone(), mapping), "mapping", &name)?;
        }
        for one in list::<Arc<AppPrivilege>>(value, "privileges")? {
            let name = one.name.clone();
            let key = (one.application.clone(), name.clone());
            once(state.privileges.insert(key, one), "privilege", &name)?;
        }
        for key in list::<Arc<ApiKey>>(value, "keys")? {
            let id = key.id.clone();
            once(state.keys.insert(id.clone(), key), "key", &id)?;
        }
        for token in list::<Arc<ServiceToken>>(value, "service_tokens")? {
            let name = token.name.clone();
            let key = (token.account.clone(), name.clone());
            once(state.service_tokens.insert(key, token), "service token", &name)?;
        }
        for client in list::<Arc<Client>>(value, "clients")? {
            let reference = client.reference.clone();
            let id = client.client_id.as_ref();
            let is_new = !state.clients.contains(&reference)
                && !id.is_some_and(|id| state.client_ids.contains(id));
            once(is_new, "client", &reference)?;
            state.put_client(client);
        }
        for grant in list::<Arc<Grant>>(value, "grants")? {
            once(!state.grants.contains(&grant.id), "grant", &grant.id.to_string())?;
            state.put_grant(grant);
        }
        let spare = |hash: &Hash| crate::form::hex(&hash.0[..4]);
        for code in list::<Arc<Code>>(value, "codes")? {
            once(!state.codes.contains(&code.hash), "code", &spare(&code.hash))?;
            state.put_code(code);
        }
        for pending in list::<Arc<Pending>>(value, "pending")? {
            let id = pending.id;
            state.ends.insert((pending.end, Ends::Pending(id)), ());
            once(state.pending.insert(id, pending), "request", &spare(&id))?;
        }
        for pushed in list::<Arc<Pushed>>(value, "pushed")? {
            let id = pushed.id;
            state.ends.insert((pushed.forgotten(), Ends::Pushed(id)), ());
            once(state.pushed.insert(id, pushed), "pushed request", &spare(&id))?;
        }
        for device in list::<Arc<Device>>(value, "devices")? {
            let is_new = !state.devices.contains(&device.id)
                && !state.user_codes.contains(&device.user_code);
            once(is_new, "device", &spare(&device.id))?;
            state.put_device(device);
        }
        for session in list::<Arc<Session>>(value, "sessions")? {
            let id = session.id;
            state.ends.insert((session.end, Ends::Session(id)), ());
            once(state.sessions.insert(id, session), "session", &spare(&id))?;
        }
        for consent in list::<Arc<Consent>>(value, "consents")? {
            let key = (consent.user.clone(), consent.client.clone());
            once(state.consents.insert(key, consent), "consent", "of a user")?;
        }
        for profile in list::<Arc<Profile>>(value, "profiles")? {
            let uid = profile.uid.clone();
            once(state.profiles.insert(uid.clone(), profile), "profile", &uid)?;
        }
        for notice in list::<Arc<Notice>>(value, "notices")? {
            let grant = notice.grant;
            state.ends.insert((notice.end, Ends::Notice(grant)), ());
            once(state.notices.insert(grant, notice), "notice of grant", &grant.to_string())?;
        }
        Ok(state)
    }

    pub(crate) fn put_client(&mut self, client: Arc<Client>) {
        self.drop_client_end(&client.reference);
        if let Some(end) = client.end() {
            self.ends.insert((end, Ends::Client(client.reference.as_str().into())), ());
        }
        if let Some(id) = &client.client_id {
            self.client_ids.insert(id.clone(), client.reference.clone());
        }
        self.clients.insert(client.reference.clone(), client);
    }

    /// A client has no end of its own any more.
    pub(crate) fn drop_client_end(&mut self, reference: &str) {
        if let Some(end) = self.clients.get(reference).and_then(|known| known.end()) {
            self.ends.remove(&(end, Ends::Client(reference.into())));
        }
    }

    pub(crate) fn put_grant(&mut self, grant: Arc<Grant>) {
        let client = grant.client.clone().unwrap_or_default();
        self.owners.insert((grant.user.clone(), client, grant.id), ());
        self.ends.insert((grant.absolute_end, Ends::Grant(grant.id)), ());
        self.grants.insert(grant.id, grant);
    }

    pub(crate) fn put_code(&mut self, code: Arc<Code>) {
        self.ends.insert((code.end, Ends::Code(code.hash)), ());
        self.codes.insert(code.hash, code);
    }

    pub(crate) fn put_device(&mut self, device: Arc<Device>) {
        self.ends.insert((device.forgotten(), Ends::Device(device.id)), ());
        self.user_codes.insert(device.user_code.clone(), device.id);
        self.devices.insert(device.id, device);
    }

    /// Removes a device, and what a person would type for it.
    pub(crate) fn drop_device(&mut self, id: Hash) {
        let Some(device) = self.devices.get(&id).cloned() else { return };
        self.user_codes.remove(&device.user_code);
        self.devices.remove(&id);
        self.ends.remove(&(device.forgotten(), Ends::Device(id)));
    }

    /// Removes a grant with its code, its place among its owner's, and its end.
    pub(crate) fn drop_grant(&mut self, id: u64) -> bool {
        let Some(grant) = self.grants.get(&id).cloned() else { return false };
        self.grants.remove(&id);
        self.owners.remove(&(grant.user.clone(), grant.client.clone().unwrap_or_default(), id));
        self.ends.remove(&(grant.absolute_end, Ends::Grant(id)));
        if let Some(code) = &grant.code {
            self.codes.remove(code);
        }
        true
    }
}

impl consensus::State for State {
    type Command = Command;
    type Outcome = Outcome;

    const FORMAT: u32 = 10;

    fn apply(&self, command: &Command) -> (Self, Outcome) {
        crate::apply::apply(self, command)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    fn decode(_format: u32, bytes: &[u8]) -> std::result::Result<Self, Decode> {
        Self::from_bytes(bytes).map_err(|error| Decode(error.to_string()))
    }

    fn encode_command(command: &Command, out: &mut Vec<u8>) {
        out.extend_from_slice(&command.to_bytes());
    }

    fn decode_command(_format: u32, bytes: &[u8]) -> std::result::Result<Command, Decode> {
        Command::from_bytes(bytes).map_err(|error| Decode(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::PasswordHash;

    #[test]
    fn a_snapshot_is_read_as_it_was_written() {
        let mut state = State { version: 7, next: 3, ..State::default() };
        let user = User::elastic(PasswordHash::nobody());
        state.users.insert(user.name.clone(), Arc::new(user));
        assert_eq!(State::from_bytes(&state.to_bytes()), Ok(state));
        let empty = State::default();
        assert_eq!(State::from_bytes(&empty.to_bytes()), Ok(empty));
    }

    /// A client and a handle as form 3 wrote them.
    #[test]
    fn a_snapshot_of_form_3_is_read() {
        let text = br#"{"version":9,"next":2,"epoch":0,"roles_version":0,"users":[],"roles":[],"mappings":[],
            "privileges":[],"keys":[],"service_tokens":[],"clients":[{"reference":"R-A","client_id":"c1",
            "status":"approved","owner":"dev","profile":{"application_type":"service","name":"A",
            "redirect_uris":[],"contacts":[],"scopes":["self"],"confidential":true,"require_pkce":false},
            "secrets":[],"auth_method":"client_secret_basic","grant_types":["client_credentials"],
            "default_scope":[],"allow_insecure_redirect":false,"require_par":false,"web_origins":[],
            "details_types":[],"service_account":"svc","unreviewed":false,"created":7,"version":1,
            "grants_from":0}],"grants":[],"codes":[],"pending":[],"pushed":[{"id":
            "0101010101010101010101010101010101010101010101010101010101010101","client":"c1","params":[],
            "end":60000}],"devices":[],"sessions":[],"consents":[],"notices":[],"profiles":[]}"#;
        let state = State::from_bytes(text).expect("form 3");
        let client = state.client("c1").expect("there");
        assert_eq!((client.owner_uid, client.service_uid, client.last_used), (None, None, None));
        assert!(client.proposal_terms.is_none());
        let handle = Hash([1; 32]);
        assert_eq!(state.pushed.get(&handle).map(|pushed| pushed.kept), Some(None));
        assert!(state.ends.contains(&(60_000, Ends::Pushed(handle))));
    }

    #[test]
    fn rubbish_is_refused() {
        for bad in [
            &b""[..],
            b"{}",
            b"[]",
            br#"{"users":[]}"#,
            br#"{"version":1}"#,
            br#"{"version":1,"users":[{}]}"#,
        ] {
            assert!(matches!(State::from_bytes(bad), Err(Error::Malformed { .. })), "{bad:?}");
        }
    }
}
