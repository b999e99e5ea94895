//! What may be asked of authz state, and its form in the log.
//!
//! A command carries results, not wishes: a password arrives hashed, a time arrives told, a random
//! number drawn. So the log holds no secret, and applying it again gives the same state.

use std::sync::Arc;

use json::{Object, Value};

use crate::error::{Error, Result};
use crate::form::{Form, Hash, choice, word};
use crate::password::PasswordHash;
use crate::record::client::{Client, ClientSecret};
use crate::record::grant::{Code, Consent, Device, Grant, Pending, Pushed};
use crate::record::key::{ApiKey, AppPrivilege, Creator, RoleMapping, ServiceToken};
use crate::record::profile::Profile;
use crate::record::proof::Proof;
use crate::record::role::Role;
use crate::record::session::Session;
use crate::record::user::User;

word! {
    /// What a user gave, where another password takes it back.
    pub enum Withdrawal {
        /// What applications were given.
        Apps = "apps",
        /// That, and tokens of the token service and of clients that act as the user.
        All = "all",
    }
}

choice! {
    /// A change of authz state. Times are milliseconds since 1970.
    pub enum Command {
        /// Makes the built-in users at the first start; changes nothing where they are there.
        Bootstrap {
            /// Hash of the password of `elastic`.
            password: PasswordHash,
        },
        /// Gives a user another password, and ends its sessions.
        SetPassword {
            /// Name of the user.
            user: String,
            /// Hash of the new password.
            password: PasswordHash,
            /// The hash it replaces, where only that one may be replaced: a stronger hash of the same
            /// password must not undo a change made meanwhile, nor does it end sessions.
            instead_of: Option<PasswordHash>,
            /// A session that stays.
            keep: Option<Hash>,
            /// What is taken back with the old password: in one command, for a machine that stops between two
            /// would keep the new password and what the old one had let in.
            withdraws: Option<Withdrawal>,
            /// What let the caller in: refused where it lets in no more, so that who has an old password replaces
            /// none, neither the own new one nor another's.
            by: Option<Proof>,
        },
        /// Makes or changes a user. Without a password the user must be there, and keeps its own.
        PutUser {
            /// The user; its number is given here.
            user: User,
            /// Takes the password over from the user that is there.
            keep_password: bool,
            /// As with `SetPassword`, where a user that is there gets another one.
            withdraws: Option<Withdrawal>,
            /// As with `SetPassword`.
            by: Option<Proof>,
        },
        /// Removes a user.
        DeleteUser {
            /// Its name.
            name: String,
        },
        /// Lets a user in, or not.
        EnableUser {
            /// Its name.
            name: String,
            /// Which.
            enabled: bool,
        },
        /// Makes or changes roles.
        PutRoles {
            /// The roles.
            roles: Vec<Arc<Role>>,
        },
        /// Removes roles.
        DeleteRoles {
            /// Their names.
            names: Vec<String>,
        },
        /// Makes or changes a role mapping.
        PutMapping {
            /// The mapping.
            mapping: RoleMapping,
        },
        /// Removes one.
        DeleteMapping {
            /// Its name.
            name: String,
        },
        /// Makes or changes privileges of applications.
        PutPrivileges {
            /// The privileges.
            privileges: Vec<AppPrivilege>,
        },
        /// Removes privileges of an application.
        DeletePrivileges {
            /// Whose.
            application: String,
            /// Which.
            names: Vec<String>,
        },
        /// Makes an API key.
        PutKey {
            /// The key.
            key: ApiKey,
            /// What let the caller in: as with `SetPassword`, for a key goes on where its password ended.
            by: Option<Proof>,
            /// What let in the one whose key it is, where the caller asks for another's.
            granted_by: Option<Proof>,
        },
        /// Changes API keys.
        UpdateKeys {
            /// Which.
            ids: Vec<String>,
            /// Their own roles, where given.
            descriptors: Option<Vec<Arc<Role>>>,
            /// Their owner's roles now.
            limited_by: Vec<Arc<Role>>,
            /// Their owner now.
            creator: Option<Creator>,
            /// What is noted, where given.
            metadata: Option<Object>,
            /// When they end, where given.
            expiration: Option<u64>,
            /// Access of cross-cluster keys, where given.
            access: Option<Value>,
            /// As with `PutKey`.
            by: Option<Proof>,
        },
        /// Invalidates API keys.
        InvalidateKeys {
            /// Which.
            ids: Vec<String>,
            /// When.
            now: u64,
        },
        /// Forgets API keys that let nobody in any more.
        ForgetKeys {
            /// Which, of those whose end is long enough ago.
            ids: Vec<String>,
            /// They must have ended by then.
            ended_by: u64,
        },
        /// Makes a token of a service account.
        PutServiceToken {
            /// The token.
            token: ServiceToken,
            /// As with `PutKey`.
            by: Option<Proof>,
        },
        /// Removes one.
        DeleteServiceToken {
            /// Its account.
            account: String,
            /// Its name.
            name: String,
        },
        /// Makes a grant without a code: for the token service, or a client that acts for itself.
        Mint {
            /// The grant; its number is given here.
            grant: Grant,
            /// What let in whoever asks for it.
            by: Option<Proof>,
            /// So many of its kind may its user and client have, with it; beyond, the oldest end. None in logs of
            /// before, and where any number may be.
            most: Option<u64>,
            /// When.
            now: u64,
        },
        /// Turns a refresh token into the next.
        Refresh {
            /// The grant.
            grant: u64,
            /// The token's place in the family.
            counter: u32,
            /// Who presents it.
            client: Option<String>,
            /// An access token with these scopes alone.
            narrowed: Option<Vec<String>>,
            /// So many of those may the family have, with it; beyond, the oldest end. None in logs of before.
            most: Option<u64>,
            /// How long a token lives unused.
            idle: u64,
            /// How long an access token lives.
            life: u64,
            /// How long the same token may come again.
            window: u64,
            /// When.
            now: u64,
        },
        /// Revokes grants with all that came of them.
        Revoke {
            /// Which.
            grants: Vec<u64>,
            /// And the consents remembered beside them.
            consents: bool,
        },
        /// Takes back what a user gave to clients: consents, codes, devices and grants.
        Withdraw {
            /// Who gave.
            user: String,
            /// To whom; to everybody where none is named.
            client: Option<String>,
            /// Also tokens of the token service, and of clients that act as the user.
            service: bool,
        },
        /// A user's profile as it is at a login; what is kept beside it stays.
        ActivateProfile {
            /// The profile.
            profile: Profile,
        },
        /// Changes what is kept in a profile; members are merged.
        ChangeProfile {
            /// Which.
            uid: String,
            /// What it is found by.
            labels: Option<Value>,
            /// What applications keep.
            data: Option<Value>,
            /// It is found by suggestions.
            enabled: Option<bool>,
            /// Only where it stands at this number.
            only_at: Option<u64>,
        },
        /// A person has read what was told of these grants.
        DropNotices {
            /// Which.
            grants: Vec<u64>,
        },
        /// Revokes one access token.
        RevokeAccess {
            /// Its grant.
            grant: u64,
            /// Its number.
            serial: u32,
            /// Its end in seconds.
            end: u32,
            /// When.
            now: u64,
        },
        /// Notes that a grant was used.
        Touch {
            /// The grant.
            grant: u64,
            /// From where.
            address: Option<String>,
            /// When.
            now: u64,
        },
        /// From now on access tokens are sealed with other keys; those of before are dead.
        RotateKeys {},
        /// Makes or changes a client, where nobody changed it meanwhile.
        PutClient {
            /// The client.
            client: Client,
            /// Its version before; 0 where it is new.
            version: u64,
        },
        /// Changes a client that had a secret into one that has none, where nobody changed it meanwhile. What it was
        /// granted, or is about to be, it was granted as one that proves to be itself: it ends.
        OpenClient {
            /// The client.
            client: Client,
            /// Its version before.
            version: u64,
        },
        /// Makes a client that no reviewer chose, where there is room for it.
        AddClient {
            /// The client.
            client: Client,
            /// So many like it may there be, with it: of its owner those that were not approved; of those that
            /// registered by themselves those that never got a token.
            room: u64,
        },
        /// Suspends an approved client, whichever version of it stands: who changes it all the time does not put
        /// that off.
        SuspendClient {
            /// Its registration's number.
            reference: String,
        },
        /// Gives a client a secret beside its newest one, which ends soon; of whichever version stands, as with
        /// `SuspendClient`: whoever holds a stolen secret may be who changes the client.
        RotateSecret {
            /// Its registration's number.
            reference: String,
            /// The new one.
            secret: ClientSecret,
            /// Those that are there, where no others may be: two who ask at once would end the one in use.
            beside: Option<Vec<ClientSecret>>,
            /// When.
            now: u64,
        },
        /// Removes a client with all its grants.
        DeleteClient {
            /// Its registration's number.
            reference: String,
        },
        /// Keeps an authorization request.
        PutPending {
            /// The request.
            pending: Pending,
            /// When.
            now: u64,
        },
        /// Answers a request: once.
        Decide {
            /// The request.
            pending: Hash,
            /// The code for the client, where it is allowed.
            code: Option<Code>,
            /// Asked for no more.
            consent: Option<Consent>,
            /// The session that decides; none in logs of before it was judged, and neither was the client.
            by: Option<Proof>,
            /// When.
            now: u64,
        },
        /// Turns a code into a grant: once.
        Redeem {
            /// Hash of the code.
            code: Hash,
            /// Who presents it.
            client: String,
            /// The redirect URI, where one was sent.
            redirect: Option<String>,
            /// A missing redirect URI is fine even where the request had one.
            may_omit_redirect: bool,
            /// The challenge that follows from the verifier, where one was sent.
            verifier: Option<String>,
            /// Narrowed resources.
            resource: Vec<String>,
            /// Refresh tokens are given.
            refreshes: bool,
            /// How long a refresh token lives unused, and at most.
            idle: u64,
            /// See `idle`.
            absolute: u64,
            /// How long an access token lives.
            life: u64,
            /// From where.
            address: Option<String>,
            /// When.
            now: u64,
        },
        /// Keeps a session; another one ends.
        PutSession {
            /// The session.
            session: Session,
            /// The one it replaces.
            instead_of: Option<Hash>,
            /// What lets its person in.
            by: Option<Proof>,
            /// When.
            now: u64,
        },
        /// Notes that a session was seen.
        SeeSession {
            /// Which.
            id: Hash,
            /// When.
            now: u64,
        },
        /// Ends sessions.
        EndSessions {
            /// Which.
            ids: Vec<Hash>,
        },
        /// Keeps a pushed request.
        PutPushed {
            /// The request.
            pushed: Pushed,
            /// When.
            now: u64,
        },
        /// Keeps a device.
        PutDevice {
            /// The device.
            device: Device,
            /// When.
            now: u64,
        },
        /// A person answers for a device: once.
        DecideDevice {
            /// What the person typed.
            user_code: String,
            /// Who.
            user: String,
            /// That user's number.
            uid: u64,
            /// What is granted; none refuses.
            scopes: Option<Vec<String>>,
            /// It was asked to keep access, and may not; see [`crate::record::grant::Device`].
            without_refresh: Option<bool>,
            /// When, where what it gets lives from then on.
            begun: Option<u64>,
            /// As with `Decide`.
            by: Option<Proof>,
            /// When.
            now: u64,
        },
        /// A device asks; at the right moment it gets its grant, once.
        PollDevice {
            /// Hash of its code.
            id: Hash,
            /// Who asks.
            client: String,
            /// Refresh tokens are given.
            refreshes: bool,
            /// How long a refresh token lives unused, and at most.
            idle: u64,
            /// See `idle`.
            absolute: u64,
            /// How long an access token lives.
            life: u64,
            /// When.
            now: u64,
        },
    }
}

/// What a command did.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The state changed.
    Changed,
    /// Something new came into being.
    Created,
    /// Nothing had to change.
    Unchanged,
    /// Of several things, whether each came into being (or was there).
    Each(Vec<bool>),
    /// A grant, and the number of its next access token.
    Granted(Arc<Grant>, u32),
    /// Numbers of grants that ended.
    Ended(Vec<u64>),
    /// A device is to wait.
    Wait(Waiting),
    /// The command was refused.
    Refused(Error),
}

/// Why a device gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Nobody has answered yet.
    Pending,
    /// It asks too often.
    TooFast,
    /// Somebody refused.
    Refused,
    /// It took too long.
    Expired,
}

impl Command {
    /// Does it take rights away, or replace a secret? On a full disk that is what goes on: whoever finds that a
    /// password or key was stolen cannot wait for room.
    pub fn is_pressing(&self) -> bool {
        match self {
            Self::SetPassword { instead_of, .. } => instead_of.is_none() && !self.is_own_password(),
            Self::EnableUser { enabled, .. } => !enabled,
            Self::DeleteUser { .. }
            | Self::DeleteRoles { .. }
            | Self::DeleteMapping { .. }
            | Self::DeletePrivileges { .. }
            | Self::InvalidateKeys { .. }
            | Self::DeleteServiceToken { .. }
            | Self::Revoke { .. }
            | Self::Withdraw { .. }
            | Self::RevokeAccess { .. }
            | Self::RotateKeys {}
            | Self::SuspendClient { .. }
            | Self::RotateSecret { .. }
            | Self::DeleteClient { .. }
            | Self::EndSessions { .. } => true,
            _ => false,
        }
    }

    /// Does somebody change the own password, by it or signed in? That takes no right, and may be asked for again and again: on a
    /// full disk it is taken, but not into the last of the room.
    pub fn is_own_password(&self) -> bool {
        match self {
            Self::SetPassword { user, by: Some(Proof::Password { user: own, .. }), .. } => {
                user == own
            }
            // The account's page.
            Self::SetPassword { by: Some(Proof::Session { .. }), .. } => true,
            _ => false,
        }
    }

    /// Form in the log.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::to_vec(&self.to_json())
    }

    /// From the log.
    ///
    /// # Errors
    /// Where the bytes are no command.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |reason: String| Error::Malformed { what: "authz command", reason };
        let value = json::parse(bytes).map_err(|error| malformed(error.to_string()))?;
        Self::from_json(&value).map_err(malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::key::Salted;

    #[test]
    fn a_command_is_read_as_it_was_written() {
        let password = PasswordHash::nobody();
        for command in [
            Command::Bootstrap { password: password.clone() },
            Command::SetPassword {
                user: "ann".into(),
                password: password.clone(),
                instead_of: Some(password.clone()),
                keep: Some(Hash([1; 32])),
                withdraws: Some(Withdrawal::All),
                by: Some(Proof::Password { user: "ann".into(), uid: 1, version: 2 }),
            },
            Command::PutUser {
                user: User::elastic(password),
                keep_password: false,
                withdraws: Some(Withdrawal::Apps),
                by: None,
            },
            Command::RotateKeys {},
            Command::Revoke { grants: vec![1, 2], consents: true },
            Command::DropNotices { grants: vec![3] },
            Command::Withdraw { user: "ann".into(), client: None, service: true },
            Command::RotateSecret {
                reference: "r1".into(),
                secret: ClientSecret { secret: Salted::nobody(), end: None },
                beside: Some(Vec::new()),
                now: 1,
            },
        ] {
            assert_eq!(Command::from_bytes(&command.to_bytes()), Ok(command));
        }
    }

    /// What form 7 writes, and the same of form 6, whose keys are made on nobody's word.
    #[test]
    fn commands_of_form_6_make_keys_without_a_proof() {
        let salted = r#"{"salt":"00","hash":"00"}"#.replace("00", &"00".repeat(32));
        let old = format!(
            r#"{{"is":"PutServiceToken","token":{{"account":"elastic/kibana","name":"t","secret":{salted},"creation":1}}}}"#
        );
        let token = ServiceToken {
            account: "elastic/kibana".into(),
            name: "t".into(),
            secret: Salted { salt: Hash([0; 32]), hash: Hash([0; 32]) },
            creation: 1,
        };
        let put = |by| Command::PutServiceToken { token: token.clone(), by };
        assert_eq!(Command::from_bytes(old.as_bytes()), Ok(put(None)));
        assert_eq!(put(None).to_bytes(), old.as_bytes());
        for (by, text) in [
            (Proof::Key { id: "k".into() }, r#"{"is":"Key","id":"k"}"#),
            (
                Proof::Service { account: "a/b".into(), name: "t".into(), salt: None },
                r#"{"is":"Service","account":"a/b","name":"t"}"#,
            ),
            (
                Proof::Password { user: "ann".into(), uid: 1, version: 2 },
                r#"{"is":"Password","user":"ann","uid":1,"version":2}"#,
            ),
        ] {
            let new = format!(r#"{},"by":{text}}}"#, old.strip_suffix('}').expect("an object"));
            assert_eq!(put(Some(by.clone())).to_bytes(), new.as_bytes());
            assert_eq!(Command::from_bytes(new.as_bytes()), Ok(put(Some(by))));
        }
    }

    /// What form 8 writes, and the same of form 7, by which there may be any number of grants.
    #[test]
    fn commands_of_form_7_make_any_number_of_grants() {
        let refresh = |most| Command::Refresh {
            grant: 7,
            counter: 1,
            client: None,
            narrowed: Some(vec!["self".into()]),
            most,
            idle: 2,
            life: 3,
            window: 4,
            now: 5,
        };
        let old = r#"{"is":"Refresh","grant":7,"counter":1,"narrowed":["self"],"idle":2,"life":3,"window":4,"now":5}"#;
        assert_eq!(Command::from_bytes(old.as_bytes()), Ok(refresh(None)));
        assert_eq!(refresh(None).to_bytes(), old.as_bytes());
        let new = old.replace(r#""idle""#, r#""most":9,"idle""#);
        assert_eq!(refresh(Some(9)).to_bytes(), new.as_bytes());
        assert_eq!(Command::from_bytes(new.as_bytes()), Ok(refresh(Some(9))));
    }

    /// What form 9 writes, and the same of form 8, by which any consent of the two answers.
    #[test]
    fn commands_of_form_8_name_no_consent() {
        let decide = |seen| Command::Decide {
            pending: Hash([1; 32]),
            code: None,
            consent: None,
            by: Some(Proof::Consent { session: Hash([2; 32]), client: "c1".into(), seen }),
            now: 5,
        };
        let seen = Consent {
            user: "ann".into(),
            uid: 1,
            client: "c1".into(),
            version: 2,
            origin: "https://app.example".into(),
            scopes: vec!["self".into()],
            without_refresh: None,
        };
        let (pending, session) = ("01".repeat(32), "02".repeat(32));
        let old = format!(
            r#"{{"is":"Decide","pending":"{pending}","by":{{"is":"Consent","session":"{session}","client":"c1"}},"now":5}}"#
        );
        assert_eq!(Command::from_bytes(old.as_bytes()), Ok(decide(None)));
        assert_eq!(decide(None).to_bytes(), old.as_bytes());
        let told = r#""client":"c1","seen":{"user":"ann","uid":1,"client":"c1","version":2,"origin":"https://app.example","scopes":["self"]}"#;
        let new = old.replace(r#""client":"c1""#, told);
        assert_eq!(decide(Some(seen.clone())).to_bytes(), new.as_bytes());
        assert_eq!(Command::from_bytes(new.as_bytes()), Ok(decide(Some(seen))));
    }

    /// Form 10 has one command more than form 9, whose reader refuses it.
    #[test]
    fn form_10_opens_clients() {
        let profile = crate::record::client::Profile::new(
            crate::record::client::ApplicationType::Native,
            "App",
        );
        let client = Client::new("r1".into(), profile, 0);
        let open = Command::OpenClient { client: client.clone(), version: 1 };
        let put = Command::PutClient { client, version: 1 };
        let as_put = String::from_utf8(open.to_bytes()).expect("text").replace("Open", "Put");
        assert_eq!(as_put.as_bytes(), put.to_bytes());
        assert_eq!(Command::from_bytes(&open.to_bytes()), Ok(open));
        assert_eq!(<crate::State as consensus::State>::FORMAT, 10);
    }

    /// What form 6 writes, and the same of form 5, which took back in a command of its own.
    #[test]
    fn commands_of_form_5_take_nothing_back() {
        let set = |withdraws| Command::SetPassword {
            user: "ann".into(),
            password: PasswordHash::nobody(),
            instead_of: None,
            keep: None,
            withdraws,
            by: None,
        };
        let hash = PasswordHash::nobody();
        let old = format!(r#"{{"is":"SetPassword","user":"ann","password":"{}"}}"#, hash.as_str());
        assert_eq!(Command::from_bytes(old.as_bytes()), Ok(set(None)));
        let new = old.replace('}', r#","withdraws":"all"}"#);
        assert_eq!(set(Some(Withdrawal::All)).to_bytes(), new.as_bytes());
    }

    #[test]
    fn rubbish_is_refused() {
        for bad in [
            &b"x"[..],
            br#"{"is":"Bootstrap","password":"plain"}"#,
            br#"{"is":"Bootstrap"}"#,
            br#"{"is":"Explode"}"#,
        ] {
            assert!(matches!(Command::from_bytes(bad), Err(Error::Malformed { .. })), "{bad:?}");
        }
    }
}
