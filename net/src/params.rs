//! Query parameters: decoded once, read by kind, in Elasticsearch's words where they are wrong.

use engine::ops::IndicesOptions;
use engine::{Error, Result};
use http::Target;
use mapping::types::boolean;

/// What a parameter's value must look like; checked before any handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true`, `false`, or nothing, which is true.
    Flag,
    /// A 32-bit integer.
    Int,
    /// A 64-bit integer.
    Long,
    /// A time with unit.
    Time,
    /// Any text.
    Text,
    /// Said by the handler.
    Own,
}

/// A parameter that a route knows.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// What its value must look like.
    pub kind: Kind,
    /// It changes what is done. One that does not is listed with its reason in
    /// `docs/api/no-effect.md`.
    pub effect: bool,
    /// Offered to a caller who has misspelt a name. Elasticsearch offers only those that its
    /// handler had asked for by then.
    pub offered: bool,
}

impl Known {
    /// A parameter of `kind`.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, effect: true, offered: true }
    }

    /// The same, without effect in our design.
    pub const fn idle(self) -> Self {
        Self { effect: false, ..self }
    }

    /// The same, not offered.
    pub const fn unoffered(self) -> Self {
        Self { offered: false, ..self }
    }
}

/// Parameters that every route knows.
pub const COMMON: [&str; 5] = ["pretty", "human", "error_trace", "filter_path", "format"];

/// The parameters of one request, in order; of a name given twice the last counts.
#[derive(Clone, Debug, Default)]
pub struct Params {
    pairs: Vec<(String, String)>,
}

impl Params {
    /// Decodes a query.
    ///
    /// # Errors
    /// `bad_parameter_exception` for a broken escape.
    pub fn parse(target: &Target<'_>) -> Result<Self> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in target.params() {
            let (name, value) = pair.map_err(|bad| {
                let reason = format!("java.lang.IllegalArgumentException: {bad}");
                Error::new(400, "bad_parameter_exception", reason)
                    .caused_by(Error::illegal_argument(bad.to_string()))
            })?;
            match pairs.iter_mut().find(|(known, _)| *known == name) {
                Some((_, old)) => *old = value.into_owned(),
                None => pairs.push((name.into_owned(), value.into_owned())),
            }
        }
        Ok(Self { pairs })
    }

    /// All in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of `name`, where it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A flag: given without a value it is true.
    ///
    /// # Errors
    /// Any other value.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        self.text(name).map_or(Ok(default), flag)
    }

    /// A 64-bit integer.
    ///
    /// # Errors
    /// A value that is none.
    pub fn long(&self, name: &str) -> Result<Option<i64>> {
        self.text(name).map(|value| long(name, value)).transpose()
    }

    /// A 32-bit integer.
    ///
    /// # Errors
    /// A value that is none.
    pub fn int(&self, name: &str) -> Result<Option<i32>> {
        self.text(name).map(|value| int(name, value)).transpose()
    }

    /// Members of a comma list, empty ones left out.
    pub fn list(&self, name: &str) -> Vec<String> {
        let value = self.text(name).unwrap_or_default();
        value.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    /// A time in milliseconds; `None` where it was not given or says "no limit".
    ///
    /// # Errors
    /// A value that is none.
    pub fn time_ms(&self, name: &str) -> Result<Option<u64>> {
        Ok(self.text(name).map(|value| time_ms(name, value)).transpose()?.flatten())
    }

    /// How index expressions are read; `base` is the call's default.
    ///
    /// # Errors
    /// Values that are none.
    pub fn indices_options(&self, base: IndicesOptions) -> Result<IndicesOptions> {
        let mut options = base;
        let convert = |name: &str, default: bool| {
            // Of these a name alone says nothing, as Elasticsearch reads them.
            let given = self.text(name).filter(|value| !value.trim().is_empty());
            let Some(value) = given else { return Ok(default) };
            flag(value).map_err(|cause| {
                Error::illegal_argument(format!("Could not convert [{name}] to boolean"))
                    .caused_by(cause)
            })
        };
        options.ignore_unavailable = convert("ignore_unavailable", base.ignore_unavailable)?;
        options.allow_no_indices = convert("allow_no_indices", base.allow_no_indices)?;
        match self.text("expand_wildcards") {
            Some(words) => expand_wildcards(options, words),
            None => Ok(options),
        }
    }

    /// Checks names and values against what a route knows. `path` is the request's; `of_path`: what
    /// paths of the call may give, and so the query too; `has_body`: it has a body, beside which one in the query (`source`) is not looked at.
    ///
    /// # Errors
    /// Unknown names, all of them, with near ones; then the first value of a wrong kind.
    pub fn check(
        &self,
        path: &str,
        known: &[&[Known]],
        of_path: &[&str],
        has_body: bool,
    ) -> Result<()> {
        let is_read = |name: &str| match name {
            "source" => !has_body,
            "source_content_type" => !has_body && self.text("source").is_some(),
            _ => true,
        };
        let find = |name: &str| {
            let mut known = known.iter().copied().flatten();
            known.find(|known| known.name == name && is_read(name))
        };
        let mut unknown: Vec<&str> = self
            .iter()
            .map(|(name, _)| name)
            .filter(|name| {
                !COMMON.contains(name) && !of_path.contains(name) && find(name).is_none()
            })
            .collect();
        if !unknown.is_empty() {
            unknown.sort_unstable();
            let offered: Vec<&str> = known
                .iter()
                .copied()
                .flatten()
                .filter(|known| known.offered)
                .map(|known| known.name)
                .collect();
            return Err(unrecognized(path, "parameter", &unknown, &offered));
        }
        for (name, value) in self.iter() {
            let Some(known) = find(name) else { continue };
            match known.kind {
                Kind::Flag => drop(flag(value)?),
                Kind::Int => drop(int(name, value)?),
                Kind::Long => drop(long(name, value)?),
                Kind::Time => drop(time_ms(name, value)?),
                Kind::Text | Kind::Own => {}
            }
        }
        Ok(())
    }
}

/// `expand_wildcards`: words, of which the last say most.
///
/// # Errors
/// A word that is none.
pub fn expand_wildcards(options: IndicesOptions, words: &str) -> Result<IndicesOptions> {
    let mut options = IndicesOptions {
        expand_open: false,
        expand_closed: false,
        expand_hidden: false,
        ..options
    };
    // As Java splits: what is empty at the end is no word, so that nothing at all expands nothing.
    let words = words.trim_end_matches(',');
    let words = (!words.is_empty()).then(|| words.split(','));
    for word in words.into_iter().flatten() {
        match word {
            "open" => options.expand_open = true,
            "closed" => options.expand_closed = true,
            "hidden" => options.expand_hidden = true,
            "none" => {
                options.expand_open = false;
                options.expand_closed = false;
                options.expand_hidden = false;
            }
            "all" => {
                options.expand_open = true;
                options.expand_closed = true;
                options.expand_hidden = true;
            }
            other => {
                return Err(Error::illegal_argument(format!(
                    "No valid expand wildcard value [{other}]"
                )));
            }
        }
    }
    Ok(options)
}

/// A truth in a parameter.
///
/// # Errors
/// Anything but `true`, `false` and nothing.
pub fn flag(value: &str) -> Result<bool> {
    match value {
        "" | "true" => Ok(true),
        "false" => Ok(false),
        other => Err(Error::illegal_argument(boolean::neither(other))),
    }
}

fn long(name: &str, value: &str) -> Result<i64> {
    value.parse().map_err(|_| not_a(name, "long", value))
}

fn int(name: &str, value: &str) -> Result<i32> {
    value.parse().map_err(|_| not_a(name, "int", value))
}

fn not_a(name: &str, kind: &str, value: &str) -> Error {
    Error::illegal_argument(format!(
        "Failed to parse {kind} parameter [{name}] with value [{value}]"
    ))
    .caused_by(no_number(value))
}

fn no_number(text: &str) -> Error {
    Error::new(400, "number_format_exception", format!("For input string: \"{text}\""))
}

/// Why this text is no time, for the given reason.
pub fn no_time(reason: String, text: &str) -> Error {
    let error = Error::illegal_argument(reason);
    match base::units::no_number_of_time(text) {
        Some(number) => error.caused_by(no_number(&number)),
        None => error,
    }
}

/// A time of Elasticsearch's form in milliseconds, rounded down; `None` for `-1`, no limit.
///
/// # Errors
/// Anything else, in the words for a setting of that name.
pub fn time_ms(name: &str, value: &str) -> Result<Option<u64>> {
    let time = base::units::time_asked(name, value).map_err(|reason| no_time(reason, value))?;
    Ok(time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
}

/// ` -> did you mean [x]?`, where names like `name` are among `offered`; else nothing.
pub fn near(name: &str, offered: &[&str]) -> String {
    let meant = base::near::meant(name, offered.iter().copied(), 0.5);
    meant.map_or_else(String::new, |meant| format!(" -> {meant}"))
}

/// Names of some kind (`parameter`, `metric`) that nobody knows, each with those that were perhaps
/// meant.
pub fn unrecognized(path: &str, kind: &str, unknown: &[&str], offered: &[&str]) -> Error {
    let plural = if unknown.len() > 1 { "s" } else { "" };
    let mut reason = format!("request [{path}] contains unrecognized {kind}{plural}: ");
    for (at, name) in unknown.iter().enumerate() {
        if at > 0 {
            reason.push_str(", ");
        }
        reason.push_str(&format!("[{name}]"));
        reason.push_str(&near(name, offered));
    }
    Error::illegal_argument(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(query: &str) -> Params {
        Params::parse(&Target::new(format!("/a?{query}").as_bytes())).expect("good escapes")
    }

    #[test]
    fn of_a_name_given_twice_the_last_counts() {
        let params = params("a=1&b&a=2&c=x+y");
        assert_eq!(params.text("a"), Some("2"));
        assert_eq!(params.text("c"), Some("x y"));
        assert_eq!(params.flag("b", false), Ok(true));
        assert_eq!(params.flag("d", true), Ok(true));
    }

    #[test]
    fn values_are_judged_in_elasticsearchs_words() {
        let params = params("size=a&flag=foo&ignore_unavailable=foo&expand_wildcards=foo");
        let error = params.int("size").expect_err("no number");
        assert_eq!(error.reason, "Failed to parse int parameter [size] with value [a]");
        let cause = error.caused_by.expect("a cause");
        assert_eq!(
            (cause.kind.as_ref(), cause.reason.as_str()),
            ("number_format_exception", "For input string: \"a\"")
        );
        assert_eq!(
            params.flag("flag", false).expect_err("no flag").reason,
            "Failed to parse value [foo] as only [true] or [false] are allowed."
        );
        let error = params.indices_options(IndicesOptions::default()).expect_err("no flag");
        assert_eq!(error.reason, "Could not convert [ignore_unavailable] to boolean");
        let error = super::Params::parse(&Target::new(b"/?expand_wildcards=foo"))
            .and_then(|params| params.indices_options(IndicesOptions::default()))
            .expect_err("no word");
        assert_eq!(error.reason, "No valid expand wildcard value [foo]");
    }

    #[test]
    fn wildcards_expand_to_what_the_words_say() {
        let expands = |query: &str| {
            let options = params(query).indices_options(IndicesOptions::default());
            options.map(|it| (it.expand_open, it.expand_closed, it.expand_hidden))
        };
        for (query, expected) in [
            ("a=b", (true, false, false)),
            ("expand_wildcards=", (false, false, false)),
            ("expand_wildcards=,", (false, false, false)),
            ("expand_wildcards=closed,", (false, true, false)),
            ("expand_wildcards=all,none,open", (true, false, false)),
        ] {
            assert_eq!(expands(query), Ok(expected), "{query}");
        }
        let told = expands("expand_wildcards=,open").expect_err("an empty word");
        assert_eq!(told.reason, "No valid expand wildcard value []");
    }

    #[test]
    fn times_have_units() {
        for (text, ms) in
            [("1s", Some(1_000)), ("1500micros", Some(1)), ("0", Some(0)), ("-1", None)]
        {
            assert_eq!(time_ms("timeout", text), Ok(ms), "{text}");
        }
        assert_eq!(
            time_ms("timeout", "foo").expect_err("no time").reason,
            "failed to parse setting [timeout] with value [foo] as a time value: unit is missing \
             or unrecognized"
        );
    }

    #[test]
    fn unknown_names_are_told_with_near_ones() {
        const KNOWN: &[Known] = &[
            Known::new("level", Kind::Text),
            Known::new("size", Kind::Int).unoffered(),
            Known::new("timeout", Kind::Time),
        ];
        let reason = |query: &str| {
            params(query).check("/a", &[KNOWN], &[], false).expect_err("unknown").reason
        };
        assert_eq!(reason("sizee=1"), "request [/a] contains unrecognized parameter: [sizee]");
        assert_eq!(
            reason("levle=1"),
            "request [/a] contains unrecognized parameter: [levle] -> did you mean [level]?"
        );
        assert_eq!(
            reason("foo&bar&pretty"),
            "request [/a] contains unrecognized parameters: [bar], [foo]"
        );
        assert!(
            params("level=x&size=3&timeout=1s&pretty").check("/a", &[KNOWN], &[], false).is_ok()
        );
        assert!(params("size=x").check("/a", &[KNOWN], &[], false).is_err());
        assert!(params("timeout=x").check("/a", &[KNOWN], &[], false).is_err());
    }
}
