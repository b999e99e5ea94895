//! Results of aggregations: plain data becomes JSON; nothing is decided here but whether names
//! carry their type (`typed_keys`).

use json::Writer;
use search::aggs::shape::{Fields, Hits, Name, Out};
use search::result::{Relation, SearchResult, Total};

use super::search::hits;

/// How results are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Names carry their type.
    pub typed: bool,
    /// Totals are numbers.
    pub total_as_int: bool,
}

/// `"aggregations":{…}`.
pub fn aggregations(writer: &mut Writer<'_>, aggs: &Fields, how: How) {
    writer.key("aggregations");
    fields(writer, aggs, how);
}

fn fields(writer: &mut Writer<'_>, list: &Fields, how: How) {
    writer.begin_object();
    for (name, out) in list {
        if let Out::Hits(found) = out {
            documents(writer, found, how);
            continue;
        }
        match name {
            Name::Plain(name) => writer.key(name),
            Name::Typed(kind, name) if how.typed => writer.key(&format!("{kind}#{name}")),
            Name::Typed(_, name) => writer.key(name),
        };
        value(writer, out, how);
    }
    writer.end_object();
}

fn value(writer: &mut Writer<'_>, out: &Out, how: How) {
    match out {
        Out::Null => {
            writer.null();
        }
        Out::Bool(value) => {
            writer.bool(*value);
        }
        Out::Long(value) => {
            writer.i64(*value);
        }
        Out::Unsigned(value) => {
            writer.u64(*value);
        }
        Out::Double(value) => {
            writer.f64(*value);
        }
        Out::Float(value) => {
            writer.f32(*value);
        }
        Out::Text(text) => {
            writer.str(text);
        }
        Out::Json(value) => {
            writer.value(value);
        }
        Out::List(list) => {
            writer.begin_array();
            for out in list {
                value(writer, out, how);
            }
            writer.end_array();
        }
        Out::Object(list) => fields(writer, list, how),
        Out::Hits(found) => {
            writer.begin_object();
            documents(writer, found, how);
            writer.end_object();
        }
    }
}

/// `"hits":{…}`.
fn documents(writer: &mut Writer<'_>, found: &Hits, how: How) {
    let result = SearchResult {
        total: Some(Total { value: found.total, relation: Relation::Eq }),
        max_score: found.max_score,
        hits: found.hits.clone(),
        aggs: None,
    };
    hits(writer, &result, how.total_as_int);
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

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
        aggregations(&mut writer, &vec![(Name::Typed("sterms", "t".into()), terms)], how);
        writer.end_object();
        String::from_utf8(out).expect("UTF-8")
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
