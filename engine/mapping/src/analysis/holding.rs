//! How much memory the parts of chains take for good: rules of synonyms, lists of words.
//!
//! A line of two thousand words that mean the same is four million rules, and each chain that names a filter has
//! its own. So what is made of settings is counted while it is made, and whoever begins says how much there may
//! be: a request to make an index as much as the node can spare. The count belongs to the thread, as that of work
//! does ([`super::effort`]). Where nobody set one there is no bound: what was acknowledged is made anew whatever it
//! takes.

use std::cell::Cell;

use crate::{Error, Result};

thread_local! {
    /// Bytes that were counted.
    static HELD: Cell<usize> = const { Cell::new(0) };
    /// Bytes that may be counted.
    static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Sets the counts back, however the job ends: what it counted is added to what was counted before.
struct Before {
    held: usize,
    most: usize,
}

impl Drop for Before {
    fn drop(&mut self) {
        HELD.set(self.held.saturating_add(HELD.get()));
        MOST.set(self.most);
    }
}

/// Runs `job`, in which parts of chains may take about `bytes` of memory. Those that would take more are refused:
/// `illegal_argument_exception`.
pub fn within_bytes<T>(bytes: usize, job: impl FnOnce() -> T) -> T {
    let _before = Before { held: HELD.replace(0), most: MOST.replace(bytes) };
    job()
}

/// Counts bytes of what is about to be made.
///
/// # Errors
/// They are too many, with what was counted before.
pub(super) fn hold(bytes: usize) -> Result<()> {
    HELD.set(HELD.get().saturating_add(bytes));
    if is_exceeded() { Err(exceeded()) } else { Ok(()) }
}

/// Counts what a mapping becomes larger.
///
/// # Errors
/// It is too much, with what was counted before.
pub fn hold_mapping(bytes: usize) -> Result<()> {
    HELD.set(HELD.get().saturating_add(bytes));
    match is_exceeded() {
        false => Ok(()),
        true => Err(Error::illegal_argument(format!(
            "the mappings would take more than [{}] bytes of memory in all indices that are meant",
            MOST.get()
        ))),
    }
}

/// Is more made than may be? Then nothing is made of it, however lenient a part is about its rules.
pub(super) fn is_exceeded() -> bool {
    HELD.get() > MOST.get()
}

/// Bytes counted on this thread by now.
pub(super) fn held() -> usize {
    HELD.get()
}

#[cold]
fn exceeded() -> Error {
    Error::illegal_argument(format!(
        "the rules and lists of words of the analysis settings would take more than [{}] bytes of memory in all \
         analyzers that name them",
        MOST.get()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::Registry;
    use super::*;

    fn words(count: usize) -> String {
        (0..count).map(|at| format!("w{at}")).collect::<Vec<_>>().join(", ")
    }

    fn settings(filter: &json::Value, analyzers: usize) -> json::Value {
        let one =
            |at| (format!("a{at}"), json::json!({"tokenizer": "standard", "filter": ["own"]}));
        let analyzers: json::Object = (0..analyzers).map(one).collect();
        json::json!({"filter": {"own": (filter.clone())}, "analyzer": (json::Value::Object(analyzers))})
    }

    fn refusal(bytes: usize, settings: &json::Value) -> Option<String> {
        within_bytes(bytes, || Registry::parse(settings).err().map(|error| error.reason))
    }

    /// A few kilobytes of a request became hundreds of megabytes, for good, and nothing counted them.
    #[test]
    fn rules_that_multiply_are_counted_and_refused() {
        let line = |lenient: bool| json::json!({"type": "synonym", "synonyms": [words(600)], "lenient": lenient});
        for lenient in [false, true] {
            let reason = refusal(4 << 20, &settings(&line(lenient), 1)).expect("360,000 rules");
            assert!(reason.contains("would take more than [4194304] bytes"), "{reason}");
            assert_eq!(refusal(64 << 20, &settings(&line(lenient), 1)), None);
        }
        let reason = refusal(64 << 20, &settings(&line(false), 20)).expect("each has its own");
        assert!(reason.contains("would take more than [67108864] bytes"), "{reason}");
        let wordnet: Vec<String> =
            (0..600).map(|at| format!("s(100000001,{at},'w{at}',v,1,0).")).collect();
        let wordnet =
            json::json!({"type": "synonym_graph", "format": "wordnet", "synonyms": wordnet});
        assert!(refusal(4 << 20, &settings(&wordnet, 1)).is_some());
        assert!(refusal(64 << 20, &settings(&wordnet, 1)).is_none());
        let stop: Vec<String> = (0..10_000).map(|at| format!("stop{at}")).collect();
        let stop = json::json!({"type": "stop", "stopwords": stop});
        assert!(refusal(4 << 20, &settings(&stop, 100)).is_some(), "each has its own");
        assert!(refusal(4 << 20, &settings(&stop, 1)).is_none());
    }

    #[test]
    fn what_nobody_bounds_is_made_and_weighed() {
        let filter = json::json!({"type": "synonym", "synonyms": [words(600)]});
        let one = Registry::parse(&settings(&filter, 1)).expect("nobody bounds it").held_bytes();
        assert!((600 * 599 * 16..64 << 20).contains(&one), "{one}");
        let two = Registry::parse(&settings(&filter, 2)).expect("nobody bounds it").held_bytes();
        assert_eq!(two, 2 * one);
        let plain = json::json!({"type": "synonym", "synonyms": ["a, b"]});
        assert!(Registry::parse(&settings(&plain, 1)).expect("few").held_bytes() < 4 << 10);
        within_bytes(1, || {
            let built_in = Registry::parse(&json::json!({}));
            assert_eq!(built_in.expect("its own take nothing").held_bytes(), 0);
        });
    }
}
