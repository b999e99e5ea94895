//! Sessions of people at the pages.

use crate::form::{Hash, record};

record! {
    /// A session.
    pub struct Session {
        /// Hash of its cookie.
        pub id: Hash,
        /// Who.
        pub user: String,
        /// That user's number.
        pub uid: u64,
        /// When its person last gave the password, in milliseconds.
        pub auth_time: u64,
        /// When it was last seen.
        pub seen: u64,
        /// It ends then in any case.
        pub end: u64,
        /// The browser, for the list of sessions.
        pub agent: Option<String>,
        /// The address, for the list of sessions.
        pub address: Option<String>,
    }
}
