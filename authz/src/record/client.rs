//! Clients: applications that owners may let in.

use crate::form::{Hash, record, word};
use crate::record::key::Salted;

word! {
    /// Where a client stands.
    pub enum Status {
        /// Waits for a reviewer.
        Pending = "pending",
        /// May authorize and use tokens.
        Approved = "approved",
        /// A reviewer said no.
        Rejected = "rejected",
        /// May do nothing for now.
        Suspended = "suspended",
    }
}

word! {
    /// What kind of application it is.
    pub enum ApplicationType {
        /// On a server.
        Web = "web",
        /// On a person's machine.
        Native = "native",
        /// In a browser.
        Browser = "browser",
        /// Acts for itself.
        Service = "service",
    }
}

record! {
    /// A client's secret.
    pub struct ClientSecret {
        /// As it is kept.
        pub secret: Salted,
        /// It counts until then, in milliseconds; none is for ever.
        pub end: Option<u64>,
    }
}

record! {
    /// A logo, recognised by its content.
    pub struct Logo {
        /// Its type.
        pub kind: String,
        /// Its bytes in base64.
        pub data: String,
    }
}

record! {
    /// What a client says of itself, and what a reviewer sees.
    pub struct Profile {
        /// What kind of application it is.
        pub application_type: ApplicationType,
        /// Its name.
        pub name: String,
        /// Where answers may go.
        pub redirect_uris: Vec<String>,
        /// Its logo.
        pub logo: Option<Logo>,
        /// Its page.
        pub client_uri: Option<String>,
        /// For the consent page.
        pub description: Option<String>,
        /// Its privacy statement.
        pub policy_uri: Option<String>,
        /// Its terms.
        pub tos_uri: Option<String>,
        /// Who answers questions.
        pub contacts: Vec<String>,
        /// Scopes it may ask for: its ceiling.
        pub scopes: Vec<String>,
        /// Why it wants them, for the reviewer.
        pub scope_reason: Option<String>,
        /// It can keep a secret.
        pub confidential: bool,
        /// It must use PKCE.
        pub require_pkce: bool,
    }
}

record! {
    /// What a change says beside the profile: it waits for a reviewer with it.
    pub struct Terms {
        /// How the client would say who it is.
        pub auth_method: String,
        /// Grants it would use.
        pub grant_types: Vec<String>,
        /// It would have to push its requests.
        pub require_par: bool,
    }
}

record! {
    /// A client.
    pub struct Client {
        /// Number of its registration.
        pub reference: String,
        /// Its id, from approval on.
        pub client_id: Option<String>,
        /// Where it stands.
        pub status: Status,
        /// Who registered it.
        pub owner: Option<String>,
        /// That user's number: a later user of the same name is another. Filled in when the client is
        /// kept; none in what was kept before it was told apart.
        pub owner_uid: Option<u64>,
        /// What it says of itself.
        pub profile: Profile,
        /// A change that waits for a reviewer.
        pub proposal: Option<Profile>,
        /// What else changes with it; none where that follows from the profile.
        pub proposal_terms: Option<Terms>,
        /// Its secrets; at most two at a time.
        pub secrets: Vec<ClientSecret>,
        /// How it says who it is: `client_secret_basic`, `client_secret_post`, `none`.
        pub auth_method: String,
        /// Grants it may use.
        pub grant_types: Vec<String>,
        /// What it gets where it asks for nothing.
        pub default_scope: Vec<String>,
        /// Plain HTTP beyond loopback was allowed by a reviewer.
        pub allow_insecure_redirect: bool,
        /// It must push its requests.
        pub require_par: bool,
        /// Origins whose scripts may read answers.
        pub web_origins: Vec<String>,
        /// Types of `authorization_details` it may use.
        pub details_types: Vec<String>,
        /// The user whose rights it uses when it acts for itself.
        pub service_account: Option<String>,
        /// That user's number, as with `owner_uid`.
        pub service_uid: Option<u64>,
        /// Nobody has reviewed it: it registered by itself.
        pub unreviewed: bool,
        /// Hash of the token that manages its registration.
        pub registration: Option<Hash>,
        /// What the reviewer said.
        pub note: Option<String>,
        /// When it came, in milliseconds.
        pub created: u64,
        /// Grows with each change.
        pub version: u64,
        /// Grants below this number are dead: it was suspended.
        pub grants_from: u64,
        /// When it last got a token, in milliseconds and to the day; kept of unreviewed clients alone.
        pub last_used: Option<u64>,
    }
}

impl Profile {
    /// A confidential application of this kind and name: no addresses, no scopes, PKCE as it likes.
    pub fn new(application_type: ApplicationType, name: impl Into<String>) -> Self {
        Self {
            application_type,
            name: name.into(),
            redirect_uris: Vec::new(),
            logo: None,
            client_uri: None,
            description: None,
            policy_uri: None,
            tos_uri: None,
            contacts: Vec::new(),
            scopes: Vec::new(),
            scope_reason: None,
            confidential: true,
            require_pkce: false,
        }
    }
}

impl Client {
    /// A client that waits for a reviewer and may do nothing yet: without id, secrets, grants or owner.
    /// `created` is in milliseconds.
    pub fn new(reference: String, profile: Profile, created: u64) -> Self {
        Self {
            reference,
            client_id: None,
            status: Status::Pending,
            owner: None,
            owner_uid: None,
            profile,
            proposal: None,
            proposal_terms: None,
            secrets: Vec::new(),
            auth_method: "none".into(),
            grant_types: Vec::new(),
            default_scope: Vec::new(),
            allow_insecure_redirect: false,
            require_par: false,
            web_origins: Vec::new(),
            details_types: Vec::new(),
            service_account: None,
            service_uid: None,
            unreviewed: false,
            registration: None,
            note: None,
            created,
            version: 0,
            grants_from: 0,
            last_used: None,
        }
    }

    /// A client that nobody reviewed goes when it got no token for so long, in milliseconds.
    pub const UNUSED_MS: u64 = 90 * 24 * 60 * 60 * 1000;

    /// When it goes by itself, in milliseconds; a reviewed one does not.
    pub fn end(&self) -> Option<u64> {
        let seen = self.last_used.unwrap_or(self.created);
        self.unreviewed.then(|| seen.saturating_add(Self::UNUSED_MS))
    }

    /// The newest secret goes on for so long beside a new one, in milliseconds.
    const OVERLAP_MS: u64 = 24 * 60 * 60 * 1000;

    /// May it be given a secret? It has an id then, and says that it can keep one.
    pub fn may_have_secret(&self) -> bool {
        self.profile.confidential && self.client_id.is_some() && self.status != Status::Rejected
    }

    /// Its secrets after one more, which comes at `now` in milliseconds: the newest that still counts goes on
    /// for a day, older ones end.
    pub fn secrets_with(&self, new: ClientSecret, now: u64) -> Vec<ClientSecret> {
        let kept = self.secrets.iter().rev().find(|one| one.end.is_none_or(|end| end > now));
        let kept = kept.cloned().map(|one| ClientSecret {
            end: Some(one.end.unwrap_or(u64::MAX).min(now.saturating_add(Self::OVERLAP_MS))),
            ..one
        });
        kept.into_iter().chain([new]).collect()
    }

    /// May it authorize and use tokens?
    pub fn is_approved(&self) -> bool {
        self.status == Status::Approved
    }

    /// Is this one of its secrets, still good? Each is compared, whichever fits.
    pub fn knows(&self, secret: &[u8], now_ms: u64) -> bool {
        let mut is_known = false;
        for one in &self.secrets {
            is_known |= one.secret.is(secret) & one.end.is_none_or(|end| now_ms < end);
        }
        if self.secrets.is_empty() {
            Salted::nobody().is(secret);
        }
        is_known
    }

    /// May it use this grant type?
    pub fn may(&self, grant_type: &str) -> bool {
        self.grant_types.iter().any(|known| known == grant_type)
    }
}
