//! Documents of the simulation: all fields follow from the attempts that made them, so that the plain
//! model needs no more than the tags.

use json::Value;

use crate::history::Doc;

/// The index with one shard, the one with two, and an alias of each.
pub const INDICES: [&str; 2] = ["one", "two"];

/// Ids in each of them.
pub const IDS: u64 = 5;

const WORDS: [&str; 6] = ["amber", "birch", "cedar", "daisy", "elder", "fern"];

const PAD_BYTES: usize = 24 << 10;

const PAD: &str = match std::str::from_utf8(&[b'p'; PAD_BYTES]) {
    Ok(text) => text,
    Err(_) => "",
};

/// The id of a number.
pub fn id(number: u64) -> String {
    format!("d{number}")
}

/// Routing of an id: some have one of their own.
pub fn routing(index: &str, id: &str) -> Option<String> {
    let number = id.as_bytes().last().copied().unwrap_or_default();
    (index == "two" && number.is_multiple_of(3)).then(|| format!("r{number}"))
}

/// The number in a document.
pub fn number(doc: Doc) -> i64 {
    (doc.tag * 7 % 20) as i64
}

/// The text in a document.
pub fn text(doc: Doc) -> String {
    let word = |at: u64| WORDS[(doc.base / at.max(1) % WORDS.len() as u64) as usize];
    format!("{} {} {}", word(1), word(3), word(5))
}

/// The field that only some documents have.
pub fn extra(doc: Doc) -> Option<String> {
    doc.base.is_multiple_of(4).then(|| format!("x{}", doc.base / 4 % 4))
}

/// Some documents are large, so that logs go through several files.
fn pad(doc: Doc) -> &'static str {
    if doc.base.is_multiple_of(8) { PAD } else { "" }
}

/// A whole document.
pub fn source(doc: Doc) -> String {
    let pad = pad(doc);
    let extra = extra(doc).map(|name| format!(r#","{name}":{}"#, doc.base));
    format!(
        r#"{{"tag":"t{}","base":"b{}","n":{},"text":"{}","pad":"{pad}"{}}}"#,
        doc.tag,
        doc.base,
        number(doc),
        text(doc),
        extra.unwrap_or_default()
    )
}

/// What an update changes.
pub fn change(tag: u64) -> Value {
    let doc = Doc { tag, base: tag };
    let text = format!(r#"{{"tag":"t{tag}","n":{}}}"#, number(doc));
    json::parse(text.as_bytes()).expect("well-formed")
}

/// The document of a source.
///
/// # Panics
/// Where it is none that was ever sent.
pub fn read(source: &[u8]) -> Doc {
    let told = String::from_utf8_lossy(source);
    let value = json::parse(source).unwrap_or_else(|error| panic!("{told}: {error}"));
    let number = |key: &str, letter: char| {
        let text = value.get(key).and_then(Value::as_str)?;
        text.strip_prefix(letter)?.parse::<u64>().ok()
    };
    let doc = number("tag", 't').zip(number("base", 'b')).map(|(tag, base)| Doc { tag, base });
    let doc = doc.unwrap_or_else(|| panic!("nobody sent {told}"));
    let expected = json::parse(self::source(doc).as_bytes()).expect("well-formed");
    let same = expected.as_object().zip(value.as_object()).is_some_and(|(expected, found)| {
        expected.len() == found.len()
            && expected.iter().all(|(key, value)| found.get(key) == Some(value))
    });
    assert!(same, "read {told}, which nobody sent; {doc:?} is {}", self::source(doc));
    doc
}

/// A question to documents, and its plain answer.
#[derive(Clone, Debug)]
pub enum Question {
    /// The number lies in a range.
    Range(i64, i64),
    /// The text has a word.
    Word(&'static str),
    /// A document with this tag.
    Tag(u64),
    /// It has a field.
    Has(String),
    /// Both.
    Both(Box<Question>, Box<Question>),
    /// The first, but not the second.
    Not(Box<Question>, Box<Question>),
}

impl Question {
    /// A question of this machine's choice.
    pub fn choose(below: &impl Fn(u64) -> u64, depth: u32, tag: u64) -> Self {
        let inner = |_| Box::new(Self::choose(below, depth + 1, tag));
        match below(if depth < 2 { 8 } else { 5 }) {
            0 | 1 => {
                let least = below(20) as i64;
                Self::Range(least, least + below(10) as i64)
            }
            2 | 3 => Self::Word(WORDS[below(WORDS.len() as u64) as usize]),
            4 => match below(2) {
                0 => Self::Has(format!("x{}", below(4))),
                _ => Self::Tag(tag),
            },
            5 | 6 => Self::Both(inner(0), inner(1)),
            _ => Self::Not(inner(0), inner(1)),
        }
    }

    /// Does it hold?
    pub fn holds(&self, doc: Doc) -> bool {
        match self {
            Self::Range(least, most) => (*least..=*most).contains(&number(doc)),
            Self::Word(word) => text(doc).split(' ').any(|other| other == *word),
            Self::Tag(tag) => doc.tag == *tag,
            Self::Has(field) => extra(doc).as_deref() == Some(field.as_str()),
            Self::Both(first, second) => first.holds(doc) && second.holds(doc),
            Self::Not(first, second) => first.holds(doc) && !second.holds(doc),
        }
    }

    /// As a query.
    pub fn query(&self) -> String {
        match self {
            Self::Range(least, most) => {
                format!(r#"{{"range":{{"n":{{"gte":{least},"lte":{most}}}}}}}"#)
            }
            Self::Word(word) => format!(r#"{{"match":{{"text":"{word}"}}}}"#),
            Self::Tag(tag) => format!(r#"{{"term":{{"tag":"t{tag}"}}}}"#),
            Self::Has(field) => format!(r#"{{"exists":{{"field":"{field}"}}}}"#),
            Self::Both(first, second) => {
                format!(r#"{{"bool":{{"must":[{},{}]}}}}"#, first.query(), second.query())
            }
            Self::Not(first, second) => format!(
                r#"{{"bool":{{"filter":[{}],"must_not":[{}]}}}}"#,
                first.query(),
                second.query()
            ),
        }
    }
}
