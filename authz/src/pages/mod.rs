//! Pages for people: whole documents made on the server, usable without scripts, by keyboard, by
//! screen reader, from 320 pixels to wide, in light and dark.
//!
//! A page is a function from plain data to HTML; it looks nothing up and decides nothing. Text is
//! escaped by the template language, so a name chosen by a stranger stays text; inside a sentence it stands
//! in `bdi`, so that a script that runs to the left does not turn what follows.
//!
//! It is written in one of our languages, which it gets with its data ([`language`]).
//!
//! | page | shows |
//! |---|---|
//! | [`login`] | the form that asks who is there |
//! | [`consent`] | what an application asks for, and who it is |
//! | [`condition`], [`kept`], [`words`], [`quoted`], [`marks`] | (no pages: filters and scopes in plain words, and what strangers wrote in them) |
//! | [`account`] | applications let in, sessions, the password |
//! | [`apps`] | a developer's applications and their form |
//! | [`review`] | what waits for a reviewer |
//! | [`device`] | the code that a device shows |
//! | [`problem`] | what went wrong, where no redirect may happen |

pub mod account;
pub mod apps;
pub mod condition;
pub mod consent;
pub mod device;
pub mod kept;
pub mod language;
pub mod layout;
pub mod login;
pub mod marks;
pub mod problem;
pub mod quoted;
pub mod review;
pub mod words;

#[cfg(test)]
mod spoken_tests;

/// The one style sheet of all pages.
pub const STYLE: &str = include_str!("style.css");
