//! Which part of a document's text is kept: all of it, some paths, what its fields tell, or nothing.
//!
//! The log has the whole text, for it is parsed again at replay; what is kept beside the fields is
//! what `_source` answers.

use env::Bytes;

use super::{kept, synthetic};
use crate::tree::{Mapping, SourceMode};

impl Mapping {
    /// Is a document's text kept as it came?
    pub fn keeps_source_whole(&self) -> bool {
        let (includes, excludes) = self.source_paths();
        self.source_mode() == SourceMode::Stored && includes.is_empty() && excludes.is_empty()
    }

    /// What is kept of a document's text, to be read by [`kept::Kept`]; empty where nothing is.
    pub fn kept_source(&self, source: Bytes) -> Bytes {
        if self.keeps_source_whole() {
            return source;
        }
        let kept = self.source_alone(source.clone());
        let stored = self.stored_paths();
        if stored.is_empty() || self.source_mode() == SourceMode::Synthetic {
            return kept;
        }
        // Fields with `store` keep their values whatever `_source` keeps.
        kept::join(&kept, &source, stored).map_or(kept, Bytes::from)
    }

    fn source_alone(&self, source: Bytes) -> Bytes {
        match self.source_mode() {
            SourceMode::Disabled => Bytes::empty(),
            SourceMode::Synthetic => match json::parse(&source) {
                Ok(value) => {
                    Bytes::from(json::to_string(&synthetic::source(self, &value)).into_bytes())
                }
                // Only text that was read as JSON comes here.
                Err(_) => source,
            },
            SourceMode::Stored => {
                let (includes, excludes) = self.source_paths();
                let filtered = json::path::filter_source(&source, includes, excludes);
                // Only text that was read as JSON comes here.
                filtered.map_or(source, Bytes::from)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use std::sync::Arc;

    fn text(mappings: json::Value) -> String {
        let mapping = Mapping::parse(&mappings, Arc::new(Settings::default())).expect("a mapping");
        let source = Bytes::from(br#"{"a":1,"b":{"c":2,"d":3}}"#.to_vec());
        String::from_utf8(mapping.kept_source(source).to_vec()).expect("text")
    }

    #[test]
    fn paths_are_kept_or_not() {
        let all = r#"{"a":1,"b":{"c":2,"d":3}}"#;
        assert_eq!(text(json::json!({})), all);
        assert_eq!(text(json::json!({"_source": {"enabled": true}})), all);
        assert_eq!(text(json::json!({"_source": {"enabled": false}})), "");
        assert_eq!(text(json::json!({"_source": {"mode": "disabled"}})), "");
        let only = json::json!({"_source": {"includes": ["b.*"], "excludes": "b.d"}});
        assert_eq!(text(only), r#"{"b":{"c":2}}"#);
        let stored = text(json::json!({
            "_source": {"excludes": ["b"]},
            "properties": {"b": {"properties": {"d": {"type": "long", "store": true}}}}
        }));
        let stored = kept::Kept::of(stored.as_bytes());
        assert_eq!((stored.source, stored.stored), (&b"{\"a\":1}"[..], &b"{\"b\":{\"d\":3}}"[..]));
    }
}
