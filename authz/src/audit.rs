//! The audit log: who did what, and what came of it; a line of JSON for each event.
//!
//! Always true
//! 1. No secret is in it: a token is known by its grant, a key by its id.
//! 2. Control characters from outside become spaces, and values are bounded, so that nobody forges a
//!    line or fills the disk with one. A value that is cut ends by saying how much is missing; those of a
//!    list are bounded each by itself, so that a long one hides none behind it.
//! 3. Writing happens on a thread of its own. The core that makes an event never waits; where more
//!    lines wait than [`WAITING_MAX`], what is lost is counted, and the count is the next line.
//! 4. In strict mode a change has a line before it is made ([`Audit::begin`]), and whoever made events asks whether
//!    they are written ([`Audit::is_written`]) before anything is answered.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use env::reply::Reply;
use json::{Object, Value};

use crate::token::mask::masked;

/// Lines that may wait for the writer.
pub const WAITING_MAX: usize = 100_000;

/// Characters of one value.
const VALUE_CHARACTERS_MAX: usize = 1024;

/// Characters of one value of a list: the longest callback address.
pub const ELEMENT_CHARACTERS_MAX: usize = 2048;

/// Values of a list: more than any application has callbacks or scopes.
pub const ELEMENTS_MAX: usize = 64;

/// The event of a line that comes before a change, in strict mode: its outcome is `begun`; and of one that tells that
/// the change was not made, where no other line says so.
pub const CHANGE: &str = "change";

/// Where events go; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    inner: Option<Arc<Inner>>,
}

/// What reaches the thread that writes.
#[allow(missing_debug_implementations, reason = "a reply has nothing to show")]
pub enum Item {
    /// A line, without its end.
    Line(String),
    /// Somebody wants to know whether all lines before are written.
    Ask(Reply<bool>),
    /// A line that comes before a change: whoever would make it hears whether this very line is written.
    Begin {
        /// The line, without its end.
        line: String,
        /// Where it is not taken at once: is it tried again as any other, or forgotten?
        waits: bool,
        /// Who would make the change.
        reply: Reply<bool>,
    },
}

#[derive(Debug)]
struct Inner {
    lines: SyncSender<Item>,
    strict: bool,
    noted: AtomicU64,
    /// Lines that no line tells of yet.
    lost: AtomicU64,
    losses: Losses,
}

/// How many lines were lost so far; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Losses(Arc<AtomicU64>);

impl Losses {
    /// So many more.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::AcqRel);
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl Audit {
    /// An audit log, and the end from which a thread writes it. `strict`: what cannot be noted is not
    /// done.
    pub fn new(strict: bool) -> (Self, Receiver<Item>) {
        let (lines, written) = sync_channel(WAITING_MAX);
        let inner = Inner {
            lines,
            strict,
            noted: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            losses: Losses::default(),
        };
        (Self { inner: Some(Arc::new(inner)) }, written)
    }

    /// How many events were noted so far, where an event that cannot be written fails its operation;
    /// `None` where it does not.
    pub fn strict_count(&self) -> Option<u64> {
        let inner = self.inner.as_ref().filter(|inner| inner.strict)?;
        Some(inner.noted.load(Ordering::Acquire))
    }

    /// How many lines were lost so far, at whatever end: while this stays, what was noted is written or waits.
    pub fn lost_count(&self) -> u64 {
        self.inner.as_ref().map_or(0, |inner| inner.losses.count())
    }

    /// Where whoever writes tells what it loses.
    pub fn losses(&self) -> Losses {
        self.inner.as_ref().map(|inner| inner.losses.clone()).unwrap_or_default()
    }

    /// Are all events noted before now in the file? Waits until the thread has tried.
    pub async fn is_written(&self) -> bool {
        let Some(inner) = &self.inner else { return true };
        let (reply, answer) = env::reply::channel();
        let is_lossless = inner.lost.load(Ordering::Relaxed) == 0;
        is_lossless
            && inner.lines.try_send(Item::Ask(reply)).is_ok()
            && answer.await.unwrap_or(false)
    }

    /// In strict mode: notes that a change is about to be made, and answers whether that is written; a line that is
    /// not yet is tried again later, and wants another behind it. Else it may be made without.
    pub async fn begin(&self, now_ms: i64, facts: &[(&str, &str)]) -> bool {
        self.begin_or(now_ms, facts, &[], true).await
    }

    /// As [`Audit::begin`], where several values of a kind are known of the change.
    pub async fn begin_lists(
        &self,
        now_ms: i64,
        facts: &[(&str, &str)],
        lists: &[(&str, &[String])],
    ) -> bool {
        self.begin_or(now_ms, facts, lists, true).await
    }

    /// As [`Audit::begin_lists`], but a line that is not taken at once is forgotten.
    pub async fn begin_at_once(
        &self,
        now_ms: i64,
        facts: &[(&str, &str)],
        lists: &[(&str, &[String])],
    ) -> bool {
        self.begin_or(now_ms, facts, lists, false).await
    }

    async fn begin_or(
        &self,
        now_ms: i64,
        facts: &[(&str, &str)],
        lists: &[(&str, &[String])],
        waits: bool,
    ) -> bool {
        let Some(inner) = self.inner.as_ref().filter(|inner| inner.strict) else { return true };
        inner.tell_lost(now_ms);
        let (reply, answer) = env::reply::channel();
        let line = line(now_ms, CHANGE, "begun", facts, lists);
        if inner.lines.try_send(Item::Begin { line, waits, reply }).is_err() {
            if waits {
                inner.lose();
            }
            return false;
        }
        if waits {
            inner.noted.fetch_add(1, Ordering::AcqRel);
        }
        answer.await.unwrap_or(false)
    }

    /// Writes nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Is anything written?
    pub fn is_on(&self) -> bool {
        self.inner.is_some()
    }

    /// Notes an event that happened at `now_ms`: `login_failed`, `failed`, and what is known of it.
    pub fn note(&self, now_ms: i64, event: &str, outcome: &str, facts: &[(&str, &str)]) {
        self.note_lists(now_ms, event, outcome, facts, &[]);
    }

    /// The same, where several values of a kind are known of it.
    pub fn note_lists(
        &self,
        now_ms: i64,
        event: &str,
        outcome: &str,
        facts: &[(&str, &str)],
        lists: &[(&str, &[String])],
    ) {
        let Some(inner) = &self.inner else { return };
        inner.tell_lost(now_ms);
        inner.send(line(now_ms, event, outcome, facts, lists));
        inner.noted.fetch_add(1, Ordering::AcqRel);
    }
}

impl Inner {
    fn send(&self, line: String) {
        if self.lines.try_send(Item::Line(line)).is_err() {
            self.lose();
        }
    }

    fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        self.losses.add(1);
    }

    /// A line for those that were lost before.
    fn tell_lost(&self, now_ms: i64) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 && self.lines.try_send(Item::Line(lost_line(now_ms, lost))).is_err() {
            self.lost.fetch_add(lost, Ordering::Relaxed);
        }
    }
}

/// The line that says how many lines were lost before it; `now_ms` since 1970.
pub fn lost_line(now_ms: i64, count: u64) -> String {
    let count = count.to_string();
    line(now_ms, "audit_lines_lost", "failed", &[("count", count.as_str())], &[])
}

fn line(
    now_ms: i64,
    event: &str,
    outcome: &str,
    facts: &[(&str, &str)],
    lists: &[(&str, &[String])],
) -> String {
    let mut object = Object::new();
    object.insert("timestamp", now_ms);
    object.insert("event", event);
    object.insert("outcome", outcome);
    for (name, value) in facts {
        if !value.is_empty() {
            object.insert(*name, clean(value, VALUE_CHARACTERS_MAX));
        }
    }
    for (name, values) in lists {
        if !values.is_empty() {
            object.insert(*name, Value::Array(cleaned(values)));
        }
    }
    json::to_string(&Value::Object(object))
}

fn cleaned(values: &[String]) -> Vec<Value> {
    let kept = values.iter().take(ELEMENTS_MAX);
    let mut told: Vec<Value> =
        kept.map(|value| Value::from(clean(value, ELEMENT_CHARACTERS_MAX))).collect();
    let missing = values.len() - told.len();
    if missing > 0 {
        told.push(Value::from(format!("… [{missing} more]")));
    }
    told
}

/// A text without tokens, also where an address has them percent-encoded: then it is told decoded.
fn without_tokens(text: &str) -> Cow<'_, str> {
    let plain = masked(text);
    if !plain.contains('%') {
        return plain;
    }
    let mut decoded = Vec::with_capacity(plain.len());
    let mut rest = plain.as_bytes();
    while let Some((first, left)) = rest.split_first() {
        let byte = left.first_chunk().filter(|_| *first == b'%').and_then(|digits: &[u8; 2]| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        decoded.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &left[2..] } else { left };
    }
    let decoded = String::from_utf8_lossy(&decoded);
    match masked(&decoded) {
        Cow::Borrowed(_) => plain,
        Cow::Owned(masked) => Cow::Owned(masked),
    }
}

/// A value without control characters and tokens, and what is missing of it where it is longer than `max`.
fn clean(value: &str, max: usize) -> String {
    let value = &*without_tokens(value);
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut rest = value.chars();
    let mut kept: String = rest.by_ref().take(max).map(plain).collect();
    let missing = rest.count();
    if missing > 0 {
        kept.push_str(&format!("… [{missing} characters more]"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(item: Item) -> String {
        match item {
            Item::Line(line) => line,
            Item::Ask(_) => panic!("nobody asked"),
            Item::Begin { .. } => panic!("nothing begins"),
        }
    }

    #[test]
    fn in_strict_mode_events_are_counted_and_asked_after() {
        let (audit, lines) = Audit::new(true);
        assert_eq!(audit.strict_count(), Some(0));
        audit.note(1, "e", "ok", &[]);
        assert_eq!(audit.strict_count(), Some(1));
        assert_eq!(Audit::new(false).0.strict_count(), None);
        let writer = std::thread::spawn(move || {
            text(lines.recv().expect("the line first"));
            let Ok(Item::Ask(reply)) = lines.recv() else { panic!("then the question") };
            reply.send(false);
        });
        assert!(!futures_lite::future::block_on(audit.is_written()));
        writer.join().expect("it ended");
        assert!(!futures_lite::future::block_on(audit.is_written()), "nobody writes any more");
    }

    #[test]
    fn in_strict_mode_alone_a_change_begins_with_its_line() {
        let (audit, lines) = Audit::new(false);
        assert!(futures_lite::future::block_on(audit.begin(1, &[("action", "a")])));
        assert!(lines.try_recv().is_err(), "nothing is written");
        assert!(futures_lite::future::block_on(Audit::none().begin(1, &[])));
        let (audit, lines) = Audit::new(true);
        let writer = std::thread::spawn(move || {
            for is_written in [true, false] {
                let Ok(Item::Begin { line, waits: true, reply }) = lines.recv() else {
                    panic!("a line that somebody waits for")
                };
                let told = r#""event":"change","outcome":"begun","action":"a""#;
                assert!(line.contains(told), "{line}");
                reply.send(is_written);
            }
        });
        for is_written in [true, false] {
            let begun = futures_lite::future::block_on(audit.begin(1, &[("action", "a")]));
            assert_eq!(begun, is_written);
        }
        writer.join().expect("it ended");
    }

    #[test]
    fn a_line_is_one_line_whatever_comes_in() {
        let (audit, lines) = Audit::new(false);
        let long = "x".repeat(5000);
        audit.note(
            7,
            "login_failed",
            "failed",
            &[("user", "a\n{\"event\":\"x\"}\u{7f}"), ("agent", &long)],
        );
        let line = text(lines.try_recv().expect("a line"));
        assert!(!line.contains('\n'));
        let value = json::parse(line.as_bytes()).expect("JSON");
        assert_eq!(value.get("user").and_then(Value::as_str), Some("a {\"event\":\"x\"} "));
        let agent = format!("{}… [3976 characters more]", &long[..1024]);
        assert_eq!(value.get("agent").and_then(Value::as_str), Some(agent.as_str()));
        assert_eq!(value.get("timestamp").and_then(Value::as_u64), Some(7));
    }

    /// A token in a path, as a name or in a header that is none of its places stood in the log whole.
    #[test]
    fn a_line_holds_no_token_wherever_it_came_from() {
        let (audit, lines) = Audit::new(false);
        let token = crate::token::text::write(crate::token::Kind::Access, &[7; 32]);
        let path = format!("/_search/scroll/{token}?pretty");
        let encoded = format!("/a%zz/{}%", token.replace('_', "%5f"));
        audit.note_lists(
            7,
            "x",
            "ok",
            &[("path", &path), ("user", &token), ("other", &encoded)],
            &[("names", std::slice::from_ref(&token))],
        );
        let line = text(lines.try_recv().expect("a line"));
        assert!(!line.contains(&token) && line.contains("/_search/scroll/core_at_"), "{line}");
        assert!(!line.contains(&token[8..40]) && line.contains("/a%zz/core_at_"), "{line}");
    }

    /// All callbacks of an application were one value, and what stood behind its 1024th character was cut
    /// without a word: one long callback hid the others.
    #[test]
    fn a_long_value_of_a_list_hides_no_other() {
        let (audit, lines) = Audit::new(false);
        let (long, most) = ("x".repeat(2050), "y".repeat(ELEMENT_CHARACTERS_MAX));
        let values = [long.clone(), most.clone(), "https://evil.example/cb\n".to_owned()];
        let many = vec!["z".to_owned(); ELEMENTS_MAX + 3];
        let lists = [("uris", &values[..]), ("many", &many[..]), ("none", &[])];
        audit.note_lists(7, "client_approved", "ok", &[], &lists);
        let value = json::parse(text(lines.try_recv().expect("a line")).as_bytes()).expect("JSON");
        let told = |name: &str| {
            let list = value.get(name).and_then(Value::as_array).expect("a list");
            list.iter().map(|one| one.as_str().expect("a text").to_owned()).collect::<Vec<_>>()
        };
        let cut = format!("{}… [2 characters more]", &long[..2048]);
        assert_eq!(told("uris"), [cut, most, "https://evil.example/cb ".to_owned()]);
        let many = told("many");
        assert_eq!(many.len(), ELEMENTS_MAX + 1);
        assert_eq!(many.last().map(String::as_str), Some("… [3 more]"));
        assert_eq!(value.get("none"), None);
    }

    #[test]
    fn what_is_lost_is_told() {
        let (lines, written) = sync_channel(1);
        let (noted, lost) = (AtomicU64::new(0), AtomicU64::new(0));
        let losses = Losses::default();
        let inner = Arc::new(Inner { lines, strict: false, noted, lost, losses });
        let audit = Audit { inner: Some(inner) };
        for _ in 0..3 {
            audit.note(1, "e", "ok", &[]);
        }
        assert_eq!(audit.lost_count(), 2);
        drop(written.try_recv().expect("the first"));
        audit.note(2, "e", "ok", &[]);
        let line = text(written.try_recv().expect("the count"));
        assert!(
            line.contains("\"audit_lines_lost\"") && line.contains("\"count\":\"2\""),
            "{line}"
        );
        Audit::none().note(1, "e", "ok", &[]);
    }

    /// A line that no room was left for was taken for written, where another core told of the loss in between.
    #[test]
    fn what_begins_hears_of_its_own_line() {
        let (lines, written) = sync_channel(1);
        let (noted, lost, losses) = Default::default();
        let inner = Arc::new(Inner { lines, strict: true, noted, lost, losses });
        let audit = Audit { inner: Some(inner) };
        audit.note(1, "e", "ok", &[]);
        let others = audit.clone();
        for (waits, count) in [(true, 1), (false, 1)] {
            let mut begins = Box::pin(audit.begin_or(1, &[], &[], waits));
            let polled =
                futures_lite::future::block_on(futures_lite::future::poll_once(&mut begins));
            assert_eq!(polled, Some(false), "no line was sent");
            assert_eq!(audit.lost_count(), count);
        }
        // The line that tells how many were lost has no room either, and is none of them.
        others.note(1, "e", "ok", &[]);
        assert_eq!(audit.lost_count(), 2);
        drop(written.try_recv().expect("the first"));
        others.note(2, "e", "ok", &[]);
        let text = text(written.try_recv().expect("the count"));
        assert!(text.contains("audit_lines_lost") && text.contains("\"count\":\"2\""), "{text}");
    }
}
