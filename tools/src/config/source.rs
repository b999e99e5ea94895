//! Where settings come from: options, the environment, a YAML file.

use std::fmt;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use crate::failure::{Code, Failure, Result};

/// Begins the names of environment variables that are settings.
const PREFIX: &str = "CORELODE_";

/// Variables that are no settings begin so: the log's level, and what scripts, tests and the build
/// are told. No setting's first word does.
const OTHERS: [&str; 5] = ["LOG", "KIT", "BIN", "COMMIT", "TEST_"];

/// A longer file of settings is not read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Nested deeper, no setting has a name.
const DEPTH_MAX: usize = 16;

/// Where a setting was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `-E` or a flag.
    Option,
    /// An environment variable.
    Environment {
        /// Its name.
        name: String,
    },
    /// A line of a file.
    File {
        /// Which.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option => f.write_str("command line"),
            Self::Environment { name } => write!(f, "environment variable {name}"),
            Self::File { path, line } => write!(f, "{}, line {line}", path.display()),
        }
    }
}

/// A setting as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Its name, flat: `http.port`.
    pub name: String,
    /// Its value, as text; of a list its values, joined by commas.
    pub value: String,
    /// A file gave it as a list.
    pub is_list: bool,
    /// Where it was given.
    pub place: Place,
}

impl Given {
    /// From an option.
    pub fn option(name: &str, value: &str) -> Self {
        let (name, value) = (name.to_owned(), value.to_owned());
        Self { name, value, is_list: false, place: Place::Option }
    }

    /// The value is wrong; `wanted` says what would be right.
    pub fn wrong(&self, wanted: &str) -> Failure {
        let Self { name, place, .. } = self;
        let value = self.told();
        Failure::new(Code::Setting, format!("{place}: {name} is [{value}], but must be {wanted}"))
    }

    /// Its value is a secret: told nowhere.
    pub fn is_secret(&self) -> bool {
        net::oauth::Settings::SECRETS.contains(&self.name.as_str())
    }

    /// Its value, where that may be told.
    pub fn told(&self) -> &str {
        if self.is_secret() { "***" } else { &self.value }
    }

    /// It is given a second time; `first` is where it was given before.
    pub fn again(&self, first: &Place) -> Failure {
        let Self { name, place, .. } = self;
        let told = match first == place {
            true => format!("{place}: {name} is set twice; set it once"),
            false => format!("{place}: {name} is set twice; the first is at {first}"),
        };
        Failure::new(Code::Setting, told)
    }
}

/// A setting from `-E name=value`.
pub fn option(text: &str) -> Result<Given> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok(Given::option(name.trim(), value)),
        _ => Err(Failure::new(Code::Usage, format!("-E {text}: wants NAME=VALUE"))),
    }
}

/// The settings among environment variables. Every setting's name has a dot, which is written
/// `__`; a few other variables begin alike and are none. Whatever else begins so is a setting that
/// nobody knows, and is refused as such: a misspelt one must not be passed over.
pub fn environment(variables: impl Iterator<Item = (String, String)>) -> Vec<Given> {
    let mut settings: Vec<Given> = variables
        .filter_map(|(variable, value)| {
            let name = variable.strip_prefix(PREFIX)?;
            if OTHERS.iter().any(|other| name.starts_with(other)) {
                return None;
            }
            let name = name.replace("__", ".").to_ascii_lowercase();
            let place = Place::Environment { name: variable };
            Some(Given { name, value, is_list: false, place })
        })
        .collect();
    settings.sort_by(|a, b| a.name.cmp(&b.name));
    settings
}

/// The settings of a YAML file.
pub fn file(path: &Path) -> Result<Vec<Given>> {
    let unreadable = |error: &dyn fmt::Display| {
        Failure::new(
            Code::Setting,
            format!(
                "the file of settings (--config) is [{}], but must be a file in YAML that can be read: \
                 {error}",
                path.display()
            ),
        )
    };
    let len = std::fs::metadata(path).map_err(|error| unreadable(&error))?.len();
    if len > FILE_BYTES_MAX {
        return Err(unreadable(&"a file of settings is never longer than 1 MiB"));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    yaml(text_of(&bytes, path)?, path)
}

/// The text of a file in UTF-8.
fn text_of<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        let place = Place::File { path: path.to_owned(), line };
        let byte = bytes.get(good.len()).copied().unwrap_or_default();
        let what =
            format!("{place}: the byte 0x{byte:02x} is no text in UTF-8, as the file must be");
        Failure::new(Code::Setting, what)
    })
}

/// The settings of YAML text, flat or nested, in order; `path` is what a failure names.
pub fn yaml(text: &str, path: &Path) -> Result<Vec<Given>> {
    let wrong = |line: usize, what: &dyn fmt::Display| {
        let place = Place::File { path: path.to_owned(), line };
        Failure::new(Code::Setting, format!("{place}: {what}"))
    };
    let documents = MarkedYaml::load_from_str(text)
        .map_err(|error| wrong(error.marker().line(), &error.info()))?;
    let mut settings: Vec<Given> = Vec::new();
    let walk = Walk { text, path };
    for document in &documents {
        match &document.data {
            // A file of comments.
            YamlData::Value(Scalar::Null) => {}
            YamlData::Mapping(_) => walk.node(document, "", 0, &mut settings)?,
            _ => return Err(wrong(document.span.start.line(), &"wants lines like `name: value`")),
        }
    }
    let mut names: Vec<&Given> = settings.iter().collect();
    names.sort_by_key(|given| &given.name);
    if let Some(pair) = names.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(pair[1].again(&pair[0].place));
    }
    Ok(settings)
}

/// A walk over one file's tree.
struct Walk<'a> {
    text: &'a str,
    path: &'a Path,
}

impl Walk<'_> {
    fn node(
        &self,
        node: &MarkedYaml<'_>,
        name: &str,
        depth: usize,
        settings: &mut Vec<Given>,
    ) -> Result<()> {
        let place = Place::File { path: self.path.to_owned(), line: node.span.start.line() };
        let wrong = |what: &str| Failure::new(Code::Setting, format!("{place}: {name} {what}"));
        if depth > DEPTH_MAX {
            return Err(wrong("is nested too deeply"));
        }
        match &node.data {
            YamlData::Mapping(entries) => {
                for (key, value) in entries {
                    let key = self.scalar(key).ok_or_else(|| wrong("has a key that is no text"))?;
                    let full = if name.is_empty() { key } else { format!("{name}.{key}") };
                    self.node(value, &full, depth + 1, settings)?;
                }
                Ok(())
            }
            YamlData::Sequence(values) => {
                let values: Option<Vec<String>> =
                    values.iter().map(|value| self.scalar(value)).collect();
                let values = values.ok_or_else(|| wrong("holds a list of other than texts"))?;
                let (name, value) = (name.to_owned(), values.join(","));
                settings.push(Given { name, value, is_list: true, place });
                Ok(())
            }
            _ => {
                let value = self.scalar(node).ok_or_else(|| wrong("has no value"))?;
                settings.push(Given { name: name.to_owned(), value, is_list: false, place });
                Ok(())
            }
        }
    }

    /// A scalar as it stands in the file: `9200` and `1e3` stay text.
    fn scalar(&self, node: &MarkedYaml<'_>) -> Option<String> {
        match &node.data {
            YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
            YamlData::Value(Scalar::Null) => None,
            YamlData::Value(_) => {
                let (start, end) = (node.span.start.index(), node.span.end.index());
                let raw: String = self.text.chars().skip(start).take(end - start).collect();
                Some(raw.trim().to_owned())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Given>> {
        yaml(text, Path::new("corelode.yml"))
    }

    fn pairs(text: &str) -> Vec<(String, String)> {
        let given = read(text).unwrap_or_else(|failure| panic!("{failure}"));
        given.into_iter().map(|given| (given.name, given.value)).collect()
    }

    #[test]
    fn flat_and_nested_names_mean_the_same() {
        let flat = pairs("http.port: 9201\nhttp.host: localhost\nnode.name: 'a b'\n");
        let nested = pairs("http:\n  port: 9201\n  host: localhost\nnode:\n  name: a b\n");
        assert_eq!(flat, nested);
        assert_eq!(flat[0], ("http.port".to_owned(), "9201".to_owned()));
    }

    #[test]
    fn numbers_stay_as_written_and_lists_become_commas() {
        let given = pairs("node.name: 007\ncluster.name: 1e3\npath.repo: [/a, /b]\n");
        let values: Vec<_> = given.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["007", "1e3", "/a,/b"]);
    }

    #[test]
    fn an_empty_file_sets_nothing() {
        assert!(pairs("").is_empty());
        assert!(pairs("# comments only\n---\n").is_empty());
    }

    #[test]
    fn a_fault_names_file_and_line() {
        for (text, line, word) in [
            ("a: 1\n  b: 2\n", 2, ""),
            ("http.port: 1\nhttp:\n  port: 2\n", 3, "set twice"),
            ("- a\n- b\n", 1, "name: value"),
            ("node.name:\n", 1, "no value"),
            ("http.port: [[1]]\n", 1, "list"),
        ] {
            let failure = read(text).expect_err("wrong");
            assert_eq!(failure.code, Code::Setting);
            let place = format!("corelode.yml, line {line}");
            assert!(failure.sentence.contains(&place), "{place}: {failure}");
            assert!(failure.sentence.contains(word), "{word}: {failure}");
        }
    }

    /// `stream did not contain valid UTF-8` told neither where nor what.
    #[test]
    fn a_file_that_is_no_text_names_the_line() {
        let path = Path::new("corelode.yml");
        let failure = text_of(b"# one\ncluster.name: caf\xe9\n", path).expect_err("Latin 1");
        assert_eq!(failure.code, Code::Setting);
        assert!(failure.sentence.starts_with("corelode.yml, line 2: the byte 0xe9"), "{failure}");
        assert_eq!(text_of("é".as_bytes(), path), Ok("é"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep: String = (0..100).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        assert!(read(&deep).is_err());
    }

    #[test]
    fn variables_with_a_dot_in_their_name_are_settings() {
        let variables = [
            ("CORELODE_XPACK__SECURITY__HTTP__SSL__ENABLED", "false"),
            ("CORELODE_INDICES__MEMORY", "1gb"),
            ("CORELODE_LOG", "debug"),
            ("HOME", "/root"),
        ];
        let given = environment(
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let names: Vec<_> = given.iter().map(|given| given.name.as_str()).collect();
        assert_eq!(names, ["indices.memory", "xpack.security.http.ssl.enabled"]);
        // One without a dot is no setting, and must not be passed over.
        let misspelt = [("CORELODE_MEMROY".to_owned(), "1gb".to_owned())];
        assert_eq!(environment(misspelt.into_iter())[0].name, "memroy");
    }

    #[test]
    fn options_want_a_name_and_a_value() {
        assert_eq!(option("http.port=9201"), Ok(Given::option("http.port", "9201")));
        assert_eq!(option("a=b=c"), Ok(Given::option("a", "b=c")));
        assert_eq!(option("http.port").expect_err("no value").code, Code::Usage);
        assert!(option("=1").is_err());
    }
}
