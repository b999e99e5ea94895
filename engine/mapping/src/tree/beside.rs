//! What a caller sees of other documents of the same index: fields that are none of these documents' own.
//!
//! Where several rights each show their own fields of their own documents, a request may name a field that
//! some documents show and others do not. To the others it is a field that the index has and the document
//! lacks: a sort puts them where those without a value stand, and a query does not find them.
//!
//! Always true
//! 1. A field that is known only so has a number that no field has: no column, term or norm is read by it.
//! 2. It is in no list, fits no pattern and is not shown: only who asks for it by its name gets it.

use std::sync::Arc;

use base::FieldNo;

use super::Mapping;
use crate::types::{ConstantKeyword, Field, Kind};

/// A number that no field gets.
const NOWHERE: FieldNo = FieldNo(u32::MAX);

impl Mapping {
    /// This mapping of some documents, beside `other` of all that the same caller sees.
    #[must_use]
    pub fn beside(self, other: &Arc<Self>) -> Self {
        Self { other: Some(Arc::clone(other)), ..self }
    }

    /// What is seen of other documents; none where all are alike.
    pub fn other(&self) -> Option<&Arc<Self>> {
        self.other.as_ref()
    }

    /// As [`Self::lookup`]; a field of other documents alone is one without values.
    pub fn known(&self, name: &str) -> Option<Arc<Field>> {
        self.lookup(name).or_else(|| Some(Arc::new(without_values(&*self.other()?.lookup(name)?))))
    }

    /// Is there a nested object at this path in other documents alone?
    pub fn lacks_nested(&self, path: &str) -> bool {
        !self.is_nested(path) && self.other().is_some_and(|other| other.is_nested(path))
    }
}

/// The field, of which no document has a value.
fn without_values(field: &Field) -> Field {
    let kind = match &field.kind {
        Kind::ConstantKeyword(_) => Kind::ConstantKeyword(ConstantKeyword { value: None }),
        kind => kind.clone(),
    };
    let parts = field.parts.iter().map(|part| Arc::new(without_values(part))).collect();
    let (multi_fields, copy_to) = (Vec::new(), Vec::new());
    Field { no: NOWHERE, kind, parts, multi_fields, copy_to, ..field.clone() }
}

#[cfg(test)]
mod tests {
    use json::fields::{FieldRule, Fields};
    use json::json;

    use super::*;

    #[test]
    fn what_other_documents_show_is_known_and_has_no_values() {
        let mappings = json!({"properties": {
            "a": {"type": "long"},
            "b": {"type": "text", "index_prefixes": {}, "fields": {"raw": {"type": "keyword"}}},
            "f": {"type": "flattened"}, "c": {"type": "constant_keyword", "value": "x"},
            "n": {"type": "nested", "properties": {"k": {"type": "keyword"}}},
            "z": {"type": "keyword"}, "other": {"type": "alias", "path": "b"}}});
        let whole = Mapping::parse(&mappings, Arc::default()).expect("legal");
        let seen = |names: &[&str]| {
            let grant = names.iter().map(|&name| name.to_owned()).collect();
            let rule = FieldRule { grant: Some(grant), except: Vec::new() };
            whole.visible(&Fields(vec![vec![rule]]))
        };
        let all = Arc::new(seen(&["a", "b", "b.raw", "c", "f", "f.*", "n.k", "other"]));
        let part = seen(&["a"]).beside(&all);
        let no = |mapping: &Mapping, name: &str| mapping.known(name).map(|field| field.no);
        assert_eq!(no(&part, "a"), no(&whole, "a"));
        for name in ["b", "b.raw", "c", "f", "f.key", "n.k", "other"] {
            let field = part.known(name).unwrap_or_else(|| panic!("{name}"));
            assert!(field.no == NOWHERE && part.lookup(name).is_none(), "{name}");
            assert!(field.parts.iter().all(|part| part.no == NOWHERE), "{name}");
            assert!(part.field_by_no(field.no).is_none(), "{name}");
        }
        let constant = part.known("c").expect("known");
        assert!(matches!(&constant.kind, Kind::ConstantKeyword(word) if word.value.is_none()));
        assert!(part.known("z").is_none(), "nobody shows it");
        assert_eq!([part.lacks_nested("n"), all.lacks_nested("n")], [true, false]);
        assert!(!part.is_nested("n") && part.expand_names("*").len() == 1);
        assert!(!json::to_string(&part.to_json()).contains("\"b\""));
    }
}
