//! What a client may say of itself: one set of rules for the form, for the API and for dynamic
//! registration.

use std::collections::BTreeSet;

use authz::oauth::scope;
use authz::pages::apps::{Fields, Refused};
use authz::pages::language::Texts;
use authz::pages::marks;
use authz::pages::quoted::is_unseen;
use authz::record::client::{ApplicationType, Logo, Profile};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::form::Form;
use super::multipart::File;
use super::picture;
use super::redirect::{self, Rules};

/// Contacts of an application.
pub const CONTACTS_MAX: usize = 10;

/// Bytes of one: as many as a mail address may have.
const CONTACT_BYTES_MAX: usize = 254;

/// Characters of a name.
const NAME_CHARACTERS_MAX: usize = 64;

/// Bytes of a text for people.
const TEXT_BYTES_MAX: usize = 4000;

/// Callback addresses of one client.
const REDIRECTS_MAX: usize = 20;

// The audit log holds them all.
const _: () = assert!(REDIRECTS_MAX <= authz::audit::ELEMENTS_MAX);

/// Origins of one client.
const ORIGINS_MAX: usize = 20;

/// Bytes of a logo.
const LOGO_BYTES_MAX: usize = 256 << 10;

/// Pixels of a logo's side.
const LOGO_SIDE_MAX: u32 = 1024;

/// Makes a refusal.
pub fn refused(field: &'static str, why: Texts) -> Refused {
    Refused { field, why: why.map(str::to_owned) }
}

/// What stands in the form's fields, as it was posted.
pub fn fields(form: &Form) -> Fields {
    let text = |name: &str| form.text(name).to_owned();
    Fields {
        application_type: text("application_type"),
        client_name: text("client_name"),
        redirect_uris: text("redirect_uris"),
        client_uri: text("client_uri"),
        description: text("description"),
        policy_uri: text("policy_uri"),
        tos_uri: text("tos_uri"),
        contacts: text("contacts"),
        scope: text("scope"),
        scope_reason: text("scope_reason"),
        public: form.text("confidential") == "public",
        require_pkce: form.first("require_pkce").is_some(),
    }
}

/// What a client says of itself, for the form's fields.
pub fn shown(profile: &Profile) -> Fields {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Fields {
        application_type: profile.application_type.as_str().to_owned(),
        client_name: profile.name.clone(),
        redirect_uris: profile.redirect_uris.join("\n"),
        client_uri: text(&profile.client_uri),
        description: text(&profile.description),
        policy_uri: text(&profile.policy_uri),
        tos_uri: text(&profile.tos_uri),
        contacts: profile.contacts.join(" "),
        scope: profile.scopes.join(" "),
        scope_reason: text(&profile.scope_reason),
        public: !profile.confidential,
        require_pkce: profile.require_pkce,
    }
}

/// Whether an application must name where answers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callbacks {
    /// Unless it acts for itself.
    Wanted,
    /// It uses no grant that leads anybody back.
    Unused,
}

/// Checks the fields of the form.
///
/// # Errors
/// The field that is refused, and why.
pub fn check(
    fields: &Fields,
    logo: Option<Logo>,
    own_origin: &str,
    callbacks: Callbacks,
) -> Result<Profile, Refused> {
    let application_type = ApplicationType::of(&fields.application_type).ok_or_else(|| {
        refused(
            "application_type",
            ["choose one of the four kinds", "wählen Sie eine der vier Arten"],
        )
    })?;
    let confidential = !fields.public;
    if application_type == ApplicationType::Browser && confidential {
        return Err(refused(
            "confidential",
            [
                "a program in a browser cannot keep a secret",
                "ein Programm in einem Browser kann kein Geheimnis wahren",
            ],
        ));
    }
    if application_type == ApplicationType::Service && !confidential {
        return Err(refused(
            "confidential",
            [
                "a service acts for itself, and shows by a secret who it is",
                "ein Dienst handelt für sich selbst und weist sich mit einem Geheimnis aus",
            ],
        ));
    }
    let optional = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    let redirect_uris: Vec<String> = fields
        .redirect_uris
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    check_redirects(&redirect_uris, application_type, confidential, own_origin)?;
    let needs_none = application_type == ApplicationType::Service || callbacks == Callbacks::Unused;
    if redirect_uris.is_empty() && !needs_none {
        return Err(refused(
            "redirect_uris",
            [
                "at least one callback address is needed",
                "mindestens eine Rücksprungadresse ist nötig",
            ],
        ));
    }
    for (field, text) in
        [("description", &fields.description), ("scope_reason", &fields.scope_reason)]
    {
        check_text(field, text)?;
    }
    Ok(Profile {
        application_type,
        name: name(&fields.client_name).map_err(|why| refused("client_name", why))?,
        redirect_uris: once(redirect_uris),
        logo,
        client_uri: page("client_uri", &fields.client_uri)?,
        description: optional(&fields.description),
        policy_uri: page("policy_uri", &fields.policy_uri)?,
        tos_uri: page("tos_uri", &fields.tos_uri)?,
        contacts: contacts(&fields.contacts)?,
        scopes: scopes(fields.scope.trim()).ok_or_else(|| {
            refused("scope", ["a scope is malformed or unknown, or there are more than 50; they look like index:orders-*:read", "eine Berechtigung ist fehlerhaft oder unbekannt, oder es sind mehr als 50; sie sehen aus wie index:orders-*:read"])
        })?,
        scope_reason: optional(&fields.scope_reason),
        confidential,
        require_pkce: fields.require_pkce || !confidential,
    })
}

/// Callback addresses, each once, in their order.
pub fn once(uris: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    uris.into_iter().filter(|uri| seen.insert(uri.clone())).collect()
}

/// Checks callback addresses.
pub fn check_redirects(
    uris: &[String],
    application_type: ApplicationType,
    confidential: bool,
    own_origin: &str,
) -> Result<(), Refused> {
    if uris.iter().collect::<BTreeSet<_>>().len() > REDIRECTS_MAX {
        return Err(refused("redirect_uris", ["there are more than 20", "es sind mehr als 20"]));
    }
    let rules = Rules {
        native: application_type == ApplicationType::Native,
        plain_http: confidential,
        own_origin,
    };
    for (at, uri) in uris.iter().enumerate() {
        if let Some(why) = redirect::refusal(uri, rules) {
            let line = at + 1;
            let [english, german] = why;
            let why = [format!("line {line}: {english}"), format!("Zeile {line}: {german}")];
            return Err(Refused { field: "redirect_uris", why });
        }
    }
    Ok(())
}

/// Checks origins whose scripts may read answers.
///
/// # Errors
/// The field, and why.
pub fn check_origins(origins: &[String]) -> Result<(), Refused> {
    if origins.len() > ORIGINS_MAX {
        return Err(refused("web_origins", ["there are more than 20", "es sind mehr als 20"]));
    }
    match origins.iter().find(|origin| !redirect::is_origin(origin)) {
        None => Ok(()),
        Some(_) => Err(refused(
            "web_origins",
            [
                "an origin is written as https://host or https://host:port, where the port is not 443; http is \
                 for this computer alone",
                "eine Herkunft wird als https://host oder https://host:port geschrieben, wobei der Port nicht 443 \
                 ist; http gilt nur für diesen Rechner",
            ],
        )),
    }
}

/// A name: 1 to 64 characters after NFC that are what they look like, with such marks as words of any script need.
/// Blanks of whatever width are one space: nobody sees how many a page shows, and many push what stands behind them
/// away from the name.
pub fn name(text: &str) -> Result<String, Texts> {
    let mut name = String::new();
    for c in text.trim().nfc() {
        // What ends a line or moves about is refused below.
        match c.is_whitespace() && !is_unseen(c) {
            true if name.ends_with(' ') => {}
            true => name.push(' '),
            false => name.push(c),
        }
    }
    if !(1..=NAME_CHARACTERS_MAX).contains(&name.chars().count()) {
        return Err(["1 to 64 characters", "1 bis 64 Zeichen"]);
    }
    if name.chars().any(is_unseen) {
        return Err([
            "no control, direction or invisible characters",
            "keine Steuer- oder Richtungszeichen und keine unsichtbaren Zeichen",
        ]);
    }
    if !marks::are_bounded(&name) || !marks::stand_on_letters(&name) {
        return Err([
            "marks stand on letters, and not more of them than words need",
            "Zusatzzeichen stehen auf Buchstaben, und nicht mehr davon, als Wörter brauchen",
        ]);
    }
    Ok(name)
}

/// A page of the client's: https, nothing but an address.
fn page(field: &'static str, text: &str) -> Result<Option<String>, Refused> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if redirect::is_page(text) {
        Ok(Some(text.to_owned()))
    } else {
        Err(refused(field, ["an https address is needed", "eine https-Adresse ist nötig"]))
    }
}

fn check_text(field: &'static str, text: &str) -> Result<(), Refused> {
    let bad = |char: char| {
        is_unseen(char)
            && !matches!(char, '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}' | '\u{fe0f}')
    };
    if text.len() > TEXT_BYTES_MAX {
        return Err(refused(
            field,
            ["it is longer than 4000 bytes", "es ist länger als 4000 Bytes"],
        ));
    }
    if text.contains(bad) {
        return Err(refused(
            field,
            [
                "no control, direction or invisible characters",
                "keine Steuer- oder Richtungszeichen und keine unsichtbaren Zeichen",
            ],
        ));
    }
    if !marks::are_bounded(&text.nfc().collect::<String>()) {
        return Err(refused(
            field,
            [
                "not more marks on a letter than words need",
                "nicht mehr Zusatzzeichen auf einem Buchstaben, als Wörter brauchen",
            ],
        ));
    }
    Ok(())
}

/// Mail addresses, separated by spaces or commas.
fn contacts(text: &str) -> Result<Vec<String>, Refused> {
    let contacts: Vec<String> = text
        .split([' ', ',', '\n', '\r', '\t'])
        .filter(|one| !one.is_empty())
        .map(str::to_owned)
        .collect();
    let is_mail = |one: &String| one.contains('@') && is_plain_contact(one);
    if contacts.len() > CONTACTS_MAX || !contacts.iter().all(is_mail) {
        return Err(refused(
            "contacts",
            [
                "up to ten mail addresses, separated by spaces",
                "bis zu zehn E-Mail-Adressen, durch Leerzeichen getrennt",
            ],
        ));
    }
    Ok(contacts)
}

/// May a page show this contact? It is short, and what it looks like.
pub fn is_plain_contact(text: &str) -> bool {
    (1..=CONTACT_BYTES_MAX).contains(&text.len()) && !text.chars().any(is_unseen)
}

/// A list of scopes; nothing is an empty list.
pub fn scopes(text: &str) -> Option<Vec<String>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let list = scope::parse_list(text).ok()?;
    Some(list.iter().map(ToString::to_string).collect())
}

/// A logo, by its content: PNG, JPEG or WebP of bounded size.
pub fn logo(file: &File) -> Result<Logo, Refused> {
    const WRONG: Texts =
        ["a PNG, JPEG or WebP image is needed", "ein Bild als PNG, JPEG oder WebP ist nötig"];
    if file.bytes.len() > LOGO_BYTES_MAX {
        return Err(refused("logo", ["it is larger than 256 KiB", "es ist größer als 256 KiB"]));
    }
    let picture = picture::look(&file.bytes).ok_or_else(|| refused("logo", WRONG))?;
    let fits = |side: u32| (1..=LOGO_SIDE_MAX).contains(&side);
    if !fits(picture.width) || !fits(picture.height) {
        return Err(refused(
            "logo",
            ["it is empty, or larger than 1024×1024", "es ist leer oder größer als 1024×1024"],
        ));
    }
    if !picture::is_whole(&file.bytes, &picture) {
        return Err(refused(
            "logo",
            [
                "it is damaged, or something else hangs on it",
                "es ist beschädigt, oder etwas anderes hängt daran",
            ],
        ));
    }
    let kind = picture.kind.media_type();
    Ok(Logo { kind: kind.to_owned(), data: STANDARD.encode(&file.bytes) })
}

/// Does a change need another review? Anything that owners trust, and anything that widens.
pub fn needs_review(before: &Profile, after: &Profile) -> bool {
    let (ceiling, wanted) = (scope::stored(&before.scopes), scope::stored(&after.scopes));
    let is_wider = !scope::holds_all(&ceiling, &wanted);
    let is_new = |uri: &String| !before.redirect_uris.contains(uri);
    before.name != after.name
        || before.logo != after.logo
        || after.redirect_uris.iter().any(is_new)
        || before.application_type != after.application_type
        || before.confidential != after.confidential
        || (before.require_pkce && !after.require_pkce)
        || is_wider
}

/// Names that people could take for one another: equal after letters that look alike are made
/// one, or one change apart.
pub fn is_alike(a: &str, b: &str) -> bool {
    let (own, other) = (a, b);
    let (a, b) = (skeleton(a), skeleton(b));
    if a == b {
        // Of signs alone nothing is left to compare.
        return !a.is_empty() || own.nfkd().eq(other.nfkd());
    }
    a.chars().count() > 4 && is_one_change(&a, &b)
}

/// A name as the eye takes it: no case, no accents, no spaces, letters that look alike made one. Marks without which a
/// word is another stay.
fn skeleton(name: &str) -> String {
    let plain: String = name
        .nfkd()
        .filter(|c| c.is_alphanumeric() || is_combining_mark(*c))
        .filter(|c| !marks::is_slight(*c))
        .flat_map(char::to_lowercase)
        .map(look)
        .collect();
    plain.replace("rn", "m").replace("vv", "w").replace("cl", "d")
}

/// Letters of other scripts, and digits, that look like Latin ones.
fn look(char: char) -> char {
    match char {
        'а' | 'α' | 'ɑ' => 'a',
        'ь' | 'в' | 'β' | '8' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' | 'є' | '3' => 'e',
        'ɡ' | '9' => 'g',
        'һ' | 'н' => 'h',
        'і' | 'ι' | 'ı' | '1' | 'l' | '|' | 'ӏ' | 'ј' | 'j' => 'i',
        'к' | 'κ' => 'k',
        'м' | 'μ' => 'm',
        'п' | 'η' => 'n',
        'о' | 'ο' | 'σ' | '0' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' | '5' => 's',
        'т' | 'τ' | '7' => 't',
        'υ' | 'ս' => 'u',
        'ν' => 'v',
        'ш' | 'ω' | 'ѡ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'ᴢ' | '2' => 'z',
        other => other,
    }
}

/// One letter more, less or other.
fn is_one_change(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let front = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let most = a.len().min(b.len()) - front;
    let back = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    a.len().max(b.len()) - front - back <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Fields {
        Fields {
            application_type: "web".into(),
            client_name: " Chart ".into(),
            redirect_uris: "https://app.example/cb\r\n\r\nhttps://app.example/two\r\n".into(),
            scope: "index:orders-*:read self".into(),
            contacts: "a@b.example, c@d.example".into(),
            require_pkce: true,
            ..Fields::default()
        }
    }

    #[test]
    fn a_good_form_becomes_a_profile() {
        let profile =
            check(&good(), None, "https://store.example", Callbacks::Wanted).expect("good");
        assert_eq!(profile.name, "Chart");
        assert_eq!(profile.redirect_uris, ["https://app.example/cb", "https://app.example/two"]);
        assert_eq!(profile.contacts, ["a@b.example", "c@d.example"]);
        assert!(profile.confidential && profile.require_pkce);
        assert_eq!(shown(&profile).scope, "index:orders-*:read self");
    }

    #[test]
    fn each_bad_field_is_named() {
        let bad = |change: fn(&mut Fields)| {
            let mut fields = good();
            change(&mut fields);
            check(&fields, None, "https://store.example", Callbacks::Wanted)
                .expect_err("refused")
                .field
        };
        assert_eq!(bad(|f| f.application_type = "tv".into()), "application_type");
        assert_eq!(bad(|f| f.client_name = "a\u{202e}b".into()), "client_name");
        assert_eq!(bad(|f| f.client_name = "a\u{fffc}b".into()), "client_name");
        assert_eq!(bad(|f| f.client_name = "\u{303f}".into()), "client_name");
        assert_eq!(bad(|f| f.client_name = "x".repeat(65)), "client_name");
        assert_eq!(bad(|f| f.client_name = "  ".into()), "client_name");
        assert_eq!(bad(|f| f.redirect_uris = String::new()), "redirect_uris");
        assert_eq!(bad(|f| f.redirect_uris = "https://app.example/#x".into()), "redirect_uris");
        assert_eq!(bad(|f| f.client_uri = "http://app.example".into()), "client_uri");
        assert_eq!(bad(|f| f.contacts = "nobody".into()), "contacts");
        assert_eq!(bad(|f| f.scope = "everything".into()), "scope");
        assert_eq!(bad(|f| f.description = "x".repeat(4001)), "description");
        assert_eq!(bad(|f| f.application_type = "browser".into()), "confidential");
    }

    #[test]
    fn logos_are_known_by_their_content() {
        let file = |bytes: &[u8]| File { field: "logo".into(), bytes: bytes.to_vec() };
        let png = picture::tests::png(16, 16);
        assert_eq!(logo(&file(&png)).map(|logo| logo.kind), Ok("image/png".to_owned()));
        assert!(logo(&file(&picture::tests::png(1025, 1))).is_err());
        let mut long = png.clone();
        long.extend_from_slice(b"<script>");
        for bad in [
            &b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..],
            b"GIF89a\x01\0\x01\0",
            b"",
            b"\x89PNG",
            &png[..33],
            &long,
        ] {
            assert!(logo(&file(bad)).is_err(), "{bad:?}");
        }
    }

    /// Forty blanks that a page does not join stood between a name and what was to be read as the page's own words.
    #[test]
    fn blanks_of_a_name_are_single_spaces() {
        for blank in
            ["  ", "\u{a0}", "\u{a0}\u{a0}", "\u{2001}", "\u{202f} ", "\u{205f}", "\u{3000}"]
        {
            let text = format!("{blank}Acme{blank}App{blank}");
            assert_eq!(name(&text).as_deref(), Ok("Acme App"), "{text:?}");
        }
        for bad in ["a\u{2028}b", "a\u{2029}b", "a\tb", "a\u{85}b", "a\u{200b}b", "a\u{2800}b"] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
        for blank in ["\u{3000}\u{a0}", "\u{1107f}", "\u{1da9b} \u{1107f}"] {
            assert!(name(blank).is_err(), "{blank:?}");
        }
    }

    /// A name whose marks covered the lines above and below it was taken, and so was one that began with a mark, which
    /// stood on what the page wrote before.
    #[test]
    fn marks_of_a_name_are_what_words_need() {
        for good in ["हिन्दी समाचार", "ที่นี่", "မြို့ လျှို့ဝှက်", "שָׁלוֹם", "مُحَمَّد", "Ọ̀rọ̀", "e\u{301}"]
        {
            let kept: String = good.nfc().collect();
            assert_eq!(name(good), Ok(kept), "{good}");
        }
        let pile: String = (0..20).map(|_| "\u{301}\u{316}").collect();
        for bad in [format!("Acme{pile}"), "\u{301}Acme".into(), "Acme \u{323}App".into()] {
            assert!(name(&bad).is_err(), "{bad}");
        }
        let about = |text: &str| check_text("description", text).is_ok();
        assert!(about("हिन्दी समाचार") && !about(&format!("x{pile}")));
    }

    #[test]
    fn look_alikes_are_seen() {
        for (a, b) in [
            ("PayPal", "PаyPal"),
            ("Google", "G00gle"),
            ("Chart", "C h a r t"),
            ("modern", "modem"),
            ("Corelode", "Corelodes"),
            ("Corelode", "Coreloder"),
            ("Twitter", "Twltter"),
            ("Café", "Cafe\u{317}"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("☕☕", "☕☕"),
        ] {
            assert!(is_alike(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("Chart", "Orders"),
            ("Ann", "Bob"),
            ("abc", "abd"),
            ("ที่", "ที"),
            ("दिन", "दीन"),
            ("☕☕", "😀"),
        ] {
            assert!(!is_alike(a, b), "{a} {b}");
        }
    }

    #[test]
    fn changes_that_owners_rely_on_are_reviewed() {
        let before =
            check(&good(), None, "https://store.example", Callbacks::Wanted).expect("good");
        let change = |change: fn(&mut Profile)| {
            let mut after = before.clone();
            change(&mut after);
            needs_review(&before, &after)
        };
        assert!(change(|p| p.name = "Other".into()));
        assert!(change(|p| p.redirect_uris.push("https://b.example/".into())));
        assert!(change(|p| p.scopes = vec!["index:*:read".into()]));
        assert!(!change(|p| p.scopes = vec!["index:orders-1:read".into()]));
        assert!(!change(|p| p.description = Some("x".into())));
    }
}
