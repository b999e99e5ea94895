//! Results of aggregations: plain data becomes JSON; nothing is decided here but whether names
//! carry their type (`typed_keys`).

use std::vec;

use env::leftovers::Leaving;
use json::Writer;
use search::aggs::shape::{self, Answer, Hits, Name, Out};
use search::result::{Relation, SearchResult, Total, one_by_one};

use super::search::{Paused, begin_hits};

/// How results are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Names carry their type.
    pub typed: bool,
    /// Totals are numbers.
    pub total_as_int: bool,
}

/// What has begun and is not all written.
enum Open {
    List(vec::IntoIter<Out>),
    Object(vec::IntoIter<(Name, Out)>),
}

impl Open {
    /// What is left of it goes in a moment, as does what is left of these others.
    fn are_few(all: &[Self]) -> bool {
        let mut left = shape::FEW;
        all.iter().all(|open| match open {
            Self::List(list) => Out::are_few(list.as_slice().iter(), &mut left),
            Self::Object(fields) => {
                Out::are_few(fields.as_slice().iter().map(|(_, out)| out), &mut left)
            }
        })
    }
}

/// `"aggregations":{…}`. Each value goes when it is written, and others have their turn between: ten thousand buckets
/// with documents held a core for 50 ms, a good part of it to give them back.
pub async fn aggregations(
    writer: &mut Writer<'_>,
    aggs: Answer,
    how: How,
    pause: &impl AsyncFn(Vec<u8>) -> Vec<u8>,
) {
    writer.key("aggregations").begin_object();
    // Its client may leave in the middle.
    let open = vec![Open::Object(aggs.stay().into_iter())];
    let mut open = Leaving::new(open, |open| !Open::are_few(open));
    let mut paused = Paused::new(writer);
    while let Some(last) = open.last_mut() {
        let out = match last {
            Open::List(list) => match list.next() {
                Some(out) => out,
                None => {
                    writer.end_array();
                    open.pop();
                    continue;
                }
            },
            Open::Object(fields) => match fields.next() {
                // They bring their own name.
                Some((_, Out::Hits(found))) => {
                    documents(writer, *found, how, &mut paused, pause).await;
                    continue;
                }
                Some((name, out)) => {
                    match name {
                        Name::Plain(name) => writer.key(&name),
                        Name::Typed(kind, name) if how.typed => {
                            writer.key(&format!("{kind}#{name}"))
                        }
                        Name::Typed(_, name) => writer.key(&name),
                    };
                    out
                }
                None => {
                    writer.end_object();
                    open.pop();
                    continue;
                }
            },
        };
        match out {
            Out::Null => writer.null(),
            Out::Bool(value) => writer.bool(value),
            Out::Long(value) => writer.i64(value),
            Out::Unsigned(value) => writer.u64(value),
            Out::Double(value) => writer.f64(value),
            Out::Float(value) => writer.f32(value),
            Out::Text(text) => writer.str(&text),
            Out::Term(bytes) => writer.str(&String::from_utf8_lossy(&bytes)),
            Out::Json(value) => writer.value(&value),
            Out::List(list) => {
                open.push(Open::List(list.into_iter()));
                writer.begin_array()
            }
            Out::Object(fields) => {
                open.push(Open::Object(fields.into_iter()));
                writer.begin_object()
            }
            Out::Hits(found) => {
                writer.begin_object();
                documents(writer, *found, how, &mut paused, pause).await;
                writer.end_object()
            }
        };
        paused.pause(writer, pause).await;
    }
}

/// `"hits":{…}`.
async fn documents(
    writer: &mut Writer<'_>,
    found: Hits,
    how: How,
    paused: &mut Paused,
    pause: &impl AsyncFn(Vec<u8>) -> Vec<u8>,
) {
    let result = SearchResult {
        total: Some(Total { value: found.total, relation: Relation::Eq }),
        max_score: found.max_score,
        hits: Vec::new(),
        aggs: None,
    };
    begin_hits(writer, &result, how.total_as_int);
    let mut hits = one_by_one(found.hits);
    for hit in &mut *hits {
        super::search::hit(writer, &hit, how.total_as_int);
        drop(hit);
        paused.pause(writer, pause).await;
    }
    writer.end_array().end_object();
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::cell::Cell;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn text(how: How) -> String {
        let plain = |name: &'static str| Name::Plain(Cow::Borrowed(name));
        let bucket = Out::Object(vec![
            (plain("key"), Out::Text("a\"b".into())),
            (plain("doc_count"), Out::Unsigned(3)),
            (Name::Typed("avg", "m".into()), Out::Object(vec![(plain("value"), Out::Null)])),
        ]);
        let terms = Out::Object(vec![(plain("buckets"), Out::List(vec![bucket]))]);
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.begin_object();
        let aggs = vec![(Name::Typed("sterms", "t".into()), terms)];
        let written = aggregations(&mut writer, Out::leaving(aggs), how, &async |written| written);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(written).poll(&mut context), Poll::Ready(()), "nothing waits");
        writer.end_object();
        String::from_utf8(out).expect("UTF-8")
    }

    /// What was left of ten thousand buckets went on the core, where a client left in the middle.
    #[test]
    fn an_answer_that_is_not_written_to_its_end_goes_elsewhere() {
        let left = Rc::new(Cell::new(0));
        let count = Rc::clone(&left);
        env::leftovers::take_by(move |_| count.set(count.get() + 1));
        for (buckets, much) in [(20_000, 1), (1500, 0)] {
            let bucket = || Out::Text("a value of an answer".into());
            let terms = Out::List((0..buckets).map(|_| bucket()).collect());
            let aggs = vec![(Name::Plain(Cow::Borrowed("t")), terms)];
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out);
            writer.begin_object();
            let pause = async |_| std::future::pending().await;
            {
                let written = aggregations(&mut writer, Out::leaving(aggs), How::default(), &pause);
                let mut context = Context::from_waker(Waker::noop());
                assert_eq!(pin!(written).poll(&mut context), Poll::Pending, "it has begun");
            }
            assert_eq!(left.replace(0), much, "{buckets}");
        }
    }

    #[test]
    fn names_carry_their_type_where_it_is_asked_for() {
        assert_eq!(
            text(How::default()),
            r#"{"aggregations":{"t":{"buckets":[{"key":"a\"b","doc_count":3,"m":{"value":null}}]}}}"#
        );
        assert_eq!(
            text(How { typed: true, total_as_int: false }),
            r#"{"aggregations":{"sterms#t":{"buckets":[{"key":"a\"b","doc_count":3,"avg#m":{"value":null}}]}}}"#
        );
    }
}
