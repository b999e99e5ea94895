//! How much work analyses may do before whoever waits for them is asked again.
//!
//! Few bytes may be much work: a chain of ninety filters in a multiplexer, three of those behind each other, a
//! pattern that is tried everywhere. How much is known only while it is done. So it is counted, in steps that
//! depend on the text and the chain alone and on no clock, and whoever begins says how many there may be: an
//! executor a few, after which the same is begun anew on a worker; a worker as many as one request may take.
//!
//! The count belongs to the thread, for analyses are begun deep inside of a mapping or a query. Where nobody
//! set one there is no bound: what was acknowledged is analysed again whatever it takes.
//!
//! Always true
//! 1. What is counted of one text by one chain is the same everywhere.
//! 2. Once too much was done each analysis stops at its next step, as where there is no room
//!    ([`super::Room::is_full`]), until [`within`] ends: what it then answers is that, and nothing else.

use std::cell::Cell;

use super::room::{Flow, ON, STOP};

/// What nobody bounds.
const UNBOUNDED: u64 = u64::MAX;

/// More was done than there might be.
const EXHAUSTED: u64 = u64::MAX - 1;

thread_local! {
    /// Steps that are left to this thread.
    static LEFT: Cell<u64> = const { Cell::new(UNBOUNDED) };
}

/// Analyses would have done more than they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// Sets what is left back to what it was, however the job ends.
struct Before(u64);

impl Drop for Before {
    fn drop(&mut self) {
        LEFT.set(self.0);
    }
}

/// Runs `job`, whose analyses may take `steps` together: a step is what a filter does with one byte of a token,
/// half a nanosecond to three (`bench/benches/analysis.rs`). Answers what it made, and how many steps it took.
///
/// # Errors
/// They took more; what the job made is of no use then, and dropped.
pub fn within<T>(steps: u64, job: impl FnOnce() -> T) -> Result<(T, u64), Exhausted> {
    let steps = steps.min(EXHAUSTED - 1);
    let before = Before(LEFT.replace(steps));
    let made = job();
    let left = LEFT.get();
    drop(before);
    if left == EXHAUSTED { Err(Exhausted) } else { Ok((made, steps - left)) }
}

/// Counts steps; stops where there were too many.
#[inline]
pub(super) fn spend(steps: u64) -> Flow {
    let left = LEFT.get();
    if left == UNBOUNDED {
        return ON;
    }
    match left.checked_sub(steps) {
        Some(left) if !is_exhausted() => {
            LEFT.set(left);
            ON
        }
        _ => {
            LEFT.set(EXHAUSTED);
            STOP
        }
    }
}

/// Counts what is done with `names` that are held against a pattern. False where too much was done: what is made of it
/// is dropped, so they need not be looked at.
pub fn may_match(pattern: &str, names: usize) -> bool {
    let of_name = TOKEN.saturating_add(pattern.len() as u64);
    spend(of_name.saturating_mul(names as u64)) == ON
}

/// Counts `names` that were found to match, and that others are now compared with. False as there.
pub fn may_list(names: usize) -> bool {
    const OF_NAME: u64 = 4 * TOKEN;
    spend(OF_NAME.saturating_mul(names as u64)) == ON
}

/// Counts an automaton of the words within `edits` of one of so many characters: each of them takes far more where two
/// edits are let through. False where it is too much: then it need not be made.
pub fn may_make_near(characters: usize, edits: u32) -> bool {
    let of_character: u64 = if edits > 1 { 24 << 10 } else { 4 << 10 };
    spend(of_character.saturating_mul(characters as u64)) == ON
}

/// Steps for each byte that is held.
const OF_BYTE: u64 = 8;

/// Counts memory that what is made holds until the request has ended. False where it is too much: what is made is
/// dropped, so it need not go on.
pub fn may_hold(bytes: usize) -> bool {
    spend(OF_BYTE.saturating_mul(bytes as u64)) == ON
}

/// Counts one of many values that a field reads. False where it is too much: what is made of them is dropped.
pub fn may_read_value() -> bool {
    spend(TOKEN) == ON
}

/// Ends the job as where it did too much: somebody else knows why.
pub fn exhaust() {
    if is_bounded() {
        LEFT.set(EXHAUSTED);
    }
}

/// Does it matter how much is done?
pub(super) fn is_bounded() -> bool {
    LEFT.get() != UNBOUNDED
}

/// Are so many steps left?
pub(super) fn has(steps: u64) -> bool {
    let left = LEFT.get();
    left == UNBOUNDED || (left != EXHAUSTED && left >= steps)
}

/// Was more done than there might be? Whatever is made of it is dropped ([`within`]), so who has much to do yet stops.
#[inline]
pub fn is_exhausted() -> bool {
    LEFT.get() == EXHAUSTED
}

/// What a token costs a part of a chain, however short it is, in steps.
pub(super) const TOKEN: u64 = 16;

/// What a part of a chain does with a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// With each text.
    pub text: u64,
    /// With each byte of it.
    pub byte: u64,
}

impl Cost {
    /// Of what looks once at each byte.
    pub const PLAIN: Self = Self { text: TOKEN, byte: 1 };

    /// Of this and another behind it.
    pub const fn and(self, other: Self) -> Self {
        Self {
            text: self.text.saturating_add(other.text),
            byte: self.byte.saturating_add(other.byte),
        }
    }

    /// For a text of `len` bytes.
    pub const fn of(self, len: usize) -> u64 {
        self.text.saturating_add(self.byte.saturating_mul(len as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ON, Registry, Room, Scratch};
    use super::*;

    fn registry() -> Registry {
        let chains: Vec<String> = (1..90).map(|len| format!("cut{len}, reverse")).collect();
        let mut filters = json::Object::new();
        filters.insert("many", json::json!({"type": "multiplexer", "filters": chains}));
        for len in 1..90 {
            let cut = json::json!({"type": "truncate", "length": len});
            filters.insert(format!("cut{len}"), cut);
        }
        let analysis = json::json!({
            "char_filter": {
                "names": {"type": "mapping", "mappings": ["aa => b"]},
                "digits": {"type": "pattern_replace", "pattern": "[0-9]+", "replacement": ""}
            },
            "filter": (json::Value::Object(filters)),
            "analyzer": {
                "plain": {"tokenizer": "standard", "filter": ["lowercase", "stop", "porter_stem"]},
                "costly": {"tokenizer": "whitespace", "filter": ["many", "many", "many"]}
            },
            "normalizer": {
                "plain": {"filter": ["lowercase"]},
                "costly": {"char_filter": ["names", "digits"], "filter": ["lowercase"]}
            }
        });
        Registry::parse(&analysis).expect("known parts")
    }

    /// Each value behind the one that was too much came as 32 KB that no document has, and 65,000 of them held
    /// gigabytes.
    #[test]
    fn what_nobody_will_look_for_holds_nothing() {
        let registry = registry();
        let costly = registry.normalizer("costly").expect("it is there");
        let mut longest = 0;
        let job = || {
            for _ in 0..10_000 {
                longest = longest.max(costly.normal_term("AAb7", &mut String::new()).len());
            }
        };
        assert_eq!(within(5_000, job), Err(Exhausted));
        assert_eq!(longest, 3, "AAb without its digit");
        assert!(!is_exhausted(), "the bound ends with its job");
    }

    fn steps(text: &str, analyzer: &super::super::Analyzer) -> Result<u64, Exhausted> {
        let job = || {
            let mut count = 0;
            let done = analyzer.tokens_with(text, &mut Scratch::default(), |_| {
                count += 1;
                ON
            });
            (count, done.lacks_room)
        };
        within(1 << 24, job).map(|((_, lacks_room), took)| {
            assert!(!lacks_room);
            took
        })
    }

    /// Such a document of 80 KB took four seconds, and nothing knew before it was through.
    #[test]
    fn work_is_counted_and_ends_where_it_is_too_much() {
        let registry = registry();
        let analyzer = |name| registry.analyzer(name).expect("given");
        let text = "some words of a text ".repeat(200);
        let plain = steps(&text, analyzer("plain")).expect("little work");
        assert!((2 * text.len() as u64..20 * text.len() as u64).contains(&plain), "{plain}");
        let twice = steps(&text.repeat(2), analyzer("plain")).expect("little work");
        assert!((2 * plain - 100..=2 * plain + 100).contains(&twice), "{plain}, {twice}");
        assert_eq!(steps(&text, analyzer("costly")), Err(Exhausted));
        let one = steps("abcdefghij", analyzer("costly")).expect("one word");
        assert!(one > 10 * steps("abcdefghij", analyzer("plain")).expect("one word"), "{one}");
    }

    #[test]
    fn what_nobody_bounds_goes_on_and_a_bound_ends_with_its_job() {
        let registry = registry();
        let costly = registry.analyzer("costly").expect("given");
        let count = |text: &str| costly.tokens(text, &mut |_| {});
        assert!(count("abcdefghij klmnopqrst").count > 100);
        assert!(within(1_000, || count("abcdefghij klmnopqrst")).is_err());
        let failed = std::panic::catch_unwind(|| within(1, || panic!("on purpose")));
        assert!(failed.is_err());
        assert!(!count("abcdefghij klmnopqrst").lacks_room, "no bound is left");
    }

    /// Words of thirty letters that such a pattern tries in every way counted as two thousand steps each, and took
    /// ten million.
    #[test]
    fn patterns_that_are_tried_count_what_they_try() {
        let pattern = "(a*)*\\1[xy]$";
        let analysis = json::json!({
            "char_filter": {"tried": {"type": "pattern_replace", "pattern": pattern, "replacement": "x"}},
            "tokenizer": {
                "tried": {"type": "pattern", "pattern": pattern},
                "caught": {"type": "pattern", "pattern": pattern, "group": 1}
            },
            "filter": {
                "replaces": {"type": "pattern_replace", "pattern": pattern, "replacement": "x"},
                "catches": {"type": "pattern_capture", "patterns": [pattern]},
                "marks": {"type": "keyword_marker", "keywords_pattern": pattern}
            },
            "analyzer": {
                "changed": {"tokenizer": "whitespace", "char_filter": ["tried"]},
                "cut": {"tokenizer": "tried"},
                "cut_out": {"tokenizer": "caught"},
                "replaces": {"tokenizer": "whitespace", "filter": ["replaces"]},
                "catches": {"tokenizer": "whitespace", "filter": ["catches"]},
                "marks": {"tokenizer": "whitespace", "filter": ["marks"]}
            },
            "normalizer": {"changed": {"char_filter": ["tried"]}}
        });
        let registry = Registry::parse(&analysis).expect("known parts");
        let runaway = format!("{}1bb", "a".repeat(30));
        for name in ["changed", "cut", "cut_out", "replaces", "catches", "marks"] {
            let analyzer = registry.analyzer(name).expect("given");
            let job = || analyzer.tokens(&runaway, &mut |_| {}).lacks_room;
            let (lacks_room, one) = within(1 << 30, job).expect("one word");
            assert!(!lacks_room && one > 8_000_000, "{name}: {one}");
            let short = steps("abxy", analyzer).expect("one word");
            assert!(short < 20_000, "{name}: {short}");
            // An executor's, and those of a short job.
            for few in [256 << 10, 8 << 20] {
                let words = format!("{runaway} {runaway}x {runaway}y");
                let job = || analyzer.tokens(&words, &mut |_| {}).lacks_room;
                assert_eq!(within(few, job), Err(Exhausted), "{name}");
            }
        }
        let normalizer = registry.normalizer("changed").expect("given");
        let job = || normalizer.normal_term(&runaway, &mut String::new()).len();
        assert_eq!(within(1_000_000, job), Err(Exhausted));
    }

    /// A word list is looked up at once; a pattern is tried on each letter.
    #[test]
    fn marking_by_a_pattern_costs_as_a_pattern_does() {
        let analysis = json::json!({
            "filter": {
                "words": {"type": "keyword_marker", "keywords": ["running"]},
                "pattern": {"type": "keyword_marker", "keywords_pattern": "run.*"}
            },
            "analyzer": {
                "words": {"tokenizer": "whitespace", "filter": ["words"]},
                "pattern": {"tokenizer": "whitespace", "filter": ["pattern"]}
            }
        });
        let registry = Registry::parse(&analysis).expect("known parts");
        let took =
            |name| steps("running", registry.analyzer(name).expect("given")).expect("a word");
        assert!(took("pattern") >= took("words") + 200);
    }

    /// Sixty-five thousand values of a query went through such a normalizer at once.
    #[test]
    fn normalizers_count_and_stop() {
        let registry = registry();
        let mut buffer = String::new();
        let mut took = |name: &str, times: usize| {
            let normalizer = registry.normalizer(name).expect("given");
            let job = || {
                let text = "Some text of 1 value".repeat(100);
                let normal =
                    |_| normalizer.normalize(&text, &mut buffer, &Room::default()).is_some();
                (0..times).all(normal)
            };
            within(1 << 20, job)
        };
        let (all, plain) = took("plain", 1).expect("little work");
        assert!(all);
        let (all, costly) = took("costly", 1).expect("little work");
        assert!(all && costly > 2 * plain, "{plain}, {costly}");
        assert_eq!(took("costly", 10_000), Err(Exhausted));
    }
}
