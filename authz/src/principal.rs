//! Who stands at the door, once the credential was found good.

use std::sync::Arc;

use json::Object;

use crate::access::{Access, Layer};
use crate::authenticate::bearer;
use crate::oauth::scope;
use crate::password::PasswordHash;
use crate::record::grant::{Grant, Meaning};
use crate::record::key::{ApiKey, Creator, ServiceToken};
use crate::record::proof::Proof;
use crate::record::role::{ApplicationEntry, Descriptor, Name, Role, SUPERUSER};
use crate::record::user::{Realm, User};
use crate::record::{builtin, companion};
use crate::state::State;

/// By which kind of credential somebody came.
#[derive(Clone, Debug)]
pub enum Via {
    /// Name and password.
    Realm,
    /// An API key.
    ApiKey(Arc<ApiKey>),
    /// A token of a service account.
    Service(Arc<ServiceToken>),
    /// A token of the token service.
    Token(Arc<Grant>),
    /// An access token of the OAuth half.
    Oauth(Arc<Grant>),
}

/// An authenticated caller, as authz state knew it at that moment.
#[derive(Clone, Debug)]
pub struct Principal {
    user: Arc<User>,
    via: Via,
    access: Arc<Access>,
    /// Who acts in the user's name: what it does so ends with what let that one in.
    acting: Option<Arc<Self>>,
    moment: Moment,
}

/// When somebody was let in, by what tells whether it would mean the same now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    roles_version: u64,
    /// Of the keys of tokens.
    epoch: u64,
}

impl Moment {
    fn of(state: &State) -> Self {
        Self { roles_version: state.roles_version, epoch: state.epoch }
    }
}

impl Principal {
    /// A user, with all roles.
    pub fn user_of(user: Arc<User>, state: &State) -> Self {
        let access = Access::new(
            format!("user [{}]", user.name),
            vec![roles_layer(&user, state)],
            Arc::new(user.facts()),
        );
        let access = Arc::new(access.with_roles(&user.roles));
        Self { user, via: Via::Realm, access, acting: None, moment: Moment::of(state) }
    }

    /// A user for whom another one acts.
    pub fn run_as(user: Arc<User>, acting: &Self, state: &State) -> Self {
        let access = Access::new(
            format!("user [{}] run as [{}]", acting.user.name, user.name),
            vec![roles_layer(&user, state)],
            Arc::new(user.facts()),
        );
        let access = Arc::new(access.with_roles(&user.roles));
        let acting = Some(Arc::new(acting.clone()));
        Self { user, via: Via::Realm, access, acting, moment: Moment::of(state) }
    }

    /// The bearer of an API key.
    pub fn key(key: Arc<ApiKey>, state: &State) -> Self {
        let layer = |roles: &[Arc<Role>]| Layer { roles: roles.into(), strict: false };
        let mut layers = vec![layer(&key.limited_by)];
        if !key.descriptors.is_empty() {
            layers.insert(0, layer(&key.descriptors));
        }
        let creator = Self::creator_of(&key, state);
        let user = match creator {
            Some(Creator { full_name, email, metadata }) => {
                User { email, ..nameless(&key.owner, full_name, metadata) }
            }
            None => nameless(&key.owner, None, Object::new()),
        };
        let who = format!("API key id [{}] of user [{}]", key.id, key.owner);
        let access = Arc::new(Access::new(who, layers, Arc::new(user.facts())));
        let user = Arc::new(user);
        Self { user, via: Via::ApiKey(key), access, acting: None, moment: Moment::of(state) }
    }

    /// Who made a key, as that was kept. Of keys from before: the stored user, who is the same, for else it was
    /// kept when that one was removed; of a user of the file nothing.
    fn creator_of(key: &ApiKey, state: &State) -> Option<Creator> {
        key.creator.clone().or_else(|| {
            let owner = state.user(&key.owner).filter(|user| user.realm.names().0 == key.realm.0);
            owner.map(|owner| Creator::of(owner))
        })
    }

    /// What a key that it makes or updates keeps of it.
    pub fn creator(&self) -> Creator {
        Creator::of(&self.user)
    }

    /// A service account.
    pub fn service(token: Arc<ServiceToken>, state: &State) -> Self {
        let role = Arc::new(service_role(&token.account));
        let layers = vec![Layer { roles: Arc::from([role]), strict: false }];
        let who = format!("service account [{}]", token.account);
        let access = Arc::new(Access::new(who, layers, Arc::default()));
        let full_name = format!("Service account - {}", token.account);
        let metadata = [("_elastic_service_account", true)].into_iter().collect();
        let user = Arc::new(nameless(&token.account, Some(full_name), metadata));
        Self { user, via: Via::Service(token), access, acting: None, moment: Moment::of(state) }
    }

    /// The bearer of a token of the token service: its user.
    pub fn token(grant: Arc<Grant>, user: Arc<User>, state: &State) -> Self {
        Self { via: Via::Token(grant), ..Self::user_of(user, state) }
    }

    /// The bearer of an OAuth token: the owner's roles now, the grant, the client's ceiling.
    pub fn oauth(grant: Arc<Grant>, user: Arc<User>, limits: [Meaning; 2], state: &State) -> Self {
        let mut layers = vec![roles_layer(&user, state)];
        layers.extend(limits.map(|roles| Layer { roles, strict: true }));
        let client = grant.client.as_deref().unwrap_or_default();
        let who = format!("OAuth client [{client}] of user [{}]", user.name);
        let access = Arc::new(Access::new(who, layers, Arc::new(user.facts())));
        Self { user, via: Via::Oauth(grant), access, acting: None, moment: Moment::of(state) }
    }

    /// The same bearer with the rights that `state` gives it; none where it may not come in any more
    /// ([`Self::stands`]), at this time in milliseconds. A narrowed token's bearer has that token's rights alone,
    /// which end with it.
    pub fn renewed(&self, state: &State, now_ms: u64) -> Option<Self> {
        if !self.goes_on(state, now_ms) {
            return None;
        }
        let acting = match &self.acting {
            Some(acting) => Some(acting.renewed(state, now_ms)?),
            None => None,
        };
        let user = |name: &str, uid: u64| {
            state.user(name).filter(|user| user.enabled && user.uid == uid).map(Arc::clone)
        };
        Some(match &self.via {
            Via::Realm => {
                let own = match self.user.realm {
                    // Users of the operator's file are looked up at the door alone.
                    Realm::File => Arc::clone(&self.user),
                    _ => user(&self.user.name, self.user.uid)?,
                };
                match acting.filter(|acting| acting.may_run_as(&own)) {
                    Some(acting) => Self::run_as(own, &acting, state),
                    None if self.acting.is_some() => return None,
                    None => Self::user_of(own, state),
                }
            }
            Via::ApiKey(key) => Self::key(Arc::clone(state.keys.get(&key.id)?), state),
            Via::Service(token) => Self::service(Arc::clone(same_token(token, state)?), state),
            Via::Token(grant) => {
                let grant = state.grant(grant.id)?;
                Self::token(Arc::clone(grant), user(&grant.user, grant.uid)?, state)
            }
            Via::Oauth(grant) => {
                let grant = state.grant(grant.id)?;
                let client = state.client(grant.client.as_deref()?)?;
                let ceiling = scope::role(&scope::stored(&client.profile.scopes));
                let limits = [bearer::meaning(grant), Arc::from([Arc::new(ceiling)])];
                Self::oauth(Arc::clone(grant), user(&grant.user, grant.uid)?, limits, state)
            }
        })
    }

    /// May it act as this user? Whoever holds the user's own password may, and who was granted `run_as`; never
    /// an OAuth token, and never as a superuser who is none.
    pub fn may_act_as(&self, user: &User) -> bool {
        let is_self = matches!(self.via, Via::Realm | Via::Token(_)) && self.user.is(user);
        !matches!(self.via, Via::Oauth(_))
            && (is_self || self.access.run_as(&user.name))
            && (!is_super(user) || is_super(&self.user))
    }

    /// May it take this user's name in a request, which nobody does without a grant of `run_as`?
    pub fn may_run_as(&self, user: &User) -> bool {
        self.access.run_as(&user.name) && self.may_act_as(user)
    }

    /// The scope that the bearer of an OAuth token must ask for to do `action`, to the index or alias of this
    /// name where it is to one. None where no scope gives it, and where the token was granted it: then it is
    /// the owner who may not, or the client not any more, and whoever asks again gets no more than this.
    pub fn lacks(&self, action: &str, name: Option<Name<'_>>) -> Option<String> {
        let Via::Oauth(grant) = &self.via else { return None };
        let holds = |role: &Arc<Role>| match name {
            Some(name) => role.indices.iter().any(|grant| grant.holds(action, name)),
            None => role.cluster.hold(action),
        };
        match bearer::meaning(grant).iter().any(holds) {
            true => None,
            false => scope::wanted(action, name.map(|name| name.text)),
        }
    }

    /// The record in authz state of the user whose own name and password (or token of the token service)
    /// came. None for keys and for what applications and services bring, and for users of the operator's
    /// file, also where a stored user has the same name.
    pub fn stored<'s>(&self, state: &'s State) -> Option<&'s Arc<User>> {
        let is_person = matches!(self.via, Via::Realm | Via::Token(_));
        state.user(&self.user.name).filter(|user| is_person && self.user.is(user))
    }

    /// What let it in, for commands that must not be carried out once that lets in no more: of one for whom another
    /// acts, what let that other in. None for users of the operator's file.
    pub fn proof(&self) -> Option<Proof> {
        if let Some(acting) = &self.acting {
            return acting.proof();
        }
        match &self.via {
            Via::Realm if self.user.realm == Realm::File => None,
            Via::Realm => Some(self.user.proof()),
            Via::Token(grant) | Via::Oauth(grant) => Some(Proof::Grant { id: grant.id }),
            Via::ApiKey(key) => Some(Proof::Key { id: key.id.clone() }),
            Via::Service(token) => {
                let (account, name) = (token.account.clone(), token.name.clone());
                Some(Proof::Service { account, name, salt: Some(token.secret.salt) })
            }
        }
    }

    /// Its user record.
    pub fn user(&self) -> &User {
        &self.user
    }

    /// Its user record, shared.
    pub fn user_record(&self) -> &Arc<User> {
        &self.user
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.user.name
    }

    /// By which kind of credential it came.
    pub fn via(&self) -> &Via {
        &self.via
    }

    /// Did a token come whose grant has others? Whether that very one still opens, its text alone tells.
    pub fn presents_token(&self) -> bool {
        let came = self.acting.as_deref().unwrap_or(self);
        matches!(came.via, Via::Token(_) | Via::Oauth(_))
    }

    /// Who acts in the user's name.
    pub fn acting(&self) -> Option<&Self> {
        self.acting.as_deref()
    }

    /// What it may do and see: the answers behind the gate.
    pub fn gate(&self) -> &Arc<Access> {
        &self.access
    }

    /// Roles as a snapshot: what an API key made now is limited by.
    pub fn roles(&self, state: &State) -> Vec<Arc<Role>> {
        match &self.via {
            Via::ApiKey(key) => key.limited_by.clone(),
            Via::Service(token) => vec![Arc::new(service_role(&token.account))],
            _ => state.roles_of(&self.user.roles).to_vec(),
        }
    }

    /// Name and type of the realm that found the credential good.
    pub fn realm(&self) -> (&str, &str) {
        match &self.via {
            Via::ApiKey(_) => ("_es_api_key", "_es_api_key"),
            Via::Service(_) => ("_service_account", "_service_account"),
            Via::Realm | Via::Token(_) | Via::Oauth(_) => self.user.realm.names(),
        }
    }

    /// What background work belongs to: a scroll of one credential is no other's.
    pub fn owner(&self) -> String {
        match &self.via {
            Via::Realm => format!("user:{}:{}", self.realm().0, self.name()),
            Via::ApiKey(key) => format!("key:{}", key.id),
            Via::Service(token) => format!("service:{}", token.account),
            Via::Token(grant) => format!("user:{}:{}", self.realm().0, grant.user),
            Via::Oauth(grant) => format!("grant:{}", grant.family()),
        }
    }

    /// Would what let it in still do so, at this time in milliseconds? A user while enabled, a key or token of a
    /// service account while it is there, a token while its grant stands and tokens keep their keys: until the
    /// owner's grant ends, for its tokens share what they leave open. Where another one acts, that one must be let
    /// in as well.
    pub fn stands(&self, state: &State, now_ms: u64) -> bool {
        if self.acting.as_ref().is_some_and(|acting| !acting.stands(state, now_ms)) {
            return false;
        }
        let is_there = |name: &str, uid: u64| {
            state.user(name).is_some_and(|user| user.enabled && user.uid == uid)
        };
        match &self.via {
            // Users of the operator's file are looked up at the door alone.
            Via::Realm if self.user.realm == Realm::File => true,
            Via::Realm => is_there(&self.user.name, self.user.uid),
            Via::ApiKey(key) => state.keys.get(&key.id).is_some_and(|key| key.is_live(now_ms)),
            Via::Service(token) => same_token(token, state).is_some(),
            // With other keys every token of before is dead, whoever made it.
            Via::Token(_) | Via::Oauth(_) if self.moment.epoch != state.epoch => false,
            Via::Token(grant) | Via::Oauth(grant) => state
                .grant(grant.family())
                .is_some_and(|grant| is_there(&grant.user, grant.uid) && grant.is_live(now_ms)),
        }
    }

    /// Does it stand with rights of its own? Those of a narrowed token end with that token, which is before the
    /// grant does that it is of.
    pub fn goes_on(&self, state: &State, now_ms: u64) -> bool {
        let has_rights = match &self.via {
            Via::Oauth(grant) => state.grant(grant.id).is_some_and(|grant| grant.is_live(now_ms)),
            _ => true,
        };
        has_rights && self.stands(state, now_ms)
    }

    /// Whether it is still the same record with the same roles.
    pub(crate) fn is_of(&self, user: &Arc<User>, state: &State) -> bool {
        Arc::ptr_eq(&self.user, user) && self.moment.roles_version == state.roles_version
    }
}

/// The record of this token of a service account; none where it is gone, also where another one got its name.
fn same_token<'s>(token: &ServiceToken, state: &'s State) -> Option<&'s Arc<ServiceToken>> {
    let known = state.service_tokens.get(&(token.account.clone(), token.name.clone()))?;
    (known.secret == token.secret).then_some(known)
}

/// Is it all-powerful?
fn is_super(user: &User) -> bool {
    user.roles.iter().any(|role| role == SUPERUSER)
}

fn roles_layer(user: &User, state: &State) -> Layer {
    Layer { roles: state.roles_of(&user.roles), strict: false }
}

/// A bearer that is no user of a realm.
fn nameless(name: &str, full_name: Option<String>, metadata: Object) -> User {
    User {
        name: name.to_owned(),
        password: PasswordHash::nobody(),
        roles: Vec::new(),
        full_name,
        email: None,
        metadata,
        realm: Realm::Native,
        enabled: true,
        uid: 0,
        password_version: 0,
    }
}

/// What a service account may do.
pub fn service_role(account: &str) -> Role {
    let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let descriptor = match account {
        "elastic/kibana" => builtin::role("kibana_system").map(|role| role.descriptor.clone()),
        "elastic/fleet-server" => Some(Descriptor {
            cluster: owned(&["monitor", "manage_own_api_key", "read_fleet_secrets"]),
            indices: companion::fleet(),
            applications: vec![ApplicationEntry {
                application: "kibana-*".to_owned(),
                privileges: owned(&["reserved_fleet-setup"]),
                resources: owned(&["*"]),
            }],
            ..Descriptor::default()
        }),
        "elastic/enterprise-search-server" => Some(Descriptor {
            cluster: owned(&["manage", "manage_security"]),
            indices: companion::search(),
            ..Descriptor::default()
        }),
        _ => None,
    };
    Role::new(account, descriptor.unwrap_or_default())
}
