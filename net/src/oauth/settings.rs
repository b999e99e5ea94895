//! Settings of the OAuth half: one list of names, with their defaults and limits.

use authz::record::grant::Pending;

use super::proxy::Proxies;

/// Who may register clients by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// Nobody.
    Closed,
    /// Who has an initial access token.
    Token,
    /// Everybody; such clients are not reviewed.
    Open,
}

/// How the OAuth half is set up. Times are milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The issuer, without a slash at its end.
    pub issuer: String,
    /// Life of a code.
    pub code: u64,
    /// Life of an access token.
    pub access_token: u64,
    /// A refresh token unused so long ends.
    pub refresh_idle: u64,
    /// A family ends after this in any case.
    pub refresh_absolute: u64,
    /// Within this a refresh token may come again and gets the same successor.
    pub reuse_interval: u64,
    /// Every client must use PKCE.
    pub pkce_required: bool,
    /// The redirect URI must be repeated at the token endpoint, as RFC 6749 says.
    pub strict_redirect: bool,
    /// Who may register.
    pub registration: Registration,
    /// The token that mode `token` wants.
    pub registration_token: Option<String>,
    /// Every client must push its requests.
    pub par_required: bool,
    /// Devices may ask.
    pub device: bool,
    /// What tokens begin with.
    pub token_prefix: String,
    /// Proxies whose `X-Forwarded-For` counts.
    pub proxies: Proxies,
    /// Threads that hash passwords.
    pub hashing_threads: u64,
    /// Passwords that may wait to be hashed.
    pub hashing_queue: u64,
    /// A session unused so long ends.
    pub session_idle: u64,
    /// A session ends after this in any case.
    pub session_absolute: u64,
    /// Limits a second, a minute or an hour; 0 is off.
    pub limits: Limits,
}

/// How often something may be done; 0 is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests of applications that wait for a person, of an address or account a minute.
    pub authorize: u64,
    /// Those that wait in all.
    pub waiting: u64,
    /// Token requests of a client a second.
    pub token: u64,
    /// Failed client authentications of a client and address a minute.
    pub client_auth: u64,
    /// Pushed requests and device requests of a client a second.
    pub par: u64,
    /// Registrations of an address an hour.
    pub register: u64,
    /// Applications of one account that no reviewer has approved.
    pub unapproved: u64,
    /// Applications that registered by themselves and never got a token.
    pub unused: u64,
    /// Sign-ins of an address a minute.
    pub login: u64,
    /// Failed sign-ins of an account before delays begin.
    pub login_failures: u64,
    /// Device codes typed of an address a minute.
    pub device: u64,
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl Settings {
    /// The defaults, for this issuer.
    pub fn new(issuer: &str) -> Self {
        Self {
            issuer: issuer.trim_end_matches('/').to_owned(),
            code: 60 * SECOND,
            access_token: 1200 * SECOND,
            refresh_idle: 30 * DAY,
            refresh_absolute: 90 * DAY,
            reuse_interval: 3 * SECOND,
            pkce_required: false,
            strict_redirect: false,
            registration: Registration::Closed,
            registration_token: None,
            par_required: false,
            device: true,
            token_prefix: authz::token::text::PREFIX.to_owned(),
            proxies: Proxies::default(),
            hashing_threads: 1,
            hashing_queue: 64,
            session_idle: 30 * MINUTE,
            session_absolute: 12 * HOUR,
            limits: Limits {
                authorize: 600,
                waiting: Pending::MOST as u64,
                token: 50,
                client_auth: 10,
                par: 10,
                register: 10,
                unapproved: 20,
                unused: 1_000,
                login: 30,
                login_failures: 5,
                device: 20,
            },
        }
    }

    /// Names of all settings but `oauth.enabled` and `oauth.issuer`, sorted.
    pub const NAMES: &'static [&'static str] = &[
        "oauth.access_token.ttl",
        "oauth.audit.strict",
        "oauth.code.ttl",
        "oauth.device.enabled",
        "oauth.hashing.queue",
        "oauth.hashing.threads",
        "oauth.limit.authorize",
        "oauth.limit.client_auth",
        "oauth.limit.device",
        "oauth.limit.login",
        "oauth.limit.login_failures",
        "oauth.limit.par",
        "oauth.limit.register",
        "oauth.limit.token",
        "oauth.limit.unapproved",
        "oauth.limit.unused",
        "oauth.limit.waiting",
        "oauth.login.throttle.failures",
        "oauth.login.throttle.per_minute",
        "oauth.par.required",
        "oauth.pkce.require_all",
        "oauth.refresh_token.absolute_ttl",
        "oauth.refresh_token.idle_ttl",
        "oauth.refresh_token.reuse_interval",
        "oauth.registration.mode",
        "oauth.registration.token",
        "oauth.session.absolute_ttl",
        "oauth.session.idle_ttl",
        "oauth.strict_redirect_uri",
        "oauth.token_prefix",
        "oauth.trusted_proxies",
        "oauth.ttl.access_token",
        "oauth.ttl.code",
        "oauth.ttl.refresh_token",
    ];

    /// Those whose values are secrets.
    pub const SECRETS: [&'static str; 1] = ["oauth.registration.token"];

    /// Sets one by its name.
    ///
    /// # Errors
    /// What would be right.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "oauth.code.ttl" | "oauth.ttl.code" => self.code = time(value, SECOND, 600 * SECOND)?,
            "oauth.access_token.ttl" | "oauth.ttl.access_token" => {
                self.access_token = time(value, SECOND, HOUR)?;
            }
            "oauth.refresh_token.idle_ttl" | "oauth.ttl.refresh_token" => {
                self.refresh_idle = time(value, SECOND, 365 * DAY)?;
            }
            "oauth.refresh_token.absolute_ttl" => {
                self.refresh_absolute = time(value, SECOND, 365 * DAY)?;
            }
            "oauth.refresh_token.reuse_interval" => {
                self.reuse_interval = time(value, 0, MINUTE)?;
            }
            "oauth.pkce.require_all" => self.pkce_required = truth(value)?,
            "oauth.strict_redirect_uri" => self.strict_redirect = truth(value)?,
            "oauth.par.required" => self.par_required = truth(value)?,
            "oauth.device.enabled" => self.device = truth(value)?,
            "oauth.session.idle_ttl" => self.session_idle = time(value, SECOND, DAY)?,
            "oauth.session.absolute_ttl" => self.session_absolute = time(value, SECOND, 30 * DAY)?,
            "oauth.registration.mode" => {
                self.registration = match value {
                    "closed" => Registration::Closed,
                    "token" => Registration::Token,
                    "open" => Registration::Open,
                    _ => return Err("closed, token or open".to_owned()),
                };
            }
            "oauth.registration.token" => {
                if value.len() < 16 {
                    return Err("at least 16 characters".to_owned());
                }
                self.registration_token = Some(value.to_owned());
            }
            "oauth.limit.authorize" => self.limits.authorize = count(value)?,
            "oauth.limit.waiting" => {
                self.limits.waiting = within(value, 1, Pending::MOST as u64)?;
            }
            "oauth.limit.token" => self.limits.token = count(value)?,
            "oauth.limit.client_auth" => self.limits.client_auth = count(value)?,
            "oauth.limit.par" => self.limits.par = count(value)?,
            "oauth.limit.register" => self.limits.register = count(value)?,
            "oauth.limit.unapproved" => self.limits.unapproved = count(value)?,
            "oauth.limit.unused" => self.limits.unused = count(value)?,
            "oauth.limit.login" | "oauth.login.throttle.per_minute" => {
                self.limits.login = count(value)?;
            }
            "oauth.limit.login_failures" | "oauth.login.throttle.failures" => {
                self.limits.login_failures = count(value)?;
            }
            "oauth.hashing.threads" => self.hashing_threads = within(value, 1, 64)?,
            // Whoever opens the log reads it, which there is without this half, too.
            "oauth.audit.strict" => _ = truth(value)?,
            "oauth.hashing.queue" => self.hashing_queue = within(value, 1, 10_000)?,
            "oauth.token_prefix" => {
                if !authz::token::text::is_prefix(value) {
                    return Err("1 to 16 letters, digits and underscores".to_owned());
                }
                self.token_prefix = value.to_owned();
            }
            "oauth.trusted_proxies" => self.proxies = Proxies::parse(value)?,
            "oauth.limit.device" => self.limits.device = count(value)?,
            _ => return Err("a setting of the OAuth half".to_owned()),
        }
        Ok(())
    }

    /// Whether they fit each other.
    ///
    /// # Errors
    /// The setting that is missing or wrong beside the others, and what would be right.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if self.registration == Registration::Token && self.registration_token.is_none() {
            let wanted =
                "a token of at least 16 characters where [oauth.registration.mode] is token";
            return Err(("oauth.registration.token", wanted.to_owned()));
        }
        Ok(())
    }

    /// Host, and port where it is named, of the issuer.
    pub fn authority(&self) -> &str {
        let rest = self.issuer.split_once("://").map_or("", |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or("")
    }

    /// Path of the issuer, such as `/es`; empty where it has none.
    pub fn base_path(&self) -> &str {
        let rest = self.issuer.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').map_or("", |at| &rest[at..])
    }

    /// The store as a resource (RFC 9728): at the root, whatever path the issuer has.
    pub fn resource(&self) -> &str {
        self.issuer.strip_suffix(self.base_path()).unwrap_or(&self.issuer)
    }

    /// Origin of the issuer, as browsers write it.
    pub fn origin(&self) -> String {
        let scheme = self.issuer.split_once("://").map_or("https", |(scheme, _)| scheme);
        plain_origin(&format!("{scheme}://{}", self.authority()))
    }

    /// Is this the issuer's origin, however it is written?
    pub fn is_own_origin(&self, origin: &str) -> bool {
        plain_origin(origin) == self.origin()
    }

    /// The issuer's host is an address rather than a name.
    pub fn is_address(&self) -> bool {
        let authority = self.authority();
        authority.starts_with('[')
            || authority
                .split(':')
                .next()
                .is_some_and(|host| host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    }
}

/// An origin as browsers write it (RFC 6454, section 6.1): in lower case, without the port that nobody writes.
fn plain_origin(origin: &str) -> String {
    let origin = origin.to_ascii_lowercase();
    let usual = if origin.starts_with("http://") { ":80" } else { ":443" };
    origin.strip_suffix(usual).unwrap_or(&origin).to_owned()
}

fn truth(value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("true or false".to_owned()),
    }
}

fn count(value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| "a whole number, 0 for no limit".to_owned())
}

fn within(value: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("a whole number between {least} and {most}"))
}

/// A time such as `60s`, `20m`, `12h`, `30d`; a bare number is seconds.
fn time(value: &str, least: u64, most: u64) -> Result<u64, String> {
    let wanted = || {
        format!("a time between {} s and {} s, such as 60s or 20m", least / SECOND, most / SECOND)
    };
    let at = value.find(|char: char| !char.is_ascii_digit()).unwrap_or(value.len());
    let (digits, unit) = value.split_at(at);
    let factor = match unit {
        "" | "s" => SECOND,
        "ms" => 1,
        "m" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        _ => return Err(wanted()),
    };
    let number: u64 = digits.parse().map_err(|_| wanted())?;
    let time = number.checked_mul(factor).ok_or_else(wanted)?;
    if (least..=most).contains(&time) { Ok(time) } else { Err(wanted()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_can_be_set_and_they_are_sorted() {
        assert!(Settings::NAMES.is_sorted());
        let mut settings = Settings::new("https://a.example/");
        assert_eq!(settings.issuer, "https://a.example");
        for name in Settings::NAMES {
            let good = ["true", "60", "closed", "0123456789abcdef", "10.0.0.0/8"]
                .iter()
                .any(|value| settings.set(name, value).is_ok());
            assert!(good, "{name} cannot be set");
            assert!(settings.set(name, "?").is_err(), "{name} takes anything");
        }
        assert!(settings.set("oauth.nope", "true").is_err());
        for bad in ["", "a b", "core-", &"x".repeat(17)] {
            assert!(settings.set("oauth.token_prefix", bad).is_err(), "{bad}");
        }
        assert!(settings.set("oauth.hashing.threads", "0").is_err());
    }

    #[test]
    fn times_have_units_and_bounds() {
        let mut settings = Settings::new("https://a.example");
        settings.set("oauth.code.ttl", "2m").expect("two minutes");
        assert_eq!(settings.code, 120_000);
        assert!(settings.set("oauth.code.ttl", "11m").is_err(), "600 s is the limit");
        assert!(settings.set("oauth.code.ttl", "99999999999999999999s").is_err());
    }

    #[test]
    fn the_origin_is_what_a_browser_calls_it() {
        let settings = Settings::new("https://auth.example:9200/base");
        assert_eq!(settings.origin(), "https://auth.example:9200");
        assert_eq!(settings.base_path(), "/base");
        assert_eq!(settings.resource(), "https://auth.example:9200");
        // An operator wrote capitals, and no form of our own pages was taken any more.
        let capitals = Settings::new("https://AUTH.Example:443/Base");
        assert_eq!(capitals.origin(), "https://auth.example");
        assert_eq!(capitals.base_path(), "/Base");
        for own in ["https://auth.example", "https://auth.example:443", "HTTPS://Auth.Example"] {
            assert!(capitals.is_own_origin(own), "{own}");
        }
        for other in
            ["http://auth.example", "https://auth.example:80", "https://auth.example.", "", "null"]
        {
            assert!(!capitals.is_own_origin(other), "{other}");
        }
        assert!(!settings.is_own_origin("https://auth.example"));
        assert_eq!(Settings::new("https://auth.example/a/b/").base_path(), "/a/b");
        assert_eq!(Settings::new("https://auth.example/").base_path(), "");
        assert_eq!(Settings::new("https://auth.example/a/b/").resource(), "https://auth.example");
        assert_eq!(Settings::new("https://Auth.example/").resource(), "https://Auth.example");
        assert!(!settings.is_address());
        assert!(Settings::new("https://127.0.0.1:9200").is_address());
        assert!(Settings::new("https://[::1]:9200").is_address());
    }
}
