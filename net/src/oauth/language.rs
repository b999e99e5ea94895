//! In which language the pages of a request are: the one that its address asks for (`ui_locales`), else its header
//! (`Accept-Language`), else English.
//!
//! What an address asked for goes on in the addresses of all pages that come of it, so that a person who was sent here
//! to decide, and mistypes a password meanwhile, reads one language. Nothing is kept of it, neither in a cookie nor in
//! the state; and what goes on is the tag of a language of ours, nothing that a stranger wrote.

use authz::pages::language::{Language, PARAMETER, Texts};
use authz::pages::layout::Person;
use env::Env;

use super::form::Form;
use super::visit::{SignedIn, Visit};

/// The language that a form asks for, of those that are spoken here.
pub fn asked(form: &Form) -> Option<Language> {
    form.first(PARAMETER).and_then(Language::of_locales)
}

impl<E: Env> Visit<'_, E> {
    /// The language of its pages.
    pub fn language(&self) -> Language {
        self.asked_language().or_else(|| self.accepted_language()).unwrap_or_default()
    }

    /// Of a text the one in that language.
    pub fn say(&self, texts: Texts) -> &'static str {
        self.language().say(texts)
    }

    /// The request is what was pushed before, and not what its own address says.
    pub fn is_as_pushed(&self, pushed: &Form) {
        let is_first = self.asked_language.set(asked(pushed)).is_ok();
        debug_assert!(is_first, "a page was made before the request was read");
    }

    /// The language that it asks for, where it does.
    pub fn asked_language(&self) -> Option<Language> {
        *self.asked_language.get_or_init(|| asked(&Form::parse(self.query).ok()?))
    }

    fn accepted_language(&self) -> Option<Language> {
        let lines = self.head.all("accept-language");
        let lines: Vec<&str> = lines.filter_map(|line| std::str::from_utf8(line).ok()).collect();
        Language::accepted(&lines.join(","))
    }

    /// The address of a page of ours to which this request leads, in the language that it asked for.
    pub fn onward(&self, path: &str) -> String {
        match self.asked_language() {
            None => path.to_owned(),
            Some(language) => {
                let separator = if path.contains('?') { '&' } else { '?' };
                format!("{path}{separator}{PARAMETER}={}", language.tag())
            }
        }
    }

    /// Somebody, for the bar of a page.
    pub fn person<'s>(&self, signed_in: &'s SignedIn) -> Person<'s> {
        Person {
            name: &signed_in.user.name,
            csrf: &signed_in.sign_out,
            reviews: signed_in.reviews,
            language: self.language(),
        }
    }
}
