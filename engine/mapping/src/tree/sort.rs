//! What an index may be sorted by: each key a field with a column of values that stand in one line.
//!
//! Nested documents stand right before theirs, which no other order leaves together; so an index with
//! nested objects is not sorted, in Elasticsearch's words of old.

use std::sync::Arc;

use super::Mapping;
use crate::settings::SortSpec;
use crate::types::{Column, Field, KeywordFlavor, Kind};
use crate::{Error, Result};

impl Mapping {
    /// The keys of the order in which documents are kept, each with its field; none where the index
    /// is not sorted.
    pub fn sort(&self) -> impl Iterator<Item = (&SortSpec, &Arc<Field>)> {
        let specs = self.inner.settings.sort.iter();
        specs.filter_map(|spec| Some((spec, self.field(&spec.field)?)))
    }

    /// Checks that the index can be sorted as its settings ask.
    ///
    /// # Errors
    /// Where it cannot, in Elasticsearch's words.
    pub fn check_sort(&self) -> Result<()> {
        if self.inner.settings.sort.is_empty() {
            return Ok(());
        }
        let names = self.inner.settings.sort.iter().map(|spec| &spec.field);
        let mut inside = names.filter_map(|name| Some((name, self.nested_of(name)?)));
        if let Some((name, path)) = inside.next() {
            return Err(Error::illegal_argument(format!(
                "cannot apply index sort to field [{name}] under nested object [{path}]"
            )));
        }
        if !self.nested_paths().is_empty() {
            return Err(Error::illegal_argument(
                "cannot have nested fields when index sort is activated",
            ));
        }
        for SortSpec { field: name, .. } in &self.inner.settings.sort {
            if self.is_alias(name) {
                return Err(Error::illegal_argument(format!(
                    "Cannot use alias [{name}] as an index sort field"
                )));
            }
            let Some(field) = self.field(name) else {
                return Err(Error::illegal_argument(format!("unknown index sort field:[{name}]")));
            };
            let is_text = matches!(field.kind, Kind::Text(_));
            if is_text || field.column() == Column::None {
                return Err(Error::illegal_argument(format!(
                    "docvalues not found for index sort field:[{name}]"
                )));
            }
            let is_line = match field.kind {
                Kind::Number(_) | Kind::Boolean(_) | Kind::Date(_) => true,
                Kind::Ip(_) => true,
                Kind::Keyword(ref keyword) => {
                    matches!(keyword.flavor, KeywordFlavor::Keyword | KeywordFlavor::Version)
                }
                _ => false,
            };
            if !is_line {
                return Err(Error::illegal_argument(format!("invalid index sort field:[{name}]")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::Settings;

    fn check(field: &str, mappings: &json::Value) -> String {
        let spec = SortSpec {
            field: field.into(),
            descending: false,
            greatest: false,
            missing_first: false,
        };
        let settings = Arc::new(Settings { sort: vec![spec], ..Settings::default() });
        let mapping = Mapping::parse(mappings, settings).expect("a mapping");
        mapping.check_sort().err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn keys_are_fields_whose_values_stand_in_one_line() {
        let mappings = json!({"properties": {
            "n": {"type": "long"}, "k": {"type": "keyword"}, "d": {"type": "date"},
            "ip": {"type": "ip"}, "t": {"type": "text", "fielddata": true},
            "g": {"type": "geo_point"}, "off": {"type": "long", "doc_values": false},
            "a": {"type": "alias", "path": "n"}, "r": {"type": "long_range"},
        }});
        for field in ["n", "k", "d", "ip"] {
            assert_eq!(check(field, &mappings), "", "{field}");
        }
        assert_eq!(check("zz", &mappings), "unknown index sort field:[zz]");
        assert_eq!(check("a", &mappings), "Cannot use alias [a] as an index sort field");
        for field in ["t", "off"] {
            let expected = format!("docvalues not found for index sort field:[{field}]");
            assert_eq!(check(field, &mappings), expected);
        }
        for field in ["g", "r"] {
            assert_eq!(check(field, &mappings), format!("invalid index sort field:[{field}]"));
        }
    }

    #[test]
    fn nested_objects_and_an_order_exclude_each_other() {
        let flat = json!({"properties": {"n": {"type": "long"}}});
        let nested = json!({"properties": {"o": {"type": "nested"}}});
        let refused = "cannot have nested fields when index sort is activated";
        let both = json!({"properties": {"n": {"type": "long"}, "o": {"type": "nested"}}});
        assert_eq!(check("n", &both), refused);
        let inside = json!({"properties": {"o": {"type": "nested", "properties": {
            "n": {"type": "long"}
        }}}});
        assert_eq!(
            check("o.n", &inside),
            "cannot apply index sort to field [o.n] under nested object [o]"
        );
        let spec = SortSpec {
            field: "n".into(),
            descending: false,
            greatest: false,
            missing_first: false,
        };
        let settings = Arc::new(Settings { sort: vec![spec], ..Settings::default() });
        let mapping = Mapping::parse(&flat, settings).expect("a mapping");
        let error = mapping.merge(&nested).expect_err("the index is sorted");
        assert_eq!(error.to_string(), refused);
    }
}
