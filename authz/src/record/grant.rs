//! Grants: what an owner lets a client do, and the family of tokens that comes from it. Also codes,
//! requests that wait for an answer, devices, and consents that are remembered.

use std::sync::Arc;

use json::Value;

use super::role::Role;
use crate::form::{Hash, record, word};

word! {
    /// Who made a grant.
    pub enum GrantKind {
        /// The OAuth half.
        Oauth = "oauth",
        /// The token service of the store.
        Service = "service",
        /// A client that acts for itself.
        Client = "client",
    }
}

record! {
    /// A grant, with the state of its family of tokens. Revoking removes it.
    pub struct Grant {
        /// Its number, never given again.
        pub id: u64,
        /// Who made it.
        pub kind: GrantKind,
        /// Whose rights.
        pub user: String,
        /// That user's number: a later user of the same name is another.
        pub uid: u64,
        /// To whom; none for the token service.
        pub client: Option<String>,
        /// Who asked the token service for its tokens; none for the OAuth half.
        pub maker: Option<String>,
        /// What was granted, with the words of [`crate::oauth::scope`].
        pub scopes: Vec<String>,
        /// Entries of `authorization_details`.
        pub details: Vec<Value>,
        /// For which resources.
        pub resource: Vec<String>,
        /// When, in milliseconds.
        pub created: u64,
        /// When it was last used.
        pub last_used: Option<u64>,
        /// From where.
        pub last_address: Option<String>,
        /// The code it came from.
        pub code: Option<Hash>,
        /// Refresh tokens are given.
        pub refreshes: bool,
        /// Place of the newest refresh token in the family.
        pub counter: u32,
        /// When that one was made.
        pub rotated: u64,
        /// Unused until then, it ends.
        pub idle_end: u64,
        /// It ends then in any case.
        pub absolute_end: u64,
        /// The next access token's number.
        pub serial: u32,
        /// Access tokens revoked before their end, each with its end in seconds.
        pub revoked: Vec<(u32, u32)>,
        /// A narrowed token belongs to this grant.
        pub parent: Option<u64>,
        /// When its newest access tokens were issued: the number of each, and seconds since 1970. None of grants
        /// from before it was kept.
        pub issued: Option<Vec<(u32, u32)>>,
        /// Its newest access token ends then, in milliseconds. None where one cannot outlive the refresh token, and
        /// of grants from before it was kept.
        pub access_end: Option<u64>,
    }
}

impl Grant {
    /// The grant that its owner gave: its own number, or that of the grant which a narrowed token narrows.
    pub fn family(&self) -> u64 {
        self.parent.unwrap_or(self.id)
    }

    /// So many issues of access tokens are kept.
    const ISSUED_MAX: usize = 32;

    /// No access token lives longer, in seconds: its issue need not be kept beyond.
    const ISSUED_S: u32 = 60 * 60;

    /// The issues of access tokens once one more is issued, at `now` in milliseconds.
    #[must_use]
    pub fn issued_with(&self, serial: u32, now: u64) -> Option<Vec<(u32, u32)>> {
        let now_s = u32::try_from(now / 1000).unwrap_or(u32::MAX);
        let mut issued = self.issued.clone().unwrap_or_default();
        issued.retain(|(_, at)| now_s.saturating_sub(*at) <= Self::ISSUED_S);
        issued.drain(..(issued.len() + 1).saturating_sub(Self::ISSUED_MAX));
        issued.push((serial, now_s));
        Some(issued)
    }

    /// When an access token was issued, in seconds, where that is known.
    pub fn issued_s(&self, serial: u32) -> Option<u64> {
        let mut issued = self.issued.iter().flatten();
        issued.find(|(number, _)| *number == serial).map(|(_, at)| u64::from(*at))
    }

    /// By when at the latest it was issued, in seconds, where one that came after it is known.
    pub fn issued_by_s(&self, serial: u32) -> Option<u64> {
        let mut issued = self.issued.iter().flatten();
        issued.find(|(number, _)| *number >= serial).map(|(_, at)| u64::from(*at))
    }

    /// The end of an access token that is issued now and lives so long, in milliseconds: rounded up to
    /// whole seconds, which is all that the life of a grant needs, and no earlier than that of one before.
    #[must_use]
    pub fn access_end_with(&self, now: u64, life: u64) -> Option<u64> {
        let end = now.saturating_add(life).min(self.absolute_end).div_ceil(1000) * 1000;
        Some(end).max(self.access_end)
    }

    /// Was the refresh token of this place used before, so that a second use is a theft? The last one may come once
    /// more within `window` milliseconds, as long as its successor was not used.
    pub fn is_rotated_out(&self, counter: u32, window: u64, now: u64) -> bool {
        let is_last = counter.checked_add(1) == Some(self.counter);
        counter < self.counter && !(is_last && now < self.rotated.saturating_add(window))
    }

    /// May there be a token of it that lets in, at this time in milliseconds? An access token goes on where its
    /// refresh token was not used for too long.
    pub fn is_live(&self, now_ms: u64) -> bool {
        // Without refresh tokens there is one access token alone.
        let is_over = match self.refreshes {
            true => now_ms >= self.idle_end && self.access_end.is_none_or(|end| now_ms >= end),
            false => !self.revoked.is_empty(),
        };
        !is_over && now_ms < self.absolute_end
    }
}

record! {
    /// An authorization code.
    pub struct Code {
        /// Hash of the code.
        pub hash: Hash,
        /// To whom.
        pub client: String,
        /// Where it was sent.
        pub redirect: String,
        /// The request had named that place.
        pub redirect_sent: bool,
        /// Whose rights.
        pub user: String,
        /// That user's number.
        pub uid: u64,
        /// What was granted.
        pub scopes: Vec<String>,
        /// Entries of `authorization_details`.
        pub details: Vec<Value>,
        /// For which resources.
        pub resource: Vec<String>,
        /// The PKCE challenge.
        pub challenge: Option<String>,
        /// When it ends, in milliseconds.
        pub end: u64,
        /// The grant that it became.
        pub spent: Option<u64>,
        /// A wrong verifier or redirect burnt it.
        pub burnt: bool,
        /// The owner was asked to let the application keep access while they are away (`offline_access`), and did not:
        /// it gets no refresh token. None of such from before it was kept.
        pub without_refresh: Option<bool>,
        /// When its owner allowed it, in milliseconds: what refreshes lives from then on. None of such from before it was
        /// kept.
        pub begun: Option<u64>,
    }
}

record! {
    /// An authorization request that waits for login and consent.
    pub struct Pending {
        /// Hash of its id.
        pub id: Hash,
        /// Hash of the browser's cookie.
        pub browser: Hash,
        /// To whom.
        pub client: String,
        /// Where the answer goes.
        pub redirect: String,
        /// The request had named that place.
        pub redirect_sent: bool,
        /// What is asked.
        pub scopes: Vec<String>,
        /// Entries of `authorization_details`.
        pub details: Vec<Value>,
        /// For which resources.
        pub resource: Vec<String>,
        /// Given back as it came.
        pub state: Option<String>,
        /// The PKCE challenge.
        pub challenge: Option<String>,
        /// The handle it came from.
        pub handle: Option<Hash>,
        /// `prompt=login`: only a login after `created` counts.
        pub relogin: bool,
        /// `prompt=consent`: ask in any case.
        pub reconsent: bool,
        /// A login within so many seconds counts.
        pub max_age: Option<u64>,
        /// A name for the login form.
        pub hint: Option<String>,
        /// When it came, in milliseconds.
        pub created: u64,
        /// When it ends.
        pub end: u64,
    }
}

/// How long a request waits for its person, in milliseconds.
const PENDING_MS: u64 = 600_000;

impl Pending {
    /// As many wait at most; beyond, the one that ends first goes, whoever asked for it. Who lets them in heeds
    /// that it does not come to this.
    pub const MOST: usize = 10_000;

    /// A request that came at `created` (milliseconds) for nothing in particular, to be led back to
    /// `redirect`, which it did not name.
    pub fn new(id: Hash, browser: Hash, client: String, redirect: String, created: u64) -> Self {
        Self {
            id,
            browser,
            client,
            redirect,
            redirect_sent: false,
            scopes: Vec::new(),
            details: Vec::new(),
            resource: Vec::new(),
            state: None,
            challenge: None,
            handle: None,
            relogin: false,
            reconsent: false,
            max_age: None,
            hint: None,
            created,
            end: created + PENDING_MS,
        }
    }
}

record! {
    /// A pushed authorization request.
    pub struct Pushed {
        /// Hash of its handle.
        pub id: Hash,
        /// Whose.
        pub client: String,
        /// Its parameters.
        pub params: Vec<(String, String)>,
        /// When it ends, in milliseconds: nobody begins with it from then on.
        pub end: u64,
        /// A person who began with it in time has until then to decide.
        pub kept: Option<u64>,
    }
}

impl Pushed {
    /// When nobody needs it any more.
    pub fn forgotten(&self) -> u64 {
        self.kept.map_or(self.end, |kept| kept.max(self.end))
    }
}

word! {
    /// Where a device stands.
    pub enum DeviceState {
        /// Nobody has answered.
        Waiting = "waiting",
        /// Allowed.
        Allowed = "allowed",
        /// Refused.
        Refused = "refused",
    }
}

record! {
    /// A device that waits for somebody to let it in.
    pub struct Device {
        /// Hash of its device code.
        pub id: Hash,
        /// What the person types, without dash.
        pub user_code: String,
        /// To whom.
        pub client: String,
        /// What is asked, then what was granted.
        pub scopes: Vec<String>,
        /// For which resources.
        pub resource: Vec<String>,
        /// Where it stands.
        pub state: DeviceState,
        /// Who allowed it.
        pub user: Option<String>,
        /// That user's number.
        pub uid: u64,
        /// Seconds between polls.
        pub interval: u64,
        /// The last poll, in milliseconds.
        pub polled: Option<u64>,
        /// When it ends.
        pub end: u64,
        /// The owner was asked to let the application keep access while they are away (`offline_access`), and did not:
        /// it gets no refresh token. None of such from before it was kept.
        pub without_refresh: Option<bool>,
        /// When its owner allowed it, in milliseconds: what refreshes lives from then on. None of such from before it was
        /// kept.
        pub begun: Option<u64>,
    }
}

impl Device {
    /// How long a device code lives, in milliseconds.
    pub const LIFE_MS: u64 = 600_000;

    /// Seconds between a device's questions, as long as it keeps to them.
    pub const INTERVAL_S: u64 = 5;

    /// For so long after its end a device is still told that it was too late, in milliseconds.
    const TOLD_MS: u64 = Self::LIFE_MS;

    /// When nobody is told of it any more.
    pub fn forgotten(&self) -> u64 {
        self.end.saturating_add(Self::TOLD_MS)
    }

    /// A device that began to wait at `created` (milliseconds).
    pub fn new(
        id: Hash,
        user_code: String,
        client: String,
        scopes: Vec<String>,
        created: u64,
    ) -> Self {
        Self {
            id,
            user_code,
            client,
            scopes,
            resource: Vec::new(),
            state: DeviceState::Waiting,
            user: None,
            uid: 0,
            interval: Self::INTERVAL_S,
            polled: None,
            end: created + Self::LIFE_MS,
            without_refresh: None,
            begun: None,
        }
    }
}

record! {
    /// A consent that is remembered.
    pub struct Consent {
        /// Who.
        pub user: String,
        /// That user's number.
        pub uid: u64,
        /// To whom.
        pub client: String,
        /// The client's version then.
        pub version: u64,
        /// Origin of the redirect.
        pub origin: String,
        /// What was granted.
        pub scopes: Vec<String>,
        /// Its owner kept back `offline_access`, which was asked for: no refresh token follows from it either.
        pub without_refresh: Option<bool>,
    }
}

record! {
    /// A grant ended because a refresh token of it came twice: told on its owner's page.
    pub struct Notice {
        /// The grant.
        pub grant: u64,
        /// Whose.
        pub user: String,
        /// That user's number.
        pub uid: u64,
        /// The application's name at that time.
        pub app: String,
        /// When, in milliseconds.
        pub at: u64,
        /// It is told until then.
        pub end: u64,
    }
}

/// A grant's meaning for the gate: the roles that its scopes and details stand for.
pub type Meaning = Arc<[Arc<Role>]>;
